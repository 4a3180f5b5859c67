/* SPDX-License-Identifier: Apache-2.0
 * Coordinate reference systems of a build without PROJ: EPSG codes, and an error that names PROJ
 * for everything else. crs_proj.c and crs_transform.c stand in for this file where there is PROJ.
 */
#include "tiff/geo/crs_proj.h"

#ifndef TZ_HAVE_PROJ

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

struct tz_crs {
    uint16_t epsg;
    uint16_t epsg_vertical; /* 0: not compound */
};

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

bool tz_crs_is_same(const tz_crs *a, const tz_crs *b)
{
    return a->epsg == b->epsg && a->epsg_vertical == b->epsg_vertical;
}

tz_result tz_crs_export(const char **out, const tz_crs *crs, tz_crs_format format, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    (void)out, (void)crs, (void)format;
    return tz_fail_without_proj(&ctx);
}

tz_result tz_crs_to_lonlat(const tz_crs *crs, double x, double y, double *lon, double *lat,
                           tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    (void)crs, (void)x, (void)y, (void)lon, (void)lat;
    return tz_fail_without_proj(&ctx);
}

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
