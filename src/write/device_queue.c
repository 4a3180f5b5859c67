/* SPDX-License-Identifier: Apache-2.0
 * The work of the belt, done by a device: what was asked for first is done first, and so nothing
 * waits for anything else. */
#include "base/mem.h"
#include "write/writer.h"

/* Rows of the one part, then those of the other. */
static tz_result keep(tz_writer *w, const tz_batch *batch)
{
    const tz_swath *to = &batch->swath;
    const uint32_t end = to->row + to->rows;
    for (int i = 0; i < 2; i++) {
        const tz_row_range *part = &batch->source.parts[i];
        const uint32_t from = i == 0 ? to->row : (uint32_t)tz_max_size(to->row, part->row);
        const uint32_t until = i == 0 ? tz_min_u32(end, batch->source.parts[1].row) : end;
        const tz_swath rows = {.pixels = part->pixels, .mask = part->mask};
        if (from < until)
            TZ_TRY(
                tz_device_copy_rows(w, &rows, from - part->row, to, from - to->row, until - from));
    }
    return TZ_OK;
}

static tz_result reduce(tz_writer *w, const tz_batch *batch)
{
    const tz_swath *swath = &batch->swath;
    return tz_overview_builder_run(w->means.reducers[batch->level], &batch->source, swath->row,
                                   swath->rows, &swath->pixels, &swath->mask, 0, w->ctx.err);
}

/* Two batches take turns: while one is made, the other is written. */
static tz_result encode(tz_writer *w, const tz_batch *batch, uint64_t pieces)
{
    tz_device_means *means = &w->means;
    for (uint64_t first = 0, count; first < pieces; first += count) {
        TZ_TRY(tz_device_finish(w));
        tz_device_tiles *tiles = &means->tiles[means->turn];
        TZ_TRY(tz_belt_wait(w->belt, tiles->busy_until, w->ctx.err));
        tiles->level = batch->level;
        tiles->swath = batch->swath;
        tiles->first = first;
        TZ_TRY(tz_device_tiles_begin(w, tiles, pieces, &count));
        means->under_way = true;
        means->batches++;
    }
    return TZ_OK;
}

tz_result tz_device_work(tz_writer *w, const tz_batch *batch, uint64_t pieces)
{
    switch (batch->work) {
    case TZ_WORK_KEEP:
        return keep(w, batch);
    case TZ_WORK_REDUCE:
        return reduce(w, batch);
    default:
        return encode(w, batch, pieces);
    }
}

/* The payload is as long as the results say, which are there first. */
static tz_result bring_down(tz_writer *w, const tz_device_tiles *tiles)
{
    const tz_device_places *at = &w->budget.device.at;
    uint8_t *payload = (uint8_t *)tiles->memory->host + (at->results_end - at->sizes);
    uint64_t bytes;
    TZ_TRY(tz_device_sync(w->device, 0, w->ctx.err));
    w->means.uploading[0] = w->means.uploading[1] = false;
    TZ_TRY(tz_pictures_make(w, tiles));
    TZ_TRY(tz_device_tiles_size(w, tiles, &bytes));
    if (bytes == 0)
        return TZ_OK;
    TZ_TRY(tz_device_download(0, payload, w->means.pieces[TZ_PIECE_TILES],
                              at->payload - tiles->mask_bytes, bytes, w->ctx.err));
    return tz_device_sync(w->device, 0, w->ctx.err);
}

tz_result tz_device_finish(tz_writer *w)
{
    tz_device_means *means = &w->means;
    tz_device_tiles *tiles = &means->tiles[means->turn];
    if (!means->under_way)
        return TZ_OK;
    means->under_way = false;
    TZ_TRY(bring_down(w, tiles));
    const tz_batch batch = {
        .work = TZ_WORK_TAKE, .level = tiles->level, .swath = tiles->swath, .made = tiles};
    TZ_TRY(tz_work_add(w, &batch, (uint64_t)tiles->images + tiles->masks));
    tiles->busy_until = w->on_belt;
    means->turn = 1 - means->turn;
    return TZ_OK;
}
