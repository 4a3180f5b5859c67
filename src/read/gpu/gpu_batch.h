/* SPDX-License-Identifier: Apache-2.0
 * Which reads of a plan's wave go to a device together, and where in its memory all of it lies. */
#ifndef TZ_READ_GPU_GPU_BATCH_H
#define TZ_READ_GPU_GPU_BATCH_H

#include "device/ops/decode.h"
#include "read/gpu/gpu_direct.h"

enum { TZ_GPU_MAX_CODECS = 8 };

/* Bytes of a device and of pinned memory. */
typedef struct tz_gpu_sizes {
    uint64_t device, pinned;
} tz_gpu_sizes;

/* What a wave takes. */
typedef struct tz_gpu_need {
    uint64_t tile_reads, fetches;
    tz_decode_need decodes[TZ_GPU_MAX_CODECS]; /* tiles by codec */
    uint64_t unpredicts, conversions;          /* entries */
    uint64_t input;                            /* bytes as stored, for the device */
    tz_direct_space direct;                    /* the same that come straight from files */
    uint64_t bounced;                          /* of input: those that could, in other files */
    uint64_t host_input;  /* bytes as stored, for the cores and for libraries */
    uint64_t cpu_rows;    /* rows that the cores decode for the device */
    uint64_t rows;        /* rows that the device decodes */
    uint64_t codestreams; /* tiles for libraries */
    uint64_t streams;     /* bytes of those that are put together */
    uint64_t spare_rows;  /* their rows, should the cores have to decode them */
    uint64_t staged;      /* pixels that go to the host */
} tz_gpu_need;

/* Where it lies in the slab. The first upload bytes go up; of spare, only what is used. The first
 * mirrored bytes are in pinned memory as well, which has room for what does not come straight from
 * files after all; and behind them there what comes down and what the device does not see. */
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
    tz_gpu_sizes size;            /* of it all */
} tz_gpu_layout;
tz_gpu_layout tz_gpu_layout_make(const tz_gpu_plan *gpu, const tz_gpu_need *need);

/* Reads and empty units of the plan's wave, and how many of them are taken already. */
typedef struct tz_gpu_cursor {
    const tz_span *fetches;
    size_t fetch_count, fetch;
    const uint32_t *empty;
    size_t empty_count, empty_at;
    bool by_cpu;        /* all of it is decoded by the cores */
    const uint64_t *at; /* by fetch: offset in pinned memory of bytes that are there already; NULL:
                           all bytes are read */
} tz_gpu_cursor;
tz_gpu_cursor tz_gpu_cursor_of_wave(const tz_plan *plan); /* the whole wave */

/* The next part: as much as the rooms hold, and one read at least. false: nothing is left. */
typedef struct tz_gpu_batch {
    size_t fetch0, fetch1, empty0, empty1;
    tz_gpu_need need;
    tz_gpu_layout layout;
} tz_gpu_batch;
bool tz_gpu_batch_next(const tz_plan *plan, tz_gpu_cursor *cursor, const tz_gpu_sizes *budget,
                       tz_gpu_batch *out);

/* Which way a unit goes, and whether all who want it have buffers of the host: then the device is
 * not asked where the cores have decoded it. */
tz_tile_route tz_gpu_fetch_route(const tz_plan *plan, const tz_span *fetch,
                                 const tz_gpu_cursor *cursor);
bool tz_tile_read_is_for_host(const tz_plan *plan, const tz_tile_read *tile_read);
/* Whether its bytes are not sent to the device. */
bool tz_route_stays_on_host(tz_tile_route route);

/* Bytes of a part of the slab, with what keeps it apart from the next. */
uint64_t tz_gpu_slab_bytes(uint64_t size);

/* ---- the part of a unit that a target wants ---- */

typedef struct tz_gpu_rect {
    const tz_planned_request *request;
    const struct tz_gpu_request *how;
    uint32_t x, y; /* in the tile */
    uint32_t columns, rows;
    int64_t column, row; /* in the buffer */
    uint32_t plane;
} tz_gpu_rect;
/* Of wanted number index of the unit; false: nothing of it. */
bool tz_gpu_rect_make(const tz_plan *plan, const tz_tile_read *tile_read, uint32_t index,
                      tz_gpu_rect *out);

/* Bands that are placed each on its own; whole rows are one. Which of the buffer is number index.
 */
uint32_t tz_gpu_rect_bands(const tz_gpu_rect *rect);
uint32_t tz_gpu_rect_band(const tz_gpu_rect *rect, uint32_t index);
/* Samples of a row that are placed one after the other. */
uint32_t tz_gpu_rect_samples(const tz_gpu_rect *rect);
/* Entries of the table for one band. */
uint64_t tz_gpu_entry_count(uint32_t rows, uint32_t columns);
/* Bytes of its pixels, and of its mask, that go down to the host. */
uint64_t tz_gpu_rect_staged_pixels(const tz_gpu_rect *rect);
uint64_t tz_gpu_rect_staged_mask(const tz_gpu_rect *rect);

#endif
