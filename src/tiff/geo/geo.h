/* SPDX-License-Identifier: Apache-2.0
 * Georeferencing: from the values of the GeoTIFF tags to tz_geo. No I/O: tags are loaded before. */
#ifndef TZ_TIFF_GEO_GEO_H
#define TZ_TIFF_GEO_GEO_H

#include <terrazzo/terrazzo.h>

#include "base/arena.h"
#include "base/error.h"
#include "tiff/tags.h"

/* GeoKeys by the names of GeoTIFF 1.1. */
enum {
    TZ_KEY_MODEL_TYPE = 1024,
    TZ_KEY_RASTER_TYPE = 1025,
    TZ_KEY_CITATION = 1026,
    TZ_KEY_GEODETIC_CRS = 2048,
    TZ_KEY_GEODETIC_CITATION = 2049,
    TZ_KEY_DATUM = 2050,
    TZ_KEY_PRIME_MERIDIAN = 2051,
    TZ_KEY_GEOG_LINEAR_UNITS = 2052,
    TZ_KEY_GEOG_LINEAR_UNIT_SIZE = 2053,
    TZ_KEY_GEOG_ANGULAR_UNITS = 2054,
    TZ_KEY_GEOG_ANGULAR_UNIT_SIZE = 2055,
    TZ_KEY_ELLIPSOID = 2056,
    TZ_KEY_SEMI_MAJOR_AXIS = 2057,
    TZ_KEY_SEMI_MINOR_AXIS = 2058,
    TZ_KEY_INV_FLATTENING = 2059,
    TZ_KEY_GEOG_AZIMUTH_UNITS = 2060,
    TZ_KEY_PRIME_MERIDIAN_LONGITUDE = 2061,
    TZ_KEY_TO_WGS84 = 2062,                    /* of GDAL: 3 or 7 Helmert parameters */
    TZ_KEY_CELESTIAL_BODY = 2063,              /* draft of GeoTIFF 1.2 */
    TZ_KEY_LINEAR_UNITS_INTERP_CORRECT = 3059, /* of GDAL */
    TZ_KEY_PROJECTED_CRS = 3072,
    TZ_KEY_PROJECTED_CITATION = 3073,
    TZ_KEY_PROJECTION = 3074,
    TZ_KEY_PROJ_METHOD = 3075,
    TZ_KEY_PROJ_LINEAR_UNITS = 3076,
    TZ_KEY_PROJ_LINEAR_UNIT_SIZE = 3077,
    TZ_KEY_STD_PARALLEL_1 = 3078,
    TZ_KEY_STD_PARALLEL_2 = 3079,
    TZ_KEY_NAT_ORIGIN_LONG = 3080,
    TZ_KEY_NAT_ORIGIN_LAT = 3081,
    TZ_KEY_FALSE_EASTING = 3082,
    TZ_KEY_FALSE_NORTHING = 3083,
    TZ_KEY_FALSE_ORIGIN_LONG = 3084,
    TZ_KEY_FALSE_ORIGIN_LAT = 3085,
    TZ_KEY_FALSE_ORIGIN_EASTING = 3086,
    TZ_KEY_FALSE_ORIGIN_NORTHING = 3087,
    TZ_KEY_CENTER_LONG = 3088,
    TZ_KEY_CENTER_LAT = 3089,
    TZ_KEY_CENTER_EASTING = 3090,
    TZ_KEY_CENTER_NORTHING = 3091,
    TZ_KEY_SCALE_AT_NAT_ORIGIN = 3092,
    TZ_KEY_SCALE_AT_CENTER = 3093,
    TZ_KEY_AZIMUTH_ANGLE = 3094,
    TZ_KEY_STRAIGHT_VERT_POLE_LONG = 3095,
    TZ_KEY_RECTIFIED_GRID_ANGLE = 3096, /* of libgeotiff */
    TZ_KEY_VERTICAL = 4096,
    TZ_KEY_VERTICAL_CITATION = 4097,
    TZ_KEY_VERTICAL_DATUM = 4098,
    TZ_KEY_VERTICAL_UNITS = 4099,
    TZ_KEY_COORDINATE_EPOCH = 5120 /* draft of GeoTIFF 1.2 */
};
#define TZ_GEO_USER_DEFINED 32767u

/* Values of TZ_KEY_MODEL_TYPE, and of tz_geo.model_type. */
enum { TZ_MODEL_NONE, TZ_MODEL_PROJECTED, TZ_MODEL_GEOGRAPHIC, TZ_MODEL_GEOCENTRIC };

/* ArcGIS stores a projection that has neither a code nor keys as text in a citation: this, then its
 * WKT. */
#define TZ_PE_START "ESRI PE String = "
enum { TZ_MAX_PE_STRING = 4096 };

/* Numbers of one element of each tag. */
enum {
    TZ_GEO_KEY_HEADER_VALUES = 4, /* version, revision, minor revision, number of keys */
    TZ_GEO_KEY_ENTRY_VALUES = 4,  /* id, location, count, value */
    TZ_SCALE_VALUES = 3,
    TZ_TIEPOINT_VALUES = 6,
    TZ_MATRIX_VALUES = 16,
    TZ_RPC_VALUES = 92
};

/* The georeferencing tags of one directory, in the machine's byte order. NULL with count 0 if a
 * tag is absent. They live as long as the tz_geo made of them, which points into them. */
typedef struct tz_geo_tags {
    const uint16_t *directory; /* 34735 GeoKeyDirectory */
    uint64_t directory_count;
    const double *doubles; /* 34736 GeoDoubleParams */
    uint64_t double_count;
    const char *ascii; /* 34737 GeoAsciiParams, not NUL-terminated */
    uint64_t ascii_size;
    const double *scale; /* 33550 ModelPixelScale */
    uint64_t scale_count;
    const double *tiepoints; /* 33922 ModelTiepoint, in memory that may be written */
    uint64_t tiepoint_count; /* numbers, six for each point */
    const double *matrix;    /* 34264 ModelTransformation */
    uint64_t matrix_count;
    const double *rpc; /* 50844 RPCCoefficient */
    uint64_t rpc_count;
} tz_geo_tags;

/* Fills *out. A defect is a GEO warning that names the tag (and key) and leaves out the defective
 * value; the result is an error only in strict mode, with require_crs, or if memory ran out. Beyond
 * the tags themselves it allocates 16 bytes for each key and the citation. Tiepoints become control
 * points in place. */
tz_result tz_geo_parse(const tz_geo_tags *tags, tz_arena *arena, const tz_context *ctx,
                       tz_geo *out);

/* The two halves of tz_geo_parse. Keys come first: the raster type decides the half-pixel shift of
 * the transform. */
tz_result tz_geo_parse_keys(const tz_geo_tags *tags, tz_arena *arena, const tz_context *ctx,
                            tz_geo *out);
tz_result tz_geo_parse_transform(const tz_geo_tags *tags, const tz_context *ctx, tz_geo *out);

/* Second half of tz_geo_parse_keys: from geo->keys to types, codes and citation. */
tz_result tz_geo_interpret_keys(tz_arena *arena, const tz_context *ctx, tz_geo *geo);

/* Finds a key by id; NULL if absent. The look-ups by type return the first value, or the fallback
 * for a key that is absent or of another type. */
const tz_geo_key *tz_geo_find_key(const tz_geo *geo, uint16_t id);
bool tz_geo_has_key(const tz_geo *geo, uint16_t id); /* and it is not a SHORT of 0: "left out" */
uint16_t tz_geo_short(const tz_geo *geo, uint16_t id, uint16_t fallback);
double tz_geo_double(const tz_geo *geo, uint16_t id, double fallback);
const tz_geo_key *tz_geo_text(const tz_geo *geo, uint16_t id); /* NULL also for empty text */

/* Returns the number of values before the first that is infinite or not a number. */
size_t tz_count_finite(const double *values, size_t count);

/* Get and set the values of a key, whatever its type. */
static inline const void *tz_geo_key_values(const tz_geo_key *key)
{
    return key->type == TZ_TYPE_ASCII    ? (const void *)key->value.text
           : key->type == TZ_TYPE_DOUBLE ? (const void *)key->value.doubles
                                         : (const void *)key->value.shorts;
}
static inline void tz_geo_key_set_values(tz_geo_key *key, const void *values)
{
    if (key->type == TZ_TYPE_ASCII)
        key->value.text = values;
    else if (key->type == TZ_TYPE_DOUBLE)
        key->value.doubles = values;
    else
        key->value.shorts = values;
}

/* Returns the TZ_MODEL_ type of the CRS that EPSG has under a code; TZ_MODEL_NONE if it is of
 * another kind or not known. Without PROJ only the most common codes are known. */
uint16_t tz_epsg_model_type(uint16_t code);
/* Fails with an error that says what EPSG has under a code without a model type. */
tz_result tz_epsg_fail_unusable(uint16_t code, const tz_context *ctx);
/* Fails with TZ_ERR_ARG if EPSG has no vertical CRS under a code. Without PROJ any code passes. */
tz_result tz_epsg_check_vertical(uint16_t code, const tz_context *ctx);

/* False if a vertical key has a private code. */
bool tz_geo_is_vertical_usable(const tz_geo *geo);

/* Replaces the CRS of *geo by one given as WKT or "EPSG:N". If EPSG has a code for it, or codes for
 * both parts of a compound CRS, *geo gets the codes, without keys; a projected CRS without a code
 * becomes keys with the text that ArcGIS would write. Any other text is a GEO warning, and *known
 * is false. */
tz_result tz_geo_set_crs(tz_geo *geo, const char *text, tz_arena *arena, const tz_context *ctx,
                         bool *known);

/* Returns true for a keyword and a bracket, "PROJCS[", in any case and with spaces between. Other
 * text could name a file that PROJ would read. */
bool tz_has_form_of_wkt(const char *text);

/* Fails if ctx->require_crs is set and there is no CRS. */
tz_result tz_geo_require_crs(const tz_geo *geo, const tz_context *ctx);

/* Returns the type that a key must have: TZ_TYPE_SHORT, TZ_TYPE_DOUBLE, TZ_TYPE_ASCII; 0 for an
 * unknown key. */
uint16_t tz_geo_key_type(uint16_t id);
/* Returns the name of a key for messages; "unknown" for an unknown key. */
const char *tz_geo_key_label(uint16_t id);

/* True for a code of EPSG: given, neither reserved nor user-defined nor private. */
static inline bool tz_geo_is_code(uint32_t value)
{
    return value >= 1024 && value < TZ_GEO_USER_DEFINED;
}

static inline tz_location tz_at_geo_keys(void)
{
    return tz_at_tag(TZ_TAG_GEO_KEYS, TZ_NO_VALUE);
}

/* Writes the CRS that the keys describe as text that PROJ understands ("EPSG:32633",
 * "EPSG:25832+5783", WKT2, or the WKT1 that ArcGIS puts into a citation), in a block for tz_free.
 * TZ_ERR_FORMAT with TZ_CAUSE_GEO if the keys do not say enough, TZ_ERR_UNSUPPORTED for a
 * projection method without a WKT equivalent, and, in a build without PROJ, for codes within a
 * user-defined CRS. */
tz_result tz_geo_crs_definition(const tz_geo *geo, const tz_context *ctx, char **out);

/* tz_crs_from_file for georeferencing that is not of an open file. ctx->name is that of messages.
 */
tz_result tz_crs_open_geo(tz_crs **out, const tz_geo *geo, const tz_context *ctx);

/* Keys that are collected in any order, each id once. The first failure stays in result and turns
 * all later calls into no-ops. Values are copied to the arena. */
enum { TZ_MAX_LISTED_KEYS = 40 };
typedef struct tz_key_list {
    tz_arena *arena;
    const tz_context *ctx;
    tz_geo_key keys[TZ_MAX_LISTED_KEYS];
    uint32_t count;
    tz_result result;
} tz_key_list;
void tz_key_list_add_short(tz_key_list *list, uint16_t id, uint16_t value);
void tz_key_list_add_doubles(tz_key_list *list, uint16_t id, const double *values, uint32_t count);
void tz_key_list_add_double(tz_key_list *list, uint16_t id, double value);
void tz_key_list_add_text(tz_key_list *list, uint16_t id, const char *text);
/* Gives the keys to *geo, and sets the members that follow from them as a reader would. */
tz_result tz_key_list_finish(tz_geo *geo, tz_key_list *list);

#endif
