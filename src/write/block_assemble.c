/* SPDX-License-Identifier: Apache-2.0
 * From heads to the layout of the file. The writer finishes the file as it always does, but its
 * sink keeps only the front, and the tiles it copies from are not there. */
#include <string.h>

#include "base/mem.h"
#include "write/block_heads.h"
#include "write/cog_layout.h"

/* The assembly, and what its members point to. */
typedef struct holder {
    tz_assembly assembly; /* the first member: what the caller gets */
    tz_memory front;
    tz_statistics *statistics;
    tz_run *all_runs; /* of all blobs, in the order given */
    const tz_run **runs;
    size_t *counts;
} holder;

/* ---- the front ---- */

/* Keeps what is written up to the first tile. */
typedef struct front_sink {
    tz_sink base;  /* first: the two share their address */
    tz_sink tiles; /* what these are read from */
    uint8_t *data;
    size_t size;
    size_t room;
    bool complete; /* tiles have been asked for */
} front_sink;

static tz_result keep_bytes(front_sink *f, uint64_t offset, const tz_bytes *piece,
                            const tz_context *ctx)
{
    const uint64_t end = offset + piece->size;
    if (end > f->room) {
        const size_t room = (size_t)end + f->room;
        uint8_t *data = tz_realloc_array(f->data, room, 1);
        if (!data)
            return tz_fail_nomem(ctx, room);
        memset(data + f->room, 0, room - f->room);
        f->data = data;
        f->room = room;
    }
    memcpy(f->data + offset, piece->data, piece->size);
    f->size = tz_max_size(f->size, (size_t)end);
    return TZ_OK;
}

/* The file's first bytes come last, whatever came in between. */
static tz_result write_front(tz_sink *sink, uint64_t offset, const tz_bytes *pieces, size_t count,
                             tz_error *err)
{
    front_sink *f = (front_sink *)sink;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (f->complete && offset > 0)
        return TZ_OK;
    for (size_t i = 0; i < count; offset += pieces[i].size, i++)
        TZ_TRY(keep_bytes(f, offset, &pieces[i], &ctx));
    return TZ_OK;
}

/* dst is left as it is: nobody looks at it. */
static tz_result read_nothing(tz_sink *sink, uint64_t offset, void *dst, size_t size, tz_error *err)
{
    front_sink *f = (front_sink *)((uint8_t *)sink - offsetof(front_sink, tiles));
    (void)offset, (void)dst, (void)size, (void)err;
    f->complete = true;
    return TZ_OK;
}

static tz_result finish(tz_writer *shell, tz_memory *front)
{
    front_sink f = {.base = {.write = write_front}, .tiles = {.read = read_nothing}};
    shell->sink = &f.base;
    shell->spool = &f.tiles;
    shell->all_spooled = true;
    const tz_result result = tz_writer_finish(shell);
    shell->sink = shell->spool = NULL;
    if (result == TZ_OK)
        *front = (tz_memory){f.data, f.size};
    else
        tz_free(f.data);
    return result;
}

/* ---- runs ---- */

/* Runs of one blob, counted, or also put down. */
static size_t make_runs(const tz_writer *shell, const tz_cog_plan *plan, const tz_heads_item *item,
                        const tz_block_tiles *tiles, tz_run *out)
{
    const tz_block_head *head = &item->head;
    const tz_writer_level *level = &shell->levels[head->level];
    const tz_swath swath = tz_shell_swath(plan, head->level, tiles);
    tz_run run = {.from = head->size};
    size_t count = 0;
    for (uint64_t i = 0; i < head->tiles; i++) {
        const uint64_t place = tz_tile_number(level->image, &swath, i);
        const uint64_t size = tz_cog_tile_bytes(level->sizes[place]);
        if (size == 0)
            continue;
        const uint64_t offset = level->places[place] - TZ_LEADER;
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
static tz_result add_runs(holder *h, const tz_writer *shell, const tz_cog_plan *plan,
                          const tz_heads *heads)
{
    size_t total = 0;
    tz_block_tiles tiles;
    for (size_t i = 0; i < heads->count; i++) {
        const tz_heads_item *item = &heads->list[i];
        TZ_TRY(tz_plan_find_block(plan, item->head.level, item->head.block, &tiles, &shell->ctx));
        h->counts[item->given] = make_runs(shell, plan, item, &tiles, NULL);
        total += h->counts[item->given];
    }
    h->all_runs = tz_alloc_array(total, sizeof *h->all_runs);
    if (!h->all_runs)
        return tz_fail_nomem(&shell->ctx, total * sizeof *h->all_runs);
    for (size_t i = 0, first = 0; i < heads->count; first += h->counts[i], i++)
        h->runs[i] = h->all_runs + first;
    for (size_t i = 0; i < heads->count; i++) {
        const tz_heads_item *item = &heads->list[i];
        TZ_TRY(tz_plan_find_block(plan, item->head.level, item->head.block, &tiles, &shell->ctx));
        (void)make_runs(shell, plan, item, &tiles, (tz_run *)h->runs[item->given]);
    }
    return TZ_OK;
}

/* ---- the whole ---- */

static tz_result make_lists(holder *h, const tz_cog_plan *plan, size_t count, const tz_context *ctx)
{
    h->counts = tz_alloc_zeroed(count, sizeof *h->counts);
    h->runs = tz_alloc_zeroed(count, sizeof *h->runs);
    h->statistics = tz_alloc_zeroed(plan->info.bands, sizeof *h->statistics);
    if (h->counts && h->runs && h->statistics)
        return TZ_OK;
    return tz_fail_nomem(ctx, count * (sizeof *h->counts + sizeof *h->runs));
}

static void fill(holder *h, const tz_writer *shell, const tz_cog_plan *plan, size_t count)
{
    const tz_statistics *statistics = shell->levels[0].image->options.statistics;
    if (statistics)
        memcpy(h->statistics, statistics, plan->info.bands * sizeof *statistics);
    h->assembly = (tz_assembly){.file_size = shell->report.file_size,
                                .bigtiff = shell->report.bigtiff,
                                .front = {h->front.data, h->front.size},
                                .tiles = shell->report.tiles,
                                .tiles_sparse = shell->report.tiles_sparse,
                                .statistics = statistics ? h->statistics : NULL,
                                .blob_count = count,
                                .run_counts = h->counts,
                                .runs = h->runs};
}

static tz_result assemble(holder *h, tz_writer *shell, const tz_cog_plan *plan,
                          const tz_heads *heads)
{
    TZ_TRY(tz_heads_apply(heads, plan, shell));
    TZ_TRY(make_lists(h, plan, heads->count, &shell->ctx));
    TZ_TRY(finish(shell, &h->front));
    TZ_TRY(add_runs(h, shell, plan, heads));
    fill(h, shell, plan, heads->count);
    return TZ_OK;
}

static tz_result assemble_heads(holder *h, const tz_cog_plan *plan, const tz_heads *heads,
                                tz_error *err)
{
    tz_writer *shell = NULL;
    TZ_TRY(tz_shell_open(&shell, plan, NULL, err));
    const tz_result result = assemble(h, shell, plan, heads);
    tz_shell_close(shell);
    return result;
}

tz_result tz_assemble(tz_assembly **out, const tz_cog_plan *plan, const tz_bytes *heads,
                      size_t count, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_heads all = {0};
    if (!plan || (!heads && count > 0))
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "there is no plan, or no "
                       "heads");
    holder *h = tz_alloc_zeroed(1, sizeof *h);
    if (!h)
        return tz_fail_nomem(&ctx, sizeof *h);
    tz_result result = tz_heads_make(&all, plan, heads, count, &ctx);
    if (result == TZ_OK)
        result = assemble_heads(h, plan, &all, err);
    tz_heads_deinit(&all);
    if (result == TZ_OK)
        *out = &h->assembly;
    else
        tz_assembly_free(&h->assembly);
    return result;
}

void tz_assembly_free(tz_assembly *assembly)
{
    holder *h = (holder *)assembly;
    if (!h)
        return;
    tz_memory_free(&h->front);
    tz_free(h->statistics);
    tz_free(h->all_runs);
    tz_free(h->runs);
    tz_free(h->counts);
    tz_free(h);
}
