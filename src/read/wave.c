/* SPDX-License-Identifier: Apache-2.0
 * A wave: the next tiles of a plan, each once, and the reads that fetch them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/source.h"
#include "read/plan.h"

/* Tiles that lie this close are read together: what is between them costs less than a request. */
static const tz_merge_rule neighbours = {.max_gap = 4096, .max_waste = 25};

size_t tz_wave_tile_read_bytes(void)
{
    return sizeof(tz_wanted_tile) + sizeof(tz_tile_read) + sizeof(tz_indexed_range) +
           sizeof(tz_span) + sizeof(uint32_t);
}

tz_result tz_wave_init(tz_plan *plan)
{
    tz_wave *wave = &plan->wave;
    const size_t capacity = plan->wave_capacity;
    wave->wanted = tz_alloc_array(capacity, sizeof *wave->wanted);
    wave->tile_reads = tz_alloc_array(capacity, sizeof *wave->tile_reads);
    wave->ranges = tz_alloc_array(capacity, sizeof *wave->ranges);
    wave->fetches = tz_alloc_array(capacity, sizeof *wave->fetches);
    wave->empty = tz_alloc_array(capacity, sizeof *wave->empty);
    if (!wave->wanted || !wave->tile_reads || !wave->ranges || !wave->fetches || !wave->empty)
        return tz_fail_nomem(&plan->ctx, capacity * tz_wave_tile_read_bytes());
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

/* ---- wanted ---- */

/* What position index within the target is: row by row of the window, plane by plane, and the parts
 * of a tile one after the other. */
static tz_wanted_tile wanted_at(const tz_planned_request *request, uint64_t index)
{
    const tz_level *level = &request->layer.shape;
    const uint64_t across = request->tile_x1 - request->tile_x0;
    const uint64_t per_plane = across * (request->tile_y1 - request->tile_y0);
    const uint64_t tile = index / request->row_ranges;
    const uint64_t plane = request->planes ? request->planes[tile / per_plane] : 0;
    const uint64_t y = request->tile_y0 + tile % per_plane / across;
    const uint64_t x = request->tile_x0 + tile % across;
    return (tz_wanted_tile){.tile = (plane * level->tiles_down + y) * level->tiles_across + x,
                            .row_range = (uint32_t)(index % request->row_ranges),
                            .layer_id = request->layer_id};
}

static uint32_t tile_row(const tz_planned_request *request, uint64_t tile)
{
    const tz_level *level = &request->layer.shape;
    return (uint32_t)(tile / level->tiles_across % level->tiles_down) * level->tile_height;
}

static uint32_t tile_column(const tz_planned_request *request, uint64_t tile)
{
    const tz_level *level = &request->layer.shape;
    return (uint32_t)(tile % level->tiles_across) * level->tile_width;
}

/* Whether the window has rows of this part. */
static bool touches_row_range(const tz_planned_request *request, const tz_wanted_tile *wanted)
{
    const uint64_t first = (uint64_t)tile_row(request, wanted->tile) +
                           (uint64_t)wanted->row_range * request->row_range_height;
    return first < request->y1 && first + request->row_range_height > request->y0;
}

/* Whether the window has no part of the tile before this one. */
static bool is_first_row_range(const tz_planned_request *request, const tz_wanted_tile *wanted)
{
    tz_wanted_tile before = *wanted;
    before.row_range--;
    return wanted->row_range == 0 || !touches_row_range(request, &before);
}

/* A defect of the table's entry is the tile's: fatal, unless the outcome's list takes it. */
static tz_result check_table_entry(tz_plan *plan, const tz_planned_request *request,
                                   tz_wanted_tile *wanted)
{
    tz_error error;
    tz_context ctx = plan->ctx;
    ctx.err = &error;
    ctx.name = request->file->info.name;
    ctx.ifd = request->layer.shape.ifd;
    const bool counts = plan->measuring && is_first_row_range(request, wanted);
    tz_result result =
        tz_tile_check_span(request->file, request->level, &request->layer, wanted->tile,
                           &wanted->span, counts ? &plan->table_warnings : NULL, &error);
    const uint64_t bound = tz_codec_max_input(&request->stored);
    if (result == TZ_OK && wanted->span.size > bound && !tz_planned_request_is_raw(request))
        result = tz_fail(&ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                         tz_expecting(tz_at_tile(request->level, wanted->tile, wanted->span.offset),
                                      bound, wanted->span.size),
                         "the tile claims far more compressed bytes than its pixels can need");
    if (result == TZ_OK)
        return TZ_OK;
    wanted->result = (uint16_t)result;
    wanted->cause = (uint16_t)error.cause;
    const bool is_noted = request->outcome && request->outcome->tiles &&
                          (result == TZ_ERR_FORMAT || result == TZ_ERR_LIMIT);
    if (is_noted)
        return TZ_OK;
    if (plan->ctx.err)
        *plan->ctx.err = error;
    return result;
}

/* Spans of a list of tiles, with one read of the table for every run of neighbours. */
static tz_result locate_wanted(tz_plan *plan, const tz_planned_request *request,
                               tz_wanted_tile *wanted, size_t count)
{
    enum { RUN = 256 };
    tz_tile_span spans[RUN];
    for (size_t done = 0; done < count;) {
        const uint64_t first = wanted[done].tile;
        size_t run = 1;
        while (done + run < count && wanted[done + run].tile - first < RUN &&
               wanted[done + run].tile <= wanted[done + run - 1].tile + 1)
            run++;
        const size_t tiles = (size_t)(wanted[done + run - 1].tile - first) + 1;
        TZ_TRY(tz_layer_spans(request->file, request->level, &request->layer, first, tiles, spans,
                              plan->ctx.err));
        for (size_t i = done; i < done + run; i++) {
            wanted[i].span = spans[wanted[i].tile - first];
            TZ_TRY(check_table_entry(plan, request, &wanted[i]));
        }
        done += run;
    }
    return TZ_OK;
}

static tz_result list_wanted(tz_plan *plan, uint64_t *at)
{
    tz_wave *wave = &plan->wave;
    uint64_t before = 0;
    wave->wanted_count = 0;
    for (size_t t = 0; t < plan->request_count && wave->wanted_count < plan->wave_capacity; t++) {
        const tz_planned_request *request = &plan->requests[t];
        const uint64_t end = before + request->tile_read_count;
        const size_t first = wave->wanted_count;
        for (; *at >= before && *at < end && wave->wanted_count < plan->wave_capacity; (*at)++) {
            tz_wanted_tile wanted = wanted_at(request, *at - before);
            wanted.request = (uint32_t)t;
            if (touches_row_range(request, &wanted))
                wave->wanted[wave->wanted_count++] = wanted;
        }
        TZ_TRY(locate_wanted(plan, request, wave->wanted + first, wave->wanted_count - first));
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

/* One target lists its tiles in order, several need sorting. */
static void sort_wanted(tz_wave *wave)
{
    for (size_t i = 1; i < wave->wanted_count; i++) {
        if (compare_wanted(&wave->wanted[i - 1], &wave->wanted[i]) > 0) {
            qsort(wave->wanted, wave->wanted_count, sizeof *wave->wanted, compare_wanted);
            return;
        }
    }
}

/* ---- units ---- */

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The part of the unit's rows and columns that one more target wants. */
static void extend_window(tz_tile_read *tile_read, const tz_planned_request *request,
                          const tz_wanted_tile *wanted)
{
    const uint32_t x = tile_column(request, wanted->tile);
    const uint32_t y = tile_row(request, wanted->tile);
    const uint32_t range_row0 = wanted->row_range * request->row_range_height;
    const uint32_t range_row1 =
        tz_min_u32(request->tile.height, range_row0 + request->row_range_height);
    tile_read->row0 = tz_min_u32(tile_read->row0, larger(range_row0, larger(y, request->y0) - y));
    tile_read->row1 = larger(tile_read->row1, tz_min_u32(range_row1, request->y1 - y));
    tile_read->column0 = tz_min_u32(tile_read->column0, larger(x, request->x0) - x);
    tile_read->column1 =
        larger(tile_read->column1, tz_min_u32(request->tile.width, request->x1 - x));
}

static bool is_same_data(const tz_wanted_tile *a, const tz_wanted_tile *b)
{
    return a->layer_id == b->layer_id && a->tile == b->tile && a->row_range == b->row_range;
}

static void make_tile_reads(tz_plan *plan)
{
    tz_wave *wave = &plan->wave;
    wave->tile_read_count = 0;
    for (size_t i = 0; i < wave->wanted_count; i++) {
        const tz_wanted_tile *wanted = &wave->wanted[i];
        if (i == 0 || !is_same_data(wanted, wanted - 1))
            wave->tile_reads[wave->tile_read_count++] =
                (tz_tile_read){.first = (uint32_t)i, .row0 = UINT32_MAX, .column0 = UINT32_MAX};
        tz_tile_read *tile_read = &wave->tile_reads[wave->tile_read_count - 1];
        tile_read->count++;
        extend_window(tile_read, &plan->requests[wanted->request], wanted);
    }
}

bool tz_tile_read_may_fail(const tz_plan *plan, const tz_tile_read *tile_read)
{
    for (uint32_t i = 0; i < tile_read->count; i++) {
        const uint32_t request = plan->wave.wanted[tile_read->first + i].request;
        const tz_outcome *outcome = plan->requests[request].outcome;
        if (!outcome || !outcome->tiles)
            return false;
    }
    return true;
}

bool tz_fetch_may_fail(const tz_plan *plan, const tz_span *fetch)
{
    for (size_t i = 0; i < fetch->count; i++) {
        if (tz_tile_read_may_fail(
                plan, &plan->wave.tile_reads[plan->wave.ranges[fetch->first + i].index]))
            return true;
    }
    return false;
}

tz_result tz_tile_read_from_file(const tz_plan *plan, const tz_tile_read *tile_read,
                                 uint64_t offset, uint64_t size, uint8_t *dst, tz_error *err)
{
    const tz_planned_request *request = tz_tile_read_request(plan, tile_read);
    tz_context ctx = tz_file_context(request->file, err);
    ctx.ifd = request->layer.shape.ifd;
    return tz_source_read(tz_planned_request_source(request), offset, (size_t)size, dst, &ctx);
}

static uint64_t status_index(const tz_planned_request *request, uint64_t tile)
{
    const tz_level *level = &request->layer.shape;
    const uint64_t x = tile % level->tiles_across - request->status_x0;
    const uint64_t y = tile / level->tiles_across % level->tiles_down - request->status_y0;
    const uint32_t plane = (uint32_t)(tile / level->tiles_across / level->tiles_down);
    uint64_t index = 0;
    while (request->planes && request->planes[index] != plane)
        index++;
    return request->status_first + (index * request->status_down + y) * request->status_across + x;
}

bool tz_tile_read_mark_failed(const tz_plan *plan, const tz_tile_read *tile_read, tz_result result,
                              tz_cause cause, bool *is_new)
{
    *is_new = false;
    const bool is_the_tiles = result == TZ_ERR_FORMAT || result == TZ_ERR_LIMIT ||
                              result == TZ_ERR_UNSUPPORTED || result == TZ_ERR_IO;
    if (!is_the_tiles || !tz_tile_read_may_fail(plan, tile_read))
        return false;
    for (uint32_t i = 0; i < tile_read->count; i++) {
        const tz_wanted_tile *wanted = &plan->wave.wanted[tile_read->first + i];
        const tz_planned_request *request = &plan->requests[wanted->request];
        tz_tile_status *status = &request->outcome->tiles[status_index(request, wanted->tile)];
        *is_new = *is_new || status->result == TZ_OK;
        request->outcome->tiles_failed += status->result == TZ_OK;
        status->result = result;
        status->cause = cause;
    }
    return true;
}

/* ---- fetches ---- */

static bool is_whole_bytes(const tz_row_format *row)
{
    return (uint64_t)row->samples * row->bits % 8 == 0;
}

tz_indexed_range tz_tile_read_range(const tz_plan *plan, const tz_tile_read *tile_read)
{
    const tz_wanted_tile *wanted = &plan->wave.wanted[tile_read->first];
    const tz_planned_request *request = &plan->requests[wanted->request];
    tz_indexed_range range = {.offset = wanted->span.offset,
                              .size = wanted->result == TZ_OK ? wanted->span.size : 0,
                              .index = (size_t)(tile_read - plan->wave.tile_reads)};
    const size_t row_bytes = tz_row_bytes(&request->row);
    if (range.size == 0 || !tz_planned_request_is_raw(request))
        return range;
    if (range.size < (uint64_t)tile_read->row1 * row_bytes) {
        range.size = 0; /* too short: an error of the tile, and nothing to read */
        return range;
    }
    range.offset += (uint64_t)tile_read->row0 * row_bytes;
    range.size = (uint64_t)(tile_read->row1 - tile_read->row0) * row_bytes;
    if (request->row_range_height == 1 && is_whole_bytes(&request->row)) {
        const uint64_t pixel = (uint64_t)request->row.samples * request->row.bits / 8;
        range.offset += tile_read->column0 * pixel;
        range.size = (tile_read->column1 - tile_read->column0) * pixel;
    }
    return range;
}

/* Reads for units first to end - 1, which are of one file and level. */
static void merge_layer_ranges(tz_plan *plan, size_t first, size_t end)
{
    tz_wave *wave = &plan->wave;
    const tz_planned_request *request =
        &plan->requests[wave->wanted[wave->tile_reads[first].first].request];
    const size_t begin = wave->fetch_count > 0 ? wave->fetches[wave->fetch_count - 1].first +
                                                     wave->fetches[wave->fetch_count - 1].count
                                               : 0;
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        const tz_indexed_range range = tz_tile_read_range(plan, &wave->tile_reads[i]);
        if (range.size > 0)
            wave->ranges[begin + count++] = range;
        else
            wave->empty[wave->empty_count++] = (uint32_t)i;
    }
    tz_merge_rule rule = neighbours;
    rule.max_span = plan->fetch_size;
    rule.max_count = plan->fetch_size / tz_tile_bytes(&request->tile);
    if (rule.max_count == 0)
        rule.max_count = 1;
    tz_span *fetches = wave->fetches + wave->fetch_count;
    const size_t made = tz_spans_merge(wave->ranges + begin, count, &rule, fetches);
    for (size_t i = 0; i < made; i++)
        fetches[i].first += begin;
    wave->fetch_count += made;
}

static uint32_t layer_id_of(const tz_wave *wave, size_t tile_read)
{
    return wave->wanted[wave->tile_reads[tile_read].first].layer_id;
}

static void make_fetches(tz_plan *plan)
{
    tz_wave *wave = &plan->wave;
    wave->fetch_count = 0;
    wave->empty_count = 0;
    for (size_t first = 0, end; first < wave->tile_read_count; first = end) {
        for (end = first + 1; end < wave->tile_read_count; end++) {
            if (layer_id_of(wave, end) != layer_id_of(wave, first))
                break;
        }
        merge_layer_ranges(plan, first, end);
    }
}

tz_result tz_wave_next(tz_plan *plan, uint64_t *at)
{
    do { /* a wave of nothing but parts outside the window says nothing of the next */
        TZ_TRY(list_wanted(plan, at));
    } while (plan->wave.wanted_count == 0 && *at < plan->tile_read_count);
    sort_wanted(&plan->wave);
    make_tile_reads(plan);
    make_fetches(plan);
    return TZ_OK;
}
