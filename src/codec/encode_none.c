/* SPDX-License-Identifier: Apache-2.0
 * No compression. */
#include <string.h>

#include "codec/encoder.h"

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

static const uint16_t none_encoder_compressions[] = {1, 0};

const tz_encoder tz_encoder_none = {
    .name = "none",
    .library = "terrazzo",
    .compressions = none_encoder_compressions,
    .flags = TZ_ENCODER_COPY,
    .bound = none_bound,
    .encode = none_encode,
};
