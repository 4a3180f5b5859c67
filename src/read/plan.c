/* SPDX-License-Identifier: Apache-2.0 */
#include "read/plan.h"

#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "io/source.h"
#include "read/device_plan.h"
#include "read/tile.h"

/* Neighbouring tiles are read together up to this size, which the second cache holds until they are
 * decoded; less where there would be too few reads to keep all threads busy. */
enum { FETCH_MAX = 1 << 18, FETCH_MIN = 1 << 14, FETCHES_PER_THREAD = 4 };

/* ---- targets ---- */

/* Groups by file, level and reduction: where to look for one, by open addressing. */
typedef struct group_table {
    uint32_t *slots; /* target + 1; 0: free */
    size_t mask;
} group_table;

static tz_result make_table(group_table *table, size_t targets, tz_arena *arena,
                            const tz_context *ctx)
{
    size_t slots = 2;
    while (slots < 2 * targets)
        slots *= 2;
    table->mask = slots - 1;
    table->slots = tz_arena_array(arena, slots, sizeof *table->slots);
    return table->slots ? TZ_OK : tz_fail_nomem(ctx, slots * sizeof *table->slots);
}

/* The first target of the view's file, a level and its reduction; the new one itself when there is
 * none yet. */
static uint32_t find_group(const tz_plan *plan, const group_table *table, const tz_view *view,
                           uint32_t level)
{
    const uint64_t key =
        ((uint64_t)(uintptr_t)view->file ^ level ^ (uint64_t)view->reduction << 48) *
        UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(key >> 32) & table->mask;
    for (; table->slots[slot]; slot = (slot + 1) & table->mask) {
        const tz_target *target = &plan->targets[table->slots[slot] - 1];
        if (target->file == view->file && target->level == level &&
            target->reduction == view->reduction)
            return table->slots[slot] - 1;
    }
    table->slots[slot] = (uint32_t)plan->target_count + 1;
    return (uint32_t)plan->target_count;
}

static tz_result add_target(tz_plan *plan, const group_table *table, const tz_view *view,
                            tz_target_kind kind)
{
    tz_context ctx = tz_file_context(view->file, plan->ctx.err);
    ctx.warnings = &plan->warnings;
    tz_target *target = &plan->targets[plan->target_count];
    const uint32_t level = kind == TZ_TARGET_MASK ? TZ_MASK_OF(view->level) : view->level;
    const uint32_t group = find_group(plan, table, view, level);
    const tz_target *shared = group < plan->target_count ? &plan->targets[group] : NULL;
    TZ_TRY(tz_target_make(target, view, kind, shared, &plan->options, &plan->arena, &ctx));
    target->group = group;
    plan->target_count++;
    plan->unit_count += target->unit_count;
    return TZ_OK;
}

static tz_result add_view(tz_plan *plan, const group_table *table, const tz_view *view)
{
    const size_t first = plan->target_count;
    const tz_target_kind mask =
        tz_buffer_exists(&view->mask) ? tz_mask_source(view) : TZ_TARGET_PIXELS;
    TZ_TRY(add_target(plan, table, view, TZ_TARGET_PIXELS));
    if (mask != TZ_TARGET_PIXELS) {
        TZ_TRY(add_target(plan, table, view, mask));
        plan->targets[first + 1].status_first = tz_target_status_count(&plan->targets[first]);
    }
    return TZ_OK;
}

static tz_result add_views(tz_plan *plan, const tz_view *views, size_t count)
{
    group_table table;
    plan->targets = tz_arena_array(&plan->arena, count * 2, sizeof *plan->targets);
    if (!plan->targets)
        return tz_fail_nomem(&plan->ctx, count * 2 * sizeof *plan->targets);
    TZ_TRY(make_table(&table, count * 2, &plan->arena, &plan->ctx));
    for (size_t i = 0; i < count; i++)
        TZ_TRY(add_view(plan, &table, &views[i]));
    return TZ_OK;
}

/* ---- cost ---- */

static void grow(size_t *size, size_t least)
{
    if (*size < least)
        *size = least;
}

static void measure_target(tz_plan *plan, const tz_target *target)
{
    const size_t tile = tz_tile_bytes(&target->tile);
    if (target->unit_count == 0)
        return;
    if (tile > plan->report.largest_tile)
        plan->report.largest_tile = tile;
    if (!tz_target_is_raw(target))
        grow(&plan->output_size, tz_tile_bytes(&target->stored));
    grow(&plan->row_size, tz_row_prepared_bytes(&target->row));
    grow(&plan->scratch_size, tz_row_scratch_bytes(&target->row));
}

static void measure_codecs(tz_plan *plan)
{
    for (size_t c = 0; tz_decoders[c]; c++) {
        for (size_t t = 0; t < plan->target_count; t++) {
            if (plan->targets[t].codec == tz_decoders[c]) {
                plan->state_size += tz_decoders[c]->state_size + tz_decoders[c]->max_extra_memory;
                break;
            }
        }
    }
}

/* Several units may be parts of one tile, also across waves: the first of them counts it. */
static bool starts_tile(tz_plan *plan, const tz_wanted *wanted)
{
    const bool repeats = plan->report.tiles > 0 && plan->last_group == wanted->group &&
                         plan->last_tile == wanted->tile;
    plan->last_group = wanted->group;
    plan->last_tile = wanted->tile;
    return !repeats;
}

static void measure_unit(tz_plan *plan, const tz_unit *unit)
{
    tz_report *report = &plan->report;
    const tz_wanted *wanted = &plan->wave.wanted[unit->first];
    const tz_target *target = &plan->targets[wanted->target];
    report->tiles_shared += unit->count - 1;
    if (!starts_tile(plan, wanted))
        return;
    report->tiles++;
    if (wanted->result == TZ_OK && wanted->span.size == 0) {
        report->tiles_sparse++;
        return;
    }
    report->tiles_reduced += target->reduction > 0;
    report->bytes_decoded += tz_layer_tile_bytes(&target->layer, wanted->tile);
    if (tz_target_is_raw(target))
        report->tiles_copied++;
    else if (!plan->device && tz_tile_is_direct(plan, unit))
        report->tiles_direct++;
    else
        report->tiles_decoded++;
}

static void measure_wave(tz_plan *plan)
{
    const tz_wave *wave = &plan->wave;
    plan->report.waves++;
    for (size_t i = 0; i < wave->unit_count; i++)
        measure_unit(plan, &wave->units[i]);
    for (size_t i = 0; i < wave->fetch_count; i++) {
        const tz_span *fetch = &wave->fetches[i];
        plan->report.requests++;
        plan->report.bytes_read += fetch->size;
        grow(&plan->input_size, (size_t)fetch->size);
        for (size_t p = 0; p < fetch->count; p++)
            plan->report.bytes_compressed += wave->pieces[fetch->first + p].size;
    }
}

static tz_result measure_waves(tz_plan *plan)
{
    uint64_t at = 0;
    tz_warnings_deinit(&plan->table_warnings);
    for (;;) {
        TZ_TRY(tz_wave_next(plan, &at));
        if (plan->wave.unit_count == 0)
            return TZ_OK;
        measure_wave(plan);
        if (plan->device)
            tz_device_plan_measure(plan);
        plan->one_wave = plan->report.waves == 1 && at >= plan->unit_count;
        if (at >= plan->unit_count)
            return TZ_OK;
    }
}

/* Waves of a device that are too large are measured again, once it is known how much there is for
 * each; and all is, where the device does not pay. */
tz_result tz_plan_measure(tz_plan *plan)
{
    bool again;
    do {
        again = false;
        plan->report = plan->unmeasured;
        plan->input_size = 0;
        plan->measuring = true;
        TZ_TRY(measure_waves(plan));
        plan->measuring = false;
        if (plan->device)
            TZ_TRY(tz_device_plan_fit(plan, &again));
        if (!plan->device)
            plan->unmeasured.device = plan->report.device;
    } while (again && !plan->off_device);
    return TZ_OK;
}

size_t tz_plan_input_bytes(const tz_plan *plan)
{
    return plan->device ? 0 : plan->input_size;
}

static uint64_t memory_of(const tz_plan *plan, uint64_t threads)
{
    const uint64_t worker = (uint64_t)tz_plan_input_bytes(plan) + plan->output_size +
                            plan->row_size + plan->scratch_size + plan->state_size +
                            TZ_WORKER_SLACK;
    const uint64_t lanes = plan->device ? tz_device_plan_host_bytes(plan->device) : 0;
    return tz_add_capped(lanes, plan->arena.held + plan->wave_room * tz_wave_unit_bytes() +
                                    threads * worker);
}

tz_result tz_plan_check_memory(tz_plan *plan)
{
    uint64_t threads = plan->threads;
    while (threads > 1 && memory_of(plan, threads) > plan->options.max_memory)
        threads--;
    plan->threads = (unsigned)threads;
    plan->report.threads = plan->threads;
    plan->report.peak_memory = memory_of(plan, threads);
    if (plan->report.peak_memory <= plan->options.max_memory)
        return TZ_OK;
    tz_result result =
        tz_fail(&plan->ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                tz_expecting(tz_no_location(), plan->options.max_memory, plan->report.peak_memory),
                "the read needs more memory than tz_read_options.max_memory allows");
    if (plan->ctx.err)
        plan->ctx.err->limit = "max_memory";
    return result;
}

static unsigned wanted_threads(const tz_plan *plan)
{
    uint64_t threads = plan->options.threads;
    if (plan->unit_count <= 1)
        return 1;
    if (threads == 0)
        threads = tz_pool_shared_threads();
    return (unsigned)(threads < plan->unit_count ? threads : plan->unit_count);
}

/* Decoded bytes are what there is to do; compressed ones follow them. */
static void set_fetch_size(tz_plan *plan)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->target_count; i++) {
        const tz_target *target = &plan->targets[i];
        const uint64_t tiles = target->unit_count / target->parts;
        uint64_t some;
        if (!tz_mul(tiles, tz_tile_bytes(&target->tile), &some) || !tz_add(bytes, some, &bytes))
            bytes = UINT64_MAX;
    }
    const uint64_t share = bytes / (plan->threads * FETCHES_PER_THREAD);
    plan->fetch_size = (size_t)(share > FETCH_MAX   ? FETCH_MAX
                                : share < FETCH_MIN ? FETCH_MIN
                                                    : share);
}

tz_result tz_plan_outcomes(const tz_plan *plan)
{
    for (size_t i = 0; i < plan->target_count; i++) {
        if (plan->targets[i].outcome)
            TZ_TRY(tz_target_set_outcome(&plan->targets[i], &plan->ctx));
    }
    return TZ_OK;
}

tz_result tz_plan_check_unchanged(const tz_plan *plan)
{
    for (size_t i = 0; i < plan->target_count; i++) {
        tz_context ctx = plan->ctx;
        ctx.name = plan->targets[i].file->info.name;
        if (plan->targets[i].group == i)
            TZ_TRY(tz_source_check(tz_target_source(&plan->targets[i]), &ctx));
    }
    return TZ_OK;
}

/* ---- */

tz_result tz_plan_make(tz_plan *plan, const tz_view *views, size_t count,
                       const tz_read_options *how, tz_error *err)
{
    *plan = (tz_plan){.ctx = {.err = err, .ifd = -1}, .options = *how};
    TZ_TRY(add_views(plan, views, count));
    for (size_t i = 0; i < plan->target_count; i++)
        measure_target(plan, &plan->targets[i]);
    measure_codecs(plan);
    plan->wave_room = (size_t)(plan->unit_count < TZ_WAVE_UNITS ? plan->unit_count : TZ_WAVE_UNITS);
    plan->threads = wanted_threads(plan);
    set_fetch_size(plan);
    if (tz_device_works(plan->options.device))
        TZ_TRY(tz_device_plan_make(plan));
    if (plan->off_device)
        return TZ_OK;
    /* Whatever else it takes, it takes this: a file that lies about its tiles ends here. */
    TZ_TRY(tz_plan_check_memory(plan));
    TZ_TRY(tz_wave_init(plan));
    plan->unmeasured = plan->report;
    TZ_TRY(tz_plan_measure(plan));
    return plan->off_device ? TZ_OK : tz_plan_check_memory(plan);
}

void tz_plan_deinit(tz_plan *plan)
{
    tz_device_plan_free(plan->device);
    tz_wave_deinit(&plan->wave);
    tz_warnings_deinit(&plan->warnings);
    tz_warnings_deinit(&plan->table_warnings);
    tz_arena_deinit(&plan->arena);
}
