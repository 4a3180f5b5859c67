/* SPDX-License-Identifier: Apache-2.0
 * Positions of tiles. The tables stay in the file, because a table has one number for each tile,
 * and most callers want a few of them.
 *
 * A call reads the offsets and sizes of its tiles in pages of 4 KiB. Callers who come back for
 * single tiles are served from 32 pages in the handle. Sizes that the file does not have are
 * derived, in this order: from the leader before a tile, if the ghost area promises leaders; from
 * the grid, for uncompressed tiles; from the distance to the next tile, directory or table. A
 * derived size may be too large, never too small: that costs bytes of a read and nothing else.
 * tz_tile_check_span then decides for each tile if it can be read. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/minmax.h"
#include "codec/codec.h"
#include "io/source.h"
#include "tiff/byte_order.h"
#include "tiff/file.h"
#include "tiff/tags.h"

enum { TABLE_BUFFER_SIZE = 4096 };

/* ---- the pages of a handle ---- */

/* Longer reads come from callers who want many tiles at once, and most handles are asked a few
 * times only: neither is worth the memory. */
enum { MAX_CACHED_BYTES = 64, UNCACHED_USES = 64 };

void tz_table_cache_init(tz_table_cache *cache)
{
    *cache = (tz_table_cache){.pages = NULL};
    pthread_mutex_init(&cache->lock, NULL);
}

void tz_table_cache_deinit(tz_table_cache *cache)
{
    tz_free(cache->pages);
    pthread_mutex_destroy(&cache->lock);
}

/* Copies bytes out of the pages of the cache, and reads pages that are not there. A page has one
 * slot that it can be in; its number is mixed, so that tables at a distance of 32 pages, as offsets
 * and sizes often are, do not evict each other. */
static tz_result read_cached_pages(tz_table_cache *cache, tz_source *source, uint64_t source_size,
                                   unsigned container, uint64_t offset, size_t size, uint8_t *dst,
                                   const tz_context *ctx)
{
    for (size_t got = 0; got < size;) {
        const uint64_t page = (offset + got) / TZ_TABLE_PAGE_SIZE;
        const uint64_t start = page * TZ_TABLE_PAGE_SIZE;
        const uint64_t key = (page << 2 | container) + 1;
        const size_t slot = (size_t)((page ^ page / TZ_TABLE_PAGE_COUNT) % TZ_TABLE_PAGE_COUNT);
        const size_t within = (size_t)(offset + got - start);
        const size_t some = tz_min_size(size - got, TZ_TABLE_PAGE_SIZE - within);
        uint8_t *bytes = cache->pages + slot * TZ_TABLE_PAGE_SIZE;
        if (cache->keys[slot] != key) {
            cache->keys[slot] = 0;
            TZ_TRY(tz_source_read(source, start,
                                  (size_t)tz_min(source_size - start, TZ_TABLE_PAGE_SIZE), bytes,
                                  ctx));
            cache->keys[slot] = key;
        }
        memcpy(dst + got, bytes + within, some);
        got += some;
    }
    return TZ_OK;
}

/* A handle that is busy is not waited for: the caller reads the file itself. So does a caller who
 * gets no memory for the pages. */
tz_result tz_table_cache_read(tz_table_cache *cache, tz_source *source, uint64_t source_size,
                              unsigned container, uint64_t offset, size_t size, uint8_t *dst,
                              const tz_context *ctx)
{
    if (cache && size <= MAX_CACHED_BYTES &&
        atomic_fetch_add_explicit(&cache->uses, 1, memory_order_relaxed) >= UNCACHED_USES &&
        pthread_mutex_trylock(&cache->lock) == 0) {
        if (!cache->pages)
            cache->pages = tz_alloc((size_t)TZ_TABLE_PAGE_COUNT * TZ_TABLE_PAGE_SIZE);
        const bool cached = cache->pages != NULL;
        const tz_result result = cached ? read_cached_pages(cache, source, source_size, container,
                                                            offset, size, dst, ctx)
                                        : TZ_OK;
        pthread_mutex_unlock(&cache->lock);
        if (cached)
            return result;
    }
    return tz_source_read(source, offset, size, dst, ctx);
}

/* ---- tables ---- */

/* One layer of one file, on behalf of one call. */
typedef struct table_reader {
    const tz_file *file;
    const tz_layer *layer;
    const tz_container *container;
    uint32_t level;
    bool cached; /* reads through the pages of the handle: the caller may come back for more */
    tz_context ctx;
} table_reader;

/* The location of a tile's offset or size in its table. */
static tz_location at_tile(const table_reader *table, uint64_t tile, uint64_t offset, bool offsets)
{
    static const uint16_t tags[2][2] = {{TZ_TAG_STRIP_BYTE_COUNTS, TZ_TAG_STRIP_OFFSETS},
                                        {TZ_TAG_TILE_BYTE_COUNTS, TZ_TAG_TILE_OFFSETS}};
    tz_location location = tz_at_tag(tags[table->layer->shape.tiled][offsets], offset);
    location.level = (int32_t)table->level;
    location.mask = table->layer->is_mask;
    location.tile = (int64_t)tile;
    return location;
}

static table_reader table_reader_of(const tz_file *file, uint32_t level, const tz_layer *layer,
                                    tz_error *err)
{
    table_reader table = {.file = file,
                          .layer = layer,
                          .container = &file->containers[layer->tables.container],
                          .level = level,
                          .ctx = tz_file_context(file, err)};
    table.ctx.ifd = layer->shape.ifd;
    return table;
}

/* Stores the level's layer in *layer, to which *table points. */
static tz_result open_table(table_reader *table, tz_layer *layer, const tz_file *file,
                            uint32_t level, bool mask, tz_error *err)
{
    const tz_context ctx = tz_file_context(file, err);
    TZ_TRY(tz_file_layer(file, level, mask, &ctx, layer));
    *table = table_reader_of(file, level, layer, err);
    return TZ_OK;
}

/* Reads values first to first + count - 1 of one table into the offsets or the sizes of out. */
static tz_result read_table_values(const table_reader *table, const tz_tag_ref *value,
                                   uint64_t first, size_t count, bool offsets, tz_tile_span *out)
{
    uint8_t page[TABLE_BUFFER_SIZE];
    const unsigned width = tz_type_size(value->type);
    for (size_t done = 0; done < count;) {
        const size_t some = tz_min_size(count - done, TABLE_BUFFER_SIZE / width);
        const uint64_t at = value->offset + (first + done) * width;
        TZ_TRY(tz_table_cache_read(table->cached ? table->file->cache : NULL,
                                   table->container->source, table->container->size,
                                   table->layer->tables.container, at, some * width, page,
                                   &table->ctx));
        for (size_t i = 0; i < some; i++) {
            uint64_t number = 0;
            if (!tz_tag_integer_at(page + i * width, value->type, table->container->big_endian,
                                   &number))
                return TZ_FAIL_TAG(&table->ctx,
                                   at_tile(table, first + done + i, at + i * width, offsets),
                                   "value is negative");
            if (offsets)
                out[done + i].offset = number;
            else
                out[done + i].size = number;
        }
        done += some;
    }
    return TZ_OK;
}

/* ---- sizes that the file does not have ---- */

/* True if tiles are stored as they are, so that their size follows from the grid. */
static bool is_stored_raw(const tz_layer *layer)
{
    const bool subsampled = layer->shape.photometric == TZ_PHOTOMETRIC_YCBCR &&
                            layer->tables.subsampling[0] * layer->tables.subsampling[1] > 1;
    return layer->shape.compression == TZ_COMPRESSION_NONE && !subsampled;
}

/* True if every tile has its size before it, and its last bytes again after it. */
static bool has_leaders(const table_reader *table)
{
    const tz_ghost *ghost = &table->file->ghost;
    return ghost->leaders && ghost->trailers && !ghost->edited;
}

/* Returns the size of a tile by the layout, never more than the tile can need; 0: not known,
 * because the offsets do not ascend, or because the leader has it. A compressed tile ends at the
 * first of the next tile's start (TZ_NO_VALUE: none), the directory, its tables and the end of the
 * file. */
static uint64_t size_by_layout(const table_reader *table, uint64_t tile, uint64_t offset,
                               uint64_t next)
{
    const uint64_t bytes = tz_layer_tile_bytes(table->layer, tile);
    const uint64_t starts[] = {next, table->layer->shape.ifd_offset,
                               table->layer->tables.offsets.offset,
                               table->layer->tables.sizes.offset};
    uint64_t end = table->container->size;
    if (has_leaders(table))
        return 0;
    if (is_stored_raw(table->layer))
        return bytes;
    if (next <= offset || offset >= end)
        return 0;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (starts[i] > offset && starts[i] < end)
            end = starts[i];
    return tz_min(end - offset, tz_codec_max_stored(bytes));
}

/* Finds the offset of the next tile that has one; TZ_NO_VALUE: none of the next NEAR_TILES has.
 * Sparse tiles have none, and long runs of them are not searched: the end of the file bounds the
 * size. */
static tz_result find_next_offset(const table_reader *table, uint64_t tile, uint64_t *next)
{
    enum { NEAR_TILES = 64 };
    tz_tile_span spans[NEAR_TILES];
    const uint64_t left = table->layer->shape.tile_count - tile - 1;
    const size_t some = (size_t)tz_min(left, NEAR_TILES);
    *next = TZ_NO_VALUE;
    TZ_TRY(read_table_values(table, &table->layer->tables.offsets, tile + 1, some, true, spans));
    for (size_t i = 0; i < some && *next == TZ_NO_VALUE; i++)
        if (spans[i].offset != 0)
            *next = spans[i].offset;
    return TZ_OK;
}

/* Reads the spans of tiles first to first + count - 1. The sizes that the table does not have,
 * which are the last ones, are derived from the last tile to the first: each ends where the next
 * tile with an offset begins. */
static tz_result read_tile_spans(const table_reader *table, uint64_t first, size_t count,
                                 tz_tile_span *out)
{
    const tz_level *shape = &table->layer->shape;
    const tz_level_tables *tables = &table->layer->tables;
    const uint64_t left = tables->sizes.count > first ? tables->sizes.count - first : 0;
    const size_t stated = (size_t)tz_min(left, count);
    if (!(first <= shape->tile_count && count <= shape->tile_count - first))
        return tz_fail(
            &table->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
            tz_expecting(at_tile(table, first, TZ_NO_VALUE, true), shape->tile_count, first),
            "there are no such tiles");
    if (tables->offsets.count < shape->tile_count)
        return TZ_FAIL_LAYOUT(&table->ctx,
                              tz_expecting(at_tile(table, first, shape->ifd_offset, true),
                                           shape->tile_count, tables->offsets.count),
                              "the table of tile offsets cannot be used");
    TZ_TRY(read_table_values(table, &tables->offsets, first, count, true, out));
    TZ_TRY(read_table_values(table, &tables->sizes, first, stated, false, out));
    uint64_t next = TZ_NO_VALUE;
    if (stated < count && !is_stored_raw(table->layer))
        TZ_TRY(find_next_offset(table, first + count - 1, &next));
    for (size_t i = count; i-- > stated;) {
        out[i].size = out[i].offset ? size_by_layout(table, first + i, out[i].offset, next) : 0;
        if (out[i].offset)
            next = out[i].offset;
    }
    return TZ_OK;
}

tz_result tz_file_get_tile_spans(tz_tile_span *out, const tz_file *file, uint32_t level, bool mask,
                                 uint64_t first, size_t count, tz_error *err)
{
    tz_layer layer;
    table_reader table;
    TZ_TRY(open_table(&table, &layer, file, level, mask, err));
    TZ_TRY(read_tile_spans(&table, first, count, out));
    return tz_source_check(table.container->source, &table.ctx);
}

tz_result tz_layer_spans(const tz_file *file, uint32_t level, const tz_layer *layer, uint64_t first,
                         size_t count, tz_tile_span *out, tz_error *err)
{
    table_reader table = table_reader_of(file, level, layer, err);
    table.cached = true;
    return read_tile_spans(&table, first, count, out);
}

/* Sets the size from the leader of a COG, if leader and trailer are both plausible. The leader is
 * always little-endian: GDAL writes it so in files of either byte order. */
static tz_result size_from_leader(const table_reader *table, uint64_t tile, tz_tile_span *span)
{
    uint8_t leader[4];
    uint8_t ends[8];
    if (!has_leaders(table) || !tz_inside(table->container, span->offset, 0))
        return TZ_OK;
    if (span->offset < 4)
        return TZ_FAIL_LAYOUT(
            &table->ctx, tz_expecting(at_tile(table, tile, span->offset, true), 4, span->offset),
            "no room for the leader that the ghost area promises");
    TZ_TRY(tz_source_read(table->container->source, span->offset - 4, 4, leader, &table->ctx));
    const uint64_t size = tz_read_endian_u32(leader, false);
    if (size == 0 || !tz_inside(table->container, span->offset, size + 4))
        return TZ_OK;
    /* The trailer repeats the last four bytes; a shorter tile is filled up with zeros. */
    const size_t tail = (size_t)tz_min(size, 4);
    uint8_t last[4] = {0};
    TZ_TRY(tz_source_read(table->container->source, span->offset + size - tail, tail + 4, ends,
                          &table->ctx));
    memcpy(last, ends, tail);
    if (memcmp(last, ends + tail, 4) == 0)
        span->size = size;
    return TZ_OK;
}

/* Gives a strip without a size, or an uncompressed one whose size cannot be right, the size that
 * the layout implies. */
static tz_result repair_strip_size(const table_reader *table, uint64_t tile, tz_tile_span *span)
{
    const tz_layer *layer = table->layer;
    const uint64_t stated = span->size;
    uint64_t next = TZ_NO_VALUE;
    if (layer->shape.tiled || span->offset == 0)
        return TZ_OK;
    const bool too_large = !tz_inside(table->container, span->offset, stated);
    const bool too_small =
        layer->shape.tile_count == 1 && stated < tz_layer_tile_bytes(layer, tile);
    if (stated != 0 && !(is_stored_raw(layer) && (too_large || too_small)))
        return TZ_OK;
    if (!is_stored_raw(layer))
        TZ_TRY(find_next_offset(table, tile, &next));
    const uint64_t size = size_by_layout(table, tile, span->offset, next);
    if (size == 0 || !tz_inside(table->container, span->offset, size))
        return TZ_OK; /* tz_tile_check_span says what is wrong */
    span->size = size;
    return TZ_WARN_LAYOUT(&table->ctx,
                          tz_expecting(at_tile(table, tile, span->offset, false), size, stated),
                          "the size of a strip cannot be right; taken from the layout");
}

/* A tile without offset and size is sparse: no pixels are stored, and none are read. */
tz_result tz_tile_check_span(const tz_file *file, uint32_t level, const tz_layer *layer,
                             uint64_t tile, tz_tile_span *span, tz_warnings *warnings,
                             tz_error *err)
{
    table_reader table = table_reader_of(file, level, layer, err);
    table.ctx.warnings = warnings;
    table.cached = true; /* neighbours of the tile are in the same page */
    if (span->offset != 0 && span->size == 0)
        TZ_TRY(size_from_leader(&table, tile, span));
    TZ_TRY(repair_strip_size(&table, tile, span));
    if (span->offset == 0 && span->size == 0)
        return TZ_OK;
    if (span->offset == 0)
        return TZ_FAIL_LAYOUT(&table.ctx,
                              tz_expecting(at_tile(&table, tile, 0, true), TZ_NO_VALUE, 0),
                              "tile of %" PRIu64 " bytes has no offset", span->size);
    if (span->size == 0)
        return TZ_FAIL_LAYOUT(
            &table.ctx, tz_expecting(at_tile(&table, tile, span->offset, false), TZ_NO_VALUE, 0),
            "tile has an offset but no size");
    if (!tz_inside(table.container, span->offset, span->size))
        return TZ_FAIL_TRUNCATED(&table.ctx,
                                 tz_expecting(at_tile(&table, tile, span->offset, true), span->size,
                                              span->offset < table.container->size
                                                  ? table.container->size - span->offset
                                                  : 0),
                                 "tile reaches past the end of the file");
    if (file->ghost.leaders && span->offset < 4)
        return TZ_FAIL_LAYOUT(
            &table.ctx, tz_expecting(at_tile(&table, tile, span->offset, true), 4, span->offset),
            "no room for the leader that the ghost area promises");
    return TZ_OK;
}

tz_result tz_file_locate_tile(tz_tile_span *out, const tz_file *file, uint32_t level, bool mask,
                              uint64_t tile, tz_error *err)
{
    tz_tile_span span = {0, 0};
    tz_layer layer;
    table_reader table;
    TZ_TRY(open_table(&table, &layer, file, level, mask, err));
    TZ_TRY(tz_file_get_tile_spans(&span, file, level, mask, tile, 1, err));
    TZ_TRY(tz_tile_check_span(file, level, &layer, tile, &span, NULL, err));
    *out = span;
    return TZ_OK;
}

/* A tile whose leader has the size counts as one byte. */
static bool is_span_inside(const table_reader *table, const tz_tile_span *span)
{
    return span->offset == 0 || tz_inside(table->container, span->offset, tz_max(span->size, 1));
}

/* Looks at the last page of the table only: the last tiles lie at the end of nearly every file, so
 * that one read finds a file that was cut off. */
tz_result tz_level_check_end(const tz_file *file, uint32_t level, bool mask, tz_error *err)
{
    tz_layer layer;
    table_reader table;
    tz_tile_span spans[TABLE_BUFFER_SIZE / sizeof(tz_tile_span)];
    const size_t fit = sizeof spans / sizeof spans[0];
    TZ_TRY(open_table(&table, &layer, file, level, mask, err));
    const uint64_t tiles = layer.shape.tile_count;
    const uint64_t first = tiles > fit ? tiles - fit : 0;
    if (!tz_layer_has_tables(&layer))
        return TZ_OK;
    TZ_TRY(read_tile_spans(&table, first, (size_t)(tiles - first), spans));
    TZ_TRY(tz_source_check(table.container->source, &table.ctx));
    table.ctx.strict = false; /* a repaired size is reported when the tile is read */
    for (uint64_t i = first; i < tiles; i++) {
        tz_tile_span *span = &spans[i - first];
        if (is_span_inside(&table, span))
            continue;
        TZ_TRY(repair_strip_size(&table, i, span));
        if (!is_span_inside(&table, span))
            return TZ_FAIL_TRUNCATED(
                &table.ctx,
                tz_expecting(at_tile(&table, i, span->offset, true),
                             tz_add_capped(span->offset, span->size), table.container->size),
                "the tile reaches past the end of the file: the file was cut off");
    }
    return TZ_OK;
}

/* Adds up the table page by page, so that memory does not depend on the number of tiles. */
tz_result tz_level_stored_size(uint64_t *bytes, uint64_t *sparse_tiles, const tz_file *file,
                               uint32_t level, bool mask, const tz_progress *progress,
                               tz_error *err)
{
    tz_layer layer;
    table_reader table;
    tz_tile_span spans[TABLE_BUFFER_SIZE / sizeof(tz_tile_span)];
    const size_t fit = sizeof spans / sizeof spans[0];
    uint64_t sum = 0;
    uint64_t sparse = 0;
    TZ_TRY(open_table(&table, &layer, file, level, mask, err));
    const uint64_t tiles = table.layer->shape.tile_count;
    for (uint64_t first = 0; first < tiles; first += fit) {
        const size_t some = (size_t)tz_min(tiles - first, fit);
        TZ_TRY(tz_check_progress(&table.ctx, progress, first, tiles));
        TZ_TRY(read_tile_spans(&table, first, some, spans));
        for (size_t i = 0; i < some; i++) {
            sparse += spans[i].offset == 0 && spans[i].size == 0;
            if (!tz_add(sum, spans[i].size, &sum))
                return TZ_FAIL_LAYOUT(&table.ctx, at_tile(&table, first + i, TZ_NO_VALUE, false),
                                      "the sum of tile sizes does not fit 64 bits");
        }
    }
    TZ_TRY(tz_source_check(table.container->source, &table.ctx));
    *bytes = sum;
    *sparse_tiles = sparse;
    return TZ_OK;
}
