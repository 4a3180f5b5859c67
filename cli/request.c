/* SPDX-License-Identifier: Apache-2.0
 * A request for one file: the options of read, plan and view, applied to this image.
 *
 * request_open opens the file and resolves in this order: level, window, bands, type, size, device.
 * Later steps need earlier ones: a window is in pixels of the level, and an output size in
 * proportion needs the window. A bounding box is snapped outward to whole pixels, except for
 * corners that are within a rounding error of a pixel's edge. Anything that cannot work is refused
 * here, before the first pixel is read. */
#include "request.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "band_list.h"
#include "picture.h"
#include "problem.h"
#include "sidecars.h"
#include "terminal.h"
#include "text.h"

#define BEYOND_IMAGE "--bbox reaches beyond the image"

/* A corner this close to a pixel's edge, in pixels, is on the edge: coordinates are rarely exact.
 * `info` prints bounds with enough digits for that. */
#define EDGE_TOLERANCE 1e-3

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

/* A range of columns or rows, from low to before high. */
typedef struct range {
    double low, high;
} range;

/* Makes the range from the coordinates of its two ends. */
static range snap_to_pixels(double a, double b)
{
    double low = floor(fmin(a, b) + EDGE_TOLERANCE);
    double high = ceil(fmax(a, b) - EDGE_TOLERANCE);
    return (range){low, fmax(high, low + 1)};
}

static bool is_far(range r)
{
    return !(r.low >= -(double)UINT32_MAX && r.high <= (double)UINT32_MAX &&
             r.high - r.low <= (double)UINT32_MAX);
}

static void set_window_from_ranges(tz_window *w, range columns, range rows)
{
    *w = (tz_window){(int64_t)columns.low, (int64_t)rows.low,
                     (uint32_t)(columns.high - columns.low), (uint32_t)(rows.high - rows.low)};
}

/* Gets the least x and y and the greatest x and y of the image. */
static void image_bounds(const tz_info *info, double bounds[4])
{
    const double *t = info->geo->transform;
    double x = t[0] + info->width * t[1];
    double y = t[3] + info->height * t[5];
    bounds[0] = fmin(t[0], x);
    bounds[1] = fmin(t[3], y);
    bounds[2] = fmax(t[0], x);
    bounds[3] = fmax(t[3], y);
}

static bool could_be_degrees(const double bounds[4])
{
    return bounds[0] >= -360 && bounds[1] >= -90 && bounds[2] <= 360 && bounds[3] <= 90;
}

/* Guesses the usual mistake, a box in another CRS, for the message. */
static const char *other_units(const tz_geo *geo, const double asked[4], const double image[4])
{
    if (geo->model_type == 1 && could_be_degrees(asked) && !could_be_degrees(image))
        return "; the box looks like degrees, and the image is projected";
    if (geo->model_type == 2 && !could_be_degrees(asked) && could_be_degrees(image))
        return "; the image is in degrees, and the box is not";
    return "";
}

static tz_result fail_elsewhere(const request *r, tz_error *err)
{
    const double *asked = r->settings->bbox;
    double image[4];
    char shown[8][TEXT_NUMBER];
    image_bounds(r->info, image);
    for (int i = 0; i < 4; i++) {
        text_double(shown[i], asked[i]);
        text_double(shown[4 + i], image[i]);
    }
    return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                        "--bbox %s,%s,%s,%s does not meet the image, which is %s,%s,%s,%s%s",
                        shown[0], shown[1], shown[2], shown[3], shown[4], shown[5], shown[6],
                        shown[7], other_units(r->info->geo, asked, image));
}

static bool is_outside(range r, uint32_t side)
{
    return !(r.low < side && r.high > 0);
}

/* Clips a range to the image. Returns true if a part of it was outside. */
static bool clip_range(range *r, uint32_t side)
{
    range whole = *r;
    *r = (range){fmax(r->low, 0), fmin(r->high, side)};
    return r->low != whole.low || r->high != whole.high;
}

static tz_result clip_bbox(request *r, range *columns, range *rows, tz_error *err)
{
    const tz_level *level = request_level(r);
    if (is_outside(*columns, level->width) || is_outside(*rows, level->height))
        return fail_elsewhere(r, err);
    r->clipped = clip_range(columns, level->width);
    r->clipped = clip_range(rows, level->height) || r->clipped;
    if (r->clipped && r->settings->common.open.strict)
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            BEYOND_IMAGE ", and --strict forbids that");
    return TZ_OK;
}

static tz_result window_of_bbox(request *r, tz_error *err)
{
    const tz_geo *geo = r->info->geo;
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
    range x = snap_to_pixels((box[0] - t[0]) * columns, (box[2] - t[0]) * columns);
    range y = snap_to_pixels((box[1] - t[3]) * rows, (box[3] - t[3]) * rows);
    tz_result result = r->how.boundless ? TZ_OK : clip_bbox(r, &x, &y, err);
    if (result != TZ_OK)
        return result;
    if (is_far(x) || is_far(y))
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            "the bounding box is too far away from the image");
    set_window_from_ranges(&r->window, x, y);
    return TZ_OK;
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
    if (r->format == FORMAT_PNG)
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
    if (r->format == FORMAT_PNG && r->dtype >= TZ_DTYPE_COMPLEX_INT16)
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
