/* SPDX-License-Identifier: Apache-2.0
 * Tiles that came down from a device, as pieces of the belt: most are ready, and stay where they
 * are until they are delivered. Those of a mask, and those that are better encoded otherwise than
 * the device can, are plain, and encoded here. */
#include "base/mem.h"
#include "device/ops/encode.h"
#include "write/cog_layout.h"
#include "write/writer.h"

/* What is at an offset of the results. */
static const void *result_at(const tz_writer *w, const tz_device_tiles *tiles, uint64_t place)
{
    return (const uint8_t *)tiles->memory->host + (place - w->budget.device.at.sizes);
}

/* Where tiles are told to be is not trusted: a device that errs must not make anybody read beyond
 * them. */
static bool places_hold(const uint32_t *sizes, const uint64_t *places, uint32_t count,
                        uint64_t room)
{
    const uint64_t end = places[count];
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t size = sizes[i] & ~TZ_ENCODE_LEFT_TO_CPU;
        if (size > 0 &&
            (places[i] < TZ_LEADER || places[i] > end || size + TZ_TRAILER > end - places[i]))
            return false;
    }
    return end <= room;
}

tz_result tz_device_tiles_size(const tz_writer *w, const tz_device_tiles *tiles, uint64_t *bytes)
{
    const tz_image *image = w->levels[tiles->level].image;
    const tz_device_budget *plan = &w->budget.device;
    const uint64_t *places = result_at(w, tiles, plan->at.places);
    *bytes = tiles->mask_bytes;
    if (tiles->images == 0 || w->budget.way[tz_way_of(&w->budget, tiles->level, false)].pictures)
        return TZ_OK;
    if (tz_is_dense(image, false)) {
        *bytes +=
            tiles->images * tz_device_tile_rooms(&w->budget, image, tiles->level, false).payload;
        return TZ_OK;
    }
    if (!places_hold(result_at(w, tiles, plan->at.sizes), places, tiles->images,
                     plan->rooms.payload))
        return tz_fail(&w->ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "the device tells of tiles that cannot be where it says");
    *bytes += places[tiles->images];
    return TZ_OK;
}

/* A tile that came down as it was cut, or encoded. */
typedef struct found {
    uint8_t *bytes;
    size_t size; /* 0: unknown, for it is plain */
} found;

static found find(const tz_writer *w, const tz_device_tiles *tiles, uint32_t number, bool is_mask)
{
    const tz_image *image = w->levels[tiles->level].image;
    const tz_device_places *at = &w->budget.device.at;
    const tz_device_rooms one = tz_device_tile_rooms(&w->budget, image, tiles->level, is_mask);
    uint8_t *masks = (uint8_t *)tiles->memory->host + (at->results_end - at->sizes);
    uint8_t *images = masks + tiles->mask_bytes;
    if (is_mask)
        return (found){.bytes = masks + (number - tiles->images) * one.masks + TZ_DENSE_LEAD};
    if (tz_is_dense(image, false))
        return (found){.bytes = images + number * one.payload + TZ_DENSE_LEAD};
    const uint32_t size = ((const uint32_t *)result_at(w, tiles, at->sizes))[number];
    const uint64_t place = ((const uint64_t *)result_at(w, tiles, at->places))[number];
    return (found){.bytes = images + place, .size = size & TZ_ENCODE_LEFT_TO_CPU ? 0 : size};
}

/* Plain ones are encoded as any others are. */
static tz_result fill_slot(tz_writer *w, const tz_device_tiles *tiles, const tz_tile_spot *spot,
                           const found *tile, unsigned worker, tz_slot *slot,
                           const tz_codec_call *call)
{
    const tz_image *image = w->levels[tiles->level].image;
    const unsigned which = tz_way_of(&w->budget, tiles->level, spot->is_mask);
    if (tile->size > 0) {
        slot->bytes = tile->bytes;
        slot->size = tile->size;
    } else {
        tz_tile_format format = w->budget.way[which].format;
        if (image->options.strips)
            format.height = spot->height;
        if (!tz_is_dense(image, spot->is_mask))
            atomic_fetch_add(&w->means.tiles_redone, 1);
        TZ_TRY(tz_tile_encode(w, which, &format, worker, tile->bytes, slot, call));
    }
    return tz_tile_seal(w, which, slot, call);
}

tz_result tz_device_tile_take(tz_writer *w, const tz_batch *batch, uint64_t index, unsigned worker,
                              tz_slot *slot, tz_error *err)
{
    const tz_device_tiles *tiles = batch->made;
    const tz_image *image = w->levels[tiles->level].image;
    const tz_device_places *at = &w->budget.device.at;
    const tz_tile_spot spot = tz_tile_find(image, &tiles->swath, tiles->first + index);
    const uint32_t number = tiles->numbers[index];
    const tz_extract_result *seen =
        (const tz_extract_result *)result_at(w, tiles, at->seen) + number;
    const tz_context ctx = tz_writer_context(w, err);
    const tz_codec_call call = {&ctx, tz_spot_place(image, tiles->level, &spot)};
    tz_slot_begin(w, tiles->level, &spot, slot);
    slot->hash = slot->checked != TZ_NONE ? seen->hash : 0;
    if (slot->bands > 0)
        slot->tallies =
            (tz_stats *)(uintptr_t)result_at(w, tiles, at->tallies) + number * slot->bands;
    const bool packed = w->budget.way[tz_way_of(&w->budget, tiles->level, false)].bytes.row > 0;
    if (packed && !spot.is_mask && seen->misfit != TZ_NONE)
        return tz_fail_misfit(image, tiles->level, &spot, seen->misfit, &ctx);
    if (image->options.sparse && seen->empty)
        return TZ_OK;
    const found tile = find(w, tiles, number, spot.is_mask);
    return fill_slot(w, tiles, &spot, &tile, worker, slot, &call);
}
