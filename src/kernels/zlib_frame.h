/* SPDX-License-Identifier: Apache-2.0
 * What a zlib frame (RFC 1950) has around a deflate stream: 2 bytes before and 4 behind it. */
#ifndef TZ_KERNELS_ZLIB_FRAME_H
#define TZ_KERNELS_ZLIB_FRAME_H

#include "kernels/kernel.h"
#include "kernels/status.h"

#define TZ_ZLIB_HEADER_BYTES 2u
#define TZ_ZLIB_FRAME_BYTES  6u

/* Method 8, a window of 32 KiB at most, no dictionary, a multiple of 31. */
TZ_FN tz_u32 tz_zlib_check_header(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size)
{
    if (in_size < TZ_ZLIB_FRAME_BYTES)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 header = (tz_u32)in[0] << 8 | in[1];
    if ((header & 0x0f20u) != 0x0800u || header >> 12 > 7u || header % 31u != 0u)
        return TZ_DECODE_BAD_HEADER;
    return TZ_DECODE_OK;
}

/* The checksum of what the stream makes, which stands at its end. */
TZ_FN tz_u32 tz_zlib_checksum(const TZ_GLOBAL tz_u8 *end)
{
    return (tz_u32)end[0] << 24 | (tz_u32)end[1] << 16 | (tz_u32)end[2] << 8 | end[3];
}

#endif
