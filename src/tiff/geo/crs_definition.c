/* SPDX-License-Identifier: Apache-2.0
 * From GeoKeys to the definition of a coordinate reference system: a code if there is one, else
 * WKT2:2019.
 *
 * The order of preference: text of ArcGIS in a citation, for a CRS that keys cannot express; codes
 * of EPSG for the horizontal and the vertical part; WKT built of keys, with the parts that have
 * codes looked up one by one. A datum with parameters to WGS 84 (key GeogTOWGS84 of GDAL) gives a
 * bound CRS, but not inside of a compound one. Ambiguous keys are read as GDAL reads them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/geo/wkt.h"
#include "tiff/tags.h"

enum { WGS_84_3D = 4979 };

/* ---- which kind ---- */

/* The TZ_MODEL_ type; without a usable one in the file, that of the keys it has. */
static uint16_t find_crs_model(const tz_geo *geo)
{
    if (geo->model_type >= TZ_MODEL_PROJECTED && geo->model_type <= TZ_MODEL_GEOCENTRIC)
        return geo->model_type;
    if (tz_geo_short(geo, TZ_KEY_PROJECTED_CRS, 0) != 0 || tz_geo_has_projection(geo))
        return TZ_MODEL_PROJECTED;
    bool geodetic = tz_geo_short(geo, TZ_KEY_GEODETIC_CRS, 0) != 0 ||
                    tz_geo_short(geo, TZ_KEY_DATUM, 0) != 0 ||
                    tz_geo_short(geo, TZ_KEY_ELLIPSOID, 0) != 0 ||
                    tz_geo_double(geo, TZ_KEY_SEMI_MAJOR_AXIS, 0) != 0;
    return geodetic && geo->model_type == TZ_MODEL_NONE ? TZ_MODEL_GEOGRAPHIC : TZ_MODEL_NONE;
}

/* ---- horizontal ---- */

/* Adds the name of the first citation that has one: a field of it, or the whole. */
static void add_citation_name(tz_wkt *wkt, const char *field, const uint16_t keys[2])
{
    const char *text = "unknown";
    size_t size = strlen(text);
    for (size_t i = 0; i < 2; i++)
        if (tz_geo_citation_name(wkt->geo, keys[i], field, &text, &size) ||
            tz_geo_citation_name(wkt->geo, keys[i], NULL, &text, &size))
            break;
    tz_wkt_add_name(wkt, text, size);
}

/* The geographic CRS of a projected one. Only the geodetic citation names it: the general one has
 * the name of the projected CRS. */
static void add_base_crs(tz_wkt *wkt)
{
    uint16_t code = tz_geo_short(wkt->geo, TZ_KEY_GEODETIC_CRS, 0);
    if (tz_geo_is_code(code)) {
        tz_wkt_add_epsg(wkt, TZ_EPSG_BASE_CRS, code);
        return;
    }
    static const uint16_t keys[2] = {TZ_KEY_GEODETIC_CITATION, TZ_KEY_GEODETIC_CITATION};
    tz_wkt_add(wkt, "BASEGEOGCRS[");
    add_citation_name(wkt, "GCS Name = ", keys);
    tz_wkt_add(wkt, ",");
    tz_wkt_add_frame(wkt);
    /* Without it PROJ takes the unit of the prime meridian. */
    tz_wkt_add(wkt, ",");
    tz_wkt_add_angle_unit(wkt);
    tz_wkt_add(wkt, "]");
}

/* A projected CRS: its base, the conversion, and axes in the unit of the file. */
static void add_projected(tz_wkt *wkt)
{
    static const uint16_t keys[2] = {TZ_KEY_PROJECTED_CITATION, TZ_KEY_CITATION};
    tz_wkt_add(wkt, "PROJCRS[");
    add_citation_name(wkt, "PCS Name = ", keys);
    tz_wkt_add(wkt, ",");
    add_base_crs(wkt);
    tz_wkt_add(wkt, ",");
    tz_wkt_add_conversion(wkt);
    tz_wkt_add(wkt,
               tz_geo_is_south_oriented(wkt->geo)
                   ? ",CS[Cartesian,2],AXIS[\"westing (Y)\",west],AXIS[\"southing (X)\",south],"
                   : ",CS[Cartesian,2],AXIS[\"easting (E)\",east],AXIS[\"northing (N)\",north],");
    tz_wkt_add_length_unit(wkt, TZ_KEY_PROJ_LINEAR_UNITS, TZ_KEY_PROJ_LINEAR_UNIT_SIZE);
    tz_wkt_add(wkt, "]");
}

/* A geographic CRS has angles; a geocentric one has lengths, along three axes from the centre of
 * the Earth. */
static void add_geodetic(tz_wkt *wkt, bool geocentric)
{
    static const uint16_t keys[2] = {TZ_KEY_GEODETIC_CITATION, TZ_KEY_CITATION};
    tz_wkt_add(wkt, geocentric ? "GEODCRS[" : "GEOGCRS[");
    add_citation_name(wkt, "GCS Name = ", keys);
    tz_wkt_add(wkt, ",");
    tz_wkt_add_frame(wkt);
    if (geocentric) {
        tz_wkt_add(wkt, ",CS[Cartesian,3],AXIS[\"(X)\",geocentricX],AXIS[\"(Y)\",geocentricY],"
                        "AXIS[\"(Z)\",geocentricZ],");
        tz_wkt_add_length_unit(wkt, TZ_KEY_GEOG_LINEAR_UNITS, TZ_KEY_GEOG_LINEAR_UNIT_SIZE);
    } else {
        tz_wkt_add(wkt, ",CS[ellipsoidal,2],AXIS[\"latitude\",north],AXIS[\"longitude\",east],");
        tz_wkt_add_angle_unit(wkt);
    }
    tz_wkt_add(wkt, "]");
}

static void add_horizontal(tz_wkt *wkt)
{
    const uint16_t model = find_crs_model(wkt->geo);
    if (tz_geo_is_code(wkt->geo->epsg))
        tz_wkt_add_epsg(wkt, TZ_EPSG_CRS, wkt->geo->epsg);
    else if (model == TZ_MODEL_PROJECTED)
        add_projected(wkt);
    else if (model == TZ_MODEL_GEOGRAPHIC || model == TZ_MODEL_GEOCENTRIC)
        add_geodetic(wkt, model == TZ_MODEL_GEOCENTRIC);
    else
        wkt->result = TZ_FAIL_GEO(wkt->ctx, tz_at_geo_keys(),
                                  "the keys do not say enough about a coordinate reference system");
}

/* ---- key GeogTOWGS84 of GDAL: a user-defined datum and WGS 84 ---- */

static const tz_geo_key *find_to_wgs84(const tz_geo *geo)
{
    const tz_geo_key *key = tz_geo_find_key(geo, TZ_KEY_TO_WGS84);
    if (!key || key->type != TZ_TYPE_DOUBLE || (key->count != 3 && key->count != 7) ||
        tz_count_finite(key->value.doubles, key->count) < key->count)
        return NULL;
    return tz_geo_is_code(tz_geo_short(geo, TZ_KEY_GEODETIC_CRS, 0)) ? NULL : key;
}

/* Closes SOURCECRS[, and adds WGS 84 as the target with the Helmert parameters of the key: three
 * translations, or seven in the convention of position vectors, as GDAL writes them. */
static void add_to_wgs84(tz_wkt *wkt, const tz_geo_key *key)
{
    static const struct {
        const char *name;
        unsigned code;
    } parameters[] = {
        {"X-axis translation", 8605}, {"Y-axis translation", 8606}, {"Z-axis translation", 8607},
        {"X-axis rotation", 8608},    {"Y-axis rotation", 8609},    {"Z-axis rotation", 8610},
        {"Scale difference", 8611},
    };
    tz_wkt_add(wkt, "],TARGETCRS[GEOGCRS[\"WGS 84\",DATUM[\"World Geodetic System 1984\","
                    "ELLIPSOID[\"WGS 84\",6378137,298.257223563,LENGTHUNIT[\"metre\",1]]],"
                    "CS[ellipsoidal,2],AXIS[\"latitude\",north],AXIS[\"longitude\",east],"
                    "ANGLEUNIT[\"degree\",0.0174532925199433],ID[\"EPSG\",4326]]],"
                    "ABRIDGEDTRANSFORMATION[\"to WGS 84\",");
    tz_wkt_add(wkt, key->count == 3
                        ? "METHOD[\"Geocentric translations (geog2D domain)\",ID[\"EPSG\",9603]]"
                        : "METHOD[\"Position Vector transformation (geog2D domain)\","
                          "ID[\"EPSG\",9606]]");
    for (uint32_t i = 0; i < key->count; i++) {
        double value = key->value.doubles[i];
        tz_wkt_addf(wkt, ",PARAMETER[\"%s\",", parameters[i].name);
        /* In WKT the scale is a factor, in the key parts per million. */
        tz_wkt_add_number(wkt, TZ_KEY_TO_WGS84, i == 6 ? 1 + value * 1e-6 : value);
        tz_wkt_addf(wkt, ",ID[\"EPSG\",%u]]", parameters[i].code);
    }
    tz_wkt_add(wkt, "]]");
}

/* ---- vertical and compound ---- */

/* Some files give a geodetic datum here, which says nothing about heights; it is "unknown" then. */
static void add_vertical(tz_wkt *wkt)
{
    static const uint16_t keys[2] = {TZ_KEY_VERTICAL_CITATION, TZ_KEY_VERTICAL_CITATION};
    const uint16_t datum = tz_geo_short(wkt->geo, TZ_KEY_VERTICAL_DATUM, 0);
    char *text = NULL;
    if (tz_geo_is_code(wkt->geo->epsg_vertical)) {
        tz_wkt_add_epsg(wkt, TZ_EPSG_CRS, wkt->geo->epsg_vertical);
        return;
    }
    tz_wkt_add(wkt, "VERTCRS[");
    add_citation_name(wkt, "VCS Name = ", keys);
    tz_wkt_add(wkt, ",");
    if (wkt->result == TZ_OK && tz_geo_is_code(datum))
        wkt->result = tz_epsg_wkt(TZ_EPSG_DATUM, datum, wkt->ctx, &text);
    tz_wkt_add(wkt, text && strncmp(text, "VDATUM[", 7) == 0 ? text : "VDATUM[\"unknown\"]");
    tz_free(text);
    tz_wkt_add(wkt, ",CS[vertical,1],AXIS[\"gravity-related height (H)\",up],");
    /* 0: no size key belongs to vertical units; a user-defined unit is not allowed here. */
    tz_wkt_add_length_unit(wkt, TZ_KEY_VERTICAL_UNITS, 0);
    tz_wkt_add(wkt, "]");
}

/* Adds the name in KEYWORD["name",...]; quotes within it stay doubled. */
static void add_component_name(tz_wkt *wkt, const tz_wkt *component)
{
    const char *start = component->text ? strchr(component->text, '"') : NULL;
    const char *end = start ? strchr(start + 1, '"') : NULL;
    while (end && end[1] == '"')
        end = strchr(end + 2, '"');
    if (end)
        tz_wkt_addf(wkt, "%.*s", (int)(end - start - 1), start + 1);
}

/* Its name is that of GTCitation, or the names of both parts. The parts are built apart, because
 * their names come before them in the text. */
static void add_compound(tz_wkt *wkt)
{
    const char *text;
    size_t size;
    tz_wkt horizontal = {.geo = wkt->geo, .ctx = wkt->ctx};
    tz_wkt vertical = {.geo = wkt->geo, .ctx = wkt->ctx};
    add_horizontal(&horizontal);
    if (horizontal.result == TZ_OK)
        add_vertical(&vertical);
    wkt->result = horizontal.result != TZ_OK ? horizontal.result : vertical.result;
    if (wkt->result == TZ_OK) {
        tz_wkt_add(wkt, "COMPOUNDCRS[");
        if (tz_geo_citation_name(wkt->geo, TZ_KEY_CITATION, NULL, &text, &size)) {
            tz_wkt_add_name(wkt, text, size);
        } else {
            tz_wkt_add(wkt, "\"");
            add_component_name(wkt, &horizontal);
            tz_wkt_add(wkt, " + ");
            add_component_name(wkt, &vertical);
            tz_wkt_add(wkt, "\"");
        }
        tz_wkt_add(wkt, ",");
        tz_wkt_add(wkt, horizontal.text);
        tz_wkt_add(wkt, ",");
        tz_wkt_add(wkt, vertical.text);
        tz_wkt_add(wkt, "]");
    }
    tz_wkt_deinit(&horizontal);
    tz_wkt_deinit(&vertical);
}

/* ---- the definition ---- */

/* Finds the text of a CRS that ArcGIS wrote into a citation because keys cannot express it. */
static const char *find_pe_string(const tz_geo *geo, size_t *size)
{
    static const uint16_t keys[] = {TZ_KEY_PROJECTED_CITATION, TZ_KEY_CITATION};
    const size_t skip = strlen(TZ_PE_START);
    const uint16_t model = find_crs_model(geo);
    if (tz_geo_is_code(geo->epsg) ||
        !(model == TZ_MODEL_NONE || (model == TZ_MODEL_PROJECTED && !tz_geo_has_projection(geo))))
        return NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const tz_geo_key *key = tz_geo_text(geo, keys[i]);
        if (key && key->count > skip && key->count <= TZ_MAX_PE_STRING &&
            memcmp(key->value.text, TZ_PE_START, skip) == 0 &&
            !memchr(key->value.text, 0, key->count)) {
            *size = key->count - skip;
            return key->value.text + skip;
        }
    }
    return NULL;
}

/* Takes the first of these that the keys allow: the text of ArcGIS, codes, or WKT. A code is left
 * to PROJ as it is, so that its database and not the file decides the details. */
tz_result tz_geo_crs_definition(const tz_geo *geo, const tz_context *ctx, char **out)
{
    tz_wkt text = {.geo = geo, .ctx = ctx};
    tz_wkt *wkt = &text;
    size_t size = 0;
    const char *pe_string = find_pe_string(geo, &size);
    const bool has_code = tz_geo_is_code(geo->epsg);
    const bool has_vertical_code = tz_geo_is_code(geo->epsg_vertical);
    /* Heights above the ellipsoid belong to the horizontal CRS; only this one is known by heart. */
    const bool is_3d = geo->epsg_vertical == WGS_84_3D;
    /* A datum alone is enough for a vertical CRS; a unit alone says nothing. */
    const bool has_vertical_keys = geo->epsg_vertical == TZ_GEO_USER_DEFINED ||
                                   (geo->epsg_vertical == 0 && tz_geo_is_vertical_usable(geo) &&
                                    tz_geo_is_code(tz_geo_short(geo, TZ_KEY_VERTICAL_DATUM, 0)));
    if (pe_string) {
        for (size_t i = 0; i < size; i++) {
            const unsigned char c = (unsigned char)pe_string[i];
            tz_wkt_addf(wkt, "%c", c < 0x20 || c == 0x7F ? ' ' : c);
        }
    } else if (has_code && is_3d && geo->epsg == 4326) {
        tz_wkt_addf(wkt, "EPSG:%d", WGS_84_3D);
    } else if (has_code && has_vertical_code && !is_3d) {
        tz_wkt_addf(wkt, "EPSG:%u+%u", geo->epsg, geo->epsg_vertical);
    } else if ((has_vertical_code && !is_3d) || has_vertical_keys) {
        add_compound(wkt);
    } else if (has_code) {
        tz_wkt_addf(wkt, "EPSG:%u", geo->epsg);
    } else {
        const tz_geo_key *to_wgs84 = find_to_wgs84(geo);
        if (to_wgs84)
            tz_wkt_add(wkt, "BOUNDCRS[SOURCECRS[");
        add_horizontal(wkt);
        if (to_wgs84)
            add_to_wgs84(wkt, to_wgs84);
    }
    if (text.result == TZ_OK)
        *out = text.text;
    else
        tz_wkt_deinit(&text);
    return text.result;
}
