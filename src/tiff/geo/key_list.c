/* SPDX-License-Identifier: Apache-2.0
 * GeoKeys that are collected for writing, and the tz_geo that they make. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "tiff/geo/geo.h"
#include "tiff/tags.h"

static void init_geo(tz_geo *geo)
{
    *geo = (tz_geo){.struct_size = sizeof *geo, .coordinate_epoch = NAN};
}

static void add_key(tz_key_list *list, uint16_t id, uint16_t type, const void *values,
                    uint32_t count)
{
    if (list->result != TZ_OK)
        return;
    if (list->count == TZ_MAX_LISTED_KEYS) {
        list->result = tz_fail(list->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, tz_no_location(),
                               "a CRS has more than %d keys", TZ_MAX_LISTED_KEYS);
        return;
    }
    const size_t size = (size_t)count * tz_type_size(type);
    void *copy = tz_arena_alloc(list->arena, size);
    if (!copy) {
        list->result = tz_fail_nomem(list->ctx, size);
        return;
    }
    memcpy(copy, values, size);
    tz_geo_key *key = &list->keys[list->count++];
    *key = (tz_geo_key){.id = id, .type = type, .count = count};
    tz_geo_key_set_values(key, copy);
}

void tz_key_list_add_short(tz_key_list *list, uint16_t id, uint16_t value)
{
    add_key(list, id, TZ_TYPE_SHORT, &value, 1);
}

void tz_key_list_add_doubles(tz_key_list *list, uint16_t id, const double *values, uint32_t count)
{
    add_key(list, id, TZ_TYPE_DOUBLE, values, count);
}

void tz_key_list_add_double(tz_key_list *list, uint16_t id, double value)
{
    add_key(list, id, TZ_TYPE_DOUBLE, &value, 1);
}

/* No text is longer than a reader accepts; the closing bar is added when the tag is written. */
void tz_key_list_add_text(tz_key_list *list, uint16_t id, const char *text)
{
    add_key(list, id, TZ_TYPE_ASCII, text, (uint32_t)tz_min_size(strlen(text), TZ_MAX_PE_STRING));
}

static int compare_keys(const void *a, const void *b)
{
    const tz_geo_key *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

tz_result tz_key_list_finish(tz_geo *geo, tz_key_list *list)
{
    const tz_context quiet = {.err = list->ctx->err, .ifd = -1};
    if (list->result != TZ_OK)
        return list->result;
    qsort(list->keys, list->count, sizeof *list->keys, compare_keys);
    tz_geo_key *keys = tz_arena_array(list->arena, list->count, sizeof *keys);
    if (!keys)
        return tz_fail_nomem(list->ctx, list->count * sizeof *keys);
    memcpy(keys, list->keys, list->count * sizeof *keys);
    init_geo(geo);
    geo->keys = keys;
    geo->key_count = list->count;
    geo->key_revision = 1;
    geo->key_minor = tz_geo_find_key(geo, TZ_KEY_VERTICAL) != NULL; /* they came with 1.1 */
    return tz_geo_interpret_keys(list->arena, &quiet, geo);
}
