/* SPDX-License-Identifier: Apache-2.0
 * Reductions that take no doubles: nearest, and averages of two by two integers. */
#ifndef TZ_DEVICE_REDUCE_HALF_KERNELS_H
#define TZ_DEVICE_REDUCE_HALF_KERNELS_H

#include "device/reduce_halve_kernels.h"

/* ---- nearest ---- */

/* A whole sample, both parts of it; 0 where it lies outside. */
TZ_FN void tz_pick_sample(TZ_GLOBAL tz_u8 *to, const TZ_GLOBAL tz_u8 *from, tz_u32 bytes,
                          int is_there)
{
    const tz_u32 piece = bytes > 8u ? 8u : bytes;
    for (tz_u32 at = 0; at < bytes; at += piece)
        tz_store_raw(to + at, is_there ? tz_load_raw(from + at, piece) : 0u, piece);
}

TZ_FN void tz_reduce_pick(const tz_reduce_job *job, const tz_reduce_span *span, tz_u32 item,
                          tz_u32 lanes, tz_u32 slot)
{
    const tz_taps down = tz_taps_down(job, span->row);
    const tz_old_line line = tz_old_line_of(job, span, down.first);
    const tz_u32 bytes = tz_reduce_word(job, TZ_RW_SAMPLE_BYTES);
    (void)slot;
    for (tz_u32 x = span->first + item; x < span->end; x += lanes) {
        const tz_taps across = tz_taps_across(job, x);
        const int is_there = across.count > 0u;
        if (tz_reduce_is_mask(job, span))
            tz_new_mask(job, span, x, is_there && tz_old_is_left(&line, across.first));
        else
            tz_pick_sample(tz_new_place(job, span, x),
                           line.samples + (tz_i64)across.first * line.step, bytes, is_there);
    }
}

/* ---- two by two ---- */

#define TZ_HALF_INTEGER(name, word, type)                                                          \
    TZ_FN tz_##word tz_half_of_##name(const tz_half_rule *rule, tz_##word a, tz_##word b,          \
                                      tz_##word c, tz_##word d, tz_u32 left)                       \
    {                                                                                              \
        return (tz_##word)tz_average_2x2_##name(                                                   \
            (type)a, (type)b, (type)c, (type)d, rule->is_alpha ? TZ_AVERAGE_2X2_ALL : left,        \
            rule->has_nodata, (type)rule->nodata, (type)rule->beside);                             \
    }                                                                                              \
    TZ_REDUCE_HALF(name, word)
TZ_HALF_INTEGER(u8, u8, tz_u8)
TZ_HALF_INTEGER(u16, u16, tz_u16)
TZ_HALF_INTEGER(i16, u16, tz_i16)

#ifdef TZ_KERNEL
TZ_REDUCE_SHELL(pick)
TZ_REDUCE_SHELL(half_u8)
TZ_REDUCE_SHELL(half_u16)
TZ_REDUCE_SHELL(half_i16)
#endif

#endif
