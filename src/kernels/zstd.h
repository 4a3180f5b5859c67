/* SPDX-License-Identifier: Apache-2.0
 * Zstandard: frames to one tile, by one item or by a group. What it takes is what every version of
 * libzstd takes. */
#ifndef TZ_KERNELS_ZSTD_H
#define TZ_KERNELS_ZSTD_H

#include "kernels/copies.h"
#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/zstd_frame.h"

/* Bytes of work memory for a tile, which begins at a multiple of 4. */
#define TZ_ZSTD_WORK (4u * TZ_ZSTD_WORDS)

/* ---- by one item ---- */

TZ_FN const TZ_GLOBAL tz_u8 *tz_zstd_find_literals(const tz_zstd_run *run)
{
    return (run->literals.stored ? run->in : tz_zstd_decoded(run->work)) + run->literals.at;
}

/* All streams of the block's literals. */
TZ_FN tz_u32 tz_zstd_decode_literals(const tz_zstd_run *run)
{
    tz_u32 status = TZ_DECODE_OK;
    for (tz_u32 i = 0u; i < run->streams && status == TZ_DECODE_OK; i++) {
        const tz_u32 to = tz_zstd_stream_to(i, run->streams, run->literals.size);
        const tz_u32 end = tz_zstd_stream_to(i + 1u, run->streams, run->literals.size);
        status =
            tz_zstd_stream(run->in + run->stream_at[i], run->stream_at[i + 1u] - run->stream_at[i],
                           tz_zstd_huffman(run->work), run->huffman_log,
                           tz_zstd_decoded(run->work) + to, end - to);
    }
    return status;
}

/* So many literals, from number first on, to this place. */
TZ_FN void tz_zstd_put(const tz_zstd_run *run, tz_u32 first, tz_u32 count, tz_u32 at)
{
    const TZ_GLOBAL tz_u8 *from = tz_zstd_find_literals(run);
    TZ_GLOBAL tz_u8 *to = run->out + at;
    if (run->literals.step == 0u) {
        for (tz_u32 i = 0u; i < count; i++)
            to[i] = from[0];
    } else {
        for (tz_u32 i = 0u; i < count; i++)
            to[i] = from[first + i];
    }
}

/* A block whose head was read. */
TZ_FN tz_u32 tz_zstd_block(tz_zstd_run *run)
{
    tz_u32 literals = 0u;
    tz_u32 status = tz_zstd_decode_literals(run);
    if (status == TZ_DECODE_OK)
        status = tz_zstd_begin_sequences(run);
    while (status == TZ_DECODE_OK && run->sequences > 0u) {
        tz_zstd_sequence sequence;
        const tz_u32 first = run->literals.used;
        const tz_u32 at = run->made;
        status = tz_zstd_next(run, &sequence);
        if (status == TZ_DECODE_OK) {
            tz_zstd_put(run, first, sequence.literals, at);
            tz_copy(run->out, at + sequence.literals, sequence.offset, sequence.match);
        }
    }
    const tz_u32 at = run->made;
    if (status == TZ_DECODE_OK)
        status = tz_zstd_end_block(run, &literals);
    if (status == TZ_DECODE_OK)
        tz_zstd_put(run, run->literals.used, literals, at);
    run->at = run->end;
    return status;
}

/* One tile as it is stored with compression 50000. work: TZ_ZSTD_WORK bytes. */
TZ_FN tz_u32 tz_zstd_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                          tz_u32 size, TZ_GLOBAL tz_u32 *work)
{
    tz_zstd_run run = tz_zstd_start(in, in_size, out, size, work);
    tz_u32 over = 0u;
    while (!over) {
        tz_u32 status = tz_zstd_next_block(&run, &over);
        if (status == TZ_DECODE_OK && !over)
            status = tz_zstd_block(&run);
        if (status != TZ_DECODE_OK)
            return status;
    }
    return tz_zstd_finish(&run);
}

/* ---- by a group ---- */

/* Local memory of a group, in words: the queue, and what item 0 tells the others. */
#define TZ_ZSTD_STREAMS TZ_QUEUE_WORDS /* to decode, by as many items */
#define TZ_ZSTD_LOG     (TZ_QUEUE_WORDS + 1u)
#define TZ_ZSTD_SIZE    (TZ_QUEUE_WORDS + 2u) /* bytes that all streams make */
#define TZ_ZSTD_STARTS  (TZ_QUEUE_WORDS + 3u) /* in the input, and the end of the last */
#define TZ_ZSTD_RESULTS (TZ_ZSTD_STARTS + TZ_ZSTD_MAX_STREAMS + 1u)
#define TZ_ZSTD_SOURCE  (TZ_ZSTD_RESULTS + TZ_ZSTD_MAX_STREAMS) /* literals: stored, at, step */
#define TZ_ZSTD_LOCAL   (TZ_ZSTD_SOURCE + 3u)

/* Item 0: the head of a block was read. */
TZ_FN void tz_zstd_share(const tz_zstd_run *run, TZ_LOCAL tz_u32 *shared)
{
    shared[TZ_ZSTD_SOURCE] = run->literals.stored;
    shared[TZ_ZSTD_SOURCE + 1u] = run->literals.at;
    shared[TZ_ZSTD_SOURCE + 2u] = run->literals.step;
    shared[TZ_ZSTD_STREAMS] = run->streams;
    shared[TZ_ZSTD_LOG] = run->huffman_log;
    shared[TZ_ZSTD_SIZE] = run->literals.size;
    for (tz_u32 i = 0u; i < run->streams; i++)
        shared[TZ_ZSTD_STARTS + i] = run->stream_at[i];
    if (run->streams > 0u)
        shared[TZ_ZSTD_STARTS + run->streams] = run->stream_at[run->streams];
}

/* One item's stream, if there is one for it. */
TZ_FN void tz_zstd_share_of_streams(TZ_LOCAL tz_u32 *shared, const TZ_GLOBAL tz_u8 *in,
                                    TZ_GLOBAL tz_u32 *work, tz_u32 item)
{
    const tz_u32 streams = shared[TZ_ZSTD_STREAMS];
    if (item < streams) {
        const tz_u32 from = shared[TZ_ZSTD_STARTS + item];
        const tz_u32 to = tz_zstd_stream_to(item, streams, shared[TZ_ZSTD_SIZE]);
        const tz_u32 end = tz_zstd_stream_to(item + 1u, streams, shared[TZ_ZSTD_SIZE]);
        shared[TZ_ZSTD_RESULTS + item] = tz_zstd_stream(
            in + from, shared[TZ_ZSTD_STARTS + item + 1u] - from, tz_zstd_huffman(work),
            shared[TZ_ZSTD_LOG], tz_zstd_decoded(work) + to, end - to);
    }
}

/* One item's share of all that the queue makes. */
TZ_FN void tz_zstd_write(const TZ_LOCAL tz_u32 *shared, const TZ_GLOBAL tz_u8 *in,
                         TZ_GLOBAL tz_u32 *work, TZ_GLOBAL tz_u8 *out, tz_u32 item)
{
    const tz_u32 end = shared[TZ_QUEUE_ENDS + shared[TZ_QUEUE_COUNT]];
    const TZ_GLOBAL tz_u8 *literals = shared[TZ_ZSTD_SOURCE] ? in : tz_zstd_decoded(work);
    const tz_u32 first = shared[TZ_ZSTD_SOURCE + 1u];
    const tz_u32 step = shared[TZ_ZSTD_SOURCE + 2u];
    for (tz_u32 at = shared[TZ_QUEUE_ENDS] + item; at < end; at += TZ_GROUP_SIZE) {
        const tz_u32 from = tz_queue_trace(shared, at);
        out[at] = from & TZ_LITERAL ? literals[first + (from & ~TZ_LITERAL) * step] : out[from];
    }
}

/* Item 0: sequences of the block, as many as there is room for, and what comes behind them. */
TZ_FN tz_u32 tz_zstd_gather_sequences(tz_zstd_run *run, TZ_LOCAL tz_u32 *queue)
{
    tz_u32 literals = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (run->sequences > 0u && !queue[TZ_QUEUE_FULL] &&
           queue[TZ_QUEUE_COUNT] + 2u <= TZ_QUEUE_ROOM) {
        tz_zstd_sequence sequence;
        const tz_u32 first = run->literals.used;
        status = tz_zstd_next(run, &sequence);
        if (status != TZ_DECODE_OK)
            return status;
        if (sequence.literals > 0u)
            tz_queue_add(queue, TZ_LITERAL | first, sequence.literals);
        tz_queue_add(queue, sequence.offset, sequence.match);
    }
    if (run->sequences > 0u || queue[TZ_QUEUE_COUNT] == TZ_QUEUE_ROOM)
        return TZ_DECODE_OK;
    status = tz_zstd_end_block(run, &literals);
    if (literals > 0u)
        tz_queue_add(queue, TZ_LITERAL | run->literals.used, literals);
    run->stage = TZ_ZSTD_NO_BLOCK;
    run->at = run->end;
    return status;
}

/* Item 0: the literals are there if all went well, and sequences come next. */
TZ_FN tz_u32 tz_zstd_end_literals(tz_zstd_run *run, const TZ_LOCAL tz_u32 *shared)
{
    tz_u32 status = TZ_DECODE_OK;
    for (tz_u32 i = 0u; i < run->streams && status == TZ_DECODE_OK; i++)
        status = shared[TZ_ZSTD_RESULTS + i];
    run->stage = TZ_ZSTD_IN_SEQUENCES;
    return status == TZ_DECODE_OK ? tz_zstd_begin_sequences(run) : status;
}

/* Item 0's part: hands out streams, or fills the queue. */
TZ_FN void tz_zstd_gather(tz_zstd_run *run, TZ_LOCAL tz_u32 *shared)
{
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    tz_queue_begin(shared, run->made);
    shared[TZ_ZSTD_STREAMS] = 0u;
    if (run->stage == TZ_ZSTD_NO_BLOCK) {
        status = tz_zstd_next_block(run, &over);
        if (status == TZ_DECODE_OK && !over) {
            run->stage = TZ_ZSTD_HAS_HEAD;
            tz_zstd_share(run, shared);
            if (run->streams > 0u)
                return;
        }
    }
    if (status == TZ_DECODE_OK && run->stage == TZ_ZSTD_HAS_HEAD)
        status = tz_zstd_end_literals(run, shared);
    if (over)
        status = tz_zstd_finish(run);
    else if (status == TZ_DECODE_OK)
        status = tz_zstd_gather_sequences(run, shared);
    if (over || status != TZ_DECODE_OK)
        tz_queue_end(shared, status, 0u);
}

/* As tz_zstd_tile; shared: TZ_ZSTD_LOCAL words. All items get the status. */
TZ_FN tz_u32 tz_zstd_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                           tz_u32 size, TZ_GLOBAL tz_u32 *work, TZ_LOCAL tz_u32 *shared)
{
    tz_zstd_run run = tz_zstd_start(in, in_size, out, size, work);
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (!over) {
        for (TZ_ITEMS(item)) {
            if (item == 0u)
                tz_zstd_gather(&run, shared);
        }
        TZ_SYNC;
        over = shared[TZ_QUEUE_OVER];
        status = shared[TZ_QUEUE_STATE];
        for (TZ_ITEMS(item)) {
            tz_zstd_share_of_streams(shared, in, work, item);
            tz_zstd_write(shared, in, work, out, item);
        }
        TZ_SYNC;
    }
    return status;
}

#endif
