/* SPDX-License-Identifier: Apache-2.0 */
#include "read/device_plan.h"

#include <string.h>

#include "base/mem.h"
#include "codec/standalone_stream.h"
#include "device/cost.h"
#include "device/device_text.h"
#include "device/ops/decode.h"
#include "read/device_pictures.h"
#include "read/tile.h"
#include "tiff/compression.h"

tz_device_memory tz_on_host;

/* Equal formats and constants are looked for among the last ones only: items of one kind follow
 * each other. */
enum { LOOK_BACK = 16 };

/* ---- lists ---- */

/* The place of an entry like this one, which may be there already; where several have to follow
 * each other, it is a new one. */
static tz_result add_to(void **list, uint32_t *count, uint32_t *room, size_t size,
                        const void *entry, bool is_new, uint32_t *out, const tz_context *ctx)
{
    for (uint32_t i = *count; !is_new && i > 0 && *count - i < LOOK_BACK; i--) {
        if (memcmp((const uint8_t *)*list + (i - 1) * size, entry, size) == 0) {
            *out = i - 1;
            return TZ_OK;
        }
    }
    if (*count == *room) {
        const uint32_t more = *room ? *room * 2 : 8;
        void *larger = more > *room ? tz_realloc_array(*list, more, size) : NULL;
        if (!larger)
            return tz_fail_nomem(ctx, tz_mul_capped(more, size));
        *list = larger;
        *room = more;
    }
    memcpy((uint8_t *)*list + *count * size, entry, size);
    *out = (*count)++;
    return TZ_OK;
}

static tz_result add_format(tz_device_plan *dp, const tz_convert_format *format, bool is_new,
                            uint32_t *out, const tz_context *ctx)
{
    void *list = dp->formats;
    const tz_result result = add_to(&list, &dp->format_count, &dp->format_room, sizeof *dp->formats,
                                    format, is_new, out, ctx);
    dp->formats = list;
    return result;
}

static tz_result add_constant(tz_device_plan *dp, const tz_constant *constant, bool is_new,
                              uint32_t *out, const tz_context *ctx)
{
    void *list = dp->constants;
    const tz_result result = add_to(&list, &dp->constant_count, &dp->constant_room,
                                    sizeof *dp->constants, constant, is_new, out, ctx);
    dp->constants = list;
    return result;
}

static bool goes_with(tz_device_memory *a, tz_device_memory *b)
{
    return !a || !b || a == b;
}

/* Targets whose memory does not differ share a launch. */
static tz_result add_pair(tz_device_plan *dp, tz_place_pair pair, uint32_t *out,
                          const tz_context *ctx)
{
    for (uint32_t i = 0; i < dp->pair_count; i++) {
        tz_place_pair *known = &dp->pairs[i];
        if (goes_with(known->into, pair.into) && goes_with(known->mask, pair.mask)) {
            known->into = known->into ? known->into : pair.into;
            known->mask = known->mask ? known->mask : pair.mask;
            *out = i;
            return TZ_OK;
        }
    }
    void *list = dp->pairs;
    const tz_result result =
        add_to(&list, &dp->pair_count, &dp->pair_room, sizeof pair, &pair, true, out, ctx);
    dp->pairs = list;
    return result;
}

/* ---- targets ---- */

/* Rows as they come to be placed: see tz_tile_decode. */
static tz_row_format row_of(const tz_target *target)
{
    tz_row_format row = target->row;
    if (target->subsampled) {
        row.swap = false;
        row.predictor = 1;
    }
    return row;
}

static tz_device_memory *place_of(const tz_buffer *buffer)
{
    return buffer->memory ? buffer->memory : buffer->data ? &tz_on_host : NULL;
}

static uint32_t find_codec(tz_device_plan *dp, uint16_t compression)
{
    for (uint32_t i = 0; i < dp->codec_count; i++) {
        if (dp->codecs[i] == compression)
            return i;
    }
    if (dp->codec_count == TZ_DEVICE_CODECS)
        return TZ_DEVICE_CODECS;
    dp->codecs[dp->codec_count] = compression;
    return dp->codec_count++;
}

/* Notes the reason, for the report and for a strict read. */
static bool is_too_large(tz_device_plan *dp, const tz_target *target)
{
    const uint64_t bytes = tz_tile_bytes(&target->tile);
    const uint64_t most =
        tz_device_max_tile(tz_device_get_info(dp->device), target->tile.compression);
    if (bytes <= most)
        return false;
    if (target->unit_count > 0)
        tz_device_textf(dp->tile_reason, sizeof dp->tile_reason,
                        "a tile of %llu bytes takes too long in one kernel, which is given %llu at "
                        "most",
                        (unsigned long long)bytes, (unsigned long long)most);
    return true;
}

static tz_way way_of(tz_plan *plan, const tz_target *target, uint32_t *codec)
{
    tz_device_plan *dp = plan->device;
    const bool turned = target->tile.fill_order == 2;
    if (tz_target_is_raw(target))
        return turned ? TZ_WAY_CORES : TZ_WAY_RAW;
    if (tz_pictures_take(plan, target, codec))
        return TZ_WAY_PICTURES;
    if (turned || target->subsampled || tz_codec_max_input(&target->tile) > TZ_DECODE_MAX_BYTES ||
        !tz_device_decodes(dp->device, target->tile.compression) || is_too_large(dp, target))
        return TZ_WAY_CORES;
    *codec = find_codec(dp, target->tile.compression);
    return *codec < TZ_DEVICE_CODECS ? TZ_WAY_DEVICE : TZ_WAY_CORES;
}

static bool is_interleaved(const tz_target *target)
{
    const int64_t size = (int64_t)tz_dtype_size(target->into.dtype);
    return !target->planes && target->into.band_stride == size &&
           target->into.column_stride == size * target->band_count;
}

/* What one band's samples become, and what they are where there are none. */
static tz_result set_band(tz_device_plan *dp, const tz_target *target, tz_device_target *out,
                          uint32_t band, const tz_context *ctx)
{
    const tz_row_format row = row_of(target);
    const tz_conversion how = tz_placement_of_band(&target->how, target->scales, band);
    const tz_convert_format format = tz_convert_format_make(&row, &how);
    const bool is_next = band > 0;
    uint8_t missing[16];
    uint8_t valid = 255;
    uint32_t number;
    tz_constant constant = {{0}, 0, {0}};
    TZ_TRY(add_format(dp, &format, target->scales != NULL, &number, ctx));
    out->format = is_next ? out->format : number;
    tz_target_missing_sample(target, missing);
    tz_row_convert(&how, missing, 0, target->to_mask ? NULL : constant.sample, 0, 1, &valid, 0);
    constant.valid = valid != 0;
    TZ_TRY(add_constant(dp, &constant, target->scales != NULL, &number, ctx));
    out->missing = is_next ? out->missing : number;
    return TZ_OK;
}

/* What one band's pixels are outside of the level. */
static tz_result set_fill(tz_plan *plan, const tz_target *target, tz_device_target *out,
                          uint32_t band)
{
    tz_device_plan *dp = plan->device;
    const tz_conversion how = tz_placement_of_band(&target->how, target->scales, band);
    uint32_t number;
    tz_constant constant = {{0}, 0, {0}};
    dp->fills = true;
    tz_outside_sample(&how, &plan->options, constant.sample);
    TZ_TRY(add_constant(dp, &constant, target->scales != NULL, &number, &plan->ctx));
    out->fill = band > 0 ? out->fill : number;
    return TZ_OK;
}

static bool reaches_out(const tz_target *target)
{
    return target->x1 - target->x0 < target->into.width ||
           target->y1 - target->y0 < target->into.height;
}

static tz_result set_target(tz_plan *plan, const tz_target *target, tz_device_target *out)
{
    tz_device_plan *dp = plan->device;
    const tz_row_format row = row_of(target);
    const tz_place_pair pair = {target->to_mask ? NULL : place_of(&target->into),
                                place_of(&target->mask)};
    const uint32_t bands = target->scales ? target->band_count : 1;
    const tz_convert_format copy =
        tz_convert_format_copy((uint32_t)tz_dtype_size(target->into.dtype));
    out->way = way_of(plan, target, &out->codec);
    out->on_device =
        (pair.into && pair.into != &tz_on_host) || (pair.mask && pair.mask != &tz_on_host);
    dp->on_device = dp->on_device || out->on_device;
    out->has_undo = tz_unpredict_entry_of(&row, &out->undo);
    out->whole = target->same_rows && (tz_row_is_plain(&row) || row.predictor == 2);
    out->has_pixels = is_interleaved(target);
    dp->has_long_rows =
        dp->has_long_rows || (uint64_t)target->tile.width * target->row.samples > INT32_MAX;
    TZ_TRY(add_pair(dp, pair, &out->pair, &plan->ctx));
    TZ_TRY(add_format(dp, &copy, false, &out->copy, &plan->ctx));
    for (uint32_t band = 0; band < bands; band++)
        TZ_TRY(set_band(dp, target, out, band, &plan->ctx));
    if (out->whole)
        out->format = out->copy;
    for (uint32_t band = 0;
         plan->options.boundless && out->on_device && reaches_out(target) && band < bands; band++)
        TZ_TRY(set_fill(plan, target, out, band));
    return TZ_OK;
}

static tz_result set_targets(tz_plan *plan)
{
    tz_device_plan *dp = plan->device;
    dp->targets = tz_arena_array(&plan->arena, plan->target_count, sizeof *dp->targets);
    if (!dp->targets)
        return tz_fail_nomem(&plan->ctx, plan->target_count * sizeof *dp->targets);
    for (size_t i = 0; i < plan->target_count; i++)
        TZ_TRY(set_target(plan, &plan->targets[i], &dp->targets[i]));
    return TZ_OK;
}

/* ---- what the device cannot do ---- */

static const char *id_of(const tz_device_plan *dp)
{
    return tz_device_get_info(dp->device)->id;
}

static tz_result refuse_codec(const tz_plan *plan, const tz_target *target)
{
    tz_context ctx = tz_file_context(target->file, plan->ctx.err);
    const char *name = tz_compression_name(target->tile.compression);
    const char *why = tz_standalone_is_possible(&target->stored) ? plan->device->library_reason
                                                                 : plan->device->tile_reason;
    ctx.ifd = target->layer.shape.ifd;
    return tz_fail(&ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "the device %s does not decode such tiles: compression %u (%s)%s%s%s%s",
                   id_of(plan->device), (unsigned)target->tile.compression, name ? name : "unknown",
                   target->subsampled ? ", subsampled" : "",
                   target->tile.fill_order == 2 ? ", fill order 2" : "", why[0] ? "; " : "", why);
}

static tz_result check_strict(const tz_plan *plan)
{
    for (size_t i = 0; plan->options.strict_device && i < plan->target_count; i++) {
        if (plan->targets[i].unit_count > 0 && plan->device->targets[i].way == TZ_WAY_CORES)
            return refuse_codec(plan, &plan->targets[i]);
    }
    return TZ_OK;
}

/* Formats that the device cannot place are the cores' for all items. */
static tz_result check_formats(tz_plan *plan)
{
    const tz_device_plan *dp = plan->device;
    const char *reason = dp->has_long_rows ? "rows of tiles are too long for kernels" : NULL;
    for (uint32_t i = 0; !reason && i < dp->format_count; i++) {
        if (!tz_device_converts(dp->device, &dp->formats[i]))
            reason = "the device has no double precision, which the samples need";
    }
    if (reason && plan->options.strict_device)
        return tz_fail(&plan->ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "%s: %s", id_of(dp), reason);
    if (reason)
        tz_device_plan_give_up(plan, reason);
    return TZ_OK;
}

/* Whether any tile or pixel is the device's work. */
static bool has_work(const tz_plan *plan)
{
    const tz_device_plan *dp = plan->device;
    bool any = dp->fills;
    for (size_t i = 0; !any && i < plan->target_count; i++)
        any = plan->targets[i].unit_count > 0 &&
              (dp->targets[i].on_device || dp->targets[i].way != TZ_WAY_CORES);
    return any;
}

static void leave_idle(tz_plan *plan)
{
    char reason[sizeof plan->report.device.reason] = "there is nothing to decode";
    const tz_device_plan *dp = plan->device;
    const char *more = dp->tile_reason[0] ? dp->tile_reason : dp->library_reason;
    if (plan->unit_count > 0)
        tz_device_textf(reason, sizeof reason, "the device decodes no tile of these files%s%s",
                        more[0] ? ": " : "", more);
    tz_device_plan_leave(plan, reason);
}

/* ---- making ---- */

void tz_device_plan_leave(tz_plan *plan, const char *reason)
{
    tz_device_use *use = &plan->report.device;
    *use = (tz_device_use){0};
    tz_device_text(use->reason, sizeof use->reason, reason);
    tz_device_plan_free(plan->device);
    plan->device = NULL;
}

bool tz_device_works(const tz_device *device)
{
    return device && strcmp(tz_device_get_info(device)->driver, "cores") != 0;
}

tz_result tz_device_plan_make(tz_plan *plan)
{
    plan->device = tz_alloc_zeroed(1, sizeof *plan->device);
    if (!plan->device)
        return tz_fail_nomem(&plan->ctx, sizeof *plan->device);
    plan->device->device = plan->options.device;
    TZ_TRY(set_targets(plan));
    TZ_TRY(check_strict(plan));
    TZ_TRY(check_formats(plan));
    if (!plan->device)
        return TZ_OK;
    if (!has_work(plan)) {
        leave_idle(plan);
        return TZ_OK;
    }
    tz_device_text(plan->report.device.id, sizeof plan->report.device.id, id_of(plan->device));
    tz_device_text(plan->report.device.reason, sizeof plan->report.device.reason,
                   plan->device->tile_reason);
    TZ_TRY(tz_direct_open(plan));
    TZ_TRY(tz_device_plan_rooms(plan));
    if (plan->device && !has_work(plan))
        leave_idle(plan);
    return TZ_OK;
}

void tz_device_plan_free(tz_device_plan *dp)
{
    if (!dp)
        return;
    tz_direct_close(dp);
    tz_free(dp->formats);
    tz_free(dp->constants);
    tz_free(dp->pairs);
    tz_free(dp);
}
