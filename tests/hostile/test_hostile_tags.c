/* SPDX-License-Identifier: Apache-2.0
 * Hostile files, cases 12 to 17: order, repetition, types and counts of tags. */
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/sized.h"

#define TAG_SOFTWARE 305
#define TAG_PRIVATE  65000

static const uint16_t structural_tags[] = {
    TZ_TAG_IMAGE_WIDTH, TZ_TAG_IMAGE_LENGTH,  TZ_TAG_BITS_PER_SAMPLE,   TZ_TAG_COMPRESSION,
    TZ_TAG_PLANAR,      TZ_TAG_PREDICTOR,     TZ_TAG_SAMPLES_PER_PIXEL, TZ_TAG_TILE_WIDTH,
    TZ_TAG_TILE_LENGTH, TZ_TAG_SAMPLE_FORMAT,
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
    FORMATS(f)
    {
        tb *b = gray(f);
        TB_SHORTS(b, 0, TZ_TAG_PHOTOMETRIC, 0);
        tb_finish(b);
        uint64_t first = tb_entry_at(b, 0, TZ_TAG_COMPRESSION);
        uint64_t second = tb_entry_at(b, 0, TZ_TAG_PHOTOMETRIC);
        size_t unit = b->bigtiff ? 20 : 12;
        uint8_t swap[20];
        memcpy(swap, b->data + first, unit);
        tb_patch_bytes(b, first, b->data + second, unit);
        tb_patch_bytes(b, second, swap, unit);
        tz_file *file =
            check_warns(b, NULL, DEFECT(FORMAT, IFD, .tag = TZ_TAG_COMPRESSION, .offset = second));
        assert_int_equal(tz_file_get_info(file)->photometric, 0);
        check_close(file);
        tb_free(b);
    }
}

static void case_12_tags_in_reverse(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
        assert_int_equal(tz_file_get_info(file)->width, 3);
        assert_int_equal(tz_file_get_info(file)->height, 4);
        check_close(file);
        tb_free(b);
    }
}

/* ---- 13: duplicates ---- */

static void case_13_image_width_twice(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        TB_SHORTS(b, 0, TZ_TAG_IMAGE_WIDTH, 4);
        tb_add_again(b, 0, TZ_TAG_IMAGE_WIDTH, TZ_TYPE_SHORT, 999);
        tb_finish(b);
        uint64_t second = tb_entry_at(b, 0, TZ_TAG_IMAGE_WIDTH) + (b->bigtiff ? 20 : 12);
        tz_file *file = check_warns(
            b, NULL,
            DEFECT(FORMAT, TAG, .tag = TZ_TAG_IMAGE_WIDTH, .offset = second, .text = "duplicate"));
        assert_int_equal(tz_file_get_info(file)->width, 4);
        check_close(file);
        tb_free(b);
    }
}

/* Opens, and fails, as the file does that has the first of the two alone. */
static void check_first_counts(unsigned format, uint16_t tag, uint64_t first, uint64_t second)
{
    tz_result results[2];
    tz_error errs[2] = {{.result = TZ_OK}, {.result = TZ_OK}};
    tz_file *files[2] = {NULL, NULL};
    tb *b[2];
    for (int twice = 0; twice < 2; twice++) {
        b[twice] = all_structural(format);
        TB_LONGS(b[twice], 0, tag, first);
        if (twice)
            tb_add_again(b[twice], 0, tag, TZ_TYPE_SHORT, second);
        tb_finish(b[twice]);
        results[twice] =
            tz_open_memory(&files[twice], b[twice]->data, b[twice]->size, NULL, &errs[twice]);
    }
    assert_int_equal(results[0], results[1]);
    assert_int_equal(errs[0].cause, errs[1].cause);
    assert_int_equal(errs[0].tag, errs[1].tag);
    if (files[0]) {
        const tz_info *one = tz_file_get_info(files[0]), *both = tz_file_get_info(files[1]);
        assert_int_equal(both->warning_count, one->warning_count + 1);
        assert_int_equal(one->dtype, both->dtype);
        assert_int_equal(one->bands, both->bands);
        const tz_level *first_level = tz_file_get_level(files[0], 0);
        const tz_level *level = tz_file_get_level(files[1], 0);
        assert_int_equal(first_level->width, level->width);
        assert_int_equal(first_level->height, level->height);
        assert_int_equal(first_level->tile_width, level->tile_width);
        assert_int_equal(first_level->tile_height, level->tile_height);
        assert_int_equal(first_level->tile_count, level->tile_count);
        assert_int_equal(first_level->compression, level->compression);
        assert_int_equal(first_level->predictor, level->predictor);
        assert_int_equal(first_level->bits_per_sample, level->bits_per_sample);
        assert_int_equal(first_level->samples, level->samples);
        assert_int_equal(first_level->readable, level->readable);
    }
    for (int i = 0; i < 2; i++) {
        tz_close(files[i]);
        tb_free(b[i]);
    }
}

static void case_13_every_structural_tag_twice(void **state)
{
    (void)state;
    static const uint16_t values[] = {0, 1, 2, 5, 16, 32, 64, 999};
    for (size_t i = 0; i < STRUCTURAL_COUNT; i++) {
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            for (size_t n = 0; n < sizeof values / sizeof values[0]; n++)
                check_first_counts((unsigned)(i + k) % TB_FORMATS, structural_tags[i], values[k],
                                   values[n]);
        }
        tb *b = all_structural(i % TB_FORMATS);
        tb_add_again(b, 0, structural_tags[i], TZ_TYPE_SHORT, 1);
        tb_finish(b);
        check_done_warns(b, NULL,
                         DEFECT(FORMAT, TAG, .tag = structural_tags[i], .text = "duplicate"));
    }
}

/* The second, which does not count, may have any type, count and offset. */
static void case_13_a_damaged_repetition_costs_nothing(void **state)
{
    (void)state;
    static const uint64_t counts[] = {0, 1, 3, 0xffffffff};
    FORMATS(f)
    {
        for (uint16_t type = 0; type < 20; type++) {
            tb *b = all_structural(f);
            tb_entry *again =
                tb_add_again(b, 0, structural_tags[type % STRUCTURAL_COUNT], TZ_TYPE_SHORT, 0);
            again->type = type;
            again->count = counts[type % 4];
            again->value = 0xfffffff0;
            tb_finish(b);
            check_done_warns(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = structural_tags[type % STRUCTURAL_COUNT],
                                    .text = "duplicate"));
        }
    }
}

static void case_13_every_tile_table_twice(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_STRIP_OFFSETS, TZ_TAG_STRIP_BYTE_COUNTS};
    FORMATS(f)
    {
        for (size_t i = 0; i < 2; i++) {
            tb *b = gray(f);
            tb_add_again(b, 0, tags[i], TZ_TYPE_LONG, 100);
            tb_finish(b);
            tz_file *file =
                check_warns(b, NULL, DEFECT(FORMAT, TAG, .tag = tags[i], .text = "duplicate"));
            tz_tile_span span;
            assert_int_equal(tz_file_get_tile_spans(&span, file, 0, false, 0, 1, NULL), TZ_OK);
            assert_int_equal(span.offset, tb_tile_at(b, 0, 0));
            assert_int_equal(span.size, tb_tile_size(b, 0, 0));
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_13_another_tag_twice_the_first_counts(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        TB_SHORTS(b, 0, TZ_TAG_ORIENTATION, 3);
        tb_add_again(b, 0, TZ_TAG_ORIENTATION, TZ_TYPE_SHORT, 6);
        tb_finish(b);
        uint64_t second = tb_entry_at(b, 0, TZ_TAG_ORIENTATION) + (b->bigtiff ? 20 : 12);
        tz_file *file = check_warns(
            b, NULL,
            DEFECT(FORMAT, TAG, .tag = TZ_TAG_ORIENTATION, .offset = second, .text = "duplicate"));
        assert_int_equal(tz_file_get_info(file)->orientation, 3);
        check_close(file);
        tb_free(b);
    }
}

static void case_13_a_tag_without_meaning_twice(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        TB_SHORTS(b, 0, TAG_PRIVATE, 3);
        tb_add_again(b, 0, TAG_PRIVATE, TZ_TYPE_SHORT, 6);
        tb_finish(b);
        uint64_t second = tb_entry_at(b, 0, TAG_PRIVATE) + (b->bigtiff ? 20 : 12);
        check_done_warns(
            b, NULL,
            DEFECT(FORMAT, TAG, .tag = TAG_PRIVATE, .offset = second, .text = "duplicate"));
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
            assert_null(tz_file_get_info(file)->nodata_text);
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
        assert_false(tz_file_get_level(file, 0)->readable);
        check_close(file);
        tb_free(b);
    }
}

static void case_15_image_width_of_a_wrong_type(void **state)
{
    (void)state;
    static const uint16_t types[] = {TZ_TYPE_ASCII,     TZ_TYPE_DOUBLE, TZ_TYPE_RATIONAL,
                                     TZ_TYPE_SRATIONAL, TZ_TYPE_FLOAT,  TZ_TYPE_UNDEFINED};
    FORMATS(f)
    {
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

static void case_15_rows_per_strip_of_a_wrong_type(void **state)
{
    (void)state;
    static const uint16_t types[] = {TZ_TYPE_ASCII, TZ_TYPE_DOUBLE, 99};
    FORMATS(f)
    {
        for (size_t i = 0; i < 3; i++) {
            tb *b = gray(f);
            tb_finish(b);
            tb_patch_type(b, 0, TZ_TAG_ROWS_PER_STRIP, types[i]);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = TZ_TAG_ROWS_PER_STRIP,
                                    .offset = tb_entry_at(b, 0, TZ_TAG_ROWS_PER_STRIP),
                                    .found = types[i]));
        }
    }
}

/* It says what samples are for, not where they are: as a warning, it is left out. */
static void case_15_extra_samples_of_a_wrong_type(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = all_structural(f);
        tb_finish(b);
        tb_patch_type(b, 0, TZ_TAG_EXTRA_SAMPLES, TZ_TYPE_ASCII);
        tz_file *file = check_warns_also(b, NULL,
                                         DEFECT(FORMAT, TAG, .tag = TZ_TAG_EXTRA_SAMPLES,
                                                .offset = tb_entry_at(b, 0, TZ_TAG_EXTRA_SAMPLES),
                                                .found = TZ_TYPE_ASCII));
        assert_int_equal(tz_file_get_info(file)->extra_sample_count, 0);
        assert_true(tz_file_get_level(file, 0)->readable);
        check_close(file);
        tb_free(b);
    }
}

static void case_15_other_tags_of_a_wrong_type(void **state)
{
    (void)state;
    static const struct {
        uint16_t tag, type;
        const char *text;
    } tags[] = {
        {TZ_TAG_GEO_KEYS, TZ_TYPE_LONG, "expected SHORT"},
        {TZ_TAG_COLOR_MAP, TZ_TYPE_BYTE, "expected SHORT"},
        {TZ_TAG_PIXEL_SCALE, TZ_TYPE_SHORT, "expected DOUBLE"},
        {TZ_TAG_TIEPOINTS, TZ_TYPE_RATIONAL, "expected DOUBLE"},
        {TZ_TAG_TRANSFORMATION, TZ_TYPE_ASCII, "expected DOUBLE"},
        {TZ_TAG_GDAL_NODATA, TZ_TYPE_DOUBLE, "expected ASCII"},
        {TZ_TAG_GDAL_METADATA, TZ_TYPE_SHORT, "expected ASCII"},
        {TZ_TAG_SUB_IFDS, TZ_TYPE_SLONG, "expected SHORT or LONG"},
        {TZ_TAG_ICC_PROFILE, TZ_TYPE_DOUBLE, "expected BYTE or UNDEFINED"},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
            tb *b = gray(f);
            TB_SET(b, 0, tags[i].tag, tags[i].type, 1, 1, 1, 1);
            tb_finish(b);
            check_done_warns(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = tags[i].tag,
                                    .offset = tb_entry_at(b, 0, tags[i].tag), .found = tags[i].type,
                                    .text = tags[i].text));
        }
    }
}

static void case_15_depth_beyond_16_bits(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_BITS_PER_SAMPLE, TZ_TAG_SAMPLE_FORMAT};
    FORMATS(f)
    {
        for (size_t i = 0; i < 2; i++) {
            tb *b = gray(f);
            TB_LONGS(b, 0, tags[i], 65536 + 8);
            tb_finish(b);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TAG, .tag = tags[i],
                                    .offset = tb_data_at(b, 0, tags[i]), .expected = 65535,
                                    .found = 65536 + 8));
        }
        tb *b = gray(f);
        TB_LONGS(b, 0, TZ_TAG_COMPRESSION, 65536 + 1);
        tb_finish(b);
        check_done_fails(b, NULL,
                         DEFECT(FORMAT, TAG, .tag = TZ_TAG_COMPRESSION,
                                .offset = tb_entry_at(b, 0, TZ_TAG_COMPRESSION), .expected = 65535,
                                .found = 65536 + 1));
    }
}

static void case_15_image_width_negative(void **state)
{
    (void)state;
    static const uint16_t types[] = {TZ_TYPE_SBYTE, TZ_TYPE_SSHORT, TZ_TYPE_SLONG, TZ_TYPE_SLONG8};
    FORMATS(f)
    {
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
    FORMATS(f)
    {
        tb *b = gray(f);
        TB_SET(b, 0, TZ_TAG_IMAGE_WIDTH, TZ_TYPE_SLONG, 64);
        tb_finish(b);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(FORMAT, TAG, .tag = TZ_TAG_IMAGE_WIDTH,
                                           .offset = tb_entry_at(b, 0, TZ_TAG_IMAGE_WIDTH),
                                           .found = TZ_TYPE_SLONG));
        assert_int_equal(tz_file_get_info(file)->width, 64);
        check_close(file);
        tb_free(b);
    }
}

static void case_15_image_width_beyond_32_bits(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
        FORMATS(f)
        {
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
    FORMATS(f)
    {
        for (size_t i = 0; i < 2; i++) {
            tb *b = gray(f);
            tb_finish(b);
            tb_patch_count(b, 0, tags[i], 0);
            tz_file *file = check_warns(b, NULL,
                                        DEFECT(FORMAT, TAG, .tag = tags[i],
                                               .offset = tb_entry_at(b, 0, tags[i]), .expected = 1,
                                               .found = 0));
            assert_false(tz_file_get_level(file, 0)->readable);
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
    FORMATS(f)
    {
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

/* Some writers repeat it, as BitsPerSample is. */
static void case_16_compression_for_every_sample(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 3});
        TB_SHORTS(b, 0, TZ_TAG_COMPRESSION, 8, 8, 8);
        tb_finish(b);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(FORMAT, TAG, .tag = TZ_TAG_COMPRESSION,
                                           .offset = tb_entry_at(b, 0, TZ_TAG_COMPRESSION),
                                           .expected = 1, .found = 3));
        assert_int_equal(tz_file_get_level(file, 0)->compression, 8);
        check_close(file);
        tb_free(b);
    }
}

static void case_17_32_gib_of_doubles_in_a_small_file(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_GEO_DOUBLES, TZ_TAG_TIEPOINTS, TZ_TAG_PIXEL_SCALE,
                                    TZ_TAG_TRANSFORMATION, TZ_TAG_RPC};
    FORMATS(f)
    {
        for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
            tb *b = gray(f);
            tb_set_raw(b, 0, tags[i], TZ_TYPE_DOUBLE, UINT32_MAX, 100);
            tb_finish(b);
            check_done_warns(b, NULL,
                             DEFECT(LIMIT, LIMIT, .tag = tags[i], .limit = "max_tag_bytes",
                                    .offset = tb_entry_at(b, 0, tags[i]), .expected = 256u << 20,
                                    .found = 8ull * UINT32_MAX));
        }
    }
}

static void case_17_huge_counts_in_structural_tags(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_BITS_PER_SAMPLE, TZ_TAG_SAMPLE_FORMAT};
    FORMATS(f)
    {
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
    BIG_FORMATS(f)
    {
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
    FORMATS(f)
    {
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
    options.limits = SIZED_LIMITS(.max_tag_bytes = TZ_UNLIMITED);
    FORMATS(f)
    {
        tb *b = gray(f);
        tb_set_raw(b, 0, TZ_TAG_GEO_DOUBLES, TZ_TYPE_DOUBLE, b->bigtiff ? UINT64_MAX : UINT32_MAX,
                   100);
        tb_finish(b);
        check_done_warns(b, &options, DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_GEO_DOUBLES));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(case_12_tags_not_ascending),
        CASE(case_12_tags_in_reverse),
        CASE(case_13_image_width_twice),
        CASE(case_13_every_structural_tag_twice),
        CASE(case_13_a_damaged_repetition_costs_nothing),
        CASE(case_13_every_tile_table_twice),
        CASE(case_13_another_tag_twice_the_first_counts),
        CASE(case_13_a_tag_without_meaning_twice),
        CASE(case_14_unknown_type_in_a_structural_tag),
        CASE(case_14_unknown_type_elsewhere_is_skipped),
        CASE(case_14_unknown_type_in_a_tile_table),
        CASE(case_15_image_width_of_a_wrong_type),
        CASE(case_15_rows_per_strip_of_a_wrong_type),
        CASE(case_15_extra_samples_of_a_wrong_type),
        CASE(case_15_other_tags_of_a_wrong_type),
        CASE(case_15_depth_beyond_16_bits),
        CASE(case_15_image_width_negative),
        CASE(case_15_image_width_signed_but_positive),
        CASE(case_15_image_width_beyond_32_bits),
        CASE(case_16_count_zero_in_structural_tags),
        CASE(case_16_count_zero_in_tile_tables),
        CASE(case_16_two_values_where_one_belongs),
        CASE(case_16_compression_for_every_sample),
        CASE(case_17_32_gib_of_doubles_in_a_small_file),
        CASE(case_17_huge_counts_in_structural_tags),
        CASE(case_17_a_count_whose_bytes_do_not_fit_64_bits),
        CASE(case_17_within_the_limit_but_not_in_the_file),
        CASE(case_17_no_limit_does_not_mean_no_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
