/* SPDX-License-Identifier: Apache-2.0
 * The shape of a result before there is a buffer for it. Size and type that the caller leaves open
 * are chosen here; everything else is found by the functions that make requests for reads, so that
 * both give the same errors. */
#include <math.h>

#include "read/read_request.h"

/* Scaled values and NaN need floats: float32 holds all values of 16 bits. */
static tz_dtype as_float(tz_dtype dtype)
{
    if (dtype >= TZ_DTYPE_FLOAT16)
        return dtype;
    return dtype <= TZ_DTYPE_INT16 ? TZ_DTYPE_FLOAT32 : TZ_DTYPE_FLOAT64;
}

static tz_dtype choose_dtype(const tz_read_request *request, const tz_read_options *how)
{
    const bool has_values =
        how->scaled || how->nodata_to_nan || request->scales || request->offsets;
    tz_dtype dtype = request->file->info.dtype;
    if (request->layer.is_mask)
        return request->layer.tables.dtype;
    if (dtype == TZ_DTYPE_NONE)
        dtype = TZ_DTYPE_UINT8;
    return has_values ? as_float(dtype) : dtype;
}

static uint32_t in_proportion(uint32_t side, uint32_t of, uint32_t to)
{
    const double size = round((double)side * to / of);
    return size < 1 ? 1 : (uint32_t)fmin(size, UINT32_MAX);
}

/* The whole result has a size first, then the buffer within it. A buffer that would begin after the
 * grid gets one pixel, which the check of the grid refuses. */
static void choose_size(tz_pixel_buffer *into, const tz_item *item, const tz_window *window)
{
    uint32_t width = item->grid_width > 0 ? item->grid_width : into->width;
    uint32_t height = item->grid_height > 0 ? item->grid_height : into->height;
    if (width == 0 && height == 0) {
        width = window->width;
        height = window->height;
    } else if (width == 0) {
        width = in_proportion(window->width, window->height, height);
    } else if (height == 0) {
        height = in_proportion(window->height, window->width, width);
    }
    if (into->width == 0)
        into->width = item->grid_column < width ? width - item->grid_column : 1;
    if (into->height == 0)
        into->height = item->grid_row < height ? height - item->grid_row : 1;
}

/* One axis of the buffer in pixels of the level that the item names: the edge at which the upright
 * image begins, and a step of one pixel from there. */
typedef struct buffer_axis {
    double edge, step;
} buffer_axis;
static buffer_axis find_axis(int64_t start, uint32_t length, uint32_t grid, uint32_t first,
                             uint32_t count, bool flip)
{
    const double pixels = (double)first + (flip ? count : 0);
    const double step = (double)length / grid;
    return (buffer_axis){(double)start + pixels * length / grid, flip ? -step : step};
}

/* Zeros are added because a zero times a negative step is a negative zero. */
static void set_transform(tz_read_shape *shape, const tz_read_request *request,
                          const tz_located_item *located)
{
    const tz_window *window = &located->window;
    const tz_turn turn = located->turn;
    double level[6];
    double *out = shape->transform;
    shape->has_transform =
        tz_size_get_transform(level, request->file, located->width, located->height);
    if (!shape->has_transform)
        return;
    const buffer_axis x = find_axis(window->column, window->width, request->grid_width,
                                    request->grid_column, request->into.width, turn.flip_column);
    const buffer_axis y = find_axis(window->row, window->height, request->grid_height,
                                    request->grid_row, request->into.height, turn.flip_row);
    tz_pixel_to_coordinate(&out[0], &out[3], level, x.edge, y.edge);
    out[turn.swaps ? 2 : 1] = level[1] * x.step + 0.0;
    out[turn.swaps ? 5 : 4] = level[4] * x.step + 0.0;
    out[turn.swaps ? 1 : 2] = level[2] * y.step + 0.0;
    out[turn.swaps ? 4 : 5] = level[5] * y.step + 0.0;
}

static tz_result resolve_item(tz_read_shape *shape, const tz_item *item, const tz_read_options *how,
                              const tz_context *ctx)
{
    tz_buffer given = TZ_BUFFER_INIT;
    tz_read_request request;
    tz_located_item located;
    tz_context at_level = *ctx;
    tz_window window = item->window;
    TZ_TRY(tz_copy_struct(&given, sizeof given, item->into, "into", "TZ_BUFFER_INIT", ctx));
    TZ_TRY(tz_read_request_begin(&request, &located, item, how, ctx));
    at_level.ifd = located.ifd;
    if (window.width == 0 && window.height == 0)
        window =
            (tz_window){0, 0, located.turn.swaps ? located.window.height : located.window.width,
                        located.turn.swaps ? located.window.width : located.window.height};
    tz_pixel_buffer into = {.dtype = given.dtype != TZ_DTYPE_NONE ? given.dtype
                                                                  : choose_dtype(&request, how),
                            .bands = given.bands > 0 ? given.bands : request.band_count,
                            .height = given.height,
                            .width = given.width};
    choose_size(&into, item, &window);
    TZ_TRY(tz_buffer_check_shape(&into, request.band_count, &at_level));
    request.into = into;
    TZ_TRY(tz_read_request_end(&request, &located, item, how, ctx));
    shape->level = tz_level_index(request.level);
    shape->resampled = request.resampled;
    shape->window = window;
    shape->dtype = into.dtype;
    shape->bands = into.bands;
    shape->height = into.height;
    shape->width = into.width;
    set_transform(shape, &request, &located);
    return TZ_OK;
}

tz_result tz_read_resolve(tz_read_shape *out, const tz_item *item, const tz_read_options *how,
                          tz_error *err)
{
    tz_context ctx = {.err = err, .ifd = -1};
    tz_read_shape shape = TZ_READ_SHAPE_INIT;
    tz_read_options options = TZ_READ_OPTIONS_INIT;
    tz_item whole = TZ_ITEM_INIT;
    TZ_TRY(tz_copy_struct(&options, sizeof options, how, "options", "TZ_READ_OPTIONS_INIT", &ctx));
    TZ_TRY(tz_copy_struct(&whole, sizeof whole, item, "item", "TZ_ITEM_INIT", &ctx));
    if (!whole.file)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "the item has no file");
    ctx.name = whole.file->info.name;
    TZ_TRY(resolve_item(&shape, &whole, &options, &ctx));
    return tz_fill_struct(out, &shape, sizeof shape, "out", "TZ_READ_SHAPE_INIT", &ctx);
}
