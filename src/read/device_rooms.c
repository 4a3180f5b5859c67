/* SPDX-License-Identifier: Apache-2.0
 * How much memory waves of a device may take, and the one guard before any is allocated. */
#include <string.h>

#include "base/mem.h"
#include "device/cost.h"
#include "read/device_lane.h"
#include "read/device_pictures.h"

/* More memory makes no wave faster: launches are long by then. What tiles become, and what decoders
 * take beside, is several times what is sent. */
#define DEVICE_MOST ((uint64_t)512 << 20)
#define PINNED_MOST ((uint64_t)128 << 20)

/* Entries of a table for what is placed without tiles. */
enum { FILL_PLACES = 1024 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* 0 stands for no limit. */
static uint64_t limit(uint64_t value)
{
    return value ? value : UINT64_MAX;
}

/* ---- rooms ---- */

/* Of the plan's lanes: each gets a part of what there is. */
static void set_rooms(tz_plan *plan)
{
    tz_device_plan *dp = plan->device;
    const tz_device_limits *limits = &tz_device_get_info(dp->device)->limits;
    const uint64_t piece = limit(limits->max_allocation);
    const uint64_t memory = plan->options.max_memory / 2;
    dp->rooms = (tz_rooms){.device = least(dp->room / dp->lanes, piece),
                           .pinned = least(memory / dp->lanes, piece)};
    if (dp->lanes > 1) {
        dp->rooms.device = least(dp->rooms.device, DEVICE_MOST);
        dp->rooms.pinned = least(dp->rooms.pinned, PINNED_MOST);
    }
}

/* Whether the CPU does it instead: where the device has too little memory, or fails and no buffer
 * is in its memory. A limit that the caller has set stays an error. */
static bool is_left(const tz_plan *plan, tz_result result, const tz_error *failed)
{
    const bool is_full =
        tz_device_is_full(result, failed) || (result == TZ_ERR_LIMIT && !failed->limit);
    const bool is_lost = result == TZ_ERR_DEVICE && !plan->device->on_device;
    return (is_full || is_lost) && !plan->options.strict_device;
}

void tz_device_plan_give_up(tz_plan *plan, const char *reason)
{
    plan->off_device = plan->device->on_device;
    tz_device_plan_leave(plan, reason);
}

tz_result tz_device_plan_rooms(tz_plan *plan)
{
    tz_device_plan *dp = plan->device;
    tz_error failed = {.result = TZ_OK};
    uint64_t bytes = 0;
    const tz_result result = tz_device_free_memory(dp->device, &bytes, &failed);
    if (is_left(plan, result, &failed)) {
        tz_device_plan_give_up(plan, failed.message);
        return TZ_OK;
    }
    if (result != TZ_OK) {
        if (plan->ctx.err)
            *plan->ctx.err = failed;
        return result;
    }
    dp->room = least(tz_device_usable(bytes), limit(plan->options.device_bytes));
    TZ_TRY(tz_pictures_admit(plan));
    dp->lanes = TZ_QUEUES;
    set_rooms(plan);
    return TZ_OK;
}

/* ---- measuring ---- */

static void widen(tz_rooms *rooms, const tz_rooms *size)
{
    rooms->device = most(rooms->device, size->device);
    rooms->pinned = most(rooms->pinned, size->pinned);
}

/* Any tile that the device decodes may have to be decoded by the CPU after all. */
static void measure_redone(tz_plan *plan)
{
    const tz_wave *wave = &plan->wave;
    for (size_t i = 0; i < wave->fetch_count; i++) {
        for (size_t k = 0; k < wave->fetches[i].count; k++) {
            const size_t piece = wave->fetches[i].first + k;
            const tz_unit *unit = &wave->units[wave->pieces[piece].index];
            const tz_way way = tz_unit_way(plan, unit, false);
            const tz_wanted *wanted = &wave->wanted[unit->first];
            plan->device->by_cores += way == TZ_WAY_CORES && wanted->part == 0;
            if (way != TZ_WAY_DEVICE || tz_unit_on_host(plan, unit))
                continue;
            const tz_span span = {wave->pieces[piece].offset, wave->pieces[piece].size, piece, 1};
            const uint64_t nowhere = 0;
            tz_work work = {.fetches = &span, .fetch_count = 1, .by_cores = true, .at = &nowhere};
            tz_cut cut;
            (void)tz_cut_next(plan, &work, &plan->device->rooms, &cut);
            widen(&plan->device->again, &cut.layout.size);
        }
    }
}

static void count_cut(tz_device_plan *dp, tz_device_use *use, const tz_cut *cut)
{
    const bool is_active = cut->need.places > 0;
    use->waves++;
    use->uploads += is_active;
    use->upload_bytes += cut->layout.spare;
    use->tiles += cut->need.pictures;
    use->downloads += cut->layout.download > 0;
    use->download_bytes += cut->layout.download;
    use->syncs += is_active;
    use->direct_reads += cut->need.direct.reads;
    use->direct_bytes += cut->need.direct.read_bytes;
    use->bounced_bytes += cut->need.bounced;
    if (cut->need.bounced > 0)
        tz_direct_reason(use, "some reads are too small for it");
    use->launches += (is_active ? 1u : 0u) + (cut->need.undos > 0 ? 1u : 0u);
    for (uint32_t i = 0; i < dp->codec_count; i++) {
        const uint64_t tiles = cut->need.decodes[i].count;
        use->tiles += tiles;
        use->launches += tiles > 0 ? tz_decode_launches(dp->device, dp->codecs[i]) : 0;
    }
}

void tz_device_plan_measure(tz_plan *plan)
{
    tz_device_plan *dp = plan->device;
    tz_work work = tz_work_of(plan);
    tz_cut cut;
    while (tz_cut_next(plan, &work, &dp->rooms, &cut)) {
        count_cut(dp, &plan->report.device, &cut);
        widen(&dp->lane, &cut.layout.size);
        dp->again_bytes = most(dp->again_bytes, cut.layout.mirrored - cut.layout.input);
        dp->units = tz_max_size(dp->units, (size_t)cut.need.units);
        dp->fetches = tz_max_size(dp->fetches, (size_t)cut.need.fetches);
        dp->reads = tz_max_size(dp->reads, (size_t)cut.need.direct.reads);
    }
    if (dp->on_device && dp->codec_count > 0)
        dp->fetches = dp->units; /* decoded again, each tile is a fetch of its own */
    measure_redone(plan);
    plan->report.device.tiles_by_cores = dp->by_cores;
}

/* A table for what tiles do not fill. */
static void measure_fills(tz_device_plan *dp)
{
    tz_need need = {.places = FILL_PLACES};
    tz_layout layout = tz_layout_of(dp, &need);
    while (need.places > 1 &&
           (layout.size.device > dp->rooms.device || layout.size.pinned > dp->rooms.pinned)) {
        need.places /= 2;
        layout = tz_layout_of(dp, &need);
    }
    dp->fill_places = need.places;
    if (dp->on_device)
        widen(&dp->lane, &layout.size);
}

/* Pinned memory for one tile that is decoded again, beside the bytes of all others that wait. */
static void measure_again(tz_device_plan *dp)
{
    tz_rooms again = dp->again;
    if (again.device > 0)
        again.pinned = tz_add_capped(again.pinned, dp->again_bytes + TZ_CODEC_SLACK);
    widen(&dp->lane, &again);
}

/* ---- the guard ---- */

static tz_result fail_limit(const tz_plan *plan, uint64_t allowed, uint64_t needed,
                            const char *limit_name)
{
    const tz_result result = tz_fail(
        &plan->ctx, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT, tz_expecting(tz_no_location(), allowed, needed),
        "a single tile needs more memory than tz_read_options.%s allows", limit_name);
    if (plan->ctx.err)
        plan->ctx.err->limit = limit_name;
    return result;
}

static tz_result admit(const tz_plan *plan)
{
    const tz_device_plan *dp = plan->device;
    const uint64_t sizes[TZ_QUEUES + 1] = {dp->library_bytes, dp->lane.device, dp->lane.device};
    const bool has_library = dp->library_bytes > 0;
    const uint64_t bytes = plan->options.device_bytes;
    if (bytes && dp->lane.device > bytes)
        return fail_limit(plan, bytes, dp->lane.device, "device_bytes");
    if (dp->lane.device > 0)
        TZ_TRY(tz_device_admit(dp->device, sizes + !has_library, dp->lanes + has_library,
                               plan->ctx.err));
    if (dp->lane.pinned > limit(tz_device_get_info(dp->device)->limits.max_allocation))
        return tz_device_admit(dp->device, &dp->lane.pinned, 1, plan->ctx.err);
    if (dp->lane.pinned > dp->rooms.pinned)
        return fail_limit(plan, dp->rooms.pinned, dp->lane.pinned, "max_memory");
    return TZ_OK;
}

static tz_result admit_or_leave(tz_plan *plan, bool *left)
{
    tz_error failed = {.result = TZ_OK}, *err = plan->ctx.err;
    plan->ctx.err = &failed;
    const tz_result result = admit(plan);
    plan->ctx.err = err;
    *left = is_left(plan, result, &failed);
    if (*left) {
        tz_device_plan_give_up(plan, failed.message);
        return TZ_OK;
    }
    if (result != TZ_OK && err)
        *err = failed;
    return result;
}

/* A device that was not named has to be worth it. */
static bool pays(tz_plan *plan)
{
    const tz_device_plan *dp = plan->device;
    const tz_report *report = &plan->report;
    const uint16_t compression = plan->targets[0].tile.compression;
    const uint64_t pinned = dp->lane.pinned * (report->device.waves > 1 ? dp->lanes : 1);
    tz_vendor_decoder decoder;
    const tz_device_job job = {
        .bytes_compressed = report->bytes_compressed,
        .bytes_pixels = report->bytes_decoded,
        .bytes_pinned = tz_device_caches_pinned(dp->device, pinned) ? 0 : pinned,
        .tiles = report->tiles,
        .tiles_by_cores = dp->by_cores,
        .compression = compression,
        .by_library = tz_device_find_vendor_decoder(dp->device, compression, &decoder),
        .threads = plan->threads};
    char reason[sizeof report->device.reason];
    if (dp->on_device || !tz_device_is_auto(dp->device) ||
        tz_device_pays(tz_device_get_info(dp->device), &job, reason, sizeof reason))
        return true;
    tz_device_plan_leave(plan, reason);
    return false;
}

static bool is_too_large(const tz_device_plan *dp)
{
    return dp->lane.device > dp->rooms.device || dp->lane.pinned > dp->rooms.pinned;
}

static void measure_anew(tz_plan *plan)
{
    tz_device_plan *dp = plan->device;
    dp->lane = (tz_rooms){0};
    dp->again = (tz_rooms){0};
    dp->again_bytes = 0;
    dp->units = 0;
    dp->fetches = 0;
    dp->reads = 0;
    dp->by_cores = 0;
    set_rooms(plan);
}

tz_result tz_device_plan_fit(tz_plan *plan, bool *again)
{
    tz_device_plan *dp = plan->device;
    *again = !pays(plan);
    if (*again)
        return TZ_OK;
    measure_fills(dp);
    measure_again(dp);
    if (is_too_large(dp) && (plan->fetch_size > 1 || dp->lanes > 1)) {
        dp->lanes = plan->fetch_size > 1 ? dp->lanes : 1;
        plan->fetch_size = 1;
        measure_anew(plan);
        *again = true;
        return TZ_OK;
    }
    if (plan->report.device.waves <= 1)
        dp->lanes = 1;
    TZ_TRY(admit_or_leave(plan, again));
    if (!*again)
        plan->report.device.memory = dp->library_bytes + dp->lanes * dp->lane.device;
    return TZ_OK;
}

bool tz_device_plan_shrink(tz_plan *plan)
{
    tz_device_plan *dp = plan->device;
    const uint64_t held = dp->lanes * dp->lane.device;
    dp->room = held / 2;
    dp->lanes = TZ_QUEUES;
    measure_anew(plan);
    if (tz_plan_measure(plan) != TZ_OK || !plan->device)
        return false;
    return dp->lanes * dp->lane.device < held;
}

uint64_t tz_device_plan_host_bytes(const tz_device_plan *dp)
{
    const uint64_t lists = dp->format_room * sizeof *dp->formats +
                           dp->constant_room * sizeof *dp->constants +
                           dp->file_room * sizeof *dp->files + dp->pair_room * sizeof *dp->pairs;
    return lists + dp->lanes * tz_add_capped(dp->lane.pinned, tz_lane_host_bytes(dp));
}
