/* SPDX-License-Identifier: Apache-2.0
 * Blocks of Zstandard. Each is literals, and sequences that say how many of them come next and what
 * of the bytes before follows; the rest of the literals come last. Bytes as they are, and one byte
 * many times, are blocks of literals only.
 *
 * Where this says UNSURE, versions of libzstd differ, or take what the format does not allow. */
#ifndef TZ_KERNELS_ZSTD_BLOCK_H
#define TZ_KERNELS_ZSTD_BLOCK_H

#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/zstd_bits.h"
#include "kernels/zstd_fse.h"
#include "kernels/zstd_literals.h"

/* How tables are stored. */
#define TZ_ZSTD_USUAL      0u /* not at all */
#define TZ_ZSTD_ONE_SYMBOL 1u
#define TZ_ZSTD_COUNTS     2u
#define TZ_ZSTD_AS_BEFORE  3u

/* A new table of this kind at the start of in, which takes *used bytes. */
TZ_FN_CALLED tz_u32 tz_zstd_read_table(const TZ_GLOBAL tz_u8 *in, tz_u32 size, tz_u32 kind,
                                       tz_u32 mode, TZ_GLOBAL tz_u32 *table, tz_u32 *log,
                                       tz_u32 *used)
{
    tz_zstd_counts counts;
    *used = 0u;
    if (mode == TZ_ZSTD_ONE_SYMBOL) {
        if (size == 0u)
            return TZ_DECODE_TRUNCATED;
        if (in[0] >= tz_zstd_symbols(kind))
            return TZ_DECODE_BAD_CODE;
        tz_zstd_one_symbol(table, kind, in[0]);
        *log = 0u;
        *used = 1u;
        return TZ_DECODE_OK;
    }
    if (mode == TZ_ZSTD_USUAL) {
        tz_zstd_usual_counts(kind, &counts);
    } else {
        const tz_u32 status = tz_zstd_read_counts(in, size, kind, &counts, used);
        if (status != TZ_DECODE_OK)
            return status;
    }
    *log = counts.log;
    tz_zstd_make_table(table, kind, &counts);
    return TZ_DECODE_OK;
}

TZ_FN tz_u32 tz_zstd_read_tables(tz_zstd_run *run)
{
    if (run->at == run->end)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 modes = run->in[run->at++];
    if ((modes & 3u) != 0u)
        return TZ_DECODE_UNSURE;
    for (tz_u32 kind = 0u; kind < 3u; kind++) {
        const tz_u32 mode = modes >> (6u - 2u * kind) & 3u;
        tz_u32 log = run->logs[kind];
        tz_u32 used = 0u;
        tz_u32 status = run->has_tables ? TZ_DECODE_OK : TZ_DECODE_BAD_CODE;
        if (mode != TZ_ZSTD_AS_BEFORE)
            status = tz_zstd_read_table(run->in + run->at, run->end - run->at, kind, mode,
                                        tz_zstd_table(run, kind), &log, &used);
        if (status != TZ_DECODE_OK)
            return status;
        run->logs[kind] = log;
        run->at += used;
    }
    run->has_tables = 1u;
    return TZ_DECODE_OK;
}

/* How many sequences there are, in one to three bytes. */
TZ_FN tz_u32 tz_zstd_count_sequences(tz_zstd_run *run)
{
    if (run->at == run->end)
        return TZ_DECODE_TRUNCATED;
    const TZ_GLOBAL tz_u8 *head = run->in + run->at;
    const tz_u32 size = head[0] < 128u ? 1u : head[0] < 255u ? 2u : 3u;
    if (run->end - run->at < size)
        return TZ_DECODE_TRUNCATED;
    run->at += size;
    run->sequences = size == 1u   ? head[0]
                     : size == 2u ? ((tz_u32)head[0] - 128u) << 8 | head[1]
                                  : 0x7f00u + tz_zstd_le(head + 1, 2u);
    return run->sequences == 0u && size > 1u ? TZ_DECODE_UNSURE : TZ_DECODE_OK;
}

/* The head of the sequences, if the block is one that may have some. */
TZ_FN tz_u32 tz_zstd_begin_sequences(tz_zstd_run *run)
{
    if (!run->compressed)
        return TZ_DECODE_OK;
    tz_u32 status = tz_zstd_count_sequences(run);
    if (status == TZ_DECODE_OK && run->sequences == 0u)
        return run->at == run->end ? TZ_DECODE_OK : TZ_DECODE_BAD_BLOCK;
    if (status == TZ_DECODE_OK)
        status = tz_zstd_read_tables(run);
    if (status != TZ_DECODE_OK)
        return status;
    if (!tz_zstd_begin_bits(&run->bits, run->in + run->at, run->end - run->at))
        return TZ_DECODE_BAD_CODE;
    for (tz_u32 kind = 0u; kind < 3u; kind++)
        run->states[kind] = tz_zstd_take(&run->bits, run->logs[kind]);
    return TZ_DECODE_OK;
}

/* What an offset's number means: one of the last three, in another order when no literals come
 * before the match, or itself. 0 where versions of libzstd differ. */
TZ_FN tz_u32 tz_zstd_offset(tz_zstd_run *run, tz_u32 number, tz_u32 literals)
{
    tz_u32 *last = run->offsets;
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

/* A sequence. */
typedef struct tz_zstd_sequence {
    tz_u32 literals;
    tz_u32 match;
    tz_u32 offset;
} tz_zstd_sequence;

TZ_FN void tz_zstd_read_sequence(tz_zstd_run *run, tz_zstd_sequence *sequence)
{
    tz_zstd_bits *bits = &run->bits;
    tz_u32 values[3];
    /* offset, match, literals; and then the next states of literals, match, offset */
    tz_zstd_fill(bits);
    values[TZ_ZSTD_OFFSETS] =
        tz_zstd_value(bits, tz_zstd_table(run, TZ_ZSTD_OFFSETS), run->states[TZ_ZSTD_OFFSETS]);
    tz_zstd_fill(bits);
    values[TZ_ZSTD_MATCHES] =
        tz_zstd_value(bits, tz_zstd_table(run, TZ_ZSTD_MATCHES), run->states[TZ_ZSTD_MATCHES]);
    values[TZ_ZSTD_LITERALS] =
        tz_zstd_value(bits, tz_zstd_table(run, TZ_ZSTD_LITERALS), run->states[TZ_ZSTD_LITERALS]);
    tz_zstd_fill(bits);
    for (tz_u32 i = 0u; i < 3u && run->sequences > 1u; i++) {
        const tz_u32 kind = i == 0u ? TZ_ZSTD_LITERALS : 3u - i;
        run->states[kind] = tz_zstd_next_state(bits, tz_zstd_table(run, kind), run->states[kind]);
    }
    sequence->literals = values[TZ_ZSTD_LITERALS];
    sequence->match = values[TZ_ZSTD_MATCHES];
    sequence->offset = tz_zstd_offset(run, values[TZ_ZSTD_OFFSETS], values[TZ_ZSTD_LITERALS]);
}

/* The next sequence, which counts as made; there is one. */
TZ_FN tz_u32 tz_zstd_next(tz_zstd_run *run, tz_zstd_sequence *sequence)
{
    tz_zstd_read_sequence(run, sequence);
    run->sequences--;
    if (tz_zstd_is_over(&run->bits) || sequence->offset == 0u)
        return TZ_DECODE_UNSURE;
    if (sequence->literals > run->literals.size - run->literals.used)
        return TZ_DECODE_BAD_CODE;
    if (sequence->literals + sequence->match > run->size - run->made)
        return TZ_DECODE_TOO_LONG;
    if (sequence->offset > run->made - run->frame_start + sequence->literals)
        return TZ_DECODE_BAD_DISTANCE;
    run->literals.used += sequence->literals;
    run->made += sequence->literals + sequence->match;
    if (run->sequences == 0u && !tz_zstd_is_at_end(&run->bits))
        return TZ_DECODE_UNSURE;
    return TZ_DECODE_OK;
}

/* ---- blocks ---- */

/* The literals that no sequence took, and the end. */
TZ_FN tz_u32 tz_zstd_end_block(tz_zstd_run *run, tz_u32 *literals)
{
    *literals = run->literals.size - run->literals.used;
    if (*literals > run->size - run->made)
        return TZ_DECODE_TOO_LONG;
    run->made += *literals;
    return run->made - run->start > run->max_block ? TZ_DECODE_UNSURE : TZ_DECODE_OK;
}

/* The head of a block, up to its literals. */
TZ_FN tz_u32 tz_zstd_begin_block(tz_zstd_run *run)
{
    if (run->in_size - run->at < 3u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 head = tz_zstd_le(run->in + run->at, 3u);
    const tz_u32 kind = head >> 1 & 3u;
    const tz_u32 size = head >> 3;
    const tz_u32 stored = kind == 1u ? 1u : size;
    run->at += 3u;
    if (kind == 3u)
        return TZ_DECODE_BAD_BLOCK;
    if (stored > run->in_size - run->at)
        return TZ_DECODE_TRUNCATED;
    run->last = head & 1u;
    run->compressed = kind == 2u;
    run->start = run->made;
    run->end = run->at + stored;
    run->streams = 0u;
    run->sequences = 0u;
    if (!run->compressed) {
        run->at = run->end;
        return tz_zstd_set_literals(run, run->end - stored, 1u, kind == 1u ? 0u : 1u, size);
    }
    if (size < 3u || size >= run->max_block)
        return TZ_DECODE_UNSURE;
    return (run->in[run->at] & 2u) != 0u ? tz_zstd_coded_literals(run)
                                         : tz_zstd_plain_literals(run);
}

#endif
