/* SPDX-License-Identifier: Apache-2.0
 * From requests to a plan: its tiles, its reads, its memory and its runner. Making a plan reads
 * tile tables and headers of codecs only, and allocates only the plan. */
#ifndef TZ_READ_PLAN_H
#define TZ_READ_PLAN_H

#include "read/wave.h"

typedef struct tz_gpu_plan tz_gpu_plan;
typedef struct tz_workers tz_workers; /* see tile.h */

/* True for a device other than the CPU; NULL is none. */
bool tz_device_is_gpu(const tz_device *device);

typedef enum tz_runner {
    TZ_RUN_CPU,
    TZ_RUN_GPU,
    TZ_RUN_BOUNCED /* the CPU has to, but a buffer is in device memory: see gpu_bounce.c */
} tz_runner;

/* The one that turns the stored bytes of a tile into rows. */
typedef enum tz_tile_route {
    TZ_ROUTE_RAW,         /* nobody: they are rows */
    TZ_ROUTE_DEVICE,      /* a kernel of the device */
    TZ_ROUTE_CODESTREAMS, /* a library of the device, which reads codestreams in host memory */
    TZ_ROUTE_CPU
} tz_tile_route;

typedef struct tz_plan {
    tz_context ctx;
    tz_read_options options;
    tz_arena arena;
    tz_planned_request *requests; /* one of pixels, then that of its mask if another one fills it */
    size_t request_count;
    tz_wave wave;
    size_t fetch_size;   /* neighbouring tiles are read together up to this size */
    size_t input_size;   /* largest fetch */
    size_t output_size;  /* largest decoded tile */
    size_t row_size;     /* largest prepared row */
    size_t scratch_size; /* for preparing it */
    size_t state_size;   /* codec contexts */
    unsigned threads;
    bool fetches_in_caller; /* a source has caller_thread */
    tz_runner runner;
    tz_gpu_plan *gpu;      /* NULL unless runner is TZ_RUN_GPU */
    uint64_t status_bytes; /* of the lists of outcomes that are made for this plan */
    tz_read_summary report;
    tz_read_report unmeasured; /* numbers and device before waves were counted */
    tz_device_use unmeasured_device;
    tz_warnings warnings;
    tz_warnings table_warnings; /* of the tile tables; found while waves are counted */
} tz_plan;

/* how is complete: no default is left to be set. The plan must be released after a failure too. */
tz_result tz_plan_make(tz_plan *plan, const tz_read_request *requests, size_t count,
                       const tz_read_options *how, tz_error *err);
void tz_plan_deinit(tz_plan *plan); /* zeroed state is fine */

/* The one guard of memory: fewer threads if memory is short, an error if one thread is too much. */
tz_result tz_plan_check_memory(tz_plan *plan);

/* Counts tiles, reads and memory of all waves; again after the budget of the GPU changed. */
tz_result tz_plan_measure(tz_plan *plan);

/* Makes plan->wave the one that begins at a position. To run a plan, list the wave at 0 and then
 * at plan->wave.end until that is plan->wave.total. */
tz_result tz_plan_list_wave(tz_plan *plan, uint64_t position);

/* Bytes of a worker's buffer for fetches; 0 with a GPU, whose batches have their own memory. */
size_t tz_plan_input_bytes(const tz_plan *plan);

/* Fetches that the calling thread may have under way or ready for workers, each with a buffer of
 * its own. 0: the worker that decodes a fetch reads it. */
unsigned tz_plan_fetches_ahead(const tz_plan *plan, unsigned threads);

/* Bytes between and after the buffers in a worker's memory. */
#define TZ_WORKER_SLACK (5 * (TZ_CODEC_SLACK + 64))

/* The route of a tile read. Nothing else decides who decodes a tile. */
tz_tile_route tz_tile_read_route(const tz_plan *plan, const tz_tile_read *tile_read);

/* Fails if a file is not the one that was opened any more. */
tz_result tz_plan_check_unchanged(const tz_plan *plan);

/* Allocates the lists of the items' outcomes, with options.salvage. */
tz_result tz_plan_alloc_outcomes(const tz_plan *plan, tz_arena *arena);

/* Sets the number of tiles in the items' outcomes, and resets their lists. */
void tz_plan_reset_outcomes(const tz_plan *plan);

/* ---- running a plan, once for each runner ---- */

tz_result tz_cpu_read(tz_plan *plan);

/* If the device has no memory for the smallest batch, or fails and no buffer is in its memory, the
 * CPU reads all of it, unless options.strict_device forbids that. The runner is TZ_RUN_BOUNCED
 * afterwards if nothing was read because a buffer is in device memory. */
tz_result tz_gpu_read(tz_plan *plan);

/* Requests whose buffers have other pixels than the level: blocks of the level are read into memory
 * and resampled from there. dry: plan only. The report gets the sum of all reads. The lists of
 * outcomes are allocated in the arena. */
tz_result tz_resampled_read(const tz_read_request *requests, size_t count,
                            const tz_read_options *how, bool dry, tz_read_summary *report,
                            tz_arena *arena, tz_error *err);

/* ---- reports ---- */

/* Puts the warnings of the plan and of all workers into the report, in place of those that were
 * there: after a failure, when nobody gets the report, they are for the log. */
void tz_report_collect_warnings(tz_plan *plan, const tz_workers *workers);

/* Counts how tiles were decoded, and collects warnings. by_device: tiles that no worker decoded. */
void tz_report_finish(tz_plan *plan, const tz_workers *workers, uint64_t by_device);

/* Visits all tiles of pixels that failed and whose mask another request fills. Pixels that failed
 * are masked even if mask or alpha says that they are valid. */
typedef void (*tz_failed_tile_fn)(void *user, const tz_planned_request *request,
                                  const tz_planned_request *mask, uint64_t tile);
void tz_plan_visit_failed_tiles(const tz_plan *plan, tz_failed_tile_fn visit, void *user);

#endif
