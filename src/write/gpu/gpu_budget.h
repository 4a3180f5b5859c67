/* SPDX-License-Identifier: Apache-2.0
 * What a write holds in the memory of a device: three pieces, all of them there from its first row
 * to its last, and what is where in them. */
#ifndef TZ_WRITE_GPU_GPU_BUDGET_H
#define TZ_WRITE_GPU_GPU_BUDGET_H

#include "base/error.h"
#include "device/ops/extract.h"
#include "write/output_pyramid.h"

/* Rows of the image; rows of overviews, and what makes them; tiles on their way. */
enum { TZ_ALLOCATION_ROWS, TZ_ALLOCATION_LEVELS, TZ_ALLOCATION_TILES, TZ_ALLOCATIONS };

/* Places in the second piece, of one overview. */
typedef struct tz_gpu_level_offsets {
    uint64_t slab;
    uint64_t halo[2]; /* rows of the level before */
    uint64_t reducer;
} tz_gpu_level_offsets;

/* Places in the third piece, for so many tiles. Tables go up in one upload, and results come down
 * in one download; so does what is made: tiles of the mask as they are, which the cores encode, and
 * behind them those of the image. */
typedef struct tz_gpu_tile_layout {
    uint64_t extracts; /* tables: tz_extract_tile each */
    uint64_t entries;
    uint64_t discard; /* tz_write_options.discard_bits */
    uint64_t tables_end;
    uint64_t sizes; /* results: uint32_t each */
    uint64_t offsets;
    uint64_t results;
    uint64_t stats;
    uint64_t results_end;
    uint64_t scratch;
    uint64_t tiles;   /* before they are encoded */
    uint64_t views;   /* after */
    uint64_t masks;   /* what comes down, up to payload */
    uint64_t payload; /* and on */
    uint64_t end;
} tz_gpu_tile_layout;

/* What one tile, or those of a batch, take in each part. Tiles that a library makes as whole
 * pictures come to the host by themselves, where they take the room of the payload: streams. */
typedef struct tz_gpu_part_bytes {
    uint64_t tiles;
    uint64_t views;
    uint64_t masks;
    uint64_t payload;
    uint64_t codestreams;
} tz_gpu_part_bytes;

typedef struct tz_gpu_budget {
    tz_device *device; /* NULL: the cores make the tiles, and nothing else is set */
    uint64_t allowed;
    uint64_t planned;
    uint64_t sizes[TZ_ALLOCATIONS]; /* 0: there is no such piece */
    uint64_t codestreams;           /* what libraries of pictures take beside them */
    uint64_t batch_capacity;        /* of tiles, that a batch has room for; 0: for one tile */
    uint32_t batch_tiles;
    tz_gpu_part_bytes part_bytes;
    tz_gpu_tile_layout layout;
    tz_gpu_level_offsets levels[TZ_MAX_OUTPUT_LEVELS];
} tz_gpu_budget;

/* options->device_buffer_bytes, or the default. */
uint64_t tz_gpu_budget_limit(const tz_write_options *options);
/* The guard before the first allocation. */
tz_result tz_gpu_budget_admit(const tz_gpu_budget *plan, tz_error *err);

/* Of what comes down of a batch, with what encoders may read behind it. */
uint64_t tz_gpu_budget_payload_bytes(const tz_gpu_budget *plan);

/* How tiles of one kind are cut: all but memory and tiles. */
tz_extract_batch tz_gpu_extract_batch(const tz_image *image, uint32_t level, bool is_mask);

/* Whether what comes down is what was cut, all of it: it is then cut to where it comes from. */
static inline bool tz_gpu_downloads_raw(const tz_image *image, bool is_mask)
{
    return is_mask || ((image->encoder->flags & TZ_ENCODER_COPY) && !image->options.sparse);
}

/* Where tile number n of a batch is before it is encoded, when it takes such rooms. */
static inline uint64_t tz_gpu_extract_offset(const tz_gpu_budget *plan,
                                             const tz_gpu_part_bytes *one, uint32_t n)
{
    return plan->layout.tiles + n * one->tiles;
}

/* Before such a tile, so that a leader fits and the tile is aligned. */
enum { TZ_GPU_RAW_LEADER = 16 };

#endif
