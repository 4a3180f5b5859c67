/* SPDX-License-Identifier: Apache-2.0
 * LZMA: .xz streams of liblzma and libtiff, and what hostile files make of them. */
#include <lzma.h>

#include "support/codec/bit_writer.h"
#include "support/codec/codec_run.h"

enum { WIDTH = 300, HEIGHT = 70, SIZE = WIDTH * HEIGHT, ROOM = 2 * SIZE };
enum { HEADER = 12 }; /* of a stream; its first block follows */

typedef struct fixture {
    codec_run run;
    tz_tile_format format;
    uint8_t *pixels;
    uint8_t stream[ROOM];
    size_t size;
} fixture;

static void compress(fixture *f, size_t size, uint32_t preset, lzma_check check)
{
    f->size = 0;
    assert_int_equal(
        lzma_easy_buffer_encode(preset, check, NULL, f->pixels, size, f->stream, &f->size, ROOM),
        LZMA_OK);
}

static int begin(void **state)
{
    fixture *f = run_alloc(sizeof *f);
    run_open(&f->run, &tz_decoder_lzma);
    f->format = (tz_tile_format){.width = WIDTH,
                                 .height = HEIGHT,
                                 .samples = 1,
                                 .bits = 8,
                                 .sample_format = 1,
                                 .compression = 34925};
    f->pixels = run_picture(WIDTH, HEIGHT + 1, 1);
    compress(f, SIZE, 0, LZMA_CHECK_CRC32);
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

/* Writes another dictionary size into the header of the first block. */
static void set_dictionary(fixture *f, uint8_t code)
{
    uint8_t *header = f->stream + HEADER;
    size_t size = (header[0] + 1u) * 4;
    size_t at = 2;
    while (header[at] != 0x21 || header[at + 1] != 1) /* LZMA2, one byte of properties */
        at++;
    header[at + 2] = code;
    uint32_t crc = lzma_crc32(header, size - 4, 0);
    for (size_t i = 0; i < 4; i++)
        header[size - 4 + i] = (uint8_t)(crc >> 8 * i);
}

static void tiles_come_back_with_every_preset_and_check(void **state)
{
    fixture *f = *state;
    static const lzma_check checks[] = {LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_CRC64,
                                        LZMA_CHECK_SHA256};
    for (uint32_t preset = 0; preset <= 6; preset++) {
        compress(f, SIZE, preset, checks[preset % 4]);
        check_comes_back(f);
    }
    bench_silent(&f->run.bench);
}

static void filters_that_libtiff_uses_decode(void **state)
{
    fixture *f = *state;
    lzma_options_delta delta = {.type = LZMA_DELTA_TYPE_BYTE, .dist = 2};
    lzma_options_lzma options;
    assert_false(lzma_lzma_preset(&options, 4));
    lzma_filter filters[] = {
        {LZMA_FILTER_DELTA, &delta}, {LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    f->size = 0;
    assert_int_equal(lzma_stream_buffer_encode(filters, LZMA_CHECK_NONE, NULL, f->pixels, SIZE,
                                               f->stream, &f->size, ROOM),
                     LZMA_OK);
    check_comes_back(f);
}

static void a_stream_of_libtiff_decodes(void **state)
{
    fixture *f = *state;
    uint8_t in[128];
    size_t size =
        from_hex("fd377a585a000000ff12d94102010301002101167920c4eee0003f00305d000380361a7057"
                 "537ceb85a3acd4a006a306fdc245e75d899d448e5b851762b6e9c16342a52ea4e6b405e127"
                 "aaca2229f40000014440ba7e4fc206729e7a010000000000595a",
                 in);
    f->format.width = 32;
    f->format.height = 2;
    uint8_t *out = run_decode(&f->run, &f->format, in, size);
    assert_int_equal(out[19], 7);
    assert_int_equal(out[63], 63);
    free(out);
}

static void bytes_after_the_stream_are_a_warning(void **state)
{
    fixture *f = *state;
    memset(f->stream + f->size, 0, 8);
    f->size += 8;
    uint8_t *out = run_warns(&f->run, &f->format, f->stream, f->size, "bytes after the end");
    assert_memory_equal(out, f->pixels, SIZE);
    free(out);
}

static void memory_is_kept_between_tiles(void **state)
{
    fixture *f = *state;
    assert_int_equal(run_allocations(&f->run, &f->format, f->stream, f->size), 0);
    /* Streams of another kind replace what was kept: it never adds up. */
    alloc_hook_install();
    int64_t held = 0;
    for (uint8_t round = 0; round < 20; round++) {
        set_dictionary(f, (uint8_t)(12 + round % 2)); /* 256 and 384 KiB */
        check_comes_back(f);
        int64_t live = alloc_hook_stats().live_bytes;
        held = live > held ? live : held;
    }
    alloc_hook_remove();
    assert_true(held < 600 * 1024);
}

static void memory_may_run_out(void **state)
{
    fixture *f = *state;
    run_without_memory(&tz_decoder_lzma, &f->format, f->stream, f->size);
}

/* Hostile case 45 -------------------------------------------------------------------------------
 */

static void case_45_a_dictionary_of_4_gib(void **state)
{
    fixture *f = *state;
    set_dictionary(f, 40);
    alloc_hook_install();
    run_refuses_saying(&f->run, &f->format, f->stream, f->size, REFUSED_LIMIT, "max_codec_bytes");
    int64_t peak = alloc_hook_stats().peak_bytes;
    alloc_hook_remove();
    assert_true(peak < 1 << 20);
    assert_string_equal(f->run.bench.err.limit, "max_codec_bytes");
    set_dictionary(f, 12);
    check_comes_back(f);
}

static void case_45_what_xz_preset_9_makes_is_within_the_default_limit(void **state)
{
    fixture *f = *state;
    set_dictionary(f, 28); /* 64 MiB: a little more in all */
    check_comes_back(f);
    f->run.bench.limits.max_codec_bytes = UINT64_C(64) << 20;
    run_refuses(&f->run, &f->format, f->stream, f->size, REFUSED_LIMIT);
}

static void case_45_the_limit_can_be_raised(void **state)
{
    fixture *f = *state;
    set_dictionary(f, 30); /* 128 MiB */
    run_refuses(&f->run, &f->format, f->stream, f->size, REFUSED_LIMIT);
    f->run.bench.limits.max_codec_bytes = UINT64_C(130) << 20;
    check_comes_back(f);
}

static void case_45_streams_cut_off_anywhere(void **state)
{
    fixture *f = *state;
    size_t whole = f->size;
    for (f->size = 0; f->size < whole; f->size += f->size < 100 || f->size + 100 > whole ? 1 : 97)
        run_refuses(&f->run, &f->format, f->stream, f->size, REFUSED_CODEC);
    f->size = whole;
    check_comes_back(f);
}

static void case_45_no_xz_stream(void **state)
{
    fixture *f = *state;
    f->stream[0] ^= 1;
    REFUSES(f, "does not begin with an .xz header");
}

static void case_45_too_few_or_too_many_bytes(void **state)
{
    fixture *f = *state;
    compress(f, SIZE - 1, 0, LZMA_CHECK_CRC32);
    REFUSES(f, "(expected 21000, found 20999)");
    compress(f, SIZE + 1, 0, LZMA_CHECK_CRC32);
    REFUSES(f, "makes more than the 21000 bytes of the tile");
}

static void case_45_an_unknown_filter(void **state)
{
    fixture *f = *state;
    uint8_t *header = f->stream + HEADER;
    size_t size = (header[0] + 1u) * 4;
    size_t at = 2;
    while (header[at] != 0x21)
        at++;
    header[at] = 0x22;
    uint32_t crc = lzma_crc32(header, size - 4, 0);
    for (size_t i = 0; i < 4; i++)
        header[size - 4 + i] = (uint8_t)(crc >> 8 * i);
    run_refuses_saying(&f->run, &f->format, f->stream, f->size, REFUSED_UNSUPPORTED, "filter");
}

static void damage_never_depends_on_what_is_around(void **state)
{
    fixture *f = *state;
    assert_int_equal(run_damaged(&f->run, &f->format, f->stream, f->size, 400), 0);
    check_comes_back(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(tiles_come_back_with_every_preset_and_check),
        TEST(filters_that_libtiff_uses_decode),
        TEST(a_stream_of_libtiff_decodes),
        TEST(bytes_after_the_stream_are_a_warning),
        TEST(memory_is_kept_between_tiles),
        TEST(memory_may_run_out),
        TEST(case_45_a_dictionary_of_4_gib),
        TEST(case_45_what_xz_preset_9_makes_is_within_the_default_limit),
        TEST(case_45_the_limit_can_be_raised),
        TEST(case_45_streams_cut_off_anywhere),
        TEST(case_45_no_xz_stream),
        TEST(case_45_too_few_or_too_many_bytes),
        TEST(case_45_an_unknown_filter),
        TEST(damage_never_depends_on_what_is_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
