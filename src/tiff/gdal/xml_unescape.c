/* SPDX-License-Identifier: Apache-2.0
 * XML escapes in text that is no longer XML. */
#include "tiff/gdal/xml_unescape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

/* The digits of &#...; from text on; 0 when they are no character. *end is behind the semicolon. */
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
