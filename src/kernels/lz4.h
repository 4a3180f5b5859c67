/* SPDX-License-Identifier: Apache-2.0
 * LZ4 frames, one tile by one work-item or by a work-group. Frames may follow each other, and
 * skippable ones may stand between them; together they make exactly the bytes of the tile. The
 * decoder is a machine with few states: each step reads a sequence, a block header, a frame header
 * or a checksum, so that a work-group can stop at any step and write its queue.
 *
 * By the format, the last 5 bytes of a block are literals, and the last match begins at least 12
 * bytes before the end. liblz4 refuses most blocks that end otherwise, and its versions differ in
 * the others: tiles with such blocks are TZ_DECODE_UNSURE if nothing else is wrong with them, and
 * so are tiles with a match of distance 0, which is invalid. */
#ifndef TZ_KERNELS_LZ4_H
#define TZ_KERNELS_LZ4_H

#include "kernels/copy_queue.h"
#include "kernels/kernel.h"
#include "kernels/lz4_frame.h"
#include "kernels/status.h"
#include "kernels/xxhash.h"

#define TZ_LZ4_WINDOW        65536u /* bytes that linked blocks look back */
#define TZ_LZ4_LAST_LITERALS 5u
#define TZ_LZ4_LAST_MATCH    12u
#define TZ_LZ4_LAST_INPUT    8u /* stored bytes that follow the literals of all but the last */
#define TZ_LZ4_MIN_MATCH     4u

/* States of a decoder, by the bytes that come next. */
#define TZ_LZ4_BETWEEN     0u /* a frame, a skippable frame, or the end of the tile */
#define TZ_LZ4_IN_FRAME    1u /* a block, or the end mark of the frame */
#define TZ_LZ4_IN_BLOCK    2u /* a sequence of a compressed block */
#define TZ_LZ4_AT_CHECKSUM 3u /* the checksum of the content of the frame */
#define TZ_LZ4_OVER        4u

typedef struct tz_lz4_decoder {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 in_size;
    tz_u32 at; /* offset of the next byte to read */
    TZ_GLOBAL tz_u8 *out;
    tz_u32 size;
    tz_u32 made; /* decoded bytes so far */
    tz_u32 state;
    tz_u32 frame_start; /* offset in the output */
    tz_u32 flags;       /* of the frame */
    tz_u32 max_block;
    tz_u64 content; /* bytes of the frame; with TZ_LZ4_CONTENT_SIZE */
    tz_u32 end;     /* of the block, in the input */
    tz_u32 start;   /* first byte of the output that matches may copy */
    tz_u32 stop;    /* end of the output that the block may write */
    tz_u32 unsure;  /* a block does not end as the format says */
} tz_lz4_decoder;

/* The output of a step: bytes of the input, and after them a match. */
typedef struct tz_lz4_sequence {
    tz_u32 from;
    tz_u32 literals;
    tz_u32 distance;
    tz_u32 copied;
} tz_lz4_sequence;

/* ---- blocks ---- */

/* Adds the bytes that follow a length of 15. Returns 0 if the block ends before them. */
TZ_FN int tz_lz4_extend_length(tz_lz4_decoder *decoder, tz_u32 *length)
{
    tz_u32 more = 255u;
    while (more == 255u) {
        if (decoder->at == decoder->end)
            return 0;
        more = decoder->in[decoder->at++];
        *length += more;
    }
    return 1;
}

/* Reads the literals of a sequence. They end the block, or must be followed by enough bytes for a
 * match and the last literals. */
TZ_FN tz_u32 tz_lz4_read_literals(tz_lz4_decoder *decoder, tz_u32 length, tz_lz4_sequence *sequence)
{
    if (length == 15u && !tz_lz4_extend_length(decoder, &length))
        return TZ_DECODE_TRUNCATED;
    if (length > decoder->end - decoder->at)
        return TZ_DECODE_TRUNCATED;
    if (length > decoder->stop - decoder->made)
        return TZ_DECODE_TOO_LONG;
    sequence->from = decoder->at;
    sequence->literals = length;
    decoder->at += length;
    decoder->made += length;
    if (decoder->at != decoder->end && (decoder->end - decoder->at < TZ_LZ4_LAST_INPUT ||
                                        decoder->stop - decoder->made < TZ_LZ4_LAST_MATCH))
        decoder->unsure = 1u;
    return TZ_DECODE_OK;
}

/* Reads the match of a sequence: its distance in two bytes, then the rest of its length. */
TZ_FN tz_u32 tz_lz4_read_match(tz_lz4_decoder *decoder, tz_u32 length, tz_lz4_sequence *sequence)
{
    if (decoder->end - decoder->at < 2u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 distance = tz_kernel_le16(decoder->in + decoder->at);
    decoder->at += 2u;
    if (length == 15u && !tz_lz4_extend_length(decoder, &length))
        return TZ_DECODE_TRUNCATED;
    length += TZ_LZ4_MIN_MATCH;
    if (distance > decoder->made - decoder->start)
        return TZ_DECODE_BAD_DISTANCE;
    if (length > decoder->stop - decoder->made)
        return TZ_DECODE_TOO_LONG;
    if (distance == 0u || decoder->at == decoder->end)
        return TZ_DECODE_UNSURE;
    if (decoder->end - decoder->at < TZ_LZ4_LAST_LITERALS - 1u ||
        decoder->stop - decoder->made - length < TZ_LZ4_LAST_LITERALS)
        decoder->unsure = 1u;
    sequence->distance = distance;
    sequence->copied = length;
    decoder->made += length;
    return TZ_DECODE_OK;
}

/* Passes over the checksum of a block, which was compared when the block began. */
TZ_FN void tz_lz4_end_block(tz_lz4_decoder *decoder)
{
    decoder->at += decoder->flags & TZ_LZ4_BLOCK_CHECKSUMS ? 4u : 0u;
    decoder->state = TZ_LZ4_IN_FRAME;
}

/* Reads a sequence of a compressed block. The last one has no match. */
TZ_FN tz_u32 tz_lz4_next_sequence(tz_lz4_decoder *decoder, tz_lz4_sequence *sequence)
{
    const tz_u32 token =
        decoder->in[decoder->at++]; /* exists: a match is never at the end of a block */
    const tz_u32 status = tz_lz4_read_literals(decoder, token >> 4, sequence);
    if (status != TZ_DECODE_OK)
        return status;
    if (decoder->at != decoder->end)
        return tz_lz4_read_match(decoder, token & 15u, sequence);
    tz_lz4_end_block(decoder);
    return TZ_DECODE_OK;
}

/* ---- frames ---- */

/* Reads the header: magic number, flags, block size, content size and a byte of checksum. */
TZ_FN tz_u32 tz_lz4_read_header(tz_lz4_decoder *decoder)
{
    const TZ_GLOBAL tz_u8 *head = decoder->in + decoder->at;
    const tz_u32 left = decoder->in_size - decoder->at;
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
    decoder->flags = flags;
    decoder->max_block = tz_lz4_block_size(block >> 4);
    if (flags & TZ_LZ4_CONTENT_SIZE)
        decoder->content = tz_kernel_le64(head + 6);
    decoder->at += size;
    return TZ_DECODE_OK;
}

/* Compares the checksum of a frame, all of whose bytes have been written. */
TZ_FN tz_u32 tz_lz4_check_content(tz_lz4_decoder *decoder)
{
    if (decoder->in_size - decoder->at < 4u)
        return TZ_DECODE_TRUNCATED;
    if (tz_kernel_le32(decoder->in + decoder->at) !=
        tz_kernel_xxhash32(decoder->out + decoder->frame_start,
                           decoder->made - decoder->frame_start))
        return TZ_DECODE_BAD_CHECKSUM;
    decoder->at += 4u;
    decoder->state = TZ_LZ4_BETWEEN;
    return TZ_DECODE_OK;
}

/* Reads the header of a block. A stored block is complete with that, as literals; the sequences of
 * a compressed one follow. A header of 0 ends the frame. */
TZ_FN tz_u32 tz_lz4_next_block(tz_lz4_decoder *decoder, tz_lz4_sequence *sequence)
{
    if (decoder->in_size - decoder->at < 4u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 word = tz_kernel_le32(decoder->in + decoder->at);
    const tz_u32 size = word & ~TZ_LZ4_STORED;
    const tz_u32 after = decoder->flags & TZ_LZ4_BLOCK_CHECKSUMS ? 4u : 0u;
    decoder->at += 4u;
    if (word == 0u) {
        const tz_u32 made = decoder->made - decoder->frame_start;
        if ((decoder->flags & TZ_LZ4_CONTENT_SIZE) && decoder->content != made)
            return decoder->content < made ? TZ_DECODE_TOO_LONG : TZ_DECODE_TOO_SHORT;
        decoder->state =
            decoder->flags & TZ_LZ4_CONTENT_CHECKSUM ? TZ_LZ4_AT_CHECKSUM : TZ_LZ4_BETWEEN;
        return TZ_DECODE_OK;
    }
    if (size > decoder->max_block)
        return TZ_DECODE_BAD_BLOCK;
    if (decoder->in_size - decoder->at < size + after)
        return TZ_DECODE_TRUNCATED;
    const TZ_GLOBAL tz_u8 *data = decoder->in + decoder->at;
    if (after && tz_kernel_le32(data + size) != tz_kernel_xxhash32(data, size))
        return TZ_DECODE_BAD_CHECKSUM;
    const tz_u32 capacity = decoder->size - decoder->made;
    if (word & TZ_LZ4_STORED) {
        if (size > capacity)
            return TZ_DECODE_TOO_LONG;
        sequence->from = decoder->at;
        sequence->literals = size;
        decoder->at += size;
        decoder->made += size;
        tz_lz4_end_block(decoder);
        return TZ_DECODE_OK;
    }
    decoder->end = decoder->at + size;
    decoder->stop = decoder->made + tz_kernel_min(capacity, decoder->max_block);
    decoder->start = decoder->made;
    if (!(decoder->flags & TZ_LZ4_INDEPENDENT))
        decoder->start -= tz_kernel_min(decoder->made - decoder->frame_start, TZ_LZ4_WINDOW);
    if (capacity == 0u &&
        (size > 1u || decoder->in[decoder->at] != 0)) /* a block of 0 bytes is one token of 0 */
        return TZ_DECODE_TOO_LONG;
    decoder->state = TZ_LZ4_IN_BLOCK;
    return TZ_DECODE_OK;
}

/* Begins a frame, passes over a skippable one, or ends the tile: a skippable frame that is not
 * complete counts as bytes after it. */
TZ_FN tz_u32 tz_lz4_next_frame(tz_lz4_decoder *decoder)
{
    const TZ_GLOBAL tz_u8 *head = decoder->in + decoder->at;
    const tz_u32 left = decoder->in_size - decoder->at;
    const tz_u32 magic = left >= 4u ? tz_kernel_le32(head) : 0u;
    if (magic == TZ_LZ4_MAGIC) {
        const tz_u32 status = tz_lz4_read_header(decoder);
        if (status != TZ_DECODE_OK)
            return status;
        decoder->frame_start = decoder->made;
        if ((decoder->flags & TZ_LZ4_CONTENT_SIZE) &&
            decoder->content > decoder->size - decoder->made)
            return TZ_DECODE_TOO_LONG;
        decoder->state = TZ_LZ4_IN_FRAME;
        return TZ_DECODE_OK;
    }
    if ((magic & ~15u) == TZ_LZ4_SKIPPABLE && left >= 8u && tz_kernel_le32(head + 4) <= left - 8u) {
        decoder->at += 8u + tz_kernel_le32(head + 4);
        return TZ_DECODE_OK;
    }
    decoder->state = TZ_LZ4_OVER;
    if (decoder->at == 0u)
        return TZ_DECODE_BAD_HEADER;
    if (decoder->made != decoder->size)
        return TZ_DECODE_TOO_SHORT;
    return decoder->unsure ? TZ_DECODE_UNSURE : TZ_DECODE_END(decoder->at, decoder->in_size);
}

/* ---- tiles ---- */

/* Makes one step. The last one returns the status of the tile. */
TZ_FN tz_u32 tz_lz4_step(tz_lz4_decoder *decoder, tz_lz4_sequence *sequence)
{
    sequence->literals = 0u;
    sequence->copied = 0u;
    if (decoder->state == TZ_LZ4_IN_BLOCK)
        return tz_lz4_next_sequence(decoder, sequence);
    if (decoder->state == TZ_LZ4_IN_FRAME)
        return tz_lz4_next_block(decoder, sequence);
    return decoder->state == TZ_LZ4_AT_CHECKSUM ? tz_lz4_check_content(decoder)
                                                : tz_lz4_next_frame(decoder);
}

TZ_FN tz_lz4_decoder tz_lz4_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                                  tz_u32 size)
{
    tz_lz4_decoder decoder = {0};
    decoder.in = in;
    decoder.in_size = in_size;
    decoder.out = out;
    decoder.size = size;
    return decoder;
}

/* True if the tile is one frame of one compressed block, with a content size of size bytes, and
 * nothing else. The bytes of the block then follow TZ_LZ4_HEADER and TZ_LZ4_BLOCK_HEADER. */
TZ_FN int tz_lz4_is_single(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, tz_u32 size)
{
    const tz_u32 wanted = TZ_LZ4_CONTENT_SIZE | TZ_LZ4_INDEPENDENT;
    tz_lz4_decoder decoder = tz_lz4_start(in, in_size, 0, size);
    if (in_size < TZ_LZ4_HEADER + 2u * TZ_LZ4_BLOCK_HEADER || tz_kernel_le32(in) != TZ_LZ4_MAGIC ||
        tz_lz4_read_header(&decoder) != TZ_DECODE_OK ||
        (decoder.flags & (wanted | TZ_LZ4_BLOCK_CHECKSUMS)) != wanted || decoder.content != size ||
        size > decoder.max_block)
        return 0;
    const tz_u32 block = tz_kernel_le32(in + decoder.at);
    const tz_u32 left = in_size - decoder.at - 2u * TZ_LZ4_BLOCK_HEADER;
    const tz_u32 sum = decoder.flags & TZ_LZ4_CONTENT_CHECKSUM ? 4u : 0u;
    return block > 0u && block <= decoder.max_block && left >= sum && left - sum == block &&
           tz_kernel_le32(in + decoder.at + TZ_LZ4_BLOCK_HEADER + block) == 0u;
}

/* Decodes a tile with compression 50004, by one work-item. */
TZ_FN tz_u32 tz_lz4_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                         tz_u32 size)
{
    tz_lz4_decoder decoder = tz_lz4_start(in, in_size, out, size);
    tz_u32 status = TZ_DECODE_OK;
    while (status == TZ_DECODE_OK && decoder.state != TZ_LZ4_OVER) {
        tz_lz4_sequence sequence;
        const tz_u32 at = decoder.made;
        status = tz_lz4_step(&decoder, &sequence);
        if (status != TZ_DECODE_OK)
            return status;
        for (tz_u32 i = 0u; i < sequence.literals; i++)
            out[at + i] = in[sequence.from + i];
        if (sequence.copied > 0u)
            tz_copy_match(out, at + sequence.literals, sequence.distance, sequence.copied);
    }
    return status;
}

/* Work-item 0 fills the queue. It returns before a checksum, so that all bytes that the checksum
 * covers are written first. */
TZ_FN void tz_lz4_fill_queue(tz_lz4_decoder *decoder, TZ_LOCAL tz_u32 *queue)
{
    tz_copy_queue_begin(queue, decoder->made);
    while (!queue[TZ_COPY_QUEUE_FULL] &&
           queue[TZ_COPY_QUEUE_COUNT] + 2u <= TZ_COPY_QUEUE_CAPACITY) {
        tz_lz4_sequence sequence;
        if (decoder->state == TZ_LZ4_AT_CHECKSUM && queue[TZ_COPY_QUEUE_COUNT] > 0u)
            return;
        const tz_u32 status = tz_lz4_step(decoder, &sequence);
        if (status != TZ_DECODE_OK || decoder->state == TZ_LZ4_OVER) {
            tz_copy_queue_end(queue, status, 0u);
            return;
        }
        if (sequence.literals > 0u)
            tz_copy_queue_add(queue, TZ_LITERAL | sequence.from, sequence.literals);
        if (sequence.copied > 0u)
            tz_copy_queue_add(queue, sequence.distance, sequence.copied);
    }
}

/* The same by a work-group; queue: TZ_COPY_QUEUE_WORDS. All work-items get the status. */
TZ_FN tz_u32 tz_lz4_tile_work_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                                    tz_u32 size, TZ_LOCAL tz_u32 *queue)
{
    tz_lz4_decoder decoder = tz_lz4_start(in, in_size, out, size);
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (!over) {
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item == 0u)
                tz_lz4_fill_queue(&decoder, queue);
        }
        TZ_SYNC;
        over = queue[TZ_COPY_QUEUE_IS_LAST];
        status = queue[TZ_COPY_QUEUE_STATUS];
        for (TZ_EACH_WORK_ITEM(work_item))
            tz_copy_queue_write_stored(queue, in, 1u, out, work_item);
        TZ_SYNC;
    }
    return status;
}

#endif
