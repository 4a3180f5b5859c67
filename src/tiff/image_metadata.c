/* SPDX-License-Identifier: Apache-2.0
 * Tag GDAL_METADATA of an image to be written: items, checked and in the order of bands, as the XML
 * that GDAL writes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"
#include "tiff/image_parts.h"
#include "tiff/metadata.h"
#include "tiff/tags.h"

/* ---------------------------------------------------------------------------------------------
 * Checks
 * ------------------------------------------------------------------------------------------ */

/* Characters that XML can carry; lines only in values. */
static bool is_clean(const char *text, bool lines)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t left = strlen(text);
    while (left > 0) {
        uint32_t code;
        const size_t size = tz_utf8_decode(at, left, &code);
        const bool line = code == '\n' || code == '\t' || code == '\r';
        if (size == 0 || (code < 0x20 && !(lines && line)) || code == 0xFFFE || code == 0xFFFF)
            return false;
        at += size;
        left -= size;
    }
    return true;
}

static bool is_number_role(const char *role)
{
    return strcmp(role, "scale") == 0 || strcmp(role, "offset") == 0;
}

static tz_result check_item(const tz_metadata_item *item, uint32_t bands, const tz_context *ctx)
{
    double number;
    const char *name = item->name;
    if (!is_clean(name, false) || !is_clean(item->domain, false) || !is_clean(item->role, false))
        return TZ_REFUSE(ctx,
                         "metadata item '%.64s': its name, domain or role has control characters, "
                         "or is not UTF-8",
                         name);
    if (!is_clean(item->value, true))
        return TZ_REFUSE(
            ctx, "metadata item '%.64s': its value has control characters, or is not UTF-8", name);
    if (item->value[0] == '\0')
        return TZ_REFUSE(ctx, "metadata item '%.64s' has no value", name);
    if (item->band < -1 || (item->band >= 0 && (uint32_t)item->band >= bands))
        return TZ_REFUSE(ctx, "metadata item '%.64s' is for band %" PRId32 ", and the image has %u",
                         name, item->band, bands);
    if (is_number_role(item->role) &&
        !(tz_parse_double(item->value, &number, NULL) && isfinite(number)))
        return TZ_REFUSE(ctx, "metadata item '%.64s' has role %s, and '%.32s' is no number", name,
                         item->role, item->value);
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * XML: written twice, first to count
 * ------------------------------------------------------------------------------------------ */

typedef struct xml {
    char *out; /* NULL: count */
    uint64_t size;
} xml;

static void put_bytes(xml *x, const char *text, size_t size)
{
    if (x->out)
        memcpy(x->out + x->size, text, size);
    x->size += size;
}

static void put(xml *x, const char *text)
{
    put_bytes(x, text, strlen(text));
}

/* What stands for a character within XML; NULL: itself. */
static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\r':
        return "&#13;";
    default:
        return NULL;
    }
}

static void put_attribute(xml *x, const char *name, const char *value)
{
    put(x, " ");
    put(x, name);
    put(x, "=\"");
    for (; *value; value++) {
        const char *escaped = entity(*value);
        if (escaped)
            put(x, escaped);
        else
            put_bytes(x, value, 1);
    }
    put(x, "\"");
}

/* Escaped twice, as GDAL does and undoes it: the first escape is text like any other for the
 * second. A space at the front is escaped too, which GDAL would lose. */
static void put_value(xml *x, const char *value)
{
    static const struct {
        char space;
        const char *escaped;
    } fronts[] = {{' ', "&amp;#32;"}, {'\t', "&amp;#9;"}, {'\n', "&amp;#10;"}};
    for (size_t i = 0; i < sizeof fronts / sizeof fronts[0]; i++) {
        if (value[0] == fronts[i].space) {
            put(x, fronts[i].escaped);
            value++;
            break;
        }
    }
    for (; *value; value++) {
        const char *once = entity(*value);
        if (once) {
            put(x, "&amp;");
            put(x, once + 1);
        } else {
            put_bytes(x, value, 1);
        }
    }
}

static void put_item(xml *x, const tz_metadata_item *item, bool document)
{
    char sample[16];
    put(x, "  <Item");
    put_attribute(x, "name", item->name);
    if (item->band >= 0) {
        snprintf(sample, sizeof sample, "%" PRId32, item->band);
        put_attribute(x, "sample", sample);
    }
    if (item->role[0] != '\0')
        put_attribute(x, "role", item->role);
    if (item->domain[0] != '\0')
        put_attribute(x, "domain", item->domain);
    put(x, ">");
    if (document)
        put(x, item->value);
    else
        put_value(x, item->value);
    put(x, "</Item>\n");
}

/* ---------------------------------------------------------------------------------------------
 * Statistics
 * ------------------------------------------------------------------------------------------ */

static const char *const statistics_names[] = {
    "STATISTICS_APPROXIMATE", "STATISTICS_MAXIMUM", "STATISTICS_MEAN",
    "STATISTICS_MINIMUM",     "STATISTICS_STDDEV",  "STATISTICS_VALID_PERCENT"};

static bool is_statistic(const tz_metadata_item *item)
{
    if (item->domain[0] != '\0' || item->band < 0)
        return false;
    for (size_t i = 0; i < sizeof statistics_names / sizeof statistics_names[0]; i++)
        if (strcmp(item->name, statistics_names[i]) == 0)
            return true;
    return false;
}

static void put_statistics(xml *x, const tz_image *image, const tz_statistics *band, int32_t index)
{
    const double pixels = (double)image->spec.width * image->spec.height;
    const double values[] = {band->maximum, band->mean, band->minimum, band->deviation};
    char text[32];
    tz_metadata_item item = {.domain = "", .name = "", .value = text, .role = "", .band = index};
    if (band->valid == 0)
        return;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        item.name = statistics_names[i + 1];
        tz_format_double(values[i], text, sizeof text);
        put_item(x, &item, false);
    }
    item.name = statistics_names[5];
    tz_format_double(100 * (double)band->valid / pixels, text, sizeof text);
    put_item(x, &item, false);
}

/* ---------------------------------------------------------------------------------------------
 * The document
 * ------------------------------------------------------------------------------------------ */

/* The items of one band (-1: of the image) from *next on; those that statistics replace are left
 * out. */
static void put_band(xml *x, const tz_image *image, int32_t band, bool replaced, uint32_t *next)
{
    const tz_image_spec *spec = &image->spec;
    for (; *next < spec->metadata_count && spec->metadata[*next].band == band; ++*next) {
        const tz_metadata_item *item = &spec->metadata[*next];
        if (!replaced || !is_statistic(item))
            put_item(x, item, image->documents[*next]);
    }
}

static void put_document(xml *x, const tz_image *image, const tz_statistics *statistics)
{
    uint32_t next = 0;
    x->size = 0;
    put(x, "<GDALMetadata>\n");
    put_band(x, image, -1, false, &next);
    for (uint32_t band = 0; band < image->spec.bands; band++) {
        put_band(x, image, (int32_t)band, statistics != NULL, &next);
        if (statistics)
            put_statistics(x, image, &statistics[band], (int32_t)band);
    }
    put(x, "</GDALMetadata>\n");
}

/* The length of the document, the closing NUL not counted; 0: there are no items. */
static tz_result measure(const tz_image *image, const tz_statistics *statistics,
                         const tz_context *ctx, uint64_t *size)
{
    static const size_t empty = sizeof "<GDALMetadata>\n</GDALMetadata>\n" - 1;
    xml x = {0};
    put_document(&x, image, statistics);
    *size = x.size > empty ? x.size : 0;
    return tz_check_limit(ctx, offsetof(tz_limits, max_xml_bytes), tz_at_nowhere(), *size + 1,
                          "bytes of GDAL metadata");
}

void tz_image_add_metadata(tz_tag_list *tags, const tz_image *image,
                           const tz_statistics *statistics)
{
    uint64_t size;
    if (tags->result == TZ_OK)
        tags->result = measure(image, statistics, tags->ctx, &size);
    if (tags->result != TZ_OK || size == 0)
        return;
    xml x = {.out = tz_tag_list_room(tags, (size_t)size + 1, 1)};
    if (!x.out)
        return;
    put_document(&x, image, statistics);
    tz_tag_list_add(tags, TZ_TAG_GDAL_METADATA, TZ_TYPE_ASCII, size + 1, x.out);
}

/* ---------------------------------------------------------------------------------------------
 * Copies
 * ------------------------------------------------------------------------------------------ */

/* What a reader makes of an item with this value as markup. */
static tz_result read_back(const char *value, const tz_context *ctx, tz_metadata *out)
{
    static const char front[] = "<GDALMetadata><Item name=\"x\">";
    static const char back[] = "</Item></GDALMetadata>";
    tz_metadata_parser *parser;
    const size_t size = strlen(value);
    TZ_TRY(tz_metadata_begin(&parser, sizeof front + size + sizeof back, 1, ctx));
    tz_result result = tz_metadata_feed(parser, front, sizeof front - 1);
    if (result == TZ_OK)
        result = tz_metadata_feed(parser, value, size);
    if (result == TZ_OK)
        result = tz_metadata_feed(parser, back, sizeof back - 1);
    const tz_result finished = tz_metadata_finish(parser, result == TZ_OK, out);
    return result != TZ_OK ? result : finished;
}

/* Domains named xml: hold a document, which stands in the XML as it is, where a reader gets it back
 * like that. Else it is text. */
static tz_result is_document(const tz_metadata_item *item, const tz_context *ctx, bool *out)
{
    tz_context quiet = *ctx;
    tz_metadata read = {0};
    tz_metadata_item back;
    *out = false;
    if (strncmp(item->domain, "xml:", 4) != 0 || item->value[0] != '<')
        return TZ_OK;
    quiet.warnings = NULL;
    quiet.strict = false;
    const tz_result result = read_back(item->value, &quiet, &read);
    *out = result == TZ_OK && read.count == 1 && tz_metadata_at(&read, 0, &back) &&
           strcmp(back.value, item->value) == 0;
    tz_metadata_deinit(&read);
    return result;
}

/* By band, then as they were given: the pointers go into one array. */
static int by_band(const void *a, const void *b)
{
    const tz_metadata_item *const *x = a;
    const tz_metadata_item *const *y = b;
    if ((*x)->band != (*y)->band)
        return (*x)->band < (*y)->band ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static bool copy_text(tz_image *image, const char **text)
{
    *text = tz_arena_text(&image->arena, *text, strlen(*text));
    return *text != NULL;
}

static tz_result copy_item(tz_image *image, tz_metadata_item *item, bool *document,
                           const tz_context *ctx)
{
    if (!item->name || !item->value)
        return TZ_REFUSE(ctx, "a metadata item has no name, or no value");
    if (!item->domain)
        item->domain = "";
    if (!item->role)
        item->role = "";
    TZ_TRY(check_item(item, image->spec.bands, ctx));
    TZ_TRY(is_document(item, ctx, document));
    if (copy_text(image, &item->domain) && copy_text(image, &item->name) &&
        copy_text(image, &item->value) && copy_text(image, &item->role))
        return TZ_OK;
    return tz_fail_nomem(ctx, 1);
}

static tz_result copy_items(tz_image *image, const tz_metadata_item **order, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    tz_metadata_item *items = tz_arena_array(&image->arena, spec->metadata_count, sizeof *items);
    image->documents = tz_arena_array(&image->arena, spec->metadata_count, sizeof(bool));
    if (!items || !image->documents)
        return tz_fail_nomem(ctx, spec->metadata_count * (sizeof *items + 1));
    for (uint32_t i = 0; i < spec->metadata_count; i++)
        order[i] = &spec->metadata[i];
    qsort(order, spec->metadata_count, sizeof *order, by_band);
    for (uint32_t i = 0; i < spec->metadata_count; i++) {
        items[i] = *order[i];
        TZ_TRY(copy_item(image, &items[i], &image->documents[i], ctx));
    }
    spec->metadata = items;
    return TZ_OK;
}

tz_result tz_image_take_metadata(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    uint64_t size;
    if (spec->metadata_count == 0)
        return TZ_OK;
    if (!spec->metadata)
        return TZ_REFUSE(ctx, "spec->metadata is NULL, although its count is %u",
                         spec->metadata_count);
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_metadata_items), tz_at_nowhere(),
                          spec->metadata_count, "items of metadata"));
    const tz_metadata_item **order = tz_alloc_array(spec->metadata_count, sizeof *order);
    if (!order)
        return tz_fail_nomem(ctx, spec->metadata_count * sizeof *order);
    const tz_result result = copy_items(image, order, ctx);
    tz_free(order);
    TZ_TRY(result);
    return measure(image, NULL, ctx, &size);
}
