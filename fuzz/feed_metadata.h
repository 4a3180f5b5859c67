/* SPDX-License-Identifier: Apache-2.0
 * GDAL metadata fed to its parser in steps, each from a block of exactly its size: the address
 * sanitizer then finds a read past the end of a step. */
#ifndef TZ_FUZZ_FEED_METADATA_H
#define TZ_FUZZ_FEED_METADATA_H

#include <string.h>

#include "base/minmax.h"
#include "check.h"
#include "tiff/gdal/metadata.h"

static inline tz_result feed(tz_metadata_parser *parser, const uint8_t *bytes, size_t size,
                             size_t max_step)
{
    tz_result result = TZ_OK;
    for (size_t at = 0; at < size && result == TZ_OK;) {
        const size_t step = tz_min_size(size - at, max_step);
        char *copy = malloc(step);
        check(copy != NULL);
        memcpy(copy, bytes + at, step);
        result = tz_metadata_feed(parser, copy, step);
        free(copy);
        at += step;
    }
    return result;
}

#endif
