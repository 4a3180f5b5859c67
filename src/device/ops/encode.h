/* SPDX-License-Identifier: Apache-2.0
 * Tiles encoded by a device: all tiles of a batch in one launch, each into its own view of one
 * slab, with the bytes that the CPU's encoder makes; then moved together, so that one download
 * takes them all.
 *
 * The fast level of Deflate leaves a tile to an ordinary encoder if matches are worth it (see
 * codec/deflate_fast.h). A device makes the same choice. Such a tile has TZ_ENCODE_LEFT_TO_CPU in
 * its size; its samples are moved, and the CPU encodes them. */
#ifndef TZ_DEVICE_OPS_ENCODE_H
#define TZ_DEVICE_OPS_ENCODE_H

#include "codec/codec.h"
#include "device/device.h"
#include "device/ops/encode_table_kernels.h"

/* One tile, as kernels read it: offsets in the slab. */
typedef struct tz_encode_entry {
    uint64_t from;     /* samples */
    uint64_t to;       /* the view, a multiple of 8; unused without a compression */
    uint32_t size;     /* bytes of the samples */
    uint32_t capacity; /* bytes of the view: at least the encoder's bound */
    /* Offset of a uint32_t. If it is not 0, the tile is not encoded and its size becomes 0.
     * TZ_NO_VALUE: the tile is always encoded. */
    uint64_t skip;
} tz_encode_entry;

/* The largest tile. Sizes of encoded tiles have 31 bits, next to TZ_ENCODE_LEFT_TO_CPU. */
#define TZ_ENCODE_MAX_TILE_BYTES ((uint32_t)1 << 30)

typedef struct tz_vendor_encode_plan tz_vendor_encode_plan; /* device/ops/vendor_encode.h */

typedef struct tz_encode_batch {
    uint16_t compression;
    uint32_t row_bytes; /* PackBits encodes row by row; tiles are whole rows */
    tz_device_memory *slab;
    const tz_encode_entry *tiles; /* on the host, as the table has them */
    uint64_t count;
    uint64_t table; /* offset of the entries, a multiple of 8 */
    uint64_t sizes; /* offset of a uint32_t for each encoded size (0: skipped), a multiple of 8 */
    /* For tz_vendor_encode_launch: the library that encodes, and the offset of its scratch, a
     * multiple of 64. An encoded tile then begins library->lead bytes into its view, and its
     * capacity may be anything from the size of its samples on. */
    const tz_vendor_encode_plan *library;
    uint64_t scratch;
} tz_encode_batch;

/* True if the device encodes such tiles with these options, which are valid: no compression,
 * PackBits, and Deflate at TZ_EFFORT_FAST. */
bool tz_device_encodes(const tz_device *device, const tz_tile_format *format,
                       const tz_encode_options *choice);

/* Checks that all offsets lie within the slab and all views are large enough: TZ_ERR_ARG names the
 * tile. */
tz_result tz_encode_check(const tz_encode_batch *batch, tz_error *err);

/* Checks the batch, and launches. A count of 0 launches nothing. */
tz_result tz_encode_launch(const tz_encode_batch *batch, uint32_t queue, tz_error *err);

/* Moves the tiles of a batch together, from `to` on, one after the other. `before` and `after`
 * bytes around each tile are left free; a tile of size 0 takes no bytes at all. The offset of each
 * tile, counted from `to`, goes to `offsets` (a uint64_t each), followed by the sum of all. Takes
 * two launches. */
typedef struct tz_compact_batch {
    const tz_encode_batch *tiles;
    uint64_t to;
    uint64_t capacity; /* bytes at `to`: at least tz_compact_capacity */
    uint64_t offsets;  /* count + 1 of them; a multiple of 8 */
    uint32_t before, after;
} tz_compact_batch;
/* The sum of all views with the free bytes around each tile. */
uint64_t tz_compact_capacity(const tz_compact_batch *batch);
tz_result tz_compact_launch(const tz_compact_batch *batch, uint32_t queue, tz_error *err);

#endif
