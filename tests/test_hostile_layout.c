/* SPDX-License-Identifier: Apache-2.0
 * Hostile files, cases 22 to 37, 58 and 59: sizes, grids, types, tile tables, subsampling, palettes. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

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

/* The one warning, after which the pixels of level 0 cannot be asked for. */
static void check_lost(tb *b, const tz_open_options *options, const check_defect *defect)
{
    tb_finish(b);
    tz_file *file = check_warns(b, options, defect);
    assert_false(tz_file_info(file)->levels[0].readable);
    tz_tile_span span;
    tz_error err;
    assert_int_not_equal(tz_tile_locate(file, 0, 0, &span, &err), TZ_OK);
    check_close(file);
    tb_free(b);
}

/* The one warning, with pixels as good as ever. */
static void check_kept(tb *b, const check_defect *defect)
{
    tb_finish(b);
    tz_file *file = check_warns(b, NULL, defect);
    assert_true(tz_file_info(file)->levels[0].readable);
    check_locates(file, 0, 0, tb_tile_at(b, 0, 0), tb_tile_size(b, 0, 0));
    check_close(file);
    tb_free(b);
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
    FORMATS(f) {
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
    FORMATS(f) {
        for (size_t i = 0; i < 2; i++) {
            tb *b = gray(f);
            tb_remove(b, 0, tags[i]);
            tb_finish(b);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = tags[i], .offset = tb_ifd_at(b, 0),
                                    .text = "missing"));
        }
    }
}

static void case_22_widest_image_of_one_row(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_WIDTH, UINT32_MAX);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_LENGTH, 1);
        check_lost(b, NULL,
                   DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_ROWS_PER_STRIP, .limit = "max_tile_bytes",
                          .expected = 512u << 20, .found = UINT32_MAX));
    }
}

static void case_22_widest_tiled_image_of_one_row(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tiled(f);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_WIDTH, UINT32_MAX);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_LENGTH, 1);
        tb_finish(b);
        tz_file *file = check_warns_also(b, NULL,
                                         DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_OFFSETS,
                                                .expected = 1u << 28, .found = 16));
        assert_int_equal(tz_file_info(file)->levels[0].tiles_across, 1u << 28);
        assert_int_equal(tz_file_info(file)->levels[0].tile_count, 1u << 28);
        check_close(file);
        tb_free(b);
    }
}

static void case_23_huge_grid_with_one_tile(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_tiled(b, 256, 256, 256);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_WIDTH, 1u << 31);
        TB_LONGS(b, 0, TZ_TAG_IMAGE_LENGTH, 1u << 31);
        tb_finish(b);
        tz_file *file = check_warns_also(b, NULL,
                                         DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_OFFSETS,
                                                .offset = tb_ifd_at(b, 0), .expected = 1ull << 46,
                                                .found = 1));
        assert_int_equal(tz_file_info(file)->levels[0].tile_count, 1ull << 46);
        assert_false(tz_file_info(file)->levels[0].readable);
        check_close(file);
        tb_free(b);
    }
}

static void case_23_more_tiles_than_64_bits_count(void **state)
{
    (void)state;
    FORMATS(f) {
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
        assert_false(tz_file_info(file)->levels[0].readable);
        check_close(file);
        tb_free(b);
    }
}

static void case_24_one_pixel_in_a_huge_tile(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.width = 1, .height = 1, .tile_width = 1u << 30,
                               .tile_height = 1u << 30});
        check_lost(b, NULL,
                   DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TILE_WIDTH, .limit = "max_tile_bytes",
                          .expected = 512u << 20, .found = 1ull << 60));
    }
}

static void case_24_large_tile_of_eight_doubles(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.width = 100, .height = 100, .tile_width = 65520,
                               .tile_height = 65520, .samples = 8, .bits = 64,
                               .sample_format = 3, .photometric = 1});
        check_lost(b, NULL,
                   DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TILE_WIDTH, .limit = "max_tile_bytes",
                          .expected = 512u << 20, .found = 65520ull * 65520 * 64));
    }
}

static void case_25_tile_side_of_zero(void **state)
{
    (void)state;
    FORMATS(f) {
        check_impossible(tiled(f), TZ_TAG_TILE_WIDTH, 0);
        check_impossible(tiled(f), TZ_TAG_TILE_LENGTH, 0);
    }
}

static void case_25_one_tile_side_missing(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_TILE_WIDTH, TZ_TAG_TILE_LENGTH};
    FORMATS(f) {
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
    FORMATS(f) {
        for (size_t i = 0; i < COUNT(sides); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.width = 40, .height = 30, .tile_width = sides[i],
                                   .tile_height = 16});
            check_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_WIDTH, .found = sides[i]));
            b = tb_new(f);
            tb_image(b, &(tb_spec){.width = 40, .height = 30, .tile_width = 16,
                                   .tile_height = sides[i]});
            check_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_LENGTH, .found = sides[i]));
        }
    }
}

static void case_26_tile_bytes_wrap_32_bits(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f); /* 65536 * 65536 * 1 is 0 in 32 bits */
        tb_image(b, &(tb_spec){.tile_width = 65536, .tile_height = 65536});
        check_lost(b, NULL,
                   DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TILE_WIDTH, .limit = "max_tile_bytes",
                          .found = 1ull << 32));
        b = tb_new(f); /* 32768 * 32768 * 4 bytes, and 16 more */
        tb_image(b, &(tb_spec){.tile_width = 32768 + 16, .tile_height = 32768, .bits = 32});
        check_lost(b, NULL,
                   DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TILE_WIDTH, .limit = "max_tile_bytes",
                          .found = 32784ull * 32768 * 4));
    }
}

static void case_26_tile_bytes_wrap_64_bits(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f); /* 2^31 * 2^31 * 8 * 64 bits */
        tb_image(b, &(tb_spec){.tile_width = 1u << 31, .tile_height = 1u << 31, .bits = 64,
                               .samples = 8, .photometric = 1});
        check_lost(b, NULL,
                   DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_TILE_WIDTH, .limit = "max_tile_bytes",
                          .expected = 512u << 20));
    }
}

static void case_26_a_size_beyond_64_bits_is_lost_without_a_limit_too(void **state)
{
    (void)state;
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.limits.max_tile_bytes = TZ_UNLIMITED;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.tile_width = 1u << 31, .tile_height = 1u << 31, .bits = 64,
                               .samples = 8, .photometric = 1});
        tb_finish(b);
        tz_file *file = check_opens_somehow(b, &options);
        assert_non_null(check_find_warning(file, TZ_CAUSE_LIMIT, ANY_INT));
        assert_false(tz_file_info(file)->levels[0].readable);
        check_close(file);
        tb_free(b);
    }
}

/* ---- 27, 28: strips and tiles ---- */

static void case_27_zero_rows_per_strip(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        TB_LONGS(b, 0, TZ_TAG_ROWS_PER_STRIP, 0);
        check_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_ROWS_PER_STRIP, .expected = 64,
                             .found = 0));
    }
}

static void case_27_more_rows_per_strip_than_rows(void **state)
{
    (void)state;
    static const uint64_t rows[] = {64, 65, 65535, UINT32_MAX};
    FORMATS(f) {
        for (size_t i = 0; i <= COUNT(rows); i++) {
            tb *b = gray(f);
            if (i < COUNT(rows))
                TB_LONGS(b, 0, TZ_TAG_ROWS_PER_STRIP, rows[i]);
            else
                tb_remove(b, 0, TZ_TAG_ROWS_PER_STRIP);
            tb_finish(b);
            tz_file *file = check_opens(b, NULL);
            const tz_level *level = &tz_file_info(file)->levels[0];
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
    FORMATS(f) {
        tb *b = tiled(f);
        TB_LONGS(b, 0, TZ_TAG_STRIP_OFFSETS, 8);
        TB_LONGS(b, 0, TZ_TAG_STRIP_BYTE_COUNTS, 4096);
        TB_LONGS(b, 0, TZ_TAG_ROWS_PER_STRIP, 64);
        check_kept(b, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_OFFSETS));
    }
}

static void case_28_neither_strip_nor_tile_tags(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        tb_remove(b, 0, TZ_TAG_STRIP_OFFSETS);
        tb_remove(b, 0, TZ_TAG_STRIP_BYTE_COUNTS);
        tb_remove(b, 0, TZ_TAG_ROWS_PER_STRIP);
        check_lost(b, NULL, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_OFFSETS));
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
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 65535});
        tb_remove(b, 0, TZ_TAG_EXTRA_SAMPLES);
        check_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_EXTRA_SAMPLES, .expected = 65532,
                             .found = 0));
    }
}

static void case_29_other_numbers_of_extra_samples(void **state)
{
    (void)state;
    for (uint64_t count = 1; count < 6; count++) {
        FORMATS(f) {
            static const uint64_t zeros[6] = {0};
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.samples = 6}); /* RGB and three more */
            tb_set(b, 0, TZ_TAG_EXTRA_SAMPLES, TZ_TYPE_SHORT, zeros, (size_t)count);
            if (count != 3)
                check_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_EXTRA_SAMPLES, .expected = 3,
                                     .found = count));
            else
                tb_free(b);
        }
    }
}

static void case_29_other_numbers_of_depths(void **state)
{
    (void)state;
    static const uint64_t eights[] = {8, 8, 8, 8};
    FORMATS(f) {
        for (size_t count = 1; count <= 4; count++) {
            if (count == 3)
                continue;
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.samples = 3});
            tb_set(b, 0, TZ_TAG_BITS_PER_SAMPLE, TZ_TYPE_SHORT, eights, count);
            check_kept(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_BITS_PER_SAMPLE, .expected = 3,
                                 .found = count));
        }
    }
}

static void case_30_depths_that_are_none(void **state)
{
    (void)state;
    static const uint16_t depths[] = {33, 63, 65, 128, 65535};
    FORMATS(f) {
        for (size_t i = 0; i < COUNT(depths); i++) {
            tb *b = gray(f);
            TB_SHORTS(b, 0, TZ_TAG_BITS_PER_SAMPLE, depths[i]);
            check_lost(b, NULL,
                       DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_BITS_PER_SAMPLE,
                              .offset = ANY, .found = depths[i]));
        }
    }
}

static void case_30_depth_of_zero(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        TB_SHORTS(b, 0, TZ_TAG_BITS_PER_SAMPLE, 0);
        check_lost(b, NULL,
                   DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_BITS_PER_SAMPLE, .found = 0));
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
        assert_int_equal(tz_file_info(file)->bits_per_sample, bits);
        assert_int_equal(tz_file_info(file)->dtype, bits <= 8    ? TZ_DTYPE_UINT8
                                                    : bits <= 16 ? TZ_DTYPE_UINT16
                                                                 : TZ_DTYPE_UINT32);
        check_close(file);
        tb_free(b);
    }
}

static void case_30_mixed_depths(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 3});
        TB_SHORTS(b, 0, TZ_TAG_BITS_PER_SAMPLE, 8, 8, 16);
        check_lost(b, NULL, DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_BITS_PER_SAMPLE));
    }
}

static void case_31_unknown_sample_formats(void **state)
{
    (void)state;
    static const uint16_t formats[] = {0, 7, 255, 65535};
    FORMATS(f) {
        for (size_t i = 0; i < COUNT(formats); i++) {
            tb *b = gray(f);
            TB_SHORTS(b, 0, TZ_TAG_SAMPLE_FORMAT, formats[i]);
            check_lost(b, NULL,
                       DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_SAMPLE_FORMAT,
                              .found = formats[i]));
        }
    }
}

static void case_31_formats_of_impossible_depths(void **state)
{
    (void)state;
    static const struct {
        uint16_t format, bits;
    } pairs[] = {{3, 8}, {3, 12}, {3, 33}, {5, 8}, {5, 16}, {6, 16}, {6, 48}, {2, 33}};
    FORMATS(f) {
        for (size_t i = 0; i < COUNT(pairs); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.sample_format = pairs[i].format, .bits = pairs[i].bits});
            check_lost(b, NULL,
                       DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = TZ_TAG_BITS_PER_SAMPLE,
                              .found = pairs[i].bits));
        }
    }
}

static void case_31_mixed_sample_formats(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 3, .bits = 32});
        TB_SHORTS(b, 0, TZ_TAG_SAMPLE_FORMAT, 1, 3, 1);
        check_lost(b, NULL, DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = ANY_INT));
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

/* ---- 33: tables and the grid ---- */

static void case_33_fewer_values_than_tiles(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_TILE_OFFSETS, TZ_TAG_TILE_BYTE_COUNTS};
    FORMATS(f) {
        for (size_t i = 0; i < 2; i++) {
            for (uint64_t count = 1; count < 16; count += 7) {
                tb *b = tiled(f);
                tb_find(b, 0, tags[i])->count = count;
                check_lost(b, NULL,
                           DEFECT(FORMAT, LAYOUT, .tag = tags[i], .expected = 16, .found = count));
            }
        }
    }
}

static void case_33_more_values_than_tiles(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_TILE_OFFSETS, TZ_TAG_TILE_BYTE_COUNTS};
    FORMATS(f) {
        for (size_t i = 0; i < 2; i++) {
            tb *b = tiled(f);
            tb_find(b, 0, tags[i])->count = 17;
            check_kept(b, DEFECT(FORMAT, LAYOUT, .tag = tags[i], .expected = 16, .found = 17));
        }
    }
}

static void case_33_offsets_missing(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tiled(f);
        tb_remove(b, 0, TZ_TAG_TILE_OFFSETS);
        check_lost(b, NULL, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_OFFSETS));
        b = gray(f);
        tb_remove(b, 0, TZ_TAG_STRIP_OFFSETS);
        check_lost(b, NULL, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_OFFSETS));
    }
}

static void case_33_sizes_missing_of_compressed_tiles(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.tile_width = 16, .tile_height = 16, .compression = 8});
        tb_remove(b, 0, TZ_TAG_TILE_BYTE_COUNTS);
        check_lost(b, NULL, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_BYTE_COUNTS));
    }
}

static void case_33_sizes_missing_of_plain_tiles(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.tile_width = 16, .tile_height = 16, .tile_bytes = 256});
        tb_remove(b, 0, TZ_TAG_TILE_BYTE_COUNTS);
        check_kept(b, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_BYTE_COUNTS));
    }
}

static void case_33_sizes_missing_of_plain_strips(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f); /* strips of 16, 16 and 8 rows */
        tb_image(b, &(tb_spec){.height = 40, .rows_per_strip = 16, .tile_bytes = 1024});
        tb_remove(b, 0, TZ_TAG_STRIP_BYTE_COUNTS);
        tb_finish(b);
        tz_file *file =
            check_warns(b, NULL, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_BYTE_COUNTS));
        check_locates(file, 0, 1, tb_tile_at(b, 0, 1), 1024);
        check_locates(file, 0, 2, tb_tile_at(b, 0, 2), 512);
        check_close(file);
        tb_free(b);
    }
}

static void case_33_size_missing_of_a_single_tile(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.compression = 8, .tile_bytes = 100});
        tb_remove(b, 0, TZ_TAG_STRIP_BYTE_COUNTS);
        tb_finish(b);
        tz_file *file =
            check_warns(b, NULL, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_BYTE_COUNTS));
        uint64_t at = tb_tile_at(b, 0, 0);
        check_locates(file, 0, 0, at, b->size - at);
        check_close(file);
        tb_free(b);
    }
}

/* ---- 34 to 37: single tiles ---- */

static void case_34_size_without_offset_or_offset_without_size(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tiled(f);
        tb_finish(b);
        uint64_t good = tb_tile_at(b, 0, 3);
        tb_patch_tile(b, 0, 3, 0, 16);
        tb_patch_tile(b, 0, 5, good, 0);
        tb_patch_tile(b, 0, 6, 0, 0);
        tz_file *file = check_opens(b, NULL);
        check_locate_fails(file, 0, 3,
                           DEFECT(FORMAT, LAYOUT, .tag = ANY_INT, .level = 0, .tile = 3));
        check_locate_fails(file, 0, 5,
                           DEFECT(FORMAT, LAYOUT, .tag = ANY_INT, .level = 0, .tile = 5));
        check_locates(file, 0, 6, 0, 0);
        check_locates(file, 0, 4, tb_tile_at(b, 0, 4), 16);
        check_close(file);
        tb_free(b);
    }
}

static void case_35_tile_past_the_end(void **state)
{
    (void)state;
    FORMATS(f) {
        uint64_t top = f & TB_BIGTIFF ? UINT64_MAX : UINT32_MAX;
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.tile_width = 16, .tile_height = 16,
                               .size_type = f & TB_BIGTIFF ? TZ_TYPE_LONG8 : TZ_TYPE_LONG});
        tb_finish(b);
        const struct {
            uint64_t offset, size;
        } bad[] = {{b->size - 16, 17}, {b->size, 1},   {b->size + 1, 1}, {8, b->size},
                   {top - 5, 100},     {100, top},     {top, top},       {top, 1}};
        for (uint64_t i = 0; i < COUNT(bad); i++)
            tb_patch_tile(b, 0, i, bad[i].offset, bad[i].size);
        tb_patch_tile(b, 0, 8, b->size - 16, 16);
        tz_file *file = check_opens(b, NULL);
        for (uint64_t i = 0; i < COUNT(bad); i++)
            check_locate_fails(file, 0, i,
                               DEFECT(FORMAT, TRUNCATED, .tag = ANY_INT, .level = 0,
                                      .tile = (int64_t)i, .offset = bad[i].offset));
        check_locates(file, 0, 8, b->size - 16, 16);
        check_close(file);
        tb_free(b);
    }
}

static void case_36_tiles_over_header_and_directory(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tiled(f);
        tb_finish(b);
        tb_patch_tile(b, 0, 0, 2, 16);
        tb_patch_tile(b, 0, 1, tb_ifd_at(b, 0), 16);
        tb_patch_tile(b, 0, 2, 8, 100);
        tz_file *file = check_opens(b, NULL);
        check_locates(file, 0, 0, 2, 16);
        check_locates(file, 0, 1, tb_ifd_at(b, 0), 16);
        check_locates(file, 0, 2, 8, 100);
        check_close(file);
        tb_free(b);
    }
}

static void case_36_all_tiles_at_one_place(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tiled(f);
        tb_finish(b);
        uint64_t at = tb_tile_at(b, 0, 7);
        for (uint64_t i = 0; i < 16; i++)
            tb_patch_tile(b, 0, i, at, 16);
        tb_patch_tile(b, 0, 9, at + 8, 16); /* and one that overlaps */
        tz_file *file = check_opens(b, NULL);
        for (uint64_t i = 0; i < 16; i++)
            check_locates(file, 0, i, i == 9 ? at + 8 : at, 16);
        uint64_t bytes = 0, sparse = 1;
        assert_int_equal(tz_level_stored_size(file, 0, &bytes, &sparse, NULL), TZ_OK);
        assert_int_equal(bytes, 16 * 16);
        assert_int_equal(sparse, 0);
        check_close(file);
        tb_free(b);
    }
}

static void case_37_negative_offsets_and_sizes(void **state)
{
    (void)state;
    static const uint16_t types[] = {TZ_TYPE_SBYTE, TZ_TYPE_SSHORT, TZ_TYPE_SLONG, TZ_TYPE_SLONG8};
    FORMATS(f) {
        for (size_t i = 0; i < COUNT(types); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.tile_width = 32, .tile_height = 32, .offset_type = types[i],
                                   .size_type = types[i]});
            tb_finish(b);
            tb_patch_tile(b, 0, 1, (uint64_t)-3, 16);
            tb_patch_tile(b, 0, 2, 100, (uint64_t)-3);
            tz_file *file = check_opens_somehow(b, NULL);
            assert_true(tz_file_info(file)->levels[0].readable);
            check_locate_fails(file, 0, 1,
                               DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_OFFSETS, .level = 0,
                                      .tile = 1));
            check_locate_fails(file, 0, 2,
                               DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_BYTE_COUNTS, .level = 0,
                                      .tile = 2));
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_37_tables_of_bytes(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f); /* tiles at the very front, so that their offsets fit */
        b->data_first = true;
        tb_image(b, &(tb_spec){.tile_width = 32, .tile_height = 32, .offset_type = TZ_TYPE_BYTE,
                               .size_type = TZ_TYPE_BYTE});
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        for (uint64_t i = 0; i < 4; i++)
            check_locates(file, 0, i, tb_tile_at(b, 0, i), 16);
        check_close(file);
        tb_free(b);
    }
}

static void case_37_tables_of_types_that_count_nothing(void **state)
{
    (void)state;
    static const uint16_t types[] = {TZ_TYPE_ASCII, TZ_TYPE_RATIONAL, TZ_TYPE_FLOAT, TZ_TYPE_DOUBLE,
                                     TZ_TYPE_UNDEFINED};
    FORMATS(f) {
        for (size_t i = 0; i < COUNT(types); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.tile_width = 32, .tile_height = 32, .offset_type = types[i]});
            check_lost(b, NULL,
                       DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_OFFSETS, .found = types[i]));
        }
    }
}

/* ---- 58: subsampling ---- */

static tb *ycbcr(unsigned format, uint32_t width, uint32_t height, uint64_t across, uint64_t down)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){.width = width, .height = height, .samples = 3, .photometric = 6,
                           .compression = 7});
    TB_SHORTS(b, 0, TZ_TAG_YCBCR_SUBSAMPLING, across, down);
    return b;
}

static void case_58_subsampling_of_impossible_factors(void **state)
{
    (void)state;
    static const uint16_t factors[][2] = {{0, 0}, {0, 1}, {1, 0}, {3, 1}, {1, 3}, {8, 8}, {65535, 2}};
    FORMATS(f) {
        for (size_t i = 0; i < COUNT(factors); i++) {
            uint16_t across = factors[i][0], down = factors[i][1];
            bool first = across != 1 && across != 2 && across != 4;
            check_lost(ycbcr(f, 64, 64, across, down), NULL,
                       DEFECT(FORMAT, TAG, .tag = TZ_TAG_YCBCR_SUBSAMPLING,
                              .found = first ? across : down));
        }
    }
}

static void case_58_subsampling_larger_than_the_image(void **state)
{
    (void)state;
    FORMATS(f) {
        for (uint32_t side = 1; side < 20; side += 6) {
            tb *b = ycbcr(f, side, side, 4, 4);
            tb_finish(b);
            tz_file *file = check_opens(b, NULL);
            assert_int_equal(tz_file_info(file)->ycbcr_subsampling[0], 4);
            assert_int_equal(tz_file_info(file)->ycbcr_subsampling[1], 4);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_58_subsampling_of_one_or_three_values(void **state)
{
    (void)state;
    FORMATS(f) {
        for (uint64_t count = 0; count < 4; count++) {
            tb *b = ycbcr(f, 64, 64, 1, 1);
            tb_finish(b);
            tb_patch_count(b, 0, TZ_TAG_YCBCR_SUBSAMPLING, count);
            if (count == 2)
                check_done_opens(b, NULL);
            else
                check_done_warns(b, NULL,
                                 DEFECT(FORMAT, TAG, .tag = TZ_TAG_YCBCR_SUBSAMPLING,
                                        .expected = 2, .found = count));
        }
    }
}

/* ---- 59: palettes ---- */

static tb *palette(unsigned format, uint16_t bits, uint64_t map_count)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){.photometric = 3, .bits = bits});
    uint64_t *map = calloc((size_t)map_count, sizeof *map);
    for (uint64_t i = 0; i < map_count; i++)
        map[i] = i & 0xffff;
    tb_set(b, 0, TZ_TAG_COLOR_MAP, TZ_TYPE_SHORT, map, (size_t)map_count);
    free(map);
    return b;
}

static void case_59_color_map_of_a_wrong_length(void **state)
{
    (void)state;
    static const struct {
        uint16_t bits;
        uint64_t count, wanted;
    } maps[] = {{8, 3, 768},        {8, 767, 768},   {8, 769, 768}, {16, 3 * 65536 - 1, 3 * 65536},
                {1, 3, 6},          {4, 49, 48}};
    FORMATS(f) {
        for (size_t i = 0; i < COUNT(maps); i++) {
            tb *b = palette(f, maps[i].bits, maps[i].count);
            tb_finish(b);
            tz_file *file = check_warns(b, NULL,
                                        DEFECT(FORMAT, TAG, .tag = TZ_TAG_COLOR_MAP,
                                               .expected = maps[i].wanted,
                                               .found = maps[i].count));
            assert_null(tz_file_info(file)->color_map);
            assert_int_equal(tz_file_info(file)->color_map_size, 0);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_59_color_map_of_the_right_length(void **state)
{
    (void)state;
    static const uint16_t depths[] = {1, 2, 4, 8, 16};
    FORMATS(f) {
        for (size_t i = 0; i < COUNT(depths); i++) {
            uint64_t entries = 1ull << depths[i];
            tb *b = palette(f, depths[i], 3 * entries);
            tb_finish(b);
            tz_file *file = check_opens(b, NULL);
            const tz_info *info = tz_file_info(file);
            assert_int_equal(info->color_map_size, entries);
            for (uint64_t k = 0; k < 3 * entries; k++)
                assert_int_equal(info->color_map[k], k & 0xffff);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_59_palette_deeper_than_any_map(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = palette(f, 32, 768);
        tb_finish(b);
        check_done_warns(b, NULL, DEFECT(FORMAT, TAG, .tag = TZ_TAG_COLOR_MAP, .found = 768));
    }
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
        CASE(case_30_depths_that_are_none),
        CASE(case_30_depth_of_zero),
        CASE(case_30_odd_depths_are_widened),
        CASE(case_30_mixed_depths),
        CASE(case_31_unknown_sample_formats),
        CASE(case_31_formats_of_impossible_depths),
        CASE(case_31_mixed_sample_formats),
        CASE(case_32_planar_configuration),
        CASE(case_33_fewer_values_than_tiles),
        CASE(case_33_more_values_than_tiles),
        CASE(case_33_offsets_missing),
        CASE(case_33_sizes_missing_of_compressed_tiles),
        CASE(case_33_sizes_missing_of_plain_tiles),
        CASE(case_33_sizes_missing_of_plain_strips),
        CASE(case_33_size_missing_of_a_single_tile),
        CASE(case_34_size_without_offset_or_offset_without_size),
        CASE(case_35_tile_past_the_end),
        CASE(case_36_tiles_over_header_and_directory),
        CASE(case_36_all_tiles_at_one_place),
        CASE(case_37_negative_offsets_and_sizes),
        CASE(case_37_tables_of_bytes),
        CASE(case_37_tables_of_types_that_count_nothing),
        CASE(case_58_subsampling_of_impossible_factors),
        CASE(case_58_subsampling_larger_than_the_image),
        CASE(case_58_subsampling_of_one_or_three_values),
        CASE(case_59_color_map_of_a_wrong_length),
        CASE(case_59_color_map_of_the_right_length),
        CASE(case_59_palette_deeper_than_any_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
