/* SPDX-License-Identifier: Apache-2.0
 * Code that all codecs share: their errors, the check of encoders, and the decoding of tiles that
 * have another number of rows than the file says. Readers call tz_decode_tile, which calls the
 * decoder and, only if that fails, tries the other height; so a file that is right pays nothing for
 * those that are not. */
#include "codec/codec.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

tz_result tz_codec_fail(const tz_codec_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)tz_vfail(call->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC, call->location, format, args);
    va_end(args);
    return TZ_ERR_FORMAT;
}

tz_result tz_codec_fail_size(const tz_codec_call *call, uint64_t expected, uint64_t found,
                             const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)tz_vfail(call->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                   tz_expecting(call->location, expected, found), format, args);
    va_end(args);
    return TZ_ERR_FORMAT;
}

tz_result tz_codec_fail_unsupported(const tz_codec_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)tz_vfail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, call->location, format,
                   args);
    va_end(args);
    return TZ_ERR_UNSUPPORTED;
}

tz_result tz_codec_warn(const tz_codec_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const tz_result result =
        tz_vwarn(call->ctx, 1, TZ_ERR_FORMAT, TZ_CAUSE_CODEC, call->location, format, args);
    va_end(args);
    return result;
}

tz_result tz_codec_check_memory(const tz_codec_call *call, uint64_t bytes, const char *what)
{
    return tz_check_limit(call->ctx, offsetof(tz_limits, max_codec_bytes), call->location, bytes,
                          what);
}

tz_result tz_codec_reserve(tz_codec_buffer *buffer, uint64_t size, const char *what,
                           const tz_codec_call *call)
{
    if (what)
        TZ_TRY(tz_codec_check_memory(call, size, what));
    if (size <= buffer->capacity)
        return TZ_OK;
    tz_codec_buffer_deinit(buffer);
    buffer->data = size <= SIZE_MAX ? tz_alloc((size_t)size) : NULL;
    if (!buffer->data)
        return tz_fail_nomem(call->ctx, size);
    buffer->capacity = (size_t)size;
    return TZ_OK;
}

void tz_codec_buffer_deinit(tz_codec_buffer *buffer)
{
    tz_free(buffer->data);
    *buffer = (tz_codec_buffer){NULL, 0};
}

void tz_codec_clear_rest(const tz_tile_format *format, size_t row_bytes, size_t rows, uint8_t *out,
                         size_t stride)
{
    const size_t whole = tz_tile_row_bytes(format);
    for (size_t y = 0; row_bytes < whole && y < rows; y++)
        memset(out + y * stride + row_bytes, 0, whole - row_bytes);
    for (size_t y = rows; y < tz_tile_rows(format); y++)
        memset(out + y * stride, 0, whole);
}

bool tz_encoder_is_lossy(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)format;
    return !options->lossless;
}

tz_result tz_codec_check_end(const tz_codec_call *call, size_t used, size_t in_size)
{
    if (used >= in_size)
        return TZ_OK;
    return tz_warn(call->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                   tz_expecting(call->location, used, in_size),
                   "bytes after the end of the compressed data are ignored");
}

/* Decodes a tile with another height than its format has, to memory of its own, and copies the
 * upper rows to out. */
static tz_result decode_with_height(const tz_decoder *decoder, void *state,
                                    const tz_tile_format *format, uint32_t height,
                                    const uint8_t *in, size_t in_size, uint8_t *out, size_t stride,
                                    const tz_codec_call *call)
{
    tz_tile_format other = *format;
    other.height = height;
    other.strip_height = 0;
    other.image_rows = 0;
    size_t row_bytes = tz_tile_row_bytes(&other);
    uint64_t size;
    if (!tz_mul(row_bytes, tz_tile_rows(&other), &size) || !tz_add(size, TZ_CODEC_SLACK, &size))
        size = UINT64_MAX;
    TZ_TRY(tz_check_limit(call->ctx, offsetof(tz_limits, max_tile_bytes), call->location, size,
                          "bytes of a strip"));
    uint8_t *rows = size <= SIZE_MAX ? tz_alloc((size_t)size) : NULL;
    if (!rows)
        return tz_fail_nomem(call->ctx, size);
    tz_result result = decoder->decode(state, &other, in, in_size, rows, row_bytes, call);
    for (size_t row = 0; result == TZ_OK && row < tz_tile_rows(format); row++) {
        if (row < tz_tile_rows(&other))
            memcpy(out + row * stride, rows + row * row_bytes, row_bytes);
        else
            memset(out + row * stride, 0, row_bytes);
    }
    tz_free(rows);
    return result;
}

tz_result tz_decode_tile(const tz_decoder *decoder, void *state, const tz_tile_format *format,
                         const uint8_t *in, size_t in_size, uint8_t *out, size_t stride,
                         const tz_codec_call *call)
{
    assert((decoder->flags & TZ_DECODER_ANY_STRIDE) || stride == tz_tile_row_bytes(format));
    tz_result result = decoder->decode(state, format, in, in_size, out, stride, call);
    uint32_t height = format->strip_height ? format->strip_height : format->image_rows;
    if (result != TZ_ERR_FORMAT || height == 0 || height == format->height)
        return result;
    /* The first error stands unless memory runs out now. */
    tz_error err;
    tz_context ctx = *call->ctx;
    ctx.err = &err;
    tz_codec_call again = {&ctx, call->location};
    tz_result second =
        decode_with_height(decoder, state, format, height, in, in_size, out, stride, &again);
    if (second == TZ_ERR_NOMEM && call->ctx->err)
        *call->ctx->err = err;
    if (second != TZ_OK)
        return second == TZ_ERR_NOMEM ? second : result;
    return tz_warn(call->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                   tz_expecting(call->location, format->height, height),
                   "a tile at the lower edge has another number of rows than it should have");
}

tz_result tz_encoder_check(const tz_encoder *encoder, const tz_tile_format *format,
                           tz_encode_options *options, const tz_context *ctx)
{
    /* the number of bits completes the name */
    static const char *const kinds[] = {[TZ_SAMPLE_FORMAT_UINT] = "uint",
                                        [TZ_SAMPLE_FORMAT_INT] = "int",
                                        [TZ_SAMPLE_FORMAT_FLOAT] = "float",
                                        [TZ_SAMPLE_FORMAT_COMPLEX_INT] = "cint",
                                        [TZ_SAMPLE_FORMAT_COMPLEX_FLOAT] = "cfloat"};
    const char *kind = format->sample_format < sizeof kinds / sizeof kinds[0]
                           ? kinds[format->sample_format]
                           : NULL;
    const char *reason =
        encoder->resolve_options ? encoder->resolve_options(format, options) : NULL;
    if (reason)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s", reason);
    reason = encoder->unsupported_reason ? encoder->unsupported_reason(format, options) : NULL;
    if (reason)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "%s; tiles here are %u x %u pixels of %u x %s%u", reason, format->width,
                       format->height, (unsigned)format->samples, kind ? kind : "",
                       (unsigned)format->bits);
    return TZ_OK;
}

void tz_codec_reverse_bits(uint8_t *bytes, size_t size)
{
    /* Eight bytes at a time: swap neighbours, then pairs, then halves of bytes. */
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        size_t count = size - i < 8 ? size - i : 8; /* the last word may be short */
        memcpy(&word, bytes + i, count);
        word =
            (word & UINT64_C(0x5555555555555555)) << 1 | (word >> 1 & UINT64_C(0x5555555555555555));
        word =
            (word & UINT64_C(0x3333333333333333)) << 2 | (word >> 2 & UINT64_C(0x3333333333333333));
        word =
            (word & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4 | (word >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
        memcpy(bytes + i, &word, count);
    }
}

/* The worst that encoders do: fax codes of single pixels take 4.5 bits for 1, PackBits 2 bytes for
 * 1. Streams with headers have them in small tiles too. */
enum { MAX_GROWTH = 8, MAX_OVERHEAD = 1 << 20 };

uint64_t tz_codec_max_stored(uint64_t tile_bytes)
{
    return tz_add_capped(tz_mul_capped(tile_bytes, MAX_GROWTH), MAX_OVERHEAD);
}

uint64_t tz_codec_max_input(const tz_tile_format *format)
{
    tz_tile_format whole = *format;
    whole.decode_reduction = 0;
    return tz_codec_max_stored(tz_tile_bytes(&whole));
}
