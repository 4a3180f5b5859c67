/* SPDX-License-Identifier: Apache-2.0
 * Hostile files, cases 71 and 72: masks and overviews that do not fit their image. They are
 * ignored, and the warning names them. */
#include <stdio.h>

#include "support/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static tb *gray(unsigned format)
{
    tb *b = tb_new(format);
    tb_gray(b, 64, 64);
    return b;
}

/* ---- 71: masks ---- */

static tz_file *check_bad_mask(tb *b, int mask)
{
    tb_finish(b);
    tz_file *file = check_warns(
        b, NULL, DEFECT(FORMAT, META, .ifd = mask, .offset = tb_ifd_at(b, mask), .text = "mask"));
    assert_int_equal(tz_file_get_info(file)->level_count, 1);
    return file;
}

static void case_71_mask_of_another_size(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{63, 64}, {64, 63}, {128, 128}, {32, 32}, {1, 1}};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(sizes); i++) {
            tb *b = gray(f);
            int mask = tb_image(b, &(tb_spec){.width = sizes[i][0],
                                              .height = sizes[i][1],
                                              .bits = 1,
                                              .photometric = 4,
                                              .subfile = 4});
            tz_file *file = check_bad_mask(b, mask);
            assert_false(tz_file_get_level(file, 0)->has_mask);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_71_mask_of_another_depth_or_of_several_bands(void **state)
{
    (void)state;
    static const tb_spec specs[] = {
        {.bits = 16, .photometric = 4, .subfile = 4},
        {.bits = 2, .photometric = 4, .subfile = 4},
        {.bits = 32, .sample_format = 3, .photometric = 4, .subfile = 4},
        {.bits = 1, .samples = 3, .photometric = 4, .subfile = 4},
        {.bits = 1, .samples = 3, .planar = 2, .photometric = 4, .subfile = 4},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(specs); i++) {
            tb *b = gray(f);
            int mask = tb_image(b, &specs[i]);
            tz_file *file = check_bad_mask(b, mask);
            assert_false(tz_file_get_level(file, 0)->has_mask);
            check_close(file);
            tb_free(b);
        }
    }
}

/* Not by the letter of TIFF, but GDAL reads them, and some programs write them. */
static void case_71_mask_of_eight_bits_is_taken(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        int mask = tb_image(b, &(tb_spec){.bits = 8, .photometric = 4, .subfile = 4});
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        assert_true(tz_file_get_level(file, 0)->has_mask);
        assert_int_equal(tz_file_get_mask(file, 0)->ifd, mask);
        assert_int_equal(tz_file_get_mask(file, 0)->bits_per_sample, 8);
        check_close(file);
        tb_free(b);
    }
}

static void case_71_two_masks(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        int first = tb_mask(b, 0);
        int second = tb_mask(b, 0);
        tz_file *file = check_bad_mask(b, second);
        assert_true(tz_file_get_level(file, 0)->has_mask);
        assert_int_equal(tz_file_get_mask(file, 0)->ifd_offset, tb_ifd_at(b, first));
        check_close(file);
        tb_free(b);
    }
}

static void case_71_mask_without_an_image(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.bits = 1, .photometric = 4, .subfile = 4});
        tb_finish(b);
        tz_file *file = check_warns_also(b, NULL, DEFECT(FORMAT, META, .tag = ANY_INT));
        assert_int_equal(tz_file_get_info(file)->level_count, 1);
        assert_int_equal(tz_file_get_info(file)->width, 64);
        check_close(file);
        tb_free(b);
    }
}

/* ---- 72: overviews ---- */

static void check_bad_overview(tb *b, int overview)
{
    tb_finish(b);
    char size[64];
    snprintf(size, sizeof size, "%u x %u", b->ifds[overview].spec.width,
             b->ifds[overview].spec.height);
    tz_file *file = check_warns(
        b, NULL,
        DEFECT(FORMAT, META, .ifd = overview, .offset = tb_ifd_at(b, overview), .text = size));
    assert_int_equal(tz_file_get_info(file)->level_count, 1);
    check_close(file);
    tb_free(b);
}

static void case_72_overview_that_is_not_smaller(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{128, 128}, {65, 64}, {64, 65}, {64, 64}, {128, 1}};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(sizes); i++) {
            tb *b = gray(f);
            int overview = tb_overview(b, 0, sizes[i][0], sizes[i][1]);
            check_bad_overview(b, overview);
        }
    }
}

static void case_72_overview_of_other_bands_or_type(void **state)
{
    (void)state;
    static const tb_spec specs[] = {
        {.width = 32, .height = 32, .subfile = 1, .samples = 3},
        {.width = 32, .height = 32, .subfile = 1, .bits = 16},
        {.width = 32, .height = 32, .subfile = 1, .sample_format = 2},
        {.width = 32, .height = 32, .subfile = 1, .bits = 32, .sample_format = 3},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(specs); i++) {
            tb *b = gray(f);
            int overview = tb_image(b, &specs[i]);
            check_bad_overview(b, overview);
        }
    }
}

static void case_72_overview_with_other_nodata(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = gray(f);
        int overview = tb_overview(b, 0, 32, 32);
        tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "1");
        tb_set_text(b, overview, TZ_TAG_GDAL_NODATA, "2");
        tb_finish(b);
        tz_file *file = check_opens(b, NULL); /* the image's own counts */
        assert_int_equal(tz_file_get_info(file)->nodata.value.u, 1);
        assert_int_equal(tz_file_get_info(file)->level_count, 2);
        check_close(file);
        tb_free(b);
    }
}

static void case_72_a_thousand_overviews(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 2000, 2000);
        for (uint32_t i = 1; i <= 1000; i++)
            tb_overview(b, 0, 2000 - i, 2000 - i);
        tb_finish(b);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(LIMIT, LIMIT, .ifd = ANY_INT, .limit = "max_levels",
                                           .expected = 64, .found = 65));
        assert_int_equal(tz_file_get_info(file)->level_count, 64);
        assert_int_equal(tz_file_get_level(file, 63)->width, 2000 - 63);
        check_close(file);
        tb_free(b);
    }
}

static void case_72_overview_before_its_image(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.width = 32, .height = 32, .subfile = 1});
        tb_gray(b, 64, 64);
        tb_finish(b);
        tz_file *file =
            check_warns(b, NULL, DEFECT(FORMAT, META, .tag = TZ_TAG_NEW_SUBFILE_TYPE, .found = 1));
        assert_int_equal(tz_file_get_info(file)->page_count, 2);
        check_close(file);
        tb_free(b);
    }
}

static void case_72_overview_without_size(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_IMAGE_WIDTH, TZ_TAG_IMAGE_LENGTH};
    FORMATS(f)
    {
        for (size_t i = 0; i < 2; i++) {
            tb *b = gray(f);
            int overview = tb_overview(b, 0, 32, 32);
            int smaller = tb_overview(b, 0, 16, 16);
            TB_LONGS(b, overview, tags[i], 0);
            tb_finish(b);
            tz_file *file = check_warns(b, NULL,
                                        DEFECT(FORMAT, TAG, .ifd = overview, .tag = tags[i],
                                               .offset = tb_ifd_at(b, overview), .found = 0));
            assert_int_equal(tz_file_get_info(file)->level_count, 2);
            assert_int_equal(tz_file_get_level(file, 1)->ifd, smaller);
            assert_true(tz_file_get_info(file)->chain_complete);
            check_close(file);
            tb_free(b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(case_71_mask_of_another_size),
        CASE(case_71_mask_of_another_depth_or_of_several_bands),
        CASE(case_71_mask_of_eight_bits_is_taken),
        CASE(case_71_two_masks),
        CASE(case_71_mask_without_an_image),
        CASE(case_72_overview_that_is_not_smaller),
        CASE(case_72_overview_of_other_bands_or_type),
        CASE(case_72_overview_with_other_nodata),
        CASE(case_72_a_thousand_overviews),
        CASE(case_72_overview_before_its_image),
        CASE(case_72_overview_without_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
