/* SPDX-License-Identifier: Apache-2.0
 * The smaller and the larger of two numbers. tz_min and tz_max are for counts and offsets of files;
 * the others avoid casts where both numbers are sizes in memory or 32-bit counts. */
#ifndef TZ_BASE_MINMAX_H
#define TZ_BASE_MINMAX_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t tz_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t tz_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline size_t tz_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t tz_max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline uint32_t tz_min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t tz_max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

#endif
