/* SPDX-License-Identifier: Apache-2.0
 * Which directory is what: pages, overviews and masks, in the chain, in SubIFDs and in other files;
 * and whether a file is a Cloud Optimized GeoTIFF (L01 to L08). */
#include <string.h>
#include <unistd.h>

#include "support/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Levels of these widths, and which of them have a mask. */
static void check_levels(const tz_file *file, const uint32_t *widths, const bool *masks,
                         uint32_t count)
{
    assert_int_equal(tz_file_get_info(file)->level_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(tz_file_get_level(file, i)->width, widths[i]);
        assert_int_equal(tz_file_get_level(file, i)->has_mask, masks[i]);
        assert_true(tz_file_get_level(file, i)->readable);
        const tz_level *mask = tz_file_get_mask(file, i);
        assert_int_equal(mask ? mask->width : 0, masks[i] ? widths[i] : 0);
    }
}
#define CHECK_LEVELS(file, count, ...)                                                             \
    do {                                                                                           \
        static const struct {                                                                      \
            uint32_t widths[8];                                                                    \
            bool masks[8];                                                                         \
        } expected_ = {__VA_ARGS__};                                                               \
        check_levels(file, expected_.widths, expected_.masks, count);                              \
    } while (0)

/* ---- within one file ---- */

static void overviews_and_masks_in_the_chain(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_tiled(b, 128, 128, 16);
        tb_mask(b, image);
        int half = tb_overview(b, image, 64, 64);
        int quarter = tb_overview(b, image, 32, 32);
        tb_mask(b, half);
        tb_mask(b, quarter);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        CHECK_LEVELS(file, 3, {128, 64, 32}, {true, true, true});
        assert_int_equal(info->page_count, 1);
        assert_int_equal(info->ifd_count, 6);
        assert_int_equal(tz_file_get_level(file, 2)->ifd, quarter);
        assert_int_equal(tz_file_get_mask(file, 2)->ifd, 5);
        check_done(file, b);
    }
}

static void levels_are_sorted_by_size(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 128, 100);
        tb_overview(b, image, 16, 13);
        tb_overview(b, image, 64, 50);
        tb_overview(b, image, 32, 25);
        tz_file *file;
        check_info(b, &file);
        CHECK_LEVELS(file, 4, {128, 64, 32, 16}, {false});
        assert_null(tz_file_get_mask(file, 3));
        check_done(file, b);
    }
}

static void a_mask_of_an_overview_alone(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 128, 128);
        int half = tb_overview(b, image, 64, 64);
        tb_mask(b, half);
        tz_file *file;
        check_info(b, &file);
        CHECK_LEVELS(file, 2, {128, 64}, {false, true});
        tz_tile_span span;
        tz_error err;
        assert_int_equal(tz_file_locate_tile(&span, file, 0, true, 0, &err), TZ_ERR_ARG);
        assert_int_equal(tz_file_locate_tile(&span, file, 1, true, 0, &err), TZ_OK);
        check_done(file, b);
    }
}

static void overviews_and_masks_in_sub_directories(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_tiled(b, 128, 128, 16);
        int half = tb_overview(b, image, 64, 64);
        int subs[] = {half, tb_overview(b, image, 32, 32), tb_mask(b, image), tb_mask(b, half)};
        tb_link(b, image, TZ_TAG_SUB_IFDS, TZ_TYPE_IFD, subs, 4);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        CHECK_LEVELS(file, 3, {128, 64, 32}, {true, true, false});
        assert_int_equal(info->page_count, 1);
        check_locates(file, 2, 0, tb_tile_at(b, subs[1], 0), 16);
        check_done(file, b);
    }
}

/* Raw sensor data, say: neither a level nor a page. */
static void a_full_image_in_a_sub_directory_is_left_alone(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 128, 128);
        int raw = tb_gray(b, 4000, 3000);
        tb_sub(b, image, raw);
        tz_file *file;
        const tz_info *info = check_info(b, &file);
        CHECK_LEVELS(file, 1, {128}, {false});
        assert_int_equal(info->page_count, 1);
        assert_int_equal(info->ifd_count, 2);
        check_done(file, b);
    }
}

static void pages_have_levels_and_masks_of_their_own(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int first = tb_gray(b, 128, 128);
        tb_overview(b, first, 64, 64);
        int second = tb_gray(b, 100, 100);
        tb_mask(b, second);
        tb_overview(b, second, 50, 50);
        tb_overview(b, second, 25, 25);
        int third = tb_image(b, &(tb_spec){.width = 80, .height = 80, .samples = 3, .bits = 16});
        int below = tb_overview(b, third, 40, 40);
        tb_sub(b, third, below);
        tb_finish(b);
        tz_open_options options = TZ_OPEN_OPTIONS_INIT;
        tz_file *file = check_opens(b, &options);
        CHECK_LEVELS(file, 2, {128, 64}, {false});
        check_close(file);
        options.page = 1;
        file = check_opens(b, &options);
        const tz_info *info = tz_file_get_info(file);
        CHECK_LEVELS(file, 3, {100, 50, 25}, {true});
        assert_int_equal(info->width, 100);
        assert_int_equal(info->page, 1);
        assert_int_equal(info->page_count, 3);
        check_locates(file, 0, 0, tb_tile_at(b, second, 0), 16);
        check_close(file);
        options.page = 2;
        file = check_opens(b, &options);
        info = tz_file_get_info(file);
        CHECK_LEVELS(file, 2, {80, 40}, {false});
        assert_int_equal(info->bands, 3);
        assert_int_equal(info->dtype, TZ_DTYPE_UINT16);
        assert_int_equal(tz_file_get_page(file, 2)->bands, 3);
        assert_int_equal(tz_file_get_page(file, 2)->bits_per_sample, 16);
        check_close(file);
        options.page = 3;
        check_done_fails(b, &options, DEFECT(ARG, ARG, .ifd = -1, .expected = 3, .found = 3));
    }
}

/* ---- sidecars ---- */

typedef struct sidecar_case {
    char image[CHECK_PATH_SIZE], ovr[CHECK_PATH_SIZE], msk[CHECK_PATH_SIZE];
} sidecar_case;

static void sidecar_paths(sidecar_case *paths)
{
    check_path(paths->image, "image.tif");
    check_path(paths->ovr, "image.tif.ovr");
    check_path(paths->msk, "image.tif.msk");
}

static void remove_sidecars(const sidecar_case *paths)
{
    check_remove(paths->image);
    check_remove(paths->ovr);
    check_remove(paths->msk);
}

static void write_image(unsigned format, const char *path)
{
    tb *b = tb_new(format);
    tb_gray(b, 128, 128);
    tb_finish(b);
    tb_write_file(b, path);
    tb_free(b);
}

static tb *write_overviews(unsigned format, const char *path)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){
                    .width = 64, .height = 64, .subfile = 1, .tile_width = 16, .tile_height = 16});
    tb_image(b, &(tb_spec){.width = 32, .height = 32, .subfile = 1});
    tb_finish(b);
    tb_write_file(b, path);
    return b;
}

static tb *write_masks(unsigned format, const char *path)
{
    tb *b = tb_new(format);
    tb_image(b, &(tb_spec){.width = 128, .height = 128, .bits = 8});
    tb_image(b, &(tb_spec){.width = 64, .height = 64, .bits = 1, .photometric = 4, .subfile = 5});
    tb_finish(b);
    tb_write_file(b, path);
    return b;
}

static tz_file *open_with(const char *path, uint32_t sidecars, bool strict)
{
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.sidecars = sidecars;
    options.strict = strict;
    tz_file *file = NULL;
    tz_error err;
    if (tz_open(&file, path, &options, &err) != TZ_OK)
        fail_msg("%s", err.message);
    return file;
}

/* Byte order and form of the other file are its own. */
static void n10_sidecars_are_read_when_asked_for(void **state)
{
    (void)state;
    sidecar_case paths;
    sidecar_paths(&paths);
    for (unsigned i = 0; i < TB_FORMATS * TB_FORMATS; i++) {
        write_image(i % TB_FORMATS, paths.image);
        tb *ovr = write_overviews(i / TB_FORMATS, paths.ovr);
        tb *msk = write_masks(i / TB_FORMATS, paths.msk);
        tz_file *file = open_with(paths.image, 0, true);
        CHECK_LEVELS(file, 1, {128}, {false});
        tz_close(file);
        file = open_with(paths.image, TZ_SIDECAR_OVR, true);
        CHECK_LEVELS(file, 3, {128, 64, 32}, {false});
        assert_int_equal(tz_file_get_level(file, 0)->sidecar, 0);
        assert_int_equal(tz_file_get_level(file, 1)->sidecar, TZ_SIDECAR_OVR);
        check_locates(file, 1, 5, tb_tile_at(ovr, 0, 5), 16);
        check_locates(file, 2, 0, tb_tile_at(ovr, 1, 0), 16);
        tz_close(file);
        file = open_with(paths.image, TZ_SIDECAR_OVR | TZ_SIDECAR_MSK, true);
        CHECK_LEVELS(file, 3, {128, 64, 32}, {true, true, false});
        assert_int_equal(tz_file_get_mask(file, 0)->sidecar, TZ_SIDECAR_MSK);
        check_mask_locates(file, 1, 0, tb_tile_at(msk, 1, 0), 16);
        tz_close(file);
        tb_free(ovr);
        tb_free(msk);
    }
    remove_sidecars(&paths);
}

static void n10_sidecars_that_are_not_there_are_none(void **state)
{
    (void)state;
    sidecar_case paths;
    sidecar_paths(&paths);
    write_image(TB_CLASSIC, paths.image);
    tz_file *file = open_with(paths.image, TZ_SIDECAR_OVR | TZ_SIDECAR_MSK, true);
    CHECK_LEVELS(file, 1, {128}, {false});
    tz_close(file);
    remove_sidecars(&paths);
}

static void n10_a_broken_sidecar_is_a_warning(void **state)
{
    (void)state;
    sidecar_case paths;
    sidecar_paths(&paths);
    write_image(TB_CLASSIC, paths.image);
    tb *b = tb_raw(0, "this is no TIFF at all", 22);
    tb_write_file(b, paths.ovr);
    tb_free(b);
    tz_file *file = open_with(paths.image, TZ_SIDECAR_OVR, false);
    const tz_info *info = tz_file_get_info(file);
    CHECK_LEVELS(file, 1, {128}, {false});
    assert_int_equal(info->warning_count, 1);
    check_error(tz_file_get_warning(file, 0),
                DEFECT(FORMAT, NOT_TIFF, .ifd = -1, .text = "image.tif.ovr"));
    tz_close(file);
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.sidecars = TZ_SIDECAR_OVR;
    options.strict = true;
    tz_error err;
    file = NULL;
    assert_int_equal(tz_open(&file, paths.image, &options, &err), TZ_ERR_FORMAT);
    check_error(&err, DEFECT(FORMAT, NOT_TIFF, .ifd = -1, .text = "image.tif.ovr"));
    remove_sidecars(&paths);
}

static void n10_a_sidecar_behind_a_link_is_refused(void **state)
{
    (void)state;
    sidecar_case paths;
    sidecar_paths(&paths);
    char target[CHECK_PATH_SIZE];
    check_path(target, "elsewhere.ovr");
    write_image(TB_CLASSIC, paths.image);
    tb_free(write_overviews(TB_CLASSIC, target));
    assert_int_equal(symlink(target, paths.ovr), 0);
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.sidecars = TZ_SIDECAR_OVR;
    tz_file *file = NULL;
    tz_error err;
    assert_int_equal(tz_open(&file, paths.image, &options, &err), TZ_ERR_IO);
    check_error(&err, DEFECT(IO, UNSAFE, .ifd = -1, .text = "image.tif.ovr"));
    tz_close(open_with(paths.image, 0, true)); /* not asked for, not looked at */
    check_remove(target);
    remove_sidecars(&paths);
}

/* ---- COG ---- */

static int cog_image(tb *b)
{
    int image = tb_tiled(b, 1024, 1024, 256);
    tb_georeference(b, image, 32633);
    return image;
}

static uint32_t problems_of(tb *b)
{
    uint32_t problems = 0;
    if (!b->finished)
        tb_finish(b);
    tz_file *file = check_opens_somehow(b, NULL);
    assert_int_equal(tz_file_get_cog_problems(&problems, file, NULL), TZ_OK);
    check_done(file, b);
    return problems;
}

static void l01_l03_l06_a_cog_has_no_problems(void **state)
{
    (void)state;
    FORMATS(f)
    {
        for (int ghost = 0; ghost < 2; ghost++) {
            tb *b = tb_new(f);
            if (ghost)
                tb_ghost(b, TB_GHOST_COG);
            b->leaders = ghost != 0;
            int image = cog_image(b);
            int half = tb_overview(b, image, 512, 512);
            tb_overview(b, image, 256, 256);
            tb_mask(b, image);
            tb_mask(b, half);
            assert_int_equal(problems_of(b), 0);
        }
        tb *b = tb_new(f); /* small: strips and no overviews are fine */
        tb_gray(b, 512, 512);
        tb_georeference(b, 0, 32633);
        assert_int_equal(problems_of(b), 0);
    }
}

static void every_cog_problem(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 513, 10);
        tb_georeference(b, 0, 32633);
        tb_overview(b, 0, 256, 5);
        assert_int_equal(problems_of(b), TZ_COG_PROBLEM_NOT_TILED);

        b = tb_new(f);
        cog_image(b);
        assert_int_equal(problems_of(b), TZ_COG_PROBLEM_NO_OVERVIEWS);

        b = tb_new(f);
        tb_overview(b, cog_image(b), 512, 512);
        b->ifds[0].gap = 100;
        assert_int_equal(problems_of(b), TZ_COG_PROBLEM_IFD_NOT_FIRST);

        b = tb_new(f);
        int image = cog_image(b);
        tb_overview(b, image, 256, 256);
        tb_overview(b, image, 512, 512);
        assert_true(problems_of(b) & TZ_COG_PROBLEM_IFD_ORDER);

        b = tb_new(f);
        b->data_first = true;
        tb_overview(b, cog_image(b), 512, 512);
        assert_int_equal(problems_of(b),
                         TZ_COG_PROBLEM_DATA_BEFORE_IFDS | TZ_COG_PROBLEM_IFD_NOT_FIRST);

        b = tb_new(f);
        b->data_forward = true;
        tb_overview(b, cog_image(b), 512, 512);
        assert_int_equal(problems_of(b), TZ_COG_PROBLEM_DATA_ORDER);

        b = tb_new(f);
        tb_ghost(b, "LAYOUT=IFDS_BEFORE_DATA\nKNOWN_INCOMPATIBLE_EDITION=YES\n");
        tb_overview(b, cog_image(b), 512, 512);
        assert_int_equal(problems_of(b), TZ_COG_PROBLEM_EDITED);

        b = tb_new(f);
        tb_tiled(b, 64, 64, 16);
        assert_int_equal(problems_of(b), TZ_COG_PROBLEM_NOT_GEOREFERENCED);

        b = tb_new(f);
        tb_overview(b, cog_image(b), 512, 512);
        tb_finish(b);
        b->size = tb_tile_at(b, 0, 15);
        assert_int_equal(problems_of(b), TZ_COG_PROBLEM_TRUNCATED);
    }
}

static void a_mask_directory_after_the_data_is_a_problem(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = cog_image(b);
        tb_overview(b, image, 512, 512);
        int mask = tb_mask(b, image);
        b->ifds[mask].at = 20000;
        assert_int_equal(problems_of(b), TZ_COG_PROBLEM_DATA_BEFORE_IFDS);
    }
}

static void external_overviews_are_a_problem(void **state)
{
    (void)state;
    sidecar_case paths;
    sidecar_paths(&paths);
    tb *b = tb_new(TB_CLASSIC);
    tb_tiled(b, 128, 128, 16);
    tb_georeference(b, 0, 32633);
    tb_finish(b);
    tb_write_file(b, paths.image);
    tb_free(b);
    tb_free(write_overviews(TB_CLASSIC, paths.ovr));
    tz_file *file = open_with(paths.image, TZ_SIDECAR_OVR, true);
    uint32_t problems = 0;
    assert_int_equal(tz_file_get_cog_problems(&problems, file, NULL), TZ_OK);
    assert_int_equal(problems, TZ_COG_PROBLEM_EXTERNAL_OVERVIEWS);
    tz_close(file);
    remove_sidecars(&paths);
}

static void every_cog_problem_has_words(void **state)
{
    (void)state;
    for (uint32_t bit = 1; bit <= TZ_COG_PROBLEM_TRUNCATED; bit <<= 1) {
        assert_true(strlen(tz_cog_problem_text(bit)) > 5);
        assert_string_not_equal(tz_cog_problem_text(bit), tz_cog_problem_text(0));
    }
    assert_non_null(tz_cog_problem_text(1u << 31));
}

/* ---- the ghost area ---- */

static void l02_items_of_the_ghost_area(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_ghost(b, TB_GHOST_COG "\nMASK_INTERLEAVED_WITH_IMAGERY=YES\n");
        tb_gray(b, 64, 64);
        tz_file *file;
        const tz_ghost *ghost = check_info(b, &file)->ghost;
        assert_true(ghost->present && ghost->ifds_before_data && ghost->row_major);
        assert_true(ghost->leaders && ghost->trailers && ghost->mask_interleaved);
        assert_false(ghost->edited);
        assert_int_equal(ghost->interleave, 0);
        assert_int_equal(ghost->size, b->ghost_size);
        check_done(file, b);
    }
}

static void l08_interleave_of_the_ghost_area(void **state)
{
    (void)state;
    static const char *const names[] = {"INTERLEAVE=PIXEL\n", "INTERLEAVE=BAND\n",
                                        "INTERLEAVE=TILE\n"};
    FORMATS(f)
    {
        for (uint8_t i = 0; i < COUNT(names); i++) {
            tb *b = tb_new(f);
            tb_ghost(b, names[i]);
            tb_gray(b, 64, 64);
            tz_file *file;
            const tz_ghost *ghost = check_info(b, &file)->ghost;
            assert_int_equal(ghost->interleave, i);
            assert_false(ghost->leaders || ghost->trailers || ghost->ifds_before_data);
            check_done(file, b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(overviews_and_masks_in_the_chain),
        CASE(levels_are_sorted_by_size),
        CASE(a_mask_of_an_overview_alone),
        CASE(overviews_and_masks_in_sub_directories),
        CASE(a_full_image_in_a_sub_directory_is_left_alone),
        CASE(pages_have_levels_and_masks_of_their_own),
        CASE(n10_sidecars_are_read_when_asked_for),
        CASE(n10_sidecars_that_are_not_there_are_none),
        CASE(n10_a_broken_sidecar_is_a_warning),
        CASE(n10_a_sidecar_behind_a_link_is_refused),
        CASE(l01_l03_l06_a_cog_has_no_problems),
        CASE(every_cog_problem),
        CASE(a_mask_directory_after_the_data_is_a_problem),
        CASE(external_overviews_are_a_problem),
        CASE(every_cog_problem_has_words),
        CASE(l02_items_of_the_ghost_area),
        CASE(l08_interleave_of_the_ghost_area),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
