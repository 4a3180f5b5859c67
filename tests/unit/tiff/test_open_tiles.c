/* SPDX-License-Identifier: Apache-2.0
 * Finding tiles: tables that are read in part, sparse tiles, leaders and trailers (L04 to L12), and
 * a file of a million tiles. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/source.h"
#include "support/alloc_hook.h"
#include "support/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* 3,000 tiles of sizes that differ, some of them sparse. */
static tb *many_tiles(unsigned format)
{
    tb *b = tb_new(format);
    int image = tb_image(
        b, &(tb_spec){.width = 60 * 16, .height = 50 * 16, .tile_width = 16, .tile_height = 16});
    for (uint64_t i = 0; i < 3000; i++)
        b->ifds[image].tile_sizes[i] = i % 7 == 3 ? 0 : 1 + i % 11;
    tb_finish(b);
    return b;
}

static void check_spans(const tb *b, const tz_file *file, uint64_t first, size_t count)
{
    tz_tile_span *spans = malloc(count * sizeof *spans + 1);
    assert_int_equal(tz_file_get_tile_spans(spans, file, 0, false, first, count, NULL), TZ_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(spans[i].offset, tb_tile_at(b, 0, first + i));
        assert_int_equal(spans[i].size, tb_tile_size(b, 0, first + i));
    }
    free(spans);
}

static void spans_are_those_of_the_file(void **state)
{
    (void)state;
    static const uint64_t places[] = {0,    1,    511,  512,  513,  1023,
                                      1024, 1025, 2047, 2048, 2999, 3000};
    FORMATS(f)
    {
        tb *b = many_tiles(f);
        tz_file *file;
        check_info(b, &file);
        for (size_t i = 0; i < COUNT(places); i++)
            for (size_t k = i; k < COUNT(places); k++)
                check_spans(b, file, places[i], (size_t)(places[k] - places[i]));
        uint64_t random = 1;
        for (int i = 0; i < 500; i++) { /* at random, and backwards */
            random = random * 6364136223846793005u + 1442695040888963407u;
            check_spans(b, file, (random >> 33) % 3000, 1);
            check_spans(b, file, 2999 - (uint64_t)i * 3, 1 + (size_t)i % 3);
        }
        check_done(file, b);
    }
}

static void spans_beyond_the_table_are_refused(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = many_tiles(f);
        tz_file *file;
        check_info(b, &file);
        tz_tile_span span[2];
        tz_error err;
        assert_int_equal(tz_file_get_tile_spans(span, file, 0, false, 3000, 1, &err), TZ_ERR_ARG);
        assert_int_equal(err.cause, TZ_CAUSE_ARG);
        assert_int_equal(tz_file_get_tile_spans(span, file, 0, false, 2999, 2, &err), TZ_ERR_ARG);
        assert_int_equal(tz_file_get_tile_spans(span, file, 0, false, UINT64_MAX, 2, &err),
                         TZ_ERR_ARG);
        assert_int_equal(tz_file_get_tile_spans(span, file, 0, false, 1, SIZE_MAX, &err),
                         TZ_ERR_ARG);
        assert_int_equal(tz_file_get_tile_spans(span, file, 1, false, 0, 1, &err), TZ_ERR_ARG);
        assert_int_equal(tz_file_get_tile_spans(span, file, 0, true, 0, 1, &err), TZ_ERR_ARG);
        assert_int_equal(tz_file_locate_tile(span, file, UINT32_MAX, false, 0, &err), TZ_ERR_ARG);
        uint64_t bytes, sparse;
        assert_int_equal(tz_level_stored_size(&bytes, &sparse, file, 1, false, NULL, &err),
                         TZ_ERR_ARG);
        assert_int_equal(tz_file_get_tile_spans(span, file, 0, false, 3000, 0, &err), TZ_OK);
        check_done(file, b);
    }
}

static void stored_size_is_the_sum(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = many_tiles(f);
        tz_file *file;
        check_info(b, &file);
        uint64_t expected_bytes = 0, expected_sparse = 0, bytes = 0, sparse = 0;
        for (uint64_t i = 0; i < 3000; i++) {
            expected_bytes += tb_tile_size(b, 0, i);
            expected_sparse += tb_tile_size(b, 0, i) == 0;
        }
        assert_int_equal(tz_level_stored_size(&bytes, &sparse, file, 0, false, NULL, NULL), TZ_OK);
        assert_int_equal(bytes, expected_bytes);
        assert_int_equal(sparse, expected_sparse);
        check_done(file, b);
    }
}

static void stored_size_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    BIG_FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.tile_width = 32, .tile_height = 32, .size_type = TZ_TYPE_LONG8});
        tb_finish(b);
        tb_patch_tile(b, 0, 1, 100, UINT64_MAX - 16);
        tb_patch_tile(b, 0, 2, 100, 1);
        tz_file *file = check_opens(b, NULL);
        uint64_t bytes = 7, sparse = 7;
        tz_error err;
        assert_int_equal(tz_level_stored_size(&bytes, &sparse, file, 0, false, NULL, &err),
                         TZ_ERR_FORMAT);
        check_error(&err, DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_BYTE_COUNTS, .tile = 2));
        check_done(file, b);
    }
}

/* A table that is not asked for is not read, and not a byte of a tile. */
static void tables_are_not_read_by_opening(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_tiled(b, 500 * 16, 200 * 16, 16); /* 100,000 tiles */
        tb_find(b, image, TZ_TAG_TILE_OFFSETS)->at = 100000;
        tb_find(b, image, TZ_TAG_TILE_BYTE_COUNTS)->at = 1000000;
        tb_finish(b);
        tz_file *file = check_opens(b, NULL);
        assert_true(tz_file_get_info(file)->bytes_read <= 16384);
        assert_int_equal(tz_file_get_info(file)->reads, 1);
        assert_true(tz_file_get_info(file)->directory_end < 1000);
        check_done(file, b);
    }
}

static void spans_of_a_few_tiles_read_a_few_bytes(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = many_tiles(f);
        check_reads reads = {0};
        tz_file *file = NULL;
        assert_int_equal(
            tz_open_source(&file, check_source_memory(b->data, b->size, &reads), NULL, NULL, NULL),
            TZ_OK);
        assert_string_equal(tz_file_get_info(file)->name, "source");
        assert_int_equal(tz_file_get_info(file)->bytes_read, reads.bytes);
        check_reads before = reads;
        tz_tile_span span;
        assert_int_equal(tz_file_get_tile_spans(&span, file, 0, false, 1500, 1, NULL), TZ_OK);
        assert_true(reads.bytes - before.bytes <= 8192);
        assert_true(reads.ranges - before.ranges <= 2);
        tz_close(file);
        assert_int_equal(reads.closes, 1);
        tb_free(b);
    }
}

/* The last page of the table is read, not the pages before it, and not a tile. */
static void an_end_that_was_cut_off_is_found_in_the_last_page(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = many_tiles(f);
        const uint64_t last = 2998; /* 2999 is sparse or not; the one before it is not */
        const uint64_t at = tb_tile_at(b, 0, last);
        check_reads reads = {0};
        tz_file *file = NULL;
        tz_error err = {.cause = TZ_CAUSE_INTERNAL};
        assert_true(tb_tile_size(b, 0, last) > 0);
        assert_int_equal(
            tz_open_source(&file, check_source_memory(b->data, at + 1, &reads), NULL, NULL, NULL),
            TZ_OK);
        check_reads before = reads;
        assert_int_equal(tz_level_check_end(file, 0, false, &err), TZ_ERR_FORMAT);
        assert_true(reads.bytes - before.bytes <= 4096);
        assert_true(reads.ranges - before.ranges <= 2);
        check_error(&err, DEFECT(FORMAT, TRUNCATED, .tag = TZ_TAG_TILE_OFFSETS, .tile = last,
                                 .level = 0, .offset = at,
                                 .expected = at + tb_tile_size(b, 0, last), .found = at + 1));
        assert_int_equal(tz_level_check_end(file, 1, false, &err), TZ_ERR_ARG);
        tz_close(file);

        file = check_opens(b, NULL);
        assert_int_equal(tz_level_check_end(file, 0, false, &err), TZ_OK);
        tz_close(file);
        for (uint64_t i = 2744; i < 3000; i++) /* a sparse end: nothing more is looked at */
            tb_patch_tile(b, 0, i, 0, 0);
        tb_patch_tile(b, 0, 2743, b->size, 10);
        file = check_opens(b, NULL);
        assert_int_equal(tz_level_check_end(file, 0, false, &err), TZ_OK);
        tb_patch_tile(b, 0, 2744, b->size, 0); /* its size would be in a leader */
        tz_close(file);
        file = check_opens(b, NULL);
        assert_int_equal(tz_level_check_end(file, 0, false, &err), TZ_ERR_FORMAT);
        assert_int_equal(err.tile, 2744);
        check_done(file, b);
    }
}

static void l04_l05_leaders_are_little_endian_and_small_tiles_count(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_ghost(b, TB_GHOST_COG);
        b->leaders = true;
        int image = tb_tiled(b, 16 * 8, 16, 16);
        for (uint64_t i = 0; i < 8; i++)
            b->ifds[image].tile_sizes[i] = i + 1;
        tb_finish(b);
        for (uint64_t i = 0; i < 8; i++) /* the table has no sizes: all come from leaders */
            tb_patch_tile(b, image, i, tb_tile_at(b, image, i), 0);
        tz_file *file = check_opens(b, NULL);
        assert_int_equal(b->data[tb_tile_at(b, image, 7) - 4], 8);
        for (uint64_t i = 0; i < 8; i++)
            check_locates(file, 0, i, tb_tile_at(b, image, i), i + 1);
        check_done(file, b);
    }
}

static void l09_sparse_tiles(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_ghost(b, TB_GHOST_COG);
        b->leaders = true;
        tb_image(b, &(tb_spec){.tile_width = 16, .tile_height = 16, .sparse = true});
        tz_file *file;
        check_info(b, &file);
        uint64_t bytes, sparse;
        for (uint64_t i = 0; i < 16; i++)
            check_locates(file, 0, i, 0, 0);
        assert_int_equal(tz_level_stored_size(&bytes, &sparse, file, 0, false, NULL, NULL), TZ_OK);
        assert_int_equal(bytes, 0);
        assert_int_equal(sparse, 16);
        check_done(file, b);
    }
}

static void l10_the_table_counts_before_the_leader(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_ghost(b, TB_GHOST_COG);
        b->leaders = true;
        tb_tiled(b, 64, 64, 32);
        tb_finish(b);
        tb_patch_bytes(b, tb_tile_at(b, 0, 0) - 4, "\x0a\0\0\0", 4); /* 10 instead of 16 */
        tz_file *file = check_opens(b, NULL);
        check_locates(file, 0, 0, tb_tile_at(b, 0, 0), 16);
        check_done(file, b);
    }
}

static void l12_sizes_from_leaders_only_with_a_promise(void **state)
{
    (void)state;
    static const struct {
        const char *items; /* NULL: no ghost area */
        bool accepted;
    } promises[] = {
        {TB_GHOST_COG, true},
        {"BLOCK_LEADER=SIZE_AS_UINT4\nBLOCK_TRAILER=LAST_4_BYTES_REPEATED\n", true},
        {"BLOCK_LEADER=SIZE_AS_UINT4\n", false},
        {"BLOCK_TRAILER=LAST_4_BYTES_REPEATED\n", false},
        {"LAYOUT=IFDS_BEFORE_DATA\n", false},
        {NULL, false},
    };
    FORMATS(f)
    {
        for (size_t i = 0; i < COUNT(promises); i++) {
            tb *b = tb_new(f);
            if (promises[i].items)
                tb_ghost(b, promises[i].items);
            b->leaders = true;
            tb_image(b, &(tb_spec){.tile_width = 32, .tile_height = 32, .tile_bytes = 1000});
            tb_finish(b);
            tb_patch_tile(b, 0, 2, tb_tile_at(b, 0, 2), 0);
            tz_file *file = check_opens(b, NULL);
            if (promises[i].accepted)
                check_locates(file, 0, 2, tb_tile_at(b, 0, 2), 1000);
            else
                check_locate_fails(file, 0, 2,
                                   DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_BYTE_COUNTS,
                                          .level = 0, .tile = 2, .offset = tb_tile_at(b, 0, 2),
                                          .found = 0));
            check_done(file, b);
        }
    }
}

static void l12_sizes_from_leaders_not_after_an_edit(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_ghost(b, "BLOCK_LEADER=SIZE_AS_UINT4\nBLOCK_TRAILER=LAST_4_BYTES_REPEATED\n"
                    "KNOWN_INCOMPATIBLE_EDITION=YES\n");
        b->leaders = true;
        tb_tiled(b, 64, 64, 32);
        tb_finish(b);
        tb_patch_tile(b, 0, 2, tb_tile_at(b, 0, 2), 0);
        tz_file *file = check_warns(b, NULL, DEFECT(FORMAT, META, .ifd = ANY_INT));
        check_locate_fails(file, 0, 2,
                           DEFECT(FORMAT, LAYOUT, .tag = TZ_TAG_TILE_BYTE_COUNTS, .tile = 2));
        check_done(file, b);
    }
}

/* Masks and overviews have tables of their own; an error names which. */
static void tiles_of_overviews_and_masks(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_tiled(b, 64, 64, 16);
        int overview = tb_overview(b, image, 32, 32);
        int masks[] = {tb_mask(b, image), tb_mask(b, overview)};
        tb_finish(b);
        tb_patch_tile(b, masks[1], 3, b->size, 5);
        tz_file *file = check_opens(b, NULL);
        for (uint64_t i = 0; i < 16; i++) {
            check_locates(file, 0, i, tb_tile_at(b, image, i), 16);
            check_mask_locates(file, 0, i, tb_tile_at(b, masks[0], i), 16);
        }
        for (uint64_t i = 0; i < 3; i++) {
            check_locates(file, 1, i, tb_tile_at(b, overview, i), 16);
            check_mask_locates(file, 1, i, tb_tile_at(b, masks[1], i), 16);
        }
        check_mask_locate_fails(file, 1, 3,
                                DEFECT(FORMAT, TRUNCATED, .ifd = masks[1],
                                       .tag = TZ_TAG_TILE_OFFSETS, .level = 1, .mask = true,
                                       .tile = 3, .offset = b->size, .text = "mask"));
        check_done(file, b);
    }
}

/* ---- a million tiles ---- */

#define MILLION 1000000u

/* A file with two tables of a million values, which are holes but for one tile. */
static void write_million(unsigned format, const char *path, uint64_t tile, tz_tile_span span)
{
    bool big = (format & TB_BIGTIFF) != 0;
    uint64_t offsets_at = 4096, sizes_at = offsets_at + MILLION * (big ? 8 : 4);
    tb *b = tb_new(format);
    tb_ghost(b, TB_GHOST_COG);
    tb_tiled(b, 256, 256, 256);
    TB_LONGS(b, 0, TZ_TAG_IMAGE_WIDTH, 256000);
    TB_LONGS(b, 0, TZ_TAG_IMAGE_LENGTH, 256000);
    tb_set_raw(b, 0, TZ_TAG_TILE_OFFSETS, big ? TZ_TYPE_LONG8 : TZ_TYPE_LONG, MILLION, offsets_at);
    tb_set_raw(b, 0, TZ_TAG_TILE_BYTE_COUNTS, TZ_TYPE_LONG, MILLION, sizes_at);
    tb_georeference(b, 0, 32633);
    tb_finish(b);
    tb_write_file(b, path);
    tb *values = tb_raw(format, (const uint8_t[16]){0}, 16);
    tb_patch(values, 0, big ? 8 : 4, span.offset);
    tb_patch(values, 8, 4, span.size);
    int fd = open(path, O_WRONLY);
    assert_int_equal(ftruncate(fd, (off_t)(sizes_at + 4 * MILLION + 100000)), 0);
    assert_true(pwrite(fd, values->data, big ? 8 : 4, (off_t)(offsets_at + tile * (big ? 8 : 4))) >
                0);
    assert_int_equal(pwrite(fd, values->data + 8, 4, (off_t)(sizes_at + tile * 4)), 4);
    close(fd);
    tb_free(values);
    tb_free(b);
}

static void a_million_tiles_cost_nothing_until_asked_for(void **state)
{
    (void)state;
    const tz_tile_span expected = {5000000, 54321};
    FORMATS(f)
    {
        char path[CHECK_PATH_SIZE];
        check_path(path, "million.tif");
        write_million(f, path, 765432, expected);
        tz_source *inner = NULL;
        const tz_context ctx = {.ifd = -1};
        assert_int_equal(tz_source_open_file(&inner, path, false, &ctx), TZ_OK);
        check_reads reads = {0};
        tz_file *file = NULL;
        tz_error err;
        alloc_hook_install();
        assert_int_equal(
            tz_open_source(&file, check_source_over(inner, &reads), "million", NULL, &err), TZ_OK);
        assert_true(reads.bytes < 65536);
        assert_true(alloc_hook_stats().peak_bytes < 65536);
        alloc_hook_remove();
        const tz_info *info = tz_file_get_info(file);
        assert_int_equal(tz_file_get_level(file, 0)->tile_count, MILLION);
        assert_true(tz_file_get_level(file, 0)->readable);
        assert_int_equal(info->warning_count, 0);
        assert_int_equal(info->bytes_read, reads.bytes);
        reads = (check_reads){0};
        tz_tile_span span;
        assert_int_equal(tz_file_get_tile_spans(&span, file, 0, false, 765432, 1, &err), TZ_OK);
        assert_int_equal(span.offset, expected.offset);
        assert_int_equal(span.size, expected.size);
        assert_true(reads.bytes < 65536);
        check_locates(file, 0, 765432, expected.offset, expected.size);
        check_locates(file, 0, MILLION - 1, 0, 0);
        uint64_t bytes, sparse;
        assert_int_equal(tz_level_stored_size(&bytes, &sparse, file, 0, false, NULL, &err), TZ_OK);
        assert_int_equal(bytes, expected.size);
        assert_int_equal(sparse, MILLION - 1);
        tz_close(file);
        check_remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(spans_are_those_of_the_file),
        CASE(spans_beyond_the_table_are_refused),
        CASE(stored_size_is_the_sum),
        CASE(stored_size_that_does_not_fit_is_an_error),
        CASE(tables_are_not_read_by_opening),
        CASE(spans_of_a_few_tiles_read_a_few_bytes),
        CASE(an_end_that_was_cut_off_is_found_in_the_last_page),
        CASE(l04_l05_leaders_are_little_endian_and_small_tiles_count),
        CASE(l09_sparse_tiles),
        CASE(l10_the_table_counts_before_the_leader),
        CASE(l12_sizes_from_leaders_only_with_a_promise),
        CASE(l12_sizes_from_leaders_not_after_an_edit),
        CASE(tiles_of_overviews_and_masks),
        CASE(a_million_tiles_cost_nothing_until_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
