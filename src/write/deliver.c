/* SPDX-License-Identifier: Apache-2.0
 * Encoded tiles go to the sink in order. Here they get their offsets, and their statistics are
 * merged. Tiles of a COG that do not follow each other at the end of the file go to the spool,
 * unless their offsets are known already. The pipeline calls this from one thread at a time. */
#include "base/mem.h"
#include "write/cog_layout.h"
#include "write/writer.h"

#define MAX_ALIGNMENT 65536

static const uint8_t zeros[MAX_ALIGNMENT];

/* ---- tables ---- */

/* Offsets begin after the header, except in a COG, which is laid out at the end. */
tz_result tz_output_file_allocate(tz_output_file *file)
{
    const tz_image *first = tz_output_file_image(file);
    const uint32_t bands = first->spec.bands;
    if (tz_image_wants_statistics(first)) {
        file->stats = tz_alloc_zeroed(bands, sizeof *file->stats);
        if (!file->stats)
            return tz_fail_nomem(file->ctx, bands * sizeof *file->stats);
        TZ_TRY(tz_write_report_add_statistics(file->report, bands, file->ctx));
    }
    for (uint32_t i = 0; i < file->pyramid->count; i++) {
        const tz_image *image = &file->pyramid->levels[i].image;
        const uint64_t tiles = tz_all_tiles(image);
        tz_tile_tables *t = &file->levels[i];
        t->offsets = tz_alloc_zeroed((size_t)tiles, sizeof *t->offsets);
        t->sizes = tz_alloc_zeroed((size_t)tiles, sizeof *t->sizes);
        t->hashes = tz_alloc_zeroed((size_t)tz_verified_count(image), sizeof *t->hashes);
        if (!t->offsets || !t->sizes || !t->hashes)
            return tz_fail_nomem(file->ctx, tiles * (sizeof *t->offsets + sizeof *t->sizes));
        file->report->tiles += tiles;
    }
    file->position = first->options.cog ? 0 : TZ_EMIT_HEADER_SIZE;
    return TZ_OK;
}

void tz_output_file_deinit(tz_output_file *file)
{
    for (uint32_t i = 0; i < TZ_MAX_OUTPUT_LEVELS; i++) {
        tz_free(file->levels[i].offsets);
        tz_free(file->levels[i].sizes);
        tz_free(file->levels[i].hashes);
    }
    tz_free(file->stats);
}

/* The sink takes tiles of the image as long as they are made in the order of the file: if bands
 * follow each other, only those of the first band. */
bool tz_tile_is_spooled(const tz_output_file *file, uint32_t level, uint64_t tile_index)
{
    const tz_image *image = tz_output_file_image(file);
    if (!image->options.cog || file->offsets_known)
        return false;
    return file->all_spooled || level > 0 ||
           (tz_is_by_band(image) && tile_index >= image->tile_count / image->planes);
}

/* ---- delivery ---- */

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

/* Records size and offset of a tile, and queues its bytes. A COG tile brings leader and
 * trailer; a tile of a plain file may need alignment before it. */
static void queue_tile(tz_output_file *file, delivery *queue, const tz_tile_slot *slot)
{
    const tz_write_options *options = &tz_output_file_image(file)->options;
    tz_tile_tables *tables = &file->levels[slot->level];
    tables->sizes[slot->tile_index] = (uint32_t)slot->size;
    if (slot->size == 0) {
        file->report->tiles_sparse++;
        return;
    }
    file->report->bytes_tiles += slot->size;
    if (options->cog) {
        if (!file->offsets_known)
            tables->offsets[slot->tile_index] = queue->end + TZ_LEADER;
        add_buffer(queue, slot->bytes - TZ_LEADER, slot->size + TZ_LEADER + TZ_TRAILER);
        return;
    }
    if (options->alignment > 1)
        add_buffer(
            queue, zeros,
            (size_t)((options->alignment - queue->end % options->alignment) % options->alignment));
    tables->offsets[slot->tile_index] = queue->end;
    add_buffer(queue, slot->bytes, slot->size);
}

/* Writes the queue, and moves *position to its end. */
static tz_result send_buffers(tz_output_file *file, tz_sink *sink, const delivery *queue,
                              uint64_t *position, const tz_context *ctx)
{
    if (queue->count == 0)
        return TZ_OK;
    TZ_TRY(tz_sink_write(sink, queue->start, queue->buffers, queue->count, ctx));
    *position = queue->end;
    file->report->writes++;
    return TZ_OK;
}

/* Two queues: tiles for the sink, and tiles for the spool; each is one call. If offsets are known,
 * nothing is spooled, and tiles that do not follow each other take one call for each run. */
tz_result tz_tiles_deliver(void *opaque, uint64_t first, size_t count, tz_error *err)
{
    tz_writer *w = opaque;
    tz_output_file *file = &w->file;
    const tz_context ctx = tz_writer_context(w, err);
    delivery at_once = {.start = file->position, .end = file->position};
    delivery spooled = {.start = file->spool_position, .end = file->spool_position};
    for (size_t i = 0; i < count; i++) {
        const tz_tile_slot *slot = &w->encoder.slots[(first + i) % w->budget.slots];
        if (!slot->tile)
            continue;
        const tz_tile_tables *tables = &file->levels[slot->level];
        const bool is_spooled = tz_tile_is_spooled(file, slot->level, slot->tile_index);
        if (file->offsets_known && at_once.end != tables->offsets[slot->tile_index] - TZ_LEADER) {
            TZ_TRY(send_buffers(file, file->sink, &at_once, &file->position, &ctx));
            at_once = (delivery){.start = tables->offsets[slot->tile_index] - TZ_LEADER};
            at_once.end = at_once.start;
        }
        queue_tile(file, is_spooled ? &spooled : &at_once, slot);
        /* Merged in the order of delivery, so that sums do not depend on threads. */
        for (uint32_t k = 0; k < slot->bands; k++)
            tz_stats_merge(&file->stats[slot->band + k], &slot->stats[k]);
        if (slot->verified_index != TZ_NO_VALUE)
            tables->hashes[slot->verified_index] = slot->hash;
        if (slot->level == 0)
            atomic_fetch_add(&w->tiles_done, 1);
    }
    TZ_TRY(send_buffers(file, file->sink, &at_once, &file->position, &ctx));
    return send_buffers(file, file->spool, &spooled, &file->spool_position, &ctx);
}
