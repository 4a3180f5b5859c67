/* SPDX-License-Identifier: Apache-2.0
 * The capabilities of a device. They are found by asking each operation of ops/ about a typical
 * batch, so that a capability is never true for work that the operation then refuses. */
#include "device/device_state.h"
#include "device/ops/convert_tiles.h"
#include "device/ops/decode.h"
#include "device/ops/encode.h"
#include "device/ops/extract.h"
#include "device/ops/overview.h"

/* By bit of tz_device_info.caps. */
static const char *const cap_names[] = {
    "store-pixels",   "predictor2",      "predictor3",      "convert",     "decode-deflate",
    "decode-lzw",     "decode-lz4",      "decode-packbits", "decode-zstd", "extract",
    "encode-deflate", "encode-packbits", "overview",
};
#define CAP_COUNT (sizeof cap_names / sizeof cap_names[0])
_Static_assert(TZ_DEVICE_CAP_OVERVIEW == 1u << (CAP_COUNT - 1), "every bit has a name");

const char *tz_device_cap_name(uint32_t work)
{
    for (size_t i = 0; i < CAP_COUNT; i++) {
        if (work == 1u << i)
            return cap_names[i];
    }
    return NULL;
}

uint32_t tz_device_all_caps(void)
{
    return (1u << CAP_COUNT) - 1;
}

/* A small tile of bytes at the level that kernels have. */
static bool offers_encode(const tz_device *device, tz_compression compression)
{
    const tz_tile_format format = {.compression = (uint16_t)compression,
                                   .width = 16,
                                   .height = 16,
                                   .samples = 1,
                                   .bits = 8,
                                   .sample_format = TZ_SAMPLE_FORMAT_UINT};
    const tz_encode_options choice = {.level = TZ_EFFORT_FAST};
    return tz_device_encodes(device, &format, &choice);
}

uint32_t tz_device_caps(const tz_driver *driver, const tz_device_info *info)
{
    static const struct {
        tz_compression compression;
        uint32_t caps;
    } decoders[] = {
        {TZ_COMPRESSION_DEFLATE, TZ_DEVICE_CAP_DECODE_DEFLATE},
        {TZ_COMPRESSION_LZW, TZ_DEVICE_CAP_DECODE_LZW},
        {TZ_COMPRESSION_LZ4, TZ_DEVICE_CAP_DECODE_LZ4},
        {TZ_COMPRESSION_PACKBITS, TZ_DEVICE_CAP_DECODE_PACKBITS},
        {TZ_COMPRESSION_ZSTD, TZ_DEVICE_CAP_DECODE_ZSTD},
    };
    /* a cast with a scale, which needs double precision */
    const tz_row_format row = {
        .dtype = TZ_DTYPE_UINT16, .bits = 16, .samples = 1, .predictor = TZ_PREDICTOR_NONE};
    const tz_conversion to_double = {
        .from = TZ_DTYPE_UINT16, .to = TZ_DTYPE_FLOAT64, .scaled = true, .scale = 0.5};
    const tz_convert_format format = tz_convert_format_make(&row, &to_double);
    const tz_extract_batch bytes = {.row = {.dtype = TZ_DTYPE_UINT8,
                                            .bits = 8,
                                            .sample_format = TZ_SAMPLE_FORMAT_UINT,
                                            .samples = 1,
                                            .predictor = TZ_PREDICTOR_NONE,
                                            .width = 16},
                                    .height = 16};
    const tz_overview_params average = {.method = TZ_RESAMPLING_AVERAGE,
                                        .dtype = TZ_DTYPE_UINT8,
                                        .bits = 8,
                                        .bands = 1,
                                        .from_width = 16,
                                        .from_height = 16,
                                        .to_width = 8,
                                        .to_height = 8};
    if (!info->usable)
        return 0;
    const tz_device device = {.driver = driver, .info = *info}; /* as it would be when opened */
    uint32_t caps = TZ_DEVICE_CAP_STORE | TZ_DEVICE_CAP_PREDICTOR2 | TZ_DEVICE_CAP_PREDICTOR3;
    for (size_t i = 0; i < sizeof decoders / sizeof decoders[0]; i++) {
        if (tz_device_decodes(&device, (uint16_t)decoders[i].compression))
            caps |= decoders[i].caps;
    }
    caps |= tz_device_converts(&device, &format) ? TZ_DEVICE_CAP_CONVERT : 0;
    caps |= tz_device_extracts(&device, &bytes) ? TZ_DEVICE_CAP_EXTRACT : 0;
    caps |= offers_encode(&device, TZ_COMPRESSION_DEFLATE) ? TZ_DEVICE_CAP_ENCODE_DEFLATE : 0;
    caps |= offers_encode(&device, TZ_COMPRESSION_PACKBITS) ? TZ_DEVICE_CAP_ENCODE_PACKBITS : 0;
    caps |= tz_device_makes_overviews(&device, &average) ? TZ_DEVICE_CAP_OVERVIEW : 0;
    return caps;
}
