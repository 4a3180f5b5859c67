/* SPDX-License-Identifier: Apache-2.0
 * Tiles extracted from rows of pixels on a device, and rows copied within a device.
 *
 * A batch takes three launches, or four with statistics, for any number of tiles. The first copies
 * the samples of each tile out of the rows, treats them and pads the tile. The second inspects
 * them: is the tile empty, do the samples fit into their bits, what is their hash? The third adds
 * up statistics. The last applies the predictor, byte order and packing of the file.
 *
 * Between the launches the plain samples lie in the tile's own bytes of the slab, if the last step
 * can work in place: it swaps bytes or applies predictor 2. Rows that become shorter (samples of
 * odd bits) or are sorted into planes (predictor 3) lie in the scratch instead.
 *
 * Kernels trust the table of tiles, so that the host checks every entry of it before a launch. */
#include "device/ops/extract.h"

#include <math.h>
#include <string.h>

#include "codec/codec.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/extract_kernels.h"
#include "device/ops/stats_kernels.h"
#include "pixel/row_ops.h"

_Static_assert(sizeof(tz_extract_tile) == TZ_EXTRACT_TILE_BYTES &&
                   offsetof(tz_extract_tile, checked) == 36,
               "kernels read the entries as they are");
_Static_assert(sizeof(tz_extract_result) == TZ_EXTRACT_RESULT_BYTES &&
                   sizeof(tz_stats) == TZ_STATS_ENTRY_BYTES && offsetof(tz_stats, squares) == 40,
               "kernels write results and statistics as they are");
_Static_assert((unsigned)TZ_DTYPE_UINT8 == TZ_COMPONENT_U8 &&
                   (unsigned)TZ_DTYPE_FLOAT64 == TZ_COMPONENT_F64,
               "types have the numbers that kernels know");

/* ---- shapes ---- */

/* False for samples of 1 to 7 bits, 12 bits and the like, which are packed in the file. */
static bool has_whole_samples(const tz_row_format *row)
{
    return row->bits == 8 * tz_dtype_size(row->dtype);
}

/* True for rows that cannot be stored in place. */
static bool needs_scratch(const tz_row_format *row)
{
    return row->predictor == TZ_PREDICTOR_FLOAT || !has_whole_samples(row);
}

static uint64_t plain_row_bytes(const tz_row_format *row)
{
    return (uint64_t)row->width * row->samples * tz_dtype_size(row->dtype);
}

/* Kernels copy samples as words of up to 8 bytes; a sample of 16 bytes is two words. */
static uint32_t word_bytes(const tz_row_format *row)
{
    return tz_min_u32((uint32_t)tz_dtype_size(row->dtype), 8);
}

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

/* Options are for some types only: masks are bytes, NaN is a float's, and bits of complex numbers
 * are not discarded. Statistics need double precision. */
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
    return !batch->wants_stats || device->info.fp64;
}

/* ---- checks ---- */

/* The part of the image that a tile covers is read from the rows (and from the mask, if statistics
 * leave pixels out); the whole tile is written to the slab. */
static tz_result check_extract_tile(const tz_extract_batch *batch, uint64_t index, tz_error *err)
{
    const tz_extract_tile *tile = &batch->tiles[index];
    const tz_location location = tz_location_of_tile(tile->to, index);
    if (tile->width == 0 || tile->width > batch->row.width || tile->height == 0 ||
        tile->height > batch->height)
        return tz_refuse(batch->slab, location, "no tile has such a part of the image", err);

    const tz_strided samples = {
        .first = tile->from,
        .counts = {batch->row.samples, tile->height, tile->width},
        .strides = {batch->band_stride, batch->row_stride, batch->column_stride},
        .size = tz_dtype_size(batch->row.dtype)};
    if (!tz_memory_holds_words(batch->rows, &samples))
        return tz_refuse(batch->slab, location, "the tile is not within the rows", err);

    const tz_strided valid = {.first = tile->valid,
                              .counts = {1, tile->height, tile->width},
                              .strides = {0, batch->mask_row_stride, batch->mask_column_stride},
                              .size = 1};
    if (batch->wants_stats && batch->mask && !tz_memory_holds_words(batch->mask, &valid))
        return tz_refuse(batch->slab, location, "the tile is not within the mask", err);

    const uint32_t height = batch->crop_height ? tile->height : batch->height;
    const uint64_t size = tz_mul_capped(height, tz_row_bytes(&batch->row));
    TZ_TRY(tz_check_range(batch->slab, location, tile->to, size, "the tile is not within the slab",
                          err));
    if (batch->discard_bits &&
        tz_add_capped(tile->plane, batch->row.samples) > batch->discard_count)
        return tz_refuse(batch->slab, location, "there are no discard_bits for the tile", err);
    return TZ_OK;
}

static tz_result check_extract_batch(const tz_extract_batch *batch, tz_error *err)
{
    const tz_row_format *row = &batch->row;
    if (!tz_device_extracts(batch->slab->device, batch))
        return tz_refuse(batch->slab, tz_no_location(), "the device does not extract such tiles",
                         err);
    if (row->width == 0 || row->samples == 0 || batch->height == 0 ||
        (row->predictor < TZ_PREDICTOR_NONE || row->predictor > TZ_PREDICTOR_FLOAT))
        return tz_refuse(batch->slab, tz_no_location(), "tiles of such a shape do not exist", err);
    /* Kernels count the words of a row in 32 bits; a sample has up to two. */
    if (tz_mul_capped(row->width, tz_mul_capped(row->samples, 2)) >
        UINT32_MAX - TZ_WORK_GROUP_ITEMS)
        return tz_refuse(batch->slab, tz_no_location(), "rows of tiles are too long for kernels",
                         err);

    TZ_TRY(tz_check_array(batch->slab, batch->table, batch->count, sizeof *batch->tiles, 8,
                          "the table is not in the slab", err));
    TZ_TRY(tz_check_array(batch->slab, batch->results, batch->count, sizeof(tz_extract_result), 8,
                          "the results are not in the slab", err));
    if (batch->wants_stats)
        TZ_TRY(tz_check_array(batch->slab, batch->stats, batch->count,
                              tz_mul_capped(row->samples, sizeof(tz_stats)), 8,
                              "the statistics are not in the slab", err));
    if (batch->discard_bits)
        TZ_TRY(tz_check_array(batch->slab, batch->discard, batch->discard_count, 1, 1,
                              "discard_bits are not in the slab", err));
    const uint64_t scratch = tz_extract_scratch_bytes(batch);
    if (scratch > 0)
        TZ_TRY(tz_check_array(batch->slab, batch->scratch, 1, scratch, 1,
                              "the scratch is not in the slab", err));
    for (uint64_t i = 0; i < batch->count; i++)
        TZ_TRY(check_extract_tile(batch, i, err));
    return TZ_OK;
}

/* ---- launches ---- */

/* The rows of plain samples between two launches. */
typedef struct plain_rows {
    uint64_t scratch; /* TZ_NO_VALUE: the rows lie where the tiles go */
    uint64_t row_bytes;
    uint64_t count;     /* rows of all tiles, as if all tiles were whole */
    uint32_t row_items; /* work-items that share a row */
} plain_rows;

/* The arguments that all kernels of this file have in common. */
#define ROWS_ARGUMENTS(batch, rows)                                                                \
    TZ_U64((batch)->table), TZ_U64((rows)->scratch), TZ_U64((rows)->row_bytes),                    \
        TZ_U32((batch)->height), TZ_U32((batch)->crop_height)

static uint64_t row_work_groups(uint64_t rows, uint32_t row_items)
{
    return tz_ceil_div(tz_mul_capped(rows, row_items), TZ_WORK_GROUP_ITEMS);
}

/* Copies, treats and pads. Nodata is passed to the kernel as the bits of a sample. */
static tz_result launch_extract(const tz_extract_batch *batch, const plain_rows *rows,
                                uint32_t queue, tz_error *err)
{
    static const uint32_t kernels[] = {TZ_KERNEL_EXTRACT_U8, TZ_KERNEL_EXTRACT_U16,
                                       TZ_KERNEL_EXTRACT_U32, TZ_KERNEL_EXTRACT_U64};
    const tz_row_format *row = &batch->row;
    tz_adjustment how = {.sample = (tz_u32)row->dtype};
    uint8_t sample[16] = {0};
    if (batch->is_mask)
        how.flags |= TZ_ADJUST_MASK;
    if (batch->nan_to_nodata) {
        const tz_nodata number = {.kind = TZ_NODATA_KIND_FLOAT,
                                  .value = {.f = batch->nodata.value.f}};
        tz_row_fill(row->dtype, &number, sample, sizeof sample, 1);
        how.flags |= TZ_ADJUST_NAN;
        how.nan = tz_load_raw(sample, word_bytes(row));
    }
    if (batch->discard_bits) {
        how.flags |= TZ_ADJUST_DISCARD;
        if (tz_store_nodata_sample(row->dtype, &batch->nodata, sample)) {
            how.flags |= TZ_ADJUST_NODATA;
            how.nodata = tz_load_raw(sample, word_bytes(row));
        }
    }
    return TZ_LAUNCH(batch->slab->device, queue, kernels[tz_word_index(word_bytes(row))],
                     row_work_groups(rows->count, rows->row_items), err, TZ_MEMORY(batch->rows),
                     TZ_MEMORY(batch->slab), ROWS_ARGUMENTS(batch, rows), TZ_U64(rows->count),
                     TZ_U64((uint64_t)batch->band_stride), TZ_U64((uint64_t)batch->row_stride),
                     TZ_U64((uint64_t)batch->column_stride), TZ_U32(row->width),
                     TZ_U32(row->samples), TZ_U32(words_per_sample(row)), TZ_U32(how.flags),
                     TZ_U32(how.sample), TZ_U64(how.nan), TZ_U64(how.nodata),
                     TZ_U64(batch->discard_bits ? batch->discard : 0), TZ_U32(rows->row_items));
}

/* A tile is empty when all its samples equal nodata, or 0 without a nodata value. */
static tz_result launch_inspect(const tz_extract_batch *batch, const plain_rows *rows,
                                uint32_t queue, tz_error *err)
{
    static const tz_nodata zero = {TZ_NODATA_KIND_NONE, {0}};
    tz_device *device = batch->slab->device;
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
    if (is_float && nodata->kind == TZ_NODATA_KIND_FLOAT && isnan(nodata->value.f))
        how.flags |= TZ_INSPECT_NAN;
    if (!has_whole_samples(row) && !batch->is_mask) {
        how.flags |= TZ_INSPECT_FIT;
        how.below = row->sample_format == TZ_SAMPLE_FORMAT_INT ? 1u << (row->bits - 1) : 0;
    }
    return TZ_LAUNCH(device, queue,
                     tz_kernel_for(device, TZ_KERNEL_INSPECT, TZ_KERNEL_INSPECT_WORK_GROUP),
                     batch->count, err, TZ_MEMORY(batch->slab), ROWS_ARGUMENTS(batch, rows),
                     TZ_U64(batch->results), TZ_U32(how.flags), TZ_U32(how.size), TZ_U32(how.words),
                     TZ_U32(row->samples * how.words), TZ_U32(how.bits), TZ_U32(how.below),
                     TZ_U64(how.value[0]), TZ_U64(how.value[1]));
}

/* One work-group for each tile and band. Types that have no statistics (complex numbers) are passed
 * as 0: their entries say that no pixel is valid. */
static tz_result launch_stats(const tz_extract_batch *batch, const plain_rows *rows, uint32_t queue,
                              tz_error *err)
{
    tz_device *device = batch->slab->device;
    const tz_dtype dtype = batch->row.dtype;
    uint32_t nodata_kind;
    const uint64_t nodata = tz_nodata_wide(&batch->nodata, &nodata_kind);
    return TZ_LAUNCH(
        device, queue, tz_kernel_for(device, TZ_KERNEL_STATS, TZ_KERNEL_STATS_WORK_GROUP),
        tz_mul_capped(batch->count, batch->row.samples), err,
        TZ_MEMORY(batch->mask ? batch->mask : batch->slab), TZ_MEMORY(batch->slab),
        ROWS_ARGUMENTS(batch, rows), TZ_U64(batch->stats), TZ_U32(batch->row.samples),
        TZ_U32(dtype <= TZ_DTYPE_FLOAT64 ? (uint32_t)dtype : 0),
        TZ_U32(batch->nodata.kind != TZ_NODATA_KIND_NONE), TZ_U32(nodata_kind),
        TZ_U32(batch->mask != NULL), TZ_U64(nodata), TZ_U64((uint64_t)batch->mask_row_stride),
        TZ_U64((uint64_t)batch->mask_column_stride));
}

/* Makes the same choices as tz_store_row. Rows that are stored as they are need no launch. */
static tz_result launch_store(const tz_extract_batch *batch, const plain_rows *rows, uint32_t queue,
                              tz_error *err)
{
    tz_device *device = batch->slab->device;
    const tz_row_format *row = &batch->row;
    const uint32_t size = (uint32_t)tz_dtype_size(row->dtype);
    const uint32_t components = tz_row_components(row);
    tz_row_encoding put = {.size = size,
                           .count = row->width * row->samples,
                           .stride = row->samples,
                           .bits = row->bits,
                           .swap = row->swap,
                           .little_endian = tz_host_is_little_endian()};
    if (row->predictor == TZ_PREDICTOR_FLOAT) {
        put.kind = TZ_ROW_PREDICTOR3;
    } else if (!has_whole_samples(row)) {
        put.kind = TZ_ROW_PACKED;
    } else if (row->predictor == TZ_PREDICTOR_HORIZONTAL) {
        put.kind = TZ_ROW_PREDICTOR2;
    } else if (row->swap && size / components > 1) {
        put.kind = TZ_ROW_SWAPPED;
        put.size = size / components;
        put.count *= components;
    }
    if (put.kind == TZ_ROW_AS_IS)
        return TZ_OK;
    return TZ_LAUNCH(device, queue,
                     tz_kernel_for(device, TZ_KERNEL_STORE_ROWS, TZ_KERNEL_STORE_ROWS_WORK_GROUP),
                     row_work_groups(rows->count, rows->row_items), err, TZ_MEMORY(batch->slab),
                     ROWS_ARGUMENTS(batch, rows), TZ_U64(rows->count), TZ_U64(tz_row_bytes(row)),
                     TZ_U32(put.kind), TZ_U32(put.size), TZ_U32(put.count), TZ_U32(put.stride),
                     TZ_U32(put.bits), TZ_U32(put.swap), TZ_U32(put.little_endian));
}

tz_result tz_extract_launch(const tz_extract_batch *batch, uint32_t queue, tz_error *err)
{
    TZ_TRY(check_extract_batch(batch, err));
    const plain_rows rows = {.scratch = needs_scratch(&batch->row) ? batch->scratch : TZ_NO_VALUE,
                             .row_bytes = plain_row_bytes(&batch->row),
                             .count = tz_mul_capped(batch->count, batch->height),
                             .row_items = tz_row_items_for(batch->slab->device)};
    TZ_TRY(launch_extract(batch, &rows, queue, err));
    TZ_TRY(launch_inspect(batch, &rows, queue, err));
    if (batch->wants_stats)
        TZ_TRY(launch_stats(batch, &rows, queue, err));
    return launch_store(batch, &rows, queue, err);
}

/* ---- rows from one place to another ---- */

static bool has_packed_pixels(const tz_pixel_buffer *buffer)
{
    const int64_t size = (int64_t)tz_dtype_size(buffer->dtype);
    return buffer->band_stride == size && buffer->column_stride == size * (int64_t)buffer->bands;
}

/* Copies fewer and larger words if both sides allow it. Pixels whose bands lie side by side
 * are one band of more samples, and samples that lie side by side are words of 8 bytes. */
tz_result tz_copy_rows_launch(const tz_pixel_buffer *from, const tz_pixel_buffer *to,
                              uint32_t queue, tz_error *err)
{
    uint64_t bands = from->bands, width = from->width;
    uint32_t size = (uint32_t)tz_dtype_size(from->dtype);
    int64_t from_step = from->column_stride, to_step = to->column_stride;
    if (from->bands != to->bands || from->height != to->height || from->width != to->width ||
        from->dtype != to->dtype || size == 0)
        return tz_refuse(to->memory, tz_at_offset(to->offset),
                         "rows are copied to rows of the same shape and type", err);
    if (from->bands == 0 || from->height == 0 || from->width == 0)
        return TZ_OK;
    if (!tz_buffer_is_within(from) || !tz_buffer_is_within(to)) {
        const tz_pixel_buffer *wrong = tz_buffer_is_within(from) ? to : from;
        return tz_refuse(wrong->memory, tz_at_offset(wrong->offset),
                         "the rows are not within their memory", err);
    }
    if (bands > 1 && has_packed_pixels(from) && has_packed_pixels(to)) {
        width *= bands;
        bands = 1;
        from_step = to_step = size;
    }
    if (from_step == size && to_step == size && width * size % 8 == 0) {
        width = width * size / 8;
        size = 8;
        from_step = to_step = 8;
    }
    tz_device *device = from->memory->device;
    if (width > UINT32_MAX - TZ_WORK_GROUP_ITEMS)
        return tz_refuse(from->memory, tz_at_offset(from->offset), "rows are too long for kernels",
                         err);
    const uint64_t rows = tz_mul_capped(bands, from->height);
    const uint32_t row_items = tz_row_items_for(device);
    return TZ_LAUNCH(device, queue, TZ_KERNEL_COPY_ROWS, row_work_groups(rows, row_items), err,
                     TZ_MEMORY(from->memory), TZ_MEMORY(to->memory), TZ_U64(from->offset),
                     TZ_U64((uint64_t)from->band_stride), TZ_U64((uint64_t)from->row_stride),
                     TZ_U64((uint64_t)from_step), TZ_U64(to->offset),
                     TZ_U64((uint64_t)to->band_stride), TZ_U64((uint64_t)to->row_stride),
                     TZ_U64((uint64_t)to_step), TZ_U64(rows), TZ_U32(from->height),
                     TZ_U32((uint32_t)width), TZ_U32(size), TZ_U32(row_items));
}
