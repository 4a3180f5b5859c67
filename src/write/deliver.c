/* SPDX-License-Identifier: Apache-2.0
 * Tiles that are made go to the sink, in order: here they get their places in the file, and what
 * was counted in them is added up. One thread at a time. */
#include "write/writer.h"

#define MAX_ALIGNMENT 65536

static const uint8_t zeros[MAX_ALIGNMENT];

/* One call of the sink. */
typedef struct delivery {
    tz_bytes pieces[2 * TZ_LARGEST_DELIVERY];
    size_t count;
    uint64_t start;
    uint64_t end;
} delivery;

static void add_piece(delivery *d, const void *data, size_t size)
{
    if (size == 0)
        return;
    d->pieces[d->count++] = (tz_bytes){data, size};
    d->end += size;
}

static void place_tile(tz_writer *w, delivery *d, const tz_slot *slot)
{
    const uint64_t alignment = w->image.options.alignment;
    w->sizes[slot->place] = (uint32_t)slot->size;
    if (slot->size == 0) {
        w->report.tiles_sparse++;
        return;
    }
    if (alignment > 1)
        add_piece(d, zeros, (size_t)((alignment - d->end % alignment) % alignment));
    w->offsets[slot->place] = d->end;
    add_piece(d, slot->bytes, slot->size);
    w->report.bytes_tiles += slot->size;
}

static void count_tile(tz_writer *w, const tz_slot *slot)
{
    for (uint32_t i = 0; i < slot->bands; i++)
        tz_tally_merge(&w->tallies[slot->band + i], &slot->tallies[i]);
    if (slot->checked != TZ_NONE && w->hashes)
        w->hashes[slot->checked] = slot->hash;
}

tz_result tz_tiles_deliver(void *opaque, uint64_t first, size_t count, tz_error *err)
{
    tz_writer *w = opaque;
    const tz_context ctx = tz_writer_context(w, err);
    delivery d = {.start = w->position, .end = w->position};
    for (size_t i = 0; i < count; i++) {
        const tz_slot *slot = &w->slots[(first + i) % w->budget.slots];
        place_tile(w, &d, slot);
        count_tile(w, slot);
    }
    if (d.count == 0)
        return TZ_OK;
    TZ_TRY(tz_sink_write(w->sink, d.start, d.pieces, d.count, &ctx));
    w->position = d.end;
    w->report.writes++;
    return TZ_OK;
}
