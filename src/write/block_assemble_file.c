/* SPDX-License-Identifier: Apache-2.0
 * The file itself from blobs. To the writer that finishes it, their tiles are in a spool. */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "write/block_index.h"

/* ---- reading heads ---- */

typedef struct blob_list {
    const tz_cog_plan *plan;
    const tz_blobs *blobs;
    tz_bytes *heads;
    tz_block_index sorted;
    const tz_block_index_entry **given; /* by number of the blob */
    const tz_progress *progress;
    uint64_t copied;
    uint64_t total;
} blob_list;

static tz_result read_blob(const blob_list *l, size_t blob, uint64_t offset, void *dst, size_t size,
                           const tz_context *ctx)
{
    return l->blobs->read(l->blobs->user, blob, offset, dst, size, ctx->err);
}

/* First what says how long it is: a block of this plan is never longer than the plan knows. */
static tz_result read_head(blob_list *l, size_t blob, const tz_context *ctx)
{
    uint8_t front[TZ_BLOB_HEADER];
    tz_block_head head;
    size_t size;
    TZ_TRY(read_blob(l, blob, 0, front, sizeof front, ctx));
    TZ_TRY(tz_block_head_read(&head, front, sizeof front, ctx));
    head.at = NULL; /* its sizes are not there yet */
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

/* ---- tiles ---- */

/* All bodies, end to end. */
typedef struct blob_spool {
    tz_sink base; /* first: the two share their address */
    blob_list *list;
} blob_spool;

/* The blob whose body has the byte at offset. */
static size_t find_blob(const blob_list *l, uint64_t offset)
{
    size_t low = 0, high = l->blobs->count - 1;
    while (low < high) {
        const size_t middle = high - (high - low) / 2;
        if (l->given[middle]->base <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static tz_result blob_spool_read(tz_sink *sink, uint64_t offset, void *dst, size_t size,
                                 tz_error *err)
{
    blob_list *l = ((blob_spool *)sink)->list;
    const tz_context ctx = {.err = err, .ifd = -1};
    uint8_t *to = dst;
    TZ_TRY(tz_check_progress(&ctx, l->progress, l->copied, l->total));
    l->copied += size;
    for (size_t blob = find_blob(l, offset); size > 0; blob++) {
        const tz_block_index_entry *item = l->given[blob];
        const uint64_t left = item->base + item->head.body - offset;
        const size_t part = left < size ? (size_t)left : size;
        if (part > 0)
            TZ_TRY(read_blob(l, blob, item->head.size + offset - item->base, to, part, &ctx));
        to += part;
        offset += part;
        size -= part;
    }
    return TZ_OK;
}

/* ---- the file ---- */

/* What is decided here and not by the plan. */
static void set_verify_option(tz_writer *writer, const tz_write_options *options)
{
    for (uint32_t i = 0; i < writer->pyramid.count; i++)
        writer->pyramid.levels[i].image.options.verify = options->verify;
}

static tz_result write_file(tz_writer *writer, blob_list *list, const tz_write_options *options)
{
    blob_spool spool = {.base = {.read = blob_spool_read}, .list = list};
    TZ_TRY(tz_block_index_apply(&list->sorted, list->plan, writer));
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

static void fill_caller_report(const tz_writer *writer, const tz_cog_plan *plan,
                               const tz_write_options *options, tz_write_report *report)
{
    if (options->statistics)
        memcpy(options->statistics, writer->levels[0].image->options.statistics,
               plan->info.bands * sizeof *options->statistics);
    if (!report)
        return;
    *report = writer->report;
    report->levels = plan->pyramid.count;
    report->threads = 1;
    report->spool_bytes = 0; /* it was the caller's */
}

static tz_result assemble_blobs(blob_list *list, const char *path, const tz_write_options *options,
                                tz_write_report *report, const tz_context *ctx)
{
    tz_writer *writer = NULL;
    TZ_TRY(read_heads(list, ctx));
    TZ_TRY(tz_block_writer_open(&writer, list->plan, path, ctx->err));
    set_verify_option(writer, options);
    const tz_result result = write_file(writer, list, options);
    if (result == TZ_OK)
        fill_caller_report(writer, list->plan, options, report);
    tz_sink_close(writer->sink);
    tz_block_writer_close(writer);
    return result;
}

static tz_result check_arguments(const char *path, const tz_cog_plan *plan, const tz_blobs *blobs,
                                 const tz_write_options *options, const tz_context *ctx)
{
    const char *wrong = !path                    ? "there is no path"
                        : !plan                  ? "there is no plan"
                        : !blobs || !blobs->read ? "there is no function to read blobs"
                        : (unsigned)options->verify > TZ_VERIFY_NONE
                            ? "options->verify is none of its values"
                        : options->statistics && !plan->info.statistics
                            ? "statistics are wanted, and the plan gathers none"
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
