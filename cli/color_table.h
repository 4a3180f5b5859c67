/* SPDX-License-Identifier: Apache-2.0
 * The colours of a colour map in 8 bits, by the rule of GDAL: values up to 255 stay as they
 * are, multiples of 256 are divided by 256, and others by 257. */
#ifndef CLI_COLOR_TABLE_H
#define CLI_COLOR_TABLE_H

#include <terrazzo/terrazzo.h>

typedef struct color_table {
    const uint16_t *map; /* NULL: none */
    uint32_t size;       /* entries */
    unsigned divisor;
} color_table;

color_table color_table_of(const tz_info *info);

/* Gets red, green and blue of an entry, which must be below size. */
void color_table_get(const color_table *t, uint32_t entry, unsigned char *rgb);

#endif
