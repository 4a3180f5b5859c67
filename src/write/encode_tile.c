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
    const tz_tile_way *way;
    tz_encode_worker *worker;
    tz_slot *slot;
    tz_row_format row;
    tz_tile_format format; /* the last strip has fewer rows */
    tz_swath swath;
    uint32_t level;
    unsigned which; /* way */
    bool is_mask;
    bool tallied;
    uint32_t plane;
    uint32_t tile_row;
    uint32_t tile_column;
    uint32_t width; /* pixels and rows that the image has of it */
    uint32_t height;
    bool empty;     /* nothing but nodata so far */
    bool untreated; /* see is_untreated */
    tz_context ctx;
    tz_codec_call call;
} tile_job;

/* ---- which tile ---- */

/* The order in which tiles are made: see tz_interleave. The mask's tile follows the image's. */
static void find_place(tile_job *job, uint64_t index)
{
    const tz_image *image = job->image;
    const uint64_t columns = job->swath.columns;
    const uint64_t kinds = tz_tile_kinds(image);
    const uint64_t in_row = index % (columns * kinds);
    const uint64_t row = index / (columns * kinds);
    const bool by_band = tz_is_by_band(image);
    const uint64_t kind = by_band ? in_row / columns : in_row % kinds;
    const uint64_t column = by_band ? in_row % columns : in_row / kinds;
    job->is_mask = kind == image->planes;
    job->plane = job->is_mask ? 0 : (uint32_t)kind;
    job->tile_row = job->swath.row / image->tile_height + (uint32_t)row;
    job->tile_column = job->swath.column + (uint32_t)column;
}

static uint64_t place_in_tables(const tile_job *job)
{
    const tz_image *image = job->image;
    const uint64_t in_plane = (uint64_t)job->tile_row * image->tiles_across + job->tile_column;
    if (job->is_mask)
        return image->tile_count + in_plane;
    return (uint64_t)job->plane * image->tiles_across * image->tiles_down + in_plane;
}

uint64_t tz_tile_number(const tz_image *image, const tz_swath *swath, uint64_t index)
{
    tile_job job = {.image = image, .swath = *swath};
    find_place(&job, index);
    return place_in_tables(&job);
}

static uint32_t extent(uint32_t index, uint32_t size, uint32_t end)
{
    const uint64_t left = end - (uint64_t)index * size;
    return left < size ? (uint32_t)left : size;
}

static void begin_job(tile_job *job, const tz_writer *writer, const tz_batch *batch, uint64_t index,
                      tz_error *err)
{
    const tz_image *image = &writer->pyramid.levels[batch->level].image;
    job->writer = writer;
    job->image = image;
    job->level = batch->level;
    job->swath = batch->swath;
    find_place(job, index);
    job->which = tz_way_of(&writer->budget, batch->level, job->is_mask);
    job->way = &writer->budget.way[job->which];
    job->row = tz_writer_row_format(image, job->is_mask);
    job->width = extent(job->tile_column, image->tile_width, image->spec.width);
    job->height = extent(job->tile_row, image->tile_height, image->spec.height);
    job->format = job->way->format;
    if (image->options.strips)
        job->format.height = job->height;
    job->empty = image->options.sparse;
    job->ctx = tz_writer_context(writer, err);
    job->call = (tz_codec_call){
        &job->ctx,
        tz_at_tile(job->is_mask ? TZ_MASK_OF(batch->level) : batch->level,
                   place_in_tables(job) - (job->is_mask ? image->tile_count : 0), TZ_NONE)};
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
    const uint64_t column =
        (uint64_t)(job->tile_column - job->swath.column) * job->image->tile_width;
    return tz_pixel_at(from, job->plane, row, column);
}

/* The pixels of a row, packed. */
static void gather(const tile_job *job, const tz_buffer *from, uint64_t row, uint8_t *out)
{
    const size_t size = tz_dtype_size(from->dtype);
    const uint16_t samples = job->row.samples;
    const uint8_t *first = first_pixel(job, from, row);
    if (is_packed(job, from)) {
        memcpy(out, first, size * samples * job->width);
        return;
    }
    for (uint16_t s = 0; s < samples; s++)
        tz_row_ops_get()->copy(size, first + (int64_t)s * from->band_stride,
                               (ptrdiff_t)from->column_stride, out + s * size,
                               (ptrdiff_t)(size * samples), job->width);
}

/* Columns behind the image's are as its last one: no surprise for predictors and transforms. */
static void pad_columns(const tile_job *job, uint8_t *row)
{
    const size_t pixel = tz_dtype_size(job->row.dtype) * job->row.samples;
    const size_t end = job->format.width * pixel;
    for (size_t i = job->width * pixel; i < end; i++)
        row[i] = row[i - pixel];
}

static const uint8_t *valid_row(const tile_job *job, uint64_t row)
{
    const tz_buffer *mask = &job->swath.mask;
    if (!mask->data)
        return NULL;
    const uint64_t column =
        (uint64_t)(job->tile_column - job->swath.column) * job->image->tile_width;
    const uint8_t *first = tz_pixel_at(mask, 0, row, column);
    if (mask->column_stride == 1)
        return first;
    tz_row_ops_get()->copy(1, first, (ptrdiff_t)mask->column_stride, job->worker->valid, 1,
                           job->width);
    return job->worker->valid;
}

static void tally_row(const tile_job *job, const uint8_t *row, uint64_t swath_row)
{
    const size_t size = tz_dtype_size(job->row.dtype);
    const uint16_t samples = job->row.samples;
    const uint8_t *valid = valid_row(job, swath_row);
    for (uint16_t s = 0; s < samples; s++)
        tz_tally_row(&job->slot->tallies[s], job->row.dtype, row + s * size,
                     (ptrdiff_t)(samples * size), job->width, &job->image->spec.nodata, valid);
}

static tz_result check_fit(const tile_job *job, const uint8_t *row, uint32_t y)
{
    const size_t count = (size_t)job->width * job->row.samples;
    const size_t misfit = tz_store_misfit(&job->row, row, count);
    if (misfit == count)
        return TZ_OK;
    const uint64_t x =
        (uint64_t)job->tile_column * job->image->tile_width + misfit / job->row.samples;
    return tz_fail(&job->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, job->call.place,
                   "the pixel in column %llu, row %llu does not fit %u bits", (unsigned long long)x,
                   (unsigned long long)job->tile_row * job->image->tile_height + y,
                   (unsigned)job->row.bits);
}

/* What happens to the pixels of the image, by the user's choice. */
static tz_result treat_pixels(tile_job *job, uint8_t *row, uint32_t y, uint64_t swath_row)
{
    const tz_image *image = job->image;
    const tz_nodata *nodata = &image->spec.nodata;
    const size_t count = (size_t)job->width * job->row.samples;
    if (image->nan_to_nodata)
        tz_store_replace_nan(job->row.dtype, row, count, nodata->value.f);
    if (image->options.discard_bits)
        tz_store_discard_bits(job->row.dtype, row, job->width, job->row.samples,
                              image->options.discard_bits + job->plane, nodata);
    if (job->tallied)
        tally_row(job, row, swath_row);
    if (job->empty)
        job->empty = tz_store_is_all(job->row.dtype, nodata, row, count);
    if (job->slot->checked != TZ_NONE)
        job->slot->hash = tz_row_hash(job->slot->hash, row, count * tz_dtype_size(job->row.dtype));
    return job->way->bytes.row > 0 ? check_fit(job, row, y) : TZ_OK;
}

static void treat_mask(tile_job *job, uint8_t *row)
{
    static const tz_nodata zero = {TZ_NODATA_NONE, {0}};
    for (uint32_t x = 0; x < job->width; x++)
        row[x] = row[x] != 0;
    if (job->empty)
        job->empty = tz_store_is_all(TZ_DTYPE_UINT8, &zero, row, job->width);
}

/* Whether rows of the image go into the tile just as they are. */
static bool is_untreated(const tile_job *job)
{
    const tz_image *image = job->image;
    return !job->is_mask && job->way->bytes.row == 0 && job->width == job->format.width &&
           !image->nan_to_nodata && !image->options.discard_bits && !job->tallied &&
           !image->options.sparse && job->slot->checked == TZ_NONE &&
           is_packed(job, &job->swath.pixels) && job->swath.pixels.row_stride >= TZ_ROW_SLACK;
}

static tz_result make_row(tile_job *job, uint32_t y, uint8_t *out)
{
    uint8_t *row = job->way->bytes.row > 0 ? job->worker->row : out;
    const uint64_t swath_row =
        (uint64_t)job->tile_row * job->image->tile_height + y - job->swath.row;
    const tz_buffer *pixels = &job->swath.pixels;
    if (job->untreated && swath_row + 1 < job->swath.rows) { /* behind it is another row */
        tz_store_row(&job->row, first_pixel(job, pixels, swath_row), out, job->worker->scratch);
        return TZ_OK;
    }
    gather(job, job->is_mask ? &job->swath.mask : pixels, swath_row, row);
    if (job->is_mask)
        treat_mask(job, row);
    else
        TZ_TRY(treat_pixels(job, row, y, swath_row));
    pad_columns(job, row);
    tz_store_row(&job->row, row, out, job->worker->scratch);
    return TZ_OK;
}

/* Rows of a tile lie far apart in a wide swath, where the processor does not foresee the next. */
static void expect_row(const tile_job *job, uint32_t y)
{
    enum { LINE = 64, MOST = 4096 };
    const tz_buffer *from = job->is_mask ? &job->swath.mask : &job->swath.pixels;
    const uint64_t row = (uint64_t)job->tile_row * job->image->tile_height + y - job->swath.row;
    const uint8_t *first = first_pixel(job, from, row);
    const uint64_t size = job->width * tz_dtype_size(from->dtype) * job->row.samples;
    for (uint64_t i = 0; i < size && i < MOST; i += LINE)
        __builtin_prefetch(first + i);
}

/* Rows below the image's are as its last one. */
static tz_result make_rows(tile_job *job, uint8_t *tile)
{
    enum { AHEAD = 3 };
    const size_t row_bytes = tz_tile_row_bytes(&job->format);
    for (uint32_t y = 0; y < job->height; y++) {
        if (y + AHEAD < job->height)
            expect_row(job, y + AHEAD);
        TZ_TRY(make_row(job, y, tile + y * row_bytes));
    }
    for (uint32_t y = job->height; y < job->format.height; y++)
        memcpy(tile + y * row_bytes, tile + (y - 1) * row_bytes, row_bytes);
    return TZ_OK;
}

/* ---- the tile ---- */

static void begin_slot(tile_job *job)
{
    tz_slot *slot = job->slot;
    slot->size = 0;
    slot->level = job->level;
    slot->place = place_in_tables(job);
    slot->checked = job->is_mask ? TZ_NONE : tz_verified_index(job->image, slot->place);
    slot->hash = 0;
    slot->band = job->plane;
    job->tallied = job->writer->tallies && job->level == 0 && !job->is_mask;
    slot->bands = job->tallied ? job->row.samples : 0;
    if (slot->bands > 0)
        memset(slot->tallies, 0, slot->bands * sizeof slot->tallies[0]);
}

static tz_result encode(tile_job *job, uint8_t *tile)
{
    const tz_encoder *encoder = job->way->encoder;
    tz_slot *slot = job->slot;
    if (encoder->flags & TZ_ENCODER_COPY) {
        slot->size = tz_tile_bytes(&job->format);
        return TZ_OK;
    }
    return encoder->encode(job->worker->states[job->which], &job->format, job->way->choice, tile,
                           slot->bytes, &slot->size, &job->call);
}

tz_result tz_tile_make(tz_writer *writer, const tz_batch *batch, uint64_t index, unsigned worker,
                       tz_slot *slot, tz_error *err)
{
    tile_job job = {.worker = &writer->workers[worker], .slot = slot};
    begin_job(&job, writer, batch, index, err);
    begin_slot(&job);
    job.untreated = is_untreated(&job);
    uint8_t *tile = job.way->encoder->flags & TZ_ENCODER_COPY ? slot->bytes : job.worker->tile;
    TZ_TRY(make_rows(&job, tile));
    if (job.empty)
        return TZ_OK;
    TZ_TRY(encode(&job, tile));
    if (slot->size == 0 || slot->size > job.way->bytes.bound)
        return tz_fail(&job.ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL,
                       tz_expecting(job.call.place, job.way->bytes.bound, slot->size),
                       "the encoder made an impossible size");
    if (job.image->options.cog)
        tz_cog_frame(slot->bytes, slot->size);
    return TZ_OK;
}
