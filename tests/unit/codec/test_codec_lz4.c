/* SPDX-License-Identifier: Apache-2.0
 * LZ4: frames of liblz4 of every kind, the one that xarray-spatial writes, and broken ones. */
#include <lz4.h>
#include <lz4frame.h>

#include "support/codec/bit_writer.h"
#include "support/codec/codec_run.h"

enum { WIDTH = 700, HEIGHT = 400, SIZE = WIDTH * HEIGHT, ROOM = 2 * SIZE };

typedef struct fixture {
    codec_run run;
    tz_tile_format format;
    uint8_t *pixels;
    uint8_t stream[ROOM];
    size_t size;
} fixture;

static int begin(void **state)
{
    fixture *f = run_alloc(sizeof *f);
    run_open(&f->run, &tz_decoder_lz4);
    f->format = (tz_tile_format){.width = WIDTH,
                                 .height = HEIGHT,
                                 .samples = 1,
                                 .bits = 8,
                                 .sample_format = 1,
                                 .compression = 50004};
    f->pixels = run_picture(WIDTH, HEIGHT, 1);
    /* The lower half is noise, which is stored as it is; some of the upper half repeats. */
    uint32_t random = 3;
    for (size_t i = SIZE / 2; i < SIZE; i++) {
        random = random * 1664525u + 1013904223u;
        f->pixels[i] = (uint8_t)(random >> 24);
    }
    for (size_t i = 70000; i < 100000; i++)
        f->pixels[i] = f->pixels[i - 60000];
    f->size = 0;
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

/* Bits of a kind of frame. */
enum { LINKED = 1, BLOCK_CHECKSUMS = 2, CONTENT_CHECKSUM = 4, CONTENT_SIZE = 8, KINDS = 16 };

static void add_frame(fixture *f, const uint8_t *data, size_t size, unsigned kind,
                      unsigned block_size)
{
    LZ4F_preferences_t options = {0};
    options.frameInfo.blockSizeID = (LZ4F_blockSizeID_t)block_size;
    options.frameInfo.blockMode = kind & LINKED ? LZ4F_blockLinked : LZ4F_blockIndependent;
    options.frameInfo.blockChecksumFlag =
        kind & BLOCK_CHECKSUMS ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
    options.frameInfo.contentChecksumFlag =
        kind & CONTENT_CHECKSUM ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
    options.frameInfo.contentSize = kind & CONTENT_SIZE ? size : 0;
    size_t stored = LZ4F_compressFrame(f->stream + f->size, ROOM - f->size, data, size, &options);
    assert_false(LZ4F_isError(stored));
    f->size += stored;
}

static void check_comes_back(fixture *f)
{
    uint8_t *out = run_decode(&f->run, &f->format, f->stream, f->size);
    assert_memory_equal(out, f->pixels, SIZE);
    free(out);
}

#define REFUSES(f, text)                                                                           \
    run_refuses_saying(&(f)->run, &(f)->format, (f)->stream, (f)->size, REFUSED_CODEC, text)

static void frames_of_every_kind_come_back(void **state)
{
    fixture *f = *state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        for (unsigned block_size = 4; block_size <= 7; block_size++) {
            f->size = 0;
            add_frame(f, f->pixels, SIZE, kind, block_size);
            check_comes_back(f);
        }
    }
    bench_silent(&f->run.bench);
}

static void checksums_of_every_length_are_right(void **state)
{
    fixture *f = *state;
    for (uint32_t size = 1; size < 100; size++) {
        f->size = 0;
        f->format.width = size;
        f->format.height = 1;
        add_frame(f, f->pixels, size, KINDS - 1, 4);
        uint8_t *out = run_decode(&f->run, &f->format, f->stream, f->size);
        assert_memory_equal(out, f->pixels, size);
        free(out);
    }
}

static void frames_may_follow_each_other(void **state)
{
    fixture *f = *state;
    f->size += from_hex("532a4d1803000000aabbcc", f->stream);
    for (size_t i = 0; i < 4; i++)
        add_frame(f, f->pixels + i * (SIZE / 4), SIZE / 4, (unsigned)(KINDS - 1 - i), 4);
    add_frame(f, f->pixels, 0, CONTENT_CHECKSUM, 4);
    check_comes_back(f);
    bench_silent(&f->run.bench);
}

static void a_frame_of_xarray_spatial_decodes(void **state)
{
    fixture *f = *state;
    f->size =
        from_hex("04224d18684040000000000000005c330000001f07010000f01d090f050b020900080008000902"
                 "0b050f09030e09c8292a2bc82d2e2fc8313233c8353637c8393a3bc83d3e3f00000000",
                 f->stream);
    f->format.width = 32;
    f->format.height = 2;
    uint8_t *out = run_decode(&f->run, &f->format, f->stream, f->size);
    assert_int_equal(out[19], 7);
    assert_int_equal(out[63], 63);
    free(out);
    bench_silent(&f->run.bench);
}

static void bytes_after_the_frames_are_a_warning(void **state)
{
    fixture *f = *state;
    static const char *const tails[] = {"00", "04224d", "deadbeef00", "502a4d1805000000ab"};
    add_frame(f, f->pixels, SIZE, 0, 4);
    size_t size = f->size;
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        f->size = size + from_hex(tails[i], f->stream + size);
        free(run_warns(&f->run, &f->format, f->stream, f->size, "bytes after the end"));
    }
}

/* Broken ones ---------------------------------------------------------------------------------- */

static void a_bare_block_is_refused(void **state)
{
    fixture *f = *state;
    int stored = LZ4_compress_default((const char *)f->pixels, (char *)f->stream, SIZE, ROOM);
    assert_true(stored > 0);
    f->size = (size_t)stored;
    REFUSES(f, "does not begin with an LZ4 frame");
    f->size = 0;
    REFUSES(f, "does not begin with an LZ4 frame");
}

static void headers_with_other_bits_are_refused(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE, CONTENT_SIZE, 4);
    for (unsigned bit = 0; bit < 8 * 15; bit++) { /* the header's 15 bytes */
        f->stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
        run_refuses(&f->run, &f->format, f->stream, f->size, REFUSED_CODEC);
        f->stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    check_comes_back(f);
}

static void headers_of_another_kind_are_refused(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *hex, *text;
    } headers[] = {
        {"04224d1820408d", "unknown kind"},    /* version 0 */
        {"04224d186240c1", "unknown kind"},    /* a reserved bit */
        {"04224d18603000", "header is wrong"}, /* its checksum is not 0 */
        {"04224d186140785634120000", "needs dictionary"},
    };
    for (size_t i = 0; i < 4; i++) {
        f->size = from_hex(headers[i].hex, f->stream);
        if (i != 2) { /* the right checksum: try them all */
            size_t at = i == 3 ? 10 : 6;
            for (unsigned guess = 0; guess < 256; guess++) {
                f->stream[at] = (uint8_t)guess;
                uint8_t *out;
                run_once(&f->run, &f->format, f->stream, f->size, WIDTH, 1, &out);
                free(out);
                if (!strstr(f->run.bench.err.message, "header is wrong"))
                    break;
            }
        }
        REFUSES(f, headers[i].text);
    }
}

static void lies_about_the_size_are_refused(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE - 1, 0, 4);
    REFUSES(f, "(expected 280000, found 279999)");
    f->size = 0;
    uint8_t *more = run_picture(SIZE + 1, 1, 1);
    add_frame(f, more, SIZE + 1, 0, 4);
    REFUSES(f, "more than the 280000 bytes");
    f->size = 0;
    add_frame(f, more, SIZE + 1, CONTENT_SIZE, 4);
    REFUSES(f, "says it makes more than the tile needs (expected 280000, found 280001)");
    free(more);
    /* A true size in the header, and blocks that make less: the end mark moved forward. */
    f->size = 0;
    add_frame(f, f->pixels, SIZE, CONTENT_SIZE, 4);
    memset(f->stream + 15, 0, 4);
    REFUSES(f, "does not make what it says (expected 280000, found 0)");
}

static void wrong_checksums_are_refused(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE, CONTENT_CHECKSUM, 4);
    f->stream[f->size - 1] ^= 1;
    REFUSES(f, "checksum of the decoded LZ4 data is wrong");
    f->size = 0;
    add_frame(f, f->pixels, SIZE, BLOCK_CHECKSUMS, 4);
    f->stream[100] ^= 1;
    REFUSES(f, "checksum of an LZ4 block is wrong");
}

static void a_block_that_is_too_large_is_refused(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE, 0, 4);
    f->stream[9] = 1; /* 65,537 bytes and more */
    REFUSES(f, "an LZ4 block is too large");
    f->stream[10] = 0xff;
    REFUSES(f, "an LZ4 block is too large");
}

static void frames_cut_off_anywhere_are_refused(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE, KINDS - 1, 4);
    size_t whole = f->size;
    for (f->size = 0; f->size < whole; f->size += f->size < 300 || f->size + 300 > whole ? 1 : 1009)
        run_refuses(&f->run, &f->format, f->stream, f->size, REFUSED_CODEC);
    f->size = whole;
    check_comes_back(f);
}

static void a_bomb_is_refused(void **state)
{
    fixture *f = *state;
    size_t huge = 50000000;
    uint8_t *zeros = calloc(huge, 1);
    assert_non_null(zeros);
    uint8_t *stored = run_alloc(LZ4F_compressFrameBound(huge, NULL));
    size_t size =
        LZ4F_compressFrame(stored, LZ4F_compressFrameBound(huge, NULL), zeros, huge, NULL);
    assert_true(size < huge / 200);
    run_refuses_saying(&f->run, &f->format, stored, size, REFUSED_CODEC,
                       "more than the 280000 bytes of the tile");
    free(stored);
    free(zeros);
}

static void a_block_may_not_look_back_past_its_frame(void **state)
{
    fixture *f = *state;
    /* "abcd" stored in a frame, then a block of 4 bytes copied from 4 before: linked to a block of
     * its own frame it decodes, in a frame of its own it does not. */
    static const char header[] = "04224d184040c0";
    static const char stored[] = "0400008061626364";
    static const char copy[] = "0c000000000400806566676865666768"; /* 4 copied, 8 as they are */
    f->format.width = 16;
    f->format.height = 1;
    f->size = from_hex(header, f->stream);
    f->size += from_hex(stored, f->stream + f->size);
    f->size += from_hex(copy, f->stream + f->size);
    f->size += from_hex("00000000", f->stream + f->size);
    uint8_t *out = run_decode(&f->run, &f->format, f->stream, f->size);
    assert_memory_equal(out, "abcdabcdefghefgh", 16);
    free(out);
    f->size = from_hex(header, f->stream);
    f->size += from_hex(stored, f->stream + f->size);
    f->size += from_hex("00000000", f->stream + f->size);
    f->size += from_hex(header, f->stream + f->size);
    f->size += from_hex(copy, f->stream + f->size);
    f->size += from_hex("00000000", f->stream + f->size);
    REFUSES(f, "LZ4 data is damaged");
}

static void damage_never_depends_on_what_is_around(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE, LINKED, 4);
    run_damaged(&f->run, &f->format, f->stream, f->size, 500);
    tz_warnings_deinit(&f->run.bench.warnings);
    f->size = 0;
    add_frame(f, f->pixels, SIZE, LINKED | CONTENT_CHECKSUM, 4);
    assert_int_equal(run_damaged(&f->run, &f->format, f->stream, f->size, 500), 0);
    check_comes_back(f);
    assert_int_equal(run_allocations(&f->run, &f->format, f->stream, f->size), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(frames_of_every_kind_come_back),
        TEST(checksums_of_every_length_are_right),
        TEST(frames_may_follow_each_other),
        TEST(a_frame_of_xarray_spatial_decodes),
        TEST(bytes_after_the_frames_are_a_warning),
        TEST(a_bare_block_is_refused),
        TEST(headers_with_other_bits_are_refused),
        TEST(headers_of_another_kind_are_refused),
        TEST(lies_about_the_size_are_refused),
        TEST(wrong_checksums_are_refused),
        TEST(a_block_that_is_too_large_is_refused),
        TEST(frames_cut_off_anywhere_are_refused),
        TEST(a_bomb_is_refused),
        TEST(a_block_may_not_look_back_past_its_frame),
        TEST(damage_never_depends_on_what_is_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
