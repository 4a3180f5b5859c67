/* SPDX-License-Identifier: Apache-2.0
 * The validation: every check of every class, one after the other, and the verdict; and the quick
 * look that answers if a file is a Cloud Optimized GeoTIFF.
 *
 * A validation reads the directories once, counts the tiles to visit, and runs the tables of
 * checks. Its result and all findings live in one arena. A file that does not open is validated
 * too: checks marked TZ_RUNS_UNOPENED judge the error. The quick look runs only the checks that
 * have a TZ_COG_ bit; they need directories and a few tiles, and their findings are counted, not
 * described. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "io/source.h"
#include "tiff/tags.h"
#include "validate/checker.h"

/* A tz_validation and its memory. The caller has the address of the result, which is first, so that
 * tz_validation_free finds the rest. */
typedef struct validation_holder {
    tz_validation result;
    tz_check *checks; /* class by class */
    tz_check_outcome classes[TZ_CHECK_CLASS_COUNT];
    tz_arena arena;
} validation_holder;

/* The classes in the order of a report. */
static const tz_check_list *const check_lists[TZ_CHECK_CLASS_COUNT] = {
    [TZ_CHECK_CLASS_TIFF] = &tz_tiff_checks,
    [TZ_CHECK_CLASS_GEOTIFF] = &tz_geotiff_checks,
    [TZ_CHECK_CLASS_COG] = &tz_cog_checks,
    [TZ_CHECK_CLASS_GDAL] = &tz_gdal_checks,
};

const char *tz_check_class_name(tz_check_class which)
{
    static const char *const names[TZ_CHECK_CLASS_COUNT] = {"tiff", "geotiff", "cog", "gdal"};
    return (unsigned)which < TZ_CHECK_CLASS_COUNT ? names[which] : "unknown";
}

const char *tz_check_outcome_name(tz_check_outcome outcome)
{
    static const char *const names[] = {"not_applicable", "pass", "warning", "fail"};
    return (unsigned)outcome < sizeof names / sizeof names[0] ? names[outcome] : "unknown";
}

/* ---- the checks and the verdict ---- */

/* Reads the directories of the file itself, and counts tiles: those that checks visit, and the
 * total of the progress. */
static tz_result prepare_checks(tz_checker *checker)
{
    const uint32_t count = tz_checker_layer_count(checker);
    tz_reader reader = tz_reader_direct(&checker->file->containers[0]);
    tz_checked_layer at = {0};
    tz_checked_ifd *directories = tz_arena_array(checker->arena, count, sizeof *directories);
    if (!directories)
        return tz_fail_nomem(&checker->ctx, count * sizeof *directories);
    checker->directories = directories;
    while (tz_checker_next(checker, TZ_LAYER_ALL, &at)) {
        const tz_level *shape = &at.layer.shape;
        tz_checked_ifd *ifd = &directories[at.number];
        if (!shape->sidecar) {
            ifd->start = shape->ifd_offset;
            TZ_TRY(tz_ifd_read_entries(&reader, ifd->start, checker->arena, &checker->ctx,
                                       &ifd->entries, &ifd->count, &ifd->end));
        }
        if (tz_layer_has_tables(&at.layer)) {
            const uint64_t sample = tz_checker_sample_size(checker, shape->tile_count);
            checker->tiles = tz_add_capped(checker->tiles, shape->tile_count);
            checker->tiles_looked_at = tz_add_capped(checker->tiles_looked_at, sample);
        }
    }
    for (size_t i = 0; i < TZ_CHECK_CLASS_COUNT; i++)
        for (size_t k = 0; k < check_lists[i]->count; k++)
            if (check_lists[i]->rows[k].flags & TZ_SCANS_TILES)
                checker->total = tz_add_capped(checker->total, checker->tiles_looked_at);
    return TZ_OK;
}

/* Runs all checks. A file is valid if TIFF and the layout of GDAL do not fail; in strict mode, if
 * no class has as much as a warning. A source that changed meanwhile makes the findings void: it
 * fails. */
static tz_result run_validation(tz_checker *checker, validation_holder *holder)
{
    tz_validation *out = &holder->result;
    tz_check_outcome *classes = holder->classes;
    uint32_t count = 0;
    if (checker->file)
        TZ_TRY(prepare_checks(checker));
    for (size_t i = 0; i < TZ_CHECK_CLASS_COUNT; i++)
        count += (uint32_t)check_lists[i]->count;
    tz_check *checks = tz_arena_array(checker->arena, count, sizeof *checks);
    if (!checks)
        return tz_fail_nomem(&checker->ctx, count * sizeof *checks);
    holder->checks = checks;
    for (unsigned i = 0; i < TZ_CHECK_CLASS_COUNT; i++) {
        for (size_t k = 0; k < check_lists[i]->count; k++) {
            tz_check *check = &checks[out->check_count++];
            check->check_class = (tz_check_class)i;
            TZ_TRY(tz_checker_run(checker, &check_lists[i]->rows[k], check));
            if (check->outcome >= TZ_CHECK_OUTCOME_WARNING && check->finding_count > 0)
                tz_log_line(&checker->options->log, TZ_LOG_LEVEL_WARNING, "%s: %s", check->id,
                            check->findings[0].message);
            if (classes[i] < check->outcome)
                classes[i] = check->outcome;
        }
    }
    checker->ctx.ifd = -1;
    for (unsigned i = 0; checker->file && i < checker->file->container_count; i++)
        TZ_TRY(tz_source_check(checker->file->containers[i].source, &checker->ctx));
    out->tiles = checker->tiles;
    out->tiles_looked_at = checker->tiles_looked_at;
    out->tiles_decoded = checker->tiles_decoded;
    tz_log_line(&checker->options->log, TZ_LOG_LEVEL_DEBUG,
                "%u checks looked at %llu of %llu tiles and decoded %llu", out->check_count,
                (unsigned long long)out->tiles_looked_at, (unsigned long long)out->tiles,
                (unsigned long long)out->tiles_decoded);
    out->valid = classes[TZ_CHECK_CLASS_TIFF] != TZ_CHECK_OUTCOME_FAIL &&
                 classes[TZ_CHECK_CLASS_GDAL] != TZ_CHECK_OUTCOME_FAIL;
    for (unsigned i = 0; out->strict && i < TZ_CHECK_CLASS_COUNT; i++)
        out->valid = out->valid && classes[i] < TZ_CHECK_OUTCOME_WARNING;
    return TZ_OK;
}

/* Allocates a validation and runs it; nothing is left of it on failure. */
static tz_result create_validation(tz_validation **out, tz_checker *checker)
{
    validation_holder *holder = tz_alloc_zeroed(1, sizeof *holder);
    if (!holder)
        return tz_fail_nomem(&checker->ctx, sizeof *holder);
    checker->arena = &holder->arena;
    holder->result.strict = checker->options->strict;
    holder->result.full = checker->options->full;
    holder->result.opened = checker->file != NULL;
    const tz_result result = run_validation(checker, holder);
    if (result != TZ_OK) {
        tz_validation_free(&holder->result);
        return result;
    }
    *out = &holder->result;
    return TZ_OK;
}

tz_check_outcome tz_validation_get_class(const tz_validation *validation,
                                         tz_check_class check_class)
{
    const validation_holder *holder = (const validation_holder *)(const void *)validation;
    return (unsigned)check_class < TZ_CHECK_CLASS_COUNT ? holder->classes[check_class]
                                                        : TZ_CHECK_OUTCOME_NOT_APPLICABLE;
}

const tz_check *tz_validation_get_check(const tz_validation *validation, uint32_t index)
{
    const validation_holder *holder = (const validation_holder *)(const void *)validation;
    return index < validation->check_count ? &holder->checks[index] : NULL;
}

void tz_validation_free(tz_validation *result)
{
    if (!result)
        return;
    validation_holder *whole = (validation_holder *)(void *)result;
    tz_arena_deinit(&whole->arena);
    tz_free(whole);
}

/* ---- the calls ---- */

/* Options of the caller, which may be of an older and shorter struct, with the limits that they
 * point to. */
typedef struct validate_settings {
    tz_validate_options options;
    tz_limits limits;
} validate_settings;

static tz_result copy_validate_options(validate_settings *out, const tz_validate_options *given,
                                       const tz_context *ctx)
{
    out->options = (tz_validate_options)TZ_VALIDATE_OPTIONS_INIT;
    TZ_TRY(tz_copy_struct(&out->options, sizeof out->options, given, "options",
                          "TZ_VALIDATE_OPTIONS_INIT", ctx));
    TZ_TRY(tz_limits_copy(&out->limits, out->options.limits, "options->limits", ctx));
    out->options.limits = &out->limits;
    return TZ_OK;
}

/* sidecar_error is an error of NAME.ovr, or NULL. */
static tz_result validate_opened(tz_validation **out, const tz_file *file,
                                 const tz_validate_options *options, const tz_error *sidecar_error,
                                 tz_error *err)
{
    tz_checker checker = {.file = file,
                          .info = &file->info,
                          .sidecar_error = sidecar_error,
                          .options = options,
                          .ctx = tz_file_context(file, err)};
    return create_validation(out, &checker);
}

tz_result tz_validate_file(tz_validation **out, const tz_file *file,
                           const tz_validate_options *options, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    validate_settings copied;
    if (!out || !file)
        return TZ_FAIL_ARG(&ctx, "out and file must not be NULL");
    TZ_TRY(copy_validate_options(&copied, options, &ctx));
    return validate_opened(out, file, &copied.options, NULL, err);
}

/* True if the file is the reason why it did not open. An unsafe path is not a property of the file.
 */
static bool is_open_defect(const tz_error *failed)
{
    return tz_is_file_defect(failed->result) && failed->cause != TZ_CAUSE_UNSAFE;
}

/* Opens the file with its overviews, or without them if they are the reason why it does not open.
 */
static tz_result open_with_overviews(tz_file **file, const char *path,
                                     const tz_validate_options *options, tz_error *sidecar,
                                     tz_error *failed)
{
    tz_open_options opening = TZ_OPEN_OPTIONS_INIT;
    opening.page = options->page;
    opening.limits = options->limits;
    opening.sidecars = TZ_SIDECAR_OVR;
    opening.log = options->log;
    *sidecar = (tz_error){.result = TZ_OK};
    if (tz_open(file, path, &opening, failed) == TZ_OK)
        return TZ_OK;
    if (is_open_defect(failed) || failed->result == TZ_ERR_NOMEM)
        return failed->result;
    *sidecar = *failed;
    opening.sidecars = 0;
    return tz_open(file, path, &opening, failed);
}

tz_result tz_validate(tz_validation **out, const char *path, const tz_validate_options *options,
                      tz_error *err)
{
    const tz_context ctx = {.name = path, .err = err, .ifd = -1};
    validate_settings copied;
    tz_file *file = NULL;
    tz_error sidecar;
    tz_error failed;
    if (!out || !path)
        return TZ_FAIL_ARG(&ctx, "out and path must not be NULL");
    TZ_TRY(copy_validate_options(&copied, options, &ctx));
    if (open_with_overviews(&file, path, &copied.options, &sidecar, &failed) != TZ_OK) {
        tz_checker checker = {.open_error = &failed, .options = &copied.options, .ctx = ctx};
        if (is_open_defect(&failed))
            return create_validation(out, &checker);
        if (err)
            *err = failed;
        return failed.result;
    }
    const tz_result result =
        validate_opened(out, file, &copied.options, sidecar.result != TZ_OK ? &sidecar : NULL, err);
    tz_close(file);
    return result;
}

/* ---- the quick look ---- */

const char *tz_cog_problem_text(uint32_t problem)
{
    static const struct {
        uint32_t bit;
        const char *text;
    } texts[] = {
        {TZ_COG_PROBLEM_NOT_TILED, "a level of more than 512 pixels is stored in strips"},
        {TZ_COG_PROBLEM_NO_OVERVIEWS, "larger than 512 pixels, but without overviews"},
        {TZ_COG_PROBLEM_IFD_NOT_FIRST, "the first directory is not at the front of the file"},
        {TZ_COG_PROBLEM_IFD_ORDER, "the directories are not in the order of their levels"},
        {TZ_COG_PROBLEM_DATA_BEFORE_IFDS, "tile data comes before the end of the directories"},
        {TZ_COG_PROBLEM_DATA_ORDER,
         "tile data is not in order from the smallest level to the largest"},
        {TZ_COG_PROBLEM_EDITED, "the file was edited after it was written as a COG"},
        {TZ_COG_PROBLEM_EXTERNAL_OVERVIEWS, "overviews are in another file"},
        {TZ_COG_PROBLEM_NOT_GEOREFERENCED, "not georeferenced"},
        {TZ_COG_PROBLEM_TRUNCATED, "the file was cut off: tiles or directories lie past its end"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].bit == problem)
            return texts[i].text;
    return "unknown";
}

/* True if the file ends before a directory or a tile table. In a validation, tiff.chain and
 * tiff.tag-data find that. */
static bool has_truncated_ifds(tz_checker *checker)
{
    const tz_info *info = checker->info;
    bool lost = !info->chain_complete;
    tz_checked_layer at = {0};
    while (tz_checker_next(checker, TZ_LAYER_ALL | TZ_LAYER_OWN, &at))
        lost = lost || !tz_layer_has_tables(&at.layer);
    for (uint32_t i = 0; lost && i < info->warning_count; i++)
        if (checker->file->warnings.list[i].cause == TZ_CAUSE_TRUNCATED)
            return true;
    return false;
}

/* Only the file itself is checked for changes: sidecars are not looked at. */
tz_result tz_file_get_cog_problems(uint32_t *problems, const tz_file *file, tz_error *err)
{
    const tz_validate_options options = TZ_VALIDATE_OPTIONS_INIT;
    tz_checker checker = {
        .file = file, .info = &file->info, .options = &options, .ctx = tz_file_context(file, err)};
    uint32_t found = 0;
    for (size_t i = 0; i < TZ_CHECK_CLASS_COUNT; i++) {
        for (size_t k = 0; k < check_lists[i]->count; k++) {
            const tz_check_row *row = &check_lists[i]->rows[k];
            tz_check check = {0};
            if (row->cog_problem == 0)
                continue;
            TZ_TRY(tz_checker_run(&checker, row, &check));
            if (check.count > 0)
                found |= row->cog_problem;
        }
    }
    if (has_truncated_ifds(&checker))
        found |= TZ_COG_PROBLEM_TRUNCATED;
    checker.ctx.ifd = -1;
    TZ_TRY(tz_source_check(file->containers[0].source, &checker.ctx));
    *problems = found;
    return TZ_OK;
}
