/* SPDX-License-Identifier: Apache-2.0
 * From raster to model space: scale and tiepoint, matrix, or control points, and RPC coefficients.
 *
 * The first of these that is usable gives the transform, in this order; tiepoints without a scale
 * are control points. A defective tag is a warning, and the next one is tried. Control points are
 * not copied: six numbers of the tag have the layout of a tz_gcp and are changed in place. Comments
 * name the points at which the standard and GDAL differ, and which one is followed. */
#include <math.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

size_t tz_count_finite(const double *values, size_t count)
{
    size_t finite = 0;
    while (finite < count && isfinite(values[finite]))
        finite++;
    return finite;
}

static tz_result warn_count(const tz_context *ctx, uint16_t tag, uint64_t expected, uint64_t found)
{
    return TZ_WARN_GEO(ctx, tz_expecting(tz_at_tag(tag, TZ_NO_VALUE), expected, found),
                       "the number of values is not that of the standard");
}

static tz_result warn_not_finite(const tz_context *ctx, uint16_t tag)
{
    return TZ_WARN_GEO(ctx, tz_at_tag(tag, TZ_NO_VALUE), "a value is infinite or not a number");
}

/* Sets a transform unless it maps different pixels to one point. With PixelIsPoint the tags refer
 * to pixel centres, and tz_geo to corners, half a pixel away. */
static tz_result set_geo_transform(const tz_context *ctx, uint16_t tag, const double *t,
                                   tz_geo *out)
{
    double determinant = t[1] * t[5] - t[2] * t[4];
    double shifted[6] = {t[0], t[1], t[2], t[3], t[4], t[5]};
    if (out->raster_type == TZ_RASTER_TYPE_POINT) {
        shifted[0] -= t[1] * 0.5 + t[2] * 0.5;
        shifted[3] -= t[4] * 0.5 + t[5] * 0.5;
    }
    if (tz_count_finite(shifted, 6) < 6 || !isfinite(determinant))
        return warn_not_finite(ctx, tag);
    /* The determinant of tiny pixels may underflow to 0; an upright image of them is not singular.
     */
    bool upright = t[2] == 0 && t[4] == 0 && t[1] != 0 && t[5] != 0;
    if (determinant == 0 && !upright)
        return TZ_WARN_GEO(ctx, tz_at_tag(tag, TZ_NO_VALUE),
                           "the transform is singular: it maps the image to a line or a point");
    for (size_t i = 0; i < 6; i++)
        out->transform[i] = shifted[i];
    out->has_transform = true;
    return TZ_OK;
}

/* ---- scale and tiepoint ---- */

/* Two values of the scale are enough. The first tiepoint counts, as with GDAL; more are ignored. */
static tz_result read_scale_and_tiepoint(const tz_geo_tags *tags, const tz_context *ctx,
                                         tz_geo *out)
{
    const tz_location at_scale = tz_at_tag(TZ_TAG_PIXEL_SCALE, TZ_NO_VALUE);
    if (!tags->scale)
        return TZ_OK;
    if (tags->scale_count != TZ_SCALE_VALUES)
        TZ_TRY(warn_count(ctx, TZ_TAG_PIXEL_SCALE, TZ_SCALE_VALUES, tags->scale_count));
    if (tags->scale_count < 2)
        return TZ_OK;
    if (tz_count_finite(tags->scale, 2) < 2)
        return warn_not_finite(ctx, TZ_TAG_PIXEL_SCALE);
    if (tags->scale[0] == 0 || tags->scale[1] == 0)
        return TZ_WARN_GEO(ctx, at_scale, "the pixel scale is zero");
    /* Requirement 10 of GeoTIFF 1.1: a reversed sign means a reversed axis. GDAL reads such an
     * image as north-up unless an option says otherwise, hence the warning. */
    if (tags->scale[1] < 0)
        TZ_TRY(TZ_WARN_GEO(ctx, at_scale,
                           "the y scale is negative, so that rows go up as the standard has it; "
                           "GDAL reads the image as north-up"));
    if (tags->tiepoint_count < TZ_TIEPOINT_VALUES)
        return TZ_WARN_GEO(ctx,
                           tz_expecting(tz_at_tag(TZ_TAG_TIEPOINTS, TZ_NO_VALUE),
                                        TZ_TIEPOINT_VALUES, tags->tiepoint_count),
                           "the pixel scale has no tiepoint");
    const double *point = tags->tiepoints;
    double x_scale = tags->scale[0];
    double y_scale = -tags->scale[1];
    double t[6] = {point[3] - point[0] * x_scale, x_scale, 0,
                   point[4] - point[1] * y_scale, 0,       y_scale};
    return set_geo_transform(ctx, TZ_TAG_TIEPOINTS, t, out);
}

/* ---- matrix ---- */

/* Rows and columns of z are ignored: pixels have two coordinates. Writers that store both a matrix
 * and a scale contradict the standard. */
static tz_result read_matrix(const tz_geo_tags *tags, const tz_context *ctx, tz_geo *out)
{
    const double *m = tags->matrix;
    if (!m)
        return TZ_OK;
    if (tags->scale)
        TZ_TRY(TZ_WARN_GEO(ctx, tz_at_tag(TZ_TAG_TRANSFORMATION, TZ_NO_VALUE),
                           "a transformation and a pixel scale exclude each other; the %s is used",
                           out->has_transform ? "scale" : "transformation"));
    if (out->has_transform)
        return TZ_OK;
    if (tags->matrix_count != TZ_MATRIX_VALUES)
        return warn_count(ctx, TZ_TAG_TRANSFORMATION, TZ_MATRIX_VALUES, tags->matrix_count);
    double t[6] = {m[3], m[0], m[1], m[7], m[4], m[5]};
    return set_geo_transform(ctx, TZ_TAG_TRANSFORMATION, t, out);
}

/* ---- control points ---- */

/* Six numbers of the tag are one tz_gcp, so that a list of thousands needs no second copy. */
_Static_assert(sizeof(tz_gcp) == TZ_TIEPOINT_VALUES * sizeof(double), "a tz_gcp is six doubles");
_Static_assert(offsetof(tz_gcp, row) == sizeof(double) && offsetof(tz_gcp, x) == 3 * sizeof(double),
               "in the order of the tag");

/* Reads tiepoints that no scale turned into a transform, without those that are not finite. Four of
 * them at the corners do not become a transform, as with GDAL: a fit is for the user to ask for. */
static tz_result read_gcps(const tz_geo_tags *tags, const tz_context *ctx, tz_geo *out)
{
    uint64_t whole = tags->tiepoint_count / TZ_TIEPOINT_VALUES;
    const uint32_t count = (uint32_t)tz_min(whole, UINT32_MAX);
    uint32_t kept = 0;
    if (!tags->tiepoints || out->has_transform || count == 0)
        return TZ_OK;
    tz_gcp *list = (tz_gcp *)(void *)(uintptr_t)tags->tiepoints; /* see tz_geo_tags */
    for (uint32_t i = 0; i < count; i++) {
        if (tz_count_finite(&list[i].column, TZ_TIEPOINT_VALUES) < TZ_TIEPOINT_VALUES) {
            TZ_TRY(warn_not_finite(ctx, TZ_TAG_TIEPOINTS));
            continue;
        }
        list[kept] = list[i];
        if (out->raster_type == TZ_RASTER_TYPE_POINT) {
            list[kept].column += 0.5;
            list[kept].row += 0.5;
        }
        kept++;
    }
    out->gcps = kept > 0 ? list : NULL;
    out->gcp_count = kept;
    return TZ_OK;
}

tz_result tz_geo_parse_transform(const tz_geo_tags *tags, const tz_context *ctx, tz_geo *out)
{
    const uint64_t count = tags->tiepoint_count;
    if (tags->tiepoints && (count == 0 || count % TZ_TIEPOINT_VALUES != 0)) {
        uint64_t whole = tz_ceil_div(count > 0 ? count : 1, TZ_TIEPOINT_VALUES);
        if (!tz_mul(whole, TZ_TIEPOINT_VALUES, &whole))
            whole = TZ_NO_VALUE;
        TZ_TRY(warn_count(ctx, TZ_TAG_TIEPOINTS, whole, count));
    }
    TZ_TRY(read_scale_and_tiepoint(tags, ctx, out));
    TZ_TRY(read_matrix(tags, ctx, out));
    TZ_TRY(read_gcps(tags, ctx, out));
    if (!tags->rpc)
        return TZ_OK;
    if (tags->rpc_count != TZ_RPC_VALUES)
        return warn_count(ctx, TZ_TAG_RPC, TZ_RPC_VALUES, tags->rpc_count);
    if (tz_count_finite(tags->rpc, TZ_RPC_VALUES) < TZ_RPC_VALUES)
        return warn_not_finite(ctx, TZ_TAG_RPC);
    out->rpc = tags->rpc;
    return TZ_OK;
}
