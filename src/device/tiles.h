/* SPDX-License-Identifier: Apache-2.0
 * Tiles of one shape in a slab of device memory, and what can be done to all of them in one launch.
 * The number of launches does not depend on the number of tiles. */
#ifndef TZ_DEVICE_TILES_H
#define TZ_DEVICE_TILES_H

#include "device/device.h"

/* One tile: where its rows begin in the slab, and the pixel of the raster where its first one goes;
 * negative where the raster begins within the tile. */
typedef struct tz_tile_entry {
    uint64_t offset;
    int64_t x;
    int64_t y;
} tz_tile_entry;

typedef struct tz_tile_batch {
    const tz_tile_entry *tiles; /* on the host: what was uploaded to table */
    uint64_t count;
    tz_device_memory *slab;
    uint64_t table;         /* where in the slab the entries are, as they are in host memory */
    uint32_t width, height; /* pixels of a tile, also of those at the edges */
    uint32_t samples;       /* of a pixel */
    uint32_t sample_bytes;  /* 1, 2, 4 or 8 */
} tz_tile_batch;

/* Pixels that lie as in the tiles, one row behind the other. */
typedef struct tz_device_raster {
    tz_device_memory *memory;
    uint64_t offset;
    uint64_t row_bytes; /* from one row to the next */
    uint32_t width, height;
} tz_device_raster;

/* Whether every tile and the table lie within the slab; TZ_ERR_ARG names the tile. */
tz_result tz_tiles_check(const tz_tile_batch *batch, tz_error *err);

/* Undo predictor 2, in place. swap: samples are in the other byte order before, and are not after.
 */
tz_result tz_tiles_undo_predictor2(const tz_tile_batch *batch, bool swap, uint32_t queue,
                                   tz_error *err);
/* Put the rows where they go; what is outside of the raster is left out. */
tz_result tz_tiles_place(const tz_tile_batch *batch, const tz_device_raster *raster, uint32_t queue,
                         tz_error *err);

#endif
