/* SPDX-License-Identifier: Apache-2.0
 * From rows of pixels to tiles as a file stores them, on a device: extracted, treated as the user
 * chose, padded, with the predictor's differences, in the file's byte order, packed. The bytes are
 * those that a write on the CPU passes to its encoder. The number of launches does not depend on
 * the number of tiles. The rows are only read. */
#ifndef TZ_DEVICE_OPS_EXTRACT_H
#define TZ_DEVICE_OPS_EXTRACT_H

#include "device/device.h"
#include "pixel/store.h"

/* One tile, as kernels read it. */
typedef struct tz_extract_tile {
    int64_t from;  /* byte of its first sample in the memory of the rows */
    int64_t valid; /* the same in the memory of the mask; used with statistics only */
    uint64_t to;   /* offset of the tile in the slab */
    /* Valid pixels and rows, at least 1 of each; fewer than the tile's at the image's edge. */
    uint32_t width, height;
    uint32_t plane;   /* index of its first band in discard_bits */
    uint32_t checked; /* not 0: its pixels are hashed */
} tz_extract_tile;

/* The result of inspecting one tile, as kernels write it. */
typedef struct tz_extract_result {
    uint64_t hash; /* as tz_row_hash, row after row; 0 unless checked */
    /* Index of the first sample that does not fit into the bits, among the valid samples of the
     * tile (row * width * samples + ...); TZ_NO_VALUE: all fit. */
    uint64_t misfit;
    uint32_t empty; /* not 0: all samples are nodata (or 0) */
    uint32_t unused;
} tz_extract_result;

typedef struct tz_extract_batch {
    /* rows: strides in bytes */
    tz_device_memory *rows;
    int64_t band_stride, row_stride, column_stride;
    tz_device_memory *mask; /* used with statistics only; NULL: none */
    int64_t mask_row_stride, mask_column_stride;
    /* tiles */
    tz_row_format row; /* as stored; row.width is the tile's */
    uint32_t height;   /* of a tile or strip */
    bool crop_height;  /* strips: the last one has no rows below the image */
    bool is_mask;      /* samples become 0 or 1 */
    bool nan_to_nodata;
    bool wants_empty;            /* look for empty tiles */
    bool wants_stats;            /* add up statistics of each tile and band */
    const uint8_t *discard_bits; /* by band; NULL: none */
    uint32_t discard_count;
    tz_nodata nodata;
    /* slab */
    tz_device_memory *slab;
    const tz_extract_tile *tiles; /* on the host, as the table has them */
    uint64_t count;
    /* offsets in the slab; the first three are multiples of 8 */
    uint64_t table;   /* a copy of tiles */
    uint64_t results; /* a tz_extract_result for each tile */
    uint64_t stats;   /* row.samples tz_stats for each tile; unused without statistics */
    uint64_t scratch; /* tz_extract_scratch_bytes */
    uint64_t discard; /* a copy of discard_bits; unused without */
} tz_extract_batch;

/* True if the device can extract such tiles; if not, the CPU has to. */
bool tz_device_extracts(const tz_device *device, const tz_extract_batch *batch);
/* Bytes of scratch for a batch; 0 if its rows are stored in place. */
uint64_t tz_extract_scratch_bytes(const tz_extract_batch *batch);

/* Checks that all offsets lie within memory (TZ_ERR_ARG names the tile), and launches. */
tz_result tz_extract_launch(const tz_extract_batch *batch, uint32_t queue, tz_error *err);

/* Copies rows within a device, in one launch: halo rows that the next tile row needs, or rows of
 * the caller. Both buffers have the same shape and type, memory of one device, resolved strides,
 * and no byte in common. */
tz_result tz_copy_rows_launch(const tz_pixel_buffer *from, const tz_pixel_buffer *to,
                              uint32_t queue, tz_error *err);

#endif
