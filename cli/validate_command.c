/* SPDX-License-Identifier: Apache-2.0
 * terrazzo validate: options, and the files one by one. The exit code is that of the worst file.
 * */
#include <stdio.h>
#include <sys/stat.h>

#include "progress.h"
#include "sidecars.h"
#include "terminal.h"
#include "validate.h"
#include "value.h"

/* Options -------------------------------------------------------------------------------------- */

enum { FULL = 1, THREADS, MEMORY };

/* clang-format off */
static const cli_option validate_options[] = {
    {"strict", 0, COMMON_STRICT, NULL, "warnings count, and so do the rules of OGC"},
    {"full", 0, FULL, NULL, "look at every tile and decode it, not only at the first\n"
                            "and last 64 of a level"},
    {"json", 0, COMMON_JSON, NULL, "as JSON; several files make an array"},
    {"threads", 'j', THREADS, "N", "for decoding; 0, the default: all cores"},
    {"memory", 0, MEMORY, "SIZE", "for decoded tiles; 256M by default, or one tile"},
    {"page", 0, COMMON_PAGE, "N", "take the N-th full-resolution image; 0 is the first"},
    {"limit", 0, COMMON_LIMIT, "NAME=VALUE", "set a limit; K, M, G, T: each 1024 times the one\n"
                                             "before; 0 or off: no limit"},
    COMMON_OPTIONS
};
/* clang-format on */

static int run_validate(int argc, char **argv);

const cli_command validate_command = {
    .name = "validate",
    .arguments = "FILE...",
    .summary = "checks a file by the rules of TIFF, GeoTIFF, COG and GDAL",
    .examples = "terrazzo validate scene.tif\tis it a valid COG, and why not\n"
                "terrazzo validate --strict scene.tif\tas OGC has it, without any warning\n"
                "terrazzo validate --full scene.tif\talso decode every tile\n"
                "terrazzo validate --json *.tif\tfor scripts",
    .options = validate_options,
    .run = run_validate,
    .code_3 = "a file is not valid",
};

typedef struct validate_settings {
    common_settings common;
    tz_validate_options options;
} validate_settings;

static bool apply_validate_option(void *user, int id, const char *value)
{
    validate_settings *settings = user;
    switch (id) {
    case FULL:
        settings->options.full = true;
        return true;
    case THREADS:
        return value_threads(&settings->options.threads, value);
    default: /* MEMORY */
        return value_memory(&settings->options.max_host_bytes, value);
    }
}

/* Files ---------------------------------------------------------------------------------------- */

/* Validates one file. Returns its exit code; j NULL: as a page. */
static int validate_file(const validate_settings *settings, const char *path, json *j)
{
    tz_validate_options options = settings->options;
    tz_validation *validation = NULL;
    tz_error err;
    progress shown;
    struct stat about;
    progress_start(&shown, 1, stat(path, &about) == 0 ? (uint64_t)about.st_size : 0);
    options.progress = progress_next(&shown, 1);
    options.log = settings->common.open.log;
    const tz_result result = tz_validate(&validation, path, &options, &err);
    progress_end(&shown);
    if (result != TZ_OK) {
        if (j != NULL)
            validate_write_error(j, path, &err);
        term_error(err.message);
        return EXIT_FAILED;
    }
    if (j != NULL)
        validate_write(j, path, validation);
    else
        validate_print(path, validation, settings->common.verbose);
    sidecars_note_unused(path, SIDECARS_ALL & ~TZ_SIDECAR_OVR); /* which is a check of its own */
    const int status = validation->valid ? EXIT_OK : EXIT_DIFFERENT;
    tz_validation_free(validation);
    return status;
}

/* A file that cannot be read at all outweighs one that is not valid. */
static int worse_status(int a, int b)
{
    return a == EXIT_FAILED || b == EXIT_OK ? a : b;
}

static int validate_files(const validate_settings *settings, int count, char **files)
{
    int status = EXIT_OK;
    json j;
    const bool as_json = settings->common.json;
    if (as_json)
        json_open(&j, stdout);
    if (as_json && count > 1)
        json_array(&j, NULL);
    for (int i = 0; i < count && !term_is_broken(); i++) {
        if (!as_json && i > 0)
            putchar('\n');
        status = worse_status(status, validate_file(settings, files[i], as_json ? &j : NULL));
    }
    if (as_json && count > 1)
        json_array_end(&j);
    if (as_json)
        json_close(&j);
    return status;
}

static int run_validate(int argc, char **argv)
{
    validate_settings settings = {.common = {.open = TZ_OPEN_OPTIONS_INIT},
                                  .options = TZ_VALIDATE_OPTIONS_INIT};
    int status;
    int count = common_parse(&validate_command, argc, argv, &settings.common, apply_validate_option,
                             &settings, &status);
    if (count < 0)
        return status;
    if (count == 0)
        return common_wrong_operands(&validate_command, "no FILE given", NULL);
    settings.options.strict = settings.common.open.strict;
    settings.options.page = settings.common.open.page;
    settings.options.limits = settings.common.open.limits;
    return validate_files(&settings, count, argv);
}
