/* SPDX-License-Identifier: Apache-2.0
 * Text to keys, for sidecars: a CRS given as WKT or as a code of EPSG becomes codes in tz_geo, or
 * keys with the text that ArcGIS would write.
 *
 * PROJ identifies the code of the text, or both codes of a compound CRS. A projected CRS without a
 * code becomes a citation in the form of ArcGIS. Without PROJ only a code at the end of a WKT is
 * recognised. Text that is neither WKT nor a code never reaches PROJ, because it could name a file.
 */
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

/* ---- text to codes ---- */

static uint16_t epsg_code_of_crs(PJ_CONTEXT *proj, const PJ *crs)
{
    const int code = tz_proj_epsg(crs);
    const int found = code != 0 ? code : tz_proj_identify_epsg(proj, crs);
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
        PJ *horizontal = tz_proj_horizontal(proj, crs);
        PJ *vertical = tz_proj_vertical(proj, crs);
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

/* ---- text to keys ---- */

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
    else if (strlen(text) <= MAX_CRS_TEXT && tz_has_form_of_wkt(text))
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
