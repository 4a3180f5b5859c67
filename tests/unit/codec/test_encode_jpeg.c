/* SPDX-License-Identifier: Apache-2.0
 * JPEG tiles: what libjpeg and our decoder make of them, which tables they have, and what the
 * encoder does not take. */
#include "support/codec/encode_codestream.h"
#include "support/codec/jpeg_streams.h"

static tz_tile_format make_format(uint32_t width, uint32_t height, uint16_t samples)
{
    return (tz_tile_format){.width = width,
                            .height = height,
                            .samples = samples,
                            .bits = 8,
                            .sample_format = 1,
                            .compression = 7,
                            .photometric = samples == 4   ? 5
                                           : samples == 3 ? 2
                                                          : 1};
}

static tz_tile_format make_ycbcr(uint32_t width, uint32_t height, uint16_t across, uint16_t down)
{
    tz_tile_format format = make_format(width, height, 3);
    format.photometric = 6;
    format.subsampling[0] = across;
    format.subsampling[1] = down;
    return format;
}

static tz_encode_options with_tables(tz_jpeg_tables tables)
{
    return (tz_encode_options){.quality = 90, .jpeg_tables = tables};
}

/* A picture without edges, which coarse chroma can follow. */
static uint8_t *smooth_picture(size_t width, size_t height, size_t samples)
{
    uint8_t *pixels = run_alloc(width * height * samples);
    for (size_t i = 0; i < width * height * samples; i++) {
        const double x = (double)(i / samples % width), y = (double)(i / samples / width);
        pixels[i] = (uint8_t)(128 + 90 * sin(x / 23 + (double)(i % samples)) * cos(y / 31));
    }
    return pixels;
}

/* ---------------------------------------------------------------------------------------------
 * Pixels
 * ------------------------------------------------------------------------------------------ */

/* libjpeg decodes the same as we do, and that is near to what went in. */
static void check_pixels(tz_tile_format format, tz_encode_options choice, uint32_t rows,
                         double decibels)
{
    encode_run run;
    encode_open(&run, &tz_encoder_jpeg, format, choice);
    uint8_t *pixels = smooth_picture(format.width, rows, format.samples);
    encoded tile = encode_rows(&run, rows, pixels);
    uint8_t *back = encode_decoded(&run, rows, &tile);
    const recipe r = {.width = format.width,
                      .height = rows,
                      .components = format.samples,
                      .stored = format.photometric == 6 ? JCS_YCbCr : JCS_UNKNOWN};
    const stream s = {tile.data, tile.size, run.format.tables_size > 0 ? run.tables : NULL,
                      run.format.tables_size};
    const size_t size = (size_t)format.width * rows * format.samples;
    uint8_t *expected = reference(&r, &s);
    assert_memory_equal(back, expected, size);
    assert_true(encode_psnr(back, pixels, size) >= decibels);
    free(expected);
    free(back);
    free(tile.data);
    free(pixels);
    encode_close(&run);
}

static void bands_come_back(void **state)
{
    (void)state;
    static const uint32_t widths[] = {1, 15, 16, 17, 250};
    for (uint16_t samples = 1; samples <= 4; samples++) {
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
            const tz_tile_format format = make_format(widths[i], 40, samples);
            static const uint32_t rows[] = {40, 17, 8, 1};
            for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
                check_pixels(format, with_tables(TZ_JPEG_TABLES_QUANT), rows[k], 38);
        }
    }
}

static void every_sharing_of_tables_comes_back(void **state)
{
    (void)state;
    for (tz_jpeg_tables tables = TZ_JPEG_TABLES_DEFAULT; tables <= TZ_JPEG_TABLES_NONE; tables++) {
        check_pixels(make_format(64, 64, 1), with_tables(tables), 64, 38);
        check_pixels(make_format(64, 64, 4), with_tables(tables), 64, 38);
        check_pixels(make_ycbcr(64, 64, 2, 2), with_tables(tables), 64, 36);
    }
}

static void rgb_goes_through_ycbcr(void **state)
{
    (void)state;
    static const uint16_t factors[][2] = {{1, 1}, {2, 1}, {2, 2}};
    for (size_t i = 0; i < 3; i++) {
        for (uint32_t width = 1; width < 50; width += 16) {
            const tz_tile_format format = make_ycbcr(width, 48, factors[i][0], factors[i][1]);
            check_pixels(format, with_tables(TZ_JPEG_TABLES_QUANT), 48, 34);
            check_pixels(format, with_tables(TZ_JPEG_TABLES_QUANT), 33, 34);
        }
    }
}

/* ---------------------------------------------------------------------------------------------
 * Markers
 * ------------------------------------------------------------------------------------------ */

typedef struct marker_counts {
    unsigned quantization; /* tables, not markers */
    unsigned huffman;
    unsigned others; /* markers that TIFF has no use for */
} marker_counts;

static size_t huffman_size(const uint8_t *table)
{
    size_t size = 17;
    for (int i = 1; i <= 16; i++)
        size += table[i];
    return size;
}

/* The markers of a stream up to its scan or its end. */
static marker_counts count_markers(const uint8_t *data, size_t size)
{
    marker_counts counts = {0};
    assert_true(size > 4 && data[0] == 0xFF && data[1] == 0xD8);
    for (size_t at = 2; at + 4 <= size && data[at + 1] != 0xDA && data[at + 1] != 0xD9;) {
        const uint8_t marker = data[at + 1];
        const size_t end = at + 2 + (size_t)(data[at + 2] << 8 | data[at + 3]);
        assert_int_equal(data[at], 0xFF);
        assert_true(end <= size);
        if (marker == 0xDB)
            for (size_t i = at + 4; i < end; i += data[i] >> 4 ? 129 : 65)
                counts.quantization++;
        else if (marker == 0xC4)
            for (size_t i = at + 4; i < end; i += huffman_size(data + i))
                counts.huffman++;
        else if (marker != 0xC0 && marker != 0xC1)
            counts.others++;
        at = end;
    }
    return counts;
}

static void check_tables(tz_tile_format format, tz_jpeg_tables tables, unsigned sets)
{
    encode_run run;
    encode_open(&run, &tz_encoder_jpeg, format, with_tables(tables));
    uint8_t *pixels = smooth_picture(format.width, format.height, format.samples);
    encoded tile = encode_rows(&run, format.height, pixels);
    const bool quantization = tables == TZ_JPEG_TABLES_QUANT || tables == TZ_JPEG_TABLES_BOTH;
    const bool huffman = tables == TZ_JPEG_TABLES_HUFFMAN || tables == TZ_JPEG_TABLES_BOTH;
    marker_counts own = count_markers(tile.data, tile.size);
    assert_int_equal(own.others, 0);
    assert_int_equal(own.quantization, quantization ? 0 : sets);
    assert_int_equal(own.huffman, huffman ? 0 : 2 * sets);
    assert_true((run.format.tables_size > 0) == (quantization || huffman));
    if (run.format.tables_size > 0) {
        marker_counts shared = count_markers(run.tables, run.format.tables_size);
        assert_int_equal(shared.others, 0);
        assert_int_equal(shared.quantization, quantization ? sets : 0);
        assert_int_equal(shared.huffman, huffman ? 2 * sets : 0);
        assert_int_equal(run.tables[run.format.tables_size - 2], 0xFF);
        assert_int_equal(run.tables[run.format.tables_size - 1], 0xD9);
    }
    free(tile.data);
    free(pixels);
    encode_close(&run);
}

static void tables_are_where_the_choice_says(void **state)
{
    (void)state;
    for (tz_jpeg_tables tables = TZ_JPEG_TABLES_QUANT; tables <= TZ_JPEG_TABLES_NONE; tables++) {
        check_tables(make_format(32, 16, 1), tables, 1);
        check_tables(make_format(32, 16, 3), tables, 1);
        check_tables(make_format(32, 16, 4), tables, 1);
        check_tables(make_ycbcr(32, 16, 2, 2), tables, 2);
        check_tables(make_ycbcr(32, 16, 1, 1), tables, 2);
    }
}

static size_t size_of(tz_tile_format format, tz_encode_options choice)
{
    encode_run run;
    encode_open(&run, &tz_encoder_jpeg, format, choice);
    uint8_t *pixels = run_picture(format.width, format.height, format.samples);
    encoded tile = encode_rows(&run, format.height, pixels);
    free(tile.data);
    free(pixels);
    encode_close(&run);
    return tile.size;
}

static void quality_and_own_huffman_tables_show_in_the_size(void **state)
{
    (void)state;
    const tz_tile_format format = make_format(128, 128, 3);
    tz_encode_options choice = with_tables(TZ_JPEG_TABLES_BOTH);
    const size_t standard = size_of(format, choice);
    choice.quality = 30;
    assert_true(size_of(format, choice) < standard / 2);
    choice.quality = 0;
    const size_t usual = size_of(format, choice);
    choice.quality = 75;
    assert_int_equal(size_of(format, choice), usual);
    assert_true(size_of(format, with_tables(TZ_JPEG_TABLES_QUANT)) < standard);
}

/* ---------------------------------------------------------------------------------------------
 * Limits
 * ------------------------------------------------------------------------------------------ */

/* Encoding asserts that nothing goes beyond the bound. */
static void the_worst_pixels_stay_within_the_bound(void **state)
{
    (void)state;
    for (tz_jpeg_tables tables = TZ_JPEG_TABLES_QUANT; tables <= TZ_JPEG_TABLES_NONE; tables++) {
        for (int kind = 0; kind < 3; kind++) {
            const tz_tile_format format = make_format(64, 64, 3);
            encode_run run;
            encode_open(&run, &tz_encoder_jpeg, format,
                        (tz_encode_options){.quality = 100, .jpeg_tables = tables});
            uint8_t *pixels = encode_noise(64 * 64 * 3);
            for (size_t i = 0; kind > 0 && i < 64 * 64 * 3; i++)
                pixels[i] = (kind == 1 ? pixels[i] > 127 : (i / 3 + i / 192) % 2) ? 255 : 0;
            encoded tile = encode_rows(&run, 64, pixels);
            assert_true(tile.size < run.encoder->bound(&format, &run.choice) * 3 / 4);
            free(tile.data);
            free(pixels);
            encode_close(&run);
        }
    }
}

static void what_jpeg_does_not_take_is_named(void **state)
{
    (void)state;
    const tz_encode_options choice = {0};
    const tz_encoder *jpeg = &tz_encoder_jpeg;
    tz_tile_format format = make_format(64, 64, 1);
    format.bits = 16;
    encode_refuses(jpeg, format, choice, TZ_ERR_UNSUPPORTED, "JPEG takes uint8");
    format.bits = 8;
    format.sample_format = 2;
    encode_refuses(jpeg, format, choice, TZ_ERR_UNSUPPORTED, "JPEG takes uint8");
    encode_refuses(jpeg, make_format(64, 64, 5), choice, TZ_ERR_UNSUPPORTED, "1 to 4 bands");
    encode_refuses(jpeg, make_format(64, 12, 1), choice, TZ_ERR_UNSUPPORTED, "multiple of 8");
    encode_refuses(jpeg, make_ycbcr(64, 24, 2, 2), choice, TZ_ERR_UNSUPPORTED, "multiple of 16");
    encode_refuses(jpeg, make_ycbcr(64, 64, 1, 2), choice, TZ_ERR_UNSUPPORTED, "1 x 1, 2 x 1");
    encode_refuses(jpeg, make_ycbcr(64, 64, 4, 4), choice, TZ_ERR_UNSUPPORTED, "1 x 1, 2 x 1");
    encode_refuses(jpeg, make_ycbcr(64, 64, 0, 0), choice, TZ_ERR_UNSUPPORTED, "1 x 1, 2 x 1");
    encode_refuses(jpeg, make_format(65501, 8, 1), choice, TZ_ERR_UNSUPPORTED, "65,500 pixels");
    format = make_ycbcr(64, 64, 2, 2);
    format.samples = 1;
    encode_refuses(jpeg, format, choice, TZ_ERR_UNSUPPORTED, "takes 3 bands");
    format = make_format(64, 64, 1);
    format.photometric = 3;
    encode_refuses(jpeg, format, choice, TZ_ERR_UNSUPPORTED, "a palette");
}

static void choices_that_cannot_be_are_named(void **state)
{
    (void)state;
    const tz_tile_format format = make_format(64, 64, 1);
    const tz_encoder *jpeg = &tz_encoder_jpeg;
    tz_encode_options choice = {.quality = 101};
    encode_refuses(jpeg, format, choice, TZ_ERR_ARG, "quality is 1 to 100");
    choice = (tz_encode_options){.lossless = true};
    encode_refuses(jpeg, format, choice, TZ_ERR_ARG, "not lossless");
    choice = (tz_encode_options){.jpeg_tables = (tz_jpeg_tables)5};
    encode_refuses(jpeg, format, choice, TZ_ERR_ARG, "tables to share");
    assert_true(tz_encoder_jpeg.lossy(&format, &choice));
}

static void memory_may_run_out(void **state)
{
    (void)state;
    uint8_t *pixels = run_picture(256, 64, 4);
    for (tz_jpeg_tables tables = TZ_JPEG_TABLES_QUANT; tables <= TZ_JPEG_TABLES_NONE; tables++) {
        encode_without_memory(&tz_encoder_jpeg, make_format(256, 64, 4), with_tables(tables),
                              pixels);
        encode_without_memory(&tz_encoder_jpeg, make_ycbcr(256, 64, 2, 2), with_tables(tables),
                              pixels);
        encode_without_memory(&tz_encoder_jpeg, make_format(17, 8, 1), with_tables(tables), pixels);
    }
    free(pixels);
    pixels = run_picture(2048, 512, 3);
    encode_without_memory(&tz_encoder_jpeg, make_ycbcr(2048, 512, 2, 2),
                          with_tables(TZ_JPEG_TABLES_NONE), pixels);
    encode_without_memory(&tz_encoder_jpeg, make_format(2048, 512, 3),
                          with_tables(TZ_JPEG_TABLES_BOTH), pixels);
    free(pixels);
}

/* ---------------------------------------------------------------------------------------------
 * 12 bits
 * ------------------------------------------------------------------------------------------ */

#if TZ_JPEG_HAS_12_BITS
static unsigned sample_12(const uint8_t *row, size_t index)
{
    const unsigned pair = (unsigned)row[index * 12 / 8] << 8 | row[index * 12 / 8 + 1];
    return index % 2 ? pair & 4095 : pair >> 4;
}

static void samples_of_12_bits_come_back(void **state)
{
    (void)state;
    static const uint32_t widths[] = {1, 33, 64};
    for (size_t i = 0; i < 3; i++) {
        tz_tile_format format = make_format(widths[i], 16, 1);
        format.bits = 12;
        encode_run run;
        encode_open(&run, &tz_encoder_jpeg, format, with_tables(TZ_JPEG_TABLES_QUANT));
        const size_t row = tz_tile_row_bytes(&format);
        uint8_t *pixels = run_alloc(row * 16);
        memset(pixels, 0, row * 16);
        for (size_t k = 0; k < (size_t)widths[i] * 16; k++) {
            const size_t x = k % widths[i], bit = x * 12;
            const unsigned value = (unsigned)(2000 + x * 20 + k / widths[i] * 10);
            uint8_t *at = pixels + k / widths[i] * row + bit / 8;
            at[0] = (uint8_t)(bit % 8 ? at[0] | value >> 8 : value >> 4);
            at[1] = (uint8_t)(bit % 8 ? value : value << 4);
        }
        uint8_t *back = encode_round_trip(&run, 16, pixels);
        for (size_t k = 0; k < (size_t)widths[i] * 16; k++) {
            const size_t at = k / widths[i] * row;
            const int difference = (int)sample_12(back + at, k % widths[i]) -
                                   (int)sample_12(pixels + at, k % widths[i]);
            assert_true(abs(difference) < 64);
        }
        free(back);
        free(pixels);
        encode_close(&run);
    }
    tz_tile_format format = make_format(64, 16, 1);
    format.bits = 12;
    encode_refuses(&tz_encoder_jpeg, format, with_tables(TZ_JPEG_TABLES_BOTH), TZ_ERR_ARG,
                   "cannot share Huffman tables");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_come_back),
        cmocka_unit_test(every_sharing_of_tables_comes_back),
        cmocka_unit_test(rgb_goes_through_ycbcr),
        cmocka_unit_test(tables_are_where_the_choice_says),
        cmocka_unit_test(quality_and_own_huffman_tables_show_in_the_size),
        cmocka_unit_test(the_worst_pixels_stay_within_the_bound),
        cmocka_unit_test(what_jpeg_does_not_take_is_named),
        cmocka_unit_test(choices_that_cannot_be_are_named),
        cmocka_unit_test(memory_may_run_out),
#if TZ_JPEG_HAS_12_BITS
        cmocka_unit_test(samples_of_12_bits_come_back),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
