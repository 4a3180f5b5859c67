/* SPDX-License-Identifier: Apache-2.0
 * Pictures: the first bytes of the input choose type, size, bands, model and options, the rest are
 * samples and mask, again and again. What is accepted must render, a PNG of it must decode to the
 * same picture, its plan must cover its memory, and JPEG and WebP must be made or refused with a
 * message. */
#include <math.h>
#include <string.h>

#include "../tests/support/png_decode.h"
#include "base/mem.h"
#include "check.h"
#include "terrazzo/terrazzo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 12, MAX_SIDE = 32 };

typedef struct memory_use {
    int64_t now, peak;
} memory_use;

static void count_memory(void *user, size_t released, size_t acquired)
{
    memory_use *use = user;
    use->now += (int64_t)acquired - (int64_t)released;
    use->peak = use->now > use->peak ? use->now : use->peak;
}

static void *repeat(const uint8_t *data, size_t data_size, size_t size)
{
    uint8_t *out = malloc(size);
    check(out != NULL);
    for (size_t i = 0; i < size; i++)
        out[i] = data_size > 0 ? data[i % data_size] : 0;
    return out;
}

static void check_refusal(tz_result result, const tz_error *err)
{
    check(result != TZ_ERR_INTERNAL && result != TZ_ERR_NOMEM && err->result == result &&
          err->message[0] != '\0');
}

/* Encodes a PNG, and compares it with the rendered picture. */
static void check_png(const tz_buffer *pixels, const tz_buffer *mask,
                      const tz_image_options *options, const uint8_t *rgba)
{
    tz_memory file;
    memory_use use = {0};
    uint64_t planned;
    tz_error err;
    const tz_mem_hook hook = {.resized = count_memory, .user = &use};
    check(tz_plan_image(&planned, pixels, options, &err) == TZ_OK);
    tz_mem_set_hook(&hook);
    check(tz_image_encode(&file, pixels, mask, options, &err) == TZ_OK);
    tz_mem_set_hook(NULL);
    check((uint64_t)use.peak <= planned + ((uint64_t)1 << 18)); /* beside the plan: the file */
    png_image image = png_decode(file.data, file.size);
    check(image.width == pixels->width && image.height == pixels->height);
    for (size_t i = 0; i < (size_t)image.width * image.height; i++) {
        const uint8_t *from = image.pixels + i * image.channels;
        for (size_t c = 0; c < 3; c++)
            check(rgba[4 * i + c] == from[image.channels >= 3 ? c : 0]);
        check(rgba[4 * i + 3] == (image.channels % 2 == 0 ? from[image.channels - 1] : 255));
    }
    free(image.pixels);
    tz_memory_free(&file);
}

static void check_lossy(const tz_buffer *pixels, const tz_buffer *mask, tz_image_options *options,
                        uint8_t wish)
{
    tz_memory file = {NULL, 0};
    tz_error err = {.result = TZ_OK};
    options->format = wish % 2 == 0 ? TZ_IMAGE_FORMAT_JPEG : TZ_IMAGE_FORMAT_WEBP;
    options->quality = wish / 2 % 101;
    options->lossless = options->format == TZ_IMAGE_FORMAT_WEBP && wish >= 202;
    options->effort = 0;
    const tz_result result = tz_image_encode(&file, pixels, mask, options, &err);
    if (result != TZ_OK)
        check_refusal(result, &err);
    tz_memory_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    const uint8_t *rest = data + HEAD;
    const size_t rest_size = size - HEAD;
    static const uint8_t background[3] = {1, 128, 255};
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    tz_buffer pixels = {.struct_size = sizeof pixels,
                        .dtype = (tz_dtype)(data[0] % (TZ_DTYPE_COMPLEX_FLOAT64 + 1)),
                        .bands = data[1] % 6,
                        .height = data[2] % MAX_SIDE + 1,
                        .width = data[3] % MAX_SIDE + 1};
    const size_t count = (size_t)pixels.height * pixels.width;
    const uint32_t colors = pixels.bands <= 2 ? 1 : pixels.bands <= 4 ? 3 : 4;
    options.model = (tz_image_model)(data[4] % 6);
    options.stretch = (tz_choice)(data[5] % 3);
    options.bits = data[6] % 33;
    options.premultiplied = (data[7] & 1) != 0;
    options.effort = data[7] & 2 ? TZ_EFFORT_FAST : 0;
    options.background = data[7] & 4 ? background : NULL;
    options.color_map_size = data[7] & 8 ? data[8] + 1u : 0;
    pixels.data = repeat(rest, rest_size, count * 5 * 16 + 1);
    uint8_t *flags = repeat(rest + rest_size / 3, rest_size - rest_size / 3, count * 5);
    uint8_t *rgba = malloc(4 * count);
    uint16_t *map = repeat(rest, rest_size, 3 * 256 * sizeof *map);
    tz_image_range *ranges = repeat(rest, rest_size, TZ_IMAGE_MAX_COLORS * sizeof *ranges);
    check(rgba != NULL);
    options.color_map = options.color_map_size > 0 ? map : NULL;
    options.ranges = ranges;
    options.range_count = data[7] & 16 ? colors : 0;
    const tz_buffer flag_buffer = {.struct_size = sizeof flag_buffer,
                                   .data = flags,
                                   .dtype = TZ_DTYPE_UINT8,
                                   .bands = data[9] & 1 ? 1 : pixels.bands,
                                   .height = pixels.height,
                                   .width = pixels.width};
    const tz_buffer *mask = data[9] & 2 ? &flag_buffer : NULL;
    const tz_buffer to = {.struct_size = sizeof to,
                          .data = rgba,
                          .dtype = TZ_DTYPE_UINT8,
                          .bands = 4,
                          .height = pixels.height,
                          .width = pixels.width,
                          .band_stride = 1,
                          .row_stride = 4 * (int64_t)pixels.width,
                          .column_stride = 4};
    tz_error err = {.result = TZ_OK};
    const tz_result result = tz_image_render(&to, &pixels, mask, &options, &err);
    if (result == TZ_OK) {
        check_png(&pixels, mask, &options, rgba);
        check_lossy(&pixels, mask, &options, data[10]);
    } else {
        check_refusal(result, &err);
    }
    free(ranges);
    free(map);
    free(rgba);
    free(flags);
    free(pixels.data);
    return 0;
}
