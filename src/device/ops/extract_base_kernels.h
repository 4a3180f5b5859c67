/* SPDX-License-Identifier: Apache-2.0
 * The table of tiles that are extracted, as kernels read it, and the location of their rows. */
#ifndef TZ_DEVICE_OPS_EXTRACT_BASE_KERNELS_H
#define TZ_DEVICE_OPS_EXTRACT_BASE_KERNELS_H

#include "kernels/kernel.h"

/* tz_extract_tile, by bytes: three words of 64 bits, then four of 32 */
#define TZ_EXTRACT_TILE_BYTES 40u
#define TZ_EXTRACT_FROM       0u
#define TZ_EXTRACT_VALID      8u
#define TZ_EXTRACT_TO         16u
#define TZ_EXTRACT_WIDTH      24u
#define TZ_EXTRACT_HEIGHT     28u
#define TZ_EXTRACT_PLANE      32u
#define TZ_EXTRACT_CHECKED    36u

/* The location of rows of samples, before they are stored. */
typedef struct tz_extract_layout {
    tz_u64 table;
    tz_u64 scratch;    /* ~0: the rows lie in the tile itself */
    tz_u64 row_bytes;  /* of samples */
    tz_u32 height;     /* rows of a whole tile */
    tz_u32 is_cropped; /* the last strip has no rows below the image */
} tz_extract_layout;

/* The offset of a row of samples; rows of all tiles are numbered through. */
TZ_FN tz_u64 tz_extract_row_offset(const TZ_GLOBAL tz_u8 *entry, const tz_extract_layout *layout,
                                   tz_u64 row)
{
    return layout->scratch == ~(tz_u64)0
               ? tz_load_u64(entry + TZ_EXTRACT_TO) + row % layout->height * layout->row_bytes
               : layout->scratch + row * layout->row_bytes;
}

/* False for the rows of a cropped strip that it does not have. */
TZ_FN tz_u32 tz_extract_has_row(const TZ_GLOBAL tz_u8 *entry, const tz_extract_layout *layout,
                                tz_u64 row)
{
    return !layout->is_cropped || row % layout->height < tz_load_u32(entry + TZ_EXTRACT_HEIGHT);
}

/* The arguments that all kernels have, and their layout. Kernels take numbers, since a struct would
 * need the same padding in every compiler. */
#define TZ_EXTRACT_LAYOUT_ARGUMENTS                                                                \
    tz_u64 table, tz_u64 scratch, tz_u64 plain_row, tz_u32 height, tz_u32 is_cropped
#define TZ_EXTRACT_LAYOUT_OF_ARGUMENTS(layout)                                                     \
    layout.table = table, layout.scratch = scratch, layout.row_bytes = plain_row,                  \
    layout.height = height, layout.is_cropped = is_cropped

#endif
