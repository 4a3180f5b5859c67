/* SPDX-License-Identifier: Apache-2.0
 * LZW: an encoder that follows the description of TIFF 6.0, streams of other programs, and streams
 * that no encoder writes. */
#include "support/codec/bit_writer.h"
#include "support/codec/codec_run.h"

enum { CLEAR = 256, END = 257, FIRST = 258 };

static tz_tile_format bytes_format(size_t size)
{
    return (tz_tile_format){.width = (uint32_t)size,
                            .height = 1,
                            .samples = 1,
                            .bits = 8,
                            .sample_format = 1,
                            .compression = 5};
}

/* Encoder -------------------------------------------------------------------------------------- */

typedef struct lzw_writer {
    bit_writer out;
    unsigned since_clear; /* codes */
    unsigned
        clear_after; /* so many codes; what the table holds, unless a test wants less or more */
    bool no_end;
} lzw_writer;

/* The width of the n-th code after a Clear, counted from 1: the decoder then defines entry 256 + n.
 */
static unsigned width_of(unsigned n, bool low_first)
{
    unsigned width = 9;
    while (width < 12 && 256 + n >= (1u << width) - (low_first ? 0 : 1))
        width++;
    return width;
}

static void put_code(lzw_writer *writer, unsigned code)
{
    put_bits(&writer->out, code, width_of(writer->since_clear + 1, writer->out.low_first));
    writer->since_clear = code == CLEAR ? 0 : writer->since_clear + 1;
}

static void put_codes(lzw_writer *writer, const unsigned *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_code(writer, codes[i]);
}
#define PUT_CODES(writer, ...)                                                                     \
    put_codes(writer, (const unsigned[]){__VA_ARGS__},                                             \
              sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static uint16_t children[4096][256]; /* the code of a string and one more byte; 0: none */

static void encode(lzw_writer *writer, const uint8_t *data, size_t size)
{
    unsigned next = FIRST;
    unsigned code = data[0];
    memset(children, 0, sizeof children);
    put_code(writer, CLEAR);
    for (size_t i = 1; i < size; i++) {
        uint16_t *child = &children[code][data[i]];
        if (*child) {
            code = *child;
            continue;
        }
        put_code(writer, code);
        if (next < 4096)
            *child = (uint16_t)next++;
        if (writer->since_clear == writer->clear_after) {
            put_code(writer, CLEAR);
            memset(children, 0, sizeof children);
            next = FIRST;
        }
        code = data[i];
    }
    put_code(writer, code);
    if (!writer->no_end)
        put_code(writer, END);
}

/* TIFF's encoders clear when entry 4094 is made, which is after 3837 codes. */
enum { USUAL_CLEAR = 3837 };
static lzw_writer new_writer(bool low_first)
{
    return (lzw_writer){.out = {.low_first = low_first}, .clear_after = USUAL_CLEAR};
}

/* Data with something for every path: noise, runs, repetitions. */
static void make_data(uint8_t *data, size_t size, unsigned kind)
{
    uint32_t random = 77 + kind;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525u + 1013904223u;
        uint8_t noise = (uint8_t)(random >> 24);
        switch (kind) {
        case 0:
            data[i] = noise;
            break;
        case 1:
            data[i] = 42;
            break;
        case 2:
            data[i] = (uint8_t)(noise & 3);
            break;
        case 3:
            data[i] = (uint8_t)(i * i >> 9);
            break;
        default: /* runs of changing length */
            data[i] = noise < 4 || i == 0 ? noise : data[i - 1];
            break;
        }
    }
}
enum { KINDS = 5 };

/* Fixture -------------------------------------------------------------------------------------- */

static codec_run lzw;

static int open_lzw(void **state)
{
    (void)state;
    run_open(&lzw, &tz_decoder_lzw);
    return 0;
}

static int close_lzw(void **state)
{
    (void)state;
    run_close(&lzw);
    return 0;
}

static void check_decodes(const bit_writer *in, const uint8_t *expected, size_t size)
{
    tz_tile_format format = bytes_format(size);
    uint8_t *out = run_decode(&lzw, &format, in->data, in->size);
    assert_memory_equal(out, expected, size);
    free(out);
}

static void check_round_trip(const uint8_t *data, size_t size, bool low_first, unsigned clear_after)
{
    lzw_writer writer = new_writer(low_first);
    writer.clear_after = clear_after;
    encode(&writer, data, size);
    check_decodes(&writer.out, data, size);
    free(writer.out.data);
}

static void check_refused(lzw_writer *writer, size_t size, const char *text)
{
    tz_tile_format format = bytes_format(size);
    run_refuses_saying(&lzw, &format, writer->out.data, writer->out.size, REFUSED_CODEC, text);
    free(writer->out.data);
}

static void check_warned(lzw_writer *writer, const char *expected, const char *text)
{
    tz_tile_format format = bytes_format(strlen(expected));
    uint8_t *out = run_warns(&lzw, &format, writer->out.data, writer->out.size, text);
    assert_memory_equal(out, expected, strlen(expected));
    free(out);
    free(writer->out.data);
}

/* Round trips ---------------------------------------------------------------------------------- */

static void tiles_of_every_size_come_back(void **state)
{
    (void)state;
    static uint8_t data[4200];
    for (unsigned kind = 0; kind < KINDS; kind++) {
        make_data(data, sizeof data, kind);
        /* noise is one code a byte: the end falls on every code count, width changes included */
        for (size_t size = 1; size <= (kind == 0 ? sizeof data : 600); size++)
            check_round_trip(data, size, false, USUAL_CLEAR);
        bench_silent(&lzw.bench);
    }
}

static void large_tiles_come_back(void **state)
{
    (void)state;
    static uint8_t data[700000];
    for (unsigned kind = 0; kind < KINDS; kind++) {
        make_data(data, sizeof data, kind);
        check_round_trip(data, sizeof data, false, USUAL_CLEAR);
        check_round_trip(data, 99991, false, 100);
        bench_silent(&lzw.bench);
    }
}

/* Strings of about this length, which are copied in steps of 16 or 32: the end of the tile falls
 * on every place in a string. */
static void long_strings_come_back(void **state)
{
    (void)state;
    static uint8_t data[9000];
    for (size_t run = 8; run <= 120; run += 7) {
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)(i / run * 37 >> 4 & 3);
        for (size_t size = 5000; size < 5000 + 2 * run; size++)
            check_round_trip(data, size, false, USUAL_CLEAR);
        check_round_trip(data, sizeof data, false, 200);
    }
    bench_silent(&lzw.bench);
}

static void the_longest_string_comes_back(void **state)
{
    (void)state;
    /* every code is the one that is just being defined: lengths 1, 2, 3 ... 3839 */
    size_t size = (size_t)3839 * 3840 / 2;
    uint8_t *data = run_alloc(size);
    make_data(data, size, 1);
    check_round_trip(data, size, false, 3839);
    check_round_trip(data, size, true, 3839);
    tz_warnings_deinit(&lzw.bench.warnings);
    free(data);
}

static void a_clear_may_come_early_or_as_late_as_possible(void **state)
{
    (void)state;
    static uint8_t data[20000];
    static const unsigned clears[] = {1, 2, 5, 253, 254, 255, 3836, 3837, 3838, 3839};
    make_data(data, sizeof data, 0);
    for (size_t i = 0; i < sizeof clears / sizeof clears[0]; i++)
        check_round_trip(data, sizeof data, false, clears[i]);
    bench_silent(&lzw.bench);
}

static void old_files_come_back(void **state)
{
    (void)state;
    static uint8_t data[60000];
    for (unsigned kind = 0; kind < KINDS; kind++) {
        make_data(data, sizeof data, kind);
        check_round_trip(data, sizeof data, true, USUAL_CLEAR);
        for (size_t size = 2; size < 2000; size += 7)
            check_round_trip(data, size, true, USUAL_CLEAR);
    }
    bench_warned(&lzw.bench, TZ_CAUSE_CODEC, -1, TZ_NO_VALUE, TZ_NO_VALUE, "bit order");
    tz_warnings_deinit(&lzw.bench.warnings);
}

static void old_files_may_use_a_full_table(void **state)
{
    (void)state;
    static uint8_t data[60000];
    for (unsigned kind = 0; kind < KINDS; kind++) {
        make_data(data, sizeof data, kind);
        check_round_trip(data, sizeof data, true, UINT32_MAX);
    }
    tz_warnings_deinit(&lzw.bench.warnings);
}

static void streams_of_libtiff_decode(void **state)
{
    (void)state;
    static const uint8_t expected[64] = {7,   7,   7,  7,  7,   7,   7,  7,  7,   7,   7,  7,  7,
                                         7,   7,   7,  7,  7,   7,   7,  9,  15,  5,   11, 2,  9,
                                         0,   8,   0,  8,  0,   9,   2,  11, 5,   15,  9,  3,  14,
                                         9,   200, 41, 42, 43,  200, 45, 46, 47,  200, 49, 50, 51,
                                         200, 53,  54, 55, 200, 57,  58, 59, 200, 61,  62, 63};
    uint8_t in[64];
    bit_writer stream = {.data = in};
    stream.size =
        from_hex("8001e0503824160a0907814160204800110e00024040b0283c1203070259029150ad902d"
                 "170bd9031190cd90351b0dd90391d0ed903d1f0fe020",
                 in);
    check_decodes(&stream, expected, sizeof expected);
    bench_silent(&lzw.bench);
}

static void bits_from_the_low_end_are_turned_by_the_caller(void **state)
{
    (void)state;
    static const char high[] =
        "8007d000f0003c1ee08207c0ef8070007e008844002ff46001ff167044d807f7c00e2e3f7f01dff010";
    static const char low[] =
        "01e00b000f003c780741e003f7010e007e00112200f42f0680ff680e221be0ef037074fcfe80fb0f08";
    uint8_t expected[64], in[64];
    size_t size = from_hex(high, expected);
    assert_int_equal(from_hex(low, in), size);
    assert_false(tz_decoder_lzw.flags & TZ_DECODER_ANY_FILL_ORDER);
    tz_codec_reverse_bits(in, size);
    assert_memory_equal(in, expected, size);
    tz_tile_format format = bytes_format(40);
    free(run_decode(&lzw, &format, in, size));
}

/* Defects of encoders --------------------------------------------------------------------------
 */

static void a_missing_end_is_a_warning(void **state)
{
    (void)state;
    lzw_writer writer = new_writer(false);
    PUT_CODES(&writer, CLEAR, 'a', 'b', 258);
    check_warned(&writer, "abab", "does not end where the tile does");
}

static void codes_after_the_tile_are_a_warning(void **state)
{
    (void)state;
    lzw_writer writer = new_writer(false);
    PUT_CODES(&writer, CLEAR, 'a', 'b', 258, 'c', END);
    check_warned(&writer, "abab", "does not end where the tile does");
}

static void bytes_after_the_end_are_a_warning(void **state)
{
    (void)state;
    lzw_writer writer = new_writer(false);
    PUT_CODES(&writer, CLEAR, 'a', 'b', 258, END);
    put_align(&writer.out);
    put_bits(&writer.out, 0xABC, 16);
    check_warned(&writer, "abab", "bytes after the end");
}

static void a_clear_before_the_end_is_fine(void **state)
{
    (void)state;
    lzw_writer writer = new_writer(false);
    PUT_CODES(&writer, CLEAR, 'a', CLEAR, CLEAR, 'b', CLEAR, END);
    check_decodes(&writer.out, (const uint8_t *)"ab", 2);
    bench_silent(&lzw.bench);
    free(writer.out.data);
}

/* Hostile case 43 -------------------------------------------------------------------------------
 */

static void case_43_the_first_code_is_no_clear(void **state)
{
    (void)state;
    lzw_writer writer = new_writer(false);
    PUT_CODES(&writer, 'a', 'b', END);
    check_refused(&writer, 2, "does not begin with a Clear");
}

static void case_43_a_string_follows_a_clear(void **state)
{
    (void)state;
    lzw_writer writer = new_writer(false);
    PUT_CODES(&writer, CLEAR, 258, 'a', END);
    check_refused(&writer, 3, "code 258 follows a Clear");
}

static void case_43_a_code_that_the_table_does_not_have(void **state)
{
    (void)state;
    for (unsigned good = 1; good < 4000; good = good * 3 + 1) {
        lzw_writer writer = new_writer(false);
        put_code(&writer, CLEAR);
        for (unsigned i = 0; i < good; i++)
            put_code(&writer, i & 255);
        unsigned width = width_of(good + 1, false);
        if (257 + good < 1u << width) {
            put_bits(&writer.out, 257 + good + 1 < 1u << width ? 257 + good + 1 : 257 + good,
                     width);
            for (unsigned i = 0; i < 8; i++)
                put_bits(&writer.out, 0xFFF, 12);
        }
        check_refused(&writer, 100000, "LZW");
    }
}

static void case_43_more_codes_than_the_table_holds(void **state)
{
    (void)state;
    lzw_writer writer = new_writer(false);
    put_code(&writer, CLEAR);
    for (unsigned i = 0; i < 3839; i++)
        put_code(&writer, i & 255);
    check_refused(&writer, 100000, "ends too early"); /* a full table alone is not an error */
    writer = new_writer(false);
    put_code(&writer, CLEAR);
    for (unsigned i = 0; i < 3840; i++)
        put_code(&writer, i & 255);
    check_refused(&writer, 100000, "more codes than its table can hold");
}

static void case_43_the_end_at_once(void **state)
{
    (void)state;
    lzw_writer writer = new_writer(false);
    PUT_CODES(&writer, CLEAR, END);
    check_refused(&writer, 10, "(expected 10, found 0)");
    writer = new_writer(false);
    PUT_CODES(&writer, CLEAR, 'a', 258, END);
    check_refused(&writer, 10, "(expected 10, found 3)");
    writer = new_writer(false);
    PUT_CODES(&writer, CLEAR, 'a', 258, CLEAR, 'b', END);
    check_refused(&writer, 10, "(expected 10, found 4)");
}

static void case_43_no_data_or_next_to_none(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x80, 0x01, 0x00};
    tz_tile_format format = bytes_format(10);
    run_refuses(&lzw, &format, bytes, 0, REFUSED_CODEC);
    run_refuses(&lzw, &format, bytes, 1, REFUSED_CODEC);
    run_refuses(&lzw, &format, bytes, 2, REFUSED_CODEC);
    run_refuses(&lzw, &format, bytes + 2, 1, REFUSED_CODEC);
}

static void case_43_endless_clears(void **state)
{
    (void)state;
    lzw_writer writer = new_writer(false);
    for (unsigned i = 0; i < 100000; i++)
        put_code(&writer, CLEAR);
    check_refused(&writer, 10, "ends too early");
}

/* Every size of tile for one stream: its last string ends with the tile or passes it, by one byte
 * up to all but one of its bytes. */
static void case_43_a_string_past_the_end_of_the_tile(void **state)
{
    (void)state;
    static uint8_t data[5000];
    for (unsigned kind = 0; kind < 2 * KINDS; kind++) {
        make_data(data, sizeof data, kind / 2);
        lzw_writer writer = new_writer(kind % 2);
        encode(&writer, data, sizeof data);
        unsigned cut = 0;
        for (size_t size = 1; size < sizeof data; size++) {
            tz_tile_format format = bytes_format(size);
            tz_warnings_deinit(&lzw.bench.warnings);
            uint8_t *out = run_decode(&lzw, &format, writer.out.data, writer.out.size);
            assert_memory_equal(out, data, size);
            free(out);
            assert_true(lzw.bench.warnings.count > (unsigned)(kind % 2)); /* of the old order one */
            const tz_error *warning = bench_find(&lzw.bench, "passes the end of the tile");
            if (warning)
                assert_true(warning->expected >= 1 && warning->found > warning->expected);
            cut += warning != NULL;
        }
        assert_true(kind < 2 ? cut < 200 : cut > 500); /* noise has short strings */
        free(writer.out.data);
    }
    tz_warnings_deinit(&lzw.bench.warnings);
}

static void the_rest_of_the_last_string_is_dropped_with_a_warning(void **state)
{
    (void)state;
    for (int low_first = 0; low_first < 2; low_first++) {
        for (size_t size = 8; size <= 9; size++) { /* ab ab c ab abc: the last has three bytes */
            lzw_writer writer = new_writer(low_first);
            PUT_CODES(&writer, CLEAR, 'a', 'b', 258, 'c', 258, 260, END);
            tz_tile_format format = bytes_format(size);
            tz_warnings_deinit(&lzw.bench.warnings);
            uint8_t *out = run_decode(&lzw, &format, writer.out.data, writer.out.size);
            assert_memory_equal(out, "ababcababc", size);
            free(out);
            const tz_error *warning = bench_find(&lzw.bench, "passes the end of the tile");
            assert_non_null(warning);
            assert_int_equal(warning->cause, TZ_CAUSE_CODEC);
            assert_int_equal(warning->tile, 7);
            assert_int_equal(warning->expected, size - 7);
            assert_int_equal(warning->found, 3);
            assert_int_equal(lzw.bench.warnings.count, low_first ? 2 : 1);
            lzw.bench.ctx.strict = true;
            run_refuses(&lzw, &format, writer.out.data, writer.out.size, REFUSED_CODEC);
            lzw.bench.ctx.strict = false;
            free(writer.out.data);
        }
    }
    tz_warnings_deinit(&lzw.bench.warnings);
}

static void case_43_data_cut_off_anywhere(void **state)
{
    (void)state;
    static uint8_t data[3000];
    for (unsigned kind = 0; kind < KINDS; kind++) {
        for (int low_first = 0; low_first < 2; low_first++) {
            make_data(data, sizeof data, kind);
            lzw_writer writer = new_writer(low_first);
            writer.no_end = true;
            encode(&writer, data, sizeof data);
            tz_tile_format format = bytes_format(sizeof data);
            for (size_t size = 0; size + 1 < writer.out.size; size++)
                run_refuses(&lzw, &format, writer.out.data, size, REFUSED_CODEC);
            free(writer.out.data);
        }
    }
    tz_warnings_deinit(&lzw.bench.warnings);
}

static void case_43_a_good_tile_after_a_bad_one(void **state)
{
    (void)state;
    static uint8_t data[5000];
    make_data(data, sizeof data, 2);
    lzw_writer good = new_writer(false);
    encode(&good, data, sizeof data);
    for (size_t cut = 1; cut < good.out.size; cut += 17) {
        tz_tile_format format = bytes_format(sizeof data);
        run_refuses(&lzw, &format, good.out.data, cut, REFUSED_CODEC);
        check_decodes(&good.out, data, sizeof data);
    }
    bench_silent(&lzw.bench);
    free(good.out.data);
}

static void damage_never_depends_on_what_is_around(void **state)
{
    (void)state;
    static uint8_t data[9000];
    for (unsigned kind = 0; kind < KINDS; kind++) {
        make_data(data, sizeof data, kind);
        lzw_writer writer = new_writer(kind == 3);
        encode(&writer, data, sizeof data);
        tz_tile_format format = bytes_format(sizeof data);
        run_damaged(&lzw, &format, writer.out.data, writer.out.size, 500);
        free(writer.out.data);
    }
    tz_warnings_deinit(&lzw.bench.warnings);
}

static void no_memory_is_asked_for(void **state)
{
    (void)state;
    lzw_writer writer = new_writer(false);
    PUT_CODES(&writer, CLEAR, 'a', 'b', 258, END);
    tz_tile_format format = bytes_format(4);
    assert_int_equal(run_allocations(&lzw, &format, writer.out.data, writer.out.size), 0);
    run_without_memory(&tz_decoder_lzw, &format, writer.out.data, writer.out.size);
    free(writer.out.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_every_size_come_back),
        cmocka_unit_test(large_tiles_come_back),
        cmocka_unit_test(long_strings_come_back),
        cmocka_unit_test(the_longest_string_comes_back),
        cmocka_unit_test(a_clear_may_come_early_or_as_late_as_possible),
        cmocka_unit_test(old_files_come_back),
        cmocka_unit_test(old_files_may_use_a_full_table),
        cmocka_unit_test(streams_of_libtiff_decode),
        cmocka_unit_test(bits_from_the_low_end_are_turned_by_the_caller),
        cmocka_unit_test(a_missing_end_is_a_warning),
        cmocka_unit_test(codes_after_the_tile_are_a_warning),
        cmocka_unit_test(bytes_after_the_end_are_a_warning),
        cmocka_unit_test(a_clear_before_the_end_is_fine),
        cmocka_unit_test(case_43_the_first_code_is_no_clear),
        cmocka_unit_test(case_43_a_string_follows_a_clear),
        cmocka_unit_test(case_43_a_code_that_the_table_does_not_have),
        cmocka_unit_test(case_43_more_codes_than_the_table_holds),
        cmocka_unit_test(case_43_the_end_at_once),
        cmocka_unit_test(case_43_no_data_or_next_to_none),
        cmocka_unit_test(case_43_endless_clears),
        cmocka_unit_test(case_43_a_string_past_the_end_of_the_tile),
        cmocka_unit_test(the_rest_of_the_last_string_is_dropped_with_a_warning),
        cmocka_unit_test(case_43_data_cut_off_anywhere),
        cmocka_unit_test(case_43_a_good_tile_after_a_bad_one),
        cmocka_unit_test(damage_never_depends_on_what_is_around),
        cmocka_unit_test(no_memory_is_asked_for),
    };
    return cmocka_run_group_tests(tests, open_lzw, close_lzw);
}
