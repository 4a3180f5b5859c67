/* SPDX-License-Identifier: Apache-2.0
 * Pictures of pixels: the public functions.
 *
 * Options are copied and checked, picture.c makes rows of 8 bits a channel, and an encoder of the
 * table below writes them to a sink, a row at a time. tz_image_encode is tz_image_write into a sink
 * in memory. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "image/image_encoder.h"
#include "image/picture.h"
#include "image/stretch.h"
#include "io/sink.h"
#include "pixel/pixel.h"

enum { DEFAULT_QUALITY = 75, MAX_QUALITY = 100, MAX_BITS = 32, RGBA = 4 };
#define PROGRESS_BYTES ((uint64_t)1 << 20) /* pixels between two calls of the callback */

static const tz_image_encoder *const encoders[] = {
    [TZ_IMAGE_FORMAT_PNG] = &tz_image_encoder_png,
    [TZ_IMAGE_FORMAT_JPEG] = &tz_image_encoder_jpeg,
    [TZ_IMAGE_FORMAT_WEBP] = &tz_image_encoder_webp,
};
#define FORMATS (sizeof encoders / sizeof encoders[0])

/* ---------------------------------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------------------------------ */

static tz_result fail_option(const tz_context *ctx, const char *member, uint64_t found)
{
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                   tz_expecting(tz_no_location(), TZ_NO_VALUE, found),
                   "tz_image_options.%s has no such value", member);
}

static tz_result check_ranges(const tz_image_options *o, const tz_context *ctx)
{
    if (o->range_count > TZ_IMAGE_MAX_COLORS || (o->range_count > 0 && !o->ranges))
        return fail_option(ctx, "range_count", o->range_count);
    for (uint32_t i = 0; i < o->range_count; i++)
        if (!isfinite(o->ranges[i].low) || !isfinite(o->ranges[i].high))
            return fail_option(ctx, "ranges", i);
    return TZ_OK;
}

/* Copies the options of the caller, sets defaults, and checks all members that do not depend on
 * pixels. */
static tz_result copy_options(tz_image_options *out, const tz_image_options *given,
                              const tz_context *ctx)
{
    *out = (tz_image_options)TZ_IMAGE_OPTIONS_INIT;
    TZ_TRY(tz_copy_struct(out, sizeof *out, given, "options", "TZ_IMAGE_OPTIONS_INIT", ctx));
    if ((unsigned)out->format >= FORMATS)
        return fail_option(ctx, "format", (uint64_t)out->format);
    if ((unsigned)out->model > TZ_IMAGE_MODEL_CMYK)
        return fail_option(ctx, "model", (uint64_t)out->model);
    if ((unsigned)out->stretch > TZ_CHOICE_NO)
        return fail_option(ctx, "stretch", (uint64_t)out->stretch);
    if (out->bits > MAX_BITS)
        return fail_option(ctx, "bits", out->bits);
    if (out->color_map && out->color_map_size == 0)
        return fail_option(ctx, "color_map_size", 0);
    return check_ranges(out, ctx);
}

/* Checks the options of the encoder, and sets their defaults. */
static tz_result check_encoder(tz_image_options *o, uint32_t width, uint32_t height,
                               const tz_context *ctx)
{
    const tz_image_encoder *encoder = encoders[o->format];
    const tz_encoder *codec;
    if (encoder->compression != 0)
        TZ_TRY(tz_encoder_find(encoder->compression, ctx, &codec));
    if ((o->quality != 0 && !encoder->has_quality) || (o->lossless && !encoder->has_lossless))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "%s is always %s: tz_image_options.%s is not for it", encoder->name,
                       encoder->has_quality ? "lossy" : "lossless",
                       o->lossless ? "lossless" : "quality");
    if (o->quality > MAX_QUALITY)
        return fail_option(ctx, "quality", o->quality);
    if (o->effort < encoder->min_effort || o->effort > encoder->max_effort)
        return fail_option(ctx, "effort", TZ_NO_VALUE);
    if (o->quality == 0)
        o->quality = DEFAULT_QUALITY;
    const uint32_t side = tz_max_u32(width, height);
    if (side > encoder->max_side)
        return tz_fail(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                       tz_expecting(tz_no_location(), encoder->max_side, side),
                       "a %s has at most %u columns and rows", encoder->name, encoder->max_side);
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Encoding
 * ------------------------------------------------------------------------------------------ */

tz_result tz_image_put(tz_image_output *to, const tz_bytes *pieces, size_t count,
                       const tz_context *ctx)
{
    const uint64_t offset = to->offset;
    for (size_t i = 0; i < count; i++)
        to->offset += pieces[i].size;
    return tz_sink_write(to->sink, offset, pieces, count, ctx);
}

/* Calls the callback after the first rows, and then about every MiB of the picture. */
static tz_result report_row(const tz_picture *p, uint32_t y, const tz_context *ctx)
{
    const uint64_t row = (uint64_t)p->pixels.width * p->channels;
    const uint64_t rows = PROGRESS_BYTES / row + 1;
    const uint64_t done = (uint64_t)y + 1;
    if (done % rows != 0 && done != p->pixels.height)
        return TZ_OK;
    return tz_check_progress(ctx, &p->options->progress, done, p->pixels.height);
}

static tz_result encode_rows(const tz_picture *p, const tz_image_encoder *encoder,
                             tz_image_output *to, const tz_context *ctx)
{
    const tz_image_task task = {.width = p->pixels.width,
                                .height = p->pixels.height,
                                .channels = p->channels,
                                .options = p->options,
                                .to = to};
    void *state;
    uint8_t *row = tz_alloc_array(task.width, task.channels);
    if (!row)
        return tz_fail_nomem(ctx, (uint64_t)task.width * task.channels);
    tz_result result = encoder->open(&state, &task, ctx);
    if (result == TZ_OK) {
        for (uint32_t y = 0; y < task.height && result == TZ_OK; y++) {
            tz_picture_paint(p, y, row);
            result = encoder->put_row(state, row, ctx);
            if (result == TZ_OK)
                result = report_row(p, y, ctx);
        }
        if (result == TZ_OK)
            result = encoder->finish(state, ctx);
        encoder->close(state);
    }
    tz_free(row);
    return result;
}

static tz_result check_data(const tz_picture *p, const tz_context *ctx)
{
    if (p->pixels.data)
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "the pixels have no memory");
}

static tz_result write_image(tz_sink *sink, const tz_buffer *pixels, const tz_buffer *mask,
                             const tz_image_options *given, const tz_context *ctx)
{
    tz_image_options options;
    tz_picture p;
    tz_image_output to = {.sink = sink};
    TZ_TRY(copy_options(&options, given, ctx));
    TZ_TRY(tz_picture_init(&p, pixels, mask, &options, ctx));
    TZ_TRY(check_data(&p, ctx));
    TZ_TRY(check_encoder(&options, p.pixels.width, p.pixels.height, ctx));
    const tz_image_encoder *encoder = encoders[options.format];
    tz_result result = tz_picture_prepare(&p, encoder->has_alpha ? NULL : encoder->name, ctx);
    if (result == TZ_OK)
        result = encode_rows(&p, encoder, &to, ctx);
    tz_picture_deinit(&p);
    return result;
}

tz_result tz_image_write(tz_sink *sink, const tz_buffer *pixels, const tz_buffer *mask,
                         const tz_image_options *options, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!sink)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "the sink is NULL");
    TZ_TRY(tz_sink_check_struct(sink, &ctx));
    if (!sink->write)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "the sink cannot write");
    return write_image(sink, pixels, mask, options, &ctx);
}

tz_result tz_image_encode(tz_memory *out, const tz_buffer *pixels, const tz_buffer *mask,
                          const tz_image_options *options, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_sink *sink;
    TZ_TRY(tz_sink_open_memory(&sink, out, &ctx));
    tz_result result = write_image(sink, pixels, mask, options, &ctx);
    if (result == TZ_OK)
        result = tz_sink_commit(sink, &ctx);
    tz_sink_close(sink);
    return result;
}

/* ---------------------------------------------------------------------------------------------
 * Rendering, measuring and planning
 * ------------------------------------------------------------------------------------------ */

/* Stores a row of 1 to 4 channels as RGBA. */
static void store_rgba(const tz_picture *p, const uint8_t *row, const tz_pixel_buffer *rgba,
                       uint32_t y)
{
    const bool has_alpha = p->channels % 2 == 0;
    for (uint32_t x = 0; x < p->pixels.width; x++, row += p->channels) {
        for (uint32_t i = 0; i < RGBA - 1; i++)
            *tz_buffer_at(rgba, i, y, x) = row[p->channels >= 3 ? i : 0];
        *tz_buffer_at(rgba, RGBA - 1, y, x) = has_alpha ? row[p->channels - 1] : 255;
    }
}

tz_result tz_image_render(const tz_buffer *rgba, const tz_buffer *pixels, const tz_buffer *mask,
                          const tz_image_options *given, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_image_options options;
    tz_picture p;
    tz_pixel_buffer to;
    TZ_TRY(copy_options(&options, given, &ctx));
    TZ_TRY(tz_picture_init(&p, pixels, mask, &options, &ctx));
    TZ_TRY(check_data(&p, &ctx));
    TZ_TRY(tz_picture_copy_buffer(&to, rgba, "rgba", &ctx));
    if (!to.data || to.dtype != TZ_DTYPE_UINT8 || to.bands != RGBA || to.width != p.pixels.width ||
        to.height != p.pixels.height)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the rendered picture is not 4 bands of uint8, of the size of the pixels");
    tz_result result = tz_picture_prepare(&p, NULL, &ctx);
    uint8_t *row = result == TZ_OK ? tz_alloc_array(p.pixels.width, p.channels) : NULL;
    if (result == TZ_OK && !row)
        result = tz_fail_nomem(&ctx, (uint64_t)p.pixels.width * p.channels);
    for (uint32_t y = 0; result == TZ_OK && y < p.pixels.height; y++) {
        tz_picture_paint(&p, y, row);
        store_rgba(&p, row, &to, y);
        result = report_row(&p, y, &ctx);
    }
    tz_free(row);
    tz_picture_deinit(&p);
    return result;
}

tz_result tz_image_measure(tz_image_range *ranges, uint32_t *count, const tz_buffer *pixels,
                           const tz_buffer *mask, const tz_image_options *given, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_image_options options;
    tz_picture p;
    if (!ranges || !count)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "ranges or count is NULL");
    TZ_TRY(copy_options(&options, given, &ctx));
    TZ_TRY(tz_picture_init(&p, pixels, mask, &options, &ctx));
    TZ_TRY(check_data(&p, &ctx));
    return tz_picture_measure(&p, ranges, count, &ctx);
}

/* The picture is assumed to have alpha, and to be measured. */
tz_result tz_plan_image(uint64_t *host_bytes, const tz_buffer *pixels,
                        const tz_image_options *given, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_image_options options;
    tz_picture p;
    if (!host_bytes)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "host_bytes is NULL");
    TZ_TRY(copy_options(&options, given, &ctx));
    TZ_TRY(tz_picture_init(&p, pixels, NULL, &options, &ctx));
    TZ_TRY(check_encoder(&options, p.pixels.width, p.pixels.height, &ctx));
    const tz_image_encoder *encoder = encoders[options.format];
    const tz_image_task task = {.width = p.pixels.width,
                                .height = p.pixels.height,
                                .channels = p.painted - !encoder->has_alpha,
                                .options = &options};
    const uint64_t row = (uint64_t)task.width * task.channels;
    *host_bytes =
        row + tz_picture_bytes(&p) + tz_max(encoder->memory(&task), tz_stretch_max_bytes());
    return TZ_OK;
}
