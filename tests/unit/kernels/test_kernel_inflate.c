/* SPDX-License-Identifier: Apache-2.0
 * The inflate kernel beside libdeflate: streams of every level, damaged ones, and codes that no
 * encoder makes. */
#include <libdeflate.h>

#include "kernels/inflate.h"
#include "support/codec/bit_writer.h"
#include "support/codec/kernel_run.h"

enum { ROOM = 1 << 18 };

static uint32_t by_item(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                        void *work)
{
    return tz_inflate_tile(in, in_size, out, size, work);
}

static uint32_t by_group(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                         void *work)
{
    uint32_t queue[TZ_COPY_QUEUE_WORDS];
    memset(queue, 0xA5, sizeof queue);
    return tz_inflate_tile_work_group(in, in_size, out, size, work, queue);
}

static uint32_t decode(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size, void *work)
{
    return kernel_both(by_item, by_group, in, in_size, out, size, work);
}

typedef struct fixture {
    kernel_run run;
    struct libdeflate_decompressor *oracle;
    uint8_t stream[ROOM];
    uint8_t tile[ROOM];
} fixture;

static int begin(void **state)
{
    fixture *f = run_alloc(sizeof *f);
    kernel_open(&f->run, &tz_decoder_deflate, decode, TZ_INFLATE_SCRATCH * sizeof(uint16_t));
    f->oracle = libdeflate_alloc_decompressor();
    assert_non_null(f->oracle);
    *state = f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    libdeflate_free_decompressor(f->oracle);
    kernel_close(&f->run);
    free(f);
    return 0;
}

static size_t compress(int level, const uint8_t *pixels, size_t size, uint8_t *out, bool bare)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    assert_non_null(compressor);
    size_t stored = bare ? libdeflate_deflate_compress(compressor, pixels, size, out, ROOM)
                         : libdeflate_zlib_compress(compressor, pixels, size, out, ROOM);
    libdeflate_free_compressor(compressor);
    assert_true(stored > 0);
    return stored;
}

static uint32_t bare(const uint8_t *in, size_t in_size, uint8_t *out, size_t size, uint32_t *used)
{
    uint16_t work[TZ_INFLATE_SCRATCH];
    uint32_t queue[TZ_COPY_QUEUE_WORDS], group_used = 0;
    memset(work, 0xA5, sizeof work);
    uint32_t by_items = tz_inflate_raw_work_group(in, (uint32_t)in_size, out, (uint32_t)size, work,
                                                  queue, &group_used);
    uint32_t status = tz_inflate_raw(in, (uint32_t)in_size, out, (uint32_t)size, work, used);
    assert_int_equal(by_items, status);
    if (status == TZ_DECODE_OK)
        assert_int_equal(group_used, *used);
    return status;
}

static void tiles_of_every_level_and_size_come_back(void **state)
{
    fixture *f = *state;
    for (unsigned kind = 0; kind < KERNEL_KINDS; kind++) {
        for (size_t i = 0; i < KERNEL_SIZES; i++) {
            uint8_t *pixels = kernel_pixels(kernel_sizes[i], kind);
            for (int level = 0; level <= 12; level++) {
                size_t stored = compress(level, pixels, kernel_sizes[i], f->stream, false);
                kernel_makes(&f->run, f->stream, stored, pixels, kernel_sizes[i]);
            }
            free(pixels);
        }
    }
}

static void a_bare_stream_says_how_much_of_it_was_read(void **state)
{
    fixture *f = *state;
    for (unsigned kind = 0; kind < KERNEL_KINDS; kind++) {
        uint8_t *pixels = kernel_pixels(4096, kind);
        for (int level = 0; level <= 12; level += 3) {
            uint32_t used = 0;
            size_t stored = compress(level, pixels, 4096, f->stream, true);
            memset(f->stream + stored, 0xff, 20);
            assert_int_equal(bare(f->stream, stored + 20, f->tile, 4096, &used), TZ_DECODE_OK);
            assert_int_equal(used, stored);
            assert_memory_equal(f->tile, pixels, 4096);
        }
        free(pixels);
    }
}

static void nothing_comes_back_as_nothing(void **state)
{
    fixture *f = *state;
    uint8_t pixel = 0;
    size_t stored = compress(6, &pixel, 0, f->stream, false);
    kernel_makes(&f->run, f->stream, stored, &pixel, 0);
    assert_int_equal(kernel_agrees(&f->run, f->stream, stored, 1), TZ_DECODE_TOO_SHORT);
    stored = compress(6, &pixel, 1, f->stream, false);
    assert_int_equal(kernel_agrees(&f->run, f->stream, stored, 0), TZ_DECODE_TOO_LONG);
}

static void damaged_streams_get_the_verdict_of_the_codec(void **state)
{
    fixture *f = *state;
    for (unsigned kind = 0; kind < KERNEL_KINDS; kind++) {
        uint8_t *pixels = kernel_pixels(300, kind);
        for (int level = 0; level <= 12; level += 4) {
            size_t stored = compress(level, pixels, 300, f->stream, false);
            kernel_damaged(&f->run, f->stream, stored, 300);
        }
        free(pixels);
    }
}

/* Hostile case 40 ------------------------------------------------------------------------------ */

static void case_40_headers(void **state)
{
    fixture *f = *state;
    uint8_t *pixels = kernel_pixels(64, 2);
    size_t stored = compress(6, pixels, 64, f->stream, false);
    unsigned taken = 0;
    for (unsigned header = 0; header < 65536; header += header % 31 == 0 ? 1 : 30) {
        f->stream[0] = (uint8_t)(header >> 8);
        f->stream[1] = (uint8_t)header;
        taken += kernel_agrees(&f->run, f->stream, stored, 64) == TZ_DECODE_OK;
    }
    assert_int_equal(taken, 32); /* eight windows, four levels */
    free(pixels);
}

static void case_40_sizes_checksums_and_what_follows(void **state)
{
    fixture *f = *state;
    uint8_t *pixels = kernel_pixels(4096, 2);
    for (int level = 0; level <= 12; level += 6) {
        size_t stored = compress(level, pixels, 4096, f->stream, false);
        assert_int_equal(kernel_agrees(&f->run, f->stream, stored, 4095), TZ_DECODE_TOO_LONG);
        assert_int_equal(kernel_agrees(&f->run, f->stream, stored, 4097), TZ_DECODE_TOO_SHORT);
        assert_int_equal(kernel_agrees(&f->run, f->stream, stored - 1, 4096), TZ_DECODE_TRUNCATED);
        f->stream[stored] = 0;
        assert_int_equal(kernel_agrees(&f->run, f->stream, stored + 1, 4096),
                         TZ_DECODE_BYTES_AFTER);
        f->stream[stored - 1] ^= 1;
        assert_int_equal(kernel_agrees(&f->run, f->stream, stored, 4096), TZ_DECODE_BAD_CHECKSUM);
    }
    free(pixels);
}

static void case_40_a_bomb(void **state)
{
    fixture *f = *state;
    uint8_t *pixels = kernel_pixels(5000000, 0);
    size_t stored = compress(12, pixels, 5000000, f->stream, false);
    assert_true(stored < 5000000 / 900);
    assert_int_equal(kernel_agrees(&f->run, f->stream, stored, 64), TZ_DECODE_TOO_LONG);
    free(pixels);
}

/* Hostile case 41: blocks by hand -------------------------------------------------------------- */

/* A word of a code, highest bit first. */
static void put_word(bit_writer *writer, unsigned word, unsigned width)
{
    while (width-- > 0)
        put_bit(writer, word >> width);
}

/* One symbol of the code for widths that put_head announces: 13 words of 4 bits, 6 of 5. */
static void put_width(bit_writer *writer, unsigned symbol)
{
    if (symbol < 13)
        put_word(writer, symbol, 4);
    else
        put_word(writer, 13 + symbol, 5);
}

/* The head of a last block with codes of its own for so many symbols, up to their widths. */
static void put_head(bit_writer *writer, unsigned lengths, unsigned distances)
{
    static const unsigned order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                       11, 4,  12, 3, 13, 2, 14, 1, 15};
    put_bits(writer, 1, 1);
    put_bits(writer, 2, 2);
    put_bits(writer, lengths - 257, 5);
    put_bits(writer, distances - 1, 5);
    put_bits(writer, 15, 4);
    for (unsigned i = 0; i < 19; i++)
        put_bits(writer, order[i] < 13 ? 4 : 5, 3);
}

static void put_widths(bit_writer *writer, const uint8_t *widths, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put_width(writer, widths[i]);
}

/* The bare stream in a frame, for a tile of what libdeflate makes of it, or else of size bytes.
 * The kernel agrees with libdeflate, byte for byte, and in a frame with the codec. */
static uint32_t check_stream(fixture *f, bit_writer *writer, size_t size)
{
    size_t used = 0, made = 0;
    bool taken = libdeflate_deflate_decompress_ex(f->oracle, writer->data, writer->size, f->tile,
                                                  ROOM, &used, &made) == LIBDEFLATE_SUCCESS;
    if (taken) {
        uint32_t read = 0;
        uint8_t *tile = run_alloc(made);
        uint32_t status = bare(writer->data, writer->size, tile, made, &read);
        if (status != TZ_DECODE_UNSURE) {
            assert_int_equal(status, TZ_DECODE_OK);
            assert_int_equal(read, used);
            if (made > 0)
                assert_memory_equal(tile, f->tile, made);
        }
        free(tile);
        size = made;
        writer->size = used;
    }
    uint32_t sum = libdeflate_adler32(1, f->tile, size);
    f->stream[0] = 0x78;
    f->stream[1] = 0x9c;
    memcpy(f->stream + 2, writer->data, writer->size);
    for (unsigned i = 0; i < 4; i++)
        f->stream[2 + writer->size + i] = (uint8_t)(sum >> (24 - 8 * i));
    uint32_t status = kernel_agrees(&f->run, f->stream, writer->size + 6, size);
    free(writer->data);
    return status;
}

/* The widths of a complete code: one word of no bits, split as often as there are symbols more than
 * one. Deep: mostly the longest word is. */
static void make_widths(uint8_t *widths, unsigned symbols, unsigned used, bool deep,
                        uint32_t *random)
{
    unsigned words = 1;
    uint8_t leaves[288] = {0};
    while (words < used) {
        *random = *random * 1664525u + 1013904223u;
        unsigned at = deep && (*random & 0x700) ? words - 1 : (*random >> 16) % words;
        if (leaves[at] < 15) {
            leaves[at]++;
            leaves[words++] = leaves[at];
        }
    }
    memset(widths, 0, symbols);
    while (words > 0) {
        *random = *random * 1664525u + 1013904223u;
        unsigned symbol = (*random >> 16) % symbols;
        if (widths[symbol] == 0)
            widths[symbol] = leaves[--words];
    }
}

static void case_41_codes_of_every_shape(void **state)
{
    fixture *f = *state;
    uint32_t random = 99;
    unsigned taken = 0;
    for (unsigned round = 0; round < 4000; round++) {
        uint8_t widths[288 + 32];
        random = random * 1664525u + 1013904223u;
        unsigned lengths = 257 + (random >> 24) % 32, distances = 1 + (random >> 16) % 32;
        unsigned most = round % 3 == 0 ? 4 : lengths;
        make_widths(widths, lengths, 2 + (random >> 8) % (most - 1), round & 1, &random);
        memset(widths + lengths, 0, distances);
        if (distances > 1)
            make_widths(widths + lengths, distances, 2 + (random >> 20) % (distances - 1),
                        round & 2, &random);
        if (widths[256] == 0) /* mostly there is an end */
            for (unsigned i = 0; i < 256 && widths[256] == 0; i++)
                if (widths[i]) {
                    widths[256] = widths[i];
                    widths[i] = 0;
                }
        if (round % 8 == 7) /* not a code, or one of fewer words */
            widths[(random >> 12) % (lengths + distances)] = (uint8_t)(random >> 28);
        bit_writer writer = {.low_first = true};
        put_head(&writer, lengths, distances);
        put_widths(&writer, widths, lengths + distances);
        for (unsigned i = 0; i < 200; i++) {
            random = random * 1664525u + 1013904223u;
            put_bits(&writer, random >> 16, 16);
        }
        uint32_t status = check_stream(f, &writer, 100);
        assert_int_not_equal(status, TZ_DECODE_UNSURE);
        taken += status == TZ_DECODE_OK;
    }
    assert_true(taken > 500); /* and more are refused, mostly for their distances */
}

/* A code for 'a', the end and one length, and a code of distances. */
static bit_writer small_block(unsigned length_symbol, unsigned distances,
                              const uint8_t *of_distances)
{
    uint8_t widths[288] = {0};
    widths['a'] = 1;
    widths[256] = 2;
    widths[length_symbol] = 2;
    bit_writer writer = {.low_first = true};
    put_head(&writer, length_symbol + 1, distances);
    put_widths(&writer, widths, length_symbol + 1);
    put_widths(&writer, of_distances, distances);
    put_word(&writer, 0, 1); /* a */
    put_word(&writer, 3, 2); /* the length */
    return writer;
}

static void case_41_symbols_that_are_not_used(void **state)
{
    fixture *f = *state;
    for (unsigned symbol = 257; symbol < 288; symbol++) {
        static const uint8_t one = 1;
        bit_writer writer = small_block(symbol, 1, &one);
        put_bits(&writer, 0, 6); /* further bits; the distance 1, as 0 or 1 */
        put_word(&writer, 2, 2);
        put_bits(&writer, 2, 16);
        check_stream(f, &writer, 100);
    }
    for (unsigned symbol = 28; symbol < 32; symbol++) { /* far away: a block of 32 KiB before */
        uint8_t widths[32] = {0};
        widths[symbol] = 1;
        bit_writer all = {.low_first = true};
        put_bits(&all, 0, 8);
        put_bits(&all, 32768, 16);
        put_bits(&all, 32767, 16);
        for (unsigned i = 0; i < 32768; i++)
            put_bits(&all, i * i >> 5, 8);
        bit_writer writer = small_block(257, symbol + 1, widths);
        put_bits(&writer, 0, 1);
        put_bits(&writer, 77, 13);
        put_word(&writer, 2, 2);
        for (uint64_t i = 0; i < writer.bits; i++)
            put_bit(&all, writer.data[i / 8] >> i % 8);
        free(writer.data);
        assert_int_equal(check_stream(f, &all, 100), TZ_DECODE_OK);
    }
}

static void case_41_codes_of_one_word_and_of_none(void **state)
{
    fixture *f = *state;
    for (uint8_t width = 0; width < 4; width++) {
        for (unsigned bit = 0; bit < 2; bit++) {
            bit_writer writer = small_block(257, 1, &width);
            put_bits(&writer, bit, 1);
            put_word(&writer, 2, 2);
            put_align(&writer);
            assert_int_equal(check_stream(f, &writer, 100),
                             width < 2 ? TZ_DECODE_OK : TZ_DECODE_BAD_CODE);
        }
    }
    for (unsigned symbol = 255; symbol < 257; symbol++) { /* nothing but one symbol */
        uint8_t widths[258] = {0};
        widths[symbol] = 1;
        bit_writer writer = {.low_first = true};
        put_head(&writer, 257, 1);
        put_widths(&writer, widths, 258);
        put_bits(&writer, 0, 16);
        assert_int_equal(check_stream(f, &writer, 10),
                         symbol == 256 ? TZ_DECODE_OK : TZ_DECODE_BAD_CODE);
    }
}

static void case_41_codes_that_are_too_many_or_too_few(void **state)
{
    fixture *f = *state;
    for (unsigned change = 0; change < 6; change++) {
        uint8_t widths[258] = {0};
        widths['a'] = 1;
        widths['b'] = change == 0 ? 1 : 2;  /* too many, by one bit */
        widths['c'] = change == 1 ? 15 : 0; /* too few, of long words */
        widths[256] = change == 2 ? 0 : 2;  /* too few, and no end */
        widths['d'] = change == 3 ? 15 : 0; /* too many, by one long word */
        widths[257] = change == 4 ? 1 : 0;  /* complete; one distance */
        if (change == 1)
            widths[256] = 3;
        if (change == 5) /* too many, and none is longer than a bit */
            widths['b'] = widths[256] = 1;
        bit_writer writer = {.low_first = true};
        put_head(&writer, 257, 1);
        put_widths(&writer, widths, 258);
        put_word(&writer, 3, 2);
        put_bits(&writer, 0, 16);
        assert_int_equal(check_stream(f, &writer, 10),
                         change == 4 ? TZ_DECODE_OK : TZ_DECODE_BAD_CODE);
    }
}

static void case_41_repeats_of_nothing_and_past_the_end(void **state)
{
    fixture *f = *state;
    bit_writer writer = {.low_first = true};
    put_head(&writer, 257, 1);
    put_width(&writer, 16);
    for (unsigned i = 0; i < 100; i++)
        put_bits(&writer, 0, 16);
    assert_int_equal(check_stream(f, &writer, 10), TZ_DECODE_BAD_CODE);
    for (unsigned over = 0; over < 2; over++) {
        bit_writer longer = {.low_first = true};
        put_head(&longer, 257, 1);
        put_width(&longer, 1); /* a byte 0, and the end */
        put_width(&longer, 18);
        put_bits(&longer, 127, 7);
        put_width(&longer, 18);
        put_bits(&longer, 117 - 11, 7); /* 256 widths until here */
        put_width(&longer, 1);
        put_width(&longer, over ? 17 : 0);
        put_bits(&longer, 0, over ? 3 : 0); /* three, where one remains */
        put_bits(&longer, 2, 16);
        assert_int_equal(check_stream(f, &longer, 1), over ? TZ_DECODE_UNSURE : TZ_DECODE_OK);
    }
}

static void case_41_distances_blocks_and_their_sizes(void **state)
{
    fixture *f = *state;
    bit_writer writer = {.low_first = true};
    put_bits(&writer, 3, 3);
    put_word(&writer, 0x30 + 'a', 8);
    put_word(&writer, 1, 7); /* three bytes ... */
    put_word(&writer, 1, 5); /* ... from two before */
    put_bits(&writer, 0, 16);
    assert_int_equal(check_stream(f, &writer, 10), TZ_DECODE_BAD_DISTANCE);
    writer = (bit_writer){.low_first = true};
    put_bits(&writer, 7, 16);
    assert_int_equal(check_stream(f, &writer, 10), TZ_DECODE_BAD_BLOCK);
    for (unsigned wrong = 0; wrong < 3; wrong++) {
        writer = (bit_writer){.low_first = true};
        put_bits(&writer, 0xf8 | 1,
                 8); /* what is after a head up to the next byte is not looked at */
        put_bits(&writer, 3, 16);
        put_bits(&writer, 0xfffcu ^ (wrong == 1 ? 0x8000u : 0), 16);
        put_bits(&writer, 0x616263, wrong == 2 ? 16 : 24);
        static const uint32_t expected[] = {TZ_DECODE_OK, TZ_DECODE_BAD_BLOCK, TZ_DECODE_TRUNCATED};
        assert_int_equal(check_stream(f, &writer, 3), expected[wrong]);
    }
}

static void kinds_of_blocks_may_follow_each_other(void **state)
{
    fixture *f = *state;
    uint32_t random = 5;
    for (unsigned round = 0; round < 200; round++) {
        bit_writer writer = {.low_first = true};
        for (unsigned block = 0; block < 6; block++) {
            random = random * 1664525u + 1013904223u;
            put_bits(&writer, block == 5, 1);
            if (random >> 31) { /* stored, of a few bytes */
                put_bits(&writer, 0, 2);
                put_align(&writer);
                put_bits(&writer, block, 16);
                put_bits(&writer, block ^ 0xffffu, 16);
                put_bits(&writer, random, 8 * (block < 4 ? block : 4));
                put_bits(&writer, random, 8 * (block < 4 ? 0 : block - 4));
            } else { /* fixed codes: a byte and the end */
                put_bits(&writer, 1, 2);
                put_word(&writer, 0x30 + block, 8);
                put_word(&writer, 0, 7);
            }
        }
        assert_int_equal(check_stream(f, &writer, 10), TZ_DECODE_OK);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(tiles_of_every_level_and_size_come_back),
        TEST(a_bare_stream_says_how_much_of_it_was_read),
        TEST(nothing_comes_back_as_nothing),
        TEST(damaged_streams_get_the_verdict_of_the_codec),
        TEST(case_40_headers),
        TEST(case_40_sizes_checksums_and_what_follows),
        TEST(case_40_a_bomb),
        TEST(case_41_codes_of_every_shape),
        TEST(case_41_symbols_that_are_not_used),
        TEST(case_41_codes_of_one_word_and_of_none),
        TEST(case_41_codes_that_are_too_many_or_too_few),
        TEST(case_41_repeats_of_nothing_and_past_the_end),
        TEST(case_41_distances_blocks_and_their_sizes),
        TEST(kinds_of_blocks_may_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
