/* SPDX-License-Identifier: Apache-2.0 */
#include "pixel/overview_pixels.h"

#include <math.h>
#include <string.h>

#include "kernels/component.h"
#include "kernels/component_value.h"
#include "pixel/pixel.h"
#include "pixel/resample_row.h"
#include "pixel/row_ops.h"

/* ---- one run ---- */

/* What one call works with; its memory is the scratch. */
typedef struct overview_run {
    const tz_overview_params *how;
    const tz_overview_source *from;
    tz_overview_samples to;
    uint32_t part; /* what old_row gives, and of which band */
    uint32_t band;
    tz_resampler rows;
    tz_axis down; /* of one row */
    void *across_memory;
    void *down_memory;
    tz_resample_memory memory;
    tz_resample_memory mask_memory; /* for flags of pixels, which go along with samples */
    uint8_t *picked;                /* new samples of one row */
    uint8_t *valid;                 /* by new pixel */
    uint8_t *unmasked;  /* by new pixel: mask and alpha leave it, whatever its samples are */
    uint8_t *nodata;    /* by new pixel: 0 where it equals nodata */
    uint8_t *old_valid; /* by column of the source */
    uint8_t *old_flags;
    uint8_t *old_above;            /* flags of another row */
    tz_average_2x2_params average; /* how two by two pixels become one */
} overview_run;

/* The scratch: a place for all that a run needs, one behind the other. */
static void *scratch_alloc(uint8_t *scratch, size_t *used, size_t size)
{
    uint8_t *part = scratch + *used;
    *used += (size + 63) / 64 * 64;
    return part;
}

static tz_resample_needs overview_needs_of(const tz_overview_params *how, uint32_t width)
{
    const tz_axis_map across = tz_overview_map_across(how);
    const tz_axis_map down = tz_overview_map_down(how);
    return (tz_resample_needs){.width = width,
                               .old_width = (uint32_t)tz_axis_max_samples(&across, width),
                               .across = (uint32_t)tz_axis_max_samples(&across, 1),
                               .down = (uint32_t)tz_axis_max_samples(&down, 1)};
}

size_t tz_overview_scratch_bytes(const tz_overview_params *how, uint32_t width)
{
    const tz_axis_map across = tz_overview_map_across(how);
    const tz_axis_map down = tz_overview_map_down(how);
    const tz_resample_needs needs = overview_needs_of(how, width);
    return (size_t)(tz_axis_bytes(&across, width) + tz_axis_bytes(&down, 1) +
                    2 * tz_resample_memory_bytes(how->method, &needs)) +
           width * (tz_dtype_size(how->dtype) + 3) + 3 * (size_t)needs.old_width + 12 * 64;
}

static void assign_scratch(overview_run *r, void *scratch)
{
    const uint32_t width = r->rows.width;
    const tz_axis_map across = tz_overview_map_across(r->how);
    const tz_axis_map down = tz_overview_map_down(r->how);
    const tz_resample_needs needs = overview_needs_of(r->how, width);
    const size_t rows = (size_t)tz_resample_memory_bytes(r->how->method, &needs);
    uint8_t *memory = (uint8_t *)scratch + (64 - (uintptr_t)scratch % 64) % 64;
    size_t used = 0;
    r->across_memory = scratch_alloc(memory, &used, (size_t)tz_axis_bytes(&across, width));
    r->down_memory = scratch_alloc(memory, &used, (size_t)tz_axis_bytes(&down, 1));
    tz_resample_memory_make(&r->memory, r->how->method, &needs, scratch_alloc(memory, &used, rows));
    tz_resample_memory_make(&r->mask_memory, r->how->method, &needs,
                            scratch_alloc(memory, &used, rows));
    r->picked = scratch_alloc(memory, &used, width * tz_dtype_size(r->how->dtype));
    r->valid = scratch_alloc(memory, &used, width);
    r->unmasked = scratch_alloc(memory, &used, width);
    r->nodata = scratch_alloc(memory, &used, width);
    r->old_valid = scratch_alloc(memory, &used, needs.old_width);
    r->old_flags = scratch_alloc(memory, &used, needs.old_width);
    r->old_above = scratch_alloc(memory, &used, needs.old_width);
}

/* ---- old rows ---- */

static const tz_row_range *range_with_row(const tz_overview_source *from, int64_t row)
{
    const tz_row_range *first = &from->parts[0];
    const bool is_first =
        first->pixels.height > 0 && row < (int64_t)first->row + first->pixels.height;
    return is_first ? first : &from->parts[1];
}

/* Flags of a row, gathered one kind after the other. */
typedef struct flags {
    uint8_t *all; /* 0 or 255 by column, once there is any kind */
    uint8_t *one;
    uint32_t count;
    bool any;
} flags;

/* 0 where a sample is `none`. */
static void add_flags(flags *f, tz_dtype dtype, const tz_nodata *none, const uint8_t *samples,
                      ptrdiff_t step)
{
    const tz_conversion find = {.from = dtype, .to = dtype, .nodata = *none};
    uint8_t *into = f->any ? f->one : f->all;
    tz_row_convert(&find, samples, step, NULL, 0, f->count, into, 1);
    for (uint32_t i = 0; f->any && i < f->count; i++)
        f->all[i] = (uint8_t)(f->all[i] & f->one[i]);
    f->any = true;
}

/* Which pixels mask and alpha leave. */
static void flag_pixels(const overview_run *r, const tz_row_range *part, int64_t row, flags *f)
{
    static const tz_nodata zero = {.kind = TZ_NODATA_INT};
    const int64_t column = r->rows.column - r->from->column;
    if (r->how->mask && part->mask.data)
        add_flags(f, TZ_DTYPE_UINT8, &zero, tz_buffer_at(&part->mask, 0, row, column),
                  (ptrdiff_t)part->mask.column_stride);
    if (r->how->alpha > 0)
        add_flags(f, r->how->dtype, &zero,
                  tz_buffer_at(&part->pixels, r->how->alpha - 1, row, column),
                  (ptrdiff_t)part->pixels.column_stride);
}

/* Which samples are not nodata. A complex sample is when its first part is; it is NaN when either
 * is. */
static void flag_samples(const overview_run *r, const uint8_t *samples, ptrdiff_t step, flags *f)
{
    static const tz_nodata nan = {.kind = TZ_NODATA_FLOAT, .value = {.f = (double)NAN}};
    if (r->how->nodata.kind != TZ_NODATA_NONE)
        add_flags(f, r->how->dtype, &r->how->nodata, samples, step);
    if (r->to.parts == 2 && r->to.is_float) {
        add_flags(f, r->to.dtype, &nan, samples, step);
        add_flags(f, r->to.dtype, &nan, samples + tz_dtype_size(r->to.dtype), step);
    }
}

static tz_input_row old_samples(const void *user, int64_t row)
{
    const overview_run *r = user;
    const tz_row_range *part = range_with_row(r->from, row);
    const int64_t at = row - part->row;
    const ptrdiff_t step = (ptrdiff_t)part->pixels.column_stride;
    const uint8_t *samples =
        tz_buffer_at(&part->pixels, r->band, at, r->rows.column - r->from->column);
    flags f = {r->old_valid, r->old_flags, r->rows.old_width, false};
    if (r->how->method != TZ_RESAMPLE_NEAREST && r->how->alpha != r->band + 1) {
        flag_pixels(r, part, at, &f);
        flag_samples(r, samples, step, &f);
    }
    return (tz_input_row){samples + r->part * tz_dtype_size(r->to.dtype), step,
                          f.any ? f.all : NULL};
}

static void flag_row(const overview_run *r, int64_t row, uint8_t *out)
{
    const tz_row_range *part = range_with_row(r->from, row);
    flags f = {out, r->old_flags, r->rows.old_width, false};
    flag_pixels(r, part, row - part->row, &f);
    if (!f.any)
        memset(out, 255, f.count);
}

/* The flags of pixels, as samples. */
static tz_input_row old_mask(const void *user, int64_t row)
{
    const overview_run *r = user;
    flag_row(r, row, r->old_valid);
    return (tz_input_row){r->old_valid, 1, r->old_valid};
}

/* ---- new rows ---- */

/* Integers stay within their bits, as cubic and lanczos may not. */
static void clamp_values(const overview_run *r, double *values)
{
    for (uint32_t i = 0; r->to.clamps && i < r->rows.width; i++)
        values[i] = tz_clamp_f64(values[i], r->to.low, r->to.high);
}

/* What samples are where none was valid. */
static void fill_invalid_samples(const overview_run *r)
{
    const size_t size = tz_dtype_size(r->to.dtype);
    uint8_t none[8];
    uint8_t missing[8];
    tz_sample_put(r->to.dtype, r->to.none, none);
    tz_sample_put(r->to.dtype, r->to.missing, missing);
    for (uint32_t i = 0; i < r->rows.width; i++) {
        if (!r->valid[i])
            memcpy(r->picked + i * size, r->to.wants_nan && r->unmasked[i] ? missing : none, size);
    }
}

/* A valid sample that came to equal nodata becomes its neighbour. */
static void avoid_nodata(const overview_run *r)
{
    const tz_dtype dtype = r->to.dtype;
    const size_t size = tz_dtype_size(dtype);
    const tz_conversion find = {.from = dtype, .to = dtype, .nodata = r->how->nodata};
    if (r->how->nodata.kind == TZ_NODATA_NONE || r->how->alpha == r->band + 1 || r->part > 0)
        return;
    tz_row_convert(&find, r->picked, (ptrdiff_t)size, NULL, 0, r->rows.width, r->nodata, 1);
    for (uint32_t i = 0; i < r->rows.width; i++) {
        uint8_t *sample = r->picked + i * size;
        if (!r->nodata[i] && r->valid[i])
            tz_sample_put(dtype,
                          tz_component_neighbour(dtype, (uint32_t)size, r->how->bits,
                                                 tz_sample_bits(dtype, sample)),
                          sample);
    }
}

static void make_samples(overview_run *r)
{
    const tz_conversion cast = {.from = TZ_DTYPE_FLOAT64, .to = r->to.dtype};
    r->rows.old_row = old_samples;
    r->rows.dtype = r->to.dtype;
    tz_resample_values(&r->rows, &r->down, 0, &r->memory, r->valid);
    clamp_values(r, r->memory.values);
    tz_row_convert(&cast, (const uint8_t *)r->memory.values, sizeof(double), r->picked,
                   (ptrdiff_t)tz_dtype_size(r->to.dtype), r->rows.width, NULL, 0);
    fill_invalid_samples(r);
    avoid_nodata(r);
}

static void pick_samples(overview_run *r)
{
    r->rows.old_row = old_samples;
    r->rows.dtype = r->how->dtype;
    tz_resample_pick(&r->rows, r->down.first[0], r->picked, r->valid);
}

/* Flags of new pixels. */
static void make_mask(overview_run *r)
{
    r->rows.dtype = TZ_DTYPE_UINT8;
    r->rows.old_row = old_mask;
    if (!r->how->mask && r->how->alpha == 0)
        memset(r->unmasked, 255, r->rows.width);
    else if (r->how->method == TZ_RESAMPLE_NEAREST)
        tz_resample_pick(&r->rows, r->down.first[0], r->picked, r->unmasked);
    else
        tz_resample_values(&r->rows, &r->down, 0, &r->mask_memory, r->unmasked);
}

static void store_row_samples(tz_dtype dtype, const uint8_t *samples, uint32_t width, uint8_t *into,
                              int64_t step)
{
    const tz_conversion as_is = {.from = dtype, .to = dtype};
    tz_row_convert(&as_is, samples, (ptrdiff_t)tz_dtype_size(dtype), into, (ptrdiff_t)step, width,
                   NULL, 0);
}

static void make_overview_row(overview_run *r)
{
    if (r->how->method == TZ_RESAMPLE_NEAREST) {
        pick_samples(r);
        return;
    }
    if (r->to.wants_nan)
        make_mask(r);
    make_samples(r);
}

/* The tables for a row of the window. */
static void make_axis_tables(overview_run *r, const tz_window *window, uint32_t row)
{
    const tz_axis_map across = tz_overview_map_across(r->how);
    const tz_axis_map down = tz_overview_map_down(r->how);
    if (!r->rows.across.weights)
        tz_axis_make(&r->rows.across, &across, (uint32_t)window->column, window->width,
                     r->across_memory);
    tz_axis_make(&r->down, &down, (uint32_t)window->row + row, 1, r->down_memory);
}

/* Row `row` of the window, of one band, or one part of its complex samples. */
static void make_band_row(overview_run *r, const tz_window *window, uint32_t row,
                          const tz_buffer *into)
{
    uint8_t *to = tz_buffer_at(into, r->band, row, 0) + r->part * tz_dtype_size(r->to.dtype);
    make_axis_tables(r, window, row);
    make_overview_row(r);
    store_row_samples(r->rows.dtype, r->picked, r->rows.width, to, into->column_stride);
}

static void make_band(overview_run *r, const tz_window *window, const tz_buffer *into)
{
    tz_resample_begin(&r->memory);
    tz_resample_begin(&r->mask_memory);
    for (uint32_t row = 0; row < window->height; row++)
        make_band_row(r, window, row, into);
}

/* ---- two by two ---- */

/* Whether the samples of all bands lie together. */
static bool is_contiguous(const tz_buffer *buffer, uint32_t bands, size_t size)
{
    return buffer->column_stride == (int64_t)(bands * size) &&
           (bands == 1 || buffer->band_stride == (int64_t)size);
}

/* 0 where mask and alpha do not leave a pixel of a row, as they are or in out. */
static const uint8_t *pixel_flags(const overview_run *r, int64_t row, uint8_t *out)
{
    const tz_row_range *part = range_with_row(r->from, row);
    if (r->how->alpha == 0 && part->mask.data && part->mask.column_stride == 1)
        return tz_buffer_at(&part->mask, 0, row - part->row, r->rows.column - r->from->column);
    flag_row(r, row, out);
    return out;
}

static bool is_unmasked(const overview_run *r, int64_t row)
{
    return (!r->how->mask && r->how->alpha == 0) ||
           !memchr(pixel_flags(r, row, r->old_valid), 0, r->rows.old_width);
}

static void average_band_row(overview_run *r, const tz_row_range *parts[2], const int64_t rows[2],
                             const tz_buffer *into, uint32_t row, uint32_t band)
{
    const int64_t column = r->rows.column - r->from->column;
    tz_row_ops_get()->average_2x2(&r->average,
                                  tz_buffer_at(&parts[0]->pixels, band, rows[0], column),
                                  tz_buffer_at(&parts[1]->pixels, band, rows[1], column),
                                  tz_buffer_at(into, band, row, 0), r->rows.width);
}

/* False, and nothing is done: it is not that simple. */
static bool average_row(overview_run *r, const tz_window *window, uint32_t row,
                        const tz_buffer *into)
{
    const int64_t first = 2 * (window->row + row);
    const tz_row_range *parts[2] = {range_with_row(r->from, first),
                                    range_with_row(r->from, first + 1)};
    const int64_t rows[2] = {first - parts[0]->row, first + 1 - parts[1]->row};
    const size_t size = tz_dtype_size(r->to.dtype);
    bool together = true;
    bool apart = true;
    for (int i = 0; i < 2; i++) {
        if (!is_unmasked(r, first + i))
            return false;
        together = together && is_contiguous(&parts[i]->pixels, r->how->bands, size);
        apart = apart && is_contiguous(&parts[i]->pixels, 1, size);
    }
    together = together && is_contiguous(into, r->how->bands, size);
    apart = apart && is_contiguous(into, 1, size);
    r->average.samples = together ? r->how->bands : 1;
    if (together)
        average_band_row(r, parts, rows, into, row, 0);
    for (uint32_t band = 0; !together && apart && band < r->how->bands; band++)
        average_band_row(r, parts, rows, into, row, band);
    return together || apart;
}

static void average_window(overview_run *r, const tz_window *window, const tz_buffer *into)
{
    r->average = tz_overview_average_2x2(r->how);
    tz_resample_begin(&r->mask_memory);
    for (uint32_t row = 0; row < window->height; row++) {
        if (average_row(r, window, row, into))
            continue;
        for (r->band = 0; r->band < r->how->bands; r->band++) {
            tz_resample_begin(&r->memory);
            make_band_row(r, window, row, into);
        }
    }
}

/* A new pixel is there where any of the four is. */
static void average_mask(overview_run *r, int64_t first)
{
    const uint8_t *above = pixel_flags(r, first, r->old_above);
    const uint8_t *below = pixel_flags(r, first + 1, r->old_valid);
    for (size_t i = 0; i < r->rows.width; i++)
        r->unmasked[i] =
            (above[2 * i] | above[2 * i + 1] | below[2 * i] | below[2 * i + 1]) != 0 ? 255 : 0;
}

/* ---- all of a window ---- */

static void make_mask_rows(overview_run *r, const tz_window *window, const tz_buffer *into)
{
    tz_resample_begin(&r->mask_memory);
    for (uint32_t row = 0; row < window->height; row++) {
        if (tz_overview_is_average_2x2(r->how)) {
            average_mask(r, 2 * (window->row + row));
        } else {
            make_axis_tables(r, window, row);
            make_mask(r);
        }
        store_row_samples(TZ_DTYPE_UINT8, r->unmasked, r->rows.width, tz_buffer_at(into, 0, row, 0),
                          into->column_stride);
    }
}

void tz_overview_make(const tz_overview_params *how, const tz_overview_source *from,
                      const tz_window *window, const tz_buffer *pixels, const tz_buffer *mask,
                      void *scratch)
{
    const uint32_t first = (uint32_t)window->column;
    const tz_interval columns =
        tz_overview_source_columns(how, (tz_interval){first, first + window->width});
    overview_run r = {.how = how, .from = from, .to = tz_overview_samples_of(how)};
    r.rows = (tz_resampler){.method = how->method,
                            .width = window->width,
                            .column = columns.first,
                            .old_width = columns.end - columns.first,
                            .user = &r};
    assign_scratch(&r, scratch);
    if (how->method == TZ_RESAMPLE_NEAREST)
        r.to.parts = 1;
    if (tz_overview_is_average_2x2(how))
        average_window(&r, window, pixels);
    for (r.band = 0; !tz_overview_is_average_2x2(how) && r.band < how->bands; r.band++) {
        for (r.part = 0; r.part < r.to.parts; r.part++)
            make_band(&r, window, pixels);
    }
    r.band = 0;
    r.part = 0;
    if (mask && mask->data)
        make_mask_rows(&r, window, mask);
}
