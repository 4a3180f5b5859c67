/* SPDX-License-Identifier: Apache-2.0
 * From views to a plan: which tiles it takes, which reads, which memory. Nothing is read but tile
 * tables, and nothing is allocated but the plan. */
#ifndef TZ_READ_PLAN_H
#define TZ_READ_PLAN_H

#include "io/spans.h"
#include "read/planned_request.h"

/* A tile, or a part of one, that a target wants. */
typedef struct tz_wanted_tile {
    uint64_t tile;
    tz_tile_span span; /* of the whole tile */
    uint32_t row_range;
    uint32_t layer_id; /* equal group, tile and part: the same data */
    uint32_t request;
    uint16_t result; /* of its entry in the tile table; the outcome's list takes bad ones */
    uint16_t cause;
} tz_wanted_tile;

/* The same tile or part, for all who want it. */
typedef struct tz_tile_read {
    uint32_t first; /* of wanted */
    uint32_t count;
    uint32_t row0, row1;       /* wanted rows of the tile */
    uint32_t column0, column1; /* and pixels of a row */
} tz_tile_read;

/* The part of a plan whose tiles are listed at once. */
typedef struct tz_wave {
    tz_wanted_tile *wanted;
    size_t wanted_count;
    tz_tile_read *tile_reads;
    size_t tile_read_count;
    tz_indexed_range *ranges; /* of the file, one for every unit that has data; index is the unit */
    tz_span *fetches;         /* of pieces: one read each */
    size_t fetch_count;
    uint32_t *empty; /* units without data: sparse or bad */
    size_t empty_count;
} tz_wave;

/* So many units at a time, so that their list stays small. */
#define TZ_WAVE_TILE_READS 16384u

typedef struct tz_gpu_plan tz_gpu_plan;

typedef struct tz_plan {
    tz_context ctx;
    tz_read_options options;
    tz_arena arena;
    tz_planned_request *requests;
    size_t request_count;
    uint64_t tile_read_count; /* of all targets, shared ones as often as they are wanted */
    size_t wave_capacity;     /* units of a wave */
    tz_wave wave;
    bool one_wave;       /* it holds the whole plan already */
    size_t fetch_size;   /* neighbouring tiles are read together up to this size */
    size_t input_size;   /* largest read */
    size_t output_size;  /* largest decoded tile */
    size_t row_size;     /* largest prepared row */
    size_t scratch_size; /* what preparing it takes */
    size_t state_size;   /* codec contexts */
    unsigned threads;
    tz_gpu_plan *device; /* NULL: the cores do it */
    bool needs_bounce;   /* the cores have to do it, and a buffer is out of their reach */
    tz_report report;
    tz_warnings warnings;
    tz_warnings table_warnings; /* of the tile tables; found while waves are measured */
    bool measuring;             /* waves are made again for the read itself */
    tz_report unmeasured;       /* what the report was before tiles were counted */
    uint64_t last_tile;         /* while tiles are counted */
    uint32_t last_layer_id;
} tz_plan;

/* Of these input_size; a device's waves are read to memory of their own. */
size_t tz_plan_input_bytes(const tz_plan *plan);

/* Between and behind the parts of a worker's memory. */
#define TZ_WORKER_SLACK (5 * (TZ_CODEC_SLACK + 64))

/* how is complete (see tz_read_options_take). The plan is to be released also after a failure. */
tz_result tz_plan_make(tz_plan *plan, const tz_read_request *requests, size_t count,
                       const tz_read_options *how, tz_error *err);
void tz_plan_deinit(tz_plan *plan); /* zeroed state is fine */

/* The one guard of memory: fewer threads where it is short, an error where even one has no room. */
tz_result tz_plan_check_memory(tz_plan *plan);

/* Count tiles, reads and memory, by the wave; again after something about the device changed. */
tz_result tz_plan_measure(tz_plan *plan);

/* Are these still the files that were opened? */
tz_result tz_plan_check_unchanged(const tz_plan *plan);

/* Say in the items' outcomes how many tiles there are, and reset their lists. */
tz_result tz_plan_reset_outcomes(const tz_plan *plan);

/* Fill plan->wave with the next units, from position *at on (0 first); none are left when its
 * tile_read_count is 0. */
tz_result tz_wave_next(tz_plan *plan, uint64_t *at);
tz_result tz_wave_init(tz_plan *plan);
void tz_wave_deinit(tz_wave *wave);

/* Bytes that the lists of a wave take for each unit. */
size_t tz_wave_tile_read_bytes(void);

/* Where a unit's data is. */
tz_indexed_range tz_tile_read_range(const tz_plan *plan, const tz_tile_read *tile_read);

/* The first who wants a unit: what its tile is. */
static inline const tz_planned_request *tz_tile_read_request(const tz_plan *plan,
                                                             const tz_tile_read *tile_read)
{
    return &plan->requests[plan->wave.wanted[tile_read->first].request];
}

/* Read bytes of the file that a unit is of. */
tz_result tz_tile_read_from_file(const tz_plan *plan, const tz_tile_read *tile_read,
                                 uint64_t offset, uint64_t size, uint8_t *dst, tz_error *err);

/* Whether all who want a unit have a list for tiles that fail; or those of any unit of a fetch. */
bool tz_tile_read_may_fail(const tz_plan *plan, const tz_tile_read *tile_read);
bool tz_fetch_may_fail(const tz_plan *plan, const tz_span *fetch);

/* Note in the outcomes' lists that a tile could not be had; false when someone who wants it has no
 * such list, or the failure is not the tile's. *is_new: it was not known of another part. */
bool tz_tile_read_mark_failed(const tz_plan *plan, const tz_tile_read *tile_read, tz_result result,
                              tz_cause cause, bool *is_new);

#endif
