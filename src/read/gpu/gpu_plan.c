/* SPDX-License-Identifier: Apache-2.0
 * The GPU's part of a plan, made in two steps.
 *
 *   requests    Each gets a route, formats and constants for its conversions, and the pair of
 *               memories that it goes to. Equal ones are shared, so that a batch needs one launch
 *               for each codec and each pair, however many items it has.
 *   memory      Batches of all waves are formed, without reading, and the largest gives the size of
 *               a slot. If that exceeds the budget, fetches become single tiles, then one slot is
 *               left, then the CPU reads.
 *
 * The decision that is not obvious: any tile that the device decodes may turn out to be damaged, or
 * to be of a kind that the kernel refuses, and the CPU decodes it again. So the memory for one such
 * tile, beside the bytes of all others of its batch that wait, is part of every slot from the
 * start: nothing is allocated while batches run. */
#include "read/gpu/gpu_plan.h"

#include <string.h>

#include "base/mem.h"
#include "codec/standalone_stream.h"
#include "device/cost.h"
#include "device/device_text.h"
#include "pixel/row_ops.h"
#include "read/gpu/gpu_batch.h"

tz_device_memory tz_gpu_staging;

void tz_note_reason(char reason[TZ_REASON_BYTES], const char *text)
{
    if (!reason[0])
        tz_device_text(reason, TZ_REASON_BYTES, text);
}

/* Equal formats and constants are looked for among the last ones only: items of one kind follow
 * each other. */
enum { LOOK_BACK = 16 };

/* More memory makes no batch faster: launches are long by then. Decoded tiles and the scratch of
 * decoders take several times the bytes that are uploaded. */
#define MAX_DEVICE_BYTES ((uint64_t)512 << 20)
#define MAX_PINNED_BYTES ((uint64_t)128 << 20)

/* Entries of a table for pixels that no tile fills. */
enum { MAX_FILL_ENTRIES = 1024 };

/* ---- lists ---- */

/* Finds an equal entry of size bytes or adds one; with is_new it always adds, for entries that have
 * to follow each other. */
static tz_result find_or_add(tz_gpu_list *list, const void *entry, size_t size, bool is_new,
                             uint32_t *out, const tz_context *ctx)
{
    for (uint32_t i = list->count; !is_new && i > 0 && list->count - i < LOOK_BACK; i--) {
        if (memcmp((const uint8_t *)list->entries + (i - 1) * size, entry, size) == 0) {
            *out = i - 1;
            return TZ_OK;
        }
    }
    if (list->count == list->capacity) {
        const uint32_t more = list->capacity ? list->capacity * 2 : 8;
        void *larger = more > list->capacity ? tz_realloc_array(list->entries, more, size) : NULL;
        if (!larger)
            return tz_fail_nomem(ctx, tz_mul_capped(more, size));
        list->entries = larger;
        list->capacity = more;
    }
    memcpy((uint8_t *)list->entries + list->count * size, entry, size);
    *out = list->count++;
    return TZ_OK;
}

/* Finds a pair for the memories, or adds one. Requests whose memories do not differ share a launch,
 * so a pair that lacks a memory takes over the one that is given. */
static tz_result add_pair(tz_gpu_plan *gpu, tz_gpu_memory_pair pair, uint32_t *out,
                          const tz_context *ctx)
{
    for (uint32_t i = 0; i < gpu->pairs.count; i++) {
        tz_gpu_memory_pair *known = (tz_gpu_memory_pair *)gpu->pairs.entries + i;
        if ((known->into && pair.into && known->into != pair.into) ||
            (known->mask && pair.mask && known->mask != pair.mask))
            continue;
        known->into = known->into ? known->into : pair.into;
        known->mask = known->mask ? known->mask : pair.mask;
        *out = i;
        return TZ_OK;
    }
    return find_or_add(&gpu->pairs, &pair, sizeof pair, true, out, ctx);
}

/* ---- requests ---- */

/* Chooses the decoder of a request's tiles; tz_tile_read_route reports it. A tile that takes too
 * long in one kernel goes to the CPU, and the reason is kept for the report and for a strict read.
 */
static tz_tile_route choose_route(tz_plan *plan, const tz_planned_request *request, uint32_t *codec)
{
    tz_gpu_plan *gpu = plan->gpu;
    const uint16_t compression = request->tile.compression;
    const bool reversed = request->tile.fill_order == TZ_FILL_ORDER_LOW_FIRST;
    if (tz_planned_request_is_raw(request))
        return reversed ? TZ_ROUTE_CPU : TZ_ROUTE_RAW;
    if (tz_gpu_codestreams_accept(plan, request, codec))
        return TZ_ROUTE_CODESTREAMS;
    if (reversed || request->subsampled ||
        tz_codec_max_input(&request->tile) > TZ_DECODE_MAX_BYTES ||
        !tz_device_decodes(gpu->device, compression))
        return TZ_ROUTE_CPU;
    const uint64_t bytes = tz_tile_bytes(&request->tile);
    const uint64_t max_bytes = tz_device_max_tile(tz_device_get_info(gpu->device), compression);
    if (bytes > max_bytes) {
        if (request->tile_read_count > 0)
            tz_device_textf(gpu->tile_reason, sizeof gpu->tile_reason,
                            "a tile of %llu bytes takes too long in one kernel, which is given "
                            "%llu at most",
                            (unsigned long long)bytes, (unsigned long long)max_bytes);
        return TZ_ROUTE_CPU;
    }
    for (*codec = 0; *codec < gpu->codec_count; (*codec)++) {
        if (gpu->codecs[*codec] == compression)
            return TZ_ROUTE_DEVICE;
    }
    if (gpu->codec_count == TZ_GPU_MAX_CODECS)
        return TZ_ROUTE_CPU;
    gpu->codecs[gpu->codec_count++] = compression;
    return TZ_ROUTE_DEVICE;
}

/* Pixels for a buffer in host memory go to the staged part of the slab. */
static tz_device_memory *memory_of_buffer(const tz_pixel_buffer *buffer)
{
    return buffer->memory ? buffer->memory : buffer->data ? &tz_gpu_staging : NULL;
}

/* With scales, every band has a format and constants of its own, which follow each other; out has
 * the number of the first. Without scales one serves all bands. */
static tz_result set_gpu_request(tz_plan *plan, const tz_planned_request *request,
                                 tz_gpu_request *out)
{
    tz_gpu_plan *gpu = plan->gpu;
    const tz_context *ctx = &plan->ctx;
    const tz_pixel_buffer *into = &request->into;
    const int64_t size = (int64_t)tz_dtype_size(into->dtype);
    const tz_gpu_memory_pair pair = {request->to_mask ? NULL : memory_of_buffer(into),
                                     memory_of_buffer(&request->mask)};
    const bool is_new = request->scales != NULL;
    const uint32_t bands = request->scales ? request->band_count : 1;
    const tz_convert_format copy = tz_convert_format_copy((uint32_t)size);
    tz_row_format row = request->row;
    uint32_t number;
    if (request->subsampled) { /* the CPU makes rows of RGB: see tz_tile_decode */
        row.swap = false;
        row.predictor = TZ_PREDICTOR_NONE;
    }
    out->route = choose_route(plan, request, &out->codec);
    out->on_device =
        (pair.into && pair.into != &tz_gpu_staging) || (pair.mask && pair.mask != &tz_gpu_staging);
    gpu->on_device = gpu->on_device || out->on_device;
    out->has_unpredict = tz_unpredict_entry_of(&row, &out->unpredict);
    out->copies_rows =
        request->same_rows && (tz_row_is_plain(&row) || row.predictor == TZ_PREDICTOR_HORIZONTAL);
    out->is_interleaved = !request->planes && into->band_stride == size &&
                          into->column_stride == size * request->band_count;
    gpu->has_replacement =
        gpu->has_replacement ||
        (request->conversion.replacement.kind != TZ_NODATA_KIND_NONE &&
         !(tz_nodata_is_nan(&request->conversion.replacement) && tz_dtype_is_float(into->dtype)));
    gpu->has_long_rows =
        gpu->has_long_rows || (uint64_t)request->tile.width * request->row.samples > INT32_MAX;
    TZ_TRY(add_pair(gpu, pair, &out->pair, ctx));
    TZ_TRY(find_or_add(&gpu->formats, &copy, sizeof copy, false, &out->copy, ctx));
    for (uint32_t band = 0; band < bands; band++) {
        const tz_conversion how =
            tz_conversion_of_band(&request->conversion, request->scales, band);
        const tz_convert_format format = tz_convert_format_make(&row, &how);
        tz_gpu_constant missing = {{0}, 0, {0}};
        uint8_t sample[16];
        uint8_t valid = 255;
        TZ_TRY(find_or_add(&gpu->formats, &format, sizeof format, is_new, &number, ctx));
        out->format = band > 0 ? out->format : number;
        tz_planned_request_missing_sample(request, sample);
        tz_row_convert(&how, sample, 0, request->to_mask ? NULL : missing.sample, 0, 1, &valid, 0);
        missing.valid = valid != 0;
        TZ_TRY(find_or_add(&gpu->constants, &missing, sizeof missing, is_new, &number, ctx));
        out->missing = band > 0 ? out->missing : number;
    }
    if (out->copies_rows)
        out->format = out->copy;
    const bool exceeds_level =
        request->x1 - request->x0 < into->width || request->y1 - request->y0 < into->height;
    const bool fills = plan->options.boundless && out->on_device && exceeds_level;
    const bool fills_failed = plan->options.salvage && plan->options.has_fill;
    gpu->fills = gpu->fills || fills;
    for (uint32_t band = 0; (fills || fills_failed) && band < bands; band++) {
        const tz_conversion how =
            tz_conversion_of_band(&request->conversion, request->scales, band);
        tz_gpu_constant constant = {{0}, 0, {0}};
        tz_outside_sample(&how, &plan->options, constant.sample);
        TZ_TRY(find_or_add(&gpu->constants, &constant, sizeof constant, is_new, &number, ctx));
        out->fill = band > 0 ? out->fill : number;
    }
    return TZ_OK;
}

/* ---- dropping the plan ---- */

void tz_gpu_plan_drop(tz_plan *plan, tz_runner runner, const char *reason)
{
    tz_device_use *use = &plan->report.device;
    *use = (tz_device_use){0};
    tz_device_text(use->reason, sizeof use->reason, reason);
    if (plan->gpu) /* else measuring has dropped it already */
        tz_gpu_plan_free(plan->gpu);
    plan->gpu = NULL;
    plan->runner = runner;
}

/* Leaves all of it to the CPU, buffers in device memory included. */
static void give_up(tz_plan *plan, const char *reason)
{
    tz_gpu_plan_drop(plan, plan->gpu->on_device ? TZ_RUN_BOUNCED : TZ_RUN_CPU, reason);
}

/* True if the CPU reads instead, because the device has too little memory, or fails and no buffer
 * is in its memory. A limit that the caller has set stays an error. */
static bool falls_back(const tz_plan *plan, tz_result result, const tz_error *failed)
{
    const bool is_full =
        tz_device_is_full(result, failed) || (result == TZ_ERR_LIMIT && !failed->limit);
    const bool is_lost = result == TZ_ERR_DEVICE && !plan->gpu->on_device;
    return (is_full || is_lost) && !plan->options.strict_device;
}

/* The message names all properties of the tiles that keep the device from decoding them. */
static tz_result fail_strict_codec(const tz_plan *plan, const tz_planned_request *request)
{
    tz_context ctx = tz_file_context(request->file, plan->ctx.err);
    const char *name = tz_compression_name(request->tile.compression);
    const char *why = tz_standalone_is_possible(&request->stored) ? plan->gpu->library_reason
                                                                  : plan->gpu->tile_reason;
    ctx.ifd = request->layer.shape.ifd;
    return tz_fail(&ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "the device %s does not decode such tiles: compression %u (%s)%s%s%s%s",
                   tz_device_get_info(plan->gpu->device)->id, (unsigned)request->tile.compression,
                   name ? name : "unknown", request->subsampled ? ", subsampled" : "",
                   request->tile.fill_order == TZ_FILL_ORDER_LOW_FIRST ? ", fill order 2" : "",
                   why[0] ? "; " : "", why);
}

/* Drops the plan if no tile and no pixel is the device's work. */
static void drop_if_idle(tz_plan *plan)
{
    const tz_gpu_plan *gpu = plan->gpu;
    const char *more = gpu->tile_reason[0] ? gpu->tile_reason : gpu->library_reason;
    char reason[sizeof plan->report.device.reason] = "there is nothing to decode";
    bool has_work = gpu->fills;
    for (size_t i = 0; !has_work && i < plan->request_count; i++)
        has_work = plan->requests[i].tile_read_count > 0 &&
                   (gpu->requests[i].on_device || gpu->requests[i].route != TZ_ROUTE_CPU);
    if (has_work)
        return;
    if (plan->wave.total > 0)
        tz_device_textf(reason, sizeof reason, "the device decodes no tile of these files%s%s",
                        more[0] ? ": " : "", more);
    tz_gpu_plan_drop(plan, TZ_RUN_CPU, reason);
}

/* ---- budgets ---- */

/* 0 stands for no limit. */
static uint64_t or_unlimited(uint64_t value)
{
    return value ? value : UINT64_MAX;
}

/* Divides the memory by the number of slots. */
static void set_batch_budget(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    const uint64_t allocation = or_unlimited(tz_device_get_info(gpu->device)->max_allocation_bytes);
    const uint64_t memory = plan->options.max_host_bytes / 2;
    gpu->batch_budget =
        (tz_gpu_sizes){.device = tz_min(gpu->device_budget / gpu->slots, allocation),
                       .pinned = tz_min(memory / gpu->slots, allocation)};
    if (gpu->slots > 1) {
        gpu->batch_budget.device = tz_min(gpu->batch_budget.device, MAX_DEVICE_BYTES);
        gpu->batch_budget.pinned = tz_min(gpu->batch_budget.pinned, MAX_PINNED_BYTES);
    }
}

/* ---- making ---- */

/* The plan may be dropped at three points: if the device cannot convert the samples, if no tile is
 * its work, and if it cannot say how much memory it has. */
tz_result tz_gpu_plan_make(tz_plan *plan)
{
    tz_gpu_plan *gpu = tz_alloc_zeroed(1, sizeof *gpu);
    const char *reason = NULL; /* why the device cannot convert the samples of all items */
    if (!gpu)
        return tz_fail_nomem(&plan->ctx, sizeof *gpu);
    plan->gpu = gpu;
    plan->runner = TZ_RUN_GPU;
    gpu->device = plan->options.device;
    gpu->requests = tz_arena_array(&plan->arena, plan->request_count, sizeof *gpu->requests);
    if (!gpu->requests)
        return tz_fail_nomem(&plan->ctx, plan->request_count * sizeof *gpu->requests);
    for (size_t i = 0; i < plan->request_count; i++)
        TZ_TRY(set_gpu_request(plan, &plan->requests[i], &gpu->requests[i]));
    for (size_t i = 0; plan->options.strict_device && i < plan->request_count; i++) {
        if (plan->requests[i].tile_read_count > 0 && gpu->requests[i].route == TZ_ROUTE_CPU)
            return fail_strict_codec(plan, &plan->requests[i]);
    }

    if (gpu->has_long_rows)
        reason = "rows of tiles are too long for kernels";
    else if (gpu->has_replacement)
        reason = "kernels replace nodata by NaN only, and in floating-point buffers";
    const tz_convert_format *formats = gpu->formats.entries;
    for (uint32_t i = 0; !reason && i < gpu->formats.count; i++) {
        if (!tz_device_converts(gpu->device, &formats[i]))
            reason = "the device has no double precision, which the samples need";
    }
    if (reason && plan->options.strict_device)
        return tz_fail(&plan->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "%s: %s", tz_device_get_info(gpu->device)->id, reason);
    if (reason)
        give_up(plan, reason);
    else
        drop_if_idle(plan);
    if (!plan->gpu)
        return TZ_OK;

    tz_device_use *use = &plan->report.device;
    tz_device_text(use->id, sizeof use->id, tz_device_get_info(gpu->device)->id);
    tz_device_text(use->reason, sizeof use->reason, gpu->tile_reason);
    TZ_TRY(tz_direct_open(plan));
    tz_error failed = {.result = TZ_OK};
    uint64_t bytes = 0;
    const tz_result result = tz_device_free_memory(gpu->device, &bytes, &failed);
    if (falls_back(plan, result, &failed)) {
        give_up(plan, failed.message);
        return TZ_OK;
    }
    if (result != TZ_OK && plan->ctx.err)
        *plan->ctx.err = failed;
    TZ_TRY(result);
    gpu->device_budget =
        tz_min(tz_device_usable(bytes), or_unlimited(plan->options.max_device_bytes));
    TZ_TRY(tz_gpu_codestreams_reserve(plan));
    gpu->slots = TZ_QUEUES;
    set_batch_budget(plan);
    drop_if_idle(plan); /* libraries may have found no memory */
    return TZ_OK;
}

void tz_gpu_plan_free(tz_gpu_plan *gpu)
{
    tz_direct_close(gpu);
    tz_free(gpu->formats.entries);
    tz_free(gpu->constants.entries);
    tz_free(gpu->pairs.entries);
    tz_free(gpu);
}

/* ---- measuring ---- */

/* Device and pinned memory may be largest for different batches; a slot serves both. */
static void widen_sizes(tz_gpu_sizes *sizes, const tz_gpu_sizes *size)
{
    sizes->device = tz_max(sizes->device, size->device);
    sizes->pinned = tz_max(sizes->pinned, size->pinned);
}

/* Forms the batches of the wave and keeps the largest of each size. Each tile that the device
 * decodes for device memory is also measured as a batch of its own that the CPU decodes. */
void tz_gpu_plan_measure(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    const tz_wave *wave = &plan->wave;
    tz_device_use *use = &plan->report.device;
    tz_gpu_cursor cursor = tz_gpu_cursor_of_wave(plan);
    tz_gpu_batch batch;
    while (tz_gpu_batch_next(plan, &cursor, &gpu->batch_budget, &batch)) {
        const tz_gpu_need *need = &batch.need;
        const tz_gpu_layout *l = &batch.layout;
        const bool is_active = need->conversions > 0;
        use->waves++;
        use->uploads += is_active;
        use->upload_bytes += l->spare_rows;
        use->tiles += need->codestreams;
        use->downloads += l->download > 0;
        use->download_bytes += l->download;
        use->syncs += is_active;
        use->direct_reads += need->direct.reads;
        use->direct_bytes += need->direct.read_bytes;
        use->bounced_bytes += need->bounced;
        if (need->bounced > 0)
            tz_note_reason(use->direct_reason, "some reads are too small for it");
        use->launches += (is_active ? 1u : 0u) + (need->unpredicts > 0 ? 1u : 0u);
        for (uint32_t i = 0; i < gpu->codec_count; i++) {
            const uint64_t tiles = need->decodes[i].count;
            use->tiles += tiles;
            use->launches += tiles > 0 ? tz_decode_launches(gpu->device, gpu->codecs[i]) : 0;
        }
        widen_sizes(&gpu->slot_size, &l->size);
        gpu->redo_waiting_bytes = tz_max(gpu->redo_waiting_bytes, l->mirrored - l->input);
        gpu->max_tile_reads = tz_max_size(gpu->max_tile_reads, (size_t)need->tile_reads);
        gpu->max_fetches = tz_max_size(gpu->max_fetches, (size_t)need->fetches);
        gpu->max_reads = tz_max_size(gpu->max_reads, (size_t)need->direct.reads);
    }
    if (gpu->on_device && gpu->codec_count > 0)
        gpu->max_fetches = gpu->max_tile_reads; /* decoded again, each tile is its own fetch */
    for (size_t i = 0; i < wave->fetch_count; i++) {
        const tz_span *fetch = &wave->fetches[i];
        for (size_t k = fetch->first; k < fetch->first + fetch->count; k++) {
            const tz_tile_read *tile_read = &wave->tile_reads[wave->ranges[k].index];
            const tz_tile_route route = tz_tile_read_route(plan, tile_read);
            gpu->by_cpu +=
                route == TZ_ROUTE_CPU && tz_tile_read_wanted(wave, tile_read, 0)->row_range == 0;
            if (route != TZ_ROUTE_DEVICE || tz_tile_read_is_for_host(plan, tile_read))
                continue;
            const tz_span span = {wave->ranges[k].offset, wave->ranges[k].size, k, 1};
            const uint64_t nowhere = 0;
            cursor =
                (tz_gpu_cursor){.fetches = &span, .fetch_count = 1, .by_cpu = true, .at = &nowhere};
            (void)tz_gpu_batch_next(plan, &cursor, &gpu->batch_budget, &batch);
            widen_sizes(&gpu->redo_size, &batch.layout.size);
        }
    }
    use->tiles_on_cpu = gpu->by_cpu;
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

/* All slots share half of the memory that they had. A single slot is the last resort of
 * tz_gpu_plan_fit.
 */
void tz_gpu_plan_halve(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    gpu->device_budget = gpu->slots * gpu->slot_size.device / 2;
    gpu->slots = TZ_QUEUES;
    reset_measurements(plan);
}

/* Capacities count, not entries: memory is held for both. */
uint64_t tz_gpu_plan_host_bytes(const tz_gpu_plan *gpu)
{
    const uint64_t lists = gpu->formats.capacity * sizeof(tz_convert_format) +
                           gpu->constants.capacity * sizeof(tz_gpu_constant) +
                           gpu->file_capacity * sizeof *gpu->files +
                           gpu->pairs.capacity * sizeof(tz_gpu_memory_pair);
    return lists + gpu->slots * tz_add_capped(gpu->slot_size.pinned, tz_gpu_slot_host_bytes(gpu));
}

/* ---- fitting ---- */

/* A limit of the caller is an error that names it. A limit of the device is one that falls_back
 * accepts, so that the CPU reads. */
static tz_result admit_memory(const tz_plan *plan)
{
    const tz_gpu_plan *gpu = plan->gpu;
    const tz_gpu_sizes slot = gpu->slot_size;
    const uint64_t sizes[TZ_QUEUES + 1] = {gpu->library_bytes, slot.device, slot.device};
    const bool has_library = gpu->library_bytes > 0;
    const uint64_t bytes = plan->options.max_device_bytes;
    if (bytes && slot.device > bytes)
        return tz_fail_memory_limit(&plan->ctx, "a single tile", "max_device_bytes", bytes,
                                    slot.device);
    if (slot.device > 0)
        TZ_TRY(tz_device_admit(gpu->device, sizes + !has_library, gpu->slots + has_library,
                               plan->ctx.err));
    if (slot.pinned > or_unlimited(tz_device_get_info(gpu->device)->max_allocation_bytes))
        return tz_device_admit(gpu->device, &slot.pinned, 1, plan->ctx.err);
    if (slot.pinned > gpu->batch_budget.pinned)
        return tz_fail_memory_limit(&plan->ctx, "a single tile", "max_host_bytes",
                                    gpu->batch_budget.pinned, slot.pinned);
    return TZ_OK;
}

/* A device that the caller did not name has to be faster than the CPU; else the plan is dropped. */
static bool is_gpu_worthwhile(tz_plan *plan)
{
    const tz_gpu_plan *gpu = plan->gpu;
    const tz_read_report *report = &plan->report.numbers;
    const tz_device_use *use = &plan->report.device;
    const uint16_t compression = plan->requests[0].tile.compression;
    const uint64_t pinned = gpu->slot_size.pinned * (use->waves > 1 ? gpu->slots : 1);
    tz_vendor_decoder decoder;
    const tz_device_job job = {
        .bytes_compressed = report->bytes_compressed,
        .bytes_pixels = report->bytes_decoded,
        .bytes_pinned = tz_device_caches_pinned(gpu->device, pinned) ? 0 : pinned,
        .tiles = report->tiles,
        .tiles_on_cpu = gpu->by_cpu,
        .compression = compression,
        .by_library = tz_device_find_vendor_decoder(gpu->device, compression, &decoder),
        .threads = plan->threads};
    char reason[sizeof use->reason];
    if (gpu->on_device || !tz_device_is_auto(gpu->device) ||
        tz_device_pays(tz_device_get_info(gpu->device), &job, reason, sizeof reason))
        return true;
    tz_gpu_plan_drop(plan, TZ_RUN_CPU, reason);
    return false;
}

/* A slot has to hold the largest batch, the table for pixels that no tile fills, and one tile that
 * the CPU decodes again beside the bytes of those that wait. If that is too much, waves are
 * measured again: first with fetches of single tiles, then with one slot. */
tz_result tz_gpu_plan_fit(tz_plan *plan, tz_gpu_fit *out)
{
    tz_gpu_plan *gpu = plan->gpu;
    const tz_gpu_sizes budget = gpu->batch_budget;
    tz_error failed = {.result = TZ_OK}, *err = plan->ctx.err;
    *out = TZ_GPU_FIT_CPU;
    if (!is_gpu_worthwhile(plan))
        return TZ_OK;
    tz_gpu_need need = {.conversions = MAX_FILL_ENTRIES};
    tz_gpu_layout fill = tz_gpu_layout_make(gpu, &need);
    while (need.conversions > 1 &&
           (fill.size.device > budget.device || fill.size.pinned > budget.pinned)) {
        need.conversions /= 2;
        fill = tz_gpu_layout_make(gpu, &need);
    }
    gpu->fill_capacity = need.conversions;
    if (gpu->on_device)
        widen_sizes(&gpu->slot_size, &fill.size);
    tz_gpu_sizes redo = gpu->redo_size;
    if (redo.device > 0)
        redo.pinned = tz_add_capped(redo.pinned, gpu->redo_waiting_bytes + TZ_CODEC_SLACK);
    widen_sizes(&gpu->slot_size, &redo);
    const bool is_over_budget =
        gpu->slot_size.device > budget.device || gpu->slot_size.pinned > budget.pinned;
    if (is_over_budget && (plan->fetch_size > 1 || gpu->slots > 1)) {
        gpu->slots = plan->fetch_size > 1 ? gpu->slots : 1;
        plan->fetch_size = 1;
        reset_measurements(plan);
        *out = TZ_GPU_FIT_AGAIN;
        return TZ_OK;
    }
    if (plan->report.device.waves <= 1)
        gpu->slots = 1;
    plan->ctx.err = &failed;
    const tz_result result = admit_memory(plan);
    plan->ctx.err = err;
    if (falls_back(plan, result, &failed)) {
        give_up(plan, failed.message);
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
