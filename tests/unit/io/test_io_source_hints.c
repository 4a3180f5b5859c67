/* SPDX-License-Identifier: Apache-2.0
 * The struct of a source of the caller, older, newer and wrong, and its hints: they decide how many
 * ranges are read, and nothing else. */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "io/source.h"
#include "support/bound_io.h"
#include "support/plain_read.h"
#include "support/raster.h"
#include "tiff/container.h"

enum { ACROSS = 8, SIDE = 16, TILES = ACROSS * ACROSS, TILE_BYTES = SIDE * SIDE, GAP = 16384 };

/* Tiles of 256 bytes that follow each other, or begin every 16 KiB. */
static tz_memory write_tiles(const raster *r, bool apart)
{
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_NONE;
    options.tile_width = options.tile_height = SIDE;
    options.alignment = apart ? GAP : 0;
    return raster_write(r, &options, NULL, NULL);
}

static raster make_raster(void)
{
    return raster_make(TZ_DTYPE_UINT8, 1, ACROSS * SIDE, ACROSS * SIDE, false);
}

/* Reads all of it with one thread, and returns the ranges that this took. */
static uint64_t count_ranges(const raster *r, bound_source *s, uint64_t max_host_bytes)
{
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    plain_report report;
    tz_error err;
    tz_file *file = bound_open(s, false);
    uint8_t *pixels = malloc(TILES * TILE_BYTES);
    assert_non_null(pixels);
    const plain_item item = {.file = file,
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = 1,
                                      .height = ACROSS * SIDE,
                                      .width = ACROSS * SIDE}};
    how.threads = 1;
    how.max_host_bytes = max_host_bytes;
    assert_int_equal(plain_plan_read(&report, &item, 1, &how, &err), TZ_OK);
    const uint64_t planned = report.requests;
    const uint64_t before = s->ranges;
    assert_int_equal(plain_plan_read(&report, &item, 1, &how, &err), TZ_OK);
    const uint64_t tables = s->ranges - before; /* each time */
    assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
    assert_memory_equal(pixels, r->pixels.data, TILES * TILE_BYTES);
    assert_int_equal(report.requests, planned);
    assert_int_equal(s->ranges - before - 2 * tables, planned);
    tz_close(file);
    free(pixels);
    return planned;
}

static void a_gap_merges_what_lies_apart(void **state)
{
    static const struct {
        uint64_t gap, span, ranges;
    } cases[] = {{0, 0, TILES}, /* 4 KiB is too little */
                 {GAP - TILE_BYTES - 1, 1 << 30, TILES},
                 {GAP - TILE_BYTES, 1 << 30, 1},
                 {1 << 20, 2 * GAP, TILES / 2},
                 {1 << 20, 4 * GAP - TILE_BYTES, TILES / 4},
                 {1, 1 << 30, TILES}};
    (void)state;
    raster r = make_raster();
    tz_memory file = write_tiles(&r, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bound_source *s = bound_source_new(file.data, file.size);
        s->base.merge_gap = cases[i].gap;
        s->base.merge_span = cases[i].span;
        assert_int_equal(count_ranges(&r, s, 0), cases[i].ranges);
    }
    tz_memory_free(&file);
    raster_free(&r);
}

static void a_span_bounds_what_is_read_together(void **state)
{
    static const struct {
        uint64_t span, ranges;
    } cases[] = {{0, 1},
                 {1, TILES},
                 {TILE_BYTES, TILES},
                 {2 * TILE_BYTES, TILES / 2},
                 {4 * TILE_BYTES + 255, TILES / 4},
                 {UINT64_MAX, 1}};
    (void)state;
    raster r = make_raster();
    tz_memory file = write_tiles(&r, false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bound_source *s = bound_source_new(file.data, file.size);
        s->base.merge_span = cases[i].span;
        assert_int_equal(count_ranges(&r, s, 0), cases[i].ranges);
    }
    tz_memory_free(&file);
    raster_free(&r);
}

/* A hint never takes more memory than there is. */
static void memory_bounds_a_span(void **state)
{
    (void)state;
    raster r = make_raster();
    tz_memory file = write_tiles(&r, true);
    bound_source *s = bound_source_new(file.data, file.size);
    s->base.merge_gap = s->base.merge_span = UINT64_MAX;
    const uint64_t ranges = count_ranges(&r, s, 1 << 20);
    assert_true(ranges > 1);
    assert_true(ranges <= TILES * GAP / ((1 << 20) / 8 - GAP));
    tz_memory_free(&file);
    raster_free(&r);
}

static void the_first_read_has_the_size_that_is_wanted(void **state)
{
    static const struct {
        uint64_t hint, first;
    } cases[] = {{0, 4096},    {1, TZ_READER_MIN_FRONT}, {17, 17},
                 {5000, 5000}, {65536, 65536},           {UINT64_MAX, 0 /* all */}};
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 512, 512, false);
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.codec.compression = TZ_COMPRESSION_NONE;
    tz_memory file = raster_write(&r, &options, NULL, NULL); /* directories at the end */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bound_source *s = bound_source_new(file.data, file.size);
        s->base.first_read_bytes = cases[i].hint;
        tz_file *opened = bound_open(s, true);
        const tz_info *info = tz_file_get_info(opened);
        assert_int_equal(s->largest, cases[i].first ? tz_max(cases[i].first, 4096) : file.size);
        if (cases[i].first == 0)
            assert_int_equal(info->reads, 1);
        else
            assert_true(info->reads > 1);
        assert_int_equal(info->width, 512);
        tz_close(opened);
    }
    tz_memory_free(&file);
    raster_free(&r);
}

/* Sources that are slow are told what comes next, each range once. */
static void coming_ranges_are_promised(void **state)
{
    (void)state;
    raster r = make_raster();
    tz_memory file = write_tiles(&r, false);
    bound_source *s = bound_source_new(file.data, file.size);
    bound_source_count_prefetches(s);
    s->base.merge_span = 1;
    s->slow = true;
    tz_file *opened = bound_open(s, false);
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    tz_error err;
    static uint8_t pixels[TILES * TILE_BYTES];
    const plain_item item = {.file = opened,
                             .into = {.data = pixels,
                                      .dtype = TZ_DTYPE_UINT8,
                                      .bands = 1,
                                      .height = ACROSS * SIDE,
                                      .width = ACROSS * SIDE}};
    how.threads = 1;
    assert_int_equal(plain_read(&item, &how, NULL, &err), TZ_OK);
    assert_int_equal(s->promised, TILES - 1);
    assert_true(s->prefetches < TILES);
    tz_close(opened);
    tz_memory_free(&file);
    raster_free(&r);
}

/* ---- the struct ---- */

static unsigned closes;

static void count_close(tz_source *source)
{
    (void)source;
    closes++;
}

static tz_result never(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)request, (void)err;
    abort();
}

static void wrong_structs_are_refused(void **state)
{
    static const size_t wrong[] = {0, sizeof(size_t), TZ_SOURCE_MIN_SIZE - 1, SIZE_MAX};
    tz_file *file = NULL;
    tz_error err;
    (void)state;
    closes = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tz_source source = TZ_SOURCE_INIT;
        source.submit = source.wait = never;
        source.close = count_close;
        source.struct_size = wrong[i];
        assert_int_equal(tz_open_source(&file, &source, "x", NULL, &err), TZ_ERR_ARG);
        assert_int_equal(err.found, wrong[i]);
    }
    assert_int_equal(closes, 0); /* nothing is known of them */
    for (int missing = 0; missing < 2; missing++) {
        tz_source source;
        memset(&source, 0xEE, sizeof source);
        tz_source_init(&source, sizeof source);
        source.submit = missing == 0 ? NULL : never;
        source.wait = missing == 1 ? NULL : never;
        source.close = count_close;
        assert_int_equal(tz_open_source(&file, &source, "x", NULL, &err), TZ_ERR_ARG);
    }
    assert_int_equal(closes, 2);
    assert_null(file);
}

/* An older source ends after close; what lies there is not a part of it. A newer one has more. */
static void older_and_newer_structs_are_used(void **state)
{
    (void)state;
    raster r = make_raster();
    tz_memory file = write_tiles(&r, false);
    tz_error err;
    tz_file *opened = NULL;
    bound_source *older = bound_source_new(file.data, file.size);
    memset((uint8_t *)&older->base + TZ_SOURCE_MIN_SIZE, 0xEE,
           sizeof older->base - TZ_SOURCE_MIN_SIZE);
    older->base.struct_size = TZ_SOURCE_MIN_SIZE;
    assert_int_equal(count_ranges(&r, older, 0), 1);
    for (int set = 0; set < 2; set++) {
        struct newer_source {
            tz_source known;
            uint64_t later;
        } newer = {.later = (uint64_t)set};
        tz_source_init(&newer.known,
                       sizeof newer.known); /* of 0 bytes: not a TIFF, and nothing to read */
        newer.known.struct_size = sizeof newer;
        newer.known.submit = newer.known.wait = never;
        const tz_result result = tz_open_source(&opened, &newer.known, "x", NULL, &err);
        assert_int_equal(result, set ? TZ_ERR_ARG : TZ_ERR_FORMAT);
    }
    tz_memory_free(&file);
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_merges_what_lies_apart),
        cmocka_unit_test(a_span_bounds_what_is_read_together),
        cmocka_unit_test(memory_bounds_a_span),
        cmocka_unit_test(the_first_read_has_the_size_that_is_wanted),
        cmocka_unit_test(coming_ranges_are_promised),
        cmocka_unit_test(wrong_structs_are_refused),
        cmocka_unit_test(older_and_newer_structs_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
