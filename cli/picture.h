/* SPDX-License-Identifier: Apache-2.0
 * Pixels as a picture that people look at: bands, colours and transparency. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "output.h"
#include "request.h"
#include "stretch.h"

/* clang-format off */
enum { PICTURE_STRETCH = 301, PICTURE_NO_STRETCH };
#define PICTURE_OPTIONS(kind)                                                                      \
    {"stretch", 0, PICTURE_STRETCH, NULL, kind "2 to 98 % of the valid pixels of each band fill\n" \
                                          "the range; by default for types other than uint8, and\n"\
                                          "for one band of uint8 without a colour map that uses\n" \
                                          "less than a quarter of the range"},                     \
    {"no-stretch", 0, PICTURE_NO_STRETCH, NULL, kind "values as they are; those below 0 and above\n"\
                                                "255 are clipped"}
/* clang-format on */
/* Applies one of these options; false after a message. */
bool picture_apply(stretch_mode *mode, int id);

/* Sets the bands of a request for a picture: those that were asked for if they can make one, else
 * red, green and blue if the file has them, else the first. A band of alpha stands last. */
tz_result picture_choose_bands(request *r, tz_error *err);

/* Returns true if samples are indices of a colour map. */
bool picture_has_palette(const request *r);

/* Receives the picture, row by row. channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
typedef struct picture_sink {
    tz_result (*start)(void *user, uint32_t width, uint32_t height, unsigned channels,
                       tz_error *err);
    tz_result (*row)(void *user, const unsigned char *row, tz_error *err);
    void *user;
} picture_sink;

/* The values that a picture shows from black to white. */
#define PICTURE_COLORS 4
typedef struct picture_stretch {
    uint32_t count; /* of bands; 0: nothing was stretched */
    uint32_t level; /* of the overview that was measured; 0: the picture itself was */
    stretch range[PICTURE_COLORS];
} picture_stretch;

tz_result picture_paint(const picture_sink *to, const request *r, const tz_buffer *pixels,
                        const tz_buffer *mask, stretch_mode mode, picture_stretch *done,
                        tz_error *err);

/* The same, written as a PNG. */
tz_result picture_write(output *to, const request *r, const tz_buffer *pixels,
                        const tz_buffer *mask, stretch_mode mode, picture_stretch *done,
                        tz_error *err);

/* Prints the range of each band that was stretched to standard error. */
void picture_report_stretch(const request *r, const picture_stretch *done);

#endif
