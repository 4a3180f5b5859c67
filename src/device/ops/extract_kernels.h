/* SPDX-License-Identifier: Apache-2.0
 * Kernels that make tiles of rows of pixels, in three steps: extract and adjust, inspect, store.
 * The slab holds a table of tz_extract_tile and the tiles. Between two steps the rows of samples
 * lie in the bytes of the tile, or in scratch memory if they cannot be encoded in place.
 *
 * The rows of all tiles are numbered as if every tile were whole, so that a row number divided by
 * the height is a tile. */
#ifndef TZ_DEVICE_OPS_EXTRACT_KERNELS_H
#define TZ_DEVICE_OPS_EXTRACT_KERNELS_H

#include "device/ops/extract_base_kernels.h"
#include "kernels/encode_row.h"
#include "kernels/extract_row.h"
#include "kernels/inspect.h"
#include "kernels/kernel_entry.h"

/* tz_extract_result */
#define TZ_EXTRACT_RESULT_BYTES 24u

/* ---- extract: any number of work-items for a row ---- */

typedef struct tz_extract_spec {
    tz_extract_layout layout;
    tz_extract_shape shape; /* without the width, which tiles have */
    tz_i64 row_stride;
    tz_u64 bits; /* offset of discard_bits */
    tz_adjustment adjustment;
} tz_extract_spec;

/* Extracts the share of a work-item of one row, of words of 1, 2, 4 or 8 bytes. Rows below the
 * image repeat its last row. */
#define TZ_EXTRACT_ONE(name)                                                                       \
    TZ_FN void tz_extract_one_##name(const TZ_GLOBAL tz_u8 *rows, TZ_GLOBAL tz_u8 *slab,           \
                                     const tz_extract_spec *how, tz_u64 row, tz_u32 row_item,      \
                                     tz_u32 row_items)                                             \
    {                                                                                              \
        const TZ_GLOBAL tz_u8 *entry =                                                             \
            slab + how->layout.table + row / how->layout.height * TZ_EXTRACT_TILE_BYTES;           \
        if (tz_extract_has_row(entry, &how->layout, row)) {                                        \
            const tz_u32 y = tz_kernel_min((tz_u32)(row % how->layout.height),                     \
                                           tz_load_u32(entry + TZ_EXTRACT_HEIGHT) - 1u);           \
            const TZ_GLOBAL tz_u8 *from =                                                          \
                rows + (tz_i64)tz_load_u64(entry + TZ_EXTRACT_FROM) + (tz_i64)y * how->row_stride; \
            tz_extract_shape shape = how->shape;                                                   \
            shape.width = tz_load_u32(entry + TZ_EXTRACT_WIDTH);                                   \
            tz_extract_row_##name(from, slab + tz_extract_row_offset(entry, &how->layout, row),    \
                                  &shape, &how->adjustment,                                        \
                                  slab + how->bits + tz_load_u32(entry + TZ_EXTRACT_PLANE),        \
                                  row_item, row_items);                                            \
        }                                                                                          \
    }
TZ_EXTRACT_ONE(u8)
TZ_EXTRACT_ONE(u16)
TZ_EXTRACT_ONE(u32)
TZ_EXTRACT_ONE(u64)

/* ---- store ---- */

typedef struct tz_extract_store_spec {
    tz_extract_layout layout;
    tz_u64 row_bytes; /* of a stored row */
    tz_row_encoding put;
} tz_extract_store_spec;

/* Stored rows may be shorter than rows of samples: packed bits. */
TZ_FN tz_u64 tz_stored_row_offset(const TZ_GLOBAL tz_u8 *entry, const tz_extract_store_spec *how,
                                  tz_u64 row)
{
    return tz_load_u64(entry + TZ_EXTRACT_TO) + row % how->layout.height * how->row_bytes;
}

/* Encodes one row, by one work-item. */
TZ_FN void tz_store_one(TZ_GLOBAL tz_u8 *slab, const tz_extract_store_spec *how, tz_u64 row)
{
    const TZ_GLOBAL tz_u8 *entry =
        slab + how->layout.table + row / how->layout.height * TZ_EXTRACT_TILE_BYTES;
    if (tz_extract_has_row(entry, &how->layout, row))
        tz_encode_row(slab + tz_extract_row_offset(entry, &how->layout, row),
                      slab + tz_stored_row_offset(entry, how, row), &how->put);
}

/* The same by a work-group. All work-items reach the barriers: a row that the strip does not have
 * is a row of 0 words. */
TZ_FN void tz_store_one_work_group(TZ_GLOBAL tz_u8 *slab, const tz_extract_store_spec *how,
                                   tz_u64 row, TZ_LOCAL tz_u64 *shared)
{
    const TZ_GLOBAL tz_u8 *entry =
        slab + how->layout.table + row / how->layout.height * TZ_EXTRACT_TILE_BYTES;
    tz_row_encoding put = how->put;
    put.count = tz_extract_has_row(entry, &how->layout, row) ? put.count : 0u;
    tz_encode_row_work_group(slab + tz_extract_row_offset(entry, &how->layout, row),
                             slab + tz_stored_row_offset(entry, how, row), &put, shared);
}

/* ---- inspect ---- */

/* The inspection of one tile: that of the batch, with the size of the tile inside the image. Rows
 * and columns of padding are neither inspected nor hashed. */
TZ_FN tz_inspection tz_inspection_of(const TZ_GLOBAL tz_u8 *entry, const tz_inspection *how,
                                     tz_u32 words_of_pixel)
{
    tz_inspection own = *how;
    own.count = tz_load_u32(entry + TZ_EXTRACT_WIDTH) * words_of_pixel;
    own.rows = tz_load_u32(entry + TZ_EXTRACT_HEIGHT);
    own.flags |= tz_load_u32(entry + TZ_EXTRACT_CHECKED) ? TZ_INSPECT_HASH : 0u;
    return own;
}

/* Writes a tz_extract_result. */
TZ_FN void tz_write_extract_result(TZ_GLOBAL tz_u8 *to, const tz_inspected *seen, tz_u32 flags)
{
    tz_store_u64(to, seen->hash);
    tz_store_u64(to + 8, seen->first);
    tz_store_u32(to + 16, (flags & TZ_INSPECT_EMPTY) && !seen->differs ? 1u : 0u);
    tz_store_u32(to + 20, 0u);
}

/* ---- copy rows ---- */

/* The location of words: offset and strides in bytes. */
typedef struct tz_words_at {
    tz_u64 offset;
    tz_i64 band_stride;
    tz_i64 row_stride;
    tz_i64 column_stride;
} tz_words_at;

/* The offset of a row; rows of all bands are numbered through. */
TZ_FN tz_u64 tz_words_row(const tz_words_at *at, tz_u64 row, tz_u32 height)
{
    return at->offset + (tz_u64)((tz_i64)(row / height) * at->band_stride) +
           (tz_u64)((tz_i64)(row % height) * at->row_stride);
}

/* Copies one row of all bands, shared by row_items work-items: width words of size bytes, up to 16.
 */
TZ_FN void tz_copy_words(const TZ_GLOBAL tz_u8 *from, const tz_words_at *from_at,
                         TZ_GLOBAL tz_u8 *to, const tz_words_at *to_at, tz_u64 row, tz_u32 height,
                         tz_u32 width, tz_u32 size, tz_u32 row_item, tz_u32 row_items)
{
    const TZ_GLOBAL tz_u8 *source = from + tz_words_row(from_at, row, height);
    TZ_GLOBAL tz_u8 *target = to + tz_words_row(to_at, row, height);
    const tz_u32 bytes = size < 8u ? size : 8u;
    for (tz_u32 x = row_item; x < width; x += row_items) {
        const TZ_GLOBAL tz_u8 *p = source + (tz_i64)x * from_at->column_stride;
        TZ_GLOBAL tz_u8 *q = target + (tz_i64)x * to_at->column_stride;
        for (tz_u32 offset = 0; offset < size; offset += bytes)
            tz_store_raw(q + offset, tz_load_raw(p + offset, bytes), bytes);
    }
}

#ifdef TZ_KERNEL

TZ_KERNEL(tz_kernel_copy_rows)
(const TZ_GLOBAL tz_u8 *from, TZ_GLOBAL tz_u8 *to, tz_u64 from_offset, tz_u64 from_band,
 tz_u64 from_row, tz_u64 from_column, tz_u64 to_offset, tz_u64 to_band, tz_u64 to_row,
 tz_u64 to_column, tz_u64 count, tz_u32 height, tz_u32 width, tz_u32 size, tz_u32 row_items)
{
    const tz_u64 number = TZ_WORK_GROUP * 64u + TZ_WORK_ITEM;
    tz_words_at from_at, to_at;
    from_at.offset = from_offset, from_at.band_stride = (tz_i64)from_band;
    from_at.row_stride = (tz_i64)from_row, from_at.column_stride = (tz_i64)from_column;
    to_at.offset = to_offset, to_at.band_stride = (tz_i64)to_band;
    to_at.row_stride = (tz_i64)to_row, to_at.column_stride = (tz_i64)to_column;
    if (number / row_items < count)
        tz_copy_words(from, &from_at, to, &to_at, number / row_items, height, width, size,
                      (tz_u32)(number % row_items), row_items);
}

/* row_items is 1 or the size of a work-group. */
#define TZ_EXTRACT_KERNEL(name)                                                                    \
    TZ_KERNEL(tz_kernel_extract_##name)                                                            \
    (const TZ_GLOBAL tz_u8 *rows, TZ_GLOBAL tz_u8 *slab, TZ_EXTRACT_LAYOUT_ARGUMENTS,              \
     tz_u64 count, tz_u64 band_stride, tz_u64 row_stride, tz_u64 column_stride, tz_u32 width,      \
     tz_u32 samples, tz_u32 sample_words, tz_u32 flags, tz_u32 sample, tz_u64 nan_value,           \
     tz_u64 nodata, tz_u64 bits, tz_u32 row_items)                                                 \
    {                                                                                              \
        const tz_u64 number = TZ_WORK_GROUP * 64u + TZ_WORK_ITEM;                                  \
        tz_extract_spec how;                                                                       \
        TZ_EXTRACT_LAYOUT_OF_ARGUMENTS(how.layout);                                                \
        how.shape.band_stride = (tz_i64)band_stride;                                               \
        how.shape.column_stride = (tz_i64)column_stride;                                           \
        how.shape.samples = samples;                                                               \
        how.shape.words = sample_words;                                                            \
        how.shape.width = 0u;                                                                      \
        how.shape.padded = width;                                                                  \
        how.row_stride = (tz_i64)row_stride;                                                       \
        how.bits = bits;                                                                           \
        how.adjustment.flags = flags;                                                              \
        how.adjustment.sample = sample;                                                            \
        how.adjustment.nan = nan_value;                                                            \
        how.adjustment.nodata = nodata;                                                            \
        if (number / row_items < count)                                                            \
            tz_extract_one_##name(rows, slab, &how, number / row_items,                            \
                                  (tz_u32)(number % row_items), row_items);                        \
    }
TZ_EXTRACT_KERNEL(u8)
TZ_EXTRACT_KERNEL(u16)
TZ_EXTRACT_KERNEL(u32)
TZ_EXTRACT_KERNEL(u64)

#define TZ_STORE_ARGUMENTS                                                                         \
    TZ_EXTRACT_LAYOUT_ARGUMENTS, tz_u64 count, tz_u64 stored_row, tz_u32 kind, tz_u32 size,        \
        tz_u32 words, tz_u32 stride, tz_u32 bits, tz_u32 swap, tz_u32 little_endian
#define TZ_STORE_OF_ARGUMENTS(how)                                                                 \
    TZ_EXTRACT_LAYOUT_OF_ARGUMENTS(how.layout);                                                    \
    how.row_bytes = stored_row;                                                                    \
    how.put.kind = kind, how.put.size = size, how.put.count = words, how.put.stride = stride;      \
    how.put.bits = bits, how.put.swap = swap, how.put.little_endian = little_endian

#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
/* A work-item for each row. */
TZ_KERNEL(tz_kernel_store_rows)
(TZ_GLOBAL tz_u8 *slab, TZ_STORE_ARGUMENTS)
{
    const tz_u64 row = TZ_WORK_GROUP * 64u + TZ_WORK_ITEM;
    tz_extract_store_spec how;
    TZ_STORE_OF_ARGUMENTS(how);
    if (row < count)
        tz_store_one(slab, &how, row);
}
#endif

/* A work-group for each row. */
TZ_KERNEL(tz_kernel_store_rows_work_group)
(TZ_GLOBAL tz_u8 *slab, TZ_STORE_ARGUMENTS)
{
    TZ_SHARED tz_u64 shared[TZ_WORK_GROUP_SIZE];
    tz_extract_store_spec how;
    TZ_STORE_OF_ARGUMENTS(how);
    (void)count; /* there are exactly as many groups */
    tz_store_one_work_group(slab, &how, TZ_WORK_GROUP, shared);
}

#define TZ_INSPECT_ARGUMENTS                                                                       \
    TZ_EXTRACT_LAYOUT_ARGUMENTS, tz_u64 seen, tz_u32 flags, tz_u32 size, tz_u32 sample_words,      \
        tz_u32 words, tz_u32 bits, tz_u32 below, tz_u64 value, tz_u64 second
#define TZ_INSPECT_OF_ARGUMENTS(layout, how)                                                       \
    TZ_EXTRACT_LAYOUT_OF_ARGUMENTS(layout);                                                        \
    how.flags = flags, how.size = size, how.words = sample_words, how.bits = bits,                 \
    how.below = below;                                                                             \
    how.count = how.rows = 0u, how.row_bytes = plain_row;                                          \
    how.value[0] = value, how.value[1] = second

#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
/* Work-item 0 of a work-group for each tile. words: of a pixel. */
TZ_KERNEL(tz_kernel_inspect)
(TZ_GLOBAL tz_u8 *slab, TZ_INSPECT_ARGUMENTS)
{
    const TZ_GLOBAL tz_u8 *entry = slab + table + TZ_WORK_GROUP * TZ_EXTRACT_TILE_BYTES;
    tz_extract_layout layout;
    tz_inspection how;
    TZ_INSPECT_OF_ARGUMENTS(layout, how);
    if (TZ_WORK_ITEM == 0u) {
        const tz_inspection own = tz_inspection_of(entry, &how, words);
        const tz_inspected found = tz_inspect_tile(
            slab + tz_extract_row_offset(entry, &layout, TZ_WORK_GROUP * height), &own);
        tz_write_extract_result(slab + seen + TZ_WORK_GROUP * TZ_EXTRACT_RESULT_BYTES, &found,
                                flags);
    }
}
#endif

/* A work-group for each tile. */
TZ_KERNEL(tz_kernel_inspect_work_group)
(TZ_GLOBAL tz_u8 *slab, TZ_INSPECT_ARGUMENTS)
{
    TZ_SHARED tz_u64 shared[TZ_INSPECT_SHARED];
    const TZ_GLOBAL tz_u8 *entry = slab + table + TZ_WORK_GROUP * TZ_EXTRACT_TILE_BYTES;
    tz_extract_layout layout;
    tz_inspection how;
    TZ_INSPECT_OF_ARGUMENTS(layout, how);
    const tz_inspection own = tz_inspection_of(entry, &how, words);
    const tz_inspected found = tz_inspect_tile_work_group(
        slab + tz_extract_row_offset(entry, &layout, TZ_WORK_GROUP * height), &own, shared);
    if (TZ_WORK_ITEM == 0u)
        tz_write_extract_result(slab + seen + TZ_WORK_GROUP * TZ_EXTRACT_RESULT_BYTES, &found,
                                flags);
}
#endif

#endif
