/* SPDX-License-Identifier: Apache-2.0
 * The layout of a Cloud Optimized GeoTIFF, as GDAL's driver writes it: header, a text that
 * describes the layout ("ghost area"), directories, tile tables, then the tiles of all levels, the
 * smallest level first. Each tile has its size before it (leader), and its last four bytes again
 * after it (trailer). Everything follows from the sizes of the tiles. */
#ifndef TZ_WRITE_COG_LAYOUT_H
#define TZ_WRITE_COG_LAYOUT_H

#include "tiff/image/ifd_emit.h"
#include "write/output_file.h"

/* The first tile of the image is at a multiple of TZ_COG_ALIGNMENT, so that a file system can
 * insert everything before it without moving the rest. */
enum { TZ_COG_ALIGNMENT = 4096, TZ_COG_MAX_GHOST_SIZE = 512, TZ_LEADER = 4, TZ_TRAILER = 4 };

typedef struct tz_cog_layout {
    uint64_t start;    /* offset of the first directory, after header and ghost area */
    uint64_t overview; /* of the leader of the smallest overview's first tile */
    uint64_t image;    /* of the leader of the image's first tile */
    uint64_t size;     /* of the file */
} tz_cog_layout;

/* Writes the ghost area to out, and returns its size. */
size_t tz_cog_ghost(const tz_image *image, char out[TZ_COG_MAX_GHOST_SIZE]);

/* Bytes of a tile with leader and trailer; 0: sparse. */
static inline uint64_t tz_cog_tile_bytes(uint32_t size)
{
    return size > 0 ? (uint64_t)TZ_LEADER + size + TZ_TRAILER : 0;
}

/* Writes the leader before, and the trailer after the size bytes at tile. */
void tz_cog_frame(uint8_t *tile, size_t size);

/* Index in the tables of the n-th tile of a level in the order of the file. The tables have the
 * tiles of the image, band by band, then those of its mask. */
uint64_t tz_cog_nth_tile(const tz_image *image, uint64_t n);

/* Bytes of all tiles of a level, with leaders and trailers. */
uint64_t tz_cog_level_bytes(const tz_image *image, const uint32_t *sizes);

/* levels: tables with the sizes of all tiles. directories: bytes of directories and tables. */
tz_cog_layout tz_cog_layout_make(const tz_output_pyramid *pyramid, const tz_tile_tables *levels,
                                 bool bigtiff, uint64_t directories);

/* Offsets of the tiles of a level whose first leader is at start; 0 for sparse tiles. */
void tz_cog_assign_offsets(const tz_image *image, const uint32_t *sizes, uint64_t start,
                           uint64_t *offsets);

#endif
