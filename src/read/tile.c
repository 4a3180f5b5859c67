/* SPDX-License-Identifier: Apache-2.0 */
#include "read/tile.h"

#include <string.h>

#include "base/mem.h"
#include "kernels/ycbcr.h"

/* ---- placing ---- */

typedef struct tile_job {
    const tz_plan *plan;
    tz_worker *w;
    const tz_unit *unit;
    const tz_wanted *wanted; /* the same tile, once for each target */
    const tz_target *target; /* the first of them: what the tile is */
    uint32_t x, y;           /* of its first pixel in the level */
    uint32_t plane;
    uint32_t band; /* of the first target: the only one that rows of the tile go to, when they can
                      be copied; NO_BAND: none */
    tz_context ctx;
    tz_location place;
} tile_job;

#define NO_BAND UINT32_MAX

/* Prepared rows of the target are rows of its buffer: of which band? */
static uint32_t only_band(const tz_target *target, uint32_t plane)
{
    uint32_t found = NO_BAND;
    if (!target->same_rows)
        return NO_BAND;
    if (!target->planes)
        return 0;
    for (uint32_t i = 0; i < target->band_count; i++) {
        if ((target->bands ? target->bands[i] : i) != plane)
            continue;
        if (found != NO_BAND)
            return NO_BAND;
        found = i;
    }
    return found;
}

tz_tile_origin tz_unit_origin(const tz_plan *plan, const tz_unit *unit)
{
    const tz_wanted *wanted = &plan->wave.wanted[unit->first];
    const tz_level *level = &plan->targets[wanted->target].layer.shape;
    const uint64_t row = wanted->tile / level->tiles_across;
    return (tz_tile_origin){(uint32_t)(wanted->tile % level->tiles_across) * level->tile_width,
                            (uint32_t)(row % level->tiles_down) * level->tile_height,
                            (uint32_t)(row / level->tiles_down)};
}

static tile_job make_job(const tz_plan *plan, tz_worker *worker, const tz_unit *unit, tz_error *err)
{
    const tz_wanted *wanted = &plan->wave.wanted[unit->first];
    const tz_target *target = &plan->targets[wanted->target];
    const tz_level *level = &target->layer.shape;
    const tz_tile_origin origin = tz_unit_origin(plan, unit);
    tile_job job = {.plan = plan, .w = worker, .unit = unit, .wanted = wanted, .target = target};
    job.x = origin.x;
    job.y = origin.y;
    job.plane = origin.plane;
    job.band = unit->count == 1 ? only_band(target, job.plane) : NO_BAND;
    job.ctx = tz_file_context(target->file, err);
    job.ctx.ifd = level->ifd;
    job.ctx.warnings = worker ? &worker->warnings : NULL;
    job.place = tz_at_tile(target->level, wanted->tile, wanted->span.offset);
    return job;
}

/* The part of a row that one target wants. */
typedef struct row_part {
    uint32_t x0, count;  /* in the level */
    int64_t row, column; /* in the buffer */
} row_part;

static bool find_part(const tile_job *job, const tz_target *target, uint32_t tile_row,
                      row_part *out)
{
    const uint64_t level_row = (uint64_t)job->y + tile_row;
    if (level_row < target->y0 || level_row >= target->y1)
        return false;
    const uint32_t x0 = job->x > target->x0 ? job->x : target->x0;
    const uint64_t tile_end = (uint64_t)job->x + target->tile.width;
    const uint32_t x1 = tile_end < target->x1 ? (uint32_t)tile_end : target->x1;
    *out = (row_part){.x0 = x0,
                      .count = x1 - x0,
                      .row = (int64_t)level_row - target->row_shift,
                      .column = (int64_t)x0 - target->column_shift};
    return true;
}

/* A sample that is 0 makes the pixel invalid in every band. */
static void place_mask(const tz_target *target, const uint8_t *samples, ptrdiff_t step,
                       const row_part *part)
{
    for (uint32_t band = 0; band < target->band_count; band++)
        tz_row_convert(&target->how, samples, step, NULL, 0, part->count,
                       tz_buffer_at(&target->mask, band, part->row, part->column),
                       (ptrdiff_t)target->mask.column_stride);
}

static void place_band(const tz_target *target, uint32_t band, const uint8_t *samples,
                       ptrdiff_t step, const row_part *part)
{
    const tz_conversion how = tz_placement_of_band(&target->how, target->scales, band);
    uint8_t *mask =
        target->mask.data ? tz_buffer_at(&target->mask, band, part->row, part->column) : NULL;
    tz_row_convert(&how, samples, step, tz_buffer_at(&target->into, band, part->row, part->column),
                   (ptrdiff_t)target->into.column_stride, part->count, mask,
                   (ptrdiff_t)target->mask.column_stride);
}

/* Samples of a prepared row, which starts at the unit's column first; or, with repeat, the same
 * sample everywhere. */
static void place_row(const tile_job *job, const tz_target *target, uint32_t tile_row,
                      const uint8_t *samples, uint32_t first, bool repeat)
{
    row_part part;
    if (!find_part(job, target, tile_row, &part))
        return;
    const size_t size = tz_dtype_size(target->row.dtype);
    const size_t pixel = repeat ? 0 : size * target->row.samples;
    const uint8_t *from = samples + (part.x0 - job->x - first) * pixel;
    const bool by_sample = !target->planes && !repeat;
    if (target->to_mask) {
        place_mask(target, from + (by_sample ? target->mask_sample * size : 0), (ptrdiff_t)pixel,
                   &part);
        return;
    }
    for (uint32_t i = 0; i < target->band_count; i++) {
        const uint32_t band = target->bands ? target->bands[i] : i;
        if (target->planes && band != job->plane)
            continue;
        place_band(target, i, from + (by_sample ? band * size : 0), (ptrdiff_t)pixel, &part);
    }
}

static void place_for_all(const tile_job *job, uint32_t tile_row, const uint8_t *samples,
                          uint32_t first, bool repeat)
{
    for (uint32_t i = 0; i < job->unit->count; i++)
        place_row(job, &job->plan->targets[job->wanted[i].target], tile_row, samples, first,
                  repeat);
}

/* Shorter stretches are better left to the cache. */
enum { LEAST_STREAMED = 512 };

/* The unit's first wanted pixel in row tile_row, where its rows are rows of the buffer. */
static uint8_t *place_in_buffer(const tile_job *job, uint32_t tile_row)
{
    const tz_target *target = job->target;
    return tz_buffer_at(&target->into, job->band, (int64_t)job->y + tile_row - target->row_shift,
                        (int64_t)job->x + job->unit->column0 - target->column_shift);
}

/* Rows that are the buffer's once they are prepared: straight to their place. */
static void move_rows(const tile_job *job, uint8_t *rows, uint32_t first, uint32_t count)
{
    const tz_target *target = job->target;
    const tz_unit *unit = job->unit;
    const size_t stride = tz_row_bytes(&target->row);
    const size_t pixel = tz_dtype_size(target->row.dtype) * target->row.samples;
    const size_t skipped = unit->column0 * pixel;
    const size_t wanted = (unit->column1 - unit->column0) * pixel;
    uint8_t *dst = place_in_buffer(job, first);
    uint8_t *own = skipped == 0 && !target->straight ? dst : NULL;
    const bool stream = target->stream && wanted >= LEAST_STREAMED;
    for (uint32_t i = 0; i < count; i++, rows += stride, dst += target->into.row_stride) {
        const uint8_t *samples = rows;
        if (!target->straight)
            samples = tz_row_prepare(&target->row, rows, unit->column1, own ? dst : job->w->row,
                                     job->w->scratch);
        if (!own)
            tz_row_copy(dst, samples + skipped, wanted, stream);
    }
    if (stream)
        tz_row_copy_end();
}

/* Rows of the tile as they were decoded, the first of them row number first. */
static void place_rows(const tile_job *job, uint8_t *rows, uint32_t first, uint32_t count)
{
    const tz_row_format *format = &job->target->row;
    const size_t stride = tz_row_bytes(format);
    if (job->band != NO_BAND) {
        move_rows(job, rows, first, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *samples = tz_row_prepare(format, rows + i * stride, job->unit->column1,
                                                job->w->row, job->w->scratch);
        place_for_all(job, first + i, samples, 0, false);
    }
}

/* ---- tiles without data ---- */

static void place_sample(const tile_job *job, const uint8_t *sample)
{
    for (uint32_t row = job->unit->row0; row < job->unit->row1; row++)
        place_for_all(job, row, sample, 0, true);
}

void tz_target_missing_sample(const tz_target *target, uint8_t *sample)
{
    const tz_nodata *nodata = &target->file->info.nodata;
    memset(sample, 0, 16);
    if (nodata->kind != TZ_NODATA_NONE && !target->layer.is_mask)
        tz_row_fill(target->row.dtype, nodata, sample, 0, 1);
}

static void place_missing(const tile_job *job)
{
    uint8_t sample[16];
    tz_target_missing_sample(job->target, sample);
    place_sample(job, sample);
}

static tz_result fail_short(const tile_job *job)
{
    const uint64_t needed = (uint64_t)job->unit->row1 * tz_row_bytes(&job->target->row);
    return tz_fail(&job->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                   tz_expecting(job->place, needed, job->wanted->span.size),
                   "the tile has too few bytes for its pixels");
}

tz_result tz_tile_check_empty(const tz_plan *plan, const tz_unit *unit, tz_error *err)
{
    const tile_job job = make_job(plan, NULL, unit, err);
    if (job.wanted->result != TZ_OK)
        return tz_fail(&job.ctx, (tz_result)job.wanted->result, (tz_cause)job.wanted->cause,
                       job.place, "the tile's entry in the table is wrong");
    return job.wanted->span.size > 0 ? fail_short(&job) : TZ_OK;
}

tz_result tz_tile_place_empty(const tz_plan *plan, tz_worker *worker, const tz_unit *unit,
                              tz_error *err)
{
    TZ_TRY(tz_tile_check_empty(plan, unit, err));
    const tile_job job = make_job(plan, worker, unit, err);
    place_missing(&job);
    return TZ_OK;
}

tz_result tz_unit_settle(tz_plan *plan, pthread_mutex_t *lock, const tz_unit *unit,
                         tz_result result, const tz_error *err)
{
    bool is_new;
    pthread_mutex_lock(lock);
    const bool noted = tz_unit_note(plan, unit, result, err->cause, &is_new);
    plan->report.tiles_failed += is_new;
    pthread_mutex_unlock(lock);
    return noted ? TZ_OK : result;
}

static void mask_row(const tz_target *target, const row_part *part)
{
    const tz_nodata invalid = {.kind = TZ_NODATA_NONE};
    for (uint32_t band = 0; band < target->band_count; band++)
        tz_row_fill(TZ_DTYPE_UINT8, &invalid,
                    tz_buffer_at(&target->mask, band, part->row, part->column),
                    (ptrdiff_t)target->mask.column_stride, part->count);
}

bool tz_target_tile_part(const tz_target *target, uint64_t tile, tz_window *out)
{
    const tz_level *level = &target->layer.shape;
    const uint64_t x = tile % level->tiles_across * level->tile_width;
    const uint64_t y = tile / level->tiles_across % level->tiles_down * level->tile_height;
    const uint64_t x0 = x > target->x0 ? x : target->x0;
    const uint64_t y0 = y > target->y0 ? y : target->y0;
    const uint64_t x1 = x + level->tile_width < target->x1 ? x + level->tile_width : target->x1;
    const uint64_t y1 = y + level->tile_height < target->y1 ? y + level->tile_height : target->y1;
    if (x0 >= x1 || y0 >= y1)
        return false;
    *out = (tz_window){(int64_t)x0, (int64_t)y0, (uint32_t)(x1 - x0), (uint32_t)(y1 - y0)};
    return true;
}

void tz_target_mask_tile(const tz_target *target, const tz_target *mask, uint64_t tile)
{
    tz_window window = {0};
    if (!tz_target_tile_part(target, tile, &window))
        return;
    for (uint32_t row = 0; row < window.height; row++) {
        const row_part part = {.x0 = (uint32_t)window.column,
                               .count = window.width,
                               .row = window.row + row - target->row_shift,
                               .column = window.column - target->column_shift};
        mask_row(mask, &part);
    }
}

void tz_tile_place_failed(const tz_plan *plan, tz_worker *worker, const tz_unit *unit)
{
    const tile_job job = make_job(plan, worker, unit, NULL);
    place_missing(&job);
    for (uint32_t i = 0; i < unit->count; i++) {
        const tz_target *target = &plan->targets[job.wanted[i].target];
        row_part part;
        for (uint32_t row = unit->row0; target->mask.data && row < unit->row1; row++) {
            if (find_part(&job, target, row, &part))
                mask_row(target, &part);
        }
    }
}

/* ---- decoding ---- */

/* Uncompressed: the bytes are those of the unit's rows and, when it is a single narrow one, of its
 * columns only. */
static void place_raw(const tile_job *job, uint8_t *bytes)
{
    const tz_target *target = job->target;
    const tz_unit *unit = job->unit;
    const size_t row_bytes = tz_row_bytes(&target->row);
    const size_t size = (size_t)tz_unit_piece(job->plan, unit).size;
    const bool turned = target->tile.fill_order == 2;
    if (turned)
        tz_codec_reverse_bits(bytes, size);
    if (size == row_bytes * (unit->row1 - unit->row0)) {
        place_rows(job, bytes, unit->row0, unit->row1 - unit->row0);
    } else {
        const uint8_t *samples = tz_row_prepare(&target->row, bytes, unit->column1 - unit->column0,
                                                job->w->row, job->w->scratch);
        place_for_all(job, unit->row0, samples, unit->column0, false);
    }
    if (turned)
        tz_codec_reverse_bits(bytes, size); /* another tile may have the same bytes */
}

/* Bytes behind the pixels of an uncompressed tile; its first part tells. */
static bool has_more(const tile_job *job)
{
    return job->wanted->part == 0 &&
           job->wanted->span.size > tz_layer_tile_bytes(&job->target->layer, job->wanted->tile);
}

static tz_result warn_of_more(const tile_job *job)
{
    const tz_codec_call call = {.ctx = &job->ctx, .place = job->place};
    const uint64_t needed = tz_layer_tile_bytes(&job->target->layer, job->wanted->tile);
    if (!has_more(job))
        return TZ_OK;
    return tz_codec_check_end(&call, (size_t)needed, (size_t)job->wanted->span.size);
}

/* A strip is cut at the lower edge of the image, a tile is not; some writers do the one or the
 * other all the same, and the codec is told. */
static tz_tile_format format_of(const tile_job *job)
{
    const tz_target *target = job->target;
    const tz_level *level = tz_target_stored_level(target);
    const uint32_t step = target->subsampled ? target->tile.subsampling[1] : 1;
    const uint32_t left =
        (uint32_t)tz_ceil_div(level->height - (job->y << target->reduction), step);
    tz_tile_format format = target->stored;
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

/* Where the whole tile may be decoded so that it need not be placed; NULL: nowhere. The codec may
 * write some bytes behind packed rows unless it says otherwise, and behind others not. */
static uint8_t *tile_in_buffer(const tile_job *job, const tz_tile_format *format)
{
    const tz_target *target = job->target;
    const unsigned needed = target->into.row_stride == (int64_t)tz_tile_row_bytes(format)
                                ? TZ_DECODER_NO_OVERRUN
                                : TZ_DECODER_ANY_STRIDE;
    const bool is_inside = target->x0 <= job->x && target->y0 <= job->y &&
                           (uint64_t)job->x + tz_tile_columns(format) <= target->x1 &&
                           (uint64_t)job->y + tz_tile_rows(format) <= target->y1;
    if (target->stream && target->codec->flags & TZ_DECODER_MEMORY_BOUND)
        return NULL; /* from the cache it can be written past the cache */
    if (!target->straight || !is_inside || target->subsampled || format->image_rows ||
        !(target->codec->flags & needed) || target->into.row_stride < 0 || job->band == NO_BAND)
        return NULL;
    return place_in_buffer(job, 0);
}

bool tz_tile_is_direct(const tz_plan *plan, const tz_unit *unit)
{
    const tile_job job = make_job(plan, NULL, unit, NULL);
    const tz_tile_format format = format_of(&job);
    return job.target->into.data && tile_in_buffer(&job, &format) != NULL;
}

static void place_subsampled(const tile_job *job)
{
    const tz_target *target = job->target;
    const uint16_t *step = target->tile.subsampling;
    const size_t stride = tz_tile_row_bytes(&target->stored);
    for (uint32_t row = job->unit->row0; row < job->unit->row1; row++) {
        tz_ycbcr_row(job->w->output + row / step[1] * stride, job->w->row, job->unit->column1,
                     step[0], step[1], row % step[1]);
        place_for_all(job, row, job->w->row, 0, false);
    }
}

static void place_decoded(const tile_job *job)
{
    const size_t stride = tz_row_bytes(&job->target->row);
    if (job->target->subsampled)
        place_subsampled(job);
    else
        place_rows(job, job->w->output + job->unit->row0 * stride, job->unit->row0,
                   job->unit->row1 - job->unit->row0);
    job->w->tiles_decoded++;
}

/* Decode the tile's bytes, with their bits as the codec wants them. */
static tz_result decode_to(const tile_job *job, const tz_tile_format *format, uint8_t *bytes,
                           uint8_t *out, size_t stride)
{
    const tz_decoder *codec = job->target->codec;
    const size_t size = (size_t)job->wanted->span.size;
    const tz_codec_call call = {.ctx = &job->ctx, .place = job->place};
    const bool turned = format->fill_order == 2 && !(codec->flags & TZ_DECODER_ANY_FILL_ORDER);
    if (turned)
        tz_codec_reverse_bits(bytes, size);
    const tz_result result = tz_decode_tile(codec, tz_worker_state(job->w, codec), format, bytes,
                                            size, out, stride, &call);
    if (turned)
        tz_codec_reverse_bits(bytes, size); /* another tile may have the same bytes */
    return result;
}

static tz_result decode(const tile_job *job, uint8_t *bytes)
{
    const tz_tile_format format = format_of(job);
    uint8_t *own = tile_in_buffer(job, &format);
    const size_t stride =
        own ? (size_t)job->target->into.row_stride : tz_tile_row_bytes(&job->target->stored);
    TZ_TRY(decode_to(job, &format, bytes, own ? own : job->w->output, stride));
    if (own)
        job->w->tiles_direct++;
    else
        place_decoded(job);
    return TZ_OK;
}

tz_result tz_tile_place(const tz_plan *plan, tz_worker *worker, const tz_unit *unit, uint8_t *bytes,
                        tz_error *err)
{
    const tile_job job = make_job(plan, worker, unit, err);
    if (!tz_target_is_raw(job.target))
        return decode(&job, bytes);
    place_raw(&job, bytes);
    return warn_of_more(&job);
}

/* ---- rows that someone else places ---- */

size_t tz_target_row_bytes(const tz_target *target)
{
    return target->subsampled ? tz_row_prepared_bytes(&target->row) : tz_row_bytes(&target->row);
}

tz_tile_format tz_unit_format(const tz_plan *plan, const tz_unit *unit)
{
    const tile_job job = make_job(plan, NULL, unit, NULL);
    return format_of(&job);
}

size_t tz_unit_decoded_bytes(const tz_plan *plan, const tz_unit *unit)
{
    const tz_tile_format format = tz_unit_format(plan, unit);
    return tz_tile_bytes(&format);
}

size_t tz_unit_rows_bytes(const tz_plan *plan, const tz_unit *unit)
{
    const tz_target *target = &plan->targets[plan->wave.wanted[unit->first].target];
    if (tz_target_is_raw(target))
        return (size_t)tz_unit_piece(plan, unit).size;
    return tz_target_row_bytes(target) * target->tile.height;
}

static void turn_subsampled(const tile_job *job, uint8_t *rows)
{
    const tz_target *target = job->target;
    const uint16_t *step = target->tile.subsampling;
    const size_t stride = tz_tile_row_bytes(&target->stored);
    for (uint32_t row = job->unit->row0; row < job->unit->row1; row++)
        tz_ycbcr_row(job->w->output + row / step[1] * stride,
                     rows + row * tz_target_row_bytes(target), job->unit->column1, step[0], step[1],
                     row % step[1]);
}

tz_result tz_tile_check_raw(const tz_plan *plan, tz_worker *worker, const tz_unit *unit,
                            tz_error *err)
{
    const tile_job job = make_job(plan, worker, unit, err);
    return warn_of_more(&job);
}

tz_result tz_tile_decode(const tz_plan *plan, tz_worker *worker, const tz_unit *unit,
                         uint8_t *bytes, uint8_t *rows, tz_error *err)
{
    const tile_job job = make_job(plan, worker, unit, err);
    const tz_target *target = job.target;
    if (tz_target_is_raw(target)) {
        const size_t size = (size_t)tz_unit_piece(plan, unit).size;
        memcpy(rows, bytes, size);
        if (target->tile.fill_order == 2)
            tz_codec_reverse_bits(rows, size);
        return warn_of_more(&job);
    }
    const tz_tile_format format = format_of(&job);
    uint8_t *out = target->subsampled ? worker->output : rows;
    TZ_TRY(decode_to(&job, &format, bytes, out, tz_tile_row_bytes(&target->stored)));
    if (target->subsampled)
        turn_subsampled(&job, rows);
    worker->tiles_decoded++;
    return TZ_OK;
}

/* ---- uncompressed neighbours ---- */

enum { MOST_JOINED = 16 };

/* Whether rows of the job's tile only have to be copied. */
static bool is_only_copied(const tile_job *job)
{
    const tz_target *target = job->target;
    return tz_target_is_raw(target) && target->straight && job->band != NO_BAND &&
           target->tile.fill_order != 2 && target->part_rows > 1;
}

/* Whether next lies right of job in the buffer, with the same rows. */
static bool is_beside(const tile_job *job, const tile_job *next)
{
    return next->target == job->target && next->y == job->y && next->plane == job->plane &&
           next->x == job->x + job->target->tile.width && next->unit->row0 == job->unit->row0 &&
           next->unit->row1 == job->unit->row1;
}

/* Row by row across all tiles: long stretches of the buffer are written one after the other. */
static void copy_joined(const tile_job *jobs, const uint8_t *const *bytes, size_t count)
{
    const tz_target *target = jobs[0].target;
    const size_t stride = tz_row_bytes(&target->row);
    const size_t pixel = tz_dtype_size(target->row.dtype) * target->row.samples;
    const uint32_t rows = jobs[0].unit->row1 - jobs[0].unit->row0;
    uint8_t *row = place_in_buffer(&jobs[0], jobs[0].unit->row0);
    const bool stream = target->stream && (stride >= LEAST_STREAMED || stride % 64 == 0);
    for (uint32_t i = 0; i < rows; i++, row += target->into.row_stride) {
        uint8_t *dst = row;
        for (size_t k = 0; k < count; k++) {
            const tz_unit *unit = jobs[k].unit;
            const size_t wanted = (unit->column1 - unit->column0) * pixel;
            tz_row_copy(dst, bytes[k] + i * stride + unit->column0 * pixel, wanted, stream);
            dst += wanted;
        }
    }
    if (stream)
        tz_row_copy_end();
}

uint8_t *tz_tiles_in_place(const tz_plan *plan, tz_worker *worker, const tz_span *fetch)
{
    const tz_indexed_range *pieces = &plan->wave.pieces[fetch->first];
    uint8_t *first = NULL;
    for (size_t i = 0; i < fetch->count; i++) {
        const tz_unit *unit = &plan->wave.units[pieces[i].index];
        const tile_job job = make_job(plan, worker, unit, NULL);
        const tz_target *target = job.target;
        const size_t row = tz_row_bytes(&target->row);
        if (!is_only_copied(&job) || unit->column0 != 0 || unit->column1 != target->tile.width ||
            target->into.row_stride != (int64_t)row || has_more(&job))
            return NULL;
        uint8_t *place = place_in_buffer(&job, unit->row0);
        if (i == 0)
            first = place;
        /* what is one piece of the file must be one piece of the buffer */
        if (place - first != (ptrdiff_t)(pieces[i].offset - fetch->offset))
            return NULL;
        if (i + 1 < fetch->count && pieces[i + 1].offset != pieces[i].offset + pieces[i].size)
            return NULL;
    }
    return first;
}

size_t tz_tile_place_joined(const tz_plan *plan, tz_worker *worker, const tz_indexed_range *pieces,
                            size_t count, const tz_span *fetch, tz_error *err)
{
    tile_job jobs[MOST_JOINED];
    const uint8_t *bytes[MOST_JOINED];
    size_t joined = 0;
    while (joined < count && joined < MOST_JOINED) {
        const tz_indexed_range *piece = &pieces[joined];
        jobs[joined] = make_job(plan, worker, &plan->wave.units[piece->index], err);
        bytes[joined] = worker->input + (piece->offset - fetch->offset);
        if (!is_only_copied(&jobs[joined]) || warn_of_more(&jobs[joined]) != TZ_OK ||
            (joined > 0 && !is_beside(&jobs[joined - 1], &jobs[joined])))
            break;
        joined++;
    }
    if (joined > 1)
        copy_joined(jobs, bytes, joined);
    return joined > 1 ? joined : 0;
}

/* ---- boundless ---- */

static void fill_part(const tz_target *target, uint32_t band, const uint8_t *sample, uint32_t row,
                      uint32_t column, uint32_t count)
{
    const tz_nodata invalid = {.kind = TZ_NODATA_NONE};
    const tz_conversion as_is = {.from = target->into.dtype, .to = target->into.dtype};
    if (count > 0 && !target->to_mask && target->into.data)
        tz_row_convert(&as_is, sample, 0, tz_buffer_at(&target->into, band, row, column),
                       (ptrdiff_t)target->into.column_stride, count, NULL, 0);
    if (count > 0 && target->mask.data)
        tz_row_fill(TZ_DTYPE_UINT8, &invalid, tz_buffer_at(&target->mask, band, row, column),
                    (ptrdiff_t)target->mask.column_stride, count);
}

/* Whole rows, and both ends of the others. */
static void fill_band(const tz_target *target, uint32_t band, const uint8_t *sample)
{
    const int64_t width = target->into.width;
    for (uint32_t row = 0; row < target->into.height; row++) {
        const int64_t level_row = (int64_t)row + target->row_shift;
        const bool inside = level_row >= target->y0 && level_row < target->y1;
        const int64_t left = inside ? (int64_t)target->x0 - target->column_shift : width;
        const int64_t right = inside ? (int64_t)target->x1 - target->column_shift : width;
        fill_part(target, band, sample, row, 0, (uint32_t)left);
        fill_part(target, band, sample, row, (uint32_t)right, (uint32_t)(width - right));
    }
}

void tz_target_fill_outside(const tz_target *target, const tz_read_options *options)
{
    uint8_t sample[16];
    for (uint32_t band = 0; band < target->band_count; band++) {
        const tz_conversion how = tz_placement_of_band(&target->how, target->scales, band);
        tz_outside_sample(&how, options, sample);
        fill_band(target, band, sample);
    }
}
