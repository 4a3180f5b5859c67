/* SPDX-License-Identifier: Apache-2.0 */
#include "read/device_pictures.h"

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

static bool find_library(tz_device_plan *dp, uint16_t compression, uint64_t samples, uint32_t *out)
{
    uint32_t i = 0;
    while (i < dp->library_count && dp->libraries[i].compression != compression)
        i++;
    if (i == TZ_PICTURE_LIBRARIES)
        return false;
    tz_picture_library *library = &dp->libraries[i];
    *out = i;
    if (i < dp->library_count && library->samples >= samples)
        return true;
    tz_codestream_codec is;
    if (!tz_device_find_codestream_codec(dp->device, compression, false, samples, &is)) {
        note_reason(dp->library_reason, is.reason);
        return false;
    }
    *library = (tz_picture_library){compression, samples, is};
    dp->library_count = i < dp->library_count ? dp->library_count : i + 1;
    return true;
}

/* A library that is not to be used has no part in the plan; that there is one is told. */
static void note_lossy(tz_device_plan *dp, uint16_t compression, uint64_t samples)
{
    tz_codestream_codec is;
    const bool there =
        tz_device_find_codestream_codec(dp->device, compression, false, samples, &is);
    note_reason(dp->library_reason,
                there ? "it does so for lossy ones with lossy_on_device only" : is.reason);
}

bool tz_pictures_take(tz_plan *plan, const tz_target *target, uint32_t *library)
{
    tz_device_plan *dp = plan->device;
    const tz_tile_format *format = &target->stored;
    /* as stored: what a library needs for a lower resolution is not said to be less */
    const uint64_t samples = (uint64_t)format->width * format->height * format->samples;
    if (target->subsampled || format->fill_order == 2 || !tz_standalone_is_possible(format))
        return false;
    if (!tz_standalone_is_lossy(format) || plan->options.lossy_on_device)
        return find_library(dp, format->compression, samples, library);
    note_lossy(dp, format->compression, samples);
    return false;
}

/* ---- memory ---- */

static void leave_all(tz_plan *plan)
{
    tz_device_plan *dp = plan->device;
    for (size_t i = 0; i < plan->target_count; i++) {
        if (dp->targets[i].way == TZ_WAY_PICTURES)
            dp->targets[i].way = TZ_WAY_CORES;
    }
    dp->library_count = 0;
    dp->library_bytes = 0;
}

tz_result tz_pictures_admit(tz_plan *plan)
{
    tz_device_plan *dp = plan->device;
    for (uint32_t i = 0; i < dp->library_count; i++)
        dp->library_bytes = tz_add_capped(dp->library_bytes, dp->libraries[i].is.bytes);
    if (dp->library_bytes <= dp->room / 2) {
        dp->room -= dp->library_bytes;
        return TZ_OK;
    }
    if (plan->options.strict_device)
        return tz_fail(&plan->ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                       tz_expecting(tz_no_location(), dp->room / 2, dp->library_bytes),
                       "%s takes more memory than half of what there is of the device",
                       dp->libraries[0].is.name);
    tz_device_textf(dp->library_reason, sizeof dp->library_reason,
                    "%s takes %llu bytes, more than half of what there is of the device",
                    dp->libraries[0].is.name, (unsigned long long)dp->library_bytes);
    leave_all(plan);
    return TZ_OK;
}

uint64_t tz_picture_stream_bytes(const tz_plan *plan, const tz_unit *unit)
{
    const size_t room = tz_standalone_buffer_size(&tz_unit_target(plan, unit)->stored,
                                                  (size_t)plan->wave.wanted[unit->first].span.size);
    return room > 0 ? tz_slab_part(room) : 0;
}

void tz_pictures_need(const tz_plan *plan, const tz_unit *unit, tz_need *need)
{
    need->pictures++;
    need->rows += tz_slab_part(tz_unit_decoded_bytes(plan, unit));
    need->streams += tz_picture_stream_bytes(plan, unit);
    if (!tz_unit_on_host(plan, unit))
        need->spare += tz_slab_part(tz_unit_rows_bytes(plan, unit));
}

static size_t most_pictures(const tz_device_plan *dp)
{
    return dp->library_count > 0 ? dp->units : 0;
}

uint64_t tz_lane_pictures_bytes(const tz_device_plan *dp)
{
    return tz_mul_capped(most_pictures(dp), sizeof(tz_codestream));
}

tz_result tz_lane_pictures_init(const tz_device_run *run, tz_lane *lane)
{
    const size_t count = most_pictures(run->dp);
    if (count == 0)
        return TZ_OK;
    lane->pictures = tz_alloc_array(count, sizeof *lane->pictures);
    return lane->pictures ? TZ_OK : tz_fail_nomem(&run->plan->ctx, tz_lane_pictures_bytes(run->dp));
}

/* ---- which tiles ---- */

static bool is_of(const tz_device_run *run, const tz_lane_unit *unit, uint32_t library)
{
    const tz_wave *wave = &run->plan->wave;
    return unit->way == TZ_WAY_PICTURES && unit->state == TZ_LANE_ROWS &&
           run->dp->targets[wave->wanted[wave->units[unit->unit].first].target].codec == library;
}

static void leave(tz_device_run *run, tz_lane *lane, tz_lane_unit *unit, tz_left why)
{
    static const char *const reasons[] = {
        [TZ_LEFT_LOSSY] = "tiles are lossy, and tz_read_options.lossy_on_device is not set",
        [TZ_LEFT_OTHER] = "the streams of tiles are not what a library makes the same of",
        [TZ_LEFT_FAILED] = "the library could not decode some tiles"};
    const tz_unit *planned = &run->plan->wave.units[unit->unit];
    note_reason(run->use.library_reason, reasons[why]);
    unit->left = why;
    unit->way = TZ_WAY_CORES;
    if (!unit->on_host) {
        unit->rows = lane->upload;
        lane->upload += tz_slab_part(tz_unit_rows_bytes(run->plan, planned));
    }
    if (why == TZ_LEFT_FAILED)
        atomic_fetch_add_explicit(&run->redone, 1, memory_order_relaxed);
    else
        run->left++;
}

static tz_left examine(const tz_device_run *run, const tz_lane *lane, const tz_lane_unit *unit,
                       tz_codestream *out)
{
    const tz_plan *plan = run->plan;
    const tz_unit *planned = &plan->wave.units[unit->unit];
    const tz_tile_format format = tz_unit_format(plan, planned);
    tz_standalone_stream stream;
    if (!tz_standalone_find(&stream, &format, tz_lane_pinned(lane, unit->bytes),
                            (size_t)plan->wave.wanted[planned->first].span.size,
                            tz_lane_pinned(lane, unit->stream),
                            &tz_unit_target(plan, planned)->file->limits))
        return TZ_LEFT_OTHER;
    *out = (tz_codestream){.bytes = stream.bytes,
                           .size = stream.size,
                           .at = unit->rows,
                           .width = tz_tile_columns(&format),
                           .height = tz_tile_rows(&format),
                           .reduction = format.reduction,
                           .samples = (uint8_t)format.samples,
                           .sample_bytes = (uint8_t)(format.bits / 8),
                           .is_signed = format.sample_format == 2,
                           .to_rgb = stream.to_rgb};
    return stream.is_lossy && !plan->options.lossy_on_device ? TZ_LEFT_LOSSY : TZ_LEFT_NOT;
}

static uint64_t collect(tz_device_run *run, tz_lane *lane, uint32_t library, tz_codestream *out)
{
    uint64_t count = 0;
    for (size_t i = 0; i < lane->first_empty; i++) {
        tz_lane_unit *unit = &lane->units[i];
        if (!is_of(run, unit, library))
            continue;
        const tz_left why = examine(run, lane, unit, &out[count]);
        if (why == TZ_LEFT_NOT)
            count++;
        else
            leave(run, lane, unit, why);
    }
    return count;
}

/* ---- decoding ---- */

/* That the library does not take them, or has no memory, is no failure of the device. */
static tz_result decode(tz_device_run *run, tz_lane *lane, const tz_codestream_batch *batch,
                        const char *name)
{
    tz_error err;
    lane->is_busy = true; /* also when it fails: then it may be under way all the same */
    const tz_result result = tz_device_decode_codestreams(lane->queue, batch, &err);
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
        batch->pictures[i].failed = true;
    return TZ_OK;
}

static void leave_failed(tz_device_run *run, tz_lane *lane, uint32_t library,
                         const tz_codestream *pictures)
{
    for (size_t i = 0; i < lane->first_empty; i++) {
        tz_lane_unit *unit = &lane->units[i];
        if (is_of(run, unit, library) && pictures++->failed)
            leave(run, lane, unit, TZ_LEFT_FAILED);
    }
}

tz_result tz_lane_pictures(tz_device_run *run, tz_lane *lane)
{
    const tz_device_plan *dp = run->dp;
    tz_codestream *next = lane->pictures;
    note_reason(run->use.library_reason, dp->library_reason);
    for (uint32_t i = 0; i < dp->library_count; i++) {
        const tz_codestream_batch batch = {.compression = dp->libraries[i].compression,
                                           .slab = lane->slab,
                                           .pictures = next,
                                           .count = collect(run, lane, i, next)};
        if (batch.count == 0)
            continue;
        TZ_TRY(decode(run, lane, &batch, dp->libraries[i].is.name));
        leave_failed(run, lane, i, next);
        next += batch.count;
    }
    return TZ_OK;
}

/* ---- strictness ---- */

tz_result tz_picture_refuse(const tz_device_run *run, const tz_lane *lane, tz_worker *worker,
                            const tz_lane_unit *unit, tz_error *err)
{
    const tz_plan *plan = run->plan;
    const tz_unit *planned = &plan->wave.units[unit->unit];
    const tz_wanted *wanted = &plan->wave.wanted[planned->first];
    const tz_target *target = tz_unit_target(plan, planned);
    tz_context ctx = tz_file_context(target->file, err);
    const tz_location place = tz_at_tile(target->level, wanted->tile, wanted->span.offset);
    ctx.ifd = target->layer.shape.ifd;
    TZ_TRY(tz_tile_decode(plan, worker, planned, tz_lane_pinned(lane, unit->bytes), worker->output,
                          err));
    if (unit->left == TZ_LEFT_FAILED)
        return tz_fail(&ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, place,
                       "the device could not decode the tile, and the cores are not to");
    return tz_fail(&ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, place,
                   unit->left == TZ_LEFT_LOSSY
                       ? "the tile is lossy, and the device decodes it with lossy_on_device only"
                       : "the tile's stream is not what a library makes the same of");
}
