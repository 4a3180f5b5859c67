/* SPDX-License-Identifier: Apache-2.0
 * Batches of a wave on a GPU. A batch is the fetches of a wave that go to the device together; its
 * layout is the offsets of all its data in one slab of device memory; a slot is the memory and the
 * queue of a batch in flight. Data of a batch:
 *
 *   host memory                   pinned memory               slab (device memory)
 *   wave: fetches, tile reads ->  tables, stored bytes   -->  the same offsets      upload
 *                                                             rows, pixels          kernels
 *   buffers                   <-  statuses, pixels       <--  statuses, pixels      download
 */
#ifndef TZ_READ_GPU_GPU_BATCH_H
#define TZ_READ_GPU_GPU_BATCH_H

#include <stdatomic.h>

#include "base/pool.h"
#include "read/gpu/gpu_plan.h"
#include "read/tile.h"

/* ---- reads straight into device memory ---- */

/* Offsets and sizes of such reads are whole pages of a disk; others take a detour within the
 * device. */
enum { TZ_DIRECT_PAGE = 4096 };

/* Spans in memory, one after the other, and the reads that fetch them: neighbours that share pages
 * are one read. */
typedef struct tz_direct_space {
    const tz_direct_file *file; /* of the last read */
    uint64_t offset, end;       /* of it, in the file */
    uint64_t at;                /* of it, in memory */
    uint64_t bytes;             /* of memory, of all reads */
    uint64_t reads;
    uint64_t read_bytes; /* that they bring: files end somewhere */
} tz_direct_space;

/* ---- batches ---- */

/* The memory and table entries that a batch takes. */
typedef struct tz_gpu_need {
    uint64_t tile_reads, fetches;
    tz_decode_need decodes[TZ_GPU_MAX_CODECS]; /* tiles by codec */
    uint64_t unpredicts, conversions;          /* entries */
    uint64_t input;                            /* stored bytes, for the device */
    tz_direct_space direct;                    /* stored bytes that the device reads itself */
    uint64_t bounced;     /* of input: those the device could read, were their fetches larger */
    uint64_t host_input;  /* stored bytes, for the CPU and for libraries */
    uint64_t cpu_rows;    /* rows that the CPU decodes for the device */
    uint64_t rows;        /* rows that the device decodes */
    uint64_t codestreams; /* tiles for libraries */
    uint64_t streams;     /* bytes of codestreams that are put together */
    uint64_t spare_rows;  /* rows of these tiles, should the CPU have to decode them */
    uint64_t staged;      /* pixels that are downloaded */
} tz_gpu_need;

/* Offsets in the slab. The first upload bytes are uploaded; of spare_rows, only those that are
 * used. The first mirrored bytes are at the same offsets in pinned memory, also the direct ones: a
 * read that fails goes through the host. After them, pinned memory holds the downloaded bytes and
 * the data that the device does not see. */
typedef struct tz_gpu_layout {
    uint64_t formats, constants;
    uint64_t decodes[TZ_GPU_MAX_CODECS];
    uint64_t unpredicts, conversions, input, cpu_rows, spare_rows;
    uint64_t upload;
    uint64_t direct;
    uint64_t mirrored;
    uint64_t statuses, staged;
    uint64_t download; /* bytes from statuses on */
    uint64_t rows;
    uint64_t scratch[TZ_GPU_MAX_CODECS];
    uint64_t host_input, streams; /* in pinned memory */
    tz_gpu_sizes size;
} tz_gpu_layout;
tz_gpu_layout tz_gpu_layout_make(const tz_gpu_plan *gpu, const tz_gpu_need *need);

/* Fetches and empty tile reads of the wave, and how many of them are in batches already. */
typedef struct tz_gpu_cursor {
    const tz_span *fetches;
    size_t fetch_count, fetch;
    const uint32_t *empty;
    size_t empty_count, empty_at;
    bool by_cpu; /* the CPU decodes all of it */
    /* by fetch: offset in pinned memory of bytes that are there already; NULL: all are read */
    const uint64_t *at;
} tz_gpu_cursor;
tz_gpu_cursor tz_gpu_cursor_of_wave(const tz_plan *plan); /* the whole wave */

typedef struct tz_gpu_batch {
    size_t fetch0, fetch1, empty0, empty1;
    tz_gpu_need need;
    tz_gpu_layout layout;
} tz_gpu_batch;

/* Forms the next batch: as much as fits the budget, and one fetch at least. False: none is left. */
bool tz_gpu_batch_next(const tz_plan *plan, tz_gpu_cursor *cursor, const tz_gpu_sizes *budget,
                       tz_gpu_batch *out);

/* True if all buffers of a tile read are in host memory. If the CPU has decoded it, the device has
 * nothing to do with it then. */
bool tz_tile_read_is_for_host(const tz_plan *plan, const tz_tile_read *tile_read);

/* Bytes of data in the slab, with the slack after it. */
uint64_t tz_gpu_slab_bytes(uint64_t size);

/* ---- the part of a tile read that one request wants ---- */

typedef struct tz_gpu_rect {
    const tz_planned_request *request;
    const tz_gpu_request *how;
    uint32_t x, y; /* in the tile */
    uint32_t columns, rows;
    int64_t column, row; /* in the buffer */
    uint32_t plane;
    uint32_t bands;   /* that are converted one by one; whole rows are one */
    uint32_t samples; /* of a row, converted one after the other */
    /* bytes of its pixels, and of its mask, that are downloaded; 0: none */
    uint64_t staged_pixels, staged_mask;
} tz_gpu_rect;

/* For request number index of the tile read; false: it wants nothing of it. */
bool tz_gpu_rect_make(const tz_plan *plan, const tz_tile_read *tile_read, uint32_t index,
                      tz_gpu_rect *out);
/* The band of the buffer that number index of rect->bands is. */
uint32_t tz_gpu_rect_band(const tz_gpu_rect *rect, uint32_t index);
/* Entries of the table of conversions. */
uint64_t tz_gpu_rect_entries(const tz_gpu_rect *rect);

/* ---- slots ---- */

typedef enum tz_gpu_tile_state {
    TZ_GPU_TILE_ROWS,    /* its rows are, or will be, in the slab */
    TZ_GPU_TILE_MISSING, /* a constant instead: the file has no such tile, or it failed */
    TZ_GPU_TILE_DONE,    /* the CPU has stored its pixels */
    TZ_GPU_TILE_REDO     /* the device could not decode it */
} tz_gpu_tile_state;

/* Why the CPU decodes a tile that a library could have. */
typedef enum tz_gpu_fallback {
    TZ_GPU_FALLBACK_NONE,
    TZ_GPU_FALLBACK_LOSSY,  /* the library may with tz_read_options.allow_inexact only */
    TZ_GPU_FALLBACK_STREAM, /* the library does not decode such a codestream */
    TZ_GPU_FALLBACK_FAILED  /* the library could not decode it */
} tz_gpu_fallback;

#define TZ_GPU_NO_STATUS UINT32_MAX

typedef struct tz_gpu_tile_read {
    uint32_t tile_read;  /* of the wave */
    uint32_t range;      /* of the wave; not set for a tile read without bytes */
    tz_tile_route route; /* that of its fetch; changed only if a library is not used after all */
    tz_gpu_tile_state state;
    tz_gpu_fallback fallback;
    bool failed;     /* TZ_GPU_TILE_MISSING: masked */
    bool on_host;    /* all its buffers are in host memory */
    bool is_direct;  /* its bytes may be in the slab only */
    uint32_t status; /* index among the device's; TZ_GPU_NO_STATUS: none */
    uint64_t bytes;  /* offset of the stored ones, in pinned memory or in the slab */
    uint64_t stream; /* offset in pinned memory of a codestream that is put together */
    uint64_t rows;   /* offset in the slab */
    uint64_t staged; /* offset in the slab, of its pixels for the host */
} tz_gpu_tile_read;

typedef struct tz_gpu_fetch {
    tz_span span;
    tz_source *source;
    uint64_t at; /* offset in pinned memory, or in the slab */
    tz_tile_route route;
    bool is_direct;
    size_t read;  /* is_direct: index in the slot's reads */
    size_t first; /* of the slot's tile reads */
} tz_gpu_fetch;

typedef struct tz_gpu_slot {
    uint32_t queue;
    bool is_taken; /* a batch was begun */
    bool is_busy;  /* something may be in flight on the device */
    tz_device_memory *slab, *pinned;
    tz_gpu_batch batch;
    uint64_t upload; /* bytes: the layout's without spare rows that are not used */
    tz_gpu_tile_read *tile_reads;
    size_t tile_read_count;
    size_t first_empty; /* tile reads from here on have no bytes */
    tz_gpu_fetch *fetches;
    size_t fetch_count;
    tz_direct_read *reads; /* straight to the slab, by their offsets there */
    size_t read_count;
    void *reading;               /* of the device, while they are in flight */
    tz_range *ranges;            /* one for each fetch, those of a source together */
    tz_request *source_requests; /* one for each source */
    bool *is_read;               /* by source request: all of it has come */
    tz_codestream *codestreams;  /* of tile reads, library after library; NULL: no library */
    tz_span *redo;               /* fetches of tiles that the CPU decodes for device memory */
    uint64_t *redo_offsets;      /* of their bytes in pinned memory */
    size_t redo_count;
    uint64_t redo_first; /* the lowest of these offsets */
    uint64_t *pair_ends; /* by memory pair: end of its conversions in the table */
    uint64_t unpredict_count;
    uint32_t decode_counts[TZ_GPU_MAX_CODECS]; /* by codec */
    uint32_t first_status[TZ_GPU_MAX_CODECS];  /* by codec */
} tz_gpu_slot;

/* One run of a plan. */
typedef struct tz_gpu_run {
    tz_plan *plan;
    tz_gpu_plan *gpu;
    tz_workers workers;
    pthread_mutex_t lock; /* of the outcomes */
    tz_gpu_slot slots[TZ_QUEUES];
    bool has_memory;    /* all of it is allocated */
    tz_device_use use;  /* counted */
    bool direct_is_off; /* nothing more is read straight into device memory */
    _Atomic uint64_t redone;
    uint64_t fallback_count; /* tiles that a library was not given */
} tz_gpu_run;

/* Bytes of host memory that a slot takes beside pinned memory. */
uint64_t tz_gpu_slot_host_bytes(const tz_gpu_plan *gpu);
tz_result tz_gpu_slot_init(tz_gpu_run *run, tz_gpu_slot *slot, uint32_t queue);
void tz_gpu_slot_deinit(tz_gpu_run *run, tz_gpu_slot *slot); /* zeroed state is fine; waits */

/* Assigns the offsets of all tile reads and fetches of a batch, in its slot. */
void tz_gpu_batch_lay_out(const tz_plan *plan, tz_gpu_slot *slot, const tz_gpu_cursor *cursor);

static inline uint8_t *tz_gpu_slot_pinned(const tz_gpu_slot *slot, uint64_t offset)
{
    return (uint8_t *)slot->pinned->host + offset;
}

/* The tile read of the wave. */
static inline const tz_tile_read *tz_gpu_planned_tile_read(const tz_plan *plan,
                                                           const tz_gpu_tile_read *tile_read)
{
    return &plan->wave.tile_reads[tile_read->tile_read];
}

/* True if the stored bytes of such tiles are not sent to the device. */
static inline bool tz_route_stays_on_host(tz_tile_route route)
{
    return route == TZ_ROUTE_CODESTREAMS || route == TZ_ROUTE_CPU;
}

/* The GPU's part of request number index that wants a tile read. */
static inline const tz_gpu_request *tz_gpu_request_of(const tz_plan *plan,
                                                      const tz_tile_read *tile_read, uint32_t index)
{
    return &plan->gpu->requests[tz_tile_read_wanted(&plan->wave, tile_read, index)->request];
}

/* ---- gpu_fetch.c ---- */

/* Opens the files of the requests for reads by the device. Why one cannot be opened is in the
 * report; it is read by the host. */
tz_result tz_direct_open(tz_plan *plan);
void tz_direct_close(tz_gpu_plan *gpu);

/* The file that the device reads a fetch of this route from itself; NULL: the host reads it. */
const tz_direct_file *tz_direct_file_of(const tz_plan *plan, const tz_span *fetch,
                                        tz_tile_route route);

/* Adds a span. Returns the offset of its first byte in the space. */
uint64_t tz_direct_space_add(tz_direct_space *space, const tz_direct_file *file,
                             const tz_span *span);

/* Allocates the slab so that the device can read files into it. */
tz_result tz_direct_alloc(tz_gpu_run *run, tz_gpu_slot *slot);
/* Submits all reads of the device; then waits for all, reads those that failed through host memory,
 * and uploads them. */
tz_result tz_direct_begin(tz_gpu_run *run, tz_gpu_slot *slot);
tz_result tz_direct_end(tz_gpu_run *run, tz_gpu_slot *slot);

/* Submits all other fetches of a batch, then waits for all. Those that failed are read tile by
 * tile, and tiles that cannot be read are recorded. */
tz_result tz_gpu_fetch_all(tz_gpu_run *run, tz_gpu_slot *slot);

/* ---- gpu_codestreams.c ---- */

/* True if a library decodes the tiles of the request; *library is its index in gpu->libraries. Why
 * none does, though one could, is in gpu->library_reason. */
bool tz_gpu_codestreams_accept(tz_plan *plan, const tz_planned_request *request, uint32_t *library);

/* Takes the memory of the libraries from the device's budget. If that is too much, the CPU decodes
 * their tiles. */
tz_result tz_gpu_codestreams_reserve(tz_plan *plan);

/* Bytes of the codestream that is put together for a tile read; 0: none. */
uint64_t tz_gpu_codestream_bytes(const tz_plan *plan, const tz_tile_read *tile_read);

/* Gives the codestreams of a batch to their libraries, which run while the CPU works, and leaves
 * the others to the CPU. All bytes of the batch have been read. */
tz_result tz_gpu_decode_codestreams(tz_gpu_run *run, tz_gpu_slot *slot);

/* ---- gpu_launch.c ---- */

/* Writes the tables of the kernels to pinned memory. */
void tz_gpu_fill_tables(const tz_gpu_run *run, tz_gpu_slot *slot);
/* Queues the upload, the launches that the tables describe, and the download. */
tz_result tz_gpu_batch_launch(tz_gpu_run *run, tz_gpu_slot *slot);

/* ---- gpu_run.c ---- */

/* Records a tile that failed, and masks it; or the error of the read. */
tz_result tz_gpu_record_failure(tz_gpu_run *run, tz_worker *worker, tz_gpu_tile_read *tile_read,
                                tz_result result, const tz_error *err);

#endif
