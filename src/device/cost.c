/* SPDX-License-Identifier: Apache-2.0
 * The cost model of cost.h: constants, rates by codec, and two sums.
 *
 * On the CPU a job takes its pixels divided by the rate of all threads, and a copy to or from
 * device memory. On a device two batches are in flight, so that the host reads files and stores
 * pixels for one batch while the device works on the other: the longer of the two times counts in
 * full, the shorter one only for the first batch. */
#include "device/cost.h"

#include <math.h>

#include "codec/codec.h"
#include "device/device_text.h"

/* Seconds. */
#define BATCH_TIME    100e-6 /* upload, launches and a wait for one batch */
#define COPY_TIME     30e-6  /* one copy that is waited for */
#define MAX_TILE_TIME 2.0    /* the longest that one tile may take */

/* Bytes per second between host and device: over a bus, and in unified memory. */
#define BUS_RATE     12e9
#define UNIFIED_RATE 30e9
/* Share of the rate that a copy from memory that is not pinned reaches. */
#define PAGEABLE 0.5
/* Bytes per second of eight threads that read files to pinned memory, of copies of pixels from
 * there to the caller's buffer, and of pinning memory (0.3 ms for each MiB). */
#define FETCH_RATE 12e9
#define STORE_RATE 20e9
#define PIN_RATE   (1048576 / 0.3e-3)

/* Bytes of pixels in a batch: for buffers in device memory, and for those of the host, whose pixels
 * need pinned memory too. */
#define DEVICE_BATCH 268435456.0
#define HOST_BATCH   89128960.0

/* Assumed for a device that does not report its compute units or clock. */
#define USUAL_UNITS 20.0
#define USUAL_GHZ   1.4

/* Bytes of pixels per second: on a device for each compute unit and GHz; of a single tile there for
 * each GHz; the same with a vendor's library; and on one thread of the CPU. The rates of devices
 * come from the machine code of the kernels for sm_80; those of the CPU were measured. */
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
    /* by libraries only */
    {TZ_COMPRESSION_LZ4, 0.07e9, 0.035e9, 0.07e9, 0.035e9, 0.5e9},
    {TZ_COMPRESSION_ZSTD, 0.02e9, 0.007e9, 0.02e9, 0.007e9, 0.06e9},
    {TZ_COMPRESSION_JPEG, 0.013e9, 0.14e9, 0.013e9, 0.14e9, 0.7e9},
    {TZ_COMPRESSION_JPEG2000, 0.0033e9, 0.014e9, 0.0033e9, 0.014e9, 0.011e9},
};
/* Codecs that only the CPU has; their tiles are in tiles_on_cpu. */
static const codec_rates other = {0, 0.007e9, 0.07e9, 0.007e9, 0.07e9, 0.1e9};

static const codec_rates *find_rates(const codec_rates *list, size_t count, uint16_t compression)
{
    const uint16_t wanted =
        compression == TZ_COMPRESSION_OLD_DEFLATE ? TZ_COMPRESSION_DEFLATE : compression;
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

static double ghz_of(const tz_device_info *info)
{
    return info->clock_mhz > 0 ? info->clock_mhz / 1e3 : USUAL_GHZ;
}

/* ---- jobs ---- */

/* Tiles that the CPU does in either case are left out of both times, except that their pixels pass
 * over the bus if the device does the rest. */
tz_device_times tz_device_estimate(const tz_device_info *info, const tz_device_job *job)
{
    const codec_rates *rates =
        job->encodes ? find_rates(encoding, sizeof encoding / sizeof encoding[0], job->compression)
                     : decoding_rates(job->compression);
    const double share = 1 - (double)job->tiles_on_cpu / (double)job->tiles;
    const double tiles = (double)job->tiles * share;
    const double pixels = (double)job->bytes_pixels * share;
    const double compressed = (double)job->bytes_compressed * share;
    const double all_pixels = (double)job->bytes_pixels;
    const double threads = job->threads > 0 ? job->threads : 1;
    const double bus = info->unified_memory ? UNIFIED_RATE : BUS_RATE;
    const bool on_device = job->from_device || job->to_device; /* pixels are in device memory */
    tz_device_times times = {0, 0};

    if (tiles > 0)
        times.cpu = pixels / (rates->cpu * fmin(threads, tiles));
    if (on_device)
        times.cpu += COPY_TIME + all_pixels / (bus * PAGEABLE);

    const double ghz = ghz_of(info);
    const double units = info->compute_units > 0 ? info->compute_units : USUAL_UNITS;
    const double all_rate = (job->by_library ? rates->library_unit : rates->unit) * units * ghz;
    const double tile_rate = (job->by_library ? rates->library_tile : rates->tile) * ghz;
    const double batches = fmax(1, all_pixels / (on_device ? DEVICE_BATCH : HOST_BATCH));
    const double tiles_at_once = fmax(1, tiles * fmin(1, 2 / batches));
    const double own = tiles > 0 ? pixels / fmin(all_rate, tile_rate * tiles_at_once) : 0;
    const double up = (compressed + (all_pixels - pixels)) / bus;
    const double down = on_device ? 0 : COPY_TIME + all_pixels / bus;
    const double device = batches * BATCH_TIME + up + own + down;
    const double host = compressed / FETCH_RATE + (on_device ? 0 : all_pixels / STORE_RATE);
    times.device =
        fmax(device, host) + fmin(device, host) / batches + (double)job->bytes_pinned / PIN_RATE;
    return times;
}

bool tz_device_pays(const tz_device_info *info, const tz_device_job *job, char *reason,
                    size_t reason_size)
{
    if (info->type == TZ_DEVICE_TYPE_CPU) {
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
    if (info->type == TZ_DEVICE_TYPE_CPU || compression == TZ_COMPRESSION_NONE)
        return UINT64_MAX;
    return (uint64_t)(MAX_TILE_TIME * decoding_rates(compression)->tile * ghz_of(info));
}
