/* SPDX-License-Identifier: Apache-2.0
 * The table of tiles that are cut, as kernels read it, and where the rows of these are. */
#ifndef TZ_DEVICE_CUT_BASE_KERNELS_H
#define TZ_DEVICE_CUT_BASE_KERNELS_H

#include "kernels/kernel.h"

/* tz_cut_tile */
#define TZ_CUT_TILE 40u
TZ_FN tz_u64 tz_cut_from(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u64(tile);
}
TZ_FN tz_u64 tz_cut_valid(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u64(tile + 8);
}
TZ_FN tz_u64 tz_cut_to(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u64(tile + 16);
}
TZ_FN tz_u32 tz_cut_width(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u32(tile + 24);
}
TZ_FN tz_u32 tz_cut_height(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u32(tile + 28);
}
TZ_FN tz_u32 tz_cut_plane(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u32(tile + 32);
}
TZ_FN tz_u32 tz_cut_checked(const TZ_GLOBAL tz_u8 *tile)
{
    return tz_load_u32(tile + 36);
}

/* Where rows of plain samples lie. */
typedef struct tz_cut_place {
    tz_u64 table;
    tz_u64 scratch;   /* ~0: in the tile itself */
    tz_u64 row_bytes; /* of plain samples */
    tz_u32 height;
    tz_u32 is_cut; /* no rows below the image's */
} tz_cut_place;

TZ_FN tz_u64 tz_cut_row_place(const TZ_GLOBAL tz_u8 *entry, const tz_cut_place *place, tz_u64 row)
{
    return place->scratch == ~(tz_u64)0 ? tz_cut_to(entry) + row % place->height * place->row_bytes
                                        : place->scratch + row * place->row_bytes;
}

TZ_FN tz_u32 tz_cut_has_row(const TZ_GLOBAL tz_u8 *entry, const tz_cut_place *place, tz_u64 row)
{
    return !place->is_cut || row % place->height < tz_cut_height(entry);
}

/* Of a shell. */
#define TZ_PLACE_ARGUMENTS                                                                         \
    tz_u64 table, tz_u64 scratch, tz_u64 plain_row, tz_u32 height, tz_u32 is_cut
#define TZ_PLACE_OF_ARGUMENTS(place)                                                               \
    place.table = table, place.scratch = scratch, place.row_bytes = plain_row,                     \
    place.height = height, place.is_cut = is_cut

#endif
