/* SPDX-License-Identifier: Apache-2.0
 * Codestreams: the checks before a driver gets a batch of them. A driver that decodes codestreams
 * also encodes them, by the same library. */
#include "device/device_codestreams.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"

enum { MAX_SAMPLES = 4, MAX_REDUCTION = 32 };

bool tz_device_find_codestream_codec(const tz_device *device, uint16_t compression, bool encodes,
                                     uint64_t samples, tz_codestream_codec *out)
{
    *out = (tz_codestream_codec){.reason = "the device has no library for codestreams"};
    return tz_device_is_ours(device) && device->driver->find_codestream_codec &&
           device->driver->find_codestream_codec(device->state, compression, encodes, samples, out);
}

/* The samples must begin at or after `end`, where those of the codestream before it end. */
static tz_result check_codestream(const tz_codestream_batch *batch, uint64_t index, uint64_t end,
                                  tz_error *err)
{
    const tz_codestream *codestream = &batch->codestreams[index];
    const tz_location location = tz_location_of_tile(codestream->at, index);
    if (codestream->width == 0 || codestream->width > INT32_MAX || codestream->height == 0 ||
        codestream->height > INT32_MAX || codestream->samples == 0 ||
        codestream->samples > MAX_SAMPLES ||
        (codestream->sample_bytes != 1 && codestream->sample_bytes != 2))
        return tz_refuse(batch->slab, location, "no library has such codestreams", err);
    if (codestream->decode_reduction >
        (batch->compression == TZ_COMPRESSION_JPEG2000 ? MAX_REDUCTION : 0))
        return tz_refuse(batch->slab, location, "such codestreams have no lower resolutions", err);
    const uint64_t size = tz_codestream_sample_bytes(codestream);
    if (codestream->at % codestream->sample_bytes != 0 || codestream->at < end)
        return tz_refuse(batch->slab, tz_expecting(location, end, codestream->at),
                         "the samples of codestreams overlap, or begin within a sample", err);
    return tz_check_range(batch->slab, location, codestream->at, size,
                          "the samples of the codestream are not within the slab", err);
}

/* *total becomes the bytes of all samples. Codestreams to decode have bytes. */
static tz_result check_codestream_batch(const tz_codestream_batch *batch, bool decodes,
                                        uint64_t *total, tz_error *err)
{
    uint64_t end = 0;
    *total = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        const tz_codestream *codestream = &batch->codestreams[i];
        TZ_TRY(check_codestream(batch, i, end, err));
        if (decodes && (!codestream->bytes || codestream->size == 0))
            return tz_refuse(batch->slab, tz_location_of_tile(codestream->at, i),
                             "the codestream is empty", err);
        end = codestream->at + tz_codestream_sample_bytes(codestream);
        *total += tz_codestream_sample_bytes(codestream);
    }
    if (batch->count > 0 && !batch->slab->device->driver->decode_codestreams)
        return tz_refuse(batch->slab,
                         tz_expecting(tz_no_location(), TZ_NO_VALUE, batch->compression),
                         "the device has no library for codestreams", err);
    return TZ_OK;
}

/* `failed` is reset here, and set by the library for each codestream that it cannot decode. */
tz_result tz_device_decode_codestreams(uint32_t queue, const tz_codestream_batch *batch,
                                       tz_error *err)
{
    tz_device *device = batch->slab->device;
    tz_call call;
    uint64_t total;
    TZ_TRY(check_codestream_batch(batch, true, &total, err));
    if (batch->count == 0)
        return TZ_OK;
    for (uint64_t i = 0; i < batch->count; i++)
        batch->codestreams[i].failed = false;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_DECODE, queue, total, err));
    return tz_call_end(
        &call, device->driver->decode_codestreams(device->state, queue, batch, &call.ctx), err);
}

tz_result tz_device_encode_codestreams(uint32_t queue, const tz_codestream_batch *batch,
                                       const tz_codestream_encoding *how, tz_codestream_output *out,
                                       tz_error *err)
{
    tz_device *device = batch->slab->device;
    tz_call call;
    uint64_t total;
    TZ_TRY(check_codestream_batch(batch, false, &total, err));
    if (batch->count == 0)
        return TZ_OK;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_ENCODE, queue, total, err));
    return tz_call_end(
        &call, device->driver->encode_codestreams(device->state, queue, batch, how, out, &call.ctx),
        err);
}
