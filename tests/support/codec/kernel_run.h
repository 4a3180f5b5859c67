/* SPDX-License-Identifier: Apache-2.0
 * Runs a kernel that decodes a tile beside the codec of the same name: status, warnings and bytes
 * must agree, whatever the input. */
#ifndef TESTS_SUPPORT_CODEC_KERNEL_RUN_H
#define TESTS_SUPPORT_CODEC_KERNEL_RUN_H

#include "kernels/status.h"
#include "support/codec/codec_run.h"
#include "support/codec/encode_run.h"

/* Decodes in_size bytes to size bytes; returns a tz_decode_status. */
typedef uint32_t kernel_decode(const uint8_t *in, uint32_t in_size, uint8_t *out, uint32_t size,
                               void *work);

/* By one item and then by a group: both say the same and make the same bytes. */
static inline uint32_t kernel_both(kernel_decode *item, kernel_decode *group, const uint8_t *in,
                                   uint32_t in_size, uint8_t *out, uint32_t size, void *work)
{
    uint8_t *first = run_alloc(size);
    uint32_t status = item(in, in_size, out, size, work);
    memcpy(first, out, size);
    memset(out, 0x99, size);
    assert_int_equal(group(in, in_size, out, size, work), status);
    if ((status & TZ_DECODE_ERRORS) == 0)
        assert_memory_equal(first, out, size);
    free(first);
    return status;
}

typedef struct kernel_run {
    codec_run codec;
    kernel_decode *decode;
    size_t work_size;
    uint8_t *work; /* a block of exactly its size */
} kernel_run;

enum { KERNEL_GUARD = 64 };

static inline void kernel_open(kernel_run *run, const tz_decoder *codec, kernel_decode *decode,
                               size_t work_size)
{
    run_open(&run->codec, codec);
    run->decode = decode;
    run->work_size = work_size;
    run->work = run_alloc(work_size);
}

static inline void kernel_close(kernel_run *run)
{
    free(run->work);
    run_close(&run->codec);
}

/* Input in a block of exactly its size, output in one of guard bytes more on either side; the
 * caller frees *out. */
static inline uint32_t kernel_once(const kernel_run *run, const uint8_t *in, size_t in_size,
                                   size_t size, size_t guard, uint8_t poison, uint8_t **out)
{
    uint8_t *input = run_alloc(in_size);
    uint8_t *block = run_alloc(size + 2 * guard);
    if (in_size > 0)
        memcpy(input, in, in_size);
    memset(run->work, poison, run->work_size);
    memset(block, poison, size + 2 * guard);
    uint32_t status =
        run->decode(input, (uint32_t)in_size, block + guard, (uint32_t)size, run->work);
    for (size_t i = 0; i < guard; i++) {
        assert_int_equal(block[i], poison);
        assert_int_equal(block[guard + size + i], poison);
    }
    memmove(block, block + guard, size);
    free(input);
    *out = block;
    return status;
}

/* The kernel's verdict, the same with and without memory around the tile and whatever memory held
 * before. *out, for the caller to free, is the tile. */
static inline uint32_t kernel_twice(const kernel_run *run, const uint8_t *in, size_t in_size,
                                    size_t size, uint8_t **out)
{
    uint8_t *first, *second;
    uint32_t status = kernel_once(run, in, in_size, size, 0, 0xEE, &first);
    assert_int_equal(kernel_once(run, in, in_size, size, KERNEL_GUARD, 0x11, &second), status);
    if ((status & TZ_DECODE_ERRORS) == 0)
        assert_memory_equal(first, second, size);
    free(second);
    *out = first;
    return status;
}

static inline unsigned kernel_warnings(uint32_t status)
{
    unsigned count = 0;
    for (uint32_t bit = TZ_DECODE_BYTES_AFTER; bit <= TZ_DECODE_STRING_TRUNCATED; bit <<= 1)
        count += (status & bit) ? 1u : 0u;
    return count;
}

static inline bool kernel_warned(kernel_run *run, uint32_t status, uint32_t bit, const char *text)
{
    return !(status & bit) || bench_find(&run->codec.bench, text);
}

/* The codec has warned of what status says, and of nothing else. */
static inline void kernel_check_warnings(kernel_run *run, uint32_t status)
{
    assert_int_equal(run->codec.bench.warnings.count, kernel_warnings(status));
    assert_true(kernel_warned(run, status, TZ_DECODE_BYTES_AFTER, "bytes after the end"));
    assert_true(kernel_warned(run, status, TZ_DECODE_NO_END, "does not end where the tile does"));
    assert_true(kernel_warned(run, status, TZ_DECODE_OLD_ORDER, "old bit order"));
    assert_true(
        kernel_warned(run, status, TZ_DECODE_STRING_TRUNCATED, "passes the end of the tile"));
}

/* Both decode; the status on which they agree. UNSURE agrees with everything. */
static inline uint32_t kernel_agrees(kernel_run *run, const uint8_t *in, size_t in_size,
                                     size_t size)
{
    tz_tile_format format = {.width = (uint32_t)size,
                             .height = 1,
                             .samples = 1,
                             .bits = 8,
                             .sample_format = 1,
                             .compression = decoder_compression(run->codec.codec)};
    uint8_t *tile, *expected;
    uint32_t status = kernel_twice(run, in, in_size, size, &tile);
    tz_warnings_deinit(&run->codec.bench.warnings);
    tz_result result = run_once(&run->codec, &format, in, in_size, size, 0x3C, &expected);
    if (status != TZ_DECODE_UNSURE) {
        assert_int_equal((status & TZ_DECODE_ERRORS) == 0, result == TZ_OK);
        if (result == TZ_OK) {
            assert_memory_equal(tile, expected, size);
            kernel_check_warnings(run, status);
        }
    }
    tz_warnings_deinit(&run->codec.bench.warnings);
    free(tile);
    free(expected);
    return status;
}

/* The stream makes exactly these bytes, without a warning. */
static inline void kernel_makes(kernel_run *run, const uint8_t *in, size_t in_size,
                                const uint8_t *pixels, size_t size)
{
    uint8_t *tile;
    assert_int_equal(kernel_twice(run, in, in_size, size, &tile), TZ_DECODE_OK);
    if (size > 0)
        assert_memory_equal(tile, pixels, size);
    free(tile);
}

/* The stream cut off anywhere, and with every bit changed. Returns how often UNSURE came. */
static inline unsigned kernel_damaged(kernel_run *run, const uint8_t *in, size_t in_size,
                                      size_t size)
{
    unsigned unsure = 0;
    uint8_t *copy = run_alloc(in_size);
    for (size_t cut = 0; cut <= in_size; cut++)
        unsure += kernel_agrees(run, in, cut, size) == TZ_DECODE_UNSURE;
    for (size_t bit = 0; bit < 8 * in_size; bit++) {
        memcpy(copy, in, in_size);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        unsure += kernel_agrees(run, copy, in_size, size) == TZ_DECODE_UNSURE;
    }
    free(copy);
    return unsure;
}

static const size_t kernel_sizes[] = {1, 7, 64, 4096, 65537};
enum { KERNEL_SIZES = sizeof kernel_sizes / sizeof kernel_sizes[0], KERNEL_KINDS = 5 };

/* Bytes of one kind: one value, runs, slopes, few values without order, noise. */
static inline uint8_t *kernel_pixels(size_t size, unsigned kind)
{
    uint8_t *pixels = run_alloc(size);
    uint32_t random = 7;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525u + 1013904223u;
        const uint8_t kinds[KERNEL_KINDS] = {9, (uint8_t)(i / 37 * 11),
                                             (uint8_t)(i + (random >> 30)), (uint8_t)(random >> 28),
                                             (uint8_t)(random >> 24)};
        pixels[i] = kinds[kind];
    }
    return pixels;
}

/* Decodes encoded pixels of all kinds and sizes; small ones also damaged. */
static inline void kernel_takes_all_of(kernel_run *run, const tz_encoder *encoder)
{
    for (unsigned kind = 0; kind < KERNEL_KINDS; kind++) {
        for (size_t i = 0; i < KERNEL_SIZES; i++) {
            uint8_t *pixels = kernel_pixels(kernel_sizes[i], kind);
            tz_tile_format format = encode_format(encoder, kernel_sizes[i], 1);
            encode_run opened;
            encode_open(&opened, encoder, &format, 0);
            encoded tile;
            assert_int_equal(encode_once(&opened, pixels, 1, &tile), TZ_OK);
            kernel_makes(run, tile.bytes, tile.size, pixels, kernel_sizes[i]);
            if (kernel_sizes[i] <= 64)
                kernel_damaged(run, tile.bytes, tile.size, kernel_sizes[i]);
            encode_close(&opened);
            free(tile.bytes);
            free(pixels);
        }
    }
}

#endif
