/* SPDX-License-Identifier: Apache-2.0
 * What an item of a request means for the file: which level, which of its pixels, and buffers whose
 * rows and columns run as the file's do. */
#ifndef TZ_READ_READ_REQUEST_H
#define TZ_READ_READ_REQUEST_H

#include <terrazzo/terrazzo.h>

#include "base/error.h"
#include "pixel/pixel.h"
#include "tiff/file.h"

typedef struct tz_read_request {
    const tz_file *file;
    tz_layer layer;
    uint32_t level;    /* with TZ_MASK_OF where a mask's own samples are wanted */
    uint8_t reduction; /* layer is the level's, reduced so often by its tiles' own resolutions */
    double x0, y0, x1, y1; /* what the buffer shows, in pixels of the level */
    tz_window window;      /* the same in whole pixels, with what the resampling needs around */
    tz_window item_window; /* window of the item that this view is, or is a part of */
    bool resampled;        /* the buffer has other pixels than the level */
    const uint32_t *bands; /* NULL: 0, 1, 2, ... */
    uint32_t band_count;
    tz_buffer into;      /* strides resolved, turned to the file's orientation */
    tz_buffer mask;      /* may not exist */
    tz_outcome *outcome; /* may be NULL */
} tz_read_request;

tz_result tz_read_request_make(tz_read_request *out, const tz_item *item,
                               const tz_read_options *how, const tz_context *ctx);

/* Whether there is a buffer at all: memory of the host, or of a device. */
static inline bool tz_buffer_exists(const tz_buffer *buffer)
{
    return buffer->data || buffer->memory;
}

/* Bytes before and behind where the first sample of a buffer with resolved strides begins;
 * UINT64_MAX: more than there can be. */
typedef struct tz_byte_extent {
    uint64_t before, after;
} tz_byte_extent;
tz_byte_extent tz_buffer_extent(const tz_buffer *buffer);

/* Where a window lies within the level: clipped, false when nothing is left. */
bool tz_window_clip(const tz_window *window, const tz_level *level, tz_window *out);

#endif
