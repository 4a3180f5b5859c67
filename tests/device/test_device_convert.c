/* SPDX-License-Identifier: Apache-2.0
 * Rows of tiles to pixels on a device: every sample becomes what tz_row_prepare and
 * tz_row_convert make of it, whatever the formats, types, strides and values; so do the kernels as
 * plain C. One launch unpredicts and one converts, however many there are. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/device_state.h"
#include "device/kernel_list.h"
#include "device/ops/convert_kernels.h"
#include "support/check.h"
#include "support/device/convert_job.h"
#include "support/device/test_device.h"

static tz_device_memory *send(const uint8_t *bytes, uint64_t size)
{
    tz_error err;
    tz_device_memory *memory = NULL;
    assert_int_equal(tz_device_memory_alloc(&memory, test_device, size, &err), TZ_OK);
    assert_int_equal(tz_device_upload(0, memory, 0, bytes, size, &err), TZ_OK);
    return memory;
}

static void run_on_device(const convert_job *j, uint8_t *raster, uint8_t *mask)
{
    tz_error err;
    tz_device_memory *slab = send(j->slab, j->slab_size);
    tz_device_memory *into = send(raster, j->raster_size);
    tz_device_memory *flags = send(mask, j->mask_size);
    const tz_unpredict_batch undo = {
        .slab = slab, .entries = j->undo, .table = j->undo_at, .count = j->undo_count};
    const tz_convert_batch place = {.slab = slab,
                                    .formats = j->formats_at,
                                    .format_count = j->count,
                                    .format_table = j->formats,
                                    .entries = j->entries,
                                    .table = j->table_at,
                                    .count = j->count,
                                    .into = into,
                                    .mask = flags};
    assert_int_equal(tz_unpredict_launch(&undo, 0, &err), TZ_OK);
    assert_int_equal(tz_convert_launch(&place, 0, &err), TZ_OK);
    assert_int_equal(tz_device_download(0, raster, into, 0, j->raster_size, &err), TZ_OK);
    assert_int_equal(tz_device_download(0, mask, flags, 0, j->mask_size, &err), TZ_OK);
    assert_int_equal(tz_device_sync(test_device, 0, &err), TZ_OK);
    tz_device_memory_free(slab);
    tz_device_memory_free(into);
    tz_device_memory_free(flags);
}

static void run_in_c(const convert_job *j, uint8_t *raster, uint8_t *mask)
{
    uint8_t *slab = malloc(j->slab_size);
    memcpy(slab, j->slab, j->slab_size);
    for (uint64_t group = 0; group < j->undo_count; group++) {
        for (uint32_t item = 0; item < TZ_WORK_GROUP_ITEMS; item++)
            tz_unpredict_work_item(slab, j->undo_at, group, item);
    }
    for (uint64_t group = 0; group < j->count; group++) {
        for (uint32_t item = 0; item < TZ_WORK_GROUP_ITEMS; item++)
            tz_convert_work_item(slab, raster, mask, j->formats_at, j->table_at, group, item,
                                 TZ_WORK_GROUP_ITEMS);
    }
    free(slab);
}

static void run_both(convert_job *j)
{
    convert_job_compare(j, run_in_c);
    convert_job_compare(j, run_on_device);
    convert_job_free(j);
}

/* ---- tests ---- */

static void all_pairs_of_types(void **state)
{
    (void)state;
    for (unsigned round = 0; round < test_device_sample(6); round++) {
        convert_job j = convert_job_new(PLACE_TYPES * PLACE_TYPES);
        for (uint32_t i = 0; i < j.count; i++) {
            convert_region *p = &j.pieces[i];
            p->row = convert_whole_row((tz_dtype)(1 + i % PLACE_TYPES));
            p->how.from = p->row.dtype;
            p->how.to = (tz_dtype)(1 + i / PLACE_TYPES);
            p->rows = 1 + convert_below(9);
        }
        convert_job_finish(&j, true);
        run_both(&j);
    }
}

static void any_rows_to_any_type(void **state)
{
    (void)state;
    for (unsigned round = 0; round < test_device_sample(30); round++) {
        convert_job j = convert_job_new(1 + convert_below(67));
        for (uint32_t i = 0; i < j.count; i++) {
            convert_region *p = &j.pieces[i];
            p->row = convert_any_row();
            p->how.from = p->row.dtype;
            p->how.to =
                convert_below(2) ? p->row.dtype : (tz_dtype)(1 + convert_below(PLACE_TYPES));
            p->rows = 1 + convert_below(i == 0 ? 150 : 20);
        }
        convert_job_finish(&j, true);
        run_both(&j);
    }
}

/* Bytes of pixels of any width, in every alignment. */
static void copies(void **state)
{
    (void)state;
    for (unsigned round = 0; round < test_device_sample(20); round++) {
        convert_job j = convert_job_new(1 + convert_below(67));
        for (uint32_t i = 0; i < j.count; i++) {
            convert_region *p = &j.pieces[i];
            p->is_copy = true;
            p->row = convert_row_of(1, (uint16_t)(8u << convert_below(4)), 1);
            p->row.swap = false;
            p->how.from = p->how.to = p->row.dtype;
            p->rows = 1 + convert_below(67);
            p->flags = convert_below(2) ? TZ_CONVERT_INTO : 1 + convert_below(3);
        }
        convert_job_finish(&j, false);
        run_both(&j);
    }
}

static void launches_do_not_grow(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 7, 64, 1000};
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        tz_device_counts wave;
        convert_job j = convert_job_new(counts[n]);
        for (uint32_t i = 0; i < j.count; i++) {
            convert_region *p = &j.pieces[i];
            p->row = convert_row_of(1, 16, 2);
            p->how.from = p->how.to = p->row.dtype;
            p->rows = 1 + convert_below(3);
            p->flags = TZ_CONVERT_INTO;
        }
        convert_job_finish(&j, false);
        if (j.slab_size == 0)
            j.slab_size = 1;
        tz_device_begin_wave(test_device);
        convert_job_compare(&j, run_on_device);
        tz_device_get_counts(test_device, NULL, &wave);
        assert_int_equal(wave.launches, counts[n] ? 2 : 0);
        assert_int_equal(wave.uploads, 3);
        assert_int_equal(wave.downloads, 2);
        assert_int_equal(wave.syncs, 1);
        convert_job_free(&j);
    }
}

static void without_doubles(void **state)
{
    (void)state;
    const tz_row_format bytes = convert_row_of(1, 8, 1), reals = convert_row_of(3, 32, 3);
    tz_conversion how = {.from = TZ_DTYPE_UINT8, .to = TZ_DTYPE_INT16};
    tz_device device = {.info.fp64 = true};
    tz_convert_format format = tz_convert_format_make(&bytes, &how);
    assert_true(tz_device_converts(&device, &format));
    device.info.fp64 = false;
    assert_true(tz_device_converts(&device, &format));
    how.nodata = (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value.i = 3};
    format = tz_convert_format_make(&bytes, &how);
    assert_true(tz_device_converts(&device, &format));
    how.nodata.kind = TZ_NODATA_KIND_FLOAT;
    format = tz_convert_format_make(&bytes, &how);
    assert_false(tz_device_converts(&device, &format));
    how = (tz_conversion){.from = TZ_DTYPE_UINT8, .to = TZ_DTYPE_FLOAT32};
    format = tz_convert_format_make(&bytes, &how);
    assert_false(tz_device_converts(&device, &format));
    how.from = TZ_DTYPE_FLOAT32;
    format = tz_convert_format_make(&reals, &how);
    assert_true(tz_device_converts(&device, &format));
    how.scaled = true;
    format = tz_convert_format_make(&reals, &how);
    assert_false(tz_device_converts(&device, &format));
    format = tz_convert_format_copy(12);
    assert_true(tz_device_converts(&device, &format));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_of_types),
        cmocka_unit_test(any_rows_to_any_type),
        cmocka_unit_test(copies),
        cmocka_unit_test(launches_do_not_grow),
        cmocka_unit_test(without_doubles),
    };
    return cmocka_run_group_tests(tests, test_device_begin, test_device_end);
}
