/* SPDX-License-Identifier: Apache-2.0
 * The GeoKeys that are known: number, type and name. Names are those of GeoTIFF 1.1; the comments
 * give those of 1.0 that are still met in other software. */
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

typedef struct known_key {
    uint16_t id;
    uint16_t type;
    const char *name;
} known_key;

/* Ascending by id, for the binary search. */
static const known_key known_keys[] = {
    {1024, TZ_TYPE_SHORT, "GTModelTypeGeoKey"},
    {1025, TZ_TYPE_SHORT, "GTRasterTypeGeoKey"},
    {1026, TZ_TYPE_ASCII, "GTCitationGeoKey"},
    {2048, TZ_TYPE_SHORT, "GeodeticCRSGeoKey"},      /* GeographicTypeGeoKey */
    {2049, TZ_TYPE_ASCII, "GeodeticCitationGeoKey"}, /* GeogCitationGeoKey */
    {2050, TZ_TYPE_SHORT, "GeodeticDatumGeoKey"},    /* GeogGeodeticDatumGeoKey */
    {2051, TZ_TYPE_SHORT, "PrimeMeridianGeoKey"},    /* GeogPrimeMeridianGeoKey */
    {2052, TZ_TYPE_SHORT, "GeogLinearUnitsGeoKey"},
    {2053, TZ_TYPE_DOUBLE, "GeogLinearUnitSizeGeoKey"},
    {2054, TZ_TYPE_SHORT, "GeogAngularUnitsGeoKey"},
    {2055, TZ_TYPE_DOUBLE, "GeogAngularUnitSizeGeoKey"},
    {2056, TZ_TYPE_SHORT, "EllipsoidGeoKey"},               /* GeogEllipsoidGeoKey */
    {2057, TZ_TYPE_DOUBLE, "EllipsoidSemiMajorAxisGeoKey"}, /* GeogSemiMajorAxisGeoKey */
    {2058, TZ_TYPE_DOUBLE, "EllipsoidSemiMinorAxisGeoKey"}, /* GeogSemiMinorAxisGeoKey */
    {2059, TZ_TYPE_DOUBLE, "EllipsoidInvFlatteningGeoKey"}, /* GeogInvFlatteningGeoKey */
    {2060, TZ_TYPE_SHORT, "GeogAzimuthUnitsGeoKey"},
    {2061, TZ_TYPE_DOUBLE, "PrimeMeridianLongitudeGeoKey"},      /* GeogPrimeMeridianLongGeoKey */
    {2062, TZ_TYPE_DOUBLE, "GeogTOWGS84GeoKey"},                 /* of GDAL, in no standard */
    {2063, TZ_TYPE_ASCII, "CelestialBodyGeoKey"},                /* draft of 1.2 */
    {3059, TZ_TYPE_SHORT, "ProjLinearUnitsInterpCorrectGeoKey"}, /* of GDAL, in no standard */
    {3072, TZ_TYPE_SHORT, "ProjectedCRSGeoKey"},                 /* ProjectedCSTypeGeoKey */
    {3073, TZ_TYPE_ASCII, "ProjectedCitationGeoKey"},            /* PCSCitationGeoKey */
    {3074, TZ_TYPE_SHORT, "ProjectionGeoKey"},
    {3075, TZ_TYPE_SHORT, "ProjMethodGeoKey"}, /* ProjCoordTransGeoKey */
    {3076, TZ_TYPE_SHORT, "ProjLinearUnitsGeoKey"},
    {3077, TZ_TYPE_DOUBLE, "ProjLinearUnitSizeGeoKey"},
    {3078, TZ_TYPE_DOUBLE, "ProjStdParallel1GeoKey"},
    {3079, TZ_TYPE_DOUBLE, "ProjStdParallel2GeoKey"},
    {3080, TZ_TYPE_DOUBLE, "ProjNatOriginLongGeoKey"},
    {3081, TZ_TYPE_DOUBLE, "ProjNatOriginLatGeoKey"},
    {3082, TZ_TYPE_DOUBLE, "ProjFalseEastingGeoKey"},
    {3083, TZ_TYPE_DOUBLE, "ProjFalseNorthingGeoKey"},
    {3084, TZ_TYPE_DOUBLE, "ProjFalseOriginLongGeoKey"},
    {3085, TZ_TYPE_DOUBLE, "ProjFalseOriginLatGeoKey"},
    {3086, TZ_TYPE_DOUBLE, "ProjFalseOriginEastingGeoKey"},
    {3087, TZ_TYPE_DOUBLE, "ProjFalseOriginNorthingGeoKey"},
    {3088, TZ_TYPE_DOUBLE, "ProjCenterLongGeoKey"},
    {3089, TZ_TYPE_DOUBLE, "ProjCenterLatGeoKey"},
    {3090, TZ_TYPE_DOUBLE, "ProjCenterEastingGeoKey"},
    {3091, TZ_TYPE_DOUBLE, "ProjCenterNorthingGeoKey"},
    {3092, TZ_TYPE_DOUBLE, "ProjScaleAtNatOriginGeoKey"},
    {3093, TZ_TYPE_DOUBLE, "ProjScaleAtCenterGeoKey"},
    {3094, TZ_TYPE_DOUBLE, "ProjAzimuthAngleGeoKey"},
    {3095, TZ_TYPE_DOUBLE, "ProjStraightVertPoleLongGeoKey"},
    {3096, TZ_TYPE_DOUBLE, "ProjRectifiedGridAngleGeoKey"}, /* of libgeotiff, in no standard */
    {4096, TZ_TYPE_SHORT, "VerticalGeoKey"},                /* VerticalCSTypeGeoKey */
    {4097, TZ_TYPE_ASCII, "VerticalCitationGeoKey"},
    {4098, TZ_TYPE_SHORT, "VerticalDatumGeoKey"},
    {4099, TZ_TYPE_SHORT, "VerticalUnitsGeoKey"},
    {5120, TZ_TYPE_DOUBLE, "CoordinateEpochGeoKey"}, /* draft of 1.2 */
};

static const known_key *find_known_key(uint16_t id)
{
    size_t first = 0;
    size_t end = sizeof known_keys / sizeof known_keys[0];
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (known_keys[middle].id == id)
            return &known_keys[middle];
        if (known_keys[middle].id < id)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

const char *tz_geo_key_name(uint16_t id)
{
    const known_key *key = find_known_key(id);
    return key ? key->name : NULL;
}

uint16_t tz_geo_key_type(uint16_t id)
{
    const known_key *key = find_known_key(id);
    return key ? key->type : 0;
}
