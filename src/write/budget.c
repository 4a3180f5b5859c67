/* SPDX-License-Identifier: Apache-2.0 */
#include "write/budget.h"

#include "base/mem.h"
#include "base/pool.h"
#include "pixel/store.h"
#include "write/pipeline.h"
#include "write/writer.h"

#define DEFAULT_HOST_BUFFER ((uint64_t)256 << 20)

/* Encoded tiles that wait: for each thread so many that a slow tile does not stop the others, and
 * of small ones as many as make a write worth its call. */
enum { SLOTS_PER_THREAD = 4, MAX_SLOTS = 64 };
#define SLOT_BYTES ((uint64_t)2 << 20)

/* A swath has at least so many tiles for each thread, so that few wait at its end, and at least so
 * many bytes, so that a source is not asked for little pieces. */
enum { TILES_PER_THREAD = 4, MAX_THREADS = 1024 };
#define MIN_TILE_ROW_BYTES ((uint64_t)4 << 20)

/* Beside the tables: the writer itself, buffers for directories, and small things. */
#define SMALL_THINGS ((uint64_t)256 << 10)
/* And what a sink takes to make room in a COG. */
#define INSERT_BUFFER ((uint64_t)256 << 10)

/* The metadata is copied, made into tags, and read again when it is verified. */
enum { METADATA_COPIES = 4 };

/* ---- parts ---- */

static tz_tile_encoding make_tile_encoding(const tz_encoder *encoder,
                                           const tz_encode_options *choice,
                                           const tz_tile_format *format, const tz_row_format *row)
{
    const bool packed = row->bits != 8 * tz_dtype_size(row->dtype);
    tz_tile_encoding encoding = {.encoder = encoder, .choice = choice, .format = *format};
    encoding.bytes.tile = encoder->flags & TZ_ENCODER_COPY ? 0 : tz_tile_bytes(format);
    encoding.bytes.row = packed ? tz_row_prepared_bytes(row) : 0;
    encoding.bytes.scratch = tz_store_scratch_bytes(row);
    encoding.bytes.bound = encoder->bound(format, choice);
    return encoding;
}

static uint64_t worker_bytes(const tz_tile_encoding *encoding)
{
    const tz_encoder *encoder = encoding->encoder;
    uint64_t sum = encoder->state_size;
    sum = tz_add_capped(sum,
                        encoder->memory ? encoder->memory(&encoding->format, encoding->choice) : 0);
    sum = tz_add_capped(sum, encoding->bytes.tile);
    sum = tz_add_capped(sum, encoding->bytes.row);
    return tz_add_capped(sum, encoding->bytes.scratch);
}

static void add_tile_encoding(tz_budget *b, unsigned which, const tz_image *image)
{
    const bool mask = which == TZ_ENCODING_MASK;
    const tz_row_format row = tz_tile_row_format(image, mask);
    tz_tile_encoding *encoding = &b->encoding[which];
    *encoding = mask ? make_tile_encoding(image->mask_encoder, &image->mask_choice,
                                          &image->mask_format, &row)
                     : make_tile_encoding(image->encoder, &image->choice, &image->format, &row);
    b->slot = tz_max_size(b->slot, encoding->bytes.bound);
    b->worker = tz_add_capped(b->worker, worker_bytes(encoding));
}

static void set_library(tz_budget *b, unsigned which, const tz_output_level *level)
{
    if (level->library.encoder.name[0] != '\0')
        b->encoding[which].library = &level->library;
    if (level->codestreams.name[0] != '\0')
        b->encoding[which].codestreams = &level->codestreams;
}

/* Overviews are encoded by what encodes the image, unless something of it was chosen for them. */
static bool has_own_codec(const tz_write_options *options)
{
    return options->overview_compression != TZ_COMPRESSION_DEFAULT ||
           options->overview_predictor != 0 || options->overview_quality != 0 ||
           options->overview_lossless != TZ_AUTO || options->overview_max_error != 0;
}

static uint64_t table_bytes(const tz_image *image)
{
    const size_t each =
        sizeof(uint64_t) + sizeof(uint32_t) +
        (image->options.cog ? sizeof(uint64_t) : 0); /* offsets, and places before */
    return tz_add_capped(tz_mul_capped(tz_all_tiles(image), each),
                         tz_mul_capped(tz_verified_count(image), sizeof(uint64_t)));
}

static void count_fixed_bytes(tz_budget *b, const tz_output_pyramid *pyramid)
{
    const tz_image *image = &pyramid->levels[0].image;
    const tz_image_spec *spec = &image->spec;
    add_tile_encoding(b, TZ_ENCODING_IMAGE, image);
    set_library(b, TZ_ENCODING_IMAGE, &pyramid->levels[0]);
    if (spec->mask)
        add_tile_encoding(b, TZ_ENCODING_MASK, image);
    if (pyramid->count > 1 && has_own_codec(&image->options)) {
        add_tile_encoding(b, TZ_ENCODING_OVERVIEW, &pyramid->levels[1].image);
        set_library(b, TZ_ENCODING_OVERVIEW, &pyramid->levels[1]);
    }
    b->pixel = spec->bands * tz_dtype_size(spec->dtype) + (spec->mask ? 1 : 0);
    b->slot += tz_tile_slot_bytes(image);
    b->fixed = tz_mul_capped(spec->bands, sizeof(tz_stats));
    for (uint32_t i = 0; i < pyramid->count; i++) {
        const tz_output_level *level = &pyramid->levels[i];
        if (i > 0)
            b->overview_scratch =
                tz_max_size(b->overview_scratch,
                            tz_overview_scratch_bytes(&level->overview, image->tile_width));
        b->fixed = tz_add_capped(b->fixed, table_bytes(&level->image));
        b->fixed = tz_add_capped(b->fixed, tz_mul_capped(level->image.arena.held, METADATA_COPIES));
        b->fixed = tz_add_capped(b->fixed, sizeof(tz_writer_level));
    }
    b->worker = tz_add_capped(b->worker, tz_encode_worker_bytes(image) + b->overview_scratch);
    b->fixed = tz_add_capped(b->fixed, SMALL_THINGS + (image->options.cog ? INSERT_BUFFER : 0));
}

uint64_t tz_slab_bytes(const tz_budget *b, const tz_image *image)
{
    const uint64_t across = tz_mul_capped(b->columns, image->tile_width);
    const uint64_t width = across < image->spec.width ? across : image->spec.width;
    return tz_mul_capped(tz_mul_capped(width, b->slab_rows), b->pixel);
}

static uint64_t rows_bytes(const tz_budget *b, const tz_image *image, uint32_t rows)
{
    const uint32_t height = image->spec.height;
    return tz_mul_capped((uint64_t)image->spec.width * (rows < height ? rows : height), b->pixel);
}

uint64_t tz_overview_slab_bytes(const tz_budget *b, const tz_image *image)
{
    return rows_bytes(b, image, image->tile_height);
}

/* Where a new row begins and ends between old ones differs from row to row, by less than one row at
 * either end: so a row in the middle tells how many it takes. */
uint32_t tz_halo_row_count(const tz_overview_params *next)
{
    const uint32_t middle = next->to_height / 2;
    const tz_interval rows = tz_overview_source_rows(next, (tz_interval){middle, middle + 1});
    return rows.end - rows.first + 2;
}

uint64_t tz_halo_bytes(const tz_budget *b, const tz_image *image, const tz_overview_params *next)
{
    return rows_bytes(b, image, tz_halo_row_count(next));
}

static uint64_t overview_bytes(const tz_budget *b, const tz_output_pyramid *pyramid)
{
    uint64_t sum = 0;
    for (uint32_t i = 1; i < pyramid->count; i++) {
        const tz_output_level *level = &pyramid->levels[i];
        const uint64_t slab = tz_overview_slab_bytes(b, &level->image);
        const uint64_t halo = tz_halo_bytes(b, &pyramid->levels[i - 1].image, &level->overview);
        sum = tz_add_capped(sum, tz_mul_capped(slab, b->level_slabs));
        sum = tz_add_capped(sum, tz_mul_capped(halo, 2));
    }
    return sum;
}

uint64_t tz_budget_total(const tz_budget *b, const tz_output_pyramid *pyramid)
{
    uint64_t sum = tz_add_capped(b->fixed, tz_mul_capped(b->worker, b->threads));
    sum = tz_add_capped(sum, tz_mul_capped(b->slot, b->slots));
    sum = tz_add_capped(sum, tz_pipeline_bytes(b->threads, b->slots));
    sum = tz_add_capped(sum, b->device.device ? tz_gpu_budget_host_bytes(b, pyramid)
                                              : overview_bytes(b, pyramid));
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
    const uint64_t whole = tile_rows * image->tile_height;
    b->slab_rows = whole < image->spec.height ? (uint32_t)whole : image->spec.height;
}

/* Try another value of a member: kept when it still fits. */
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

/* Fewer columns than all only where the order of tiles allows it: band after band of a row of tiles
 * needs the whole row, and so do overviews. */
static bool may_split_rows(const tz_output_pyramid *pyramid, const tz_row_source *source)
{
    const tz_image *image = &pyramid->levels[0].image;
    return source && source->columns && pyramid->count == 1 && !tz_is_by_band(image);
}

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

/* Up to where both a row of tiles and a chunk of the source end, unless that is far. */
static uint64_t round_to_chunk_end(const tz_budget *b, const tz_image *image, uint64_t rows)
{
    enum { FAR = 8 };
    const uint64_t both = b->chunk_rows ? common_multiple(image->tile_height, b->chunk_rows) : 1;
    const uint64_t up = tz_mul_capped(tz_ceil_div(rows, both), both);
    return up / FAR <= rows ? up : rows;
}

static uint64_t wanted_rows(const tz_budget *b, const tz_image *image)
{
    const uint64_t tiles = (uint64_t)image->tiles_across * image->planes;
    const uint64_t row_bytes = tz_mul_capped(image->spec.width, b->pixel);
    uint64_t rows =
        tz_ceil_div((uint64_t)TILES_PER_THREAD * b->threads, tiles) * image->tile_height;
    const uint64_t by_bytes = tz_ceil_div(MIN_TILE_ROW_BYTES, row_bytes);
    rows = rows > by_bytes ? rows : by_bytes;
    rows = round_to_chunk_end(b, image, rows > b->chunk_rows ? rows : b->chunk_rows);
    return rows < image->spec.height ? rows : image->spec.height;
}

static uint32_t wanted_slots(const tz_budget *b)
{
    const uint64_t by_bytes = SLOT_BYTES / b->slot;
    const uint32_t least = b->threads * SLOTS_PER_THREAD;
    const uint32_t most = by_bytes < MAX_SLOTS ? (uint32_t)by_bytes : MAX_SLOTS;
    return least > most ? least : most;
}

/* What is left after the least: second slabs, room for tiles that wait ... */
static void add_slots(tz_budget *b, const tz_output_pyramid *pyramid)
{
    if (b->threads > 1 && try_u32(b, pyramid, &b->slabs, 2) && pyramid->count > 1 &&
        !b->device.device)
        (void)try_u32(b, pyramid, &b->level_slabs, 2);
    for (uint32_t slots = wanted_slots(b); slots > b->threads; slots -= slots / 4 + 1)
        if (try_u32(b, pyramid, &b->slots, slots))
            break;
}

/* ... and higher slabs. */
static void add_rows(tz_budget *b, const tz_output_pyramid *pyramid)
{
    const tz_image *image = &pyramid->levels[0].image;
    const uint64_t wanted = wanted_rows(b, image);
    const uint32_t least = b->slab_rows;
    for (uint64_t rows = wanted; rows > least;
         rows -= rows < image->tile_height + least ? rows - least : image->tile_height) {
        tz_budget_set_rows(b, image, tz_ceil_div(rows, image->tile_height));
        if (fits_budget(b, pyramid))
            return;
    }
    b->slab_rows = least;
}

static unsigned wanted_threads(const tz_image *image)
{
    const unsigned threads = image->options.threads ? image->options.threads : tz_available_cpus();
    const uint64_t most = image->tile_count < MAX_THREADS ? image->tile_count : MAX_THREADS;
    return threads < most ? threads : (unsigned)most;
}

static void fit_threads(tz_budget *b, const tz_output_pyramid *pyramid)
{
    for (unsigned threads = wanted_threads(&pyramid->levels[0].image); threads > 1; threads--) {
        b->threads = threads;
        b->slots = threads;
        if (fits_budget(b, pyramid))
            return;
    }
    b->threads = b->slots = 1;
}

static void spend_remainder(tz_budget *b, const tz_output_pyramid *pyramid)
{
    const bool whole = b->columns == pyramid->levels[0].image.tiles_across;
    if (whole)
        add_slots(b, pyramid);
    if (b->device.device)
        tz_gpu_budget_grow(b, pyramid);
    else if (whole)
        add_rows(b, pyramid);
}

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
    const uint64_t given = image->options.buffer_bytes;
    const uint64_t cap = given > 0 ? given : DEFAULT_HOST_BUFFER;
    const bool split = may_split_rows(pyramid, source);
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
    b.allowed = cap > least ? cap : least;
    if (split)
        fit_columns(&b, pyramid);
    fit_threads(&b, pyramid);
    spend_remainder(&b, pyramid);
    b.planned = tz_budget_total(&b, pyramid);
    *out = b;
    return TZ_OK;
}

/* ---- cutting ---- */

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
