/* SPDX-License-Identifier: Apache-2.0
 * Numbers to bytes at any address, each of them one store. */
#ifndef TZ_CODEC_PUT_H
#define TZ_CODEC_PUT_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TZ_TO_LITTLE(bits, value) __builtin_bswap##bits(value)
#define TZ_TO_BIG(bits, value)    (value)
#else
#define TZ_TO_LITTLE(bits, value) (value)
#define TZ_TO_BIG(bits, value)    __builtin_bswap##bits(value)
#endif

static inline void tz_put_be32(uint8_t *at, uint32_t value)
{
    value = TZ_TO_BIG(32, value);
    memcpy(at, &value, sizeof value);
}

static inline void tz_put_be64(uint8_t *at, uint64_t value)
{
    value = TZ_TO_BIG(64, value);
    memcpy(at, &value, sizeof value);
}

static inline void tz_put_le32(uint8_t *at, uint32_t value)
{
    value = TZ_TO_LITTLE(32, value);
    memcpy(at, &value, sizeof value);
}

static inline void tz_put_le64(uint8_t *at, uint64_t value)
{
    value = TZ_TO_LITTLE(64, value);
    memcpy(at, &value, sizeof value);
}

#endif
