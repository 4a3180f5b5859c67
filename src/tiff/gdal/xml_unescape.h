/* SPDX-License-Identifier: Apache-2.0
 * GDAL escapes the values of its metadata twice. The XML parser undoes one of them, this the other.
 */
#ifndef TZ_TIFF_GDAL_XML_UNESCAPE_H
#define TZ_TIFF_GDAL_XML_UNESCAPE_H

#include <stddef.h>

/* Replace the five entities of XML and numeric references, in place: none is shorter than the UTF-8
 * of its character. Whatever else begins with an ampersand stays as it is, also references to what
 * is no character. Returns the new size. */
size_t tz_xml_unescape(char *text, size_t size);

#endif
