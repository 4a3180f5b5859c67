/* SPDX-License-Identifier: Apache-2.0
 * Functions that plan-cog, encode-block and assemble share. */
#include "block_commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "problem.h"
#include "progress.h"
#include "report.h"
#include "terminal.h"

/* Files ---------------------------------------------------------------------------------------- */

enum { FIRST_CAPACITY = 4096 };

/* Reads a whole file of unknown length: a plan says its length itself, and is checked then. */
static tz_result read_all(FILE *file, const char *path, tz_memory *out, tz_error *err)
{
    size_t capacity = FIRST_CAPACITY;
    char *data = malloc(capacity);
    size_t size = 0;
    while (data != NULL) {
        size += fread(data + size, 1, capacity - size, file);
        if (ferror(file)) {
            free(data);
            return problem_io(err, "read", path, errno);
        }
        if (size < capacity)
            break;
        char *more = capacity <= SIZE_MAX / 2 ? realloc(data, capacity *= 2) : NULL;
        if (more == NULL)
            free(data);
        data = more;
    }
    *out = (tz_memory){data, size};
    return data != NULL ? TZ_OK : problem_nomem(err, "the plan");
}

tz_result block_load_plan(tz_cog_plan **out, const char *path, const tz_limits *limits,
                          tz_error *err)
{
    tz_memory bytes = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return problem_io(err, "open", path, errno);
    tz_result result = read_all(file, path, &bytes, err);
    fclose(file);
    if (result == TZ_OK)
        result = tz_cog_plan_load(out, bytes.data, bytes.size, limits, err);
    free(bytes.data);
    return result;
}

/* JSON ----------------------------------------------------------------------------------------- */

void block_write_window(json *j, const char *key, const tz_window *window)
{
    json_array_row(j, key);
    json_int(j, NULL, window->column);
    json_int(j, NULL, window->row);
    json_uint(j, NULL, window->width);
    json_uint(j, NULL, window->height);
    json_array_end(j);
}

void block_write_statistics(json *j, const tz_statistics *band)
{
    json_object_row(j, NULL);
    json_uint(j, "valid", band->valid_count);
    json_double(j, "minimum", band->minimum);
    json_double(j, "maximum", band->maximum);
    json_double(j, "mean", band->mean);
    json_double(j, "deviation", band->stddev);
    json_object_end(j);
}

/* The end -------------------------------------------------------------------------------------- */

int block_end(tz_result result, bool as_json, const char *input, tz_error *err)
{
    if (result == TZ_OK)
        return EXIT_OK;
    if (result == TZ_ERR_CANCELLED)
        (void)progress_cancelled(err);
    if (as_json)
        report_write_error(input, err);
    term_error(err->message);
    progress_end_by_signal();
    return EXIT_FAILED;
}
