/* SPDX-License-Identifier: Apache-2.0 */
#include "tiff/byte_order.h"

#include <string.h>

static bool is_big_endian_host(void)
{
    const uint16_t probe = 1;
    uint8_t first;
    memcpy(&first, &probe, 1);
    return first == 0;
}

static void reverse_bytes(uint8_t *p, unsigned width)
{
    for (unsigned i = 0; i < width / 2; i++) {
        uint8_t byte = p[i];
        p[i] = p[width - 1 - i];
        p[width - 1 - i] = byte;
    }
}

void tz_to_host_order(void *values, uint64_t count, unsigned width, bool big_endian)
{
    if (width == 1 || big_endian == is_big_endian_host())
        return;
    uint8_t *p = values;
    for (uint64_t i = 0; i < count; i++, p += width)
        reverse_bytes(p, width);
}
