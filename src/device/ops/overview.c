/* SPDX-License-Identifier: Apache-2.0
 * What a device reduces, and the memory that it takes. */
#include "device/ops/overview.h"

#include <string.h>

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/overview_base_kernels.h"
#include "device/ops/overview_internal.h"

/* Values of one new pixel that mode and median sort. */
#define MAX_VALUES 4096u

/* Items that choose, or columns that are filtered, at the same time: what a large device can run,
 * of memory that any has. */
#define MAX_SCRATCH_AREAS 16384u

bool tz_overview_is_choice(const tz_overview_params *how)
{
    return how->method == TZ_RESAMPLE_MODE || how->method == TZ_RESAMPLE_MEDIAN;
}

bool tz_overview_is_filter(const tz_overview_params *how)
{
    return how->method == TZ_RESAMPLE_BILINEAR || how->method == TZ_RESAMPLE_CUBIC ||
           how->method == TZ_RESAMPLE_LANCZOS;
}

/* That a choice is made of. */
static uint64_t max_values(const tz_overview_params *how)
{
    const tz_axis_map across = tz_overview_map_across(how);
    const tz_axis_map down = tz_overview_map_down(how);
    return tz_mul_capped(tz_axis_max_samples(&across, 1), tz_axis_max_samples(&down, 1));
}

static bool is_valid_overview(const tz_overview_params *how)
{
    return how->dtype > TZ_DTYPE_NONE && how->dtype <= TZ_DTYPE_COMPLEX_FLOAT64 &&
           !tz_resampling_unsupported(how->method, how->dtype, false) && how->bands > 0 &&
           how->alpha <= how->bands && how->to_width > 0 && how->to_height > 0 &&
           how->to_width <= how->from_width && how->to_height <= how->from_height;
}

bool tz_device_makes_overviews(const tz_device *device, const tz_overview_params *how)
{
    if (!device->driver || !is_valid_overview(how))
        return false;
    if (tz_overview_is_choice(how) && max_values(how) > MAX_VALUES)
        return false;
    return device->info.limits.fp64 || how->method == TZ_RESAMPLE_NEAREST ||
           (tz_overview_is_average_2x2(how) && how->dtype != TZ_DTYPE_FLOAT32);
}

/* ---- memory ---- */

static uint64_t taps_bytes(uint64_t count, uint64_t max_taps)
{
    return tz_mul_capped(tz_mul_capped(count, max_taps + 1), sizeof(uint64_t));
}

static uint64_t reserve_bytes(uint64_t *total, uint64_t size)
{
    const uint64_t at = *total;
    *total = tz_add_capped(at, tz_mul_capped(tz_ceil_div(size, 64), 64));
    return at;
}

/* No more than there is work, and whole groups. */
static uint32_t scratch_areas_of(const tz_overview_params *how, uint32_t rows)
{
    const uint64_t across = tz_ceil_div(how->to_width, TZ_WORK_GROUP_ITEMS) * TZ_WORK_GROUP_ITEMS;
    const uint64_t planes = tz_add_capped(tz_mul_capped(how->bands, 2), 1);
    const uint64_t all = tz_mul_capped(tz_mul_capped(across, rows), planes);
    return all < MAX_SCRATCH_AREAS ? (uint32_t)all : MAX_SCRATCH_AREAS;
}

static tz_overview_builder_layout builder_layout_of(const tz_overview_params *how, uint32_t rows)
{
    const tz_axis_map across = tz_overview_map_across(how);
    const tz_axis_map down = tz_overview_map_down(how);
    tz_overview_builder_layout out = {.max_across = (uint32_t)tz_axis_max_samples(&across, 1),
                                      .max_down = (uint32_t)tz_axis_max_samples(&down, 1)};
    if (tz_overview_is_choice(how) || tz_overview_is_filter(how)) {
        out.areas = scratch_areas_of(how, rows);
        out.values =
            (uint32_t)(tz_overview_is_filter(how) ? tz_axis_max_samples(&down, TZ_FILTER_ROWS)
                                                  : max_values(how));
    }
    out.run_bytes = TZ_OVERVIEW_JOB_WORDS * sizeof(uint64_t) + taps_bytes(rows, out.max_down);
    out.across_bytes = taps_bytes(how->to_width, out.max_across);
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

/* The larger one of both tables, in its first form. */
static uint64_t axis_bytes(const tz_overview_params *how, uint32_t rows)
{
    const tz_axis_map across = tz_overview_map_across(how);
    const tz_axis_map down = tz_overview_map_down(how);
    const uint64_t wide = tz_axis_bytes(&across, how->to_width);
    const uint64_t high = tz_axis_bytes(&down, rows);
    return wide > high ? wide : high;
}

uint64_t tz_overview_builder_host_bytes(const tz_overview_params *how, uint32_t rows)
{
    const tz_overview_builder_layout layout = builder_layout_of(how, rows);
    const uint64_t tables = tz_add_capped(tz_mul_capped(2, layout.run_bytes), layout.across_bytes);
    return tz_add_capped(sizeof(tz_overview_builder), tz_add_capped(tables, axis_bytes(how, rows)));
}

/* ---- tables ---- */

void tz_taps_make(uint64_t *out, const tz_axis_map *map, uint32_t first, uint32_t count, void *axis)
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

/* ---- making ---- */

static tz_result fail_builder_nomem(const tz_device *device, uint64_t size, tz_error *err)
{
    const tz_context ctx = {.name = device->info.id, .err = err, .ifd = -1};
    return tz_fail_nomem(&ctx, size);
}

static tz_result upload_across(tz_overview_builder *builder, tz_error *err)
{
    const tz_overview_builder_layout *layout = &builder->layout;
    const tz_axis_map map = tz_overview_map_across(&builder->how);
    uint64_t *table = tz_alloc_zeroed(1, layout->across_bytes);
    if (!table)
        return fail_builder_nomem(builder->memory->device, layout->across_bytes, err);
    tz_taps_make(table, &map, 0, builder->how.to_width, builder->axis);
    const tz_result result = tz_device_copy_in(builder->memory, builder->offset + layout->across,
                                               table, layout->across_bytes, err);
    tz_free(table);
    return result;
}

static tz_result allocate_builder_tables(tz_overview_builder *builder, tz_error *err)
{
    const uint64_t axis = axis_bytes(&builder->how, builder->rows);
    const uint64_t words = builder->layout.run_bytes;
    builder->axis = tz_alloc(axis);
    if (!builder->axis)
        return fail_builder_nomem(builder->memory->device, axis, err);
    for (int i = 0; i < 2; i++) {
        builder->uploads[i].words = tz_alloc_zeroed(1, words);
        if (!builder->uploads[i].words)
            return fail_builder_nomem(builder->memory->device, words, err);
    }
    return upload_across(builder, err);
}

static tz_result check_builder(const tz_overview_params *how, uint32_t rows,
                               const tz_device_memory *memory, uint64_t offset, tz_error *err)
{
    if (!tz_device_makes_overviews(memory->device, how))
        return tz_call_fail(memory->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                            "the device cannot make such overviews");
    if (rows == 0)
        return tz_call_fail(memory->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                            "a reducer of no rows");
    const uint64_t bytes = tz_overview_builder_bytes(how, rows);
    if (offset % 64 != 0 || !tz_memory_holds(memory, offset, bytes))
        return tz_call_fail(
            memory->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG,
            tz_expecting(tz_at_offset(offset), memory->size, tz_add_capped(offset, bytes)),
            "the reducer is not within its memory, or not at a multiple of 64");
    return TZ_OK;
}

tz_result tz_overview_builder_make(tz_overview_builder **out, const tz_overview_params *how,
                                   uint32_t rows, tz_device_memory *memory, uint64_t offset,
                                   tz_error *err)
{
    TZ_TRY(check_builder(how, rows, memory, offset, err));
    tz_overview_builder *builder = tz_alloc_zeroed(1, sizeof *builder);
    if (!builder)
        return fail_builder_nomem(memory->device, sizeof *builder, err);
    builder->how = *how;
    builder->rows = rows;
    builder->memory = memory;
    builder->offset = offset;
    builder->layout = builder_layout_of(how, rows);
    const tz_result result = allocate_builder_tables(builder, err);
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
