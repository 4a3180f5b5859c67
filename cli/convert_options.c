/* SPDX-License-Identifier: Apache-2.0
 * Options of convert, cog and plan-cog, as they were typed.
 *
 * Each option is parsed when it is met, so that a message names the word that is wrong;
 * convert_check looks at all of them together. It is also the last check because it may read the
 * first bytes of standard input, to see whether that is a .npy array, and so may wait for whoever
 * writes them. */
#include <string.h>

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

/* The rest ------------------------------------------------------------------------------------- */

bool convert_apply(void *user, int id, const char *value)
{
    convert_settings *s = user;
    if (id >= DEVICE_NAME)
        return device_apply(&s->device, id, value);
    if (id >= EDIT_BANDS)
        return edit_apply_option(&s->edit, id, value, &s->failed);
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
    case CONVERT_SHAPE:
        return set_shape(&s->raw, value);
    default: /* CONVERT_ORDER */
        s->raw.has_order = true;
        return value_order(&s->raw.order, value);
    }
}

void convert_settings_free(convert_settings *s)
{
    tz_creation_free(s->creation);
    edit_settings_free(&s->edit);
    s->creation = NULL;
}

/* Returns true if the options go with raw pixels; otherwise a message was printed. --dtype is the
 * type that they have. */
static bool check_raw(convert_settings *s)
{
    const char *problem = NULL;
    const bool has_shape = s->raw.width != 0;
    const bool has_dtype = s->edit.dtype != TZ_DTYPE_NONE;
    if (s->edit.pixel_option != NULL || s->common.all_pages)
        return term_usage(
                   "only the pixels of a TIFF can be changed, and not raw ones or those of a "
                   ".npy array, by",
                   s->common.all_pages ? "--page all" : s->edit.pixel_option, ""),
               false;
    if (!is_standard_input(s)) {
        if (has_shape || has_dtype)
            problem = "--shape and --dtype are in the header of a .npy file";
    } else if (s->reads_arrays && !has_shape && !has_dtype) {
        s->raw.npy = raw_source_begins_npy();
        if (!s->raw.npy)
            problem = "standard input needs --shape and --dtype, unless it is a .npy array";
    } else if (!has_shape || !has_dtype) {
        problem = "standard input needs --shape and --dtype";
    }
    s->raw.dtype = s->edit.dtype;
    if (problem != NULL)
        term_usage(problem, NULL, "");
    return problem == NULL;
}

/* Returns true if the options go with this input; otherwise a message was printed. It is the last
 * check, because it may wait for standard input. */
static bool check_input(convert_settings *s)
{
    s->raw.npy = s->reads_arrays && !is_standard_input(s) && raw_source_is_npy(s->input);
    if (convert_is_raw(s))
        return check_raw(s);
    if (s->raw.width != 0 || s->raw.has_order)
        return term_usage("--shape and --order are for standard input, '-', and .npy files", NULL,
                          ""),
               false;
    if (!s->reads_arrays && s->edit.dtype != TZ_DTYPE_NONE)
        return term_usage("--dtype is for standard input, '-'", NULL, ""), false;
    return true;
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
        problem = edit_check(&s->edit, s->cog);
    if (problem != NULL)
        term_usage(problem, NULL, "");
    return problem == NULL && check_input(s);
}
