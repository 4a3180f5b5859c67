/* SPDX-License-Identifier: Apache-2.0
 * Well-known text (WKT2:2019), built of GeoKeys: the text itself, and the parts that all kinds of
 * coordinate reference systems share. */
#ifndef TZ_TIFF_GEO_WKT_H
#define TZ_TIFF_GEO_WKT_H

#include "tiff/geo/geo.h"

/* Text that grows. The first failure stays in result, and what follows does nothing, so that
 * callers write one line after the other and look at result in the end. */
typedef struct tz_wkt {
    const tz_geo *geo;
    const tz_context *ctx;
    char *text; /* for tz_free; NUL-terminated unless NULL */
    size_t size;
    size_t capacity;
    tz_result result;
} tz_wkt;
void tz_wkt_deinit(tz_wkt *wkt);

void tz_wkt_add(tz_wkt *wkt, const char *text);
void tz_wkt_addf(tz_wkt *wkt, const char *format, ...) TZ_PRINTF(2, 3);
/* A name in quotes: cleaned of control bytes and of what is not UTF-8, cut where it is too long. */
void tz_wkt_add_name(tz_wkt *wkt, const char *text, size_t size);
/* A number; one that is not finite is a GEO error that names the key. */
void tz_wkt_add_number(tz_wkt *wkt, uint16_t key, double value);

/* What is registered at EPSG under a code, by way of PROJ. Without PROJ an error that says so. */
typedef enum tz_epsg_kind {
    TZ_EPSG_CRS = 0,      /* the whole of it */
    TZ_EPSG_BASE_CRS = 1, /* a geographic CRS as BASEGEOGCRS[...] */
    TZ_EPSG_DATUM = 2, /* DATUM[...], with PRIMEM[...] when that is not Greenwich, or VDATUM[...] */
    TZ_EPSG_ELLIPSOID = 3,
    TZ_EPSG_PRIME_MERIDIAN = 4,
    TZ_EPSG_CONVERSION = 5,
    TZ_EPSG_UNIT = 6,       /* LENGTHUNIT[...] or ANGLEUNIT[...] */
    TZ_EPSG_UNIT_OF_CRS = 7 /* the ANGLEUNIT[...] of a geographic CRS */
} tz_epsg_kind;
tz_result tz_epsg_wkt(tz_epsg_kind kind, uint16_t code, const tz_context *ctx, char **out);
void tz_wkt_add_epsg(tz_wkt *wkt, tz_epsg_kind kind, uint16_t code);

/* Whether a SHORT key holds a code of EPSG: given, neither user-defined nor private. */
bool tz_geo_is_code(uint16_t value);

/* The name that a citation gives: its field ("Datum = " up to the next bar) where it is made of
 * fields, the whole text where it is not and field is NULL. false: no name. */
bool tz_geo_citation_name(const tz_geo *geo, uint16_t key, const char *field, const char **text,
                          size_t *size);

/* LENGTHUNIT[...] by the units key and the key for the size of a unit of one's own. */
void tz_wkt_add_length_unit(tz_wkt *wkt, uint16_t units_key, uint16_t size_key);
/* ANGLEUNIT[...] of GeogAngularUnits, of the CRS under GeodeticCRS, or degree. */
void tz_wkt_add_angle_unit(tz_wkt *wkt);
void tz_wkt_add_azimuth_unit(tz_wkt *wkt);
#define TZ_WKT_DEGREE "ANGLEUNIT[\"degree\",0.0174532925199433,ID[\"EPSG\",9122]]"

/* DATUM[...] and PRIMEM[...] of a geographic or geocentric CRS that is described by keys. */
void tz_wkt_add_frame(tz_wkt *wkt);

/* CONVERSION[...] by ProjectionGeoKey or ProjMethodGeoKey. */
void tz_wkt_add_conversion(tz_wkt *wkt);
/* Whether the keys name a projection at all, and whether its axes go west and south. */
bool tz_geo_has_projection(const tz_geo *geo);
bool tz_geo_is_south_oriented(const tz_geo *geo);

#endif
