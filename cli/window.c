/* SPDX-License-Identifier: Apache-2.0
 * Windows and bounding boxes: their options, and the window of a bounding box in a file. */
#include "window.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "parse.h"
#include "problem.h"
#include "value.h"

static bool set_window(window_settings *s, const char *text)
{
    const int64_t max = UINT32_MAX;
    const char *at = text;
    int64_t n[4] = {0};
    bool right = true;
    for (int i = 0; i < 4 && right; i++)
        right = (i == 0 || parse_char(&at, ',')) && parse_int(&at, max, &n[i]);
    if (!right || *at != '\0' || n[2] <= 0 || n[3] <= 0)
        return value_wrong("--window needs column, row, width and height, such as 0,0,512,512; not",
                           text);
    s->window = (tz_window){n[0], n[1], (uint32_t)n[2], (uint32_t)n[3]};
    s->has_window = true;
    return true;
}

static bool set_bbox(window_settings *s, const char *text)
{
    if (!value_reals(s->bbox, 4, text))
        return value_wrong("--bbox needs XMIN,YMIN,XMAX,YMAX, not", text);
    if (!(s->bbox[0] < s->bbox[2] && s->bbox[1] < s->bbox[3]))
        return value_wrong("--bbox: XMIN must be less than XMAX and YMIN less than YMAX in", text);
    s->has_bbox = true;
    return true;
}

bool window_apply(window_settings *s, int id, const char *value)
{
    if (id == WINDOW_PIXELS)
        return set_window(s, value);
    if (id == WINDOW_BBOX)
        return set_bbox(s, value);
    s->bbox_crs = value; /* WINDOW_BBOX_CRS */
    return true;
}

const char *window_check(const window_settings *s)
{
    if (s->has_window && s->has_bbox)
        return "--window and --bbox do not go together";
    return s->bbox_crs != NULL && !s->has_bbox ? "--bbox-crs needs --bbox" : NULL;
}

/* Gives an error about the bounding box the name of its option, and the way out. */
static void name_bbox_option(tz_error *err)
{
    static const char subject[] = "the bounding box";
    const tz_error made = *err;
    const char *start = strstr(made.message, subject);
    if (start != NULL)
        snprintf(err->message, sizeof err->message, "--bbox%s%s", start + strlen(subject),
                 err->cause == TZ_CAUSE_GEO ? "; use --window" : "");
}

tz_result window_of_bbox(tz_window *out, bool *clipped, const window_settings *s,
                         const tz_file *file, uint32_t level, bool boundless, bool strict,
                         tz_error *err)
{
    tz_crs *crs = NULL;
    tz_result result = TZ_OK;
    if (s->bbox_crs != NULL)
        result = tz_crs_create(&crs, s->bbox_crs, err);
    if (result == TZ_OK) {
        result = tz_window_from_bounds(out, clipped, file, level, s->bbox, crs, boundless, err);
        if (result != TZ_OK)
            name_bbox_option(err);
    }
    tz_crs_close(crs);
    if (result == TZ_OK && *clipped && strict)
        result = problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                              WINDOW_BEYOND_IMAGE ", and --strict forbids that");
    return result;
}

tz_result window_refuse(const tz_window *w, uint32_t width, uint32_t height, const char *advice,
                        tz_error *err)
{
    return problem_make(
        err, TZ_ERR_ARG, TZ_CAUSE_ARG,
        "the window (columns %" PRId64 " to %" PRId64 ", rows %" PRId64 " to %" PRId64
        ") reaches beyond the image of %" PRIu32 " x %" PRIu32 " pixels%s",
        w->column, w->column + w->width - 1, w->row, w->row + w->height - 1, width, height, advice);
}
