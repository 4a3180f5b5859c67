/* SPDX-License-Identifier: Apache-2.0
 * The loops of pixel work, as tables of functions: the scalar form, made of kernels/, and a form
 * with AVX2 that gives the same bytes faster. None of them writes past the last sample that was
 * asked for; the buffers may belong to other threads from there on. */
#ifndef TZ_PIXEL_ROW_OPS_H
#define TZ_PIXEL_ROW_OPS_H

#include <string.h>

#include "kernels/stats.h"
#include "kernels/wide.h"
#include "pixel/pixel.h"

/* A word is a sample, or a component of one: 1, 2, 4 or 8 bytes. Tables have an index 0 to 3 for
 * it. */
enum { TZ_WORD_SIZES = 4 };

static inline unsigned tz_word_index(size_t bytes)
{
    return bytes == 8 ? 3 : (unsigned)bytes / 2;
}

/* Complex samples (SampleFormat 5 and 6) are two numbers. */
static inline unsigned tz_row_components(const tz_row_format *format)
{
    return format->sample_format == TZ_SAMPLE_FORMAT_COMPLEX_INT ||
                   format->sample_format == TZ_SAMPLE_FORMAT_COMPLEX_FLOAT
               ? 2
               : 1;
}

static inline bool tz_host_is_little_endian(void)
{
    const uint16_t probe = 1;
    return *(const uint8_t *)&probe == 1;
}

/* Returns nodata as kernels/wide.h has numbers: its bits, and their kind. Not for kind NONE. */
static inline uint64_t tz_nodata_wide(const tz_nodata *nodata, uint32_t *kind)
{
    uint64_t bits;
    memcpy(&bits, &nodata->value, sizeof bits);
    *kind = nodata->kind == TZ_NODATA_KIND_FLOAT  ? TZ_WIDE_F64
            : nodata->kind == TZ_NODATA_KIND_UINT ? TZ_WIDE_U64
                                                  : TZ_WIDE_I64;
    return bits;
}

static inline bool tz_nodata_is_nan(const tz_nodata *nodata)
{
    return nodata->kind == TZ_NODATA_KIND_FLOAT && nodata->value.f != nodata->value.f;
}

/* ---- from a file ---- */

/* Reverts predictor 2 in count words, stride of them to a pixel. Reads TZ_ROW_SLACK bytes past the
 * row. */
typedef void tz_unpredict2_fn(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                              bool swap);

/* Reverts predictor 3: the first wanted of count samples of width bytes, in the byte order of the
 * host. Uses the row up. */
typedef void tz_unpredict3_fn(uint8_t *row, uint8_t *out, size_t count, size_t wanted,
                              unsigned width, uint32_t stride);

/* Changes the byte order of count words; row and out may be the same. */
typedef void tz_swap_fn(const uint8_t *row, uint8_t *out, size_t count);

/* Widens samples of 1 to 31 bits to integers of size bytes. Reads TZ_ROW_SLACK bytes past the
 * row. */
typedef void tz_unpack_fn(const uint8_t *row, uint8_t *out, size_t count, unsigned bits,
                          size_t size, bool sign);

/* Copies samples of size bytes (1, 2, 4, 8 or 16); steps are in bytes. */
typedef void tz_copy_fn(size_t size, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                        ptrdiff_t dst_step, size_t count);

/* tz_row_convert, if there is more to do than to copy. */
typedef void tz_convert_fn(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step,
                           uint8_t *dst, ptrdiff_t dst_step, size_t count, uint8_t *mask,
                           ptrdiff_t mask_step);

/* ---- to a file ---- */

/* Applies predictor 2; row and out may be the same. swap: out gets the other byte order. Reads
 * TZ_ROW_SLACK bytes past the row. */
typedef void tz_predict2_fn(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                            bool swap);

/* Applies predictor 3 to count samples of width bytes in the byte order of the host. Reads
 * TZ_ROW_SLACK bytes past the row, which does not overlap out. */
typedef void tz_predict3_fn(const uint8_t *row, uint8_t *out, size_t count, unsigned width,
                            uint32_t stride);

/* Packs integers of size bytes to 1 to 31 bits each; row and out may be the same. */
typedef void tz_pack_fn(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size);

/* Replaces NaN by value, which is a sample. */
typedef void tz_replace_nan_fn(uint8_t *row, size_t count, const uint8_t *value);

/* Sums up to TZ_STATS_BLOCK samples that lie together. flags (NULL: all count) are 0 or not. */
typedef void tz_block_stats_fn(tz_dtype dtype, const uint8_t *row, const uint8_t *flags,
                               size_t count, double pivot, tz_block_stats *out);

/* ---- overviews ---- */

/* The average of two by two pixels with a weight of 1 each. */
typedef struct tz_average_2x2_params {
    tz_dtype dtype;   /* uint8, uint16, int16 or float32 */
    uint32_t samples; /* of a pixel, adjacent */
    bool has_nodata;
    int32_t nodata;    /* of integers: does not count, and is the mean of none */
    int32_t neighbour; /* replaces a mean that equals nodata */
    float nodata_real; /* both for float32 */
    float neighbour_real;
    float none_real; /* the mean of none: nodata or NaN */
} tz_average_2x2_params;

/* Averages two rows of 2 * count pixels, which lie together, to count pixels. */
typedef void tz_average_2x2_fn(const tz_average_2x2_params *how, const uint8_t *above,
                               const uint8_t *below, uint8_t *out, size_t count);

/* Weighted sums of neighbouring samples: those of new pixel i are from[i] and the taps - 1 that
 * follow, with weights[k * width + i]. */
typedef struct tz_tap_weights {
    const int32_t *from;
    const double *weights;
    size_t width;
    uint32_t taps;
} tz_tap_weights;

/* Sums weight * sample, and weights, for all new pixels in the order of taps. NaN does not count,
 * nor does a weight of 0. totals NULL: all samples are finite. */
typedef void tz_weighted_sums_fn(const tz_tap_weights *how, const double *samples, double *sums,
                                 double *totals);

/* out[i] = 0 + weights[0] * rows[0][i] + weights[1] * rows[1][i] ..., of width values. */
typedef void tz_combine_rows_fn(const double *const *rows, const double *weights, uint32_t count,
                                size_t width, double *out);

/* out[i] = sums[i] / totals[i], or NaN if the total is not above 0. Returns true if any is NaN. */
typedef bool tz_divide_fn(const double *sums, const double *totals, size_t width, double *out);

/* ---- tables ---- */

typedef struct tz_row_ops {
    tz_unpredict2_fn *unpredict2[TZ_WORD_SIZES];
    tz_unpredict3_fn *unpredict3;
    tz_swap_fn *swap[TZ_WORD_SIZES]; /* not of bytes */
    tz_unpack_fn *unpack;
    tz_copy_fn *copy;
    tz_convert_fn *convert;
    tz_predict2_fn *predict2[TZ_WORD_SIZES];
    tz_predict3_fn *predict3;
    tz_pack_fn *pack;
    tz_replace_nan_fn *replace_nan[TZ_WORD_SIZES]; /* not of bytes */
    tz_block_stats_fn *block_stats;
    tz_average_2x2_fn *average_2x2;
    tz_weighted_sums_fn *weighted_sums;
    tz_combine_rows_fn *combine_rows;
    tz_divide_fn *divide;
} tz_row_ops;

extern const tz_row_ops tz_row_ops_scalar;
#if defined(__x86_64__)
extern const tz_row_ops tz_row_ops_avx2;
#endif

/* Returns the fastest table that the processor can run. */
const tz_row_ops *tz_row_ops_get(void);

/* For tests: use this table from now on, or the fastest one again (NULL). */
void tz_row_ops_force(const tz_row_ops *ops);

/* Scalar functions that other tables use for the formats and row ends they do not cover. */
tz_unpredict3_fn tz_scalar_unpredict3;
tz_unpack_fn tz_scalar_unpack;
tz_copy_fn tz_scalar_copy;
tz_convert_fn tz_scalar_convert;
tz_predict3_fn tz_scalar_predict3;
tz_pack_fn tz_scalar_pack;
tz_block_stats_fn tz_scalar_block_stats;
tz_average_2x2_fn tz_scalar_average_2x2;
tz_divide_fn tz_scalar_divide;

#endif
