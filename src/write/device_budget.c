/* SPDX-License-Identifier: Apache-2.0
 * How much a device holds, and how that is divided: slabs as high and batches as large as fit, with
 * as many tiles in a batch as a slab has, where both do. */
#include "base/mem.h"
#include "device/ops/encode.h"
#include "write/cog_layout.h"
#include "write/writer.h"

#define DEFAULT_BUFFER ((uint64_t)128 << 20)

enum { ALIGNMENT = 64, TILE_ALIGNMENT = 16 };
_Static_assert(TILE_ALIGNMENT % TZ_ENCODE_VIEW_ALIGN == 0, "views of libraries lie side by side");

/* ---- parts ---- */

static uint64_t align(uint64_t size, uint64_t to)
{
    const uint64_t sum = tz_add_capped(size, to - 1);
    return sum - sum % to;
}

/* Where a part begins; *end moves behind it. */
static uint64_t add_part(uint64_t *end, uint64_t size)
{
    const uint64_t at = align(*end, ALIGNMENT);
    *end = tz_add_capped(at, size);
    return at;
}

static bool is_tallied(const tz_image *image)
{
    return image->options.statistics || image->options.statistics_items;
}

tz_extract_batch tz_device_cut_of(const tz_image *image, uint32_t level, bool is_mask)
{
    const tz_write_options *options = &image->options;
    tz_extract_batch batch = {.row = tz_writer_row_format(image, is_mask),
                              .height = image->tile_height,
                              .crop_height = options->strips,
                              .is_mask = is_mask,
                              .wants_empty = options->sparse};
    if (is_mask)
        return batch;
    batch.nan_to_nodata = image->nan_to_nodata;
    batch.wants_stats = level == 0 && is_tallied(image);
    batch.discard_bits = options->discard_bits;
    batch.discard_count = options->discard_bits ? image->spec.bands : 0;
    batch.nodata = image->spec.nodata;
    return batch;
}

/* ---- rows ---- */

static uint64_t plan_levels(tz_device_budget *plan, const tz_budget *b, const tz_pyramid *pyramid)
{
    uint64_t end = 0;
    for (uint32_t i = 1; i < pyramid->count; i++) {
        const tz_pyramid_level *level = &pyramid->levels[i];
        const uint64_t kept = tz_kept_bytes(b, &pyramid->levels[i - 1].image, &level->reduction);
        tz_device_level *at = &plan->levels[i];
        at->slab = add_part(&end, tz_overview_slab_bytes(b, &level->image));
        at->kept[0] = add_part(&end, kept);
        at->kept[1] = add_part(&end, kept);
        at->reducer =
            add_part(&end, tz_overview_builder_bytes(&level->reduction, level->image.tile_height));
    }
    return end;
}

/* ---- tiles ---- */

tz_device_rooms tz_device_tile_rooms(const tz_budget *b, const tz_image *image, uint32_t level,
                                     bool is_mask)
{
    const tz_tile_way *way = &b->way[tz_way_of(b, level, is_mask)];
    const uint64_t plain = tz_tile_bytes(&way->format);
    const uint64_t most = tz_max(plain, way->bytes.bound);
    tz_device_rooms rooms = {0};
    if (tz_is_dense(image, is_mask)) {
        *(is_mask ? &rooms.masks : &rooms.payload) =
            align(tz_add_capped(TZ_DENSE_LEAD + TZ_TRAILER, plain), TILE_ALIGNMENT);
        return rooms;
    }
    rooms.tiles = align(plain, TILE_ALIGNMENT);
    if (way->pictures) {
        rooms.streams = align(tz_add_capped(TZ_LEADER + TZ_TRAILER, most), TILE_ALIGNMENT);
        return rooms;
    }
    if (!(way->encoder->flags & TZ_ENCODER_COPY))
        rooms.views = align(way->library ? way->library->view : way->bytes.bound, TILE_ALIGNMENT);
    rooms.payload = align(tz_add_capped(TZ_LEADER + TZ_TRAILER, most), TILE_ALIGNMENT);
    return rooms;
}

static void add_rooms(tz_device_rooms *sum, const tz_device_rooms *more, uint64_t times)
{
    sum->tiles = tz_add_capped(sum->tiles, tz_mul_capped(more->tiles, times));
    sum->views = tz_add_capped(sum->views, tz_mul_capped(more->views, times));
    sum->masks = tz_add_capped(sum->masks, tz_mul_capped(more->masks, times));
    sum->payload = tz_add_capped(sum->payload, tz_mul_capped(more->payload, times));
    sum->streams = tz_add_capped(sum->streams, tz_mul_capped(more->streams, times));
}

static void take_larger(tz_device_rooms *most, const tz_device_rooms *other)
{
    most->tiles = tz_max(most->tiles, other->tiles);
    most->views = tz_max(most->views, other->views);
    most->masks = tz_max(most->masks, other->masks);
    most->payload = tz_max(most->payload, other->payload);
    most->streams = tz_max(most->streams, other->streams);
}

/* Overviews are all of one kind, which may be another than the image's. */
static tz_device_rooms rooms_of(const tz_budget *b, const tz_pyramid *pyramid, uint64_t places)
{
    tz_device_rooms most = {0};
    for (uint32_t level = 0; level < pyramid->count && level < 2; level++) {
        const tz_image *image = &pyramid->levels[level].image;
        const tz_device_rooms one = tz_device_tile_rooms(b, image, level, false);
        tz_device_rooms sum = {0};
        add_rooms(&sum, &one, places > 0 ? tz_mul_capped(places, image->planes) : 1);
        if (image->spec.mask) {
            const tz_device_rooms mask = tz_device_tile_rooms(b, image, level, true);
            add_rooms(&sum, &mask, places > 0 ? places : 1);
        }
        take_larger(&most, &sum);
    }
    return most;
}

/* What cutting takes, and encoding afterwards. */
static uint64_t level_scratch(const tz_budget *b, const tz_image *image, uint32_t level)
{
    const tz_vendor_encode_plan *library = b->way[tz_way_of(b, level, false)].library;
    const uint64_t places = b->device.batch_places;
    const uint64_t images = places > 0 ? tz_mul_capped(places, image->planes) : 1;
    uint64_t most = library ? tz_vendor_encode_scratch(library, images) : 0;
    for (unsigned is_mask = 0; is_mask < (image->spec.mask ? 2u : 1u); is_mask++) {
        tz_extract_batch cut = tz_device_cut_of(image, level, is_mask);
        cut.count = b->device.batch_tiles;
        most = tz_max(most, tz_extract_scratch_bytes(&cut));
    }
    return most;
}

static uint64_t plan_tiles(tz_device_budget *plan, const tz_budget *b, const tz_pyramid *pyramid)
{
    const tz_image *image = &pyramid->levels[0].image;
    const uint64_t n = plan->batch_tiles;
    const uint64_t tallies = is_tallied(image) ? n * image->format.samples : 0;
    tz_device_places *at = &plan->at;
    uint64_t scratch = 0, end = 0;
    for (uint32_t level = 0; level < pyramid->count; level++)
        scratch = tz_max(scratch, level_scratch(b, &pyramid->levels[level].image, level));
    at->cuts = add_part(&end, n * sizeof(tz_extract_tile));
    at->entries = add_part(&end, n * sizeof(tz_encode_entry));
    at->discard = add_part(&end, image->options.discard_bits ? image->spec.bands : 0);
    at->tables_end = end;
    at->sizes = add_part(&end, n * sizeof(uint32_t));
    at->places = add_part(&end, (n + 1) * sizeof(uint64_t));
    at->seen = add_part(&end, n * sizeof(tz_extract_result));
    at->tallies = add_part(&end, tallies * sizeof(tz_stats));
    at->results_end = end;
    at->scratch = add_part(&end, scratch);
    at->tiles = add_part(&end, plan->rooms.tiles);
    at->views = add_part(&end, plan->rooms.views);
    at->masks = add_part(&end, align(plan->rooms.masks, ALIGNMENT));
    at->payload = add_part(&end, plan->rooms.payload);
    at->end = end;
    return end;
}

/* ---- the plan ---- */

void tz_device_budget_make(tz_budget *b, const tz_pyramid *pyramid, uint64_t places)
{
    tz_device_budget *plan = &b->device;
    const tz_image *image = &pyramid->levels[0].image;
    const uint64_t tiles = places > 0 ? tz_mul_capped(places, tz_tile_kinds(image)) : 1;
    plan->batch_places = places;
    plan->batch_tiles = tiles < UINT32_MAX ? (uint32_t)tiles : UINT32_MAX;
    plan->rooms = rooms_of(b, pyramid, places);
    plan->sizes[TZ_PIECE_ROWS] = tz_slab_bytes(b, image);
    plan->sizes[TZ_PIECE_LEVELS] = plan_levels(plan, b, pyramid);
    plan->sizes[TZ_PIECE_TILES] = plan_tiles(plan, b, pyramid);
    plan->pictures = tz_pictures_bytes(b);
    plan->planned = plan->pictures;
    for (int i = 0; i < TZ_PIECES; i++)
        plan->planned = tz_add_capped(plan->planned, plan->sizes[i]);
}

uint64_t tz_device_payload_bytes(const tz_device_budget *plan)
{
    const uint64_t images = tz_max(plan->rooms.payload, plan->rooms.streams);
    return tz_add_capped(tz_add_capped(plan->rooms.masks, images), TZ_CODEC_SLACK);
}

uint64_t tz_device_host_bytes(const tz_budget *b, const tz_pyramid *pyramid)
{
    const tz_device_budget *plan = &b->device;
    const uint64_t results = plan->at.results_end - plan->at.sizes;
    const uint64_t numbers = plan->batch_tiles * sizeof(uint32_t);
    const uint64_t batch = tz_add_capped(results + numbers, tz_device_payload_bytes(plan));
    uint64_t sum = tz_add_capped(plan->at.tables_end, tz_mul_capped(batch, 2));
    sum = tz_add_capped(sum, tz_pictures_host_bytes(b));
    for (uint32_t i = 1; i < pyramid->count; i++)
        sum = tz_add_capped(sum,
                            tz_overview_builder_host_bytes(&pyramid->levels[i].reduction,
                                                           pyramid->levels[i].image.tile_height));
    return sum;
}

uint64_t tz_device_cap(const tz_write_options *options)
{
    return options->device_buffer_bytes > 0 ? options->device_buffer_bytes : DEFAULT_BUFFER;
}

tz_result tz_device_budget_admit(const tz_device_budget *plan, tz_error *err)
{
    uint64_t sizes[TZ_PIECES + 1];
    size_t count = 0;
    for (int i = 0; i < TZ_PIECES; i++)
        if (plan->sizes[i] > 0)
            sizes[count++] = plan->sizes[i];
    if (plan->pictures > 0)
        sizes[count++] = plan->pictures;
    return tz_device_admit(plan->device, sizes, count, err);
}

tz_result tz_device_budget_allow(tz_budget *b, const tz_pyramid *pyramid, uint64_t device_room,
                                 const tz_context *ctx)
{
    tz_device_budget *plan = &b->device;
    const uint64_t cap = tz_device_cap(&pyramid->levels[0].image.options);
    uint64_t room;
    TZ_TRY(tz_device_budget_admit(plan, ctx->err));
    if (plan->planned > device_room)
        return tz_fail(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                       tz_expecting(tz_no_location(), device_room, plan->planned),
                       "one row of tiles takes more device memory than could be allocated");
    TZ_TRY(tz_device_free_memory(plan->device, &room, ctx->err));
    room = tz_device_usable(room);
    room = room < device_room ? room : device_room;
    room = cap < room ? cap : room;
    plan->allowed = plan->planned > room ? plan->planned : room;
    return TZ_OK;
}

bool tz_device_budget_fits(tz_budget *b, const tz_pyramid *pyramid)
{
    const tz_device_budget *plan = &b->device;
    const uint64_t most = tz_device_get_info(plan->device)->limits.max_allocation;
    tz_device_budget_make(b, pyramid, plan->batch_places);
    for (int i = 0; i < TZ_PIECES; i++)
        if (most > 0 && plan->sizes[i] > most)
            return false;
    return plan->planned <= plan->allowed;
}

/* ---- more than the least ---- */

static bool try_places(tz_budget *b, const tz_pyramid *pyramid, uint64_t places)
{
    b->device.batch_places = places;
    return tz_device_budget_fits(b, pyramid) && tz_budget_total(b, pyramid) <= b->allowed;
}

/* Rows of tiles, all in one batch. */
static bool try_rows(tz_budget *b, const tz_pyramid *pyramid, uint64_t rows)
{
    tz_budget_set_rows(b, &pyramid->levels[0].image, rows);
    return try_places(b, pyramid, tz_mul_capped(rows, b->columns));
}

/* The largest number up to most with which it fits; with 0 it does. */
static uint64_t largest(tz_budget *b, const tz_pyramid *pyramid, uint64_t most,
                        bool (*try_it)(tz_budget *, const tz_pyramid *, uint64_t))
{
    uint64_t low = 0, high = most;
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        if (try_it(b, pyramid, middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void tz_device_budget_grow(tz_budget *b, const tz_pyramid *pyramid)
{
    const tz_image *image = &pyramid->levels[0].image;
    const bool whole = b->columns == image->tiles_across;
    const uint64_t rows = largest(b, pyramid, whole ? image->tiles_down : 1, try_rows);
    tz_budget_set_rows(b, image, rows > 0 ? rows : 1);
    const uint64_t places =
        rows > 0 ? rows * b->columns : largest(b, pyramid, b->columns, try_places);
    tz_device_budget_make(b, pyramid, places);
}
