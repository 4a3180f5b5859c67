/* SPDX-License-Identifier: Apache-2.0
 * LERC (compression 34887), perhaps within deflate or zstd. The decoder is ours (lerc.h) and in
 * every build: liblerc trusts the sizes in a blob, reads past its end and calls abort. The encoder
 * is liblerc, if the build has it.
 *
 * Decoding: deflate or zstd is undone to a buffer, then blobs are decoded one after the other into
 * the rows. Samples of a pixel are the depth of one blob, or each has a blob of its own. An 8-bit
 * alpha band may be stored as the blob's mask. Pixels that a mask leaves out become NaN in float
 * types and 0 in others, as in other TIFF readers.
 *
 * Encoding makes blobs of version 2.4, which every reader of such files knows; samples of a pixel
 * are the depth of one blob. NaN cannot be a value within a blob: pixels that are NaN in all
 * samples are left out by the mask, and if some samples are NaN and others not, every sample has a
 * blob and a mask of its own. NaN comes back as NaN, but the bits that distinguish NaNs
 * are lost, and the sign of zero may be.
 *
 * Nodata is exact even if values may be off by the largest error: the tile is decoded again, and if
 * nodata was lost or another value became nodata, it is encoded without loss. */
#include <limits.h>
#include <math.h>
#include <string.h>

#ifdef TZ_HAVE_LERC
#include <Lerc_c_api.h>
#endif
#ifdef TZ_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef TZ_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/mem.h"
#include "codec/codec.h"
#include "codec/lerc.h"

/* ---------------------------------------------------------------------------------------------
 * Decoder: memory
 * ------------------------------------------------------------------------------------------ */

typedef struct lerc_decoder {
    tz_lerc_huffman huffman;
    tz_codec_buffer blob;  /* after deflate or zstd */
    tz_codec_buffer mask;  /* a bit per pixel */
    tz_codec_buffer plane; /* a byte per value */
#ifdef TZ_HAVE_LIBDEFLATE
    struct libdeflate_decompressor *inflater;
#endif
#ifdef TZ_HAVE_ZSTD
    ZSTD_DCtx *zstd;
#endif
} lerc_decoder;

static const char lerc_memory_text[] = "bytes of memory for LERC";

/* ---------------------------------------------------------------------------------------------
 * Decoder: around the blob
 * ------------------------------------------------------------------------------------------ */

/* Undoes deflate or zstd, and sets the cursor to the blobs. */
static tz_result unwrap_blob(lerc_decoder *state, const tz_tile_format *format, tz_cursor *in,
                             const tz_codec_call *call)
{
    (void)in; /* a build may have neither library */
    if (format->lerc_compression == TZ_LERC_PLAIN)
        return TZ_OK;
    if (format->lerc_compression > TZ_LERC_WITH_ZSTD)
        return tz_codec_fail(call, "LERC: unknown additional compression %u",
                             format->lerc_compression);
    /* The largest blobs of such a tile: raw values, masks, and for each band a header and ranges.
     */
    const uint64_t size = tz_tile_bytes(format);
    const uint64_t max_size = size + size / 3 + (uint64_t)format->samples * 256 + 1024;
    TZ_TRY(tz_codec_reserve(&state->blob, max_size + TZ_CODEC_SLACK, lerc_memory_text, call));
#ifdef TZ_HAVE_LIBDEFLATE
    if (format->lerc_compression == TZ_LERC_WITH_DEFLATE) {
        size_t used, blob_size;
        if (!state->inflater)
            state->inflater = libdeflate_alloc_decompressor();
        if (!state->inflater)
            return tz_fail_nomem(call->ctx, sizeof(void *));
        if (libdeflate_zlib_decompress_ex(state->inflater, in->at, tz_cursor_left(in),
                                          state->blob.data, state->blob.capacity - TZ_CODEC_SLACK,
                                          &used, &blob_size) != LIBDEFLATE_SUCCESS)
            return tz_codec_fail(call, "LERC: broken deflate data");
        TZ_TRY(tz_codec_check_end(call, used, tz_cursor_left(in)));
        *in = tz_cursor_of(state->blob.data, blob_size);
        return TZ_OK;
    }
#endif
#ifdef TZ_HAVE_ZSTD
    if (format->lerc_compression == TZ_LERC_WITH_ZSTD) {
        if (!state->zstd)
            state->zstd = ZSTD_createDCtx();
        if (!state->zstd)
            return tz_fail_nomem(call->ctx, sizeof(void *));
        const size_t blob_size =
            ZSTD_decompressDCtx(state->zstd, state->blob.data,
                                state->blob.capacity - TZ_CODEC_SLACK, in->at, tz_cursor_left(in));
        if (ZSTD_isError(blob_size))
            return tz_codec_fail(call, "LERC: zstd: %s", ZSTD_getErrorName(blob_size));
        *in = tz_cursor_of(state->blob.data, blob_size);
        return TZ_OK;
    }
#endif
    return tz_codec_fail_unsupported(
        call, "LERC with %s needs %s, which this build does not have",
        format->lerc_compression == TZ_LERC_WITH_DEFLATE ? "deflate" : "zstd",
        format->lerc_compression == TZ_LERC_WITH_DEFLATE ? "libdeflate" : "libzstd");
}

/* ---------------------------------------------------------------------------------------------
 * Decoder: blob and tile
 * ------------------------------------------------------------------------------------------ */

/* The spread of a tile's samples over blobs. */
typedef struct lerc_sample_layout {
    uint32_t type;
    uint32_t depth;
    uint32_t bands;
    bool mask_is_alpha;
} lerc_sample_layout;

/* Finds the spread of samples over blobs from the header of the first one: all samples in one blob,
 * all but alpha, which is then the mask, or a blob for each. */
static tz_result check_sample_layout(lerc_sample_layout *out, const tz_lerc_header *header,
                                     const tz_tile_format *format, const tz_codec_call *call)
{
    *out = (lerc_sample_layout){.type = tz_lerc_type_of(format->bits, format->sample_format),
                                .depth = header->depth,
                                .bands = 1};
    if (out->type == TZ_LERC_TYPES)
        return tz_codec_fail_unsupported(call, "LERC has no samples of %u bits and format %u",
                                         format->bits, format->sample_format);
    if (header->depth == 0)
        return tz_codec_fail(call, "LERC: pixels without values");
    if (header->depth == format->samples)
        return TZ_OK;
    if (format->alpha && out->type == TZ_LERC_UINT8 && header->depth + 1 == format->samples) {
        out->mask_is_alpha = true;
        return TZ_OK;
    }
    if (header->depth == 1) {
        out->bands = format->samples;
        return TZ_OK;
    }
    return tz_codec_fail_size(call, format->samples, header->depth,
                              "LERC: the number of values of a pixel is not that of the tile");
}

/* Compares a blob's header with the tile and with the header of the first blob. */
static tz_result check_lerc_header(const tz_lerc_header *header, const lerc_sample_layout *layout,
                                   const tz_tile_format *format, size_t size,
                                   const tz_codec_call *call)
{
    if (header->type != layout->type)
        return tz_codec_fail(call, "LERC: the type of values (%u) is not that of the tile (%u)",
                             header->type, layout->type);
    if (header->width != format->width || header->height != format->height)
        return tz_codec_fail(call, "LERC: %u x %u pixels in a tile of %u x %u", header->width,
                             header->height, format->width, format->height);
    if (header->depth != layout->depth)
        return tz_codec_fail(call, "LERC: bands of different depth");
    if (header->valid > (uint64_t)format->width * format->height)
        return tz_codec_fail(call, "LERC: more valid pixels than pixels");
    if (header->size > size || header->size < 14)
        return tz_codec_fail_size(call, header->size, size, "LERC: the blob is cut off");
    if (header->has_nodata && header->depth > 1)
        return tz_codec_fail_unsupported(call, "LERC: values that mean no data within a pixel");
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Decoder: values
 * ------------------------------------------------------------------------------------------ */

/* Reads the values of a blob, in the way that its header, its ranges and its first bytes say. */
static bool read_blob_values(tz_lerc_blob *blob, lerc_decoder *state)
{
    const tz_lerc_header *header = &blob->header;
    if (header->valid == 0)
        return true;
    if (header->minimum == header->maximum)
        return tz_lerc_fill_constant(blob);
    if (header->version >= 4) { /* the range of each depth */
        size_t size = header->depth * tz_lerc_type_size(header->type);
        blob->minima = tz_cursor_bytes(&blob->data, size);
        blob->maxima = tz_cursor_bytes(&blob->data, size);
        if (!blob->maxima)
            return tz_lerc_fail(blob, "the ranges of values");
        if (memcmp(blob->minima, blob->maxima, size) == 0)
            return tz_lerc_fill_constant(blob);
    }
    bool raw = tz_cursor_u8(&blob->data) != 0;
    if (blob->data.overrun)
        return tz_lerc_fail(blob, "no values");
    if (raw)
        return tz_lerc_read_raw(blob);
    bool bytes = header->version >= 2 && header->type <= TZ_LERC_UINT8 && header->max_error == 0.5;
    bool floats = header->version >= 6 && header->type >= TZ_LERC_FLOAT && header->max_error == 0;
    uint8_t mode = bytes || floats ? tz_cursor_u8(&blob->data) : 0;
    if (mode == 0)
        return tz_lerc_read_blocks(blob);
    if (bytes && (mode == 1 || (mode == 2 && header->version >= 4)))
        return tz_lerc_read_huffman(blob, &state->huffman, mode == 1);
    if (floats && mode == 3)
        return tz_lerc_read_planes(blob, &state->huffman, state->plane.data);
    return tz_lerc_fail(blob, "the way values are stored");
}

/* Writes the value of pixels outside the mask: a quiet NaN, or 0. */
static void clear_invalid(const tz_lerc_blob *blob)
{
    const tz_lerc_header *header = &blob->header;
    const size_t size = tz_lerc_type_size(header->type);
    uint8_t value[8] = {0};
    if (!blob->mask)
        return;
    if (header->type >= TZ_LERC_FLOAT)
        tz_lerc_store(value, header->type, (double)NAN);
    for (size_t y = 0; y < header->height; y++) {
        uint8_t *out = blob->target.out + y * blob->target.stride;
        for (size_t x = 0; x < header->width; x++, out += blob->target.step) {
            if (tz_lerc_is_valid(blob, y * header->width + x))
                continue;
            for (uint32_t d = 0; d < header->depth; d++)
                memcpy(out + d * size, value, size);
        }
    }
}

/* Reads one blob, whose header was checked. */
static tz_result read_lerc_band(lerc_decoder *state, tz_lerc_blob *blob, tz_cursor *in,
                                const lerc_sample_layout *layout, uint32_t band,
                                const tz_codec_call *call)
{
    const uint8_t *start = in->at;
    size_t head = (size_t)(blob->data.at - start);
    if (!tz_lerc_checksum_fits(&blob->header, start))
        return tz_codec_fail(call, "LERC: the checksum is wrong");
    if (blob->header.size < head)
        return tz_codec_fail(call, "LERC: the blob is shorter than its header");
    blob->data = tz_cursor_of(start + head, blob->header.size - head);
    in->at += blob->header.size;
    if (!tz_lerc_read_mask(blob, state->mask.data, band > 0) || !read_blob_values(blob, state))
        return tz_codec_fail(call, "LERC: %s cannot be decoded", blob->defect);
    clear_invalid(blob);
    for (size_t y = 0; layout->mask_is_alpha && y < blob->header.height; y++) {
        uint8_t *out = blob->target.out + y * blob->target.stride + blob->header.depth;
        for (size_t x = 0; x < blob->header.width; x++, out += blob->target.step)
            *out = tz_lerc_is_valid(blob, y * blob->header.width + x) ? 255 : 0;
    }
    return TZ_OK;
}

/* libtiff swaps the bytes of every sample before it encodes for a file of the other byte order, so
 * blobs in big-endian files hold swapped values: GDAL writes and reads them so. */
static void swap_sample_bytes(const tz_tile_format *format, uint8_t *out, size_t stride)
{
    const size_t size = format->bits / 8u;
    const size_t count = (size_t)format->width * format->samples;
    for (size_t y = 0; y < format->height; y++) {
        for (uint8_t *at = out + y * stride, *end = at + count * size; at < end; at += size) {
            for (size_t i = 0; i < size / 2; i++) {
                const uint8_t byte = at[i];
                at[i] = at[size - 1 - i];
                at[size - 1 - i] = byte;
            }
        }
    }
}

/* Decodes all blobs of a tile. The first one says how many there are. */
static tz_result decode_lerc_tile(void *opaque, const tz_tile_format *format, const uint8_t *data,
                                  size_t data_size, uint8_t *out, size_t stride,
                                  const tz_codec_call *call)
{
    lerc_decoder *state = opaque;
    tz_cursor in = tz_cursor_of(data, data_size);
    TZ_TRY(unwrap_blob(state, format, &in, call));
    size_t whole = tz_cursor_left(&in);
    uint64_t pixels = (uint64_t)format->width * format->height;
    lerc_sample_layout samples = {.bands = 1};
    for (uint32_t band = 0; band < samples.bands; band++) {
        tz_lerc_blob blob = {.data = in};
        if (!tz_lerc_read_header(&blob.header, &blob.data)) {
            tz_cursor cursor = in;
            const uint8_t *key = tz_cursor_bytes(&cursor, 6);
            const uint32_t version = tz_cursor_le32(&cursor);
            if (key && memcmp(key, "CntZIm", 6) == 0)
                return tz_codec_fail_unsupported(call, "LERC version 1 is not supported");
            if (key && memcmp(key, "Lerc2 ", 6) == 0 && version > 6 && version < 1000)
                return tz_codec_fail_unsupported(call, "LERC version 2.%u is not supported",
                                                 version);
            return tz_codec_fail(call, "LERC: no blob");
        }
        if (band == 0)
            TZ_TRY(check_sample_layout(&samples, &blob.header, format, call));
        TZ_TRY(check_lerc_header(&blob.header, &samples, format, tz_cursor_left(&in), call));
        TZ_TRY(tz_codec_reserve(&state->mask, (pixels + 7) / 8, lerc_memory_text, call));
        if (blob.header.type >= TZ_LERC_FLOAT && blob.header.version >= 6)
            TZ_TRY(tz_codec_reserve(&state->plane, pixels * blob.header.depth, lerc_memory_text,
                                    call));
        size_t size = tz_lerc_type_size(blob.header.type);
        blob.target = (tz_lerc_target){out + band * size, stride, format->samples * size};
        TZ_TRY(read_lerc_band(state, &blob, &in, &samples, band, call));
    }
    if (format->big_endian)
        swap_sample_bytes(format, out, stride);
    if (tz_cursor_left(&in) >= 6 && memcmp(in.at, "Lerc2 ", 6) == 0)
        return tz_codec_fail(call, "LERC: more bands than the tile has");
    return tz_codec_check_end(call, whole - tz_cursor_left(&in), whole);
}

static void lerc_decoder_deinit(void *opaque)
{
    lerc_decoder *state = opaque;
    tz_codec_buffer_deinit(&state->blob);
    tz_codec_buffer_deinit(&state->mask);
    tz_codec_buffer_deinit(&state->plane);
#ifdef TZ_HAVE_LIBDEFLATE
    libdeflate_free_decompressor(state->inflater);
    state->inflater = NULL;
#endif
#ifdef TZ_HAVE_ZSTD
    ZSTD_freeDCtx(state->zstd);
    state->zstd = NULL;
#endif
}

const tz_decoder tz_decoder_lerc = {
    .flags = TZ_DECODER_NATIVE_ENDIAN | TZ_DECODER_ANY_STRIDE | TZ_DECODER_NO_OVERRUN |
             TZ_DECODER_NO_PREDICTOR,
    .state_size = sizeof(lerc_decoder),
    .decode = decode_lerc_tile,
    .deinit = lerc_decoder_deinit,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder, by liblerc
 * ------------------------------------------------------------------------------------------ */

#ifdef TZ_HAVE_LERC

enum { BLOB_VERSION = 4 };

typedef struct lerc_encoder {
    tz_codec_buffer mask;    /* a byte per pixel, or per value */
    tz_codec_buffer planes;  /* samples band by band */
    tz_codec_buffer blob;    /* before deflate or zstd */
    tz_codec_buffer decoded; /* the blob decoded again, and its masks */
#ifdef TZ_HAVE_LIBDEFLATE
    struct libdeflate_compressor *deflater;
#endif
#ifdef TZ_HAVE_ZSTD
    ZSTD_CCtx *zstd;
#endif
} lerc_encoder;

/* ---------------------------------------------------------------------------------------------
 * Encoder: options
 * ------------------------------------------------------------------------------------------ */

static uint32_t lerc_type_of_format(const tz_tile_format *format)
{
    return tz_lerc_type_of(format->bits, format->sample_format);
}

static bool is_lerc_float(const tz_tile_format *format)
{
    return format->sample_format == TZ_SAMPLE_FORMAT_FLOAT;
}

/* Integers less than one apart are the same. */
static bool lerc_lossy(const tz_tile_format *format, const tz_encode_options *options)
{
    return is_lerc_float(format) ? options->max_error > 0 : options->max_error >= 1;
}

static const char *lerc_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    if (!(options->max_error >= 0) || isinf(options->max_error))
        return "the largest error of LERC is a number, 0 or more";
    if (options->lossless && lerc_lossy(format, options))
        return "LERC is lossless only with a largest error of 0";
    if (format->lerc_compression == TZ_LERC_PLAIN)
        return NULL;
    const bool zstd = format->lerc_compression == TZ_LERC_WITH_ZSTD;
    if (options->level == TZ_EFFORT_FAST)
        options->level = 1;
    if (options->level == 0)
        options->level = zstd ? 9 : 6;
    if (options->level >= 1 && options->level <= (zstd ? 22 : 12))
        return NULL;
    return zstd ? "ZSTD levels within LERC are 1 to 22" : "Deflate levels within LERC are 1 to 12";
}

/* The largest output of liblerc, which stores values raw if nothing is smaller: they, a mask for
 * each band with floats, and headers. */
static uint64_t max_blob_size(const tz_tile_format *format)
{
    const uint64_t pixels = (uint64_t)format->width * format->height;
    const uint64_t mask = is_lerc_float(format) ? pixels / 8 + pixels / 128 : 0;
    return tz_tile_bytes(format) + format->samples * (mask + 512);
}

static const char *lerc_unsupported_reason(const tz_tile_format *format,
                                           const tz_encode_options *options)
{
    (void)options;
    if (lerc_type_of_format(format) == TZ_LERC_TYPES)
        return "LERC takes integers of 8, 16 and 32 bits, float32 and float64";
    if (format->photometric == TZ_PHOTOMETRIC_YCBCR)
        return "LERC stores RGB, not YCbCr";
    if (format->big_endian && format->bits > 8)
        return "LERC is written to little-endian files: in others, readers swap the bytes of what "
               "they decoded";
    if (max_blob_size(format) > INT_MAX)
        return "LERC takes tiles of less than 2 GB";
#ifndef TZ_HAVE_LIBDEFLATE
    if (format->lerc_compression == TZ_LERC_WITH_DEFLATE)
        return "LERC with Deflate needs libdeflate, which this build does not have";
#endif
#ifndef TZ_HAVE_ZSTD
    if (format->lerc_compression == TZ_LERC_WITH_ZSTD)
        return "LERC with ZSTD needs libzstd, which this build does not have";
#endif
    return format->lerc_compression > TZ_LERC_WITH_ZSTD
               ? "the compression within LERC is none (0), Deflate (1) or ZSTD (2)"
               : NULL;
}

/* ---------------------------------------------------------------------------------------------
 * Encoder: sizes
 * ------------------------------------------------------------------------------------------ */

static size_t lerc_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    const size_t blob = (size_t)max_blob_size(format);
    if (format->lerc_compression == TZ_LERC_PLAIN)
        return blob;
    return blob + blob / 128 + 1024; /* more than either library asks for */
}

/* True if the largest error may change nodata. NaN is safe: it is never a value of a blob. */
static bool may_lose_nodata(const tz_tile_format *format, const tz_encode_options *options)
{
    const tz_nodata *nodata = &options->nodata;
    return nodata->kind != TZ_NODATA_KIND_NONE && lerc_lossy(format, options) &&
           !(nodata->kind == TZ_NODATA_KIND_FLOAT && isnan(nodata->value.f));
}

/* The buffers, and the memory of liblerc and of the other library, measured and rounded up. */
static uint64_t lerc_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    const uint64_t values = (uint64_t)format->width * format->height * format->samples;
    uint64_t bytes = 2 * max_blob_size(format) + (1u << 20);
    if (is_lerc_float(format))
        bytes += values + tz_tile_bytes(format);
    if (may_lose_nodata(format, options))
        bytes += 3 * tz_tile_bytes(format) + 2 * values;
    if (format->lerc_compression == TZ_LERC_WITH_ZSTD) {
        /* its tables grow with its input, those of the lower levels up to a point */
        const uint64_t tables = 13 * max_blob_size(format);
        bytes += options->level <= 9 ? tz_min(tables, UINT64_C(24) << 20) : tables;
    } else if (format->lerc_compression == TZ_LERC_WITH_DEFLATE)
        bytes += UINT64_C(10) << 20;
    return bytes;
}

/* ---------------------------------------------------------------------------------------------
 * Encoder: NaN
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

/* Most tiles have no NaN, so this has to be quick: no branch within the loop. */
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

/* Makes a mask of every sample: mask[i + s * pixels] is 0 if sample s of pixel i is NaN. Returns
 * true if all samples of each pixel are alike. */
static bool make_masks(uint8_t *mask, const tz_tile_format *format, const uint8_t *in)
{
    const size_t pixels = (size_t)format->width * format->height, size = format->bits / 8;
    bool alike = true;
    for (size_t i = 0; i < pixels; i++) {
        for (size_t s = 0; s < format->samples; s++, in += size) {
            mask[i + s * pixels] = !(size == 4 ? is_nan_32(in) : is_nan_64(in));
            alike = alike && mask[i + s * pixels] == mask[i];
        }
    }
    return alike;
}

/* The arguments of liblerc. */
typedef struct lerc_input {
    const uint8_t *data;
    const uint8_t *mask;
    int depth;
    int bands;
    int masks;
} lerc_input;

/* Makes mask and planes if the tile has NaN: one mask if the samples of each pixel are alike, or
 * else a mask and a plane for each band. */
static tz_result prepare_lerc_input(lerc_input *out, lerc_encoder *state,
                                    const tz_tile_format *format, const uint8_t *in,
                                    const tz_codec_call *call)
{
    *out = (lerc_input){.data = in, .depth = format->samples, .bands = 1};
    if (!has_nan(format, in))
        return TZ_OK;
    const uint64_t values = (uint64_t)format->width * format->height * format->samples;
    TZ_TRY(tz_codec_reserve(&state->mask, values, NULL, call));
    out->mask = state->mask.data;
    out->masks = 1;
    if (make_masks(state->mask.data, format, in))
        return TZ_OK;
    TZ_TRY(tz_codec_reserve(&state->planes, tz_tile_bytes(format), NULL, call));
    const size_t pixels = (size_t)format->width * format->height, size = format->bits / 8;
    for (size_t i = 0; i < pixels; i++) /* band by band */
        for (size_t s = 0; s < format->samples; s++, in += size)
            memcpy(state->planes.data + (i + s * pixels) * size, in, size);
    *out = (lerc_input){.data = state->planes.data,
                        .mask = state->mask.data,
                        .depth = 1,
                        .bands = format->samples,
                        .masks = format->samples};
    return TZ_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Encoder: blobs
 * ------------------------------------------------------------------------------------------ */

/* Encodes the samples to one blob for each band of the input. */
static tz_result write_blob(const lerc_input *input, const tz_tile_format *format,
                            const tz_encode_options *options, uint8_t *out, size_t *out_size,
                            const tz_codec_call *call)
{
    /* liblerc does not write all bytes of a blob: without this they would be those before. */
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
 * Encoder: nodata
 * ------------------------------------------------------------------------------------------ */

/* True if the same values are nodata in the decoded blob as in the input. */
static bool is_nodata_kept(const lerc_input *input, const tz_tile_format *format,
                           const tz_encode_options *options, const uint8_t *decoded)
{
    const size_t pixels = (size_t)format->width * format->height, size = format->bits / 8;
    /* Doubles hold the values of all types of LERC exactly. */
    const tz_nodata *wanted = &options->nodata;
    const double nodata = wanted->kind == TZ_NODATA_KIND_INT    ? (double)wanted->value.i
                          : wanted->kind == TZ_NODATA_KIND_UINT ? (double)wanted->value.u
                                                                : wanted->value.f;
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

/* Decodes the blob, and encodes the tile again, without loss, if nodata changed. */
static tz_result keep_nodata(lerc_encoder *state, const lerc_input *input,
                             const tz_tile_format *format, const tz_encode_options *options,
                             uint8_t *out, size_t *out_size, const tz_codec_call *call)
{
    const size_t bytes = (size_t)tz_tile_bytes(format);
    const size_t values = (size_t)format->width * format->height * format->samples;
    TZ_TRY(tz_codec_reserve(&state->decoded, (uint64_t)bytes + values, NULL, call));
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

/* Encodes the samples to a blob, in out or in the input of the compression around it. */
static tz_result encode_lerc_tile(void *opaque, const tz_tile_format *format,
                                  const tz_encode_options *options, uint8_t *in, uint8_t *out,
                                  size_t *out_size, const tz_codec_call *call)
{
    lerc_encoder *state = opaque;
    lerc_input input;
    TZ_TRY(prepare_lerc_input(&input, state, format, in, call));
    const bool is_plain = format->lerc_compression == TZ_LERC_PLAIN;
    const size_t capacity = lerc_bound(format, options);
    if (!is_plain)
        TZ_TRY(tz_codec_reserve(&state->blob, max_blob_size(format), NULL, call));
    uint8_t *blob = is_plain ? out : state->blob.data;
    size_t size;
    TZ_TRY(write_blob(&input, format, options, blob, &size, call));
    if (may_lose_nodata(format, options))
        TZ_TRY(keep_nodata(state, &input, format, options, blob, &size, call));
#ifdef TZ_HAVE_LIBDEFLATE
    if (format->lerc_compression == TZ_LERC_WITH_DEFLATE)
        size = libdeflate_zlib_compress(state->deflater, blob, size, out, capacity);
#endif
#ifdef TZ_HAVE_ZSTD
    if (format->lerc_compression == TZ_LERC_WITH_ZSTD) {
        size = ZSTD_compressCCtx(state->zstd, out, capacity, blob, size, options->level);
        if (ZSTD_isError(size))
            return tz_codec_fail(call, "LERC: zstd: %s", ZSTD_getErrorName(size));
    }
#endif
    if (size == 0)
        return tz_codec_fail(call, "LERC: a tile takes more than %zu bytes", capacity);
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
    tz_codec_buffer_deinit(&state->mask);
    tz_codec_buffer_deinit(&state->planes);
    tz_codec_buffer_deinit(&state->blob);
    tz_codec_buffer_deinit(&state->decoded);
#ifdef TZ_HAVE_LIBDEFLATE
    libdeflate_free_compressor(state->deflater);
#endif
#ifdef TZ_HAVE_ZSTD
    ZSTD_freeCCtx(state->zstd);
#endif
    *state = (lerc_encoder){.mask = {NULL, 0}};
}

const tz_encoder tz_encoder_lerc = {
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
