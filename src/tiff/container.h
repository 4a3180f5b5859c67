/* SPDX-License-Identifier: Apache-2.0
 * A TIFF file as bytes: its header, the ghost area of a COG, and a reader that serves the many
 * small reads of opening from few large ones. */
#ifndef TZ_TIFF_CONTAINER_H
#define TZ_TIFF_CONTAINER_H

#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* A file and the facts of its header. A sidecar file is a container of its own, in its own byte
 * order. */
typedef struct tz_container {
    tz_source *source;
    uint64_t size;
    uint64_t first_ifd;
    bool big_endian;
    bool bigtiff;
    uint8_t sidecar;  /* TZ_SIDECAR_ bit; 0: the main file */
    const char *path; /* of a sidecar; else NULL */
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

/* Reads of opening. The front of the file is one read and is kept; everything else is read in
 * blocks, of which the last few are kept. Memory is allocated once and does not depend on the file.
 */
#define TZ_READER_FRONT_SIZE  4096u /* unless the source has a hint, within these */
#define TZ_READER_MIN_FRONT   16u   /* a header */
#define TZ_READER_MAX_FRONT   (16u << 20)
#define TZ_READER_BLOCK_SIZE  4096u
#define TZ_READER_BLOCK_COUNT 4u
typedef struct tz_reader {
    const tz_container *container;
    bool direct; /* keeps nothing: every read goes to the source */
    uint8_t *front;
    uint64_t front_size;
    uint8_t *blocks;
    uint64_t block_start[TZ_READER_BLOCK_COUNT]; /* TZ_NO_VALUE: empty */
    unsigned next_block;
    uint64_t bytes_read;
    uint64_t reads;
    uint64_t end; /* one past the last byte that was read */
    /* Used by all directories together: directories that overlap or share data must not make a
     * small file cost many times its size. */
    uint64_t entries;
    uint64_t sample_bytes;
} tz_reader;

/* Reads the front and the header of a container with source and size. */
tz_result tz_reader_open(tz_reader *reader, tz_container *container, const tz_context *ctx);
void tz_reader_close(tz_reader *reader); /* zeroed state is fine */

/* Returns a direct reader, for single reads of an open file; needs no close. */
tz_reader tz_reader_direct(const tz_container *container);

/* Copies size bytes at offset. The caller has checked that they are inside the file. */
tz_result tz_reader_read(tz_reader *reader, uint64_t offset, size_t size, void *dst,
                         const tz_context *ctx);

/* Reads long data in pieces of at most TZ_READER_BLOCK_SIZE * TZ_READER_BLOCK_COUNT bytes, into the
 * reader's own memory. *size is the number of bytes wanted, then the number that *out holds until
 * the next call. */
tz_result tz_reader_read_some(tz_reader *reader, uint64_t offset, uint64_t *size,
                              const uint8_t **out, const tz_context *ctx);

/* True if size bytes at offset lie inside the file. */
static inline bool tz_inside(const tz_container *container, uint64_t offset, uint64_t size)
{
    return offset <= container->size && size <= container->size - offset;
}

/* Reads the ghost area between header and first directory. A defective one is a warning. */
tz_result tz_ghost_read(tz_ghost *out, tz_reader *reader, const tz_context *ctx);

#endif
