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
#define TZ_ZSTD_MODE_PREDEFINED 0u /* not at all */
#define TZ_ZSTD_MODE_RLE        1u
#define TZ_ZSTD_MODE_FSE        2u
#define TZ_ZSTD_MODE_REPEAT     3u

/* A new table of this kind at the start of in, which takes *used bytes. */
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

/* How many sequences there are, in one to three bytes. */
TZ_FN tz_u32 tz_zstd_count_sequences(tz_zstd_decoder *decoder)
{
    if (decoder->at == decoder->end)
        return TZ_DECODE_TRUNCATED;
    const TZ_GLOBAL tz_u8 *head = decoder->in + decoder->at;
    const tz_u32 size = head[0] < 128u ? 1u : head[0] < 255u ? 2u : 3u;
    if (decoder->end - decoder->at < size)
        return TZ_DECODE_TRUNCATED;
    decoder->at += size;
    decoder->sequences = size == 1u   ? head[0]
                         : size == 2u ? ((tz_u32)head[0] - 128u) << 8 | head[1]
                                      : 0x7f00u + tz_zstd_load_le(head + 1, 2u);
    return decoder->sequences == 0u && size > 1u ? TZ_DECODE_UNSURE : TZ_DECODE_OK;
}

/* The head of the sequences, if the block is one that may have some. */
TZ_FN tz_u32 tz_zstd_begin_sequences(tz_zstd_decoder *decoder)
{
    if (!decoder->compressed)
        return TZ_DECODE_OK;
    tz_u32 status = tz_zstd_count_sequences(decoder);
    if (status == TZ_DECODE_OK && decoder->sequences == 0u)
        return decoder->at == decoder->end ? TZ_DECODE_OK : TZ_DECODE_BAD_BLOCK;
    if (status == TZ_DECODE_OK)
        status = tz_zstd_read_tables(decoder);
    if (status != TZ_DECODE_OK)
        return status;
    if (!tz_zstd_begin_bits(&decoder->bits, decoder->in + decoder->at, decoder->end - decoder->at))
        return TZ_DECODE_BAD_CODE;
    for (tz_u32 kind = 0u; kind < 3u; kind++)
        decoder->states[kind] = tz_zstd_read_bits(&decoder->bits, decoder->logs[kind]);
    return TZ_DECODE_OK;
}

/* What an offset's number means: one of the last three, in another order when no literals come
 * before the match, or itself. 0 where versions of libzstd differ. */
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

/* A sequence. */
typedef struct tz_zstd_sequence {
    tz_u32 literals;
    tz_u32 match;
    tz_u32 offset;
} tz_zstd_sequence;

TZ_FN void tz_zstd_read_sequence(tz_zstd_decoder *decoder, tz_zstd_sequence *sequence)
{
    tz_zstd_bits *bits = &decoder->bits;
    tz_u32 values[3];
    /* offset, match, literals; and then the next states of literals, match, offset */
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
}

/* The next sequence, which counts as made; there is one. */
TZ_FN tz_u32 tz_zstd_next_sequence(tz_zstd_decoder *decoder, tz_zstd_sequence *sequence)
{
    tz_zstd_read_sequence(decoder, sequence);
    decoder->sequences--;
    if (tz_zstd_is_overread(&decoder->bits) || sequence->offset == 0u)
        return TZ_DECODE_UNSURE;
    if (sequence->literals > decoder->literals.size - decoder->literals.used)
        return TZ_DECODE_BAD_CODE;
    if (sequence->literals + sequence->match > decoder->size - decoder->made)
        return TZ_DECODE_TOO_LONG;
    if (sequence->offset > decoder->made - decoder->frame_start + sequence->literals)
        return TZ_DECODE_BAD_DISTANCE;
    decoder->literals.used += sequence->literals;
    decoder->made += sequence->literals + sequence->match;
    if (decoder->sequences == 0u && !tz_zstd_is_at_end(&decoder->bits))
        return TZ_DECODE_UNSURE;
    return TZ_DECODE_OK;
}

/* ---- blocks ---- */

/* The literals that no sequence took, and the end. */
TZ_FN tz_u32 tz_zstd_end_block(tz_zstd_decoder *decoder, tz_u32 *literals)
{
    *literals = decoder->literals.size - decoder->literals.used;
    if (*literals > decoder->size - decoder->made)
        return TZ_DECODE_TOO_LONG;
    decoder->made += *literals;
    return decoder->made - decoder->start > decoder->max_block ? TZ_DECODE_UNSURE : TZ_DECODE_OK;
}

/* The head of a block, up to its literals. */
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
                                                 : tz_zstd_plain_literals(decoder);
}

#endif
