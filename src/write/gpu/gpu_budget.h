/* SPDX-License-Identifier: Apache-2.0
 * The device memory of a write: three allocations, held from its first row to its last, and the
 * offsets in them. */
#ifndef TZ_WRITE_GPU_GPU_BUDGET_H
#define TZ_WRITE_GPU_GPU_BUDGET_H

#include "base/error.h"
#include "device/ops/extract.h"
#include "write/output_pyramid.h"

/* Rows of the image; rows of overviews, with the tables that make them; tiles of a batch. */
enum { TZ_ALLOCATION_ROWS, TZ_ALLOCATION_LEVELS, TZ_ALLOCATION_TILES, TZ_ALLOCATIONS };

/* Offsets in the second allocation, for one overview. */
typedef struct tz_gpu_level_offsets {
    uint64_t slab;
    uint64_t halo[2]; /* of the level before */
    uint64_t reducer;
} tz_gpu_level_offsets;

/* Offsets in the third allocation, for a batch of tiles. The tables are uploaded in one call, and
 * the results downloaded in one. So is the payload: tiles of the mask as samples, which the CPU
 * encodes, then tiles of the image. */
typedef struct tz_gpu_tile_layout {
    uint64_t extracts; /* tables begin: tz_extract_tile each */
    uint64_t entries;  /* tz_encode_entry each */
    uint64_t discard;  /* tz_write_options.discard_bits */
    uint64_t tables_end;
    uint64_t sizes;   /* results begin: uint32_t each */
    uint64_t offsets; /* uint64_t each */
    uint64_t results; /* tz_extract_result each */
    uint64_t stats;
    uint64_t results_end;
    uint64_t scratch;
    uint64_t tiles; /* before they are encoded */
    uint64_t views; /* encoded, each at a fixed distance */
    uint64_t masks; /* end at payload, so that both are downloaded in one call */
    uint64_t payload;
    uint64_t end;
} tz_gpu_tile_layout;

/* Bytes in each part of the layout, of one tile or of a batch. Codestreams are not in device
 * memory: the library writes them to the host, where they take the space of the payload. */
typedef struct tz_gpu_part_bytes {
    uint64_t tiles;
    uint64_t views;
    uint64_t masks;
    uint64_t payload;
    uint64_t codestreams;
} tz_gpu_part_bytes;

typedef struct tz_gpu_budget {
    tz_device *device; /* NULL: the CPU makes the tiles, and nothing else is set */
    uint64_t allowed;
    uint64_t planned;
    uint64_t sizes[TZ_ALLOCATIONS]; /* 0: no such allocation */
    uint64_t codestreams;           /* bytes that codestream libraries allocate themselves */
    uint64_t batch_capacity;        /* tile positions in a batch; 0: a single tile */
    uint32_t batch_tiles;
    tz_gpu_part_bytes part_bytes;
    tz_gpu_tile_layout layout;
    tz_gpu_level_offsets levels[TZ_MAX_OUTPUT_LEVELS];
} tz_gpu_budget;

/* options->max_device_bytes, or the default. */
uint64_t tz_gpu_budget_limit(const tz_write_options *options);
/* Fails if the device cannot hold the plan; called before the first allocation. */
tz_result tz_gpu_budget_admit(const tz_gpu_budget *plan, tz_error *err);

/* Bytes of the payload on the host, with the slack that encoders may read after it. */
uint64_t tz_gpu_budget_payload_bytes(const tz_gpu_budget *plan);

/* Describes the extraction of tiles of one kind, without memory and tiles. */
tz_extract_batch tz_gpu_extract_batch(const tz_image *image, uint32_t level, bool is_mask);

/* Returns whether all tiles of the image are downloaded as they were extracted. They are then
 * extracted to the payload. */
static inline bool tz_gpu_downloads_raw(const tz_image *image)
{
    return (image->encoder->flags & TZ_ENCODER_COPY) && !image->options.sparse;
}

/* Offset of the n-th tile of a batch before it is encoded. */
static inline uint64_t tz_gpu_extract_offset(const tz_gpu_budget *plan,
                                             const tz_gpu_part_bytes *one, uint32_t n)
{
    return plan->layout.tiles + n * one->tiles;
}

/* Bytes before a tile in the payload that is not encoded: space for a leader, and alignment. */
enum { TZ_GPU_RAW_LEADER = 16 };

#endif
