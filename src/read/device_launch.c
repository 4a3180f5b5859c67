/* SPDX-License-Identifier: Apache-2.0
 * The calls of a wave: one upload, a launch for each codec (or a library's call and the launches
 * that it takes), one for all differences, one for each pair of memories, one download. */
#include <string.h>

#include "device/ops/decode.h"
#include "read/device_lane.h"

static void count_decode(tz_device_use *use, const tz_decode_report *done)
{
    use->launches += done->launches;
    use->library_calls += done->library[0] != '\0';
    if (!use->library[0])
        memcpy(use->library, done->library, sizeof use->library);
    if (!use->library_reason[0])
        memcpy(use->library_reason, done->reason, sizeof use->library_reason);
}
_Static_assert(sizeof((tz_device_use *)0)->library == sizeof((tz_decode_report *)0)->library &&
                   sizeof((tz_device_use *)0)->library_reason ==
                       sizeof((tz_decode_report *)0)->reason,
               "texts are copied");

static tz_result launch_decodes(tz_device_run *run, const tz_lane *lane)
{
    const tz_layout *l = &lane->cut.layout;
    for (uint32_t i = 0; i < run->dp->codec_count; i++) {
        const tz_decode_batch batch = {
            .compression = run->dp->codecs[i],
            .slab = lane->slab,
            .tiles = (const tz_decode_entry *)(const void *)tz_lane_pinned(lane, l->decodes[i]),
            .count = lane->decode_counts[i],
            .table = l->decodes[i],
            .statuses = l->statuses + lane->first_status[i] * sizeof(uint32_t),
            .scratch = l->scratch[i],
            .stored = lane->read_count == 0 ? tz_lane_pinned(lane, 0) : NULL};
        if (batch.count == 0)
            continue;
        tz_decode_report done;
        TZ_TRY(tz_decode_launch(&batch, lane->queue, &done, run->plan->ctx.err));
        count_decode(&run->use, &done);
    }
    return TZ_OK;
}

static tz_result launch_undo(tz_device_run *run, const tz_lane *lane)
{
    const uint64_t table = lane->cut.layout.undos;
    const tz_unpredict_batch batch = {
        .slab = lane->slab,
        .entries = (const tz_unpredict_entry *)(const void *)tz_lane_pinned(lane, table),
        .table = table,
        .count = lane->undo_count};
    if (batch.count == 0)
        return TZ_OK;
    TZ_TRY(tz_unpredict_launch(&batch, lane->queue, run->plan->ctx.err));
    run->use.launches++;
    return TZ_OK;
}

static tz_device_memory *memory_of(const tz_lane *lane, tz_device_memory *memory)
{
    return memory == &tz_on_host ? lane->slab : memory;
}

static tz_result launch_pair(tz_device_run *run, const tz_lane *lane, uint32_t pair, uint64_t first,
                             uint64_t count)
{
    const tz_layout *l = &lane->cut.layout;
    const uint64_t table = l->places + first * sizeof(tz_convert_entry);
    const tz_convert_batch batch = {
        .slab = lane->slab,
        .formats = l->formats,
        .format_count = run->dp->format_count,
        .format_table = (const tz_convert_format *)(const void *)tz_lane_pinned(lane, l->formats),
        .entries = (const tz_convert_entry *)(const void *)tz_lane_pinned(lane, table),
        .table = table,
        .count = count,
        .into = memory_of(lane, run->dp->pairs[pair].into),
        .mask = memory_of(lane, run->dp->pairs[pair].mask)};
    if (count == 0)
        return TZ_OK;
    TZ_TRY(tz_convert_launch(&batch, lane->queue, run->plan->ctx.err));
    run->use.launches++;
    return TZ_OK;
}

static tz_result launch_places(tz_device_run *run, const tz_lane *lane)
{
    uint64_t first = 0;
    for (uint32_t i = 0; i < run->dp->pair_count; i++) {
        TZ_TRY(launch_pair(run, lane, i, first, lane->pair_ends[i] - first));
        first = lane->pair_ends[i];
    }
    return TZ_OK;
}

static tz_result upload(tz_device_run *run, tz_lane *lane)
{
    const uint64_t size = lane->upload;
    lane->is_busy = true; /* also when it fails: then it may be under way all the same */
    TZ_TRY(
        tz_device_upload(lane->queue, lane->slab, 0, lane->pinned->host, size, run->plan->ctx.err));
    run->use.uploads++;
    run->use.upload_bytes += size;
    return TZ_OK;
}

static tz_result download(tz_device_run *run, const tz_lane *lane)
{
    const tz_layout *l = &lane->cut.layout;
    if (l->download == 0)
        return TZ_OK;
    TZ_TRY(tz_device_download(lane->queue, tz_lane_pinned(lane, l->mirrored), lane->slab,
                              l->statuses, l->download, run->plan->ctx.err));
    run->use.downloads++;
    run->use.download_bytes += l->download;
    return TZ_OK;
}

tz_result tz_lane_launch(tz_device_run *run, tz_lane *lane)
{
    TZ_TRY(upload(run, lane));
    TZ_TRY(launch_decodes(run, lane));
    TZ_TRY(launch_undo(run, lane));
    TZ_TRY(launch_places(run, lane));
    return download(run, lane);
}
