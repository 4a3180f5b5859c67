/* SPDX-License-Identifier: Apache-2.0
 * One tile on the CPU. Its bytes are decoded to rows, a row is prepared (byte order, predictor,
 * whole samples), and the part of the row that each request wants is converted into its buffer:
 *
 *   bytes -codec-> rows -tz_row_prepare-> samples -tz_row_convert-> buffer and mask
 *
 * Steps that would only copy are left out: a codec may decode straight into the buffer
 * (tile_in_buffer), rows may be prepared there (store_rows_in_place), uncompressed neighbours are
 * copied row by row across tiles (tz_tile_store_joined), and a whole fetch may be read to its
 * destination (tz_fetch_destination).
 *
 * The decision that is not obvious: a tile is decoded once and its rows are then handed to every
 * request that wants it, so that the shortcuts apply only if a single request does. All memory is
 * the worker's; no tile allocates. */
#include "read/tile.h"

#include <string.h>

#include "base/mem.h"

/* ---- workers ---- */

static size_t codec_index(const tz_decoder *codec)
{
    size_t index = 0;
    while (tz_codecs[index].decoder != codec)
        index++;
    return index;
}

/* Buffers begin at multiples of 64 bytes and have slack after them, as codecs write in wide steps.
 * A codec's state is made once, however many requests use it. A failure leaves the rest zeroed, for
 * tz_workers_deinit. */
tz_result tz_workers_init(tz_workers *workers, const tz_plan *plan)
{
    size_t size = 64; /* for aligning the first buffer */
    const size_t input = tz_codec_buffer_offset(&size, tz_plan_input_bytes(plan));
    const size_t output = tz_codec_buffer_offset(&size, plan->output_size);
    const size_t row = tz_codec_buffer_offset(&size, plan->row_size);
    const size_t scratch = tz_codec_buffer_offset(&size, plan->scratch_size);
    workers->list = tz_alloc_zeroed(plan->threads, sizeof *workers->list);
    if (!workers->list)
        return tz_fail_nomem(&plan->ctx, plan->threads * sizeof *workers->list);
    workers->count = plan->threads;
    for (unsigned k = 0; k < workers->count; k++) {
        tz_worker *worker = &workers->list[k];
        worker->memory = tz_alloc(size);
        if (!worker->memory)
            return tz_fail_nomem(&plan->ctx, size);
        uint8_t *base = worker->memory + (64 - (uintptr_t)worker->memory % 64) % 64;
        worker->input = base + input - 64;
        worker->output = base + output - 64;
        worker->row = base + row - 64;
        worker->scratch = base + scratch - 64;
        for (size_t i = 0; i < plan->request_count; i++) {
            const tz_decoder *codec = plan->requests[i].codec;
            void **state = &worker->states[codec_index(codec)];
            if (*state || codec->state_size == 0)
                continue;
            *state = tz_alloc_zeroed(1, codec->state_size);
            if (!*state)
                return tz_fail_nomem(&plan->ctx, codec->state_size);
            if (codec->init)
                TZ_TRY(codec->init(*state, &plan->ctx));
        }
    }
    return TZ_OK;
}

void tz_workers_deinit(tz_workers *workers)
{
    for (unsigned i = 0; i < workers->count; i++) {
        tz_worker *worker = &workers->list[i];
        for (size_t c = 0; c < TZ_CODEC_COUNT; c++) {
            if (worker->states[c] && tz_codecs[c].decoder->deinit)
                tz_codecs[c].decoder->deinit(worker->states[c]);
            tz_free(worker->states[c]);
        }
        tz_warnings_deinit(&worker->warnings);
        tz_free(worker->memory);
    }
    tz_free(workers->list);
}

/* ---- one tile ---- */

typedef struct tile_job {
    const tz_plan *plan;
    tz_worker *w;
    const tz_tile_read *tile_read;
    const tz_wanted_tile *wanted;      /* the same tile, one entry for each request */
    const tz_planned_request *request; /* the first of them: it describes the tile */
    uint32_t x, y;                     /* of its first pixel in the level */
    uint32_t plane;
    /* of the only request: the band of the buffer that rows of the tile can be copied to; NO_BAND:
     * none */
    uint32_t band;
    tz_context ctx;
    tz_location location;
} tile_job;

#define NO_BAND UINT32_MAX

/* worker and err may be NULL if nothing is decoded, as for questions while a plan is made. The job
 * is on the stack of its thread and points into the wave, which does not change while tiles run. */
static tile_job make_tile_job(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                              tz_error *err)
{
    const tz_wanted_tile *wanted = tz_tile_read_wanted(&plan->wave, tile_read, 0);
    const tz_planned_request *request = &plan->requests[wanted->request];
    const tz_tile_origin origin = tz_tile_read_origin(&plan->wave, tile_read);
    tile_job job = {.plan = plan,
                    .w = worker,
                    .tile_read = tile_read,
                    .wanted = wanted,
                    .request = request,
                    .x = origin.x,
                    .y = origin.y,
                    .plane = origin.plane,
                    .band = NO_BAND,
                    .ctx = tz_file_context(request->file, err),
                    .location = tz_at_tile(tz_level_index(request->level), request->layer.is_mask,
                                           wanted->tile, wanted->span.offset)};
    job.ctx.ifd = request->layer.shape.ifd;
    job.ctx.warnings = worker ? &worker->warnings : NULL;
    if (tile_read->count > 1 || !request->same_rows)
        return job;
    if (!request->planes)
        job.band = 0;
    uint32_t bands = 0; /* of the buffer that this plane goes to */
    for (uint32_t i = 0; request->planes && i < request->band_count; i++) {
        if ((request->bands ? request->bands[i] : i) == job.plane)
            job.band = bands++ == 0 ? i : NO_BAND;
    }
    return job;
}

/* ---- storing rows ---- */

/* The part of a row that one request wants. */
typedef struct row_segment {
    uint32_t x0, count;  /* in the level */
    int64_t row, column; /* in the buffer */
} row_segment;

/* False if the request wants nothing of this row. The wave has made sure that it wants columns of
 * the tile. */
static bool find_segment(const tile_job *job, const tz_planned_request *request, uint32_t tile_row,
                         row_segment *out)
{
    const uint64_t level_row = (uint64_t)job->y + tile_row;
    if (level_row < request->y0 || level_row >= request->y1)
        return false;
    const uint32_t x0 = tz_max_u32(job->x, request->x0);
    const uint32_t x1 = (uint32_t)tz_min((uint64_t)job->x + request->tile.width, request->x1);
    *out = (row_segment){.x0 = x0,
                         .count = x1 - x0,
                         .row = (int64_t)level_row - request->row_shift,
                         .column = (int64_t)x0 - request->column_shift};
    return true;
}

/* Stores a prepared row, which starts at the tile's column first, for one request; or, with repeat,
 * the same sample everywhere. For a mask, a sample that is 0 makes the pixel invalid in every
 * band. */
static void store_tile_row(const tile_job *job, const tz_planned_request *request,
                           uint32_t tile_row, const uint8_t *samples, uint32_t first, bool repeat)
{
    row_segment at;
    if (!find_segment(job, request, tile_row, &at))
        return;
    const size_t size = tz_dtype_size(request->row.dtype);
    const size_t pixel = repeat ? 0 : size * request->row.samples;
    const uint8_t *from = samples + (at.x0 - job->x - first) * pixel;
    const bool by_sample = !request->planes && !repeat;
    const tz_pixel_buffer *into = &request->into;
    const tz_pixel_buffer *mask = &request->mask;
    for (uint32_t i = 0; i < request->band_count; i++) {
        if (request->to_mask) {
            tz_row_convert(&request->conversion,
                           from + (by_sample ? request->mask_sample * size : 0), (ptrdiff_t)pixel,
                           NULL, 0, at.count, tz_buffer_at(mask, i, at.row, at.column),
                           (ptrdiff_t)mask->column_stride);
            continue;
        }
        const uint32_t band = request->bands ? request->bands[i] : i;
        if (request->planes && band != job->plane)
            continue;
        const tz_conversion how = tz_conversion_of_band(&request->conversion, request->scales, i);
        tz_row_convert(&how, from + (by_sample ? band * size : 0), (ptrdiff_t)pixel,
                       tz_buffer_at(into, i, at.row, at.column), (ptrdiff_t)into->column_stride,
                       at.count, mask->data ? tz_buffer_at(mask, i, at.row, at.column) : NULL,
                       (ptrdiff_t)mask->column_stride);
    }
}

/* Each request takes its part of the row, with a conversion and a buffer of its own. */
static void store_row_for_all(const tile_job *job, uint32_t tile_row, const uint8_t *samples,
                              uint32_t first, bool repeat)
{
    for (uint32_t i = 0; i < job->tile_read->count; i++)
        store_tile_row(job, &job->plan->requests[job->wanted[i].request], tile_row, samples, first,
                       repeat);
}

/* Shorter runs are better left to the cache. */
enum { MIN_STREAMED_BYTES = 512 };

/* The first wanted pixel of row tile_row, if rows of the tile are rows of the buffer. */
static uint8_t *pixel_in_buffer(const tile_job *job, uint32_t tile_row)
{
    const tz_planned_request *request = job->request;
    return tz_buffer_at(&request->into, job->band, (int64_t)job->y + tile_row - request->row_shift,
                        (int64_t)job->x + job->tile_read->column0 - request->column_shift);
}

/* Stores rows that are the buffer's once they are prepared, with one copy or none. */
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

/* Stores rows of the tile as they were decoded, the first of them row number first. */
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

void tz_planned_request_missing_sample(const tz_planned_request *request, uint8_t *sample)
{
    const tz_nodata *nodata = &request->file->info.nodata;
    memset(sample, 0, 16);
    if (nodata->kind != TZ_NODATA_KIND_NONE && !request->layer.is_mask)
        tz_row_fill(request->row.dtype, nodata, sample, 0, 1);
}

static void store_missing(const tile_job *job)
{
    uint8_t sample[16];
    tz_planned_request_missing_sample(job->request, sample);
    for (uint32_t row = job->tile_read->row0; row < job->tile_read->row1; row++)
        store_row_for_all(job, row, sample, 0, true);
}

tz_result tz_tile_check_empty(const tz_plan *plan, const tz_tile_read *tile_read, tz_error *err)
{
    const tile_job job = make_tile_job(plan, NULL, tile_read, err);
    const uint64_t needed = (uint64_t)tile_read->row1 * tz_row_bytes(&job.request->row);
    if (job.wanted->result != TZ_OK)
        return tz_fail(&job.ctx, (tz_result)job.wanted->result, (tz_cause)job.wanted->cause,
                       job.location, "the tile's entry in the table is wrong");
    if (job.wanted->span.size == 0)
        return TZ_OK;
    return tz_fail(&job.ctx, TZ_ERR_FORMAT, TZ_CAUSE_CODEC,
                   tz_expecting(job.location, needed, job.wanted->span.size),
                   "the tile has too few bytes for its pixels");
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
    const bool noted =
        tz_tile_read_mark_failed(&plan->wave, tile_read, result, err->cause, &is_new);
    plan->report.numbers.tiles_failed += is_new;
    pthread_mutex_unlock(lock);
    return noted ? TZ_OK : result;
}

/* Masks count pixels of one row in all bands; row and column are the buffer's. */
static void mask_row(const tz_planned_request *request, int64_t row, int64_t column, uint32_t count)
{
    const tz_nodata invalid = {.kind = TZ_NODATA_KIND_NONE};
    for (uint32_t band = 0; band < request->band_count; band++)
        tz_row_fill(TZ_DTYPE_UINT8, &invalid, tz_buffer_at(&request->mask, band, row, column),
                    (ptrdiff_t)request->mask.column_stride, count);
}

bool tz_planned_request_tile_window(const tz_planned_request *request, uint64_t tile,
                                    tz_window *out)
{
    const tz_level *level = &request->layer.shape;
    const uint64_t x = tile % level->tiles_across * level->tile_width;
    const uint64_t y = tile / level->tiles_across % level->tiles_down * level->tile_height;
    const uint64_t x0 = tz_max(x, request->x0);
    const uint64_t y0 = tz_max(y, request->y0);
    const uint64_t x1 = tz_min(x + level->tile_width, request->x1);
    const uint64_t y1 = tz_min(y + level->tile_height, request->y1);
    if (x0 >= x1 || y0 >= y1)
        return false;
    *out = (tz_window){(int64_t)x0, (int64_t)y0, (uint32_t)(x1 - x0), (uint32_t)(y1 - y0)};
    return true;
}

void tz_planned_request_mask_tile(void *user, const tz_planned_request *request,
                                  const tz_planned_request *mask, uint64_t tile)
{
    tz_window window = {0};
    (void)user;
    if (!tz_planned_request_tile_window(request, tile, &window))
        return;
    for (uint32_t row = 0; row < window.height; row++)
        mask_row(mask, window.row + row - request->row_shift, window.column - request->column_shift,
                 window.width);
}

/* Stores the caller's fill, if there is one, and masks the pixels: of the bands that the tile has,
 * or, if it says which pixels are valid, of all. */
static void store_failed_row(const tile_job *job, const tz_planned_request *request,
                             const row_segment *at)
{
    const tz_read_options *options = &job->plan->options;
    const tz_nodata fill = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = options->fill}};
    const tz_nodata invalid = {.kind = TZ_NODATA_KIND_NONE};
    const tz_pixel_buffer *into = &request->into;
    const tz_pixel_buffer *mask = &request->mask;
    for (uint32_t i = 0; i < request->band_count; i++) {
        const uint32_t band = request->bands ? request->bands[i] : i;
        if (request->planes && !request->to_mask && band != job->plane)
            continue;
        if (options->has_fill && !request->to_mask)
            tz_row_fill(into->dtype, &fill, tz_buffer_at(into, i, at->row, at->column),
                        (ptrdiff_t)into->column_stride, at->count);
        if (mask->data)
            tz_row_fill(TZ_DTYPE_UINT8, &invalid, tz_buffer_at(mask, i, at->row, at->column),
                        (ptrdiff_t)mask->column_stride, at->count);
    }
}

void tz_tile_store_failed(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read)
{
    const tile_job job = make_tile_job(plan, worker, tile_read, NULL);
    if (!plan->options.has_fill)
        store_missing(&job);
    for (uint32_t i = 0; i < tile_read->count; i++) {
        const tz_planned_request *request = &plan->requests[job.wanted[i].request];
        row_segment segment;
        for (uint32_t row = tile_read->row0; row < tile_read->row1; row++) {
            if (find_segment(&job, request, row, &segment))
                store_failed_row(&job, request, &segment);
        }
    }
}

/* ---- decoding ---- */

/* True if an uncompressed tile has bytes after its pixels; its first row range reports them. */
static bool has_extra_bytes(const tile_job *job)
{
    return job->wanted->row_range == 0 &&
           job->wanted->span.size > tz_layer_tile_bytes(&job->request->layer, job->wanted->tile);
}

/* libtiff reads such tiles without a word, so this is a warning, and an error in strict mode. */
static tz_result warn_extra_bytes(const tile_job *job)
{
    const tz_codec_call call = {.ctx = &job->ctx, .location = job->location};
    const uint64_t needed = tz_layer_tile_bytes(&job->request->layer, job->wanted->tile);
    if (!has_extra_bytes(job))
        return TZ_OK;
    return tz_codec_check_end(&call, (size_t)needed, (size_t)job->wanted->span.size);
}

/* Stores an uncompressed tile: the bytes are those of the tile read's rows and, if it is a single
 * narrow one, of its columns only. */
static tz_result store_raw(const tile_job *job, uint8_t *bytes)
{
    const tz_planned_request *request = job->request;
    const tz_tile_read *tile_read = job->tile_read;
    const size_t row_bytes = tz_row_bytes(&request->row);
    const size_t size = (size_t)tz_tile_read_range(&job->plan->wave, tile_read).size;
    const bool reversed = request->tile.fill_order == TZ_FILL_ORDER_LOW_FIRST;
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
    return warn_extra_bytes(job);
}

/* A strip ends at the lower edge of the image, a tile does not. Some writers do the one or the
 * other all the same, so the codec is given both heights. */
static tz_tile_format codec_format(const tile_job *job)
{
    const tz_planned_request *request = job->request;
    const tz_level *level = tz_planned_request_stored_level(request);
    const uint32_t step = request->subsampled ? request->tile.subsampling[1] : 1;
    const uint32_t left =
        (uint32_t)tz_ceil_div(level->height - (job->y << request->decode_reduction), step);
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

/* Returns the destination in the buffer that the whole tile can be decoded to; NULL: none. A codec
 * may write some bytes after packed rows unless its flags say otherwise; after rows with a stride
 * it may not. */
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
        return NULL; /* decoded in the cache, its rows can be written past the cache */
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

/* Makes one row of Y, Cb, Cr pixels of a subsampled tile in the worker's output. The tile stores
 * data units (TIFF 6.0, section 21): step[0] x step[1] samples of Y, row by row, then Cb and Cr,
 * which all pixels of the unit share. */
static void convert_ycbcr_row(const tile_job *job, uint32_t row, uint8_t *out)
{
    const uint16_t *step = job->request->tile.subsampling;
    const size_t stride = tz_tile_row_bytes(&job->request->stored);
    const uint8_t *units = job->w->output + row / step[1] * stride;
    const size_t pixels = (size_t)step[0] * step[1];
    for (size_t i = 0; i < job->tile_read->column1; i++) {
        const uint8_t *unit = units + i / step[0] * (pixels + 2);
        out[i * 3] = unit[row % step[1] * step[0] + i % step[0]];
        out[i * 3 + 1] = unit[pixels];
        out[i * 3 + 2] = unit[pixels + 1];
    }
}

/* Decodes the tile's bytes, with their bits in the order that the codec expects. */
static tz_result decode_tile_bytes(const tile_job *job, const tz_tile_format *format,
                                   uint8_t *bytes, uint8_t *out, size_t stride)
{
    const tz_decoder *codec = job->request->codec;
    const size_t size = (size_t)job->wanted->span.size;
    const tz_codec_call call = {.ctx = &job->ctx, .location = job->location};
    const bool reversed = format->fill_order == TZ_FILL_ORDER_LOW_FIRST &&
                          !(codec->flags & TZ_DECODER_ANY_FILL_ORDER);
    if (reversed)
        tz_codec_reverse_bits(bytes, size);
    const tz_result result = tz_decode_tile(codec, job->w->states[codec_index(codec)], format,
                                            bytes, size, out, stride, &call);
    if (reversed)
        tz_codec_reverse_bits(bytes, size); /* another tile may have the same bytes */
    return result;
}

tz_result tz_tile_store(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                        uint8_t *bytes, tz_error *err)
{
    const tile_job job = make_tile_job(plan, worker, tile_read, err);
    const tz_planned_request *request = job.request;
    if (tz_planned_request_is_raw(request))
        return store_raw(&job, bytes);
    const tz_tile_format format = codec_format(&job);
    const size_t stride = tz_tile_row_bytes(&request->stored);
    uint8_t *destination = tile_in_buffer(&job, &format);
    if (destination) {
        TZ_TRY(
            decode_tile_bytes(&job, &format, bytes, destination, (size_t)request->into.row_stride));
        worker->tiles_direct++;
        return TZ_OK;
    }
    TZ_TRY(decode_tile_bytes(&job, &format, bytes, worker->output, stride));
    if (request->subsampled) {
        for (uint32_t row = tile_read->row0; row < tile_read->row1; row++) {
            convert_ycbcr_row(&job, row, worker->row);
            store_row_for_all(&job, row, worker->row, 0, false);
        }
    } else {
        store_rows(&job, worker->output + tile_read->row0 * tz_row_bytes(&request->row),
                   tile_read->row0, tile_read->row1 - tile_read->row0);
    }
    worker->tiles_decoded++;
    return TZ_OK;
}

/* ---- rows that a device stores ---- */

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
    const tz_planned_request *request = tz_tile_read_request(&plan->wave, tile_read, 0);
    if (tz_planned_request_is_raw(request))
        return (size_t)tz_tile_read_range(&plan->wave, tile_read).size;
    return tz_planned_request_row_bytes(request) * request->tile.height;
}

tz_result tz_tile_check_raw(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                            tz_error *err)
{
    const tile_job job = make_tile_job(plan, worker, tile_read, err);
    return warn_extra_bytes(&job);
}

/* Rows are neither unpredicted nor converted: kernels do that. Only what no kernel can do is done
 * here, the order of bits and the clumps of subsampled YCbCr. */
tz_result tz_tile_decode(const tz_plan *plan, tz_worker *worker, const tz_tile_read *tile_read,
                         uint8_t *bytes, uint8_t *rows, tz_error *err)
{
    const tile_job job = make_tile_job(plan, worker, tile_read, err);
    const tz_planned_request *request = job.request;
    if (tz_planned_request_is_raw(request)) {
        const size_t size = (size_t)tz_tile_read_range(&plan->wave, tile_read).size;
        memcpy(rows, bytes, size);
        if (request->tile.fill_order == TZ_FILL_ORDER_LOW_FIRST)
            tz_codec_reverse_bits(rows, size);
        return warn_extra_bytes(&job);
    }
    const tz_tile_format format = codec_format(&job);
    uint8_t *out = request->subsampled ? worker->output : rows;
    TZ_TRY(decode_tile_bytes(&job, &format, bytes, out, tz_tile_row_bytes(&request->stored)));
    for (uint32_t row = tile_read->row0; request->subsampled && row < tile_read->row1; row++)
        convert_ycbcr_row(&job, row, rows + row * tz_planned_request_row_bytes(request));
    worker->tiles_decoded++;
    return TZ_OK;
}

/* ---- uncompressed neighbours ---- */

enum { MAX_JOINED = 16 };

/* True if rows of the job's tile only have to be copied. */
static bool is_only_copied(const tile_job *job)
{
    const tz_planned_request *request = job->request;
    return tz_planned_request_is_raw(request) && request->straight && job->band != NO_BAND &&
           request->tile.fill_order != TZ_FILL_ORDER_LOW_FIRST && request->row_range_height > 1;
}

/* Every tile of the fetch must be whole rows of the buffer, and the tiles must follow each other in
 * the file as they do in the buffer. Strips of an uncompressed file that is read whole are such. */
uint8_t *tz_fetch_destination(const tz_plan *plan, tz_worker *worker, const tz_span *fetch)
{
    const tz_indexed_range *ranges = &plan->wave.ranges[fetch->first];
    uint8_t *first = NULL;
    for (size_t i = 0; i < fetch->count; i++) {
        const tz_tile_read *tile_read = tz_fetch_tile_read(&plan->wave, fetch, i);
        const tile_job job = make_tile_job(plan, worker, tile_read, NULL);
        const tz_planned_request *request = job.request;
        const size_t row = tz_row_bytes(&request->row);
        if (!is_only_copied(&job) || tile_read->column0 != 0 ||
            tile_read->column1 != request->tile.width || request->into.row_stride != (int64_t)row ||
            has_extra_bytes(&job))
            return NULL;
        uint8_t *pixel = pixel_in_buffer(&job, tile_read->row0);
        if (i == 0)
            first = pixel;
        /* one run of bytes in the file must be one run in the buffer */
        if (pixel - first != (ptrdiff_t)(ranges[i].offset - fetch->offset))
            return NULL;
        if (i + 1 < fetch->count && ranges[i + 1].offset != ranges[i].offset + ranges[i].size)
            return NULL;
    }
    return first;
}

/* Copies row by row across all tiles, so that the buffer is written in long runs. */
size_t tz_tile_store_joined(const tz_plan *plan, tz_worker *worker, const tz_indexed_range *ranges,
                            size_t count, const tz_span *fetch, tz_error *err)
{
    tile_job jobs[MAX_JOINED];
    const uint8_t *bytes[MAX_JOINED];
    size_t joined = 0;
    for (; joined < count && joined < MAX_JOINED; joined++) {
        const tz_indexed_range *range = &ranges[joined];
        const tile_job *job = &jobs[joined];
        jobs[joined] = make_tile_job(plan, worker, &plan->wave.tile_reads[range->index], err);
        bytes[joined] = worker->input + (range->offset - fetch->offset);
        if (!is_only_copied(job) || has_extra_bytes(job))
            break;
        /* the next tile must lie right of this one in the buffer, with the same rows */
        if (joined > 0 &&
            (job->request != job[-1].request || job->y != job[-1].y ||
             job->plane != job[-1].plane || job->x != job[-1].x + job->request->tile.width ||
             job->tile_read->row0 != job[-1].tile_read->row0 ||
             job->tile_read->row1 != job[-1].tile_read->row1))
            break;
    }
    if (joined < 2)
        return 0;
    const tz_planned_request *request = jobs[0].request;
    const size_t stride = tz_row_bytes(&request->row);
    const size_t pixel = tz_dtype_size(request->row.dtype) * request->row.samples;
    const uint32_t rows = jobs[0].tile_read->row1 - jobs[0].tile_read->row0;
    uint8_t *row = pixel_in_buffer(&jobs[0], jobs[0].tile_read->row0);
    const bool stream = request->stream && (stride >= MIN_STREAMED_BYTES || stride % 64 == 0);
    for (uint32_t i = 0; i < rows; i++, row += request->into.row_stride) {
        uint8_t *dst = row;
        for (size_t k = 0; k < joined; k++) {
            const tz_tile_read *tile_read = jobs[k].tile_read;
            const size_t wanted = (tile_read->column1 - tile_read->column0) * pixel;
            tz_row_copy(dst, bytes[k] + i * stride + tile_read->column0 * pixel, wanted, stream);
            dst += wanted;
        }
    }
    if (stream)
        tz_row_copy_end();
    return joined;
}

/* ---- boundless ---- */

/* Fills a run of one row in the buffers that are in host memory; a device fills the others. */
static void fill_row_outside(const tz_planned_request *request, uint32_t band,
                             const uint8_t *sample, uint32_t row, uint32_t column, uint32_t count)
{
    const tz_nodata invalid = {.kind = TZ_NODATA_KIND_NONE};
    const tz_conversion as_is = {.from = request->into.dtype, .to = request->into.dtype};
    if (count > 0 && !request->to_mask && request->into.data)
        tz_row_convert(&as_is, sample, 0, tz_buffer_at(&request->into, band, row, column),
                       (ptrdiff_t)request->into.column_stride, count, NULL, 0);
    if (count > 0 && request->mask.data)
        tz_row_fill(TZ_DTYPE_UINT8, &invalid, tz_buffer_at(&request->mask, band, row, column),
                    (ptrdiff_t)request->mask.column_stride, count);
}

/* Fills whole rows above and below the level, and both ends of the others. */
void tz_planned_request_fill_outside(const tz_planned_request *request,
                                     const tz_read_options *options)
{
    const int64_t width = request->into.width;
    for (uint32_t band = 0; band < request->band_count; band++) {
        const tz_conversion how =
            tz_conversion_of_band(&request->conversion, request->scales, band);
        uint8_t sample[16];
        tz_outside_sample(&how, options, sample);
        for (uint32_t row = 0; row < request->into.height; row++) {
            const int64_t level_row = (int64_t)row + request->row_shift;
            const bool inside = level_row >= request->y0 && level_row < request->y1;
            const int64_t left = inside ? (int64_t)request->x0 - request->column_shift : width;
            const int64_t right = inside ? (int64_t)request->x1 - request->column_shift : width;
            fill_row_outside(request, band, sample, row, 0, (uint32_t)left);
            fill_row_outside(request, band, sample, row, (uint32_t)right,
                             (uint32_t)(width - right));
        }
    }
}
