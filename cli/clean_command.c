/* SPDX-License-Identifier: Apache-2.0
 * terrazzo clean: lists and removes temporary files that interrupted writes left in a directory.
 * The library finds them by name and age, and asks before it removes each; --dry-run answers no.
 * */
#include "clean_command.h"

#include <stdio.h>
#include <terrazzo/terrazzo.h>

#include "common.h"
#include "json.h"
#include "parse.h"
#include "problem.h"
#include "terminal.h"
#include "text.h"

#define ONE_DAY ((uint64_t)24 * 60 * 60)

enum { OLDER_THAN = 1, DRY_RUN };

/* clang-format off */
static const cli_option clean_options[] = {
    {"older-than", 0, OLDER_THAN, "AGE", "how long nothing was written to them: a number with\n"
                                         "s, m, h or d; 1d by default"},
    {"dry-run", 0, DRY_RUN, NULL, "only list them"},
    {"json", 0, COMMON_JSON, NULL, "as JSON"},
    COMMON_OPTIONS
};
/* clang-format on */

static int run_clean(int argc, char **argv);

const cli_command clean_command = {
    .name = "clean",
    .arguments = "DIR",
    .summary = "removes temporary files that interrupted writes left in DIR",
    .examples = "terrazzo clean .\tlists and removes them\n"
                "terrazzo clean --dry-run --older-than 1h .\tonly lists them",
    .options = clean_options,
    .run = run_clean,
};

typedef struct cleaning {
    common_settings common;
    uint64_t age;
    bool dry_run;
    json j;
} cleaning;

/* Parses a number of seconds, or one with s, m, h or d after it. */
static bool parse_age(const char *text, uint64_t *out)
{
    static const struct {
        char letter;
        uint64_t seconds;
    } units[] = {{'\0', 1}, {'s', 1}, {'m', 60}, {'h', 60 * 60}, {'d', ONE_DAY}};
    const char *at = text;
    uint64_t value;
    if (!parse_uint(&at, UINT64_MAX / ONE_DAY, &value))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (*at == units[i].letter && (*at == '\0' || at[1] == '\0')) {
            *out = value * units[i].seconds;
            return true;
        }
    }
    return false;
}

static bool apply_clean_option(void *user, int id, const char *value)
{
    cleaning *settings = user;
    if (id == DRY_RUN)
        settings->dry_run = true;
    else if (!parse_age(value, &settings->age)) {
        term_usage("--older-than needs a time such as 90m, 12h or 7d, not", value, "");
        return false;
    }
    return true;
}

/* Called for each file that was found; returns true to have it removed. */
static bool show_temporary_file(void *user, const char *path)
{
    cleaning *settings = user;
    if (settings->common.json) {
        json_text(&settings->j, NULL, path);
    } else {
        text_put_string(stdout, path, 0);
        putchar('\n');
    }
    return !settings->dry_run;
}

static tz_result clean_directory(cleaning *settings, const char *directory, tz_error *err)
{
    uint64_t removed = 0;
    json *j = &settings->j;
    bool as_json = settings->common.json;
    if (as_json) {
        json_open(j, stdout);
        json_object(j, NULL);
        json_text(j, "directory", directory);
        json_array(j, "found");
    }
    tz_result result =
        tz_clean(&removed, directory, settings->age, show_temporary_file, settings, NULL, err);
    if (!as_json)
        return result;
    json_array_end(j);
    json_uint(j, "removed", removed);
    if (result == TZ_OK) {
        json_null(j, "error");
    } else {
        json_object(j, "error");
        problem_write(j, err);
        json_object_end(j);
    }
    json_object_end(j);
    json_close(j);
    return result;
}

static int run_clean(int argc, char **argv)
{
    cleaning settings = {.common = {.open = TZ_OPEN_OPTIONS_INIT}, .age = ONE_DAY};
    tz_error err;
    int status;
    int count = common_parse(&clean_command, argc, argv, &settings.common, apply_clean_option,
                             &settings, &status);
    if (count < 0)
        return status;
    if (count != 1)
        return common_wrong_operands(&clean_command,
                                     count == 0 ? "no DIR given" : "unexpected argument",
                                     count == 0 ? NULL : argv[1]);
    if (clean_directory(&settings, argv[0], &err) == TZ_OK)
        return EXIT_OK;
    term_error(err.message);
    return EXIT_FAILED;
}
