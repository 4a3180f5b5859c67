/* SPDX-License-Identifier: Apache-2.0
 * A coordinate reference system given as text (WKT, or a code of EPSG) instead of GeoKeys. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/geo/crs_proj.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

enum { MAX_CRS_TEXT = 65536, MAX_PE_STRING = 4096, PE_KEYS = 4 };

#define PE_START "ESRI PE String = "

/* WKT begins with a keyword and a bracket. Other text could name files of PROJ's, or anything. */
static bool is_wkt(const char *text)
{
    size_t size = 0;
    while (isupper((unsigned char)text[size]) || text[size] == '_' ||
           isdigit((unsigned char)text[size]))
        size++;
    return size >= 4 && (text[size] == '[' || text[size] == '(');
}

/* The digits of a code up to stop, 1024 to 32766; 0: something else. */
static uint16_t parse_epsg_digits(const char *text, const char *stop)
{
    uint32_t code = 0;
    size_t size = 0;
    while (isdigit((unsigned char)text[size]) && size < 6)
        code = code * 10 + (uint32_t)(text[size++] - '0');
    const bool whole = size > 0 && strcmp(text + size, stop) == 0;
    return whole && code >= 1024 && code < TZ_GEO_USER_DEFINED ? (uint16_t)code : 0;
}

#ifndef TZ_HAVE_PROJ

/* The code that WKT gives for the whole, at its end. */
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
        return 1;
    return strncmp(text, "GEOGC", 5) == 0 ? 2 : strncmp(text, "GEOCCS", 6) == 0 ? 3 : 0;
}

tz_result tz_proj_identify(const char *text, const tz_context *ctx, tz_crs_codes *out)
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

static void set_crs_codes(tz_geo *geo, const tz_crs_codes *codes)
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

/* As ArcGIS stores a projection that has neither a code nor keys: its text in a citation. */
static tz_result set_pe_string(tz_geo *geo, const char *wkt, tz_arena *arena, const tz_context *ctx)
{
    static const uint16_t projected = 1, area = 1, point = 2, user_defined = TZ_GEO_USER_DEFINED;
    const size_t size = strlen(PE_START) + strlen(wkt);
    const tz_crs_codes codes = {.model_type = projected, .epsg = user_defined};
    char *text = tz_arena_alloc(arena, size + 1);
    tz_geo_key *keys = tz_arena_array(arena, PE_KEYS, sizeof *keys);
    if (!text || !keys)
        return tz_fail_nomem(ctx, size + 1);
    (void)snprintf(text, size + 1, PE_START "%s", wkt);
    const bool is_point = geo->raster_type == TZ_RASTER_PIXEL_IS_POINT;
    keys[0] = (tz_geo_key){TZ_KEY_MODEL_TYPE, TZ_TYPE_SHORT, 1, {.shorts = &projected}};
    keys[1] =
        (tz_geo_key){TZ_KEY_RASTER_TYPE, TZ_TYPE_SHORT, 1, {.shorts = is_point ? &point : &area}};
    keys[2] = (tz_geo_key){TZ_KEY_PROJECTED_CRS, TZ_TYPE_SHORT, 1, {.shorts = &user_defined}};
    keys[3] =
        (tz_geo_key){TZ_KEY_PROJECTED_CITATION, TZ_TYPE_ASCII, (uint32_t)size, {.text = text}};
    set_crs_codes(geo, &codes);
    geo->raster_type = is_point ? TZ_RASTER_PIXEL_IS_POINT : TZ_RASTER_PIXEL_IS_AREA;
    geo->keys = keys;
    geo->key_count = PE_KEYS;
    geo->key_revision = 1;
    geo->citation = text;
    return TZ_OK;
}

tz_result tz_geo_set_crs(tz_geo *geo, const char *text, tz_arena *arena, const tz_context *ctx,
                         bool *known)
{
    tz_crs_codes codes = {0};
    text += strspn(text, " \t\r\n");
    *known = false;
    if (strncmp(text, "EPSG:", 5) == 0)
        codes.epsg = parse_epsg_digits(text + 5, "");
    else if (strlen(text) <= MAX_CRS_TEXT && is_wkt(text))
        TZ_TRY(tz_proj_identify(text, ctx, &codes));
    const bool pe =
        codes.epsg == 0 && codes.wkt && strlen(codes.wkt) + strlen(PE_START) <= MAX_PE_STRING;
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
