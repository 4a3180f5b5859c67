/* SPDX-License-Identifier: Apache-2.0
 * A batch of tiles on a device: which ones, and the few launches that make them: cut, encoded,
 * moved together. How many launches there are does not depend on how many tiles. */
#include <string.h>

#include "base/mem.h"
#include "device/ops/encode.h"
#include "write/cog_layout.h"
#include "write/writer.h"

/* A batch at work. */
typedef struct batch_launch {
    tz_writer *writer;
    const tz_image *image;
    const tz_gpu_budget *plan;
    const tz_tile_encoding *encoding; /* of the image's tiles */
    tz_device_memory *slab;
    tz_gpu_tile_batch *tiles;
    tz_gpu_part_bytes tile_bytes; /* what an image's tile takes */
    tz_gpu_part_bytes mask;       /* and the mask's */
    bool raw;                     /* the image's: see tz_gpu_downloads_raw */
    tz_extract_tile *extracts;    /* tables on the host, on their way up */
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

/* ---- which tiles ---- */

/* Whether there is room for one more. */
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

/* Where the tile is cut to: of the image's or the mask's, number n. */
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

static tz_extract_tile make_extract_entry(const batch_launch *b, const tz_tile_position *position,
                                          uint32_t n)
{
    const tz_tile_row *tile_row = &b->tiles->tile_row;
    tz_extract_tile extract = {
        .from =
            first_byte_offset(position->is_mask ? &tile_row->mask : &tile_row->pixels, position),
        .to = extract_offset(b, position->is_mask, n),
        .width = position->width,
        .height = position->height,
        .plane = position->plane};
    tz_tile_position mask_position = *position;
    mask_position.plane = 0;
    if (tz_buffer_has_memory(&tile_row->mask))
        extract.valid = first_byte_offset(&tile_row->mask, &mask_position);
    extract.checked =
        !position->is_mask && tz_verified_index(b->image, position->tile_index) != TZ_NONE;
    return extract;
}

/* Only of the image's tiles, so that n is its number in the tables too. */
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
        .capacity =
            (uint32_t)(library && library->view - lead < bound ? library->view - lead : bound),
        .skip = b->image->options.sparse ? at->results + n * sizeof(tz_extract_result) +
                                               offsetof(tz_extract_result, empty)
                                         : TZ_NONE};
}

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

/* Tells what a library did, or why it did not. */
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

tz_result tz_gpu_tile_batch_launch(tz_writer *w, tz_gpu_tile_batch *tiles, uint64_t end,
                                   uint64_t *count)
{
    batch_launch b = make_batch_launch(w, tiles);
    const tz_gpu_tile_layout *at = &b.plan->layout;
    choose_batch_tiles(&b, end);
    *count = (uint64_t)tiles->images + tiles->masks;
    if (*count == 0)
        return tz_fail(&w->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, tz_no_location(),
                       "a batch has no room for a single tile");
    fill_tables(&b);
    TZ_TRY(tz_device_upload(0, b.slab, 0, w->gpu.tables->host, at->tables_end, w->ctx.err));
    TZ_TRY(extract(&b, false, 0, tiles->images));
    TZ_TRY(extract(&b, true, tiles->images, tiles->masks));
    TZ_TRY(encode_tiles(&b));
    return tz_device_download(0, tiles->memory->host, b.slab, at->sizes,
                              at->results_end - at->sizes, w->ctx.err);
}
