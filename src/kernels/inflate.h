/* SPDX-License-Identifier: Apache-2.0
 * Inflate: one deflate stream (RFC 1951), raw or in a zlib frame (RFC 1950), to one tile, by one
 * work-item or by a work-group. Bits pass through tz_inflate_bits, codewords through the tables,
 * and literals and matches as copies to copy_queue.h.
 *
 * It accepts the streams that libdeflate accepts, a few more than the RFC: a code may have a single
 * codeword of one bit, and then both bits mean its symbol, or no codeword, and then both bits mean
 * symbol 0. The unused length symbols 286 and 287 are 258 bytes, and distance symbols 30 and 31 are
 * like 29.
 *
 * Codewords are looked up in two steps. The next bits are an index into the main table; longer
 * codewords continue in a subtable after it. An entry has 16 bits:
 *
 *     symbol << 4 | bits of the codeword        in a subtable: of its rest
 *     0x8000 | start << 4 | bits of the index   a subtable
 *
 * Tables are small because each tile has its own. They lie in the scratch memory of the caller,
 * TZ_INFLATE_SCRATCH entries in address space TZ_SCRATCH_SPACE, which is global by default. */
#ifndef TZ_KERNELS_INFLATE_H
#define TZ_KERNELS_INFLATE_H

#include "kernels/adler32.h"
#include "kernels/copy_queue.h"
#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/zlib_frame.h"

#ifndef TZ_SCRATCH_SPACE
#define TZ_SCRATCH_SPACE TZ_GLOBAL
#endif

/* Index bits of the main tables, and the greatest number of entries with all subtables: of codes of
 * 288 or 32 symbols of up to 15 bits, and of 19 symbols of up to 7 bits. */
#define TZ_INFLATE_LITLEN_BITS   10u
#define TZ_INFLATE_LITLEN_SIZE   1334u
#define TZ_INFLATE_DISTANCE_BITS 8u
#define TZ_INFLATE_DISTANCE_SIZE 402u
#define TZ_INFLATE_PRECODE_BITS  7u
#define TZ_INFLATE_PRECODE_SIZE  128u

#define TZ_INFLATE_MAX_CODE_LENGTH  15u
#define TZ_INFLATE_LITLEN_SYMBOLS   288u /* symbols of literals and lengths */
#define TZ_INFLATE_DISTANCE_SYMBOLS 32u

/* Offsets in the scratch memory. The code of code lengths uses the table of literals and lengths,
 * which is made after it. */
#define TZ_INFLATE_LITLEN_AT       0u
#define TZ_INFLATE_DISTANCE_AT     TZ_INFLATE_LITLEN_SIZE
#define TZ_INFLATE_SORTED_AT       (TZ_INFLATE_DISTANCE_AT + TZ_INFLATE_DISTANCE_SIZE)
#define TZ_INFLATE_CODE_LENGTHS_AT (TZ_INFLATE_SORTED_AT + TZ_INFLATE_LITLEN_SYMBOLS)
#define TZ_INFLATE_SCRATCH                                                                         \
    (TZ_INFLATE_CODE_LENGTHS_AT + TZ_INFLATE_LITLEN_SYMBOLS + TZ_INFLATE_DISTANCE_SYMBOLS)

#define TZ_INFLATE_SUBTABLE 0x8000u
#define TZ_INFLATE_END      256u /* the symbol that ends a block */

/* The bits of the stream. After its end come zeros, which may be looked at but not used; pos counts
 * them too. */
typedef struct tz_inflate_bits {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 size;
    tz_u32 pos;   /* offset of the next byte to load */
    tz_u64 hold;  /* loaded bits, the next one lowest */
    tz_u32 count; /* bits in hold */
} tz_inflate_bits;

/* Loads bits until there are at least 57: enough for a length and a distance. */
TZ_FN void tz_inflate_refill(tz_inflate_bits *bits)
{
    while (bits->count <= 56u) {
        if (bits->pos < bits->size)
            bits->hold |= (tz_u64)bits->in[bits->pos] << bits->count;
        bits->pos++;
        bits->count += 8u;
    }
}

TZ_FN void tz_inflate_skip_bits(tz_inflate_bits *bits, tz_u32 count)
{
    bits->hold >>= count;
    bits->count -= count;
}

TZ_FN tz_u32 tz_inflate_read_bits(tz_inflate_bits *bits, tz_u32 count)
{
    const tz_u32 value = (tz_u32)bits->hold & ((1u << count) - 1u);
    tz_inflate_skip_bits(bits, count);
    return value;
}

/* The number of bytes of which at least one bit was used. */
TZ_FN tz_u32 tz_inflate_used(const tz_inflate_bits *bits)
{
    return bits->pos - (bits->count >> 3);
}

TZ_FN int tz_inflate_is_overread(const tz_inflate_bits *bits)
{
    return tz_inflate_used(bits) > bits->size;
}

/* ---- codes ---- */

typedef struct tz_inflate_code {
    tz_u16 counts[TZ_INFLATE_MAX_CODE_LENGTH + 1u]; /* codewords of each length */
    tz_u32 max_length;
    tz_u32 symbols; /* symbols that have a codeword */
} tz_inflate_code;

/* Sorts the symbols by the lengths of their codewords. Without any, sorted[0] is 0. */
TZ_FN void tz_inflate_sort(const TZ_SCRATCH_SPACE tz_u16 *code_lengths, tz_u32 symbols,
                           TZ_SCRATCH_SPACE tz_u16 *sorted, tz_inflate_code *code)
{
    tz_u32 starts[TZ_INFLATE_MAX_CODE_LENGTH + 2u];
    for (tz_u32 length = 0u; length <= TZ_INFLATE_MAX_CODE_LENGTH; length++)
        code->counts[length] = 0;
    for (tz_u32 i = 0u; i < symbols; i++)
        code->counts[code_lengths[i]]++;
    code->max_length = 0u;
    starts[1] = 0u;
    for (tz_u32 length = 1u; length <= TZ_INFLATE_MAX_CODE_LENGTH; length++) {
        starts[length + 1u] = starts[length] + code->counts[length];
        if (code->counts[length])
            code->max_length = length;
    }
    code->symbols = starts[TZ_INFLATE_MAX_CODE_LENGTH + 1u];
    sorted[0] = 0u;
    for (tz_u32 i = 0u; i < symbols; i++) {
        if (code_lengths[i])
            sorted[starts[code_lengths[i]]++] = (tz_u16)i;
    }
}

/* The number of codewords of the greatest length that the code does not use; 0 if it is complete,
 * and ~0 if it has too many codewords. */
TZ_FN tz_u32 tz_inflate_unused_codewords(const tz_inflate_code *code)
{
    tz_u32 unused_codewords = 1u;
    for (tz_u32 length = 1u; length <= code->max_length; length++) {
        unused_codewords = 2u * unused_codewords;
        if (code->counts[length] > unused_codewords)
            return 0xffffffffu;
        unused_codewords -= code->counts[length];
    }
    return unused_codewords;
}

/* The codeword after this one, of the same length. Codewords count up from their first bit, which
 * is the lowest here: so the carry goes from the highest bit down. */
TZ_FN tz_u32 tz_inflate_next_codeword(tz_u32 codeword, tz_u32 length)
{
    tz_u32 bit = 1u << (length - 1u);
    while (codeword & bit)
        bit >>= 1;
    return bit ? (codeword & (bit - 1u)) | bit : 0u;
}

/* Index bits of a subtable that begins with a codeword of this length, of which `left` remain: the
 * table grows until the following codewords fill it. */
TZ_FN tz_u32 tz_inflate_subtable_bits(const tz_inflate_code *code, tz_u32 length, tz_u32 left,
                                      tz_u32 main_bits)
{
    tz_u32 bits = length - main_bits;
    tz_u32 used = left;
    while (used < 1u << bits && length < code->max_length) {
        bits++;
        length++;
        used = 2u * used + code->counts[length];
    }
    return bits;
}

/* Fills the table of a complete code. An entry of the main table is repeated for all values of the
 * bits after its codeword. Returns 0 if the entries do not fit, which is impossible. */
TZ_FN int tz_inflate_fill_table(const tz_inflate_code *code, const TZ_SCRATCH_SPACE tz_u16 *sorted,
                                TZ_SCRATCH_SPACE tz_u16 *table, tz_u32 main_bits, tz_u32 capacity)
{
    tz_u32 codeword = 0u;
    tz_u32 next = 0u;                      /* index in sorted */
    tz_u32 prefix = 0xffffffffu;           /* main bits that lead to the subtable; ~0: none */
    tz_u32 start = 0u, subtable_bits = 0u; /* of the subtable */
    tz_u32 end = 1u << main_bits;          /* of all tables so far */
    for (tz_u32 length = 1u; length <= code->max_length; length++) {
        for (tz_u32 left = code->counts[length]; left > 0u; left--) {
            const tz_u32 symbol = sorted[next++];
            if (length <= main_bits) {
                for (tz_u32 i = codeword; i < 1u << main_bits; i += 1u << length)
                    table[i] = (tz_u16)(symbol << 4 | length);
            } else {
                if ((codeword & ((1u << main_bits) - 1u)) != prefix) {
                    prefix = codeword & ((1u << main_bits) - 1u);
                    start = end;
                    subtable_bits = tz_inflate_subtable_bits(code, length, left, main_bits);
                    end = start + (1u << subtable_bits);
                    if (end > capacity)
                        return 0;
                    table[prefix] = (tz_u16)(TZ_INFLATE_SUBTABLE | start << 4 | subtable_bits);
                }
                for (tz_u32 i = codeword >> main_bits; i < 1u << subtable_bits;
                     i += 1u << (length - main_bits))
                    table[start + i] = (tz_u16)(symbol << 4 | (length - main_bits));
            }
            codeword = tz_inflate_next_codeword(codeword, length);
        }
    }
    return 1;
}

/* Makes the table of a code from the lengths of its codewords. Returns 0 if they are invalid. */
TZ_FN int tz_inflate_make_table(TZ_SCRATCH_SPACE tz_u16 *scratch, tz_u32 lengths_at, tz_u32 symbols,
                                tz_u32 table_at, tz_u32 main_bits, tz_u32 capacity)
{
    TZ_SCRATCH_SPACE tz_u16 *table = scratch + table_at;
    TZ_SCRATCH_SPACE tz_u16 *sorted = scratch + TZ_INFLATE_SORTED_AT;
    tz_inflate_code code;
    tz_inflate_sort(scratch + lengths_at, symbols, sorted, &code);
    const tz_u32 unused_codewords = tz_inflate_unused_codewords(&code);
    if (unused_codewords == 0u)
        return tz_inflate_fill_table(&code, sorted, table, main_bits, capacity);
    if (code.symbols > 1u || code.max_length > 1u)
        return 0;
    for (tz_u32 i = 0u; i < 1u << main_bits; i++)
        table[i] = (tz_u16)((tz_u32)sorted[0] << 4 | 1u);
    return 1;
}

/* Reads a codeword, whose bits must be loaded, and returns its symbol. */
TZ_FN tz_u32 tz_inflate_read_symbol(tz_inflate_bits *bits, const TZ_SCRATCH_SPACE tz_u16 *table,
                                    tz_u32 main_bits)
{
    tz_u32 entry = table[(tz_u32)bits->hold & ((1u << main_bits) - 1u)];
    if (entry & TZ_INFLATE_SUBTABLE) {
        tz_inflate_skip_bits(bits, main_bits);
        entry = table[(entry >> 4 & 0x7ffu) + ((tz_u32)bits->hold & ((1u << (entry & 15u)) - 1u))];
    }
    tz_inflate_skip_bits(bits, entry & 15u);
    return entry >> 4;
}

/* ---- blocks ---- */

typedef struct tz_inflate_decoder {
    tz_u32 size;
    tz_u32 made; /* decoded bytes so far */
    tz_inflate_bits bits;
    TZ_SCRATCH_SPACE tz_u16 *scratch;
    tz_u32 has_fixed; /* the tables are those of the fixed codes */
    tz_u32 in_block;  /* symbols follow, not the header of a block */
    tz_u32 last;      /* no block follows this one */
} tz_inflate_decoder;

/* Reads a stored block: count bytes, at offset `from` of the stream. They count as made. */
TZ_FN tz_u32 tz_inflate_stored_block(tz_inflate_decoder *decoder, tz_u32 *from, tz_u32 *count)
{
    tz_inflate_bits *bits = &decoder->bits;
    tz_inflate_skip_bits(bits, bits->count & 7u); /* to the next whole byte */
    tz_u32 at = tz_inflate_used(bits);
    if (at > bits->size || bits->size - at < 4u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 size = tz_kernel_le16(bits->in + at);
    const tz_u32 inverse = tz_kernel_le16(bits->in + at + 2u);
    at += 4u;
    if ((size ^ inverse) != 0xffffu)
        return TZ_DECODE_BAD_BLOCK;
    if (size > decoder->size - decoder->made)
        return TZ_DECODE_TOO_LONG;
    if (size > bits->size - at)
        return TZ_DECODE_TRUNCATED;
    *from = at;
    *count = size;
    decoder->made += size;
    bits->pos = at + size;
    bits->hold = 0u;
    bits->count = 0u;
    return TZ_DECODE_OK;
}

/* Reads the lengths of both codes as one list, in symbols of the code of code lengths: 0 to 15 are
 * lengths, 16 repeats the last one, 17 and 18 are runs of 0. */
TZ_FN tz_u32 tz_inflate_read_code_lengths(tz_inflate_decoder *decoder, tz_u32 count)
{
    tz_inflate_bits *bits = &decoder->bits;
    TZ_SCRATCH_SPACE tz_u16 *code_lengths = decoder->scratch + TZ_INFLATE_CODE_LENGTHS_AT;
    tz_u32 done = 0u;
    while (done < count) {
        tz_inflate_refill(bits);
        const tz_u32 symbol = tz_inflate_read_symbol(bits, decoder->scratch + TZ_INFLATE_LITLEN_AT,
                                                     TZ_INFLATE_PRECODE_BITS);
        tz_u32 repeat = 1u;
        tz_u32 length = symbol;
        if (symbol == 16u) {
            if (done == 0u)
                return TZ_DECODE_BAD_CODE;
            length = code_lengths[done - 1u];
            repeat = 3u + tz_inflate_read_bits(bits, 2u);
        } else if (symbol > 16u) {
            length = 0u;
            repeat = symbol == 17u ? 3u + tz_inflate_read_bits(bits, 3u)
                                   : 11u + tz_inflate_read_bits(bits, 7u);
        }
        if (tz_inflate_is_overread(bits))
            return TZ_DECODE_TRUNCATED;
        if (repeat > count - done)
            return TZ_DECODE_UNSURE; /* libdeflate 1.14 accepts this, 1.26 does not */
        for (; repeat > 0u; repeat--)
            code_lengths[done++] = (tz_u16)length;
    }
    return TZ_DECODE_OK;
}

/* Reads the codes of a block with dynamic codes, and makes their tables. */
TZ_FN tz_u32 tz_inflate_read_codes(tz_inflate_decoder *decoder)
{
    tz_inflate_bits *bits = &decoder->bits;
    TZ_SCRATCH_SPACE tz_u16 *code_lengths = decoder->scratch + TZ_INFLATE_CODE_LENGTHS_AT;
    const tz_u32 litlen_count = 257u + tz_inflate_read_bits(bits, 5u);
    const tz_u32 distance_count = 1u + tz_inflate_read_bits(bits, 5u);
    const tz_u32 precode_count = 4u + tz_inflate_read_bits(bits, 4u);
    for (tz_u32 i = 0u; i < 19u; i++) {
        tz_inflate_refill(bits);
        code_lengths[tz_deflate_precode_symbol(i)] =
            (tz_u16)(i < precode_count ? tz_inflate_read_bits(bits, 3u) : 0u);
    }
    if (tz_inflate_is_overread(bits))
        return TZ_DECODE_TRUNCATED;
    if (!tz_inflate_make_table(decoder->scratch, TZ_INFLATE_CODE_LENGTHS_AT, 19u,
                               TZ_INFLATE_LITLEN_AT, TZ_INFLATE_PRECODE_BITS,
                               TZ_INFLATE_PRECODE_SIZE))
        return TZ_DECODE_BAD_CODE;
    const tz_u32 status = tz_inflate_read_code_lengths(decoder, litlen_count + distance_count);
    if (status != TZ_DECODE_OK)
        return status;
    if (code_lengths[TZ_INFLATE_END] == 0)
        return TZ_DECODE_BAD_CODE; /* the block could not end */
    if (!tz_inflate_make_table(decoder->scratch, TZ_INFLATE_CODE_LENGTHS_AT, litlen_count,
                               TZ_INFLATE_LITLEN_AT, TZ_INFLATE_LITLEN_BITS,
                               TZ_INFLATE_LITLEN_SIZE) ||
        !tz_inflate_make_table(decoder->scratch, TZ_INFLATE_CODE_LENGTHS_AT + litlen_count,
                               distance_count, TZ_INFLATE_DISTANCE_AT, TZ_INFLATE_DISTANCE_BITS,
                               TZ_INFLATE_DISTANCE_SIZE))
        return TZ_DECODE_BAD_CODE;
    return TZ_DECODE_OK;
}

/* Makes the tables of the fixed codes (RFC 1951, section 3.2.6). They serve all fixed blocks until
 * a dynamic block replaces them. */
TZ_FN void tz_inflate_make_fixed_codes(tz_inflate_decoder *decoder)
{
    TZ_SCRATCH_SPACE tz_u16 *code_lengths = decoder->scratch + TZ_INFLATE_CODE_LENGTHS_AT;
    for (tz_u32 i = 0u; i < TZ_INFLATE_LITLEN_SYMBOLS; i++)
        code_lengths[i] = (tz_u16)(i < 144u ? 8u : i < 256u ? 9u : i < 280u ? 7u : 8u);
    for (tz_u32 i = 0u; i < TZ_INFLATE_DISTANCE_SYMBOLS; i++)
        code_lengths[TZ_INFLATE_LITLEN_SYMBOLS + i] = 5;
    tz_inflate_make_table(decoder->scratch, TZ_INFLATE_CODE_LENGTHS_AT, TZ_INFLATE_LITLEN_SYMBOLS,
                          TZ_INFLATE_LITLEN_AT, TZ_INFLATE_LITLEN_BITS, TZ_INFLATE_LITLEN_SIZE);
    tz_inflate_make_table(decoder->scratch, TZ_INFLATE_CODE_LENGTHS_AT + TZ_INFLATE_LITLEN_SYMBOLS,
                          TZ_INFLATE_DISTANCE_SYMBOLS, TZ_INFLATE_DISTANCE_AT,
                          TZ_INFLATE_DISTANCE_BITS, TZ_INFLATE_DISTANCE_SIZE);
}

/* The length of a match, from a symbol above 256. Four symbols at a time have the same number of
 * extra bits. */
TZ_FN tz_u32 tz_inflate_read_length(tz_inflate_bits *bits, tz_u32 symbol)
{
    const tz_u32 i = symbol - 257u;
    if (i < 8u)
        return 3u + i;
    if (i >= 28u)
        return 258u;
    const tz_u32 extra_bits = (i >> 2) - 1u;
    return 3u + ((4u + (i & 3u)) << extra_bits) + tz_inflate_read_bits(bits, extra_bits);
}

/* The distance of a match. Two symbols at a time have the same number of extra bits. */
TZ_FN tz_u32 tz_inflate_read_distance(tz_inflate_bits *bits, tz_u32 symbol)
{
    if (symbol < 4u)
        return 1u + symbol;
    const tz_u32 i = tz_kernel_min(symbol, 29u);
    const tz_u32 extra_bits = (i >> 1) - 1u;
    return 1u + ((2u + (i & 1u)) << extra_bits) + tz_inflate_read_bits(bits, extra_bits);
}

/* Reads a match, whose length symbol was read. */
TZ_FN tz_u32 tz_inflate_read_match(tz_inflate_decoder *decoder, tz_u32 symbol, tz_u32 *source,
                                   tz_u32 *size)
{
    tz_inflate_bits *bits = &decoder->bits;
    *size = tz_inflate_read_length(bits, symbol);
    *source = tz_inflate_read_distance(
        bits, tz_inflate_read_symbol(bits, decoder->scratch + TZ_INFLATE_DISTANCE_AT,
                                     TZ_INFLATE_DISTANCE_BITS));
    if (tz_inflate_is_overread(bits))
        return TZ_DECODE_TRUNCATED;
    if (*source > decoder->made)
        return TZ_DECODE_BAD_DISTANCE;
    if (*size > decoder->size - decoder->made)
        return TZ_DECODE_TOO_LONG;
    decoder->made += *size;
    return TZ_DECODE_OK;
}

/* Reads a symbol of a block; source and size are its copy, of 0 bytes at the end of the block. */
TZ_FN tz_u32 tz_inflate_next_symbol(tz_inflate_decoder *decoder, tz_u32 *source, tz_u32 *size)
{
    tz_inflate_bits *bits = &decoder->bits;
    tz_inflate_refill(bits);
    const tz_u32 symbol = tz_inflate_read_symbol(bits, decoder->scratch + TZ_INFLATE_LITLEN_AT,
                                                 TZ_INFLATE_LITLEN_BITS);
    if (symbol > TZ_INFLATE_END)
        return tz_inflate_read_match(decoder, symbol, source, size);
    *size = 0u;
    if (tz_inflate_is_overread(bits))
        return TZ_DECODE_TRUNCATED;
    if (symbol == TZ_INFLATE_END) {
        decoder->in_block = 0u;
        return TZ_DECODE_OK;
    }
    if (decoder->made == decoder->size)
        return TZ_DECODE_TOO_LONG;
    *source = TZ_LITERAL | symbol;
    *size = 1u;
    decoder->made++;
    return TZ_DECODE_OK;
}

/* Reads the header of a block and makes its tables. A stored block is complete with that: its bytes
 * are *from and *count. */
TZ_FN tz_u32 tz_inflate_read_block_header(tz_inflate_decoder *decoder, tz_u32 *from, tz_u32 *count)
{
    tz_inflate_refill(&decoder->bits);
    decoder->last = tz_inflate_read_bits(&decoder->bits, 1u);
    const tz_u32 kind = tz_inflate_read_bits(&decoder->bits, 2u);
    *count = 0u;
    if (tz_inflate_is_overread(&decoder->bits))
        return TZ_DECODE_TRUNCATED;
    if (kind == 3u)
        return TZ_DECODE_BAD_BLOCK;
    if (kind == 0u)
        return tz_inflate_stored_block(decoder, from, count);
    decoder->in_block = 1u;
    if (kind == 2u) {
        decoder->has_fixed = 0u;
        return tz_inflate_read_codes(decoder);
    }
    if (!decoder->has_fixed) {
        decoder->has_fixed = 1u;
        tz_inflate_make_fixed_codes(decoder);
    }
    return TZ_DECODE_OK;
}

/* ---- tiles ---- */

TZ_FN tz_inflate_decoder tz_inflate_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, tz_u32 size,
                                          TZ_SCRATCH_SPACE tz_u16 *scratch)
{
    tz_inflate_decoder decoder = {0};
    decoder.bits.in = in;
    decoder.bits.size = in_size;
    decoder.size = size;
    decoder.scratch = scratch;
    return decoder;
}

TZ_FN tz_u32 tz_inflate_finish(const tz_inflate_decoder *decoder)
{
    return decoder->made == decoder->size ? TZ_DECODE_OK : TZ_DECODE_TOO_SHORT;
}

/* Decodes a raw stream that must make exactly size bytes. *used: bytes of the stream, on success;
 * the caller decides if more may follow. scratch: TZ_INFLATE_SCRATCH entries. */
TZ_FN tz_u32 tz_inflate_raw(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                            tz_u32 size, TZ_SCRATCH_SPACE tz_u16 *scratch, tz_u32 *used)
{
    tz_inflate_decoder decoder = tz_inflate_start(in, in_size, size, scratch);
    while (!decoder.last) {
        tz_u32 from = 0u;
        tz_u32 count = 0u;
        const tz_u32 start = decoder.made;
        tz_u32 status = tz_inflate_read_block_header(&decoder, &from, &count);
        for (tz_u32 i = 0u; i < count; i++)
            out[start + i] = in[from + i];
        while (status == TZ_DECODE_OK && decoder.in_block) {
            tz_u32 source = TZ_LITERAL;
            tz_u32 length = 0u;
            const tz_u32 at = decoder.made;
            status = tz_inflate_next_symbol(&decoder, &source, &length);
            if (status == TZ_DECODE_OK && length > 0u)
                tz_copy_match(out, at, source, length);
        }
        if (status != TZ_DECODE_OK)
            return status;
    }
    *used = tz_inflate_used(&decoder.bits);
    return tz_inflate_finish(&decoder);
}

/* The checksum after the stream, of which *used bytes were read; *used then counts the frame too.
 */
TZ_FN tz_u32 tz_inflate_checksum(const TZ_GLOBAL tz_u8 *in, tz_u32 *used)
{
    const TZ_GLOBAL tz_u8 *end = in + TZ_ZLIB_HEADER_BYTES + *used;
    *used += TZ_ZLIB_FRAME_BYTES;
    return tz_zlib_checksum(end);
}

/* Decodes a tile with compression 8 or 32946, by one work-item. */
TZ_FN tz_u32 tz_inflate_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                             tz_u32 size, TZ_SCRATCH_SPACE tz_u16 *scratch)
{
    tz_u32 used = 0u;
    tz_u32 status = tz_zlib_check_header(in, in_size);
    if (status == TZ_DECODE_OK)
        status = tz_inflate_raw(in + TZ_ZLIB_HEADER_BYTES, in_size - TZ_ZLIB_FRAME_BYTES, out, size,
                                scratch, &used);
    if (status != TZ_DECODE_OK)
        return status;
    if (tz_adler32(out, size) != tz_inflate_checksum(in, &used))
        return TZ_DECODE_BAD_CHECKSUM;
    return TZ_DECODE_END(used, in_size);
}

/* ---- by a work-group ---- */

/* Work-item 0 fills the queue. It returns after a stored block, whose bytes the queue has apart. */
TZ_FN void tz_inflate_fill_queue(tz_inflate_decoder *decoder, TZ_LOCAL tz_u32 *queue)
{
    tz_copy_queue_begin(queue, decoder->made);
    while (!tz_copy_queue_is_full(queue)) {
        tz_u32 status, from = 0u, count = 0u, source = TZ_LITERAL, size = 0u;
        if (decoder->in_block)
            status = tz_inflate_next_symbol(decoder, &source, &size);
        else
            status = tz_inflate_read_block_header(decoder, &from, &count);
        if (status == TZ_DECODE_OK && size > 0u)
            tz_copy_queue_add(queue, source, size);
        queue[TZ_COPY_QUEUE_STORED_AT] = from;
        queue[TZ_COPY_QUEUE_STORED_BYTES] = count;
        if (status != TZ_DECODE_OK || (decoder->last && !decoder->in_block)) {
            if (status == TZ_DECODE_OK)
                status = tz_inflate_finish(decoder);
            tz_copy_queue_end(queue, status, tz_inflate_used(&decoder->bits));
            return;
        }
        if (count > 0u)
            return;
    }
}

/* As tz_inflate_raw; queue: TZ_COPY_QUEUE_WORDS. All work-items get the status and *used. */
TZ_FN tz_u32 tz_inflate_raw_work_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size,
                                       TZ_GLOBAL tz_u8 *out, tz_u32 size,
                                       TZ_SCRATCH_SPACE tz_u16 *scratch, TZ_LOCAL tz_u32 *queue,
                                       tz_u32 *used)
{
    tz_inflate_decoder decoder = tz_inflate_start(in, in_size, size, scratch);
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (!over) {
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item == 0u)
                tz_inflate_fill_queue(&decoder, queue);
        }
        TZ_SYNC;
        over = queue[TZ_COPY_QUEUE_IS_LAST];
        status = queue[TZ_COPY_QUEUE_STATUS];
        *used = queue[TZ_COPY_QUEUE_USED];
        for (TZ_EACH_WORK_ITEM(work_item))
            tz_copy_queue_write(queue, in, out, work_item);
        TZ_SYNC;
    }
    return status;
}

/* As tz_inflate_tile. */
TZ_FN tz_u32 tz_inflate_tile_work_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size,
                                        TZ_GLOBAL tz_u8 *out, tz_u32 size,
                                        TZ_SCRATCH_SPACE tz_u16 *scratch, TZ_LOCAL tz_u32 *queue)
{
    tz_u32 used = 0u;
    tz_u32 status = tz_zlib_check_header(in, in_size);
    if (status == TZ_DECODE_OK)
        status = tz_inflate_raw_work_group(in + TZ_ZLIB_HEADER_BYTES, in_size - TZ_ZLIB_FRAME_BYTES,
                                           out, size, scratch, queue, &used);
    if (status != TZ_DECODE_OK)
        return status;
    if (tz_adler32_work_group(out, size, queue) != tz_inflate_checksum(in, &used))
        return TZ_DECODE_BAD_CHECKSUM;
    return TZ_DECODE_END(used, in_size);
}

#endif
