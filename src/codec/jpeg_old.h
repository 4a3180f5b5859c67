/* SPDX-License-Identifier: Apache-2.0
 * Old-style JPEG (compression 6): entropy-coded tiles whose headers are elsewhere in the file. The
 * caller passes these headers as the tables of the format: SOI, tables, a frame header and a scan
 * header. A frame of width or height 0 has the size of the tile. */
#ifndef TZ_CODEC_JPEG_OLD_H
#define TZ_CODEC_JPEG_OLD_H

#include "codec/codec.h"

/* Scratch of one thread; zeroed by the caller. */
typedef struct tz_jpeg_old {
    uint8_t *stream;
    size_t capacity;
} tz_jpeg_old;

/* Headers and tile as one stream, in memory of state. A tile may begin with headers of its own, up
 * to a whole stream: these count, but for a frame that is larger than the tile. Restart markers are
 * counted from the first one of the tile. */
tz_result tz_jpeg_old_join(tz_jpeg_old *state, const tz_tile_format *format, const uint8_t *in,
                           size_t in_size, const tz_codec_call *call, size_t *size);

void tz_jpeg_old_deinit(tz_jpeg_old *state); /* zeroed state is fine */

#endif
