/* SPDX-License-Identifier: Apache-2.0
 * The pixels from which the range of a picture is measured: few, however large the picture is. */
#ifndef CLI_STRETCH_PIXELS_H
#define CLI_STRETCH_PIXELS_H

#include "request.h"

typedef struct stretch_pixels {
    tz_buffer pixels;
    tz_buffer mask;
    uint32_t level; /* of the overview that was read; 0: they are from the picture itself */
    void *memory;   /* NULL: they are the picture's own */
} stretch_pixels;

/* Gets the pixels of the picture if they are few. For a larger one it reads an overview of the same
 * window, if the file has one that can be read and no level was asked for; else it takes every n-th
 * pixel. */
tz_result stretch_pixels_get(stretch_pixels *out, const request *r, const tz_buffer *pixels,
                             const tz_buffer *mask, tz_error *err);
void stretch_pixels_free(stretch_pixels *s); /* zeroed state is fine */

#endif
