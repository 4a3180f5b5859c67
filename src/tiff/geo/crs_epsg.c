/* SPDX-License-Identifier: Apache-2.0
 * Objects of EPSG by their codes, from PROJ's database: as WKT, for the parts of a user-defined
 * CRS, and the kind of a CRS, for an image that is written with a code.
 *
 * Each look-up has a PROJ context of its own, as in crs_proj.c. The codes that nearly all images
 * have are known without a look-up, so that writing them needs no database and works without PROJ.
 */
#include "tiff/geo/crs_proj.h"

#include "tiff/tags.h"

#ifdef TZ_HAVE_PROJ

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A context of one's own costs some microseconds, and makes every call safe in any thread. */
PJ_CONTEXT *tz_proj_create_context(void)
{
    PJ_CONTEXT *proj = proj_context_create();
    if (!proj)
        return NULL;
    proj_log_level(proj, PJ_LOG_NONE);
    proj_context_set_enable_network(proj, 0);
    return proj;
}

/* PROJ says "function: reason"; the function is of no use to a reader. The first complaint is the
 * cause of later ones. */
static void keep_first_complaint(void *user, int level, const char *message)
{
    tz_proj_log *log = user;
    const char *colon = strncmp(message, "proj_", 5) == 0 ? strstr(message, ": ") : NULL;
    (void)level;
    if (log->text[0] == '\0')
        snprintf(log->text, sizeof log->text, "%s", colon ? colon + 2 : message);
}

void tz_proj_keep_log(PJ_CONTEXT *proj, tz_proj_log *log)
{
    proj_log_func(proj, log, keep_first_complaint);
    proj_log_level(proj, PJ_LOG_ERROR);
}

const char *tz_proj_reason(PJ_CONTEXT *proj, const tz_proj_log *log)
{
    const int number = proj_context_errno(proj);
    const char *text = number != 0 ? proj_context_errno_string(proj, number) : NULL;
    if (log->text[0] != '\0')
        return log->text;
    return text ? text : "no reason given";
}

/* ---- objects of PROJ ---- */

int tz_proj_epsg(const PJ *object)
{
    const char *authority = proj_get_id_auth_name(object, 0);
    const char *code = proj_get_id_code(object, 0);
    return authority && code && strcmp(authority, "EPSG") == 0 ? atoi(code) : 0;
}

double tz_proj_unit_size(PJ_CONTEXT *proj, const PJ *crs)
{
    PJ *system = proj_crs_get_coordinate_system(proj, crs);
    double size = 0;
    if (!system ||
        !proj_cs_get_axis_info(proj, system, 0, NULL, NULL, NULL, &size, NULL, NULL, NULL))
        size = 0;
    proj_destroy(system);
    return size;
}

/* The text belongs to PROJ, and is valid until its next call: it is copied at once. */
bool tz_wkt_add_object(tz_wkt *wkt, PJ_CONTEXT *proj, const PJ *object)
{
    const char *text = object ? proj_as_wkt(proj, object, PJ_WKT2_2019, NULL) : NULL;
    if (text)
        tz_wkt_add(wkt, text);
    return text != NULL;
}

/* PROJ writes the prime meridian of a datum along with it, unless it is Greenwich. */
bool tz_wkt_add_base_crs(tz_wkt *wkt, PJ_CONTEXT *proj, const PJ *crs)
{
    PJ *datum = proj_crs_get_datum_forced(proj, crs);
    PJ *meridian = proj_get_prime_meridian(proj, crs);
    const char *name = proj_get_name(crs);
    int code = tz_proj_epsg(crs);
    tz_wkt_add(wkt, "BASEGEOGCRS[");
    tz_wkt_add_name(wkt, name ? name : "", name ? strlen(name) : 0);
    tz_wkt_add(wkt, ",");
    const size_t start = wkt->size;
    bool known = tz_wkt_add_object(wkt, proj, datum) && wkt->result == TZ_OK;
    if (known && !strstr(wkt->text + start, "PRIMEM[")) {
        tz_wkt_add(wkt, ",");
        known = tz_wkt_add_object(wkt, proj, meridian);
    }
    if (code != 0)
        tz_wkt_addf(wkt, ",ID[\"EPSG\",%d]", code);
    tz_wkt_add(wkt, "]");
    proj_destroy(datum);
    proj_destroy(meridian);
    return known;
}

/* ---- codes to WKT ---- */

/* By tz_epsg_kind: the part of the database to look in, and the name in messages. */
static const struct {
    PJ_CATEGORY category;
    const char *name;
} epsg_kinds[] = {
    [TZ_EPSG_CRS] = {PJ_CATEGORY_CRS, "CRS"},
    [TZ_EPSG_BASE_CRS] = {PJ_CATEGORY_CRS, "geographic CRS"},
    [TZ_EPSG_DATUM] = {PJ_CATEGORY_DATUM, "datum"},
    [TZ_EPSG_ELLIPSOID] = {PJ_CATEGORY_ELLIPSOID, "ellipsoid"},
    [TZ_EPSG_PRIME_MERIDIAN] = {PJ_CATEGORY_PRIME_MERIDIAN, "prime meridian"},
    [TZ_EPSG_CONVERSION] = {PJ_CATEGORY_COORDINATE_OPERATION, "conversion"},
    [TZ_EPSG_UNIT] = {PJ_CATEGORY_CRS, "unit"}, /* not an object; the category is not used */
    [TZ_EPSG_UNIT_OF_CRS] = {PJ_CATEGORY_CRS, "geographic CRS"},
};

/* Adds a unit; false if PROJ does not give all of it. code is that of EPSG; NULL leaves it out, as
 * for angles. */
static bool add_unit(tz_wkt *wkt, const char *keyword, const char *name, double factor,
                     uint16_t key, const char *code)
{
    if (!name || !(factor > 0) || !isfinite(factor))
        return false;
    tz_wkt_addf(wkt, "%s[", keyword);
    tz_wkt_add_name(wkt, name, strlen(name));
    tz_wkt_add(wkt, ",");
    tz_wkt_add_number(wkt, key, factor);
    if (code)
        tz_wkt_addf(wkt, ",ID[\"EPSG\",%s]", code);
    tz_wkt_add(wkt, "]");
    return true;
}

/* Degrees for a geocentric CRS, whose axes are not angles. */
static bool add_crs_angle_unit(tz_wkt *wkt, PJ_CONTEXT *proj, PJ *crs)
{
    PJ *system = proj_crs_get_coordinate_system(proj, crs);
    const char *name = NULL;
    double factor = 0;
    bool known = true;
    if (system && proj_cs_get_type(proj, system) == PJ_CS_TYPE_ELLIPSOIDAL)
        known =
            proj_cs_get_axis_info(proj, system, 0, NULL, NULL, NULL, &factor, &name, NULL, NULL) &&
            add_unit(wkt, "ANGLEUNIT", name, factor, TZ_KEY_GEOG_ANGULAR_UNITS, NULL);
    else
        tz_wkt_add(wkt, TZ_WKT_DEGREE);
    proj_destroy(system);
    return known;
}

static bool add_epsg_unit(tz_wkt *wkt, PJ_CONTEXT *proj, const char *code)
{
    const char *name = NULL;
    const char *category = NULL;
    double factor = 0;
    if (!proj_uom_get_info_from_database(proj, "EPSG", code, &name, &factor, &category) ||
        !category)
        return false;
    if (strcmp(category, "angular") == 0)
        return add_unit(wkt, "ANGLEUNIT", name, factor, TZ_KEY_GEOG_ANGULAR_UNITS, NULL);
    return strcmp(category, "linear") == 0 &&
           add_unit(wkt, "LENGTHUNIT", name, factor, TZ_KEY_PROJ_LINEAR_UNITS, code);
}

static bool is_geodetic(const PJ *crs)
{
    PJ_TYPE type = proj_get_type(crs);
    return type == PJ_TYPE_GEOGRAPHIC_2D_CRS || type == PJ_TYPE_GEOGRAPHIC_3D_CRS ||
           type == PJ_TYPE_GEOCENTRIC_CRS;
}

tz_result tz_epsg_wkt(tz_epsg_kind kind, uint16_t code, const tz_context *ctx, char **out)
{
    tz_wkt wkt = {.ctx = ctx};
    char digits[8];
    PJ *object = NULL;
    PJ_CONTEXT *proj = tz_proj_create_context();
    if (!proj)
        return tz_fail_nomem(ctx, sizeof proj);
    snprintf(digits, sizeof digits, "%u", code);
    if (kind != TZ_EPSG_UNIT) /* units are not objects of PROJ */
        object =
            proj_create_from_database(proj, "EPSG", digits, epsg_kinds[kind].category, 0, NULL);
    bool known = false;
    if (kind == TZ_EPSG_UNIT)
        known = add_epsg_unit(&wkt, proj, digits);
    else if (object && kind == TZ_EPSG_BASE_CRS)
        known = is_geodetic(object) && tz_wkt_add_base_crs(&wkt, proj, object);
    else if (object && kind == TZ_EPSG_UNIT_OF_CRS)
        known = is_geodetic(object) && add_crs_angle_unit(&wkt, proj, object);
    else if (object)
        known = tz_wkt_add_object(&wkt, proj, object);
    if (!known && wkt.result == TZ_OK)
        wkt.result = TZ_FAIL_GEO(ctx, tz_at_geo_keys(), "PROJ knows no %s under code %s of EPSG",
                                 epsg_kinds[kind].name, digits);
    proj_destroy(object);
    proj_context_destroy(proj);
    if (wkt.result == TZ_OK)
        *out = wkt.text;
    else
        tz_wkt_deinit(&wkt);
    return wkt.result;
}

/* ---- kinds of CRS ---- */

PJ *tz_proj_create_from_code(PJ_CONTEXT *proj, int code)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%d", code);
    return proj_create_from_database(proj, "EPSG", digits, PJ_CATEGORY_CRS, 0, NULL);
}

/* Vertical, compound and engineering systems have no model type. */
static uint16_t look_up_model_type(uint16_t code)
{
    PJ_CONTEXT *proj = tz_proj_create_context();
    if (!proj)
        return TZ_MODEL_NONE;
    PJ *crs = tz_proj_create_from_code(proj, code);
    uint16_t type = TZ_MODEL_NONE;
    if (crs && proj_get_type(crs) == PJ_TYPE_PROJECTED_CRS)
        type = TZ_MODEL_PROJECTED;
    else if (crs && proj_get_type(crs) == PJ_TYPE_GEOCENTRIC_CRS)
        type = TZ_MODEL_GEOCENTRIC;
    else if (crs && is_geodetic(crs))
        type = TZ_MODEL_GEOGRAPHIC;
    proj_destroy(crs);
    proj_context_destroy(proj);
    return type;
}

static int component_code(PJ_CONTEXT *proj, const PJ *crs, int index)
{
    PJ *component = proj_crs_get_sub_crs(proj, crs, index);
    int code = component ? tz_proj_epsg(component) : 0;
    proj_destroy(component);
    return code;
}

/* Says what the code is instead. For a compound CRS the error has the two codes to give. */
tz_result tz_epsg_fail_unusable(uint16_t code, const tz_context *ctx)
{
    PJ_CONTEXT *proj = tz_proj_create_context();
    if (!proj)
        return tz_fail_nomem(ctx, sizeof proj);
    PJ *crs = tz_proj_create_from_code(proj, code);
    const PJ_TYPE type = crs ? proj_get_type(crs) : PJ_TYPE_UNKNOWN;
    const bool compound = type == PJ_TYPE_COMPOUND_CRS;
    const int horizontal = compound ? component_code(proj, crs, 0) : 0;
    const int vertical = compound ? component_code(proj, crs, 1) : 0;
    tz_result result;
    if (!crs)
        result = TZ_FAIL_ARG(ctx, "PROJ knows no CRS under code %u of EPSG", code);
    else if (horizontal != 0 && vertical != 0)
        result = TZ_FAIL_ARG(
            ctx, "EPSG:%u is a compound CRS; give the horizontal and the vertical code, %d+%d",
            code, horizontal, vertical);
    else if (compound)
        result = TZ_FAIL_ARG(
            ctx, "EPSG:%u is a compound CRS; give the horizontal and the vertical code", code);
    else if (type == PJ_TYPE_VERTICAL_CRS)
        result =
            TZ_FAIL_ARG(ctx, "EPSG:%u is a vertical CRS; an image needs a horizontal one", code);
    else
        result = TZ_FAIL_ARG(ctx, "EPSG:%u is not a projected, geographic or geocentric CRS", code);
    proj_destroy(crs);
    proj_context_destroy(proj);
    return result;
}

/* A geographic CRS of three dimensions passes as well: GeoTIFF gives heights above the ellipsoid
 * in that way. */
tz_result tz_epsg_check_vertical(uint16_t code, const tz_context *ctx)
{
    PJ_CONTEXT *proj = tz_proj_create_context();
    if (!proj)
        return tz_fail_nomem(ctx, sizeof proj);
    PJ *crs = tz_proj_create_from_code(proj, code);
    PJ_TYPE type = crs ? proj_get_type(crs) : PJ_TYPE_UNKNOWN;
    tz_result result = TZ_OK;
    if (!crs)
        result = TZ_FAIL_ARG(ctx, "PROJ knows no CRS under code %u of EPSG", code);
    else if (type != PJ_TYPE_VERTICAL_CRS && type != PJ_TYPE_GEOGRAPHIC_3D_CRS)
        result = TZ_FAIL_ARG(ctx, "EPSG:%u is not a vertical CRS", code);
    proj_destroy(crs);
    proj_context_destroy(proj);
    return result;
}

#else /* no PROJ */

static uint16_t look_up_model_type(uint16_t code)
{
    (void)code;
    return TZ_MODEL_NONE;
}

tz_result tz_epsg_fail_unusable(uint16_t code, const tz_context *ctx)
{
    return TZ_FAIL_ARG(
        ctx,
        "this build of terrazzo is without PROJ, and does not know whether EPSG:%u is "
        "projected, geographic or geocentric",
        code);
}

tz_result tz_epsg_check_vertical(uint16_t code, const tz_context *ctx)
{
    (void)code, (void)ctx;
    return TZ_OK;
}

tz_result tz_epsg_wkt(tz_epsg_kind kind, uint16_t code, const tz_context *ctx, char **out)
{
    (void)kind, (void)code, (void)out;
    return tz_fail_without_proj(ctx);
}

#endif

tz_result tz_fail_without_proj(const tz_context *ctx)
{
    return TZ_FAIL_UNSUPPORTED(
        ctx, tz_no_location(),
        "this build of terrazzo is without PROJ, which coordinate reference systems need; "
        "install PROJ and build with TERRAZZO_WITH_PROJ=ON");
}

/* The table has Web Mercator, the common geographic systems, and UTM zones on ETRS89, NAD83 and
 * WGS 84. */
uint16_t tz_epsg_model_type(uint16_t code)
{
    static const struct {
        uint16_t first, last, type;
    } known[] = {
        {3857, 3857, TZ_MODEL_PROJECTED},   {4258, 4258, TZ_MODEL_GEOGRAPHIC},
        {4267, 4267, TZ_MODEL_GEOGRAPHIC},  {4269, 4269, TZ_MODEL_GEOGRAPHIC},
        {4326, 4326, TZ_MODEL_GEOGRAPHIC},  {25828, 25838, TZ_MODEL_PROJECTED},
        {26901, 26923, TZ_MODEL_PROJECTED}, {32601, 32660, TZ_MODEL_PROJECTED},
        {32701, 32760, TZ_MODEL_PROJECTED},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (code >= known[i].first && code <= known[i].last)
            return known[i].type;
    return look_up_model_type(code);
}
