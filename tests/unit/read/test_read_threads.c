/* SPDX-License-Identifier: Apache-2.0
 * Many threads that read from one handle, each with several threads of its own, and reads that are
 * cancelled at every tile. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc_hook.h"
#include "support/plain_read.h"
#include "support/tile_file.h"

enum { ACROSS = 7, DOWN = 6, WIDTH = ACROSS * TILE, HEIGHT = DOWN * TILE, THREADS = 64 };

/* Raw tiles of which each is different, so that a mix-up shows. */
static tb *make_file(unsigned format, const tile_stream *stream)
{
    tb *b = tf_new(format, stream, ACROSS, DOWN, NULL);
    for (uint32_t tile = 0; stream->compression == 1 && tile < ACROSS * DOWN; tile++) {
        uint8_t pixels[TILE * TILE];
        for (size_t i = 0; i < sizeof pixels; i++)
            pixels[i] = (uint8_t)(i * 7 + tile * 31);
        tf_put(b, tile, pixels, sizeof pixels);
    }
    return b;
}

static uint32_t next_random(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

/* ---- one handle ---- */

typedef struct reader {
    const tz_file *file;
    const uint8_t *whole;
    uint32_t seed;
    uint32_t rounds;
    uint32_t threads; /* of every read; 0 or more */
    bool good;
} reader;

static bool window_is_right(const reader *r, tz_window w, const uint8_t *pixels)
{
    const uint32_t bands = tz_file_get_info(r->file)->bands;
    for (uint32_t i = 0; i < bands * w.height; i++) {
        const size_t row = (size_t)(i / w.height) * HEIGHT + (size_t)w.row + i % w.height;
        if (memcmp(pixels + (size_t)i * w.width, r->whole + row * WIDTH + w.column, w.width) != 0)
            return false;
    }
    return true;
}

static void *read_windows(void *argument)
{
    reader *r = argument;
    r->good = true;
    for (uint32_t i = 0; i < r->rounds && r->good; i++) {
        tz_window w = {.column = next_random(&r->seed, WIDTH),
                       .row = next_random(&r->seed, HEIGHT)};
        w.width = 1 + next_random(&r->seed, WIDTH - (uint32_t)w.column);
        w.height = 1 + next_random(&r->seed, HEIGHT - (uint32_t)w.row);
        uint8_t *pixels;
        r->good = tf_read(r->file, w, r->threads, 0xA5, &pixels, NULL, NULL) == TZ_OK &&
                  window_is_right(r, w, pixels);
        free(pixels);
    }
    return NULL;
}

static void run_readers(reader *readers, size_t count)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_windows, &readers[i]), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < count; i++)
        assert_true(readers[i].good);
}

static void threads_read_windows_of_one_handle(void **state)
{
    (void)state;
    static const int streams[] = {STREAM_NONE, STREAM_LZW, STREAM_DEFLATE, STREAM_JPEG_RGB,
                                  STREAM_WEBP};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        const tile_stream *stream = &tile_streams[streams[i]];
        if (!tf_available(stream))
            continue;
        tb *b = make_file(TB_BIG_ENDIAN, stream);
        tz_file *file = tf_open(b);
        uint8_t *whole;
        assert_int_equal(tf_read(file, (tz_window){0}, 1, 0, &whole, NULL, NULL), TZ_OK);
        reader readers[THREADS];
        for (uint32_t t = 0; t < THREADS; t++)
            readers[t] = (reader){file, whole, t + 1, 6, t % 4, false};
        run_readers(readers, THREADS);
        free(whole);
        tz_close(file);
        tb_free(b);
    }
}

static void *read_bad_tile(void *argument)
{
    reader *r = argument;
    r->good = true;
    for (uint32_t i = 0; i < r->rounds && r->good; i++) {
        uint8_t *pixels;
        tz_error err = {.result = TZ_OK};
        r->good =
            tf_read(r->file, (tz_window){0}, r->threads, 0, &pixels, NULL, &err) == TZ_ERR_FORMAT &&
            err.tile == 17;
        free(pixels);
    }
    return NULL;
}

/* Reads that fail disturb no others, and always fail at the same tile. */
static void failing_reads_beside_good_ones(void **state)
{
    (void)state;
    const tile_stream *stream = &tile_streams[STREAM_LZW];
    tb *good = make_file(TB_CLASSIC, stream);
    tb *bad = make_file(TB_CLASSIC, stream);
    tf_put(bad, 17, "bad", 3);
    tf_put(bad, 40, "bad", 3);
    tz_file *good_file = tf_open(good);
    tz_file *bad_file = tf_open(bad);
    uint8_t *whole;
    assert_int_equal(tf_read(good_file, (tz_window){0}, 1, 0, &whole, NULL, NULL), TZ_OK);
    reader readers[16];
    pthread_t threads[16];
    for (uint32_t t = 0; t < 16; t++) {
        readers[t] = (reader){t % 2 ? bad_file : good_file, whole, t, 10, 1 + t % 3, false};
        assert_int_equal(
            pthread_create(&threads[t], NULL, t % 2 ? read_bad_tile : read_windows, &readers[t]),
            0);
    }
    for (uint32_t t = 0; t < 16; t++)
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    for (uint32_t t = 0; t < 16; t++)
        assert_true(readers[t].good);
    free(whole);
    tz_close(good_file);
    tz_close(bad_file);
    tb_free(good);
    tb_free(bad);
}

/* ---- cancelling ---- */

typedef struct stopper {
    pthread_t caller;
    uint64_t calls;
    uint64_t stop_at; /* the call that says stop */
    uint64_t last_done;
    bool good;
} stopper;

static bool stop(void *user, uint64_t done, uint64_t total)
{
    stopper *s = user;
    s->calls++;
    s->good = s->good && pthread_equal(s->caller, pthread_self()) && done <= total &&
              done >= s->last_done;
    s->last_done = done;
    return s->calls != s->stop_at;
}

static tz_result read_until(const tz_file *file, uint8_t *pixels, uint32_t threads, stopper *s,
                            tz_error *err)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    const plain_item item = {
        .file = file,
        .into = {
            .data = pixels, .dtype = TZ_DTYPE_UINT8, .bands = 1, .height = HEIGHT, .width = WIDTH}};
    how.threads = threads;
    how.progress = (tz_progress){stop, s};
    s->caller = pthread_self();
    s->good = true;
    return plain_read(&item, &how, NULL, err);
}

static void a_read_is_cancelled_at_every_call(void **state)
{
    (void)state;
    tb *b = make_file(TB_BIGTIFF, &tile_streams[STREAM_PACKBITS]);
    tz_file *file = tf_open(b);
    uint8_t *whole;
    assert_int_equal(tf_read(file, (tz_window){0}, 1, 0, &whole, NULL, NULL), TZ_OK);
    uint8_t *pixels = malloc(WIDTH * HEIGHT);
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        for (uint64_t n = 1;; n++) {
            stopper s = {.stop_at = n};
            tz_error err = {.result = TZ_OK};
            alloc_hook_install();
            const tz_result result = read_until(file, pixels, threads, &s, &err);
            const alloc_stats stats = alloc_hook_stats();
            alloc_hook_remove();
            assert_int_equal(stats.live_bytes, 0);
            assert_true(s.good);
            if (s.calls < n) {
                assert_int_equal(result, TZ_OK);
                assert_memory_equal(pixels, whole, WIDTH * HEIGHT);
                assert_true(n > 1);
                break;
            }
            assert_int_equal(result, TZ_ERR_CANCELLED);
            assert_int_equal(err.cause, TZ_CAUSE_CANCELLED);
            assert_int_equal(s.calls, n); /* and is not asked again */
            s = (stopper){.stop_at = 0};
            assert_int_equal(read_until(file, pixels, threads, &s, &err), TZ_OK);
            assert_memory_equal(pixels, whole, WIDTH * HEIGHT);
        }
    }
    free(whole);
    free(pixels);
    tz_close(file);
    tb_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(threads_read_windows_of_one_handle),
        CASE(failing_reads_beside_good_ones),
        CASE(a_read_is_cancelled_at_every_call),
    };
    tf_warm_up();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
