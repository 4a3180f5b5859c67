/* SPDX-License-Identifier: Apache-2.0 */
#include "write/block_pixels.h"

#include "base/mem.h"

/* All strides 0: packed, band after band. */
static tz_result set_pixel_strides(tz_buffer *buffer, const char *what, const tz_context *ctx)
{
    if (buffer->band_stride != 0 || buffer->row_stride != 0 || buffer->column_stride != 0)
        return TZ_OK;
    const uint64_t row = tz_mul_capped(tz_dtype_size(buffer->dtype), buffer->width);
    const uint64_t band = tz_mul_capped(row, buffer->height);
    if (tz_mul_capped(band, buffer->bands) > INT64_MAX)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "%s: so many pixels fit no memory", what);
    buffer->column_stride = (int64_t)tz_dtype_size(buffer->dtype);
    buffer->row_stride = (int64_t)row;
    buffer->band_stride = (int64_t)band;
    return TZ_OK;
}

static tz_result check_buffer(tz_buffer *out, const tz_buffer *given, const tz_window *window,
                              tz_dtype dtype, uint32_t bands, const char *what,
                              const tz_context *ctx)
{
    if (!given || !given->data)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s has no data", what);
    if (given->dtype != dtype || given->bands != bands)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "%s is %u bands of %s, and must be %u of %s", what, given->bands,
                       tz_dtype_name(given->dtype), bands, tz_dtype_name(dtype));
    if (given->width != window->width || given->height != window->height)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "%s is %u x %u pixels, and must be %u x %u", what, given->width,
                       given->height, window->width, window->height);
    *out = *given;
    return set_pixel_strides(out, what, ctx);
}

tz_result tz_block_pixels_check(tz_block_pixels *out, const tz_cog_plan *plan,
                                const tz_window *window, const tz_buffer *pixels,
                                const tz_buffer *mask, const char *what, const tz_context *ctx)
{
    const tz_cog_info *info = &plan->info;
    out->mask = (tz_buffer){.data = NULL};
    TZ_TRY(check_buffer(&out->pixels, pixels, window, info->dtype, info->bands, what, ctx));
    if (!info->mask && !mask)
        return TZ_OK;
    if (!info->mask)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "%s: a mask is given, but the plan has none", what);
    if (!mask)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s: its mask is missing",
                       what);
    return check_buffer(&out->mask, mask, window, TZ_DTYPE_UINT8, 1, what, ctx);
}
