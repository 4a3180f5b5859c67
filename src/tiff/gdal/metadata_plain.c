/* SPDX-License-Identifier: Apache-2.0
 * GDAL_METADATA in its plain form. Everything that XML treats in a special way makes the text not
 * plain: entities, comments, carriage returns, bytes that are not ASCII, quotes of the other kind.
 */
#include "tiff/gdal/metadata_plain.h"

#include <string.h>

static const char *const attribute_names[TZ_PLAIN_XML_ATTRIBUTES] = {"name", "domain", "sample",
                                                                     "role"};

static void skip_xml_spaces(tz_plain_xml_reader *reader)
{
    while (reader->at < reader->end &&
           (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\t'))
        reader->at++;
}

/* Goes past text when it comes next. */
static bool skip_text(tz_plain_xml_reader *reader, const char *text)
{
    const size_t size = strlen(text);
    if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, text, size) != 0)
        return false;
    reader->at += size;
    return true;
}

/* Up to the byte stop, without what XML treats in a special way. Lines may end in values, but not
 * in attributes. */
static bool read_text_until(tz_plain_xml_reader *reader, char stop, bool lines,
                            tz_plain_xml_text *out)
{
    const char *at = reader->at;
    while (at < reader->end && *at != stop) {
        const bool plain = *at >= ' ' && *at <= '~' && *at != '<' && *at != '>' && *at != '&';
        if (!plain && !(lines && (*at == '\n' || *at == '\t')))
            return false;
        at++;
    }
    if (at == reader->end)
        return false;
    *out = (tz_plain_xml_text){reader->at, (size_t)(at - reader->at)};
    reader->at = at;
    return true;
}

/* One of the known attributes, given once. */
static bool read_attribute(tz_plain_xml_reader *reader, tz_plain_xml_item *item)
{
    for (int i = 0; i < TZ_PLAIN_XML_ATTRIBUTES; i++) {
        if (!skip_text(reader, attribute_names[i]))
            continue;
        return !item->attributes[i].start && skip_text(reader, "=\"") &&
               read_text_until(reader, '"', false, &item->attributes[i]) && skip_text(reader, "\"");
    }
    return false;
}

static bool read_plain_item(tz_plain_xml_reader *reader, tz_plain_xml_item *item)
{
    *item = (tz_plain_xml_item){0};
    while (skip_text(reader, " "))
        if (!read_attribute(reader, item))
            return false;
    return skip_text(reader, ">") && read_text_until(reader, '<', true, &item->value) &&
           skip_text(reader, "</Item>");
}

/* The text ends at its first NUL. */
bool tz_plain_xml_begin(tz_plain_xml_reader *reader, const char *text, size_t size)
{
    const char *nul = memchr(text, '\0', size);
    *reader = (tz_plain_xml_reader){text, nul ? nul : text + size};
    return skip_text(reader, "<GDALMetadata>");
}

tz_plain_xml_step tz_plain_xml_next(tz_plain_xml_reader *reader, tz_plain_xml_item *out)
{
    skip_xml_spaces(reader);
    if (skip_text(reader, "<Item"))
        return read_plain_item(reader, out) ? TZ_PLAIN_XML_ITEM : TZ_PLAIN_XML_NOT_PLAIN;
    if (!skip_text(reader, "</GDALMetadata>"))
        return TZ_PLAIN_XML_NOT_PLAIN;
    skip_xml_spaces(reader);
    return reader->at == reader->end ? TZ_PLAIN_XML_END : TZ_PLAIN_XML_NOT_PLAIN;
}
