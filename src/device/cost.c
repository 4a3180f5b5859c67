/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cost.h"

#include "device/device_text.h"

/* Seconds. */
#define BATCH_TIME    100e-6 /* of upload, launches and a wait */
#define COPY_TIME     30e-6  /* of one copy that is waited for */
#define MAX_TILE_TIME 2.0    /* that one tile may take */

/* Bytes of a second: over a bus, and where the device's memory is the host's. */
#define BUS_RATE     12e9
#define UNIFIED_RATE 30e9
/* A copy from memory that is not pinned, beside one from memory that is. */
#define PAGEABLE 0.5
/* The same of files that eight readers read to pinned memory, of pixels that are copied from there
 * to the caller's, and of memory that is pinned: 0.3 ms for each MiB. */
#define FETCH_RATE 12e9
#define STORE_RATE 20e9
#define PIN_RATE   (1048576 / 0.3e-3)

/* Pixels of a batch, of which two are under way: for buffers of the device, and of the host, whose
 * pixels take pinned memory, too. */
#define DEVICE_BATCH 268435456.0
#define HOST_BATCH   89128960.0

/* A device that does not say what it is. */
#define USUAL_UNITS 20.0
#define USUAL_GHZ   1.4

/* Bytes of pixels in a second: of a device for each compute unit and GHz, of one tile on it for
 * each GHz, the same by a vendor's library, and of one CPU thread. The first are what reading the
 * machine code of the kernels gives for sm_80; those of the CPU were measured. */
typedef struct codec_rates {
    uint16_t compression;
    double unit, tile, library_unit, library_tile, cpu;
} codec_rates;

static const codec_rates decoding[] = {
    {TZ_COMPRESSION_NONE, 0.66e9, 3.5e9, 0.66e9, 3.5e9, 6e9},
    {TZ_COMPRESSION_DEFLATE, 0.03e9, 0.003e9, 0.1e9, 0.02e9, 0.6e9},
    {TZ_COMPRESSION_LZW, 0.03e9, 0.005e9, 0.03e9, 0.005e9, 0.5e9},
    {TZ_COMPRESSION_LZ4, 0.14e9, 0.02e9, 0.3e9, 0.05e9, 2.5e9},
    {TZ_COMPRESSION_PACKBITS, 0.18e9, 0.028e9, 0.18e9, 0.028e9, 2e9},
    {TZ_COMPRESSION_ZSTD, 0.02e9, 0.003e9, 0.1e9, 0.02e9, 1e9},
    {TZ_COMPRESSION_JPEG, 0.03e9, 0.14e9, 0.03e9, 0.14e9, 0.7e9},
    {TZ_COMPRESSION_JPEG2000, 0.0046e9, 0.014e9, 0.0046e9, 0.014e9, 0.014e9},
};
static const codec_rates encoding[] = {
    {TZ_COMPRESSION_NONE, 0.66e9, 3.5e9, 0.66e9, 3.5e9, 6e9},
    {TZ_COMPRESSION_DEFLATE, 0.4e9, 0.4e9, 0.03e9, 0.007e9, 0.15e9},
    {TZ_COMPRESSION_PACKBITS, 0.13e9, 0.07e9, 0.13e9, 0.07e9, 1e9},
    {TZ_COMPRESSION_LZ4, 0.07e9, 0.035e9, 0.07e9, 0.035e9, 0.5e9}, /* from here: by libraries */
    {TZ_COMPRESSION_ZSTD, 0.02e9, 0.007e9, 0.02e9, 0.007e9, 0.06e9},
    {TZ_COMPRESSION_JPEG, 0.013e9, 0.14e9, 0.013e9, 0.14e9, 0.7e9},
    {TZ_COMPRESSION_JPEG2000, 0.0033e9, 0.014e9, 0.0033e9, 0.014e9, 0.011e9},
};
/* Of codecs that only the CPU has: their tiles are in tiles_by_cores. */
static const codec_rates other = {0, 0.007e9, 0.07e9, 0.007e9, 0.07e9, 0.1e9};
#define OLD_DEFLATE 32946u

static const codec_rates *find_rates(const codec_rates *list, size_t count, uint16_t compression)
{
    const uint16_t wanted = compression == OLD_DEFLATE ? TZ_COMPRESSION_DEFLATE : compression;
    for (size_t i = 0; i < count; i++) {
        if (list[i].compression == wanted)
            return &list[i];
    }
    return &other;
}

static const codec_rates *decoding_rates(uint16_t compression)
{
    return find_rates(decoding, sizeof decoding / sizeof decoding[0], compression);
}

static const codec_rates *rates_of(const tz_device_job *job)
{
    return job->encodes
               ? find_rates(encoding, sizeof encoding / sizeof encoding[0], job->compression)
               : decoding_rates(job->compression);
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double ghz_of(const tz_device_info *info)
{
    return info->limits.clock_mhz > 0 ? info->limits.clock_mhz / 1e3 : USUAL_GHZ;
}

/* ---- jobs ---- */

/* A job as numbers: pixels that the device would decode or encode, and all. */
typedef struct job_amounts {
    double tiles, pixels, compressed, all_pixels, threads, bus;
    bool on_device; /* pixels are in its memory, before or afterwards */
} job_amounts;

static job_amounts amounts_of(const tz_device_info *info, const tz_device_job *job)
{
    const double share = 1 - (double)job->tiles_by_cores / (double)job->tiles;
    return (job_amounts){.tiles = (double)job->tiles * share,
                         .pixels = (double)job->bytes_pixels * share,
                         .compressed = (double)job->bytes_compressed * share,
                         .all_pixels = (double)job->bytes_pixels,
                         .threads = job->threads > 0 ? job->threads : 1,
                         .bus = info->limits.unified_memory ? UNIFIED_RATE : BUS_RATE,
                         .on_device = job->from_device || job->to_device};
}

/* What the CPU decodes or encodes in either case is in neither of the two. */

static double time_on_cpu(const codec_rates *r, const job_amounts *a)
{
    const double own = a->tiles > 0 ? a->pixels / (r->cpu * smaller(a->threads, a->tiles)) : 0;
    return own + (a->on_device ? COPY_TIME + a->all_pixels / (a->bus * PAGEABLE) : 0);
}

/* Files are read, and pixels stored, while the device works on another batch. */
static double time_on_device(const tz_device_info *info, const tz_device_job *job,
                             const codec_rates *r, const job_amounts *a)
{
    const double ghz = ghz_of(info);
    const double units = info->limits.compute_units > 0 ? info->limits.compute_units : USUAL_UNITS;
    const double all = (job->by_library ? r->library_unit : r->unit) * units * ghz;
    const double tile = (job->by_library ? r->library_tile : r->tile) * ghz;
    const double batch = a->on_device ? DEVICE_BATCH : HOST_BATCH;
    const double batches = larger(1, a->all_pixels / batch);
    const double at_once = larger(1, a->tiles * smaller(1, 2 / batches));
    const double own = a->tiles > 0 ? a->pixels / smaller(all, tile * at_once) : 0;
    /* the CPU's tiles go over the bus as pixels */
    const double up = (a->compressed + (a->all_pixels - a->pixels)) / a->bus;
    const double down = a->on_device ? 0 : COPY_TIME + a->all_pixels / a->bus;
    const double device = batches * BATCH_TIME + up + own + down;
    const double host =
        a->compressed / FETCH_RATE + (a->on_device ? 0 : a->all_pixels / STORE_RATE);
    return larger(device, host) + smaller(device, host) / batches +
           (double)job->bytes_pinned / PIN_RATE;
}

tz_device_times tz_device_estimate(const tz_device_info *info, const tz_device_job *job)
{
    const codec_rates *r = rates_of(job);
    const job_amounts a = amounts_of(info, job);
    return (tz_device_times){time_on_device(info, job, r, &a), time_on_cpu(r, &a)};
}

bool tz_device_pays(const tz_device_info *info, const tz_device_job *job, char *reason,
                    size_t reason_size)
{
    if (info->type == TZ_DEVICE_CPU) {
        tz_device_text(reason, reason_size, "the device is the CPU");
        return false;
    }
    if (job->tiles == 0) {
        tz_device_text(reason, reason_size, "there are no tiles");
        return false;
    }
    const tz_device_times times = tz_device_estimate(info, job);
    if (times.device < times.cpu)
        return true;
    tz_device_textf(reason, reason_size, "the CPU is expected to take %.3g ms, the device %.3g ms",
                    times.cpu * 1e3, times.device * 1e3);
    return false;
}

uint64_t tz_device_max_tile(const tz_device_info *info, uint16_t compression)
{
    if (info->type == TZ_DEVICE_CPU || compression == TZ_COMPRESSION_NONE)
        return UINT64_MAX;
    return (uint64_t)(MAX_TILE_TIME * decoding_rates(compression)->tile * ghz_of(info));
}
