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
    return TZ_WARN_GEO(ctx, tz_expecting(tz_at_geo_keys(), TZ_NO_VALUE, value),
                       "key %s (%u) has a reserved value", tz_geo_key_name(key), key);
}

/* Reads a code of EPSG, or 32767. A private or reserved value is a warning and becomes 0. */
static tz_result read_epsg_code(const tz_context *ctx, const tz_geo *geo, uint16_t key,
                                uint16_t *out)
{
    uint16_t code = tz_geo_short(geo, key, 0);
    *out = 0;
    if (code > TZ_GEO_USER_DEFINED)
        return TZ_WARN_GEO(ctx, tz_expecting(tz_at_geo_keys(), TZ_NO_VALUE, code),
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

/* Vertical keys are used together or not at all: a private code in one of them makes guesswork of
 * the others. */
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

static tz_result check_key_requirements(const tz_context *ctx, const tz_geo *geo)
{
    for (size_t i = 0; i < sizeof key_requirements / sizeof key_requirements[0]; i++) {
        const key_requirement *row = &key_requirements[i];
        bool met = tz_geo_short(geo, row->key, 0) != row->value;
        for (size_t k = 0; k < sizeof row->one_of / sizeof row->one_of[0] && !met; k++)
            met = row->one_of[k] != 0 && tz_geo_has_key(geo, row->one_of[k]);
        if (!met)
            TZ_TRY(TZ_WARN_GEO(ctx, tz_at_geo_keys(), "key %s (%u) is %u, which needs key %s (%u)",
                               tz_geo_key_name(row->key), row->key, row->value,
                               tz_geo_key_name(row->one_of[0]), row->one_of[0]));
    }
    return TZ_OK;
}

/* ---- citation ---- */

/* Copies the citation that describes the CRS best: that of its kind, and text for people rather
 * than text that ArcGIS or ERDAS wrote for itself to read. */
static tz_result read_citation(tz_arena *arena, const tz_context *ctx, tz_geo *geo)
{
    static const uint16_t orders[][4] = {
        {TZ_KEY_CITATION, TZ_KEY_PROJECTED_CITATION, TZ_KEY_GEODETIC_CITATION,
         TZ_KEY_VERTICAL_CITATION}, /* model not known, geocentric */
        {TZ_KEY_PROJECTED_CITATION, TZ_KEY_CITATION, TZ_KEY_GEODETIC_CITATION,
         TZ_KEY_VERTICAL_CITATION}, /* projected */
        {TZ_KEY_GEODETIC_CITATION, TZ_KEY_CITATION, TZ_KEY_PROJECTED_CITATION,
         TZ_KEY_VERTICAL_CITATION}, /* geographic */
    };
    static const char *const machine_starts[] = {TZ_PE_START, "IMAGINE GeoTIFF Support"};
    const uint16_t *order =
        orders[geo->model_type <= TZ_MODEL_GEOGRAPHIC ? geo->model_type : TZ_MODEL_NONE];
    const tz_geo_key *best = NULL;
    bool for_people = false;
    for (size_t i = 0; i < 4 && !for_people; i++) {
        const tz_geo_key *key = tz_geo_text(geo, order[i]);
        if (!key || key->value.text[0] == '\0')
            continue;
        for_people = true;
        for (size_t k = 0; k < sizeof machine_starts / sizeof machine_starts[0]; k++) {
            const size_t size = strlen(machine_starts[k]);
            if (key->count >= size && memcmp(key->value.text, machine_starts[k], size) == 0)
                for_people = false;
        }
        if (for_people || !best)
            best = key;
    }
    if (!best)
        return TZ_OK;
    size_t size = tz_min_size(best->count, MAX_CITATION);
    const char *nul = memchr(best->value.text, '\0', size);
    if (nul)
        size = (size_t)(nul - best->value.text);
    geo->citation = tz_arena_text(arena, best->value.text, size);
    return geo->citation ? TZ_OK : tz_fail_nomem(ctx, size + 1);
}

tz_result tz_geo_interpret_keys(tz_arena *arena, const tz_context *ctx, tz_geo *geo)
{
    /* One of these says something about a CRS; units, citations and types alone do not. */
    static const uint16_t crs_keys[] = {
        TZ_KEY_GEODETIC_CRS,    TZ_KEY_DATUM,         TZ_KEY_ELLIPSOID,
        TZ_KEY_SEMI_MAJOR_AXIS, TZ_KEY_PROJECTED_CRS, TZ_KEY_PROJECTION,
        TZ_KEY_PROJ_METHOD,     TZ_KEY_VERTICAL,      TZ_KEY_VERTICAL_DATUM};
    const uint16_t raster_type = tz_geo_short(geo, TZ_KEY_RASTER_TYPE, 0);
    const uint16_t model_type = tz_geo_short(geo, TZ_KEY_MODEL_TYPE, 0);
    const double epoch = tz_geo_double(geo, TZ_KEY_COORDINATE_EPOCH, NAN);
    /* 0 and 32767 say nothing about the raster, and need no warning. */
    if (raster_type == TZ_RASTER_TYPE_AREA || raster_type == TZ_RASTER_TYPE_POINT)
        geo->raster_type = (tz_raster_type)raster_type;
    else if (raster_type != 0 && raster_type < TZ_GEO_USER_DEFINED)
        TZ_TRY(warn_reserved_value(ctx, TZ_KEY_RASTER_TYPE, raster_type));
    if (model_type > TZ_MODEL_GEOCENTRIC && model_type < TZ_GEO_USER_DEFINED)
        TZ_TRY(warn_reserved_value(ctx, TZ_KEY_MODEL_TYPE, model_type));
    else
        geo->model_type = model_type;
    TZ_TRY(read_horizontal_code(ctx, geo));
    TZ_TRY(read_vertical_code(ctx, geo));
    if (tz_geo_find_key(geo, TZ_KEY_COORDINATE_EPOCH) && !isfinite(epoch))
        TZ_TRY(TZ_WARN_GEO(ctx, tz_at_geo_keys(), "key CoordinateEpochGeoKey (%u) is not a number",
                           TZ_KEY_COORDINATE_EPOCH));
    else
        geo->coordinate_epoch = epoch;
    TZ_TRY(check_key_requirements(ctx, geo));
    for (size_t i = 0; i < sizeof crs_keys / sizeof crs_keys[0] && !geo->has_crs; i++)
        geo->has_crs = tz_geo_has_key(geo, crs_keys[i]);
    return read_citation(arena, ctx, geo);
}
