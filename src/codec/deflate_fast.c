/* SPDX-License-Identifier: Apache-2.0
 * See deflate_fast.h. The input is cut into blocks, one for most tiles. A block is read twice: once
 * to count, once to write. Both times it is taken in groups of 16 bytes; groups of nothing but the
 * byte before them make a run, and all other bytes are literals.
 *
 * A run is a literal that came before it and matches of distance 1. Literals are written four at a
 * time: four codes of at most 14 bits and 7 bits from before fit one store of 64 bits. */
#include "codec/deflate_fast.h"

#include <stdbool.h>
#include <string.h>

#include "codec/huffman_code.h"
#include "codec/load.h"
#include "codec/put.h"

enum {
    GROUP = 16,
    BLOCK = 1 << 20,
    LONGEST_MATCH = 258,
    LONGEST_CODE = 14,
    LITERALS = 256,
    END = 256,        /* of a block */
    FULL_MATCH = 285, /* of 258 bytes */
    SYMBOLS = 286,
    DISTANCES = 2, /* of which the first is 1, and one alone were no complete code */
    LENGTH_SYMBOLS = 19,
    LONGEST_LENGTH_CODE = 7,
    STORED_MOST = 65535,
    STORED_HEAD = 5
};

/* Groups ------------------------------------------------------------------------------------- */

static inline bool is_run(const uint8_t *group)
{
    uint64_t wanted = group[-1] * UINT64_C(0x0101010101010101);
    if (tz_load_64(group) != wanted)
        return false;
    uint64_t differ = 0;
    for (size_t i = 8; i < GROUP; i += 8)
        differ |= tz_load_64(group + i) ^ wanted;
    return differ == 0;
}

/* The end of the groups from at on that are a run; at itself when there is none. */
static const uint8_t *run_end(const uint8_t *at, const uint8_t *end)
{
    while (end - at >= GROUP && is_run(at))
        at += GROUP;
    return at;
}

/* A run as matches: some of 258 bytes, one of the rest, and what is too short for that as literals
 * of the same byte. */
typedef struct run_parts {
    size_t full;
    unsigned rest; /* 0, or 3 to 257 */
    unsigned literals;
} run_parts;

static run_parts part_run(size_t size)
{
    unsigned rest = (unsigned)(size % LONGEST_MATCH);
    bool matches = rest >= 3;
    return (run_parts){size / LONGEST_MATCH, matches ? rest : 0, matches ? 0 : rest};
}

/* The symbol of a match of 3 to 257 bytes, and the bits that follow it. */
typedef struct length_symbol {
    unsigned symbol;
    unsigned extra_count;
    unsigned extra;
} length_symbol;

static length_symbol symbol_of_length(unsigned length)
{
    unsigned value = length - 3;
    if (value < 8)
        return (length_symbol){257 + value, 0, 0};
    unsigned extra_count =
        29 - (unsigned)__builtin_clz(value); /* of 3 bits, the leading 1 is one */
    unsigned quarter = value >> extra_count & 3;
    return (length_symbol){261 + 4 * extra_count + quarter, extra_count,
                           value & ((1u << extra_count) - 1)};
}

/* Counting ----------------------------------------------------------------------------------- */

/* Four counts of each byte, so that equal neighbours do not wait for each other. */
typedef struct byte_counts {
    uint32_t of[4][LITERALS];
} byte_counts;

static inline void count_eight(byte_counts *counts, uint64_t bytes)
{
    for (unsigned i = 0; i < 8; i++)
        counts->of[i % 4][bytes >> (8 * i) & 255]++;
}

static void count_run(uint32_t *counts, uint8_t byte, size_t size)
{
    run_parts parts = part_run(size);
    counts[FULL_MATCH] += (uint32_t)parts.full;
    counts[byte] += parts.literals;
    if (parts.rest > 0)
        counts[symbol_of_length(parts.rest).symbol]++;
}

/* How often each symbol occurs. first: nothing comes before the block. */
static void count_symbols(const uint8_t *at, const uint8_t *end, bool first, uint32_t *counts)
{
    byte_counts bytes = {{{0}}};
    memset(counts, 0, SYMBOLS * sizeof counts[0]);
    counts[END] = 1;
    while (end - at >= GROUP) {
        const uint8_t *run = first ? at : run_end(at, end);
        first = false;
        if (run != at) {
            count_run(counts, at[-1], (size_t)(run - at));
            at = run;
            continue;
        }
        for (size_t i = 0; i < GROUP; i += 8)
            count_eight(&bytes, tz_load_64(at + i));
        at += GROUP;
    }
    for (; at < end; at++)
        counts[*at]++;
    for (size_t i = 0; i < LITERALS; i++)
        counts[i] += bytes.of[0][i] + bytes.of[1][i] + bytes.of[2][i] + bytes.of[3][i];
}

/* Bits --------------------------------------------------------------------------------------- */

typedef struct bit_writer {
    uint8_t *out;
    uint64_t bits;  /* not stored yet, from the lowest on */
    unsigned count; /* of them: at most 7 between two calls */
} bit_writer;

/* Up to 56 bits. Stores 8 bytes, of which those that are complete count. */
static inline void put_bits(bit_writer *writer, uint64_t bits, unsigned count)
{
    writer->bits |= bits << writer->count;
    writer->count += count;
    tz_put_le64(writer->out, writer->bits);
    writer->out += writer->count / 8;
    writer->bits >>= writer->count & ~7u;
    writer->count %= 8;
}

/* A code and its length in one number: code << 8 | length. */
static inline void put_code(bit_writer *writer, uint32_t code)
{
    put_bits(writer, code >> 8, code & 255);
}

/* The head of a block: how long its codes are ------------------------------------------------- */

/* Lengths as symbols of their own code: a length, or 16 to 18 for a row of equal ones. */
typedef struct length_list {
    uint8_t symbols[SYMBOLS + DISTANCES];
    uint8_t extras[SYMBOLS + DISTANCES];
    size_t count;
    size_t literals; /* lengths of literals and matches: those at the end that are 0 are left out */
    uint32_t counts[LENGTH_SYMBOLS];
    uint8_t lengths[LENGTH_SYMBOLS];
    unsigned used; /* of those, in the order they are stored */
} length_list;

static const uint8_t length_order[LENGTH_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                     11, 4,  12, 3, 13, 2, 14, 1, 15};
static const uint8_t length_extra_bits[LENGTH_SYMBOLS] = {[16] = 2, [17] = 3, [18] = 7};

static void add_length(length_list *list, unsigned symbol, size_t extra)
{
    list->symbols[list->count] = (uint8_t)symbol;
    list->extras[list->count++] = (uint8_t)extra;
    list->counts[symbol]++;
}

/* count lengths that are all the same. */
static void add_equal(length_list *list, uint8_t length, size_t count)
{
    if (length != 0 && count > 0) {
        add_length(list, length, 0);
        count--;
    }
    while (count >= 3) {
        size_t most = length != 0 ? 6 : 138;
        size_t some = count < most ? count : most;
        if (length != 0)
            add_length(list, 16, some - 3);
        else if (some <= 10)
            add_length(list, 17, some - 3);
        else
            add_length(list, 18, some - 11);
        count -= some;
    }
    for (; count > 0; count--)
        add_length(list, length, 0);
}

static void make_list(length_list *list, const uint8_t *lengths)
{
    uint8_t all[SYMBOLS + DISTANCES];
    *list = (length_list){.literals = SYMBOLS};
    while (lengths[list->literals - 1] == 0)
        list->literals--;
    memcpy(all, lengths, list->literals);
    memset(all + list->literals, 1, DISTANCES);
    size_t count = list->literals + DISTANCES;
    for (size_t at = 0, next; at < count; at = next) {
        for (next = at + 1; next < count && all[next] == all[at];)
            next++;
        add_equal(list, all[at], next - at);
    }
    tz_huffman_lengths(list->counts, LENGTH_SYMBOLS, LONGEST_LENGTH_CODE, list->lengths);
    list->used = LENGTH_SYMBOLS;
    while (list->lengths[length_order[list->used - 1]] == 0)
        list->used--;
}

enum { HEAD_BITS = 3 + 5 + 5 + 4, LENGTH_LENGTH_BITS = 3 };

static uint64_t list_bits(const length_list *list)
{
    uint64_t bits = HEAD_BITS + LENGTH_LENGTH_BITS * list->used;
    for (size_t i = 0; i < LENGTH_SYMBOLS; i++)
        bits += (uint64_t)list->counts[i] * (list->lengths[i] + length_extra_bits[i]);
    return bits;
}

static void put_list(bit_writer *writer, const length_list *list, bool last)
{
    uint16_t codes[LENGTH_SYMBOLS];
    tz_huffman_codes(list->lengths, LENGTH_SYMBOLS, codes);
    put_bits(writer, last, 1);
    put_bits(writer, 2, 2);
    put_bits(writer, list->literals - 257, 5);
    put_bits(writer, DISTANCES - 1, 5);
    put_bits(writer, list->used - 4, 4);
    for (unsigned i = 0; i < list->used; i++)
        put_bits(writer, list->lengths[length_order[i]], LENGTH_LENGTH_BITS);
    for (size_t i = 0; i < list->count; i++) {
        unsigned symbol = list->symbols[i];
        put_bits(writer, codes[symbol], list->lengths[symbol]);
        put_bits(writer, list->extras[i], length_extra_bits[symbol]);
    }
}

/* Blocks ------------------------------------------------------------------------------------- */

/* What a block's symbols take: their codes, the extra bits of lengths, a bit for each distance. */
static uint64_t symbol_bits(const uint32_t *counts, const uint8_t *lengths)
{
    uint64_t bits = 0;
    for (unsigned symbol = 0; symbol < SYMBOLS; symbol++) {
        unsigned more = 0;
        if (symbol > END)
            more = 1 + (symbol >= 265 && symbol < FULL_MATCH ? (symbol - 261) / 4 : 0);
        bits += (uint64_t)counts[symbol] * (lengths[symbol] + more);
    }
    return bits;
}

/* Four literals. The lengths of codes add up in the lowest bits, of which shifts take six. */
static inline void put_four(bit_writer *writer, const uint32_t *codes, uint32_t bytes)
{
    uint64_t a = codes[bytes & 255], b = codes[bytes >> 8 & 255];
    uint64_t c = codes[bytes >> 16 & 255], d = codes[bytes >> 24];
    uint64_t bits = a >> 8 | (b >> 8) << (a & 63);
    uint64_t sum = a + b;
    bits |= (c >> 8) << (sum & 63);
    sum += c;
    bits |= (d >> 8) << (sum & 63);
    put_bits(writer, bits, (unsigned)(sum + d) & 63);
}

static void put_run(bit_writer *writer, const uint32_t *codes, uint8_t byte, size_t size)
{
    enum { DISTANCE_BITS = 1 }; /* the bit is 0 */
    run_parts parts = part_run(size);
    for (; parts.full > 0; parts.full--)
        put_bits(writer, codes[FULL_MATCH] >> 8, (codes[FULL_MATCH] & 255) + DISTANCE_BITS);
    for (; parts.literals > 0; parts.literals--)
        put_code(writer, codes[byte]);
    if (parts.rest == 0)
        return;
    length_symbol length = symbol_of_length(parts.rest);
    put_code(writer, codes[length.symbol]);
    put_bits(writer, length.extra, length.extra_count + DISTANCE_BITS);
}

static void put_symbols(bit_writer *writer, const uint8_t *at, const uint8_t *end, bool first,
                        const uint32_t *codes)
{
    bit_writer local = *writer; /* so that it stays in registers */
    while (end - at >= GROUP) {
        const uint8_t *run = first ? at : run_end(at, end);
        first = false;
        if (run != at) {
            put_run(&local, codes, at[-1], (size_t)(run - at));
            at = run;
            continue;
        }
        for (size_t i = 0; i < GROUP; i += 4)
            put_four(&local, codes, tz_load_le32(at + i));
        at += GROUP;
    }
    for (; at < end; at++)
        put_code(&local, codes[*at]);
    put_code(&local, codes[END]);
    *writer = local;
}

/* Up to the end of a byte. */
static void put_padding(bit_writer *writer)
{
    if (writer->count > 0)
        put_bits(writer, 0, 8 - writer->count);
}

static size_t stored_blocks(size_t size)
{
    return (size + STORED_MOST - 1) / STORED_MOST;
}

static void put_stored(bit_writer *writer, const uint8_t *at, size_t size, bool last)
{
    while (size > 0) {
        uint16_t some = (uint16_t)(size < STORED_MOST ? size : STORED_MOST);
        put_bits(writer, last && some == size, 3);
        put_padding(writer);
        put_bits(writer, some | (uint64_t)(uint16_t)~some << 16, 32);
        memcpy(writer->out, at, some);
        writer->out += some;
        at += some;
        size -= some;
    }
}

static void put_block(bit_writer *writer, const uint8_t *at, size_t size, bool first, bool last)
{
    uint32_t counts[SYMBOLS], codes[SYMBOLS];
    uint8_t lengths[SYMBOLS];
    uint16_t plain_codes[SYMBOLS];
    length_list list;
    count_symbols(at, at + size, first, counts);
    tz_huffman_lengths(counts, SYMBOLS, LONGEST_CODE, lengths);
    make_list(&list, lengths);
    uint64_t bits = list_bits(&list) + symbol_bits(counts, lengths);
    if (bits / 8 >= size + (stored_blocks(size) - 1) * STORED_HEAD) {
        put_stored(writer, at, size, last);
        return;
    }
    tz_huffman_codes(lengths, SYMBOLS, plain_codes);
    for (size_t i = 0; i < SYMBOLS; i++)
        codes[i] = (uint32_t)plain_codes[i] << 8 | lengths[i];
    put_list(writer, &list, last);
    put_symbols(writer, at, at + size, first, codes);
}

size_t tz_deflate_fast(const uint8_t *in, size_t size, uint8_t *out)
{
    bit_writer writer = {.out = out};
    for (size_t at = 0, some; at < size; at += some) {
        some = size - at < BLOCK ? size - at : BLOCK;
        put_block(&writer, in + at, some, at == 0, at + some == size);
    }
    put_padding(&writer);
    return (size_t)(writer.out - out);
}

size_t tz_deflate_fast_bound(size_t size)
{
    enum { STORE = 8, ODD_BITS = 1 };
    size_t blocks = (size + BLOCK - 1) / BLOCK;
    return size + stored_blocks(size) * STORED_HEAD + blocks * (STORED_HEAD + ODD_BITS) + STORE;
}
