/* SPDX-License-Identifier: Apache-2.0 */
#include "support/plain_read.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"

void plain_on_device(tz_buffer *buffer, tz_device_memory *memory)
{
    buffer->data = memory;
    buffer->memory = TZ_MEMORY_KIND_DEVICE;
}

plain_report plain_report_of(const tz_read_report *r)
{
    plain_report out = {.tiles = r->tiles,
                        .tiles_sparse = r->tiles_sparse,
                        .tiles_shared = r->tiles_shared,
                        .largest_tile = r->largest_tile,
                        .peak_host_bytes = r->peak_host_bytes,
                        .threads = r->threads,
                        .waves = r->waves,
                        .requests = r->requests,
                        .bytes_read = r->bytes_read,
                        .bytes_compressed = r->bytes_compressed,
                        .tiles_copied = r->tiles_copied,
                        .tiles_direct = r->tiles_direct,
                        .tiles_decoded = r->tiles_decoded,
                        .tiles_failed = r->tiles_failed,
                        .tiles_reduced = r->tiles_reduced,
                        .bytes_decoded = r->bytes_decoded,
                        .device = *r->device,
                        .warning_count = r->warning_count,
                        .warnings_dropped = r->warnings_dropped};
    assert_true(r->warning_count <= PLAIN_WARNINGS);
    for (uint32_t i = 0; i < r->warning_count; i++)
        out.warnings[i] = *tz_read_report_get_warning(r, i);
    assert_null(tz_read_report_get_warning(r, r->warning_count));
    return out;
}

/* A plan has no statuses. */
static void copy_outcome(plain_outcome *out, const tz_read_report *report, size_t index, bool dry)
{
    const tz_item_report *item = tz_read_report_get_item(report, index);
    out->tile_count = item->tile_count;
    out->tiles_failed = item->tiles_failed;
    out->level = item->level;
    out->mask = item->mask;
    out->resampled = item->resampled;
    out->window = item->window;
    out->reduction = item->reduction;
    if (!out->tiles || dry)
        return;
    assert_true(item->tile_count <= out->tile_room);
    for (uint64_t i = 0; i < item->tile_count; i++)
        out->tiles[i] = *tz_read_report_get_tile(report, index, i);
    assert_null(tz_read_report_get_tile(report, index, item->tile_count));
}

/* The items as the library takes them, which point to the buffers of copies. */
typedef struct plain_call {
    tz_item *items;
    tz_buffer *buffers; /* two of each item */
    bool has_outcomes;
    bool salvage;
} plain_call;

static void begin_call(plain_call *c, const plain_item *items, size_t count)
{
    *c = (plain_call){0};
    c->items = calloc(count + 1, sizeof *c->items);
    c->buffers = calloc(2 * count + 1, sizeof *c->buffers);
    assert_true(c->items && c->buffers);
    for (size_t i = 0; items && i < count; i++) {
        const plain_item *item = &items[i];
        tz_buffer *buffers = &c->buffers[2 * i];
        buffers[0] = item->into;
        buffers[1] = item->mask;
        buffers[0].struct_size = buffers[1].struct_size = sizeof *buffers;
        c->items[i] = (tz_item){.struct_size = sizeof *c->items,
                                .file = item->file,
                                .level = item->level,
                                .mask = item->mask_itself,
                                .window = item->window,
                                .bands = item->bands,
                                .band_count = item->band_count,
                                .into = &buffers[0],
                                .into_mask = item->mask.data ? &buffers[1] : NULL,
                                .grid_width = item->grid_width,
                                .grid_height = item->grid_height,
                                .grid_column = item->grid_column,
                                .grid_row = item->grid_row,
                                .scales = item->scales,
                                .offsets = item->offsets};
        c->has_outcomes = c->has_outcomes || item->outcome;
        c->salvage = c->salvage || (item->outcome && item->outcome->tiles);
    }
}

static tz_result run_call(plain_report *report, const plain_item *items, size_t count,
                          const tz_read_options *how, bool dry, tz_error *err)
{
    plain_call c;
    tz_read_report *made = NULL;
    tz_read_options salvaging = TZ_READ_OPTIONS_INIT;
    begin_call(&c, items, count);
    tz_read_report **wanted = report || c.has_outcomes ? &made : NULL;
    const tz_item *given = items ? c.items : NULL;
    if (c.salvage && how)
        salvaging = *how;
    salvaging.salvage = true;
    const tz_read_options *options = c.salvage ? &salvaging : how;
    const tz_result result = dry          ? tz_plan_read(wanted, given, count, options, err)
                             : count == 1 ? tz_read(given, options, wanted, err)
                                          : tz_read_batch(given, count, options, wanted, err);
    assert_true(result == TZ_OK || !made);
    for (size_t i = 0; made && i < count; i++) {
        if (items[i].outcome)
            copy_outcome(items[i].outcome, made, i, dry);
    }
    if (made && report)
        *report = plain_report_of(made);
    tz_read_report_free(made);
    free(c.items);
    free(c.buffers);
    return result;
}

tz_result plain_read(const plain_item *item, const tz_read_options *how, plain_report *report,
                     tz_error *err)
{
    return run_call(report, item, 1, how, false, err);
}

tz_result plain_read_batch(const plain_item *items, size_t count, const tz_read_options *how,
                           plain_report *report, tz_error *err)
{
    return run_call(report, items, count, how, false, err);
}

tz_result plain_plan_read(plain_report *report, const plain_item *items, size_t count,
                          const tz_read_options *how, tz_error *err)
{
    return run_call(report, items, count, how, true, err);
}
