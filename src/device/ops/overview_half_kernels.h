/* SPDX-License-Identifier: Apache-2.0
 * Averages of two by two pixels, for all types. They are the most common overviews, so that they
 * have kernels without taps and weights. */
#ifndef TZ_DEVICE_OPS_OVERVIEW_HALF_KERNELS_H
#define TZ_DEVICE_OPS_OVERVIEW_HALF_KERNELS_H

#include "device/ops/overview_base_kernels.h"
#include "kernels/average_2x2.h"

/* The members of tz_average_2x2_params, as bits of the type. */
typedef struct tz_half_rule {
    int is_alpha;
    int has_nodata;
    tz_u64 nodata;
    tz_u64 neighbour;
    tz_u64 none; /* of floats */
} tz_half_rule;

/* Two rows of a plane, and the new one. */
typedef struct tz_half_rows {
    tz_overview_in_row above;
    tz_overview_in_row below;
    TZ_GLOBAL tz_u8 *out; /* column 0 */
    tz_i64 out_step;
    int flagged; /* some pixels may be invalid */
} tz_half_rows;

TZ_FN tz_half_rule tz_half_rule_of(const tz_overview_job *job, const tz_overview_span *span)
{
    tz_half_rule rule;
    rule.is_alpha = tz_overview_is_alpha(job, span);
    rule.has_nodata = !rule.is_alpha && tz_overview_word(job, TZ_OVERVIEW_HAS_NODATA) != 0u;
    rule.nodata = job->words[TZ_OVERVIEW_HALF_NODATA];
    rule.neighbour = job->words[TZ_OVERVIEW_HALF_NEIGHBOUR];
    rule.none = job->words[TZ_OVERVIEW_HALF_NONE];
    return rule;
}

TZ_FN tz_half_rows tz_half_rows_of(const tz_overview_job *job, const tz_overview_span *span)
{
    const tz_u32 row = 2u * (tz_overview_word(job, TZ_OVERVIEW_FIRST) + span->row);
    tz_half_rows rows;
    rows.above = tz_overview_in_row_of(job, span, row);
    rows.below = tz_overview_in_row_of(job, span, row + 1u);
    rows.flagged = rows.above.has_alpha || rows.above.has_mask || rows.below.has_mask;
    rows.out = tz_overview_out_at(job, span, 0u);
    rows.out_step = (tz_i64)job->words[TZ_OVERVIEW_OUT + TZ_OVERVIEW_COLUMN_STRIDE];
    return rows;
}

/* The valid pixels of four, a bit for each as in tz_average_2x2. */
TZ_FN tz_u32 tz_half_valid(const tz_half_rows *rows, tz_u32 column)
{
    tz_u32 valid = (tz_u32)tz_overview_in_is_valid(&rows->above, column);
    valid |= (tz_u32)tz_overview_in_is_valid(&rows->above, column + 1u) << 1;
    valid |= (tz_u32)tz_overview_in_is_valid(&rows->below, column) << 2;
    return valid | (tz_u32)tz_overview_in_is_valid(&rows->below, column + 1u) << 3;
}

TZ_FN void tz_half_mask(const tz_overview_job *job, const tz_overview_span *span, tz_u32 work_item,
                        tz_u32 work_items)
{
    const tz_half_rows rows = tz_half_rows_of(job, span);
    for (tz_u32 x = span->first + work_item; x < span->end; x += work_items)
        tz_overview_set_mask(job, span, x, tz_half_valid(&rows, 2u * x) != 0u);
}

/* tz_half_of_name makes one sample of four. If samples lie side by side and all are valid, the
 * steps are constants, and compilers can vectorise the loop. */
#define TZ_OVERVIEW_HALF_ROWS(name, word)                                                          \
    TZ_FN void tz_half_row_##name(const tz_overview_job *job, const tz_overview_span *span,        \
                                  const tz_half_rows *rows, tz_i64 above_step, tz_i64 below_step,  \
                                  tz_i64 out_step, tz_u32 work_item, tz_u32 work_items,            \
                                  int flagged)                                                     \
    {                                                                                              \
        const tz_half_rule rule = tz_half_rule_of(job, span);                                      \
        const TZ_GLOBAL tz_u8 *above = rows->above.samples;                                        \
        const TZ_GLOBAL tz_u8 *below = rows->below.samples;                                        \
        TZ_GLOBAL tz_u8 *out = rows->out;                                                          \
        for (tz_u32 x = span->first + work_item; x < span->end; x += work_items) {                 \
            const TZ_GLOBAL tz_u8 *a = above + 2 * (tz_i64)x * above_step;                         \
            const TZ_GLOBAL tz_u8 *c = below + 2 * (tz_i64)x * below_step;                         \
            const tz_u32 valid = flagged ? tz_half_valid(rows, 2u * x) : TZ_AVERAGE_2X2_ALL;       \
            const tz_##word mean =                                                                 \
                tz_half_of_##name(&rule, tz_load_##word(a), tz_load_##word(a + above_step),        \
                                  tz_load_##word(c), tz_load_##word(c + below_step), valid);       \
            tz_store_##word(out + (tz_i64)x * out_step, mean);                                     \
        }                                                                                          \
    }                                                                                              \
    TZ_FN void tz_overview_half_##name(const tz_overview_job *job, const tz_overview_span *span,   \
                                       tz_u32 work_item, tz_u32 work_items, tz_u32 area)           \
    {                                                                                              \
        const tz_i64 size = (tz_i64)sizeof(tz_##word);                                             \
        (void)area;                                                                                \
        if (tz_overview_is_mask(job, span)) {                                                      \
            tz_half_mask(job, span, work_item, work_items);                                        \
            return;                                                                                \
        }                                                                                          \
        const tz_half_rows rows = tz_half_rows_of(job, span);                                      \
        if (work_items == 1u && !rows.flagged && rows.above.step == size &&                        \
            rows.below.step == size && rows.out_step == size)                                      \
            tz_half_row_##name(job, span, &rows, size, size, size, 0u, 1u, 0);                     \
        else                                                                                       \
            tz_half_row_##name(job, span, &rows, rows.above.step, rows.below.step, rows.out_step,  \
                               work_item, work_items, rows.flagged);                               \
    }

#endif
