/* SPDX-License-Identifier: Apache-2.0
 * A write on its way. Rows gather in slabs, or stay in the caller's memory; either way they are a
 * swath, whose tiles go on the belt. A tile is cut from its swath and encoded into a slot by
 * whatever thread is free, and leaves for the sink in order. Of a tile that has left, only its
 * place and size are kept. Of a file with overviews, the rows of a swath also become rows of the
 * next smaller level, which gather in a slab of that level until they are a swath of it. */
#ifndef TZ_WRITE_WRITER_H
#define TZ_WRITE_WRITER_H

#include <stdatomic.h>

#include "io/sink.h"
#include "pixel/store.h"
#include "write/budget.h"
#include "write/gpu/gpu_resources.h"
#include "write/output_pyramid.h"
#include "write/pipeline.h"
#include "write/tile_row.h"

typedef enum tz_task_kind {
    TZ_TASK_ENCODE,   /* the tiles of a swath, one each */
    TZ_TASK_OVERVIEW, /* rows of a smaller level, some pixels each */
    TZ_TASK_HALO,     /* rows that the next swath's reduction needs as well, in one piece */
    TZ_TASK_COLLECT   /* tiles that a device has made, one each */
} tz_task_kind;

/* Pieces of work of one kind, which went on the belt together. */
typedef struct tz_task_batch {
    tz_task_kind kind;
    uint32_t level;            /* whose tiles are encoded, whose rows are made or kept */
    uint64_t first;            /* number of its first piece */
    uint64_t after;            /* all pieces below are delivered before one of these is made */
    tz_tile_row tile_row;      /* what is encoded; where new or kept rows go */
    tz_overview_source source; /* what these are made of */
    const tz_gpu_tile_batch *collected;
} tz_task_batch;

/* A tile that is made and waits for its turn. In a COG its size stands before its bytes, and the
 * last four of them are repeated behind. */
typedef struct tz_tile_slot {
    uint8_t *own;        /* room: TZ_LEADER bytes before, and TZ_TRAILER behind the largest tile */
    uint8_t *bytes;      /* there, or where a device's tiles are */
    size_t size;         /* 0: sparse */
    bool tile;           /* or another piece of work, which leaves nothing to deliver */
    uint32_t level;      /* of the tile */
    uint64_t tile_index; /* in the tables */
    uint64_t verified_index; /* which of the verified tiles it is; TZ_NONE: none */
    uint64_t hash;           /* of its pixels, then */
    uint32_t band;           /* of its first sample */
    uint32_t bands;          /* tallied; 0 for a mask or an overview */
    tz_stats *stats;
} tz_tile_slot;

/* What one thread works with. */
typedef struct tz_encode_worker {
    uint8_t *memory; /* one block for the parts below */
    uint8_t *tile;
    uint8_t *row;
    uint8_t *scratch;
    uint8_t *valid;            /* a row of the mask, for statistics */
    uint8_t *overview_scratch; /* scratch of tz_overview_make */
    void *states[TZ_ENCODINGS];
} tz_encode_worker;

/* Rows that were in a swath and are needed once more. */
typedef struct tz_halo_rows {
    tz_slab slab;
    uint32_t row;
    uint32_t rows;
} tz_halo_rows;

/* One level on its way. */
typedef struct tz_writer_level {
    const tz_image *image;
    uint64_t *offsets; /* of the image's tiles, then of the mask's: in the file, or before tz_commit
                         where tz_tile_is_spooled says */
    uint32_t *sizes;
    uint64_t *hashes;     /* of tiles that will be verified */
    tz_slab slabs[2];     /* that rows gather in */
    unsigned slab;        /* that is filled, or will be next */
    uint32_t next_row;    /* that has to come */
    uint32_t slab_row;    /* first one in the slab that is being filled */
    uint32_t slab_end;    /* one behind its last; slab_row == slab_end: none is being filled */
    uint64_t ready_after; /* the belt must have delivered all pieces below, before its rows are read
                           */
    tz_halo_rows halo[2]; /* for the next smaller level, in turn */
    unsigned current_halo; /* which of them holds the rows before the swath to come */
} tz_writer_level;

typedef enum tz_writer_state {
    TZ_WRITER_OPEN,
    TZ_WRITER_FAILED,
    TZ_WRITER_COMMITTED
} tz_writer_state;

/* A new batch takes the place of one whose pieces are all delivered. */
enum { TZ_MAX_TASK_BATCHES = 64, TZ_MAX_DELIVERY = 64 };

struct tz_writer {
    tz_output_pyramid pyramid;
    tz_context ctx; /* err is that of the call at hand */
    tz_limits limits;
    tz_warnings warnings;
    char *name;
    tz_sink *sink;
    tz_sink *spool;     /* of tiles whose place in the file is not known yet; NULL: none */
    bool all_spooled;   /* the sink cannot make room in front */
    bool offsets_known; /* all tiles of a COG have their places before they are made */
    long owner;         /* process */
    tz_writer_state state;
    bool ready; /* budget, workers and belt are there */
    tz_budget budget;
    tz_pipeline *pipeline;
    tz_encode_worker *workers;
    tz_tile_slot *slots;
    uint8_t *slot_memory; /* of all of them */
    tz_writer_level *levels;
    uint64_t tasks_added; /* pieces so far */
    tz_task_batch
        batches[TZ_MAX_TASK_BATCHES]; /* the last ones, by number modulo TZ_MAX_TASK_BATCHES */
    atomic_ullong batch_count;        /* a batch is there for other threads once it is counted */
    atomic_ullong tiles_done;         /* of the first level, delivered */
    uint64_t position;                /* behind the last tile in the sink */
    uint64_t spool_position;          /* and in the spool */
    tz_stats *stats;                  /* by band; NULL: not wanted */
    tz_device *device;                /* that makes the tiles; NULL: the cores do */
    tz_gpu_resources gpu;
    tz_write_report report;
};

/* The image itself. */
static inline const tz_image *tz_writer_image(const tz_writer *writer)
{
    return &writer->pyramid.levels[0].image;
}

/* What threads report to: never the error of the call at hand, which may have ended. */
static inline tz_context tz_writer_context(const tz_writer *writer, tz_error *err)
{
    return (tz_context){.name = writer->name, .limits = &writer->limits, .err = err, .ifd = -1};
}

/* worker_memory.c */
tz_row_format tz_writer_row_format(const tz_image *image, bool mask);
size_t tz_tile_slot_bytes(const tz_image *image);       /* beside its tile */
uint64_t tz_encode_worker_bytes(const tz_image *image); /* beside what tz_tile_encoding says */
tz_result tz_workers_open(tz_writer *writer);
void tz_workers_close(tz_writer *writer);

/* writer_tasks.c: what the belt does. */
extern const tz_pipeline_ops tz_writer_pipeline_ops; /* but for tick and user */
tz_result tz_writer_add_tasks(tz_writer *writer, const tz_task_batch *batch, uint64_t task_count);

/* encode_tile.c */
tz_result tz_tile_make(tz_writer *writer, const tz_task_batch *batch, uint64_t index,
                       unsigned worker, tz_tile_slot *slot, tz_error *err);
tz_tile_position tz_tile_position_of(const tz_image *image, const tz_tile_row *tile_row,
                                     uint64_t index);
uint64_t tz_tile_index_of(const tz_image *image, const tz_tile_row *tile_row, uint64_t index);
tz_location tz_tile_location(const tz_image *image, uint32_t level,
                             const tz_tile_position *position);
/* All of a slot but its bytes and what is seen in the pixels. */
void tz_tile_slot_begin(const tz_writer *writer, uint32_t level, const tz_tile_position *position,
                        tz_tile_slot *slot);
/* Encode in, or leave it as it is where that is all: into slot->bytes. */
tz_result tz_tile_encode(const tz_writer *writer, unsigned which, const tz_tile_format *format,
                         unsigned worker, uint8_t *in, tz_tile_slot *slot,
                         const tz_codec_call *call);
/* The tile is there: what has to stand around it. */
tz_result tz_tile_seal(const tz_writer *writer, unsigned which, tz_tile_slot *slot,
                       const tz_codec_call *call);
/* misfit: the sample of the tile, counted row by row, that its bits cannot hold. */
tz_result tz_fail_misfit(const tz_image *image, uint32_t level, const tz_tile_position *position,
                         uint64_t misfit, const tz_context *ctx);

/* overviews.c: rows of a level are complete, and in memory until all pieces are delivered that are
 * now on the belt. */
tz_result tz_level_accept_rows(tz_writer *writer, uint32_t level, const tz_tile_row *tile_row);
uint64_t tz_overview_task_count(const tz_task_batch *batch);
void tz_run_overview_task(tz_writer *writer, const tz_task_batch *batch, uint64_t index,
                          unsigned worker);
void tz_run_halo_task(const tz_task_batch *batch);

/* deliver.c */
tz_result tz_tiles_deliver(void *writer, uint64_t first, size_t count, tz_error *err);
bool tz_tile_is_spooled(const tz_writer *writer, uint32_t level,
                        uint64_t tile_index); /* in the spool */

/* check_rows.c: the caller's rows, checked, with their strides; *valid only where mask is not NULL.
 */
tz_result tz_check_rows(const tz_writer *writer, const tz_buffer *rows, const tz_buffer *mask,
                        tz_buffer *pixels, tz_buffer *valid);

/* tile_row.c */
void tz_slab_buffers(const tz_image *image, const tz_slab *slab, uint32_t rows, uint32_t width,
                     tz_tile_row *tile_row);
void tz_copy_row(const tz_buffer *from, uint64_t from_row, const tz_buffer *to, uint64_t to_row);
tz_result tz_writer_push(tz_writer *writer, const tz_buffer *rows, const tz_buffer *mask);
tz_result tz_writer_pull(tz_writer *writer, const tz_row_source *source);

/* finish.c: directories and header, and what waited goes to its place. */
tz_result tz_writer_finish(tz_writer *writer);
/* The places of tiles whose sizes are all known. */
tz_result tz_writer_assign_offsets(tz_writer *writer);

/* verify.c */
uint64_t tz_verified_count(const tz_image *image);
uint64_t tz_verified_index(const tz_image *image, uint64_t tile); /* TZ_NONE: not verified */
uint64_t tz_row_hash(uint64_t hash, const uint8_t *row, size_t size);
tz_result tz_writer_verify(tz_writer *writer);

#endif
