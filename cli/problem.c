/* SPDX-License-Identifier: Apache-2.0
 * Errors of the command itself, in the struct of the library's errors, so that both are printed and
 * written as JSON by the same code. */
#include "problem.h"

#include <stdarg.h>
#include <string.h>

#include "terminal.h"

tz_result problem_make(tz_error *err, tz_result result, tz_cause cause, const char *format, ...)
{
    va_list arguments;
    *err = (tz_error){.result = result,
                      .cause = cause,
                      .ifd = -1,
                      .tag = -1,
                      .level = -1,
                      .tile = -1,
                      .offset = TZ_NO_VALUE,
                      .expected = TZ_NO_VALUE,
                      .found = TZ_NO_VALUE,
                      .count = 1};
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return result;
}

tz_result problem_io(tz_error *err, const char *verb, const char *path, int reason)
{
    problem_make(err, TZ_ERR_IO, TZ_CAUSE_IO, "cannot %s '%.400s': %s", verb, path,
                 strerror(reason));
    err->system_error = reason;
    return TZ_ERR_IO;
}

tz_result problem_nomem(tz_error *err, const char *what)
{
    return problem_make(err, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, "out of memory for %s", what);
}

void problem_print_warnings(const tz_file *file)
{
    const tz_error *warning;
    for (uint32_t i = 0; (warning = tz_file_get_warning(file, i)) != NULL; i++)
        term_warning(warning->message, warning->count);
    const uint64_t dropped = tz_file_get_info(file)->warnings_dropped;
    if (dropped > 0)
        term_warning("there are further kinds of warnings", dropped);
}

void problem_write(json *j, const tz_error *err)
{
    json_text(j, "result", tz_result_name(err->result));
    json_text(j, "cause", tz_cause_name(err->cause));
    json_uint_or_null(j, "ifd", (uint64_t)err->ifd, err->ifd >= 0);
    json_uint_or_null(j, "tag", (uint64_t)err->tag, err->tag >= 0);
    json_uint_or_null(j, "level", (uint64_t)err->level, err->level >= 0 && !err->mask);
    json_uint_or_null(j, "tile", (uint64_t)err->tile, err->tile >= 0);
    json_uint_or_null(j, "offset", err->offset, err->offset != TZ_NO_VALUE);
    json_uint_or_null(j, "expected", err->expected, err->expected != TZ_NO_VALUE);
    json_uint_or_null(j, "found", err->found, err->found != TZ_NO_VALUE);
    json_uint(j, "count", err->count);
    json_text_or_null(j, "limit", err->limit);
    json_uint_or_null(j, "system_error", (uint64_t)err->system_error, err->system_error > 0);
    json_text(j, "message", err->message);
}

void problem_write_each(json *j, const tz_error *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        json_object(j, NULL);
        problem_write(j, &list[i]);
        json_object_end(j);
    }
}

void problem_write_warnings(json *j, const tz_file *file)
{
    const tz_error *warning;
    for (uint32_t i = 0; (warning = tz_file_get_warning(file, i)) != NULL; i++)
        problem_write_each(j, warning, 1);
}
