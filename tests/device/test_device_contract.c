/* SPDX-License-Identifier: Apache-2.0
 * The contract of device.h: bytes go where they are sent, queues wait for
 * each other, everything is counted, and what is wrong is refused before the driver sees it. */
#include <string.h>

#include "device/device.h"
#include "device/kernel_list.h"
#include "support/check.h"
#include "support/device/test_device.h"
#include "support/device/timeline.h"

#define SIZE 5000u

static tz_device_memory *alloc(uint64_t size)
{
    tz_error err;
    tz_device_memory *memory = NULL;
    assert_int_equal(tz_device_memory_alloc(&memory, test_device, size, &err), TZ_OK);
    return memory;
}

static void fill(uint8_t *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 31 + i / 256 + seed);
}

static void test_what_it_is(void **state)
{
    (void)state;
    const tz_device_info *info = tz_device_get_info(test_device);
    assert_string_equal(info->driver, test_device_is_cuda() ? "cuda" : "opencl");
    assert_int_equal(strncmp(info->id, info->driver, strlen(info->driver)), 0);
    assert_true(info->usable && info->reason[0] == '\0');
    assert_true(info->memory_bytes >= info->max_allocation_bytes);
    assert_true(info->max_allocation_bytes > 1 << 20);
    assert_true(info->alignment >= 16 && info->max_work_group >= TZ_WORK_GROUP_ITEMS);
    assert_int_equal(info->caps, 2 * TZ_DEVICE_CAP_OVERVIEW - 1); /* all that has a name */
    assert_true(info->api_version[0] != '\0' && info->name[0] != '\0');
}

static void test_parts(void **state)
{
    (void)state;
    tz_error err;
    uint8_t sent[SIZE], got[SIZE] = {0};
    tz_device_memory *memory = alloc(SIZE);
    fill(sent, SIZE, 1);
    assert_int_equal(tz_device_upload(0, memory, 1000, sent + 1000, SIZE - 1000, &err), TZ_OK);
    assert_int_equal(tz_device_upload(0, memory, 0, sent, 1000, &err), TZ_OK);
    assert_int_equal(tz_device_download(0, got + 7, memory, 7, SIZE - 8, &err), TZ_OK);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    assert_memory_equal(got + 7, sent + 7, SIZE - 8);
    assert_true(got[6] == 0 && got[SIZE - 1] == 0);
    tz_device_memory_free(memory);
}

static void test_pinned(void **state)
{
    (void)state;
    tz_error err;
    uint8_t expected[SIZE];
    tz_device_memory *memory = alloc(SIZE), *from = NULL, *to = NULL;
    assert_int_equal(tz_device_alloc_pinned(test_device, SIZE, &from, &err), TZ_OK);
    assert_int_equal(tz_device_alloc_pinned(test_device, SIZE, &to, &err), TZ_OK);
    fill(expected, SIZE, 2);
    memcpy(from->host, expected, SIZE);
    memset(to->host, 0, SIZE);
    assert_int_equal(tz_device_upload(1, memory, 0, from->host, SIZE, &err), TZ_OK);
    assert_int_equal(tz_device_download(1, to->host, memory, 0, SIZE, &err), TZ_OK);
    assert_int_equal(tz_device_sync(test_device, 1, &err), TZ_OK);
    assert_memory_equal(to->host, expected, SIZE);
    tz_device_memory_free(from);
    tz_device_memory_free(to);
    tz_device_memory_free(memory);
}

/* One queue sends, the other fetches when that has happened; only the second is waited for. */
static void test_events(void **state)
{
    (void)state;
    tz_error err;
    uint8_t sent[SIZE], got[SIZE];
    bool happened = false;
    tz_device_memory *memory = alloc(SIZE);
    for (unsigned i = 0; i < 20; i++) {
        tz_device_event *event = NULL;
        fill(sent, SIZE, i);
        assert_int_equal(tz_device_upload(0, memory, 0, sent, SIZE, &err), TZ_OK);
        assert_int_equal(tz_device_record(test_device, 0, &event, &err), TZ_OK);
        assert_int_equal(tz_device_wait(1, event, &err), TZ_OK);
        assert_int_equal(tz_device_download(1, got, memory, 0, SIZE, &err), TZ_OK);
        assert_int_equal(tz_device_sync(test_device, 1, &err), TZ_OK);
        assert_memory_equal(got, sent, SIZE);
        assert_int_equal(tz_device_query(event, &happened, &err), TZ_OK);
        assert_true(happened);
        tz_device_free_event(event);
    }
    tz_device_memory_free(memory);
}

static void test_counts_and_timeline(void **state)
{
    (void)state;
    tz_error err;
    tz_device_counts before, all, wave;
    uint8_t bytes[300];
    tz_device_memory *held = alloc(1000);
    fill(bytes, sizeof bytes, 3);
    tz_device_get_counts(test_device, &before, NULL);
    tz_device_begin_wave(test_device);
    timeline_start(test_device);
    tz_device_memory *memory = alloc(300);
    assert_int_equal(tz_device_upload(1, memory, 0, bytes, 300, &err), TZ_OK);
    assert_int_equal(tz_device_upload(1, memory, 0, bytes, 0, &err), TZ_OK); /* is none */
    assert_int_equal(tz_device_download(1, bytes, memory, 100, 200, &err), TZ_OK);
    assert_int_equal(tz_device_sync(test_device, 1, &err), TZ_OK);
    tz_device_memory_free(memory);
    timeline_stop(test_device);
    tz_device_memory_free(held);
    tz_device_get_counts(test_device, &all, &wave);
    assert_int_equal(wave.allocations, 1);
    assert_int_equal(wave.uploads, 1);
    assert_int_equal(wave.upload_bytes, 300);
    assert_int_equal(wave.downloads, 1);
    assert_int_equal(wave.download_bytes, 200);
    assert_int_equal(wave.syncs, 1);
    assert_int_equal(wave.bytes_peak, 1300);
    assert_int_equal(wave.bytes_now, 0);
    assert_int_equal(all.uploads, before.uploads + 1);

    static const struct {
        tz_device_call call;
        uint32_t queue;
        uint64_t bytes;
    } expected[] = {{TZ_CALL_ALLOC, TZ_NO_QUEUE, 300},
                    {TZ_CALL_UPLOAD, 1, 300},
                    {TZ_CALL_DOWNLOAD, 1, 200},
                    {TZ_CALL_SYNC, 1, 0},
                    {TZ_CALL_FREE, TZ_NO_QUEUE, 300}};
    const timeline_step *steps = timeline.steps;
    const size_t count = timeline.count;
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(steps[i].thread, steps[0].thread);
        assert_int_equal(steps[i].call, expected[i].call);
        assert_int_equal(steps[i].queue, expected[i].queue);
        assert_int_equal(steps[i].bytes, expected[i].bytes);
    }
}

static void refused(tz_result result, tz_result expected, const tz_error *err, const char *text)
{
    assert_int_equal(result, expected);
    assert_non_null(strstr(err->message, text));
}

/* Each is refused, and the device goes on. */
static void test_wrong_calls(void **state)
{
    (void)state;
    tz_error err;
    uint8_t byte = 0;
    tz_device_memory *memory = alloc(100), *none = NULL;
    refused(tz_device_upload(0, memory, 100, &byte, 1, &err), TZ_ERR_ARG, &err, "past the end");
    refused(tz_device_upload(0, memory, UINT64_MAX, &byte, 2, &err), TZ_ERR_ARG, &err, "past");
    refused(tz_device_download(0, &byte, memory, 1, UINT64_MAX, &err), TZ_ERR_ARG, &err, "past");
    refused(tz_device_upload(2, memory, 0, &byte, 1, &err), TZ_ERR_ARG, &err, "queue");
    refused(tz_device_sync(test_device, 7, &err), TZ_ERR_ARG, &err, "queue");
    refused(tz_device_memory_alloc(&none, test_device, 0, &err), TZ_ERR_ARG, &err, "0 bytes");
    refused(tz_device_memory_alloc(&none, test_device, UINT64_MAX, &err), TZ_ERR_LIMIT, &err,
            "one piece");
    tz_launch launch = {.kernel = TZ_KERNEL_COUNT, .work_groups = 1};
    refused(tz_device_launch(test_device, 0, &launch, &err), TZ_ERR_ARG, &err, "kernel");
    launch.kernel = TZ_KERNEL_UNPREDICT;
    refused(tz_device_launch(test_device, 0, &launch, &err), TZ_ERR_ARG, &err, "arguments");
    tz_argument arguments[2] = {{.kind = TZ_ARGUMENT_U64}, {.kind = TZ_ARGUMENT_U64}};
    launch.arguments = arguments;
    launch.argument_count = 2;
    refused(tz_device_launch(test_device, 0, &launch, &err), TZ_ERR_ARG, &err, "arguments");
    assert_null(none);
    assert_int_equal(tz_device_upload(0, memory, 99, &byte, 1, &err), TZ_OK);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    tz_device_memory_free(memory);
}

/* ---- devices of their own ---- */

static void test_guard(void **state)
{
    (void)state;
    tz_error err;
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    how.max_device_bytes = 8000;
    tz_device *small = test_device_open(&how);
    tz_device_memory *memory = NULL, *none = NULL;
    uint64_t room = 0;
    assert_int_equal(tz_device_admit(small, (const uint64_t[]){4000, 3000}, 2, &err), TZ_OK);
    assert_int_equal(tz_device_admit(small, (const uint64_t[]){4000, 3001}, 2, &err), TZ_ERR_LIMIT);
    assert_int_equal(err.expected, 7000);
    assert_int_equal(err.found, 7001);
    const uint64_t half = UINT64_MAX / 2 + 1;
    assert_int_equal(tz_device_admit(small, (const uint64_t[]){half, half}, 2, &err), TZ_ERR_LIMIT);
    assert_int_equal(tz_device_memory_alloc(&memory, small, 5000, &err), TZ_OK);
    assert_int_equal(tz_device_free_memory(small, &room, &err), TZ_OK);
    assert_int_equal(room, 3000);
    assert_int_equal(tz_device_memory_alloc(&none, small, 3001, &err), TZ_ERR_LIMIT);
    assert_null(none);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_memory_alloc(&memory, small, 8000, &err), TZ_OK);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_close_checked(small, &err), TZ_OK);
}

static void test_leaks_are_reported(void **state)
{
    (void)state;
    tz_error err;
    tz_device *careless = test_device_open(NULL);
    tz_device_memory *memory = NULL;
    tz_device_event *event = NULL;
    assert_int_equal(tz_device_memory_alloc(&memory, careless, 1234, &err), TZ_OK);
    assert_int_equal(tz_device_alloc_pinned(careless, 10, &memory, &err), TZ_OK);
    assert_int_equal(tz_device_record(careless, 0, &event, &err), TZ_OK);
    assert_int_equal(tz_device_close_checked(careless, &err), TZ_ERR_INTERNAL);
    assert_int_equal(err.found, 3);
    assert_non_null(strstr(err.message, "1234 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_is),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_counts_and_timeline),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_guard),
        cmocka_unit_test(test_leaks_are_reported),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
