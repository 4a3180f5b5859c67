/* SPDX-License-Identifier: Apache-2.0
 * Hostile files, cases 18 to 21: where the data of tags lies, text without an end, EXIF and GPS
 * directories, ink names. */
#include <string.h>

#include "support/check.h"

#define TAG_SOFTWARE 305

static tb *gray(unsigned format)
{
    tb *b = tb_new(format);
    tb_gray(b, 64, 64);
    return b;
}

/* ---- 18: offsets ---- */

/* BitsPerSample of eight samples is too long to be inline in either form. */
static tb *bits_out_of_line(unsigned format)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){.samples = 8});
    TB_DOUBLES(b, 0, TZ_TAG_PIXEL_SCALE, 10, 10, 0);
    TB_DOUBLES(b, 0, TZ_TAG_TIEPOINTS, 0, 0, 0, 1, 2, 3);
    TB_SHORTS(b, 0, TZ_TAG_GEO_KEYS, 1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 32633);
    tb_finish(b);
    return b;
}

static void case_18_data_in_the_header(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
            assert_false(tz_file_get_info(file)->geo->has_transform);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_18_data_over_the_directory(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
    FORMATS(f)
    {
        tb *b = bits_out_of_line(f);
        uint64_t shared = tb_data_at(b, 0, TZ_TAG_SAMPLE_FORMAT);
        for (uint64_t i = 0; i < 8; i++)
            tb_patch(b, shared + 2 * i, 2, 1); /* unsigned, and one bit */
        tb_patch_value(b, 0, TZ_TAG_BITS_PER_SAMPLE, shared);
        check_done_opens(b, NULL);
    }
}

/* Five tags of 60 KB each that are the same 60 KB: they may not cost more than the file has. */
static void case_18_large_tags_that_share_data(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_TIEPOINTS, TZ_TAG_GEO_DOUBLES, TZ_TAG_TRANSFORMATION,
                                    TZ_TAG_PIXEL_SCALE, TZ_TAG_RPC};
    FORMATS(f)
    {
        tb *b = gray(f);
        static const double zeros[7500];
        tb_set_doubles(b, 0, tags[0], TZ_TYPE_DOUBLE, zeros, 7500);
        tb_find(b, 0, tags[0])->at = 4000;
        for (size_t i = 1; i < 5; i++)
            tb_set_raw(b, 0, tags[i], TZ_TYPE_DOUBLE, 7500, 4000);
        tb_finish(b);
        tz_file *file = check_warns_also(
            b, NULL, DEFECT(FORMAT, TAG, .tag = ANY_INT, .expected = b->size, .text = "share"));
        check_close(file);
        tb_free(b);
    }
}

static void case_18_data_past_the_end(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
    FORMATS(f)
    {
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
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_tiled(b, 64, 64, 16);
        tb_finish(b);
        uint64_t at = tb_entry_at(b, 0, TZ_TAG_TILE_OFFSETS);
        tb_patch_value(b, 0, TZ_TAG_TILE_OFFSETS, b->size - 8);
        tz_file *file =
            check_warns(b, NULL,
                        DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_TILE_OFFSETS, .offset = at,
                               .expected = b->bigtiff ? 128 : 64, .found = 8));
        assert_false(tz_file_get_level(file, 0)->readable);
        check_close(file);
        tb_patch_value(b, 0, TZ_TAG_TILE_OFFSETS, 4);
        file = check_warns(
            b, NULL, DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_OFFSETS, .offset = at, .found = 4));
        assert_false(tz_file_get_level(file, 0)->readable);
        check_close(file);
        tb_free(b);
    }
}

static void case_18_a_tag_without_meaning_past_the_end(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
    FORMATS(f)
    {
        tb *b = gray(f);
        tb_set_bytes(b, 0, TZ_TAG_GDAL_NODATA, TZ_TYPE_ASCII, 9, "123456789", 9);
        tb_find(b, 0, TZ_TAG_GDAL_NODATA)->at = 1000;
        TB_SHORTS(b, 0, TZ_TAG_BITS_PER_SAMPLE, 32);
        tb_finish(b);
        assert_int_equal(b->size, 1009);
        tz_file *file = check_opens(b, NULL);
        assert_string_equal(tz_file_get_info(file)->nodata_text, "123456789");
        assert_int_equal(tz_file_get_info(file)->nodata.kind, TZ_NODATA_KIND_UINT);
        assert_int_equal(tz_file_get_info(file)->nodata.value.u, 123456789);
        check_close(file);
        tb_free(b);
    }
}

static void case_19_inline_text_without_nul(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        tb_set_bytes(b, 0, TZ_TAG_GDAL_NODATA, TZ_TYPE_ASCII, 3, "123", 3);
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        assert_string_equal(tz_file_get_info(file)->nodata_text, "123");
        check_close(file);
        tb_free(b);
    }
}

static void case_19_geo_text_and_metadata_without_nul(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
        assert_string_equal(tz_file_get_info(file)->geo->citation, "somewhere");
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
    tz_file *file = check_warns(b, NULL, DEFECT(FORMAT, IFD, .tag = tag, .offset = offset));
    assert_true(tz_file_get_info(file)->exif_ifd == TZ_NO_VALUE);
    assert_true(tz_file_get_info(file)->gps_ifd == TZ_NO_VALUE);
    check_close(file);
    tb_free(b);
}

static void case_20_exif_is_the_main_directory(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_private_ifd(f, TZ_TAG_EXIF_IFD, TB_AUTO);
        check_private_ifd(f, TZ_TAG_GPS_IFD, TB_AUTO);
    }
}

static void case_20_exif_in_the_header_or_past_the_end(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
    FORMATS(f)
    {
        tb *b = gray(f);
        int exif = tb_ifd_new(b);
        TB_LONGS(b, exif, TZ_TAG_EXIF_IFD, 0);
        tb_link(b, 0, TZ_TAG_EXIF_IFD, TZ_TYPE_LONG, &exif, 1);
        tb_finish(b);
        tb_patch_item(b, exif, TZ_TAG_EXIF_IFD, 0, tb_ifd_at(b, exif));
        tz_file *file = check_opens_somehow(b, NULL);
        assert_int_equal(tz_file_get_info(file)->exif_ifd, tb_ifd_at(b, exif));
        check_close(file);
        tb_free(b);
    }
}

static void case_20_exif_and_gps_are_one(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        int exif = tb_ifd_new(b);
        TB_SHORTS(b, exif, 33434, 1);
        tb_link(b, 0, TZ_TAG_EXIF_IFD, TZ_TYPE_LONG, &exif, 1);
        tb_link(b, 0, TZ_TAG_GPS_IFD, TZ_TYPE_LONG, &exif, 1);
        tb_finish(b);
        tz_file *file = check_opens(b, NULL); /* strange, and no harm */
        assert_int_equal(tz_file_get_info(file)->exif_ifd, tb_ifd_at(b, exif));
        assert_int_equal(tz_file_get_info(file)->gps_ifd, tb_ifd_at(b, exif));
        check_close(file);
        tb_free(b);
    }
}

/* ---- 21: InkNames ---- */

static void case_21_fewer_ink_names_than_inks(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 4, .photometric = 5});
        tb_set_bytes(b, 0, TZ_TAG_INK_NAMES, TZ_TYPE_ASCII, 9, "cyan\0blue", 9);
        TB_SHORTS(b, 0, TZ_TAG_NUMBER_OF_INKS, 65535);
        tb_finish(b);
        check_close(
            check_warns(b, NULL, DEFECT(FORMAT, TAG, .tag = TZ_TAG_INK_NAMES, .expected = 65535)));
        tb_free(b);
    }
}

/* Read in several parts. */
static void case_21_a_hundred_kilobytes_of_ink_names(void **state)
{
    (void)state;
    static char names[100000];
    memset(names, 'n', sizeof names);
    for (size_t i = 99; i < sizeof names; i += 100)
        names[i] = '\0';
    FORMATS(f)
    {
        for (uint64_t inks = 999; inks <= 1001; inks++) {
            tb *b = gray(f);
            tb_set_bytes(b, 0, TZ_TAG_INK_NAMES, TZ_TYPE_ASCII, sizeof names, names, sizeof names);
            tb_find(b, 0, TZ_TAG_INK_NAMES)->at = 15001;
            TB_SHORTS(b, 0, TZ_TAG_NUMBER_OF_INKS, inks);
            tb_finish(b);
            tb_extend(b, 300000); /* what lies after is full of NULs */
            if (inks <= 1000)
                check_done_opens(b, NULL);
            else
                check_done_warns(
                    b, NULL,
                    DEFECT(FORMAT, TAG, .tag = TZ_TAG_INK_NAMES, .expected = 1001, .found = 1000));
        }
    }
}

static void case_21_enough_ink_names(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
        CASE(case_18_data_in_the_header),
        CASE(case_18_data_over_the_directory),
        CASE(case_18_two_tags_share_data),
        CASE(case_18_large_tags_that_share_data),
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
        CASE(case_21_a_hundred_kilobytes_of_ink_names),
        CASE(case_21_enough_ink_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
