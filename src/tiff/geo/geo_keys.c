/* SPDX-License-Identifier: Apache-2.0
 * The GeoKey directory: from three tags to a sorted list of keys. What the keys mean is told in
 * geo_interpret.c.
 *
 * The directory is an array of SHORTs: version, revision, minor revision, number of keys, and then
 * four for each key: id, location, count, value. Location 0 means that the value is right there; a
 * tag number means that count values start at that index of the tag's array. Nothing is copied: a
 * key points into the tag. */
#include <math.h>
#include <string.h>

#include "tiff/geo/geo.h"
#include "tiff/tags.h"

/* The arrays that a key's location may name. */
typedef struct key_array {
    uint16_t tag;
    uint16_t type;
    uint64_t size;
} key_array;

typedef struct key_reader {
    const tz_geo_tags *tags;
    const tz_context *ctx;
    tz_geo_key *keys;
    uint32_t count;
    bool unsorted;  /* a key came that is not above all before it */
    uint64_t *seen; /* then: a bit for every possible id */
} key_reader;

enum { SEEN_WORDS = 1024 };

static tz_location at_key_directory(void)
{
    return tz_at_tag(TZ_TAG_GEO_KEYS, TZ_NONE);
}

static const char *key_name_or_unknown(uint16_t id)
{
    const char *name = tz_geo_key_name(id);
    return name ? name : "unknown";
}

/* ---------------------------------------------------------------------------------------------
 * One key
 * ------------------------------------------------------------------------------------------ */

static bool find_key_array(const tz_geo_tags *tags, uint16_t location, key_array *out)
{
    const key_array arrays[] = {
        {TZ_TAG_GEO_KEYS, TZ_TYPE_SHORT, tags->directory_count},
        {TZ_TAG_GEO_DOUBLES, TZ_TYPE_DOUBLE, tags->double_count},
        {TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, tags->ascii_size},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if (arrays[i].tag == location) {
            *out = arrays[i];
            return true;
        }
    }
    return false;
}

/* Text without the bar that closes it and without NULs behind it, in either order. */
static uint32_t trimmed_text_size(const char *text, uint32_t size)
{
    while (size > 0 && text[size - 1] == '\0')
        size--;
    if (size > 0 && text[size - 1] == '|')
        size--;
    while (size > 0 && text[size - 1] == '\0')
        size--;
    return size;
}

static tz_result read_key_text(const key_reader *reader, const char *text, tz_geo_key *key)
{
    uint32_t size = key->count;
    key->value.text = text;
    key->count = trimmed_text_size(text, size);
    tz_location location = tz_at_tag(TZ_TAG_GEO_ASCII, TZ_NONE);
    if (size == 0 || memchr(text + key->count, '|', size - key->count) == NULL)
        TZ_TRY(tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, location,
                       "the text of key %s (%u) does not end in '|'", key_name_or_unknown(key->id),
                       key->id));
    if (key->count > 0 && memchr(text, '\0', key->count))
        TZ_TRY(tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, location,
                       "the text of key %s (%u) has a NUL inside", key_name_or_unknown(key->id),
                       key->id));
    return TZ_OK;
}

static tz_result point_into_array(const key_reader *reader, uint16_t index, tz_geo_key *key)
{
    const tz_geo_tags *tags = reader->tags;
    if (key->type == TZ_TYPE_ASCII)
        return read_key_text(reader, tags->ascii + index, key);
    if (key->type == TZ_TYPE_DOUBLE)
        key->value.doubles = tags->doubles + index;
    else
        key->value.shorts = tags->directory + index;
    return TZ_OK;
}

/* A key whose values are elsewhere. *usable stays false when they are not there. */
static tz_result read_key_from_array(const key_reader *reader, const uint16_t *entry,
                                     tz_geo_key *key, bool *usable)
{
    key_array array;
    if (!find_key_array(reader->tags, entry[1], &array))
        return tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO,
                       tz_expecting(at_key_directory(), TZ_NONE, entry[1]),
                       "the location of key %s (%u) is neither 0 nor a tag with keys",
                       key_name_or_unknown(key->id), key->id);
    uint64_t end = (uint64_t)entry[3] + entry[2]; /* two 16-bit numbers: cannot wrap */
    if (end > array.size)
        return tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO,
                       tz_expecting(tz_at_tag(array.tag, TZ_NONE), array.size, end),
                       "the values of key %s (%u) end outside the tag",
                       key_name_or_unknown(key->id), key->id);
    *usable = array.size > 0; /* no array at all: not even an address to point at */
    if (!*usable)
        return TZ_OK;
    key->type = array.type;
    key->count = entry[2];
    return point_into_array(reader, entry[3], key);
}

static tz_result read_key(const key_reader *reader, const uint16_t *entry, tz_geo_key *key,
                          bool *usable)
{
    *usable = false;
    *key = (tz_geo_key){.id = entry[0], .type = TZ_TYPE_SHORT, .count = 1};
    if (entry[1] != 0)
        return read_key_from_array(reader, entry, key, usable);
    if (entry[2] != 1)
        return tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO,
                       tz_expecting(at_key_directory(), 1, entry[2]),
                       "key %s (%u) is stored in the directory, where a key has one value",
                       key_name_or_unknown(key->id), key->id);
    key->value.shorts = &entry[3];
    *usable = true;
    return TZ_OK;
}

/* A wrong type is told, and the key is kept for those who want to see it; the look-ups by type do
 * not return it. */
static tz_result check_key_type(const key_reader *reader, const tz_geo_key *key)
{
    uint16_t wanted = tz_geo_key_type(key->id);
    if (wanted == 0 || wanted == key->type)
        return TZ_OK;
    return tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO,
                   tz_expecting(at_key_directory(), wanted, key->type),
                   "key %s (%u) has the wrong type and is not used", key_name_or_unknown(key->id),
                   key->id);
}

/* ---------------------------------------------------------------------------------------------
 * The directory
 * ------------------------------------------------------------------------------------------ */

static bool mark_seen(uint64_t *seen, uint16_t id)
{
    uint64_t bit = (uint64_t)1 << (id % 64);
    bool was_seen = (seen[id / 64] & bit) != 0;
    seen[id / 64] |= bit;
    return was_seen;
}

/* Nearly all files have their keys in order; then the last one tells enough. */
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

static tz_result add_key(key_reader *reader, const uint16_t *entry)
{
    tz_geo_key key;
    bool usable;
    TZ_TRY(read_key(reader, entry, &key, &usable));
    if (!usable)
        return TZ_OK;
    if (is_duplicate_key(reader, key.id))
        return tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, at_key_directory(),
                       "key %s (%u) is there more than once; the first one counts",
                       key_name_or_unknown(key.id), key.id);
    reader->keys[reader->count++] = key;
    return check_key_type(reader, &key);
}

/* Shell sort: no memory, fast on the sorted lists that nearly all files have, and never quadratic
 * on the others. Ids differ, so it need not be stable. */
static void sort_keys(tz_geo_key *keys, uint32_t count)
{
    uint32_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (uint32_t i = gap; i < count; i++) {
            tz_geo_key key = keys[i];
            uint32_t at = i;
            for (; at >= gap && keys[at - gap].id > key.id; at -= gap)
                keys[at] = keys[at - gap];
            keys[at] = key;
        }
    }
}

static tz_result sort_if_needed(const key_reader *reader)
{
    for (uint32_t i = 1; i < reader->count; i++) {
        if (reader->keys[i].id > reader->keys[i - 1].id)
            continue;
        uint16_t id = reader->keys[i].id;
        sort_keys(reader->keys, reader->count);
        return tz_warn(reader->ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, at_key_directory(),
                       "the keys are not in ascending order: %s (%u) comes late",
                       key_name_or_unknown(id), id);
    }
    return TZ_OK;
}

/* *usable says whether the entries behind the header can be read. */
static tz_result check_key_directory_header(const tz_geo_tags *tags, const tz_context *ctx,
                                            bool *usable)
{
    const uint16_t *header = tags->directory;
    *usable = false;
    if (tags->directory_count < TZ_GEO_KEY_HEADER_VALUES)
        return tz_warn(
            ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO,
            tz_expecting(at_key_directory(), TZ_GEO_KEY_HEADER_VALUES, tags->directory_count),
            "the key directory is shorter than its header");
    if (header[0] != 1)
        return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO,
                       tz_expecting(at_key_directory(), 1, header[0]),
                       "the version of the key directory must be 1; its keys are ignored");
    *usable = true;
    if (header[1] != 1 || header[2] > 1)
        return tz_warn(ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, at_key_directory(),
                       "revision %u.%u of the keys is not known; they are read like 1.1", header[1],
                       header[2]);
    return TZ_OK;
}

/* How many entries are there in full. */
static tz_result count_whole_keys(const tz_geo_tags *tags, const tz_context *ctx, uint32_t *out)
{
    uint32_t stated = tags->directory[3];
    uint64_t whole = (tags->directory_count - TZ_GEO_KEY_HEADER_VALUES) / TZ_GEO_KEY_ENTRY_VALUES;
    *out = whole < stated ? (uint32_t)whole : stated;
    if (whole < stated)
        TZ_TRY(tz_warn(
            ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO,
            tz_expecting(at_key_directory(),
                         TZ_GEO_KEY_HEADER_VALUES + (uint64_t)TZ_GEO_KEY_ENTRY_VALUES * stated,
                         tags->directory_count),
            "the key directory is too short for its %u keys", stated));
    tz_error err;
    tz_context limit_ctx = *ctx;
    limit_ctx.err = &err;
    if (tz_check_limit(&limit_ctx, offsetof(tz_limits, max_geo_keys), at_key_directory(), *out,
                       "GeoKeys") == TZ_OK)
        return TZ_OK;
    *out = 0;
    return tz_warn_from_error(ctx, &err, "max_geo_keys");
}

static tz_result read_keys(const tz_geo_tags *tags, tz_arena *arena, const tz_context *ctx,
                           uint32_t count, tz_geo *out)
{
    uint64_t seen[SEEN_WORDS]; /* set when it is needed */
    key_reader reader = {.tags = tags, .ctx = ctx, .seen = seen};
    reader.keys = tz_arena_array(arena, count, sizeof *reader.keys);
    if (!reader.keys)
        return tz_fail_nomem(ctx, (uint64_t)count * sizeof *reader.keys);
    for (uint32_t i = 0; i < count; i++)
        TZ_TRY(add_key(&reader, tags->directory + TZ_GEO_KEY_HEADER_VALUES +
                                    (size_t)i * TZ_GEO_KEY_ENTRY_VALUES));
    TZ_TRY(sort_if_needed(&reader));
    out->keys = reader.keys;
    out->key_count = reader.count;
    return TZ_OK;
}

tz_result tz_geo_parse_keys(const tz_geo_tags *tags, tz_arena *arena, const tz_context *ctx,
                            tz_geo *out)
{
    *out = (tz_geo){.coordinate_epoch = NAN};
    if (!tags->directory)
        return TZ_OK;
    bool usable;
    uint32_t count;
    TZ_TRY(check_key_directory_header(tags, ctx, &usable));
    if (!usable)
        return TZ_OK;
    TZ_TRY(count_whole_keys(tags, ctx, &count));
    out->key_revision = tags->directory[1];
    out->key_minor = tags->directory[2];
    if (count > 0)
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
    return tz_fail(ctx, TZ_ERR_FORMAT, TZ_CAUSE_GEO, at_key_directory(),
                   "the file has no coordinate reference system, and one is required");
}

/* ---------------------------------------------------------------------------------------------
 * Look-ups
 * ------------------------------------------------------------------------------------------ */

const tz_geo_key *tz_geo_find_key(const tz_geo *geo, uint16_t id)
{
    uint32_t first = 0;
    uint32_t end = geo->key_count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (geo->keys[middle].id == id)
            return &geo->keys[middle];
        if (geo->keys[middle].id < id)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
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
