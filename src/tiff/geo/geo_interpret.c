/* SPDX-License-Identifier: Apache-2.0
 * The meaning of the GeoKeys as far as tz_geo states it: model and raster type, EPSG codes, epoch,
 * citation, and whether the keys describe a CRS at all. crs_definition.c builds a coordinate
 * reference system from keys without a code.
 *
 * Each step reads its keys from the sorted list and warns of values that the standard reserves or
 * keeps private. Keys that need other keys are checked by a table. Files of GeoTIFF 1.0 use some
 * vertical codes that EPSG has given to other objects; these are corrected as GDAL does. */
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

enum { MAX_CITATION = 4096 };

/* ---- types and codes ---- */

static tz_result warn_reserved_value(const tz_context *ctx, uint16_t key, uint16_t value)
{
    return TZ_WARN_GEO(ctx, tz_expecting(tz_at_geo_keys(), TZ_NONE, value),
                       "key %s (%u) has a reserved value", tz_geo_key_name(key), key);
}

/* 0 and 32767 say nothing about the raster, and need no warning. */
static tz_result read_raster_type(const tz_context *ctx, tz_geo *geo)
{
    uint16_t value = tz_geo_short(geo, TZ_KEY_RASTER_TYPE, 0);
    if (value == TZ_RASTER_PIXEL_IS_AREA || value == TZ_RASTER_PIXEL_IS_POINT)
        geo->raster_type = (tz_raster_type)value;
    else if (value != 0 && value < TZ_GEO_USER_DEFINED)
        return warn_reserved_value(ctx, TZ_KEY_RASTER_TYPE, value);
    return TZ_OK;
}

static tz_result read_model_type(const tz_context *ctx, tz_geo *geo)
{
    uint16_t value = tz_geo_short(geo, TZ_KEY_MODEL_TYPE, 0);
    if (value > TZ_MODEL_GEOCENTRIC && value < TZ_GEO_USER_DEFINED)
        return warn_reserved_value(ctx, TZ_KEY_MODEL_TYPE, value);
    geo->model_type = value;
    return TZ_OK;
}

/* Reads a code of EPSG, or 32767. A private or reserved value is a warning and becomes 0. */
static tz_result read_epsg_code(const tz_context *ctx, const tz_geo *geo, uint16_t key,
                                uint16_t *out)
{
    uint16_t code = tz_geo_short(geo, key, 0);
    *out = 0;
    if (code > TZ_GEO_USER_DEFINED)
        return TZ_WARN_GEO(ctx, tz_expecting(tz_at_geo_keys(), TZ_NONE, code),
                           "key %s (%u) has a private code, which only its author knows",
                           tz_geo_key_name(key), key);
    if (code > 0 && code < 1024)
        return warn_reserved_value(ctx, key, code);
    *out = code;
    return TZ_OK;
}

/* Without a model type, a projected CRS counts if there is one. A user-defined model is not
 * geographic, even if a key names the CRS that it was projected from. */
static tz_result read_horizontal_code(const tz_context *ctx, tz_geo *geo)
{
    bool user_defined = geo->model_type >= TZ_GEO_USER_DEFINED;
    bool has_projected = tz_geo_short(geo, TZ_KEY_PROJECTED_CRS, 0) != 0;
    if (geo->model_type == TZ_MODEL_PROJECTED ||
        ((user_defined || geo->model_type == TZ_MODEL_NONE) && has_projected))
        return read_epsg_code(ctx, geo, TZ_KEY_PROJECTED_CRS, &geo->epsg);
    if (!user_defined)
        return read_epsg_code(ctx, geo, TZ_KEY_GEODETIC_CRS, &geo->epsg);
    geo->epsg = TZ_GEO_USER_DEFINED;
    return TZ_OK;
}

/* GeoTIFF 1.0 listed EPSG's vertical *datums* 5101 to 5112 as codes of vertical CRSs; these are 600
 * further on. 5171, the datum of EGM96, is used in the same way. Its codes 5001 to 5033 were
 * heights above an ellipsoid, which EPSG does not have alone: that of WGS 84 is in 4979, the others
 * are lost. GDAL reads them the same way. */
static uint16_t correct_vertical_code(const tz_geo *geo, uint16_t code)
{
    bool has_datum = tz_geo_short(geo, TZ_KEY_VERTICAL_DATUM, 0) != 0;
    if (code >= 5001 && code <= 5033 && !has_datum)
        return code == 5030 ? 4979 : 0;
    if (geo->key_minor != 0)
        return code;
    if (code >= 5101 && code <= 5112 && !has_datum)
        return (uint16_t)(code + 600);
    return code == 5171 ? 5773 : code;
}

bool tz_geo_is_vertical_usable(const tz_geo *geo)
{
    return tz_geo_short(geo, TZ_KEY_VERTICAL, 0) <= TZ_GEO_USER_DEFINED &&
           tz_geo_short(geo, TZ_KEY_VERTICAL_DATUM, 0) <= TZ_GEO_USER_DEFINED &&
           tz_geo_short(geo, TZ_KEY_VERTICAL_UNITS, 0) <= TZ_GEO_USER_DEFINED;
}

/* Vertical keys are used together or not at all: a private code in one makes the others guesswork.
 */
static tz_result read_vertical_code(const tz_context *ctx, tz_geo *geo)
{
    uint16_t code, datum, unit;
    TZ_TRY(read_epsg_code(ctx, geo, TZ_KEY_VERTICAL, &code));
    TZ_TRY(read_epsg_code(ctx, geo, TZ_KEY_VERTICAL_DATUM, &datum));
    TZ_TRY(read_epsg_code(ctx, geo, TZ_KEY_VERTICAL_UNITS, &unit));
    if (tz_geo_is_vertical_usable(geo))
        geo->epsg_vertical = correct_vertical_code(geo, code);
    if (unit == TZ_GEO_USER_DEFINED)
        TZ_TRY(warn_reserved_value(ctx, TZ_KEY_VERTICAL_UNITS, unit));
    if (geo->key_minor == 0 && tz_geo_find_key(geo, TZ_KEY_VERTICAL))
        TZ_TRY(TZ_WARN_GEO(ctx, tz_expecting(tz_at_geo_keys(), 1, 0),
                           "key VerticalGeoKey (%u) needs minor revision 1", TZ_KEY_VERTICAL));
    return TZ_OK;
}

/* ---- keys that need others ---- */

/* If key has this value, one of the others must be present. Stricter readings of the standard are
 * left out if no reader could use the key that they ask for. */
typedef struct key_requirement {
    uint16_t key;
    uint16_t value;
    uint16_t one_of[4];
} key_requirement;

static const key_requirement key_requirements[] = {
    {TZ_KEY_MODEL_TYPE, TZ_MODEL_PROJECTED, {TZ_KEY_PROJECTED_CRS}},
    {TZ_KEY_MODEL_TYPE, TZ_MODEL_GEOGRAPHIC, {TZ_KEY_GEODETIC_CRS}},
    {TZ_KEY_MODEL_TYPE, TZ_MODEL_GEOCENTRIC, {TZ_KEY_GEODETIC_CRS}},
    {TZ_KEY_MODEL_TYPE,
     TZ_GEO_USER_DEFINED,
     {TZ_KEY_CITATION, TZ_KEY_GEODETIC_CITATION, TZ_KEY_PROJECTED_CITATION}},
    {TZ_KEY_GEODETIC_CRS,
     TZ_GEO_USER_DEFINED,
     {TZ_KEY_GEODETIC_CITATION, TZ_KEY_CITATION, TZ_KEY_PROJECTED_CITATION}},
    {TZ_KEY_GEODETIC_CRS,
     TZ_GEO_USER_DEFINED,
     {TZ_KEY_DATUM, TZ_KEY_ELLIPSOID, TZ_KEY_SEMI_MAJOR_AXIS}},
    {TZ_KEY_GEODETIC_CRS,
     TZ_GEO_USER_DEFINED,
     {TZ_KEY_GEOG_ANGULAR_UNITS, TZ_KEY_GEOG_LINEAR_UNITS}},
    {TZ_KEY_DATUM, TZ_GEO_USER_DEFINED, {TZ_KEY_ELLIPSOID, TZ_KEY_SEMI_MAJOR_AXIS}},
    {TZ_KEY_PRIME_MERIDIAN, TZ_GEO_USER_DEFINED, {TZ_KEY_PRIME_MERIDIAN_LONGITUDE}},
    {TZ_KEY_GEOG_LINEAR_UNITS, TZ_GEO_USER_DEFINED, {TZ_KEY_GEOG_LINEAR_UNIT_SIZE}},
    {TZ_KEY_GEOG_ANGULAR_UNITS, TZ_GEO_USER_DEFINED, {TZ_KEY_GEOG_ANGULAR_UNIT_SIZE}},
    {TZ_KEY_ELLIPSOID, TZ_GEO_USER_DEFINED, {TZ_KEY_SEMI_MAJOR_AXIS}},
    {TZ_KEY_ELLIPSOID, TZ_GEO_USER_DEFINED, {TZ_KEY_INV_FLATTENING, TZ_KEY_SEMI_MINOR_AXIS}},
    {TZ_KEY_PROJECTED_CRS,
     TZ_GEO_USER_DEFINED,
     {TZ_KEY_PROJECTED_CITATION, TZ_KEY_CITATION, TZ_KEY_GEODETIC_CITATION}},
    {TZ_KEY_PROJECTED_CRS,
     TZ_GEO_USER_DEFINED,
     {TZ_KEY_GEODETIC_CRS, TZ_KEY_DATUM, TZ_KEY_ELLIPSOID, TZ_KEY_SEMI_MAJOR_AXIS}},
    {TZ_KEY_PROJECTED_CRS, TZ_GEO_USER_DEFINED, {TZ_KEY_PROJECTION, TZ_KEY_PROJ_METHOD}},
    {TZ_KEY_PROJECTION, TZ_GEO_USER_DEFINED, {TZ_KEY_PROJ_METHOD}},
    {TZ_KEY_PROJ_LINEAR_UNITS, TZ_GEO_USER_DEFINED, {TZ_KEY_PROJ_LINEAR_UNIT_SIZE}},
    {TZ_KEY_VERTICAL, TZ_GEO_USER_DEFINED, {TZ_KEY_VERTICAL_CITATION}},
    {TZ_KEY_VERTICAL, TZ_GEO_USER_DEFINED, {TZ_KEY_VERTICAL_DATUM, TZ_KEY_VERTICAL_UNITS}},
};

static bool is_requirement_met(const tz_geo *geo, const key_requirement *requirement)
{
    if (tz_geo_short(geo, requirement->key, 0) != requirement->value)
        return true;
    for (size_t i = 0; i < sizeof requirement->one_of / sizeof requirement->one_of[0]; i++)
        if (requirement->one_of[i] != 0 && tz_geo_has_key(geo, requirement->one_of[i]))
            return true;
    return false;
}

static tz_result check_key_requirements(const tz_context *ctx, const tz_geo *geo)
{
    for (size_t i = 0; i < sizeof key_requirements / sizeof key_requirements[0]; i++) {
        const key_requirement *requirement = &key_requirements[i];
        if (!is_requirement_met(geo, requirement))
            TZ_TRY(TZ_WARN_GEO(ctx, tz_at_geo_keys(), "key %s (%u) is %u, which needs key %s (%u)",
                               tz_geo_key_name(requirement->key), requirement->key,
                               requirement->value, tz_geo_key_name(requirement->one_of[0]),
                               requirement->one_of[0]));
    }
    return TZ_OK;
}

static bool describes_crs(const tz_geo *geo)
{
    static const uint16_t ids[] = {
        TZ_KEY_GEODETIC_CRS,    TZ_KEY_DATUM,         TZ_KEY_ELLIPSOID,
        TZ_KEY_SEMI_MAJOR_AXIS, TZ_KEY_PROJECTED_CRS, TZ_KEY_PROJECTION,
        TZ_KEY_PROJ_METHOD,     TZ_KEY_VERTICAL,      TZ_KEY_VERTICAL_DATUM};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        if (tz_geo_has_key(geo, ids[i]))
            return true;
    return false;
}

/* ---- citation ---- */

static bool key_text_starts_with(const tz_geo_key *key, const char *start)
{
    size_t size = strlen(start);
    return key->count >= size && memcmp(key->value.text, start, size) == 0;
}

/* True for text that other software wrote for itself to read. */
static bool is_machine_citation(const tz_geo_key *key)
{
    return key_text_starts_with(key, TZ_PE_START) ||
           key_text_starts_with(key, "IMAGINE GeoTIFF Support");
}

static const tz_geo_key *choose_citation(const tz_geo *geo)
{
    static const uint16_t orders[][4] = {
        {TZ_KEY_CITATION, TZ_KEY_PROJECTED_CITATION, TZ_KEY_GEODETIC_CITATION,
         TZ_KEY_VERTICAL_CITATION}, /* model not known, geocentric */
        {TZ_KEY_PROJECTED_CITATION, TZ_KEY_CITATION, TZ_KEY_GEODETIC_CITATION,
         TZ_KEY_VERTICAL_CITATION}, /* projected */
        {TZ_KEY_GEODETIC_CITATION, TZ_KEY_CITATION, TZ_KEY_PROJECTED_CITATION,
         TZ_KEY_VERTICAL_CITATION}, /* geographic */
    };
    const uint16_t *order =
        orders[geo->model_type <= TZ_MODEL_GEOGRAPHIC ? geo->model_type : TZ_MODEL_NONE];
    const tz_geo_key *second_best = NULL;
    for (size_t i = 0; i < 4; i++) {
        const tz_geo_key *key = tz_geo_text(geo, order[i]);
        if (!key || key->value.text[0] == '\0')
            continue;
        if (!is_machine_citation(key))
            return key;
        if (!second_best)
            second_best = key;
    }
    return second_best;
}

/* Copies the citation that describes the CRS best: that of its kind, and text for people rather
 * than for software. */
static tz_result read_citation(tz_arena *arena, const tz_context *ctx, tz_geo *geo)
{
    const tz_geo_key *key = choose_citation(geo);
    if (!key)
        return TZ_OK;
    size_t size = tz_min_size(key->count, MAX_CITATION);
    const char *nul = memchr(key->value.text, '\0', size);
    if (nul)
        size = (size_t)(nul - key->value.text);
    geo->citation = tz_arena_text(arena, key->value.text, size);
    return geo->citation ? TZ_OK : tz_fail_nomem(ctx, size + 1);
}

static tz_result read_epoch(const tz_context *ctx, tz_geo *geo)
{
    double epoch = tz_geo_double(geo, TZ_KEY_COORDINATE_EPOCH, NAN);
    if (tz_geo_find_key(geo, TZ_KEY_COORDINATE_EPOCH) && !isfinite(epoch))
        return TZ_WARN_GEO(ctx, tz_at_geo_keys(), "key CoordinateEpochGeoKey (%u) is not a number",
                           TZ_KEY_COORDINATE_EPOCH);
    geo->coordinate_epoch = epoch;
    return TZ_OK;
}

tz_result tz_geo_interpret_keys(tz_arena *arena, const tz_context *ctx, tz_geo *geo)
{
    TZ_TRY(read_raster_type(ctx, geo));
    TZ_TRY(read_model_type(ctx, geo));
    TZ_TRY(read_horizontal_code(ctx, geo));
    TZ_TRY(read_vertical_code(ctx, geo));
    TZ_TRY(read_epoch(ctx, geo));
    TZ_TRY(check_key_requirements(ctx, geo));
    geo->has_crs = describes_crs(geo);
    return read_citation(arena, ctx, geo);
}
