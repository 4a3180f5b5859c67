/* SPDX-License-Identifier: Apache-2.0
 * A write on its way. Rows gather in slabs, or stay in the caller's memory; either way they are a
 * swath, whose tiles go on the belt. A tile is cut from its swath and encoded into a slot by
 * whatever thread is free, and leaves for the sink in order. Of a tile that has left, only its
 * place and size are kept. */
#ifndef TZ_WRITE_WRITER_H
#define TZ_WRITE_WRITER_H

#include <stdatomic.h>

#include "io/sink.h"
#include "pixel/store.h"
#include "tiff/image.h"
#include "write/belt.h"
#include "write/budget.h"

/* Rows of the image, all of them or some columns of tiles, in memory until their tiles are made. */
typedef struct tz_swath {
    tz_buffer pixels;
    tz_buffer mask;
    uint32_t row; /* first one */
    uint32_t rows;
    uint32_t column; /* first one of tiles */
    uint32_t columns;
    uint64_t first; /* number of its first tile on the belt */
} tz_swath;

/* A tile that is made and waits for its turn. */
typedef struct tz_slot {
    uint8_t *bytes;
    size_t size;      /* 0: sparse */
    uint64_t place;   /* in the tables */
    uint64_t checked; /* which of the verified tiles it is; TZ_NONE: none */
    uint64_t hash;    /* of its pixels, then */
    uint32_t band;    /* of its first sample */
    uint32_t bands;   /* tallied; 0 for a mask */
    tz_tally *tallies;
} tz_slot;

/* What one thread works with. */
typedef struct tz_encode_worker {
    uint8_t *memory; /* one block for the parts below */
    uint8_t *tile;
    uint8_t *row;
    uint8_t *scratch;
    uint8_t *valid; /* a row of the mask, for statistics */
    void *states[2];
} tz_encode_worker;

/* Memory that rows gather in. */
typedef struct tz_slab {
    uint8_t *memory;
    uint64_t
        busy_until; /* the belt must have delivered all tiles below, before it is filled again */
} tz_slab;

typedef enum tz_writer_state {
    TZ_WRITER_OPEN,
    TZ_WRITER_FAILED,
    TZ_WRITER_COMMITTED
} tz_writer_state;

/* At most two swaths are on the belt at a time, so that a new one takes the place of an old one
 * that nobody looks at any more. */
enum { TZ_SWATHS = 4, TZ_LARGEST_DELIVERY = 64 };

struct tz_writer {
    tz_image image;
    tz_context ctx; /* err is that of the call at hand */
    tz_limits limits;
    tz_warnings warnings;
    char *name;
    tz_sink *sink;
    long owner; /* process */
    tz_writer_state state;
    bool ready; /* budget, workers and belt are there */
    tz_budget budget;
    tz_belt *belt;
    tz_encode_worker *workers;
    tz_slot *slots;
    tz_slab slabs[2];
    unsigned slab;     /* that is filled, or will be next */
    uint32_t next_row; /* that has to come */
    uint32_t slab_row; /* first one in the slab that is being filled */
    uint32_t slab_end; /* one behind its last; slab_row == slab_end: none is being filled */
    uint64_t on_belt;  /* tiles so far */
    tz_swath swaths[TZ_SWATHS]; /* the last ones, by number modulo TZ_SWATHS */
    atomic_ullong swath_count;  /* a swath is there for other threads once it is counted */
    uint64_t position;          /* behind the last tile in the file */
    uint64_t *offsets;          /* of the image's tiles, then of the mask's */
    uint32_t *sizes;
    uint64_t *hashes;  /* of tiles that will be verified */
    tz_tally *tallies; /* by band; NULL: not wanted */
    tz_write_report report;
};

/* Tiles of one place: one for each plane, and the mask's. */
static inline uint32_t tz_tile_kinds(const tz_image *image)
{
    return image->planes + (image->spec.mask ? 1 : 0);
}

/* The image's tiles and its mask's. */
static inline uint64_t tz_all_tiles(const tz_image *image)
{
    return (uint64_t)image->tiles_across * image->tiles_down * tz_tile_kinds(image);
}

/* What threads report to: never the error of the call at hand, which may have ended. */
static inline tz_context tz_writer_context(const tz_writer *writer, tz_error *err)
{
    return (tz_context){.name = writer->name, .limits = &writer->limits, .err = err, .ifd = -1};
}

/* worker_memory.c */
tz_row_format tz_writer_row_format(const tz_image *image, bool mask);
size_t tz_slot_bytes(const tz_image *image);            /* beside its tile */
uint64_t tz_encode_worker_bytes(const tz_image *image); /* beside what tz_tile_way says */
tz_result tz_workers_open(tz_writer *writer);
void tz_workers_close(tz_writer *writer);

/* encode_tile.c */
tz_result tz_tile_make(void *writer, uint64_t number, unsigned worker, tz_error *err);

/* deliver.c */
tz_result tz_tiles_deliver(void *writer, uint64_t first, size_t count, tz_error *err);

/* swath.c */
tz_result tz_writer_push(tz_writer *writer, const tz_buffer *rows, const tz_buffer *mask);
tz_result tz_writer_pull(tz_writer *writer, const tz_row_source *source);

/* finish.c: directories and header. */
tz_result tz_writer_finish(tz_writer *writer);

/* verify.c */
uint64_t tz_verified_count(const tz_image *image);
uint64_t tz_verified_index(const tz_image *image, uint64_t tile); /* TZ_NONE: not verified */
uint64_t tz_row_hash(uint64_t hash, const uint8_t *row, size_t size);
tz_result tz_writer_verify(tz_writer *writer);

#endif
