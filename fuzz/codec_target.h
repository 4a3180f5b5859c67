/* SPDX-License-Identifier: Apache-2.0
 * The core of every fuzz target of a codec: the first four bytes of the input choose the tile, the
 * rest is its compressed data. The tile is decoded three times, over different bytes around it,
 * with a state that has decoded other tiles and with a new one: all that is promised of a codec
 * must hold, and all results must be the same. */
#ifndef FUZZ_CODEC_TARGET_H
#define FUZZ_CODEC_TARGET_H

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TARGET_HEAD = 4 };

static inline void target_check(bool holds)
{
    if (!holds)
        abort();
}

static inline void *target_alloc(size_t size)
{
    void *block = calloc(size > 0 ? size : 1, 1);
    target_check(block != NULL);
    return block;
}

typedef struct target {
    const tz_decoder *codec;
    void *state;
    tz_limits limits;
    tz_error err;
    tz_warnings warnings;
    tz_context ctx;
} target;

static inline void target_open(target *t, const tz_decoder *codec)
{
    *t = (target){.codec = codec};
    tz_limits_resolve(&t->limits, NULL);
    t->limits.max_codec_bytes = 1 << 20;
    t->ctx = (tz_context){
        .name = "fuzz", .limits = &t->limits, .err = &t->err, .warnings = &t->warnings, .ifd = -1};
    t->state = target_alloc(codec->state_size);
    if (codec->init)
        target_check(codec->init(t->state, &t->ctx) == TZ_OK);
}

static inline void target_close(target *t)
{
    if (t->codec->deinit)
        t->codec->deinit(t->state);
    free(t->state);
    tz_warnings_deinit(&t->warnings);
}

static inline tz_result target_decode(target *t, const tz_tile_format *format, const uint8_t *in,
                                      size_t in_size, size_t stride, uint8_t poison, uint8_t **out)
{
    size_t row = tz_tile_row_bytes(format);
    size_t out_size = stride * (format->height - 1u) + row + (stride == row ? TZ_CODEC_SLACK : 0);
    uint8_t *input = target_alloc(in_size + TZ_CODEC_SLACK);
    memset(input, poison, in_size + TZ_CODEC_SLACK);
    memcpy(input, in, in_size);
    *out = target_alloc(out_size);
    memset(*out, poison, out_size);
    tz_codec_call call = {&t->ctx, tz_at_tile(0, false, 1, 2)};
    t->err = (tz_error){.result = TZ_OK};
    tz_warnings_deinit(&t->warnings);
    tz_result result = t->codec->decode(t->state, format, input, in_size, *out, stride, &call);
    target_check(result == t->err.result && (result == TZ_OK) == (t->err.message[0] == 0));
    target_check(result == TZ_OK || result == TZ_ERR_FORMAT || result == TZ_ERR_LIMIT ||
                 result == TZ_ERR_UNSUPPORTED);
    free(input);
    return result;
}

/* The same again, with another stride where the codec allows it. */
static inline void target_repeat(target *t, const tz_tile_format *format, const uint8_t *in,
                                 size_t in_size, tz_result expected, const uint8_t *rows)
{
    size_t row = tz_tile_row_bytes(format);
    size_t stride = (t->codec->flags & TZ_DECODER_ANY_STRIDE) ? row + 3 : row;
    uint8_t *out;
    target_check(target_decode(t, format, in, in_size, stride, 0x5A, &out) == expected);
    for (size_t y = 0; expected == TZ_OK && y < format->height; y++) {
        target_check(memcmp(out + y * stride, rows + y * row, row) == 0);
        for (size_t x = row; x < stride && y + 1 < format->height; x++)
            target_check(out[y * stride + x] == 0x5A);
    }
    free(out);
}

/* TIFF's first number for it. */
static inline uint16_t target_compression(const tz_decoder *decoder)
{
    const tz_codec *codec = tz_codecs;
    while (codec->decoder != decoder)
        codec++;
    return codec->infos[0].compression;
}

/* The tile that the first bytes ask for, 8 bits a pixel unless the target says otherwise. */
static inline tz_tile_format target_format(const tz_decoder *codec, const uint8_t *head)
{
    return (tz_tile_format){.width = 1u + head[0] + 256u * (head[1] & 15u),
                            .height = 1u + (head[2] & 15u),
                            .samples = 1,
                            .bits = 8,
                            .sample_format = 1,
                            .compression = target_compression(codec),
                            .fill_order = 1};
}

/* Decodes in all the ways. *rows, which the caller frees, are the tile when the result is TZ_OK. */
static inline tz_result target_run(const tz_decoder *codec, const tz_tile_format *format,
                                   const uint8_t *in, size_t in_size, uint8_t **rows)
{
    static target used; /* has decoded all inputs before this one */
    static bool open;
    target fresh;
    if (!open)
        target_open(&used, codec);
    open = true;
    target_open(&fresh, codec);
    size_t row = tz_tile_row_bytes(format);
    tz_result result = target_decode(&used, format, in, in_size, row, 0xC3, rows);
    target_repeat(&used, format, in, in_size, result, *rows);
    target_repeat(&fresh, format, in, in_size, result, *rows);
    target_close(&fresh);
    return result;
}

/* A whole target for a codec that has nothing special. */
static inline int target_simple(const tz_decoder *codec, const uint8_t *data, size_t size)
{
    if (size < TARGET_HEAD)
        return 0;
    tz_tile_format format = target_format(codec, data);
    uint8_t *rows;
    target_run(codec, &format, data + TARGET_HEAD, size - TARGET_HEAD, &rows);
    free(rows);
    return 0;
}

#endif
