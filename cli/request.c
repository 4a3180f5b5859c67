/* SPDX-License-Identifier: Apache-2.0
 * A request for one file: the options of read, plan and view, applied to this image.
 *
 * request_open opens the file and resolves in this order: level, window, bands, type, size, device.
 * Later steps need earlier ones: a window is in pixels of the level, and an output size in
 * proportion needs the window. Anything that cannot work is refused here, before the first pixel is
 * read. */
#include "request.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "band_list.h"
#include "picture.h"
#include "problem.h"
#include "sidecars.h"
#include "terminal.h"
#include "text.h"

#define BEYOND_IMAGE "--bbox reaches beyond the image"

bool request_is_resampled(const request *r)
{
    return r->settings->has_size;
}

const tz_level *request_level(const request *r)
{
    return tz_file_get_level(r->file, r->level == TZ_LEVEL_AUTO ? 0 : r->level);
}

/* Level and window ----------------------------------------------------------------------------- */

static bool is_turned(const request *r)
{
    return r->how.oriented && r->info->orientation > 1;
}

/* Width and height of the level as they are read. */
static void level_size(const request *r, uint32_t *width, uint32_t *height)
{
    const tz_level *level = request_level(r);
    bool swapped = is_turned(r) && r->info->orientation >= 5;
    *width = swapped ? level->height : level->width;
    *height = swapped ? level->width : level->height;
}

static tz_result choose_level(request *r, tz_error *err)
{
    const request_settings *s = r->settings;
    if (s->has_level && s->level >= r->info->level_count)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "there is no level %" PRIu32 "; the file has %" PRIu32
                            " (0 is full resolution)",
                            s->level, r->info->level_count);
    r->level = s->has_level ? s->level : s->has_size ? TZ_LEVEL_AUTO : 0;
    return TZ_OK;
}

/* Gives an error about the bounding box the name of its option, and the way out. */
static tz_result name_bbox_option(tz_error *err)
{
    static const char subject[] = "the bounding box";
    tz_error made = *err;
    const char *start = strstr(made.message, subject);
    if (start == NULL)
        return err->result;
    snprintf(err->message, sizeof err->message, "--bbox%s%s", start + strlen(subject),
             err->cause == TZ_CAUSE_GEO ? "; use --window" : "");
    return err->result;
}

static tz_result window_of_bbox(request *r, tz_error *err)
{
    const request_settings *s = r->settings;
    tz_crs *crs = NULL;
    tz_result result = TZ_OK;
    if (is_turned(r))
        return problem_make(err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO,
                            "--bbox and --oriented do not go together for orientation %u",
                            (unsigned)r->info->orientation);
    if (s->bbox_crs != NULL)
        result = tz_crs_create(&crs, s->bbox_crs, err);
    if (result == TZ_OK) {
        result = tz_window_from_bounds(&r->window, &r->clipped, r->file, r->level, s->bbox, crs,
                                       r->how.boundless, err);
        if (result != TZ_OK)
            name_bbox_option(err);
    }
    tz_crs_close(crs);
    if (result == TZ_OK && r->clipped && s->common.open.strict)
        result =
            problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG, BEYOND_IMAGE ", and --strict forbids that");
    return result;
}

/* Checked before anything is read: a read in several blocks would find out late. */
static tz_result check_bounds(const request *r, uint32_t width, uint32_t height, tz_error *err)
{
    const tz_window *w = &r->window;
    if (r->how.boundless || (w->column >= 0 && w->row >= 0 && w->column + w->width <= width &&
                             w->row + w->height <= height))
        return TZ_OK;
    return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                        "the window (columns %" PRId64 " to %" PRId64 ", rows %" PRId64
                        " to %" PRId64 ") reaches beyond the image of %" PRIu32 " x %" PRIu32
                        " pixels%s",
                        w->column, w->column + w->width - 1, w->row, w->row + w->height - 1, width,
                        height, r->settings->inside_only ? "" : "; --boundless allows it");
}

static tz_result choose_window(request *r, tz_error *err)
{
    uint32_t width;
    uint32_t height;
    tz_result result = TZ_OK;
    level_size(r, &width, &height);
    r->window = r->settings->has_window ? r->settings->window : (tz_window){0, 0, width, height};
    if (r->settings->has_bbox)
        result = window_of_bbox(r, err);
    return result == TZ_OK ? check_bounds(r, width, height, err) : result;
}

static uint32_t in_proportion(uint32_t side, uint32_t of, uint32_t to)
{
    double size = round((double)side * to / of);
    return size < 1 ? 1 : size > (double)UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

static void choose_result_size(request *r)
{
    const request_settings *s = r->settings;
    const tz_window *w = &r->window;
    r->width = w->width;
    r->height = w->height;
    if (!s->has_size)
        return;
    r->width = s->width != 0 ? s->width : in_proportion(w->width, w->height, s->height);
    r->height = s->height != 0 ? s->height : in_proportion(w->height, w->width, s->width);
}

/* Bands and type ------------------------------------------------------------------------------- */

static tz_result choose_bands(request *r, tz_error *err)
{
    if (request_is_picture(r->format))
        return picture_choose_bands(r, err);
    return band_list_read(r->settings->bands, r->info->bands, &r->bands, &r->band_count, err);
}

/* Scaled values and NaN need floats: float32 holds all values of 16 bits. */
static tz_dtype as_float(tz_dtype dtype)
{
    if (dtype >= TZ_DTYPE_FLOAT16)
        return dtype;
    return dtype <= TZ_DTYPE_INT16 ? TZ_DTYPE_FLOAT32 : TZ_DTYPE_FLOAT64;
}

/* NumPy's complex numbers are pairs of float32 or float64; these hold the others exactly. */
static tz_dtype as_numpy(tz_dtype dtype)
{
    if (dtype == TZ_DTYPE_COMPLEX_INT16 || dtype == TZ_DTYPE_COMPLEX_FLOAT16)
        return TZ_DTYPE_COMPLEX_FLOAT32;
    return dtype == TZ_DTYPE_COMPLEX_INT32 ? TZ_DTYPE_COMPLEX_FLOAT64 : dtype;
}

static tz_result choose_dtype(request *r, tz_error *err)
{
    tz_dtype asked = r->settings->dtype;
    r->dtype = asked != TZ_DTYPE_NONE ? asked : r->info->dtype;
    if (r->dtype == TZ_DTYPE_NONE)
        r->dtype = TZ_DTYPE_UINT8; /* reading then says why the samples have no type */
    if (asked == TZ_DTYPE_NONE && (r->how.scaled || r->how.nodata_to_nan))
        r->dtype = as_float(r->dtype);
    if (r->format == FORMAT_NPY && as_numpy(r->dtype) != r->dtype) {
        if (asked != TZ_DTYPE_NONE)
            return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                                "NumPy has no %s; use %s, or --format raw", tz_dtype_name(asked),
                                asked == TZ_DTYPE_COMPLEX_INT32 ? "complex128" : "complex64");
        r->dtype = as_numpy(r->dtype);
    }
    if (request_is_picture(r->format) && r->dtype >= TZ_DTYPE_COMPLEX_INT16)
        return problem_make(err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                            "complex numbers make no picture; --dtype float32 takes the real part");
    return TZ_OK;
}

/* Below this size, offsets in the output cannot overflow, whatever the format adds. */
static tz_result check_result_size(const request *r, tz_error *err)
{
    uint64_t max = (uint64_t)INT64_MAX / 2 / r->band_count / tz_dtype_size(r->dtype);
    if ((uint64_t)r->width * r->height <= max)
        return TZ_OK;
    return problem_make(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                        "the result is larger than a file can be");
}

static tz_result resolve_request(request *r, tz_error *err)
{
    tz_result result = choose_level(r, err);
    if (result == TZ_OK)
        result = choose_window(r, err);
    if (result == TZ_OK)
        result = choose_bands(r, err);
    if (result == TZ_OK)
        result = choose_dtype(r, err);
    if (result == TZ_OK)
        choose_result_size(r);
    if (r->settings->has_size && r->how.resampling == TZ_RESAMPLING_NONE)
        r->how.resampling = TZ_RESAMPLING_NEAREST;
    return result == TZ_OK ? check_result_size(r, err) : result;
}

static tz_result open_request_device(request *r, tz_error *err)
{
    const device_settings *asked = &r->settings->device;
    tz_result result = device_open(&r->device, asked, err);
    r->how.device = r->device;
    r->how.strict_device = asked->strict;
    r->how.allow_vendor_codecs = asked->lossy;
    r->how.allow_inexact = asked->lossy;
    r->how.max_device_bytes = asked->memory;
    return result;
}

tz_result request_open(request *r, const request_settings *settings, const char *path,
                       request_format format, tz_error *err)
{
    *r = (request){.settings = settings,
                   .format = format,
                   .how = settings->how,
                   .masked = settings->masked || request_is_picture(format)};
    r->how.log = settings->common.open.log;
    tz_result result = tz_open(&r->file, path, &settings->common.open, err);
    if (result != TZ_OK)
        return result;
    r->info = tz_file_get_info(r->file);
    sidecars_note(path, r->file, settings->common.open.sidecars);
    result = resolve_request(r, err);
    if (result == TZ_OK)
        result = open_request_device(r, err);
    r->memory = memory_divide(settings->memory, r->how.threads, device_has_memory(r->device));
    if (result != TZ_OK)
        request_close(r);
    return result;
}

void request_print_warnings(const request *r)
{
    problem_print_warnings(r->file);
    if (r->clipped)
        term_warning(BEYOND_IMAGE ", and is clipped to it", 1);
}

void request_close(request *r)
{
    free(r->bands);
    tz_close(r->file);
    tz_device_close(r->device);
    *r = (request){0};
}
