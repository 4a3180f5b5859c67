/* SPDX-License-Identifier: Apache-2.0
 * Directories to bytes, in either format and byte order. All directories with their values come
 * first, one after the other, then the tile tables of all. */
#ifndef TZ_TIFF_IMAGE_IFD_EMIT_H
#define TZ_TIFF_IMAGE_IFD_EMIT_H

#include "base/error.h"

/* One directory to write. Tile tables are separate because they may be long. */
typedef struct tz_emit_ifd {
    const tz_tag_value *tags; /* ascending, without the tables */
    uint32_t tag_count;
    bool strips;
    uint64_t tile_count;
    const uint64_t *tile_offsets; /* 0: sparse */
    const uint32_t *tile_sizes;   /* both NULL for tz_emit_size: room for any values */
} tz_emit_ifd;

typedef struct tz_emit_options {
    bool bigtiff;
    bool big_endian;
    /* Offset of the first directory, an even number. Alignment counts from here, so that it should
     * be a multiple of 16 if possible. */
    uint64_t start;
} tz_emit_options;

enum { TZ_EMIT_HEADER_SIZE = 16 }; /* bytes kept for the header, in both formats */

/* Returns the bytes from start to the end of the last table; TZ_NO_VALUE if they do not fit 64
 * bits. */
uint64_t tz_emit_size(const tz_emit_ifd *directories, size_t count, const tz_emit_options *options);

/* Writes the directories, from start on and without gaps, in pieces of at most capacity bytes (at
 * least 64), which are made in buffer. */
typedef tz_result (*tz_emit_write_fn)(void *user, uint64_t offset, const uint8_t *data,
                                      size_t size);
tz_result tz_emit_directories(const tz_emit_ifd *directories, size_t count,
                              const tz_emit_options *options, uint8_t *buffer, size_t capacity,
                              tz_emit_write_fn write, void *user, const tz_context *ctx);

/* Makes the first bytes of a file: 8 in a classic file (the other 8 are 0), 16 in BigTIFF. */
void tz_emit_header(const tz_emit_options *options, uint8_t out[TZ_EMIT_HEADER_SIZE]);

#endif
