/* SPDX-License-Identifier: Apache-2.0
 * Reading back what was written, through the normal reader, before it is published: the
 * directories, and some or all of the tiles. Of lossless codecs, pixels are compared with those
 * that were given, by a hash of each tile. */
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "io/source.h"
#include "kernels/row_hash.h"
#include "write/writer.h"

/* One tile in so many is read back, but not fewer than the first and the last one. */
enum { MAX_SAMPLES = 16, MIN_SAMPLES = 2, TILES_PER_SAMPLE = 64 };

/* ---- which tiles ---- */

uint64_t tz_verified_count(const tz_image *image)
{
    const uint64_t tiles = image->tile_count;
    if (image->options.verify == TZ_VERIFY_NONE)
        return 0;
    if (image->options.verify == TZ_VERIFY_ALL || tiles <= MIN_SAMPLES)
        return tiles;
    const uint64_t samples = tiles / TILES_PER_SAMPLE;
    return samples < MIN_SAMPLES ? MIN_SAMPLES : samples > MAX_SAMPLES ? MAX_SAMPLES : samples;
}

/* The first one, the last one, and others at even distances. */
static uint64_t verified_tile(const tz_image *image, uint64_t index)
{
    const uint64_t count = tz_verified_count(image);
    return count == image->tile_count ? index : index * (image->tile_count - 1) / (count - 1);
}

uint64_t tz_verified_index(const tz_image *image, uint64_t tile)
{
    const uint64_t count = tz_verified_count(image);
    if (count == 0)
        return TZ_NONE;
    if (count == image->tile_count)
        return tile;
    const uint64_t index = tz_ceil_div(tile * (count - 1), image->tile_count - 1);
    return verified_tile(image, index) == tile ? index : TZ_NONE;
}

/* ---- the sink as a source ---- */

typedef struct sink_source {
    tz_source base; /* first: the two share their address */
    tz_sink *sink;
    pthread_mutex_t lock; /* a reader's threads ask when they like, a sink is asked by one at a time
                           */
} sink_source;

static tz_result sink_source_read(sink_source *source, const tz_range *range, const tz_context *ctx)
{
    pthread_mutex_lock(&source->lock);
    const tz_result result =
        tz_sink_read(source->sink, range->offset, range->dst, range->size, ctx);
    pthread_mutex_unlock(&source->lock);
    return result;
}

static tz_result sink_source_submit(tz_source *source, tz_request *request, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    TZ_TRY(tz_source_check_ranges(source, request, err));
    for (size_t i = 0; i < request->count; i++)
        TZ_TRY(sink_source_read((sink_source *)source, &request->ranges[i], &ctx));
    return TZ_OK;
}

static tz_result sink_source_wait(tz_source *source, tz_request *request, tz_error *err)
{
    (void)source, (void)request, (void)err;
    return TZ_OK; /* submit has done it all */
}

static void sink_source_close(tz_source *source)
{
    (void)source; /* it lives on the stack of tz_writer_verify */
}

/* ---- comparing ---- */

static tz_result fail_differs(const tz_writer *w, const char *what, uint64_t expected,
                              uint64_t found)
{
    return tz_fail(&w->ctx, TZ_ERR_IO, TZ_CAUSE_IO, tz_expecting(tz_no_location(), expected, found),
                   "%s of the written file reads back differently", what);
}

static tz_result compare_level(const tz_writer *w, const tz_level *level, const tz_image *image)
{
    if (level->width != image->spec.width)
        return fail_differs(w, "the width", image->spec.width, level->width);
    if (level->height != image->spec.height)
        return fail_differs(w, "the height", image->spec.height, level->height);
    if (level->tile_count != image->tile_count)
        return fail_differs(w, "the number of tiles", image->tile_count, level->tile_count);
    if (level->has_mask != image->spec.mask)
        return fail_differs(w, "the mask", image->spec.mask, level->has_mask);
    return TZ_OK;
}

static tz_result compare_info(const tz_writer *w, const tz_info *info)
{
    const tz_image_spec *spec = &tz_writer_image(w)->spec;
    if (info->bands != spec->bands)
        return fail_differs(w, "the number of bands", spec->bands, info->bands);
    if (info->dtype != spec->dtype)
        return fail_differs(w, "the type", spec->dtype, info->dtype);
    if (info->level_count != w->pyramid.count)
        return fail_differs(w, "the number of levels", w->pyramid.count, info->level_count);
    for (uint32_t i = 0; i < info->level_count; i++)
        TZ_TRY(compare_level(w, &info->levels[i], w->levels[i].image));
    return TZ_OK;
}

/* The part of a tile that the image has. */
static tz_window tile_window(const tz_image *image, uint64_t tile, uint32_t *band)
{
    const uint64_t in_plane = (uint64_t)image->tiles_across * image->tiles_down;
    const uint64_t row = tile % in_plane / image->tiles_across * image->tile_height;
    const uint64_t column = tile % image->tiles_across * image->tile_width;
    const uint64_t width = image->spec.width - column;
    const uint64_t height = image->spec.height - row;
    *band = (uint32_t)(tile / in_plane);
    return (tz_window){.column = (int64_t)column,
                       .row = (int64_t)row,
                       .width = width < image->tile_width ? (uint32_t)width : image->tile_width,
                       .height =
                           height < image->tile_height ? (uint32_t)height : image->tile_height};
}

/* Some of the tiles of a level that are verified, read together. */
typedef struct tile_sample {
    tz_item items[MAX_SAMPLES];
    uint32_t bands[MAX_SAMPLES];
    uint32_t level;
    uint64_t first; /* of the verified tiles */
    size_t count;
    size_t tile_bytes; /* bytes for each */
    uint8_t *memory;
} tile_sample;

static void add_tile(const tz_writer *w, const tz_file *file, tile_sample *s)
{
    const tz_image *image = w->levels[s->level].image;
    const int64_t size = (int64_t)tz_dtype_size(image->spec.dtype);
    const uint32_t samples = image->format.samples;
    const size_t i = s->count++;
    const tz_window window = tile_window(image, verified_tile(image, s->first + i), &s->bands[i]);
    s->items[i] = (tz_item){.file = file,
                            .level = s->level,
                            .window = window,
                            .bands = image->planes > 1 ? &s->bands[i] : NULL,
                            .band_count = image->planes > 1 ? 1 : 0,
                            .into = {.data = s->memory + i * s->tile_bytes,
                                     .dtype = image->spec.dtype,
                                     .bands = samples,
                                     .height = window.height,
                                     .width = window.width,
                                     .band_stride = size,
                                     .row_stride = size * samples * window.width,
                                     .column_stride = size * samples}};
}

static uint64_t hash_pixels(const tz_buffer *pixels)
{
    uint64_t hash = 0;
    for (uint32_t y = 0; y < pixels->height; y++)
        hash = tz_hash_row(hash, (const uint8_t *)pixels->data + (int64_t)y * pixels->row_stride,
                           (size_t)pixels->row_stride);
    return hash;
}

/* Whether decoding gives back every bit of the pixels. */
static bool is_lossless(const tz_image *image)
{
    const tz_encoder *encoder = image->encoder;
    if (encoder->lossy && encoder->lossy(&image->format, &image->choice))
        return false;
    return !(encoder->flags & TZ_ENCODER_VALUES_ONLY) || image->format.sample_format != 3;
}

static tz_result compare_sample(tz_writer *w, const tile_sample *s)
{
    const tz_writer_level *level = &w->levels[s->level];
    const bool exact = is_lossless(level->image);
    const tz_read_options how = {.struct_size = sizeof how, .threads = w->budget.threads};
    TZ_TRY(tz_read_batch(s->items, s->count, &how, NULL, w->ctx.err));
    for (size_t i = 0; i < s->count; i++) {
        const uint64_t tile = verified_tile(level->image, s->first + i);
        const bool sparse = level->sizes[tile] == 0; /* its NaN may have had other bits */
        w->report.tiles_verified++;
        if (exact && !sparse && hash_pixels(&s->items[i].into) != level->hashes[s->first + i])
            return tz_fail(&w->ctx, TZ_ERR_IO, TZ_CAUSE_IO,
                           tz_at_tile(s->level, tile, level->offsets[tile]),
                           "the pixels of the written tile read back differently");
    }
    return TZ_OK;
}

static tz_result compare_tiles(tz_writer *w, const tz_file *file, tile_sample *s, size_t at_a_time)
{
    const tz_image *image = tz_writer_image(w);
    const uint64_t count = tz_verified_count(w->levels[s->level].image);
    for (s->first = 0; s->first < count; s->first += s->count) {
        TZ_TRY(tz_check_progress(&w->ctx, &image->options.progress, image->spec.height,
                                 image->spec.height));
        s->count = 0;
        while (s->count < at_a_time && s->first + s->count < count)
            add_tile(w, file, s);
        TZ_TRY(compare_sample(w, s));
    }
    return TZ_OK;
}

static tz_result compare_levels(tz_writer *w, const tz_file *file, tile_sample *s, size_t at_a_time)
{
    for (s->level = 0; s->level < w->pyramid.count; s->level++)
        TZ_TRY(compare_tiles(w, file, s, at_a_time));
    return TZ_OK;
}

/* As many tiles at a time as there are threads; a reader takes about as much memory for a tile as
 * the writer did, which has given back what it had. */
static tz_result compare_file(tz_writer *w, const tz_file *file)
{
    const tz_image *image = tz_writer_image(w);
    const uint64_t tile_bytes = (uint64_t)image->tile_width * image->tile_height *
                                image->format.samples * tz_dtype_size(image->spec.dtype);
    const size_t at_a_time = w->budget.threads < MAX_SAMPLES ? w->budget.threads : MAX_SAMPLES;
    tile_sample s = {.tile_bytes = (size_t)tile_bytes};
    uint64_t size = TZ_NONE;
    TZ_TRY(compare_info(w, tz_file_info(file)));
    if (tz_mul(tile_bytes, at_a_time, &size) && size <= SIZE_MAX)
        s.memory = tz_alloc((size_t)size);
    if (!s.memory)
        return tz_fail_nomem(&w->ctx, size);
    const tz_result result = compare_levels(w, file, &s, at_a_time);
    tz_free(s.memory);
    return result;
}

tz_result tz_writer_verify(tz_writer *w)
{
    if (tz_verified_count(tz_writer_image(w)) == 0 || !w->sink->read)
        return TZ_OK;
    sink_source source = {.base = {.size = w->report.file_size,
                                   .submit = sink_source_submit,
                                   .wait = sink_source_wait,
                                   .close = sink_source_close},
                          .sink = w->sink};
    const tz_open_options how = {.struct_size = sizeof how, .limits = w->limits};
    tz_file *file = NULL;
    pthread_mutex_init(&source.lock, NULL);
    tz_result result = tz_open_source(&file, &source.base, w->name, &how, w->ctx.err);
    if (result == TZ_OK) {
        result = compare_file(w, file);
        tz_close(file);
    }
    pthread_mutex_destroy(&source.lock);
    return result;
}
