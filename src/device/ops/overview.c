/* SPDX-License-Identifier: Apache-2.0
 * Overviews made on a device: rows of a smaller level from rows of the larger one.
 *
 * A builder makes one level. It has a block of device memory with the taps across, which are made
 * once; two areas for the description of a run, used in turn; and scratch for the methods that sort
 * values (mode, median) or keep filtered rows (bilinear, cubic, Lanczos). Each run makes some new
 * rows: the host writes the words of overview_base_kernels.h and the taps down, uploads both and
 * launches one kernel.
 *
 * The host computes all weights, in the same code as a write on the CPU. A device that rounded a
 * weight differently would make other pixels.
 *
 * An upload reads host memory until it is done. An event after each launch says when the words may
 * be written again, so that a run waits only for the run before the last one. */
#include "device/ops/overview.h"

#include <string.h>

#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/overview_f64_kernels.h"

_Static_assert((int)TZ_METHOD_BILINEAR == (int)TZ_RESAMPLING_BILINEAR &&
                   (int)TZ_METHOD_RMS == (int)TZ_RESAMPLING_RMS &&
                   (int)TZ_METHOD_MODE == (int)TZ_RESAMPLING_MODE &&
                   (int)TZ_METHOD_MIN == (int)TZ_RESAMPLING_MIN,
               "kernels know methods by the same numbers");

/* Old values of one new pixel that mode and median may sort. */
#define MAX_VALUES 4096u

/* Scratch areas, one for each work-item that sorts or column that is filtered: as many as a large
 * device runs at the same time, in memory that every device has. */
#define MAX_SCRATCH_AREAS 16384u

/* New rows that are filtered together. An old row that several of them use is filtered across only
 * once. */
#define FILTER_ROWS 16u

/* New columns of a span, the unit of work: for one work-item alone, and for a whole group. */
enum { SPAN_ALONE = 4096, SPAN_SHARED = 256, FILTER_SPAN = 64 };

/* Groups take several spans where there are more of them. */
enum { MAX_WORK_GROUPS = 65536 };

/* Offsets in bytes from the start of the builder's memory, each a multiple of 64. */
typedef struct builder_layout {
    uint64_t runs[2];   /* words and taps down of two runs */
    uint64_t run_bytes; /* of each */
    uint64_t across;    /* taps */
    uint64_t across_bytes;
    uint64_t scratch;
    uint64_t total;
    uint32_t areas;    /* of the scratch */
    uint32_t values;   /* doubles of an area */
    uint32_t max_down; /* taps of a new pixel */
} builder_layout;

/* The words of a run on the host. The device may still be reading them. */
typedef struct run_upload {
    uint64_t *words;
    tz_device_event *done; /* NULL: no upload is in flight */
    uint32_t queue;
} run_upload;

struct tz_overview_builder {
    tz_overview_params how;
    uint32_t rows;
    tz_device_memory *memory;
    uint64_t offset;
    builder_layout layout;
    void *axis; /* host memory in which tz_axis_make works */
    run_upload uploads[2];
    uint32_t next; /* index in uploads and in layout.runs */
};

/* ---- capabilities ---- */

static bool sorts_values(const tz_overview_params *how)
{
    return how->method == TZ_RESAMPLING_MODE || how->method == TZ_RESAMPLING_MEDIAN;
}

/* Methods with weights that differ from pixel to pixel. They filter across first, into the scratch,
 * and then down. */
static bool filters(const tz_overview_params *how)
{
    return how->method == TZ_RESAMPLING_BILINEAR || how->method == TZ_RESAMPLING_CUBIC ||
           how->method == TZ_RESAMPLING_LANCZOS;
}

/* Old pixels under one new pixel, at most. */
static uint64_t max_values(const tz_overview_params *how)
{
    const tz_axis_map across = tz_overview_map_across(how);
    const tz_axis_map down = tz_overview_map_down(how);
    return tz_mul_capped(tz_axis_max_samples(&across, 1), tz_axis_max_samples(&down, 1));
}

bool tz_device_makes_overviews(const tz_device *device, const tz_overview_params *how)
{
    const bool is_valid = how->dtype > TZ_DTYPE_NONE && how->dtype <= TZ_DTYPE_COMPLEX_FLOAT64 &&
                          !tz_resampling_unsupported(how->method, how->dtype, false) &&
                          how->bands > 0 && how->alpha <= how->bands && how->to_width > 0 &&
                          how->to_height > 0 && how->to_width <= how->from_width &&
                          how->to_height <= how->from_height;
    if (!device->driver || !is_valid || (sorts_values(how) && max_values(how) > MAX_VALUES))
        return false;
    return device->info.fp64 || how->method == TZ_RESAMPLING_NEAREST ||
           (tz_overview_is_average_2x2(how) && how->dtype != TZ_DTYPE_FLOAT32);
}

/* ---- memory ---- */

/* A table of taps has a word for each new pixel (first old pixel, number of taps) and then the
 * weights, all first ones before all second ones. */
static uint64_t taps_bytes(uint64_t count, uint64_t max_taps)
{
    return tz_mul_capped(tz_mul_capped(count, max_taps + 1), sizeof(uint64_t));
}

/* Returns the offset of size bytes, and moves the end of all to the next multiple of 64. */
static uint64_t reserve_bytes(uint64_t *total, uint64_t size)
{
    const uint64_t at = *total;
    *total = tz_add_capped(at, tz_mul_capped(tz_ceil_div(size, 64), 64));
    return at;
}

static builder_layout builder_layout_of(const tz_overview_params *how, uint32_t rows)
{
    const tz_axis_map across = tz_overview_map_across(how);
    const tz_axis_map down = tz_overview_map_down(how);
    builder_layout out = {.max_down = (uint32_t)tz_axis_max_samples(&down, 1)};
    if (sorts_values(how) || filters(how)) {
        /* no more areas than there is work, in whole groups */
        const uint64_t columns =
            tz_ceil_div(how->to_width, TZ_WORK_GROUP_ITEMS) * TZ_WORK_GROUP_ITEMS;
        const uint64_t planes = tz_add_capped(tz_mul_capped(how->bands, 2), 1);
        const uint64_t all = tz_mul_capped(tz_mul_capped(columns, rows), planes);
        out.areas = (uint32_t)tz_min(all, MAX_SCRATCH_AREAS);
        out.values =
            (uint32_t)(filters(how) ? tz_axis_max_samples(&down, FILTER_ROWS) : max_values(how));
    }
    out.run_bytes = TZ_OVERVIEW_JOB_WORDS * sizeof(uint64_t) + taps_bytes(rows, out.max_down);
    out.across_bytes = taps_bytes(how->to_width, (uint32_t)tz_axis_max_samples(&across, 1));
    for (int i = 0; i < 2; i++)
        out.runs[i] = reserve_bytes(&out.total, out.run_bytes);
    out.across = reserve_bytes(&out.total, out.across_bytes);
    out.scratch = reserve_bytes(&out.total, (uint64_t)out.areas * out.values *
                                                (sizeof(double) + sizeof(uint32_t)));
    return out;
}

uint64_t tz_overview_builder_bytes(const tz_overview_params *how, uint32_t rows)
{
    return builder_layout_of(how, rows).total;
}

/* Host memory for the axis of either direction, before it becomes a table of taps. */
static uint64_t axis_bytes(const tz_overview_params *how, uint32_t rows)
{
    const tz_axis_map across = tz_overview_map_across(how);
    const tz_axis_map down = tz_overview_map_down(how);
    return tz_max(tz_axis_bytes(&across, how->to_width), tz_axis_bytes(&down, rows));
}

uint64_t tz_overview_builder_host_bytes(const tz_overview_params *how, uint32_t rows)
{
    const builder_layout layout = builder_layout_of(how, rows);
    const uint64_t tables = tz_add_capped(tz_mul_capped(2, layout.run_bytes), layout.across_bytes);
    return tz_add_capped(sizeof(tz_overview_builder), tz_add_capped(tables, axis_bytes(how, rows)));
}

/* ---- making a builder ---- */

/* Writes the table of taps of new pixels first to first + count - 1. */
static void make_taps(uint64_t *out, const tz_axis_map *map, uint32_t first, uint32_t count,
                      void *axis)
{
    tz_axis made;
    tz_axis_make(&made, map, first, count, axis);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (uint64_t)made.count[i] << 32 | (uint32_t)made.first[i];
        for (uint32_t k = 0; k < made.count[i]; k++)
            memcpy(&out[count + (size_t)k * count + i], &made.weights[made.start[i] + k],
                   sizeof *out);
    }
}

/* Allocates zeroed host memory, for which errors name the device. */
static tz_result alloc_zeroed_for(const tz_device *device, uint64_t size, void **out, tz_error *err)
{
    const tz_context ctx = {.name = device->info.id, .err = err, .ifd = -1};
    *out = tz_alloc_zeroed(1, size);
    return *out ? TZ_OK : tz_fail_nomem(&ctx, size);
}

/* Allocates the host memory of a builder and uploads the taps across. */
static tz_result make_builder_tables(tz_overview_builder *builder, tz_error *err)
{
    const builder_layout *layout = &builder->layout;
    const tz_device *device = builder->memory->device;
    const tz_axis_map across = tz_overview_map_across(&builder->how);
    void *taps;
    TZ_TRY(alloc_zeroed_for(device, axis_bytes(&builder->how, builder->rows), &builder->axis, err));
    for (int i = 0; i < 2; i++) {
        void *words;
        TZ_TRY(alloc_zeroed_for(device, layout->run_bytes, &words, err));
        builder->uploads[i].words = words;
    }
    TZ_TRY(alloc_zeroed_for(device, layout->across_bytes, &taps, err));
    make_taps(taps, &across, 0, builder->how.to_width, builder->axis);
    const tz_result result = tz_device_copy_in(builder->memory, builder->offset + layout->across,
                                               taps, layout->across_bytes, err);
    tz_free(taps);
    return result;
}

tz_result tz_overview_builder_make(tz_overview_builder **out, const tz_overview_params *how,
                                   uint32_t rows, tz_device_memory *memory, uint64_t offset,
                                   tz_error *err)
{
    if (!tz_device_makes_overviews(memory->device, how))
        return tz_refuse(memory, tz_no_location(), "the device cannot make such overviews", err);
    if (rows == 0)
        return tz_refuse(memory, tz_no_location(), "an overview builder of no rows", err);
    const builder_layout layout = builder_layout_of(how, rows);
    TZ_TRY(tz_check_array(
        memory, offset, 1, layout.total, 64,
        "the overview builder is not within its memory, or not at a multiple of 64", err));
    void *made;
    TZ_TRY(alloc_zeroed_for(memory->device, sizeof(tz_overview_builder), &made, err));
    tz_overview_builder *builder = made;
    *builder = (tz_overview_builder){
        .how = *how, .rows = rows, .memory = memory, .offset = offset, .layout = layout};
    const tz_result result = make_builder_tables(builder, err);
    if (result != TZ_OK) {
        tz_overview_builder_free(builder);
        return result;
    }
    *out = builder;
    return TZ_OK;
}

void tz_overview_builder_free(tz_overview_builder *builder)
{
    if (!builder)
        return;
    for (int i = 0; i < 2; i++) {
        tz_device_free_event(builder->uploads[i].done);
        tz_free(builder->uploads[i].words);
    }
    tz_free(builder->axis);
    tz_free(builder);
}

/* ---- checks: a kernel trusts its rows ---- */

static tz_result check_overview_buffer(const tz_overview_builder *builder,
                                       const tz_pixel_buffer *buffer, tz_dtype dtype,
                                       uint32_t bands, tz_error *err)
{
    if (!buffer->memory || buffer->memory->device != builder->memory->device)
        return tz_refuse(builder->memory, tz_no_location(),
                         "rows are not in memory of the overview builder's device", err);
    if (buffer->dtype != dtype || buffer->bands != bands)
        return tz_refuse(builder->memory, tz_expecting(tz_no_location(), bands, buffer->bands),
                         "rows have another type, or other bands, than the overview", err);
    if (buffer->height == 0 || buffer->width == 0 || !tz_buffer_is_within(buffer))
        return tz_refuse(builder->memory, tz_at_offset(buffer->offset),
                         "rows are not within their memory", err);
    return TZ_OK;
}

/* Old rows have the columns that the first and the last new column need, and may have more. */
static tz_result check_old_rows(const tz_overview_builder *builder, const tz_row_range *part,
                                uint32_t column, tz_error *err)
{
    const tz_overview_params *how = &builder->how;
    const tz_interval columns = tz_overview_source_columns(how, (tz_interval){0, how->to_width});
    const uint64_t end = (uint64_t)column + part->pixels.width;
    TZ_TRY(check_overview_buffer(builder, &part->pixels, how->dtype, how->bands, err));
    if (column > columns.first || end < columns.end)
        return tz_refuse(builder->memory, tz_expecting(tz_no_location(), columns.end, end),
                         "old rows do not have all columns", err);
    if (!how->mask || !part->mask.memory)
        return TZ_OK;
    TZ_TRY(check_overview_buffer(builder, &part->mask, TZ_DTYPE_UINT8, 1, err));
    if (part->mask.width != part->pixels.width || part->mask.height != part->pixels.height)
        return tz_refuse(builder->memory, tz_no_location(),
                         "the mask has another size than its pixels", err);
    return TZ_OK;
}

/* The first part has the first rows, and the second part those from its end on. */
static bool has_rows(const tz_overview_source *from, tz_interval rows)
{
    const tz_row_range *first = &from->row_ranges[0];
    const tz_row_range *second = &from->row_ranges[1];
    uint64_t at = rows.first;
    if (first->pixels.height > 0) {
        if (at < first->row)
            return false;
        at = tz_max(at, (uint64_t)first->row + first->pixels.height);
    }
    return at >= rows.end ||
           (at >= second->row && rows.end <= (uint64_t)second->row + second->pixels.height);
}

/* New rows are whole: a run makes all columns of the level. */
static tz_result check_new_rows(const tz_overview_builder *builder, const tz_pixel_buffer *buffer,
                                tz_dtype dtype, uint32_t bands, uint32_t rows, tz_error *err)
{
    TZ_TRY(check_overview_buffer(builder, buffer, dtype, bands, err));
    if (buffer->width != builder->how.to_width || buffer->height < rows)
        return tz_refuse(builder->memory,
                         tz_expecting(tz_no_location(), builder->how.to_width, buffer->width),
                         "there is no room for the new rows, or they have another width", err);
    return TZ_OK;
}

static tz_result check_run(const tz_overview_builder *builder, const tz_overview_source *from,
                           uint32_t first, uint32_t rows, const tz_pixel_buffer *pixels,
                           const tz_pixel_buffer *mask, tz_error *err)
{
    const tz_overview_params *how = &builder->how;
    if (rows > builder->rows || first > how->to_height || rows > how->to_height - first)
        return tz_refuse(builder->memory, tz_expecting(tz_no_location(), builder->rows, rows),
                         "more new rows than a run makes, or the level has", err);
    if (rows == 0)
        return TZ_OK;
    const tz_interval old = tz_overview_source_rows(how, (tz_interval){first, first + rows});
    for (int i = 0; i < 2; i++) {
        if (from->row_ranges[i].pixels.height > 0)
            TZ_TRY(check_old_rows(builder, &from->row_ranges[i], from->column, err));
    }
    if (!has_rows(from, old))
        return tz_refuse(builder->memory, tz_expecting(tz_no_location(), old.first, old.end),
                         "old rows that the new rows need are missing", err);
    TZ_TRY(check_new_rows(builder, pixels, how->dtype, how->bands, rows, err));
    if (mask && mask->memory)
        TZ_TRY(check_new_rows(builder, mask, TZ_DTYPE_UINT8, 1, rows, err));
    return TZ_OK;
}

/* ---- the words of a run ---- */

/* The words that describe samples. They are compared with nodata as doubles, which hold all types
 * but integers of 64 bits. */
static void put_samples(uint64_t *words, const tz_overview_params *how)
{
    const tz_overview_samples to = tz_overview_samples_of(how);
    const bool is_long = to.dtype == TZ_DTYPE_UINT64 || to.dtype == TZ_DTYPE_INT64;
    words[TZ_OVERVIEW_METHOD] = how->method;
    words[TZ_OVERVIEW_TYPE] = to.dtype;
    words[TZ_OVERVIEW_BYTES] = tz_dtype_size(to.dtype);
    words[TZ_OVERVIEW_SAMPLE_BYTES] = tz_dtype_size(how->dtype);
    words[TZ_OVERVIEW_COMPONENTS] = how->method == TZ_RESAMPLING_NEAREST ? 1 : to.components;
    words[TZ_OVERVIEW_BANDS] = how->bands;
    words[TZ_OVERVIEW_USED_BITS] = how->bits;
    words[TZ_OVERVIEW_ALPHA] = how->alpha;
    words[TZ_OVERVIEW_CLAMPS] = to.clamps;
    words[TZ_OVERVIEW_LOW] = tz_bits_of_f64(to.low);
    words[TZ_OVERVIEW_HIGH] = tz_bits_of_f64(to.high);
    words[TZ_OVERVIEW_WANTS_NAN] = to.wants_nan;
    words[TZ_OVERVIEW_NONE] = to.none;
    words[TZ_OVERVIEW_MISSING] = to.missing;
    words[TZ_OVERVIEW_TEST] = TZ_NODATA_TEST_NEVER;
    if (how->nodata.kind != TZ_NODATA_KIND_NONE) {
        uint32_t kind;
        const uint64_t nodata = tz_nodata_wide(&how->nodata, &kind);
        words[TZ_OVERVIEW_NODATA] = nodata;
        if (!is_long || kind == TZ_WIDE_F64) {
            words[TZ_OVERVIEW_TEST] = TZ_NODATA_TEST_NUMBER;
            words[TZ_OVERVIEW_NODATA] = tz_bits_of_f64(tz_wide_f64(nodata, kind));
        } else if (kind == tz_component_kind(to.dtype) || (int64_t)nodata >= 0) {
            words[TZ_OVERVIEW_TEST] = TZ_NODATA_TEST_BITS;
        }
    }
    if (tz_overview_is_average_2x2(how)) {
        const tz_average_2x2_params half = tz_overview_average_2x2(how);
        const bool is_float = how->dtype == TZ_DTYPE_FLOAT32;
        words[TZ_OVERVIEW_HAS_NODATA] = half.has_nodata;
        words[TZ_OVERVIEW_HALF_NODATA] =
            is_float ? tz_bits_of_f32(half.nodata_real) : (uint32_t)half.nodata;
        words[TZ_OVERVIEW_HALF_NEIGHBOUR] =
            is_float ? tz_bits_of_f32(half.neighbour_real) : (uint32_t)half.neighbour;
        words[TZ_OVERVIEW_HALF_NONE] = tz_bits_of_f32(half.none_real);
    }
}

/* Writes the offset that row 0, column 0 of the level would have: kernels count from there. The
 * buffer begins at the given row and column. */
static void put_location(uint64_t *words, const tz_pixel_buffer *buffer, uint32_t row,
                         uint32_t column)
{
    words[TZ_OVERVIEW_BASE] = buffer->offset - row * (uint64_t)buffer->row_stride -
                              column * (uint64_t)buffer->column_stride;
    words[TZ_OVERVIEW_BAND_STRIDE] = (uint64_t)buffer->band_stride;
    words[TZ_OVERVIEW_ROW_STRIDE] = (uint64_t)buffer->row_stride;
    words[TZ_OVERVIEW_COLUMN_STRIDE] = (uint64_t)buffer->column_stride;
}

static bool has_mask(const tz_overview_builder *builder, const tz_row_range *part)
{
    return builder->how.mask && part->pixels.height > 0 && part->mask.memory;
}

/* Divides the run into spans; returns the number of work-groups. */
static uint64_t put_shares(uint64_t *words, const tz_overview_builder *builder)
{
    const tz_overview_params *how = &builder->how;
    const bool alone = tz_device_is_cpu(builder->memory->device);
    const uint32_t areas = builder->layout.areas;
    const uint32_t span = filters(how) ? FILTER_SPAN : alone ? SPAN_ALONE : SPAN_SHARED;
    const uint32_t rows = filters(how) ? FILTER_ROWS : 1;
    const uint64_t spans_per_plane =
        tz_mul_capped(tz_ceil_div(how->to_width, span), tz_ceil_div(words[TZ_OVERVIEW_ROWS], rows));
    const uint64_t spans = tz_mul_capped(spans_per_plane, words[TZ_OVERVIEW_PLANES]);
    const uint64_t max_groups = filters(how) ? areas / FILTER_SPAN
                                : areas      ? areas / TZ_WORK_GROUP_ITEMS
                                             : MAX_WORK_GROUPS;
    words[TZ_OVERVIEW_SPAN_ITEMS] = alone ? 1 : TZ_WORK_GROUP_ITEMS;
    words[TZ_OVERVIEW_SPAN] = span;
    words[TZ_OVERVIEW_SPAN_ROWS] = rows;
    words[TZ_OVERVIEW_WORK_GROUPS] = tz_min(spans, max_groups);
    return words[TZ_OVERVIEW_WORK_GROUPS];
}

/* Writes the words and the taps down; returns the number of work-groups. */
static uint64_t fill_job_words(uint64_t *words, const tz_overview_builder *builder,
                               const tz_overview_source *from, uint32_t first, uint32_t rows,
                               const tz_pixel_buffer *pixels, const tz_pixel_buffer *mask)
{
    static const uint32_t old_pixels[2] = {TZ_OVERVIEW_PIXELS, TZ_OVERVIEW_SECOND_PIXELS};
    static const uint32_t old_masks[2] = {TZ_OVERVIEW_MASK, TZ_OVERVIEW_SECOND_MASK};
    const builder_layout *layout = &builder->layout;
    const uint64_t at = builder->offset + layout->runs[builder->next];
    const tz_axis_map down = tz_overview_map_down(&builder->how);
    const tz_row_range *top = &from->row_ranges[0];
    const bool makes_mask = mask && mask->memory;

    put_samples(words, &builder->how);
    words[TZ_OVERVIEW_SEAM] = top->pixels.height > 0 ? top->row + top->pixels.height : 0;
    words[TZ_OVERVIEW_HAS_MASK] = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const tz_row_range *part = &from->row_ranges[i];
        put_location(words + old_pixels[i], &part->pixels, part->row, from->column);
        put_location(words + old_masks[i], &part->mask, part->row, from->column);
        words[TZ_OVERVIEW_HAS_MASK] |= (uint64_t)has_mask(builder, part) << i;
    }
    put_location(words + TZ_OVERVIEW_OUT, pixels, 0, 0);
    if (makes_mask)
        put_location(words + TZ_OVERVIEW_OUT_MASK, mask, 0, 0);
    words[TZ_OVERVIEW_WIDTH] = builder->how.to_width;
    words[TZ_OVERVIEW_FIRST] = first;
    words[TZ_OVERVIEW_ROWS] = rows;
    words[TZ_OVERVIEW_PLANES] =
        (uint64_t)builder->how.bands * words[TZ_OVERVIEW_COMPONENTS] + makes_mask;
    words[TZ_OVERVIEW_ACROSS] = builder->offset + layout->across;
    words[TZ_OVERVIEW_DOWN] = at + TZ_OVERVIEW_JOB_WORDS * sizeof *words;
    words[TZ_OVERVIEW_SCRATCH] = builder->offset + layout->scratch;
    words[TZ_OVERVIEW_SCRATCH_TAPS] = layout->values;
    words[TZ_OVERVIEW_SCRATCH_AREAS] = layout->areas;
    make_taps(words + TZ_OVERVIEW_JOB_WORDS, &down, first, rows, builder->axis);
    return put_shares(words, builder);
}

/* ---- runs ---- */

/* Types that the kernels of averages have a form for. */
static const struct {
    tz_dtype dtype;
    uint32_t half, mean;
} average_kernels[] = {
    {TZ_DTYPE_UINT8, TZ_KERNEL_OVERVIEW_HALF_U8, TZ_KERNEL_OVERVIEW_MEAN_U8},
    {TZ_DTYPE_UINT16, TZ_KERNEL_OVERVIEW_HALF_U16, TZ_KERNEL_OVERVIEW_MEAN_U16},
    {TZ_DTYPE_INT16, TZ_KERNEL_OVERVIEW_HALF_I16, TZ_KERNEL_OVERVIEW_MEAN_I16},
    {TZ_DTYPE_FLOAT32, TZ_KERNEL_OVERVIEW_HALF_F32, TZ_KERNEL_OVERVIEW_MEAN_F32},
};

static uint32_t overview_kernel_of(const tz_overview_params *how)
{
    switch (how->method) {
    case TZ_RESAMPLING_NEAREST:
        return TZ_KERNEL_OVERVIEW_PICK;
    case TZ_RESAMPLING_BILINEAR:
    case TZ_RESAMPLING_CUBIC:
    case TZ_RESAMPLING_LANCZOS:
        return TZ_KERNEL_OVERVIEW_FILTER;
    case TZ_RESAMPLING_MIN:
    case TZ_RESAMPLING_MAX:
        return TZ_KERNEL_OVERVIEW_EXTREME;
    case TZ_RESAMPLING_MODE:
    case TZ_RESAMPLING_MEDIAN:
        return TZ_KERNEL_OVERVIEW_CHOICE;
    default:
        break;
    }
    for (size_t i = 0; i < sizeof average_kernels / sizeof average_kernels[0]; i++) {
        if (average_kernels[i].dtype == how->dtype)
            return tz_overview_is_average_2x2(how) ? average_kernels[i].half
                                                   : average_kernels[i].mean;
    }
    return TZ_KERNEL_OVERVIEW_MEAN;
}

/* A kernel has memory for every argument, also for those that it does not use. */
static const tz_device_memory *memory_or_own(const tz_overview_builder *builder,
                                             const tz_pixel_buffer *buffer, bool is_used)
{
    return is_used ? buffer->memory : builder->memory;
}

tz_result tz_overview_builder_run(tz_overview_builder *builder, const tz_overview_source *from,
                                  uint32_t first, uint32_t rows, const tz_pixel_buffer *pixels,
                                  const tz_pixel_buffer *mask, uint32_t queue, tz_error *err)
{
    tz_device *device = builder->memory->device;
    run_upload *upload = &builder->uploads[builder->next];
    const uint64_t at = builder->offset + builder->layout.runs[builder->next];
    const tz_row_range *parts = from->row_ranges;
    TZ_TRY(check_run(builder, from, first, rows, pixels, mask, err));
    if (rows == 0)
        return TZ_OK;
    if (upload->done) { /* the words may be written again after it */
        bool happened = true;
        TZ_TRY(tz_device_query(upload->done, &happened, err));
        if (!happened)
            TZ_TRY(tz_device_sync(device, upload->queue, err));
        tz_device_free_event(upload->done);
        upload->done = NULL;
    }
    const uint64_t groups = fill_job_words(upload->words, builder, from, first, rows, pixels, mask);
    const uint64_t size =
        TZ_OVERVIEW_JOB_WORDS * sizeof *upload->words + taps_bytes(rows, builder->layout.max_down);
    upload->queue = queue;
    TZ_TRY(tz_device_upload(queue, builder->memory, at, upload->words, size, err));

    const tz_result result = TZ_LAUNCH(
        device, queue, overview_kernel_of(&builder->how), groups, err, TZ_MEMORY(builder->memory),
        TZ_MEMORY(memory_or_own(builder, &parts[0].pixels, parts[0].pixels.height > 0)),
        TZ_MEMORY(memory_or_own(builder, &parts[1].pixels, parts[1].pixels.height > 0)),
        TZ_MEMORY(memory_or_own(builder, &parts[0].mask, has_mask(builder, &parts[0]))),
        TZ_MEMORY(memory_or_own(builder, &parts[1].mask, has_mask(builder, &parts[1]))),
        TZ_MEMORY(pixels->memory), TZ_MEMORY(memory_or_own(builder, mask, mask && mask->memory)),
        TZ_U64(at));

    /* The event is recorded also after a launch that failed: the upload is in flight. Without an
     * event only a sync says when the words are free. */
    const tz_result recorded =
        tz_device_record(device, queue, &upload->done, result == TZ_OK ? err : NULL);
    if (recorded != TZ_OK)
        (void)tz_device_sync(device, queue, NULL);
    builder->next = 1 - builder->next;
    return result != TZ_OK ? result : recorded;
}
