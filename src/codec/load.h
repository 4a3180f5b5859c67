/* SPDX-License-Identifier: Apache-2.0
 * Numbers from bytes at any address. Compilers turn each of these into one load. */
#ifndef TZ_CODEC_LOAD_H
#define TZ_CODEC_LOAD_H

#include <stdint.h>

static inline uint32_t tz_load_le32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint32_t tz_load_be32(const uint8_t *at)
{
    return (uint32_t)at[3] | (uint32_t)at[2] << 8 | (uint32_t)at[1] << 16 | (uint32_t)at[0] << 24;
}

static inline uint64_t tz_load_le64(const uint8_t *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 |
           (uint64_t)at[7] << 56;
}

static inline uint64_t tz_load_be64(const uint8_t *at)
{
    return (uint64_t)at[7] | (uint64_t)at[6] << 8 | (uint64_t)at[5] << 16 | (uint64_t)at[4] << 24 |
           (uint64_t)at[3] << 32 | (uint64_t)at[2] << 40 | (uint64_t)at[1] << 48 |
           (uint64_t)at[0] << 56;
}

#endif
