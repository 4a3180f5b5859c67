/* SPDX-License-Identifier: Apache-2.0
 * A memory manager for libjpeg on top of base/mem.h: bounded, and with no allocation for a tile
 * like the one before; and a guard that turns libjpeg's errors into ours. */
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
    size_t refused;                      /* bytes of the allocation that failed; 0: none */
    bool over_limit;                     /* the limit was why */
} tz_jpeg_memory;

/* Replaces the manager that jpeg_create_compress or _decompress made. */
void tz_jpeg_memory_init(tz_jpeg_memory *memory, j_common_ptr cinfo);

/* Forgets earlier failures and sets the limit for the next image. */
void tz_jpeg_memory_begin(tz_jpeg_memory *memory, uint64_t limit);

/* Frees all memory and restores libjpeg's own manager. jpeg_destroy must follow. */
void tz_jpeg_memory_deinit(tz_jpeg_memory *memory, j_common_ptr cinfo);

/* ---------------------------------------------------------------------------------------------
 * The guard: a step within libjpeg that fails returns with a text or with the bytes that were
 * refused, and nothing is printed
 * ------------------------------------------------------------------------------------------ */

typedef struct tz_jpeg_guard {
    tz_jpeg_memory memory; /* first, because client_data points to it */
    struct jpeg_error_mgr errors;
    jmp_buf jump;
    char text[JMSG_LENGTH_MAX]; /* the first error or warning; "": none */
    bool (*is_fatal)(int code); /* warnings that are errors; NULL: none */
} tz_jpeg_guard;

/* Directs the errors of this compressor or decompressor to the guard. Before jpeg_create_... */
void tz_jpeg_guard_init(tz_jpeg_guard *guard, j_common_ptr cinfo);

/* Runs a step that may fail in the middle of libjpeg; false if it did. */
bool tz_jpeg_guard_run(tz_jpeg_guard *guard, void (*step)(void *user), void *user);

/* Returns the error of a step that failed. */
tz_result tz_jpeg_guard_fail(const tz_jpeg_guard *guard, const tz_codec_call *call);

#endif

#endif
