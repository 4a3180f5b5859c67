/* SPDX-License-Identifier: Apache-2.0
 * What kernels of reductions trust, looked at before. */
#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/reduce_state.h"

static tz_result refuse(const tz_reducer *reducer, tz_location place, const char *text,
                        tz_error *err)
{
    return tz_call_refuse(reducer->memory->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, place, text);
}

/* ---- a buffer ---- */

static tz_result check_buffer(const tz_reducer *reducer, const tz_buffer *buffer, tz_dtype dtype,
                              uint32_t bands, tz_error *err)
{
    if (!buffer->memory || buffer->memory->device != reducer->memory->device)
        return refuse(reducer, tz_no_location(), "rows are not in memory of the reducer's device",
                      err);
    if (buffer->dtype != dtype || buffer->bands != bands)
        return refuse(reducer, tz_expecting(tz_no_location(), bands, buffer->bands),
                      "rows have another type, or other bands, than the reduction", err);
    if (buffer->height == 0 || buffer->width == 0 || !tz_buffer_is_within(buffer))
        return refuse(reducer, tz_at_offset(buffer->offset), "rows are not within their memory",
                      err);
    return TZ_OK;
}

/* ---- old rows ---- */

static tz_result check_part(const tz_reducer *reducer, const tz_row_range *part, uint32_t column,
                            tz_error *err)
{
    const tz_overview_params *how = &reducer->how;
    const tz_interval columns = tz_overview_source_columns(how, (tz_interval){0, how->to_width});
    TZ_TRY(check_buffer(reducer, &part->pixels, how->dtype, how->bands, err));
    if (column > columns.first || (uint64_t)column + part->pixels.width < columns.end)
        return refuse(
            reducer,
            tz_expecting(tz_no_location(), columns.end, (uint64_t)column + part->pixels.width),
            "old rows do not have all columns", err);
    if (!how->mask || !part->mask.memory)
        return TZ_OK;
    TZ_TRY(check_buffer(reducer, &part->mask, TZ_DTYPE_UINT8, 1, err));
    if (part->mask.width != part->pixels.width || part->mask.height != part->pixels.height)
        return refuse(reducer, tz_no_location(), "the mask has another size than its pixels", err);
    return TZ_OK;
}

static uint64_t end_of(const tz_row_range *part)
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
        at = at < end_of(first) ? end_of(first) : at;
    }
    return at >= rows.end || (at >= second->row && rows.end <= end_of(second));
}

static tz_result check_source(const tz_reducer *reducer, const tz_overview_source *from,
                              tz_interval rows, tz_error *err)
{
    for (int i = 0; i < 2; i++) {
        if (from->parts[i].pixels.height > 0)
            TZ_TRY(check_part(reducer, &from->parts[i], from->column, err));
    }
    if (!has_rows(from, rows))
        return refuse(reducer, tz_expecting(tz_no_location(), rows.first, rows.end),
                      "old rows that new ones look at are missing", err);
    return TZ_OK;
}

/* ---- all of a run ---- */

static tz_result check_new(const tz_reducer *reducer, const tz_buffer *buffer, tz_dtype dtype,
                           uint32_t bands, uint32_t rows, tz_error *err)
{
    TZ_TRY(check_buffer(reducer, buffer, dtype, bands, err));
    if (buffer->width != reducer->how.to_width || buffer->height < rows)
        return refuse(reducer, tz_expecting(tz_no_location(), reducer->how.to_width, buffer->width),
                      "there is no room for the new rows, or they have another width", err);
    return TZ_OK;
}

tz_result tz_reducer_check(const tz_reducer *reducer, const tz_overview_source *from,
                           uint32_t first, uint32_t rows, const tz_buffer *pixels,
                           const tz_buffer *mask, tz_error *err)
{
    const tz_overview_params *how = &reducer->how;
    if (rows > reducer->rows || first > how->to_height || rows > how->to_height - first)
        return refuse(reducer, tz_expecting(tz_no_location(), reducer->rows, rows),
                      "more new rows than a run makes, or the level has", err);
    if (rows == 0)
        return TZ_OK;
    TZ_TRY(check_source(reducer, from,
                        tz_overview_source_rows(how, (tz_interval){first, first + rows}), err));
    TZ_TRY(check_new(reducer, pixels, how->dtype, how->bands, rows, err));
    if (mask && mask->memory)
        TZ_TRY(check_new(reducer, mask, TZ_DTYPE_UINT8, 1, rows, err));
    return TZ_OK;
}
