/* SPDX-License-Identifier: Apache-2.0
 * The end of a distributed COG: the heads of all blocks give the layout of the file, and the blobs
 * its tiles.
 *
 * The index of the heads fills the tables of an output file: sizes, hashes and statistics as if a
 * writer had made the tiles, and offsets as if all bodies followed each other in a spool. Then the
 * file is finished like every other. tz_assembly_create gives it a sink that keeps only the front
 * of the file, and a spool that has no bytes; it returns the front and the runs of each blob's
 * bytes in the file. tz_assemble_file gives it a real sink, and a spool that reads blobs.
 *
 * The decision that is not obvious: statistics are merged in the order of the image's tiles, across
 * blocks, because that is the order of a writer and sums of floating point depend on it. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "tiff/tags.h"
#include "write/block_head.h"
#include "write/cog_layout.h"
#include "write/output_file.h"
#include "write/tile_encoder.h"

/* ---- a file whose tiles exist ---- */

typedef struct block_file {
    tz_output_pyramid pyramid; /* the plan's, with other options; its pointers are the plan's */
    tz_budget budget;
    tz_context ctx;
    tz_write_report *report;
    tz_output_file file;
} block_file;

static void close_block_file(block_file *b)
{
    if (!b)
        return;
    tz_output_file_deinit(&b->file);
    tz_write_report_free(b->report);
    tz_free(b);
}

/* Tiles of a blob are in the order of its tile row; position follows their bodies in the
 * spool. */
static void apply_block(block_file *b, const tz_cog_plan *plan, const tz_block_index_entry *item)
{
    const tz_block_head *head = &item->head;
    const tz_image *image = &b->pyramid.levels[head->level].image;
    const tz_tile_tables *tables = &b->file.levels[head->level];
    const tz_tile_row tile_row = tz_cog_plan_block_tile_row(plan, head->level, &item->tiles);
    uint64_t position = item->base;
    for (uint64_t i = 0; i < head->tiles; i++) {
        const uint64_t tile_index = tz_tile_position_of(image, &tile_row, i).tile_index;
        const uint32_t size = tz_block_head_tile_size(head, i);
        tables->sizes[tile_index] = size;
        b->report->bytes_tiles += size;
        if (size == 0)
            b->report->tiles_sparse++;
        else
            tables->offsets[tile_index] = position + TZ_LEADER;
        position += tz_cog_tile_bytes(size);
        if (tile_index >= image->tile_count)
            continue; /* a mask's tile has no hash */
        const uint64_t verified_index = tz_verified_index(image, tile_index);
        if (verified_index != TZ_NO_VALUE)
            tables->hashes[verified_index] = tz_block_head_tile_hash(head, i);
    }
}

/* Merges the statistics of all tiles, row by row of the image across blocks. */
static void merge_statistics(tz_stats *stats, const tz_cog_plan *plan, const tz_block_index *heads)
{
    const tz_cog_level *l = &plan->levels[0];
    const uint32_t bands = plan->info.bands;
    const uint32_t size = plan->info.block_tiles;
    for (uint32_t row = 0; row < l->tiles_down; row++)
        for (uint32_t column = 0; column < l->tiles_across; column++) {
            const size_t block = (size_t)(row / size) * l->blocks_across + column / size;
            const tz_block_index_entry *item = &heads->list[block];
            const uint64_t tile_index =
                (uint64_t)(row % size) * item->tiles.columns + column % size;
            for (uint32_t band = 0; band < bands; band++) {
                const tz_stats part =
                    tz_block_head_statistics(&item->head, tile_index, band, bands);
                tz_stats_merge(&stats[band], &part);
            }
        }
}

/* Everything but sink and spool. verify: NULL: as the plan says. Plan and context must outlive the
 * file. Released by close_block_file, also after a failure. */
static tz_result open_block_file(block_file **out, const tz_cog_plan *plan,
                                 const tz_block_index *heads, const tz_verify *verify,
                                 const tz_context *ctx)
{
    block_file *b = *out = tz_alloc_zeroed(1, sizeof *b);
    if (!b)
        return tz_fail_nomem(ctx, sizeof *b);
    b->pyramid = plan->pyramid;
    tz_write_options *options = &b->pyramid.levels[0].image.options;
    b->ctx = *ctx;
    b->ctx.limits = &b->pyramid.levels[0].image.limits;
    b->report = tz_write_report_make(ctx);
    if (!b->report)
        return TZ_ERR_NOMEM;
    b->file = (tz_output_file){.pyramid = &b->pyramid,
                               .budget = &b->budget,
                               .ctx = &b->ctx,
                               .report = b->report,
                               .all_spooled = true};
    options->statistics = plan->info.statistics;
    options->threads = 1;
    TZ_TRY(tz_budget_make(&b->budget, &b->pyramid, NULL, NULL, 0, &b->ctx));
    for (uint32_t i = 0; verify && i < b->pyramid.count; i++)
        b->pyramid.levels[i].image.options.verify = *verify;
    TZ_TRY(tz_output_file_allocate(&b->file));
    for (size_t i = 0; i < heads->count; i++)
        apply_block(b, plan, &heads->list[i]);
    if (b->file.stats)
        merge_statistics(b->file.stats, plan, heads);
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
    bool complete; /* the copy of tiles has begun */
} front_sink;

/* Writes after the front are ignored, except the header, which is written last. The capacity
 * doubles at least, and new bytes are zero: the header stays zero until it is written. */
static tz_result front_sink_write(tz_sink *sink, uint64_t offset, const tz_bytes *buffers,
                                  size_t count, tz_error *err)
{
    front_sink *f = (front_sink *)sink;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (f->complete && offset > 0)
        return TZ_OK;
    for (size_t i = 0; i < count; i++) {
        const uint64_t end = offset + buffers[i].size;
        if (end > f->capacity) {
            const size_t capacity = (size_t)end + f->capacity;
            uint8_t *data = tz_realloc_array(f->data, capacity, 1);
            if (!data)
                return tz_fail_nomem(&ctx, capacity);
            memset(data + f->capacity, 0, capacity - f->capacity);
            f->data = data;
            f->capacity = capacity;
        }
        memcpy(f->data + offset, buffers[i].data, buffers[i].size);
        f->size = tz_max_size(f->size, (size_t)end);
        offset = end;
    }
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

/* ---- the assembly ---- */

/* The assembly with the memory of its members. */
typedef struct assembly_owner {
    tz_assembly assembly; /* the first member: given to the caller */
    tz_memory front;
    tz_write_report *report; /* with the statistics */
    tz_copy_run *all_runs;   /* of all blobs, in the caller's order */
    const tz_copy_run **runs;
    size_t *counts;
} assembly_owner;

/* Returns the number of runs of a blob, and stores them if out is not NULL. */
static size_t make_runs(const block_file *b, const tz_cog_plan *plan,
                        const tz_block_index_entry *item, tz_copy_run *out)
{
    const tz_block_head *head = &item->head;
    const tz_tile_tables *tables = &b->file.levels[head->level];
    const tz_tile_row tile_row = tz_cog_plan_block_tile_row(plan, head->level, &item->tiles);
    tz_copy_run run = {.blob_offset = head->size};
    size_t count = 0;
    for (uint64_t i = 0; i < head->tiles; i++) {
        const uint64_t tile_index =
            tz_tile_position_of(&b->pyramid.levels[head->level].image, &tile_row, i).tile_index;
        const uint64_t size = tz_cog_tile_bytes(tables->sizes[tile_index]);
        if (size == 0)
            continue;
        const uint64_t offset = tables->offsets[tile_index] - TZ_LEADER;
        if (count == 0 || run.file_offset + run.size != offset) {
            run = (tz_copy_run){.file_offset = offset, .blob_offset = run.blob_offset + run.size};
            count++;
        }
        run.size += size;
        if (out)
            out[count - 1] = run;
    }
    return count;
}

/* Finishes the file into a front_sink, then goes through all blobs twice: to count their runs, and
 * to store them. */
static tz_result fill_assembly(assembly_owner *h, block_file *b, const tz_cog_plan *plan,
                               const tz_block_index *heads)
{
    const size_t count = heads->count;
    front_sink f = {.base = {.struct_size = sizeof f.base, .write = front_sink_write},
                    .tiles = {.struct_size = sizeof f.tiles, .read = front_sink_skip_tiles}};
    size_t total = 0;
    h->counts = tz_alloc_zeroed(count, sizeof *h->counts);
    h->runs = tz_alloc_zeroed(count, sizeof *h->runs);
    if (!h->counts || !h->runs)
        return tz_fail_nomem(&b->ctx, count * (sizeof *h->counts + sizeof *h->runs));
    b->file.sink = &f.base;
    b->file.spool = &f.tiles;
    const tz_result result = tz_output_file_finish(&b->file);
    h->front = (tz_memory){f.data, f.size};
    TZ_TRY(result);
    for (size_t i = 0; i < count; i++) {
        const tz_block_index_entry *item = &heads->list[i];
        h->counts[item->given] = make_runs(b, plan, item, NULL);
        total += h->counts[item->given];
    }
    h->all_runs = tz_alloc_array(total, sizeof *h->all_runs);
    if (!h->all_runs)
        return tz_fail_nomem(&b->ctx, total * sizeof *h->all_runs);
    for (size_t i = 0, first = 0; i < count; first += h->counts[i], i++)
        h->runs[i] = h->all_runs + first;
    for (size_t i = 0; i < count; i++)
        (void)make_runs(b, plan, &heads->list[i], (tz_copy_run *)h->runs[heads->list[i].given]);
    h->report = b->report;
    b->report = b->file.report = NULL;
    h->assembly = (tz_assembly){.file_size = h->report->file_size,
                                .bigtiff = h->report->bigtiff,
                                .front = {h->front.data, h->front.size},
                                .tiles = h->report->tiles,
                                .tiles_sparse = h->report->tiles_sparse,
                                .blob_count = count};
    return TZ_OK;
}

tz_result tz_assembly_create(tz_assembly **out, const tz_cog_plan *plan, const tz_bytes *heads,
                             size_t count, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_block_index all = {0};
    block_file *b = NULL;
    if (!plan || (!heads && count > 0))
        return TZ_FAIL_ARG(&ctx, "the plan or the heads are NULL");
    assembly_owner *h = tz_alloc_zeroed(1, sizeof *h);
    if (!h)
        return tz_fail_nomem(&ctx, sizeof *h);
    tz_result result = tz_block_index_make(&all, plan, heads, count, &ctx);
    if (result == TZ_OK)
        result = open_block_file(&b, plan, &all, NULL, &ctx);
    if (result == TZ_OK)
        result = fill_assembly(h, b, plan, &all);
    close_block_file(b);
    tz_free(all.list);
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
    tz_write_report_free(h->report);
    tz_free(h->all_runs);
    tz_free(h->runs);
    tz_free(h->counts);
    tz_free(h);
}

const tz_copy_run *tz_assembly_get_runs(size_t *count, const tz_assembly *assembly, size_t blob)
{
    const assembly_owner *h = (const assembly_owner *)assembly;
    *count = blob < assembly->blob_count ? h->counts[blob] : 0;
    return *count > 0 ? h->runs[blob] : NULL;
}

const tz_statistics *tz_assembly_get_statistics(const tz_assembly *assembly, uint32_t band)
{
    return tz_write_report_get_statistics(((const assembly_owner *)assembly)->report, band);
}

/* ---- blobs as a spool ---- */

/* All bodies, one after the other in the caller's order. */
typedef struct blob_spool {
    tz_sink base; /* first: the two share their address */
    const tz_blobs *blobs;
    tz_bytes *heads;
    tz_block_index sorted;
    const tz_block_index_entry **given; /* by index in blobs */
    const tz_progress *progress;
    uint64_t copied; /* bytes, for progress */
    uint64_t total;
} blob_spool;

/* Reads the heads of all blobs, then sorts them. The fixed fields of a head come first. They are
 * checked against the plan, which limits the size of the rest. The bytes to copy, which progress
 * counts, are known only after the last head. */
static tz_result read_heads(blob_spool *s, const tz_cog_plan *plan, const tz_context *ctx)
{
    const tz_blobs *blobs = s->blobs;
    s->heads = tz_alloc_zeroed(blobs->count, sizeof *s->heads);
    s->given = tz_alloc_zeroed(blobs->count, sizeof *s->given);
    if (!s->heads || !s->given)
        return tz_fail_nomem(ctx, tz_mul_capped(blobs->count, sizeof *s->heads));
    for (size_t i = 0; i < blobs->count; i++) {
        uint8_t front[TZ_BLOB_HEADER];
        tz_block_head head;
        size_t size;
        TZ_TRY(tz_check_progress(ctx, s->progress, 0, 0));
        TZ_TRY(blobs->read(blobs->user, i, 0, front, sizeof front, ctx->err));
        TZ_TRY(tz_block_head_read(&head, front, sizeof front, ctx));
        head.at = NULL; /* the table of sizes is not read yet */
        TZ_TRY(tz_block_head_check(&head, plan, ctx));
        uint8_t *data = tz_to_size(head.size, &size) ? tz_alloc(size) : NULL;
        if (!data)
            return tz_fail_nomem(ctx, head.size);
        s->heads[i] = (tz_bytes){data, size};
        memcpy(data, front, sizeof front);
        if (size > sizeof front)
            TZ_TRY(blobs->read(blobs->user, i, sizeof front, data + sizeof front,
                               size - sizeof front, ctx->err));
    }
    TZ_TRY(tz_block_index_make(&s->sorted, plan, s->heads, blobs->count, ctx));
    for (size_t i = 0; i < blobs->count; i++) {
        s->given[s->sorted.list[i].given] = &s->sorted.list[i];
        s->total += s->sorted.list[i].head.body;
    }
    return TZ_OK;
}

/* Reads bytes of the spool, which may span several blobs. Progress is counted in bytes of the
 * spool. */
static tz_result blob_spool_read(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                                 tz_error *err)
{
    blob_spool *s = (blob_spool *)sink;
    const tz_blobs *blobs = s->blobs;
    const tz_context ctx = {.err = err, .ifd = -1};
    uint8_t *to = dst;
    TZ_TRY(tz_check_progress(&ctx, s->progress, s->copied, s->total));
    s->copied += size;
    size_t blob = 0, high = blobs->count - 1; /* bisection: the last blob at or before offset */
    while (blob < high) {
        const size_t middle = high - (high - blob) / 2;
        if (s->given[middle]->base <= offset)
            blob = middle;
        else
            high = middle - 1;
    }
    for (; size > 0; blob++) {
        const tz_block_index_entry *item = s->given[blob];
        const size_t part = (size_t)tz_min(item->base + item->head.body - offset, size);
        if (part > 0)
            TZ_TRY(blobs->read(blobs->user, blob, item->head.size + offset - item->base, to, part,
                               err));
        to += part;
        offset += part;
        size -= part;
    }
    return TZ_OK;
}

/* The steps of tz_commit after the last tile, with the blobs as a spool. */
static tz_result write_file(block_file *b, blob_spool *spool, const char *path,
                            const tz_write_options *options)
{
    tz_output_file *file = &b->file;
    TZ_TRY(tz_sink_open_file(&file->sink, path, options->exclusive, options->no_sync, &b->ctx));
    file->spool = &spool->base;
    TZ_TRY(tz_output_file_finish(file));
    TZ_TRY(tz_sink_sync(file->sink, b->report->file_size, &b->ctx));
    TZ_TRY(tz_output_file_verify(file));
    TZ_TRY(tz_check_progress(&b->ctx, spool->progress, spool->total, spool->total));
    return tz_sink_commit(file->sink, &b->ctx);
}

tz_result tz_assemble_file(const char *path, const tz_cog_plan *plan, const tz_blobs *given,
                           const tz_write_options *options, tz_write_report **report, tz_error *err)
{
    const tz_context ctx = {.name = path, .err = err, .ifd = -1};
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    tz_blobs blobs = TZ_BLOBS_INIT;
    TZ_TRY(tz_copy_struct(&blobs, sizeof blobs, given, "blobs", "TZ_BLOBS_INIT", &ctx));
    TZ_TRY(tz_copy_struct(&how, sizeof how, options, "options", "TZ_WRITE_OPTIONS_INIT", &ctx));
    const char *wrong = !path         ? "the path is NULL"
                        : !plan       ? "the plan is NULL"
                        : !blobs.read ? "blobs has no function to read"
                        : (unsigned)how.verify > TZ_VERIFY_NONE
                            ? "options->verify has an unknown value"
                        : how.statistics && !plan->info.statistics
                            ? "options->statistics is set, but the plan has no statistics"
                            : NULL;
    if (wrong)
        return TZ_FAIL_ARG(&ctx, "%s", wrong);
    blob_spool spool = {.base = {.struct_size = sizeof spool.base, .read = blob_spool_read},
                        .blobs = &blobs,
                        .progress = &how.progress};
    block_file *b = NULL;
    tz_result result = read_heads(&spool, plan, &ctx);
    if (result == TZ_OK)
        result = open_block_file(&b, plan, &spool.sorted, &how.verify, &ctx);
    if (result == TZ_OK)
        result = write_file(b, &spool, path, &how);
    if (result == TZ_OK && report) {
        b->report->levels = plan->pyramid.count;
        b->report->threads = 1;
        b->report->spool_bytes = 0; /* the spool is the caller's */
        *report = b->report;
        b->report = NULL;
    }
    if (b)
        tz_sink_close(b->file.sink);
    close_block_file(b);
    for (size_t i = 0; spool.heads && i < blobs.count; i++)
        tz_free((void *)spool.heads[i].data);
    tz_free(spool.heads);
    tz_free(spool.given);
    tz_free(spool.sorted.list);
    return result;
}
