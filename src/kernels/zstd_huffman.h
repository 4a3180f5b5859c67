/* SPDX-License-Identifier: Apache-2.0
 * Huffman codes of Zstandard, in which literals are stored. A symbol has a weight: its word has one
 * bit less for each step more, and none when the weight is 0. The weight of the last symbol is not
 * stored: it makes the code complete.
 *
 * The table is one of all words of the greatest width; an entry is symbol << 4 | bits. */
#ifndef TZ_KERNELS_ZSTD_HUFFMAN_H
#define TZ_KERNELS_ZSTD_HUFFMAN_H

#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/zstd_bits.h"
#include "kernels/zstd_fse.h"

#define TZ_ZSTD_HUFFMAN_LOG      11u
#define TZ_ZSTD_HUFFMAN_SIZE     (1u << TZ_ZSTD_HUFFMAN_LOG)
#define TZ_ZSTD_MAX_WEIGHT       12u /* that libzstd takes; no encoder makes it */
#define TZ_ZSTD_MAX_WEIGHT_COUNT 255u

/* Memory to read weights with: a table of 64 states, and then the weights, one a byte. */
#define TZ_ZSTD_WEIGHTS_AT      512u
#define TZ_ZSTD_WEIGHTS_SCRATCH (TZ_ZSTD_WEIGHTS_AT + 256u)

/* Weights in symbols of two states that take turns, until the stream has no bits for the next
 * state; the other one's symbol is then the last. */
TZ_FN tz_u32 tz_zstd_unpack_weights(const TZ_GLOBAL tz_u8 *in, tz_u32 size, TZ_GLOBAL tz_u32 *table,
                                    TZ_GLOBAL tz_u8 *weights, tz_u32 *count)
{
    tz_zstd_counts counts;
    tz_zstd_bits bits;
    tz_u32 used;
    if (tz_zstd_read_counts(in, size, TZ_ZSTD_WEIGHTS, &counts, &used) != TZ_DECODE_OK)
        return TZ_DECODE_UNSURE; /* it may have symbols that are no weights, and not use them */
    if (!tz_zstd_begin_bits(&bits, in + used, size - used))
        return TZ_DECODE_BAD_CODE;
    tz_zstd_make_table(table, TZ_ZSTD_WEIGHTS, &counts);
    tz_u32 state = tz_zstd_read_bits(&bits, counts.log); /* what the first bits leave is enough */
    tz_u32 other = tz_zstd_read_bits(&bits, counts.log);
    if (tz_zstd_is_overread(&bits))
        return TZ_DECODE_UNSURE;
    *count = 0u;
    while (!tz_zstd_is_overread(&bits)) {
        if (*count > TZ_ZSTD_MAX_WEIGHT_COUNT - 2u)
            return TZ_DECODE_BAD_CODE;
        weights[(*count)++] = (tz_u8)table[2u * state];
        tz_zstd_refill(&bits);
        const tz_u32 next = tz_zstd_next_state(&bits, table, state);
        state = other;
        other = next;
    }
    weights[(*count)++] = (tz_u8)table[2u * state];
    return TZ_DECODE_OK;
}

/* All weights but the last one's, which take *used bytes. */
TZ_FN tz_u32 tz_zstd_read_weights(const TZ_GLOBAL tz_u8 *in, tz_u32 size, TZ_GLOBAL tz_u32 *table,
                                  TZ_GLOBAL tz_u8 *weights, tz_u32 *count, tz_u32 *used)
{
    if (size == 0u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 head = in[0];
    const tz_u32 packed = head < 128u;
    *used = 1u + (packed ? head : (head - 126u) / 2u);
    if (*used > size)
        return TZ_DECODE_TRUNCATED;
    if (packed)
        return tz_zstd_unpack_weights(in + 1, head, table, weights, count);
    *count = head - 127u;
    for (tz_u32 i = 0u; i < *count; i++)
        weights[i] = (tz_u8)(in[1u + i / 2u] >> (i & 1u ? 0u : 4u) & 15u);
    return TZ_DECODE_OK;
}

/* Adds the last weight, and says where in the table the symbols of each weight begin and what the
 * longest word has in bits. */
TZ_FN tz_u32 tz_zstd_complete_weights(TZ_GLOBAL tz_u8 *weights, tz_u32 *count, tz_u32 *starts,
                                      tz_u32 *log)
{
    tz_u32 ranks[TZ_ZSTD_MAX_WEIGHT + 1u];
    tz_u32 total = 0u;
    for (tz_u32 i = 0u; i <= TZ_ZSTD_MAX_WEIGHT; i++)
        ranks[i] = 0u;
    for (tz_u32 i = 0u; i < *count; i++) {
        if (weights[i] > TZ_ZSTD_MAX_WEIGHT)
            return TZ_DECODE_BAD_CODE;
        ranks[weights[i]]++;
        total += 1u << weights[i] >> 1;
    }
    if (total == 0u)
        return TZ_DECODE_BAD_CODE;
    *log = tz_zstd_highest_bit(total) + 1u;
    if (*log > TZ_ZSTD_HUFFMAN_LOG) /* one bit more is against the format, but libzstd takes it */
        return TZ_DECODE_UNSURE;
    const tz_u32 rest = (1u << *log) - total;
    if ((rest & (rest - 1u)) != 0u)
        return TZ_DECODE_BAD_CODE;
    const tz_u32 last = tz_zstd_highest_bit(rest) + 1u;
    weights[(*count)++] = (tz_u8)last;
    ranks[last]++;
    if (ranks[1] < 2u || (ranks[1] & 1u) != 0u)
        return TZ_DECODE_BAD_CODE;
    tz_u32 start = 0u;
    for (tz_u32 i = 1u; i <= TZ_ZSTD_MAX_WEIGHT; i++) {
        starts[i] = start;
        start += ranks[i] << (i - 1u);
    }
    return TZ_DECODE_OK;
}

/* The code at the start of in, which takes *used bytes. work: TZ_ZSTD_WEIGHTS_SCRATCH bytes. */
TZ_FN_LARGE tz_u32 tz_zstd_read_huffman_table(const TZ_GLOBAL tz_u8 *in, tz_u32 size,
                                              TZ_GLOBAL tz_u32 *scratch, TZ_GLOBAL tz_u16 *table,
                                              tz_u32 *log, tz_u32 *used)
{
    TZ_GLOBAL tz_u8 *weights = (TZ_GLOBAL tz_u8 *)scratch + TZ_ZSTD_WEIGHTS_AT;
    tz_u32 starts[TZ_ZSTD_MAX_WEIGHT + 1u];
    tz_u32 count = 0u;
    tz_u32 status = tz_zstd_read_weights(in, size, scratch, weights, &count, used);
    if (status == TZ_DECODE_OK)
        status = tz_zstd_complete_weights(weights, &count, starts, log);
    if (status != TZ_DECODE_OK)
        return status;
    for (tz_u32 symbol = 0u; symbol < count; symbol++) {
        const tz_u32 weight = weights[symbol];
        if (weight > 0u) {
            const tz_u32 end = starts[weight] + (1u << (weight - 1u));
            for (tz_u32 i = starts[weight]; i < end; i++)
                table[i] = (tz_u16)(symbol << 4 | (*log + 1u - weight));
            starts[weight] = end;
        }
    }
    return TZ_DECODE_OK;
}

/* One stream of words, to count bytes. With some processors libzstd overlooks bits that are left
 * over, and does without those that are missing. */
TZ_FN_LARGE tz_u32 tz_zstd_decode_stream(const TZ_GLOBAL tz_u8 *in, tz_u32 size,
                                         const TZ_GLOBAL tz_u16 *table, tz_u32 log,
                                         TZ_GLOBAL tz_u8 *out, tz_u32 count)
{
    tz_zstd_bits bits;
    if (!tz_zstd_begin_bits(&bits, in, size))
        return TZ_DECODE_UNSURE;
    for (tz_u32 i = 0u; i < count; i++) {
        if (bits.count < TZ_ZSTD_HUFFMAN_LOG)
            tz_zstd_refill(&bits);
        const tz_u32 entry = table[tz_zstd_peek_bits(&bits, log)];
        tz_zstd_skip_bits(&bits, entry & 15u);
        out[i] = (tz_u8)(entry >> 4);
    }
    return tz_zstd_is_at_end(&bits) ? TZ_DECODE_OK : TZ_DECODE_UNSURE;
}

#endif
