/* SPDX-License-Identifier: Apache-2.0
 * Tiles encoded by a device: all of a batch in one launch, each into its own view of one slab, with
 * the bytes that the encoder of the same name makes; then moved together, so that one download
 * takes them all.
 *
 * The fast class of Deflate leaves tiles to an ordinary encoder where matches are worth it (see
 * codec/deflate_fast.h). A device decides the same, and such a tile has TZ_ENCODE_LEFT_TO_CPU in
 * its size: its samples are what is moved, and what the cores then encode. */
#ifndef TZ_DEVICE_OPS_ENCODE_H
#define TZ_DEVICE_OPS_ENCODE_H

#include "codec/codec.h"
#include "device/device.h"
#include "device/ops/encode_table_kernels.h"

/* One tile, as kernels read it: places in the slab. */
typedef struct tz_encode_entry {
    uint64_t from;
    uint64_t to; /* room for what the encoder's bound says; a multiple of 8. Without a compression
                    nothing is written there, and it need not be */
    uint32_t size;
    uint32_t capacity;
    uint64_t skip; /* where a uint32_t is: not 0, and the tile is not encoded, its size is 0.
                      TZ_NONE: it always is */
} tz_encode_entry;

/* Of tiles. Sizes of tiles, of what comes out and of the sums of both are of 31 bits, and
 * TZ_ENCODE_LEFT_TO_CPU. */
#define TZ_ENCODE_MAX_TILE_BYTES ((uint32_t)1 << 30)

typedef struct tz_vendor_encode_plan tz_vendor_encode_plan; /* device/ops/vendor_encode.h */

typedef struct tz_encode_batch {
    uint16_t compression;
    uint32_t row_bytes; /* of PackBits: bytes of a row, of which tiles are whole numbers */
    tz_device_memory *slab;
    const tz_encode_entry *tiles; /* on the host, as the table has them */
    uint64_t count;
    uint64_t table; /* multiples of 8 */
    uint64_t sizes; /* a uint32_t each: what came out; 0: skipped */
    /* Not of tz_encode_launch: the library that encodes, and its scratch, at a multiple of 64. A
     * tile then begins at the library's lead in a view of its own, where it may have any room that
     * its samples would have too */
    const tz_vendor_encode_plan *library;
    uint64_t scratch;
} tz_encode_batch;

/* Whether a device encodes such tiles, with these choices, which are checked: no compression,
 * PackBits, and Deflate at TZ_LEVEL_FAST. */
bool tz_device_encodes(const tz_device *device, const tz_tile_format *format,
                       const tz_encode_options *choice);

/* Checks that all lies within the slab and has room enough (TZ_ERR_ARG names the tile), and
 * launches. A count of 0 is nothing to do. */
tz_result tz_encode_launch(const tz_encode_batch *batch, uint32_t queue, tz_error *err);

/* The tiles of a batch one behind the other, from `to` on: each with `before` bytes before it and
 * `after` bytes behind it, which are not written; those of size 0 take no room. Where their own
 * bytes begin, by tile, counted from `to`, goes to places (uint64_t each), and behind these the sum
 * of all. Two launches. */
typedef struct tz_compact_batch {
    const tz_encode_batch *tiles;
    uint64_t to;
    uint64_t capacity; /* there: at least tz_compact_capacity */
    uint64_t offsets;  /* count + 1; a multiple of 8 */
    uint32_t before, after;
} tz_compact_batch;
/* The room of all views, and what comes before and after. */
uint64_t tz_compact_capacity(const tz_compact_batch *batch);
tz_result tz_compact_launch(const tz_compact_batch *batch, uint32_t queue, tz_error *err);

#endif
