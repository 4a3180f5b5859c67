/* SPDX-License-Identifier: Apache-2.0
 * JPEG 2000: tiles made by OpenJPEG itself, then broken. */
#include "support/codec/jp2_streams.h"

/* ---------------------------------------------------------------------------------------------
 * Streams that are in order
 * ------------------------------------------------------------------------------------------ */

static void lossless_samples_come_back(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{1, 1}, {15, 17}, {64, 64}, {33, 1}, {1, 40}, {100, 77}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (unsigned components = 1; components <= 5; components++)
            check_round_trip((recipe){.width = sizes[i][0],
                                      .height = sizes[i][1],
                                      .components = components,
                                      .resolutions = 1});
}

static void every_type_comes_back(void **state)
{
    (void)state;
    check_round_trip((recipe){.width = 50, .height = 40, .components = 1, .bits = 8});
    check_round_trip((recipe){.width = 50, .height = 40, .components = 2, .bits = 16});
    check_round_trip(
        (recipe){.width = 50, .height = 40, .components = 1, .bits = 16, .is_signed = true});
    check_round_trip(
        (recipe){.width = 50, .height = 40, .components = 3, .bits = 8, .is_signed = true});
}

static void boxes_tiles_layers_and_precincts_are_read(void **state)
{
    (void)state;
    check_round_trip((recipe){.width = 60, .height = 50, .components = 3, .boxes = true});
    check_round_trip(
        (recipe){.width = 60, .height = 50, .components = 3, .tile = 16, .resolutions = 2});
    check_round_trip((recipe){.width = 60, .height = 50, .components = 3, .layers = 3});
    check_round_trip((recipe){.width = 60, .height = 50, .components = 1, .precinct = 32});
    check_round_trip((recipe){.width = 60, .height = 50, .components = 3, .transform = true});
    check_round_trip((recipe){.width = 60, .height = 50, .components = 3, .lossy = true});
}

static void fewer_bits_than_the_sample_are_a_warning(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 20, .height = 20, .components = 1, .bits = 12});
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "12 bits");
    for (unsigned y = 0; y < 20; y++)
        for (unsigned x = 0; x < 20; x++)
            assert_int_equal(get_sample(&f.format, out, 0, x, y), sample_of(&f.recipe, 0, x, y));
    free(out);
    end(&f);
}

static uint8_t byte_of(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* Chroma at full and at half resolution; 33003 is YCbCr whatever else is said, 33005 is not. */
static void aperio_ycbcr_becomes_rgb(void **state)
{
    (void)state;
    for (unsigned d = 0; d < 4; d++) {
        unsigned dx = 1 + d % 2, dy = 1 + d / 2;
        fixture f;
        begin(&f, (recipe){.width = 41, .height = 31, .components = 3, .dx = dx, .dy = dy});
        f.format.compression = 33003;
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        for (unsigned y = 0; y < 31; y++)
            for (unsigned x = 0; x < 41; x++) {
                int luma = sample_of(&f.recipe, 0, x, y);
                int cb = sample_of(&f.recipe, 1, x / dx, y / dy) - 128;
                int cr = sample_of(&f.recipe, 2, x / dx, y / dy) - 128;
                const uint8_t *pixel = out + (y * 41 + x) * 3;
                assert_int_equal(pixel[0], byte_of(luma + (int)(1.402 * cr)));
                assert_int_equal(pixel[1], byte_of(luma - (int)(0.344 * cb + 0.714 * cr)));
                assert_int_equal(pixel[2], byte_of(luma + (int)(1.772 * cb)));
            }
        free(out);
        f.format.compression = 33005;
        if (dx * dy > 1) {
            run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        } else {
            out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
            assert_int_equal(out[0], sample_of(&f.recipe, 0, 0, 0));
            free(out);
        }
        end(&f);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Case 56
 * ------------------------------------------------------------------------------------------ */

static void case_56_images_larger_than_the_tile(void **state)
{
    (void)state;
    static const uint32_t values[] = {33, 4096, 0x7fffffff, UINT32_MAX};
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, .components = 3});
    size_t siz = find_marker(&f.s, SIZ);
    for (size_t i = 0; i < 4; i++) {
        put32(&f.s, siz + SIZ_WIDTH, values[i]);
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        put32(&f.s, siz + SIZ_WIDTH, 32);
        put32(&f.s, siz + SIZ_HEIGHT, values[i]);
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        put32(&f.s, siz + SIZ_HEIGHT, 24);
    }
    end(&f);
}

static void case_56_images_smaller_than_the_tile_leave_zeros(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 20, .height = 10, .components = 2, .bits = 16});
    f.format.width = 32;
    f.format.height = 24;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "the rest is 0");
    for (unsigned y = 0; y < 24; y++)
        for (unsigned x = 0; x < 32; x++)
            for (unsigned c = 0; c < 2; c++)
                assert_int_equal(get_sample(&f.format, out, c, x, y),
                                 x < 20 && y < 10 ? sample_of(&f.recipe, c, x, y) : 0);
    free(out);
    end(&f);
}

static void case_56_impossible_sizes(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
    } changes[] = {
        {SIZ_WIDTH, 0},      {SIZ_HEIGHT, 0},      {SIZ_LEFT, 32},     {SIZ_LEFT, UINT32_MAX},
        {SIZ_TILE_WIDTH, 0}, {SIZ_TILE_HEIGHT, 0}, {SIZ_TILE_LEFT, 1}, {SIZ_TILE_LEFT, UINT32_MAX}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        fixture f;
        begin(&f, (recipe){.width = 32, .height = 24, .components = 1});
        put32(&f.s, find_marker(&f.s, SIZ) + changes[i].at, changes[i].value);
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        end(&f);
    }
}

static void case_56_more_tiles_than_memory(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 256, .height = 256, .components = 1});
    size_t siz = find_marker(&f.s, SIZ);
    put32(&f.s, siz + SIZ_TILE_WIDTH, 1);
    put32(&f.s, siz + SIZ_TILE_HEIGHT, 1);
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_codec_bytes");
    f.run.bench.limits.max_codec_bytes = UINT64_MAX;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "numbered");
    end(&f);
}

/* 2^32 - 1 tiles in a tile of that many pixels, which no one allocates. */
static void case_56_four_thousand_million_tiles(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, .components = 1});
    size_t siz = find_marker(&f.s, SIZ);
    put32(&f.s, siz + SIZ_WIDTH, UINT32_MAX);
    put32(&f.s, siz + SIZ_HEIGHT, 1);
    put32(&f.s, siz + SIZ_TILE_WIDTH, 1);
    uint8_t *input = run_alloc(f.s.size + TZ_CODEC_SLACK);
    memcpy(input, f.s.data, f.s.size);
    memset(input + f.s.size, 0, TZ_CODEC_SLACK);
    f.format.width = UINT32_MAX;
    f.format.height = 1;
    tz_codec_call call = {&f.run.bench.ctx, tz_at_tile(0, false, 7, 1000)};
    uint8_t nothing[1];
    assert_int_equal(
        tz_decoder_jp2.decode(f.run.state, &f.format, input, f.s.size, nothing, UINT32_MAX, &call),
        TZ_ERR_LIMIT);
    assert_string_equal(f.run.bench.err.limit, "max_codec_bytes");
    free(input);
    end(&f);
}

static void case_56_components(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, .components = 3});
    for (uint16_t samples = 1; samples < 6; samples++) {
        f.format.samples = samples;
        if (samples != 3)
            run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "components");
    }
    f.format.samples = 3;
    size_t siz = find_marker(&f.s, SIZ);
    put16(&f.s, siz + SIZ_COMPONENTS, 0);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    put16(&f.s, siz + SIZ_COMPONENTS, 4);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    end(&f);
}

static void case_56_16384_components(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, .components = 1});
    size_t siz = find_marker(&f.s, SIZ), extra = 3u * 16383;
    stream large = {run_alloc(f.s.size + extra), f.s.size + extra, 0, 0};
    memcpy(large.data, f.s.data, siz + SIZ_DEPTH);
    for (size_t i = 0; i < 16384; i++)
        memcpy(large.data + siz + SIZ_DEPTH + 3 * i, "\7\1\1", 3);
    memcpy(large.data + siz + SIZ_DEPTH + 3 + extra, f.s.data + siz + SIZ_DEPTH + 3,
           f.s.size - siz - SIZ_DEPTH - 3);
    put16(&large, siz + SIZ_COMPONENTS, 16384);
    put16(&large, siz + 2, 38 + 3 * 16384);
    run_refuses_saying(&f.run, &f.format, large.data, large.size, REFUSED_UNSUPPORTED, "16384");
    free(large.data);
    end(&f);
}

static void case_56_precision_and_sign(void **state)
{
    (void)state;
    static const uint8_t depths[] = {8, 15, 31, 37, 0x87, 0xFF};
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, .components = 1});
    size_t siz = find_marker(&f.s, SIZ);
    for (size_t i = 0; i < sizeof depths; i++) {
        f.s.data[siz + SIZ_DEPTH] = depths[i];
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    }
    end(&f);
    begin(&f, (recipe){.width = 32, .height = 24, .components = 1});
    f.format.bits = 12;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED);
    f.format.bits = 32;
    f.format.sample_format = 3;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED);
    end(&f);
}

/* Precincts, code blocks and layers that would take gigabytes. */
static void case_56_coding_styles_beyond_memory(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 2048, .height = 2048, .components = 1, .precinct = 256});
    size_t cod = find_marker(&f.s, COD);
    f.run.bench.limits.max_codec_bytes = 32u << 20;
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    put16(&f.s, cod + 6, 65535); /* layers */
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_codec_bytes");
    put16(&f.s, cod + 6, 1);
    memset(f.s.data + cod + 14, 0x11, 4); /* precincts of 2 x 2 */
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_codec_bytes");
    memset(f.s.data + cod + 14, 0x88, 4);
    f.s.data[cod + 10] = f.s.data[cod + 11] = 0; /* code blocks of 4 x 4 */
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_codec_bytes");
    end(&f);
}

static void case_56_impossible_coding_styles(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
    } changes[] = {{9, 33}, {9, 255}, {10, 9}, {11, 9}, {10, 255}, {15, 0x08}, {15, 0x80}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        fixture f;
        begin(&f, (recipe){.width = 64, .height = 64, .components = 1, .precinct = 64});
        f.s.data[find_marker(&f.s, COD) + changes[i].at] = changes[i].value;
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        end(&f);
    }
    fixture f;
    begin(&f, (recipe){.width = 64, .height = 64, .components = 1});
    put16(&f.s, find_marker(&f.s, COD) + 6, 0); /* layers */
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    end(&f);
}

/* A style for one component counts as much as the one for all. */
static void case_56_coding_styles_of_components(void **state)
{
    (void)state;
    static const uint8_t coc[] = {0xFF, 0x53, 0, 9, 0, 0, 3, 4, 4, 0, 1};
    fixture f;
    begin(&f, (recipe){.width = 64, .height = 64, .components = 1});
    size_t quantization = find_marker(&f.s, 0x5C);
    insert(&f.s, quantization, coc, sizeof coc);
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    assert_int_equal(out[65], sample_of(&f.recipe, 0, 1, 1));
    free(out);
    f.s.data[quantization + 4] = 1; /* no such component */
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    f.s.data[quantization + 4] = 0;
    f.s.data[quantization + 7] = f.s.data[quantization + 8] = 0; /* code blocks of 4 x 4 */
    f.run.bench.limits.max_codec_bytes = 64 * 64 * 4 + 20000;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT);
    end(&f);
}

static void main_headers_without_style_or_with_two_sizes(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 64, .height = 64, .components = 1});
    size_t cod = find_marker(&f.s, COD);
    f.s.data[cod + 1] = 0x64; /* a comment */
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "coding style");
    f.s.data[cod + 1] = SIZ;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "two size");
    end(&f);
}

static void boxes_of_any_length_are_read(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, .components = 1, .boxes = true});
    size_t box = find_marker(&f.s, 0x4F) - 8;
    assert_memory_equal(f.s.data + box + 4, "jp2c", 4);
    put32(&f.s, box, 0); /* up to the end */
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    uint8_t longer[8] = {0};
    insert(&f.s, box + 8, longer, 8);
    put32(&f.s, box, 1); /* 64 bits follow */
    put32(&f.s, box + 12, (uint32_t)(f.s.size - box));
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    put32(&f.s, box + 8, 1);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    put32(&f.s, box, 7);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    end(&f);
}

static void extensions_are_named_and_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 64, .height = 64, .components = 1});
    size_t cod = find_marker(&f.s, COD);
    f.s.data[cod + 12] |= 0x40;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED, "throughput");
    f.s.data[cod + 12] = 0;
    size_t quantization = find_marker(&f.s, 0x5C);
    static const uint8_t markers[] = {0x50, 0x74, 0x75, 0x77, 0x78, 0x62};
    for (size_t i = 0; i < sizeof markers; i++) {
        f.s.data[quantization + 1] = markers[i];
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED);
    }
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Tile parts and damage
 * ------------------------------------------------------------------------------------------ */

static void a_missing_tile_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 32, .components = 1, .tile = 16, .resolutions = 1});
    size_t sot = find_marker(&f.s, SOT);
    put16(&f.s, sot + 4, 1); /* tile 1 twice, tile 0 never */
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "missing");
    put16(&f.s, sot + 4, 4);
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "tile part");
    end(&f);
}

static void tile_parts_with_impossible_lengths(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {1, 13, 1000000, UINT32_MAX};
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 32, .components = 1});
    size_t sot = find_marker(&f.s, SOT);
    for (size_t i = 0; i < 4; i++) {
        put32(&f.s, sot + 6, lengths[i]);
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    }
    put32(&f.s, sot + 6, 0); /* up to the end */
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    assert_int_equal(out[33], sample_of(&f.recipe, 0, 1, 1));
    free(out);
    end(&f);
}

static void streams_cut_short_are_errors(void **state)
{
    (void)state;
    for (int boxes = 0; boxes < 2; boxes++) {
        fixture f;
        begin(&f, (recipe){.width = 32, .height = 24, .components = 3, .boxes = boxes});
        for (size_t size = 0; size < f.s.size - 2; size++)
            run_refuses(&f.run, &f.format, f.s.data, size, REFUSED_CODEC);
        if (!boxes) /* without EOC it is still complete */
            free(run_decode(&f.run, &f.format, f.s.data, f.s.size - 2));
        end(&f);
    }
}

static void damaged_bytes_never_show_what_the_buffer_held(void **state)
{
    (void)state;
    static const recipe recipes[] = {
        {.width = 40, .height = 40, .components = 3},
        {.width = 40, .height = 40, .components = 1, .bits = 16, .boxes = true},
        {.width = 40, .height = 40, .components = 3, .lossy = true, .tile = 24, .layers = 2},
        {.width = 40, .height = 40, .components = 2, .precinct = 32}};
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        fixture f;
        begin(&f, recipes[i]);
        uint8_t *before = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        run_damaged(&f.run, &f.format, f.s.data, f.s.size, 1500);
        uint8_t *after = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        assert_memory_equal(before, after, tz_tile_bytes(&f.format));
        free(before);
        free(after);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lossless_samples_come_back),
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(boxes_tiles_layers_and_precincts_are_read),
        cmocka_unit_test(fewer_bits_than_the_sample_are_a_warning),
        cmocka_unit_test(aperio_ycbcr_becomes_rgb),
        cmocka_unit_test(case_56_images_larger_than_the_tile),
        cmocka_unit_test(case_56_images_smaller_than_the_tile_leave_zeros),
        cmocka_unit_test(case_56_impossible_sizes),
        cmocka_unit_test(case_56_more_tiles_than_memory),
        cmocka_unit_test(case_56_four_thousand_million_tiles),
        cmocka_unit_test(case_56_components),
        cmocka_unit_test(case_56_16384_components),
        cmocka_unit_test(case_56_precision_and_sign),
        cmocka_unit_test(case_56_coding_styles_beyond_memory),
        cmocka_unit_test(case_56_impossible_coding_styles),
        cmocka_unit_test(case_56_coding_styles_of_components),
        cmocka_unit_test(main_headers_without_style_or_with_two_sizes),
        cmocka_unit_test(boxes_of_any_length_are_read),
        cmocka_unit_test(extensions_are_named_and_refused),
        cmocka_unit_test(a_missing_tile_is_an_error),
        cmocka_unit_test(tile_parts_with_impossible_lengths),
        cmocka_unit_test(streams_cut_short_are_errors),
        cmocka_unit_test(damaged_bytes_never_show_what_the_buffer_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
