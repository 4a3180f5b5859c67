/* SPDX-License-Identifier: Apache-2.0 */
#include "read/gpu/gpu_plan.h"

#include <string.h>

#include "base/mem.h"
#include "codec/standalone_stream.h"
#include "device/cost.h"
#include "device/device_text.h"
#include "device/ops/decode.h"
#include "read/gpu/gpu_codestreams.h"
#include "read/tile.h"

tz_device_memory tz_gpu_staging;

/* Equal formats and constants are looked for among the last ones only: items of one kind follow
 * each other. */
enum { LOOK_BACK = 16 };

/* ---- lists ---- */

/* The place of an entry like this one, which may be there already; where several have to follow
 * each other, it is a new one. */
static tz_result find_or_add_entry(void **list, uint32_t *count, uint32_t *capacity, size_t size,
                                   const void *entry, bool is_new, uint32_t *out,
                                   const tz_context *ctx)
{
    for (uint32_t i = *count; !is_new && i > 0 && *count - i < LOOK_BACK; i--) {
        if (memcmp((const uint8_t *)*list + (i - 1) * size, entry, size) == 0) {
            *out = i - 1;
            return TZ_OK;
        }
    }
    if (*count == *capacity) {
        const uint32_t more = *capacity ? *capacity * 2 : 8;
        void *larger = more > *capacity ? tz_realloc_array(*list, more, size) : NULL;
        if (!larger)
            return tz_fail_nomem(ctx, tz_mul_capped(more, size));
        *list = larger;
        *capacity = more;
    }
    memcpy((uint8_t *)*list + *count * size, entry, size);
    *out = (*count)++;
    return TZ_OK;
}

static tz_result add_format(tz_gpu_plan *gpu, const tz_convert_format *format, bool is_new,
                            uint32_t *out, const tz_context *ctx)
{
    void *list = gpu->formats;
    const tz_result result = find_or_add_entry(&list, &gpu->format_count, &gpu->format_capacity,
                                               sizeof *gpu->formats, format, is_new, out, ctx);
    gpu->formats = list;
    return result;
}

static tz_result add_constant(tz_gpu_plan *gpu, const tz_gpu_constant *constant, bool is_new,
                              uint32_t *out, const tz_context *ctx)
{
    void *list = gpu->constants;
    const tz_result result = find_or_add_entry(&list, &gpu->constant_count, &gpu->constant_capacity,
                                               sizeof *gpu->constants, constant, is_new, out, ctx);
    gpu->constants = list;
    return result;
}

static bool is_compatible(tz_device_memory *a, tz_device_memory *b)
{
    return !a || !b || a == b;
}

/* Targets whose memory does not differ share a launch. */
static tz_result add_pair(tz_gpu_plan *gpu, tz_gpu_memory_pair pair, uint32_t *out,
                          const tz_context *ctx)
{
    for (uint32_t i = 0; i < gpu->pair_count; i++) {
        tz_gpu_memory_pair *known = &gpu->pairs[i];
        if (is_compatible(known->into, pair.into) && is_compatible(known->mask, pair.mask)) {
            known->into = known->into ? known->into : pair.into;
            known->mask = known->mask ? known->mask : pair.mask;
            *out = i;
            return TZ_OK;
        }
    }
    void *list = gpu->pairs;
    const tz_result result = find_or_add_entry(&list, &gpu->pair_count, &gpu->pair_capacity,
                                               sizeof pair, &pair, true, out, ctx);
    gpu->pairs = list;
    return result;
}

/* ---- targets ---- */

/* Rows as they come to be placed: see tz_tile_decode. */
static tz_row_format decoded_row_format(const tz_planned_request *request)
{
    tz_row_format row = request->row;
    if (request->subsampled) {
        row.swap = false;
        row.predictor = 1;
    }
    return row;
}

static tz_device_memory *memory_of_buffer(const tz_buffer *buffer)
{
    return buffer->memory ? buffer->memory : buffer->data ? &tz_gpu_staging : NULL;
}

static uint32_t find_codec(tz_gpu_plan *gpu, uint16_t compression)
{
    for (uint32_t i = 0; i < gpu->codec_count; i++) {
        if (gpu->codecs[i] == compression)
            return i;
    }
    if (gpu->codec_count == TZ_GPU_MAX_CODECS)
        return TZ_GPU_MAX_CODECS;
    gpu->codecs[gpu->codec_count] = compression;
    return gpu->codec_count++;
}

/* Notes the reason, for the report and for a strict read. */
static bool is_tile_too_large(tz_gpu_plan *gpu, const tz_planned_request *request)
{
    const uint64_t bytes = tz_tile_bytes(&request->tile);
    const uint64_t max_bytes =
        tz_device_max_tile(tz_device_get_info(gpu->device), request->tile.compression);
    if (bytes <= max_bytes)
        return false;
    if (request->tile_read_count > 0)
        tz_device_textf(gpu->tile_reason, sizeof gpu->tile_reason,
                        "a tile of %llu bytes takes too long in one kernel, which is given %llu at "
                        "most",
                        (unsigned long long)bytes, (unsigned long long)max_bytes);
    return true;
}

static tz_tile_route choose_route(tz_plan *plan, const tz_planned_request *request, uint32_t *codec)
{
    tz_gpu_plan *gpu = plan->gpu;
    const bool reversed = request->tile.fill_order == 2;
    if (tz_planned_request_is_raw(request))
        return reversed ? TZ_ROUTE_CPU : TZ_ROUTE_RAW;
    if (tz_gpu_codestreams_accept(plan, request, codec))
        return TZ_ROUTE_CODESTREAMS;
    if (reversed || request->subsampled ||
        tz_codec_max_input(&request->tile) > TZ_DECODE_MAX_BYTES ||
        !tz_device_decodes(gpu->device, request->tile.compression) ||
        is_tile_too_large(gpu, request))
        return TZ_ROUTE_CPU;
    *codec = find_codec(gpu, request->tile.compression);
    return *codec < TZ_GPU_MAX_CODECS ? TZ_ROUTE_DEVICE : TZ_ROUTE_CPU;
}

static bool has_interleaved_buffer(const tz_planned_request *request)
{
    const int64_t size = (int64_t)tz_dtype_size(request->into.dtype);
    return !request->planes && request->into.band_stride == size &&
           request->into.column_stride == size * request->band_count;
}

/* What one band's samples become, and what they are where there are none. */
static tz_result set_band_conversion(tz_gpu_plan *gpu, const tz_planned_request *request,
                                     tz_gpu_request *out, uint32_t band, const tz_context *ctx)
{
    const tz_row_format row = decoded_row_format(request);
    const tz_conversion how = tz_conversion_of_band(&request->conversion, request->scales, band);
    const tz_convert_format format = tz_convert_format_make(&row, &how);
    const bool is_next = band > 0;
    uint8_t missing[16];
    uint8_t valid = 255;
    uint32_t number;
    tz_gpu_constant constant = {{0}, 0, {0}};
    TZ_TRY(add_format(gpu, &format, request->scales != NULL, &number, ctx));
    out->format = is_next ? out->format : number;
    tz_planned_request_missing_sample(request, missing);
    tz_row_convert(&how, missing, 0, request->to_mask ? NULL : constant.sample, 0, 1, &valid, 0);
    constant.valid = valid != 0;
    TZ_TRY(add_constant(gpu, &constant, request->scales != NULL, &number, ctx));
    out->missing = is_next ? out->missing : number;
    return TZ_OK;
}

/* What one band's pixels are outside of the level. */
static tz_result set_outside_fill(tz_plan *plan, const tz_planned_request *request,
                                  tz_gpu_request *out, uint32_t band)
{
    tz_gpu_plan *gpu = plan->gpu;
    const tz_conversion how = tz_conversion_of_band(&request->conversion, request->scales, band);
    uint32_t number;
    tz_gpu_constant constant = {{0}, 0, {0}};
    gpu->fills = true;
    tz_outside_sample(&how, &plan->options, constant.sample);
    TZ_TRY(add_constant(gpu, &constant, request->scales != NULL, &number, &plan->ctx));
    out->fill = band > 0 ? out->fill : number;
    return TZ_OK;
}

static bool exceeds_level(const tz_planned_request *request)
{
    return request->x1 - request->x0 < request->into.width ||
           request->y1 - request->y0 < request->into.height;
}

static tz_result set_gpu_request(tz_plan *plan, const tz_planned_request *request,
                                 tz_gpu_request *out)
{
    tz_gpu_plan *gpu = plan->gpu;
    const tz_row_format row = decoded_row_format(request);
    const tz_gpu_memory_pair pair = {request->to_mask ? NULL : memory_of_buffer(&request->into),
                                     memory_of_buffer(&request->mask)};
    const uint32_t bands = request->scales ? request->band_count : 1;
    const tz_convert_format copy =
        tz_convert_format_copy((uint32_t)tz_dtype_size(request->into.dtype));
    out->route = choose_route(plan, request, &out->codec);
    out->on_device =
        (pair.into && pair.into != &tz_gpu_staging) || (pair.mask && pair.mask != &tz_gpu_staging);
    gpu->on_device = gpu->on_device || out->on_device;
    out->has_unpredict = tz_unpredict_entry_of(&row, &out->unpredict);
    out->copies_rows = request->same_rows && (tz_row_is_plain(&row) || row.predictor == 2);
    out->is_interleaved = has_interleaved_buffer(request);
    gpu->has_long_rows =
        gpu->has_long_rows || (uint64_t)request->tile.width * request->row.samples > INT32_MAX;
    TZ_TRY(add_pair(gpu, pair, &out->pair, &plan->ctx));
    TZ_TRY(add_format(gpu, &copy, false, &out->copy, &plan->ctx));
    for (uint32_t band = 0; band < bands; band++)
        TZ_TRY(set_band_conversion(gpu, request, out, band, &plan->ctx));
    if (out->copies_rows)
        out->format = out->copy;
    for (uint32_t band = 0;
         plan->options.boundless && out->on_device && exceeds_level(request) && band < bands;
         band++)
        TZ_TRY(set_outside_fill(plan, request, out, band));
    return TZ_OK;
}

static tz_result set_gpu_requests(tz_plan *plan)
{
    tz_gpu_plan *gpu = plan->gpu;
    gpu->requests = tz_arena_array(&plan->arena, plan->request_count, sizeof *gpu->requests);
    if (!gpu->requests)
        return tz_fail_nomem(&plan->ctx, plan->request_count * sizeof *gpu->requests);
    for (size_t i = 0; i < plan->request_count; i++)
        TZ_TRY(set_gpu_request(plan, &plan->requests[i], &gpu->requests[i]));
    return TZ_OK;
}

/* ---- what the device cannot do ---- */

static const char *device_id(const tz_gpu_plan *gpu)
{
    return tz_device_get_info(gpu->device)->id;
}

static tz_result fail_strict_codec(const tz_plan *plan, const tz_planned_request *request)
{
    tz_context ctx = tz_file_context(request->file, plan->ctx.err);
    const char *name = tz_compression_name(request->tile.compression);
    const char *why = tz_standalone_is_possible(&request->stored) ? plan->gpu->library_reason
                                                                  : plan->gpu->tile_reason;
    ctx.ifd = request->layer.shape.ifd;
    return tz_fail(&ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "the device %s does not decode such tiles: compression %u (%s)%s%s%s%s",
                   device_id(plan->gpu), (unsigned)request->tile.compression,
                   name ? name : "unknown", request->subsampled ? ", subsampled" : "",
                   request->tile.fill_order == 2 ? ", fill order 2" : "", why[0] ? "; " : "", why);
}

static tz_result check_strict(const tz_plan *plan)
{
    for (size_t i = 0; plan->options.strict_device && i < plan->request_count; i++) {
        if (plan->requests[i].tile_read_count > 0 && plan->gpu->requests[i].route == TZ_ROUTE_CPU)
            return fail_strict_codec(plan, &plan->requests[i]);
    }
    return TZ_OK;
}

/* Formats that the device cannot place are the cores' for all items. */
static tz_result check_formats(tz_plan *plan)
{
    const tz_gpu_plan *gpu = plan->gpu;
    const char *reason = gpu->has_long_rows ? "rows of tiles are too long for kernels" : NULL;
    for (uint32_t i = 0; !reason && i < gpu->format_count; i++) {
        if (!tz_device_converts(gpu->device, &gpu->formats[i]))
            reason = "the device has no double precision, which the samples need";
    }
    if (reason && plan->options.strict_device)
        return tz_fail(&plan->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "%s: %s", device_id(gpu), reason);
    if (reason)
        tz_gpu_plan_give_up(plan, reason);
    return TZ_OK;
}

/* Whether any tile or pixel is the device's work. */
static bool has_work(const tz_plan *plan)
{
    const tz_gpu_plan *gpu = plan->gpu;
    bool any = gpu->fills;
    for (size_t i = 0; !any && i < plan->request_count; i++)
        any = plan->requests[i].tile_read_count > 0 &&
              (gpu->requests[i].on_device || gpu->requests[i].route != TZ_ROUTE_CPU);
    return any;
}

static void drop_idle_plan(tz_plan *plan)
{
    char reason[sizeof plan->report.device.reason] = "there is nothing to decode";
    const tz_gpu_plan *gpu = plan->gpu;
    const char *more = gpu->tile_reason[0] ? gpu->tile_reason : gpu->library_reason;
    if (plan->wave.total > 0)
        tz_device_textf(reason, sizeof reason, "the device decodes no tile of these files%s%s",
                        more[0] ? ": " : "", more);
    tz_gpu_plan_drop(plan, reason);
}

/* ---- making ---- */

void tz_gpu_plan_drop(tz_plan *plan, const char *reason)
{
    tz_device_use *use = &plan->report.device;
    *use = (tz_device_use){0};
    tz_device_text(use->reason, sizeof use->reason, reason);
    tz_gpu_plan_free(plan->gpu);
    plan->gpu = NULL;
    plan->runner = TZ_RUN_CPU;
}

bool tz_device_is_gpu(const tz_device *device)
{
    return device && strcmp(tz_device_get_info(device)->driver, "cores") != 0;
}

tz_result tz_gpu_plan_make(tz_plan *plan)
{
    plan->gpu = tz_alloc_zeroed(1, sizeof *plan->gpu);
    if (!plan->gpu)
        return tz_fail_nomem(&plan->ctx, sizeof *plan->gpu);
    plan->runner = TZ_RUN_GPU;
    plan->gpu->device = plan->options.device;
    TZ_TRY(set_gpu_requests(plan));
    TZ_TRY(check_strict(plan));
    TZ_TRY(check_formats(plan));
    if (!plan->gpu)
        return TZ_OK;
    if (!has_work(plan)) {
        drop_idle_plan(plan);
        return TZ_OK;
    }
    tz_device_text(plan->report.device.id, sizeof plan->report.device.id, device_id(plan->gpu));
    tz_device_text(plan->report.device.reason, sizeof plan->report.device.reason,
                   plan->gpu->tile_reason);
    TZ_TRY(tz_direct_open(plan));
    TZ_TRY(tz_gpu_plan_set_budget(plan));
    if (plan->gpu && !has_work(plan))
        drop_idle_plan(plan);
    return TZ_OK;
}

void tz_gpu_plan_free(tz_gpu_plan *gpu)
{
    if (!gpu)
        return;
    tz_direct_close(gpu);
    tz_free(gpu->formats);
    tz_free(gpu->constants);
    tz_free(gpu->pairs);
    tz_free(gpu);
}
