/* SPDX-License-Identifier: Apache-2.0
 * terrazzo diff: options, and the comparison of two files part by part. Parts add facts, tags and
 * levels to one diff, which is shown at the end, so that page and JSON agree. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "parse.h"
#include "problem.h"
#include "request.h"
#include "sidecars.h"
#include "terminal.h"
#include "value.h"

/* Options -------------------------------------------------------------------------------------- */

enum { PIXELS_ONLY = 1, TAGS_ONLY, LAYOUT_ONLY, ALL_LEVELS, TOLERANCE, THREADS, MEMORY };

/* clang-format off */
static const cli_option diff_options[] = {
    {"pixels-only", 0, PIXELS_ONLY, NULL, "compare sizes, types, pixels and which are valid"},
    {"tags-only", 0, TAGS_ONLY, NULL, "compare tags, apart from those of the layout"},
    {"layout-only", 0, LAYOUT_ONLY, NULL, "compare tiles, compression, byte order, overviews, ..."},
    {"all-levels", 0, ALL_LEVELS, NULL, "also the pixels of the overviews"},
    {"tolerance", 0, TOLERANCE, "T", "pixels that differ by at most T are equal; 0 by default"},
    {"threads", 'j', THREADS, "N", "0, the default: all cores"},
    {"memory", 0, MEMORY, "SIZE", "most memory the process may use; 256M by default"},
    {"json", 0, COMMON_JSON, NULL, "as JSON"},
    OPENING_OPTIONS,
    COMMON_OPTIONS
};
/* clang-format on */

static int run_diff(int argc, char **argv);

const cli_command diff_command = {
    .name = "diff",
    .arguments = "A B",
    .summary = "compares two files: pixels, tags and layout",
    .examples = "terrazzo diff a.tif b.tif\twhat is different\n"
                "terrazzo diff --pixels-only a.tif b.tif\twhether a copy lost anything\n"
                "terrazzo diff --tolerance 0.01 a.tif b.tif\tfor lossy copies",
    .options = diff_options,
    .run = run_diff,
    .code_3 = "the files differ",
};

static bool set_tolerance(diff_settings *settings, const char *text)
{
    const char *at = text;
    if (parse_real(&at, &settings->tolerance) && *at == '\0' && settings->tolerance >= 0)
        return true;
    return value_wrong("--tolerance needs a number from 0 on, not", text);
}

static bool apply_diff_option(void *user, int id, const char *value)
{
    diff_settings *settings = user;
    switch (id) {
    case PIXELS_ONLY:
        settings->parts |= DIFF_PIXELS;
        return true;
    case TAGS_ONLY:
        settings->parts |= DIFF_TAGS;
        return true;
    case LAYOUT_ONLY:
        settings->parts |= DIFF_LAYOUT;
        return true;
    case ALL_LEVELS:
        settings->all_levels = true;
        return true;
    case TOLERANCE:
        return set_tolerance(settings, value);
    case THREADS:
        return value_threads(&settings->threads, value);
    default: /* MEMORY */
        return value_memory(&settings->memory, value);
    }
}

/* Findings ------------------------------------------------------------------------------------- */

void *diff_grow(void **array, size_t *count, size_t size)
{
    /* the capacity doubles at powers of two, so that the count alone says how large the array is */
    if ((*count & (*count - 1)) == 0) {
        size_t capacity = *count > 0 ? 2 * *count : 1;
        void *grown = realloc(*array, capacity * size);
        if (grown == NULL)
            return NULL;
        *array = grown;
    }
    return (char *)*array + size * (*count)++;
}

void diff_text(diff_fact *fact, int side, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fact->texts[side], DIFF_TEXT, format, arguments);
    va_end(arguments);
}

tz_result diff_add_fact(diff *d, const diff_fact *fact, tz_error *err)
{
    if (strcmp(fact->texts[0], fact->texts[1]) == 0)
        return TZ_OK;
    void *facts = d->facts;
    diff_fact *added = diff_grow(&facts, &d->fact_count, sizeof *added);
    d->facts = facts;
    if (added == NULL)
        return problem_nomem(err, "the list of differences");
    *added = *fact;
    d->different |= fact->part;
    return TZ_OK;
}

/* Opens both files, and compares the parts that were asked for. */
static tz_result compare_files(diff *d, tz_error *err)
{
    tz_result result = TZ_OK;
    for (int i = 0; i < 2 && result == TZ_OK; i++) {
        result = tz_open(&d->sides[i].file, d->sides[i].path, &d->settings->common.open, err);
        if (result != TZ_OK)
            return result;
        d->sides[i].info = tz_file_get_info(d->sides[i].file);
        sidecars_note(d->sides[i].path, d->sides[i].file, d->settings->common.open.sidecars);
    }
    d->memory = memory_divide(d->settings->memory, d->settings->threads, false);
    if (result == TZ_OK && d->settings->parts & DIFF_PIXELS)
        result = diff_compare_pixels(d, err);
    if (result == TZ_OK && d->settings->parts & DIFF_LAYOUT)
        result = diff_compare_layout(d, err);
    if (result == TZ_OK && d->settings->parts & DIFF_TAGS)
        result = diff_compare_tags(d, err);
    return result;
}

static void release_diff(diff *d)
{
    for (size_t i = 0; i < d->level_count; i++)
        free(d->levels[i].bands);
    free(d->levels);
    free(d->facts);
    free(d->tags);
    for (int i = 0; i < 2; i++)
        tz_close(d->sides[i].file);
}

static int show_diff(diff *d)
{
    if (d->settings->common.json)
        diff_write(d);
    else
        diff_print(d);
    for (int i = 0; i < 2; i++)
        problem_print_warnings(d->sides[i].file);
    return d->different != 0 ? EXIT_DIFFERENT : EXIT_OK;
}

static int run_diff(int argc, char **argv)
{
    diff_settings settings = {.common = {.open = TZ_OPEN_OPTIONS_INIT},
                              .memory = REQUEST_DEFAULT_MEMORY};
    tz_error err;
    int status;
    int count = common_parse(&diff_command, argc, argv, &settings.common, apply_diff_option,
                             &settings, &status);
    if (count < 0)
        return status;
    if (count != 2)
        return common_wrong_operands(&diff_command,
                                     count < 2 ? "two files are needed" : "unexpected argument",
                                     count < 2 ? NULL : argv[2]);
    if (settings.parts == 0)
        settings.parts = DIFF_PIXELS | DIFF_TAGS | DIFF_LAYOUT;
    diff d = {.settings = &settings, .sides = {{.path = argv[0]}, {.path = argv[1]}}};
    if (compare_files(&d, &err) == TZ_OK) {
        status = show_diff(&d);
    } else {
        if (settings.common.json)
            diff_write_error(argv[0], argv[1], &err);
        term_error(err.message);
        status = EXIT_FAILED;
    }
    release_diff(&d);
    return status;
}
