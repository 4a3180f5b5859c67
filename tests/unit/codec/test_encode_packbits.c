/* SPDX-License-Identifier: Apache-2.0
 * The PackBits encoder: rows by themselves, and never a byte more than it takes. */
#include "support/codec/encode_run.h"

/* The fewest bytes that a row can take, by trying every packet at every place. */
static size_t fewest_bytes(const uint8_t *row, size_t size)
{
    size_t *best = run_alloc((size + 1) * sizeof best[0]);
    best[size] = 0;
    for (size_t at = size; at-- > 0;) {
        best[at] = SIZE_MAX;
        for (size_t length = 1; length <= 128 && at + length <= size; length++) {
            size_t literal = 1 + length + best[at + length];
            best[at] = literal < best[at] ? literal : best[at];
        }
        for (size_t length = 2; length <= 128 && at + length <= size; length++) {
            if (row[at + length - 1] != row[at])
                break;
            size_t run = 2 + best[at + length];
            best[at] = run < best[at] ? run : best[at];
        }
    }
    size_t found = best[0];
    free(best);
    return found;
}

static size_t encoded_size(const uint8_t *rows, size_t width, size_t height)
{
    tz_tile_format format = encode_format(&tz_encoder_packbits, width, height);
    encode_run run;
    encode_open(&run, &tz_encoder_packbits, &format, 0);
    size_t size = encode_returns(&run, rows);
    encode_close(&run);
    return size;
}

/* Bytes that repeat the one before them in so many of 256 cases. */
static void make_row(uint8_t *row, size_t size, unsigned repeats, uint32_t seed)
{
    uint32_t random = seed;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525u + 1013904223u;
        bool repeat = i > 0 && (random >> 16 & 255) < repeats;
        row[i] = repeat ? row[i - 1] : (uint8_t)(random >> 24);
    }
}

static void rows_of_every_size_are_as_small_as_they_can_be(void **state)
{
    (void)state;
    static const unsigned repeats[] = {0, 30, 90, 200, 250, 256};
    uint8_t row[600];
    for (size_t kind = 0; kind < sizeof repeats / sizeof repeats[0]; kind++) {
        for (size_t size = 1; size <= sizeof row; size++) {
            make_row(row, size, repeats[kind], (uint32_t)size);
            assert_int_equal(encoded_size(row, size, 1), fewest_bytes(row, size));
        }
    }
}

/* Runs of 1 to 4 bytes at every place around the end of a full literal packet. */
static void literals_are_cut_where_it_costs_nothing(void **state)
{
    (void)state;
    uint8_t row[300];
    for (size_t at = 120; at < 136; at++) {
        for (size_t length = 1; length <= 4; length++) {
            for (size_t size = at + length; size < at + length + 3; size++) {
                for (size_t i = 0; i < size; i++)
                    row[i] = (uint8_t)i;
                memset(row + at, row[at], length);
                assert_int_equal(encoded_size(row, size, 1), fewest_bytes(row, size));
            }
        }
    }
}

/* TIFF wants packets that end with their rows. */
static void no_packet_crosses_a_row(void **state)
{
    (void)state;
    enum { WIDTH = 37, HEIGHT = 50 };
    uint8_t rows[WIDTH * HEIGHT];
    for (unsigned repeats = 0; repeats <= 256; repeats += 64) {
        make_row(rows, sizeof rows, repeats, 9);
        tz_tile_format format = encode_format(&tz_encoder_packbits, WIDTH, HEIGHT);
        encode_run run;
        encode_open(&run, &tz_encoder_packbits, &format, 0);
        encoded tile = encode_tile(&run, rows);
        size_t column = 0;
        for (size_t at = 0; at < tile.size;) {
            uint8_t head = tile.bytes[at];
            assert_int_not_equal(head, 128);
            column += head < 128 ? head + 1u : 257u - head;
            at += head < 128 ? head + 2u : 2;
            assert_true(column <= WIDTH);
            column %= WIDTH;
        }
        assert_int_equal(column, 0);
        free(tile.bytes);
        encode_close(&run);
    }
}

static void a_tile_is_its_rows(void **state)
{
    (void)state;
    uint8_t rows[64 * 5];
    make_row(rows, sizeof rows, 128, 3);
    size_t sum = 0;
    for (size_t row = 0; row < 5; row++)
        sum += encoded_size(rows + 64 * row, 64, 1);
    assert_int_equal(encoded_size(rows, 64, 5), sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_size_are_as_small_as_they_can_be),
        cmocka_unit_test(literals_are_cut_where_it_costs_nothing),
        cmocka_unit_test(no_packet_crosses_a_row),
        cmocka_unit_test(a_tile_is_its_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
