/* SPDX-License-Identifier: Apache-2.0
 * Deflate in a zlib frame (RFC 1950, 1951) of bytes that come one after the other, in memory of a
 * fixed size. The codec of the same name takes whole tiles; a picture may be larger than memory. */
#ifndef TZ_IMAGE_DEFLATE_STREAM_H
#define TZ_IMAGE_DEFLATE_STREAM_H

#include "base/error.h"

typedef struct tz_deflate_stream tz_deflate_stream;

/* Gets the compressed bytes, in order. */
typedef tz_result tz_deflate_put(void *user, const uint8_t *bytes, size_t size,
                                 const tz_context *ctx);

/* Bytes that a stream allocates. */
size_t tz_deflate_stream_bytes(void);

/* fast: looks for runs of a byte alone, not for matches. */
tz_result tz_deflate_stream_open(tz_deflate_stream **out, bool fast, tz_deflate_put *put,
                                 void *user, const tz_context *ctx);
tz_result tz_deflate_stream_write(tz_deflate_stream *stream, const uint8_t *bytes, size_t size,
                                  const tz_context *ctx);
/* Writes all that is left, and the checksum. */
tz_result tz_deflate_stream_finish(tz_deflate_stream *stream, const tz_context *ctx);
void tz_deflate_stream_close(tz_deflate_stream *stream); /* NULL is fine */

#endif
