/* SPDX-License-Identifier: Apache-2.0
 * Hostile cases 40 to 42 and 45, read: Deflate, ZSTD and LZMA data that no encoder writes, made by
 * hand. */
#include <stdlib.h>
#include <string.h>

#include "support/codec/bit_writer.h"
#include "support/tile_file.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { PIXELS = TILE * TILE };

/* Bytes in the making. */
typedef struct bytes {
    uint8_t data[1 << 15];
    size_t size;
} bytes;

static inline void add(bytes *b, const void *data, size_t size)
{
    assert_true(size <= sizeof b->data - b->size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void add_number(bytes *b, uint64_t value, size_t size, bool big_endian)
{
    for (size_t i = 0; i < size; i++) {
        const uint8_t byte = (uint8_t)(value >> 8 * (big_endian ? size - 1 - i : i));
        add(b, &byte, 1);
    }
}

static inline bytes copy_of(const tile_stream *stream)
{
    bytes b = {.size = 0};
    add(&b, stream->data, stream->size);
    return b;
}

/* Tile 1 of 2 has these bytes. */
static inline tb *with_tile(unsigned format, const tile_stream *stream, const bytes *data)
{
    tb *b = tf_new(format, stream, 2, 1, NULL);
    tf_put(b, 1, data->data, data->size);
    return b;
}

static inline void refuse(const tile_stream *stream, const bytes *data, const char *text)
{
    FORMATS(f)
    tf_done_refuses(with_tile(f, stream, data), stream,
                    DEFECT(FORMAT, CODEC, .tile = 1, .text = text));
}

static inline void refuse_limit(const tile_stream *stream, const bytes *data)
{
    FORMATS(f)
    tf_done_refuses(with_tile(f, stream, data), stream,
                    DEFECT(LIMIT, LIMIT, .tile = 1, .limit = "max_codec_bytes"));
}

static inline void accept(const tile_stream *stream, const bytes *data, uint32_t warnings)
{
    FORMATS(f)
    tf_done_reads(with_tile(f, stream, data), stream, warnings);
}

static inline void refuse_when_cut(const tile_stream *stream)
{
    for (size_t size = 1; size < stream->size; size += 1 + stream->size / 12) {
        bytes cut = copy_of(stream);
        cut.size = size;
        refuse(stream, &cut, NULL);
    }
}

/* ---- 40: Deflate ---- */

#ifdef TZ_HAVE_LIBDEFLATE

static const tile_stream *const deflate = &tile_streams[STREAM_DEFLATE];

static uint32_t adler32(const uint8_t *data, size_t size)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* A zlib stream of one stored block with the tile's first bytes, and zeros after them. */
static bytes stored(size_t size)
{
    bytes b = {.size = 0};
    uint8_t pixels[2 * PIXELS] = {0};
    memcpy(pixels, stream_none, sizeof stream_none);
    add_number(&b, 0x7801, 2, true);
    add_number(&b, 1, 1, false);
    add_number(&b, size, 2, false);
    add_number(&b, ~size & 0xffff, 2, false);
    add(&b, pixels, size);
    add_number(&b, adler32(pixels, size), 4, true);
    return b;
}

/* Huffman codes go highest bit first into a stream that is lowest bit first. */
static void put_code(bit_writer *w, unsigned code, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put_bit(w, code >> (count - 1 - i));
}

static bytes zlib_of(bit_writer *w)
{
    bytes b = {.size = 0};
    add_number(&b, 0x7801, 2, true);
    add(&b, w->data, w->size);
    add_number(&b, 0, 4, true);
    free(w->data);
    return b;
}

static void case_40_deflate_headers(void **state)
{
    (void)state;
    static const uint16_t headers[] = {0x0000, 0x7802, 0x7901, 0x8801, 0xFFFF};
    for (size_t i = 0; i < COUNT(headers); i++) {
        bytes b = stored(PIXELS);
        b.data[0] = (uint8_t)(headers[i] >> 8);
        b.data[1] = (uint8_t)headers[i];
        refuse(deflate, &b, "not a zlib header");
    }
    bytes b = stored(PIXELS);
    b.data[1] = 0x20;
    refuse(deflate, &b, "preset dictionary");
}

static void case_40_deflate_checksum(void **state)
{
    (void)state;
    bytes b = copy_of(deflate);
    b.data[b.size - 1] ^= 1;
    refuse(deflate, &b, "Adler-32");
}

static void case_40_deflate_cut_off_anywhere(void **state)
{
    (void)state;
    refuse_when_cut(deflate);
}

static void case_40_deflate_of_one_byte_more_or_less(void **state)
{
    (void)state;
    bytes exact = stored(PIXELS);
    bytes less = stored(PIXELS - 1);
    bytes more = stored(PIXELS + 1);
    bytes nothing = stored(0);
    accept(deflate, &exact, 0);
    refuse(deflate, &less, "too few bytes");
    refuse(deflate, &more, "more than the 256 bytes");
    refuse(deflate, &nothing, "too few bytes");
}

static void case_40_deflate_bomb(void **state)
{
    (void)state;
    bit_writer w = {.low_first = true};
    put_bits(&w, 1, 1);
    put_bits(&w, 1, 2);    /* fixed codes */
    put_code(&w, 0x30, 8); /* a zero ... */
    for (unsigned i = 0; i < 4000; i++) {
        put_code(&w, 0xC5, 8); /* ... 258 times more */
        put_code(&w, 0, 5);
    }
    put_code(&w, 0, 7);
    bytes b = zlib_of(&w);
    refuse(deflate, &b, "more than the 256 bytes");
}

static void case_40_deflate_with_bytes_after_it(void **state)
{
    (void)state;
    bytes b = copy_of(deflate);
    add(&b, "garbage", 7);
    accept(deflate, &b, 1);
}

/* ---- 41: codes of Deflate ---- */

static void case_41_deflate_codes_that_are_too_many_or_too_few(void **state)
{
    (void)state;
    for (unsigned length = 0; length < 2; length++) { /* of every code of code lengths */
        bit_writer w = {.low_first = true};
        put_bits(&w, 1, 1);
        put_bits(&w, 2, 2); /* own codes */
        put_bits(&w, 0, 5);
        put_bits(&w, 0, 5);
        put_bits(&w, 15, 4);
        for (unsigned i = 0; i < 19; i++)
            put_bits(&w, length, 3);
        put_bits(&w, 0, 32);
        put_bits(&w, 0, 32);
        bytes b = zlib_of(&w);
        refuse(deflate, &b, "damaged");
    }
}

static void case_41_deflate_distance_beyond_the_start(void **state)
{
    (void)state;
    bit_writer w = {.low_first = true};
    put_bits(&w, 1, 1);
    put_bits(&w, 1, 2);
    put_code(&w, 0x30, 8);
    put_code(&w, 1, 7); /* 3 bytes ... */
    put_code(&w, 1, 5); /* ... from 2 back, where there is 1 */
    put_code(&w, 0, 7);
    put_bits(&w, 0, 32);
    bytes b = zlib_of(&w);
    refuse(deflate, &b, "damaged");
}

static void case_41_deflate_block_of_the_reserved_kind(void **state)
{
    (void)state;
    bit_writer w = {.low_first = true};
    put_bits(&w, 7, 3);
    put_bits(&w, 0, 32);
    bytes b = zlib_of(&w);
    refuse(deflate, &b, "damaged");
}

#endif

/* ---- 42: ZSTD ---- */

#ifdef TZ_HAVE_ZSTD

static const tile_stream *const zstd = &tile_streams[STREAM_ZSTD];

enum { CONTENT_2 = 0x40, SINGLE = 0x20, CHECKSUM = 4, DICTIONARY_1 = 1 };

static void begin_frame(bytes *b, uint8_t flags)
{
    add_number(b, 0xFD2FB528, 4, false);
    add_number(b, flags, 1, false);
}

/* The pixels from first on as one stored block. */
static void add_raw_block(bytes *b, size_t first, size_t count, bool last)
{
    add_number(b, count << 3 | (last ? 1 : 0), 3, false);
    add(b, stream_none + first, count);
}

static bytes one_frame(uint8_t flags, uint64_t content)
{
    bytes b = {.size = 0};
    begin_frame(&b, flags | SINGLE | CONTENT_2);
    if (flags & DICTIONARY_1)
        add_number(&b, 77, 1, false);
    add_number(&b, content - 256, 2, false);
    add_raw_block(&b, 0, PIXELS, true);
    return b;
}

static void case_42_zstd_frames_by_hand_are_read(void **state)
{
    (void)state;
    bytes known = one_frame(0, PIXELS);
    accept(zstd, &known, 0);
    bytes several = {.size = 0}; /* of unknown size, with a skippable one between them */
    begin_frame(&several, 0);
    add_number(&several, 0, 1, false);
    add_raw_block(&several, 0, 100, true);
    add_number(&several, 0x184D2A50, 4, false);
    add_number(&several, 3, 4, false);
    add(&several, "abc", 3);
    begin_frame(&several, 0);
    add_number(&several, 0, 1, false);
    add_raw_block(&several, 100, 100, false);
    add_raw_block(&several, 200, 56, true);
    accept(zstd, &several, 0);
}

static void case_42_zstd_magic_and_dictionary(void **state)
{
    (void)state;
    bytes b = one_frame(0, PIXELS);
    b.data[0] ^= 1;
    refuse(zstd, &b, "does not begin with a ZSTD frame");
    bytes dictionary = one_frame(DICTIONARY_1, PIXELS);
    refuse(zstd, &dictionary, "needs dictionary 77");
    bytes skippable = {.size = 0};
    add_number(&skippable, 0x184D2A50, 4, false);
    add_number(&skippable, 3, 4, false);
    add(&skippable, "abc", 3);
    refuse(zstd, &skippable, "ZSTD");
}

static void case_42_zstd_window_of_2_gib(void **state)
{
    (void)state;
    bytes b = {.size = 0};
    begin_frame(&b, 0);
    add_number(&b, 21 << 3, 1, false);
    add_raw_block(&b, 0, PIXELS, true);
    refuse_limit(zstd, &b);
}

static void case_42_zstd_lies_about_its_size(void **state)
{
    (void)state;
    bytes more = one_frame(0, PIXELS + 1);
    refuse(zstd, &more, "says it makes more");
    bytes less = {.size = 0};
    begin_frame(&less, SINGLE);
    add_number(&less, PIXELS - 1, 1, false);
    add_raw_block(&less, 0, PIXELS, true);
    refuse(zstd, &less, "ZSTD");
    bytes short_one = {.size = 0};
    begin_frame(&short_one, SINGLE);
    add_number(&short_one, PIXELS - 1, 1, false);
    add_raw_block(&short_one, 0, PIXELS - 1, true);
    refuse(zstd, &short_one, "too few bytes");
}

static void case_42_zstd_checksum(void **state)
{
    (void)state;
    bytes b = one_frame(CHECKSUM, PIXELS);
    add_number(&b, 0x12345678, 4, false);
    refuse(zstd, &b, "checksum");
}

static void case_42_zstd_bomb(void **state)
{
    (void)state;
    bytes b = {.size = 0};
    begin_frame(&b, 0);
    add_number(&b, 7 << 3, 1, false); /* a window of 128 KiB */
    for (unsigned i = 0; i < 1000; i++) {
        add_number(&b, (uint64_t)(128u << 10) << 3 | 1 << 1 | (i == 999), 3, false);
        add_number(&b, 0, 1, false); /* repeated 131,072 times */
    }
    refuse(zstd, &b, "more than the 256 bytes");
}

static void case_42_zstd_cut_off_anywhere(void **state)
{
    (void)state;
    refuse_when_cut(zstd);
}

#endif

/* ---- 45: LZMA ---- */

#ifdef TZ_HAVE_LZMA

static const tile_stream *const lzma = &tile_streams[STREAM_LZMA];

static uint32_t crc32(const uint8_t *data, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}

static void case_45_lzma_dictionary_of_4_gib(void **state)
{
    (void)state;
    enum { BLOCK = 12 }; /* where the block's header is: size, flags, filter, its size, its byte */
    bytes b = copy_of(lzma);
    const size_t size = 4u * (b.data[BLOCK] + 1u);
    assert_int_equal(b.data[BLOCK + 2], 0x21);
    assert_int_equal(b.data[BLOCK + 3], 1);
    b.data[BLOCK + 4] = 40;
    const uint32_t crc = crc32(b.data + BLOCK, size - 4);
    for (size_t i = 0; i < 4; i++)
        b.data[BLOCK + size - 4 + i] = (uint8_t)(crc >> 8 * i);
    refuse_limit(lzma, &b);
}

static void case_45_lzma_cut_off_anywhere(void **state)
{
    (void)state;
    refuse_when_cut(lzma);
}

static void case_45_lzma_that_is_none(void **state)
{
    (void)state;
    bytes b = copy_of(lzma);
    b.data[0] ^= 1;
    refuse(lzma, &b, "begin with an .xz header");
}

#endif

/* Every codec of this build, a bit turned in every byte of a tile. */
static void damaged_bytes_are_errors_or_the_same_pixels_over_any_poison(void **state)
{
    (void)state;
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        const tile_stream *stream = &tile_streams[i];
        for (size_t at = 0; tf_available(stream) && at < stream->size; at++) {
            tb *b = tf_new(TB_CLASSIC, stream, 2, 1, NULL);
            b->data[b->size - 1 - at] ^= (uint8_t)(1u << at % 8);
            tz_file *file = tf_open(b);
            uint8_t *first, *second;
            tz_error err;
            const tz_result result = tf_read(file, (tz_window){0}, 1, 0x00, &first, NULL, &err);
            assert_int_equal(tf_read(file, (tz_window){0}, 2, 0xFF, &second, NULL, &err), result);
            assert_int_not_equal(result, TZ_ERR_INTERNAL);
            if (result == TZ_OK)
                assert_memory_equal(first, second, (size_t)2 * PIXELS * stream->bands);
            else
                assert_int_equal(err.tile, 1);
            free(first);
            free(second);
            tz_close(file);
            tb_free(b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef TZ_HAVE_LIBDEFLATE
        CASE(case_40_deflate_headers),
        CASE(case_40_deflate_checksum),
        CASE(case_40_deflate_cut_off_anywhere),
        CASE(case_40_deflate_of_one_byte_more_or_less),
        CASE(case_40_deflate_bomb),
        CASE(case_40_deflate_with_bytes_after_it),
        CASE(case_41_deflate_codes_that_are_too_many_or_too_few),
        CASE(case_41_deflate_distance_beyond_the_start),
        CASE(case_41_deflate_block_of_the_reserved_kind),
#endif
#ifdef TZ_HAVE_ZSTD
        CASE(case_42_zstd_frames_by_hand_are_read),
        CASE(case_42_zstd_magic_and_dictionary),
        CASE(case_42_zstd_window_of_2_gib),
        CASE(case_42_zstd_lies_about_its_size),
        CASE(case_42_zstd_checksum),
        CASE(case_42_zstd_bomb),
        CASE(case_42_zstd_cut_off_anywhere),
#endif
#ifdef TZ_HAVE_LZMA
        CASE(case_45_lzma_dictionary_of_4_gib),
        CASE(case_45_lzma_cut_off_anywhere),
        CASE(case_45_lzma_that_is_none),
#endif
        CASE(damaged_bytes_are_errors_or_the_same_pixels_over_any_poison),
    };
    tf_warm_up();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
