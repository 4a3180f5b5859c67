/* SPDX-License-Identifier: Apache-2.0
 * JPEG: streams that are not what the tile says, and streams broken byte by byte. */
#include "support/codec/jpeg_streams.h"

/* ---------------------------------------------------------------------------------------------
 * Case 49: JPEGTables
 * ------------------------------------------------------------------------------------------ */

static void case_49_tables_of_0_1_2_bytes(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    for (size_t size = 0; size < 4; size++) {
        uint8_t *exact = run_alloc(size);
        memcpy(exact, f.s.tables, size);
        f.format.tables = exact;
        f.format.tables_size = size;
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        free(exact);
    }
    end(&f);
}

static void case_49_tables_without_start(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    f.s.tables[1] = 0xD9;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "SOI");
    end(&f);
}

static void case_49_tables_with_an_image(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    f.format.tables = f.s.data;
    f.format.tables_size = f.s.size;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "JPEGTables");
    size_t frame = find_marker(&f.s, SOF0, 0);
    stream scan = {run_alloc(f.s.size), f.s.size, NULL, 0};
    memcpy(scan.data, f.s.data, f.s.size);
    cut(&scan, frame, 2u + scan.data[frame + 3]);
    f.format.tables = scan.data; /* SOS without SOF */
    f.format.tables_size = scan.size;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "JPEGTables");
    free(scan.data);
    end(&f);
}

static void case_49_tables_of_100_megabytes(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    size_t size = 100u << 20;
    uint8_t *large = calloc(1, size);
    assert_non_null(large);
    memcpy(large, f.s.tables, f.s.tables_size);
    f.format.tables = large;
    f.format.tables_size = size;
    alloc_hook_install();
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "JPEGTables");
    assert_true(alloc_hook_stats().peak_bytes < 1 << 20);
    alloc_hook_remove();
    free(large);
    end(&f);
}

static void case_49_good_tables_after_bad_ones(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY, .apart = true});
    uint8_t *expected = reference(&f.recipe, &f.s);
    tz_tile_format bad = f.format;
    bad.tables_size -= 30;
    for (int i = 0; i < 3; i++) {
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        assert_memory_equal(out, expected, 256);
        free(out);
        run_refuses(&f.run, &bad, f.s.data, f.s.size, REFUSED_CODEC);
    }
    free(expected);
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Case 50: size of the frame
 * ------------------------------------------------------------------------------------------ */

static void set_size(fixture *f, unsigned width, unsigned height)
{
    size_t frame = find_marker(&f->s, SOF0, 0);
    f->s.data[frame + 5] = (uint8_t)(height >> 8);
    f->s.data[frame + 6] = (uint8_t)height;
    f->s.data[frame + 7] = (uint8_t)(width >> 8);
    f->s.data[frame + 8] = (uint8_t)width;
}

static void case_50_frames_larger_than_the_tile(void **state)
{
    (void)state;
    static const unsigned sizes[][2] = {{65535, 65535}, {33, 24}, {32, 25}, {65535, 1}};
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, YCBCR});
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        set_size(&f, sizes[i][0], sizes[i][1]);
        alloc_hook_install();
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        assert_int_equal(alloc_hook_stats().peak_bytes, 0);
        alloc_hook_remove();
    }
    set_size(&f, 0, 24);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    set_size(&f, 32, 0);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    end(&f);
}

/* The rest of the tile is 0, whatever the buffer held. */
static void check_smaller(recipe r, uint32_t width, uint32_t height)
{
    fixture f;
    begin(&f, r);
    uint8_t *expected = reference(&r, &f.s);
    f.format.width = width;
    f.format.height = height;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "the rest is 0");
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            for (size_t c = 0; c < r.components; c++) {
                bool inside = x < r.width && y < r.height;
                assert_int_equal(out[(y * width + x) * r.components + c],
                                 inside ? expected[(y * r.width + x) * r.components + c] : 0);
            }
    free(out);
    free(expected);
    end(&f);
}

static void case_50_frames_smaller_than_the_tile_leave_zeros(void **state)
{
    (void)state;
    check_smaller((recipe){.width = 1, .height = 1, GREY}, 64, 64);
    check_smaller((recipe){.width = 64, .height = 32, YCBCR, .h = 2, .v = 2}, 64, 64);
    check_smaller((recipe){.width = 32, .height = 64, RGB}, 64, 64);
    check_smaller((recipe){.width = 17, .height = 9, CMYK}, 64, 64);
}

static void case_50_no_frame(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, YCBCR});
    size_t frame = find_marker(&f.s, SOF0, 0);
    cut(&f.s, frame, 2u + f.s.data[frame + 3]);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    static const uint8_t nothing[] = {0xFF, 0xD8, 0xFF, 0xD9};
    run_refuses_saying(&f.run, &f.format, nothing, sizeof nothing, REFUSED_CODEC, "no frame");
    run_refuses(&f.run, &f.format, nothing, 0, REFUSED_CODEC);
    end(&f);
}

static void case_50_two_frames(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 24, YCBCR});
    size_t frame = find_marker(&f.s, SOF0, 0);
    uint8_t copy[32];
    size_t size = 2u + f.s.data[frame + 3];
    memcpy(copy, f.s.data + frame, size);
    insert(&f.s, frame, copy, size);
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "two frame");
    end(&f);
}

static void a_last_strip_may_hold_the_rows_of_a_full_one(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 40, .height = 16, YCBCR, .h = 2, .v = 2});
    uint8_t *expected = reference(&f.recipe, &f.s);
    f.format.height = 5;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    f.format.strip_height = 15;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    f.format.strip_height = 16;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "last strip");
    assert_memory_equal(out, expected, 40 * 5 * 3);
    free(out);
    f.format.width = 39;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    free(expected);
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Case 51: components, precision, sampling, colour
 * ------------------------------------------------------------------------------------------ */

static void case_51_components_that_are_not_the_samples(void **state)
{
    (void)state;
    static const recipe recipes[] = {
        {.width = 16, .height = 16, GREY},
        {.width = 16, .height = 16, CMYK},
        {.width = 16, .height = 16, .components = 2, .from = JCS_UNKNOWN, .stored = JCS_UNKNOWN}};
    for (size_t i = 0; i < 3; i++) {
        fixture f;
        begin(&f, recipes[i]);
        f.format.samples = 3;
        f.format.photometric = i % 2 ? 2 : 6;
        run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "components");
        end(&f);
    }
}

static void case_51_precision_that_is_not_the_tiles(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    size_t frame = find_marker(&f.s, SOF0, 0);
    f.s.data[frame + 4] = 12;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "bits");
    f.s.data[frame + 4] = 16;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "bits");
    f.s.data[frame + 4] = 8;
    f.format.bits = 16;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "bits");
#if !TZ_JPEG_HAS_12_BITS
    f.s.data[frame + 4] = 12;
    f.format.bits = 12;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED, "libjpeg-turbo");
#endif
    end(&f);
}

static void case_51_impossible_sampling(void **state)
{
    (void)state;
    static const uint8_t factors[] = {0x44, 0x01, 0x10, 0x00, 0x51, 0x15, 0xFF, 0x43};
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, YCBCR});
    size_t frame = find_marker(&f.s, SOF0, 0);
    for (size_t i = 0; i < sizeof factors; i++) {
        f.s.data[frame + 11] = factors[i];
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    }
    end(&f);
}

static void case_51_rgb_may_not_be_subsampled(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 32, YCBCR, .h = 2, .v = 2});
    f.format.photometric = 2;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "subsampled");
    end(&f);
}

static void the_stream_knows_its_subsampling_better_than_the_tag(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 32, YCBCR, .h = 2, .v = 1});
    uint8_t *expected = reference(&f.recipe, &f.s);
    f.format.subsampling[1] = 2;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "YCbCrSubSampling");
    assert_memory_equal(out, expected, 32 * 32 * 3);
    free(out);
    free(expected);
    end(&f);
}

static void case_51_an_adobe_marker_does_not_decide_about_colour(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 32, .height = 32, RGB, .adobe = true}); /* transform 0 */
    uint8_t *rgb = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    bench_silent(&f.run.bench);
    f.format.photometric = 6;
    f.format.subsampling[0] = f.format.subsampling[1] = 1;
    uint8_t *out = run_warns(&f.run, &f.format, f.s.data, f.s.size, "Adobe");
    assert_memory_not_equal(out, rgb, 32 * 32 * 3);
    free(out);
    free(rgb);
    end(&f);
    begin(&f, (recipe){.width = 32, .height = 32, YCBCR, .adobe = true}); /* transform 1 */
    f.format.photometric = 2;
    free(run_warns(&f.run, &f.format, f.s.data, f.s.size, "Adobe"));
    end(&f);
}

static void case_51_ycbcr_with_four_components(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, CMYK});
    f.format.photometric = 6;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED);
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Case 52: scans and kinds of JPEG
 * ------------------------------------------------------------------------------------------ */

static void case_52_80000_scans(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY, .progressive = true});
    static const uint8_t scan[] = {0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 63, 0x00, 0x00};
    uint8_t *many = run_alloc(sizeof scan * 80000);
    for (size_t i = 0; i < 80000; i++)
        memcpy(many + i * sizeof scan, scan, sizeof scan);
    insert(&f.s, f.s.size - 2, many, sizeof scan * 80000);
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_jpeg_scans");
    assert_string_equal(f.run.bench.err.limit, "max_jpeg_scans");
    free(many);
    end(&f);
}

static void case_52_scans_up_to_the_limit_are_read(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, YCBCR, .progressive = true});
    unsigned scans = 0;
    while (find_marker(&f.s, SOS, scans) < f.s.size)
        scans++;
    f.run.bench.limits.max_jpeg_scans = scans;
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    f.run.bench.limits.max_jpeg_scans = scans - 1;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT);
    end(&f);
}

static void case_52_coefficients_beyond_the_memory_limit(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 512, .height = 512, YCBCR, .progressive = true});
    f.run.bench.limits.max_codec_bytes = 512 * 512 * 3 * 2 - 1;
    alloc_hook_install();
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_codec_bytes");
    assert_int_equal(alloc_hook_stats().peak_bytes, 0);
    alloc_hook_remove();
    f.run.bench.limits.max_codec_bytes = 512 * 512 * 3 * 2 + (1 << 20);
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    end(&f);
}

static void libjpeg_itself_is_held_to_the_memory_limit(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 4096, .height = 16, YCBCR, .h = 2, .v = 2});
    f.run.bench.limits.max_codec_bytes = 65536;
    run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_LIMIT, "max_codec_bytes");
    f.run.bench.limits.max_codec_bytes = 1 << 22;
    free(run_decode(&f.run, &f.format, f.s.data, f.s.size));
    end(&f);
}

static void case_52_kinds_that_are_named_and_refused(void **state)
{
    (void)state;
    static const struct {
        uint8_t marker;
        const char *name;
    } kinds[] = {{0xC5, "hierarchical"}, {0xC6, "hierarchical"}, {0xC7, "hierarchical"},
                 {0xC9, "arithmetic"},   {0xCA, "arithmetic"},   {0xCB, "arithmetic"},
                 {0xCD, "arithmetic"},   {0xCE, "arithmetic"},   {0xCF, "arithmetic"},
                 {0xF7, "JPEG-LS"}};
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    size_t frame = find_marker(&f.s, SOF0, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        f.s.data[frame + 1] = kinds[i].marker;
        run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_UNSUPPORTED,
                           kinds[i].name);
    }
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Case 53: tables
 * ------------------------------------------------------------------------------------------ */

static void case_53_table_numbers_that_are_not_there(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    size_t scan = find_marker(&f.s, SOS, 0);
    for (unsigned id = 1; id < 16; id++) {
        f.s.data[scan + 6] = (uint8_t)(id << 4);
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
        f.s.data[scan + 6] = (uint8_t)id;
        run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    }
    end(&f);
}

static void case_53_missing_tables(void **state)
{
    (void)state;
    static const uint8_t markers[] = {DQT, DHT};
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        begin(&f, (recipe){.width = 16, .height = 16, GREY});
        size_t at;
        while ((at = find_marker(&f.s, markers[i], 0)) < f.s.size)
            cut(&f.s, at, 2u + (size_t)(f.s.data[at + 2] << 8 | f.s.data[at + 3]));
        run_refuses_saying(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC, "missing");
        end(&f);
    }
}

static void case_53_a_component_without_a_scan(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, RGB, .scans_apart = true});
    size_t last = find_marker(&f.s, SOS, 2);
    run_refuses_saying(&f.run, &f.format, f.s.data, last, REFUSED_CODEC, "without a scan");
    end(&f);
}

/* ---------------------------------------------------------------------------------------------
 * Damage
 * ------------------------------------------------------------------------------------------ */

static void missing_data_is_an_error_not_grey_pixels(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 64, .height = 64, YCBCR, .h = 2, .v = 2});
    size_t start = find_marker(&f.s, SOS, 0) + 14;
    for (size_t size = start; size < f.s.size - 4; size += 97)
        run_refuses(&f.run, &f.format, f.s.data, size, REFUSED_CODEC);
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    free(out);
    end(&f);
}

static void a_lost_restart_marker_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 64, .height = 64, GREY, .restart = 8});
    size_t restart = find_marker(&f.s, 0xD1, 0);
    assert_true(restart < f.s.size);
    cut(&f.s, restart, 2);
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    end(&f);
}

static void bytes_between_markers_are_a_warning(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    insert(&f.s, find_marker(&f.s, SOF0, 0), "abc", 3);
    free(run_warns(&f.run, &f.format, f.s.data, f.s.size, "extraneous"));
    end(&f);
}

static void comments_and_unknown_applications_are_skipped(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, GREY});
    uint8_t *expected = reference(&f.recipe, &f.s);
    static const uint8_t segments[] = {0xFF, 0xFE, 0,    6, 'n', 'o', 't',
                                       'e',  0xFF, 0xE7, 0, 4,   1,   2};
    insert(&f.s, 2, segments, sizeof segments);
    uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
    assert_memory_equal(out, expected, 256);
    bench_silent(&f.run.bench);
    free(out);
    f.s.data[4] = 0xFF; /* longer than the stream */
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    f.s.data[4] = f.s.data[5] = 0;
    run_refuses(&f.run, &f.format, f.s.data, f.s.size, REFUSED_CODEC);
    free(expected);
    end(&f);
}

static void every_header_cut_short_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f, (recipe){.width = 16, .height = 16, YCBCR});
    size_t start = find_marker(&f.s, SOS, 0) + 14;
    for (size_t size = 0; size < start; size++)
        run_refuses(&f.run, &f.format, f.s.data, size, REFUSED_CODEC);
    end(&f);
}

static void damaged_bytes_never_show_what_the_buffer_held(void **state)
{
    (void)state;
    static const recipe recipes[] = {
        {.width = 40, .height = 40, YCBCR, .h = 2, .v = 2},
        {.width = 40, .height = 40, YCBCR, .h = 2, .v = 1, .progressive = true},
        {.width = 40, .height = 40, GREY, .restart = 2},
        {.width = 40, .height = 40, CMYK, .scans_apart = true}};
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        fixture f;
        begin(&f, recipes[i]);
        uint8_t *expected = reference(&f.recipe, &f.s);
        run_damaged(&f.run, &f.format, f.s.data, f.s.size, 3000);
        uint8_t *out = run_decode(&f.run, &f.format, f.s.data, f.s.size);
        assert_memory_equal(out, expected, 40u * 40 * recipes[i].components);
        free(out);
        free(expected);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_49_tables_of_0_1_2_bytes),
        cmocka_unit_test(case_49_tables_without_start),
        cmocka_unit_test(case_49_tables_with_an_image),
        cmocka_unit_test(case_49_tables_of_100_megabytes),
        cmocka_unit_test(case_49_good_tables_after_bad_ones),
        cmocka_unit_test(case_50_frames_larger_than_the_tile),
        cmocka_unit_test(case_50_frames_smaller_than_the_tile_leave_zeros),
        cmocka_unit_test(case_50_no_frame),
        cmocka_unit_test(case_50_two_frames),
        cmocka_unit_test(a_last_strip_may_hold_the_rows_of_a_full_one),
        cmocka_unit_test(case_51_components_that_are_not_the_samples),
        cmocka_unit_test(case_51_precision_that_is_not_the_tiles),
        cmocka_unit_test(case_51_impossible_sampling),
        cmocka_unit_test(case_51_rgb_may_not_be_subsampled),
        cmocka_unit_test(the_stream_knows_its_subsampling_better_than_the_tag),
        cmocka_unit_test(case_51_an_adobe_marker_does_not_decide_about_colour),
        cmocka_unit_test(case_51_ycbcr_with_four_components),
        cmocka_unit_test(case_52_80000_scans),
        cmocka_unit_test(case_52_scans_up_to_the_limit_are_read),
        cmocka_unit_test(case_52_coefficients_beyond_the_memory_limit),
        cmocka_unit_test(libjpeg_itself_is_held_to_the_memory_limit),
        cmocka_unit_test(case_52_kinds_that_are_named_and_refused),
        cmocka_unit_test(case_53_table_numbers_that_are_not_there),
        cmocka_unit_test(case_53_missing_tables),
        cmocka_unit_test(case_53_a_component_without_a_scan),
        cmocka_unit_test(missing_data_is_an_error_not_grey_pixels),
        cmocka_unit_test(a_lost_restart_marker_is_an_error),
        cmocka_unit_test(bytes_between_markers_are_a_warning),
        cmocka_unit_test(comments_and_unknown_applications_are_skipped),
        cmocka_unit_test(every_header_cut_short_is_an_error),
        cmocka_unit_test(damaged_bytes_never_show_what_the_buffer_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
