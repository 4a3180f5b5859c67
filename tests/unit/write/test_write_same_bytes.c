/* SPDX-License-Identifier: Apache-2.0
 * The bytes of a file depend on its pixels and options alone: not on threads, on how many rows came
 * at a time, how they lay in memory, how much memory there was, or where the file went. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/raster_variants.h"

static void bytes_do_not_depend_on_the_way(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 3, 147, 205, false);
    raster_check_variants(&r, raster_small_tiles(TZ_COMPRESSION_NONE), NAN);
    if (raster_can_write(TZ_COMPRESSION_DEFLATE))
        raster_check_variants(&r, raster_small_tiles(TZ_COMPRESSION_DEFLATE), NAN);
    raster_free(&r);
}

static void nor_with_bands_apart(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_INT16, 3, 147, 205, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_LZW);
    options.interleave = TZ_INTERLEAVE_BAND;
    raster_check_variants(&r, options, NAN);
    options.interleave = TZ_INTERLEAVE_TILE;
    raster_check_variants(&r, options, NAN);
    raster_free(&r);
}

static void nor_with_a_mask_and_statistics(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 2, 147, 205, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_LZW);
    options.statistics_items = true;
    raster_check_variants(&r, options, NAN);
    raster_free(&r);
}

static void nor_with_strips(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 147, 205, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_LZW);
    options.interleave = TZ_INTERLEAVE_BAND; /* of one band: nothing to keep apart */
    raster_check_variants(&r, options, NAN);
    options = (tz_write_options)TZ_WRITE_OPTIONS_INIT;
    options.strips = true;
    options.tile_height = 13;
    options.codec.compression = TZ_COMPRESSION_PACKBITS;
    raster_check_variants(&r, options, NAN);
    raster_free(&r);
}

static void punch_holes(raster *r)
{
    float *pixels = r->pixels.data;
    for (uint32_t i = 0; i < r->spec.width * r->spec.height * r->spec.bands; i += 37)
        pixels[i] = NAN;
}

static void nor_with_holes_and_nodata(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 2, 147, 205, false);
    punch_holes(&r);
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = -9999}};
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_LZW);
    raster_check_variants(&r, options, NAN);
    options.nan_to_nodata = true;
    raster_check_variants(&r, options, -9999);
    raster_free(&r);
}

/* ---- NaN ---- */

static void nan_stays_where_it_should(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 1, 40, 50, false);
    punch_holes(&r);
    const size_t size = (size_t)40 * 50 * sizeof(float);
    void *before = malloc(size);
    memcpy(before, r.pixels.data, size);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);

    tz_memory plain = raster_write(&r, &options, NULL, NULL); /* no nodata */
    raster_check(&r, &plain, NAN);
    tz_memory_free(&plain);

    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = NAN}};
    plain = raster_write(&r, &options, NULL, NULL);
    raster_check(&r, &plain, NAN);
    tz_memory_free(&plain);

    r.spec.nodata.value.f = -1;
    plain = raster_write(&r, &options, NULL, NULL);
    raster_check(&r, &plain, NAN);
    tz_memory_free(&plain);

    options.nan_to_nodata = true;
    plain = raster_write(&r, &options, NULL, NULL);
    raster_check(&r, &plain, -1);
    tz_memory_free(&plain);
    assert_memory_equal(before, r.pixels.data, size); /* the caller's pixels stay */
    free(before);
    raster_free(&r);
}

/* ---- sinks ---- */

typedef struct callback_sink {
    tz_sink base;
    uint8_t bytes[1 << 20];
    uint64_t end;
    uint64_t last;
    unsigned headers, syncs, commits, closes;
} callback_sink;

static tz_result sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                            tz_error *err)
{
    callback_sink *s = (callback_sink *)sink;
    (void)err;
    assert_int_equal(s->headers, 0); /* nothing comes after the header */
    if (offset == 0)
        s->headers++;
    else
        assert_true(offset >= s->last);
    for (size_t i = 0; i < count; i++) {
        memcpy(s->bytes + offset, pieces[i].data, pieces[i].size);
        offset += pieces[i].size;
    }
    s->last = offset;
    s->end = offset > s->end ? offset : s->end;
    return TZ_OK;
}

static tz_result sink_sync(tz_sink *sink, uint64_t size, tz_error *err)
{
    callback_sink *s = (callback_sink *)sink;
    (void)err;
    s->syncs++;
    assert_int_equal(size, s->end);
    return TZ_OK;
}

static tz_result sink_commit(tz_sink *sink, tz_error *err)
{
    callback_sink *s = (callback_sink *)sink;
    (void)err;
    s->commits++;
    assert_int_equal(s->syncs, 1);
    return TZ_OK;
}

static void sink_close(tz_sink *sink)
{
    ((callback_sink *)sink)->closes++;
}

static void a_sink_of_ones_own_gets_the_same(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 147, 205, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_LZW);
    options.alignment = 4096;
    tz_memory first = raster_write(&r, &options, NULL, NULL);
    callback_sink *sink = calloc(1, sizeof *sink);
    sink->base = (tz_sink){.struct_size = sizeof sink->base,
                           .write = sink_write,
                           .sync = sink_sync,
                           .commit = sink_commit,
                           .close = sink_close};
    tz_writer *writer = NULL;
    tz_error err = {0};
    const raster_variant way = {.batch = 11};
    assert_int_equal(tz_create_sink(&writer, &sink->base, "mine", &r.spec, &options, &err), TZ_OK);
    assert_int_equal(raster_give(writer, &r, &way, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, NULL, &err), TZ_ERR_ARG); /* not twice */
    tz_writer_close(writer);
    assert_int_equal(sink->commits, 1);
    assert_int_equal(sink->closes, 1);
    assert_int_equal(sink->end, first.size);
    assert_memory_equal(sink->bytes, first.data, first.size);
    tz_memory_free(&first);
    free(sink);
    raster_free(&r);
}

static void tiles_are_aligned_when_asked(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 2, 100, 100, false);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    options.alignment = 4096;
    tz_memory memory = raster_write(&r, &options, NULL, NULL);
    tz_file *file = NULL;
    tz_tile_span spans[16];
    assert_int_equal(tz_open_memory(&file, memory.data, memory.size, NULL, NULL), TZ_OK);
    assert_int_equal(tz_file_get_tile_spans(spans, file, 0, false, 0, 16, NULL), TZ_OK);
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(spans[i].offset % 4096, 0);
    tz_close(file);
    tz_memory_free(&memory);
    raster_free(&r);
}

static void empty_tiles_are_left_out_when_asked(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 1, 128, 96, false);
    uint16_t *pixels = r.pixels.data;
    for (uint32_t i = 0; i < 128 * 96; i++)
        if (i / 128 >= 32)
            pixels[i] = 7;
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_UINT, {.u = 7}};
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_LZW);
    SCOPED_WRITE_REPORT report = NULL;
    tz_memory dense = raster_write(&r, &options, NULL, &report);
    assert_int_equal(report->tiles_sparse, 0);
    options.sparse = true;
    tz_memory sparse = raster_write(&r, &options, NULL, &report);
    assert_int_equal(report->tiles, 12);
    assert_int_equal(report->tiles_sparse, 8);
    assert_true(sparse.size < dense.size);
    raster_check(&r, &sparse, NAN);
    tz_memory_free(&sparse);
    tz_memory_free(&dense);
    raster_free(&r);
}

static void low_bits_are_discarded_of_all_bands(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 3, 70, 50, false);
    static const uint8_t one[] = {3}, each[] = {3, 3, 3}, first[] = {3, 0, 0};
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_LZW);
    for (int apart = 0; apart < 2; apart++) {
        options.interleave = apart ? TZ_INTERLEAVE_BAND : TZ_INTERLEAVE_PIXEL;
        options.discard_bits = one;
        options.discard_count = 1;
        tz_memory all = raster_write(&r, &options, NULL, NULL);
        options.discard_bits = each;
        options.discard_count = 3;
        tz_memory by_band = raster_write(&r, &options, NULL, NULL);
        raster_check_same(&all, &by_band, "one number for all bands");
        options.discard_bits = first;
        tz_memory some = raster_write(&r, &options, NULL, NULL);
        assert_true(some.size > all.size); /* less is left to compress */
        tz_memory_free(&some);
        tz_memory_free(&all);
    }
    raster_free(&r);
}

/* ---- statistics ---- */

static void statistics_are_those_of_the_pixels(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_INT16, 2, 100, 90, true);
    SCOPED_WRITE_REPORT report = NULL;
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_LZW);
    options.statistics = true;
    options.threads = 3;
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_INT, {.i = 4}};
    tz_memory memory = raster_write(&r, &options, NULL, &report);
    assert_null(tz_write_report_get_statistics(report, 2));
    for (uint32_t band = 0; band < 2; band++) {
        const tz_statistics *given = tz_write_report_get_statistics(report, band);
        const int16_t *pixels = (const int16_t *)r.pixels.data + band * 9000;
        const uint8_t *mask = r.mask.data;
        double sum = 0, squares = 0, least = 1e9, most = -1e9;
        uint64_t count = 0;
        for (uint32_t i = 0; i < 9000; i++) {
            if (mask[i] == 0 || pixels[i] == 4)
                continue;
            count++;
            sum += pixels[i];
            least = pixels[i] < least ? pixels[i] : least;
            most = pixels[i] > most ? pixels[i] : most;
        }
        for (uint32_t i = 0; i < 9000; i++)
            if (mask[i] != 0 && pixels[i] != 4)
                squares += (pixels[i] - sum / (double)count) * (pixels[i] - sum / (double)count);
        assert_int_equal(given->valid_count, count);
        assert_true(given->minimum == least && given->maximum == most);
        assert_true(fabs(given->mean - sum / (double)count) < 1e-9);
        assert_true(fabs(given->stddev - sqrt(squares / (double)count)) < 1e-9);
    }
    tz_memory_free(&memory);
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_do_not_depend_on_the_way),
        cmocka_unit_test(nor_with_bands_apart),
        cmocka_unit_test(nor_with_a_mask_and_statistics),
        cmocka_unit_test(nor_with_strips),
        cmocka_unit_test(nor_with_holes_and_nodata),
        cmocka_unit_test(nan_stays_where_it_should),
        cmocka_unit_test(a_sink_of_ones_own_gets_the_same),
        cmocka_unit_test(tiles_are_aligned_when_asked),
        cmocka_unit_test(empty_tiles_are_left_out_when_asked),
        cmocka_unit_test(low_bits_are_discarded_of_all_bands),
        cmocka_unit_test(statistics_are_those_of_the_pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
