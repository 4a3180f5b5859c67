/* SPDX-License-Identifier: Apache-2.0
 * Pixel work on the CPU, a row at a time while it is in the first-level cache: revert what the file
 * did to samples (predictor, byte order, odd widths), then store them in the caller's buffer (type,
 * scale, nodata, strides). The meaning of a sample is defined once, in kernels/. */
#ifndef TZ_PIXEL_PIXEL_H
#define TZ_PIXEL_PIXEL_H

#include <stddef.h>
#include <terrazzo/terrazzo.h>

#include "base/tiff_values.h"

/* A buffer of the caller as the library uses it: see tz_caller_buffer_enter. It is in host memory,
 * where data is its first sample, or in device memory; with neither it does not exist. */
typedef struct tz_pixel_buffer {
    void *data;
    tz_dtype dtype;
    uint32_t bands;
    uint32_t height;
    uint32_t width;
    int64_t band_stride; /* bytes, also negative; all 0: not resolved yet, packed */
    int64_t row_stride;
    int64_t column_stride;
    tz_device_memory *memory; /* NULL: memory of the host */
    uint64_t offset;          /* of the first sample in memory, in bytes */
} tz_pixel_buffer;

static inline bool tz_pixel_buffer_exists(const tz_pixel_buffer *buffer)
{
    return buffer->data || buffer->memory;
}

/* Returns the shape of a caller's complete buffer: type, sizes and strides, without its memory. */
tz_pixel_buffer tz_pixel_buffer_of_shape(const tz_buffer *buffer);

/* Sets the strides of a buffer in which all are 0: packed, band after band. Returns false if they
 * do not fit their type. */
bool tz_pixel_buffer_set_strides(tz_pixel_buffer *buffer);

/* Returns the address of a sample in a buffer with resolved strides. */
static inline uint8_t *tz_buffer_at(const tz_pixel_buffer *buffer, uint32_t band, int64_t row,
                                    int64_t column)
{
    return (uint8_t *)buffer->data + (int64_t)band * buffer->band_stride +
           row * buffer->row_stride + column * buffer->column_stride;
}

/* The layout of samples in a row of a decoded tile. */
typedef struct tz_row_format {
    tz_dtype dtype;         /* once unpacked */
    uint16_t bits;          /* of a sample, both components together */
    uint16_t sample_format; /* of TIFF: 1 unsigned, 2 signed, 3 floating point, 5, 6 complex */
    uint16_t samples;       /* of one pixel */
    uint16_t predictor;     /* 1, 2 or 3 */
    bool swap;              /* stored in the byte order that is not the host's */
    uint32_t width;         /* pixels of a row, needed by predictor 3 */
} tz_row_format;

/* Returns what is wrong with rows that cannot be read; NULL if they can. */
const char *tz_row_unsupported(const tz_row_format *format);

/* True if samples are whole bytes, and a power of two of them; those of all other widths are
 * packed. */
bool tz_row_has_words(const tz_row_format *format);

/* True if decoded rows are samples of format->dtype already, so that nothing has to be done. */
bool tz_row_is_plain(const tz_row_format *format);

/* Bytes that must be readable after the end of a row: loops with AVX2 load whole registers. */
#define TZ_ROW_SLACK 64

/* Return the bytes of one row in the tile, of one prepared row, and of the scratch that
 * tz_row_prepare needs (0 for nearly all formats: scratch may then be NULL). */
size_t tz_row_bytes(const tz_row_format *format);
size_t tz_row_prepared_bytes(const tz_row_format *format);
size_t tz_row_scratch_bytes(const tz_row_format *format);

/* Prepares the first pixels of a row as samples of format->dtype. They are written to out, exactly
 * pixels * samples * size of dtype bytes and none after them, so that out may be the caller's
 * raster; or, if nothing has to be done, row itself is returned and out is left alone. row holds a
 * whole row of the tile, may be changed, and does not overlap out; neither has to be aligned. */
const uint8_t *tz_row_prepare(const tz_row_format *format, uint8_t *row, uint32_t pixels,
                              uint8_t *out, uint8_t *scratch);

/* Copies the bytes of a row. stream: the destination is a large raster that is not read soon, and
 * is written around the caches if that pays. tz_row_copy_end makes streamed bytes visible to other
 * threads; call it after the last row of a tile. */
void tz_row_copy(uint8_t *dst, const uint8_t *src, size_t size, bool stream);
void tz_row_copy_end(void);

/* The change of samples between the file and the caller. */
typedef struct tz_conversion {
    tz_dtype from;
    tz_dtype to;
    bool scaled; /* value * scale + offset, in double precision */
    double scale;
    double offset;
    tz_nodata nodata;      /* kind NONE: no sample is nodata */
    tz_nodata replacement; /* of nodata: cast but not scaled; kind NONE: nodata is a value */
} tz_conversion;

/* Converts count samples: steps are in bytes from one to the next. mask, if not NULL, gets 0 for
 * nodata and 255 for all else. dst may be NULL: then only the mask is written. */
void tz_row_convert(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                    ptrdiff_t dst_step, size_t count, uint8_t *mask, ptrdiff_t mask_step);

/* Stores one value count times, cast like any other; of kind NONE it is 0. */
void tz_row_fill(tz_dtype dtype, const tz_nodata *value, uint8_t *dst, ptrdiff_t dst_step,
                 size_t count);

#endif
