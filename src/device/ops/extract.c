/* SPDX-License-Identifier: Apache-2.0
 * Tiles made of rows by three launches, or four with statistics: cut and treated, inspected,
 * stored. */
#include "device/ops/extract.h"

#include <math.h>
#include <string.h>

#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/extract_check.h"
#include "device/ops/extract_internal.h"
#include "device/ops/extract_kernels.h"
#include "pixel/row_ops.h"

_Static_assert(sizeof(tz_extract_tile) == TZ_EXTRACT_TILE_BYTES &&
                   offsetof(tz_extract_tile, checked) == 36,
               "kernels read the entries as they are");
_Static_assert(sizeof(tz_extract_result) == TZ_EXTRACT_RESULT_BYTES, "and write these as they are");
_Static_assert((unsigned)TZ_DTYPE_UINT8 == TZ_COMPONENT_U8 &&
                   (unsigned)TZ_DTYPE_FLOAT64 == TZ_COMPONENT_F64,
               "types have the numbers that kernels know");

/* ---- shapes ---- */

static bool has_whole_samples(const tz_row_format *row)
{
    return row->bits == 8 * tz_dtype_size(row->dtype);
}

/* Rows that cannot be stored where they are. */
static bool needs_scratch(const tz_row_format *row)
{
    return row->predictor == 3 || !has_whole_samples(row);
}

static uint64_t plain_row_bytes(const tz_row_format *row)
{
    return (uint64_t)row->width * row->samples * tz_dtype_size(row->dtype);
}

static uint32_t word_bytes(const tz_row_format *row)
{
    const size_t size = tz_dtype_size(row->dtype);
    return size < 8 ? (uint32_t)size : 8u;
}

/* Words of a sample. */
static uint32_t words_per_sample(const tz_row_format *row)
{
    return (uint32_t)tz_dtype_size(row->dtype) / word_bytes(row);
}

uint64_t tz_extract_scratch_bytes(const tz_extract_batch *batch)
{
    if (!needs_scratch(&batch->row))
        return 0;
    return tz_mul_capped(tz_mul_capped(batch->count, batch->height), plain_row_bytes(&batch->row));
}

bool tz_device_extracts(const tz_device *device, const tz_extract_batch *batch)
{
    const tz_dtype dtype = batch->row.dtype;
    if (!device->driver || tz_store_unsupported(&batch->row))
        return false;
    if (batch->is_mask && dtype != TZ_DTYPE_UINT8)
        return false;
    if (batch->nan_to_nodata && (dtype < TZ_DTYPE_FLOAT16 || dtype > TZ_DTYPE_FLOAT64))
        return false;
    if (batch->discard_bits && dtype > TZ_DTYPE_FLOAT64)
        return false;
    return !batch->wants_stats || device->info.limits.fp64;
}

/* ---- launches ---- */

static tz_extract_rows extract_rows_of(const tz_extract_batch *batch)
{
    const tz_device *device = batch->slab->device;
    return (tz_extract_rows){.scratch = needs_scratch(&batch->row) ? batch->scratch : TZ_NONE,
                             .row_bytes = plain_row_bytes(&batch->row),
                             .count = tz_mul_capped(batch->count, batch->height),
                             .row_items =
                                 device->info.type == TZ_DEVICE_CPU ? 1u : TZ_WORK_GROUP_ITEMS};
}

static uint64_t row_work_groups(const tz_extract_rows *rows)
{
    return tz_ceil_div(tz_mul_capped(rows->count, rows->row_items), TZ_WORK_GROUP_ITEMS);
}

static uint64_t first_word(const uint8_t *sample, const tz_row_format *row)
{
    return tz_load_raw(sample, word_bytes(row));
}

/* What happens to samples, as kernels want it. */
static tz_adjustment treatment_of(const tz_extract_batch *batch)
{
    const tz_row_format *row = &batch->row;
    tz_adjustment how = {.sample = (tz_u32)row->dtype};
    uint8_t sample[16] = {0};
    if (batch->is_mask)
        how.flags |= TZ_ADJUST_MASK;
    if (batch->nan_to_nodata) {
        const tz_nodata number = {.kind = TZ_NODATA_FLOAT, .value = {.f = batch->nodata.value.f}};
        tz_row_fill(row->dtype, &number, sample, sizeof sample, 1);
        how.flags |= TZ_ADJUST_NAN;
        how.nan = first_word(sample, row);
    }
    if (batch->discard_bits) {
        how.flags |= TZ_ADJUST_DISCARD;
        if (tz_store_nodata_sample(row->dtype, &batch->nodata, sample)) {
            how.flags |= TZ_ADJUST_NODATA;
            how.nodata = first_word(sample, row);
        }
    }
    return how;
}

static tz_result launch_extract(const tz_extract_batch *batch, const tz_extract_rows *rows,
                                uint32_t queue, tz_error *err)
{
    static const uint32_t kernels[] = {TZ_KERNEL_EXTRACT_U8, TZ_KERNEL_EXTRACT_U16,
                                       TZ_KERNEL_EXTRACT_U32, TZ_KERNEL_EXTRACT_U64};
    tz_device *device = batch->slab->device;
    const tz_row_format *row = &batch->row;
    const tz_adjustment how = treatment_of(batch);
    const tz_argument arguments[] = {TZ_MEMORY(batch->rows),
                                     TZ_MEMORY(batch->slab),
                                     TZ_EXTRACT_ROWS_ARGUMENTS(batch, rows),
                                     TZ_U64(rows->count),
                                     TZ_U64((uint64_t)batch->band_stride),
                                     TZ_U64((uint64_t)batch->row_stride),
                                     TZ_U64((uint64_t)batch->column_stride),
                                     TZ_U32(row->width),
                                     TZ_U32(row->samples),
                                     TZ_U32(words_per_sample(row)),
                                     TZ_U32(how.flags),
                                     TZ_U32(how.sample),
                                     TZ_U64(how.nan),
                                     TZ_U64(how.nodata),
                                     TZ_U64(batch->discard_bits ? batch->discard : 0),
                                     TZ_U32(rows->row_items)};
    const tz_launch launch =
        TZ_LAUNCH_OF(kernels[tz_word_index(word_bytes(row))], row_work_groups(rows), arguments);
    return tz_device_launch(device, queue, &launch, err);
}

static tz_inspection inspection_of(const tz_extract_batch *batch)
{
    static const tz_nodata zero = {TZ_NODATA_NONE, {0}};
    const tz_row_format *row = &batch->row;
    const tz_nodata *nodata = batch->is_mask ? &zero : &batch->nodata;
    const bool is_float = row->dtype >= TZ_DTYPE_FLOAT16 && row->dtype <= TZ_DTYPE_FLOAT64;
    tz_inspection how = {
        .size = word_bytes(row), .words = words_per_sample(row), .bits = row->bits};
    uint8_t sample[16] = {0};
    tz_row_fill(row->dtype, nodata, sample, sizeof sample, 1);
    how.value[0] = tz_load_raw(sample, how.size);
    how.value[1] = tz_load_raw(sample + 8, 8);
    if (batch->wants_empty)
        how.flags |= TZ_INSPECT_EMPTY;
    if (is_float && nodata->kind == TZ_NODATA_FLOAT && isnan(nodata->value.f))
        how.flags |= TZ_INSPECT_NAN;
    if (!has_whole_samples(row) && !batch->is_mask) {
        how.flags |= TZ_INSPECT_FIT;
        how.below = row->sample_format == 2 ? 1u << (row->bits - 1) : 0;
    }
    return how;
}

static tz_result launch_inspect(const tz_extract_batch *batch, const tz_extract_rows *rows,
                                uint32_t queue, tz_error *err)
{
    tz_device *device = batch->slab->device;
    const tz_inspection how = inspection_of(batch);
    const tz_argument arguments[] = {TZ_MEMORY(batch->slab),
                                     TZ_EXTRACT_ROWS_ARGUMENTS(batch, rows),
                                     TZ_U64(batch->results),
                                     TZ_U32(how.flags),
                                     TZ_U32(how.size),
                                     TZ_U32(how.words),
                                     TZ_U32(batch->row.samples * how.words),
                                     TZ_U32(how.bits),
                                     TZ_U32(how.below),
                                     TZ_U64(how.value[0]),
                                     TZ_U64(how.value[1])};
    const uint32_t kernel = rows->row_items == 1 ? TZ_KERNEL_INSPECT : TZ_KERNEL_INSPECT_WORK_GROUP;
    const tz_launch launch = TZ_LAUNCH_OF(kernel, batch->count, arguments);
    return tz_device_launch(device, queue, &launch, err);
}

/* As tz_store_row chooses. */
static tz_row_encoding store_spec_of(const tz_row_format *row)
{
    const uint32_t size = (uint32_t)tz_dtype_size(row->dtype);
    tz_row_encoding put = {.size = size,
                           .count = row->width * row->samples,
                           .stride = row->samples,
                           .bits = row->bits,
                           .swap = row->swap,
                           .little_endian = tz_host_is_little_endian()};
    if (row->predictor == 3) {
        put.kind = TZ_ROW_PREDICTOR3;
    } else if (!has_whole_samples(row)) {
        put.kind = TZ_ROW_PACKED;
    } else if (row->predictor == 2) {
        put.kind = TZ_ROW_PREDICTOR2;
    } else if (row->swap && size / tz_row_components(row) > 1) {
        put.kind = TZ_ROW_SWAPPED;
        put.size = size / tz_row_components(row);
        put.count *= tz_row_components(row);
    }
    return put;
}

static tz_result launch_store(const tz_extract_batch *batch, const tz_extract_rows *rows,
                              uint32_t queue, tz_error *err)
{
    tz_device *device = batch->slab->device;
    const tz_row_encoding put = store_spec_of(&batch->row);
    const tz_argument arguments[] = {
        TZ_MEMORY(batch->slab),   TZ_EXTRACT_ROWS_ARGUMENTS(batch, rows),
        TZ_U64(rows->count),      TZ_U64(tz_row_bytes(&batch->row)),
        TZ_U32(put.kind),         TZ_U32(put.size),
        TZ_U32(put.count),        TZ_U32(put.stride),
        TZ_U32(put.bits),         TZ_U32(put.swap),
        TZ_U32(put.little_endian)};
    const tz_launch launch =
        TZ_LAUNCH_OF(rows->row_items == 1 ? TZ_KERNEL_STORE_ROWS : TZ_KERNEL_STORE_ROWS_WORK_GROUP,
                     row_work_groups(rows), arguments);
    return put.kind == TZ_ROW_AS_IS ? TZ_OK : tz_device_launch(device, queue, &launch, err);
}

tz_result tz_extract_launch(const tz_extract_batch *batch, uint32_t queue, tz_error *err)
{
    TZ_TRY(tz_extract_check(batch, err));
    const tz_extract_rows rows = extract_rows_of(batch);
    TZ_TRY(launch_extract(batch, &rows, queue, err));
    TZ_TRY(launch_inspect(batch, &rows, queue, err));
    if (batch->wants_stats)
        TZ_TRY(tz_extract_launch_stats(batch, &rows, queue, err));
    return launch_store(batch, &rows, queue, err);
}
