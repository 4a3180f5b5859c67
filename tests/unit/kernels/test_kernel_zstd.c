/* SPDX-License-Identifier: Apache-2.0
 * The Zstandard kernel beside libzstd: frames of every level and kind, damaged ones, and blocks by
 * hand. */
#include <zstd.h>

#include "kernels/zstd.h"
#include "support/codec/bit_writer.h"
#include "support/codec/kernel_run.h"

enum { ROOM = 1 << 20 };

static uint32_t by_item(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                        void *work)
{
    return tz_zstd_tile(in, in_size, out, size, work);
}

static uint32_t by_group(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                         void *work)
{
    uint32_t shared[TZ_ZSTD_LOCAL_WORDS];
    memset(shared, 0xA5, sizeof shared);
    return tz_zstd_tile_work_group(in, in_size, out, size, work, shared);
}

static uint32_t decode(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size, void *work)
{
    return kernel_both(by_item, by_group, in, in_size, out, size, work);
}

typedef struct fixture {
    kernel_run run;
    ZSTD_CCtx *encoder;
    uint8_t stream[ROOM];
    size_t size;
} fixture;

static int begin(void **state)
{
    fixture *f = run_alloc(sizeof *f);
    kernel_open(&f->run, &tz_decoder_zstd, decode, TZ_ZSTD_SCRATCH_BYTES);
    f->encoder = ZSTD_createCCtx();
    assert_non_null(f->encoder);
    f->size = 0;
    *state = f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    ZSTD_freeCCtx(f->encoder);
    kernel_close(&f->run);
    free(f);
    return 0;
}

/* Bits of a kind of frame. */
enum { CHECKSUM = 1, CONTENT_SIZE = 2, KINDS = 4 };

/* Appends a frame by libzstd, which keeps other settings of the encoder. */
static void add_frame(fixture *f, const uint8_t *data, size_t size, unsigned kind, int level)
{
    ZSTD_CCtx_setParameter(f->encoder, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(f->encoder, ZSTD_c_checksumFlag, (kind & CHECKSUM) != 0);
    ZSTD_CCtx_setParameter(f->encoder, ZSTD_c_contentSizeFlag, (kind & CONTENT_SIZE) != 0);
    size_t stored = ZSTD_compress2(f->encoder, f->stream + f->size, ROOM - f->size, data, size);
    assert_false(ZSTD_isError(stored));
    f->size += stored;
}

/* Words of a small vocabulary with noise between them: matches near and far, all kinds of tables.
 */
static uint8_t *make_text(size_t size, uint32_t random)
{
    uint8_t *text = run_alloc(size);
    for (size_t i = 0; i < size;) {
        random = random * 1664525u + 1013904223u;
        size_t length = 1 + (random >> 27);
        size_t back = 1 + (random >> 3) % (1u << (3 + (random >> 24) % 15));
        bool copies = (random >> 22 & 3) != 0 && back <= i;
        for (; length > 0 && i < size; length--, i++) {
            random = random * 1664525u + 1013904223u;
            text[i] = copies ? text[i - back] : (uint8_t)('a' + (random >> 28) * (random >> 30));
        }
    }
    return text;
}

static void tiles_of_every_level_and_size_come_back(void **state)
{
    fixture *f = *state;
    for (unsigned kind = 0; kind <= KERNEL_KINDS; kind++) {
        for (size_t i = 0; i < KERNEL_SIZES; i++) {
            size_t size = kernel_sizes[i];
            uint8_t *pixels = kind < KERNEL_KINDS ? kernel_pixels(size, kind) : make_text(size, 1);
            for (int level = -5; level <= 22; level += size > 4096 ? 3 : 1) {
                f->size = 0;
                add_frame(f, pixels, size, (unsigned)(level + 5) % KINDS, level);
                kernel_makes(&f->run, f->stream, f->size, pixels, size);
            }
            free(pixels);
        }
    }
}

static void nothing_comes_back_as_nothing(void **state)
{
    fixture *f = *state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        f->size = 0;
        add_frame(f, f->stream, 0, kind, 3);
        kernel_makes(&f->run, f->stream, f->size, NULL, 0);
        assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, 1), TZ_DECODE_TOO_SHORT);
    }
    assert_int_equal(kernel_agrees(&f->run, f->stream, 0, 1), TZ_DECODE_BAD_HEADER);
}

/* More than two blocks, which share tables and offsets. */
static void tables_and_offsets_last_from_block_to_block(void **state)
{
    fixture *f = *state;
    enum { SIZE = 300000 };
    for (unsigned kind = 0; kind <= KERNEL_KINDS; kind++) {
        uint8_t *pixels = kind < KERNEL_KINDS ? kernel_pixels(SIZE, kind) : make_text(SIZE, 5);
        for (int level = -5; level <= 19; level += 4) {
            f->size = 0;
            add_frame(f, pixels, SIZE, kind % KINDS, level);
            kernel_makes(&f->run, f->stream, f->size, pixels, SIZE);
        }
        free(pixels);
    }
}

static void matches_look_back_as_far_as_the_frame_goes(void **state)
{
    fixture *f = *state;
    enum { SIZE = 500000, BACK = 400000 };
    uint8_t *pixels = kernel_pixels(SIZE, 4);
    memcpy(pixels + BACK, pixels, SIZE - BACK);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        f->size = 0;
        add_frame(f, pixels, SIZE, kind, 9);
        assert_true(f->size < BACK + 1000);
        kernel_makes(&f->run, f->stream, f->size, pixels, SIZE);
    }
    free(pixels);
}

static void small_windows_and_small_blocks_come_back(void **state)
{
    fixture *f = *state;
    enum { SIZE = 100000 };
    uint8_t *pixels = make_text(SIZE, 8);
    for (int log = 10; log <= 27; log++) {
        ZSTD_CCtx_setParameter(f->encoder, ZSTD_c_windowLog, log);
        f->size = 0;
        add_frame(f, pixels, SIZE, (unsigned)log % KINDS, 1 + log % 5);
        kernel_makes(&f->run, f->stream, f->size, pixels, SIZE);
    }
    free(pixels);
}

/* A stream that is flushed often: blocks of all sizes, and no content size. */
static void a_stream_in_parts_comes_back(void **state)
{
    fixture *f = *state;
    enum { SIZE = 60000 };
    uint8_t *pixels = make_text(SIZE, 77);
    for (unsigned round = 0; round < 8; round++) {
        ZSTD_outBuffer out = {f->stream, ROOM, 0};
        ZSTD_CCtx_setParameter(f->encoder, ZSTD_c_compressionLevel, 1 + (int)round * 2);
        ZSTD_CCtx_setParameter(f->encoder, ZSTD_c_checksumFlag, round & 1);
        for (size_t at = 0, piece = 1; at < SIZE; piece = piece * 3 % 7919) {
            size_t take = piece < SIZE - at ? piece : SIZE - at;
            ZSTD_inBuffer in = {pixels + at, take, 0};
            at += take;
            size_t left =
                ZSTD_compressStream2(f->encoder, &out, &in, at < SIZE ? ZSTD_e_flush : ZSTD_e_end);
            assert_int_equal(left, 0);
        }
        kernel_makes(&f->run, f->stream, out.pos, pixels, SIZE);
    }
    free(pixels);
}

static void frames_may_follow_each_other(void **state)
{
    fixture *f = *state;
    uint8_t *pixels = make_text(4000, 3);
    f->size = from_hex("532a4d1803000000aabbcc", f->stream);
    for (size_t i = 0; i < 4; i++)
        add_frame(f, pixels + i * 1000, 1000, (unsigned)i, 3);
    add_frame(f, pixels, 0, CHECKSUM, 3);
    kernel_makes(&f->run, f->stream, f->size, pixels, 4000);
    size_t size = f->size;
    static const char *const tails[] = {"00", "28b52f", "deadbeef00", "502a4d180400000ab"};
    for (size_t i = 0; i < 4; i++) {
        f->size = size + from_hex(tails[i], f->stream + size);
        assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, 4000), TZ_DECODE_BYTES_AFTER);
    }
    assert_int_equal(kernel_agrees(&f->run, f->stream, size, 3999), TZ_DECODE_TOO_LONG);
    assert_int_equal(kernel_agrees(&f->run, f->stream, size, 4001), TZ_DECODE_TOO_SHORT);
    free(pixels);
}

/* Blocks by hand ------------------------------------------------------------------------------- */

/* Appends a frame of one block of this kind, with a window of 2 MiB and no content size. */
static void add_block(fixture *f, unsigned kind, const char *hex)
{
    f->size += from_hex("28b52ffd0058", f->stream + f->size);
    size_t size = from_hex(hex, f->stream + f->size + 3);
    uint32_t head = (uint32_t)size << 3 | kind << 1 | 1;
    for (unsigned i = 0; i < 3; i++)
        f->stream[f->size + i] = (uint8_t)(head >> 8 * i);
    f->size += 3 + size;
}

/* abcd, and one sequence with tables of one symbol each: four literals, and a match of four, whose
 * offset has two further bits. */
#define ABCD     "2061626364"
#define ONE_EACH "0154040201"

static void blocks_by_hand(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *hex;
        size_t size;
        uint32_t status;
    } cases[] = {
        {ABCD "00", 4, TZ_DECODE_OK},
        {ABCD "00", 3, TZ_DECODE_TOO_LONG},
        {ABCD, 4, TZ_DECODE_TRUNCATED},
        {"28616263", 5, TZ_DECODE_TRUNCATED},   /* five literals, of which three are there */
        {"276100", 4, TZ_DECODE_TRUNCATED},     /* a code, but not a byte of it */
        {"216100", 4, TZ_DECODE_OK},            /* one byte four times */
        {"4500610000", 4, TZ_DECODE_BAD_BLOCK}, /* bytes that nothing reads */
        {"45006100", 4, TZ_DECODE_OK},          /* the same with a size of twelve bits */
        {"4d00006100", 4, TZ_DECODE_OK},        /* and of twenty */
        {"0000", 0, TZ_DECODE_UNSURE},          /* nothing, for which libzstd 1.5.4 wants more */
        {ABCD "8000", 4, TZ_DECODE_UNSURE},     /* no sequences, in two bytes */
        {ABCD "0000", 4, TZ_DECODE_BAD_BLOCK},
        {ABCD ONE_EACH "07", 8, TZ_DECODE_OK},
        {ABCD ONE_EACH "04", 8, TZ_DECODE_OK},
        {ABCD ONE_EACH "0f", 8, TZ_DECODE_UNSURE},        /* a bit left over */
        {ABCD ONE_EACH "02", 8, TZ_DECODE_UNSURE},        /* a bit missing */
        {ABCD ONE_EACH "00", 8, TZ_DECODE_BAD_CODE},      /* no beginning */
        {ABCD ONE_EACH, 8, TZ_DECODE_BAD_CODE},           /* nothing at all */
        {ABCD ONE_EACH "07", 7, TZ_DECODE_TOO_LONG},      /* the match does not fit */
        {ABCD "015404030108", 8, TZ_DECODE_BAD_DISTANCE}, /* from five before */
        {ABCD "015404000101", 8, TZ_DECODE_OK},           /* as before, which is 1 at first */
        {ABCD "015404000103", 8, TZ_DECODE_UNSURE},
        {ABCD "015403000101", 8, TZ_DECODE_OK},       /* a literal after the match */
        {ABCD "015403000101", 7, TZ_DECODE_TOO_LONG}, /* for which there is no room */
        {ABCD "015405000101", 9, TZ_DECODE_BAD_CODE}, /* more literals than there are */
        {ABCD "015400010103", 8, TZ_DECODE_UNSURE},   /* an offset of 0 */
        {ABCD "0154040201", 8, TZ_DECODE_BAD_CODE},
        {ABCD "01540402", 8, TZ_DECODE_TRUNCATED},
        {ABCD "01", 4, TZ_DECODE_TRUNCATED},
        {ABCD "ff00", 4, TZ_DECODE_TRUNCATED},
        {ABCD "015504020107", 8, TZ_DECODE_UNSURE},   /* a bit that means nothing yet */
        {ABCD "015424020107", 8, TZ_DECODE_BAD_CODE}, /* symbols that there are not */
        {ABCD "015404200107", 8, TZ_DECODE_BAD_CODE},
        {ABCD "015404023507", 8, TZ_DECODE_BAD_CODE},
        {ABCD "01fc07", 8, TZ_DECODE_BAD_CODE}, /* tables of a block before */
        {"4340000100", 4, TZ_DECODE_BAD_CODE},  /* a code of a block before */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->size = 0;
        add_block(f, 2, cases[i].hex);
        assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, cases[i].size),
                         cases[i].status);
    }
}

static void codes_of_literals_by_hand(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *hex; /* sizes, weights, streams, and that there are no sequences */
        size_t size;
        uint32_t status;
    } cases[] = {
        {"42c00080101500", 4, TZ_DECODE_OK},       /* two symbols of one bit */
        {"42c00080102500", 4, TZ_DECODE_UNSURE},   /* a bit left over */
        {"42c00080100d00", 4, TZ_DECODE_UNSURE},   /* a bit missing */
        {"42c00080d01500", 4, TZ_DECODE_BAD_CODE}, /* no such weight */
        {"42c00080c01500", 4, TZ_DECODE_UNSURE},   /* words of twelve bits */
        {"42c00080001500", 4, TZ_DECODE_BAD_CODE}, /* no words */
        {"42c00080201500", 4, TZ_DECODE_BAD_CODE}, /* no words of the longest kind */
        {"42c00081201500", 4, TZ_DECODE_BAD_CODE},
        {"42c00085101500", 4, TZ_DECODE_TRUNCATED}, /* more weights than bytes */
        {"02c00080101500", 0, TZ_DECODE_UNSURE},    /* no literals */
        {"46c00080101500", 4, TZ_DECODE_UNSURE},    /* four streams for four bytes */
        {"66000380100100010001000506070100", 6, TZ_DECODE_OK},
        {"66c002801001000100010005060700", 6, TZ_DECODE_TRUNCATED},
        {"66000380100100010005000506070100", 6, TZ_DECODE_TRUNCATED},
        {"4280010410287d001500", 4, TZ_DECODE_BAD_CODE}, /* weights without a beginning */
        {"4280010410287d011500", 4, TZ_DECODE_UNSURE},   /* and without bits */
        {"428001041f287d011500", 4, TZ_DECODE_UNSURE},   /* of too many states */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->size = 0;
        add_block(f, 2, cases[i].hex);
        assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, cases[i].size),
                         cases[i].status);
    }
}

static void a_match_does_not_reach_into_the_frame_before(void **state)
{
    fixture *f = *state;
    add_block(f, 0, "deadbeef");
    add_block(f, 2, ABCD ONE_EACH "07");
    assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, 12), TZ_DECODE_OK);
    f->size = 0;
    add_block(f, 0, "deadbeef");
    add_block(f, 2, ABCD "015404030108");
    assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, 12), TZ_DECODE_BAD_DISTANCE);
}

static void kinds_of_blocks_and_their_sizes(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *hex; /* the head of the block and what follows */
        size_t size;
        uint32_t status;
    } cases[] = {
        {"0b000061", 1, TZ_DECODE_OK},
        {"03001061", 131072, TZ_DECODE_OK},
        {"0b001061", 131073, TZ_DECODE_UNSURE}, /* more than the format allows */
        {"03001061", 131071, TZ_DECODE_TOO_LONG},
        {"02000061010000", 0, TZ_DECODE_OK}, /* none, and an empty last block */
        {"0b0000", 1, TZ_DECODE_TRUNCATED},
        {"0f000061", 1, TZ_DECODE_BAD_BLOCK},
        {"0a000061", 1, TZ_DECODE_TRUNCATED}, /* it was not the last one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->size = from_hex("28b52ffd0058", f->stream);
        f->size += from_hex(cases[i].hex, f->stream + f->size);
        assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, cases[i].size),
                         cases[i].status);
    }
}

static void heads_of_frames(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *hex;
        uint32_t status;
    } cases[] = {
        {"28b52ffd2004", TZ_DECODE_OK},
        {"28b52ffd1058", TZ_DECODE_OK}, /* a bit without meaning */
        {"28b52ffd2804", TZ_DECODE_BAD_HEADER},
        {"28b52ffd2003", TZ_DECODE_UNSURE}, /* its block is larger than the frame */
        {"28b52ffd2005", TZ_DECODE_TOO_LONG},
        {"28b52ffde00400000000000000", TZ_DECODE_OK},
        {"28b52ffde00400000001000000", TZ_DECODE_TOO_LONG},
        {"28b52ffda004000000", TZ_DECODE_OK},
        {"28b52ffd600400", TZ_DECODE_TOO_LONG},     /* 260 */
        {"28b52ffd210004", TZ_DECODE_OK},           /* dictionary 0 is none */
        {"28b52ffd230100000004", TZ_DECODE_UNSURE}, /* dictionary 1 */
        {"28b52ffd0088", TZ_DECODE_OK},             /* a window of 128 MiB */
        {"28b52ffd0089", TZ_DECODE_UNSURE},
        {"27b52ffd2004", TZ_DECODE_BAD_HEADER}, /* an old version */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->size = from_hex(cases[i].hex, f->stream);
        f->size += from_hex("21000061626364", f->stream + f->size);
        assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, 4), cases[i].status);
    }
    size_t size = from_hex("28b52ffde00400000000000000", f->stream);
    for (size_t cut = 0; cut <= size; cut++)
        assert_int_equal(kernel_agrees(&f->run, f->stream, cut, 4),
                         cut < 4 ? TZ_DECODE_BAD_HEADER : TZ_DECODE_TRUNCATED);
}

static void damaged_frames_get_the_verdict_of_the_codec(void **state)
{
    fixture *f = *state;
    size_t damaged = 0, unsure = 0;
    for (unsigned kind = 0; kind <= KERNEL_KINDS; kind++) {
        uint8_t *pixels = kind < KERNEL_KINDS ? kernel_pixels(400, kind) : make_text(400, 12);
        for (int level = -5; level <= 19; level += 24) {
            f->size = 0;
            add_frame(f, pixels, 300, 0, level);
            add_frame(f, pixels + 300, 100, CONTENT_SIZE, level);
            unsure += kernel_damaged(&f->run, f->stream, f->size, 400);
            damaged += 9 * f->size;
        }
        free(pixels);
    }
    assert_true(unsure < damaged / 4); /* most damage is clear */
}

static void checksums_of_every_length_are_verified(void **state)
{
    fixture *f = *state;
    uint8_t *pixels = make_text(100, 2);
    for (size_t size = 0; size <= 100; size++) {
        f->size = 0;
        add_frame(f, pixels, size, CHECKSUM, 3);
        kernel_makes(&f->run, f->stream, f->size, pixels, size);
        f->stream[f->size - 1 - size % 4] ^= 0x10;
        assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, size), TZ_DECODE_BAD_CHECKSUM);
    }
    free(pixels);
}

static void case_40_a_bomb(void **state)
{
    fixture *f = *state;
    uint8_t *pixels = kernel_pixels(5000000, 0);
    add_frame(f, pixels, 5000000, 0, 19);
    assert_true(f->size < 1000);
    assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, 64), TZ_DECODE_TOO_LONG);
    kernel_makes(&f->run, f->stream, f->size, pixels, 5000000);
    free(pixels);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(tiles_of_every_level_and_size_come_back),
        TEST(nothing_comes_back_as_nothing),
        TEST(tables_and_offsets_last_from_block_to_block),
        TEST(matches_look_back_as_far_as_the_frame_goes),
        TEST(small_windows_and_small_blocks_come_back),
        TEST(a_stream_in_parts_comes_back),
        TEST(frames_may_follow_each_other),
        TEST(blocks_by_hand),
        TEST(codes_of_literals_by_hand),
        TEST(a_match_does_not_reach_into_the_frame_before),
        TEST(kinds_of_blocks_and_their_sizes),
        TEST(heads_of_frames),
        TEST(checksums_of_every_length_are_verified),
        TEST(damaged_frames_get_the_verdict_of_the_codec),
        TEST(case_40_a_bomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
