/* SPDX-License-Identifier: Apache-2.0
 * A lane: memory for one wave of a device, and its queue. begin puts a wave on its way and waits
 * for nothing but the bytes of the files; finish waits for the wave. */
#ifndef TZ_READ_GPU_GPU_SLOT_H
#define TZ_READ_GPU_GPU_SLOT_H

#include <stdatomic.h>

#include "base/pool.h"
#include "read/gpu/gpu_plan.h"
#include "read/tile.h"

typedef enum tz_gpu_tile_state {
    TZ_GPU_TILE_ROWS,    /* its rows are, or will be, in the slab */
    TZ_GPU_TILE_MISSING, /* a constant instead: the file has no such tile, or it failed */
    TZ_GPU_TILE_DONE,    /* the cores have placed it */
    TZ_GPU_TILE_REDO     /* the device could not decode it */
} tz_gpu_tile_state;

#define TZ_GPU_NO_STATUS UINT32_MAX

/* Why a tile that a library could have decoded is the cores'. */
typedef enum tz_gpu_fallback {
    TZ_GPU_FALLBACK_NONE,
    TZ_GPU_FALLBACK_LOSSY,  /* only with tz_read_options.lossy_on_device it is the library's */
    TZ_GPU_FALLBACK_STREAM, /* its stream is none for it */
    TZ_GPU_FALLBACK_FAILED  /* it could not */
} tz_gpu_fallback;

typedef struct tz_gpu_tile_read {
    uint32_t tile_read; /* of the plan's wave */
    uint32_t range;     /* the same; of no meaning for a unit without bytes */
    tz_tile_route route;
    tz_gpu_tile_state state;
    tz_gpu_fallback fallback;
    bool failed;     /* TZ_GPU_TILE_MISSING: masked */
    bool on_host;    /* all who want it have buffers of the host */
    bool is_direct;  /* its bytes may be in the slab only */
    uint32_t status; /* which one the device reports; TZ_GPU_NO_STATUS: none */
    uint64_t bytes;  /* as stored: where in pinned memory, or in the slab */
    uint64_t stream; /* where in pinned memory one is that is put together */
    uint64_t rows;   /* where in the slab */
    uint64_t staged; /* the same of its pixels for the host */
} tz_gpu_tile_read;

typedef struct tz_gpu_fetch {
    tz_span span;
    tz_source *source;
    uint64_t at; /* in pinned memory, or in the slab */
    tz_tile_route route;
    bool is_direct;
    size_t read;  /* which of the lane's it is part of */
    size_t first; /* of the lane's units */
} tz_gpu_fetch;

typedef struct tz_gpu_slot {
    uint32_t queue;
    bool is_taken; /* a wave was begun */
    bool is_busy;  /* something may be under way on the device */
    tz_device_memory *slab, *pinned;
    tz_gpu_batch batch;
    uint64_t upload; /* bytes that go up: the layout's, but no spare ones that are not used */
    tz_gpu_tile_read *tile_reads;
    size_t tile_read_count;
    size_t first_empty; /* units from here on have no bytes */
    tz_gpu_fetch *fetches;
    size_t fetch_count;
    tz_direct_read *reads; /* that go straight to the slab, by their places there */
    size_t read_count;
    void *reading;               /* of the device: they are under way */
    tz_range *ranges;            /* one for each fetch, those of a source together */
    tz_request *source_requests; /* one for each source */
    bool *is_read;               /* by request: all of it has come */
    tz_codestream *codestreams;  /* of units, library after library; NULL: none have any */
    tz_span *redo;               /* reads of units that the CPU has to decode for device memory */
    uint64_t *redo_offsets;      /* the offsets of their bytes in pinned memory */
    size_t redo_count;
    uint64_t redo_first; /* the lowest of these offsets */
    uint64_t *pair_ends; /* by pair of memories: where its places end in the table */
    uint64_t unpredict_count;
    uint32_t decode_counts[TZ_GPU_MAX_CODECS]; /* by codec */
    uint32_t first_status[TZ_GPU_MAX_CODECS];  /* the same */
} tz_gpu_slot;

/* Carrying a plan out. */
typedef struct tz_gpu_run {
    tz_plan *plan;
    tz_gpu_plan *gpu;
    tz_workers workers;
    pthread_mutex_t lock; /* of the outcomes */
    tz_gpu_slot slots[TZ_QUEUES];
    bool has_memory;    /* all of it is allocated */
    tz_device_use use;  /* counted */
    bool direct_is_off; /* nothing goes straight to the device any more */
    _Atomic uint64_t redone;
    uint64_t fallback_count; /* tiles that a library was not given */
} tz_gpu_run;

/* Bytes of the host that a lane of such units and fetches takes beside pinned memory. */
uint64_t tz_gpu_slot_host_bytes(const tz_gpu_plan *gpu);
tz_result tz_gpu_slot_init(tz_gpu_run *run, tz_gpu_slot *slot, uint32_t queue);
void tz_gpu_slot_deinit(tz_gpu_run *run, tz_gpu_slot *slot); /* zeroed state is fine; waits */

/* The reads of a wave: all submitted, then all waited for; what failed is read tile by tile, and
 * tiles that cannot be had are noted. */
tz_result tz_gpu_fetch_all(tz_gpu_run *run, tz_gpu_slot *slot);
/* One of them through memory of the host, after it failed. */
tz_result tz_gpu_fetch_retry(tz_gpu_run *run, tz_gpu_slot *slot, const tz_gpu_fetch *fetch);
/* A unit that could not be had: noted and masked, or an error. */
tz_result tz_gpu_record_failure(tz_gpu_run *run, tz_worker *worker, tz_gpu_tile_read *tile_read,
                                tz_result result, const tz_error *err);

/* A place in pinned memory. */
static inline uint8_t *tz_gpu_slot_pinned(const tz_gpu_slot *slot, uint64_t offset)
{
    return (uint8_t *)slot->pinned->host + offset;
}

/* ---- gpu_direct_slot.c ---- */

/* The slab, ready for reads of files. */
tz_result tz_direct_alloc(tz_gpu_run *run, tz_gpu_slot *slot);
/* A read that goes there: where it is. */
uint64_t tz_gpu_slot_add_direct(tz_gpu_slot *slot, tz_direct_space *space,
                                const tz_direct_file *file, const tz_span *span);
/* All of them are submitted; then all are waited for, and those that failed are read once more,
 * through memory of the host, and sent up. */
tz_result tz_direct_begin(tz_gpu_run *run, tz_gpu_slot *slot);
tz_result tz_direct_end(tz_gpu_run *run, tz_gpu_slot *slot);
/* A part of the slab, to the same place in pinned memory. Waits. */
tz_result tz_direct_download(tz_gpu_run *run, tz_gpu_slot *slot, uint64_t first, uint64_t end);

/* Tables of a wave, in pinned memory. */
void tz_gpu_fill_tables(const tz_gpu_run *run, tz_gpu_slot *slot);
/* Upload, launches, download: what the tables say. */
tz_result tz_gpu_batch_launch(tz_gpu_run *run, tz_gpu_slot *slot);

/* One piece of work for each index, by all workers; an error is the plan's. */
tz_result tz_gpu_run_parallel(tz_gpu_run *run, uint64_t count, tz_pool_job job, void *user);

tz_result tz_gpu_batch_begin(tz_gpu_run *run, tz_gpu_slot *slot, const tz_gpu_cursor *cursor,
                             const tz_gpu_batch *batch);
/* Units that the device could not decode, and that it has to store, are noted in lane->again. Their
 * bytes are then at the end of pinned memory. */
tz_result tz_gpu_batch_finish(tz_gpu_run *run, tz_gpu_slot *slot);

/* What is outside of levels, and pixels that failed, in buffers of the device. All waves are done.
 */
tz_result tz_gpu_fill_untiled(tz_gpu_run *run);

#endif
