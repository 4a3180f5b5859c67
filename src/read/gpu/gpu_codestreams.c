/* SPDX-License-Identifier: Apache-2.0 */
#include "read/gpu/gpu_codestreams.h"

#include "base/mem.h"
#include "codec/standalone_stream.h"
#include "device/device_codestreams.h"
#include "device/device_text.h"
#include "read/tile.h"

/* ---- which files ---- */

static void note_reason(char reason[160], const char *text)
{
    if (!reason[0])
        tz_device_text(reason, 160, text);
}

static bool find_codestream_library(tz_gpu_plan *gpu, uint16_t compression, uint64_t samples,
                                    uint32_t *out)
{
    uint32_t i = 0;
    while (i < gpu->library_count && gpu->libraries[i].compression != compression)
        i++;
    if (i == TZ_GPU_CODESTREAM_LIBRARIES)
        return false;
    tz_gpu_codestream_library *library = &gpu->libraries[i];
    *out = i;
    if (i < gpu->library_count && library->samples >= samples)
        return true;
    tz_codestream_codec codec;
    if (!tz_device_find_codestream_codec(gpu->device, compression, false, samples, &codec)) {
        note_reason(gpu->library_reason, codec.reason);
        return false;
    }
    *library = (tz_gpu_codestream_library){compression, samples, codec};
    gpu->library_count = i < gpu->library_count ? gpu->library_count : i + 1;
    return true;
}

/* A library that is not to be used has no part in the plan; that there is one is told. */
static void note_lossy(tz_gpu_plan *gpu, uint16_t compression, uint64_t samples)
{
    tz_codestream_codec codec;
    const bool there =
        tz_device_find_codestream_codec(gpu->device, compression, false, samples, &codec);
    note_reason(gpu->library_reason,
                there ? "it does so for lossy ones with lossy_on_device only" : codec.reason);
}

bool tz_gpu_codestreams_accept(tz_plan *plan, const tz_planned_request *request, uint32_t *library)
{
    tz_gpu_plan *gpu = plan->gpu;
    const tz_tile_format *format = &request->stored;
    /* as stored: what a library needs for a lower resolution is not said to be less */
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    if (request->subsampled || format->fill_order == 2 || !tz_standalone_is_possible(format))
        return false;
    if (!tz_standalone_is_lossy(format) || plan->options.lossy_on_device)
        return find_codestream_library(gpu, format->compression, samples, library);
    note_lossy(gpu, format->compression, samples);
    return false;
}

/* ---- memory ---- */

static void fall_back_all(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    for (size_t i = 0; i < plan->request_count; i++) {
        if (gpu->requests[i].route == TZ_ROUTE_CODESTREAMS)
            gpu->requests[i].route = TZ_ROUTE_CPU;
    }
    gpu->library_count = 0;
    gpu->library_bytes = 0;
}

tz_result tz_gpu_codestreams_reserve(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    for (uint32_t i = 0; i < gpu->library_count; i++)
        gpu->library_bytes = tz_add_capped(gpu->library_bytes, gpu->libraries[i].codec.bytes);
    if (gpu->library_bytes <= gpu->device_budget / 2) {
        gpu->device_budget -= gpu->library_bytes;
        return TZ_OK;
    }
    if (plan->options.strict_device)
        return tz_fail(&plan->ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                       tz_expecting(tz_no_location(), gpu->device_budget / 2, gpu->library_bytes),
                       "%s takes more memory than half of what there is of the device",
                       gpu->libraries[0].codec.name);
    tz_device_textf(gpu->library_reason, sizeof gpu->library_reason,
                    "%s takes %llu bytes, more than half of what there is of the device",
                    gpu->libraries[0].codec.name, (unsigned long long)gpu->library_bytes);
    fall_back_all(plan);
    return TZ_OK;
}

uint64_t tz_gpu_codestream_bytes(const tz_plan *plan, const tz_tile_read *tile_read)
{
    const size_t capacity = tz_standalone_buffer_size(
        &tz_tile_read_request(&plan->wave, tile_read, 0)->stored,
        (size_t)tz_tile_read_wanted(&plan->wave, tile_read, 0)->span.size);
    return capacity > 0 ? tz_gpu_slab_bytes(capacity) : 0;
}

void tz_gpu_codestreams_add_need(const tz_plan *plan, const tz_tile_read *tile_read,
                                 tz_gpu_need *need)
{
    need->codestreams++;
    need->rows += tz_gpu_slab_bytes(tz_tile_read_decoded_bytes(plan, tile_read));
    need->streams += tz_gpu_codestream_bytes(plan, tile_read);
    if (!tz_tile_read_is_for_host(plan, tile_read))
        need->spare_rows += tz_gpu_slab_bytes(tz_tile_read_rows_bytes(plan, tile_read));
}

static size_t max_codestreams(const tz_gpu_plan *gpu)
{
    return gpu->library_count > 0 ? gpu->max_tile_reads : 0;
}

uint64_t tz_gpu_codestream_list_bytes(const tz_gpu_plan *gpu)
{
    return tz_mul_capped(max_codestreams(gpu), sizeof(tz_codestream));
}

tz_result tz_gpu_codestream_list_init(const tz_gpu_run *run, tz_gpu_slot *slot)
{
    const size_t count = max_codestreams(run->gpu);
    if (count == 0)
        return TZ_OK;
    slot->codestreams = tz_alloc_array(count, sizeof *slot->codestreams);
    return slot->codestreams
               ? TZ_OK
               : tz_fail_nomem(&run->plan->ctx, tz_gpu_codestream_list_bytes(run->gpu));
}

/* ---- which tiles ---- */

static bool is_for_library(const tz_gpu_run *run, const tz_gpu_tile_read *tile_read,
                           uint32_t library)
{
    const tz_wave *wave = &run->plan->wave;
    return tile_read->route == TZ_ROUTE_CODESTREAMS && tile_read->state == TZ_GPU_TILE_ROWS &&
           run->gpu->requests[wave->wanted[wave->tile_reads[tile_read->tile_read].first].request]
                   .codec == library;
}

static void fall_back(tz_gpu_run *run, tz_gpu_slot *slot, tz_gpu_tile_read *tile_read,
                      tz_gpu_fallback why)
{
    static const char *const reasons[] = {
        [TZ_GPU_FALLBACK_LOSSY] = "tiles are lossy, and tz_read_options.lossy_on_device is not set",
        [TZ_GPU_FALLBACK_STREAM] = "the streams of tiles are not what a library makes the same of",
        [TZ_GPU_FALLBACK_FAILED] = "the library could not decode some tiles"};
    const tz_tile_read *planned = &run->plan->wave.tile_reads[tile_read->tile_read];
    note_reason(run->use.library_reason, reasons[why]);
    tile_read->fallback = why;
    tile_read->route = TZ_ROUTE_CPU;
    if (!tile_read->on_host) {
        tile_read->rows = slot->upload;
        slot->upload += tz_gpu_slab_bytes(tz_tile_read_rows_bytes(run->plan, planned));
    }
    if (why == TZ_GPU_FALLBACK_FAILED)
        atomic_fetch_add_explicit(&run->redone, 1, memory_order_relaxed);
    else
        run->fallback_count++;
}

static tz_gpu_fallback examine_codestream(const tz_gpu_run *run, const tz_gpu_slot *slot,
                                          const tz_gpu_tile_read *tile_read, tz_codestream *out)
{
    const tz_plan *plan = run->plan;
    const tz_tile_read *planned = &plan->wave.tile_reads[tile_read->tile_read];
    const tz_tile_format format = tz_tile_read_format(plan, planned);
    tz_standalone_stream stream;
    if (!tz_standalone_find(&stream, &format, tz_gpu_slot_pinned(slot, tile_read->bytes),
                            (size_t)tz_tile_read_wanted(&plan->wave, planned, 0)->span.size,
                            tz_gpu_slot_pinned(slot, tile_read->stream),
                            &tz_tile_read_request(&plan->wave, planned, 0)->file->limits))
        return TZ_GPU_FALLBACK_STREAM;
    *out = (tz_codestream){.bytes = stream.bytes,
                           .size = stream.size,
                           .at = tile_read->rows,
                           .width = tz_tile_columns(&format),
                           .height = tz_tile_rows(&format),
                           .reduction = format.decode_reduction,
                           .samples = (uint8_t)format.samples,
                           .sample_bytes = (uint8_t)(format.bits / 8),
                           .is_signed = format.sample_format == 2,
                           .to_rgb = stream.to_rgb};
    return stream.is_lossy && !plan->options.lossy_on_device ? TZ_GPU_FALLBACK_LOSSY
                                                             : TZ_GPU_FALLBACK_NONE;
}

static uint64_t collect_codestreams(tz_gpu_run *run, tz_gpu_slot *slot, uint32_t library,
                                    tz_codestream *out)
{
    uint64_t count = 0;
    for (size_t i = 0; i < slot->first_empty; i++) {
        tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        if (!is_for_library(run, tile_read, library))
            continue;
        const tz_gpu_fallback why = examine_codestream(run, slot, tile_read, &out[count]);
        if (why == TZ_GPU_FALLBACK_NONE)
            count++;
        else
            fall_back(run, slot, tile_read, why);
    }
    return count;
}

/* ---- decoding ---- */

/* That the library does not take them, or has no memory, is no failure of the device. */
static tz_result decode_library_batch(tz_gpu_run *run, tz_gpu_slot *slot,
                                      const tz_codestream_batch *batch, const char *name)
{
    tz_error err;
    slot->is_busy = true; /* also when it fails: then it may be under way all the same */
    const tz_result result = tz_device_decode_codestreams(slot->queue, batch, &err);
    if (result == TZ_OK) {
        run->use.library_calls++;
        if (!run->use.library[0])
            tz_device_text(run->use.library, sizeof run->use.library, name);
        return TZ_OK;
    }
    if (result != TZ_ERR_UNSUPPORTED && result != TZ_ERR_NOMEM) {
        *run->plan->ctx.err = err;
        return result;
    }
    note_reason(run->use.library_reason, err.message);
    for (uint64_t i = 0; i < batch->count; i++)
        batch->codestreams[i].failed = true;
    return TZ_OK;
}

static void fall_back_failed(tz_gpu_run *run, tz_gpu_slot *slot, uint32_t library,
                             const tz_codestream *codestreams)
{
    for (size_t i = 0; i < slot->first_empty; i++) {
        tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
        if (is_for_library(run, tile_read, library) && codestreams++->failed)
            fall_back(run, slot, tile_read, TZ_GPU_FALLBACK_FAILED);
    }
}

tz_result tz_gpu_decode_codestreams(tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_gpu_plan *gpu = run->gpu;
    tz_codestream *next = slot->codestreams;
    note_reason(run->use.library_reason, gpu->library_reason);
    for (uint32_t i = 0; i < gpu->library_count; i++) {
        const tz_codestream_batch batch = {.compression = gpu->libraries[i].compression,
                                           .slab = slot->slab,
                                           .codestreams = next,
                                           .count = collect_codestreams(run, slot, i, next)};
        if (batch.count == 0)
            continue;
        TZ_TRY(decode_library_batch(run, slot, &batch, gpu->libraries[i].codec.name));
        fall_back_failed(run, slot, i, next);
        next += batch.count;
    }
    return TZ_OK;
}

/* ---- strictness ---- */

tz_result tz_gpu_fail_strict_codestream(const tz_gpu_run *run, const tz_gpu_slot *slot,
                                        tz_worker *worker, const tz_gpu_tile_read *tile_read,
                                        tz_error *err)
{
    const tz_plan *plan = run->plan;
    const tz_tile_read *planned = &plan->wave.tile_reads[tile_read->tile_read];
    const tz_wanted_tile *wanted = tz_tile_read_wanted(&plan->wave, planned, 0);
    const tz_planned_request *request = tz_tile_read_request(&plan->wave, planned, 0);
    tz_context ctx = tz_file_context(request->file, err);
    const tz_location place = tz_at_tile(request->level, wanted->tile, wanted->span.offset);
    ctx.ifd = request->layer.shape.ifd;
    TZ_TRY(tz_tile_decode(plan, worker, planned, tz_gpu_slot_pinned(slot, tile_read->bytes),
                          worker->output, err));
    if (tile_read->fallback == TZ_GPU_FALLBACK_FAILED)
        return tz_fail(&ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, place,
                       "the device could not decode the tile, and the CPU may not (strict_device)");
    return tz_fail(&ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, place,
                   tile_read->fallback == TZ_GPU_FALLBACK_LOSSY
                       ? "the tile is lossy, and the device decodes it with lossy_on_device only"
                       : "the tile's stream is not what a library makes the same of");
}
