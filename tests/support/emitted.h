/* SPDX-License-Identifier: Apache-2.0
 * A whole file in memory, made by tiff/image/ifd_emit.h: header, tiles if there are any,
 * directories. */
#ifndef TESTS_SUPPORT_EMITTED_H
#define TESTS_SUPPORT_EMITTED_H

#include <stdlib.h>

#include "support/context.h"
#include "support/tiff_builder.h"
#include "tiff/image/ifd_emit.h"

typedef struct emitted {
    uint8_t *data; /* for emitted_free */
    size_t size;
    size_t next;    /* where the next write must begin */
    size_t pieces;  /* written so far */
    size_t most;    /* bytes of the largest */
    size_t fail_at; /* number of the write that fails; 0: none */
} emitted;

static inline tz_result emitted_write(void *user, uint64_t offset, const uint8_t *data, size_t size)
{
    emitted *file = user;
    assert_true(offset == file->next && size > 0 && size <= file->size - file->next);
    if (++file->pieces == file->fail_at)
        return TZ_ERR_IO;
    memcpy(file->data + offset, data, size);
    file->next += size;
    if (size > file->most)
        file->most = size;
    return TZ_OK;
}

static inline tz_emit_options emitted_how(unsigned format, uint64_t start)
{
    return (tz_emit_options){.bigtiff = (format & TB_BIGTIFF) != 0,
                             .big_endian = (format & TB_BIG_ENDIAN) != 0,
                             .start = start};
}

/* The directories at start (a multiple of 16); what is between them and the header is 0. The result
 * is that of tz_emit_directories. */
static inline tz_result emitted_make(emitted *file, const tz_emit_ifd *directories, size_t count,
                                     unsigned format, size_t start, size_t room,
                                     const tz_context *ctx)
{
    const tz_emit_options how = emitted_how(format, start);
    const uint64_t size = tz_emit_size(directories, count, &how);
    uint8_t *buffer = malloc(room);
    file->size = start + (size_t)size;
    file->data = calloc(1, file->size);
    file->next = start;
    assert_non_null(buffer);
    assert_non_null(file->data);
    tz_emit_header(&how, file->data);
    tz_result result =
        tz_emit_directories(directories, count, &how, buffer, room, emitted_write, file, ctx);
    free(buffer);
    return result;
}

static inline void emitted_free(emitted *file)
{
    free(file->data);
    *file = (emitted){0};
}

#endif
