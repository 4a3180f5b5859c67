/* SPDX-License-Identifier: Apache-2.0
 * What the belt carries: batches of pieces, in the order in which they were added. */
#include "base/mem.h"
#include "write/writer.h"

/* A piece is looked for while it is not delivered, so its batch, and those after it, are there and
 * stay. */
static const tz_batch *find_batch(const tz_writer *w, uint64_t number)
{
    unsigned long long i = atomic_load(&w->batch_count) - 1;
    while (w->batches[i % TZ_BATCHES].first > number)
        i--;
    return &w->batches[i % TZ_BATCHES];
}

/* The oldest batch makes room for a new one: all its pieces, which end where the second oldest's
 * begin, must have been delivered. */
static tz_result make_room(tz_writer *w, unsigned long long count)
{
    if (count < TZ_BATCHES)
        return TZ_OK;
    return tz_belt_wait(w->belt, w->batches[(count + 1) % TZ_BATCHES].first, w->ctx.err);
}

tz_result tz_work_add(tz_writer *w, const tz_batch *batch, uint64_t pieces)
{
    if (w->device && batch->work != TZ_WORK_TAKE)
        return tz_device_work(w, batch, pieces);
    const unsigned long long count = atomic_load(&w->batch_count);
    TZ_TRY(make_room(w, count));
    tz_batch *place = &w->batches[count % TZ_BATCHES];
    *place = *batch;
    place->first = w->on_belt;
    w->on_belt += pieces;
    atomic_store(&w->batch_count, count + 1);
    tz_belt_add(w->belt, pieces);
    return TZ_OK;
}

static tz_result make(void *opaque, uint64_t number, unsigned worker, tz_error *err)
{
    tz_writer *w = opaque;
    const tz_batch *batch = find_batch(w, number);
    const uint64_t index = number - batch->first;
    tz_slot *slot = &w->slots[number % w->budget.slots];
    slot->tile = batch->work == TZ_WORK_ENCODE || batch->work == TZ_WORK_TAKE;
    switch (batch->work) {
    case TZ_WORK_ENCODE:
        return tz_tile_make(w, batch, index, worker, slot, err);
    case TZ_WORK_TAKE:
        return tz_device_tile_take(w, batch, index, worker, slot, err);
    case TZ_WORK_REDUCE:
        tz_reduce_piece(w, batch, index, worker);
        return TZ_OK;
    default:
        tz_keep_piece(batch);
        return TZ_OK;
    }
}

static uint64_t needs(void *opaque, uint64_t number)
{
    return find_batch(opaque, number)->after;
}

const tz_belt_work tz_writer_work = {.make = make, .deliver = tz_tiles_deliver, .needs = needs};
