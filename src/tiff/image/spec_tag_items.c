/* SPDX-License-Identifier: Apache-2.0
 * Items of metadata that are tags of TIFF or GeoKeys in a file: GDAL shows and sets DateTime as the
 * item TIFFTAG_DATETIME, and the type of the raster as AREA_OR_POINT.
 *
 * One row for each such tag gives the item its name, for readers too, and the field type that it is
 * written with. GDAL takes 0, or the digits that come first, of text that is not a number; here it
 * is an error. */
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "base/number.h"
#include "tiff/image/image_steps.h"
#include "tiff/image/spec_holder.h"
#include "tiff/tags.h"

enum { RESOLUTION_UNIT = 296 };

typedef struct tag_item {
    uint16_t tag;
    uint16_t type;
    const char *name;
} tag_item;

static const tag_item tag_items[] = {
    {269, TZ_TYPE_ASCII, "TIFFTAG_DOCUMENTNAME"},
    {270, TZ_TYPE_ASCII, "TIFFTAG_IMAGEDESCRIPTION"},
    {280, TZ_TYPE_SHORT, "TIFFTAG_MINSAMPLEVALUE"},
    {281, TZ_TYPE_SHORT, "TIFFTAG_MAXSAMPLEVALUE"},
    {282, TZ_TYPE_RATIONAL, "TIFFTAG_XRESOLUTION"},
    {283, TZ_TYPE_RATIONAL, "TIFFTAG_YRESOLUTION"},
    {RESOLUTION_UNIT, TZ_TYPE_SHORT, "TIFFTAG_RESOLUTIONUNIT"},
    {305, TZ_TYPE_ASCII, "TIFFTAG_SOFTWARE"},
    {306, TZ_TYPE_ASCII, "TIFFTAG_DATETIME"},
    {315, TZ_TYPE_ASCII, "TIFFTAG_ARTIST"},
    {316, TZ_TYPE_ASCII, "TIFFTAG_HOSTCOMPUTER"},
    {33432, TZ_TYPE_ASCII, "TIFFTAG_COPYRIGHT"},
    {50908, TZ_TYPE_ASCII, "TIFF_RSID"},
    {50909, TZ_TYPE_BYTE, "GEO_METADATA"},
};
static const char raster_type_item[] = "AREA_OR_POINT";

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *tz_tag_gdal_name(uint16_t tag)
{
    for (size_t i = 0; i < COUNT(tag_items); i++)
        if (tag_items[i].tag == tag)
            return tag_items[i].name;
    return NULL;
}

static const tag_item *find_tag_item(const char *name)
{
    for (size_t i = 0; i < COUNT(tag_items); i++)
        if (tz_names_are_equal(tag_items[i].name, name))
            return &tag_items[i];
    return NULL;
}

bool tz_item_is_of_tag(const tz_metadata_item *item)
{
    return item->band < 0 && item->domain[0] == '\0' && item->role[0] == '\0' &&
           (find_tag_item(item->name) || tz_names_are_equal(item->name, raster_type_item));
}

static tz_result fail_item_value(const tz_spec_edit *edit, const tz_metadata_item *item,
                                 const char *expected)
{
    return TZ_FAIL_ARG(&edit->ctx, "metadata item '%s': '%.64s' is not %s", item->name, item->value,
                       expected);
}

/* ---- values of tags ---- */

/* Finds the simplest fraction that is the number, or else the last of its continued fraction with
 * 32 bits above and below the line. */
static void find_fraction(double number, uint32_t out[2])
{
    double rest = number;
    uint64_t before[2] = {0, 1}, last[2] = {1, 0};
    for (;;) {
        const double whole = floor(rest);
        if (whole > UINT32_MAX)
            break;
        const uint64_t next[2] = {(uint64_t)whole * last[0] + before[0],
                                  (uint64_t)whole * last[1] + before[1]};
        if (next[0] > UINT32_MAX || next[1] > UINT32_MAX)
            break;
        memcpy(before, last, sizeof before);
        memcpy(last, next, sizeof last);
        if ((double)last[0] / (double)last[1] == number || rest == whole)
            break;
        rest = 1 / (rest - whole);
    }
    out[0] = (uint32_t)last[0];
    out[1] = (uint32_t)last[1];
}

static tz_result make_rational(tz_spec_edit *edit, const tz_metadata_item *item, tz_tag_value *tag)
{
    double number;
    uint32_t *fraction;
    if (!tz_parse_double(item->value, &number, NULL) || !(number >= 0) || number > UINT32_MAX)
        return fail_item_value(edit, item, "a number from 0 to 4294967295");
    TZ_TRY(tz_spec_edit_alloc(edit, 2, sizeof *fraction, &fraction));
    find_fraction(number, fraction);
    if (number > 0 && fraction[0] == 0)
        return fail_item_value(edit, item, "a number that a fraction of 32 bits can be");
    tag->data = fraction;
    tag->count = 1;
    return TZ_OK;
}

/* Parses what GDAL prints as well: the number, and its meaning after it in brackets. */
static bool parse_unit(const char *text, uint64_t *unit)
{
    const size_t size = strlen(text);
    const bool remark = size > 3 && text[1] == ' ' && text[2] == '(' && text[size - 1] == ')';
    *unit = (uint64_t)(text[0] - '0');
    return text[0] >= '1' && text[0] <= '3' && (size == 1 || remark);
}

/* Extremes are those of each band. */
static tz_result make_shorts(tz_spec_edit *edit, const tz_metadata_item *item, tz_tag_value *tag)
{
    uint64_t number;
    uint16_t *shorts;
    const uint32_t bands = edit->next.bands;
    tag->count = 1;
    if (tag->tag == RESOLUTION_UNIT) {
        if (!parse_unit(item->value, &number))
            return fail_item_value(edit, item, "1 (unitless), 2 (pixels/inch) or 3 (pixels/cm)");
    } else {
        if (!tz_parse_uint64(item->value, &number) || number > UINT16_MAX)
            return fail_item_value(edit, item, "a whole number from 0 to 65535");
        tag->count = bands > 0 ? bands : 1;
    }
    TZ_TRY(tz_spec_edit_alloc(edit, tag->count, sizeof *shorts, &shorts));
    for (uint64_t i = 0; i < tag->count; i++)
        shorts[i] = (uint16_t)number;
    tag->data = shorts;
    return TZ_OK;
}

static tz_result make_text(tz_spec_edit *edit, const tz_metadata_item *item, tz_tag_value *tag)
{
    const size_t size = strlen(item->value);
    tag->data = tz_arena_text(&edit->holder->arena, item->value, size);
    if (!tag->data)
        return tz_fail_nomem(&edit->ctx, size + 1);
    tag->count = size + (tag->type == TZ_TYPE_ASCII); /* its NUL is counted */
    return TZ_OK;
}

static tz_result set_tag(tz_spec_edit *edit, const tz_metadata_item *item, const tag_item *row)
{
    tz_image_spec *next = &edit->next;
    tz_tag_value tag = TZ_TAG_VALUE_INIT;
    tz_tag_value *tags;
    TZ_TRY(tz_spec_edit_drop_tags(edit, &row->tag, 1));
    if (!item->value)
        return TZ_OK;
    tag.tag = row->tag;
    tag.type = row->type;
    if (row->type == TZ_TYPE_RATIONAL)
        TZ_TRY(make_rational(edit, item, &tag));
    else if (row->type == TZ_TYPE_SHORT)
        TZ_TRY(make_shorts(edit, item, &tag));
    else
        TZ_TRY(make_text(edit, item, &tag));
    TZ_TRY(tz_spec_edit_alloc(edit, (uint64_t)next->tag_count + 1, sizeof *tags, &tags));
    if (next->tag_count > 0)
        memcpy(tags, next->tags, next->tag_count * sizeof *tags);
    tags[next->tag_count++] = tag;
    next->tags = tags;
    return TZ_OK;
}

/* ---- the type of the raster ---- */

/* Replaces the key among those that are given; 0: none. The transform stays, because it is that of
 * corners in any case. */
static tz_result set_raster_type_key(tz_spec_edit *edit, tz_geo *geo, tz_raster_type type)
{
    static const uint16_t values[] = {0, TZ_RASTER_TYPE_AREA, TZ_RASTER_TYPE_POINT};
    const tz_geo_key key = {TZ_KEY_RASTER_TYPE, TZ_TYPE_SHORT, 1, {.shorts = &values[type]}};
    bool placed = type == TZ_RASTER_TYPE_UNDEFINED;
    uint32_t kept = 0;
    tz_geo_key *keys;
    if (!geo->keys)
        return TZ_FAIL_ARG(&edit->ctx, "spec->geo->keys is NULL, although its count is %u",
                           geo->key_count);
    TZ_TRY(tz_spec_edit_alloc(edit, (uint64_t)geo->key_count + 1, sizeof *keys, &keys));
    for (uint32_t i = 0; i < geo->key_count; i++) {
        if (!placed && geo->keys[i].id >= key.id) {
            keys[kept++] = key;
            placed = true;
        }
        if (geo->keys[i].id != key.id)
            keys[kept++] = geo->keys[i];
    }
    if (!placed)
        keys[kept++] = key;
    geo->keys = keys;
    geo->key_count = kept;
    return TZ_OK;
}

static tz_result set_raster_type(tz_spec_edit *edit, const tz_metadata_item *item)
{
    tz_geo *geo;
    tz_raster_type type = TZ_RASTER_TYPE_UNDEFINED;
    if (item->value &&
        (!tz_raster_type_from_name(&type, item->value) || type == TZ_RASTER_TYPE_UNDEFINED))
        return fail_item_value(edit, item, "Area or Point");
    TZ_TRY(tz_spec_edit_geo(edit, &geo));
    geo->raster_type = type;
    if (geo->key_count > 0)
        TZ_TRY(set_raster_type_key(edit, geo, type));
    else if (geo->epsg == 0 && type == TZ_RASTER_TYPE_AREA)
        geo->raster_type = TZ_RASTER_TYPE_UNDEFINED; /* areas need no key */
    tz_spec_edit_leave_out_empty_geo(edit);
    return TZ_OK;
}

tz_result tz_spec_edit_set_tag_item(tz_spec_edit *edit, const tz_metadata_item *item)
{
    const tag_item *row = find_tag_item(item->name);
    tz_metadata_item *items;
    uint32_t kept = 0;
    TZ_TRY(row ? set_tag(edit, item, row) : set_raster_type(edit, item));
    TZ_TRY(tz_spec_edit_copy_items(edit, &items));
    for (uint32_t i = 0; i < edit->next.metadata_count; i++) {
        const tz_metadata_item *old = &items[i];
        const bool same = old->band < 0 && (!old->domain || old->domain[0] == '\0') &&
                          tz_item_has_role(old, "") && tz_names_are_equal(old->name, item->name);
        if (!same)
            items[kept++] = *old;
    }
    edit->next.metadata_count = kept;
    return TZ_OK;
}
