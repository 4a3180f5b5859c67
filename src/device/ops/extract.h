/* SPDX-License-Identifier: Apache-2.0
 * From rows of pixels to tiles as a file stores them, on a device: cut out, treated as the user
 * chose, padded, with the predictor's differences, in the file's byte order, packed. Each byte is
 * the one that encode_tile.c would have before it encodes. The number of launches does not depend
 * on the number of tiles. The rows are only read. */
#ifndef TZ_DEVICE_OPS_EXTRACT_H
#define TZ_DEVICE_OPS_EXTRACT_H

#include "device/device.h"
#include "pixel/store.h"

/* One tile, as kernels read it. */
typedef struct tz_extract_tile {
    int64_t from;   /* byte of its first sample in the memory of the rows */
    int64_t valid;  /* the same in the memory of the mask, for tallies; unused without */
    uint64_t to;    /* in the slab: where the tile goes */
    uint32_t width; /* pixels and rows that the image has of it, at least 1 */
    uint32_t height;
    uint32_t plane;   /* which of discard_bits */
    uint32_t checked; /* its pixels are hashed */
} tz_extract_tile;

/* What a device saw in one tile, as kernels write it. */
typedef struct tz_extract_result {
    uint64_t hash;   /* as tz_row_hash, row after row; 0 unless checked */
    uint64_t misfit; /* the first sample that the bits cannot hold, counted row by row of what the
                        image has of the tile: row * width * samples + ...; TZ_NONE */
    uint32_t empty;  /* all samples are nodata (or 0) */
    uint32_t unused;
} tz_extract_result;

typedef struct tz_extract_batch {
    /* rows: strides in bytes */
    tz_device_memory *rows;
    int64_t band_stride, row_stride, column_stride;
    tz_device_memory *mask; /* with tallies only; NULL: none */
    int64_t mask_row_stride, mask_column_stride;
    /* tiles */
    tz_row_format row; /* as stored; row.width is the tile's */
    uint32_t height;   /* of a tile; strips: see crop_height */
    bool crop_height;  /* tiles have no rows below the image's: the last strip */
    bool is_mask;      /* samples become 0 or 1 */
    bool nan_to_nodata;
    bool wants_empty;
    bool wants_stats;            /* level 0 of an image with statistics */
    const uint8_t *discard_bits; /* NULL: none; by band otherwise */
    uint32_t discard_count;
    tz_nodata nodata;
    /* slab */
    tz_device_memory *slab;
    const tz_extract_tile *tiles; /* on the host, as the table has them */
    uint64_t count;
    uint64_t table;   /* multiples of 8 */
    uint64_t results; /* tz_extract_result each */
    uint64_t stats;   /* tz_stats each, row.samples of them a tile; unused without */
    uint64_t scratch; /* tz_extract_scratch_bytes */
    uint64_t discard; /* a copy of discard_bits; unused without */
} tz_extract_batch;

/* Whether a device can do it; else the cores do. */
bool tz_device_extracts(const tz_device *device, const tz_extract_batch *batch);
uint64_t tz_extract_scratch_bytes(const tz_extract_batch *batch);

/* Checks that all lies within memory (TZ_ERR_ARG names the tile), and launches. */
tz_result tz_extract_launch(const tz_extract_batch *batch, uint32_t queue, tz_error *err);

/* Rows from one place to another: what keeps rows for the next swath, and takes rows of the
 * caller's. from and to have the same shape and type, memory of one device, resolved strides, and
 * no byte in common. One launch. */
tz_result tz_copy_rows_launch(const tz_buffer *from, const tz_buffer *to, uint32_t queue,
                              tz_error *err);

#endif
