/* SPDX-License-Identifier: Apache-2.0
 * xxHash 32 with seed 0, the checksum of LZ4 frames. */
#ifndef TZ_CODEC_XXHASH32_H
#define TZ_CODEC_XXHASH32_H

#include <stddef.h>
#include <stdint.h>

uint32_t tz_xxhash32(const uint8_t *at, size_t size);

#endif
