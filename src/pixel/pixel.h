/* SPDX-License-Identifier: Apache-2.0
 * Pixel work on the cores, a row at a time while it is in the first cache: undo what the file did
 * to samples (predictor, byte order, odd widths), then put them where the caller wants them (type,
 * scale, nodata, strides). What a sample becomes is defined once, in kernels/. */
#ifndef TZ_PIXEL_PIXEL_H
#define TZ_PIXEL_PIXEL_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

/* How samples lie in a row of a decoded tile. */
typedef struct tz_row_format {
    tz_dtype dtype; /* what they are once unpacked */
    uint16_t bits;
    uint16_t sample_format;
    uint16_t samples;   /* of one pixel */
    uint16_t predictor; /* 1, 2 or 3 */
    bool swap;          /* stored in the other byte order than the machine's */
    uint32_t width;     /* pixels of a row, needed by predictor 3 */
} tz_row_format;

/* Whether there is a way to read such rows; NULL, or what is wrong with them. */
const char *tz_row_unsupported(const tz_row_format *format);

/* Bytes of one row in the tile, and of the scratch that tz_row_prepare needs. */
size_t tz_row_bytes(const tz_row_format *format);
size_t tz_row_scratch_bytes(const tz_row_format *format);

/* The first pixels of a row as samples of format->dtype, in row itself or in scratch. row is
 * changed. */
const uint8_t *tz_row_prepare(const tz_row_format *format, uint8_t *row, uint32_t pixels,
                              uint8_t *scratch);

/* What happens to samples on their way. */
typedef struct tz_placement {
    tz_dtype from;
    tz_dtype to;
    bool scaled; /* value * scale + offset, in double precision */
    double scale;
    double offset;
    tz_nodata nodata;   /* kind NONE: no sample is nodata */
    bool nodata_to_nan; /* only for a floating-point to */
} tz_placement;

/* Place count samples: steps are in bytes from one to the next. mask, if not NULL, gets 0 for
 * nodata and 255 for all else. */
void tz_row_place(const tz_placement *how, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                  ptrdiff_t dst_step, size_t count, uint8_t *mask, ptrdiff_t mask_step);

/* One value everywhere, cast like any other; of kind NONE it is 0. */
void tz_row_fill(tz_dtype dtype, const tz_nodata *value, uint8_t *dst, ptrdiff_t dst_step,
                 size_t count);

#endif
