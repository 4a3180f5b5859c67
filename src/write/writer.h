/* SPDX-License-Identifier: Apache-2.0
 * A write in progress. Rows are collected in slabs, or stay in the caller's memory; either way they
 * form a tile row, whose tiles become tasks of the pipeline. Any free thread extracts a tile from
 * its tile row and encodes it into a slot, and slots go to the sink in order. Afterwards only the
 * offset and the size of the tile are kept. With overviews, the rows of a tile row also become rows
 * of the next smaller level, which are collected in a slab of that level until they form a tile row
 * of it. */
#ifndef TZ_WRITE_WRITER_H
#define TZ_WRITE_WRITER_H

#include <stdatomic.h>

#include "write/gpu/gpu_maker.h"
#include "write/output_file.h"
#include "write/pipeline.h"
#include "write/tile_encoder.h"
#include "write/tile_maker.h"

/* One task of a batch, by its index in the batch. It sets slot->tile. */
typedef tz_result tz_task_run(tz_writer *writer, const tz_task_batch *batch, uint64_t index,
                              unsigned worker, tz_tile_slot *slot, tz_error *err);

/* Tasks of one kind that were added to the pipeline together. */
struct tz_task_batch {
    tz_task_run *run;
    uint32_t level;            /* of the tiles, or of the rows that are made or kept */
    uint64_t first;            /* number of its first task */
    uint64_t after;            /* all tasks below are delivered before one of these runs */
    tz_tile_row tile_row;      /* rows to encode, or destination of new or kept rows */
    tz_overview_source source; /* of new or kept rows */
    const tz_gpu_tile_batch *collected;
};

/* Rows at the end of a tile row that the next tile row's overview needs again. */
typedef struct tz_halo_rows {
    tz_slab slab;
    uint32_t row;
    uint32_t rows;
} tz_halo_rows;

/* The rows of one level. */
typedef struct tz_writer_level {
    const tz_image *image;
    tz_slab slabs[2];      /* in which rows are collected */
    unsigned slab;         /* that is filled, or will be next */
    uint32_t next_row;     /* expected */
    uint32_t slab_row;     /* first row of the slab that is being filled */
    uint32_t slab_end;     /* row after its last; slab_row == slab_end: none is being filled */
    uint64_t ready_after;  /* tasks below are delivered before rows of the level are read */
    tz_halo_rows halo[2];  /* for the next smaller level, in turn */
    unsigned current_halo; /* with the rows before the next tile row */
} tz_writer_level;

typedef enum tz_writer_state {
    TZ_WRITER_OPEN,
    TZ_WRITER_FAILED,
    TZ_WRITER_COMMITTED
} tz_writer_state;

/* A new batch replaces one whose tasks are all delivered. */
enum { TZ_MAX_TASK_BATCHES = 64, TZ_MAX_DELIVERY = 64 };

struct tz_writer {
    tz_output_pyramid pyramid;
    tz_context ctx; /* err belongs to the current call */
    tz_limits limits;
    tz_warnings warnings;
    tz_log log; /* of the options; calls come only from public calls */
    char *name;
    long owner; /* process */
    tz_writer_state state;
    bool ready; /* budget, workers and pipeline are open */
    tz_budget budget;
    tz_pipeline *pipeline;
    tz_tile_encoder encoder;
    tz_output_file file;
    tz_writer_level *levels;
    uint64_t tasks_added;
    tz_task_batch batches[TZ_MAX_TASK_BATCHES]; /* a ring: batch n at n % TZ_MAX_TASK_BATCHES */
    atomic_ullong batch_count;                  /* other threads see a batch once it is counted */
    atomic_ullong tiles_done;                   /* tiles of the image that are delivered */
    const tz_tile_maker *maker;
    const tz_device_rows *device_rows; /* NULL: options.device is not set */
    tz_gpu_resources gpu;
    tz_write_report *report; /* NULL after tz_commit gave it to the caller */
};

/* The image at full resolution. */
static inline const tz_image *tz_writer_image(const tz_writer *writer)
{
    return &writer->pyramid.levels[0].image;
}

/* A context for threads of the pipeline. They must not report to the error of the current call,
 * which may have ended. */
static inline tz_context tz_writer_context(const tz_writer *writer, tz_error *err)
{
    return (tz_context){.name = writer->name, .limits = &writer->limits, .err = err, .ifd = -1};
}

/* pipeline.c: batches of tasks. The last two are functions of tz_pipeline_ops. */
tz_result tz_writer_add_tasks(tz_writer *writer, tz_task_run *run, const tz_task_batch *batch,
                              uint64_t task_count);
tz_result tz_writer_run_task(void *writer, uint64_t number, unsigned worker, tz_error *err);
uint64_t tz_writer_task_needs(void *writer, uint64_t number);

/* overviews.c: allocates host memory on first use. A device has allocated the slabs of its
 * overviews before the first row. */
tz_result tz_slab_allocate(const tz_writer *writer, tz_slab *slab, uint64_t size);

/* Makes tiles and overviews of complete rows of a level. The rows stay in memory until
 * all tasks that are then in the pipeline are delivered. */
tz_result tz_level_accept_rows(tz_writer *writer, uint32_t level, const tz_tile_row *tile_row);

/* deliver.c: a function of tz_pipeline_ops. */
tz_result tz_tiles_deliver(void *writer, uint64_t first, size_t count, tz_error *err);

/* tile_row.c. tz_check_rows checks the caller's rows and sets their strides; mask may be NULL. */
tz_result tz_check_rows(const tz_writer *writer, tz_pixel_buffer *rows, tz_pixel_buffer *mask);
tz_result tz_writer_push(tz_writer *writer, const tz_pixel_buffer *rows,
                         const tz_pixel_buffer *mask);
tz_result tz_writer_pull(tz_writer *writer, const tz_row_source *source);

#endif
