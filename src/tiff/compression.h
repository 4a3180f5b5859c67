/* SPDX-License-Identifier: Apache-2.0
 * TIFF's compression numbers. */
#ifndef TZ_TIFF_COMPRESSION_H
#define TZ_TIFF_COMPRESSION_H

#include <stdbool.h>
#include <stdint.h>

enum { TZ_COMPRESSION_FAX4 = 4, TZ_COMPRESSION_OLD_JPEG = 6 };

/* Whether terrazzo has, or is meant to have, a decoder: false for those it names and refuses. */
bool tz_compression_handled(uint16_t compression);

/* Who reads a codec that GDAL and libtiff cannot read; NULL: they read it in builds with its
 * library, or it is unknown. */
const char *tz_compression_readers(uint16_t compression);

#endif
