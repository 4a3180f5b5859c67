/* SPDX-License-Identifier: Apache-2.0 */
#include "info.h"

#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "terminal.h"

/* Options -------------------------------------------------------------------------------------- */

enum { JSON = 1, TILES, TAGS, LIMITS, LIMIT, STRICT, REQUIRE_CRS, PAGE, SIDECARS, NO_CRS };

/* clang-format off */
static const cli_option info_options[] = {
    {"json", 0, JSON, NULL, "as JSON: gdalinfo's keys, and ours under \"terrazzo\";\n"
                            "several files make an array"},
    {"tiles", 0, TILES, NULL, "also every tile: place, offset and size"},
    {"tags", 0, TAGS, NULL, "also every tag of every level, with its first values"},
    {"page", 0, PAGE, "N", "show the N-th full-resolution image; 0 is the first"},
    {"sidecars", 0, SIDECARS, NULL, "use FILE.ovr and FILE.msk"},
    {"strict", 0, STRICT, NULL, "every warning is an error"},
    {"require-crs", 0, REQUIRE_CRS, NULL, "no usable coordinate reference system is an error"},
    {"no-crs", 0, NO_CRS, NULL, "do not ask PROJ for names and longitudes"},
    {"limits", 0, LIMITS, NULL, "also the limits in force; needs no FILE"},
    {"limit", 0, LIMIT, "NAME=VALUE", "set a limit; K, M, G, T: each 1024 times the one before,\n"
                                      "0 or off is no limit"},
    COMMON_OPTIONS
};
/* clang-format on */

static int run(int argc, char **argv);

const cli_command info_command = {
    .name = "info",
    .arguments = "FILE...",
    .summary = "tells everything about a GeoTIFF, or what is wrong with it",
    .examples = "terrazzo info elevation.tif\ta page about the file\n"
                "terrazzo info --json a.tif | jq .size\tfor scripts, with gdalinfo's keys\n"
                "terrazzo info --tiles a.tif\twhere every tile is\n"
                "terrazzo info --strict *.tif\texit code 1 if any has a defect\n"
                "terrazzo info --limits\tthe limits for hostile files",
    .options = info_options,
    .run = run,
};

static bool set_page(tz_open_options *open, const char *text)
{
    char *end = NULL;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value >= UINT32_MAX) {
        term_usage("--page needs a number from 0 on, not", text, "");
        return false;
    }
    open->page = (uint32_t)value;
    return true;
}

static bool set_color(const char *text)
{
    if (term_set_color(text))
        return true;
    term_usage("--color is auto, always or never, not", text, "");
    return false;
}

static bool apply_common(info_settings *settings, int id, const char *value)
{
    if (id == OPTION_COLOR)
        return set_color(value);
    if (id == OPTION_QUIET)
        term_set_quiet();
    else if (id == OPTION_VERBOSE)
        settings->verbose = true;
    return true;
}

/* false when the value is wrong; then a message was printed. */
static bool apply(info_settings *settings, int id, const char *value)
{
    switch (id) {
    case JSON:
        settings->json = true;
        return true;
    case TILES:
        settings->tiles = true;
        return true;
    case TAGS:
        settings->tags = true;
        return true;
    case LIMITS:
        settings->limits = true;
        return true;
    case LIMIT:
        return limits_set(&settings->open.limits, value);
    case STRICT:
        settings->open.strict = true;
        return true;
    case REQUIRE_CRS:
        settings->open.require_crs = true;
        return true;
    case PAGE:
        return set_page(&settings->open, value);
    case SIDECARS:
        settings->open.sidecars = TZ_SIDECAR_OVR | TZ_SIDECAR_MSK;
        return true;
    case NO_CRS:
        settings->no_crs = true;
        return true;
    default:
        return apply_common(settings, id, value);
    }
}

/* The number of files, or -1 when it ends here with *status. */
static int parse(info_settings *settings, int argc, char **argv, int *status)
{
    option_parser parser;
    option_start(&parser, &info_command, argc, argv);
    bool help = false;
    int id;
    while ((id = option_next(&parser)) != OPTION_END) {
        if (id == OPTION_WRONG || !apply(settings, id, parser.value)) {
            *status = option_hint(&info_command);
            return -1;
        }
        help = help || id == OPTION_HELP;
    }
    if (help)
        option_print_help(&info_command);
    *status = help ? EXIT_OK : EXIT_USAGE;
    return help ? -1 : parser.operand_count;
}

/* One file ------------------------------------------------------------------------------------- */

static bool is_known(const info_file *f, const tz_error *err)
{
    for (unsigned i = 0; i < f->problem_count; i++) {
        if (strcmp(f->problems[i].message, err->message) == 0)
            return true;
    }
    for (uint32_t i = 0; i < f->info->warning_count; i++) {
        if (strcmp(f->info->warnings[i].message, err->message) == 0)
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
    fatal = fatal || f->settings->open.strict || !is_defect(err);
    f->failed = f->failed || fatal;
    if (f->problem_count == INFO_MAX_PROBLEMS || is_known(f, err))
        return;
    f->fatal[f->problem_count] = fatal;
    f->problems[f->problem_count++] = *err;
}

/* What takes a further look beyond tz_info. */
static void gather(info_file *f)
{
    tz_error err = {.result = TZ_ERR_NOMEM,
                    .cause = TZ_CAUSE_NOMEM,
                    .ifd = -1,
                    .tag = -1,
                    .level = -1,
                    .tile = -1,
                    .offset = TZ_NONE,
                    .expected = TZ_NONE,
                    .found = TZ_NONE,
                    .count = 1,
                    .message = "out of memory for the list of metadata"};
    if (meta_open(&f->metadata, f->file) != TZ_OK)
        info_problem(f, &err, true);
    f->cog_known = tz_cog_problems(f->file, &f->cog_problems, &err) == TZ_OK;
    if (!f->cog_known)
        info_problem(f, &err, false);
    if (f->settings->no_crs || !f->info->geo.has_crs || tz_build_feature("proj") == NULL)
        return;
    if (tz_crs_open(&f->crs, f->file, &err) != TZ_OK)
        info_problem(f, &err, f->settings->open.require_crs);
    else
        crs_read_axes(&f->axes, tz_crs_wkt(f->crs));
}

static void print_problems(const info_file *f)
{
    for (uint32_t i = 0; i < f->info->warning_count; i++)
        term_warning(f->info->warnings[i].message, f->info->warnings[i].count);
    if (f->info->warnings_dropped > 0)
        term_warning("there are further kinds of warnings", f->info->warnings_dropped);
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
    if (tz_open(&f.file, path, &settings->open, &err) != TZ_OK) {
        if (settings->json)
            info_write_error(j, &err, path);
        term_error(err.message);
        return EXIT_FAILED;
    }
    f.info = tz_file_info(f.file);
    gather(&f);
    if (settings->json)
        info_write_json(j, &f);
    else
        info_print_page(&f);
    print_problems(&f);
    tz_crs_close(f.crs);
    meta_close(&f.metadata);
    tz_close(f.file);
    return f.failed ? EXIT_FAILED : EXIT_OK;
}

/* The command ---------------------------------------------------------------------------------- */

static int show_limits(const info_settings *settings)
{
    if (!settings->json) {
        limits_print(&settings->open.limits);
        return EXIT_OK;
    }
    json j;
    json_open(&j, stdout);
    json_object(&j, NULL);
    limits_write(&j, &settings->open.limits);
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
        limits_print(&settings->open.limits);
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

static int run(int argc, char **argv)
{
    info_settings settings = {.open = TZ_OPEN_OPTIONS_INIT};
    int status;
    int count = parse(&settings, argc, argv, &status);
    if (count < 0)
        return status;
    if (count == 0 && settings.limits)
        return show_limits(&settings);
    if (count == 0) {
        term_usage("no FILE given", NULL, "");
        return option_hint(&info_command);
    }
    return settings.json ? show_json(&settings, count, argv) : show_pages(&settings, count, argv);
}
