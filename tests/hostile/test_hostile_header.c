/* SPDX-License-Identifier: Apache-2.0
 * Hostile files, cases 1 to 11: header, the way to the directories, loops and endless chains. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/sized.h"

/* A file of one 64 x 64 image whose directory is the last thing in it. */
static tb *directory_last(unsigned format)
{
    tb *b = tb_new(format);
    b->data_first = true;
    tb_gray(b, 64, 64);
    tb_finish(b);
    return b;
}

static uint64_t entries_of(const tb *b, int ifd)
{
    return b->ifds[ifd].count;
}

/* The smallest complete image: everything else has a default. */
static int tiny_image(tb *b)
{
    int ifd = tb_ifd_new(b);
    TB_SHORTS(b, ifd, TZ_TAG_IMAGE_WIDTH, 8);
    TB_SHORTS(b, ifd, TZ_TAG_IMAGE_LENGTH, 1);
    TB_LONGS(b, ifd, TZ_TAG_STRIP_OFFSETS, 8);
    TB_LONGS(b, ifd, TZ_TAG_STRIP_BYTE_COUNTS, 1);
    return ifd;
}

/* ---- 1: short files ---- */

static void case_01_empty_file(void **state)
{
    (void)state;
    check_done_fails(tb_raw(0, "", 0), NULL,
                     DEFECT(FORMAT, TRUNCATED, .ifd = -1, .offset = 0, .expected = 8, .found = 0));
}

static void case_01_one_to_seven_bytes(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *whole = directory_last(f);
        for (size_t size = 1; size < 8; size++) {
            tb *b = tb_copy(whole);
            tb_truncate(b, size);
            uint64_t needed = size >= 4 && whole->bigtiff ? 16 : 8;
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TRUNCATED, .ifd = -1, .offset = 0, .expected = needed,
                                    .found = size, .text = "header needs"));
        }
        tb_free(whole);
    }
}

static void case_01_bigtiff_header_cut_off(void **state)
{
    (void)state;
    BIG_FORMATS(f)
    {
        for (size_t size = 8; size < 16; size++) {
            tb *b = directory_last(f);
            tb_truncate(b, size);
            check_done_fails(
                b, NULL,
                DEFECT(FORMAT, TRUNCATED, .ifd = -1, .offset = 0, .expected = 16, .found = size));
        }
    }
}

static void case_01_header_only(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = directory_last(f);
        uint64_t size = tb_header_size(b);
        tb_patch_first(b, size);
        tb_truncate(b, (size_t)size);
        check_done_fails(b, NULL, DEFECT(FORMAT, IFD, .offset = size, .found = size));
    }
}

/* ---- 2: BigTIFF header ---- */

static void case_02_bigtiff_offset_size(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 4, 7, 9, 16, 0x0800, 0xffff};
    BIG_FORMATS(f)
    {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            tb *b = directory_last(f);
            tb_patch(b, 4, 2, sizes[i]);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, HEADER, .ifd = -1, .offset = 4, .expected = 8,
                                    .found = sizes[i], .text = "offset size must be 8"));
        }
    }
}

static void case_02_bigtiff_reserved_word(void **state)
{
    (void)state;
    BIG_FORMATS(f)
    {
        for (uint64_t value = 1; value < 65536; value *= 4) {
            tb *b = directory_last(f);
            tb_patch(b, 6, 2, value);
            check_done_fails(
                b, NULL,
                DEFECT(FORMAT, HEADER, .ifd = -1, .offset = 6, .expected = 0, .found = value));
        }
    }
}

/* ---- 3: other things named .tif ---- */

static void case_03_not_a_tiff(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *shown;
    } files[] = {
        {"\x89PNG\r\n\x1a\n and more of a picture", "89 50 4e 47"},
        {"\x1f\x8b\x08\x00 and more of an archive", "1f 8b 08 00"},
        {"<!DOCTYPE html><title>404</title>", "3c 21 44 4f"},
        {"<html><body>not here</body></html>", "3c 68 74 6d"},
        {"ii*\0\x08\0\0\0 and more", "69 69 2a 00"},
        {"mm\0*\0\0\0\x08 and more", "6d 6d 00 2a"},
        {"IM*\0\x08\0\0\0 and more", "49 4d 2a 00"},
        {"MI\0*\0\0\0\x08 and more", "4d 49 00 2a"},
        {"II\0*\x08\0\0\0 and more", "49 49 00 2a"},
        {"MM*\0\0\0\0\x08 and more", "4d 4d 2a 00"},
        {"II\x29\0\x08\0\0\0 and more", "49 49 29 00"},
        {"II\x2c\0\x08\0\0\0 and more", "49 49 2c 00"},
        {"\0\0\0\0\0\0\0\0 and more", "00 00 00 00"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        check_done_fails(tb_raw(0, files[i].bytes, 16), NULL,
                         DEFECT(FORMAT, NOT_TIFF, .ifd = -1, .offset = 0, .text = files[i].shown));
}

static void case_03_random_bytes(void **state)
{
    (void)state;
    uint8_t bytes[512];
    uint32_t random = 12345;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = (uint8_t)(random >> 24);
        }
        bytes[0] |= 0x80; /* neither I nor M */
        check_done_fails(tb_raw(0, bytes, sizeof bytes), NULL,
                         DEFECT(FORMAT, NOT_TIFF, .ifd = -1, .offset = 0));
    }
}

/* ---- 4, 5: the first directory's offset ---- */

static void case_04_first_directory_beyond_the_end(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = directory_last(f);
        uint64_t size = b->size;
        const uint64_t offsets[] = {size, size - 1, size + 2, UINT32_MAX, 1ull << 63, UINT64_MAX};
        for (size_t i = 0; i < (b->bigtiff ? 6 : 4); i++) {
            tb_patch_first(b, offsets[i]);
            check_fails(
                b, NULL,
                DEFECT(FORMAT, IFD, .offset = offsets[i], .expected = size, .found = offsets[i]));
        }
        tb_free(b);
    }
}

static void case_04_first_directory_at_zero(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = directory_last(f);
        tb_patch_first(b, 0);
        check_done_fails(b, NULL,
                         DEFECT(FORMAT, IFD, .ifd = -1, .offset = b->bigtiff ? 8 : 4, .found = 0,
                                .text = "no image directory"));
    }
}

static void case_05_first_directory_in_the_header(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = directory_last(f);
        for (uint64_t offset = 1; offset < tb_header_size(b); offset++) {
            tb_patch_first(b, offset);
            check_fails(b, NULL, DEFECT(FORMAT, IFD, .offset = offset, .found = offset));
        }
        tb_free(b);
    }
}

static void case_05_first_directory_at_an_odd_offset(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 64, 64);
        b->ifds[image].gap = 1;
        tb_finish(b);
        uint64_t at = tb_ifd_at(b, image);
        assert_int_equal(at % 2, 1);
        tz_file *file = check_warns(b, NULL, DEFECT(FORMAT, IFD, .offset = at));
        assert_int_equal(tz_file_get_info(file)->width, 64);
        check_locates(file, 0, 0, tb_tile_at(b, image, 0), 16);
        check_close(file);
        tb_free(b);
    }
}

/* ---- 6, 7: the number of entries ---- */

static void case_06_no_entries(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = directory_last(f);
        tb_patch_entry_count(b, 0, 0);
        check_done_fails(b, NULL,
                         DEFECT(FORMAT, IFD, .offset = tb_ifd_at(b, 0), .expected = 1, .found = 0));
    }
}

static void case_06_more_entries_than_allowed(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = directory_last(f);
        const uint64_t counts[] = {4097, 65535, 65536, 1ull << 32, 1ull << 60, UINT64_MAX};
        for (size_t i = 0; i < (b->bigtiff ? 6 : 2); i++) {
            tb_patch_entry_count(b, 0, counts[i]);
            check_fails(b, NULL,
                        DEFECT(LIMIT, LIMIT, .limit = "max_ifd_entries", .offset = tb_ifd_at(b, 0),
                               .expected = 4096, .found = counts[i]));
        }
        tb_free(b);
    }
}

static void case_06_more_entries_than_bytes(void **state)
{
    (void)state;
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.limits = SIZED_LIMITS(.max_ifd_entries = TZ_UNLIMITED);
    FORMATS(f)
    {
        tb *b = directory_last(f);
        const uint64_t counts[] = {entries_of(b, 0) + 1, 4096,      65535, 1ull << 60,
                                   0xcccccccccccccccd,   UINT64_MAX};
        for (size_t i = 0; i < (b->bigtiff ? 6 : 3); i++) {
            tb_patch_entry_count(b, 0, counts[i]);
            check_fails(b, &options,
                        DEFECT(FORMAT, TRUNCATED, .offset = tb_ifd_at(b, 0), .expected = counts[i],
                               .found = entries_of(b, 0)));
        }
        tb_free(b);
    }
}

static void case_07_cut_off_within_the_entries(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *whole = directory_last(f);
        uint64_t first = tb_ifd_at(whole, 0) + (whole->bigtiff ? 8 : 2);
        uint64_t unit = whole->bigtiff ? 20 : 12;
        for (uint64_t size = first; size < tb_next_at(whole, 0); size++) {
            tb *b = tb_copy(whole);
            tb_truncate(b, (size_t)size);
            check_done_fails(b, NULL,
                             DEFECT(FORMAT, TRUNCATED, .offset = tb_ifd_at(whole, 0),
                                    .expected = entries_of(whole, 0),
                                    .found = (size - first) / unit));
        }
        tb_free(whole);
    }
}

static void case_07_next_offset_cut_off(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *whole = directory_last(f);
        uint64_t next = tb_next_at(whole, 0);
        for (uint64_t size = next; size < whole->size; size++) {
            tb *b = tb_copy(whole);
            tb_truncate(b, (size_t)size);
            tz_file *file =
                check_warns(b, NULL,
                            DEFECT(FORMAT, TRUNCATED, .offset = next,
                                   .expected = whole->bigtiff ? 8 : 4, .found = size - next));
            assert_false(tz_file_get_info(file)->chain_complete);
            assert_int_equal(tz_file_get_info(file)->page_count, 1);
            check_close(file);
            tb_free(b);
        }
        tb_free(whole);
    }
}

/* ---- 8: loops ---- */

/* The next pointer of the last of count directories leads back to target. */
static void check_loop(unsigned format, int count, int target)
{
    tb *b = tb_new(format);
    for (int i = 0; i < count; i++)
        tb_gray(b, 64, 64);
    tb_finish(b);
    tb_patch_next(b, count - 1, tb_ifd_at(b, target));
    tz_file *file = check_warns(
        b, NULL,
        DEFECT(FORMAT, IFD, .ifd = ANY_INT, .offset = tb_ifd_at(b, target), .text = "loop"));
    const tz_info *info = tz_file_get_info(file);
    assert_false(info->chain_complete);
    assert_int_equal(info->ifd_count, count);
    assert_int_equal(info->page_count, count);
    check_close(file);
    tb_free(b);
}

static void case_08_next_is_itself(void **state)
{
    (void)state;
    FORMATS(f)
    check_loop(f, 1, 0);
}

static void case_08_next_is_the_first(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_loop(f, 2, 0);
        check_loop(f, 7, 0);
    }
}

static void case_08_next_is_one_in_between(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_loop(f, 3, 1);
        check_loop(f, 50, 25);
        check_loop(f, 50, 49);
    }
}

static void case_08_next_within_a_directory(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = directory_last(f);
        uint64_t inside = tb_entry_at(b, 0, TZ_TAG_IMAGE_LENGTH);
        tb_patch_next(b, 0, inside);
        /* tag 257 and what follows it, read as the number of entries */
        tz_file *file = b->bigtiff
                            ? check_warns(b, NULL,
                                          DEFECT(LIMIT, LIMIT, .ifd = 1, .limit = "max_ifd_entries",
                                                 .offset = inside, .expected = 4096))
                            : check_warns(b, NULL,
                                          DEFECT(FORMAT, TRUNCATED, .ifd = 1, .offset = inside,
                                                 .expected = 257));
        assert_false(tz_file_get_info(file)->chain_complete);
        assert_int_equal(tz_file_get_info(file)->page_count, 1);
        check_close(file);
        tb_free(b);
    }
}

static void case_08_long_loop_is_linear(void **state)
{
    (void)state;
    check_cost cost[2];
    for (int i = 0; i < 2; i++) {
        tb *b = tb_new(TB_CLASSIC);
        int image = tiny_image(b);
        tb_finish(b);
        tb_repeat(b, image, i ? 2000 : 1000);
        tb_patch(b, b->size - 4, 4, tb_ifd_at(b, image));
        cost[i] = check_cost_of(b, NULL);
        tb_free(b);
    }
    assert_true(cost[1].ranges <= 2 * cost[0].ranges + 16);
    assert_true(cost[1].bytes_read <= 2 * cost[0].bytes_read + 65536);
}

/* ---- 9: endless chains ---- */

static void check_endless(unsigned format, uint64_t count)
{
    tb *b = tb_new(format);
    int image = tiny_image(b);
    tb_finish(b);
    tb_repeat(b, image, count - 1);
    check_fails(b, NULL,
                DEFECT(LIMIT, LIMIT, .ifd = ANY_INT, .limit = "max_ifds", .expected = 65536,
                       .found = 65537));
    tb_free(b);
}

static void case_09_two_million_directories(void **state)
{
    (void)state;
    check_endless(TB_CLASSIC, 2000000);
}

static void case_09_more_directories_than_allowed(void **state)
{
    (void)state;
    FORMATS(f)
    check_endless(f, 65537);
}

static void case_09_as_many_directories_as_allowed(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    int image = tiny_image(b);
    tb_finish(b);
    tb_repeat(b, image, 65535);
    tz_file *file = check_opens(b, NULL);
    assert_int_equal(tz_file_get_info(file)->ifd_count, 65536);
    assert_int_equal(tz_file_get_info(file)->page_count, 65536);
    check_close(file);
    tb_free(b);
}

/* Without a limit the cost is still bounded by directories and file. */
static void case_09_three_hundred_thousand_directories_without_a_limit(void **state)
{
    (void)state;
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.limits = SIZED_LIMITS(.max_ifds = TZ_UNLIMITED);
    tb *b = tb_new(TB_CLASSIC);
    int image = tiny_image(b);
    tb_finish(b);
    tb_repeat(b, image, 299999);
    tz_file *file = check_opens(b, &options);
    assert_int_equal(tz_file_get_info(file)->page_count, 300000);
    check_close(file);
    tb_free(b);
}

static void case_09_cost_is_linear_in_directories(void **state)
{
    (void)state;
    FORMATS(f)
    {
        check_cost cost[2];
        for (int i = 0; i < 2; i++) {
            tb *b = tb_new(f);
            int image = tb_gray(b, 64, 64);
            tb_finish(b);
            tb_repeat(b, image, i ? 1999 : 999);
            cost[i] = check_cost_of(b, NULL);
            tb_free(b);
        }
        assert_true(cost[1].ranges <= 2 * cost[0].ranges + 16);
        assert_true(cost[1].bytes_read <= 2 * cost[0].bytes_read + 65536);
        assert_true(cost[1].peak_bytes <= 2 * cost[0].peak_bytes + 65536);
    }
}

/* Directories of 4,096 entries, 12 bytes apart: each one's entries are the next one's as well, and
 * each one's next pointer stands in an entry of a later one. A file of 800 KB could ask for 268
 * million entries. */
static void case_09_directories_that_overlap(void **state)
{
    (void)state;
    enum { ENTRIES = 4096, COUNT = 3000 };
    tb *b = tb_new(TB_CLASSIC);
    int image = tiny_image(b);
    tb_finish(b);
    uint64_t first = b->size + b->size % 2;
    tb_extend(b, (size_t)(first + 12 * (ENTRIES + COUNT) + 16));
    for (uint64_t i = 0; i <= ENTRIES + COUNT; i++) {
        uint64_t at = first + 12 * i;
        uint64_t next = i >= ENTRIES && i + 1 < ENTRIES + COUNT ? at - 12 * (ENTRIES - 1) : 0;
        tb_patch(b, at, 2, ENTRIES);
        tb_patch(b, at + 2, 4, i < ENTRIES ? 65000 | 1u << 16 : next);
        tb_patch(b, at + 6, 4, 1);
    }
    tb_patch_next(b, image, first);
    b->ifds_in_file = 1 + COUNT;
    tz_file *file = check_warns_also(
        b, NULL, DEFECT(FORMAT, IFD, .ifd = ANY_INT, .expected = b->size / 12, .text = "overlap"));
    assert_int_equal(tz_file_get_info(file)->width, 8);
    assert_false(tz_file_get_info(file)->chain_complete);
    assert_true(tz_file_get_info(file)->bytes_read < 3 * b->size);
    check_close(file);
    tb_free(b);
}

/* ---- 10: SubIFDs ---- */

static void case_10_sub_directory_is_its_own(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 64, 64);
        tb_sub(b, image, image);
        tb_finish(b);
        tz_file *file = check_warns(
            b, NULL,
            DEFECT(FORMAT, IFD, .ifd = ANY_INT, .tag = ANY_INT, .offset = tb_ifd_at(b, image)));
        assert_int_equal(tz_file_get_info(file)->ifd_count, 1);
        assert_true(tz_file_get_info(file)->chain_complete);
        check_close(file);
        tb_free(b);
    }
}

static void case_10_sub_directories_past_the_end(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 64, 64);
        TB_LONGS(b, image, TZ_TAG_SUB_IFDS, 100000);
        tb_finish(b);
        check_done_warns(b, NULL,
                         DEFECT(FORMAT, IFD, .ifd = ANY_INT, .tag = ANY_INT, .offset = 100000));
    }
}

static void case_10_sub_directories_ten_thousand_deep(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        for (int i = 0; i < 10000; i++)
            tiny_image(b);
        for (int i = 0; i + 1 < 10000; i++)
            tb_sub(b, i, i + 1);
        tb_finish(b);
        tz_file *file =
            check_warns_also(b, NULL,
                             DEFECT(LIMIT, LIMIT, .ifd = ANY_INT, .tag = ANY_INT,
                                    .limit = "max_subifd_depth", .expected = 4, .found = 5));
        assert_int_equal(tz_file_get_info(file)->ifd_count, 5);
        check_close(file);
        tb_free(b);
    }
}

static void case_10_two_thousand_million_sub_directories(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 64, 64);
        tb_set_raw(b, image, TZ_TAG_SUB_IFDS, TZ_TYPE_LONG, 1ull << 31, 100);
        tb_finish(b);
        check_done_warns(b, NULL,
                         DEFECT(LIMIT, LIMIT, .tag = TZ_TAG_SUB_IFDS, .limit = "max_tag_bytes",
                                .offset = tb_entry_at(b, image, TZ_TAG_SUB_IFDS),
                                .expected = 268435456, .found = 1ull << 33));
    }
}

static void case_10_the_same_sub_directory_many_times(void **state)
{
    (void)state;
    check_cost cost[2];
    for (int i = 0; i < 2; i++) {
        size_t count = i ? 20000 : 10000;
        int *targets = calloc(count, sizeof *targets);
        tb *b = tb_new(TB_BIGTIFF);
        int image = tb_gray(b, 64, 64);
        int sub = tb_overview(b, image, 32, 32);
        for (size_t k = 0; k < count; k++)
            targets[k] = sub;
        tb_link(b, image, TZ_TAG_SUB_IFDS, TZ_TYPE_IFD8, targets, count);
        free(targets);
        tb_finish(b);
        check_close(check_warns(
            b, NULL,
            DEFECT(FORMAT, IFD, .ifd = ANY_INT, .tag = ANY_INT, .offset = tb_ifd_at(b, sub))));
        cost[i] = check_cost_of(b, NULL);
        tb_free(b);
    }
    assert_true(cost[1].ranges <= 2 * cost[0].ranges + 16);
    assert_true(cost[1].bytes_read <= 2 * cost[0].bytes_read + 65536);
}

/* ---- 11: the chain breaks after a good directory ---- */

static void case_11_next_beyond_the_end(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = directory_last(f);
        const uint64_t offsets[] = {b->size, b->size + 1000, UINT32_MAX, 1ull << 63, UINT64_MAX};
        for (size_t i = 0; i < (b->bigtiff ? 5 : 3); i++) {
            tb_patch_next(b, 0, offsets[i]);
            tz_file *file = check_warns(
                b, NULL, DEFECT(FORMAT, IFD, .ifd = 1, .offset = offsets[i], .found = offsets[i]));
            assert_false(tz_file_get_info(file)->chain_complete);
            assert_int_equal(tz_file_get_info(file)->page_count, 1);
            check_locates(file, 0, 0, tb_tile_at(b, 0, 0), 16);
            check_close(file);
        }
        tb_free(b);
    }
}

static void case_11_next_in_the_header(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = directory_last(f);
        for (uint64_t offset = 1; offset < tb_header_size(b); offset++) {
            tb_patch_next(b, 0, offset);
            check_close(check_warns(
                b, NULL, DEFECT(FORMAT, IFD, .ifd = 1, .offset = offset, .found = offset)));
        }
        tb_free(b);
    }
}

static void case_11_a_page_beyond_the_break_is_an_error(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tz_open_options options = TZ_OPEN_OPTIONS_INIT;
        options.page = 1;
        tb *b = directory_last(f);
        tb_patch_next(b, 0, b->size + 1000);
        tz_file *file = NULL;
        tz_error err;
        assert_int_equal(tz_open_memory(&file, b->data, b->size, &options, &err), TZ_ERR_FORMAT);
        check_error(&err, DEFECT(FORMAT, IFD, .ifd = -1, .found = 1, .text = "page 1"));
        options.strict = true; /* says why */
        check_done_fails(b, &options, DEFECT(FORMAT, IFD, .ifd = 1, .offset = b->size + 1000));
    }
}

static void case_11_a_page_that_the_whole_chain_has_not(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tz_open_options options = TZ_OPEN_OPTIONS_INIT;
        options.page = 1;
        check_done_fails(directory_last(f), &options,
                         DEFECT(ARG, ARG, .ifd = -1, .found = 1, .text = "page 1"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(case_01_empty_file),
        CASE(case_01_one_to_seven_bytes),
        CASE(case_01_bigtiff_header_cut_off),
        CASE(case_01_header_only),
        CASE(case_02_bigtiff_offset_size),
        CASE(case_02_bigtiff_reserved_word),
        CASE(case_03_not_a_tiff),
        CASE(case_03_random_bytes),
        CASE(case_04_first_directory_beyond_the_end),
        CASE(case_04_first_directory_at_zero),
        CASE(case_05_first_directory_in_the_header),
        CASE(case_05_first_directory_at_an_odd_offset),
        CASE(case_06_no_entries),
        CASE(case_06_more_entries_than_allowed),
        CASE(case_06_more_entries_than_bytes),
        CASE(case_07_cut_off_within_the_entries),
        CASE(case_07_next_offset_cut_off),
        CASE(case_08_next_is_itself),
        CASE(case_08_next_is_the_first),
        CASE(case_08_next_is_one_in_between),
        CASE(case_08_next_within_a_directory),
        CASE(case_08_long_loop_is_linear),
        CASE(case_09_two_million_directories),
        CASE(case_09_more_directories_than_allowed),
        CASE(case_09_as_many_directories_as_allowed),
        CASE(case_09_three_hundred_thousand_directories_without_a_limit),
        CASE(case_09_cost_is_linear_in_directories),
        CASE(case_09_directories_that_overlap),
        CASE(case_10_sub_directory_is_its_own),
        CASE(case_10_sub_directories_past_the_end),
        CASE(case_10_sub_directories_ten_thousand_deep),
        CASE(case_10_two_thousand_million_sub_directories),
        CASE(case_10_the_same_sub_directory_many_times),
        CASE(case_11_next_beyond_the_end),
        CASE(case_11_next_in_the_header),
        CASE(case_11_a_page_beyond_the_break_is_an_error),
        CASE(case_11_a_page_that_the_whole_chain_has_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
