/* SPDX-License-Identifier: Apache-2.0
 * Overviews that need no double precision: nearest, and averages of two by two integers. */
#ifndef TZ_DEVICE_OPS_OVERVIEW_INTEGER_KERNELS_H
#define TZ_DEVICE_OPS_OVERVIEW_INTEGER_KERNELS_H

#include "device/ops/overview_half_kernels.h"

/* ---- nearest ---- */

/* Copies a sample with all its components; 0 if the new pixel has no old one. */
TZ_FN void tz_pick_sample(TZ_GLOBAL tz_u8 *to, const TZ_GLOBAL tz_u8 *from, tz_u32 bytes,
                          int is_there)
{
    const tz_u32 unit = bytes > 8u ? 8u : bytes;
    for (tz_u32 at = 0; at < bytes; at += unit)
        tz_store_raw(to + at, is_there ? tz_load_raw(from + at, unit) : 0u, unit);
}

TZ_FN void tz_overview_pick(const tz_overview_job *job, const tz_overview_span *span,
                            tz_u32 work_item, tz_u32 work_items, tz_u32 area)
{
    const tz_taps down = tz_taps_down(job, span->row);
    const tz_overview_in_row line = tz_overview_in_row_of(job, span, down.first);
    const tz_u32 bytes = tz_overview_word(job, TZ_OVERVIEW_SAMPLE_BYTES);
    (void)area;
    for (tz_u32 x = span->first + work_item; x < span->end; x += work_items) {
        const tz_taps across = tz_taps_across(job, x);
        const int is_there = across.count > 0u;
        if (tz_overview_is_mask(job, span))
            tz_overview_set_mask(job, span, x,
                                 is_there && tz_overview_in_is_valid(&line, across.first));
        else
            tz_pick_sample(tz_overview_out_at(job, span, x),
                           line.samples + (tz_i64)across.first * line.step, bytes, is_there);
    }
}

/* ---- two by two ---- */

#define TZ_HALF_INTEGER(name, word, type)                                                          \
    TZ_FN tz_##word tz_half_of_##name(const tz_half_rule *rule, tz_##word a, tz_##word b,          \
                                      tz_##word c, tz_##word d, tz_u32 valid)                      \
    {                                                                                              \
        return (tz_##word)tz_average_2x2_##name(                                                   \
            (type)a, (type)b, (type)c, (type)d, rule->is_alpha ? TZ_AVERAGE_2X2_ALL : valid,       \
            rule->has_nodata, (type)rule->nodata, (type)rule->neighbour);                          \
    }                                                                                              \
    TZ_OVERVIEW_HALF_ROWS(name, word)
TZ_HALF_INTEGER(u8, u8, tz_u8)
TZ_HALF_INTEGER(u16, u16, tz_u16)
TZ_HALF_INTEGER(i16, u16, tz_i16)

#ifdef TZ_KERNEL
TZ_OVERVIEW_KERNEL(pick)
TZ_OVERVIEW_KERNEL(half_u8)
TZ_OVERVIEW_KERNEL(half_u16)
TZ_OVERVIEW_KERNEL(half_i16)
#endif

#endif
