/* SPDX-License-Identifier: Apache-2.0
 * The bytes of a plan.
 *
 * The bytes are a magic number, version and size, then the fields in a fixed order, then a
 * checksum. all_fields walks over the parameters in that order; each field function counts, writes
 * or reads according to the mode. So one list of fields serves all three, and they cannot differ.
 *
 * Reading trusts nothing: a count is compared with the bytes that are left before memory is
 * allocated. The first failure is kept and all later fields become 0, so that the walk needs no
 * checks of its own. */
#include "write/cog_plan_bytes.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "codec/cursor.h"
#include "codec/unaligned.h"
#include "tiff/byte_order.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

static const uint8_t magic[8] = {'T', 'Z', 'P', 'L', 'A', 'N', '\r', '\n'};

enum {
    VERSION = 3,
    SIZE_AT = 16,
    FIELDS_AT = 24,
    CHECKSUM = 8,
    MIN_KEY_BYTES = 8, /* shortest GeoKey, tag and metadata item */
    MIN_TAG_BYTES = 12,
    MIN_ITEM_BYTES = 36
};
#define NO_TEXT UINT64_MAX

/* A new member of these structs may have to become a field: decide, then set the new size. */
_Static_assert(sizeof(void *) != 8 || sizeof(tz_image_spec) == 128,
               "cog_plan_bytes.c: tz_image_spec");
_Static_assert(sizeof(void *) != 8 || sizeof(tz_write_options) == 544,
               "cog_plan_bytes.c: tz_write_options");

typedef enum field_mode { COUNT, WRITE, READ } field_mode;

typedef struct fields {
    field_mode mode;
    uint8_t *out; /* writing */
    size_t size;  /* counted or written */
    tz_cursor in; /* reading */
    const uint8_t *start;
    tz_arena *arena;
    const tz_context *ctx;
    tz_result result;
} fields;

/* ---- failures ---- */

/* Keeps the first failure: later ones follow from it. */
static void fail_field(fields *f, const char *what, uint64_t found)
{
    if (f->result != TZ_OK)
        return;
    const uint64_t at = (uint64_t)(f->in.at - f->start);
    f->result = tz_fail(f->ctx, TZ_ERR_FORMAT, TZ_CAUSE_META,
                        tz_expecting(tz_at_offset(at), TZ_NO_VALUE, found),
                        "the plan is damaged: %s", what);
}

/* ---- plain values ---- */

/* count little-endian words of width bytes. */
static void field_words(fields *f, void *values, size_t count, unsigned width)
{
    const size_t size = count * width;
    if (f->mode == READ) {
        const uint8_t *taken = f->result == TZ_OK ? tz_cursor_bytes(&f->in, size) : NULL;
        if (!taken) {
            fail_field(f, "it ends too early", size);
            memset(values, 0, size);
            return;
        }
        memcpy(values, taken, size);
        tz_to_host_order(values, count, width, false);
        return;
    }
    if (f->mode == WRITE && size > 0) {
        memcpy(f->out + f->size, values, size);
        tz_to_host_order(f->out + f->size, count, width, false); /* swapping is its own inverse */
    }
    f->size += size;
}

/* A number of 2, 4 or 8 bytes. */
#define NUMBER(f, member) field_words(f, &(member), 1, sizeof(member))

static void field_bool(fields *f, bool *value)
{
    uint8_t byte = *value;
    field_words(f, &byte, 1, 1);
    if (byte > 1)
        fail_field(f, "a choice is neither 0 nor 1", byte);
    *value = byte == 1;
}

/* Enumerations of any type are stored as 32 bits; tz_image_init checks the values. */
#define ENUMERATION(f, member)                                                                     \
    do {                                                                                           \
        uint32_t number_ = (uint32_t)(member);                                                     \
        NUMBER(f, number_);                                                                        \
        (member) = (__typeof__(member))number_;                                                    \
    } while (0)

/* ---- lists ---- */

/* A number of entries of at least min_bytes each. A number that cannot be true fails before memory
 * is allocated. */
static void field_count(fields *f, uint32_t *count, size_t min_bytes)
{
    NUMBER(f, *count);
    if (f->mode == READ && *count > tz_cursor_left(&f->in) / min_bytes) {
        fail_field(f, "a list is longer than the plan", *count);
        *count = 0;
    }
}

/* Allocates memory for entries; NULL for none, and after a failure. */
static void *allocate_field(fields *f, uint64_t count, size_t size)
{
    if (count == 0 || f->result != TZ_OK)
        return NULL;
    void *memory = tz_arena_array(f->arena, (size_t)count, size);
    if (!memory)
        f->result = tz_fail_nomem(f->ctx, tz_mul_capped(count, size));
    return memory;
}

/* count entries of per words of width bytes; reading sets *values to new memory. */
static void field_array(fields *f, const void **values, uint64_t count, size_t per, unsigned width)
{
    const size_t size = per * width;
    if (f->mode != READ) {
        field_words(f, (void *)*values, (size_t)count * per, width); /* only read */
        return;
    }
    *values = NULL;
    if (f->result == TZ_OK && count > tz_cursor_left(&f->in) / size) {
        fail_field(f, "a list is longer than the plan", count);
        return;
    }
    void *memory = allocate_field(f, count, size);
    if (memory)
        field_words(f, memory, (size_t)count * per, width);
    *values = memory;
}
#define ARRAY(f, values, count, per, width)                                                        \
    do {                                                                                           \
        const void *array_ = (values);                                                             \
        field_array(f, &array_, count, per, width);                                                \
        (values) = array_;                                                                         \
    } while (0)

/* A text; NULL is stored as NO_TEXT. */
static void field_text(fields *f, const char **value)
{
    uint64_t length = f->mode != READ && *value ? strlen(*value) : NO_TEXT;
    NUMBER(f, length);
    if (f->mode != READ) {
        if (*value)
            field_words(f, (void *)*value, (size_t)length, 1); /* only read */
        return;
    }
    *value = NULL;
    if (length == NO_TEXT || f->result != TZ_OK)
        return;
    const char *taken = NULL;
    if (length <= tz_cursor_left(&f->in))
        taken = (const char *)tz_cursor_bytes(&f->in, (size_t)length);
    if (!taken || memchr(taken, '\0', (size_t)length)) {
        fail_field(f, "a text is longer than the plan, or has a NUL inside", length);
        return;
    }
    char *text = allocate_field(f, length + 1, 1); /* zeroed: it ends with a NUL */
    if (text)
        memcpy(text, taken, (size_t)length);
    *value = text;
}

/* ---- georeferencing ---- */

/* The CRS is stored as GeoKeys, so no text of a CRS is needed. */
static void geo_fields(fields *f, tz_geo *geo)
{
    bool has_rpc = geo->rpc != NULL;
    field_bool(f, &geo->has_transform);
    field_words(f, geo->transform, 6, sizeof(double));
    ENUMERATION(f, geo->raster_type);
    NUMBER(f, geo->gcp_count);
    ARRAY(f, geo->gcps, geo->gcp_count, TZ_TIEPOINT_VALUES, sizeof(double));
    field_bool(f, &has_rpc);
    ARRAY(f, geo->rpc, has_rpc ? TZ_RPC_VALUES : 0, 1, sizeof(double));
    NUMBER(f, geo->key_revision);
    NUMBER(f, geo->key_minor);
    field_count(f, &geo->key_count, MIN_KEY_BYTES);
    if (f->mode == READ)
        geo->keys = allocate_field(f, geo->key_count, sizeof *geo->keys);
    for (uint32_t i = 0; i < geo->key_count && f->result == TZ_OK; i++) {
        tz_geo_key key = geo->keys[i];
        NUMBER(f, key.id);
        NUMBER(f, key.type);
        NUMBER(f, key.count);
        const unsigned width = tz_type_size(key.type);
        if (key.type == TZ_TYPE_ASCII)
            ARRAY(f, key.value.text, key.count, 1, 1);
        else if (key.type == TZ_TYPE_DOUBLE)
            ARRAY(f, key.value.doubles, key.count, 1, width);
        else if (key.type == TZ_TYPE_SHORT)
            ARRAY(f, key.value.shorts, key.count, 1, width);
        else
            fail_field(f, "a GeoKey of unknown type", key.type);
        if (f->mode == READ)
            *(tz_geo_key *)&geo->keys[i] = key; /* allocated above */
    }
}

/* ---- the specification ---- */

/* Items are copied, because the specification points to constants when it is written. Those that
 * are read have no size yet. */
static void field_metadata(fields *f, tz_image_spec *spec)
{
    field_count(f, &spec->metadata_count, MIN_ITEM_BYTES);
    if (f->mode == READ)
        spec->metadata = allocate_field(f, spec->metadata_count, sizeof *spec->metadata);
    for (uint32_t i = 0; i < spec->metadata_count && f->result == TZ_OK; i++) {
        tz_metadata_item copy = spec->metadata[i];
        copy.struct_size = sizeof copy;
        NUMBER(f, copy.band);
        field_text(f, &copy.domain);
        field_text(f, &copy.name);
        field_text(f, &copy.value);
        field_text(f, &copy.role);
        if (f->mode == READ)
            *(tz_metadata_item *)&spec->metadata[i] = copy; /* as with GeoKeys */
    }
}

/* The values of a tag are stored in words, the units of byte order. */
static void field_tags(fields *f, tz_image_spec *spec)
{
    field_count(f, &spec->tag_count, MIN_TAG_BYTES);
    if (f->mode == READ)
        spec->tags = allocate_field(f, spec->tag_count, sizeof *spec->tags);
    for (uint32_t i = 0; i < spec->tag_count && f->result == TZ_OK; i++) {
        tz_tag_value tag = spec->tags[i];
        tag.struct_size = sizeof tag;
        NUMBER(f, tag.tag);
        NUMBER(f, tag.type);
        NUMBER(f, tag.count);
        const unsigned word = tz_type_word_size(tag.type);
        if (word == 0)
            fail_field(f, "a tag of unknown type", tag.type);
        else
            ARRAY(f, tag.data, tag.count, tz_type_size(tag.type) / word, word);
        if (f->mode == READ)
            *(tz_tag_value *)&spec->tags[i] = tag; /* as with GeoKeys */
    }
}

/* ---- codecs ---- */

static void codec_fields(fields *f, tz_codec_options *codec)
{
    ENUMERATION(f, codec->compression);
    NUMBER(f, codec->effort);
    NUMBER(f, codec->quality);
    ENUMERATION(f, codec->lossless);
    NUMBER(f, codec->predictor);
    NUMBER(f, codec->lerc_compression);
    ENUMERATION(f, codec->jpeg_tables);
    NUMBER(f, codec->max_error);
    NUMBER(f, codec->distance);
    NUMBER(f, codec->alpha_distance);
    field_words(f, codec->jpeg_subsampling, 2, 1);
}

/* ---- all fields ---- */

/* The order is that of the bytes. A field more or less is another version. */
static void all_fields(fields *f, tz_cog_plan_params *params, tz_geo *geo)
{
    tz_image_spec *spec = &params->spec;
    tz_write_options *o = &params->options;
    bool has_geo = spec->geo != NULL;
    NUMBER(f, params->block_tiles);
    NUMBER(f, spec->width);
    NUMBER(f, spec->height);
    NUMBER(f, spec->bands);
    ENUMERATION(f, spec->dtype);
    NUMBER(f, spec->bits_per_sample);
    NUMBER(f, spec->orientation);
    ENUMERATION(f, spec->photometric);
    NUMBER(f, spec->extra_sample_count);
    ARRAY(f, spec->extra_samples, spec->extra_sample_count, 1, sizeof(uint16_t));
    NUMBER(f, spec->color_map_size);
    ARRAY(f, spec->color_map, spec->color_map_size, 3, sizeof(uint16_t));
    field_bool(f, &spec->mask);
    ENUMERATION(f, spec->nodata.kind);
    NUMBER(f, spec->nodata.value.u); /* 64 bits, whatever the kind */
    field_text(f, &spec->nodata_text);
    field_bool(f, &has_geo);
    if (has_geo)
        geo_fields(f, geo);
    if (f->mode == READ)
        spec->geo = has_geo ? geo : NULL;
    field_metadata(f, spec);
    field_tags(f, spec);
    /* layout */
    field_bool(f, &o->strips);
    field_bool(f, &o->big_endian);
    field_bool(f, &o->sparse);
    NUMBER(f, o->tile_width);
    NUMBER(f, o->tile_height);
    NUMBER(f, o->alignment);
    ENUMERATION(f, o->interleave);
    ENUMERATION(f, o->bigtiff);
    /* codecs */
    codec_fields(f, &o->codec);
    codec_fields(f, &o->overview_codec);
    codec_fields(f, &o->mask_codec);
    NUMBER(f, o->discard_count);
    ARRAY(f, o->discard_bits, o->discard_count, 1, 1);
    /* overviews */
    NUMBER(f, o->overview_count);
    ENUMERATION(f, o->overview_resampling);
    /* pixels */
    field_bool(f, &o->nan_to_nodata);
    field_bool(f, &o->statistics_items);
    field_bool(f, &params->wants_statistics);
}

/* ---- bytes ---- */

uint64_t tz_fnv1a(uint64_t before, const uint8_t *data, size_t size)
{
    uint64_t hash = before;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void tz_cog_plan_seal(uint8_t *data, size_t size)
{
    tz_store_le64(data + SIZE_AT, size);
    tz_store_le64(data + size - CHECKSUM, tz_fnv1a(TZ_FNV1A_INIT, data, size - CHECKSUM));
}

uint64_t tz_cog_plan_fingerprint(const uint8_t *data, size_t size)
{
    return tz_load_le64(data + size - CHECKSUM);
}

/* Counts first, then writes to memory of exactly that size. */
tz_result tz_cog_plan_to_bytes(tz_memory *out, const tz_cog_plan_params *params,
                               const tz_context *ctx)
{
    tz_cog_plan_params copy = *params; /* the field functions take pointers to non-const */
    tz_geo geo = TZ_GEO_INIT;
    fields f = {.mode = COUNT, .ctx = ctx};
    if (copy.spec.geo)
        geo = *copy.spec.geo;
    all_fields(&f, &copy, &geo);
    const size_t size = FIELDS_AT + f.size + CHECKSUM;
    uint8_t *bytes = tz_alloc(size);
    if (!bytes)
        return tz_fail_nomem(ctx, size);
    memcpy(bytes, magic, sizeof magic);
    tz_store_le32(bytes + sizeof magic, VERSION);
    tz_store_le32(bytes + sizeof magic + 4, 0);
    f = (fields){.mode = WRITE, .out = bytes + FIELDS_AT, .ctx = ctx};
    all_fields(&f, &copy, &geo);
    tz_cog_plan_seal(bytes, size);
    *out = (tz_memory){bytes, size};
    return TZ_OK;
}

tz_result tz_fail_plan_bytes(const tz_context *ctx, tz_result result, uint64_t offset,
                             uint64_t expected, uint64_t found, const char *what)
{
    return tz_fail(ctx, result, TZ_CAUSE_META, tz_expecting(tz_at_offset(offset), expected, found),
                   "%s", what);
}

/* Magic number, version, size and checksum are checked before any field is read. */
tz_result tz_cog_plan_from_bytes(tz_cog_plan_parsed *out, const uint8_t *data, size_t size,
                                 const tz_context *ctx)
{
    *out = (tz_cog_plan_parsed){
        .params = {.spec = TZ_IMAGE_SPEC_INIT, .options = TZ_WRITE_OPTIONS_INIT},
        .geo = {.struct_size = sizeof(tz_geo), .coordinate_epoch = NAN}};
    if (size < TZ_COG_PLAN_MIN_BYTES || memcmp(data, magic, sizeof magic) != 0)
        return tz_fail_plan_bytes(ctx, TZ_ERR_FORMAT, 0, TZ_NO_VALUE, TZ_NO_VALUE,
                                  "this is not a plan of terrazzo");
    const uint32_t version = tz_load_le32(data + sizeof magic);
    if (version != VERSION || tz_load_le32(data + sizeof magic + 4) != 0)
        return tz_fail_plan_bytes(ctx, TZ_ERR_UNSUPPORTED, sizeof magic, VERSION, version,
                                  "a plan of another version; make it again with this one");
    if (tz_load_le64(data + SIZE_AT) != size)
        return tz_fail_plan_bytes(ctx, TZ_ERR_FORMAT, SIZE_AT, tz_load_le64(data + SIZE_AT), size,
                                  "the plan is cut off, or longer than it was");
    if (tz_cog_plan_fingerprint(data, size) != tz_fnv1a(TZ_FNV1A_INIT, data, size - CHECKSUM))
        return tz_fail_plan_bytes(ctx, TZ_ERR_FORMAT, size - CHECKSUM, TZ_NO_VALUE, TZ_NO_VALUE,
                                  "the plan is damaged: its checksum is wrong");
    fields f = {.mode = READ,
                .in = tz_cursor_of(data + FIELDS_AT, size - FIELDS_AT - CHECKSUM),
                .start = data,
                .arena = &out->arena,
                .ctx = ctx};
    all_fields(&f, &out->params, &out->geo);
    if (tz_cursor_left(&f.in) > 0)
        fail_field(&f, "bytes are left over", tz_cursor_left(&f.in));
    out->params.options.cog = true;
    return f.result;
}
