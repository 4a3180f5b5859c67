/* SPDX-License-Identifier: Apache-2.0
 * What a write may hold in memory, divided: everything that is allocated for pixels follows from
 * this. And how the input is cut into swaths, which follows from it too. */
#ifndef TZ_WRITE_BUDGET_H
#define TZ_WRITE_BUDGET_H

#include "tiff/image.h"

/* How tiles of one kind, the image's or the mask's, are made. */
typedef struct tz_tile_way {
    const tz_encoder *encoder;
    const tz_encode_choice *choice;
    tz_tile_format format;
    struct {
        size_t tile;    /* a tile before it is encoded; 0: it is made where it is delivered from */
        size_t row;     /* a row before it is packed; 0: it is packed in place */
        size_t scratch; /* what storing a row takes */
        size_t bound;   /* a tile after it is encoded, at most */
    } bytes;
} tz_tile_way;

typedef struct tz_budget {
    tz_tile_way way[2]; /* of the image, and of its mask */
    uint64_t allowed;   /* options.buffer_bytes, or what it takes at least */
    uint64_t planned;   /* what is held at most */
    uint64_t fixed;     /* of that, whatever the threads: tables, directories */
    uint64_t worker;    /* and for each thread */
    size_t slot;        /* bytes of an encoded tile with what is known of it */
    size_t pixel;       /* bytes of one pixel of all bands, and of its mask */
    unsigned threads;
    uint32_t slots;
    uint32_t slabs;      /* 1, or 2: one is filled while the other is encoded */
    uint32_t slab_rows;  /* a multiple of the tile height, or the image's height */
    uint32_t columns;    /* of tiles that a slab is wide */
    uint32_t chunk_rows; /* the source's own; 0: none */
} tz_budget;

/* source NULL: rows are pushed. TZ_ERR_LIMIT or NOMEM only for sizes that no memory has. */
tz_result tz_budget_make(tz_budget *out, const tz_image *image, const tz_row_source *source,
                         const tz_context *ctx);

/* The one place where input is cut: the row behind the last one of the swath that begins at row.
 * Whole rows of tiles, as many as a slab holds, and rather up to where a chunk of the source ends,
 * so that no chunk is asked for twice. */
uint32_t tz_swath_end(const tz_budget *budget, const tz_image *image, uint32_t row);

/* Bytes of a slab. */
uint64_t tz_slab_bytes(const tz_budget *budget, const tz_image *image);

#endif
