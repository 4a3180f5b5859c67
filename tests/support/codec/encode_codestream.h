/* SPDX-License-Identifier: Apache-2.0
 * Runs one encoder as the library would, with every promise of encoder.h checked: input and output
 * in buffers of exactly their size, each tile encoded again by a used and by a fresh state, and
 * what comes out given to our own decoder. */
#ifndef TESTS_SUPPORT_CODEC_ENCODE_CODESTREAM_H
#define TESTS_SUPPORT_CODEC_ENCODE_CODESTREAM_H

#include <math.h>

#include "codec/codec.h"
#include "support/codec/codec_run.h"

enum { GUARD_SIZE = 64, GUARD_BYTE = 0x5A };

typedef struct encode_run {
    bench bench;
    const tz_encoder *encoder;
    tz_tile_format format;
    tz_encode_options choice;
    void *state;
    uint8_t *tables;
} encode_run;

/* Bytes that the caller frees. */
typedef struct encoded {
    uint8_t *data;
    size_t size;
} encoded;

static inline tz_result encode_start(encode_run *run)
{
    run->state = calloc(1, run->encoder->state_size > 0 ? run->encoder->state_size : 1);
    if (!run->state)
        abort();
    if (!run->encoder->init)
        return TZ_OK;
    return run->encoder->init(run->state, &run->format, &run->choice, &run->bench.ctx);
}

static inline void encode_stop(encode_run *run)
{
    if (run->encoder->deinit)
        run->encoder->deinit(run->state);
    free(run->state);
}

/* Puts the tables that all tiles share into the format, for the decoder. */
static inline tz_result encode_tables(encode_run *run)
{
    if (!run->encoder->tables)
        return TZ_OK;
    const size_t bound = run->encoder->bound(&run->format, &run->choice);
    free(run->tables);
    run->tables = run_alloc(bound);
    size_t size = 0;
    tz_result result =
        run->encoder->tables(&run->format, &run->choice, run->tables, &size, &run->bench.ctx);
    run->format.tables = result == TZ_OK && size > 0 ? run->tables : NULL;
    run->format.tables_size = run->format.tables ? size : 0;
    return result;
}

static inline void encode_open(encode_run *run, const tz_encoder *encoder, tz_tile_format format,
                               tz_encode_options choice)
{
    *run = (encode_run){.encoder = encoder, .format = format, .choice = choice};
    bench_init(&run->bench);
    tz_result result = tz_encoder_check(encoder, &run->format, &run->choice, &run->bench.ctx);
    if (result != TZ_OK)
        print_error("%s\n", run->bench.err.message);
    assert_int_equal(result, TZ_OK);
    assert_int_equal(encode_start(run), TZ_OK);
    assert_int_equal(encode_tables(run), TZ_OK);
}

static inline void encode_close(encode_run *run)
{
    encode_stop(run);
    free(run->tables);
    bench_deinit(&run->bench);
}

/* Encode once: nothing is written after bound(), and what the memory held before does not show. */
static inline tz_result encode_once(encode_run *run, const tz_tile_format *format,
                                    const uint8_t *pixels, encoded *out)
{
    static uint8_t poison;
    const size_t size = tz_tile_bytes(format);
    const size_t bound = run->encoder->bound(format, &run->choice);
    uint8_t *in = run_alloc(size + TZ_CODEC_SLACK);
    memcpy(in, pixels, size);
    memset(in + size, poison, TZ_CODEC_SLACK);
    *out = (encoded){run_alloc(bound + GUARD_SIZE), 0};
    memset(out->data, poison, bound);
    memset(out->data + bound, GUARD_BYTE, GUARD_SIZE);
    poison += 37;
    const tz_codec_call call = {&run->bench.ctx, tz_at_tile(0, false, 7, 1000)};
    tz_result result =
        run->encoder->encode(run->state, format, &run->choice, in, out->data, &out->size, &call);
    for (size_t i = 0; i < GUARD_SIZE; i++)
        assert_int_equal(out->data[bound + i], GUARD_BYTE);
    assert_true(result != TZ_OK || (out->size > 0 && out->size <= bound));
    free(in);
    return result;
}

/* The same bytes from this state, used, and from a fresh one. */
static inline encoded encode_rows(encode_run *run, uint32_t rows, const uint8_t *pixels)
{
    tz_tile_format format = run->format;
    format.height = rows;
    encoded first, again;
    encode_run fresh = {
        .bench = run->bench, .encoder = run->encoder, .format = run->format, .choice = run->choice};
    tz_result result = encode_once(run, &format, pixels, &first);
    if (result != TZ_OK)
        print_error("%s\n", run->bench.err.message);
    assert_int_equal(result, TZ_OK);
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            assert_int_equal(encode_start(&fresh), TZ_OK);
        assert_int_equal(encode_once(i == 0 ? run : &fresh, &format, pixels, &again), TZ_OK);
        assert_int_equal(again.size, first.size);
        assert_memory_equal(again.data, first.data, first.size);
        free(again.data);
    }
    encode_stop(&fresh);
    bench_silent(&run->bench);
    return first;
}

/* Returns the result of our decoder, which must not warn. */
static inline uint8_t *encode_decoded(encode_run *run, uint32_t rows, const encoded *tile)
{
    const tz_decoder *codec;
    tz_tile_format format = run->format;
    format.height = rows;
    assert_int_equal(tz_decoder_find(format.compression, &run->bench.ctx, &codec), TZ_OK);
    codec_run decoder;
    run_open(&decoder, codec);
    uint8_t *pixels = run_decode(&decoder, &format, tile->data, tile->size);
    bench_silent(&decoder.bench);
    run_close(&decoder);
    return pixels;
}

/* There and back; the caller frees the pixels. */
static inline uint8_t *encode_round_trip(encode_run *run, uint32_t rows, const uint8_t *pixels)
{
    encoded tile = encode_rows(run, rows, pixels);
    uint8_t *back = encode_decoded(run, rows, &tile);
    free(tile.data);
    return back;
}

/* Exactly the same pixels come back. */
static inline void encode_is_exact(encode_run *run, uint32_t rows, const uint8_t *pixels)
{
    uint8_t *back = encode_round_trip(run, rows, pixels);
    assert_memory_equal(back, pixels, tz_tile_row_bytes(&run->format) * rows);
    free(back);
}

/* Peak signal to noise of bytes, in decibels; 100 when they are the same. */
static inline double encode_psnr(const uint8_t *a, const uint8_t *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sum > 0 ? 10 * log10(255.0 * 255.0 * (double)count / sum) : 100;
}

/* The encoder says no, with this result and this text. */
#define encode_refuses(encoder, format, choice, result, text)                                      \
    encode_refuses_at(encoder, format, choice, result, text, __FILE__, __LINE__)

static inline void encode_refuses_at(const tz_encoder *encoder, tz_tile_format format,
                                     tz_encode_options choice, tz_result expected, const char *text,
                                     const char *file, int line)
{
    bench b;
    bench_init(&b);
    tz_result result = tz_encoder_check(encoder, &format, &choice, &b.ctx);
    if (result != expected || !strstr(b.err.message, text)) {
        print_error("%s: %s\n", tz_result_name(result), b.err.message);
        _fail(file, line);
    }
    bench_deinit(&b);
}

/* Make every allocation of ours fail in turn: at the start, for the tables, in the first tile and
 * in later ones. Then what is held at most is within memory(). */
static inline void encode_without_memory(const tz_encoder *encoder, tz_tile_format format,
                                         tz_encode_options choice, const uint8_t *pixels)
{
    for (uint64_t n = 1;; n++) {
        encode_run run = {.encoder = encoder, .format = format, .choice = choice};
        bench_init(&run.bench);
        assert_int_equal(tz_encoder_check(encoder, &format, &run.choice, &run.bench.ctx), TZ_OK);
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        tz_result result = encode_start(&run);
        bool failed = result == TZ_ERR_NOMEM;
        for (int i = 0; result == TZ_OK && i < 3; i++) {
            encoded tile;
            tz_result one = encode_once(&run, &format, pixels, &tile);
            free(tile.data);
            assert_true(one == TZ_OK || one == TZ_ERR_NOMEM);
            failed = failed || one == TZ_ERR_NOMEM;
        }
        encode_stop(&run);
        int64_t peak = alloc_hook_stats().peak_bytes;
        if (!failed)
            failed = encode_tables(&run) == TZ_ERR_NOMEM;
        alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        free(run.tables);
        bench_deinit(&run.bench);
        assert_int_equal(stats.live_bytes, 0);
        assert_true(failed == (stats.failures > 0));
        if (stats.failures == 0) {
            const uint64_t said = encoder->memory ? encoder->memory(&format, &run.choice) : 0;
            assert_true((uint64_t)peak <= said);
            return;
        }
    }
}

/* The worst there is to compress. */
static inline uint8_t *encode_noise(size_t size)
{
    uint8_t *bytes = run_alloc(size);
    uint32_t random = 7;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(random >> 24);
    }
    return bytes;
}

#endif
