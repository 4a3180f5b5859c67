/* SPDX-License-Identifier: Apache-2.0
 * One tile: cut from its swath row by row, each row changed as the file wants it while it is in the
 * first cache, then encoded. The caller's pixels are only read. */
#include <string.h>

#include "base/mem.h"
#include "pixel/row_ops.h"
#include "write/cog_layout.h"
#include "write/writer.h"

/* A tile at work. */
typedef struct tile_job {
    const tz_writer *writer;
    const tz_image *image;
    const tz_tile_encoding *encoding;
    tz_encode_worker *worker;
    tz_tile_slot *slot;
    tz_row_format row;
    tz_tile_format format; /* the last strip has fewer rows */
    tz_tile_row tile_row;
    uint32_t level;
    unsigned which; /* way */
    tz_tile_position position;
    bool empty;      /* nothing but nodata so far */
    bool plain_copy; /* see is_plain_copy */
    tz_context ctx;
    tz_codec_call call;
} tile_job;

/* ---- which tile ---- */

static uint32_t clipped_size(uint32_t index, uint32_t size, uint32_t end)
{
    const uint64_t left = end - (uint64_t)index * size;
    return left < size ? (uint32_t)left : size;
}

static uint64_t tile_table_index(const tz_image *image, const tz_tile_position *position)
{
    const uint64_t in_plane = (uint64_t)position->row * image->tiles_across + position->column;
    if (position->is_mask)
        return image->tile_count + in_plane;
    return (uint64_t)position->plane * image->tiles_across * image->tiles_down + in_plane;
}

/* The order in which tiles are made: see tz_interleave. The mask's tile follows the image's. */
tz_tile_position tz_tile_position_of(const tz_image *image, const tz_tile_row *tile_row,
                                     uint64_t index)
{
    const uint64_t columns = tile_row->columns;
    const uint64_t kinds = tz_tile_kinds(image);
    const uint64_t in_row = index % (columns * kinds);
    const bool by_band = tz_is_by_band(image);
    const uint64_t kind = by_band ? in_row / columns : in_row % kinds;
    const uint64_t column = by_band ? in_row % columns : in_row / kinds;
    tz_tile_position position = {.is_mask = kind == image->planes,
                                 .row = tile_row->row / image->tile_height +
                                        (uint32_t)(index / (columns * kinds)),
                                 .column = tile_row->column + (uint32_t)column};
    position.plane = position.is_mask ? 0 : (uint32_t)kind;
    position.width = clipped_size(position.column, image->tile_width, image->spec.width);
    position.height = clipped_size(position.row, image->tile_height, image->spec.height);
    position.buffer_row = (uint32_t)((uint64_t)position.row * image->tile_height - tile_row->row);
    position.buffer_column =
        (uint32_t)((uint64_t)(position.column - tile_row->column) * image->tile_width);
    position.tile_index = tile_table_index(image, &position);
    return position;
}

uint64_t tz_tile_index_of(const tz_image *image, const tz_tile_row *tile_row, uint64_t index)
{
    return tz_tile_position_of(image, tile_row, index).tile_index;
}

tz_location tz_tile_location(const tz_image *image, uint32_t level,
                             const tz_tile_position *position)
{
    return tz_at_tile(position->is_mask ? TZ_MASK_OF(level) : level,
                      position->tile_index - (position->is_mask ? image->tile_count : 0), TZ_NONE);
}

static void begin_job(tile_job *job, const tz_writer *writer, const tz_task_batch *batch,
                      uint64_t index, tz_error *err)
{
    const tz_image *image = &writer->pyramid.levels[batch->level].image;
    job->writer = writer;
    job->image = image;
    job->level = batch->level;
    job->tile_row = batch->tile_row;
    job->position = tz_tile_position_of(image, &batch->tile_row, index);
    job->which = tz_encoding_index(&writer->budget, batch->level, job->position.is_mask);
    job->encoding = &writer->budget.encoding[job->which];
    job->row = tz_writer_row_format(image, job->position.is_mask);
    job->format = job->encoding->format;
    if (image->options.strips)
        job->format.height = job->position.height;
    job->empty = image->options.sparse;
    job->ctx = tz_writer_context(writer, err);
    job->call = (tz_codec_call){&job->ctx, tz_tile_location(image, batch->level, &job->position)};
}

/* ---- rows ---- */

/* Whether the samples of a row lie side by side as in the tile. */
static bool is_packed(const tile_job *job, const tz_buffer *from)
{
    const int64_t size = (int64_t)tz_dtype_size(from->dtype);
    return from->column_stride == size * job->row.samples &&
           (job->row.samples == 1 || from->band_stride == size);
}

/* The tile's first pixel in a row of the swath. */
static const uint8_t *first_pixel(const tile_job *job, const tz_buffer *from, uint64_t row)
{
    return tz_pixel_at(from, job->position.plane, row, job->position.buffer_column);
}

/* The pixels of a row, packed. */
static void gather_row(const tile_job *job, const tz_buffer *from, uint64_t row, uint8_t *out)
{
    const size_t size = tz_dtype_size(from->dtype);
    const uint16_t samples = job->row.samples;
    const uint8_t *first = first_pixel(job, from, row);
    if (is_packed(job, from)) {
        memcpy(out, first, size * samples * job->position.width);
        return;
    }
    for (uint16_t s = 0; s < samples; s++)
        tz_row_ops_get()->copy(size, first + (int64_t)s * from->band_stride,
                               (ptrdiff_t)from->column_stride, out + s * size,
                               (ptrdiff_t)(size * samples), job->position.width);
}

/* Columns behind the image's are as its last one: no surprise for predictors and transforms. */
static void pad_columns(const tile_job *job, uint8_t *row)
{
    const size_t pixel = tz_dtype_size(job->row.dtype) * job->row.samples;
    const size_t end = job->format.width * pixel;
    for (size_t i = job->position.width * pixel; i < end; i++)
        row[i] = row[i - pixel];
}

static const uint8_t *read_mask_row(const tile_job *job, uint64_t row)
{
    const tz_buffer *mask = &job->tile_row.mask;
    if (!mask->data)
        return NULL;
    const uint8_t *first = tz_pixel_at(mask, 0, row, job->position.buffer_column);
    if (mask->column_stride == 1)
        return first;
    tz_row_ops_get()->copy(1, first, (ptrdiff_t)mask->column_stride, job->worker->valid, 1,
                           job->position.width);
    return job->worker->valid;
}

static void add_row_statistics(const tile_job *job, const uint8_t *row, uint64_t buffer_row)
{
    const size_t size = tz_dtype_size(job->row.dtype);
    const uint16_t samples = job->row.samples;
    const uint8_t *valid = read_mask_row(job, buffer_row);
    for (uint16_t s = 0; s < samples; s++)
        tz_stats_row(&job->slot->stats[s], job->row.dtype, row + s * size,
                     (ptrdiff_t)(samples * size), job->position.width, &job->image->spec.nodata,
                     valid);
}

tz_result tz_fail_misfit(const tz_image *image, uint32_t level, const tz_tile_position *position,
                         uint64_t misfit, const tz_context *ctx)
{
    const uint64_t samples = image->format.samples;
    const uint64_t x = misfit % (position->width * samples) / samples;
    const uint64_t y = misfit / (position->width * samples);
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_tile_location(image, level, position),
                   "the pixel in column %llu, row %llu does not fit %u bits",
                   (unsigned long long)((uint64_t)position->column * image->tile_width + x),
                   (unsigned long long)((uint64_t)position->row * image->tile_height + y),
                   (unsigned)image->format.bits);
}

static tz_result check_fit(const tile_job *job, const uint8_t *row, uint32_t y)
{
    const size_t count = (size_t)job->position.width * job->row.samples;
    const size_t misfit = tz_store_misfit(&job->row, row, count);
    if (misfit == count)
        return TZ_OK;
    return tz_fail_misfit(job->image, job->level, &job->position, (uint64_t)y * count + misfit,
                          &job->ctx);
}

/* What happens to the pixels of the image, by the user's choice. */
static tz_result process_pixels(tile_job *job, uint8_t *row, uint32_t y, uint64_t buffer_row)
{
    const tz_image *image = job->image;
    const tz_nodata *nodata = &image->spec.nodata;
    const size_t count = (size_t)job->position.width * job->row.samples;
    if (image->nan_to_nodata)
        tz_store_replace_nan(job->row.dtype, row, count, nodata->value.f);
    if (image->options.discard_bits)
        tz_store_discard_bits(job->row.dtype, row, job->position.width, job->row.samples,
                              image->options.discard_bits + job->position.plane, nodata);
    if (job->slot->bands > 0)
        add_row_statistics(job, row, buffer_row);
    if (job->empty)
        job->empty = tz_store_is_all(job->row.dtype, nodata, row, count);
    if (job->slot->verified_index != TZ_NONE)
        job->slot->hash = tz_row_hash(job->slot->hash, row, count * tz_dtype_size(job->row.dtype));
    return job->encoding->bytes.row > 0 ? check_fit(job, row, y) : TZ_OK;
}

static void process_mask(tile_job *job, uint8_t *row)
{
    static const tz_nodata zero = {TZ_NODATA_NONE, {0}};
    for (uint32_t x = 0; x < job->position.width; x++)
        row[x] = row[x] != 0;
    if (job->empty)
        job->empty = tz_store_is_all(TZ_DTYPE_UINT8, &zero, row, job->position.width);
}

/* Whether rows of the image go into the tile just as they are. */
static bool is_plain_copy(const tile_job *job)
{
    const tz_image *image = job->image;
    return !job->position.is_mask && job->encoding->bytes.row == 0 &&
           job->position.width == job->format.width && !image->nan_to_nodata &&
           !image->options.discard_bits && job->slot->bands == 0 && !image->options.sparse &&
           job->slot->verified_index == TZ_NONE && is_packed(job, &job->tile_row.pixels) &&
           job->tile_row.pixels.row_stride >= TZ_ROW_SLACK;
}

static tz_result make_row(tile_job *job, uint32_t y, uint8_t *out)
{
    uint8_t *row = job->encoding->bytes.row > 0 ? job->worker->row : out;
    const uint64_t buffer_row = (uint64_t)job->position.buffer_row + y;
    const tz_buffer *pixels = &job->tile_row.pixels;
    if (job->plain_copy && buffer_row + 1 < job->tile_row.rows) { /* behind it is another row */
        tz_store_row(&job->row, first_pixel(job, pixels, buffer_row), out, job->worker->scratch);
        return TZ_OK;
    }
    gather_row(job, job->position.is_mask ? &job->tile_row.mask : pixels, buffer_row, row);
    if (job->position.is_mask)
        process_mask(job, row);
    else
        TZ_TRY(process_pixels(job, row, y, buffer_row));
    pad_columns(job, row);
    tz_store_row(&job->row, row, out, job->worker->scratch);
    return TZ_OK;
}

/* Rows of a tile lie far apart in a wide swath, where the processor does not foresee the next. */
static void prefetch_row(const tile_job *job, uint32_t y)
{
    enum { CACHE_LINE = 64, MAX_PREFETCH = 4096 };
    const tz_buffer *from = job->position.is_mask ? &job->tile_row.mask : &job->tile_row.pixels;
    const uint8_t *first = first_pixel(job, from, (uint64_t)job->position.buffer_row + y);
    const uint64_t size = job->position.width * tz_dtype_size(from->dtype) * job->row.samples;
    for (uint64_t i = 0; i < size && i < MAX_PREFETCH; i += CACHE_LINE)
        __builtin_prefetch(first + i);
}

/* Rows below the image's are as its last one. */
static tz_result make_rows(tile_job *job, uint8_t *tile)
{
    enum { ROWS_AHEAD = 3 };
    const size_t row_bytes = tz_tile_row_bytes(&job->format);
    for (uint32_t y = 0; y < job->position.height; y++) {
        if (y + ROWS_AHEAD < job->position.height)
            prefetch_row(job, y + ROWS_AHEAD);
        TZ_TRY(make_row(job, y, tile + y * row_bytes));
    }
    for (uint32_t y = job->position.height; y < job->format.height; y++)
        memcpy(tile + y * row_bytes, tile + (y - 1) * row_bytes, row_bytes);
    return TZ_OK;
}

/* ---- the tile ---- */

void tz_tile_slot_begin(const tz_writer *writer, uint32_t level, const tz_tile_position *position,
                        tz_tile_slot *slot)
{
    const tz_image *image = &writer->pyramid.levels[level].image;
    const bool tallied = writer->stats && level == 0 && !position->is_mask;
    slot->size = 0;
    slot->level = level;
    slot->tile_index = position->tile_index;
    slot->verified_index =
        position->is_mask ? TZ_NONE : tz_verified_index(image, position->tile_index);
    slot->hash = 0;
    slot->band = position->plane;
    slot->bands = tallied ? image->format.samples : 0;
}

tz_result tz_tile_encode(const tz_writer *writer, unsigned which, const tz_tile_format *format,
                         unsigned worker, uint8_t *in, tz_tile_slot *slot,
                         const tz_codec_call *call)
{
    const tz_tile_encoding *encoding = &writer->budget.encoding[which];
    if (encoding->encoder->flags & TZ_ENCODER_COPY) {
        slot->bytes = in;
        slot->size = tz_tile_bytes(format);
        return TZ_OK;
    }
    slot->bytes = slot->own;
    return encoding->encoder->encode(writer->workers[worker].states[which], format,
                                     encoding->choice, in, slot->bytes, &slot->size, call);
}

tz_result tz_tile_seal(const tz_writer *writer, unsigned which, tz_tile_slot *slot,
                       const tz_codec_call *call)
{
    const size_t bound = writer->budget.encoding[which].bytes.bound;
    if (slot->size == 0 || slot->size > bound)
        return tz_fail(call->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL,
                       tz_expecting(call->location, bound, slot->size),
                       "the encoder made an impossible size");
    if (tz_writer_image(writer)->options.cog)
        tz_cog_frame(slot->bytes, slot->size);
    return TZ_OK;
}

tz_result tz_tile_make(tz_writer *writer, const tz_task_batch *batch, uint64_t index,
                       unsigned worker, tz_tile_slot *slot, tz_error *err)
{
    tile_job job = {.worker = &writer->workers[worker], .slot = slot};
    begin_job(&job, writer, batch, index, err);
    tz_tile_slot_begin(writer, batch->level, &job.position, slot);
    if (slot->bands > 0)
        memset(slot->stats, 0, slot->bands * sizeof slot->stats[0]);
    job.plain_copy = is_plain_copy(&job);
    uint8_t *tile = job.encoding->encoder->flags & TZ_ENCODER_COPY ? slot->own : job.worker->tile;
    TZ_TRY(make_rows(&job, tile));
    if (job.empty)
        return TZ_OK;
    TZ_TRY(tz_tile_encode(writer, job.which, &job.format, worker, tile, slot, &job.call));
    return tz_tile_seal(writer, job.which, slot, &job.call);
}
