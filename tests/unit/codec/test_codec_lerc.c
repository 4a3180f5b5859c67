/* SPDX-License-Identifier: Apache-2.0
 * LERC: blobs made by liblerc give what liblerc makes of them. */
#include "support/codec/lerc_blobs.h"

/* ---------------------------------------------------------------------------------------------
 * Blobs that are in order
 * ------------------------------------------------------------------------------------------ */

/* Every type, version, pattern and kind of mask, lossless and not. */
static void the_pixels_are_liblercs(void **state)
{
    (void)state;
    unsigned count = 0;
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++)
        for (int version = 2; version <= 6; version++)
            for (int p = 0; p < PATTERNS; p++)
                for (int mask = 0; mask < 4; mask++)
                    for (int lossy = 0; lossy < 2; lossy++, count++) {
                        recipe r = {.type = type,
                                    .version = version,
                                    .depth = 1,
                                    .bands = 1,
                                    .width = 45,
                                    .height = 38,
                                    .pattern = (pattern)p,
                                    .mask = mask,
                                    .max_error = lossy                  ? 2
                                                 : type < TZ_LERC_FLOAT ? 0.5
                                                                        : 0};
                        check_against_liblerc(&r);
                    }
    assert_int_equal(count, 8 * 5 * PATTERNS * 4 * 2);
}

static void several_values_of_a_pixel_are_liblercs(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++)
        for (int version = 4; version <= 6; version++)
            for (int p = 0; p < PATTERNS; p++)
                for (int mask = 0; mask < 2; mask++)
                    for (int depth = 2; depth <= 5; depth += 3) {
                        recipe r = {.type = type,
                                    .version = version,
                                    .depth = depth,
                                    .bands = 1,
                                    .width = 33,
                                    .height = 20,
                                    .pattern = (pattern)p,
                                    .mask = mask,
                                    .max_error = p == NOISY ? 0.01 : 0};
                        check_against_liblerc(&r);
                    }
}

/* Codes of more bits than the first look-up has. */
static void long_huffman_codes_are_liblercs(void **state)
{
    (void)state;
    for (uint32_t type = TZ_LERC_INT8; type <= TZ_LERC_UINT8; type++) {
        recipe r = {.type = type,
                    .version = 4,
                    .depth = 1,
                    .bands = 1,
                    .width = 400,
                    .height = 400,
                    .pattern = SKEWED,
                    .max_error = 0.5};
        check_against_liblerc(&r);
    }
}

static void values_that_are_each_constant_are_liblercs(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++) {
        recipe r = {.type = type,
                    .version = 5,
                    .depth = 3,
                    .bands = 1,
                    .width = 20,
                    .height = 9,
                    .pattern = EACH_CONSTANT,
                    .mask = (int)(type & 1)};
        check_against_liblerc(&r);
    }
}

/* Numbers of every width, through the quick loops and past them. */
static void every_width_of_numbers_is_liblercs(void **state)
{
    (void)state;
    for (int bits = 1; bits <= 28; bits++)
        for (int version = 2; version <= 5; version++) {
            recipe r = {.type = TZ_LERC_INT32,
                        .version = version,
                        .depth = 1,
                        .bands = 1,
                        .width = 21,
                        .height = 20,
                        .pattern = OF_WIDTH,
                        .bits = bits,
                        .max_error = 0.5};
            check_against_liblerc(&r);
            r.type = bits <= 15 ? TZ_LERC_INT16 : TZ_LERC_FLOAT;
            r.max_error = bits <= 15 ? 1.5 : 0.25;
            check_against_liblerc(&r);
        }
}

static void checksums_of_any_bytes_are_liblercs(void **state)
{
    (void)state;
    uint8_t bytes[2000];
    for (unsigned i = 0; i < 2000; i++) {
        blob b = {bytes, 60 + i % 1900};
        for (size_t at = 0; at < b.size; at++)
            bytes[at] = (uint8_t)any_number();
        put(&b, AT_VERSION, 4);
        put(&b, AT_SIZE, (uint32_t)b.size);
        fix_checksum(&b);
        tz_lerc_header header = {
            .version = 4, .size = (uint32_t)b.size, .checksum = get(&b, AT_CHECKSUM)};
        assert_true(tz_lerc_checksum_fits(&header, bytes));
        header.checksum++;
        assert_false(tz_lerc_checksum_fits(&header, bytes));
    }
}

/* With an odd number of bytes liblerc does not always fold its sums to 16 bits. */
static void checksums_that_overflow_are_liblercs(void **state)
{
    (void)state;
    uint8_t bytes[61] = {[50] = 0x1c, [51] = 0xaa, [60] = 0xfe};
    blob b = {bytes, sizeof bytes};
    put(&b, AT_VERSION, 4);
    put(&b, AT_SIZE, sizeof bytes);
    tz_lerc_header header = {.version = 4, .size = sizeof bytes, .checksum = 0x57ab};
    assert_true(tz_lerc_checksum_fits(&header, bytes));
    header.checksum = 0x157ab; /* folded again */
    assert_false(tz_lerc_checksum_fits(&header, bytes));
}

static void one_blob_for_each_band_is_read(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++)
        for (int version = 3; version <= 6; version++)
            for (int mask = 0; mask < 4; mask++) {
                recipe r = {.type = type,
                            .version = version,
                            .depth = 1,
                            .bands = 3,
                            .width = 30,
                            .height = 21,
                            .pattern = NOISY,
                            .mask = mask};
                check_against_liblerc(&r);
            }
}

static void every_size_is_liblercs(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {1, 9}, {8, 8}, {15, 17}, {16, 16}, {129, 2}, {7, 200}};
    static const uint32_t types[] = {TZ_LERC_UINT8, TZ_LERC_INT16, TZ_LERC_FLOAT};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t t = 0; t < 3; t++)
            for (int version = 2; version <= 6; version += 2) {
                recipe r = {.type = types[t],
                            .version = version,
                            .depth = 1,
                            .bands = 1,
                            .width = sizes[i][0],
                            .height = sizes[i][1],
                            .pattern = NOISY};
                check_against_liblerc(&r);
            }
}

/* 8-bit alpha as the mask of a blob with one value less. */
static void a_mask_can_stand_for_alpha(void **state)
{
    (void)state;
    recipe r = {.type = TZ_LERC_UINT8,
                .version = 4,
                .depth = 3,
                .bands = 1,
                .width = 20,
                .height = 12,
                .pattern = NOISY,
                .mask = 1,
                .max_error = 0.5};
    codec_run run;
    run_open(&run, &tz_decoder_lerc);
    blob b = encode(&r);
    uint8_t *expected = reference(&r, &b), *mask = make_mask(&r);
    tz_tile_format format = format_of(&r);
    format.samples = 4;
    run_refuses_saying(&run, &format, b.data, b.size, REFUSED_CODEC, "values of a pixel");
    format.alpha = true;
    uint8_t *out = run_decode(&run, &format, b.data, b.size);
    for (size_t i = 0; i < 20 * 12; i++) {
        assert_memory_equal(out + 4 * i, expected + 3 * i, 3);
        assert_int_equal(out[4 * i + 3], mask[i] ? 255 : 0);
    }
    free(out);
    free(b.data);
    r.mask = 0; /* all valid: all opaque */
    b = encode(&r);
    out = run_decode(&run, &format, b.data, b.size);
    for (size_t i = 0; i < 20 * 12; i++)
        assert_int_equal(out[4 * i + 3], 255);
    free(out);
    free(b.data);
    free(mask);
    free(expected);
    run_close(&run);
}

static void deflate_and_zstd_around_it_are_undone(void **state)
{
    (void)state;
    recipe r = {.type = TZ_LERC_FLOAT,
                .version = 4,
                .depth = 1,
                .bands = 1,
                .width = 64,
                .height = 64,
                .pattern = NOISY,
                .mask = 1};
    codec_run run;
    run_open(&run, &tz_decoder_lerc);
    blob b = encode(&r), packed[2] = {deflated(&b), zstd_packed(&b)};
    tz_tile_format format = format_of(&r);
    uint8_t *expected = reference(&r, &b);
    for (int i = 0; i < 2; i++) {
        format.lerc_compression = (uint16_t)(i + 1);
        uint8_t *out = run_decode(&run, &format, packed[i].data, packed[i].size);
        assert_memory_equal(out, expected, tz_tile_bytes(&format));
        free(out);
        run_refuses(&run, &format, b.data, b.size, REFUSED_CODEC);
        for (size_t size = 0; size < packed[i].size; size += 31)
            run_refuses(&run, &format, packed[i].data, size, REFUSED_CODEC);
        assert_int_equal(run_allocations(&run, &format, packed[i].data, packed[i].size), 0);
        free(packed[i].data);
    }
    bench_silent(&run.bench);
    free(expected);
    free(b.data);
    run_close(&run);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    recipe r = {.type = TZ_LERC_FLOAT,
                .version = 6,
                .depth = 1,
                .bands = 1,
                .width = 64,
                .height = 64,
                .pattern = SMOOTH,
                .mask = 1};
    blob b = encode(&r), packed = zstd_packed(&b);
    tz_tile_format format = format_of(&r);
    format.lerc_compression = 2;
    run_without_memory(&tz_decoder_lerc, &format, packed.data, packed.size);
    free(packed.data);
    free(b.data);
}

static void a_tile_like_the_last_needs_no_allocation(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < TZ_LERC_TYPES; type++) {
        recipe r = {.type = type,
                    .version = 6,
                    .depth = 1,
                    .bands = 1,
                    .width = 64,
                    .height = 64,
                    .pattern = SMOOTH,
                    .mask = 1};
        codec_run run;
        run_open(&run, &tz_decoder_lerc);
        blob b = encode(&r);
        tz_tile_format format = format_of(&r);
        assert_int_equal(run_allocations(&run, &format, b.data, b.size), 0);
        free(b.data);
        run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pixels_are_liblercs),
        cmocka_unit_test(several_values_of_a_pixel_are_liblercs),
        cmocka_unit_test(long_huffman_codes_are_liblercs),
        cmocka_unit_test(values_that_are_each_constant_are_liblercs),
        cmocka_unit_test(every_width_of_numbers_is_liblercs),
        cmocka_unit_test(checksums_of_any_bytes_are_liblercs),
        cmocka_unit_test(checksums_that_overflow_are_liblercs),
        cmocka_unit_test(one_blob_for_each_band_is_read),
        cmocka_unit_test(every_size_is_liblercs),
        cmocka_unit_test(a_mask_can_stand_for_alpha),
        cmocka_unit_test(deflate_and_zstd_around_it_are_undone),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_tile_like_the_last_needs_no_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
