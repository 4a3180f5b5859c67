/* SPDX-License-Identifier: Apache-2.0
 * From bounds in coordinates to a window of pixels.
 *
 * Bounds in another CRS are first transformed to that of the file. The four edges then become
 * columns and rows of the level, which are rounded outward to whole pixels, except for edges that
 * are within a rounding error of a pixel's edge. In a file in degrees, bounds that were transformed
 * may lie a whole turn away from the image, or cross its side at the antimeridian. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "tiff/geo/crs_proj.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

/* An edge this close to a pixel's edge, in pixels, is on it: coordinates are rarely exact. */
#define EDGE_TOLERANCE 1e-3

/* A range of columns or rows, from low to before high. */
typedef struct pixel_range {
    double low, high;
} pixel_range;

/* Makes the range from the positions of its two ends. */
static pixel_range snap_to_pixels(double a, double b)
{
    const double low = floor(fmin(a, b) + EDGE_TOLERANCE);
    const double high = ceil(fmax(a, b) - EDGE_TOLERANCE);
    return (pixel_range){low, fmax(high, low + 1)};
}

static bool is_far(pixel_range r)
{
    return !(r.low >= -(double)UINT32_MAX && r.high <= (double)UINT32_MAX &&
             r.high - r.low <= (double)UINT32_MAX);
}

static bool is_outside(pixel_range r, uint32_t side)
{
    return !(r.low < side && r.high > 0);
}

/* Clips a range to the image. Returns true if a part of it was outside. */
static bool clip_range(pixel_range *r, uint32_t side)
{
    const pixel_range whole = *r;
    *r = (pixel_range){fmax(r->low, 0), fmin(r->high, side)};
    return r->low != whole.low || r->high != whole.high;
}

/* ---- messages ---- */

enum { NUMBER_SIZE = 32 };

static bool could_be_degrees(const double bounds[4])
{
    return bounds[0] >= -360 && bounds[1] >= -90 && bounds[2] <= 360 && bounds[3] <= 90;
}

/* Guesses the usual mistake, bounds in another CRS. */
static const char *guess_mistake(const tz_geo *geo, const double asked[4], const double image[4])
{
    if (geo->model_type == TZ_MODEL_PROJECTED && could_be_degrees(asked) &&
        !could_be_degrees(image))
        return "; the box looks like degrees, and the image is projected";
    if (geo->model_type == TZ_MODEL_GEOGRAPHIC && !could_be_degrees(asked) &&
        could_be_degrees(image))
        return "; the image is in degrees, and the box is not";
    return "";
}

static tz_result fail_elsewhere(const tz_info *info, const double asked[4], bool transformed,
                                const tz_context *ctx)
{
    const double *t = info->geo->transform;
    const double x = t[0] + info->width * t[1], y = t[3] + info->height * t[5];
    const double image[4] = {fmin(t[0], x), fmin(t[3], y), fmax(t[0], x), fmax(t[3], y)};
    char shown[8][NUMBER_SIZE];
    for (int i = 0; i < 4; i++) {
        tz_format_double(asked[i], shown[i], NUMBER_SIZE);
        tz_format_double(image[i], shown[4 + i], NUMBER_SIZE);
    }
    return TZ_FAIL_ARG(
        ctx, "the bounding box %s,%s,%s,%s%s does not meet the image, which is %s,%s,%s,%s%s",
        shown[0], shown[1], shown[2], shown[3], transformed ? " in the CRS of the file" : "",
        shown[4], shown[5], shown[6], shown[7],
        transformed ? "" : guess_mistake(info->geo, asked, image));
}

/* ---- another CRS ---- */

/* Without PROJ the codes of the file are compared, because it has no tz_crs. */
static bool has_codes_of_file(const tz_crs *crs, const tz_geo *geo)
{
    return tz_geo_is_code(geo->epsg) && tz_crs_get_epsg_horizontal(crs) == geo->epsg &&
           tz_crs_get_epsg_vertical(crs) == geo->epsg_vertical;
}

/* Transforms the bounds to the CRS of the file, and gets the full turn of that CRS. */
static tz_result transform_to_file(double bounds[4], double *turn, const tz_file *file,
                                   const tz_crs *crs, tz_error *err)
{
    tz_crs *own = NULL;
    TZ_TRY(tz_crs_from_file(&own, file, err));
    tz_result result = TZ_OK;
    if (!tz_crs_is_same(crs, own))
        result = tz_bounds_transform(bounds, bounds, crs, own, 0, err);
    *turn = tz_crs_full_turn(own);
    tz_crs_close(own);
    return result;
}

/* Moves the bounds by whole turns to where they meet the columns 0 to width. Fails if they do so in
 * two places, the one to the left and the other to the right of the antimeridian. */
static tz_result move_to_image(double bounds[4], double turn, const double t[6], uint32_t width,
                               const tz_context *ctx)
{
    const double right = bounds[2] < bounds[0] ? bounds[2] + turn : bounds[2];
    int met = 0;
    double found[2] = {bounds[0], right};
    for (int i = -1; i <= 1; i++) {
        const double x[2] = {bounds[0] + i * turn, right + i * turn};
        const pixel_range r = snap_to_pixels((x[0] - t[0]) / t[1], (x[1] - t[0]) / t[1]);
        if (!is_outside(r, width) && met++ == 0)
            memcpy(found, x, sizeof found);
        if (!is_outside(r, width) && r.low <= 0 && r.high >= width) { /* all of the image */
            memcpy(found, x, sizeof found);
            met = 1;
            break;
        }
    }
    if (met > 1)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO, tz_no_location(),
                       "the bounding box lies at both sides of the image, across the antimeridian; "
                       "ask for each part");
    bounds[0] = found[0];
    bounds[2] = found[1];
    return TZ_OK;
}

/* ---- the window ---- */

static tz_result check_bounds_and_image(const double bounds[4], const tz_info *info, uint32_t level,
                                        bool other_crs, const tz_context *ctx)
{
    const double *t = info->geo->transform;
    const bool finite =
        isfinite(bounds[0]) && isfinite(bounds[1]) && isfinite(bounds[2]) && isfinite(bounds[3]);
    if (!finite || bounds[1] >= bounds[3] || (bounds[0] >= bounds[2] && !other_crs))
        return TZ_FAIL_ARG(ctx, "the bounding box %g,%g,%g,%g is not finite and in order",
                           bounds[0], bounds[1], bounds[2], bounds[3]);
    if (level >= info->level_count)
        return TZ_FAIL_ARG(ctx, "there is no level %u; the file has %u", level, info->level_count);
    if (!info->geo->has_transform)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_GEO, tz_no_location(),
                       "the bounding box needs a geotransform, and the file has none");
    if (t[2] != 0 || t[4] != 0 || t[1] == 0 || t[5] == 0)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO, tz_no_location(),
                       "the bounding box needs an image whose sides run along the axes; this one "
                       "is rotated or sheared");
    return TZ_OK;
}

tz_result tz_window_from_bounds(tz_window *out, bool *clipped, const tz_file *file, uint32_t level,
                                const double bounds[4], const tz_crs *crs, bool boundless,
                                tz_error *err)
{
    const tz_info *info = tz_file_get_info(file);
    const tz_context ctx = {.name = info->name, .err = err, .ifd = -1};
    const uint32_t number = level == TZ_LEVEL_AUTO ? 0 : level;
    const bool other_crs = crs && !has_codes_of_file(crs, info->geo);
    double b[4] = {bounds[0], bounds[1], bounds[2], bounds[3]};
    double turn = 0;
    double t[6];
    TZ_TRY(check_bounds_and_image(b, info, number, other_crs, &ctx));
    (void)tz_level_get_transform(t, file, number);
    const tz_level *image = tz_file_get_level(file, number);
    if (other_crs)
        TZ_TRY(transform_to_file(b, &turn, file, crs, err));
    if (turn > 0)
        TZ_TRY(move_to_image(b, turn, t, image->width, &ctx));
    pixel_range columns = snap_to_pixels((b[0] - t[0]) / t[1], (b[2] - t[0]) / t[1]);
    pixel_range rows = snap_to_pixels((b[1] - t[3]) / t[5], (b[3] - t[3]) / t[5]);
    bool cut = false;
    if (!boundless) {
        if (is_outside(columns, image->width) || is_outside(rows, image->height))
            return fail_elsewhere(info, b, other_crs, &ctx);
        cut = clip_range(&columns, image->width);
        cut = clip_range(&rows, image->height) || cut;
    }
    if (is_far(columns) || is_far(rows))
        return TZ_FAIL_ARG(&ctx, "the bounding box is too far away from the image");
    if (clipped)
        *clipped = cut;
    *out = (tz_window){(int64_t)columns.low, (int64_t)rows.low,
                       (uint32_t)(columns.high - columns.low), (uint32_t)(rows.high - rows.low)};
    return TZ_OK;
}
