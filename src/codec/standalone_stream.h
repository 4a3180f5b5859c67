/* SPDX-License-Identifier: Apache-2.0
 * Tiles of JPEG and JPEG 2000 as streams for decoders that know nothing of TIFF: the stream has all
 * that they need, and they decode it as our codecs do. */
#ifndef TZ_CODEC_STANDALONE_STREAM_H
#define TZ_CODEC_STANDALONE_STREAM_H

#include "codec/codec.h"

typedef struct tz_standalone_stream {
    const uint8_t *bytes;
    size_t size;
    bool is_lossy; /* decoders differ by rounding */
    bool to_rgb;   /* it is YCbCr, and the tile RGB */
} tz_standalone_stream;

/* True if tiles of this format can have such streams: 1 to 4 samples of 8 or 16 bits. */
bool tz_standalone_is_possible(const tz_tile_format *format);
/* True if all of them are lossy. */
bool tz_standalone_is_lossy(const tz_tile_format *format);

/* Bytes of a buffer in which the stream of a tile of size bytes is put together; 0: the tile is the
 * stream. */
size_t tz_standalone_buffer_size(const tz_tile_format *format, size_t size);

/* Finds the stream of a tile, in the tile or put together in buffer. Returns false if it is broken,
 * or if our codec would warn of something or do more than decode it. */
bool tz_standalone_find(tz_standalone_stream *out, const tz_tile_format *format,
                        const uint8_t *data, size_t size, uint8_t *buffer, const tz_limits *limits);

#endif
