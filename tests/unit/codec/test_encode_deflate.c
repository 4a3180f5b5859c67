/* SPDX-License-Identifier: Apache-2.0
 * The fast class of Deflate: its Huffman codes, runs and blocks, the bytes that it must make on
 * every machine, and which tiles are left to ordinary encoders. */
#include "codec/deflate_fast.h"
#include "codec/xxhash32.h"
#include "kernels/deflate_symbols.h"
#include "support/codec/encode_run.h"

enum { FRAME = 6 }; /* bytes that zlib's frame adds */

/* Huffman codes -------------------------------------------------------------------------------- */

static void make_lengths(const uint32_t *counts, size_t symbols, unsigned longest, uint8_t *lengths)
{
    tz_huffman_scratch work;
    memset(&work, 0xA7, sizeof work);
    tz_huffman_make_lengths(counts, (uint32_t)symbols, longest, lengths, &work);
}

/* Complete, within the bound, and no symbol has a longer code than a rarer one. */
static void check_code(const uint32_t *counts, size_t symbols, unsigned longest)
{
    uint8_t lengths[TZ_HUFFMAN_SYMBOLS];
    uint64_t sum = 0;
    make_lengths(counts, symbols, longest, lengths);
    for (size_t i = 0; i < symbols; i++) {
        assert_true((counts[i] > 0) == (lengths[i] > 0));
        assert_true(lengths[i] <= longest);
        sum += lengths[i] > 0 ? UINT64_C(1) << (longest - lengths[i]) : 0;
        for (size_t j = 0; j < i; j++)
            if (counts[i] > 0 && counts[j] > counts[i])
                assert_true(lengths[j] <= lengths[i]);
    }
    assert_true(sum == UINT64_C(1) << longest);
}

static void codes_are_complete_and_not_too_long(void **state)
{
    (void)state;
    uint32_t counts[TZ_HUFFMAN_SYMBOLS];
    uint32_t random = 1;
    for (unsigned round = 0; round < 400; round++) {
        size_t symbols = 2 + round % (TZ_HUFFMAN_SYMBOLS - 1);
        for (size_t i = 0; i < symbols; i++) {
            random = random * 1664525u + 1013904223u;
            counts[i] = i < 2 ? 1 : random >> 18 >> (random % 14);
        }
        check_code(counts, symbols, symbols <= 128 ? 7 : 14);
        check_code(counts, symbols, 15);
    }
}

/* Counts that make codes as long as they can be. */
static void the_deepest_codes_are_cut(void **state)
{
    (void)state;
    uint32_t counts[TZ_HUFFMAN_SYMBOLS] = {1, 1};
    for (size_t symbols = 2; symbols <= 30; symbols++) {
        if (symbols > 2)
            counts[symbols - 1] = counts[symbols - 2] + counts[symbols - 3];
        for (unsigned longest = 5; longest <= 15; longest++)
            check_code(counts, symbols, longest);
    }
}

/* The fewest bits where no code is cut: lengths of these counts are known. */
static void codes_are_the_shortest(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 45, 13, 12, 16, 9, 5, 0};
    static const uint8_t expected[] = {0, 1, 3, 3, 3, 4, 4, 0};
    uint8_t lengths[8];
    uint32_t codes[8];
    tz_huffman_scratch work;
    make_lengths(counts, 8, 14, lengths);
    assert_memory_equal(lengths, expected, sizeof expected);
    tz_huffman_make_codes(lengths, 8, codes, &work);
    static const uint32_t expected_codes[] = {0, 0, 1, 5, 3, 7, 15, 0};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(codes[i], expected_codes[i] << 8 | expected[i]);
}

/* Streams -------------------------------------------------------------------------------------- */

static encode_run fast;

static int open_fast(void **state)
{
    (void)state;
    tz_tile_format format = encode_format(&tz_encoder_deflate, 1, 1);
    encode_open(&fast, &tz_encoder_deflate, &format, TZ_EFFORT_FAST);
    return 0;
}

static int close_fast(void **state)
{
    (void)state;
    encode_close(&fast);
    return 0;
}

/* By the fast class whatever the samples say, and back by the decoder; returns the size. */
static size_t fast_returns(const uint8_t *rows, size_t size)
{
    uint8_t *in = run_alloc(size + TZ_CODEC_SLACK);
    encoded tile = {.bytes = run_alloc(FRAME + tz_deflate_fast_bound(size))};
    memcpy(in, rows, size);
    memset(in + size, 0x5A, TZ_CODEC_SLACK);
    tile.bytes[0] = 0x78;
    tile.bytes[1] = 0x01;
    tile.size = 2 + tz_deflate_fast(in, size, tile.bytes + 2);
    assert_true(tile.size - 2 <= tz_deflate_fast_bound(size));
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + rows[i]) % 65521;
        b = (b + a) % 65521;
    }
    for (int shift = 24; shift >= 0; shift -= 8)
        tile.bytes[tile.size++] = (uint8_t)((b << 16 | a) >> shift);
    fast.format.width = (uint32_t)size;
    encode_decodes(&fast, &tile, rows);
    free(tile.bytes);
    free(in);
    return tile.size;
}

static void tiles_of_every_size_come_back(void **state)
{
    (void)state;
    for (encode_kind kind = 0; kind < ENCODE_KINDS; kind++) {
        uint8_t *rows = encode_rows(kind, 600);
        for (size_t size = 1; size <= 600; size++)
            fast_returns(rows, size);
        free(rows);
    }
}

/* Runs of every length around those of matches, at every place in a group. */
static void runs_of_every_length_come_back(void **state)
{
    (void)state;
    uint8_t rows[1200];
    for (size_t length = 1; length <= 1100; length += length < 560 ? 1 : 61) {
        for (size_t i = 0; i < sizeof rows; i++)
            rows[i] = (uint8_t)(i * 89 >> 2);
        memset(rows + 17 + length % 16, 7, length);
        fast_returns(rows, sizeof rows);
    }
}

static void long_inputs_are_several_blocks(void **state)
{
    (void)state;
    static const size_t sizes[] = {(1 << 20) - 1, 1 << 20, (1 << 20) + 1, (5 << 19) + 7};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t *rows = encode_rows(i % 2 ? ENCODE_RUNS : ENCODE_NOISE, sizes[i]);
        size_t size = fast_returns(rows, sizes[i]);
        if (i % 2 == 0) /* stored */
            assert_true(size <= sizes[i] + FRAME + 5 * (sizes[i] / 65535 + 4));
        free(rows);
    }
}

static void equal_bytes_take_next_to_nothing(void **state)
{
    (void)state;
    uint8_t *rows = encode_rows(ENCODE_EQUAL, 1 << 18);
    assert_true(fast_returns(rows, 1 << 18) < 300);
    free(rows);
}

/* Encoded bytes are the same everywhere and in all releases: these are their checksums. Change them
 * together with the bytes, knowingly. */
static void the_bytes_are_these(void **state)
{
    (void)state;
    static const uint32_t expected[ENCODE_KINDS] = {0xC2C8E1F9, 0x4F6CB0D8, 0x767C3281, 0xB503D78D,
                                                    0x6291A388, 0x5310C868, 0xD887D60E};
    uint32_t found[ENCODE_KINDS];
    for (encode_kind kind = 0; kind < ENCODE_KINDS; kind++) {
        enum { SIZE = 70001 };
        uint8_t *rows = encode_rows(kind, SIZE + TZ_CODEC_SLACK);
        uint8_t *out = run_alloc(tz_deflate_fast_bound(SIZE));
        size_t size = tz_deflate_fast(rows, SIZE, out);
        found[kind] = tz_xxhash32(out, size);
        if (found[kind] != expected[kind])
            print_error("kind %d: 0x%08X\n", (int)kind, (unsigned)found[kind]);
        free(out);
        free(rows);
    }
    assert_memory_equal(found, expected, sizeof expected);
}

/* The choice ----------------------------------------------------------------------------------- */

/* Differences as predictors leave them: a bell of so many values. */
static uint8_t *make_differences(size_t size, unsigned width)
{
    uint8_t *rows = run_alloc(size);
    uint32_t random = 5;
    for (size_t i = 0; i < size; i++) {
        unsigned sum = 0;
        for (int k = 0; k < 4; k++) {
            random = random * 1664525u + 1013904223u;
            sum += (random >> 20) * width >> 12;
        }
        rows[i] = (uint8_t)(sum - 2 * width);
    }
    return rows;
}

/* Patches of classes in rows of 256: most pixels are those to the left or above. */
static uint8_t *make_classes(size_t size)
{
    uint8_t *rows = run_alloc(size);
    uint32_t random = 5;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525u + 1013904223u;
        unsigned chance = random >> 16 & 255;
        if (i < 257 || chance < 6)
            rows[i] = (uint8_t)(random >> 24 & 7);
        else
            rows[i] = rows[i - (chance < 40 ? 1 : 256)];
    }
    return rows;
}

static void predicted_samples_are_for_the_fast_class(void **state)
{
    (void)state;
    for (size_t size = 4096; size <= 1 << 20; size *= 4) {
        for (unsigned width = 2; width <= 64; width *= 2) {
            uint8_t *rows = make_differences(size, width);
            assert_false(tz_deflate_wants_matches(rows, size));
            free(rows);
        }
    }
}

static void classes_are_for_matches(void **state)
{
    (void)state;
    for (size_t size = 4096; size <= 1 << 20; size *= 4) {
        uint8_t *rows = make_classes(size);
        assert_true(tz_deflate_wants_matches(rows, size));
        free(rows);
    }
}

/* Tiles go one way or the other, and look like it: level 1 is the same as level 1. */
static void the_encoder_follows_the_choice(void **state)
{
    (void)state;
    enum { SIDE = 256 };
    tz_tile_format format = encode_format(&tz_encoder_deflate, SIDE, SIDE);
    encode_run first, chosen;
    encode_open(&first, &tz_encoder_deflate, &format, 1);
    encode_open(&chosen, &tz_encoder_deflate, &format, TZ_EFFORT_FAST);
    uint8_t *classes = make_classes(SIDE * SIDE);
    encoded expected = encode_tile(&first, classes);
    encoded found = encode_tile(&chosen, classes);
    assert_int_equal(found.size, expected.size);
    assert_memory_equal(found.bytes, expected.bytes, expected.size);
    free(found.bytes);
    free(expected.bytes);
    uint8_t *differences = make_differences(SIDE * SIDE, 8);
    assert_int_equal(encode_returns(&chosen, differences), fast_returns(differences, SIDE * SIDE));
    free(differences);
    free(classes);
    encode_close(&first);
    encode_close(&chosen);
}

/* An estimate is a pair of numbers near what encoders make. */
static void estimates_are_near_the_truth(void **state)
{
    (void)state;
    for (unsigned width = 2; width <= 64; width *= 2) {
        uint8_t *rows = make_differences(1 << 16, width);
        tz_deflate_estimate bits = tz_deflate_estimate_of(rows, 1 << 16);
        double estimated = (double)bits.by_runs / (double)bits.bytes;
        double made = 8.0 * (double)fast_returns(rows, 1 << 16) / (1 << 16);
        assert_true(estimated > 0.93 * made && estimated < 1.03 * made);
        free(rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_complete_and_not_too_long),
        cmocka_unit_test(the_deepest_codes_are_cut),
        cmocka_unit_test(codes_are_the_shortest),
        cmocka_unit_test(tiles_of_every_size_come_back),
        cmocka_unit_test(runs_of_every_length_come_back),
        cmocka_unit_test(long_inputs_are_several_blocks),
        cmocka_unit_test(equal_bytes_take_next_to_nothing),
        cmocka_unit_test(the_bytes_are_these),
        cmocka_unit_test(predicted_samples_are_for_the_fast_class),
        cmocka_unit_test(classes_are_for_matches),
        cmocka_unit_test(the_encoder_follows_the_choice),
        cmocka_unit_test(estimates_are_near_the_truth),
    };
    return cmocka_run_group_tests(tests, open_fast, close_fast);
}
