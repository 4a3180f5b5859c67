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

#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "io/source.h"
#include "read/gpu/gpu_plan.h"
#include "read/tile.h"

/* Neighbouring tiles are read together up to this size, which the second cache holds until they are
 * decoded; less if there would be too few reads to keep all threads busy. */
enum { FETCH_MAX = 1 << 18, FETCH_MIN = 1 << 14, FETCHES_PER_THREAD = 4 };

/* Hints of sources may ask for larger fetches: as many for each thread must fit the memory. */
enum { HINTED_FETCH_SHARE = 8 };

/* Fetches that the calling thread has ahead of each worker: one that is ready, one under way. */
enum { FETCHES_AHEAD = 2 };

/* ---- requests ---- */

/* Planned requests by file, level and reduction: a hash table with open addressing. */
typedef struct layer_table {
    uint32_t *slots; /* number of the planned request + 1; 0: free */
    size_t mask;
} layer_table;

/* Adds a planned request. It shares formats and tiles with the first one of the same file, level
 * and reduction, which the table finds. */
static tz_result add_planned_request(tz_plan *plan, const layer_table *table,
                                     const tz_read_request *request, tz_request_kind kind)
{
    tz_context ctx = tz_file_context(request->file, plan->ctx.err);
    ctx.warnings = &plan->warnings;
    const uint32_t number = (uint32_t)plan->request_count;
    tz_planned_request *planned = &plan->requests[number];
    const tz_planned_request *shared = NULL;
    const uint32_t level = kind == TZ_REQUEST_MASK ? TZ_MASK_LEVEL(request->level) : request->level;
    const uint64_t key =
        ((uint64_t)(uintptr_t)request->file ^ level ^ (uint64_t)request->decode_reduction << 48) *
        UINT64_C(
            0x9e3779b97f4a7c15); /* 2^64 / golden ratio: spreads addresses over the high bits */
    size_t slot = (size_t)(key >> 32) & table->mask;
    for (; table->slots[slot] && !shared; slot = (slot + 1) & table->mask) {
        const tz_planned_request *known = &plan->requests[table->slots[slot] - 1];
        if (known->file == request->file && known->level == level &&
            known->decode_reduction == request->decode_reduction)
            shared = known;
    }
    if (!shared)
        table->slots[slot] = number + 1;
    TZ_TRY(tz_planned_request_make(planned, request, kind, shared, &plan->options, &plan->arena,
                                   &ctx));
    planned->layer_id = shared ? (uint32_t)(shared - plan->requests) : number;
    plan->request_count++;
    plan->wave.total += planned->tile_read_count;
    return TZ_OK;
}

/* Adds the bytes of statuses that a request needs, unless it is a block of an item that has them.
 */
static void count_statuses(tz_plan *plan, const tz_planned_request *planned, bool is_block)
{
    if (plan->options.salvage && !is_block)
        plan->status_bytes = tz_add_capped(
            plan->status_bytes,
            tz_mul_capped(tz_planned_request_status_count(planned), sizeof(tz_tile_status)));
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
            tz_pixel_buffer_exists(&request->mask) ? tz_mask_source(request) : TZ_REQUEST_PIXELS;
        TZ_TRY(add_planned_request(plan, &table, request, TZ_REQUEST_PIXELS));
        count_statuses(plan, pixels, request->is_block);
        if (mask == TZ_REQUEST_PIXELS)
            continue;
        tz_planned_request *of_mask = &plan->requests[plan->request_count];
        TZ_TRY(add_planned_request(plan, &table, request, mask));
        of_mask->status_first = tz_planned_request_status_count(pixels);
        count_statuses(plan, of_mask, request->is_block);
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
        if (tz_planned_request_source(planned)->caller_thread)
            plan->fetches_in_caller = true;
        bytes = tz_add_capped(bytes, tz_mul_capped(tiles, tile));
        if (planned->tile_read_count == 0)
            continue;
        plan->report.numbers.largest_tile = tz_max(plan->report.numbers.largest_tile, tile);
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
    plan->wave.max_hinted = tz_max(
        plan->options.max_host_bytes / (plan->threads * HINTED_FETCH_SHARE), plan->fetch_size);
}

/* ---- waves ---- */

/* Counts the wave in the report. Several tile reads may be row ranges of one tile, also across
 * waves: the first of them counts it. */
static void count_wave(tz_plan *plan, tz_wanted_tile *last)
{
    const tz_wave *wave = &plan->wave;
    tz_read_report *report = &plan->report.numbers;
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
        plan->report.numbers = plan->unmeasured;
        plan->report.device = plan->unmeasured_device;
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
            if (wave->end < wave->total)
                TZ_TRY(tz_check_progress(&plan->ctx, &plan->options.progress, 0, wave->total));
        } while (wave->end < wave->total);
        if (plan->gpu)
            TZ_TRY(tz_gpu_plan_fit(plan, &fit));
        switch (fit) {
        case TZ_GPU_FITS:
        case TZ_GPU_FIT_BOUNCE:
            return TZ_OK;
        case TZ_GPU_FIT_CPU:
            plan->unmeasured_device = plan->report.device; /* why the GPU was dropped */
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

unsigned tz_plan_fetches_ahead(const tz_plan *plan, unsigned threads)
{
    return plan->fetches_in_caller && !plan->gpu && threads > 1 ? threads * FETCHES_AHEAD : 0;
}

/* Bytes of a read with that number of threads: the arena, the lists of a wave and of outcomes, the
 * buffers and codecs of each worker, fetches ahead of them, and the slots of a GPU. The caller's
 * buffers are not counted. */
static uint64_t needed_memory(const tz_plan *plan, uint64_t threads)
{
    const uint64_t worker = (uint64_t)tz_plan_input_bytes(plan) + plan->output_size +
                            plan->row_size + plan->scratch_size + plan->state_size +
                            TZ_WORKER_SLACK;
    const uint64_t batches = plan->gpu ? tz_gpu_plan_host_bytes(plan->gpu) : 0;
    const uint64_t ahead = (uint64_t)tz_plan_fetches_ahead(plan, (unsigned)threads) *
                           (tz_plan_input_bytes(plan) + TZ_CODEC_SLACK + 64);
    return tz_add_capped(tz_add_capped(batches, plan->status_bytes),
                         plan->arena.held + plan->wave.capacity * tz_wave_tile_read_bytes() +
                             threads * worker + ahead);
}

tz_result tz_plan_check_memory(tz_plan *plan)
{
    uint64_t threads = plan->threads;
    const uint64_t allowed = plan->options.max_host_bytes;
    tz_read_report *report = &plan->report.numbers;
    while (threads > 1 && needed_memory(plan, threads) > allowed)
        threads--;
    plan->threads = (unsigned)threads;
    report->threads = plan->threads;
    report->peak_host_bytes = needed_memory(plan, threads);
    if (report->peak_host_bytes <= allowed)
        return TZ_OK;
    return tz_fail_memory_limit(&plan->ctx, "the read", "max_host_bytes", allowed,
                                report->peak_host_bytes);
}

/* ---- */

/* A list has the tiles of an item's pixels, then those of its mask, whose request is the next. */
tz_result tz_plan_alloc_outcomes(const tz_plan *plan, tz_arena *arena)
{
    for (size_t i = 0; plan->options.salvage && i < plan->request_count; i++) {
        const tz_planned_request *planned = &plan->requests[i];
        const bool has_mask = i + 1 < plan->request_count && planned[1].to_mask;
        uint64_t count = tz_planned_request_status_count(planned);
        if (planned->to_mask)
            continue;
        if (has_mask)
            count += tz_planned_request_status_count(&planned[1]);
        TZ_TRY(tz_outcome_alloc_tiles(planned->outcome, count, arena, &plan->ctx));
    }
    return TZ_OK;
}

/* Runs before any tile is read, and again if the CPU repeats a read that a device could not end. */
void tz_plan_reset_outcomes(const tz_plan *plan)
{
    for (size_t i = 0; i < plan->request_count; i++) {
        if (plan->requests[i].outcome)
            tz_planned_request_reset_outcome(&plan->requests[i]);
    }
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

bool tz_device_is_gpu(const tz_device *device)
{
    return device && strcmp(tz_device_get_info(device)->driver, "cpu") != 0;
}

/* The memory is checked twice: with the needs of the requests alone, before the lists of a wave are
 * allocated, and with fetches and batches, after all waves were counted. */
tz_result tz_plan_make(tz_plan *plan, const tz_read_request *requests, size_t count,
                       const tz_read_options *how, tz_error *err)
{
    *plan = (tz_plan){.ctx = {.err = err, .ifd = -1}, .options = *how};
    TZ_TRY(add_requests(plan, requests, count));
    set_sizes(plan);
    plan->wave.requests = plan->requests;
    plan->wave.request_count = plan->request_count;
    plan->wave.capacity = (size_t)tz_min(plan->wave.total, TZ_WAVE_TILE_READS);
    plan->wave.salvage = how->salvage;
    if (tz_device_is_gpu(plan->options.device))
        TZ_TRY(tz_gpu_plan_make(plan));
    if (plan->runner == TZ_RUN_BOUNCED)
        return TZ_OK;
    /* The read takes at least this much: a file that lies about its tiles ends here. */
    TZ_TRY(tz_plan_check_memory(plan));
    TZ_TRY(tz_wave_init(&plan->wave, &plan->ctx));
    plan->unmeasured = plan->report.numbers;
    plan->unmeasured_device = plan->report.device;
    TZ_TRY(tz_plan_measure(plan));
    return plan->runner == TZ_RUN_BOUNCED ? TZ_OK : tz_plan_check_memory(plan);
}

/* Planned requests, their tables and scales are in the arena; lists of the wave, of the GPU and of
 * warnings are not, as they grow or are replaced. */
void tz_plan_deinit(tz_plan *plan)
{
    if (plan->gpu)
        tz_gpu_plan_free(plan->gpu);
    tz_wave_deinit(&plan->wave);
    tz_warnings_deinit(&plan->warnings);
    tz_warnings_deinit(&plan->table_warnings);
    tz_arena_deinit(&plan->arena);
}

/* ---- reports ---- */

void tz_report_collect_warnings(tz_plan *plan, const tz_workers *workers)
{
    tz_report_warnings *found = &plan->report.warnings;
    memset(found, 0, sizeof *found);
    tz_report_warnings_merge(found, &plan->warnings);
    tz_report_warnings_merge(found, &plan->table_warnings);
    for (unsigned i = 0; i < workers->count; i++)
        tz_report_warnings_merge(found, &workers->list[i].warnings);
}

void tz_report_finish(tz_plan *plan, const tz_workers *workers, uint64_t by_device)
{
    tz_read_report *report = &plan->report.numbers;
    report->tiles_direct = 0; /* so far planned; from here on counted */
    report->tiles_decoded = by_device;
    tz_report_collect_warnings(plan, workers);
    for (unsigned i = 0; i < workers->count; i++) {
        const tz_worker *w = &workers->list[i];
        report->tiles_direct += w->tiles_direct;
        report->tiles_decoded += w->tiles_decoded;
    }
    report->tiles_copied = report->tiles - report->tiles_sparse - report->tiles_direct -
                           report->tiles_decoded - report->tiles_failed;
}

void tz_plan_visit_failed_tiles(const tz_plan *plan, tz_failed_tile_fn visit, void *user)
{
    for (size_t i = 0; i + 1 < plan->request_count; i++) {
        const tz_planned_request *request = &plan->requests[i];
        const tz_outcome *outcome = request->outcome;
        if (request->to_mask || !plan->requests[i + 1].to_mask || !outcome || !outcome->tiles)
            continue;
        const uint64_t count =
            outcome->report.tiles_failed > 0 ? tz_planned_request_status_count(request) : 0;
        for (uint64_t k = 0; k < count; k++) {
            const tz_tile_status *status = &outcome->tiles[request->status_first + k];
            if (status->result != TZ_OK)
                visit(user, request, &plan->requests[i + 1], status->tile);
        }
    }
}
