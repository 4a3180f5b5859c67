/* SPDX-License-Identifier: Apache-2.0
 * Numbers to bytes at any address, each of them one store. */
#ifndef TZ_CODEC_UNALIGNED_STORE_H
#define TZ_CODEC_UNALIGNED_STORE_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TZ_LITTLE_ENDIAN_OF(bits, value) __builtin_bswap##bits(value)
#define TZ_BIG_ENDIAN_OF(bits, value)    (value)
#else
#define TZ_LITTLE_ENDIAN_OF(bits, value) (value)
#define TZ_BIG_ENDIAN_OF(bits, value)    __builtin_bswap##bits(value)
#endif

static inline void tz_store_be32(uint8_t *at, uint32_t value)
{
    value = TZ_BIG_ENDIAN_OF(32, value);
    memcpy(at, &value, sizeof value);
}

static inline void tz_store_be64(uint8_t *at, uint64_t value)
{
    value = TZ_BIG_ENDIAN_OF(64, value);
    memcpy(at, &value, sizeof value);
}

static inline void tz_store_le32(uint8_t *at, uint32_t value)
{
    value = TZ_LITTLE_ENDIAN_OF(32, value);
    memcpy(at, &value, sizeof value);
}

static inline void tz_store_le64(uint8_t *at, uint64_t value)
{
    value = TZ_LITTLE_ENDIAN_OF(64, value);
    memcpy(at, &value, sizeof value);
}

#endif
