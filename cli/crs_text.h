/* SPDX-License-Identifier: Apache-2.0
 * Facts that the command reads from the WKT of a coordinate reference system. */
#ifndef CLI_CRS_TEXT_H
#define CLI_CRS_TEXT_H

#include <stdbool.h>

typedef struct crs_axes {
    unsigned count;         /* of axes, the vertical one included */
    bool north_first;       /* the first axis is the northing or the latitude */
    char unit[32];          /* of the first axis, such as "metre"; "" when not found */
    char vertical_unit[32]; /* of a vertical CRS; "" when there is none */
} crs_axes;

/* Reads the axes of WKT2. All members are zero if there are none. */
void crs_read_axes(crs_axes *axes, const char *wkt);

#endif
