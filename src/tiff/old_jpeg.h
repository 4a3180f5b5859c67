/* SPDX-License-Identifier: Apache-2.0
 * Old-style JPEG (compression 6): headers of its streams, which are in tags and at the beginning of
 * streams, in the form that the codec takes them. */
#ifndef TZ_TIFF_OLD_JPEG_H
#define TZ_TIFF_OLD_JPEG_H

#include "tiff/file.h"

/* Where JPEGInterchangeFormat is; size 0: it is not there, or not inside the file, which is a
 * warning. Without a usable length (has_size) it is all up to the end of the file. */
tz_result tz_old_jpeg_extent(const tz_old_jpeg *old, tz_reader *reader, const tz_context *ctx,
                             tz_tile_span *out, bool *has_size);

/* *out has size bytes and slack of arena: see codec/jpeg.h. ctx->ifd is that of the layer. */
tz_result tz_old_jpeg_headers(const tz_file *file, uint32_t level, const tz_layer *layer,
                              size_t slack, tz_arena *arena, const tz_context *ctx,
                              const uint8_t **out, size_t *size);

#endif
