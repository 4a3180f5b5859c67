/* SPDX-License-Identifier: Apache-2.0
 * Overviews by the rules of doc/numerics.md, in double precision.
 *
 * A new pixel is a value of its old samples. Averages, extremes, mode and median look at all of
 * them at once, pixel by pixel. Filters (bilinear, cubic, Lanczos) are separable: a span of several
 * rows filters each old row across into scratch memory, and then filters down.
 *
 * NaN stands for "not valid" everywhere. That hides one case: samples are NaN, but alpha or mask
 * leave no pixel, and the new sample should be 0 or nodata. A second pass over the mask finds these
 * pixels, and runs only if the first pass met a NaN. */
#ifndef TZ_DEVICE_OPS_OVERVIEW_F64_KERNELS_H
#define TZ_DEVICE_OPS_OVERVIEW_F64_KERNELS_H

#include "device/ops/overview_half_kernels.h"
#include "kernels/mode_median.h"
#include "kernels/weighted_mean.h"
#include "kernels/wide.h"

#if !defined(__OPENCL_VERSION__) && !defined(__CUDACC__)
#include <math.h>
#endif

#ifdef TZ_HAS_F64

/* Values of tz_resampling. */
enum { TZ_METHOD_BILINEAR = 3, TZ_METHOD_RMS = 7, TZ_METHOD_MODE = 8, TZ_METHOD_MIN = 9 };

#define TZ_OVERVIEW_NAN tz_f64_of_bits((tz_u64)0x7ff8000000000000ULL)

/* ---- averages of two by two floats ---- */

TZ_FN tz_u32 tz_half_of_f32(const tz_half_rule *rule, tz_u32 a, tz_u32 b, tz_u32 c, tz_u32 d,
                            tz_u32 valid)
{
    return tz_bits_of_f32(tz_average_2x2_f32(
        tz_f32_of_bits(a), tz_f32_of_bits(b), tz_f32_of_bits(c), tz_f32_of_bits(d),
        rule->is_alpha ? TZ_AVERAGE_2X2_ALL : valid, rule->has_nodata,
        tz_f32_of_bits((tz_u32)rule->nodata), tz_f32_of_bits((tz_u32)rule->neighbour),
        tz_f32_of_bits((tz_u32)(valid == 0u ? rule->nodata : rule->none))));
}
TZ_OVERVIEW_HALF_ROWS(f32, u32)

/* ---- old samples ---- */

/* The way to read samples of a plane. */
typedef struct tz_overview_in_plane {
    tz_u32 type;
    int is_unchecked; /* none of the members below applies */
    int is_mask;      /* samples are 255 for valid pixels */
    int is_pair;      /* complex samples */
    int is_second;    /* the second component is wanted */
    int is_tested;    /* samples may be invalid; false for alpha */
    tz_u32 test;
    tz_u64 nodata;
} tz_overview_in_plane;

TZ_FN tz_overview_in_plane tz_overview_in_plane_of(const tz_overview_job *job,
                                                   const tz_overview_span *span, tz_u32 type)
{
    tz_overview_in_plane plane;
    plane.type = type;
    plane.is_mask = tz_overview_is_mask(job, span);
    plane.is_pair = tz_overview_word(job, TZ_OVERVIEW_COMPONENTS) == 2u;
    plane.is_second = span->component == 1u;
    plane.is_tested = !tz_overview_is_alpha(job, span);
    plane.test =
        plane.is_tested ? tz_overview_word(job, TZ_OVERVIEW_TEST) : (tz_u32)TZ_NODATA_TEST_NEVER;
    plane.nodata = job->words[TZ_OVERVIEW_NODATA];
    plane.is_unchecked = !plane.is_mask && !plane.is_pair && plane.test == TZ_NODATA_TEST_NEVER &&
                         job->words[TZ_OVERVIEW_ALPHA] == 0u &&
                         job->words[TZ_OVERVIEW_HAS_MASK] == 0u;
    return plane;
}

/* Returns a sample, or NaN if it is not valid. A complex sample is nodata if its first component
 * is, and NaN if either component is. */
TZ_FN tz_f64 tz_overview_in_value(const tz_overview_in_plane *plane, const tz_overview_in_row *line,
                                  tz_u32 column)
{
    const TZ_GLOBAL tz_u8 *at = line->samples + (tz_i64)column * line->step;
    if (plane->is_unchecked)
        return tz_component_value(plane->type, at);
    if (plane->is_tested && !tz_overview_in_is_valid(line, column))
        return TZ_OVERVIEW_NAN;
    if (plane->is_mask)
        return 255.0;
    const tz_f64 first = tz_component_value(plane->type, at);
    if (plane->test == TZ_NODATA_TEST_NUMBER && first == tz_f64_of_bits(plane->nodata))
        return TZ_OVERVIEW_NAN;
    if (plane->test == TZ_NODATA_TEST_BITS && tz_load_u64(at) == plane->nodata)
        return TZ_OVERVIEW_NAN;
    if (!plane->is_pair)
        return first;
    const tz_f64 second = tz_component_value(plane->type, at + line->bytes);
    if (plane->is_tested && (first != first || second != second))
        return TZ_OVERVIEW_NAN;
    return plane->is_second ? second : first;
}

/* The old rows of a span. The first few are located once for all new pixels. */
#define TZ_ROWS_FOUND 4u
typedef struct tz_overview_in_rows {
    tz_overview_span span;
    tz_overview_in_plane plane;
    tz_taps down;
    tz_overview_in_row found[TZ_ROWS_FOUND];
} tz_overview_in_rows;

TZ_FN tz_overview_in_rows tz_overview_in_rows_of(const tz_overview_job *job,
                                                 const tz_overview_span *span, tz_u32 type)
{
    tz_overview_in_rows rows;
    rows.span = *span;
    rows.plane = tz_overview_in_plane_of(job, span, type);
    rows.down = tz_taps_down(job, span->row);
    for (tz_u32 k = 0; k < TZ_ROWS_FOUND && k < rows.down.count; k++)
        rows.found[k] = tz_overview_in_row_of(job, span, rows.down.first + k);
    return rows;
}

TZ_FN tz_overview_in_row tz_overview_in_row_at(const tz_overview_job *job,
                                               const tz_overview_in_rows *rows, tz_u32 k)
{
    return k < TZ_ROWS_FOUND ? rows->found[k]
                             : tz_overview_in_row_of(job, &rows->span, rows->down.first + k);
}

/* ---- new samples ---- */

/* Stores a value: clamped, cast, and moved to its neighbour if it happens to equal nodata. NaN is
 * stored as the value for missing samples. */
TZ_FN void tz_overview_set_sample(const tz_overview_job *job, const tz_overview_span *span,
                                  const tz_overview_in_plane *plane, tz_u32 column, tz_f64 value)
{
    const tz_u32 type = plane->type;
    const tz_u32 bytes = tz_component_bytes(type);
    TZ_GLOBAL tz_u8 *to = tz_overview_out_at(job, span, column);
    if (value != value) {
        tz_store_raw(to, job->words[TZ_OVERVIEW_MISSING], bytes);
        return;
    }
    if (job->words[TZ_OVERVIEW_CLAMPS])
        value = tz_clamp_f64(value, tz_f64_of_bits(job->words[TZ_OVERVIEW_LOW]),
                             tz_f64_of_bits(job->words[TZ_OVERVIEW_HIGH]));
    const tz_u64 bits = tz_component_of_f64(type, value);
    tz_store_raw(to, bits, bytes);
    if (plane->test == TZ_NODATA_TEST_NEVER || plane->is_second)
        return;
    if (plane->test == TZ_NODATA_TEST_NUMBER
            ? tz_component_value(type, to) == tz_f64_of_bits(plane->nodata)
            : bits == plane->nodata)
        tz_store_raw(
            to,
            tz_component_neighbour(type, bytes, tz_overview_word(job, TZ_OVERVIEW_USED_BITS), bits),
            bytes);
}

/* Number of passes: 2 if samples without a valid pixel must not be NaN. */
TZ_FN tz_u32 tz_overview_passes(const tz_overview_job *job, const tz_overview_span *span)
{
    const int has_flags =
        job->words[TZ_OVERVIEW_ALPHA] != 0u || job->words[TZ_OVERVIEW_HAS_MASK] != 0u;
    return has_flags && job->words[TZ_OVERVIEW_WANTS_NAN] != 0u && !tz_overview_is_mask(job, span)
               ? 2u
               : 1u;
}

TZ_FN int tz_overview_out_is_nan(const tz_overview_job *job, const tz_overview_span *span,
                                 tz_u32 column, tz_u32 type)
{
    const tz_f64 value = tz_component_value(type, tz_overview_out_at(job, span, column));
    return value != value;
}

/* Stores a value. In the second pass the values are those of the mask: a sample that is NaN
 * although no pixel is valid becomes TZ_OVERVIEW_NONE. */
TZ_FN void tz_overview_set_pixel(const tz_overview_job *job, const tz_overview_span *span,
                                 const tz_overview_in_plane *plane, tz_u32 column, tz_f64 value,
                                 tz_u32 pass)
{
    if (plane->is_mask)
        tz_overview_set_mask(job, span, column, value == value);
    else if (pass == 0u)
        tz_overview_set_sample(job, span, plane, column, value);
    else if (value != value && tz_overview_out_is_nan(job, span, column, plane->type))
        tz_store_raw(tz_overview_out_at(job, span, column), job->words[TZ_OVERVIEW_NONE],
                     tz_component_bytes(plane->type));
}

/* ---- values of new pixels ---- */

TZ_FN tz_f64 tz_tap_weight(const tz_taps *taps, tz_u32 k)
{
    return tz_f64_of_bits(taps->weights[(tz_u64)k * taps->stride]);
}

/* Average, root mean square and Gauss. Each row is summed on its own and then added with its
 * weight, in the order of doc/numerics.md. */
TZ_FN tz_f64 tz_overview_value_mean(const tz_overview_job *job, const tz_overview_in_rows *rows,
                                    tz_u32 column, tz_u32 area)
{
    const tz_taps across = tz_taps_across(job, column);
    const tz_taps down = rows->down;
    const int is_rms = tz_overview_word(job, TZ_OVERVIEW_METHOD) == (tz_u32)TZ_METHOD_RMS;
    tz_f64 sum = 0.0;
    tz_f64 weight = 0.0;
    (void)area;
    for (tz_u32 k = 0; k < down.count; k++) {
        const tz_overview_in_row line = tz_overview_in_row_at(job, rows, k);
        const tz_f64 by = tz_tap_weight(&down, k);
        tz_f64 row_sum = 0.0;
        tz_f64 row_weight = 0.0;
        for (tz_u32 n = 0; n < across.count; n++) {
            const tz_f64 x = tz_overview_in_value(&rows->plane, &line, across.first + n);
            tz_weighted_add(is_rms ? x * x : x, tz_tap_weight(&across, n), &row_sum, &row_weight);
        }
        sum += by * row_sum;
        weight += by * row_weight;
    }
    const tz_f64 mean = tz_weighted_mean(sum, weight, TZ_OVERVIEW_NAN);
    return is_rms ? sqrt(mean) : mean;
}

/* Minimum and maximum. */
TZ_FN tz_f64 tz_overview_value_extreme(const tz_overview_job *job, const tz_overview_in_rows *rows,
                                       tz_u32 column, tz_u32 area)
{
    const tz_taps across = tz_taps_across(job, column);
    const tz_taps down = rows->down;
    const int is_min = tz_overview_word(job, TZ_OVERVIEW_METHOD) == (tz_u32)TZ_METHOD_MIN;
    tz_f64 value = TZ_OVERVIEW_NAN;
    (void)area;
    for (tz_u32 k = 0; k < down.count; k++) {
        const tz_overview_in_row line = tz_overview_in_row_at(job, rows, k);
        for (tz_u32 n = 0; n < across.count; n++) {
            const tz_f64 x = tz_overview_in_value(&rows->plane, &line, across.first + n);
            value = is_min ? tz_min_f64(value, x) : tz_max_f64(value, x);
        }
    }
    return value;
}

/* Mode and median: the scratch area of the work-item holds all values. */
TZ_FN tz_f64 tz_overview_value_choice(const tz_overview_job *job, const tz_overview_in_rows *rows,
                                      tz_u32 column, tz_u32 area)
{
    const tz_taps across = tz_taps_across(job, column);
    const tz_taps down = rows->down;
    const tz_u64 capacity = job->words[TZ_OVERVIEW_SCRATCH_TAPS];
    TZ_GLOBAL tz_f64 *all = (TZ_GLOBAL tz_f64 *)(job->own + job->words[TZ_OVERVIEW_SCRATCH]);
    TZ_GLOBAL tz_u32 *orders =
        (TZ_GLOBAL tz_u32 *)(all + job->words[TZ_OVERVIEW_SCRATCH_AREAS] * capacity);
    TZ_GLOBAL tz_f64 *values = all + area * capacity;
    tz_u32 count = 0;
    for (tz_u32 k = 0; k < down.count; k++) {
        const tz_overview_in_row line = tz_overview_in_row_at(job, rows, k);
        for (tz_u32 n = 0; n < across.count; n++) {
            const tz_f64 x = tz_overview_in_value(&rows->plane, &line, across.first + n);
            values[count] = x;
            count += x == x ? 1u : 0u;
        }
    }
    if (count == 0u)
        return TZ_OVERVIEW_NAN;
    return tz_overview_word(job, TZ_OVERVIEW_METHOD) == (tz_u32)TZ_METHOD_MODE
               ? tz_mode_of(values, orders + area * capacity, count)
               : tz_median_of(values, orders + area * capacity, count);
}

/* ---- spans ---- */

/* `rows` are read, and `plane` is written; they differ in the second pass, which reads the mask.
 * Returns if a value was NaN. */
#define TZ_OVERVIEW_METHOD_BY(name, by, type)                                                      \
    TZ_FN int tz_overview_pass_##name(const tz_overview_job *job, const tz_overview_span *span,    \
                                      const tz_overview_in_rows *rows,                             \
                                      const tz_overview_in_plane *plane, tz_u32 first,             \
                                      tz_u32 work_items, tz_u32 area, tz_u32 pass)                 \
    {                                                                                              \
        int has_nan = 0;                                                                           \
        for (tz_u32 x = first; x < span->end; x += work_items) {                                   \
            const tz_f64 value = tz_overview_value_##by(job, rows, x, area);                       \
            has_nan |= value != value;                                                             \
            tz_overview_set_pixel(job, span, plane, x, value, pass);                               \
        }                                                                                          \
        return has_nan;                                                                            \
    }                                                                                              \
    TZ_FN void tz_overview_##name(const tz_overview_job *job, const tz_overview_span *span,        \
                                  tz_u32 work_item, tz_u32 work_items, tz_u32 area)                \
    {                                                                                              \
        const tz_overview_in_plane plane = tz_overview_in_plane_of(job, span, type);               \
        const tz_u32 passes = tz_overview_passes(job, span);                                       \
        tz_overview_span looked_at = *span;                                                        \
        int goes_on = 1;                                                                           \
        for (tz_u32 pass = 0; pass < passes && goes_on; pass++) {                                  \
            const tz_overview_in_rows rows = tz_overview_in_rows_of(job, &looked_at, type);        \
            goes_on = tz_overview_pass_##name(job, span, &rows, &plane, span->first + work_item,   \
                                              work_items, area, pass);                             \
            looked_at.band = tz_overview_word(job, TZ_OVERVIEW_BANDS);                             \
        }                                                                                          \
    }
TZ_OVERVIEW_METHOD_BY(mean_u8, mean, TZ_COMPONENT_U8)
TZ_OVERVIEW_METHOD_BY(mean_u16, mean, TZ_COMPONENT_U16)
TZ_OVERVIEW_METHOD_BY(mean_i16, mean, TZ_COMPONENT_I16)
TZ_OVERVIEW_METHOD_BY(mean_f32, mean, TZ_COMPONENT_F32)
TZ_OVERVIEW_METHOD_BY(mean, mean, tz_overview_word(job, TZ_OVERVIEW_TYPE))
TZ_OVERVIEW_METHOD_BY(extreme, extreme, tz_overview_word(job, TZ_OVERVIEW_TYPE))
TZ_OVERVIEW_METHOD_BY(choice, choice, tz_overview_word(job, TZ_OVERVIEW_TYPE))

/* ---- bilinear, cubic and Lanczos: along each row, then down ---- */

/* Old rows, filtered across, for the columns of a span. */
typedef struct tz_filtered {
    TZ_GLOBAL tz_f64 *values;
    tz_u64 stride; /* from row to row */
    tz_u32 first;  /* first old row */
    tz_u32 end;
    int negative; /* weights may be negative */
} tz_filtered;

TZ_FN tz_filtered tz_filtered_of(const tz_overview_job *job, const tz_overview_span *span,
                                 tz_u32 work_group)
{
    const tz_taps last = tz_taps_down(job, span->row + span->rows - 1u);
    tz_filtered out;
    out.stride = job->words[TZ_OVERVIEW_SCRATCH_AREAS];
    out.values = (TZ_GLOBAL tz_f64 *)(job->own + job->words[TZ_OVERVIEW_SCRATCH]) +
                 (tz_u64)work_group * job->words[TZ_OVERVIEW_SPAN];
    out.first = tz_taps_down(job, span->row).first;
    out.end = last.first + last.count;
    out.negative = tz_overview_word(job, TZ_OVERVIEW_METHOD) != (tz_u32)TZ_METHOD_BILINEAR;
    return out;
}

/* Filters all old rows across, in the plane of looked_at. */
TZ_FN void tz_filter_across(const tz_overview_job *job, const tz_overview_span *looked_at,
                            const tz_filtered *to, tz_u32 work_item, tz_u32 work_items)
{
    const tz_overview_in_plane plane =
        tz_overview_in_plane_of(job, looked_at, tz_overview_word(job, TZ_OVERVIEW_TYPE));
    for (tz_u32 row = to->first; row < to->end; row++) {
        const tz_overview_in_row line = tz_overview_in_row_of(job, looked_at, row);
        TZ_GLOBAL tz_f64 *out = to->values + (row - to->first) * to->stride;
        for (tz_u32 x = looked_at->first + work_item; x < looked_at->end; x += work_items) {
            const tz_taps across = tz_taps_across(job, x);
            tz_filter_state f = {0.0, 0.0, 0u, 0u};
            for (tz_u32 n = 0; n < across.count; n++)
                tz_filter_add(&f, tz_tap_weight(&across, n),
                              tz_overview_in_value(&plane, &line, across.first + n));
            out[x - looked_at->first] =
                tz_filter_end(&f, across.count, to->negative, TZ_OVERVIEW_NAN);
        }
    }
}

/* Filters one column of filtered rows down, to the value of a new pixel. */
TZ_FN tz_f64 tz_filter_down(const tz_filtered *from, const tz_taps *down, tz_u32 column)
{
    const TZ_GLOBAL tz_f64 *values = from->values + (down->first - from->first) * from->stride;
    tz_filter_state f = {0.0, 0.0, 0u, 0u};
    for (tz_u32 k = 0; k < down->count; k++)
        tz_filter_add(&f, tz_tap_weight(down, k), values[k * from->stride + column]);
    return tz_filter_end(&f, down->count, from->negative, TZ_OVERVIEW_NAN);
}

/* Filters down, for all new rows of the span. Returns if a value was NaN. */
TZ_FN int tz_overview_filter_pass(const tz_overview_job *job, const tz_overview_span *span,
                                  const tz_filtered *from, tz_u32 work_item, tz_u32 work_items,
                                  tz_u32 pass)
{
    const tz_overview_in_plane plane =
        tz_overview_in_plane_of(job, span, tz_overview_word(job, TZ_OVERVIEW_TYPE));
    tz_overview_span at = *span;
    int has_nan = 0;
    for (at.row = span->row; at.row < span->row + span->rows; at.row++) {
        const tz_taps down = tz_taps_down(job, at.row);
        for (tz_u32 x = span->first + work_item; x < span->end; x += work_items) {
            const tz_f64 value = tz_filter_down(from, &down, x - span->first);
            has_nan |= value != value;
            tz_overview_set_pixel(job, &at, &plane, x, value, pass);
        }
    }
    return has_nan;
}

/* A work-item keeps its columns from the old rows to the new ones, so that no barrier is needed. */
TZ_FN void tz_overview_filter(const tz_overview_job *job, const tz_overview_span *span,
                              tz_u32 work_item, tz_u32 work_items, tz_u32 area)
{
    const tz_filtered filtered = tz_filtered_of(job, span, area / work_items);
    const tz_u32 passes = tz_overview_passes(job, span);
    tz_overview_span looked_at = *span;
    int goes_on = 1;
    for (tz_u32 pass = 0; pass < passes && goes_on; pass++) {
        tz_filter_across(job, &looked_at, &filtered, work_item, work_items);
        goes_on = tz_overview_filter_pass(job, span, &filtered, work_item, work_items, pass);
        looked_at.band = tz_overview_word(job, TZ_OVERVIEW_BANDS);
    }
}

#ifdef TZ_KERNEL
TZ_OVERVIEW_KERNEL(half_f32)
TZ_OVERVIEW_KERNEL(mean_u8)
TZ_OVERVIEW_KERNEL(mean_u16)
TZ_OVERVIEW_KERNEL(mean_i16)
TZ_OVERVIEW_KERNEL(mean_f32)
TZ_OVERVIEW_KERNEL(mean)
TZ_OVERVIEW_KERNEL(filter)
TZ_OVERVIEW_KERNEL(extreme)
TZ_OVERVIEW_KERNEL(choice)
#endif

#endif

#endif
