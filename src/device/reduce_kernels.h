/* SPDX-License-Identifier: Apache-2.0
 * Reductions by the rules of doc/numerics.md, in doubles, one new pixel at a time. */
#ifndef TZ_DEVICE_REDUCE_KERNELS_H
#define TZ_DEVICE_REDUCE_KERNELS_H

#include "device/reduce_halve_kernels.h"
#include "kernels/choose.h"
#include "kernels/part_value.h"
#include "kernels/weigh.h"

#if !defined(__OPENCL_VERSION__) && !defined(__CUDACC__)
#include <math.h>
#endif

/* As tz_resampling numbers them. */
enum { TZ_METHOD_BILINEAR = 3, TZ_METHOD_RMS = 7, TZ_METHOD_MODE = 8, TZ_METHOD_MIN = 9 };

#define TZ_REDUCE_NAN tz_f64_of_bits((tz_u64)0x7ff8000000000000ULL)

/* ---- averages of two by two floats ---- */

/* OpenCL C has no macros of any number of arguments: these two are one. */
#define TZ_HALF_F32_LAST                                                                           \
    tz_f32_of_bits((tz_u32)words[TZ_RW_HALF_BESIDE]),                                              \
        tz_f32_of_bits((tz_u32)words[left == 0u ? TZ_RW_HALF_NODATA : TZ_RW_HALF_NONE])
TZ_REDUCE_HALF(f32, u32, tz_f32, tz_f32_of_bits, tz_bits_of_f32,
               tz_f32_of_bits((tz_u32)words[TZ_RW_HALF_NODATA]), TZ_HALF_F32_LAST)

/* ---- old samples ---- */

/* How samples of a plane are looked at. */
typedef struct tz_old_plane {
    int is_mask;   /* samples are 255 where pixels are left */
    int is_pair;   /* complex: */
    int is_second; /* the part that is wanted */
    int is_tested; /* not of alpha */
    tz_u32 test;
    tz_u64 nodata;
} tz_old_plane;

TZ_FN tz_old_plane tz_old_plane_of(const tz_reduce_job *job, const tz_reduce_span *span)
{
    tz_old_plane plane;
    plane.is_mask = tz_reduce_is_mask(job, span);
    plane.is_pair = tz_reduce_word(job, TZ_RW_PARTS) == 2u;
    plane.is_second = span->part == 1u;
    plane.is_tested = !tz_reduce_is_alpha(job, span);
    plane.test = plane.is_tested ? tz_reduce_word(job, TZ_RW_TEST) : (tz_u32)TZ_NONE_NEVER;
    plane.nodata = job->words[TZ_RW_NODATA];
    return plane;
}

/* NaN: it is not valid. A complex one is nodata when its first part is, and NaN when either is. */
TZ_FN tz_f64 tz_old_value(const tz_old_plane *plane, const tz_old_line *line, tz_u32 column)
{
    const TZ_GLOBAL tz_u8 *at = line->samples + (tz_i64)column * line->step;
    if (plane->is_tested && !tz_old_is_left(line, column))
        return TZ_REDUCE_NAN;
    if (plane->is_mask)
        return 255.0;
    const tz_f64 first = tz_part_value(line->type, at);
    if (plane->test == TZ_NONE_NUMBER && first == tz_f64_of_bits(plane->nodata))
        return TZ_REDUCE_NAN;
    if (plane->test == TZ_NONE_BITS && tz_load_u64(at) == plane->nodata)
        return TZ_REDUCE_NAN;
    if (!plane->is_pair)
        return first;
    const tz_f64 second = tz_part_value(line->type, at + line->bytes);
    if (plane->is_tested && (first != first || second != second))
        return TZ_REDUCE_NAN;
    return plane->is_second ? second : first;
}

/* ---- new samples ---- */

/* is_left: mask and alpha leave some of the pixels. */
TZ_FN void tz_new_sample(const tz_reduce_job *job, const tz_reduce_span *span, tz_u32 column,
                         tz_f64 value, int is_left)
{
    const tz_old_plane plane = tz_old_plane_of(job, span);
    const tz_u32 type = tz_reduce_word(job, TZ_RW_TYPE);
    const tz_u32 bytes = tz_reduce_word(job, TZ_RW_BYTES);
    TZ_GLOBAL tz_u8 *to = tz_new_place(job, span, column);
    tz_u64 bits = job->words[is_left ? TZ_RW_MISSING : TZ_RW_NONE];
    if (value == value) {
        if (job->words[TZ_RW_CLAMPS])
            value = tz_clamp_f64(value, tz_f64_of_bits(job->words[TZ_RW_LOW]),
                                 tz_f64_of_bits(job->words[TZ_RW_HIGH]));
        bits = tz_part_of_f64(type, value);
    }
    tz_store_raw(to, bits, bytes);
    if (value != value || plane.is_second)
        return;
    if ((plane.test == TZ_NONE_NUMBER && tz_part_value(type, to) == tz_f64_of_bits(plane.nodata)) ||
        (plane.test == TZ_NONE_BITS && bits == plane.nodata))
        tz_store_raw(to, tz_part_beside(type, bytes, tz_reduce_word(job, TZ_RW_USED_BITS), bits),
                     bytes);
}

/* ---- the value of a new pixel; NaN: it is not valid ---- */

TZ_FN tz_f64 tz_tap_weight(const tz_taps *taps, tz_u32 k)
{
    return tz_f64_of_bits(taps->weights[(tz_u64)k * taps->stride]);
}

/* Average, rms and gauss: of all samples at once. */
TZ_FN tz_f64 tz_value_mean(const tz_reduce_job *job, const tz_reduce_span *span, tz_u32 column,
                           tz_u32 slot)
{
    const tz_old_plane plane = tz_old_plane_of(job, span);
    const tz_taps across = tz_taps_across(job, column);
    const tz_taps down = tz_taps_down(job, span->row);
    const int is_rms = tz_reduce_word(job, TZ_RW_METHOD) == (tz_u32)TZ_METHOD_RMS;
    tz_f64 sum = 0.0;
    tz_f64 weight = 0.0;
    (void)slot;
    for (tz_u32 k = 0; k < down.count; k++) {
        const tz_old_line line = tz_old_line_of(job, span, down.first + k);
        const tz_f64 by = tz_tap_weight(&down, k);
        tz_f64 row_sum = 0.0;
        tz_f64 row_weight = 0.0;
        for (tz_u32 n = 0; n < across.count; n++) {
            const tz_f64 x = tz_old_value(&plane, &line, across.first + n);
            tz_weigh_add(is_rms ? x * x : x, tz_tap_weight(&across, n), &row_sum, &row_weight);
        }
        sum += by * row_sum;
        weight += by * row_weight;
    }
    const tz_f64 mean = tz_weighed(sum, weight, TZ_REDUCE_NAN);
    return is_rms ? sqrt(mean) : mean;
}

/* Bilinear, cubic and lanczos: along each row, then down. */
TZ_FN tz_f64 tz_value_filter(const tz_reduce_job *job, const tz_reduce_span *span, tz_u32 column,
                             tz_u32 slot)
{
    const tz_old_plane plane = tz_old_plane_of(job, span);
    const tz_taps across = tz_taps_across(job, column);
    const tz_taps down = tz_taps_down(job, span->row);
    const int negative = tz_reduce_word(job, TZ_RW_METHOD) != (tz_u32)TZ_METHOD_BILINEAR;
    tz_filter all = {0.0, 0.0, 0u, 0u};
    (void)slot;
    for (tz_u32 k = 0; k < down.count; k++) {
        const tz_old_line line = tz_old_line_of(job, span, down.first + k);
        tz_filter row = {0.0, 0.0, 0u, 0u};
        for (tz_u32 n = 0; n < across.count; n++)
            tz_filter_add(&row, tz_tap_weight(&across, n),
                          tz_old_value(&plane, &line, across.first + n));
        tz_filter_add(&all, tz_tap_weight(&down, k),
                      tz_filter_end(&row, across.count, negative, TZ_REDUCE_NAN));
    }
    return tz_filter_end(&all, down.count, negative, TZ_REDUCE_NAN);
}

TZ_FN tz_f64 tz_value_extreme(const tz_reduce_job *job, const tz_reduce_span *span, tz_u32 column,
                              tz_u32 slot)
{
    const tz_old_plane plane = tz_old_plane_of(job, span);
    const tz_taps across = tz_taps_across(job, column);
    const tz_taps down = tz_taps_down(job, span->row);
    const int least = tz_reduce_word(job, TZ_RW_METHOD) == (tz_u32)TZ_METHOD_MIN;
    tz_f64 value = TZ_REDUCE_NAN;
    (void)slot;
    for (tz_u32 k = 0; k < down.count; k++) {
        const tz_old_line line = tz_old_line_of(job, span, down.first + k);
        for (tz_u32 n = 0; n < across.count; n++) {
            const tz_f64 x = tz_old_value(&plane, &line, across.first + n);
            value = least ? tz_least(value, x) : tz_largest(value, x);
        }
    }
    return value;
}

/* Mode and median: the slot's memory holds all values. */
TZ_FN tz_f64 tz_value_choice(const tz_reduce_job *job, const tz_reduce_span *span, tz_u32 column,
                             tz_u32 slot)
{
    const tz_old_plane plane = tz_old_plane_of(job, span);
    const tz_taps across = tz_taps_across(job, column);
    const tz_taps down = tz_taps_down(job, span->row);
    const tz_u64 room = job->words[TZ_RW_SCRATCH_TAPS];
    TZ_GLOBAL tz_f64 *all = (TZ_GLOBAL tz_f64 *)(job->own + job->words[TZ_RW_SCRATCH]);
    TZ_GLOBAL tz_u32 *orders = (TZ_GLOBAL tz_u32 *)(all + job->words[TZ_RW_SCRATCH_SLOTS] * room);
    TZ_GLOBAL tz_f64 *values = all + slot * room;
    tz_u32 count = 0;
    for (tz_u32 k = 0; k < down.count; k++) {
        const tz_old_line line = tz_old_line_of(job, span, down.first + k);
        for (tz_u32 n = 0; n < across.count; n++) {
            const tz_f64 x = tz_old_value(&plane, &line, across.first + n);
            values[count] = x;
            count += x == x ? 1u : 0u;
        }
    }
    if (count == 0u)
        return TZ_REDUCE_NAN;
    return tz_reduce_word(job, TZ_RW_METHOD) == (tz_u32)TZ_METHOD_MODE
               ? tz_choose_mode(values, orders + slot * room, count)
               : tz_choose_median(values, orders + slot * room, count);
}

/* ---- spans of them ---- */

/* Where no sample is valid it may matter whether mask and alpha leave any: the second turn. */
#define TZ_REDUCE_BY(name)                                                                         \
    TZ_FN void tz_reduce_##name(const tz_reduce_job *job, const tz_reduce_span *span, tz_u32 item, \
                                tz_u32 lanes, tz_u32 slot)                                         \
    {                                                                                              \
        const int is_mask = tz_reduce_is_mask(job, span);                                          \
        const tz_u32 turns = !is_mask && job->words[TZ_RW_WANTS_NAN] != 0u ? 2u : 1u;              \
        for (tz_u32 x = span->first + item; x < span->end; x += lanes) {                           \
            tz_reduce_span looked_at = *span;                                                      \
            tz_f64 value = TZ_REDUCE_NAN;                                                          \
            tz_f64 last = TZ_REDUCE_NAN;                                                           \
            for (tz_u32 turn = 0; turn < turns && last != last; turn++) {                          \
                last = tz_value_##name(job, &looked_at, x, slot);                                  \
                value = turn == 0u ? last : value;                                                 \
                looked_at.band = tz_reduce_word(job, TZ_RW_BANDS);                                 \
            }                                                                                      \
            if (is_mask)                                                                           \
                tz_new_mask(job, span, x, value == value);                                         \
            else                                                                                   \
                tz_new_sample(job, span, x, value, last == last);                                  \
        }                                                                                          \
    }
TZ_REDUCE_BY(mean)
TZ_REDUCE_BY(filter)
TZ_REDUCE_BY(extreme)
TZ_REDUCE_BY(choice)

#ifdef TZ_SHELL
TZ_REDUCE_SHELL(half_f32)
TZ_REDUCE_SHELL(mean)
TZ_REDUCE_SHELL(filter)
TZ_REDUCE_SHELL(extreme)
TZ_REDUCE_SHELL(choice)
#endif

#endif
