/* SPDX-License-Identifier: Apache-2.0
 * Projections: from the methods and parameters of GeoTIFF to those of EPSG, and back.
 *
 * Three tables do both. `methods` has, for each value of ProjMethodGeoKey, the method of EPSG and
 * the parameters that its WKT needs, each with a role; `roles` has the keys in which files store a
 * value of that role, its default and its unit; `parameter_names` has EPSG's names. Files mix the
 * keys of "natural origin", "false origin" and "centre" freely, so that a role accepts all of them
 * for every method, in the order in which libgeotiff looks for them. We write those that GDAL
 * writes for the method. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tiff/geo/wkt.h"
#include "tiff/tags.h"

/* The meaning of a parameter; EPSG has several names for most of them. */
typedef enum role_id {
    ROLE_NONE = 0,
    ROLE_LATITUDE,
    ROLE_LONGITUDE,
    ROLE_POLE_LONGITUDE, /* polar stereographic has a key of its own */
    ROLE_LATITUDE_IF_SET,
    ROLE_PARALLEL_1,
    ROLE_PARALLEL_2,
    ROLE_SCALE,
    ROLE_AZIMUTH,
    ROLE_GRID_ANGLE,
    ROLE_RIGHT_ANGLE, /* 90 degrees, by definition of the method */
    ROLE_EASTING,
    ROLE_NORTHING
} role_id;

typedef enum unit_kind { UNIT_ANGLE, UNIT_AZIMUTH, UNIT_SCALE, UNIT_LENGTH } unit_kind;

/* The first of these keys that is present counts. */
typedef struct role {
    uint16_t keys[4];
    double fallback; /* angles in degrees */
    unit_kind unit;
} role;

/* ROLE_LATITUDE_IF_SET is a latitude that is left out if it is 0, because most definitions of its
 * method do not have it. */
static const role roles[] = {
    [ROLE_NONE] = {{0}, 0, UNIT_SCALE},
    [ROLE_LATITUDE] = {{TZ_KEY_NAT_ORIGIN_LAT, TZ_KEY_FALSE_ORIGIN_LAT, TZ_KEY_CENTER_LAT},
                       0,
                       UNIT_ANGLE},
    [ROLE_LONGITUDE] = {{TZ_KEY_NAT_ORIGIN_LONG, TZ_KEY_FALSE_ORIGIN_LONG, TZ_KEY_CENTER_LONG},
                        0,
                        UNIT_ANGLE},
    [ROLE_POLE_LONGITUDE] = {{TZ_KEY_STRAIGHT_VERT_POLE_LONG, TZ_KEY_NAT_ORIGIN_LONG,
                              TZ_KEY_FALSE_ORIGIN_LONG, TZ_KEY_CENTER_LONG},
                             0,
                             UNIT_ANGLE},
    [ROLE_LATITUDE_IF_SET] = {{TZ_KEY_NAT_ORIGIN_LAT, TZ_KEY_FALSE_ORIGIN_LAT, TZ_KEY_CENTER_LAT},
                              0,
                              UNIT_ANGLE},
    [ROLE_PARALLEL_1] = {{TZ_KEY_STD_PARALLEL_1}, 0, UNIT_ANGLE},
    [ROLE_PARALLEL_2] = {{TZ_KEY_STD_PARALLEL_2}, 0, UNIT_ANGLE},
    [ROLE_SCALE] = {{TZ_KEY_SCALE_AT_NAT_ORIGIN, TZ_KEY_SCALE_AT_CENTER}, 1, UNIT_SCALE},
    [ROLE_AZIMUTH] = {{TZ_KEY_AZIMUTH_ANGLE}, 0, UNIT_AZIMUTH},
    [ROLE_GRID_ANGLE] = {{TZ_KEY_RECTIFIED_GRID_ANGLE}, 90, UNIT_AZIMUTH},
    [ROLE_RIGHT_ANGLE] = {{0}, 90, UNIT_AZIMUTH},
    [ROLE_EASTING] = {{TZ_KEY_FALSE_EASTING, TZ_KEY_CENTER_EASTING, TZ_KEY_FALSE_ORIGIN_EASTING},
                      0,
                      UNIT_LENGTH},
    [ROLE_NORTHING] = {{TZ_KEY_FALSE_NORTHING, TZ_KEY_CENTER_NORTHING,
                        TZ_KEY_FALSE_ORIGIN_NORTHING},
                       0,
                       UNIT_LENGTH},
};

/* EPSG's codes and names of parameters. PROJ finds a parameter by its code, people by its name. */
static const struct {
    uint16_t code;
    const char *name;
} parameter_names[] = {
    {8801, "Latitude of natural origin"},
    {8802, "Longitude of natural origin"},
    {8805, "Scale factor at natural origin"},
    {8806, "False easting"},
    {8807, "False northing"},
    {8811, "Latitude of projection centre"},
    {8812, "Longitude of projection centre"},
    {8813, "Azimuth of initial line"},
    {8814, "Angle from Rectified to Skew Grid"},
    {8815, "Scale factor on initial line"},
    {8816, "Easting at projection centre"},
    {8817, "Northing at projection centre"},
    {8821, "Latitude of false origin"},
    {8822, "Longitude of false origin"},
    {8823, "Latitude of 1st standard parallel"},
    {8824, "Latitude of 2nd standard parallel"},
    {8826, "Easting at false origin"},
    {8827, "Northing at false origin"},
    {8832, "Latitude of standard parallel"},
    {8833, "Longitude of origin"},
};

/* Some methods of GeoTIFF are two of EPSG. NOT_READ: EPSG has another method for spheres, or a
 * further code; we read it as the other row of the method. */
typedef enum variant { ALWAYS, WITH_PARALLEL, WITH_TRUE_SCALE_LATITUDE, NOT_READ } variant;

/* The keys of the origin that are written: indices into the keys of ROLE_LATITUDE, ROLE_LONGITUDE.
 */
typedef enum origin { NATURAL = 0, AT_FALSE_ORIGIN = 1, AT_CENTRE = 2 } origin;

typedef struct method_parameter {
    uint16_t code;
    role_id role;
} method_parameter;

typedef struct projection_method {
    uint16_t id; /* value of ProjMethodGeoKey */
    variant variant;
    origin origin;
    uint16_t epsg; /* 0: EPSG has no such method, PROJ knows it by name */
    const char *name;
    method_parameter parameters[7];
} projection_method;

/* clang-format off */
/* Parameters that several methods share. */
#define NATURAL_ORIGIN {8801, ROLE_LATITUDE}, {8802, ROLE_LONGITUDE}
#define FALSE_ORIGIN   {8821, ROLE_LATITUDE}, {8822, ROLE_LONGITUDE}
#define CENTRE         {8811, ROLE_LATITUDE}, {8812, ROLE_LONGITUDE}
#define PARALLELS      {8823, ROLE_PARALLEL_1}, {8824, ROLE_PARALLEL_2}
#define SCALE          {8805, ROLE_SCALE}
#define EAST_NORTH     {8806, ROLE_EASTING}, {8807, ROLE_NORTHING}

/* Missing are 2 (Alaska modified) and 6 (spherical oblique Mercator), which have no WKT. */
static const projection_method methods[] = {
    {1, ALWAYS, NATURAL, 9807, "Transverse Mercator", {NATURAL_ORIGIN, SCALE, EAST_NORTH}},
    {3, ALWAYS, AT_CENTRE, 9812, "Hotine Oblique Mercator (variant A)",
     {CENTRE, {8813, ROLE_AZIMUTH}, {8814, ROLE_GRID_ANGLE}, {8815, ROLE_SCALE}, EAST_NORTH}},
    {4, ALWAYS, AT_CENTRE, 9813, "Laborde Oblique Mercator",
     {CENTRE, {8813, ROLE_AZIMUTH}, {8815, ROLE_SCALE}, EAST_NORTH}},
    {5, ALWAYS, AT_CENTRE, 9815, "Hotine Oblique Mercator (variant B)", /* the Swiss one of Rosenmund */
     {CENTRE, {8813, ROLE_RIGHT_ANGLE}, {8814, ROLE_RIGHT_ANGLE}, {8815, ROLE_SCALE},
      {8816, ROLE_EASTING}, {8817, ROLE_NORTHING}}},
    {7, WITH_PARALLEL, NATURAL, 9805, "Mercator (variant B)",
     {{8823, ROLE_PARALLEL_1}, {8802, ROLE_LONGITUDE}, EAST_NORTH}},
    {7, ALWAYS, NATURAL, 9804, "Mercator (variant A)", {NATURAL_ORIGIN, SCALE, EAST_NORTH}},
    {8, ALWAYS, AT_FALSE_ORIGIN, 9802, "Lambert Conic Conformal (2SP)",
     {FALSE_ORIGIN, PARALLELS, {8826, ROLE_EASTING}, {8827, ROLE_NORTHING}}},
    {9, ALWAYS, NATURAL, 9801, "Lambert Conic Conformal (1SP)", {NATURAL_ORIGIN, SCALE, EAST_NORTH}},
    {10, ALWAYS, AT_CENTRE, 9820, "Lambert Azimuthal Equal Area", {NATURAL_ORIGIN, EAST_NORTH}},
    {11, ALWAYS, NATURAL, 9822, "Albers Equal Area",
     {FALSE_ORIGIN, PARALLELS, {8826, ROLE_EASTING}, {8827, ROLE_NORTHING}}},
    {12, ALWAYS, AT_CENTRE, 9832, "Modified Azimuthal Equidistant", {NATURAL_ORIGIN, EAST_NORTH}},
    {13, ALWAYS, NATURAL, 0, "Equidistant Conic", {NATURAL_ORIGIN, PARALLELS, EAST_NORTH}},
    {14, ALWAYS, AT_CENTRE, 0, "Stereographic", {NATURAL_ORIGIN, SCALE, EAST_NORTH}},
    {15, WITH_TRUE_SCALE_LATITUDE, NATURAL, 9829, "Polar Stereographic (variant B)",
     {{8832, ROLE_LATITUDE}, {8833, ROLE_POLE_LONGITUDE}, EAST_NORTH}},
    {15, ALWAYS, NATURAL, 9810, "Polar Stereographic (variant A)",
     {{8801, ROLE_LATITUDE}, {8802, ROLE_POLE_LONGITUDE}, SCALE, EAST_NORTH}},
    {16, ALWAYS, NATURAL, 9809, "Oblique Stereographic", {NATURAL_ORIGIN, SCALE, EAST_NORTH}},
    {17, ALWAYS, AT_CENTRE, 1028, "Equidistant Cylindrical",
     {{8823, ROLE_PARALLEL_1}, {8801, ROLE_LATITUDE_IF_SET}, {8802, ROLE_LONGITUDE}, EAST_NORTH}},
    {18, ALWAYS, NATURAL, 9806, "Cassini-Soldner", {NATURAL_ORIGIN, EAST_NORTH}},
    {19, ALWAYS, AT_CENTRE, 0, "Gnomonic", {NATURAL_ORIGIN, EAST_NORTH}},
    {20, ALWAYS, AT_CENTRE, 0, "Miller Cylindrical", {{8802, ROLE_LONGITUDE}, EAST_NORTH}},
    {21, ALWAYS, AT_CENTRE, 9840, "Orthographic", {NATURAL_ORIGIN, EAST_NORTH}},
    {22, ALWAYS, NATURAL, 9818, "American Polyconic", {NATURAL_ORIGIN, EAST_NORTH}},
    {23, ALWAYS, AT_CENTRE, 0, "Robinson", {{8802, ROLE_LONGITUDE}, EAST_NORTH}},
    {24, ALWAYS, AT_CENTRE, 0, "Sinusoidal", {{8802, ROLE_LONGITUDE}, EAST_NORTH}},
    {25, ALWAYS, AT_CENTRE, 0, "Van Der Grinten", {{8802, ROLE_LONGITUDE}, EAST_NORTH}},
    {26, ALWAYS, NATURAL, 9811, "New Zealand Map Grid", {NATURAL_ORIGIN, EAST_NORTH}},
    {27, ALWAYS, NATURAL, 9808, "Transverse Mercator (South Orientated)",
     {NATURAL_ORIGIN, SCALE, EAST_NORTH}},
    /* Two that GDAL added, in no standard. */
    {28, ALWAYS, NATURAL, 9835, "Lambert Cylindrical Equal Area",
     {{8823, ROLE_PARALLEL_1}, {8802, ROLE_LONGITUDE}, EAST_NORTH}},
    {9815, ALWAYS, AT_CENTRE, 9815, "Hotine Oblique Mercator (variant B)",
     {CENTRE, {8813, ROLE_AZIMUTH}, {8814, ROLE_GRID_ANGLE}, {8815, ROLE_SCALE},
      {8816, ROLE_EASTING}, {8817, ROLE_NORTHING}}},
    /* Further methods of EPSG that have the same keys. */
    {10, NOT_READ, AT_CENTRE, 1027, "Lambert Azimuthal Equal Area (Spherical)",
     {NATURAL_ORIGIN, EAST_NORTH}},
    {12, NOT_READ, AT_CENTRE, 1125, "Azimuthal Equidistant", {NATURAL_ORIGIN, EAST_NORTH}},
    {13, NOT_READ, NATURAL, 1119, "Equidistant Conic",
     {FALSE_ORIGIN, PARALLELS, {8826, ROLE_EASTING}, {8827, ROLE_NORTHING}}},
    {17, NOT_READ, AT_CENTRE, 1029, "Equidistant Cylindrical (Spherical)",
     {{8823, ROLE_PARALLEL_1}, {8801, ROLE_LATITUDE_IF_SET}, {8802, ROLE_LONGITUDE}, EAST_NORTH}},
    {28, NOT_READ, NATURAL, 9834, "Lambert Cylindrical Equal Area (Spherical)",
     {{8823, ROLE_PARALLEL_1}, {8802, ROLE_LONGITUDE}, EAST_NORTH}},
};
/* clang-format on */

/* ---- parameters ---- */

/* The first of a role's keys that is present as a DOUBLE; 0: none. */
static uint16_t role_key(const tz_geo *geo, role_id id)
{
    for (size_t i = 0; i < sizeof roles[id].keys / sizeof roles[id].keys[0]; i++) {
        uint16_t key = roles[id].keys[i];
        if (key != 0 && !isnan(tz_geo_double(geo, key, NAN)))
            return key;
    }
    return 0;
}

/* The value of a role, or its default if no key gives one. */
static double role_value(const tz_geo *geo, role_id id)
{
    uint16_t key = role_key(geo, id);
    return key != 0 ? tz_geo_double(geo, key, roles[id].fallback) : roles[id].fallback;
}

/* A value that no key gives is in degrees, whatever the unit of the file's angles. */
static void add_parameter(tz_wkt *wkt, const method_parameter *row)
{
    const unit_kind unit = roles[row->role].unit;
    uint16_t key = role_key(wkt->geo, row->role);
    double value = role_value(wkt->geo, row->role);
    size_t name = 0;
    if (row->role == ROLE_LATITUDE_IF_SET && value == 0)
        return;
    while (parameter_names[name].code != row->code)
        name++; /* every parameter of `methods` has a name */
    tz_wkt_addf(wkt, ",PARAMETER[\"%s\",", parameter_names[name].name);
    tz_wkt_add_number(wkt, key != 0 ? key : roles[row->role].keys[0], value);
    tz_wkt_add(wkt, ",");
    if (unit == UNIT_SCALE)
        tz_wkt_add(wkt, "SCALEUNIT[\"unity\",1]");
    else if (unit == UNIT_LENGTH)
        tz_wkt_add_length_unit(wkt, TZ_KEY_PROJ_LINEAR_UNITS, TZ_KEY_PROJ_LINEAR_UNIT_SIZE);
    else if (key == 0)
        tz_wkt_add(wkt, TZ_WKT_DEGREE);
    else if (unit == UNIT_AZIMUTH)
        tz_wkt_add_azimuth_unit(wkt);
    else
        tz_wkt_add_angle_unit(wkt);
    tz_wkt_addf(wkt, ",ID[\"EPSG\",%u]]", row->code);
}

/* ---- methods ---- */

/* A polar stereographic projection without a scale, and with a latitude that is not the pole's,
 * gives the latitude of true scale: GDAL writes variant B that way. */
static bool variant_applies(const tz_geo *geo, variant which)
{
    if (which == WITH_PARALLEL)
        return role_key(geo, ROLE_PARALLEL_1) != 0;
    if (which == WITH_TRUE_SCALE_LATITUDE)
        return role_value(geo, ROLE_SCALE) == 1 &&
               fabs(fabs(role_value(geo, ROLE_LATITUDE)) - 90) > 1e-8;
    return which != NOT_READ;
}

/* The first row of the method whose variant applies; rows with a condition come first. */
static const projection_method *find_method(const tz_geo *geo)
{
    uint16_t id = tz_geo_short(geo, TZ_KEY_PROJ_METHOD, 0);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (methods[i].id == id && variant_applies(geo, methods[i].variant))
            return &methods[i];
    return NULL;
}

/* A code of EPSG names a complete conversion; otherwise the method and its parameters are added. */
void tz_wkt_add_conversion(tz_wkt *wkt)
{
    uint16_t code = tz_geo_short(wkt->geo, TZ_KEY_PROJECTION, 0);
    uint16_t id = tz_geo_short(wkt->geo, TZ_KEY_PROJ_METHOD, 0);
    const projection_method *known = find_method(wkt->geo);
    if (wkt->result != TZ_OK)
        return;
    if (tz_geo_is_code(code)) {
        tz_wkt_add_epsg(wkt, TZ_EPSG_CONVERSION, code);
    } else if (known) {
        tz_wkt_addf(wkt, "CONVERSION[\"unnamed\",METHOD[\"%s\"", known->name);
        if (known->epsg != 0)
            tz_wkt_addf(wkt, ",ID[\"EPSG\",%u]", known->epsg);
        tz_wkt_add(wkt, "]");
        for (size_t i = 0; i < sizeof known->parameters / sizeof known->parameters[0]; i++)
            if (known->parameters[i].code != 0)
                add_parameter(wkt, &known->parameters[i]);
        tz_wkt_add(wkt, "]");
    } else if (id != 0 && id != TZ_GEO_USER_DEFINED) {
        wkt->result = tz_fail(wkt->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_GEO,
                              tz_expecting(tz_at_geo_keys(), TZ_NO_VALUE, id),
                              "the method of key ProjMethodGeoKey (%u) has no equivalent in WKT",
                              TZ_KEY_PROJ_METHOD);
    } else {
        wkt->result =
            TZ_FAIL_GEO(wkt->ctx, tz_at_geo_keys(), "the CRS is projected, but no key says how");
    }
}

bool tz_geo_has_projection(const tz_geo *geo)
{
    return tz_geo_is_code(tz_geo_short(geo, TZ_KEY_PROJECTION, 0)) || find_method(geo) != NULL;
}

bool tz_geo_is_south_oriented(const tz_geo *geo)
{
    const projection_method *known = find_method(geo);
    return known && known->epsg == 9808 && !tz_geo_is_code(tz_geo_short(geo, TZ_KEY_PROJECTION, 0));
}

/* ---- the way back ---- */

/* A row whose angles are fixed is for reading: the general one of the same method says it too. */
static bool is_written(const projection_method *row)
{
    for (size_t i = 0; i < sizeof row->parameters / sizeof row->parameters[0]; i++)
        if (row->parameters[i].role == ROLE_RIGHT_ANGLE)
            return false;
    return true;
}

/* The code counts; a method that has got one since it was put into the table is found by name. */
static const projection_method *find_written_method(const tz_geo_conversion *conversion)
{
    const size_t count = sizeof methods / sizeof methods[0];
    for (size_t i = 0; i < count && conversion->method_code != 0; i++)
        if (methods[i].epsg == conversion->method_code && is_written(&methods[i]))
            return &methods[i];
    for (size_t i = 0; i < count; i++)
        if (strcmp(methods[i].name, conversion->method) == 0 && is_written(&methods[i]))
            return &methods[i];
    return NULL;
}

static uint16_t written_key(const projection_method *method, const method_parameter *row)
{
    const uint16_t *keys = roles[row->role].keys;
    switch (row->role) {
    case ROLE_LATITUDE:
    case ROLE_LATITUDE_IF_SET:
    case ROLE_LONGITUDE:
        return keys[method->origin];
    case ROLE_EASTING:
    case ROLE_NORTHING: /* the last one is that of the false origin */
        return keys[method->origin == AT_FALSE_ORIGIN ? 2 : 0];
    case ROLE_SCALE: /* the initial line is at the centre */
        return keys[row->code == 8815 ? 1 : 0];
    default:
        return keys[0];
    }
}

/* Finds a parameter of a method by EPSG's code or name; NULL: it has none of that kind. */
static const method_parameter *find_parameter(const projection_method *method, const char *name,
                                              uint16_t code)
{
    for (size_t i = 0; i < sizeof method->parameters / sizeof method->parameters[0]; i++) {
        const method_parameter *row = &method->parameters[i];
        if (row->code != 0 && row->code == code)
            return row;
        for (size_t k = 0; code == 0 && k < sizeof parameter_names / sizeof parameter_names[0]; k++)
            if (parameter_names[k].code == row->code && strcmp(parameter_names[k].name, name) == 0)
                return row;
    }
    return NULL;
}

/* Converts a value, if its unit is another one: one that is in degrees stays exact. */
static double in_unit(double value, double from, double to)
{
    return fabs(from - to) <= 1e-12 * fabs(to) ? value : value * from / to;
}

bool tz_key_list_add_conversion(tz_key_list *list, const tz_geo_conversion *conversion,
                                double radians, double metres, char *problem, size_t problem_size)
{
    const projection_method *method = find_written_method(conversion);
    if (!method) {
        snprintf(problem, problem_size, "the projection method '%.80s'", conversion->method);
        return false;
    }
    tz_key_list_add_short(list, TZ_KEY_PROJ_METHOD, method->id);
    for (size_t i = 0; i < conversion->count; i++) {
        const char *name = conversion->values[i].name;
        const double value = conversion->values[i].value;
        const method_parameter *row = find_parameter(method, name, conversion->values[i].code);
        if (!row) {
            snprintf(problem, problem_size, "the parameter '%.80s' of '%.80s'", name, method->name);
            return false;
        }
        if (row->role == ROLE_LATITUDE_IF_SET && value == 0)
            continue;
        const unit_kind kind = roles[row->role].unit;
        const double unit = conversion->values[i].unit;
        tz_key_list_add_double(list, written_key(method, row),
                               kind == UNIT_LENGTH  ? in_unit(value, unit, metres)
                               : kind == UNIT_SCALE ? in_unit(value, unit, 1)
                                                    : in_unit(value, unit, radians));
    }
    return true;
}
