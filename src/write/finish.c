/* SPDX-License-Identifier: Apache-2.0
 * The end of a file: directories, spooled tiles, and the header last.
 *
 * The tags of all directories are built from the pyramid, the statistics and the sizes of tiles.
 * Their size, with that of the tiles, decides between classic TIFF and BigTIFF. A plain file gets
 * its directories after the tiles. A COG has them before: all offsets are computed from the sizes,
 * the sink inserts bytes before the tiles that it already has, and spooled tiles are copied to
 * their offsets in runs as long as possible.
 *
 * The decision that is not obvious: the header stays zero until everything else is written, so that
 * an interrupted write never looks like a TIFF. */
#include <string.h>

#include "base/mem.h"
#include "write/cog_layout.h"
#include "write/writer.h"

#define MAX_CLASSIC_SIZE UINT32_MAX
#define MAX_SAFE_SIZE    ((uint64_t)1 << 31)

enum { DIRECTORY_BUFFER = 65536, MAX_DIRECTORIES = 2 * TZ_MAX_OUTPUT_LEVELS };
#define MAX_COPY_BYTES ((uint64_t)1 << 20)

typedef struct ending {
    tz_writer *writer;
    tz_arena arena;
    tz_emit_ifd directories[MAX_DIRECTORIES];
    size_t count;
    tz_emit_options how;
    uint64_t size;                           /* of the directories */
    uint64_t *offsets[TZ_MAX_OUTPUT_LEVELS]; /* of tiles in the file, by level */
    tz_cog_layout layout;                    /* unset in a plain file */
    uint8_t *buffer;
    size_t capacity;
} ending;

/* ---- directories ---- */

/* The statistics of all bands, for the caller if wanted, and in *out if they are stored in the
 * file; otherwise NULL. */
static tz_result make_statistics(ending *e, tz_statistics **out)
{
    const tz_writer *w = e->writer;
    const tz_image *image = tz_writer_image(w);
    const uint32_t bands = image->spec.bands;
    *out = NULL;
    if (!w->stats)
        return TZ_OK;
    tz_statistics *list = tz_arena_array(&e->arena, bands, sizeof *list);
    if (!list)
        return tz_fail_nomem(&w->ctx, bands * sizeof *list);
    for (uint32_t band = 0; band < bands; band++) {
        tz_stats_result(&w->stats[band], &list[band]);
        if (image->options.statistics)
            image->options.statistics[band] = list[band];
    }
    *out = image->options.statistics_items ? list : NULL;
    return TZ_OK;
}

/* One directory. The mask shares the tables of its level: its tiles follow the image's. */
static tz_result add_directory(ending *e, uint32_t level, bool is_mask,
                               const tz_statistics *statistics)
{
    static const tz_ifd_kind parts[2][2] = {{TZ_IFD_IMAGE, TZ_IFD_MASK},
                                            {TZ_IFD_OVERVIEW, TZ_IFD_OVERVIEW_MASK}};
    const tz_writer_level *l = &e->writer->levels[level];
    const tz_image *image = l->image;
    const uint64_t first = is_mask ? image->tile_count : 0;
    const tz_encoder *encoder = image->encoder;
    tz_bytes jpeg_tables = {0};
    tz_image_tags tags;
    if (!is_mask && encoder->tables) {
        const size_t capacity = encoder->bound(&image->format, &image->choice);
        uint8_t *bytes = tz_arena_alloc(&e->arena, capacity);
        if (!bytes)
            return tz_fail_nomem(&e->writer->ctx, capacity);
        TZ_TRY(encoder->tables(&image->format, &image->choice, bytes, &jpeg_tables.size,
                               &e->writer->ctx));
        jpeg_tables.data = bytes;
    }
    TZ_TRY(tz_image_build_tags(&tags, image, parts[level > 0][is_mask], statistics,
                               jpeg_tables.size > 0 ? &jpeg_tables : NULL, &e->arena,
                               &e->writer->ctx));
    e->directories[e->count++] =
        (tz_emit_ifd){.tags = tags.list,
                      .tag_count = tags.count,
                      .strips = image->options.strips,
                      .tile_count = is_mask ? tz_all_tiles(image) - first : image->tile_count,
                      .tile_offsets = e->offsets[level] + first,
                      .tile_sizes = l->sizes + first};
    return TZ_OK;
}

/* In the order of GDAL: the image, its mask, overviews, their masks. */
static tz_result make_directories(ending *e)
{
    const uint32_t levels = e->writer->pyramid.count;
    const bool masks = tz_writer_image(e->writer)->spec.mask;
    tz_statistics *statistics;
    TZ_TRY(make_statistics(e, &statistics));
    TZ_TRY(add_directory(e, 0, false, statistics));
    if (masks)
        TZ_TRY(add_directory(e, 0, true, NULL));
    for (uint32_t level = 1; level < levels; level++)
        TZ_TRY(add_directory(e, level, false, NULL));
    for (uint32_t level = 1; masks && level < levels; level++)
        TZ_TRY(add_directory(e, level, true, NULL));
    return TZ_OK;
}

/* ---- classic or BigTIFF ---- */

/* The size of the directories depends on the format, and so do the offsets in a COG. */
static uint64_t compute_file_size(ending *e, bool bigtiff)
{
    const tz_writer *w = e->writer;
    const uint32_t *sizes[TZ_MAX_OUTPUT_LEVELS];
    e->how.bigtiff = bigtiff;
    e->size = tz_emit_size(e->directories, e->count, &e->how);
    if (!tz_writer_image(w)->options.cog) {
        e->how.start = (w->position + 15) / 16 * 16;
        return tz_add_capped(e->how.start, e->size);
    }
    for (uint32_t i = 0; i < w->pyramid.count; i++)
        sizes[i] = w->levels[i].sizes;
    e->layout = tz_cog_layout_make(&w->pyramid, sizes, bigtiff, e->size);
    e->how.start = e->layout.start;
    return e->layout.size;
}

/* Classic TIFF if it fits, or as the options say. e->how and e->layout describe the choice. */
static tz_result choose_format(ending *e, uint64_t *size)
{
    const tz_writer *w = e->writer;
    const tz_bigtiff wanted = tz_writer_image(w)->options.bigtiff;
    const uint64_t max_size = wanted == TZ_BIGTIFF_IF_SAFER ? MAX_SAFE_SIZE : MAX_CLASSIC_SIZE;
    *size = compute_file_size(e, false);
    if (wanted != TZ_BIGTIFF_YES && *size <= max_size)
        return TZ_OK;
    if (wanted == TZ_BIGTIFF_NO)
        return tz_fail(
            &w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_LAYOUT,
            tz_expecting(tz_no_location(), MAX_CLASSIC_SIZE, *size),
            "the file is too large for a classic TIFF, and options->bigtiff forbids BigTIFF");
    *size = compute_file_size(e, true);
    return TZ_OK;
}

/* ---- bytes ---- */

static tz_result write_bytes(void *opaque, uint64_t offset, const uint8_t *data, size_t size)
{
    tz_writer *w = opaque;
    const tz_bytes buffer = {data, size};
    w->report.writes++;
    return tz_sink_write(w->sink, offset, &buffer, 1, &w->ctx);
}

static tz_result write_directories(ending *e)
{
    tz_writer *w = e->writer;
    return tz_emit_directories(e->directories, e->count, &e->how, e->buffer, DIRECTORY_BUFFER,
                               write_bytes, w, &w->ctx);
}

/* Threads and slabs have been released, so their part of the budget may be used for copying. */
static tz_result make_buffer(ending *e)
{
    const tz_budget *budget = &e->writer->budget;
    const uint64_t capacity = tz_min(budget->planned - budget->fixed, MAX_COPY_BYTES);
    e->capacity = capacity > DIRECTORY_BUFFER && tz_writer_image(e->writer)->options.cog
                      ? (size_t)capacity
                      : DIRECTORY_BUFFER;
    e->buffer = tz_arena_alloc(&e->arena, e->capacity);
    return e->buffer ? TZ_OK : tz_fail_nomem(&e->writer->ctx, e->capacity);
}

/* ---- COG ---- */

/* Smallest level first. */
static void assign_level_offsets(ending *e)
{
    const tz_writer *w = e->writer;
    uint64_t end = e->layout.overview;
    for (uint32_t i = w->pyramid.count - 1; i > 0; i--) {
        const tz_writer_level *level = &w->levels[i];
        tz_cog_assign_offsets(level->image, level->sizes, end, e->offsets[i]);
        end += tz_cog_level_bytes(level->image, level->sizes);
    }
    tz_cog_assign_offsets(w->levels[0].image, w->levels[0].sizes, e->layout.image, e->offsets[0]);
}

/* Bytes that follow each other both in the spool and in the file. */
typedef struct spool_run {
    uint64_t from;
    uint64_t to;
    uint64_t size;
} spool_run;

/* Progress is checked for every run, so that a cancelled write stops also here. */
static tz_result copy_run(ending *e, const spool_run *run)
{
    tz_writer *w = e->writer;
    const tz_image *image = tz_writer_image(w);
    if (run->size == 0)
        return TZ_OK;
    TZ_TRY(tz_check_progress(&w->ctx, &image->options.progress, image->spec.height,
                             image->spec.height));
    w->report.writes++;
    return tz_sink_copy(w->sink, run->to, w->spool, run->from, run->size, e->buffer, e->capacity,
                        &w->ctx);
}

/* Copies the spooled tiles of a level to their offsets, in the order of the file. */
static tz_result copy_level(ending *e, uint32_t level)
{
    const tz_writer_level *l = &e->writer->levels[level];
    const uint64_t tiles = tz_all_tiles(l->image);
    spool_run run = {0};
    for (uint64_t n = 0; n < tiles; n++) {
        const uint64_t tile_index = tz_cog_nth_tile(l->image, n);
        const uint64_t size = tz_cog_tile_bytes(l->sizes[tile_index]);
        if (size == 0 || !tz_tile_is_spooled(e->writer, level, tile_index))
            continue;
        const uint64_t from = l->offsets[tile_index] - TZ_LEADER;
        const uint64_t to = e->offsets[level][tile_index] - TZ_LEADER;
        if (run.from + run.size != from || run.to + run.size != to) {
            TZ_TRY(copy_run(e, &run));
            run = (spool_run){.from = from, .to = to};
        }
        run.size += size;
    }
    return copy_run(e, &run);
}

/* The first 16 bytes hold the header and, in a classic TIFF, the beginning of the ghost area. They
 * are written last; the rest of the ghost area is written before the directories. */
static tz_result write_header_and_ghost(ending *e, bool last)
{
    const tz_image *image = tz_writer_image(e->writer);
    const size_t header = e->how.bigtiff ? TZ_EMIT_HEADER_SIZE : TZ_EMIT_HEADER_SIZE / 2;
    uint8_t front[TZ_EMIT_HEADER_SIZE + TZ_COG_MAX_GHOST_SIZE] = {0};
    tz_emit_header(&e->how, front);
    (void)tz_cog_ghost(image, (char *)front + header);
    if (last)
        return write_bytes(e->writer, 0, front, TZ_EMIT_HEADER_SIZE);
    return write_bytes(e->writer, TZ_EMIT_HEADER_SIZE, front + TZ_EMIT_HEADER_SIZE,
                       (size_t)(e->how.start - TZ_EMIT_HEADER_SIZE));
}

static void store_offsets(ending *e)
{
    const tz_writer *w = e->writer;
    for (uint32_t i = 0; i < w->pyramid.count; i++)
        memcpy(w->levels[i].offsets, e->offsets[i],
               (size_t)tz_all_tiles(w->levels[i].image) * sizeof *e->offsets[i]);
}

/* Everything before the first tile, then spooled tiles in the order of the file, then the
 * header. */
static tz_result finish_cog(ending *e)
{
    tz_writer *w = e->writer;
    assign_level_offsets(e);
    w->report.spool_bytes = w->spool_position;
    if (!w->all_spooled && !w->offsets_known && e->layout.size > e->layout.image)
        TZ_TRY(tz_sink_insert(w->sink, e->layout.image, &w->ctx));
    TZ_TRY(make_buffer(e));
    TZ_TRY(write_header_and_ghost(e, false));
    TZ_TRY(write_directories(e));
    uint64_t end = e->layout.overview;
    for (uint32_t i = w->pyramid.count - 1; i > 0; i--) {
        TZ_TRY(copy_level(e, i));
        end += tz_cog_level_bytes(w->levels[i].image, w->levels[i].sizes);
    }
    const size_t padding = (size_t)(e->layout.image - end); /* before the aligned image */
    memset(e->buffer, 0, padding);
    if (padding > 0)
        TZ_TRY(write_bytes(w, end, e->buffer, padding));
    TZ_TRY(copy_level(e, 0));
    TZ_TRY(write_header_and_ghost(e, true));
    store_offsets(e);
    return TZ_OK;
}

/* ---- the end ---- */

/* Everything but the bytes of the file: offsets, tags, layout. */
static tz_result lay_out_file(ending *e, uint64_t *size)
{
    tz_writer *w = e->writer;
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        tz_writer_level *level = &w->levels[i];
        const uint64_t tiles = tz_all_tiles(level->image);
        e->offsets[i] = level->offsets;
        if (!level->image->options.cog)
            continue;
        e->offsets[i] = tz_arena_array(&e->arena, (size_t)tiles, sizeof *e->offsets[i]);
        if (!e->offsets[i])
            return tz_fail_nomem(&w->ctx, tiles * sizeof *e->offsets[i]);
    }
    TZ_TRY(make_directories(e));
    return choose_format(e, size);
}

static tz_result finish_file(ending *e)
{
    tz_writer *w = e->writer;
    uint8_t header[TZ_EMIT_HEADER_SIZE];
    TZ_TRY(lay_out_file(e, &w->report.file_size));
    w->report.bigtiff = e->how.bigtiff;
    if (tz_writer_image(w)->options.cog)
        return finish_cog(e);
    TZ_TRY(make_buffer(e));
    TZ_TRY(write_directories(e));
    tz_emit_header(&e->how, header);
    return write_bytes(w, 0, header, sizeof header);
}

tz_result tz_writer_finish(tz_writer *w)
{
    ending e = {.writer = w, .how = {.big_endian = tz_writer_image(w)->options.big_endian}};
    const tz_result result = finish_file(&e);
    tz_arena_deinit(&e.arena);
    return result;
}

tz_result tz_writer_assign_offsets(tz_writer *w)
{
    ending e = {.writer = w, .how = {.big_endian = tz_writer_image(w)->options.big_endian}};
    uint64_t size;
    const tz_result result = lay_out_file(&e, &size);
    if (result == TZ_OK) {
        assign_level_offsets(&e);
        store_offsets(&e);
    }
    tz_arena_deinit(&e.arena);
    return result;
}
