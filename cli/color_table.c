/* SPDX-License-Identifier: Apache-2.0
 * The colours of the one file that `info` shows. An index has at most 16 bits. */
#include "color_table.h"

#include <string.h>

#define MAX_ENTRIES 65536

color_table color_table_of(const tz_info *info)
{
    static unsigned char rgb[3 * MAX_ENTRIES];
    const uint32_t size = info->color_map_size <= MAX_ENTRIES ? info->color_map_size : 0;
    if (size > 0)
        tz_color_map_to_rgb(rgb, info->color_map, size);
    return (color_table){.size = size, .rgb = rgb};
}

void color_table_get(const color_table *t, uint32_t entry, unsigned char *rgb)
{
    memcpy(rgb, t->rgb + 3 * (size_t)entry, 3);
}
