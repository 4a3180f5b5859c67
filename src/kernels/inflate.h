/* SPDX-License-Identifier: Apache-2.0
 * Inflate: one deflate stream (RFC 1951), bare or in a zlib frame (RFC 1950), to one tile, by one
 * item or by a group. What it takes is what libdeflate takes, which is a little more than the RFC:
 * a code may consist of one word of one bit, which both bits then mean, or of none, when either bit
 * is symbol 0; the unused length symbols 286 and 287 are 258 bytes, distance symbols 30 and 31 are
 * like 29.
 *
 * Codes are looked up in two steps. The next bits are an index into the main table; words that are
 * longer have their rest in a further table behind it. An entry is 16 bits:
 *
 *     symbol << 4 | bits of the word            (in further tables, of its rest)
 *     0x8000 | start << 4 | bits of the index   a further table
 *
 * Tables are small because each item has its own: they are in the work memory, of which the caller
 * hands out TZ_INFLATE_WORK entries. TZ_WORK is its address space, global unless said otherwise. */
#ifndef TZ_KERNELS_INFLATE_H
#define TZ_KERNELS_INFLATE_H

#include "kernels/adler32.h"
#include "kernels/copies.h"
#include "kernels/kernel.h"
#include "kernels/status.h"
#include "kernels/zlib_frame.h"

#ifndef TZ_WORK
#define TZ_WORK TZ_GLOBAL
#endif

/* Entries that codes of 288 or 32 symbols of up to 15 bits need at most, and 19 of up to 7 bits. */
#define TZ_INFLATE_LENGTH_BITS   10u
#define TZ_INFLATE_LENGTH_SIZE   1334u
#define TZ_INFLATE_DISTANCE_BITS 8u
#define TZ_INFLATE_DISTANCE_SIZE 402u
#define TZ_INFLATE_FIRST_BITS    7u
#define TZ_INFLATE_FIRST_SIZE    128u

#define TZ_INFLATE_MAX_WORD  15u
#define TZ_INFLATE_LENGTHS   288u /* symbols of literals and lengths */
#define TZ_INFLATE_DISTANCES 32u

/* Places in the work memory. The code of the code lengths is not needed any more when the table of
 * literals and lengths is made. */
#define TZ_INFLATE_LENGTH_AT   0u
#define TZ_INFLATE_DISTANCE_AT TZ_INFLATE_LENGTH_SIZE
#define TZ_INFLATE_SORTED_AT   (TZ_INFLATE_DISTANCE_AT + TZ_INFLATE_DISTANCE_SIZE)
#define TZ_INFLATE_WIDTHS_AT   (TZ_INFLATE_SORTED_AT + TZ_INFLATE_LENGTHS)
#define TZ_INFLATE_WORK        (TZ_INFLATE_WIDTHS_AT + TZ_INFLATE_LENGTHS + TZ_INFLATE_DISTANCES)

#define TZ_INFLATE_FURTHER 0x8000u
#define TZ_INFLATE_END     256u /* the symbol that ends a block */

/* The stream at work. Behind its end come zeros, which may be looked at but not used up: pos counts
 * them too. */
typedef struct tz_inflate_bits {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 size;
    tz_u32 pos; /* the next byte to load */
    tz_u64 hold;
    tz_u32 count; /* bits in hold */
} tz_inflate_bits;

/* At least 57 bits: enough for a length and a distance. */
TZ_FN void tz_inflate_fill(tz_inflate_bits *bits)
{
    while (bits->count <= 56u) {
        if (bits->pos < bits->size)
            bits->hold |= (tz_u64)bits->in[bits->pos] << bits->count;
        bits->pos++;
        bits->count += 8u;
    }
}

TZ_FN void tz_inflate_drop(tz_inflate_bits *bits, tz_u32 count)
{
    bits->hold >>= count;
    bits->count -= count;
}

TZ_FN tz_u32 tz_inflate_take(tz_inflate_bits *bits, tz_u32 count)
{
    const tz_u32 value = (tz_u32)bits->hold & ((1u << count) - 1u);
    tz_inflate_drop(bits, count);
    return value;
}

/* Bytes of which at least one bit was used. */
TZ_FN tz_u32 tz_inflate_used(const tz_inflate_bits *bits)
{
    return bits->pos - (bits->count >> 3);
}

TZ_FN int tz_inflate_is_over(const tz_inflate_bits *bits)
{
    return tz_inflate_used(bits) > bits->size;
}

/* ---- codes ---- */

/* The words of a code, in their order. */
typedef struct tz_inflate_code {
    tz_u16 counts[TZ_INFLATE_MAX_WORD + 1u]; /* words of each width */
    tz_u32 longest;
    tz_u32 symbols; /* that have a word */
} tz_inflate_code;

/* Sorts the symbols by the widths of their words; the first of none is 0. */
TZ_FN void tz_inflate_sort(const TZ_WORK tz_u16 *widths, tz_u32 symbols, TZ_WORK tz_u16 *sorted,
                           tz_inflate_code *code)
{
    tz_u32 starts[TZ_INFLATE_MAX_WORD + 2u];
    for (tz_u32 width = 0u; width <= TZ_INFLATE_MAX_WORD; width++)
        code->counts[width] = 0;
    for (tz_u32 i = 0u; i < symbols; i++)
        code->counts[widths[i]]++;
    code->longest = 0u;
    starts[1] = 0u;
    for (tz_u32 width = 1u; width <= TZ_INFLATE_MAX_WORD; width++) {
        starts[width + 1u] = starts[width] + code->counts[width];
        if (code->counts[width])
            code->longest = width;
    }
    code->symbols = starts[TZ_INFLATE_MAX_WORD + 1u];
    sorted[0] = 0u;
    for (tz_u32 i = 0u; i < symbols; i++) {
        if (widths[i])
            sorted[starts[widths[i]]++] = (tz_u16)i;
    }
}

/* Words that the code leaves free, out of two to the power of the longest width; more than that
 * when it has too many. */
TZ_FN tz_u32 tz_inflate_free_words(const tz_inflate_code *code)
{
    tz_u32 free_words = 1u;
    for (tz_u32 width = 1u; width <= code->longest; width++) {
        free_words = 2u * free_words;
        if (code->counts[width] > free_words)
            return 0xffffffffu;
        free_words -= code->counts[width];
    }
    return free_words;
}

/* The next word of this width, as the stream has it, lowest bit first. */
TZ_FN tz_u32 tz_inflate_next_word(tz_u32 word, tz_u32 width)
{
    tz_u32 bit = 1u << (width - 1u);
    while (word & bit)
        bit >>= 1;
    return bit ? (word & (bit - 1u)) | bit : 0u;
}

/* Index bits of a further table that begins with words of this width, of which left remain. */
TZ_FN tz_u32 tz_inflate_further_bits(const tz_inflate_code *code, tz_u32 width, tz_u32 left,
                                     tz_u32 main_bits)
{
    tz_u32 bits = width - main_bits;
    tz_u32 used = left;
    while (used < 1u << bits && width < code->longest) {
        bits++;
        width++;
        used = 2u * used + code->counts[width];
    }
    return bits;
}

/* A table for a code that is complete. 0 when it does not fit, which cannot be. */
TZ_FN int tz_inflate_fill_table(const tz_inflate_code *code, const TZ_WORK tz_u16 *sorted,
                                TZ_WORK tz_u16 *table, tz_u32 main_bits, tz_u32 room)
{
    tz_u32 word = 0u;
    tz_u32 next = 0u;                     /* symbol in sorted */
    tz_u32 prefix = 0xffffffffu;          /* of the further table */
    tz_u32 start = 0u, further_bits = 0u; /* of it */
    tz_u32 end = 1u << main_bits;         /* of all tables */
    for (tz_u32 width = 1u; width <= code->longest; width++) {
        for (tz_u32 left = code->counts[width]; left > 0u; left--) {
            const tz_u32 symbol = sorted[next++];
            if (width <= main_bits) {
                for (tz_u32 i = word; i < 1u << main_bits; i += 1u << width)
                    table[i] = (tz_u16)(symbol << 4 | width);
            } else {
                if ((word & ((1u << main_bits) - 1u)) != prefix) {
                    prefix = word & ((1u << main_bits) - 1u);
                    start = end;
                    further_bits = tz_inflate_further_bits(code, width, left, main_bits);
                    end = start + (1u << further_bits);
                    if (end > room)
                        return 0;
                    table[prefix] = (tz_u16)(TZ_INFLATE_FURTHER | start << 4 | further_bits);
                }
                for (tz_u32 i = word >> main_bits; i < 1u << further_bits;
                     i += 1u << (width - main_bits))
                    table[start + i] = (tz_u16)(symbol << 4 | (width - main_bits));
            }
            word = tz_inflate_next_word(word, width);
        }
    }
    return 1;
}

/* The table of a code whose widths are given; 0: it is none. */
TZ_FN int tz_inflate_make_table(TZ_WORK tz_u16 *work, tz_u32 widths_at, tz_u32 symbols,
                                tz_u32 table_at, tz_u32 main_bits, tz_u32 room)
{
    TZ_WORK tz_u16 *table = work + table_at;
    TZ_WORK tz_u16 *sorted = work + TZ_INFLATE_SORTED_AT;
    tz_inflate_code code;
    tz_inflate_sort(work + widths_at, symbols, sorted, &code);
    const tz_u32 free_words = tz_inflate_free_words(&code);
    if (free_words == 0u)
        return tz_inflate_fill_table(&code, sorted, table, main_bits, room);
    if (code.symbols > 1u || code.longest > 1u)
        return 0;
    for (tz_u32 i = 0u; i < 1u << main_bits; i++)
        table[i] = (tz_u16)((tz_u32)sorted[0] << 4 | 1u);
    return 1;
}

/* The symbol of the next word. Its bits must be there. */
TZ_FN tz_u32 tz_inflate_symbol(tz_inflate_bits *bits, const TZ_WORK tz_u16 *table, tz_u32 main_bits)
{
    tz_u32 entry = table[(tz_u32)bits->hold & ((1u << main_bits) - 1u)];
    if (entry & TZ_INFLATE_FURTHER) {
        tz_inflate_drop(bits, main_bits);
        entry = table[(entry >> 4 & 0x7ffu) + ((tz_u32)bits->hold & ((1u << (entry & 15u)) - 1u))];
    }
    tz_inflate_drop(bits, entry & 15u);
    return entry >> 4;
}

/* ---- blocks ---- */

/* The tile at work. */
typedef struct tz_inflate_run {
    tz_inflate_bits bits;
    TZ_GLOBAL tz_u8 *out;
    tz_u32 size;
    tz_u32 made;
    TZ_WORK tz_u16 *work;
    tz_u32 has_fixed; /* the tables are those of blocks with fixed codes */
    tz_u32 in_block;  /* symbols follow, and not the head of a block */
    tz_u32 last;      /* no block follows this one */
} tz_inflate_run;

/* A block of bytes as they are: so many, from there in the stream. They count as made. */
TZ_FN tz_u32 tz_inflate_stored(tz_inflate_run *run, tz_u32 *from, tz_u32 *count)
{
    tz_inflate_bits *bits = &run->bits;
    tz_inflate_drop(bits, bits->count & 7u); /* to the next whole byte */
    tz_u32 at = tz_inflate_used(bits);
    if (at > bits->size || bits->size - at < 4u)
        return TZ_DECODE_TRUNCATED;
    const tz_u32 size = bits->in[at] | (tz_u32)bits->in[at + 1u] << 8;
    const tz_u32 inverse = bits->in[at + 2u] | (tz_u32)bits->in[at + 3u] << 8;
    at += 4u;
    if ((size ^ inverse) != 0xffffu)
        return TZ_DECODE_BAD_BLOCK;
    if (size > run->size - run->made)
        return TZ_DECODE_TOO_LONG;
    if (size > bits->size - at)
        return TZ_DECODE_TRUNCATED;
    *from = at;
    *count = size;
    run->made += size;
    bits->pos = at + size;
    bits->hold = 0u;
    bits->count = 0u;
    return TZ_DECODE_OK;
}

/* The widths of both codes, in symbols of a code of their own. */
TZ_FN tz_u32 tz_inflate_read_widths(tz_inflate_run *run, tz_u32 count)
{
    tz_inflate_bits *bits = &run->bits;
    TZ_WORK tz_u16 *widths = run->work + TZ_INFLATE_WIDTHS_AT;
    tz_u32 done = 0u;
    while (done < count) {
        tz_inflate_fill(bits);
        const tz_u32 symbol =
            tz_inflate_symbol(bits, run->work + TZ_INFLATE_LENGTH_AT, TZ_INFLATE_FIRST_BITS);
        tz_u32 repeat = 1u;
        tz_u32 width = symbol;
        if (symbol == 16u) {
            if (done == 0u)
                return TZ_DECODE_BAD_CODE;
            width = widths[done - 1u];
            repeat = 3u + tz_inflate_take(bits, 2u);
        } else if (symbol > 16u) {
            width = 0u;
            repeat =
                symbol == 17u ? 3u + tz_inflate_take(bits, 3u) : 11u + tz_inflate_take(bits, 7u);
        }
        if (tz_inflate_is_over(bits))
            return TZ_DECODE_TRUNCATED;
        if (repeat > count - done)
            return TZ_DECODE_UNSURE; /* libdeflate 1.14 takes this, 1.26 does not */
        for (; repeat > 0u; repeat--)
            widths[done++] = (tz_u16)width;
    }
    return TZ_DECODE_OK;
}

/* The place of the width that comes as number i, of the symbols in which widths are stored: those
 * that are often 0 come last. */
TZ_FN tz_u32 tz_inflate_place(tz_u32 i)
{
    if (i < 4u)
        return i < 3u ? 16u + i : 0u;
    return i & 1u ? 8u - (i - 3u) / 2u : 8u + (i - 4u) / 2u;
}

TZ_FN tz_u32 tz_inflate_read_codes(tz_inflate_run *run)
{
    tz_inflate_bits *bits = &run->bits;
    TZ_WORK tz_u16 *widths = run->work + TZ_INFLATE_WIDTHS_AT;
    const tz_u32 lengths = 257u + tz_inflate_take(bits, 5u);
    const tz_u32 distances = 1u + tz_inflate_take(bits, 5u);
    const tz_u32 first = 4u + tz_inflate_take(bits, 4u);
    for (tz_u32 i = 0u; i < 19u; i++) {
        tz_inflate_fill(bits);
        widths[tz_inflate_place(i)] = (tz_u16)(i < first ? tz_inflate_take(bits, 3u) : 0u);
    }
    if (tz_inflate_is_over(bits))
        return TZ_DECODE_TRUNCATED;
    if (!tz_inflate_make_table(run->work, TZ_INFLATE_WIDTHS_AT, 19u, TZ_INFLATE_LENGTH_AT,
                               TZ_INFLATE_FIRST_BITS, TZ_INFLATE_FIRST_SIZE))
        return TZ_DECODE_BAD_CODE;
    const tz_u32 status = tz_inflate_read_widths(run, lengths + distances);
    if (status != TZ_DECODE_OK)
        return status;
    if (widths[TZ_INFLATE_END] == 0)
        return TZ_DECODE_BAD_CODE; /* such a block has no end */
    if (!tz_inflate_make_table(run->work, TZ_INFLATE_WIDTHS_AT, lengths, TZ_INFLATE_LENGTH_AT,
                               TZ_INFLATE_LENGTH_BITS, TZ_INFLATE_LENGTH_SIZE) ||
        !tz_inflate_make_table(run->work, TZ_INFLATE_WIDTHS_AT + lengths, distances,
                               TZ_INFLATE_DISTANCE_AT, TZ_INFLATE_DISTANCE_BITS,
                               TZ_INFLATE_DISTANCE_SIZE))
        return TZ_DECODE_BAD_CODE;
    return TZ_DECODE_OK;
}

TZ_FN void tz_inflate_fixed_codes(tz_inflate_run *run)
{
    TZ_WORK tz_u16 *widths = run->work + TZ_INFLATE_WIDTHS_AT;
    for (tz_u32 i = 0u; i < TZ_INFLATE_LENGTHS; i++)
        widths[i] = (tz_u16)(i < 144u ? 8u : i < 256u ? 9u : i < 280u ? 7u : 8u);
    for (tz_u32 i = 0u; i < TZ_INFLATE_DISTANCES; i++)
        widths[TZ_INFLATE_LENGTHS + i] = 5;
    tz_inflate_make_table(run->work, TZ_INFLATE_WIDTHS_AT, TZ_INFLATE_LENGTHS, TZ_INFLATE_LENGTH_AT,
                          TZ_INFLATE_LENGTH_BITS, TZ_INFLATE_LENGTH_SIZE);
    tz_inflate_make_table(run->work, TZ_INFLATE_WIDTHS_AT + TZ_INFLATE_LENGTHS,
                          TZ_INFLATE_DISTANCES, TZ_INFLATE_DISTANCE_AT, TZ_INFLATE_DISTANCE_BITS,
                          TZ_INFLATE_DISTANCE_SIZE);
}

/* Bytes to copy, from a symbol above 256. Four symbols share a number of further bits. */
TZ_FN tz_u32 tz_inflate_length(tz_inflate_bits *bits, tz_u32 symbol)
{
    const tz_u32 i = symbol - 257u;
    if (i < 8u)
        return 3u + i;
    if (i >= 28u)
        return 258u;
    const tz_u32 more = (i >> 2) - 1u;
    return 3u + ((4u + (i & 3u)) << more) + tz_inflate_take(bits, more);
}

/* How far before. Two symbols share a number of further bits. */
TZ_FN tz_u32 tz_inflate_distance(tz_inflate_bits *bits, tz_u32 symbol)
{
    if (symbol < 4u)
        return 1u + symbol;
    const tz_u32 i = symbol < 29u ? symbol : 29u;
    const tz_u32 more = (i >> 1) - 1u;
    return 1u + ((2u + (i & 1u)) << more) + tz_inflate_take(bits, more);
}

/* A length and its distance, which follow what was made. */
TZ_FN tz_u32 tz_inflate_match(tz_inflate_run *run, tz_u32 symbol, tz_u32 *source, tz_u32 *size)
{
    tz_inflate_bits *bits = &run->bits;
    *size = tz_inflate_length(bits, symbol);
    *source = tz_inflate_distance(bits, tz_inflate_symbol(bits, run->work + TZ_INFLATE_DISTANCE_AT,
                                                          TZ_INFLATE_DISTANCE_BITS));
    if (tz_inflate_is_over(bits))
        return TZ_DECODE_TRUNCATED;
    if (*source > run->made)
        return TZ_DECODE_BAD_DISTANCE;
    if (*size > run->size - run->made)
        return TZ_DECODE_TOO_LONG;
    run->made += *size;
    return TZ_DECODE_OK;
}

/* The next symbol of a block and the bytes that it makes, which are none where the block ends. */
TZ_FN tz_u32 tz_inflate_next(tz_inflate_run *run, tz_u32 *source, tz_u32 *size)
{
    tz_inflate_bits *bits = &run->bits;
    tz_inflate_fill(bits);
    const tz_u32 symbol =
        tz_inflate_symbol(bits, run->work + TZ_INFLATE_LENGTH_AT, TZ_INFLATE_LENGTH_BITS);
    if (symbol > TZ_INFLATE_END)
        return tz_inflate_match(run, symbol, source, size);
    *size = 0u;
    if (tz_inflate_is_over(bits))
        return TZ_DECODE_TRUNCATED;
    if (symbol == TZ_INFLATE_END) {
        run->in_block = 0u;
        return TZ_DECODE_OK;
    }
    if (run->made == run->size)
        return TZ_DECODE_TOO_LONG;
    *source = TZ_LITERAL | symbol;
    *size = 1u;
    run->made++;
    return TZ_DECODE_OK;
}

/* The head of a block, and its tables. A block of stored bytes is done with that: *from, *count. */
TZ_FN tz_u32 tz_inflate_head(tz_inflate_run *run, tz_u32 *from, tz_u32 *count)
{
    tz_inflate_fill(&run->bits);
    run->last = tz_inflate_take(&run->bits, 1u);
    const tz_u32 kind = tz_inflate_take(&run->bits, 2u);
    *count = 0u;
    if (tz_inflate_is_over(&run->bits))
        return TZ_DECODE_TRUNCATED;
    if (kind == 3u)
        return TZ_DECODE_BAD_BLOCK;
    if (kind == 0u)
        return tz_inflate_stored(run, from, count);
    run->in_block = 1u;
    if (kind == 2u) {
        run->has_fixed = 0u;
        return tz_inflate_read_codes(run);
    }
    if (!run->has_fixed) {
        run->has_fixed = 1u;
        tz_inflate_fixed_codes(run);
    }
    return TZ_DECODE_OK;
}

/* ---- tiles ---- */

TZ_FN tz_inflate_run tz_inflate_start(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size,
                                      TZ_GLOBAL tz_u8 *out, tz_u32 size, TZ_WORK tz_u16 *work)
{
    tz_inflate_run run;
    run.bits.in = in;
    run.bits.size = in_size;
    run.bits.pos = 0u;
    run.bits.hold = 0u;
    run.bits.count = 0u;
    run.out = out;
    run.size = size;
    run.made = 0u;
    run.work = work;
    run.has_fixed = 0u;
    run.in_block = 0u;
    run.last = 0u;
    return run;
}

TZ_FN tz_u32 tz_inflate_finish(const tz_inflate_run *run)
{
    return run->made == run->size ? TZ_DECODE_OK : TZ_DECODE_TOO_SHORT;
}

/* The symbols of a block, by one item. */
TZ_FN tz_u32 tz_inflate_symbols(tz_inflate_run *run)
{
    while (run->in_block) {
        tz_u32 source = TZ_LITERAL;
        tz_u32 size = 0u;
        const tz_u32 at = run->made;
        const tz_u32 status = tz_inflate_next(run, &source, &size);
        if (status != TZ_DECODE_OK)
            return status;
        if (size > 0u)
            tz_copy(run->out, at, source, size);
    }
    return TZ_DECODE_OK;
}

/* A bare stream that must make exactly size bytes, of which *used are read when it does; what comes
 * behind them is for the caller to judge. work: TZ_INFLATE_WORK entries. */
TZ_FN tz_u32 tz_inflate_raw(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                            tz_u32 size, TZ_WORK tz_u16 *work, tz_u32 *used)
{
    tz_inflate_run run = tz_inflate_start(in, in_size, out, size, work);
    while (!run.last) {
        tz_u32 from = 0u;
        tz_u32 count = 0u;
        const tz_u32 at = run.made;
        tz_u32 status = tz_inflate_head(&run, &from, &count);
        if (status != TZ_DECODE_OK)
            return status;
        for (tz_u32 i = 0u; i < count; i++)
            out[at + i] = in[from + i];
        status = tz_inflate_symbols(&run);
        if (status != TZ_DECODE_OK)
            return status;
    }
    *used = tz_inflate_used(&run.bits);
    return tz_inflate_finish(&run);
}

/* The checksum behind the stream, of which *used bytes were read; they then count the frame too. */
TZ_FN tz_u32 tz_inflate_checksum(const TZ_GLOBAL tz_u8 *in, tz_u32 *used)
{
    const TZ_GLOBAL tz_u8 *end = in + TZ_ZLIB_BEFORE + *used;
    *used += TZ_ZLIB_AROUND;
    return tz_zlib_checksum(end);
}

/* One tile as TIFF stores it with compression 8 and 32946, by one item. */
TZ_FN tz_u32 tz_inflate_tile(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                             tz_u32 size, TZ_WORK tz_u16 *work)
{
    tz_u32 used = 0u;
    tz_u32 status = tz_zlib_check_header(in, in_size);
    if (status == TZ_DECODE_OK)
        status =
            tz_inflate_raw(in + TZ_ZLIB_BEFORE, in_size - TZ_ZLIB_AROUND, out, size, work, &used);
    if (status != TZ_DECODE_OK)
        return status;
    if (tz_adler32(out, size) != tz_inflate_checksum(in, &used))
        return TZ_DECODE_BAD_CHECKSUM;
    return TZ_DECODE_END(used, in_size);
}

/* ---- by a group ---- */

/* Item 0's part: fills the queue, up to the end of a block of stored bytes. */
TZ_FN void tz_inflate_gather(tz_inflate_run *run, TZ_LOCAL tz_u32 *queue)
{
    tz_queue_begin(queue, run->made);
    while (!tz_queue_is_full(queue)) {
        tz_u32 status, from = 0u, count = 0u, source = TZ_LITERAL, size = 0u;
        if (run->in_block)
            status = tz_inflate_next(run, &source, &size);
        else
            status = tz_inflate_head(run, &from, &count);
        if (status == TZ_DECODE_OK && size > 0u)
            tz_queue_add(queue, source, size);
        queue[TZ_QUEUE_FROM] = from;
        queue[TZ_QUEUE_BYTES] = count;
        if (status != TZ_DECODE_OK || (run->last && !run->in_block)) {
            if (status == TZ_DECODE_OK)
                status = tz_inflate_finish(run);
            tz_queue_end(queue, status, tz_inflate_used(&run->bits));
            return;
        }
        if (count > 0u)
            return;
    }
}

/* As tz_inflate_raw; queue: TZ_QUEUE_WORDS. All items get the status and *used. */
TZ_FN tz_u32 tz_inflate_group_raw(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                                  tz_u32 size, TZ_WORK tz_u16 *work, TZ_LOCAL tz_u32 *queue,
                                  tz_u32 *used)
{
    tz_inflate_run run = tz_inflate_start(in, in_size, out, size, work);
    tz_u32 over = 0u;
    tz_u32 status = TZ_DECODE_OK;
    while (!over) {
        for (TZ_ITEMS(item)) {
            if (item == 0u)
                tz_inflate_gather(&run, queue);
        }
        TZ_SYNC;
        over = queue[TZ_QUEUE_OVER];
        status = queue[TZ_QUEUE_STATE];
        *used = queue[TZ_QUEUE_USED];
        for (TZ_ITEMS(item))
            tz_queue_write(queue, in, out, item);
        TZ_SYNC;
    }
    return status;
}

/* As tz_inflate_tile. */
TZ_FN tz_u32 tz_inflate_group(const TZ_GLOBAL tz_u8 *in, tz_u32 in_size, TZ_GLOBAL tz_u8 *out,
                              tz_u32 size, TZ_WORK tz_u16 *work, TZ_LOCAL tz_u32 *queue)
{
    tz_u32 used = 0u;
    tz_u32 status = tz_zlib_check_header(in, in_size);
    if (status == TZ_DECODE_OK)
        status = tz_inflate_group_raw(in + TZ_ZLIB_BEFORE, in_size - TZ_ZLIB_AROUND, out, size,
                                      work, queue, &used);
    if (status != TZ_DECODE_OK)
        return status;
    if (tz_adler32_group(out, size, queue) != tz_inflate_checksum(in, &used))
        return TZ_DECODE_BAD_CHECKSUM;
    return TZ_DECODE_END(used, in_size);
}

#endif
