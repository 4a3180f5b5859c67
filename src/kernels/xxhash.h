/* SPDX-License-Identifier: Apache-2.0
 * xxHash of 32 bits with seed 0, the checksum of LZ4 frames, by one item. */
#ifndef TZ_KERNELS_XXHASH_H
#define TZ_KERNELS_XXHASH_H

#include "kernels/kernel.h"

#define TZ_XXHASH_1 0x9E3779B1u
#define TZ_XXHASH_2 0x85EBCA77u
#define TZ_XXHASH_3 0xC2B2AE3Du
#define TZ_XXHASH_4 0x27D4EB2Fu
#define TZ_XXHASH_5 0x165667B1u

TZ_FN tz_u32 tz_kernel_le32(const TZ_GLOBAL tz_u8 *at)
{
    return at[0] | (tz_u32)at[1] << 8 | (tz_u32)at[2] << 16 | (tz_u32)at[3] << 24;
}

TZ_FN tz_u32 tz_xxhash_rotate(tz_u32 x, tz_u32 bits)
{
    return x << bits | x >> (32u - bits);
}

TZ_FN tz_u32 tz_xxhash_lane(tz_u32 lane, const TZ_GLOBAL tz_u8 *at)
{
    return tz_xxhash_rotate(lane + tz_kernel_le32(at) * TZ_XXHASH_2, 13u) * TZ_XXHASH_1;
}

TZ_FN tz_u32 tz_kernel_xxhash32(const TZ_GLOBAL tz_u8 *bytes, tz_u32 size)
{
    tz_u32 at = 0u;
    tz_u32 hash = TZ_XXHASH_5;
    if (size >= 16u) {
        tz_u32 a = TZ_XXHASH_1 + TZ_XXHASH_2, b = TZ_XXHASH_2, c = 0u, d = 0u - TZ_XXHASH_1;
        for (; size - at >= 16u; at += 16u) {
            a = tz_xxhash_lane(a, bytes + at);
            b = tz_xxhash_lane(b, bytes + at + 4u);
            c = tz_xxhash_lane(c, bytes + at + 8u);
            d = tz_xxhash_lane(d, bytes + at + 12u);
        }
        hash = tz_xxhash_rotate(a, 1u) + tz_xxhash_rotate(b, 7u) + tz_xxhash_rotate(c, 12u) +
               tz_xxhash_rotate(d, 18u);
    }
    hash += size;
    for (; size - at >= 4u; at += 4u)
        hash = tz_xxhash_rotate(hash + tz_kernel_le32(bytes + at) * TZ_XXHASH_3, 17u) * TZ_XXHASH_4;
    for (; at < size; at++)
        hash = tz_xxhash_rotate(hash + bytes[at] * TZ_XXHASH_5, 11u) * TZ_XXHASH_1;
    hash = (hash ^ hash >> 15) * TZ_XXHASH_2;
    hash = (hash ^ hash >> 13) * TZ_XXHASH_3;
    return hash ^ hash >> 16;
}

#endif
