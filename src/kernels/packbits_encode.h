/* SPDX-License-Identifier: Apache-2.0
 * PackBits, every row by itself: the same packets as codec/codec_packbits.c, found byte by byte,
 * since no byte after a row may be read or written. This is not part of packbits.h, because each
 * family of kernels compiles the text of all that it includes.
 *
 * Three equal bytes or more are always a run. Two are a run only if no literal packet is open. */
#ifndef TZ_KERNELS_PACKBITS_ENCODE_H
#define TZ_KERNELS_PACKBITS_ENCODE_H

#include "kernels/kernel.h"
#include "kernels/work_items.h"

#define TZ_PACKBITS_MAX_PACKET 128u /* bytes of a packet */

/* The end of the bytes that equal the one at offset `at`. */
TZ_FN tz_u32 tz_packbits_run_end(const TZ_GLOBAL tz_u8 *in, tz_u32 at, tz_u32 end)
{
    const tz_u8 byte = in[at];
    while (at < end && in[at] == byte)
        at++;
    return at;
}

/* The end of the literal packet that begins at `at`: before three equal bytes, or at its greatest
 * size. It does not end between two equal bytes, which the next packet can encode as a run. */
TZ_FN tz_u32 tz_packbits_literal_end(const TZ_GLOBAL tz_u8 *in, tz_u32 at, tz_u32 end)
{
    const tz_u32 is_long = end - at > TZ_PACKBITS_MAX_PACKET;
    const tz_u32 limit = at + tz_kernel_min(end - at, TZ_PACKBITS_MAX_PACKET);
    for (; at < limit; at++) {
        if (end - at >= 3u && in[at] == in[at + 1u] && in[at] == in[at + 2u])
            return at;
    }
    return is_long && in[limit - 1u] == in[limit] ? limit - 1u : limit;
}

/* Returns the size of the packets of a row, and writes them to out if writes is not 0. */
TZ_FN tz_u32 tz_packbits_encode_row(const TZ_GLOBAL tz_u8 *in, tz_u32 size, TZ_GLOBAL tz_u8 *out,
                                    tz_u32 writes)
{
    tz_u32 at = 0u, made = 0u;
    while (at < size) {
        const tz_u32 run = tz_packbits_run_end(in, at, size) - at;
        if (run >= 2u) {
            const tz_u32 some = tz_kernel_min(run, TZ_PACKBITS_MAX_PACKET);
            if (writes) {
                out[made] = (tz_u8)(257u - some);
                out[made + 1u] = in[at];
            }
            made += 2u;
            at += some;
        } else {
            const tz_u32 some = tz_packbits_literal_end(in, at, size) - at;
            if (writes) {
                out[made] = (tz_u8)(some - 1u);
                for (tz_u32 i = 0u; i < some; i++)
                    out[made + 1u + i] = in[at + i];
            }
            made += 1u + some;
            at += some;
        }
    }
    return made;
}

/* The greatest encoded size of a tile of whole rows. */
TZ_FN tz_u64 tz_packbits_bound(tz_u64 size, tz_u32 row_bytes)
{
    const tz_u64 packets = (row_bytes + TZ_PACKBITS_MAX_PACKET - 1u) / TZ_PACKBITS_MAX_PACKET;
    return size + size / row_bytes * packets;
}

/* Encodes a tile of whole rows by one work-item; returns its size. */
TZ_FN tz_u32 tz_packbits_encode_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 size, tz_u32 row_bytes,
                                     TZ_GLOBAL tz_u8 *out)
{
    tz_u32 made = 0u;
    for (tz_u32 at = 0u; at < size; at += row_bytes)
        made += tz_packbits_encode_row(in + at, row_bytes, out + made, 1u);
    return made;
}

/* The same by a work-group, a work-item for each row. Each row is encoded twice: first for its
 * size, from which prefix sums make the offsets, and then to its offset. All work-items get the
 * size. sums: TZ_SCAN_WORDS. */
TZ_FN tz_u32 tz_packbits_encode_tile_work_group(const TZ_GLOBAL tz_u8 *in, tz_u32 size,
                                                tz_u32 row_bytes, TZ_GLOBAL tz_u8 *out,
                                                TZ_LOCAL tz_u64 *sums)
{
    const tz_u32 rows = size / row_bytes;
    tz_u32 made = 0u;
    for (tz_u32 first = 0u; first < rows; first += TZ_WORK_GROUP_SIZE) {
        for (TZ_EACH_WORK_ITEM(work_item)) {
            const tz_u32 row = first + work_item;
            sums[work_item] = row < rows ? tz_packbits_encode_row(in + (tz_u64)row * row_bytes,
                                                                  row_bytes, out, 0u)
                                         : 0u;
        }
        TZ_SYNC;
        tz_scan_work_group(sums);
        for (TZ_EACH_WORK_ITEM(work_item)) {
            const tz_u32 row = first + work_item;
            if (row < rows)
                tz_packbits_encode_row(in + (tz_u64)row * row_bytes, row_bytes,
                                       out + made + tz_scan_before(sums, work_item), 1u);
        }
        made += (tz_u32)sums[TZ_WORK_GROUP_SIZE - 1u];
        TZ_SYNC;
    }
    return made;
}

#endif
