/* SPDX-License-Identifier: Apache-2.0
 * Tiles that a device extracts: as many calls for many as for one, and nothing is launched that
 * would touch memory that is not the batch's. */
#include <stdlib.h>
#include <string.h>

#include "device/device_state.h"
#include "support/check.h"
#include "support/device/extract_case.h"
#include "support/device/test_device.h"

/* ---- calls ---- */

/* One row of tiles of 1 by 1 pixel. */
static void simple_case(extract_case *c, uint32_t count)
{
    *c = (extract_case){.width = count, .height = 1, .bands = 1, .planes = 1};
    tz_extract_batch *b = &c->batch;
    b->row = (tz_row_format){.dtype = TZ_DTYPE_UINT16,
                             .bits = 16,
                             .sample_format = 1,
                             .samples = 1,
                             .predictor = 2,
                             .width = 1};
    b->height = 1;
    b->wants_empty = b->wants_stats = true;
    extract_case_strides(c);
    extract_case_lay_out(c);
}

static void test_calls_do_not_depend_on_tiles(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 7, 64, 1000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        extract_case c;
        tz_device_counts wave;
        simple_case(&c, counts[i]);
        tz_device_begin_wave(test_device);
        extract_case_compare(&c);
        tz_device_get_counts(test_device, NULL, &wave);
        assert_int_equal(wave.launches, counts[i] == 0 ? 0 : 4);
        assert_int_equal(wave.syncs, 1);
        assert_int_equal(wave.downloads, 2);
    }
}

/* ---- what a kernel would have to trust ---- */

static extract_case hostile;

static void refuse(const char *text, int64_t tile)
{
    tz_error err;
    tz_device_counts before, after;
    tz_device_get_counts(test_device, &before, NULL);
    assert_int_equal(tz_extract_launch(&hostile.batch, 0, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, text));
    assert_int_equal(err.tile, tile);
    tz_device_get_counts(test_device, &after, NULL);
    assert_int_equal(after.launches, before.launches);
}

/* Refused with the member changed, and as it was before accepted. */
#define REFUSE(member, value, text, tile)                                                          \
    do {                                                                                           \
        const extract_case good = hostile;                                                         \
        const tz_extract_tile good_tile = hostile.tiles[2];                                        \
        hostile.member = (value);                                                                  \
        refuse(text, tile);                                                                        \
        hostile = good;                                                                            \
        hostile.tiles[2] = good_tile;                                                              \
    } while (0)

static void refuse_tiles(void)
{
    extract_case *c = &hostile;
    REFUSE(tiles[2].width, 0, "part of the image", 2);
    REFUSE(tiles[2].width, 17, "part of the image", 2);
    REFUSE(tiles[2].height, 0, "part of the image", 2);
    REFUSE(tiles[2].height, 17, "part of the image", 2);
    REFUSE(tiles[2].from, -1, "within the rows", 2);
    REFUSE(tiles[2].from, INT64_MIN, "within the rows", 2);
    REFUSE(tiles[2].from, INT64_MAX, "within the rows", 2);
    REFUSE(tiles[2].from, (int64_t)c->rows_size, "within the rows", 2);
    REFUSE(tiles[2].valid, -1, "within the mask", 2);
    REFUSE(tiles[2].valid, INT64_MAX, "within the mask", 2);
    REFUSE(tiles[2].to, c->slab_size - 16 * 32 + 1, "within the slab", 2);
    REFUSE(tiles[2].to, UINT64_MAX, "within the slab", 2);
    REFUSE(tiles[2].plane, 1, "discard_bits", 2);
    REFUSE(tiles[2].plane, UINT32_MAX, "discard_bits", 2);
}

static void refuse_batches(void)
{
    REFUSE(batch.row_stride, INT64_MIN, "within the rows", 0);
    REFUSE(batch.row_stride, INT64_MAX, "within the rows", 0);
    REFUSE(batch.column_stride, INT64_MIN, "within the rows", 0);
    REFUSE(batch.mask_row_stride, INT64_MAX, "within the mask", 0);
    REFUSE(batch.row.width, 0, "shape", -1);
    REFUSE(batch.row.samples, 0, "shape", -1);
    REFUSE(batch.row.predictor, 4, "shape", -1);
    REFUSE(batch.row.width, UINT32_MAX, "too long", -1);
    REFUSE(batch.row.dtype, TZ_DTYPE_NONE, "does not extract", -1);
    REFUSE(batch.height, 0, "shape", -1);
    REFUSE(batch.is_mask, true, "does not extract", -1);
    REFUSE(batch.nan_to_nodata, true, "does not extract", -1);
    REFUSE(batch.table, 4, "table", -1);
    REFUSE(batch.table, UINT64_MAX - 7, "table", -1);
    REFUSE(batch.results, hostile.slab_size, "results", -1);
    REFUSE(batch.stats, hostile.slab_size, "statistics", -1);
    REFUSE(batch.discard, hostile.slab_size, "discard_bits", -1);
    REFUSE(batch.count, UINT64_MAX / 2, "table", -1);
    hostile.batch.row.bits = 7; /* now in scratch memory */
    hostile.batch.row.predictor = 1;
    REFUSE(batch.scratch, hostile.slab_size, "scratch", -1);
}

static void test_wrong_places(void **state)
{
    (void)state;
    tz_error err;
    extract_case *c = &hostile;
    simple_case(c, 48);
    free(c->tiles);
    c->batch.row.width = c->batch.height = 16;
    c->batch.row.dtype = TZ_DTYPE_UINT16;
    c->batch.discard_bits = c->bits;
    c->height = 16;
    extract_case_strides(c);
    extract_case_lay_out(c);
    tz_extract_batch *b = &c->batch;
    assert_int_equal(tz_device_memory_alloc(&b->rows, test_device, c->rows_size, &err), TZ_OK);
    assert_int_equal(tz_device_memory_alloc(&b->mask, test_device, c->mask_size, &err), TZ_OK);
    assert_int_equal(tz_device_memory_alloc(&b->slab, test_device, c->slab_size, &err), TZ_OK);
    refuse_tiles();
    refuse_batches();
    tz_device_memory_free(b->rows);
    tz_device_memory_free(b->mask);
    tz_device_memory_free(b->slab);
    free(c->tiles);
}

static void test_what_devices_lack(void **state)
{
    (void)state;
    extract_case c;
    tz_device *cpu = NULL;
    tz_error err;
    simple_case(&c, 1);
    assert_true(tz_device_extracts(test_device, &c.batch));
    test_device->info.fp64 = false;
    assert_false(tz_device_extracts(test_device, &c.batch));
    c.batch.wants_stats = false;
    assert_true(tz_device_extracts(test_device, &c.batch));
    test_device->info.fp64 = true;
    assert_int_equal(tz_device_open(&cpu, "cpu", NULL, &err), TZ_OK);
    assert_false(tz_device_extracts(cpu, &c.batch));
    tz_device_close(cpu);
    free(c.tiles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_do_not_depend_on_tiles),
        cmocka_unit_test(test_wrong_places),
        cmocka_unit_test(test_what_devices_lack),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
