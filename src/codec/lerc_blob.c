/* SPDX-License-Identifier: Apache-2.0
 * A LERC blob but for its values: the header, the checksum, the mask of valid pixels; and two ways
 * of packing numbers that values and mask are made of, bit stuffing and Huffman codes. Numbers are
 * little-endian.
 *
 * A blob is read by a cursor in the order of the file: header, mask, then values by
 * lerc_values.c or lerc_blocks.c. Every size is checked against the bytes that are left, so that no
 * blob can make these functions read or write elsewhere. */
#include "base/minmax.h"
#include "codec/lerc.h"
#include "codec/unaligned.h"

/* ---------------------------------------------------------------------------------------------
 * Header, checksum and mask
 * ------------------------------------------------------------------------------------------ */

enum {
    FIRST_VERSION = 1,
    LAST_VERSION = 6,
    CHECKSUM_START = 14 /* "Lerc2 ", version, checksum */
};

bool tz_lerc_read_header(tz_lerc_header *out, tz_cursor *cursor)
{
    tz_lerc_header header = {0};
    const uint8_t *key = tz_cursor_bytes(cursor, 6);
    if (!key || memcmp(key, "Lerc2 ", 6) != 0)
        return false;
    header.version = tz_cursor_le32(cursor);
    if (header.version < FIRST_VERSION || header.version > LAST_VERSION)
        return false;
    header.checksum = header.version >= 3 ? tz_cursor_le32(cursor) : 0;
    header.height = tz_cursor_le32(cursor);
    header.width = tz_cursor_le32(cursor);
    header.depth = header.version >= 4 ? tz_cursor_le32(cursor) : 1;
    header.valid = tz_cursor_le32(cursor);
    header.block = tz_cursor_le32(cursor);
    header.size = tz_cursor_le32(cursor);
    header.type = tz_cursor_le32(cursor);
    if (header.version >= 6) {
        tz_cursor_le32(cursor); /* how many blobs follow */
        header.has_nodata = tz_cursor_u8(cursor) != 0;
        tz_cursor_bytes(cursor, 3);
    }
    const uint8_t *doubles = tz_cursor_bytes(cursor, 3 * sizeof(double));
    if (header.version >= 6)
        tz_cursor_bytes(cursor, 16); /* values that mean "no data" */
    if (cursor->overrun || header.type >= TZ_LERC_TYPES)
        return false;
    header.max_error = tz_lerc_load(doubles, TZ_LERC_DOUBLE);
    header.minimum = tz_lerc_load(doubles + 8, TZ_LERC_DOUBLE);
    header.maximum = tz_lerc_load(doubles + 16, TZ_LERC_DOUBLE);
    *out = header;
    return true;
}

/* Computes Fletcher's sums of 16-bit words, high byte first; four words at a time, so that they do
 * not wait for each other. The sums are folded where liblerc folds them, and no further: with an
 * odd number of bytes more than 16 bits may be left in the end. */
static uint32_t fletcher32(const uint8_t *data, size_t size)
{
    enum { FOLD_EVERY = 359 }; /* words */
    uint32_t sum1 = 0xffff, sum2 = 0xffff;
    for (size_t words = size / 2; words > 0;) {
        size_t some = tz_min_size(words, FOLD_EVERY);
        words -= some;
        for (; some >= 4; some -= 4, data += 8) {
            uint64_t four = tz_load_be64(data);
            uint32_t a = (uint32_t)(four >> 48), b = (uint32_t)(four >> 32 & 0xffff);
            uint32_t c = (uint32_t)(four >> 16 & 0xffff), d = (uint32_t)(four & 0xffff);
            sum2 += 4 * (sum1 + a) + 3 * b + 2 * c + d;
            sum1 += a + b + c + d;
        }
        for (; some > 0; some--, data += 2) {
            sum1 += (uint32_t)data[0] << 8 | data[1];
            sum2 += sum1;
        }
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    if (size & 1) {
        sum1 += (uint32_t)data[0] << 8;
        sum2 += sum1;
    }
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    return sum2 << 16 | sum1;
}

bool tz_lerc_checksum_fits(const tz_lerc_header *header, const uint8_t *data)
{
    return header->version < 3 ||
           fletcher32(data + CHECKSUM_START, header->size - CHECKSUM_START) == header->checksum;
}

/* Expands run lengths: a positive count of literals, or a negative count and one byte to repeat. */
static bool expand_mask(tz_cursor runs, uint8_t *bits, size_t size)
{
    size_t filled = 0;
    for (;;) {
        const uint8_t *word = tz_cursor_bytes(&runs, 2);
        if (!word)
            return false;
        int count = word[0] | word[1] << 8;
        if (count == 0x8000)
            return filled == size;
        size_t length = (size_t)(count < 0x8000 ? count : 0x10000 - count);
        if (length > size - filled)
            return false;
        const uint8_t *source = tz_cursor_bytes(&runs, count < 0x8000 ? length : 1);
        if (!source)
            return false;
        if (count < 0x8000)
            memcpy(bits + filled, source, length);
        else
            memset(bits + filled, source[0], length);
        filled += length;
    }
}

bool tz_lerc_read_mask(tz_lerc_blob *blob, uint8_t *bits, bool has_previous)
{
    const tz_lerc_header *header = &blob->header;
    size_t pixels = (size_t)header->width * header->height;
    size_t size = (pixels + 7) / 8;
    uint32_t stored = tz_cursor_le32(&blob->data);
    bool partly = header->valid != 0 && header->valid != pixels;
    if (blob->data.overrun || (!partly && stored != 0))
        return tz_lerc_fail(blob, "the mask");
    tz_cursor runs = tz_cursor_slice(&blob->data, stored);
    blob->mask = header->valid == pixels ? NULL : bits;
    if (!partly) { /* bits are set all the same: the next band may refer to them */
        memset(bits, header->valid == 0 ? 0 : 0xff, size);
        return true;
    }
    if (stored != 0 ? !expand_mask(runs, bits, size) : !has_previous)
        return tz_lerc_fail(blob, "the mask");
    size_t valid = 0;
    for (size_t i = 0; i < pixels / 8; i++)
        valid += (size_t)__builtin_popcount(bits[i]);
    if (pixels % 8)
        valid += (size_t)__builtin_popcount(bits[pixels / 8] >> (8 - pixels % 8));
    if (valid != header->valid)
        return tz_lerc_fail(blob, "the number of valid pixels");
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Bit stuffing
 * ------------------------------------------------------------------------------------------ */

/* Returns number i of those that are packed from data on, in this many bits each. */
static inline uint32_t packed_at(const uint8_t *data, size_t i, unsigned bits)
{
    size_t position = i * bits;
    return (uint32_t)(tz_load_le64(data + position / 8) >> (position % 8)) &
           ((UINT32_C(1) << bits) - 1);
}

/* Eight numbers take as many bytes as one takes bits: with a constant number of bits all shifts and
 * offsets are constant too. */
#define UNPACK_EIGHTS(bits)                                                                        \
    case bits:                                                                                     \
        for (; i + 8 <= count; i += 8, data += bits) {                                             \
            out[i] = packed_at(data, 0, bits);                                                     \
            out[i + 1] = packed_at(data, 1, bits);                                                 \
            out[i + 2] = packed_at(data, 2, bits);                                                 \
            out[i + 3] = packed_at(data, 3, bits);                                                 \
            out[i + 4] = packed_at(data, 4, bits);                                                 \
            out[i + 5] = packed_at(data, 5, bits);                                                 \
            out[i + 6] = packed_at(data, 6, bits);                                                 \
            out[i + 7] = packed_at(data, 7, bits);                                                 \
        }                                                                                          \
        break;

/* Unpacks numbers of version 3 and later: the lowest bit first. */
static void unpack_low_first(const uint8_t *data, unsigned bits, uint32_t *out, size_t count)
{
    size_t i = 0;
    switch (bits) {
        UNPACK_EIGHTS(1)
        UNPACK_EIGHTS(2)
        UNPACK_EIGHTS(3)
        UNPACK_EIGHTS(4)
        UNPACK_EIGHTS(5)
        UNPACK_EIGHTS(6)
        UNPACK_EIGHTS(7)
        UNPACK_EIGHTS(8)
        UNPACK_EIGHTS(9)
        UNPACK_EIGHTS(10)
        UNPACK_EIGHTS(11)
        UNPACK_EIGHTS(12)
        UNPACK_EIGHTS(13)
        UNPACK_EIGHTS(14)
        UNPACK_EIGHTS(15)
        UNPACK_EIGHTS(16)
    default: /* the rest of a block, and numbers of more bits */
        break;
    }
    for (size_t k = 0; i < count; i++, k++)
        out[i] = packed_at(data, k, bits);
}

/* Returns a word of version 2 and before: 32 bits, the highest bit first. The low bytes of the last
 * word are not stored. */
static uint64_t high_first_word(const uint8_t *data, size_t size, size_t index)
{
    size_t stored = tz_min_size(size - index * 4, 4);
    uint32_t word = 0;
    for (size_t i = 0; i < stored; i++)
        word |= (uint32_t)data[index * 4 + i] << (8 * (i + 4 - stored));
    return word;
}

/* Unpacks numbers of 1 to 31 bits, in the order of bits that the version has. */
static bool unpack(tz_cursor *cursor, uint32_t version, unsigned bits, uint32_t *out, size_t count)
{
    const size_t size = (count * bits + 7) / 8;
    const uint8_t *data = tz_cursor_bytes(cursor, size);
    if (!data || count == 0)
        return false;
    if (version >= 3) {
        unpack_low_first(data, bits, out, count);
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t index = i * bits / 32;
        uint64_t two = high_first_word(data, size, index) << 32;
        if ((index + 1) * 4 < size)
            two |= high_first_word(data, size, index + 1);
        out[i] = (uint32_t)(two << (i * bits % 32) >> (64 - bits));
    }
    return true;
}

/* Unpacks indices into a table of up to 255 numbers, of which the first is 0 and not stored. */
static bool unpack_by_table(tz_cursor *cursor, uint32_t version, unsigned bits, uint32_t *out,
                            size_t count)
{
    uint32_t table[255] = {0};
    unsigned stored = tz_cursor_u8(cursor);
    if (bits == 0 || stored < 2 || !unpack(cursor, version, bits, table + 1, stored - 1))
        return false;
    unsigned index_bits = 0;
    while ((stored - 1) >> index_bits)
        index_bits++;
    if (!unpack(cursor, version, index_bits, out, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (out[i] >= stored)
            return false;
        out[i] = table[out[i]];
    }
    return true;
}

bool tz_lerc_unstuff(tz_cursor *cursor, uint32_t version, uint32_t *out, size_t max, size_t *count,
                     unsigned *width)
{
    uint8_t how = tz_cursor_u8(cursor);
    static const uint8_t count_sizes[4] = {4, 2, 1, 0};
    const unsigned bits = how & 31, count_size = count_sizes[how >> 6];
    const uint8_t *stored = tz_cursor_bytes(cursor, count_size);
    if (!stored || count_size == 0)
        return false;
    const uint32_t number = (uint32_t)tz_load_le_bytes(stored, count_size);
    if (number > max)
        return false;
    *count = number;
    *width = bits;
    if (how & 32)
        return unpack_by_table(cursor, version, bits, out, number);
    if (bits > 0)
        return unpack(cursor, version, bits, out, number);
    memset(out, 0, number * sizeof *out);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Huffman codes
 * ------------------------------------------------------------------------------------------ */

static tz_lerc_bits bits_at(const tz_cursor *cursor)
{
    return (tz_lerc_bits){cursor->at, tz_cursor_left(cursor) / 4, 0, 0};
}

/* Reads the codes, which follow their lengths in the same kind of words as the data. A code goes to
 * the quick table, at all indices that begin with it, or to the list of longer ones. */
static bool read_codes(tz_lerc_huffman *huffman, tz_cursor *cursor, const uint32_t *lengths,
                       uint32_t first, uint32_t count, uint32_t size)
{
    tz_lerc_bits bits = bits_at(cursor);
    size_t words_before = bits.word_count;
    for (uint32_t i = 0; i < count; i++) {
        if (lengths[i] == 0)
            continue;
        if (lengths[i] > 32)
            return false;
        tz_lerc_bits_refill(&bits);
        uint32_t symbol = first + i < size ? first + i : first + i - size;
        tz_lerc_code code = {(uint32_t)(bits.next >> (64 - lengths[i])), (uint8_t)lengths[i],
                             (uint8_t)symbol};
        tz_lerc_bits_skip(&bits, lengths[i]);
        if (bits.held < 0)
            return false;
        if (code.length > TZ_LERC_QUICK_BITS) {
            huffman->longer[huffman->longer_count++] = code;
            continue;
        }
        const unsigned spare = TZ_LERC_QUICK_BITS - code.length;
        for (unsigned k = 0; k < 1u << spare; k++)
            huffman->quick[(code.bits << spare) + k] = (uint16_t)(code.length << 8 | code.symbol);
    }
    size_t words_used = words_before - bits.word_count - (size_t)(bits.held / 32);
    return tz_cursor_bytes(cursor, words_used * 4) != NULL;
}

bool tz_lerc_huffman_read(tz_lerc_huffman *huffman, tz_cursor *cursor, uint32_t version)
{
    memset(huffman->quick, 0, sizeof huffman->quick);
    huffman->longer_count = 0;
    uint32_t lengths[256] = {0};
    uint32_t table_version = tz_cursor_le32(cursor);
    uint32_t size = tz_cursor_le32(cursor);
    uint32_t first = tz_cursor_le32(cursor);
    uint32_t end = tz_cursor_le32(cursor);
    if (cursor->overrun || table_version < 2 || table_version > INT32_MAX || size > 256 ||
        first >= size || end <= first || end - first > size)
        return false;
    size_t count;
    unsigned width;
    if (!tz_lerc_unstuff(cursor, version, lengths, end - first, &count, &width) ||
        count != end - first || !read_codes(huffman, cursor, lengths, first, end - first, size))
        return false;
    huffman->bits = bits_at(cursor);
    return true;
}

uint32_t tz_lerc_huffman_search(const tz_lerc_huffman *huffman, uint64_t next)
{
    for (unsigned i = 0; i < huffman->longer_count; i++) {
        const tz_lerc_code *code = &huffman->longer[i];
        if (next >> (64 - code->length) == code->bits)
            return (uint32_t)code->length << 8 | code->symbol;
    }
    return 0;
}
