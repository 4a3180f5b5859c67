/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device_codestreams.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"

enum { MAX_SAMPLES = 4, MAX_REDUCTION = 32, JPEG_2000 = 34712 };

bool tz_device_find_codestream_codec(const tz_device *device, uint16_t compression, bool encodes,
                                     uint64_t samples, tz_codestream_codec *out)
{
    *out = (tz_codestream_codec){.reason = "the device has no library for pictures"};
    return tz_device_is_ours(device) && device->driver->find_codestream_codec &&
           device->driver->find_codestream_codec(device->state, compression, encodes, samples, out);
}

/* ---- what a library would have to trust ---- */

static tz_result fail_codestream(const tz_codestream_batch *batch, tz_location location,
                                 const char *text, tz_error *err)
{
    return tz_call_fail(batch->slab->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, location, text);
}

static bool is_possible(const tz_codestream *codestream)
{
    return codestream->width > 0 && codestream->width <= INT32_MAX && codestream->height > 0 &&
           codestream->height <= INT32_MAX && codestream->samples > 0 &&
           codestream->samples <= MAX_SAMPLES &&
           (codestream->sample_bytes == 1 || codestream->sample_bytes == 2);
}

/* before: where the last one ends. */
static tz_result check_codestream(const tz_codestream_batch *batch, uint64_t index, uint64_t before,
                                  tz_error *err)
{
    const tz_codestream *codestream = &batch->codestreams[index];
    tz_location location = tz_at_offset(codestream->at);
    location.tile = (int64_t)index;
    if (!is_possible(codestream))
        return fail_codestream(batch, location, "no library has such pictures", err);
    if (codestream->reduction > (batch->compression == JPEG_2000 ? MAX_REDUCTION : 0))
        return fail_codestream(batch, location, "such pictures have no lower resolutions", err);
    const uint64_t size = tz_codestream_sample_bytes(codestream);
    if (codestream->at % codestream->sample_bytes != 0 || codestream->at < before)
        return fail_codestream(batch, tz_expecting(location, before, codestream->at),
                               "pictures share bytes, or begin within a sample", err);
    if (!tz_memory_holds(batch->slab, codestream->at, size))
        return fail_codestream(
            batch, tz_expecting(location, batch->slab->size, tz_add_capped(codestream->at, size)),
            "the picture is not within the slab", err);
    return TZ_OK;
}

static tz_result check_codestream_batch(const tz_codestream_batch *batch, uint64_t *total,
                                        tz_error *err)
{
    uint64_t before = 0;
    *total = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        const tz_codestream *codestream = &batch->codestreams[i];
        TZ_TRY(check_codestream(batch, i, before, err));
        before = codestream->at + tz_codestream_sample_bytes(codestream);
        *total += tz_codestream_sample_bytes(codestream);
    }
    return TZ_OK;
}

static tz_result check_streams(const tz_codestream_batch *batch, tz_error *err)
{
    for (uint64_t i = 0; i < batch->count; i++) {
        tz_location location = tz_no_location();
        location.tile = (int64_t)i;
        if (!batch->codestreams[i].bytes || batch->codestreams[i].size == 0)
            return fail_codestream(batch, location, "the picture has no stream", err);
    }
    return TZ_OK;
}

/* ---- calls ---- */

tz_result tz_device_decode_codestreams(uint32_t queue, const tz_codestream_batch *batch,
                                       tz_error *err)
{
    tz_device *device = batch->slab->device;
    tz_call call;
    uint64_t total;
    TZ_TRY(check_codestream_batch(batch, &total, err));
    TZ_TRY(check_streams(batch, err));
    if (batch->count == 0)
        return TZ_OK;
    if (!device->driver->decode_codestreams)
        return fail_codestream(batch, tz_expecting(tz_no_location(), TZ_NONE, batch->compression),
                               "the device has no library for pictures", err);
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
                               "the device has no library for pictures", err);
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_ENCODE, queue, total, err));
    return tz_call_end(
        &call, device->driver->encode_codestreams(device->state, queue, batch, how, out, &call.ctx),
        err);
}
