/* SPDX-License-Identifier: Apache-2.0
 * The scalar table of row loops, and the choice of a table.
 *
 * The scalar functions give kernels/ the types of the tables; what a sample becomes is defined
 * there, once for the CPU and for devices. A few pass a constant instead of a variable: the
 * compiler then makes a loop for that value. Longer loops are in convert_row.c, copy_samples.c and
 * stats.c; those with AVX2 are in *_avx2.c and are declared in avx2.h.
 *
 * The table is chosen at each call, not once: the question costs a few instructions for a row, and
 * a test can force a table at any time. */
#include "pixel/row_ops.h"

#include <math.h>
#include <stdatomic.h>

#include "kernels/average_2x2.h"
#include "kernels/nan.h"
#include "kernels/pack.h"
#include "kernels/predictor.h"
#include "kernels/unpack.h"
#include "kernels/weighted_mean.h"
#include "pixel/avx2.h"

/* ---- from a file and to a file ---- */

#define TZ_SCALAR_PREDICT2(name)                                                                   \
    static void unpredict2_##name(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride, \
                                  bool swap)                                                       \
    {                                                                                              \
        tz_unpredict2_##name(row, out, count, stride, swap);                                       \
    }                                                                                              \
    static void predict2_##name(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,   \
                                bool swap)                                                         \
    {                                                                                              \
        tz_predict2_##name(row, out, count, stride, swap);                                         \
    }
TZ_SCALAR_PREDICT2(u8)
TZ_SCALAR_PREDICT2(u16)
TZ_SCALAR_PREDICT2(u32)
TZ_SCALAR_PREDICT2(u64)

#define TZ_SCALAR_WORDS(name)                                                                      \
    static void swap_##name(const uint8_t *row, uint8_t *out, size_t count)                        \
    {                                                                                              \
        tz_swap_row_##name(row, out, count);                                                       \
    }                                                                                              \
    static void replace_nan_##name(uint8_t *row, size_t count, const uint8_t *value)               \
    {                                                                                              \
        tz_replace_nan_##name(row, count, tz_load_##name(value));                                  \
    }
TZ_SCALAR_WORDS(u16)
TZ_SCALAR_WORDS(u32)
TZ_SCALAR_WORDS(u64)

/* Samples of four bytes, by far the most frequent, have a loop of their own, as in predict3. */
void tz_scalar_unpredict3(uint8_t *row, uint8_t *out, size_t count, size_t wanted, unsigned width,
                          uint32_t stride)
{
    const bool little_endian = tz_host_is_little_endian();
    tz_sum_bytes(row, count * (width - 1) + wanted, stride);
    if (width == 4)
        tz_join_planes(row, out, count, wanted, 4, little_endian);
    else
        tz_join_planes(row, out, count, wanted, width, little_endian);
}

void tz_scalar_predict3(const uint8_t *row, uint8_t *out, size_t count, unsigned width,
                        uint32_t stride)
{
    const bool little_endian = tz_host_is_little_endian();
    if (width == 4)
        tz_predict3(row, out, count, 4, stride, little_endian);
    else
        tz_predict3(row, out, count, width, stride, little_endian);
}

void tz_scalar_unpack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size,
                      bool sign)
{
    if (size == 1)
        (sign ? tz_unpack_signed_u8 : tz_unpack_u8)(row, out, 0, count, bits);
    else if (size == 2)
        (sign ? tz_unpack_signed_u16 : tz_unpack_u16)(row, out, 0, count, bits);
    else
        (sign ? tz_unpack_signed_u32 : tz_unpack_u32)(row, out, 0, count, bits);
}

void tz_scalar_pack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size)
{
    (size == 1 ? tz_pack_u8 : size == 2 ? tz_pack_u16 : tz_pack_u32)(row, out, count, bits);
}

/* ---- overviews ---- */

/* Sample i of the result, in pixel i / samples, is made of two samples of each row that are `next`
 * bytes apart. */
#define AVERAGE_2X2(name, type, ...)                                                               \
    static void average_##name(const tz_average_2x2_params *how, const uint8_t *above,             \
                               const uint8_t *below, uint8_t *out, size_t count)                   \
    {                                                                                              \
        const size_t next = how->samples * sizeof(type);                                           \
        for (size_t i = 0; i < count * how->samples; i++) {                                        \
            const size_t at = (i / how->samples * how->samples + i) * sizeof(type);                \
            type x[4];                                                                             \
            memcpy(&x[0], above + at, sizeof(type));                                               \
            memcpy(&x[1], above + at + next, sizeof(type));                                        \
            memcpy(&x[2], below + at, sizeof(type));                                               \
            memcpy(&x[3], below + at + next, sizeof(type));                                        \
            const type mean = tz_average_2x2_##name(x[0], x[1], x[2], x[3], TZ_AVERAGE_2X2_ALL,    \
                                                    how->has_nodata, __VA_ARGS__);                 \
            memcpy(out + i * sizeof(type), &mean, sizeof mean);                                    \
        }                                                                                          \
    }
AVERAGE_2X2(u8, uint8_t, (uint8_t)how->nodata, (uint8_t)how->neighbour)
AVERAGE_2X2(u16, uint16_t, (uint16_t)how->nodata, (uint16_t)how->neighbour)
AVERAGE_2X2(i16, int16_t, (int16_t)how->nodata, (int16_t)how->neighbour)
AVERAGE_2X2(f32, float, how->nodata_real, how->neighbour_real, how->none_real)

void tz_scalar_average_2x2(const tz_average_2x2_params *how, const uint8_t *above,
                           const uint8_t *below, uint8_t *out, size_t count)
{
    (how->dtype == TZ_DTYPE_UINT8    ? average_u8
     : how->dtype == TZ_DTYPE_UINT16 ? average_u16
     : how->dtype == TZ_DTYPE_INT16  ? average_i16
                                     : average_f32)(how, above, below, out, count);
}

static void scalar_weighted_sums(const tz_tap_weights *how, const double *samples, double *sums,
                                 double *totals)
{
    for (size_t i = 0; i < how->width; i++) {
        double total;
        tz_weighted_sum_row(samples + how->from[i], how->weights + i, how->width, how->taps,
                            &sums[i], totals ? &totals[i] : &total);
    }
}

static void scalar_combine_rows(const double *const *rows, const double *weights, uint32_t count,
                                size_t width, double *out)
{
    for (size_t i = 0; i < width; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < count; k++)
            sum += weights[k] * rows[k][i];
        out[i] = sum;
    }
}

bool tz_scalar_divide(const double *sums, const double *totals, size_t width, double *out)
{
    bool any = false;
    for (size_t i = 0; i < width; i++) {
        out[i] = tz_weighted_mean(sums[i], totals[i], (double)NAN);
        any |= out[i] != out[i];
    }
    return any;
}

/* ---- tables ---- */

const tz_row_ops tz_row_ops_scalar = {
    .unpredict2 = {unpredict2_u8, unpredict2_u16, unpredict2_u32, unpredict2_u64},
    .unpredict3 = tz_scalar_unpredict3,
    .swap = {NULL, swap_u16, swap_u32, swap_u64},
    .unpack = tz_scalar_unpack,
    .copy = tz_scalar_copy,
    .convert = tz_scalar_convert,
    .predict2 = {predict2_u8, predict2_u16, predict2_u32, predict2_u64},
    .predict3 = tz_scalar_predict3,
    .pack = tz_scalar_pack,
    .replace_nan = {NULL, replace_nan_u16, replace_nan_u32, replace_nan_u64},
    .block_stats = tz_scalar_block_stats,
    .average_2x2 = tz_scalar_average_2x2,
    .weighted_sums = scalar_weighted_sums,
    .combine_rows = scalar_combine_rows,
    .divide = tz_scalar_divide,
};

#if defined(__x86_64__)
const tz_row_ops tz_row_ops_avx2 = {
    .unpredict2 = {tz_avx2_unpredict2_u8, tz_avx2_unpredict2_u16, tz_avx2_unpredict2_u32,
                   tz_avx2_unpredict2_u64},
    .unpredict3 = tz_avx2_unpredict3,
    .swap = {NULL, tz_avx2_swap_u16, tz_avx2_swap_u32, tz_avx2_swap_u64},
    .unpack = tz_avx2_unpack,
    .copy = tz_avx2_copy,
    .convert = tz_avx2_convert,
    .predict2 = {tz_avx2_predict2_u8, tz_avx2_predict2_u16, tz_avx2_predict2_u32,
                 tz_avx2_predict2_u64},
    .predict3 = tz_avx2_predict3,
    .pack = tz_avx2_pack,
    .replace_nan = {NULL, tz_avx2_replace_nan_u16, tz_avx2_replace_nan_u32,
                    tz_avx2_replace_nan_u64},
    .block_stats = tz_avx2_block_stats,
    .average_2x2 = tz_avx2_average_2x2,
    .weighted_sums = tz_avx2_weighted_sums,
    .combine_rows = tz_avx2_combine_rows,
    .divide = tz_avx2_divide,
};
#endif

/* NULL but in tests. */
static _Atomic(const tz_row_ops *) forced_ops;

const tz_row_ops *tz_row_ops_get(void)
{
    const tz_row_ops *ops = atomic_load_explicit(&forced_ops, memory_order_relaxed);
    if (ops)
        return ops;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return &tz_row_ops_avx2;
#endif
    return &tz_row_ops_scalar;
}

void tz_row_ops_force(const tz_row_ops *ops)
{
    atomic_store_explicit(&forced_ops, ops, memory_order_relaxed);
}
