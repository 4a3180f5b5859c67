/* SPDX-License-Identifier: Apache-2.0
 * Coordinate reference systems compared: the parts of one, whether two are the same, and which code
 * EPSG has for one.
 *
 * A GeoTIFF has x first, also if EPSG has y first, so that the order of axes never matters here.
 * PROJ ignores it for geographic CRSs; projected ones are compared by base, operation and unit. */
#include "tiff/geo/crs_proj.h"

#ifdef TZ_HAVE_PROJ

#include <math.h>
#include <string.h>

bool tz_proj_is_same_size(double a, double b)
{
    return fabs(a - b) <= 1e-10 * fabs(b);
}

/* Compares two geographic CRSs without their names. */
static bool is_same_ellipsoid(PJ_CONTEXT *proj, const PJ *a, const PJ *b)
{
    PJ *parts[4] = {proj_get_ellipsoid(proj, a), proj_get_ellipsoid(proj, b),
                    proj_get_prime_meridian(proj, a), proj_get_prime_meridian(proj, b)};
    double axis[2] = {0}, flattening[2] = {0}, longitude[2] = {0}, unit[2] = {0};
    bool known = true;
    for (int i = 0; i < 2; i++)
        known =
            known && parts[i] && parts[2 + i] &&
            proj_ellipsoid_get_parameters(proj, parts[i], &axis[i], NULL, NULL, &flattening[i]) &&
            proj_prime_meridian_get_parameters(proj, parts[2 + i], &longitude[i], &unit[i], NULL);
    for (size_t i = 0; i < 4; i++)
        proj_destroy(parts[i]);
    return known && tz_proj_is_same_size(axis[0], axis[1]) &&
           tz_proj_is_same_size(flattening[0], flattening[1]) &&
           tz_proj_is_same_size(longitude[0] * unit[0], longitude[1] * unit[1]);
}

/* The order of axes does not matter: a GeoTIFF has x first, also if EPSG has y first. */
bool tz_proj_is_same_projection(PJ_CONTEXT *proj, const PJ *a, const PJ *b, bool any_datum)
{
    PJ *base_a = proj_crs_get_geodetic_crs(proj, a);
    PJ *base_b = proj_crs_get_geodetic_crs(proj, b);
    PJ *operation_a = proj_crs_get_coordoperation(proj, a);
    PJ *operation_b = proj_crs_get_coordoperation(proj, b);
    bool same =
        base_a && base_b && operation_a && operation_b &&
        (any_datum ? is_same_ellipsoid(proj, base_a, base_b)
                   : proj_is_equivalent_to_with_ctx(
                         proj, base_a, base_b, PJ_COMP_EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS)) &&
        proj_is_equivalent_to_with_ctx(proj, operation_a, operation_b, PJ_COMP_EQUIVALENT) &&
        tz_proj_is_same_size(tz_proj_unit_size(proj, a), tz_proj_unit_size(proj, b));
    proj_destroy(base_a);
    proj_destroy(base_b);
    proj_destroy(operation_a);
    proj_destroy(operation_b);
    return same;
}

/* Returns the code of the first match that PROJ is sure of (90: the same but for the name), or that
 * differs in the order of axes only; 0: none. */
int tz_proj_identify_epsg(PJ_CONTEXT *proj, const PJ *crs)
{
    enum { SURE = 90, MAX_TRIED = 8 };
    int *confidence = NULL;
    int code = 0;
    PJ_OBJ_LIST *list = proj_identify(proj, crs, "EPSG", NULL, &confidence);
    int count = list && confidence ? proj_list_get_count(list) : 0;
    bool projected = proj_get_type(crs) == PJ_TYPE_PROJECTED_CRS;
    for (int i = 0; i < count && i < MAX_TRIED && code == 0; i++) {
        PJ *match = proj_list_get(proj, list, i);
        if (match && (confidence[i] >= SURE ||
                      (projected && tz_proj_is_same_projection(proj, crs, match, false))))
            code = tz_proj_epsg(match);
        proj_destroy(match);
    }
    proj_int_list_destroy(confidence);
    proj_list_destroy(list);
    return code;
}

PJ *tz_proj_horizontal(PJ_CONTEXT *proj, const PJ *crs)
{
    return proj_get_type(crs) == PJ_TYPE_COMPOUND_CRS ? proj_crs_get_sub_crs(proj, crs, 0)
                                                      : proj_clone(proj, crs);
}

PJ *tz_proj_vertical(PJ_CONTEXT *proj, const PJ *crs)
{
    return proj_get_type(crs) == PJ_TYPE_COMPOUND_CRS ? proj_crs_get_sub_crs(proj, crs, 1) : NULL;
}

/* True if x does not grow eastward: then the order of axes is not all that can differ. */
static bool has_westward_axis(PJ_CONTEXT *proj, const PJ *crs)
{
    PJ *system = proj_crs_get_coordinate_system(proj, crs);
    bool west = false;
    for (int i = 0; system && i < 2 && !west; i++) {
        const char *direction = NULL;
        west = proj_cs_get_axis_info(proj, system, i, NULL, NULL, &direction, NULL, NULL, NULL,
                                     NULL) &&
               direction && strcmp(direction, "west") == 0;
    }
    proj_destroy(system);
    return west;
}

static int count_axes(PJ_CONTEXT *proj, const PJ *crs)
{
    PJ *system = proj_crs_get_coordinate_system(proj, crs);
    const int count = system ? proj_cs_get_axis_count(proj, system) : 0;
    proj_destroy(system);
    return count;
}

static bool is_same_single(PJ_CONTEXT *proj, const PJ *a, const PJ *b)
{
    if (proj_is_equivalent_to_with_ctx(proj, a, b, PJ_COMP_EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS))
        return true;
    return proj_get_type(a) == PJ_TYPE_PROJECTED_CRS && proj_get_type(b) == PJ_TYPE_PROJECTED_CRS &&
           count_axes(proj, a) == count_axes(proj, b) &&
           tz_proj_is_same_projection(proj, a, b, false) && !has_westward_axis(proj, a) &&
           !has_westward_axis(proj, b);
}

/* Compares the parameters to WGS 84 of two bound CRSs. */
static bool is_same_binding(PJ_CONTEXT *proj, const PJ *a, const PJ *b)
{
    PJ *way_a = proj_crs_get_coordoperation(proj, a);
    PJ *way_b = proj_crs_get_coordoperation(proj, b);
    double values_a[7], values_b[7];
    bool same = way_a && way_b &&
                proj_coordoperation_get_towgs84_values(proj, way_a, values_a, 7, 0) &&
                proj_coordoperation_get_towgs84_values(proj, way_b, values_b, 7, 0);
    for (int i = 0; i < 7 && same; i++)
        same = fabs(values_a[i] - values_b[i]) <= 1e-10 * fmax(1, fabs(values_b[i]));
    proj_destroy(way_a);
    proj_destroy(way_b);
    return same;
}

bool tz_proj_is_same(PJ_CONTEXT *proj, const PJ *a, const PJ *b)
{
    const PJ_TYPE type = proj_get_type(a);
    const bool bound = type == PJ_TYPE_BOUND_CRS;
    const bool compound = type == PJ_TYPE_COMPOUND_CRS;
    if (bound != (proj_get_type(b) == PJ_TYPE_BOUND_CRS) ||
        compound != (proj_get_type(b) == PJ_TYPE_COMPOUND_CRS))
        return false;
    if (!bound && !compound)
        return is_same_single(proj, a, b);
    PJ *parts[4] = {NULL};
    bool same;
    if (bound) {
        parts[0] = proj_get_source_crs(proj, a);
        parts[1] = proj_get_source_crs(proj, b);
        same = is_same_binding(proj, a, b);
    } else {
        parts[0] = tz_proj_horizontal(proj, a);
        parts[1] = tz_proj_horizontal(proj, b);
        parts[2] = tz_proj_vertical(proj, a);
        parts[3] = tz_proj_vertical(proj, b);
        same = parts[2] && parts[3] &&
               proj_is_equivalent_to_with_ctx(proj, parts[2], parts[3], PJ_COMP_EQUIVALENT);
    }
    same = same && parts[0] && parts[1] && is_same_single(proj, parts[0], parts[1]);
    for (size_t i = 0; i < 4; i++)
        proj_destroy(parts[i]);
    return same ||
           proj_is_equivalent_to_with_ctx(proj, a, b, PJ_COMP_EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS);
}

bool tz_crs_is_same(const tz_crs *a, const tz_crs *b)
{
    return a == b || tz_proj_is_same(a->proj, a->crs, b->crs);
}

#else /* no PROJ */

bool tz_crs_is_same(const tz_crs *a, const tz_crs *b)
{
    return a->epsg == b->epsg && a->epsg_vertical == b->epsg_vertical;
}

#endif
