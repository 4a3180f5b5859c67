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
    tz_tile_spot spot;
    bool empty;     /* nothing but nodata so far */
    bool untreated; /* see is_untreated */
    tz_context ctx;
    tz_codec_call call;
} tile_job;

/* ---- which tile ---- */

static uint32_t extent(uint32_t index, uint32_t size, uint32_t end)
{
    const uint64_t left = end - (uint64_t)index * size;
    return left < size ? (uint32_t)left : size;
}

static uint64_t place_in_tables(const tz_image *image, const tz_tile_spot *spot)
{
    const uint64_t in_plane = (uint64_t)spot->row * image->tiles_across + spot->column;
    if (spot->is_mask)
        return image->tile_count + in_plane;
    return (uint64_t)spot->plane * image->tiles_across * image->tiles_down + in_plane;
}

/* The order in which tiles are made: see tz_interleave. The mask's tile follows the image's. */
tz_tile_spot tz_tile_find(const tz_image *image, const tz_swath *swath, uint64_t index)
{
    const uint64_t columns = swath->columns;
    const uint64_t kinds = tz_tile_kinds(image);
    const uint64_t in_row = index % (columns * kinds);
    const bool by_band = tz_is_by_band(image);
    const uint64_t kind = by_band ? in_row / columns : in_row % kinds;
    const uint64_t column = by_band ? in_row % columns : in_row / kinds;
    tz_tile_spot spot = {.is_mask = kind == image->planes,
                         .row = swath->row / image->tile_height +
                                (uint32_t)(index / (columns * kinds)),
                         .column = swath->column + (uint32_t)column};
    spot.plane = spot.is_mask ? 0 : (uint32_t)kind;
    spot.width = extent(spot.column, image->tile_width, image->spec.width);
    spot.height = extent(spot.row, image->tile_height, image->spec.height);
    spot.swath_row = (uint32_t)((uint64_t)spot.row * image->tile_height - swath->row);
    spot.swath_column = (uint32_t)((uint64_t)(spot.column - swath->column) * image->tile_width);
    spot.place = place_in_tables(image, &spot);
    return spot;
}

uint64_t tz_tile_number(const tz_image *image, const tz_swath *swath, uint64_t index)
{
    return tz_tile_find(image, swath, index).place;
}

tz_location tz_spot_place(const tz_image *image, uint32_t level, const tz_tile_spot *spot)
{
    return tz_at_tile(spot->is_mask ? TZ_MASK_OF(level) : level,
                      spot->place - (spot->is_mask ? image->tile_count : 0), TZ_NONE);
}

static void begin_job(tile_job *job, const tz_writer *writer, const tz_batch *batch, uint64_t index,
                      tz_error *err)
{
    const tz_image *image = &writer->pyramid.levels[batch->level].image;
    job->writer = writer;
    job->image = image;
    job->level = batch->level;
    job->swath = batch->swath;
    job->spot = tz_tile_find(image, &batch->swath, index);
    job->which = tz_way_of(&writer->budget, batch->level, job->spot.is_mask);
    job->way = &writer->budget.way[job->which];
    job->row = tz_writer_row_format(image, job->spot.is_mask);
    job->format = job->way->format;
    if (image->options.strips)
        job->format.height = job->spot.height;
    job->empty = image->options.sparse;
    job->ctx = tz_writer_context(writer, err);
    job->call = (tz_codec_call){&job->ctx, tz_spot_place(image, batch->level, &job->spot)};
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
    return tz_pixel_at(from, job->spot.plane, row, job->spot.swath_column);
}

/* The pixels of a row, packed. */
static void gather(const tile_job *job, const tz_buffer *from, uint64_t row, uint8_t *out)
{
    const size_t size = tz_dtype_size(from->dtype);
    const uint16_t samples = job->row.samples;
    const uint8_t *first = first_pixel(job, from, row);
    if (is_packed(job, from)) {
        memcpy(out, first, size * samples * job->spot.width);
        return;
    }
    for (uint16_t s = 0; s < samples; s++)
        tz_row_ops_get()->copy(size, first + (int64_t)s * from->band_stride,
                               (ptrdiff_t)from->column_stride, out + s * size,
                               (ptrdiff_t)(size * samples), job->spot.width);
}

/* Columns behind the image's are as its last one: no surprise for predictors and transforms. */
static void pad_columns(const tile_job *job, uint8_t *row)
{
    const size_t pixel = tz_dtype_size(job->row.dtype) * job->row.samples;
    const size_t end = job->format.width * pixel;
    for (size_t i = job->spot.width * pixel; i < end; i++)
        row[i] = row[i - pixel];
}

static const uint8_t *valid_row(const tile_job *job, uint64_t row)
{
    const tz_buffer *mask = &job->swath.mask;
    if (!mask->data)
        return NULL;
    const uint8_t *first = tz_pixel_at(mask, 0, row, job->spot.swath_column);
    if (mask->column_stride == 1)
        return first;
    tz_row_ops_get()->copy(1, first, (ptrdiff_t)mask->column_stride, job->worker->valid, 1,
                           job->spot.width);
    return job->worker->valid;
}

static void tally_row(const tile_job *job, const uint8_t *row, uint64_t swath_row)
{
    const size_t size = tz_dtype_size(job->row.dtype);
    const uint16_t samples = job->row.samples;
    const uint8_t *valid = valid_row(job, swath_row);
    for (uint16_t s = 0; s < samples; s++)
        tz_stats_row(&job->slot->tallies[s], job->row.dtype, row + s * size,
                     (ptrdiff_t)(samples * size), job->spot.width, &job->image->spec.nodata, valid);
}

tz_result tz_fail_misfit(const tz_image *image, uint32_t level, const tz_tile_spot *spot,
                         uint64_t misfit, const tz_context *ctx)
{
    const uint64_t samples = image->format.samples;
    const uint64_t x = misfit % (spot->width * samples) / samples;
    const uint64_t y = misfit / (spot->width * samples);
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_spot_place(image, level, spot),
                   "the pixel in column %llu, row %llu does not fit %u bits",
                   (unsigned long long)((uint64_t)spot->column * image->tile_width + x),
                   (unsigned long long)((uint64_t)spot->row * image->tile_height + y),
                   (unsigned)image->format.bits);
}

static tz_result check_fit(const tile_job *job, const uint8_t *row, uint32_t y)
{
    const size_t count = (size_t)job->spot.width * job->row.samples;
    const size_t misfit = tz_store_misfit(&job->row, row, count);
    if (misfit == count)
        return TZ_OK;
    return tz_fail_misfit(job->image, job->level, &job->spot, (uint64_t)y * count + misfit,
                          &job->ctx);
}

/* What happens to the pixels of the image, by the user's choice. */
static tz_result treat_pixels(tile_job *job, uint8_t *row, uint32_t y, uint64_t swath_row)
{
    const tz_image *image = job->image;
    const tz_nodata *nodata = &image->spec.nodata;
    const size_t count = (size_t)job->spot.width * job->row.samples;
    if (image->nan_to_nodata)
        tz_store_replace_nan(job->row.dtype, row, count, nodata->value.f);
    if (image->options.discard_bits)
        tz_store_discard_bits(job->row.dtype, row, job->spot.width, job->row.samples,
                              image->options.discard_bits + job->spot.plane, nodata);
    if (job->slot->bands > 0)
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
    for (uint32_t x = 0; x < job->spot.width; x++)
        row[x] = row[x] != 0;
    if (job->empty)
        job->empty = tz_store_is_all(TZ_DTYPE_UINT8, &zero, row, job->spot.width);
}

/* Whether rows of the image go into the tile just as they are. */
static bool is_untreated(const tile_job *job)
{
    const tz_image *image = job->image;
    return !job->spot.is_mask && job->way->bytes.row == 0 && job->spot.width == job->format.width &&
           !image->nan_to_nodata && !image->options.discard_bits && job->slot->bands == 0 &&
           !image->options.sparse && job->slot->checked == TZ_NONE &&
           is_packed(job, &job->swath.pixels) && job->swath.pixels.row_stride >= TZ_ROW_SLACK;
}

static tz_result make_row(tile_job *job, uint32_t y, uint8_t *out)
{
    uint8_t *row = job->way->bytes.row > 0 ? job->worker->row : out;
    const uint64_t swath_row = (uint64_t)job->spot.swath_row + y;
    const tz_buffer *pixels = &job->swath.pixels;
    if (job->untreated && swath_row + 1 < job->swath.rows) { /* behind it is another row */
        tz_store_row(&job->row, first_pixel(job, pixels, swath_row), out, job->worker->scratch);
        return TZ_OK;
    }
    gather(job, job->spot.is_mask ? &job->swath.mask : pixels, swath_row, row);
    if (job->spot.is_mask)
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
    const tz_buffer *from = job->spot.is_mask ? &job->swath.mask : &job->swath.pixels;
    const uint8_t *first = first_pixel(job, from, (uint64_t)job->spot.swath_row + y);
    const uint64_t size = job->spot.width * tz_dtype_size(from->dtype) * job->row.samples;
    for (uint64_t i = 0; i < size && i < MOST; i += LINE)
        __builtin_prefetch(first + i);
}

/* Rows below the image's are as its last one. */
static tz_result make_rows(tile_job *job, uint8_t *tile)
{
    enum { AHEAD = 3 };
    const size_t row_bytes = tz_tile_row_bytes(&job->format);
    for (uint32_t y = 0; y < job->spot.height; y++) {
        if (y + AHEAD < job->spot.height)
            expect_row(job, y + AHEAD);
        TZ_TRY(make_row(job, y, tile + y * row_bytes));
    }
    for (uint32_t y = job->spot.height; y < job->format.height; y++)
        memcpy(tile + y * row_bytes, tile + (y - 1) * row_bytes, row_bytes);
    return TZ_OK;
}

/* ---- the tile ---- */

void tz_slot_begin(const tz_writer *writer, uint32_t level, const tz_tile_spot *spot, tz_slot *slot)
{
    const tz_image *image = &writer->pyramid.levels[level].image;
    const bool tallied = writer->tallies && level == 0 && !spot->is_mask;
    slot->size = 0;
    slot->level = level;
    slot->place = spot->place;
    slot->checked = spot->is_mask ? TZ_NONE : tz_verified_index(image, spot->place);
    slot->hash = 0;
    slot->band = spot->plane;
    slot->bands = tallied ? image->format.samples : 0;
}

tz_result tz_tile_encode(const tz_writer *writer, unsigned which, const tz_tile_format *format,
                         unsigned worker, uint8_t *in, tz_slot *slot, const tz_codec_call *call)
{
    const tz_tile_way *way = &writer->budget.way[which];
    if (way->encoder->flags & TZ_ENCODER_COPY) {
        slot->bytes = in;
        slot->size = tz_tile_bytes(format);
        return TZ_OK;
    }
    slot->bytes = slot->own;
    return way->encoder->encode(writer->workers[worker].states[which], format, way->choice, in,
                                slot->bytes, &slot->size, call);
}

tz_result tz_tile_seal(const tz_writer *writer, unsigned which, tz_slot *slot,
                       const tz_codec_call *call)
{
    const size_t bound = writer->budget.way[which].bytes.bound;
    if (slot->size == 0 || slot->size > bound)
        return tz_fail(call->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL,
                       tz_expecting(call->place, bound, slot->size),
                       "the encoder made an impossible size");
    if (tz_writer_image(writer)->options.cog)
        tz_cog_frame(slot->bytes, slot->size);
    return TZ_OK;
}

tz_result tz_tile_make(tz_writer *writer, const tz_batch *batch, uint64_t index, unsigned worker,
                       tz_slot *slot, tz_error *err)
{
    tile_job job = {.worker = &writer->workers[worker], .slot = slot};
    begin_job(&job, writer, batch, index, err);
    tz_slot_begin(writer, batch->level, &job.spot, slot);
    if (slot->bands > 0)
        memset(slot->tallies, 0, slot->bands * sizeof slot->tallies[0]);
    job.untreated = is_untreated(&job);
    uint8_t *tile = job.way->encoder->flags & TZ_ENCODER_COPY ? slot->own : job.worker->tile;
    TZ_TRY(make_rows(&job, tile));
    if (job.empty)
        return TZ_OK;
    TZ_TRY(tz_tile_encode(writer, job.which, &job.format, worker, tile, slot, &job.call));
    return tz_tile_seal(writer, job.which, slot, &job.call);
}
