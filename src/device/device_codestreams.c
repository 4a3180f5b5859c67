/* SPDX-License-Identifier: Apache-2.0
 * Codestreams: the checks before a driver gets a batch of them. */
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

static tz_result fail_codestream(const tz_codestream_batch *batch, tz_location location,
                                 const char *text, tz_error *err)
{
    return tz_call_fail_argument(batch->slab->device, location, text, err);
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
        return fail_codestream(batch, location, "no library has such codestreams", err);
    if (codestream->decode_reduction >
        (batch->compression == TZ_COMPRESSION_JPEG2000 ? MAX_REDUCTION : 0))
        return fail_codestream(batch, location, "such codestreams have no lower resolutions", err);
    const uint64_t size = tz_codestream_sample_bytes(codestream);
    if (codestream->at % codestream->sample_bytes != 0 || codestream->at < end)
        return fail_codestream(batch, tz_expecting(location, end, codestream->at),
                               "the samples of codestreams overlap, or begin within a sample", err);
    return tz_check_range(batch->slab, location, codestream->at, size,
                          "the samples of the codestream are not within the slab", err);
}

/* *total becomes the bytes of all samples. */
static tz_result check_codestream_batch(const tz_codestream_batch *batch, uint64_t *total,
                                        tz_error *err)
{
    uint64_t end = 0;
    *total = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        const tz_codestream *codestream = &batch->codestreams[i];
        TZ_TRY(check_codestream(batch, i, end, err));
        end = codestream->at + tz_codestream_sample_bytes(codestream);
        *total += tz_codestream_sample_bytes(codestream);
    }
    return TZ_OK;
}

tz_result tz_device_decode_codestreams(uint32_t queue, const tz_codestream_batch *batch,
                                       tz_error *err)
{
    tz_device *device = batch->slab->device;
    tz_call call;
    uint64_t total;
    TZ_TRY(check_codestream_batch(batch, &total, err));
    for (uint64_t i = 0; i < batch->count; i++) {
        tz_location location = tz_no_location();
        location.tile = (int64_t)i;
        if (!batch->codestreams[i].bytes || batch->codestreams[i].size == 0)
            return fail_codestream(batch, location, "the codestream is empty", err);
    }
    if (batch->count == 0)
        return TZ_OK;
    if (!device->driver->decode_codestreams)
        return fail_codestream(batch, tz_expecting(tz_no_location(), TZ_NONE, batch->compression),
                               "the device has no library for codestreams", err);
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
    TZ_TRY(check_codestream_batch(batch, &total, err));
    if (batch->count == 0)
        return TZ_OK;
    if (!device->driver->encode_codestreams)
        return fail_codestream(batch, tz_expecting(tz_no_location(), TZ_NONE, batch->compression),
                               "the device has no library for codestreams", err);
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_ENCODE, queue, total, err));
    return tz_call_end(
        &call, device->driver->encode_codestreams(device->state, queue, batch, how, out, &call.ctx),
        err);
}
