/* SPDX-License-Identifier: Apache-2.0
 * The table of encoders: the one place that knows which of them this build has. */
#include "codec/encoder.h"

const tz_encoder *const tz_encoders[] = {
    &tz_encoder_none,
    &tz_encoder_packbits,
    &tz_encoder_lzw,
#ifdef TZ_HAVE_LIBDEFLATE
    &tz_encoder_deflate,
#endif
#ifdef TZ_HAVE_ZSTD
    &tz_encoder_zstd,
#endif
#ifdef TZ_HAVE_LZMA
    &tz_encoder_lzma,
#endif
#ifdef TZ_HAVE_LZ4
    &tz_encoder_lz4,
#endif
#ifdef TZ_HAVE_LERC
    &tz_encoder_lerc,
#endif
#ifdef TZ_HAVE_JPEG
    &tz_encoder_jpeg,
#endif
#ifdef TZ_HAVE_WEBP
    &tz_encoder_webp,
#endif
#ifdef TZ_HAVE_OPENJPEG
    &tz_encoder_jp2,
#endif
#ifdef TZ_HAVE_JXL
    &tz_encoder_jxl,
#endif
    NULL,
};

static bool writes_compression(const tz_encoder *encoder, uint16_t compression)
{
    for (const uint16_t *number = encoder->compressions; *number; number++)
        if (*number == compression)
            return true;
    return false;
}

tz_result tz_encoder_find(uint16_t compression, const tz_context *ctx, const tz_encoder **out)
{
    for (const tz_encoder *const *encoder = tz_encoders; *encoder; encoder++) {
        if (writes_compression(*encoder, compression)) {
            *out = *encoder;
            return TZ_OK;
        }
    }
    return tz_codec_fail_missing(compression, "encoder", ctx);
}

/* What a sample is called, but for its number of bits. */
static const char *sample_kind(uint16_t sample_format)
{
    static const char *const kinds[] = {"", "uint", "int", "float", "", "cint", "cfloat"};
    return sample_format < sizeof kinds / sizeof kinds[0] ? kinds[sample_format] : "";
}

tz_result tz_encoder_check(const tz_encoder *encoder, const tz_tile_format *format,
                           tz_encode_options *options, const tz_context *ctx)
{
    const char *reason =
        encoder->resolve_options ? encoder->resolve_options(format, options) : NULL;
    if (reason)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s", reason);
    reason = encoder->unsupported_reason ? encoder->unsupported_reason(format, options) : NULL;
    if (reason)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "%s; tiles here are %u x %u pixels of %u x %s%u", reason, format->width,
                       format->height, (unsigned)format->samples,
                       sample_kind(format->sample_format), (unsigned)format->bits);
    return TZ_OK;
}
