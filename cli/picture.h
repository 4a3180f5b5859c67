/* SPDX-License-Identifier: Apache-2.0
 * Pixels as a picture that people look at: which bands, which colours, what is transparent. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "output.h"
#include "request.h"

/* Sets the bands of a request for a picture: those that were asked for if they can make one, else
 * red, green and blue if the file has them, else the first. A band of alpha stands last. */
tz_result picture_choose_bands(request *r, tz_error *err);

/* Samples are numbers of a colour map, and there is nothing between two of them. */
bool picture_has_palette(const request *r);

/* Who gets the picture, row by row. channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
typedef struct picture_sink {
    tz_result (*start)(void *user, uint32_t width, uint32_t height, unsigned channels,
                       tz_error *err);
    tz_result (*row)(void *user, const unsigned char *row, tz_error *err);
    void *user;
} picture_sink;
tz_result picture_paint(const picture_sink *to, const request *r, const tz_buffer *pixels,
                        const tz_buffer *mask, bool stretched, tz_error *err);

/* All of it, as a PNG. */
tz_result picture_write(output *to, const request *r, const tz_buffer *pixels,
                        const tz_buffer *mask, bool stretched, tz_error *err);

#endif
