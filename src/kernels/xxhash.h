/* SPDX-License-Identifier: Apache-2.0
 * xxHash with seed 0, by one work-item: XXH32, the checksum of LZ4 frames, and XXH64, whose lower
 * half is the checksum of Zstandard. Four accumulators take turns in words of 4 or 8 bytes, are
 * merged, and the rest of the bytes follows. codec/xxhash32.c has the 32-bit form for the host, for
 * sizes above 4 GiB. */
#ifndef TZ_KERNELS_XXHASH_H
#define TZ_KERNELS_XXHASH_H

#include "kernels/kernel.h"

#define TZ_XXHASH_1 0x9E3779B1u
#define TZ_XXHASH_2 0x85EBCA77u
#define TZ_XXHASH_3 0xC2B2AE3Du
#define TZ_XXHASH_4 0x27D4EB2Fu
#define TZ_XXHASH_5 0x165667B1u

TZ_FN tz_u32 tz_xxhash_rotate(tz_u32 x, tz_u32 bits)
{
    return x << bits | x >> (32u - bits);
}

TZ_FN tz_u32 tz_xxhash_round(tz_u32 accumulator, const TZ_GLOBAL tz_u8 *at)
{
    return tz_xxhash_rotate(accumulator + tz_kernel_le32(at) * TZ_XXHASH_2, 13u) * TZ_XXHASH_1;
}

TZ_FN tz_u32 tz_kernel_xxhash32(const TZ_GLOBAL tz_u8 *bytes, tz_u32 size)
{
    tz_u32 at = 0u;
    tz_u32 hash = TZ_XXHASH_5;
    if (size >= 16u) {
        tz_u32 a = TZ_XXHASH_1 + TZ_XXHASH_2, b = TZ_XXHASH_2, c = 0u, d = 0u - TZ_XXHASH_1;
        for (; size - at >= 16u; at += 16u) {
            a = tz_xxhash_round(a, bytes + at);
            b = tz_xxhash_round(b, bytes + at + 4u);
            c = tz_xxhash_round(c, bytes + at + 8u);
            d = tz_xxhash_round(d, bytes + at + 12u);
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

/* ---- 64 bits ---- */

#define TZ_XXHASH64_1 0x9E3779B185EBCA87ul
#define TZ_XXHASH64_2 0xC2B2AE3D27D4EB4Ful
#define TZ_XXHASH64_3 0x165667B19E3779F9ul
#define TZ_XXHASH64_4 0x85EBCA77C2B2AE63ul
#define TZ_XXHASH64_5 0x27D4EB2F165667C5ul

TZ_FN tz_u64 tz_xxhash64_rotate(tz_u64 x, tz_u32 bits)
{
    return x << bits | x >> (64u - bits);
}

TZ_FN tz_u64 tz_xxhash64_round(tz_u64 accumulator, tz_u64 word)
{
    return tz_xxhash64_rotate(accumulator + word * TZ_XXHASH64_2, 31u) * TZ_XXHASH64_1;
}

/* Adds an accumulator to the hash after the last whole block. */
TZ_FN tz_u64 tz_xxhash64_merge(tz_u64 hash, tz_u64 accumulator)
{
    return (hash ^ tz_xxhash64_round(0u, accumulator)) * TZ_XXHASH64_1 + TZ_XXHASH64_4;
}

TZ_FN_LARGE tz_u64 tz_kernel_xxhash64(const TZ_GLOBAL tz_u8 *bytes, tz_u32 size)
{
    tz_u32 at = 0u;
    tz_u64 hash = TZ_XXHASH64_5;
    if (size >= 32u) {
        tz_u64 a = TZ_XXHASH64_1 + TZ_XXHASH64_2, b = TZ_XXHASH64_2, c = 0u, d = 0u - TZ_XXHASH64_1;
        for (; size - at >= 32u; at += 32u) {
            a = tz_xxhash64_round(a, tz_kernel_le64(bytes + at));
            b = tz_xxhash64_round(b, tz_kernel_le64(bytes + at + 8u));
            c = tz_xxhash64_round(c, tz_kernel_le64(bytes + at + 16u));
            d = tz_xxhash64_round(d, tz_kernel_le64(bytes + at + 24u));
        }
        hash = tz_xxhash64_rotate(a, 1u) + tz_xxhash64_rotate(b, 7u) + tz_xxhash64_rotate(c, 12u) +
               tz_xxhash64_rotate(d, 18u);
        hash = tz_xxhash64_merge(hash, a);
        hash = tz_xxhash64_merge(hash, b);
        hash = tz_xxhash64_merge(hash, c);
        hash = tz_xxhash64_merge(hash, d);
    }
    hash += size;
    for (; size - at >= 8u; at += 8u)
        hash = tz_xxhash64_rotate(hash ^ tz_xxhash64_round(0u, tz_kernel_le64(bytes + at)), 27u) *
                   TZ_XXHASH64_1 +
               TZ_XXHASH64_4;
    for (; size - at >= 4u; at += 4u)
        hash = tz_xxhash64_rotate(hash ^ tz_kernel_le32(bytes + at) * TZ_XXHASH64_1, 23u) *
                   TZ_XXHASH64_2 +
               TZ_XXHASH64_3;
    for (; at < size; at++)
        hash = tz_xxhash64_rotate(hash ^ bytes[at] * TZ_XXHASH64_5, 11u) * TZ_XXHASH64_1;
    hash = (hash ^ hash >> 33) * TZ_XXHASH64_2;
    hash = (hash ^ hash >> 29) * TZ_XXHASH64_3;
    return hash ^ hash >> 32;
}

#endif
