/* SPDX-License-Identifier: Apache-2.0
 * The plain table, and the choice of a table. */
#include "pixel/row_ops.h"

#include <stdatomic.h>

#include "kernels/nan.h"
#include "kernels/pack.h"
#include "kernels/predictor.h"
#include "kernels/unpack.h"
#include "pixel/avx2.h"

#define TZ_SCALAR_UNPREDICT2(name)                                                                 \
    static void unpredict2_##name(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride, \
                                  bool swap)                                                       \
    {                                                                                              \
        tz_unpredict2_##name(row, out, count, stride, swap);                                       \
    }
TZ_SCALAR_UNPREDICT2(u8)
TZ_SCALAR_UNPREDICT2(u16)
TZ_SCALAR_UNPREDICT2(u32)
TZ_SCALAR_UNPREDICT2(u64)

#define TZ_SCALAR_SWAP(name)                                                                       \
    static void swap_##name(const uint8_t *row, uint8_t *out, size_t count)                        \
    {                                                                                              \
        tz_swap_row_##name(row, out, count);                                                       \
    }
TZ_SCALAR_SWAP(u16)
TZ_SCALAR_SWAP(u32)
TZ_SCALAR_SWAP(u64)

void tz_scalar_unpredict3(uint8_t *row, uint8_t *out, size_t count, size_t wanted, unsigned width,
                          uint32_t stride)
{
    const bool little_endian = tz_host_is_little_endian();
    tz_sum_bytes(row, count * (width - 1) + wanted, stride);
    if (width == 4) /* a constant makes a better loop */
        tz_join_planes(row, out, count, wanted, 4, little_endian);
    else
        tz_join_planes(row, out, count, wanted, width, little_endian);
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

/* ---- the way back ---- */

#define TZ_SCALAR_PREDICT2(name)                                                                   \
    static void predict2_##name(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,   \
                                bool swap)                                                         \
    {                                                                                              \
        tz_predict2_##name(row, out, count, stride, swap);                                         \
    }
TZ_SCALAR_PREDICT2(u8)
TZ_SCALAR_PREDICT2(u16)
TZ_SCALAR_PREDICT2(u32)
TZ_SCALAR_PREDICT2(u64)

#define TZ_SCALAR_REPLACE_NAN(name)                                                                \
    static void replace_nan_##name(uint8_t *row, size_t count, const uint8_t *value)               \
    {                                                                                              \
        tz_replace_nan_##name(row, count, tz_load_##name(value));                                  \
    }
TZ_SCALAR_REPLACE_NAN(u16)
TZ_SCALAR_REPLACE_NAN(u32)
TZ_SCALAR_REPLACE_NAN(u64)

void tz_scalar_predict3(const uint8_t *row, uint8_t *out, size_t count, unsigned width,
                        uint32_t stride)
{
    const bool little_endian = tz_host_is_little_endian();
    if (width == 4) /* a constant makes a better loop */
        tz_predict3(row, out, count, 4, stride, little_endian);
    else
        tz_predict3(row, out, count, width, stride, little_endian);
}

void tz_scalar_pack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size)
{
    if (size == 1)
        tz_pack_u8(row, out, count, bits);
    else if (size == 2)
        tz_pack_u16(row, out, count, bits);
    else
        tz_pack_u32(row, out, count, bits);
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
    .weighted_sums = tz_scalar_weighted_sums,
    .combine_rows = tz_scalar_combine_rows,
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
