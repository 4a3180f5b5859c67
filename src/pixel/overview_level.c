/* SPDX-License-Identifier: Apache-2.0
 * One level of a pyramid: its geometry, its samples, and its pixels.
 *
 * tz_overview_make works band by band and row by row. A callback hands the resampler an old row and
 * a flag for each of its samples, from mask, alpha band and nodata; the resampler returns doubles,
 * which are clamped, cast to the type of the level, and stored. Complex samples are made one
 * component at a time.
 *
 * Averages of two by two pixels, by far the most frequent kind, skip the doubles: a loop of
 * row_ops.h makes a whole row if its samples lie together and mask and alpha leave all of them. The
 * other rows of such a level take the general way, which gives the same samples.
 *
 * A valid new sample must not become nodata by accident: if its value equals nodata, it becomes the
 * neighbouring value. */
#include "pixel/overview_level.h"

#include <math.h>
#include <string.h>

#include "kernels/component.h"
#include "kernels/wide.h"
#include "pixel/pixel.h"
#include "pixel/resample_row.h"
#include "pixel/row_ops.h"
#include "pixel/store.h"

_Static_assert(TZ_COMPONENT_U8 == (unsigned)TZ_DTYPE_UINT8 &&
                   TZ_COMPONENT_I64 == (unsigned)TZ_DTYPE_INT64 &&
                   TZ_COMPONENT_F16 == (unsigned)TZ_DTYPE_FLOAT16 &&
                   TZ_COMPONENT_F64 == (unsigned)TZ_DTYPE_FLOAT64,
               "kernels know types by the same numbers");

const char *tz_resampling_unsupported(tz_resampling method, tz_dtype dtype, bool palette)
{
    if ((unsigned)method > TZ_RESAMPLING_MEDIAN || method == TZ_RESAMPLING_NONE)
        return "there is no such resampling";
    if (palette && method != TZ_RESAMPLING_NEAREST && method != TZ_RESAMPLING_MODE)
        return "numbers in a colour map can be resampled by nearest and mode only";
    if (dtype >= TZ_DTYPE_COMPLEX_INT16 && method >= TZ_RESAMPLING_RMS)
        return "complex samples have no order; they can be resampled by nearest, average, "
               "bilinear, cubic, lanczos and gauss only";
    return NULL;
}

/* ---- geometry ---- */

static tz_axis_map axis_map_of(const tz_overview_params *how, uint32_t from, uint32_t to)
{
    return (tz_axis_map){
        .method = how->method, .scale = (double)from / to, .high = from, .overview = true};
}

tz_axis_map tz_overview_map_across(const tz_overview_params *how)
{
    return axis_map_of(how, how->from_width, how->to_width);
}

tz_axis_map tz_overview_map_down(const tz_overview_params *how)
{
    return axis_map_of(how, how->from_height, how->to_height);
}

static tz_interval source_interval(const tz_axis_map *map, tz_interval of)
{
    int64_t low;
    int64_t high;
    if (of.first >= of.end)
        return (tz_interval){0, 0};
    tz_axis_range(map, of.first, of.end - of.first, &low, &high);
    return (tz_interval){(uint32_t)low, (uint32_t)high};
}

tz_interval tz_overview_source_rows(const tz_overview_params *how, tz_interval of)
{
    const tz_axis_map map = tz_overview_map_down(how);
    return source_interval(&map, of);
}

tz_interval tz_overview_source_columns(const tz_overview_params *how, tz_interval of)
{
    const tz_axis_map map = tz_overview_map_across(how);
    return source_interval(&map, of);
}

/* ---- samples ---- */

/* A sample is at the low end of a 64-bit number, which is its last bytes on a big-endian host. */
static size_t sample_offset(tz_dtype dtype)
{
    return tz_host_is_little_endian() ? 0 : 8 - tz_dtype_size(dtype);
}

uint64_t tz_sample_bits(tz_dtype dtype, const uint8_t *sample)
{
    uint64_t bits = 0;
    memcpy((uint8_t *)&bits + sample_offset(dtype), sample, tz_dtype_size(dtype));
    return bits;
}

void tz_sample_put(tz_dtype dtype, uint64_t bits, uint8_t *sample)
{
    memcpy(sample, (uint8_t *)&bits + sample_offset(dtype), tz_dtype_size(dtype));
}

static uint64_t fill_bits(tz_dtype dtype, const tz_nodata *value)
{
    uint8_t sample[8];
    tz_row_fill(dtype, value, sample, 0, 1);
    return tz_sample_bits(dtype, sample);
}

tz_overview_samples tz_overview_samples_of(const tz_overview_params *how)
{
    static const tz_dtype component_types[] = {
        [TZ_DTYPE_COMPLEX_INT16] = TZ_DTYPE_INT16,
        [TZ_DTYPE_COMPLEX_INT32] = TZ_DTYPE_INT32,
        [TZ_DTYPE_COMPLEX_FLOAT16] = TZ_DTYPE_FLOAT16,
        [TZ_DTYPE_COMPLEX_FLOAT32] = TZ_DTYPE_FLOAT32,
        [TZ_DTYPE_COMPLEX_FLOAT64] = TZ_DTYPE_FLOAT64,
    };
    const tz_nodata nan = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = (double)NAN}};
    const bool is_complex = how->dtype >= TZ_DTYPE_COMPLEX_INT16;
    tz_overview_samples out = {.dtype = is_complex ? component_types[how->dtype] : how->dtype,
                               .components = is_complex ? 2 : 1};
    out.is_float = tz_component_is_float(out.dtype);
    const bool sign = tz_component_is_signed(out.dtype);
    /* Integers that fill their type are clamped by the cast, which saturates. */
    out.clamps = !out.is_float && how->bits < 8 * tz_dtype_size(out.dtype);
    if (out.clamps) {
        out.high = ldexp(1, how->bits - sign) - 1;
        out.low = sign ? -out.high - 1 : 0;
    }
    out.wants_nan = out.is_float && how->nodata.kind == TZ_NODATA_KIND_NONE;
    out.none = fill_bits(out.dtype, &how->nodata);
    out.missing = out.wants_nan ? fill_bits(out.dtype, &nan) : out.none;
    return out;
}

/* ---- averages of two by two ---- */

/* With an alpha band, nodata would be valid in that band and not in the others: such levels take
 * the general way. */
bool tz_overview_is_average_2x2(const tz_overview_params *how)
{
    const tz_dtype dtype = how->dtype;
    return how->method == TZ_RESAMPLING_AVERAGE && how->from_width == 2 * (uint64_t)how->to_width &&
           how->from_height == 2 * (uint64_t)how->to_height &&
           (dtype == TZ_DTYPE_UINT8 || dtype == TZ_DTYPE_UINT16 || dtype == TZ_DTYPE_INT16 ||
            dtype == TZ_DTYPE_FLOAT32) &&
           (how->alpha == 0 || how->nodata.kind == TZ_NODATA_KIND_NONE);
}

static double sample_value(tz_dtype dtype, uint64_t bits)
{
    const tz_conversion widen = {.from = dtype, .to = TZ_DTYPE_FLOAT64};
    uint8_t sample[8];
    double value;
    tz_sample_put(dtype, bits, sample);
    tz_row_convert(&widen, sample, 1, (uint8_t *)&value, sizeof value, 1, NULL, 0);
    return value;
}

tz_average_2x2_params tz_overview_average_2x2(const tz_overview_params *how)
{
    const tz_overview_samples to = tz_overview_samples_of(how);
    const uint32_t size = (uint32_t)tz_dtype_size(to.dtype);
    uint8_t sample[16];
    const double nodata = sample_value(to.dtype, to.none);
    const double neighbour =
        sample_value(to.dtype, tz_component_neighbour(to.dtype, size, how->bits, to.none));
    /* Nodata may be a value that samples cannot have. */
    tz_average_2x2_params average = {
        .dtype = to.dtype, .has_nodata = tz_store_nodata_sample(to.dtype, &how->nodata, sample)};
    if (to.is_float) {
        average.nodata_real = (float)nodata;
        average.neighbour_real = (float)neighbour;
        average.none_real = to.wants_nan ? NAN : (float)nodata;
    } else {
        average.nodata = (int32_t)nodata;
        average.neighbour = (int32_t)neighbour;
    }
    return average;
}

/* ---- one call ---- */

/* The state of one call of tz_overview_make; its memory is the scratch. */
typedef struct overview_run {
    const tz_overview_params *how;
    const tz_overview_source *from;
    tz_overview_samples to;
    uint32_t component; /* of the samples that old_samples returns */
    uint32_t band;
    tz_resampler rows;
    tz_axis down; /* of one row */
    void *across_memory;
    void *down_memory;
    tz_resample_memory memory;
    tz_resample_memory mask_memory; /* for flags of pixels, made in turn with samples */
    uint8_t *picked;                /* new samples of one row */
    uint8_t *valid;                 /* by new pixel */
    uint8_t *unmasked;              /* by new pixel: mask and alpha leave it, with any samples */
    uint8_t *nodata;                /* by new pixel: 0 if it equals nodata */
    uint8_t *old_valid;             /* by column of the source */
    uint8_t *old_flags;
    uint8_t *old_above; /* flags of another row */
    tz_average_2x2_params average;
} overview_run;

/* Returns the next size bytes of the scratch, from a cache line on. */
static void *scratch_alloc(uint8_t *scratch, size_t *used, size_t size)
{
    uint8_t *start = scratch + *used;
    *used += (size + 63) / 64 * 64;
    return start;
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

/* As much as assign_scratch takes; 12 lines cover its eleven roundings and the alignment. */
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
    const tz_row_range *first = &from->row_ranges[0];
    const bool is_first =
        first->pixels.height > 0 && row < (int64_t)first->row + first->pixels.height;
    return is_first ? first : &from->row_ranges[1];
}

/* Flags of the samples of a row: the conjunction of up to five kinds. */
typedef struct flags {
    uint8_t *all; /* 0 or 255 by column; undefined until a kind is added */
    uint8_t *one; /* scratch for the next kind */
    uint32_t count;
    bool any; /* a kind was added */
} flags;

/* Clears the flags of samples that equal `none`. */
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

/* Clears the flags of pixels that mask or alpha exclude; row is counted in the range. */
static void flag_pixels(const overview_run *r, const tz_row_range *range, int64_t row, flags *f)
{
    static const tz_nodata zero = {.kind = TZ_NODATA_KIND_INT};
    const int64_t column = r->rows.column - r->from->column;
    if (r->how->mask && range->mask.data)
        add_flags(f, TZ_DTYPE_UINT8, &zero, tz_buffer_at(&range->mask, 0, row, column),
                  (ptrdiff_t)range->mask.column_stride);
    if (r->how->alpha > 0)
        add_flags(f, r->how->dtype, &zero,
                  tz_buffer_at(&range->pixels, r->how->alpha - 1, row, column),
                  (ptrdiff_t)range->pixels.column_stride);
}

/* The callback of the resampler for samples. The alpha band itself is resampled as it is. A complex
 * sample is nodata if its real component is, and not valid if either is NaN. */
static tz_input_row old_samples(const void *user, int64_t row)
{
    static const tz_nodata nan = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = (double)NAN}};
    const overview_run *r = user;
    const tz_row_range *range = range_with_row(r->from, row);
    const int64_t at = row - range->row;
    const ptrdiff_t step = (ptrdiff_t)range->pixels.column_stride;
    const size_t size = tz_dtype_size(r->to.dtype);
    const uint8_t *samples =
        tz_buffer_at(&range->pixels, r->band, at, r->rows.column - r->from->column);
    flags f = {r->old_valid, r->old_flags, r->rows.old_width, false};
    if (r->how->method != TZ_RESAMPLING_NEAREST && r->how->alpha != r->band + 1) {
        flag_pixels(r, range, at, &f);
        if (r->how->nodata.kind != TZ_NODATA_KIND_NONE)
            add_flags(&f, r->how->dtype, &r->how->nodata, samples, step);
        if (r->to.components == 2 && r->to.is_float) {
            add_flags(&f, r->to.dtype, &nan, samples, step);
            add_flags(&f, r->to.dtype, &nan, samples + size, step);
        }
    }
    return (tz_input_row){samples + r->component * size, step, f.any ? f.all : NULL};
}

static void flag_row(const overview_run *r, int64_t row, uint8_t *out)
{
    const tz_row_range *range = range_with_row(r->from, row);
    flags f = {out, r->old_flags, r->rows.old_width, false};
    flag_pixels(r, range, row - range->row, &f);
    if (!f.any)
        memset(out, 255, f.count);
}

/* The callback of the resampler for the mask: the flags of pixels are the samples. */
static tz_input_row old_mask(const void *user, int64_t row)
{
    const overview_run *r = user;
    flag_row(r, row, r->old_valid);
    return (tz_input_row){r->old_valid, 1, r->old_valid};
}

/* ---- new rows ---- */

/* Writes the samples of new pixels that had no valid old one. */
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

/* Replaces a valid sample that came to equal nodata by its neighbour. Nodata of complex samples is
 * about the real component alone. */
static void avoid_nodata(const overview_run *r)
{
    const tz_dtype dtype = r->to.dtype;
    const size_t size = tz_dtype_size(dtype);
    const tz_conversion find = {.from = dtype, .to = dtype, .nodata = r->how->nodata};
    if (r->how->nodata.kind == TZ_NODATA_KIND_NONE || r->how->alpha == r->band + 1 ||
        r->component > 0)
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

/* Cubic and lanczos overshoot: their values are clamped to the bits of the level. */
static void make_samples(overview_run *r)
{
    const tz_conversion cast = {.from = TZ_DTYPE_FLOAT64, .to = r->to.dtype};
    double *values = r->memory.values;
    r->rows.old_row = old_samples;
    r->rows.dtype = r->to.dtype;
    tz_resample_values(&r->rows, &r->down, 0, &r->memory, r->valid);
    for (uint32_t i = 0; r->to.clamps && i < r->rows.width; i++)
        values[i] = tz_clamp_f64(values[i], r->to.low, r->to.high);
    tz_row_convert(&cast, (const uint8_t *)values, sizeof(double), r->picked,
                   (ptrdiff_t)tz_dtype_size(r->to.dtype), r->rows.width, NULL, 0);
    fill_invalid_samples(r);
    avoid_nodata(r);
}

/* Makes the flags of new pixels: valid if the resampled mask is. */
static void make_mask(overview_run *r)
{
    r->rows.dtype = TZ_DTYPE_UINT8;
    r->rows.old_row = old_mask;
    if (!r->how->mask && r->how->alpha == 0)
        memset(r->unmasked, 255, r->rows.width);
    else if (r->how->method == TZ_RESAMPLING_NEAREST)
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

/* Makes the tables of weights for a row of the window; those across serve all rows. */
static void make_axis_tables(overview_run *r, const tz_window *window, uint32_t row)
{
    const tz_axis_map across = tz_overview_map_across(r->how);
    const tz_axis_map down = tz_overview_map_down(r->how);
    if (!r->rows.across.weights)
        tz_axis_make(&r->rows.across, &across, (uint32_t)window->column, window->width,
                     r->across_memory);
    tz_axis_make(&r->down, &down, (uint32_t)window->row + row, 1, r->down_memory);
}

/* Makes one row of the window, of one band and one component. */
static void make_band_row(overview_run *r, const tz_window *window, uint32_t row,
                          const tz_pixel_buffer *into)
{
    uint8_t *to = tz_buffer_at(into, r->band, row, 0) + r->component * tz_dtype_size(r->to.dtype);
    make_axis_tables(r, window, row);
    if (r->how->method == TZ_RESAMPLING_NEAREST) {
        r->rows.old_row = old_samples;
        r->rows.dtype = r->how->dtype;
        tz_resample_pick(&r->rows, r->down.first[0], r->picked, r->valid);
    } else {
        if (r->to.wants_nan)
            make_mask(r);
        make_samples(r);
    }
    store_row_samples(r->rows.dtype, r->picked, r->rows.width, to, into->column_stride);
}

/* ---- rows of two by two ---- */

/* True if the samples of all bands of a pixel lie together, and so do pixels. */
static bool is_contiguous(const tz_pixel_buffer *buffer, uint32_t bands, size_t size)
{
    return buffer->column_stride == (int64_t)(bands * size) &&
           (bands == 1 || buffer->band_stride == (int64_t)size);
}

/* Returns flags of the pixels of a row, 0 if mask or alpha exclude them: the mask itself if nothing
 * has to be added to it, else out. */
static const uint8_t *pixel_flags(const overview_run *r, int64_t row, uint8_t *out)
{
    const tz_row_range *range = range_with_row(r->from, row);
    if (r->how->alpha == 0 && range->mask.data && range->mask.column_stride == 1)
        return tz_buffer_at(&range->mask, 0, row - range->row, r->rows.column - r->from->column);
    flag_row(r, row, out);
    return out;
}

/* Averages a row of all bands. Returns false, and does nothing, if mask or alpha exclude a pixel,
 * or if neither the bands of a pixel nor the pixels of a band lie together. */
static bool average_row(overview_run *r, const tz_window *window, uint32_t row,
                        const tz_pixel_buffer *into)
{
    const int64_t first = 2 * (window->row + row);
    const int64_t column = r->rows.column - r->from->column;
    const tz_row_range *ranges[2] = {range_with_row(r->from, first),
                                     range_with_row(r->from, first + 1)};
    const size_t size = tz_dtype_size(r->to.dtype);
    const bool all_valid = !r->how->mask && r->how->alpha == 0;
    bool together = is_contiguous(into, r->how->bands, size);
    bool apart = is_contiguous(into, 1, size);
    for (int i = 0; i < 2; i++) {
        if (!all_valid && memchr(pixel_flags(r, first + i, r->old_valid), 0, r->rows.old_width))
            return false;
        together = together && is_contiguous(&ranges[i]->pixels, r->how->bands, size);
        apart = apart && is_contiguous(&ranges[i]->pixels, 1, size);
    }
    if (!together && !apart)
        return false;
    r->average.samples = together ? r->how->bands : 1;
    for (uint32_t band = 0; band < (together ? 1 : r->how->bands); band++)
        tz_row_ops_get()->average_2x2(
            &r->average, tz_buffer_at(&ranges[0]->pixels, band, first - ranges[0]->row, column),
            tz_buffer_at(&ranges[1]->pixels, band, first + 1 - ranges[1]->row, column),
            tz_buffer_at(into, band, row, 0), r->rows.width);
    return true;
}

/* A row that takes the general way has no rows in memory from the one before. */
static void average_window(overview_run *r, const tz_window *window, const tz_pixel_buffer *into)
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

/* ---- all of a window ---- */

/* A new pixel of an average is valid if any of its old ones is: for two by two, the disjunction of
 * four flags. */
static void make_mask_rows(overview_run *r, const tz_window *window, const tz_pixel_buffer *into)
{
    tz_resample_begin(&r->mask_memory);
    for (uint32_t row = 0; row < window->height; row++) {
        if (tz_overview_is_average_2x2(r->how)) {
            const int64_t first = 2 * (window->row + row);
            const uint8_t *above = pixel_flags(r, first, r->old_above);
            const uint8_t *below = pixel_flags(r, first + 1, r->old_valid);
            for (size_t i = 0; i < r->rows.width; i++)
                r->unmasked[i] =
                    above[2 * i] | above[2 * i + 1] | below[2 * i] | below[2 * i + 1] ? 255 : 0;
        } else {
            make_axis_tables(r, window, row);
            make_mask(r);
        }
        store_row_samples(TZ_DTYPE_UINT8, r->unmasked, r->rows.width, tz_buffer_at(into, 0, row, 0),
                          into->column_stride);
    }
}

void tz_overview_make(const tz_overview_params *how, const tz_overview_source *from,
                      const tz_window *window, const tz_pixel_buffer *pixels,
                      const tz_pixel_buffer *mask, void *scratch)
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
    if (how->method == TZ_RESAMPLING_NEAREST)
        r.to.components = 1; /* samples are copied whole */
    if (tz_overview_is_average_2x2(how)) {
        average_window(&r, window, pixels);
    } else {
        for (uint32_t i = 0; i < how->bands * r.to.components; i++) {
            r.band = i / r.to.components;
            r.component = i % r.to.components;
            tz_resample_begin(&r.memory);
            tz_resample_begin(&r.mask_memory);
            for (uint32_t row = 0; row < window->height; row++)
                make_band_row(&r, window, row, pixels);
        }
    }
    r.band = 0;
    r.component = 0;
    if (mask && mask->data)
        make_mask_rows(&r, window, mask);
}
