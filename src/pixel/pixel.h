/* SPDX-License-Identifier: Apache-2.0
 * Pixel work on the cores, a row at a time while it is in the first cache: undo what the file did
 * to samples (predictor, byte order, odd widths), then put them where the caller wants them (type,
 * scale, nodata, strides). What a sample becomes is defined once, in kernels/. */
#ifndef TZ_PIXEL_PIXEL_H
#define TZ_PIXEL_PIXEL_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

/* Where a sample of a buffer with resolved strides is. */
static inline uint8_t *tz_buffer_at(const tz_buffer *buffer, uint32_t band, int64_t row,
                                    int64_t column)
{
    return (uint8_t *)buffer->data + (int64_t)band * buffer->band_stride +
           row * buffer->row_stride + column * buffer->column_stride;
}

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

/* Whether samples are whole bytes, and a power of two of them; those of all other widths are
 * packed.
 */
bool tz_row_has_words(const tz_row_format *format);

/* Whether decoded rows are samples of format->dtype already, so that nothing has to be prepared. */
bool tz_row_is_plain(const tz_row_format *format);

/* How many bytes must be readable behind the end of a row. */
#define TZ_ROW_SLACK 64

/* Bytes of one row in the tile, of one prepared row, and of the scratch that tz_row_prepare needs
 * (0 for nearly all formats: scratch may then be NULL). */
size_t tz_row_bytes(const tz_row_format *format);
size_t tz_row_prepared_bytes(const tz_row_format *format);
size_t tz_row_scratch_bytes(const tz_row_format *format);

/* The first pixels of a row as samples of format->dtype. They are written to out, exactly pixels *
 * samples * size of dtype bytes and none behind, so that out may be the caller's raster; or, where
 * nothing has to be done to them, row itself is returned and out is left alone. row holds a whole
 * row of the tile, may be changed, and does not overlap out; neither has to be aligned. */
const uint8_t *tz_row_prepare(const tz_row_format *format, uint8_t *row, uint32_t pixels,
                              uint8_t *out, uint8_t *scratch);

/* Copy the bytes of a row. stream: the destination is a large raster that is not read soon, and is
 * written around the caches where that pays. tz_row_copy_end makes streamed bytes visible to other
 * threads; call it after the last row of a tile. */
void tz_row_copy(uint8_t *dst, const uint8_t *src, size_t size, bool stream);
void tz_row_copy_end(void);

/* What happens to samples on their way. */
typedef struct tz_conversion {
    tz_dtype from;
    tz_dtype to;
    bool scaled; /* value * scale + offset, in double precision */
    double scale;
    double offset;
    tz_nodata nodata;   /* kind NONE: no sample is nodata */
    bool nodata_to_nan; /* only for a floating-point to */
} tz_conversion;

/* Place count samples: steps are in bytes from one to the next. mask, if not NULL, gets 0 for
 * nodata and 255 for all else. dst may be NULL: then only the mask is written. */
void tz_row_convert(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                    ptrdiff_t dst_step, size_t count, uint8_t *mask, ptrdiff_t mask_step);

/* One value everywhere, cast like any other; of kind NONE it is 0. */
void tz_row_fill(tz_dtype dtype, const tz_nodata *value, uint8_t *dst, ptrdiff_t dst_step,
                 size_t count);

#endif
