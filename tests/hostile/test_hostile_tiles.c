/* SPDX-License-Identifier: Apache-2.0
 * Hostile files, cases 33 to 37, 58 and 59: tile tables, single tiles, subsampling, palettes. */
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

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

/* ---- 33: tables and the grid ---- */

static void case_33_fewer_values_than_tiles(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_TILE_OFFSETS, TZ_TAG_TILE_BYTE_COUNTS};
    FORMATS(f)
    {
        for (size_t i = 0; i < 2; i++) {
            for (uint64_t count = 1; count < 16; count += 7) {
                tb *b = tiled(f);
                tb_find(b, 0, tags[i])->count = count;
                const check_defect *defect =
                    DEFECT(FORMAT, LAYOUT, .tag = tags[i], .offset = FRONT(f), .expected = 16,
                           .found = count);
                if (i == 0)
                    check_pixels_lost(b, defect);
                else
                    check_pixels_kept(b, defect); /* the layout gives the other sizes */
            }
        }
    }
}

static void case_33_more_values_than_tiles(void **state)
{
    (void)state;
    static const uint16_t tags[] = {TZ_TAG_TILE_OFFSETS, TZ_TAG_TILE_BYTE_COUNTS};
    FORMATS(f)
    {
        for (size_t i = 0; i < 2; i++) {
            tb *b = tiled(f);
            tb_find(b, 0, tags[i])->count = 17;
            check_pixels_kept(b, DEFECT(FORMAT, LAYOUT, .tag = tags[i], .offset = FRONT(f),
                                        .expected = 16, .found = 17));
        }
    }
}

static void case_33_offsets_missing(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tiled(f);
        tb_remove(b, 0, TZ_TAG_TILE_OFFSETS);
        check_pixels_lost(b,
                          DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_OFFSETS, .offset = FRONT(f)));
        b = gray(f);
        tb_remove(b, 0, TZ_TAG_STRIP_OFFSETS);
        check_pixels_lost(b,
                          DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_OFFSETS, .offset = FRONT(f)));
    }
}

static void case_33_sizes_missing_of_compressed_tiles(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_image(b, &(tb_spec){.tile_width = 16, .tile_height = 16, .compression = 8});
        b->ifds[image].tile_sizes[3] = b->ifds[image].tile_sizes[4] = 0; /* sparse: no offset */
        b->ifds[image].tile_sizes[7] = 99;
        tb_remove(b, image, TZ_TAG_TILE_BYTE_COUNTS);
        tb_finish(b);
        tb_patch_item(b, 0, TZ_TAG_TILE_OFFSETS, 11, tb_tile_at(b, 0, 10)); /* not ascending */
        tz_file *file =
            check_warns(b, NULL, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_BYTE_COUNTS));
        assert_true(tz_file_get_level(file, 0)->readable);
        for (uint64_t i = 0; i < 16; i++) {
            if (i == 10)
                check_locate_fails(
                    file, 0, i,
                    DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_BYTE_COUNTS, .level = 0, .tile = 10));
            else if (i == 3 || i == 4)
                check_locates(file, 0, i, 0, 0);
            else if (i == 11)
                check_locates(file, 0, i, tb_tile_at(b, 0, 10), 32);
            else
                check_locates(file, 0, i, tb_tile_at(b, 0, i), i == 7 ? 99 : 16);
        }
        check_close(file);
        tb_free(b);
    }
}

/* The table is read in parts: the sizes are the same whichever part is asked for. */
static void case_33_sizes_missing_of_many_strips(void **state)
{
    (void)state;
    enum { STRIPS = 1000 };
    static tz_tile_span spans[STRIPS];
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image =
            tb_image(b, &(tb_spec){.height = STRIPS, .rows_per_strip = 1, .compression = 5});
        for (uint64_t i = 0; i < STRIPS; i++) /* and gaps of 79 sparse ones */
            b->ifds[image].tile_sizes[i] = i % 100 < 80 && i % 100 > 0 ? 0 : 1 + i % 7;
        tb_find(b, image, TZ_TAG_STRIP_BYTE_COUNTS)->count = 10;
        tb_finish(b);
        tz_file *file = check_warns(b, NULL,
                                    DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_BYTE_COUNTS,
                                           .expected = STRIPS, .found = 10));
        assert_int_equal(tz_file_get_tile_spans(spans, file, 0, false, 0, STRIPS, NULL), TZ_OK);
        for (uint64_t i = 0; i < STRIPS; i++) {
            assert_int_equal(spans[i].offset, tb_tile_at(b, 0, i));
            if (i < STRIPS - 1 || spans[i].offset == 0)
                assert_int_equal(spans[i].size, tb_tile_size(b, 0, i));
            tz_tile_span one;
            assert_int_equal(tz_file_get_tile_spans(&one, file, 0, false, i, 1, NULL), TZ_OK);
            /* a strip before a long gap may seem to reach to the end of the file */
            assert_true(one.size == spans[i].size || (i % 100 == 0 && one.size > spans[i].size));
            assert_true(one.offset == 0 || one.offset + one.size <= b->size);
        }
        check_close(file);
        tb_free(b);
    }
}

static void case_33_sizes_missing_of_plain_tiles(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.tile_width = 16, .tile_height = 16, .tile_bytes = 256});
        tb_remove(b, 0, TZ_TAG_TILE_BYTE_COUNTS);
        check_pixels_kept(
            b, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_BYTE_COUNTS, .offset = FRONT(f)));
    }
}

static void case_33_sizes_missing_of_plain_strips(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
        b = tb_new(f); /* the same by band */
        tb_image(
            b,
            &(tb_spec){
                .height = 40, .rows_per_strip = 16, .samples = 3, .planar = 2, .tile_bytes = 1024});
        tb_remove(b, 0, TZ_TAG_STRIP_BYTE_COUNTS);
        tb_finish(b);
        file = check_warns(b, NULL, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_STRIP_BYTE_COUNTS));
        for (uint64_t i = 0; i < 9; i++)
            check_locates(file, 0, i, tb_tile_at(b, 0, i), i % 3 == 2 ? 512 : 1024);
        check_close(file);
        tb_free(b);
    }
}

static void case_33_sizes_missing_and_a_tile_too(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image =
            tb_image(b, &(tb_spec){.tile_width = 32, .tile_height = 32, .tile_bytes = 1024});
        b->ifds[image].tile_sizes[1] = 0; /* sparse: no offset */
        tb_remove(b, image, TZ_TAG_TILE_BYTE_COUNTS);
        tb_finish(b);
        tz_file *file =
            check_warns(b, NULL, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_BYTE_COUNTS));
        check_locates(file, 0, 0, tb_tile_at(b, image, 0), 1024);
        check_locates(file, 0, 1, 0, 0);
        check_close(file);
        tb_free(b);
    }
}

static void case_33_size_missing_of_a_single_tile(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
    FORMATS(f)
    {
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

/* Strips whose sizes are 0: by the next offset, or the end of the file. */
static void case_34_strips_of_no_size(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (int plain = 0; plain < 2; plain++) {
            tb *b = tb_new(f); /* strips of 16, 16, 16, 16 and 6 rows */
            tb_image(b, &(tb_spec){.height = 70,
                                   .rows_per_strip = 16,
                                   .compression = plain ? 1 : 8,
                                   .tile_bytes = 1024});
            tb_finish(b);
            for (uint64_t i = 0; i < 5; i++)
                tb_patch_item(b, 0, TZ_TAG_STRIP_BYTE_COUNTS, i, 0);
            const uint64_t last = tb_tile_at(b, 0, 4);
            tb_patch_item(b, 0, TZ_TAG_STRIP_OFFSETS, 2, 0); /* sparse */
            tz_file *file = check_opens(b, NULL);
            check_locates(file, 0, 0, tb_tile_at(b, 0, 0), 1024);
            check_locates(file, 0, 1, tb_tile_at(b, 0, 1), plain ? 1024 : 2048);
            check_locates(file, 0, 2, 0, 0);
            check_locates(file, 0, 4, last, plain ? 384 : b->size - last);
            check_close(file);
            const uint64_t bad[] = {b->size, b->size + 1, b->size - 1,
                                    f & TB_BIGTIFF ? UINT64_MAX : UINT32_MAX};
            for (size_t i = 0; i < COUNT(bad); i++) {
                tb_patch_item(b, 0, TZ_TAG_STRIP_OFFSETS, 4, bad[i]);
                file = check_opens(b, NULL);
                if (bad[i] < b->size && !plain)
                    check_locates(file, 0, 4, bad[i], 1);
                else
                    check_locate_fails(
                        file, 0, 4, DEFECT(FORMAT, LAYOUT, .tag = ANY_INT, .level = 0, .tile = 4));
                check_close(file);
            }
            tb_free(b);
        }
    }
}

/* The bytes after a strip do not limit its size. */
static void case_34_a_size_by_the_layout_has_a_bound(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.compression = 8, .tile_bytes = 100});
        tb_finish(b);
        tb_patch_item(b, 0, TZ_TAG_STRIP_BYTE_COUNTS, 0, 0);
        const uint64_t at = tb_tile_at(b, 0, 0);
        tb_extend(b, at + (4 << 20));
        tz_file *file = check_opens(b, NULL);
        check_locates(file, 0, 0, at, 8 * 64 * 64 + (1 << 20));
        check_close(file);
        tb_free(b);
    }
}

static void case_35_a_plain_strip_past_the_end(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.height = 70, .rows_per_strip = 16, .tile_bytes = 1024});
        tb_finish(b);
        for (uint64_t i = 0; i < 5; i++)
            tb_patch_item(b, 0, TZ_TAG_STRIP_BYTE_COUNTS, i, UINT32_MAX - i);
        tz_file *file = check_opens(b, NULL);
        for (uint64_t i = 0; i < 5; i++)
            check_locates(file, 0, i, tb_tile_at(b, 0, i), i == 4 ? 384 : 1024);
        check_close(file);
        tb_truncate(b, tb_tile_at(b, 0, 4) + 383);
        file = check_opens(b, NULL);
        check_locate_fails(file, 0, 4,
                           DEFECT(FORMAT, TRUNCATED, .tag = ANY_INT, .level = 0, .tile = 4));
        check_close(file);
        tb_free(b);
    }
}

static void case_35_tile_past_the_end(void **state)
{
    (void)state;
    FORMATS(f)
    {
        uint64_t top = f & TB_BIGTIFF ? UINT64_MAX : UINT32_MAX;
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.tile_width = 16,
                               .tile_height = 16,
                               .size_type = f & TB_BIGTIFF ? TZ_TYPE_LONG8 : TZ_TYPE_LONG});
        tb_finish(b);
        const struct {
            uint64_t offset, size;
        } bad[] = {{b->size - 16, 17}, {b->size, 1}, {b->size + 1, 1}, {8, b->size},
                   {top - 5, 100},     {100, top},   {top, top},       {top, 1}};
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
    FORMATS(f)
    {
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

static void case_36_all_tiles_at_one_offset(void **state)
{
    (void)state;
    FORMATS(f)
    {
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
        assert_int_equal(tz_level_stored_size(&bytes, &sparse, file, 0, false, NULL, NULL), TZ_OK);
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
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(types); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.tile_width = 32,
                                   .tile_height = 32,
                                   .offset_type = types[i],
                                   .size_type = types[i]});
            tb_finish(b);
            tb_patch_tile(b, 0, 1, (uint64_t)-3, 16);
            tb_patch_tile(b, 0, 2, 100, (uint64_t)-3);
            tz_file *file = check_opens_somehow(b, NULL);
            assert_true(tz_file_get_level(file, 0)->readable);
            check_locate_fails(
                file, 0, 1, DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_OFFSETS, .level = 0, .tile = 1));
            check_locate_fails(
                file, 0, 2,
                DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_BYTE_COUNTS, .level = 0, .tile = 2));
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_37_tables_of_bytes(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f); /* tiles at the very front, so that their offsets fit */
        b->data_first = true;
        tb_image(b, &(tb_spec){.tile_width = 32,
                               .tile_height = 32,
                               .offset_type = TZ_TYPE_BYTE,
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
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(types); i++) {
            tb *b = tb_new(f);
            tb_image(b, &(tb_spec){.tile_width = 32, .tile_height = 32, .offset_type = types[i]});
            tb_finish(b);
            check_pixels_lost(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_TILE_OFFSETS,
                                        .offset = tb_entry_at(b, 0, TZ_TAG_TILE_OFFSETS),
                                        .found = types[i]));
        }
    }
}

/* ---- 58: subsampling ---- */

static tb *ycbcr(unsigned format, uint32_t width, uint32_t height, uint64_t across, uint64_t down)
{
    tb *b = tb_new(format);
    tb_image(
        b, &(tb_spec){
               .width = width, .height = height, .samples = 3, .photometric = 6, .compression = 7});
    TB_SHORTS(b, 0, TZ_TAG_YCBCR_SUBSAMPLING, across, down);
    return b;
}

static void case_58_subsampling_of_impossible_factors(void **state)
{
    (void)state;
    static const uint16_t factors[][2] = {{0, 0}, {0, 1}, {1, 0},    {3, 1},
                                          {1, 3}, {8, 8}, {65535, 2}};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(factors); i++) {
            uint16_t across = factors[i][0], down = factors[i][1];
            bool first = across != 1 && across != 2 && across != 4;
            tb *b = ycbcr(f, 64, 64, across, down);
            tb_finish(b);
            check_pixels_lost(b, DEFECT(FORMAT, TAG, .tag = TZ_TAG_YCBCR_SUBSAMPLING,
                                        .offset = tb_data_at(b, 0, TZ_TAG_YCBCR_SUBSAMPLING),
                                        .found = first ? across : down));
        }
    }
}

static void case_58_subsampling_larger_than_the_image(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (uint32_t side = 1; side < 20; side += 6) {
            tb *b = ycbcr(f, side, side, 4, 4);
            tb_finish(b);
            tz_file *file = check_opens(b, NULL);
            assert_int_equal(tz_file_get_info(file)->ycbcr_subsampling[0], 4);
            assert_int_equal(tz_file_get_info(file)->ycbcr_subsampling[1], 4);
            check_close(file);
            tb_free(b);
        }
    }
}

static void case_58_subsampling_of_one_or_three_values(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (uint64_t count = 0; count < 4; count++) {
            tb *b = ycbcr(f, 64, 64, 1, 1);
            tb_finish(b);
            tb_patch_count(b, 0, TZ_TAG_YCBCR_SUBSAMPLING, count);
            if (count == 2)
                check_done_opens(b, NULL);
            else
                check_done_warns(b, NULL,
                                 DEFECT(FORMAT, TAG, .tag = TZ_TAG_YCBCR_SUBSAMPLING, .expected = 2,
                                        .found = count));
        }
    }
}

/* ---- 59: palettes ---- */

static tb *color_mapped(unsigned format, uint16_t photometric, uint16_t bits, uint64_t map_count)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){.bits = bits});
    TB_SHORTS(b, 0, TZ_TAG_PHOTOMETRIC, photometric);
    uint64_t *map = calloc((size_t)map_count, sizeof *map);
    for (uint64_t i = 0; i < map_count; i++)
        map[i] = i & 0xffff;
    tb_set(b, 0, TZ_TAG_COLOR_MAP, TZ_TYPE_SHORT, map, (size_t)map_count);
    free(map);
    return b;
}

static tb *palette(unsigned format, uint16_t bits, uint64_t map_count)
{
    return color_mapped(format, 3, bits, map_count);
}

static void case_59_color_map_of_a_wrong_length(void **state)
{
    (void)state;
    static const struct {
        uint16_t bits;
        uint64_t count, wanted;
    } maps[] = {{8, 3, 768}, {8, 767, 768}, {8, 769, 768}, {16, 3 * 65536 - 1, 3 * 65536},
                {1, 3, 6},   {4, 49, 48}};
    static const uint16_t photometrics[] = {0, 1, 3};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(maps); i++) {
            for (size_t k = 0; k < COUNT(photometrics); k++) {
                tb *b = color_mapped(f, photometrics[k], maps[i].bits, maps[i].count);
                tb_finish(b);
                tz_file *file =
                    check_warns(b, NULL,
                                DEFECT(FORMAT, TAG, .tag = TZ_TAG_COLOR_MAP,
                                       .expected = maps[i].wanted, .found = maps[i].count));
                const tz_info *info = tz_file_get_info(file);
                assert_int_equal(info->photometric, photometrics[k]);
                assert_null(info->color_map);
                assert_int_equal(info->color_map_size, 0);
                check_close(file);
                tb_free(b);
            }
        }
    }
}

/* The data of the map past the end of the file: a defect of the tag, and the image stays grey. */
static void case_59_color_map_past_the_end_of_a_grey_image(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        tb_set_raw(b, 0, TZ_TAG_COLOR_MAP, TZ_TYPE_SHORT, 768, 1 << 24);
        tb_finish(b);
        tz_file *file = check_warns(b, NULL, DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_COLOR_MAP));
        assert_int_equal(tz_file_get_info(file)->photometric, 1);
        assert_null(tz_file_get_info(file)->color_map);
        check_close(file);
        tb_free(b);
    }
}

/* Numbers of colours are whole ones; negative ones have no colour. */
static void case_59_color_map_of_signed_samples_and_floats(void **state)
{
    (void)state;
    static const struct {
        uint16_t photometric, bits, sample_format;
        bool kept;
    } images[] = {{3, 8, 2, true}, {1, 8, 2, true}, {3, 16, 3, false}, {1, 16, 3, false}};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(images); i++) {
            uint64_t entries = 1ull << images[i].bits;
            tb *b = color_mapped(f, images[i].photometric, images[i].bits, 3 * entries);
            TB_SHORTS(b, 0, TZ_TAG_SAMPLE_FORMAT, images[i].sample_format);
            tb_finish(b);
            tz_file *file = check_opens_somehow(b, NULL);
            const tz_info *info = tz_file_get_info(file);
            assert_int_equal(info->color_map_size, images[i].kept ? entries : 0);
            assert_int_equal(info->photometric, images[i].kept ? 3 : images[i].photometric);
            check_close(file);
            tb_free(b);
        }
    }
}

/* Grey is a mistake of the writer's; red, green and blue are not. */
static void case_59_color_map_of_another_interpretation(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 3, .photometric = 2});
        static uint64_t map[768];
        tb_set(b, 0, TZ_TAG_COLOR_MAP, TZ_TYPE_SHORT, map, 768);
        tb_finish(b);
        tz_file *file = check_warns(
            b, NULL, DEFECT(FORMAT, TAG, .tag = TZ_TAG_PHOTOMETRIC, .expected = 3, .found = 2));
        assert_int_equal(tz_file_get_info(file)->photometric, 2);
        assert_null(tz_file_get_info(file)->color_map);
        check_close(file);
        tb_free(b);
    }
}

static void case_59_color_map_of_the_right_length(void **state)
{
    (void)state;
    static const uint16_t depths[] = {1, 2, 4, 8, 16};
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(depths); i++) {
            uint64_t entries = 1ull << depths[i];
            tb *b = palette(f, depths[i], 3 * entries);
            tb_finish(b);
            tz_file *file = check_opens(b, NULL);
            const tz_info *info = tz_file_get_info(file);
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
    FORMATS(f)
    {
        tb *b = palette(f, 32, 768);
        tb_finish(b);
        check_done_warns(b, NULL, DEFECT(FORMAT, TAG, .tag = TZ_TAG_COLOR_MAP, .found = 768));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(case_33_fewer_values_than_tiles),
        CASE(case_33_more_values_than_tiles),
        CASE(case_33_offsets_missing),
        CASE(case_33_sizes_missing_of_compressed_tiles),
        CASE(case_33_sizes_missing_of_many_strips),
        CASE(case_33_sizes_missing_of_plain_tiles),
        CASE(case_33_sizes_missing_of_plain_strips),
        CASE(case_33_sizes_missing_and_a_tile_too),
        CASE(case_33_size_missing_of_a_single_tile),
        CASE(case_34_size_without_offset_or_offset_without_size),
        CASE(case_34_strips_of_no_size),
        CASE(case_34_a_size_by_the_layout_has_a_bound),
        CASE(case_35_a_plain_strip_past_the_end),
        CASE(case_35_tile_past_the_end),
        CASE(case_36_tiles_over_header_and_directory),
        CASE(case_36_all_tiles_at_one_offset),
        CASE(case_37_negative_offsets_and_sizes),
        CASE(case_37_tables_of_bytes),
        CASE(case_37_tables_of_types_that_count_nothing),
        CASE(case_58_subsampling_of_impossible_factors),
        CASE(case_58_subsampling_larger_than_the_image),
        CASE(case_58_subsampling_of_one_or_three_values),
        CASE(case_59_color_map_of_a_wrong_length),
        CASE(case_59_color_map_of_the_right_length),
        CASE(case_59_palette_deeper_than_any_map),
        CASE(case_59_color_map_past_the_end_of_a_grey_image),
        CASE(case_59_color_map_of_signed_samples_and_floats),
        CASE(case_59_color_map_of_another_interpretation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
