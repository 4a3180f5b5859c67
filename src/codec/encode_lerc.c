/* SPDX-License-Identifier: Apache-2.0
 * LERC (compression 34887), by liblerc, perhaps within deflate or zstd. Blobs are of version 2.4,
 * which every reader of such files knows.
 *
 * Samples of a pixel are the depth of one blob. NaN cannot be a value within a blob: pixels that
 * are NaN in all samples are left out by the mask, and where some samples are NaN and others not,
 * every sample has a blob and a mask of its own. NaN comes back as NaN, but the bits that tell one
 * NaN from another are lost, and the sign of zero may be.
 *
 * Nodata is exact also where values may be off by the largest error: a tile in which it is not, or
 * in which another value has become nodata, is encoded without loss. */
#include "codec/encoder.h"

#ifdef TZ_HAVE_LERC

#include <limits.h>
#include <math.h>
#include <string.h>

#include <Lerc_c_api.h>
#ifdef TZ_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef TZ_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/mem.h"
#include "codec/lerc.h"

enum { BLOB_VERSION = 4 };

typedef struct lerc_buffer {
    uint8_t *data;
    size_t capacity;
} lerc_buffer;

typedef struct lerc_encoder {
    lerc_buffer mask;    /* a byte per pixel, or per value */
    lerc_buffer planes;  /* samples band by band */
    lerc_buffer blob;    /* before deflate or zstd */
    lerc_buffer decoded; /* what comes back of a blob, and its masks */
#ifdef TZ_HAVE_LIBDEFLATE
    struct libdeflate_compressor *deflater;
#endif
#ifdef TZ_HAVE_ZSTD
    ZSTD_CCtx *zstd;
#endif
} lerc_encoder;

/* ---------------------------------------------------------------------------------------------
 * Choices
 * ------------------------------------------------------------------------------------------ */

static uint32_t lerc_type_of_format(const tz_tile_format *format)
{
    return tz_lerc_type_of(format->bits, format->sample_format);
}

static bool is_lerc_float(const tz_tile_format *format)
{
    return format->sample_format == 3;
}

/* Integers that are less than one apart are the same. */
static bool lerc_lossy(const tz_tile_format *format, const tz_encode_options *options)
{
    return is_lerc_float(format) ? options->max_error > 0 : options->max_error >= 1;
}

static const char *lerc_resolve_level(const tz_tile_format *format, tz_encode_options *options)
{
    const bool zstd = format->lerc_compression == TZ_LERC_WITH_ZSTD;
    if (options->level == TZ_LEVEL_FAST)
        options->level = 1;
    if (options->level == 0)
        options->level = zstd ? 9 : 6;
    if (zstd)
        return options->level < 1 || options->level > 22 ? "ZSTD levels within LERC are 1 to 22"
                                                         : NULL;
    return options->level < 1 || options->level > 12 ? "Deflate levels within LERC are 1 to 12"
                                                     : NULL;
}

static const char *lerc_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    if (!(options->max_error >= 0) || isinf(options->max_error))
        return "the largest error of LERC is a number, 0 or more";
    if (options->lossless && lerc_lossy(format, options))
        return "LERC is lossless only with a largest error of 0";
    return format->lerc_compression == TZ_LERC_PLAIN ? NULL : lerc_resolve_level(format, options);
}

static uint64_t max_blob_size(const tz_tile_format *format)
{
    const uint64_t pixels = (uint64_t)format->width * format->height;
    const uint64_t mask = is_lerc_float(format) ? pixels / 8 + pixels / 128 : 0;
    return tz_tile_bytes(format) + format->samples * (mask + 512);
}

static const char *unsupported_wrapping_reason(const tz_tile_format *format)
{
#ifndef TZ_HAVE_LIBDEFLATE
    if (format->lerc_compression == TZ_LERC_WITH_DEFLATE)
        return "LERC with Deflate needs libdeflate, which this build does not have";
#endif
#ifndef TZ_HAVE_ZSTD
    if (format->lerc_compression == TZ_LERC_WITH_ZSTD)
        return "LERC with ZSTD needs libzstd, which this build does not have";
#endif
    return format->lerc_compression > TZ_LERC_WITH_ZSTD
               ? "what is within LERC is compressed by nothing (0), Deflate (1) or ZSTD (2)"
               : NULL;
}

static const char *lerc_unsupported_reason(const tz_tile_format *format,
                                           const tz_encode_options *options)
{
    (void)options;
    if (lerc_type_of_format(format) == TZ_LERC_TYPES)
        return "LERC takes integers of 8, 16 and 32 bits, float32 and float64";
    if (format->photometric == 6)
        return "LERC stores RGB, not YCbCr";
    if (format->big_endian && format->bits > 8)
        return "LERC is written to little-endian files: in others, readers swap the bytes of what "
               "they decoded";
    if (max_blob_size(format) > INT_MAX)
        return "LERC takes tiles of less than 2 GB";
    return unsupported_wrapping_reason(format);
}

/* ---------------------------------------------------------------------------------------------
 * Sizes
 * ------------------------------------------------------------------------------------------ */

static size_t lerc_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    const size_t blob = (size_t)max_blob_size(format);
    if (format->lerc_compression == TZ_LERC_PLAIN)
        return blob;
    return blob + blob / 128 + 1024; /* more than either library asks for */
}

/* NaN is never a value of a blob. */
static bool may_lose_nodata(const tz_tile_format *format, const tz_encode_options *options)
{
    const tz_nodata *nodata = &options->nodata;
    return nodata->kind != TZ_NODATA_NONE && lerc_lossy(format, options) &&
           !(nodata->kind == TZ_NODATA_FLOAT && isnan(nodata->value.f));
}

/* The tables of zstd grow with what it compresses, those of the lower levels up to a point. */
static uint64_t lerc_zstd_memory(uint64_t size, int32_t level)
{
    const uint64_t tables = 13 * size, enough = UINT64_C(24) << 20;
    return level <= 9 && tables > enough ? enough : tables;
}

/* The scratch, and what liblerc and the other library hold, by measurement and rounded up. */
static uint64_t lerc_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    const uint64_t values = (uint64_t)format->width * format->height * format->samples;
    uint64_t bytes = 2 * max_blob_size(format) + (1u << 20);
    if (is_lerc_float(format))
        bytes += values + tz_tile_bytes(format);
    if (may_lose_nodata(format, options))
        bytes += 3 * tz_tile_bytes(format) + 2 * values;
    if (format->lerc_compression == TZ_LERC_WITH_ZSTD)
        bytes += lerc_zstd_memory(max_blob_size(format), options->level);
    else if (format->lerc_compression == TZ_LERC_WITH_DEFLATE)
        bytes += UINT64_C(10) << 20;
    return bytes;
}

static tz_result reserve_lerc_buffer(lerc_buffer *room, uint64_t size, const tz_codec_call *call)
{
    if (size <= room->capacity)
        return TZ_OK;
    tz_free(room->data);
    *room = (lerc_buffer){tz_alloc((size_t)size), (size_t)size};
    if (room->data)
        return TZ_OK;
    room->capacity = 0;
    return tz_fail_nomem(call->ctx, size);
}

/* ---------------------------------------------------------------------------------------------
 * NaN
 * ------------------------------------------------------------------------------------------ */

static bool is_nan_32(const uint8_t *sample)
{
    uint32_t bits;
    memcpy(&bits, sample, sizeof bits);
    return (bits & 0x7fffffff) > 0x7f800000;
}

static bool is_nan_64(const uint8_t *sample)
{
    uint64_t bits;
    memcpy(&bits, sample, sizeof bits);
    return (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

static bool is_nan(const uint8_t *sample, size_t size)
{
    return size == 4 ? is_nan_32(sample) : is_nan_64(sample);
}

/* Most tiles have none, so this one has to be quick: no branch within the loop. */
static bool has_nan(const tz_tile_format *format, const uint8_t *in)
{
    const size_t count = (size_t)format->width * format->height * format->samples;
    unsigned found = 0;
    if (!is_lerc_float(format))
        return false;
    if (format->bits == 32)
        for (size_t i = 0; i < count; i++)
            found |= is_nan_32(in + i * 4);
    else
        for (size_t i = 0; i < count; i++)
            found |= is_nan_64(in + i * 8);
    return found;
}

/* 0 for what is NaN, for every sample of a pixel one after the other (mask[i + s * pixels]). true
 * when all samples of each pixel are alike. */
static bool make_masks(uint8_t *mask, const tz_tile_format *format, const uint8_t *in)
{
    const size_t pixels = (size_t)format->width * format->height, size = format->bits / 8;
    bool alike = true;
    for (size_t i = 0; i < pixels; i++) {
        for (size_t s = 0; s < format->samples; s++, in += size) {
            mask[i + s * pixels] = !is_nan(in, size);
            alike = alike && mask[i + s * pixels] == mask[i];
        }
    }
    return alike;
}

static void split_bands(uint8_t *out, const tz_tile_format *format, const uint8_t *in)
{
    const size_t pixels = (size_t)format->width * format->height, size = format->bits / 8;
    for (size_t i = 0; i < pixels; i++)
        for (size_t s = 0; s < format->samples; s++, in += size)
            memcpy(out + (i + s * pixels) * size, in, size);
}

/* What liblerc is given. */
typedef struct lerc_input {
    const uint8_t *data;
    const uint8_t *mask;
    int depth;
    int bands;
    int masks;
} lerc_input;

static tz_result prepare_lerc_input(lerc_input *out, lerc_encoder *state,
                                    const tz_tile_format *format, const uint8_t *in,
                                    const tz_codec_call *call)
{
    *out = (lerc_input){.data = in, .depth = format->samples, .bands = 1};
    if (!has_nan(format, in))
        return TZ_OK;
    const uint64_t values = (uint64_t)format->width * format->height * format->samples;
    TZ_TRY(reserve_lerc_buffer(&state->mask, values, call));
    out->mask = state->mask.data;
    out->masks = 1;
    if (make_masks(state->mask.data, format, in))
        return TZ_OK;
    TZ_TRY(reserve_lerc_buffer(&state->planes, tz_tile_bytes(format), call));
    split_bands(state->planes.data, format, in);
    *out = (lerc_input){.data = state->planes.data,
                        .mask = state->mask.data,
                        .depth = 1,
                        .bands = format->samples,
                        .masks = format->samples};
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Encoding
 * ------------------------------------------------------------------------------------------ */

static tz_result write_blob(const lerc_input *input, const tz_tile_format *format,
                            const tz_encode_options *options, uint8_t *out, size_t *out_size,
                            const tz_codec_call *call)
{
    /* liblerc leaves some bytes of a blob as they were. */
    memset(out, 0, (size_t)max_blob_size(format));
    unsigned int written = 0;
    const lerc_status status = lerc_encodeForVersion(
        input->data, BLOB_VERSION, lerc_type_of_format(format), input->depth, (int)format->width,
        (int)format->height, input->bands, input->masks, input->mask, options->max_error, out,
        (unsigned int)max_blob_size(format), &written);
    *out_size = written;
    return status == 0 ? TZ_OK
                       : tz_codec_fail(call, "LERC: liblerc cannot encode it (status %u)", status);
}

/* ---------------------------------------------------------------------------------------------
 * Nodata
 * ------------------------------------------------------------------------------------------ */

/* All types of LERC are doubles exactly. */
static double nodata_value(const tz_nodata *nodata)
{
    return nodata->kind == TZ_NODATA_INT    ? (double)nodata->value.i
           : nodata->kind == TZ_NODATA_UINT ? (double)nodata->value.u
                                            : nodata->value.f;
}

/* Whether the same values are nodata in a blob's pixels as in the input. */
static bool is_nodata_kept(const lerc_input *input, const tz_tile_format *format,
                           const tz_encode_options *options, const uint8_t *decoded)
{
    const size_t pixels = (size_t)format->width * format->height, size = format->bits / 8;
    const double nodata = nodata_value(&options->nodata);
    const size_t depth = (size_t)input->depth;
    const uint32_t type = lerc_type_of_format(format);
    for (size_t i = 0; i < pixels * format->samples; i++) {
        const uint8_t *before = input->data + i * size, *after = decoded + i * size;
        const bool is_left_out = input->mask && !input->mask[i / depth];
        if (memcmp(before, after, size) != 0 && !is_left_out &&
            (tz_lerc_load(before, type) == nodata) != (tz_lerc_load(after, type) == nodata))
            return false;
    }
    return true;
}

/* Decodes the blob, and encodes the tile again where nodata is not what it was. */
static tz_result keep_nodata(lerc_encoder *state, const lerc_input *input,
                             const tz_tile_format *format, const tz_encode_options *options,
                             uint8_t *out, size_t *out_size, const tz_codec_call *call)
{
    const size_t bytes = (size_t)tz_tile_bytes(format);
    const size_t values = (size_t)format->width * format->height * format->samples;
    TZ_TRY(reserve_lerc_buffer(&state->decoded, (uint64_t)bytes + values, call));
    const lerc_status status = lerc_decode(
        out, (unsigned int)*out_size, input->masks,
        input->masks > 0 ? state->decoded.data + bytes : NULL, input->depth, (int)format->width,
        (int)format->height, input->bands, lerc_type_of_format(format), state->decoded.data);
    if (status == 0 && is_nodata_kept(input, format, options, state->decoded.data))
        return TZ_OK;
    tz_encode_options exact = *options;
    exact.max_error = 0;
    return write_blob(input, format, &exact, out, out_size, call);
}

/* The blob of the scratch to out. */
static tz_result wrap_blob(lerc_encoder *state, const tz_tile_format *format,
                           const tz_encode_options *options, size_t size, uint8_t *out,
                           size_t *out_size, const tz_codec_call *call)
{
    const size_t room = lerc_bound(format, options);
    size_t used = 0;
    (void)state, (void)size, (void)out; /* a build may have neither library */
#ifdef TZ_HAVE_LIBDEFLATE
    if (format->lerc_compression == TZ_LERC_WITH_DEFLATE)
        used = libdeflate_zlib_compress(state->deflater, state->blob.data, size, out, room);
#endif
#ifdef TZ_HAVE_ZSTD
    if (format->lerc_compression == TZ_LERC_WITH_ZSTD) {
        used = ZSTD_compressCCtx(state->zstd, out, room, state->blob.data, size, options->level);
        if (ZSTD_isError(used))
            return tz_codec_fail(call, "LERC: zstd: %s", ZSTD_getErrorName(used));
    }
#endif
    if (used == 0)
        return tz_codec_fail(call, "LERC: a tile takes more than %zu bytes", room);
    *out_size = used;
    return TZ_OK;
}

static tz_result encode_lerc_tile(void *opaque, const tz_tile_format *format,
                                  const tz_encode_options *options, uint8_t *in, uint8_t *out,
                                  size_t *out_size, const tz_codec_call *call)
{
    lerc_encoder *state = opaque;
    lerc_input input;
    TZ_TRY(prepare_lerc_input(&input, state, format, in, call));
    const bool is_plain = format->lerc_compression == TZ_LERC_PLAIN;
    if (!is_plain)
        TZ_TRY(reserve_lerc_buffer(&state->blob, max_blob_size(format), call));
    uint8_t *blob = is_plain ? out : state->blob.data;
    size_t size;
    TZ_TRY(write_blob(&input, format, options, blob, &size, call));
    if (may_lose_nodata(format, options))
        TZ_TRY(keep_nodata(state, &input, format, options, blob, &size, call));
    if (!is_plain)
        return wrap_blob(state, format, options, size, out, out_size, call);
    *out_size = size;
    return TZ_OK;
}

static tz_result lerc_encoder_init(void *opaque, const tz_tile_format *format,
                                   const tz_encode_options *options, const tz_context *ctx)
{
    lerc_encoder *state = opaque;
    (void)state, (void)format, (void)options, (void)ctx; /* a build may have neither library */
#ifdef TZ_HAVE_LIBDEFLATE
    if (format->lerc_compression == TZ_LERC_WITH_DEFLATE) {
        state->deflater = libdeflate_alloc_compressor(options->level);
        if (!state->deflater)
            return tz_fail_nomem(ctx, lerc_memory(format, options));
    }
#endif
#ifdef TZ_HAVE_ZSTD
    if (format->lerc_compression == TZ_LERC_WITH_ZSTD) {
        state->zstd = ZSTD_createCCtx();
        if (!state->zstd)
            return tz_fail_nomem(ctx, lerc_memory(format, options));
    }
#endif
    return TZ_OK;
}

static void lerc_encoder_deinit(void *opaque)
{
    lerc_encoder *state = opaque;
    tz_free(state->mask.data);
    tz_free(state->planes.data);
    tz_free(state->blob.data);
    tz_free(state->decoded.data);
#ifdef TZ_HAVE_LIBDEFLATE
    libdeflate_free_compressor(state->deflater);
#endif
#ifdef TZ_HAVE_ZSTD
    ZSTD_freeCCtx(state->zstd);
#endif
    *state = (lerc_encoder){.mask = {NULL, 0}};
}

static const uint16_t lerc_encoder_compressions[] = {34887, 0};

const tz_encoder tz_encoder_lerc = {
    .name = "lerc",
    .library = "liblerc",
    .compressions = lerc_encoder_compressions,
    .flags = TZ_ENCODER_NATIVE_ENDIAN | TZ_ENCODER_NO_PREDICTOR | TZ_ENCODER_VALUES_ONLY,
    .state_size = sizeof(lerc_encoder),
    .resolve_options = lerc_resolve_options,
    .unsupported_reason = lerc_unsupported_reason,
    .lossy = lerc_lossy,
    .bound = lerc_bound,
    .memory = lerc_memory,
    .init = lerc_encoder_init,
    .deinit = lerc_encoder_deinit,
    .encode = encode_lerc_tile,
};

#endif
