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

tz_result tz_buffer_check_shape(tz_pixel_buffer *buffer, uint32_t bands, const tz_context *ctx)
{
    if (buffer->bands != bands)
        return fail_arg(ctx, "the buffer has another number of bands than are read", bands,
                        buffer->bands);
    if (buffer->width == 0 || buffer->height == 0)
        return fail_arg(ctx, "the buffer is empty", TZ_NO_VALUE, 0);
    if (tz_dtype_size(buffer->dtype) == 0)
        return fail_arg(ctx, "the buffer has no dtype", TZ_NO_VALUE, (uint64_t)buffer->dtype);
    if (!tz_pixel_buffer_set_strides(buffer))
        return fail_arg(ctx, "the buffer is larger than memory", INT64_MAX, TZ_NO_VALUE);
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

/* Checks a buffer and sets its strides. Device memory must belong to the device that reads, and the
 * buffer must lie within it; host memory cannot be checked. */
static tz_result check_buffer(tz_pixel_buffer *buffer, uint32_t bands, const tz_read_options *how,
                              const tz_context *ctx)
{
    if (!tz_pixel_buffer_exists(buffer))
        return fail_arg(ctx, "the buffer has no memory", TZ_NO_VALUE, TZ_NO_VALUE);
    TZ_TRY(tz_buffer_check_shape(buffer, bands, ctx));
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
    TZ_TRY(check_buffer(&request->into, request->band_count, how, ctx));
    if (!item->into_mask)
        return TZ_OK;
    TZ_TRY(tz_caller_buffer_enter(&request->mask, item->into_mask, "into_mask", how->device,
                                  wrapped, ctx));
    TZ_TRY(check_buffer(&request->mask, request->band_count, how, ctx));
    if (request->mask.width != request->into.width || request->mask.height != request->into.height)
        return fail_arg(ctx, "the mask's buffer has another size than the one for pixels",
                        request->into.width, request->mask.width);
    if (request->mask.dtype != TZ_DTYPE_UINT8)
        return fail_arg(ctx, "the mask's buffer is not of type uint8", TZ_DTYPE_UINT8,
                        (uint64_t)request->mask.dtype);
    return TZ_OK;
}

/* ---- orientation ---- */

/* By orientation 1 to 8. */
static const tz_turn turns[9] = {
    [1] = {false, false, false}, [2] = {false, true, false}, [3] = {false, true, true},
    [4] = {false, false, true},  [5] = {true, false, false}, [6] = {true, false, true},
    [7] = {true, true, true},    [8] = {true, true, false},
};

/* Swaps or negates strides, and moves the first sample to the corner of the file's first pixel. */
static void turn_buffer(tz_pixel_buffer *buffer, tz_turn how)
{
    int64_t moved = 0;
    if (buffer->width == 0)
        return; /* there is none */
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
    else if (buffer->data)
        buffer->data = (uint8_t *)buffer->data + moved;
}

/* Sets the size of the whole result and the position of the buffer in it, turned as the buffer is.
 */
static tz_result set_grid(tz_read_request *request, const tz_item *item, tz_turn how,
                          const tz_context *ctx)
{
    const tz_pixel_buffer *into = &request->into;
    uint32_t width = item->grid_width > 0 ? item->grid_width
                     : how.swaps          ? into->height
                                          : into->width;
    uint32_t height = item->grid_height > 0 ? item->grid_height
                      : how.swaps           ? into->width
                                            : into->height;
    uint32_t column = item->grid_column;
    uint32_t row = item->grid_row;
    const uint64_t right = (uint64_t)column + (how.swaps ? into->height : into->width);
    const uint64_t bottom = (uint64_t)row + (how.swaps ? into->width : into->height);
    if (right > width)
        return fail_arg(ctx, "the buffer reaches beyond the columns of the grid", width, right);
    if (bottom > height)
        return fail_arg(ctx, "the buffer reaches beyond the rows of the grid", height, bottom);
    request->grid_width = how.swaps ? height : width;
    request->grid_height = how.swaps ? width : height;
    request->grid_column = how.swaps ? row : column;
    request->grid_row = how.swaps ? column : row;
    if (how.flip_column)
        request->grid_column = request->grid_width - request->grid_column - into->width;
    if (how.flip_row)
        request->grid_row = request->grid_height - request->grid_row - into->height;
    return TZ_OK;
}

/* ---- levels ---- */

/* The smallest level that has at least the pixels that the whole result asks for. */
static uint32_t choose_level(const tz_read_request *request, const tz_window *window)
{
    const tz_file *file = request->file;
    const tz_level *full = &file->levels[0];
    const uint64_t width = request->grid_width;
    const uint64_t height = request->grid_height;
    uint32_t best = 0;
    for (uint32_t i = 1; i < file->info.level_count; i++) {
        const tz_level *level = &file->levels[i];
        const bool is_fine_enough =
            (uint64_t)level->width * window->width >= width * full->width &&
            (uint64_t)level->height * window->height >= height * full->height;
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

/* A result has the level's own pixels if the area begins at a whole pixel and has the result's
 * size; then samples are copied and the read is not resampled. */
static void set_resampled(tz_read_request *request)
{
    request->resampled = !(request->x0 == floor(request->x0) && request->y0 == floor(request->y0) &&
                           request->x1 - request->x0 == request->grid_width &&
                           request->y1 - request->y0 == request->grid_height);
}

/* One side of the area of the buffer. Edges are computed as resampling does it. */
typedef struct side {
    double start, end;
} side;
static side buffer_side(double start, double end, uint32_t length, uint32_t first, uint32_t count)
{
    const double scale = (end - start) / length;
    return (side){first > 0 ? start + (double)first * scale : start,
                  first + count < length ? start + ((double)first + count) * scale : end};
}

/* Rounds the area of the buffer outward to whole pixels, with those around it that resampling
 * needs. Beyond the edge of the level there are none. */
static void set_pixel_window(tz_read_request *request, tz_resampling method)
{
    const side x = buffer_side(request->x0, request->x1, request->grid_width, request->grid_column,
                               request->into.width);
    const side y = buffer_side(request->y0, request->y1, request->grid_height, request->grid_row,
                               request->into.height);
    const double rx = request->resampled
                          ? tz_axis_reach(method, (request->x1 - request->x0) / request->grid_width)
                          : 0;
    const double ry =
        request->resampled
            ? tz_axis_reach(method, (request->y1 - request->y0) / request->grid_height)
            : 0;
    const double left = floor(x.start - rx);
    const double top = floor(y.start - ry);
    request->window = (tz_window){(int64_t)left, (int64_t)top,
                                  (uint32_t)fmin(ceil(x.end + rx) - left, UINT32_MAX),
                                  (uint32_t)fmin(ceil(y.end + ry) - top, UINT32_MAX)};
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
    const uint64_t width = (uint64_t)(ceil(request->x1) - floor(request->x0));
    const uint64_t height = (uint64_t)(ceil(request->y1) - floor(request->y0));
    if (how->resampling == TZ_RESAMPLING_NONE && width != request->grid_width)
        return fail_arg(ctx,
                        "the buffer has another width than the window, and no resampling is "
                        "chosen",
                        width, request->grid_width);
    if (how->resampling == TZ_RESAMPLING_NONE)
        return fail_arg(ctx,
                        "the buffer has another height than the window, and no resampling is "
                        "chosen",
                        height, request->grid_height);
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
           request->file->info.nodata.kind == TZ_NODATA_KIND_NONE &&
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
    unsigned times = TZ_MAX_DECODE_REDUCTION;
    for (; times > 0; times--) {
        const uint32_t rest = (1u << times) - 1;
        const double size = (double)(1u << times);
        request->x0 = whole.x0 / size;
        request->y0 = whole.y0 / size;
        request->x1 = reduced_end(whole.x0, whole.x1, level->width, times, whole.grid_width);
        request->y1 = reduced_end(whole.y0, whole.y1, level->height, times, whole.grid_height);
        if ((level->tiles_across == 1 || (level->tile_width & rest) == 0) &&
            (level->tiles_down == 1 || (level->tile_height & rest) == 0) &&
            request->x1 - request->x0 >= whole.grid_width &&
            request->y1 - request->y0 >= whole.grid_height)
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

static bool is_auto_level(const tz_item *item)
{
    return item->level == TZ_LEVEL_AUTO && !item->mask;
}

/* ---- requests ---- */

/* Windows pass through three systems: the upright image (the item's), the stored image at the level
 * that was given, and the level that is read. In the last one they are not whole pixels. */
static tz_result check_nodata_options(const tz_read_options *how, const tz_context *ctx)
{
    const tz_nodata_kind kind = how->nodata_as.kind;
    if ((unsigned)kind > TZ_NODATA_KIND_FLOAT)
        return fail_arg(ctx, "options->nodata_as is of no kind that there is", TZ_NODATA_KIND_FLOAT,
                        (uint64_t)kind);
    if (kind != TZ_NODATA_KIND_NONE && how->nodata_to_nan)
        return fail_arg(ctx, "options->nodata_as and options->nodata_to_nan do not go together",
                        TZ_NO_VALUE, TZ_NO_VALUE);
    return TZ_OK;
}

tz_result tz_read_request_begin(tz_read_request *out, tz_located_item *located, const tz_item *item,
                                const tz_read_options *how, const tz_context *ctx)
{
    const uint16_t orientation = item->file->info.orientation;
    const tz_turn turned =
        turns[how->oriented && orientation >= 1 && orientation <= 8 ? orientation : 1];
    const uint32_t asked = is_auto_level(item) ? 0
                           : item->mask        ? TZ_MASK_LEVEL(item->level)
                                               : item->level;
    tz_context at_level = *ctx;
    tz_window window = item->window;
    *out = (tz_read_request){.file = item->file,
                             .level = asked,
                             .bands = item->bands,
                             .scales = item->scales,
                             .offsets = item->offsets};
    TZ_TRY(check_nodata_options(how, ctx));
    if (item->level > TZ_LEVEL_AUTO)
        return fail_arg(ctx, "there is no such level", item->file->info.level_count, item->level);
    TZ_TRY(tz_file_layer(item->file, tz_level_index(asked), tz_level_is_mask(asked), ctx,
                         &out->layer));
    const tz_level *given = &out->layer.shape;
    at_level.ifd = given->ifd;
    if (window.width == 0 && window.height == 0) {
        window = (tz_window){0, 0, given->width, given->height};
    } else {
        if (turned.swaps)
            window = (tz_window){window.row, window.column, window.height, window.width};
        if (turned.flip_column)
            window.column = (int64_t)given->width - window.column - window.width;
        if (turned.flip_row)
            window.row = (int64_t)given->height - window.row - window.height;
    }
    TZ_TRY(check_window(&window, given, how->boundless, &at_level));
    out->band_count = item->bands ? item->band_count : given->samples;
    if (out->band_count == 0)
        return fail_arg(&at_level, "no bands are asked for", TZ_NO_VALUE, 0);
    for (uint32_t i = 0; item->bands && i < item->band_count; i++) {
        if (item->bands[i] >= given->samples)
            return fail_arg(&at_level, "there is no such band; bands are counted from 0",
                            given->samples, item->bands[i]);
    }
    if (item->mask && (item->scales || item->offsets))
        return fail_arg(&at_level, "the samples of a mask have no scale and offset", TZ_NO_VALUE,
                        TZ_NO_VALUE);
    *located = (tz_located_item){.turn = turned,
                                 .width = given->width,
                                 .height = given->height,
                                 .ifd = given->ifd,
                                 .window = window};
    return TZ_OK;
}

tz_result tz_read_request_end(tz_read_request *request, const tz_located_item *located,
                              const tz_item *item, const tz_read_options *how,
                              const tz_context *ctx)
{
    const tz_window *window = &located->window;
    tz_context at_level = *ctx;
    at_level.ifd = located->ifd;
    turn_buffer(&request->into, located->turn);
    turn_buffer(&request->mask, located->turn);
    TZ_TRY(set_grid(request, item, located->turn, &at_level));
    if (is_auto_level(item)) {
        request->level = choose_level(request, window);
        TZ_TRY(tz_file_layer(item->file, request->level, false, ctx, &request->layer));
    }
    const double sx = (double)request->layer.shape.width / located->width;
    const double sy = (double)request->layer.shape.height / located->height;
    request->x0 = (double)window->column * sx;
    request->y0 = (double)window->row * sy;
    request->x1 = (double)(window->column + window->width) * sx;
    request->y1 = (double)(window->row + window->height) * sy;
    if (may_be_reduced(request, how))
        reduce_request(request, how->resampling);
    set_resampled(request);
    set_pixel_window(request, how->resampling);
    return check_resampling(request, how, &at_level);
}

tz_result tz_read_request_make(tz_read_request *out, const tz_item *item,
                               const tz_read_options *how, tz_wrapped_list *wrapped,
                               const tz_context *ctx)
{
    tz_located_item located;
    tz_context at_level = *ctx;
    TZ_TRY(tz_read_request_begin(out, &located, item, how, ctx));
    at_level.ifd = located.ifd;
    TZ_TRY(set_buffers(out, item, how, wrapped, &at_level));
    return tz_read_request_end(out, &located, item, how, ctx);
}
