/* SPDX-License-Identifier: Apache-2.0
 * Tag GDAL_NODATA: text to value, exact for the image's type. */
#ifndef TZ_TIFF_GDAL_NODATA_H
#define TZ_TIFF_GDAL_NODATA_H

#include <terrazzo/terrazzo.h>

#include "base/error.h"

/* text is NUL-terminated and trimmed; "" is none, without a warning. For integer types an integer
 * text becomes an exact integer when it fits the type (complex types follow their parts); another
 * number, or one out of range, is kept as a double with a META warning that names type and text.
 * float32 and float16: the value rounded to the type, as GDAL does, with values slightly past the
 * largest finite one brought back to it. Text that is no number is a META warning and none. */
tz_result tz_nodata_parse(const char *text, tz_dtype dtype, const tz_context *ctx, tz_nodata *out);

#endif
