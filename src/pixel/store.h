/* SPDX-License-Identifier: Apache-2.0
 * The way back: samples, a row at a time while it is in the first cache, to what a file stores.
 * What a sample becomes is defined once, in kernels/. */
#ifndef TZ_PIXEL_STORE_H
#define TZ_PIXEL_STORE_H

#include "kernels/stats.h"
#include "pixel/pixel.h"

/* Whether such rows can be written; NULL, or what is wrong with them. */
const char *tz_store_unsupported(const tz_row_format *format);

/* Whether rows are stored as they are. */
bool tz_store_is_plain(const tz_row_format *format);

/* One row of samples of format->dtype to tz_row_bytes(format) bytes as they are stored: packed to
 * odd widths, with the predictor's differences, in the file's byte order. It undoes what
 * tz_row_prepare does. out may be row itself; else row stays as it is. TZ_ROW_SLACK bytes behind
 * both may be read, and none behind out is written. scratch holds tz_store_scratch_bytes (0 but
 * with predictor 3); where that is 0, or out is not row, it may be NULL. */
void tz_store_row(const tz_row_format *format, const uint8_t *row, uint8_t *out, uint8_t *scratch);
size_t tz_store_scratch_bytes(const tz_row_format *format);

/* The first of count samples that format->bits cannot hold; count when there is none. */
size_t tz_store_misfit(const tz_row_format *format, const uint8_t *row, size_t count);

/* NaN becomes value, in samples of a floating-point type, not complex. */
void tz_store_replace_nan(tz_dtype dtype, uint8_t *row, size_t count, double value);

/* Whether all of count samples have the value (its bits; for floating-point nodata NaN any NaN). Of
 * kind NONE: are 0. */
bool tz_store_is_all(tz_dtype dtype, const tz_nodata *value, const uint8_t *row, size_t count);

/* Round the low bits of samples away as GDAL's DISCARD_LSB does: bits[s], less than the width of
 * the type, of sample s of every pixel. Samples that are nodata stay. Integer and floating-point
 * types, not complex. */
void tz_store_discard_bits(tz_dtype dtype, uint8_t *row, size_t pixels, uint32_t samples,
                           const uint8_t *bits, const tz_nodata *nodata);

/* Whether a sample can be nodata at all, and which one (16 bytes of room): the first value of its
 * type that equals nodata, exactly. */
bool tz_store_nodata_sample(tz_dtype dtype, const tz_nodata *nodata, uint8_t *sample);

/* Statistics of one band of one tile, gathered row by row, then of one band of the image, merged
 * tile by tile in their order; the order of sums is defined in doc/numerics.md. Count samples, step
 * bytes apart. mask (NULL: none) holds count bytes, 0 where a pixel does not count. Neither do
 * nodata and NaN. Complex types are not tallied: valid stays 0. */
void tz_stats_row(tz_stats *stats, tz_dtype dtype, const uint8_t *row, ptrdiff_t step, size_t count,
                  const tz_nodata *nodata, const uint8_t *mask);
void tz_stats_merge(tz_stats *sum, const tz_stats *part);
void tz_stats_result(const tz_stats *stats, tz_statistics *out);

#endif
