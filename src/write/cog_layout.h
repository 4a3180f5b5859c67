/* SPDX-License-Identifier: Apache-2.0
 * The layout of a Cloud Optimized GeoTIFF, as GDAL's driver writes it: header, a text that says how
 * the file is laid out ("ghost area"), directories, tile tables, then the tiles of all levels, the
 * smallest level first, each tile with its size before it and its last four bytes again behind it.
 * Everything follows from the sizes of the tiles. */
#ifndef TZ_WRITE_COG_LAYOUT_H
#define TZ_WRITE_COG_LAYOUT_H

#include "tiff/image/ifd_emit.h"
#include "write/output_pyramid.h"

/* Before the first tile of the image itself is room up to a multiple of this, so that file systems
 * can insert all before it without moving the rest. */
enum { TZ_COG_ALIGNMENT = 4096, TZ_COG_MAX_GHOST_SIZE = 512, TZ_LEADER = 4, TZ_TRAILER = 4 };

typedef struct tz_cog_layout {
    uint64_t start;    /* the first directory */
    uint64_t overview; /* what stands before the first tile of the smallest overview */
    uint64_t image;    /* and of the image */
    uint64_t size;     /* the file */
} tz_cog_layout;

/* The ghost area; returns its size. */
size_t tz_cog_ghost(const tz_image *image, char out[TZ_COG_MAX_GHOST_SIZE]);

/* Where it begins, and the first directory behind it. */
uint64_t tz_cog_start(const tz_image *image, bool bigtiff);

/* Bytes of a tile with what stands around it; 0 for a sparse one. */
static inline uint64_t tz_cog_tile_bytes(uint32_t size)
{
    return size > 0 ? (uint64_t)TZ_LEADER + size + TZ_TRAILER : 0;
}

/* Fill in what stands around the size bytes at tile. */
void tz_cog_frame(uint8_t *tile, size_t size);

/* The order of tiles in the file: which place in the tables (those of the image, band by band,
 * then those of its mask) the tile number n of a level has. */
uint64_t tz_cog_nth_tile(const tz_image *image, uint64_t n);

/* Bytes of all tiles of a level. */
uint64_t tz_cog_level_bytes(const tz_image *image, const uint32_t *sizes);

/* The whole, by sizes of all levels' tiles; directories: bytes of directories and tables. */
tz_cog_layout tz_cog_layout_make(const tz_output_pyramid *pyramid, const uint32_t *const *sizes,
                                 bool bigtiff, uint64_t directories);

/* Where the tiles of a level stand when its first one's leader is at start; 0 for sparse ones. */
void tz_cog_assign_offsets(const tz_image *image, const uint32_t *sizes, uint64_t start,
                           uint64_t *offsets);

#endif
