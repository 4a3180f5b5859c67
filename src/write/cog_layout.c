/* SPDX-License-Identifier: Apache-2.0
 * The ghost area, the order of tiles, and the offsets of a COG. Readers that know the ghost area
 * take the size of a tile from its leader instead of the table of sizes, so everything here must
 * match its text. */
#include "write/cog_layout.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { CLASSIC_HEADER = 8, BIG_HEADER = 16 };

/* ---- the ghost area ---- */

/* The space after NO is for YES, which a program that edits the file in place has to write. */
size_t tz_cog_ghost(const tz_image *image, char out[TZ_COG_MAX_GHOST_SIZE])
{
    char items[TZ_COG_MAX_GHOST_SIZE / 2];
    const bool mask_beside = image->spec.mask && image->planes == 1;
    const char *interleave = image->planes == 1     ? ""
                             : tz_is_by_band(image) ? "INTERLEAVE=BAND\n"
                                                    : "INTERLEAVE=TILE\n";
    const int size = snprintf(items, sizeof items,
                              "LAYOUT=IFDS_BEFORE_DATA\n"
                              "BLOCK_ORDER=ROW_MAJOR\n"
                              "BLOCK_LEADER=SIZE_AS_UINT4\n"
                              "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\n"
                              "%s"
                              "KNOWN_INCOMPATIBLE_EDITION=NO\n %s",
                              interleave, mask_beside ? "MASK_INTERLEAVED_WITH_IMAGERY=YES\n" : "");
    const int whole = snprintf(out, TZ_COG_MAX_GHOST_SIZE,
                               "GDAL_STRUCTURAL_METADATA_SIZE=%06d bytes\n%s", size, items);
    return (size_t)whole;
}

/* ---- tiles ---- */

/* The trailer of a tile of less than four bytes is filled up with zeros, as GDAL does. */
void tz_cog_frame(uint8_t *tile, size_t size)
{
    const uint32_t count = (uint32_t)size;
    uint8_t last[TZ_TRAILER] = {0};
    for (unsigned i = 0; i < TZ_LEADER; i++)
        tile[(int)i - TZ_LEADER] = (uint8_t)(count >> 8 * i);
    if (size >= TZ_TRAILER)
        memcpy(last, tile + size - TZ_TRAILER, TZ_TRAILER);
    else
        memcpy(last, tile, size);
    memcpy(tile + size, last, TZ_TRAILER);
}

uint64_t tz_cog_nth_tile(const tz_image *image, uint64_t n)
{
    const uint64_t in_plane = (uint64_t)image->tiles_across * image->tiles_down;
    const uint64_t kinds = tz_tile_kinds(image);
    if (tz_is_by_band(image))
        return n;
    return n % kinds * in_plane + n / kinds; /* a mask's tile comes after the image's */
}

uint64_t tz_cog_level_bytes(const tz_image *image, const uint32_t *sizes)
{
    const uint64_t tiles = tz_all_tiles(image);
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < tiles; i++)
        bytes = tz_add_capped(bytes, tz_cog_tile_bytes(sizes[i]));
    return bytes;
}

void tz_cog_assign_offsets(const tz_image *image, const uint32_t *sizes, uint64_t start,
                           uint64_t *offsets)
{
    const uint64_t tiles = tz_all_tiles(image);
    for (uint64_t n = 0; n < tiles; n++) {
        const uint64_t i = tz_cog_nth_tile(image, n);
        offsets[i] = sizes[i] > 0 ? start + TZ_LEADER : 0;
        start += tz_cog_tile_bytes(sizes[i]);
    }
}

/* ---- the file ---- */

/* Sums are capped: a file that is too large for 64 bits is reported as too large, not
 * wrapped. */
tz_cog_layout tz_cog_layout_make(const tz_output_pyramid *pyramid, const tz_tile_tables *levels,
                                 bool bigtiff, uint64_t directories)
{
    const tz_image *image = &pyramid->levels[0].image;
    char ghost[TZ_COG_MAX_GHOST_SIZE];
    tz_cog_layout layout = {.start = (bigtiff ? BIG_HEADER : CLASSIC_HEADER) +
                                     tz_cog_ghost(image, ghost)};
    layout.start += layout.start % 2;
    layout.overview = tz_add_capped(layout.start, directories);
    uint64_t end = layout.overview;
    for (uint32_t i = 1; i < pyramid->count; i++)
        end = tz_add_capped(end, tz_cog_level_bytes(&pyramid->levels[i].image, levels[i].sizes));
    const uint64_t bytes = tz_cog_level_bytes(image, levels[0].sizes);
    const uint64_t up = tz_mul_capped(tz_ceil_div(end, TZ_COG_ALIGNMENT), TZ_COG_ALIGNMENT);
    layout.image = bytes > 0 ? up : end; /* nothing is aligned without tiles */
    layout.size = tz_add_capped(layout.image, bytes);
    return layout;
}
