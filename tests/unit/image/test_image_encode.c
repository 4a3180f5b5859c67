/* SPDX-License-Identifier: Apache-2.0
 * Pictures by the public functions: models of colour, transparency, palettes and backgrounds;
 * arguments that are refused; failures of memory, of sinks and by cancelling. */
#include <math.h>
#include <stdlib.h>

#include "support/alloc_hook.h"
#include "support/context.h"
#include "support/png_decode.h"

enum { WIDTH = 5, HEIGHT = 3, COUNT = WIDTH * HEIGHT };

static const char *const features[] = {
    [TZ_IMAGE_FORMAT_PNG] = NULL, [TZ_IMAGE_FORMAT_JPEG] = "jpeg", [TZ_IMAGE_FORMAT_WEBP] = "webp"};

static bool is_built(tz_image_format format)
{
    return !features[format] || tz_build_feature(features[format]);
}

static tz_buffer planes(void *data, tz_dtype dtype, uint32_t bands)
{
    return (tz_buffer){.struct_size = sizeof(tz_buffer),
                       .data = data,
                       .dtype = dtype,
                       .bands = bands,
                       .height = HEIGHT,
                       .width = WIDTH};
}

static png_image encode_png(const tz_buffer *pixels, const tz_buffer *mask,
                            const tz_image_options *options)
{
    tz_memory file;
    assert_int_equal(tz_image_encode(&file, pixels, mask, options, NULL), TZ_OK);
    const png_image image = png_decode(file.data, file.size);
    tz_memory_free(&file);
    return image;
}

static void assert_pixel(const png_image *image, size_t index, const uint8_t *expected)
{
    assert_memory_equal(image->pixels + index * image->channels, expected, image->channels);
}

/* ---- names ---- */

static void formats_have_names(void **state)
{
    (void)state;
    tz_image_format format = TZ_IMAGE_FORMAT_PNG;
    assert_string_equal(tz_image_format_name(TZ_IMAGE_FORMAT_PNG), "png");
    assert_string_equal(tz_image_format_name(TZ_IMAGE_FORMAT_JPEG), "jpeg");
    assert_string_equal(tz_image_format_name(TZ_IMAGE_FORMAT_WEBP), "webp");
    assert_string_equal(tz_image_format_name((tz_image_format)9), "unknown");
    assert_true(tz_image_format_from_name(&format, "WebP"));
    assert_int_equal(format, TZ_IMAGE_FORMAT_WEBP);
    assert_true(tz_image_format_from_name(&format, "JPG"));
    assert_int_equal(format, TZ_IMAGE_FORMAT_JPEG);
    assert_true(tz_image_format_from_name(&format, "png"));
    assert_int_equal(format, TZ_IMAGE_FORMAT_PNG);
    assert_false(tz_image_format_from_name(&format, "pngs"));
    assert_false(tz_image_format_from_name(&format, "pn"));
    assert_false(tz_image_format_from_name(&format, ""));
    assert_false(tz_image_format_from_name(&format, NULL));
}

/* ---- colours ---- */

static void the_number_of_bands_chooses_the_model(void **state)
{
    (void)state;
    uint8_t data[4 * COUNT];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 4 + 3);
    for (uint32_t bands = 1; bands <= 4; bands++) {
        const tz_buffer pixels = planes(data, TZ_DTYPE_UINT8, bands);
        tz_image_options options;
        tz_image_options_init(&options, sizeof options);
        options.stretch = TZ_CHOICE_NO;
        png_image image = encode_png(&pixels, NULL, &options);
        assert_int_equal(image.channels, bands);
        for (size_t i = 0; i < COUNT; i++) {
            const uint8_t expected[] = {data[i], data[COUNT + i], data[2 * COUNT + i],
                                        data[3 * COUNT + i]};
            assert_pixel(&image, i, expected);
        }
        free(image.pixels);
    }
}

static void models_of_colour(void **state)
{
    (void)state;
    uint8_t data[5 * COUNT];
    for (size_t band = 0; band < 5; band++)
        memset(data + band * COUNT, (int)(40 * band + 30), COUNT);
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    options.stretch = TZ_CHOICE_NO;
    const struct {
        tz_image_model model;
        uint32_t bands;
        uint8_t expected[4];
    } cases[] = {
        {TZ_IMAGE_MODEL_GREY, 1, {30}},
        {TZ_IMAGE_MODEL_INVERTED, 1, {225}},
        {TZ_IMAGE_MODEL_INVERTED, 2, {225, 70}},
        {TZ_IMAGE_MODEL_RGB, 3, {30, 70, 110}},
        {TZ_IMAGE_MODEL_YCBCR, 3, {5, 63, 0}},
        {TZ_IMAGE_MODEL_CMYK, 4, {93, 76, 60}}, /* light of each ink times 105 / 255 */
        {TZ_IMAGE_MODEL_CMYK, 5, {93, 76, 60, 190}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tz_buffer pixels = planes(data, TZ_DTYPE_UINT8, cases[i].bands);
        options.model = cases[i].model;
        png_image image = encode_png(&pixels, NULL, &options);
        assert_pixel(&image, 7, cases[i].expected);
        free(image.pixels);
    }
}

static void premultiplied_colours_are_divided(void **state)
{
    (void)state;
    uint8_t data[2 * COUNT];
    memset(data, 60, COUNT);
    memset(data + COUNT, 120, COUNT);
    data[1] = 200; /* more than alpha allows */
    data[COUNT + 2] = 0;
    const tz_buffer pixels = planes(data, TZ_DTYPE_UINT8, 2);
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    options.stretch = TZ_CHOICE_NO;
    options.premultiplied = true;
    png_image image = encode_png(&pixels, NULL, &options);
    assert_pixel(&image, 0, (const uint8_t[]){128, 120});
    assert_pixel(&image, 1, (const uint8_t[]){255, 120});
    assert_pixel(&image, 2, (const uint8_t[]){0, 0});
    free(image.pixels);
    options.stretch = TZ_CHOICE_YES; /* the range says what is white then */
    image = encode_png(&pixels, NULL, &options);
    assert_pixel(&image, 0, (const uint8_t[]){0, 120});
    free(image.pixels);
}

static void palettes_with_nodata(void **state)
{
    (void)state;
    /* red, then green, then blue, of four entries each; all are multiples of 256 */
    static const uint16_t map[12] = {0, 256, 512, 768, 0, 2560, 5120, 7680, 65280, 0, 0, 0};
    uint16_t data[COUNT] = {0, 1, 2, 3, 4, 60000};
    uint8_t flags[COUNT];
    memset(flags, 1, sizeof flags);
    flags[2] = 0;
    const tz_buffer pixels = planes(data, TZ_DTYPE_UINT16, 1),
                    mask = planes(flags, TZ_DTYPE_UINT8, 1);
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    options.color_map = map;
    options.color_map_size = 4;
    png_image image = encode_png(&pixels, &mask, &options);
    assert_int_equal(image.channels, 4);
    assert_pixel(&image, 0, (const uint8_t[]){0, 0, 255, 255});
    assert_pixel(&image, 1, (const uint8_t[]){1, 10, 0, 255});
    assert_pixel(&image, 2, (const uint8_t[]){0, 0, 0, 0});
    assert_pixel(&image, 3, (const uint8_t[]){3, 30, 0, 255});
    assert_pixel(&image, 4, (const uint8_t[]){0, 0, 0, 255}); /* an index without a colour */
    assert_pixel(&image, 5, (const uint8_t[]){0, 0, 0, 255});
    free(image.pixels);
    image = encode_png(&pixels, NULL, &options);
    assert_int_equal(image.channels, 3);
    free(image.pixels);
}

static void colour_maps_have_three_scales(void **state)
{
    (void)state;
    uint8_t rgb[6];
    tz_color_map_to_rgb(rgb, (const uint16_t[]){1, 255, 7, 8, 9, 10}, 2);
    assert_memory_equal(rgb, ((const uint8_t[]){1, 7, 9, 255, 8, 10}), 6);
    tz_color_map_to_rgb(rgb, (const uint16_t[]){256, 512, 0, 65280, 0, 0}, 2);
    assert_memory_equal(rgb, ((const uint8_t[]){1, 0, 0, 2, 255, 0}), 6);
    tz_color_map_to_rgb(rgb, (const uint16_t[]){65535, 514, 0, 257, 3, 0}, 2);
    assert_memory_equal(rgb, ((const uint8_t[]){255, 0, 0, 2, 1, 0}), 6);
}

/* ---- transparency ---- */

static void nan_and_masks_are_transparent(void **state)
{
    (void)state;
    float data[3 * COUNT];
    uint8_t flags[3 * COUNT];
    for (size_t i = 0; i < 3 * COUNT; i++)
        data[i] = (float)i;
    memset(flags, 255, sizeof flags);
    const tz_buffer pixels = planes(data, TZ_DTYPE_FLOAT32, 3);
    const tz_buffer each = planes(flags, TZ_DTYPE_UINT8, 3), one = planes(flags, TZ_DTYPE_UINT8, 1);
    png_image image = encode_png(&pixels, &each, NULL);
    assert_int_equal(image.channels, 3); /* nothing is transparent */
    free(image.pixels);
    data[COUNT + 4] = NAN;
    image = encode_png(&pixels, NULL, NULL);
    assert_int_equal(image.channels, 4);
    assert_pixel(&image, 4, (const uint8_t[]){0, 0, 0, 0});
    assert_int_equal(image.pixels[4 * 5 + 3], 255);
    free(image.pixels);
    flags[2 * COUNT + 6] = 0;
    image = encode_png(&pixels, &each, NULL);
    assert_int_equal(image.pixels[4 * 6 + 3], 0);
    free(image.pixels);
    image = encode_png(&pixels, &one, NULL);
    assert_int_equal(image.pixels[4 * 6 + 3], 255);
    free(image.pixels);
}

static void a_background_goes_under_the_picture(void **state)
{
    (void)state;
    static const uint8_t blue[3] = {0, 10, 200}, grey[3] = {100, 100, 100};
    uint8_t data[2 * COUNT];
    memset(data, 200, COUNT);
    memset(data + COUNT, 255, COUNT);
    data[COUNT] = 51; /* a fifth */
    data[COUNT + 1] = 0;
    const tz_buffer pixels = planes(data, TZ_DTYPE_UINT8, 2);
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    options.background = blue;
    png_image image = encode_png(&pixels, NULL, &options);
    assert_int_equal(image.channels, 3);
    assert_pixel(&image, 0, (const uint8_t[]){40, 48, 200});
    assert_pixel(&image, 1, blue);
    assert_pixel(&image, 2, (const uint8_t[]){200, 200, 200});
    free(image.pixels);
    options.background = grey;
    image = encode_png(&pixels, NULL, &options);
    assert_int_equal(image.channels, 1);
    assert_pixel(&image, 0, (const uint8_t[]){120});
    free(image.pixels);
    memset(data + COUNT, 255, COUNT); /* opaque: nothing shows through */
    options.background = blue;
    image = encode_png(&pixels, NULL, &options);
    assert_int_equal(image.channels, 1);
    free(image.pixels);
}

static void jpeg_refuses_transparent_pixels(void **state)
{
    (void)state;
    static const uint8_t white[3] = {255, 255, 255};
    uint8_t data[4 * COUNT];
    tz_memory file = {NULL, 0};
    tz_error err;
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    options.format = TZ_IMAGE_FORMAT_JPEG;
    memset(data, 255, sizeof data);
    const tz_buffer pixels = planes(data, TZ_DTYPE_UINT8, 4);
    if (!is_built(TZ_IMAGE_FORMAT_JPEG)) {
        assert_int_equal(tz_image_encode(&file, &pixels, NULL, &options, &err), TZ_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "libjpeg"));
        return;
    }
    assert_int_equal(tz_image_encode(&file, &pixels, NULL, &options, NULL), TZ_OK);
    assert_memory_equal(file.data, "\xff\xd8\xff\xe0\0\x10JFIF", 10);
    tz_memory_free(&file);
    data[3 * COUNT + 2] = 254;
    assert_int_equal(tz_image_encode(&file, &pixels, NULL, &options, &err), TZ_ERR_ARG);
    assert_int_equal(err.cause, TZ_CAUSE_ARG);
    assert_null(file.data);
    options.background = white;
    assert_int_equal(tz_image_encode(&file, &pixels, NULL, &options, NULL), TZ_OK);
    tz_memory_free(&file);
}

/* ---- layouts ---- */

static void strides_do_not_matter(void **state)
{
    (void)state;
    uint16_t data[3 * COUNT], turned[3 * COUNT];
    uint8_t flags[COUNT], turned_flags[2 * COUNT];
    for (size_t i = 0; i < 3 * COUNT; i++)
        data[i] = (uint16_t)(i * i * 7);
    for (size_t i = 0; i < COUNT; i++)
        flags[i] = i % 4 != 0;
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t x = 0; x < WIDTH; x++) {
            const size_t to = (HEIGHT - 1 - y) * WIDTH + x; /* the last row first */
            turned_flags[2 * to] = flags[y * WIDTH + x];
            turned_flags[2 * to + 1] = 77;
            for (size_t band = 0; band < 3; band++)
                turned[3 * to + band] = data[band * COUNT + y * WIDTH + x];
        }
    const tz_buffer plain = planes(data, TZ_DTYPE_UINT16, 3),
                    mask = planes(flags, TZ_DTYPE_UINT8, 1);
    tz_buffer other = planes(turned + 3 * (HEIGHT - 1) * WIDTH, TZ_DTYPE_UINT16, 3);
    other.band_stride = 2;
    other.column_stride = 6;
    other.row_stride = -6 * WIDTH;
    tz_buffer other_mask = planes(turned_flags + 2 * (HEIGHT - 1) * WIDTH, TZ_DTYPE_UINT8, 1);
    other_mask.column_stride = 2;
    other_mask.row_stride = -2 * WIDTH;
    tz_memory first, second;
    assert_int_equal(tz_image_encode(&first, &plain, &mask, NULL, NULL), TZ_OK);
    assert_int_equal(tz_image_encode(&second, &other, &other_mask, NULL, NULL), TZ_OK);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    tz_memory_free(&first);
    tz_memory_free(&second);
}

static void a_rendered_picture_is_the_encoded_one(void **state)
{
    (void)state;
    int16_t data[4 * COUNT];
    uint8_t rgba[4 * COUNT];
    for (size_t i = 0; i < 4 * COUNT; i++)
        data[i] = (int16_t)(i * 97 % 301 - 100);
    for (uint32_t bands = 1; bands <= 4; bands++) {
        const tz_buffer pixels = planes(data, TZ_DTYPE_INT16, bands);
        tz_buffer to = planes(rgba, TZ_DTYPE_UINT8, 4);
        to.band_stride = 1;
        to.column_stride = 4;
        to.row_stride = 4 * WIDTH;
        png_image image = encode_png(&pixels, NULL, NULL);
        memset(rgba, 7, sizeof rgba);
        assert_int_equal(tz_image_render(&to, &pixels, NULL, NULL, NULL), TZ_OK);
        for (size_t i = 0; i < COUNT; i++) {
            const uint8_t *from = image.pixels + i * image.channels;
            for (size_t c = 0; c < 3; c++)
                assert_int_equal(rgba[4 * i + c], from[image.channels >= 3 ? c : 0]);
            assert_int_equal(rgba[4 * i + 3],
                             image.channels % 2 == 0 ? from[image.channels - 1] : 255);
        }
        free(image.pixels);
    }
}

/* A range that was measured for one picture is that of another. */
static void ranges_of_the_caller_are_used(void **state)
{
    (void)state;
    static const tz_image_range range = {100, 355};
    float data[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        data[i] = (float)(90 + 10 * i);
    const tz_buffer pixels = planes(data, TZ_DTYPE_FLOAT32, 1);
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    options.ranges = &range;
    options.range_count = 1;
    png_image image = encode_png(&pixels, NULL, &options);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(image.pixels[i], i == 0 ? 0 : 10 * i - 10);
    free(image.pixels);
}

/* ---- arguments ---- */

typedef struct refusal {
    tz_image_options options;
    tz_buffer pixels;
    tz_buffer mask;
    bool has_mask;
} refusal;

static void check_refused(const refusal *r)
{
    tz_memory file = {NULL, 0};
    tz_error err = {.result = TZ_OK};
    const tz_buffer *mask = r->has_mask ? &r->mask : NULL;
    assert_int_equal(tz_image_encode(&file, &r->pixels, mask, &r->options, &err), TZ_ERR_ARG);
    assert_int_equal(err.result, TZ_ERR_ARG);
    assert_true(err.message[0] != '\0');
    assert_null(file.data);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    static uint8_t data[8 * COUNT];
    static const tz_image_range infinite = {0, INFINITY}, good[2] = {{0, 1}, {0, 1}};
    static const uint16_t map[3] = {0};
    const refusal fine = {.options = TZ_IMAGE_OPTIONS_INIT,
                          .pixels = planes(data, TZ_DTYPE_UINT8, 1),
                          .mask = planes(data, TZ_DTYPE_UINT8, 1)};
    tz_memory file;
    assert_int_equal(tz_image_encode(&file, &fine.pixels, &fine.mask, &fine.options, NULL), TZ_OK);
    tz_memory_free(&file);
#define REFUSED(member, value)                                                                     \
    do {                                                                                           \
        refusal r = fine;                                                                          \
        r.has_mask = true;                                                                         \
        r.member = value;                                                                          \
        check_refused(&r);                                                                         \
    } while (0)
    REFUSED(options.format, (tz_image_format)3);
    REFUSED(options.model, (tz_image_model)6);
    REFUSED(options.model, TZ_IMAGE_MODEL_RGB);
    REFUSED(options.stretch, (tz_choice)3);
    REFUSED(options.bits, 33);
    REFUSED(options.quality, 50); /* of a PNG */
    REFUSED(options.lossless, true);
    REFUSED(options.effort, 1);
    REFUSED(options.effort, -2);
    REFUSED(options.range_count, 1); /* without ranges */
    REFUSED(options.color_map, map); /* without a size */
    REFUSED(pixels.data, NULL);
    REFUSED(pixels.memory, TZ_MEMORY_KIND_CUDA);
    REFUSED(pixels.memory, TZ_MEMORY_KIND_DEVICE);
    REFUSED(pixels.memory, (tz_memory_kind)4);
    REFUSED(pixels.struct_size, 1);
    REFUSED(pixels.dtype, TZ_DTYPE_NONE);
    REFUSED(pixels.dtype, TZ_DTYPE_COMPLEX_FLOAT32);
    REFUSED(pixels.bands, 0);
    REFUSED(pixels.bands, 5);
    REFUSED(pixels.width, 0);
    REFUSED(pixels.height, 0);
    REFUSED(mask.data, NULL);
    REFUSED(mask.memory, TZ_MEMORY_KIND_OPENCL);
    REFUSED(mask.dtype, TZ_DTYPE_INT8);
    REFUSED(mask.bands, 2);
    REFUSED(mask.width, WIDTH - 1);
    REFUSED(mask.height, HEIGHT + 1);
    refusal r = fine;
    r.options.range_count = 1;
    r.options.ranges = &infinite;
    check_refused(&r);
    r.options.range_count = 2; /* of one band */
    r.options.ranges = good;
    check_refused(&r);
    assert_int_equal(tz_image_encode(NULL, &fine.pixels, NULL, NULL, NULL), TZ_ERR_ARG);
    assert_int_equal(tz_image_encode(&file, NULL, NULL, NULL, NULL), TZ_ERR_ARG);
    assert_int_equal(tz_image_write(NULL, &fine.pixels, NULL, NULL, NULL), TZ_ERR_ARG);
    assert_int_equal(tz_image_render(NULL, &fine.pixels, NULL, NULL, NULL), TZ_ERR_ARG);
    assert_int_equal(tz_image_render(&fine.pixels, &fine.pixels, NULL, NULL, NULL), TZ_ERR_ARG);
    assert_int_equal(tz_image_measure(NULL, NULL, &fine.pixels, NULL, NULL, NULL), TZ_ERR_ARG);
    assert_int_equal(tz_plan_image(NULL, &fine.pixels, NULL, NULL), TZ_ERR_ARG);
}

static void formats_have_a_greatest_size(void **state)
{
    (void)state;
    static const uint32_t sides[] = {INT32_MAX, 65500, 16383};
    for (tz_image_format format = TZ_IMAGE_FORMAT_PNG; format <= TZ_IMAGE_FORMAT_WEBP; format++) {
        tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
        uint64_t bytes = 0;
        tz_error err;
        options.format = format;
        tz_buffer pixels = {.struct_size = sizeof pixels,
                            .dtype = TZ_DTYPE_UINT8,
                            .bands = 1,
                            .height = 1,
                            .width = sides[format]};
        const tz_result built = is_built(format) ? TZ_OK : TZ_ERR_UNSUPPORTED;
        assert_int_equal(tz_plan_image(&bytes, &pixels, &options, &err), built);
        if (built != TZ_OK)
            continue;
        assert_true(bytes > sides[format]);
        pixels.width++;
        assert_int_equal(tz_plan_image(&bytes, &pixels, &options, &err), TZ_ERR_LIMIT);
        assert_int_equal(err.expected, sides[format]);
        assert_int_equal(err.found, sides[format] + 1u);
        pixels.height = pixels.width;
        pixels.width = 1;
        assert_int_equal(tz_plan_image(&bytes, &pixels, &options, &err), TZ_ERR_LIMIT);
    }
}

/* ---- failures ---- */

static uint8_t *make_picture(uint32_t side)
{
    uint8_t *data = malloc((size_t)3 * side * side);
    assert_non_null(data);
    for (size_t i = 0; i < (size_t)3 * side * side; i++)
        data[i] = (uint8_t)(i * i >> 3 ^ i);
    return data;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum { SIDE = 40 };
    static const uint16_t map[3 * 256] = {0};
    uint8_t *data = make_picture(SIDE);
    for (unsigned which = 0; which < 5; which++) {
        const tz_image_format format = (tz_image_format)(which % 3);
        if (!is_built(format))
            continue;
        tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
        options.format = format;
        options.stretch = which == 4 ? TZ_CHOICE_AUTO : TZ_CHOICE_YES;
        options.color_map = which >= 3 ? map : NULL;
        options.color_map_size = which >= 3 ? 256 : 0;
        const tz_buffer pixels = {.struct_size = sizeof pixels,
                                  .data = data,
                                  .dtype = TZ_DTYPE_UINT8,
                                  .bands = which >= 3 ? 1 : 3,
                                  .height = SIDE,
                                  .width = SIDE};
        for (uint64_t n = 1;; n++) {
            tz_memory file = {NULL, 0};
            tz_error err;
            alloc_hook_install();
            alloc_hook_fail_at(n, false);
            const tz_result result = tz_image_encode(&file, &pixels, NULL, &options, &err);
            const alloc_stats stats = alloc_hook_stats();
            tz_memory_free(&file);
            assert_int_equal(alloc_hook_stats().live_bytes, 0);
            alloc_hook_remove();
            if (stats.failures == 0) {
                assert_int_equal(result, TZ_OK);
                assert_true(n > 4);
                break;
            }
            /* commit returns memory that it could not make smaller */
            if (result == TZ_OK)
                continue;
            assert_int_equal(result, TZ_ERR_NOMEM);
            assert_int_equal(err.cause, TZ_CAUSE_NOMEM);
        }
    }
    free(data);
}

typedef struct failing_sink {
    tz_sink base;
    int left; /* writes that succeed */
    uint64_t next;
} failing_sink;

static tz_result write_or_fail(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                               tz_error *err)
{
    failing_sink *s = (failing_sink *)sink;
    assert_true(offset == s->next);
    for (size_t i = 0; i < count; i++) {
        assert_true(pieces[i].size > 0);
        s->next += pieces[i].size;
    }
    if (s->left-- > 0)
        return TZ_OK;
    return tz_error_set(err, TZ_ERR_IO, TZ_CAUSE_IO, TZ_NO_VALUE, "the disk is full");
}

static void every_write_may_fail(void **state)
{
    (void)state;
    enum { SIDE = 300 }; /* several buffers of 64 KiB */
    uint8_t *data = make_picture(SIDE);
    const tz_buffer pixels = {.struct_size = sizeof pixels,
                              .data = data,
                              .dtype = TZ_DTYPE_UINT8,
                              .bands = 3,
                              .height = SIDE,
                              .width = SIDE};
    for (tz_image_format format = TZ_IMAGE_FORMAT_PNG; format <= TZ_IMAGE_FORMAT_WEBP; format++) {
        tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
        options.format = format;
        options.quality = format == TZ_IMAGE_FORMAT_PNG ? 0 : 100;
        tz_result result = is_built(format) ? TZ_ERR_IO : TZ_OK;
        int writes = 0;
        for (; result != TZ_OK; writes++) {
            failing_sink sink = {.base = {.struct_size = sizeof(tz_sink), .write = write_or_fail},
                                 .left = writes};
            tz_error err;
            result = tz_image_write(&sink.base, &pixels, NULL, &options, &err);
            if (result == TZ_OK)
                break;
            assert_int_equal(result, TZ_ERR_IO);
            assert_non_null(strstr(err.message, "the disk is full"));
        }
        if (is_built(format))
            assert_true(writes > (format == TZ_IMAGE_FORMAT_WEBP ? 0 : 2));
    }
    free(data);
}

static bool stop_at_half(void *user, uint64_t done, uint64_t total)
{
    *(uint64_t *)user = done;
    return 2 * done < total;
}

static void progress_may_cancel(void **state)
{
    (void)state;
    enum { SIDE = 2000 };
    uint8_t *data = calloc(SIDE, SIDE);
    uint64_t done = 0;
    tz_memory file = {NULL, 0};
    tz_error err;
    tz_image_options options = TZ_IMAGE_OPTIONS_INIT;
    const tz_buffer pixels = {.struct_size = sizeof pixels,
                              .data = data,
                              .dtype = TZ_DTYPE_UINT8,
                              .bands = 1,
                              .height = SIDE,
                              .width = SIDE};
    assert_non_null(data);
    options.progress = (tz_progress){stop_at_half, &done};
    assert_int_equal(tz_image_encode(&file, &pixels, NULL, &options, &err), TZ_ERR_CANCELLED);
    assert_true(done >= SIDE / 2 && done < SIDE);
    assert_null(file.data);
    free(data);
}

static void newer_options_are_taken(void **state)
{
    (void)state;
    struct {
        tz_image_options options;
        uint64_t later;
    } newer = {.options = {.struct_size = sizeof newer}};
    uint8_t data[COUNT] = {0};
    const tz_buffer pixels = planes(data, TZ_DTYPE_UINT8, 1);
    tz_memory file;
    tz_error err;
    assert_int_equal(tz_image_encode(&file, &pixels, NULL, &newer.options, &err), TZ_OK);
    tz_memory_free(&file);
    newer.later = 1;
    assert_int_equal(tz_image_encode(&file, &pixels, NULL, &newer.options, &err), TZ_ERR_ARG);
    newer.options.struct_size = offsetof(tz_image_options, model);
    assert_int_equal(tz_image_encode(&file, &pixels, NULL, &newer.options, &err), TZ_OK);
    tz_memory_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_have_names),
        cmocka_unit_test(the_number_of_bands_chooses_the_model),
        cmocka_unit_test(models_of_colour),
        cmocka_unit_test(premultiplied_colours_are_divided),
        cmocka_unit_test(palettes_with_nodata),
        cmocka_unit_test(colour_maps_have_three_scales),
        cmocka_unit_test(nan_and_masks_are_transparent),
        cmocka_unit_test(a_background_goes_under_the_picture),
        cmocka_unit_test(jpeg_refuses_transparent_pixels),
        cmocka_unit_test(strides_do_not_matter),
        cmocka_unit_test(a_rendered_picture_is_the_encoded_one),
        cmocka_unit_test(ranges_of_the_caller_are_used),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(formats_have_a_greatest_size),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_write_may_fail),
        cmocka_unit_test(progress_may_cancel),
        cmocka_unit_test(newer_options_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
