/* SPDX-License-Identifier: Apache-2.0
 * A batch of tiles on a device, from launch to pipeline.
 *
 * tz_gpu_tile_batch_launch chooses tiles of a tile row, uploads tables that describe them, and
 * queues a fixed number of launches, whatever the number of tiles: extract, encode, compact. The
 * results (sizes, offsets, hashes, statistics) are downloaded with the batch; the payload follows
 * when gpu_maker.c knows its size from them. tz_gpu_collect_tile then runs as a task of the
 * pipeline: most tiles are complete and stay in the downloaded memory until they are delivered.
 *
 * The decision that is not obvious: tiles of a mask are not encoded by the device, and neither are
 * tiles that its encoder gives up on. They are downloaded as samples, and the task encodes them. In
 * the payload the mask's tiles come before the image's, because their total size is known in
 * advance. */
#include <string.h>

#include "base/mem.h"
#include "device/ops/encode.h"
#include "write/cog_layout.h"
#include "write/writer.h"

typedef struct batch_launch {
    tz_writer *writer;
    const tz_image *image;
    const tz_gpu_budget *plan;
    const tz_tile_encoding *encoding; /* of the image's tiles */
    tz_device_memory *slab;
    tz_gpu_tile_batch *tiles;
    tz_gpu_part_bytes tile_bytes; /* of one tile, and of its mask */
    bool raw;                     /* see tz_gpu_downloads_raw */
    tz_extract_tile *extracts;    /* tables on the host */
    tz_encode_entry *entries;
} batch_launch;

/* ---- tables ---- */

/* Takes tiles in the order of delivery until one does not fit the planned memory. */
static void choose_batch_tiles(batch_launch *b, uint64_t end)
{
    const tz_gpu_part_bytes *planned = &b->plan->part_bytes;
    const uint64_t scratch = b->plan->layout.tiles - b->plan->layout.scratch;
    const tz_vendor_encode_plan *library = b->encoding->library;
    tz_gpu_tile_batch *t = b->tiles;
    t->images = t->masks = 0;
    for (uint64_t i = t->first; i < end; i++) {
        const bool is_mask = tz_tile_position_of(b->image, &t->tile_row, i).is_mask;
        const uint64_t images = (uint64_t)t->images + !is_mask,
                       masks = (uint64_t)t->masks + is_mask;
        if ((library && tz_vendor_encode_scratch(library, images) > scratch) ||
            images + masks > b->plan->batch_tiles ||
            images * b->tile_bytes.tiles > planned->tiles ||
            images * b->tile_bytes.views > planned->views ||
            images * b->tile_bytes.payload > planned->payload ||
            images * b->tile_bytes.codestreams > planned->codestreams ||
            masks * b->tile_bytes.masks > planned->masks)
            break;
        t->images = (uint32_t)images;
        t->masks = (uint32_t)masks;
    }
    t->mask_bytes = t->masks * b->tile_bytes.masks;
}

/* Offset of the n-th extracted tile of the image or the mask. */
static uint64_t extract_offset(const batch_launch *b, bool is_mask, uint32_t n)
{
    const tz_gpu_tile_layout *at = &b->plan->layout;
    if (is_mask)
        return at->payload - b->tiles->mask_bytes + n * b->tile_bytes.masks + TZ_GPU_RAW_LEADER;
    return b->raw ? at->payload + n * b->tile_bytes.payload + TZ_GPU_RAW_LEADER
                  : tz_gpu_extract_offset(b->plan, &b->tile_bytes, n);
}

/* Offset of a tile's first sample in device memory; the mask has a single plane. */
static int64_t first_sample_offset(const tz_pixel_buffer *buffer, const tz_tile_position *position,
                                   uint32_t plane)
{
    return (int64_t)buffer->offset +
           tz_pixel_offset(buffer, plane, position->buffer_row, position->buffer_column);
}

/* In the tables all tiles of the image come first, so the n-th of them has the number n; numbers[]
 * maps the order of delivery to it. Tiles of the mask have no encode entry. */
static void fill_tables(const batch_launch *b)
{
    tz_gpu_tile_batch *t = b->tiles;
    const tz_gpu_tile_layout *at = &b->plan->layout;
    const tz_write_options *options = &b->image->options;
    const tz_pixel_buffer *pixels = &t->tile_row.pixels, *mask = &t->tile_row.mask;
    const tz_vendor_encode_plan *library = b->encoding->library;
    const uint64_t lead = library ? library->lead : 0;
    const uint64_t bound = b->encoding->bytes.bound;
    uint32_t images = 0, masks = 0;
    for (uint32_t i = 0; i < t->images + t->masks; i++) {
        const tz_tile_position position = tz_tile_position_of(b->image, &t->tile_row, t->first + i);
        const bool is_mask = position.is_mask;
        const uint32_t n = is_mask ? masks++ : images++;
        t->numbers[i] = is_mask ? t->images + n : n;
        b->extracts[t->numbers[i]] = (tz_extract_tile){
            .from = first_sample_offset(is_mask ? mask : pixels, &position, position.plane),
            .to = extract_offset(b, is_mask, n),
            .width = position.width,
            .height = position.height,
            .plane = position.plane,
            /* the mask's pixels, for statistics of the image */
            .valid = tz_pixel_buffer_exists(mask) ? first_sample_offset(mask, &position, 0) : 0,
            .checked = !is_mask && tz_verified_index(b->image, position.tile_index) != TZ_NO_VALUE};
        if (is_mask || b->raw || b->encoding->codestreams)
            continue;
        tz_tile_format format = b->encoding->format;
        if (options->strips)
            format.height = position.height;
        b->entries[n] = (tz_encode_entry){
            .from = extract_offset(b, false, n),
            .to = at->views + n * b->tile_bytes.views + lead,
            .size = (uint32_t)tz_tile_bytes(&format),
            .capacity = (uint32_t)(library ? tz_min(library->view - lead, bound) : bound),
            .skip = options->sparse ? at->results + n * sizeof(tz_extract_result) +
                                          offsetof(tz_extract_result, empty)
                                    : TZ_NO_VALUE};
    }
    if (options->discard_bits)
        memcpy((uint8_t *)b->extracts + (at->discard - at->extracts), options->discard_bits,
               b->image->spec.bands);
}

/* ---- launches ---- */

/* Extracts tiles of the image or of the mask, in one launch. */
static tz_result extract(const batch_launch *b, bool is_mask, uint32_t first, uint32_t count)
{
    const tz_gpu_tile_layout *at = &b->plan->layout;
    const tz_tile_row *tile_row = &b->tiles->tile_row;
    const tz_pixel_buffer *from = is_mask ? &tile_row->mask : &tile_row->pixels;
    if (count == 0)
        return TZ_OK;
    tz_extract_batch batch = tz_gpu_extract_batch(b->image, b->tiles->level, is_mask);
    batch.rows = from->memory;
    batch.band_stride = from->band_stride;
    batch.row_stride = from->row_stride;
    batch.column_stride = from->column_stride;
    if (batch.wants_stats && tz_pixel_buffer_exists(&tile_row->mask)) {
        batch.mask = tile_row->mask.memory;
        batch.mask_row_stride = tile_row->mask.row_stride;
        batch.mask_column_stride = tile_row->mask.column_stride;
    }
    batch.slab = b->slab;
    batch.tiles = b->extracts + first;
    batch.count = count;
    batch.table = at->extracts + first * sizeof(tz_extract_tile);
    batch.results = at->results + first * sizeof(tz_extract_result);
    batch.stats = at->stats;
    batch.scratch = at->scratch;
    batch.discard = at->discard;
    return tz_extract_launch(&batch, 0, b->writer->ctx.err);
}

_Static_assert(sizeof((tz_device_use *)0)->library ==
                       sizeof((tz_vendor_encode_report *)0)->library &&
                   sizeof((tz_device_use *)0)->library_reason ==
                       sizeof((tz_vendor_encode_report *)0)->reason,
               "texts fit");

/* Encodes the tiles of the image and moves them together, with space for leader and trailer around
 * each. Reports the library that encoded the batch, or why none did. */
static tz_result encode_tiles(const batch_launch *b)
{
    tz_writer *w = b->writer;
    tz_device_use *use = &w->gpu.counted;
    const tz_gpu_tile_layout *at = &b->plan->layout;
    const tz_encode_batch batch = {.compression = b->encoding->format.compression,
                                   .library = b->encoding->library,
                                   .scratch = at->scratch,
                                   .slab = b->slab,
                                   .tiles = b->entries,
                                   .count = b->tiles->images,
                                   .table = at->entries,
                                   .sizes = at->sizes,
                                   .row_bytes = (uint32_t)tz_tile_row_bytes(&b->encoding->format)};
    const tz_compact_batch together = {.tiles = &batch,
                                       .to = at->payload,
                                       .capacity = b->plan->part_bytes.payload,
                                       .offsets = at->offsets,
                                       .before = TZ_LEADER,
                                       .after = TZ_TRAILER};
    tz_vendor_encode_report done;
    if (!batch.library) {
        TZ_TRY(tz_encode_launch(&batch, 0, w->ctx.err));
        return tz_compact_launch(&together, 0, w->ctx.err);
    }
    TZ_TRY(tz_vendor_encode_launch(&batch, 0, &done, w->ctx.err));
    if (done.library[0]) {
        use->library_calls++;
        memcpy(use->library, done.library, sizeof use->library);
    } else if (b->image->options.strict_device) {
        return tz_fail(&w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(), "%s",
                       done.reason);
    } else if (!use->library_reason[0]) {
        memcpy(use->library_reason, done.reason, sizeof use->library_reason);
    }
    return tz_compact_launch(&together, 0, w->ctx.err);
}

/* Nothing is waited for here: the download of the results is queued as well. */
tz_result tz_gpu_tile_batch_launch(tz_writer *w, tz_gpu_tile_batch *tiles, uint64_t end,
                                   uint64_t *count)
{
    const tz_image *image = w->levels[tiles->level].image;
    const tz_budget *budget = &w->budget;
    const tz_gpu_tile_layout *at = &budget->device.layout;
    uint8_t *tables = w->gpu.tables->host;
    batch_launch b = {.writer = w,
                      .image = image,
                      .plan = &budget->device,
                      .encoding = &budget->encoding[tz_encoding_index(budget, tiles->level, false)],
                      .slab = w->gpu.allocations[TZ_ALLOCATION_TILES],
                      .tiles = tiles,
                      .tile_bytes = tz_gpu_tile_bytes(budget, image, tiles->level),
                      .raw = tz_gpu_downloads_raw(image),
                      .extracts = (tz_extract_tile *)(void *)(tables + at->extracts),
                      .entries = (tz_encode_entry *)(void *)(tables + at->entries)};
    choose_batch_tiles(&b, end);
    *count = (uint64_t)tiles->images + tiles->masks;
    if (*count == 0)
        return tz_fail(&w->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, tz_no_location(),
                       "not a single tile fits a batch");
    fill_tables(&b);
    TZ_TRY(tz_device_upload(0, b.slab, 0, w->gpu.tables->host, at->tables_end, w->ctx.err));
    TZ_TRY(extract(&b, false, 0, tiles->images));
    TZ_TRY(extract(&b, true, tiles->images, tiles->masks));
    if (!b.raw && !b.encoding->codestreams && tiles->images > 0)
        TZ_TRY(encode_tiles(&b));
    return tz_device_download(0, tiles->memory->host, b.slab, at->sizes,
                              at->results_end - at->sizes, w->ctx.err);
}

/* ---- collecting ---- */

/* Part of the downloaded results, by its offset in the device's layout. */
static const void *result_at(const tz_writer *w, const tz_gpu_tile_batch *tiles, uint64_t offset)
{
    return (const uint8_t *)tiles->memory->host + (offset - w->budget.device.layout.sizes);
}

/* Masks are downloaded with the image's tiles. Codestreams are on the host already. The offsets
 * that the device reports are checked: a faulty device must not cause reads out of bounds. */
tz_result tz_gpu_tile_batch_bytes(const tz_writer *w, const tz_gpu_tile_batch *tiles,
                                  uint64_t *bytes)
{
    const tz_image *image = w->levels[tiles->level].image;
    const tz_gpu_budget *plan = &w->budget.device;
    const uint32_t *sizes = result_at(w, tiles, plan->layout.sizes);
    const uint64_t *offsets = result_at(w, tiles, plan->layout.offsets);
    *bytes = tiles->mask_bytes;
    if (tiles->images == 0 ||
        w->budget.encoding[tz_encoding_index(&w->budget, tiles->level, false)].codestreams)
        return TZ_OK;
    if (tz_gpu_downloads_raw(image)) {
        *bytes += tiles->images * tz_gpu_tile_bytes(&w->budget, image, tiles->level).payload;
        return TZ_OK;
    }
    const uint64_t end = offsets[tiles->images];
    bool valid = end <= plan->part_bytes.payload;
    for (uint32_t i = 0; valid && i < tiles->images; i++) {
        const uint64_t size = sizes[i] & ~TZ_ENCODE_LEFT_TO_CPU;
        valid = size == 0 || (offsets[i] >= TZ_LEADER && offsets[i] <= end &&
                              size + TZ_TRAILER <= end - offsets[i]);
    }
    if (!valid)
        return tz_fail(&w->ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                       "the device reports tiles outside of its results");
    *bytes += end;
    return TZ_OK;
}

/* Hash, statistics and sparseness were determined on the device. The payload on the host has all
 * masks, then the image's tiles at fixed distances or at their reported offsets. A tile that is not
 * encoded yet is encoded here, by the worker that runs the task. */
tz_result tz_gpu_collect_tile(tz_writer *w, const tz_task_batch *batch, uint64_t index,
                              unsigned worker, tz_tile_slot *slot, tz_error *err)
{
    const tz_gpu_tile_batch *tiles = batch->collected;
    const tz_image *image = w->levels[tiles->level].image;
    const tz_gpu_tile_layout *at = &w->budget.device.layout;
    const tz_tile_position position =
        tz_tile_position_of(image, &tiles->tile_row, tiles->first + index);
    const uint32_t number = tiles->numbers[index];
    const unsigned which = tz_encoding_index(&w->budget, tiles->level, position.is_mask);
    const tz_extract_result *seen =
        (const tz_extract_result *)result_at(w, tiles, at->results) + number;
    const tz_context ctx = tz_writer_context(w, err);
    const tz_codec_call call = {&ctx, tz_tile_location(image, tiles->level, &position)};
    tz_tile_slot_begin(&w->encoder, tiles->level, &position, slot);
    slot->hash = slot->verified_index != TZ_NO_VALUE ? seen->hash : 0;
    if (slot->bands > 0)
        slot->stats = (tz_stats *)(uintptr_t)result_at(w, tiles, at->stats) + number * slot->bands;
    const bool packed = w->budget.encoding[which].bytes.row > 0;
    if (packed && !position.is_mask && seen->misfit != TZ_NO_VALUE)
        return tz_fail_misfit(image, tiles->level, &position, seen->misfit, &ctx);
    if (image->options.sparse && seen->empty)
        return TZ_OK;
    const tz_gpu_part_bytes one = tz_gpu_tile_bytes(&w->budget, image, tiles->level);
    const bool raw = position.is_mask || tz_gpu_downloads_raw(image);
    slot->bytes = (uint8_t *)tiles->memory->host + (at->results_end - at->sizes);
    if (position.is_mask) {
        slot->bytes += (number - tiles->images) * one.masks + TZ_GPU_RAW_LEADER;
    } else if (raw) {
        slot->bytes += tiles->mask_bytes + number * one.payload + TZ_GPU_RAW_LEADER;
    } else {
        const uint32_t size = ((const uint32_t *)result_at(w, tiles, at->sizes))[number];
        slot->bytes +=
            tiles->mask_bytes + ((const uint64_t *)result_at(w, tiles, at->offsets))[number];
        slot->size = size & TZ_ENCODE_LEFT_TO_CPU ? 0 : size;
    }
    if (slot->size == 0) {
        tz_tile_format format = w->budget.encoding[which].format;
        if (image->options.strips)
            format.height = position.height;
        if (!raw)
            atomic_fetch_add(&w->gpu.tiles_redone, 1);
        TZ_TRY(tz_tile_encode(&w->encoder, which, &format, worker, slot->bytes, slot, &call));
    }
    return tz_tile_seal(&w->encoder, which, slot, &call);
}
