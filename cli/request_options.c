/* SPDX-License-Identifier: Apache-2.0
 * Options of read, plan and view, as they were typed. Each is parsed when it is met, so that a
 * message names the word that is wrong; request_check looks at all of them together. request.c
 * applies them to a file. */
#include <math.h>
#include <string.h>

#include "band_list.h"
#include "parse.h"
#include "request.h"
#include "terminal.h"
#include "value.h"

static const char *const format_names[] = {"", "npy", "raw", "png", "jpeg", "webp"};

bool request_is_picture(request_format format)
{
    return format >= FORMAT_PNG;
}

const char *request_format_name(request_format format)
{
    return format_names[format];
}

/* ASCII letters only: file names are not text of a language. */
static bool same_letters(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        char lower = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;
        if (lower != *b)
            return false;
    }
    return *a == *b;
}

static request_format format_by_name(const char *name)
{
    for (int i = FORMAT_NPY; i <= FORMAT_WEBP; i++) {
        if (same_letters(name, format_names[i]))
            return (request_format)i;
    }
    return same_letters(name, "jpg") ? FORMAT_JPEG : FORMAT_NONE;
}

request_format request_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL ? format_by_name(dot + 1) : FORMAT_NONE;
}

bool request_is_tiff_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && (same_letters(dot + 1, "tif") || same_letters(dot + 1, "tiff"));
}

/* Values --------------------------------------------------------------------------------------- */

static bool set_bands(request_settings *s, const char *text)
{
    if (!band_list_is_valid(text))
        return value_wrong("--bands needs numbers from 1 on, such as 3,2,1 or 1-4, or names; not",
                           text);
    s->bands = text;
    return true;
}

static bool set_fill(request_settings *s, const char *text)
{
    const char *at = text;
    if (!parse_real(&at, &s->how.fill) || *at != '\0')
        return value_wrong("--fill needs a number, not", text);
    s->how.has_fill = true;
    return true;
}

static bool set_format(request_settings *s, const char *text)
{
    s->format = format_by_name(text);
    return s->format != FORMAT_NONE ||
           value_wrong("--format is npy, raw, png, jpeg or webp, not", text);
}

bool request_apply(request_settings *s, int id, const char *value)
{
    if (id >= DEVICE_NAME)
        return device_apply(&s->device, id, value);
    switch (id) {
    case WINDOW_PIXELS:
    case WINDOW_BBOX:
    case WINDOW_BBOX_CRS:
        return window_apply(&s->where, id, value);
    case REQUEST_BANDS:
        return set_bands(s, value);
    case REQUEST_LEVEL:
        s->has_level = true;
        return value_number(&s->level, TZ_LEVEL_AUTO - 1, "--level needs a number from 0 on, not",
                            value);
    case REQUEST_SIZE:
        s->has_size = true;
        return value_size(&s->width, &s->height, value);
    case REQUEST_RESAMPLING:
        return value_resampling(&s->how.resampling, value);
    case REQUEST_REDUCED:
        s->how.reduced_tiles = true;
        return true;
    case REQUEST_DTYPE:
        return value_dtype(&s->dtype, value);
    case REQUEST_MASKED:
        s->masked = true;
        return true;
    case REQUEST_SCALED:
        s->how.scaled = true;
        return true;
    case REQUEST_NAN:
        s->how.nodata_to_nan = true;
        return true;
    case REQUEST_ORIENTED:
        s->how.oriented = true;
        return true;
    case REQUEST_BOUNDLESS:
        s->how.boundless = true;
        return true;
    case REQUEST_SALVAGE:
        s->salvage = true;
        return true;
    case REQUEST_FILL:
        return set_fill(s, value);
    case REQUEST_FORMAT:
        return set_format(s, value);
    case REQUEST_ORDER:
        s->has_order = true;
        return value_order(&s->order, value);
    case REQUEST_THREADS:
        return value_threads(&s->how.threads, value);
    default: /* REQUEST_MEMORY */
        return value_memory(&s->memory, value);
    }
}

bool request_check(const request_settings *s)
{
    const char *problem = NULL;
    bool is_float = s->dtype == TZ_DTYPE_NONE || s->dtype >= TZ_DTYPE_FLOAT16;
    if (s->how.has_fill && !s->how.boundless && !s->salvage)
        problem = "--fill needs --boundless or --salvage";
    else if (s->how.resampling != TZ_RESAMPLING_NONE && !s->has_size)
        problem = "--resampling needs --size";
    else if (s->how.reduced_tiles && !s->has_size)
        problem = "--reduced-tiles needs --size";
    else if (s->has_order && request_is_picture(s->format))
        problem = "--order is for raw and npy";
    else if (s->has_order && s->order == ORDER_ROW && s->format == FORMAT_NPY)
        problem = "--order row is for raw pixels";
    else if (s->how.nodata_to_nan && !is_float)
        problem = "--nodata-to-nan needs a floating-point --dtype";
    else
        problem = window_check(&s->where);
    if (problem != NULL)
        term_usage(problem, NULL, "");
    return problem == NULL && device_check(&s->device);
}
