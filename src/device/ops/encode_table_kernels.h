/* SPDX-License-Identifier: Apache-2.0
 * The table of a batch to be encoded, as kernels read it: see tz_encode_entry. By bytes: 0 offset
 * of the samples, 8 offset of the view that gets the encoded tile, 16 bytes of the samples, 20
 * bytes of the view, 24 offset of the word that skips the tile. The sizes of encoded tiles are an
 * array of 4 bytes for each tile. */
#ifndef TZ_DEVICE_OPS_ENCODE_TABLE_KERNELS_H
#define TZ_DEVICE_OPS_ENCODE_TABLE_KERNELS_H

#include "kernels/kernel.h"

#define TZ_ENCODE_ENTRY_BYTES 32u

/* Set in the size of a tile that the encoder leaves to the CPU; its samples do not change. */
#define TZ_ENCODE_LEFT_TO_CPU 0x80000000u

typedef struct tz_encode_tile {
    tz_u64 from;
    tz_u64 to;
    tz_u32 size; /* 0: the tile is empty or skipped */
} tz_encode_tile;

/* A tile whose skip word is not 0 has only nodata: it becomes an empty tile. */
TZ_FN tz_encode_tile tz_encode_tile_of(const TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 number)
{
    const TZ_GLOBAL tz_u8 *entry = slab + table + number * TZ_ENCODE_ENTRY_BYTES;
    const tz_u64 skip = tz_load_u64(entry + 24);
    tz_encode_tile tile;
    tile.from = tz_load_u64(entry);
    tile.to = tz_load_u64(entry + 8);
    tile.size = tz_load_u32(entry + 16);
    if (skip != ~(tz_u64)0 && tz_load_u32(slab + skip) != 0u)
        tile.size = 0u;
    return tile;
}

/* Bytes that the encoded tile may have. */
TZ_FN tz_u32 tz_encode_capacity_of(const TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 number)
{
    return tz_load_u32(slab + table + number * TZ_ENCODE_ENTRY_BYTES + 20);
}

TZ_FN void tz_encode_set_size(TZ_GLOBAL tz_u8 *slab, tz_u64 sizes, tz_u64 number, tz_u32 size)
{
    tz_store_u32(slab + sizes + 4u * number, size);
}

#endif
