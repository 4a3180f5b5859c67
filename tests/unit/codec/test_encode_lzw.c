/* SPDX-License-Identifier: Apache-2.0
 * The LZW encoder beside one that is written after TIFF 6.0 and looks up every string in a full
 * table: the same bytes, at every width of codes and wherever the table is full. */
#include "support/codec/encode_run.h"

enum { CLEAR = 256, END = 257, FIRST = 258, FULL = 4094 };

/* The simplest encoder there is. */
typedef struct plain_encoder {
    uint16_t table[4096][256]; /* the code of a string and a byte; 0: none */
    uint8_t *out;
    size_t bit;
    unsigned next;
} plain_encoder;

static unsigned plain_width(const plain_encoder *plain)
{
    return plain->next < 512 ? 9 : plain->next < 1024 ? 10 : plain->next < 2048 ? 11 : 12;
}

static void plain_put(plain_encoder *plain, unsigned code)
{
    for (unsigned width = plain_width(plain); width-- > 0; plain->bit++)
        if (code >> width & 1)
            plain->out[plain->bit / 8] |= (uint8_t)(0x80 >> plain->bit % 8);
}

static void plain_clear(plain_encoder *plain)
{
    plain_put(plain, CLEAR);
    memset(plain->table, 0, sizeof plain->table);
    plain->next = FIRST;
}

static void plain_next(plain_encoder *plain)
{
    plain->next++;
    if (plain->next == FULL)
        plain_clear(plain);
}

static size_t plain_encode(const uint8_t *in, size_t size, uint8_t *out)
{
    plain_encoder *plain = calloc(1, sizeof *plain);
    assert_non_null(plain);
    plain->out = out;
    plain_clear(plain);
    unsigned code = in[0];
    for (size_t i = 1; i < size; i++) {
        if (plain->table[code][in[i]] != 0) {
            code = plain->table[code][in[i]];
            continue;
        }
        plain_put(plain, code);
        plain->table[code][in[i]] = (uint16_t)plain->next;
        plain_next(plain);
        code = in[i];
    }
    plain_put(plain, code);
    plain_next(plain);
    plain_put(plain, END);
    size_t made = (plain->bit + 7) / 8;
    free(plain);
    return made;
}

static void check_bytes(encode_run *run, const uint8_t *rows, size_t size)
{
    uint8_t *expected = calloc(size * 2 + 64, 1);
    assert_non_null(expected);
    run->format.width = (uint32_t)size;
    encoded tile = encode_tile(run, rows);
    assert_int_equal(tile.size, plain_encode(rows, size, expected));
    assert_memory_equal(tile.bytes, expected, tile.size);
    encode_decodes(run, &tile, rows);
    free(tile.bytes);
    free(expected);
}

static void open_lzw(encode_run *run)
{
    tz_tile_format format = encode_format(&tz_encoder_lzw, 1, 1);
    encode_open(run, &tz_encoder_lzw, &format, 0);
}

static void tiles_of_every_size_have_the_bytes_of_the_plain_encoder(void **state)
{
    (void)state;
    encode_run run;
    open_lzw(&run);
    for (encode_kind kind = 0; kind < ENCODE_KINDS; kind++) {
        uint8_t *rows = encode_rows(kind, 600);
        for (size_t size = 1; size <= 600; size += size < 40 || size > 560 ? 1 : 7)
            check_bytes(&run, rows, size);
        free(rows);
    }
    encode_close(&run);
}

/* Bytes of which no two neighbours come twice: every code stands for one byte. */
static uint8_t *make_new_pairs(size_t size)
{
    uint8_t *rows = run_alloc(size);
    for (size_t i = 0; i < size; i++) {
        size_t step = i / 256 + 1;
        rows[i] = (uint8_t)(i % 256 * (2 * step + 1) + step);
    }
    bool *seen = calloc(65536, sizeof seen[0]);
    assert_non_null(seen);
    for (size_t i = 1; i < size; i++) {
        bool *pair = &seen[rows[i - 1] * 256 + rows[i]];
        assert_false(*pair);
        *pair = true;
    }
    free(seen);
    return rows;
}

/* Streams whose last code, or the one before it, makes codes wider or the table full. */
static void widths_change_and_tables_end_at_the_right_code(void **state)
{
    (void)state;
    static const size_t codes[] = {512 - FIRST,  1024 - FIRST,       2048 - FIRST,
                                   FULL - FIRST, 2 * (FULL - FIRST), FULL - FIRST + 512 - FIRST};
    encode_run run;
    open_lzw(&run);
    uint8_t *rows = make_new_pairs(2 * FULL);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        for (size_t size = codes[i] - 4; size <= codes[i] + 4; size++)
            check_bytes(&run, rows, size);
    free(rows);
    encode_close(&run);
}

static void long_tiles_have_the_bytes_of_the_plain_encoder(void **state)
{
    (void)state;
    encode_run run;
    open_lzw(&run);
    for (encode_kind kind = 0; kind < ENCODE_KINDS; kind++) {
        uint8_t *rows = encode_rows(kind, 200000);
        check_bytes(&run, rows, 200000);
        free(rows);
    }
    encode_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_every_size_have_the_bytes_of_the_plain_encoder),
        cmocka_unit_test(widths_change_and_tables_end_at_the_right_code),
        cmocka_unit_test(long_tiles_have_the_bytes_of_the_plain_encoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
