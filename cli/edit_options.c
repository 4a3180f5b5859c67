/* SPDX-License-Identifier: Apache-2.0
 * Options of the changes to an image, as they were typed. Each is parsed when it is met, so that a
 * message names the word that is wrong. Those that may be given often are kept as texts: edit.c
 * parses them again, by the functions that check them here. */
#include <stdlib.h>
#include <string.h>

#include "band_list.h"
#include "edit.h"
#include "parse.h"
#include "problem.h"

/* Options that may be given often -------------------------------------------------------------- */

bool edit_parse_gcp(const char *text, tz_gcp *out)
{
    double n[5] = {0};
    if (!value_reals(n, 4, text) && !value_reals(n, 5, text))
        return false;
    *out = (tz_gcp){.column = n[0], .row = n[1], .x = n[2], .y = n[3], .z = n[4]};
    return true;
}

bool edit_parse_band(const char **at, char end, uint32_t *band)
{
    uint64_t number;
    if (!parse_uint(at, MAX_BAND_LIST, &number) || number == 0 || !parse_char(at, end))
        return false;
    *band = (uint32_t)number - 1;
    return true;
}

/* Returns true for KEY=VALUE with a key. */
static bool is_pair(const char *text)
{
    const char *equals = strchr(text, '=');
    return equals != NULL && equals != text;
}

/* Returns the message about a text that is wrong; NULL: it is right. */
static const char *check_text(int id, const char *text)
{
    tz_gcp point;
    uint32_t band;
    const char *at = text;
    switch (id) {
    case EDIT_BANDS:
        return band_list_is_valid(text)
                   ? NULL
                   : "--bands needs numbers from 1 on, such as 3,2,1 or 1-4, or names; not";
    case EDIT_GCP:
        return edit_parse_gcp(text, &point) ? NULL : "--gcp needs COLUMN,ROW,X,Y or ...,Z; not";
    case EDIT_TAG:
        return is_pair(text) ? NULL : "--tag needs KEY=VALUE, not";
    case EDIT_UNSET:
        return text[0] != '\0' ? NULL : "--unset needs a key, not";
    case EDIT_BAND_TAG:
        return edit_parse_band(&at, ':', &band) && is_pair(at)
                   ? NULL
                   : "--band-tag needs BAND:KEY=VALUE, the first band being 1; not";
    default: /* EDIT_DESCRIPTION, EDIT_UNIT */
        if (edit_parse_band(&at, '=', &band))
            return NULL;
        return id == EDIT_UNIT ? "--unit needs BAND=TEXT, the first band being 1; not"
                               : "--description needs BAND=TEXT, the first band being 1; not";
    }
}

static bool add_text(edit_settings *s, int id, const char *text, tz_error *failed)
{
    const char *message = check_text(id, text);
    if (message != NULL)
        return value_wrong(message, text);
    edit_text *texts = realloc(s->texts, (s->text_count + 1) * sizeof *texts);
    if (texts == NULL) {
        (void)problem_nomem(failed, "options");
        return true;
    }
    texts[s->text_count++] = (edit_text){id, text};
    s->texts = texts;
    return true;
}

void edit_settings_free(edit_settings *s)
{
    free(s->texts);
    s->texts = NULL;
    s->text_count = 0;
}

bool edit_band_list(const edit_settings *s, char **out)
{
    size_t size = 0;
    *out = NULL;
    for (size_t i = 0; i < s->text_count; i++)
        size += s->texts[i].id == EDIT_BANDS ? strlen(s->texts[i].text) + 1 : 0;
    if (size == 0)
        return true;
    char *list = malloc(size);
    char *end = list;
    for (size_t i = 0; list != NULL && i < s->text_count; i++) {
        if (s->texts[i].id != EDIT_BANDS)
            continue;
        if (end != list)
            *end++ = ',';
        const size_t length = strlen(s->texts[i].text);
        memcpy(end, s->texts[i].text, length);
        end += length;
    }
    if (list != NULL)
        *end = '\0';
    *out = list;
    return list != NULL;
}

/* Others --------------------------------------------------------------------------------------- */

static bool set_resolution(edit_settings *s, const char *text)
{
    double *r = s->resolution;
    if (value_reals(r, 1, text))
        r[1] = r[0];
    else if (!value_reals(r, 2, text))
        r[0] = 0;
    s->has_resolution = true;
    return (r[0] > 0 && r[1] > 0) ||
           value_wrong(
               "--res needs the width of a pixel, or width and height, such as 10 or 10,20; "
               "not",
               text);
}

static bool set_scale(edit_settings *s, const char *text)
{
    double n[4];
    s->scale = EDIT_SCALE_NONE;
    if (strcmp(text, "auto") == 0)
        s->scale = EDIT_SCALE_AUTO;
    else if (value_reals(n, 2, text))
        s->scale = EDIT_SCALE_SOURCE;
    else if (value_reals(n, 4, text))
        s->scale = EDIT_SCALE_BOTH;
    if (s->scale == EDIT_SCALE_NONE)
        return value_wrong("--scale needs SMIN,SMAX, SMIN,SMAX,DMIN,DMAX or auto, not", text);
    if (s->scale == EDIT_SCALE_AUTO)
        return true;
    if (n[0] == n[1])
        return value_wrong("--scale: SMIN and SMAX must differ in", text);
    memcpy(s->source_range, n, sizeof s->source_range);
    if (s->scale == EDIT_SCALE_BOTH)
        memcpy(s->range, n + 2, sizeof s->range);
    return true;
}

/* The library parses the number, by the rules of its tag. */
static bool set_nodata(edit_settings *s, const char *text)
{
    double value;
    const char *at = text;
    s->nodata = text;
    return strcmp(text, "none") == 0 || (parse_real(&at, &value) && *at == '\0') ||
           value_wrong("--nodata needs a number, or none; not", text);
}

static bool set_mask(edit_settings *s, const char *text)
{
    static const char *const names[] = {
        [EDIT_MASK_NONE] = "none", [EDIT_MASK_NODATA] = "nodata", [EDIT_MASK_ALPHA] = "alpha"};
    const char *at = text;
    uint64_t band;
    for (int i = EDIT_MASK_NONE; i <= EDIT_MASK_ALPHA; i++) {
        if (strcmp(text, names[i]) == 0) {
            s->mask = (edit_mask)i;
            return true;
        }
    }
    if (!parse_uint(&at, MAX_BAND_LIST, &band) || band == 0 || *at != '\0')
        return value_wrong("--mask-from is none, nodata, alpha or the number of a band, not", text);
    s->mask = EDIT_MASK_BAND;
    s->mask_band = (uint32_t)band - 1;
    return true;
}

static bool set_bounds(edit_settings *s, const char *text)
{
    double *b = s->bounds;
    s->has_bounds = true;
    if (!value_reals(b, 4, text))
        return value_wrong("--bounds needs XMIN,YMIN,XMAX,YMAX, not", text);
    return (b[0] != b[2] && b[1] != b[3]) ||
           value_wrong("--bounds: the edges must differ in", text);
}

static bool apply_pixel_option(edit_settings *s, int id, const char *value, tz_error *failed)
{
    switch (id) {
    case EDIT_BANDS:
        s->pixel_option = "--bands";
        return add_text(s, id, value, failed);
    case EDIT_SIZE:
        s->pixel_option = "--size";
        s->has_size = true;
        return value_size(&s->width, &s->height, value);
    case EDIT_RESOLUTION:
        s->pixel_option = "--res";
        return set_resolution(s, value);
    case EDIT_RESAMPLING:
        s->pixel_option = "--resampling";
        return value_resampling(&s->resampling, value);
    case EDIT_DTYPE: /* standard input has a type, too */
        return value_dtype(&s->dtype, value);
    case EDIT_SCALE:
        s->pixel_option = "--scale";
        return set_scale(s, value);
    case EDIT_REPLACE_NODATA:
        s->pixel_option = "--replace-nodata";
        s->replace_nodata = true;
        return true;
    case EDIT_MASK_FROM:
        s->pixel_option = "--mask-from";
        return set_mask(s, value);
    case EDIT_ADD_ALPHA:
        s->pixel_option = "--add-alpha";
        s->add_alpha = true;
        return true;
    case EDIT_SALVAGE:
        s->pixel_option = "--salvage";
        s->salvage = true;
        return true;
    default: /* of WINDOW_OPTIONS */
        s->pixel_option = id == WINDOW_PIXELS ? "--window" : "--bbox";
        return window_apply(&s->where, id, value);
    }
}

bool edit_apply_option(edit_settings *s, int id, const char *value, tz_error *failed)
{
    switch (id) {
    case EDIT_NODATA:
        return set_nodata(s, value);
    case EDIT_CRS:
    case EDIT_EPSG:
        s->crs = value;
        return true;
    case EDIT_TRANSFORM:
        s->has_transform = true;
        return value_reals(s->transform, 6, value) ||
               value_wrong("--transform needs six numbers in GDAL's order, not", value);
    case EDIT_BOUNDS:
        return set_bounds(s, value);
    case EDIT_GCP:
    case EDIT_TAG:
    case EDIT_UNSET:
    case EDIT_BAND_TAG:
    case EDIT_DESCRIPTION:
    case EDIT_UNIT:
        return add_text(s, id, value, failed);
    default:
        return apply_pixel_option(s, id, value, failed);
    }
}

static bool has_gcps(const edit_settings *s)
{
    for (size_t i = 0; i < s->text_count; i++) {
        if (s->texts[i].id == EDIT_GCP)
            return true;
    }
    return false;
}

const char *edit_check(const edit_settings *s, bool has_overviews)
{
    if (s->has_size && s->has_resolution)
        return "--size and --res do not go together";
    if (s->resampling != TZ_RESAMPLING_NONE && !s->has_size && !s->has_resolution)
        return has_overviews
                   ? "--resampling needs --size or --res; overviews have --co RESAMPLING=HOW"
                   : "--resampling needs --size or --res";
    if (s->replace_nodata && (s->nodata == NULL || strcmp(s->nodata, "none") == 0))
        return "--replace-nodata needs a value of --nodata";
    if (s->add_alpha && s->mask != EDIT_MASK_KEEP)
        return "--add-alpha and --mask-from do not go together";
    if ((s->has_transform || s->has_bounds) + has_gcps(s) > 1)
        return "--gcp does not go together with --transform and --bounds";
    if (s->has_transform && s->has_bounds)
        return "--transform and --bounds do not go together";
    return window_check(&s->where);
}
