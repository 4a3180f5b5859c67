/* SPDX-License-Identifier: Apache-2.0
 * Reading directories as BigTIFF has them: B01 to B10. What the list says of defects (B01, B07,
 * B08) is tested in test_hostile_*.c; B09, the samples of others, is part of the corpus. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint16_t unsigned_types[] = {TZ_TYPE_BYTE,  TZ_TYPE_SHORT, TZ_TYPE_LONG,
                                          TZ_TYPE_LONG8, TZ_TYPE_IFD,   TZ_TYPE_IFD8};

static void b01_offset_size_8_and_a_reserved_0(void **state)
{
    (void)state;
    BIG_FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        tz_file *file;
        assert_true(check_info(b, &file)->bigtiff);
        assert_int_equal(tb_get(b, 2, 2), 43);
        assert_int_equal(tb_get(b, 4, 2), 8);
        assert_int_equal(tb_get(b, 6, 2), 0);
        check_done(file, b);
    }
}

static void b02_directory_beyond_4_gib(void **state)
{
    (void)state;
    BIG_FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        tb_gray(b, 32, 32);
        tb_finish(b);
        uint64_t base = 5ull << 30; /* a hole of 5 GiB, then the same bytes again */
        char path[CHECK_PATH_SIZE];
        check_path(path, "large.tif");
        tb_patch_first(b, base + tb_ifd_at(b, 0));
        tb_patch_next(b, 0, base + tb_ifd_at(b, 1));
        tb_write_file(b, path);
        int fd = open(path, O_WRONLY);
        assert_int_equal(pwrite(fd, b->data, b->size, (off_t)base), b->size);
        close(fd);
        tz_file *file = NULL;
        assert_int_equal(tz_open(&file, path, NULL, NULL), TZ_OK);
        const tz_info *info = tz_file_get_info(file);
        assert_int_equal(info->width, 64);
        assert_int_equal(info->page_count, 2);
        assert_true(tz_file_get_level(file, 0)->ifd_offset == base + tb_ifd_at(b, 0));
        assert_true(info->file_size == base + b->size);
        assert_int_equal(info->warning_count, 0);
        tz_close(file);
        check_remove(path);
        tb_free(b);
    }
}

static void b03_eight_bytes_are_inline(void **state)
{
    (void)state;
    BIG_FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 4, .photometric = 5});
        tz_file *file;
        check_info(b, &file);
        assert_int_equal(check_find_tag(file, TZ_TAG_BITS_PER_SAMPLE).offset,
                         tb_value_at(b, 0, TZ_TAG_BITS_PER_SAMPLE));
        check_done(file, b);
    }
}

static void b04_long8_slong8_ifd8(void **state)
{
    (void)state;
    BIG_FORMATS(f)
    {
        static const uint64_t value = 0x123456789abcdef0;
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        TB_SET(b, 0, 65000, TZ_TYPE_LONG8, value);
        TB_SET(b, 0, 65001, TZ_TYPE_SLONG8, (uint64_t)-5);
        TB_SET(b, 0, 65002, TZ_TYPE_IFD8, value);
        tz_file *file;
        check_info(b, &file);
        uint64_t u;
        int64_t i;
        tz_tag tag = check_find_tag(file, 65000);
        assert_int_equal(tz_tag_read(&u, sizeof u, file, &tag, NULL), TZ_OK);
        assert_true(u == value);
        tag = check_find_tag(file, 65001);
        assert_int_equal(tz_tag_read(&i, sizeof i, file, &tag, NULL), TZ_OK);
        assert_true(i == -5);
        tag = check_find_tag(file, 65002);
        assert_int_equal(tz_tag_read(&u, sizeof u, file, &tag, NULL), TZ_OK);
        assert_true(u == value);
        check_done(file, b);
    }
}

/* Offsets and sizes of every unsigned type, in both forms and byte orders. */
static void b05_offset_types_matrix(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(unsigned_types) * COUNT(unsigned_types); i++) {
            tb *b = tb_new(f);
            b->data_first = true; /* so that offsets fit a byte */
            tb_image(b, &(tb_spec){.tile_width = 32,
                                   .tile_height = 32,
                                   .tile_bytes = 7,
                                   .offset_type = unsigned_types[i % COUNT(unsigned_types)],
                                   .size_type = unsigned_types[i / COUNT(unsigned_types)]});
            tz_file *file;
            check_info(b, &file);
            tz_tile_span spans[4];
            assert_int_equal(tz_file_get_tile_spans(spans, file, 0, false, 0, 4, NULL), TZ_OK);
            for (uint64_t k = 0; k < 4; k++) {
                assert_int_equal(spans[k].offset, tb_tile_at(b, 0, k));
                assert_int_equal(spans[k].size, 7);
                check_locates(file, 0, k, tb_tile_at(b, 0, k), 7);
            }
            check_done(file, b);
        }
    }
}

static void b06_values_and_directories_need_no_alignment(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (uint64_t odd = 0; odd < 8; odd++) {
            tb *b = tb_new(f);
            tb_tiled(b, 64, 64, 16);
            tb_georeference(b, 0, 32633);
            tb_find(b, 0, TZ_TAG_TIEPOINTS)->at = 5000 + odd;
            tb_find(b, 0, TZ_TAG_GEO_KEYS)->at = 6000 + odd;
            tb_find(b, 0, TZ_TAG_TILE_OFFSETS)->at = 7000 + odd;
            b->ifds[0].gap = 2 * odd;
            tz_file *file;
            const tz_info *info = check_info(b, &file);
            assert_int_equal(info->geo->epsg, 32633);
            assert_true(info->geo->transform[0] == 500000);
            check_locates(file, 0, 15, tb_tile_at(b, 0, 15), 16);
            check_done(file, b);
        }
    }
}

/* The number of entries, counts and offsets are numbers of 64 bits: their upper halves count. */
static void b07_b08_numbers_have_64_bits(void **state)
{
    (void)state;
    BIG_FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_tiled(b, 64, 64, 16);
        tb_finish(b);
        uint64_t high = 1ull << 32;
        tb_patch_tile(b, 0, 0, tb_tile_at(b, 0, 0) + high, 16);
        tz_file *file = check_opens(b, NULL);
        check_locate_fails(file, 0, 0,
                           DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_TILE_OFFSETS, .tile = 0,
                                  .offset = tb_tile_at(b, 0, 0) + high));
        check_close(file);
        tb_patch_value(b, 0, TZ_TAG_TILE_OFFSETS, tb_data_at(b, 0, TZ_TAG_TILE_OFFSETS) + high);
        check_close(check_warns(b, NULL, DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_TILE_OFFSETS)));
        tb_patch_count(b, 0, TZ_TAG_IMAGE_WIDTH, high + 1);
        check_fails(
            b, NULL,
            DEFECT(FORMAT, TAG, .tag = TZ_TAG_IMAGE_WIDTH, .expected = 1, .found = high + 1));
        tb_patch_entry_count(b, 0, high + b->ifds[0].count);
        check_done_fails(
            b, NULL,
            DEFECT(LIMIT, LIMIT, .limit = "max_ifd_entries", .found = high + b->ifds[0].count));
    }
}

/* All four forms of one raster say the same. */
static void b10_the_same_raster_in_every_form(void **state)
{
    (void)state;
    tz_info first = {0};
    tz_geo geo = TZ_GEO_INIT;
    tz_level levels[2] = {{0}};
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_image(b, &(tb_spec){.width = 300,
                                           .height = 200,
                                           .tile_width = 64,
                                           .tile_height = 64,
                                           .bits = 16,
                                           .samples = 4,
                                           .compression = 8,
                                           .predictor = 2});
        tb_overview(b, image, 150, 100);
        tb_mask(b, image);
        tb_georeference(b, image, 32633);
        tb_set_text(b, image, TZ_TAG_GDAL_NODATA, "77");
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        if (f == 0) {
            first = *info;
            geo = *info->geo;
            for (uint32_t i = 0; i < 2; i++)
                levels[i] = *tz_file_get_level(file, i);
        }
        assert_int_equal(info->width, first.width);
        assert_int_equal(info->height, first.height);
        assert_int_equal(info->bands, first.bands);
        assert_int_equal(info->dtype, first.dtype);
        assert_int_equal(info->photometric, first.photometric);
        assert_int_equal(info->level_count, 2);
        assert_int_equal(info->nodata.value.u, 77);
        assert_memory_equal(info->geo->transform, geo.transform, sizeof geo.transform);
        assert_int_equal(info->geo->epsg, geo.epsg);
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(tz_file_get_level(file, i)->width, levels[i].width);
            assert_int_equal(tz_file_get_level(file, i)->tile_count, levels[i].tile_count);
            assert_int_equal(tz_file_get_level(file, i)->compression, 8);
            assert_int_equal(tz_file_get_level(file, i)->predictor, 2);
            assert_int_equal(tz_file_get_level(file, i)->has_mask, i == 0);
        }
        check_done(file, b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(b01_offset_size_8_and_a_reserved_0),
        CASE(b02_directory_beyond_4_gib),
        CASE(b03_eight_bytes_are_inline),
        CASE(b04_long8_slong8_ifd8),
        CASE(b05_offset_types_matrix),
        CASE(b06_values_and_directories_need_no_alignment),
        CASE(b07_b08_numbers_have_64_bits),
        CASE(b10_the_same_raster_in_every_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
