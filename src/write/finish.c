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
#include "write/output_file.h"

#define MAX_CLASSIC_SIZE UINT32_MAX
#define MAX_SAFE_SIZE    ((uint64_t)1 << 31)

enum { DIRECTORY_BUFFER = 65536, MAX_DIRECTORIES = 2 * TZ_MAX_OUTPUT_LEVELS };
#define MAX_COPY_BYTES ((uint64_t)1 << 20)
#define MAX_COPY_PART  ((uint64_t)16 << 20) /* bytes that are copied without a look at progress */

typedef struct ending {
    tz_output_file *file;
    tz_arena arena;
    tz_emit_ifd directories[MAX_DIRECTORIES];
    size_t count;
    tz_emit_options how;
    uint64_t *offsets[TZ_MAX_OUTPUT_LEVELS]; /* of tiles in the file, by level */
    tz_cog_layout layout;                    /* unset in a plain file */
    uint8_t *buffer;
    size_t capacity;
} ending;

/* ---- directories ---- */

/* One directory. The mask shares the tables of its level: its tiles follow the image's. */
static tz_result add_directory(ending *e, uint32_t level, bool is_mask,
                               const tz_statistics *statistics)
{
    static const tz_ifd_kind parts[2][2] = {{TZ_IFD_IMAGE, TZ_IFD_MASK},
                                            {TZ_IFD_OVERVIEW, TZ_IFD_OVERVIEW_MASK}};
    const tz_tile_tables *tables = &e->file->levels[level];
    const tz_image *image = &e->file->pyramid->levels[level].image;
    const uint64_t first = is_mask ? image->tile_count : 0;
    const tz_encoder *encoder = image->encoder;
    tz_bytes jpeg_tables = {0};
    tz_image_tags tags;
    if (!is_mask && encoder->tables) {
        const size_t capacity = encoder->bound(&image->format, &image->choice);
        uint8_t *bytes = tz_arena_alloc(&e->arena, capacity);
        if (!bytes)
            return tz_fail_nomem(e->file->ctx, capacity);
        TZ_TRY(encoder->tables(&image->format, &image->choice, bytes, &jpeg_tables.size,
                               e->file->ctx));
        jpeg_tables.data = bytes;
    }
    TZ_TRY(tz_image_build_tags(&tags, image, parts[level > 0][is_mask], statistics,
                               jpeg_tables.size > 0 ? &jpeg_tables : NULL, &e->arena,
                               e->file->ctx));
    e->directories[e->count++] =
        (tz_emit_ifd){.tags = tags.list,
                      .tag_count = tags.count,
                      .strips = image->options.strips,
                      .tile_count = is_mask ? tz_all_tiles(image) - first : image->tile_count,
                      .tile_offsets = e->offsets[level] + first,
                      .tile_sizes = tables->sizes + first};
    return TZ_OK;
}

/* In the order of GDAL: the image, its mask, overviews, their masks. Statistics go to the report if
 * wanted, and to the tags if options say so. */
static tz_result make_directories(ending *e)
{
    const tz_output_file *file = e->file;
    const tz_image *image = tz_output_file_image(file);
    const uint32_t bands = image->spec.bands, levels = file->pyramid->count;
    tz_statistics *statistics = tz_write_report_statistics(file->report);
    for (uint32_t band = 0; statistics && band < bands; band++)
        tz_stats_result(&file->stats[band], &statistics[band]);
    TZ_TRY(add_directory(e, 0, false, image->options.statistics_items ? statistics : NULL));
    if (image->spec.mask)
        TZ_TRY(add_directory(e, 0, true, NULL));
    for (uint32_t level = 1; level < levels; level++)
        TZ_TRY(add_directory(e, level, false, NULL));
    for (uint32_t level = 1; image->spec.mask && level < levels; level++)
        TZ_TRY(add_directory(e, level, true, NULL));
    return TZ_OK;
}

/* ---- classic or BigTIFF ---- */

/* The size of the directories depends on the format, and so do the offsets in a COG. */
static uint64_t compute_file_size(ending *e, bool bigtiff)
{
    const tz_output_file *file = e->file;
    e->how.bigtiff = bigtiff;
    const uint64_t size = tz_emit_size(e->directories, e->count, &e->how);
    if (!tz_output_file_image(file)->options.cog) {
        e->how.start = (file->position + 15) / 16 * 16;
        return tz_add_capped(e->how.start, size);
    }
    e->layout = tz_cog_layout_make(file->pyramid, file->levels, bigtiff, size);
    e->how.start = e->layout.start;
    return e->layout.size;
}

/* ---- bytes ---- */

static tz_result write_bytes(void *opaque, uint64_t offset, const uint8_t *data, size_t size)
{
    tz_output_file *file = opaque;
    const tz_bytes buffer = {data, size};
    file->report->writes++;
    return tz_sink_write(file->sink, offset, &buffer, 1, file->ctx);
}

static tz_result write_directories(ending *e)
{
    tz_output_file *file = e->file;
    return tz_emit_directories(e->directories, e->count, &e->how, e->buffer, DIRECTORY_BUFFER,
                               write_bytes, file, file->ctx);
}

/* Threads and slabs have been released, so their part of the budget may be used for copying. */
static tz_result make_buffer(ending *e)
{
    const tz_budget *budget = e->file->budget;
    const uint64_t capacity = tz_min(budget->planned - budget->fixed, MAX_COPY_BYTES);
    e->capacity = capacity > DIRECTORY_BUFFER && tz_output_file_image(e->file)->options.cog
                      ? (size_t)capacity
                      : DIRECTORY_BUFFER;
    e->buffer = tz_arena_alloc(&e->arena, e->capacity);
    return e->buffer ? TZ_OK : tz_fail_nomem(e->file->ctx, e->capacity);
}

/* ---- COG ---- */

/* Smallest level first. */
static void assign_level_offsets(ending *e)
{
    const tz_output_file *file = e->file;
    uint64_t end = e->layout.overview;
    for (uint32_t i = file->pyramid->count - 1; i > 0; i--) {
        const tz_image *image = &file->pyramid->levels[i].image;
        tz_cog_assign_offsets(image, file->levels[i].sizes, end, e->offsets[i]);
        end += tz_cog_level_bytes(image, file->levels[i].sizes);
    }
    tz_cog_assign_offsets(tz_output_file_image(file), file->levels[0].sizes, e->layout.image,
                          e->offsets[0]);
}

/* Bytes that follow each other both in the spool and in the file. */
typedef struct spool_run {
    uint64_t from;
    uint64_t to;
    uint64_t size;
} spool_run;

/* Reports that all rows are there: a cancelled write stops also while their bytes are moved. */
static bool report_all_rows(void *user, uint64_t done, uint64_t total)
{
    const tz_image *image = tz_output_file_image(((const ending *)user)->file);
    const tz_progress *progress = &image->options.progress;
    (void)done, (void)total;
    return !progress->call ||
           progress->call(progress->user, image->spec.height, image->spec.height);
}

/* Copies a run in parts, between which progress is checked. */
static tz_result copy_run(ending *e, const spool_run *run)
{
    tz_output_file *file = e->file;
    const tz_progress progress = {report_all_rows, e};
    if (run->size == 0)
        return TZ_OK;
    file->report->writes++;
    for (uint64_t done = 0, part; done < run->size; done += part) {
        part = tz_min(run->size - done, MAX_COPY_PART);
        TZ_TRY(tz_check_progress(file->ctx, &progress, done, run->size));
        TZ_TRY(tz_sink_copy(file->sink, run->to + done, file->spool, run->from + done, part,
                            e->buffer, e->capacity, file->ctx));
    }
    return TZ_OK;
}

static tz_result insert_front(ending *e)
{
    tz_output_file *file = e->file;
    const tz_progress progress = {report_all_rows, e};
    tz_sink_set_progress(file->sink, &progress);
    const tz_result result = tz_sink_insert(file->sink, e->layout.image, file->ctx);
    tz_sink_set_progress(file->sink, NULL);
    return result;
}

/* Copies the spooled tiles of a level to their offsets, in the order of the file. */
static tz_result copy_level(ending *e, uint32_t level)
{
    const tz_tile_tables *tables = &e->file->levels[level];
    const tz_image *image = &e->file->pyramid->levels[level].image;
    const uint64_t tiles = tz_all_tiles(image);
    spool_run run = {0};
    for (uint64_t n = 0; n < tiles; n++) {
        const uint64_t tile_index = tz_cog_nth_tile(image, n);
        const uint64_t size = tz_cog_tile_bytes(tables->sizes[tile_index]);
        if (size == 0 || !tz_tile_is_spooled(e->file, level, tile_index))
            continue;
        const uint64_t from = tables->offsets[tile_index] - TZ_LEADER;
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
    const tz_image *image = tz_output_file_image(e->file);
    const size_t header = e->how.bigtiff ? TZ_EMIT_HEADER_SIZE : TZ_EMIT_HEADER_SIZE / 2;
    uint8_t front[TZ_EMIT_HEADER_SIZE + TZ_COG_MAX_GHOST_SIZE] = {0};
    tz_emit_header(&e->how, front);
    (void)tz_cog_ghost(image, (char *)front + header);
    if (last)
        return write_bytes(e->file, 0, front, TZ_EMIT_HEADER_SIZE);
    return write_bytes(e->file, TZ_EMIT_HEADER_SIZE, front + TZ_EMIT_HEADER_SIZE,
                       (size_t)(e->how.start - TZ_EMIT_HEADER_SIZE));
}

static void store_offsets(ending *e)
{
    const tz_output_file *file = e->file;
    for (uint32_t i = 0; i < file->pyramid->count; i++)
        memcpy(file->levels[i].offsets, e->offsets[i],
               (size_t)tz_all_tiles(&file->pyramid->levels[i].image) * sizeof *e->offsets[i]);
}

/* Everything before the first tile, then spooled tiles in the order of the file, then the
 * header. */
static tz_result finish_cog(ending *e)
{
    tz_output_file *file = e->file;
    assign_level_offsets(e);
    file->report->spool_bytes = file->spool_position;
    if (!file->all_spooled && !file->offsets_known && e->layout.size > e->layout.image)
        TZ_TRY(insert_front(e));
    TZ_TRY(make_buffer(e));
    TZ_TRY(write_header_and_ghost(e, false));
    TZ_TRY(write_directories(e));
    uint64_t end = e->layout.overview;
    for (uint32_t i = file->pyramid->count - 1; i > 0; i--) {
        TZ_TRY(copy_level(e, i));
        end += tz_cog_level_bytes(&file->pyramid->levels[i].image, file->levels[i].sizes);
    }
    const size_t padding = (size_t)(e->layout.image - end); /* before the aligned image */
    memset(e->buffer, 0, padding);
    if (padding > 0)
        TZ_TRY(write_bytes(file, end, e->buffer, padding));
    TZ_TRY(copy_level(e, 0));
    TZ_TRY(write_header_and_ghost(e, true));
    store_offsets(e);
    return TZ_OK;
}

/* ---- the end ---- */

/* Everything but the bytes of the file: offsets, tags, and the format, which is classic TIFF if the
 * file fits or as the options say. e->how and e->layout describe the choice. */
static tz_result lay_out_file(ending *e, uint64_t *size)
{
    const tz_output_file *file = e->file;
    for (uint32_t i = 0; i < file->pyramid->count; i++) {
        const tz_image *image = &file->pyramid->levels[i].image;
        const uint64_t tiles = tz_all_tiles(image);
        e->offsets[i] = file->levels[i].offsets;
        if (!image->options.cog)
            continue;
        e->offsets[i] = tz_arena_array(&e->arena, (size_t)tiles, sizeof *e->offsets[i]);
        if (!e->offsets[i])
            return tz_fail_nomem(file->ctx, tiles * sizeof *e->offsets[i]);
    }
    TZ_TRY(make_directories(e));
    const tz_bigtiff wanted = tz_output_file_image(file)->options.bigtiff;
    const uint64_t max_size = wanted == TZ_BIGTIFF_IF_SAFER ? MAX_SAFE_SIZE : MAX_CLASSIC_SIZE;
    *size = compute_file_size(e, false);
    if (wanted != TZ_BIGTIFF_YES && *size <= max_size)
        return TZ_OK;
    if (wanted == TZ_BIGTIFF_NO)
        return tz_fail(
            file->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_LAYOUT,
            tz_expecting(tz_no_location(), MAX_CLASSIC_SIZE, *size),
            "the file is too large for a classic TIFF, and options->bigtiff forbids BigTIFF");
    *size = compute_file_size(e, true);
    return TZ_OK;
}

static tz_result finish_file(ending *e)
{
    tz_output_file *file = e->file;
    uint8_t header[TZ_EMIT_HEADER_SIZE];
    TZ_TRY(lay_out_file(e, &file->report->file_size));
    file->report->bigtiff = e->how.bigtiff;
    if (tz_output_file_image(file)->options.cog)
        return finish_cog(e);
    TZ_TRY(make_buffer(e));
    TZ_TRY(write_directories(e));
    tz_emit_header(&e->how, header);
    return write_bytes(file, 0, header, sizeof header);
}

tz_result tz_output_file_finish(tz_output_file *file)
{
    ending e = {.file = file,
                .how = {.big_endian = tz_output_file_image(file)->options.big_endian}};
    const tz_result result = finish_file(&e);
    tz_arena_deinit(&e.arena);
    return result;
}

tz_result tz_output_file_assign_offsets(tz_output_file *file)
{
    ending e = {.file = file,
                .how = {.big_endian = tz_output_file_image(file)->options.big_endian}};
    uint64_t size;
    const tz_result result = lay_out_file(&e, &size);
    if (result == TZ_OK) {
        assign_level_offsets(&e);
        store_offsets(&e);
    }
    tz_arena_deinit(&e.arena);
    return result;
}
