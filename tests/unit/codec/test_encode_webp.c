/* SPDX-License-Identifier: Apache-2.0
 * WebP tiles: what libwebp and our decoder make of them, and what the encoder does not take. */
#include <webp/decode.h>

#include "support/codec/encode_codestream.h"

static tz_tile_format make_format(uint32_t width, uint32_t height, uint16_t samples)
{
    return (tz_tile_format){.width = width,
                            .height = height,
                            .samples = samples,
                            .bits = 8,
                            .sample_format = 1,
                            .compression = 50001,
                            .photometric = 2};
}

/* libwebp's simplest function gives the same as we do. */
static void check_against_libwebp(const encoded *tile, const tz_tile_format *format, uint32_t rows,
                                  const uint8_t *pixels)
{
    int width, height;
    uint8_t *expected = format->samples == 4
                            ? WebPDecodeRGBA(tile->data, tile->size, &width, &height)
                            : WebPDecodeRGB(tile->data, tile->size, &width, &height);
    assert_non_null(expected);
    assert_int_equal(width, format->width);
    assert_int_equal(height, rows);
    assert_memory_equal(pixels, expected, (size_t)format->width * rows * format->samples);
    WebPFree(expected);
}

static void check_pixels(tz_tile_format format, tz_encode_options choice, uint32_t rows,
                         const uint8_t *pixels, double decibels)
{
    encode_run run;
    encode_open(&run, &tz_encoder_webp, format, choice);
    assert_true(tz_encoder_webp.lossy(&format, &choice) == !choice.lossless);
    encoded tile = encode_rows(&run, rows, pixels);
    uint8_t *back = encode_decoded(&run, rows, &tile);
    const size_t size = (size_t)format.width * rows * format.samples;
    check_against_libwebp(&tile, &format, rows, back);
    if (choice.lossless)
        assert_memory_equal(back, pixels, size);
    else
        assert_true(encode_psnr(back, pixels, size) >= decibels);
    free(back);
    free(tile.data);
    encode_close(&run);
}

static void every_size_comes_back(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {15, 17}, {17, 1}, {1, 33}, {64, 64}, {130, 70}};
    for (uint16_t samples = 3; samples <= 4; samples++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            const tz_tile_format format = make_format(sizes[i][0], sizes[i][1], samples);
            uint8_t *pixels = run_picture(format.width, format.height, samples);
            check_pixels(format, (tz_encode_options){.lossless = true}, format.height, pixels, 0);
            check_pixels(format, (tz_encode_options){.lossless = true},
                         format.height > 4 ? format.height - 4 : 1, pixels, 0);
            check_pixels(format, (tz_encode_options){.quality = 95}, format.height, pixels, 18);
            free(pixels);
        }
    }
}

static void lossy_codestreams_are_near(void **state)
{
    (void)state;
    uint8_t *pixels = run_alloc(256 * 256 * 4);
    for (size_t i = 0; i < 256 * 256 * 4; i++)
        pixels[i] = (uint8_t)(128 + 100 * sin((double)(i / 4 % 256) / 40 + (double)(i % 4)) *
                                        cos((double)(i / 1024) / 50));
    check_pixels(make_format(256, 256, 4), (tz_encode_options){0}, 256, pixels, 38);
    check_pixels(make_format(256, 256, 4), (tz_encode_options){.quality = 100}, 256, pixels, 44);
    free(pixels);
}

/* An exact picture has its colours where nobody sees them, too. */
static void colours_under_transparent_pixels_stay(void **state)
{
    (void)state;
    uint8_t *pixels = run_picture(64, 64, 4);
    for (size_t i = 3; i < 64 * 64 * 4; i += 4)
        pixels[i] = i % 3 ? 0 : 255;
    check_pixels(make_format(64, 64, 4), (tz_encode_options){.lossless = true}, 64, pixels, 0);
    for (size_t i = 3; i < 64 * 64 * 4; i += 4)
        pixels[i] = 255;
    check_pixels(make_format(64, 64, 4), (tz_encode_options){.lossless = true}, 64, pixels, 0);
    free(pixels);
}

/* A fourth band that is not alpha hides nothing where it is 0. */
static void colours_beside_a_fourth_band_stay(void **state)
{
    (void)state;
    uint8_t *pixels = run_alloc(256 * 256 * 4);
    for (size_t i = 0; i < 256 * 256 * 4; i++)
        pixels[i] = i % 4 == 3 ? 0 : (uint8_t)(128 + 100 * sin((double)(i / 4 % 256) / 40));
    tz_tile_format format = make_format(256, 256, 4);
    format.alpha = false;
    check_pixels(format, (tz_encode_options){0}, 256, pixels, 36);
    free(pixels);
}

static void noise_stays_within_the_bound(void **state)
{
    (void)state;
    uint8_t *pixels = encode_noise(128 * 128 * 4);
    for (uint16_t samples = 3; samples <= 4; samples++) {
        check_pixels(make_format(128, 128, samples), (tz_encode_options){.lossless = true}, 128,
                     pixels, 0);
        check_pixels(make_format(128, 128, samples), (tz_encode_options){.quality = 100}, 128,
                     pixels, 0);
        check_pixels(make_format(1, 1, samples), (tz_encode_options){.quality = 100}, 1, pixels, 0);
    }
    free(pixels);
}

static void what_webp_does_not_take_is_named(void **state)
{
    (void)state;
    const tz_encode_options choice = {0};
    const tz_encoder *webp = &tz_encoder_webp;
    tz_tile_format format = make_format(64, 64, 1);
    encode_refuses(webp, format, choice, TZ_ERR_UNSUPPORTED,
                   "3 or 4 bands of uint8, interleaved by pixel; tiles here are 64 x 64 pixels of "
                   "1 x uint8");
    encode_refuses(webp, make_format(64, 64, 5), choice, TZ_ERR_UNSUPPORTED, "3 or 4 bands");
    format = make_format(64, 64, 3);
    format.bits = 16;
    encode_refuses(webp, format, choice, TZ_ERR_UNSUPPORTED, "3 or 4 bands of uint8");
    format = make_format(64, 64, 3);
    format.sample_format = 2;
    encode_refuses(webp, format, choice, TZ_ERR_UNSUPPORTED, "3 or 4 bands of uint8");
    format = make_format(64, 64, 3);
    format.photometric = 6;
    encode_refuses(webp, format, choice, TZ_ERR_UNSUPPORTED, "not YCbCr");
    encode_refuses(webp, make_format(16384, 8, 3), choice, TZ_ERR_UNSUPPORTED, "16,383 pixels");
    encode_refuses(webp, make_format(8, 16384, 3), choice, TZ_ERR_UNSUPPORTED, "16,383 pixels");
    encode_refuses(webp, make_format(8, 8, 3), (tz_encode_options){.quality = 101}, TZ_ERR_ARG,
                   "quality is 1 to 100");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_comes_back),
        cmocka_unit_test(lossy_codestreams_are_near),
        cmocka_unit_test(colours_under_transparent_pixels_stay),
        cmocka_unit_test(colours_beside_a_fourth_band_stay),
        cmocka_unit_test(noise_stays_within_the_bound),
        cmocka_unit_test(what_webp_does_not_take_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
