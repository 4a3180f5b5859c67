/* SPDX-License-Identifier: Apache-2.0
 * Zstandard: frames to one tile, by one work-item or by a work-group. zstd_frame.h parses; this
 * file decodes the streams of literals and writes the bytes. It accepts the frames that every
 * version of libzstd accepts.
 *
 * In a work-group, work-item 0 parses. A block takes several rounds: the first reads its headers;
 * up to four work-items then decode its streams of literals at the same time; and all work-items
 * write the sequences, one queue of copies in each round. */
#ifndef TZ_KERNELS_ZSTD_H
#define TZ_KERNELS_ZSTD_H

#include "kernels/copy_queue.h"
#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/zstd_frame.h"

/* Bytes of scratch memory for a tile, which begins at a multiple of 4. */
#define TZ_ZSTD_SCRATCH_BYTES (4u * TZ_ZSTD_SCRATCH_WORDS)

/* ---- by one work-item ---- */

/* Decodes all streams of the literals of a block. */
TZ_FN tz_u32 tz_zstd_decode_literals(const tz_zstd_decoder *decoder)
{
    tz_u32 status = TZ_DECODE_OK;
    for (tz_u32 i = 0u; i < decoder->streams && status == TZ_DECODE_OK; i++) {
        const tz_u32 to = tz_zstd_stream_output(i, decoder->streams, decoder->literals.size);
        const tz_u32 end = tz_zstd_stream_output(i + 1u, decoder->streams, decoder->literals.size);
        status = tz_zstd_decode_stream(
            decoder->in + decoder->stream_at[i], decoder->stream_at[i + 1u] - decoder->stream_at[i],
            tz_zstd_huffman_table(decoder->scratch), decoder->huffman_log,
            tz_zstd_literal_buffer(decoder->scratch) + to, end - to);
    }
    return status;
}

/* Writes count literals, from number first on, to offset `at` of the tile. */
TZ_FN void tz_zstd_copy_literals(const tz_zstd_decoder *decoder, tz_u32 first, tz_u32 count,
                                 tz_u32 at)
{
    const TZ_GLOBAL tz_u8 *buffer =
        decoder->literals.stored ? decoder->in : tz_zstd_literal_buffer(decoder->scratch);
    const TZ_GLOBAL tz_u8 *from = buffer + decoder->literals.at;
    TZ_GLOBAL tz_u8 *to = decoder->out + at;
    if (decoder->literals.step == 0u) {
        for (tz_u32 i = 0u; i < count; i++)
            to[i] = from[0];
    } else {
        for (tz_u32 i = 0u; i < count; i++)
            to[i] = from[first + i];
    }
}

/* Decodes a block whose header was read. */
TZ_FN tz_u32 tz_zstd_decode_block(tz_zstd_decoder *decoder)
{
    tz_u32 literals = 0u;
    tz_u32 status = tz_zstd_decode_literals(decoder);
    if (status == TZ_DECODE_OK)
        status = tz_zstd_begin_sequences(decoder);
    while (status == TZ_DECODE_OK && decoder->sequences > 0u) {
        tz_zstd_sequence sequence;
        const tz_u32 first = decoder->literals.used;
        const tz_u32 at = decoder->made;
        status = tz_zstd_next_sequence(decoder, &sequence);
        if (status == TZ_DECODE_OK) {
            tz_zstd_copy_literals(decoder, first, sequence.literals, at);
            tz_copy_match(decoder->out, at + sequence.literals, sequence.offset, sequence.match);
        }
    }
    const tz_u32 at = decoder->made;
    if (status == TZ_DECODE_OK)
        status = tz_zstd_end_block(decoder, &literals);
    if (status == TZ_DECODE_OK)
        tz_zstd_copy_literals(decoder, decoder->literals.used, literals, at);
    decoder->at = decoder->end;
    return status;
}

/* Decodes a tile with compression 50000. scratch: TZ_ZSTD_SCRATCH_BYTES bytes. */
TZ_FN tz_u32 tz_zstd_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                          tz_u32 size, TZ_GLOBAL tz_u32 *scratch)
{
    tz_zstd_decoder decoder = tz_zstd_start(in, in_size, out, size, scratch);
    tz_u32 over = 0u;
    while (!over) {
        tz_u32 status = tz_zstd_next_block(&decoder, &over);
        if (status == TZ_DECODE_OK && !over)
            status = tz_zstd_decode_block(&decoder);
        if (status != TZ_DECODE_OK)
            return status;
    }
    return tz_zstd_finish(&decoder);
}

/* ---- by a work-group ---- */

/* Local memory of a work-group, in words: the queue, and after it the streams and literals of the
 * block, which work-item 0 sets for all. */
#define TZ_ZSTD_STREAMS     TZ_COPY_QUEUE_WORDS /* to decode in this round; 0: none */
#define TZ_ZSTD_LOG         (TZ_COPY_QUEUE_WORDS + 1u)
#define TZ_ZSTD_SIZE        (TZ_COPY_QUEUE_WORDS + 2u) /* bytes that all streams make */
#define TZ_ZSTD_STARTS      (TZ_COPY_QUEUE_WORDS + 3u) /* in the input, and the end of the last */
#define TZ_ZSTD_RESULTS     (TZ_ZSTD_STARTS + TZ_ZSTD_MAX_STREAMS + 1u)
#define TZ_ZSTD_SOURCE      (TZ_ZSTD_RESULTS + TZ_ZSTD_MAX_STREAMS) /* literals: stored, at, step */
#define TZ_ZSTD_LOCAL_WORDS (TZ_ZSTD_SOURCE + 3u)

/* Work-item 0: shares the literals of a block whose header was read. */
TZ_FN void tz_zstd_share_literals(const tz_zstd_decoder *decoder, TZ_LOCAL tz_u32 *shared)
{
    shared[TZ_ZSTD_SOURCE] = decoder->literals.stored;
    shared[TZ_ZSTD_SOURCE + 1u] = decoder->literals.at;
    shared[TZ_ZSTD_SOURCE + 2u] = decoder->literals.step;
    shared[TZ_ZSTD_STREAMS] = decoder->streams;
    shared[TZ_ZSTD_LOG] = decoder->huffman_log;
    shared[TZ_ZSTD_SIZE] = decoder->literals.size;
    for (tz_u32 i = 0u; i < decoder->streams; i++)
        shared[TZ_ZSTD_STARTS + i] = decoder->stream_at[i];
    if (decoder->streams > 0u)
        shared[TZ_ZSTD_STARTS + decoder->streams] = decoder->stream_at[decoder->streams];
}

/* Decodes the stream of a work-item, if there is one for it. */
TZ_FN void tz_zstd_decode_own_stream(TZ_LOCAL tz_u32 *shared, const TZ_GLOBAL tz_u8 *in,
                                     TZ_GLOBAL tz_u32 *scratch, tz_u32 work_item)
{
    const tz_u32 streams = shared[TZ_ZSTD_STREAMS];
    if (work_item < streams) {
        const tz_u32 from = shared[TZ_ZSTD_STARTS + work_item];
        const tz_u32 to = tz_zstd_stream_output(work_item, streams, shared[TZ_ZSTD_SIZE]);
        const tz_u32 end = tz_zstd_stream_output(work_item + 1u, streams, shared[TZ_ZSTD_SIZE]);
        shared[TZ_ZSTD_RESULTS + work_item] =
            tz_zstd_decode_stream(in + from, shared[TZ_ZSTD_STARTS + work_item + 1u] - from,
                                  tz_zstd_huffman_table(scratch), shared[TZ_ZSTD_LOG],
                                  tz_zstd_literal_buffer(scratch) + to, end - to);
    }
}

/* Work-item 0: queues sequences of the block, as many as fit, and after the last one the literals
 * that are left. */
TZ_FN tz_u32 tz_zstd_queue_sequences(tz_zstd_decoder *decoder, TZ_LOCAL tz_u32 *queue)
{
    tz_u32 literals = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (decoder->sequences > 0u && !queue[TZ_COPY_QUEUE_FULL] &&
           queue[TZ_COPY_QUEUE_COUNT] + 2u <= TZ_COPY_QUEUE_CAPACITY) {
        tz_zstd_sequence sequence;
        const tz_u32 first = decoder->literals.used;
        status = tz_zstd_next_sequence(decoder, &sequence);
        if (status != TZ_DECODE_OK)
            return status;
        if (sequence.literals > 0u)
            tz_copy_queue_add(queue, TZ_LITERAL | first, sequence.literals);
        tz_copy_queue_add(queue, sequence.offset, sequence.match);
    }
    if (decoder->sequences > 0u || queue[TZ_COPY_QUEUE_COUNT] == TZ_COPY_QUEUE_CAPACITY)
        return TZ_DECODE_OK;
    status = tz_zstd_end_block(decoder, &literals);
    if (literals > 0u)
        tz_copy_queue_add(queue, TZ_LITERAL | decoder->literals.used, literals);
    decoder->stage = TZ_ZSTD_STAGE_NO_BLOCK;
    decoder->at = decoder->end;
    return status;
}

/* Work-item 0: hands out streams, or fills the queue. */
TZ_FN void tz_zstd_fill_queue(tz_zstd_decoder *decoder, TZ_LOCAL tz_u32 *shared)
{
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    tz_copy_queue_begin(shared, decoder->made);
    shared[TZ_ZSTD_STREAMS] = 0u;
    if (decoder->stage == TZ_ZSTD_STAGE_NO_BLOCK) {
        for (tz_u32 i = 0u; i < 3u; i++) /* all work-items load them, also after an error */
            shared[TZ_ZSTD_SOURCE + i] = 0u;
        status = tz_zstd_next_block(decoder, &over);
        if (status == TZ_DECODE_OK && !over) {
            decoder->stage = TZ_ZSTD_STAGE_LITERALS;
            tz_zstd_share_literals(decoder, shared);
            if (decoder->streams > 0u)
                return;
        }
    }
    if (status == TZ_DECODE_OK && decoder->stage == TZ_ZSTD_STAGE_LITERALS) {
        for (tz_u32 i = 0u; i < decoder->streams && status == TZ_DECODE_OK; i++)
            status = shared[TZ_ZSTD_RESULTS + i];
        decoder->stage = TZ_ZSTD_STAGE_SEQUENCES;
        if (status == TZ_DECODE_OK)
            status = tz_zstd_begin_sequences(decoder);
    }
    if (over)
        status = tz_zstd_finish(decoder);
    else if (status == TZ_DECODE_OK)
        status = tz_zstd_queue_sequences(decoder, shared);
    if (over || status != TZ_DECODE_OK)
        tz_copy_queue_end(shared, status, 0u);
}

/* As tz_zstd_tile; shared: TZ_ZSTD_LOCAL_WORDS words. All work-items get the status. */
TZ_FN tz_u32 tz_zstd_tile_work_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size,
                                     TZ_GLOBAL tz_u8 *out, tz_u32 size, TZ_GLOBAL tz_u32 *scratch,
                                     TZ_LOCAL tz_u32 *shared)
{
    tz_zstd_decoder decoder = tz_zstd_start(in, in_size, out, size, scratch);
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (!over) {
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item == 0u)
                tz_zstd_fill_queue(&decoder, shared);
        }
        TZ_SYNC;
        over = shared[TZ_COPY_QUEUE_IS_LAST];
        status = shared[TZ_COPY_QUEUE_STATUS];
        for (TZ_EACH_WORK_ITEM(work_item)) {
            const TZ_GLOBAL tz_u8 *literals =
                shared[TZ_ZSTD_SOURCE] ? in : tz_zstd_literal_buffer(scratch);
            tz_zstd_decode_own_stream(shared, in, scratch, work_item);
            tz_copy_queue_write_stored(shared, literals + shared[TZ_ZSTD_SOURCE + 1u],
                                       shared[TZ_ZSTD_SOURCE + 2u], out, work_item);
        }
        TZ_SYNC;
    }
    return status;
}

#endif
