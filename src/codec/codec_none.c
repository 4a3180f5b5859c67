/* SPDX-License-Identifier: Apache-2.0
 * No compression. Too few bytes are an error; too many are ignored with a warning. */
#include <string.h>

#include "codec/codec.h"

static tz_result none_decode(void *state, const tz_tile_format *format, const uint8_t *in,
                             size_t in_size, uint8_t *out, size_t stride, const tz_codec_call *call)
{
    (void)state;
    size_t row_bytes = tz_tile_row_bytes(format);
    size_t size = tz_tile_bytes(format);
    if (in_size < size)
        return tz_codec_fail_size(call, size, in_size, "an uncompressed tile has too few bytes");
    if (stride == row_bytes) {
        memcpy(out, in, size);
    } else {
        for (size_t row = 0; row < format->height; row++)
            memcpy(out + row * stride, in + row * row_bytes, row_bytes);
    }
    return tz_codec_check_end(call, size, in_size);
}

const tz_decoder tz_decoder_none = {
    .flags = TZ_DECODER_ANY_STRIDE | TZ_DECODER_NO_OVERRUN | TZ_DECODER_NO_PREDICTOR,
    .decode = none_decode,
};

static size_t none_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    return tz_tile_bytes(format);
}

static tz_result none_encode(void *state, const tz_tile_format *format,
                             const tz_encode_options *options, uint8_t *in, uint8_t *out,
                             size_t *out_size, const tz_codec_call *call)
{
    (void)state, (void)options, (void)call;
    *out_size = tz_tile_bytes(format);
    memcpy(out, in, *out_size);
    return TZ_OK;
}

const tz_encoder tz_encoder_none = {
    .flags = TZ_ENCODER_COPY,
    .bound = none_bound,
    .encode = none_encode,
};
