/* SPDX-License-Identifier: Apache-2.0
 * Runs one codec as the library would, with every promise of codec.h checked: input and output in
 * buffers of exactly their size and slack, each tile decoded several times over different poisons.
 */
#ifndef TESTS_SUPPORT_CODEC_CODEC_RUN_H
#define TESTS_SUPPORT_CODEC_CODEC_RUN_H

#include <stdlib.h>

#include "codec/codec.h"
#include "support/alloc_hook.h"
#include "support/context.h"

typedef struct codec_run {
    bench bench;
    const tz_decoder *codec;
    void *state;
} codec_run;

static inline void *run_alloc(size_t size)
{
    void *block = malloc(size > 0 ? size : 1);
    if (!block)
        abort();
    return block;
}

/* TIFF's first number for it. */
static inline uint16_t decoder_compression(const tz_decoder *decoder)
{
    const tz_codec *codec = tz_codecs;
    while (codec->decoder != decoder)
        codec++;
    return codec->infos[0].compression;
}

static inline void run_open(codec_run *run, const tz_decoder *codec)
{
    bench_init(&run->bench);
    run->codec = codec;
    run->state = calloc(1, codec->state_size > 0 ? codec->state_size : 1);
    if (!run->state)
        abort();
    if (codec->init)
        assert_int_equal(codec->init(run->state, &run->bench.ctx), TZ_OK);
}

static inline void run_close(codec_run *run)
{
    if (run->codec->deinit)
        run->codec->deinit(run->state);
    free(run->state);
    bench_deinit(&run->bench);
}

/* Decode to rows stride bytes apart, in a block of exactly the size that codec.h promises. The
 * caller frees *out. */
static inline tz_result run_once(codec_run *run, const tz_tile_format *format, const uint8_t *in,
                                 size_t in_size, size_t stride, uint8_t poison, uint8_t **out)
{
    size_t row = tz_tile_row_bytes(format);
    const bool exact = run->codec->flags & TZ_DECODER_NO_OVERRUN;
    size_t slack = stride == row && !exact ? TZ_CODEC_SLACK : 0;
    size_t size = (tz_tile_rows(format) - 1u) * stride + row + slack;
    uint8_t *input = run_alloc(in_size + TZ_CODEC_SLACK);
    if (in_size > 0)
        memcpy(input, in, in_size);
    memset(input + in_size, poison ^ 0x3C, TZ_CODEC_SLACK);
    *out = run_alloc(size);
    memset(*out, poison, size);
    tz_codec_call call = {&run->bench.ctx, tz_at_tile(0, false, 7, 1000)};
    tz_result result = run->codec->decode(run->state, format, input, in_size, *out, stride, &call);
    free(input);
    return result;
}

/* The tile, packed; decoded twice with equal rows, and by codecs that can, again with rows
 * apart and nothing written between them. */
static inline uint8_t *run_decode(codec_run *run, const tz_tile_format *format, const uint8_t *in,
                                  size_t in_size)
{
    size_t row = tz_tile_row_bytes(format), apart = row + 5;
    uint8_t *first, *second, *spread;
    tz_result result = run_once(run, format, in, in_size, row, 0x11, &first);
    if (result != TZ_OK)
        print_error("%s\n", run->bench.err.message);
    assert_int_equal(result, TZ_OK);
    assert_int_equal(run_once(run, format, in, in_size, row, 0xEE, &second), TZ_OK);
    assert_memory_equal(first, second, tz_tile_bytes(format));
    free(second);
    if (!(run->codec->flags & TZ_DECODER_ANY_STRIDE))
        return first;
    assert_int_equal(run_once(run, format, in, in_size, apart, 0xA7, &spread), TZ_OK);
    for (size_t y = 0; y < tz_tile_rows(format); y++) {
        assert_memory_equal(first + y * row, spread + y * apart, row);
        for (size_t i = row; y + 1 < tz_tile_rows(format) && i < apart; i++)
            assert_int_equal(spread[y * apart + i], 0xA7);
    }
    free(spread);
    return first;
}

/* Why a tile was refused. */
typedef struct refusal {
    tz_result result;
    tz_cause cause;
} refusal;
#define REFUSED_CODEC       ((refusal){TZ_ERR_FORMAT, TZ_CAUSE_CODEC})
#define REFUSED_LIMIT       ((refusal){TZ_ERR_LIMIT, TZ_CAUSE_LIMIT})
#define REFUSED_UNSUPPORTED ((refusal){TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED})

/* Fails in this way at the tile's offset, and again in the same way. */
#define run_refuses(run, format, in, in_size, refused)                                             \
    run_refuses_at(run, format, in, in_size, refused, NULL, __FILE__, __LINE__)
/* The same, and the message has this text. */
#define run_refuses_saying(run, format, in, in_size, refused, text)                                \
    run_refuses_at(run, format, in, in_size, refused, text, __FILE__, __LINE__)

static inline void run_refuses_at(codec_run *run, const tz_tile_format *format, const uint8_t *in,
                                  size_t in_size, refusal refused, const char *text,
                                  const char *file, int line)
{
    for (int i = 0; i < 2; i++) {
        run->bench.err = (tz_error){.result = TZ_OK};
        uint8_t *out;
        tz_result got = run_once(run, format, in, in_size, tz_tile_row_bytes(format), 0x11, &out);
        free(out);
        const tz_error *err = &run->bench.err;
        bool as_said = got == refused.result && err->result == got && err->cause == refused.cause &&
                       err->tile == 7 && err->offset == 1000 &&
                       (!text || strstr(err->message, text));
        if (!as_said) {
            print_error("%s, %s: %s\n", tz_result_name(got), tz_cause_name(err->cause),
                        got == TZ_OK ? "" : err->message);
            _fail(file, line);
        }
    }
}

/* The tile decodes with one warning that has this text, and is an error in strict mode. */
static inline uint8_t *run_warns(codec_run *run, const tz_tile_format *format, const uint8_t *in,
                                 size_t in_size, const char *text)
{
    uint8_t *out, *strict;
    tz_warnings_deinit(&run->bench.warnings);
    run->bench.ctx.strict = true;
    assert_int_equal(run_once(run, format, in, in_size, tz_tile_row_bytes(format), 0, &strict),
                     TZ_ERR_FORMAT);
    free(strict);
    assert_int_equal(run->bench.err.cause, TZ_CAUSE_CODEC);
    run->bench.ctx.strict = false;
    out = run_decode(run, format, in, in_size);
    if (!bench_find(&run->bench, text))
        bench_print(&run->bench);
    assert_non_null(bench_find(&run->bench, text));
    assert_int_equal(run->bench.warnings.count, 1);
    tz_warnings_deinit(&run->bench.warnings);
    return out;
}

/* Make every allocation of a fresh codec fail in turn, in the first tile and in a second one. */
static inline void run_without_memory(const tz_decoder *codec, const tz_tile_format *format,
                                      const uint8_t *in, size_t in_size)
{
    for (uint64_t n = 1;; n++) {
        codec_run run;
        run_open(&run, codec);
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        bool failed = false;
        for (int i = 0; i < 3; i++) {
            uint8_t *out;
            tz_result result =
                run_once(&run, format, in, in_size, tz_tile_row_bytes(format), 0x11, &out);
            free(out);
            failed = failed || result == TZ_ERR_NOMEM;
            assert_true(result == TZ_OK || result == TZ_ERR_NOMEM);
        }
        uint64_t failures = alloc_hook_stats().failures;
        run_close(&run);
        int64_t live = alloc_hook_stats().live_bytes;
        alloc_hook_remove();
        assert_int_equal(live, 0);
        assert_true(failed == (failures > 0));
        if (failures == 0)
            return;
    }
}

/* Damage bytes of a stream in many ways. Whatever comes out is the same over any poison, and the
 * same when asked again. Returns how many of the damaged streams were decoded. */
static inline unsigned run_damaged(codec_run *run, const tz_tile_format *format, const uint8_t *in,
                                   size_t in_size, unsigned rounds)
{
    uint32_t random = 12345;
    unsigned decoded = 0;
    size_t row = tz_tile_row_bytes(format);
    uint8_t *copy = run_alloc(in_size);
    for (unsigned i = 0; i < rounds; i++) {
        size_t size = in_size;
        memcpy(copy, in, in_size);
        random = random * 1664525u + 1013904223u;
        size_t at = (random >> 8) % in_size;
        if (i % 8 == 7)
            size = at; /* cut off */
        else
            copy[at] ^= (uint8_t)(1u << (random >> 5 & 7));
        uint8_t *first, *second;
        tz_result result = run_once(run, format, copy, size, row, 0x11, &first);
        assert_int_equal(run_once(run, format, copy, size, row, 0xEE, &second), result);
        assert_true(result != TZ_ERR_INTERNAL && result != TZ_ERR_NOMEM);
        if (result == TZ_OK) {
            decoded++;
            assert_memory_equal(first, second, tz_tile_bytes(format));
        }
        free(first);
        free(second);
    }
    free(copy);
    return decoded;
}

/* Steady state: no allocation for a tile like the one before. */
static inline uint64_t run_allocations(codec_run *run, const tz_tile_format *format,
                                       const uint8_t *in, size_t in_size)
{
    uint8_t *out;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_once(run, format, in, in_size, tz_tile_row_bytes(format), 0, &out),
                         TZ_OK);
        free(out);
    }
    alloc_hook_install();
    assert_int_equal(run_once(run, format, in, in_size, tz_tile_row_bytes(format), 0, &out), TZ_OK);
    free(out);
    uint64_t allocations = alloc_hook_stats().allocations;
    alloc_hook_remove();
    return allocations;
}

/* Pixels that look like a photograph: slopes and a little noise. */
static inline uint8_t *run_picture(size_t width, size_t height, size_t samples)
{
    uint8_t *pixels = run_alloc(width * height * samples);
    uint32_t random = 1;
    for (size_t i = 0; i < width * height * samples; i++) {
        size_t x = i / samples % width, y = i / samples / width, s = i % samples;
        random = random * 1103515245u + 12345u;
        pixels[i] = (uint8_t)(x * 3 + y * (2 + s) + (random >> 16 & 7) + 40 * s);
    }
    return pixels;
}

#endif
