/* SPDX-License-Identifier: Apache-2.0
 * libjpeg's way of failing, made ours: a step within it comes back with a text or with what was
 * refused, and nothing is printed. */
#ifndef TZ_CODEC_JPEG_GUARD_H
#define TZ_CODEC_JPEG_GUARD_H

#ifdef TZ_HAVE_JPEG

#include <setjmp.h>

#include "codec/jpeg_memory.h"

typedef struct tz_jpeg_guard {
    tz_jpeg_memory memory; /* first, because client_data points to it */
    struct jpeg_error_mgr errors;
    jmp_buf jump;
    char text[JMSG_LENGTH_MAX]; /* what libjpeg complained of; "": nothing */
    bool (*is_fatal)(int code); /* warnings that are errors; NULL: none */
} tz_jpeg_guard;

/* Before jpeg_create_...: errors of this compressor or decompressor go to the guard. */
void tz_jpeg_guard_init(tz_jpeg_guard *guard, j_common_ptr cinfo);

/* Run a step that may fail in the middle of libjpeg; false when it did. */
bool tz_jpeg_guard_run(tz_jpeg_guard *guard, void (*step)(void *user), void *user);

/* The error of a step that failed. */
tz_result tz_jpeg_guard_fail(const tz_jpeg_guard *guard, const tz_codec_call *call);

#endif
#endif
