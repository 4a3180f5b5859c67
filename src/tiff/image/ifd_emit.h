/* SPDX-License-Identifier: Apache-2.0
 * Directories to bytes, in either format and byte order. All directories with their values come
 * first, one behind the other, then the tile tables of all. */
#ifndef TZ_TIFF_IMAGE_IFD_EMIT_H
#define TZ_TIFF_IMAGE_IFD_EMIT_H

#include "base/error.h"

/* One directory to be. Tile tables are kept apart because they may be long. */
typedef struct tz_emit_ifd {
    const tz_tag_value *tags; /* ascending, without the tables */
    uint32_t tag_count;
    bool strips;
    uint64_t tile_count;
    const uint64_t *tile_offsets; /* 0: sparse */
    const uint32_t *tile_sizes;   /* both NULL for tz_emit_size: any that may come */
} tz_emit_ifd;

typedef struct tz_emit_options {
    bool bigtiff;
    bool big_endian;
    uint64_t start; /* where in the file the first directory stands: an even number. What follows is
                       aligned as it is, so a multiple of 16 where nothing speaks against it */
} tz_emit_options;

enum { TZ_EMIT_HEADER_SIZE = 16 }; /* bytes kept for the header, in both formats */

/* Bytes from start to the end of the last table. TZ_NONE: more than 64 bits count. */
uint64_t tz_emit_size(const tz_emit_ifd *directories, size_t count, const tz_emit_options *options);

/* Write them, from start on and without gaps, in pieces of at most room bytes (at least 64), made
 * in buffer. */
typedef tz_result (*tz_emit_write_fn)(void *user, uint64_t offset, const uint8_t *data,
                                      size_t size);
tz_result tz_emit_directories(const tz_emit_ifd *directories, size_t count,
                              const tz_emit_options *options, uint8_t *buffer, size_t capacity,
                              tz_emit_write_fn write, void *user, const tz_context *ctx);

/* The file's first bytes: 8 in a classic file (the other 8 are 0), 16 in BigTIFF. */
void tz_emit_header(const tz_emit_options *options, uint8_t out[TZ_EMIT_HEADER_SIZE]);

#endif
