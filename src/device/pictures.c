/* SPDX-License-Identifier: Apache-2.0 */
#include "device/pictures.h"

#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"

enum { MOST_SAMPLES = 4, MOST_REDUCTION = 32, JPEG_2000 = 34712 };

bool tz_pictures_find(const tz_device *device, uint16_t compression, bool encodes, uint64_t samples,
                      tz_picture_codec *out)
{
    *out = (tz_picture_codec){.reason = "the device has no library for pictures"};
    return tz_device_is_ours(device) && device->driver->find_picture_codec &&
           device->driver->find_picture_codec(device->state, compression, encodes, samples, out);
}

/* ---- what a library would have to trust ---- */

static tz_result refuse(const tz_picture_batch *batch, tz_location place, const char *text,
                        tz_error *err)
{
    return tz_call_refuse(batch->slab->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG, place, text);
}

static bool is_possible(const tz_picture *picture)
{
    return picture->width > 0 && picture->width <= INT32_MAX && picture->height > 0 &&
           picture->height <= INT32_MAX && picture->samples > 0 &&
           picture->samples <= MOST_SAMPLES &&
           (picture->sample_bytes == 1 || picture->sample_bytes == 2);
}

/* before: where the last one ends. */
static tz_result check_picture(const tz_picture_batch *batch, uint64_t index, uint64_t before,
                               tz_error *err)
{
    const tz_picture *picture = &batch->pictures[index];
    tz_location place = tz_at_offset(picture->at);
    place.tile = (int64_t)index;
    if (!is_possible(picture))
        return refuse(batch, place, "no library has such pictures", err);
    if (picture->reduction > (batch->compression == JPEG_2000 ? MOST_REDUCTION : 0))
        return refuse(batch, place, "such pictures have no lower resolutions", err);
    const uint64_t size = tz_picture_bytes(picture);
    if (picture->at % picture->sample_bytes != 0 || picture->at < before)
        return refuse(batch, tz_expecting(place, before, picture->at),
                      "pictures share bytes, or begin within a sample", err);
    if (!tz_memory_holds(batch->slab, picture->at, size))
        return refuse(batch,
                      tz_expecting(place, batch->slab->size, tz_add_capped(picture->at, size)),
                      "the picture is not within the slab", err);
    return TZ_OK;
}

static tz_result check_batch(const tz_picture_batch *batch, uint64_t *total, tz_error *err)
{
    uint64_t before = 0;
    *total = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        const tz_picture *picture = &batch->pictures[i];
        TZ_TRY(check_picture(batch, i, before, err));
        before = picture->at + tz_picture_bytes(picture);
        *total += tz_picture_bytes(picture);
    }
    return TZ_OK;
}

static tz_result check_streams(const tz_picture_batch *batch, tz_error *err)
{
    for (uint64_t i = 0; i < batch->count; i++) {
        tz_location place = tz_no_location();
        place.tile = (int64_t)i;
        if (!batch->pictures[i].bytes || batch->pictures[i].size == 0)
            return refuse(batch, place, "the picture has no stream", err);
    }
    return TZ_OK;
}

/* ---- calls ---- */

tz_result tz_pictures_decode(uint32_t queue, const tz_picture_batch *batch, tz_error *err)
{
    tz_device *device = batch->slab->device;
    tz_call call;
    uint64_t total;
    TZ_TRY(check_batch(batch, &total, err));
    TZ_TRY(check_streams(batch, err));
    if (batch->count == 0)
        return TZ_OK;
    if (!device->driver->decode_pictures)
        return refuse(batch, tz_expecting(tz_no_location(), TZ_NONE, batch->compression),
                      "the device has no library for pictures", err);
    for (uint64_t i = 0; i < batch->count; i++)
        batch->pictures[i].failed = false;
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_DECODE, queue, total, err));
    return tz_call_end(
        &call, device->driver->decode_pictures(device->state, queue, batch, &call.ctx), err);
}

tz_result tz_pictures_encode(uint32_t queue, const tz_picture_batch *batch,
                             const tz_picture_encoding *how, tz_picture_streams *out, tz_error *err)
{
    tz_device *device = batch->slab->device;
    tz_call call;
    uint64_t total;
    TZ_TRY(check_batch(batch, &total, err));
    if (batch->count == 0)
        return TZ_OK;
    if (!device->driver->encode_pictures)
        return refuse(batch, tz_expecting(tz_no_location(), TZ_NONE, batch->compression),
                      "the device has no library for pictures", err);
    TZ_TRY(tz_call_begin(&call, device, TZ_CALL_ENCODE, queue, total, err));
    return tz_call_end(
        &call, device->driver->encode_pictures(device->state, queue, batch, how, out, &call.ctx),
        err);
}
