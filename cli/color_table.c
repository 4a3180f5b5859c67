/* SPDX-License-Identifier: Apache-2.0
 * The divisor of a colour map is found once, from all of its values: files store 8-bit colours in
 * 16 bits in three ways. */
#include "color_table.h"

color_table color_table_of(const tz_info *info)
{
    color_table t = {.map = info->color_map, .size = info->color_map_size, .divisor = 1};
    bool multiples = true;
    for (uint64_t i = 0; i < 3 * (uint64_t)t.size; i++) {
        multiples = multiples && t.map[i] % 256 == 0;
        if (t.map[i] > 255)
            t.divisor = 257;
    }
    if (multiples)
        t.divisor = 256;
    return t;
}

void color_table_get(const color_table *t, uint32_t entry, unsigned char *rgb)
{
    for (size_t i = 0; i < 3; i++)
        rgb[i] = (unsigned char)(t->map[i * t->size + entry] / t->divisor);
}
