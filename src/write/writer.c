/* SPDX-License-Identifier: Apache-2.0
 * The public calls of the writer. */
#include "write/writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tiff/image/ifd_emit.h"
#include "write/cog_layout.h"

/* ---- creating ---- */

/* Before anything exists: the specification and what it takes. */
static tz_result prepare_writer(tz_writer *w, const char *name, const tz_image_spec *spec,
                                const tz_write_options *options)
{
    if (name) {
        w->name = tz_copy_string(name);
        if (!w->name)
            return tz_fail_nomem(&w->ctx, strlen(name) + 1);
    }
    w->ctx.name = w->name;
    TZ_TRY(tz_output_pyramid_make(&w->pyramid, spec, options, &w->ctx));
    w->limits = tz_writer_image(w)->options.limits;
    w->ctx.limits = &w->limits;
    return tz_gpu_writer_choose(w);
}

static tz_result allocate_level_tables(tz_writer *w, tz_writer_level *level)
{
    const uint64_t tiles = tz_all_tiles(level->image);
    w->report.tiles += tiles;
    level->offsets = tz_alloc_zeroed((size_t)tiles, sizeof *level->offsets);
    level->sizes = tz_alloc_zeroed((size_t)tiles, sizeof *level->sizes);
    level->hashes = tz_alloc_zeroed((size_t)tz_verified_count(level->image), sizeof *level->hashes);
    if (level->offsets && level->sizes && level->hashes)
        return TZ_OK;
    return tz_fail_nomem(&w->ctx, tiles * (sizeof *level->offsets + sizeof *level->sizes));
}

static tz_result allocate_tables(tz_writer *w)
{
    const tz_image *image = tz_writer_image(w);
    const uint32_t bands = image->spec.bands;
    if (image->options.statistics || image->options.statistics_items) {
        w->stats = tz_alloc_zeroed(bands, sizeof *w->stats);
        if (!w->stats)
            return tz_fail_nomem(&w->ctx, bands * sizeof *w->stats);
    }
    w->levels = tz_alloc_zeroed(w->pyramid.count, sizeof *w->levels);
    if (!w->levels)
        return tz_fail_nomem(&w->ctx, w->pyramid.count * sizeof *w->levels);
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        w->levels[i].image = &w->pyramid.levels[i].image;
        TZ_TRY(allocate_level_tables(w, &w->levels[i]));
    }
    w->position = image->options.cog ? 0 : TZ_EMIT_HEADER_SIZE;
    return TZ_OK;
}

/* Of all tiles of a level before encoding, those of its mask included or not. */
static uint64_t level_pixel_bytes(const tz_image *image, bool mask)
{
    const uint64_t rows = image->options.strips ? image->spec.height
                                                : (uint64_t)image->tiles_down * image->tile_height;
    uint64_t bytes =
        (uint64_t)tz_tile_row_bytes(&image->format) * image->tiles_across * image->planes;
    if (mask && image->spec.mask)
        bytes += (uint64_t)tz_tile_row_bytes(&image->mask_format) * image->tiles_across;
    return bytes * rows;
}

/* Of all levels, or only what of them is not encoded, which a mask always is. */
static uint64_t total_pixel_bytes(const tz_writer *w, bool not_encoded)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        const tz_image *image = &w->pyramid.levels[i].image;
        if (!not_encoded || (image->encoder->flags & TZ_ENCODER_COPY))
            bytes = tz_add_capped(bytes, level_pixel_bytes(image, !not_encoded));
    }
    return bytes;
}

/* Pixels that are stored as they are cannot take less: better say so now than when the disk is
 * full. */
static tz_result check_free_space(const tz_writer *w)
{
    const uint64_t needed = tz_writer_image(w)->options.sparse ? 0 : total_pixel_bytes(w, true);
    const uint64_t space = needed > 0 ? tz_sink_free_space(w->sink) : TZ_NONE;
    if (needed <= space)
        return TZ_OK;
    return tz_fail_errno(&w->ctx, tz_no_location(), ENOSPC,
                         "the file takes %llu bytes, and there is room for %llu",
                         (unsigned long long)needed, (unsigned long long)space);
}

/* Whether the sizes of all tiles are known before they are made, and with them the whole layout:
 * nothing is encoded, left out or counted. */
static bool sizes_are_known(const tz_output_pyramid *pyramid)
{
    const tz_write_options *options = &pyramid->levels[0].image.options;
    const tz_image *last = &pyramid->levels[pyramid->count - 1].image;
    const unsigned flags = pyramid->levels[0].image.encoder->flags & last->encoder->flags;
    return options->cog && (flags & TZ_ENCODER_COPY) && !options->sparse && !last->spec.mask &&
           !options->statistics_items && options->bigtiff != TZ_BIGTIFF_NO;
}

static tz_result assign_known_offsets(tz_writer *w)
{
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        tz_writer_level *level = &w->levels[i];
        const uint32_t size = (uint32_t)tz_tile_bytes(&level->image->format);
        for (uint64_t tile = 0; tile < level->image->tile_count; tile++)
            level->sizes[tile] = size;
    }
    return tz_writer_assign_offsets(w);
}

/* For what cannot go to its place at once: overviews; also all but the first band, where bands
 * follow each other; and everything where the sink cannot make room. */
static tz_result open_spool(tz_writer *w)
{
    const tz_image *image = tz_writer_image(w);
    const bool needed = w->all_spooled || w->pyramid.count > 1 || tz_is_by_band(image);
    if (!image->options.cog || w->offsets_known || !needed)
        return TZ_OK;
    return tz_sink_open_spool(&w->spool, w->sink, image->options.spool_directory, &w->ctx);
}

/* Takes sink, also when it fails. */
static tz_result adopt_sink(tz_writer *w, tz_sink *sink)
{
    w->sink = sink;
    if (!sink || !sink->write)
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the sink has no function to write");
    TZ_TRY(check_free_space(w));
    w->all_spooled = !w->sink->insert;
    w->offsets_known = tz_sink_is_seekable(w->sink) && sizes_are_known(&w->pyramid);
    TZ_TRY(open_spool(w));
    TZ_TRY(allocate_tables(w));
    return w->offsets_known ? assign_known_offsets(w) : TZ_OK;
}

static tz_result finish_create(tz_writer **out, tz_writer *w, tz_result result)
{
    if (result != TZ_OK) {
        tz_discard(w);
        return result;
    }
    w->ctx.err = NULL;
    *out = w;
    return TZ_OK;
}

static tz_writer *new_writer(tz_error *err)
{
    tz_writer *w = tz_alloc_zeroed(1, sizeof *w);
    tz_context ctx = {.err = err, .ifd = -1};
    if (!w) {
        (void)tz_fail_nomem(&ctx, sizeof *w);
        return NULL;
    }
    w->ctx = ctx;
    w->ctx.warnings = &w->warnings;
    w->owner = (long)getpid();
    return w;
}

tz_result tz_create(tz_writer **out, const char *path, const tz_image_spec *spec,
                    const tz_write_options *options, tz_error *err)
{
    tz_writer *w = new_writer(err);
    if (!w)
        return TZ_ERR_NOMEM;
    tz_sink *sink = NULL;
    tz_result result = prepare_writer(w, path, spec, options);
    if (result == TZ_OK)
        result = tz_sink_open_file(&sink, path, tz_writer_image(w)->options.exclusive,
                                   tz_writer_image(w)->options.no_sync, &w->ctx);
    if (result == TZ_OK)
        result = adopt_sink(w, sink);
    return finish_create(out, w, result);
}

tz_result tz_create_memory(tz_writer **out, tz_memory *into, const tz_image_spec *spec,
                           const tz_write_options *options, tz_error *err)
{
    tz_writer *w = new_writer(err);
    if (!w)
        return TZ_ERR_NOMEM;
    tz_sink *sink = NULL;
    tz_result result = prepare_writer(w, NULL, spec, options);
    if (result == TZ_OK)
        result = tz_sink_open_memory(&sink, into, &w->ctx);
    if (result == TZ_OK)
        result = adopt_sink(w, sink);
    return finish_create(out, w, result);
}

tz_result tz_create_sink(tz_writer **out, tz_sink *sink, const char *name,
                         const tz_image_spec *spec, const tz_write_options *options, tz_error *err)
{
    tz_writer *w = new_writer(err);
    if (!w) {
        tz_sink_close(sink);
        return TZ_ERR_NOMEM;
    }
    tz_result result = prepare_writer(w, name, spec, options);
    if (result == TZ_OK)
        result = adopt_sink(w, sink);
    else
        w->sink = sink;
    return finish_create(out, w, result);
}

/* ---- calls on a writer ---- */

/* Every call begins here. */
static tz_result enter_call(tz_writer *w, tz_error *err)
{
    tz_context nobody = {.err = err, .ifd = -1};
    if (!w)
        return tz_fail(&nobody, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(), "the writer is NULL");
    if (w->owner != (long)getpid()) {
        nobody.name = w->ctx.name;
        return tz_fail(&nobody, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the writer belongs to the process that made it");
    }
    w->ctx.err = err;
    tz_gpu_writer_count_begin(w);
    if (w->state == TZ_WRITER_OPEN)
        return TZ_OK;
    return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                   w->state == TZ_WRITER_FAILED ? "the write has failed and can only be discarded"
                                                : "the file is committed already");
}

static tz_result leave_call(tz_writer *w, tz_result result)
{
    if (result != TZ_OK)
        w->state = TZ_WRITER_FAILED;
    tz_gpu_writer_count_end(w);
    w->ctx.err = NULL;
    return result;
}

static tz_result report_progress(void *opaque, uint64_t delivered, tz_error *err)
{
    tz_writer *w = opaque;
    const tz_image *image = tz_writer_image(w);
    const tz_context ctx = tz_writer_context(w, err);
    const uint64_t height = image->spec.height;
    const double part = (double)atomic_load(&w->tiles_done) / (double)tz_all_tiles(image);
    (void)delivered;
    return tz_check_progress(&ctx, &image->options.progress, (uint64_t)((double)height * part),
                             height);
}

static tz_result plan_memory(tz_writer *w, const tz_row_source *source, uint64_t device_available,
                             bool dry, bool *is_planned)
{
    const tz_result result =
        tz_budget_make(&w->budget, &w->pyramid, source, w->device, device_available, &w->ctx);
    *is_planned = result == TZ_OK;
    if (result != TZ_OK || dry || !w->device)
        return result;
    return tz_gpu_resources_open(w, source && source->on_device);
}

/* Where the device has no memory for the plan, it makes smaller batches; where it has none for the
 * smallest, the CPU makes the tiles. */
static tz_result find_memory(tz_writer *w, const tz_row_source *source, bool dry)
{
    tz_error failed, *err = w->ctx.err;
    uint64_t device_available = UINT64_MAX;
    for (;;) {
        bool is_planned;
        failed = (tz_error){.result = TZ_OK};
        w->ctx.err = &failed;
        const tz_result result = plan_memory(w, source, device_available, dry, &is_planned);
        w->ctx.err = err;
        const bool is_full = tz_device_is_full(result, &failed) || result == TZ_ERR_LIMIT;
        if (!w->device || !is_full || (!is_planned && tz_writer_image(w)->options.strict_device)) {
            if (result != TZ_OK && err)
                *err = failed;
            return result;
        }
        if (!is_planned) {
            tz_gpu_writer_abandon(w, failed.message);
            continue;
        }
        tz_gpu_resources_close(w);
        w->gpu.held_bytes = 0;
        device_available = w->budget.device.planned / 2;
    }
}

/* The first rows are there, or asked for: now it is known how much memory goes where. */
static tz_result start_writing(tz_writer *w, const tz_row_source *source)
{
    if (w->ready)
        return TZ_OK;
    tz_pipeline_ops ops = tz_writer_pipeline_ops;
    ops.tick = tz_writer_image(w)->options.progress.call ? report_progress : NULL;
    ops.user = w;
    TZ_TRY(find_memory(w, source, false));
    TZ_TRY(tz_workers_open(w));
    TZ_TRY(tz_pipeline_open(&w->pipeline, w->budget.threads, w->budget.slots, TZ_MAX_DELIVERY, &ops,
                            &w->ctx));
    w->ready = true;
    return TZ_OK;
}

/* ---- rows ---- */

/* Rows on a device are the caller's again, whatever became of them. */
static tz_result wait_for_caller_rows(tz_writer *w, tz_result result)
{
    tz_device *device = tz_writer_image(w)->options.device;
    const tz_result waited = tz_device_sync(device, 0, result == TZ_OK ? w->ctx.err : NULL);
    return result == TZ_OK ? waited : result;
}

static tz_result write_rows(tz_writer *w, const tz_buffer *rows, const tz_buffer *mask)
{
    tz_buffer pixels, valid;
    TZ_TRY(tz_check_rows(w, rows, mask, &pixels, &valid));
    if (rows->height == 0)
        return TZ_OK;
    TZ_TRY(start_writing(w, NULL));
    if (rows->memory)
        TZ_TRY(tz_device_wait_for_stream(tz_writer_image(w)->options.device, w->ctx.err));
    const tz_result result = tz_writer_push(w, &pixels, mask ? &valid : NULL);
    return rows->memory ? wait_for_caller_rows(w, result) : result;
}

tz_result tz_write_rows(tz_writer *writer, const tz_buffer *rows, const tz_buffer *mask,
                        tz_error *err)
{
    TZ_TRY(enter_call(writer, err));
    return leave_call(writer, write_rows(writer, rows, mask));
}

static tz_result write_from(tz_writer *w, const tz_row_source *source)
{
    if (!source || !source->read)
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the source has no function to read");
    if (source->on_device && !tz_writer_image(w)->options.device)
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the source fills memory of a device, but options->device is none");
    TZ_TRY(start_writing(w, source));
    return tz_writer_pull(w, source);
}

tz_result tz_write_from(tz_writer *writer, const tz_row_source *source, tz_error *err)
{
    TZ_TRY(enter_call(writer, err));
    return leave_call(writer, write_from(writer, source));
}

/* ---- the end ---- */

static void release_slabs(tz_writer_level *level)
{
    tz_slab *const slabs[] = {&level->slabs[0], &level->slabs[1], &level->halo[0].slab,
                              &level->halo[1].slab};
    for (size_t i = 0; i < sizeof slabs / sizeof slabs[0]; i++) {
        tz_free(slabs[i]->memory);
        slabs[i]->memory = NULL;
    }
}

static void release_resources(tz_writer *w)
{
    tz_pipeline_close(w->pipeline);
    w->pipeline = NULL;
    tz_workers_close(w);
    tz_gpu_resources_close(w);
    for (uint32_t i = 0; w->levels && i < w->pyramid.count; i++)
        release_slabs(&w->levels[i]);
}

static void fill_report(tz_writer *w)
{
    tz_write_report *report = &w->report;
    report->levels = w->pyramid.count;
    report->bytes_pixels = total_pixel_bytes(w, false);
    report->buffer_bytes = w->budget.allowed;
    report->peak_memory = w->budget.planned;
    report->threads = w->budget.threads;
    report->warnings_dropped = w->warnings.dropped;
    for (uint32_t i = 0; i < w->warnings.count; i++) {
        if (i < TZ_REPORT_WARNINGS)
            report->warnings[report->warning_count++] = w->warnings.list[i];
        else
            report->warnings_dropped++;
    }
}

static tz_result commit_file(tz_writer *w)
{
    const tz_image *image = tz_writer_image(w);
    const uint32_t height = image->spec.height;
    if (w->levels[0].next_row < height)
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), height, w->levels[0].next_row),
                       "rows are missing");
    TZ_TRY(tz_gpu_writer_finish_batch(w));
    TZ_TRY(tz_pipeline_wait(w->pipeline, w->tasks_added, w->ctx.err));
    release_resources(w);
    TZ_TRY(tz_writer_finish(w));
    tz_sink_close(w->spool);
    w->spool = NULL;
    TZ_TRY(tz_sink_sync(w->sink, w->report.file_size, &w->ctx));
    TZ_TRY(tz_writer_verify(w));
    TZ_TRY(tz_check_progress(&w->ctx, &image->options.progress, height, height));
    return tz_sink_commit(w->sink, &w->ctx);
}

tz_result tz_commit(tz_writer *writer, tz_write_report *report, tz_error *err)
{
    TZ_TRY(enter_call(writer, err));
    TZ_TRY(leave_call(writer, commit_file(writer)));
    writer->state = TZ_WRITER_COMMITTED;
    fill_report(writer);
    tz_gpu_writer_report(writer);
    if (report)
        *report = writer->report;
    return TZ_OK;
}

void tz_discard(tz_writer *writer)
{
    if (!writer || writer->owner != (long)getpid())
        return; /* a child has neither the threads nor the right to remove the file */
    release_resources(writer);
    tz_sink_close(writer->spool);
    tz_sink_close(writer->sink);
    for (uint32_t i = 0; writer->levels && i < writer->pyramid.count; i++) {
        tz_free(writer->levels[i].offsets);
        tz_free(writer->levels[i].sizes);
        tz_free(writer->levels[i].hashes);
    }
    tz_free(writer->levels);
    tz_free(writer->stats);
    tz_output_pyramid_deinit(&writer->pyramid);
    tz_warnings_deinit(&writer->warnings);
    tz_free(writer->name);
    tz_free(writer);
}

/* ---- planning ---- */

/* Tiles with what may stand around or before them. */
static uint64_t max_level_bytes(const tz_writer *w, uint32_t level)
{
    const tz_image *image = &w->pyramid.levels[level].image;
    const tz_budget *b = &w->budget;
    const uint64_t around = image->options.cog ? TZ_LEADER + TZ_TRAILER : image->options.alignment;
    const uint64_t mask_tiles = tz_all_tiles(image) - image->tile_count;
    const size_t bound = b->encoding[tz_encoding_index(b, level, false)].bytes.bound;
    return tz_add_capped(
        tz_mul_capped(image->tile_count, bound + around),
        tz_mul_capped(mask_tiles, b->encoding[TZ_ENCODING_MASK].bytes.bound + around));
}

static void plan_sizes(tz_writer *w)
{
    tz_write_report *report = &w->report;
    const tz_image *image = tz_writer_image(w);
    report->file_size = w->budget.fixed + (image->options.cog ? TZ_COG_ALIGNMENT : 0);
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        const uint64_t max_bytes = max_level_bytes(w, i);
        report->tiles += tz_all_tiles(&w->pyramid.levels[i].image);
        report->file_size = tz_add_capped(report->file_size, max_bytes);
        if (image->options.cog && !sizes_are_known(&w->pyramid) && (i > 0 || tz_is_by_band(image)))
            report->spool_bytes = tz_add_capped(report->spool_bytes, max_bytes);
    }
}

static tz_result plan_write(tz_writer *w, const tz_image_spec *spec,
                            const tz_write_options *options, const tz_row_source *source)
{
    TZ_TRY(prepare_writer(w, NULL, spec, options));
    const tz_image *image = tz_writer_image(w);
    TZ_TRY(find_memory(w, source, true));
    plan_sizes(w);
    fill_report(w);
    for (uint32_t row = 0; row < image->spec.height; w->report.swaths++) {
        const uint32_t end = tz_tile_row_end(&w->budget, image, row);
        if (end - row > w->report.swath_rows)
            w->report.swath_rows = end - row;
        row = end;
    }
    w->report.swaths *= tz_ceil_div(image->tiles_across, w->budget.columns);
    w->report.bigtiff = image->options.bigtiff == TZ_BIGTIFF_YES;
    tz_gpu_writer_report_plan(w);
    return TZ_OK;
}

tz_result tz_plan_write(const tz_image_spec *spec, const tz_write_options *options,
                        const tz_row_source *source, tz_write_report *report, tz_error *err)
{
    tz_writer *w = new_writer(err);
    if (!w)
        return TZ_ERR_NOMEM;
    const tz_result result = plan_write(w, spec, options, source);
    if (result == TZ_OK && report)
        *report = w->report;
    tz_discard(w);
    return result;
}
