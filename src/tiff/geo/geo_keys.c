/* SPDX-License-Identifier: Apache-2.0
 * The GeoKey directory: from three tags to a sorted list of keys, the table of known keys, and the
 * look-ups in the list. geo_interpret.c finds out what the keys mean.
 *
 * The directory is an array of SHORTs: version, revision, minor revision, number of keys, and then
 * four for each key: id, location, count, value. Location 0 means that the value is the fourth
 * number itself; a tag number means that count values start at that index of the tag's array.
 * Nothing is copied: a key points into the tag.
 *
 * Each entry is checked and added in the order of the file; a defect leaves out that key only. Ids
 * are almost always ascending, so that duplicates are found by looking at the last key. The first
 * key that is out of order starts a bit set of all ids, and the list is sorted at the end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

/* ---- known keys ---- */

typedef struct known_key {
    uint16_t id;
    uint16_t type;
    const char *name;
} known_key;

/* Ascending by id, for the binary search. Names are those of GeoTIFF 1.1; the comments give those
 * of 1.0 that other software still uses. */
static const known_key known_keys[] = {
    {TZ_KEY_MODEL_TYPE, TZ_TYPE_SHORT, "GTModelTypeGeoKey"},
    {TZ_KEY_RASTER_TYPE, TZ_TYPE_SHORT, "GTRasterTypeGeoKey"},
    {TZ_KEY_CITATION, TZ_TYPE_ASCII, "GTCitationGeoKey"},
    {TZ_KEY_GEODETIC_CRS, TZ_TYPE_SHORT, "GeodeticCRSGeoKey"},           /* GeographicTypeGeoKey */
    {TZ_KEY_GEODETIC_CITATION, TZ_TYPE_ASCII, "GeodeticCitationGeoKey"}, /* GeogCitationGeoKey */
    {TZ_KEY_DATUM, TZ_TYPE_SHORT, "GeodeticDatumGeoKey"},          /* GeogGeodeticDatumGeoKey */
    {TZ_KEY_PRIME_MERIDIAN, TZ_TYPE_SHORT, "PrimeMeridianGeoKey"}, /* GeogPrimeMeridianGeoKey */
    {TZ_KEY_GEOG_LINEAR_UNITS, TZ_TYPE_SHORT, "GeogLinearUnitsGeoKey"},
    {TZ_KEY_GEOG_LINEAR_UNIT_SIZE, TZ_TYPE_DOUBLE, "GeogLinearUnitSizeGeoKey"},
    {TZ_KEY_GEOG_ANGULAR_UNITS, TZ_TYPE_SHORT, "GeogAngularUnitsGeoKey"},
    {TZ_KEY_GEOG_ANGULAR_UNIT_SIZE, TZ_TYPE_DOUBLE, "GeogAngularUnitSizeGeoKey"},
    {TZ_KEY_ELLIPSOID, TZ_TYPE_SHORT, "EllipsoidGeoKey"}, /* GeogEllipsoidGeoKey */
    {TZ_KEY_SEMI_MAJOR_AXIS, TZ_TYPE_DOUBLE,
     "EllipsoidSemiMajorAxisGeoKey"}, /* GeogSemiMajorAxisGeoKey */
    {TZ_KEY_SEMI_MINOR_AXIS, TZ_TYPE_DOUBLE,
     "EllipsoidSemiMinorAxisGeoKey"}, /* GeogSemiMinorAxisGeoKey */
    {TZ_KEY_INV_FLATTENING, TZ_TYPE_DOUBLE,
     "EllipsoidInvFlatteningGeoKey"}, /* GeogInvFlatteningGeoKey */
    {TZ_KEY_GEOG_AZIMUTH_UNITS, TZ_TYPE_SHORT, "GeogAzimuthUnitsGeoKey"},
    {TZ_KEY_PRIME_MERIDIAN_LONGITUDE, TZ_TYPE_DOUBLE,
     "PrimeMeridianLongitudeGeoKey"},                              /* GeogPrimeMeridianLongGeoKey */
    {TZ_KEY_TO_WGS84, TZ_TYPE_DOUBLE, "GeogTOWGS84GeoKey"},        /* of GDAL, in no standard */
    {TZ_KEY_CELESTIAL_BODY, TZ_TYPE_ASCII, "CelestialBodyGeoKey"}, /* draft of 1.2 */
    {TZ_KEY_LINEAR_UNITS_INTERP_CORRECT, TZ_TYPE_SHORT,
     "ProjLinearUnitsInterpCorrectGeoKey"},                      /* of GDAL, in no standard */
    {TZ_KEY_PROJECTED_CRS, TZ_TYPE_SHORT, "ProjectedCRSGeoKey"}, /* ProjectedCSTypeGeoKey */
    {TZ_KEY_PROJECTED_CITATION, TZ_TYPE_ASCII, "ProjectedCitationGeoKey"}, /* PCSCitationGeoKey */
    {TZ_KEY_PROJECTION, TZ_TYPE_SHORT, "ProjectionGeoKey"},
    {TZ_KEY_PROJ_METHOD, TZ_TYPE_SHORT, "ProjMethodGeoKey"}, /* ProjCoordTransGeoKey */
    {TZ_KEY_PROJ_LINEAR_UNITS, TZ_TYPE_SHORT, "ProjLinearUnitsGeoKey"},
    {TZ_KEY_PROJ_LINEAR_UNIT_SIZE, TZ_TYPE_DOUBLE, "ProjLinearUnitSizeGeoKey"},
    {TZ_KEY_STD_PARALLEL_1, TZ_TYPE_DOUBLE, "ProjStdParallel1GeoKey"},
    {TZ_KEY_STD_PARALLEL_2, TZ_TYPE_DOUBLE, "ProjStdParallel2GeoKey"},
    {TZ_KEY_NAT_ORIGIN_LONG, TZ_TYPE_DOUBLE, "ProjNatOriginLongGeoKey"},
    {TZ_KEY_NAT_ORIGIN_LAT, TZ_TYPE_DOUBLE, "ProjNatOriginLatGeoKey"},
    {TZ_KEY_FALSE_EASTING, TZ_TYPE_DOUBLE, "ProjFalseEastingGeoKey"},
    {TZ_KEY_FALSE_NORTHING, TZ_TYPE_DOUBLE, "ProjFalseNorthingGeoKey"},
    {TZ_KEY_FALSE_ORIGIN_LONG, TZ_TYPE_DOUBLE, "ProjFalseOriginLongGeoKey"},
    {TZ_KEY_FALSE_ORIGIN_LAT, TZ_TYPE_DOUBLE, "ProjFalseOriginLatGeoKey"},
    {TZ_KEY_FALSE_ORIGIN_EASTING, TZ_TYPE_DOUBLE, "ProjFalseOriginEastingGeoKey"},
    {TZ_KEY_FALSE_ORIGIN_NORTHING, TZ_TYPE_DOUBLE, "ProjFalseOriginNorthingGeoKey"},
    {TZ_KEY_CENTER_LONG, TZ_TYPE_DOUBLE, "ProjCenterLongGeoKey"},
    {TZ_KEY_CENTER_LAT, TZ_TYPE_DOUBLE, "ProjCenterLatGeoKey"},
    {TZ_KEY_CENTER_EASTING, TZ_TYPE_DOUBLE, "ProjCenterEastingGeoKey"},
    {TZ_KEY_CENTER_NORTHING, TZ_TYPE_DOUBLE, "ProjCenterNorthingGeoKey"},
    {TZ_KEY_SCALE_AT_NAT_ORIGIN, TZ_TYPE_DOUBLE, "ProjScaleAtNatOriginGeoKey"},
    {TZ_KEY_SCALE_AT_CENTER, TZ_TYPE_DOUBLE, "ProjScaleAtCenterGeoKey"},
    {TZ_KEY_AZIMUTH_ANGLE, TZ_TYPE_DOUBLE, "ProjAzimuthAngleGeoKey"},
    {TZ_KEY_STRAIGHT_VERT_POLE_LONG, TZ_TYPE_DOUBLE, "ProjStraightVertPoleLongGeoKey"},
    {TZ_KEY_RECTIFIED_GRID_ANGLE, TZ_TYPE_DOUBLE,
     "ProjRectifiedGridAngleGeoKey"},                   /* of libgeotiff, in no standard */
    {TZ_KEY_VERTICAL, TZ_TYPE_SHORT, "VerticalGeoKey"}, /* VerticalCSTypeGeoKey */
    {TZ_KEY_VERTICAL_CITATION, TZ_TYPE_ASCII, "VerticalCitationGeoKey"},
    {TZ_KEY_VERTICAL_DATUM, TZ_TYPE_SHORT, "VerticalDatumGeoKey"},
    {TZ_KEY_VERTICAL_UNITS, TZ_TYPE_SHORT, "VerticalUnitsGeoKey"},
    {TZ_KEY_COORDINATE_EPOCH, TZ_TYPE_DOUBLE, "CoordinateEpochGeoKey"}, /* draft of 1.2 */
};

static const known_key *find_known_key(uint16_t id)
{
    return bsearch(&id, known_keys, sizeof known_keys / sizeof known_keys[0], sizeof known_keys[0],
                   tz_compare_numbers);
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

const char *tz_geo_key_label(uint16_t id)
{
    const char *name = tz_geo_key_name(id);
    return name ? name : "unknown";
}

/* ---- one key ---- */

/* The state of reading a directory. seen lies on the stack of read_keys: 8 KiB that most files
 * never touch. */
typedef struct key_reader {
    const tz_geo_tags *tags;
    const tz_context *ctx;
    tz_geo_key *keys;
    uint32_t count;
    bool unsorted;  /* a key came that is not above all before it */
    uint64_t *seen; /* a bit for every possible id; valid once unsorted is set */
} key_reader;

enum { SEEN_WORDS = 1024 };

/* Sets the text of a key without the closing bar and the NULs around it. */
static tz_result read_key_text(const key_reader *reader, const char *text, tz_geo_key *key)
{
    const tz_location location = tz_at_tag(TZ_TAG_GEO_ASCII, TZ_NO_VALUE);
    uint32_t size = key->count;
    while (size > 0 && text[size - 1] == '\0')
        size--;
    const bool has_bar = size > 0 && text[size - 1] == '|';
    size -= has_bar;
    while (size > 0 && text[size - 1] == '\0')
        size--;
    key->value.text = text;
    key->count = size;
    if (!has_bar)
        TZ_TRY(TZ_WARN_GEO(reader->ctx, location, "the text of key %s (%u) does not end in '|'",
                           tz_geo_key_label(key->id), key->id));
    if (size > 0 && memchr(text, '\0', size))
        TZ_TRY(TZ_WARN_GEO(reader->ctx, location, "the text of key %s (%u) has a NUL inside",
                           tz_geo_key_label(key->id), key->id));
    return TZ_OK;
}

/* Reads a key whose values are in one of the tags. *usable stays false if they are not there. */
static tz_result read_key_from_array(const key_reader *reader, const uint16_t *entry,
                                     tz_geo_key *key, bool *usable)
{
    const tz_geo_tags *tags = reader->tags;
    const uint16_t location = entry[1];
    const uint16_t first = entry[3];
    const uint64_t end = (uint64_t)first + entry[2]; /* two 16-bit numbers: cannot wrap */
    uint64_t size = 0;
    if (location == TZ_TAG_GEO_KEYS)
        size = tags->directory_count;
    else if (location == TZ_TAG_GEO_DOUBLES)
        size = tags->double_count;
    else if (location == TZ_TAG_GEO_ASCII)
        size = tags->ascii_size;
    else
        return TZ_WARN_GEO(reader->ctx, tz_expecting(tz_at_geo_keys(), TZ_NO_VALUE, location),
                           "the location of key %s (%u) is neither 0 nor a tag with keys",
                           tz_geo_key_label(key->id), key->id);
    if (end > size)
        return TZ_WARN_GEO(reader->ctx, tz_expecting(tz_at_tag(location, TZ_NO_VALUE), size, end),
                           "the values of key %s (%u) end outside the tag",
                           tz_geo_key_label(key->id), key->id);
    *usable = size > 0; /* an absent tag has not even an address to point at */
    if (!*usable)
        return TZ_OK;
    key->count = entry[2];
    if (location == TZ_TAG_GEO_ASCII) {
        key->type = TZ_TYPE_ASCII;
        return read_key_text(reader, tags->ascii + first, key);
    }
    if (location == TZ_TAG_GEO_DOUBLES) {
        key->type = TZ_TYPE_DOUBLE;
        key->value.doubles = tags->doubles + first;
    } else {
        key->value.shorts = tags->directory + first;
    }
    return TZ_OK;
}

/* ---- the directory ---- */

static bool mark_seen(uint64_t *seen, uint16_t id)
{
    uint64_t bit = (uint64_t)1 << (id % 64);
    bool was_seen = (seen[id / 64] & bit) != 0;
    seen[id / 64] |= bit;
    return was_seen;
}

/* While the keys are in order, comparing with the last one is enough. */
static bool is_duplicate_key(key_reader *reader, uint16_t id)
{
    if (!reader->unsorted) {
        if (reader->count == 0 || reader->keys[reader->count - 1].id < id)
            return false;
        reader->unsorted = true;
        memset(reader->seen, 0, SEEN_WORDS * sizeof *reader->seen);
        for (uint32_t i = 0; i < reader->count; i++)
            (void)mark_seen(reader->seen, reader->keys[i].id);
    }
    return mark_seen(reader->seen, id);
}

/* Reads the four numbers of an entry and appends its key, unless its values cannot be used. */
static tz_result add_key(key_reader *reader, const uint16_t *entry)
{
    tz_geo_key key = {.id = entry[0], .type = TZ_TYPE_SHORT, .count = 1};
    if (entry[1] != 0) {
        bool usable = false;
        TZ_TRY(read_key_from_array(reader, entry, &key, &usable));
        if (!usable)
            return TZ_OK;
    } else if (entry[2] != 1) {
        return TZ_WARN_GEO(reader->ctx, tz_expecting(tz_at_geo_keys(), 1, entry[2]),
                           "key %s (%u) is stored in the directory, where a key has one value",
                           tz_geo_key_label(key.id), key.id);
    } else {
        key.value.shorts = &entry[3];
    }
    if (is_duplicate_key(reader, key.id))
        return TZ_WARN_GEO(reader->ctx, tz_at_geo_keys(),
                           "key %s (%u) is there more than once; the first one counts",
                           tz_geo_key_label(key.id), key.id);
    reader->keys[reader->count++] = key;
    /* A key of the wrong type is kept for callers that list keys; the look-ups by type skip it. */
    const uint16_t wanted = tz_geo_key_type(key.id);
    if (wanted == 0 || wanted == key.type)
        return TZ_OK;
    return TZ_WARN_GEO(reader->ctx, tz_expecting(tz_at_geo_keys(), wanted, key.type),
                       "key %s (%u) has the wrong type and is not used", tz_geo_key_label(key.id),
                       key.id);
}

/* Reads count entries into a list in arena, which is sorted if the file's is not. */
static tz_result read_keys(const tz_geo_tags *tags, tz_arena *arena, const tz_context *ctx,
                           uint32_t count, tz_geo *out)
{
    uint64_t seen[SEEN_WORDS]; /* initialised at the first key that is out of order */
    key_reader reader = {.tags = tags, .ctx = ctx, .seen = seen};
    tz_geo_key *keys = tz_arena_array(arena, count, sizeof *keys);
    if (!keys)
        return tz_fail_nomem(ctx, (uint64_t)count * sizeof *keys);
    reader.keys = keys;
    for (uint32_t i = 0; i < count; i++)
        TZ_TRY(add_key(&reader, tags->directory + TZ_GEO_KEY_HEADER_VALUES +
                                    (size_t)i * TZ_GEO_KEY_ENTRY_VALUES));
    out->keys = keys;
    out->key_count = reader.count;
    uint32_t late = 1;
    while (late < reader.count && keys[late].id > keys[late - 1].id)
        late++;
    if (late >= reader.count)
        return TZ_OK;
    const uint16_t id = keys[late].id;
    qsort(keys, reader.count, sizeof *keys, tz_compare_numbers);
    return TZ_WARN_GEO(ctx, tz_at_geo_keys(),
                       "the keys are not in ascending order: %s (%u) comes late",
                       tz_geo_key_label(id), id);
}

/* A directory whose header cannot be used has no keys. One that is shorter than it says keeps those
 * that are whole. */
tz_result tz_geo_parse_keys(const tz_geo_tags *tags, tz_arena *arena, const tz_context *ctx,
                            tz_geo *out)
{
    const uint16_t *header = tags->directory; /* version, revision, minor revision, keys */
    *out = (tz_geo){.struct_size = sizeof *out, .coordinate_epoch = NAN};
    if (!header)
        return TZ_OK;
    if (tags->directory_count < TZ_GEO_KEY_HEADER_VALUES)
        return TZ_WARN_GEO(
            ctx, tz_expecting(tz_at_geo_keys(), TZ_GEO_KEY_HEADER_VALUES, tags->directory_count),
            "the key directory is shorter than its header");
    if (header[0] != 1)
        return TZ_WARN_GEO(ctx, tz_expecting(tz_at_geo_keys(), 1, header[0]),
                           "the version of the key directory must be 1; its keys are ignored");
    if (header[1] != 1 || header[2] > 1)
        TZ_TRY(TZ_WARN_GEO(ctx, tz_at_geo_keys(),
                           "revision %u.%u of the keys is not known; they are read like 1.1",
                           header[1], header[2]));
    const uint64_t values = tags->directory_count - TZ_GEO_KEY_HEADER_VALUES;
    const uint64_t whole = values / TZ_GEO_KEY_ENTRY_VALUES;
    const uint32_t count = (uint32_t)tz_min(whole, header[3]);
    if (whole < header[3])
        TZ_TRY(TZ_WARN_GEO(
            ctx,
            tz_expecting(tz_at_geo_keys(),
                         TZ_GEO_KEY_HEADER_VALUES + (uint64_t)TZ_GEO_KEY_ENTRY_VALUES * header[3],
                         tags->directory_count),
            "the key directory is too short for its %u keys", header[3]));
    bool allowed = count > 0;
    TZ_TRY(tz_check_soft_limit(ctx, offsetof(tz_limits, max_geo_keys), tz_at_geo_keys(), count,
                               "GeoKeys", "max_geo_keys", &allowed));
    out->key_revision = header[1];
    out->key_minor = header[2];
    if (allowed)
        TZ_TRY(read_keys(tags, arena, ctx, count, out));
    return tz_geo_interpret_keys(arena, ctx, out);
}

tz_result tz_geo_parse(const tz_geo_tags *tags, tz_arena *arena, const tz_context *ctx, tz_geo *out)
{
    tz_geo geo;
    TZ_TRY(tz_geo_parse_keys(tags, arena, ctx, &geo));
    TZ_TRY(tz_geo_parse_transform(tags, ctx, &geo));
    TZ_TRY(tz_geo_require_crs(&geo, ctx));
    *out = geo;
    return TZ_OK;
}

tz_result tz_geo_require_crs(const tz_geo *geo, const tz_context *ctx)
{
    if (!ctx->require_crs || geo->has_crs)
        return TZ_OK;
    return TZ_FAIL_GEO(ctx, tz_at_geo_keys(),
                       "the file has no coordinate reference system, and one is required");
}

/* ---- look-ups ---- */

const tz_geo_key *tz_geo_find_key(const tz_geo *geo, uint16_t id)
{
    return geo->key_count > 0
               ? bsearch(&id, geo->keys, geo->key_count, sizeof *geo->keys, tz_compare_numbers)
               : NULL;
}

/* A SHORT of 0 is "undefined" in the standard, which is the same as no key. */
bool tz_geo_has_key(const tz_geo *geo, uint16_t id)
{
    const tz_geo_key *key = tz_geo_find_key(geo, id);
    return key && key->count > 0 && (key->type != TZ_TYPE_SHORT || key->value.shorts[0] != 0);
}

static const tz_geo_key *find_key_of_type(const tz_geo *geo, uint16_t id, uint16_t type)
{
    const tz_geo_key *key = tz_geo_find_key(geo, id);
    return key && key->type == type && key->count > 0 ? key : NULL;
}

uint16_t tz_geo_short(const tz_geo *geo, uint16_t id, uint16_t fallback)
{
    const tz_geo_key *key = find_key_of_type(geo, id, TZ_TYPE_SHORT);
    return key ? key->value.shorts[0] : fallback;
}

double tz_geo_double(const tz_geo *geo, uint16_t id, double fallback)
{
    const tz_geo_key *key = find_key_of_type(geo, id, TZ_TYPE_DOUBLE);
    return key ? key->value.doubles[0] : fallback;
}

const tz_geo_key *tz_geo_text(const tz_geo *geo, uint16_t id)
{
    return find_key_of_type(geo, id, TZ_TYPE_ASCII);
}
