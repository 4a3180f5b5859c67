/* SPDX-License-Identifier: Apache-2.0
 * The table of tiles that are extracted, as kernels read it, and the location of their rows. */
#ifndef TZ_DEVICE_OPS_EXTRACT_BASE_KERNELS_H
#define TZ_DEVICE_OPS_EXTRACT_BASE_KERNELS_H

#include "kernels/kernel.h"

/* tz_extract_tile */
#define TZ_EXTRACT_TILE_BYTES 40u
TZ_FN tz_u64 tz_extract_from(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u64(tile);
}
TZ_FN tz_u64 tz_extract_valid(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u64(tile + 8);
}
TZ_FN tz_u64 tz_extract_to(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u64(tile + 16);
}
TZ_FN tz_u32 tz_extract_width(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u32(tile + 24);
}
TZ_FN tz_u32 tz_extract_height(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u32(tile + 28);
}
TZ_FN tz_u32 tz_extract_plane(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u32(tile + 32);
}
TZ_FN tz_u32 tz_extract_checked(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u32(tile + 36);
}

/* The location of rows of plain samples. */
typedef struct tz_extract_layout {
    tz_u64 table;
    tz_u64 scratch;   /* ~0: the rows lie in the tile itself */
    tz_u64 row_bytes; /* of plain samples */
    tz_u32 height;
    tz_u32 is_cropped; /* the last strip has no rows below the image */
} tz_extract_layout;

TZ_FN tz_u64 tz_extract_row_offset(const TZ_GLOBAL tz_u8 *entry, const tz_extract_layout *layout,
                                   tz_u64 row)
{
    return layout->scratch == ~(tz_u64)0
               ? tz_extract_to(entry) + row % layout->height * layout->row_bytes
               : layout->scratch + row * layout->row_bytes;
}

TZ_FN tz_u32 tz_extract_has_row(const TZ_GLOBAL tz_u8 *entry, const tz_extract_layout *layout,
                                tz_u64 row)
{
    return !layout->is_cropped || row % layout->height < tz_extract_height(entry);
}

/* The arguments that all kernels have, and the layout of them. */
#define TZ_EXTRACT_LAYOUT_ARGUMENTS                                                                \
    tz_u64 table, tz_u64 scratch, tz_u64 plain_row, tz_u32 height, tz_u32 is_cropped
#define TZ_EXTRACT_LAYOUT_OF_ARGUMENTS(layout)                                                     \
    layout.table = table, layout.scratch = scratch, layout.row_bytes = plain_row,                  \
    layout.height = height, layout.is_cropped = is_cropped

#endif
