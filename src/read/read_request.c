/* SPDX-License-Identifier: Apache-2.0
 * From an item, as the caller gave it, to a read request in terms of the file:
 *
 *   window   of the upright image -> of the stored one -> of the chosen level -> in whole pixels
 *   buffers  checked, strides resolved, turned so that rows and columns run as the file's do
 *   level    given, or the smallest that has the pixels of the buffer; its tiles may be decoded at
 *            a lower resolution on top
 *
 * The decision that is not obvious: the orientation is applied to the buffer, by its strides, and
 * not to the pixels. After this file nobody knows about orientations. */
#include "read/read_request.h"

#include <math.h>

#include "base/mem.h"
#include "pixel/axis.h"

static tz_result fail_arg(const tz_context *ctx, const char *text, uint64_t expected,
                          uint64_t found)
{
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_expecting(tz_no_location(), expected, found),
                   "%s", text);
}

tz_result tz_fail_memory_limit(const tz_context *ctx, const char *subject, const char *limit,
                               uint64_t allowed, uint64_t needed)
{
    const tz_result result =
        tz_fail(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, tz_expecting(tz_no_location(), allowed, needed),
                "%s needs more memory than tz_read_options.%s allows", subject, limit);
    if (ctx->err)
        ctx->err->limit = limit;
    return result;
}

/* ---- buffers ---- */

/* Checks a buffer before its strides are known. */
static tz_result check_buffer(const tz_pixel_buffer *buffer, uint32_t bands, const tz_context *ctx)
{
    if (!tz_pixel_buffer_exists(buffer))
        return fail_arg(ctx, "the buffer has no memory", TZ_NO_VALUE, TZ_NO_VALUE);
    if (buffer->bands != bands)
        return fail_arg(ctx, "the buffer has another number of bands than are read", bands,
                        buffer->bands);
    if (buffer->width == 0 || buffer->height == 0)
        return fail_arg(ctx, "the buffer is empty", TZ_NO_VALUE, 0);
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

tz_byte_extent tz_buffer_extent(const tz_pixel_buffer *buffer)
{
    tz_byte_extent extent = {.after = tz_dtype_size(buffer->dtype)};
    extend_by_stride(&extent, buffer->band_stride, buffer->bands);
    extend_by_stride(&extent, buffer->row_stride, buffer->height);
    extend_by_stride(&extent, buffer->column_stride, buffer->width);
    return extent;
}

/* Sets the strides of a packed buffer if the caller gave none. Device memory must belong to the
 * device that reads, and the buffer must lie within it; host memory cannot be checked. */
static tz_result resolve_buffer(tz_pixel_buffer *buffer, const tz_read_options *how,
                                const tz_context *ctx)
{
    if (tz_dtype_size(buffer->dtype) == 0)
        return fail_arg(ctx, "the buffer has no dtype", TZ_NO_VALUE, (uint64_t)buffer->dtype);
    if (!tz_pixel_buffer_set_strides(buffer))
        return fail_arg(ctx, "the buffer is larger than memory", INT64_MAX, TZ_NO_VALUE);
    if (!buffer->memory)
        return TZ_OK;
    if (!how->device)
        return fail_arg(ctx, "the buffer is in device memory, and no device is to read",
                        TZ_NO_VALUE, TZ_NO_VALUE);
    if (tz_device_memory_get_device(buffer->memory) != how->device)
        return fail_arg(ctx, "the buffer is in the memory of another device", TZ_NO_VALUE,
                        TZ_NO_VALUE);
    const tz_byte_extent extent = tz_buffer_extent(buffer);
    const uint64_t end = tz_add_capped(buffer->offset, extent.after);
    if (extent.before > buffer->offset)
        return fail_arg(ctx, "the buffer begins before its memory", extent.before, buffer->offset);
    if (end > tz_device_memory_get_size(buffer->memory))
        return fail_arg(ctx, "the buffer goes past the end of its memory",
                        tz_device_memory_get_size(buffer->memory), end);
    return TZ_OK;
}

/* Sets the caller's buffers, with strides but not yet turned. */
static tz_result set_buffers(tz_read_request *request, const tz_item *item,
                             const tz_read_options *how, tz_wrapped_list *wrapped,
                             const tz_context *ctx)
{
    TZ_TRY(tz_caller_buffer_enter(&request->into, item->into, "into", how->device, wrapped, ctx));
    TZ_TRY(check_buffer(&request->into, request->band_count, ctx));
    TZ_TRY(resolve_buffer(&request->into, how, ctx));
    if (!item->into_mask)
        return TZ_OK;
    TZ_TRY(tz_caller_buffer_enter(&request->mask, item->into_mask, "into_mask", how->device,
                                  wrapped, ctx));
    TZ_TRY(check_buffer(&request->mask, request->band_count, ctx));
    if (request->mask.width != request->into.width || request->mask.height != request->into.height)
        return fail_arg(ctx, "the mask's buffer has another size than the one for pixels",
                        request->into.width, request->mask.width);
    if (request->mask.dtype != TZ_DTYPE_UINT8)
        return fail_arg(ctx, "the mask's buffer is not of type uint8", TZ_DTYPE_UINT8,
                        (uint64_t)request->mask.dtype);
    return resolve_buffer(&request->mask, how, ctx);
}

/* ---- orientation ---- */

/* Axes of the upright image within the stored one, by orientation 1 to 8. */
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

/* Swaps or negates strides, and moves the first sample to the corner of the file's first pixel. */
static void turn_buffer(tz_pixel_buffer *buffer, turn how)
{
    int64_t moved = 0;
    if (!tz_pixel_buffer_exists(buffer))
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

/* ---- levels ---- */

/* The smallest level that has at least the pixels that the buffer asks for. */
static uint32_t choose_level(const tz_file *file, const tz_window *window,
                             const tz_pixel_buffer *into)
{
    const tz_info *info = &file->info;
    const tz_level *full = &file->levels[0];
    uint32_t best = 0;
    for (uint32_t i = 1; i < info->level_count; i++) {
        const tz_level *level = &file->levels[i];
        const bool is_fine_enough =
            (uint64_t)level->width * window->width >= (uint64_t)into->width * full->width &&
            (uint64_t)level->height * window->height >= (uint64_t)into->height * full->height;
        if (level->readable && is_fine_enough && level->width <= file->levels[best].width)
            best = i;
    }
    return best;
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

/* Positions are limited to 32 bits and a sign, so that sums with a size cannot overflow. */
static tz_result check_window(const tz_window *window, const tz_level *level, bool boundless,
                              const tz_context *ctx)
{
    if (window->column < -(int64_t)UINT32_MAX || window->column > (int64_t)UINT32_MAX ||
        window->row < -(int64_t)UINT32_MAX || window->row > (int64_t)UINT32_MAX)
        return fail_arg(ctx, "the window is too far away", TZ_NO_VALUE, TZ_NO_VALUE);
    if (window->width == 0 || window->height == 0)
        return fail_arg(ctx, "the window is empty", TZ_NO_VALUE, 0);
    const int64_t right = window->column + window->width;
    const int64_t bottom = window->row + window->height;
    if (boundless || (window->column >= 0 && window->row >= 0 && right <= level->width &&
                      bottom <= level->height))
        return TZ_OK;
    return fail_arg(ctx, "the window reaches beyond the level; boundless reads may",
                    right > level->width ? level->width : level->height,
                    (uint64_t)(right > level->width ? right : bottom));
}

/* A buffer has the level's own pixels if the area begins at a whole pixel and has the buffer's
 * size; then samples are copied and the read is not resampled. */
static void set_resampled(tz_read_request *request)
{
    request->resampled = !(request->x0 == floor(request->x0) && request->y0 == floor(request->y0) &&
                           request->x1 - request->x0 == request->into.width &&
                           request->y1 - request->y0 == request->into.height);
}

/* Rounds the area outward to whole pixels, with those around it that resampling needs. Beyond the
 * edge of the level there are none. */
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

/* Runs last: only with the level and the reduction is it known if pixels are resampled at all. */
static tz_result check_resampling(const tz_read_request *request, const tz_read_options *how,
                                  const tz_context *ctx)
{
    const uint16_t sample_format = request->layer.tables.sample_format;
    if ((unsigned)how->resampling > TZ_RESAMPLING_MEDIAN)
        return fail_arg(ctx, "there is no such resampling", TZ_RESAMPLING_MEDIAN,
                        (uint64_t)how->resampling);
    if (!request->resampled)
        return TZ_OK;
    if (how->resampling == TZ_RESAMPLING_NONE && request->window.width != request->into.width)
        return fail_arg(ctx,
                        "the buffer has another width than the window, and no resampling is "
                        "chosen",
                        request->window.width, request->into.width);
    if (how->resampling == TZ_RESAMPLING_NONE)
        return fail_arg(ctx,
                        "the buffer has another height than the window, and no resampling is "
                        "chosen",
                        request->window.height, request->into.height);
    if (how->resampling != TZ_RESAMPLING_NEAREST &&
        (sample_format == TZ_SAMPLE_FORMAT_COMPLEX_INT ||
         sample_format == TZ_SAMPLE_FORMAT_COMPLEX_FLOAT))
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "complex samples can be resampled by nearest only");
    return TZ_OK;
}

/* ---- lower resolutions of tiles ---- */

/* True if samples may be averaged by the codec before they are resampled: no palette, no nodata or
 * mask that makes single pixels invalid, no method that picks some samples of many. */
static bool may_be_reduced(const tz_read_request *request, const tz_read_options *how)
{
    const tz_level *level = &request->layer.shape;
    const tz_decoder *codec = NULL;
    const tz_context quiet = {.ifd = -1};
    return how->reduced_tiles && how->resampling < TZ_RESAMPLING_MODE && level->readable &&
           !request->layer.is_mask && request->file->info.photometric != TZ_PHOTOMETRIC_PALETTE &&
           request->file->info.nodata.kind == TZ_NODATA_NONE &&
           tz_mask_source(request) == TZ_REQUEST_PIXELS &&
           tz_decoder_find(level->compression, &quiet, &codec) == TZ_OK &&
           codec->flags & TZ_DECODER_REDUCTION;
}

/* The end of one side of the area after a reduction; before it, the side is start to end of a level
 * of length pixels. The last pixel of a reduced level may stand for fewer than the others: it is a
 * whole one if the buffer counts it so. */
static double reduced_end(double start, double end, uint32_t length, unsigned times,
                          uint32_t wanted)
{
    const double size = (double)(1u << times);
    const double last = tz_reduced_size(length, times);
    return end == length && last - start / size == wanted ? last : end / size;
}

/* Decodes tiles at a lower resolution, halved as often as the buffer allows it. A pixel must not
 * become part of one in the next tile, so the tiles' sides have to be divisible. If another size
 * than the buffer's remains and no resampling is chosen, the request stays as it is: the error then
 * speaks of the level's own pixels. */
static void reduce_request(tz_read_request *request, tz_resampling method)
{
    const tz_read_request whole = *request;
    const tz_level *level = &whole.layer.shape;
    const tz_pixel_buffer *into = &whole.into;
    unsigned times = TZ_MAX_DECODE_REDUCTION;
    for (; times > 0; times--) {
        const uint32_t rest = (1u << times) - 1;
        const double size = (double)(1u << times);
        request->x0 = whole.x0 / size;
        request->y0 = whole.y0 / size;
        request->x1 = reduced_end(whole.x0, whole.x1, level->width, times, into->width);
        request->y1 = reduced_end(whole.y0, whole.y1, level->height, times, into->height);
        if ((level->tiles_across == 1 || (level->tile_width & rest) == 0) &&
            (level->tiles_down == 1 || (level->tile_height & rest) == 0) &&
            request->x1 - request->x0 >= into->width && request->y1 - request->y0 >= into->height)
            break;
    }
    if (times > 0) {
        tz_level *reduced = &request->layer.shape;
        request->decode_reduction = (uint8_t)times;
        reduced->width = tz_reduced_size(level->width, times);
        reduced->height = tz_reduced_size(level->height, times);
        reduced->tile_width = tz_reduced_size(level->tile_width, times);
        reduced->tile_height = tz_reduced_size(level->tile_height, times);
        set_resampled(request);
    }
    if (times == 0 || (request->resampled && method == TZ_RESAMPLING_NONE))
        *request = whole;
}

/* Windows pass through three systems: the upright image (the item's), the stored image at the level
 * that was given, and the level that is read. In the last one they are not whole pixels. */
tz_result tz_read_request_make(tz_read_request *out, const tz_item *item,
                               const tz_read_options *how, tz_wrapped_list *wrapped,
                               const tz_context *ctx)
{
    const uint16_t orientation = item->file->info.orientation;
    const turn turned =
        turns[how->oriented && orientation >= 1 && orientation <= 8 ? orientation : 1];
    const bool is_auto = item->level == TZ_LEVEL_AUTO && !item->mask;
    const uint32_t asked = is_auto ? 0 : item->mask ? TZ_MASK_LEVEL(item->level) : item->level;
    tz_context at_level = *ctx;
    tz_window window = item->window;
    *out = (tz_read_request){.file = item->file, .level = asked, .bands = item->bands};
    if (item->level > TZ_LEVEL_AUTO)
        return fail_arg(ctx, "there is no such level", item->file->info.level_count, item->level);
    TZ_TRY(tz_file_layer(item->file, tz_level_index(asked), tz_level_is_mask(asked), ctx,
                         &out->layer));
    const tz_level given = out->layer.shape;
    at_level.ifd = given.ifd;
    if (window.width == 0 && window.height == 0) {
        window = (tz_window){0, 0, given.width, given.height};
    } else {
        if (turned.swaps)
            window = (tz_window){window.row, window.column, window.height, window.width};
        if (turned.flip_column)
            window.column = (int64_t)given.width - window.column - window.width;
        if (turned.flip_row)
            window.row = (int64_t)given.height - window.row - window.height;
    }
    TZ_TRY(check_window(&window, &given, how->boundless, &at_level));
    out->band_count = item->bands ? item->band_count : given.samples;
    if (out->band_count == 0)
        return fail_arg(&at_level, "no bands are asked for", TZ_NO_VALUE, 0);
    for (uint32_t i = 0; item->bands && i < item->band_count; i++) {
        if (item->bands[i] >= given.samples)
            return fail_arg(&at_level, "there is no such band; bands are counted from 0",
                            given.samples, item->bands[i]);
    }
    TZ_TRY(set_buffers(out, item, how, wrapped, &at_level));
    turn_buffer(&out->into, turned);
    turn_buffer(&out->mask, turned);
    if (is_auto) {
        out->level = choose_level(item->file, &window, &out->into);
        TZ_TRY(tz_file_layer(item->file, out->level, false, ctx, &out->layer));
    }
    const double sx = (double)out->layer.shape.width / given.width;
    const double sy = (double)out->layer.shape.height / given.height;
    out->x0 = (double)window.column * sx;
    out->y0 = (double)window.row * sy;
    out->x1 = (double)(window.column + window.width) * sx;
    out->y1 = (double)(window.row + window.height) * sy;
    if (may_be_reduced(out, how))
        reduce_request(out, how->resampling);
    set_resampled(out);
    set_pixel_window(out, how->resampling);
    return check_resampling(out, how, &at_level);
}
