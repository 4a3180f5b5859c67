/* SPDX-License-Identifier: Apache-2.0 */
#include "convert_work.h"

#include <stdlib.h>

#include "file_rows.h"
#include "output.h"
#include "problem.h"
#include "progress.h"
#include "raw_rows.h"
#include "world_file.h"

/* Memory --------------------------------------------------------------------------------------- */

/* Reading needs room beside the writer's. */
static void share_memory(conversion *c, uint64_t for_reading)
{
    uint64_t memory = c->settings->memory;
    c->options.buffer_bytes = memory > for_reading ? memory - for_reading : 1;
}

/* Whether rows can stay on the device shows when it is known who makes the tiles. */
static tz_result plan_writing(conversion *c, file_rows *rows, convert_result *out, tz_error *err)
{
    c->on_device = device_has_memory(c->device) && !c->by_nodata.used;
    tz_row_source source = file_rows_source(rows);
    tz_result result = tz_plan_write(&c->spec, &c->options, &source, &out->writing, err);
    if (result != TZ_OK || !c->on_device || out->writing.device.id[0] != '\0')
        return result;
    c->on_device = false;
    source = file_rows_source(rows);
    return tz_plan_write(&c->spec, &c->options, &source, &out->writing, err);
}

static tz_result plan_file(conversion *c, convert_result *out, tz_error *err)
{
    file_rows rows;
    file_rows_start(&rows, c, c->settings->memory / CONVERSION_READING_PART);
    share_memory(c, rows.how.max_memory);
    tz_result result = plan_writing(c, &rows, out, err);
    if (result != TZ_OK)
        return result;
    uint64_t allowed = rows.how.max_memory;
    result = file_rows_plan(&rows, out->writing.swath_rows, err);
    out->reading = rows.report;
    out->input_memory = rows.how.max_memory;
    if (result != TZ_OK || rows.how.max_memory == allowed)
        return result;
    share_memory(c, rows.how.max_memory);
    return plan_writing(c, &rows, out, err);
}

tz_result convert_plan(conversion *c, convert_result *out, tz_error *err)
{
    *out = (convert_result){0};
    if (c->file != NULL)
        return plan_file(c, out, err);
    out->input_memory = raw_rows_memory(c);
    share_memory(c, out->input_memory);
    return tz_plan_write(&c->spec, &c->options, NULL, &out->writing, err);
}

/* Work ----------------------------------------------------------------------------------------- */

static tz_result write_file(const conversion *c, tz_writer *writer, convert_result *out,
                            tz_error *err)
{
    file_rows rows;
    file_rows_start(&rows, c, out->input_memory);
    const tz_row_source source = file_rows_source(&rows);
    tz_result result = tz_write_from(writer, &source, err);
    out->reading = rows.report;
    out->input_memory = rows.how.max_memory;
    return result;
}

static tz_result write_image(conversion *c, convert_result *out, tz_error *err)
{
    tz_writer *writer = NULL;
    tz_result result = tz_create(&writer, c->settings->output, &c->spec, &c->options, err);
    if (result == TZ_OK)
        result = c->file != NULL ? write_file(c, writer, out, err) : raw_rows_write(c, writer, err);
    if (result == TZ_OK && progress_is_cancelled())
        result = progress_cancelled(err);
    if (result == TZ_OK)
        result = tz_commit(writer, &out->writing, err);
    tz_discard(writer);
    return result == TZ_ERR_CANCELLED ? progress_cancelled(err) : result;
}

static tz_result write_with_progress(conversion *c, convert_result *out, tz_error *err)
{
    progress shown;
    double started = progress_clock();
    progress_start(&shown, 1, conversion_bytes(c));
    c->options.progress = progress_next(&shown, 1);
    tz_result result = write_image(c, out, err);
    progress_end(&shown);
    out->seconds = progress_clock() - started;
    return result;
}

/* The world file is written before the image, and takes its place after it: its last step is the
 * one that hardly fails. */
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
    const creation *co = &c->settings->creation;
    bool wld = co->value[CO_WORLDFILE] != 0;
    tz_result result = convert_plan(c, out, err);
    if (result != TZ_OK)
        return result;
    if (!wld && co->value[CO_TFW] == 0)
        return write_with_progress(c, out, err);
    char *path = output_beside(c->settings->output, wld ? ".wld" : ".tfw");
    if (path == NULL)
        return problem_nomem(err, "a name");
    result = write_with_world_file(c, path, out, err);
    free(path);
    return result;
}
