/* SPDX-License-Identifier: Apache-2.0
 * Is it a Cloud Optimized GeoTIFF? The quick look: those checks of the validation that need
 * directories, first and last tiles alone, counted and not described. */
#include <stddef.h>

#include "io/source.h"
#include "validate/checker.h"

typedef struct problem_text {
    uint32_t bit;
    const char *text;
} problem_text;

static const problem_text problem_texts[] = {
    {TZ_COG_NOT_TILED, "a level of more than 512 pixels is stored in strips"},
    {TZ_COG_NO_OVERVIEWS, "larger than 512 pixels, but without overviews"},
    {TZ_COG_IFD_NOT_FIRST, "the first directory is not at the front of the file"},
    {TZ_COG_IFD_ORDER, "the directories are not in the order of their levels"},
    {TZ_COG_DATA_BEFORE_IFDS, "tile data comes before the end of the directories"},
    {TZ_COG_DATA_ORDER, "tile data is not in order from the smallest level to the largest"},
    {TZ_COG_EDITED, "the file was edited after it was written as a COG"},
    {TZ_COG_EXTERNAL_OVERVIEWS, "overviews are in another file"},
    {TZ_COG_NOT_GEOREFERENCED, "not georeferenced"},
    {TZ_COG_TRUNCATED, "the file was cut off: tiles or directories lie past its end"},
};

const char *tz_cog_problem_text(uint32_t problem)
{
    for (size_t i = 0; i < sizeof problem_texts / sizeof problem_texts[0]; i++) {
        if (problem_texts[i].bit == problem)
            return problem_texts[i].text;
    }
    return "unknown";
}

static tz_result run_cog_checks(tz_checker *checker, const tz_check_list *list, uint32_t *problems)
{
    for (size_t i = 0; i < list->count; i++) {
        tz_check check = {0};
        if (list->rows[i].cog_problem == 0)
            continue;
        TZ_TRY(tz_checker_run(checker, &list->rows[i], &check));
        if (check.count > 0)
            *problems |= list->rows[i].cog_problem;
    }
    return TZ_OK;
}

/* Whether the file ends before a directory or a tile table, which the checks tiff.chain and
 * tiff.tag-data of a validation find. */
static bool has_truncated_ifds(tz_checker *checker)
{
    const tz_info *info = checker->info;
    bool lost = !info->chain_complete;
    for (uint32_t i = 0; i < tz_checker_layer_count(checker); i++) {
        tz_layer layer;
        uint32_t level;
        lost = lost ||
               (tz_checker_own_layer(checker, i, &layer, &level) && !tz_layer_has_tables(&layer));
    }
    for (uint32_t i = 0; lost && i < info->warning_count; i++)
        if (info->warnings[i].cause == TZ_CAUSE_TRUNCATED)
            return true;
    return false;
}

tz_result tz_cog_problems(const tz_file *file, uint32_t *problems, tz_error *err)
{
    const tz_validate_options options = TZ_VALIDATE_OPTIONS_INIT;
    tz_checker checker = {
        .file = file, .info = &file->info, .options = &options, .ctx = tz_file_context(file, err)};
    uint32_t found = 0;
    TZ_TRY(run_cog_checks(&checker, &tz_tiff_checks, &found));
    TZ_TRY(run_cog_checks(&checker, &tz_gdal_checks, &found));
    TZ_TRY(run_cog_checks(&checker, &tz_cog_checks, &found));
    if (has_truncated_ifds(&checker))
        found |= TZ_COG_TRUNCATED;
    checker.ctx.ifd = -1;
    TZ_TRY(tz_source_check(file->containers[0].source, &checker.ctx));
    *problems = found;
    return TZ_OK;
}
