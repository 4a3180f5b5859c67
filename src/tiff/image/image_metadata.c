/* SPDX-License-Identifier: Apache-2.0
 * Tag GDAL_METADATA of an image to be written: items, checked and in the order of bands, as the XML
 * that GDAL writes.
 *
 * tz_image_resolve_metadata copies and sorts the items before the file is created. The document is
 * made when the directory is written, because statistics are known only then: it is written twice
 * by the same functions, first to count its bytes. Values are escaped twice, as GDAL does. Items of
 * statistics and of the order of tiles are true of one file only: those of the source are replaced
 * or left out. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"
#include "tiff/image/image_steps.h"
#include "tiff/tags.h"

/* ---- characters ---- */

/* True for characters that XML can carry; line ends are allowed in values only. */
static bool is_xml_text(const char *text, bool lines)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t left = strlen(text);
    while (left > 0) {
        uint32_t code;
        const size_t size = tz_utf8_decode(at, left, &code);
        if (size == 0 || code == 0xFFFE || code == 0xFFFF)
            return false;
        if (code < 0x20 && !(lines && (code == '\n' || code == '\t' || code == '\r')))
            return false;
        at += size;
        left -= size;
    }
    return true;
}

/* ---- XML ---- */

/* A document that is counted or written, by the same calls. */
typedef struct xml_output {
    char *out; /* NULL: only count */
    uint64_t size;
} xml_output;

static void put_xml_bytes(xml_output *x, const char *text, size_t size)
{
    if (x->out)
        memcpy(x->out + x->size, text, size);
    x->size += size;
}

static void put_xml(xml_output *x, const char *text)
{
    put_xml_bytes(x, text, strlen(text));
}

/* Returns the escape of a character in XML; NULL: none is needed. */
static const char *xml_entity(char c)
{
    static const char *const entities[] = {
        ['\r'] = "&#13;", ['"'] = "&quot;", ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;"};
    const unsigned char index = (unsigned char)c;
    return index < sizeof entities / sizeof entities[0] ? entities[index] : NULL;
}

static void put_xml_attribute(xml_output *x, const char *name, const char *value)
{
    put_xml(x, " ");
    put_xml(x, name);
    put_xml(x, "=\"");
    for (; *value; value++) {
        const char *escaped = xml_entity(*value);
        if (escaped)
            put_xml(x, escaped);
        else
            put_xml_bytes(x, value, 1);
    }
    put_xml(x, "\"");
}

/* Puts an item with its attributes in GDAL's order. Empty attributes are left out. */
static void put_metadata_item(xml_output *x, const tz_metadata_item *item)
{
    char sample[16];
    put_xml(x, "  <Item");
    put_xml_attribute(x, "name", item->name);
    if (item->band >= 0) {
        snprintf(sample, sizeof sample, "%" PRId32, item->band);
        put_xml_attribute(x, "sample", sample);
    }
    if (item->role[0] != '\0')
        put_xml_attribute(x, "role", item->role);
    if (item->domain[0] != '\0')
        put_xml_attribute(x, "domain", item->domain);
    put_xml(x, ">");
    for (const char *value = item->value; *value; value++) {
        const char *once = xml_entity(*value);
        if (once) { /* the ampersand of the first escape is escaped again */
            put_xml(x, "&amp;");
            put_xml(x, once + 1);
        } else {
            put_xml_bytes(x, value, 1);
        }
    }
    put_xml(x, "</Item>\n");
}

/* ---- statistics ---- */

static const char *const statistics_names[] = {
    "STATISTICS_APPROXIMATE", "STATISTICS_MAXIMUM", "STATISTICS_MEAN",
    "STATISTICS_MINIMUM",     "STATISTICS_STDDEV",  "STATISTICS_VALID_PERCENT"};

enum { STATISTICS_PER_BAND = 5, MAX_STATISTIC_BYTES = 96 }; /* of a band, and bytes of one as XML */

/* Items of a band that statistics replace: those of the source would contradict the new pixels. */
static bool is_statistics_item(const tz_metadata_item *item)
{
    if (item->domain[0] != '\0' || item->band < 0)
        return false;
    for (size_t i = 0; i < sizeof statistics_names / sizeof statistics_names[0]; i++)
        if (strcmp(item->name, statistics_names[i]) == 0)
            return true;
    return false;
}

static void put_band_statistics(xml_output *x, const tz_image *image, const tz_statistics *band,
                                int32_t index)
{
    const double pixels = (double)image->spec.width * image->spec.height;
    const double values[STATISTICS_PER_BAND] = {band->maximum, band->mean, band->minimum,
                                                band->stddev,
                                                100 * (double)band->valid_count / pixels};
    char text[32];
    tz_metadata_item item = {.domain = "", .name = "", .value = text, .role = "", .band = index};
    if (band->valid_count == 0)
        return;
    for (size_t i = 0; i < STATISTICS_PER_BAND; i++) {
        item.name = statistics_names[i + 1]; /* all but APPROXIMATE: every pixel was counted */
        tz_format_double(values[i], text, sizeof text);
        put_metadata_item(x, &item);
    }
}

/* ---- the document ---- */

/* GDAL's item for an order of tiles that TIFF's planar configuration cannot express. It is true of
 * this file only, so that the one of the source is left out. */
static const tz_metadata_item tile_interleave = {
    .domain = "IMAGE_STRUCTURE", .name = "INTERLEAVE", .value = "TILE", .role = "", .band = -1};

/* Writes the items of one band (-1: of the image) from *next on, without those that statistics
 * replace. */
static void put_band_items(xml_output *x, const tz_image *image, int32_t band, bool replaced,
                           uint32_t *next)
{
    const tz_image_spec *spec = &image->spec;
    for (; *next < spec->metadata_count && spec->metadata[*next].band == band; ++*next) {
        const tz_metadata_item *item = &spec->metadata[*next];
        const bool is_interleave = strcmp(item->domain, tile_interleave.domain) == 0 &&
                                   strcmp(item->name, tile_interleave.name) == 0;
        if (!is_interleave && (!replaced || !is_statistics_item(item)))
            put_metadata_item(x, item);
    }
}

/* Items are sorted by band, so that one pass puts each band's items before its statistics. */
static void put_metadata_document(xml_output *x, const tz_image *image,
                                  const tz_statistics *statistics)
{
    uint32_t next = 0;
    x->size = 0;
    const tz_write_options *options = &image->options;
    put_xml(x, "<GDALMetadata>\n");
    if (options->cog && options->interleave == TZ_INTERLEAVE_TILE && image->planes > 1)
        put_metadata_item(x, &tile_interleave);
    put_band_items(x, image, -1, false, &next);
    for (uint32_t band = 0; band < image->spec.bands; band++) {
        put_band_items(x, image, (int32_t)band, statistics != NULL, &next);
        if (statistics)
            put_band_statistics(x, image, &statistics[band], (int32_t)band);
    }
    put_xml(x, "</GDALMetadata>\n");
}

/* Returns the size of the document without its closing NUL; 0 without items. */
static uint64_t metadata_document_size(const tz_image *image, const tz_statistics *statistics)
{
    static const size_t empty = sizeof "<GDALMetadata>\n</GDALMetadata>\n" - 1;
    xml_output x = {0};
    put_metadata_document(&x, image, statistics);
    return x.size > empty ? x.size : 0;
}

void tz_image_add_metadata_tag(tz_tag_list *tags, const tz_image *image,
                               const tz_statistics *statistics)
{
    const uint64_t size = metadata_document_size(image, statistics);
    if (size == 0)
        return;
    xml_output x = {.out = tz_tag_list_alloc(tags, (size_t)size + 1, 1)};
    if (!x.out)
        return;
    put_metadata_document(&x, image, statistics);
    tz_tag_list_add(tags, TZ_TAG_GDAL_METADATA, TZ_TYPE_ASCII, size + 1, x.out);
}

/* ---- copies ---- */

/* Orders by band, then as given: the pointers lead into one array. */
static int compare_item_bands(const void *a, const void *b)
{
    const tz_metadata_item *const *x = a;
    const tz_metadata_item *const *y = b;
    if ((*x)->band != (*y)->band)
        return (*x)->band < (*y)->band ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static bool copy_item_text(tz_image *image, const char **text)
{
    *text = tz_arena_text(&image->arena, *text, strlen(*text));
    return *text != NULL;
}

tz_result tz_check_metadata_item(tz_metadata_item *item, uint32_t bands, const tz_context *ctx)
{
    const char *name = item->name;
    double number;
    if (!name || !item->value)
        return TZ_FAIL_ARG(ctx, "a metadata item has no name, or no value");
    if (!item->domain)
        item->domain = "";
    if (!item->role)
        item->role = "";
    if (!is_xml_text(name, false) || !is_xml_text(item->domain, false) ||
        !is_xml_text(item->role, false))
        return TZ_FAIL_ARG(
            ctx,
            "metadata item '%.64s': its name, domain or role has control characters, "
            "or is not UTF-8",
            name);
    if (!is_xml_text(item->value, true))
        return TZ_FAIL_ARG(
            ctx, "metadata item '%.64s': its value has control characters, or is not UTF-8", name);
    if (item->value[0] == '\0')
        return TZ_FAIL_ARG(ctx, "metadata item '%.64s' has no value", name);
    if (item->band < -1 || (item->band >= 0 && (uint32_t)item->band >= bands))
        return TZ_FAIL_ARG(ctx,
                           "metadata item '%.64s' is for band %" PRId32 ", and the image has %u",
                           name, item->band, bands);
    if ((strcmp(item->role, "scale") == 0 || strcmp(item->role, "offset") == 0) &&
        !(tz_parse_double(item->value, &number, NULL) && isfinite(number)))
        return TZ_FAIL_ARG(ctx, "metadata item '%.64s' has role %s, and '%.32s' is not a number",
                           name, item->role, item->value);
    return TZ_OK;
}

/* Checks an item, and replaces its texts by copies. */
static tz_result copy_metadata_item(tz_image *image, tz_metadata_item *item, const tz_context *ctx)
{
    TZ_TRY(tz_check_metadata_item(item, image->spec.bands, ctx));
    if (copy_item_text(image, &item->domain) && copy_item_text(image, &item->name) &&
        copy_item_text(image, &item->value) && copy_item_text(image, &item->role))
        return TZ_OK;
    return tz_fail_nomem(ctx, 1);
}

/* The order is found in temporary memory; the arena gets the items only. */
static tz_result copy_metadata_items(tz_image *image, const tz_context *ctx)
{
    tz_image_spec *spec = &image->spec;
    const uint32_t count = spec->metadata_count;
    tz_metadata_item *given = tz_alloc_array(count, sizeof *given);
    const tz_metadata_item **order = tz_alloc_array(count, sizeof *order);
    tz_metadata_item *items = tz_arena_array(&image->arena, count, sizeof *items);
    tz_result result = given && order && items
                           ? tz_copy_elements(given, sizeof *given, spec->metadata, count,
                                              "spec->metadata", "TZ_METADATA_ITEM_INIT", ctx)
                           : tz_fail_nomem(ctx, count * (sizeof *given + sizeof *order));
    for (uint32_t i = 0; i < count && result == TZ_OK; i++)
        order[i] = &given[i];
    if (result == TZ_OK)
        qsort(order, count, sizeof *order, compare_item_bands);
    for (uint32_t i = 0; i < count && result == TZ_OK; i++) {
        items[i] = *order[i];
        result = copy_metadata_item(image, &items[i], ctx);
    }
    if (result == TZ_OK)
        spec->metadata = items;
    tz_free(order);
    tz_free(given);
    return result;
}

/* Checks the default limits of readers; statistics, which come later, count with their maximum. */
tz_result tz_image_resolve_metadata(tz_image *image, const tz_context *ctx)
{
    const uint64_t bands = image->options.statistics_items ? image->spec.bands : 0;
    const uint64_t statistics = bands * STATISTICS_PER_BAND;
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_metadata_items), tz_no_location(),
                          image->spec.metadata_count, "items of metadata"));
    if (image->spec.metadata_count > 0)
        TZ_TRY(copy_metadata_items(image, ctx));
    TZ_TRY(tz_check_limit(ctx, offsetof(tz_limits, max_metadata_items), tz_no_location(),
                          image->spec.metadata_count + statistics, "items of metadata"));
    return tz_check_limit(ctx, offsetof(tz_limits, max_xml_bytes), tz_no_location(),
                          metadata_document_size(image, NULL) + 1 +
                              statistics * MAX_STATISTIC_BYTES,
                          "bytes of GDAL metadata");
}
