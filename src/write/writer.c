/* SPDX-License-Identifier: Apache-2.0
 * The public calls of the writer, and the life of a write.
 *
 * tz_create checks the specification and options of every level before anything exists, then opens
 * the sink and, for a COG, the spool. The first rows open the rest (start_writing): only then is it
 * known whether rows are pushed or pulled, and so how memory is divided. tz_commit waits for the
 * pipeline, releases its memory, writes directories, reads back and publishes the file;
 * tz_writer_close releases everything and leaves no file.
 *
 * The decision that is not obvious: a COG whose tiles are not encoded has known sizes, so all
 * offsets are assigned in tz_create and tiles go to their final offsets without a spool. */
#include "write/writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "tiff/tags.h"
#include "write/cog_layout.h"

/* ---- creating ---- */

/* Checks everything that can be checked before a file exists. */
static tz_result prepare_writer(tz_writer *w, const char *name, const tz_image_spec *spec,
                                const tz_write_options *options)
{
    if (name) {
        w->name = tz_copy_string(name);
        if (!w->name)
            return tz_fail_nomem(&w->ctx, strlen(name) + 1);
    }
    w->ctx.name = w->name;
    tz_write_options copied = TZ_WRITE_OPTIONS_INIT;
    TZ_TRY(tz_copy_struct(&copied, sizeof copied, options, "options", "TZ_WRITE_OPTIONS_INIT",
                          &w->ctx));
    w->log = copied.log;
    w->ctx.log = &w->log;
    TZ_TRY(tz_output_pyramid_make(&w->pyramid, spec, options, &w->ctx));
    w->limits = tz_writer_image(w)->limits;
    w->ctx.limits = &w->limits;
    w->maker = &tz_cpu_maker;
    return tz_writer_image(w)->options.device ? tz_gpu_writer_choose(w) : TZ_OK;
}

/* Bytes of all tiles before encoding, or only of those that are not encoded. A mask always is. */
static uint64_t total_pixel_bytes(const tz_writer *w, bool not_encoded)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        const tz_image *image = &w->pyramid.levels[i].image;
        if (not_encoded && !(image->encoder->flags & TZ_ENCODER_COPY))
            continue;
        const uint64_t rows = image->options.strips
                                  ? image->spec.height
                                  : (uint64_t)image->tiles_down * image->tile_height;
        uint64_t row =
            (uint64_t)tz_tile_row_bytes(&image->format) * image->tiles_across * image->planes;
        if (!not_encoded && image->spec.mask)
            row += (uint64_t)tz_tile_row_bytes(&image->mask_format) * image->tiles_across;
        bytes = tz_add_capped(bytes, row * rows);
    }
    return bytes;
}

/* Returns whether the sizes of all tiles of a COG are known before they are made, and with them the
 * layout of the file: no tile is encoded or sparse, and no statistics are stored. */
static bool sizes_are_known(const tz_output_pyramid *pyramid)
{
    const tz_write_options *options = &pyramid->levels[0].image.options;
    const tz_image *last = &pyramid->levels[pyramid->count - 1].image;
    const unsigned flags = pyramid->levels[0].image.encoder->flags & last->encoder->flags;
    return options->cog && (flags & TZ_ENCODER_COPY) && !options->sparse && !last->spec.mask &&
           !options->statistics_items && options->bigtiff != TZ_BIGTIFF_NO;
}

/* Prepares everything that needs w->file.sink but no rows. */
static tz_result open_file(tz_writer *w)
{
    const tz_image *image = tz_writer_image(w);
    tz_output_file *file = &w->file;
    if (!file->sink || !file->sink->write)
        return TZ_FAIL_ARG(&w->ctx, "the sink has no function to write");
    /* Pixels that are not encoded have a known size: report a full disk now, not after hours. */
    const uint64_t needed = image->options.sparse ? 0 : total_pixel_bytes(w, true);
    const uint64_t space = needed > 0 ? tz_sink_free_space(file->sink) : TZ_NO_VALUE;
    if (needed > space)
        return tz_fail_errno(&w->ctx, tz_no_location(), ENOSPC,
                             "the file takes %llu bytes, and %llu are free",
                             (unsigned long long)needed, (unsigned long long)space);
    file->all_spooled = !file->sink->insert;
    file->offsets_known = tz_sink_is_seekable(file->sink) && sizes_are_known(&w->pyramid);
    /* The spool holds tiles whose offset is not known when they are made: those of overviews; all
     * bands but the first, if bands follow each other; and all tiles if the sink cannot insert. */
    if (image->options.cog && !file->offsets_known &&
        (file->all_spooled || w->pyramid.count > 1 || tz_is_by_band(image)))
        TZ_TRY(
            tz_sink_open_spool(&file->spool, file->sink, image->options.spool_directory, &w->ctx));
    w->levels = tz_alloc_zeroed(w->pyramid.count, sizeof *w->levels);
    if (!w->levels)
        return tz_fail_nomem(&w->ctx, w->pyramid.count * sizeof *w->levels);
    TZ_TRY(tz_output_file_allocate(file));
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        w->levels[i].image = &w->pyramid.levels[i].image;
        const uint32_t size = (uint32_t)tz_tile_bytes(&w->levels[i].image->format);
        for (uint64_t tile = 0; file->offsets_known && tile < w->levels[i].image->tile_count;
             tile++)
            file->levels[i].sizes[tile] = size;
    }
    return file->offsets_known ? tz_output_file_assign_offsets(file) : TZ_OK;
}

static tz_writer *new_writer(tz_error *err)
{
    tz_writer *w = tz_alloc_zeroed(1, sizeof *w);
    tz_context ctx = {.err = err, .ifd = -1};
    if (!w) {
        (void)tz_fail_nomem(&ctx, sizeof *w);
        return NULL;
    }
    w->report = tz_write_report_make(&ctx);
    if (!w->report) {
        tz_free(w);
        return NULL;
    }
    w->ctx = ctx;
    w->ctx.warnings = &w->warnings;
    w->owner = (long)getpid();
    w->file = (tz_output_file){
        .pyramid = &w->pyramid, .budget = &w->budget, .ctx = &w->ctx, .report = w->report};
    return w;
}

typedef enum destination { TO_PATH, TO_MEMORY, TO_SINK } destination;

/* target: the tz_memory or tz_sink. A sink belongs to the writer from now on, also when this fails.
 */
static tz_result create_writer(tz_writer **out, destination to, const char *name, void *target,
                               const tz_image_spec *spec, const tz_write_options *options,
                               tz_error *err)
{
    const tz_context ctx = {.name = name, .err = err, .ifd = -1};
    if (to == TO_SINK && target)
        TZ_TRY(tz_sink_check_struct(target, &ctx));
    tz_writer *w = new_writer(err);
    if (!w) {
        tz_sink_close(to == TO_SINK ? target : NULL);
        return TZ_ERR_NOMEM;
    }
    if (to == TO_SINK)
        w->file.sink = target;
    tz_result result = prepare_writer(w, name, spec, options);
    if (result == TZ_OK && to == TO_PATH)
        result = tz_sink_open_file(&w->file.sink, name, tz_writer_image(w)->options.exclusive,
                                   tz_writer_image(w)->options.no_sync, &w->ctx);
    if (result == TZ_OK && to == TO_MEMORY)
        result = tz_sink_open_memory(&w->file.sink, target, &w->ctx);
    if (result == TZ_OK)
        result = open_file(w);
    if (result != TZ_OK) {
        tz_writer_close(w);
        return result;
    }
    w->ctx.err = NULL; /* no call is active, and the error is the caller's */
    *out = w;
    return TZ_OK;
}

tz_result tz_create(tz_writer **out, const char *path, const tz_image_spec *spec,
                    const tz_write_options *options, tz_error *err)
{
    return create_writer(out, TO_PATH, path, NULL, spec, options, err);
}

tz_result tz_create_memory(tz_writer **out, tz_memory *into, const tz_image_spec *spec,
                           const tz_write_options *options, tz_error *err)
{
    return create_writer(out, TO_MEMORY, NULL, into, spec, options, err);
}

tz_result tz_create_sink(tz_writer **out, tz_sink *sink, const char *name,
                         const tz_image_spec *spec, const tz_write_options *options, tz_error *err)
{
    return create_writer(out, TO_SINK, name, sink, spec, options, err);
}

/* ---- calls on a writer ---- */

/* Every call begins here, and ends with leave_call unless this fails. */
static tz_result enter_call(tz_writer *w, tz_error *err)
{
    tz_context nobody = {.err = err, .ifd = -1};
    if (!w)
        return TZ_FAIL_ARG(&nobody, "the writer is NULL");
    if (w->owner != (long)getpid()) {
        nobody.name = w->ctx.name;
        return TZ_FAIL_ARG(&nobody, "the writer belongs to the process that made it");
    }
    w->ctx.err = err;
    if (w->device_rows)
        w->device_rows->count_begin(w);
    if (w->state == TZ_WRITER_OPEN)
        return TZ_OK;
    return TZ_FAIL_ARG(&w->ctx, "%s",
                       w->state == TZ_WRITER_FAILED
                           ? "the write has failed and can only be discarded"
                           : "the file is committed already");
}

/* A failed call ends the write: part of its rows may have been used. */
static tz_result leave_call(tz_writer *w, tz_result result)
{
    if (result != TZ_OK)
        w->state = TZ_WRITER_FAILED;
    if (w->device_rows)
        w->device_rows->count_end(w);
    w->ctx.err = NULL;
    return result;
}

/* Progress is counted in rows of the image, by its delivered tiles. */
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

/* Divides the memory. A device may decide here that the CPU makes the tiles. */
static tz_result plan_memory(tz_writer *w, const tz_row_source *source, bool dry)
{
    if (w->device_rows)
        return w->device_rows->plan(w, source, dry);
    return tz_budget_make(&w->budget, &w->pyramid, source, NULL, 0, &w->ctx);
}

/* Called before the first rows: opens everything that depends on how they arrive. */
static tz_result start_writing(tz_writer *w, const tz_row_source *source)
{
    if (w->ready)
        return TZ_OK;
    const tz_pipeline_ops ops = {.run = tz_writer_run_task,
                                 .deliver = tz_tiles_deliver,
                                 .needs = tz_writer_task_needs,
                                 .tick = tz_writer_image(w)->options.progress.call ? report_progress
                                                                                   : NULL,
                                 .user = w,
                                 .deliver_in_wait = w->file.sink->caller_thread};
    TZ_TRY(plan_memory(w, source, false));
    w->encoder = (tz_tile_encoder){.pyramid = &w->pyramid,
                                   .budget = &w->budget,
                                   .limits = &w->limits,
                                   .name = w->name,
                                   .wants_statistics = w->file.stats != NULL};
    TZ_TRY(tz_tile_encoder_open(&w->encoder, &w->ctx));
    TZ_TRY(tz_pipeline_open(&w->pipeline, w->budget.threads, w->budget.slots, TZ_MAX_DELIVERY, &ops,
                            &w->ctx));
    w->ready = true;
    return TZ_OK;
}

/* ---- rows ---- */

/* Rows in device memory belong to the caller's streams until tz_device_wait_for_stream, and again
 * after the call. stream: NULL: only that of tz_device_get_stream. */
static tz_result write_rows(tz_writer *w, const tz_buffer *rows, const tz_buffer *mask,
                            void *const *stream, tz_wrapped_list *wrapped)
{
    tz_device *device = tz_writer_image(w)->options.device;
    tz_pixel_buffer pixels, valid;
    if (!rows)
        return TZ_FAIL_ARG(&w->ctx, "rows has no data");
    TZ_TRY(tz_caller_buffer_enter(&pixels, rows, "rows", device, wrapped, &w->ctx));
    if (mask)
        TZ_TRY(tz_caller_buffer_enter(&valid, mask, "mask", device, wrapped, &w->ctx));
    TZ_TRY(tz_check_rows(w, &pixels, mask ? &valid : NULL));
    if (stream && !device)
        return TZ_FAIL_ARG(&w->ctx, "a stream needs options->device, and not the CPU");
    if (pixels.height == 0)
        return TZ_OK;
    TZ_TRY(start_writing(w, NULL));
    if (stream)
        TZ_TRY(tz_device_wait_for_stream(device, *stream, w->ctx.err));
    if (!pixels.memory)
        return tz_writer_push(w, &pixels, mask ? &valid : NULL);
    TZ_TRY(tz_device_wait_for_native_stream(device, w->ctx.err));
    const tz_result result = tz_writer_push(w, &pixels, mask ? &valid : NULL);
    /* After the call the rows are the caller's again, also if it failed. */
    const tz_result waited = tz_device_sync(device, 0, result == TZ_OK ? w->ctx.err : NULL);
    return result == TZ_OK ? waited : result;
}

static tz_result call_write_rows(tz_writer *writer, const tz_buffer *rows, const tz_buffer *mask,
                                 void *const *stream, tz_error *err)
{
    tz_wrapped_list wrapped = {0};
    TZ_TRY(enter_call(writer, err));
    const tz_result result = write_rows(writer, rows, mask, stream, &wrapped);
    tz_wrapped_list_deinit(&wrapped);
    return leave_call(writer, result);
}

tz_result tz_write_rows(tz_writer *writer, const tz_buffer *rows, const tz_buffer *mask,
                        tz_error *err)
{
    return call_write_rows(writer, rows, mask, NULL, err);
}

tz_result tz_write_rows_on_stream(tz_writer *writer, const tz_buffer *rows, const tz_buffer *mask,
                                  void *stream, tz_error *err)
{
    return call_write_rows(writer, rows, mask, &stream, err);
}

/* *out is complete: what an older version of the struct does not have is 0. */
static tz_result copy_row_source(tz_row_source *out, const tz_row_source *given,
                                 const tz_context *ctx)
{
    *out = (tz_row_source)TZ_ROW_SOURCE_INIT;
    return tz_copy_struct(out, sizeof *out, given, "source", "TZ_ROW_SOURCE_INIT", ctx);
}

static tz_result write_from(tz_writer *w, const tz_row_source *given)
{
    tz_row_source source;
    TZ_TRY(copy_row_source(&source, given, &w->ctx));
    if (!source.read)
        return TZ_FAIL_ARG(&w->ctx, "the source has no function to read");
    if (source.on_device && !tz_writer_image(w)->options.device)
        return TZ_FAIL_ARG(&w->ctx,
                           "the source fills device memory, but options->device is not set");
    TZ_TRY(start_writing(w, &source));
    return tz_writer_pull(w, &source);
}

tz_result tz_write_from(tz_writer *writer, const tz_row_source *source, tz_error *err)
{
    TZ_TRY(enter_call(writer, err));
    return leave_call(writer, write_from(writer, source));
}

/* ---- the end ---- */

/* Threads end first: they use everything else. */
static void release_resources(tz_writer *w)
{
    tz_pipeline_close(w->pipeline);
    w->pipeline = NULL;
    tz_tile_encoder_close(&w->encoder);
    if (w->device_rows)
        w->device_rows->close(w);
    for (uint32_t i = 0; w->levels && i < w->pyramid.count; i++) {
        tz_writer_level *level = &w->levels[i];
        for (int k = 0; k < 2; k++) {
            tz_free(level->slabs[k].memory);
            tz_free(level->halo[k].slab.memory);
            level->slabs[k].memory = level->halo[k].slab.memory = NULL;
        }
    }
}

static void fill_report(tz_writer *w)
{
    tz_write_report *report = w->report;
    report->levels = w->pyramid.count;
    report->bytes_pixels = total_pixel_bytes(w, false);
    report->max_host_bytes = w->budget.allowed;
    report->peak_host_bytes = w->budget.planned;
    report->threads = w->budget.threads;
    tz_write_report_take_warnings(report, &w->warnings);
}

/* Gives the report away. */
static void give_report(tz_writer *w, tz_write_report **report)
{
    if (!report)
        return;
    *report = w->report;
    w->report = w->file.report = NULL;
}

static void log_result(const tz_writer *w)
{
    const tz_write_report *report = w->report;
    tz_log_line(&w->log, TZ_LOG_LEVEL_DEBUG,
                "%s: wrote %llu tiles and %llu bytes in %llu writes by %u threads, with %llu bytes "
                "of memory",
                w->name ? w->name : "memory", (unsigned long long)report->tiles,
                (unsigned long long)report->file_size, (unsigned long long)report->writes,
                report->threads, (unsigned long long)report->peak_host_bytes);
    if (report->device->reason[0])
        tz_log_line(&w->log, TZ_LOG_LEVEL_INFO, "%s", report->device->reason);
    if (report->device->library_reason[0])
        tz_log_line(&w->log, TZ_LOG_LEVEL_INFO, "%s", report->device->library_reason);
}

/* Every step can fail and leaves a file that tz_writer_close removes; only tz_sink_commit
 * publishes it. */
static tz_result commit_file(tz_writer *w)
{
    const tz_image *image = tz_writer_image(w);
    const uint32_t height = image->spec.height;
    if (w->levels[0].next_row < height)
        return tz_fail(&w->ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), height, w->levels[0].next_row),
                       "rows are missing");
    if (w->maker->finish)
        TZ_TRY(w->maker->finish(w));
    TZ_TRY(tz_pipeline_wait(w->pipeline, w->tasks_added, w->ctx.err));
    release_resources(w);
    TZ_TRY(tz_output_file_finish(&w->file));
    tz_sink_close(w->file.spool);
    w->file.spool = NULL;
    TZ_TRY(tz_sink_sync(w->file.sink, w->report->file_size, &w->ctx));
    TZ_TRY(tz_output_file_verify(&w->file));
    TZ_TRY(tz_check_progress(&w->ctx, &image->options.progress, height, height));
    return tz_sink_commit(w->file.sink, &w->ctx);
}

tz_result tz_commit(tz_writer *writer, tz_write_report **report, tz_error *err)
{
    TZ_TRY(enter_call(writer, err));
    TZ_TRY(leave_call(writer, commit_file(writer)));
    writer->state = TZ_WRITER_COMMITTED;
    fill_report(writer);
    if (writer->device_rows)
        writer->device_rows->report(writer);
    log_result(writer);
    give_report(writer, report);
    return TZ_OK;
}

/* The pyramid comes late, because levels and encoder point into it. */
void tz_writer_close(tz_writer *writer)
{
    if (!writer || writer->owner != (long)getpid())
        return; /* a child has neither the threads nor the right to remove the file */
    release_resources(writer);
    tz_sink_close(writer->file.spool);
    tz_sink_close(writer->file.sink);
    tz_output_file_deinit(&writer->file);
    tz_free(writer->levels);
    tz_output_pyramid_deinit(&writer->pyramid);
    tz_warnings_deinit(&writer->warnings);
    tz_write_report_free(writer->report);
    tz_free(writer->name);
    tz_free(writer);
}

/* ---- planning ---- */

/* A writer without a sink: all decisions are made, nothing is opened. Sizes are upper bounds:
 * leader and trailer, or alignment, count for every tile. */
static tz_result plan_write(tz_writer *w, const tz_image_spec *spec,
                            const tz_write_options *options, const tz_row_source *given)
{
    const tz_budget *b = &w->budget;
    tz_write_report *report = w->report;
    tz_row_source source;
    TZ_TRY(copy_row_source(&source, given, &w->ctx));
    TZ_TRY(prepare_writer(w, NULL, spec, options));
    TZ_TRY(plan_memory(w, given ? &source : NULL, true));
    const tz_image *image = tz_writer_image(w);
    report->file_size = b->fixed + (image->options.cog ? TZ_COG_ALIGNMENT : 0);
    for (uint32_t i = 0; i < w->pyramid.count; i++) {
        const tz_image *level = &w->pyramid.levels[i].image;
        const uint64_t around =
            level->options.cog ? TZ_LEADER + TZ_TRAILER : level->options.alignment;
        const uint64_t masks = tz_all_tiles(level) - level->tile_count;
        const uint64_t max_bytes = tz_add_capped(
            tz_mul_capped(level->tile_count,
                          b->encoding[tz_encoding_index(b, i, false)].bytes.bound + around),
            tz_mul_capped(masks, b->encoding[TZ_ENCODING_MASK].bytes.bound + around));
        report->tiles += tz_all_tiles(level);
        report->file_size = tz_add_capped(report->file_size, max_bytes);
        if (image->options.cog && !sizes_are_known(&w->pyramid) && (i > 0 || tz_is_by_band(image)))
            report->spool_bytes = tz_add_capped(report->spool_bytes, max_bytes);
    }
    fill_report(w);
    for (uint32_t row = 0, end; row < image->spec.height; row = end) {
        end = tz_tile_row_end(b, image, row);
        report->rows_per_tile_row = tz_max_u32(report->rows_per_tile_row, end - row);
        report->tile_rows++;
    }
    report->tile_rows *= tz_ceil_div(image->tiles_across, b->columns);
    report->bigtiff = image->options.bigtiff == TZ_BIGTIFF_YES;
    if (w->device_rows)
        w->device_rows->report_plan(w);
    return TZ_OK;
}

tz_result tz_plan_write(tz_write_report **report, const tz_image_spec *spec,
                        const tz_write_options *options, const tz_row_source *source, tz_error *err)
{
    tz_writer *w = new_writer(err);
    if (!w)
        return TZ_ERR_NOMEM;
    const tz_result result = plan_write(w, spec, options, source);
    if (result == TZ_OK)
        give_report(w, report);
    tz_writer_close(w);
    return result;
}
