/* SPDX-License-Identifier: Apache-2.0
 * File bytes to numbers, in either byte order. */
#ifndef TZ_TIFF_BYTE_ORDER_H
#define TZ_TIFF_BYTE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The readers combine single bytes, so that p needs no alignment and the machine's own byte order
 * does not matter. Compilers make one load of them. */
static inline uint16_t tz_read_endian_u16(const uint8_t *p, bool big_endian)
{
    const unsigned value = big_endian ? (unsigned)p[0] << 8 | p[1] : (unsigned)p[1] << 8 | p[0];
    return (uint16_t)value;
}

static inline uint32_t tz_read_endian_u32(const uint8_t *p, bool big_endian)
{
    uint32_t first = tz_read_endian_u16(p, big_endian);
    uint32_t second = tz_read_endian_u16(p + 2, big_endian);
    return big_endian ? first << 16 | second : second << 16 | first;
}

static inline uint64_t tz_read_endian_u64(const uint8_t *p, bool big_endian)
{
    uint64_t first = tz_read_endian_u32(p, big_endian);
    uint64_t second = tz_read_endian_u32(p + 4, big_endian);
    return big_endian ? first << 32 | second : second << 32 | first;
}

/* Converts count values of width bytes (1, 2, 4 or 8) from the file's byte order to the machine's.
 * The same serves for writing, because reversing bytes is its own inverse. */
static inline void tz_to_host_order(void *values, uint64_t count, unsigned width, bool big_endian)
{
    const uint16_t probe = 1;
    uint8_t first;
    memcpy(&first, &probe, 1);
    if (width == 1 || big_endian == (first == 0))
        return;
    uint8_t *p = values;
    for (uint64_t i = 0; i < count; i++, p += width) {
        for (unsigned k = 0; k < width / 2; k++) {
            const uint8_t byte = p[k];
            p[k] = p[width - 1 - k];
            p[width - 1 - k] = byte;
        }
    }
}

#endif
