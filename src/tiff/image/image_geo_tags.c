/* SPDX-License-Identifier: Apache-2.0
 * Georeferencing to tags. Numbers are chosen so that readers get the very same transform back. */
#include <math.h>
#include <string.h>

#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

static void add_double_tag(tz_tag_list *tags, uint16_t tag, const double *values, size_t count)
{
    double *copy = tz_tag_list_alloc(tags, count, sizeof *copy);
    if (copy)
        tz_tag_list_add(tags, tag, TZ_TYPE_DOUBLE, count,
                        memcpy(copy, values, count * sizeof *copy));
}

/* ---------------------------------------------------------------------------------------------
 * Transform
 * ------------------------------------------------------------------------------------------ */

/* With PixelIsPoint, tags speak of pixel centres, and readers subtract half a pixel. The number
 * from which they come to corner: the sum, or one of its neighbours where rounding hides it. */
static double unshift_corner(double corner, double half)
{
    const double sum = corner + half;
    const double tries[] = {sum, nextafter(sum, -INFINITY), nextafter(sum, INFINITY)};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        if (tries[i] - half == corner)
            return tries[i];
    return sum;
}

/* Axes in the usual directions, and no rotation, not even of -0. */
static bool is_north_up(const double *t)
{
    return t[1] > 0 && t[5] < 0 && t[2] == 0 && t[4] == 0 && !signbit(t[2]) && !signbit(t[4]);
}

static void add_scale_tags(tz_tag_list *tags, const double *t, double x, double y)
{
    const double scale[TZ_SCALE_VALUES] = {t[1], -t[5], 0};
    const double tiepoint[TZ_TIEPOINT_VALUES] = {0, 0, 0, x, y, 0};
    add_double_tag(tags, TZ_TAG_PIXEL_SCALE, scale, TZ_SCALE_VALUES);
    add_double_tag(tags, TZ_TAG_TIEPOINTS, tiepoint, TZ_TIEPOINT_VALUES);
}

void tz_geo_matrix(const double *t, double x, double y, double out[TZ_MATRIX_VALUES])
{
    const double matrix[] = {t[1], t[2], 0, x, t[4], t[5], 0, y, 0, 0, 0, 0, 0, 0, 0, 1};
    memcpy(out, matrix, sizeof matrix);
}

static void add_matrix_tag(tz_tag_list *tags, const double *t, double x, double y)
{
    double matrix[TZ_MATRIX_VALUES];
    tz_geo_matrix(t, x, y, matrix);
    add_double_tag(tags, TZ_TAG_TRANSFORMATION, matrix, TZ_MATRIX_VALUES);
}

static void add_transform_tags(tz_tag_list *tags, const tz_geo *geo)
{
    const double *t = geo->transform;
    double x = t[0];
    double y = t[3];
    if (geo->raster_type == TZ_RASTER_PIXEL_IS_POINT) {
        x = unshift_corner(x, t[1] * 0.5 + t[2] * 0.5);
        y = unshift_corner(y, t[4] * 0.5 + t[5] * 0.5);
    }
    if (is_north_up(t))
        add_scale_tags(tags, t, x, y);
    else
        add_matrix_tag(tags, t, x, y);
}

static void add_gcp_tag(tz_tag_list *tags, const tz_geo *geo)
{
    tz_gcp *list = tz_tag_list_alloc(tags, geo->gcp_count, sizeof *list);
    if (!list)
        return;
    memcpy(list, geo->gcps, geo->gcp_count * sizeof *list);
    const double half = geo->raster_type == TZ_RASTER_PIXEL_IS_POINT ? 0.5 : 0;
    for (uint32_t i = 0; i < geo->gcp_count; i++) {
        list[i].column -= half;
        list[i].row -= half;
    }
    tz_tag_list_add(tags, TZ_TAG_TIEPOINTS, TZ_TYPE_DOUBLE,
                    (uint64_t)geo->gcp_count * TZ_TIEPOINT_VALUES, list);
}

/* ---------------------------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------------------------ */

/* The three arrays, first counted, then filled. Memory is NULL while counting. */
typedef struct key_arrays {
    uint16_t *directory;
    uint32_t directory_count;
    double *doubles;
    uint32_t double_count;
    char *text;
    uint32_t text_size;
} key_arrays;

/* Copy to the end of an array and say where it went. */
static uint16_t append_key_values(void *array, uint32_t *used, const void *values, uint32_t count,
                                  size_t size)
{
    const uint32_t at = *used;
    if (array && count > 0)
        memcpy((char *)array + at * size, values, count * size);
    *used += count;
    return (uint16_t)at;
}

static void put_key_entry(key_arrays *out, const tz_geo_key *key,
                          uint16_t entry[TZ_GEO_KEY_ENTRY_VALUES])
{
    uint16_t tag = 0;
    uint16_t count = (uint16_t)key->count;
    uint16_t value = 0;
    if (key->type == TZ_TYPE_ASCII) {
        tag = TZ_TAG_GEO_ASCII;
        count++;
        value = append_key_values(out->text, &out->text_size, key->value.text, key->count, 1);
        append_key_values(out->text, &out->text_size, "|", 1, 1);
    } else if (key->type == TZ_TYPE_DOUBLE) {
        tag = TZ_TAG_GEO_DOUBLES;
        value = append_key_values(out->doubles, &out->double_count, key->value.doubles, count,
                                  sizeof(double));
    } else if (count == 1) {
        value = key->value.shorts[0];
    } else {
        tag = TZ_TAG_GEO_KEYS; /* behind the last entry */
        value = append_key_values(out->directory, &out->directory_count, key->value.shorts, count,
                                  sizeof(uint16_t));
    }
    const uint16_t fields[TZ_GEO_KEY_ENTRY_VALUES] = {key->id, tag, count, value};
    memcpy(entry, fields, sizeof fields);
}

static void put_key_entries(key_arrays *out, const tz_geo *geo)
{
    uint16_t unused[TZ_GEO_KEY_ENTRY_VALUES];
    out->directory_count = TZ_GEO_KEY_HEADER_VALUES + TZ_GEO_KEY_ENTRY_VALUES * geo->key_count;
    for (uint32_t i = 0; i < geo->key_count; i++) {
        uint16_t *entry = out->directory ? out->directory + TZ_GEO_KEY_HEADER_VALUES +
                                               (size_t)i * TZ_GEO_KEY_ENTRY_VALUES
                                         : unused;
        put_key_entry(out, &geo->keys[i], entry);
    }
}

static void add_key_tags(tz_tag_list *tags, const tz_geo *geo)
{
    key_arrays size = {0};
    key_arrays out = {0};
    put_key_entries(&size, geo);
    out.directory = tz_tag_list_alloc(tags, size.directory_count, sizeof *out.directory);
    out.doubles = tz_tag_list_alloc(tags, size.double_count, sizeof *out.doubles);
    out.text = tz_tag_list_alloc(tags, (size_t)size.text_size + 1, 1);
    if (tags->result != TZ_OK)
        return;
    put_key_entries(&out, geo);
    out.directory[0] = 1; /* the version of the directory */
    out.directory[1] = geo->key_revision;
    out.directory[2] = geo->key_minor;
    out.directory[3] = (uint16_t)geo->key_count;
    tz_tag_list_add(tags, TZ_TAG_GEO_KEYS, TZ_TYPE_SHORT, out.directory_count, out.directory);
    if (out.double_count > 0)
        tz_tag_list_add(tags, TZ_TAG_GEO_DOUBLES, TZ_TYPE_DOUBLE, out.double_count, out.doubles);
    if (out.text_size > 0)
        tz_tag_list_add(tags, TZ_TAG_GEO_ASCII, TZ_TYPE_ASCII, (uint64_t)out.text_size + 1,
                        out.text);
}

/* A directory without keys is written where a file had one. */
void tz_image_add_geo_tags(tz_tag_list *tags, const tz_geo *geo)
{
    if (!geo)
        return;
    if (geo->has_transform)
        add_transform_tags(tags, geo);
    else if (geo->gcp_count > 0)
        add_gcp_tag(tags, geo);
    if (geo->key_revision != 0)
        add_key_tags(tags, geo);
    if (geo->rpc)
        tz_tag_list_add(tags, TZ_TAG_RPC, TZ_TYPE_DOUBLE, TZ_RPC_VALUES, geo->rpc);
}
