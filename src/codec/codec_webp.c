/* SPDX-License-Identifier: Apache-2.0
 * WebP (compression 50001), by libwebp: 3 or 4 samples of 8 bits, straight into the rows. A tile of
 * 4 samples whose alpha is all opaque may be stored without it. */
#include "codec/codec.h"

#ifdef TZ_HAVE_WEBP

#include <limits.h>
#include <string.h>

#include <webp/decode.h>

#include "base/mem.h"
#include "codec/unaligned.h"

enum {
    FORMAT_LOSSLESS = 2,       /* of WebPBitstreamFeatures */
    MEMORY_PER_ROW_PIXEL = 64, /* libwebp's line buffers, generously */
    MIN_MEMORY = 1 << 16
};

static tz_result check_webp_format(const tz_tile_format *format, const tz_codec_call *call)
{
    if (format->bits != 8 || (format->samples != 3 && format->samples != 4))
        return tz_fail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, call->location,
                       "WebP holds 3 or 4 samples of 8 bits, not %u of %u", format->samples,
                       format->bits);
    return TZ_OK;
}

/* libwebp also takes streams without the RIFF header, but only the header tells whether all is
 * there. */
static tz_result check_webp_container(const uint8_t *in, size_t in_size, const tz_codec_call *call)
{
    if (in_size < 12 || memcmp(in, "RIFF", 4) != 0 || memcmp(in + 8, "WEBP", 4) != 0)
        return tz_codec_fail(call, "WebP: no RIFF header");
    uint64_t stored = tz_load_le32(in + 4);
    if (stored + 8 > in_size)
        return tz_codec_fail_size(call, stored + 8, in_size, "WebP: the stream is cut off");
    return TZ_OK;
}

static tz_result check_webp_features(const WebPBitstreamFeatures *features,
                                     const tz_tile_format *format, const tz_codec_call *call)
{
    if (features->has_animation)
        return tz_codec_fail(call, "WebP: an animation");
    if (features->width < 1 || features->height < 1 || (uint32_t)features->width != format->width ||
        (uint32_t)features->height != format->height)
        return tz_codec_fail(call, "WebP: %d x %d pixels in a tile of %u x %u", features->width,
                             features->height, format->width, format->height);
    if (features->has_alpha && format->samples == 3)
        return tz_codec_fail(call, "WebP: an alpha channel in a tile of 3 samples");
    /* All pixels at 4 bytes when lossless; alpha is decoded as a whole too. */
    uint64_t pixels = (uint64_t)format->width * format->height;
    uint64_t bytes = MIN_MEMORY + (uint64_t)format->width * MEMORY_PER_ROW_PIXEL;
    if (features->format == FORMAT_LOSSLESS)
        bytes += pixels * 4;
    else if (features->has_alpha)
        bytes += pixels * 2;
    return tz_check_limit(call->ctx, offsetof(tz_limits, max_codec_bytes), call->location, bytes,
                          "bytes of memory for libwebp");
}

static const char *webp_status_text(VP8StatusCode status)
{
    switch (status) {
    case VP8_STATUS_BITSTREAM_ERROR:
        return "broken stream";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return "unknown feature";
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
        return "the stream is cut off";
    default:
        return "cannot be decoded";
    }
}

static tz_result webp_decode(void *state, const tz_tile_format *format, const uint8_t *in,
                             size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    (void)state;
    TZ_TRY(check_webp_format(format, call));
    TZ_TRY(check_webp_container(in, in_size, call));
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return tz_fail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, call->location,
                       "libwebp is not of the version this library was built for");
    VP8StatusCode status = WebPGetFeatures(in, in_size, &config.input);
    if (status != VP8_STATUS_OK)
        return tz_codec_fail(call, "WebP: %s", webp_status_text(status));
    TZ_TRY(check_webp_features(&config.input, format, call));
    if (stride > INT_MAX)
        return tz_fail(call->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, call->location,
                       "libwebp cannot write rows %zu bytes apart", stride);

    config.output.colorspace = format->samples == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = out;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = (format->height - 1u) * stride + tz_tile_row_bytes(format);
    status = WebPDecode(in, in_size, &config);
    if (status == VP8_STATUS_OUT_OF_MEMORY)
        return tz_fail_nomem(call->ctx, tz_tile_bytes(format));
    if (status != VP8_STATUS_OK)
        return tz_codec_fail(call, "WebP: %s", webp_status_text(status));
    return TZ_OK;
}

static const uint16_t webp_compressions[] = {50001, 0};

const tz_decoder tz_decoder_webp = {
    .name = "webp",
    .library = "libwebp",
    .compressions = webp_compressions,
    .flags = TZ_DECODER_NATIVE_ENDIAN | TZ_DECODER_ANY_STRIDE | TZ_DECODER_NO_OVERRUN |
             TZ_DECODER_NO_PREDICTOR,
    .decode = webp_decode,
};

#endif
