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

/* Returns a page of the cache, after reading it if needed; *out is NULL if there is no memory for
 * it.
 */
static tz_result get_table_page(tz_table_cache *cache, tz_source *source, uint64_t source_size,
                                unsigned container, uint64_t page, const uint8_t **out,
                                const tz_context *ctx)
{
    const uint64_t start = page * TZ_TABLE_PAGE_SIZE;
    const uint64_t left = source_size - start;
    const uint64_t key = (page << 2 | container) + 1;
    const size_t slot = (size_t)((page ^ page / TZ_TABLE_PAGE_COUNT) % TZ_TABLE_PAGE_COUNT);
    *out = NULL;
    if (!cache->pages)
        cache->pages = tz_alloc((size_t)TZ_TABLE_PAGE_COUNT * TZ_TABLE_PAGE_SIZE);
    if (!cache->pages)
        return TZ_OK;
    uint8_t *bytes = cache->pages + slot * TZ_TABLE_PAGE_SIZE;
    if (cache->keys[slot] != key) {
        cache->keys[slot] = 0;
        TZ_TRY(tz_source_read(source, start, (size_t)tz_min(left, TZ_TABLE_PAGE_SIZE), bytes, ctx));
        cache->keys[slot] = key;
    }
    *out = bytes;
    return TZ_OK;
}

static tz_result read_cached_pages(tz_table_cache *cache, tz_source *source, uint64_t source_size,
                                   unsigned container, uint64_t offset, size_t size, uint8_t *dst,
                                   bool *done, const tz_context *ctx)
{
    for (size_t got = 0; got < size;) {
        const size_t within = (size_t)((offset + got) % TZ_TABLE_PAGE_SIZE);
        const size_t some = tz_min_size(size - got, TZ_TABLE_PAGE_SIZE - within);
        const uint8_t *page;
        TZ_TRY(get_table_page(cache, source, source_size, container,
                              (offset + got) / TZ_TABLE_PAGE_SIZE, &page, ctx));
        if (!page)
            return TZ_OK;
        memcpy(dst + got, page + within, some);
        got += some;
    }
    *done = true;
    return TZ_OK;
}

tz_result tz_table_cache_read(tz_table_cache *cache, tz_source *source, uint64_t source_size,
                              unsigned container, uint64_t offset, size_t size, uint8_t *dst,
                              const tz_context *ctx)
{
    bool done = false;
    tz_result result = TZ_OK;
    if (cache && size <= MAX_CACHED_BYTES &&
        atomic_fetch_add_explicit(&cache->uses, 1, memory_order_relaxed) >= UNCACHED_USES &&
        pthread_mutex_trylock(&cache->lock) == 0) {
        result =
            read_cached_pages(cache, source, source_size, container, offset, size, dst, &done, ctx);
        pthread_mutex_unlock(&cache->lock);
    }
    if (result != TZ_OK || done)
        return result;
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

static uint16_t table_tag(const table_reader *table, bool offsets)
{
    if (table->layer->shape.tiled)
        return offsets ? TZ_TAG_TILE_OFFSETS : TZ_TAG_TILE_BYTE_COUNTS;
    return offsets ? TZ_TAG_STRIP_OFFSETS : TZ_TAG_STRIP_BYTE_COUNTS;
}

static tz_location at_tile(const table_reader *table, uint64_t tile, uint64_t offset, bool offsets)
{
    tz_location location = tz_at_tag(table_tag(table, offsets), offset);
    location.level = (int32_t)table->level; /* of a mask: TZ_MASK_OF, as in tz_at_tile */
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
                            uint32_t level, tz_error *err)
{
    const tz_context ctx = tz_file_context(file, err);
    TZ_TRY(tz_file_layer(file, level, &ctx, layer));
    *table = table_reader_of(file, level, layer, err);
    return TZ_OK;
}

static tz_result check_tile_range(const table_reader *table, uint64_t first, uint64_t count)
{
    const tz_level *shape = &table->layer->shape;
    if (!(first <= shape->tile_count && count <= shape->tile_count - first))
        return tz_fail(&table->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(at_tile(table, first, TZ_NONE, true), shape->tile_count, first),
                       "there are no such tiles");
    if (table->layer->tables.offsets.count < shape->tile_count)
        return tz_fail(&table->ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT,
                       tz_expecting(at_tile(table, first, shape->ifd_offset, true),
                                    shape->tile_count, table->layer->tables.offsets.count),
                       "the table of tile offsets cannot be used");
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
                return tz_fail(&table->ctx, TZ_ERR_FORMAT, TZ_CAUSE_TAG,
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
    const tz_ghost *ghost = &table->file->info.ghost;
    return ghost->leaders && ghost->trailers && !ghost->edited;
}

/* Returns the end of a compressed tile that begins at offset: the first of the next tile's start
 * (TZ_NONE: none), the directory, its tables and the end of the file. */
static uint64_t find_data_end(const table_reader *table, uint64_t offset, uint64_t next)
{
    const uint64_t starts[] = {next, table->layer->shape.ifd_offset,
                               table->layer->tables.offsets.offset,
                               table->layer->tables.sizes.offset};
    uint64_t end = table->container->size;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (starts[i] > offset && starts[i] < end)
            end = starts[i];
    return end;
}

/* Returns the size of a tile by the layout, never more than the tile can need; 0: not known,
 * because the offsets do not ascend, or because the leader has it. */
static uint64_t size_by_layout(const table_reader *table, uint64_t tile, uint64_t offset,
                               uint64_t next)
{
    const uint64_t bytes = tz_layer_tile_bytes(table->layer, tile);
    if (has_leaders(table))
        return 0;
    if (is_stored_raw(table->layer))
        return bytes;
    if (next <= offset || offset >= table->container->size)
        return 0;
    const uint64_t size = find_data_end(table, offset, next) - offset;
    return tz_min(size, tz_codec_max_stored(bytes));
}

/* Finds the offset of the next tile that has one; TZ_NONE: none of the next NEAR_TILES has. */
static tz_result find_next_offset(const table_reader *table, uint64_t tile, uint64_t *next)
{
    enum { NEAR_TILES = 64 };
    tz_tile_span spans[NEAR_TILES];
    const uint64_t left = table->layer->shape.tile_count - tile - 1;
    const size_t some = (size_t)tz_min(left, NEAR_TILES);
    *next = TZ_NONE;
    TZ_TRY(read_table_values(table, &table->layer->tables.offsets, tile + 1, some, true, spans));
    for (size_t i = 0; i < some && *next == TZ_NONE; i++)
        if (spans[i].offset != 0)
            *next = spans[i].offset;
    return TZ_OK;
}

/* Sets the sizes of tiles first to first + count - 1, which the table does not have. */
static tz_result derive_sizes(const table_reader *table, uint64_t first, size_t count,
                              tz_tile_span *out)
{
    uint64_t next = TZ_NONE;
    if (count > 0 && !is_stored_raw(table->layer))
        TZ_TRY(find_next_offset(table, first + count - 1, &next));
    for (size_t i = count; i-- > 0;) {
        out[i].size = out[i].offset ? size_by_layout(table, first + i, out[i].offset, next) : 0;
        if (out[i].offset)
            next = out[i].offset;
    }
    return TZ_OK;
}

static tz_result read_tile_spans(const table_reader *table, uint64_t first, size_t count,
                                 tz_tile_span *out)
{
    const uint64_t sizes = table->layer->tables.sizes.count;
    const uint64_t left = sizes > first ? sizes - first : 0;
    const size_t stated = (size_t)tz_min(left, count);
    TZ_TRY(check_tile_range(table, first, count));
    TZ_TRY(read_table_values(table, &table->layer->tables.offsets, first, count, true, out));
    TZ_TRY(read_table_values(table, &table->layer->tables.sizes, first, stated, false, out));
    return derive_sizes(table, first + stated, count - stated, out + stated);
}

tz_result tz_tile_spans(const tz_file *file, uint32_t level, uint64_t first, size_t count,
                        tz_tile_span *out, tz_error *err)
{
    tz_layer layer;
    table_reader table;
    TZ_TRY(open_table(&table, &layer, file, level, err));
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

/* Sets the size from the leader of a COG, if leader and trailer are both plausible. */
static tz_result size_from_leader(const table_reader *table, uint64_t tile, tz_tile_span *span)
{
    uint8_t leader[4];
    uint8_t ends[8];
    if (!has_leaders(table) || !tz_inside(table->container, span->offset, 0))
        return TZ_OK;
    if (span->offset < 4)
        return tz_fail(&table->ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT,
                       tz_expecting(at_tile(table, tile, span->offset, true), 4, span->offset),
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
    uint64_t next = TZ_NONE;
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
    return tz_warn(&table->ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT,
                   tz_expecting(at_tile(table, tile, span->offset, false), size, stated),
                   "the size of a strip cannot be right; taken from the layout");
}

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
        return tz_fail(&table.ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT,
                       tz_expecting(at_tile(&table, tile, 0, true), TZ_NONE, 0),
                       "tile of %" PRIu64 " bytes has no offset", span->size);
    if (span->size == 0)
        return tz_fail(&table.ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT,
                       tz_expecting(at_tile(&table, tile, span->offset, false), TZ_NONE, 0),
                       "tile has an offset but no size");
    if (!tz_inside(table.container, span->offset, span->size))
        return tz_fail(&table.ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                       tz_expecting(at_tile(&table, tile, span->offset, true), span->size,
                                    span->offset < table.container->size
                                        ? table.container->size - span->offset
                                        : 0),
                       "tile reaches past the end of the file");
    if (file->info.ghost.leaders && span->offset < 4)
        return tz_fail(&table.ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT,
                       tz_expecting(at_tile(&table, tile, span->offset, true), 4, span->offset),
                       "no room for the leader that the ghost area promises");
    return TZ_OK;
}

tz_result tz_tile_locate(const tz_file *file, uint32_t level, uint64_t tile, tz_tile_span *out,
                         tz_error *err)
{
    tz_tile_span span = {0, 0};
    tz_layer layer;
    table_reader table;
    TZ_TRY(open_table(&table, &layer, file, level, err));
    TZ_TRY(tz_tile_spans(file, level, tile, 1, &span, err));
    TZ_TRY(tz_tile_check_span(file, level, &layer, tile, &span, NULL, err));
    *out = span;
    return TZ_OK;
}

/* A tile whose leader has the size counts as one byte. */
static bool is_span_inside(const table_reader *table, const tz_tile_span *span)
{
    return span->offset == 0 || tz_inside(table->container, span->offset, tz_max(span->size, 1));
}

tz_result tz_level_check_end(const tz_file *file, uint32_t level, tz_error *err)
{
    tz_layer layer;
    table_reader table;
    tz_tile_span spans[TABLE_BUFFER_SIZE / sizeof(tz_tile_span)];
    const size_t fit = sizeof spans / sizeof spans[0];
    TZ_TRY(open_table(&table, &layer, file, level, err));
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
            return tz_fail(&table.ctx, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                           tz_expecting(at_tile(&table, i, span->offset, true),
                                        tz_add_capped(span->offset, span->size),
                                        table.container->size),
                           "the tile reaches past the end of the file: the file was cut off");
    }
    return TZ_OK;
}

tz_result tz_level_stored_size(const tz_file *file, uint32_t level, uint64_t *bytes,
                               uint64_t *sparse_tiles, tz_error *err)
{
    tz_layer layer;
    table_reader table;
    tz_tile_span spans[TABLE_BUFFER_SIZE / sizeof(tz_tile_span)];
    const size_t fit = sizeof spans / sizeof spans[0];
    uint64_t sum = 0;
    uint64_t sparse = 0;
    TZ_TRY(open_table(&table, &layer, file, level, err));
    const uint64_t tiles = table.layer->shape.tile_count;
    for (uint64_t first = 0; first < tiles; first += fit) {
        const size_t some = (size_t)tz_min(tiles - first, fit);
        TZ_TRY(read_tile_spans(&table, first, some, spans));
        for (size_t i = 0; i < some; i++) {
            sparse += spans[i].offset == 0 && spans[i].size == 0;
            if (!tz_add(sum, spans[i].size, &sum))
                return tz_fail(&table.ctx, TZ_ERR_FORMAT, TZ_CAUSE_LAYOUT,
                               at_tile(&table, first + i, TZ_NONE, false),
                               "the sum of tile sizes does not fit 64 bits");
        }
    }
    TZ_TRY(tz_source_check(table.container->source, &table.ctx));
    *bytes = sum;
    *sparse_tiles = sparse;
    return TZ_OK;
}
