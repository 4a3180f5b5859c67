/* SPDX-License-Identifier: Apache-2.0
 * Deflate: streams of libdeflate and libtiff, and streams that no encoder writes. */
#include <libdeflate.h>

#include "support/codec/bit_writer.h"
#include "support/codec/codec_run.h"

enum { WIDTH = 300, HEIGHT = 70, SIZE = WIDTH * HEIGHT, ROOM = 2 * SIZE };

typedef struct fixture {
    codec_run run;
    tz_tile_format format;
    uint8_t *pixels;
    uint8_t stream[ROOM];
    size_t size;
} fixture;

static tz_tile_format make_format(uint32_t width, uint32_t height)
{
    return (tz_tile_format){.width = width,
                            .height = height,
                            .samples = 1,
                            .bits = 8,
                            .sample_format = 1,
                            .compression = 8};
}

static size_t compress(int level, const uint8_t *data, size_t size, uint8_t *out, size_t room)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    assert_non_null(compressor);
    size_t stored = libdeflate_zlib_compress(compressor, data, size, out, room);
    assert_true(stored > 0);
    libdeflate_free_compressor(compressor);
    return stored;
}

static int begin(void **state)
{
    fixture *f = run_alloc(sizeof *f);
    run_open(&f->run, &tz_decoder_deflate);
    f->format = make_format(WIDTH, HEIGHT);
    f->pixels = run_picture(WIDTH, HEIGHT, 1);
    f->size = compress(6, f->pixels, SIZE, f->stream, ROOM);
    *state = f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    run_close(&f->run);
    free(f->pixels);
    free(f);
    return 0;
}

static void check_comes_back(fixture *f)
{
    uint8_t *out = run_decode(&f->run, &f->format, f->stream, f->size);
    assert_memory_equal(out, f->pixels, SIZE);
    free(out);
}

#define REFUSES(f, text)                                                                           \
    run_refuses_saying(&(f)->run, &(f)->format, (f)->stream, (f)->size, REFUSED_CODEC, text)

static void tiles_come_back_at_every_level(void **state)
{
    fixture *f = *state;
    for (int level = 0; level <= 12; level++) {
        f->size = compress(level, f->pixels, SIZE, f->stream, ROOM);
        check_comes_back(f);
    }
    bench_silent(&f->run.bench);
}

static void both_numbers_are_served(void **state)
{
    (void)state;
    const tz_decoder *codec = NULL;
    bench b;
    bench_init(&b);
    assert_int_equal(tz_decoder_find(8, &b.ctx, &codec), TZ_OK);
    assert_ptr_equal(codec, &tz_decoder_deflate);
    assert_int_equal(tz_decoder_find(32946, &b.ctx, &codec), TZ_OK);
    assert_ptr_equal(codec, &tz_decoder_deflate);
    bench_deinit(&b);
}

static void tiles_of_other_sizes_follow(void **state)
{
    fixture *f = *state;
    static uint8_t stream[ROOM];
    for (uint32_t width = 1; width < WIDTH; width += 13) {
        tz_tile_format format = make_format(width, 3);
        size_t size = compress(9, f->pixels, 3 * width, stream, ROOM);
        uint8_t *out = run_decode(&f->run, &format, stream, size);
        assert_memory_equal(out, f->pixels, 3 * width);
        free(out);
        check_comes_back(f);
    }
}

static void a_stream_of_libtiff_decodes(void **state)
{
    fixture *f = *state;
    static const uint8_t first[] = {7, 7, 7, 7, 7, 7, 7, 7};
    uint8_t in[64];
    size_t size =
        from_hex("789c6367c7049cfcacdc4c9c0c1c0c1c0c9c4cdcacfc9ccc7c9c2734b5b44fe8eae99f3034"
                 "323e616a667ec2d2cafa84ad9d3d009b700975",
                 in);
    tz_tile_format format = make_format(32, 2);
    uint8_t *out = run_decode(&f->run, &format, in, size);
    assert_memory_equal(out, first, sizeof first);
    assert_int_equal(out[63], 63);
    free(out);
}

/* Hostile case 40 -------------------------------------------------------------------------------
 */

static void case_40_bad_headers(void **state)
{
    fixture *f = *state;
    f->stream[0] = 0x79; /* another method */
    REFUSES(f, "0x799c is not a zlib header");
    f->stream[0] = 0x88; /* a window of 64 KiB */
    f->stream[1] = (uint8_t)(31 - 0x8800 % 31);
    REFUSES(f, "is not a zlib header");
    f->stream[0] = 0x78; /* check bits */
    f->stream[1] = 0x9d;
    REFUSES(f, "0x789d is not a zlib header");
    f->stream[1] = 0x20 + (31 - 0x7820 % 31);
    REFUSES(f, "preset dictionary");
    f->stream[1] = 0x9c;
    check_comes_back(f);
}

static void case_40_streams_cut_off_anywhere(void **state)
{
    fixture *f = *state;
    size_t whole = f->size;
    for (f->size = 0; f->size < whole; f->size++)
        run_refuses(&f->run, &f->format, f->stream, f->size, REFUSED_CODEC);
    for (size_t missing = 1; missing <= 4; missing++) {
        f->size = whole - missing;
        REFUSES(f, "ends in its checksum");
    }
    f->size = 5;
    REFUSES(f, "too few bytes for a zlib header and checksum");
    f->size = whole;
    check_comes_back(f);
}

static void case_40_a_wrong_checksum(void **state)
{
    fixture *f = *state;
    for (unsigned i = 1; i <= 4; i++) {
        f->stream[f->size - i] ^= 0x10;
        REFUSES(f, "Adler-32");
        f->stream[f->size - i] ^= 0x10;
    }
}

static void case_40_a_bomb(void **state)
{
    fixture *f = *state;
    size_t huge = 10000000;
    uint8_t *zeros = calloc(huge, 1);
    assert_non_null(zeros);
    f->size = compress(9, zeros, huge, f->stream, ROOM);
    assert_true(f->size < huge / 500);
    REFUSES(f, "makes more than the 21000 bytes of the tile");
    free(zeros);
}

static void case_40_a_byte_too_few_or_too_many(void **state)
{
    fixture *f = *state;
    f->size = compress(6, f->pixels, SIZE - 1, f->stream, ROOM);
    REFUSES(f, "(expected 21000, found 20999)");
    uint8_t *more = run_picture(SIZE + 1, 1, 1);
    f->size = compress(6, more, SIZE + 1, f->stream, ROOM);
    REFUSES(f, "makes more than the 21000 bytes");
    free(more);
}

static void case_40_bytes_after_the_stream(void **state)
{
    fixture *f = *state;
    memset(f->stream + f->size, 0x78, 100);
    f->size += 100;
    uint8_t *out = run_warns(&f->run, &f->format, f->stream, f->size, "bytes after the end");
    assert_memory_equal(out, f->pixels, SIZE);
    free(out);
}

/* Hostile case 41 -------------------------------------------------------------------------------
 */

/* A zlib stream of one block, with room for a checksum that is never reached. */
static void check_block(fixture *f, bit_writer *block)
{
    f->stream[0] = 0x78;
    f->stream[1] = 0x9c;
    for (unsigned i = 0; i < 100; i++)
        put_bits(block, 0xAAAA, 16);
    memcpy(f->stream + 2, block->data, block->size);
    f->size = block->size + 2;
    free(block->data);
    REFUSES(f, "Deflate data is damaged or ends too early");
}

/* A block with codes of its own, whose code for code lengths has these lengths. */
static bit_writer dynamic_block(const unsigned *lengths, unsigned count)
{
    bit_writer block = {.low_first = true};
    put_bits(&block, 1, 1);
    put_bits(&block, 2, 2);
    put_bits(&block, 0, 5);
    put_bits(&block, 0, 5);
    put_bits(&block, count - 4, 4);
    for (unsigned i = 0; i < count; i++)
        put_bits(&block, lengths[i], 3);
    return block;
}

static void case_41_codes_that_are_too_many_or_too_few(void **state)
{
    fixture *f = *state;
    static const unsigned too_many[19] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const unsigned too_few[19] = {3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    bit_writer block = dynamic_block(too_many, 19);
    check_block(f, &block);
    block = dynamic_block(too_few, 19);
    check_block(f, &block);
}

static void case_41_a_distance_beyond_the_start(void **state)
{
    fixture *f = *state;
    bit_writer block = {.low_first = true};
    put_bits(&block, 1, 1);
    put_bits(&block, 1, 2);
    for (int i = 7; i >= 0; i--)
        put_bit(&block, (0x30u + 'a') >> i);
    for (int i = 6; i >= 0; i--)
        put_bit(&block, 1u >> i); /* three bytes ... */
    for (int i = 4; i >= 0; i--)
        put_bit(&block, 1u >> i); /* ... from two before */
    check_block(f, &block);
}

static void case_41_a_block_of_the_reserved_kind(void **state)
{
    fixture *f = *state;
    bit_writer block = {.low_first = true};
    put_bits(&block, 7, 3);
    check_block(f, &block);
}

static void damage_never_depends_on_what_is_around(void **state)
{
    fixture *f = *state;
    assert_int_equal(run_damaged(&f->run, &f->format, f->stream, f->size, 3000), 0);
    check_comes_back(f);
    assert_int_equal(run_allocations(&f->run, &f->format, f->stream, f->size), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(tiles_come_back_at_every_level),
        TEST(both_numbers_are_served),
        TEST(tiles_of_other_sizes_follow),
        TEST(a_stream_of_libtiff_decodes),
        TEST(case_40_bad_headers),
        TEST(case_40_streams_cut_off_anywhere),
        TEST(case_40_a_wrong_checksum),
        TEST(case_40_a_bomb),
        TEST(case_40_a_byte_too_few_or_too_many),
        TEST(case_40_bytes_after_the_stream),
        TEST(case_41_codes_that_are_too_many_or_too_few),
        TEST(case_41_a_distance_beyond_the_start),
        TEST(case_41_a_block_of_the_reserved_kind),
        TEST(damage_never_depends_on_what_is_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
