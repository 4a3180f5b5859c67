/* SPDX-License-Identifier: Apache-2.0
 * A stream of the caller's for one read or write: work that is on it is done before device memory
 * is used, and work that comes later sees the pixels. Streams of the fake of libcuda do nothing
 * before somebody waits for them. A queue of PoCL is held until a thread lets it go, while the call
 * is under way. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "device/device.h"
#include "support/check.h"
#include "support/device/caller_device.h"
#include "support/device/fault_device.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"

enum { WIDE = 70, HIGH = 50, SAMPLES = WIDE * HIGH };

static caller_device own;
static void *stream;
static uint16_t sent[SAMPLES], old[SAMPLES], got[SAMPLES], seen[SAMPLES];

static int begin(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SAMPLES; i++) {
        sent[i] = (uint16_t)(i / 7 * 11 + i % 3);
        old[i] = (uint16_t)(60000 - i);
    }
    caller_begin(&own);
    stream = caller_stream_begin(&own, own.context);
    assert_non_null(stream);
    return 0;
}

static int end(void **state)
{
    (void)state;
    caller_stream_end(&own, own.context, stream);
    caller_end(&own);
    return 0;
}

/* ---- buffers and files ---- */

static tz_buffer view_of(void *handle)
{
    tz_error err = {0};
    tz_buffer b = {.struct_size = sizeof b,
                   .dtype = TZ_DTYPE_UINT16,
                   .bands = 1,
                   .height = HIGH,
                   .width = WIDE};
    tz_device_memory *memory = NULL;
    assert_int_equal(tz_device_wrap(&memory, own.opened, handle, 0, &err), TZ_OK);
    plain_on_device(&b, memory);
    return b;
}

static tz_writer *create(tz_memory *file, tz_device *device)
{
    tz_error err = {0};
    tz_writer *writer = NULL;
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    spec.width = WIDE, spec.height = HIGH, spec.bands = 1, spec.dtype = TZ_DTYPE_UINT16;
    how.codec.compression = TZ_COMPRESSION_NONE;
    how.tile_width = how.tile_height = 32;
    how.device = device;
    assert_int_equal(tz_create_memory(&writer, file, &spec, &how, &err), TZ_OK);
    return writer;
}

static void commit(tz_writer *writer)
{
    tz_error err = {0};
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    tz_writer_close(writer);
}

static tz_memory file_of_sent(void)
{
    tz_error err = {0};
    tz_memory file = {0};
    const tz_buffer rows = {.struct_size = sizeof(tz_buffer),
                            .data = sent,
                            .dtype = TZ_DTYPE_UINT16,
                            .bands = 1,
                            .height = HIGH,
                            .width = WIDE};
    tz_writer *writer = create(&file, NULL);
    assert_int_equal(tz_write_rows(writer, &rows, NULL, &err), TZ_OK);
    commit(writer);
    return file;
}

static tz_result read_file(const tz_memory *bytes, const tz_buffer *into,
                           const tz_read_options *how, tz_error *err)
{
    tz_file *file = NULL;
    assert_int_equal(tz_open_memory(&file, bytes->data, bytes->size, NULL, err), TZ_OK);
    const plain_item item = {.file = file, .into = *into};
    const tz_result result = plain_read(&item, how, NULL, err);
    tz_close(file);
    return result;
}

static tz_read_options on_stream(void *given)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.device = own.opened;
    how.has_stream = true;
    how.stream = given;
    return how;
}

/* ---- a stream that is held ---- */

static void *let_go_soon(void *unused)
{
    const struct timespec soon = {.tv_nsec = 20000000};
    (void)unused;
    nanosleep(&soon, NULL);
    caller_let_go(&own);
    return NULL;
}

/* A read while the stream is held; the caller's work goes on while the read waits. */
static void read_while_held(const tz_memory *file, const tz_buffer *into, void *given)
{
    tz_error err = {0};
    pthread_t thread;
    const tz_read_options how = on_stream(given);
    assert_int_equal(pthread_create(&thread, NULL, let_go_soon, NULL), 0);
    const tz_result result = read_file(file, into, &how, &err);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
}

static void write_while_held(tz_memory *file, const tz_buffer *rows, void *given)
{
    tz_error err = {0};
    pthread_t thread;
    tz_writer *writer = create(file, own.opened);
    assert_int_equal(pthread_create(&thread, NULL, let_go_soon, NULL), 0);
    const tz_result result = tz_write_rows_on_stream(writer, rows, NULL, given, &err);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
    commit(writer);
}

/* ---- order ---- */

static void check_rows_on(void *given)
{
    tz_error err = {0};
    tz_memory file = {0};
    void *from = caller_alloc(&own, sizeof sent);
    tz_buffer rows = view_of(from);
    caller_copy_in(&own, from, old, sizeof old);
    caller_hold(&own, given);
    caller_put_in(&own, given, from, sent, sizeof sent);
    write_while_held(&file, &rows, given);
    caller_copy_in(&own, from, old, sizeof old); /* the rows are the caller's again */
    tz_device_memory_free(rows.data);
    const tz_buffer into = {.struct_size = sizeof(tz_buffer),
                            .data = got,
                            .dtype = TZ_DTYPE_UINT16,
                            .bands = 1,
                            .height = HIGH,
                            .width = WIDE};
    memset(got, 0, sizeof got);
    assert_int_equal(read_file(&file, &into, NULL, &err), TZ_OK);
    assert_memory_equal(got, sent, sizeof sent);
    tz_memory_free(&file);
    caller_free(&own, from);
}

/* Twice: the first time kernels are built, which may take longer than the stream is held. */
static void test_rows_that_the_stream_makes(void **state)
{
    (void)state;
    check_rows_on(stream);
    check_rows_on(stream);
}

/* Work of the stream still reads the buffer, and later work finds the pixels in it. */
static void check_read_on(void *given)
{
    tz_memory file = file_of_sent();
    void *to = caller_alloc(&own, sizeof old);
    tz_buffer into = view_of(to);
    caller_copy_in(&own, to, old, sizeof old);
    memset(seen, 0, sizeof seen);
    caller_hold(&own, given);
    caller_put_out(&own, given, seen, to, sizeof seen);
    read_while_held(&file, &into, given);
    caller_put_out(&own, given, got, to, sizeof got);
    caller_finish(&own, given);
    assert_memory_equal(seen, old, sizeof old);
    assert_memory_equal(got, sent, sizeof sent);
    tz_device_memory_free(into.data);
    caller_free(&own, to);
    tz_memory_free(&file);
}

static void test_a_buffer_that_the_stream_reads(void **state)
{
    (void)state;
    check_read_on(stream);
    check_read_on(stream);
}

/* The read is done when it returns: a stream that it knows nothing of sees the pixels, too. */
static void test_later_work_of_another_stream(void **state)
{
    (void)state;
    tz_error err = {0};
    tz_memory file = file_of_sent();
    void *to = caller_alloc(&own, sizeof old);
    void *other = caller_stream_begin(&own, own.context);
    tz_buffer into = view_of(to);
    const tz_read_options how = on_stream(stream);
    assert_int_equal(read_file(&file, &into, &how, &err), TZ_OK);
    caller_put_out(&own, other, got, to, sizeof got);
    caller_finish(&own, other);
    assert_memory_equal(got, sent, sizeof sent);
    tz_device_memory_free(into.data);
    caller_stream_end(&own, own.context, other);
    caller_free(&own, to);
    tz_memory_free(&file);
}

/* The CPU resamples, and its pixels are uploaded: after the work of the stream all the same. */
static void test_pixels_that_the_cpu_makes(void **state)
{
    (void)state;
    enum { SIZE = WIDE / 2 * (HIGH / 2) * 2 };
    tz_error err = {0};
    tz_memory file = file_of_sent();
    void *to = caller_alloc(&own, sizeof old);
    tz_buffer into = view_of(to);
    static uint16_t expected[SIZE / 2];
    tz_buffer plain = {
        .struct_size = sizeof(tz_buffer), .data = expected, .dtype = TZ_DTYPE_UINT16, .bands = 1};
    tz_read_options how = on_stream(stream);
    plain.height = into.height = HIGH / 2;
    plain.width = into.width = WIDE / 2;
    how.resampling = TZ_RESAMPLING_AVERAGE;
    tz_read_options on_cpu = TZ_READ_OPTIONS_INIT;
    on_cpu.resampling = TZ_RESAMPLING_AVERAGE;
    assert_int_equal(read_file(&file, &plain, &on_cpu, &err), TZ_OK);
    caller_copy_in(&own, to, old, sizeof old);
    caller_hold(&own, stream);
    caller_put_out(&own, stream, seen, to, sizeof seen);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, let_go_soon, NULL), 0);
    assert_int_equal(read_file(&file, &into, &how, &err), TZ_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    caller_finish(&own, stream);
    caller_copy_out(&own, got, to, SIZE);
    assert_memory_equal(seen, old, sizeof old);
    assert_memory_equal(got, expected, SIZE);
    tz_device_memory_free(into.data);
    caller_free(&own, to);
    tz_memory_free(&file);
}

/* CUDA's own streams have numbers for handles, which DLPack uses as well. */
static void test_streams_that_cuda_has(void **state)
{
    (void)state;
    if (!test_device_is_cuda())
        return;
    for (uintptr_t i = 0; i <= 2; i++) {
        check_rows_on((void *)i);
        check_read_on((void *)i);
    }
}

/* ---- streams that are refused ---- */

static void check_refused(const tz_read_options *how, const char *text)
{
    tz_error err = {0};
    tz_memory file = file_of_sent();
    void *to = caller_alloc(&own, sizeof old);
    tz_buffer into = view_of(to);
    const tz_buffer host = {.struct_size = sizeof(tz_buffer),
                            .data = got,
                            .dtype = TZ_DTYPE_UINT16,
                            .bands = 1,
                            .height = HIGH,
                            .width = WIDE};
    caller_copy_in(&own, to, old, sizeof old);
    assert_int_equal(read_file(&file, how->device == own.opened ? &into : &host, how, &err),
                     TZ_ERR_ARG);
    assert_int_equal(err.cause, TZ_CAUSE_ARG);
    if (!strstr(err.message, text))
        fail_msg("'%s' is not in '%s'", text, err.message);
    caller_copy_out(&own, seen, to, sizeof seen);
    assert_memory_equal(seen, old, sizeof old);
    tz_device_memory_free(into.data);
    caller_free(&own, to);
    tz_memory_free(&file);
}

static void check_rows_refused(tz_device *device, void *given, const char *text)
{
    tz_error err = {0};
    tz_memory file = {0};
    const tz_buffer rows = {.struct_size = sizeof(tz_buffer),
                            .data = sent,
                            .dtype = TZ_DTYPE_UINT16,
                            .bands = 1,
                            .height = HIGH,
                            .width = WIDE};
    tz_writer *writer = create(&file, device);
    assert_int_equal(tz_write_rows_on_stream(writer, &rows, NULL, given, &err), TZ_ERR_ARG);
    assert_int_equal(err.cause, TZ_CAUSE_ARG);
    if (!strstr(err.message, text))
        fail_msg("'%s' is not in '%s'", text, err.message);
    tz_writer_close(writer);
}

static void test_a_stream_of_another_context(void **state)
{
    (void)state;
    caller_foreign foreign = caller_foreign_begin(&own, 1);
    void *other = caller_stream_begin(&own, foreign.context);
    const tz_read_options how = on_stream(other);
    check_refused(&how, "stream is of another context than the device's");
    check_rows_refused(own.opened, other, "stream is of another context than the device's");
    caller_stream_end(&own, foreign.context, other);
    caller_foreign_end(&own, &foreign);
    check_read_on(stream); /* and the device works on */
}

static void test_no_queue(void **state)
{
    (void)state;
    if (test_device_is_cuda()) /* its default stream */
        return;
    const tz_read_options how = on_stream(NULL);
    check_refused(&how, "not a command queue");
    check_rows_refused(own.opened, NULL, "not a command queue");
}

static void test_no_device(void **state)
{
    (void)state;
    tz_error err = {0};
    tz_device *cpu = NULL;
    assert_int_equal(tz_device_open(&cpu, "cpu", NULL, &err), TZ_OK);
    tz_read_options how = on_stream(stream);
    how.device = NULL;
    check_refused(&how, "a stream needs options->device");
    how.device = cpu;
    check_refused(&how, "a stream needs options->device");
    check_rows_refused(NULL, stream, "a stream needs options->device");
    check_rows_refused(cpu, stream, "a stream needs options->device");
    tz_device_close(cpu);
}

/* ---- failures, by the fake ---- */

static tz_result wait_on(const caller_device *caller, tz_error *err)
{
    tz_device *device = NULL;
    tz_error forgotten;
    void *made = caller_stream_begin(caller, caller->context);
    if (!made) /* the caller's own trouble */
        return TZ_ERR_DEVICE;
    tz_result result = tz_device_open(&device, fault_device_id(), &caller->options, err);
    if (result == TZ_OK)
        result = tz_device_wait_for_stream(device, made, err);
    if (result == TZ_OK)
        result = tz_device_sync(device, 1, err);
    if (device)
        assert_int_equal(tz_device_close_checked(device, &forgotten), TZ_OK);
    caller_stream_end(caller, caller->context, made);
    return result;
}

static void test_each_call_fails_in_turn(void **state)
{
    (void)state;
    tz_error err;
    caller_device caller;
    uint64_t failures = 0;
    fault_load();
    const int64_t before = fault_live();
    assert_true(caller_begin_faulty(&caller));
    const int64_t live = fault_live();
    fault_count_anew();
    assert_int_equal(wait_on(&caller, &err), TZ_OK);
    const uint64_t calls = fault_calls();
    for (uint64_t n = 1; n <= calls; n++) {
        fault_set(FAULT_ANY, n, FAULT_ONCE);
        failures += wait_on(&caller, &err) != TZ_OK;
        assert_int_equal(fault_live(), live); /* the caller's context */
        fault_reset();
    }
    assert_true(failures > 10);
    assert_int_equal(wait_on(&caller, &err), TZ_OK);
    caller_end_faulty(&caller);
    assert_int_equal(fault_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_that_the_stream_makes),
        cmocka_unit_test(test_a_buffer_that_the_stream_reads),
        cmocka_unit_test(test_later_work_of_another_stream),
        cmocka_unit_test(test_pixels_that_the_cpu_makes),
        cmocka_unit_test(test_streams_that_cuda_has),
        cmocka_unit_test(test_a_stream_of_another_context),
        cmocka_unit_test(test_no_queue),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_each_call_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
