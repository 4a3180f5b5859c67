/* SPDX-License-Identifier: Apache-2.0
 * Zstandard: frames of libzstd, frames made by hand, and what is not a frame at all. */
#include <zstd.h>

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
                            .compression = 50000};
}

static int begin(void **state)
{
    fixture *f = run_alloc(sizeof *f);
    run_open(&f->run, &tz_decoder_zstd);
    f->format = make_format(WIDTH, HEIGHT);
    f->pixels = run_picture(WIDTH, HEIGHT, 1);
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

/* Frames --------------------------------------------------------------------------------------- */

/* Appends a frame by libzstd. */
static void add_frame(fixture *f, const uint8_t *data, size_t size, int level, bool checksum,
                      bool content_size)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_non_null(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, content_size);
    size_t stored = ZSTD_compress2(context, f->stream + f->size, ROOM - f->size, data, size);
    assert_false(ZSTD_isError(stored));
    f->size += stored;
    ZSTD_freeCCtx(context);
}

static void add_bytes(fixture *f, const char *hex)
{
    f->size += from_hex(hex, f->stream + f->size);
}

/* Appends blocks of the data as they are, and marks the last one. */
static void add_raw_block(fixture *f, const uint8_t *data, size_t size)
{
    uint32_t header = (uint32_t)size << 3 | 1;
    for (int i = 0; i < 3; i++)
        f->stream[f->size++] = (uint8_t)(header >> 8 * i);
    memcpy(f->stream + f->size, data, size);
    f->size += size;
}

static void add_skippable(fixture *f, unsigned magic, uint32_t size)
{
    uint32_t words[2] = {0x184D2A50 + magic, size};
    for (int i = 0; i < 8; i++)
        f->stream[f->size++] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
    for (uint32_t i = 0; i < size && i < 50; i++)
        f->stream[f->size++] = 0x28;
}

static void check_comes_back(fixture *f)
{
    uint8_t *out = run_decode(&f->run, &f->format, f->stream, f->size);
    assert_memory_equal(out, f->pixels, SIZE);
    free(out);
}

#define REFUSES(f, text)                                                                           \
    run_refuses_saying(&(f)->run, &(f)->format, (f)->stream, (f)->size, REFUSED_CODEC, text)

/* Valid streams -------------------------------------------------------------------------------
 */

static void tiles_come_back_at_every_level(void **state)
{
    fixture *f = *state;
    for (int level = -5; level <= 22; level++) {
        f->size = 0;
        add_frame(f, f->pixels, SIZE, level, level % 2, level % 3);
        check_comes_back(f);
    }
    bench_silent(&f->run.bench);
}

static void frames_may_follow_each_other(void **state)
{
    fixture *f = *state;
    add_skippable(f, 0, 0);
    for (size_t at = 0; at < SIZE; at += SIZE / 7) {
        add_frame(f, f->pixels + at, SIZE / 7, 3, at % 2, at % 3);
        add_skippable(f, 15, (uint32_t)(at % 50));
    }
    add_frame(f, f->pixels, 0, 3, true, true);
    check_comes_back(f);
    bench_silent(&f->run.bench);
}

static void a_frame_of_libtiff_decodes(void **state)
{
    fixture *f = *state;
    add_bytes(f,
              "28b52ffd0060a50100d40207090f050b0209000800080009020b050f09030e09c8292a2bc82d2e2fc831"
              "3233c8353637c8393a3bc83d3e3f0100244e08");
    f->format = make_format(32, 2);
    uint8_t *out = run_decode(&f->run, &f->format, f->stream, f->size);
    assert_int_equal(out[19], 7);
    assert_int_equal(out[20], 9);
    assert_int_equal(out[63], 63);
    free(out);
}

static void a_large_window_that_is_not_needed_is_no_harm(void **state)
{
    fixture *f = *state;
    add_bytes(f, "28b52ffd0088"); /* 128 MiB, as level 22 declares */
    add_raw_block(f, f->pixels, SIZE);
    check_comes_back(f);
    f->size = 0;
    add_bytes(f, "28b52ffd80a808520000"); /* 2 GiB, but 21,000 bytes in all */
    add_raw_block(f, f->pixels, SIZE);
    check_comes_back(f);
}

static void bytes_after_the_frames_are_a_warning(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE, 3, false, true);
    size_t size = f->size;
    static const char *const tails[] = {"00", "28b52f", "deadbeef00", "502a4d1805000000ab"};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        f->size = size;
        add_bytes(f, tails[i]);
        uint8_t *out = run_warns(&f->run, &f->format, f->stream, f->size, "bytes after the end");
        assert_memory_equal(out, f->pixels, SIZE);
        free(out);
    }
}

/* Hostile case 42 -------------------------------------------------------------------------------
 */

static void case_42_a_bad_magic(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE, 3, false, true);
    for (size_t i = 0; i < 4; i++) {
        f->stream[i] ^= 1;
        REFUSES(f, "does not begin with a ZSTD frame");
        f->stream[i] ^= 1;
    }
    f->size = 0;
    REFUSES(f, "does not begin with a ZSTD frame");
}

static void case_42_a_window_of_2_gib(void **state)
{
    fixture *f = *state;
    add_bytes(f, "28b52ffd00a8");
    add_raw_block(f, f->pixels, SIZE);
    run_refuses_saying(&f->run, &f->format, f->stream, f->size, REFUSED_LIMIT, "max_codec_bytes");
    assert_string_equal(f->run.bench.err.limit, "max_codec_bytes");
    f->run.bench.limits.max_codec_bytes = UINT64_C(1) << 31;
    check_comes_back(f);
}

static void case_42_a_window_of_3840_gib(void **state)
{
    fixture *f = *state;
    add_bytes(f, "28b52ffd00ff");
    add_raw_block(f, f->pixels, SIZE);
    run_refuses(&f->run, &f->format, f->stream, f->size, REFUSED_LIMIT);
    f->run.bench.limits.max_codec_bytes = TZ_UNLIMITED;
    REFUSES(f, "damaged");
}

static void case_42_a_dictionary(void **state)
{
    fixture *f = *state;
    static const char *const heads[] = {"28b52ffd01584d", "28b52ffd02584d01",
                                        "28b52ffd03584d010203"};
    for (size_t i = 0; i < 3; i++) {
        f->size = 0;
        add_bytes(f, heads[i]);
        add_raw_block(f, f->pixels, SIZE);
        REFUSES(f, "needs dictionary");
    }
    f->size = 0;
    add_bytes(f, "28b52ffd015800"); /* number 0 is none */
    add_raw_block(f, f->pixels, SIZE);
    check_comes_back(f);
}

static void case_42_lies_about_the_size(void **state)
{
    fixture *f = *state;
    add_bytes(f, "28b52ffda009520000"); /* a byte too many */
    add_raw_block(f, f->pixels, SIZE);
    REFUSES(f, "says it makes more than the tile needs (expected 21000, found 21001)");
    f->size = 0;
    add_bytes(f, "28b52ffda007520000"); /* one too few */
    add_raw_block(f, f->pixels, SIZE);
    REFUSES(f, "ZSTD data");
    f->size = 0;
    add_bytes(f, "28b52ffde0ffffffffffffffff");
    add_raw_block(f, f->pixels, SIZE);
    REFUSES(f, "ZSTD");
    f->size = 0;
    add_bytes(f, "28b52ffda008520000"); /* right, but fewer come */
    add_raw_block(f, f->pixels, SIZE - 1);
    REFUSES(f, "ZSTD data is damaged");
    f->size = 0;
    add_bytes(f, "28b52ffd60084f"); /* 256 is added to two bytes: 20,488 */
    add_raw_block(f, f->pixels, 20488);
    REFUSES(f, "(expected 21000, found 20488)");
}

static void case_42_a_byte_too_few_or_too_many(void **state)
{
    fixture *f = *state;
    uint8_t *more = run_picture(SIZE + 1, 1, 1);
    for (int content_size = 0; content_size < 2; content_size++) {
        f->size = 0;
        add_frame(f, more, SIZE + 1, 3, true, content_size);
        REFUSES(f, "more than");
        f->size = 0;
        add_frame(f, more, SIZE - 1, 3, true, content_size);
        REFUSES(f, "(expected 21000, found 20999)");
        add_frame(f, more, 2, 3, true, content_size);
        REFUSES(f, "more than");
    }
    free(more);
}

static void case_42_skippable_frames_only(void **state)
{
    fixture *f = *state;
    add_skippable(f, 3, 20);
    add_skippable(f, 4, 0);
    REFUSES(f, "(expected 21000, found 0)");
    f->size = 0;
    add_skippable(f, 3, 1u << 31);
    REFUSES(f, "ZSTD");
}

static void case_42_a_wrong_checksum(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE, 3, true, true);
    f->stream[f->size - 1] ^= 1;
    REFUSES(f, "checksum of the decoded ZSTD data is wrong");
}

static void case_42_frames_cut_off_anywhere(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE, 1, true, true);
    size_t whole = f->size;
    for (f->size = 0; f->size < whole; f->size++)
        run_refuses(&f->run, &f->format, f->stream, f->size, REFUSED_CODEC);
    check_comes_back(f);
    f->size = 6;
    REFUSES(f, "ends in a frame header");
}

static void case_42_a_bomb(void **state)
{
    fixture *f = *state;
    add_bytes(f, "28b52ffd0058"); /* 2000 blocks of 128 KiB each from 4 bytes */
    for (int i = 0; i < 2000; i++)
        add_bytes(f, i == 1999 ? "03001000" : "02001000");
    REFUSES(f, "makes more than the 21000 bytes of the tile");
}

static void damage_never_depends_on_what_is_around(void **state)
{
    fixture *f = *state;
    add_frame(f, f->pixels, SIZE, 3, false, false);
    run_damaged(&f->run, &f->format, f->stream, f->size, 3000);
    tz_warnings_deinit(&f->run.bench.warnings);
    check_comes_back(f);
    assert_int_equal(run_allocations(&f->run, &f->format, f->stream, f->size), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(tiles_come_back_at_every_level),
        TEST(frames_may_follow_each_other),
        TEST(a_frame_of_libtiff_decodes),
        TEST(a_large_window_that_is_not_needed_is_no_harm),
        TEST(bytes_after_the_frames_are_a_warning),
        TEST(case_42_a_bad_magic),
        TEST(case_42_a_window_of_2_gib),
        TEST(case_42_a_window_of_3840_gib),
        TEST(case_42_a_dictionary),
        TEST(case_42_lies_about_the_size),
        TEST(case_42_a_byte_too_few_or_too_many),
        TEST(case_42_skippable_frames_only),
        TEST(case_42_a_wrong_checksum),
        TEST(case_42_frames_cut_off_anywhere),
        TEST(case_42_a_bomb),
        TEST(damage_never_depends_on_what_is_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
