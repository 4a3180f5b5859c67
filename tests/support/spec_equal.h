/* SPDX-License-Identifier: Apache-2.0
 * Comparison of two specifications, bit for bit. */
#ifndef TESTS_SUPPORT_SPEC_EQUAL_H
#define TESTS_SUPPORT_SPEC_EQUAL_H

#include <math.h>
#include <string.h>

#include "tiff/tags.h"

/* Each answers what differs; NULL: nothing. */
static inline bool same_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || (a && b && memcmp(a, b, size) == 0);
}

static inline bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline const void *key_data(const tz_geo_key *key)
{
    return key->type == TZ_TYPE_ASCII    ? (const void *)key->value.text
           : key->type == TZ_TYPE_DOUBLE ? (const void *)key->value.doubles
                                         : (const void *)key->value.shorts;
}

static inline const char *keys_differ(const tz_geo *a, const tz_geo *b)
{
    if (a->key_count != b->key_count || a->key_revision != b->key_revision ||
        a->key_minor != b->key_minor)
        return "number or revision of keys";
    for (uint32_t i = 0; i < a->key_count; i++) {
        const tz_geo_key *x = &a->keys[i], *y = &b->keys[i];
        if (x->id != y->id || x->type != y->type || x->count != y->count ||
            !same_bytes(key_data(x), key_data(y), x->count * tz_type_size(x->type)))
            return "a key";
    }
    return NULL;
}

static inline const char *geo_differs(const tz_geo *a, const tz_geo *b)
{
    if (!a || !b)
        return a == b ? NULL : "presence of geo";
    if (a->has_transform != b->has_transform ||
        (a->has_transform && !same_bytes(a->transform, b->transform, sizeof a->transform)))
        return "transform";
    if (a->raster_type != b->raster_type)
        return "raster type";
    if (a->gcp_count != b->gcp_count ||
        !same_bytes(a->gcps, b->gcps, a->gcp_count * sizeof *a->gcps))
        return "control points";
    if (!a->rpc != !b->rpc || (a->rpc && !same_bytes(a->rpc, b->rpc, 92 * sizeof *a->rpc)))
        return "rpc";
    return keys_differ(a, b);
}

static inline const char *metadata_differs(const tz_image_spec *a, const tz_image_spec *b)
{
    if (a->metadata_count != b->metadata_count)
        return "number of items";
    for (uint32_t i = 0; i < a->metadata_count; i++) {
        const tz_metadata_item *x = &a->metadata[i], *y = &b->metadata[i];
        if (x->band != y->band || !same_text(x->domain, y->domain) ||
            !same_text(x->name, y->name) || !same_text(x->value, y->value) ||
            !same_text(x->role, y->role))
            return "an item";
    }
    return NULL;
}

static inline const char *tags_differ(const tz_image_spec *a, const tz_image_spec *b)
{
    if (a->tag_count != b->tag_count)
        return "number of tags";
    for (uint32_t i = 0; i < a->tag_count; i++) {
        const tz_tag_value *x = &a->tags[i], *y = &b->tags[i];
        if (x->tag != y->tag || x->type != y->type || x->count != y->count ||
            !same_bytes(x->data, y->data, (size_t)x->count * tz_type_size(x->type)))
            return "a tag";
    }
    return NULL;
}

static inline bool same_nodata(const tz_nodata *a, const tz_nodata *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == TZ_NODATA_KIND_FLOAT && isnan(a->value.f))
        return isnan(b->value.f);
    return a->kind == TZ_NODATA_KIND_NONE || a->value.u == b->value.u;
}

static inline const char *spec_differs(const tz_image_spec *a, const tz_image_spec *b)
{
    if (a->width != b->width || a->height != b->height || a->bands != b->bands)
        return "size";
    if (a->dtype != b->dtype || a->bits_per_sample != b->bits_per_sample)
        return "type";
    if (a->photometric != b->photometric || a->orientation != b->orientation || a->mask != b->mask)
        return "photometric, orientation or mask";
    if (a->extra_sample_count != b->extra_sample_count ||
        !same_bytes(a->extra_samples, b->extra_samples,
                    a->extra_sample_count * sizeof *a->extra_samples))
        return "extra samples";
    if (a->color_map_size != b->color_map_size ||
        !same_bytes(a->color_map, b->color_map, a->color_map_size * 3 * sizeof *a->color_map))
        return "colour map";
    if (!same_nodata(&a->nodata, &b->nodata) || !same_text(a->nodata_text, b->nodata_text))
        return "nodata";
    const char *what = geo_differs(a->geo, b->geo);
    if (!what)
        what = metadata_differs(a, b);
    return what ? what : tags_differ(a, b);
}

#endif
