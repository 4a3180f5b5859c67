/* SPDX-License-Identifier: Apache-2.0
 * WebP: tiles made by libwebp itself, then broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <webp/decode.h>
#include <webp/encode.h>

#include "support/codec/codec_run.h"

typedef struct fixture {
    codec_run run;
    uint8_t *pixels;
    uint8_t *data;
    size_t size;
    tz_tile_format format;
} fixture;

static void begin(fixture *f, unsigned width, unsigned height, unsigned samples, bool lossless)
{
    int w = (int)width, h = (int)height, stride = (int)(width * samples);
    f->pixels = run_picture(width, height, samples);
    if (lossless && samples == 3)
        f->size = WebPEncodeLosslessRGB(f->pixels, w, h, stride, &f->data);
    else if (lossless)
        f->size = WebPEncodeLosslessRGBA(f->pixels, w, h, stride, &f->data);
    else if (samples == 3)
        f->size = WebPEncodeRGB(f->pixels, w, h, stride, 80, &f->data);
    else
        f->size = WebPEncodeRGBA(f->pixels, w, h, stride, 80, &f->data);
    assert_true(f->size > 0);
    f->format = (tz_tile_format){.width = width,
                                 .height = height,
                                 .samples = (uint16_t)samples,
                                 .bits = 8,
                                 .sample_format = 1,
                                 .compression = 50001,
                                 .photometric = 2};
    run_open(&f->run, &tz_decoder_webp);
}

static void end(fixture *f)
{
    run_close(&f->run);
    free(f->pixels);
    WebPFree(f->data);
}

static void check_round_trip(unsigned width, unsigned height, unsigned samples, bool lossless)
{
    fixture f;
    int w, h;
    begin(&f, width, height, samples, lossless);
    uint8_t *expected = samples == 3 ? WebPDecodeRGB(f.data, f.size, &w, &h)
                                     : WebPDecodeRGBA(f.data, f.size, &w, &h);
    uint8_t *out = run_decode(&f.run, &f.format, f.data, f.size);
    assert_memory_equal(out, expected, (size_t)width * height * samples);
    if (lossless && samples == 3)
        assert_memory_equal(out, f.pixels, (size_t)width * height * samples);
    bench_silent(&f.run.bench);
    free(out);
    WebPFree(expected);
    end(&f);
}

static void round_trips_give_libwebps_pixels(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{1, 1}, {15, 17}, {64, 64}, {33, 1}, {1, 50}, {100, 77}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned samples = 3; samples <= 4; samples++)
            for (int lossless = 0; lossless < 2; lossless++)
                check_round_trip(sizes[i][0], sizes[i][1], samples, lossless);
}

static void alpha_that_was_left_out_is_opaque(void **state)
{
    (void)state;
    for (int lossless = 0; lossless < 2; lossless++) {
        fixture f;
        begin(&f, 40, 30, 3, lossless);
        uint8_t *rgb = run_decode(&f.run, &f.format, f.data, f.size);
        f.format.samples = 4;
        uint8_t *rgba = run_decode(&f.run, &f.format, f.data, f.size);
        for (size_t i = 0; i < 40 * 30; i++) {
            assert_memory_equal(rgba + 4 * i, rgb + 3 * i, 3);
            assert_int_equal(rgba[4 * i + 3], 255);
        }
        free(rgb);
        free(rgba);
        end(&f);
    }
}

static void case_54_sizes_that_are_not_the_tiles(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{41, 30}, {39, 30}, {40, 31}, {40, 29}, {16384, 30}};
    fixture f;
    begin(&f, 40, 30, 3, true);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        f.format.width = sizes[i][0];
        f.format.height = sizes[i][1];
        run_refuses_saying(&f.run, &f.format, f.data, f.size, REFUSED_CODEC, "40 x 30");
    }
    end(&f);
}

static void case_54_alpha_in_a_tile_of_three_samples(void **state)
{
    (void)state;
    for (int lossless = 0; lossless < 2; lossless++) {
        fixture f;
        begin(&f, 40, 30, 4, lossless);
        f.format.samples = 3;
        run_refuses_saying(&f.run, &f.format, f.data, f.size, REFUSED_CODEC, "alpha");
        end(&f);
    }
}

static void tiles_that_webp_cannot_hold(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 40, 30, 3, true);
    f.format.samples = 1;
    run_refuses(&f.run, &f.format, f.data, f.size, REFUSED_UNSUPPORTED);
    f.format.samples = 5;
    run_refuses(&f.run, &f.format, f.data, f.size, REFUSED_UNSUPPORTED);
    f.format.samples = 3;
    f.format.bits = 16;
    run_refuses(&f.run, &f.format, f.data, f.size, REFUSED_UNSUPPORTED);
    end(&f);
}

static void case_54_animations(void **state)
{
    (void)state;
    static const uint8_t header[] = {'R', 'I', 'F', 'F', 36,  0,  0, 0, 'W', 'E', 'B',
                                     'P', 'V', 'P', '8', 'X', 10, 0, 0, 0,   2,   0,
                                     0,   0,   39,  0,   0,   29, 0, 0, 'A', 'N', 'I',
                                     'M', 6,   0,   0,   0,   0,  0, 0, 0,   0,   0};
    fixture f;
    begin(&f, 40, 30, 4, true);
    run_refuses_saying(&f.run, &f.format, header, sizeof header, REFUSED_CODEC, "animation");
    end(&f);
}

/* A few bytes that stand for the largest picture there is. */
static void case_54_lossless_bombs(void **state)
{
    (void)state;
    fixture f;
    uint8_t *black = calloc(4096u * 4096u, 3);
    assert_non_null(black);
    begin(&f, 1, 1, 3, true);
    WebPFree(f.data);
    f.size = WebPEncodeLosslessRGB(black, 4096, 4096, 4096 * 3, &f.data);
    assert_true(f.size > 0 && f.size < 20000);
    run_refuses(&f.run, &f.format, f.data, f.size, REFUSED_CODEC); /* a tile of 1 x 1 */
    f.format.width = f.format.height = 4096;
    f.run.bench.limits.max_codec_bytes = 16u << 20;
    run_refuses_saying(&f.run, &f.format, f.data, f.size, REFUSED_LIMIT, "max_codec_bytes");
    free(black);
    end(&f);
}

static void streams_cut_short_are_errors(void **state)
{
    (void)state;
    for (int lossless = 0; lossless < 2; lossless++) {
        fixture f;
        begin(&f, 40, 30, 3, lossless);
        for (size_t size = 0; size < f.size; size++)
            run_refuses(&f.run, &f.format, f.data, size, REFUSED_CODEC);
        end(&f);
    }
}

/* Without the RIFF header nothing says whether the stream is complete. */
static void bare_streams_are_errors(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 40, 30, 3, false);
    run_refuses_saying(&f.run, &f.format, f.data + 12, f.size - 12, REFUSED_CODEC, "RIFF");
    run_refuses_saying(&f.run, &f.format, f.data + 20, f.size - 20, REFUSED_CODEC, "RIFF");
    end(&f);
}

static void bytes_after_the_stream_do_not_matter(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 40, 30, 3, true);
    uint8_t *longer = run_alloc(f.size + 3);
    memcpy(longer, f.data, f.size);
    memcpy(longer + f.size, "abc", 3);
    uint8_t *out = run_decode(&f.run, &f.format, longer, f.size + 3);
    assert_memory_equal(out, f.pixels, 40 * 30 * 3);
    free(out);
    free(longer);
    end(&f);
}

static void damaged_bytes_never_show_what_the_buffer_held(void **state)
{
    (void)state;
    for (unsigned samples = 3; samples <= 4; samples++)
        for (int lossless = 0; lossless < 2; lossless++) {
            fixture f;
            begin(&f, 40, 30, samples, lossless);
            uint8_t *before = run_decode(&f.run, &f.format, f.data, f.size);
            run_damaged(&f.run, &f.format, f.data, f.size, 3000);
            uint8_t *after = run_decode(&f.run, &f.format, f.data, f.size);
            assert_memory_equal(before, after, 40u * 30 * samples);
            free(before);
            free(after);
            end(&f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips_give_libwebps_pixels),
        cmocka_unit_test(alpha_that_was_left_out_is_opaque),
        cmocka_unit_test(case_54_sizes_that_are_not_the_tiles),
        cmocka_unit_test(case_54_alpha_in_a_tile_of_three_samples),
        cmocka_unit_test(tiles_that_webp_cannot_hold),
        cmocka_unit_test(case_54_animations),
        cmocka_unit_test(case_54_lossless_bombs),
        cmocka_unit_test(streams_cut_short_are_errors),
        cmocka_unit_test(bare_streams_are_errors),
        cmocka_unit_test(bytes_after_the_stream_do_not_matter),
        cmocka_unit_test(damaged_bytes_never_show_what_the_buffer_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
