/* SPDX-License-Identifier: Apache-2.0
 * Who makes the tiles, the device or the cores. It is decided before the first row, by what is to
 * be made: so that the bytes of a file depend on nothing else. */
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "device/cost.h"
#include "device/device_text.h"
#include "device/ops/encode.h"
#include "write/writer.h"

#define SET_REASON(to, ...) tz_device_textf(to, sizeof((tz_device_use *)0)->reason, __VA_ARGS__)

static bool can_extract(const tz_device *device, const tz_image *image, uint32_t level)
{
    for (unsigned is_mask = 0; is_mask < (image->spec.mask ? 2u : 1u); is_mask++) {
        const tz_extract_batch batch = tz_gpu_extract_batch(image, level, is_mask);
        if (!tz_device_extracts(device, &batch))
            return false;
    }
    return true;
}

/* What a batch of one tile takes at least: scratch, the tile, what is made of it, and where that
 * goes. */
static uint64_t min_library_bytes(const tz_vendor_encode_plan *library, const tz_image *image)
{
    const uint64_t tile = tz_tile_bytes(&image->format);
    return tz_add_capped(tz_add_capped(tz_vendor_encode_scratch(library, 1), library->view),
                         tz_mul_capped(tile, 2));
}

/* The library that the caller allows, if there is one. Not where it wants more for a single tile
 * than the write may hold at all: smaller batches would not help. */
static bool find_library(const tz_device *device, tz_output_level *level, char *missing,
                         size_t missing_size)
{
    const tz_image *image = &level->image;
    const uint64_t cap = tz_gpu_budget_limit(&image->options);
    if (!image->options.library_encoders ||
        !tz_vendor_encode_find(device, &image->format, &image->choice, &level->library, missing,
                               missing_size))
        return false;
    const uint64_t least = min_library_bytes(&level->library, image);
    if (least <= cap)
        return true;
    tz_device_textf(missing, missing_size,
                    "%s wants %llu bytes for a tile, with its scratch, and %llu are allowed",
                    level->library.encoder.name, (unsigned long long)least,
                    (unsigned long long)cap);
    level->library = (tz_vendor_encode_plan){0};
    return false;
}

/* A library, where the caller wants one and there is one; else the device's own kernels. False: it
 * has neither. */
static bool can_encode(const tz_device *device, tz_output_level *level, const char *of,
                       tz_device_use *use)
{
    const tz_image *image = &level->image;
    char missing[sizeof use->library_reason] = "";
    if (image->options.library_encoders &&
        tz_gpu_codestreams_choose(device, level, missing, sizeof missing))
        return true;
    if (!missing[0] && find_library(device, level, missing, sizeof missing))
        return true;
    if (tz_device_encodes(device, &image->format, &image->choice)) {
        memcpy(use->library_reason, missing, sizeof use->library_reason);
        return true;
    }
    const char *because = missing[0] ? ": " : "";
    if (image->encoder->resolve_options && image->choice.level != 0)
        SET_REASON(use->reason, "the device does not encode %s at level %d%s%s%s",
                   tz_codec_find(image->format.compression)->name, (int)image->choice.level, of,
                   because, missing);
    else
        SET_REASON(use->reason, "the device does not encode %s%s%s%s",
                   tz_codec_find(image->format.compression)->name, of, because, missing);
    return false;
}

/* One level: false, and why not. */
static bool can_make_level(const tz_device *device, tz_output_level *level, uint32_t number,
                           tz_device_use *use)
{
    const tz_image *image = &level->image;
    const char *of = number == 0 ? "" : " of overviews";
    char *reason = use->reason;
    if (!can_encode(device, level, of, use))
        return false;
    if (!can_extract(device, image, number)) {
        SET_REASON(reason, "the device does not make tiles of %s with these options%s",
                   tz_dtype_name(image->spec.dtype), of);
        return false;
    }
    if (number > 0 && !tz_device_makes_overviews(device, &level->overview)) {
        SET_REASON(reason, "the device does not make overviews of %s by %s",
                   tz_dtype_name(image->spec.dtype), tz_resampling_name(level->overview.method));
        return false;
    }
    return true;
}

/* A device that "auto" chose is used where it pays. */
static bool is_worthwhile(const tz_writer *w, const tz_device *device, char *reason)
{
    const tz_image *image = tz_writer_image(w);
    const uint64_t pixels = tz_mul_capped(tz_mul_capped(image->spec.width, image->spec.height),
                                          image->spec.bands * tz_dtype_size(image->spec.dtype));
    const bool copy = (image->encoder->flags & TZ_ENCODER_COPY) != 0;
    const uint64_t cap = tz_gpu_budget_limit(&image->options);
    const uint64_t pinned = pixels < cap ? pixels : cap;
    const tz_output_level *level = &w->pyramid.levels[0];
    const tz_device_job job = {
        .bytes_pixels = pixels,
        .bytes_compressed = copy ? pixels : pixels / 2, /* or so */
        .bytes_pinned = tz_device_caches_pinned(device, pinned) ? 0 : pinned,
        .by_library = level->library.encoder.name[0] != '\0' || level->codestreams.name[0] != '\0',
        .tiles = tz_all_tiles(image),
        .tiles_by_cores = tz_all_tiles(image) - image->tile_count,
        .compression = image->format.compression,
        .encodes = true,
        .threads = image->options.threads > 0 ? image->options.threads : tz_available_cpus()};
    return !tz_device_is_auto(device) || tz_device_pays(tz_device_get_info(device), &job, reason,
                                                        sizeof((tz_device_use *)0)->reason);
}

static bool can_make_all_levels(tz_writer *w, const tz_device *device)
{
    for (uint32_t i = 0; i < w->pyramid.count; i++)
        if (!can_make_level(device, &w->pyramid.levels[i], i, &w->report.device))
            return false;
    return true;
}

/* A level that a library does not have is told once, whatever it encodes. */
static tz_result warn_of_levels(tz_writer *w)
{
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        const tz_vendor_encode_plan *library = &w->pyramid.levels[i].library;
        if (library->encoder.other_level)
            return tz_warn(&w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                           "%s has no level %d of %s: the nearest is used", library->encoder.name,
                           (int)library->level,
                           tz_compression_name(w->pyramid.levels[i].image.format.compression));
    }
    return TZ_OK;
}

tz_result tz_gpu_writer_choose(tz_writer *w)
{
    const tz_write_options *options = &tz_writer_image(w)->options;
    char *reason = w->report.device.reason;
    if (!options->device)
        return TZ_OK;
    const bool able = can_make_all_levels(w, options->device);
    if (!able && options->strict_device)
        return tz_fail(&w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(), "%s",
                       reason);
    if (!able || !is_worthwhile(w, options->device, reason))
        return TZ_OK;
    w->device = options->device;
    tz_gpu_codestreams_unshare_tables(w);
    return warn_of_levels(w);
}
