/* SPDX-License-Identifier: Apache-2.0
 * Warnings: each kind once, with a count. */
#include "base/mem.h"
#include "base/message.h"

enum { FIRST_CAPACITY = 4 };

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

/* Tiles are read in the order of the file, and by several threads: which one a warning tells of
 * must not depend on that. */
static bool is_before_in_image(const tz_error *warning, const tz_error *known)
{
    return warning->level < known->level ||
           (warning->level == known->level && warning->tile < known->tile);
}

/* A place for a new warning in *out, with its count; NULL when it is a repetition or one too many.
 */
static tz_result slot_for_warning(const tz_context *ctx, const tz_error *warning, uint64_t times,
                                  const char *format, tz_error **out)
{
    tz_warnings *warnings = ctx->warnings;
    *out = NULL;
    tz_error *known = find_warning(warnings, warning->cause, warning->tag, format);
    if (known) {
        known->count += times;
        *out = is_before_in_image(warning, known) ? known : NULL;
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

static tz_result record_warning(const tz_context *ctx, uint64_t times, tz_result result,
                                tz_cause cause, tz_location location, const char *format,
                                va_list args)
{
    bool fails = is_error_for(ctx, cause);
    tz_error *out = ctx->err;
    if (!fails && !ctx->warnings)
        return TZ_OK;
    tz_error error = tz_error_at(ctx, result, cause, location);
    if (!fails)
        TZ_TRY(slot_for_warning(ctx, &error, times, format, &out));
    if (out) {
        error.count = fails ? error.count : out->count;
        tz_message_make(&error, ctx->name, location.tag_name, format, args);
        *out = error;
    }
    return fails ? result : TZ_OK;
}

tz_result tz_warn(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location,
                  const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const tz_result warned = record_warning(ctx, 1, result, cause, location, format, args);
    va_end(args);
    return warned;
}

tz_result tz_warn_times(const tz_context *ctx, uint64_t times, tz_result result, tz_cause cause,
                        tz_location location, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const tz_result warned = record_warning(ctx, times, result, cause, location, format, args);
    va_end(args);
    return warned;
}

/* Failures that say nothing about the file: no leniency may hide them. */
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
    tz_error *out;
    TZ_TRY(slot_for_warning(ctx, failed, 1, kind, &out));
    if (out) {
        const uint64_t count = out->count;
        *out = *failed;
        out->count = count;
    }
    return TZ_OK;
}
