/* SPDX-License-Identifier: Apache-2.0
 * The levels of a file: the image, and overviews of it, each half the size of the one before. */
#ifndef TZ_WRITE_OUTPUT_PYRAMID_H
#define TZ_WRITE_OUTPUT_PYRAMID_H

#include "device/device_codestreams.h"
#include "device/ops/vendor_encode.h"
#include "pixel/overview_level.h"
#include "tiff/image/image.h"

enum { TZ_MAX_OUTPUT_LEVELS = 32 };

typedef struct tz_output_level {
    tz_image image;
    tz_overview_params overview; /* from the level before; unset in the first level */
    /* Vendor libraries that encode the tiles on a device, chosen by tz_gpu_writer_choose: chunks,
     * or whole codestreams. Without a name: none. */
    tz_vendor_encode_plan library;
    tz_codestream_codec codestreams;
} tz_output_level;

typedef struct tz_output_pyramid {
    tz_output_level levels[TZ_MAX_OUTPUT_LEVELS];
    uint32_t count; /* 1 without overviews */
} tz_output_pyramid;

static inline bool tz_image_wants_statistics(const tz_image *image)
{
    return image->options.statistics || image->options.statistics_items;
}

/* Returns whether bands follow each other: within a row of tiles or, in a COG, within a level. */
static inline bool tz_is_by_band(const tz_image *image)
{
    return image->planes > 1 && image->options.interleave == TZ_INTERLEAVE_BAND;
}

/* Tiles at one position: one for each plane, and the mask's. */
static inline uint32_t tz_tile_kinds(const tz_image *image)
{
    return image->planes + (image->spec.mask ? 1 : 0);
}

/* The image's tiles and its mask's. */
static inline uint64_t tz_all_tiles(const tz_image *image)
{
    return (uint64_t)image->tiles_across * image->tiles_down * tz_tile_kinds(image);
}

/* Makes all levels; each is checked by tz_image_init. Released by tz_output_pyramid_deinit, also
 * after a failure. */
tz_result tz_output_pyramid_make(tz_output_pyramid *out, const tz_image_spec *spec,
                                 const tz_write_options *options, const tz_context *ctx);
void tz_output_pyramid_deinit(tz_output_pyramid *pyramid); /* zeroed state is fine */

/* verify.c: tiles of a level that are read back after the write, and the index of a tile among
 * them; TZ_NO_VALUE: it is not verified. */
uint64_t tz_verified_count(const tz_image *image);
uint64_t tz_verified_index(const tz_image *image, uint64_t tile);

#endif
