/* SPDX-License-Identifier: Apache-2.0
 * Errors and warnings. A context belongs to a call: the file, its limits, and the receiver of
 * messages. A location is a position in the file. Both make the fields of tz_error, and the
 * fields make the message. */
#ifndef TZ_BASE_ERROR_H
#define TZ_BASE_ERROR_H

#include <stdarg.h>
#include <terrazzo/terrazzo.h>

/* Warnings of one handle, one entry for each kind. Cause, tag and the address of the format string
 * identify a kind; the entry has the location of its first warning, or of the first tile of the
 * image. */
#define TZ_MAX_WARNINGS 32
typedef struct tz_warnings {
    tz_error *list;       /* NULL while empty */
    const char **formats; /* format string of list[i] */
    uint32_t count;
    uint32_t capacity;
    uint64_t dropped; /* warnings of kinds beyond TZ_MAX_WARNINGS */
} tz_warnings;
void tz_warnings_deinit(tz_warnings *warnings); /* accepts zeroed state */

/* True if a warning comes before a known one of its kind: masks before images, then by level and
 * tile. Several threads read tiles in the order of the file. The warning that is kept names the
 * first tile, so that it does not depend on the order in which they finish. */
bool tz_warning_is_before(const tz_error *warning, const tz_error *known);

typedef struct tz_context {
    const char *name;        /* of the file, for messages; NULL: none */
    const tz_limits *limits; /* resolved; NULL if the callee checks no limit */
    tz_error *err;           /* receives errors; NULL: nobody does */
    tz_warnings *warnings;   /* receives warnings; NULL: they are dropped */
    const tz_log *log; /* receives recorded warnings as lines; NULL outside the caller's thread */
    bool strict;       /* warnings are errors */
    bool require_crs;  /* warnings with TZ_CAUSE_GEO are errors */
    int32_t ifd;       /* current directory; -1: none */
} tz_context;

/* A position in the file, made by tz_at_...; unknown fields keep their value of tz_no_location. */
typedef struct tz_location {
    int32_t tag;
    const char *tag_name;
    int32_t level;
    bool mask; /* of that level */
    int64_t tile;
    uint64_t offset;
    uint64_t expected;
    uint64_t found;
} tz_location;
tz_location tz_no_location(void);
tz_location tz_at_offset(uint64_t offset);
tz_location tz_at_tile(uint32_t level, bool mask, uint64_t tile, uint64_t offset);
tz_location tz_expecting(tz_location location, uint64_t expected, uint64_t found);

#define TZ_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Fills ctx->err and returns result. The message has the name, the directory, tag, level and tile,
 * the text, "(expected E, found F)" and "at byte N", as far as they are known. Control characters
 * become '?'; a text that is too long is cut after a whole character. */
tz_result tz_fail(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location,
                  const char *format, ...) TZ_PRINTF(5, 6);

tz_result tz_vfail(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location,
                   const char *format, va_list args) TZ_PRINTF(5, 0);

/* Reports a failed system call: TZ_ERR_IO with errno and its text. */
tz_result tz_fail_errno(const tz_context *ctx, tz_location location, int error_number,
                        const char *format, ...) TZ_PRINTF(4, 5);

tz_result tz_fail_nomem(const tz_context *ctx, uint64_t size);

/* Stores an error of a callee that knows neither file nor directory (a source, a sink), with the
 * name and the directory of the context. */
tz_result tz_propagate_error(const tz_context *ctx, const tz_error *failed);

/* Does the same with the result of a source or sink of the caller, TZ_OK included. It may have
 * failed without filling *failed: then text becomes the message. */
tz_result tz_propagate_failure(const tz_context *ctx, tz_result result, tz_error *failed,
                               const char *text);

/* Records a warning and returns TZ_OK; in strict mode (and for TZ_CAUSE_GEO with require_crs) fails
 * with result instead. Returns TZ_ERR_NOMEM if memory for the warning ran out. format must be a
 * literal: its address identifies the kind of warning. */
tz_result tz_warn(const tz_context *ctx, tz_result result, tz_cause cause, tz_location location,
                  const char *format, ...) TZ_PRINTF(5, 6);

/* Records the same warning `times` times. */
tz_result tz_warn_times(const tz_context *ctx, uint64_t times, tz_result result, tz_cause cause,
                        tz_location location, const char *format, ...) TZ_PRINTF(6, 7);

tz_result tz_vwarn(const tz_context *ctx, uint64_t times, tz_result result, tz_cause cause,
                   tz_location location, const char *format, va_list args) TZ_PRINTF(6, 0);

/* Turns an error of a callee into a warning, or in strict mode into the error of the context: for
 * defects that are fatal to one caller and can be repaired by another. */
tz_result tz_warn_from_error(const tz_context *ctx, const tz_error *failed, const char *kind);

/* Fails with TZ_ERR_LIMIT if value is above the member of ctx->limits at member_offset:
 * tz_check_limit(ctx, offsetof(tz_limits, max_ifds), location, count, "directories"). The message
 * names the member and says how to raise it. */
tz_result tz_check_limit(const tz_context *ctx, size_t member_offset, tz_location location,
                         uint64_t value, const char *what);

/* Copies a struct of the caller over the defaults in *out, which has size bytes. The caller's
 * struct begins with its own size. It may be an older, shorter one, or a newer, longer one whose
 * further members are all 0; NULL leaves the defaults. The message names the argument and the macro
 * that initialises it. */
tz_result tz_copy_struct(void *out, size_t size, const void *given, const char *argument,
                         const char *init, const tz_context *ctx);

/* The same for an element of an array of the caller, which lie as far apart as the first one's
 * struct_size says. */
tz_result tz_copy_element(void *out, size_t size, const void *array, size_t index,
                          const char *argument, const char *init, const tz_context *ctx);

/* Fills a struct that the caller has allocated and that begins with its size: copies from ours as
 * far as it reaches, and zeroes members that the library does not have. */
tz_result tz_fill_struct(void *out, const void *ours, size_t size, const char *argument,
                         const char *init, const tz_context *ctx);

/* Calls the progress callback, if there is one; fails with TZ_ERR_CANCELLED if it says to stop. */
tz_result tz_check_progress(const tz_context *ctx, const tz_progress *progress, uint64_t done,
                            uint64_t total);

/* Sends a line to the log, if there is one. Only the thread that made the public call may do so. */
void tz_log_line(const tz_log *log, tz_log_level level, const char *format, ...) TZ_PRINTF(3, 4);

/* Returns a failure to the caller at once; only for functions that hold nothing at this point. */
#define TZ_TRY(call)                                                                               \
    do {                                                                                           \
        tz_result tz_try_result_ = (call);                                                         \
        if (tz_try_result_ != TZ_OK)                                                               \
            return tz_try_result_;                                                                 \
    } while (0)

#endif
