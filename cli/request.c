/* SPDX-License-Identifier: Apache-2.0
 * What it means for one file. */
#include "request.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "band_list.h"
#include "picture.h"
#include "problem.h"
#include "sidecars.h"

/* A corner this close to a pixel's edge is on it: coordinates are rarely exact. */
#define EDGE_TOLERANCE 1e-6

bool request_is_resampled(const request *r)
{
    return r->settings->has_size;
}

const tz_level *request_level(const request *r)
{
    return &r->info->levels[r->level == TZ_LEVEL_AUTO ? 0 : r->level];
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

/* Pixels low to high of a line of them, from the coordinates of its two ends. */
static tz_result snap(double a, double b, int64_t *first, uint32_t *count, tz_error *err)
{
    double low = floor(fmin(a, b) + EDGE_TOLERANCE);
    double high = ceil(fmax(a, b) - EDGE_TOLERANCE);
    if (!(low >= -(double)UINT32_MAX && high <= (double)UINT32_MAX))
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "the bounding box is too far away from the image");
    if (high <= low)
        high = low + 1;
    *first = (int64_t)low;
    *count = (uint32_t)fmin(high - low, (double)UINT32_MAX);
    return TZ_OK;
}

static tz_result window_of_bbox(request *r, tz_error *err)
{
    const tz_geo *geo = &r->info->geo;
    const tz_level *level = request_level(r);
    const double *t = geo->transform;
    const double *box = r->settings->bbox;
    if (!geo->has_transform)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_GEO,
                            "--bbox needs a geotransform, and the file has none; use --window");
    if (t[2] != 0 || t[4] != 0 || t[1] == 0 || t[5] == 0)
        return problem_make(err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO,
                            "--bbox needs an image whose sides run along the axes; this one is "
                            "rotated or sheared; use --window");
    if (is_turned(r))
        return problem_make(err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO,
                            "--bbox and --oriented do not go together for orientation %u",
                            (unsigned)r->info->orientation);
    double columns = (double)level->width / r->info->width / t[1];
    double rows = (double)level->height / r->info->height / t[5];
    tz_result result = snap((box[0] - t[0]) * columns, (box[2] - t[0]) * columns, &r->window.column,
                            &r->window.width, err);
    if (result != TZ_OK)
        return result;
    return snap((box[1] - t[3]) * rows, (box[3] - t[3]) * rows, &r->window.row, &r->window.height,
                err);
}

/* Before anything is read: a read in several pieces would find it out late. */
static tz_result check_bounds(const request *r, uint32_t width, uint32_t height, tz_error *err)
{
    const tz_window *w = &r->window;
    if (r->how.boundless || (w->column >= 0 && w->row >= 0 && w->column + w->width <= width &&
                             w->row + w->height <= height))
        return TZ_OK;
    return problem_make(
        err, TZ_ERR_ARG, TZ_CAUSE_ARG,
        "the window (columns %" PRId64 " to %" PRId64 ", rows %" PRId64 " to %" PRId64
        ") reaches beyond the image of %" PRIu32 " x %" PRIu32 " pixels; --boundless allows it",
        w->column, w->column + w->width - 1, w->row, w->row + w->height - 1, width, height);
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

static void choose_size(request *r)
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
    if (r->format == FORMAT_PNG)
        return picture_choose_bands(r, err);
    return band_list_read(r->settings->bands, r->info->bands, &r->bands, &r->band_count, err);
}

/* Scaled values and NaN need floats: float32 holds what 16 bits hold. */
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
    if (r->format == FORMAT_PNG && r->dtype >= TZ_DTYPE_COMPLEX_INT16)
        return problem_make(err, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                            "complex numbers make no picture; --dtype float32 takes the real part");
    return TZ_OK;
}

/* Offsets in the output are then free of overflow, whatever the format adds. */
static tz_result check_size(const request *r, tz_error *err)
{
    uint64_t most = (uint64_t)INT64_MAX / 2 / r->band_count / tz_dtype_size(r->dtype);
    if ((uint64_t)r->width * r->height <= most)
        return TZ_OK;
    return problem_make(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                        "the result is larger than a file can be");
}

static tz_result resolve(request *r, tz_error *err)
{
    tz_result result = choose_level(r, err);
    if (result == TZ_OK)
        result = choose_window(r, err);
    if (result == TZ_OK)
        result = choose_bands(r, err);
    if (result == TZ_OK)
        result = choose_dtype(r, err);
    if (result == TZ_OK)
        choose_size(r);
    if (r->settings->has_size && r->how.resampling == TZ_RESAMPLE_NONE)
        r->how.resampling = TZ_RESAMPLE_NEAREST;
    return result == TZ_OK ? check_size(r, err) : result;
}

static tz_result choose_device(request *r, tz_error *err)
{
    const device_settings *asked = &r->settings->device;
    tz_result result = device_open(&r->device, asked, err);
    r->how.device = r->device;
    r->how.strict_device = asked->strict;
    r->how.lossy_on_device = asked->lossy;
    r->how.device_bytes = asked->memory;
    return result;
}

tz_result request_open(request *r, const request_settings *settings, const char *path,
                       request_format format, tz_error *err)
{
    *r = (request){.settings = settings,
                   .format = format,
                   .how = settings->how,
                   .masked = settings->masked || format == FORMAT_PNG};
    tz_result result = tz_open(&r->file, path, &settings->common.open, err);
    if (result != TZ_OK)
        return result;
    r->info = tz_file_info(r->file);
    sidecars_note(path, r->info, settings->common.open.sidecars);
    result = resolve(r, err);
    if (result == TZ_OK)
        result = choose_device(r, err);
    r->memory = memory_divide(settings->memory, r->how.threads, device_has_memory(r->device));
    if (result != TZ_OK)
        request_close(r);
    return result;
}

void request_close(request *r)
{
    free(r->bands);
    tz_close(r->file);
    tz_device_close(r->device);
    *r = (request){0};
}
