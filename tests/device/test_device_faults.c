/* SPDX-License-Identifier: Apache-2.0
 * Drivers and devices that fail: each is a clear error, nothing leaks, and a new device can be
 * opened afterwards. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"
#include "device/kernel_list.h"
#include "device/ops/convert_tiles.h"
#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/device/fault_device.h"
#include "support/device/test_device.h"
#include "support/device/timeline.h"

static int begin(void **state)
{
    (void)state;
    fault_load();
    return 0;
}

static int end(void **state)
{
    (void)state;
    return fault_live() != 0;
}

#define FAULT(test) cmocka_unit_test_setup_teardown(test, begin, end)

static void check_open_fails(const char *text)
{
    tz_device *device = NULL;
    tz_error err = {0};
    assert_int_equal(tz_device_open(&device, fault_device_id(), &fault_options, &err),
                     TZ_ERR_DEVICE);
    assert_int_equal(err.cause, TZ_CAUSE_DEVICE);
    if (!strstr(err.message, text))
        print_message("'%s' is not in '%s'\n", text, err.message);
    assert_non_null(strstr(err.message, text));
    assert_null(device);
    assert_int_equal(fault_live(), 0);
}

/* ---- names ---- */

static void test_names(void **state)
{
    (void)state;
    tz_device *device = NULL;
    tz_error err;
    static const char *const wrong[] = {"",         "gpu",       "opencl",    "opencl:",
                                        "opencl:x", "opencl:-1", "opencl:0x", "opencl:99999999999",
                                        "Cpu",      "cpu:0",     "opencl0:0 "};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(tz_device_open(&device, wrong[i], &fault_options, &err), TZ_ERR_ARG);
        assert_non_null(strstr(err.message, "cuda:N and opencl:N"));
    }
    assert_int_equal(tz_device_open(NULL, "cpu", NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_device_open(&device, NULL, NULL, &err), TZ_ERR_ARG);
    tz_device_options how = fault_options;
    how.struct_size = (size_t)1 << 20;
    assert_int_equal(tz_device_open(&device, "cpu", &how, &err), TZ_ERR_ARG);
    assert_null(device);
}

static void test_the_cpu(void **state)
{
    (void)state;
    tz_error err;
    tz_device *device = fault_open_as("cpu");
    tz_device_memory *memory = NULL;
    const tz_device_info *info = tz_device_get_info(device);
    assert_string_equal(info->id, "cpu");
    assert_true(info->compute_units > 0 && info->usable);
    assert_int_equal(tz_device_memory_alloc(&memory, device, 10, &err), TZ_ERR_ARG);
    assert_int_equal(tz_device_sync(device, 0, &err), TZ_ERR_ARG);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
    tz_device_close(NULL);
}

/* The GPU with most memory, whatever its number; and the CPU where there is none. */
static void test_auto(void **state)
{
    (void)state;
    fault_set_gpus(2);
    tz_device *device = fault_open_as("auto");
    assert_string_equal(tz_device_get_info(device)->driver,
                        test_device_is_cuda() ? "cuda" : "opencl");
    assert_non_null(strstr(tz_device_get_info(device)->id, ":1"));
    tz_device_close(device);
    fault_set_gpus(0);
    device = fault_open_as("auto");
    assert_string_equal(tz_device_get_info(device)->id, "cpu");
    assert_true(tz_device_get_info(device)->reason[0] != '\0');
    tz_device_close(device);
}

/* ---- launches that no driver may see ---- */

static void test_launches(void **state)
{
    (void)state;
    tz_error err;
    tz_device *device = fault_open(), *other = fault_open();
    tz_device_memory *memory = NULL;
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_OK);
    const tz_argument arguments[] = {{.kind = TZ_ARGUMENT_MEMORY, .value.memory = memory},
                                     {.kind = TZ_ARGUMENT_U64}};
    tz_launch launch = {.kernel = TZ_KERNEL_UNPREDICT,
                        .work_groups = 1,
                        .arguments = arguments,
                        .argument_count = 2};
    const uint64_t calls = fault_calls();
    assert_int_equal(tz_device_launch(other, 0, &launch, &err), TZ_ERR_ARG); /* not its memory */
    launch.work_groups = 0;
    assert_int_equal(tz_device_launch(device, 0, &launch, &err), TZ_OK);
    assert_int_equal(fault_calls(), calls);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
    assert_int_equal(tz_device_close_checked(other, &err), TZ_OK);
}

/* ---- failures at work ---- */

static void test_out_of_memory_is_not_the_end(void **state)
{
    (void)state;
    tz_error err;
    tz_device_counts counts;
    tz_device *device = fault_open();
    tz_device_memory *first = NULL, *second = NULL;
    assert_int_equal(tz_device_memory_alloc(&first, device, 100, &err), TZ_OK);
    fault_set(FAULT_ALLOC, 1, FAULT_NO_MEMORY);
    assert_int_equal(tz_device_memory_alloc(&second, device, 100, &err), TZ_ERR_NOMEM);
    assert_non_null(strstr(err.message, "no 100 bytes of device memory"));
    assert_null(second);
    fault_set(FAULT_PINNED, 1, FAULT_NO_MEMORY);
    assert_int_equal(tz_device_alloc_pinned(device, 100, &second, &err), TZ_ERR_NOMEM);
    tz_device_get_counts(device, &counts, NULL);
    assert_int_equal(counts.bytes_now, 100);
    assert_int_equal(tz_device_memory_alloc(&second, device, 100, &err), TZ_OK);
    tz_device_memory_free(first);
    tz_device_memory_free(second);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

static void check_dead(tz_device *device, tz_device_memory *memory, const char *first)
{
    tz_error err;
    uint8_t byte = 0;
    tz_device_memory *none = NULL;
    tz_device_event *event = NULL;
    uint64_t bytes;
    const uint64_t calls = fault_calls();
    const tz_result results[] = {tz_device_memory_alloc(&none, device, 1, &err),
                                 tz_device_alloc_pinned(device, 1, &none, &err),
                                 tz_device_upload(0, memory, 0, &byte, 1, &err),
                                 tz_device_download(0, &byte, memory, 0, 1, &err),
                                 tz_device_record(device, 0, &event, &err),
                                 tz_device_free_memory(device, &bytes, &err),
                                 tz_device_sync(device, 1, &err)};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        assert_int_equal(results[i], TZ_ERR_DEVICE);
    assert_non_null(strstr(err.message, first));
    assert_non_null(strstr(err.message, "failed before"));
    /* the driver is left in peace, but for the wait: memory is about to be released */
    assert_true(fault_calls() > calls && fault_calls() <= calls + (test_device_is_cuda() ? 2 : 1));
}

static tz_result launch_something(tz_device_memory *memory, tz_error *err)
{
    static const tz_unpredict_entry entry = {.offset = 48,
                                             .rows = 1,
                                             .row_bytes = 1,
                                             .count = 1,
                                             .stride = 1,
                                             .width = 1,
                                             .predictor = 2};
    const tz_unpredict_batch batch = {.slab = memory, .entries = &entry, .count = 1};
    return tz_unpredict_launch(&batch, 0, err);
}

static void test_a_failed_device_stays_failed(void **state)
{
    (void)state;
    tz_error err;
    tz_device_memory *memory = NULL;
    tz_device *device = fault_open();
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_OK);
    fault_set(FAULT_LAUNCH, 1, FAULT_ONCE);
    assert_int_equal(launch_something(memory, &err), TZ_ERR_DEVICE);
    assert_non_null(strstr(err.message, fault_text(FAULT_LAUNCH, FAULT_ONCE)));
    check_dead(device, memory, fault_text(FAULT_LAUNCH, FAULT_ONCE));
    tz_device *other = fault_open(); /* while the first is still open */
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_memory_alloc(&memory, other, 100, &err), TZ_OK);
    assert_int_equal(launch_something(memory, &err), TZ_OK);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
    assert_int_equal(tz_device_close_checked(other, &err), TZ_OK);
}

/* OpenCL's is lost for good; of CUDA a context is, and the next one is fresh. */
static void test_a_device_that_is_lost(void **state)
{
    (void)state;
    tz_error err;
    tz_device_memory *memory = NULL;
    tz_device *device = fault_open();
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_OK);
    fault_set(FAULT_SYNC, 1, FAULT_LOST);
    assert_int_equal(tz_device_sync(device, 0, &err), TZ_ERR_DEVICE);
    assert_non_null(strstr(err.message, fault_text(FAULT_SYNC, FAULT_LOST)));
    check_dead(device, memory, fault_text(FAULT_SYNC, FAULT_LOST));
    tz_device_close(device); /* with its memory */
    if (!test_device_is_cuda()) {
        check_open_fails("no platform"); /* it is still lost */
        fault_reset();
    }
    device = fault_open();
    tz_device_close(device);
}

/* ---- each call in turn, each allocation in turn ---- */

/* Everything a device can do; the first result that is not TZ_OK. */
static tz_result work_on(tz_device *device, tz_error *err)
{
    static const uint8_t bytes[100];
    uint8_t back[100];
    bool happened;
    tz_device_memory *memory = NULL, *pinned = NULL;
    tz_device_event *event = NULL;
    tz_result result = tz_device_admit(device, (const uint64_t[]){100}, 1, err);
    if (result == TZ_OK)
        result = tz_device_memory_alloc(&memory, device, 100, err);
    if (result == TZ_OK)
        result = tz_device_alloc_pinned(device, 100, &pinned, err);
    if (result == TZ_OK)
        result = tz_device_upload(0, memory, 0, bytes, 100, err);
    if (result == TZ_OK)
        result = launch_something(memory, err);
    if (result == TZ_OK)
        result = tz_device_record(device, 0, &event, err);
    if (result == TZ_OK)
        result = tz_device_wait(1, event, err);
    if (result == TZ_OK)
        result = tz_device_download(1, back, memory, 0, 100, err);
    if (result == TZ_OK)
        result = tz_device_query(event, &happened, err);
    if (result == TZ_OK)
        result = tz_device_sync(device, 1, err);
    tz_device_free_event(event);
    tz_device_memory_free(pinned);
    tz_device_memory_free(memory);
    return result;
}

static tz_result whole_life(tz_error *err)
{
    tz_device *device = NULL;
    tz_device_list *list = NULL;
    tz_result result = tz_device_list_create(&list, &fault_options, err);
    tz_device_list_free(list);
    if (result == TZ_OK)
        result = tz_device_open(&device, fault_device_id(), &fault_options, err);
    if (result != TZ_OK)
        return result;
    result = work_on(device, err);
    tz_error forgotten;
    assert_int_equal(tz_device_close_checked(device, &forgotten), TZ_OK);
    return result;
}

static void test_each_call_fails_in_turn(void **state)
{
    (void)state;
    tz_error err;
    uint64_t failures = 0;
    assert_int_equal(whole_life(&err), TZ_OK);
    const uint64_t calls = fault_calls();
    assert_true(calls > (test_device_is_cuda() ? 50 : 60));
    for (uint64_t n = 1; n <= calls; n++) {
        fault_reset();
        fault_set(FAULT_ANY, n, FAULT_ONCE);
        err.message[0] = '\0';
        const tz_result result = whole_life(&err);
        assert_int_equal(fault_live(), 0);
        if (result == TZ_OK)
            continue; /* a fact of the device that is not needed */
        failures++;
        assert_true(result == TZ_ERR_DEVICE || result == TZ_ERR_NOMEM);
        assert_true(err.message[0] != '\0');
    }
    assert_true(failures > (test_device_is_cuda() ? 30 : 20));
    fault_reset();
    assert_int_equal(whole_life(&err), TZ_OK);
}

static void test_each_allocation_fails_in_turn(void **state)
{
    (void)state;
    tz_error err;
    uint64_t refused = 0;
    for (uint64_t n = 1;; n++) {
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result = whole_life(&err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        assert_int_equal(fault_live(), 0);
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            break;
        }
        if (result == TZ_OK)
            continue; /* counting processor cores works without memory */
        assert_int_equal(result, TZ_ERR_NOMEM);
        refused++;
    }
    assert_int_equal(refused, 16);
}

/* ---- fork ---- */

/* The child of a fork; what it returns is its exit code. */
static int in_child(tz_device *device, tz_device_memory *memory, tz_device_event *event)
{
    tz_error err;
    const uint64_t calls = fault_calls();
    const int64_t live = fault_live();
    if (tz_device_sync(device, 0, &err) != TZ_ERR_DEVICE || !strstr(err.message, "fork"))
        return 1;
    tz_device_free_event(event);
    tz_device_memory_free(memory);
    if (tz_device_close_checked(device, &err) != TZ_OK)
        return 2;
    if (fault_calls() != calls || fault_live() != live)
        return 3;              /* the parent's driver was called */
    if (test_device_is_cuda()) /* CUDA has no children */
        return whole_life(&err) == TZ_ERR_DEVICE ? 0 : 4;
    return whole_life(&err) == TZ_OK ? 0 : 4;
}

static void test_a_child_leaves_the_driver_alone(void **state)
{
    (void)state;
    tz_error err;
    int status = -1;
    tz_device_memory *memory = NULL;
    tz_device_event *event = NULL;
    tz_device *device = fault_open();
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_OK);
    assert_int_equal(tz_device_record(device, 0, &event, &err), TZ_OK);
    const pid_t child = fork();
    if (child == 0)
        _exit(in_child(device, memory, event));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(tz_device_sync(device, 0, &err), TZ_OK);
    tz_device_free_event(event);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

/* ---- threads ---- */

#define THREADS 4
#define TURNS   50

static void *work(void *user)
{
    tz_error err;
    for (int i = 0; i < TURNS; i++) {
        if (work_on(user, &err) != TZ_OK)
            return user;
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    tz_error err;
    tz_device_counts counts;
    pthread_t threads[THREADS];
    tz_device_options how = fault_options;
    tz_device *device = NULL;
    how.max_pinned_bytes = 1; /* none is kept: each turn has all calls */
    assert_int_equal(tz_device_open(&device, fault_device_id(), &how, &err), TZ_OK);
    timeline_start(device);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, device), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    tz_device_get_counts(device, &counts, NULL);
    assert_int_equal(counts.launches, THREADS * TURNS);
    assert_int_equal(counts.bytes_now, 0);
    assert_int_equal(timeline.count, THREADS * TURNS * 12);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAULT(test_names),
        FAULT(test_the_cpu),
        FAULT(test_auto),
        FAULT(test_launches),
        FAULT(test_out_of_memory_is_not_the_end),
        FAULT(test_a_failed_device_stays_failed),
        FAULT(test_a_device_that_is_lost),
        FAULT(test_each_call_fails_in_turn),
        FAULT(test_each_allocation_fails_in_turn),
        FAULT(test_a_child_leaves_the_driver_alone),
        FAULT(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
