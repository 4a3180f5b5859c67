/* SPDX-License-Identifier: Apache-2.0
 * File bytes to numbers, in either byte order. */
#ifndef TZ_TIFF_BYTE_ORDER_H
#define TZ_TIFF_BYTE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Turn count values of width bytes (1, 2, 4 or 8) from the file's byte order to the machine's. */
void tz_to_host_order(void *values, uint64_t count, unsigned width, bool big_endian);

#endif
