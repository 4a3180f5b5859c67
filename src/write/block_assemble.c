/* SPDX-License-Identifier: Apache-2.0
 * From heads to the layout of the file. The writer finishes the file as it always does, but its
 * sink keeps only the front, and the tiles it copies from are not there. */
#include <string.h>

#include "base/mem.h"
#include "write/block_index.h"
#include "write/cog_layout.h"

/* The assembly, and what its members point to. */
typedef struct assembly_owner {
    tz_assembly assembly; /* the first member: what the caller gets */
    tz_memory front;
    tz_statistics *statistics;
    tz_run *all_runs; /* of all blobs, in the order given */
    const tz_run **runs;
    size_t *counts;
} assembly_owner;

/* ---- the front ---- */

/* Keeps what is written up to the first tile. */
typedef struct front_sink {
    tz_sink base;  /* first: the two share their address */
    tz_sink tiles; /* what these are read from */
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool complete; /* tiles have been asked for */
} front_sink;

static tz_result store_front_bytes(front_sink *f, uint64_t offset, const tz_bytes *buffer,
                                   const tz_context *ctx)
{
    const uint64_t end = offset + buffer->size;
    if (end > f->capacity) {
        const size_t capacity = (size_t)end + f->capacity;
        uint8_t *data = tz_realloc_array(f->data, capacity, 1);
        if (!data)
            return tz_fail_nomem(ctx, capacity);
        memset(data + f->capacity, 0, capacity - f->capacity);
        f->data = data;
        f->capacity = capacity;
    }
    memcpy(f->data + offset, buffer->data, buffer->size);
    f->size = tz_max_size(f->size, (size_t)end);
    return TZ_OK;
}

/* The file's first bytes come last, whatever came in between. */
static tz_result front_sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *buffers,
                                  size_t count, tz_error *err)
{
    front_sink *f = (front_sink *)sink;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (f->complete && offset > 0)
        return TZ_OK;
    for (size_t i = 0; i < count; offset += buffers[i].size, i++)
        TZ_TRY(store_front_bytes(f, offset, &buffers[i], &ctx));
    return TZ_OK;
}

/* dst is left as it is: nobody looks at it. */
static tz_result front_sink_skip_tiles(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                                       tz_error *err)
{
    front_sink *f = (front_sink *)((uint8_t *)sink - offsetof(front_sink, tiles));
    (void)offset, (void)dst, (void)size, (void)err;
    f->complete = true;
    return TZ_OK;
}

static tz_result finish_front(tz_writer *writer, tz_memory *front)
{
    front_sink f = {.base = {.write = front_sink_write}, .tiles = {.read = front_sink_skip_tiles}};
    writer->sink = &f.base;
    writer->spool = &f.tiles;
    writer->all_spooled = true;
    const tz_result result = tz_writer_finish(writer);
    writer->sink = writer->spool = NULL;
    if (result == TZ_OK)
        *front = (tz_memory){f.data, f.size};
    else
        tz_free(f.data);
    return result;
}

/* ---- runs ---- */

/* Runs of one blob, counted, or also put down. */
static size_t make_runs(const tz_writer *writer, const tz_cog_plan *plan,
                        const tz_block_index_entry *item, const tz_block_tiles *tiles, tz_run *out)
{
    const tz_block_head *head = &item->head;
    const tz_writer_level *level = &writer->levels[head->level];
    const tz_tile_row tile_row = tz_block_tile_row(plan, head->level, tiles);
    tz_run run = {.from = head->size};
    size_t count = 0;
    for (uint64_t i = 0; i < head->tiles; i++) {
        const uint64_t tile_index = tz_tile_index_of(level->image, &tile_row, i);
        const uint64_t size = tz_cog_tile_bytes(level->sizes[tile_index]);
        if (size == 0)
            continue;
        const uint64_t offset = level->offsets[tile_index] - TZ_LEADER;
        if (count == 0 || run.offset + run.size != offset) {
            run = (tz_run){.offset = offset, .from = run.from + run.size};
            count++;
        }
        run.size += size;
        if (out)
            out[count - 1] = run;
    }
    return count;
}

/* Twice over all blobs: to count, and to put down. */
static tz_result add_runs(assembly_owner *h, const tz_writer *writer, const tz_cog_plan *plan,
                          const tz_block_index *heads)
{
    size_t total = 0;
    tz_block_tiles tiles;
    for (size_t i = 0; i < heads->count; i++) {
        const tz_block_index_entry *item = &heads->list[i];
        TZ_TRY(
            tz_cog_plan_find_block(plan, item->head.level, item->head.block, &tiles, &writer->ctx));
        h->counts[item->given] = make_runs(writer, plan, item, &tiles, NULL);
        total += h->counts[item->given];
    }
    h->all_runs = tz_alloc_array(total, sizeof *h->all_runs);
    if (!h->all_runs)
        return tz_fail_nomem(&writer->ctx, total * sizeof *h->all_runs);
    for (size_t i = 0, first = 0; i < heads->count; first += h->counts[i], i++)
        h->runs[i] = h->all_runs + first;
    for (size_t i = 0; i < heads->count; i++) {
        const tz_block_index_entry *item = &heads->list[i];
        TZ_TRY(
            tz_cog_plan_find_block(plan, item->head.level, item->head.block, &tiles, &writer->ctx));
        (void)make_runs(writer, plan, item, &tiles, (tz_run *)h->runs[item->given]);
    }
    return TZ_OK;
}

/* ---- the whole ---- */

static tz_result allocate_lists(assembly_owner *h, const tz_cog_plan *plan, size_t count,
                                const tz_context *ctx)
{
    h->counts = tz_alloc_zeroed(count, sizeof *h->counts);
    h->runs = tz_alloc_zeroed(count, sizeof *h->runs);
    h->statistics = tz_alloc_zeroed(plan->info.bands, sizeof *h->statistics);
    if (h->counts && h->runs && h->statistics)
        return TZ_OK;
    return tz_fail_nomem(ctx, count * (sizeof *h->counts + sizeof *h->runs));
}

static void fill_assembly(assembly_owner *h, const tz_writer *writer, const tz_cog_plan *plan,
                          size_t count)
{
    const tz_statistics *statistics = writer->levels[0].image->options.statistics;
    if (statistics)
        memcpy(h->statistics, statistics, plan->info.bands * sizeof *statistics);
    h->assembly = (tz_assembly){.file_size = writer->report.file_size,
                                .bigtiff = writer->report.bigtiff,
                                .front = {h->front.data, h->front.size},
                                .tiles = writer->report.tiles,
                                .tiles_sparse = writer->report.tiles_sparse,
                                .statistics = statistics ? h->statistics : NULL,
                                .blob_count = count,
                                .run_counts = h->counts,
                                .runs = h->runs};
}

static tz_result assemble_front(assembly_owner *h, tz_writer *writer, const tz_cog_plan *plan,
                                const tz_block_index *heads)
{
    TZ_TRY(tz_block_index_apply(heads, plan, writer));
    TZ_TRY(allocate_lists(h, plan, heads->count, &writer->ctx));
    TZ_TRY(finish_front(writer, &h->front));
    TZ_TRY(add_runs(h, writer, plan, heads));
    fill_assembly(h, writer, plan, heads->count);
    return TZ_OK;
}

static tz_result assemble_heads(assembly_owner *h, const tz_cog_plan *plan,
                                const tz_block_index *heads, tz_error *err)
{
    tz_writer *writer = NULL;
    TZ_TRY(tz_block_writer_open(&writer, plan, NULL, err));
    const tz_result result = assemble_front(h, writer, plan, heads);
    tz_block_writer_close(writer);
    return result;
}

tz_result tz_assemble(tz_assembly **out, const tz_cog_plan *plan, const tz_bytes *heads,
                      size_t count, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_index all = {0};
    if (!plan || (!heads && count > 0))
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "there is no plan, or no "
                       "heads");
    assembly_owner *h = tz_alloc_zeroed(1, sizeof *h);
    if (!h)
        return tz_fail_nomem(&ctx, sizeof *h);
    tz_result result = tz_block_index_make(&all, plan, heads, count, &ctx);
    if (result == TZ_OK)
        result = assemble_heads(h, plan, &all, err);
    tz_block_index_deinit(&all);
    if (result == TZ_OK)
        *out = &h->assembly;
    else
        tz_assembly_free(&h->assembly);
    return result;
}

void tz_assembly_free(tz_assembly *assembly)
{
    assembly_owner *h = (assembly_owner *)assembly;
    if (!h)
        return;
    tz_memory_free(&h->front);
    tz_free(h->statistics);
    tz_free(h->all_runs);
    tz_free(h->runs);
    tz_free(h->counts);
    tz_free(h);
}
