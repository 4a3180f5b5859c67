/* SPDX-License-Identifier: Apache-2.0
 * The LZW kernel beside the codec: tiles of the encoder, and codes in any order, of both kinds. */
#include "kernels/lzw.h"
#include "support/codec/bit_writer.h"
#include "support/codec/encode_run.h"
#include "support/codec/kernel_run.h"

enum { CLEAR = 256, END = 257, FIRST = 258, MAX_CODES = 4096 };

static uint32_t by_item(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                        void *work)
{
    return tz_lzw_tile(in, in_size, out, size, work);
}

static uint32_t by_group(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                         void *work)
{
    uint32_t queue[TZ_COPY_QUEUE_WORDS];
    memset(queue, 0xA5, sizeof queue);
    return tz_lzw_tile_work_group(in, in_size, out, size, work, queue);
}

static uint32_t decode(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size, void *work)
{
    return kernel_both(by_item, by_group, in, in_size, out, size, work);
}

static int begin(void **state)
{
    kernel_run *run = run_alloc(sizeof *run);
    kernel_open(run, &tz_decoder_lzw, decode, TZ_LZW_SCRATCH * sizeof(uint32_t));
    *state = run;
    return 0;
}

static int end(void **state)
{
    kernel_close(*state);
    free(*state);
    return 0;
}

/* Codes as a decoder expects them, and the bytes that they make. */
typedef struct writer {
    bit_writer out;
    uint32_t next;
    uint32_t width;
    uint32_t before; /* bytes of the code before; 0: a Clear was */
    uint32_t sizes[MAX_CODES + 1];
    size_t made;
} writer;

static writer *new_writer(bool low_first)
{
    writer *w = run_alloc(sizeof *w);
    *w = (writer){.out = {.low_first = low_first}, .next = FIRST, .width = 9};
    return w;
}

static void put_code(writer *w, unsigned code)
{
    if (w->before > 0 && w->next == (1u << w->width) - !w->out.low_first && w->width < 12)
        w->width++;
    put_bits(&w->out, code, w->width);
    if (code == CLEAR) {
        w->next = FIRST;
        w->width = 9;
        w->before = 0;
    } else if (code != END) {
        if (w->before > 0 && w->next < MAX_CODES)
            w->sizes[w->next++] = w->before + 1;
        w->before = code < 256 ? 1 : w->sizes[code];
        w->made += w->before;
    }
}

#define PUT_CODES(w, ...)                                                                          \
    for (size_t i_ = 0; i_ < sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned); i_++)     \
    put_code(w, ((const unsigned[]){__VA_ARGS__})[i_])

/* The status of a tile of size bytes. */
static uint32_t status_of(kernel_run *run, writer *w, size_t size)
{
    uint32_t status = kernel_agrees(run, w->out.data, w->out.size, size);
    free(w->out.data);
    free(w);
    return status;
}

static void tiles_of_the_encoder_come_back(void **state)
{
    kernel_takes_all_of(*state, &tz_encoder_lzw);
}

/* Any code that there is, a Clear now and then, and rarely one that there is not. */
static unsigned any_code(const writer *w, uint32_t random, unsigned round)
{
    if (random >> 20 == 0 || (round % 4 == 0 && random >> 26 == 0))
        return CLEAR;
    if (random >> 16 == 99)
        return w->next + 1 < MAX_CODES ? w->next + 1 : END;
    if (w->before == 0 || (random & 0x300) == 0)
        return random >> 24;
    unsigned last = w->next < MAX_CODES ? w->next : MAX_CODES - 1;
    unsigned code = FIRST + (random >> 12) % (last - FIRST + 1);
    return round % 5 == 0 ? last : code;
}

static void codes_in_any_order_get_the_verdict_of_the_codec(void **state)
{
    uint32_t random = 3;
    unsigned taken = 0, refused = 0, cut = 0;
    for (unsigned round = 0; round < 300; round++) {
        writer *w = new_writer(round & 1);
        put_code(w, CLEAR);
        unsigned count = round % 10 == 0 ? 9000 : 1 + round * 3;
        for (unsigned i = 0; i < count && w->made < 200000; i++) {
            random = random * 1664525u + 1013904223u;
            unsigned code = any_code(w, random, round);
            put_code(w, code);
            w->sizes[w->next] = w->before + 1; /* when it is used at once */
            if (code > w->next)
                break;
        }
        if (w->before == 0)
            put_code(w, 'x');
        if (round % 7 != 0)
            put_code(w, END);
        random = random * 1664525u + 1013904223u;
        size_t size = round % 3 == 0 && w->made > 1 ? 1 + (random >> 8) % w->made : w->made;
        uint32_t status = status_of(*state, w, size);
        bool fits = (status & TZ_DECODE_ERRORS) == 0;
        cut += fits && (status & TZ_DECODE_STRING_TRUNCATED) != 0;
        taken += fits;
        refused += !fits;
    }
    assert_true(taken > 100 && refused > 8 && cut > 30);
}

static void strings_of_every_length_come_back(void **state)
{
    for (unsigned low_first = 0; low_first < 2; low_first++) { /* each string extends the last */
        writer *w = new_writer(low_first);
        PUT_CODES(w, CLEAR, 'a');
        for (unsigned code = FIRST; code < FIRST + 1000; code++) {
            w->sizes[code] = w->before + 1;
            put_code(w, code);
        }
        put_code(w, CLEAR);
        put_code(w, END);
        assert_int_equal(status_of(*state, w, w->made), low_first ? TZ_DECODE_OLD_ORDER : 0);
    }
}

/* Hostile case 43 ------------------------------------------------------------------------------ */

static void case_43_ends_that_are_missing_or_early(void **state)
{
    writer *w = new_writer(false);
    PUT_CODES(w, CLEAR, 'a', 'b', 258, END);
    put_bits(&w->out, 0, 16);
    assert_int_equal(status_of(*state, w, 4), TZ_DECODE_BYTES_AFTER);
    w = new_writer(false);
    PUT_CODES(w, CLEAR, 'a', 'b', 258);
    assert_int_equal(status_of(*state, w, 4), TZ_DECODE_NO_END);
    w = new_writer(true);
    PUT_CODES(w, CLEAR, 'a', 'b', 258);
    assert_int_equal(status_of(*state, w, 4), TZ_DECODE_NO_END | TZ_DECODE_OLD_ORDER);
    w = new_writer(false);
    PUT_CODES(w, CLEAR, 'a', 'b', 258, CLEAR, END);
    assert_int_equal(status_of(*state, w, 4), TZ_DECODE_OK);
    w = new_writer(false);
    PUT_CODES(w, CLEAR, 'a', 'b', END);
    assert_int_equal(status_of(*state, w, 4), TZ_DECODE_TRUNCATED);
    w = new_writer(false);
    PUT_CODES(w, CLEAR, END);
    assert_int_equal(status_of(*state, w, 4), TZ_DECODE_TRUNCATED);
}

static void a_last_string_past_the_end_of_the_tile_is_cut(void **state)
{
    writer *w = new_writer(false);
    PUT_CODES(w, CLEAR, 'a', 'b', 258, END);
    assert_int_equal(status_of(*state, w, 3), TZ_DECODE_STRING_TRUNCATED);
    w = new_writer(true);
    PUT_CODES(w, CLEAR, 'a', 'b', 258, END);
    assert_int_equal(status_of(*state, w, 3), TZ_DECODE_STRING_TRUNCATED | TZ_DECODE_OLD_ORDER);
    w = new_writer(false);
    PUT_CODES(w, CLEAR, 'a', 'b', 258, 'c', END);
    assert_int_equal(status_of(*state, w, 3), TZ_DECODE_STRING_TRUNCATED | TZ_DECODE_NO_END);
    for (unsigned low_first = 0; low_first < 2;
         low_first++) { /* by one byte up to a whole string */
        for (size_t size = 50 * 51 / 2 + 1; size < 51 * 52 / 2; size++) {
            w = new_writer(low_first);
            PUT_CODES(w, CLEAR, 'a');
            for (unsigned code = FIRST; code < FIRST + 50; code++) {
                w->sizes[code] = w->before + 1;
                put_code(w, code);
            }
            put_code(w, END);
            assert_int_equal(status_of(*state, w, size),
                             TZ_DECODE_STRING_TRUNCATED | (low_first ? TZ_DECODE_OLD_ORDER : 0));
        }
    }
}

static void case_43_codes_that_there_are_not(void **state)
{
    writer *w = new_writer(false);
    PUT_CODES(w, 'a', 'b');
    assert_int_equal(status_of(*state, w, 2), TZ_DECODE_BAD_CODE);
    w = new_writer(false);
    PUT_CODES(w, CLEAR, 258);
    assert_int_equal(status_of(*state, w, 2), TZ_DECODE_BAD_CODE);
    w = new_writer(false);
    PUT_CODES(w, CLEAR, 'a', 259);
    assert_int_equal(status_of(*state, w, 4), TZ_DECODE_BAD_CODE);
    w = new_writer(false);
    PUT_CODES(w, CLEAR, CLEAR, CLEAR, 'a', 'b', END);
    assert_int_equal(status_of(*state, w, 2), TZ_DECODE_OK);
    w = new_writer(false);
    for (unsigned i = 0; i < 4000; i++)
        put_code(w, CLEAR);
    assert_int_equal(status_of(*state, w, 2), TZ_DECODE_TRUNCATED);
    for (size_t size = 0; size < 3; size++)
        kernel_agrees(*state, (const uint8_t *)"\x80\0", size, 1);
}

static void case_43_more_codes_than_the_table_holds(void **state)
{
    for (unsigned low_first = 0; low_first < 2; low_first++) {
        for (unsigned count = 3836; count < 3843; count++) {
            writer *w = new_writer(low_first);
            put_code(w, CLEAR);
            for (unsigned i = 0; i < count; i++)
                put_code(w, i * 7 & 0xff);
            put_code(w, low_first ? 4000 : 'z');
            put_code(w, END);
            uint32_t status = status_of(*state, w, w->made);
            assert_int_equal(status, low_first          ? TZ_DECODE_OLD_ORDER
                                     : count + 1 > 3839 ? TZ_DECODE_BAD_CODE
                                                        : TZ_DECODE_OK);
        }
    }
}

static void a_tile_of_no_bytes_is_not_written(void **state)
{
    uint8_t *tile;
    writer *w = new_writer(false);
    PUT_CODES(w, CLEAR, 'a', END);
    assert_int_equal(kernel_twice(*state, w->out.data, w->out.size, 0, &tile), TZ_DECODE_TOO_LONG);
    free(tile);
    free(w->out.data);
    free(w);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(tiles_of_the_encoder_come_back),
        TEST(codes_in_any_order_get_the_verdict_of_the_codec),
        TEST(strings_of_every_length_come_back),
        TEST(case_43_ends_that_are_missing_or_early),
        TEST(a_last_string_past_the_end_of_the_tile_is_cut),
        TEST(case_43_codes_that_there_are_not),
        TEST(case_43_more_codes_than_the_table_holds),
        TEST(a_tile_of_no_bytes_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
