/* SPDX-License-Identifier: Apache-2.0
 * Transforms of points and bounds from one coordinate reference system to another, by PROJ.
 *
 * A transformer has a PROJ context of its own, and clones of both horizontal CRSs in it, so that it
 * and the two handles may be used in different threads. Clones share objects of PROJ, but these
 * never change. The operation is normalised: x before y on both sides. */
#include "tiff/geo/crs_proj.h"

#ifdef TZ_HAVE_PROJ

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/tags.h"

enum { DEFAULT_DENSIFY_POINTS = 21, MAX_DENSIFY_POINTS = 10000, MAX_SHOWN_NAME = 80 };

struct tz_transformer {
    PJ_CONTEXT *proj;
    tz_proj_log log;
    PJ *operation;
    char from[MAX_SHOWN_NAME + 1]; /* names for messages */
    char to[MAX_SHOWN_NAME + 1];
};

void tz_transformer_close(tz_transformer *transformer)
{
    if (!transformer)
        return;
    proj_destroy(transformer->operation);
    if (transformer->proj)
        proj_context_destroy(transformer->proj);
    tz_free(transformer);
}

/* Makes a clone of the horizontal part in the transformer's context. NULL for a geocentric CRS,
 * whose points have no x and y of their own. */
static PJ *clone_horizontal(PJ_CONTEXT *proj, const tz_crs *crs)
{
    PJ *horizontal = tz_proj_horizontal(proj, crs->crs);
    const PJ_TYPE type = horizontal ? proj_get_type(horizontal) : PJ_TYPE_UNKNOWN;
    if (type == PJ_TYPE_GEOCENTRIC_CRS || type == PJ_TYPE_VERTICAL_CRS) {
        proj_destroy(horizontal);
        return NULL;
    }
    return horizontal;
}

static tz_result set_operation(tz_transformer *made, const tz_crs *from, const tz_crs *to,
                               const tz_context *ctx)
{
    tz_result result = TZ_OK;
    PJ *source = clone_horizontal(made->proj, from);
    PJ *target = clone_horizontal(made->proj, to);
    if (!source || !target) {
        result = tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO, tz_no_location(),
                         "%s is not a CRS of x and y", source ? made->to : made->from);
        goto out;
    }
    PJ *plain = proj_create_crs_to_crs_from_pj(made->proj, source, target, NULL, NULL);
    if (plain) {
        made->operation = proj_normalize_for_visualization(made->proj, plain);
        proj_destroy(plain);
    }
    if (!made->operation)
        result = tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO, tz_no_location(),
                         "PROJ has no transform from %s to %s: %s", made->from, made->to,
                         tz_proj_reason(made->proj, &made->log));
out:
    proj_destroy(source);
    proj_destroy(target);
    return result;
}

tz_result tz_transformer_create(tz_transformer **out, const tz_crs *from, const tz_crs *to,
                                tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_transformer *made = tz_alloc_zeroed(1, sizeof *made);
    if (!made)
        return tz_fail_nomem(&ctx, sizeof *made);
    memcpy(made->from, from->name, strnlen(from->name, MAX_SHOWN_NAME));
    memcpy(made->to, to->name, strnlen(to->name, MAX_SHOWN_NAME));
    made->proj = tz_proj_create_context();
    tz_result result = made->proj ? TZ_OK : tz_fail_nomem(&ctx, sizeof *made);
    if (result == TZ_OK) {
        tz_proj_keep_log(made->proj, &made->log);
        result = set_operation(made, from, to, &ctx);
    }
    if (result == TZ_OK)
        *out = made;
    else
        tz_transformer_close(made);
    return result;
}

/* PROJ writes infinity for points that it cannot transform. Infinite and missing coordinates are
 * not given to it: some of its projections would hang or make numbers of them. */
tz_result tz_transformer_apply(size_t *failed, const tz_transformer *transformer, double *x,
                               double *y, size_t count, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    size_t bad = 0, first = 0;
    double first_x = 0, first_y = 0;
    for (size_t i = 0; i < count; i++) {
        const PJ_COORD from = proj_coord(x[i], y[i], 0, HUGE_VAL);
        PJ_COORD to = from;
        if (isfinite(x[i]) && isfinite(y[i])) {
            proj_errno_reset(transformer->operation);
            to = proj_trans(transformer->operation, PJ_FWD, from);
        }
        const bool good = isfinite(to.v[0]) && isfinite(to.v[1]);
        if (!good && bad++ == 0) {
            first = i;
            first_x = x[i];
            first_y = y[i];
        }
        x[i] = good ? to.v[0] : NAN;
        y[i] = good ? to.v[1] : NAN;
    }
    if (failed)
        *failed = bad;
    if (failed || bad == 0)
        return TZ_OK;
    return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_GEO, tz_no_location(),
                   "point %zu (%g, %g) of %s has no counterpart in %s; %zu of %zu points failed",
                   first, first_x, first_y, transformer->from, transformer->to, bad, count);
}

static bool are_bounds_finite(const double bounds[4])
{
    return isfinite(bounds[0]) && isfinite(bounds[1]) && isfinite(bounds[2]) && isfinite(bounds[3]);
}

/* A least x above the greatest one is left to PROJ: it knows whether the CRS is in degrees. */
tz_result tz_bounds_transform(double out[4], const double bounds[4], const tz_crs *from,
                              const tz_crs *to, uint32_t densify_points, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    const double b[4] = {bounds[0], bounds[1], bounds[2], bounds[3]};
    double made[4] = {NAN, NAN, NAN, NAN};
    tz_transformer *transformer = NULL;
    if (!are_bounds_finite(b) || b[1] > b[3] || (b[0] > b[2] && !tz_crs_is_geographic(from)))
        return TZ_FAIL_ARG(&ctx, "the bounds %g, %g, %g, %g are not finite and in order", b[0],
                           b[1], b[2], b[3]);
    if (densify_points > MAX_DENSIFY_POINTS)
        return TZ_FAIL_ARG(&ctx, "densify_points is %u; it may be %d at most", densify_points,
                           MAX_DENSIFY_POINTS);
    TZ_TRY(tz_transformer_create(&transformer, from, to, err));
    const int points = densify_points != 0 ? (int)densify_points : DEFAULT_DENSIFY_POINTS;
    tz_result result = TZ_OK;
    if (!proj_trans_bounds(transformer->proj, transformer->operation, PJ_FWD, b[0], b[1], b[2],
                           b[3], &made[0], &made[1], &made[2], &made[3], points) ||
        !are_bounds_finite(made))
        result = tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_GEO, tz_no_location(),
                         "the bounds %g, %g, %g, %g of %s have no counterpart in %s: %s", b[0],
                         b[1], b[2], b[3], transformer->from, transformer->to,
                         tz_proj_reason(transformer->proj, &transformer->log));
    tz_transformer_close(transformer);
    if (result == TZ_OK)
        memcpy(out, made, sizeof made);
    return result;
}

#else /* no PROJ */

tz_result tz_transformer_create(tz_transformer **out, const tz_crs *from, const tz_crs *to,
                                tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    (void)out, (void)from, (void)to;
    return tz_fail_without_proj(&ctx);
}

void tz_transformer_close(tz_transformer *transformer)
{
    (void)transformer;
}

tz_result tz_transformer_apply(size_t *failed, const tz_transformer *transformer, double *x,
                               double *y, size_t count, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    (void)failed, (void)transformer, (void)x, (void)y, (void)count;
    return tz_fail_without_proj(&ctx);
}

tz_result tz_bounds_transform(double out[4], const double bounds[4], const tz_crs *from,
                              const tz_crs *to, uint32_t densify_points, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    (void)out, (void)bounds, (void)from, (void)to, (void)densify_points;
    return tz_fail_without_proj(&ctx);
}

#endif
