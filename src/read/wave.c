/* SPDX-License-Identifier: Apache-2.0
 * A wave: the next tiles of a plan, each once, and the reads that fetch them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/source.h"
#include "read/plan.h"

/* Tiles that lie this close are read together: what is between them costs less than a request. */
static const tz_merge_rule neighbours = {.max_gap = 4096, .max_waste = 25};

size_t tz_wave_unit_bytes(void)
{
    return sizeof(tz_wanted) + sizeof(tz_unit) + sizeof(tz_indexed_range) + sizeof(tz_span) +
           sizeof(uint32_t);
}

tz_result tz_wave_init(tz_plan *plan)
{
    tz_wave *wave = &plan->wave;
    const size_t room = plan->wave_room;
    wave->wanted = tz_alloc_array(room, sizeof *wave->wanted);
    wave->units = tz_alloc_array(room, sizeof *wave->units);
    wave->pieces = tz_alloc_array(room, sizeof *wave->pieces);
    wave->fetches = tz_alloc_array(room, sizeof *wave->fetches);
    wave->empty = tz_alloc_array(room, sizeof *wave->empty);
    if (!wave->wanted || !wave->units || !wave->pieces || !wave->fetches || !wave->empty)
        return tz_fail_nomem(&plan->ctx, room * tz_wave_unit_bytes());
    return TZ_OK;
}

void tz_wave_deinit(tz_wave *wave)
{
    tz_free(wave->wanted);
    tz_free(wave->units);
    tz_free(wave->pieces);
    tz_free(wave->fetches);
    tz_free(wave->empty);
    *wave = (tz_wave){0};
}

/* ---- wanted ---- */

/* What position index within the target is: row by row of the window, plane by plane, and the parts
 * of a tile one after the other. */
static tz_wanted wanted_at(const tz_target *target, uint64_t index)
{
    const tz_level *level = &target->layer.shape;
    const uint64_t across = target->tile_x1 - target->tile_x0;
    const uint64_t per_plane = across * (target->tile_y1 - target->tile_y0);
    const uint64_t tile = index / target->parts;
    const uint64_t plane = target->planes ? target->planes[tile / per_plane] : 0;
    const uint64_t y = target->tile_y0 + tile % per_plane / across;
    const uint64_t x = target->tile_x0 + tile % across;
    return (tz_wanted){.tile = (plane * level->tiles_down + y) * level->tiles_across + x,
                       .part = (uint32_t)(index % target->parts),
                       .group = target->group};
}

static uint32_t tile_row(const tz_target *target, uint64_t tile)
{
    const tz_level *level = &target->layer.shape;
    return (uint32_t)(tile / level->tiles_across % level->tiles_down) * level->tile_height;
}

static uint32_t tile_column(const tz_target *target, uint64_t tile)
{
    const tz_level *level = &target->layer.shape;
    return (uint32_t)(tile % level->tiles_across) * level->tile_width;
}

/* Whether the window has rows of this part. */
static bool touches_part(const tz_target *target, const tz_wanted *wanted)
{
    const uint64_t first =
        (uint64_t)tile_row(target, wanted->tile) + (uint64_t)wanted->part * target->part_rows;
    return first < target->y1 && first + target->part_rows > target->y0;
}

/* Whether the window has no part of the tile before this one. */
static bool is_first_part(const tz_target *target, const tz_wanted *wanted)
{
    tz_wanted before = *wanted;
    before.part--;
    return wanted->part == 0 || !touches_part(target, &before);
}

/* A defect of the table's entry is the tile's: fatal, unless the outcome's list takes it. */
static tz_result check_entry(tz_plan *plan, const tz_target *target, tz_wanted *wanted)
{
    tz_error error;
    tz_context ctx = plan->ctx;
    ctx.err = &error;
    ctx.name = target->file->info.name;
    ctx.ifd = target->layer.shape.ifd;
    const bool counts = plan->measuring && is_first_part(target, wanted);
    tz_result result =
        tz_tile_check_span(target->file, target->level, &target->layer, wanted->tile, &wanted->span,
                           counts ? &plan->table_warnings : NULL, &error);
    const uint64_t bound = tz_codec_max_input(&target->stored);
    if (result == TZ_OK && wanted->span.size > bound && !tz_target_is_raw(target))
        result = tz_fail(&ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                         tz_expecting(tz_at_tile(target->level, wanted->tile, wanted->span.offset),
                                      bound, wanted->span.size),
                         "the tile claims far more compressed bytes than its pixels can need");
    if (result == TZ_OK)
        return TZ_OK;
    wanted->result = (uint16_t)result;
    wanted->cause = (uint16_t)error.cause;
    const bool is_noted = target->outcome && target->outcome->tiles &&
                          (result == TZ_ERR_FORMAT || result == TZ_ERR_LIMIT);
    if (is_noted)
        return TZ_OK;
    if (plan->ctx.err)
        *plan->ctx.err = error;
    return result;
}

/* Spans of a list of tiles, with one read of the table for every run of neighbours. */
static tz_result locate(tz_plan *plan, const tz_target *target, tz_wanted *wanted, size_t count)
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
        TZ_TRY(tz_layer_spans(target->file, target->level, &target->layer, first, tiles, spans,
                              plan->ctx.err));
        for (size_t i = done; i < done + run; i++) {
            wanted[i].span = spans[wanted[i].tile - first];
            TZ_TRY(check_entry(plan, target, &wanted[i]));
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
    for (size_t t = 0; t < plan->target_count && wave->wanted_count < plan->wave_room; t++) {
        const tz_target *target = &plan->targets[t];
        const uint64_t end = before + target->unit_count;
        const size_t first = wave->wanted_count;
        for (; *at >= before && *at < end && wave->wanted_count < plan->wave_room; (*at)++) {
            tz_wanted wanted = wanted_at(target, *at - before);
            wanted.target = (uint32_t)t;
            if (touches_part(target, &wanted))
                wave->wanted[wave->wanted_count++] = wanted;
        }
        TZ_TRY(locate(plan, target, wave->wanted + first, wave->wanted_count - first));
        before = end;
    }
    return TZ_OK;
}

static int by_data(const void *a, const void *b)
{
    const tz_wanted *x = a;
    const tz_wanted *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->tile != y->tile)
        return x->tile < y->tile ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

/* One target lists its tiles in order, several need sorting. */
static void sort_wanted(tz_wave *wave)
{
    for (size_t i = 1; i < wave->wanted_count; i++) {
        if (by_data(&wave->wanted[i - 1], &wave->wanted[i]) > 0) {
            qsort(wave->wanted, wave->wanted_count, sizeof *wave->wanted, by_data);
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
static void extend(tz_unit *unit, const tz_target *target, const tz_wanted *wanted)
{
    const uint32_t x = tile_column(target, wanted->tile);
    const uint32_t y = tile_row(target, wanted->tile);
    const uint32_t part0 = wanted->part * target->part_rows;
    const uint32_t part1 = tz_min_u32(target->tile.height, part0 + target->part_rows);
    unit->row0 = tz_min_u32(unit->row0, larger(part0, larger(y, target->y0) - y));
    unit->row1 = larger(unit->row1, tz_min_u32(part1, target->y1 - y));
    unit->column0 = tz_min_u32(unit->column0, larger(x, target->x0) - x);
    unit->column1 = larger(unit->column1, tz_min_u32(target->tile.width, target->x1 - x));
}

static bool is_same_data(const tz_wanted *a, const tz_wanted *b)
{
    return a->group == b->group && a->tile == b->tile && a->part == b->part;
}

static void make_units(tz_plan *plan)
{
    tz_wave *wave = &plan->wave;
    wave->unit_count = 0;
    for (size_t i = 0; i < wave->wanted_count; i++) {
        const tz_wanted *wanted = &wave->wanted[i];
        if (i == 0 || !is_same_data(wanted, wanted - 1))
            wave->units[wave->unit_count++] =
                (tz_unit){.first = (uint32_t)i, .row0 = UINT32_MAX, .column0 = UINT32_MAX};
        tz_unit *unit = &wave->units[wave->unit_count - 1];
        unit->count++;
        extend(unit, &plan->targets[wanted->target], wanted);
    }
}

bool tz_unit_takes_failures(const tz_plan *plan, const tz_unit *unit)
{
    for (uint32_t i = 0; i < unit->count; i++) {
        const uint32_t target = plan->wave.wanted[unit->first + i].target;
        const tz_outcome *outcome = plan->targets[target].outcome;
        if (!outcome || !outcome->tiles)
            return false;
    }
    return true;
}

bool tz_fetch_takes_failures(const tz_plan *plan, const tz_span *fetch)
{
    for (size_t i = 0; i < fetch->count; i++) {
        if (tz_unit_takes_failures(plan,
                                   &plan->wave.units[plan->wave.pieces[fetch->first + i].index]))
            return true;
    }
    return false;
}

tz_result tz_unit_read(const tz_plan *plan, const tz_unit *unit, uint64_t offset, uint64_t size,
                       uint8_t *dst, tz_error *err)
{
    const tz_target *target = tz_unit_target(plan, unit);
    tz_context ctx = tz_file_context(target->file, err);
    ctx.ifd = target->layer.shape.ifd;
    return tz_source_read(tz_target_source(target), offset, (size_t)size, dst, &ctx);
}

static uint64_t status_index(const tz_target *target, uint64_t tile)
{
    const tz_level *level = &target->layer.shape;
    const uint64_t x = tile % level->tiles_across - target->status_x0;
    const uint64_t y = tile / level->tiles_across % level->tiles_down - target->status_y0;
    const uint32_t plane = (uint32_t)(tile / level->tiles_across / level->tiles_down);
    uint64_t index = 0;
    while (target->planes && target->planes[index] != plane)
        index++;
    return target->status_first + (index * target->status_down + y) * target->status_across + x;
}

bool tz_unit_note(const tz_plan *plan, const tz_unit *unit, tz_result result, tz_cause cause,
                  bool *is_new)
{
    *is_new = false;
    const bool is_the_tiles = result == TZ_ERR_FORMAT || result == TZ_ERR_LIMIT ||
                              result == TZ_ERR_UNSUPPORTED || result == TZ_ERR_IO;
    if (!is_the_tiles || !tz_unit_takes_failures(plan, unit))
        return false;
    for (uint32_t i = 0; i < unit->count; i++) {
        const tz_wanted *wanted = &plan->wave.wanted[unit->first + i];
        const tz_target *target = &plan->targets[wanted->target];
        tz_tile_status *status = &target->outcome->tiles[status_index(target, wanted->tile)];
        *is_new = *is_new || status->result == TZ_OK;
        target->outcome->tiles_failed += status->result == TZ_OK;
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

tz_indexed_range tz_unit_piece(const tz_plan *plan, const tz_unit *unit)
{
    const tz_wanted *wanted = &plan->wave.wanted[unit->first];
    const tz_target *target = &plan->targets[wanted->target];
    tz_indexed_range piece = {.offset = wanted->span.offset,
                              .size = wanted->result == TZ_OK ? wanted->span.size : 0,
                              .index = (size_t)(unit - plan->wave.units)};
    const size_t row_bytes = tz_row_bytes(&target->row);
    if (piece.size == 0 || !tz_target_is_raw(target))
        return piece;
    if (piece.size < (uint64_t)unit->row1 * row_bytes) {
        piece.size = 0; /* too short: an error of the tile, and nothing to read */
        return piece;
    }
    piece.offset += (uint64_t)unit->row0 * row_bytes;
    piece.size = (uint64_t)(unit->row1 - unit->row0) * row_bytes;
    if (target->part_rows == 1 && is_whole_bytes(&target->row)) {
        const uint64_t pixel = (uint64_t)target->row.samples * target->row.bits / 8;
        piece.offset += unit->column0 * pixel;
        piece.size = (unit->column1 - unit->column0) * pixel;
    }
    return piece;
}

/* Reads for units first to end - 1, which are of one file and level. */
static void merge_group(tz_plan *plan, size_t first, size_t end)
{
    tz_wave *wave = &plan->wave;
    const tz_target *target = &plan->targets[wave->wanted[wave->units[first].first].target];
    const size_t begin = wave->fetch_count > 0 ? wave->fetches[wave->fetch_count - 1].first +
                                                     wave->fetches[wave->fetch_count - 1].count
                                               : 0;
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        const tz_indexed_range piece = tz_unit_piece(plan, &wave->units[i]);
        if (piece.size > 0)
            wave->pieces[begin + count++] = piece;
        else
            wave->empty[wave->empty_count++] = (uint32_t)i;
    }
    tz_merge_rule rule = neighbours;
    rule.max_span = plan->fetch_size;
    rule.max_count = plan->fetch_size / tz_tile_bytes(&target->tile);
    if (rule.max_count == 0)
        rule.max_count = 1;
    tz_span *fetches = wave->fetches + wave->fetch_count;
    const size_t made = tz_spans_merge(wave->pieces + begin, count, &rule, fetches);
    for (size_t i = 0; i < made; i++)
        fetches[i].first += begin;
    wave->fetch_count += made;
}

static uint32_t group_of(const tz_wave *wave, size_t unit)
{
    return wave->wanted[wave->units[unit].first].group;
}

static void make_fetches(tz_plan *plan)
{
    tz_wave *wave = &plan->wave;
    wave->fetch_count = 0;
    wave->empty_count = 0;
    for (size_t first = 0, end; first < wave->unit_count; first = end) {
        for (end = first + 1; end < wave->unit_count; end++) {
            if (group_of(wave, end) != group_of(wave, first))
                break;
        }
        merge_group(plan, first, end);
    }
}

tz_result tz_wave_next(tz_plan *plan, uint64_t *at)
{
    do { /* a wave of nothing but parts outside the window says nothing of the next */
        TZ_TRY(list_wanted(plan, at));
    } while (plan->wave.wanted_count == 0 && *at < plan->unit_count);
    sort_wanted(&plan->wave);
    make_units(plan);
    make_fetches(plan);
    return TZ_OK;
}
