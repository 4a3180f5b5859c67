/* SPDX-License-Identifier: Apache-2.0
 * A worker takes a tile, reads it, decodes it into its own memory, prepares row after row and
 * places them, and takes the next. All memory is taken before the first tile; no tile allocates. */
#include "read/cores.h"

#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "io/source.h"

enum { MAX_CODECS = 32 };

typedef struct worker {
    uint8_t *input;
    uint8_t *output;
    uint8_t *scratch;
    void *states[MAX_CODECS]; /* by place in tz_codecs; NULL: not needed */
} worker;

typedef struct run {
    tz_plan *plan;
    worker *workers;
    unsigned worker_count;
    tz_plan_tile *tiles;
    size_t tile_count;
    uint32_t *firsts; /* where each different tile starts in tiles */
    size_t group_count;
} run;

/* ---- workers ---- */

static size_t codec_index(const tz_codec *codec)
{
    size_t index = 0;
    while (tz_codecs[index] != codec)
        index++;
    return index;
}

static tz_result init_codec(worker *w, const tz_codec *codec, const tz_context *ctx)
{
    const size_t index = codec_index(codec);
    if (w->states[index] || codec->state_size == 0)
        return TZ_OK;
    void *state = tz_alloc_zeroed(1, codec->state_size);
    if (!state)
        return tz_fail_nomem(ctx, codec->state_size);
    w->states[index] = state;
    return codec->init ? codec->init(state, ctx) : TZ_OK;
}

static tz_result init_worker(worker *w, const tz_plan *plan)
{
    w->input = tz_alloc(plan->input_size + TZ_CODEC_SLACK);
    w->output = tz_alloc(plan->output_size + TZ_CODEC_SLACK);
    w->scratch = tz_alloc(plan->scratch_size + TZ_CODEC_SLACK);
    if (!w->input || !w->output || !w->scratch)
        return tz_fail_nomem(&plan->ctx, plan->input_size + plan->output_size);
    for (size_t i = 0; i < plan->target_count; i++)
        TZ_TRY(init_codec(w, plan->targets[i].codec, &plan->ctx));
    return TZ_OK;
}

static void deinit_worker(worker *w)
{
    for (size_t i = 0; tz_codecs[i]; i++) {
        if (w->states[i] && tz_codecs[i]->deinit)
            tz_codecs[i]->deinit(w->states[i]);
        tz_free(w->states[i]);
    }
    tz_free(w->input);
    tz_free(w->output);
    tz_free(w->scratch);
}

/* ---- placing ---- */

/* One tile, and the part of it that is wanted by all its targets together. */
typedef struct tile_job {
    const run *run;
    worker *w;
    const tz_plan_tile *wanted; /* the same tile, once for each target */
    size_t wanted_count;
    const tz_target *target; /* the first of them: what the tile is */
    uint32_t x, y;           /* of its first pixel in the level */
    uint32_t plane;
    uint32_t columns;    /* pixels of a row that are wanted, from the first */
    uint32_t row0, row1; /* rows that are wanted */
    tz_context ctx;
    tz_place place;
} tile_job;

static uint32_t at_least(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t at_most(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint8_t *sample_at(const tz_buffer *buffer, uint32_t band, int64_t row, int64_t column)
{
    return (uint8_t *)buffer->data + (int64_t)band * buffer->band_stride +
           row * buffer->row_stride + column * buffer->column_stride;
}

/* Mask samples, 0 or anything else, become 0 or 255 in every band. */
static void place_mask(const tz_target *target, const uint8_t *samples, uint32_t count, int64_t row,
                       int64_t column)
{
    for (uint32_t band = 0; band < target->band_count; band++) {
        uint8_t *dst = sample_at(&target->into, band, row, column);
        for (uint32_t i = 0; i < count; i++, dst += target->into.column_stride)
            *dst = samples[i] ? 255 : 0;
    }
}

static void place_band(const tz_target *target, uint32_t band, const uint8_t *samples,
                       ptrdiff_t step, uint32_t count, int64_t row, int64_t column)
{
    tz_placement how = target->how;
    if (target->scales) {
        how.scaled = true;
        how.scale = target->scales[2 * (size_t)band];
        how.offset = target->scales[2 * (size_t)band + 1];
    }
    uint8_t *mask = target->mask.data ? sample_at(&target->mask, band, row, column) : NULL;
    tz_row_place(&how, samples, step, sample_at(&target->into, band, row, column),
                 (ptrdiff_t)target->into.column_stride, count, mask,
                 (ptrdiff_t)target->mask.column_stride);
}

/* The part of one prepared row that one target wants. step 0: the same sample for all. */
static void place_row(const tile_job *job, const tz_target *target, uint32_t tile_row,
                      const uint8_t *samples, bool repeat)
{
    const uint32_t level_row = job->y + tile_row;
    if (level_row < target->y0 || level_row >= target->y1)
        return;
    const uint32_t x0 = at_least(job->x, target->x0);
    const uint64_t tile_end = (uint64_t)job->x + target->tile.width;
    const uint32_t x1 = tile_end < target->x1 ? (uint32_t)tile_end : target->x1;
    const size_t size = tz_dtype_size(target->row.dtype);
    const size_t pixel = repeat ? 0 : size * target->row.samples;
    const int64_t row = (int64_t)level_row - target->row_shift;
    const int64_t column = (int64_t)x0 - target->column_shift;
    const uint8_t *first = samples + (x0 - job->x) * pixel;
    if (target->to_mask) {
        place_mask(target, first, x1 - x0, row, column);
        return;
    }
    for (uint32_t i = 0; i < target->band_count; i++) {
        const uint32_t band = target->bands ? target->bands[i] : i;
        if (target->planes && band != job->plane)
            continue;
        const size_t sample = target->planes || repeat ? 0 : band;
        place_band(target, i, first + sample * size, (ptrdiff_t)pixel, x1 - x0, row, column);
    }
}

static void place_for_all(const tile_job *job, uint32_t tile_row, const uint8_t *samples,
                          bool repeat)
{
    for (size_t i = 0; i < job->wanted_count; i++)
        place_row(job, &job->run->plan->targets[job->wanted[i].target], tile_row, samples, repeat);
}

/* Rows first to first + count - 1 of the tile, as they are in memory. */
static void place_rows(const tile_job *job, uint8_t *rows, uint32_t first, uint32_t count)
{
    const size_t stride = tz_row_bytes(&job->target->row);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *samples =
            tz_row_prepare(&job->target->row, rows + i * stride, job->columns, job->w->scratch,
                           job->w->scratch + tz_row_prepared_bytes(&job->target->row));
        place_for_all(job, first + i, samples, false);
    }
}

/* A tile that the file does not have holds nodata, or 0. */
static void place_sparse(const tile_job *job)
{
    const tz_nodata *nodata = &job->target->how.nodata;
    uint8_t sample[16] = {0};
    if (nodata->kind != TZ_NODATA_NONE && !job->target->to_mask)
        tz_row_fill(job->target->row.dtype, nodata, sample, 0, 1);
    for (uint32_t row = job->row0; row < job->row1; row++)
        place_for_all(job, row, sample, true);
}

/* ---- reading and decoding ---- */

static tz_source *source_of(const tz_target *target)
{
    return target->file->containers[target->layer.tables.container].source;
}

/* Uncompressed: only the wanted rows are read, in pieces. */
static tz_result read_raw(const tile_job *job)
{
    const tz_target *target = job->target;
    const size_t stride = tz_row_bytes(&target->row);
    const uint64_t needed = (uint64_t)job->row1 * stride;
    const tz_tile_span *span = &job->wanted[0].span;
    const uint32_t fit = (uint32_t)at_least(1, (uint32_t)(job->run->plan->input_size / stride));
    if (span->size < needed)
        return tz_fail(&job->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                       tz_expecting(job->place, needed, span->size),
                       "the tile has too few bytes for its pixels");
    for (uint32_t row = job->row0; row < job->row1;) {
        const uint32_t rows = at_most(fit, job->row1 - row);
        TZ_TRY(tz_source_read(source_of(target), span->offset + (uint64_t)row * stride,
                              rows * stride, job->w->input, &job->ctx));
        if (target->tile.fill_order == 2)
            tz_codec_reverse_bits(job->w->input, rows * stride);
        place_rows(job, job->w->input, row, rows);
        row += rows;
    }
    return TZ_OK;
}

/* A strip is cut at the lower edge of the image, a tile is not; some writers do the one or the
 * other all the same, and the codec is told. */
static tz_tile_format format_of(const tile_job *job)
{
    const tz_level *level = &job->target->layer.shape;
    const uint32_t left = level->height - job->y;
    tz_tile_format format = job->target->tile;
    if (left >= format.height)
        return format;
    if (level->tiled) {
        format.image_rows = left;
    } else {
        format.strip_height = format.height;
        format.height = left;
    }
    return format;
}

static tz_result read_compressed(const tile_job *job)
{
    const tz_target *target = job->target;
    const tz_tile_span *span = &job->wanted[0].span;
    const size_t stride = tz_row_bytes(&target->row);
    const tz_codec_call call = {.ctx = &job->ctx, .place = job->place};
    const tz_tile_format format = format_of(job);
    TZ_TRY(tz_source_read(source_of(target), span->offset, (size_t)span->size, job->w->input,
                          &job->ctx));
    memset(job->w->input + span->size, 0, TZ_CODEC_SLACK);
    if (format.fill_order == 2 && !(target->codec->flags & TZ_CODEC_ANY_FILL))
        tz_codec_reverse_bits(job->w->input, (size_t)span->size);
    TZ_TRY(tz_codec_decode(target->codec, job->w->states[codec_index(target->codec)], &format,
                           job->w->input, (size_t)span->size, job->w->output, stride, &call));
    place_rows(job, job->w->output + job->row0 * stride, job->row0, job->row1 - job->row0);
    return TZ_OK;
}

/* What part of the tile its targets want, all together. */
static void set_extent(tile_job *job)
{
    job->row0 = UINT32_MAX;
    for (size_t i = 0; i < job->wanted_count; i++) {
        const tz_target *target = &job->run->plan->targets[job->wanted[i].target];
        const uint32_t y0 = at_least(job->y, target->y0) - job->y;
        const uint32_t y1 = at_most(target->y1 - job->y, target->tile.height);
        job->row0 = at_most(job->row0, y0);
        job->row1 = at_least(job->row1, y1);
        job->columns = at_least(job->columns, at_most(target->x1 - job->x, target->tile.width));
    }
}

static tz_result run_tile(void *user, uint64_t index, unsigned worker_index, tz_error *err)
{
    const run *r = user;
    const size_t first = r->firsts[index];
    const size_t end = index + 1 < r->group_count ? r->firsts[index + 1] : r->tile_count;
    const tz_plan_tile *tile = &r->tiles[first];
    const tz_target *target = &r->plan->targets[tile->target];
    const tz_level *level = &target->layer.shape;
    tile_job job = {.run = r,
                    .w = &r->workers[worker_index],
                    .wanted = tile,
                    .wanted_count = end - first,
                    .target = target};
    job.x = (uint32_t)(tile->tile % level->tiles_across) * level->tile_width;
    job.y = (uint32_t)(tile->tile / level->tiles_across % level->tiles_down) * level->tile_height;
    job.plane = (uint32_t)(tile->tile / level->tiles_across / level->tiles_down);
    job.ctx = tz_file_context(target->file, err);
    job.ctx.ifd = level->ifd;
    job.place = tz_at_tile(target->level & ~TZ_MASK_OF(0u), tile->tile, tile->span.offset);
    set_extent(&job);
    if (tile->span.size == 0) {
        place_sparse(&job);
        return TZ_OK;
    }
    return tz_target_is_raw(target) ? read_raw(&job) : read_compressed(&job);
}

/* ---- boundless ---- */

static void fill_part(const tz_target *target, double fill, uint32_t row, uint32_t column,
                      uint32_t count)
{
    const tz_nodata value = {.kind = TZ_NODATA_FLOAT, .value = {.f = fill}};
    const tz_nodata invalid = {.kind = TZ_NODATA_NONE};
    for (uint32_t band = 0; count > 0 && band < target->band_count; band++) {
        tz_row_fill(target->into.dtype, target->to_mask ? &invalid : &value,
                    sample_at(&target->into, band, row, column),
                    (ptrdiff_t)target->into.column_stride, count);
        if (target->mask.data)
            tz_row_fill(TZ_DTYPE_UINT8, &invalid, sample_at(&target->mask, band, row, column),
                        (ptrdiff_t)target->mask.column_stride, count);
    }
}

/* What lies outside the level: whole rows, and both ends of the others. */
static void fill_outside(const tz_target *target, double fill)
{
    const int64_t width = target->into.width;
    for (uint32_t row = 0; row < target->into.height; row++) {
        const int64_t level_row = (int64_t)row + target->row_shift;
        const bool inside = level_row >= target->y0 && level_row < target->y1;
        const int64_t left = inside ? (int64_t)target->x0 - target->column_shift : width;
        const int64_t right = inside ? (int64_t)target->x1 - target->column_shift : width;
        fill_part(target, fill, row, 0, (uint32_t)left);
        fill_part(target, fill, row, (uint32_t)right, (uint32_t)(width - right));
    }
}

/* ---- waves ---- */

static tz_result run_wave(run *r, tz_pool *pool)
{
    r->group_count = 0;
    for (size_t i = 0; i < r->tile_count; i++) {
        if (!tz_plan_tile_repeats(r->tiles, i))
            r->firsts[r->group_count++] = (uint32_t)i;
    }
    return tz_pool_run(pool, r->group_count, run_tile, r, &r->plan->options.progress,
                       &r->plan->ctx);
}

static tz_result run_waves(run *r, tz_pool *pool)
{
    uint64_t at = 0;
    for (;;) {
        TZ_TRY(tz_plan_wave(r->plan, &at, r->tiles, &r->tile_count, &r->plan->ctx));
        if (r->tile_count == 0)
            return TZ_OK;
        TZ_TRY(run_wave(r, pool));
    }
}

/* Are these still the files that were opened? */
static tz_result check_unchanged(const tz_plan *plan)
{
    for (size_t i = 0; i < plan->target_count; i++) {
        tz_context ctx = plan->ctx;
        ctx.name = plan->targets[i].file->info.name;
        if (plan->targets[i].group == i)
            TZ_TRY(tz_source_check(source_of(&plan->targets[i]), &ctx));
    }
    return TZ_OK;
}

static tz_result read_all(run *r)
{
    tz_plan *plan = r->plan;
    tz_pool *pool = NULL;
    const size_t wave =
        (size_t)(plan->tile_count < TZ_WAVE_TILES ? plan->tile_count : TZ_WAVE_TILES);
    r->workers = tz_alloc_zeroed(plan->threads, sizeof *r->workers);
    r->worker_count = r->workers ? plan->threads : 0;
    r->tiles = tz_alloc_array(wave, sizeof *r->tiles);
    r->firsts = tz_alloc_array(wave, sizeof *r->firsts);
    if (!r->workers || !r->tiles || !r->firsts)
        return tz_fail_nomem(&plan->ctx, wave * sizeof *r->tiles);
    for (unsigned i = 0; i < plan->threads; i++)
        TZ_TRY(init_worker(&r->workers[i], plan));
    for (size_t i = 0; plan->options.boundless && i < plan->target_count; i++)
        fill_outside(&plan->targets[i], plan->options.fill);
    TZ_TRY(tz_pool_open(&pool, plan->threads, &plan->ctx));
    const tz_result result = run_waves(r, pool);
    tz_pool_close(pool);
    return result == TZ_OK ? check_unchanged(plan) : result;
}

tz_result tz_cores_read(tz_plan *plan)
{
    run r = {.plan = plan};
    const tz_result result = read_all(&r);
    for (unsigned i = 0; i < r.worker_count; i++)
        deinit_worker(&r.workers[i]);
    tz_free(r.workers);
    tz_free(r.tiles);
    tz_free(r.firsts);
    return result;
}
