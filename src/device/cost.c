/* SPDX-License-Identifier: Apache-2.0
 * What work takes on a device and on the cores, roughly. */
#include "device/cost.h"

#include "device/device_text.h"

/* Seconds. */
#define BATCH_TIME 100e-6 /* of upload, launches and a wait */
#define COPY_TIME  30e-6  /* of one copy that is waited for */

/* Bytes of a second: over a bus, and where the device's memory is the host's. */
#define BUS_RATE     12e9
#define UNIFIED_RATE 30e9

/* Pixels of a batch: what fits into the memory of a usual device beside the pixels. */
#define BATCH_BYTES 268435456.0

/* Bytes of pixels of a second: all of a device, one tile of a device, one core. Measured on the
 * cores; of devices what kernels of this kind reach. */
typedef struct rates {
    uint16_t compression;
    double device, tile, core;
} rates;

static const rates decoding[] = {
    {TZ_COMPRESSION_NONE, 100e9, 5e9, 6e9},      {TZ_COMPRESSION_DEFLATE, 6e9, 0.02e9, 0.6e9},
    {TZ_COMPRESSION_LZW, 6e9, 0.02e9, 0.5e9},    {TZ_COMPRESSION_LZ4, 20e9, 0.1e9, 2.5e9},
    {TZ_COMPRESSION_PACKBITS, 20e9, 0.1e9, 2e9}, {TZ_COMPRESSION_ZSTD, 5e9, 0.02e9, 1e9},
    {TZ_COMPRESSION_JPEG, 5e9, 0.2e9, 0.7e9},    {TZ_COMPRESSION_JPEG2000, 0.7e9, 0.02e9, 0.014e9},
};
static const rates encoding[] = {
    {TZ_COMPRESSION_NONE, 100e9, 5e9, 6e9},
    {TZ_COMPRESSION_DEFLATE, 4e9, 0.01e9, 0.15e9},
    {TZ_COMPRESSION_PACKBITS, 20e9, 0.1e9, 1e9},
    {TZ_COMPRESSION_LZ4, 10e9, 0.05e9, 0.5e9}, /* this and what follows: by libraries */
    {TZ_COMPRESSION_ZSTD, 3e9, 0.01e9, 0.06e9},
    {TZ_COMPRESSION_JPEG, 2e9, 0.2e9, 0.7e9},
    {TZ_COMPRESSION_JPEG2000, 0.5e9, 0.02e9, 0.011e9},
};
/* Of codecs that only cores have: their tiles are in tiles_by_cores. */
static const rates other = {0, 1e9, 0.1e9, 0.1e9};
#define OLD_DEFLATE 32946u

static const rates *find(const rates *list, size_t count, uint16_t compression)
{
    const uint16_t wanted = compression == OLD_DEFLATE ? TZ_COMPRESSION_DEFLATE : compression;
    for (size_t i = 0; i < count; i++) {
        if (list[i].compression == wanted)
            return &list[i];
    }
    return &other;
}

static const rates *rates_of(const tz_device_job *job)
{
    return job->encodes ? find(encoding, sizeof encoding / sizeof encoding[0], job->compression)
                        : find(decoding, sizeof decoding / sizeof decoding[0], job->compression);
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* A job as numbers: pixels that the device would decode or encode, and all. */
typedef struct amounts {
    double tiles, pixels, compressed, all_pixels, threads, bus;
} amounts;

static amounts amounts_of(const tz_device_info *info, const tz_device_job *job)
{
    const double share = 1 - (double)job->tiles_by_cores / (double)job->tiles;
    return (amounts){.tiles = (double)job->tiles * share,
                     .pixels = (double)job->bytes_pixels * share,
                     .compressed = (double)job->bytes_compressed * share,
                     .all_pixels = (double)job->bytes_pixels,
                     .threads = job->threads > 0 ? job->threads : 1,
                     .bus = info->limits.unified_memory ? UNIFIED_RATE : BUS_RATE};
}

/* What the cores decode or encode in either case is in neither of the two. */

static double time_on_cores(const rates *r, const amounts *a, bool is_there)
{
    const double own = a->tiles > 0 ? a->pixels / (r->core * smaller(a->threads, a->tiles)) : 0;
    return own + (is_there ? COPY_TIME + a->all_pixels / a->bus : 0);
}

static double time_on_device(const rates *r, const amounts *a, bool is_there)
{
    const double batches = 1 + (double)(uint64_t)(a->all_pixels / BATCH_BYTES);
    const double own = a->tiles > 0 ? a->pixels / smaller(r->device, r->tile * a->tiles) : 0;
    /* the cores' tiles go over the bus as pixels */
    const double up = (a->compressed + (a->all_pixels - a->pixels)) / a->bus;
    return batches * BATCH_TIME + own + up + (is_there ? 0 : COPY_TIME + a->all_pixels / a->bus);
}

bool tz_device_pays(const tz_device_info *info, const tz_device_job *job, char *reason,
                    size_t reason_size)
{
    if (info->type == TZ_DEVICE_CPU) {
        tz_device_text(reason, reason_size, "the device is the cores");
        return false;
    }
    if (job->tiles == 0) {
        tz_device_text(reason, reason_size, "there are no tiles");
        return false;
    }
    const rates *r = rates_of(job);
    const amounts a = amounts_of(info, job);
    const bool is_there = job->from_device || job->to_device;
    const double device = time_on_device(r, &a, is_there);
    const double cores = time_on_cores(r, &a, is_there);
    if (device < cores)
        return true;
    tz_device_textf(reason, reason_size,
                    "the cores are expected to take %.3g ms, the device %.3g ms", cores * 1e3,
                    device * 1e3);
    return false;
}
