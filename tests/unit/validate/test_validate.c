/* SPDX-License-Identifier: Apache-2.0
 * tz_validate as a call: arguments, memory and reads that fail, cancelling, files that change, and
 * what hostile files may cost. What the checks find is tested with the command, in tests/cli. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/source.h"
#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/tile_file.h"

/* ---- files ---- */

/* A COG with masks, and something wrong in every class. */
static tb *rich(void)
{
    tb *b = tb_new(TB_CLASSIC);
    tb_ghost(b, TB_GHOST_COG "MASK_INTERLEAVED_WITH_IMAGERY=YES\n");
    b->leaders = true;
    int image = tb_tiled(b, 256, 256, 64);
    tb_georeference(b, image, 32633);
    TB_SHORTS(b, image, TZ_TAG_GEO_KEYS, 1, 1, 0, 2, 3072, 0, 1, 500, 1025, 0, 1, 7);
    tb_set_text(b, image, TZ_TAG_GDAL_NODATA, "nothing");
    int half = tb_overview(b, image, 128, 128);
    tb_overview(b, image, 300, 300);
    tb_mask(b, image);
    tb_mask(b, half);
    tb_finish(b);
    tb_patch_tile(b, image, 5, b->size + 7, 10);
    tb_patch(b, tb_tile_at(b, half, 3) - 4, 4, 1);
    return b;
}

static tz_validate_options all_tiles(void)
{
    tz_validate_options options = TZ_VALIDATE_OPTIONS_INIT;
    options.full = true;
    options.threads = 1;
    return options;
}

static const tz_check *find_check(const tz_validation *validation, const char *id)
{
    for (uint32_t i = 0; i < validation->check_count; i++)
        if (strcmp(tz_validation_get_check(validation, i)->id, id) == 0)
            return tz_validation_get_check(validation, i);
    fail_msg("no check %s", id);
    return NULL;
}

static const tz_check *check_found(const tz_validation *validation, const char *id,
                                   tz_check_outcome outcome)
{
    const tz_check *check = find_check(validation, id);
    if (check->outcome != outcome)
        fail_msg("%s: %s %s", id, tz_check_outcome_name(check->outcome),
                 check->finding_count > 0 ? check->findings[0].message : "");
    return check;
}

/* ---- the call ---- */

static void wrong_arguments(void **state)
{
    (void)state;
    tz_validation *out = NULL;
    tz_error err;
    tz_validate_options options = TZ_VALIDATE_OPTIONS_INIT;
    assert_int_equal(tz_validate(NULL, "a", NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_validate(&out, NULL, NULL, &err), TZ_ERR_ARG);
    assert_int_equal(tz_validate_file(&out, NULL, NULL, &err), TZ_ERR_ARG);
    options.struct_size = (size_t)1 << 20;
    assert_int_equal(tz_validate(&out, "a", &options, &err), TZ_ERR_ARG);
    options.struct_size = 1;
    assert_int_equal(tz_validate(&out, "a", &options, NULL), TZ_ERR_ARG);
    assert_int_equal(tz_validate(&out, "/nowhere/at/all.tif", NULL, &err), TZ_ERR_IO);
    assert_int_equal(tz_validate(&out, "/", NULL, &err), err.result);
    assert_int_equal(err.cause, TZ_CAUSE_UNSAFE);
    assert_null(out);
    tz_validation_free(NULL);
}

static void names_of_classes_and_outcomes(void **state)
{
    (void)state;
    assert_string_equal(tz_check_class_name(TZ_CHECK_CLASS_GEOTIFF), "geotiff");
    assert_string_equal(tz_check_class_name((tz_check_class)99), "unknown");
    assert_string_equal(tz_check_outcome_name(TZ_CHECK_OUTCOME_FAIL), "fail");
    assert_string_equal(tz_check_outcome_name((tz_check_outcome)99), "unknown");
}

static void findings_have_locations(void **state)
{
    (void)state;
    tb *b = rich();
    const tz_validate_options options = all_tiles();
    tz_file *file = tf_open(b);
    tz_validation *validation = NULL;
    assert_int_equal(tz_validate_file(&validation, file, &options, NULL), TZ_OK);
    assert_true(validation->opened && validation->full && !validation->valid);
    const tz_check *spans = check_found(validation, "tiff.tile-spans", TZ_CHECK_OUTCOME_FAIL);
    assert_int_equal(spans->check_class, TZ_CHECK_CLASS_TIFF);
    assert_int_equal(spans->finding_count, 1);
    assert_int_equal(spans->findings[0].tile, 5);
    assert_int_equal(spans->findings[0].level, 0);
    assert_int_equal(spans->findings[0].offset, b->size + 7);
    const tz_check *leader = check_found(validation, "gdal.leader", TZ_CHECK_OUTCOME_FAIL);
    assert_int_equal(leader->findings[0].level, 1);
    assert_int_equal(leader->findings[0].tile, 3);
    assert_int_equal(leader->findings[0].found, 1);
    check_found(validation, "geotiff.directory", TZ_CHECK_OUTCOME_FAIL);
    check_found(validation, "geotiff.crs", TZ_CHECK_OUTCOME_FAIL);
    check_found(validation, "gdal.overview-sizes", TZ_CHECK_OUTCOME_FAIL);
    check_found(validation, "gdal.nodata", TZ_CHECK_OUTCOME_WARNING);
    /* the masks are after the images, not between their tiles: more findings than are kept */
    const tz_check *masks = check_found(validation, "gdal.mask-adjacent", TZ_CHECK_OUTCOME_FAIL);
    assert_true(masks->count > masks->finding_count);
    assert_int_equal(masks->finding_count, 4);
    assert_int_equal(masks->findings[0].mask, 1);
    assert_int_equal(masks->findings[0].level, 0);
    assert_int_equal(spans->findings[0].mask, 0);
    /* opened without sidecars, nobody looked for overviews beside the file */
    assert_non_null(
        check_found(validation, "gdal.external-overviews", TZ_CHECK_OUTCOME_NOT_APPLICABLE)->note);
    tz_validation_free(validation);
    tz_close(file);
    tb_free(b);
}

/* Leaders are little-endian in files of either byte order. */
static void l04_good_files_of_every_form(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        tb_ghost(b, TB_GHOST_COG);
        b->leaders = true;
        int image = tb_image(b, &(tb_spec){.width = 1024,
                                           .height = 1024,
                                           .tile_width = 512,
                                           .tile_height = 512,
                                           .tile_bytes = 512 * 512});
        tb_georeference(b, image, 32633);
        tb_overview(b, image, 512, 512);
        tb_finish(b);
        tz_file *file = tf_open(b);
        const tz_validate_options options = all_tiles();
        tz_validation *validation = NULL;
        assert_int_equal(tz_validate_file(&validation, file, &options, NULL), TZ_OK);
        for (uint32_t i = 0; i < validation->check_count; i++) {
            const tz_check *check = tz_validation_get_check(validation, i);
            if (check->outcome >= TZ_CHECK_OUTCOME_WARNING &&
                strcmp(check->id, "cog.bigtiff") != 0 &&
                strcmp(check->id, "cog.tables") != 0) /* the builder has values where it likes */
                fail_msg("%s: %s", check->id, check->findings[0].message);
        }
        assert_int_equal(validation->tiles_decoded, 5);
        assert_true(validation->valid);
        tz_validation_free(validation);
        tz_close(file);
        tb_free(b);
    }
}

static void values_of_tags(void **state)
{
    (void)state;
    FORMATS(f)
    {
        tb *b = tb_new(f);
        int image = tb_gray(b, 20, 20);
        const uint64_t none[] = {72, 0};
        tb_set(b, image, 282, TZ_TYPE_RATIONAL, none, 2);
        TB_SHORTS(b, image, TZ_TAG_ORIENTATION, 9);
        tb_set_text(b, image, 306, "yesterday");
        tb_finish(b);
        tz_file *file = tf_open(b);
        tz_validation *validation = NULL;
        assert_int_equal(tz_validate_file(&validation, file, NULL, NULL), TZ_OK);
        const tz_check *values =
            check_found(validation, "tiff.tag-values", TZ_CHECK_OUTCOME_WARNING);
        assert_int_equal(values->count, 2);
        assert_int_equal(values->findings[0].tag, 282);
        assert_int_equal(values->findings[1].tag, TZ_TAG_ORIENTATION);
        assert_int_equal(values->findings[1].found, 9);
        const tz_check *text = check_found(validation, "tiff.text", TZ_CHECK_OUTCOME_WARNING);
        assert_int_equal(text->findings[0].tag, 306);
        assert_int_equal(text->findings[0].expected, 20);
        tz_validation_free(validation);
        tz_close(file);
        tb_free(b);
    }
}

/* Two bands of 4 x 4 tiles, stored tile by tile, or in another order than is declared. */
static tb *by_tile(const char *ghost, const char *metadata)
{
    enum { PLACES = 16, BANDS = 2 };
    uint64_t offsets[PLACES * BANDS];
    tb *b = tb_new(TB_CLASSIC);
    tb_ghost(b, ghost);
    b->leaders = true;
    int image = tb_image(b, &(tb_spec){.width = 64,
                                       .height = 64,
                                       .tile_width = 16,
                                       .tile_height = 16,
                                       .samples = BANDS,
                                       .planar = 2});
    if (metadata)
        tb_set_text(b, image, TZ_TAG_GDAL_METADATA, metadata);
    tb_finish(b);
    for (uint64_t i = 0; i < PLACES * BANDS; i++)
        offsets[i] = tb_tile_at(b, image, i);
    for (uint64_t i = 0; i < PLACES * BANDS; i++)
        tb_patch_tile(b, image, i, offsets[i % PLACES * BANDS + i / PLACES],
                      tb_tile_size(b, image, i));
    return b;
}

static tz_check_outcome order_of(tb *b)
{
    const tz_validate_options options = all_tiles();
    tz_file *file = tf_open(b);
    tz_validation *validation = NULL;
    assert_int_equal(tz_validate_file(&validation, file, &options, NULL), TZ_OK);
    const tz_check_outcome outcome = find_check(validation, "gdal.block-order")->outcome;
    check_found(validation, "gdal.leader", TZ_CHECK_OUTCOME_PASS);
    tz_validation_free(validation);
    tz_close(file);
    tb_free(b);
    return outcome;
}

static void l08_tiles_stored_by_tile(void **state)
{
    (void)state;
    const char *item = "<GDALMetadata><Item name=\"INTERLEAVE\" domain=\"IMAGE_STRUCTURE\">TILE"
                       "</Item></GDALMetadata>";
    assert_int_equal(order_of(by_tile(TB_GHOST_COG "INTERLEAVE=TILE\n", NULL)),
                     TZ_CHECK_OUTCOME_PASS);
    /* so GDAL 3.12 */
    assert_int_equal(order_of(by_tile(TB_GHOST_COG "INTERLEAVE=BAND\n", item)),
                     TZ_CHECK_OUTCOME_PASS);
    if (tz_build_feature("expat"))
        assert_int_equal(order_of(by_tile(TB_GHOST_COG "INTERLEAVE=BAND\n", NULL)),
                         TZ_CHECK_OUTCOME_FAIL);
}

static void verdict_and_strictness(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    tb_gray(b, 20, 20);
    tb_finish(b);
    tz_file *file = tf_open(b);
    tz_validate_options options = TZ_VALIDATE_OPTIONS_INIT;
    tz_validation *validation = NULL;
    assert_int_equal(tz_validate_file(&validation, file, NULL, NULL), TZ_OK);
    assert_true(validation->valid);
    assert_int_equal(tz_validation_get_class(validation, TZ_CHECK_CLASS_COG),
                     TZ_CHECK_OUTCOME_FAIL);
    assert_int_equal(tz_validation_get_class(validation, TZ_CHECK_CLASS_GEOTIFF),
                     TZ_CHECK_OUTCOME_NOT_APPLICABLE);
    tz_validation_free(validation);
    options.strict = true;
    assert_int_equal(tz_validate_file(&validation, file, &options, NULL), TZ_OK);
    assert_false(validation->valid);
    tz_validation_free(validation);
    tz_close(file);
    tb_free(b);
}

static void every_check_has_words(void **state)
{
    (void)state;
    tb *b = rich();
    tz_file *file = tf_open(b);
    tz_validation *validation = NULL;
    assert_int_equal(tz_validate_file(&validation, file, NULL, NULL), TZ_OK);
    for (uint32_t i = 0; i < validation->check_count; i++) {
        const tz_check *check = tz_validation_get_check(validation, i);
        const char *class_name = tz_check_class_name(check->check_class);
        assert_true(strncmp(check->id, class_name, strlen(class_name)) == 0);
        assert_true(strlen(check->text) > 5);
        assert_true((check->group != NULL) == (check->check_class == TZ_CHECK_CLASS_COG));
        assert_true((check->count > 0) == (check->outcome >= TZ_CHECK_OUTCOME_WARNING));
        assert_true(check->finding_count <= check->count);
        assert_ptr_equal(find_check(validation, check->id), check); /* ids are unique */
        for (uint32_t k = 0; k < check->finding_count; k++)
            assert_true(strlen(check->findings[k].message) > 5);
    }
    assert_null(tz_validation_get_check(validation, validation->check_count));
    assert_null(tz_validation_get_check(validation, UINT32_MAX));
    assert_int_equal(tz_validation_get_class(validation, (tz_check_class)TZ_CHECK_CLASS_COUNT),
                     TZ_CHECK_OUTCOME_NOT_APPLICABLE);
    tz_validation_free(validation);
    tz_close(file);
    tb_free(b);
}

/* ---- what is none of the file's doing ---- */

static void every_allocation_fails(void **state)
{
    (void)state;
    tb *b = rich();
    const tz_validate_options options = all_tiles();
    uint64_t failed = 0;
    tf_warm_up();
    for (uint64_t n = 1;; n++) {
        tz_file *file = tf_open(b);
        tz_validation *validation = NULL;
        tz_error err = {0};
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result = tz_validate_file(&validation, file, &options, &err);
        tz_validation_free(validation);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_true(alloc_hook_kept_nothing(&stats));
        tz_close(file);
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            break;
        }
        /* tile tables can be read without the pages that are kept of them */
        if (result == TZ_OK)
            continue;
        assert_int_equal(result, TZ_ERR_NOMEM);
        assert_int_equal(err.cause, TZ_CAUSE_NOMEM);
        assert_null(validation);
        failed++;
    }
    assert_true(failed > 10);
    tb_free(b);
}

/* The same with a path, and opening. */
static void every_allocation_of_a_path_fails(void **state)
{
    (void)state;
    char path[CHECK_PATH_SIZE];
    tb *b = rich();
    check_path(path, "rich.tif");
    tb_write_file(b, path);
    tb_free(b);
    for (uint64_t n = 1;; n++) {
        tz_validation *validation = NULL;
        tz_error err = {0};
        alloc_hook_install();
        alloc_hook_fail_at(n, true);
        const tz_result result = tz_validate(&validation, path, NULL, &err);
        tz_validation_free(validation);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        if (stats.failures == 0) {
            assert_int_equal(result, TZ_OK);
            assert_true(n > 20);
            break;
        }
        assert_true(result == TZ_OK || (result == TZ_ERR_NOMEM && err.cause == TZ_CAUSE_NOMEM));
    }
    check_remove(path);
}

/* A source whose n-th read fails. */
typedef struct failing_source {
    tz_source source;
    const uint8_t *data;
    uint64_t reads;
    uint64_t fails_at;
} failing_source;

static tz_result failing_submit(tz_source *source, tz_request *request, tz_error *err)
{
    failing_source *self = (failing_source *)(void *)source;
    if (++self->reads == self->fails_at)
        return tz_error_set(err, TZ_ERR_IO, TZ_CAUSE_IO, 0, "no");
    for (size_t i = 0; i < request->count; i++)
        memcpy(request->ranges[i].dst, self->data + request->ranges[i].offset,
               request->ranges[i].size);
    return TZ_OK;
}

static tz_result failing_wait(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)request, (void)err;
    return TZ_OK;
}

static void failing_close(tz_source *source)
{
    (void)source;
}

static void every_read_fails(void **state)
{
    (void)state;
    tb *b = rich();
    const tz_validate_options options = all_tiles();
    failing_source self = {.source = {.struct_size = sizeof(tz_source),
                                      .size = b->size,
                                      .submit = failing_submit,
                                      .wait = failing_wait,
                                      .close = failing_close},
                           .data = b->data};
    tz_validation *validation = NULL;
    tz_file *file = NULL;
    tz_error err;
    uint64_t failed = 0;
    for (uint64_t n = 1;; n++) {
        self.fails_at = 0;
        assert_int_equal(tz_open_source(&file, &self.source, NULL, NULL, &err), TZ_OK);
        self.reads = 0;
        self.fails_at = n;
        const tz_result result = tz_validate_file(&validation, file, &options, &err);
        tz_close(file);
        if (result == TZ_OK) { /* all is read, or the read of a tile that failed was tried again */
            tz_validation_free(validation);
            if (self.reads < n)
                break;
            continue;
        }
        assert_int_equal(result, TZ_ERR_IO);
        assert_int_equal(err.result, TZ_ERR_IO);
        failed++;
    }
    assert_true(failed > 20);
    tb_free(b);
}

static bool stop(void *user, uint64_t done, uint64_t total)
{
    uint64_t *calls = user;
    assert_true(done <= total);
    return (*calls)-- > 0;
}

static void it_can_be_cancelled(void **state)
{
    (void)state;
    tb *b = rich();
    tz_file *file = tf_open(b);
    tz_validate_options options = all_tiles();
    tz_validation *validation = NULL;
    for (uint64_t n = 0;; n++) {
        uint64_t calls = n;
        tz_error err;
        options.progress = (tz_progress){stop, &calls};
        const tz_result result = tz_validate_file(&validation, file, &options, &err);
        if (result == TZ_OK) {
            assert_true(n > 5);
            break;
        }
        assert_int_equal(result, TZ_ERR_CANCELLED);
    }
    tz_validation_free(validation);
    tz_close(file);
    tb_free(b);
}

static void a_file_that_changes_is_noticed(void **state)
{
    (void)state;
    tb *b = rich();
    check_reads reads = {0};
    tz_file *file = NULL;
    tz_validation *validation = NULL;
    tz_error err;
    assert_int_equal(
        tz_open_source(&file, check_source_memory(b->data, b->size, &reads), NULL, NULL, &err),
        TZ_OK);
    reads.changed = true;
    assert_int_equal(tz_validate_file(&validation, file, NULL, &err), TZ_ERR_CHANGED);
    assert_null(validation);
    tz_close(file);
    tb_free(b);
}

/* ---- hostile files ---- */

/* A large grid of tiles that are all the same few bytes: what it costs is bounded by the file. */
static void tiles_that_share_data_cost_little(void **state)
{
    (void)state;
    enum { TILES = 4096 };
    tb *b = tb_new(TB_CLASSIC);
    int image = tb_tiled(b, 64 * 64, 64 * 64, 64);
    tb_finish(b);
    const uint64_t at = tb_tile_at(b, image, 0);
    for (uint64_t i = 0; i < TILES; i++)
        tb_patch_tile(b, image, i, at, 64 * 64);
    tb_truncate(b, (size_t)at);
    tb_extend(b, (size_t)at + 64 * 64);
    tz_file *file = tf_open(b);
    const tz_validate_options options = all_tiles();
    tz_validation *validation = NULL;
    tf_warm_up();
    alloc_hook_install();
    assert_int_equal(tz_validate_file(&validation, file, &options, NULL), TZ_OK);
    const alloc_stats stats = alloc_hook_stats();
    assert_true(validation->tiles == TILES && validation->tiles_decoded < TILES / 4);
    assert_true(find_check(validation, "tiff.overlap")->count >= TILES - 1);
    check_found(validation, "tiff.pixels", TZ_CHECK_OUTCOME_WARNING);
    tz_validation_free(validation);
    alloc_hook_remove();
    assert_true(stats.peak_bytes < 4 << 20);
    tz_close(file);
    tb_free(b);
}

static void sparse_tiles_are_not_decoded(void **state)
{
    (void)state;
    tb *b = tb_new(TB_BIGTIFF);
    int image = tb_tiled(b, 1u << 20, 1u << 10, 1024);
    tb_finish(b);
    for (uint64_t i = 0; i < 1024; i++)
        tb_patch_tile(b, image, i, 0, 0);
    tz_file *file = tf_open(b);
    const tz_validate_options options = all_tiles();
    tz_validation *validation = NULL;
    assert_int_equal(tz_validate_file(&validation, file, &options, NULL), TZ_OK);
    assert_int_equal(validation->tiles, 1024);
    assert_int_equal(validation->tiles_decoded, 0);
    assert_int_not_equal(tz_validation_get_class(validation, TZ_CHECK_CLASS_TIFF),
                         TZ_CHECK_OUTCOME_FAIL);
    tz_validation_free(validation);
    tz_close(file);
    tb_free(b);
}

/* Any single byte of the directories may be anything. */
static void every_byte_may_be_wrong(void **state)
{
    (void)state;
    tb *b = tb_new(TB_CLASSIC);
    tb_ghost(b, TB_GHOST_COG);
    b->leaders = true;
    int image = tb_tiled(b, 64, 64, 16);
    tb_georeference(b, image, 32633);
    tb_overview(b, image, 32, 32);
    tb_mask(b, image);
    tb_finish(b);
    const tz_validate_options options = all_tiles();
    for (size_t at = 0; at < b->size && at < 1200; at++) {
        for (unsigned value = 0; value < 256; value += 255) {
            const uint8_t before = b->data[at];
            tz_file *file = NULL;
            tz_validation *validation = NULL;
            b->data[at] = (uint8_t)value;
            if (tz_open_memory(&file, b->data, b->size, NULL, NULL) == TZ_OK)
                assert_int_equal(tz_validate_file(&validation, file, &options, NULL), TZ_OK);
            tz_validation_free(validation);
            tz_close(file);
            b->data[at] = before;
        }
    }
    tb_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(wrong_arguments),
        CASE(names_of_classes_and_outcomes),
        CASE(findings_have_locations),
        CASE(l04_good_files_of_every_form),
        CASE(values_of_tags),
        CASE(l08_tiles_stored_by_tile),
        CASE(verdict_and_strictness),
        CASE(every_check_has_words),
        CASE(every_allocation_fails),
        CASE(every_allocation_of_a_path_fails),
        CASE(every_read_fails),
        CASE(it_can_be_cancelled),
        CASE(a_file_that_changes_is_noticed),
        CASE(tiles_that_share_data_cost_little),
        CASE(sparse_tiles_are_not_decoded),
        CASE(every_byte_may_be_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
