/* SPDX-License-Identifier: Apache-2.0
 * Requests whose buffers have other pixels than the level. The buffer is divided into blocks of
 * rows (and of columns, if memory is short):
 *
 *   block -> window of the level   its pixels, and those around them that the filter looks at
 *   batch of blocks -> one plan    read as stored, so that tiles that several blocks need are
 *                                  decoded once
 *   rows of these blocks           resampled in strips by all threads, then converted and stored
 *
 * The decision that is not obvious: samples are read as stored, with a buffer of validity beside
 * them, and scale, nodata and type are applied after resampling. A filter must not mix nodata with
 * values, and must see each value once. */
#include "read/plan.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "pixel/resample_row.h"

/* Blocks are read this many bytes at a time: enough that few tiles are decoded twice at the seams.
 */
#define BATCH_BYTES ((uint64_t)64 << 20)
/* Blocks of a batch. By nearest a block may be a single row, which looks at one row of the level.
 */
enum { MAX_BLOCKS = 4096 };
/* Rows of a task: a filter looks at rows that those of its neighbours look at too. */
enum { STRIP_ROWS = 16 };

typedef struct block {
    const tz_read_request *request;
    uint32_t column, row, width, height; /* of the buffer */
    tz_window source_window;             /* of the level; width 0: nothing there */
    tz_pixel_buffer samples;             /* of source_window, all wanted bands */
    tz_pixel_buffer valid;               /* data NULL: all samples are */
    tz_axis across;
    void *across_memory;
    tz_conversion conversion;
    double *scales;
} block;

/* One thread's memory. */
typedef struct row_memory {
    tz_resample_memory values;
    uint8_t *picked; /* samples by nearest */
    uint8_t *valid;  /* by new pixel */
    void *down;      /* table of one row */
} row_memory;

/* Sizes of a row_memory. */
typedef struct row_needs {
    tz_resample_needs values;
    size_t size;   /* of a sample */
    uint64_t down; /* bytes of the table */
} row_needs;

typedef struct block_batch {
    const tz_read_options *how;
    bool dry;                /* plan only */
    tz_read_summary *report; /* sum of all batches */
    tz_context ctx;
    tz_arena arena;
    block *blocks;
    size_t count;
    uint64_t status_bytes;  /* of the outcomes' lists */
    uint64_t budget;        /* for all blocks */
    uint64_t bytes;         /* that they take */
    uint64_t cost;          /* bytes, and those of planning them */
    row_needs max_needs;    /* one memory serves the blocks of all requests */
    uint64_t *first_strips; /* of each block among all strips */
    uint64_t strips;
    uint64_t rows;
    row_memory *memories;
    uint64_t done, total; /* rows of all requests, for progress */
} block_batch;

/* ---- geometry ---- */

/* From pixels of the result to positions in the level, in one direction. The origin and the scale
 * are those of the whole result: a block resamples exactly as the whole would. */
static tz_axis_map map_across(const tz_read_request *request, tz_resampling method)
{
    return (tz_axis_map){.method = method,
                         .origin = request->x0,
                         .scale = (request->x1 - request->x0) / request->grid_width,
                         .high = request->layer.shape.width};
}

static tz_axis_map map_down(const tz_read_request *request, tz_resampling method)
{
    return (tz_axis_map){.method = method,
                         .origin = request->y0,
                         .scale = (request->y1 - request->y0) / request->grid_height,
                         .high = request->layer.shape.height};
}

/* True if samples need a buffer of validity beside them. By nearest, an invalid sample is copied as
 * it is, and only the caller's mask has to know, or the fill of tiles that could not be read. */
static bool needs_valid(const tz_read_request *request, const tz_read_options *how)
{
    return tz_pixel_buffer_exists(&request->mask) || (how->salvage && how->has_fill) ||
           (how->resampling != TZ_RESAMPLING_NEAREST &&
            (request->file->info.nodata.kind != TZ_NODATA_KIND_NONE ||
             tz_mask_source(request) != TZ_REQUEST_PIXELS || how->salvage));
}

static size_t sample_size(const tz_read_request *request)
{
    return tz_dtype_size(request->layer.tables.dtype);
}

/* Bytes of one thread's memory; UINT64_MAX: more than there can be. */
static uint64_t row_memory_bytes(const row_needs *max_needs, tz_resampling method)
{
    const uint64_t bytes = tz_resample_memory_bytes(method, &max_needs->values);
    const uint64_t more =
        max_needs->values.width * (max_needs->size + 1) + max_needs->down + 4 * 64;
    return bytes < UINT64_MAX - more ? bytes + more : UINT64_MAX;
}

/* ---- one row ---- */

/* A band of a block, for its rows. */
typedef struct band_rows {
    const block *block;
    uint32_t band;
} band_rows;

/* The resampler asks for rows of the level by this. */
static tz_input_row old_row(const void *user, int64_t row)
{
    const band_rows *from = user;
    const block *b = from->block;
    const int64_t at = row - b->source_window.row;
    return (tz_input_row){tz_buffer_at(&b->samples, from->band, at, 0), b->samples.column_stride,
                          b->valid.data ? tz_buffer_at(&b->valid, from->band, at, 0) : NULL};
}

/* The tile that holds the middle one of the samples under new pixel i. */
static uint64_t middle_tile(const block *b, const tz_axis *down, uint32_t band, uint32_t i)
{
    const tz_read_request *request = b->request;
    const tz_level *level = &request->layer.shape;
    const int64_t x = b->across.first[i] + b->across.count[i] / 2;
    const int64_t y = down->first[0] + down->count[0] / 2;
    const uint64_t plane = request->layer.tables.planar != TZ_PLANAR_SEPARATE ? 0
                           : request->bands                                   ? request->bands[band]
                                                                              : band;
    return (plane * level->tiles_down + (uint64_t)y / level->tile_height) * level->tiles_across +
           (uint64_t)x / level->tile_width;
}

/* Stores the value of new pixels that no sample of the level has: of those outside the level, of
 * those in tiles that could not be read if the caller gives one, and the replacement of nodata
 * where no sample is valid. By nearest, the conversion has replaced nodata. */
static void store_valueless_pixels(const block *b, const tz_axis *down,
                                   const tz_read_options *options, uint32_t band, uint32_t row,
                                   const uint8_t *valid)
{
    const tz_nodata invalid = {.kind = TZ_NODATA_KIND_NONE};
    const tz_pixel_buffer *into = &b->request->into;
    const tz_pixel_buffer *mask = &b->request->mask;
    const tz_outcome *outcome = b->request->outcome;
    const bool replaces = options->resampling != TZ_RESAMPLING_NEAREST &&
                          b->conversion.replacement.kind != TZ_NODATA_KIND_NONE;
    const bool fills_failed = options->has_fill && outcome && outcome->report.tiles_failed > 0;
    const size_t size = tz_dtype_size(into->dtype);
    if (!options->boundless && !fills_failed && !replaces)
        return;
    const tz_conversion how = tz_conversion_of_band(&b->conversion, b->scales, band);
    uint64_t tile = UINT64_MAX; /* the last that was looked up */
    bool is_failed = false;
    uint8_t missing[16], replacement[16];
    tz_outside_sample(&how, options, missing);
    tz_row_fill(how.to, &how.replacement, replacement, 0, 1);
    for (uint32_t i = 0; i < b->width; i++) {
        const bool is_outside = down->count[0] == 0 || b->across.count[i] == 0;
        if (!is_outside && valid[i])
            continue;
        if (!is_outside && fills_failed) {
            const uint64_t at = middle_tile(b, down, band, i);
            if (at != tile)
                is_failed = tz_outcome_has_failed(outcome, at);
            tile = at;
        }
        const bool is_missing = is_outside || is_failed;
        if (is_missing || replaces)
            memcpy(tz_buffer_at(into, band, b->row + row, b->column + i),
                   is_missing ? missing : replacement, size);
        if (is_outside && mask->data)
            tz_row_fill(TZ_DTYPE_UINT8, &invalid,
                        tz_buffer_at(mask, band, b->row + row, b->column + i), 0, 1);
    }
}

/* Makes one row of the buffer, for one band. The samples are of the file's type by nearest, and
 * doubles by any other method, where pixels without any valid sample under them become nodata, NaN
 * or 0 unless they are stored at the end. */
static void resample_row(const block_batch *ba, const tz_resampler *r, const tz_axis *down,
                         const band_rows *from, uint32_t row, row_memory *m)
{
    const block *b = from->block;
    const tz_pixel_buffer *into = &b->request->into;
    const tz_pixel_buffer *mask = &b->request->mask;
    const bool by_nearest = r->method == TZ_RESAMPLING_NEAREST;
    const uint8_t *samples = by_nearest ? m->picked : (const uint8_t *)m->values.values;
    const tz_conversion as_is = {.from = TZ_DTYPE_UINT8, .to = TZ_DTYPE_UINT8};
    tz_conversion how = {.from = TZ_DTYPE_FLOAT64, .to = b->conversion.to};
    if (b->source_window.width == 0 || down->count[0] == 0) {
        memset(m->picked, 0, b->width * sample_size(b->request));
        memset(m->values.values, 0, b->width * sizeof *m->values.values);
        memset(m->valid, 0, b->width);
    } else if (by_nearest) {
        tz_resample_pick(r, down->first[0], m->picked, m->valid);
    } else {
        const tz_nodata *nodata = &b->conversion.nodata;
        double none = tz_dtype_is_float(b->request->layer.tables.dtype) ? (double)NAN : 0;
        if (nodata->kind != TZ_NODATA_KIND_NONE)
            tz_row_fill(TZ_DTYPE_FLOAT64, nodata, (uint8_t *)&none, 0, 1);
        tz_resample_values(r, down, 0, &m->values, m->valid);
        for (uint32_t i = 0; i < b->width; i++) {
            if (!m->valid[i])
                m->values.values[i] = none;
        }
    }
    how = tz_conversion_of_band(by_nearest ? &b->conversion : &how, b->scales, from->band);
    tz_row_convert(&how, samples, (ptrdiff_t)tz_dtype_size(how.from),
                   tz_buffer_at(into, from->band, b->row + row, b->column),
                   (ptrdiff_t)into->column_stride, b->width, NULL, 0);
    if (mask->data)
        tz_row_convert(&as_is, m->valid, 1, tz_buffer_at(mask, from->band, b->row + row, b->column),
                       (ptrdiff_t)mask->column_stride, b->width, NULL, 0);
    store_valueless_pixels(b, down, ba->how, from->band, row, m->valid);
}

/* Resamples some rows of one block. */
static tz_result run_strip(void *user, uint64_t index, unsigned worker, tz_error *err)
{
    const block_batch *ba = user;
    row_memory *m = &ba->memories[worker];
    size_t low = 0;
    size_t high = ba->count; /* the block: first_strips[low] <= index */
    (void)err;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (ba->first_strips[middle] <= index)
            low = middle;
        else
            high = middle;
    }
    const block *b = &ba->blocks[low];
    const uint32_t first = (uint32_t)(index - ba->first_strips[low]) * STRIP_ROWS;
    const uint32_t end = first + tz_min_u32(b->height - first, STRIP_ROWS);
    const tz_axis_map map = map_down(b->request, ba->how->resampling);
    for (uint32_t band = 0; band < b->request->band_count; band++) {
        const band_rows from = {b, band};
        const tz_resampler r = {.method = map.method,
                                .dtype = b->request->layer.tables.dtype,
                                .across = b->across,
                                .width = b->width,
                                .column = b->source_window.column,
                                .old_width = b->source_window.width,
                                .old_row = old_row,
                                .user = &from};
        tz_resample_begin(&m->values);
        for (uint32_t row = first; row < end; row++) {
            tz_axis down;
            tz_axis_make(&down, &map, b->request->grid_row + b->row + row, 1, m->down);
            resample_row(ba, &r, &down, &from, row, m);
        }
    }
    return TZ_OK;
}

/* ---- memory of a batch ---- */

/* Takes size bytes from the front, up to the next multiple of 64. */
static void *carve(uint8_t **at, size_t size)
{
    uint8_t *allocation = *at;
    *at += (size + 63) / 64 * 64;
    return allocation;
}

/* Blocks are packed, band by band. */
static void set_block_buffer(tz_pixel_buffer *out, const block *b, tz_dtype dtype, uint8_t *data)
{
    const int64_t size = (int64_t)tz_dtype_size(dtype);
    *out = (tz_pixel_buffer){.data = data,
                             .dtype = dtype,
                             .bands = b->request->band_count,
                             .height = b->source_window.height,
                             .width = b->source_window.width,
                             .column_stride = size};
    out->row_stride = size * b->source_window.width;
    out->band_stride = out->row_stride * b->source_window.height;
}

/* All memory of a block is in the arena of the batch, which is freed as a whole. A dry run
 * describes the buffers, but does not allocate them. */
static tz_result make_block_buffers(block_batch *ba, block *b)
{
    static uint8_t nowhere;
    const tz_axis_map across = map_across(b->request, ba->how->resampling);
    const uint64_t samples =
        (uint64_t)b->source_window.width * b->source_window.height * b->request->band_count;
    const bool has_valid = needs_valid(b->request, ba->how);
    const size_t size = sample_size(b->request);
    uint8_t *data = &nowhere;
    uint8_t *valid = &nowhere;
    if (!ba->dry) {
        data = tz_arena_alloc(&ba->arena, (size_t)(samples * size));
        b->across_memory = tz_arena_alloc(&ba->arena, (size_t)tz_axis_bytes(&across, b->width));
        if (!data || !b->across_memory)
            return tz_fail_nomem(&ba->ctx, samples * size);
        valid = has_valid ? tz_arena_alloc(&ba->arena, (size_t)samples) : NULL;
        if (has_valid && !valid)
            return tz_fail_nomem(&ba->ctx, samples);
    }
    set_block_buffer(&b->samples, b, b->request->layer.tables.dtype, data);
    if (has_valid)
        set_block_buffer(&b->valid, b, TZ_DTYPE_UINT8, valid);
    if (ba->dry)
        return TZ_OK;
    tz_axis_make(&b->across, &across, b->request->grid_column + b->column, b->width,
                 b->across_memory);
    tz_context ctx = ba->ctx;
    ctx.name = b->request->file->info.name;
    return tz_read_request_conversion(b->request, ba->how, &b->conversion, &b->scales, &ba->arena,
                                      &ctx);
}

/* ---- running a batch ---- */

/* Progress is counted in rows of all requests. */
static bool report_rows_progress(void *user, uint64_t done, uint64_t total)
{
    const block_batch *ba = user;
    const double fraction = total > 0 ? (double)done / (double)total : 1;
    return ba->how->progress.call(ba->how->progress.user,
                                  ba->done + (uint64_t)(fraction * (double)ba->rows), ba->total);
}

/* Reads all blocks by one plan, on the CPU and without conversions. */
static tz_result read_blocks(block_batch *ba)
{
    tz_read_options how = *ba->how;
    tz_read_request *requests = tz_arena_array(&ba->arena, ba->count, sizeof *requests);
    size_t count = 0;
    tz_plan plan = {0};
    if (!requests)
        return tz_fail_nomem(&ba->ctx, ba->count * sizeof *requests);
    how.scaled = false;
    how.nodata_to_nan = false;
    how.nodata_as.kind = TZ_NODATA_KIND_NONE;
    how.has_fill = false;
    how.boundless = false;
    how.max_host_bytes -= ba->bytes; /* the batch is within half of it */
    how.device = NULL;
    how.progress = (tz_progress){0};
    if (ba->how->progress.call)
        how.progress = (tz_progress){report_rows_progress, ba};
    for (size_t i = 0; i < ba->count; i++) {
        const block *b = &ba->blocks[i];
        if (b->source_window.width == 0)
            continue;
        tz_read_request *request = &requests[count++];
        *request = *b->request;
        request->window = b->source_window;
        request->scales = NULL;
        request->offsets = NULL;
        request->into = b->samples;
        request->mask = b->valid;
        request->resampled = false;
        request->is_block = true;
    }
    tz_result result = tz_plan_make(&plan, requests, count, &how, ba->ctx.err);
    if (result == TZ_OK)
        result = ba->dry ? tz_plan_check_unchanged(&plan) : tz_cpu_read(&plan);
    plan.report.numbers.peak_host_bytes +=
        ba->status_bytes + ba->bytes +
        plan.threads * row_memory_bytes(&ba->max_needs, ba->how->resampling);
    tz_read_summary_add(ba->report, &plan.report); /* of a read that failed, its warnings */
    tz_plan_deinit(&plan);
    return result;
}

/* Reads the blocks, then resamples them. Threads are limited by the quarter of memory that is
 * theirs. */
static tz_result run_block_batch(block_batch *ba)
{
    const tz_resampling method = ba->how->resampling;
    const row_needs *needs = &ba->max_needs;
    const uint64_t memory_bytes = row_memory_bytes(needs, method);
    unsigned threads = ba->how->threads ? ba->how->threads : tz_pool_shared_threads();
    ba->first_strips = tz_arena_array(&ba->arena, ba->count, sizeof *ba->first_strips);
    if (!ba->first_strips)
        return tz_fail_nomem(&ba->ctx, ba->count * sizeof *ba->first_strips);
    ba->strips = 0;
    ba->rows = 0;
    for (size_t i = 0; i < ba->count; i++) {
        ba->first_strips[i] = ba->strips;
        ba->strips += tz_ceil_div(ba->blocks[i].height, STRIP_ROWS);
        ba->rows += ba->blocks[i].height;
        TZ_TRY(make_block_buffers(ba, &ba->blocks[i]));
    }
    TZ_TRY(read_blocks(ba));
    if (ba->dry)
        return TZ_OK;
    threads = (unsigned)tz_min(threads, ba->strips);
    threads =
        (unsigned)tz_min(threads, tz_max(ba->how->max_host_bytes / 4 / (memory_bytes + 1), 1));
    ba->memories = tz_arena_array(&ba->arena, threads, sizeof *ba->memories);
    if (!ba->memories)
        return tz_fail_nomem(&ba->ctx, threads * sizeof *ba->memories);
    for (unsigned i = 0; i < threads; i++) {
        row_memory *m = &ba->memories[i];
        uint8_t *at = tz_arena_alloc(&ba->arena, (size_t)memory_bytes);
        if (!at)
            return tz_fail_nomem(&ba->ctx, memory_bytes);
        tz_resample_memory_make(
            &m->values, method, &needs->values,
            carve(&at, (size_t)tz_resample_memory_bytes(method, &needs->values)));
        m->picked = carve(&at, needs->values.width * needs->size);
        m->valid = carve(&at, needs->values.width);
        m->down = at;
    }
    return tz_pool_run_shared(threads, ba->strips, run_strip, ba, NULL, &ba->ctx);
}

/* Runs the blocks that were collected, and empties the batch for the next. Progress counts only
 * batches that were run. */
static tz_result flush_blocks(block_batch *ba)
{
    const tz_result result = ba->count > 0 ? run_block_batch(ba) : TZ_OK;
    tz_arena_deinit(&ba->arena);
    ba->arena = (tz_arena){0};
    ba->done += ba->count > 0 ? ba->rows : 0;
    ba->count = 0;
    ba->bytes = 0;
    ba->cost = 0;
    ba->max_needs = (row_needs){0};
    return result;
}

/* ---- requests ---- */

/* Makes the outcome of an item ready: its list has the tiles of the whole item, and plans of blocks
 * only mark theirs in it. A dry run counts the bytes of the list. */
static tz_result prepare_outcome(block_batch *ba, const tz_read_request *request,
                                 uint64_t max_host_bytes, tz_arena *lists)
{
    const tz_request_kind mask =
        needs_valid(request, ba->how) ? tz_mask_source(request) : TZ_REQUEST_PIXELS;
    const uint32_t count = mask == TZ_REQUEST_PIXELS ? 1 : 2;
    tz_planned_request requests[2];
    tz_read_request whole = *request;
    tz_arena arena = {0};
    tz_result result = TZ_OK;
    uint64_t tiles = 0;
    whole.into.dtype = request->layer.tables.dtype;
    ba->ctx.name = request->file->info.name;
    ba->ctx.limits = &request->file->limits;
    for (uint32_t i = 0; result == TZ_OK && i < count; i++) {
        result = tz_planned_request_make(&requests[i], &whole, i == 0 ? TZ_REQUEST_PIXELS : mask,
                                         NULL, ba->how, &arena, &ba->ctx);
        requests[i].status_first = tiles;
        if (result == TZ_OK)
            tiles = tz_add_capped(tiles, tz_planned_request_status_count(&requests[i]));
    }
    if (result == TZ_OK && ba->how->salvage) {
        ba->status_bytes =
            tz_add_capped(ba->status_bytes, tz_mul_capped(tiles, sizeof(tz_tile_status)));
        if (ba->status_bytes >= max_host_bytes)
            result = tz_fail_memory_limit(&ba->ctx, "the list of tiles", "max_host_bytes",
                                          max_host_bytes, ba->status_bytes);
        else if (!ba->dry)
            result = tz_outcome_alloc_tiles(request->outcome, tiles, lists, &ba->ctx);
    }
    for (uint32_t i = 0; result == TZ_OK && i < count; i++)
        tz_planned_request_reset_outcome(&requests[i]);
    tz_arena_deinit(&arena);
    return result;
}

/* Adds the next block of a request, from (column, row) of the buffer on, to the batch, which is run
 * before if it is full. A block has as many rows as fit a batch, or fewer columns if a single row
 * does not fit. Half of the memory is for blocks, and a quarter for the threads that resample. A
 * block of several rows has to fit the budget of a batch; a single row may take the whole half. */
static tz_result add_block(block_batch *ba, const tz_read_request *request, uint32_t column,
                           uint32_t row, block *b)
{
    const tz_level *level = &request->layer.shape;
    const tz_resampling method = ba->how->resampling;
    const uint64_t memory = ba->how->max_host_bytes;
    const tz_axis_map across = map_across(request, method);
    const tz_axis_map down = map_down(request, method);
    const bool by_row = method == TZ_RESAMPLING_NEAREST && down.scale >= 2;
    const uint64_t each = sample_size(request) + needs_valid(request, ba->how);
    row_needs needs;
    uint64_t bytes;
    *b = (block){.request = request, .column = column, .row = row};
    b->width = request->into.width - column;
    b->height = column > 0 || by_row ? 1 : request->into.height - row;
    for (;;) {
        int64_t x0, x1, y0, y1;
        tz_axis_range(&across, request->grid_column + column, b->width, &x0, &x1);
        tz_axis_range(&down, request->grid_row + row, b->height, &y0, &y1);
        b->source_window = (tz_window){0};
        if (x0 < x1 && y0 < y1)
            b->source_window = (tz_window){x0, y0, (uint32_t)(x1 - x0), (uint32_t)(y1 - y0)};
        needs = (row_needs){.values = {.width = b->width,
                                       .old_width = b->source_window.width,
                                       .across = (uint32_t)tz_axis_max_samples(&across, 1),
                                       .down = (uint32_t)tz_axis_max_samples(&down, 1)},
                            .size = sample_size(request),
                            .down = tz_axis_bytes(&down, 1)};
        /* the block's samples and its table of columns */
        if (!tz_mul((uint64_t)b->source_window.width * b->source_window.height,
                    each * request->band_count, &bytes) ||
            !tz_add(bytes, tz_axis_bytes(&across, b->width), &bytes))
            bytes = UINT64_MAX; /* more than there can be */
        const uint64_t thread_bytes = row_memory_bytes(&needs, method);
        if (bytes <= (b->height > 1 ? ba->budget : memory / 2) && thread_bytes <= memory / 4)
            break;
        if (b->height > 1)
            b->height = (b->height + 1) / 2;
        else if (b->width > 1)
            b->width = (b->width + 1) / 2;
        else if (bytes > memory / 2)
            return tz_fail_memory_limit(&ba->ctx, "resampling", "max_host_bytes", memory / 2,
                                        bytes);
        else
            return tz_fail_memory_limit(&ba->ctx, "resampling", "max_host_bytes", memory / 4,
                                        thread_bytes);
    }
    /* a plan takes requests of pixels and mask for the block, and entries for their tiles */
    const uint64_t tiles = ((uint64_t)b->source_window.width / level->tile_width + 2) *
                           ((uint64_t)b->source_window.height / level->tile_height + 2);
    const uint64_t cost = bytes + 2 * (sizeof(tz_planned_request) + sizeof(tz_read_request)) +
                          tz_min(tiles, TZ_WAVE_TILE_READS) * tz_wave_tile_read_bytes();
    if (ba->count == MAX_BLOCKS || ba->cost + cost > ba->budget)
        TZ_TRY(flush_blocks(ba));
    ba->blocks[ba->count++] = *b;
    ba->bytes += bytes;
    ba->cost += cost;
    tz_resample_needs_merge(&ba->max_needs.values, &needs.values);
    ba->max_needs.size = tz_max_size(ba->max_needs.size, needs.size);
    ba->max_needs.down = tz_max(ba->max_needs.down, needs.down);
    return TZ_OK;
}

static tz_result add_resampled_request(block_batch *ba, const tz_read_request *request)
{
    ba->ctx.name = request->file->info.name;
    ba->ctx.limits = &request->file->limits;
    for (uint32_t row = 0; row < request->into.height;) {
        block b = {0};
        for (uint32_t column = 0; column < request->into.width; column += b.width)
            TZ_TRY(add_block(ba, request, column, row, &b));
        row += b.height;
    }
    return TZ_OK;
}

/* The lists of outcomes come out of the memory first; blocks share the rest. */
tz_result tz_resampled_read(const tz_read_request *requests, size_t count,
                            const tz_read_options *how, bool dry, tz_read_summary *report,
                            tz_arena *arena, tz_error *err)
{
    tz_read_options rest = *how;
    block_batch ba = {.how = &rest, .dry = dry, .report = report, .ctx = {.err = err, .ifd = -1}};
    tz_result result = TZ_OK;
    for (size_t i = 0; i < count; i++) {
        ba.total += requests[i].into.height;
        if (requests[i].outcome)
            TZ_TRY(prepare_outcome(&ba, &requests[i], how->max_host_bytes, arena));
    }
    rest.max_host_bytes -= ba.status_bytes;
    ba.budget = tz_min(rest.max_host_bytes / 2, BATCH_BYTES);
    ba.blocks = tz_alloc_array(MAX_BLOCKS, sizeof *ba.blocks);
    if (!ba.blocks)
        return tz_fail_nomem(&ba.ctx, MAX_BLOCKS * sizeof *ba.blocks);
    for (size_t i = 0; result == TZ_OK && i < count; i++)
        result = add_resampled_request(&ba, &requests[i]);
    if (result == TZ_OK)
        result = flush_blocks(&ba);
    tz_arena_deinit(&ba.arena);
    tz_free(ba.blocks);
    return result;
}
