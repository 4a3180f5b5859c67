/* SPDX-License-Identifier: Apache-2.0
 * The LZ4 kernel beside liblz4: frames of every kind, damaged ones, and blocks by hand. */
#include <lz4frame.h>
#include <lz4hc.h>

#include "codec/xxhash32.h"
#include "kernels/lz4.h"
#include "support/codec/bit_writer.h"
#include "support/codec/kernel_run.h"

enum { ROOM = 1 << 19 };

static uint32_t by_item(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                        void *work)
{
    (void)work;
    return tz_lz4_tile(in, in_size, out, size);
}

static uint32_t by_group(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                         void *work)
{
    uint32_t queue[TZ_COPY_QUEUE_WORDS];
    (void)work;
    memset(queue, 0xA5, sizeof queue);
    return tz_lz4_tile_work_group(in, in_size, out, size, queue);
}

static uint32_t decode(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size, void *work)
{
    return kernel_both(by_item, by_group, in, in_size, out, size, work);
}

typedef struct fixture {
    kernel_run run;
    uint8_t stream[ROOM];
    size_t size;
} fixture;

static int begin(void **state)
{
    fixture *f = run_alloc(sizeof *f);
    kernel_open(&f->run, &tz_decoder_lz4, decode, 0);
    f->size = 0;
    *state = f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    kernel_close(&f->run);
    free(f);
    return 0;
}

/* Bits of a kind of frame. */
enum { LINKED = 1, BLOCK_CHECKSUMS = 2, CONTENT_CHECKSUM = 4, CONTENT_SIZE = 8, KINDS = 16 };

static void add_frame(fixture *f, const uint8_t *data, size_t size, unsigned kind, int level)
{
    LZ4F_preferences_t options = {.compressionLevel = level};
    options.frameInfo.blockSizeID = LZ4F_max64KB;
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

static void frames_of_every_kind_level_and_size_come_back(void **state)
{
    fixture *f = *state;
    static const int levels[] = {-5, 0, 3, 9, LZ4HC_CLEVEL_MAX};
    for (unsigned kind = 0; kind < KERNEL_KINDS * KINDS; kind++) {
        for (size_t i = 0; i < KERNEL_SIZES; i++) {
            uint8_t *pixels = kernel_pixels(kernel_sizes[i], kind / KINDS);
            f->size = 0;
            add_frame(f, pixels, kernel_sizes[i], kind % KINDS, levels[kind % 5]);
            kernel_makes(&f->run, f->stream, f->size, pixels, kernel_sizes[i]);
            free(pixels);
        }
    }
    f->size = 0;
    add_frame(f, f->stream, 0, KINDS - 1, 0);
    kernel_makes(&f->run, f->stream, f->size, NULL, 0);
}

static void linked_blocks_look_back_as_far_as_they_may(void **state)
{
    fixture *f = *state;
    uint8_t *pixels = kernel_pixels(200000, 4);
    for (size_t i = 65500; i < 200000; i++) /* from almost the whole window before */
        pixels[i] = i % 64000 < 1000 ? (uint8_t)i : pixels[i - 65500];
    for (unsigned kind = 0; kind < KINDS; kind++) {
        f->size = 0;
        add_frame(f, pixels, 200000, kind, 9);
        kernel_makes(&f->run, f->stream, f->size, pixels, 200000);
    }
    free(pixels);
}

static void frames_may_follow_each_other(void **state)
{
    fixture *f = *state;
    uint8_t *pixels = kernel_pixels(4000, 2);
    f->size = from_hex("532a4d1803000000aabbcc", f->stream);
    for (size_t i = 0; i < 4; i++)
        add_frame(f, pixels + i * 1000, 1000, (unsigned)(KINDS - 1 - i), 0);
    add_frame(f, pixels, 0, CONTENT_CHECKSUM, 0);
    kernel_makes(&f->run, f->stream, f->size, pixels, 4000);
    size_t size = f->size;
    static const char *const tails[] = {"00", "04224d", "deadbeef00", "502a4d180400000ab"};
    for (size_t i = 0; i < 4; i++) {
        f->size = size + from_hex(tails[i], f->stream + size);
        assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, 4000), TZ_DECODE_BYTES_AFTER);
    }
    assert_int_equal(kernel_agrees(&f->run, f->stream, size, 3999), TZ_DECODE_TOO_LONG);
    assert_int_equal(kernel_agrees(&f->run, f->stream, size, 4001), TZ_DECODE_TOO_SHORT);
    free(pixels);
}

static void damaged_frames_get_the_verdict_of_the_codec(void **state)
{
    fixture *f = *state;
    for (unsigned kind = 0; kind < KERNEL_KINDS; kind++) {
        uint8_t *pixels = kernel_pixels(300, kind);
        for (unsigned bits = 0; bits < KINDS; bits += 5) {
            f->size = 0;
            add_frame(f, pixels, 150, bits, 0);
            add_frame(f, pixels + 150, 150, bits, 9);
            unsigned unsure = kernel_damaged(&f->run, f->stream, f->size, 300);
            assert_true(unsure <= 8 * f->size / 20); /* most damage is clear */
        }
        free(pixels);
    }
}

static void add_block(fixture *f, const uint8_t *block, size_t block_size)
{
    for (unsigned i = 0; i < 4; i++)
        f->stream[f->size++] = (uint8_t)(block_size >> 8 * i);
    memcpy(f->stream + f->size, block, block_size);
    f->size += block_size;
}

/* The head of a frame without checksums, of blocks up to 64 KiB that do not look back. */
static void add_head(fixture *f)
{
    f->size = from_hex("04224d186040", f->stream);
    f->stream[f->size] = (uint8_t)(tz_xxhash32(f->stream + 4, 2) >> 8);
    f->size++;
}

/* A frame of one block with these bytes. */
static uint32_t check_block(fixture *f, const uint8_t *block, size_t block_size, size_t size)
{
    add_head(f);
    add_block(f, block, block_size);
    f->size += from_hex("00000000", f->stream + f->size);
    return kernel_agrees(&f->run, f->stream, f->size, size);
}

static uint32_t check_hex(fixture *f, const char *hex, size_t size)
{
    uint8_t block[256];
    return check_block(f, block, from_hex(hex, block), size);
}

static void blocks_by_hand(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *hex;
        size_t size;
        uint32_t status;
    } cases[] = {
        {"30616263", 3, TZ_DECODE_OK},
        {"3f616263", 3, TZ_DECODE_OK},        /* a copy that does not come */
        {"00", 0, TZ_DECODE_OK},              /* nothing */
        {"0f", 0, TZ_DECODE_TOO_LONG},        /* and not quite nothing */
        {"40616263", 4, TZ_DECODE_TRUNCATED}, /* literals past the end of the block */
        {"40616263", 2, TZ_DECODE_TRUNCATED}, /* and of the tile */
        {"30616263", 2, TZ_DECODE_TOO_LONG},
        {"f0", 20, TZ_DECODE_TRUNCATED}, /* a length without its bytes */
        {"f0ffffff", 20, TZ_DECODE_TRUNCATED},
        {"106101007061626364656667", 12, TZ_DECODE_UNSURE},         /* a copy too near the end */
        {"10610100806162636465666768", 13, TZ_DECODE_OK},           /* the nearest that may be */
        {"10610200806162636465666768", 13, TZ_DECODE_BAD_DISTANCE}, /* from before the start */
        {"10610000806162636465666768", 13, TZ_DECODE_UNSURE},       /* from nowhere */
        {"1f610100ff7061626364656667", 12, TZ_DECODE_TOO_LONG},
        {"1f610100ffffffffffffffffff", 12, TZ_DECODE_TRUNCATED},
        {"10610100", 5, TZ_DECODE_UNSURE}, /* it ends with a copy */
        {"1f6101000050616263646566", 25, TZ_DECODE_TRUNCATED},
        {"1f61010000506162636465", 25, TZ_DECODE_OK},   /* five literals at the end */
        {"1f610100004061626364", 24, TZ_DECODE_UNSURE}, /* four */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(check_hex(f, cases[i].hex, cases[i].size), cases[i].status);
}

static void a_block_that_another_follows_ends_by_the_same_rules(void **state)
{
    fixture *f = *state;
    for (unsigned literals = 4; literals < 6; literals++) {
        uint8_t block[64];
        add_head(f);
        size_t size =
            from_hex(literals == 4 ? "106101004061626364" : "10610100506162636465", block);
        add_block(f, block, size);
        add_block(f, block, from_hex("c0303132333435363738394142", block));
        f->size += from_hex("00000000", f->stream + f->size);
        assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, 1 + 4 + literals + 12),
                         literals == 4 ? TZ_DECODE_UNSURE : TZ_DECODE_OK);
    }
}

static void a_block_makes_no_more_than_the_frame_says(void **state)
{
    fixture *f = *state;
    for (size_t size = 65536; size <= 65537; size++) {
        uint8_t block[512];
        size_t at = from_hex("1f610100", block);
        size_t more = size - 1 - 5 - 4 - 15;
        for (; more >= 255; more -= 255)
            block[at++] = 255;
        block[at++] = (uint8_t)more;
        at += from_hex("506162636465", block + at);
        assert_int_equal(check_block(f, block, at, size),
                         size == 65536 ? TZ_DECODE_OK : TZ_DECODE_TOO_LONG);
    }
}

/* Blocks of random tokens, which keep to the format or just do not. */
static void blocks_of_any_tokens_get_the_verdict_of_the_codec(void **state)
{
    fixture *f = *state;
    uint32_t random = 17;
    unsigned taken = 0, unsure = 0;
    for (unsigned round = 0; round < 4000; round++) {
        uint8_t block[2000];
        size_t at = 0, made = 0;
        unsigned count = round % 8;
        for (unsigned i = 0; i <= count; i++) {
            random = random * 1664525u + 1013904223u;
            unsigned literals = i == count ? 5 + (random >> 28) : random >> 28;
            unsigned copy = (random >> 24 & 15) + (round % 3 == 0 ? 0 : 4);
            copy = i == count ? 0 : copy > 15 ? 15 : copy;
            block[at++] = (uint8_t)((literals > 15 ? 15 : literals) << 4 | copy);
            if (literals >= 15)
                block[at++] = (uint8_t)(literals - 15);
            for (unsigned k = 0; k < literals; k++)
                block[at++] = (uint8_t)(random >> k);
            made += literals;
            if (i == count)
                break;
            size_t distance = made == 0 ? 0 : 1 + (random >> 8) % made;
            distance += (random & 63) == 0; /* too far, some of them */
            block[at++] = (uint8_t)distance;
            block[at++] = (uint8_t)(distance >> 8);
            if (copy == 15)
                block[at++] = (uint8_t)(random & 31);
            made += copy + 4 + (copy == 15 ? random & 31 : 0);
        }
        if (round % 16 == 15 && made > 8)
            made -= random >> 30;
        uint32_t status = check_block(f, block, at - (round % 32 == 31), made);
        taken += status == TZ_DECODE_OK;
        unsure += status == TZ_DECODE_UNSURE;
    }
    assert_true(taken > 1500 && unsure < 1500);
}

static void checksums_of_every_length_are_right(void **state)
{
    (void)state;
    uint8_t *pixels = kernel_pixels(300, 4);
    for (uint32_t size = 0; size < 300; size++)
        assert_int_equal(tz_kernel_xxhash32(pixels, size), tz_xxhash32(pixels, size));
    free(pixels);
}

static void case_40_a_bomb(void **state)
{
    fixture *f = *state;
    uint8_t *pixels = kernel_pixels(400000, 0);
    add_frame(f, pixels, 400000, 0, 0);
    assert_int_equal(kernel_agrees(&f->run, f->stream, f->size, 64), TZ_DECODE_TOO_LONG);
    free(pixels);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(frames_of_every_kind_level_and_size_come_back),
        TEST(linked_blocks_look_back_as_far_as_they_may),
        TEST(frames_may_follow_each_other),
        TEST(damaged_frames_get_the_verdict_of_the_codec),
        TEST(blocks_by_hand),
        TEST(a_block_that_another_follows_ends_by_the_same_rules),
        TEST(a_block_makes_no_more_than_the_frame_says),
        TEST(blocks_of_any_tokens_get_the_verdict_of_the_codec),
        TEST(checksums_of_every_length_are_right),
        TEST(case_40_a_bomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
