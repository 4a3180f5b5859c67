/* SPDX-License-Identifier: Apache-2.0
 * The loops of pixel work, as a table: the plain form of kernels/, and forms for instruction sets
 * that give the same bytes faster. Nothing here is ever written behind the last sample asked for.
 */
#ifndef TZ_PIXEL_ROW_OPS_H
#define TZ_PIXEL_ROW_OPS_H

#include <string.h>

#include "kernels/stats.h"
#include "kernels/wide.h"
#include "pixel/pixel.h"

/* A sample or its part: 1, 2, 4 or 8 bytes, as the index 0 to 3. */
enum { TZ_WORD_SIZES = 4 };

static inline unsigned tz_word_index(size_t bytes)
{
    return bytes == 8 ? 3 : (unsigned)bytes / 2;
}

/* Complex samples are two numbers. */
static inline unsigned tz_row_components(const tz_row_format *format)
{
    return format->sample_format == 5 || format->sample_format == 6 ? 2 : 1;
}

static inline bool tz_host_is_little_endian(void)
{
    const uint16_t probe = 1;
    return *(const uint8_t *)&probe == 1;
}

/* What means no data, as kernels/wide.h has numbers: its bits, and their kind. Not of kind NONE. */
static inline uint64_t tz_nodata_wide(const tz_nodata *nodata, uint32_t *kind)
{
    uint64_t bits;
    memcpy(&bits, &nodata->value, sizeof bits);
    *kind = nodata->kind == TZ_NODATA_FLOAT  ? TZ_WIDE_F64
            : nodata->kind == TZ_NODATA_UINT ? TZ_WIDE_U64
                                             : TZ_WIDE_I64;
    return bits;
}

/* How two by two pixels become one: the average where weights are 1. */
typedef struct tz_average_2x2_params {
    tz_dtype dtype;   /* uint8, uint16, int16 or float32 */
    uint32_t samples; /* of a pixel, side by side */
    bool has_nodata;
    int32_t nodata;    /* of integers: this value does not count and stands where nothing does */
    int32_t neighbour; /* what a mean becomes that comes to equal it */
    float nodata_real; /* the same of float32 */
    float neighbour_real;
    float none_real; /* what stands where nothing counts */
} tz_average_2x2_params;

/* Weighted sums of neighbouring samples: those of new pixel i are from[i] and the taps - 1 that
 * follow, with weights[k * width + i]. */
typedef struct tz_tap_weights {
    const int32_t *from;
    const double *weights;
    size_t width;
    uint32_t taps;
} tz_tap_weights;

typedef struct tz_row_ops {
    /* Predictor 2 by word size: count words, stride of them in a pixel. Reads TZ_ROW_SLACK bytes
     * behind row. */
    void (*unpredict2[TZ_WORD_SIZES])(const uint8_t *row, uint8_t *out, size_t count,
                                      uint32_t stride, bool swap);
    /* Predictor 3: the first wanted of count samples of width bytes, in the machine's byte order.
     * Uses up row. */
    void (*unpredict3)(uint8_t *row, uint8_t *out, size_t count, size_t wanted, unsigned width,
                       uint32_t stride);
    /* The other byte order, by word size; row and out may be the same. */
    void (*swap[TZ_WORD_SIZES])(const uint8_t *row, uint8_t *out, size_t count);
    /* Samples of 1 to 31 bits to integers of size bytes. Reads TZ_ROW_SLACK bytes behind row. */
    void (*unpack)(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size,
                   bool sign);
    /* Samples of size bytes (1, 2, 4, 8 or 16) from one step to another. */
    void (*copy)(size_t size, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                 ptrdiff_t dst_step, size_t count);
    /* tz_row_convert, where there is more to do than to copy. */
    void (*convert)(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                    ptrdiff_t dst_step, size_t count, uint8_t *mask, ptrdiff_t mask_step);

    /* The way back. Predictor 2 by word size; row and out may be the same; swap: out is in the
     * other byte order. Reads TZ_ROW_SLACK bytes behind row. */
    void (*predict2[TZ_WORD_SIZES])(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,
                                    bool swap);
    /* Predictor 3 of count samples of width bytes in the machine's byte order. Reads TZ_ROW_SLACK
     * bytes behind row, which does not overlap out. */
    void (*predict3)(const uint8_t *row, uint8_t *out, size_t count, unsigned width,
                     uint32_t stride);
    /* Integers of size bytes to 1 to 31 bits each; row and out may be the same. */
    void (*pack)(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size);
    /* NaN becomes value, which is a sample, by word size (not of bytes). */
    void (*replace_nan[TZ_WORD_SIZES])(uint8_t *row, size_t count, const uint8_t *value);
    /* Up to TZ_STATS_BLOCK samples that lie together. flags (NULL: all count) are 0 or not. */
    void (*block_stats)(tz_dtype dtype, const uint8_t *row, const uint8_t *flags, size_t count,
                        double pivot, tz_block_stats *out);

    /* Two rows of 2 * count pixels that lie together to count pixels. */
    void (*average_2x2)(const tz_average_2x2_params *how, const uint8_t *above,
                        const uint8_t *below, uint8_t *out, size_t count);
    /* Sums of weight * sample and of weights, for all new pixels, in the order of taps. NaN does
     * not count, nor does a weight of 0. totals NULL: all samples are finite. */
    void (*weighted_sums)(const tz_tap_weights *how, const double *samples, double *sums,
                          double *totals);
    /* out[i] = 0 + weights[0] * rows[0][i] + weights[1] * rows[1][i] ..., of width values. */
    void (*combine_rows)(const double *const *rows, const double *weights, uint32_t count,
                         size_t width, double *out);
    /* out[i] = sums[i] / totals[i], NaN where the total is not above 0. True: some are NaN. */
    bool (*divide)(const double *sums, const double *totals, size_t width, double *out);
} tz_row_ops;

extern const tz_row_ops tz_row_ops_scalar;
#if defined(__x86_64__)
extern const tz_row_ops tz_row_ops_avx2;
void tz_scalar_predict3(const uint8_t *row, uint8_t *out, size_t count, unsigned width,
                        uint32_t stride);
void tz_scalar_pack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size);
void tz_scalar_block_stats(tz_dtype dtype, const uint8_t *row, const uint8_t *flags, size_t count,
                           double pivot, tz_block_stats *out);

#endif

/* What runs here: the best that the processor has. */
const tz_row_ops *tz_row_ops_get(void);

/* For tests: use this table from now on, or the best one again (NULL). */
void tz_row_ops_force(const tz_row_ops *ops);

/* What the plain table is made of. */
void tz_scalar_unpredict3(uint8_t *row, uint8_t *out, size_t count, size_t wanted, unsigned width,
                          uint32_t stride);
void tz_scalar_unpack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size,
                      bool sign);
void tz_scalar_copy(size_t size, const uint8_t *src, ptrdiff_t src_step, uint8_t *dst,
                    ptrdiff_t dst_step, size_t count);
void tz_scalar_convert(const tz_conversion *how, const uint8_t *src, ptrdiff_t src_step,
                       uint8_t *dst, ptrdiff_t dst_step, size_t count, uint8_t *mask,
                       ptrdiff_t mask_step);
void tz_scalar_predict3(const uint8_t *row, uint8_t *out, size_t count, unsigned width,
                        uint32_t stride);
void tz_scalar_pack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size);
void tz_scalar_block_stats(tz_dtype dtype, const uint8_t *row, const uint8_t *flags, size_t count,
                           double pivot, tz_block_stats *out);
void tz_scalar_average_2x2(const tz_average_2x2_params *how, const uint8_t *above,
                           const uint8_t *below, uint8_t *out, size_t count);
void tz_scalar_weighted_sums(const tz_tap_weights *how, const double *samples, double *sums,
                             double *totals);
void tz_scalar_combine_rows(const double *const *rows, const double *weights, uint32_t count,
                            size_t width, double *out);
bool tz_scalar_divide(const double *sums, const double *totals, size_t width, double *out);

#endif
