/* SPDX-License-Identifier: Apache-2.0
 * PackBits, one tile by one item: a byte n below 128 is followed by n + 1 bytes as they are, one
 * above 128 by a byte that stands for 257 - n of the same; 128 means nothing, also behind the last
 * packet. */
#ifndef TZ_KERNELS_PACKBITS_H
#define TZ_KERNELS_PACKBITS_H

#include "kernels/kernel.h"
#include "kernels/status.h"

/* One tile as TIFF stores it with compression 32773. */
TZ_FN tz_u32 tz_packbits_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                              tz_u32 size)
{
    tz_u32 at = 0u;
    tz_u32 made = 0u;
    while (made < size) {
        if (at == in_size)
            return TZ_DECODE_TRUNCATED;
        const tz_u32 head = in[at++];
        if (head == 128u)
            continue;
        const tz_u32 is_run = head > 128u;
        const tz_u32 count = is_run ? 257u - head : head + 1u;
        const tz_u32 stored = is_run ? 1u : count;
        if (stored > in_size - at)
            return TZ_DECODE_TRUNCATED;
        if (count > size - made)
            return TZ_DECODE_TOO_LONG;
        for (tz_u32 i = 0u; i < count; i++)
            out[made + i] = in[is_run ? at : at + i];
        at += stored;
        made += count;
    }
    while (at < in_size && in[at] == 128)
        at++;
    return TZ_DECODE_END(at, in_size);
}

#endif
