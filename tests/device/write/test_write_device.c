/* SPDX-License-Identifier: Apache-2.0
 * Files written by a device are, byte for byte, those that the CPU writes: whatever the layout of
 * the file, wherever the rows are, however many come at a time, and however little memory there is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/device/device_rows.h"
#include "support/device/test_device.h"
#include "support/raster_variants.h"

/* ---- one raster, all ways ---- */

/* The device must have made all of the file, except for masks. */
static void check_use(const tz_write_report *report)
{
    const tz_device_use *use = report->device;
    if (use->id[0] == '\0')
        fail_msg("the CPU wrote it: %s", use->reason);
    assert_string_equal(use->reason, "");
    assert_int_equal(use->tiles + use->tiles_on_cpu + use->tiles_redone, report->tiles);
    assert_true(use->waves > 0);
    assert_int_equal(use->peak, use->memory);
}

static tz_memory write_on_device(const raster *r, tz_write_options options,
                                 const raster_variant *way, const tz_buffer *rows)
{
    SCOPED_WRITE_REPORT report = NULL;
    options.device = test_device;
    tz_memory out = rows ? device_rows_write(r, &options, way, rows, &report)
                         : raster_write(r, &options, way, &report);
    check_use(report);
    return out;
}

/* Rows of the host and of the device, in layouts of all kinds; or one way of each. */
static void compare_ways(const raster *r, tz_write_options options, bool all)
{
    void *interleaved = NULL, *scattered = NULL;
    const tz_buffer layouts[] = {r->pixels, raster_interleaved(r, &interleaved),
                                 raster_scattered(r, &scattered)};
    static const uint32_t batches[] = {1, 7, 64, 100, 0};
    static const uint64_t memory[] = {0, 1, 1 << 20};
    tz_memory cpu = raster_write(r, &options, NULL, NULL);
    for (size_t i = all ? 0 : 3; i < (all ? 5 : 4); i++) {
        const tz_buffer *layout = &layouts[i % 3];
        options.max_host_bytes = memory[i % 3];
        options.threads = (uint32_t)(i % 3);
        const raster_variant way = {.batch = batches[i], .pixels = *layout};
        tz_memory other = write_on_device(r, options, &way, NULL);
        raster_check_same(&cpu, &other, "rows of the host");
        other = write_on_device(r, options, &way, layout);
        raster_check_same(&cpu, &other, "rows of the device");
    }
    const raster_variant pulls[] = {{.pull = true, .chunk_rows = 24},
                                    {.pull = true, .columns = true}};
    for (size_t i = all ? 0 : 1; i < 2; i++) {
        options.max_host_bytes = memory[i];
        tz_memory other = write_on_device(r, options, &pulls[i], NULL);
        raster_check_same(&cpu, &other, "rows that are asked for");
    }
    tz_memory_free(&cpu);
    free(interleaved);
    free(scattered);
}

/* Uncompressed, and in the class of Deflate that devices have; in turn, where that is slow. */
static void compare_both(const raster *r, tz_write_options options, bool all)
{
    static unsigned turn;
    const bool is_slow = test_device_is_slow();
    turn++;
    options.codec.compression = TZ_COMPRESSION_NONE;
    if (!is_slow || turn % 2)
        compare_ways(r, options, all && !is_slow);
    if (!raster_can_write(TZ_COMPRESSION_DEFLATE) || (is_slow && turn % 2))
        return;
    options.codec.compression = TZ_COMPRESSION_DEFLATE;
    options.codec.effort = TZ_EFFORT_FAST;
    compare_ways(r, options, all && !is_slow);
}

static void compare(const raster *r, tz_write_options options)
{
    compare_both(r, options, false);
}

static void plain_files(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 3, 147, 205, false);
    compare_both(&r, raster_small_tiles(TZ_COMPRESSION_NONE), true);
    raster_free(&r);
}

static void bands_apart(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_INT16, 3, 147, 205, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    options.interleave = TZ_INTERLEAVE_BAND;
    compare(&r, options);
    options.interleave = TZ_INTERLEAVE_TILE;
    compare(&r, options);
    raster_free(&r);
}

static void masks_and_statistics(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 2, 147, 205, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    options.statistics_items = true;
    options.verify = TZ_VERIFY_ALL;
    compare_both(&r, options, true);
    raster_free(&r);
}

static void strips(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 147, 205, true);
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.strips = true;
    options.tile_height = 13;
    compare(&r, options);
    options.codec.compression = TZ_COMPRESSION_PACKBITS;
    compare_ways(&r, options, false);
    raster_free(&r);
}

/* ---- what is done to pixels ---- */

static void punch_holes(raster *r)
{
    float *pixels = r->pixels.data;
    for (uint32_t i = 0; i < r->spec.width * r->spec.height * r->spec.bands; i += 37)
        pixels[i] = NAN;
}

static void holes_and_nodata(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 2, 147, 205, false);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    punch_holes(&r);
    compare(&r, options);
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = NAN}};
    compare(&r, options);
    r.spec.nodata.value.f = -9999;
    options.big_endian = true;
    compare(&r, options);
    options.nan_to_nodata = true;
    options.statistics_items = true;
    compare(&r, options);
    raster_free(&r);
}

static void odd_widths(void **state)
{
    (void)state;
    static const uint16_t bits[] = {1, 5, 7, 12, 13};
    for (size_t i = 0; i < 5; i++) {
        raster r = raster_make(bits[i] > 8 ? TZ_DTYPE_UINT16 : TZ_DTYPE_UINT8, 2, 61, 77, false);
        uint8_t *pixels = r.pixels.data;
        for (size_t k = 0; bits[i] < 7 && k < 61 * 77 * 2; k++)
            pixels[k] &= (uint8_t)((1u << bits[i]) - 1);
        r.spec.bits_per_sample = bits[i];
        tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
        options.big_endian = i % 2 == 0;
        compare(&r, options);
        raster_free(&r);
    }
}

static void predictors(void **state)
{
    (void)state;
    static const tz_dtype types[] = {TZ_DTYPE_UINT8, TZ_DTYPE_INT32, TZ_DTYPE_UINT64,
                                     TZ_DTYPE_FLOAT64};
    if (!raster_can_write(TZ_COMPRESSION_DEFLATE))
        return;
    for (size_t i = 0; i < 4; i++) {
        raster r = raster_make(types[i], 3, 70, 90, false);
        tz_write_options options = raster_small_tiles(TZ_COMPRESSION_DEFLATE);
        options.codec.effort = TZ_EFFORT_FAST;
        for (uint16_t predictor = 1; predictor <= (i == 3 ? 3 : 2); predictor++) {
            options.codec.predictor = predictor;
            options.big_endian = predictor != 2;
            compare_ways(&r, options, false);
        }
        raster_free(&r);
    }
}

static void tiles_of_nothing_are_left_out(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 1, 147, 205, true);
    uint16_t *pixels = r.pixels.data;
    uint8_t *mask = r.mask.data;
    for (uint32_t i = 147 * 32; i < 147 * 205; i++) {
        pixels[i] = i / 147 < 150 ? 7 : pixels[i];
        mask[i] = 0;
    }
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    options.sparse = true;
    compare(&r, options);
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_UINT, {.u = 7}};
    compare(&r, options);
    memset(pixels, 0, 147 * 205 * 2);
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_NONE, {0}};
    compare(&r, options);
    raster_free(&r);
}

static void low_bits_are_discarded(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 3, 70, 90, false);
    static const uint8_t bits[] = {3, 0, 5};
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    options.discard_bits = bits;
    options.discard_count = 3;
    compare(&r, options);
    options.interleave = TZ_INTERLEAVE_BAND;
    options.statistics_items = true;
    compare(&r, options);
    raster_free(&r);
}

/* ---- overviews ---- */

static tz_write_options cog_of(tz_resampling method)
{
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    options.cog = true;
    options.overview_resampling = method;
    return options;
}

static void overviews(void **state)
{
    (void)state;
    static const tz_resampling methods[] = {TZ_RESAMPLING_NONE, TZ_RESAMPLING_NEAREST,
                                            TZ_RESAMPLING_BILINEAR, TZ_RESAMPLING_CUBIC,
                                            TZ_RESAMPLING_MODE};
    raster r = raster_make(TZ_DTYPE_UINT16, 2, 203, 265, true);
    for (size_t i = 0; i < 5; i++)
        compare_both(&r, cog_of(methods[i]), i == 0);
    raster_free(&r);
}

static void overviews_of_numbers(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 1, 203, 265, false);
    tz_write_options options = cog_of(TZ_RESAMPLING_AVERAGE);
    punch_holes(&r);
    r.spec.nodata = (tz_nodata){TZ_NODATA_KIND_FLOAT, {.f = -9999}};
    options.statistics_items = true;
    options.verify = TZ_VERIFY_ALL;
    options.sparse = true;
    compare(&r, options);
    raster_free(&r);
}

static void overviews_of_bands_apart(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_INT16, 3, 203, 265, true);
    tz_write_options options = cog_of(TZ_RESAMPLING_LANCZOS);
    options.interleave = TZ_INTERLEAVE_BAND;
    compare(&r, options);
    raster_free(&r);
}

/* One codec for the image, and another one for what is made of it. */
static void overviews_of_another_codec(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 3, 203, 265, false);
    tz_write_options options = cog_of(TZ_RESAMPLING_AVERAGE);
    options.overview_codec.compression = TZ_COMPRESSION_PACKBITS;
    compare_ways(&r, options, false);
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_files),
        cmocka_unit_test(bands_apart),
        cmocka_unit_test(masks_and_statistics),
        cmocka_unit_test(strips),
        cmocka_unit_test(holes_and_nodata),
        cmocka_unit_test(odd_widths),
        cmocka_unit_test(predictors),
        cmocka_unit_test(tiles_of_nothing_are_left_out),
        cmocka_unit_test(low_bits_are_discarded),
        cmocka_unit_test(overviews),
        cmocka_unit_test(overviews_of_numbers),
        cmocka_unit_test(overviews_of_bands_apart),
        cmocka_unit_test(overviews_of_another_codec),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
