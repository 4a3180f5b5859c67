/* SPDX-License-Identifier: Apache-2.0
 * Encodes single tiles of tile rows. The writer has one encoder, whose workers are the threads of
 * its pipeline; a block of a distributed COG has an encoder of its own. */
#ifndef TZ_WRITE_TILE_ENCODER_H
#define TZ_WRITE_TILE_ENCODER_H

#include "pixel/store.h"
#include "write/budget.h"
#include "write/tile_row.h"

/* An encoded tile that waits for its turn. In a COG the tile's size stands before its bytes, and
 * its last four bytes are repeated after them. */
typedef struct tz_tile_slot {
    uint8_t *own;   /* TZ_LEADER bytes before it and TZ_TRAILER after the largest tile are free */
    uint8_t *bytes; /* the encoded tile: own, or in the memory of a device's batch */
    size_t size;    /* 0: sparse */
    bool tile;      /* false: the task was not a tile, and there is nothing to deliver */
    uint32_t level;
    uint64_t tile_index;     /* in the tables */
    uint64_t verified_index; /* among the verified tiles; TZ_NO_VALUE: not verified */
    uint64_t hash;           /* of the pixels of a verified tile */
    uint32_t band;           /* of its first sample */
    uint32_t bands;          /* with statistics; 0 for a mask or an overview */
    tz_stats *stats;
} tz_tile_slot;

/* Buffers and encoder states of one thread. */
typedef struct tz_encode_worker {
    uint8_t *memory; /* one allocation for the buffers below */
    uint8_t *tile;
    uint8_t *row;
    uint8_t *scratch;
    uint8_t *valid;            /* a row of the mask, for statistics */
    uint8_t *overview_scratch; /* of tz_overview_make */
    void *states[TZ_ENCODINGS];
} tz_encode_worker;

/* The pointers belong to its owner, and their targets must not change while it is open. */
typedef struct tz_tile_encoder {
    const tz_output_pyramid *pyramid;
    const tz_budget *budget; /* with the numbers of workers and slots */
    const tz_limits *limits;
    const char *name; /* for messages; may be NULL */
    bool wants_statistics;
    tz_encode_worker *workers;
    tz_tile_slot *slots;
    uint8_t *slot_memory; /* of all slots */
} tz_tile_encoder;

/* Allocates workers and slots: all memory that encoding takes. Released by tz_tile_encoder_close,
 * also after a failure. */
tz_result tz_tile_encoder_open(tz_tile_encoder *encoder, const tz_context *ctx);
void tz_tile_encoder_close(tz_tile_encoder *encoder);   /* zeroed state is fine */
size_t tz_tile_slot_bytes(const tz_image *image);       /* without its tile */
uint64_t tz_encode_worker_bytes(const tz_image *image); /* without the bytes of tz_tile_encoding */

tz_row_format tz_tile_row_format(const tz_image *image, bool mask);

/* Position of a tile, by its index in the order in which the tiles of a tile row are made. */
tz_tile_position tz_tile_position_of(const tz_image *image, const tz_tile_row *tile_row,
                                     uint64_t index);
tz_location tz_tile_location(const tz_image *image, uint32_t level,
                             const tz_tile_position *position);

/* Extracts and encodes one tile. Safe in several threads, if each has its own worker and slot. */
tz_result tz_tile_make(const tz_tile_encoder *encoder, uint32_t level, const tz_tile_row *tile_row,
                       uint64_t index, unsigned worker, tz_tile_slot *slot, tz_error *err);

/* The steps of tz_tile_make, for tiles that a device has extracted or encoded. The first one fills
 * in the slot, except its bytes and the members that depend on the pixels. */
void tz_tile_slot_begin(const tz_tile_encoder *encoder, uint32_t level,
                        const tz_tile_position *position, tz_tile_slot *slot);
/* Encodes in to slot->own; slot->bytes becomes in itself if the encoder only copies. */
tz_result tz_tile_encode(const tz_tile_encoder *encoder, unsigned which,
                         const tz_tile_format *format, unsigned worker, uint8_t *in,
                         tz_tile_slot *slot, const tz_codec_call *call);
/* Checks the size of an encoded tile, and adds leader and trailer in a COG. */
tz_result tz_tile_seal(const tz_tile_encoder *encoder, unsigned which, tz_tile_slot *slot,
                       const tz_codec_call *call);
/* misfit: the sample of the tile, counted row by row, that the file's bits cannot hold. */
tz_result tz_fail_misfit(const tz_image *image, uint32_t level, const tz_tile_position *position,
                         uint64_t misfit, const tz_context *ctx);

#endif
