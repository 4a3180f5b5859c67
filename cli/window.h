/* SPDX-License-Identifier: Apache-2.0
 * The part of an image that a command is about: --window, or --bbox with --bbox-crs. */
#ifndef CLI_WINDOW_H
#define CLI_WINDOW_H

#include <terrazzo/terrazzo.h>

#include "options.h"

/* As typed. */
typedef struct window_settings {
    bool has_window;
    tz_window window;
    bool has_bbox;
    double bbox[4];       /* x and y of the least, x and y of the greatest corner */
    const char *bbox_crs; /* NULL: the file's */
} window_settings;

enum { WINDOW_PIXELS = 151, WINDOW_BBOX, WINDOW_BBOX_CRS };
/* clang-format off */
#define WINDOW_OPTIONS                                                                             \
    {"window", 0, WINDOW_PIXELS, "X,Y,W,H", "left column, top row, width and height in pixels"},   \
    {"bbox", 0, WINDOW_BBOX, "XMIN,YMIN,XMAX,YMAX",                                                \
     "in the file's CRS, outward to whole pixels; clipped\n"                                       \
     "to the image"},                                                                              \
    {"bbox-crs", 0, WINDOW_BBOX_CRS, "CRS",                                                        \
     "CRS of --bbox: EPSG:4326, WKT, PROJJSON or a PROJ\n"                                         \
     "string"}
/* clang-format on */

/* Applies one of these options. false when the value is wrong; then a message was printed. */
bool window_apply(window_settings *settings, int id, const char *value);
/* Returns the problem of options that do not go together; NULL: none. */
const char *window_check(const window_settings *settings);

#define WINDOW_BEYOND_IMAGE "--bbox reaches beyond the image"
/* Finds the window of --bbox in a level, clipped unless boundless. *clipped says if that was
 * needed, which is an error with strict. */
tz_result window_of_bbox(tz_window *out, bool *clipped, const window_settings *settings,
                         const tz_file *file, uint32_t level, bool boundless, bool strict,
                         tz_error *err);
/* Makes the error of a window that reaches beyond a level of this size. advice ends the message. */
tz_result window_refuse(const tz_window *window, uint32_t width, uint32_t height,
                        const char *advice, tz_error *err);

#endif
