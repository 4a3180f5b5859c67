/* SPDX-License-Identifier: Apache-2.0
 * The lines of write_case.c that say what is to be written, beside its pixels, and how. */
#include <stdio.h>
#include <string.h>

#include "write_case.h"

/* ---- words ---- */

void fail(const char *what, const char *where)
{
    fprintf(stderr, "write_case: %s: %s\n", what, where);
    exit(2);
}

unsigned index_in(const char *const *names, const char *word)
{
    for (unsigned i = 0; names[i]; i++) {
        if (strcmp(names[i], word) == 0)
            return i;
    }
    fail("unknown word", word);
    return 0;
}

/* ---- memory of a case ---- */

static void *remember(write_case *c, void *memory)
{
    c->memory = realloc(c->memory, (c->memory_count + 1) * sizeof *c->memory);
    if (!c->memory)
        abort();
    c->memory[c->memory_count++] = memory;
    return memory;
}

static char *remember_text(write_case *c, const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(remember(c, checked_malloc(size)), text, size);
}

/* ---- numbers ---- */

/* A member of write_case that is a number. */
typedef struct number {
    const char *name;
    number_type type;
    size_t offset;
} number;

/* clang-format off */
#define MEMBER(part, member, type) {#member, type, offsetof(write_case, part.member)}
#define CODEC(member, type) {#member, type, offsetof(write_case, options.codec.member)}
#define OVERVIEW(member, type) {"overview_" #member, type, offsetof(write_case, options.overview_codec.member)}
/* clang-format on */

static const number numbers[] = {
    MEMBER(spec, bits_per_sample, UINT16),
    MEMBER(spec, orientation, UINT16),
    MEMBER(spec, photometric, ENUM),
    CODEC(compression, ENUM),
    CODEC(predictor, UINT16),
    MEMBER(options, strips, BOOLEAN),
    MEMBER(options, big_endian, BOOLEAN),
    MEMBER(options, sparse, BOOLEAN),
    MEMBER(options, tile_width, UINT32),
    MEMBER(options, tile_height, UINT32),
    MEMBER(options, alignment, UINT32),
    MEMBER(options, interleave, ENUM),
    MEMBER(options, bigtiff, ENUM),
    CODEC(effort, INT32),
    CODEC(quality, UINT32),
    CODEC(lossless, ENUM),
    CODEC(distance, FLOAT64),
    CODEC(alpha_distance, FLOAT64),
    CODEC(max_error, FLOAT64),
    CODEC(lerc_compression, UINT16),
    CODEC(jpeg_tables, ENUM),
    CODEC(jpeg_subsampling[0], UINT8),
    CODEC(jpeg_subsampling[1], UINT8),
    MEMBER(options, cog, BOOLEAN),
    MEMBER(options, overview_count, INT32),
    MEMBER(options, overview_resampling, ENUM),
    OVERVIEW(compression, ENUM),
    OVERVIEW(predictor, UINT16),
    OVERVIEW(quality, UINT32),
    OVERVIEW(max_error, FLOAT64),
    MEMBER(options, nan_to_nodata, BOOLEAN),
    MEMBER(options, statistics_items, BOOLEAN),
    MEMBER(options, threads, UINT32),
    MEMBER(options, max_host_bytes, UINT64),
    MEMBER(options, no_sync, BOOLEAN),
    MEMBER(options, verify, ENUM),
    MEMBER(geo, raster_type, ENUM),
    MEMBER(geo, epsg, UINT16),
    MEMBER(geo, epsg_vertical, UINT16),
    MEMBER(geo, coordinate_epoch, FLOAT64),
};

void store_number(void *to, number_type type, const char *text)
{
    const long long whole = strtoll(text, NULL, 10);
    const double real = strtod(text, NULL);
    switch (type) {
    case UINT8:
        memcpy(to, &(uint8_t){(uint8_t)whole}, sizeof(uint8_t));
        break;
    case UINT16:
        memcpy(to, &(uint16_t){(uint16_t)whole}, sizeof(uint16_t));
        break;
    case UINT32:
        memcpy(to, &(uint32_t){(uint32_t)whole}, sizeof(uint32_t));
        break;
    case INT32:
        memcpy(to, &(int32_t){(int32_t)whole}, sizeof(int32_t));
        break;
    case UINT64:
        memcpy(to, &(uint64_t){(uint64_t)whole}, sizeof(uint64_t));
        break;
    case FLOAT64:
        memcpy(to, &real, sizeof real);
        break;
    case BOOLEAN:
        memcpy(to, &(bool){whole != 0}, sizeof(bool));
        break;
    case ENUM:
        memcpy(to, &(unsigned){(unsigned)whole}, sizeof(unsigned));
        break;
    }
}

static void *list_of(write_case *c, char **words, size_t count, number_type type, size_t size)
{
    uint8_t *list = remember(c, checked_malloc(count * size));
    for (size_t i = 0; i < count; i++)
        store_number(list + i * size, type, words[i]);
    return list;
}

/* ---- lines ---- */

void tell_set(write_case *c, char **words, size_t count)
{
    (void)count;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(numbers[i].name, words[0]) == 0) {
            store_number((uint8_t *)c + numbers[i].offset, numbers[i].type, words[1]);
            return;
        }
    }
    fail("no such member", words[0]);
}

void tell_nodata(write_case *c, char **words, size_t count)
{
    static const char *const kinds[] = {"none", "int", "uint", "float", NULL};
    tz_nodata *nodata = &c->spec.nodata;
    (void)count;
    nodata->kind = (tz_nodata_kind)index_in(kinds, words[0]);
    if (nodata->kind == TZ_NODATA_KIND_INT)
        nodata->value.i = strtoll(words[1], NULL, 10);
    else if (nodata->kind == TZ_NODATA_KIND_UINT)
        nodata->value.u = strtoull(words[1], NULL, 10);
    else
        nodata->value.f = strtod(words[1], NULL);
}

void tell_extra_samples(write_case *c, char **words, size_t count)
{
    c->spec.extra_samples = list_of(c, words, count, UINT16, sizeof(uint16_t));
    c->spec.extra_sample_count = (uint32_t)count;
}

void tell_color_map(write_case *c, char **words, size_t count)
{
    c->spec.color_map = list_of(c, words, count, UINT16, sizeof(uint16_t));
    c->spec.color_map_size = (uint32_t)count / 3;
}

void tell_item(write_case *c, char **words, size_t count)
{
    (void)count;
    if (c->spec.metadata_count == MOST_ITEMS)
        fail("too many items", words[2]);
    tz_metadata_item *item = &c->items[c->spec.metadata_count++];
    tz_metadata_item_init(item, sizeof(tz_metadata_item));
    store_number(&item->band, INT32, words[0]);
    item->domain = remember_text(c, words[1]);
    item->name = remember_text(c, words[2]);
    item->role = remember_text(c, words[3]);
    item->value = remember_text(c, words[4]);
    c->spec.metadata = c->items;
}

void tell_tag(write_case *c, char **words, size_t count)
{
    const size_t size = strlen(words[3]) / 2;
    uint8_t *data = remember(c, checked_malloc(size));
    (void)count;
    if (c->spec.tag_count == MOST_TAGS)
        fail("too many tags", words[0]);
    for (size_t i = 0; i < size; i++) {
        const char digits[] = {words[3][2 * i], words[3][2 * i + 1], '\0'};
        data[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    tz_tag_value *tag = &c->tags[c->spec.tag_count++];
    tz_tag_value_init(tag, sizeof(tz_tag_value));
    store_number(&tag->tag, UINT16, words[0]);
    store_number(&tag->type, UINT16, words[1]);
    store_number(&tag->count, UINT64, words[2]);
    tag->data = data;
    c->spec.tags = c->tags;
}

void tell_transform(write_case *c, char **words, size_t count)
{
    c->geo.has_transform = true;
    for (size_t i = 0; i < 6 && i < count; i++)
        store_number(&c->geo.transform[i], FLOAT64, words[i]);
}

void tell_gcp(write_case *c, char **words, size_t count)
{
    if (c->geo.gcp_count == MOST_GCPS)
        fail("too many points", words[0]);
    const double *v = list_of(c, words, count, FLOAT64, sizeof(double));
    c->gcps[c->geo.gcp_count++] = (tz_gcp){v[0], v[1], v[2], v[3], v[4], v[5]};
    c->geo.gcps = c->gcps;
}

void tell_key(write_case *c, char **words, size_t count)
{
    if (c->geo.key_count == MOST_KEYS)
        fail("too many keys", words[0]);
    tz_geo_key *key = &c->keys[c->geo.key_count++];
    store_number(&key->id, UINT16, words[0]);
    store_number(&key->type, UINT16, words[1]);
    key->count = (uint32_t)count - 2;
    if (key->type == 3) {
        key->value.shorts = list_of(c, words + 2, count - 2, UINT16, sizeof(uint16_t));
    } else if (key->type == 12) {
        key->value.doubles = list_of(c, words + 2, count - 2, FLOAT64, sizeof(double));
    } else {
        key->value.text = remember_text(c, words[2]);
        key->count = (uint32_t)strlen(words[2]);
    }
    c->geo.keys = c->keys;
    c->geo.key_revision = 1;
}

void tell_rpc(write_case *c, char **words, size_t count)
{
    c->geo.rpc = list_of(c, words, count, FLOAT64, sizeof(double));
}
