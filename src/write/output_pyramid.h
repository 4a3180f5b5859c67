/* SPDX-License-Identifier: Apache-2.0
 * The levels of a file: the image, and overviews of it, each half the size of the one before. */
#ifndef TZ_WRITE_OUTPUT_PYRAMID_H
#define TZ_WRITE_OUTPUT_PYRAMID_H

#include "device/device_codestreams.h"
#include "device/ops/vendor_encode.h"
#include "pixel/overview_pixels.h"
#include "tiff/image/image.h"

enum { TZ_MAX_OUTPUT_LEVELS = 32 };

typedef struct tz_output_level {
    tz_image image;
    tz_overview_params overview;     /* from the level before; not of the first one */
    tz_vendor_encode_plan library;   /* that encodes it on a device: see tz_gpu_writer_choose */
    tz_codestream_codec codestreams; /* the same of whole pictures; without a name: none does */
} tz_output_level;

typedef struct tz_output_pyramid {
    tz_output_level levels[TZ_MAX_OUTPUT_LEVELS];
    uint32_t count; /* 1 without overviews */
} tz_output_pyramid;

/* Whether bands follow each other: of a row of tiles or, in a COG, of a level. */
static inline bool tz_is_by_band(const tz_image *image)
{
    return image->planes > 1 && image->options.interleave == TZ_INTERLEAVE_BAND;
}

/* Tiles of one place: one for each plane, and the mask's. */
static inline uint32_t tz_tile_kinds(const tz_image *image)
{
    return image->planes + (image->spec.mask ? 1 : 0);
}

/* The image's tiles and its mask's. */
static inline uint64_t tz_all_tiles(const tz_image *image)
{
    return (uint64_t)image->tiles_across * image->tiles_down * tz_tile_kinds(image);
}

/* Checks all that tz_image_init does, of every level. Released by tz_output_pyramid_deinit, also
 * after a failure. */
tz_result tz_output_pyramid_make(tz_output_pyramid *out, const tz_image_spec *spec,
                                 const tz_write_options *options, const tz_context *ctx);
void tz_output_pyramid_deinit(tz_output_pyramid *pyramid); /* zeroed state is fine */

#endif
