/* SPDX-License-Identifier: Apache-2.0
 * One tile after the other: extracted from its tile row, then encoded into a slot.
 *
 * Rows are handled one at a time while they are in the first cache: gathered from the caller's
 * layout, changed as the options say (nodata for NaN, discarded bits), counted (statistics, hash,
 * sparse), padded to the tile's width, and stored in the tile's byte order, bits and predictor. The
 * complete tile goes to the codec. The caller's pixels are only read.
 *
 * The decision that is not obvious: if nothing of this happens to the pixels, a row is stored
 * straight from the caller's memory (plain_copy). Storing may read TZ_ROW_SLACK bytes past the end
 * of a row, so the last row of the tile row is always gathered first. */
#include "write/tile_encoder.h"

#include <string.h>

#include "base/mem.h"
#include "kernels/row_hash.h"
#include "pixel/row_ops.h"
#include "write/cog_layout.h"

/* ---- memory ---- */

/* Space for a leader, which also keeps the tile aligned. */
enum { SPACE_BEFORE_TILE = 64 };

size_t tz_tile_slot_bytes(const tz_image *image)
{
    const uint32_t bands = tz_image_wants_statistics(image) ? image->format.samples : 0;
    return sizeof(tz_tile_slot) + bands * sizeof(tz_stats) + SPACE_BEFORE_TILE +
           2 * (TZ_CODEC_SLACK + 64);
}

uint64_t tz_encode_worker_bytes(const tz_image *image)
{
    return sizeof(tz_encode_worker) + image->tile_width + 6 * (TZ_CODEC_SLACK + 64);
}

/* One allocation for the buffers of a worker, each as large as the encoding that needs most, and
 * the state of each encoder. */
static tz_result open_worker(const tz_tile_encoder *e, const tz_encoding_bytes *most,
                             tz_encode_worker *worker, const tz_context *ctx)
{
    const tz_budget *b = e->budget;
    size_t size = 0;
    const size_t tile = tz_codec_buffer_offset(&size, most->tile);
    const size_t row = tz_codec_buffer_offset(&size, most->row);
    const size_t scratch = tz_codec_buffer_offset(&size, most->scratch);
    const size_t valid = tz_codec_buffer_offset(&size, e->pyramid->levels[0].image.tile_width);
    const size_t overview_scratch = tz_codec_buffer_offset(&size, b->overview_scratch);
    worker->memory = tz_alloc(size);
    if (!worker->memory)
        return tz_fail_nomem(ctx, size);
    worker->tile = worker->memory + tile;
    worker->row = worker->memory + row;
    worker->scratch = worker->memory + scratch;
    worker->valid = worker->memory + valid;
    worker->overview_scratch = worker->memory + overview_scratch;
    for (unsigned which = 0; which < TZ_ENCODINGS; which++) {
        const tz_tile_encoding *encoding = &b->encoding[which];
        const tz_encoder *encoder = encoding->encoder;
        if (!encoder || encoder->state_size == 0)
            continue;
        worker->states[which] = tz_alloc_zeroed(1, encoder->state_size);
        if (!worker->states[which])
            return tz_fail_nomem(ctx, encoder->state_size);
        if (encoder->init)
            TZ_TRY(encoder->init(worker->states[which], &encoding->format, encoding->choice, ctx));
    }
    return TZ_OK;
}

/* All slots are one allocation: statistics and tile of each, aligned for codecs. */
tz_result tz_tile_encoder_open(tz_tile_encoder *e, const tz_context *ctx)
{
    const uint32_t slots = e->budget->slots;
    const uint32_t bands = e->wants_statistics ? e->pyramid->levels[0].image.format.samples : 0;
    tz_encoding_bytes most = {0};
    for (unsigned which = 0; which < TZ_ENCODINGS; which++) {
        const tz_encoding_bytes *bytes = &e->budget->encoding[which].bytes;
        most.tile = tz_max_size(most.tile, bytes->tile);
        most.row = tz_max_size(most.row, bytes->row);
        most.scratch = tz_max_size(most.scratch, bytes->scratch);
        most.bound = tz_max_size(most.bound, bytes->bound);
    }
    e->workers = tz_alloc_zeroed(e->budget->threads, sizeof *e->workers);
    if (!e->workers)
        return tz_fail_nomem(ctx, e->budget->threads * sizeof *e->workers);
    for (unsigned i = 0; i < e->budget->threads; i++)
        TZ_TRY(open_worker(e, &most, &e->workers[i], ctx));
    size_t size = 0;
    const size_t stats = tz_codec_buffer_offset(&size, bands * sizeof(tz_stats));
    const size_t bytes = tz_codec_buffer_offset(&size, SPACE_BEFORE_TILE + most.bound);
    const size_t each = tz_codec_buffer_offset(&size, 0); /* from one slot to the next */
    e->slots = tz_alloc_zeroed(slots, sizeof *e->slots);
    e->slot_memory = tz_alloc_slab(tz_mul_capped(each, slots));
    if (!e->slots || !e->slot_memory)
        return tz_fail_nomem(ctx, tz_mul_capped(each, slots));
    for (uint32_t i = 0; i < slots; i++) {
        uint8_t *memory = e->slot_memory + i * each;
        e->slots[i].stats = (tz_stats *)(void *)(memory + stats);
        e->slots[i].own = memory + bytes + SPACE_BEFORE_TILE;
    }
    return TZ_OK;
}

/* Workers that were not opened are zero. */
void tz_tile_encoder_close(tz_tile_encoder *e)
{
    for (unsigned i = 0; e->workers && i < e->budget->threads; i++) {
        tz_encode_worker *worker = &e->workers[i];
        for (unsigned which = 0; which < TZ_ENCODINGS; which++) {
            const tz_encoder *encoder = e->budget->encoding[which].encoder;
            if (worker->states[which] && encoder->deinit)
                encoder->deinit(worker->states[which]);
            tz_free(worker->states[which]);
        }
        tz_free(worker->memory);
    }
    tz_free(e->workers);
    tz_free(e->slot_memory);
    tz_free(e->slots);
    e->workers = NULL;
    e->slot_memory = NULL;
    e->slots = NULL;
}

/* ---- positions and formats ---- */

/* Some codecs take samples in the byte order of the machine and store their own. */
tz_row_format tz_tile_row_format(const tz_image *image, bool mask)
{
    const tz_tile_format *format = mask ? &image->mask_format : &image->format;
    const tz_encoder *encoder = mask ? image->mask_encoder : image->encoder;
    const bool native = (encoder->flags & TZ_ENCODER_NATIVE_ENDIAN) != 0;
    return (tz_row_format){
        .dtype = mask ? TZ_DTYPE_UINT8 : image->spec.dtype,
        .bits = format->bits,
        .sample_format = format->sample_format,
        .samples = format->samples,
        .predictor = mask ? 1 : image->options.codec.predictor,
        .swap = !native && image->options.big_endian,
        .width = format->width,
    };
}

/* For the order see tz_interleave. A mask's tile follows the image's. */
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
    const uint64_t x = (uint64_t)position.column * image->tile_width;
    const uint64_t y = (uint64_t)position.row * image->tile_height;
    position.width = (uint32_t)tz_min(image->tile_width, image->spec.width - x);
    position.height = (uint32_t)tz_min(image->tile_height, image->spec.height - y);
    position.buffer_row = (uint32_t)(y - tile_row->row);
    position.buffer_column =
        (uint32_t)((uint64_t)(position.column - tile_row->column) * image->tile_width);
    const uint64_t in_plane = (uint64_t)position.row * image->tiles_across + position.column;
    const uint64_t plane_tiles = (uint64_t)image->tiles_across * image->tiles_down;
    position.tile_index =
        position.is_mask ? image->tile_count + in_plane : position.plane * plane_tiles + in_plane;
    return position;
}

tz_location tz_tile_location(const tz_image *image, uint32_t level,
                             const tz_tile_position *position)
{
    return tz_at_tile(level, position->is_mask,
                      position->tile_index - (position->is_mask ? image->tile_count : 0),
                      TZ_NO_VALUE);
}

/* ---- rows ---- */

typedef struct tile_job {
    const tz_image *image;
    const tz_tile_encoding *encoding;
    tz_encode_worker *worker;
    tz_tile_slot *slot;
    tz_row_format row;
    tz_tile_format format; /* the last strip has fewer rows */
    tz_tile_row tile_row;
    uint32_t level;
    unsigned which; /* encoding */
    tz_tile_position position;
    bool empty;      /* only nodata so far */
    bool plain_copy; /* rows go to the tile as they are */
    tz_context ctx;
    tz_codec_call call;
} tile_job;

/* Returns whether the samples of a row lie side by side as in the tile. */
static bool is_packed(const tile_job *job, const tz_pixel_buffer *from)
{
    const int64_t size = (int64_t)tz_dtype_size(from->dtype);
    return from->column_stride == size * job->row.samples &&
           (job->row.samples == 1 || from->band_stride == size);
}

/* The tile's first pixel in a row of the tile row. */
static const uint8_t *first_pixel(const tile_job *job, const tz_pixel_buffer *from, uint64_t row)
{
    return tz_pixel_at(from, job->position.plane, row, job->position.buffer_column);
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

/* Changes and counts the pixels of a row as the options say. Pixels that the mask excludes do not
 * count in statistics, so the row of the mask is made contiguous first if the caller's is not. */
static tz_result process_pixels(tile_job *job, uint8_t *row, uint32_t y, uint64_t buffer_row)
{
    const tz_image *image = job->image;
    const tz_nodata *nodata = &image->spec.nodata;
    const uint16_t samples = job->row.samples;
    const size_t size = tz_dtype_size(job->row.dtype);
    const size_t count = (size_t)job->position.width * samples;
    if (image->nan_to_nodata)
        tz_store_replace_nan(job->row.dtype, row, count, nodata->value.f);
    if (image->options.discard_bits)
        tz_store_discard_bits(job->row.dtype, row, job->position.width, samples,
                              image->options.discard_bits + job->position.plane, nodata);
    if (job->slot->bands > 0) {
        const tz_pixel_buffer *mask = &job->tile_row.mask;
        const uint8_t *valid =
            mask->data ? tz_pixel_at(mask, 0, buffer_row, job->position.buffer_column) : NULL;
        if (valid && mask->column_stride != 1) {
            tz_row_ops_get()->copy(1, valid, (ptrdiff_t)mask->column_stride, job->worker->valid, 1,
                                   job->position.width);
            valid = job->worker->valid;
        }
        for (uint16_t s = 0; s < samples; s++)
            tz_stats_row(&job->slot->stats[s], job->row.dtype, row + s * size,
                         (ptrdiff_t)(samples * size), job->position.width, nodata, valid);
    }
    if (job->empty)
        job->empty = tz_store_is_all(job->row.dtype, nodata, row, count);
    if (job->slot->verified_index != TZ_NO_VALUE)
        job->slot->hash = tz_hash_row(job->slot->hash, row, count * size);
    if (job->encoding->bytes.row == 0)
        return TZ_OK;
    const size_t misfit = tz_store_misfit(&job->row, row, count);
    if (misfit == count)
        return TZ_OK;
    return tz_fail_misfit(image, job->level, &job->position, (uint64_t)y * count + misfit,
                          &job->ctx);
}

/* Makes row y of the tile. The row is gathered in worker->row, or in the tile itself if its samples
 * are not packed into bits. */
static tz_result make_row(tile_job *job, uint32_t y, uint8_t *out)
{
    static const tz_nodata zero = {TZ_NODATA_KIND_NONE, {0}};
    const uint32_t width = job->position.width;
    const size_t size = tz_dtype_size(job->row.dtype), pixel = size * job->row.samples;
    const uint64_t buffer_row = (uint64_t)job->position.buffer_row + y;
    const tz_pixel_buffer *pixels = &job->tile_row.pixels;
    uint8_t *row = job->encoding->bytes.row > 0 ? job->worker->row : out;
    if (job->plain_copy && buffer_row + 1 < job->tile_row.rows) { /* another row follows */
        tz_store_row(&job->row, first_pixel(job, pixels, buffer_row), out, job->worker->scratch);
        return TZ_OK;
    }
    const tz_pixel_buffer *from = job->position.is_mask ? &job->tile_row.mask : pixels;
    const uint8_t *first = first_pixel(job, from, buffer_row);
    if (is_packed(job, from))
        memcpy(row, first, pixel * width);
    else
        for (uint16_t s = 0; s < job->row.samples; s++)
            tz_row_ops_get()->copy(size, first + (int64_t)s * from->band_stride,
                                   (ptrdiff_t)from->column_stride, row + s * size, (ptrdiff_t)pixel,
                                   width);
    if (job->position.is_mask) {
        for (uint32_t x = 0; x < width; x++)
            row[x] = row[x] != 0;
        job->empty = job->empty && tz_store_is_all(TZ_DTYPE_UINT8, &zero, row, width);
    } else {
        TZ_TRY(process_pixels(job, row, y, buffer_row));
    }
    /* Columns outside of the image repeat its last one: predictors and transforms see no edge. */
    for (size_t i = width * pixel; i < job->format.width * pixel; i++)
        row[i] = row[i - pixel];
    tz_store_row(&job->row, row, out, job->worker->scratch);
    return TZ_OK;
}

/* Rows of a tile are far apart in a wide tile row, so the hardware does not prefetch the next one:
 * this does, and three rows ahead. Rows below the image repeat its last one. */
static tz_result make_rows(tile_job *job, uint8_t *tile)
{
    enum { ROWS_AHEAD = 3, CACHE_LINE = 64, MAX_PREFETCH = 4096 };
    const tz_pixel_buffer *from =
        job->position.is_mask ? &job->tile_row.mask : &job->tile_row.pixels;
    const size_t row_bytes = tz_tile_row_bytes(&job->format);
    const uint64_t size = job->position.width * tz_dtype_size(from->dtype) * job->row.samples;
    for (uint32_t y = 0; y < job->position.height; y++) {
        if (y + ROWS_AHEAD < job->position.height) {
            const uint64_t row = (uint64_t)job->position.buffer_row + y + ROWS_AHEAD;
            const uint8_t *first = first_pixel(job, from, row);
            for (uint64_t i = 0; i < size && i < MAX_PREFETCH; i += CACHE_LINE)
                __builtin_prefetch(first + i);
        }
        TZ_TRY(make_row(job, y, tile + y * row_bytes));
    }
    for (uint32_t y = job->position.height; y < job->format.height; y++)
        memcpy(tile + y * row_bytes, tile + (y - 1) * row_bytes, row_bytes);
    return TZ_OK;
}

/* ---- the tile ---- */

void tz_tile_slot_begin(const tz_tile_encoder *e, uint32_t level, const tz_tile_position *position,
                        tz_tile_slot *slot)
{
    const tz_image *image = &e->pyramid->levels[level].image;
    const bool counted = e->wants_statistics && level == 0 && !position->is_mask;
    slot->tile = true;
    slot->size = 0;
    slot->level = level;
    slot->tile_index = position->tile_index;
    slot->verified_index =
        position->is_mask ? TZ_NO_VALUE : tz_verified_index(image, position->tile_index);
    slot->hash = 0;
    slot->band = position->plane;
    slot->bands = counted ? image->format.samples : 0;
}

tz_result tz_tile_encode(const tz_tile_encoder *e, unsigned which, const tz_tile_format *format,
                         unsigned worker, uint8_t *in, tz_tile_slot *slot,
                         const tz_codec_call *call)
{
    const tz_tile_encoding *encoding = &e->budget->encoding[which];
    if (encoding->encoder->flags & TZ_ENCODER_COPY) {
        slot->bytes = in;
        slot->size = tz_tile_bytes(format);
        return TZ_OK;
    }
    slot->bytes = slot->own;
    return encoding->encoder->encode(e->workers[worker].states[which], format, encoding->choice, in,
                                     slot->bytes, &slot->size, call);
}

/* The bound is checked here because codecs are libraries: a larger tile has overwritten
 * memory. */
tz_result tz_tile_seal(const tz_tile_encoder *e, unsigned which, tz_tile_slot *slot,
                       const tz_codec_call *call)
{
    const size_t bound = e->budget->encoding[which].bytes.bound;
    if (slot->size == 0 || slot->size > bound)
        return tz_fail(call->ctx, TZ_ERR_INTERNAL, TZ_CAUSE_INTERNAL,
                       tz_expecting(call->location, bound, slot->size),
                       "the encoder made an impossible size");
    if (e->pyramid->levels[0].image.options.cog)
        tz_cog_frame(slot->bytes, slot->size);
    return TZ_OK;
}

/* An encoder that only copies needs no second buffer: the tile is made in its slot. */
tz_result tz_tile_make(const tz_tile_encoder *e, uint32_t level, const tz_tile_row *tile_row,
                       uint64_t index, unsigned worker, tz_tile_slot *slot, tz_error *err)
{
    const tz_image *image = &e->pyramid->levels[level].image;
    tile_job job = {
        .image = image,
        .worker = &e->workers[worker],
        .slot = slot,
        .tile_row = *tile_row,
        .level = level,
        .position = tz_tile_position_of(image, tile_row, index),
        .empty = image->options.sparse,
        .ctx = {.name = e->name, .limits = e->limits, .err = err, .ifd = -1},
    };
    job.which = tz_encoding_index(e->budget, level, job.position.is_mask);
    job.encoding = &e->budget->encoding[job.which];
    job.row = tz_tile_row_format(image, job.position.is_mask);
    job.format = job.encoding->format;
    if (image->options.strips)
        job.format.height = job.position.height;
    job.call = (tz_codec_call){&job.ctx, tz_tile_location(image, level, &job.position)};
    tz_tile_slot_begin(e, level, &job.position, slot);
    if (slot->bands > 0)
        memset(slot->stats, 0, slot->bands * sizeof slot->stats[0]);
    job.plain_copy = !job.position.is_mask && job.encoding->bytes.row == 0 &&
                     job.position.width == job.format.width && !image->nan_to_nodata &&
                     !image->options.discard_bits && slot->bands == 0 && !image->options.sparse &&
                     slot->verified_index == TZ_NO_VALUE && is_packed(&job, &tile_row->pixels) &&
                     tile_row->pixels.row_stride >= TZ_ROW_SLACK;
    uint8_t *tile = job.encoding->encoder->flags & TZ_ENCODER_COPY ? slot->own : job.worker->tile;
    TZ_TRY(make_rows(&job, tile));
    if (job.empty)
        return TZ_OK;
    TZ_TRY(tz_tile_encode(e, job.which, &job.format, worker, tile, slot, &job.call));
    return tz_tile_seal(e, job.which, slot, &job.call);
}
