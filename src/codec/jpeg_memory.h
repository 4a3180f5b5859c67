/* SPDX-License-Identifier: Apache-2.0
 * A memory manager for libjpeg on top of base/mem.h: bounded, and with no allocation for a tile
 * like the one before. */
#ifndef TZ_CODEC_JPEG_MEMORY_H
#define TZ_CODEC_JPEG_MEMORY_H

#ifdef TZ_HAVE_JPEG

#include <setjmp.h>
#include <stdio.h> /* jpeglib.h needs it */

#include <jpeglib.h>

#include "codec/codec.h"

/* libjpeg-turbo 3 decodes 8 and 12 bits with the same library. */
#define TZ_JPEG_HAS_12_BITS (LIBJPEG_TURBO_VERSION_NUMBER >= 3000000)

typedef struct tz_jpeg_pool_block tz_jpeg_pool_block;

/* client_data must point to the tz_jpeg_memory. */
typedef struct tz_jpeg_memory {
    struct jpeg_memory_mgr manager;  /* libjpeg sees this */
    struct jpeg_memory_mgr *library; /* the one it came with */
    tz_jpeg_pool_block *permanent;
    tz_jpeg_pool_block *image;           /* newest first */
    size_t image_held;                   /* bytes of all blocks of the image */
    size_t wanted;                       /* of the next image's first block */
    struct jvirt_barray_control *arrays; /* not realized yet */
    uint64_t limit;                      /* of the bytes held for one image */
    size_t refused;                      /* what was asked for when allocation failed; 0: never */
    bool over_limit;                     /* it failed because of the limit */
} tz_jpeg_memory;

/* Put the manager in place of the one that jpeg_create_compress or _decompress made. */
void tz_jpeg_memory_init(tz_jpeg_memory *memory, j_common_ptr cinfo);

/* Forget earlier failures and set the limit for the next image. */
void tz_jpeg_memory_begin(tz_jpeg_memory *memory, uint64_t limit);

/* Give all memory back and put libjpeg's own manager in place again, to be followed by
 * jpeg_destroy. */
void tz_jpeg_memory_deinit(tz_jpeg_memory *memory, j_common_ptr cinfo);

/* ---------------------------------------------------------------------------------------------
 * libjpeg's way of failing, made ours: a step within it comes back with a text or with what was
 * refused, and nothing is printed.
 * ------------------------------------------------------------------------------------------ */

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
