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
    tz_gpu_part_bytes tile_bytes; /* of one tile of the image */
    tz_gpu_part_bytes mask;       /* of one tile of the mask */
    bool raw;                     /* see tz_gpu_downloads_raw */
    tz_extract_tile *extracts;    /* tables on the host */
    tz_encode_entry *entries;
} batch_launch;

static batch_launch make_batch_launch(tz_writer *w, tz_gpu_tile_batch *tiles)
{
    const tz_image *image = w->levels[tiles->level].image;
    const tz_budget *b = &w->budget;
    uint8_t *tables = w->gpu.tables->host;
    return (batch_launch){
        .writer = w,
        .image = image,
        .plan = &b->device,
        .encoding = &b->encoding[tz_encoding_index(b, tiles->level, false)],
        .slab = w->gpu.allocations[TZ_ALLOCATION_TILES],
        .tiles = tiles,
        .tile_bytes = tz_gpu_tile_bytes(b, image, tiles->level, false),
        .mask = image->spec.mask ? tz_gpu_tile_bytes(b, image, tiles->level, true)
                                 : (tz_gpu_part_bytes){0},
        .raw = tz_gpu_downloads_raw(image, false),
        .extracts = (tz_extract_tile *)(void *)(tables + b->device.layout.extracts),
        .entries = (tz_encode_entry *)(void *)(tables + b->device.layout.entries)};
}

/* ---- tables ---- */

/* Returns whether a batch with these numbers of tiles fits the planned memory. */
static bool fits_batch(const batch_launch *b, uint64_t images, uint64_t masks)
{
    const tz_gpu_part_bytes *part_bytes = &b->plan->part_bytes;
    const tz_vendor_encode_plan *library = b->encoding->library;
    if (library &&
        tz_vendor_encode_scratch(library, images) > b->plan->layout.tiles - b->plan->layout.scratch)
        return false;
    return images + masks <= b->plan->batch_tiles &&
           images * b->tile_bytes.tiles <= part_bytes->tiles &&
           images * b->tile_bytes.views <= part_bytes->views &&
           images * b->tile_bytes.payload <= part_bytes->payload &&
           images * b->tile_bytes.codestreams <= part_bytes->codestreams &&
           masks * b->mask.masks <= part_bytes->masks;
}

/* Takes tiles in the order of delivery until one does not fit. */
static void choose_batch_tiles(batch_launch *b, uint64_t end)
{
    tz_gpu_tile_batch *t = b->tiles;
    t->images = t->masks = 0;
    for (uint64_t i = t->first; i < end; i++) {
        const bool is_mask = tz_tile_position_of(b->image, &t->tile_row, i).is_mask;
        if (!fits_batch(b, t->images + !is_mask, t->masks + is_mask))
            break;
        *(is_mask ? &t->masks : &t->images) += 1;
    }
    t->mask_bytes = t->masks * b->mask.masks;
}

/* Offset of the n-th extracted tile of the image or the mask. */
static uint64_t extract_offset(const batch_launch *b, bool is_mask, uint32_t n)
{
    const tz_gpu_tile_layout *at = &b->plan->layout;
    if (is_mask)
        return at->payload - b->tiles->mask_bytes + n * b->mask.masks + TZ_GPU_RAW_LEADER;
    return b->raw ? at->payload + n * b->tile_bytes.payload + TZ_GPU_RAW_LEADER
                  : tz_gpu_extract_offset(b->plan, &b->tile_bytes, n);
}

static int64_t first_byte_offset(const tz_buffer *buffer, const tz_tile_position *position)
{
    return (int64_t)buffer->offset +
           tz_pixel_offset(buffer, position->plane, position->buffer_row, position->buffer_column);
}

/* valid is the offset of the mask's pixels, for statistics of the image. */
static tz_extract_tile make_extract_entry(const batch_launch *b, const tz_tile_position *position,
                                          uint32_t n)
{
    const tz_tile_row *tile_row = &b->tiles->tile_row;
    tz_tile_position mask_position = *position;
    mask_position.plane = 0;
    return (tz_extract_tile){
        .from =
            first_byte_offset(position->is_mask ? &tile_row->mask : &tile_row->pixels, position),
        .to = extract_offset(b, position->is_mask, n),
        .width = position->width,
        .height = position->height,
        .plane = position->plane,
        .valid = tz_buffer_has_memory(&tile_row->mask)
                     ? first_byte_offset(&tile_row->mask, &mask_position)
                     : 0,
        .checked =
            !position->is_mask && tz_verified_index(b->image, position->tile_index) != TZ_NONE};
}

/* Only for tiles of the image, so that n is also the number in the tables. */
static tz_encode_entry make_encode_entry(const batch_launch *b, const tz_tile_position *position,
                                         uint32_t n)
{
    const tz_gpu_tile_layout *at = &b->plan->layout;
    const tz_vendor_encode_plan *library = b->encoding->library;
    const uint64_t lead = library ? library->lead : 0;
    const uint64_t bound = b->encoding->bytes.bound;
    tz_tile_format format = b->encoding->format;
    if (b->image->options.strips)
        format.height = position->height;
    return (tz_encode_entry){
        .from = extract_offset(b, false, n),
        .to = at->views + n * b->tile_bytes.views + lead,
        .size = (uint32_t)tz_tile_bytes(&format),
        .capacity = (uint32_t)(library ? tz_min(library->view - lead, bound) : bound),
        .skip = b->image->options.sparse ? at->results + n * sizeof(tz_extract_result) +
                                               offsetof(tz_extract_result, empty)
                                         : TZ_NONE};
}

/* In the tables all tiles of the image come first; numbers[] maps the order of delivery to
 * it. */
static void fill_tables(const batch_launch *b)
{
    tz_gpu_tile_batch *t = b->tiles;
    const tz_write_options *options = &b->image->options;
    uint32_t images = 0, masks = 0;
    for (uint32_t i = 0; i < t->images + t->masks; i++) {
        const tz_tile_position position = tz_tile_position_of(b->image, &t->tile_row, t->first + i);
        const uint32_t n = position.is_mask ? masks++ : images++;
        t->numbers[i] = position.is_mask ? t->images + n : n;
        b->extracts[t->numbers[i]] = make_extract_entry(b, &position, n);
        if (!position.is_mask && !b->raw && !b->encoding->codestreams)
            b->entries[n] = make_encode_entry(b, &position, n);
    }
    if (options->discard_bits)
        memcpy((uint8_t *)b->extracts + (b->plan->layout.discard - b->plan->layout.extracts),
               options->discard_bits, b->image->spec.bands);
}

/* ---- launches ---- */

/* Extracts tiles of the image or of the mask, in one launch. */
static tz_result extract(const batch_launch *b, bool is_mask, uint32_t first, uint32_t count)
{
    const tz_gpu_tile_layout *at = &b->plan->layout;
    const tz_tile_row *tile_row = &b->tiles->tile_row;
    const tz_buffer *from = is_mask ? &tile_row->mask : &tile_row->pixels;
    if (count == 0)
        return TZ_OK;
    tz_extract_batch batch = tz_gpu_extract_batch(b->image, b->tiles->level, is_mask);
    batch.rows = from->memory;
    batch.band_stride = from->band_stride;
    batch.row_stride = from->row_stride;
    batch.column_stride = from->column_stride;
    if (batch.wants_stats && tz_buffer_has_memory(&tile_row->mask)) {
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

/* Reports the library that encoded the batch, or why none did. */
static tz_result encode_by_library(const batch_launch *b, const tz_encode_batch *batch)
{
    tz_writer *w = b->writer;
    tz_device_use *use = &w->gpu.counted;
    tz_vendor_encode_report done;
    TZ_TRY(tz_vendor_encode_launch(batch, 0, &done, w->ctx.err));
    if (done.library[0]) {
        use->library_calls++;
        memcpy(use->library, done.library, sizeof use->library);
        return TZ_OK;
    }
    if (b->image->options.strict_device)
        return tz_fail(&w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(), "%s",
                       done.reason);
    if (!use->library_reason[0])
        memcpy(use->library_reason, done.reason, sizeof use->library_reason);
    return TZ_OK;
}
_Static_assert(sizeof((tz_device_use *)0)->library ==
                       sizeof((tz_vendor_encode_report *)0)->library &&
                   sizeof((tz_device_use *)0)->library_reason ==
                       sizeof((tz_vendor_encode_report *)0)->reason,
               "texts fit");

/* Encodes the tiles of the image and moves them together, with space for leader and trailer
 * around each. */
static tz_result encode_tiles(const batch_launch *b)
{
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
    if (b->raw || b->encoding->codestreams || b->tiles->images == 0)
        return TZ_OK;
    TZ_TRY(batch.library ? encode_by_library(b, &batch)
                         : tz_encode_launch(&batch, 0, b->writer->ctx.err));
    return tz_compact_launch(&together, 0, b->writer->ctx.err);
}

/* Nothing is waited for here: the download of the results is queued as well. */
tz_result tz_gpu_tile_batch_launch(tz_writer *w, tz_gpu_tile_batch *tiles, uint64_t end,
                                   uint64_t *count)
{
    batch_launch b = make_batch_launch(w, tiles);
    const tz_gpu_tile_layout *at = &b.plan->layout;
    choose_batch_tiles(&b, end);
    *count = (uint64_t)tiles->images + tiles->masks;
    if (*count == 0)
        return tz_fail(&w->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, tz_no_location(),
                       "not a single tile fits a batch");
    fill_tables(&b);
    TZ_TRY(tz_device_upload(0, b.slab, 0, w->gpu.tables->host, at->tables_end, w->ctx.err));
    TZ_TRY(extract(&b, false, 0, tiles->images));
    TZ_TRY(extract(&b, true, tiles->images, tiles->masks));
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

/* Checks the offsets that the device reports: a faulty device must not cause reads out of bounds.
 */
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

/* Masks are downloaded with the image's tiles. Codestreams are on the host already. */
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
                       "the device reports tiles outside of its results");
    *bytes += offsets[tiles->images];
    return TZ_OK;
}

/* A tile in the downloaded payload. */
typedef struct collected_tile {
    uint8_t *bytes;
    size_t size; /* 0: not encoded */
} collected_tile;

/* The payload on the host: all masks, then the image's tiles at fixed distances or at their
 * reported offsets. */
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

/* Hash, statistics and sparseness were determined on the device. A tile that is not encoded
 * yet is encoded here, by the worker that runs the task. */
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
    slot->hash = slot->verified_index != TZ_NONE ? seen->hash : 0;
    if (slot->bands > 0)
        slot->stats = (tz_stats *)(uintptr_t)result_at(w, tiles, at->stats) + number * slot->bands;
    const bool packed = w->budget.encoding[which].bytes.row > 0;
    if (packed && !position.is_mask && seen->misfit != TZ_NONE)
        return tz_fail_misfit(image, tiles->level, &position, seen->misfit, &ctx);
    if (image->options.sparse && seen->empty)
        return TZ_OK;
    const collected_tile tile = locate_tile(w, tiles, number, position.is_mask);
    slot->bytes = tile.bytes;
    slot->size = tile.size;
    if (tile.size == 0) {
        tz_tile_format format = w->budget.encoding[which].format;
        if (image->options.strips)
            format.height = position.height;
        if (!tz_gpu_downloads_raw(image, position.is_mask))
            atomic_fetch_add(&w->gpu.tiles_redone, 1);
        TZ_TRY(tz_tile_encode(&w->encoder, which, &format, worker, tile.bytes, slot, &call));
    }
    return tz_tile_seal(&w->encoder, which, slot, &call);
}
