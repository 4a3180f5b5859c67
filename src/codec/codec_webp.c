/* SPDX-License-Identifier: Apache-2.0
 * WebP (compression 50001), by libwebp: 3 or 4 samples of 8 bits. The decoder writes straight into
 * the rows. A tile of 4 samples whose alpha is all opaque may be stored without it.
 *
 * The encoder uses libwebp's default settings, lossy or lossless. Lossless keeps colours under
 * transparent pixels too, and its quality is how hard libwebp tries. libwebp takes its memory
 * without asking us, so both directions estimate it, for max_codec_bytes and for the memory plan.
 */
#include <limits.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/encode.h>

#include "base/mem.h"
#include "codec/codec.h"
#include "codec/unaligned.h"

/* ---------------------------------------------------------------------------------------------
 * Decoder
 * ------------------------------------------------------------------------------------------ */

enum {
    FORMAT_LOSSLESS = 2,       /* of WebPBitstreamFeatures */
    MEMORY_PER_ROW_PIXEL = 64, /* libwebp's line buffers, generously */
    MIN_MEMORY = 1 << 16
};

/* Compares the stream with the tile, and estimates the memory that libwebp will take. */
static tz_result check_webp_features(const WebPBitstreamFeatures *features,
                                     const tz_tile_format *format, const tz_codec_call *call)
{
    if (features->has_animation)
        return tz_codec_fail(call, "WebP: the stream is an animation");
    if (features->width < 1 || features->height < 1 || (uint32_t)features->width != format->width ||
        (uint32_t)features->height != format->height)
        return tz_codec_fail(call, "WebP: %d x %d pixels in a tile of %u x %u", features->width,
                             features->height, format->width, format->height);
    if (features->has_alpha && format->samples == 3)
        return tz_codec_fail(call, "WebP: an alpha channel in a tile of 3 samples");
    /* A lossless image is held as a whole, 4 bytes a pixel; so is alpha. */
    uint64_t pixels = (uint64_t)format->width * format->height;
    uint64_t bytes = MIN_MEMORY + (uint64_t)format->width * MEMORY_PER_ROW_PIXEL;
    if (features->format == FORMAT_LOSSLESS)
        bytes += pixels * 4;
    else if (features->has_alpha)
        bytes += pixels * 2;
    return tz_codec_check_memory(call, bytes, "bytes of memory for libwebp");
}

static tz_result fail_webp_decode(VP8StatusCode status, const tz_codec_call *call)
{
    static const char *const texts[] = {
        [VP8_STATUS_BITSTREAM_ERROR] = "broken stream",
        [VP8_STATUS_UNSUPPORTED_FEATURE] = "unknown feature",
        [VP8_STATUS_SUSPENDED] = "the stream is cut off",
        [VP8_STATUS_NOT_ENOUGH_DATA] = "the stream is cut off",
    };
    const char *text = status < sizeof texts / sizeof texts[0] ? texts[status] : NULL;
    return tz_codec_fail(call, "WebP: %s", text ? text : "cannot be decoded");
}

static tz_result webp_decode(void *state, const tz_tile_format *format, const uint8_t *in,
                             size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    (void)state;
    if (format->bits != 8 || (format->samples != 3 && format->samples != 4))
        return tz_codec_fail_unsupported(call, "WebP holds 3 or 4 samples of 8 bits, not %u of %u",
                                         format->samples, format->bits);
    /* libwebp also takes streams without the RIFF header, but only the header says how long the
     * stream is. */
    if (in_size < 12 || memcmp(in, "RIFF", 4) != 0 || memcmp(in + 8, "WEBP", 4) != 0)
        return tz_codec_fail(call, "WebP: no RIFF header");
    uint64_t stored = (uint64_t)tz_load_le32(in + 4) + 8;
    if (stored > in_size)
        return tz_codec_fail_size(call, stored, in_size, "WebP: the stream is cut off");
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return tz_codec_fail_unsupported(
            call, "libwebp is not of the version this library was built for");
    VP8StatusCode status = WebPGetFeatures(in, in_size, &config.input);
    if (status != VP8_STATUS_OK)
        return fail_webp_decode(status, call);
    TZ_TRY(check_webp_features(&config.input, format, call));
    if (stride > INT_MAX)
        return tz_codec_fail_unsupported(call, "libwebp cannot write rows %zu bytes apart", stride);

    config.output.colorspace = format->samples == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = out;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = (format->height - 1u) * stride + tz_tile_row_bytes(format);
    status = WebPDecode(in, in_size, &config);
    if (status == VP8_STATUS_OUT_OF_MEMORY)
        return tz_fail_nomem(call->ctx, tz_tile_bytes(format));
    if (status != VP8_STATUS_OK)
        return fail_webp_decode(status, call);
    return TZ_OK;
}

const tz_decoder tz_decoder_webp = {
    .flags = TZ_DECODER_NATIVE_ENDIAN | TZ_DECODER_ANY_STRIDE | TZ_DECODER_NO_OVERRUN |
             TZ_DECODER_NO_PREDICTOR,
    .decode = webp_decode,
};

/* ---------------------------------------------------------------------------------------------
 * Encoder
 * ------------------------------------------------------------------------------------------ */

/* The tile being encoded. */
typedef struct webp_encode_job {
    uint8_t *out;
    size_t capacity;
    size_t used;
    bool overflow;
} webp_encode_job;

static const char *webp_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    (void)format;
    if (options->quality == 0)
        options->quality = 75;
    return options->quality > 100 ? "WebP quality is 1 to 100" : NULL;
}

static const char *webp_unsupported_reason(const tz_tile_format *format,
                                           const tz_encode_options *options)
{
    (void)options;
    if (format->bits != 8 || format->sample_format != TZ_SAMPLE_FORMAT_UINT ||
        (format->samples != 3 && format->samples != 4))
        return "WebP takes 3 or 4 bands of uint8, interleaved by pixel";
    if (format->photometric == TZ_PHOTOMETRIC_YCBCR)
        return "WebP stores RGB, not YCbCr";
    if (format->width > WEBP_MAX_DIMENSION || format->height > WEBP_MAX_DIMENSION)
        return "WebP takes up to 16,383 pixels in each direction";
    return NULL;
}

/* Noise in all bands takes 4 bytes a pixel when lossless, and less than that as finest lossy
 * image with alpha; small tiles have headers. */
enum { PIXEL_BYTES = 8, HEADER_BYTES = 1 << 14 };

static size_t webp_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    return (size_t)format->width * format->height * PIXEL_BYTES + HEADER_BYTES;
}

/* libwebp's own, by measurement and rounded up: planes of the image and tokens; for alpha and
 * when lossless, hash chains and backward references too, and small tiles are tried in more ways.
 */
static uint64_t webp_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    const uint64_t pixels = (uint64_t)format->width * format->height;
    const uint64_t tried = tz_min(pixels, 1u << 17);
    const uint64_t planes = 2u << 20;
    if (options->lossless)
        return planes + pixels * 96 + tried * 224;
    return planes + pixels * (format->samples == 4 ? 48 : 20);
}

/* libwebp's callback for a part of the stream; 0 makes it stop. */
static int write_webp_bytes(const uint8_t *data, size_t size, const WebPPicture *picture)
{
    webp_encode_job *job = picture->custom_ptr;
    job->overflow = size > job->capacity - job->used;
    if (job->overflow)
        return 0;
    memcpy(job->out + job->used, data, size);
    job->used += size;
    return 1;
}

static tz_result fail_webp_encode(WebPEncodingError error, const webp_encode_job *job,
                                  uint64_t memory_size, const tz_codec_call *call)
{
    if (job->overflow)
        return tz_codec_fail(call, "WebP: a tile takes more than %zu bytes", job->capacity);
    if (error == VP8_ENC_ERROR_OUT_OF_MEMORY || error == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY)
        return tz_fail_nomem(call->ctx, memory_size);
    if (error == VP8_ENC_ERROR_PARTITION0_OVERFLOW || error == VP8_ENC_ERROR_PARTITION_OVERFLOW)
        return tz_codec_fail(call, "WebP: a partition is larger than WebP allows: take smaller "
                                   "tiles or a lower quality");
    return tz_codec_fail(call, error == VP8_ENC_ERROR_INVALID_CONFIGURATION
                                   ? "WebP: libwebp takes no such settings"
                                   : "WebP: cannot be encoded");
}

static tz_result webp_encode(void *state, const tz_tile_format *format,
                             const tz_encode_options *options, uint8_t *in, uint8_t *out,
                             size_t *out_size, const tz_codec_call *call)
{
    (void)state;
    WebPConfig config;
    WebPPicture picture;
    if (!WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, (float)options->quality) ||
        !WebPPictureInit(&picture))
        return tz_codec_fail_unsupported(
            call, "libwebp is not of the version this library was built for");
    webp_encode_job job = {.out = out, .capacity = webp_bound(format, options)};
    config.lossless = options->lossless;
    if (options->webp_method != 0)
        config.method = options->webp_method;
    /* Colours under transparent pixels may be dropped only if the fourth band is alpha. */
    config.exact = options->lossless || !format->alpha;
    picture.use_argb = options->lossless;
    picture.width = (int)format->width;
    picture.height = (int)format->height;
    picture.writer = write_webp_bytes;
    picture.custom_ptr = &job;
    const int stride = (int)tz_tile_row_bytes(format);
    const bool encoded = (format->samples == 4 ? WebPPictureImportRGBA(&picture, in, stride)
                                               : WebPPictureImportRGB(&picture, in, stride)) &&
                         WebPEncode(&config, &picture);
    tz_result result = TZ_OK;
    if (encoded)
        *out_size = job.used;
    else
        result = fail_webp_encode(picture.error_code, &job, webp_memory(format, options), call);
    WebPPictureFree(&picture);
    return result;
}

const tz_encoder tz_encoder_webp = {
    .flags = TZ_ENCODER_NATIVE_ENDIAN | TZ_ENCODER_NO_PREDICTOR,
    .resolve_options = webp_resolve_options,
    .unsupported_reason = webp_unsupported_reason,
    .lossy = tz_encoder_is_lossy,
    .bound = webp_bound,
    .memory = webp_memory,
    .encode = webp_encode,
};
