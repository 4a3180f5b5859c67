/* SPDX-License-Identifier: Apache-2.0
 * A batch of tiles on a device: which ones, and the few launches that make them: cut, encoded,
 * moved together. How many launches there are does not depend on how many tiles. */
#include <string.h>

#include "base/mem.h"
#include "device/ops/encode.h"
#include "write/cog_layout.h"
#include "write/writer.h"

/* A batch at work. */
typedef struct tile_batch {
    tz_writer *writer;
    const tz_image *image;
    const tz_device_budget *plan;
    const tz_tile_way *way; /* of the image's tiles */
    tz_device_memory *slab;
    tz_device_tiles *tiles;
    tz_device_rooms one;   /* what an image's tile takes */
    tz_device_rooms mask;  /* and the mask's */
    bool dense;            /* the image's: see tz_is_dense */
    tz_extract_tile *cuts; /* tables on the host, on their way up */
    tz_encode_entry *entries;
} tile_batch;

static tile_batch batch_of(tz_writer *w, tz_device_tiles *tiles)
{
    const tz_image *image = w->levels[tiles->level].image;
    const tz_budget *b = &w->budget;
    uint8_t *tables = w->means.tables->host;
    return (tile_batch){.writer = w,
                        .image = image,
                        .plan = &b->device,
                        .way = &b->way[tz_way_of(b, tiles->level, false)],
                        .slab = w->means.pieces[TZ_PIECE_TILES],
                        .tiles = tiles,
                        .one = tz_device_tile_rooms(b, image, tiles->level, false),
                        .mask = image->spec.mask
                                    ? tz_device_tile_rooms(b, image, tiles->level, true)
                                    : (tz_device_rooms){0},
                        .dense = tz_is_dense(image, false),
                        .cuts = (tz_extract_tile *)(void *)(tables + b->device.at.cuts),
                        .entries = (tz_encode_entry *)(void *)(tables + b->device.at.entries)};
}

/* ---- which tiles ---- */

/* Whether there is room for one more. */
static bool holds(const tile_batch *b, uint64_t images, uint64_t masks)
{
    const tz_device_rooms *rooms = &b->plan->rooms;
    const tz_vendor_encode_plan *library = b->way->library;
    if (library &&
        tz_vendor_encode_scratch(library, images) > b->plan->at.tiles - b->plan->at.scratch)
        return false;
    return images + masks <= b->plan->batch_tiles && images * b->one.tiles <= rooms->tiles &&
           images * b->one.views <= rooms->views && images * b->one.payload <= rooms->payload &&
           images * b->one.streams <= rooms->streams && masks * b->mask.masks <= rooms->masks;
}

static void count_tiles(tile_batch *b, uint64_t end)
{
    tz_device_tiles *t = b->tiles;
    t->images = t->masks = 0;
    for (uint64_t i = t->first; i < end; i++) {
        const bool is_mask = tz_tile_find(b->image, &t->swath, i).is_mask;
        if (!holds(b, t->images + !is_mask, t->masks + is_mask))
            break;
        *(is_mask ? &t->masks : &t->images) += 1;
    }
    t->mask_bytes = t->masks * b->mask.masks;
}

/* Where the tile is cut to: of the image's or the mask's, number n. */
static uint64_t cut_place(const tile_batch *b, bool is_mask, uint32_t n)
{
    const tz_device_places *at = &b->plan->at;
    if (is_mask)
        return at->payload - b->tiles->mask_bytes + n * b->mask.masks + TZ_DENSE_LEAD;
    return b->dense ? at->payload + n * b->one.payload + TZ_DENSE_LEAD
                    : tz_cut_place(b->plan, &b->one, n);
}

static int64_t first_byte(const tz_buffer *buffer, const tz_tile_spot *spot)
{
    return (int64_t)buffer->offset +
           tz_pixel_offset(buffer, spot->plane, spot->swath_row, spot->swath_column);
}

static tz_extract_tile cut_of(const tile_batch *b, const tz_tile_spot *spot, uint32_t n)
{
    const tz_swath *swath = &b->tiles->swath;
    tz_extract_tile cut = {.from = first_byte(spot->is_mask ? &swath->mask : &swath->pixels, spot),
                           .to = cut_place(b, spot->is_mask, n),
                           .width = spot->width,
                           .height = spot->height,
                           .plane = spot->plane};
    tz_tile_spot on_mask = *spot;
    on_mask.plane = 0;
    if (tz_is_there(&swath->mask))
        cut.valid = first_byte(&swath->mask, &on_mask);
    cut.checked = !spot->is_mask && tz_verified_index(b->image, spot->place) != TZ_NONE;
    return cut;
}

/* Only of the image's tiles, so that n is its number in the tables too. */
static tz_encode_entry entry_of(const tile_batch *b, const tz_tile_spot *spot, uint32_t n)
{
    const tz_device_places *at = &b->plan->at;
    const tz_vendor_encode_plan *library = b->way->library;
    const uint64_t lead = library ? library->lead : 0;
    const uint64_t bound = b->way->bytes.bound;
    tz_tile_format format = b->way->format;
    if (b->image->options.strips)
        format.height = spot->height;
    return (tz_encode_entry){
        .from = cut_place(b, false, n),
        .to = at->views + n * b->one.views + lead,
        .size = (uint32_t)tz_tile_bytes(&format),
        .capacity =
            (uint32_t)(library && library->view - lead < bound ? library->view - lead : bound),
        .skip = b->image->options.sparse
                    ? at->seen + n * sizeof(tz_extract_result) + offsetof(tz_extract_result, empty)
                    : TZ_NONE};
}

static void fill_tables(const tile_batch *b)
{
    tz_device_tiles *t = b->tiles;
    const tz_write_options *options = &b->image->options;
    uint32_t images = 0, masks = 0;
    for (uint32_t i = 0; i < t->images + t->masks; i++) {
        const tz_tile_spot spot = tz_tile_find(b->image, &t->swath, t->first + i);
        const uint32_t n = spot.is_mask ? masks++ : images++;
        t->numbers[i] = spot.is_mask ? t->images + n : n;
        b->cuts[t->numbers[i]] = cut_of(b, &spot, n);
        if (!spot.is_mask && !b->dense && !b->way->pictures)
            b->entries[n] = entry_of(b, &spot, n);
    }
    if (options->discard_bits)
        memcpy((uint8_t *)b->cuts + (b->plan->at.discard - b->plan->at.cuts), options->discard_bits,
               b->image->spec.bands);
}

/* ---- launches ---- */

static tz_result cut(const tile_batch *b, bool is_mask, uint32_t first, uint32_t count)
{
    const tz_device_places *at = &b->plan->at;
    const tz_swath *swath = &b->tiles->swath;
    const tz_buffer *from = is_mask ? &swath->mask : &swath->pixels;
    if (count == 0)
        return TZ_OK;
    tz_extract_batch batch = tz_device_cut_of(b->image, b->tiles->level, is_mask);
    batch.rows = from->memory;
    batch.band_stride = from->band_stride;
    batch.row_stride = from->row_stride;
    batch.column_stride = from->column_stride;
    if (batch.wants_stats && tz_is_there(&swath->mask)) {
        batch.mask = swath->mask.memory;
        batch.mask_row_stride = swath->mask.row_stride;
        batch.mask_column_stride = swath->mask.column_stride;
    }
    batch.slab = b->slab;
    batch.tiles = b->cuts + first;
    batch.count = count;
    batch.table = at->cuts + first * sizeof(tz_extract_tile);
    batch.seen = at->seen + first * sizeof(tz_extract_result);
    batch.tallies = at->tallies;
    batch.scratch = at->scratch;
    batch.discard = at->discard;
    return tz_extract_launch(&batch, 0, b->writer->ctx.err);
}

/* Tells what a library did, or why it did not. */
static tz_result encode_by_library(const tile_batch *b, const tz_encode_batch *batch)
{
    tz_writer *w = b->writer;
    tz_device_use *use = &w->means.counted;
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

static tz_result encode(const tile_batch *b)
{
    const tz_device_places *at = &b->plan->at;
    const tz_encode_batch batch = {.compression = b->way->format.compression,
                                   .library = b->way->library,
                                   .scratch = at->scratch,
                                   .slab = b->slab,
                                   .tiles = b->entries,
                                   .count = b->tiles->images,
                                   .table = at->entries,
                                   .sizes = at->sizes,
                                   .row_bytes = (uint32_t)tz_tile_row_bytes(&b->way->format)};
    const tz_compact_batch together = {.tiles = &batch,
                                       .to = at->payload,
                                       .capacity = b->plan->rooms.payload,
                                       .places = at->places,
                                       .before = TZ_LEADER,
                                       .after = TZ_TRAILER};
    if (b->dense || b->way->pictures || b->tiles->images == 0)
        return TZ_OK;
    TZ_TRY(batch.library ? encode_by_library(b, &batch)
                         : tz_encode_launch(&batch, 0, b->writer->ctx.err));
    return tz_compact_launch(&together, 0, b->writer->ctx.err);
}

tz_result tz_device_tiles_begin(tz_writer *w, tz_device_tiles *tiles, uint64_t end, uint64_t *count)
{
    tile_batch b = batch_of(w, tiles);
    const tz_device_places *at = &b.plan->at;
    count_tiles(&b, end);
    *count = (uint64_t)tiles->images + tiles->masks;
    if (*count == 0)
        return tz_fail(&w->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL, tz_no_location(),
                       "a batch has no room for a single tile");
    fill_tables(&b);
    TZ_TRY(tz_device_upload(0, b.slab, 0, w->means.tables->host, at->tables_end, w->ctx.err));
    TZ_TRY(cut(&b, false, 0, tiles->images));
    TZ_TRY(cut(&b, true, tiles->images, tiles->masks));
    TZ_TRY(encode(&b));
    return tz_device_download(0, tiles->memory->host, b.slab, at->sizes,
                              at->results_end - at->sizes, w->ctx.err);
}
