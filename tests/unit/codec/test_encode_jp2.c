/* SPDX-License-Identifier: Apache-2.0
 * JPEG 2000 tiles: what OpenJPEG and our decoder make of them, and what the encoder does not take.
 */
#include <openjpeg.h>

#include "codec/jp2_markers.h"
#include "support/codec/encode_codestream.h"

static tz_tile_format make_format(uint32_t width, uint32_t height, uint16_t samples, uint16_t bits)
{
    return (tz_tile_format){.width = width,
                            .height = height,
                            .samples = samples,
                            .bits = bits,
                            .sample_format = 1,
                            .compression = 34712,
                            .photometric = samples == 3 || samples == 4 ? 2 : 1};
}

static const tz_encode_options lossless = {.lossless = true};

/* Slopes with a little noise, over all of the range. */
static uint8_t *make_pixels(const tz_tile_format *format)
{
    const size_t count = (size_t)format->width * format->height * format->samples;
    uint8_t *pixels = run_picture(format->width, format->height, format->samples);
    uint8_t *wide = run_alloc(count * 2);
    for (size_t i = 0; i < count; i++) {
        const uint16_t value = (uint16_t)(pixels[i] * 257 + i % 5);
        memcpy(wide + 2 * i, &value, sizeof value);
    }
    if (format->bits == 8)
        memcpy(wide, pixels, count);
    free(pixels);
    return wide;
}

/* ---------------------------------------------------------------------------------------------
 * OpenJPEG
 * ------------------------------------------------------------------------------------------ */

typedef struct source {
    const encoded *tile;
    size_t position;
} source;

static OPJ_SIZE_T source_read(void *buffer, OPJ_SIZE_T size, void *user)
{
    source *s = user;
    const size_t left = s->tile->size - s->position;
    if (left == 0)
        return (OPJ_SIZE_T)-1;
    size = size < left ? size : left;
    memcpy(buffer, s->tile->data + s->position, size);
    s->position += size;
    return size;
}

/* The same samples, component by component. */
static void check_against_openjpeg(const encoded *tile, const tz_tile_format *format, uint32_t rows,
                                   const uint8_t *pixels)
{
    source from = {tile, 0};
    opj_dparameters_t parameters;
    opj_image_t *image = NULL;
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_J2K);
    opj_stream_t *stream = opj_stream_create(1024, OPJ_TRUE);
    opj_set_default_decoder_parameters(&parameters);
    opj_stream_set_user_data(stream, &from, NULL);
    opj_stream_set_user_data_length(stream, tile->size);
    opj_stream_set_read_function(stream, source_read);
    assert_true(opj_setup_decoder(codec, &parameters));
    assert_true(opj_read_header(stream, codec, &image));
    assert_true(opj_decode(codec, stream, image));
    assert_int_equal(image->numcomps, format->samples);
    for (unsigned s = 0; s < format->samples; s++) {
        const opj_image_comp_t *component = &image->comps[s];
        assert_int_equal(component->w, format->width);
        assert_int_equal(component->h, rows);
        assert_int_equal(component->prec, format->bits);
        assert_int_equal(component->sgnd, format->sample_format == 2);
        for (size_t i = 0; i < (size_t)format->width * rows; i++) {
            uint16_t value = pixels[i * format->samples + s];
            if (format->bits == 16)
                memcpy(&value, pixels + (i * format->samples + s) * 2, 2);
            const uint16_t mask = format->bits == 16 ? 0xffff : 0xff;
            assert_int_equal((uint16_t)component->data[i] & mask, value);
        }
    }
    opj_image_destroy(image);
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
}

static size_t check_pixels(tz_tile_format format, tz_encode_options choice, uint32_t rows,
                           const uint8_t *pixels, double decibels)
{
    encode_run run;
    encode_open(&run, &tz_encoder_jp2, format, choice);
    assert_true(tz_encoder_jp2.lossy(&format, &choice) == !choice.lossless);
    encoded tile = encode_rows(&run, rows, pixels);
    uint8_t *back = encode_decoded(&run, rows, &tile);
    const size_t size = tz_tile_row_bytes(&format) * rows;
    check_against_openjpeg(&tile, &format, rows, back);
    if (choice.lossless)
        assert_memory_equal(back, pixels, size);
    else
        assert_true(encode_psnr(back, pixels, size) >= decibels);
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
    static const uint32_t sizes[][2] = {{1, 1}, {2, 3}, {15, 17}, {33, 1}, {1, 33}, {70, 64}};
    static const uint16_t samples[] = {1, 2, 3, 4, 6};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t s = 0; s < sizeof samples / sizeof samples[0]; s++) {
            for (uint16_t type = 0; type < 4; type++) {
                tz_tile_format format =
                    make_format(sizes[i][0], sizes[i][1], samples[s], type % 2 ? 16 : 8);
                format.sample_format = type < 2 ? 1 : 2;
                uint8_t *pixels = make_pixels(&format);
                check_pixels(format, lossless, format.height, pixels, 0);
                check_pixels(format, lossless, format.height > 4 ? format.height - 4 : 1, pixels,
                             0);
                free(pixels);
            }
        }
    }
}

/* OpenJPEG cuts at the end of a pass, so it is not exact. */
/* The standard wants a byte in a comment at least; nvJPEG2000 does not parse a stream with less. */
static void no_comment_is_empty(void **state)
{
    enum { COM = 0xFF64, SOT = 0xFF90, ROWS = 64 };
    (void)state;
    encode_run run;
    encode_open(&run, &tz_encoder_jp2, make_format(64, ROWS, 1, 8), lossless);
    uint8_t *pixels = make_pixels(&run.format);
    encoded tile = encode_rows(&run, ROWS, pixels);
    size_t at = 2;
    int marker = 0;
    while (marker != SOT) {
        marker = tile.data[at] << 8 | tile.data[at + 1];
        const int length = tile.data[at + 2] << 8 | tile.data[at + 3];
        assert_true(marker != COM || length >= 5);
        at += 2 + (size_t)length;
    }
    free(tile.data);
    free(pixels);
    encode_close(&run);
}

static void quality_is_about_a_signal_to_noise_ratio(void **state)
{
    (void)state;
    for (uint16_t samples = 1; samples <= 3; samples += 2) {
        const tz_tile_format format = make_format(128, 128, samples, 8);
        uint8_t *pixels = run_alloc((size_t)128 * 128 * samples);
        uint8_t *noise = encode_noise((size_t)128 * 128 * samples);
        for (size_t i = 0; i < (size_t)128 * 128 * samples; i++)
            pixels[i] = (uint8_t)(128 +
                                  100 * sin((double)(i / samples % 128) / 20) *
                                      cos((double)(i / samples / 128) / 30) +
                                  noise[i] % 16);
        size_t last = 0;
        for (uint32_t quality = 40; quality <= 100; quality += 20) {
            const tz_encode_options choice = {.quality = quality};
            const size_t size = check_pixels(format, choice, 128, pixels, 22 + quality / 4);
            assert_true(size > last);
            last = size;
        }
        assert_true(last < check_pixels(format, lossless, 128, pixels, 0) * 5 / 4);
        const size_t usual = check_pixels(format, (tz_encode_options){0}, 128, pixels, 42);
        assert_int_equal(usual,
                         check_pixels(format, (tz_encode_options){.quality = 75}, 128, pixels, 42));
        free(noise);
        free(pixels);
    }
}

/* Related colours take fewer bytes than bands that are not known to be colours. */
static void colours_of_rgb_are_decorrelated(void **state)
{
    (void)state;
    tz_tile_format format = make_format(128, 128, 3, 8);
    uint8_t *noise = encode_noise(128 * 128);
    uint8_t *pixels = run_alloc(128 * 128 * 3);
    for (size_t i = 0; i < 128 * 128 * 3; i++)
        pixels[i] = noise[i / 3];
    const size_t colours = check_pixels(format, lossless, 128, pixels, 0);
    format.photometric = 1;
    assert_true(colours < check_pixels(format, lossless, 128, pixels, 0) / 2);
    free(pixels);
    free(noise);
}

static void noise_stays_within_the_bound(void **state)
{
    (void)state;
    static const uint32_t widths[] = {1, 7, 64};
    uint8_t *noise = encode_noise(64 * 64 * 4 * 2);
    for (uint16_t samples = 1; samples <= 4; samples++) {
        for (uint16_t bits = 8; bits <= 16; bits += 8) {
            for (size_t i = 0; i < 3; i++) {
                const tz_tile_format format = make_format(widths[i], 64, samples, bits);
                check_pixels(format, lossless, 64, noise, 0);
                check_pixels(format, (tz_encode_options){.quality = 100}, 64, noise, 0);
            }
        }
    }
    free(noise);
}

static void what_jpeg_2000_does_not_take_is_named(void **state)
{
    (void)state;
    const tz_encoder *jp2 = &tz_encoder_jp2;
    tz_tile_format format = make_format(64, 64, 1, 32);
    encode_refuses(jp2, format, lossless, TZ_ERR_UNSUPPORTED, "8 and 16 bits");
    format.bits = 16;
    format.sample_format = 3;
    encode_refuses(jp2, format, lossless, TZ_ERR_UNSUPPORTED, "8 and 16 bits");
    encode_refuses(jp2, make_format(64, 64, 65, 8), lossless, TZ_ERR_UNSUPPORTED, "64 bands");
    format = make_format(64, 64, 3, 8);
    format.photometric = 6;
    encode_refuses(jp2, format, lossless, TZ_ERR_UNSUPPORTED, "not YCbCr");
    format = make_format(64, 64, 3, 8);
    encode_refuses(jp2, format, (tz_encode_options){.quality = 101}, TZ_ERR_ARG, "1 to 100");
    encode_refuses(jp2, format, ((tz_encode_options){.quality = 50, .lossless = true}), TZ_ERR_ARG,
                   "only when it is not lossless");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_and_type_comes_back),
        cmocka_unit_test(no_comment_is_empty),
        cmocka_unit_test(quality_is_about_a_signal_to_noise_ratio),
        cmocka_unit_test(colours_of_rgb_are_decorrelated),
        cmocka_unit_test(noise_stays_within_the_bound),
        cmocka_unit_test(what_jpeg_2000_does_not_take_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
