/* SPDX-License-Identifier: Apache-2.0
 * Tiles encoded by a library of the vendor's that takes batches of chunks (device/driver.h). Its
 * arrays are made by a kernel, and another puts the frames of files around what it made, so that
 * the number of calls does not depend on that of tiles. The bytes are the library's own: readers
 * make the same pixels of them.
 *
 * What it fails with, and what would be larger than its room, is left to the cores: such a tile has
 * TZ_ENCODE_LEFT_TO_CPU in its size. */
#ifndef TZ_DEVICE_OPS_VENDOR_ENCODE_H
#define TZ_DEVICE_OPS_VENDOR_ENCODE_H

#include "device/ops/encode.h"

/* A library for tiles of one kind. */
struct tz_vendor_encode_plan {
    tz_vendor_encoder encoder; /* without a name: none */
    uint16_t compression;
    int32_t level;
    uint32_t max_tile; /* bytes of a tile, at most */
    uint32_t lead;     /* what it makes has a view; where in it the tile begins, with its frame */
    uint64_t view;     /* bytes of a view, which begins at a multiple of TZ_ENCODE_VIEW_ALIGN */
};
#define TZ_ENCODE_VIEW_ALIGN 16u

/* The library for such tiles. False, and why, where there is none; a compression that libraries do
 * not have has no reason. Devices that are cores have no libraries. */
bool tz_vendor_encode_find(const tz_device *device, const tz_tile_format *format,
                           const tz_encode_options *choice, tz_vendor_encode_plan *out,
                           char *reason, size_t reason_size);

/* Scratch for a batch of so many tiles. */
uint64_t tz_vendor_encode_scratch(const tz_vendor_encode_plan *library, uint64_t count);

/* What a launch came to. */
typedef struct tz_vendor_encode_report {
    char library[32]; /* that was given the tiles; empty: none */
    char reason[160]; /* why it was not: all tiles are left to the cores */
} tz_vendor_encode_report;

/* tz_encode_launch of a batch with a library, and its scratch. */
tz_result tz_vendor_encode_launch(const tz_encode_batch *batch, uint32_t queue,
                                  tz_vendor_encode_report *done, tz_error *err);

#endif
