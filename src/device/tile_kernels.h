/* SPDX-License-Identifier: Apache-2.0
 * Kernels over a batch of tiles. A slab holds the tiles and, somewhere in it, a table that says of
 * every tile where it is in the slab and where it goes: three u64 each, offset, x, y. x and y are
 * the tile's first pixel in the raster, and may be negative (two's complement) where the raster
 * begins within a tile. All tiles have the same shape.
 *
 * Each kernel is a function of one item, as the cores would call it, and a shell that only a device
 * compiles. Items guard themselves: groups are whole. */
#ifndef TZ_DEVICE_TILE_KERNELS_H
#define TZ_DEVICE_TILE_KERNELS_H

#include "kernels/kernel.h"
#include "kernels/predictor.h"
#include "kernels/shell.h"

#define TZ_TILE_ENTRY 24u /* bytes of the table for a tile */

TZ_FN tz_u64 tz_tile_offset(const TZ_GLOBAL tz_u8 *table, tz_u64 tile)
{
    return tz_load_u64(table + tile * TZ_TILE_ENTRY);
}

TZ_FN tz_i64 tz_tile_origin(const TZ_GLOBAL tz_u8 *table, tz_u64 tile, tz_u32 axis)
{
    return (tz_i64)tz_load_u64(table + tile * TZ_TILE_ENTRY + 8u + 8u * axis);
}

/* One row of one tile, as far as it lies within the raster. Item is one of items that share the
 * row: it copies every items-th byte, so that neighbours write to neighbouring places. */
TZ_FN void tz_place_row(const TZ_GLOBAL tz_u8 *slab, TZ_GLOBAL tz_u8 *raster, tz_u64 table,
                        tz_u64 raster_offset, tz_u64 raster_row, tz_u32 tile_width,
                        tz_u32 tile_height, tz_u32 pixel, tz_u32 width, tz_u32 height, tz_u64 row,
                        tz_u32 item, tz_u32 items)
{
    const tz_u64 tile = row / tile_height;
    const tz_u64 tile_row = row % tile_height;
    const tz_i64 x = tz_tile_origin(slab + table, tile, 0);
    const tz_i64 y = tz_tile_origin(slab + table, tile, 1) + (tz_i64)tile_row;
    const tz_i64 first = x < 0 ? -x : 0;
    const tz_i64 last =
        (tz_i64)width - x < (tz_i64)tile_width ? (tz_i64)width - x : (tz_i64)tile_width;
    if (y >= 0 && y < (tz_i64)height && first < last) {
        const TZ_GLOBAL tz_u8 *from = slab + tz_tile_offset(slab + table, tile) +
                                      (tile_row * tile_width + (tz_u64)first) * pixel;
        TZ_GLOBAL tz_u8 *to =
            raster + raster_offset + (tz_u64)y * raster_row + (tz_u64)(x + first) * pixel;
        const tz_u64 size = (tz_u64)(last - first) * pixel;
        for (tz_u64 i = item; i < size; i += items)
            to[i] = from[i];
    }
}

/* Predictor 2 of one row of one tile, in place. count is the samples of a row. */
#define TZ_UNDO2_ROW(name, type)                                                                   \
    TZ_FN void tz_undo2_row_##name(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u32 count,              \
                                   tz_u32 tile_height, tz_u32 stride, tz_u32 swap, tz_u64 row)     \
    {                                                                                              \
        TZ_GLOBAL tz_u8 *at = slab + tz_tile_offset(slab + table, row / tile_height) +             \
                              row % tile_height * count * sizeof(type);                            \
        tz_undo_predictor2_##name(at, at, count, stride, swap);                                    \
    }
TZ_UNDO2_ROW(u8, tz_u8)
TZ_UNDO2_ROW(u16, tz_u16)
TZ_UNDO2_ROW(u32, tz_u32)
TZ_UNDO2_ROW(u64, tz_u64)

#ifdef TZ_SHELL
/* A group per row. */
TZ_SHELL(tz_kernel_place_rows)
(const TZ_GLOBAL tz_u8 *slab, TZ_GLOBAL tz_u8 *raster, tz_u64 table, tz_u64 raster_offset,
 tz_u64 raster_row, tz_u32 tile_width, tz_u32 tile_height, tz_u32 pixel, tz_u32 width,
 tz_u32 height)
{
    tz_place_row(slab, raster, table, raster_offset, raster_row, tile_width, tile_height, pixel,
                 width, height, TZ_GROUP, TZ_ITEM, 64u);
}

/* An item per row. */
#define TZ_UNDO2_SHELL(name)                                                                       \
    TZ_SHELL(tz_kernel_undo2_##name)                                                               \
    (TZ_GLOBAL tz_u8 * slab, tz_u64 table, tz_u64 rows, tz_u32 count, tz_u32 tile_height,          \
     tz_u32 stride, tz_u32 swap)                                                                   \
    {                                                                                              \
        const tz_u64 row = TZ_GROUP * 64u + TZ_ITEM;                                               \
        if (row < rows)                                                                            \
            tz_undo2_row_##name(slab, table, count, tile_height, stride, swap, row);               \
    }
TZ_UNDO2_SHELL(u8)
TZ_UNDO2_SHELL(u16)
TZ_UNDO2_SHELL(u32)
TZ_UNDO2_SHELL(u64)
#endif

#endif
