/* SPDX-License-Identifier: Apache-2.0
 * Sinks with caller_thread, and row sources: every call of theirs comes on the thread that called
 * the library, while several threads encode. One that comes on another thread ends the program. The
 * file is the same, byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "support/bound_io.h"
#include "support/raster.h"

enum { WIDTH = 300, HEIGHT = 270, THREADS = 4 };

/* ---- rows ---- */

typedef struct rows {
    const raster *raster;
    pthread_t owner;
} rows;

static void copy_window(const tz_buffer *from, const tz_window *window, const tz_buffer *to)
{
    const size_t size = tz_dtype_size(from->dtype);
    for (uint32_t band = 0; band < to->bands; band++) {
        for (uint32_t y = 0; y < window->height; y++) {
            for (uint32_t x = 0; x < window->width; x++) {
                const uint8_t *sample = (const uint8_t *)from->data + band * from->band_stride +
                                        (window->row + y) * from->row_stride +
                                        (window->column + x) * from->column_stride;
                memcpy((uint8_t *)to->data + band * to->band_stride + y * to->row_stride +
                           x * to->column_stride,
                       sample, size);
            }
        }
    }
}

static tz_result read_rows(void *user, const tz_window *window, const tz_buffer *pixels,
                           const tz_buffer *mask, tz_error *err)
{
    const rows *r = user;
    (void)err;
    bound_check_thread(r->owner, "read of the rows");
    copy_window(&r->raster->pixels, window, pixels);
    if (r->raster->spec.mask)
        copy_window(&r->raster->mask, window, mask);
    return TZ_OK;
}

/* ---- writes ---- */

typedef struct layout {
    bool cog;
    bool mask;
    bool inserts; /* the sink can */
    bool pulls;
    bool large_tiles; /* so that those that are verified together are several reads */
    tz_interleave interleave;
} layout;

static const layout layouts[] = {
    {.pulls = false},
    {.pulls = true, .inserts = true, .large_tiles = true},
    {.cog = true, .inserts = true, .mask = true},
    {.cog = true, .inserts = true, .mask = true, .pulls = true},
    {.cog = true, .pulls = true, .interleave = TZ_INTERLEAVE_BAND},
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static tz_write_options options_of(const layout *l, uint32_t threads)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_PACKBITS; /* which devices encode */
    options.tile_width = options.tile_height = l->large_tiles ? 128 : 32;
    options.cog = l->cog;
    options.interleave = l->interleave;
    options.threads = threads;
    options.verify = TZ_VERIFY_ALL;
    return options;
}

static tz_result write_to(bound_sink *sink, const raster *r, const layout *l,
                          const tz_write_options *options, tz_error *err)
{
    const raster_variant pushed = {.batch = 33};
    rows given = {r, pthread_self()};
    tz_row_source source;
    tz_writer *writer = NULL;
    tz_row_source_init(&source, sizeof source);
    source.read = read_rows;
    source.user = &given;
    source.columns = true;
    tz_result result = tz_create_sink(&writer, &sink->base, "bound", &r->spec, options, err);
    if (result != TZ_OK)
        return result;
    result = l->pulls ? tz_write_from(writer, &source, err) : raster_give(writer, r, &pushed, err);
    if (result == TZ_OK)
        result = tz_commit(writer, NULL, err);
    tz_writer_close(writer);
    return result;
}

static void written_files_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        raster r = raster_make(TZ_DTYPE_UINT16, 2, WIDTH, HEIGHT, layouts[i].mask);
        bound_sink plain, bound;
        tz_error err;
        tz_write_options options = options_of(&layouts[i], 1);
        bound_sink_init(&plain, false, layouts[i].inserts);
        assert_int_equal(write_to(&plain, &r, &layouts[i], &options, &err), TZ_OK);
        for (unsigned turn = 0; turn < 4; turn++) {
            options = options_of(&layouts[i], turn % 2 ? THREADS : 2);
            options.max_host_bytes = turn & 2 ? 1 : 0; /* as few slots as possible */
            bound_sink_init(&bound, true, layouts[i].inserts);
            assert_int_equal(write_to(&bound, &r, &layouts[i], &options, &err), TZ_OK);
            assert_true(bound.committed);
            assert_int_equal(bound.size, plain.size);
            assert_memory_equal(bound.data, plain.data, plain.size);
            free(bound.data);
        }
        free(plain.data);
        raster_free(&r);
    }
}

static void every_call_of_the_sink_fails_in_turn(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        raster r = raster_make(TZ_DTYPE_UINT8, 1, 70, 50, layouts[i].mask);
        const tz_write_options options = options_of(&layouts[i], THREADS);
        tz_result result = TZ_ERR_IO;
        for (uint64_t n = 1; result != TZ_OK; n++) {
            bound_sink sink;
            tz_error err;
            bound_sink_init(&sink, true, layouts[i].inserts);
            sink.fail_call = n;
            result = write_to(&sink, &r, &layouts[i], &options, &err);
            assert_int_equal(result, sink.calls >= n ? TZ_ERR_IO : TZ_OK);
            if (result != TZ_OK)
                assert_int_equal(err.cause, TZ_CAUSE_REMOTE);
            assert_int_equal(sink.committed, result == TZ_OK);
            free(sink.data);
        }
        raster_free(&r);
    }
}

static bool stop_at(void *user, uint64_t done, uint64_t total)
{
    uint64_t *left = user;
    assert_true(done <= total);
    return --*left > 0;
}

static void cancelled_writes_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYOUTS; i++) {
        raster r = raster_make(TZ_DTYPE_UINT8, 1, 70, 50, layouts[i].mask);
        tz_result result = TZ_ERR_CANCELLED;
        for (uint64_t n = 1; result != TZ_OK; n += 1 + n / 8) {
            bound_sink sink;
            tz_error err;
            uint64_t left = n;
            tz_write_options options = options_of(&layouts[i], THREADS);
            options.progress = (tz_progress){stop_at, &left};
            bound_sink_init(&sink, true, layouts[i].inserts);
            result = write_to(&sink, &r, &layouts[i], &options, &err);
            assert_int_equal(result, left == 0 ? TZ_ERR_CANCELLED : TZ_OK);
            assert_int_equal(sink.committed, result == TZ_OK);
            free(sink.data);
        }
        raster_free(&r);
    }
}

/* ---- the struct ---- */

static void sinks_of_another_size(void **state)
{
    (void)state;
    bound_sink bound;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 40, false);
    const tz_write_options options = options_of(&layouts[0], 1);
    tz_writer *writer = NULL;
    tz_error err;
    /* Without a size, or with too little of it, nothing of the sink is called, not even close. */
    static const size_t wrong[] = {0, sizeof(size_t), offsetof(tz_sink, close), SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tz_sink sink = {.struct_size = wrong[i]};
        memset((uint8_t *)&sink + sizeof sink.struct_size, 0xEE,
               sizeof sink - sizeof sink.struct_size);
        assert_int_equal(tz_create_sink(&writer, &sink, NULL, &r.spec, &options, &err), TZ_ERR_ARG);
    }
    assert_null(writer);
    /* One of a later version: its further members must be 0. */
    struct later_sink {
        tz_sink known;
        uint64_t later;
    } later = {.later = 1};
    bound_sink_init(&bound, true, true);
    later.known = bound.base;
    later.known.close = NULL;
    later.known.struct_size = sizeof later;
    assert_int_equal(tz_create_sink(&writer, &later.known, NULL, &r.spec, &options, &err),
                     TZ_ERR_ARG);
    later.later = 0;
    assert_int_equal(tz_create_sink(&writer, &later.known, NULL, &r.spec, &options, &err), TZ_OK);
    tz_writer_close(writer);
    raster_free(&r);
}

static void row_sources_of_another_size(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 40, 40, false);
    rows given = {&r, pthread_self()};
    tz_error err;
    struct later_source {
        tz_row_source known;
        uint64_t later;
    } later = {.known = {.read = read_rows, .user = &given}};
    const size_t older = offsetof(tz_row_source, chunk_rows);
    const struct {
        size_t size;
        uint64_t later;
        tz_result expected;
    } cases[] = {{0, 0, TZ_ERR_ARG},
                 {older, 1, TZ_OK},
                 {sizeof(tz_row_source), 1, TZ_OK},
                 {sizeof later, 0, TZ_OK},
                 {sizeof later, 1, TZ_ERR_ARG},
                 {sizeof(size_t), 0, TZ_ERR_ARG} /* without a function to read */};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tz_memory out = {0};
        tz_writer *writer = NULL;
        later.known.struct_size = cases[i].size;
        /* what an older struct does not have is not looked at */
        later.known.on_device = cases[i].size == older;
        later.later = cases[i].later;
        tz_write_options how = TZ_WRITE_OPTIONS_INIT;
        how.codec.compression = TZ_COMPRESSION_NONE;
        assert_int_equal(tz_create_memory(&writer, &out, &r.spec, &how, &err), TZ_OK);
        assert_int_equal(tz_write_from(writer, &later.known, &err), cases[i].expected);
        if (cases[i].expected == TZ_OK) {
            assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
            raster_check(&r, &out, 0);
        }
        tz_writer_close(writer);
        tz_memory_free(&out);
    }
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_files_are_the_same),
        cmocka_unit_test(every_call_of_the_sink_fails_in_turn),
        cmocka_unit_test(cancelled_writes_end),
        cmocka_unit_test(sinks_of_another_size),
        cmocka_unit_test(row_sources_of_another_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
