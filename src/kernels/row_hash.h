/* SPDX-License-Identifier: Apache-2.0
 * The hash by which a writer checks that a tile reads back as it was given. A multiplication
 * spreads each word of eight bytes over all bits; four accumulators do not wait for each other. The
 * hash finds mistakes, not attacks. Words are loaded in the byte order of the machine: hashes are
 * compared within one run and are never stored. */
#ifndef TZ_KERNELS_ROW_HASH_H
#define TZ_KERNELS_ROW_HASH_H

#include "kernels/kernel.h"

#define TZ_HASH_ACCUMULATORS 4u
#define TZ_HASH_BLOCK        32u /* bytes: a word for each accumulator */

/* Multiplies by an odd constant, which loses no bits, and folds the high half into the low half. */
TZ_FN tz_u64 tz_hash_mix(tz_u64 hash, tz_u64 word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    return hash ^ hash >> 32;
}

/* The value of an accumulator at the start of a row; hash is that of the row before. */
TZ_FN tz_u64 tz_hash_accumulator_begin(tz_u64 hash, tz_u32 accumulator)
{
    return accumulator == 0u   ? hash
           : accumulator == 1u ? ~hash
           : accumulator == 2u ? hash << 1
                               : hash >> 1;
}

/* The word of an accumulator in the last block, which has only size bytes; zeros follow them. */
TZ_FN tz_u64 tz_hash_rest(const TZ_GLOBAL tz_u8 *rest, tz_u32 size, tz_u32 accumulator)
{
    tz_u64 word = 0;
    for (tz_u32 i = 0; i < 8u && 8u * accumulator + i < size; i++)
        word |= (tz_u64)rest[8u * accumulator + i] << 8 * i;
    return word;
}

/* The hash of a row, whose last block had rest bytes. */
TZ_FN tz_u64 tz_hash_merge_accumulators(tz_u64 a, tz_u64 b, tz_u64 c, tz_u64 d, tz_u32 rest)
{
    return tz_hash_mix(tz_hash_mix(tz_hash_mix(a, b), c), d) + rest;
}

/* One accumulator of a row of size bytes, for work-items that share the row. */
TZ_FN tz_u64 tz_hash_accumulate(tz_u64 hash, const TZ_GLOBAL tz_u8 *row, tz_u64 size,
                                tz_u32 accumulator)
{
    tz_u64 sum = tz_hash_accumulator_begin(hash, accumulator);
    tz_u64 at = 0;
    for (; size - at >= TZ_HASH_BLOCK; at += TZ_HASH_BLOCK)
        sum = tz_hash_mix(sum, tz_load_u64(row + at + 8u * accumulator));
    return tz_hash_mix(sum, tz_hash_rest(row + at, (tz_u32)(size - at), accumulator));
}

/* The hash of a row after that of the rows before. */
TZ_FN tz_u64 tz_hash_row(tz_u64 hash, const TZ_GLOBAL tz_u8 *row, tz_u64 size)
{
    tz_u64 accumulators[TZ_HASH_ACCUMULATORS];
    tz_u64 at = 0;
    for (tz_u32 i = 0; i < TZ_HASH_ACCUMULATORS; i++)
        accumulators[i] = tz_hash_accumulator_begin(hash, i);
    for (; size - at >= TZ_HASH_BLOCK; at += TZ_HASH_BLOCK)
        for (tz_u32 i = 0; i < TZ_HASH_ACCUMULATORS; i++)
            accumulators[i] = tz_hash_mix(accumulators[i], tz_load_u64(row + at + 8u * i));
    const tz_u32 rest = (tz_u32)(size - at);
    for (tz_u32 i = 0; i < TZ_HASH_ACCUMULATORS; i++)
        accumulators[i] = tz_hash_mix(accumulators[i], tz_hash_rest(row + at, rest, i));
    return tz_hash_merge_accumulators(accumulators[0], accumulators[1], accumulators[2],
                                      accumulators[3], rest);
}

#endif
