/* SPDX-License-Identifier: Apache-2.0 */
#include "read/plan.h"

#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "io/source.h"
#include "read/gpu/gpu_plan.h"
#include "read/tile.h"

/* Neighbouring tiles are read together up to this size, which the second cache holds until they are
 * decoded; less where there would be too few reads to keep all threads busy. */
enum { FETCH_MAX = 1 << 18, FETCH_MIN = 1 << 14, FETCHES_PER_THREAD = 4 };

/* ---- targets ---- */

/* Groups by file, level and reduction: where to look for one, by open addressing. */
typedef struct layer_table {
    uint32_t *slots; /* target + 1; 0: free */
    size_t mask;
} layer_table;

static tz_result make_layer_table(layer_table *table, size_t requests, tz_arena *arena,
                                  const tz_context *ctx)
{
    size_t slots = 2;
    while (slots < 2 * requests)
        slots *= 2;
    table->mask = slots - 1;
    table->slots = tz_arena_array(arena, slots, sizeof *table->slots);
    return table->slots ? TZ_OK : tz_fail_nomem(ctx, slots * sizeof *table->slots);
}

/* The first target of the view's file, a level and its reduction; the new one itself when there is
 * none yet. */
static uint32_t find_layer_id(const tz_plan *plan, const layer_table *table,
                              const tz_read_request *request, uint32_t level)
{
    const uint64_t key =
        ((uint64_t)(uintptr_t)request->file ^ level ^ (uint64_t)request->reduction << 48) *
        UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(key >> 32) & table->mask;
    for (; table->slots[slot]; slot = (slot + 1) & table->mask) {
        const tz_planned_request *planned = &plan->requests[table->slots[slot] - 1];
        if (planned->file == request->file && planned->level == level &&
            planned->reduction == request->reduction)
            return table->slots[slot] - 1;
    }
    table->slots[slot] = (uint32_t)plan->request_count + 1;
    return (uint32_t)plan->request_count;
}

static tz_result add_planned_request(tz_plan *plan, const layer_table *table,
                                     const tz_read_request *request, tz_request_kind kind)
{
    tz_context ctx = tz_file_context(request->file, plan->ctx.err);
    ctx.warnings = &plan->warnings;
    tz_planned_request *planned = &plan->requests[plan->request_count];
    const uint32_t level = kind == TZ_REQUEST_MASK ? TZ_MASK_OF(request->level) : request->level;
    const uint32_t layer_id = find_layer_id(plan, table, request, level);
    const tz_planned_request *shared =
        layer_id < plan->request_count ? &plan->requests[layer_id] : NULL;
    TZ_TRY(tz_planned_request_make(planned, request, kind, shared, &plan->options, &plan->arena,
                                   &ctx));
    planned->layer_id = layer_id;
    plan->request_count++;
    plan->tile_read_count += planned->tile_read_count;
    return TZ_OK;
}

static tz_result add_request(tz_plan *plan, const layer_table *table,
                             const tz_read_request *request)
{
    const size_t first = plan->request_count;
    const tz_request_kind mask =
        tz_buffer_exists(&request->mask) ? tz_mask_source(request) : TZ_REQUEST_PIXELS;
    TZ_TRY(add_planned_request(plan, table, request, TZ_REQUEST_PIXELS));
    if (mask != TZ_REQUEST_PIXELS) {
        TZ_TRY(add_planned_request(plan, table, request, mask));
        plan->requests[first + 1].status_first =
            tz_planned_request_status_count(&plan->requests[first]);
    }
    return TZ_OK;
}

static tz_result add_requests(tz_plan *plan, const tz_read_request *requests, size_t count)
{
    layer_table table;
    plan->requests = tz_arena_array(&plan->arena, count * 2, sizeof *plan->requests);
    if (!plan->requests)
        return tz_fail_nomem(&plan->ctx, count * 2 * sizeof *plan->requests);
    TZ_TRY(make_layer_table(&table, count * 2, &plan->arena, &plan->ctx));
    for (size_t i = 0; i < count; i++)
        TZ_TRY(add_request(plan, &table, &requests[i]));
    return TZ_OK;
}

/* ---- cost ---- */

static void grow_size(size_t *size, size_t least)
{
    if (*size < least)
        *size = least;
}

static void measure_request(tz_plan *plan, const tz_planned_request *planned)
{
    const size_t tile = tz_tile_bytes(&planned->tile);
    if (planned->tile_read_count == 0)
        return;
    if (tile > plan->report.largest_tile)
        plan->report.largest_tile = tile;
    if (!tz_planned_request_is_raw(planned))
        grow_size(&plan->output_size, tz_tile_bytes(&planned->stored));
    grow_size(&plan->row_size, tz_row_prepared_bytes(&planned->row));
    grow_size(&plan->scratch_size, tz_row_scratch_bytes(&planned->row));
}

static void measure_codecs(tz_plan *plan)
{
    for (size_t c = 0; c < TZ_CODEC_COUNT; c++) {
        const tz_decoder *decoder = tz_codecs[c].decoder;
        for (size_t t = 0; decoder && t < plan->request_count; t++) {
            if (plan->requests[t].codec == decoder) {
                plan->state_size += decoder->state_size + decoder->max_extra_memory;
                break;
            }
        }
    }
}

/* Several units may be parts of one tile, also across waves: the first of them counts it. */
static bool starts_tile(tz_plan *plan, const tz_wanted_tile *wanted)
{
    const bool repeats = plan->report.tiles > 0 && plan->last_layer_id == wanted->layer_id &&
                         plan->last_tile == wanted->tile;
    plan->last_layer_id = wanted->layer_id;
    plan->last_tile = wanted->tile;
    return !repeats;
}

static void measure_tile_read(tz_plan *plan, const tz_tile_read *tile_read)
{
    tz_report *report = &plan->report;
    const tz_wanted_tile *wanted = &plan->wave.wanted[tile_read->first];
    const tz_planned_request *planned = &plan->requests[wanted->request];
    report->tiles_shared += tile_read->count - 1;
    if (!starts_tile(plan, wanted))
        return;
    report->tiles++;
    if (wanted->result == TZ_OK && wanted->span.size == 0) {
        report->tiles_sparse++;
        return;
    }
    report->tiles_reduced += planned->reduction > 0;
    report->bytes_decoded += tz_layer_tile_bytes(&planned->layer, wanted->tile);
    if (tz_planned_request_is_raw(planned))
        report->tiles_copied++;
    else if (!plan->device && tz_tile_is_direct(plan, tile_read))
        report->tiles_direct++;
    else
        report->tiles_decoded++;
}

static void measure_wave(tz_plan *plan)
{
    const tz_wave *wave = &plan->wave;
    plan->report.waves++;
    for (size_t i = 0; i < wave->tile_read_count; i++)
        measure_tile_read(plan, &wave->tile_reads[i]);
    for (size_t i = 0; i < wave->fetch_count; i++) {
        const tz_span *fetch = &wave->fetches[i];
        plan->report.requests++;
        plan->report.bytes_read += fetch->size;
        grow_size(&plan->input_size, (size_t)fetch->size);
        for (size_t p = 0; p < fetch->count; p++)
            plan->report.bytes_compressed += wave->ranges[fetch->first + p].size;
    }
}

static tz_result measure_waves(tz_plan *plan)
{
    uint64_t at = 0;
    tz_warnings_deinit(&plan->table_warnings);
    for (;;) {
        TZ_TRY(tz_wave_next(plan, &at));
        if (plan->wave.tile_read_count == 0)
            return TZ_OK;
        measure_wave(plan);
        if (plan->device)
            tz_gpu_plan_measure(plan);
        plan->one_wave = plan->report.waves == 1 && at >= plan->tile_read_count;
        if (at >= plan->tile_read_count)
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
            TZ_TRY(tz_gpu_plan_fit(plan, &again));
        if (!plan->device)
            plan->unmeasured.device = plan->report.device;
    } while (again && !plan->needs_bounce);
    return TZ_OK;
}

size_t tz_plan_input_bytes(const tz_plan *plan)
{
    return plan->device ? 0 : plan->input_size;
}

static uint64_t needed_memory(const tz_plan *plan, uint64_t threads)
{
    const uint64_t worker = (uint64_t)tz_plan_input_bytes(plan) + plan->output_size +
                            plan->row_size + plan->scratch_size + plan->state_size +
                            TZ_WORKER_SLACK;
    const uint64_t slots = plan->device ? tz_gpu_plan_host_bytes(plan->device) : 0;
    return tz_add_capped(slots, plan->arena.held + plan->wave_capacity * tz_wave_tile_read_bytes() +
                                    threads * worker);
}

tz_result tz_plan_check_memory(tz_plan *plan)
{
    uint64_t threads = plan->threads;
    while (threads > 1 && needed_memory(plan, threads) > plan->options.max_memory)
        threads--;
    plan->threads = (unsigned)threads;
    plan->report.threads = plan->threads;
    plan->report.peak_memory = needed_memory(plan, threads);
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

static unsigned choose_threads(const tz_plan *plan)
{
    uint64_t threads = plan->options.threads;
    if (plan->tile_read_count <= 1)
        return 1;
    if (threads == 0)
        threads = tz_pool_shared_threads();
    return (unsigned)(threads < plan->tile_read_count ? threads : plan->tile_read_count);
}

/* Decoded bytes are what there is to do; compressed ones follow them. */
static void set_fetch_size(tz_plan *plan)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->request_count; i++) {
        const tz_planned_request *planned = &plan->requests[i];
        const uint64_t tiles = planned->tile_read_count / planned->row_ranges;
        uint64_t some;
        if (!tz_mul(tiles, tz_tile_bytes(&planned->tile), &some) || !tz_add(bytes, some, &bytes))
            bytes = UINT64_MAX;
    }
    const uint64_t share = bytes / (plan->threads * FETCHES_PER_THREAD);
    plan->fetch_size = (size_t)(share > FETCH_MAX   ? FETCH_MAX
                                : share < FETCH_MIN ? FETCH_MIN
                                                    : share);
}

tz_result tz_plan_reset_outcomes(const tz_plan *plan)
{
    for (size_t i = 0; i < plan->request_count; i++) {
        if (plan->requests[i].outcome)
            TZ_TRY(tz_planned_request_set_outcome(&plan->requests[i], &plan->ctx));
    }
    return TZ_OK;
}

tz_result tz_plan_check_unchanged(const tz_plan *plan)
{
    for (size_t i = 0; i < plan->request_count; i++) {
        tz_context ctx = plan->ctx;
        ctx.name = plan->requests[i].file->info.name;
        if (plan->requests[i].layer_id == i)
            TZ_TRY(tz_source_check(tz_planned_request_source(&plan->requests[i]), &ctx));
    }
    return TZ_OK;
}

/* ---- */

tz_result tz_plan_make(tz_plan *plan, const tz_read_request *requests, size_t count,
                       const tz_read_options *how, tz_error *err)
{
    *plan = (tz_plan){.ctx = {.err = err, .ifd = -1}, .options = *how};
    TZ_TRY(add_requests(plan, requests, count));
    for (size_t i = 0; i < plan->request_count; i++)
        measure_request(plan, &plan->requests[i]);
    measure_codecs(plan);
    plan->wave_capacity =
        (size_t)(plan->tile_read_count < TZ_WAVE_TILE_READS ? plan->tile_read_count
                                                            : TZ_WAVE_TILE_READS);
    plan->threads = choose_threads(plan);
    set_fetch_size(plan);
    if (tz_device_is_gpu(plan->options.device))
        TZ_TRY(tz_gpu_plan_make(plan));
    if (plan->needs_bounce)
        return TZ_OK;
    /* Whatever else it takes, it takes this: a file that lies about its tiles ends here. */
    TZ_TRY(tz_plan_check_memory(plan));
    TZ_TRY(tz_wave_init(plan));
    plan->unmeasured = plan->report;
    TZ_TRY(tz_plan_measure(plan));
    return plan->needs_bounce ? TZ_OK : tz_plan_check_memory(plan);
}

void tz_plan_deinit(tz_plan *plan)
{
    tz_gpu_plan_free(plan->device);
    tz_wave_deinit(&plan->wave);
    tz_warnings_deinit(&plan->warnings);
    tz_warnings_deinit(&plan->table_warnings);
    tz_arena_deinit(&plan->arena);
}
