/* SPDX-License-Identifier: Apache-2.0
 * Hostile files, cases 22 to 32: sizes, grids, strips and tiles, samples. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/sized.h"

/* The offset of the first directory: after the header. */
#define FRONT(f) ((f)&TB_BIGTIFF ? 16u : 8u)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static tb *gray(unsigned format)
{
    tb *b = tb_new(format);
    tb_gray(b, 64, 64);
    return b;
}

static tb *tiled(unsigned format)
{
    tb *b = tb_new(format);
    tb_tiled(b, 64, 64, 16);
    return b;
}

/* One tag's one value is impossible. */
static void check_impossible(tb *b, uint16_t tag, uint64_t value)
{
    TB_LONGS(b, 0, tag, value);
    tb_finish(b);
    check_done_fails(b, NULL,
                     DEFECT(FORMAT, TAG, .tag = tag, .offset = tb_ifd_at(b, 0), .found = value));
}

/* ---- 22 to 26: sizes ---- */

static void case_22_no_width_or_no_height(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_impossible(gray(f), TZ_TAG_IMAGE_WIDTH, 0);
        check_impossible(gray(f), TZ_TAG_IMAGE_LENGTH, 0);
        tb *b = gray(f);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_LENGTH, 0);
        check_impossible(b, TZ_TAG_IMAGE_WIDTH, 0);
        b = gray(f);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_LENGTH, UINT32_MAX);
        check_impossible(b, TZ_TAG_IMAGE_WIDTH, 0);
        b = gray(f);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_WIDTH, UINT32_MAX);
        check_impossible(b, TZ_TAG_IMAGE_LENGTH, 0);
    }
}

static void case_22_width_or_height_missing(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_IMAGE_WIDTH, TZ_TAG_IMAGE_LENGTH};
    FORMATS(f)
    {
        for (size_t i = 0; i < 2; i++) {
            tb *b = gray(f);
            tb_remove(b, 0, tags[i]);
            tb_finish(b);
            check_done_fails(
                b, NULL,
                DEFECT(FORMAT, TAG, .tag = tags[i], .offset = tb_ifd_at(b, 0), .text = "missing"));
        }
    }
}

static void case_22_widest_image_of_one_row(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_WIDTH, UINT32_MAX);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_LENGTH, 1);
        check_pixels_lost(b, DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_ROWS_PER_STRIP, .offset = FRONT(f),
                                    .limit = "max_tile_bytes", .expected = 512u << 20,
                                    .found = UINT32_MAX));
    }
}

static void case_22_widest_tiled_image_of_one_row(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tiled(f);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_WIDTH, UINT32_MAX);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_LENGTH, 1);
        tb_finish(b);
        tz_file *file = check_warns_also(
            b, NULL,
            DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_OFFSETS, .expected = 1u << 28, .found = 16));
        assert_int_equal(tz_file_get_level(file, 0)->tiles_across, 1u << 28);
        assert_int_equal(tz_file_get_level(file, 0)->tile_count, 1u << 28);
        check_close(file);
        tb_free(b);
    }
}

static void case_23_huge_grid_with_one_tile(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_tiled(b, 256, 256, 256);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_WIDTH, 1u << 31);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_LENGTH, 1u << 31);
        tb_finish(b);
        tz_file *file =
            check_warns_also(b, NULL,
                             DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_OFFSETS,
                                    .offset = tb_ifd_at(b, 0), .expected = 1ull << 46, .found = 1));
        assert_int_equal(tz_file_get_level(file, 0)->tile_count, 1ull << 46);
        assert_false(tz_file_get_level(file, 0)->readable);
        check_close(file);
        tb_free(b);
    }
}

static void case_23_more_tiles_than_64_bits_count(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.tile_width = 16, .tile_height = 16, .width = 16, .height = 16});
        TB_LONGS(b, 0, TZ_TAG_IMAGE_WIDTH, UINT32_MAX);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_LENGTH, UINT32_MAX);
        TB_LONGS(b, 0, TZ_TAG_TILE_WIDTH, 1);
        TB_LONGS(b, 0, TZ_TAG_TILE_LENGTH, 1);
        TB_SHORTS(b, 0, TZ_TAG_SAMPLES_PER_PIXEL, 65535);
        TB_SHORTS(b, 0, TZ_TAG_PLANAR, 2);
        tb_finish(b);
        tz_file *file = check_opens_somehow(b, NULL);
        assert_non_null(check_find_warning(file, TZ_CAUSE_LIMIT, ANY_INT));
        assert_false(tz_file_get_level(file, 0)->readable);
        check_close(file);
        tb_free(b);
    }
}

static void case_24_one_pixel_in_a_huge_tile(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){
                        .width = 1, .height = 1, .tile_width = 1u << 30, .tile_height = 1u << 30});
        check_pixels_lost(b, DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TILE_WIDTH, .offset = FRONT(f),
                                    .limit = "max_tile_bytes", .expected = 512u << 20,
                                    .found = 1ull << 60));
    }
}

static void case_24_large_tile_of_eight_doubles(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.width = 100,
                               .height = 100,
                               .tile_width = 65520,
                               .tile_height = 65520,
                               .samples = 8,
                               .bits = 64,
                               .sample_format = 3,
                               .photometric = 1});
        check_pixels_lost(b, DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TILE_WIDTH, .offset = FRONT(f),
                                    .limit = "max_tile_bytes", .expected = 512u << 20,
                                    .found = 65520ull * 65520 * 64));
    }
}

static void case_25_tile_side_of_zero(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_impossible(tiled(f), TZ_TAG_TILE_WIDTH, 0);
        check_impossible(tiled(f), TZ_TAG_TILE_LENGTH, 0);
    }
}

static void case_25_one_tile_side_missing(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_TILE_WIDTH, TZ_TAG_TILE_LENGTH};
    FORMATS(f)
    {
        for (size_t i = 0; i < 2; i++) {
            tb *b = tiled(f);
            tb_remove(b, 0, tags[i]);
            tb_finish(b);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = tags[i], .offset = tb_ifd_at(b, 0)));
        }
    }
}

static void case_25_tile_sides_that_are_no_multiple_of_16(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 15, 17, 100};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(sides); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){
                            .width = 40, .height = 30, .tile_width = sides[i], .tile_height = 16});
            check_pixels_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_WIDTH, .offset = FRONT(f),
                                        .found = sides[i]));
            b = tb_new(f);
            tb_image(b, &(tb_spec){
                            .width = 40, .height = 30, .tile_width = 16, .tile_height = sides[i]});
            check_pixels_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_LENGTH, .offset = FRONT(f),
                                        .found = sides[i]));
        }
    }
}

static void case_26_tile_bytes_wrap_32_bits(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f); /* 65536 * 65536 * 1 is 0 in 32 bits */
        tb_image(b, &(tb_spec){.tile_width = 65536, .tile_height = 65536});
        check_pixels_lost(b, DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TILE_WIDTH, .offset = FRONT(f),
                                    .limit = "max_tile_bytes", .found = 1ull << 32));
        b = tb_new(f); /* 32768 * 32768 * 4 bytes, and 16 more */
        tb_image(b, &(tb_spec){.tile_width = 32768 + 16, .tile_height = 32768, .bits = 32});
        check_pixels_lost(b, DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TILE_WIDTH, .offset = FRONT(f),
                                    .limit = "max_tile_bytes", .found = 32784ull * 32768 * 4));
    }
}

static void case_26_tile_bytes_wrap_64_bits(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f); /* 2^31 * 2^31 * 8 * 64 bits */
        tb_image(b, &(tb_spec){.tile_width = 1u << 31,
                               .tile_height = 1u << 31,
                               .bits = 64,
                               .samples = 8,
                               .photometric = 1});
        check_pixels_lost(b, DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TILE_WIDTH, .offset = FRONT(f),
                                    .limit = "max_tile_bytes", .expected = 512u << 20));
    }
}

static void case_26_a_size_beyond_64_bits_is_lost_without_a_limit_too(void **state)
{
    (void)state;
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.limits = SIZED_LIMITS(.max_tile_bytes = TZ_UNLIMITED);
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.tile_width = 1u << 31,
                               .tile_height = 1u << 31,
                               .bits = 64,
                               .samples = 8,
                               .photometric = 1});
        tb_finish(b);
        tz_file *file = check_opens_somehow(b, &options);
        assert_non_null(check_find_warning(file, TZ_CAUSE_LIMIT, ANY_INT));
        assert_false(tz_file_get_level(file, 0)->readable);
        check_close(file);
        tb_free(b);
    }
}

/* ---- 27, 28: strips and tiles ---- */

static void case_27_zero_rows_per_strip(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        TB_LONGS(b, 0, TZ_TAG_ROWS_PER_STRIP, 0);
        check_pixels_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_ROWS_PER_STRIP, .offset = FRONT(f),
                                    .expected = 64, .found = 0));
    }
}

static void case_27_more_rows_per_strip_than_rows(void **state)
{
    (void)state;
    static const uint64_t rows[] = {64, 65, 65535, UINT32_MAX};
    FORMATS(f)
    {
        for (size_t i = 0; i <= COUNT(rows); i++) {
            tb *b = gray(f);
            if (i < COUNT(rows))
                TB_LONGS(b, 0, TZ_TAG_ROWS_PER_STRIP, rows[i]);
            else
                tb_remove(b, 0, TZ_TAG_ROWS_PER_STRIP);
            tb_finish(b);
            tz_file *file = check_opens(b, NULL);
            const tz_level *level = tz_file_get_level(file, 0);
            assert_int_equal(level->tile_height, 64);
            assert_int_equal(level->tile_count, 1);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_28_strip_and_tile_tags(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tiled(f);
        TB_LONGS(b, 0, TZ_TAG_STRIP_OFFSETS, 8);
        TB_LONGS(b, 0, TZ_TAG_STRIP_BYTE_COUNTS, 4096);
        TB_LONGS(b, 0, TZ_TAG_ROWS_PER_STRIP, 64);
        check_pixels_kept(b,
                          DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_OFFSETS, .offset = FRONT(f)));
    }
}

static void case_28_neither_strip_nor_tile_tags(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        tb_remove(b, 0, TZ_TAG_STRIP_OFFSETS);
        tb_remove(b, 0, TZ_TAG_STRIP_BYTE_COUNTS);
        tb_remove(b, 0, TZ_TAG_ROWS_PER_STRIP);
        check_pixels_lost(b,
                          DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_OFFSETS, .offset = FRONT(f)));
    }
}

/* ---- 29 to 32: samples ---- */

static void case_29_no_samples(void **state)
{
    (void)state;
    FORMATS(f)
    check_impossible(gray(f), TZ_TAG_SAMPLES_PER_PIXEL, 0);
}

static void case_29_most_samples_without_extra_samples(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 65535});
        tb_remove(b, 0, TZ_TAG_EXTRA_SAMPLES);
        check_pixels_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_EXTRA_SAMPLES, .offset = FRONT(f),
                                    .expected = 65532, .found = 0));
    }
}

static void case_29_other_numbers_of_extra_samples(void **state)
{
    (void)state;
    for (uint64_t count = 1; count < 6; count++) {
        FORMATS(f)
        {
            static const uint64_t zeros[6] = {0};
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.samples = 6}); /* RGB and three more */
            tb_set(b, 0, TZ_TAG_EXTRA_SAMPLES, TZ_TYPE_SHORT, zeros, (size_t)count);
            if (count != 3)
                check_pixels_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_EXTRA_SAMPLES,
                                            .offset = FRONT(f), .expected = 3, .found = count));
            else
                tb_free(b);
        }
    }
}

static void case_29_other_numbers_of_depths(void **state)
{
    (void)state;
    static const uint64_t eights[] = {8, 8, 8, 8};
    FORMATS(f)
    {
        for (size_t count = 1; count <= 4; count++) {
            if (count == 3)
                continue;
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.samples = 3});
            tb_set(b, 0, TZ_TAG_BITS_PER_SAMPLE, TZ_TYPE_SHORT, eights, count);
            tb_finish(b);
            check_pixels_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_BITS_PER_SAMPLE,
                                        .offset = tb_data_at(b, 0, TZ_TAG_BITS_PER_SAMPLE),
                                        .expected = 3, .found = count));
        }
    }
}

/* 500 directories of 65,535 samples whose depths are the same bytes: cheap to write, and no more to
 * read than 4 ranges a directory. */
static void case_29_directories_that_share_their_depths(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        int page = tb_image(b, &(tb_spec){.samples = 65535});
        tb_finish(b);
        tb_repeat(b, page, 500);
        tz_file *file = check_warns_also(b, NULL,
                                         DEFECT(FORMAT, TAG, .ifd = ANY_INT, .tag = ANY_INT,
                                                .expected = 4 * b->size, .text = "share"));
        const tz_info *info = tz_file_get_info(file);
        assert_true(info->chain_complete);
        uint64_t lost = 0;
        for (uint32_t i = 0; i < info->warning_count; i++)
            lost += tz_file_get_warning(file, i)->count;
        assert_int_equal(info->page_count + lost, 502);
        check_close(file);
        tb_free(b);
    }
}

/* A few that share do not matter. */
static void case_29_pages_that_share_their_depths(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int page = tb_image(b, &(tb_spec){.samples = 50});
        tb_finish(b);
        tb_repeat(b, page, 500);
        tz_file *file = check_opens(b, NULL);
        assert_int_equal(tz_file_get_info(file)->page_count, 501);
        check_close(file);
        tb_free(b);
    }
}

static void case_30_depths_that_are_none(void **state)
{
    (void)state;
    static const uint16_t depths[] = {33, 63, 65, 128, 65535};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(depths); i++) {
            tb *b = gray(f);
            TB_SHORTS(b, 0, TZ_TAG_BITS_PER_SAMPLE, depths[i]);
            check_pixels_lost(b, DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_BITS_PER_SAMPLE,
                                        .offset = ANY, .found = depths[i]));
        }
    }
}

static void case_30_depth_of_zero(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        TB_SHORTS(b, 0, TZ_TAG_BITS_PER_SAMPLE, 0);
        check_pixels_lost(b, DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_BITS_PER_SAMPLE,
                                    .offset = FRONT(f), .found = 0));
    }
}

static void case_30_odd_depths_are_widened(void **state)
{
    (void)state;
    for (uint16_t bits = 1; bits <= 32; bits++) {
        tb *b = tb_new(bits % TB_FORMATS);
        tb_image(b, &(tb_spec){.bits = bits});
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        assert_int_equal(tz_file_get_info(file)->bits_per_sample, bits);
        assert_int_equal(tz_file_get_info(file)->dtype, bits <= 8    ? TZ_DTYPE_UINT8
                                                        : bits <= 16 ? TZ_DTYPE_UINT16
                                                                     : TZ_DTYPE_UINT32);
        check_close(file);
        tb_free(b);
    }
}

static void case_30_mixed_depths(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 3});
        TB_SHORTS(b, 0, TZ_TAG_BITS_PER_SAMPLE, 8, 8, 16);
        check_pixels_lost(
            b, DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_BITS_PER_SAMPLE, .offset = FRONT(f)));
    }
}

static void case_31_unknown_sample_formats(void **state)
{
    (void)state;
    static const uint16_t formats[] = {0, 7, 255, 65535};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(formats); i++) {
            tb *b = gray(f);
            TB_SHORTS(b, 0, TZ_TAG_SAMPLE_FORMAT, formats[i]);
            check_pixels_lost(b, DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_SAMPLE_FORMAT,
                                        .offset = FRONT(f), .found = formats[i]));
        }
    }
}

static void case_31_formats_of_impossible_depths(void **state)
{
    (void)state;
    static const struct {
        uint16_t format, bits;
    } pairs[] = {{3, 8}, {3, 12}, {3, 33}, {5, 8}, {5, 16}, {6, 16}, {6, 48}, {2, 33}};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(pairs); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.sample_format = pairs[i].format, .bits = pairs[i].bits});
            check_pixels_lost(b, DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_BITS_PER_SAMPLE,
                                        .offset = FRONT(f), .found = pairs[i].bits));
        }
    }
}

static void case_31_mixed_sample_formats(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 3, .bits = 32});
        TB_SHORTS(b, 0, TZ_TAG_SAMPLE_FORMAT, 1, 3, 1);
        check_pixels_lost(b, DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = ANY_INT, .offset = FRONT(f)));
    }
}

static void case_32_planar_configuration(void **state)
{
    (void)state;
    static const uint16_t values[] = {0, 3, 65535};
    FORMATS(f)
    for (size_t i = 0; i < COUNT(values); i++)
        check_impossible(gray(f), TZ_TAG_PLANAR, values[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(case_22_no_width_or_no_height),
        CASE(case_22_width_or_height_missing),
        CASE(case_22_widest_image_of_one_row),
        CASE(case_22_widest_tiled_image_of_one_row),
        CASE(case_23_huge_grid_with_one_tile),
        CASE(case_23_more_tiles_than_64_bits_count),
        CASE(case_24_one_pixel_in_a_huge_tile),
        CASE(case_24_large_tile_of_eight_doubles),
        CASE(case_25_tile_side_of_zero),
        CASE(case_25_one_tile_side_missing),
        CASE(case_25_tile_sides_that_are_no_multiple_of_16),
        CASE(case_26_tile_bytes_wrap_32_bits),
        CASE(case_26_tile_bytes_wrap_64_bits),
        CASE(case_26_a_size_beyond_64_bits_is_lost_without_a_limit_too),
        CASE(case_27_zero_rows_per_strip),
        CASE(case_27_more_rows_per_strip_than_rows),
        CASE(case_28_strip_and_tile_tags),
        CASE(case_28_neither_strip_nor_tile_tags),
        CASE(case_29_no_samples),
        CASE(case_29_most_samples_without_extra_samples),
        CASE(case_29_other_numbers_of_extra_samples),
        CASE(case_29_other_numbers_of_depths),
        CASE(case_29_directories_that_share_their_depths),
        CASE(case_29_pages_that_share_their_depths),
        CASE(case_30_depths_that_are_none),
        CASE(case_30_depth_of_zero),
        CASE(case_30_odd_depths_are_widened),
        CASE(case_30_mixed_depths),
        CASE(case_31_unknown_sample_formats),
        CASE(case_31_formats_of_impossible_depths),
        CASE(case_31_mixed_sample_formats),
        CASE(case_32_planar_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
