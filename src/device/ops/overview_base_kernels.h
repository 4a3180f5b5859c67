/* SPDX-License-Identifier: Apache-2.0
 * Shared by all kernels of overviews. The builder's memory holds words of 64 bits that describe a
 * run, and two tables of taps, one across and one down. A table has a word for each new pixel, with
 * its first old pixel in the low half and the number of taps in the high half. After these words
 * come the weights: all first taps, then all second taps, and so on, so that neighbouring
 * work-items load neighbouring weights.
 *
 * The new pixels are divided into planes (the components of each band, then the mask) and a plane
 * into spans of some columns and rows. A work-group takes every n-th span. Its work-items share the
 * columns of a span, or one work-item does all of them. */
#ifndef TZ_DEVICE_OPS_OVERVIEW_BASE_KERNELS_H
#define TZ_DEVICE_OPS_OVERVIEW_BASE_KERNELS_H

#include "kernels/component.h"
#include "kernels/kernel_entry.h"

/* Values of TZ_OVERVIEW_TEST: the comparison of samples with nodata. */
enum {
    TZ_NODATA_TEST_NEVER,
    TZ_NODATA_TEST_NUMBER /* as doubles */,
    TZ_NODATA_TEST_BITS /* of 64 */
};

/* The location of rows: the offset that row 0, column 0 of band 0 of the whole level would have,
 * and strides in bytes. All are signed. */
enum {
    TZ_OVERVIEW_BASE,
    TZ_OVERVIEW_BAND_STRIDE,
    TZ_OVERVIEW_ROW_STRIDE,
    TZ_OVERVIEW_COLUMN_STRIDE,
    TZ_OVERVIEW_LOCATION_WORDS
};

/* The words of a run. */
enum {
    TZ_OVERVIEW_TYPE, /* of a component */
    TZ_OVERVIEW_BYTES,
    TZ_OVERVIEW_SAMPLE_BYTES, /* of all components */
    TZ_OVERVIEW_COMPONENTS,   /* planes of a band; 1 for nearest, which copies samples */
    TZ_OVERVIEW_BANDS,
    TZ_OVERVIEW_USED_BITS,
    TZ_OVERVIEW_ALPHA, /* number of the band, from 1; 0: none */
    TZ_OVERVIEW_TEST,
    TZ_OVERVIEW_NODATA, /* bits of a double, or of the sample */
    TZ_OVERVIEW_CLAMPS,
    TZ_OVERVIEW_LOW, /* bits of doubles */
    TZ_OVERVIEW_HIGH,
    TZ_OVERVIEW_WANTS_NAN,
    TZ_OVERVIEW_NONE,
    TZ_OVERVIEW_MISSING,
    TZ_OVERVIEW_METHOD,
    TZ_OVERVIEW_HAS_NODATA, /* tz_average_2x2_params */
    TZ_OVERVIEW_HALF_NODATA,
    TZ_OVERVIEW_HALF_NEIGHBOUR,
    TZ_OVERVIEW_HALF_NONE,
    TZ_OVERVIEW_WIDTH, /* of the new level */
    TZ_OVERVIEW_FIRST, /* first new row */
    TZ_OVERVIEW_ROWS,
    TZ_OVERVIEW_PLANES,
    TZ_OVERVIEW_ACROSS, /* offsets of both tables in the builder's memory */
    TZ_OVERVIEW_DOWN,
    TZ_OVERVIEW_SCRATCH,       /* doubles: values to sort, or rows filtered across */
    TZ_OVERVIEW_SCRATCH_TAPS,  /* mode and median: values of a work-item, at most */
    TZ_OVERVIEW_SCRATCH_AREAS, /* work-items that sort, or columns */
    TZ_OVERVIEW_SPAN,          /* new columns of a span */
    TZ_OVERVIEW_SPAN_ROWS,     /* new rows of a span; filters have more than 1 */
    TZ_OVERVIEW_SPAN_ITEMS,
    TZ_OVERVIEW_WORK_GROUPS,
    TZ_OVERVIEW_SEAM, /* first old row of the second row range */
    TZ_OVERVIEW_PIXELS,
    TZ_OVERVIEW_SECOND_PIXELS = TZ_OVERVIEW_PIXELS + TZ_OVERVIEW_LOCATION_WORDS,
    TZ_OVERVIEW_HAS_MASK =
        TZ_OVERVIEW_SECOND_PIXELS +
        TZ_OVERVIEW_LOCATION_WORDS, /* bit 0: of the first row range; bit 1: of the second */
    TZ_OVERVIEW_MASK,
    TZ_OVERVIEW_SECOND_MASK = TZ_OVERVIEW_MASK + TZ_OVERVIEW_LOCATION_WORDS,
    TZ_OVERVIEW_OUT = TZ_OVERVIEW_SECOND_MASK + TZ_OVERVIEW_LOCATION_WORDS,
    TZ_OVERVIEW_OUT_MASK = TZ_OVERVIEW_OUT + TZ_OVERVIEW_LOCATION_WORDS,
    TZ_OVERVIEW_JOB_WORDS = TZ_OVERVIEW_OUT_MASK + TZ_OVERVIEW_LOCATION_WORDS
};

/* The arguments of a kernel: the builder's memory and its words, the old rows, which lie in two
 * buffers if the run crosses the end of the first, and the new rows. */
typedef struct tz_overview_job {
    TZ_GLOBAL tz_u8 *own;
    const TZ_GLOBAL tz_u64 *words;
    const TZ_GLOBAL tz_u8 *first, *second, *first_mask, *second_mask;
    TZ_GLOBAL tz_u8 *out, *out_mask;
} tz_overview_job;

TZ_FN tz_u32 tz_overview_word(const tz_overview_job *job, tz_u32 word)
{
    return (tz_u32)job->words[word];
}

TZ_FN tz_i64 tz_overview_offset(const tz_overview_job *job, tz_u32 location, tz_u64 band,
                                tz_u64 row, tz_u64 column)
{
    const TZ_GLOBAL tz_u64 *words = job->words + location;
    return (tz_i64)(words[TZ_OVERVIEW_BASE] + band * words[TZ_OVERVIEW_BAND_STRIDE] +
                    row * words[TZ_OVERVIEW_ROW_STRIDE] +
                    column * words[TZ_OVERVIEW_COLUMN_STRIDE]);
}

/* ---- spans ---- */

typedef struct tz_overview_span {
    tz_u32 band; /* the number of bands: the mask */
    tz_u32 component;
    tz_u32 row; /* within the run */
    tz_u32 rows;
    tz_u32 first; /* first column */
    tz_u32 end;
} tz_overview_span;

/* Spans of `unit` pixels along one axis; the last one may be shorter. */
TZ_FN tz_u32 tz_overview_span_count(tz_u32 all, tz_u32 unit)
{
    return (all - 1u) / unit + 1u;
}

/* The number of spans of a run. */
TZ_FN tz_u64 tz_overview_spans(const tz_overview_job *job)
{
    const tz_u32 width = tz_overview_word(job, TZ_OVERVIEW_WIDTH);
    const tz_u32 rows = tz_overview_word(job, TZ_OVERVIEW_ROWS);
    return (tz_u64)tz_overview_span_count(width, tz_overview_word(job, TZ_OVERVIEW_SPAN)) *
           tz_overview_span_count(rows, tz_overview_word(job, TZ_OVERVIEW_SPAN_ROWS)) *
           job->words[TZ_OVERVIEW_PLANES];
}

/* Spans are numbered across, then down, then plane by plane. */
TZ_FN tz_overview_span tz_overview_span_of(const tz_overview_job *job, tz_u64 number)
{
    const tz_u32 width = tz_overview_word(job, TZ_OVERVIEW_WIDTH);
    const tz_u32 rows = tz_overview_word(job, TZ_OVERVIEW_ROWS);
    const tz_u32 length = tz_overview_word(job, TZ_OVERVIEW_SPAN);
    const tz_u32 height = tz_overview_word(job, TZ_OVERVIEW_SPAN_ROWS);
    const tz_u32 across = tz_overview_span_count(width, length);
    const tz_u32 down = tz_overview_span_count(rows, height);
    const tz_u32 plane = (tz_u32)(number / across / down);
    const tz_u32 components = tz_overview_word(job, TZ_OVERVIEW_COMPONENTS);
    tz_overview_span span;
    span.band = plane / components;
    span.component = plane % components;
    span.row = (tz_u32)(number / across % down) * height;
    span.rows = tz_kernel_min(rows - span.row, height);
    span.first = (tz_u32)(number % across) * length;
    span.end = span.first + tz_kernel_min(width - span.first, length);
    return span;
}

TZ_FN int tz_overview_is_mask(const tz_overview_job *job, const tz_overview_span *span)
{
    return span->band == tz_overview_word(job, TZ_OVERVIEW_BANDS);
}

/* All samples of the alpha band are valid, and none is nodata. */
TZ_FN int tz_overview_is_alpha(const tz_overview_job *job, const tz_overview_span *span)
{
    return span->band + 1u == tz_overview_word(job, TZ_OVERVIEW_ALPHA);
}

/* ---- taps ---- */

/* The old pixels of a new one, along one axis. */
typedef struct tz_taps {
    tz_u32 first;
    tz_u32 count;
    const TZ_GLOBAL tz_u64 *weights; /* bits of doubles */
    tz_u32 stride;
} tz_taps;

TZ_FN tz_taps tz_taps_of(const tz_overview_job *job, tz_u32 table, tz_u32 all, tz_u32 i)
{
    const TZ_GLOBAL tz_u64 *words = (const TZ_GLOBAL tz_u64 *)(job->own + job->words[table]);
    tz_taps taps;
    taps.first = (tz_u32)words[i];
    taps.count = (tz_u32)(words[i] >> 32);
    taps.weights = words + all + i;
    taps.stride = all;
    return taps;
}

TZ_FN tz_taps tz_taps_across(const tz_overview_job *job, tz_u32 column)
{
    return tz_taps_of(job, TZ_OVERVIEW_ACROSS, tz_overview_word(job, TZ_OVERVIEW_WIDTH), column);
}

TZ_FN tz_taps tz_taps_down(const tz_overview_job *job, tz_u32 row)
{
    return tz_taps_of(job, TZ_OVERVIEW_DOWN, tz_overview_word(job, TZ_OVERVIEW_ROWS), row);
}

/* ---- old rows ---- */

/* Column 0 of a row of the larger level, in one plane. */
typedef struct tz_overview_in_row {
    const TZ_GLOBAL tz_u8 *samples; /* first components */
    const TZ_GLOBAL tz_u8 *alpha;
    const TZ_GLOBAL tz_u8 *mask;
    tz_i64 step; /* bytes from column to column, of samples and alpha */
    tz_i64 mask_step;
    tz_u32 type, bytes;
    int has_alpha, has_mask; /* which pixels are valid depends on them */
} tz_overview_in_row;

/* Rows from the seam on lie in the second buffer. The mask plane reads samples of band 0, which it
 * does not use. */
TZ_FN tz_overview_in_row tz_overview_in_row_of(const tz_overview_job *job,
                                               const tz_overview_span *span, tz_u32 row)
{
    const int second = row >= tz_overview_word(job, TZ_OVERVIEW_SEAM);
    const TZ_GLOBAL tz_u8 *pixels = second ? job->second : job->first;
    const TZ_GLOBAL tz_u8 *mask = second ? job->second_mask : job->first_mask;
    const tz_u32 pixels_at = second ? TZ_OVERVIEW_SECOND_PIXELS : TZ_OVERVIEW_PIXELS;
    const tz_u32 mask_at = second ? TZ_OVERVIEW_SECOND_MASK : TZ_OVERVIEW_MASK;
    const tz_u32 alpha = tz_overview_word(job, TZ_OVERVIEW_ALPHA);
    const int is_mask = tz_overview_is_mask(job, span);
    tz_overview_in_row line;
    line.type = tz_overview_word(job, TZ_OVERVIEW_TYPE);
    line.bytes = tz_overview_word(job, TZ_OVERVIEW_BYTES);
    line.has_alpha = alpha != 0u;
    line.has_mask = (tz_overview_word(job, TZ_OVERVIEW_HAS_MASK) >> second & 1u) != 0u;
    line.samples = pixels + tz_overview_offset(job, pixels_at, is_mask ? 0u : span->band, row, 0u);
    line.step = (tz_i64)job->words[pixels_at + TZ_OVERVIEW_COLUMN_STRIDE];
    line.alpha = line.samples;
    if (line.has_alpha)
        line.alpha = pixels + tz_overview_offset(job, pixels_at, alpha - 1u, row, 0u);
    line.mask = mask;
    if (line.has_mask)
        line.mask = mask + tz_overview_offset(job, mask_at, 0u, row, 0u);
    line.mask_step = (tz_i64)job->words[mask_at + TZ_OVERVIEW_COLUMN_STRIDE];
    return line;
}

/* True if mask and alpha say that a pixel is valid. */
TZ_FN int tz_overview_in_is_valid(const tz_overview_in_row *line, tz_u32 column)
{
    if (line->has_mask && line->mask[(tz_i64)column * line->mask_step] == 0u)
        return 0;
    return !line->has_alpha ||
           !tz_component_is_zero(
               line->type, line->bytes,
               tz_load_raw(line->alpha + (tz_i64)column * line->step, line->bytes));
}

/* ---- new pixels ---- */

/* The component of a new pixel that the span makes. */
TZ_FN TZ_GLOBAL tz_u8 *tz_overview_out_at(const tz_overview_job *job, const tz_overview_span *span,
                                          tz_u32 column)
{
    return job->out + tz_overview_offset(job, TZ_OVERVIEW_OUT, span->band, span->row, column) +
           (tz_i64)span->component * (tz_i64)job->words[TZ_OVERVIEW_BYTES];
}

TZ_FN void tz_overview_set_mask(const tz_overview_job *job, const tz_overview_span *span,
                                tz_u32 column, int is_valid)
{
    job->out_mask[tz_overview_offset(job, TZ_OVERVIEW_OUT_MASK, 0u, span->row, column)] =
        is_valid ? 255u : 0u;
}

/* ---- kernels ---- */

/* tz_overview_name makes the new pixels of a span that belong to one of the `work_items` work-items
 * that share it. `area` is different for all work-items that run at the same time: it is the number
 * of their scratch area. */
#ifdef TZ_KERNEL
#define TZ_OVERVIEW_KERNEL(name)                                                                   \
    TZ_KERNEL_BOUNDED(tz_kernel_overview_##name, 6)                                                \
    (TZ_GLOBAL tz_u8 * own, const TZ_GLOBAL tz_u8 *first, const TZ_GLOBAL tz_u8 *second,           \
     const TZ_GLOBAL tz_u8 *first_mask, const TZ_GLOBAL tz_u8 *second_mask, TZ_GLOBAL tz_u8 *out,  \
     TZ_GLOBAL tz_u8 *out_mask, tz_u64 words)                                                      \
    {                                                                                              \
        const tz_overview_job job = {own,        (const TZ_GLOBAL tz_u64 *)(own + words),          \
                                     first,      second,                                           \
                                     first_mask, second_mask,                                      \
                                     out,        out_mask};                                        \
        const tz_u32 work_items = tz_overview_word(&job, TZ_OVERVIEW_SPAN_ITEMS);                  \
        const tz_u64 spans = tz_overview_spans(&job);                                              \
        if (TZ_WORK_ITEM < work_items) {                                                           \
            for (tz_u64 i = TZ_WORK_GROUP; i < spans; i += job.words[TZ_OVERVIEW_WORK_GROUPS]) {   \
                const tz_overview_span span = tz_overview_span_of(&job, i);                        \
                tz_overview_##name(&job, &span, TZ_WORK_ITEM, work_items,                          \
                                   (tz_u32)TZ_WORK_GROUP *work_items + TZ_WORK_ITEM);              \
            }                                                                                      \
        }                                                                                          \
    }
#endif

#endif
