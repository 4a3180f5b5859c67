/* SPDX-License-Identifier: Apache-2.0
 * Pixels as a picture that people look at: which bands, which colours, what is transparent. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "output.h"
#include "request.h"

/* Sets the bands of a request for a picture: those that were asked for if they can make one, else
 * red, green and blue if the file has them, else the first. A band of alpha stands last. */
tz_result picture_choose_bands(request *r, tz_error *err);

/* Writes all of it. */
tz_result picture_write(output *to, const request *r, const tz_buffer *pixels,
                        const tz_buffer *mask, bool stretched, tz_error *err);

#endif
