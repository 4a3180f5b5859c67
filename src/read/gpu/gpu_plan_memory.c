/* SPDX-License-Identifier: Apache-2.0
 * How much memory waves of a device may take, and the one guard before any is allocated. */
#include <string.h>

#include "base/mem.h"
#include "device/cost.h"
#include "read/gpu/gpu_codestreams.h"
#include "read/gpu/gpu_slot.h"

/* More memory makes no wave faster: launches are long by then. What tiles become, and what decoders
 * take beside, is several times what is sent. */
#define MAX_DEVICE_BYTES ((uint64_t)512 << 20)
#define MAX_PINNED_BYTES ((uint64_t)128 << 20)

/* Entries of a table for what is placed without tiles. */
enum { MAX_FILL_ENTRIES = 1024 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* 0 stands for no limit. */
static uint64_t or_unlimited(uint64_t value)
{
    return value ? value : UINT64_MAX;
}

/* ---- rooms ---- */

/* Of the plan's lanes: each gets a part of what there is. */
static void set_batch_budget(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    const tz_device_limits *limits = &tz_device_get_info(gpu->device)->limits;
    const uint64_t piece = or_unlimited(limits->max_allocation);
    const uint64_t memory = plan->options.max_memory / 2;
    gpu->batch_budget = (tz_gpu_sizes){.device = least(gpu->device_budget / gpu->slots, piece),
                                       .pinned = least(memory / gpu->slots, piece)};
    if (gpu->slots > 1) {
        gpu->batch_budget.device = least(gpu->batch_budget.device, MAX_DEVICE_BYTES);
        gpu->batch_budget.pinned = least(gpu->batch_budget.pinned, MAX_PINNED_BYTES);
    }
}

/* Whether the CPU does it instead: where the device has too little memory, or fails and no buffer
 * is in its memory. A limit that the caller has set stays an error. */
static bool falls_back(const tz_plan *plan, tz_result result, const tz_error *failed)
{
    const bool is_full =
        tz_device_is_full(result, failed) || (result == TZ_ERR_LIMIT && !failed->limit);
    const bool is_lost = result == TZ_ERR_DEVICE && !plan->gpu->on_device;
    return (is_full || is_lost) && !plan->options.strict_device;
}

void tz_gpu_plan_give_up(tz_plan *plan, const char *reason)
{
    const bool on_device = plan->gpu->on_device;
    tz_gpu_plan_drop(plan, reason);
    plan->runner = on_device ? TZ_RUN_BOUNCED : TZ_RUN_CPU;
}

tz_result tz_gpu_plan_set_budget(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    tz_error failed = {.result = TZ_OK};
    uint64_t bytes = 0;
    const tz_result result = tz_device_free_memory(gpu->device, &bytes, &failed);
    if (falls_back(plan, result, &failed)) {
        tz_gpu_plan_give_up(plan, failed.message);
        return TZ_OK;
    }
    if (result != TZ_OK) {
        if (plan->ctx.err)
            *plan->ctx.err = failed;
        return result;
    }
    gpu->device_budget = least(tz_device_usable(bytes), or_unlimited(plan->options.device_bytes));
    TZ_TRY(tz_gpu_codestreams_reserve(plan));
    gpu->slots = TZ_QUEUES;
    set_batch_budget(plan);
    return TZ_OK;
}

/* ---- measuring ---- */

static void widen_sizes(tz_gpu_sizes *sizes, const tz_gpu_sizes *size)
{
    sizes->device = most(sizes->device, size->device);
    sizes->pinned = most(sizes->pinned, size->pinned);
}

/* Any tile that the device decodes may have to be decoded by the CPU after all. */
static void measure_redo_tiles(tz_plan *plan)
{
    const tz_wave *wave = &plan->wave;
    for (size_t i = 0; i < wave->fetch_count; i++) {
        for (size_t k = 0; k < wave->fetches[i].count; k++) {
            const size_t piece = wave->fetches[i].first + k;
            const tz_tile_read *tile_read = &wave->tile_reads[wave->ranges[piece].index];
            const tz_tile_route route = tz_tile_read_route(plan, tile_read);
            const tz_wanted_tile *wanted = &wave->wanted[tile_read->first];
            plan->gpu->by_cpu += route == TZ_ROUTE_CPU && wanted->row_range == 0;
            if (route != TZ_ROUTE_DEVICE || tz_tile_read_is_for_host(plan, tile_read))
                continue;
            const tz_span span = {wave->ranges[piece].offset, wave->ranges[piece].size, piece, 1};
            const uint64_t nowhere = 0;
            tz_gpu_cursor cursor = {
                .fetches = &span, .fetch_count = 1, .by_cpu = true, .at = &nowhere};
            tz_gpu_batch batch;
            (void)tz_gpu_batch_next(plan, &cursor, &plan->gpu->batch_budget, &batch);
            widen_sizes(&plan->gpu->redo_size, &batch.layout.size);
        }
    }
}

static void count_batch(tz_gpu_plan *gpu, tz_device_use *use, const tz_gpu_batch *batch)
{
    const bool is_active = batch->need.conversions > 0;
    use->waves++;
    use->uploads += is_active;
    use->upload_bytes += batch->layout.spare_rows;
    use->tiles += batch->need.codestreams;
    use->downloads += batch->layout.download > 0;
    use->download_bytes += batch->layout.download;
    use->syncs += is_active;
    use->direct_reads += batch->need.direct.reads;
    use->direct_bytes += batch->need.direct.read_bytes;
    use->bounced_bytes += batch->need.bounced;
    if (batch->need.bounced > 0)
        tz_direct_note_reason(use, "some reads are too small for it");
    use->launches += (is_active ? 1u : 0u) + (batch->need.unpredicts > 0 ? 1u : 0u);
    for (uint32_t i = 0; i < gpu->codec_count; i++) {
        const uint64_t tiles = batch->need.decodes[i].count;
        use->tiles += tiles;
        use->launches += tiles > 0 ? tz_decode_launches(gpu->device, gpu->codecs[i]) : 0;
    }
}

void tz_gpu_plan_measure(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    tz_gpu_cursor cursor = tz_gpu_cursor_of_wave(plan);
    tz_gpu_batch batch;
    while (tz_gpu_batch_next(plan, &cursor, &gpu->batch_budget, &batch)) {
        count_batch(gpu, &plan->report.device, &batch);
        widen_sizes(&gpu->slot_size, &batch.layout.size);
        gpu->redo_waiting_bytes =
            most(gpu->redo_waiting_bytes, batch.layout.mirrored - batch.layout.input);
        gpu->max_tile_reads = tz_max_size(gpu->max_tile_reads, (size_t)batch.need.tile_reads);
        gpu->max_fetches = tz_max_size(gpu->max_fetches, (size_t)batch.need.fetches);
        gpu->max_reads = tz_max_size(gpu->max_reads, (size_t)batch.need.direct.reads);
    }
    if (gpu->on_device && gpu->codec_count > 0)
        gpu->max_fetches = gpu->max_tile_reads; /* decoded again, each tile is a fetch of its own */
    measure_redo_tiles(plan);
    plan->report.device.tiles_by_cores = gpu->by_cpu;
}

/* A table for what tiles do not fill. */
static void measure_fills(tz_gpu_plan *gpu)
{
    tz_gpu_need need = {.conversions = MAX_FILL_ENTRIES};
    tz_gpu_layout layout = tz_gpu_layout_make(gpu, &need);
    while (need.conversions > 1 && (layout.size.device > gpu->batch_budget.device ||
                                    layout.size.pinned > gpu->batch_budget.pinned)) {
        need.conversions /= 2;
        layout = tz_gpu_layout_make(gpu, &need);
    }
    gpu->fill_capacity = need.conversions;
    if (gpu->on_device)
        widen_sizes(&gpu->slot_size, &layout.size);
}

/* ---- the guard ---- */

static tz_result admit_memory(const tz_plan *plan)
{
    const tz_gpu_plan *gpu = plan->gpu;
    const uint64_t sizes[TZ_QUEUES + 1] = {gpu->library_bytes, gpu->slot_size.device,
                                           gpu->slot_size.device};
    const bool has_library = gpu->library_bytes > 0;
    const uint64_t bytes = plan->options.device_bytes;
    if (bytes && gpu->slot_size.device > bytes)
        return tz_fail_memory_limit(&plan->ctx, "a single tile", "device_bytes", bytes,
                                    gpu->slot_size.device);
    if (gpu->slot_size.device > 0)
        TZ_TRY(tz_device_admit(gpu->device, sizes + !has_library, gpu->slots + has_library,
                               plan->ctx.err));
    if (gpu->slot_size.pinned >
        or_unlimited(tz_device_get_info(gpu->device)->limits.max_allocation))
        return tz_device_admit(gpu->device, &gpu->slot_size.pinned, 1, plan->ctx.err);
    if (gpu->slot_size.pinned > gpu->batch_budget.pinned)
        return tz_fail_memory_limit(&plan->ctx, "a single tile", "max_memory",
                                    gpu->batch_budget.pinned, gpu->slot_size.pinned);
    return TZ_OK;
}

/* A device that was not named has to be worth it. */
static bool is_gpu_worthwhile(tz_plan *plan)
{
    const tz_gpu_plan *gpu = plan->gpu;
    const tz_report *report = &plan->report;
    const uint16_t compression = plan->requests[0].tile.compression;
    const uint64_t pinned = gpu->slot_size.pinned * (report->device.waves > 1 ? gpu->slots : 1);
    tz_vendor_decoder decoder;
    const tz_device_job job = {
        .bytes_compressed = report->bytes_compressed,
        .bytes_pixels = report->bytes_decoded,
        .bytes_pinned = tz_device_caches_pinned(gpu->device, pinned) ? 0 : pinned,
        .tiles = report->tiles,
        .tiles_by_cores = gpu->by_cpu,
        .compression = compression,
        .by_library = tz_device_find_vendor_decoder(gpu->device, compression, &decoder),
        .threads = plan->threads};
    char reason[sizeof report->device.reason];
    if (gpu->on_device || !tz_device_is_auto(gpu->device) ||
        tz_device_pays(tz_device_get_info(gpu->device), &job, reason, sizeof reason))
        return true;
    tz_gpu_plan_drop(plan, reason);
    return false;
}

static void reset_measurements(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    gpu->slot_size = (tz_gpu_sizes){0};
    gpu->redo_size = (tz_gpu_sizes){0};
    gpu->redo_waiting_bytes = 0;
    gpu->max_tile_reads = 0;
    gpu->max_fetches = 0;
    gpu->max_reads = 0;
    gpu->by_cpu = 0;
    set_batch_budget(plan);
}

tz_result tz_gpu_plan_fit(tz_plan *plan, tz_gpu_fit *out)
{
    tz_gpu_plan *gpu = plan->gpu;
    *out = TZ_GPU_FIT_CPU;
    if (!is_gpu_worthwhile(plan))
        return TZ_OK;
    measure_fills(gpu);
    tz_gpu_sizes redo = gpu->redo_size;
    if (redo.device > 0) /* the bytes of all other tiles wait in pinned memory meanwhile */
        redo.pinned = tz_add_capped(redo.pinned, gpu->redo_waiting_bytes + TZ_CODEC_SLACK);
    widen_sizes(&gpu->slot_size, &redo);
    const bool is_over_budget = gpu->slot_size.device > gpu->batch_budget.device ||
                                gpu->slot_size.pinned > gpu->batch_budget.pinned;
    if (is_over_budget && (plan->fetch_size > 1 || gpu->slots > 1)) {
        gpu->slots = plan->fetch_size > 1 ? gpu->slots : 1;
        plan->fetch_size = 1;
        reset_measurements(plan);
        *out = TZ_GPU_FIT_AGAIN;
        return TZ_OK;
    }
    if (plan->report.device.waves <= 1)
        gpu->slots = 1;
    tz_error failed = {.result = TZ_OK}, *err = plan->ctx.err;
    plan->ctx.err = &failed;
    const tz_result result = admit_memory(plan);
    plan->ctx.err = err;
    if (falls_back(plan, result, &failed)) {
        tz_gpu_plan_give_up(plan, failed.message);
        *out = plan->runner == TZ_RUN_BOUNCED ? TZ_GPU_FIT_BOUNCE : TZ_GPU_FIT_CPU;
        return TZ_OK;
    }
    *out = TZ_GPU_FITS;
    if (result == TZ_OK)
        plan->report.device.memory = gpu->library_bytes + gpu->slots * gpu->slot_size.device;
    else if (err)
        *err = failed;
    return result;
}

void tz_gpu_plan_halve(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    gpu->device_budget = gpu->slots * gpu->slot_size.device / 2;
    gpu->slots = TZ_QUEUES;
    reset_measurements(plan);
}

uint64_t tz_gpu_plan_host_bytes(const tz_gpu_plan *gpu)
{
    const uint64_t lists = gpu->format_capacity * sizeof *gpu->formats +
                           gpu->constant_capacity * sizeof *gpu->constants +
                           gpu->file_capacity * sizeof *gpu->files +
                           gpu->pair_capacity * sizeof *gpu->pairs;
    return lists + gpu->slots * tz_add_capped(gpu->slot_size.pinned, tz_gpu_slot_host_bytes(gpu));
}
