/* SPDX-License-Identifier: Apache-2.0
 * The way to a file: samples to the form in which the file stores them, a row at a time while it is
 * in the first-level cache. The meaning of a sample is defined once, in kernels/. */
#ifndef TZ_PIXEL_STORE_H
#define TZ_PIXEL_STORE_H

#include "kernels/stats.h"
#include "pixel/pixel.h"

/* Returns what is wrong with rows that cannot be written; NULL if they can. */
const char *tz_store_unsupported(const tz_row_format *format);

/* Converts one row of samples of format->dtype to the tz_row_bytes(format) bytes of the file:
 * packed to odd widths, with the predictor's differences, in the file's byte order. It reverts
 * tz_row_prepare. out may be row itself; else row stays as it is. TZ_ROW_SLACK bytes after both may
 * be read, and none after out is written. scratch holds tz_store_scratch_bytes (0 but with
 * predictor 3); if that is 0, or out is not row, it may be NULL. */
void tz_store_row(const tz_row_format *format, const uint8_t *row, uint8_t *out, uint8_t *scratch);
size_t tz_store_scratch_bytes(const tz_row_format *format);

/* Returns the first of count samples that format->bits cannot hold; count if there is none. */
size_t tz_store_misfit(const tz_row_format *format, const uint8_t *row, size_t count);

/* Replaces NaN by value, in samples of a floating-point type, not complex. */
void tz_store_replace_nan(tz_dtype dtype, uint8_t *row, size_t count, double value);

/* True if all of count samples have the value (its bits; if it is NaN, any NaN), or are 0 for kind
 * NONE. */
bool tz_store_is_all(tz_dtype dtype, const tz_nodata *value, const uint8_t *row, size_t count);

/* Rounds low bits of samples away as GDAL's DISCARD_LSB does: bits[s], less than the width of the
 * type, of sample s of every pixel. Samples that are nodata stay. Integer and floating-point types,
 * not complex. */
void tz_store_discard_bits(tz_dtype dtype, uint8_t *row, size_t pixels, uint32_t samples,
                           const uint8_t *bits, const tz_nodata *nodata);

/* Returns true if samples can be nodata at all, and that sample (up to 16 bytes): the first value
 * of its type that equals nodata exactly. */
bool tz_store_nodata_sample(tz_dtype dtype, const tz_nodata *nodata, uint8_t *sample);

/* Statistics of one band of one tile, gathered row by row, then of one band of the image, merged
 * tile by tile in their order; the order of sums is defined in doc/numerics.md. A row has count
 * samples, step bytes apart. mask (NULL: none) has count bytes, 0 if a pixel does not count.
 * Neither do nodata and NaN. Complex types have no statistics: valid stays 0. */
void tz_stats_row(tz_stats *stats, tz_dtype dtype, const uint8_t *row, ptrdiff_t step, size_t count,
                  const tz_nodata *nodata, const uint8_t *mask);
void tz_stats_merge(tz_stats *sum, const tz_stats *tile);
void tz_stats_result(const tz_stats *stats, tz_statistics *out);

#endif
