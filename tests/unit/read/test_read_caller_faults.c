/* SPDX-License-Identifier: Apache-2.0
 * Sources with caller_thread whose calls, and the memory and threads around them, fail in turn; and
 * reads that are cancelled. Every request that was submitted is waited for once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "support/alloc_hook.h"
#include "support/bound_io.h"
#include "support/plain_read.h"
#include "support/raster.h"
#include "support/tile_file.h"

enum { SIDE = 150, TILE_SIDE = 16, THREADS = 4, PIXELS = SIDE * SIDE };

static raster original;
static tz_memory bytes;

static int begin(void **state)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    (void)state;
    original = raster_make(TZ_DTYPE_UINT8, 1, SIDE, SIDE, false);
    options.codec.compression = TZ_COMPRESSION_LZW;
    options.tile_width = options.tile_height = TILE_SIDE;
    bytes = raster_write(&original, &options, NULL, NULL);
    tf_warm_up();
    return 0;
}

static int end(void **state)
{
    (void)state;
    raster_free(&original);
    tz_memory_free(&bytes);
    return 0;
}

static tz_file *open_bound(bound_source **source, bool deferred)
{
    bound_source *s = bound_source_new(bytes.data, bytes.size);
    s->base.merge_span = 2;
    s->deferred = deferred;
    *source = s;
    return bound_open(s, true);
}

static tz_result read_all(const tz_file *file, const tz_read_options *how, uint8_t *pixels,
                          plain_report *report, tz_error *err)
{
    const plain_item item = {
        .file = file,
        .into = {
            .data = pixels, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = SIDE, .width = SIDE}};
    memset(pixels, 0xA5, PIXELS);
    return plain_read(&item, how, report, err);
}

static tz_read_options four_threads(void)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.threads = THREADS;
    return how;
}

static void every_call_of_the_source_fails_in_turn(void **state)
{
    static uint8_t pixels[PIXELS];
    const tz_read_options how = four_threads();
    (void)state;
    for (int deferred = 0; deferred < 2; deferred++) {
        bool failed = true;
        for (uint64_t n = 1; failed; n++) {
            bound_source *s;
            tz_error err;
            tz_file *file = open_bound(&s, deferred);
            s->fail_call = s->calls + n;
            const tz_result result = read_all(file, &how, pixels, NULL, &err);
            failed = s->calls >= s->fail_call;
            assert_int_equal(result, failed ? TZ_ERR_IO : TZ_OK);
            if (failed)
                assert_int_equal(err.cause, TZ_CAUSE_REMOTE);
            assert_int_equal(s->submits, s->waits);
            assert_int_equal(s->in_flight, 0);
            tz_close(file);
        }
        assert_memory_equal(pixels, original.pixels.data, PIXELS);
    }
}

static bool stop_at(void *user, uint64_t done, uint64_t total)
{
    uint64_t *left = user;
    assert_true(done <= total);
    return --*left > 0;
}

static void every_call_of_progress_cancels_in_turn(void **state)
{
    static uint8_t pixels[PIXELS];
    tz_result result = TZ_ERR_CANCELLED;
    (void)state;
    for (uint64_t n = 1; result == TZ_ERR_CANCELLED; n++) {
        bound_source *s;
        tz_error err;
        uint64_t left = n;
        tz_read_options how = four_threads();
        how.progress = (tz_progress){stop_at, &left};
        tz_file *file = open_bound(&s, true);
        result = read_all(file, &how, pixels, NULL, &err);
        assert_int_equal(result, left == 0 ? TZ_ERR_CANCELLED : TZ_OK);
        assert_int_equal(s->submits, s->waits);
        assert_int_equal(s->in_flight, 0);
        tz_close(file);
    }
    assert_memory_equal(pixels, original.pixels.data, PIXELS);
}

/* The peak is what the plan says, too. */
static void every_allocation_fails_in_turn(void **state)
{
    static uint8_t pixels[PIXELS];
    const tz_read_options how = four_threads();
    bool failed = true;
    (void)state;
    for (uint64_t n = 1; failed; n++) {
        bound_source *s;
        tz_error err;
        plain_report report;
        tz_file *file = open_bound(&s, true);
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result = read_all(file, &how, pixels, &report, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        failed = stats.failures > 0;
        assert_true(result == TZ_OK || (failed && result == TZ_ERR_NOMEM));
        assert_true(alloc_hook_kept_nothing(&stats));
        assert_int_equal(s->submits, s->waits);
        tz_close(file);
    }
    assert_memory_equal(pixels, original.pixels.data, PIXELS);
}

/* Fetches ahead count as memory of the read: with less of it, fewer threads work. */
static void memory_is_bounded(void **state)
{
    static uint8_t pixels[PIXELS];
    tz_read_options how = four_threads();
    plain_report report;
    tz_error err;
    bound_source *s;
    (void)state;
    tz_file *file = open_bound(&s, true);
    assert_int_equal(read_all(file, &how, pixels, &report, &err), TZ_OK);
    assert_int_equal(report.threads, THREADS);
    const uint64_t all = report.peak_host_bytes;
    unsigned threads = THREADS;
    for (how.max_host_bytes = all; threads > 1; how.max_host_bytes = report.peak_host_bytes - 1) {
        assert_int_equal(read_all(file, &how, pixels, &report, &err), TZ_OK);
        assert_true(report.peak_host_bytes <= how.max_host_bytes);
        assert_int_equal(report.threads, threads);
        assert_memory_equal(pixels, original.pixels.data, PIXELS);
        threads--;
    }
    assert_int_equal(read_all(file, &how, pixels, &report, &err), TZ_OK);
    assert_int_equal(report.threads, 1);
    tz_close(file);
}

/* A source without the flag, in a batch with one that has it, is read by other threads too: they
 * work while the calling thread is in a source. */
static void other_threads_work_meanwhile(void **state)
{
    static uint8_t pixels[2][PIXELS];
    const tz_read_options how = four_threads();
    tz_error err;
    bound_source *sources[2];
    tz_file *files[2];
    plain_item items[2];
    tz_tile_span first, last;
    (void)state;
    for (int i = 0; i < 2; i++) {
        files[i] = open_bound(&sources[i], false);
        items[i] = (plain_item){.file = files[i],
                                .into = {.data = pixels[i],
                                         .dtype = TZ_DTYPE_UINT8,
                                         .bands = 1,
                                         .height = SIDE,
                                         .width = SIDE}};
    }
    sources[0]->base.caller_thread = false;
    assert_int_equal(tz_file_locate_tile(&first, files[0], 0, false, 0, &err), TZ_OK);
    assert_int_equal(tz_file_locate_tile(&last, files[0], 0, false, 99, &err), TZ_OK);
    sources[0]->shared_from = first.offset;
    sources[0]->shared_to = last.offset + last.size;
    assert_int_equal(plain_read_batch(items, 2, &how, NULL, &err), TZ_OK);
    assert_true(sources[0]->was_called_elsewhere);
    assert_memory_equal(pixels[0], original.pixels.data, PIXELS);
    assert_memory_equal(pixels[1], original.pixels.data, PIXELS);
    tz_close(files[0]);
    tz_close(files[1]);
}

static int refuse_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *),
                         void *argument)
{
    (void)thread, (void)attributes, (void)main, (void)argument;
    return EAGAIN;
}

/* The calling thread does all of it, if the system starts no other. */
static void no_other_thread_is_needed(void **state)
{
    static uint8_t pixels[PIXELS];
    tz_read_options how = four_threads();
    tz_error err;
    bound_source *s;
    (void)state;
    tz_file *file = open_bound(&s, true);
    how.threads = 61; /* more than there are, so that the read has a pool of its own */
    tz_set_thread_create(refuse_thread);
    assert_int_equal(read_all(file, &how, pixels, NULL, &err), TZ_OK);
    tz_set_thread_create(NULL);
    assert_memory_equal(pixels, original.pixels.data, PIXELS);
    tz_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_of_the_source_fails_in_turn),
        cmocka_unit_test(every_call_of_progress_cancels_in_turn),
        cmocka_unit_test(every_allocation_fails_in_turn),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(other_threads_work_meanwhile),
        cmocka_unit_test(no_other_thread_is_needed),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
