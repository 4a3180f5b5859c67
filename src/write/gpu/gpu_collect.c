/* SPDX-License-Identifier: Apache-2.0
 * Tiles that came down from a device, as pieces of the belt: most are ready, and stay where they
 * are until they are delivered. Those of a mask, and those that are better encoded otherwise than
 * the device can, are plain, and encoded here. */
#include "base/mem.h"
#include "device/ops/encode.h"
#include "write/cog_layout.h"
#include "write/writer.h"

/* What is at an offset of the results. */
static const void *result_at(const tz_writer *w, const tz_gpu_tile_batch *tiles, uint64_t offset)
{
    return (const uint8_t *)tiles->memory->host + (offset - w->budget.device.layout.sizes);
}

/* Where tiles are told to be is not trusted: a device that errs must not make anybody read beyond
 * them. */
static bool offsets_are_valid(const uint32_t *sizes, const uint64_t *offsets, uint32_t count,
                              uint64_t capacity)
{
    const uint64_t end = offsets[count];
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t size = sizes[i] & ~TZ_ENCODE_LEFT_TO_CPU;
        if (size > 0 &&
            (offsets[i] < TZ_LEADER || offsets[i] > end || size + TZ_TRAILER > end - offsets[i]))
            return false;
    }
    return end <= capacity;
}

tz_result tz_gpu_tile_batch_bytes(const tz_writer *w, const tz_gpu_tile_batch *tiles,
                                  uint64_t *bytes)
{
    const tz_image *image = w->levels[tiles->level].image;
    const tz_gpu_budget *plan = &w->budget.device;
    const uint64_t *offsets = result_at(w, tiles, plan->layout.offsets);
    *bytes = tiles->mask_bytes;
    if (tiles->images == 0 ||
        w->budget.encoding[tz_encoding_index(&w->budget, tiles->level, false)].codestreams)
        return TZ_OK;
    if (tz_gpu_downloads_raw(image, false)) {
        *bytes += tiles->images * tz_gpu_tile_bytes(&w->budget, image, tiles->level, false).payload;
        return TZ_OK;
    }
    if (!offsets_are_valid(result_at(w, tiles, plan->layout.sizes), offsets, tiles->images,
                           plan->part_bytes.payload))
        return tz_fail(&w->ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "the device tells of tiles that cannot be where it says");
    *bytes += offsets[tiles->images];
    return TZ_OK;
}

/* A tile that came down as it was cut, or encoded. */
typedef struct collected_tile {
    uint8_t *bytes;
    size_t size; /* 0: unknown, for it is plain */
} collected_tile;

static collected_tile locate_tile(const tz_writer *w, const tz_gpu_tile_batch *tiles,
                                  uint32_t number, bool is_mask)
{
    const tz_image *image = w->levels[tiles->level].image;
    const tz_gpu_tile_layout *at = &w->budget.device.layout;
    const tz_gpu_part_bytes one = tz_gpu_tile_bytes(&w->budget, image, tiles->level, is_mask);
    uint8_t *masks = (uint8_t *)tiles->memory->host + (at->results_end - at->sizes);
    uint8_t *images = masks + tiles->mask_bytes;
    if (is_mask)
        return (collected_tile){.bytes = masks + (number - tiles->images) * one.masks +
                                         TZ_GPU_RAW_LEADER};
    if (tz_gpu_downloads_raw(image, false))
        return (collected_tile){.bytes = images + number * one.payload + TZ_GPU_RAW_LEADER};
    const uint32_t size = ((const uint32_t *)result_at(w, tiles, at->sizes))[number];
    const uint64_t offset = ((const uint64_t *)result_at(w, tiles, at->offsets))[number];
    return (collected_tile){.bytes = images + offset,
                            .size = size & TZ_ENCODE_LEFT_TO_CPU ? 0 : size};
}

/* Plain ones are encoded as any others are. */
static tz_result fill_slot(tz_writer *w, const tz_gpu_tile_batch *tiles,
                           const tz_tile_position *position, const collected_tile *tile,
                           unsigned worker, tz_tile_slot *slot, const tz_codec_call *call)
{
    const tz_image *image = w->levels[tiles->level].image;
    const unsigned which = tz_encoding_index(&w->budget, tiles->level, position->is_mask);
    if (tile->size > 0) {
        slot->bytes = tile->bytes;
        slot->size = tile->size;
    } else {
        tz_tile_format format = w->budget.encoding[which].format;
        if (image->options.strips)
            format.height = position->height;
        if (!tz_gpu_downloads_raw(image, position->is_mask))
            atomic_fetch_add(&w->gpu.tiles_redone, 1);
        TZ_TRY(tz_tile_encode(w, which, &format, worker, tile->bytes, slot, call));
    }
    return tz_tile_seal(w, which, slot, call);
}

tz_result tz_gpu_collect_tile(tz_writer *w, const tz_task_batch *batch, uint64_t index,
                              unsigned worker, tz_tile_slot *slot, tz_error *err)
{
    const tz_gpu_tile_batch *tiles = batch->collected;
    const tz_image *image = w->levels[tiles->level].image;
    const tz_gpu_tile_layout *at = &w->budget.device.layout;
    const tz_tile_position position =
        tz_tile_position_of(image, &tiles->tile_row, tiles->first + index);
    const uint32_t number = tiles->numbers[index];
    const tz_extract_result *seen =
        (const tz_extract_result *)result_at(w, tiles, at->results) + number;
    const tz_context ctx = tz_writer_context(w, err);
    const tz_codec_call call = {&ctx, tz_tile_location(image, tiles->level, &position)};
    tz_tile_slot_begin(w, tiles->level, &position, slot);
    slot->hash = slot->verified_index != TZ_NONE ? seen->hash : 0;
    if (slot->bands > 0)
        slot->stats = (tz_stats *)(uintptr_t)result_at(w, tiles, at->stats) + number * slot->bands;
    const bool packed =
        w->budget.encoding[tz_encoding_index(&w->budget, tiles->level, false)].bytes.row > 0;
    if (packed && !position.is_mask && seen->misfit != TZ_NONE)
        return tz_fail_misfit(image, tiles->level, &position, seen->misfit, &ctx);
    if (image->options.sparse && seen->empty)
        return TZ_OK;
    const collected_tile tile = locate_tile(w, tiles, number, position.is_mask);
    return fill_slot(w, tiles, &position, &tile, worker, slot, &call);
}
