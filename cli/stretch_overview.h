/* SPDX-License-Identifier: Apache-2.0
 * The overview from which the range of a large picture is measured, so that the range does not
 * depend on the size of the picture. */
#ifndef CLI_STRETCH_OVERVIEW_H
#define CLI_STRETCH_OVERVIEW_H

#include "request.h"

typedef struct stretch_overview {
    tz_buffer pixels;
    tz_buffer mask;
    uint32_t level; /* of the overview; 0: there is none, and the picture itself is measured */
    void *memory;
} stretch_overview;

/* Reads an overview of the same window if the picture has many pixels, the file has an overview
 * that can be read, and no level was asked for. */
tz_result stretch_overview_read(stretch_overview *out, const request *r, const tz_buffer *pixels,
                                tz_error *err);
void stretch_overview_free(stretch_overview *s); /* zeroed state is fine */

#endif
