/* SPDX-License-Identifier: Apache-2.0
 * A tile of Zstandard at work, and the literals of a block. */
#ifndef TZ_KERNELS_ZSTD_LITERALS_H
#define TZ_KERNELS_ZSTD_LITERALS_H

#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/zstd_bits.h"
#include "kernels/zstd_fse.h"
#include "kernels/zstd_huffman.h"

#define TZ_ZSTD_MAX_BLOCK   (128u << 10)
#define TZ_ZSTD_MAX_STREAMS 4u

/* Places in the work memory, in words; the literals are bytes. */
#define TZ_ZSTD_TABLE_WORDS   1024u /* of one of the first three tables, at most */
#define TZ_ZSTD_HUFFMAN_AT    (3u * TZ_ZSTD_TABLE_WORDS)
#define TZ_ZSTD_LITERALS_AT   (TZ_ZSTD_HUFFMAN_AT + TZ_ZSTD_HUFFMAN_SIZE / 2u)
#define TZ_ZSTD_SCRATCH_WORDS (TZ_ZSTD_LITERALS_AT + TZ_ZSTD_MAX_BLOCK / 4u)

/* How far a group is with the block. */
#define TZ_ZSTD_STAGE_NO_BLOCK  0u
#define TZ_ZSTD_STAGE_LITERALS  1u
#define TZ_ZSTD_STAGE_SEQUENCES 2u

/* Literals, wherever they are. */
typedef struct tz_zstd_literals {
    tz_u32 at;     /* of the input, or of the literals in the work memory */
    tz_u32 stored; /* it is the input */
    tz_u32 step;   /* 0: one byte stands for all */
    tz_u32 size;
    tz_u32 used;
} tz_zstd_literals;

/* The tile at work. */
typedef struct tz_zstd_decoder {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 in_size;
    tz_u32 at;
    TZ_GLOBAL tz_u8 *out;
    tz_u32 size;
    tz_u32 made;
    TZ_GLOBAL tz_u32 *scratch;
    /* the frame */
    tz_u32 in_frame;
    tz_u32 frame_start; /* what was made before it */
    tz_u32 flags;
    tz_u32 content;
    tz_u32 max_block;
    tz_u32 huffman_log; /* 0: no table as yet */
    tz_u32 has_tables;  /* a block before had sequences */
    tz_u32 logs[3];     /* of the tables, by kind */
    tz_u32 offsets[3];  /* the last ones */
    /* the block */
    tz_u32 stage;
    tz_u32 last;
    tz_u32 compressed; /* sequences follow the literals */
    tz_u32 end;        /* in the input */
    tz_u32 start;      /* in the tile */
    tz_zstd_literals literals;
    tz_u32 streams; /* of words, which are yet to be decoded to the literals */
    tz_u32 stream_at[TZ_ZSTD_MAX_STREAMS + 1u];
    tz_u32 sequences; /* that are left */
    tz_zstd_bits bits;
    tz_u32 states[3];
} tz_zstd_decoder;

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

/* The block's literals are these; all of them are part of the tile. */
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

/* Literals that are stored as they are, or as one byte. */
TZ_FN tz_u32 tz_zstd_plain_literals(tz_zstd_decoder *decoder)
{
    const TZ_GLOBAL tz_u8 *head = decoder->in + decoder->at;
    const tz_u32 left = decoder->end - decoder->at;
    const tz_u32 single = head[0] & 3u;
    const tz_u32 form = head[0] >> 2 & 3u;
    const tz_u32 head_size = form == 1u ? 2u : form == 3u ? 3u : 1u; /* no more than a block has */
    const tz_u32 size = tz_zstd_load_le(head, head_size) >> (head_size == 1u ? 3u : 4u);
    const tz_u32 stored = single ? 1u : size;
    if (left - head_size < stored)
        return TZ_DECODE_TRUNCATED;
    decoder->at += head_size + stored;
    return tz_zstd_set_literals(decoder, decoder->at - stored, 1u, single ? 0u : 1u, size);
}

/* Where the streams of words are, of which the last ends where the literals do. */
TZ_FN tz_u32 tz_zstd_find_streams(tz_zstd_decoder *decoder, tz_u32 streams, tz_u32 end)
{
    decoder->streams = streams;
    decoder->stream_at[streams] = end;
    decoder->stream_at[0] = decoder->at;
    if (streams > 1u) {
        if (end - decoder->at < 10u) /* three sizes, and a byte for each stream */
            return TZ_DECODE_TRUNCATED;
        decoder->stream_at[0] += 6u;
        for (tz_u32 i = 1u; i < streams; i++) {
            const tz_u32 size = tz_zstd_load_le(decoder->in + decoder->at + 2u * (i - 1u), 2u);
            if (size > end - decoder->stream_at[i - 1u])
                return TZ_DECODE_TRUNCATED;
            decoder->stream_at[i] = decoder->stream_at[i - 1u] + size;
        }
    }
    decoder->at = end;
    return TZ_DECODE_OK;
}

/* Literals in a Huffman code, their own or that of the block before. */
TZ_FN tz_u32 tz_zstd_coded_literals(tz_zstd_decoder *decoder)
{
    const TZ_GLOBAL tz_u8 *head = decoder->in + decoder->at;
    if (decoder->end - decoder->at < 5u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 form = head[0] >> 2 & 3u;
    const tz_u32 width = form < 2u ? 10u : form == 2u ? 14u : 18u; /* of either size */
    const tz_u32 head_size = (4u + 2u * width) / 8u;
    const tz_u64 word = tz_zstd_load_le(head, 4u) | (tz_u64)head[4] << 32;
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

/* Where one of so many streams leaves its bytes: each but the last has a quarter, rounded up. */
TZ_FN tz_u32 tz_zstd_stream_output(tz_u32 stream, tz_u32 streams, tz_u32 size)
{
    if (stream == streams)
        return size;
    return stream * ((size + 3u) / 4u);
}

#endif
