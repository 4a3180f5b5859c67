/* SPDX-License-Identifier: Apache-2.0
 * Checks of GeoKeys as the file has them: the form of their directory, the positions of their
 * values, and the requirements of OGC 19-008 about single keys.
 *
 * The directory is read from tz_file.geo_tags as raw numbers, because tz_geo has only the usable
 * keys. Values are looked up in tz_geo. A check names the keys that it is about; without any of
 * them it does not apply. Tables list the keys that a user-defined code needs. */
#include <string.h>

#include "base/minmax.h"
#include "tiff/tags.h"
#include "validate/checker.h"

/* One entry of the directory, not checked yet. */
typedef struct raw_key {
    uint16_t id;
    uint16_t location;
    uint16_t count;
    uint16_t value;
} raw_key;

/* Location of an entry of the key directory. */
static tz_location at_key_entry(const tz_checker *checker, uint32_t index)
{
    const tz_ifd_entry *entry = tz_checked_ifd_find(&checker->directories[0], TZ_TAG_GEO_KEYS);
    const uint64_t numbers = TZ_GEO_KEY_HEADER_VALUES + (uint64_t)TZ_GEO_KEY_ENTRY_VALUES * index;
    return tz_at_tag(TZ_TAG_GEO_KEYS, entry ? entry->offset + numbers * 2 : TZ_NONE);
}

static tz_location at_key_header(const tz_checker *checker, unsigned number)
{
    tz_location location = at_key_entry(checker, 0);
    if (location.offset != TZ_NONE)
        location.offset -= 2 * (uint64_t)(TZ_GEO_KEY_HEADER_VALUES - number);
    return location;
}

/* Returns true if there are keys to check; findings are then about the image's directory. */
static bool begin_key_check(tz_checker *checker)
{
    const tz_geo_tags *tags = &checker->file->geo_tags;
    checker->ctx.ifd = checker->info->levels[0].ifd;
    if (tags->directory && tags->directory_count >= TZ_GEO_KEY_HEADER_VALUES)
        return true;
    (void)tz_checker_skip(checker, "the image has no key directory that could be read");
    return false;
}

/* Returns the number of complete entries within the limit. */
static uint32_t whole_key_count(const tz_checker *checker)
{
    const tz_geo_tags *tags = &checker->file->geo_tags;
    const uint64_t whole =
        (tags->directory_count - TZ_GEO_KEY_HEADER_VALUES) / TZ_GEO_KEY_ENTRY_VALUES;
    const uint64_t max_keys = checker->file->limits.max_geo_keys;
    return (uint32_t)tz_min(tz_min(tags->directory[3], whole), max_keys);
}

static raw_key raw_key_at(const tz_checker *checker, uint32_t index)
{
    const uint16_t *entry = checker->file->geo_tags.directory + TZ_GEO_KEY_HEADER_VALUES +
                            (size_t)TZ_GEO_KEY_ENTRY_VALUES * index;
    return (raw_key){entry[0], entry[1], entry[2], entry[3]};
}

/* ---- the directory ---- */

static void check_key_header(tz_checker *checker)
{
    const tz_geo_tags *tags = &checker->file->geo_tags;
    const uint16_t *header = tags->directory;
    const uint64_t needed =
        TZ_GEO_KEY_HEADER_VALUES + (uint64_t)TZ_GEO_KEY_ENTRY_VALUES * header[3];
    if (header[0] != 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_header(checker, 0), 1, header[0]),
                       "the version of the key directory must be 1");
    if (header[1] != 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_header(checker, 1), 1, header[1]),
                       "the revision of the keys must be 1");
    if (header[2] > 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_header(checker, 2), 1, header[2]),
                       "the minor revision of the keys must be 0 or 1");
    if (tags->directory_count < needed)
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_header(checker, 3), needed, tags->directory_count),
                       "the key directory is too short for its %u keys", header[3]);
}

static bool is_key_location(uint16_t location)
{
    return location == 0 || location == TZ_TAG_GEO_KEYS || location == TZ_TAG_GEO_DOUBLES ||
           location == TZ_TAG_GEO_ASCII;
}

tz_result tz_check_key_directory(tz_checker *checker)
{
    uint16_t before = 0;
    const tz_geo_tags *tags = &checker->file->geo_tags;
    if (!begin_key_check(checker)) {
        if (tags->directory)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                           tz_expecting(at_key_header(checker, 0), TZ_GEO_KEY_HEADER_VALUES,
                                        tags->directory_count),
                           "the key directory is shorter than its header");
        return TZ_OK;
    }
    check_key_header(checker);
    for (uint32_t i = 0; i < whole_key_count(checker); i++) {
        const raw_key key = raw_key_at(checker, i);
        if (i > 0 && key.id <= before)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                           tz_expecting(at_key_entry(checker, i), (uint64_t)before + 1, key.id),
                           "key %s (%u) is not in ascending order", tz_geo_key_label(key.id),
                           key.id);
        if (!is_key_location(key.location))
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                           tz_expecting(at_key_entry(checker, i), TZ_NONE, key.location),
                           "the location of key %s (%u) is neither 0 nor a tag with keys",
                           tz_geo_key_label(key.id), key.id);
        before = key.id;
    }
    return TZ_OK;
}

/* ---- positions of values ---- */

tz_result tz_check_short_key_values(tz_checker *checker)
{
    if (!begin_key_check(checker))
        return TZ_OK;
    const uint64_t first_value =
        TZ_GEO_KEY_HEADER_VALUES + (uint64_t)TZ_GEO_KEY_ENTRY_VALUES * whole_key_count(checker);
    const uint64_t size = checker->file->geo_tags.directory_count;
    for (uint32_t i = 0; i < whole_key_count(checker); i++) {
        const raw_key key = raw_key_at(checker, i);
        const uint64_t end = (uint64_t)key.value + key.count;
        if (key.location == 0 && key.count != 1)
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                           tz_expecting(at_key_entry(checker, i), 1, key.count),
                           "key %s (%u) is stored in the directory, where a key has one value",
                           tz_geo_key_label(key.id), key.id);
        if (key.location == TZ_TAG_GEO_KEYS && (key.value < first_value || end > size))
            TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                           tz_expecting(at_key_entry(checker, i), size, end),
                           "the values of key %s (%u) are not after the last key",
                           tz_geo_key_label(key.id), key.id);
    }
    return TZ_OK;
}

/* Checks that values in another tag end inside it. */
static bool check_values_inside_tag(tz_checker *checker, uint32_t index, const raw_key *key,
                                    uint64_t size)
{
    const uint64_t end = (uint64_t)key->value + key->count;
    if (end <= size)
        return true;
    TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                   tz_expecting(at_key_entry(checker, index), size, end),
                   "the values of key %s (%u) end outside tag %s", tz_geo_key_label(key->id),
                   key->id, tz_tag_name(key->location));
    return false;
}

tz_result tz_check_double_key_values(tz_checker *checker)
{
    if (!begin_key_check(checker))
        return TZ_OK;
    for (uint32_t i = 0; i < whole_key_count(checker); i++) {
        const raw_key key = raw_key_at(checker, i);
        if (key.location == TZ_TAG_GEO_DOUBLES)
            (void)check_values_inside_tag(checker, i, &key, checker->file->geo_tags.double_count);
    }
    return TZ_OK;
}

static void check_key_text(tz_checker *checker, uint32_t index, const raw_key *key)
{
    const char *text = checker->file->geo_tags.ascii + key->value;
    if (key->count == 0 || text[key->count - 1] != '|')
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO, at_key_entry(checker, index),
                       "the text of key %s (%u) does not end in '|'", tz_geo_key_label(key->id),
                       key->id);
    if (key->count > 1 && memchr(text, '\0', (size_t)key->count - 1))
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO, at_key_entry(checker, index),
                       "the text of key %s (%u) has a NUL inside", tz_geo_key_label(key->id),
                       key->id);
}

tz_result tz_check_ascii_key_values(tz_checker *checker)
{
    bool used = false;
    if (!begin_key_check(checker))
        return TZ_OK;
    for (uint32_t i = 0; i < whole_key_count(checker); i++) {
        const raw_key key = raw_key_at(checker, i);
        if (key.location != TZ_TAG_GEO_ASCII)
            continue;
        used = true;
        if (check_values_inside_tag(checker, i, &key, checker->file->geo_tags.ascii_size) &&
            checker->file->geo_tags.ascii)
            check_key_text(checker, i, &key);
    }
    if (!used && checker->file->geo_tags.ascii)
        TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_GEO,
                       tz_at_tag(TZ_TAG_GEO_ASCII, checker->info->levels[0].ifd_offset),
                       "no key uses the texts of the tag");
    return TZ_OK;
}

/* ---- single keys ---- */

static uint16_t type_at_location(uint16_t location)
{
    if (location == TZ_TAG_GEO_DOUBLES)
        return TZ_TYPE_DOUBLE;
    return location == TZ_TAG_GEO_ASCII ? TZ_TYPE_ASCII : TZ_TYPE_SHORT;
}

static bool is_listed_key(uint16_t id, const uint16_t *list)
{
    for (; *list != 0; list++)
        if (*list == id)
            return true;
    return false;
}

/* Checks the types of some keys; without any of them the check does not apply. */
static bool check_key_types(tz_checker *checker, const uint16_t *ids)
{
    bool any = false;
    if (!begin_key_check(checker))
        return false;
    for (uint32_t i = 0; i < whole_key_count(checker); i++) {
        const raw_key key = raw_key_at(checker, i);
        const uint16_t wanted = tz_geo_key_type(key.id);
        if (!is_listed_key(key.id, ids))
            continue;
        any = true;
        if (wanted != type_at_location(key.location))
            TZ_ADD_FINDING(
                checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                tz_expecting(at_key_entry(checker, i), wanted, type_at_location(key.location)),
                "key %s (%u) has the wrong type", tz_geo_key_label(key.id), key.id);
    }
    if (!any)
        (void)tz_checker_skip(checker, "the image has no such keys");
    return any;
}

static tz_location at_key_id(const tz_checker *checker, uint16_t id)
{
    for (uint32_t i = 0; i < whole_key_count(checker); i++)
        if (raw_key_at(checker, i).id == id)
            return at_key_entry(checker, i);
    return at_key_header(checker, 0);
}

/* If key has this value, one of the others must be present. */
typedef struct standard_requirement {
    uint16_t key;
    uint16_t value;
    uint16_t one_of[2];
} standard_requirement;

static void check_requirements(tz_checker *checker, const standard_requirement *requirements,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const standard_requirement *requirement = &requirements[i];
        if (tz_geo_short(&checker->info->geo, requirement->key, 0) != requirement->value ||
            tz_geo_has_key(&checker->info->geo, requirement->one_of[0]) ||
            (requirement->one_of[1] != 0 &&
             tz_geo_has_key(&checker->info->geo, requirement->one_of[1])))
            continue;
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO, at_key_id(checker, requirement->key),
                       "key %s (%u) is %u, which needs key %s (%u)",
                       tz_geo_key_label(requirement->key), requirement->key, requirement->value,
                       tz_geo_key_label(requirement->one_of[0]), requirement->one_of[0]);
    }
}
#define CHECK_REQUIREMENTS(checker, requirements)                                                  \
    check_requirements((checker), (requirements), sizeof(requirements) / sizeof(requirements)[0])

static void check_not_reserved(tz_checker *checker, uint16_t id, uint16_t first, uint16_t last)
{
    const uint16_t value = tz_geo_short(&checker->info->geo, id, 0);
    if (value >= first && value <= last)
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_id(checker, id), TZ_NONE, value),
                       "key %s (%u) has a reserved value", tz_geo_key_label(id), id);
}

tz_result tz_check_raster_type(tz_checker *checker)
{
    static const uint16_t ids[] = {TZ_KEY_RASTER_TYPE, 0};
    if (!check_key_types(checker, ids))
        return TZ_OK;
    const uint16_t value = tz_geo_short(&checker->info->geo, TZ_KEY_RASTER_TYPE, 1);
    check_not_reserved(checker, TZ_KEY_RASTER_TYPE, 3, 32766);
    if (value == 0 || value >= TZ_GEO_USER_DEFINED)
        TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_GEO,
                       tz_expecting(at_key_id(checker, TZ_KEY_RASTER_TYPE), 1, value),
                       "a raster type that is neither area nor point is discouraged");
    return TZ_OK;
}

tz_result tz_check_model_type(tz_checker *checker)
{
    static const uint16_t ids[] = {TZ_KEY_MODEL_TYPE, 0};
    static const standard_requirement requirements[] = {
        {TZ_KEY_MODEL_TYPE, TZ_MODEL_PROJECTED, {TZ_KEY_PROJECTED_CRS}},
        {TZ_KEY_MODEL_TYPE, TZ_MODEL_GEOGRAPHIC, {TZ_KEY_GEODETIC_CRS}},
        {TZ_KEY_MODEL_TYPE, TZ_MODEL_GEOCENTRIC, {TZ_KEY_GEODETIC_CRS}},
        {TZ_KEY_MODEL_TYPE, TZ_GEO_USER_DEFINED, {TZ_KEY_CITATION}},
    };
    if (!begin_key_check(checker))
        return TZ_OK;
    if (!check_key_types(checker, ids)) {
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO, at_key_header(checker, 3),
                       "key GTModelTypeGeoKey (%u) is missing", TZ_KEY_MODEL_TYPE);
        checker->check->note = NULL;
    }
    check_not_reserved(checker, TZ_KEY_MODEL_TYPE, 4, 32766);
    CHECK_REQUIREMENTS(checker, requirements);
    return TZ_OK;
}

/* Codes below 1024 are reserved, those above 32767 private. */
static void check_crs_code(tz_checker *checker, uint16_t id)
{
    const uint16_t value = tz_geo_short(&checker->info->geo, id, 0);
    check_not_reserved(checker, id, 1, 1023);
    if (value > TZ_GEO_USER_DEFINED)
        TZ_ADD_FINDING(checker, TZ_CHECK_WARNING, TZ_CAUSE_GEO,
                       tz_expecting(at_key_id(checker, id), TZ_GEO_USER_DEFINED, value),
                       "key %s (%u) has a private code, which only its author knows",
                       tz_geo_key_label(id), id);
}

tz_result tz_check_crs_codes(tz_checker *checker)
{
    static const uint16_t ids[] = {TZ_KEY_PROJECTED_CRS, TZ_KEY_GEODETIC_CRS, 0};
    static const standard_requirement requirements[] = {
        {TZ_KEY_PROJECTED_CRS, TZ_GEO_USER_DEFINED, {TZ_KEY_PROJECTED_CITATION}},
        {TZ_KEY_PROJECTED_CRS, TZ_GEO_USER_DEFINED, {TZ_KEY_GEODETIC_CRS}},
        {TZ_KEY_PROJECTED_CRS, TZ_GEO_USER_DEFINED, {TZ_KEY_PROJECTION}},
        {TZ_KEY_GEODETIC_CRS, TZ_GEO_USER_DEFINED, {TZ_KEY_GEODETIC_CITATION}},
        {TZ_KEY_GEODETIC_CRS, TZ_GEO_USER_DEFINED, {TZ_KEY_DATUM}},
        {TZ_KEY_GEODETIC_CRS,
         TZ_GEO_USER_DEFINED,
         {TZ_KEY_GEOG_ANGULAR_UNITS, TZ_KEY_GEOG_LINEAR_UNITS}},
    };
    if (!check_key_types(checker, ids))
        return TZ_OK;
    check_crs_code(checker, TZ_KEY_PROJECTED_CRS);
    check_crs_code(checker, TZ_KEY_GEODETIC_CRS);
    CHECK_REQUIREMENTS(checker, requirements);
    return TZ_OK;
}

tz_result tz_check_vertical_keys(tz_checker *checker)
{
    static const uint16_t ids[] = {TZ_KEY_VERTICAL, TZ_KEY_VERTICAL_DATUM, 0};
    static const standard_requirement requirements[] = {
        {TZ_KEY_VERTICAL, TZ_GEO_USER_DEFINED, {TZ_KEY_VERTICAL_CITATION}},
        {TZ_KEY_VERTICAL, TZ_GEO_USER_DEFINED, {TZ_KEY_VERTICAL_UNITS}},
        {TZ_KEY_VERTICAL, TZ_GEO_USER_DEFINED, {TZ_KEY_VERTICAL_DATUM}},
        {TZ_KEY_VERTICAL_DATUM, TZ_GEO_USER_DEFINED, {TZ_KEY_VERTICAL_CITATION}},
    };
    if (!check_key_types(checker, ids))
        return TZ_OK;
    const uint16_t minor = checker->file->geo_tags.directory[2];
    if (minor == 0)
        TZ_ADD_FINDING(checker, TZ_CHECK_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_header(checker, 2), 1, minor),
                       "vertical keys need minor revision 1");
    check_crs_code(checker, TZ_KEY_VERTICAL);
    check_crs_code(checker, TZ_KEY_VERTICAL_DATUM);
    CHECK_REQUIREMENTS(checker, requirements);
    return TZ_OK;
}

tz_result tz_check_citation_keys(tz_checker *checker)
{
    static const uint16_t ids[] = {TZ_KEY_CITATION, TZ_KEY_GEODETIC_CITATION,
                                   TZ_KEY_PROJECTED_CITATION, TZ_KEY_VERTICAL_CITATION, 0};
    (void)check_key_types(checker, ids);
    return TZ_OK;
}

tz_result tz_check_unit_keys(tz_checker *checker)
{
    static const uint16_t ids[] = {
        TZ_KEY_GEOG_LINEAR_UNITS,      TZ_KEY_GEOG_LINEAR_UNIT_SIZE, TZ_KEY_GEOG_ANGULAR_UNITS,
        TZ_KEY_GEOG_ANGULAR_UNIT_SIZE, TZ_KEY_GEOG_AZIMUTH_UNITS,    TZ_KEY_PROJ_LINEAR_UNITS,
        TZ_KEY_PROJ_LINEAR_UNIT_SIZE,  TZ_KEY_VERTICAL_UNITS,        0};
    static const standard_requirement requirements[] = {
        {TZ_KEY_GEOG_LINEAR_UNITS, TZ_GEO_USER_DEFINED, {TZ_KEY_GEOG_LINEAR_UNIT_SIZE}},
        {TZ_KEY_GEOG_ANGULAR_UNITS, TZ_GEO_USER_DEFINED, {TZ_KEY_GEOG_ANGULAR_UNIT_SIZE}},
        {TZ_KEY_GEOG_ANGULAR_UNITS, TZ_GEO_USER_DEFINED, {TZ_KEY_GEODETIC_CITATION}},
        {TZ_KEY_PROJ_LINEAR_UNITS, TZ_GEO_USER_DEFINED, {TZ_KEY_PROJ_LINEAR_UNIT_SIZE}},
        {TZ_KEY_PROJ_LINEAR_UNITS, TZ_GEO_USER_DEFINED, {TZ_KEY_PROJECTED_CITATION}},
    };
    if (!check_key_types(checker, ids))
        return TZ_OK;
    check_not_reserved(checker, TZ_KEY_VERTICAL_UNITS, TZ_GEO_USER_DEFINED, TZ_GEO_USER_DEFINED);
    CHECK_REQUIREMENTS(checker, requirements);
    return TZ_OK;
}

tz_result tz_check_datum_keys(tz_checker *checker)
{
    static const uint16_t ids[] = {TZ_KEY_DATUM,
                                   TZ_KEY_PRIME_MERIDIAN,
                                   TZ_KEY_ELLIPSOID,
                                   TZ_KEY_SEMI_MAJOR_AXIS,
                                   TZ_KEY_SEMI_MINOR_AXIS,
                                   TZ_KEY_INV_FLATTENING,
                                   TZ_KEY_PRIME_MERIDIAN_LONGITUDE,
                                   0};
    static const standard_requirement requirements[] = {
        {TZ_KEY_DATUM, TZ_GEO_USER_DEFINED, {TZ_KEY_GEODETIC_CITATION}},
        {TZ_KEY_DATUM, TZ_GEO_USER_DEFINED, {TZ_KEY_ELLIPSOID}},
        {TZ_KEY_PRIME_MERIDIAN, TZ_GEO_USER_DEFINED, {TZ_KEY_PRIME_MERIDIAN_LONGITUDE}},
        {TZ_KEY_ELLIPSOID, TZ_GEO_USER_DEFINED, {TZ_KEY_SEMI_MAJOR_AXIS}},
        {TZ_KEY_ELLIPSOID, TZ_GEO_USER_DEFINED, {TZ_KEY_INV_FLATTENING, TZ_KEY_SEMI_MINOR_AXIS}},
    };
    if (!check_key_types(checker, ids))
        return TZ_OK;
    CHECK_REQUIREMENTS(checker, requirements);
    return TZ_OK;
}

tz_result tz_check_projection_keys(tz_checker *checker)
{
    static const uint16_t ids[] = {TZ_KEY_PROJECTION,
                                   TZ_KEY_PROJ_METHOD,
                                   TZ_KEY_STD_PARALLEL_1,
                                   TZ_KEY_STD_PARALLEL_2,
                                   TZ_KEY_NAT_ORIGIN_LONG,
                                   TZ_KEY_NAT_ORIGIN_LAT,
                                   TZ_KEY_FALSE_EASTING,
                                   TZ_KEY_FALSE_NORTHING,
                                   TZ_KEY_FALSE_ORIGIN_LONG,
                                   TZ_KEY_FALSE_ORIGIN_LAT,
                                   TZ_KEY_FALSE_ORIGIN_EASTING,
                                   TZ_KEY_FALSE_ORIGIN_NORTHING,
                                   TZ_KEY_CENTER_LONG,
                                   TZ_KEY_CENTER_LAT,
                                   TZ_KEY_CENTER_EASTING,
                                   TZ_KEY_CENTER_NORTHING,
                                   TZ_KEY_SCALE_AT_NAT_ORIGIN,
                                   TZ_KEY_SCALE_AT_CENTER,
                                   TZ_KEY_AZIMUTH_ANGLE,
                                   TZ_KEY_STRAIGHT_VERT_POLE_LONG,
                                   0};
    static const standard_requirement requirements[] = {
        {TZ_KEY_PROJECTION, TZ_GEO_USER_DEFINED, {TZ_KEY_PROJ_METHOD}},
    };
    if (!check_key_types(checker, ids))
        return TZ_OK;
    check_not_reserved(checker, TZ_KEY_PROJ_METHOD, 28, 32766);
    CHECK_REQUIREMENTS(checker, requirements);
    return TZ_OK;
}
