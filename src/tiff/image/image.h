/* SPDX-License-Identifier: Apache-2.0
 * An image to be written: the specification and the options, checked, with every default filled in
 * and with copies of everything they point to; and the tags of its directories. */
#ifndef TZ_TIFF_IMAGE_IMAGE_H
#define TZ_TIFF_IMAGE_IMAGE_H

#include "base/arena.h"
#include "codec/codec.h"

/* One level to be written. An overview is a tz_image of its own, with the specification of the
 * image and a smaller size. */
typedef struct tz_image {
    /* Pointers lead to arena; bits_per_sample, orientation, nodata and extra_samples are resolved.
     */
    tz_image_spec spec;
    /* Compression, predictor, tile size and discard_bits (one for each band) are resolved. */
    tz_write_options options;
    tz_limits limits; /* those of options, which has no pointer to them */
    tz_arena arena;
    uint16_t photometric; /* TIFF's number */
    uint16_t sample_format;
    uint16_t planar;
    uint16_t subsampling[2]; /* of YCbCr */
    uint32_t tile_width;     /* strips: the image's width */
    uint32_t tile_height;    /* strips: at most the image's, but whole blocks of JPEG */
    uint32_t tiles_across;
    uint32_t tiles_down;
    uint32_t planes;       /* 1, or bands if they are planar */
    uint64_t tile_count;   /* without the mask's */
    bool nan_to_nodata;    /* asked for, and nodata is a floating-point number that is not NaN */
    tz_tile_format format; /* of a whole tile */
    const tz_encoder *encoder;
    tz_encode_options choice;
    /* The same for the mask, if there is one, whose samples have 1 bit. */
    tz_tile_format mask_format;
    const tz_encoder *mask_encoder;
    tz_encode_options mask_choice;
} tz_image;

/* Checks everything that can be checked before a file is created, and fills *out. An option that
 * the codec does not use is a warning of ctx, once. options->device is NULL, or not the CPU.
 * Released by tz_image_deinit, also after a failure. */
tz_result tz_image_init(tz_image *out, const tz_image_spec *spec, const tz_write_options *options,
                        const tz_context *ctx);
void tz_image_deinit(tz_image *image); /* zeroed state is fine */

/* The tags of a directory, ascending, without tile tables. */
typedef enum tz_ifd_kind {
    TZ_IFD_IMAGE,
    TZ_IFD_MASK,
    TZ_IFD_OVERVIEW,
    TZ_IFD_OVERVIEW_MASK
} tz_ifd_kind;
typedef struct tz_image_tags {
    tz_tag_value *list;
    uint32_t count;
} tz_image_tags;

/* Makes the list of tags in arena. statistics: one for each band, or NULL; jpeg_tables: NULL for
 * none. */
tz_result tz_image_build_tags(tz_image_tags *out, const tz_image *image, tz_ifd_kind kind,
                              const tz_statistics *statistics, const tz_bytes *jpeg_tables,
                              tz_arena *arena, const tz_context *ctx);

#endif
