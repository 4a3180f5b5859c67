/* SPDX-License-Identifier: Apache-2.0
 * Tiles decoded by a device: all of a batch in one launch, or by a library of the vendor's and a
 * few launches around it (device/ops/vendor_decode.h). What a tile becomes, and what is wrong with
 * it, is said by kernels/status.h, and is the same either way; nothing here waits. */
#ifndef TZ_DEVICE_OPS_DECODE_H
#define TZ_DEVICE_OPS_DECODE_H

#include "device/device.h"
#include "kernels/status.h"

/* One tile, as kernels read it: places in the slab, and sizes. */
typedef struct tz_decode_entry {
    uint64_t from; /* compressed bytes */
    uint64_t to;   /* decoded ones */
    uint32_t from_size;
    uint32_t to_size; /* exactly */
} tz_decode_entry;

typedef struct tz_decode_batch {
    uint16_t compression;
    tz_device_memory *slab;
    const tz_decode_entry *tiles; /* on the host: what the table has when the launch runs */
    uint64_t count;
    uint64_t table;        /* where in the slab the entries are; a multiple of 8 */
    uint64_t statuses;     /* and where their statuses go, a uint32_t each; a multiple of 4 */
    uint64_t scratch;      /* and so many bytes as tz_decode_scratch_bytes says; a multiple of 64 */
    const uint8_t *stored; /* the slab on the host, as far as compressed bytes are in it; NULL: the
                              host has not all of them */
} tz_decode_batch;

/* Whether a device decodes such tiles at all. */
bool tz_device_decodes(const tz_device *device, uint16_t compression);

/* The tiles of a batch, as far as its scratch depends on them; begins as zeros. */
typedef struct tz_decode_need {
    uint64_t count;
    uint64_t copied;   /* stored bytes, each tile at a place that a library wants */
    uint64_t decoded;  /* bytes of all tiles */
    uint64_t max_tile; /* and of one */
} tz_decode_need;
void tz_decode_need_add(tz_decode_need *need, uint64_t from_size, uint64_t to_size);

uint64_t tz_decode_scratch_bytes(const tz_device *device, uint16_t compression,
                                 const tz_decode_need *need);

/* How many launches a batch takes. */
uint32_t tz_decode_launches(const tz_device *device, uint16_t compression);

/* What a launch came to. */
typedef struct tz_decode_report {
    uint32_t launches;
    char library[32]; /* that was given the tiles: "nvCOMP 5.3.0"; empty: none */
    char reason[160]; /* why a library that is there was not; empty: there is none, or it was */
} tz_decode_report;

/* Checks that all lies within the slab (TZ_ERR_ARG names the tile) and that nothing which is read
 * is written: the stored bytes of all tiles lie before or behind all decoded ones, and so do
 * tables. Then launches. A count of 0 is nothing to do. */
tz_result tz_decode_launch(const tz_decode_batch *batch, uint32_t queue, tz_decode_report *done,
                           tz_error *err);

#endif
