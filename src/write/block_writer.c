/* SPDX-License-Identifier: Apache-2.0 */
#include "write/block_writer.h"

#include "base/mem.h"

static tz_result fill_block_writer(tz_writer *writer, const tz_cog_plan *plan)
{
    const size_t levels = plan->pyramid.count;
    const uint32_t bands = plan->info.bands;
    writer->pyramid = plan->pyramid; /* what that points to stays the plan's */
    tz_image *image = &writer->pyramid.levels[0].image;
    writer->limits = image->options.limits;
    writer->ctx.limits = &writer->limits;
    image->options.threads = 1;
    TZ_TRY(tz_budget_make(&writer->budget, &writer->pyramid, NULL, NULL, 0, &writer->ctx));
    writer->budget.slots = 1;
    writer->levels = tz_alloc_zeroed(levels, sizeof *writer->levels);
    if (!writer->levels)
        return tz_fail_nomem(&writer->ctx, levels * sizeof *writer->levels);
    for (size_t i = 0; i < levels; i++)
        writer->levels[i].image = &writer->pyramid.levels[i].image;
    if (!plan->info.statistics)
        return TZ_OK;
    writer->stats = tz_alloc_zeroed(bands, sizeof *writer->stats);
    image->options.statistics = tz_alloc_zeroed(bands, sizeof(tz_statistics));
    if (!writer->stats || !image->options.statistics)
        return tz_fail_nomem(&writer->ctx, bands * sizeof(tz_statistics));
    return TZ_OK;
}

tz_result tz_block_writer_open(tz_writer **out, const tz_cog_plan *plan, const char *name,
                               tz_error *err)
{
    const tz_context ctx = {.name = name, .err = err, .ifd = -1};
    tz_writer *writer = tz_alloc_zeroed(1, sizeof *writer);
    if (!writer)
        return tz_fail_nomem(&ctx, sizeof *writer);
    writer->ctx = ctx;
    if (name) {
        writer->name = tz_copy_string(name);
        if (!writer->name) {
            tz_block_writer_close(writer);
            return tz_fail_nomem(&ctx, 1);
        }
    }
    const tz_result result = fill_block_writer(writer, plan);
    if (result == TZ_OK)
        *out = writer;
    else
        tz_block_writer_close(writer);
    return result;
}

void tz_block_writer_close(tz_writer *writer)
{
    if (!writer)
        return;
    tz_workers_close(writer);
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

tz_tile_row tz_block_tile_row(const tz_cog_plan *plan, uint32_t level, const tz_block_tiles *tiles)
{
    const tz_window window = tz_cog_plan_block_window(plan, level, tiles);
    return (tz_tile_row){.row = (uint32_t)window.row,
                         .rows = window.height,
                         .column = tiles->column,
                         .columns = tiles->columns};
}
