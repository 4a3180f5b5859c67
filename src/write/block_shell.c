/* SPDX-License-Identifier: Apache-2.0 */
#include "write/block_shell.h"

#include "base/mem.h"

static tz_result fill(tz_writer *shell, const tz_cog_plan *plan)
{
    const size_t levels = plan->pyramid.count;
    const uint32_t bands = plan->info.bands;
    shell->pyramid = plan->pyramid; /* what that points to stays the plan's */
    tz_image *image = &shell->pyramid.levels[0].image;
    shell->limits = image->options.limits;
    shell->ctx.limits = &shell->limits;
    image->options.threads = 1;
    TZ_TRY(tz_budget_make(&shell->budget, &shell->pyramid, NULL, NULL, 0, &shell->ctx));
    shell->budget.slots = 1;
    shell->levels = tz_alloc_zeroed(levels, sizeof *shell->levels);
    if (!shell->levels)
        return tz_fail_nomem(&shell->ctx, levels * sizeof *shell->levels);
    for (size_t i = 0; i < levels; i++)
        shell->levels[i].image = &shell->pyramid.levels[i].image;
    if (!plan->info.statistics)
        return TZ_OK;
    shell->tallies = tz_alloc_zeroed(bands, sizeof *shell->tallies);
    image->options.statistics = tz_alloc_zeroed(bands, sizeof(tz_statistics));
    if (!shell->tallies || !image->options.statistics)
        return tz_fail_nomem(&shell->ctx, bands * sizeof(tz_statistics));
    return TZ_OK;
}

tz_result tz_shell_open(tz_writer **out, const tz_cog_plan *plan, const char *name, tz_error *err)
{
    const tz_context ctx = {.name = name, .err = err, .ifd = -1};
    tz_writer *shell = tz_alloc_zeroed(1, sizeof *shell);
    if (!shell)
        return tz_fail_nomem(&ctx, sizeof *shell);
    shell->ctx = ctx;
    if (name) {
        shell->name = tz_copy_string(name);
        if (!shell->name) {
            tz_shell_close(shell);
            return tz_fail_nomem(&ctx, 1);
        }
    }
    const tz_result result = fill(shell, plan);
    if (result == TZ_OK)
        *out = shell;
    else
        tz_shell_close(shell);
    return result;
}

void tz_shell_close(tz_writer *shell)
{
    if (!shell)
        return;
    tz_workers_close(shell);
    for (uint32_t i = 0; shell->levels && i < shell->pyramid.count; i++) {
        tz_free(shell->levels[i].places);
        tz_free(shell->levels[i].sizes);
        tz_free(shell->levels[i].hashes);
    }
    tz_free(shell->levels);
    tz_free(shell->tallies);
    if (shell->pyramid.count > 0)
        tz_free(shell->pyramid.levels[0].image.options.statistics);
    tz_free(shell->name);
    tz_free(shell);
}

tz_swath tz_shell_swath(const tz_cog_plan *plan, uint32_t level, const tz_block_tiles *tiles)
{
    const tz_window window = tz_block_window(plan, level, tiles);
    return (tz_swath){.row = (uint32_t)window.row,
                      .rows = window.height,
                      .column = tiles->column,
                      .columns = tiles->columns};
}
