/* SPDX-License-Identifier: Apache-2.0
 * Errors and warnings. A context says on whose behalf code runs: which file, which limits, where
 * messages go. A place says where in the file. Both make the fields of tz_error, and the fields
 * make the message. */
#ifndef TZ_BASE_ERROR_H
#define TZ_BASE_ERROR_H

#include <stdarg.h>
#include <terrazzo/terrazzo.h>

/* Warnings of one handle, each distinct one once. Kinds are told apart by cause, tag and the format
 * string they were made of; the place kept is that of the first, of tiles that of the lowest. */
#define TZ_MAX_WARNINGS 32
typedef struct tz_warnings {
    tz_error *list;       /* grows; NULL while empty */
    const char **formats; /* what made list[i] */
    uint32_t count;
    uint32_t capacity;
    uint64_t dropped;
} tz_warnings;
void tz_warnings_deinit(tz_warnings *warnings); /* zeroed state is fine */

typedef struct tz_context {
    const char *name;        /* file, for messages; may be NULL */
    const tz_limits *limits; /* resolved; NULL only where no limit is checked */
    tz_error *err;           /* may be NULL */
    tz_warnings *warnings;   /* may be NULL: warnings are forgotten */
    bool strict;             /* warnings are errors */
    bool require_crs;        /* GEO warnings are errors */
    int32_t ifd;             /* directory at hand; -1: none */
} tz_context;

/* Where. Build it with tz_at_...; fields that are not known stay at "none". */
typedef struct tz_location {
    int32_t tag;
    const char *tag_name;
    int32_t level;
    int64_t tile;
    uint64_t offset;
    uint64_t expected;
    uint64_t found;
} tz_location;
tz_location tz_no_location(void);
tz_location tz_at_offset(uint64_t offset);
tz_location tz_at_tile(uint32_t level, uint64_t tile, uint64_t offset);
tz_location tz_expecting(tz_location location, uint64_t expected, uint64_t found);

#define TZ_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Fill ctx->err and return result. The message is: name, directory, tag, level and tile, the text,
 * "(expected E, found F)" and "at byte N" as far as the place knows them. Control characters become
 * '?', and what does not fit is cut at a character. */
tz_result tz_fail(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location,
                  const char *format, ...) TZ_PRINTF(5, 6);

/* The same for a system call that failed: TZ_ERR_IO with errno and its text. */
tz_result tz_fail_errno(const tz_context *ctx, tz_location location, int error_number,
                        const char *format, ...) TZ_PRINTF(4, 5);

tz_result tz_fail_nomem(const tz_context *ctx, uint64_t size);

/* Pass on an error that was made where neither file nor directory were known (in a source): the
 * same error with the context's name and directory. */
tz_result tz_propagate_error(const tz_context *ctx, const tz_error *failed);

/* Record a warning and return TZ_OK; in strict mode (and for GEO with require_crs) fail with result
 * instead. A warning that finds no memory is TZ_ERR_NOMEM. format must be a literal: it tells kinds
 * of warnings apart. */
tz_result tz_warn(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location,
                  const char *format, ...) TZ_PRINTF(5, 6);

/* The same for something that happened times times. */
tz_result tz_warn_times(const tz_context *ctx, uint64_t times, tz_result result, tz_cause cause,
                        tz_location location, const char *format, ...) TZ_PRINTF(6, 7);

/* A lenient repair: turns the error that was just made in *failed into a warning (or, in strict
 * mode, into the context's error). For defects that are fatal in one place and bearable in another.
 */
tz_result tz_warn_from_error(const tz_context *ctx, const tz_error *failed, const char *kind);

/* TZ_ERR_LIMIT when value is above the limit that is the member of ctx->limits at member_offset:
 * tz_check_limit(ctx, offsetof(tz_limits, max_ifds), place, count, "directories"). The message
 * names the member and how to raise it. */
tz_result tz_check_limit(const tz_context *ctx, size_t member_offset, tz_location location,
                         uint64_t value, const char *what);

/* Ask the progress callback whether to go on; TZ_ERR_CANCELLED when not. */
tz_result tz_check_progress(const tz_context *ctx, const tz_progress *progress, uint64_t done,
                            uint64_t total);

/* Return early where nothing is held. */
#define TZ_TRY(call)                                                                               \
    do {                                                                                           \
        tz_result tz_try_result_ = (call);                                                         \
        if (tz_try_result_ != TZ_OK)                                                               \
            return tz_try_result_;                                                                 \
    } while (0)

#endif
