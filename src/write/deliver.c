/* SPDX-License-Identifier: Apache-2.0
 * Tiles that are made go to the sink, in order: here they get their places in the file, and what
 * was counted in them is added up. Those of a COG that the file will not begin with wait in the
 * spool, unless it is known already where they will be. One thread at a time. */
#include "write/cog_layout.h"
#include "write/writer.h"

#define MAX_ALIGNMENT 65536

static const uint8_t zeros[MAX_ALIGNMENT];

/* One call of a sink. */
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

/* The sink takes the image's tiles up to where the order of the file is no longer that in which
 * they are made: with bands one after the other, behind the first one. */
bool tz_tile_waits(const tz_writer *w, uint32_t level, uint64_t place)
{
    const tz_image *image = tz_writer_image(w);
    if (!image->options.cog || w->placed)
        return false;
    return w->all_spooled || level > 0 ||
           (tz_is_by_band(image) && place >= image->tile_count / image->planes);
}

static void place_tile(tz_writer *w, delivery *d, const tz_slot *slot)
{
    const tz_write_options *options = &tz_writer_image(w)->options;
    tz_writer_level *level = &w->levels[slot->level];
    level->sizes[slot->place] = (uint32_t)slot->size;
    if (slot->size == 0) {
        w->report.tiles_sparse++;
        return;
    }
    w->report.bytes_tiles += slot->size;
    if (options->cog) {
        if (!w->placed)
            level->places[slot->place] = d->end + TZ_LEADER;
        add_piece(d, slot->bytes - TZ_LEADER, slot->size + TZ_LEADER + TZ_TRAILER);
        return;
    }
    if (options->alignment > 1)
        add_piece(
            d, zeros,
            (size_t)((options->alignment - d->end % options->alignment) % options->alignment));
    level->places[slot->place] = d->end;
    add_piece(d, slot->bytes, slot->size);
}

static void count_tile(tz_writer *w, const tz_slot *slot)
{
    const tz_writer_level *level = &w->levels[slot->level];
    for (uint32_t i = 0; i < slot->bands; i++)
        tz_stats_merge(&w->tallies[slot->band + i], &slot->tallies[i]);
    if (slot->checked != TZ_NONE && level->hashes)
        level->hashes[slot->checked] = slot->hash;
    if (slot->level == 0)
        atomic_fetch_add(&w->tiles_done, 1);
}

static tz_result send(tz_writer *w, tz_sink *sink, const delivery *d, uint64_t *position,
                      const tz_context *ctx)
{
    if (d->count == 0)
        return TZ_OK;
    TZ_TRY(tz_sink_write(sink, d->start, d->pieces, d->count, ctx));
    *position = d->end;
    w->report.writes++;
    return TZ_OK;
}

/* Each tile to where it will stay; those that follow each other there in one call. */
static tz_result deliver_placed(tz_writer *w, uint64_t first, size_t count, const tz_context *ctx)
{
    delivery d = {0};
    for (size_t i = 0; i < count; i++) {
        const tz_slot *slot = &w->slots[(first + i) % w->budget.slots];
        if (!slot->tile)
            continue;
        const uint64_t at = w->levels[slot->level].places[slot->place] - TZ_LEADER;
        if (d.end != at) {
            TZ_TRY(send(w, w->sink, &d, &w->position, ctx));
            d = (delivery){.start = at, .end = at};
        }
        place_tile(w, &d, slot);
        count_tile(w, slot);
    }
    return send(w, w->sink, &d, &w->position, ctx);
}

tz_result tz_tiles_deliver(void *opaque, uint64_t first, size_t count, tz_error *err)
{
    tz_writer *w = opaque;
    const tz_context ctx = tz_writer_context(w, err);
    if (w->placed)
        return deliver_placed(w, first, count, &ctx);
    delivery at_once = {.start = w->position, .end = w->position};
    delivery later = {.start = w->spooled, .end = w->spooled};
    for (size_t i = 0; i < count; i++) {
        const tz_slot *slot = &w->slots[(first + i) % w->budget.slots];
        if (!slot->tile)
            continue;
        place_tile(w, tz_tile_waits(w, slot->level, slot->place) ? &later : &at_once, slot);
        count_tile(w, slot);
    }
    TZ_TRY(send(w, w->sink, &at_once, &w->position, &ctx));
    return send(w, w->spool, &later, &w->spooled, &ctx);
}
