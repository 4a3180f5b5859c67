/* SPDX-License-Identifier: Apache-2.0
 * Tiles encoded by a library of the vendor that takes batches of chunks (device/driver.h). The
 * encoded bytes are the library's own and differ from those of the CPU; readers decode the same
 * pixels.
 *
 * A tile that the library fails to encode, or that becomes larger than its view, is left to the
 * CPU: it has TZ_ENCODE_LEFT_TO_CPU in its size. */
#ifndef TZ_DEVICE_OPS_VENDOR_ENCODE_H
#define TZ_DEVICE_OPS_VENDOR_ENCODE_H

#include "device/ops/encode.h"

/* A library for tiles of one kind. */
struct tz_vendor_encode_plan {
    tz_vendor_encoder encoder; /* without a name: none */
    uint16_t compression;
    int32_t level;
    uint32_t max_tile; /* bytes of the largest tile */
    uint32_t lead;     /* bytes of the view before the encoded tile */
    uint64_t view;     /* bytes of a view, which begins at a multiple of TZ_ENCODE_VIEW_ALIGN */
};
#define TZ_ENCODE_VIEW_ALIGN 16u

/* Finds the library for such tiles. False if there is none; *reason then says why, but is empty for
 * a compression that no library has. CPU devices have no libraries. */
bool tz_vendor_encode_find(const tz_device *device, const tz_tile_format *format,
                           const tz_encode_options *choice, tz_vendor_encode_plan *out,
                           char *reason, size_t reason_size);

/* Bytes of scratch for a batch of count tiles. */
uint64_t tz_vendor_encode_scratch(const tz_vendor_encode_plan *library, uint64_t count);

/* The outcome of a launch. */
typedef struct tz_vendor_encode_report {
    char library[32]; /* the library that got the tiles; empty: none */
    char reason[160]; /* why it refused them; all tiles are left to the CPU then */
} tz_vendor_encode_report;

/* tz_encode_launch for a batch with a library and its scratch. */
tz_result tz_vendor_encode_launch(const tz_encode_batch *batch, uint32_t queue,
                                  tz_vendor_encode_report *done, tz_error *err);

#endif
