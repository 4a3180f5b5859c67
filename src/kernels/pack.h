/* SPDX-License-Identifier: Apache-2.0
 * Samples of 1 to 31 bits for TIFF, which packs them without gaps, one row at a time. */
#ifndef TZ_KERNELS_PACK_H
#define TZ_KERNELS_PACK_H

#include "kernels/kernel.h"

/* Packs the low bits of count samples, highest bit first; zeros fill the last byte. bits is at most
 * the width of type. No byte is written before its samples are read, so that out may be row. */
#define TZ_PACK(name, type)                                                                        \
    TZ_FN void tz_pack_##name(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, tz_u64 count,      \
                              tz_u32 bits)                                                         \
    {                                                                                              \
        const tz_u64 kept = ((tz_u64)1 << bits) - 1;                                               \
        tz_u64 window = 0; /* its lowest bits wait for a whole byte */                             \
        tz_u32 waiting = 0;                                                                        \
        for (tz_u64 i = 0; i < count; i++) {                                                       \
            window = window << bits | (tz_load_##name(row + i * sizeof(type)) & kept);             \
            for (waiting += bits; waiting >= 8; waiting -= 8)                                      \
                *out++ = (tz_u8)(window >> (waiting - 8));                                         \
        }                                                                                          \
        if (waiting > 0)                                                                           \
            *out = (tz_u8)(window << (8 - waiting));                                               \
    }
TZ_PACK(u8, tz_u8)
TZ_PACK(u16, tz_u16)
TZ_PACK(u32, tz_u32)

/* True if any of count samples does not fit into bits. below: the number of negative values that
 * fit; added to a sample, it maps the values that fit to 0 .. 2^bits - 1. */
#define TZ_MISFIT(name, type)                                                                      \
    TZ_FN tz_u32 tz_misfit_##name(const TZ_GLOBAL tz_u8 *row, tz_u64 count, tz_u32 bits,           \
                                  tz_u32 below)                                                    \
    {                                                                                              \
        type over = 0;                                                                             \
        for (tz_u64 i = 0; i < count; i++)                                                         \
            over |= (type)((type)(tz_load_##name(row + i * sizeof(type)) + below) >> bits);        \
        return over != 0;                                                                          \
    }
TZ_MISFIT(u8, tz_u8)
TZ_MISFIT(u16, tz_u16)
TZ_MISFIT(u32, tz_u32)

#endif
