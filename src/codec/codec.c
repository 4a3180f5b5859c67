/* SPDX-License-Identifier: Apache-2.0
 * The table of codecs: the one place that knows which of them this build has. */
#include "codec/codec.h"

#include <string.h>

#include "base/mem.h"
#include "base/message.h"

const tz_decoder *const tz_decoders[] = {
    &tz_decoder_none,
    &tz_decoder_packbits,
    &tz_decoder_lzw,
    &tz_decoder_ccitt,
    &tz_decoder_lerc,
#ifdef TZ_HAVE_LIBDEFLATE
    &tz_decoder_deflate,
#endif
#ifdef TZ_HAVE_ZSTD
    &tz_decoder_zstd,
#endif
#ifdef TZ_HAVE_LZMA
    &tz_decoder_lzma,
#endif
#ifdef TZ_HAVE_LZ4
    &tz_decoder_lz4,
#endif
#ifdef TZ_HAVE_JPEG
    &tz_decoder_jpeg,
#endif
#ifdef TZ_HAVE_WEBP
    &tz_decoder_webp,
#endif
#ifdef TZ_HAVE_OPENJPEG
    &tz_decoder_jp2,
#endif
#ifdef TZ_HAVE_JXL
    &tz_decoder_jxl,
#endif
    NULL,
};

/* Those that a build may lack, so that the error can say what it takes. */
typedef struct optional_codec {
    uint16_t compression;
    const char *name;
    const char *library;
} optional_codec;

static const optional_codec optional_codecs[] = {
    {8, "Deflate", "libdeflate"},
    {32946, "Deflate", "libdeflate"},
    {50000, "ZSTD", "libzstd"},
    {34925, "LZMA", "liblzma"},
    {50004, "LZ4", "liblz4"},
    {7, "JPEG", "libjpeg-turbo"},
    {6, "old-style JPEG", "libjpeg-turbo"},
    {50001, "WebP", "libwebp"},
    {34712, "JPEG 2000", "OpenJPEG"},
    {33003, "JPEG 2000", "OpenJPEG"},
    {33005, "JPEG 2000", "OpenJPEG"},
    {50002, "JPEG XL", "libjxl"},
    {52546, "JPEG XL", "libjxl"},
    {34887, "LERC writing", "liblerc"},
};

static bool reads_compression(const tz_decoder *codec, uint16_t compression)
{
    for (const uint16_t *number = codec->compressions; *number; number++)
        if (*number == compression)
            return true;
    return false;
}

tz_result tz_codec_fail_missing(uint16_t compression, const char *what, const tz_context *ctx)
{
    for (size_t i = 0; i < sizeof optional_codecs / sizeof optional_codecs[0]; i++) {
        const optional_codec *codec = &optional_codecs[i];
        if (codec->compression == compression)
            return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                           "%s (%u) needs %s, which this build does not have", codec->name,
                           (unsigned)compression, codec->library);
    }
    const char *name = tz_compression_name(compression);
    return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "no %s for compression %u (%s)", what, (unsigned)compression,
                   name ? name : "unknown");
}

tz_result tz_decoder_find(uint16_t compression, const tz_context *ctx, const tz_decoder **out)
{
    for (const tz_decoder *const *codec = tz_decoders; *codec; codec++) {
        if (reads_compression(*codec, compression)) {
            *out = *codec;
            return TZ_OK;
        }
    }
    return tz_codec_fail_missing(compression, "decoder", ctx);
}

static tz_result fail_at_location(const tz_context *ctx, tz_location location, const char *format,
                                  va_list args)
{
    if (ctx->err) {
        tz_error error = tz_error_at(ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC, location);
        tz_message_make(&error, ctx->name, location.tag_name, format, args);
        *ctx->err = error;
    }
    return TZ_ERR_FORMAT;
}

tz_result tz_codec_fail(const tz_codec_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tz_result result = fail_at_location(call->ctx, call->location, format, args);
    va_end(args);
    return result;
}

tz_result tz_codec_fail_size(const tz_codec_call *call, uint64_t expected, uint64_t found,
                             const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tz_result result =
        fail_at_location(call->ctx, tz_expecting(call->location, expected, found), format, args);
    va_end(args);
    return result;
}

tz_result tz_codec_check_end(const tz_codec_call *call, size_t used, size_t in_size)
{
    if (used >= in_size)
        return TZ_OK;
    return tz_warn(call->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                   tz_expecting(call->location, used, in_size),
                   "bytes after the end of the compressed data are ignored");
}

/* A tile whose decoding failed: the same with another height, in memory of its own, of which out
 * gets the upper rows. */
static tz_result decode_with_height(const tz_decoder *codec, void *state,
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
    tz_result result = codec->decode(state, &other, in, in_size, rows, row_bytes, call);
    for (size_t row = 0; result == TZ_OK && row < tz_tile_rows(format); row++) {
        if (row < tz_tile_rows(&other))
            memcpy(out + row * stride, rows + row * row_bytes, row_bytes);
        else
            memset(out + row * stride, 0, row_bytes);
    }
    tz_free(rows);
    return result;
}

tz_result tz_decode_tile(const tz_decoder *codec, void *state, const tz_tile_format *format,
                         const uint8_t *in, size_t in_size, uint8_t *out, size_t stride,
                         const tz_codec_call *call)
{
    tz_result result = codec->decode(state, format, in, in_size, out, stride, call);
    uint32_t height = format->strip_height ? format->strip_height : format->image_rows;
    if (result != TZ_ERR_FORMAT || height == 0 || height == format->height)
        return result;
    /* The first error stands unless memory runs out now. */
    tz_error err;
    tz_context ctx = *call->ctx;
    ctx.err = &err;
    tz_codec_call again = {&ctx, call->location};
    tz_result second =
        decode_with_height(codec, state, format, height, in, in_size, out, stride, &again);
    if (second == TZ_ERR_NOMEM && call->ctx->err)
        *call->ctx->err = err;
    if (second != TZ_OK)
        return second == TZ_ERR_NOMEM ? second : result;
    return tz_warn(call->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                   tz_expecting(call->location, format->height, height),
                   "a tile at the lower edge has another number of rows than it should have");
}

void tz_codec_reverse_bits(uint8_t *bytes, size_t size)
{
    /* Eight bytes at a time: swap neighbours, then pairs, then halves of bytes. */
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        size_t count = size - i < 8 ? size - i : 8;
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

/* The worst of what encoders do: fax codes of single pixels take 4.5 bits for 1, PackBits 2 bytes
 * for 1; streams with headers of their own have them in small tiles too. */
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
