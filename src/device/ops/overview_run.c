/* SPDX-License-Identifier: Apache-2.0
 * Runs of a reducer: all about one in words, an upload and a launch. */
#include <string.h>

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/overview_f64_kernels.h"
#include "device/ops/overview_internal.h"

_Static_assert((int)TZ_METHOD_BILINEAR == (int)TZ_RESAMPLE_BILINEAR &&
                   (int)TZ_METHOD_RMS == (int)TZ_RESAMPLE_RMS &&
                   (int)TZ_METHOD_MODE == (int)TZ_RESAMPLE_MODE &&
                   (int)TZ_METHOD_MIN == (int)TZ_RESAMPLE_MIN,
               "kernels know methods by the same numbers");

/* New pixels of a span: where one item does it alone, and where all items of a group share it. */
enum { SPAN_ALONE = 4096, SPAN_SHARED = 256, FILTER_SPAN = 64 };

/* Groups take several spans where there are more of them. */
enum { MAX_WORK_GROUPS = 65536 };

/* ---- words ---- */

static uint64_t bits_of(double value)
{
    return tz_bits_of_f64(value);
}

/* How samples are compared with nodata: as doubles, which hold all but integers of 64 bits. */
static void put_test(uint64_t *words, const tz_nodata *nodata, tz_dtype dtype)
{
    const bool is_long = dtype == TZ_DTYPE_UINT64 || dtype == TZ_DTYPE_INT64;
    uint32_t kind;
    words[TZ_OVERVIEW_TEST] = TZ_NODATA_TEST_NEVER;
    if (nodata->kind == TZ_NODATA_NONE)
        return;
    words[TZ_OVERVIEW_NODATA] = tz_nodata_wide(nodata, &kind);
    if (!is_long || kind == TZ_WIDE_F64) {
        words[TZ_OVERVIEW_TEST] = TZ_NODATA_TEST_NUMBER;
        words[TZ_OVERVIEW_NODATA] = bits_of(tz_wide_f64(words[TZ_OVERVIEW_NODATA], kind));
    } else if (kind == tz_component_kind(dtype) || (int64_t)words[TZ_OVERVIEW_NODATA] >= 0) {
        words[TZ_OVERVIEW_TEST] = TZ_NODATA_TEST_BITS;
    }
}

static void put_half(uint64_t *words, const tz_overview_params *how)
{
    const tz_average_2x2_params half = tz_overview_average_2x2(how);
    const bool is_float = how->dtype == TZ_DTYPE_FLOAT32;
    words[TZ_OVERVIEW_HAS_NODATA] = half.has_nodata;
    words[TZ_OVERVIEW_HALF_NODATA] =
        is_float ? tz_bits_of_f32(half.nodata_real) : (uint32_t)half.nodata;
    words[TZ_OVERVIEW_HALF_BESIDE] =
        is_float ? tz_bits_of_f32(half.neighbour_real) : (uint32_t)half.neighbour;
    words[TZ_OVERVIEW_HALF_NONE] = tz_bits_of_f32(half.none_real);
}

static void put_samples(uint64_t *words, const tz_overview_params *how)
{
    const tz_overview_samples to = tz_overview_samples_of(how);
    words[TZ_OVERVIEW_METHOD] = how->method;
    words[TZ_OVERVIEW_TYPE] = to.dtype;
    words[TZ_OVERVIEW_BYTES] = tz_dtype_size(to.dtype);
    words[TZ_OVERVIEW_SAMPLE_BYTES] = tz_dtype_size(how->dtype);
    words[TZ_OVERVIEW_COMPONENTS] = how->method == TZ_RESAMPLE_NEAREST ? 1 : to.parts;
    words[TZ_OVERVIEW_BANDS] = how->bands;
    words[TZ_OVERVIEW_USED_BITS] = how->bits;
    words[TZ_OVERVIEW_ALPHA] = how->alpha;
    words[TZ_OVERVIEW_CLAMPS] = to.clamps;
    words[TZ_OVERVIEW_LOW] = bits_of(to.low);
    words[TZ_OVERVIEW_HIGH] = bits_of(to.high);
    words[TZ_OVERVIEW_WANTS_NAN] = to.wants_nan;
    words[TZ_OVERVIEW_NONE] = to.none;
    words[TZ_OVERVIEW_MISSING] = to.missing;
    put_test(words, &how->nodata, to.dtype);
    if (tz_overview_is_average_2x2(how))
        put_half(words, how);
}

/* Row and column are those of the level that the buffer begins at. */
static void put_location(uint64_t *words, const tz_buffer *buffer, uint32_t row, uint32_t column)
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

static void put_source(uint64_t *words, const tz_overview_builder *builder,
                       const tz_overview_source *from)
{
    static const uint32_t pixels[2] = {TZ_OVERVIEW_PIXELS, TZ_OVERVIEW_SECOND_PIXELS};
    static const uint32_t masks[2] = {TZ_OVERVIEW_MASK, TZ_OVERVIEW_SECOND_MASK};
    const tz_row_range *first = &from->parts[0];
    words[TZ_OVERVIEW_SEAM] = first->pixels.height > 0 ? first->row + first->pixels.height : 0;
    words[TZ_OVERVIEW_HAS_MASK] = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const tz_row_range *part = &from->parts[i];
        put_location(words + pixels[i], &part->pixels, part->row, from->column);
        put_location(words + masks[i], &part->mask, part->row, from->column);
        words[TZ_OVERVIEW_HAS_MASK] |= (uint64_t)has_mask(builder, part) << i;
    }
}

/* How the work is shared; returns the number of groups. */
static uint64_t put_shares(uint64_t *words, const tz_overview_builder *builder)
{
    const tz_overview_params *how = &builder->how;
    const bool alone = builder->memory->device->info.type == TZ_DEVICE_CPU;
    const bool filters = tz_overview_is_filter(how);
    const uint32_t areas = builder->layout.areas;
    const uint32_t span = filters ? FILTER_SPAN : alone ? SPAN_ALONE : SPAN_SHARED;
    const uint32_t rows = filters ? TZ_FILTER_ROWS : 1;
    const uint64_t spans_per_plane =
        tz_mul_capped(tz_ceil_div(how->to_width, span), tz_ceil_div(words[TZ_OVERVIEW_ROWS], rows));
    const uint64_t spans = tz_mul_capped(spans_per_plane, words[TZ_OVERVIEW_PLANES]);
    const uint64_t max_groups = filters ? areas / FILTER_SPAN
                                : areas ? areas / TZ_WORK_GROUP_ITEMS
                                        : MAX_WORK_GROUPS;
    words[TZ_OVERVIEW_SPAN_ITEMS] = alone ? 1 : TZ_WORK_GROUP_ITEMS;
    words[TZ_OVERVIEW_SPAN] = span;
    words[TZ_OVERVIEW_SPAN_ROWS] = rows;
    words[TZ_OVERVIEW_WORK_GROUPS] = spans < max_groups ? spans : max_groups;
    return words[TZ_OVERVIEW_WORK_GROUPS];
}

/* ---- a launch ---- */

static uint32_t kernel_of_half(tz_dtype dtype)
{
    switch (dtype) {
    case TZ_DTYPE_UINT8:
        return TZ_KERNEL_OVERVIEW_HALF_U8;
    case TZ_DTYPE_UINT16:
        return TZ_KERNEL_OVERVIEW_HALF_U16;
    case TZ_DTYPE_INT16:
        return TZ_KERNEL_OVERVIEW_HALF_I16;
    default:
        return TZ_KERNEL_OVERVIEW_HALF_F32;
    }
}

static uint32_t kernel_of_mean(tz_dtype dtype)
{
    switch (dtype) {
    case TZ_DTYPE_UINT8:
        return TZ_KERNEL_OVERVIEW_MEAN_U8;
    case TZ_DTYPE_UINT16:
        return TZ_KERNEL_OVERVIEW_MEAN_U16;
    case TZ_DTYPE_INT16:
        return TZ_KERNEL_OVERVIEW_MEAN_I16;
    case TZ_DTYPE_FLOAT32:
        return TZ_KERNEL_OVERVIEW_MEAN_F32;
    default:
        return TZ_KERNEL_OVERVIEW_MEAN;
    }
}

static uint32_t kernel_of(const tz_overview_params *how)
{
    if (tz_overview_is_average_2x2(how))
        return kernel_of_half(how->dtype);
    switch (how->method) {
    case TZ_RESAMPLE_NEAREST:
        return TZ_KERNEL_OVERVIEW_PICK;
    case TZ_RESAMPLE_BILINEAR:
    case TZ_RESAMPLE_CUBIC:
    case TZ_RESAMPLE_LANCZOS:
        return TZ_KERNEL_OVERVIEW_FILTER;
    case TZ_RESAMPLE_MIN:
    case TZ_RESAMPLE_MAX:
        return TZ_KERNEL_OVERVIEW_EXTREME;
    case TZ_RESAMPLE_MODE:
    case TZ_RESAMPLE_MEDIAN:
        return TZ_KERNEL_OVERVIEW_CHOICE;
    default:
        return kernel_of_mean(how->dtype);
    }
}

/* A kernel takes memory for every argument, also for what it will not look at. */
static const tz_device_memory *memory_or_own(const tz_overview_builder *builder,
                                             const tz_buffer *buffer, bool is)
{
    return is ? buffer->memory : builder->memory;
}

static tz_result launch_overview(const tz_overview_builder *builder, const tz_overview_source *from,
                                 const tz_buffer *pixels, const tz_buffer *mask, uint64_t words,
                                 uint64_t groups, uint32_t queue, tz_error *err)
{
    const tz_row_range *parts = from->parts;
    const bool makes_mask = mask && mask->memory;
    const tz_argument arguments[] = {
        TZ_MEMORY(builder->memory),
        TZ_MEMORY(memory_or_own(builder, &parts[0].pixels, parts[0].pixels.height > 0)),
        TZ_MEMORY(memory_or_own(builder, &parts[1].pixels, parts[1].pixels.height > 0)),
        TZ_MEMORY(memory_or_own(builder, &parts[0].mask, has_mask(builder, &parts[0]))),
        TZ_MEMORY(memory_or_own(builder, &parts[1].mask, has_mask(builder, &parts[1]))),
        TZ_MEMORY(pixels->memory),
        TZ_MEMORY(memory_or_own(builder, mask, makes_mask)),
        TZ_U64(words)};
    const tz_launch call = TZ_LAUNCH_OF(kernel_of(&builder->how), groups, arguments);
    return tz_device_launch(builder->memory->device, queue, &call, err);
}

/* ---- runs ---- */

/* Its words are free again. */
static tz_result wait_for_upload(tz_overview_upload *upload, const tz_device_memory *memory,
                                 tz_error *err)
{
    bool happened = true;
    if (!upload->done)
        return TZ_OK;
    TZ_TRY(tz_device_query(upload->done, &happened, err));
    if (!happened)
        TZ_TRY(tz_device_sync(memory->device, upload->queue, err));
    tz_device_free_event(upload->done);
    upload->done = NULL;
    return TZ_OK;
}

/* Without an event there is no telling when its words are free, but to wait. */
static tz_result record_upload(const tz_overview_builder *builder, tz_overview_upload *upload,
                               tz_error *err)
{
    tz_device *device = builder->memory->device;
    const tz_result result = tz_device_record(device, upload->queue, &upload->done, err);
    if (result != TZ_OK)
        (void)tz_device_sync(device, upload->queue, NULL);
    return result;
}

/* Returns the number of groups. */
static uint64_t fill_job_words(uint64_t *words, const tz_overview_builder *builder,
                               const tz_overview_source *from, uint32_t first, uint32_t rows,
                               const tz_buffer *pixels, const tz_buffer *mask)
{
    const tz_overview_builder_layout *layout = &builder->layout;
    const uint64_t at = builder->offset + layout->runs[builder->next];
    const tz_axis_map down = tz_overview_map_down(&builder->how);
    const bool makes_mask = mask && mask->memory;
    put_samples(words, &builder->how);
    put_source(words, builder, from);
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
    tz_taps_make(words + TZ_OVERVIEW_JOB_WORDS, &down, first, rows, builder->axis);
    return put_shares(words, builder);
}

tz_result tz_overview_builder_run(tz_overview_builder *builder, const tz_overview_source *from,
                                  uint32_t first, uint32_t rows, const tz_buffer *pixels,
                                  const tz_buffer *mask, uint32_t queue, tz_error *err)
{
    tz_overview_upload *upload = &builder->uploads[builder->next];
    const uint64_t at = builder->offset + builder->layout.runs[builder->next];
    TZ_TRY(tz_overview_builder_check(builder, from, first, rows, pixels, mask, err));
    if (rows == 0)
        return TZ_OK;
    TZ_TRY(wait_for_upload(upload, builder->memory, err));
    const uint64_t groups = fill_job_words(upload->words, builder, from, first, rows, pixels, mask);
    const uint64_t size =
        (TZ_OVERVIEW_JOB_WORDS + (uint64_t)rows * (builder->layout.max_down + 1)) *
        sizeof *upload->words;
    upload->queue = queue;
    TZ_TRY(tz_device_upload(queue, builder->memory, at, upload->words, size, err));
    const tz_result result = launch_overview(builder, from, pixels, mask, at, groups, queue, err);
    /* also after a failure: the upload is under way */
    const tz_result noted = record_upload(builder, upload, result == TZ_OK ? err : NULL);
    builder->next = 1 - builder->next;
    return result != TZ_OK ? result : noted;
}
