/* SPDX-License-Identifier: Apache-2.0 */
#include "read/read_request.h"

#include <math.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "pixel/axis.h"
#include "read/planned_request.h"

static tz_result fail_arg(const tz_context *ctx, const char *text, uint64_t expected,
                          uint64_t found)
{
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_expecting(tz_no_location(), expected, found),
                   "%s", text);
}

/* ---- buffers ---- */

/* Strides of a packed buffer where the caller gave none. */
static tz_result resolve_strides(tz_buffer *buffer, const tz_context *ctx)
{
    const size_t size = tz_dtype_size(buffer->dtype);
    if (size == 0)
        return fail_arg(ctx, "the buffer has no dtype", TZ_NONE, (uint64_t)buffer->dtype);
    if (buffer->band_stride || buffer->row_stride || buffer->column_stride)
        return TZ_OK;
    uint64_t row = 0;
    uint64_t band = 0;
    if (!tz_mul(buffer->width, size, &row) || !tz_mul(row, buffer->height, &band) ||
        band > INT64_MAX)
        return fail_arg(ctx, "the buffer is larger than memory", INT64_MAX, TZ_NONE);
    buffer->column_stride = (int64_t)size;
    buffer->row_stride = (int64_t)row;
    buffer->band_stride = (int64_t)band;
    return TZ_OK;
}

static tz_result check_buffer(const tz_buffer *buffer, uint32_t bands, const tz_context *ctx)
{
    if (!tz_buffer_exists(buffer))
        return fail_arg(ctx, "the buffer has no memory", TZ_NONE, TZ_NONE);
    if (buffer->data && buffer->memory)
        return fail_arg(ctx, "the buffer has memory of the host and of a device", TZ_NONE, TZ_NONE);
    if (buffer->bands != bands)
        return fail_arg(ctx, "the buffer has another number of bands than are read", bands,
                        buffer->bands);
    if (buffer->width == 0 || buffer->height == 0)
        return fail_arg(ctx, "the buffer is empty", TZ_NONE, 0);
    return TZ_OK;
}

static void extend_by_stride(tz_byte_extent *extent, int64_t stride, uint32_t count)
{
    const uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
    const uint64_t bytes = tz_mul_capped(step, count - 1u);
    if (stride < 0)
        extent->before = tz_add_capped(extent->before, bytes);
    else
        extent->after = tz_add_capped(extent->after, bytes);
}

tz_byte_extent tz_buffer_extent(const tz_buffer *buffer)
{
    tz_byte_extent extent = {.after = tz_dtype_size(buffer->dtype)};
    extend_by_stride(&extent, buffer->band_stride, buffer->bands);
    extend_by_stride(&extent, buffer->row_stride, buffer->height);
    extend_by_stride(&extent, buffer->column_stride, buffer->width);
    return extent;
}

/* Memory of a device is of the one that reads, and the buffer lies within it. */
static tz_result check_device_buffer(const tz_buffer *buffer, const tz_read_options *how,
                                     const tz_context *ctx)
{
    if (!buffer->memory)
        return TZ_OK;
    if (!how->device)
        return fail_arg(ctx, "the buffer is in a device's memory, and no device is to read",
                        TZ_NONE, TZ_NONE);
    if (tz_device_of(buffer->memory) != how->device)
        return fail_arg(ctx, "the buffer is in the memory of another device", TZ_NONE, TZ_NONE);
    const tz_byte_extent extent = tz_buffer_extent(buffer);
    const uint64_t end = tz_add_capped(buffer->offset, extent.after);
    if (extent.before > buffer->offset)
        return fail_arg(ctx, "the buffer begins before its memory", extent.before, buffer->offset);
    if (end > tz_device_memory_size(buffer->memory))
        return fail_arg(ctx, "the buffer goes past the end of its memory",
                        tz_device_memory_size(buffer->memory), end);
    return TZ_OK;
}

static tz_result set_buffers(tz_read_request *request, const tz_item *item,
                             const tz_read_options *how, const tz_context *ctx)
{
    request->into = item->into;
    request->mask = item->mask;
    TZ_TRY(check_buffer(&request->into, request->band_count, ctx));
    TZ_TRY(resolve_strides(&request->into, ctx));
    TZ_TRY(check_device_buffer(&request->into, how, ctx));
    if (!tz_buffer_exists(&request->mask))
        return TZ_OK;
    TZ_TRY(check_buffer(&request->mask, request->band_count, ctx));
    if (request->mask.width != request->into.width || request->mask.height != request->into.height)
        return fail_arg(ctx, "the mask's buffer has another size than the one for pixels",
                        request->into.width, request->mask.width);
    if (request->mask.dtype != TZ_DTYPE_UINT8)
        return fail_arg(ctx, "the mask's buffer is not of type uint8", TZ_DTYPE_UINT8,
                        (uint64_t)request->mask.dtype);
    TZ_TRY(resolve_strides(&request->mask, ctx));
    return check_device_buffer(&request->mask, how, ctx);
}

static tz_result set_bands(tz_read_request *request, const tz_item *item, const tz_context *ctx)
{
    const uint32_t bands = request->layer.shape.samples;
    request->bands = item->bands;
    request->band_count = item->bands ? item->band_count : bands;
    if (request->band_count == 0)
        return fail_arg(ctx, "no bands are asked for", TZ_NONE, 0);
    for (uint32_t i = 0; item->bands && i < item->band_count; i++) {
        if (item->bands[i] >= bands)
            return fail_arg(ctx, "there is no such band; bands are counted from 0", bands,
                            item->bands[i]);
    }
    return TZ_OK;
}

/* ---- orientation ---- */

/* How the upright image's axes run through the stored one, by orientation 1 to 8. */
typedef struct turn {
    bool swaps;       /* its rows are the stored columns */
    bool flip_column; /* stored columns run against it */
    bool flip_row;
} turn;

static const turn turns[9] = {
    [1] = {false, false, false}, [2] = {false, true, false}, [3] = {false, true, true},
    [4] = {false, false, true},  [5] = {true, false, false}, [6] = {true, false, true},
    [7] = {true, true, true},    [8] = {true, true, false},
};

static void turn_buffer(tz_buffer *buffer, turn how)
{
    int64_t moved = 0;
    if (!tz_buffer_exists(buffer))
        return;
    if (how.swaps) {
        const uint32_t width = buffer->width;
        const int64_t stride = buffer->column_stride;
        buffer->width = buffer->height;
        buffer->column_stride = buffer->row_stride;
        buffer->height = width;
        buffer->row_stride = stride;
    }
    if (how.flip_column) {
        moved += (int64_t)(buffer->width - 1) * buffer->column_stride;
        buffer->column_stride = -buffer->column_stride;
    }
    if (how.flip_row) {
        moved += (int64_t)(buffer->height - 1) * buffer->row_stride;
        buffer->row_stride = -buffer->row_stride;
    }
    if (buffer->memory)
        buffer->offset += (uint64_t)moved;
    else
        buffer->data = (uint8_t *)buffer->data + moved;
}

/* A window of the upright image as one of the stored one, which has the size of level. */
static tz_window turn_window(tz_window window, turn how, const tz_level *level)
{
    if (how.swaps)
        window = (tz_window){window.row, window.column, window.height, window.width};
    if (how.flip_column)
        window.column = (int64_t)level->width - window.column - window.width;
    if (how.flip_row)
        window.row = (int64_t)level->height - window.row - window.height;
    return window;
}

static turn turn_of_item(const tz_item *item, const tz_read_options *how)
{
    const uint16_t orientation = item->file->info.orientation;
    return turns[how->oriented && orientation >= 1 && orientation <= 8 ? orientation : 1];
}

/* ---- levels ---- */

/* Whether a level has at least the pixels that the buffer asks for. */
static bool is_fine_enough(const tz_level *level, const tz_level *full, const tz_window *window,
                           const tz_buffer *into)
{
    return (uint64_t)level->width * window->width >= (uint64_t)into->width * full->width &&
           (uint64_t)level->height * window->height >= (uint64_t)into->height * full->height;
}

static uint32_t choose_level(const tz_file *file, const tz_window *window, const tz_buffer *into)
{
    const tz_info *info = &file->info;
    uint32_t best = 0;
    for (uint32_t i = 1; i < info->level_count; i++) {
        const tz_level *level = &info->levels[i];
        if (level->readable && is_fine_enough(level, &info->levels[0], window, into) &&
            level->width <= info->levels[best].width)
            best = i;
    }
    return best;
}

static bool is_auto(const tz_item *item)
{
    return item->level == TZ_LEVEL_AUTO;
}

/* ---- windows ---- */

bool tz_window_clip(const tz_window *window, const tz_level *level, tz_window *out)
{
    const int64_t right = window->column + window->width;
    const int64_t bottom = window->row + window->height;
    const int64_t x0 = window->column < 0 ? 0 : window->column;
    const int64_t y0 = window->row < 0 ? 0 : window->row;
    const int64_t x1 = right < level->width ? right : level->width;
    const int64_t y1 = bottom < level->height ? bottom : level->height;
    if (x0 >= x1 || y0 >= y1) {
        *out = (tz_window){0};
        return false;
    }
    *out = (tz_window){x0, y0, (uint32_t)(x1 - x0), (uint32_t)(y1 - y0)};
    return true;
}

static tz_result check_window(const tz_window *window, const tz_level *level, bool boundless,
                              const tz_context *ctx)
{
    if (window->column < -(int64_t)UINT32_MAX || window->column > (int64_t)UINT32_MAX ||
        window->row < -(int64_t)UINT32_MAX || window->row > (int64_t)UINT32_MAX)
        return fail_arg(ctx, "the window is too far away", TZ_NONE, TZ_NONE);
    if (window->width == 0 || window->height == 0)
        return fail_arg(ctx, "the window is empty", TZ_NONE, 0);
    const int64_t right = window->column + window->width;
    const int64_t bottom = window->row + window->height;
    if (boundless || (window->column >= 0 && window->row >= 0 && right <= level->width &&
                      bottom <= level->height))
        return TZ_OK;
    return fail_arg(ctx, "the window reaches beyond the level; boundless reads may",
                    right > level->width ? level->width : level->height,
                    (uint64_t)(right > level->width ? right : bottom));
}

/* The window in pixels of the level that was chosen, not rounded. */
static void set_box(tz_read_request *request, const tz_window *window, const tz_level *given)
{
    const tz_level *level = &request->layer.shape;
    const double sx = (double)level->width / given->width;
    const double sy = (double)level->height / given->height;
    request->x0 = (double)window->column * sx;
    request->y0 = (double)window->row * sy;
    request->x1 = (double)(window->column + window->width) * sx;
    request->y1 = (double)(window->row + window->height) * sy;
}

static bool is_whole(double x)
{
    return x == floor(x);
}

static void set_resampled(tz_read_request *request)
{
    request->resampled = !(is_whole(request->x0) && is_whole(request->y0) &&
                           request->x1 - request->x0 == request->into.width &&
                           request->y1 - request->y0 == request->into.height);
}

/* Outward to whole pixels; what resampling needs beyond the edge of the level is not there. */
static void set_pixel_window(tz_read_request *request, tz_resampling method)
{
    const double rx = request->resampled
                          ? tz_axis_reach(method, (request->x1 - request->x0) / request->into.width)
                          : 0;
    const double ry =
        request->resampled
            ? tz_axis_reach(method, (request->y1 - request->y0) / request->into.height)
            : 0;
    const double left = floor(request->x0 - rx);
    const double top = floor(request->y0 - ry);
    request->window = (tz_window){(int64_t)left, (int64_t)top,
                                  (uint32_t)fmin(ceil(request->x1 + rx) - left, UINT32_MAX),
                                  (uint32_t)fmin(ceil(request->y1 + ry) - top, UINT32_MAX)};
    if (request->resampled)
        (void)tz_window_clip(&request->window, &request->layer.shape, &request->window);
    request->item_window = request->window;
}

static tz_result check_resampling(const tz_read_request *request, const tz_read_options *how,
                                  const tz_context *ctx)
{
    if ((unsigned)how->resampling > TZ_RESAMPLE_MEDIAN)
        return fail_arg(ctx, "there is no such resampling", TZ_RESAMPLE_MEDIAN,
                        (uint64_t)how->resampling);
    if (!request->resampled)
        return TZ_OK;
    if (how->resampling == TZ_RESAMPLE_NONE)
        return fail_arg(ctx,
                        request->window.width == request->into.width
                            ? "the buffer has another height than the window, and no resampling "
                              "is chosen"
                            : "the buffer has another width than the window, and no resampling "
                              "is chosen",
                        request->window.width == request->into.width ? request->window.height
                                                                     : request->window.width,
                        request->window.width == request->into.width ? request->into.height
                                                                     : request->into.width);
    if (how->resampling != TZ_RESAMPLE_NEAREST &&
        (request->layer.tables.sample_format == 5 || request->layer.tables.sample_format == 6))
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "complex samples can be resampled by nearest only");
    return TZ_OK;
}

/* ---- lower resolutions of tiles ---- */

/* Whether samples may be mixed before they are looked at one by one: no numbers of colours, nothing
 * that says of single pixels that they are not valid, no method that picks some of many. */
static bool may_be_reduced(const tz_read_request *request, const tz_read_options *how)
{
    const tz_level *level = &request->layer.shape;
    const tz_decoder *codec = NULL;
    const tz_context quiet = {.ifd = -1};
    return how->reduced_tiles && how->resampling < TZ_RESAMPLE_MODE && level->readable &&
           !request->layer.is_mask && request->file->info.photometric != TZ_PHOTOMETRIC_PALETTE &&
           request->file->info.nodata.kind == TZ_NODATA_NONE &&
           tz_mask_source(request) == TZ_REQUEST_PIXELS &&
           tz_decoder_find(level->compression, &quiet, &codec) == TZ_OK &&
           codec->flags & TZ_DECODER_REDUCTION;
}

/* Pixels of one tile must not become part of one of the next. */
static bool tiles_can_be_reduced(const tz_level *level, unsigned reduction)
{
    const uint32_t rest = (1u << reduction) - 1;
    return (level->tiles_across == 1 || (level->tile_width & rest) == 0) &&
           (level->tiles_down == 1 || (level->tile_height & rest) == 0);
}

/* Where a side of the box ends that is start to end of length pixels. The last pixel of a level may
 * stand for fewer than the others: it is a whole one where the buffer counts it so. */
static double reduced_end(double start, double end, uint32_t length, unsigned reduction,
                          uint32_t wanted)
{
    const double size = (double)(1u << reduction);
    const double last = tz_reduced_size(length, reduction);
    return end == length && last - start / size == wanted ? last : end / size;
}

/* The view of a level that has been reduced; false: it has fewer pixels than the buffer. */
static bool reduce_box(const tz_read_request *request, unsigned reduction, tz_read_request *out)
{
    const tz_level *level = &request->layer.shape;
    const double size = (double)(1u << reduction);
    *out = *request;
    out->x0 = request->x0 / size;
    out->y0 = request->y0 / size;
    out->x1 = reduced_end(request->x0, request->x1, level->width, reduction, request->into.width);
    out->y1 = reduced_end(request->y0, request->y1, level->height, reduction, request->into.height);
    return out->x1 - out->x0 >= request->into.width && out->y1 - out->y0 >= request->into.height;
}

/* As often as the buffer allows it. */
static void reduce_request(tz_read_request *request)
{
    const tz_level whole = request->layer.shape;
    tz_level *level = &request->layer.shape;
    tz_read_request reduced;
    unsigned times = TZ_MAX_DECODE_REDUCTION;
    while (times > 0 &&
           !(tiles_can_be_reduced(&whole, times) && reduce_box(request, times, &reduced)))
        times--;
    if (times == 0)
        return;
    *request = reduced;
    request->reduction = (uint8_t)times;
    level->width = tz_reduced_size(whole.width, times);
    level->height = tz_reduced_size(whole.height, times);
    level->tile_width = tz_reduced_size(whole.tile_width, times);
    level->tile_height = tz_reduced_size(whole.tile_height, times);
}

/* Another size that remains is an error without resampling, which then tells of the level's own
 * pixels. */
static void try_reduced(tz_read_request *request, tz_resampling method)
{
    const tz_read_request whole = *request;
    reduce_request(request);
    set_resampled(request);
    if (request->resampled && method == TZ_RESAMPLE_NONE)
        *request = whole;
}

tz_result tz_read_request_make(tz_read_request *out, const tz_item *item,
                               const tz_read_options *how, const tz_context *ctx)
{
    const turn turned = turn_of_item(item, how);
    const uint32_t asked = is_auto(item) ? 0 : item->level;
    tz_context at_level = *ctx;
    tz_window window = item->window;
    *out = (tz_read_request){.file = item->file, .level = asked, .outcome = item->outcome};
    TZ_TRY(tz_file_layer(item->file, asked, ctx, &out->layer));
    const tz_level given = out->layer.shape;
    at_level.ifd = given.ifd;
    if (window.width == 0 && window.height == 0)
        window = (tz_window){0, 0, given.width, given.height};
    else
        window = turn_window(window, turned, &given);
    TZ_TRY(check_window(&window, &given, how->boundless, &at_level));
    TZ_TRY(set_bands(out, item, &at_level));
    TZ_TRY(set_buffers(out, item, how, &at_level));
    turn_buffer(&out->into, turned);
    turn_buffer(&out->mask, turned);
    if (is_auto(item)) {
        out->level = choose_level(item->file, &window, &out->into);
        TZ_TRY(tz_file_layer(item->file, out->level, ctx, &out->layer));
    }
    set_box(out, &window, &given);
    if (may_be_reduced(out, how))
        try_reduced(out, how->resampling);
    set_resampled(out);
    set_pixel_window(out, how->resampling);
    return check_resampling(out, how, &at_level);
}
