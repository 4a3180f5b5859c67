/* SPDX-License-Identifier: Apache-2.0
 * GDAL_METADATA in the plain form in which GDAL writes nearly all of it: Item elements right below
 * GDALMetadata, with the attributes name, domain, sample and role, and ASCII text without entities.
 * Whatever is not that is for an XML parser to read. */
#ifndef TZ_TIFF_GDAL_METADATA_PLAIN_H
#define TZ_TIFF_GDAL_METADATA_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* A piece of the text; start is NULL where an attribute is not given. */
typedef struct tz_plain_xml_text {
    const char *start;
    size_t size;
} tz_plain_xml_text;

enum {
    TZ_PLAIN_XML_NAME,
    TZ_PLAIN_XML_DOMAIN,
    TZ_PLAIN_XML_SAMPLE,
    TZ_PLAIN_XML_ROLE,
    TZ_PLAIN_XML_ATTRIBUTES
};

typedef struct tz_plain_xml_item {
    tz_plain_xml_text attributes[TZ_PLAIN_XML_ATTRIBUTES];
    tz_plain_xml_text value;
} tz_plain_xml_item;

/* Reads the items one after the other. begin is false, and next ends with TZ_PLAIN_XML_NOT_PLAIN,
 * when the text is not plain. */
typedef struct tz_plain_xml_reader {
    const char *at;
    const char *end;
} tz_plain_xml_reader;
typedef enum tz_plain_xml_step {
    TZ_PLAIN_XML_ITEM,
    TZ_PLAIN_XML_END,
    TZ_PLAIN_XML_NOT_PLAIN
} tz_plain_xml_step;
bool tz_plain_xml_begin(tz_plain_xml_reader *reader, const char *text, size_t size);
tz_plain_xml_step tz_plain_xml_next(tz_plain_xml_reader *reader, tz_plain_xml_item *out);

#endif
