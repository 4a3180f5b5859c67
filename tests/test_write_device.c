/* SPDX-License-Identifier: Apache-2.0
 * Files written by a device are, byte for byte, those that the cores write: whatever the layout of
 * the file, wherever the rows are, however many come at a time, and however little memory there is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "double/pocl.h"
#include "support/device_rows.h"
#include "support/raster_ways.h"

/* ---- one raster, all ways ---- */

/* What of the file the device must have made: all of it, but for masks. */
static void check_use(const tz_write_report *report)
{
    const tz_device_use *use = &report->device;
    if (use->id[0] == '\0')
        fail_msg("the cores wrote it: %s", use->reason);
    assert_string_equal(use->reason, "");
    assert_int_equal(use->tiles + use->tiles_by_cores + use->tiles_redone, report->tiles);
    assert_true(use->waves > 0);
    assert_int_equal(use->peak, use->memory);
}

static tz_memory write_on_device(const raster *r, tz_write_options options, const raster_way *way,
                                 const tz_buffer *rows)
{
    tz_write_report report;
    options.device = pocl_device;
    tz_memory out = rows ? device_rows_write(r, &options, way, rows, &report)
                         : raster_write(r, &options, way, &report);
    check_use(&report);
    return out;
}

/* Rows of the host and of the device; in layouts of all kinds. */
static void compare_ways(const raster *r, tz_write_options options)
{
    void *interleaved = NULL, *scattered = NULL;
    const tz_buffer layouts[] = {r->pixels, raster_interleaved(r, &interleaved),
                                 raster_scattered(r, &scattered)};
    static const uint32_t batches[] = {1, 7, 64, 100, 0};
    static const uint64_t memory[] = {0, 1, 1 << 20};
    tz_memory cores = raster_write(r, &options, NULL, NULL);
    for (size_t i = 0; i < 5; i++) {
        const tz_buffer *layout = &layouts[i % 3];
        options.buffer_bytes = memory[i % 3];
        options.threads = (uint32_t)(i % 3);
        const raster_way way = {.batch = batches[i], .pixels = *layout};
        tz_memory other = write_on_device(r, options, &way, NULL);
        raster_check_same(&cores, &other, "rows of the host");
        other = write_on_device(r, options, &way, layout);
        raster_check_same(&cores, &other, "rows of the device");
    }
    const raster_way pulls[] = {{.pull = true, .chunk_rows = 24}, {.pull = true, .columns = true}};
    for (size_t i = 0; i < 2; i++) {
        options.buffer_bytes = memory[i];
        tz_memory other = write_on_device(r, options, &pulls[i], NULL);
        raster_check_same(&cores, &other, "rows that are asked for");
    }
    tz_memory_free(&cores);
    free(interleaved);
    free(scattered);
}

static void plain_files(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT16, 3, 147, 205, false);
    compare_ways(&r, raster_small_tiles(TZ_COMPRESSION_NONE));
    raster_free(&r);
}

static void bands_apart(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_INT16, 3, 147, 205, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    options.interleave = TZ_INTERLEAVE_BAND;
    compare_ways(&r, options);
    options.interleave = TZ_INTERLEAVE_TILE;
    compare_ways(&r, options);
    raster_free(&r);
}

static void masks_and_statistics(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_FLOAT32, 2, 147, 205, true);
    tz_write_options options = raster_small_tiles(TZ_COMPRESSION_NONE);
    options.statistics_items = true;
    options.verify = TZ_VERIFY_ALL;
    compare_ways(&r, options);
    raster_free(&r);
}

static void strips(void **state)
{
    (void)state;
    raster r = raster_make(TZ_DTYPE_UINT8, 1, 147, 205, true);
    tz_write_options options = TZ_WRITE_OPTIONS_INIT;
    options.compression = TZ_COMPRESSION_NONE;
    options.strips = true;
    options.tile_height = 13;
    compare_ways(&r, options);
    raster_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_files),
        cmocka_unit_test(bands_apart),
        cmocka_unit_test(masks_and_statistics),
        cmocka_unit_test(strips),
    };
    return cmocka_run_group_tests(tests, pocl_begin, pocl_end);
}
