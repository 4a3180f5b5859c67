/* SPDX-License-Identifier: Apache-2.0
 * Frames of Zstandard (RFC 8878), their blocks, and the parts of a block. Frames may follow each
 * other, and skippable ones may stand between them. Frames with a dictionary or with a larger
 * window than is usual are left to the codec.
 *
 * A block is literals, and sequences: each says how many literals come next, and which bytes of the
 * tile follow them. Literals that are left come last. A stored block and a run of one byte are
 * blocks of literals only, so that one loop writes all three kinds.
 *
 * These functions only parse: they advance a decoder and report lengths and offsets. zstd.h writes
 * the bytes, by one work-item or by a work-group.
 *
 * A status of UNSURE means that versions of libzstd differ, or accept streams that the format does
 * not allow. */
#ifndef TZ_KERNELS_ZSTD_FRAME_H
#define TZ_KERNELS_ZSTD_FRAME_H

#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/xxhash.h"
#include "kernels/zstd_entropy.h"

#define TZ_ZSTD_MAX_BLOCK   (128u << 10)
#define TZ_ZSTD_MAX_STREAMS 4u

/* Offsets in the scratch memory, in words: three FSE tables, the Huffman table, and the bytes of
 * decoded literals, which are also the scratch of Huffman weights. */
#define TZ_ZSTD_TABLE_WORDS   1024u /* greatest FSE table */
#define TZ_ZSTD_HUFFMAN_AT    (3u * TZ_ZSTD_TABLE_WORDS)
#define TZ_ZSTD_LITERALS_AT   (TZ_ZSTD_HUFFMAN_AT + TZ_ZSTD_HUFFMAN_SIZE / 2u)
#define TZ_ZSTD_SCRATCH_WORDS (TZ_ZSTD_LITERALS_AT + TZ_ZSTD_MAX_BLOCK / 4u)

/* Progress of a work-group in a block. */
#define TZ_ZSTD_STAGE_NO_BLOCK  0u
#define TZ_ZSTD_STAGE_LITERALS  1u
#define TZ_ZSTD_STAGE_SEQUENCES 2u

/* The literals of a block, in the input or in the scratch memory. */
typedef struct tz_zstd_literals {
    tz_u32 at;     /* offset of the first one */
    tz_u32 stored; /* they are in the input */
    tz_u32 step;   /* 1; 0: one byte stands for all */
    tz_u32 size;
    tz_u32 used; /* by sequences so far */
} tz_zstd_literals;

typedef struct tz_zstd_decoder {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 in_size;
    tz_u32 at; /* offset of the next byte to read */
    TZ_GLOBAL tz_u8 *out;
    tz_u32 size;
    tz_u32 made; /* decoded bytes so far */
    TZ_GLOBAL tz_u32 *scratch;
    /* the frame */
    tz_u32 in_frame;
    tz_u32 frame_start; /* offset in the tile */
    tz_u32 flags;
    tz_u32 content; /* bytes that it makes; with TZ_ZSTD_CONTENT */
    tz_u32 max_block;
    tz_u32 huffman_log; /* bits of the Huffman table; 0: no table yet */
    tz_u32 has_tables;  /* an earlier block had sequences */
    tz_u32 logs[3];     /* of the FSE tables, by kind */
    tz_u32 offsets[3];  /* the last three, newest first */
    /* the block */
    tz_u32 stage;
    tz_u32 last;
    tz_u32 compressed; /* sequences follow the literals */
    tz_u32 end;        /* in the input */
    tz_u32 start;      /* in the tile */
    tz_zstd_literals literals;
    tz_u32 streams; /* of codewords, to be decoded to literals; 0: they are stored */
    tz_u32 stream_at[TZ_ZSTD_MAX_STREAMS + 1u];
    tz_u32 sequences; /* left to be read */
    tz_zstd_bits bits;
    tz_u32 states[3];
} tz_zstd_decoder;

/* A number of 0 to 4 bytes. */
TZ_FN tz_u32 tz_zstd_load_le(const TZ_GLOBAL tz_u8 *at, tz_u32 bytes)
{
    tz_u32 value = 0u;
    for (tz_u32 i = 0u; i < bytes; i++)
        value |= (tz_u32)at[i] << 8u * i;
    return value;
}

TZ_FN TZ_GLOBAL tz_u32 *tz_zstd_table(const tz_zstd_decoder *decoder, tz_u32 kind)
{
    return decoder->scratch + kind * TZ_ZSTD_TABLE_WORDS;
}

TZ_FN TZ_GLOBAL tz_u16 *tz_zstd_huffman_table(TZ_GLOBAL tz_u32 *scratch)
{
    return (TZ_GLOBAL tz_u16 *)(scratch + TZ_ZSTD_HUFFMAN_AT);
}

TZ_FN TZ_GLOBAL tz_u8 *tz_zstd_literal_buffer(TZ_GLOBAL tz_u32 *scratch)
{
    return (TZ_GLOBAL tz_u8 *)(scratch + TZ_ZSTD_LITERALS_AT);
}

/* ---- literals ---- */

/* Sets the literals of a block. All of them become bytes of the tile. */
TZ_FN tz_u32 tz_zstd_set_literals(tz_zstd_decoder *decoder, tz_u32 at, tz_u32 stored, tz_u32 step,
                                  tz_u32 size)
{
    decoder->literals.at = at;
    decoder->literals.stored = stored;
    decoder->literals.step = step;
    decoder->literals.size = size;
    decoder->literals.used = 0u;
    if (size > decoder->size - decoder->made)
        return TZ_DECODE_TOO_LONG;
    return size > decoder->max_block ? TZ_DECODE_UNSURE : TZ_DECODE_OK;
}

/* Reads literals that are stored, or a run of one byte. */
TZ_FN tz_u32 tz_zstd_stored_literals(tz_zstd_decoder *decoder)
{
    const TZ_GLOBAL tz_u8 *head = decoder->in + decoder->at;
    const tz_u32 left = decoder->end - decoder->at;
    const tz_u32 single = head[0] & 3u;
    const tz_u32 form = head[0] >> 2 & 3u;
    /* At most 3 bytes, which every compressed block has. */
    const tz_u32 head_size = form == 1u ? 2u : form == 3u ? 3u : 1u;
    const tz_u32 size = tz_zstd_load_le(head, head_size) >> (head_size == 1u ? 3u : 4u);
    const tz_u32 stored = single ? 1u : size;
    if (left - head_size < stored)
        return TZ_DECODE_TRUNCATED;
    decoder->at += head_size + stored;
    return tz_zstd_set_literals(decoder, decoder->at - stored, 1u, single ? 0u : 1u, size);
}

/* Sets the offsets of the streams of codewords. The last one ends with the literals. */
TZ_FN tz_u32 tz_zstd_find_streams(tz_zstd_decoder *decoder, tz_u32 streams, tz_u32 end)
{
    decoder->streams = streams;
    decoder->stream_at[streams] = end;
    decoder->stream_at[0] = decoder->at;
    if (streams > 1u) {
        if (end - decoder->at < 10u) /* three sizes, and at least a byte for each stream */
            return TZ_DECODE_TRUNCATED;
        decoder->stream_at[0] += 6u;
        for (tz_u32 i = 1u; i < streams; i++) {
            const tz_u32 size = tz_kernel_le16(decoder->in + decoder->at + 2u * (i - 1u));
            if (size > end - decoder->stream_at[i - 1u])
                return TZ_DECODE_TRUNCATED;
            decoder->stream_at[i] = decoder->stream_at[i - 1u] + size;
        }
    }
    decoder->at = end;
    return TZ_DECODE_OK;
}

/* Reads the header of literals in a Huffman code, a new one or that of an earlier block. */
TZ_FN tz_u32 tz_zstd_coded_literals(tz_zstd_decoder *decoder)
{
    const TZ_GLOBAL tz_u8 *head = decoder->in + decoder->at;
    if (decoder->end - decoder->at < 5u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 form = head[0] >> 2 & 3u;
    const tz_u32 width = form < 2u ? 10u : form == 2u ? 14u : 18u; /* bits of either size */
    const tz_u32 head_size = (4u + 2u * width) / 8u;
    const tz_u64 word = tz_kernel_le32(head) | (tz_u64)head[4] << 32;
    const tz_u32 size = (tz_u32)(word >> 4) & ((1u << width) - 1u);
    const tz_u32 stored = (tz_u32)(word >> (4u + width)) & ((1u << width) - 1u);
    const tz_u32 streams = form == 0u ? 1u : TZ_ZSTD_MAX_STREAMS;
    if (stored > decoder->end - decoder->at - head_size)
        return TZ_DECODE_TRUNCATED;
    if (size == 0u || (streams > 1u && size < 6u))
        return TZ_DECODE_UNSURE;
    tz_u32 status = tz_zstd_set_literals(decoder, 0u, 0u, 1u, size);
    if (status != TZ_DECODE_OK)
        return status;
    decoder->at += head_size;
    const tz_u32 end = decoder->at + stored;
    if ((head[0] & 3u) == 2u) {
        tz_u32 used = 0u;
        status = tz_zstd_read_huffman_table(
            decoder->in + decoder->at, stored, decoder->scratch + TZ_ZSTD_LITERALS_AT,
            tz_zstd_huffman_table(decoder->scratch), &decoder->huffman_log, &used);
        decoder->at += used;
    } else if (decoder->huffman_log == 0u) {
        status = TZ_DECODE_BAD_CODE;
    }
    return status == TZ_DECODE_OK ? tz_zstd_find_streams(decoder, streams, end) : status;
}

/* The offset of the literals of a stream: each stream but the last makes a quarter, rounded up. */
TZ_FN tz_u32 tz_zstd_stream_output(tz_u32 stream, tz_u32 streams, tz_u32 size)
{
    if (stream == streams)
        return size;
    return stream * ((size + 3u) / 4u);
}

/* ---- sequences ---- */

/* Modes of FSE tables. */
#define TZ_ZSTD_MODE_PREDEFINED 0u
#define TZ_ZSTD_MODE_RLE        1u /* one symbol */
#define TZ_ZSTD_MODE_FSE        2u /* a new table */
#define TZ_ZSTD_MODE_REPEAT     3u /* that of an earlier block */

/* Makes a table of this kind; its description has *used bytes. */
TZ_FN_LARGE tz_u32 tz_zstd_read_table(const TZ_GLOBAL tz_u8 *in, tz_u32 size, tz_u32 kind,
                                      tz_u32 mode, TZ_GLOBAL tz_u32 *table, tz_u32 *log,
                                      tz_u32 *used)
{
    tz_zstd_counts counts;
    *used = 0u;
    if (mode == TZ_ZSTD_MODE_RLE) {
        if (size == 0u)
            return TZ_DECODE_TRUNCATED;
        if (in[0] >= tz_zstd_symbol_count(kind))
            return TZ_DECODE_BAD_CODE;
        tz_zstd_make_rle_table(table, kind, in[0]);
        *log = 0u;
        *used = 1u;
        return TZ_DECODE_OK;
    }
    if (mode == TZ_ZSTD_MODE_PREDEFINED) {
        tz_zstd_predefined_counts(kind, &counts);
    } else {
        const tz_u32 status = tz_zstd_read_counts(in, size, kind, &counts, used);
        if (status != TZ_DECODE_OK)
            return status;
    }
    *log = counts.log;
    tz_zstd_make_table(table, kind, &counts);
    return TZ_DECODE_OK;
}

/* Reads the modes of all three kinds and their tables, in the order of the kinds. */
TZ_FN tz_u32 tz_zstd_read_tables(tz_zstd_decoder *decoder)
{
    if (decoder->at == decoder->end)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 modes = decoder->in[decoder->at++];
    if ((modes & 3u) != 0u)
        return TZ_DECODE_UNSURE;
    for (tz_u32 kind = 0u; kind < 3u; kind++) {
        const tz_u32 mode = modes >> (6u - 2u * kind) & 3u;
        tz_u32 log = decoder->logs[kind];
        tz_u32 used = 0u;
        tz_u32 status = decoder->has_tables ? TZ_DECODE_OK : TZ_DECODE_BAD_CODE;
        if (mode != TZ_ZSTD_MODE_REPEAT)
            status = tz_zstd_read_table(decoder->in + decoder->at, decoder->end - decoder->at, kind,
                                        mode, tz_zstd_table(decoder, kind), &log, &used);
        if (status != TZ_DECODE_OK)
            return status;
        decoder->logs[kind] = log;
        decoder->at += used;
    }
    decoder->has_tables = 1u;
    return TZ_DECODE_OK;
}

/* Reads the header of the sequences: their number in one to three bytes, the tables, and the first
 * states. Blocks that are not compressed have none. */
TZ_FN tz_u32 tz_zstd_begin_sequences(tz_zstd_decoder *decoder)
{
    if (!decoder->compressed)
        return TZ_DECODE_OK;
    if (decoder->at == decoder->end)
        return TZ_DECODE_TRUNCATED;
    const TZ_GLOBAL tz_u8 *head = decoder->in + decoder->at;
    const tz_u32 size = head[0] < 128u ? 1u : head[0] < 255u ? 2u : 3u;
    if (decoder->end - decoder->at < size)
        return TZ_DECODE_TRUNCATED;
    decoder->at += size;
    decoder->sequences = size == 1u   ? head[0]
                         : size == 2u ? ((tz_u32)head[0] - 128u) << 8 | head[1]
                                      : 0x7f00u + tz_kernel_le16(head + 1);
    if (decoder->sequences == 0u && size > 1u)
        return TZ_DECODE_UNSURE;
    if (decoder->sequences == 0u)
        return decoder->at == decoder->end ? TZ_DECODE_OK : TZ_DECODE_BAD_BLOCK;
    const tz_u32 status = tz_zstd_read_tables(decoder);
    if (status != TZ_DECODE_OK)
        return status;
    if (!tz_zstd_begin_bits(&decoder->bits, decoder->in + decoder->at, decoder->end - decoder->at))
        return TZ_DECODE_BAD_CODE;
    for (tz_u32 kind = 0u; kind < 3u; kind++)
        decoder->states[kind] = tz_zstd_read_bits(&decoder->bits, decoder->logs[kind]);
    return TZ_DECODE_OK;
}

/* The offset of a number (RFC 8878, section 3.1.1.5). Numbers 1 to 3 are one of the last three
 * offsets, shifted by one if no literals precede the match; others are the offset plus 3. Returns 0
 * if versions of libzstd differ. */
TZ_FN tz_u32 tz_zstd_resolve_offset(tz_zstd_decoder *decoder, tz_u32 number, tz_u32 literals)
{
    tz_u32 *last = decoder->offsets;
    tz_u32 offset;
    const tz_u32 which = number > 3u ? 3u : number - (literals > 0u ? 1u : 0u);
    if (number > 3u)
        offset = number - 3u;
    else
        offset = which == 3u ? last[0] - 1u : last[which];
    if (which == 0u)
        return offset;
    if (which > 1u)
        last[2] = last[1];
    last[1] = last[0];
    last[0] = offset;
    return offset;
}

typedef struct tz_zstd_sequence {
    tz_u32 literals;
    tz_u32 match;
    tz_u32 offset;
} tz_zstd_sequence;

/* Reads a sequence, of which there is one; its bytes count as made. */
TZ_FN tz_u32 tz_zstd_next_sequence(tz_zstd_decoder *decoder, tz_zstd_sequence *sequence)
{
    tz_zstd_bits *bits = &decoder->bits;
    tz_u32 values[3];
    /* The stream has the values of offset, match and literals, and then the next states of
     * literals, match and offset; the last sequence has no next states. */
    tz_zstd_refill(bits);
    values[TZ_ZSTD_OFFSETS] = tz_zstd_read_value(bits, tz_zstd_table(decoder, TZ_ZSTD_OFFSETS),
                                                 decoder->states[TZ_ZSTD_OFFSETS]);
    tz_zstd_refill(bits);
    values[TZ_ZSTD_MATCHES] = tz_zstd_read_value(bits, tz_zstd_table(decoder, TZ_ZSTD_MATCHES),
                                                 decoder->states[TZ_ZSTD_MATCHES]);
    values[TZ_ZSTD_LITERALS] = tz_zstd_read_value(bits, tz_zstd_table(decoder, TZ_ZSTD_LITERALS),
                                                  decoder->states[TZ_ZSTD_LITERALS]);
    tz_zstd_refill(bits);
    for (tz_u32 i = 0u; i < 3u && decoder->sequences > 1u; i++) {
        const tz_u32 kind = i == 0u ? TZ_ZSTD_LITERALS : 3u - i;
        decoder->states[kind] =
            tz_zstd_next_state(bits, tz_zstd_table(decoder, kind), decoder->states[kind]);
    }
    sequence->literals = values[TZ_ZSTD_LITERALS];
    sequence->match = values[TZ_ZSTD_MATCHES];
    sequence->offset =
        tz_zstd_resolve_offset(decoder, values[TZ_ZSTD_OFFSETS], values[TZ_ZSTD_LITERALS]);
    decoder->sequences--;
    if (tz_zstd_is_overread(bits) || sequence->offset == 0u)
        return TZ_DECODE_UNSURE;
    if (sequence->literals > decoder->literals.size - decoder->literals.used)
        return TZ_DECODE_BAD_CODE;
    if (sequence->literals + sequence->match > decoder->size - decoder->made)
        return TZ_DECODE_TOO_LONG;
    if (sequence->offset > decoder->made - decoder->frame_start + sequence->literals)
        return TZ_DECODE_BAD_DISTANCE;
    decoder->literals.used += sequence->literals;
    decoder->made += sequence->literals + sequence->match;
    if (decoder->sequences == 0u && !tz_zstd_is_at_end(bits))
        return TZ_DECODE_UNSURE;
    return TZ_DECODE_OK;
}

/* ---- blocks ---- */

/* Ends a block: *literals are left, and count as made. */
TZ_FN tz_u32 tz_zstd_end_block(tz_zstd_decoder *decoder, tz_u32 *literals)
{
    *literals = decoder->literals.size - decoder->literals.used;
    if (*literals > decoder->size - decoder->made)
        return TZ_DECODE_TOO_LONG;
    decoder->made += *literals;
    return decoder->made - decoder->start > decoder->max_block ? TZ_DECODE_UNSURE : TZ_DECODE_OK;
}

/* Reads the header of a block, up to its literals. */
TZ_FN tz_u32 tz_zstd_begin_block(tz_zstd_decoder *decoder)
{
    if (decoder->in_size - decoder->at < 3u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 head = tz_zstd_load_le(decoder->in + decoder->at, 3u);
    const tz_u32 kind = head >> 1 & 3u;
    const tz_u32 size = head >> 3;
    const tz_u32 stored = kind == 1u ? 1u : size;
    decoder->at += 3u;
    if (kind == 3u)
        return TZ_DECODE_BAD_BLOCK;
    if (stored > decoder->in_size - decoder->at)
        return TZ_DECODE_TRUNCATED;
    decoder->last = head & 1u;
    decoder->compressed = kind == 2u;
    decoder->start = decoder->made;
    decoder->end = decoder->at + stored;
    decoder->streams = 0u;
    decoder->sequences = 0u;
    if (!decoder->compressed) {
        decoder->at = decoder->end;
        return tz_zstd_set_literals(decoder, decoder->end - stored, 1u, kind == 1u ? 0u : 1u, size);
    }
    if (size < 3u || size >= decoder->max_block)
        return TZ_DECODE_UNSURE;
    return (decoder->in[decoder->at] & 2u) != 0u ? tz_zstd_coded_literals(decoder)
                                                 : tz_zstd_stored_literals(decoder);
}

/* ---- frames ---- */

#define TZ_ZSTD_MAGIC     0xfd2fb528u
#define TZ_ZSTD_SKIPPABLE 0x184d2a50u /* and the next 15 */

/* Bits of the flags of a frame. */
#define TZ_ZSTD_DICTIONARY 0x03u /* code of the bytes of its identifier */
#define TZ_ZSTD_CHECKSUM   0x04u
#define TZ_ZSTD_RESERVED   0x08u
#define TZ_ZSTD_SINGLE     0x20u /* the window is the content */
#define TZ_ZSTD_CONTENT    0xe0u /* any of them: it has a content size */

#define TZ_ZSTD_MAX_WINDOW_CODE 0x88u /* 128 MiB */

/* Passes over skippable frames. Returns 0 if no other frame follows. */
TZ_FN int tz_zstd_find_frame(tz_zstd_decoder *decoder)
{
    while (decoder->in_size - decoder->at >= 4u) {
        const tz_u32 left = decoder->in_size - decoder->at;
        const tz_u32 magic = tz_kernel_le32(decoder->in + decoder->at);
        if (magic == TZ_ZSTD_MAGIC)
            return 1;
        if ((magic & ~15u) != TZ_ZSTD_SKIPPABLE || left < 8u)
            return 0;
        const tz_u32 size = tz_kernel_le32(decoder->in + decoder->at + 4u);
        if (size > left - 8u)
            return 0;
        decoder->at += 8u + size;
    }
    return 0;
}

/* Reads the header of a frame: magic number, flags, window, dictionary and content size. The window
 * limits the size of blocks; a single segment has no window, and its content is the limit. */
TZ_FN tz_u32 tz_zstd_begin_frame(tz_zstd_decoder *decoder)
{
    const TZ_GLOBAL tz_u8 *head = decoder->in + decoder->at;
    const tz_u32 left = decoder->in_size - decoder->at;
    if (left < 6u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 flags = head[4];
    const tz_u32 single = (flags & TZ_ZSTD_SINGLE) != 0u;
    const tz_u32 content = flags >> 6 ? 1u << (flags >> 6) : single;
    const tz_u32 dictionary = 1u << (flags & TZ_ZSTD_DICTIONARY) >> 1;
    const tz_u32 size = 6u - single + dictionary + content;
    if (left < size)
        return TZ_DECODE_TRUNCATED;
    if (flags & TZ_ZSTD_RESERVED)
        return TZ_DECODE_BAD_HEADER;
    if (tz_zstd_load_le(head + 6u - single, dictionary) != 0u)
        return TZ_DECODE_UNSURE;
    if (!single && head[5] > TZ_ZSTD_MAX_WINDOW_CODE)
        return TZ_DECODE_UNSURE;
    const TZ_GLOBAL tz_u8 *content_at = head + size - content;
    const tz_u32 content_high = content == 8u ? tz_kernel_le32(content_at + 4) : 0u;
    decoder->content = tz_zstd_load_le(content_at, tz_kernel_min(content, 4u));
    decoder->content += content == 2u ? 256u : 0u;
    tz_u32 window = decoder->content;
    if (!single) {
        window = 1u << (10u + (head[5] >> 3));
        window += window / 8u * (head[5] & 7u);
    }
    decoder->in_frame = 1u;
    decoder->frame_start = decoder->made;
    decoder->max_block = tz_kernel_min(window, TZ_ZSTD_MAX_BLOCK);
    decoder->huffman_log = 0u;
    decoder->has_tables = 0u;
    decoder->offsets[0] = 1u;
    decoder->offsets[1] = 4u;
    decoder->offsets[2] = 8u;
    decoder->flags = flags;
    decoder->at += size;
    return content_high > 0u || decoder->content > decoder->size - decoder->made
               ? TZ_DECODE_TOO_LONG
               : TZ_DECODE_OK;
}

/* Compares the size and the checksum of a frame, all of whose bytes have been written. */
TZ_FN tz_u32 tz_zstd_end_frame(tz_zstd_decoder *decoder)
{
    const tz_u32 made = decoder->made - decoder->frame_start;
    decoder->in_frame = 0u;
    if ((decoder->flags & TZ_ZSTD_CONTENT) && made != decoder->content)
        return made < decoder->content ? TZ_DECODE_TOO_SHORT : TZ_DECODE_TOO_LONG;
    if (!(decoder->flags & TZ_ZSTD_CHECKSUM))
        return TZ_DECODE_OK;
    if (decoder->in_size - decoder->at < 4u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 sum = tz_kernel_le32(decoder->in + decoder->at);
    decoder->at += 4u;
    return sum == (tz_u32)tz_kernel_xxhash64(decoder->out + decoder->frame_start, made)
               ? TZ_DECODE_OK
               : TZ_DECODE_BAD_CHECKSUM;
}

/* Reads up to the literals of the next block, of this frame or of another. All bytes that were made
 * have been written. *over: no block follows. */
TZ_FN tz_u32 tz_zstd_next_block(tz_zstd_decoder *decoder, tz_u32 *over)
{
    tz_u32 status = TZ_DECODE_OK;
    if (decoder->in_frame && decoder->last)
        status = tz_zstd_end_frame(decoder);
    if (status == TZ_DECODE_OK && !decoder->in_frame) {
        *over = !tz_zstd_find_frame(decoder);
        if (*over)
            return TZ_DECODE_OK;
        status = tz_zstd_begin_frame(decoder);
    }
    return status == TZ_DECODE_OK ? tz_zstd_begin_block(decoder) : status;
}

TZ_FN tz_zstd_decoder tz_zstd_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                                    tz_u32 size, TZ_GLOBAL tz_u32 *scratch)
{
    tz_zstd_decoder decoder;
    decoder.in = in;
    decoder.in_size = in_size;
    decoder.at = 0u;
    decoder.out = out;
    decoder.size = size;
    decoder.made = 0u;
    decoder.scratch = scratch;
    decoder.in_frame = 0u;
    decoder.last = 0u;
    decoder.stage = TZ_ZSTD_STAGE_NO_BLOCK;
    return decoder;
}

/* The status of a tile after its last frame. */
TZ_FN tz_u32 tz_zstd_finish(const tz_zstd_decoder *decoder)
{
    if (decoder->at == 0u)
        return TZ_DECODE_BAD_HEADER;
    if (decoder->made != decoder->size)
        return TZ_DECODE_TOO_SHORT;
    return TZ_DECODE_END(decoder->at, decoder->in_size);
}

/* True if the frame at in, if it is one, has a content size. */
TZ_FN int tz_zstd_has_content_size(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size)
{
    return in_size > 4u && (in[4] & TZ_ZSTD_CONTENT) != 0u;
}

/* True if in is one frame and nothing else, and its headers are valid for a tile of size bytes. The
 * contents of blocks are not looked at. */
TZ_FN int tz_zstd_is_single(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, tz_u32 size)
{
    tz_zstd_decoder decoder = tz_zstd_start(in, in_size, 0, size, 0);
    if (in_size < 4u || tz_kernel_le32(in) != TZ_ZSTD_MAGIC ||
        tz_zstd_begin_frame(&decoder) != TZ_DECODE_OK)
        return 0;
    if ((decoder.flags & TZ_ZSTD_CONTENT) && decoder.content != size)
        return 0;
    for (tz_u32 last = 0u; !last;) {
        if (in_size - decoder.at < 3u)
            return 0;
        const tz_u32 head = tz_zstd_load_le(in + decoder.at, 3u);
        const tz_u32 kind = head >> 1 & 3u;
        const tz_u32 stored = kind == 1u ? 1u : head >> 3; /* 1: a run of one byte */
        if (kind == 3u || stored > in_size - decoder.at - 3u)
            return 0;
        last = head & 1u;
        decoder.at += 3u + stored;
    }
    return in_size - decoder.at == (decoder.flags & TZ_ZSTD_CHECKSUM ? 4u : 0u);
}

#endif
