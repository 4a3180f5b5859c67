/* SPDX-License-Identifier: Apache-2.0
 * LZ4 frames, one tile by one item. Frames may follow each other, with skippable ones between them;
 * together they make exactly the bytes of the tile.
 *
 * The format says how a block ends: the last 5 bytes are literals, and the last copy begins 12
 * bytes before the end or more. liblz4 refuses most blocks that end otherwise but not all, and
 * which ones depends on its version: tiles with such blocks are TZ_DECODE_UNSURE if nothing else is
 * wrong with them, and so are those with a copy from a distance of 0, which means nothing. */
#ifndef TZ_KERNELS_LZ4_H
#define TZ_KERNELS_LZ4_H

#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/xxhash.h"

#define TZ_LZ4_MAGIC         0x184D2204u
#define TZ_LZ4_SKIPPABLE     0x184D2A50u /* and the next 15 */
#define TZ_LZ4_STORED        0x80000000u /* of a block's size: not compressed */
#define TZ_LZ4_WINDOW        65536u      /* how far linked blocks look back */
#define TZ_LZ4_LAST_LITERALS 5u
#define TZ_LZ4_LAST_COPY     12u
#define TZ_LZ4_LAST_INPUT    8u /* stored bytes that follow the literals of all but the last */
#define TZ_LZ4_SHORTEST      4u /* copy */

/* Bits of a frame's first byte. */
#define TZ_LZ4_DICTIONARY       1u
#define TZ_LZ4_RESERVED         2u
#define TZ_LZ4_CONTENT_CHECKSUM 4u
#define TZ_LZ4_CONTENT_SIZE     8u
#define TZ_LZ4_BLOCK_CHECKSUMS  16u
#define TZ_LZ4_INDEPENDENT      32u
#define TZ_LZ4_FORMAT           0xc0u
#define TZ_LZ4_FORMAT_1         0x40u

/* A tile at work. */
typedef struct tz_lz4_run {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 in_size;
    tz_u32 at; /* next to read */
    TZ_GLOBAL tz_u8 *out;
    tz_u32 size;
    tz_u32 made;
    tz_u32 frame_start; /* in the output */
    tz_u32 flags;       /* of the frame */
    tz_u32 max_block;
    tz_u64 content; /* bytes that the frame makes, if it says so */
    tz_u32 unsure;  /* a block does not end as it should */
} tz_lz4_run;

/* ---- blocks ---- */

/* Adds the bytes that follow a length of 15; 0: the block ends there. */
TZ_FN int tz_lz4_more_length(tz_lz4_run *run, tz_u32 end, tz_u32 *length)
{
    tz_u32 more = 255u;
    while (more == 255u) {
        if (run->at == end)
            return 0;
        more = run->in[run->at++];
        *length += more;
    }
    return 1;
}

/* Literals up to stop, which is as far as the block may write; *last: nothing follows them. */
TZ_FN tz_u32 tz_lz4_literals(tz_lz4_run *run, tz_u32 end, tz_u32 stop, tz_u32 length, tz_u32 *last)
{
    if (length == 15u && !tz_lz4_more_length(run, end, &length))
        return TZ_DECODE_TRUNCATED;
    if (length > end - run->at)
        return TZ_DECODE_TRUNCATED;
    if (length > stop - run->made)
        return TZ_DECODE_TOO_LONG;
    for (tz_u32 i = 0u; i < length; i++)
        run->out[run->made + i] = run->in[run->at + i];
    run->at += length;
    run->made += length;
    *last = run->at == end;
    if (!*last && (end - run->at < TZ_LZ4_LAST_INPUT || stop - run->made < TZ_LZ4_LAST_COPY))
        run->unsure = 1u;
    return TZ_DECODE_OK;
}

/* A copy from the output behind start. */
TZ_FN tz_u32 tz_lz4_copy(tz_lz4_run *run, tz_u32 end, tz_u32 start, tz_u32 stop, tz_u32 length)
{
    if (end - run->at < 2u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 distance = run->in[run->at] | (tz_u32)run->in[run->at + 1u] << 8;
    run->at += 2u;
    if (length == 15u && !tz_lz4_more_length(run, end, &length))
        return TZ_DECODE_TRUNCATED;
    length += TZ_LZ4_SHORTEST;
    if (distance > run->made - start)
        return TZ_DECODE_BAD_DISTANCE;
    if (length > stop - run->made)
        return TZ_DECODE_TOO_LONG;
    if (distance == 0u || run->at == end)
        return TZ_DECODE_UNSURE;
    if (end - run->at < TZ_LZ4_LAST_LITERALS - 1u ||
        stop - run->made - length < TZ_LZ4_LAST_LITERALS)
        run->unsure = 1u;
    TZ_GLOBAL tz_u8 *to = run->out + run->made;
    for (tz_u32 i = 0u; i < length; i++) /* byte by byte: it may reach into itself */
        to[i] = run->out[run->made - distance + i];
    run->made += length;
    return TZ_DECODE_OK;
}

/* A compressed block, whose bytes end at end. */
TZ_FN tz_u32 tz_lz4_block(tz_lz4_run *run, tz_u32 end)
{
    const tz_u32 room = run->size - run->made;
    const tz_u32 stop = run->made + (room < run->max_block ? room : run->max_block);
    tz_u32 start = run->made;
    if (!(run->flags & TZ_LZ4_INDEPENDENT))
        start = run->made - run->frame_start > TZ_LZ4_WINDOW ? run->made - TZ_LZ4_WINDOW
                                                             : run->frame_start;
    if (room == 0u && (end - run->at > 1u || run->in[run->at] != 0))
        return TZ_DECODE_TOO_LONG;
    tz_u32 last = 0u;
    while (!last) {
        const tz_u32 token = run->in[run->at++]; /* there is one: copies see to it */
        tz_u32 status = tz_lz4_literals(run, end, stop, token >> 4, &last);
        if (status == TZ_DECODE_OK && !last)
            status = tz_lz4_copy(run, end, start, stop, token & 15u);
        if (status != TZ_DECODE_OK)
            return status;
    }
    return TZ_DECODE_OK;
}

TZ_FN tz_u32 tz_lz4_stored(tz_lz4_run *run, tz_u32 size)
{
    if (size > run->size - run->made)
        return TZ_DECODE_TOO_LONG;
    for (tz_u32 i = 0u; i < size; i++)
        run->out[run->made + i] = run->in[run->at + i];
    run->at += size;
    run->made += size;
    return TZ_DECODE_OK;
}

/* The next block; *last: it is the mark of the frame's end. */
TZ_FN tz_u32 tz_lz4_read_block(tz_lz4_run *run, tz_u32 *last)
{
    if (run->in_size - run->at < 4u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 word = tz_kernel_le32(run->in + run->at);
    const tz_u32 size = word & ~TZ_LZ4_STORED;
    const tz_u32 after = run->flags & TZ_LZ4_BLOCK_CHECKSUMS ? 4u : 0u;
    run->at += 4u;
    *last = word == 0u;
    if (*last)
        return TZ_DECODE_OK;
    if (size > run->max_block)
        return TZ_DECODE_BAD_BLOCK;
    if (run->in_size - run->at < size + after)
        return TZ_DECODE_TRUNCATED;
    const TZ_GLOBAL tz_u8 *data = run->in + run->at;
    if (after && tz_kernel_le32(data + size) != tz_kernel_xxhash32(data, size))
        return TZ_DECODE_BAD_CHECKSUM;
    const tz_u32 status =
        word & TZ_LZ4_STORED ? tz_lz4_stored(run, size) : tz_lz4_block(run, run->at + size);
    run->at += after;
    return status;
}

/* ---- frames ---- */

/* Magic, flags, block size, content size and a byte of checksum. */
TZ_FN tz_u32 tz_lz4_header(tz_lz4_run *run)
{
    const TZ_GLOBAL tz_u8 *head = run->in + run->at;
    const tz_u32 left = run->in_size - run->at;
    if (left < 7u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 flags = head[4];
    const tz_u32 block = head[5];
    const tz_u32 size = 7u + (flags & TZ_LZ4_CONTENT_SIZE ? 8u : 0u);
    if ((flags & (TZ_LZ4_FORMAT | TZ_LZ4_RESERVED | TZ_LZ4_DICTIONARY)) != TZ_LZ4_FORMAT_1 ||
        (block & 0x8fu) != 0u || block < 0x40u)
        return TZ_DECODE_BAD_HEADER;
    if (left < size)
        return TZ_DECODE_TRUNCATED;
    if (head[size - 1u] != (tz_kernel_xxhash32(head + 4, size - 5u) >> 8 & 0xffu))
        return TZ_DECODE_BAD_CHECKSUM;
    run->flags = flags;
    run->max_block = 1u << (8u + 2u * (block >> 4));
    if (flags & TZ_LZ4_CONTENT_SIZE)
        run->content = tz_kernel_le32(head + 6) | (tz_u64)tz_kernel_le32(head + 10) << 32;
    run->at += size;
    return TZ_DECODE_OK;
}

TZ_FN tz_u32 tz_lz4_end_frame(tz_lz4_run *run)
{
    const tz_u32 made = run->made - run->frame_start;
    if ((run->flags & TZ_LZ4_CONTENT_SIZE) && run->content != made)
        return run->content < made ? TZ_DECODE_TOO_LONG : TZ_DECODE_TOO_SHORT;
    if (!(run->flags & TZ_LZ4_CONTENT_CHECKSUM))
        return TZ_DECODE_OK;
    if (run->in_size - run->at < 4u)
        return TZ_DECODE_TRUNCATED;
    if (tz_kernel_le32(run->in + run->at) != tz_kernel_xxhash32(run->out + run->frame_start, made))
        return TZ_DECODE_BAD_CHECKSUM;
    run->at += 4u;
    return TZ_DECODE_OK;
}

TZ_FN tz_u32 tz_lz4_frame(tz_lz4_run *run)
{
    tz_u32 last = 0u;
    tz_u32 status = tz_lz4_header(run);
    if (status != TZ_DECODE_OK)
        return status;
    run->frame_start = run->made;
    if ((run->flags & TZ_LZ4_CONTENT_SIZE) && run->content > run->size - run->made)
        return TZ_DECODE_TOO_LONG;
    while (status == TZ_DECODE_OK && !last)
        status = tz_lz4_read_block(run, &last);
    return status == TZ_DECODE_OK ? tz_lz4_end_frame(run) : status;
}

/* Passes over a skippable frame; 0: none is there, or not all of it. */
TZ_FN int tz_lz4_skip(tz_lz4_run *run)
{
    const tz_u32 left = run->in_size - run->at;
    if ((tz_kernel_le32(run->in + run->at) & ~15u) != TZ_LZ4_SKIPPABLE || left < 8u)
        return 0;
    const tz_u32 size = tz_kernel_le32(run->in + run->at + 4u);
    if (size > left - 8u)
        return 0;
    run->at += 8u + size;
    return 1;
}

/* One tile as it is stored with compression 50004. */
TZ_FN tz_u32 tz_lz4_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                         tz_u32 size)
{
    tz_lz4_run run;
    run.in = in;
    run.in_size = in_size;
    run.at = 0u;
    run.out = out;
    run.size = size;
    run.made = 0u;
    run.frame_start = 0u;
    run.flags = 0u;
    run.max_block = 0u;
    run.content = 0u;
    run.unsure = 0u;
    while (in_size - run.at >= 4u) {
        if (tz_kernel_le32(in + run.at) == TZ_LZ4_MAGIC) {
            const tz_u32 status = tz_lz4_frame(&run);
            if (status != TZ_DECODE_OK)
                return status;
        } else if (!tz_lz4_skip(&run)) {
            break;
        }
    }
    if (run.at == 0u)
        return TZ_DECODE_BAD_HEADER;
    if (run.made != size)
        return TZ_DECODE_TOO_SHORT;
    return run.unsure ? TZ_DECODE_UNSURE : TZ_DECODE_END(run.at, in_size);
}

#endif
