/* SPDX-License-Identifier: Apache-2.0
 * A write whose tiles a device makes. Rows are collected in device memory. Each batch that the CPU
 * would run as tasks of the pipeline, the device runs in the order of one queue: copy the halo,
 * make the overview, encode. Tiles are encoded in batches, and the results of a batch are
 * downloaded as a whole; then they are tasks of the pipeline like others, with little left to do
 * but delivery.
 *
 * A batch is in flight until the next one begins, or until its memory is needed. In the meantime
 * rows are collected and earlier tiles are written. */
#ifndef TZ_WRITE_GPU_GPU_MAKER_H
#define TZ_WRITE_GPU_GPU_MAKER_H

#include <stdatomic.h>

#include "device/ops/overview.h"
#include "pixel/store.h"
#include "write/budget.h"
#include "write/tile_row.h"

/* Tiles of one batch on the host. The pipeline reads them until they are delivered. */
typedef struct tz_gpu_tile_batch {
    tz_device_memory *memory; /* pinned: results, then payload */
    uint32_t *numbers;        /* by tile of the batch: its number in the batch's tables */
    uint32_t level;
    tz_tile_row tile_row;
    uint64_t first; /* of the tile row's tiles */
    uint32_t images;
    uint32_t masks;      /* after the image's tiles in the tables, and before them in the payload */
    uint64_t mask_bytes; /* of all masks */
    uint64_t busy_until; /* all tasks below are delivered before it is used again */
} tz_gpu_tile_batch;

/* Tiles of a batch that a vendor library encodes as codestreams. */
typedef struct tz_gpu_codestreams {
    tz_codestream *list;
    uint32_t *numbers; /* in the batch's tables */
    uint64_t *sizes;   /* of the codestreams */
} tz_gpu_codestreams;

typedef struct tz_gpu_resources {
    tz_device *device;       /* that makes the tiles; NULL: the CPU does */
    tz_device_counts before; /* of the device when the current call began */
    tz_device_use counted;   /* of earlier calls */
    /* See gpu_budget.h. If the CPU makes the tiles: only the first one, for rows that arrive in
     * device memory. */
    tz_device_memory *allocations[TZ_ALLOCATIONS];
    tz_overview_builder *reducers[TZ_MAX_OUTPUT_LEVELS];
    tz_device_memory *pinned[2];    /* host copies of the image's slabs */
    bool uploading[2];              /* they are being read, since the last sync */
    uint32_t rows_in_place;         /* rows of the slab on the side on which tiles are made */
    tz_device_memory *tables;       /* pinned; uploaded for each batch */
    tz_gpu_tile_batch tiles[2];     /* in turn */
    tz_gpu_codestreams codestreams; /* of a batch; NULL lists: no library makes any */
    unsigned current_batch;
    bool in_flight;      /* tiles[current_batch] is being made */
    uint64_t held_bytes; /* of device memory */
    uint64_t batches;
    atomic_ullong tiles_redone; /* by the CPU */
} tz_gpu_resources;

/* gpu_maker.c: downloads the batch in flight, if any, and adds its tiles to the pipeline. */
tz_result tz_gpu_writer_finish_batch(tz_writer *writer);

/* gpu_rows.c: see tz_device_rows. */
tz_result tz_gpu_fill_begin(tz_writer *writer, const tz_tile_row *slab, bool on_device,
                            uint32_t done, tz_tile_row *into);
void tz_gpu_fill_end(tz_writer *writer, bool on_device, uint32_t done);
tz_result tz_gpu_fill_complete(tz_writer *writer, tz_tile_row *tile_row);
tz_result tz_gpu_copy_rows(tz_writer *writer, const tz_tile_row *from, uint32_t from_row,
                           const tz_tile_row *to, uint32_t to_row, uint32_t rows);

/* gpu_tiles.c: launches the tiles of a tile row from tiles->first on, up to end, as many as a batch
 * holds. *count: their number. */
tz_result tz_gpu_tile_batch_launch(tz_writer *writer, tz_gpu_tile_batch *tiles, uint64_t end,
                                   uint64_t *count);
/* Bytes to download, by the results of the batch, which are on the host. */
tz_result tz_gpu_tile_batch_bytes(const tz_writer *writer, const tz_gpu_tile_batch *tiles,
                                  uint64_t *bytes);
/* A task: fills the slot of one downloaded tile. */
struct tz_task_batch;
struct tz_tile_slot;
tz_result tz_gpu_collect_tile(tz_writer *writer, const struct tz_task_batch *batch, uint64_t index,
                              unsigned worker, struct tz_tile_slot *slot, tz_error *err);

/* gpu_encode_codestreams.c: tiles that a vendor library encodes as JPEG or JPEG 2000, each a
 * codestream in host memory. *missing: the reason if the library cannot encode these. */
bool tz_gpu_codestreams_choose(const tz_device *device, tz_output_level *level, char *missing,
                               size_t missing_size);
tz_result tz_gpu_codestreams_open(tz_writer *writer);
void tz_gpu_codestreams_close(tz_writer *writer);
/* Encodes the extracted tiles of a batch. The codestreams follow the mask's tiles as if they had
 * been downloaded; so do the samples of tiles that the library could not encode, for the CPU. Does
 * nothing for other encodings. */
tz_result tz_gpu_codestreams_encode(tz_writer *writer, const tz_gpu_tile_batch *tiles);

#endif
