/* SPDX-License-Identifier: Apache-2.0
 * From a specification to the tags of a directory, and back by opening the file. */
#include "support/check.h"
#include "support/sized.h"
#include "support/spec_case.h"

/* The tags of level 0 are these, in this order. */
static void check_tags(const tz_file *handle, const uint16_t *wanted, size_t count)
{
    const tz_level *level = tz_file_get_level(handle, 0);
    tz_error err;
    assert_int_equal(level->tag_count, count);
    for (uint32_t i = 0; i < count; i++) {
        tz_tag tag = TZ_TAG_INIT;
        assert_int_equal(tz_file_get_tag(&tag, handle, level->ifd_offset, i, &err), TZ_OK);
        assert_int_equal(tag.tag, wanted[i]);
    }
}
#define TAGS(handle, ...)                                                                          \
    check_tags(handle, (const uint16_t[]){__VA_ARGS__},                                            \
               sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t))

/* The data of a tag of level 0, at most 512 bytes, the rest 0. */
static const void *data_of(const tz_file *handle, uint16_t tag, uint16_t type, uint64_t count)
{
    static _Alignas(8) uint8_t data[512];
    const tz_tag found = check_find_tag(handle, tag);
    tz_error err;
    memset(data, 0, sizeof data);
    assert_int_equal(found.type, type);
    assert_true(found.count == count);
    assert_int_equal(tz_tag_read(data, sizeof data, handle, &found, &err), TZ_OK);
    return data;
}

static uint16_t short_of(const tz_file *handle, uint16_t tag)
{
    return *(const uint16_t *)data_of(handle, tag, TZ_TYPE_SHORT, 1);
}

static void shape_and_type_come_back(void **state)
{
    (void)state;
    for (int dtype = TZ_DTYPE_UINT8; dtype <= TZ_DTYPE_COMPLEX_FLOAT64; dtype++) {
        FORMATS(f)
        {
            start();
            spec.bands = 2, spec.dtype = (tz_dtype)dtype;
            options.tile_width = 64, options.tile_height = 16;
            made_file m = made(f);
            assert_int_equal(m.info->dtype, dtype);
            assert_int_equal(m.info->bits_per_sample, tz_dtype_size((tz_dtype)dtype) * 8);
            assert_int_equal(m.info->width, 100);
            assert_int_equal(m.info->height, 50);
            assert_int_equal(m.info->bands, 2);
            assert_int_equal(m.info->photometric, TZ_PHOTOMETRIC_MIN_IS_BLACK);
            assert_int_equal(tz_file_get_level(m.handle, 0)->tile_width, 64);
            assert_int_equal(tz_file_get_level(m.handle, 0)->tile_height, 16);
            assert_int_equal(tz_file_get_level(m.handle, 0)->tile_count, 8);
            assert_true(tz_file_get_level(m.handle, 0)->tiled &&
                        tz_file_get_level(m.handle, 0)->readable);
            made_close(&m);
        }
    }
}

static void a_grey_image_has_few_tags(void **state)
{
    (void)state;
    start();
    made_file tiled = made(0);
    TAGS(tiled.handle, 256, 257, 258, 259, 262, 277, 284, 322, 323, 324, 325, 339);
    made_close(&tiled);
    start();
    options.strips = true, options.tile_height = 20;
    made_file striped = made(0);
    TAGS(striped.handle, 256, 257, 258, 259, 262, 273, 277, 278, 279, 284, 339);
    assert_int_equal(short_of(striped.handle, TZ_TAG_ROWS_PER_STRIP), 20);
    made_close(&striped);
}

static void large_numbers_are_longs(void **state)
{
    (void)state;
    start();
    spec.width = 70000, spec.height = 65535;
    options.tile_width = 65536 + 16;
    made_file m = made(TB_BIG_ENDIAN);
    assert_int_equal(*(const uint32_t *)data_of(m.handle, 256, TZ_TYPE_LONG, 1), 70000);
    assert_int_equal(short_of(m.handle, 257), 65535);
    assert_int_equal(*(const uint32_t *)data_of(m.handle, 322, TZ_TYPE_LONG, 1), 65552);
    made_close(&m);
}

static void every_sample_has_its_bits_and_format(void **state)
{
    (void)state;
    start();
    spec.bands = 5, spec.dtype = TZ_DTYPE_INT16;
    options.interleave = TZ_INTERLEAVE_BAND;
    made_file m = made(TB_BIGTIFF);
    const uint16_t sixteen[] = {16, 16, 16, 16, 16}, two[] = {2, 2, 2, 2, 2};
    assert_memory_equal(data_of(m.handle, 258, TZ_TYPE_SHORT, 5), sixteen, sizeof sixteen);
    assert_memory_equal(data_of(m.handle, 339, TZ_TYPE_SHORT, 5), two, sizeof two);
    assert_int_equal(short_of(m.handle, 277), 5);
    assert_int_equal(short_of(m.handle, 284), 2);
    assert_int_equal(m.info->extra_sample_count, 4);
    assert_int_equal(tz_file_get_level(m.handle, 0)->tile_count, 5);
    made_close(&m);
}

static void colors_come_back(void **state)
{
    (void)state;
    static uint16_t map[3 * 16];
    for (unsigned i = 0; i < 48; i++)
        map[i] = (uint16_t)(i * 1000);
    FORMATS(f)
    {
        start();
        spec.bands = 4, spec.orientation = 6;
        made_file rgba = made(f);
        assert_int_equal(rgba.info->photometric, TZ_PHOTOMETRIC_RGB);
        assert_int_equal(rgba.info->extra_samples[0], 2);
        assert_int_equal(rgba.info->orientation, 6);
        made_close(&rgba);
        start();
        spec.bits_per_sample = 4, spec.color_map = map, spec.color_map_size = 16;
        made_file palette = made(f);
        assert_int_equal(palette.info->photometric, TZ_PHOTOMETRIC_PALETTE);
        assert_int_equal(palette.info->color_map_size, 16);
        assert_memory_equal(palette.info->color_map, map, sizeof map);
        made_close(&palette);
        start();
        spec.photometric = TZ_PHOTOMETRIC_MIN_IS_WHITE, spec.bits_per_sample = 1;
        made_file white = made(f);
        assert_int_equal(white.info->photometric, 0);
        assert_int_equal(white.info->bits_per_sample, 1);
        made_close(&white);
        start();
        spec.photometric = TZ_PHOTOMETRIC_CMYK, spec.bands = 4;
        made_file cmyk = made(f);
        assert_int_equal(cmyk.info->photometric, 5);
        assert_int_equal(cmyk.info->extra_sample_count, 0);
        made_close(&cmyk);
    }
}

static void a_mask_is_a_directory_of_its_own(void **state)
{
    (void)state;
    FORMATS(f)
    {
        start();
        spec.mask = true, spec.bands = 3;
        options.tile_width = 32, options.tile_height = 16;
        made_file m = made(f);
        assert_int_equal(m.info->ifd_count, 2);
        assert_true(tz_file_get_level(m.handle, 0)->has_mask);
        const tz_level *mask = tz_file_get_mask(m.handle, 0);
        assert_int_equal(mask->width, 100);
        assert_int_equal(mask->tile_width, 32);
        assert_int_equal(mask->tile_count, 16);
        assert_int_equal(mask->bits_per_sample, 1);
        assert_int_equal(mask->samples, 1);
        assert_int_equal(mask->photometric, TZ_PHOTOMETRIC_MASK);
        assert_int_equal(mask->tag_count, 12);
        made_close(&m);
    }
}

/* ---- codecs ---- */

static void ycbcr_reports_its_range(void **state)
{
    (void)state;
    static const uint8_t tables[] = {0xFF, 0xD8, 0xFF, 0xD9};
    static const uint32_t range[] = {0, 1, 255, 1, 128, 1, 255, 1, 128, 1, 255, 1};
    const tz_bytes bytes = {tables, sizeof tables};
    if (!has_encoder(TZ_COMPRESSION_JPEG))
        return;
    start();
    spec.bands = 3, spec.photometric = TZ_PHOTOMETRIC_YCBCR;
    options.codec.compression = TZ_COMPRESSION_JPEG, options.codec.jpeg_subsampling[1] = 1;
    made_file m = made_with(NULL, &bytes, 0);
    assert_int_equal(m.info->ycbcr_subsampling[0], 2);
    assert_int_equal(m.info->ycbcr_subsampling[1], 1);
    assert_memory_equal(data_of(m.handle, 532, TZ_TYPE_RATIONAL, 6), range, sizeof range);
    assert_memory_equal(data_of(m.handle, 347, TZ_TYPE_UNDEFINED, 4), tables, sizeof tables);
    made_close(&m);
    start();
    options.codec.compression = TZ_COMPRESSION_JPEG;
    made_file grey = made(0);
    TAGS(grey.handle, 256, 257, 258, 259, 262, 277, 284, 322, 323, 324, 325, 339);
    made_close(&grey);
}

static void lerc_reports_its_parameters(void **state)
{
    (void)state;
    const uint32_t wanted[] = {4, 1};
    if (!has_encoder(TZ_COMPRESSION_LERC) || !has_encoder(TZ_COMPRESSION_DEFLATE))
        return;
    start();
    options.codec.compression = TZ_COMPRESSION_LERC, options.codec.lerc_compression = 1;
    made_file m = made(0);
    assert_memory_equal(data_of(m.handle, 50674, TZ_TYPE_LONG, 2), wanted, sizeof wanted);
    assert_int_equal(tz_file_get_level(m.handle, 0)->lerc_compression, 1);
    made_close(&m);
}

static void predictor_is_reported(void **state)
{
    (void)state;
    if (!has_encoder(TZ_COMPRESSION_LZW))
        return;
    start();
    options.codec.compression = TZ_COMPRESSION_LZW, spec.dtype = TZ_DTYPE_FLOAT32;
    made_file m = made(0);
    assert_int_equal(tz_file_get_level(m.handle, 0)->predictor, 3);
    assert_int_equal(tz_file_get_level(m.handle, 0)->compression, 5);
    made_close(&m);
}

/* ---- others ---- */

static void other_tags_are_sorted_in(void **state)
{
    (void)state;
    static const uint32_t resolution[] = {72, 1};
    static const tz_tag_value list[] = {SIZED_TAG(34675, TZ_TYPE_UNDEFINED, 5, "icc?"),
                                        SIZED_TAG(305, TZ_TYPE_ASCII, 9, "software"),
                                        SIZED_TAG(282, TZ_TYPE_RATIONAL, 1, resolution),
                                        SIZED_TAG(65000, TZ_TYPE_SLONG8, 1, "12345678")};
    FORMATS(f)
    {
        start();
        spec.tags = list, spec.tag_count = 4;
        made_file m = made(f);
        TAGS(m.handle, 256, 257, 258, 259, 262, 277, 282, 284, 305, 322, 323, 324, 325, 339, 34675,
             65000);
        for (unsigned i = 0; i < 4; i++)
            assert_memory_equal(data_of(m.handle, list[i].tag, list[i].type, list[i].count),
                                list[i].data, list[i].count * tz_type_size(list[i].type));
        made_close(&m);
    }
}

static void many_tags_find_room(void **state)
{
    (void)state;
    static tz_tag_value list[200];
    for (uint16_t i = 0; i < 200; i++)
        list[i] = (tz_tag_value)SIZED_TAG((uint16_t)(60199 - i), TZ_TYPE_ASCII, 5, "many");
    start();
    spec.tags = list, spec.tag_count = 200;
    made_file m = made(0);
    assert_int_equal(tz_file_get_level(m.handle, 0)->tag_count, 212);
    assert_string_equal(data_of(m.handle, 60000, TZ_TYPE_ASCII, 5), "many");
    assert_string_equal(data_of(m.handle, 60199, TZ_TYPE_ASCII, 5), "many");
    made_close(&m);
}

static void nodata_comes_back(void **state)
{
    (void)state;
    start();
    spec.dtype = TZ_DTYPE_INT64;
    spec.nodata = (tz_nodata){.kind = TZ_NODATA_KIND_INT, .value.i = INT64_MIN + 1};
    made_file m = made(0);
    assert_int_equal(m.info->nodata.kind, TZ_NODATA_KIND_INT);
    assert_true(m.info->nodata.value.i == INT64_MIN + 1);
    assert_string_equal(m.info->nodata_text, "-9223372036854775807");
    made_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(shape_and_type_come_back), CASE(a_grey_image_has_few_tags),
        CASE(large_numbers_are_longs),  CASE(every_sample_has_its_bits_and_format),
        CASE(colors_come_back),         CASE(a_mask_is_a_directory_of_its_own),
        CASE(ycbcr_reports_its_range),  CASE(lerc_reports_its_parameters),
        CASE(predictor_is_reported),    CASE(other_tags_are_sorted_in),
        CASE(many_tags_find_room),      CASE(nodata_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
