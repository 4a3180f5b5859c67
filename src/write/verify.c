/* SPDX-License-Identifier: Apache-2.0
 * Reads a written file back before it is published, through the normal reader.
 *
 * The sink becomes a source, the file is opened, and its directories are compared with the
 * specification. Then some or all tiles are read, as many at a time as there are threads. With a
 * lossless codec their pixels are compared with those that were given, by the hash that each tile
 * got when it was made; with a lossy codec it is enough that they can be read.
 *
 * Which tiles are verified must be known while they are made, so it follows from the number of
 * tiles alone: the first, the last, and others at even distances. */
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "io/source.h"
#include "kernels/row_hash.h"
#include "tiff/tags.h"
#include "write/output_file.h"
#include "write/tile_row.h"

/* One tile in TILES_PER_SAMPLE is read back, within these limits. */
enum { MAX_SAMPLES = 16, MIN_SAMPLES = 2, TILES_PER_SAMPLE = 64 };

/* ---- verified tiles ---- */

uint64_t tz_verified_count(const tz_image *image)
{
    const uint64_t tiles = image->tile_count;
    if (image->options.verify == TZ_VERIFY_NONE)
        return 0;
    if (image->options.verify == TZ_VERIFY_ALL || tiles <= MIN_SAMPLES)
        return tiles;
    return tz_min(tz_max(tiles / TILES_PER_SAMPLE, MIN_SAMPLES), MAX_SAMPLES);
}

static uint64_t verified_tile(const tz_image *image, uint64_t index)
{
    const uint64_t count = tz_verified_count(image);
    return count == image->tile_count ? index : index * (image->tile_count - 1) / (count - 1);
}

/* The inverse of verified_tile: the smallest index whose tile is not before this one, if it
 * is this one. */
uint64_t tz_verified_index(const tz_image *image, uint64_t tile)
{
    const uint64_t count = tz_verified_count(image);
    if (count == 0)
        return TZ_NO_VALUE;
    if (count == image->tile_count)
        return tile;
    const uint64_t index = tz_ceil_div(tile * (count - 1), image->tile_count - 1);
    return verified_tile(image, index) == tile ? index : TZ_NO_VALUE;
}

/* ---- the sink as a source ---- */

typedef struct sink_source {
    tz_source base; /* first: the two share their address */
    tz_sink *sink;
    pthread_mutex_t lock; /* the reader has several threads, a sink is for one at a time */
} sink_source;

/* Reads everything at once; the lock is held for one range at a time. */
static tz_result sink_source_submit(tz_source *source, tz_request *request, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    sink_source *self = (sink_source *)source;
    tz_result result = tz_source_check_ranges(source, request, err);
    for (size_t i = 0; result == TZ_OK && i < request->count; i++) {
        const tz_range *range = &request->ranges[i];
        pthread_mutex_lock(&self->lock);
        result = tz_sink_read(self->sink, range->offset, range->dst, range->size, &ctx);
        pthread_mutex_unlock(&self->lock);
    }
    return result;
}

static tz_result sink_source_wait(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)request, (void)err;
    return TZ_OK; /* submit has read everything */
}

/* ---- comparing ---- */

static tz_result fail_differs(const tz_output_file *out, const char *what, uint64_t expected,
                              uint64_t found)
{
    return tz_fail(out->ctx, TZ_ERR_IO, TZ_CAUSE_IO,
                   tz_expecting(tz_no_location(), expected, found),
                   "%s of the written file reads back differently", what);
}

/* The header of the file, as the reader sees it, against the specification. */
static tz_result compare_info(const tz_output_file *out, const tz_file *file)
{
    const tz_info *info = tz_file_get_info(file);
    const tz_image_spec *spec = &tz_output_file_image(out)->spec;
    if (info->bands != spec->bands)
        return fail_differs(out, "the number of bands", spec->bands, info->bands);
    if (info->dtype != spec->dtype)
        return fail_differs(out, "the type", spec->dtype, info->dtype);
    if (info->level_count != out->pyramid->count)
        return fail_differs(out, "the number of levels", out->pyramid->count, info->level_count);
    for (uint32_t i = 0; i < info->level_count; i++) {
        const tz_level *level = tz_file_get_level(file, i);
        const tz_image *image = &out->pyramid->levels[i].image;
        if (level->width != image->spec.width)
            return fail_differs(out, "the width", image->spec.width, level->width);
        if (level->height != image->spec.height)
            return fail_differs(out, "the height", image->spec.height, level->height);
        if (level->tile_count != image->tile_count)
            return fail_differs(out, "the number of tiles", image->tile_count, level->tile_count);
        if (level->has_mask != image->spec.mask)
            return fail_differs(out, "the mask", image->spec.mask, level->has_mask);
    }
    return TZ_OK;
}

/* Verified tiles of a level that are read together. */
typedef struct tile_sample {
    tz_item items[MAX_SAMPLES];
    tz_buffer buffers[MAX_SAMPLES]; /* of the items */
    uint32_t bands[MAX_SAMPLES];
    uint32_t level;
    uint64_t first; /* of the verified tiles */
    size_t count;
    size_t tile_bytes; /* of each */
    uint8_t *memory;
} tile_sample;

/* Adds the next verified tile to those that are read: the part of it that is within the image, with
 * samples packed as in the rows that were hashed. */
static void add_tile(const tz_output_file *out, const tz_file *file, tile_sample *s)
{
    const tz_image *image = &out->pyramid->levels[s->level].image;
    const int64_t size = (int64_t)tz_dtype_size(image->spec.dtype);
    const uint32_t samples = image->format.samples;
    const size_t i = s->count++;
    const uint64_t tile = verified_tile(image, s->first + i);
    const uint64_t in_plane = (uint64_t)image->tiles_across * image->tiles_down;
    const uint64_t row = tile % in_plane / image->tiles_across * image->tile_height;
    const uint64_t column = tile % image->tiles_across * image->tile_width;
    const tz_window window = {
        .column = (int64_t)column,
        .row = (int64_t)row,
        .width = (uint32_t)tz_min(image->tile_width, image->spec.width - column),
        .height = (uint32_t)tz_min(image->tile_height, image->spec.height - row)};
    s->bands[i] = (uint32_t)(tile / in_plane);
    s->buffers[i] = (tz_buffer){.struct_size = sizeof s->buffers[i],
                                .data = s->memory + i * s->tile_bytes,
                                .dtype = image->spec.dtype,
                                .bands = samples,
                                .height = window.height,
                                .width = window.width,
                                .band_stride = size,
                                .row_stride = size * samples * window.width,
                                .column_stride = size * samples};
    s->items[i] = (tz_item){.struct_size = sizeof s->items[i],
                            .file = file,
                            .level = s->level,
                            .window = window,
                            .bands = image->planes > 1 ? &s->bands[i] : NULL,
                            .band_count = image->planes > 1 ? 1 : 0,
                            .into = &s->buffers[i]};
}

/* Reads the tiles of a sample in one call and compares their hashes. */
static tz_result compare_sample(const tz_output_file *out, const tile_sample *s)
{
    const tz_tile_tables *tables = &out->levels[s->level];
    const tz_image *image = &out->pyramid->levels[s->level].image;
    const tz_encoder *encoder = image->encoder;
    /* Decoding restores every bit, unless the codec is lossy or keeps values but not all NaNs. */
    const bool exact = !(encoder->lossy && encoder->lossy(&image->format, &image->choice)) &&
                       (!(encoder->flags & TZ_ENCODER_VALUES_ONLY) ||
                        image->format.sample_format != TZ_SAMPLE_FORMAT_FLOAT);
    const tz_read_options how = {.struct_size = sizeof how, .threads = out->budget->threads};
    TZ_TRY(tz_read_batch(s->items, s->count, &how, NULL, out->ctx->err));
    for (size_t i = 0; i < s->count; i++) {
        const uint64_t tile = verified_tile(image, s->first + i);
        const bool sparse =
            tables->sizes[tile] == 0; /* read as nodata: a NaN may have other bits */
        const tz_buffer *pixels = &s->buffers[i];
        const size_t row = (size_t)pixels->row_stride;
        uint64_t hash = 0;
        for (uint32_t y = 0; y < pixels->height; y++)
            hash = tz_hash_row(hash, (const uint8_t *)pixels->data + y * row, row);
        out->report->tiles_verified++;
        if (exact && !sparse && hash != tables->hashes[s->first + i])
            return tz_fail(out->ctx, TZ_ERR_IO, TZ_CAUSE_IO,
                           tz_at_tile(s->level, false, tile, tables->offsets[tile]),
                           "the pixels of the written tile read back differently");
    }
    return TZ_OK;
}

/* As many tiles at a time as there are threads: the reader needs about as much memory for a tile as
 * the writer, which has released its own. */
static tz_result compare_file(const tz_output_file *out, const tz_file *file)
{
    const tz_image *image = tz_output_file_image(out);
    const uint64_t tile_bytes = (uint64_t)image->tile_width * image->tile_height *
                                image->format.samples * tz_dtype_size(image->spec.dtype);
    const size_t at_a_time = tz_min_size(out->budget->threads, MAX_SAMPLES);
    tile_sample s = {.tile_bytes = (size_t)tile_bytes};
    uint64_t size = TZ_NO_VALUE;
    TZ_TRY(compare_info(out, file));
    if (tz_mul(tile_bytes, at_a_time, &size) && size <= SIZE_MAX)
        s.memory = tz_alloc((size_t)size);
    if (!s.memory)
        return tz_fail_nomem(out->ctx, size);
    tz_result result = TZ_OK;
    for (s.level = 0; result == TZ_OK && s.level < out->pyramid->count; s.level++) {
        const uint64_t count = tz_verified_count(&out->pyramid->levels[s.level].image);
        for (s.first = 0; result == TZ_OK && s.first < count; s.first += s.count) {
            s.count = 0;
            while (s.count < at_a_time && s.first + s.count < count)
                add_tile(out, file, &s);
            result = tz_check_progress(out->ctx, &image->options.progress, image->spec.height,
                                       image->spec.height);
            if (result == TZ_OK)
                result = compare_sample(out, &s);
        }
    }
    tz_free(s.memory);
    return result;
}

tz_result tz_output_file_verify(const tz_output_file *out)
{
    if (tz_verified_count(tz_output_file_image(out)) == 0 || !out->sink->read)
        return TZ_OK;
    sink_source source = {.base = {.struct_size = sizeof source.base,
                                   .size = out->report->file_size,
                                   .caller_thread = out->sink->caller_thread,
                                   .submit = sink_source_submit,
                                   .wait = sink_source_wait},
                          .sink = out->sink};
    const tz_open_options how = {.struct_size = sizeof how, .limits = out->ctx->limits};
    tz_file *file = NULL;
    pthread_mutex_init(&source.lock, NULL);
    tz_result result = tz_open_source(&file, &source.base, out->ctx->name, &how, out->ctx->err);
    if (result == TZ_OK) {
        result = compare_file(out, file);
        tz_close(file);
    }
    pthread_mutex_destroy(&source.lock);
    return result;
}
