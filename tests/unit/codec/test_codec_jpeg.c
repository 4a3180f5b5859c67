/* SPDX-License-Identifier: Apache-2.0
 * JPEG: tiles that are in order give what libjpeg makes of them. */
#include "support/codec/jpeg_streams.h"

/* ---------------------------------------------------------------------------------------------
 * Tiles that are in order
 * ------------------------------------------------------------------------------------------ */

static void every_colour_model_gives_libjpegs_pixels(void **state)
{
    (void)state;
    check_round_trip((recipe){.width = 32, .height = 24, GREY});
    check_round_trip((recipe){.width = 32, .height = 24, RGB});
    check_round_trip((recipe){.width = 32, .height = 24, YCBCR});
    check_round_trip((recipe){.width = 32, .height = 24, CMYK});
}

static void every_subsampling_gives_libjpegs_pixels(void **state)
{
    (void)state;
    static const int factors[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}};
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
        check_round_trip(
            (recipe){.width = 50, .height = 35, YCBCR, .h = factors[i][0], .v = factors[i][1]});
}

static void odd_sizes_give_libjpegs_pixels(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{1, 1}, {15, 17}, {17, 1}, {1, 33}, {129, 3}, {64, 257}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_round_trip((recipe){.width = sizes[i][0], .height = sizes[i][1], GREY});
        check_round_trip(
            (recipe){.width = sizes[i][0], .height = sizes[i][1], YCBCR, .h = 2, .v = 2});
    }
}

static void progressive_and_separate_scans_are_read(void **state)
{
    (void)state;
    check_round_trip(
        (recipe){.width = 70, .height = 50, YCBCR, .h = 2, .v = 2, .progressive = true});
    check_round_trip((recipe){.width = 70, .height = 50, GREY, .progressive = true});
    check_round_trip((recipe){.width = 70, .height = 50, RGB, .scans_apart = true});
}

static void tables_apart_are_used(void **state)
{
    (void)state;
    check_round_trip((recipe){.width = 40, .height = 40, YCBCR, .h = 2, .v = 2, .apart = true});
    check_round_trip((recipe){.width = 40, .height = 40, GREY, .apart = true});
}

/* FillOrder 2 turns no bits: libtiff's streams are the same with either. */
static void the_fill_order_does_not_apply(void **state)
{
    (void)state;
    assert_true(tz_decoder_jpeg.flags & TZ_DECODER_ANY_FILL_ORDER);
    fixture f;
    begin(&f, (recipe){.width = 40, .height = 24, YCBCR, .apart = true});
    uint8_t *expected = reference(&f.recipe, &f.s);
    f.format.fill_order = 2;
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    assert_memory_equal(out, expected, tz_tile_bytes(&f.format));
    free(out);
    free(expected);
    end(&f);
}

static void restart_intervals_are_read(void **state)
{
    (void)state;
    check_round_trip((recipe){.width = 64, .height = 64, YCBCR, .h = 2, .v = 2, .restart = 3});
}

/* One state, tiles with tables of their own in between: none may leave anything behind. */
static void tables_of_one_tile_do_not_reach_the_next(void **state)
{
    (void)state;
    fixture apart, whole;
    begin(&apart, (recipe){.width = 40, .height = 40, YCBCR, .apart = true});
    begin(&whole, (recipe){.width = 40, .height = 40, YCBCR, .progressive = true});
    whole.format.tables = apart.format.tables; /* progressive tables differ from the shared ones */
    whole.format.tables_size = apart.format.tables_size;
    uint8_t *expected = reference(&apart.recipe, &apart.s);
    uint8_t *expected_whole = reference(&whole.recipe, &whole.s);
    for (int i = 0; i < 3; i++) {
        uint8_t *out = run_decode(&apart.run, &apart.format, apart.s.data, apart.s.size);
        assert_memory_equal(out, expected, 40 * 40 * 3);
        free(out);
        out = run_decode(&apart.run, &whole.format, whole.s.data, whole.s.size);
        assert_memory_equal(out, expected_whole, 40 * 40 * 3);
        free(out);
    }
    tz_tile_format bare = apart.format;
    bare.tables = NULL;
    bare.tables_size = 0;
    run_refuses_saying(&apart.run, &bare, apart.s.data, apart.s.size, REFUSED_CODEC, "missing");
    free(expected);
    free(expected_whole);
    end(&apart);
    end(&whole);
}

static void other_tables_at_the_same_address_are_noticed(void **state)
{
    (void)state;
    fixture one, two;
    begin(&one, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    begin(&two, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    for (size_t i = 0; i < 64; i++) /* coarser quantization */
        two.s.tables[find_marker(&(stream){two.s.tables, two.s.tables_size, NULL, 0}, DQT, 0) + 5 +
                     i] = 99;
    uint8_t *tables = run_alloc(one.s.tables_size);
    uint8_t *expected_one = reference(&one.recipe, &one.s);
    uint8_t *expected_two = reference(&two.recipe, &two.s);
    one.format.tables = tables;
    for (int i = 0; i < 4; i++) {
        const fixture *now = i % 2 ? &two : &one;
        memcpy(tables, now->s.tables, one.s.tables_size);
        uint8_t *out = run_decode(&one.run, &one.format, now->s.data, now->s.size);
        assert_memory_equal(out, i % 2 ? expected_two : expected_one, 16 * 16);
        free(out);
    }
    assert_memory_not_equal(expected_one, expected_two, 16 * 16);
    free(tables);
    free(expected_one);
    free(expected_two);
    end(&one);
    end(&two);
}

static void a_grey_stream_may_have_any_sampling_factors(void **state)
{
    (void)state;
    check_round_trip((recipe){.width = 33, .height = 20, GREY, .h = 2, .v = 2});
}

static void a_missing_end_of_image_is_no_loss(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, RGB});
    uint8_t *expected = reference(&f.recipe, &f.s);
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size - 2);
    assert_memory_equal(out, expected, 32 * 24 * 3);
    free(out);
    free(expected);
    end(&f);
}

static void a_tile_like_the_last_needs_no_allocation(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 256, .height = 256, YCBCR, .h = 2, .v = 2, .apart = true});
    assert_int_equal(run_allocations(&f.run, &f.format, f.s.data, f.s.size), 0);
    end(&f);
    begin(&f, (recipe){.width = 256, .height = 256, YCBCR, .h = 2, .v = 2, .progressive = true});
    assert_int_equal(run_allocations(&f.run, &f.format, f.s.data, f.s.size), 0);
    end(&f);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 100,
                       .height = 100,
                       YCBCR,
                       .h = 2,
                       .v = 2,
                       .progressive = true,
                       .apart = false});
    run_without_memory(&tz_decoder_jpeg, &f.format, f.s.data, f.s.size);
    end(&f);
    begin(&f, (recipe){.width = 30, .height = 30, GREY, .apart = true});
    run_without_memory(&tz_decoder_jpeg, &f.format, f.s.data, f.s.size);
    end(&f);
}

static void a_deinitialised_zeroed_state_is_fine(void **state)
{
    (void)state;
    void *zeroed = calloc(1, tz_decoder_jpeg.state_size);
    tz_decoder_jpeg.deinit(zeroed);
    tz_decoder_jpeg.deinit(zeroed);
    free(zeroed);
}

/* ---------------------------------------------------------------------------------------------
 * 12 bits
 * ------------------------------------------------------------------------------------------ */

#if TZ_JPEG_HAS_12_BITS
static stream encode_12(const recipe *r)
{
    stream s = {0};
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    memset(&c, 0, sizeof c);
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    c.data_precision = 12;
    set_up(&c, r);
    jpeg_mem_dest(&c, &s.data, &s.size);
    jpeg_start_compress(&c, TRUE);
    J12SAMPLE row[1000];
    J12SAMPROW rows[1] = {row};
    uint32_t random = 3;
    while (c.next_scanline < r->height) {
        for (unsigned i = 0; i < r->width * r->components; i++) {
            random = random * 1664525u + 1013904223u;
            row[i] = (J12SAMPLE)((c.next_scanline * 40 + i * 13 + (random >> 27)) & 4095);
        }
        jpeg12_write_scanlines(&c, rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return s;
}

/* Every sample is compared with what libjpeg itself makes of it. */
static void check_12(recipe r)
{
    stream s = encode_12(&r);
    tz_tile_format format = format_of(&r, &s);
    format.bits = 12;
    codec_run run;
    run_open(&run, &tz_decoder_jpeg);
    uint8_t *out = run_decode(&run, &format, s.data, s.size);
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    memset(&d, 0, sizeof d);
    d.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, s.data, s.size);
    jpeg_read_header(&d, TRUE);
    bool ycbcr = r.stored == JCS_YCbCr;
    d.jpeg_color_space = ycbcr ? JCS_YCbCr : JCS_UNKNOWN;
    d.out_color_space = ycbcr ? JCS_RGB : JCS_UNKNOWN;
    jpeg_start_decompress(&d);
    J12SAMPLE row[1000];
    J12SAMPROW rows[1] = {row};
    for (size_t y = 0; y < r.height; y++) {
        jpeg12_read_scanlines(&d, rows, 1);
        const uint8_t *packed = out + y * tz_tile_row_bytes(&format);
        for (size_t i = 0; i < r.width * r.components; i++) {
            unsigned bits = (unsigned)packed[i * 12 / 8] << 8 | packed[i * 12 / 8 + 1];
            assert_int_equal(i % 2 ? bits & 0xfff : bits >> 4, row[i]);
        }
    }
    jpeg_destroy_decompress(&d);
    assert_int_equal(run_allocations(&run, &format, s.data, s.size), 0);
    run_damaged(&run, &format, s.data, s.size, 300);
    free(out);
    run_close(&run);
    free_stream(&s);
}

static void samples_of_12_bits_are_libjpegs(void **state)
{
    (void)state;
    check_12((recipe){.width = 64, .height = 40, GREY});
    check_12((recipe){.width = 33, .height = 17, GREY});
    check_12((recipe){.width = 1, .height = 1, GREY});
    check_12((recipe){.width = 35, .height = 20, RGB});
    check_12((recipe){.width = 50, .height = 35, YCBCR, .h = 2, .v = 2});
    check_12((recipe){.width = 50, .height = 35, YCBCR, .h = 2, .v = 2, .progressive = true});
}

/* 8 and 12 bits in turn, by the same decompressor. */
static void bits_may_change_from_tile_to_tile(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 40, .height = 24, YCBCR, .h = 2, .v = 2});
    stream s = encode_12(&f.recipe);
    tz_tile_format deep = format_of(&f.recipe, &s);
    deep.bits = 12;
    uint8_t *expected = reference(&f.recipe, &f.s);
    for (int i = 0; i < 3; i++) {
        free(run_decode(&f.run, &deep, s.data, s.size));
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        assert_memory_equal(out, expected, tz_tile_bytes(&f.format));
        free(out);
    }
    run_without_memory(&tz_decoder_jpeg, &deep, s.data, s.size);
    free(expected);
    free_stream(&s);
    end(&f);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_colour_model_gives_libjpegs_pixels),
        cmocka_unit_test(every_subsampling_gives_libjpegs_pixels),
        cmocka_unit_test(odd_sizes_give_libjpegs_pixels),
        cmocka_unit_test(progressive_and_separate_scans_are_read),
        cmocka_unit_test(tables_apart_are_used),
        cmocka_unit_test(the_fill_order_does_not_apply),
        cmocka_unit_test(restart_intervals_are_read),
        cmocka_unit_test(tables_of_one_tile_do_not_reach_the_next),
        cmocka_unit_test(other_tables_at_the_same_address_are_noticed),
        cmocka_unit_test(a_grey_stream_may_have_any_sampling_factors),
        cmocka_unit_test(a_missing_end_of_image_is_no_loss),
        cmocka_unit_test(a_tile_like_the_last_needs_no_allocation),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_deinitialised_zeroed_state_is_fine),
#if TZ_JPEG_HAS_12_BITS
        cmocka_unit_test(samples_of_12_bits_are_libjpegs),
        cmocka_unit_test(bits_may_change_from_tile_to_tile),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
