/* SPDX-License-Identifier: Apache-2.0
 * The end of a file: directories behind the tiles, then the header, which until then is zero so
 * that a torn file is no TIFF. Whether it is a BigTIFF is decided here, by the size that came
 * about. */
#include "base/mem.h"
#include "tiff/emit.h"
#include "write/writer.h"

#define LARGEST_CLASSIC UINT32_MAX
#define LARGEST_SAFE    ((uint64_t)1 << 31)

enum { PIECE = 65536, MAX_DIRECTORIES = 2 };

/* What the directories are made of. */
typedef struct ending {
    tz_writer *writer;
    tz_arena arena;
    tz_directory directories[MAX_DIRECTORIES];
    size_t count;
    tz_emit how;
    uint64_t size; /* of the directories */
} ending;

/* ---- directories ---- */

static tz_result make_jpeg_tables(ending *e, tz_bytes *out)
{
    const tz_image *image = &e->writer->image;
    const tz_encoder *encoder = image->encoder;
    if (!encoder->tables)
        return TZ_OK;
    const size_t room = encoder->bound(&image->format, &image->choice);
    uint8_t *bytes = tz_arena_alloc(&e->arena, room);
    if (!bytes)
        return tz_fail_nomem(&e->writer->ctx, room);
    TZ_TRY(encoder->tables(&image->format, &image->choice, bytes, &out->size, &e->writer->ctx));
    out->data = bytes;
    return TZ_OK;
}

static tz_result make_statistics(ending *e, tz_statistics **out)
{
    const tz_writer *w = e->writer;
    const uint32_t bands = w->image.spec.bands;
    *out = NULL;
    if (!w->tallies)
        return TZ_OK;
    tz_statistics *list = tz_arena_array(&e->arena, bands, sizeof *list);
    if (!list)
        return tz_fail_nomem(&w->ctx, bands * sizeof *list);
    for (uint32_t band = 0; band < bands; band++) {
        tz_tally_result(&w->tallies[band], &list[band]);
        if (w->image.options.statistics)
            w->image.options.statistics[band] = list[band];
    }
    *out = w->image.options.statistics_items ? list : NULL;
    return TZ_OK;
}

static tz_result add_directory(ending *e, tz_image_part part, const tz_statistics *statistics,
                               const tz_bytes *jpeg_tables)
{
    const tz_writer *w = e->writer;
    const tz_image *image = &w->image;
    const bool is_mask = part == TZ_PART_MASK;
    const uint64_t first = is_mask ? image->tile_count : 0;
    tz_image_tags tags;
    TZ_TRY(tz_image_tags_make(&tags, image, part, statistics, jpeg_tables, &e->arena, &w->ctx));
    e->directories[e->count++] =
        (tz_directory){.tags = tags.list,
                       .tag_count = tags.count,
                       .strips = image->options.strips,
                       .tile_count = is_mask ? tz_all_tiles(image) - first : image->tile_count,
                       .tile_offsets = w->offsets + first,
                       .tile_sizes = w->sizes + first};
    return TZ_OK;
}

static tz_result make_directories(ending *e)
{
    tz_bytes jpeg_tables = {0};
    tz_statistics *statistics;
    TZ_TRY(make_jpeg_tables(e, &jpeg_tables));
    TZ_TRY(make_statistics(e, &statistics));
    TZ_TRY(add_directory(e, TZ_PART_IMAGE, statistics, jpeg_tables.size > 0 ? &jpeg_tables : NULL));
    if (e->writer->image.spec.mask)
        TZ_TRY(add_directory(e, TZ_PART_MASK, NULL, NULL));
    return TZ_OK;
}

/* ---- classic or BigTIFF ---- */

static uint64_t file_size(ending *e, bool bigtiff)
{
    uint64_t end;
    e->how.bigtiff = bigtiff;
    e->size = tz_emit_size(e->directories, e->count, &e->how);
    return tz_add(e->how.start, e->size, &end) ? end : TZ_NONE;
}

static tz_result choose_format(ending *e)
{
    const tz_writer *w = e->writer;
    const tz_bigtiff wanted = w->image.options.bigtiff;
    const uint64_t classic = file_size(e, false);
    const uint64_t most = wanted == TZ_BIGTIFF_IF_SAFER ? LARGEST_SAFE : LARGEST_CLASSIC;
    if (wanted != TZ_BIGTIFF_YES && classic <= most)
        return TZ_OK;
    if (wanted == TZ_BIGTIFF_NO)
        return tz_fail(&w->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_LAYOUT,
                       tz_expecting(tz_at_nowhere(), LARGEST_CLASSIC, classic),
                       "the file is too large for a classic TIFF, and BigTIFF was ruled out");
    (void)file_size(e, true);
    return TZ_OK;
}

/* ---- bytes ---- */

static tz_result write_piece(void *opaque, uint64_t offset, const uint8_t *data, size_t size)
{
    tz_writer *w = opaque;
    const tz_bytes piece = {data, size};
    w->report.writes++;
    return tz_sink_write(w->sink, offset, &piece, 1, &w->ctx);
}

static tz_result write_directories(ending *e)
{
    tz_writer *w = e->writer;
    uint8_t header[TZ_EMIT_HEADER];
    uint8_t *buffer = tz_arena_alloc(&e->arena, PIECE);
    if (!buffer)
        return tz_fail_nomem(&w->ctx, PIECE);
    TZ_TRY(tz_emit_directories(e->directories, e->count, &e->how, buffer, PIECE, write_piece, w,
                               &w->ctx));
    tz_emit_header(&e->how, header);
    return write_piece(w, 0, header, sizeof header);
}

tz_result tz_writer_finish(tz_writer *w)
{
    ending e = {.writer = w};
    e.how.big_endian = w->image.options.big_endian;
    e.how.start = (w->position + 15) / 16 * 16;
    tz_result result = make_directories(&e);
    if (result == TZ_OK)
        result = choose_format(&e);
    if (result == TZ_OK)
        result = write_directories(&e);
    w->report.bigtiff = e.how.bigtiff;
    w->report.file_size = e.how.start + e.size;
    tz_arena_deinit(&e.arena);
    return result;
}
