/* SPDX-License-Identifier: Apache-2.0
 * Coordinate reference systems: a tz_crs, made by PROJ from the GeoKeys of a file or from text.
 *
 * The CRS of a file is opened from the definition that crs_definition.c writes for the keys. If the
 * file's unit is not the one that EPSG has for the code, the CRS is rebuilt in the file's unit.
 * Text is first sorted by its form (crs_create.c), because PROJ would also read names and files.
 *
 * Each tz_crs has a PROJ context of its own: without network, shared with nobody, so that handles
 * can be used in any thread, and with a log that keeps PROJ's complaint for our message.
 * crs_codes.c stands in for this file in a build without PROJ. */
#include "tiff/geo/crs_proj.h"

#ifdef TZ_HAVE_PROJ

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

/* ---- opening ---- */

void tz_crs_close(tz_crs *crs)
{
    if (!crs)
        return;
    for (size_t i = 0; i < sizeof crs->exports / sizeof crs->exports[0]; i++)
        tz_free(crs->exports[i]);
    proj_destroy(crs->to_lonlat);
    proj_destroy(crs->crs);
    if (crs->proj)
        proj_context_destroy(crs->proj);
    tz_free(crs->file);
    tz_free(crs->name);
    tz_free(crs->wkt);
    tz_free(crs);
}

/* Everything that was made so far is released by tz_crs_close, which accepts a half-open handle. */
static tz_result begin_crs(tz_crs **out, const tz_context *ctx)
{
    tz_crs *crs = tz_alloc_zeroed(1, sizeof *crs);
    if (!crs)
        return tz_fail_nomem(ctx, sizeof *crs);
    crs->proj = tz_proj_create_context();
    if (!crs->proj) {
        tz_free(crs);
        return tz_fail_nomem(ctx, sizeof *crs);
    }
    tz_proj_keep_log(crs->proj, &crs->log);
    *out = crs;
    return TZ_OK;
}

/* A vertical code that is not that of a vertical CRS, such as a geographic one with heights, cannot
 * be compounded; the horizontal part alone still says where the image is. */
static PJ *create_horizontal_only(PJ_CONTEXT *proj, const char *definition)
{
    char horizontal[16];
    const char *plus = strchr(definition, '+');
    if (strncmp(definition, "EPSG:", 5) != 0 || !plus)
        return NULL;
    size_t size = (size_t)(plus - definition);
    if (size >= sizeof horizontal)
        return NULL;
    memcpy(horizontal, definition, size);
    horizontal[size] = '\0';
    return proj_create(proj, horizontal);
}

static bool is_same_size(double a, double b)
{
    return fabs(a - b) <= 1e-10 * fabs(b);
}

/* Adds CS[...] with the axes of the CRS and the unit of the keys. */
static bool add_axes(tz_wkt *wkt, PJ_CONTEXT *proj, const PJ *crs)
{
    PJ *system = proj_crs_get_coordinate_system(proj, crs);
    bool known = system && proj_cs_get_axis_count(proj, system) == 2;
    tz_wkt_add(wkt, ",CS[Cartesian,2],");
    for (int i = 0; i < 2 && known; i++) {
        const char *name = NULL;
        const char *direction = NULL;
        known = proj_cs_get_axis_info(proj, system, i, &name, NULL, &direction, NULL, NULL, NULL,
                                      NULL) &&
                name && direction;
        if (known)
            tz_wkt_addf(wkt, "AXIS[\"%.64s\",%.32s],", name, direction);
    }
    tz_wkt_add_length_unit(wkt, TZ_KEY_PROJ_LINEAR_UNITS, TZ_KEY_PROJ_LINEAR_UNIT_SIZE);
    proj_destroy(system);
    return known;
}

/* Adds a projected CRS in the unit of the keys; false if PROJ does not know all its parts. */
static bool add_in_file_unit(tz_wkt *wkt, PJ_CONTEXT *proj, const PJ *crs)
{
    PJ *base = proj_crs_get_geodetic_crs(proj, crs);
    PJ *operation = proj_crs_get_coordoperation(proj, crs);
    const char *name = proj_get_name(crs);
    tz_wkt_add(wkt, "PROJCRS[");
    tz_wkt_add_name(wkt, name ? name : "", name ? strlen(name) : 0);
    tz_wkt_add(wkt, ",");
    bool known = base && tz_wkt_add_base_crs(wkt, proj, base);
    tz_wkt_add(wkt, ",");
    known = known && tz_wkt_add_object(wkt, proj, operation) && add_axes(wkt, proj, crs);
    tz_wkt_add(wkt, "]");
    proj_destroy(base);
    proj_destroy(operation);
    return known;
}

/* A file may use a CRS of EPSG in another unit than EPSG's; then the file's unit counts, if key
 * ProjLinearUnits gives one that is known. */
static tz_result apply_file_unit(tz_crs *crs, const tz_geo *geo, const tz_context *ctx)
{
    tz_wkt wkt = {.geo = geo, .ctx = ctx};
    const uint16_t code = tz_geo_short(geo, TZ_KEY_PROJ_LINEAR_UNITS, 0);
    double metres = 0;
    char digits[8];
    snprintf(digits, sizeof digits, "%u", code);
    if (code == TZ_GEO_USER_DEFINED)
        metres = tz_geo_double(geo, TZ_KEY_PROJ_LINEAR_UNIT_SIZE, 0);
    else if (!proj_uom_get_info_from_database(crs->proj, "EPSG", digits, NULL, &metres, NULL))
        metres = 0;
    if (!(metres > 0 && isfinite(metres)) || proj_get_type(crs->crs) != PJ_TYPE_PROJECTED_CRS ||
        is_same_size(metres, tz_proj_unit_size(crs->proj, crs->crs)))
        return TZ_OK;
    bool known = add_in_file_unit(&wkt, crs->proj, crs->crs);
    PJ *altered = known && wkt.result == TZ_OK ? proj_create(crs->proj, wkt.text) : NULL;
    if (altered) {
        proj_destroy(crs->crs);
        crs->crs = altered;
    }
    tz_wkt_deinit(&wkt);
    return wkt.result;
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
    return known && is_same_size(axis[0], axis[1]) && is_same_size(flattening[0], flattening[1]) &&
           is_same_size(longitude[0] * unit[0], longitude[1] * unit[1]);
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
        is_same_size(tz_proj_unit_size(proj, a), tz_proj_unit_size(proj, b));
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

static int find_epsg_code(PJ_CONTEXT *proj, const PJ *crs)
{
    const int code = tz_proj_epsg(crs);
    return code != 0 ? code : tz_proj_identify_epsg(proj, crs);
}

/* Copies name and WKT out of PROJ, and finds the codes, which a CRS built of keys has to be
 * identified by. */
static tz_result set_crs_texts(tz_crs *crs, const tz_context *ctx)
{
    /* A CRS that is bound to WGS 84 has its name and code in its source. */
    PJ *named = proj_get_type(crs->crs) == PJ_TYPE_BOUND_CRS
                    ? proj_get_source_crs(crs->proj, crs->crs)
                    : proj_clone(crs->proj, crs->crs);
    PJ *vertical = named ? tz_proj_vertical(crs->proj, named) : NULL;
    PJ *horizontal = vertical ? tz_proj_horizontal(crs->proj, named) : NULL;
    const char *wkt = proj_as_wkt(crs->proj, crs->crs, PJ_WKT2_2019, NULL);
    crs->wkt = tz_copy_string(wkt ? wkt : "");
    const char *name = named ? proj_get_name(named) : NULL;
    crs->name = tz_copy_string(name ? name : "");
    if (named)
        crs->epsg = find_epsg_code(crs->proj, named);
    crs->epsg_horizontal = horizontal ? find_epsg_code(crs->proj, horizontal) : crs->epsg;
    if (vertical)
        crs->epsg_vertical = find_epsg_code(crs->proj, vertical);
    if (ctx->name)
        crs->file = tz_copy_string(ctx->name);
    proj_destroy(horizontal);
    proj_destroy(vertical);
    proj_destroy(named);
    if (!crs->name || !crs->wkt || (ctx->name && !crs->file))
        return tz_fail_nomem(ctx, sizeof *crs);
    return TZ_OK;
}

tz_result tz_crs_open_geo(tz_crs **out, const tz_geo *geo, const tz_context *ctx)
{
    if (!geo->has_crs)
        return TZ_FAIL_GEO(ctx, tz_no_location(), "the file has no coordinate reference system");
    char *definition = NULL;
    tz_crs *crs = NULL;
    TZ_TRY(begin_crs(&crs, ctx));
    tz_result result = tz_geo_crs_definition(geo, ctx, &definition);
    if (result != TZ_OK)
        goto out;
    crs->crs = proj_create(crs->proj, definition);
    if (!crs->crs)
        crs->crs = create_horizontal_only(crs->proj, definition);
    if (!crs->crs || !proj_is_crs(crs->crs)) {
        result = TZ_FAIL_GEO(ctx, tz_at_geo_keys(),
                             "PROJ does not understand the coordinate reference system %.80s: %s",
                             definition, tz_proj_reason(crs->proj, &crs->log));
        goto out;
    }
    result = apply_file_unit(crs, geo, ctx);
    if (result == TZ_OK)
        result = set_crs_texts(crs, ctx);
out:
    tz_free(definition);
    if (result == TZ_OK)
        *out = crs;
    else
        tz_crs_close(crs);
    return result;
}

tz_result tz_crs_open_text(tz_crs **out, const char *definition, const tz_context *ctx)
{
    tz_crs *crs = NULL;
    tz_result result = TZ_OK;
    TZ_TRY(begin_crs(&crs, ctx));
    crs->crs = proj_create(crs->proj, definition);
    if (!crs->crs)
        result = tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_GEO, tz_no_location(),
                         "PROJ does not understand '%.80s': %s", definition,
                         tz_proj_reason(crs->proj, &crs->log));
    else if (!proj_is_crs(crs->crs))
        result = tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_GEO, tz_no_location(),
                         "'%.80s' is not a coordinate reference system", definition);
    if (result == TZ_OK)
        result = set_crs_texts(crs, ctx);
    if (result == TZ_OK)
        *out = crs;
    else
        tz_crs_close(crs);
    return result;
}

/* ---- comparing ---- */

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

/* ---- using a CRS ---- */

const char *tz_crs_get_name(const tz_crs *crs)
{
    return crs->name;
}

const char *tz_crs_get_wkt(const tz_crs *crs)
{
    return crs->wkt;
}

int tz_crs_get_epsg(const tz_crs *crs)
{
    return crs->epsg;
}

int tz_crs_get_epsg_horizontal(const tz_crs *crs)
{
    return crs->epsg_horizontal;
}

int tz_crs_get_epsg_vertical(const tz_crs *crs)
{
    return crs->epsg_vertical;
}

bool tz_crs_is_geographic(const tz_crs *crs)
{
    PJ *source = proj_get_type(crs->crs) == PJ_TYPE_BOUND_CRS
                     ? proj_get_source_crs(crs->proj, crs->crs)
                     : proj_clone(crs->proj, crs->crs);
    PJ *horizontal = source ? tz_proj_horizontal(crs->proj, source) : NULL;
    const PJ_TYPE type = horizontal ? proj_get_type(horizontal) : PJ_TYPE_UNKNOWN;
    proj_destroy(horizontal);
    proj_destroy(source);
    return type == PJ_TYPE_GEOGRAPHIC_2D_CRS || type == PJ_TYPE_GEOGRAPHIC_3D_CRS;
}

/* M_PI is not in C11. */
double tz_crs_full_turn(const tz_crs *crs)
{
    PJ *horizontal = tz_crs_is_geographic(crs) ? tz_proj_horizontal(crs->proj, crs->crs) : NULL;
    const double unit = horizontal ? tz_proj_unit_size(crs->proj, horizontal) : 0;
    proj_destroy(horizontal);
    return unit > 0 ? 8 * atan(1) / unit : 0;
}

/* A handle is for one thread at a time: it keeps what is made on first use. */
static tz_crs *writable(const tz_crs *crs)
{
    return (tz_crs *)crs;
}

static const char *export_text(const tz_crs *crs, tz_crs_format format)
{
    static const char *const wide[] = {"MULTILINE=YES", NULL};
    switch (format) {
    case TZ_CRS_FORMAT_WKT2:
        return proj_as_wkt(crs->proj, crs->crs, PJ_WKT2_2019, wide);
    case TZ_CRS_FORMAT_WKT1_GDAL:
        return proj_as_wkt(crs->proj, crs->crs, PJ_WKT1_GDAL, wide);
    case TZ_CRS_FORMAT_WKT1_ESRI:
        return proj_as_wkt(crs->proj, crs->crs, PJ_WKT1_ESRI, NULL);
    case TZ_CRS_FORMAT_PROJJSON:
        return proj_as_projjson(crs->proj, crs->crs, NULL);
    default:
        return proj_as_proj_string(crs->proj, crs->crs, PJ_PROJ_4, NULL);
    }
}

/* The text belongs to PROJ, and is valid until its next call. */
tz_result tz_crs_export(const char **out, const tz_crs *crs, tz_crs_format format, tz_error *err)
{
    static const char *const names[] = {"WKT2", "WKT1 of GDAL", "WKT1 of ESRI", "PROJJSON",
                                        "a PROJ string"};
    tz_context ctx = {.name = crs->file, .err = err, .ifd = -1};
    if ((unsigned)format > TZ_CRS_FORMAT_PROJ_STRING)
        return TZ_FAIL_ARG(&ctx, "format is %u, which is none of its values", (unsigned)format);
    if (!crs->exports[format]) {
        writable(crs)->log.text[0] = '\0';
        const char *text = export_text(crs, format);
        if (!text)
            return tz_fail(&ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO, tz_no_location(),
                           "%.80s cannot be expressed as %s: %s", crs->name, names[format],
                           tz_proj_reason(crs->proj, &crs->log));
        writable(crs)->exports[format] = tz_copy_string(text);
        if (!crs->exports[format])
            return tz_fail_nomem(&ctx, strlen(text) + 1);
    }
    *out = crs->exports[format];
    return TZ_OK;
}

/* Transforms from the horizontal part, x before y as in the tags, to longitude before latitude. */
static PJ *create_lonlat_transform(const tz_crs *crs)
{
    PJ *from = tz_proj_horizontal(crs->proj, crs->crs);
    PJ *to = proj_create(crs->proj, "EPSG:4326");
    PJ *operation = NULL;
    if (from && to) {
        PJ *plain = proj_create_crs_to_crs_from_pj(crs->proj, from, to, NULL, NULL);
        operation = plain ? proj_normalize_for_visualization(crs->proj, plain) : NULL;
        proj_destroy(plain);
    }
    proj_destroy(from);
    proj_destroy(to);
    return operation;
}

/* Height 0, and no time: transforms that depend on either are not asked for. */
tz_result tz_crs_to_lonlat(const tz_crs *crs, double x, double y, double *lon, double *lat,
                           tz_error *err)
{
    tz_context ctx = {.name = crs->file, .err = err, .ifd = -1};
    if (!crs->has_tried_lonlat) {
        writable(crs)->has_tried_lonlat = true;
        writable(crs)->to_lonlat = create_lonlat_transform(crs);
    }
    if (!crs->to_lonlat)
        return tz_fail(&ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO, tz_no_location(),
                       "PROJ has no transform from %.80s to WGS 84", crs->name);
    PJ_COORD from = proj_coord(x, y, 0, HUGE_VAL);
    proj_errno_reset(crs->to_lonlat);
    PJ_COORD to = proj_trans(crs->to_lonlat, PJ_FWD, from);
    if (!isfinite(to.v[0]) || !isfinite(to.v[1]))
        return TZ_FAIL_GEO(&ctx, tz_no_location(),
                           "the point %g, %g is outside the domain of %.80s", x, y, crs->name);
    *lon = to.v[0];
    *lat = to.v[1];
    return TZ_OK;
}

#endif
