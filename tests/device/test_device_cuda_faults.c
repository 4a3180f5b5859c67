/* SPDX-License-Identifier: Apache-2.0
 * Every call of CUDA fails in turn: each is a clear error, nothing leaks, and a new device can be
 * opened afterwards. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/cuda/cu_api.h"
#include "device/device.h"
#include "device/kernel_list.h"
#include "device/ops/convert_tiles.h"
#include "fakes/cuda/cuda_calls.h"
#include "support/alloc_hook.h"
#include "support/check.h"

#define ILLEGAL_ADDRESS 700

static cuda_fake_control *control;
static const tz_device_options with_fake = {
    .struct_size = sizeof with_fake, .libraries = "cuda=" CUDA_FAKE ";opencl=libno-opencl.so.1"};

static int begin(void **state)
{
    (void)state;
    control = cuda_calls_load();
    cuda_fake_reset(control);
    return 0;
}

static int end(void **state)
{
    CUcontext now = NULL;
    (void)state;
    assert_int_equal(cu.cuCtxGetCurrent(&now), 0);
    assert_null(now);
    return control->live != 0;
}

#define FAULT(test) cmocka_unit_test_setup_teardown(test, begin, end)

static tz_device *open_fake(void)
{
    tz_device *device = NULL;
    tz_error err = {0};
    const tz_result result = tz_device_open(&device, "cuda:0", &with_fake, &err);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
    return device;
}

static void fail_next(const char *function, int32_t code)
{
    control->fail_function = function;
    control->fail_nth = 1;
    control->fail_code = code;
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
    tz_result result = tz_device_upload(0, memory, 0, &entry, sizeof entry, err);
    if (result == TZ_OK)
        result = tz_unpredict_launch(&batch, 0, err);
    return result;
}

/* ---- a device that failed ---- */

static void check_dead(tz_device *device, tz_device_memory *memory, const char *first)
{
    tz_error err;
    uint8_t byte = 0;
    tz_device_memory *none = NULL;
    tz_device_event *event = NULL;
    uint64_t bytes;
    const tz_result results[] = {tz_device_memory_alloc(&none, device, 1, &err),
                                 tz_device_alloc_own(device, 1, &none, &err),
                                 tz_device_alloc_pinned(device, 1, &none, &err),
                                 tz_device_upload(0, memory, 0, &byte, 1, &err),
                                 tz_device_download(0, &byte, memory, 0, 1, &err),
                                 launch_something(memory, &err),
                                 tz_device_record(device, 0, &event, &err),
                                 tz_device_wait_for_native_stream(device, &err),
                                 tz_device_wait_for_stream(device, NULL, &err),
                                 tz_device_free_memory(device, &bytes, &err),
                                 tz_device_sync(device, 1, &err)};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        assert_int_equal(results[i], TZ_ERR_DEVICE);
    if (!strstr(err.message, first))
        print_message("'%s' is not in '%s'\n", first, err.message);
    assert_non_null(strstr(err.message, first));
    assert_non_null(strstr(err.message, "failed before"));
}

/* The context is spoilt: releasing answers with errors, too, and is done all the same. */
static void test_a_failed_device_stays_failed(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        int32_t code;
        const char *text;
    } cases[] = {
        {"cuLaunchKernel", 700, "cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS (700)"},
        {"cuLaunchKernel", 719, "cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED (719)"},
        {"cuMemcpyHtoDAsync_v2", 716, "cuMemcpyHtoDAsync: CUDA_ERROR_MISALIGNED_ADDRESS (716)"},
        {"cuStreamSynchronize", 702, "cuStreamSynchronize: CUDA_ERROR_LAUNCH_TIMEOUT (702)"},
        {"cuStreamSynchronize", 4321, "a code that CUDA 13.0 does not know (4321)"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tz_error err;
        tz_device_memory *memory = NULL, *plain = NULL, *pinned = NULL;
        tz_device_event *event = NULL;
        tz_device *device = open_fake();
        assert_int_equal(tz_device_alloc_own(device, 100, &memory, &err), TZ_OK);
        assert_int_equal(tz_device_memory_alloc(&plain, device, 100, &err), TZ_OK);
        assert_int_equal(tz_device_alloc_pinned(device, 100, &pinned, &err), TZ_OK);
        assert_int_equal(tz_device_record(device, 1, &event, &err), TZ_OK);
        fail_next(cases[i].function, cases[i].code);
        tz_result result = launch_something(memory, &err);
        if (result == TZ_OK)
            result = tz_device_sync(device, 0, &err);
        assert_int_equal(result, TZ_ERR_DEVICE);
        check_dead(device, memory, cases[i].text);
        tz_device_memory_free(memory);
        tz_device_memory_free(plain);
        tz_device_memory_free(pinned);
        tz_device_free_event(event);
        assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
        assert_int_equal(control->live, 0);
        cuda_fake_reset(control);
    }
}

/* A kernel that goes astray is an error of the next wait. */
static void test_work_that_fails_later(void **state)
{
    (void)state;
    tz_error err;
    bool happened;
    tz_device_memory *memory = NULL;
    tz_device_event *event = NULL;
    for (int i = 0; i < 2; i++) {
        tz_device *device = open_fake();
        assert_int_equal(tz_device_alloc_own(device, 100, &memory, &err), TZ_OK);
        const tz_argument arguments[] = {{.kind = TZ_ARGUMENT_MEMORY, .value.memory = memory},
                                         {.kind = TZ_ARGUMENT_U64, .value.u64 = 1000}};
        const tz_launch launch = {.kernel = TZ_KERNEL_UNPREDICT,
                                  .work_groups = 1,
                                  .arguments = arguments,
                                  .argument_count = 2};
        assert_int_equal(tz_device_launch(device, 0, &launch, &err), TZ_OK);
        assert_int_equal(tz_device_record(device, 0, &event, &err), TZ_OK);
        tz_result result = TZ_OK;
        for (int turn = 0; turn < 100 && result == TZ_OK; turn++)
            result = i ? tz_device_query(event, &happened, &err) : tz_device_sync(device, 0, &err);
        assert_int_equal(result, TZ_ERR_DEVICE);
        assert_non_null(strstr(err.message, "(700)"));
        assert_true(control->fault[0] != '\0');
        tz_device_free_event(event);
        tz_device_memory_free(memory);
        assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
        assert_int_equal(control->live, 0);
        cuda_fake_reset(control);
    }
}

/* ---- no memory ---- */

static void test_out_of_memory_is_not_the_end(void **state)
{
    (void)state;
    tz_error err;
    tz_device_counts counts;
    tz_device_memory *memory = NULL;
    control->no_pools = true;
    tz_device *device = open_fake();
    fail_next("cuMemAlloc_v2", 2);
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_ERR_NOMEM);
    assert_non_null(strstr(err.message, "no 100 bytes of device memory: cuMemAlloc"));
    fail_next("cuMemHostAlloc", 2);
    assert_int_equal(tz_device_alloc_pinned(device, 100, &memory, &err), TZ_ERR_NOMEM);
    fail_next("cuEventCreate", 2);
    tz_device_event *event = NULL;
    assert_int_equal(tz_device_record(device, 0, &event, &err), TZ_ERR_NOMEM);
    assert_null(memory);
    assert_null(event);
    tz_device_get_counts(device, &counts, NULL);
    assert_int_equal(counts.bytes_now, 0);
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_OK);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

/* ---- each call in turn, each allocation in turn ---- */

/* Everything a device can do; the first result that is not TZ_OK. */
static tz_result work_on(tz_device *device, tz_error *err)
{
    static const uint8_t bytes[100];
    uint8_t back[100];
    bool happened;
    tz_device_memory *memory = NULL, *plain = NULL, *pinned = NULL, *wrapped = NULL;
    tz_device_event *event = NULL;
    tz_result result = tz_device_admit(device, (const uint64_t[]){100}, 1, err);
    if (result == TZ_OK)
        result = tz_device_alloc_own(device, 100, &memory, err);
    if (result == TZ_OK)
        result = tz_device_memory_alloc(&plain, device, 100, err);
    if (result == TZ_OK)
        result = tz_device_alloc_pinned(device, 100, &pinned, err);
    if (result == TZ_OK)
        result = tz_device_wrap(&wrapped, device, tz_device_memory_get_handle(plain), 0, err);
    if (result == TZ_OK)
        result = tz_device_wait_for_native_stream(device, err);
    if (result == TZ_OK)
        result = tz_device_wait_for_stream(device, NULL, err);
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
    for (uint32_t queue = 0; result != TZ_OK && queue < TZ_QUEUES; queue++)
        (void)tz_device_sync(device, queue, NULL); /* what is under way still uses memory */
    tz_device_free_event(event);
    tz_device_memory_free(wrapped);
    tz_device_memory_free(pinned);
    tz_device_memory_free(plain);
    tz_device_memory_free(memory);
    return result;
}

static tz_result whole_life(tz_error *err)
{
    tz_device *device = NULL;
    tz_device_list *list = NULL;
    tz_result result = tz_device_list_create(&list, &with_fake, err);
    tz_device_list_free(list);
    if (result == TZ_OK)
        result = tz_device_open(&device, "cuda:0", &with_fake, err);
    if (result != TZ_OK)
        return result;
    (void)tz_device_get_stream(device);
    result = work_on(device, err);
    tz_error forgotten;
    assert_int_equal(tz_device_close_checked(device, &forgotten), TZ_OK);
    return result;
}

static const char *const functions[] = {
#define NAME(name, suffix, arguments) "cu" #name #suffix,
    TZ_CU_FUNCTIONS(NAME) TZ_CU_POOL_FUNCTIONS(NAME)
#undef NAME
};

static bool is_release(const char *function)
{
    return strstr(function, "Free") || strstr(function, "Release") || strstr(function, "Destroy") ||
           strstr(function, "Unload");
}

/* If the context cannot be made current, nothing can be released, either. */
static bool leaks(const char *function)
{
    return is_release(function) || strncmp(function, "cuCtxP", 6) == 0;
}

/* The n-th call of one function; false: there are not so many. */
static bool fail_nth(const char *function, uint64_t n, int32_t code, uint64_t *failures)
{
    tz_error err = {0};
    cuda_fake_reset(control);
    control->fail_function = function;
    control->fail_nth = n;
    control->fail_code = code;
    const tz_result result = whole_life(&err);
    const bool happened = control->fail_nth == 0;
    if (!leaks(function) && control->live != 0)
        print_message("%s, %llu: %lld live\n", function, (unsigned long long)n,
                      (long long)control->live);
    assert_true(leaks(function) || control->live == 0);
    assert_true(result == TZ_OK || !is_release(function));
    if (result != TZ_OK) {
        ++*failures;
        assert_true(result == TZ_ERR_DEVICE || result == TZ_ERR_NOMEM || result == TZ_ERR_ARG);
        assert_true(err.message[0] != '\0');
    }
    return happened;
}

/* With a code that spoils the context, one that does not, and no memory. */
static void test_each_call_fails_in_turn(void **state)
{
    (void)state;
    static const int32_t codes[] = {2, 999, ILLEGAL_ADDRESS};
    tz_error err;
    uint64_t failures = 0, functions_seen = 0;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (leaks(functions[i]))
            continue;
        uint64_t n = 1;
        while (fail_nth(functions[i], n, codes[n % 3], &failures))
            n++;
        functions_seen += n > 1;
    }
    assert_int_equal(functions_seen, 28);
    assert_true(failures > 40);
    cuda_fake_reset(control);
    assert_int_equal(whole_life(&err), TZ_OK);
}

/* Failed releases are ignored; contexts that cannot be entered or left are errors. */
static void test_releases_that_fail(void **state)
{
    (void)state;
    uint64_t failures = 0;
    tz_error err;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (!leaks(functions[i]))
            continue;
        for (uint64_t n = 1; fail_nth(functions[i], n, 201, &failures); n++) {
            while (cu.cuCtxPopCurrent(NULL) == 0)
                ;
        }
    }
    assert_true(failures > 20);
    control->live = 0;
    cuda_fake_reset(control);
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
        assert_int_equal(control->live, 0);
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            break;
        }
        if (result == TZ_OK)
            continue; /* counting processor cores works without memory */
        assert_int_equal(result, TZ_ERR_NOMEM);
        refused++;
    }
    assert_int_equal(refused, 14);
}

/* ---- fork ---- */

/* The child of a fork; what it returns is its exit code. */
static int in_child(tz_device *device, tz_device_memory *memory, tz_device_event *event)
{
    tz_error err;
    const uint64_t calls = control->calls;
    const int64_t live = control->live;
    if (tz_device_sync(device, 0, &err) != TZ_ERR_DEVICE || !strstr(err.message, "fork"))
        return 1;
    if (tz_device_get_stream(device) || tz_device_get_context(device))
        return 2;
    tz_device_free_event(event);
    tz_device_memory_free(memory);
    if (tz_device_close_checked(device, &err) != TZ_OK)
        return 3;
    if (control->calls != calls || control->live != live)
        return 4; /* the parent's driver was called */
    /* CUDA is of no use to a child, and says so */
    if (tz_device_open(&device, "cuda:0", &with_fake, &err) != TZ_ERR_DEVICE)
        return 5;
    return strstr(err.message, "does not work in a child after fork") ? 0 : 6;
}

static void test_a_child_leaves_the_driver_alone(void **state)
{
    (void)state;
    tz_error err;
    int status = -1;
    tz_device_memory *memory = NULL;
    tz_device_event *event = NULL;
    tz_device *device = open_fake();
    assert_int_equal(tz_device_alloc_own(device, 100, &memory, &err), TZ_OK);
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
#define TURNS   20

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
    tz_device *device = open_fake();
    (void)tz_device_get_stream(device);
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
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
    assert_string_equal(control->fault, "");
}

/* Each thread first wants a kernel of another family, all of them at once. */
static void *load(void *user)
{
    tz_device *device = user;
    tz_device_memory *memory = NULL;
    tz_error err;
    static const uint32_t kernels[] = {TZ_KERNEL_INFLATE_WORK_GROUP, TZ_KERNEL_LZW_WORK_GROUP,
                                       TZ_KERNEL_LZ4_WORK_GROUP, TZ_KERNEL_PACKBITS_WORK_GROUP};
    static const uint8_t zeros[1 << 16]; /* an empty tile, which no decoder takes */
    void *failed = user;
    if (tz_device_alloc_own(device, sizeof zeros, &memory, &err) != TZ_OK)
        return failed;
    const tz_argument arguments[] = {{.kind = TZ_ARGUMENT_MEMORY, .value.memory = memory},
                                     {.kind = TZ_ARGUMENT_U64},
                                     {.kind = TZ_ARGUMENT_U64, .value.u64 = 512},
                                     {.kind = TZ_ARGUMENT_U64, .value.u64 = 1024}};
    if (tz_device_upload(1, memory, 0, zeros, sizeof zeros, &err) != TZ_OK)
        goto done;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        const tz_launch launch = {
            .kernel = kernels[i], .work_groups = 1, .arguments = arguments, .argument_count = 4};
        if (tz_device_launch(device, 1, &launch, &err) != TZ_OK)
            goto done;
    }
    if (tz_device_sync(device, 1, &err) == TZ_OK)
        failed = NULL;
done:
    tz_device_memory_free(memory);
    return failed;
}

static void test_threads_that_load_kernels(void **state)
{
    (void)state;
    tz_error err;
    pthread_t threads[THREADS];
    tz_device *device = open_fake();
    control->keep_steps = true;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load, device), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    size_t loads = 0;
    for (size_t i = 0; i < control->step_count; i++)
        loads += strcmp(control->steps[i].call, "cuModuleLoadDataEx") == 0;
    assert_int_equal(loads, 4); /* each family once */
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAULT(test_a_failed_device_stays_failed),
        FAULT(test_work_that_fails_later),
        FAULT(test_out_of_memory_is_not_the_end),
        FAULT(test_each_call_fails_in_turn),
        FAULT(test_each_allocation_fails_in_turn),
        FAULT(test_a_child_leaves_the_driver_alone),
        FAULT(test_threads),
        FAULT(test_threads_that_load_kernels),
        FAULT(test_releases_that_fail), /* what it leaves lives on */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
