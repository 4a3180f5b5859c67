/* SPDX-License-Identifier: Apache-2.0
 * The lenient rule: what is an error in the first directory is a warning in a later one, with the
 * same words, and costs that directory alone. Only what hides the way to the next one ends the
 * chain. */
#include <ctype.h>
#include <string.h>

#include "support/check.h"

typedef struct defect_row {
    const char *name;
    void (*describe)(tb *b, int ifd); /* before tb_finish; NULL: nothing */
    void (*patch)(tb *b, int ifd);    /* after it */
    tz_result result;
    tz_cause cause;
    int32_t tag;
    const char *limit;
    bool ends_chain;
} defect_row;

/* ---- the defects ---- */

static void no_entries(tb *b, int ifd)
{
    tb_patch_entry_count(b, ifd, 0);
}

static void too_many_entries(tb *b, int ifd)
{
    tb_patch_entry_count(b, ifd, 4097);
}

static void entries_cut_off(tb *b, int ifd)
{
    tb_patch_entry_count(b, ifd, 4096);
}

static void width_of_unknown_type(tb *b, int ifd)
{
    tb_patch_type(b, ifd, TZ_TAG_IMAGE_WIDTH, 99);
}

static void width_of_text(tb *b, int ifd)
{
    tb_patch_type(b, ifd, TZ_TAG_IMAGE_WIDTH, TZ_TYPE_ASCII);
}

static void width_without_values(tb *b, int ifd)
{
    tb_patch_count(b, ifd, TZ_TAG_IMAGE_WIDTH, 0);
}

static void width_negative(tb *b, int ifd)
{
    TB_SET(b, ifd, TZ_TAG_IMAGE_WIDTH, TZ_TYPE_SLONG, (uint64_t)-1);
}

static void width_zero(tb *b, int ifd)
{
    TB_LONGS(b, ifd, TZ_TAG_IMAGE_WIDTH, 0);
}

static void height_missing(tb *b, int ifd)
{
    tb_remove(b, ifd, TZ_TAG_IMAGE_LENGTH);
}

static void no_samples(tb *b, int ifd)
{
    TB_SHORTS(b, ifd, TZ_TAG_SAMPLES_PER_PIXEL, 0);
}

static void planar_3(tb *b, int ifd)
{
    TB_SHORTS(b, ifd, TZ_TAG_PLANAR, 3);
}

static void tile_width_zero(tb *b, int ifd)
{
    TB_LONGS(b, ifd, TZ_TAG_TILE_WIDTH, 0);
}

static void tile_length_missing(tb *b, int ifd)
{
    tb_remove(b, ifd, TZ_TAG_TILE_LENGTH);
}

static void depths_of_8_gib(tb *b, int ifd)
{
    tb_set_raw(b, ifd, TZ_TAG_BITS_PER_SAMPLE, TZ_TYPE_SHORT, UINT32_MAX, 100);
}

static void depths_in_the_header(tb *b, int ifd)
{
    tb_set_raw(b, ifd, TZ_TAG_BITS_PER_SAMPLE, TZ_TYPE_SHORT, 8, 2);
}

static void depths_past_the_end(tb *b, int ifd)
{
    tb_set_raw(b, ifd, TZ_TAG_BITS_PER_SAMPLE, TZ_TYPE_SHORT, 8, 1u << 30);
}

#define FORMAT TZ_ERR_FORMAT
#define LIMIT  TZ_ERR_LIMIT
/* clang-format off */
static const defect_row rows[] = {
    {"no entries", NULL, no_entries, FORMAT, TZ_CAUSE_IFD, -1, NULL, true},
    {"too many entries", NULL, too_many_entries, LIMIT, TZ_CAUSE_LIMIT, -1, "max_ifd_entries", true},
    {"entries cut off", NULL, entries_cut_off, FORMAT, TZ_CAUSE_TRUNCATED, -1, NULL, true},
    {"width of unknown type", NULL, width_of_unknown_type, FORMAT, TZ_CAUSE_TAG, 256, NULL, false},
    {"width of text", NULL, width_of_text, FORMAT, TZ_CAUSE_TAG, 256, NULL, false},
    {"width without values", NULL, width_without_values, FORMAT, TZ_CAUSE_TAG, 256, NULL, false},
    {"width negative", width_negative, NULL, FORMAT, TZ_CAUSE_TAG, 256, NULL, false},
    {"width zero", width_zero, NULL, FORMAT, TZ_CAUSE_TAG, 256, NULL, false},
    {"height missing", height_missing, NULL, FORMAT, TZ_CAUSE_TAG, 257, NULL, false},
    {"no samples", no_samples, NULL, FORMAT, TZ_CAUSE_TAG, 277, NULL, false},
    {"planar 3", planar_3, NULL, FORMAT, TZ_CAUSE_TAG, 284, NULL, false},
    {"tile width zero", tile_width_zero, NULL, FORMAT, TZ_CAUSE_TAG, 322, NULL, false},
    {"tile length missing", tile_length_missing, NULL, FORMAT, TZ_CAUSE_TAG, 323, NULL, false},
    {"depths of 8 GiB", depths_of_8_gib, NULL, LIMIT, TZ_CAUSE_LIMIT, 258, "max_tag_bytes", false},
    {"depths in the header", depths_in_the_header, NULL, FORMAT, TZ_CAUSE_TAG, 258, NULL, false},
    {"depths past the end", depths_past_the_end, NULL, FORMAT, TZ_CAUSE_TRUNCATED, 258, NULL, false},
};
/* clang-format on */
#define ROW_COUNT (sizeof rows / sizeof rows[0])

/* ---- files with them ---- */

static void finish_with(tb *b, const defect_row *row, int ifd)
{
    if (row->describe)
        row->describe(b, ifd);
    tb_finish(b);
    if (row->patch)
        row->patch(b, ifd);
}

static check_defect defect_of(const defect_row *row, int ifd)
{
    return (check_defect){.result = row->result,
                          .cause = row->cause,
                          .ifd = ifd,
                          .tag = row->tag,
                          .level = ANY_INT,
                          .tile = -1,
                          .offset = ANY,
                          .expected = ANY,
                          .found = ANY,
                          .limit = row->limit};
}

/* The message with all numbers taken out: positions differ, words do not. */
static void words_of(const char *message, char words[512])
{
    size_t size = 0;
    for (; *message; message++)
        if (!isdigit((unsigned char)*message))
            words[size++] = *message;
    words[size] = '\0';
}

/* The error of a file whose first directory has the defect. */
static void first_words(const defect_row *row, unsigned format, char words[512])
{
    tb *b = tb_new(format);
    tb_tiled(b, 64, 64, 16);
    finish_with(b, row, 0);
    check_defect defect = defect_of(row, 0);
    check_fails(b, NULL, &defect);
    tz_file *file = NULL;
    tz_error err;
    const tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    check_reads reads = {0};
    assert_int_equal(tz_open_source(&file, check_source_memory(b->data, b->size, &reads),
                                    "test.tif", &options, &err),
                     row->result);
    words_of(err.message, words);
    tb_free(b);
}

static tz_file *check_later(tb *b, const defect_row *row, int ifd)
{
    char expected[512], found[512];
    check_defect defect = defect_of(row, ifd);
    finish_with(b, row, ifd);
    tz_file *file = check_warns(b, NULL, &defect);
    first_words(row, b->format, expected);
    words_of(tz_file_get_warning(file, 0)->message, found);
    assert_string_equal(found, expected);
    const tz_info *info = tz_file_get_info(file);
    assert_int_equal(info->width, 64);
    assert_true(tz_file_get_level(file, 0)->readable);
    check_locates(file, 0, 0, tb_tile_at(b, 0, 0), 16);
    return file;
}

#define EACH_ROW(row, f)                                                                           \
    for (const defect_row *row = rows; row < rows + ROW_COUNT; row++)                              \
    FORMATS(f)

static void a_later_page_with_a_defect(void **state)
{
    (void)state;
    EACH_ROW(row, f)
    {
        tb *b = tb_new(f);
        for (int i = 0; i < 3; i++)
            tb_tiled(b, 64, 64, 16);
        tz_file *file = check_later(b, row, 1);
        const tz_info *info = tz_file_get_info(file);
        assert_int_equal(info->chain_complete, !row->ends_chain);
        assert_int_equal(info->page_count, row->ends_chain ? 1 : 2);
        if (!row->ends_chain)
            assert_int_equal(tz_file_get_page(file, 1)->ifd, 2);
        check_close(file);
        tb_free(b);
    }
}

static void an_overview_with_a_defect(void **state)
{
    (void)state;
    EACH_ROW(row, f)
    {
        tb *b = tb_new(f);
        int image = tb_tiled(b, 64, 64, 16);
        int overview = tb_overview(b, image, 32, 32);
        tb_overview(b, image, 16, 16);
        tz_file *file = check_later(b, row, overview);
        const tz_info *info = tz_file_get_info(file);
        assert_int_equal(info->level_count, row->ends_chain ? 1 : 2);
        assert_int_equal(info->page_count, 1);
        check_close(file);
        tb_free(b);
    }
}

static void a_mask_with_a_defect(void **state)
{
    (void)state;
    EACH_ROW(row, f)
    {
        tb *b = tb_new(f);
        int image = tb_tiled(b, 64, 64, 16);
        int mask = tb_mask(b, image);
        tz_file *file = check_later(b, row, mask);
        assert_false(tz_file_get_level(file, 0)->has_mask);
        check_close(file);
        tb_free(b);
    }
}

static void a_sub_directory_with_a_defect(void **state)
{
    (void)state;
    EACH_ROW(row, f)
    {
        tb *b = tb_new(f);
        int image = tb_tiled(b, 64, 64, 16);
        int subs[] = {tb_overview(b, image, 32, 32), tb_overview(b, image, 16, 16)};
        tb_link(b, image, TZ_TAG_SUB_IFDS, TZ_TYPE_LONG, subs, 2);
        tz_file *file = check_later(b, row, subs[0]);
        const tz_info *info = tz_file_get_info(file);
        assert_int_equal(info->level_count, 2); /* the second is named by the tag itself */
        assert_true(info->chain_complete);
        check_close(file);
        tb_free(b);
    }
}

static void asking_for_the_page_itself(void **state)
{
    (void)state;
    EACH_ROW(row, f)
    {
        tz_open_options options = TZ_OPEN_OPTIONS_INIT;
        options.page = 1;
        tb *b = tb_new(f);
        tb_tiled(b, 64, 64, 16);
        tb_tiled(b, 64, 64, 16);
        finish_with(b, row, 1);
        tz_file *file = NULL;
        tz_error err;
        tz_result result = tz_open_memory(&file, b->data, b->size, &options, &err);
        assert_int_equal(result, row->ends_chain ? TZ_ERR_FORMAT : TZ_ERR_ARG);
        assert_int_equal(err.cause, row->ends_chain ? TZ_CAUSE_IFD : TZ_CAUSE_ARG);
        tb_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_later_page_with_a_defect), CASE(an_overview_with_a_defect),
        CASE(a_mask_with_a_defect),       CASE(a_sub_directory_with_a_defect),
        CASE(asking_for_the_page_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
