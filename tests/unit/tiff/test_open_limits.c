/* SPDX-License-Identifier: Apache-2.0
 * Options of opening: every limit just below, at and just above what a file needs; progress and
 * cancel; arguments; a file that changes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/sized.h"

/* ---- limits ---- */

static uint64_t *member(tz_limits *limits, const char *name)
{
    for (size_t i = 0; i < tz_limit_count(); i++)
        if (strcmp(tz_limit_get(i)->name, name) == 0)
            return (uint64_t *)(void *)((char *)limits + tz_limit_get(i)->member_offset);
    fail_msg("there is no limit %s", name);
    return NULL;
}

/* The file needs this much of the limit: less is the defect, as much and more is none. */
static void check_boundary(tb *b, const char *name, uint64_t need, bool is_error, int32_t ifd,
                           int32_t tag)
{
    if (!b->finished)
        tb_finish(b);
    const check_defect *defect = DEFECT(LIMIT, LIMIT, .ifd = ifd, .tag = tag, .limit = name,
                                        .expected = need - 1, .found = need);
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    tz_limits limits = TZ_LIMITS_INIT;
    options.limits = &limits;
    *member(&limits, name) = need - 1;
    if (is_error)
        check_fails(b, &options, defect);
    else
        check_close(check_warns(b, &options, defect));
    static const uint64_t more[] = {0, 1, 1000};
    for (size_t i = 0; i < 3; i++) {
        *member(&limits, name) = need + more[i];
        check_close(check_opens(b, &options));
    }
    *member(&limits, name) = TZ_UNLIMITED;
    check_close(check_opens(b, &options));
    *member(&limits, name) = 0; /* the default */
    check_close(check_opens(b, &options));
    tb_free(b);
}

static void limit_max_ifds(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        for (int i = 0; i < 5; i++)
            tb_gray(b, 64, 64);
        check_boundary(b, "max_ifds", 5, true, 4, -1);
    }
}

static void limit_max_ifds_counts_sub_directories(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 64, 64);
        int subs[] = {tb_overview(b, image, 32, 32), tb_overview(b, image, 16, 16)};
        tb_link(b, image, TZ_TAG_SUB_IFDS, TZ_TYPE_LONG, subs, 2);
        check_boundary(b, "max_ifds", 3, true, 2, -1);
    }
}

static void limit_max_ifd_entries(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 64, 64);
        uint64_t count = b->ifds[image].count;
        check_boundary(b, "max_ifd_entries", count, true, 0, -1);
    }
}

static void limit_max_ifd_entries_of_a_later_directory(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        int more = tb_gray(b, 64, 64);
        for (uint16_t i = 0; i < 100; i++)
            TB_SHORTS(b, more, (uint16_t)(60000 + i), i);
        uint64_t count = b->ifds[more].count;
        check_boundary(b, "max_ifd_entries", count, false, 1, -1);
    }
}

static void limit_max_subifd_depth(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int ifd = tb_gray(b, 64, 64);
        for (uint32_t depth = 1; depth <= 3; depth++) {
            int below = tb_overview(b, ifd, 64 >> depth, 64 >> depth);
            tb_sub(b, ifd, below);
            ifd = below;
        }
        check_boundary(b, "max_subifd_depth", 3, false, ANY_INT, TZ_TAG_SUB_IFDS);
    }
}

static void limit_max_levels(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 64, 64);
        for (uint32_t i = 1; i < 5; i++)
            tb_overview(b, image, 64 >> i, 64 >> i);
        check_boundary(b, "max_levels", 5, false, ANY_INT, -1);
    }
}

/* The limit is one on levels: each of them may have its mask besides. */
static void limit_max_levels_leaves_room_for_masks(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int ifds[5] = {tb_gray(b, 64, 64)};
        for (uint32_t i = 1; i < 5; i++)
            ifds[i] = tb_overview(b, ifds[0], 64 >> i, 64 >> i);
        for (int i = 0; i < 5; i++)
            tb_mask(b, ifds[i]);
        tb_finish(b);
        tz_open_options options = TZ_OPEN_OPTIONS_INIT;
        options.limits = SIZED_LIMITS(.max_levels = 5);
        tz_file *file = check_opens(b, &options);
        assert_int_equal(tz_file_get_info(file)->level_count, 5);
        for (int i = 0; i < 5; i++)
            assert_true(tz_file_get_level(file, (uint32_t)i)->has_mask);
        check_done(file, b);
    }
}

static void limit_max_tag_bytes(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f); /* of a structural tag, and of another */
        tb_image(b, &(tb_spec){.samples = 8, .photometric = 1});
        tb_remove(b, 0, TZ_TAG_EXTRA_SAMPLES);
        TB_SET(b, 0, TZ_TAG_EXTRA_SAMPLES, TZ_TYPE_BYTE, 0, 0, 0, 0, 0, 0, 0);
        TB_SHORTS(b, 0, TZ_TAG_SAMPLE_FORMAT, 1, 1, 1, 1, 1, 1, 1, 1);
        check_boundary(b, "max_tag_bytes", 16, true, 0, TZ_TAG_BITS_PER_SAMPLE);
        b = tb_new(f);
        tb_gray(b, 64, 64);
        TB_DOUBLES(b, 0, TZ_TAG_TIEPOINTS, 0, 0, 0, 1, 2, 3);
        check_boundary(b, "max_tag_bytes", 48, false, 0, TZ_TAG_TIEPOINTS);
        b = tb_new(f);
        tb_gray(b, 64, 64);
        tb_set_text(b, 0, 65000, "thirty characters of some text");
        check_boundary(b, "max_tag_bytes", 31, false, 0, 65000);
    }
}

/* Tile tables are never loaded whole, so that their size does not matter. */
static void limit_max_tag_bytes_spares_tile_tables(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_tiled(b, 64, 64, 16);
        tb_finish(b);
        tz_open_options options = TZ_OPEN_OPTIONS_INIT;
        options.limits = SIZED_LIMITS(.max_tag_bytes = 8);
        tz_file *file = check_opens(b, &options);
        check_locates(file, 0, 15, tb_tile_at(b, 0, 15), 16);
        check_done(file, b);
    }
}

static void limit_max_tile_bytes(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_image(b, &(tb_spec){.tile_width = 32, .tile_height = 48, .samples = 3, .bits = 16});
        check_boundary(b, "max_tile_bytes", 32 * 48 * 3 * 2, false, 0, TZ_TAG_TILE_WIDTH);
        b = tb_new(f);
        tb_image(b, &(tb_spec){.width = 10, .height = 10, .rows_per_strip = 7, .bits = 1});
        check_boundary(b, "max_tile_bytes", 2 * 7, false, 0, TZ_TAG_ROWS_PER_STRIP);
        b = tb_new(f);
        tb_image(b, &(tb_spec){.samples = 3, .planar = 2, .bits = 8});
        check_boundary(b, "max_tile_bytes", 64 * 64, false, 0, TZ_TAG_ROWS_PER_STRIP);
    }
}

static void limit_max_handle_bytes(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        TB_DOUBLES(b, 0, TZ_TAG_TIEPOINTS, 0, 0, 0, 1, 2, 3);
        check_boundary(b, "max_handle_bytes", 48, false, 0, TZ_TAG_TIEPOINTS);
    }
}

static void limit_max_geo_keys(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_gray(b, 64, 64);
        tb_georeference(b, 0, 32633);
        check_boundary(b, "max_geo_keys", 3, false, 0, TZ_TAG_GEO_KEYS);
    }
}

static void limits_of_metadata(void **state)
{
    (void)state;
    static const char xml[] = "<GDALMetadata><Item name=\"a\">b</Item><Item name=\"c\"><d><e/></d>"
                              "</Item></GDALMetadata>";
    if (!tz_build_feature("expat"))
        return; /* nothing is read that could be too much */
    FORMATS(f)
    {
        static const struct {
            const char *name;
            uint64_t need;
        } limits[] = {
            {"max_xml_bytes", sizeof xml}, {"max_xml_depth", 4}, {"max_metadata_items", 2}};
        for (size_t i = 0; i < 3; i++) {
            tb *b = tb_new(f);
            tb_gray(b, 64, 64);
            tb_set_text(b, 0, TZ_TAG_GDAL_METADATA, xml);
            check_boundary(b, limits[i].name, limits[i].need, false, 0, TZ_TAG_GDAL_METADATA);
        }
    }
}

/* ---- progress ---- */

typedef struct counter {
    uint64_t calls;
    uint64_t stop_at; /* this call says no; 0: none */
    uint64_t last;
} counter;

static bool count_progress(void *user, uint64_t done, uint64_t total)
{
    counter *c = user;
    (void)total;
    assert_true(c->calls == 0 || done >= c->last);
    c->last = done;
    return ++c->calls != c->stop_at;
}

static void progress_is_reported_and_may_cancel(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 64, 64);
        tb_finish(b);
        tb_repeat(b, image, 50);
        counter c = {0};
        tz_open_options options = TZ_OPEN_OPTIONS_INIT;
        options.progress = (tz_progress){count_progress, &c};
        tz_file *file = NULL;
        assert_int_equal(tz_open_memory(&file, b->data, b->size, &options, NULL), TZ_OK);
        tz_close(file);
        uint64_t calls = c.calls;
        assert_true(calls >= 1);
        for (uint64_t stop = 1; stop <= calls; stop++) {
            c = (counter){.stop_at = stop};
            tz_error err;
            file = NULL;
            assert_int_equal(tz_open_memory(&file, b->data, b->size, &options, &err),
                             TZ_ERR_CANCELLED);
            assert_null(file);
            assert_int_equal(err.cause, TZ_CAUSE_CANCELLED);
            assert_int_equal(c.calls, stop); /* and is not asked again */
        }
        tb_free(b);
    }
}

/* ---- arguments ---- */

static void wrong_arguments_are_errors(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    tb_gray(b, 64, 64);
    tb_finish(b);
    tz_file *file = NULL;
    tz_error err;
    check_reads reads = {0};
    assert_int_equal(tz_open(NULL, "x", NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_open(&file, NULL, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_open_memory(NULL, b->data, b->size, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_open_memory(&file, NULL, 10, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_open_source(&file, NULL, NULL, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(
        tz_open_source(NULL, check_source_memory(b->data, b->size, &reads), NULL, NULL, &err),
        TZ_ERR_ARG);
    assert_int_equal(reads.closes, 1); /* it owns the source all the same */
    static const size_t sizes[] = {0, 1, (size_t)1 << 20, SIZE_MAX};
    for (size_t i = 0; i < 4; i++) {
        tz_open_options options = TZ_OPEN_OPTIONS_INIT;
        options.struct_size = sizes[i];
        assert_int_equal(tz_open_memory(&file, b->data, b->size, &options, &err), TZ_ERR_ARG);
        assert_int_equal(err.cause, TZ_CAUSE_ARG);
    }
    assert_null(file);
    tz_close(NULL);
    tb_free(b);
}

static void options_of_an_older_library_are_taken(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    tb_gray(b, 64, 64);
    tb_gray(b, 32, 32);
    tb_finish(b);
    tz_open_options options = TZ_OPEN_OPTIONS_INIT;
    options.page = 1;
    options.limits = SIZED_LIMITS(.max_ifds = 1); /* after the end of the older struct */
    options.struct_size = offsetof(tz_open_options, limits);
    tz_file *file = NULL;
    assert_int_equal(tz_open_memory(&file, b->data, b->size, &options, NULL), TZ_OK);
    assert_int_equal(tz_file_get_info(file)->width, 32);
    tz_close(file);
    tb_free(b);
}

static void errors_need_no_place_to_go(void **state)
{
    (void)state;
    tz_file *file = NULL;
    assert_int_equal(tz_open_memory(&file, "no TIFF.", 8, NULL, NULL), TZ_ERR_FORMAT);
    assert_int_equal(tz_open(&file, "/nowhere/at/all.tif", NULL, NULL), TZ_ERR_IO);
    assert_null(file);
}

/* ---- a file that changes ---- */

static void a_source_that_changes_is_noticed(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    tb_tiled(b, 64, 64, 16);
    tb_finish(b);
    check_reads reads = {.changed = true};
    tz_file *file = NULL;
    tz_error err;
    assert_int_equal(
        tz_open_source(&file, check_source_memory(b->data, b->size, &reads), NULL, NULL, &err),
        TZ_ERR_CHANGED);
    reads = (check_reads){0};
    assert_int_equal(
        tz_open_source(&file, check_source_memory(b->data, b->size, &reads), NULL, NULL, &err),
        TZ_OK);
    tz_tile_span span;
    uint64_t bytes, sparse;
    uint32_t problems;
    tz_tag tag = check_find_tag(file, TZ_TAG_TILE_OFFSETS);
    uint8_t data[64];
    assert_int_equal(tz_file_locate_tile(&span, file, 0, false, 3, &err), TZ_OK);
    reads.changed = true;
    assert_int_equal(tz_file_get_tile_spans(&span, file, 0, false, 0, 1, &err), TZ_ERR_CHANGED);
    assert_int_equal(err.cause, TZ_CAUSE_CHANGED);
    assert_int_equal(tz_file_locate_tile(&span, file, 0, false, 0, &err), TZ_ERR_CHANGED);
    assert_int_equal(tz_level_stored_size(&bytes, &sparse, file, 0, false, NULL, &err),
                     TZ_ERR_CHANGED);
    assert_int_equal(tz_file_get_cog_problems(&problems, file, &err), TZ_ERR_CHANGED);
    assert_int_equal(tz_tag_read(data, sizeof data, file, &tag, &err), TZ_ERR_CHANGED);
    assert_int_equal(tz_file_get_tag(&tag, file, tz_file_get_level(file, 0)->ifd_offset, 0, &err),
                     TZ_ERR_CHANGED);
    tz_close(file);
    tb_free(b);
}

static void check_changed_file(const char *path, tb *b, void (*change)(const char *, tb *))
{
    tz_file *file = NULL;
    tz_error err;
    tz_tile_span span;
    tb_write_file(b, path);
    assert_int_equal(tz_open(&file, path, NULL, NULL), TZ_OK);
    assert_int_equal(tz_file_locate_tile(&span, file, 0, false, 0, NULL), TZ_OK);
    change(path, b);
    assert_int_equal(tz_file_locate_tile(&span, file, 0, false, 0, &err), TZ_ERR_CHANGED);
    assert_int_equal(err.cause, TZ_CAUSE_CHANGED);
    tz_close(file);
}

static void file_grows(const char *path, tb *b)
{
    (void)b;
    FILE *file = fopen(path, "ab");
    fputs("more", file);
    fclose(file);
}

static void file_shrinks(const char *path, tb *b)
{
    assert_int_equal(truncate(path, (off_t)(b->size - 1)), 0);
}

static void file_shrinks_to_nothing(const char *path, tb *b)
{
    (void)b;
    assert_int_equal(truncate(path, 0), 0);
}

/* Writes a file of the same size. The time of writing must differ, which file systems round
 * coarsely. */
static void file_is_written_over(const char *path, tb *b)
{
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, b->data, b->size, 0), b->size);
    assert_int_equal(futimens(fd, (const struct timespec[2]){{.tv_sec = 5}, {.tv_sec = 5}}), 0);
    close(fd);
}

static void a_file_that_changes_is_noticed(void **state)
{
    (void)state;
    char path[CHECK_PATH_SIZE];
    check_path(path, "changes.tif");
    tb *b = tb_new(TB_CLASSIC);
    tb_tiled(b, 640, 640, 16); /* the table is far from the front */
    tb_finish(b);
    check_changed_file(path, b, file_grows);
    check_changed_file(path, b, file_shrinks);
    check_changed_file(path, b, file_shrinks_to_nothing);
    check_changed_file(path, b, file_is_written_over);
    tb_free(b);
    check_remove(path);
}

/* The handle keeps the file that it opened. */
static void a_file_that_is_replaced_or_deleted_stays_open(void **state)
{
    (void)state;
    char path[CHECK_PATH_SIZE], other[CHECK_PATH_SIZE];
    check_path(path, "replaced.tif");
    check_path(other, "other.tif");
    tb *b = tb_new(TB_CLASSIC);
    tb_tiled(b, 64, 64, 16);
    tb_finish(b);
    tb_write_file(b, path);
    tb_write_file(b, other);
    tz_file *file = NULL;
    assert_int_equal(tz_open(&file, path, NULL, NULL), TZ_OK);
    assert_int_equal(rename(other, path), 0);
    check_locates(file, 0, 5, tb_tile_at(b, 0, 5), 16);
    check_remove(path);
    check_locates(file, 0, 6, tb_tile_at(b, 0, 6), 16);
    tz_close(file);
    tb_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(limit_max_ifds),
        CASE(limit_max_ifds_counts_sub_directories),
        CASE(limit_max_ifd_entries),
        CASE(limit_max_ifd_entries_of_a_later_directory),
        CASE(limit_max_subifd_depth),
        CASE(limit_max_levels),
        CASE(limit_max_levels_leaves_room_for_masks),
        CASE(limit_max_tag_bytes),
        CASE(limit_max_tag_bytes_spares_tile_tables),
        CASE(limit_max_tile_bytes),
        CASE(limit_max_handle_bytes),
        CASE(limit_max_geo_keys),
        CASE(limits_of_metadata),
        CASE(progress_is_reported_and_may_cancel),
        CASE(wrong_arguments_are_errors),
        CASE(options_of_an_older_library_are_taken),
        CASE(errors_need_no_place_to_go),
        CASE(a_source_that_changes_is_noticed),
        CASE(a_file_that_changes_is_noticed),
        CASE(a_file_that_is_replaced_or_deleted_stays_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
