/* SPDX-License-Identifier: Apache-2.0
 * terrazzo info: options, and the files one by one.
 *
 * gather_facts collects once the facts that need more than tz_info (metadata in order, ends of
 * tiles, COG structure, CRS by PROJ); page and JSON then read the same info_file. A defect that
 * shows up on the way is kept as a warning of the file, so that one damaged tag does not hide the
 * rest; in strict mode it fails the command. */
#include "info.h"

#include <string.h>

#include "limits.h"
#include "problem.h"
#include "sidecars.h"
#include "terminal.h"

/* Options -------------------------------------------------------------------------------------- */

enum { TILES = 1, TAGS, LIMITS, REQUIRE_CRS, NO_CRS };

/* clang-format off */
static const cli_option info_options[] = {
    {"json", 0, COMMON_JSON, NULL, "as JSON: gdalinfo's keys, and ours under \"terrazzo\";\n"
                            "several files make an array"},
    {"tiles", 0, TILES, NULL, "also every tile: position, offset and size"},
    {"tags", 0, TAGS, NULL, "also every tag of every level, with its first values"},
    {"require-crs", 0, REQUIRE_CRS, NULL, "no usable coordinate reference system is an error"},
    {"no-crs", 0, NO_CRS, NULL, "do not ask PROJ for names and longitudes"},
    {"limits", 0, LIMITS, NULL, "also the limits in force; needs no FILE"},
    OPENING_OPTIONS,
    COMMON_OPTIONS
};
/* clang-format on */

static int run_info(int argc, char **argv);

const cli_command info_command = {
    .name = "info",
    .arguments = "FILE...",
    .summary = "reports everything about a GeoTIFF, or what is wrong with it",
    .examples = "terrazzo info elevation.tif\ta page about the file\n"
                "terrazzo info --json a.tif | jq .size\tfor scripts, with gdalinfo's keys\n"
                "terrazzo info --tiles a.tif\twhere every tile is\n"
                "terrazzo info --strict *.tif\texit code 1 if any has a defect\n"
                "terrazzo info --limits\tthe limits for hostile files",
    .options = info_options,
    .run = run_info,
};

static bool apply_info_option(void *user, int id, const char *value)
{
    info_settings *settings = user;
    (void)value;
    switch (id) {
    case TILES:
        settings->tiles = true;
        break;
    case TAGS:
        settings->tags = true;
        break;
    case LIMITS:
        settings->limits = true;
        break;
    case REQUIRE_CRS:
        settings->common.open.require_crs = true;
        break;
    default: /* NO_CRS */
        settings->no_crs = true;
        break;
    }
    return true;
}

/* One file ------------------------------------------------------------------------------------- */

static bool is_known(const info_file *f, const tz_error *err)
{
    for (unsigned i = 0; i < f->problem_count; i++) {
        if (strcmp(f->problems[i].message, err->message) == 0)
            return true;
    }
    const tz_error *warning;
    for (uint32_t i = 0; (warning = tz_file_get_warning(f->file, i)) != NULL; i++) {
        if (strcmp(warning->message, err->message) == 0)
            return true;
    }
    return false;
}

static bool is_defect(const tz_error *err)
{
    return err->result == TZ_ERR_FORMAT || err->result == TZ_ERR_UNSUPPORTED ||
           err->result == TZ_ERR_LIMIT;
}

void info_problem(info_file *f, const tz_error *err, bool fatal)
{
    fatal = fatal || f->settings->common.open.strict || !is_defect(err);
    f->failed = f->failed || fatal;
    if (f->problem_count == INFO_MAX_PROBLEMS || is_known(f, err))
        return;
    f->fatal[f->problem_count] = fatal;
    f->problems[f->problem_count++] = *err;
}

/* Facts that need more than tz_info. */
static void gather_facts(info_file *f)
{
    tz_error err;
    if (meta_open(&f->metadata, f->file) != TZ_OK) {
        problem_nomem(&err, "the list of metadata");
        info_problem(f, &err, true);
    }
    for (uint32_t i = 0; i < 2 * f->info->level_count; i++) {
        const bool mask = i % 2 != 0;
        if (info_level(f, i / 2, mask) != NULL &&
            tz_level_check_end(f->file, i / 2, mask, &err) != TZ_OK)
            info_problem(f, &err, false);
    }
    f->cog_known = tz_file_get_cog_problems(&f->cog_problems, f->file, &err) == TZ_OK;
    if (!f->cog_known)
        info_problem(f, &err, false);
    if (f->settings->no_crs || !f->info->geo->has_crs || tz_build_feature("proj") == NULL)
        return;
    if (tz_crs_from_file(&f->crs, f->file, &err) != TZ_OK)
        info_problem(f, &err, f->settings->common.open.require_crs);
    else
        crs_read_axes(&f->axes, tz_crs_get_wkt(f->crs));
}

static void print_problems(const info_file *f)
{
    problem_print_warnings(f->file);
    for (unsigned i = 0; i < f->problem_count; i++) {
        if (f->fatal[i])
            term_error(f->problems[i].message);
        else
            term_warning(f->problems[i].message, 1);
    }
}

static int show_file(const info_settings *settings, const char *path, json *j)
{
    static info_file f; /* too large for a small stack */
    tz_error err;
    f = (info_file){.settings = settings, .path = path};
    if (tz_open(&f.file, path, &settings->common.open, &err) != TZ_OK) {
        if (settings->common.json)
            info_write_error(j, &err, path);
        term_error(err.message);
        return EXIT_FAILED;
    }
    f.info = tz_file_get_info(f.file);
    gather_facts(&f);
    if (settings->common.json)
        info_write_json(j, &f);
    else
        info_print_page(&f);
    print_problems(&f);
    sidecars_note(path, f.file, settings->common.open.sidecars);
    tz_crs_close(f.crs);
    meta_close(&f.metadata);
    tz_close(f.file);
    return f.failed ? EXIT_FAILED : EXIT_OK;
}

/* The command ---------------------------------------------------------------------------------- */

static int show_limits(const info_settings *settings)
{
    if (!settings->common.json) {
        limits_print(&settings->common.limits);
        return EXIT_OK;
    }
    json j;
    json_open(&j, stdout);
    json_object(&j, NULL);
    limits_write(&j, &settings->common.limits);
    json_object_end(&j);
    json_close(&j);
    return EXIT_OK;
}

static int show_pages(const info_settings *settings, int count, char **files)
{
    int status = EXIT_OK;
    for (int i = 0; i < count && !term_is_broken(); i++) {
        if (i > 0)
            putchar('\n');
        if (show_file(settings, files[i], NULL) != EXIT_OK)
            status = EXIT_FAILED;
    }
    if (settings->limits) {
        putchar('\n');
        limits_print(&settings->common.limits);
    }
    return status;
}

static int show_json(const info_settings *settings, int count, char **files)
{
    int status = EXIT_OK;
    json j;
    json_open(&j, stdout);
    if (count > 1)
        json_array(&j, NULL);
    for (int i = 0; i < count && !term_is_broken(); i++) {
        if (show_file(settings, files[i], &j) != EXIT_OK)
            status = EXIT_FAILED;
    }
    if (count > 1)
        json_array_end(&j);
    json_close(&j);
    return status;
}

static int run_info(int argc, char **argv)
{
    info_settings settings = {.common = {.open = TZ_OPEN_OPTIONS_INIT}};
    int status;
    int count = common_parse(&info_command, argc, argv, &settings.common, apply_info_option,
                             &settings, &status);
    if (count < 0)
        return status;
    if (count == 0 && settings.limits)
        return show_limits(&settings);
    if (count == 0)
        return common_wrong_operands(&info_command, "no FILE given", NULL);
    return settings.common.json ? show_json(&settings, count, argv)
                                : show_pages(&settings, count, argv);
}
