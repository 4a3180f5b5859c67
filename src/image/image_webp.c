/* SPDX-License-Identifier: Apache-2.0
 * WebP, by the encoder of tiles. libwebp takes whole pictures, so all rows are collected first, as
 * RGB or RGBA: WebP has no grey. */
#include <string.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "image/image_encoder.h"

typedef struct webp_image {
    const tz_image_task *task;
    const tz_encoder *encoder;
    tz_tile_format format;
    tz_encode_options options;
    uint8_t *pixels; /* all rows, and slack */
    uint8_t *next;   /* row */
} webp_image;

static tz_tile_format webp_format(const tz_image_task *task)
{
    const bool has_alpha = task->channels % 2 == 0;
    return (tz_tile_format){.width = task->width,
                            .height = task->height,
                            .samples = has_alpha ? 4 : 3,
                            .bits = 8,
                            .sample_format = TZ_SAMPLE_FORMAT_UINT,
                            .compression = TZ_COMPRESSION_WEBP,
                            .photometric = TZ_PHOTOMETRIC_RGB,
                            .alpha = has_alpha};
}

static tz_encode_options webp_options(const tz_image_options *options)
{
    return (tz_encode_options){.quality = options->quality,
                               .lossless = options->lossless,
                               .webp_method = (uint8_t)options->effort};
}

static uint64_t webp_image_memory(const tz_image_task *task)
{
    const tz_encoder *encoder = tz_codec_find(TZ_COMPRESSION_WEBP)->encoder;
    const tz_tile_format format = webp_format(task);
    const tz_encode_options options = webp_options(task->options);
    return sizeof(webp_image) + tz_tile_bytes(&format) + TZ_CODEC_SLACK +
           encoder->bound(&format, &options) + encoder->memory(&format, &options);
}

static void webp_image_close(void *state)
{
    webp_image *w = state;
    tz_free(w->pixels);
    tz_free(w);
}

static tz_result webp_image_open(void **state, const tz_image_task *task, const tz_context *ctx)
{
    webp_image *w = tz_alloc_zeroed(1, sizeof *w);
    if (!w)
        return tz_fail_nomem(ctx, sizeof *w);
    w->task = task;
    w->format = webp_format(task);
    w->options = webp_options(task->options);
    tz_result result = tz_encoder_find(TZ_COMPRESSION_WEBP, ctx, &w->encoder);
    if (result == TZ_OK)
        result = tz_encoder_check(w->encoder, &w->format, &w->options, ctx);
    if (result == TZ_OK) {
        w->pixels = tz_alloc(tz_tile_bytes(&w->format) + TZ_CODEC_SLACK);
        if (!w->pixels)
            result = tz_fail_nomem(ctx, tz_tile_bytes(&w->format));
    }
    w->next = w->pixels;
    if (result == TZ_OK)
        *state = w;
    else
        webp_image_close(w);
    return result;
}

static tz_result webp_image_put_row(void *state, const uint8_t *row, const tz_context *ctx)
{
    webp_image *w = state;
    const uint32_t channels = w->task->channels;
    const size_t size = tz_tile_row_bytes(&w->format);
    (void)ctx; /* nothing fails */
    if (channels >= 3) {
        memcpy(w->next, row, size);
        w->next += size;
        return TZ_OK;
    }
    for (uint32_t x = 0; x < w->task->width; x++, row += channels, w->next += w->format.samples) {
        memset(w->next, row[0], 3);
        if (channels == 2)
            w->next[3] = row[1];
    }
    return TZ_OK;
}

static tz_result webp_image_finish(void *state, const tz_context *ctx)
{
    webp_image *w = state;
    const tz_codec_call call = {ctx, tz_no_location()};
    const size_t capacity = w->encoder->bound(&w->format, &w->options);
    size_t size = 0;
    uint8_t *out = tz_alloc(capacity);
    if (!out)
        return tz_fail_nomem(ctx, capacity);
    tz_result result =
        w->encoder->encode(NULL, &w->format, &w->options, w->pixels, out, &size, &call);
    if (result == TZ_OK)
        result = tz_image_put(w->task->to, &(tz_bytes){out, size}, 1, ctx);
    tz_free(out);
    return result;
}

const tz_image_encoder tz_image_encoder_webp = {
    .name = "WebP",
    .compression = TZ_COMPRESSION_WEBP,
    .max_side = 16383,
    .has_alpha = true,
    .has_quality = true,
    .has_lossless = true,
    .max_effort = 6,
    .memory = webp_image_memory,
    .open = webp_image_open,
    .put_row = webp_image_put_row,
    .finish = webp_image_finish,
    .close = webp_image_close,
};
