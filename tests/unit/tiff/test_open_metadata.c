/* SPDX-License-Identifier: Apache-2.0
 * GDAL's conventions (N01 to N12) in a directory, as reported after opening. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/sized.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static tz_nodata nodata_of(unsigned format, uint16_t sample_format, uint16_t bits, const char *text)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){.bits = bits, .sample_format = sample_format});
    tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, text);
    tz_file *file;
    tz_nodata nodata = check_info(b, &file)->nodata;
    check_done(file, b);
    return nodata;
}

static void n01_nodata_of_integers_is_exact(void **state)
{
    (void)state;
    static const struct {
        uint16_t sample_format, bits;
        const char *text;
        int64_t value;
    } numbers[] = {
        {1, 8, "0", 0},
        {1, 8, "255", 255},
        {1, 8, " 17 ", 17},
        {2, 8, "-128", -128},
        {2, 16, "-32768", -32768},
        {2, 16, "-9999", -9999},
        {1, 16, "65535", 65535},
        {2, 32, "-2147483648", INT32_MIN},
        {1, 32, "4294967295", UINT32_MAX},
        {2, 64, "9223372036854775807", INT64_MAX},
        {2, 64, "-9007199254740993", -9007199254740993},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(numbers); i++) {
            tz_nodata n = nodata_of(f, numbers[i].sample_format, numbers[i].bits, numbers[i].text);
            if (numbers[i].sample_format == 2) {
                assert_int_equal(n.kind, TZ_NODATA_KIND_INT);
                assert_true(n.value.i == numbers[i].value);
            } else {
                assert_int_equal(n.kind, TZ_NODATA_KIND_UINT);
                assert_true(n.value.u == (uint64_t)numbers[i].value);
            }
        }
    }
}

static void n01_nodata_of_floats(void **state)
{
    (void)state;
    static const struct {
        uint16_t bits;
        const char *text;
        double value;
    } numbers[] = {
        {32, "-9999", -9999},
        {32, "1e3", 1000},
        {32, "0.1", 0.1f},
        {64, "0.1", 0.1},
        {32, "nan", NAN},
        {32, "inf", INFINITY},
        {64, "-inf", -INFINITY},
        {32, "-3.4028234663852886e+38", -FLT_MAX},
        {64, "-1.7976931348623157e+308", -DBL_MAX},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(numbers); i++) {
            tz_nodata n = nodata_of(f, 3, numbers[i].bits, numbers[i].text);
            assert_int_equal(n.kind, TZ_NODATA_KIND_FLOAT);
            assert_true(isnan(numbers[i].value) ? isnan(n.value.f) : n.value.f == numbers[i].value);
        }
    }
}

static const char xml[] =
    "<GDALMetadata>\n"
    "  <Item name=\"AREA\">north &amp; south</Item>\n"
    "  <Item name=\"TWICE\">&amp;lt;tag&amp;gt;</Item>\n"
    "  <Item name=\"TIME\" domain=\"IMAGERY\">2020</Item>\n"
    "  <Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.5</Item>\n"
    "  <Item name=\"OFFSET\" sample=\"0\" role=\"offset\">-10</Item>\n"
    "  <Item name=\"UNITTYPE\" sample=\"0\" role=\"unittype\">m</Item>\n"
    "  <Item name=\"DESCRIPTION\" sample=\"1\" role=\"description\">second</Item>\n"
    "  <Item name=\"COLORINTERP\" sample=\"1\" role=\"colorinterp\">Alpha</Item>\n"
    "  <Item name=\"STATISTICS_MAXIMUM\" sample=\"0\">9</Item>\n"
    "</GDALMetadata>\n";

static void n02_metadata_items_and_roles(void **state)
{
    (void)state;
    static const tz_metadata_item items[] = {
        SIZED_ITEM("", "AREA", "north & south", "", -1),
        SIZED_ITEM("", "TWICE", "<tag>", "", -1),
        SIZED_ITEM("IMAGERY", "TIME", "2020", "", -1),
        SIZED_ITEM("", "SCALE", "0.5", "scale", 0),
        SIZED_ITEM("", "OFFSET", "-10", "offset", 0),
        SIZED_ITEM("", "UNITTYPE", "m", "unittype", 0),
        SIZED_ITEM("", "STATISTICS_MAXIMUM", "9", "", 0), /* band by band, not as they came */
        SIZED_ITEM("", "DESCRIPTION", "second", "description", 1),
        SIZED_ITEM("", "COLORINTERP", "Alpha", "colorinterp", 1),
    };
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 2, .bits = 16});
        tb_set_text(b, 0, TZ_TAG_GDAL_METADATA, xml);
        if (!tz_build_feature("expat")) { /* said, not passed over */
            tb_finish(b);
            check_done_warns(b, NULL, DEFECT(UNSUPPORTED, META, .tag = TZ_TAG_GDAL_METADATA));
            continue;
        }
        tz_file *file;
        assert_int_equal(check_info(b, &file)->metadata_count, COUNT(items));
        for (uint32_t i = 0; i < COUNT(items); i++) {
            const tz_metadata_item *item = tz_file_get_metadata(file, i);
            assert_int_equal(item->struct_size, sizeof *item);
            assert_string_equal(item->domain, items[i].domain);
            assert_string_equal(item->name, items[i].name);
            assert_string_equal(item->value, items[i].value);
            assert_string_equal(item->role, items[i].role);
            assert_int_equal(item->band, items[i].band);
        }
        assert_null(tz_file_get_metadata(file, COUNT(items)));
        assert_null(tz_file_get_metadata(file, UINT32_MAX));
        const tz_band *band = tz_file_get_band(file, 0);
        assert_true(band->has_scale && band->scale == 0.5);
        assert_true(band->has_offset && band->offset == -10);
        assert_string_equal(band->unit, "m");
        assert_null(band->description);
        band = tz_file_get_band(file, 1);
        assert_false(band->has_scale || band->has_offset);
        assert_true(band->scale == 1 && band->offset == 0);
        assert_string_equal(band->description, "second");
        assert_string_equal(band->color_text, "Alpha");
        assert_null(tz_file_get_band(file, 2));
        assert_null(tz_file_get_band(file, UINT32_MAX));
        check_done(file, b);
    }
}

static void n03_n04_internal_mask_and_sparse_tiles(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_tiled(b, 64, 64, 32);
        int half = tb_overview(b, image, 32, 32);
        int mask = tb_mask(b, image);
        int half_mask = tb_mask(b, half);
        b->ifds[image].tile_sizes[1] = 0;
        b->ifds[mask].tile_sizes[2] = 0;
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        assert_int_equal(info->level_count, 2);
        assert_true(tz_file_get_level(file, 0)->has_mask && tz_file_get_level(file, 1)->has_mask);
        assert_int_equal(tz_file_get_mask(file, 0)->ifd, mask);
        assert_int_equal(tz_file_get_mask(file, 1)->ifd, half_mask);
        assert_int_equal(tz_file_get_mask(file, 0)->compression, 8);
        assert_int_equal(tz_file_get_mask(file, 0)->photometric, 4);
        check_locates(file, 0, 1, 0, 0);
        check_mask_locates(file, 0, 2, 0, 0);
        check_done(file, b);
    }
}

static void n05_n06_int8_and_float16(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.bits = 8, .sample_format = 2});
        tz_file *file;
        assert_int_equal(check_info(b, &file)->dtype, TZ_DTYPE_INT8);
        check_done(file, b);
        b = tb_new(f);
        tb_image(b, &(tb_spec){.bits = 16, .sample_format = 3});
        assert_int_equal(check_info(b, &file)->dtype, TZ_DTYPE_FLOAT16);
        check_done(file, b);
    }
}

static void n07_rpc_coefficients(void **state)
{
    (void)state;
    double rpc[92];
    for (int i = 0; i < 92; i++)
        rpc[i] = i * 0.25 - 3;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        tb_set_doubles(b, 0, TZ_TAG_RPC, TZ_TYPE_DOUBLE, rpc, 92);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        assert_non_null(info->geo->rpc);
        assert_memory_equal(info->geo->rpc, rpc, sizeof rpc);
        check_done(file, b);
    }
}

/* Profiles and the like are read by tz_tag_read, and cost nothing before. */
static void n07_profiles_of_any_size_and_side_directories(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_XMP, TZ_TAG_ICC_PROFILE, 50908, 50909};
    size_t size = 300000;
    uint8_t *profile = malloc(size), *got = malloc(size);
    for (size_t i = 0; i < size; i++)
        profile[i] = (uint8_t)(i * 7);
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        for (size_t i = 0; i < COUNT(tags); i++)
            tb_set_bytes(b, 0, tags[i], TZ_TYPE_UNDEFINED, size - i, profile, size - i);
        tb_remove(b, 0, 50909);
        tb_set_bytes(b, 0, 50909, TZ_TYPE_ASCII, size - 3, profile, size - 3);
        int exif = tb_ifd_new(b), gps = tb_ifd_new(b);
        TB_SHORTS(b, exif, 34850, 2);
        TB_SHORTS(b, gps, 1, 7);
        tb_link(b, 0, TZ_TAG_EXIF_IFD, TZ_TYPE_LONG, &exif, 1);
        tb_link(b, 0, TZ_TAG_GPS_IFD, TZ_TYPE_LONG, &gps, 1);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        assert_true(info->bytes_read < 40000);
        for (size_t i = 0; i < COUNT(tags); i++) {
            tz_tag tag = check_find_tag(file, tags[i]);
            assert_int_equal(tag.size, size - i);
            assert_int_equal(tz_tag_read(got, size, file, &tag, NULL), TZ_OK);
            assert_memory_equal(got, profile, size - i);
        }
        assert_int_equal(info->exif_ifd, tb_ifd_at(b, exif));
        assert_int_equal(info->gps_ifd, tb_ifd_at(b, gps));
        tz_tag tag = TZ_TAG_INIT;
        assert_int_equal(tz_file_get_tag(&tag, file, info->exif_ifd, 0, NULL), TZ_OK);
        assert_int_equal(tag.tag, 34850);
        assert_int_equal(tz_file_get_tag(&tag, file, info->gps_ifd, 0, NULL), TZ_OK);
        assert_int_equal(tag.tag, 1);
        check_done(file, b);
    }
    free(profile);
    free(got);
}

static void n08_area_or_point(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (uint64_t type = 1; type <= 2; type++) {
            tb *b = tb_new(f);
            tb_gray(b, 64, 64);
            tb_georeference(b, 0, 32633);
            TB_SHORTS(b, 0, TZ_TAG_GEO_KEYS, 1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, type, 3072, 0,
                      1, 32633);
            tz_file *file;
            const tz_geo *geo = check_info(b, &file)->geo;
            double shift = type == 2 ? 5 : 0; /* half a pixel, once */
            assert_int_equal(geo->raster_type, type);
            assert_true(geo->transform[0] == 500000 - shift && geo->transform[1] == 10);
            assert_true(geo->transform[3] == 4500000 + shift && geo->transform[5] == -10);
            assert_true(geo->transform[2] == 0 && geo->transform[4] == 0);
            check_done(file, b);
        }
    }
}

static void n09_odd_depths(void **state)
{
    (void)state;
    static const uint16_t depths[] = {1, 2, 3, 5, 7, 9, 11, 12, 15, 17, 24, 31};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(depths); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.bits = depths[i]});
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_int_equal(info->bits_per_sample, depths[i]);
            assert_int_equal(info->dtype, depths[i] < 9    ? TZ_DTYPE_UINT8
                                          : depths[i] < 17 ? TZ_DTYPE_UINT16
                                                           : TZ_DTYPE_UINT32);
            check_done(file, b);
        }
    }
}

/* N11 is case_63_many_tie_points_cost_no_more_than_the_file of test_hostile_geo.c. */

static void n12_jpeg_tables_and_tile_sizes(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.compression = 7, .tile_width = 24, .tile_height = 24});
        tb_set_bytes(b, 0, TZ_TAG_JPEG_TABLES, TZ_TYPE_UNDEFINED, 20,
                     "\xff\xd8 some tables \xff\xd9...", 20);
        tb_finish(b);
        tz_file *file = check_warns(b, NULL, /* a multiple of 8 is JPEG's, of 16 is TIFF's */
                                    DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_WIDTH, .found = 24));
        assert_true(tz_file_get_level(file, 0)->readable);
        assert_int_equal(tz_file_get_level(file, 0)->jpeg_tables_size, 20);
        check_done(file, b);
    }
}

static void lerc_parameters(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.compression = 34887});
        TB_LONGS(b, 0, TZ_TAG_LERC_PARAMETERS, 4, 2);
        tz_file *file;
        check_info(b, &file);
        const tz_level *level = tz_file_get_level(file, 0);
        assert_int_equal(level->lerc_version, 4);
        assert_int_equal(level->lerc_compression, 2);
        check_done(file, b);
    }
}

static void colors_of_bands(void **state)
{
    (void)state;
    static const struct {
        uint16_t photometric, samples;
        const char *names[4];
    } kinds[] = {
        {0, 1, {"Gray"}},
        {1, 1, {"Gray"}},
        {2, 3, {"Red", "Green", "Blue"}},
        {3, 1, {"Palette"}},
        {5, 4, {"Cyan", "Magenta", "Yellow", "Black"}},
        {6, 3, {"YCbCr_Y", "YCbCr_Cb", "YCbCr_Cr"}},
        {8, 3, {"Undefined", "Undefined", "Undefined"}},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(kinds); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.samples = kinds[i].samples});
            TB_SHORTS(b, 0, TZ_TAG_PHOTOMETRIC, kinds[i].photometric);
            tb_finish(b);
            tz_file *file = check_opens_somehow(b, NULL);
            for (uint32_t k = 0; k < kinds[i].samples; k++)
                assert_string_equal(tz_color_name(tz_file_get_band(file, k)->color),
                                    kinds[i].names[k]);
            check_done(file, b);
        }
    }
    assert_string_equal(tz_color_name((tz_color)99), "Undefined");
    assert_string_equal(tz_dtype_name((tz_dtype)99), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(n01_nodata_of_integers_is_exact),
        CASE(n01_nodata_of_floats),
        CASE(n02_metadata_items_and_roles),
        CASE(n03_n04_internal_mask_and_sparse_tiles),
        CASE(n05_n06_int8_and_float16),
        CASE(n07_rpc_coefficients),
        CASE(n07_profiles_of_any_size_and_side_directories),
        CASE(n08_area_or_point),
        CASE(n09_odd_depths),
        CASE(n12_jpeg_tables_and_tile_sizes),
        CASE(lerc_parameters),
        CASE(colors_of_bands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
