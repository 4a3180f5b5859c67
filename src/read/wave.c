/* SPDX-License-Identifier: Apache-2.0
 * From positions of a plan to reads of its files, in three lists.
 *
 *   wanted      one entry for each tile (or row range of an uncompressed one) and request, with the
 *               tile's span from the tile table; sorted by layer, tile and row range
 *   tile_reads  runs of equal entries: the same data, for all requests that want it
 *   fetches     tile reads that lie close together in the file, one read of the source each
 *
 * A plan lists its waves once to count them, and again to run them unless a single one holds all.
 * The decision that is not obvious: positions run row by row of a request's window, not in the
 * order of the file, so that a position is a plain number from 0 to wave->total and needs no list.
 * tz_spans_merge sorts the ranges of each layer by their offset afterwards. */
#include "read/wave.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/source.h"

/* Tiles that lie this close are read together: the bytes between them cost less than a request. */
static const tz_merge_rule neighbours = {.max_gap = 4096, .max_waste = 25};

size_t tz_wave_tile_read_bytes(void)
{
    return sizeof(tz_wanted_tile) + sizeof(tz_tile_read) + sizeof(tz_indexed_range) +
           sizeof(tz_span) + sizeof(uint32_t);
}

/* All lists have the same capacity: in the worst case every position is a tile read of its own,
 * with a fetch of its own, or without data. */
tz_result tz_wave_init(tz_wave *wave, const tz_context *ctx)
{
    wave->wanted = tz_alloc_array(wave->capacity, sizeof *wave->wanted);
    wave->tile_reads = tz_alloc_array(wave->capacity, sizeof *wave->tile_reads);
    wave->ranges = tz_alloc_array(wave->capacity, sizeof *wave->ranges);
    wave->fetches = tz_alloc_array(wave->capacity, sizeof *wave->fetches);
    wave->empty = tz_alloc_array(wave->capacity, sizeof *wave->empty);
    if (!wave->wanted || !wave->tile_reads || !wave->ranges || !wave->fetches || !wave->empty)
        return tz_fail_nomem(ctx, wave->capacity * tz_wave_tile_read_bytes());
    return TZ_OK;
}

void tz_wave_deinit(tz_wave *wave)
{
    tz_free(wave->wanted);
    tz_free(wave->tile_reads);
    tz_free(wave->ranges);
    tz_free(wave->fetches);
    tz_free(wave->empty);
    *wave = (tz_wave){0};
}

/* ---- wanted tiles ---- */

static uint32_t tile_row(const tz_planned_request *request, uint64_t tile)
{
    const tz_level *level = &request->layer.shape;
    return (uint32_t)(tile / level->tiles_across % level->tiles_down) * level->tile_height;
}

/* True if the window has rows of this row range. */
static bool touches_row_range(const tz_planned_request *request, uint64_t tile, uint32_t row_range)
{
    const uint64_t first =
        (uint64_t)tile_row(request, tile) + (uint64_t)row_range * request->row_range_height;
    return first < request->y1 && first + request->row_range_height > request->y0;
}

/* A bad entry of the tile table is the tile's error: fatal, unless tiles may fail.
 * The first row range of a tile within the window reports the warnings of the entry. */
static tz_result check_table_entry(const tz_planned_request *request, tz_wanted_tile *wanted,
                                   bool salvage, tz_warnings *table_warnings,
                                   const tz_context *given)
{
    tz_error error;
    tz_context ctx = *given;
    ctx.err = &error;
    ctx.name = request->file->info.name;
    ctx.ifd = request->layer.shape.ifd;
    const bool is_first =
        wanted->row_range == 0 || !touches_row_range(request, wanted->tile, wanted->row_range - 1);
    tz_result result =
        tz_tile_check_span(request->file, tz_level_index(request->level), &request->layer,
                           wanted->tile, &wanted->span, is_first ? table_warnings : NULL, &error);
    const uint64_t bound = tz_codec_max_input(&request->stored);
    if (result == TZ_OK && wanted->span.size > bound && !tz_planned_request_is_raw(request))
        result =
            tz_fail(&ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                    tz_expecting(tz_at_tile(tz_level_index(request->level), request->layer.is_mask,
                                            wanted->tile, wanted->span.offset),
                                 bound, wanted->span.size),
                    "the tile claims far more compressed bytes than its pixels can need");
    if (result == TZ_OK)
        return TZ_OK;
    wanted->result = (uint16_t)result;
    wanted->cause = (uint16_t)error.cause;
    if (salvage && (result == TZ_ERR_FORMAT || result == TZ_ERR_LIMIT))
        return TZ_OK;
    if (given->err)
        *given->err = error;
    return result;
}

/* Lists positions from *at on. A request's positions run row by row of its window, plane by plane,
 * with the row ranges of a tile one after the other; those outside the window are left out. Spans
 * are looked up afterwards, with one read of the table for every run of neighbours. */
static tz_result list_wanted(tz_wave *wave, uint64_t *at, tz_warnings *table_warnings,
                             const tz_context *ctx)
{
    enum { RUN = 256 };
    tz_tile_span spans[RUN];
    uint64_t before = 0;
    wave->wanted_count = 0;
    for (size_t r = 0; r < wave->request_count && wave->wanted_count < wave->capacity; r++) {
        const tz_planned_request *request = &wave->requests[r];
        const tz_level *level = &request->layer.shape;
        const uint64_t across = request->tile_x1 - request->tile_x0;
        const uint64_t per_plane = across * (request->tile_y1 - request->tile_y0);
        const uint64_t end = before + request->tile_read_count;
        size_t next = wave->wanted_count; /* the first without a span */
        for (; *at >= before && *at < end && wave->wanted_count < wave->capacity; (*at)++) {
            const uint64_t index = (*at - before) / request->row_ranges;
            const uint32_t row_range = (uint32_t)((*at - before) % request->row_ranges);
            const uint64_t plane = request->planes ? request->planes[index / per_plane] : 0;
            const uint64_t y = request->tile_y0 + index % per_plane / across;
            const uint64_t x = request->tile_x0 + index % across;
            const uint64_t tile = (plane * level->tiles_down + y) * level->tiles_across + x;
            if (touches_row_range(request, tile, row_range))
                wave->wanted[wave->wanted_count++] = (tz_wanted_tile){.tile = tile,
                                                                      .row_range = row_range,
                                                                      .layer_id = request->layer_id,
                                                                      .request = (uint32_t)r};
        }
        while (next < wave->wanted_count) {
            const tz_wanted_tile *wanted = wave->wanted;
            const uint64_t first = wanted[next].tile;
            size_t run_end = next + 1;
            while (run_end < wave->wanted_count && wanted[run_end].tile - first < RUN &&
                   wanted[run_end].tile <= wanted[run_end - 1].tile + 1)
                run_end++;
            TZ_TRY(tz_layer_spans(request->file, tz_level_index(request->level), &request->layer,
                                  first, (size_t)(wanted[run_end - 1].tile - first) + 1, spans,
                                  ctx->err));
            for (; next < run_end; next++) {
                wave->wanted[next].span = spans[wanted[next].tile - first];
                TZ_TRY(check_table_entry(request, &wave->wanted[next], wave->salvage,
                                         table_warnings, ctx));
            }
        }
        before = end;
    }
    return TZ_OK;
}

static int compare_wanted(const void *a, const void *b)
{
    const tz_wanted_tile *x = a;
    const tz_wanted_tile *y = b;
    if (x->layer_id != y->layer_id)
        return x->layer_id < y->layer_id ? -1 : 1;
    if (x->tile != y->tile)
        return x->tile < y->tile ? -1 : 1;
    if (x->row_range != y->row_range)
        return x->row_range < y->row_range ? -1 : 1;
    return x->request < y->request ? -1 : x->request > y->request;
}

/* ---- tile reads ---- */

/* Equal wanted tiles become one tile read, with the rows and columns that any of them needs. */
static void make_tile_reads(tz_wave *wave)
{
    wave->tile_read_count = 0;
    for (size_t i = 0; i < wave->wanted_count; i++) {
        const tz_wanted_tile *wanted = &wave->wanted[i];
        const tz_planned_request *request = &wave->requests[wanted->request];
        if (i == 0 || wanted->layer_id != wanted[-1].layer_id || wanted->tile != wanted[-1].tile ||
            wanted->row_range != wanted[-1].row_range)
            wave->tile_reads[wave->tile_read_count++] =
                (tz_tile_read){.first = (uint32_t)i, .row0 = UINT32_MAX, .column0 = UINT32_MAX};
        tz_tile_read *tile_read = &wave->tile_reads[wave->tile_read_count - 1];
        const uint32_t x = (uint32_t)(wanted->tile % request->layer.shape.tiles_across) *
                           request->layer.shape.tile_width;
        const uint32_t y = tile_row(request, wanted->tile);
        const uint32_t row0 = wanted->row_range * request->row_range_height;
        const uint32_t row1 = tz_min_u32(request->tile.height, row0 + request->row_range_height);
        tile_read->count++;
        tile_read->row0 =
            tz_min_u32(tile_read->row0, tz_max_u32(row0, tz_max_u32(y, request->y0) - y));
        tile_read->row1 = tz_max_u32(tile_read->row1, tz_min_u32(row1, request->y1 - y));
        tile_read->column0 = tz_min_u32(tile_read->column0, tz_max_u32(x, request->x0) - x);
        tile_read->column1 =
            tz_max_u32(tile_read->column1, tz_min_u32(request->tile.width, request->x1 - x));
    }
}

tz_tile_origin tz_tile_read_origin(const tz_wave *wave, const tz_tile_read *tile_read)
{
    const uint64_t tile = tz_tile_read_wanted(wave, tile_read, 0)->tile;
    const tz_level *level = &tz_tile_read_request(wave, tile_read, 0)->layer.shape;
    const uint64_t row = tile / level->tiles_across;
    return (tz_tile_origin){(uint32_t)(tile % level->tiles_across) * level->tile_width,
                            (uint32_t)(row % level->tiles_down) * level->tile_height,
                            (uint32_t)(row / level->tiles_down)};
}

tz_context tz_tile_read_context(const tz_wave *wave, const tz_tile_read *tile_read, tz_error *err)
{
    const tz_planned_request *request = tz_tile_read_request(wave, tile_read, 0);
    tz_context ctx = tz_file_context(request->file, err);
    ctx.ifd = request->layer.shape.ifd;
    return ctx;
}

tz_result tz_tile_read_from_file(const tz_wave *wave, const tz_tile_read *tile_read,
                                 uint64_t offset, uint64_t size, uint8_t *dst, tz_error *err)
{
    const tz_planned_request *request = tz_tile_read_request(wave, tile_read, 0);
    const tz_context ctx = tz_tile_read_context(wave, tile_read, err);
    return tz_source_read(tz_planned_request_source(request), offset, (size_t)size, dst, &ctx);
}

bool tz_tile_read_mark_failed(const tz_wave *wave, const tz_tile_read *tile_read, tz_result result,
                              tz_cause cause, bool *is_new)
{
    *is_new = false;
    const bool is_the_tiles = result == TZ_ERR_FORMAT || result == TZ_ERR_LIMIT ||
                              result == TZ_ERR_UNSUPPORTED || result == TZ_ERR_IO;
    if (!is_the_tiles || !wave->salvage)
        return false;
    for (uint32_t i = 0; i < tile_read->count; i++) {
        const tz_planned_request *request = tz_tile_read_request(wave, tile_read, i);
        const tz_level *level = &request->layer.shape;
        /* the list has the planes in their order, and the tiles of each row by row */
        const uint64_t tile = tz_tile_read_wanted(wave, tile_read, i)->tile;
        const uint64_t row = tile / level->tiles_across;
        uint64_t index = 0;
        while (request->planes && request->planes[index] != row / level->tiles_down)
            index++;
        index = index * request->status_down + row % level->tiles_down - request->status_y0;
        index = index * request->status_across + tile % level->tiles_across - request->status_x0;
        tz_outcome *outcome = request->outcome;
        tz_tile_status *status = &outcome->tiles[request->status_first + index];
        *is_new = *is_new || status->result == TZ_OK;
        outcome->report.tiles_failed += status->result == TZ_OK;
        status->result = result;
        status->cause = cause;
    }
    return true;
}

/* ---- fetches ---- */

/* Only the wanted rows of an uncompressed tile are read, and only the wanted pixels of a single
 * narrow row. */
tz_indexed_range tz_tile_read_range(const tz_wave *wave, const tz_tile_read *tile_read)
{
    const tz_wanted_tile *wanted = tz_tile_read_wanted(wave, tile_read, 0);
    const tz_planned_request *request = &wave->requests[wanted->request];
    tz_indexed_range range = {.offset = wanted->span.offset,
                              .size = wanted->result == TZ_OK ? wanted->span.size : 0,
                              .index = (size_t)(tile_read - wave->tile_reads)};
    const size_t row_bytes = tz_row_bytes(&request->row);
    const uint64_t pixel_bits = (uint64_t)request->row.samples * request->row.bits;
    if (range.size == 0 || !tz_planned_request_is_raw(request))
        return range;
    if (range.size < (uint64_t)tile_read->row1 * row_bytes) {
        range.size = 0; /* too short: an error of the tile, and nothing to read */
        return range;
    }
    range.offset += (uint64_t)tile_read->row0 * row_bytes;
    range.size = (uint64_t)(tile_read->row1 - tile_read->row0) * row_bytes;
    if (request->row_range_height == 1 && pixel_bits % 8 == 0) {
        range.offset += tile_read->column0 * (pixel_bits / 8);
        range.size = (tile_read->column1 - tile_read->column0) * (pixel_bits / 8);
    }
    return range;
}

/* Decoded tiles bound the number of tiles in a fetch, so that it is work for one thread. A source
 * that names a span of its own counts requests, not threads: bytes alone bound the fetch. If it
 * names a gap, it has weighed the bytes between tiles itself. */
static tz_merge_rule merge_rule_of(const tz_wave *wave, const tz_planned_request *request,
                                   size_t fetch_size)
{
    const tz_source hints = tz_source_members(tz_planned_request_source(request));
    tz_merge_rule rule = neighbours;
    rule.max_span = fetch_size;
    rule.max_count = tz_max_size(fetch_size / tz_tile_bytes(&request->tile), 1);
    if (hints.merge_gap > 0) {
        rule.max_gap = hints.merge_gap;
        rule.max_waste = UINT64_MAX;
    }
    if (hints.merge_span > 0 && fetch_size > 1) {
        rule.max_span = tz_min(hints.merge_span, wave->max_hinted);
        rule.max_count = 0;
    }
    return rule;
}

/* Tile reads of one layer become fetches together: the ranges of another file, or of another level,
 * are never merged with them. */
static void make_fetches(tz_wave *wave, size_t fetch_size)
{
    size_t range_count = 0;
    wave->fetch_count = 0;
    wave->empty_count = 0;
    for (size_t i = 0; i < wave->tile_read_count;) {
        const tz_wanted_tile *first = tz_tile_read_wanted(wave, &wave->tile_reads[i], 0);
        const size_t begin = range_count;
        for (; i < wave->tile_read_count &&
               tz_tile_read_wanted(wave, &wave->tile_reads[i], 0)->layer_id == first->layer_id;
             i++) {
            const tz_indexed_range range = tz_tile_read_range(wave, &wave->tile_reads[i]);
            if (range.size > 0)
                wave->ranges[range_count++] = range;
            else
                wave->empty[wave->empty_count++] = (uint32_t)i;
        }
        const tz_merge_rule rule = merge_rule_of(wave, &wave->requests[first->request], fetch_size);
        tz_span *fetches = wave->fetches + wave->fetch_count;
        const size_t made =
            tz_spans_merge(wave->ranges + begin, range_count - begin, &rule, fetches);
        for (size_t k = 0; k < made; k++)
            fetches[k].first += begin;
        wave->fetch_count += made;
    }
}

/* wave->end changes only if the positions could be listed: after a failure the wave does not claim
 * to hold positions that it has not got. */
tz_result tz_wave_next(tz_wave *wave, size_t fetch_size, tz_warnings *table_warnings,
                       const tz_context *ctx)
{
    uint64_t at = wave->end;
    wave->begin = at;
    do { /* a list of nothing but row ranges outside the window says nothing about the next */
        TZ_TRY(list_wanted(wave, &at, table_warnings, ctx));
    } while (wave->wanted_count == 0 && at < wave->total);
    wave->end = at;
    for (size_t i = 1; i < wave->wanted_count; i++) { /* one request lists its tiles in order */
        if (compare_wanted(&wave->wanted[i - 1], &wave->wanted[i]) > 0) {
            qsort(wave->wanted, wave->wanted_count, sizeof *wave->wanted, compare_wanted);
            break;
        }
    }
    make_tile_reads(wave);
    make_fetches(wave, fetch_size);
    return TZ_OK;
}
