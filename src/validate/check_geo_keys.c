/* SPDX-License-Identifier: Apache-2.0
 * Checks of GeoKeys as the file has them: the form of their directory, the positions of their
 * values, and the requirements of OGC 19-008 about single keys.
 *
 * The directory is read from tz_file.geo_tags as raw numbers, because tz_geo has only the usable
 * keys. Values are looked up in tz_geo.
 *
 * The requirements are a table by subject: the keys that the check is about (without any of them it
 * does not apply), values that are reserved, and keys that a value needs, most often because a
 * user-defined code is described by other keys. One function applies the rules of a subject. */
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

/* Returns the location of an entry of the key directory. */
static tz_location at_key_entry(const tz_checker *checker, uint32_t index)
{
    const tz_ifd_entry *entry = tz_checked_ifd_find(&checker->directories[0], TZ_TAG_GEO_KEYS);
    const uint64_t numbers = TZ_GEO_KEY_HEADER_VALUES + (uint64_t)TZ_GEO_KEY_ENTRY_VALUES * index;
    return tz_at_tag(TZ_TAG_GEO_KEYS, entry ? entry->offset + numbers * 2 : TZ_NO_VALUE);
}

/* Returns the location of one of the four numbers of the header. */
static tz_location at_key_header(const tz_checker *checker, unsigned number)
{
    tz_location location = at_key_entry(checker, 0);
    if (location.offset != TZ_NO_VALUE)
        location.offset -= 2 * (uint64_t)(TZ_GEO_KEY_HEADER_VALUES - number);
    return location;
}

/* Adds a failure whose text has the name and the id of a key. */
#define FAIL_KEY(checker, location, text, id)                                                      \
    TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO, location, text,                   \
                   tz_geo_key_label(id), id)

/* Returns true if there are keys to check; findings are then about the image's directory. */
static bool begin_key_check(tz_checker *checker)
{
    const tz_geo_tags *tags = &checker->file->geo_tags;
    (void)tz_checker_level(checker, 0);
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

/* Returns an entry below whole_key_count. */
static raw_key raw_key_at(const tz_checker *checker, uint32_t index)
{
    const uint16_t *entry = checker->file->geo_tags.directory + TZ_GEO_KEY_HEADER_VALUES +
                            (size_t)TZ_GEO_KEY_ENTRY_VALUES * index;
    return (raw_key){entry[0], entry[1], entry[2], entry[3]};
}

/* ---- the directory ---- */

/* The header is: version, revision, minor revision, number of keys. */
static void check_key_header(tz_checker *checker)
{
    const tz_geo_tags *tags = &checker->file->geo_tags;
    const uint16_t *header = tags->directory;
    const uint64_t needed =
        TZ_GEO_KEY_HEADER_VALUES + (uint64_t)TZ_GEO_KEY_ENTRY_VALUES * header[3];
    if (header[0] != 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_header(checker, 0), 1, header[0]),
                       "the version of the key directory must be 1");
    if (header[1] != 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_header(checker, 1), 1, header[1]),
                       "the revision of the keys must be 1");
    if (header[2] > 1)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_header(checker, 2), 1, header[2]),
                       "the minor revision of the keys must be 0 or 1");
    if (tags->directory_count < needed)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_header(checker, 3), needed, tags->directory_count),
                       "the key directory is too short for its %u keys", header[3]);
}

/* The location of a key is 0, or the tag that holds its values. */
tz_result tz_check_key_directory(tz_checker *checker)
{
    uint16_t before = 0;
    const tz_geo_tags *tags = &checker->file->geo_tags;
    if (!begin_key_check(checker)) {
        if (tags->directory)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                           tz_expecting(at_key_header(checker, 0), TZ_GEO_KEY_HEADER_VALUES,
                                        tags->directory_count),
                           "the key directory is shorter than its header");
        return TZ_OK;
    }
    check_key_header(checker);
    for (uint32_t i = 0; i < whole_key_count(checker); i++) {
        const raw_key key = raw_key_at(checker, i);
        const bool in_tag = key.location == TZ_TAG_GEO_KEYS || key.location == TZ_TAG_GEO_DOUBLES ||
                            key.location == TZ_TAG_GEO_ASCII;
        const tz_location location = at_key_entry(checker, i);
        if (i > 0 && key.id <= before)
            FAIL_KEY(checker, tz_expecting(location, (uint64_t)before + 1, key.id),
                     "key %s (%u) is not in ascending order", key.id);
        if (key.location != 0 && !in_tag)
            FAIL_KEY(checker, tz_expecting(location, TZ_NO_VALUE, key.location),
                     "the location of key %s (%u) is neither 0 nor a tag with keys", key.id);
        before = key.id;
    }
    return TZ_OK;
}

/* ---- positions of values ---- */

/* A SHORT value is in the entry itself; several values follow the last entry. */
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
            FAIL_KEY(checker, tz_expecting(at_key_entry(checker, i), 1, key.count),
                     "key %s (%u) is stored in the directory, where a key has one value", key.id);
        if (key.location == TZ_TAG_GEO_KEYS && (key.value < first_value || end > size))
            FAIL_KEY(checker, tz_expecting(at_key_entry(checker, i), size, end),
                     "the values of key %s (%u) are not after the last key", key.id);
    }
    return TZ_OK;
}

/* Checks that values in another tag end inside it. Positions are indices of values, not bytes. */
static bool check_values_inside_tag(tz_checker *checker, uint32_t index, const raw_key *key,
                                    uint64_t size)
{
    const uint64_t end = (uint64_t)key->value + key->count;
    if (end <= size)
        return true;
    TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
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

/* A bar ends each text, since texts of several keys follow each other in one tag. */
tz_result tz_check_ascii_key_values(tz_checker *checker)
{
    const tz_geo_tags *tags = &checker->file->geo_tags;
    bool used = false;
    if (!begin_key_check(checker))
        return TZ_OK;
    for (uint32_t i = 0; i < whole_key_count(checker); i++) {
        const raw_key key = raw_key_at(checker, i);
        if (key.location != TZ_TAG_GEO_ASCII)
            continue;
        used = true;
        if (!check_values_inside_tag(checker, i, &key, tags->ascii_size) || !tags->ascii)
            continue;
        const char *text = tags->ascii + key.value;
        if (key.count == 0 || text[key.count - 1] != '|')
            FAIL_KEY(checker, at_key_entry(checker, i),
                     "the text of key %s (%u) does not end in '|'", key.id);
        if (key.count > 1 && memchr(text, '\0', (size_t)key.count - 1))
            FAIL_KEY(checker, at_key_entry(checker, i), "the text of key %s (%u) has a NUL inside",
                     key.id);
    }
    if (!used && tags->ascii)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_GEO,
                       tz_at_tag(TZ_TAG_GEO_ASCII, checker->file->levels[0].ifd_offset),
                       "no key uses the texts of the tag");
    return TZ_OK;
}

/* ---- requirements by subject ---- */

/* Keys first to last. */
typedef struct key_range {
    uint16_t first;
    uint16_t last;
} key_range;

/* Values first to last that a key must not have. */
typedef struct reserved_values {
    uint16_t key;
    uint16_t first;
    uint16_t last;
} reserved_values;

/* If key has this value, one of the others must be present. */
typedef struct standard_requirement {
    uint16_t key;
    uint16_t value;
    uint16_t one_of[2];
} standard_requirement;

enum { MAX_RULES = 6 };

/* Unused elements of arrays are 0, which is the id of no key. */
typedef struct key_rules {
    key_range keys[4];     /* the keys of the subject */
    uint16_t required;     /* a key that must be present; 0: none */
    uint16_t crs_codes[2]; /* keys with codes of EPSG: below 1024 reserved, above 32767 private */
    reserved_values reserved;
    standard_requirement needs[MAX_RULES];
} key_rules;

/* The value 32767 of a code says that other keys describe the thing. */
#define USER TZ_GEO_USER_DEFINED
static const key_rules rules_of_subject[TZ_KEY_SUBJECTS] = {
    [TZ_KEYS_RASTER_TYPE] = {.keys = {{TZ_KEY_RASTER_TYPE, TZ_KEY_RASTER_TYPE}},
                             .reserved = {TZ_KEY_RASTER_TYPE, 3, USER - 1}},
    [TZ_KEYS_MODEL_TYPE] =
        {.keys = {{TZ_KEY_MODEL_TYPE, TZ_KEY_MODEL_TYPE}},
         .required = TZ_KEY_MODEL_TYPE,
         .reserved = {TZ_KEY_MODEL_TYPE, 4, USER - 1},
         .needs = {{TZ_KEY_MODEL_TYPE, TZ_MODEL_PROJECTED, {TZ_KEY_PROJECTED_CRS}},
                   {TZ_KEY_MODEL_TYPE, TZ_MODEL_GEOGRAPHIC, {TZ_KEY_GEODETIC_CRS}},
                   {TZ_KEY_MODEL_TYPE, TZ_MODEL_GEOCENTRIC, {TZ_KEY_GEODETIC_CRS}},
                   {TZ_KEY_MODEL_TYPE, USER, {TZ_KEY_CITATION}}}},
    [TZ_KEYS_CRS] = {.keys = {{TZ_KEY_PROJECTED_CRS, TZ_KEY_PROJECTED_CRS},
                              {TZ_KEY_GEODETIC_CRS, TZ_KEY_GEODETIC_CRS}},
                     .crs_codes = {TZ_KEY_PROJECTED_CRS, TZ_KEY_GEODETIC_CRS},
                     .needs = {{TZ_KEY_PROJECTED_CRS, USER, {TZ_KEY_PROJECTED_CITATION}},
                               {TZ_KEY_PROJECTED_CRS, USER, {TZ_KEY_GEODETIC_CRS}},
                               {TZ_KEY_PROJECTED_CRS, USER, {TZ_KEY_PROJECTION}},
                               {TZ_KEY_GEODETIC_CRS, USER, {TZ_KEY_GEODETIC_CITATION}},
                               {TZ_KEY_GEODETIC_CRS, USER, {TZ_KEY_DATUM}},
                               {TZ_KEY_GEODETIC_CRS,
                                USER,
                                {TZ_KEY_GEOG_ANGULAR_UNITS, TZ_KEY_GEOG_LINEAR_UNITS}}}},
    [TZ_KEYS_VERTICAL] = {.keys = {{TZ_KEY_VERTICAL, TZ_KEY_VERTICAL},
                                   {TZ_KEY_VERTICAL_DATUM, TZ_KEY_VERTICAL_DATUM}},
                          .crs_codes = {TZ_KEY_VERTICAL, TZ_KEY_VERTICAL_DATUM},
                          .needs = {{TZ_KEY_VERTICAL, USER, {TZ_KEY_VERTICAL_CITATION}},
                                    {TZ_KEY_VERTICAL, USER, {TZ_KEY_VERTICAL_UNITS}},
                                    {TZ_KEY_VERTICAL, USER, {TZ_KEY_VERTICAL_DATUM}},
                                    {TZ_KEY_VERTICAL_DATUM, USER, {TZ_KEY_VERTICAL_CITATION}}}},
    [TZ_KEYS_CITATIONS] = {.keys = {{TZ_KEY_CITATION, TZ_KEY_CITATION},
                                    {TZ_KEY_GEODETIC_CITATION, TZ_KEY_GEODETIC_CITATION},
                                    {TZ_KEY_PROJECTED_CITATION, TZ_KEY_PROJECTED_CITATION},
                                    {TZ_KEY_VERTICAL_CITATION, TZ_KEY_VERTICAL_CITATION}}},
    [TZ_KEYS_UNITS] = {.keys = {{TZ_KEY_GEOG_LINEAR_UNITS, TZ_KEY_GEOG_ANGULAR_UNIT_SIZE},
                                {TZ_KEY_GEOG_AZIMUTH_UNITS, TZ_KEY_GEOG_AZIMUTH_UNITS},
                                {TZ_KEY_PROJ_LINEAR_UNITS, TZ_KEY_PROJ_LINEAR_UNIT_SIZE},
                                {TZ_KEY_VERTICAL_UNITS, TZ_KEY_VERTICAL_UNITS}},
                       .reserved = {TZ_KEY_VERTICAL_UNITS, USER, USER},
                       .needs = {{TZ_KEY_GEOG_LINEAR_UNITS, USER, {TZ_KEY_GEOG_LINEAR_UNIT_SIZE}},
                                 {TZ_KEY_GEOG_ANGULAR_UNITS, USER, {TZ_KEY_GEOG_ANGULAR_UNIT_SIZE}},
                                 {TZ_KEY_GEOG_ANGULAR_UNITS, USER, {TZ_KEY_GEODETIC_CITATION}},
                                 {TZ_KEY_PROJ_LINEAR_UNITS, USER, {TZ_KEY_PROJ_LINEAR_UNIT_SIZE}},
                                 {TZ_KEY_PROJ_LINEAR_UNITS, USER, {TZ_KEY_PROJECTED_CITATION}}}},
    [TZ_KEYS_DATUM] =
        {.keys = {{TZ_KEY_DATUM, TZ_KEY_PRIME_MERIDIAN},
                  {TZ_KEY_ELLIPSOID, TZ_KEY_INV_FLATTENING},
                  {TZ_KEY_PRIME_MERIDIAN_LONGITUDE, TZ_KEY_PRIME_MERIDIAN_LONGITUDE}},
         .needs = {{TZ_KEY_DATUM, USER, {TZ_KEY_GEODETIC_CITATION}},
                   {TZ_KEY_DATUM, USER, {TZ_KEY_ELLIPSOID}},
                   {TZ_KEY_PRIME_MERIDIAN, USER, {TZ_KEY_PRIME_MERIDIAN_LONGITUDE}},
                   {TZ_KEY_ELLIPSOID, USER, {TZ_KEY_SEMI_MAJOR_AXIS}},
                   {TZ_KEY_ELLIPSOID, USER, {TZ_KEY_INV_FLATTENING, TZ_KEY_SEMI_MINOR_AXIS}}}},
    [TZ_KEYS_PROJECTION] = {.keys = {{TZ_KEY_PROJECTION, TZ_KEY_PROJ_METHOD},
                                     {TZ_KEY_STD_PARALLEL_1, TZ_KEY_STRAIGHT_VERT_POLE_LONG}},
                            .reserved = {TZ_KEY_PROJ_METHOD, 28, USER - 1},
                            .needs = {{TZ_KEY_PROJECTION, USER, {TZ_KEY_PROJ_METHOD}}}},
};
#undef USER

/* Checks the types of the keys of a subject: a key has no type of its own, its location implies it.
 * Returns false if there are none. */
static bool check_key_types(tz_checker *checker, const key_rules *rules)
{
    bool any = false;
    for (uint32_t i = 0; i < whole_key_count(checker); i++) {
        const raw_key key = raw_key_at(checker, i);
        const uint16_t wanted = tz_geo_key_type(key.id);
        const uint16_t found = key.location == TZ_TAG_GEO_DOUBLES ? TZ_TYPE_DOUBLE
                               : key.location == TZ_TAG_GEO_ASCII ? TZ_TYPE_ASCII
                                                                  : TZ_TYPE_SHORT;
        bool listed = false;
        for (size_t k = 0; k < sizeof rules->keys / sizeof rules->keys[0]; k++)
            listed = listed || (key.id >= rules->keys[k].first && key.id <= rules->keys[k].last &&
                                rules->keys[k].first != 0);
        any = any || listed;
        if (listed && wanted != found)
            FAIL_KEY(checker, tz_expecting(at_key_entry(checker, i), wanted, found),
                     "key %s (%u) has the wrong type", key.id);
    }
    return any;
}

/* Returns the location of a key's entry, or of the header if there is no such key. */
static tz_location at_key_id(const tz_checker *checker, uint16_t id)
{
    for (uint32_t i = 0; i < whole_key_count(checker); i++)
        if (raw_key_at(checker, i).id == id)
            return at_key_entry(checker, i);
    return at_key_header(checker, 0);
}

/* A key that is missing has the value 0, which is never reserved. */
static void check_reserved_values(tz_checker *checker, const reserved_values *reserved)
{
    const uint16_t value = tz_geo_short(&checker->file->geo, reserved->key, 0);
    if (value >= reserved->first && value <= reserved->last && reserved->key != 0)
        FAIL_KEY(checker, tz_expecting(at_key_id(checker, reserved->key), TZ_NO_VALUE, value),
                 "key %s (%u) has a reserved value", reserved->key);
}

/* The rules of two subjects that the table cannot express: vertical keys came with minor revision
 * 1, and values of the raster type other than area and point are allowed but discouraged. */
static void check_subject_specials(tz_checker *checker)
{
    const uint16_t minor = checker->file->geo_tags.directory[2];
    const uint16_t type = tz_geo_short(&checker->file->geo, TZ_KEY_RASTER_TYPE, 1);
    if (checker->row->argument == TZ_KEYS_VERTICAL && minor == 0)
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO,
                       tz_expecting(at_key_header(checker, 2), 1, minor),
                       "vertical keys need minor revision 1");
    if (checker->row->argument == TZ_KEYS_RASTER_TYPE && (type == 0 || type >= TZ_GEO_USER_DEFINED))
        TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_GEO,
                       tz_expecting(at_key_id(checker, TZ_KEY_RASTER_TYPE), 1, type),
                       "a raster type that is neither area nor point is discouraged");
}

/* Applies the rules of a subject in the order of the table's members, so that findings have a fixed
 * order. */
tz_result tz_check_keys(tz_checker *checker)
{
    const key_rules *rules = &rules_of_subject[checker->row->argument];
    const tz_geo *geo = &checker->file->geo;
    if (!begin_key_check(checker))
        return TZ_OK;
    if (!check_key_types(checker, rules)) {
        if (rules->required == 0)
            return tz_checker_skip(checker, "the image has no such keys");
        FAIL_KEY(checker, at_key_header(checker, 3), "key %s (%u) is missing", rules->required);
    }
    check_subject_specials(checker);
    for (size_t i = 0; i < 2 && rules->crs_codes[i] != 0; i++) {
        const uint16_t id = rules->crs_codes[i];
        const uint16_t code = tz_geo_short(geo, id, 0);
        check_reserved_values(checker, &(reserved_values){id, 1, 1023});
        if (code > TZ_GEO_USER_DEFINED)
            TZ_ADD_FINDING(checker, TZ_CHECK_OUTCOME_WARNING, TZ_CAUSE_GEO,
                           tz_expecting(at_key_id(checker, id), TZ_GEO_USER_DEFINED, code),
                           "key %s (%u) has a private code, which only its author knows",
                           tz_geo_key_label(id), id);
    }
    check_reserved_values(checker, &rules->reserved);
    for (size_t i = 0; i < MAX_RULES && rules->needs[i].key != 0; i++) {
        const standard_requirement *need = &rules->needs[i];
        if (tz_geo_short(geo, need->key, 0) == need->value &&
            !tz_geo_has_key(geo, need->one_of[0]) &&
            (need->one_of[1] == 0 || !tz_geo_has_key(geo, need->one_of[1])))
            TZ_ADD_FINDING(
                checker, TZ_CHECK_OUTCOME_FAIL, TZ_CAUSE_GEO, at_key_id(checker, need->key),
                "key %s (%u) is %u, which needs key %s (%u)", tz_geo_key_label(need->key),
                need->key, need->value, tz_geo_key_label(need->one_of[0]), need->one_of[0]);
    }
    return TZ_OK;
}
