/* SPDX-License-Identifier: Apache-2.0
 * The fast Deflate encoder by one work-item, for the CPU and for devices that are CPUs. A block is
 * read twice: to count its symbols, and to write it.
 *
 * Literals are written four at a time: four codes of at most 14 bits and 7 bits from before fit one
 * store of 64 bits. */
#ifndef TZ_KERNELS_DEFLATE_ENCODE_H
#define TZ_KERNELS_DEFLATE_ENCODE_H

#include "kernels/adler32.h"
#include "kernels/copy_share.h"
#include "kernels/deflate_symbols.h"
#include "kernels/zlib_frame.h"

/* Words that a work-group gathers before it stores them: see deflate_encode_work_group.h. */
#define TZ_DEFLATE_WORDS 1024u

/* Memory of one encoder. The members of the union are used one after the other. */
typedef struct tz_deflate_scratch {
    tz_deflate_block block;
    union {
        /* Four tables of counts, so that equal neighbours do not wait for each other. */
        tz_u32 bytes[4][TZ_DEFLATE_LITERALS];
        tz_huffman_scratch huffman;
        tz_u32 words[TZ_DEFLATE_WORDS];
    } phase;
} tz_deflate_scratch;

/* The end of the segments from `at` on that are a run; `at` if there is none. */
TZ_FN const TZ_GLOBAL tz_u8 *tz_deflate_run_end(const TZ_GLOBAL tz_u8 *at,
                                                const TZ_GLOBAL tz_u8 *end)
{
    while (end - at >= (int)TZ_DEFLATE_SEGMENT && tz_deflate_is_run(at))
        at += TZ_DEFLATE_SEGMENT;
    return at;
}

/* ---- counting ---- */

TZ_FN void tz_deflate_count_run(TZ_LOCAL tz_u32 *counts, tz_u32 byte, tz_u32 size)
{
    const tz_run_split split = tz_deflate_split_run(size);
    counts[TZ_DEFLATE_FULL_MATCH] += split.full;
    counts[byte] += split.literals;
    if (split.rest > 0u)
        counts[tz_deflate_length_symbol(split.rest).symbol]++;
}

/* Counts the symbols of a block. first: it is the first of the tile, so that no byte comes before
 * it. */
TZ_FN_HOT_LOOP void tz_deflate_count_symbols(const TZ_GLOBAL tz_u8 *at, const TZ_GLOBAL tz_u8 *end,
                                             tz_u32 first, TZ_LOCAL tz_deflate_scratch *scratch)
{
    TZ_LOCAL tz_u32 *counts = scratch->block.counts;
    for (tz_u32 i = 0u; i < TZ_DEFLATE_LITERALS; i++)
        for (tz_u32 table = 0u; table < 4u; table++)
            scratch->phase.bytes[table][i] = 0u;
    for (tz_u32 i = 0u; i < TZ_DEFLATE_SYMBOLS; i++)
        counts[i] = i == TZ_DEFLATE_END;
    while (end - at >= (int)TZ_DEFLATE_SEGMENT) {
        const TZ_GLOBAL tz_u8 *run = first ? at : tz_deflate_run_end(at, end);
        first = 0u;
        if (run != at) {
            tz_deflate_count_run(counts, *(at - 1), (tz_u32)(run - at));
            at = run;
            continue;
        }
        for (tz_u32 i = 0u; i < TZ_DEFLATE_SEGMENT; i += 8u) {
            const tz_u64 bytes = tz_load_u64(at + i);
            for (tz_u32 k = 0u; k < 8u; k++)
                scratch->phase.bytes[k % 4u][bytes >> 8u * k & 255u]++;
        }
        at += TZ_DEFLATE_SEGMENT;
    }
    for (; at < end; at++)
        counts[*at]++;
    for (tz_u32 i = 0u; i < TZ_DEFLATE_LITERALS; i++)
        counts[i] += scratch->phase.bytes[0][i] + scratch->phase.bytes[1][i] +
                     scratch->phase.bytes[2][i] + scratch->phase.bytes[3][i];
}

/* ---- bits ---- */

typedef struct tz_bit_writer {
    TZ_GLOBAL tz_u8 *out;
    tz_u64 bits;  /* not stored yet, from the lowest on */
    tz_u32 count; /* of them: at most 7 between two calls */
} tz_bit_writer;

/* Writes up to 56 bits. All 8 bytes are stored, and out moves on by the complete ones. */
TZ_FN void tz_put_bits(tz_bit_writer *writer, tz_u64 bits, tz_u32 count)
{
    writer->bits |= bits << writer->count;
    writer->count += count;
    tz_store_u64(writer->out, tz_little_u64(writer->bits));
    writer->out += writer->count / 8u;
    writer->bits >>= writer->count & ~7u;
    writer->count %= 8u;
}

/* Writes a code, and after it zeros bits that are 0. */
TZ_FN void tz_put_code(tz_bit_writer *writer, tz_u32 code, tz_u32 zeros)
{
    tz_put_bits(writer, code >> 8, (code & 255u) + zeros);
}

/* Fills the last byte with zeros. */
TZ_FN void tz_put_padding(tz_bit_writer *writer)
{
    if (writer->count > 0u)
        tz_put_bits(writer, 0u, 8u - writer->count);
}

/* ---- blocks ---- */

/* Writes four literals. Codes are added with their lengths, which are in the lowest bits: shifts
 * use six of them. */
TZ_FN void tz_deflate_put_four(tz_bit_writer *writer, const TZ_LOCAL tz_u32 *codes, tz_u32 bytes)
{
    const tz_u64 a = codes[bytes & 255u], b = codes[bytes >> 8 & 255u];
    const tz_u64 c = codes[bytes >> 16 & 255u], d = codes[bytes >> 24];
    tz_u64 bits = a >> 8 | (b >> 8) << (a & 63u);
    tz_u64 sum = a + b;
    bits |= (c >> 8) << (sum & 63u);
    sum += c;
    bits |= (d >> 8) << (sum & 63u);
    tz_put_bits(writer, bits, (tz_u32)(sum + d) & 63u);
}

TZ_FN void tz_deflate_put_run(tz_bit_writer *writer, const TZ_LOCAL tz_u32 *codes, tz_u32 byte,
                              tz_u32 size)
{
    tz_run_split split = tz_deflate_split_run(size);
    for (; split.full > 0u; split.full--)
        tz_put_code(writer, codes[TZ_DEFLATE_FULL_MATCH], TZ_DEFLATE_DISTANCE_BITS);
    const tz_deflate_bits rest = tz_deflate_run_tail(codes, byte, split);
    tz_put_bits(writer, rest.bits, rest.count);
}

/* Writes the symbols of a block, segment by segment as they were counted, and its end. */
TZ_FN_HOT_LOOP void tz_deflate_put_symbols(tz_bit_writer *writer, const TZ_GLOBAL tz_u8 *at,
                                           const TZ_GLOBAL tz_u8 *end, tz_u32 first,
                                           const TZ_LOCAL tz_u32 *codes)
{
    tz_bit_writer own = *writer; /* a copy stays in registers */
    while (end - at >= (int)TZ_DEFLATE_SEGMENT) {
        const TZ_GLOBAL tz_u8 *run = first ? at : tz_deflate_run_end(at, end);
        first = 0u;
        if (run != at) {
            tz_deflate_put_run(&own, codes, *(at - 1), (tz_u32)(run - at));
            at = run;
            continue;
        }
        for (tz_u32 i = 0u; i < TZ_DEFLATE_SEGMENT; i += 4u)
            tz_deflate_put_four(&own, codes, tz_little_u32(tz_load_u32(at + i)));
        at += TZ_DEFLATE_SEGMENT;
    }
    for (; at < end; at++)
        tz_put_code(&own, codes[*at], 0u);
    tz_put_code(&own, codes[TZ_DEFLATE_END], 0u);
    *writer = own;
}

/* Writes stored blocks: each has a header of 3 bits, zeros up to a whole byte, its size and the
 * complement of its size. */
TZ_FN void tz_deflate_put_stored(tz_bit_writer *writer, const TZ_GLOBAL tz_u8 *at, tz_u32 size,
                                 tz_u32 last)
{
    while (size > 0u) {
        const tz_u32 some = tz_kernel_min(size, TZ_DEFLATE_MAX_STORED);
        tz_put_bits(writer, last && some == size, 3u);
        tz_put_padding(writer);
        tz_put_bits(writer, some | (tz_u64)(some ^ 0xffffu) << 16, 32u);
        tz_copy_share(writer->out, at, some, 0u, 1u);
        writer->out += some;
        at += some;
        size -= some;
    }
}

/* Counts, plans and writes a block. */
TZ_FN void tz_deflate_put_block(tz_bit_writer *writer, const TZ_GLOBAL tz_u8 *at, tz_u32 size,
                                tz_u32 first, tz_u32 last, TZ_LOCAL tz_deflate_scratch *scratch)
{
    tz_deflate_count_symbols(at, at + size, first, scratch);
    if (!tz_deflate_plan_block(&scratch->block, size, &scratch->phase.huffman)) {
        tz_deflate_put_stored(writer, at, size, last);
        return;
    }
    const tz_u32 fields = tz_deflate_header_fields(&scratch->block.list);
    for (tz_u32 i = 0u; i < fields; i++) {
        const tz_deflate_bits field = tz_deflate_header_field(&scratch->block.list, last, i);
        tz_put_bits(writer, field.bits, field.count);
    }
    tz_deflate_put_symbols(writer, at, at + size, first, scratch->block.codes);
}

/* ---- streams ---- */

/* The greatest size of the stream of size bytes, with the bytes that are stored after its end. */
TZ_FN tz_u64 tz_deflate_raw_bound(tz_u64 size)
{
    const tz_u64 blocks = (size + TZ_DEFLATE_BLOCK - 1u) / TZ_DEFLATE_BLOCK;
    const tz_u64 stored = (size + TZ_DEFLATE_MAX_STORED - 1u) / TZ_DEFLATE_MAX_STORED;
    return size + (stored + blocks) * TZ_DEFLATE_STORED_HEADER + blocks + 8u;
}

/* Writes the raw Deflate stream (RFC 1951) of size bytes, not 0. Returns the size of the stream. */
TZ_FN tz_u64 tz_deflate_raw(const TZ_GLOBAL tz_u8 *in, tz_u64 size, TZ_GLOBAL tz_u8 *out,
                            TZ_LOCAL tz_deflate_scratch *scratch)
{
    tz_bit_writer writer;
    writer.out = out;
    writer.bits = 0u;
    writer.count = 0u;
    tz_u32 some = 0u;
    for (tz_u64 at = 0u; at < size; at += some) {
        some = size - at < TZ_DEFLATE_BLOCK ? (tz_u32)(size - at) : TZ_DEFLATE_BLOCK;
        tz_deflate_put_block(&writer, in + at, some, at == 0u, at + some == size, scratch);
    }
    tz_put_padding(&writer);
    return (tz_u64)(writer.out - out);
}

/* Encodes a tile for compression 8 and 32946, by one work-item. Returns its size. */
TZ_FN tz_u32 tz_deflate_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 size, TZ_GLOBAL tz_u8 *out,
                             TZ_LOCAL tz_deflate_scratch *scratch)
{
    out[0] = (tz_u8)TZ_ZLIB_HEADER;
    out[1] = (tz_u8)(TZ_ZLIB_HEADER >> 8);
    const tz_u32 made = (tz_u32)tz_deflate_raw(in, size, out + 2, scratch);
    tz_zlib_put_checksum(out + 2 + made, tz_adler32(in, size));
    return made + TZ_ZLIB_FRAME_BYTES;
}

#endif
