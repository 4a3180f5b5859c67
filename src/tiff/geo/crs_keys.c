/* SPDX-License-Identifier: Apache-2.0
 * From a coordinate reference system to the GeoKeys of an image to be written.
 *
 * Codes of EPSG come first, for the whole, then for its parts: base CRS, datum, ellipsoid, prime
 * meridian, conversion, unit. A part without a code is written as numbers and names, in the form
 * that GDAL and ArcGIS use. A projection that has no keys becomes the text of ArcGIS in a citation.
 * Except for a CRS that is one code or two, the keys are then read back: only those that give the
 * same CRS again are returned. So a part that is lost need not be foreseen here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/geo/crs_proj.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

/* A tz_geo for tz_geo_free, with the memory of its keys. */
typedef struct geo_holder {
    tz_geo geo; /* the first member: the caller has its address */
    tz_arena arena;
} geo_holder;

void tz_geo_free(tz_geo *geo)
{
    geo_holder *holder = (geo_holder *)geo;
    if (!holder)
        return;
    tz_arena_deinit(&holder->arena);
    tz_free(holder);
}

void tz_geo_set_transform(tz_geo *geo, const double transform[6])
{
    geo->has_transform = true;
    memcpy(geo->transform, transform, sizeof geo->transform);
    geo->gcps = NULL;
    geo->gcp_count = 0;
}

#ifdef TZ_HAVE_PROJ

/* A CRS that becomes keys. problem says which part has no keys; "": all have, or none was met. */
typedef struct key_maker {
    PJ_CONTEXT *proj;
    tz_key_list list;
    tz_raster_type raster_type;
    const char *name; /* of the whole CRS */
    double towgs84[7];
    bool has_towgs84;
    char problem[256];
} key_maker;

static void set_problem(key_maker *maker, const char *kind, const PJ *object)
{
    const char *name = object ? proj_get_name(object) : NULL;
    snprintf(maker->problem, sizeof maker->problem, "%s%s%.80s%s", kind, name ? " '" : "",
             name ? name : "", name ? "'" : "");
}

static uint16_t usable_code(const PJ *object)
{
    const int code = object ? tz_proj_epsg(object) : 0;
    return (uint16_t)(code > 0 && tz_geo_is_code((uint32_t)code) ? code : 0);
}

/* Returns the code of a CRS if EPSG has the same one under it; 0: none. */
static uint16_t find_same_code(PJ_CONTEXT *proj, const PJ *crs)
{
    const uint16_t own = usable_code(crs);
    const int code = own != 0 ? own : tz_proj_identify_epsg(proj, crs);
    if (own != 0 || !tz_geo_is_code((uint32_t)(code > 0 ? code : 0)))
        return own;
    PJ *registered = tz_proj_create_from_code(proj, code);
    const bool same = registered && tz_proj_is_same(proj, crs, registered);
    proj_destroy(registered);
    return (uint16_t)(same ? code : 0);
}

/* ---- units ---- */

typedef struct axis_unit {
    uint16_t code; /* 0: not in EPSG */
    double size;   /* metres or radians; 0: not known */
} axis_unit;

static axis_unit find_axis_unit(PJ_CONTEXT *proj, const PJ *crs)
{
    /* PROJ drops the codes of units in some definitions. 9102 is the degree of GeoTIFF. */
    static const axis_unit common[] = {{9001, 1},
                                       {9002, 0.3048},
                                       {9003, 1200. / 3937},
                                       {9036, 1000},
                                       {9102, 0.017453292519943295},
                                       {9105, 0.015707963267948967}};
    axis_unit unit = {0, 0};
    const char *authority = NULL, *code = NULL;
    PJ *system = proj_crs_get_coordinate_system(proj, crs);
    if (!system || !proj_cs_get_axis_info(proj, system, 0, NULL, NULL, NULL, &unit.size, NULL,
                                          &authority, &code))
        unit.size = 0;
    else if (authority && code && strcmp(authority, "EPSG") == 0)
        unit.code = (uint16_t)atoi(code);
    proj_destroy(system);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if ((unit.code == 0 || unit.code == 9122) &&
            fabs(unit.size - common[i].size) <= 1e-12 * common[i].size)
            unit = common[i];
    return unit;
}

static void add_unit_keys(key_maker *maker, axis_unit unit, uint16_t key, uint16_t size_key)
{
    tz_key_list_add_short(&maker->list, key, unit.code != 0 ? unit.code : TZ_GEO_USER_DEFINED);
    if (unit.code == 0)
        tz_key_list_add_double(&maker->list, size_key, unit.size);
}

/* ---- datum ---- */

static void add_ellipsoid_keys(key_maker *maker, const PJ *ellipsoid)
{
    const uint16_t code = usable_code(ellipsoid);
    double semi_major = 0, semi_minor = 0, inverse_flattening = 0;
    tz_key_list_add_short(&maker->list, TZ_KEY_ELLIPSOID, code != 0 ? code : TZ_GEO_USER_DEFINED);
    if (code != 0 || !proj_ellipsoid_get_parameters(maker->proj, ellipsoid, &semi_major,
                                                    &semi_minor, NULL, &inverse_flattening))
        return;
    tz_key_list_add_double(&maker->list, TZ_KEY_SEMI_MAJOR_AXIS, semi_major);
    if (inverse_flattening == 0) /* a sphere */
        tz_key_list_add_double(&maker->list, TZ_KEY_SEMI_MINOR_AXIS, semi_minor);
    else
        tz_key_list_add_double(&maker->list, TZ_KEY_INV_FLATTENING, inverse_flattening);
}

/* The longitude is in the unit of the angles. */
static void add_meridian_keys(key_maker *maker, const PJ *meridian, double radians)
{
    const uint16_t code = usable_code(meridian);
    double longitude = 0, unit = 0;
    if (code != 0)
        tz_key_list_add_short(&maker->list, TZ_KEY_PRIME_MERIDIAN, code);
    if (code != 0 ||
        !proj_prime_meridian_get_parameters(maker->proj, meridian, &longitude, &unit, NULL))
        return;
    tz_key_list_add_short(&maker->list, TZ_KEY_PRIME_MERIDIAN, TZ_GEO_USER_DEFINED);
    tz_key_list_add_double(&maker->list, TZ_KEY_PRIME_MERIDIAN_LONGITUDE,
                           unit == radians ? longitude : longitude * unit / radians);
}

static const char *name_of(const PJ *object)
{
    const char *name = object ? proj_get_name(object) : NULL;
    return name && name[0] != '\0' ? name : "unknown";
}

/* Adds the datum by code or by numbers, and all names in one citation. radians is the unit of the
 * angles. */
static void add_frame_keys(key_maker *maker, const PJ *crs, double radians)
{
    PJ_CONTEXT *proj = maker->proj;
    PJ *datum = proj_crs_get_datum_forced(proj, crs);
    PJ *ellipsoid = proj_get_ellipsoid(proj, crs);
    PJ *meridian = proj_get_prime_meridian(proj, crs);
    const uint16_t code = usable_code(datum);
    char citation[1024];
    snprintf(citation, sizeof citation,
             "GCS Name = %.200s|Datum = %.200s|Ellipsoid = %.200s|"
             "Primem = %.200s|",
             name_of(crs), name_of(datum), name_of(ellipsoid), name_of(meridian));
    tz_key_list_add_short(&maker->list, TZ_KEY_GEODETIC_CRS, TZ_GEO_USER_DEFINED);
    tz_key_list_add_text(&maker->list, TZ_KEY_GEODETIC_CITATION, citation);
    tz_key_list_add_short(&maker->list, TZ_KEY_DATUM, code != 0 ? code : TZ_GEO_USER_DEFINED);
    if (ellipsoid)
        add_ellipsoid_keys(maker, ellipsoid);
    if (meridian)
        add_meridian_keys(maker, meridian, radians);
    if (maker->has_towgs84)
        tz_key_list_add_doubles(&maker->list, TZ_KEY_TO_WGS84, maker->towgs84, 7);
    proj_destroy(datum);
    proj_destroy(ellipsoid);
    proj_destroy(meridian);
}

/* ---- horizontal ---- */

static const double degree = 0.017453292519943295;

/* Gets the parameters of a conversion; false if PROJ does not give them. */
static bool read_conversion(PJ_CONTEXT *proj, const PJ *operation, tz_geo_conversion *out)
{
    const char *authority = NULL, *code = NULL;
    const int count = proj_coordoperation_get_param_count(proj, operation);
    *out = (tz_geo_conversion){0};
    if (!proj_coordoperation_get_method_info(proj, operation, &out->method, &authority, &code) ||
        !out->method || count > TZ_MAX_CONVERSION_VALUES)
        return false;
    if (authority && code && strcmp(authority, "EPSG") == 0)
        out->method_code = (uint16_t)atoi(code);
    for (int i = 0; i < count; i++) {
        if (!proj_coordoperation_get_param(proj, operation, i, &out->values[i].name, &authority,
                                           &code, &out->values[i].value, NULL, &out->values[i].unit,
                                           NULL, NULL, NULL, NULL) ||
            !out->values[i].name)
            return false;
        if (authority && code && strcmp(authority, "EPSG") == 0)
            out->values[i].code = (uint16_t)atoi(code);
    }
    out->count = (size_t)count;
    return true;
}

/* Adds the conversion by its code, or by method and parameters in these units. */
static void add_projection_keys(key_maker *maker, const PJ *crs, double radians, double metres)
{
    PJ *operation = proj_crs_get_coordoperation(maker->proj, crs);
    const uint16_t code = usable_code(operation);
    tz_geo_conversion conversion;
    tz_key_list_add_short(&maker->list, TZ_KEY_PROJECTION, code != 0 ? code : TZ_GEO_USER_DEFINED);
    if (code == 0 && (!operation || !read_conversion(maker->proj, operation, &conversion)))
        set_problem(maker, "the projection", operation);
    else if (code == 0)
        tz_key_list_add_conversion(&maker->list, &conversion, radians, metres, maker->problem,
                                   sizeof maker->problem);
    proj_destroy(operation);
}

/* Adds the base of a projected CRS, and both units; angles are in that of the base. Returns false
 * if PROJ does not give all of it. */
static bool add_base_keys(key_maker *maker, const PJ *crs, bool has_code, double *radians,
                          double *metres)
{
    PJ *base = proj_crs_get_geodetic_crs(maker->proj, crs);
    const uint16_t code = maker->has_towgs84 ? 0 : usable_code(base);
    const axis_unit unit = find_axis_unit(maker->proj, crs);
    const axis_unit angle = base ? find_axis_unit(maker->proj, base) : (axis_unit){0, 0};
    const bool known = base && unit.size > 0 && angle.size > 0;
    if (known) {
        if (has_code || code != 0)
            tz_key_list_add_text(&maker->list, TZ_KEY_GEODETIC_CITATION, name_of(base));
        if (!has_code && code != 0)
            tz_key_list_add_short(&maker->list, TZ_KEY_GEODETIC_CRS, code);
        else if (!has_code)
            add_frame_keys(maker, base, angle.size);
        add_unit_keys(maker, angle, TZ_KEY_GEOG_ANGULAR_UNITS, TZ_KEY_GEOG_ANGULAR_UNIT_SIZE);
        add_unit_keys(maker, unit, TZ_KEY_PROJ_LINEAR_UNITS, TZ_KEY_PROJ_LINEAR_UNIT_SIZE);
    }
    *radians = angle.size;
    *metres = unit.size;
    proj_destroy(base);
    return known;
}

static void add_projected_keys(key_maker *maker, const PJ *crs)
{
    const uint16_t code = maker->has_towgs84 ? 0 : find_same_code(maker->proj, crs);
    double radians, metres;
    tz_key_list_add_short(&maker->list, TZ_KEY_MODEL_TYPE, TZ_MODEL_PROJECTED);
    tz_key_list_add_short(&maker->list, TZ_KEY_PROJECTED_CRS,
                          code != 0 ? code : TZ_GEO_USER_DEFINED);
    if (strcmp(maker->name, name_of(crs)) != 0) /* one part of a compound CRS */
        tz_key_list_add_text(&maker->list, TZ_KEY_PROJECTED_CITATION, name_of(crs));
    if (!add_base_keys(maker, crs, code != 0, &radians, &metres))
        set_problem(maker, "the units or the base of", crs);
    else if (code == 0)
        add_projection_keys(maker, crs, radians, metres);
}

/* Heights above the ellipsoid are in the code of a CRS of three dimensions. */
static void add_geographic_keys(key_maker *maker, const PJ *crs)
{
    const uint16_t code = maker->has_towgs84 ? 0 : find_same_code(maker->proj, crs);
    const axis_unit unit = find_axis_unit(maker->proj, crs);
    tz_key_list_add_short(&maker->list, TZ_KEY_MODEL_TYPE, TZ_MODEL_GEOGRAPHIC);
    if (code != 0) {
        tz_key_list_add_short(&maker->list, TZ_KEY_GEODETIC_CRS, code);
        tz_key_list_add_text(&maker->list, TZ_KEY_GEODETIC_CITATION, name_of(crs));
    } else {
        if (proj_get_type(crs) == PJ_TYPE_GEOGRAPHIC_3D_CRS)
            set_problem(maker, "heights in a geographic CRS without a code", NULL);
        add_frame_keys(maker, crs, unit.size);
    }
    if (unit.size > 0)
        add_unit_keys(maker, unit, TZ_KEY_GEOG_ANGULAR_UNITS, TZ_KEY_GEOG_ANGULAR_UNIT_SIZE);
}

static void add_geocentric_keys(key_maker *maker, const PJ *crs)
{
    const uint16_t code = find_same_code(maker->proj, crs);
    const axis_unit unit = find_axis_unit(maker->proj, crs);
    tz_key_list_add_short(&maker->list, TZ_KEY_MODEL_TYPE, TZ_MODEL_GEOCENTRIC);
    if (code != 0) {
        tz_key_list_add_short(&maker->list, TZ_KEY_GEODETIC_CRS, code);
        tz_key_list_add_text(&maker->list, TZ_KEY_GEODETIC_CITATION, name_of(crs));
    } else {
        add_frame_keys(maker, crs, degree);
        tz_key_list_add_short(&maker->list, TZ_KEY_GEOG_ANGULAR_UNITS, 9102);
    }
    if (unit.size > 0)
        add_unit_keys(maker, unit, TZ_KEY_GEOG_LINEAR_UNITS, TZ_KEY_GEOG_LINEAR_UNIT_SIZE);
}

/* ---- vertical ---- */

static void add_vertical_keys(key_maker *maker, const PJ *crs)
{
    PJ *datum = proj_crs_get_datum_forced(maker->proj, crs);
    const uint16_t code = find_same_code(maker->proj, crs);
    const uint16_t datum_code = usable_code(datum);
    const axis_unit unit = find_axis_unit(maker->proj, crs);
    tz_key_list_add_short(&maker->list, TZ_KEY_VERTICAL, code != 0 ? code : TZ_GEO_USER_DEFINED);
    tz_key_list_add_text(&maker->list, TZ_KEY_VERTICAL_CITATION, name_of(crs));
    if (code == 0 && datum_code == 0 && strcmp(name_of(datum), "unknown") != 0)
        set_problem(maker, "the vertical datum", datum);
    if (code == 0 && unit.code == 0)
        set_problem(maker, "the unit of heights in", crs);
    if (code == 0 && datum_code != 0)
        tz_key_list_add_short(&maker->list, TZ_KEY_VERTICAL_DATUM, datum_code);
    if (unit.code != 0)
        tz_key_list_add_short(&maker->list, TZ_KEY_VERTICAL_UNITS, unit.code);
    proj_destroy(datum);
}

/* ---- the whole ---- */

static void add_horizontal_keys(key_maker *maker, const PJ *crs)
{
    PJ *system = proj_crs_get_coordinate_system(maker->proj, crs);
    const int axes = system ? proj_cs_get_axis_count(maker->proj, system) : 0;
    PJ *derivation;
    proj_destroy(system);
    switch (proj_get_type(crs)) {
    case PJ_TYPE_PROJECTED_CRS:
        add_projected_keys(maker, crs);
        if (axes != 2)
            set_problem(maker, "the heights of the projected CRS", crs);
        break;
    case PJ_TYPE_GEOGRAPHIC_2D_CRS:
    case PJ_TYPE_GEOGRAPHIC_3D_CRS:
        add_geographic_keys(maker, crs);
        derivation = proj_crs_get_coordoperation(maker->proj, crs);
        if (derivation)
            set_problem(maker, "the derivation of the geographic CRS by", derivation);
        proj_destroy(derivation);
        break;
    case PJ_TYPE_GEOCENTRIC_CRS:
        add_geocentric_keys(maker, crs);
        break;
    case PJ_TYPE_VERTICAL_CRS:
        set_problem(maker, "a vertical CRS without a horizontal one", NULL);
        break;
    default:
        set_problem(maker, "a CRS that is not projected, geographic or geocentric", NULL);
    }
}

/* Returns a part of a compound CRS, without a transform that it is bound to if its code says more.
 */
static PJ *unbind_part(key_maker *maker, PJ *part)
{
    if (!part || proj_get_type(part) != PJ_TYPE_BOUND_CRS)
        return part;
    PJ *source = proj_get_source_crs(maker->proj, part);
    if (!source || usable_code(source) == 0)
        set_problem(maker, "the transform that is bound to", source);
    proj_destroy(part);
    return source;
}

static void add_all_keys(key_maker *maker, const PJ *crs)
{
    PJ *horizontal = unbind_part(maker, tz_proj_horizontal(maker->proj, crs));
    PJ *vertical = unbind_part(maker, tz_proj_vertical(maker->proj, crs));
    tz_key_list_add_short(&maker->list, TZ_KEY_RASTER_TYPE, (uint16_t)maker->raster_type);
    tz_key_list_add_text(&maker->list, TZ_KEY_CITATION, maker->name);
    if (horizontal)
        add_horizontal_keys(maker, horizontal);
    if (vertical)
        add_vertical_keys(maker, vertical);
    proj_destroy(horizontal);
    proj_destroy(vertical);
}

/* True for a method that is PROJ's alone: as text it would have another name. */
static bool is_method_of_proj(PJ_CONTEXT *proj, const PJ *crs)
{
    PJ *operation = proj_crs_get_coordoperation(proj, crs);
    const char *name = NULL;
    const bool own = operation &&
                     proj_coordoperation_get_method_info(proj, operation, &name, NULL, NULL) &&
                     name && strncmp(name, "PROJ ", 5) == 0;
    proj_destroy(operation);
    return own;
}

/* Replaces the keys of a projected CRS by those for a projection that has none: its base, and the
 * text of ArcGIS in a citation. GDAL looks for it if the model type is user-defined. Returns false
 * if that is not possible either. */
static bool add_pe_string(key_maker *maker, const PJ *crs)
{
    double radians, metres;
    if (proj_get_type(crs) != PJ_TYPE_PROJECTED_CRS || is_method_of_proj(maker->proj, crs))
        return false;
    const char *wkt = proj_as_wkt(maker->proj, crs, PJ_WKT1_ESRI, NULL);
    const size_t size = sizeof TZ_PE_START + (wkt ? strlen(wkt) : 0);
    if (!wkt || size > TZ_MAX_PE_STRING)
        return false;
    char *text = tz_arena_alloc(maker->list.arena, size);
    if (!text) {
        maker->list.result = tz_fail_nomem(maker->list.ctx, size);
        return false;
    }
    (void)snprintf(text, size, TZ_PE_START "%s", wkt);
    maker->list.count = 0;
    tz_key_list_add_short(&maker->list, TZ_KEY_MODEL_TYPE, TZ_GEO_USER_DEFINED);
    tz_key_list_add_short(&maker->list, TZ_KEY_RASTER_TYPE, (uint16_t)maker->raster_type);
    tz_key_list_add_text(&maker->list, TZ_KEY_CITATION, maker->name);
    tz_key_list_add_text(&maker->list, TZ_KEY_PROJECTED_CITATION, text);
    return add_base_keys(maker, crs, false, &radians, &metres);
}

/* True for the names that PROJ gives to a datum of which only the ellipsoid is known. */
static bool has_unknown_datum(PJ_CONTEXT *proj, const PJ *crs)
{
    PJ *datum = proj_crs_get_datum_forced(proj, crs);
    const bool unknown = strncmp(name_of(datum), "Unknown based on", 16) == 0 ||
                         strcmp(name_of(datum), "unknown") == 0;
    proj_destroy(datum);
    return unknown;
}

/* True if the keys say the same as the CRS. Codes need no check, and the text of ArcGIS has a name
 * of its own for an unknown datum. *result is TZ_ERR_NOMEM if memory ran out. */
static bool is_read_back(const key_maker *maker, const PJ *crs, const tz_geo *geo, bool is_text,
                         tz_result *result)
{
    const bool by_code = tz_geo_is_code(geo->epsg) &&
                         (geo->epsg_vertical == 0 || tz_geo_is_code(geo->epsg_vertical));
    tz_error err;
    const tz_context ctx = {.err = &err, .ifd = -1};
    tz_crs *read = NULL;
    if (by_code)
        return true;
    *result = tz_crs_open_geo(&read, geo, &ctx);
    const bool same =
        *result == TZ_OK && (tz_proj_is_same(maker->proj, crs, read->crs) ||
                             (is_text && has_unknown_datum(maker->proj, crs) &&
                              tz_proj_is_same_projection(maker->proj, crs, read->crs, true)));

    if (*result == TZ_ERR_NOMEM)
        (void)tz_propagate_error(maker->list.ctx, &err);
    else
        *result = TZ_OK;
    tz_crs_close(read);
    return same;
}

/* Makes keys of a CRS. whole is the CRS that they must give: the same, or bound to WGS 84. */
static tz_result make_keys(key_maker *maker, const PJ *crs, const PJ *whole, tz_geo *geo)
{
    tz_result result = TZ_OK;
    bool done = false;
    add_all_keys(maker, crs);
    bool has_keys = maker->problem[0] == '\0';
    for (int attempt = 0; attempt < 2 && !done; attempt++) {
        if (attempt == 1)
            has_keys = add_pe_string(maker, crs);
        TZ_TRY(maker->list.result);
        if (has_keys) {
            TZ_TRY(tz_key_list_finish(geo, &maker->list));
            done = is_read_back(maker, whole, geo, attempt == 1, &result);
            TZ_TRY(result);
        }
    }
    if (done)
        return TZ_OK;
    return tz_fail(maker->list.ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO, tz_no_location(),
                   "GeoTIFF cannot express %.80s: %s", maker->name,
                   maker->problem[0] != '\0' ? maker->problem
                                             : "its keys would be read as another CRS");
}

static tz_result crs_to_keys(const tz_crs *crs, tz_raster_type raster_type, geo_holder *holder,
                             const tz_context *ctx)
{
    key_maker *maker = tz_alloc_zeroed(1, sizeof *maker);
    if (!maker)
        return tz_fail_nomem(ctx, sizeof *maker);
    maker->proj = crs->proj;
    maker->list.arena = &holder->arena;
    maker->list.ctx = ctx;
    maker->raster_type = raster_type;
    maker->name = crs->name[0] != '\0' ? crs->name : "unknown";
    /* A CRS that is bound to WGS 84 and has a code is its code, as in GDAL: EPSG does not make the
     * transform to WGS 84 a part of a CRS. */
    PJ *source = NULL;
    if (proj_get_type(crs->crs) == PJ_TYPE_BOUND_CRS) {
        PJ *operation = proj_crs_get_coordoperation(crs->proj, crs->crs);
        source = proj_get_source_crs(crs->proj, crs->crs);
        if (source && usable_code(source) == 0) {
            maker->has_towgs84 = operation && proj_coordoperation_get_towgs84_values(
                                                  crs->proj, operation, maker->towgs84, 7, 0);
            if (!maker->has_towgs84)
                set_problem(maker, "the transform", operation);
        }
        proj_destroy(operation);
    }
    const PJ *written = source ? source : crs->crs;
    tz_result result =
        make_keys(maker, written, usable_code(written) != 0 ? written : crs->crs, &holder->geo);
    proj_destroy(source);
    tz_free(maker);
    return result;
}

#else /* no PROJ */

/* Codes are all that there is; the common ones are known by heart. */
static tz_result crs_to_keys(const tz_crs *crs, tz_raster_type raster_type, geo_holder *holder,
                             const tz_context *ctx)
{
    const uint16_t code = (uint16_t)tz_crs_get_epsg_horizontal(crs);
    const uint16_t vertical = (uint16_t)tz_crs_get_epsg_vertical(crs);
    const uint16_t model = tz_epsg_model_type(code);
    char citation[32];
    tz_key_list list = {.arena = &holder->arena, .ctx = ctx};
    if (model == TZ_MODEL_NONE)
        return TZ_FAIL_UNSUPPORTED(ctx, tz_no_location(),
                                   "this build of terrazzo is without PROJ, and does not know "
                                   "whether EPSG:%u is projected, geographic or geocentric",
                                   code);
    snprintf(citation, sizeof citation, vertical != 0 ? "EPSG:%u+%u" : "EPSG:%u", code, vertical);
    tz_key_list_add_short(&list, TZ_KEY_MODEL_TYPE, model);
    tz_key_list_add_short(&list, TZ_KEY_RASTER_TYPE, (uint16_t)raster_type);
    tz_key_list_add_text(&list, TZ_KEY_CITATION, citation);
    tz_key_list_add_short(
        &list, model == TZ_MODEL_PROJECTED ? TZ_KEY_PROJECTED_CRS : TZ_KEY_GEODETIC_CRS, code);
    if (vertical != 0)
        tz_key_list_add_short(&list, TZ_KEY_VERTICAL, vertical);
    return tz_key_list_finish(&holder->geo, &list);
}

#endif

tz_result tz_crs_to_geo(tz_geo **out, const tz_crs *crs, tz_raster_type raster_type, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    if ((unsigned)raster_type > TZ_RASTER_TYPE_POINT)
        return TZ_FAIL_ARG(&ctx, "raster_type is %u, which is none of its values",
                           (unsigned)raster_type);
    geo_holder *holder = tz_alloc_zeroed(1, sizeof *holder);
    if (!holder)
        return tz_fail_nomem(&ctx, sizeof *holder);
    tz_result result = crs_to_keys(
        crs, raster_type == TZ_RASTER_TYPE_UNDEFINED ? TZ_RASTER_TYPE_AREA : raster_type, holder,
        &ctx);
    if (result == TZ_OK)
        *out = &holder->geo;
    else
        tz_geo_free(&holder->geo);
    return result;
}
