/* SPDX-License-Identifier: Apache-2.0
 * A zlib frame (RFC 1950) around a deflate stream: a header of 2 bytes, and after the stream the
 * Adler-32 of the decoded bytes, highest byte first. Decoder and encoder also share the order of
 * RFC 1951, section 3.2.7. */
#ifndef TZ_KERNELS_ZLIB_FRAME_H
#define TZ_KERNELS_ZLIB_FRAME_H

#include "kernels/kernel.h"
#include "kernels/status.h"

#define TZ_ZLIB_HEADER_BYTES 2u
#define TZ_ZLIB_FRAME_BYTES  6u      /* with the checksum */
#define TZ_ZLIB_HEADER       0x0178u /* a window of 32 KiB, the fastest encoder; lowest byte first */

/* Accepts method 8, a window of at most 32 KiB, no dictionary, and a multiple of 31. */
TZ_FN tz_u32 tz_zlib_check_header(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size)
{
    if (in_size < TZ_ZLIB_FRAME_BYTES)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 header = (tz_u32)in[0] << 8 | in[1];
    if ((header & 0x0f20u) != 0x0800u || header >> 12 > 7u || header % 31u != 0u)
        return TZ_DECODE_BAD_HEADER;
    return TZ_DECODE_OK;
}

/* Reads and writes the checksum at the end of a frame. */
TZ_FN tz_u32 tz_zlib_checksum(const TZ_GLOBAL tz_u8 *end)
{
    return (tz_u32)end[0] << 24 | (tz_u32)end[1] << 16 | (tz_u32)end[2] << 8 | end[3];
}

TZ_FN void tz_zlib_put_checksum(TZ_GLOBAL tz_u8 *end, tz_u32 checksum)
{
    for (tz_u32 i = 0u; i < 4u; i++)
        end[i] = (tz_u8)(checksum >> (24u - 8u * i));
}

/* The symbol whose length is stored at an index, in the code of code lengths: 16 to 18, then 0,
 * then from 8 outwards, so that lengths that are often unused come last and can be left out. */
TZ_FN tz_u32 tz_deflate_precode_symbol(tz_u32 index)
{
    if (index < 4u)
        return index < 3u ? 16u + index : 0u;
    return index & 1u ? 8u - (index - 3u) / 2u : 8u + (index - 4u) / 2u;
}

#endif
