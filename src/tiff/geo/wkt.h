/* SPDX-License-Identifier: Apache-2.0
 * Well-known text (WKT2:2019), built of GeoKeys: the text itself, and the parts that all kinds of
 * coordinate reference systems share. */
#ifndef TZ_TIFF_GEO_WKT_H
#define TZ_TIFF_GEO_WKT_H

#include "tiff/geo/geo.h"

/* Text that grows. The first failure stays in result and turns all later calls into no-ops, so that
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
/* Adds a name in quotes, without control bytes and bytes that are not UTF-8, and shortened if it is
 * too long. */
void tz_wkt_add_name(tz_wkt *wkt, const char *text, size_t size);
/* Adds a number; one that is not finite is a GEO error that names the key. */
void tz_wkt_add_number(tz_wkt *wkt, uint16_t key, double value);

/* Kinds of objects that EPSG registers under codes of their own. */
typedef enum tz_epsg_kind {
    TZ_EPSG_CRS = 0,      /* the whole of it */
    TZ_EPSG_BASE_CRS = 1, /* a geographic CRS as BASEGEOGCRS[...] */
    TZ_EPSG_DATUM = 2, /* DATUM[...], with PRIMEM[...] if that is not Greenwich, or VDATUM[...] */
    TZ_EPSG_ELLIPSOID = 3,
    TZ_EPSG_PRIME_MERIDIAN = 4,
    TZ_EPSG_CONVERSION = 5,
    TZ_EPSG_UNIT = 6,       /* LENGTHUNIT[...] or ANGLEUNIT[...] */
    TZ_EPSG_UNIT_OF_CRS = 7 /* the ANGLEUNIT[...] of a geographic CRS */
} tz_epsg_kind;
/* Writes the object of a code as WKT, from PROJ's database. Fails without PROJ. */
tz_result tz_epsg_wkt(tz_epsg_kind kind, uint16_t code, const tz_context *ctx, char **out);
void tz_wkt_add_epsg(tz_wkt *wkt, tz_epsg_kind kind, uint16_t code);

/* Finds the name that a citation gives. A citation made of fields gives the text of this field
 * ("Datum = " up to the next bar); any other gives its whole text, if field is NULL. Returns false
 * if there is no name. */
bool tz_geo_citation_name(const tz_geo *geo, uint16_t key, const char *field, const char **text,
                          size_t *size);

/* Adds LENGTHUNIT[...] by the units key and the key for the size of a user-defined unit. */
void tz_wkt_add_length_unit(tz_wkt *wkt, uint16_t units_key, uint16_t size_key);
/* Adds ANGLEUNIT[...] of GeogAngularUnits, of the CRS under GeodeticCRS, or degree. */
void tz_wkt_add_angle_unit(tz_wkt *wkt);
void tz_wkt_add_azimuth_unit(tz_wkt *wkt);
#define TZ_WKT_DEGREE "ANGLEUNIT[\"degree\",0.0174532925199433,ID[\"EPSG\",9122]]"

/* Adds DATUM[...] and PRIMEM[...] of a geographic or geocentric CRS that is described by keys. */
void tz_wkt_add_frame(tz_wkt *wkt);

/* Adds CONVERSION[...] by ProjectionGeoKey or ProjMethodGeoKey. */
void tz_wkt_add_conversion(tz_wkt *wkt);
/* A conversion with its parameters, as EPSG has them. Codes are 0 for a method or parameter that
 * EPSG does not have. */
enum { TZ_MAX_CONVERSION_VALUES = 16 };
typedef struct tz_geo_conversion {
    const char *method;
    uint16_t method_code;
    size_t count;
    struct {
        const char *name;
        uint16_t code;
        double value;
        double unit; /* radians or metres of its unit; 1 for a ratio */
    } values[TZ_MAX_CONVERSION_VALUES];
} tz_geo_conversion;
/* Adds ProjMethodGeoKey and the keys of the parameters, with angles and lengths in units of these
 * sizes. Returns false if there are no keys for the method or a parameter, and writes which to
 * problem. */
bool tz_key_list_add_conversion(tz_key_list *list, const tz_geo_conversion *conversion,
                                double radians, double metres, char *problem, size_t problem_size);

bool tz_geo_has_projection(const tz_geo *geo);    /* the keys name a projection that is known */
bool tz_geo_is_south_oriented(const tz_geo *geo); /* its axes go west and south */

#endif
