/* SPDX-License-Identifier: Apache-2.0
 * Tiles decoded by a device: all tiles of a batch in one launch, or by a library of the vendor and
 * a few launches around it. The pixels and the statuses (kernels/status.h) are the same either way.
 * No function here waits for the device. */
#ifndef TZ_DEVICE_OPS_DECODE_H
#define TZ_DEVICE_OPS_DECODE_H

#include "device/device.h"
#include "kernels/status.h"

/* One tile, as kernels read it: offsets in the slab, and sizes in bytes. */
typedef struct tz_decode_entry {
    uint64_t from; /* stored bytes */
    uint64_t to;   /* decoded bytes */
    uint32_t from_size;
    uint32_t to_size; /* exactly */
} tz_decode_entry;

typedef struct tz_decode_batch {
    uint16_t compression;
    tz_device_memory *slab;
    const tz_decode_entry *tiles; /* on the host, as the table has them when the launch runs */
    uint64_t count;
    /* offsets in the slab */
    uint64_t table;    /* entries; a multiple of 8 */
    uint64_t statuses; /* a uint32_t for each tile; a multiple of 4 */
    uint64_t scratch;  /* tz_decode_scratch_bytes; a multiple of 64 */
    /* A copy of the slab on the host with all stored bytes; NULL: the host does not have all. */
    const uint8_t *stored;
} tz_decode_batch;

/* True if the device decodes tiles of this compression. */
bool tz_device_decodes(const tz_device *device, uint16_t compression);

/* The numbers that the scratch of a batch depends on; zeros at first. */
typedef struct tz_decode_need {
    uint64_t count;
    uint64_t copied;   /* stored bytes, with each tile rounded up to the alignment of a library */
    uint64_t decoded;  /* bytes of all tiles */
    uint64_t max_tile; /* bytes of the largest tile */
} tz_decode_need;
void tz_decode_need_add(tz_decode_need *need, uint64_t from_size, uint64_t to_size);

uint64_t tz_decode_scratch_bytes(const tz_device *device, uint16_t compression,
                                 const tz_decode_need *need);

/* Number of launches for a batch. */
uint32_t tz_decode_launches(const tz_device *device, uint16_t compression);

/* The outcome of a launch. */
typedef struct tz_decode_report {
    uint32_t launches;
    char library[32]; /* the library that got the tiles ("nvCOMP 5.3.0"); empty: none */
    /* Why an available library was not used; empty if none is available or it was used. */
    char reason[160];
} tz_decode_report;

/* Checks that all offsets lie within the slab (TZ_ERR_ARG names the tile), and that no bytes are
 * both read and written: the stored bytes of all tiles lie before or after all decoded bytes, and
 * so do the table, the statuses and the scratch. Then launches. A count of 0 launches nothing. */
tz_result tz_decode_launch(const tz_decode_batch *batch, uint32_t queue, tz_decode_report *done,
                           tz_error *err);

/* ---- shared with vendor_encode.c ---- */

/* The kind of chunks: TZ_VENDOR_DEFLATE and others of vendor_array_kernels.h. */
uint32_t tz_vendor_kind(uint16_t compression);

/* Temporary memory that a library needs for count chunks with a total of `total` decoded bytes, a
 * multiple of 64; see temp, temp_per_tile and temp_per_64k of tz_vendor_decoder. */
uint64_t tz_vendor_temp_bytes(uint64_t temp, uint64_t per_tile, uint64_t per_64k, uint64_t count,
                              uint64_t total);

#endif
