/* SPDX-License-Identifier: Apache-2.0
 * Items of metadata as they are read: their strings and entries in the one block of the parser (see
 * metadata_parser.h for its layout), and the escapes that remain in their values.
 *
 * A reader begins an item, which stores its name, appends the value in as many pieces as it comes
 * in, and ends the item, which stores its entry. An item that turns out to be unusable is undone by
 * cutting the pool at its name. GDAL escapes the values of the tag twice; an XML parser reverts one
 * of the escapes, and the end of the item reverts the other. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tiff/gdal/metadata_parser.h"
#include "tiff/tags.h"

tz_location tz_metadata_at(const tz_metadata_parser *parser)
{
    return parser->aux ? tz_no_location() : tz_at_tag(TZ_TAG_GDAL_METADATA, TZ_NO_VALUE);
}

tz_result tz_metadata_drop(tz_metadata_parser *parser, tz_result result)
{
    parser->result = result;
    parser->ended = true;
    parser->dropped = true;
    return result;
}

void tz_metadata_drop_if_failed(tz_metadata_parser *parser, tz_result result)
{
    if (result != TZ_OK)
        tz_metadata_drop(parser, result);
}

bool tz_metadata_exceeds(tz_metadata_parser *parser, size_t limit_offset, uint64_t value,
                         const char *what)
{
    uint64_t limit;
    memcpy(&limit, (const char *)parser->ctx.limits + limit_offset, sizeof limit);
    if (value > limit) /* the location is looked up only then: this runs for every element */
        tz_metadata_drop(parser,
                         tz_check_soft_limit(&parser->ctx, limit_offset, tz_metadata_at(parser),
                                             value, what, what, &(bool){true}));
    return value > limit;
}

/* ---- the block ---- */

/* Entries grow from the end of the block towards the strings. False only if the reckoning of
 * metadata_parser.h is wrong, or after the metadata was dropped. */
static bool has_free_bytes(tz_metadata_parser *parser, size_t size)
{
    if (parser->dropped)
        return false;
    if (size <= parser->block_size - parser->count * sizeof(tz_metadata_entry) - parser->pool_size)
        return true;
    tz_metadata_drop(parser, tz_fail(&parser->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL,
                                     tz_metadata_at(parser),
                                     "metadata needs more memory than its XML has bytes"));
    return false;
}

void tz_metadata_append(tz_metadata_parser *parser, const char *text, size_t size)
{
    if (!has_free_bytes(parser, size))
        return;
    memcpy(parser->block + parser->pool_size, text, size);
    parser->pool_size += (uint32_t)size;
}

/* Few domains and roles are in use, so that a short list finds them; text that is not in the list
 * when it is full is stored again. */
uint32_t tz_metadata_intern(tz_metadata_parser *parser, const char *text)
{
    const size_t size = strlen(text) + 1;
    if (size == 1)
        return 0;
    for (uint32_t i = 0; i < parser->interned_count; i++)
        if (parser->interned[i].size == size &&
            memcmp(parser->block + parser->interned[i].offset, text, size) == 0)
            return parser->interned[i].offset;
    const uint32_t offset = parser->pool_size;
    tz_metadata_append(parser, text, size);
    if (parser->interned_count < TZ_MAX_INTERNED && !parser->dropped) {
        parser->interned[parser->interned_count].offset = offset;
        parser->interned[parser->interned_count++].size = (uint32_t)size;
    }
    return offset;
}

int tz_metadata_compare_entries(const void *a, const void *b)
{
    const tz_metadata_entry *x = a;
    const tz_metadata_entry *y = b;
    if (x->band != y->band)
        return x->band < y->band ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* ---- items ---- */

const char *tz_metadata_attribute(const char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

/* Stores the name right away: item_start remembers its offset, for undoing the item. */
void tz_metadata_begin_item(tz_metadata_parser *parser, const char *name, uint32_t domain,
                            const char *role, int32_t band)
{
    parser->item.domain = domain;
    parser->item.role = tz_metadata_intern(parser, role);
    parser->item.band = band;
    parser->item.name = parser->pool_size;
    parser->item_start = parser->pool_size;
    parser->item_depth = parser->depth;
    parser->item_raw = false;
    parser->item_is_document = false;
    tz_metadata_append(parser, name, strlen(name) + 1);
    parser->value = parser->pool_size;
}

/* An item without a name says nothing. `sample` is the band, counted from 0. */
void tz_metadata_begin_tag_item(tz_metadata_parser *parser, const char **attributes)
{
    const char *name = tz_metadata_attribute(attributes, "name");
    const char *domain = tz_metadata_attribute(attributes, "domain");
    const char *sample = tz_metadata_attribute(attributes, "sample");
    const char *role = tz_metadata_attribute(attributes, "role");
    uint64_t band = 0;
    if (!name)
        return;
    if (sample && (!tz_parse_uint64(sample, &band) || band >= parser->bands)) {
        tz_metadata_drop_if_failed(
            parser,
            TZ_METADATA_WARN(parser,
                             "an item is for sample '%.32s', and the image has %lu; it is left out",
                             sample, (unsigned long)parser->bands));
        return;
    }
    const uint32_t offset = tz_metadata_intern(parser, domain ? domain : "");
    tz_metadata_begin_item(parser, name, offset, role ? role : "", sample ? (int32_t)band : -1);
}

/* Scale and offset must be numbers. An item that cannot be used is undone by cutting the pool. */
void tz_metadata_end_item(tz_metadata_parser *parser)
{
    parser->item_depth = 0;
    if (parser->dropped)
        return;
    const char *value = parser->block + parser->value;
    const char *role = parser->block + parser->item.role;
    size_t size = parser->pool_size - parser->value;
    bool usable = false;
    double number;
    if (!parser->item_raw && !parser->aux) /* values of the file are escaped only once */
        size = tz_xml_unescape(parser->block + parser->value, size);
    parser->pool_size = parser->value + (uint32_t)size;
    tz_metadata_append(parser, "", 1);
    if (size > 0 && !parser->dropped) {
        usable = (strcmp(role, "scale") != 0 && strcmp(role, "offset") != 0) ||
                 (tz_parse_double(value, &number, NULL) && isfinite(number));
        if (!usable)
            tz_metadata_drop_if_failed(
                parser,
                TZ_METADATA_WARN(
                    parser, "an item of role %s is '%.32s', which is not a number; it is left out",
                    role, value));
    }
    if (!usable) {
        parser->pool_size = parser->item_start;
    } else if (!tz_metadata_exceeds(parser, offsetof(tz_limits, max_metadata_items),
                                    (uint64_t)parser->count + 1, "items of metadata") &&
               has_free_bytes(parser, sizeof parser->item)) {
        parser->count++;
        tz_metadata_entry *end = (tz_metadata_entry *)(void *)(parser->block + parser->block_size);
        end[-(ptrdiff_t)parser->count] = parser->item;
    }
}

/* ---- escapes ---- */

/* Writes a character as UTF-8 and returns its bytes. */
static size_t encode_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(leads[more] | (c >> (6 * more)));
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | ((c >> (6 * (more - i))) & 0x3F));
    return more + 1;
}

/* Reads the digits of &#...; from text on; 0 if they are not a character. *end is after the
 * semicolon. */
static uint32_t read_character_reference(const char *text, const char *limit, const char **end)
{
    bool hexadecimal = text < limit && *text == 'x';
    uint32_t base = hexadecimal ? 16 : 10;
    uint32_t value = 0;
    for (text += hexadecimal; text < limit && *text != ';'; text++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = memchr(digits, *text, sizeof digits - 1);
        uint32_t number = digit ? (uint32_t)(digit - digits) % 16 : base;
        if (number >= base || value > 0x10FFFF)
            return 0;
        value = value * base + number;
    }
    *end = text + 1;
    bool valid = text < limit && value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF);
    return valid ? value : 0;
}

/* The character that the text after an ampersand stands for; 0: none. */
static uint32_t read_entity(const char *text, const char *limit, const char **end)
{
    static const struct {
        const char *name;
        char value;
    } entities[] = {{"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}};
    if (text < limit && *text == '#')
        return read_character_reference(text + 1, limit, end);
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        size_t size = strlen(entities[i].name);
        if ((size_t)(limit - text) >= size && memcmp(text, entities[i].name, size) == 0) {
            *end = text + size;
            return (unsigned char)entities[i].value;
        }
    }
    return 0;
}

/* The text shrinks, so that it can be done in place: out never overtakes in. */
size_t tz_xml_unescape(char *text, size_t size)
{
    const char *limit = text + size;
    char *out = text;
    for (const char *in = text; in < limit;) {
        const char *end = in + 1;
        uint32_t c = *in == '&' ? read_entity(in + 1, limit, &end) : 0;
        if (c != 0) {
            out += encode_utf8(out, c);
            in = end;
        } else {
            *out++ = *in++;
        }
    }
    return (size_t)(out - text);
}
