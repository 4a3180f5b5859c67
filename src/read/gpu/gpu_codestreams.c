/* SPDX-License-Identifier: Apache-2.0
 * Tiles that libraries of the device decode: JPEG and JPEG 2000, whose codestreams stay in host
 * memory.
 *
 *   plan    finds the library of each request's codec and reserves its device memory
 *   batch   finds the codestream in each tile's bytes, gives all of one library to it in one call,
 *           and leaves to the CPU the tiles that are not for the library or that it could not
 * decode
 *
 * The decision that is not obvious: a plan knows which files have such tiles, but only the bytes
 * say if a tile is one for the library. So a batch has memory for both routes, and a tile that
 * falls back is decoded by the CPU in the same batch. */
#include "read/gpu/gpu_batch.h"

#include "base/mem.h"
#include "codec/standalone_stream.h"
#include "device/device_text.h"

/* ---- plans ---- */

/* Returns true if libraries may decode lossy tiles: their samples differ from the CPU's by
 * rounding.
 */
static bool allows_lossy(const tz_plan *plan)
{
    return plan->options.allow_vendor_codecs && plan->options.allow_inexact;
}

/* A library is looked for once for each compression, and again for larger tiles, which may be too
 * large for it. One that may not be used has no part in the plan, but the report says that it
 * exists. */
bool tz_gpu_codestreams_accept(tz_plan *plan, const tz_planned_request *request, uint32_t *library)
{
    tz_gpu_plan *gpu = plan->gpu;
    const tz_tile_format *format = &request->stored;
    /* as stored: a library does not say that it needs less for a lower resolution */
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    const bool may_be_used = !tz_standalone_is_lossy(format) || allows_lossy(plan);
    tz_codestream_codec codec;
    uint32_t i = 0;
    if (request->subsampled || format->fill_order == TZ_FILL_ORDER_LOW_FIRST ||
        !tz_standalone_is_possible(format))
        return false;
    while (i < gpu->library_count && gpu->libraries[i].compression != format->compression)
        i++;
    *library = i;
    if (may_be_used && i < gpu->library_count && gpu->libraries[i].samples >= samples)
        return true;
    if (may_be_used && i == TZ_GPU_CODESTREAM_LIBRARIES)
        return false;
    const bool exists =
        tz_device_find_codestream_codec(gpu->device, format->compression, false, samples, &codec);
    if (!exists || !may_be_used) {
        tz_note_reason(
            gpu->library_reason,
            exists ? "it does so for lossy ones with allow_vendor_codecs and allow_inexact only"
                   : codec.reason);
        return false;
    }
    gpu->libraries[i] = (tz_gpu_codestream_library){format->compression, samples, codec};
    gpu->library_count = tz_max_u32(gpu->library_count, i + 1);
    return true;
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
                       "%s takes more than half of the device memory",
                       gpu->libraries[0].codec.name);
    tz_device_textf(gpu->library_reason, sizeof gpu->library_reason,
                    "%s takes %llu bytes, more than half of the device memory",
                    gpu->libraries[0].codec.name, (unsigned long long)gpu->library_bytes);
    for (size_t i = 0; i < plan->request_count; i++) {
        if (gpu->requests[i].route == TZ_ROUTE_CODESTREAMS)
            gpu->requests[i].route = TZ_ROUTE_CPU;
    }
    gpu->library_count = 0;
    gpu->library_bytes = 0;
    return TZ_OK;
}

uint64_t tz_gpu_codestream_bytes(const tz_plan *plan, const tz_tile_read *tile_read)
{
    const size_t capacity = tz_standalone_buffer_size(
        &tz_tile_read_request(&plan->wave, tile_read, 0)->stored,
        (size_t)tz_tile_read_wanted(&plan->wave, tile_read, 0)->span.size);
    return capacity > 0 ? tz_gpu_slab_bytes(capacity) : 0;
}

/* ---- tiles ---- */

static bool is_for_library(const tz_gpu_run *run, const tz_gpu_tile_read *tile_read,
                           uint32_t library)
{
    const tz_tile_read *planned = tz_gpu_planned_tile_read(run->plan, tile_read);
    return tile_read->route == TZ_ROUTE_CODESTREAMS && tile_read->state == TZ_GPU_TILE_ROWS &&
           tz_gpu_request_of(run->plan, planned, 0)->codec == library;
}

/* Leaves a tile to the CPU, which decodes it to spare rows if the device stores it. */
static void fall_back(tz_gpu_run *run, tz_gpu_slot *slot, tz_gpu_tile_read *tile_read,
                      tz_gpu_fallback why)
{
    static const char *const reasons[] = {
        [TZ_GPU_FALLBACK_LOSSY] =
            "tiles are lossy, and allow_vendor_codecs or allow_inexact is not set",
        [TZ_GPU_FALLBACK_STREAM] = "a library would decode the codestreams of tiles differently",
        [TZ_GPU_FALLBACK_FAILED] = "the library could not decode some tiles"};
    const tz_tile_read *planned = tz_gpu_planned_tile_read(run->plan, tile_read);
    tz_note_reason(run->use.library_reason, reasons[why]);
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

/* Finds the codestream in a tile's bytes, which may have to be put together with shared tables. */
static tz_gpu_fallback examine_codestream(const tz_gpu_run *run, const tz_gpu_slot *slot,
                                          const tz_gpu_tile_read *tile_read, tz_codestream *out)
{
    const tz_plan *plan = run->plan;
    const tz_tile_read *planned = tz_gpu_planned_tile_read(plan, tile_read);
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
                           .decode_reduction = format.decode_reduction,
                           .samples = (uint8_t)format.samples,
                           .sample_bytes = (uint8_t)(format.bits / 8),
                           .is_signed = format.sample_format == TZ_SAMPLE_FORMAT_INT,
                           .to_rgb = stream.to_rgb};
    return stream.is_lossy && !allows_lossy(plan) ? TZ_GPU_FALLBACK_LOSSY : TZ_GPU_FALLBACK_NONE;
}

/* Libraries run one after the other in the slot's queue. The list of codestreams has no numbers of
 * tiles: the second walk over the tile reads meets those that were accepted in the same order. */
tz_result tz_gpu_decode_codestreams(tz_gpu_run *run, tz_gpu_slot *slot)
{
    const tz_gpu_plan *gpu = run->gpu;
    tz_device_use *use = &run->use;
    tz_codestream *first = slot->codestreams;
    tz_note_reason(use->library_reason, gpu->library_reason);
    for (uint32_t library = 0; library < gpu->library_count; library++) {
        tz_codestream_batch batch = {.compression = gpu->libraries[library].compression,
                                     .slab = slot->slab,
                                     .codestreams = first};
        tz_error err;
        for (size_t i = 0; i < slot->first_empty; i++) {
            tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
            if (!is_for_library(run, tile_read, library))
                continue;
            const tz_gpu_fallback why =
                examine_codestream(run, slot, tile_read, &first[batch.count]);
            if (why == TZ_GPU_FALLBACK_NONE)
                batch.count++;
            else
                fall_back(run, slot, tile_read, why);
        }
        if (batch.count == 0)
            continue;
        slot->is_busy = true; /* also if the call fails: then it may be in flight all the same */
        const tz_result result = tz_device_decode_codestreams(slot->queue, &batch, &err);
        if (result == TZ_OK) {
            use->library_calls++;
            if (!use->library[0])
                tz_device_text(use->library, sizeof use->library,
                               gpu->libraries[library].codec.name);
        } else if (result == TZ_ERR_UNSUPPORTED || result == TZ_ERR_NOMEM) {
            tz_note_reason(use->library_reason, err.message); /* not a failure of the device */
        } else {
            *run->plan->ctx.err = err;
            return result;
        }
        tz_codestream *next = first;
        for (size_t i = 0; i < slot->first_empty; i++) {
            tz_gpu_tile_read *tile_read = &slot->tile_reads[i];
            if (!is_for_library(run, tile_read, library))
                continue;
            next->failed = next->failed || result != TZ_OK;
            if (next++->failed)
                fall_back(run, slot, tile_read, TZ_GPU_FALLBACK_FAILED);
        }
        first += batch.count;
    }
    return TZ_OK;
}
