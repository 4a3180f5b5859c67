/* SPDX-License-Identifier: Apache-2.0
 * Numbers from and to bytes at any address, each of them one load or one store. */
#ifndef TZ_CODEC_UNALIGNED_H
#define TZ_CODEC_UNALIGNED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The same function turns a number of the machine into one of that byte order, and back. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TZ_LITTLE_ENDIAN(bits, value) __builtin_bswap##bits(value)
#define TZ_BIG_ENDIAN(bits, value)    (value)
#else
#define TZ_LITTLE_ENDIAN(bits, value) (value)
#define TZ_BIG_ENDIAN(bits, value)    __builtin_bswap##bits(value)
#endif

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

static inline uint32_t tz_load_le32(const uint8_t *at)
{
    return TZ_LITTLE_ENDIAN(32, tz_load_32(at));
}

static inline uint32_t tz_load_be32(const uint8_t *at)
{
    return TZ_BIG_ENDIAN(32, tz_load_32(at));
}

static inline uint64_t tz_load_le64(const uint8_t *at)
{
    return TZ_LITTLE_ENDIAN(64, tz_load_64(at));
}

static inline uint64_t tz_load_be64(const uint8_t *at)
{
    return TZ_BIG_ENDIAN(64, tz_load_64(at));
}

/* A number of 0 to 8 bytes, the lowest first, where nothing after them may be read. */
static inline uint64_t tz_load_le_bytes(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static inline void tz_store_le32(uint8_t *at, uint32_t value)
{
    value = TZ_LITTLE_ENDIAN(32, value);
    memcpy(at, &value, sizeof value);
}

static inline void tz_store_be32(uint8_t *at, uint32_t value)
{
    value = TZ_BIG_ENDIAN(32, value);
    memcpy(at, &value, sizeof value);
}

static inline void tz_store_le64(uint8_t *at, uint64_t value)
{
    value = TZ_LITTLE_ENDIAN(64, value);
    memcpy(at, &value, sizeof value);
}

static inline void tz_store_be64(uint8_t *at, uint64_t value)
{
    value = TZ_BIG_ENDIAN(64, value);
    memcpy(at, &value, sizeof value);
}

#endif
