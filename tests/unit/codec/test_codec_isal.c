/* SPDX-License-Identifier: Apache-2.0
 * ISA-L beside libdeflate: it takes no stream that libdeflate refuses, makes the same bytes, and
 * touches nothing outside of what it is given. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <libdeflate.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codec/inflate_isal.h"
#include "support/codec/bit_writer.h"
#include "support/codec/codec_run.h"

enum { WIDTH = 256, HEIGHT = 256, SIZE = WIDTH * HEIGHT, ROOM = 2 * SIZE };

/* Memory that ends, or begins, where a page ends that may not be touched. */
typedef struct fenced {
    uint8_t *all;
    size_t pages;
    uint8_t *data;
} fenced;

static fenced fence(size_t size, bool behind)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fenced f = {.pages = (size + page - 1) / page * page + 2 * page};
    f.all = mmap(NULL, f.pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.all != MAP_FAILED);
    assert_int_equal(mprotect(f.all, page, PROT_NONE), 0);
    assert_int_equal(mprotect(f.all + f.pages - page, page, PROT_NONE), 0);
    f.data = behind ? f.all + f.pages - page - size : f.all + page;
    return f;
}

static void unfence(fenced *f)
{
    munmap(f->all, f->pages);
}

/* Noise that literals rule, or a slope that matches rule. */
static uint8_t *make_pixels(size_t size, bool noise)
{
    uint8_t *pixels = run_alloc(size);
    uint32_t random = 99;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525u + 1013904223u;
        pixels[i] = noise ? (uint8_t)((random >> 28) + (random >> 20 & 7) + (random >> 12 & 3))
                          : (uint8_t)(i / 300 + (random >> 27 == 0));
    }
    return pixels;
}

static size_t compress(int level, const uint8_t *data, size_t size, uint8_t *out, size_t room)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    assert_non_null(compressor);
    size_t stored = libdeflate_deflate_compress(compressor, data, size, out, room);
    libdeflate_free_compressor(compressor);
    assert_true(stored > 0);
    return stored;
}

/* Both inflaters between fences: true when ISA-L took the stream, and then libdeflate takes it too.
 */
static bool agree(tz_isal *isal, const uint8_t *stream, size_t stored, size_t size, bool behind)
{
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    fenced in = fence(stored, behind), out = fence(size, behind);
    uint8_t *expected = run_alloc(size);
    size_t used = 0, used_there = 0, made = 0;
    if (stored > 0)
        memcpy(in.data, stream, stored);
    bool taken = tz_isal_inflate(isal, in.data, stored, out.data, size, &used);
    enum libdeflate_result result = libdeflate_deflate_decompress_ex(
        decompressor, stream, stored, expected, size, &used_there, &made);
    if (taken) {
        assert_int_equal(result, LIBDEFLATE_SUCCESS);
        assert_int_equal(made, size);
        assert_int_equal(used, used_there);
        assert_memory_equal(out.data, expected, size);
    }
    free(expected);
    unfence(&in);
    unfence(&out);
    libdeflate_free_decompressor(decompressor);
    return taken;
}

static void streams_of_every_level_come_back(void **state)
{
    (void)state;
    tz_isal *isal = tz_isal_open();
    assert_non_null(isal);
    static uint8_t stream[ROOM];
    for (int noise = 0; noise < 2; noise++) {
        uint8_t *pixels = make_pixels(SIZE, noise);
        for (int level = 0; level <= 12; level++)
            for (size_t size = 1; size <= SIZE; size = size * 3 + 1) {
                size_t stored = compress(level, pixels, size, stream, ROOM);
                assert_true(agree(isal, stream, stored, size, true));
                assert_true(agree(isal, stream, stored, size, false));
            }
        free(pixels);
    }
    tz_isal_close(isal);
}

static void cut_streams_and_other_sizes_are_refused(void **state)
{
    (void)state;
    tz_isal *isal = tz_isal_open();
    static uint8_t stream[ROOM];
    uint8_t *pixels = make_pixels(5000, true);
    size_t stored = compress(6, pixels, 5000, stream, ROOM);
    for (size_t size = 0; size < stored; size++)
        assert_false(agree(isal, stream, size, 5000, size % 2));
    for (size_t size = 4700; size < 5300; size++)
        assert_int_equal(agree(isal, stream, stored, size, true), size == 5000);
    free(pixels);
    tz_isal_close(isal);
}

static void damaged_streams_are_judged_alike(void **state)
{
    (void)state;
    tz_isal *isal = tz_isal_open();
    static uint8_t stream[ROOM], damaged[ROOM];
    uint32_t random = 7;
    unsigned taken = 0;
    for (int noise = 0; noise < 2; noise++) {
        uint8_t *pixels = make_pixels(3000, noise);
        size_t stored = compress(6, pixels, 3000, stream, ROOM);
        for (unsigned i = 0; i < 20000; i++) {
            memcpy(damaged, stream, stored);
            for (unsigned k = 0; k <= i % 3; k++) {
                random = random * 1664525u + 1013904223u;
                size_t at = (random >> 8) % (i % 2 ? stored : stored < 90 ? stored : 90);
                damaged[at] ^= (uint8_t)(1u << (random >> 5 & 7));
            }
            taken += agree(isal, damaged, stored, 3000, i % 2);
        }
        free(pixels);
    }
    assert_true(taken > 100);
    tz_isal_close(isal);
}

/* Codes of literals that leave room for more: 'a' 0 and the end 10, and nothing is 11. libdeflate
 * refuses them, and so must ISA-L, even when nothing uses the hole. */
static void codes_that_are_not_complete_are_refused(void **state)
{
    (void)state;
    tz_isal *isal = tz_isal_open();
    bit_writer block = {.low_first = true};
    put_bits(&block, 1, 1);
    put_bits(&block, 2, 2);
    put_bits(&block, 0, 5);
    put_bits(&block, 0, 5);
    put_bits(&block, 18 - 4, 4);
    /* lengths of: 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 */
    static const unsigned lengths[18] = {0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 3};
    for (unsigned i = 0; i < 18; i++)
        put_bits(&block, lengths[i], 3);
    /* 18 is 0, 0 is 01 (read 10), 1 is 110 (read 011), 2 is 111 */
    put_bits(&block, 0, 1), put_bits(&block, 97 - 11, 7); /* 97 zeros */
    put_bits(&block, 3, 3);                               /* 'a': 1 bit */
    put_bits(&block, 0, 1), put_bits(&block, 127, 7);     /* 138 zeros */
    put_bits(&block, 0, 1), put_bits(&block, 20 - 11, 7); /* 20 zeros */
    put_bits(&block, 7, 3);                               /* the end: 2 bits */
    put_bits(&block, 1, 2);                               /* no distance */
    put_bits(&block, 0, 5);                               /* five times 'a' */
    put_bits(&block, 1, 2);                               /* the end */
    put_bits(&block, 0, 16);
    assert_false(agree(isal, block.data, block.size, 5, true));
    free(block.data);
    tz_isal_close(isal);
}

/* The codec with both at work: enough tiles for several comparisons, good and damaged ones. */
static void the_codec_gives_the_same_with_either(void **state)
{
    (void)state;
    codec_run run;
    run_open(&run, &tz_decoder_deflate);
    tz_tile_format format = {.width = WIDTH,
                             .height = HEIGHT,
                             .samples = 1,
                             .bits = 8,
                             .sample_format = 1,
                             .compression = 8};
    static uint8_t stream[ROOM];
    for (int noise = 0; noise < 2; noise++) {
        uint8_t *pixels = make_pixels(SIZE, noise);
        struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
        size_t stored = libdeflate_zlib_compress(compressor, pixels, SIZE, stream, ROOM);
        libdeflate_free_compressor(compressor);
        assert_true(noise == 0 || stored > 16384);
        for (unsigned i = 0; i < 100; i++) {
            uint8_t *out = run_decode(&run, &format, stream, stored);
            assert_memory_equal(out, pixels, SIZE);
            free(out);
            if (i % 10 != 9)
                continue;
            stream[stored - 1] ^= 1;
            run_refuses_saying(&run, &format, stream, stored, REFUSED_CODEC, "Adler-32");
            stream[stored - 1] ^= 1;
            run_refuses_saying(&run, &format, stream, stored - 2, REFUSED_CODEC, "checksum");
            run_refuses(&run, &format, stream, stored / 2, REFUSED_CODEC);
        }
        memset(stream + stored, 3, 10);
        free(run_warns(&run, &format, stream, stored + 10, "bytes after the end"));
        free(pixels);
    }
    run_close(&run);
}

/* Memory for ISA-L is not needed: libdeflate goes on alone. */
static void there_may_be_no_memory_for_it(void **state)
{
    (void)state;
    alloc_hook_install();
    alloc_hook_fail_at(1, false);
    assert_null(tz_isal_open());
    alloc_hook_remove();
    tz_isal_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_of_every_level_come_back),
        cmocka_unit_test(cut_streams_and_other_sizes_are_refused),
        cmocka_unit_test(damaged_streams_are_judged_alike),
        cmocka_unit_test(codes_that_are_not_complete_are_refused),
        cmocka_unit_test(the_codec_gives_the_same_with_either),
        cmocka_unit_test(there_may_be_no_memory_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
