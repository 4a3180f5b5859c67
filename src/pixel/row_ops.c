/* SPDX-License-Identifier: Apache-2.0
 * The plain table, and the choice of a table. */
#include "pixel/row_ops.h"

#include <stdatomic.h>

#include "kernels/nan.h"
#include "kernels/pack.h"
#include "kernels/predictor.h"
#include "kernels/unpack.h"
#include "pixel/avx2.h"

#define TZ_PLAIN_UNDO2(name)                                                                       \
    static void undo2_##name(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,      \
                             bool swap)                                                            \
    {                                                                                              \
        tz_undo_predictor2_##name(row, out, count, stride, swap);                                  \
    }
TZ_PLAIN_UNDO2(u8)
TZ_PLAIN_UNDO2(u16)
TZ_PLAIN_UNDO2(u32)
TZ_PLAIN_UNDO2(u64)

#define TZ_PLAIN_SWAP(name)                                                                        \
    static void swap_##name(const uint8_t *row, uint8_t *out, size_t count)                        \
    {                                                                                              \
        tz_swap_row_##name(row, out, count);                                                       \
    }
TZ_PLAIN_SWAP(u16)
TZ_PLAIN_SWAP(u32)
TZ_PLAIN_SWAP(u64)

void tz_plain_undo3(uint8_t *row, uint8_t *out, size_t count, size_t wanted, unsigned width,
                    uint32_t stride)
{
    const bool little_endian = tz_host_is_little_endian();
    tz_sum_bytes(row, count * (width - 1) + wanted, stride);
    if (width == 4) /* a constant makes a better loop */
        tz_join_planes(row, out, count, wanted, 4, little_endian);
    else
        tz_join_planes(row, out, count, wanted, width, little_endian);
}

void tz_plain_unpack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size,
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

#define TZ_PLAIN_DO2(name)                                                                         \
    static void do2_##name(const uint8_t *row, uint8_t *out, size_t count, uint32_t stride,        \
                           bool swap)                                                              \
    {                                                                                              \
        tz_predictor2_##name(row, out, count, stride, swap);                                       \
    }
TZ_PLAIN_DO2(u8)
TZ_PLAIN_DO2(u16)
TZ_PLAIN_DO2(u32)
TZ_PLAIN_DO2(u64)

#define TZ_PLAIN_REPLACE_NAN(name)                                                                 \
    static void replace_nan_##name(uint8_t *row, size_t count, const uint8_t *value)               \
    {                                                                                              \
        tz_replace_nan_##name(row, count, tz_load_##name(value));                                  \
    }
TZ_PLAIN_REPLACE_NAN(u16)
TZ_PLAIN_REPLACE_NAN(u32)
TZ_PLAIN_REPLACE_NAN(u64)

void tz_plain_do3(const uint8_t *row, uint8_t *out, size_t count, unsigned width, uint32_t stride)
{
    const bool little_endian = tz_host_is_little_endian();
    if (width == 4) /* a constant makes a better loop */
        tz_predictor3(row, out, count, 4, stride, little_endian);
    else
        tz_predictor3(row, out, count, width, stride, little_endian);
}

void tz_plain_pack(const uint8_t *row, uint8_t *out, size_t count, unsigned bits, size_t size)
{
    if (size == 1)
        tz_pack_u8(row, out, count, bits);
    else if (size == 2)
        tz_pack_u16(row, out, count, bits);
    else
        tz_pack_u32(row, out, count, bits);
}

/* ---- tables ---- */

const tz_row_ops tz_row_ops_plain = {
    .undo2 = {undo2_u8, undo2_u16, undo2_u32, undo2_u64},
    .undo3 = tz_plain_undo3,
    .swap = {NULL, swap_u16, swap_u32, swap_u64},
    .unpack = tz_plain_unpack,
    .copy = tz_plain_copy,
    .place = tz_plain_place,
    .do2 = {do2_u8, do2_u16, do2_u32, do2_u64},
    .do3 = tz_plain_do3,
    .pack = tz_plain_pack,
    .replace_nan = {NULL, replace_nan_u16, replace_nan_u32, replace_nan_u64},
    .tally = tz_plain_tally,
    .halve = tz_plain_halve,
    .weigh = tz_plain_weigh,
    .combine = tz_plain_combine,
    .divide = tz_plain_divide,
};

#if defined(__x86_64__)
const tz_row_ops tz_row_ops_avx2 = {
    .undo2 = {tz_avx2_undo2_u8, tz_avx2_undo2_u16, tz_avx2_undo2_u32, tz_avx2_undo2_u64},
    .undo3 = tz_avx2_undo3,
    .swap = {NULL, tz_avx2_swap_u16, tz_avx2_swap_u32, tz_avx2_swap_u64},
    .unpack = tz_avx2_unpack,
    .copy = tz_avx2_copy,
    .place = tz_avx2_place,
    .do2 = {tz_avx2_do2_u8, tz_avx2_do2_u16, tz_avx2_do2_u32, tz_avx2_do2_u64},
    .do3 = tz_avx2_do3,
    .pack = tz_avx2_pack,
    .replace_nan = {NULL, tz_avx2_replace_nan_u16, tz_avx2_replace_nan_u32,
                    tz_avx2_replace_nan_u64},
    .tally = tz_avx2_tally,
    .halve = tz_avx2_halve,
    .weigh = tz_avx2_weigh,
    .combine = tz_avx2_combine,
    .divide = tz_avx2_divide,
};
#endif

/* NULL but in tests. */
static _Atomic(const tz_row_ops *) forced;

const tz_row_ops *tz_row_ops_get(void)
{
    const tz_row_ops *ops = atomic_load_explicit(&forced, memory_order_relaxed);
    if (ops)
        return ops;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return &tz_row_ops_avx2;
#endif
    return &tz_row_ops_plain;
}

void tz_row_ops_force(const tz_row_ops *ops)
{
    atomic_store_explicit(&forced, ops, memory_order_relaxed);
}
