/* SPDX-License-Identifier: Apache-2.0
 * The colours of a colour map in 8 bits, by the rule of tz_color_map_to_rgb. */
#ifndef CLI_COLOR_TABLE_H
#define CLI_COLOR_TABLE_H

#include <terrazzo/terrazzo.h>

typedef struct color_table {
    uint32_t size;            /* entries */
    const unsigned char *rgb; /* of the last table that was asked for */
} color_table;

color_table color_table_of(const tz_info *info);

/* Gets red, green and blue of an entry, which must be below size. */
void color_table_get(const color_table *t, uint32_t entry, unsigned char *rgb);

#endif
