/* SPDX-License-Identifier: Apache-2.0
 * Encoded tiles go to the sink in order. Here they get their offsets, and their statistics are
 * merged. Tiles of a COG that do not follow each other at the end of the file go to the spool,
 * unless their offsets are known already. The pipeline calls this from one thread at a time. */
#include "write/cog_layout.h"
#include "write/writer.h"

#define MAX_ALIGNMENT 65536

static const uint8_t zeros[MAX_ALIGNMENT];

/* One call of a sink. */
typedef struct delivery {
    tz_bytes buffers[2 * TZ_MAX_DELIVERY];
    size_t count;
    uint64_t start;
    uint64_t end;
} delivery;

static void add_buffer(delivery *queue, const void *data, size_t size)
{
    if (size == 0)
        return;
    queue->buffers[queue->count++] = (tz_bytes){data, size};
    queue->end += size;
}

/* The sink takes tiles of the image as long as they are made in the order of the file: if bands
 * follow each other, only those of the first band. */
bool tz_tile_is_spooled(const tz_writer *w, uint32_t level, uint64_t tile_index)
{
    const tz_image *image = tz_writer_image(w);
    if (!image->options.cog || w->offsets_known)
        return false;
    return w->all_spooled || level > 0 ||
           (tz_is_by_band(image) && tile_index >= image->tile_count / image->planes);
}

/* Records size and offset of a tile, and queues its bytes. A COG tile brings leader and
 * trailer; a tile of a plain file may need alignment before it. */
static void queue_tile(tz_writer *w, delivery *queue, const tz_tile_slot *slot)
{
    const tz_write_options *options = &tz_writer_image(w)->options;
    tz_writer_level *level = &w->levels[slot->level];
    level->sizes[slot->tile_index] = (uint32_t)slot->size;
    if (slot->size == 0) {
        w->report.tiles_sparse++;
        return;
    }
    w->report.bytes_tiles += slot->size;
    if (options->cog) {
        if (!w->offsets_known)
            level->offsets[slot->tile_index] = queue->end + TZ_LEADER;
        add_buffer(queue, slot->bytes - TZ_LEADER, slot->size + TZ_LEADER + TZ_TRAILER);
        return;
    }
    if (options->alignment > 1)
        add_buffer(
            queue, zeros,
            (size_t)((options->alignment - queue->end % options->alignment) % options->alignment));
    level->offsets[slot->tile_index] = queue->end;
    add_buffer(queue, slot->bytes, slot->size);
}

/* Statistics are merged in the order of delivery, so sums do not depend on threads. */
static void add_tile_results(tz_writer *w, const tz_tile_slot *slot)
{
    const tz_writer_level *level = &w->levels[slot->level];
    for (uint32_t i = 0; i < slot->bands; i++)
        tz_stats_merge(&w->stats[slot->band + i], &slot->stats[i]);
    if (slot->verified_index != TZ_NONE && level->hashes)
        level->hashes[slot->verified_index] = slot->hash;
    if (slot->level == 0)
        atomic_fetch_add(&w->tiles_done, 1);
}

/* Writes the queue, and moves *position to its end. */
static tz_result send_buffers(tz_writer *w, tz_sink *sink, const delivery *queue,
                              uint64_t *position, const tz_context *ctx)
{
    if (queue->count == 0)
        return TZ_OK;
    TZ_TRY(tz_sink_write(sink, queue->start, queue->buffers, queue->count, ctx));
    *position = queue->end;
    w->report.writes++;
    return TZ_OK;
}

/* Writes each tile to its final offset, and tiles that follow each other there in one call. */
static tz_result deliver_to_known_offsets(tz_writer *w, uint64_t first, size_t count,
                                          const tz_context *ctx)
{
    delivery queue = {0};
    for (size_t i = 0; i < count; i++) {
        const tz_tile_slot *slot = &w->encoder.slots[(first + i) % w->budget.slots];
        if (!slot->tile)
            continue;
        const uint64_t at = w->levels[slot->level].offsets[slot->tile_index] - TZ_LEADER;
        if (queue.end != at) {
            TZ_TRY(send_buffers(w, w->sink, &queue, &w->position, ctx));
            queue = (delivery){.start = at, .end = at};
        }
        queue_tile(w, &queue, slot);
        add_tile_results(w, slot);
    }
    return send_buffers(w, w->sink, &queue, &w->position, ctx);
}

/* Two queues: tiles for the sink, and tiles for the spool; each is one call. */
tz_result tz_tiles_deliver(void *opaque, uint64_t first, size_t count, tz_error *err)
{
    tz_writer *w = opaque;
    const tz_context ctx = tz_writer_context(w, err);
    if (w->offsets_known)
        return deliver_to_known_offsets(w, first, count, &ctx);
    delivery at_once = {.start = w->position, .end = w->position};
    delivery spooled = {.start = w->spool_position, .end = w->spool_position};
    for (size_t i = 0; i < count; i++) {
        const tz_tile_slot *slot = &w->encoder.slots[(first + i) % w->budget.slots];
        if (!slot->tile)
            continue;
        queue_tile(w, tz_tile_is_spooled(w, slot->level, slot->tile_index) ? &spooled : &at_once,
                   slot);
        add_tile_results(w, slot);
    }
    TZ_TRY(send_buffers(w, w->sink, &at_once, &w->position, &ctx));
    return send_buffers(w, w->spool, &spooled, &w->spool_position, &ctx);
}
