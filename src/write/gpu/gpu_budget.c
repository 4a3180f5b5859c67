/* SPDX-License-Identifier: Apache-2.0
 * The plan of device memory.
 *
 * For a given number of rows in a slab and tiles in a batch, tz_gpu_budget_make lays out the three
 * allocations of a write (gpu_budget.h) and adds them up. tz_budget_make begins with one row of
 * tiles and a batch of one tile, which must fit. tz_gpu_budget_grow then finds by bisection the
 * highest slabs whose tiles fit a single batch; if not even one row of tiles fits a batch, it finds
 * the largest batch. Each trial is a complete layout, so no size is ever estimated.
 *
 * The decision that is not obvious: the parts of a batch are as large as level 0 or level 1 needs,
 * because all overviews have the encoding of level 1. */
#include "base/mem.h"
#include "device/ops/encode.h"
#include "write/cog_layout.h"
#include "write/writer.h"

#define DEFAULT_DEVICE_BUFFER ((uint64_t)128 << 20)

enum { ALIGNMENT = 64, TILE_ALIGNMENT = 16 };
_Static_assert(TILE_ALIGNMENT % TZ_ENCODE_VIEW_ALIGN == 0, "views of libraries lie side by side");

/* ---- layout ---- */

static uint64_t align_up(uint64_t size, uint64_t to)
{
    const uint64_t sum = tz_add_capped(size, to - 1);
    return sum - sum % to;
}

/* Returns the offset of a new region; *end moves after it. */
static uint64_t append_region(uint64_t *end, uint64_t size)
{
    const uint64_t at = align_up(*end, ALIGNMENT);
    *end = tz_add_capped(at, size);
    return at;
}

tz_extract_batch tz_gpu_extract_batch(const tz_image *image, uint32_t level, bool is_mask)
{
    const tz_write_options *options = &image->options;
    tz_extract_batch batch = {.row = tz_tile_row_format(image, is_mask),
                              .height = image->tile_height,
                              .crop_height = options->strips,
                              .is_mask = is_mask,
                              .wants_empty = options->sparse};
    if (is_mask)
        return batch;
    batch.nan_to_nodata = image->nan_to_nodata;
    batch.wants_stats = level == 0 && tz_image_wants_statistics(image);
    batch.discard_bits = options->discard_bits;
    batch.discard_count = options->discard_bits ? image->spec.bands : 0;
    batch.nodata = image->spec.nodata;
    return batch;
}

/* The parts depend on the route of a tile: downloaded as samples, encoded as a codestream by a
 * library, or encoded into a view and compacted into the payload. Masks are always samples. */
tz_gpu_part_bytes tz_gpu_tile_bytes(const tz_budget *b, const tz_image *image, uint32_t level)
{
    const tz_tile_encoding *encoding = &b->encoding[tz_encoding_index(b, level, false)];
    const uint64_t samples = tz_tile_bytes(&encoding->format);
    const uint64_t encoded =
        tz_add_capped(TZ_LEADER + TZ_TRAILER, tz_max(samples, encoding->bytes.bound));
    tz_gpu_part_bytes one = {0};
    if (image->spec.mask)
        one.masks = align_up(TZ_GPU_RAW_LEADER + TZ_TRAILER +
                                 tz_tile_bytes(&b->encoding[TZ_ENCODING_MASK].format),
                             TILE_ALIGNMENT);
    if (tz_gpu_downloads_raw(image)) {
        one.payload =
            align_up(tz_add_capped(TZ_GPU_RAW_LEADER + TZ_TRAILER, samples), TILE_ALIGNMENT);
        return one;
    }
    one.tiles = align_up(samples, TILE_ALIGNMENT);
    *(encoding->codestreams ? &one.codestreams : &one.payload) = align_up(encoded, TILE_ALIGNMENT);
    if (!encoding->codestreams && !(encoding->encoder->flags & TZ_ENCODER_COPY))
        one.views = align_up(encoding->library ? encoding->library->view : encoding->bytes.bound,
                             TILE_ALIGNMENT);
    return one;
}

/* A batch holds capacity tile positions: one tile for each plane, and one of the mask. */
static tz_gpu_part_bytes batch_part_bytes(const tz_budget *b, const tz_output_pyramid *pyramid,
                                          uint64_t capacity)
{
    tz_gpu_part_bytes most = {0};
    for (uint32_t level = 0; level < pyramid->count && level < 2; level++) {
        const tz_image *image = &pyramid->levels[level].image;
        const tz_gpu_part_bytes one = tz_gpu_tile_bytes(b, image, level);
        const uint64_t images = capacity > 0 ? tz_mul_capped(capacity, image->planes) : 1;
        most.tiles = tz_max(most.tiles, tz_mul_capped(one.tiles, images));
        most.views = tz_max(most.views, tz_mul_capped(one.views, images));
        most.masks = tz_max(most.masks, tz_mul_capped(one.masks, tz_max(capacity, 1)));
        most.payload = tz_max(most.payload, tz_mul_capped(one.payload, images));
        most.codestreams = tz_max(most.codestreams, tz_mul_capped(one.codestreams, images));
    }
    return most;
}

/* Regions that are uploaded or downloaded together are adjacent, so that each takes one call:
 * tables, results, and the masks before the payload. */
static uint64_t plan_tiles(tz_gpu_budget *plan, const tz_budget *b,
                           const tz_output_pyramid *pyramid)
{
    const tz_image *image = &pyramid->levels[0].image;
    const uint64_t n = plan->batch_tiles;
    const uint64_t stats = tz_image_wants_statistics(image) ? n * image->format.samples : 0;
    tz_gpu_tile_layout *at = &plan->layout;
    uint64_t scratch = 0, end = 0;
    /* Scratch of extraction, or of encoding, which follows it. */
    for (uint32_t level = 0; level < pyramid->count; level++) {
        const tz_image *l = &pyramid->levels[level].image;
        const tz_vendor_encode_plan *library =
            b->encoding[tz_encoding_index(b, level, false)].library;
        const uint64_t capacity = plan->batch_capacity;
        const uint64_t images = capacity > 0 ? tz_mul_capped(capacity, l->planes) : 1;
        if (library)
            scratch = tz_max(scratch, tz_vendor_encode_scratch(library, images));
        for (unsigned is_mask = 0; is_mask < (l->spec.mask ? 2u : 1u); is_mask++) {
            tz_extract_batch extract = tz_gpu_extract_batch(l, level, is_mask);
            extract.count = plan->batch_tiles;
            scratch = tz_max(scratch, tz_extract_scratch_bytes(&extract));
        }
    }
    at->extracts = append_region(&end, n * sizeof(tz_extract_tile));
    at->entries = append_region(&end, n * sizeof(tz_encode_entry));
    at->discard = append_region(&end, image->options.discard_bits ? image->spec.bands : 0);
    at->tables_end = end;
    at->sizes = append_region(&end, n * sizeof(uint32_t));
    at->offsets = append_region(&end, (n + 1) * sizeof(uint64_t));
    at->results = append_region(&end, n * sizeof(tz_extract_result));
    at->stats = append_region(&end, stats * sizeof(tz_stats));
    at->results_end = end;
    at->scratch = append_region(&end, scratch);
    at->tiles = append_region(&end, plan->part_bytes.tiles);
    at->views = append_region(&end, plan->part_bytes.views);
    at->masks = append_region(&end, align_up(plan->part_bytes.masks, ALIGNMENT));
    at->payload = append_region(&end, plan->part_bytes.payload);
    at->end = end;
    return end;
}

/* ---- the plan ---- */

void tz_gpu_budget_make(tz_budget *b, const tz_output_pyramid *pyramid, uint64_t capacity)
{
    tz_gpu_budget *plan = &b->device;
    const tz_image *image = &pyramid->levels[0].image;
    const uint64_t tiles = capacity > 0 ? tz_mul_capped(capacity, tz_tile_kinds(image)) : 1;
    plan->batch_capacity = capacity;
    plan->batch_tiles = (uint32_t)tz_min(tiles, UINT32_MAX);
    plan->part_bytes = batch_part_bytes(b, pyramid, capacity);
    plan->sizes[TZ_ALLOCATION_ROWS] = tz_slab_bytes(b, image);
    /* One slab, two halos and the tables of the builder for each overview. */
    uint64_t end = 0;
    for (uint32_t i = 1; i < pyramid->count; i++) {
        const tz_output_level *level = &pyramid->levels[i];
        const uint64_t halo =
            tz_rows_bytes(b, &pyramid->levels[i - 1].image, tz_halo_row_count(&level->overview));
        plan->levels[i] = (tz_gpu_level_offsets){
            .slab = append_region(&end, tz_rows_bytes(b, &level->image, level->image.tile_height))};
        plan->levels[i].halo[0] = append_region(&end, halo);
        plan->levels[i].halo[1] = append_region(&end, halo);
        plan->levels[i].reducer = append_region(
            &end, tz_overview_builder_bytes(&level->overview, level->image.tile_height));
    }
    plan->sizes[TZ_ALLOCATION_LEVELS] = end;
    plan->sizes[TZ_ALLOCATION_TILES] = plan_tiles(plan, b, pyramid);
    plan->codestreams = tz_gpu_codestreams_device_bytes(b);
    plan->planned = plan->codestreams;
    for (int i = 0; i < TZ_ALLOCATIONS; i++)
        plan->planned = tz_add_capped(plan->planned, plan->sizes[i]);
}

uint64_t tz_gpu_budget_payload_bytes(const tz_gpu_budget *plan)
{
    const uint64_t images = tz_max(plan->part_bytes.payload, plan->part_bytes.codestreams);
    return tz_add_capped(tz_add_capped(plan->part_bytes.masks, images), TZ_CODEC_SLACK);
}

/* Pinned memory: tables, and results and payload of two batches. */
uint64_t tz_gpu_budget_host_bytes(const tz_budget *b, const tz_output_pyramid *pyramid)
{
    const tz_gpu_budget *plan = &b->device;
    const uint64_t results = plan->layout.results_end - plan->layout.sizes;
    const uint64_t numbers = plan->batch_tiles * sizeof(uint32_t);
    const uint64_t batch = tz_add_capped(results + numbers, tz_gpu_budget_payload_bytes(plan));
    uint64_t sum = tz_add_capped(plan->layout.tables_end, tz_mul_capped(batch, 2));
    sum = tz_add_capped(sum, tz_gpu_codestreams_host_bytes(b));
    for (uint32_t i = 1; i < pyramid->count; i++)
        sum = tz_add_capped(sum,
                            tz_overview_builder_host_bytes(&pyramid->levels[i].overview,
                                                           pyramid->levels[i].image.tile_height));
    return sum;
}

uint64_t tz_gpu_budget_limit(const tz_write_options *options)
{
    return options->max_device_bytes > 0 ? options->max_device_bytes : DEFAULT_DEVICE_BUFFER;
}

tz_result tz_gpu_budget_admit(const tz_gpu_budget *plan, tz_error *err)
{
    uint64_t sizes[TZ_ALLOCATIONS + 1];
    size_t count = 0;
    for (int i = 0; i < TZ_ALLOCATIONS; i++)
        if (plan->sizes[i] > 0)
            sizes[count++] = plan->sizes[i];
    if (plan->codestreams > 0)
        sizes[count++] = plan->codestreams;
    return tz_device_admit(plan->device, sizes, count, err);
}

/* device_available is less than the free memory after an allocation has failed. */
tz_result tz_gpu_budget_allow(tz_budget *b, const tz_output_pyramid *pyramid,
                              uint64_t device_available, const tz_context *ctx)
{
    tz_gpu_budget *plan = &b->device;
    const uint64_t cap = tz_gpu_budget_limit(&pyramid->levels[0].image.options);
    uint64_t available;
    TZ_TRY(tz_gpu_budget_admit(plan, ctx->err));
    if (plan->planned > device_available)
        return tz_fail(ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                       tz_expecting(tz_no_location(), device_available, plan->planned),
                       "one row of tiles takes more device memory than could be allocated");
    TZ_TRY(tz_device_free_memory(plan->device, &available, ctx->err));
    available = tz_device_usable(available);
    available = tz_min(cap, tz_min(available, device_available));
    plan->allowed = tz_max(plan->planned, available);
    return TZ_OK;
}

/* A device may limit the size of one allocation as well as the sum. */
bool tz_gpu_budget_fits(tz_budget *b, const tz_output_pyramid *pyramid)
{
    const tz_gpu_budget *plan = &b->device;
    const uint64_t most = tz_device_get_info(plan->device)->max_allocation_bytes;
    tz_gpu_budget_make(b, pyramid, plan->batch_capacity);
    for (int i = 0; i < TZ_ALLOCATIONS; i++)
        if (most > 0 && plan->sizes[i] > most)
            return false;
    return plan->planned <= plan->allowed;
}

/* ---- growing ---- */

static bool try_capacity(tz_budget *b, const tz_output_pyramid *pyramid, uint64_t capacity)
{
    b->device.batch_capacity = capacity;
    return tz_gpu_budget_fits(b, pyramid) && tz_budget_total(b, pyramid) <= b->allowed;
}

/* Slabs of rows rows of tiles, and batches that hold all tiles of a slab. */
static bool try_rows(tz_budget *b, const tz_output_pyramid *pyramid, uint64_t rows)
{
    tz_budget_set_rows(b, &pyramid->levels[0].image, rows);
    return try_capacity(b, pyramid, tz_mul_capped(rows, b->columns));
}

/* Returns the largest number up to most for which try_it succeeds; it does for 0. */
static uint64_t largest_fitting(tz_budget *b, const tz_output_pyramid *pyramid, uint64_t most,
                                bool (*try_it)(tz_budget *, const tz_output_pyramid *, uint64_t))
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

void tz_gpu_budget_grow(tz_budget *b, const tz_output_pyramid *pyramid)
{
    const tz_image *image = &pyramid->levels[0].image;
    const bool whole = b->columns == image->tiles_across;
    const uint64_t rows = largest_fitting(b, pyramid, whole ? image->tiles_down : 1, try_rows);
    tz_budget_set_rows(b, image, rows > 0 ? rows : 1);
    const uint64_t capacity =
        rows > 0 ? rows * b->columns : largest_fitting(b, pyramid, b->columns, try_capacity);
    tz_gpu_budget_make(b, pyramid, capacity);
}
