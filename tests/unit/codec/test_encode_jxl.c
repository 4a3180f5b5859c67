/* SPDX-License-Identifier: Apache-2.0
 * JPEG XL tiles: what libjxl and our decoder make of them, and what the encoder does not take. */
#include <jxl/decode.h>
#include <jxl/encode.h>

#include "support/codec/encode_codestream.h"

typedef struct sample_type {
    uint16_t bits;
    uint16_t format;
    JxlDataType jxl;
} sample_type;

static const sample_type types[3] = {
    {8, 1, JXL_TYPE_UINT8}, {16, 1, JXL_TYPE_UINT16}, {32, 3, JXL_TYPE_FLOAT}};
enum { FLOATS = 2, TYPES };

static tz_tile_format make_format(unsigned type, uint32_t width, uint32_t height, uint16_t samples)
{
    return (tz_tile_format){.width = width,
                            .height = height,
                            .samples = samples,
                            .bits = types[type].bits,
                            .sample_format = types[type].format,
                            .compression = 50002,
                            .photometric = samples == 3 || samples == 4 ? 2 : 1,
                            .alpha = samples == 2 || samples == 4};
}

static const tz_encode_options lossless = {.lossless = true};

/* Slopes with a little noise; floats of all signs. */
static uint8_t *make_pixels(const tz_tile_format *format)
{
    const size_t count = (size_t)format->width * format->height * format->samples;
    uint8_t *bytes = run_picture(format->width, format->height, format->samples);
    uint8_t *pixels = run_alloc(count * 4);
    for (size_t i = 0; i < count; i++) {
        const uint16_t wide = (uint16_t)(bytes[i] * 257 + i % 5);
        const float real = (float)bytes[i] * 12.25f - 300;
        if (format->bits == 8)
            pixels[i] = bytes[i];
        else if (format->bits == 32)
            memcpy(pixels + i * 4, &real, sizeof real);
        else
            memcpy(pixels + i * 2, &wide, sizeof wide);
    }
    free(bytes);
    return pixels;
}

/* ---------------------------------------------------------------------------------------------
 * libjxl
 * ------------------------------------------------------------------------------------------ */

/* The colours, and alpha that goes with them, are those that libjxl reads. */
static void check_against_libjxl(const encoded *tile, const tz_tile_format *format, uint32_t rows,
                                 JxlDataType type, const uint8_t *pixels)
{
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    JxlBasicInfo info;
    assert_int_equal(JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE),
                     JXL_DEC_SUCCESS);
    assert_int_equal(JxlDecoderSetInput(decoder, tile->data, tile->size), JXL_DEC_SUCCESS);
    assert_int_equal(JxlDecoderProcessInput(decoder), JXL_DEC_BASIC_INFO);
    assert_int_equal(JxlDecoderGetBasicInfo(decoder, &info), JXL_DEC_SUCCESS);
    assert_int_equal(info.xsize, format->width);
    assert_int_equal(info.ysize, rows);
    assert_int_equal(info.bits_per_sample, format->bits);
    assert_int_equal(info.num_color_channels + info.num_extra_channels, format->samples);
    const uint32_t together = info.num_color_channels + (info.alpha_bits > 0);
    const size_t count = (size_t)format->width * rows, size = format->bits / 8;
    const JxlPixelFormat as = {together, type, JXL_NATIVE_ENDIAN, 0};
    uint8_t *expected = run_alloc(count * together * size);
    assert_int_equal(JxlDecoderProcessInput(decoder), JXL_DEC_NEED_IMAGE_OUT_BUFFER);
    assert_int_equal(JxlDecoderSetImageOutBuffer(decoder, &as, expected, count * together * size),
                     JXL_DEC_SUCCESS);
    assert_int_equal(JxlDecoderProcessInput(decoder), JXL_DEC_FULL_IMAGE);
    for (size_t i = 0; i < count; i++)
        for (size_t s = 0; s < info.num_color_channels; s++)
            assert_memory_equal(pixels + (i * format->samples + s) * size,
                                expected + (i * together + s) * size, size);
    free(expected);
    JxlDecoderDestroy(decoder);
}

static size_t check_pixels(unsigned type, tz_tile_format format, tz_encode_options choice,
                           uint32_t rows, const uint8_t *pixels)
{
    encode_run run;
    encode_open(&run, &tz_encoder_jxl, format, choice);
    assert_true(tz_encoder_jxl.lossy(&format, &choice) == !choice.lossless);
    encoded tile = encode_rows(&run, rows, pixels);
    uint8_t *back = encode_decoded(&run, rows, &tile);
    check_against_libjxl(&tile, &format, rows, types[type].jxl, back);
    if (choice.lossless)
        assert_memory_equal(back, pixels, tz_tile_row_bytes(&format) * rows);
    else if (format.bits == 8)
        assert_true(encode_psnr(back, pixels, tz_tile_row_bytes(&format) * rows) > 32);
    free(back);
    free(tile.data);
    encode_close(&run);
    return tile.size;
}

/* ---------------------------------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------------------------------ */

static void every_size_and_type_comes_back(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {15, 17}, {33, 1}, {1, 33}, {64, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint16_t samples = 1; samples <= 6; samples++) {
            for (unsigned type = 0; type < TYPES; type++) {
                if (type == FLOATS && sizes[i][0] * sizes[i][1] < 100)
                    continue;
                const tz_tile_format format = make_format(type, sizes[i][0], sizes[i][1], samples);
                uint8_t *pixels = make_pixels(&format);
                check_pixels(type, format, lossless, format.height, pixels);
                check_pixels(type, format, lossless, format.height > 4 ? format.height - 4 : 1,
                             pixels);
                free(pixels);
            }
        }
    }
}

/* Colours under alpha 0, extra channels that are not alpha, and alpha after other channels. */
static void channels_keep_their_place(void **state)
{
    (void)state;
    for (uint16_t samples = 1; samples <= 6; samples++) {
        for (uint16_t photometric = 1; photometric <= 2; photometric++) {
            for (int alpha = 0; alpha < 2 && alpha < samples; alpha++) {
                tz_tile_format format = make_format(0, 50, 30, samples);
                format.photometric = photometric;
                format.alpha = alpha != 0;
                uint8_t *pixels = make_pixels(&format);
                for (size_t i = 0; alpha && i < 50 * 30; i++)
                    pixels[(i + 1) * samples - 1] = i % 3 ? 0 : 255;
                check_pixels(0, format, lossless, 30, pixels);
                free(pixels);
            }
        }
    }
}

static void floats_that_are_no_numbers_come_back(void **state)
{
    (void)state;
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-42f, 3e38f};
    const tz_tile_format format = make_format(FLOATS, 40, 40, 1);
    uint8_t *pixels = make_pixels(&format);
    memcpy(pixels + 400, odd, sizeof odd);
    check_pixels(FLOATS, format, lossless, 40, pixels);
    free(pixels);
}

/* libjxl does not get all of them right, but what it gets wrong is an error. */
static void tiny_tiles_of_floats_are_never_wrong(void **state)
{
    (void)state;
    for (uint32_t width = 1; width < 50; width += 3) {
        for (uint32_t height = 1; height < 4; height++) {
            const tz_tile_format format = make_format(FLOATS, width, height, 1);
            encode_run run;
            encode_open(&run, &tz_encoder_jxl, format, lossless);
            uint8_t *pixels = make_pixels(&format), *back;
            encoded tile;
            if (encode_once(&run, &format, pixels, &tile) == TZ_OK) {
                back = encode_decoded(&run, height, &tile);
                assert_memory_equal(back, pixels, tz_tile_bytes(&format));
                free(back);
            } else {
                assert_non_null(strstr(run.bench.err.message, "does not give back"));
                assert_int_equal(run.bench.err.tile, 7);
            }
            free(tile.data);
            free(pixels);
            encode_close(&run);
        }
    }
}

static void every_level_comes_back(void **state)
{
    (void)state;
    const tz_tile_format format = make_format(0, 64, 64, 3);
    uint8_t *pixels = make_pixels(&format);
    const int32_t highest = JxlEncoderVersion() < 12000 ? 7 : 9;
    for (int32_t level = TZ_EFFORT_FAST; level <= highest; level++) {
        tz_encode_options choice = lossless;
        choice.level = level;
        check_pixels(0, format, choice, 64, pixels);
    }
    if (highest < 9)
        encode_refuses(&tz_encoder_jxl, format, ((tz_encode_options){.level = 8, .lossless = true}),
                       TZ_ERR_ARG, "0.12 or later");
    free(pixels);
}

static void distance_shows_in_the_size(void **state)
{
    (void)state;
    uint8_t *pixels = run_alloc(128 * 128 * 4);
    uint8_t *noise = encode_noise(128 * 128 * 4);
    for (size_t i = 0; i < 128 * 128 * 4; i++)
        pixels[i] =
            (uint8_t)(120 +
                      100 * sin((double)(i / 4 % 128) / 20) * cos((double)(i / 4 / 128) / 30) +
                      noise[i] % 8);
    for (uint16_t samples = 1; samples <= 4; samples += 3) {
        const tz_tile_format format = make_format(0, 128, 128, samples);
        const size_t fine =
            check_pixels(0, format, (tz_encode_options){.distance = 0.5}, 128, pixels);
        const size_t usual = check_pixels(0, format, (tz_encode_options){0}, 128, pixels);
        const size_t coarse =
            check_pixels(0, format, (tz_encode_options){.distance = 3}, 128, pixels);
        assert_true(coarse < usual && usual < fine);
        assert_true(fine < check_pixels(0, format, lossless, 128, pixels));
    }
    const tz_tile_format wide = make_format(1, 64, 64, 1);
    check_pixels(1, wide, (tz_encode_options){0}, 64, pixels);
    free(noise);
    free(pixels);
}

static void noise_stays_within_the_bound(void **state)
{
    (void)state;
    uint8_t *noise = encode_noise(64 * 64 * 4 * 4);
    for (unsigned type = 0; type < TYPES; type++) {
        for (uint16_t samples = 1; samples <= 4; samples++) {
            for (uint32_t width = 2; width <= 64; width += 31)
                check_pixels(type, make_format(type, width, 64, samples), lossless, 64, noise);
        }
    }
    encode_run run;
    encode_open(&run, &tz_encoder_jxl, make_format(0, 64, 64, 4),
                (tz_encode_options){.distance = 0.01});
    encoded tile = encode_rows(&run, 64, noise);
    free(tile.data);
    encode_close(&run);
    free(noise);
}

static void what_jpeg_xl_does_not_take_is_named(void **state)
{
    (void)state;
    const tz_encoder *jxl = &tz_encoder_jxl;
    tz_tile_format format = make_format(0, 64, 64, 1);
    format.sample_format = 2;
    encode_refuses(jxl, format, lossless, TZ_ERR_UNSUPPORTED, "uint8, uint16 and float32");
    format = make_format(FLOATS, 64, 64, 1);
    format.bits = 64;
    encode_refuses(jxl, format, lossless, TZ_ERR_UNSUPPORTED, "uint8, uint16 and float32");
    format = make_format(FLOATS, 64, 64, 1);
    encode_refuses(jxl, format, (tz_encode_options){0}, TZ_ERR_UNSUPPORTED,
                   "floats only when it is lossless");
    encode_refuses(jxl, make_format(0, 64, 64, 257), lossless, TZ_ERR_UNSUPPORTED, "256 bands");
    format = make_format(0, 64, 64, 3);
    format.photometric = 6;
    encode_refuses(jxl, format, lossless, TZ_ERR_UNSUPPORTED, "not YCbCr");
}

static void choices_that_cannot_be_are_named(void **state)
{
    (void)state;
    const tz_encoder *jxl = &tz_encoder_jxl;
    const tz_tile_format format = make_format(0, 64, 64, 3);
    static const double distances[] = {-1, 0.001, 25.5, NAN};
    for (size_t i = 0; i < sizeof distances / sizeof distances[0]; i++)
        encode_refuses(jxl, format, (tz_encode_options){.distance = distances[i]}, TZ_ERR_ARG,
                       "0.01 to 25");
    encode_refuses(jxl, format, (tz_encode_options){.alpha_distance = 26}, TZ_ERR_ARG,
                   "0.01 to 25");
    encode_refuses(jxl, format, ((tz_encode_options){.distance = 1, .lossless = true}), TZ_ERR_ARG,
                   "only when it is not lossless");
    encode_refuses(jxl, format, ((tz_encode_options){.level = 10, .lossless = true}), TZ_ERR_ARG,
                   "levels are 1 to 9");
    encode_refuses(jxl, format, ((tz_encode_options){.level = -2, .lossless = true}), TZ_ERR_ARG,
                   "levels are 1 to 9");
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (uint16_t samples = 1; samples <= 5; samples++) {
        const tz_tile_format format = make_format(samples % 2 ? FLOATS : 0, 32, 32, samples);
        uint8_t *pixels = make_pixels(&format);
        encode_without_memory(&tz_encoder_jxl, format, lossless, pixels);
        free(pixels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_and_type_comes_back),
        cmocka_unit_test(channels_keep_their_place),
        cmocka_unit_test(floats_that_are_no_numbers_come_back),
        cmocka_unit_test(tiny_tiles_of_floats_are_never_wrong),
        cmocka_unit_test(every_level_comes_back),
        cmocka_unit_test(distance_shows_in_the_size),
        cmocka_unit_test(noise_stays_within_the_bound),
        cmocka_unit_test(what_jpeg_xl_does_not_take_is_named),
        cmocka_unit_test(choices_that_cannot_be_are_named),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
