/* SPDX-License-Identifier: Apache-2.0 */
#include "read/tile.h"

#include <string.h>

#include "base/mem.h"
#include "kernels/ycbcr.h"

/* ---- placing ---- */

typedef struct tile_job {
    const tz_plan *plan;
    tz_worker *w;
    const tz_tile_read *tile_read;
    const tz_wanted_tile *wanted;      /* the same tile, once for each target */
    const tz_planned_request *request; /* the first of them: what the tile is */
    uint32_t x, y;                     /* of its first pixel in the level */
    uint32_t plane;
    uint32_t band; /* of the first target: the only one that rows of the tile go to, when they can
                      be copied; NO_BAND: none */
    tz_context ctx;
    tz_location place;
} tile_job;

#define NO_BAND UINT32_MAX

/* Prepared rows of the target are rows of its buffer: of which band? */
static uint32_t only_band(const tz_planned_request *request, uint32_t plane)
{
    uint32_t found = NO_BAND;
    if (!request->same_rows)
        return NO_BAND;
    if (!request->planes)
        return 0;
    for (uint32_t i = 0; i < request->band_count; i++) {
        if ((request->bands ? request->bands[i] : i) != plane)
            continue;
        if (found != NO_BAND)
            return NO_BAND;
        found = i;
    }
    return found;
}

tz_tile_origin tz_tile_read_origin(const tz_plan *plan, const tz_tile_read *tile_read)
{
    const tz_wanted_tile *wanted = &plan->wave.wanted[tile_read->first];
    const tz_level *level = &plan->requests[wanted->request].layer.shape;
    const uint64_t row = wanted->tile / level->tiles_across;
    return (tz_tile_origin){(uint32_t)(wanted->tile % level->tiles_across) * level->tile_width,
                            (uint32_t)(row % level->tiles_down) * level->tile_height,
                            (uint32_t)(row / level->tiles_down)};
}

static tile_job make_tile_job(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                              tz_error *err)
{
    const tz_wanted_tile *wanted = &plan->wave.wanted[tile_read->first];
    const tz_planned_request *request = &plan->requests[wanted->request];
    const tz_level *level = &request->layer.shape;
    const tz_tile_origin origin = tz_tile_read_origin(plan, tile_read);
    tile_job job = {
        .plan = plan, .w = worker, .tile_read = tile_read, .wanted = wanted, .request = request};
    job.x = origin.x;
    job.y = origin.y;
    job.plane = origin.plane;
    job.band = tile_read->count == 1 ? only_band(request, job.plane) : NO_BAND;
    job.ctx = tz_file_context(request->file, err);
    job.ctx.ifd = level->ifd;
    job.ctx.warnings = worker ? &worker->warnings : NULL;
    job.place = tz_at_tile(request->level, wanted->tile, wanted->span.offset);
    return job;
}

/* The part of a row that one target wants. */
typedef struct row_segment {
    uint32_t x0, count;  /* in the level */
    int64_t row, column; /* in the buffer */
} row_segment;

static bool find_segment(const tile_job *job, const tz_planned_request *request, uint32_t tile_row,
                         row_segment *out)
{
    const uint64_t level_row = (uint64_t)job->y + tile_row;
    if (level_row < request->y0 || level_row >= request->y1)
        return false;
    const uint32_t x0 = job->x > request->x0 ? job->x : request->x0;
    const uint64_t tile_end = (uint64_t)job->x + request->tile.width;
    const uint32_t x1 = tile_end < request->x1 ? (uint32_t)tile_end : request->x1;
    *out = (row_segment){.x0 = x0,
                         .count = x1 - x0,
                         .row = (int64_t)level_row - request->row_shift,
                         .column = (int64_t)x0 - request->column_shift};
    return true;
}

/* A sample that is 0 makes the pixel invalid in every band. */
static void store_mask_row(const tz_planned_request *request, const uint8_t *samples,
                           ptrdiff_t step, const row_segment *segment)
{
    for (uint32_t band = 0; band < request->band_count; band++)
        tz_row_convert(&request->how, samples, step, NULL, 0, segment->count,
                       tz_buffer_at(&request->mask, band, segment->row, segment->column),
                       (ptrdiff_t)request->mask.column_stride);
}

static void store_band_row(const tz_planned_request *request, uint32_t band, const uint8_t *samples,
                           ptrdiff_t step, const row_segment *segment)
{
    const tz_conversion how = tz_conversion_of_band(&request->how, request->scales, band);
    uint8_t *mask = request->mask.data
                        ? tz_buffer_at(&request->mask, band, segment->row, segment->column)
                        : NULL;
    tz_row_convert(&how, samples, step,
                   tz_buffer_at(&request->into, band, segment->row, segment->column),
                   (ptrdiff_t)request->into.column_stride, segment->count, mask,
                   (ptrdiff_t)request->mask.column_stride);
}

/* Samples of a prepared row, which starts at the unit's column first; or, with repeat, the same
 * sample everywhere. */
static void store_tile_row(const tile_job *job, const tz_planned_request *request,
                           uint32_t tile_row, const uint8_t *samples, uint32_t first, bool repeat)
{
    row_segment segment;
    if (!find_segment(job, request, tile_row, &segment))
        return;
    const size_t size = tz_dtype_size(request->row.dtype);
    const size_t pixel = repeat ? 0 : size * request->row.samples;
    const uint8_t *from = samples + (segment.x0 - job->x - first) * pixel;
    const bool by_sample = !request->planes && !repeat;
    if (request->to_mask) {
        store_mask_row(request, from + (by_sample ? request->mask_sample * size : 0),
                       (ptrdiff_t)pixel, &segment);
        return;
    }
    for (uint32_t i = 0; i < request->band_count; i++) {
        const uint32_t band = request->bands ? request->bands[i] : i;
        if (request->planes && band != job->plane)
            continue;
        store_band_row(request, i, from + (by_sample ? band * size : 0), (ptrdiff_t)pixel,
                       &segment);
    }
}

static void store_row_for_all(const tile_job *job, uint32_t tile_row, const uint8_t *samples,
                              uint32_t first, bool repeat)
{
    for (uint32_t i = 0; i < job->tile_read->count; i++)
        store_tile_row(job, &job->plan->requests[job->wanted[i].request], tile_row, samples, first,
                       repeat);
}

/* Shorter stretches are better left to the cache. */
enum { MIN_STREAMED_BYTES = 512 };

/* The unit's first wanted pixel in row tile_row, where its rows are rows of the buffer. */
static uint8_t *pixel_in_buffer(const tile_job *job, uint32_t tile_row)
{
    const tz_planned_request *request = job->request;
    return tz_buffer_at(&request->into, job->band, (int64_t)job->y + tile_row - request->row_shift,
                        (int64_t)job->x + job->tile_read->column0 - request->column_shift);
}

/* Rows that are the buffer's once they are prepared: straight to their place. */
static void store_rows_in_place(const tile_job *job, uint8_t *rows, uint32_t first, uint32_t count)
{
    const tz_planned_request *request = job->request;
    const tz_tile_read *tile_read = job->tile_read;
    const size_t stride = tz_row_bytes(&request->row);
    const size_t pixel = tz_dtype_size(request->row.dtype) * request->row.samples;
    const size_t skipped = tile_read->column0 * pixel;
    const size_t wanted = (tile_read->column1 - tile_read->column0) * pixel;
    uint8_t *dst = pixel_in_buffer(job, first);
    uint8_t *own = skipped == 0 && !request->straight ? dst : NULL;
    const bool stream = request->stream && wanted >= MIN_STREAMED_BYTES;
    for (uint32_t i = 0; i < count; i++, rows += stride, dst += request->into.row_stride) {
        const uint8_t *samples = rows;
        if (!request->straight)
            samples = tz_row_prepare(&request->row, rows, tile_read->column1,
                                     own ? dst : job->w->row, job->w->scratch);
        if (!own)
            tz_row_copy(dst, samples + skipped, wanted, stream);
    }
    if (stream)
        tz_row_copy_end();
}

/* Rows of the tile as they were decoded, the first of them row number first. */
static void store_rows(const tile_job *job, uint8_t *rows, uint32_t first, uint32_t count)
{
    const tz_row_format *format = &job->request->row;
    const size_t stride = tz_row_bytes(format);
    if (job->band != NO_BAND) {
        store_rows_in_place(job, rows, first, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *samples = tz_row_prepare(format, rows + i * stride, job->tile_read->column1,
                                                job->w->row, job->w->scratch);
        store_row_for_all(job, first + i, samples, 0, false);
    }
}

/* ---- tiles without data ---- */

static void store_constant(const tile_job *job, const uint8_t *sample)
{
    for (uint32_t row = job->tile_read->row0; row < job->tile_read->row1; row++)
        store_row_for_all(job, row, sample, 0, true);
}

void tz_planned_request_missing_sample(const tz_planned_request *request, uint8_t *sample)
{
    const tz_nodata *nodata = &request->file->info.nodata;
    memset(sample, 0, 16);
    if (nodata->kind != TZ_NODATA_NONE && !request->layer.is_mask)
        tz_row_fill(request->row.dtype, nodata, sample, 0, 1);
}

static void store_missing(const tile_job *job)
{
    uint8_t sample[16];
    tz_planned_request_missing_sample(job->request, sample);
    store_constant(job, sample);
}

static tz_result fail_short_tile(const tile_job *job)
{
    const uint64_t needed = (uint64_t)job->tile_read->row1 * tz_row_bytes(&job->request->row);
    return tz_fail(&job->ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                   tz_expecting(job->place, needed, job->wanted->span.size),
                   "the tile has too few bytes for its pixels");
}

tz_result tz_tile_check_empty(const tz_plan *plan, const tz_tile_read *tile_read, tz_error *err)
{
    const tile_job job = make_tile_job(plan, NULL, tile_read, err);
    if (job.wanted->result != TZ_OK)
        return tz_fail(&job.ctx, (tz_result)job.wanted->result, (tz_cause)job.wanted->cause,
                       job.place, "the tile's entry in the table is wrong");
    return job.wanted->span.size > 0 ? fail_short_tile(&job) : TZ_OK;
}

tz_result tz_tile_store_empty(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                              tz_error *err)
{
    TZ_TRY(tz_tile_check_empty(plan, tile_read, err));
    const tile_job job = make_tile_job(plan, worker, tile_read, err);
    store_missing(&job);
    return TZ_OK;
}

tz_result tz_tile_read_record_failure(tz_plan *plan, pthread_mutex_t *lock,
                                      const tz_tile_read *tile_read, tz_result result,
                                      const tz_error *err)
{
    bool is_new;
    pthread_mutex_lock(lock);
    const bool noted = tz_tile_read_mark_failed(plan, tile_read, result, err->cause, &is_new);
    plan->report.tiles_failed += is_new;
    pthread_mutex_unlock(lock);
    return noted ? TZ_OK : result;
}

static void mask_row(const tz_planned_request *request, const row_segment *segment)
{
    const tz_nodata invalid = {.kind = TZ_NODATA_NONE};
    for (uint32_t band = 0; band < request->band_count; band++)
        tz_row_fill(TZ_DTYPE_UINT8, &invalid,
                    tz_buffer_at(&request->mask, band, segment->row, segment->column),
                    (ptrdiff_t)request->mask.column_stride, segment->count);
}

bool tz_planned_request_tile_window(const tz_planned_request *request, uint64_t tile,
                                    tz_window *out)
{
    const tz_level *level = &request->layer.shape;
    const uint64_t x = tile % level->tiles_across * level->tile_width;
    const uint64_t y = tile / level->tiles_across % level->tiles_down * level->tile_height;
    const uint64_t x0 = x > request->x0 ? x : request->x0;
    const uint64_t y0 = y > request->y0 ? y : request->y0;
    const uint64_t x1 = x + level->tile_width < request->x1 ? x + level->tile_width : request->x1;
    const uint64_t y1 = y + level->tile_height < request->y1 ? y + level->tile_height : request->y1;
    if (x0 >= x1 || y0 >= y1)
        return false;
    *out = (tz_window){(int64_t)x0, (int64_t)y0, (uint32_t)(x1 - x0), (uint32_t)(y1 - y0)};
    return true;
}

void tz_planned_request_mask_tile(const tz_planned_request *request, const tz_planned_request *mask,
                                  uint64_t tile)
{
    tz_window window = {0};
    if (!tz_planned_request_tile_window(request, tile, &window))
        return;
    for (uint32_t row = 0; row < window.height; row++) {
        const row_segment segment = {.x0 = (uint32_t)window.column,
                                     .count = window.width,
                                     .row = window.row + row - request->row_shift,
                                     .column = window.column - request->column_shift};
        mask_row(mask, &segment);
    }
}

void tz_tile_store_failed(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read)
{
    const tile_job job = make_tile_job(plan, worker, tile_read, NULL);
    store_missing(&job);
    for (uint32_t i = 0; i < tile_read->count; i++) {
        const tz_planned_request *request = &plan->requests[job.wanted[i].request];
        row_segment segment;
        for (uint32_t row = tile_read->row0; request->mask.data && row < tile_read->row1; row++) {
            if (find_segment(&job, request, row, &segment))
                mask_row(request, &segment);
        }
    }
}

/* ---- decoding ---- */

/* Uncompressed: the bytes are those of the unit's rows and, when it is a single narrow one, of its
 * columns only. */
static void store_raw(const tile_job *job, uint8_t *bytes)
{
    const tz_planned_request *request = job->request;
    const tz_tile_read *tile_read = job->tile_read;
    const size_t row_bytes = tz_row_bytes(&request->row);
    const size_t size = (size_t)tz_tile_read_range(job->plan, tile_read).size;
    const bool reversed = request->tile.fill_order == 2;
    if (reversed)
        tz_codec_reverse_bits(bytes, size);
    if (size == row_bytes * (tile_read->row1 - tile_read->row0)) {
        store_rows(job, bytes, tile_read->row0, tile_read->row1 - tile_read->row0);
    } else {
        const uint8_t *samples =
            tz_row_prepare(&request->row, bytes, tile_read->column1 - tile_read->column0,
                           job->w->row, job->w->scratch);
        store_row_for_all(job, tile_read->row0, samples, tile_read->column0, false);
    }
    if (reversed)
        tz_codec_reverse_bits(bytes, size); /* another tile may have the same bytes */
}

/* Bytes behind the pixels of an uncompressed tile; its first part tells. */
static bool has_extra_bytes(const tile_job *job)
{
    return job->wanted->row_range == 0 &&
           job->wanted->span.size > tz_layer_tile_bytes(&job->request->layer, job->wanted->tile);
}

static tz_result warn_extra_bytes(const tile_job *job)
{
    const tz_codec_call call = {.ctx = &job->ctx, .location = job->place};
    const uint64_t needed = tz_layer_tile_bytes(&job->request->layer, job->wanted->tile);
    if (!has_extra_bytes(job))
        return TZ_OK;
    return tz_codec_check_end(&call, (size_t)needed, (size_t)job->wanted->span.size);
}

/* A strip is cut at the lower edge of the image, a tile is not; some writers do the one or the
 * other all the same, and the codec is told. */
static tz_tile_format codec_format(const tile_job *job)
{
    const tz_planned_request *request = job->request;
    const tz_level *level = tz_planned_request_stored_level(request);
    const uint32_t step = request->subsampled ? request->tile.subsampling[1] : 1;
    const uint32_t left =
        (uint32_t)tz_ceil_div(level->height - (job->y << request->reduction), step);
    tz_tile_format format = request->stored;
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
    const tz_planned_request *request = job->request;
    const unsigned needed = request->into.row_stride == (int64_t)tz_tile_row_bytes(format)
                                ? TZ_DECODER_NO_OVERRUN
                                : TZ_DECODER_ANY_STRIDE;
    const bool is_inside = request->x0 <= job->x && request->y0 <= job->y &&
                           (uint64_t)job->x + tz_tile_columns(format) <= request->x1 &&
                           (uint64_t)job->y + tz_tile_rows(format) <= request->y1;
    if (request->stream && request->codec->flags & TZ_DECODER_MEMORY_BOUND)
        return NULL; /* from the cache it can be written past the cache */
    if (!request->straight || !is_inside || request->subsampled || format->image_rows ||
        !(request->codec->flags & needed) || request->into.row_stride < 0 || job->band == NO_BAND)
        return NULL;
    return pixel_in_buffer(job, 0);
}

bool tz_tile_is_direct(const tz_plan *plan, const tz_tile_read *tile_read)
{
    const tile_job job = make_tile_job(plan, NULL, tile_read, NULL);
    const tz_tile_format format = codec_format(&job);
    return job.request->into.data && tile_in_buffer(&job, &format) != NULL;
}

static void store_subsampled(const tile_job *job)
{
    const tz_planned_request *request = job->request;
    const uint16_t *step = request->tile.subsampling;
    const size_t stride = tz_tile_row_bytes(&request->stored);
    for (uint32_t row = job->tile_read->row0; row < job->tile_read->row1; row++) {
        tz_ycbcr_row(job->w->output + row / step[1] * stride, job->w->row, job->tile_read->column1,
                     step[0], step[1], row % step[1]);
        store_row_for_all(job, row, job->w->row, 0, false);
    }
}

static void store_decoded(const tile_job *job)
{
    const size_t stride = tz_row_bytes(&job->request->row);
    if (job->request->subsampled)
        store_subsampled(job);
    else
        store_rows(job, job->w->output + job->tile_read->row0 * stride, job->tile_read->row0,
                   job->tile_read->row1 - job->tile_read->row0);
    job->w->tiles_decoded++;
}

/* Decode the tile's bytes, with their bits as the codec wants them. */
static tz_result decode_tile_bytes(const tile_job *job, const tz_tile_format *format,
                                   uint8_t *bytes, uint8_t *out, size_t stride)
{
    const tz_decoder *codec = job->request->codec;
    const size_t size = (size_t)job->wanted->span.size;
    const tz_codec_call call = {.ctx = &job->ctx, .location = job->place};
    const bool reversed = format->fill_order == 2 && !(codec->flags & TZ_DECODER_ANY_FILL_ORDER);
    if (reversed)
        tz_codec_reverse_bits(bytes, size);
    const tz_result result = tz_decode_tile(codec, tz_worker_state(job->w, codec), format, bytes,
                                            size, out, stride, &call);
    if (reversed)
        tz_codec_reverse_bits(bytes, size); /* another tile may have the same bytes */
    return result;
}

static tz_result decode_and_store(const tile_job *job, uint8_t *bytes)
{
    const tz_tile_format format = codec_format(job);
    uint8_t *own = tile_in_buffer(job, &format);
    const size_t stride =
        own ? (size_t)job->request->into.row_stride : tz_tile_row_bytes(&job->request->stored);
    TZ_TRY(decode_tile_bytes(job, &format, bytes, own ? own : job->w->output, stride));
    if (own)
        job->w->tiles_direct++;
    else
        store_decoded(job);
    return TZ_OK;
}

tz_result tz_tile_store(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                        uint8_t *bytes, tz_error *err)
{
    const tile_job job = make_tile_job(plan, worker, tile_read, err);
    if (!tz_planned_request_is_raw(job.request))
        return decode_and_store(&job, bytes);
    store_raw(&job, bytes);
    return warn_extra_bytes(&job);
}

/* ---- rows that someone else places ---- */

size_t tz_planned_request_row_bytes(const tz_planned_request *request)
{
    return request->subsampled ? tz_row_prepared_bytes(&request->row) : tz_row_bytes(&request->row);
}

tz_tile_format tz_tile_read_format(const tz_plan *plan, const tz_tile_read *tile_read)
{
    const tile_job job = make_tile_job(plan, NULL, tile_read, NULL);
    return codec_format(&job);
}

size_t tz_tile_read_decoded_bytes(const tz_plan *plan, const tz_tile_read *tile_read)
{
    const tz_tile_format format = tz_tile_read_format(plan, tile_read);
    return tz_tile_bytes(&format);
}

size_t tz_tile_read_rows_bytes(const tz_plan *plan, const tz_tile_read *tile_read)
{
    const tz_planned_request *request =
        &plan->requests[plan->wave.wanted[tile_read->first].request];
    if (tz_planned_request_is_raw(request))
        return (size_t)tz_tile_read_range(plan, tile_read).size;
    return tz_planned_request_row_bytes(request) * request->tile.height;
}

static void convert_subsampled(const tile_job *job, uint8_t *rows)
{
    const tz_planned_request *request = job->request;
    const uint16_t *step = request->tile.subsampling;
    const size_t stride = tz_tile_row_bytes(&request->stored);
    for (uint32_t row = job->tile_read->row0; row < job->tile_read->row1; row++)
        tz_ycbcr_row(job->w->output + row / step[1] * stride,
                     rows + row * tz_planned_request_row_bytes(request), job->tile_read->column1,
                     step[0], step[1], row % step[1]);
}

tz_result tz_tile_check_raw(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                            tz_error *err)
{
    const tile_job job = make_tile_job(plan, worker, tile_read, err);
    return warn_extra_bytes(&job);
}

tz_result tz_tile_decode(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                         uint8_t *bytes, uint8_t *rows, tz_error *err)
{
    const tile_job job = make_tile_job(plan, worker, tile_read, err);
    const tz_planned_request *request = job.request;
    if (tz_planned_request_is_raw(request)) {
        const size_t size = (size_t)tz_tile_read_range(plan, tile_read).size;
        memcpy(rows, bytes, size);
        if (request->tile.fill_order == 2)
            tz_codec_reverse_bits(rows, size);
        return warn_extra_bytes(&job);
    }
    const tz_tile_format format = codec_format(&job);
    uint8_t *out = request->subsampled ? worker->output : rows;
    TZ_TRY(decode_tile_bytes(&job, &format, bytes, out, tz_tile_row_bytes(&request->stored)));
    if (request->subsampled)
        convert_subsampled(&job, rows);
    worker->tiles_decoded++;
    return TZ_OK;
}

/* ---- uncompressed neighbours ---- */

enum { MAX_JOINED = 16 };

/* Whether rows of the job's tile only have to be copied. */
static bool is_only_copied(const tile_job *job)
{
    const tz_planned_request *request = job->request;
    return tz_planned_request_is_raw(request) && request->straight && job->band != NO_BAND &&
           request->tile.fill_order != 2 && request->row_range_height > 1;
}

/* Whether next lies right of job in the buffer, with the same rows. */
static bool is_beside(const tile_job *job, const tile_job *next)
{
    return next->request == job->request && next->y == job->y && next->plane == job->plane &&
           next->x == job->x + job->request->tile.width &&
           next->tile_read->row0 == job->tile_read->row0 &&
           next->tile_read->row1 == job->tile_read->row1;
}

/* Row by row across all tiles: long stretches of the buffer are written one after the other. */
static void copy_joined(const tile_job *jobs, const uint8_t *const *bytes, size_t count)
{
    const tz_planned_request *request = jobs[0].request;
    const size_t stride = tz_row_bytes(&request->row);
    const size_t pixel = tz_dtype_size(request->row.dtype) * request->row.samples;
    const uint32_t rows = jobs[0].tile_read->row1 - jobs[0].tile_read->row0;
    uint8_t *row = pixel_in_buffer(&jobs[0], jobs[0].tile_read->row0);
    const bool stream = request->stream && (stride >= MIN_STREAMED_BYTES || stride % 64 == 0);
    for (uint32_t i = 0; i < rows; i++, row += request->into.row_stride) {
        uint8_t *dst = row;
        for (size_t k = 0; k < count; k++) {
            const tz_tile_read *tile_read = jobs[k].tile_read;
            const size_t wanted = (tile_read->column1 - tile_read->column0) * pixel;
            tz_row_copy(dst, bytes[k] + i * stride + tile_read->column0 * pixel, wanted, stream);
            dst += wanted;
        }
    }
    if (stream)
        tz_row_copy_end();
}

uint8_t *tz_fetch_destination(const tz_plan *plan, tz_worker *worker, const tz_span *fetch)
{
    const tz_indexed_range *ranges = &plan->wave.ranges[fetch->first];
    uint8_t *first = NULL;
    for (size_t i = 0; i < fetch->count; i++) {
        const tz_tile_read *tile_read = &plan->wave.tile_reads[ranges[i].index];
        const tile_job job = make_tile_job(plan, worker, tile_read, NULL);
        const tz_planned_request *request = job.request;
        const size_t row = tz_row_bytes(&request->row);
        if (!is_only_copied(&job) || tile_read->column0 != 0 ||
            tile_read->column1 != request->tile.width || request->into.row_stride != (int64_t)row ||
            has_extra_bytes(&job))
            return NULL;
        uint8_t *place = pixel_in_buffer(&job, tile_read->row0);
        if (i == 0)
            first = place;
        /* what is one piece of the file must be one piece of the buffer */
        if (place - first != (ptrdiff_t)(ranges[i].offset - fetch->offset))
            return NULL;
        if (i + 1 < fetch->count && ranges[i + 1].offset != ranges[i].offset + ranges[i].size)
            return NULL;
    }
    return first;
}

size_t tz_tile_store_joined(const tz_plan *plan, tz_worker *worker, const tz_indexed_range *ranges,
                            size_t count, const tz_span *fetch, tz_error *err)
{
    tile_job jobs[MAX_JOINED];
    const uint8_t *bytes[MAX_JOINED];
    size_t joined = 0;
    while (joined < count && joined < MAX_JOINED) {
        const tz_indexed_range *range = &ranges[joined];
        jobs[joined] = make_tile_job(plan, worker, &plan->wave.tile_reads[range->index], err);
        bytes[joined] = worker->input + (range->offset - fetch->offset);
        if (!is_only_copied(&jobs[joined]) || warn_extra_bytes(&jobs[joined]) != TZ_OK ||
            (joined > 0 && !is_beside(&jobs[joined - 1], &jobs[joined])))
            break;
        joined++;
    }
    if (joined > 1)
        copy_joined(jobs, bytes, joined);
    return joined > 1 ? joined : 0;
}

/* ---- boundless ---- */

static void fill_row_outside(const tz_planned_request *request, uint32_t band,
                             const uint8_t *sample, uint32_t row, uint32_t column, uint32_t count)
{
    const tz_nodata invalid = {.kind = TZ_NODATA_NONE};
    const tz_conversion as_is = {.from = request->into.dtype, .to = request->into.dtype};
    if (count > 0 && !request->to_mask && request->into.data)
        tz_row_convert(&as_is, sample, 0, tz_buffer_at(&request->into, band, row, column),
                       (ptrdiff_t)request->into.column_stride, count, NULL, 0);
    if (count > 0 && request->mask.data)
        tz_row_fill(TZ_DTYPE_UINT8, &invalid, tz_buffer_at(&request->mask, band, row, column),
                    (ptrdiff_t)request->mask.column_stride, count);
}

/* Whole rows, and both ends of the others. */
static void fill_band_outside(const tz_planned_request *request, uint32_t band,
                              const uint8_t *sample)
{
    const int64_t width = request->into.width;
    for (uint32_t row = 0; row < request->into.height; row++) {
        const int64_t level_row = (int64_t)row + request->row_shift;
        const bool inside = level_row >= request->y0 && level_row < request->y1;
        const int64_t left = inside ? (int64_t)request->x0 - request->column_shift : width;
        const int64_t right = inside ? (int64_t)request->x1 - request->column_shift : width;
        fill_row_outside(request, band, sample, row, 0, (uint32_t)left);
        fill_row_outside(request, band, sample, row, (uint32_t)right, (uint32_t)(width - right));
    }
}

void tz_planned_request_fill_outside(const tz_planned_request *request,
                                     const tz_read_options *options)
{
    uint8_t sample[16];
    for (uint32_t band = 0; band < request->band_count; band++) {
        const tz_conversion how = tz_conversion_of_band(&request->how, request->scales, band);
        tz_outside_sample(&how, options, sample);
        fill_band_outside(request, band, sample);
    }
}
