/* SPDX-License-Identifier: Apache-2.0
 * Reading directories as TIFF 6.0 has them: T01 to T25. What the list says of defects is tested in
 * test_hostile_*.c. */
#include <string.h>

#include "support/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint16_t unsigned_types[] = {TZ_TYPE_BYTE,  TZ_TYPE_SHORT, TZ_TYPE_LONG,
                                          TZ_TYPE_LONG8, TZ_TYPE_IFD,   TZ_TYPE_IFD8};

static void t01_byte_order_and_version(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 123, 45);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        assert_int_equal(info->big_endian, (f & TB_BIG_ENDIAN) != 0);
        assert_int_equal(info->bigtiff, (f & TB_BIGTIFF) != 0);
        assert_int_equal(info->width, 123);
        assert_int_equal(info->height, 45);
        assert_int_equal(info->file_size, b->size);
        assert_string_equal(info->name, "test.tif");
        check_done(file, b);
    }
}

static void t02_first_directory_anywhere(void **state)
{
    (void)state;
    static const uint64_t gaps[] = {0, 2, 1000, 16384 - 8, 20000, 100000};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(gaps); i++) {
            tb *b = tb_new(f);
            int image = tb_gray(b, 64, 64);
            b->ifds[image].gap = gaps[i];
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_int_equal(tz_file_get_level(file, 0)->ifd_offset, tb_header_size(b) + gaps[i]);
            assert_int_equal(info->width, 64);
            check_done(file, b);
        }
    }
}

static void t03_the_chain_ends_with_zero(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (uint32_t count = 1; count <= 9; count += 4) {
            tb *b = tb_new(f);
            for (uint32_t i = 0; i < count; i++)
                tb_gray(b, 10 + i, 20 + i);
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_true(info->chain_complete);
            assert_int_equal(info->ifd_count, count);
            assert_int_equal(info->page_count, count);
            for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(tz_file_get_page(file, i)->width, 10 + i);
                assert_int_equal(tz_file_get_page(file, i)->height, 20 + i);
                assert_int_equal(tz_file_get_page(file, i)->ifd, i);
                assert_int_equal(tz_file_get_page(file, i)->ifd_offset, tb_ifd_at(b, (int)i));
            }
            check_done(file, b);
        }
    }
}

/* Directories in any order of offsets: only the chain counts. */
static void t03_the_chain_goes_backwards(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        for (uint32_t i = 0; i < 4; i++)
            tb_gray(b, 10 + i, 10);
        b->ifds[0].at = 3000, b->ifds[1].at = 2400, b->ifds[2].at = 1800, b->ifds[3].at = 1200;
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        assert_int_equal(info->page_count, 4);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(tz_file_get_page(file, i)->width, 10 + i);
        check_done(file, b);
    }
}

static void t04_tags_are_found_in_order(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        tz_file *file;
        check_info(b, &file);
        tz_tag tag = TZ_TAG_INIT;
        uint16_t previous = 0;
        for (int32_t i = 0; i < tz_file_get_level(file, 0)->tag_count; i++) {
            assert_int_equal(tz_file_get_tag(&tag, file, tz_file_get_level(file, 0)->ifd_offset,
                                             (uint32_t)i, NULL),
                             TZ_OK);
            assert_true(tag.tag > previous);
            previous = tag.tag;
        }
        assert_int_equal(tz_file_get_level(file, 0)->tag_count, b->ifds[0].count);
        check_done(file, b);
    }
}

/* Every type, one and three values, through the public functions, in both byte orders. */
static void t05_all_field_types(void **state)
{
    (void)state;
    static const struct {
        uint16_t type;
        size_t size;
        const char *name;
    } types[] = {{1, 1, "BYTE"},     {2, 1, "ASCII"},      {3, 2, "SHORT"},     {4, 4, "LONG"},
                 {5, 8, "RATIONAL"}, {6, 1, "SBYTE"},      {7, 1, "UNDEFINED"}, {8, 2, "SSHORT"},
                 {9, 4, "SLONG"},    {10, 8, "SRATIONAL"}, {11, 4, "FLOAT"},    {12, 8, "DOUBLE"},
                 {13, 4, "IFD"},     {16, 8, "LONG8"},     {17, 8, "SLONG8"},   {18, 8, "IFD8"}};
    static const uint64_t values[6] = {1, 2, 0x7172, 4, 5, 6};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(types); i++) {
            for (size_t count = 1; count <= 3; count += 2) {
                bool rational = types[i].type == 5 || types[i].type == 10;
                size_t words = rational ? 2 * count : count,
                       word = types[i].size / (rational ? 2 : 1);
                tb *b = tb_new(f);
                tb_gray(b, 64, 64);
                tb_set(b, 0, 65000, types[i].type, values, words);
                tz_file *file;
                check_info(b, &file);
                tz_tag tag = check_find_tag(file, 65000);
                assert_int_equal(tag.type, types[i].type);
                assert_int_equal(tag.count, count);
                assert_int_equal(tag.size, count * types[i].size);
                assert_int_equal(tag.offset, tb_data_at(b, 0, 65000));
                assert_string_equal(tz_tag_type_name(tag.type), types[i].name);
                uint8_t data[24];
                assert_int_equal(tz_tag_read(data, sizeof data, file, &tag, NULL), TZ_OK);
                for (size_t k = 0; k < words; k++) {
                    union {
                        uint8_t u8;
                        uint16_t u16;
                        uint32_t u32;
                        uint64_t u64;
                        float f32;
                        double f64;
                    } got;
                    memcpy(&got, data + k * word, word);
                    if (types[i].type == TZ_TYPE_FLOAT)
                        assert_true(got.f32 == (float)values[k]);
                    else if (types[i].type == TZ_TYPE_DOUBLE)
                        assert_true(got.f64 == (double)values[k]);
                    else
                        assert_true((word == 1   ? got.u8
                                     : word == 2 ? got.u16
                                     : word == 4
                                         ? got.u32
                                         : got.u64) == (word == 1 ? values[k] & 0xff : values[k]));
                }
                check_done(file, b);
            }
        }
    }
}

static void t05_tag_functions_refuse_what_is_not_there(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        tb_set_text(b, 0, 65000, "some text that is not inline");
        tz_file *file;
        check_info(b, &file);
        uint64_t at = tz_file_get_level(file, 0)->ifd_offset;
        tz_tag tag = TZ_TAG_INIT;
        tz_error err;
        char text[100];
        assert_int_equal(
            tz_file_get_tag(&tag, file, at, (uint32_t)tz_file_get_level(file, 0)->tag_count, &err),
            TZ_ERR_ARG);
        assert_int_equal(tz_file_get_tag(&tag, file, at, UINT32_MAX, &err), TZ_ERR_ARG);
        assert_int_equal(tz_file_get_tag(&tag, file, 0, 0, &err), TZ_ERR_FORMAT);
        assert_int_equal(tz_file_get_tag(&tag, file, b->size, 0, &err), TZ_ERR_FORMAT);
        assert_int_equal(tz_file_get_tag(&tag, file, UINT64_MAX, 0, &err), TZ_ERR_FORMAT);
        tag = check_find_tag(file, 65000);
        assert_int_equal(tz_tag_read(text, (size_t)tag.size - 1, file, &tag, &err), TZ_ERR_ARG);
        check_error(&err, DEFECT(ARG, ARG, .ifd = -1, .tag = 65000, .expected = tag.size,
                                 .found = tag.size - 1));
        assert_int_equal(tz_tag_read(text, (size_t)tag.size, file, &tag, &err), TZ_OK);
        assert_string_equal(text, "some text that is not inline");
        tz_tag strange = tag;
        strange.type = 99;
        assert_int_equal(tz_tag_read(text, sizeof text, file, &strange, &err), TZ_ERR_ARG);
        tag.offset = b->size - 3;
        assert_int_equal(tz_tag_read(text, sizeof text, file, &tag, &err), TZ_ERR_FORMAT);
        assert_int_equal(err.cause, TZ_CAUSE_TRUNCATED);
        check_done(file, b);
    }
}

static void t06_inline_values_are_left_justified(void **state)
{
    (void)state;
    FORMATS(f)
    {
        size_t room = f & TB_BIGTIFF ? 8 : 4;
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.bits = 16});
        TB_SHORTS(b, 0, 65000, 0x1234);
        TB_SHORTS(b, 0, 65001, 0x1234, 0x5678);
        tb_set_bytes(b, 0, 65002, TZ_TYPE_BYTE, room, "ABCDEFGHI", room);
        tb_set_bytes(b, 0, 65003, TZ_TYPE_BYTE, room + 1, "ABCDEFGHI", room + 1);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        assert_int_equal(info->bits_per_sample, 16);
        uint16_t shorts[2];
        uint8_t bytes[9];
        tz_tag tag = check_find_tag(file, 65000);
        assert_int_equal(tag.offset, tb_value_at(b, 0, 65000));
        assert_int_equal(tz_tag_read(shorts, sizeof shorts, file, &tag, NULL), TZ_OK);
        assert_int_equal(shorts[0], 0x1234);
        tag = check_find_tag(file, 65001);
        assert_int_equal(tz_tag_read(shorts, sizeof shorts, file, &tag, NULL), TZ_OK);
        assert_int_equal(shorts[1], 0x5678);
        tag = check_find_tag(file, 65002);
        assert_int_equal(tag.offset, tb_value_at(b, 0, 65002));
        assert_int_equal(tz_tag_read(bytes, sizeof bytes, file, &tag, NULL), TZ_OK);
        assert_memory_equal(bytes, "ABCDEFGHI", room);
        tag = check_find_tag(file, 65003);
        assert_true(tag.offset > tb_next_at(b, 0)); /* one byte more is elsewhere */
        assert_int_equal(tz_tag_read(bytes, sizeof bytes, file, &tag, NULL), TZ_OK);
        assert_memory_equal(bytes, "ABCDEFGHI", room + 1);
        check_done(file, b);
    }
}

static void t07_text_with_and_without_nuls(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } texts[] = {
        {"7\0", 2}, {"7", 1}, {"7\0\0\0\0\0\0\0\0\0", 10}, {" 7 \0", 4}, {"7\0rubbish", 9}};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(texts); i++) {
            tb *b = tb_new(f);
            tb_gray(b, 64, 64);
            tb_set_bytes(b, 0, TZ_TAG_GDAL_NODATA, TZ_TYPE_ASCII, texts[i].size, texts[i].bytes,
                         texts[i].size);
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_string_equal(info->nodata_text, "7");
            assert_int_equal(info->nodata.value.u, 7);
            check_done(file, b);
        }
    }
}

static void t08_any_unsigned_type_for_sizes(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(unsigned_types); i++) {
            uint16_t type = unsigned_types[i];
            tb *b = tb_new(f);
            tb_image(b,
                     &(tb_spec){.width = 200, .height = 100, .tile_width = 48, .tile_height = 32});
            TB_SET(b, 0, TZ_TAG_IMAGE_WIDTH, type, 200);
            TB_SET(b, 0, TZ_TAG_IMAGE_LENGTH, type, 100);
            TB_SET(b, 0, TZ_TAG_TILE_WIDTH, type, 48);
            TB_SET(b, 0, TZ_TAG_TILE_LENGTH, type, 32);
            TB_SET(b, 0, TZ_TAG_BITS_PER_SAMPLE, type, 8);
            TB_SET(b, 0, TZ_TAG_COMPRESSION, type, 1);
            TB_SET(b, 0, TZ_TAG_SAMPLES_PER_PIXEL, type, 1);
            TB_SET(b, 0, TZ_TAG_SAMPLE_FORMAT, type, 1);
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_int_equal(info->width, 200);
            assert_int_equal(info->height, 100);
            assert_int_equal(tz_file_get_level(file, 0)->tile_width, 48);
            assert_int_equal(tz_file_get_level(file, 0)->tile_height, 32);
            assert_int_equal(info->dtype, TZ_DTYPE_UINT8);
            check_done(file, b);
        }
    }
}

static void t09_defaults(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_ifd_new(b);
        TB_SHORTS(b, image, TZ_TAG_IMAGE_WIDTH, 100);
        TB_SHORTS(b, image, TZ_TAG_IMAGE_LENGTH, 50);
        TB_LONGS(b, image, TZ_TAG_STRIP_OFFSETS, 8);
        TB_LONGS(b, image, TZ_TAG_STRIP_BYTE_COUNTS, 20);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        assert_int_equal(info->bits_per_sample, 1);
        assert_int_equal(tz_file_get_level(file, 0)->compression, 1);
        assert_int_equal(tz_file_get_level(file, 0)->predictor, 1);
        assert_int_equal(info->fill_order, 1);
        assert_int_equal(info->orientation, 1);
        assert_int_equal(info->bands, 1);
        assert_int_equal(info->planar, 1);
        assert_int_equal(info->sample_format, 1);
        assert_int_equal(info->ycbcr_subsampling[0], 2);
        assert_int_equal(info->ycbcr_subsampling[1], 2);
        assert_int_equal(info->dtype, TZ_DTYPE_UINT8);
        assert_int_equal(tz_file_get_level(file, 0)->tile_height, 50); /* one strip */
        assert_int_equal(tz_file_get_level(file, 0)->tile_width, 100);
        assert_int_equal(tz_file_get_level(file, 0)->tile_count, 1);
        assert_false(tz_file_get_level(file, 0)->tiled);
        assert_int_equal(info->extra_sample_count, 0);
        assert_null(info->color_map);
        assert_null(tz_file_get_mask(file, 0));
        assert_null(info->nodata_text);
        assert_int_equal(info->nodata.kind, TZ_NODATA_KIND_NONE);
        assert_true(info->exif_ifd == TZ_NO_VALUE && info->gps_ifd == TZ_NO_VALUE);
        assert_false(info->geo->has_transform || info->geo->has_crs || info->ghost->present);
        check_done(file, b);
    }
}

static void t10_the_baseline_classes_without_resolution(void **state)
{
    (void)state;
    static const tb_spec classes[] = {
        {.bits = 1, .photometric = 0x0001},
        {.bits = 4, .photometric = 1},
        {.bits = 8, .photometric = 1},
        {.bits = 8, .samples = 3, .photometric = 2},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(classes); i++) {
            tb *b = tb_new(f);
            tb_image(b, &classes[i]);
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_int_equal(info->bits_per_sample, classes[i].bits);
            assert_int_equal(info->dtype, TZ_DTYPE_UINT8);
            check_done(file, b);
        }
    }
}

/* Grids of strips and tiles, by pixel and by band. */
static void check_grid(const tb_spec *spec, uint32_t across, uint32_t down, uint64_t count)
{
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, spec);
        tz_file *file;
        check_info(b, &file);
        const tz_level *level = tz_file_get_level(file, 0);
        assert_int_equal(level->tiles_across, across);
        assert_int_equal(level->tiles_down, down);
        assert_int_equal(level->tile_count, count);
        assert_int_equal(level->tiled, spec->tile_width != 0);
        assert_true(level->readable);
        check_locates(file, 0, count - 1, tb_tile_at(b, 0, count - 1), 16);
        tz_tile_span span;
        assert_int_equal(tz_file_locate_tile(&span, file, 0, false, count, NULL), TZ_ERR_ARG);
        check_done(file, b);
    }
}

static void t11_strip_counts(void **state)
{
    (void)state;
    check_grid(&(tb_spec){.width = 50, .height = 100, .rows_per_strip = 10}, 1, 10, 10);
    check_grid(&(tb_spec){.width = 50, .height = 101, .rows_per_strip = 10}, 1, 11, 11);
    check_grid(&(tb_spec){.width = 50, .height = 1, .rows_per_strip = 10}, 1, 1, 1);
    check_grid(&(tb_spec){.height = 101, .rows_per_strip = 10, .samples = 3, .planar = 2}, 1, 11,
               33);
    check_grid(&(tb_spec){.height = 101, .rows_per_strip = 1}, 1, 101, 101);
}

static void t12_tile_counts(void **state)
{
    (void)state;
    check_grid(&(tb_spec){.width = 64, .height = 64, .tile_width = 16, .tile_height = 16}, 4, 4,
               16);
    check_grid(&(tb_spec){.width = 65, .height = 63, .tile_width = 16, .tile_height = 16}, 5, 4,
               20);
    check_grid(&(tb_spec){.width = 1, .height = 1, .tile_width = 256, .tile_height = 256}, 1, 1, 1);
    check_grid(&(tb_spec){.width = 65,
                          .height = 63,
                          .tile_width = 16,
                          .tile_height = 32,
                          .samples = 4,
                          .planar = 2,
                          .photometric = 1},
               5, 2, 40);
}

static void t13_one_row_tiles_are_read(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.width = 20, .height = 20, .tile_width = 32, .tile_height = 1});
        tb_finish(b);
        tz_file *file =
            check_warns(b, NULL, DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_LENGTH, .found = 1));
        assert_int_equal(tz_file_get_level(file, 0)->tile_count, 20);
        check_done(file, b);
    }
}

static void t14_strips_or_tiles(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        tb_tiled(b, 64, 64, 32);
        tz_file *file;
        check_info(b, &file);
        assert_false(tz_file_get_level(file, 0)->tiled);
        check_close(file);
        tz_open_options options = TZ_OPEN_OPTIONS_INIT;
        options.page = 1;
        file = check_opens(b, &options);
        assert_true(tz_file_get_level(file, 0)->tiled);
        check_done(file, b);
    }
}

static void t15_fill_order(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.bits = 1, .compression = 4});
        TB_SHORTS(b, 0, TZ_TAG_FILL_ORDER, 2);
        tz_file *file;
        assert_int_equal(check_info(b, &file)->fill_order, 2);
        check_done(file, b);
    }
}

static void t16_depths_of_many_samples(void **state)
{
    (void)state;
    static const uint16_t samples[] = {1, 2, 3, 4, 5, 100, 20000};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(samples); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.bits = 16, .samples = samples[i]});
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_int_equal(info->bands, samples[i]);
            assert_int_equal(info->bits_per_sample, 16);
            assert_int_equal(info->dtype, TZ_DTYPE_UINT16);
            check_done(file, b);
        }
    }
}

static void t17_extra_samples(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 6});
        TB_SHORTS(b, 0, TZ_TAG_EXTRA_SAMPLES, 2, 0, 1);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        assert_int_equal(info->extra_sample_count, 3);
        assert_int_equal(info->extra_samples[0], 2);
        assert_int_equal(info->extra_samples[1], 0);
        assert_int_equal(info->extra_samples[2], 1);
        static const tz_color colors[] = {TZ_COLOR_RED,   TZ_COLOR_GREEN,     TZ_COLOR_BLUE,
                                          TZ_COLOR_ALPHA, TZ_COLOR_UNDEFINED, TZ_COLOR_ALPHA};
        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(tz_file_get_band(file, i)->color, colors[i]);
        check_done(file, b);
    }
}

static void t18_palette(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.bits = 2, .photometric = 3});
        TB_SHORTS(b, 0, TZ_TAG_COLOR_MAP, 0, 1, 2, 65535, 10, 11, 12, 13, 20, 21, 22, 23);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        static const uint16_t map[] = {0, 1, 2, 65535, 10, 11, 12, 13, 20, 21, 22, 23};
        assert_int_equal(info->color_map_size, 4);
        assert_memory_equal(info->color_map, map, sizeof map);
        assert_int_equal(tz_file_get_band(file, 0)->color, TZ_COLOR_PALETTE);
        check_done(file, b);
    }
}

/* A colour map as GDAL reads it, whatever the photometric interpretation: a palette of the first
 * band, whose pixels keep their values. */
static void t18_a_colour_map_makes_a_palette_of_grey(void **state)
{
    (void)state;
    static const uint16_t map[] = {0, 1, 2, 65535, 10, 11, 12, 13, 20, 21, 22, 23};
    FORMATS(f)
    {
        for (uint16_t photometric = 0; photometric < 2; photometric++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.bits = 2});
            TB_SHORTS(b, 0, TZ_TAG_PHOTOMETRIC, photometric);
            TB_SHORTS(b, 0, TZ_TAG_COLOR_MAP, 0, 1, 2, 65535, 10, 11, 12, 13, 20, 21, 22, 23);
            tb_finish(b);
            tz_file *file = check_warns(b, NULL,
                                        DEFECT(FORMAT, TAG, .tag = TZ_TAG_PHOTOMETRIC,
                                               .expected = 3, .found = photometric));
            const tz_info *info = tz_file_get_info(file);
            assert_int_equal(info->photometric, 3);
            assert_int_equal(tz_file_get_level(file, 0)->photometric, photometric);
            assert_int_equal(info->color_map_size, 4);
            assert_memory_equal(info->color_map, map, sizeof map);
            assert_int_equal(tz_file_get_band(file, 0)->color, TZ_COLOR_PALETTE);
            check_done(file, b);
        }
    }
}

/* Overviews and masks are as they are stored; the palette is that of the page. */
static void t18_a_colour_map_with_grey_levels_and_a_mask(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_image(b, &(tb_spec){.width = 64, .height = 64, .bits = 1});
        int half = tb_image(
            b, &(tb_spec){.width = 32, .height = 32, .bits = 1, .photometric = 3, .subfile = 1});
        TB_SHORTS(b, image, TZ_TAG_COLOR_MAP, 1, 2, 3, 4, 5, 6);
        TB_SHORTS(b, half, TZ_TAG_COLOR_MAP, 6, 5, 4, 3, 2, 1);
        tb_mask(b, image);
        tb_finish(b);
        tz_file *file = check_warns(
            b, NULL, DEFECT(FORMAT, TAG, .tag = TZ_TAG_PHOTOMETRIC, .expected = 3, .found = 1));
        const tz_info *info = tz_file_get_info(file);
        assert_int_equal(info->level_count, 2);
        assert_true(tz_file_get_level(file, 0)->has_mask);
        assert_int_equal(info->color_map[0], 1);
        check_done(file, b);
    }
}

static void t18_only_the_first_of_many_bands_is_a_palette(void **state)
{
    (void)state;
    static const uint16_t photometrics[] = {1, 3};
    FORMATS(f)
    {
        for (size_t i = 0; i < 2; i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.bits = 1, .samples = 3, .photometric = photometrics[i]});
            TB_SHORTS(b, 0, TZ_TAG_EXTRA_SAMPLES, 0, 2);
            TB_SHORTS(b, 0, TZ_TAG_COLOR_MAP, 1, 2, 3, 4, 5, 6);
            tb_finish(b);
            tz_file *file = check_opens_somehow(b, NULL);
            static const tz_color colors[] = {TZ_COLOR_PALETTE, TZ_COLOR_UNDEFINED, TZ_COLOR_ALPHA};
            for (uint32_t k = 0; k < 3; k++)
                assert_int_equal(tz_file_get_band(file, k)->color, colors[k]);
            check_done(file, b);
        }
    }
}

static void t19_min_is_white_is_reported(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        TB_SHORTS(b, 0, TZ_TAG_PHOTOMETRIC, 0);
        tz_file *file;
        assert_int_equal(check_info(b, &file)->photometric, 0);
        check_done(file, b);
    }
}

static void t20_a_mask_by_photometric_or_by_subfile_type(void **state)
{
    (void)state;
    FORMATS(f)
    {
        static const tb_spec masks[] = {{.bits = 1, .subfile = 4, .photometric = 4},
                                        {.bits = 1, .subfile = 4, .photometric = 1}};
        for (size_t i = 0; i < COUNT(masks); i++) {
            tb *b = tb_new(f);
            tb_gray(b, 64, 64);
            int mask = tb_image(b, &masks[i]);
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_int_equal(info->page_count, 1);
            assert_true(tz_file_get_level(file, 0)->has_mask);
            assert_int_equal(tz_file_get_mask(file, 0)->ifd, mask);
            assert_int_equal(tz_file_get_mask(file, 0)->bits_per_sample, 1);
            assert_int_equal(tz_file_get_mask(file, 0)->samples, 1);
            check_done(file, b);
        }
    }
}

static void t21_subfile_types_new_and_old(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        int reduced = tb_gray(b, 32, 32);
        int page = tb_gray(b, 40, 40);
        TB_LONGS(b, 0, TZ_TAG_NEW_SUBFILE_TYPE, 0);
        TB_SHORTS(b, reduced, TZ_TAG_SUBFILE_TYPE, 2);
        TB_LONGS(b, page, TZ_TAG_NEW_SUBFILE_TYPE, 2);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        assert_int_equal(info->level_count, 2);
        assert_int_equal(tz_file_get_level(file, 1)->ifd, reduced);
        assert_int_equal(info->page_count, 2);
        assert_int_equal(tz_file_get_page(file, 1)->ifd, page);
        check_done(file, b);
    }
}

static void t22_sub_directories_of_every_type(void **state)
{
    (void)state;
    static const uint16_t types[] = {TZ_TYPE_LONG, TZ_TYPE_IFD, TZ_TYPE_LONG8, TZ_TYPE_IFD8,
                                     TZ_TYPE_SHORT};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(types); i++) {
            tb *b = tb_new(f);
            int image = tb_gray(b, 64, 64);
            int subs[] = {tb_overview(b, image, 32, 32), tb_overview(b, image, 16, 16),
                          tb_overview(b, image, 8, 8)};
            tb_link(b, image, TZ_TAG_SUB_IFDS, types[i], subs, 2);
            b->ifds[subs[2]].chained = false; /* the first SubIFD is a chain of two */
            b->ifds[subs[2]].next = -1;
            b->ifds[subs[0]].next = subs[2];
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_int_equal(info->level_count, 4);
            assert_int_equal(info->ifd_count, 4);
            assert_int_equal(info->page_count, 1);
            for (uint32_t k = 0; k < 4; k++)
                assert_int_equal(tz_file_get_level(file, k)->width, 64u >> k);
            check_done(file, b);
        }
    }
}

static void t23_orientation(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (uint16_t orientation = 1; orientation <= 8; orientation++) {
            tb *b = tb_new(f);
            tb_gray(b, 64, 32);
            TB_SHORTS(b, 0, TZ_TAG_ORIENTATION, orientation);
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_int_equal(info->orientation, orientation);
            assert_int_equal(info->width, 64); /* as stored */
            check_done(file, b);
        }
    }
}

static void t24_sample_formats(void **state)
{
    (void)state;
    static const struct {
        uint16_t format, bits;
        tz_dtype dtype;
        const char *name;
        size_t size;
    } types[] = {
        {1, 8, TZ_DTYPE_UINT8, "uint8", 1},
        {1, 16, TZ_DTYPE_UINT16, "uint16", 2},
        {1, 32, TZ_DTYPE_UINT32, "uint32", 4},
        {1, 64, TZ_DTYPE_UINT64, "uint64", 8},
        {2, 8, TZ_DTYPE_INT8, "int8", 1},
        {2, 16, TZ_DTYPE_INT16, "int16", 2},
        {2, 32, TZ_DTYPE_INT32, "int32", 4},
        {2, 64, TZ_DTYPE_INT64, "int64", 8},
        {3, 16, TZ_DTYPE_FLOAT16, "float16", 2},
        {3, 24, TZ_DTYPE_FLOAT32, "float32", 4},
        {3, 32, TZ_DTYPE_FLOAT32, "float32", 4},
        {3, 64, TZ_DTYPE_FLOAT64, "float64", 8},
        {4, 8, TZ_DTYPE_UINT8, "uint8", 1},
        {4, 32, TZ_DTYPE_UINT32, "uint32", 4},
        {5, 32, TZ_DTYPE_COMPLEX_INT16, "complex_int16", 4},
        {5, 64, TZ_DTYPE_COMPLEX_INT32, "complex_int32", 8},
        {6, 32, TZ_DTYPE_COMPLEX_FLOAT16, "complex_float16", 4},
        {6, 64, TZ_DTYPE_COMPLEX_FLOAT32, "complex_float32", 8},
        {6, 128, TZ_DTYPE_COMPLEX_FLOAT64, "complex_float64", 16},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(types); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.sample_format = types[i].format, .bits = types[i].bits});
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_int_equal(info->dtype, types[i].dtype);
            assert_int_equal(info->sample_format, types[i].format);
            assert_string_equal(tz_dtype_name(info->dtype), types[i].name);
            assert_int_equal(tz_dtype_size(info->dtype), types[i].size);
            check_done(file, b);
        }
    }
}

static void t25_unknown_kinds_leave_the_rest_readable(void **state)
{
    (void)state;
    static const struct {
        uint16_t tag, value;
        bool readable;
        const char *text;
    } kinds[] = {
        {TZ_TAG_COMPRESSION, 65000, false, "65000"}, {TZ_TAG_COMPRESSION, 0, false, "0"},
        {TZ_TAG_COMPRESSION, 9, false, "T85"},       {TZ_TAG_COMPRESSION, 34661, false, "JBIG"},
        {TZ_TAG_PREDICTOR, 0, false, "0"},           {TZ_TAG_PREDICTOR, 4, false, "4"},
        {TZ_TAG_PREDICTOR, 65535, false, "65535"},   {TZ_TAG_PHOTOMETRIC, 999, true, "999"},
        {TZ_TAG_PHOTOMETRIC, 65535, true, "65535"},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(kinds); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.compression = 8});
            tb_georeference(b, 0, 32633);
            tb_set_text(b, 0, TZ_TAG_GDAL_NODATA, "5");
            TB_SHORTS(b, 0, kinds[i].tag, kinds[i].value);
            tb_finish(b);
            tz_file *file = check_warns(b, NULL,
                                        DEFECT(UNSUPPORTED, UNSUPPORTED, .tag = kinds[i].tag,
                                               .offset = tb_ifd_at(b, 0), .found = kinds[i].value,
                                               .text = kinds[i].text));
            const tz_info *info = tz_file_get_info(file);
            assert_int_equal(tz_file_get_level(file, 0)->readable, kinds[i].readable);
            assert_int_equal(info->width, 64);
            assert_int_equal(info->geo->epsg, 32633);
            assert_int_equal(info->nodata.value.u, 5);
            check_done(file, b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(t01_byte_order_and_version),
        CASE(t02_first_directory_anywhere),
        CASE(t03_the_chain_ends_with_zero),
        CASE(t03_the_chain_goes_backwards),
        CASE(t04_tags_are_found_in_order),
        CASE(t05_all_field_types),
        CASE(t05_tag_functions_refuse_what_is_not_there),
        CASE(t06_inline_values_are_left_justified),
        CASE(t07_text_with_and_without_nuls),
        CASE(t08_any_unsigned_type_for_sizes),
        CASE(t09_defaults),
        CASE(t10_the_baseline_classes_without_resolution),
        CASE(t11_strip_counts),
        CASE(t12_tile_counts),
        CASE(t13_one_row_tiles_are_read),
        CASE(t14_strips_or_tiles),
        CASE(t15_fill_order),
        CASE(t16_depths_of_many_samples),
        CASE(t17_extra_samples),
        CASE(t18_palette),
        CASE(t18_a_colour_map_makes_a_palette_of_grey),
        CASE(t18_a_colour_map_with_grey_levels_and_a_mask),
        CASE(t18_only_the_first_of_many_bands_is_a_palette),
        CASE(t19_min_is_white_is_reported),
        CASE(t20_a_mask_by_photometric_or_by_subfile_type),
        CASE(t21_subfile_types_new_and_old),
        CASE(t22_sub_directories_of_every_type),
        CASE(t23_orientation),
        CASE(t24_sample_formats),
        CASE(t25_unknown_kinds_leave_the_rest_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
