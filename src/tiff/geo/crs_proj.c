/* SPDX-License-Identifier: Apache-2.0
 * Coordinate reference systems: a tz_crs, made by PROJ from the GeoKeys of a file or from text.
 *
 * The CRS of a file is opened from the definition that crs_definition.c writes for the keys. If the
 * file's unit is not the one that EPSG has for the code, the CRS is rebuilt in the file's unit.
 * Text is first sorted by its form (crs_create.c), because PROJ would also read names and files.
 *
 * Each tz_crs has a PROJ context of its own: without network, shared with nobody, so that handles
 * can be used in any thread, and with a log that keeps PROJ's complaint for our message. Without
 * PROJ a tz_crs is its codes. */
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
        tz_proj_is_same_size(metres, tz_proj_unit_size(crs->proj, crs->crs)))
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
tz_result tz_crs_to_lonlat(double *lon, double *lat, const tz_crs *crs, double x, double y,
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

#else /* no PROJ: codes, and an error that names PROJ for everything else */

#include <string.h>

#include "base/mem.h"
#include "base/number.h"

/* Reads digits that end at the given byte; 0 if they are not a code that a GeoTIFF can have. */
static uint16_t parse_code(const char **text, char stop)
{
    uint32_t code = 0;
    const char *at = *text;
    while (tz_is_digit(*at) && code < 100000)
        code = code * 10 + (uint32_t)(*at++ - '0');
    *text = at;
    return (uint16_t)(*at == stop && tz_geo_is_code(code) ? code : 0);
}

/* "EPSG:N" or "EPSG:N+M", in any case. */
static bool parse_codes(const char *text, tz_crs *out)
{
    static const char upper[] = "EPSG:", lower[] = "epsg:";
    for (size_t i = 0; i < 5; i++)
        if (text[i] != upper[i] && text[i] != lower[i])
            return false;
    const bool compound = strchr(text, '+') != NULL;
    text += 5;
    out->epsg = parse_code(&text, compound ? '+' : '\0');
    if (compound && out->epsg != 0) {
        text++;
        out->epsg_vertical = parse_code(&text, '\0');
    }
    return out->epsg != 0 && (!compound || out->epsg_vertical != 0);
}

static tz_result open_codes(tz_crs **out, const tz_crs *codes, const tz_context *ctx)
{
    tz_crs *crs = tz_alloc(sizeof *crs);
    if (!crs)
        return tz_fail_nomem(ctx, sizeof *crs);
    *crs = *codes;
    *out = crs;
    return TZ_OK;
}

tz_result tz_crs_open_text(tz_crs **out, const char *definition, const tz_context *ctx)
{
    tz_crs codes = {0};
    return parse_codes(definition, &codes) ? open_codes(out, &codes, ctx)
                                           : tz_fail_without_proj(ctx);
}

tz_result tz_crs_open_geo(tz_crs **out, const tz_geo *geo, const tz_context *ctx)
{
    (void)out, (void)geo;
    return tz_fail_without_proj(ctx);
}

void tz_crs_close(tz_crs *crs)
{
    tz_free(crs);
}

const char *tz_crs_get_name(const tz_crs *crs)
{
    (void)crs;
    return "";
}

const char *tz_crs_get_wkt(const tz_crs *crs)
{
    (void)crs;
    return "";
}

int tz_crs_get_epsg(const tz_crs *crs)
{
    return crs->epsg_vertical == 0 ? crs->epsg : 0;
}

int tz_crs_get_epsg_horizontal(const tz_crs *crs)
{
    return crs->epsg;
}

int tz_crs_get_epsg_vertical(const tz_crs *crs)
{
    return crs->epsg_vertical;
}

bool tz_crs_is_geographic(const tz_crs *crs)
{
    return tz_epsg_model_type(crs->epsg) == TZ_MODEL_GEOGRAPHIC;
}

double tz_crs_full_turn(const tz_crs *crs)
{
    return tz_crs_is_geographic(crs) ? 360 : 0;
}

tz_result tz_crs_export(const char **out, const tz_crs *crs, tz_crs_format format, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    (void)out, (void)crs, (void)format;
    return tz_fail_without_proj(&ctx);
}

tz_result tz_crs_to_lonlat(double *lon, double *lat, const tz_crs *crs, double x, double y,
                           tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    (void)crs, (void)x, (void)y, (void)lon, (void)lat;
    return tz_fail_without_proj(&ctx);
}

#endif
