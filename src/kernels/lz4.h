/* SPDX-License-Identifier: Apache-2.0
 * LZ4 frames, one tile by one item or by a group. Frames may follow each other, with skippable ones
 * between them; together they make exactly the bytes of the tile.
 *
 * The format says how a block ends: the last 5 bytes are literals, and the last copy begins 12
 * bytes before the end or more. liblz4 refuses most blocks that end otherwise but not all, and
 * which ones depends on its version: tiles with such blocks are TZ_DECODE_UNSURE if nothing else is
 * wrong with them, and so are those with a copy from a distance of 0, which means nothing. */
#ifndef TZ_KERNELS_LZ4_H
#define TZ_KERNELS_LZ4_H

#include "kernels/copies.h"
#include "kernels/kernel.h"
#include "kernels/lz4_frame.h"
#include "kernels/status.h"
#include "kernels/xxhash.h"

#define TZ_LZ4_WINDOW        65536u /* how far linked blocks look back */
#define TZ_LZ4_LAST_LITERALS 5u
#define TZ_LZ4_LAST_COPY     12u
#define TZ_LZ4_LAST_INPUT    8u /* stored bytes that follow the literals of all but the last */
#define TZ_LZ4_SHORTEST      4u /* copy */

/* Where a tile is at. */
#define TZ_LZ4_BETWEEN  0u /* frames */
#define TZ_LZ4_IN_FRAME 1u /* a block follows, or the mark of the frame's end */
#define TZ_LZ4_IN_BLOCK 2u /* a sequence of a compressed block follows */
#define TZ_LZ4_AT_SUM   3u /* the checksum of all that the frame made follows */
#define TZ_LZ4_OVER     4u

/* A tile at work. */
typedef struct tz_lz4_run {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 in_size;
    tz_u32 at; /* next to read */
    TZ_GLOBAL tz_u8 *out;
    tz_u32 size;
    tz_u32 made;
    tz_u32 state;
    tz_u32 frame_start; /* in the output */
    tz_u32 flags;       /* of the frame */
    tz_u32 max_block;
    tz_u64 content; /* bytes that the frame makes, if it says so */
    tz_u32 end;     /* of the block's bytes */
    tz_u32 start;   /* how far back its copies reach */
    tz_u32 stop;    /* how far it may write */
    tz_u32 unsure;  /* a block does not end as it should */
} tz_lz4_run;

/* What a step makes: bytes of the input, and behind them a copy of what was made. */
typedef struct tz_lz4_piece {
    tz_u32 from;
    tz_u32 literals;
    tz_u32 distance;
    tz_u32 copied;
} tz_lz4_piece;

/* ---- blocks ---- */

/* Adds the bytes that follow a length of 15; 0: the block ends there. */
TZ_FN int tz_lz4_more_length(tz_lz4_run *run, tz_u32 *length)
{
    tz_u32 more = 255u;
    while (more == 255u) {
        if (run->at == run->end)
            return 0;
        more = run->in[run->at++];
        *length += more;
    }
    return 1;
}

TZ_FN tz_u32 tz_lz4_literals(tz_lz4_run *run, tz_u32 length, tz_lz4_piece *piece)
{
    if (length == 15u && !tz_lz4_more_length(run, &length))
        return TZ_DECODE_TRUNCATED;
    if (length > run->end - run->at)
        return TZ_DECODE_TRUNCATED;
    if (length > run->stop - run->made)
        return TZ_DECODE_TOO_LONG;
    piece->from = run->at;
    piece->literals = length;
    run->at += length;
    run->made += length;
    if (run->at != run->end &&
        (run->end - run->at < TZ_LZ4_LAST_INPUT || run->stop - run->made < TZ_LZ4_LAST_COPY))
        run->unsure = 1u;
    return TZ_DECODE_OK;
}

TZ_FN tz_u32 tz_lz4_copy(tz_lz4_run *run, tz_u32 length, tz_lz4_piece *piece)
{
    if (run->end - run->at < 2u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 distance = run->in[run->at] | (tz_u32)run->in[run->at + 1u] << 8;
    run->at += 2u;
    if (length == 15u && !tz_lz4_more_length(run, &length))
        return TZ_DECODE_TRUNCATED;
    length += TZ_LZ4_SHORTEST;
    if (distance > run->made - run->start)
        return TZ_DECODE_BAD_DISTANCE;
    if (length > run->stop - run->made)
        return TZ_DECODE_TOO_LONG;
    if (distance == 0u || run->at == run->end)
        return TZ_DECODE_UNSURE;
    if (run->end - run->at < TZ_LZ4_LAST_LITERALS - 1u ||
        run->stop - run->made - length < TZ_LZ4_LAST_LITERALS)
        run->unsure = 1u;
    piece->distance = distance;
    piece->copied = length;
    run->made += length;
    return TZ_DECODE_OK;
}

TZ_FN void tz_lz4_end_block(tz_lz4_run *run)
{
    run->at += run->flags & TZ_LZ4_BLOCK_CHECKSUMS ? 4u : 0u;
    run->state = TZ_LZ4_IN_FRAME;
}

/* The next sequence of a compressed block; the last one has no copy. */
TZ_FN tz_u32 tz_lz4_sequence(tz_lz4_run *run, tz_lz4_piece *piece)
{
    const tz_u32 token = run->in[run->at++]; /* there is one: copies see to it */
    const tz_u32 status = tz_lz4_literals(run, token >> 4, piece);
    if (status != TZ_DECODE_OK)
        return status;
    if (run->at != run->end)
        return tz_lz4_copy(run, token & 15u, piece);
    tz_lz4_end_block(run);
    return TZ_DECODE_OK;
}

/* A compressed block of size bytes begins. */
TZ_FN tz_u32 tz_lz4_begin_block(tz_lz4_run *run, tz_u32 size)
{
    const tz_u32 room = run->size - run->made;
    run->end = run->at + size;
    run->stop = run->made + (room < run->max_block ? room : run->max_block);
    run->start = run->made;
    if (!(run->flags & TZ_LZ4_INDEPENDENT))
        run->start = run->made - run->frame_start > TZ_LZ4_WINDOW ? run->made - TZ_LZ4_WINDOW
                                                                  : run->frame_start;
    if (room == 0u && (size > 1u || run->in[run->at] != 0))
        return TZ_DECODE_TOO_LONG;
    run->state = TZ_LZ4_IN_BLOCK;
    return TZ_DECODE_OK;
}

/* A block of bytes as they are. */
TZ_FN tz_u32 tz_lz4_stored(tz_lz4_run *run, tz_u32 size, tz_lz4_piece *piece)
{
    if (size > run->size - run->made)
        return TZ_DECODE_TOO_LONG;
    piece->from = run->at;
    piece->literals = size;
    run->at += size;
    run->made += size;
    tz_lz4_end_block(run);
    return TZ_DECODE_OK;
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
    run->max_block = tz_lz4_block_size(block >> 4);
    if (flags & TZ_LZ4_CONTENT_SIZE)
        run->content = tz_kernel_le32(head + 6) | (tz_u64)tz_kernel_le32(head + 10) << 32;
    run->at += size;
    return TZ_DECODE_OK;
}

/* The mark of a frame's end was read. */
TZ_FN tz_u32 tz_lz4_end_frame(tz_lz4_run *run)
{
    const tz_u32 made = run->made - run->frame_start;
    if ((run->flags & TZ_LZ4_CONTENT_SIZE) && run->content != made)
        return run->content < made ? TZ_DECODE_TOO_LONG : TZ_DECODE_TOO_SHORT;
    run->state = run->flags & TZ_LZ4_CONTENT_CHECKSUM ? TZ_LZ4_AT_SUM : TZ_LZ4_BETWEEN;
    return TZ_DECODE_OK;
}

/* All that the frame made has been written. */
TZ_FN tz_u32 tz_lz4_check_sum(tz_lz4_run *run)
{
    if (run->in_size - run->at < 4u)
        return TZ_DECODE_TRUNCATED;
    if (tz_kernel_le32(run->in + run->at) !=
        tz_kernel_xxhash32(run->out + run->frame_start, run->made - run->frame_start))
        return TZ_DECODE_BAD_CHECKSUM;
    run->at += 4u;
    run->state = TZ_LZ4_BETWEEN;
    return TZ_DECODE_OK;
}

/* A block, or the mark of the frame's end. */
TZ_FN tz_u32 tz_lz4_next_block(tz_lz4_run *run, tz_lz4_piece *piece)
{
    if (run->in_size - run->at < 4u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 word = tz_kernel_le32(run->in + run->at);
    const tz_u32 size = word & ~TZ_LZ4_STORED;
    const tz_u32 after = run->flags & TZ_LZ4_BLOCK_CHECKSUMS ? 4u : 0u;
    run->at += 4u;
    if (word == 0u)
        return tz_lz4_end_frame(run);
    if (size > run->max_block)
        return TZ_DECODE_BAD_BLOCK;
    if (run->in_size - run->at < size + after)
        return TZ_DECODE_TRUNCATED;
    const TZ_GLOBAL tz_u8 *data = run->in + run->at;
    if (after && tz_kernel_le32(data + size) != tz_kernel_xxhash32(data, size))
        return TZ_DECODE_BAD_CHECKSUM;
    return word & TZ_LZ4_STORED ? tz_lz4_stored(run, size, piece) : tz_lz4_begin_block(run, size);
}

TZ_FN tz_u32 tz_lz4_begin_frame(tz_lz4_run *run)
{
    const tz_u32 status = tz_lz4_header(run);
    if (status != TZ_DECODE_OK)
        return status;
    run->frame_start = run->made;
    if ((run->flags & TZ_LZ4_CONTENT_SIZE) && run->content > run->size - run->made)
        return TZ_DECODE_TOO_LONG;
    run->state = TZ_LZ4_IN_FRAME;
    return TZ_DECODE_OK;
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

/* ---- tiles ---- */

/* A frame, a skippable one, or the end. */
TZ_FN tz_u32 tz_lz4_next_frame(tz_lz4_run *run)
{
    if (run->in_size - run->at >= 4u) {
        if (tz_kernel_le32(run->in + run->at) == TZ_LZ4_MAGIC)
            return tz_lz4_begin_frame(run);
        if (tz_lz4_skip(run))
            return TZ_DECODE_OK;
    }
    run->state = TZ_LZ4_OVER;
    if (run->at == 0u)
        return TZ_DECODE_BAD_HEADER;
    if (run->made != run->size)
        return TZ_DECODE_TOO_SHORT;
    return run->unsure ? TZ_DECODE_UNSURE : TZ_DECODE_END(run->at, run->in_size);
}

/* One step, and what it makes. When the tile is over, its status. */
TZ_FN tz_u32 tz_lz4_step(tz_lz4_run *run, tz_lz4_piece *piece)
{
    piece->literals = 0u;
    piece->copied = 0u;
    if (run->state == TZ_LZ4_IN_BLOCK)
        return tz_lz4_sequence(run, piece);
    if (run->state == TZ_LZ4_IN_FRAME)
        return tz_lz4_next_block(run, piece);
    return run->state == TZ_LZ4_AT_SUM ? tz_lz4_check_sum(run) : tz_lz4_next_frame(run);
}

TZ_FN tz_lz4_run tz_lz4_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                              tz_u32 size)
{
    tz_lz4_run run;
    run.in = in;
    run.in_size = in_size;
    run.at = 0u;
    run.out = out;
    run.size = size;
    run.made = 0u;
    run.state = TZ_LZ4_BETWEEN;
    run.frame_start = 0u;
    run.flags = 0u;
    run.max_block = 0u;
    run.content = 0u;
    run.end = 0u;
    run.start = 0u;
    run.stop = 0u;
    run.unsure = 0u;
    return run;
}

/* Whether the tile is one frame of one compressed block, which says that it makes so many bytes,
 * and nothing else. The block's own bytes then begin behind TZ_LZ4_HEADER and TZ_LZ4_BLOCK_HEAD. */
TZ_FN int tz_lz4_is_single(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, tz_u32 size)
{
    const tz_u32 wanted = TZ_LZ4_CONTENT_SIZE | TZ_LZ4_INDEPENDENT;
    tz_lz4_run run = tz_lz4_start(in, in_size, 0, size);
    if (in_size < TZ_LZ4_HEADER + 2u * TZ_LZ4_BLOCK_HEAD || tz_kernel_le32(in) != TZ_LZ4_MAGIC ||
        tz_lz4_header(&run) != TZ_DECODE_OK ||
        (run.flags & (wanted | TZ_LZ4_BLOCK_CHECKSUMS)) != wanted || run.content != size ||
        size > run.max_block)
        return 0;
    const tz_u32 block = tz_kernel_le32(in + run.at);
    const tz_u32 left = in_size - run.at - 2u * TZ_LZ4_BLOCK_HEAD;
    const tz_u32 sum = run.flags & TZ_LZ4_CONTENT_CHECKSUM ? 4u : 0u;
    return block > 0u && block <= run.max_block && left >= sum && left - sum == block &&
           tz_kernel_le32(in + run.at + TZ_LZ4_BLOCK_HEAD + block) == 0u;
}

/* One tile as it is stored with compression 50004, by one item. */
TZ_FN tz_u32 tz_lz4_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                         tz_u32 size)
{
    tz_lz4_run run = tz_lz4_start(in, in_size, out, size);
    tz_u32 status = TZ_DECODE_OK;
    while (status == TZ_DECODE_OK && run.state != TZ_LZ4_OVER) {
        tz_lz4_piece piece;
        TZ_GLOBAL tz_u8 *to = out + run.made;
        status = tz_lz4_step(&run, &piece);
        if (status != TZ_DECODE_OK)
            return status;
        for (tz_u32 i = 0u; i < piece.literals; i++)
            to[i] = in[piece.from + i];
        to += piece.literals;
        for (tz_u32 i = 0u; i < piece.copied; i++) /* byte by byte: it may reach into itself */
            to[i] = *(to + i - piece.distance);
    }
    return status;
}

/* Item 0's part: fills the queue; what is checked whole is written before. */
TZ_FN void tz_lz4_gather(tz_lz4_run *run, TZ_LOCAL tz_u32 *queue)
{
    tz_queue_begin(queue, run->made);
    while (!queue[TZ_QUEUE_FULL] && queue[TZ_QUEUE_COUNT] + 2u <= TZ_QUEUE_ROOM) {
        tz_lz4_piece piece;
        if (run->state == TZ_LZ4_AT_SUM && queue[TZ_QUEUE_COUNT] > 0u)
            return;
        const tz_u32 status = tz_lz4_step(run, &piece);
        if (status != TZ_DECODE_OK || run->state == TZ_LZ4_OVER) {
            tz_queue_end(queue, status, 0u);
            return;
        }
        if (piece.literals > 0u)
            tz_queue_add(queue, TZ_LITERAL | piece.from, piece.literals);
        if (piece.copied > 0u)
            tz_queue_add(queue, piece.distance, piece.copied);
    }
}

/* The same by a group; queue: TZ_QUEUE_WORDS. All items get the status. */
TZ_FN tz_u32 tz_lz4_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                          tz_u32 size, TZ_LOCAL tz_u32 *queue)
{
    tz_lz4_run run = tz_lz4_start(in, in_size, out, size);
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (!over) {
        for (TZ_ITEMS(item)) {
            if (item == 0u)
                tz_lz4_gather(&run, queue);
        }
        TZ_SYNC;
        over = queue[TZ_QUEUE_OVER];
        status = queue[TZ_QUEUE_STATE];
        for (TZ_ITEMS(item))
            tz_queue_write_stored(queue, in, out, item);
        TZ_SYNC;
    }
    return status;
}

#endif
