/* SPDX-License-Identifier: Apache-2.0
 * What kernels of reductions trust, looked at before. */
#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/overview_internal.h"

static tz_result fail_overview(const tz_overview_builder *builder, tz_location location,
                               const char *text, tz_error *err)
{
    return tz_call_fail(builder->memory->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, location, text);
}

/* ---- a buffer ---- */

static tz_result check_overview_buffer(const tz_overview_builder *builder, const tz_buffer *buffer,
                                       tz_dtype dtype, uint32_t bands, tz_error *err)
{
    if (!buffer->memory || buffer->memory->device != builder->memory->device)
        return fail_overview(builder, tz_no_location(),
                             "rows are not in memory of the reducer's device", err);
    if (buffer->dtype != dtype || buffer->bands != bands)
        return fail_overview(builder, tz_expecting(tz_no_location(), bands, buffer->bands),
                             "rows have another type, or other bands, than the reduction", err);
    if (buffer->height == 0 || buffer->width == 0 || !tz_buffer_is_within(buffer))
        return fail_overview(builder, tz_at_offset(buffer->offset),
                             "rows are not within their memory", err);
    return TZ_OK;
}

/* ---- old rows ---- */

static tz_result check_row_part(const tz_overview_builder *builder, const tz_row_range *part,
                                uint32_t column, tz_error *err)
{
    const tz_overview_params *how = &builder->how;
    const tz_interval columns = tz_overview_source_columns(how, (tz_interval){0, how->to_width});
    TZ_TRY(check_overview_buffer(builder, &part->pixels, how->dtype, how->bands, err));
    if (column > columns.first || (uint64_t)column + part->pixels.width < columns.end)
        return fail_overview(
            builder,
            tz_expecting(tz_no_location(), columns.end, (uint64_t)column + part->pixels.width),
            "old rows do not have all columns", err);
    if (!how->mask || !part->mask.memory)
        return TZ_OK;
    TZ_TRY(check_overview_buffer(builder, &part->mask, TZ_DTYPE_UINT8, 1, err));
    if (part->mask.width != part->pixels.width || part->mask.height != part->pixels.height)
        return fail_overview(builder, tz_no_location(), "the mask has another size than its pixels",
                             err);
    return TZ_OK;
}

static uint64_t row_part_end(const tz_row_range *part)
{
    return (uint64_t)part->row + part->pixels.height;
}

/* The first part has the first rows, and the second one those from its end on. */
static bool has_rows(const tz_overview_source *from, tz_interval rows)
{
    const tz_row_range *first = &from->parts[0];
    const tz_row_range *second = &from->parts[1];
    uint64_t at = rows.first;
    if (first->pixels.height > 0) {
        if (at < first->row)
            return false;
        at = at < row_part_end(first) ? row_part_end(first) : at;
    }
    return at >= rows.end || (at >= second->row && rows.end <= row_part_end(second));
}

static tz_result check_source(const tz_overview_builder *builder, const tz_overview_source *from,
                              tz_interval rows, tz_error *err)
{
    for (int i = 0; i < 2; i++) {
        if (from->parts[i].pixels.height > 0)
            TZ_TRY(check_row_part(builder, &from->parts[i], from->column, err));
    }
    if (!has_rows(from, rows))
        return fail_overview(builder, tz_expecting(tz_no_location(), rows.first, rows.end),
                             "old rows that new ones look at are missing", err);
    return TZ_OK;
}

/* ---- all of a run ---- */

static tz_result check_new(const tz_overview_builder *builder, const tz_buffer *buffer,
                           tz_dtype dtype, uint32_t bands, uint32_t rows, tz_error *err)
{
    TZ_TRY(check_overview_buffer(builder, buffer, dtype, bands, err));
    if (buffer->width != builder->how.to_width || buffer->height < rows)
        return fail_overview(builder,
                             tz_expecting(tz_no_location(), builder->how.to_width, buffer->width),
                             "there is no room for the new rows, or they have another width", err);
    return TZ_OK;
}

tz_result tz_overview_builder_check(const tz_overview_builder *builder,
                                    const tz_overview_source *from, uint32_t first, uint32_t rows,
                                    const tz_buffer *pixels, const tz_buffer *mask, tz_error *err)
{
    const tz_overview_params *how = &builder->how;
    if (rows > builder->rows || first > how->to_height || rows > how->to_height - first)
        return fail_overview(builder, tz_expecting(tz_no_location(), builder->rows, rows),
                             "more new rows than a run makes, or the level has", err);
    if (rows == 0)
        return TZ_OK;
    TZ_TRY(check_source(builder, from,
                        tz_overview_source_rows(how, (tz_interval){first, first + rows}), err));
    TZ_TRY(check_new(builder, pixels, how->dtype, how->bands, rows, err));
    if (mask && mask->memory)
        TZ_TRY(check_new(builder, mask, TZ_DTYPE_UINT8, 1, rows, err));
    return TZ_OK;
}
