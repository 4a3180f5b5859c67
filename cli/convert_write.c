/* SPDX-License-Identifier: Apache-2.0
 * Carries out a conversion.
 *
 * The memory is divided first: reading gets a fixed share of it, the writer the rest, and plans of
 * both are made. If they do not fit, shares change and plans are made again, up to three times;
 * only then is the conversion refused, with the least --memory that suffices. Then the writer asks
 * for rows (convert_rows.c), or rows are given to it (raw_rows.c). */
#include "convert_write.h"

#include <stdlib.h>

#include "convert_rows.h"
#include "output.h"
#include "problem.h"
#include "progress.h"
#include "raw_rows.h"
#include "world_file.h"

/* Memory --------------------------------------------------------------------------------------- */

/* Reading needs memory beside the writer's. */
static void share_memory(conversion *c, uint64_t work, uint64_t for_reading)
{
    c->options.max_host_bytes = work > for_reading ? work - for_reading : 1;
}

static uint64_t planned_bytes(const convert_result *out)
{
    return out->writing->max_host_bytes + out->input_memory;
}

/* Without --memory, buffers may take the least that they need, and the report says so. */
static bool fits_memory(const conversion *c, const convert_result *out)
{
    return !c->bounded || planned_bytes(out) <= c->memory.work;
}

/* Replaces the plan of before. */
static tz_result plan_rows(const conversion *c, const tz_row_source *source, convert_result *out,
                           tz_error *err)
{
    tz_write_report_free(out->writing);
    out->writing = NULL;
    return tz_plan_write(&out->writing, &c->spec, &c->options, source, err);
}

/* Rows stay on the device if it also makes the tiles, which the plan of the write decides. */
static tz_result plan_writing(conversion *c, convert_rows *rows, convert_result *out, tz_error *err)
{
    c->on_device = device_has_memory(c->device) && !convert_rows_are_changed(c);
    tz_row_source source = convert_rows_source(rows);
    tz_result result = plan_rows(c, &source, out, err);
    if (result != TZ_OK || !c->on_device || out->writing->device->id[0] != '\0')
        return result;
    c->on_device = false;
    source = convert_rows_source(rows);
    return plan_rows(c, &source, out, err);
}

/* Plans with work bytes in all. Reading gets for_reading of them, or the least that it needs. */
static tz_result plan_with(conversion *c, uint64_t work, uint64_t for_reading, convert_result *out,
                           tz_error *err)
{
    convert_rows rows;
    convert_rows_start(&rows, c, for_reading);
    const uint64_t allowed = convert_rows_memory(&rows);
    share_memory(c, work, allowed);
    tz_result result = plan_writing(c, &rows, out, err);
    if (result != TZ_OK)
        return result;
    result = convert_rows_plan(&rows, out->writing->rows_per_tile_row, err);
    tz_read_report_free(out->reading);
    out->reading = rows.report;
    out->input_memory = convert_rows_memory(&rows);
    if (result != TZ_OK || out->input_memory == allowed)
        return result;
    share_memory(c, work, out->input_memory);
    return plan_writing(c, &rows, out, err);
}

/* If the usual share for reading leaves the writer too little, reading gets the least. With larger
 * slabs it may need more than that; then both get the least. */
static tz_result plan_file_within(conversion *c, convert_result *out, tz_error *err)
{
    const uint64_t work = c->memory.work;
    tz_result result = plan_with(c, work, work / CONVERSION_READING_PART, out, err);
    if (result != TZ_OK || fits_memory(c, out))
        return result;
    result = plan_with(c, 1, 1, out, err);
    if (result != TZ_OK)
        return result;
    if (!fits_memory(c, out))
        return memory_refuse(&c->memory, planned_bytes(out), err);
    result = plan_with(c, work, out->input_memory, out, err);
    return result != TZ_OK || fits_memory(c, out) ? result : plan_with(c, 1, 1, out, err);
}

/* Rows are kept only if that leaves enough for the rest. */
static tz_result plan_file(conversion *c, convert_result *out, tz_error *err)
{
    convert_rows_reserve(c);
    tz_result result = plan_file_within(c, out, err);
    if (c->kept_bytes == 0 || (result == TZ_OK && fits_memory(c, out)))
        return result;
    convert_rows_release(c);
    return plan_file_within(c, out, err);
}

/* Rows of arrays and of standard input take their share of the memory, or one row. */
static tz_result plan_raw(conversion *c, convert_result *out, tz_error *err)
{
    out->input_memory = raw_rows_memory(c);
    share_memory(c, c->memory.work, out->input_memory);
    const tz_result result = plan_rows(c, NULL, out, err);
    if (result != TZ_OK || fits_memory(c, out))
        return result;
    const uint64_t part = out->writing->max_host_bytes / (raw_rows_part(c) - 1) + 1;
    const uint64_t reading = out->input_memory > part ? out->input_memory : part;
    return memory_refuse(&c->memory, out->writing->max_host_bytes + reading, err);
}

tz_result convert_plan(conversion *c, convert_result *out, tz_error *err)
{
    *out = (convert_result){0};
    return c->file != NULL ? plan_file(c, out, err) : plan_raw(c, out, err);
}

void convert_result_free(convert_result *result)
{
    tz_write_report_free(result->writing);
    tz_read_report_free(result->reading);
    damaged_free(&result->damaged);
    *result = (convert_result){0};
}

/* Work ----------------------------------------------------------------------------------------- */

/* The writer asks for rows. Reading may use all memory that the writer does not, if that is
 * bounded. */
static tz_result write_rows_of_file(const conversion *c, tz_writer *writer, convert_result *out,
                                    tz_error *err)
{
    convert_rows rows;
    convert_rows_start(&rows, c, out->input_memory);
    if (c->bounded)
        convert_rows_bound(&rows, c->memory.work - out->writing->max_host_bytes);
    const tz_row_source source = convert_rows_source(&rows);
    tz_result result = convert_rows_allocate(&rows, err);
    if (result == TZ_OK)
        result = tz_write_from(writer, &source, err);
    convert_rows_end(&rows);
    tz_read_report_free(out->reading);
    out->reading = rows.report;
    out->damaged = rows.damaged;
    out->input_memory = convert_rows_memory(&rows);
    return result;
}

/* Writes the image; a cancelled write leaves no file. */
static tz_result create_output(conversion *c, convert_result *out, tz_error *err)
{
    tz_writer *writer = NULL;
    tz_result result = tz_create(&writer, c->output, &c->spec, &c->options, err);
    if (result == TZ_OK)
        result = c->file != NULL ? write_rows_of_file(c, writer, out, err)
                                 : raw_rows_write(c, writer, err);
    if (result == TZ_OK && progress_is_cancelled())
        result = progress_cancelled(err);
    tz_write_report *done = NULL;
    if (result == TZ_OK)
        result = tz_commit(writer, &done, err);
    if (result == TZ_OK) {
        tz_write_report_free(out->writing); /* the plan */
        out->writing = done;
    }
    tz_writer_close(writer);
    return result == TZ_ERR_CANCELLED ? progress_cancelled(err) : result;
}

static tz_result write_with_progress(conversion *c, convert_result *out, tz_error *err)
{
    progress shown;
    double started = progress_clock();
    progress_start(&shown, 1, conversion_bytes(c));
    c->options.progress = progress_next(&shown, 1);
    tz_result result = create_output(c, out, err);
    progress_end(&shown);
    out->seconds = progress_clock() - started;
    return result;
}

/* The world file is written before the image and committed after it: a commit is a rename, which
 * hardly fails. */
static tz_result write_with_world_file(conversion *c, const char *path, convert_result *out,
                                       tz_error *err)
{
    const convert_settings *s = c->settings;
    output world = {.fd = -1};
    tz_result result = output_open(&world, path, s->overwrite, s->input, err);
    if (result == TZ_OK)
        result = world_file_write(&world, conversion_transform(c), err);
    if (result == TZ_OK)
        result = write_with_progress(c, out, err);
    if (result == TZ_OK)
        result = output_commit(&world, err);
    output_close(&world);
    return result;
}

tz_result convert_carry_out(conversion *c, convert_result *out, tz_error *err)
{
    const char *ending = tz_creation_get_world_file(c->settings->creation);
    tz_result result = convert_plan(c, out, err); /* refuses --memory before any pixel is read */
    if (result == TZ_OK)
        result = conversion_find_scales(c, err);
    if (result != TZ_OK)
        return result;
    if (ending == NULL)
        return write_with_progress(c, out, err);
    char *path = output_beside(c->output, ending);
    if (path == NULL)
        return problem_nomem(err, "a name");
    result = write_with_world_file(c, path, out, err);
    free(path);
    return result;
}
