/* SPDX-License-Identifier: Apache-2.0
 * Options of convert, cog and plan-cog, as they were typed.
 *
 * Each option is parsed when it is met, so that a message names the word that is wrong;
 * convert_check looks at all of them together. It is also the last check because it may read the
 * first bytes of standard input, to see whether that is a .npy array, and so may wait for whoever
 * writes them. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "convert.h"
#include "parse.h"
#include "raw_source.h"
#include "terminal.h"
#include "value.h"

static bool is_standard_input(const convert_settings *s)
{
    return strcmp(s->input, "-") == 0;
}

bool convert_is_raw(const convert_settings *s)
{
    return is_standard_input(s) || s->raw.npy;
}

/* Standard input ------------------------------------------------------------------------------- */

static bool parse_side(const char **at, uint64_t max, uint32_t *out)
{
    uint64_t value;
    if (!parse_uint(at, max, &value) || value == 0)
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool parse_times(const char **at)
{
    return parse_char(at, 'x') || parse_char(at, 'X');
}

/* HxW or HxWxBANDS, in the order of NumPy. */
static bool set_shape(raw_settings *raw, const char *text)
{
    const char *at = text;
    bool right = parse_side(&at, UINT32_MAX, &raw->height) && parse_times(&at) &&
                 parse_side(&at, UINT32_MAX, &raw->width);
    raw->bands = 1;
    if (right && *at != '\0')
        right = parse_times(&at) && parse_side(&at, UINT16_MAX, &raw->bands) && *at == '\0';
    return right ||
           value_wrong("--shape needs rows, columns and bands, such as 512x1024x3; not", text);
}

/* Integers of up to 64 bits are kept exactly; a double could not hold them. */
static bool set_nodata(raw_settings *raw, const char *text)
{
    const char *at = text;
    raw->nodata_text = text;
    if (parse_uint(&at, UINT64_MAX, &raw->nodata.value.u) && *at == '\0') {
        raw->nodata.kind = TZ_NODATA_KIND_UINT;
        return true;
    }
    at = text;
    if (parse_int(&at, INT64_MAX, &raw->nodata.value.i) && *at == '\0') {
        raw->nodata.kind = TZ_NODATA_KIND_INT;
        return true;
    }
    at = text;
    raw->nodata.kind = TZ_NODATA_KIND_FLOAT;
    return (parse_real(&at, &raw->nodata.value.f) && *at == '\0') ||
           value_wrong("--nodata needs a number, not", text);
}

/* Parses a code, alone or after "EPSG:" in any case. *out is 0 for a number that cannot be one. */
static bool parse_code(const char **at, uint16_t *out)
{
    static const char name[] = "EPSG:";
    const size_t size = sizeof name - 1;
    const char *c = strncasecmp(*at, name, size) == 0 ? *at + size : *at;
    bool negative = parse_char(&c, '-');
    size_t digits = strspn(c, "0123456789");
    *at = c + digits;
    uint64_t value;
    bool fits = !negative && parse_uint(&c, 32766, &value) && value >= 1024;
    *out = fits ? (uint16_t)value : 0;
    return digits > 0;
}

/* A horizontal code, or a horizontal and a vertical one with '+' between. */
static bool set_epsg(raw_settings *raw, const char *text)
{
    const char *at = text;
    raw->epsg_vertical = 0;
    bool right = parse_code(&at, &raw->epsg);
    bool known = raw->epsg != 0;
    if (right && parse_char(&at, '+')) {
        right = parse_code(&at, &raw->epsg_vertical);
        known = known && raw->epsg_vertical != 0;
    }
    if (!right || *at != '\0')
        return value_wrong("--epsg needs the code of a CRS, such as 32633, EPSG:32633 or "
                           "25832+5783; not",
                           text);
    return known || value_wrong("an EPSG code of a GeoTIFF is from 1024 to 32766, not", text);
}

/* Six finite numbers in GDAL's order. */
static bool set_transform(raw_settings *raw, const char *text)
{
    const char *at = text;
    for (int i = 0; i < 6; i++) {
        if ((i > 0 && !parse_char(&at, ',')) || !parse_real(&at, &raw->transform[i]) ||
            !isfinite(raw->transform[i]))
            return value_wrong("--transform needs six numbers in GDAL's order, not", text);
    }
    raw->has_transform = true;
    return *at == '\0' || value_wrong("--transform needs six numbers in GDAL's order, not", text);
}

static bool apply_raw(raw_settings *raw, int id, const char *value)
{
    switch (id) {
    case CONVERT_SHAPE:
        return set_shape(raw, value);
    case CONVERT_DTYPE:
        return value_dtype(&raw->dtype, value);
    case CONVERT_ORDER:
        raw->has_order = true;
        return value_order(&raw->order, value);
    case CONVERT_NODATA:
        return set_nodata(raw, value);
    case CONVERT_EPSG:
        return set_epsg(raw, value);
    default: /* CONVERT_TRANSFORM */
        return set_transform(raw, value);
    }
}

/* The rest ------------------------------------------------------------------------------------- */

bool convert_apply(void *user, int id, const char *value)
{
    convert_settings *s = user;
    if (id >= DEVICE_NAME)
        return device_apply(&s->device, id, value);
    switch (id) {
    case CONVERT_CREATION:
        return creation_set(s->creation, value, &s->failed);
    case CONVERT_OVERWRITE:
        s->overwrite = true;
        return true;
    case CONVERT_DRY_RUN:
        s->dry_run = true;
        return true;
    case CONVERT_VERIFY:
        return value_verify(&s->verify, value);
    case CONVERT_NO_SYNC:
        s->no_sync = true;
        return true;
    case CONVERT_STATISTICS:
        s->statistics = true;
        return true;
    case CONVERT_THREADS:
        s->has_threads = true;
        return value_threads(&s->threads, value);
    case CONVERT_MEMORY:
        return value_memory(&s->memory, value);
    case CONVERT_PROFILE:
        return creation_set_profile(s->creation, value, &s->failed);
    case CONVERT_LIBRARY_ENCODERS:
        s->library_encoders = true;
        return true;
    case CONVERT_NAN_TO_NODATA:
        s->nan_to_nodata = true;
        return true;
    case CONVERT_KEEP_NODATA:
        s->keep_nodata = true;
        return true;
    case CONVERT_SPOOL:
        s->spool = value;
        return true;
    default:
        s->raw.given = true;
        return apply_raw(&s->raw, id, value);
    }
}

/* Returns the problem of the options with this input; NULL: none. It is the last check, because it
 * may wait for standard input. */
static const char *check_input(convert_settings *s)
{
    bool has_shape = s->raw.width != 0;
    bool has_dtype = s->raw.dtype != TZ_DTYPE_NONE;
    if (is_standard_input(s) && s->reads_arrays && !has_shape && !has_dtype) {
        s->raw.npy = raw_source_begins_npy();
        return s->raw.npy ? NULL
                          : "standard input needs --shape and --dtype, unless it is a .npy array";
    }
    if (is_standard_input(s))
        return has_shape && has_dtype ? NULL : "standard input needs --shape and --dtype";
    s->raw.npy = s->reads_arrays && raw_source_is_npy(s->input);
    if (s->raw.npy && (has_shape || has_dtype))
        return "--shape and --dtype are in the header of a .npy file";
    if (!s->raw.npy && s->raw.given)
        return "--shape, --dtype, --order, --nodata, --epsg and --transform are for standard "
               "input, '-', and .npy files";
    return NULL;
}

bool convert_check(convert_settings *s)
{
    const char *problem = NULL;
    if (strcmp(s->output, "-") == 0)
        problem = "OUT cannot be standard output: the first bytes of a TIFF are written last";
    else if (s->library_encoders && s->device.name == NULL)
        problem = "--library-encoders needs --device";
    else if (!device_check(&s->device) || !creation_check(s->creation, &s->failed))
        return false;
    else
        problem = check_input(s);
    if (problem != NULL)
        term_usage(problem, NULL, "");
    return problem == NULL;
}
