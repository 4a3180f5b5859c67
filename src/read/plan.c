/* SPDX-License-Identifier: Apache-2.0
 * A plan is made in one pass over the requests and one over the tiles.
 *
 *   requests -> planned requests   codec, formats and tiles under each window; those of one layer
 *                                  share formats and, later, tiles
 *   planned requests -> sizes      buffers of a worker, number of threads, size of a fetch
 *   waves -> report, GPU plan      every tile is listed once and counted, nothing is read
 *
 * The decision that is not obvious: the waves are counted before any is run, although that lists a
 * large plan twice. Only then is the memory known, so a read that does not fit fails before it
 * begins, and a dry run reports the numbers of the real one. Where the batches of a GPU turn out to
 * be too large, the waves are counted again with smaller fetches or for the CPU. */
#include "read/plan.h"

#include "base/mem.h"
#include "base/pool.h"
#include "io/source.h"
#include "read/gpu/gpu_plan.h"
#include "read/tile.h"

/* Neighbouring tiles are read together up to this size, which the second cache holds until they are
 * decoded; less if there would be too few reads to keep all threads busy. */
enum { FETCH_MAX = 1 << 18, FETCH_MIN = 1 << 14, FETCHES_PER_THREAD = 4 };

/* ---- requests ---- */

/* Planned requests by file, level and reduction: a hash table with open addressing. */
typedef struct layer_table {
    uint32_t *slots; /* number of the planned request + 1; 0: free */
    size_t mask;
} layer_table;

/* Returns the first planned request of the request's file, level and reduction; the number of the
 * next one if there is none yet. */
static uint32_t find_layer_id(const tz_plan *plan, const layer_table *table,
                              const tz_read_request *request, uint32_t level)
{
    const uint64_t key =
        ((uint64_t)(uintptr_t)request->file ^ level ^ (uint64_t)request->decode_reduction << 48) *
        UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(key >> 32) & table->mask;
    for (; table->slots[slot]; slot = (slot + 1) & table->mask) {
        const tz_planned_request *planned = &plan->requests[table->slots[slot] - 1];
        if (planned->file == request->file && planned->level == level &&
            planned->decode_reduction == request->decode_reduction)
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
    plan->wave.total += planned->tile_read_count;
    return TZ_OK;
}

/* The mask's request directly follows that of the pixels, and its tiles follow theirs in the
 * outcome's list. */
static tz_result add_requests(tz_plan *plan, const tz_read_request *requests, size_t count)
{
    layer_table table;
    size_t slots = 2;
    plan->requests = tz_arena_array(&plan->arena, count * 2, sizeof *plan->requests);
    if (!plan->requests)
        return tz_fail_nomem(&plan->ctx, count * 2 * sizeof *plan->requests);
    while (slots < 4 * count)
        slots *= 2;
    table.mask = slots - 1;
    table.slots = tz_arena_array(&plan->arena, slots, sizeof *table.slots);
    if (!table.slots)
        return tz_fail_nomem(&plan->ctx, slots * sizeof *table.slots);
    for (size_t i = 0; i < count; i++) {
        const tz_read_request *request = &requests[i];
        const tz_planned_request *pixels = &plan->requests[plan->request_count];
        const tz_request_kind mask =
            tz_buffer_exists(&request->mask) ? tz_mask_source(request) : TZ_REQUEST_PIXELS;
        TZ_TRY(add_planned_request(plan, &table, request, TZ_REQUEST_PIXELS));
        if (mask == TZ_REQUEST_PIXELS)
            continue;
        TZ_TRY(add_planned_request(plan, &table, request, mask));
        plan->requests[plan->request_count - 1].status_first =
            tz_planned_request_status_count(pixels);
    }
    return TZ_OK;
}

/* ---- sizes ---- */

/* Sets the sizes that follow from the requests alone: buffers and codecs of a worker, threads, and
 * the size of a fetch. */
static void set_sizes(tz_plan *plan)
{
    uint64_t bytes = 0; /* decoded ones are the work; compressed ones follow them */
    for (size_t i = 0; i < plan->request_count; i++) {
        const tz_planned_request *planned = &plan->requests[i];
        const size_t tile = tz_tile_bytes(&planned->tile);
        const uint64_t tiles = planned->tile_read_count / planned->row_ranges;
        bytes = tz_add_capped(bytes, tz_mul_capped(tiles, tile));
        if (planned->tile_read_count == 0)
            continue;
        plan->report.largest_tile = tz_max(plan->report.largest_tile, tile);
        if (!tz_planned_request_is_raw(planned))
            plan->output_size = tz_max_size(plan->output_size, tz_tile_bytes(&planned->stored));
        plan->row_size = tz_max_size(plan->row_size, tz_row_prepared_bytes(&planned->row));
        plan->scratch_size = tz_max_size(plan->scratch_size, tz_row_scratch_bytes(&planned->row));
    }
    for (size_t c = 0; c < TZ_CODEC_COUNT; c++) {
        const tz_decoder *decoder = tz_codecs[c].decoder;
        for (size_t i = 0; decoder && i < plan->request_count; i++) {
            if (plan->requests[i].codec == decoder) {
                plan->state_size += decoder->state_size + decoder->max_extra_memory;
                break;
            }
        }
    }
    plan->threads = 1;
    if (plan->wave.total > 1) {
        const unsigned given = plan->options.threads;
        plan->threads =
            (unsigned)tz_min(given ? given : tz_pool_shared_threads(), plan->wave.total);
    }
    const uint64_t share = bytes / (plan->threads * FETCHES_PER_THREAD);
    plan->fetch_size = (size_t)tz_max(tz_min(share, FETCH_MAX), FETCH_MIN);
}

/* ---- waves ---- */

/* Counts the wave in the report. Several tile reads may be row ranges of one tile, also across
 * waves: the first of them counts it. */
static void count_wave(tz_plan *plan, tz_wanted_tile *last)
{
    const tz_wave *wave = &plan->wave;
    tz_report *report = &plan->report;
    report->waves++;
    for (size_t i = 0; i < wave->tile_read_count; i++) {
        const tz_tile_read *tile_read = &wave->tile_reads[i];
        const tz_wanted_tile *wanted = tz_tile_read_wanted(wave, tile_read, 0);
        const tz_planned_request *planned = &plan->requests[wanted->request];
        const bool repeats = last->layer_id == wanted->layer_id && last->tile == wanted->tile;
        *last = *wanted;
        report->tiles_shared += tile_read->count - 1;
        if (repeats)
            continue;
        report->tiles++;
        if (wanted->result == TZ_OK && wanted->span.size == 0) {
            report->tiles_sparse++;
            continue;
        }
        report->tiles_reduced += planned->decode_reduction > 0;
        report->bytes_decoded += tz_layer_tile_bytes(&planned->layer, wanted->tile);
        if (tz_planned_request_is_raw(planned))
            report->tiles_copied++;
        else if (!plan->gpu && tz_tile_is_direct(plan, tile_read))
            report->tiles_direct++;
        else
            report->tiles_decoded++;
    }
    for (size_t i = 0; i < wave->fetch_count; i++) {
        const tz_span *fetch = &wave->fetches[i];
        report->requests++;
        report->bytes_read += fetch->size;
        plan->input_size = tz_max_size(plan->input_size, (size_t)fetch->size);
        for (size_t k = 0; k < fetch->count; k++)
            report->bytes_compressed += wave->ranges[fetch->first + k].size;
    }
}

tz_result tz_plan_measure(tz_plan *plan)
{
    tz_wave *wave = &plan->wave;
    for (;;) {
        tz_wanted_tile last = {.layer_id = UINT32_MAX};
        tz_gpu_fit fit = TZ_GPU_FITS;
        plan->report = plan->unmeasured;
        plan->input_size = 0;
        tz_warnings_deinit(&plan->table_warnings);
        wave->end = 0;
        do {
            TZ_TRY(tz_wave_next(wave, plan->fetch_size, &plan->table_warnings, &plan->ctx));
            if (wave->tile_read_count == 0)
                break;
            count_wave(plan, &last);
            if (plan->gpu)
                tz_gpu_plan_measure(plan);
        } while (wave->end < wave->total);
        if (plan->gpu)
            TZ_TRY(tz_gpu_plan_fit(plan, &fit));
        switch (fit) {
        case TZ_GPU_FITS:
        case TZ_GPU_FIT_BOUNCE:
            return TZ_OK;
        case TZ_GPU_FIT_CPU:
            plan->unmeasured.device = plan->report.device; /* why the GPU was dropped */
            break;
        case TZ_GPU_FIT_AGAIN:
            break;
        }
    }
}

tz_result tz_plan_list_wave(tz_plan *plan, uint64_t position)
{
    tz_wave *wave = &plan->wave;
    if (wave->begin == position && wave->end == wave->total)
        return TZ_OK; /* measuring has left the only wave of the plan */
    wave->end = position;
    return tz_wave_next(wave, plan->fetch_size, NULL, &plan->ctx);
}

tz_tile_route tz_tile_read_route(const tz_plan *plan, const tz_tile_read *tile_read)
{
    const tz_planned_request *request = tz_tile_read_request(&plan->wave, tile_read, 0);
    if (plan->gpu)
        return plan->gpu->requests[request - plan->requests].route;
    return tz_planned_request_is_raw(request) ? TZ_ROUTE_RAW : TZ_ROUTE_CPU;
}

/* ---- memory ---- */

size_t tz_plan_input_bytes(const tz_plan *plan)
{
    return plan->gpu ? 0 : plan->input_size;
}

static uint64_t needed_memory(const tz_plan *plan, uint64_t threads)
{
    const uint64_t worker = (uint64_t)tz_plan_input_bytes(plan) + plan->output_size +
                            plan->row_size + plan->scratch_size + plan->state_size +
                            TZ_WORKER_SLACK;
    const uint64_t batches = plan->gpu ? tz_gpu_plan_host_bytes(plan->gpu) : 0;
    return tz_add_capped(batches, plan->arena.held +
                                      plan->wave.capacity * tz_wave_tile_read_bytes() +
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
    return tz_fail_memory_limit(&plan->ctx, "the read", "max_memory", plan->options.max_memory,
                                plan->report.peak_memory);
}

/* ---- */

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

tz_result tz_plan_make(tz_plan *plan, const tz_read_request *requests, size_t count,
                       const tz_read_options *how, tz_error *err)
{
    *plan = (tz_plan){.ctx = {.err = err, .ifd = -1}, .options = *how};
    TZ_TRY(add_requests(plan, requests, count));
    set_sizes(plan);
    plan->wave.requests = plan->requests;
    plan->wave.request_count = plan->request_count;
    plan->wave.capacity = (size_t)tz_min(plan->wave.total, TZ_WAVE_TILE_READS);
    if (tz_device_is_gpu(plan->options.device))
        TZ_TRY(tz_gpu_plan_make(plan));
    if (plan->runner == TZ_RUN_BOUNCED)
        return TZ_OK;
    /* The read takes at least this much: a file that lies about its tiles ends here. */
    TZ_TRY(tz_plan_check_memory(plan));
    TZ_TRY(tz_wave_init(&plan->wave, &plan->ctx));
    plan->unmeasured = plan->report;
    TZ_TRY(tz_plan_measure(plan));
    return plan->runner == TZ_RUN_BOUNCED ? TZ_OK : tz_plan_check_memory(plan);
}

void tz_plan_deinit(tz_plan *plan)
{
    tz_gpu_plan_free(plan->gpu);
    tz_wave_deinit(&plan->wave);
    tz_warnings_deinit(&plan->warnings);
    tz_warnings_deinit(&plan->table_warnings);
    tz_arena_deinit(&plan->arena);
}
