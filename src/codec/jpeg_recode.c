/* SPDX-License-Identifier: Apache-2.0
 * Makes Huffman codes for a tile. Its scan, which libjpeg coded with the standard codes, is taken
 * apart into tokens: a symbol and the bits of the value that follow it. Their symbols are counted,
 * codes are made from the counts, and the tokens are written again with these codes. Values stay as
 * they are, so nothing is quantized twice.
 *
 * The codes are the best of up to 16 bits, as T.81 section K.2 makes them: Huffman's tree, of which
 * leaves that are too deep move up. Equal counts are ordered by symbol, so the code depends on
 * nothing but the counts. */
#include <string.h>

#include "codec/jpeg.h"
#include "codec/unaligned.h"

/* ---------------------------------------------------------------------------------------------
 * Making a code
 * ------------------------------------------------------------------------------------------ */

enum {
    RESERVED_SYMBOL = 256, /* takes the code of all ones, and is left out in the end */
    MAX_LEAVES = 257,
    MAX_NODES = 2 * MAX_LEAVES
};

/* Occurrences << 16, then the symbol: sorted as numbers, equal counts are in a fixed order. */
typedef uint64_t huffman_leaf;

static huffman_leaf leaf_of(uint64_t occurrences, unsigned symbol)
{
    return occurrences << 16 |
           (RESERVED_SYMBOL - symbol); /* the reserved one is the rarest of its kind */
}

/* Collects the symbols that occur, and the reserved one, from the rarest on. */
static unsigned collect_leaves(huffman_leaf *leaves, const uint64_t occurrences[256])
{
    unsigned count = 1;
    leaves[0] = leaf_of(0, RESERVED_SYMBOL);
    for (unsigned symbol = 0; symbol < 256; symbol++)
        if (occurrences[symbol] > 0)
            leaves[count++] = leaf_of(occurrences[symbol], symbol);
    /* by insertion: they are few, and often in order already */
    for (unsigned i = 1; i < count; i++) {
        const huffman_leaf moving = leaves[i];
        unsigned to = i;
        for (; to > 0 && leaves[to - 1] > moving; to--)
            leaves[to] = leaves[to - 1];
        leaves[to] = moving;
    }
    return count;
}

/* Nodes are leaves in their order, then pairs in the order they were made: both are sorted, so the
 * two rarest are always at the front of one or the other. */
typedef struct huffman_tree {
    uint64_t weights[MAX_NODES];
    unsigned parents[MAX_NODES];
    unsigned leaves, nodes;
    unsigned next_leaf, next_pair;
} huffman_tree;

static unsigned pop_rarest(huffman_tree *t)
{
    const bool pair =
        t->next_leaf == t->leaves ||
        (t->next_pair < t->nodes && t->weights[t->next_pair] < t->weights[t->next_leaf]);
    return pair ? t->next_pair++ : t->next_leaf++;
}

/* Joins the two rarest nodes until one is left, and counts the leaves of each depth of the tree. */
static void count_depths(unsigned depths[MAX_LEAVES], const huffman_leaf *leaves, unsigned count)
{
    huffman_tree t = {.leaves = count, .nodes = count, .next_pair = count};
    unsigned depth[MAX_NODES];
    for (unsigned i = 0; i < count; i++)
        t.weights[i] = leaves[i] >> 16;
    for (unsigned made = 1; made < count; made++) {
        const unsigned first = pop_rarest(&t), second = pop_rarest(&t);
        t.weights[t.nodes] = t.weights[first] + t.weights[second];
        t.parents[first] = t.parents[second] = t.nodes;
        t.nodes++;
    }
    depth[t.nodes - 1] = 0;
    for (unsigned i = t.nodes - 1; i-- > 0;) { /* parents come after their children */
        depth[i] = depth[t.parents[i]] + 1;
        if (i < count)
            depths[depth[i]]++;
    }
}

/* Moves leaves up that are too deep, two at a time: one replaces their parent, and the other makes
 * a pair with the deepest leaf that is higher up. */
static void limit_depths(unsigned depths[MAX_LEAVES])
{
    for (unsigned deep = MAX_LEAVES - 1; deep > TZ_JPEG_MAX_CODE_LENGTH; deep--) {
        while (depths[deep] > 0) {
            unsigned higher = deep - 2;
            while (depths[higher] == 0)
                higher--;
            depths[deep] -= 2;
            depths[deep - 1]++;
            depths[higher]--;
            depths[higher + 1] += 2;
        }
    }
}

void tz_jpeg_huffman_build(tz_jpeg_huffman *out, const uint64_t occurrences[256])
{
    huffman_leaf leaves[MAX_LEAVES];
    unsigned depths[MAX_LEAVES] = {0};
    const unsigned count = collect_leaves(leaves, occurrences);
    count_depths(depths, leaves, count);
    limit_depths(depths);
    unsigned deepest = TZ_JPEG_MAX_CODE_LENGTH;
    while (deepest > 0 && depths[deepest] == 0)
        deepest--;
    depths[deepest]--; /* the reserved symbol */
    *out = (tz_jpeg_huffman){.symbol_count = count - 1};
    for (unsigned i = 1; i <= TZ_JPEG_MAX_CODE_LENGTH; i++)
        out->counts[i] = (uint8_t)depths[i];
    for (unsigned i = 0; i < out->symbol_count; i++) /* the rarest come last */
        out->symbols[i] = (uint8_t)(RESERVED_SYMBOL - (leaves[count - 1 - i] & 0xffff));
}

enum {
    BLOCK_SAMPLES = 64,
    MAX_STEP = 8 /* bytes of one write, at most: four that are all stuffed */
};

/* A token: the value, the symbol << 16, the index of the code << 24, and the highest bit, so that
 * no token is 0. */
#define TOKEN_FOUND        0x80000000u
#define TOKEN_VALUE(token) ((token)&0xffff)
#define TOKEN_CODE(token)  ((token) >> 16 & 1023)

/* ---------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------ */

/* The low four bits of a symbol are the number of bits of its value. */
static uint32_t found_code(unsigned length, uint8_t symbol)
{
    return (length + (symbol & 15u)) << 16 | length << 8 | symbol;
}

void tz_jpeg_huffman_reader_init(tz_jpeg_huffman_reader *reader, const tz_jpeg_huffman *code)
{
    uint32_t next = 0;
    unsigned symbol = 0;
    *reader = (tz_jpeg_huffman_reader){.limits = {0}};
    memcpy(reader->symbols, code->symbols, sizeof reader->symbols);
    for (unsigned length = 1; length <= TZ_JPEG_MAX_CODE_LENGTH; length++, next <<= 1) {
        reader->offsets[length] = symbol - next;
        for (unsigned i = 0; i < code->counts[length]; i++, next++, symbol++) {
            if (length > TZ_JPEG_QUICK_BITS)
                continue;
            const unsigned spare = TZ_JPEG_QUICK_BITS - length;
            for (unsigned k = 0; k < 1u << spare; k++)
                reader->quick[(next << spare) + k] = found_code(length, code->symbols[symbol]);
        }
        reader->limits[length] = next;
    }
}

/* Finds a code that is longer than the quick ones, at the top of word; 0: none. */
static uint32_t search_long_code(const tz_jpeg_huffman_reader *reader, uint64_t word)
{
    for (unsigned length = TZ_JPEG_QUICK_BITS + 1; length <= TZ_JPEG_MAX_CODE_LENGTH; length++) {
        const uint32_t code = (uint32_t)(word >> (64 - length));
        if (code < reader->limits[length])
            return found_code(length, reader->symbols[(code + reader->offsets[length]) & 255]);
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------------------------ */

/* A code, shifted up by the bits of the value that follows. */
typedef struct written_code {
    uint32_t bits;
    uint32_t length; /* bits, with those of the value */
} written_code;

typedef struct token_bit_writer {
    uint64_t bits; /* the lowest `held` of them are not written yet */
    unsigned held; /* below 32 */
    uint8_t *out;
    const uint8_t *end;
} token_bit_writer;

static inline void write_stuffed_byte(token_bit_writer *writer, uint8_t byte)
{
    *writer->out++ = byte;
    if (byte == 0xFF)
        *writer->out++ = 0;
}

/* Writes at most 32 bits; false if they do not fit. */
static inline bool write_bits(token_bit_writer *writer, uint32_t bits, unsigned count)
{
    writer->bits = writer->bits << count | bits;
    writer->held += count;
    if (writer->held < 32)
        return true;
    if (writer->end - writer->out < MAX_STEP)
        return false;
    writer->held -= 32;
    const uint32_t word = (uint32_t)(writer->bits >> writer->held);
    if (tz_jpeg_has_ff_byte(word)) {
        for (int shift = 24; shift >= 0; shift -= 8)
            write_stuffed_byte(writer, (uint8_t)(word >> shift));
    } else {
        tz_store_be32(writer->out, word);
        writer->out += sizeof word;
    }
    return true;
}

/* Writes the last bits, filled up with ones. */
static bool flush_bits(token_bit_writer *writer)
{
    const unsigned fill = (8 - writer->held % 8) % 8;
    if (!write_bits(writer, (1u << fill) - 1, fill) || writer->end - writer->out < MAX_STEP)
        return false;
    while (writer->held > 0) {
        writer->held -= 8;
        write_stuffed_byte(writer, (uint8_t)(writer->bits >> writer->held));
    }
    return true;
}

static bool write_tokens(token_bit_writer *writer, const written_code *codes,
                         const uint32_t *tokens, size_t count)
{
    token_bit_writer local = *writer; /* in registers: bytes written to out cannot alias it */
    bool fits = true;
    for (size_t i = 0; fits && i < count; i++) {
        const written_code code = codes[TOKEN_CODE(tokens[i])];
        fits = write_bits(&local, code.bits | TOKEN_VALUE(tokens[i]), code.length);
    }
    *writer = local;
    return fits;
}

/* ---------------------------------------------------------------------------------------------
 * The scan
 * ------------------------------------------------------------------------------------------ */

typedef struct token_bit_reader {
    const uint8_t *next;
    uint64_t word; /* the next bits, from the highest down */
    unsigned held; /* bits of it */
} token_bit_reader;

/* Reads the next token; 0 if no code fits. */
static inline uint32_t read_token(token_bit_reader *in, const tz_jpeg_huffman_reader *reader,
                                  unsigned code)
{
    in->word |= tz_load_be64(in->next) >> in->held;
    in->next += (63 - in->held) >> 3;
    in->held |= 56;
    uint32_t found = reader->quick[in->word >> (64 - TZ_JPEG_QUICK_BITS)];
    if (found == 0)
        found = search_long_code(reader, in->word);
    const unsigned length = found >> 8 & 255, all = found >> 16, symbol = found & 255;
    const uint32_t value = (uint32_t)(in->word << length >> 1 >> (63 - (symbol & 15)));
    in->word <<= all;
    in->held -= all;
    return found == 0 ? 0 : value | symbol << 16 | code << 24 | TOKEN_FOUND;
}

/* Reads one block; returns the end of its tokens, or NULL. Counting costs nothing here: reading
 * waits for itself. */
static inline uint32_t *tokenize_block(uint32_t *tokens, uint64_t *occurrences,
                                       token_bit_reader *in, const tz_jpeg_huffman_reader *readers,
                                       unsigned set)
{
    const unsigned dc = 2 * set, ac = dc + 1;
    *tokens = read_token(in, &readers[dc], dc);
    occurrences[TOKEN_CODE(*tokens)]++;
    bool found = *tokens++ != 0;
    for (unsigned sample = 1; found && sample < BLOCK_SAMPLES;) {
        const uint32_t token = read_token(in, &readers[ac], ac);
        const unsigned symbol = token >> 16 & 255;
        *tokens++ = token;
        occurrences[TOKEN_CODE(token)]++;
        found = token != 0;
        if (symbol == 0)
            break; /* the rest of the block is 0 */
        sample += (symbol >> 4) + 1;
    }
    return found ? tokens : NULL;
}

/* Reads all tokens of a scan; returns their number, or 0. */
static size_t tokenize_scan(uint32_t *tokens, uint64_t *occurrences,
                            const tz_jpeg_mcu_layout *layout, const tz_jpeg_huffman_reader *readers,
                            const uint8_t *data, size_t size)
{
    token_bit_reader in = {.next = data};
    uint32_t *next = tokens;
    for (uint64_t unit = 0; unit < layout->mcu_count; unit++) {
        for (unsigned block = 0; block < layout->blocks[0] + layout->blocks[1]; block++) {
            next = tokenize_block(next, occurrences, &in, readers, block >= layout->blocks[0]);
            if (!next || in.next > data + size + sizeof in.word)
                return 0;
        }
    }
    const uint64_t used = (uint64_t)(in.next - data) * 8 - in.held;
    return used <= (uint64_t)size * 8 ? (size_t)(next - tokens) : 0;
}

/* ---------------------------------------------------------------------------------------------
 * The stream
 * ------------------------------------------------------------------------------------------ */

/* Returns the offset of the scan's marker; 0: there is none. */
static size_t find_sos(const uint8_t *in, size_t size)
{
    if (size < 4 || in[0] != 0xFF || in[1] != TZ_MARKER_SOI)
        return 0;
    for (size_t at = 2; at + 4 <= size && in[at] == 0xFF;) {
        if (in[at + 1] == TZ_MARKER_SOS)
            return at;
        at += 2 + (size_t)(in[at + 2] << 8 | in[at + 3]);
    }
    return 0;
}

/* Removes the zeros after bytes of all ones, up to the marker at the end. Returns the size; 0 if
 * there is another marker. */
static size_t remove_stuffing(uint8_t *data, size_t size)
{
    const uint8_t *from = data, *end = data + size;
    uint8_t *to = data;
    for (;;) {
        const uint8_t *ones = memchr(from, 0xFF, (size_t)(end - from));
        if (!ones || ones + 1 >= end)
            return 0;
        memmove(to, from, (size_t)(ones - from));
        to += ones - from;
        if (ones[1] == TZ_MARKER_EOI)
            return (size_t)(to - data);
        if (ones[1] != 0)
            return 0;
        *to++ = 0xFF;
        from = ones + 2;
    }
}

/* Makes the codes for the tokens, as segments of the stream and for writing. Codes are assigned in
 * order of length (T.81 annex C). */
static uint8_t *put_dht_segments(uint8_t *out, written_code *codes,
                                 const tz_jpeg_mcu_layout *layout, const uint64_t *occurrences)
{
    for (size_t i = 0; i < TZ_JPEG_HUFFMAN_CODES; i++) {
        tz_jpeg_huffman code;
        if (layout->blocks[i / 2] == 0)
            continue;
        tz_jpeg_huffman_build(&code, occurrences + i * 256);
        uint32_t next = 0;
        for (unsigned length = 1, k = 0; length <= TZ_JPEG_MAX_CODE_LENGTH; length++, next <<= 1) {
            for (unsigned last = k + code.counts[length]; k < last; k++, next++) {
                const unsigned value_bits = code.symbols[k] & 15u;
                codes[i * 256 + code.symbols[k]] =
                    (written_code){next << value_bits, length + value_bits};
            }
        }
        const unsigned size = 2 + 1 + TZ_JPEG_MAX_CODE_LENGTH + code.symbol_count;
        *out++ = 0xFF;
        *out++ = TZ_MARKER_DHT;
        *out++ = (uint8_t)(size >> 8);
        *out++ = (uint8_t)size;
        *out++ = (uint8_t)((i & 1) << 4 | i >> 1); /* class, number */
        out = tz_jpeg_append(out, code.counts + 1, TZ_JPEG_MAX_CODE_LENGTH);
        out = tz_jpeg_append(out, code.symbols, code.symbol_count);
    }
    return out;
}

bool tz_jpeg_recode(const tz_jpeg_huffman_reader readers[TZ_JPEG_HUFFMAN_CODES],
                    const tz_jpeg_mcu_layout *layout, uint8_t *in, size_t in_size, uint32_t *tokens,
                    uint8_t *out, size_t capacity, size_t *out_size)
{
    enum { CODE_SEGMENT = 2 + 2 + 1 + TZ_JPEG_MAX_CODE_LENGTH + 256 };
    const size_t scan_at = find_sos(in, in_size);
    if (scan_at == 0)
        return false;
    const size_t data_at = scan_at + 2 + (size_t)(in[scan_at + 2] << 8 | in[scan_at + 3]);
    if (data_at >= in_size || capacity < data_at + TZ_JPEG_HUFFMAN_CODES * CODE_SEGMENT)
        return false;
    const size_t data_size = remove_stuffing(in + data_at, in_size - data_at);
    uint64_t occurrences[TZ_JPEG_HUFFMAN_CODES * 256] = {0};
    const size_t count =
        tokenize_scan(tokens, occurrences, layout, readers, in + data_at, data_size);
    if (count == 0)
        return false;
    written_code codes[TZ_JPEG_HUFFMAN_CODES * 256];
    uint8_t *next = tz_jpeg_append(out, in, scan_at);
    next = put_dht_segments(next, codes, layout, occurrences);
    next = tz_jpeg_append(next, in + scan_at, data_at - scan_at);
    token_bit_writer writer = {.out = next, .end = out + capacity};
    if (!write_tokens(&writer, codes, tokens, count) || !flush_bits(&writer) ||
        writer.end - writer.out < 2)
        return false;
    writer.out = tz_jpeg_append(writer.out, (const uint8_t[]){0xFF, TZ_MARKER_EOI}, 2);
    *out_size = (size_t)(writer.out - out);
    return true;
}
