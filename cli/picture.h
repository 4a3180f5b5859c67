/* SPDX-License-Identifier: Apache-2.0
 * Pixels as a picture that people look at: the bands and colours of a file, in the words of
 * tz_image_options. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "output.h"
#include "request.h"

/* As typed. */
typedef struct picture_settings {
    tz_choice stretch;
    uint32_t quality; /* 0: the default */
    bool lossless;
    bool has_background;
    unsigned char background[3];
} picture_settings;

/* clang-format off */
enum {
    PICTURE_STRETCH = 301, PICTURE_NO_STRETCH, PICTURE_QUALITY, PICTURE_LOSSLESS, PICTURE_BACKGROUND
};
#define PICTURE_OPTIONS(kind)                                                                      \
    {"stretch", 0, PICTURE_STRETCH, NULL, kind "2 to 98 % of the valid pixels of each band fill\n" \
                                          "the range; by default for types other than uint8, and\n"\
                                          "for one band of uint8 without a colour map that uses\n" \
                                          "less than a quarter of the range"},                     \
    {"no-stretch", 0, PICTURE_NO_STRETCH, NULL, kind "values as they are; those below 0 and above\n"\
                                                "255 are clipped"}
#define PICTURE_FILE_OPTIONS                                                                       \
    {"quality", 0, PICTURE_QUALITY, "N", "JPEG and WebP: 1 to 100; 75 by default"},                \
    {"lossless", 0, PICTURE_LOSSLESS, NULL, "WebP: keep every pixel"},                             \
    {"background", 0, PICTURE_BACKGROUND, "R,G,B", "picture: a colour under transparent pixels;\n"\
                                                   "JPEG needs one if there are any"}
/* clang-format on */
/* Returns true if an option is one of these. */
bool picture_has_option(int id);
/* Applies one of these options; false after a message. */
bool picture_apply(picture_settings *settings, int id, const char *value);
/* Returns true if the options go together with the format; otherwise a message was printed. */
bool picture_check(const picture_settings *settings, request_format format);

/* Sets the bands of a request for a picture: those that were asked for if they can make one, else
 * red, green and blue if the file has them, else the first. A band of alpha stands last. */
tz_result picture_choose_bands(request *r, tz_error *err);

/* Returns true if samples are indices of a colour map. */
bool picture_has_palette(const request *r);

/* Checks before anything is read that the picture can be written, and takes the memory of its
 * encoder from that of the request. */
tz_result picture_plan(request *r, const picture_settings *settings, tz_error *err);

/* The values that a picture shows from black to white. */
typedef struct picture_stretch {
    uint32_t count; /* of bands; 0: nothing was stretched */
    uint32_t level; /* of the overview that was measured; 0: the picture itself was */
    tz_image_range range[TZ_IMAGE_MAX_COLORS];
} picture_stretch;

/* Writes a picture in the format of the request. */
tz_result picture_write(output *to, const request *r, const tz_buffer *pixels,
                        const tz_buffer *mask, const picture_settings *settings,
                        picture_stretch *done, tz_error *err);

/* Makes the same picture as 4 bytes for each pixel, row after row. */
tz_result picture_render(unsigned char *rgba, const request *r, const tz_buffer *pixels,
                         const tz_buffer *mask, const picture_settings *settings,
                         picture_stretch *done, tz_error *err);

/* Prints the range of each band that was stretched to standard error. */
void picture_report_stretch(const request *r, const picture_stretch *done);

#endif
