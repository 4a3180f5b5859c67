/* SPDX-License-Identifier: Apache-2.0
 * The PackBits kernel beside the codec. */
#include "kernels/packbits.h"
#include "support/codec/encode_run.h"
#include "support/codec/kernel_run.h"

static uint32_t by_item(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                        void *work)
{
    (void)work;
    return tz_packbits_tile(in, in_size, out, size);
}

static uint32_t by_group(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                         void *work)
{
    uint32_t queue[TZ_COPY_QUEUE_WORDS];
    (void)work;
    memset(queue, 0xA5, sizeof queue);
    return tz_packbits_tile_work_group(in, in_size, out, size, queue);
}

static uint32_t decode(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size, void *work)
{
    return kernel_both(by_item, by_group, in, in_size, out, size, work);
}

static int begin(void **state)
{
    kernel_run *run = run_alloc(sizeof *run);
    kernel_open(run, &tz_decoder_packbits, decode, 0);
    *state = run;
    return 0;
}

static int end(void **state)
{
    kernel_close(*state);
    free(*state);
    return 0;
}

static void tiles_of_the_encoder_come_back(void **state)
{
    kernel_takes_all_of(*state, &tz_encoder_packbits);
    kernel_makes(*state, (const uint8_t *)"\x80", 1, NULL, 0);
}

/* A packet of every kind in a tile of every size near its own, with every number of bytes. */
static void every_packet_gets_the_verdict_of_the_codec(void **state)
{
    uint8_t in[140] = {0};
    for (unsigned head = 0; head < 256; head++) {
        size_t count = head < 128 ? head + 1 : head > 128 ? 257 - head : 0;
        size_t stored = head < 128 ? count : head > 128 ? 1 : 0;
        for (size_t i = 0; i < sizeof in; i++)
            in[i] = (uint8_t)(i == 0 ? head : i * 5);
        for (size_t cut = 0; cut <= stored + 2; cut += stored > 9 && cut == 0 ? stored - 2 : 1)
            for (size_t size = count > 1 ? count - 1 : 1; size <= count + 1; size++)
                kernel_agrees(*state, in, cut, size);
    }
}

/* Hostile case 44 ------------------------------------------------------------------------------ */

static void case_44_literals_runs_and_no_ops(void **state)
{
    static const struct {
        const char *in;
        size_t in_size, size;
        uint32_t status;
    } cases[] = {
        {"\3abc", 4, 4, TZ_DECODE_TRUNCATED},         /* a literal past the end of the input */
        {"\3abcd", 5, 3, TZ_DECODE_TOO_LONG},         /* and of the tile */
        {"\xfe", 1, 3, TZ_DECODE_TRUNCATED},          /* a run without its byte */
        {"\x81z", 2, 127, TZ_DECODE_TOO_LONG},        /* and past the end of the tile */
        {"\x80\x80\x80", 3, 1, TZ_DECODE_TRUNCATED},  /* nothing but no-ops */
        {"\x80\xfez\x80\x80", 5, 3, TZ_DECODE_OK},    /* no-ops around */
        {"\xfez\x80\0", 4, 3, TZ_DECODE_BYTES_AFTER}, /* and something after them */
        {"", 0, 1, TZ_DECODE_TRUNCATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(
            kernel_agrees(*state, (const uint8_t *)cases[i].in, cases[i].in_size, cases[i].size),
            cases[i].status);
}

static void case_44_a_bomb(void **state)
{
    uint8_t *in = run_alloc(2000000);
    memset(in, 0x81, 2000000);
    assert_int_equal(kernel_agrees(*state, in, 2000000, 1000), TZ_DECODE_TOO_LONG);
    memset(in, 128, 2000000);
    assert_int_equal(kernel_agrees(*state, in, 2000000, 1000), TZ_DECODE_TRUNCATED);
    free(in);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(tiles_of_the_encoder_come_back),
        TEST(every_packet_gets_the_verdict_of_the_codec),
        TEST(case_44_literals_runs_and_no_ops),
        TEST(case_44_a_bomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
