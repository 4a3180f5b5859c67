/* SPDX-License-Identifier: Apache-2.0
 * Hostile files, cases 12 to 21: order, repetition, types, counts and places of tags. */
#include <stdio.h>
#include <string.h>

#include "support/check.h"

#define TAG_SOFTWARE 305
#define TAG_PRIVATE  65000

static const uint16_t structural_tags[] = {
    TZ_TAG_IMAGE_WIDTH,       TZ_TAG_IMAGE_LENGTH, TZ_TAG_BITS_PER_SAMPLE,
    TZ_TAG_COMPRESSION,       TZ_TAG_PLANAR,       TZ_TAG_PREDICTOR,
    TZ_TAG_SAMPLES_PER_PIXEL, TZ_TAG_TILE_WIDTH,   TZ_TAG_TILE_LENGTH,
    TZ_TAG_EXTRA_SAMPLES,     TZ_TAG_SAMPLE_FORMAT,
};
#define STRUCTURAL_COUNT (sizeof structural_tags / sizeof structural_tags[0])

/* A tiled image with every structural tag. */
static tb *all_structural(unsigned format)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){.tile_width = 16, .tile_height = 16, .samples = 2, .predictor = 1});
    return b;
}

static tb *gray(unsigned format)
{
    tb *b = tb_new(format);
    tb_gray(b, 64, 64);
    return b;
}

/* ---- 12: order ---- */

static void case_12_tags_not_ascending(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        tb_remove(b, 0, TZ_TAG_PHOTOMETRIC);
        TB_SHORTS(b, 0, TZ_TAG_PHOTOMETRIC, 0); /* now the last */
        b->ifds[0].unsorted = true;
        tb_finish(b);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(FORMAT, IFD, .tag = TZ_TAG_PHOTOMETRIC,
                                           .offset = tb_entry_at(b, 0, TZ_TAG_PHOTOMETRIC)));
        assert_int_equal(tz_file_info(file)->photometric, 0);
        check_close(file);
        tb_free(b);
    }
}

static void case_12_tags_in_reverse(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        int image = tb_ifd_new(b);
        TB_LONGS(b, image, TZ_TAG_STRIP_BYTE_COUNTS, 16);
        TB_LONGS(b, image, TZ_TAG_STRIP_OFFSETS, 8);
        TB_SHORTS(b, image, TZ_TAG_IMAGE_LENGTH, 4);
        TB_SHORTS(b, image, TZ_TAG_IMAGE_WIDTH, 3);
        b->ifds[image].unsorted = true;
        tb_finish(b);
        tz_file *file = check_warns_also(b, NULL,
                                         DEFECT(FORMAT, IFD, .tag = TZ_TAG_STRIP_OFFSETS,
                                                .offset = tb_entry_at(b, 0, TZ_TAG_STRIP_OFFSETS)));
        assert_int_equal(tz_file_info(file)->width, 3);
        assert_int_equal(tz_file_info(file)->height, 4);
        check_close(file);
        tb_free(b);
    }
}

/* ---- 13: duplicates ---- */

static void case_13_image_width_twice(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        TB_SHORTS(b, 0, TZ_TAG_IMAGE_WIDTH, 4);
        tb_add_again(b, 0, TZ_TAG_IMAGE_WIDTH, TZ_TYPE_SHORT, 999);
        tb_finish(b);
        uint64_t second = tb_entry_at(b, 0, TZ_TAG_IMAGE_WIDTH) + (b->bigtiff ? 20 : 12);
        check_done_fails(b, NULL,
                         DEFECT(FORMAT, TAG, .tag = TZ_TAG_IMAGE_WIDTH, .offset = second,
                                .text = "duplicate"));
    }
}

static void case_13_every_structural_tag_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < STRUCTURAL_COUNT; i++) {
        tb *b = all_structural(i % TB_FORMATS);
        tb_add_again(b, 0, structural_tags[i], TZ_TYPE_SHORT, 1);
        tb_finish(b);
        check_done_fails(b, NULL,
                         DEFECT(FORMAT, TAG, .tag = structural_tags[i], .text = "duplicate"));
    }
}

static void case_13_every_tile_table_twice(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_STRIP_OFFSETS, TZ_TAG_STRIP_BYTE_COUNTS};
    FORMATS(f) {
        for (size_t i = 0; i < 2; i++) {
            tb *b = gray(f);
            tb_add_again(b, 0, tags[i], TZ_TYPE_LONG, 100);
            tb_finish(b);
            check_done_fails(b, NULL, DEFECT(FORMAT, TAG, .tag = tags[i], .text = "duplicate"));
        }
    }
}

static void case_13_another_tag_twice_the_first_counts(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        TB_SHORTS(b, 0, TZ_TAG_ORIENTATION, 3);
        tb_add_again(b, 0, TZ_TAG_ORIENTATION, TZ_TYPE_SHORT, 6);
        tb_finish(b);
        uint64_t second = tb_entry_at(b, 0, TZ_TAG_ORIENTATION) + (b->bigtiff ? 20 : 12);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(FORMAT, TAG, .tag = TZ_TAG_ORIENTATION,
                                           .offset = second, .text = "duplicate"));
        assert_int_equal(tz_file_info(file)->orientation, 3);
        check_close(file);
        tb_free(b);
    }
}

static void case_13_a_tag_without_meaning_twice(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        TB_SHORTS(b, 0, TAG_PRIVATE, 3);
        tb_add_again(b, 0, TAG_PRIVATE, TZ_TYPE_SHORT, 6);
        tb_finish(b);
        uint64_t second = tb_entry_at(b, 0, TAG_PRIVATE) + (b->bigtiff ? 20 : 12);
        check_done_warns(b, NULL,
                         DEFECT(FORMAT, TAG, .tag = TAG_PRIVATE, .offset = second,
                                .text = "duplicate"));
    }
}

/* ---- 14, 15: types ---- */

static const uint16_t unknown_types[] = {0, 14, 15, 19, 32, 255, 65535};
#define UNKNOWN_TYPE_COUNT (sizeof unknown_types / sizeof unknown_types[0])

static void case_14_unknown_type_in_a_structural_tag(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNKNOWN_TYPE_COUNT; i++) {
        for (size_t k = 0; k < STRUCTURAL_COUNT; k++) {
            tb *b = all_structural((unsigned)(i + k) % TB_FORMATS);
            tb_finish(b);
            tb_patch_type(b, 0, structural_tags[k], unknown_types[i]);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = structural_tags[k],
                                    .offset = tb_entry_at(b, 0, structural_tags[k]),
                                    .found = unknown_types[i]));
        }
    }
}

static void case_14_unknown_type_elsewhere_is_skipped(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_GDAL_NODATA, TZ_TAG_PHOTOMETRIC, TAG_SOFTWARE,
                                    TAG_PRIVATE};
    for (size_t i = 0; i < UNKNOWN_TYPE_COUNT; i++) {
        for (size_t k = 0; k < sizeof tags / sizeof tags[0]; k++) {
            tb *b = gray((unsigned)(i + k) % TB_FORMATS);
            tb_set_text(b, 0, tags[k], "0");
            tb_finish(b);
            tb_patch_type(b, 0, tags[k], unknown_types[i]);
            tz_file *file = check_warns(b, NULL,
                                        DEFECT(FORMAT, TAG, .tag = tags[k],
                                               .offset = tb_entry_at(b, 0, tags[k]),
                                               .found = unknown_types[i]));
            assert_null(tz_file_info(file)->nodata_text);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_14_unknown_type_in_a_tile_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNKNOWN_TYPE_COUNT; i++) {
        tb *b = gray((unsigned)i % TB_FORMATS);
        tb_finish(b);
        tb_patch_type(b, 0, TZ_TAG_STRIP_OFFSETS, unknown_types[i]);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(FORMAT, TAG, .tag = TZ_TAG_STRIP_OFFSETS,
                                           .offset = tb_entry_at(b, 0, TZ_TAG_STRIP_OFFSETS),
                                           .found = unknown_types[i]));
        assert_false(tz_file_info(file)->levels[0].readable);
        check_close(file);
        tb_free(b);
    }
}

static void case_15_image_width_of_a_wrong_type(void **state)
{
    (void)state;
    static const uint16_t types[] = {TZ_TYPE_ASCII, TZ_TYPE_DOUBLE, TZ_TYPE_RATIONAL,
                                     TZ_TYPE_SRATIONAL, TZ_TYPE_FLOAT, TZ_TYPE_UNDEFINED};
    FORMATS(f) {
        for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
            tb *b = gray(f);
            TB_SET(b, 0, TZ_TAG_IMAGE_WIDTH, types[i], 64, 1);
            tb_find(b, 0, TZ_TAG_IMAGE_WIDTH)->count = 1;
            tb_finish(b);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = TZ_TAG_IMAGE_WIDTH,
                                    .offset = tb_entry_at(b, 0, TZ_TAG_IMAGE_WIDTH),
                                    .found = types[i], .text = "expected SHORT or LONG"));
        }
    }
}

static void case_15_image_width_negative(void **state)
{
    (void)state;
    static const uint16_t types[] = {TZ_TYPE_SBYTE, TZ_TYPE_SSHORT, TZ_TYPE_SLONG, TZ_TYPE_SLONG8};
    FORMATS(f) {
        for (size_t i = 0; i < 4; i++) {
            tb *b = gray(f);
            TB_SET(b, 0, TZ_TAG_IMAGE_WIDTH, types[i], (uint64_t)-1);
            tb_finish(b);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = TZ_TAG_IMAGE_WIDTH,
                                    .offset = tb_data_at(b, 0, TZ_TAG_IMAGE_WIDTH)));
        }
    }
}

static void case_15_image_width_signed_but_positive(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        TB_SET(b, 0, TZ_TAG_IMAGE_WIDTH, TZ_TYPE_SLONG, 64);
        tb_finish(b);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(FORMAT, TAG, .tag = TZ_TAG_IMAGE_WIDTH,
                                           .offset = tb_entry_at(b, 0, TZ_TAG_IMAGE_WIDTH),
                                           .found = TZ_TYPE_SLONG));
        assert_int_equal(tz_file_info(file)->width, 64);
        check_close(file);
        tb_free(b);
    }
}

static void case_15_image_width_beyond_32_bits(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        TB_SET(b, 0, TZ_TAG_IMAGE_WIDTH, TZ_TYPE_LONG8, 1ull << 32);
        tb_finish(b);
        check_done_fails(b, NULL,
                         DEFECT(FORMAT, TAG, .tag = TZ_TAG_IMAGE_WIDTH,
                                .offset = tb_entry_at(b, 0, TZ_TAG_IMAGE_WIDTH),
                                .expected = UINT32_MAX, .found = 1ull << 32));
    }
}

/* ---- 16, 17: counts ---- */

static void case_16_count_zero_in_structural_tags(void **state)
{
    (void)state;
    for (size_t k = 0; k < STRUCTURAL_COUNT; k++) {
        FORMATS(f) {
            tb *b = all_structural(f);
            tb_finish(b);
            tb_patch_count(b, 0, structural_tags[k], 0);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = structural_tags[k],
                                    .offset = tb_entry_at(b, 0, structural_tags[k]), .expected = 1,
                                    .found = 0));
        }
    }
}

static void case_16_count_zero_in_tile_tables(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_STRIP_OFFSETS, TZ_TAG_STRIP_BYTE_COUNTS};
    FORMATS(f) {
        for (size_t i = 0; i < 2; i++) {
            tb *b = gray(f);
            tb_finish(b);
            tb_patch_count(b, 0, tags[i], 0);
            tz_file *file = check_warns(b, NULL,
                                        DEFECT(FORMAT, TAG, .tag = tags[i],
                                               .offset = tb_entry_at(b, 0, tags[i]),
                                               .expected = 1, .found = 0));
            assert_false(tz_file_info(file)->levels[0].readable);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_16_two_values_where_one_belongs(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_IMAGE_WIDTH, TZ_TAG_IMAGE_LENGTH, TZ_TAG_PLANAR,
                                    TZ_TAG_SAMPLES_PER_PIXEL};
    FORMATS(f) {
        for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
            tb *b = gray(f);
            TB_SHORTS(b, 0, tags[i], 1, 1);
            tb_finish(b);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = tags[i],
                                    .offset = tb_entry_at(b, 0, tags[i]), .expected = 1,
                                    .found = 2));
        }
    }
}

static void case_17_32_gib_of_doubles_in_a_small_file(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_GEO_DOUBLES, TZ_TAG_TIEPOINTS, TZ_TAG_PIXEL_SCALE,
                                    TZ_TAG_TRANSFORMATION, TZ_TAG_RPC};
    FORMATS(f) {
        for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
            tb *b = gray(f);
            tb_set_raw(b, 0, tags[i], TZ_TYPE_DOUBLE, UINT32_MAX, 100);
            tb_finish(b);
            check_done_warns(b, NULL,
                             DEFECT(LIMIT, LIMIT, .tag = tags[i], .limit = "max_tag_bytes",
                                    .offset = tb_entry_at(b, 0, tags[i]),
                                    .expected = 256u << 20, .found = 8ull * UINT32_MAX));
        }
    }
}

static void case_17_huge_counts_in_structural_tags(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_BITS_PER_SAMPLE, TZ_TAG_SAMPLE_FORMAT};
    FORMATS(f) {
        for (size_t i = 0; i < 2; i++) {
            tb *b = gray(f);
            tb_set_raw(b, 0, tags[i], TZ_TYPE_SHORT, UINT32_MAX, 100);
            tb_finish(b);
            check_done_fails(b, NULL,
                             DEFECT(LIMIT, LIMIT, .tag = tags[i], .limit = "max_tag_bytes",
                                    .offset = tb_entry_at(b, 0, tags[i]), .expected = 256u << 20,
                                    .found = 2ull * UINT32_MAX));
        }
    }
}

static void case_17_a_count_whose_bytes_do_not_fit_64_bits(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1ull << 61, (1ull << 61) + 1, 1ull << 63, UINT64_MAX};
    BIG_FORMATS(f) {
        for (size_t i = 0; i < 4; i++) {
            tb *b = gray(f);
            tb_set_raw(b, 0, TZ_TAG_GEO_DOUBLES, TZ_TYPE_DOUBLE, counts[i], 100);
            tb_finish(b);
            check_done_warns(b, NULL,
                             DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_GEO_DOUBLES,
                                    .limit = "max_tag_bytes", .expected = 256u << 20));
        }
    }
}

static void case_17_within_the_limit_but_not_in_the_file(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        tb_set_raw(b, 0, TZ_TAG_GEO_DOUBLES, TZ_TYPE_DOUBLE, 1u << 25, 100);
        tb_finish(b);
        check_done_warns(b, NULL,
                         DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_GEO_DOUBLES,
                                .offset = tb_entry_at(b, 0, TZ_TAG_GEO_DOUBLES),
                                .expected = 256u << 20, .found = b->size - 100));
    }
}

static void case_17_no_limit_does_not_mean_no_check(void **state)
{
    (void)state;
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.limits.max_tag_bytes = TZ_UNLIMITED;
    FORMATS(f) {
        tb *b = gray(f);
        tb_set_raw(b, 0, TZ_TAG_GEO_DOUBLES, TZ_TYPE_DOUBLE,
                   b->bigtiff ? UINT64_MAX : UINT32_MAX, 100);
        tb_finish(b);
        check_done_warns(b, &options, DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_GEO_DOUBLES));
    }
}

/* ---- 18: places ---- */

/* BitsPerSample of eight samples is too long to be inline in either form. */
static tb *bits_out_of_line(unsigned format)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){.samples = 8});
    TB_DOUBLES(b, 0, TZ_TAG_PIXEL_SCALE, 10, 10, 0);
    TB_DOUBLES(b, 0, TZ_TAG_TIEPOINTS, 0, 0, 0, 1, 2, 3);
    TB_SHORTS(b, 0, TZ_TAG_GEO_KEYS, 1, 1, 0, 1, 1024, 0, 1, 1);
    tb_finish(b);
    return b;
}

static void case_18_data_in_the_header(void **state)
{
    (void)state;
    FORMATS(f) {
        for (uint64_t offset = 0; offset < (f & TB_BIGTIFF ? 16 : 8); offset++) {
            tb *b = bits_out_of_line(f);
            tb_patch_value(b, 0, TZ_TAG_BITS_PER_SAMPLE, offset);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = TZ_TAG_BITS_PER_SAMPLE,
                                    .offset = tb_entry_at(b, 0, TZ_TAG_BITS_PER_SAMPLE),
                                    .found = offset));
            b = bits_out_of_line(f);
            tb_patch_value(b, 0, TZ_TAG_PIXEL_SCALE, offset);
            tz_file *file = check_warns_also(b, NULL,
                                             DEFECT(FORMAT, TAG, .tag = TZ_TAG_PIXEL_SCALE,
                                                    .offset = tb_entry_at(b, 0, TZ_TAG_PIXEL_SCALE),
                                                    .found = offset));
            assert_false(tz_file_info(file)->geo.has_transform);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_18_data_over_the_directory(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = bits_out_of_line(f);
        tb_patch_value(b, 0, TZ_TAG_PIXEL_SCALE, tb_ifd_at(b, 0));
        check_close(check_opens_somehow(b, NULL)); /* whatever the bytes are as doubles */
        tb_patch_value(b, 0, TZ_TAG_BITS_PER_SAMPLE, tb_data_at(b, 0, TZ_TAG_SAMPLE_FORMAT));
        check_close(check_opens_somehow(b, NULL));
        tb_free(b);
    }
}

static void case_18_two_tags_share_data(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = bits_out_of_line(f);
        uint64_t shared = tb_data_at(b, 0, TZ_TAG_SAMPLE_FORMAT);
        for (uint64_t i = 0; i < 8; i++)
            tb_patch(b, shared + 2 * i, 2, 1); /* unsigned, and one bit */
        tb_patch_value(b, 0, TZ_TAG_BITS_PER_SAMPLE, shared);
        check_done_opens(b, NULL);
    }
}

static void case_18_data_past_the_end(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = bits_out_of_line(f);
        uint64_t size = b->size;
        const uint64_t offsets[] = {size - 15, size, size + 1, 1u << 30};
        for (size_t i = 0; i < 4; i++) {
            tb *one = bits_out_of_line(f);
            tb_patch_value(one, 0, TZ_TAG_BITS_PER_SAMPLE, offsets[i]);
            check_done_fails(one, NULL,
                             DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_BITS_PER_SAMPLE,
                                    .offset = tb_entry_at(one, 0, TZ_TAG_BITS_PER_SAMPLE),
                                    .expected = 16, .found = offsets[i] < size ? 15 : 0));
        }
        tb_patch_value(b, 0, TZ_TAG_PIXEL_SCALE, size - 23);
        tz_file *file = check_warns_also(b, NULL,
                                         DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_PIXEL_SCALE,
                                                .offset = tb_entry_at(b, 0, TZ_TAG_PIXEL_SCALE),
                                                .expected = 24, .found = 23));
        check_close(file);
        tb_free(b);
    }
}

static void case_18_offset_plus_size_wraps(void **state)
{
    (void)state;
    FORMATS(f) {
        uint64_t top = f & TB_BIGTIFF ? UINT64_MAX : UINT32_MAX;
        const uint64_t offsets[] = {top, top - 7, top - 15, top - 1};
        for (size_t i = 0; i < 4; i++) {
            tb *b = bits_out_of_line(f);
            tb_patch_value(b, 0, TZ_TAG_BITS_PER_SAMPLE, offsets[i]);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_BITS_PER_SAMPLE,
                                    .offset = tb_entry_at(b, 0, TZ_TAG_BITS_PER_SAMPLE),
                                    .expected = 16, .found = 0));
        }
    }
}

static void case_18_tile_table_past_the_end_or_in_the_header(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_tiled(b, 64, 64, 16);
        tb_finish(b);
        uint64_t at = tb_entry_at(b, 0, TZ_TAG_TILE_OFFSETS);
        tb_patch_value(b, 0, TZ_TAG_TILE_OFFSETS, b->size - 8);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_TILE_OFFSETS,
                                           .offset = at, .expected = b->bigtiff ? 128 : 64,
                                           .found = 8));
        assert_false(tz_file_info(file)->levels[0].readable);
        check_close(file);
        tb_patch_value(b, 0, TZ_TAG_TILE_OFFSETS, 4);
        file = check_warns(b, NULL,
                           DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_OFFSETS, .offset = at,
                                  .found = 4));
        assert_false(tz_file_info(file)->levels[0].readable);
        check_close(file);
        tb_free(b);
    }
}

static void case_18_a_tag_without_meaning_past_the_end(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        tb_set_raw(b, 0, TAG_SOFTWARE, TZ_TYPE_ASCII, 100, 1u << 30);
        tb_finish(b);
        check_done_warns(b, NULL,
                         DEFECT(FORMAT, TRUNCATED, .tag = TAG_SOFTWARE,
                                .offset = tb_entry_at(b, 0, TAG_SOFTWARE), .expected = 100,
                                .found = 0));
    }
}

/* ---- 19: text without an end ---- */

static void case_19_text_without_nul_at_the_end_of_the_file(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        tb_set_bytes(b, 0, TZ_TAG_GDAL_NODATA, TZ_TYPE_ASCII, 9, "123456789", 9);
        tb_find(b, 0, TZ_TAG_GDAL_NODATA)->at = 1000;
        TB_SHORTS(b, 0, TZ_TAG_BITS_PER_SAMPLE, 32);
        tb_finish(b);
        assert_int_equal(b->size, 1009);
        tz_file *file = check_opens(b, NULL);
        assert_string_equal(tz_file_info(file)->nodata_text, "123456789");
        assert_int_equal(tz_file_info(file)->nodata.kind, TZ_NODATA_UINT);
        assert_int_equal(tz_file_info(file)->nodata.value.u, 123456789);
        check_close(file);
        tb_free(b);
    }
}

static void case_19_inline_text_without_nul(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        tb_set_bytes(b, 0, TZ_TAG_GDAL_NODATA, TZ_TYPE_ASCII, 3, "123", 3);
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        assert_string_equal(tz_file_info(file)->nodata_text, "123");
        check_close(file);
        tb_free(b);
    }
}

static void case_19_geo_text_and_metadata_without_nul(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        static const char xml[] = "<GDALMetadata><Item name=\"A\">b</Item></GDALMetadata>";
        tb_set_bytes(b, 0, TZ_TAG_GDAL_METADATA, TZ_TYPE_ASCII, sizeof xml - 1, xml,
                     sizeof xml - 1);
        tb_set_bytes(b, 0, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, 10, "somewhere|", 10);
        tb_find(b, 0, TZ_TAG_GEO_ASCII)->at = 1000;
        TB_SHORTS(b, 0, TZ_TAG_GEO_KEYS, 1, 1, 0, 2, 1024, 0, 1, 32767, 1026, 34737, 10, 0);
        tb_finish(b);
        tz_file *file = check_opens_somehow(b, NULL);
        assert_null(check_find_warning(file, TZ_CAUSE_TRUNCATED, ANY_INT));
        assert_string_equal(tz_file_info(file)->geo.citation, "somewhere");
        check_close(file);
        tb_free(b);
    }
}

/* ---- 20: EXIF and GPS directories ---- */

static void check_private_ifd(unsigned format, uint16_t tag, uint64_t offset)
{
    tb *b = gray(format);
    TB_LONGS(b, 0, tag, offset == TB_AUTO ? 0 : offset);
    tb_finish(b);
    if (offset == TB_AUTO)
        tb_patch_item(b, 0, tag, 0, offset = tb_ifd_at(b, 0));
    tz_file *file = check_warns(b, NULL,
                                DEFECT(FORMAT, IFD, .tag = tag, .ifd = ANY_INT, .found = offset));
    assert_true(tz_file_info(file)->exif_ifd == TZ_NONE);
    assert_true(tz_file_info(file)->gps_ifd == TZ_NONE);
    check_close(file);
    tb_free(b);
}

static void case_20_exif_is_the_main_directory(void **state)
{
    (void)state;
    FORMATS(f) {
        check_private_ifd(f, TZ_TAG_EXIF_IFD, TB_AUTO);
        check_private_ifd(f, TZ_TAG_GPS_IFD, TB_AUTO);
    }
}

static void case_20_exif_in_the_header_or_past_the_end(void **state)
{
    (void)state;
    FORMATS(f) {
        static const uint64_t offsets[] = {0, 2, 7, 1000000, UINT32_MAX};
        for (size_t i = 0; i < 5; i++) {
            check_private_ifd(f, TZ_TAG_EXIF_IFD, offsets[i]);
            check_private_ifd(f, TZ_TAG_GPS_IFD, offsets[i]);
        }
    }
}

static void case_20_exif_points_to_itself(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        int exif = tb_ifd_new(b);
        TB_LONGS(b, exif, TZ_TAG_EXIF_IFD, 0);
        tb_link(b, 0, TZ_TAG_EXIF_IFD, TZ_TYPE_LONG, &exif, 1);
        tb_finish(b);
        tb_patch_item(b, exif, TZ_TAG_EXIF_IFD, 0, tb_ifd_at(b, exif));
        tz_file *file = check_opens_somehow(b, NULL);
        assert_int_equal(tz_file_info(file)->exif_ifd, tb_ifd_at(b, exif));
        check_close(file);
        tb_free(b);
    }
}

static void case_20_exif_and_gps_are_one(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = gray(f);
        int exif = tb_ifd_new(b);
        TB_SHORTS(b, exif, 33434, 1);
        tb_link(b, 0, TZ_TAG_EXIF_IFD, TZ_TYPE_LONG, &exif, 1);
        tb_link(b, 0, TZ_TAG_GPS_IFD, TZ_TYPE_LONG, &exif, 1);
        tb_finish(b);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(FORMAT, IFD, .tag = TZ_TAG_GPS_IFD,
                                           .found = tb_ifd_at(b, exif)));
        assert_int_equal(tz_file_info(file)->exif_ifd, tb_ifd_at(b, exif));
        assert_true(tz_file_info(file)->gps_ifd == TZ_NONE);
        check_close(file);
        tb_free(b);
    }
}

/* ---- 21: InkNames ---- */

static void case_21_fewer_ink_names_than_inks(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 4, .photometric = 5});
        tb_set_bytes(b, 0, TZ_TAG_INK_NAMES, TZ_TYPE_ASCII, 12, "cyan\0yellow", 12);
        TB_SHORTS(b, 0, TZ_TAG_NUMBER_OF_INKS, 4);
        tb_finish(b);
        check_done_warns(b, NULL,
                         DEFECT(FORMAT, TAG, .tag = TZ_TAG_INK_NAMES, .expected = 4, .found = 2));
    }
}

static void case_21_ink_names_without_nul(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 4, .photometric = 5});
        tb_set_bytes(b, 0, TZ_TAG_INK_NAMES, TZ_TYPE_ASCII, 9, "cyan\0blue", 9);
        TB_SHORTS(b, 0, TZ_TAG_NUMBER_OF_INKS, 65535);
        tb_finish(b);
        check_close(check_warns(b, NULL,
                                DEFECT(FORMAT, TAG, .tag = TZ_TAG_INK_NAMES, .expected = 65535)));
        tb_free(b);
    }
}

static void case_21_enough_ink_names(void **state)
{
    (void)state;
    FORMATS(f) {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 4, .photometric = 5});
        tb_set_bytes(b, 0, TZ_TAG_INK_NAMES, TZ_TYPE_ASCII, 25, "cyan\0magenta\0yellow\0black", 26);
        tb_find(b, 0, TZ_TAG_INK_NAMES)->count = 26;
        TB_SHORTS(b, 0, TZ_TAG_NUMBER_OF_INKS, 4);
        tb_finish(b);
        check_done_opens(b, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(case_12_tags_not_ascending),
        CASE(case_12_tags_in_reverse),
        CASE(case_13_image_width_twice),
        CASE(case_13_every_structural_tag_twice),
        CASE(case_13_every_tile_table_twice),
        CASE(case_13_another_tag_twice_the_first_counts),
        CASE(case_13_a_tag_without_meaning_twice),
        CASE(case_14_unknown_type_in_a_structural_tag),
        CASE(case_14_unknown_type_elsewhere_is_skipped),
        CASE(case_14_unknown_type_in_a_tile_table),
        CASE(case_15_image_width_of_a_wrong_type),
        CASE(case_15_image_width_negative),
        CASE(case_15_image_width_signed_but_positive),
        CASE(case_15_image_width_beyond_32_bits),
        CASE(case_16_count_zero_in_structural_tags),
        CASE(case_16_count_zero_in_tile_tables),
        CASE(case_16_two_values_where_one_belongs),
        CASE(case_17_32_gib_of_doubles_in_a_small_file),
        CASE(case_17_huge_counts_in_structural_tags),
        CASE(case_17_a_count_whose_bytes_do_not_fit_64_bits),
        CASE(case_17_within_the_limit_but_not_in_the_file),
        CASE(case_17_no_limit_does_not_mean_no_check),
        CASE(case_18_data_in_the_header),
        CASE(case_18_data_over_the_directory),
        CASE(case_18_two_tags_share_data),
        CASE(case_18_data_past_the_end),
        CASE(case_18_offset_plus_size_wraps),
        CASE(case_18_tile_table_past_the_end_or_in_the_header),
        CASE(case_18_a_tag_without_meaning_past_the_end),
        CASE(case_19_text_without_nul_at_the_end_of_the_file),
        CASE(case_19_inline_text_without_nul),
        CASE(case_19_geo_text_and_metadata_without_nul),
        CASE(case_20_exif_is_the_main_directory),
        CASE(case_20_exif_in_the_header_or_past_the_end),
        CASE(case_20_exif_points_to_itself),
        CASE(case_20_exif_and_gps_are_one),
        CASE(case_21_fewer_ink_names_than_inks),
        CASE(case_21_ink_names_without_nul),
        CASE(case_21_enough_ink_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
