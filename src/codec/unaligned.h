/* SPDX-License-Identifier: Apache-2.0
 * Numbers from bytes at any address, each of them one load. */
#ifndef TZ_CODEC_UNALIGNED_H
#define TZ_CODEC_UNALIGNED_H

#include <stdint.h>
#include <string.h>

/* memcpy and not a sum of bytes: that is one load as well, but compilers count it as many and then
 * do not expand the function in place. */
static inline uint32_t tz_load_32(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint64_t tz_load_64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TZ_LOAD_LITTLE(bits, at) __builtin_bswap##bits(tz_load_##bits(at))
#define TZ_LOAD_BIG(bits, at)    tz_load_##bits(at)
#else
#define TZ_LOAD_LITTLE(bits, at) tz_load_##bits(at)
#define TZ_LOAD_BIG(bits, at)    __builtin_bswap##bits(tz_load_##bits(at))
#endif

static inline uint32_t tz_load_le32(const uint8_t *at)
{
    return TZ_LOAD_LITTLE(32, at);
}

static inline uint32_t tz_load_be32(const uint8_t *at)
{
    return TZ_LOAD_BIG(32, at);
}

static inline uint64_t tz_load_le64(const uint8_t *at)
{
    return TZ_LOAD_LITTLE(64, at);
}

static inline uint64_t tz_load_be64(const uint8_t *at)
{
    return TZ_LOAD_BIG(64, at);
}

#endif
