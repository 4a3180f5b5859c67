/* SPDX-License-Identifier: Apache-2.0
 * See xxhash32.h. */
#include "codec/xxhash32.h"

#include "codec/unaligned.h"

static const uint32_t prime1 = UINT32_C(0x9E3779B1);
static const uint32_t prime2 = UINT32_C(0x85EBCA77);
static const uint32_t prime3 = UINT32_C(0xC2B2AE3D);
static const uint32_t prime4 = UINT32_C(0x27D4EB2F);
static const uint32_t prime5 = UINT32_C(0x165667B1);

static inline uint32_t rotate_left(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

static uint32_t hash_tail(uint32_t hash, const uint8_t *at, size_t size)
{
    for (; size >= 4; at += 4, size -= 4)
        hash = rotate_left(hash + tz_load_le32(at) * prime3, 17) * prime4;
    for (; size > 0; at++, size--)
        hash = rotate_left(hash + *at * prime5, 11) * prime1;
    hash = (hash ^ hash >> 15) * prime2;
    hash = (hash ^ hash >> 13) * prime3;
    return hash ^ hash >> 16;
}

uint32_t tz_xxhash32(const uint8_t *at, size_t size)
{
    uint32_t total = (uint32_t)size;
    if (size < 16)
        return hash_tail(prime5 + total, at, size);
    uint32_t accumulators[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
    for (; size >= 16; at += 16, size -= 16)
        for (unsigned i = 0; i < 4; i++)
            accumulators[i] =
                rotate_left(accumulators[i] + tz_load_le32(at + 4 * i) * prime2, 13) * prime1;
    uint32_t hash = rotate_left(accumulators[0], 1) + rotate_left(accumulators[1], 7) +
                    rotate_left(accumulators[2], 12) + rotate_left(accumulators[3], 18);
    return hash_tail(hash + total, at, size);
}
