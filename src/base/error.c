/* SPDX-License-Identifier: Apache-2.0
 * Errors and warnings. A failing call knows a location (tag, tile, offset), its context knows the
 * file and the directory; both become the fields of a tz_error, and the fields become one line of
 * text:
 *
 *     name: IFD 2: tag 259 (Compression): level 1: tile 7: TEXT: errno (expected E, found F) at
 * byte N
 *
 * Names and texts may come from a hostile file and end up on a terminal, so every byte that is not
 * part of a printable character of valid UTF-8 becomes '?'. The ending after TEXT is made first and
 * its space reserved: it says how to go on, and must survive a text that is too long.
 *
 * An error overwrites the caller's tz_error. A warning goes to the list of the handle, one entry
 * for each kind (cause, tag and format string) with a count. */
#define _POSIX_C_SOURCE 200809L /* strnlen, the int strerror_r */
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/utf8.h"

enum {
    MAX_NAME_BYTES = 200, /* a longer name keeps its end, which distinguishes files */
    FIRST_CAPACITY = 4    /* warnings */
};

_Static_assert(sizeof(void *) != 8 || sizeof(tz_error) == 648, "tz_error has a fixed layout");
_Static_assert(sizeof(void *) != 8 || offsetof(tz_error, message) == 136,
               "tz_error has a fixed layout");

/* ---- locations ---- */

tz_location tz_no_location(void)
{
    return (tz_location){.tag = -1,
                         .level = -1,
                         .tile = -1,
                         .offset = TZ_NO_VALUE,
                         .expected = TZ_NO_VALUE,
                         .found = TZ_NO_VALUE};
}

tz_location tz_at_offset(uint64_t offset)
{
    tz_location location = tz_no_location();
    location.offset = offset;
    return location;
}

tz_location tz_at_tile(uint32_t level, bool mask, uint64_t tile, uint64_t offset)
{
    tz_location location = tz_at_offset(offset);
    location.level = (int32_t)level;
    location.mask = mask;
    location.tile = tile <= INT64_MAX ? (int64_t)tile : INT64_MAX;
    return location;
}

tz_location tz_expecting(tz_location location, uint64_t expected, uint64_t found)
{
    location.expected = expected;
    location.found = found;
    return location;
}

/* ---- the text of a message ---- */

/* A text that grows at its end and never beyond its size. */
typedef struct message_line {
    char *text;
    size_t used;
    size_t size; /* bytes, with the closing NUL */
} message_line;

/* Control characters, line ends and marks that change the direction of writing: with them a text
 * from a file could look like something else than a part of this line. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* Returns the size without a character that is cut in two at the end. */
static size_t size_of_whole_characters(const char *text, size_t size)
{
    for (size_t back = 1; back <= 4 && back <= size; back++) {
        unsigned char byte = (unsigned char)text[size - back];
        if (!tz_utf8_is_continuation(byte))
            return tz_utf8_length(byte) > back ? size - back : size;
    }
    return size;
}

static void append_bytes(message_line *out, const char *text, size_t size)
{
    const unsigned char *at = (const unsigned char *)text;
    const unsigned char *end = at + size;
    while (at < end) {
        uint32_t code;
        size_t length = tz_utf8_decode(at, (size_t)(end - at), &code);
        bool shown = length > 0 && !is_control(code);
        size_t written = shown ? length : 1;
        if (written >= out->size - out->used)
            break;
        if (shown)
            memcpy(out->text + out->used, at, length);
        else
            out->text[out->used] = '?';
        out->used += written;
        at += length > 0 ? length : 1;
    }
    out->text[out->used] = '\0';
}

static void append_text(message_line *out, const char *text)
{
    append_bytes(out, text, strlen(text));
}

static void append_va_list(message_line *out, const char *format, va_list args)
{
    char text[sizeof(((tz_error *)0)->message)];
    int length = vsnprintf(text, sizeof text, format, args);
    if (length < 0) /* an argument cannot be converted: show the format itself */
        append_text(out, format);
    else if ((size_t)length < sizeof text)
        append_bytes(out, text, (size_t)length);
    else
        append_bytes(out, text, size_of_whole_characters(text, sizeof text - 1));
}

static void append_format(message_line *out, const char *format, ...) TZ_PRINTF(2, 3);
static void append_format(message_line *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_va_list(out, format, args);
    va_end(args);
}

static void append_file_and_directory(message_line *out, const char *name, int32_t ifd)
{
    if (name) {
        const size_t size = strlen(name);
        if (size > MAX_NAME_BYTES) {
            name += size - MAX_NAME_BYTES;
            while (tz_utf8_is_continuation((unsigned char)*name))
                name++;
            append_text(out, "...");
        }
        append_text(out, name);
        append_text(out, ": ");
    }
    if (ifd >= 0)
        append_format(out, "IFD %" PRId32 ": ", ifd);
}

static void append_location(message_line *out, const tz_error *error, const char *tag_name)
{
    if (error->tag >= 0 && tag_name)
        append_format(out, "tag %" PRId32 " (%s): ", error->tag, tag_name);
    else if (error->tag >= 0)
        append_format(out, "tag %" PRId32 ": ", error->tag);
    if (error->level >= 0)
        append_format(out, "%slevel %" PRId32 ": ", error->mask ? "mask of " : "", error->level);
    if (error->tile >= 0)
        append_format(out, "tile %" PRId64 ": ", error->tile);
}

static void append_ending(message_line *out, const tz_error *error)
{
    char system_text[128];
    if (error->system_error != 0) {
        if (strerror_r(error->system_error, system_text, sizeof system_text) == 0)
            append_format(out, ": %s", system_text);
        else
            append_format(out, ": error %d", error->system_error);
    }
    const char *word = error->limit ? "limit" : "expected";
    if (error->expected != TZ_NO_VALUE && error->found != TZ_NO_VALUE)
        append_format(out, " (%s %" PRIu64 ", found %" PRIu64 ")", word, error->expected,
                      error->found);
    else if (error->expected != TZ_NO_VALUE)
        append_format(out, " (%s %" PRIu64 ")", word, error->expected);
    else if (error->found != TZ_NO_VALUE)
        append_format(out, " (found %" PRIu64 ")", error->found);
    if (error->offset != TZ_NO_VALUE)
        append_format(out, " at byte %" PRIu64, error->offset);
    if (error->limit)
        append_format(out, "; raise tz_limits.%s (--limit %s=N)", error->limit, error->limit);
}

/* Sets error->message from the other fields of the error, the name of the file, the name of the tag
 * (both may be NULL) and the text. */
static void make_message(tz_error *error, const char *name, const char *tag_name,
                         const char *format, va_list args)
{
    char end_text[sizeof error->message / 2];
    message_line end = {end_text, 0, sizeof end_text};
    end_text[0] = '\0';
    append_ending(&end, error);

    message_line out = {error->message, 0, sizeof error->message - end.used};
    append_file_and_directory(&out, name, error->ifd);
    append_location(&out, error, tag_name);
    append_va_list(&out, format, args);
    out.size = sizeof error->message;
    append_text(&out, end_text);
}

/* ---- errors ---- */

static tz_error error_at(const tz_context *ctx, tz_result result, tz_cause cause,
                         tz_location location)
{
    return (tz_error){.result = result,
                      .cause = cause,
                      .ifd = ctx->ifd,
                      .tag = location.tag,
                      .level = location.level,
                      .mask = location.mask,
                      .tile = location.tile,
                      .offset = location.offset,
                      .expected = location.expected,
                      .found = location.found,
                      .count = 1};
}

/* Every error of the library is stored here. The message is made in a copy, because an argument may
 * point into the error that is about to be replaced. */
static tz_result store_error(const tz_context *ctx, tz_error error, const char *tag_name,
                             const char *format, va_list args)
{
    if (ctx->err) {
        make_message(&error, ctx->name, tag_name, format, args);
        *ctx->err = error;
    }
    return error.result;
}

tz_result tz_vfail(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location,
                   const char *format, va_list args)
{
    return store_error(ctx, error_at(ctx, result, cause, location), location.tag_name, format,
                       args);
}

tz_result tz_fail(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location,
                  const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)tz_vfail(ctx, result, cause, location, format, args);
    va_end(args);
    return result;
}

tz_result tz_fail_errno(const tz_context *ctx, tz_location location, int error_number,
                        const char *format, ...)
{
    tz_error error = error_at(ctx, TZ_ERR_IO, TZ_CAUSE_IO, location);
    error.system_error = error_number;
    va_list args;
    va_start(args, format);
    (void)store_error(ctx, error, location.tag_name, format, args);
    va_end(args);
    return TZ_ERR_IO;
}

tz_result tz_fail_nomem(const tz_context *ctx, uint64_t size)
{
    return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_NOMEM, tz_no_location(),
                   "out of memory: %llu bytes were asked for", (unsigned long long)size);
}

tz_result tz_propagate_error(const tz_context *ctx, const tz_error *failed)
{
    if (!ctx->err)
        return failed->result;
    tz_error error = *failed;
    error.ifd = ctx->ifd;
    message_line out = {error.message, 0, sizeof error.message};
    append_file_and_directory(&out, ctx->name, error.ifd);
    /* The text may come from a source of the caller, and lack its closing NUL. */
    append_bytes(&out, failed->message, strnlen(failed->message, sizeof failed->message));
    *ctx->err = error;
    return error.result;
}

tz_result tz_propagate_failure(const tz_context *ctx, tz_result result, tz_error *failed,
                               const char *text)
{
    if (result == TZ_OK)
        return TZ_OK;
    if (failed->result == TZ_OK)
        return tz_fail(ctx, result, TZ_CAUSE_IO, tz_no_location(), "%s", text);
    failed->result = result;
    return tz_propagate_error(ctx, failed);
}

/* ---- limits and progress ---- */

static tz_result fail_over_limit(const tz_context *ctx, const char *limit, tz_location location,
                                 const char *format, ...) TZ_PRINTF(4, 5);
static tz_result fail_over_limit(const tz_context *ctx, const char *limit, tz_location location,
                                 const char *format, ...)
{
    tz_error error = error_at(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, location);
    error.limit = limit;
    va_list args;
    va_start(args, format);
    (void)store_error(ctx, error, location.tag_name, format, args);
    va_end(args);
    return TZ_ERR_LIMIT;
}

tz_result tz_check_limit(const tz_context *ctx, size_t member_offset, tz_location location,
                         uint64_t value, const char *what)
{
    uint64_t limit;
    memcpy(&limit, (const unsigned char *)ctx->limits + member_offset, sizeof limit);
    if (value <= limit)
        return TZ_OK;
    return fail_over_limit(ctx, tz_limit_name(member_offset), tz_expecting(location, limit, value),
                           "too many %s", what);
}

/* A larger struct_size is not one of any version, but memory that nobody has set. */
#define MAX_STRUCT_SIZE 4096

tz_result tz_copy_struct(void *out, size_t size, const void *given, const char *argument,
                         const char *init, const tz_context *ctx)
{
    size_t given_size;
    if (!given)
        return TZ_OK;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < sizeof given_size || given_size > MAX_STRUCT_SIZE)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), size, given_size),
                       "%s->struct_size is wrong; use %s", argument, init);
    for (size_t i = size; i < given_size; i++) {
        if (((const unsigned char *)given)[i] != 0)
            return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                           tz_expecting(tz_no_location(), size, given_size),
                           "%s sets a member that this version of the library does not have, at "
                           "byte %zu",
                           argument, i);
    }
    memcpy(out, given, tz_min(size, given_size));
    memcpy(out, &size, sizeof size); /* it is ours from here on */
    return TZ_OK;
}

tz_result tz_copy_element(void *out, size_t size, const void *array, size_t index,
                          const char *argument, const char *init, const tz_context *ctx)
{
    size_t stride;
    size_t given_size;
    memcpy(&stride, array, sizeof stride);
    if (stride < sizeof stride || stride > MAX_STRUCT_SIZE)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_expecting(tz_no_location(), size, stride),
                       "%s[0].struct_size is wrong; use %s", argument, init);
    const void *element = (const unsigned char *)array + index * stride;
    memcpy(&given_size, element, sizeof given_size);
    if (given_size != stride)
        return tz_fail(
            ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_expecting(tz_no_location(), stride, given_size),
            "%s[%zu].struct_size is not that of the first element; use %s", argument, index, init);
    return tz_copy_struct(out, size, element, argument, init, ctx);
}

tz_result tz_fill_struct(void *out, const void *ours, size_t size, const char *argument,
                         const char *init, const tz_context *ctx)
{
    size_t out_size;
    if (!out)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s is NULL", argument);
    memcpy(&out_size, out, sizeof out_size);
    if (out_size < sizeof out_size || out_size > MAX_STRUCT_SIZE)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), size, out_size),
                       "%s->struct_size is wrong; use %s", argument, init);
    memset(out, 0, out_size);
    memcpy(out, ours, tz_min(size, out_size));
    memcpy(out, &out_size, sizeof out_size); /* it stays the caller's */
    return TZ_OK;
}

tz_result tz_check_progress(const tz_context *ctx, const tz_progress *progress, uint64_t done,
                            uint64_t total)
{
    if (!progress || !progress->call || progress->call(progress->user, done, total))
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_CANCELLED, TZ_CAUSE_CANCELLED, tz_no_location(),
                   "cancelled by the caller");
}

/* ---- the log ---- */

/* A text from a file may be part of the line: it is cleaned as messages are. */
void tz_log_line(const tz_log *log, tz_log_level level, const char *format, ...)
{
    char text[sizeof(((tz_error *)0)->message)];
    message_line out = {text, 0, sizeof text};
    if (!log || !log->call)
        return;
    text[0] = '\0';
    va_list args;
    va_start(args, format);
    append_va_list(&out, format, args);
    va_end(args);
    log->call(log->user, level, text);
}

/* ---- warnings ---- */

void tz_warnings_deinit(tz_warnings *warnings)
{
    tz_free(warnings->list);
    tz_free(warnings->formats);
    *warnings = (tz_warnings){0};
}

static tz_error *find_warning(const tz_warnings *warnings, tz_cause cause, int32_t tag,
                              const char *format)
{
    for (uint32_t i = 0; i < warnings->count; i++) {
        tz_error *warning = &warnings->list[i];
        if (warning->cause == cause && warning->tag == tag && warnings->formats[i] == format)
            return warning;
    }
    return NULL;
}

static tz_result reserve_warning(const tz_context *ctx, tz_warnings *warnings)
{
    if (warnings->count < warnings->capacity)
        return TZ_OK;
    uint32_t capacity = warnings->capacity ? 2 * warnings->capacity : FIRST_CAPACITY;
    tz_error *list = tz_realloc_array(warnings->list, capacity, sizeof *list);
    if (!list)
        return tz_fail_nomem(ctx, capacity * sizeof *list);
    warnings->list = list;
    const char **formats = tz_realloc_array(warnings->formats, capacity, sizeof *formats);
    if (!formats)
        return tz_fail_nomem(ctx, capacity * sizeof *formats);
    warnings->formats = formats;
    warnings->capacity = capacity;
    return TZ_OK;
}

bool tz_warning_is_before(const tz_error *warning, const tz_error *known)
{
    if (warning->mask != known->mask)
        return warning->mask > known->mask;
    return warning->level < known->level ||
           (warning->level == known->level && warning->tile < known->tile);
}

/* Counts the warning, and sets *out to the entry that it shall overwrite, with the new count. *out
 * is NULL for a repetition, and for a kind beyond TZ_MAX_WARNINGS. */
static tz_result slot_for_warning(const tz_context *ctx, const tz_error *warning, uint64_t times,
                                  const char *format, tz_error **out)
{
    tz_warnings *warnings = ctx->warnings;
    *out = NULL;
    tz_error *known = find_warning(warnings, warning->cause, warning->tag, format);
    if (known) {
        known->count += times;
        *out = tz_warning_is_before(warning, known) ? known : NULL;
        return TZ_OK;
    }
    if (warnings->count == TZ_MAX_WARNINGS) {
        warnings->dropped++;
        return TZ_OK;
    }
    TZ_TRY(reserve_warning(ctx, warnings));
    warnings->formats[warnings->count] = format;
    *out = &warnings->list[warnings->count++];
    (*out)->count = times;
    return TZ_OK;
}

static bool is_error_for(const tz_context *ctx, tz_cause cause)
{
    return ctx->strict || (ctx->require_crs && cause == TZ_CAUSE_GEO);
}

tz_result tz_vwarn(const tz_context *ctx, uint64_t times, tz_result result, tz_cause cause,
                   tz_location location, const char *format, va_list args)
{
    if (is_error_for(ctx, cause))
        return tz_vfail(ctx, result, cause, location, format, args);
    if (!ctx->warnings)
        return TZ_OK;
    tz_error error = error_at(ctx, result, cause, location);
    const uint32_t known = ctx->warnings->count;
    tz_error *out;
    TZ_TRY(slot_for_warning(ctx, &error, times, format, &out));
    if (out) {
        error.count = out->count;
        make_message(&error, ctx->name, location.tag_name, format, args);
        *out = error;
        if (ctx->warnings->count > known)
            tz_log_line(ctx->log, TZ_LOG_LEVEL_WARNING, "%s", error.message);
    }
    return TZ_OK;
}

tz_result tz_warn(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location,
                  const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const tz_result warned = tz_vwarn(ctx, 1, result, cause, location, format, args);
    va_end(args);
    return warned;
}

tz_result tz_warn_times(const tz_context *ctx, uint64_t times, tz_result result, tz_cause cause,
                        tz_location location, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const tz_result warned = tz_vwarn(ctx, times, result, cause, location, format, args);
    va_end(args);
    return warned;
}

/* Failures that say nothing about the file. No leniency may hide them. */
static bool is_never_a_warning(tz_result result)
{
    return result == TZ_ERR_NOMEM || result == TZ_ERR_IO || result == TZ_ERR_CHANGED ||
           result == TZ_ERR_CANCELLED || result == TZ_ERR_INTERNAL;
}

tz_result tz_warn_from_error(const tz_context *ctx, const tz_error *failed, const char *kind)
{
    if (is_never_a_warning(failed->result) || is_error_for(ctx, failed->cause)) {
        if (ctx->err && ctx->err != failed)
            *ctx->err = *failed;
        return failed->result;
    }
    if (!ctx->warnings)
        return TZ_OK;
    const uint32_t known = ctx->warnings->count;
    tz_error *out;
    TZ_TRY(slot_for_warning(ctx, failed, 1, kind, &out));
    if (out) {
        const uint64_t count = out->count;
        *out = *failed;
        out->count = count;
        if (ctx->warnings->count > known)
            tz_log_line(ctx->log, TZ_LOG_LEVEL_WARNING, "%s", failed->message);
    }
    return TZ_OK;
}
