/* SPDX-License-Identifier: Apache-2.0
 * A write whose tiles a device makes. Rows gather in its memory; what the cores would do to them in
 * pieces on the belt, it does in the order of one queue: keep, reduce, encode. Tiles are made in
 * batches, each of which comes down as a whole; from then on they are pieces of the belt like any
 * others, which have nothing left to be done but to be delivered.
 *
 * A batch is under way until the next one begins, or somebody needs what it uses: so that rows are
 * gathered and tiles are written while the device works. */
#ifndef TZ_WRITE_GPU_GPU_RESOURCES_H
#define TZ_WRITE_GPU_GPU_RESOURCES_H

#include <stdatomic.h>

#include "device/ops/overview.h"
#include "pixel/store.h"
#include "write/budget.h"
#include "write/tile_row.h"

/* Tiles of one batch, on the host. The belt reads them until it has delivered them. */
typedef struct tz_gpu_tile_batch {
    tz_device_memory *memory; /* pinned: results, then payload */
    uint32_t *numbers;        /* by tile of the batch: which one of the tables it is */
    uint32_t level;
    tz_tile_row tile_row;
    uint64_t first; /* of the swath's tiles */
    uint32_t images;
    uint32_t masks; /* these come behind the image's in the tables, and before in the payload */
    uint64_t mask_bytes; /* of these */
    uint64_t busy_until; /* the belt must have delivered all pieces below, before it is used again
                          */
} tz_gpu_tile_batch;

/* Tiles of a batch that a library makes. */
typedef struct tz_gpu_codestreams {
    tz_codestream *list;
    uint32_t *numbers; /* in the tables */
    uint64_t *sizes;   /* of their streams */
} tz_gpu_codestreams;

typedef struct tz_gpu_resources {
    tz_device_counts before; /* of the device, when its use by the writer began */
    tz_device_use counted;   /* until then */
    tz_device_memory *allocations[TZ_ALLOCATIONS]; /* see gpu_budget.h. Of a write by the cores: the
                                            first one alone, for rows on their way to the host */
    tz_overview_builder *reducers[TZ_MAX_OUTPUT_LEVELS];
    tz_device_memory *pinned[2];    /* slabs of the first level */
    bool uploading[2];              /* they are being read, since the last sync */
    uint32_t rows_in_place;         /* rows of the slab that are where tiles are made of them */
    tz_device_memory *tables;       /* pinned, on their way up */
    tz_gpu_tile_batch tiles[2];     /* in turn */
    tz_gpu_codestreams codestreams; /* of a batch; without: no library makes any */
    unsigned current_batch;
    bool in_flight;      /* tiles[turn] is being made */
    uint64_t held_bytes; /* device memory */
    uint64_t batches;
    atomic_ullong tiles_redone; /* by the cores */
} tz_gpu_resources;

/* gpu_choose.c: whether the device makes the tiles, decided once; else the report says why not,
 * or with strict_device it is an error. */
tz_result tz_gpu_writer_choose(tz_writer *writer);
/* The CPU makes the tiles after all: no row has been taken yet. */
void tz_gpu_writer_abandon(tz_writer *writer, const char *reason);

/* gpu_resources.c */
tz_result tz_gpu_resources_open(tz_writer *writer,
                                bool exposed_to_source); /* to a source of rows */
void tz_gpu_resources_close(tz_writer *writer);
/* What happens on the device between these is the writer's: its calls, but not what a source does
 * within them. */
void tz_gpu_writer_count_begin(tz_writer *writer);
void tz_gpu_writer_count_end(tz_writer *writer);
void tz_gpu_writer_report(tz_writer *writer);
void tz_gpu_writer_report_plan(tz_writer *writer);

/* gpu_rows.c: rows that come. Some of a slab's may be in memory of the device and some of the
 * host's; those that are not where tiles are made of them go there together. */
tz_result tz_gpu_writer_check_rows(const tz_writer *writer, const tz_buffer *rows);
tz_result tz_gpu_writer_acquire_slab(tz_writer *writer);
/* Before rows are put behind the first done ones of the slab; *into is the slab on their side. */
tz_result tz_slab_fill_begin(tz_writer *writer, const tz_tile_row *slab, bool on_device,
                             uint32_t done, tz_tile_row *into);
void tz_slab_fill_end(tz_writer *writer, bool on_device, uint32_t done);
/* The slab is full: *swath becomes that of which tiles are made. */
tz_result tz_slab_fill_complete(tz_writer *writer, tz_tile_row *tile_row);
tz_result tz_gpu_writer_copy_rows(tz_writer *writer, const tz_tile_row *from, uint32_t from_row,
                                  const tz_tile_row *to, uint32_t to_row, uint32_t rows);

/* gpu_queue.c: a batch of work, in the order of the queue. */
struct tz_task_batch;
tz_result tz_gpu_writer_run_tasks(tz_writer *writer, const struct tz_task_batch *batch,
                                  uint64_t task_count);
/* What is under way comes down, and goes on the belt. */
tz_result tz_gpu_writer_finish_batch(tz_writer *writer);

/* gpu_tiles.c: as many tiles of a swath as a batch holds, from first on: launched. *count: how
 * many they are. */
tz_result tz_gpu_tile_batch_launch(tz_writer *writer, tz_gpu_tile_batch *tiles, uint64_t end,
                                   uint64_t *count);

/* gpu_collect.c: a tile that came down. */
struct tz_tile_slot;
tz_result tz_gpu_collect_tile(tz_writer *writer, const struct tz_task_batch *batch, uint64_t index,
                              unsigned worker, struct tz_tile_slot *slot, tz_error *err);
/* Bytes that come down, by the results. */
tz_result tz_gpu_tile_batch_bytes(const tz_writer *writer, const tz_gpu_tile_batch *tiles,
                                  uint64_t *bytes);

/* gpu_encode_codestreams.c: tiles that a library makes as whole pictures, each a stream in memory
 * of the host. *missing: why it makes none of these. */
bool tz_gpu_codestreams_choose(const tz_device *device, tz_output_level *level, char *missing,
                               size_t missing_size);
/* A device will write with what was chosen: no tile relies on tables that others share. */
void tz_gpu_codestreams_unshare_tables(tz_writer *writer);
tz_result tz_gpu_codestreams_open(tz_writer *writer);
void tz_gpu_codestreams_close(tz_writer *writer);
/* What has been cut of a batch is encoded, and lies behind the mask's tiles as if it had come down;
 * with the samples of what could not be encoded, for the cores. Nothing of other batches. */
tz_result tz_gpu_codestreams_encode(tz_writer *writer, const tz_gpu_tile_batch *tiles);

#endif
