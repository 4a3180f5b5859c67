/* SPDX-License-Identifier: Apache-2.0
 * Pixels as rows of a picture: the meaning of bands, colours and transparency. */
#ifndef TZ_IMAGE_PICTURE_H
#define TZ_IMAGE_PICTURE_H

#include "base/error.h"
#include "pixel/pixel.h"

#define TZ_PICTURE_MAX_BANDS (TZ_IMAGE_MAX_COLORS + 1) /* CMYK and alpha */

/* The decisions for the whole picture, and memory for one row. Zeroed state is closed. */
typedef struct tz_picture {
    tz_pixel_buffer pixels; /* with strides */
    tz_pixel_buffer mask;   /* the same; data is NULL if all pixels are valid */
    const tz_image_options *options;
    uint32_t colors; /* bands of colour: 1, 3, or 4 of CMYK */
    bool has_alpha;  /* a band of alpha after them */
    bool premultiplied;
    bool palette;
    bool cmyk;
    bool ycbcr;
    bool inverted;
    bool may_be_nan;
    tz_image_range ranges[TZ_PICTURE_MAX_BANDS];
    uint8_t bytes[TZ_PICTURE_MAX_BANDS][256]; /* by sample of 8 bits */
    uint32_t painted;                      /* channels before the background: 1 or 3, and alpha */
    bool transparent;                      /* the last of them is alpha */
    bool flat;                             /* the background is under the picture */
    uint32_t channels;                     /* of a row: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA */
    uint8_t *memory;                       /* of the members below */
    uint8_t *map;                          /* red, green and blue of each entry of the palette */
    double *values;                        /* a row of samples */
    uint8_t *planes[TZ_PICTURE_MAX_BANDS]; /* a row of each band as bytes */
    uint8_t *valid;                        /* 0: a colour is not valid */
    uint8_t *row;                          /* of `painted` channels */
} tz_picture;

/* Copies a buffer of the caller, which is in host memory and of real numbers, and sets its strides
 * if it has none. argument: its name, for messages. given may be NULL, which is an error. */
tz_result tz_picture_copy_buffer(tz_pixel_buffer *out, const tz_buffer *given, const char *argument,
                                 const tz_context *ctx);

/* Sets the members that pixels and options alone decide, without looking at samples. options is
 * checked, and must outlive the picture. mask may be NULL. */
tz_result tz_picture_init(tz_picture *p, const tz_buffer *pixels, const tz_buffer *mask,
                          const tz_image_options *options, const tz_context *ctx);

/* Measures the ranges that the options ask for. *count: as in tz_image_measure. */
tz_result tz_picture_measure(const tz_picture *p, tz_image_range *ranges, uint32_t *count,
                             const tz_context *ctx);

/* Bytes that tz_picture_prepare allocates for a row, and for a palette. */
uint64_t tz_picture_bytes(const tz_picture *p);

/* Decides ranges and transparency, by the samples. opaque_format: the name of a format without
 * alpha, for which a transparent pixel without a background is TZ_ERR_ARG; NULL: rows may have
 * alpha. */
tz_result tz_picture_prepare(tz_picture *p, const char *opaque_format, const tz_context *ctx);
void tz_picture_deinit(tz_picture *p);

/* Makes row y, of width times channels bytes. */
void tz_picture_paint(const tz_picture *p, uint32_t y, uint8_t *to);

#endif
