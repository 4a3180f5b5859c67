/* SPDX-License-Identifier: Apache-2.0
 * The memory guard of a write. Everything that a write allocates is counted here in advance.
 *
 * count_fixed_bytes adds up what is needed whatever the number of threads: tables, directories,
 * metadata. The least is that, one thread, one slot and a slab of one row of tiles; it is allowed
 * even beyond options.max_host_bytes. What remains is spent in this order, each step only as far as
 * the total fits: threads, a second slab of the image and of the overviews, slots, height of the
 * slabs. With a device, batches and slabs grow together (gpu_budget.c).
 *
 * The decision that is not obvious: the order of steps is fixed and every step is all or nothing,
 * so that the same options give the same plan; tz_plan_write reports it without opening a file. The
 * sizes of some structs are part of the result: see the assertions below. */
#include "write/budget.h"

#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "pixel/store.h"
#include "write/pipeline.h"
#include "write/writer.h"

#define DEFAULT_HOST_BUFFER ((uint64_t)256 << 20)

/* Slots for each thread, so that a slow tile does not stop the others; and more if tiles are small,
 * so that one call of the sink writes many. */
enum { SLOTS_PER_THREAD = 4, MAX_SLOTS = 64 };
#define SLOT_BYTES ((uint64_t)2 << 20)

/* A tile row has at least TILES_PER_THREAD tiles for each thread, so that few threads wait at its
 * end, and at least MIN_TILE_ROW_BYTES, so that a source is not asked for small windows. */
enum { TILES_PER_THREAD = 4, MAX_THREADS = 1024 };
#define MIN_TILE_ROW_BYTES ((uint64_t)4 << 20)

/* The writer itself, buffers for directories, and other small allocations. */
#define SMALL_THINGS ((uint64_t)256 << 10)
/* Buffer of a sink that inserts bytes at the front of a COG. */
#define INSERT_BUFFER ((uint64_t)256 << 10)

/* The metadata is copied, made into tags, and read back when the file is verified. */
enum { METADATA_COPIES = 4 };

/* These sizes are counted below, so they decide about threads and slabs and are in the report. A
 * change of them changes peak_host_bytes, and with little memory the plan: decide, then set the new
 * size. */
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(tz_tile_slot) == 72 && sizeof(tz_encode_worker) == 72 &&
                    sizeof(tz_writer_level) == 184 && sizeof(tz_tile_tables) == 24 &&
                    sizeof(tz_stats) == 48),
               "budget.c: sizes of structs that are counted");

/* ---- counting ---- */

/* Sets an encoding and adds its buffers to those of a worker. A tile that is only copied is made in
 * its slot, and a row whose bits are not packed in its tile: neither needs a buffer. All slots are
 * as large as the largest tile. */
static void add_tile_encoding(tz_budget *b, unsigned which, const tz_output_level *level)
{
    const tz_image *image = &level->image;
    const bool mask = which == TZ_ENCODING_MASK;
    const tz_row_format row = tz_tile_row_format(image, mask);
    const bool packed = row.bits != 8 * tz_dtype_size(row.dtype);
    const tz_encoder *encoder = mask ? image->mask_encoder : image->encoder;
    tz_tile_encoding *encoding = &b->encoding[which];
    *encoding = (tz_tile_encoding){.encoder = encoder,
                                   .choice = mask ? &image->mask_choice : &image->choice,
                                   .format = mask ? image->mask_format : image->format};
    if (!mask && level->library.encoder.name[0] != '\0')
        encoding->library = &level->library;
    if (!mask && level->codestreams.name[0] != '\0')
        encoding->codestreams = &level->codestreams;
    encoding->bytes.tile = encoder->flags & TZ_ENCODER_COPY ? 0 : tz_tile_bytes(&encoding->format);
    encoding->bytes.row = packed ? tz_row_prepared_bytes(&row) : 0;
    encoding->bytes.scratch = tz_store_scratch_bytes(&row);
    encoding->bytes.bound = encoder->bound(&encoding->format, encoding->choice);
    b->slot = tz_max_size(b->slot, encoding->bytes.bound);
    b->worker = tz_add_capped(b->worker, encoder->state_size);
    if (encoder->memory)
        b->worker = tz_add_capped(b->worker, encoder->memory(&encoding->format, encoding->choice));
    b->worker = tz_add_capped(b->worker, encoding->bytes.tile);
    b->worker = tz_add_capped(b->worker, encoding->bytes.row);
    b->worker = tz_add_capped(b->worker, encoding->bytes.scratch);
}

/* Everything that does not depend on threads, slots and slabs; also the bytes of one worker,
 * slot and pixel, by which these are multiplied later. */
static void count_fixed_bytes(tz_budget *b, const tz_output_pyramid *pyramid)
{
    const tz_image *image = &pyramid->levels[0].image;
    const tz_image_spec *spec = &image->spec;
    const tz_write_options *options = &image->options;
    /* Offset and size of a tile; in a COG also its offset in the spool. */
    const size_t table_entry =
        sizeof(uint64_t) + sizeof(uint32_t) + (options->cog ? sizeof(uint64_t) : 0);
    const tz_codec_options as_image = {.compression = TZ_COMPRESSION_DEFAULT};
    const bool overviews_differ = memcmp(&options->overview_codec, &as_image, sizeof as_image) != 0;
    add_tile_encoding(b, TZ_ENCODING_IMAGE, &pyramid->levels[0]);
    if (spec->mask)
        add_tile_encoding(b, TZ_ENCODING_MASK, &pyramid->levels[0]);
    if (pyramid->count > 1 && overviews_differ)
        add_tile_encoding(b, TZ_ENCODING_OVERVIEW, &pyramid->levels[1]);
    b->pixel = spec->bands * tz_dtype_size(spec->dtype) + (spec->mask ? 1 : 0);
    b->slot += tz_tile_slot_bytes(image);
    b->fixed = tz_mul_capped(spec->bands, sizeof(tz_stats));
    for (uint32_t i = 0; i < pyramid->count; i++) {
        const tz_output_level *level = &pyramid->levels[i];
        if (i > 0)
            b->overview_scratch =
                tz_max_size(b->overview_scratch,
                            tz_overview_scratch_bytes(&level->overview, image->tile_width));
        b->fixed = tz_add_capped(b->fixed, tz_mul_capped(tz_all_tiles(&level->image), table_entry));
        b->fixed = tz_add_capped(b->fixed,
                                 tz_mul_capped(tz_verified_count(&level->image), sizeof(uint64_t)));
        b->fixed = tz_add_capped(b->fixed, tz_mul_capped(level->image.arena.held, METADATA_COPIES));
        b->fixed = tz_add_capped(b->fixed, sizeof(tz_writer_level) + sizeof(tz_tile_tables));
    }
    b->worker = tz_add_capped(b->worker, tz_encode_worker_bytes(image) + b->overview_scratch);
    b->fixed = tz_add_capped(b->fixed, SMALL_THINGS + (options->cog ? INSERT_BUFFER : 0));
}

uint64_t tz_slab_bytes(const tz_budget *b, const tz_image *image)
{
    const uint64_t across = tz_mul_capped(b->columns, image->tile_width);
    return tz_mul_capped(tz_mul_capped(tz_min(across, image->spec.width), b->slab_rows), b->pixel);
}

uint64_t tz_rows_bytes(const tz_budget *b, const tz_image *image, uint32_t rows)
{
    return tz_mul_capped((uint64_t)image->spec.width * tz_min_u32(rows, image->spec.height),
                         b->pixel);
}

/* The position of a new row between old ones varies by less than one row at either end, so a row in
 * the middle plus two is the maximum. */
uint32_t tz_halo_row_count(const tz_overview_params *next)
{
    const uint32_t middle = next->to_height / 2;
    const tz_interval rows = tz_overview_source_rows(next, (tz_interval){middle, middle + 1});
    return rows.end - rows.first + 2;
}

/* Called for every trial of a larger value. A device holds the slabs and halos of overviews
 * itself. */
uint64_t tz_budget_total(const tz_budget *b, const tz_output_pyramid *pyramid)
{
    uint64_t sum = tz_add_capped(b->fixed, tz_mul_capped(b->worker, b->threads));
    sum = tz_add_capped(sum, tz_mul_capped(b->slot, b->slots));
    sum = tz_add_capped(sum, tz_pipeline_bytes(b->threads, b->slots));
    if (b->device.device)
        sum = tz_add_capped(sum, tz_gpu_budget_host_bytes(b, pyramid));
    for (uint32_t i = 1; !b->device.device && i < pyramid->count; i++) {
        const tz_output_level *level = &pyramid->levels[i];
        const uint64_t slab = tz_rows_bytes(b, &level->image, level->image.tile_height);
        const uint64_t halo =
            tz_rows_bytes(b, &pyramid->levels[i - 1].image, tz_halo_row_count(&level->overview));
        sum = tz_add_capped(sum, tz_mul_capped(slab, b->level_slabs));
        sum = tz_add_capped(sum, tz_mul_capped(halo, 2));
    }
    return tz_add_capped(sum, tz_mul_capped(tz_slab_bytes(b, &pyramid->levels[0].image), b->slabs));
}

static bool fits_budget(tz_budget *b, const tz_output_pyramid *pyramid)
{
    return tz_budget_total(b, pyramid) <= b->allowed &&
           (!b->device.device || tz_gpu_budget_fits(b, pyramid));
}

/* ---- dividing ---- */

void tz_budget_set_rows(tz_budget *b, const tz_image *image, uint64_t tile_rows)
{
    b->slab_rows = (uint32_t)tz_min(tile_rows * image->tile_height, image->spec.height);
}

/* Sets *member to value if the total still fits. */
static bool try_u32(tz_budget *b, const tz_output_pyramid *pyramid, uint32_t *member,
                    uint32_t value)
{
    const uint32_t before = *member;
    *member = value;
    if (fits_budget(b, pyramid))
        return true;
    *member = before;
    return false;
}

/* The widest slab that fits, by bisection: the total grows with the number of columns. */
static void fit_columns(tz_budget *b, const tz_output_pyramid *pyramid)
{
    uint32_t low = 1, high = pyramid->levels[0].image.tiles_across; /* one always fits */
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;
        if (try_u32(b, pyramid, &b->columns, middle))
            low = middle;
        else
            high = middle - 1;
    }
    b->columns = low;
}

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    while (y != 0) {
        const uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return tz_mul_capped(a / x, b);
}

/* Spends the remainder on higher slabs: enough tiles for all threads and enough bytes for a source,
 * rounded up to the end of both a row of tiles and a chunk of the source, unless that is far. */
static void add_rows(tz_budget *b, const tz_output_pyramid *pyramid)
{
    enum { FAR = 8 };
    const tz_image *image = &pyramid->levels[0].image;
    const uint32_t least = b->slab_rows;
    const uint64_t tiles = (uint64_t)image->tiles_across * image->planes;
    const uint64_t row_bytes = tz_mul_capped(image->spec.width, b->pixel);
    uint64_t rows =
        tz_ceil_div((uint64_t)TILES_PER_THREAD * b->threads, tiles) * image->tile_height;
    rows = tz_max(rows, tz_ceil_div(MIN_TILE_ROW_BYTES, row_bytes));
    rows = tz_max(rows, b->chunk_rows);
    const uint64_t both = b->chunk_rows ? common_multiple(image->tile_height, b->chunk_rows) : 1;
    const uint64_t up = tz_mul_capped(tz_ceil_div(rows, both), both);
    rows = tz_min(up / FAR <= rows ? up : rows, image->spec.height);
    for (; rows > least;
         rows -= rows < image->tile_height + least ? rows - least : image->tile_height) {
        tz_budget_set_rows(b, image, tz_ceil_div(rows, image->tile_height));
        if (fits_budget(b, pyramid))
            return;
    }
    b->slab_rows = least;
}

/* Spends the remainder on second slabs and more slots. */
static void add_slots(tz_budget *b, const tz_output_pyramid *pyramid)
{
    const uint32_t by_bytes = (uint32_t)tz_min(SLOT_BYTES / b->slot, MAX_SLOTS);
    const uint32_t wanted = tz_max_u32(b->threads * SLOTS_PER_THREAD, by_bytes);
    if (b->threads > 1 && try_u32(b, pyramid, &b->slabs, 2) && pyramid->count > 1 &&
        !b->device.device)
        (void)try_u32(b, pyramid, &b->level_slabs, 2);
    for (uint32_t slots = wanted; slots > b->threads; slots -= slots / 4 + 1)
        if (try_u32(b, pyramid, &b->slots, slots))
            break;
}

/* As many threads as wanted, but not more than tiles; each needs a worker and at least one
 * slot. */
static void fit_threads(tz_budget *b, const tz_output_pyramid *pyramid)
{
    const tz_image *image = &pyramid->levels[0].image;
    const unsigned given = image->options.threads ? image->options.threads : tz_available_cpus();
    const uint64_t most = tz_min(image->tile_count, MAX_THREADS);
    for (unsigned threads = (unsigned)tz_min(given, most); threads > 1; threads--) {
        b->threads = threads;
        b->slots = threads;
        if (fits_budget(b, pyramid))
            return;
    }
    b->threads = b->slots = 1;
}

/* The order of steps is described above; each keeps the total within b.allowed. */
tz_result tz_budget_make(tz_budget *out, const tz_output_pyramid *pyramid,
                         const tz_row_source *source, tz_device *device, uint64_t device_available,
                         const tz_context *ctx)
{
    const tz_image *image = &pyramid->levels[0].image;
    tz_budget b = {.threads = 1,
                   .slots = 1,
                   .slabs = 1,
                   .level_slabs = 1,
                   .columns = image->tiles_across,
                   .device = {.device = device},
                   .chunk_rows = source ? source->chunk_rows : 0};
    const uint64_t given = image->options.max_host_bytes;
    const uint64_t cap = given > 0 ? given : DEFAULT_HOST_BUFFER;
    /* Some columns at a time only if the order of tiles allows it: bands one after the other in a
     * row of tiles need the whole row, and so do overviews. */
    const bool split = source && source->columns && pyramid->count == 1 && !tz_is_by_band(image);
    count_fixed_bytes(&b, pyramid);
    tz_budget_set_rows(&b, image, 1);
    b.columns = split ? 1 : image->tiles_across;
    if (device) {
        tz_gpu_budget_make(&b, pyramid, 0);
        TZ_TRY(tz_gpu_budget_allow(&b, pyramid, device_available, ctx));
    }
    const uint64_t least = tz_budget_total(&b, pyramid);
    if (least > SIZE_MAX / 2)
        return tz_fail_nomem(ctx, least);
    b.allowed = tz_max(cap, least);
    if (split)
        fit_columns(&b, pyramid);
    fit_threads(&b, pyramid);
    const bool whole = b.columns == image->tiles_across;
    if (whole)
        add_slots(&b, pyramid);
    if (device)
        tz_gpu_budget_grow(&b, pyramid);
    else if (whole)
        add_rows(&b, pyramid);
    b.planned = tz_budget_total(&b, pyramid);
    *out = b;
    return TZ_OK;
}

/* ---- tile rows ---- */

/* Looks for the last end of a chunk that is also the end of a row of tiles. */
uint32_t tz_tile_row_end(const tz_budget *budget, const tz_image *image, uint32_t row)
{
    const uint32_t height = image->spec.height;
    if (height - row <= budget->slab_rows)
        return height;
    const uint32_t end = row + budget->slab_rows;
    if (budget->chunk_rows == 0)
        return end;
    for (uint32_t shorter = end; shorter > row; shorter -= image->tile_height)
        if (shorter % budget->chunk_rows == 0)
            return shorter;
    return end;
}
