/* SPDX-License-Identifier: Apache-2.0
 * Memory for expat: the library's own, and only so much of it. Only for builds with expat. */
#ifndef TZ_TIFF_GDAL_EXPAT_MEMORY_H
#define TZ_TIFF_GDAL_EXPAT_MEMORY_H

#include <expat.h>
#include <stdbool.h>
#include <stddef.h>

/* Three times what GDAL's own files need; a tag of the XML may have some 8 KiB. */
enum { TZ_MAX_EXPAT_BYTES = 36 * 1024 };

/* What one parser holds. Zeroed state is ready. */
typedef struct tz_expat_memory {
    size_t held;
    bool capped;  /* more than TZ_MAX_EXPAT_BYTES was asked for */
    bool starved; /* memory ran out */
} tz_expat_memory;

extern const XML_Memory_Handling_Suite tz_expat_memory_suite;

/* Around every call of expat that may allocate or free: for whom this thread works now; NULL:
 * nobody. */
void tz_expat_memory_use(tz_expat_memory *memory);

#endif
