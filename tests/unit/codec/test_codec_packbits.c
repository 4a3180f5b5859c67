/* SPDX-License-Identifier: Apache-2.0
 * PackBits: an encoder of the simplest kind, streams of other programs, and streams that no encoder
 * writes. */
#include "support/codec/bit_writer.h"
#include "support/codec/codec_run.h"

static codec_run packbits;

static int open_packbits(void **state)
{
    (void)state;
    run_open(&packbits, &tz_decoder_packbits);
    return 0;
}

static int close_packbits(void **state)
{
    (void)state;
    run_close(&packbits);
    return 0;
}

static tz_tile_format rows_format(size_t width, size_t height)
{
    return (tz_tile_format){.width = (uint32_t)width,
                            .height = (uint32_t)height,
                            .samples = 1,
                            .bits = 8,
                            .sample_format = 1,
                            .compression = 32773};
}

/* Literals and runs of at most longest bytes; a no-op now and then. Returns the stored size. */
static size_t encode(const uint8_t *data, size_t size, size_t longest, uint8_t *out)
{
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        size_t run = 1;
        while (at + run < size && run < longest && data[at + run] == data[at])
            run++;
        if (at % 5 == 3)
            out[used++] = 128;
        if (run > 1) {
            out[used++] = (uint8_t)(257 - run);
            out[used++] = data[at];
        } else {
            while (at + run < size && run < longest && data[at + run] != data[at + run - 1])
                run++;
            out[used++] = (uint8_t)(run - 1);
            memcpy(out + used, data + at, run);
            used += run;
        }
        at += run;
    }
    return used;
}

static void make_data(uint8_t *data, size_t size, unsigned change)
{
    uint32_t random = 5;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525u + 1013904223u;
        bool changes = i == 0 || (random >> 16 & 255) < change;
        data[i] = changes ? (uint8_t)(random >> 24) : data[i - 1];
    }
}

static void tiles_of_every_size_come_back(void **state)
{
    (void)state;
    static uint8_t data[700], in[3 * sizeof data];
    static const unsigned changes[] = {2, 40, 128, 256};
    for (size_t kind = 0; kind < 4; kind++) {
        make_data(data, sizeof data, changes[kind]);
        for (size_t size = 1; size <= sizeof data; size++) {
            tz_tile_format format = rows_format(size, 1);
            size_t stored = encode(data, size, 128 - size % 3, in);
            uint8_t *out = run_decode(&packbits, &format, in, stored);
            assert_memory_equal(out, data, size);
            free(out);
        }
    }
    bench_silent(&packbits.bench);
}

static void packets_may_cross_rows(void **state)
{
    (void)state;
    static uint8_t data[97 * 1031], in[3 * sizeof data];
    for (unsigned change = 1; change <= 256; change *= 4) {
        make_data(data, sizeof data, change);
        tz_tile_format format = rows_format(97, 1031);
        size_t stored = encode(data, sizeof data, 128, in);
        uint8_t *out = run_decode(&packbits, &format, in, stored);
        assert_memory_equal(out, data, sizeof data);
        free(out);
    }
    bench_silent(&packbits.bench);
}

/* Rows of every size, packets that end with them or cross several: run_decode looks between the
 * rows. */
static void rows_may_be_apart(void **state)
{
    (void)state;
    assert_true(tz_decoder_packbits.flags & TZ_DECODER_ANY_STRIDE);
    static uint8_t data[11 * 400], in[3 * sizeof data];
    for (size_t width = 1; width <= 400; width += width < 140 ? 1 : 13) {
        make_data(data, 11 * width, width % 2 ? 30 : 200);
        tz_tile_format format = rows_format(width, 11);
        size_t stored = encode(data, 11 * width, 128, in);
        uint8_t *out = run_decode(&packbits, &format, in, stored);
        assert_memory_equal(out, data, 11 * width);
        free(out);
        stored = 0;
        for (size_t row = 0; row < 11; row++)
            stored += encode(data + row * width, width, 128, in + stored);
        out = run_decode(&packbits, &format, in, stored);
        assert_memory_equal(out, data, 11 * width);
        free(out);
    }
    bench_silent(&packbits.bench);
}

static void every_packet_there_is_comes_back(void **state)
{
    (void)state;
    static uint8_t in[40000], expected[40000];
    size_t stored = 0, size = 0;
    for (unsigned head = 0; head < 256; head++) {
        in[stored++] = (uint8_t)head;
        for (unsigned i = 0; head < 128 && i <= head; i++)
            in[stored++] = expected[size++] = (uint8_t)(head + i);
        if (head > 128)
            in[stored++] = (uint8_t)head;
        for (unsigned i = 0; head > 128 && i < 257 - head; i++)
            expected[size++] = (uint8_t)head;
    }
    tz_tile_format format = rows_format(size, 1);
    uint8_t *out = run_decode(&packbits, &format, in, stored);
    assert_memory_equal(out, expected, size);
    free(out);
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
    size_t size =
        from_hex("ed070b090f050b02090008000800091f020b050f09030e09c8292a2bc82d2e2fc8313233"
                 "c8353637c8393a3bc83d3e3f",
                 in);
    tz_tile_format format = rows_format(32, 2);
    uint8_t *out = run_decode(&packbits, &format, in, size);
    assert_memory_equal(out, expected, sizeof expected);
    free(out);
    bench_silent(&packbits.bench);
}

static void bytes_after_the_tile_are_a_warning(void **state)
{
    (void)state;
    static const uint8_t in[] = {2, 'a', 'b', 'c', 128, 128, 0, 'd'};
    tz_tile_format format = rows_format(3, 1);
    uint8_t *out = run_warns(&packbits, &format, in, sizeof in, "bytes after the end");
    assert_memory_equal(out, "abc", 3);
    free(out);
    free(run_decode(&packbits, &format, in, 6)); /* no-ops are none */
    bench_silent(&packbits.bench);
}

/* Hostile case 44 -------------------------------------------------------------------------------
 */

static void case_44_a_literal_past_the_end_of_the_input(void **state)
{
    (void)state;
    static uint8_t in[129] = {127};
    tz_tile_format format = rows_format(128, 1);
    for (size_t size = 1; size < 129; size++)
        run_refuses_saying(&packbits, &format, in, size, REFUSED_CODEC, "ends inside a packet");
    in[0] = 129;
    run_refuses_saying(&packbits, &format, in, 1, REFUSED_CODEC, "ends inside a packet");
    run_refuses_saying(&packbits, &format, in, 0, REFUSED_CODEC, "(expected 128, found 0)");
}

static void case_44_a_packet_past_the_end_of_the_tile(void **state)
{
    (void)state;
    static uint8_t in[300];
    for (size_t size = 1; size < 128; size++) {
        tz_tile_format format = rows_format(size, 1);
        in[0] = (uint8_t)size; /* size + 1 bytes */
        run_refuses_saying(&packbits, &format, in, sizeof in, REFUSED_CODEC, "past the end");
        in[0] = (uint8_t)(256 - size);
        run_refuses_saying(&packbits, &format, in, 2, REFUSED_CODEC, "past the end");
    }
}

static void case_44_a_bomb(void **state)
{
    (void)state;
    size_t size = 2000000;
    uint8_t *in = run_alloc(size);
    for (size_t i = 0; i < size; i++)
        in[i] = i % 2 ? 0 : 129; /* 128 bytes from 2 */
    tz_tile_format format = rows_format(64, 64);
    uint8_t *out = run_warns(&packbits, &format, in, size, "bytes after the end");
    free(out);
    format.width = 1000; /* 64,000 is a multiple of 128 as well; this is not */
    format.height = 1001;
    run_refuses_saying(&packbits, &format, in, size, REFUSED_CODEC, "past the end");
    free(in);
}

static void case_44_nothing_but_no_ops(void **state)
{
    (void)state;
    size_t size = 1000000;
    uint8_t *in = run_alloc(size);
    memset(in, 128, size);
    tz_tile_format format = rows_format(1000, 1);
    run_refuses_saying(&packbits, &format, in, size, REFUSED_CODEC, "(expected 1000, found 0)");
    free(in);
}

static void damage_never_depends_on_what_is_around(void **state)
{
    (void)state;
    static uint8_t data[5000], in[3 * sizeof data];
    tz_tile_format format = rows_format(50, 100);
    for (unsigned change = 4; change <= 256; change *= 4) {
        make_data(data, sizeof data, change);
        size_t stored = encode(data, sizeof data, 128, in);
        run_damaged(&packbits, &format, in, stored, 1000);
        for (size_t size = 0; size < stored; size++)
            if (in[size] != 128)
                run_refuses(&packbits, &format, in, size, REFUSED_CODEC);
    }
    tz_warnings_deinit(&packbits.bench.warnings);
}

static void no_memory_is_asked_for(void **state)
{
    (void)state;
    static const uint8_t in[] = {2, 'a', 'b', 'c'};
    tz_tile_format format = rows_format(3, 1);
    assert_int_equal(tz_decoder_packbits.state_size, 0);
    assert_int_equal(run_allocations(&packbits, &format, in, sizeof in), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_every_size_come_back),
        cmocka_unit_test(packets_may_cross_rows),
        cmocka_unit_test(rows_may_be_apart),
        cmocka_unit_test(every_packet_there_is_comes_back),
        cmocka_unit_test(streams_of_libtiff_decode),
        cmocka_unit_test(bytes_after_the_tile_are_a_warning),
        cmocka_unit_test(case_44_a_literal_past_the_end_of_the_input),
        cmocka_unit_test(case_44_a_packet_past_the_end_of_the_tile),
        cmocka_unit_test(case_44_a_bomb),
        cmocka_unit_test(case_44_nothing_but_no_ops),
        cmocka_unit_test(damage_never_depends_on_what_is_around),
        cmocka_unit_test(no_memory_is_asked_for),
    };
    return cmocka_run_group_tests(tests, open_packbits, close_packbits);
}
