/* SPDX-License-Identifier: Apache-2.0
 * What a device can do, in bits: asked of those who do it, with work that is as plain as can be. */
#include "device/cut.h"
#include "device/decode.h"
#include "device/device_find.h"
#include "device/device_state.h"
#include "device/encode.h"
#include "device/place.h"
#include "device/reduce.h"

static bool converts(const tz_device *device)
{
    const tz_row_format row = {.dtype = TZ_DTYPE_UINT16, .bits = 16, .samples = 1, .predictor = 1};
    const tz_conversion how = {
        .from = TZ_DTYPE_UINT16, .to = TZ_DTYPE_FLOAT64, .scaled = true, .scale = 0.5};
    const tz_place_format format = tz_place_format_make(&row, &how);
    return tz_device_places(device, &format);
}

static bool cuts(const tz_device *device)
{
    const tz_cut_batch batch = {.row = {.dtype = TZ_DTYPE_UINT8,
                                        .bits = 8,
                                        .sample_format = 1,
                                        .samples = 1,
                                        .predictor = 1,
                                        .width = 16},
                                .height = 16};
    return tz_device_cuts(device, &batch);
}

static uint32_t decoders_of(const tz_device *device)
{
    static const struct {
        tz_compression compression;
        uint32_t work;
    } decoders[] = {
        {TZ_COMPRESSION_DEFLATE, TZ_DEVICE_DECODE_DEFLATE},
        {TZ_COMPRESSION_LZW, TZ_DEVICE_DECODE_LZW},
        {TZ_COMPRESSION_LZ4, TZ_DEVICE_DECODE_LZ4},
        {TZ_COMPRESSION_PACKBITS, TZ_DEVICE_DECODE_PACKBITS},
        {TZ_COMPRESSION_ZSTD, TZ_DEVICE_DECODE_ZSTD},
    };
    uint32_t work = 0;
    for (size_t i = 0; i < sizeof decoders / sizeof decoders[0]; i++) {
        if (tz_device_decodes(device, (uint16_t)decoders[i].compression))
            work |= decoders[i].work;
    }
    return work;
}

static bool encodes(const tz_device *device, tz_compression compression)
{
    const tz_tile_format format = {.compression = (uint16_t)compression,
                                   .width = 16,
                                   .height = 16,
                                   .samples = 1,
                                   .bits = 8,
                                   .sample_format = 1};
    const tz_encode_options choice = {.level = TZ_LEVEL_FAST};
    return tz_device_encodes(device, &format, &choice);
}

static bool reduces(const tz_device *device)
{
    const tz_overview_params how = {.method = TZ_RESAMPLE_AVERAGE,
                                    .dtype = TZ_DTYPE_UINT8,
                                    .bits = 8,
                                    .bands = 1,
                                    .from_width = 16,
                                    .from_height = 16,
                                    .to_width = 8,
                                    .to_height = 8};
    return tz_device_reduces(device, &how);
}

uint32_t tz_device_abilities(const tz_driver *driver, const tz_device_info *info)
{
    if (!info->usable)
        return 0;
    const tz_device device = {.driver = driver, .info = *info}; /* as it would be when opened */
    uint32_t work = TZ_DEVICE_PLACE | TZ_DEVICE_PREDICTOR2 | TZ_DEVICE_PREDICTOR3;
    work |= converts(&device) ? TZ_DEVICE_CONVERT : 0;
    work |= decoders_of(&device);
    work |= cuts(&device) ? TZ_DEVICE_CUT : 0;
    work |= encodes(&device, TZ_COMPRESSION_DEFLATE) ? TZ_DEVICE_ENCODE_DEFLATE : 0;
    work |= encodes(&device, TZ_COMPRESSION_PACKBITS) ? TZ_DEVICE_ENCODE_PACKBITS : 0;
    work |= reduces(&device) ? TZ_DEVICE_REDUCE : 0;
    return work;
}
