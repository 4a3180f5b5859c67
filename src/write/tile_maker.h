/* SPDX-License-Identifier: Apache-2.0
 * The device of a write as a strategy. Two questions are independent and have a table each: who
 * makes the tiles (tz_tile_maker), and where rows may be (tz_device_rows). A device that is given
 * but does not make the tiles may still hold the caller's rows. Without options.device a write runs
 * through nothing of write/gpu/. */
#ifndef TZ_WRITE_TILE_MAKER_H
#define TZ_WRITE_TILE_MAKER_H

#include "write/tile_row.h"

typedef struct tz_task_batch tz_task_batch;

/* Makes overviews and tiles of the rows of a level. The functions start work and return; the order
 * of calls is the order in which a batch may rely on the results of earlier ones. */
typedef struct tz_tile_maker {
    bool on_device; /* rows must be in device memory when tiles are made of them */
    /* Waits until the next slab of the image may be filled. */
    tz_result (*acquire_slab)(tz_writer *writer);
    /* Keeps rows of a level that the next tile row's overview needs as well. */
    tz_result (*copy_halo)(tz_writer *writer, const tz_task_batch *batch);
    /* Makes rows of a smaller level. */
    tz_result (*make_overview)(tz_writer *writer, const tz_task_batch *batch);
    /* Makes the tiles of a tile row. */
    tz_result (*encode)(tz_writer *writer, const tz_task_batch *batch, uint64_t tiles);
    /* Adds all tiles in flight to the pipeline; NULL: none ever are. */
    tz_result (*finish)(tz_writer *writer);
} tz_tile_maker;

extern const tz_tile_maker tz_cpu_maker; /* cpu_maker.c */
extern const tz_tile_maker tz_gpu_maker; /* gpu/gpu_maker.c */

/* Everything else that a write does because options.device is set. */
typedef struct tz_device_rows {
    /* Around every call on the writer, but not around calls of a source: only operations of the
     * writer are counted in its report. */
    void (*count_begin)(tz_writer *writer);
    void (*count_end)(tz_writer *writer);
    /* Divides memory, as tz_budget_make does, and opens the memory of the device unless dry. May
     * decide that the CPU makes the tiles. */
    tz_result (*plan)(tz_writer *writer, const tz_row_source *source, bool dry);
    /* A slab has a host and a device copy of one layout. Before rows are added after the first
     * done ones: *into is the copy on the side that they come from. */
    tz_result (*fill_begin)(tz_writer *writer, const tz_tile_row *slab, bool on_device,
                            uint32_t done, tz_tile_row *into);
    void (*fill_end)(tz_writer *writer, bool on_device, uint32_t done);
    /* The slab is full: all rows go to the side on which tiles are made, and *tile_row becomes the
     * copy there. */
    tz_result (*fill_complete)(tz_writer *writer, tz_tile_row *tile_row);
    /* Copies rows within device memory. */
    tz_result (*copy)(tz_writer *writer, const tz_tile_row *from, uint32_t from_row,
                      const tz_tile_row *to, uint32_t to_row, uint32_t rows);
    void (*report)(tz_writer *writer);
    void (*report_plan)(tz_writer *writer);
    void (*close)(tz_writer *writer);
} tz_device_rows;

/* Sets writer->device_rows, and writer->maker if the device makes the tiles; otherwise the report
 * says why not, or it is an error with strict_device. For writers with options.device. */
tz_result tz_gpu_writer_choose(tz_writer *writer);

#endif
