/* SPDX-License-Identifier: Apache-2.0
 * Runs one encoder as the library would, with every promise of encoder.h checked: input in a buffer
 * of exactly its size and slack, output in one of exactly the bound with guards after it, each
 * tile encoded several times over different poisons, by a used state and by a new one. */
#ifndef TESTS_SUPPORT_CODEC_ENCODE_RUN_H
#define TESTS_SUPPORT_CODEC_ENCODE_RUN_H

#include "codec/codec.h"
#include "support/codec/codec_run.h"

enum { ENCODE_GUARD = 64 };

typedef struct encode_run {
    bench bench;
    const tz_encoder *encoder;
    tz_tile_format format;
    tz_encode_options choice;
    void *state;
} encode_run;

/* Bytes of a tile, encoded; the caller frees them. */
typedef struct encoded {
    uint8_t *bytes;
    size_t size;
} encoded;

/* TIFF's first number for it. */
static inline uint16_t encoder_compression(const tz_encoder *encoder)
{
    const tz_codec *codec = tz_codecs;
    while (codec->encoder != encoder)
        codec++;
    return codec->infos[0].compression;
}

static inline tz_tile_format encode_format(const tz_encoder *encoder, size_t width, size_t height)
{
    return (tz_tile_format){.width = (uint32_t)width,
                            .height = (uint32_t)height,
                            .samples = 1,
                            .bits = 8,
                            .sample_format = 1,
                            .compression = encoder_compression(encoder),
                            .fill_order = 1};
}

/* A state, zeroed; init may fail. */
static inline tz_result encode_start(encode_run *run, const tz_encoder *encoder,
                                     const tz_tile_format *format, const tz_encode_options *choice)
{
    bench_init(&run->bench);
    run->encoder = encoder;
    run->format = *format;
    run->choice = *choice;
    run->state = calloc(1, encoder->state_size > 0 ? encoder->state_size : 1);
    if (!run->state)
        abort();
    return encoder->init ? encoder->init(run->state, &run->format, &run->choice, &run->bench.ctx)
                         : TZ_OK;
}

static inline void encode_close(encode_run *run)
{
    if (run->encoder->deinit)
        run->encoder->deinit(run->state);
    free(run->state);
    bench_deinit(&run->bench);
}

/* For tiles of size bytes at this level, after the choice was checked. */
static inline void encode_open(encode_run *run, const tz_encoder *encoder,
                               const tz_tile_format *format, int32_t level)
{
    bench b;
    bench_init(&b);
    tz_encode_options choice = {.level = level};
    assert_int_equal(tz_encoder_check(encoder, format, &choice, &b.ctx), TZ_OK);
    bench_deinit(&b);
    assert_int_equal(encode_start(run, encoder, format, &choice), TZ_OK);
}

static inline tz_result encode_once(encode_run *run, const uint8_t *rows, uint8_t poison,
                                    encoded *out)
{
    size_t size = tz_tile_bytes(&run->format);
    size_t bound = run->encoder->bound(&run->format, &run->choice);
    uint8_t *in = run_alloc(size + TZ_CODEC_SLACK);
    memcpy(in, rows, size);
    memset(in + size, poison, TZ_CODEC_SLACK);
    out->bytes = run_alloc(bound + ENCODE_GUARD);
    memset(out->bytes, poison, bound + ENCODE_GUARD);
    out->size = 0;
    tz_codec_call call = {&run->bench.ctx, tz_at_tile(0, false, 7, 1000)};
    tz_result result = run->encoder->encode(run->state, &run->format, &run->choice, in, out->bytes,
                                            &out->size, &call);
    for (size_t i = 0; i < ENCODE_GUARD; i++)
        assert_int_equal(out->bytes[bound + i], poison);
    assert_true(out->size <= bound);
    free(in);
    return result;
}

/* The tile, encoded twice and again by a state that is new: always to the same bytes. */
static inline encoded encode_tile(encode_run *run, const uint8_t *rows)
{
    encoded first, second, third;
    encode_run fresh;
    tz_result result = encode_once(run, rows, 0x11, &first);
    if (result != TZ_OK)
        print_error("%s\n", run->bench.err.message);
    assert_int_equal(result, TZ_OK);
    assert_int_equal(encode_once(run, rows, 0xEE, &second), TZ_OK);
    assert_int_equal(encode_start(&fresh, run->encoder, &run->format, &run->choice), TZ_OK);
    assert_int_equal(encode_once(&fresh, rows, 0xA7, &third), TZ_OK);
    encode_close(&fresh);
    assert_int_equal(first.size, second.size);
    assert_int_equal(first.size, third.size);
    assert_memory_equal(first.bytes, second.bytes, first.size);
    assert_memory_equal(first.bytes, third.bytes, first.size);
    free(second.bytes);
    free(third.bytes);
    return first;
}

/* The library's own decoder gives the rows back, without a warning. */
static inline void encode_decodes(const encode_run *run, const encoded *tile, const uint8_t *rows)
{
    const tz_decoder *codec = NULL;
    codec_run decoder;
    assert_int_equal(tz_decoder_find(run->format.compression, &run->bench.ctx, &codec), TZ_OK);
    run_open(&decoder, codec);
    uint8_t *out = run_decode(&decoder, &run->format, tile->bytes, tile->size);
    assert_memory_equal(out, rows, tz_tile_bytes(&run->format));
    free(out);
    bench_silent(&decoder.bench);
    run_close(&decoder);
}

/* There and back; returns the encoded size. */
static inline size_t encode_returns(encode_run *run, const uint8_t *rows)
{
    encoded tile = encode_tile(run, rows);
    encode_decodes(run, &tile, rows);
    free(tile.bytes);
    return tile.size;
}

/* Make every allocation of init and encode fail in turn. */
static inline void encode_without_memory(const tz_encoder *encoder, const tz_tile_format *format,
                                         const tz_encode_options *choice, const uint8_t *rows)
{
    for (uint64_t n = 1, failures = 1; failures > 0; n++) {
        encode_run run;
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        tz_result result = encode_start(&run, encoder, format, choice);
        bool failed = result != TZ_OK;
        for (int i = 0; !failed && i < 2; i++) {
            encoded tile;
            result = encode_once(&run, rows, 0x11, &tile);
            failed = result != TZ_OK;
            free(tile.bytes);
        }
        assert_true(result == TZ_OK || (result == TZ_ERR_NOMEM && run.bench.err.message[0]));
        failures = alloc_hook_stats().failures;
        assert_true(failed == (failures > 0));
        encode_close(&run);
        int64_t live = alloc_hook_stats().live_bytes;
        alloc_hook_remove();
        assert_int_equal(live, 0);
    }
}

/* The kinds of rows that encoders are tried with. */
typedef enum encode_kind {
    ENCODE_EQUAL,
    ENCODE_RAMP,
    ENCODE_NOISE,
    ENCODE_RUNS,       /* of every length, and noise between them */
    ENCODE_STEPS,      /* small differences, as predictors leave them */
    ENCODE_PERIODIC,   /* the same 61 bytes again and again */
    ENCODE_TWO_VALUES, /* changing at random */
    ENCODE_KINDS
} encode_kind;

static inline uint8_t encode_byte(encode_kind kind, size_t i, uint32_t random, uint8_t before)
{
    switch (kind) {
    case ENCODE_EQUAL:
        return 0xA5;
    case ENCODE_RAMP:
        return (uint8_t)(i * 3);
    case ENCODE_NOISE:
        return (uint8_t)(random >> 24);
    case ENCODE_RUNS:
        return random >> 27 == 0 || (i / 1000 % 3 == 0) ? (uint8_t)(random >> 16) : before;
    case ENCODE_STEPS:
        return (uint8_t)((random >> 30) + (random >> 28 & 3) - 3 + (random >> 20 & 255 ? 0 : 90));
    case ENCODE_PERIODIC:
        return (uint8_t)(i % 61 * 7);
    default:
        return (uint8_t)(random >> 31);
    }
}

static inline uint8_t *encode_rows(encode_kind kind, size_t size)
{
    uint8_t *rows = run_alloc(size);
    uint32_t random = 77;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525u + 1013904223u;
        rows[i] = encode_byte(kind, i, random, i > 0 ? rows[i - 1] : 0);
    }
    return rows;
}

#endif
