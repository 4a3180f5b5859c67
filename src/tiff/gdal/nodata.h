/* SPDX-License-Identifier: Apache-2.0
 * Tag GDAL_NODATA: text to value and back, exact for the image's type. */
#ifndef TZ_TIFF_GDAL_NODATA_H
#define TZ_TIFF_GDAL_NODATA_H

#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* Parses text, which is NUL-terminated and trimmed; "" is none, without a warning. For integer
 * types an integer text becomes an exact integer when it fits the type (complex types follow their
 * parts); another number, or one out of range, is kept as a double with a META warning that names
 * type and text. float32 and float16: the value rounded to the type, as GDAL does, with values
 * slightly past the largest finite one brought back to it. Text that is not a number is a META
 * warning and none. */
tz_result tz_nodata_parse(const char *text, tz_dtype dtype, const tz_context *ctx, tz_nodata *out);

/* Bytes of a formatted value with its NUL, and the longest text that readers accept. */
enum { TZ_NODATA_TEXT_SIZE = 64, TZ_MAX_NODATA_TEXT = 254 };

/* True for 1 to TZ_MAX_NODATA_TEXT printable characters. */
bool tz_nodata_is_printable(const char *text);
void tz_nodata_format(const tz_nodata *nodata, char text[TZ_NODATA_TEXT_SIZE]);

/* Give the value that a reader makes of a text, and of a value after it is formatted; false if
 * samples of this many bits cannot have it. Integers stay exact. */
bool tz_nodata_parse_exact(const char *text, tz_dtype dtype, uint16_t bits, tz_nodata *out);
bool tz_nodata_fit_type(const tz_nodata *given, tz_dtype dtype, uint16_t bits, tz_nodata *out);

#endif
