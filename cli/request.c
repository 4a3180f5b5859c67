/* SPDX-License-Identifier: Apache-2.0
 * A request for one file: the options of read, plan and view, applied to this image.
 *
 * request_open opens the file and resolves in this order: level, window, bands, size and type,
 * device. The library has the rules (tz_read_resolve); it is asked step by step, so that an error
 * can name the option. Anything that cannot work is refused here, before the first pixel is read.
 */
#include "request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "band_list.h"
#include "picture.h"
#include "problem.h"
#include "sidecars.h"
#include "terminal.h"
#include "text.h"

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

/* Resolves level and window alone: a pixel of one band is small enough for any level. */
static tz_result resolve_window(const request *r, tz_window *window, tz_error *err)
{
    static const uint32_t first_band = 0;
    tz_read_shape shape = TZ_READ_SHAPE_INIT;
    tz_read_options how = r->how;
    tz_buffer into = TZ_BUFFER_INIT;
    tz_item item = TZ_ITEM_INIT;
    into.dtype = TZ_DTYPE_UINT8;
    into.width = 1;
    into.height = 1;
    how.resampling = TZ_RESAMPLING_NEAREST;
    item.file = r->file;
    item.level = r->level;
    item.window = *window;
    item.bands = &first_band;
    item.band_count = 1;
    item.into = &into;
    tz_result result = tz_read_resolve(&shape, &item, &how, err);
    if (result == TZ_OK)
        *window = shape.window;
    return result;
}

/* The window is that of the whole level afterwards. */
static tz_result choose_level(request *r, tz_error *err)
{
    const request_settings *s = r->settings;
    r->level = s->has_level ? s->level : s->has_size ? TZ_LEVEL_AUTO : 0;
    tz_result result = resolve_window(r, &r->window, err);
    if (result == TZ_ERR_ARG && s->has_level)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "there is no level %" PRIu32 "; the file has %" PRIu32
                            " (0 is full resolution)",
                            s->level, r->info->level_count);
    return result;
}

static tz_result use_bbox(request *r, tz_error *err)
{
    const request_settings *s = r->settings;
    if (is_turned(r))
        return problem_make(err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO,
                            "--bbox and --oriented do not go together for orientation %u",
                            (unsigned)r->info->orientation);
    return window_of_bbox(&r->window, &r->clipped, &s->where, r->file, r->level, r->how.boundless,
                          s->common.open.strict, err);
}

static tz_result choose_window(request *r, tz_error *err)
{
    const tz_window whole = r->window;
    tz_window *w = &r->window;
    tz_result result = TZ_OK;
    if (r->settings->where.has_window)
        *w = r->settings->where.window;
    if (r->settings->where.has_bbox)
        result = use_bbox(r, err);
    if (result != TZ_OK)
        return result;
    result = resolve_window(r, w, err);
    if (result == TZ_ERR_ARG && !r->how.boundless)
        return window_refuse(w, whole.width, whole.height,
                             r->settings->inside_only ? "" : "; --boundless allows it", err);
    return result;
}

/* Bands, size and type ------------------------------------------------------------------------- */

static tz_result choose_bands(request *r, tz_error *err)
{
    if (request_is_picture(r->format))
        return picture_choose_bands(r, err);
    return band_list_read(r->settings->bands, r->file, &r->bands, &r->band_count, err);
}

static tz_result too_large(tz_error *err)
{
    return problem_make(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                        "the result is larger than a file can be");
}

static tz_result choose_shape(request *r, tz_error *err)
{
    tz_read_shape shape = TZ_READ_SHAPE_INIT;
    tz_buffer into = TZ_BUFFER_INIT;
    tz_item item = TZ_ITEM_INIT;
    if (r->settings->has_size && r->how.resampling == TZ_RESAMPLING_NONE)
        r->how.resampling = TZ_RESAMPLING_NEAREST;
    into.dtype = r->settings->dtype;
    into.width = r->settings->width;
    into.height = r->settings->height;
    item.file = r->file;
    item.level = r->level;
    item.window = r->window;
    item.bands = r->bands;
    item.band_count = r->band_count;
    item.into = &into;
    tz_result result = tz_read_resolve(&shape, &item, &r->how, err);
    if (result == TZ_ERR_ARG && err->expected == INT64_MAX)
        return too_large(err);
    r->width = shape.width;
    r->height = shape.height;
    r->dtype = shape.dtype;
    return result;
}

/* NumPy's complex numbers are pairs of float32 or float64; these hold the others exactly. */
static tz_dtype as_numpy(tz_dtype dtype)
{
    if (dtype == TZ_DTYPE_COMPLEX_INT16 || dtype == TZ_DTYPE_COMPLEX_FLOAT16)
        return TZ_DTYPE_COMPLEX_FLOAT32;
    return dtype == TZ_DTYPE_COMPLEX_INT32 ? TZ_DTYPE_COMPLEX_FLOAT64 : dtype;
}

/* The format of the output may not have the type. */
static tz_result fit_dtype(request *r, tz_error *err)
{
    tz_dtype asked = r->settings->dtype;
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
    return (uint64_t)r->width * r->height <= max ? TZ_OK : too_large(err);
}

static tz_result resolve_request(request *r, tz_error *err)
{
    tz_result result = choose_level(r, err);
    if (result == TZ_OK)
        result = choose_window(r, err);
    if (result == TZ_OK)
        result = choose_bands(r, err);
    if (result == TZ_OK)
        result = choose_shape(r, err);
    if (result == TZ_OK)
        result = fit_dtype(r, err);
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
        term_warning(WINDOW_BEYOND_IMAGE ", and is clipped to it", 1);
}

void request_close(request *r)
{
    free(r->bands);
    tz_close(r->file);
    tz_device_close(r->device);
    *r = (request){0};
}
