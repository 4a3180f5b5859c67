/* SPDX-License-Identifier: Apache-2.0
 * The end of a distributed COG: the heads of all blocks give the layout of the file, and the blobs
 * its tiles.
 *
 * The index of the heads fills the tables of a writer that has never seen a row: sizes, hashes and
 * statistics as if it had made the tiles, and offsets as if all bodies followed each other in its
 * spool. Then the writer finishes the file as always. tz_assemble gives it a sink that keeps only
 * the front of the file, and a spool that has no bytes; it returns the front and the runs of each
 * blob's bytes in the file. tz_assemble_file gives it a real sink, and a spool that reads blobs.
 *
 * The decision that is not obvious: statistics are merged in the order of the image's tiles, across
 * blocks, because that is the order of a writer and sums of floating point depend on it. */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "write/block_head.h"
#include "write/cog_layout.h"
#include "write/writer.h"

/* ---- a writer without rows ---- */

/* The tables, statistics and name are its own; everything else in the pyramid is the plan's. */
static void close_writer(tz_writer *writer)
{
    if (!writer)
        return;
    for (uint32_t i = 0; writer->levels && i < writer->pyramid.count; i++) {
        tz_free(writer->levels[i].offsets);
        tz_free(writer->levels[i].sizes);
        tz_free(writer->levels[i].hashes);
    }
    tz_free(writer->levels);
    tz_free(writer->stats);
    if (writer->pyramid.count > 0)
        tz_free(writer->pyramid.levels[0].image.options.statistics);
    tz_free(writer->name);
    tz_free(writer);
}

/* The writer's pyramid is a copy whose pointers stay the plan's, but for statistics. */
static tz_result fill_writer(tz_writer *writer, const tz_cog_plan *plan, const char *name)
{
    const uint32_t bands = plan->info.bands;
    if (name) {
        writer->name = tz_copy_string(name);
        if (!writer->name)
            return tz_fail_nomem(&writer->ctx, strlen(name) + 1);
    }
    writer->pyramid = plan->pyramid;
    tz_image *image = &writer->pyramid.levels[0].image;
    image->options.statistics = NULL;
    image->options.threads = 1;
    writer->limits = image->options.limits;
    writer->ctx.limits = &writer->limits;
    TZ_TRY(tz_budget_make(&writer->budget, &writer->pyramid, NULL, NULL, 0, &writer->ctx));
    writer->levels = tz_alloc_zeroed(plan->pyramid.count, sizeof *writer->levels);
    if (!writer->levels)
        return tz_fail_nomem(&writer->ctx, plan->pyramid.count * sizeof *writer->levels);
    for (uint32_t i = 0; i < plan->pyramid.count; i++)
        writer->levels[i].image = &writer->pyramid.levels[i].image;
    if (!plan->info.statistics)
        return TZ_OK;
    writer->stats = tz_alloc_zeroed(bands, sizeof *writer->stats);
    image->options.statistics = tz_alloc_zeroed(bands, sizeof(tz_statistics));
    if (!writer->stats || !image->options.statistics)
        return tz_fail_nomem(&writer->ctx, bands * sizeof(tz_statistics));
    return TZ_OK;
}

/* The plan must outlive the writer. name: for messages; may be NULL. */
static tz_result open_writer(tz_writer **out, const tz_cog_plan *plan, const char *name,
                             tz_error *err)
{
    const tz_context ctx = {.name = name, .err = err, .ifd = -1};
    tz_writer *writer = tz_alloc_zeroed(1, sizeof *writer);
    if (!writer)
        return tz_fail_nomem(&ctx, sizeof *writer);
    writer->ctx = ctx;
    const tz_result result = fill_writer(writer, plan, name);
    if (result == TZ_OK)
        *out = writer;
    else
        close_writer(writer);
    return result;
}

/* ---- heads into tables ---- */

/* Tiles of a blob are in the order of its tile row; position follows their bodies in the
 * spool. */
static tz_result apply_block(tz_writer *writer, const tz_cog_plan *plan,
                             const tz_block_index_entry *item)
{
    const tz_block_head *head = &item->head;
    tz_writer_level *level = &writer->levels[head->level];
    tz_block_tiles tiles;
    uint64_t position = item->base;
    TZ_TRY(tz_cog_plan_find_block(plan, head->level, head->block, &tiles, &writer->ctx));
    const tz_tile_row tile_row = tz_cog_plan_block_tile_row(plan, head->level, &tiles);
    for (uint64_t i = 0; i < head->tiles; i++) {
        const uint64_t tile_index = tz_tile_position_of(level->image, &tile_row, i).tile_index;
        const uint32_t size = tz_block_head_tile_size(head, i);
        level->sizes[tile_index] = size;
        writer->report.bytes_tiles += size;
        if (size == 0)
            writer->report.tiles_sparse++;
        else
            level->offsets[tile_index] = position + TZ_LEADER;
        position += tz_cog_tile_bytes(size);
        if (tile_index >= level->image->tile_count)
            continue; /* a mask's tile has no hash */
        const uint64_t verified_index = tz_verified_index(level->image, tile_index);
        if (verified_index != TZ_NONE)
            level->hashes[verified_index] = tz_block_head_tile_hash(head, i);
    }
    return TZ_OK;
}

/* Merges the statistics of all tiles, row by row of the image across blocks. */
static void apply_statistics(tz_writer *writer, const tz_cog_plan *plan,
                             const tz_block_index *heads)
{
    const tz_cog_level *l = &plan->levels[0];
    const uint32_t bands = plan->info.bands;
    const uint32_t size = plan->info.block_tiles;
    for (uint32_t row = 0; row < l->tiles_down; row++)
        for (uint32_t column = 0; column < l->tiles_across; column++) {
            const uint32_t first = column / size * size;
            const uint32_t columns = tz_min_u32(l->tiles_across - first, size);
            const size_t block = (size_t)(row / size) * l->blocks_across + column / size;
            const uint64_t tile_index = (uint64_t)(row % size) * columns + column % size;
            for (uint32_t band = 0; band < bands; band++) {
                const tz_stats part =
                    tz_block_head_statistics(&heads->list[block].head, tile_index, band, bands);
                tz_stats_merge(&writer->stats[band], &part);
            }
        }
}

/* Fills the tables, statistics and counts of the writer from the heads of all blocks. */
static tz_result apply_index(tz_writer *writer, const tz_cog_plan *plan,
                             const tz_block_index *heads)
{
    for (uint32_t i = 0; i < writer->pyramid.count; i++) {
        TZ_TRY(tz_level_allocate_tables(&writer->levels[i], &writer->ctx));
        writer->report.tiles += tz_all_tiles(writer->levels[i].image);
    }
    for (size_t i = 0; i < heads->count; i++)
        TZ_TRY(apply_block(writer, plan, &heads->list[i]));
    if (writer->stats)
        apply_statistics(writer, plan, heads);
    return TZ_OK;
}

/* ---- the front ---- */

/* Keeps the bytes of a file before its first tile. */
typedef struct front_sink {
    tz_sink base;  /* first: the two share their address */
    tz_sink tiles; /* the spool */
    uint8_t *data;
    size_t size;
    size_t capacity;
    bool complete; /* the writer has begun to copy tiles */
} front_sink;

/* The capacity doubles at least, and new bytes are zero: the header stays zero until it is
 * written. */
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

/* Writes after the front are ignored, except the header, which the writer writes last. */
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

/* dst is not filled: the copied bytes are ignored. */
static tz_result front_sink_skip_tiles(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                                       tz_error *err)
{
    front_sink *f = (front_sink *)((uint8_t *)sink - offsetof(front_sink, tiles));
    (void)offset, (void)dst, (void)size, (void)err;
    f->complete = true;
    return TZ_OK;
}

/* Lets the writer finish into a front_sink. On success *front owns the bytes. */
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

/* The assembly with the memory of its members. */
typedef struct assembly_owner {
    tz_assembly assembly; /* the first member: given to the caller */
    tz_memory front;
    tz_statistics *statistics;
    tz_run *all_runs; /* of all blobs, in the caller's order */
    const tz_run **runs;
    size_t *counts;
} assembly_owner;

/* Returns the number of runs of a blob, and stores them if out is not NULL. */
static size_t make_runs(const tz_writer *writer, const tz_cog_plan *plan,
                        const tz_block_index_entry *item, const tz_block_tiles *tiles, tz_run *out)
{
    const tz_block_head *head = &item->head;
    const tz_writer_level *level = &writer->levels[head->level];
    const tz_tile_row tile_row = tz_cog_plan_block_tile_row(plan, head->level, tiles);
    tz_run run = {.from = head->size};
    size_t count = 0;
    for (uint64_t i = 0; i < head->tiles; i++) {
        const uint64_t tile_index = tz_tile_position_of(level->image, &tile_row, i).tile_index;
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

/* Goes through all blobs twice: to count, and to store. */
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

/* ---- the assembly ---- */

static tz_result fill_assembly(assembly_owner *h, tz_writer *writer, const tz_cog_plan *plan,
                               const tz_block_index *heads)
{
    const tz_statistics *statistics = writer->levels[0].image->options.statistics;
    const size_t count = heads->count;
    TZ_TRY(apply_index(writer, plan, heads));
    h->counts = tz_alloc_zeroed(count, sizeof *h->counts);
    h->runs = tz_alloc_zeroed(count, sizeof *h->runs);
    h->statistics = tz_alloc_zeroed(plan->info.bands, sizeof *h->statistics);
    if (!h->counts || !h->runs || !h->statistics)
        return tz_fail_nomem(&writer->ctx, count * (sizeof *h->counts + sizeof *h->runs));
    TZ_TRY(finish_front(writer, &h->front));
    TZ_TRY(add_runs(h, writer, plan, heads));
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
    return TZ_OK;
}

tz_result tz_assemble(tz_assembly **out, const tz_cog_plan *plan, const tz_bytes *heads,
                      size_t count, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_index all = {0};
    tz_writer *writer = NULL;
    if (!plan || (!heads && count > 0))
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the plan or the heads are NULL");
    assembly_owner *h = tz_alloc_zeroed(1, sizeof *h);
    if (!h)
        return tz_fail_nomem(&ctx, sizeof *h);
    tz_result result = tz_block_index_make(&all, plan, heads, count, &ctx);
    if (result == TZ_OK)
        result = open_writer(&writer, plan, NULL, err);
    if (result == TZ_OK)
        result = fill_assembly(h, writer, plan, &all);
    close_writer(writer);
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

/* ---- blobs as a spool ---- */

typedef struct blob_list {
    const tz_cog_plan *plan;
    const tz_blobs *blobs;
    tz_bytes *heads;
    tz_block_index sorted;
    const tz_block_index_entry **given; /* by index in blobs */
    const tz_progress *progress;
    uint64_t copied;
    uint64_t total;
} blob_list;

static tz_result read_blob(const blob_list *l, size_t blob, uint64_t offset, void *dst, size_t size,
                           const tz_context *ctx)
{
    return l->blobs->read(l->blobs->user, blob, offset, dst, size, ctx->err);
}

/* The fixed fields come first. They are checked against the plan, which limits the size of the
 * rest. */
static tz_result read_head(blob_list *l, size_t blob, const tz_context *ctx)
{
    uint8_t front[TZ_BLOB_HEADER];
    tz_block_head head;
    size_t size;
    TZ_TRY(read_blob(l, blob, 0, front, sizeof front, ctx));
    TZ_TRY(tz_block_head_read(&head, front, sizeof front, ctx));
    head.at = NULL; /* the table of sizes is not read yet */
    TZ_TRY(tz_block_head_check(&head, l->plan, ctx));
    uint8_t *data = tz_to_size(head.size, &size) ? tz_alloc(size) : NULL;
    if (!data)
        return tz_fail_nomem(ctx, head.size);
    l->heads[blob] = (tz_bytes){data, size};
    memcpy(data, front, sizeof front);
    if (size == sizeof front)
        return TZ_OK;
    return read_blob(l, blob, sizeof front, data + sizeof front, size - sizeof front, ctx);
}

/* Reads the heads of all blobs, then sorts them. given[] finds the entry of a blob by its
 * index. */
static tz_result read_heads(blob_list *l, const tz_context *ctx)
{
    const size_t count = l->blobs->count;
    l->heads = tz_alloc_zeroed(count, sizeof *l->heads);
    l->given = tz_alloc_zeroed(count, sizeof *l->given);
    if (!l->heads || !l->given)
        return tz_fail_nomem(ctx, tz_mul_capped(count, sizeof *l->heads));
    for (size_t i = 0; i < count; i++)
        TZ_TRY(read_head(l, i, ctx));
    TZ_TRY(tz_block_index_make(&l->sorted, l->plan, l->heads, count, ctx));
    for (size_t i = 0; i < count; i++) {
        l->given[l->sorted.list[i].given] = &l->sorted.list[i];
        l->total += l->sorted.list[i].head.body;
    }
    return TZ_OK;
}

static void close_blob_list(blob_list *l)
{
    for (size_t i = 0; l->heads && i < l->blobs->count; i++)
        tz_free((void *)l->heads[i].data);
    tz_free(l->heads);
    tz_free(l->given);
    tz_block_index_deinit(&l->sorted);
}

/* All bodies, one after the other. */
typedef struct blob_spool {
    tz_sink base; /* first: the two share their address */
    blob_list *list;
} blob_spool;

/* Reads bytes of the spool, which may span several blobs. Progress is counted in bytes of the
 * spool. */
static tz_result blob_spool_read(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                                 tz_error *err)
{
    blob_list *l = ((blob_spool *)sink)->list;
    const tz_context ctx = {.err = err, .ifd = -1};
    uint8_t *to = dst;
    TZ_TRY(tz_check_progress(&ctx, l->progress, l->copied, l->total));
    l->copied += size;
    size_t blob = 0, high = l->blobs->count - 1; /* bisection: the last blob at or before offset */
    while (blob < high) {
        const size_t middle = high - (high - blob) / 2;
        if (l->given[middle]->base <= offset)
            blob = middle;
        else
            high = middle - 1;
    }
    for (; size > 0; blob++) {
        const tz_block_index_entry *item = l->given[blob];
        const size_t part = (size_t)tz_min(item->base + item->head.body - offset, size);
        if (part > 0)
            TZ_TRY(read_blob(l, blob, item->head.size + offset - item->base, to, part, &ctx));
        to += part;
        offset += part;
        size -= part;
    }
    return TZ_OK;
}

/* ---- the file ---- */

/* The steps of tz_commit after the last tile, with the blobs as a spool. */
static tz_result write_file(tz_writer *writer, blob_list *list, const tz_write_options *options)
{
    blob_spool spool = {.base = {.read = blob_spool_read}, .list = list};
    for (uint32_t i = 0; i < writer->pyramid.count; i++)
        writer->pyramid.levels[i].image.options.verify = options->verify; /* not the plan's */
    TZ_TRY(apply_index(writer, list->plan, &list->sorted));
    TZ_TRY(tz_sink_open_file(&writer->sink, writer->name, options->exclusive, options->no_sync,
                             &writer->ctx));
    writer->spool = &spool.base;
    writer->all_spooled = true;
    const tz_result result = tz_writer_finish(writer);
    writer->spool = NULL;
    TZ_TRY(result);
    TZ_TRY(tz_sink_sync(writer->sink, writer->report.file_size, &writer->ctx));
    TZ_TRY(tz_writer_verify(writer));
    TZ_TRY(tz_check_progress(&writer->ctx, list->progress, list->total, list->total));
    return tz_sink_commit(writer->sink, &writer->ctx);
}

static tz_result assemble_blobs(blob_list *list, const char *path, const tz_write_options *options,
                                tz_write_report *report, const tz_context *ctx)
{
    const tz_cog_plan *plan = list->plan;
    tz_writer *writer = NULL;
    TZ_TRY(read_heads(list, ctx));
    TZ_TRY(open_writer(&writer, plan, path, ctx->err));
    const tz_result result = write_file(writer, list, options);
    if (result == TZ_OK && options->statistics)
        memcpy(options->statistics, writer->levels[0].image->options.statistics,
               plan->info.bands * sizeof *options->statistics);
    if (result == TZ_OK && report) {
        *report = writer->report;
        report->levels = plan->pyramid.count;
        report->threads = 1;
        report->spool_bytes = 0; /* the spool is the caller's */
    }
    tz_sink_close(writer->sink);
    close_writer(writer);
    return result;
}

static tz_result check_arguments(const char *path, const tz_cog_plan *plan, const tz_blobs *blobs,
                                 const tz_write_options *options, const tz_context *ctx)
{
    const char *wrong = !path                    ? "the path is NULL"
                        : !plan                  ? "the plan is NULL"
                        : !blobs || !blobs->read ? "blobs has no function to read"
                        : (unsigned)options->verify > TZ_VERIFY_NONE
                            ? "options->verify has an unknown value"
                        : options->statistics && !plan->info.statistics
                            ? "options->statistics is set, but the plan has no statistics"
                            : NULL;
    if (!wrong)
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "%s", wrong);
}

tz_result tz_assemble_file(const char *path, const tz_cog_plan *plan, const tz_blobs *blobs,
                           const tz_write_options *options, tz_write_report *report, tz_error *err)
{
    const tz_context ctx = {.name = path, .err = err, .ifd = -1};
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    const size_t size = options ? options->struct_size : sizeof how;
    if (size > sizeof how || size < sizeof size)
        return tz_fail(&ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), sizeof how, size),
                       "options->struct_size is wrong; use TZ_WRITE_OPTIONS_INIT");
    if (options)
        memcpy(&how, options, size);
    TZ_TRY(check_arguments(path, plan, blobs, &how, &ctx));
    blob_list list = {.plan = plan, .blobs = blobs, .progress = &how.progress};
    const tz_result result = assemble_blobs(&list, path, &how, report, &ctx);
    close_blob_list(&list);
    return result;
}
