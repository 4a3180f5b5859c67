/* SPDX-License-Identifier: Apache-2.0
 * A TIFF file as bytes: its header, and a reader that serves the many small reads of opening from
 * few large ones. */
#ifndef TZ_TIFF_CONTAINER_H
#define TZ_TIFF_CONTAINER_H

#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* What the header says. A sidecar file is a container of its own, in its own byte order. */
typedef struct tz_container {
    tz_source *source;
    uint64_t size;
    uint64_t first_ifd;
    bool big_endian;
    bool bigtiff;
    uint8_t sidecar;  /* 0, or the TZ_SIDECAR_ bit */
    const char *path; /* of a sidecar */
} tz_container;

/* Sizes that differ between classic TIFF and BigTIFF. */
static inline unsigned tz_header_size(const tz_container *container)
{
    return container->bigtiff ? 16 : 8;
}
static inline unsigned tz_ifd_entry_size(const tz_container *container)
{
    return container->bigtiff ? 20 : 12;
}
static inline unsigned tz_ifd_entry_count_size(const tz_container *container)
{
    return container->bigtiff ? 8 : 2;
}
static inline unsigned tz_offset_size(const tz_container *container)
{
    return container->bigtiff ? 8 : 4;
}

/* Reading while opening. The front of the file is one read, and stays; everything else comes in
 * blocks, the last few of which stay. All memory is taken once, whatever the file says. */
#define TZ_READER_FRONT_SIZE  4096u
#define TZ_READER_BLOCK_SIZE  4096u
#define TZ_READER_BLOCK_COUNT 4u
typedef struct tz_reader {
    const tz_container *container;
    bool direct; /* no memory: every read goes to the source */
    uint8_t *front;
    uint64_t front_size;
    uint8_t *blocks;
    uint64_t block_start[TZ_READER_BLOCK_COUNT]; /* TZ_NONE: empty */
    unsigned next_block;
    uint64_t bytes_read;
    uint64_t reads;
    uint64_t end; /* one past the last byte that was asked for */
    /* Spent in all directories together: those that overlap or share data must not make a small
     * file cost many times its size. */
    uint64_t entries;
    uint64_t sample_bytes;
} tz_reader;

/* container->source and size are set; reads the front and the header. */
tz_result tz_reader_open(tz_reader *reader, tz_container *container, const tz_context *ctx);
void tz_reader_close(tz_reader *reader); /* zeroed state is fine */

/* A reader without memory, for single reads of an open file; needs no close. */
tz_reader tz_reader_direct(const tz_container *container);

/* Copy size bytes at offset, all of them inside the file: the caller has checked. */
tz_result tz_reader_read(tz_reader *reader, uint64_t offset, size_t size, void *dst,
                         const tz_context *ctx);

/* Long data in pieces of at most TZ_READER_BLOCK_SIZE * TZ_READER_BLOCK_COUNT bytes, in the
 * reader's own memory: *out holds *size of them (at most what was asked for) until the next call.
 */
tz_result tz_reader_read_some(tz_reader *reader, uint64_t offset, uint64_t *size,
                              const uint8_t **out, const tz_context *ctx);

/* Whether size bytes at offset lie inside the file. */
static inline bool tz_inside(const tz_container *container, uint64_t offset, uint64_t size)
{
    return offset <= container->size && size <= container->size - offset;
}

#endif
