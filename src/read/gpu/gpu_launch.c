/* SPDX-License-Identifier: Apache-2.0
 * The calls of a wave: one upload, a launch for each codec (or a library's call and the launches
 * that it takes), one for all differences, one for each pair of memories, one download. */
#include <string.h>

#include "device/ops/decode.h"
#include "read/gpu/gpu_slot.h"

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

static tz_result launch_decodes(tz_gpu_run *run, const tz_gpu_slot *slot)
{
    const tz_gpu_layout *l = &slot->batch.layout;
    for (uint32_t i = 0; i < run->gpu->codec_count; i++) {
        const tz_decode_batch batch = {
            .compression = run->gpu->codecs[i],
            .slab = slot->slab,
            .tiles = (const tz_decode_entry *)(const void *)tz_gpu_slot_pinned(slot, l->decodes[i]),
            .count = slot->decode_counts[i],
            .table = l->decodes[i],
            .statuses = l->statuses + slot->first_status[i] * sizeof(uint32_t),
            .scratch = l->scratch[i],
            .stored = slot->read_count == 0 ? tz_gpu_slot_pinned(slot, 0) : NULL};
        if (batch.count == 0)
            continue;
        tz_decode_report done;
        TZ_TRY(tz_decode_launch(&batch, slot->queue, &done, run->plan->ctx.err));
        count_decode(&run->use, &done);
    }
    return TZ_OK;
}

static tz_result launch_unpredict(tz_gpu_run *run, const tz_gpu_slot *slot)
{
    const uint64_t table = slot->batch.layout.unpredicts;
    const tz_unpredict_batch batch = {
        .slab = slot->slab,
        .entries = (const tz_unpredict_entry *)(const void *)tz_gpu_slot_pinned(slot, table),
        .table = table,
        .count = slot->unpredict_count};
    if (batch.count == 0)
        return TZ_OK;
    TZ_TRY(tz_unpredict_launch(&batch, slot->queue, run->plan->ctx.err));
    run->use.launches++;
    return TZ_OK;
}

static tz_device_memory *staging_or_memory(const tz_gpu_slot *slot, tz_device_memory *memory)
{
    return memory == &tz_gpu_staging ? slot->slab : memory;
}

static tz_result launch_conversion(tz_gpu_run *run, const tz_gpu_slot *slot, uint32_t pair,
                                   uint64_t first, uint64_t count)
{
    const tz_gpu_layout *l = &slot->batch.layout;
    const uint64_t table = l->conversions + first * sizeof(tz_convert_entry);
    const tz_convert_batch batch = {
        .slab = slot->slab,
        .formats = l->formats,
        .format_count = run->gpu->format_count,
        .format_table =
            (const tz_convert_format *)(const void *)tz_gpu_slot_pinned(slot, l->formats),
        .entries = (const tz_convert_entry *)(const void *)tz_gpu_slot_pinned(slot, table),
        .table = table,
        .count = count,
        .into = staging_or_memory(slot, run->gpu->pairs[pair].into),
        .mask = staging_or_memory(slot, run->gpu->pairs[pair].mask)};
    if (count == 0)
        return TZ_OK;
    TZ_TRY(tz_convert_launch(&batch, slot->queue, run->plan->ctx.err));
    run->use.launches++;
    return TZ_OK;
}

static tz_result launch_conversions(tz_gpu_run *run, const tz_gpu_slot *slot)
{
    uint64_t first = 0;
    for (uint32_t i = 0; i < run->gpu->pair_count; i++) {
        TZ_TRY(launch_conversion(run, slot, i, first, slot->pair_ends[i] - first));
        first = slot->pair_ends[i];
    }
    return TZ_OK;
}

static tz_result upload_batch(tz_gpu_run *run, tz_gpu_slot *slot)
{
    const uint64_t size = slot->upload;
    slot->is_busy = true; /* also when it fails: then it may be under way all the same */
    TZ_TRY(
        tz_device_upload(slot->queue, slot->slab, 0, slot->pinned->host, size, run->plan->ctx.err));
    run->use.uploads++;
    run->use.upload_bytes += size;
    return TZ_OK;
}

static tz_result download_results(tz_gpu_run *run, const tz_gpu_slot *slot)
{
    const tz_gpu_layout *l = &slot->batch.layout;
    if (l->download == 0)
        return TZ_OK;
    TZ_TRY(tz_device_download(slot->queue, tz_gpu_slot_pinned(slot, l->mirrored), slot->slab,
                              l->statuses, l->download, run->plan->ctx.err));
    run->use.downloads++;
    run->use.download_bytes += l->download;
    return TZ_OK;
}

tz_result tz_gpu_batch_launch(tz_gpu_run *run, tz_gpu_slot *slot)
{
    TZ_TRY(upload_batch(run, slot));
    TZ_TRY(launch_decodes(run, slot));
    TZ_TRY(launch_unpredict(run, slot));
    TZ_TRY(launch_conversions(run, slot));
    return download_results(run, slot);
}
