/* SPDX-License-Identifier: Apache-2.0
 * Statistics of samples in the order of doc/numerics.md, so that every device has the same sums: a
 * row is divided into blocks of TZ_STATS_BLOCK samples, a block has eight accumulators that take
 * samples in turn, and blocks are added in their order. All of it needs double precision. */
#ifndef TZ_KERNELS_STATS_H
#define TZ_KERNELS_STATS_H

#include "kernels/kernel.h"

#ifdef TZ_HAS_F64

#define TZ_STATS_ACCUMULATORS 8u
/* Samples of a block: few enough that a double holds the sums of differences and of their squares
 * exactly, for samples of up to 16 bits and a whole pivot. */
#define TZ_STATS_BLOCK 1024u

/* Statistics of one block. */
typedef struct tz_block_stats {
    tz_u64 valid;
    tz_f64 minimum; /* infinite if nothing is valid, as is maximum */
    tz_f64 maximum;
    tz_f64 sum;
    tz_f64 squares;
} tz_block_stats;

/* Statistics of all blocks so far. Zeroed state is empty. */
typedef struct tz_stats {
    tz_u64 valid;
    tz_f64 minimum;
    tz_f64 maximum;
    tz_f64 pivot; /* sums are of differences to it, which keeps their bits */
    tz_f64 sum;
    tz_f64 squares;
} tz_stats;

/* ---- blocks ---- */

/* The accumulators of a block. A work-item of a work-group uses only the first of its own. */
typedef struct tz_accumulators {
    tz_f64 sums[TZ_STATS_ACCUMULATORS];
    tz_f64 squares[TZ_STATS_ACCUMULATORS];
    tz_f64 lowest[TZ_STATS_ACCUMULATORS];
    tz_f64 highest[TZ_STATS_ACCUMULATORS];
    tz_u64 valid[TZ_STATS_ACCUMULATORS];
} tz_accumulators;

TZ_FN void tz_accumulator_begin(tz_accumulators *acc, tz_u32 index)
{
    acc->sums[index] = acc->squares[index] = 0.0;
    acc->lowest[index] = tz_f64_of_bits(0x7ff0000000000000ULL); /* infinity */
    acc->highest[index] = tz_f64_of_bits(0xfff0000000000000ULL);
    acc->valid[index] = 0;
}

/* Adds a sample: its difference to the pivot, and the square of that. A sample that is not valid,
 * and NaN, adds 0. */
TZ_FN void tz_accumulator_add(tz_accumulators *acc, tz_u32 index, tz_f64 x, int is_valid,
                              tz_f64 pivot)
{
    const int counts = (is_valid != 0) & (x == x);
    const tz_f64 difference = counts ? x - pivot : 0.0;
    acc->sums[index] += difference;
    acc->squares[index] += difference * difference;
    acc->lowest[index] = counts && x < acc->lowest[index] ? x : acc->lowest[index];
    acc->highest[index] = counts && x > acc->highest[index] ? x : acc->highest[index];
    acc->valid[index] += (tz_u64)counts;
}

/* Adds accumulators in pairs that lie four apart, as a vector is halved. */
TZ_FN tz_f64 tz_accumulators_sum(const tz_f64 *accumulators)
{
    const tz_f64 even = (accumulators[0] + accumulators[4]) + (accumulators[2] + accumulators[6]);
    const tz_f64 odd = (accumulators[1] + accumulators[5]) + (accumulators[3] + accumulators[7]);
    return even + odd;
}

TZ_FN tz_block_stats tz_accumulators_merge(const tz_accumulators *acc)
{
    tz_block_stats block;
    block.valid = acc->valid[0];
    block.minimum = acc->lowest[0];
    block.maximum = acc->highest[0];
    for (tz_u32 i = 1; i < TZ_STATS_ACCUMULATORS; i++) {
        block.minimum = acc->lowest[i] < block.minimum ? acc->lowest[i] : block.minimum;
        block.maximum = acc->highest[i] > block.maximum ? acc->highest[i] : block.maximum;
        block.valid += acc->valid[i];
    }
    block.sum = tz_accumulators_sum(acc->sums);
    block.squares = tz_accumulators_sum(acc->squares);
    return block;
}

/* Adds one sample to each of the first count accumulators. flags: not 0 for valid samples; without
 * has_flags all are. */
TZ_FN void tz_accumulators_add(tz_accumulators *acc, const TZ_GLOBAL tz_f64 *samples,
                               const TZ_GLOBAL tz_u8 *flags, int has_flags, tz_u32 count,
                               tz_f64 pivot)
{
    for (tz_u32 i = 0; i < count; i++)
        tz_accumulator_add(acc, i, samples[i], !has_flags || flags[i] != 0, pivot);
}

/* The statistics of a block of count samples. */
TZ_FN tz_block_stats tz_block_stats_of(const TZ_GLOBAL tz_f64 *samples,
                                       const TZ_GLOBAL tz_u8 *flags, int has_flags, tz_u32 count,
                                       tz_f64 pivot)
{
    const tz_u32 whole = count - count % TZ_STATS_ACCUMULATORS;
    tz_accumulators accumulators;
    for (tz_u32 i = 0; i < TZ_STATS_ACCUMULATORS; i++)
        tz_accumulator_begin(&accumulators, i);
    for (tz_u32 i = 0; i < whole; i += TZ_STATS_ACCUMULATORS)
        tz_accumulators_add(&accumulators, samples + i, has_flags ? flags + i : flags, has_flags,
                            TZ_STATS_ACCUMULATORS, pivot);
    tz_accumulators_add(&accumulators, samples + whole, has_flags ? flags + whole : flags,
                        has_flags, count - whole, pivot);
    return tz_accumulators_merge(&accumulators);
}

/* ---- sums of blocks ---- */

/* The largest whole number that is not above x. From 2^52 on, numbers have no fraction. */
TZ_FN tz_f64 tz_floor(tz_f64 x)
{
    if (!(x > -4503599627370496.0 && x < 4503599627370496.0))
        return x;
    const tz_f64 whole = (tz_f64)(tz_i64)x;
    return whole > x ? whole - 1.0 : whole;
}

/* Begins statistics with the first block that has valid samples, summed with pivot 0: the pivot
 * becomes the mean of these samples, rounded for integers. The caller then sums the block again
 * with this pivot, and adds it. */
TZ_FN void tz_stats_begin(tz_stats *stats, const tz_block_stats *from_zero, int is_integer)
{
    const tz_f64 mean = from_zero->sum / (tz_f64)from_zero->valid;
    const tz_f64 pivot = is_integer ? tz_floor(mean + 0.5) : mean;
    stats->valid = 0;
    stats->minimum = from_zero->minimum;
    stats->maximum = from_zero->maximum;
    stats->pivot = pivot - pivot == 0.0 ? pivot : 0.0; /* 0 unless finite */
    stats->sum = stats->squares = 0.0;
}

TZ_FN void tz_stats_add_block(tz_stats *stats, const tz_block_stats *block)
{
    stats->valid += block->valid;
    stats->minimum = block->minimum < stats->minimum ? block->minimum : stats->minimum;
    stats->maximum = block->maximum > stats->maximum ? block->maximum : stats->maximum;
    stats->sum += block->sum;
    stats->squares += block->squares;
}

#endif

#endif
