/* SPDX-License-Identifier: Apache-2.0
 * Coordinate reference systems: a tz_crs, made by PROJ from the GeoKeys of a file, and the other
 * direction, a CRS given as text (WKT, or a code of EPSG) that becomes GeoKeys.
 *
 * A tz_crs is opened from the definition that crs_definition.c writes for the keys. If the file's
 * unit is not the one that EPSG has for the code, the CRS is rebuilt in the file's unit. Text goes
 * the other way: PROJ identifies its code, or both codes of a compound CRS; a projected CRS without
 * a code becomes a citation in the form that ArcGIS writes.
 *
 * Each tz_crs has a PROJ context of its own: silent, without network, shared with nobody, so that
 * handles can be used in any thread. Without PROJ, tz_crs_from_file fails, and only a code at the
 * end of a WKT is recognised. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/geo/crs_proj.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

enum { MAX_CRS_TEXT = 65536, PE_KEYS = 4 };

/* Codes that identify a CRS given as WKT; 0: EPSG does not have it. */
typedef struct crs_codes {
    uint16_t epsg; /* of the horizontal part */
    uint16_t epsg_vertical;
    uint16_t model_type; /* of tz_geo; 0: not known */
    char *wkt;           /* of a projected CRS without a code, as ArcGIS writes it; for tz_free */
} crs_codes;

/* Parses the digits of an EPSG code up to stop; 0: something else. */
static uint16_t parse_epsg_digits(const char *text, const char *stop)
{
    uint32_t code = 0;
    size_t size = 0;
    while (isdigit((unsigned char)text[size]) && size < 6)
        code = code * 10 + (uint32_t)(text[size++] - '0');
    const bool whole = size > 0 && strcmp(text + size, stop) == 0;
    return (uint16_t)(whole && tz_geo_is_code(code) ? code : 0);
}

#ifdef TZ_HAVE_PROJ

struct tz_crs {
    PJ_CONTEXT *proj;
    PJ *crs;
    PJ *to_lonlat; /* NULL: PROJ has no transform */
    char *file;    /* name for messages; may be NULL */
    char *name;
    char *wkt;
    int epsg;
};

/* ---- opening ---- */

void tz_crs_close(tz_crs *crs)
{
    if (!crs)
        return;
    proj_destroy(crs->to_lonlat);
    proj_destroy(crs->crs);
    if (crs->proj)
        proj_context_destroy(crs->proj);
    tz_free(crs->file);
    tz_free(crs->name);
    tz_free(crs->wkt);
    tz_free(crs);
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

/* True for the same projection of the same ellipsoid in the same unit. The order of axes does not
 * matter: a GeoTIFF has x first, also if EPSG has y first. */
static bool is_same_projection(PJ_CONTEXT *proj, const PJ *a, const PJ *b)
{
    PJ *base_a = proj_crs_get_geodetic_crs(proj, a);
    PJ *base_b = proj_crs_get_geodetic_crs(proj, b);
    PJ *operation_a = proj_crs_get_coordoperation(proj, a);
    PJ *operation_b = proj_crs_get_coordoperation(proj, b);
    bool same =
        base_a && base_b && operation_a && operation_b &&
        proj_is_equivalent_to_with_ctx(proj, base_a, base_b,
                                       PJ_COMP_EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS) &&
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
static int identify_epsg_code(PJ_CONTEXT *proj, const PJ *crs)
{
    enum { SURE = 90, MAX_TRIED = 8 };
    int *confidence = NULL;
    int code = 0;
    PJ_OBJ_LIST *list = proj_identify(proj, crs, "EPSG", NULL, &confidence);
    int count = list && confidence ? proj_list_get_count(list) : 0;
    bool projected = proj_get_type(crs) == PJ_TYPE_PROJECTED_CRS;
    for (int i = 0; i < count && i < MAX_TRIED && code == 0; i++) {
        PJ *match = proj_list_get(proj, list, i);
        if (match && (confidence[i] >= SURE || (projected && is_same_projection(proj, crs, match))))
            code = tz_proj_epsg(match);
        proj_destroy(match);
    }
    proj_int_list_destroy(confidence);
    proj_list_destroy(list);
    return code;
}

/* Copies name and WKT out of PROJ, and finds the code, which a CRS built of keys has to be
 * identified by. */
static tz_result set_crs_texts(tz_crs *crs, const tz_context *ctx)
{
    /* A CRS that is bound to WGS 84 has its name and code in its source. */
    PJ *named = proj_get_type(crs->crs) == PJ_TYPE_BOUND_CRS
                    ? proj_get_source_crs(crs->proj, crs->crs)
                    : proj_clone(crs->proj, crs->crs);
    const char *wkt = proj_as_wkt(crs->proj, crs->crs, PJ_WKT2_2019, NULL);
    const char *name = named ? proj_get_name(named) : NULL;
    if (named) {
        crs->epsg = tz_proj_epsg(named);
        if (crs->epsg == 0)
            crs->epsg = identify_epsg_code(crs->proj, named);
    }
    crs->name = tz_copy_string(name ? name : "");
    crs->wkt = tz_copy_string(wkt ? wkt : "");
    if (ctx->name)
        crs->file = tz_copy_string(ctx->name);
    proj_destroy(named);
    if (!crs->name || !crs->wkt || (ctx->name && !crs->file))
        return tz_fail_nomem(ctx, wkt ? strlen(wkt) : 0);
    return TZ_OK;
}

/* Transforms from the horizontal part, x before y as in the tags, to longitude before latitude. */
static PJ *create_lonlat_transform(const tz_crs *crs)
{
    bool compound = proj_get_type(crs->crs) == PJ_TYPE_COMPOUND_CRS;
    PJ *from =
        compound ? proj_crs_get_sub_crs(crs->proj, crs->crs, 0) : proj_clone(crs->proj, crs->crs);
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

/* Everything that was made so far is released by tz_crs_close, which accepts a half-open handle. */
tz_result tz_crs_open_geo(tz_crs **out, const tz_geo *geo, const tz_context *ctx)
{
    if (!geo->has_crs)
        return TZ_FAIL_GEO(ctx, tz_no_location(), "the file has no coordinate reference system");
    char *definition = NULL;
    tz_crs *crs = tz_alloc_zeroed(1, sizeof *crs);
    if (!crs)
        return tz_fail_nomem(ctx, sizeof *crs);
    crs->proj = tz_proj_create_context();
    tz_result result =
        crs->proj ? tz_geo_crs_definition(geo, ctx, &definition) : tz_fail_nomem(ctx, sizeof *crs);
    if (result != TZ_OK)
        goto out;
    crs->crs = proj_create(crs->proj, definition);
    if (!crs->crs)
        crs->crs = create_horizontal_only(crs->proj, definition);
    if (!crs->crs || !proj_is_crs(crs->crs)) {
        const char *reason = proj_context_errno_string(crs->proj, proj_context_errno(crs->proj));
        result = TZ_FAIL_GEO(ctx, tz_at_geo_keys(),
                             "PROJ does not understand the coordinate reference system %.80s: %s",
                             definition, reason ? reason : "no reason given");
        goto out;
    }
    result = apply_file_unit(crs, geo, ctx);
    if (result == TZ_OK)
        result = set_crs_texts(crs, ctx);
    if (result == TZ_OK)
        crs->to_lonlat = create_lonlat_transform(crs);
out:
    tz_free(definition);
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

/* Height 0, and no time: transforms that depend on either are not asked for. */
tz_result tz_crs_to_lonlat(const tz_crs *crs, double x, double y, double *lon, double *lat,
                           tz_error *err)
{
    tz_context ctx = {.name = crs->file, .err = err, .ifd = -1};
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

/* ---- text to codes ---- */

static uint16_t epsg_code_of_crs(PJ_CONTEXT *proj, const PJ *crs)
{
    const int code = tz_proj_epsg(crs);
    const int found = code != 0 ? code : identify_epsg_code(proj, crs);
    return (uint16_t)(tz_geo_is_code((uint32_t)found) ? found : 0);
}

/* Finds the codes of a CRS. A compound CRS has codes for both of its parts, or none. Text that PROJ
 * does not understand leaves *out as it is. */
static tz_result identify_crs_text(const char *text, const tz_context *ctx, crs_codes *out)
{
    PJ_CONTEXT *proj = tz_proj_create_context();
    if (!proj)
        return tz_fail_nomem(ctx, strlen(text));
    tz_result result = TZ_OK;
    PJ *crs = proj_create(proj, text);
    if (crs && proj_get_type(crs) == PJ_TYPE_BOUND_CRS) {
        PJ *source = proj_get_source_crs(proj, crs);
        proj_destroy(crs);
        crs = source;
    }
    if (crs && proj_is_crs(crs)) {
        const bool compound = proj_get_type(crs) == PJ_TYPE_COMPOUND_CRS;
        PJ *horizontal = compound ? proj_crs_get_sub_crs(proj, crs, 0) : proj_clone(proj, crs);
        PJ *vertical = compound ? proj_crs_get_sub_crs(proj, crs, 1) : NULL;
        if (horizontal)
            out->epsg = epsg_code_of_crs(proj, horizontal);
        if (vertical && out->epsg != 0)
            out->epsg_vertical = epsg_code_of_crs(proj, vertical);
        if (compound && out->epsg_vertical == 0)
            out->epsg = 0;
        if (horizontal && !compound && out->epsg == 0 &&
            proj_get_type(horizontal) == PJ_TYPE_PROJECTED_CRS) {
            const char *wkt = proj_as_wkt(proj, horizontal, PJ_WKT1_ESRI, NULL);
            out->wkt = wkt ? tz_copy_string(wkt) : NULL;
            if (wkt && !out->wkt)
                result = tz_fail_nomem(ctx, strlen(wkt) + 1);
        }
        proj_destroy(horizontal);
        proj_destroy(vertical);
    }
    proj_destroy(crs);
    proj_context_destroy(proj);
    return result;
}

#else /* no PROJ */

tz_result tz_crs_open_geo(tz_crs **out, const tz_geo *geo, const tz_context *ctx)
{
    (void)out, (void)geo;
    return tz_fail_without_proj(ctx);
}

void tz_crs_close(tz_crs *crs)
{
    (void)crs;
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
    (void)crs;
    return 0;
}

tz_result tz_crs_to_lonlat(const tz_crs *crs, double x, double y, double *lon, double *lat,
                           tz_error *err)
{
    tz_context ctx = {.err = err, .ifd = -1};
    (void)crs, (void)x, (void)y, (void)lon, (void)lat;
    return tz_fail_without_proj(&ctx);
}

/* Returns the code that WKT gives for the whole CRS, at its end; 0: none. */
static uint16_t parse_last_code(const char *text, const char *start, const char *stop)
{
    const char *last = NULL;
    for (const char *at = strstr(text, start); at; at = strstr(at + 1, start))
        last = at;
    return last ? parse_epsg_digits(last + strlen(start), stop) : 0;
}

static uint16_t model_type_of_wkt(const char *text)
{
    if (strncmp(text, "PROJC", 5) == 0)
        return TZ_MODEL_PROJECTED;
    if (strncmp(text, "GEOGC", 5) == 0)
        return TZ_MODEL_GEOGRAPHIC;
    return strncmp(text, "GEOCCS", 6) == 0 ? TZ_MODEL_GEOCENTRIC : TZ_MODEL_NONE;
}

static tz_result identify_crs_text(const char *text, const tz_context *ctx, crs_codes *out)
{
    (void)ctx;
    out->epsg = parse_last_code(text, "AUTHORITY[\"EPSG\",\"", "\"]]");
    if (out->epsg == 0)
        out->epsg = parse_last_code(text, "ID[\"EPSG\",", "]]");
    if (out->epsg != 0)
        out->model_type = model_type_of_wkt(text);
    return TZ_OK;
}

#endif

tz_result tz_crs_from_file(tz_crs **out, const tz_file *file, tz_error *err)
{
    const tz_info *info = tz_file_get_info(file);
    tz_context ctx = {.name = info->name, .err = err, .ifd = -1};
    return tz_crs_open_geo(out, info->geo, &ctx);
}

/* ---- text to keys ---- */

/* WKT begins with a keyword and a bracket. Other text could name a file that PROJ
 * would read. */
static bool is_wkt(const char *text)
{
    size_t size = 0;
    while (isupper((unsigned char)text[size]) || text[size] == '_' ||
           isdigit((unsigned char)text[size]))
        size++;
    return size >= 4 && (text[size] == '[' || text[size] == '(');
}

/* Replaces all that said something about the CRS. Codes are enough: image_geo.c makes keys of them
 * when the image is written. */
static void set_crs_codes(tz_geo *geo, const crs_codes *codes)
{
    geo->keys = NULL;
    geo->key_count = 0;
    geo->key_revision = geo->key_minor = 0;
    geo->model_type = codes->model_type;
    geo->epsg = codes->epsg;
    geo->epsg_vertical = codes->epsg_vertical;
    geo->has_crs = true;
    geo->citation = NULL;
    geo->coordinate_epoch = NAN;
}

/* Stores a projection without a code as ArcGIS does: its text in a citation. */
static tz_result set_pe_string(tz_geo *geo, const char *wkt, tz_arena *arena, const tz_context *ctx)
{
    static const uint16_t projected = TZ_MODEL_PROJECTED, area = TZ_RASTER_TYPE_AREA,
                          point = TZ_RASTER_TYPE_POINT, user_defined = TZ_GEO_USER_DEFINED;
    const size_t size = strlen(TZ_PE_START) + strlen(wkt);
    const crs_codes codes = {.model_type = projected, .epsg = user_defined};
    char *text = tz_arena_alloc(arena, size + 1);
    tz_geo_key *keys = tz_arena_array(arena, PE_KEYS, sizeof *keys);
    if (!text || !keys)
        return tz_fail_nomem(ctx, size + 1);
    (void)snprintf(text, size + 1, TZ_PE_START "%s", wkt);
    const bool is_point = geo->raster_type == TZ_RASTER_TYPE_POINT;
    keys[0] = (tz_geo_key){TZ_KEY_MODEL_TYPE, TZ_TYPE_SHORT, 1, {.shorts = &projected}};
    keys[1] =
        (tz_geo_key){TZ_KEY_RASTER_TYPE, TZ_TYPE_SHORT, 1, {.shorts = is_point ? &point : &area}};
    keys[2] = (tz_geo_key){TZ_KEY_PROJECTED_CRS, TZ_TYPE_SHORT, 1, {.shorts = &user_defined}};
    keys[3] =
        (tz_geo_key){TZ_KEY_PROJECTED_CITATION, TZ_TYPE_ASCII, (uint32_t)size, {.text = text}};
    set_crs_codes(geo, &codes);
    geo->raster_type = is_point ? TZ_RASTER_TYPE_POINT : TZ_RASTER_TYPE_AREA;
    geo->keys = keys;
    geo->key_count = PE_KEYS;
    geo->key_revision = 1;
    geo->citation = text;
    return TZ_OK;
}

/* Text that is not WKT and not "EPSG:N" never reaches PROJ. */
tz_result tz_geo_set_crs(tz_geo *geo, const char *text, tz_arena *arena, const tz_context *ctx,
                         bool *known)
{
    crs_codes codes = {0};
    text += strspn(text, " \t\r\n");
    *known = false;
    if (strncmp(text, "EPSG:", 5) == 0)
        codes.epsg = parse_epsg_digits(text + 5, "");
    else if (strlen(text) <= MAX_CRS_TEXT && is_wkt(text))
        TZ_TRY(identify_crs_text(text, ctx, &codes));
    const bool pe =
        codes.epsg == 0 && codes.wkt && strlen(codes.wkt) + strlen(TZ_PE_START) <= TZ_MAX_PE_STRING;
    tz_result result = TZ_OK;
    *known = codes.epsg != 0 || pe;
    if (codes.epsg != 0 && codes.model_type == 0)
        codes.model_type = tz_epsg_model_type(codes.epsg);
    if (pe)
        result = set_pe_string(geo, codes.wkt, arena, ctx);
    else if (*known)
        set_crs_codes(geo, &codes);
    else
        result = tz_warn(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO, tz_no_location(),
                         "the coordinate reference system '%.60s' has no code of EPSG%s; not used",
                         text, tz_build_feature("proj") ? "" : ", and this build is without PROJ");
    tz_free(codes.wkt);
    return result;
}
