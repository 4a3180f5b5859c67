/* SPDX-License-Identifier: Apache-2.0
 * terrazzo assemble: joins the encoded blocks of a plan (plan-cog, encode-block) into one COG.
 *
 * Blobs come in any order, and any number of them: only their heads are read at first, which say
 * the sizes of their tiles, and the library gives each tile its offset. Then the library copies the
 * tiles to OUT. With --layout nothing but the bytes before the tiles is written; the report lists
 * which range of which blob belongs where, so that a program can copy them in the store where they
 * already are. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob_files.h"
#include "block_commands.h"
#include "common.h"
#include "output.h"
#include "page.h"
#include "problem.h"
#include "progress.h"
#include "terminal.h"
#include "text.h"
#include "value.h"

enum { OVERWRITE = 1, VERIFY, NO_SYNC, LAYOUT, FILES_FROM };

/* clang-format off */
static const cli_option assemble_options[] = {
    {"files-from", 0, FILES_FROM, "FILE", "further names of blobs, one on each line; '-' is\n"
                                          "standard input"},
    {"overwrite", 0, OVERWRITE, NULL, "replace OUT if it exists"},
    {"layout", 0, LAYOUT, NULL, "write to OUT only what stands before the tiles, and\n"
                                "report where each blob's bytes belong; with --json"},
    {"verify", 0, VERIFY, "HOW", "what is read back before OUT appears: sample (the\n"
                                 "default: up to 16 tiles), all or none"},
    {"no-sync", 0, NO_SYNC, NULL, "do not wait for the disk; a power failure may then\n"
                                  "leave anything as OUT"},
    {"json", 0, COMMON_JSON, NULL, "report what was done as JSON"},
    COMMON_OPTIONS
};
/* clang-format on */

static int run_assemble(int argc, char **argv);

const cli_command assemble_command = {
    .name = "assemble",
    .arguments = "PLAN OUT BLOB...",
    .summary = "puts the blocks of a plan together, in any order",
    .examples = "terrazzo assemble plan b.tif blobs/*\t\n"
                "terrazzo assemble --layout --json plan front blobs/*\t",
    .options = assemble_options,
    .run = run_assemble,
};

typedef struct assembling {
    common_settings common;
    const char *plan_path;
    const char *output;
    const char *files_from;
    tz_verify verify;
    bool overwrite;
    bool layout;
    bool no_sync;
} assembling;

static bool apply_assemble_option(void *user, int id, const char *value)
{
    assembling *a = user;
    switch (id) {
    case OVERWRITE:
        a->overwrite = true;
        return true;
    case LAYOUT:
        a->layout = true;
        return true;
    case NO_SYNC:
        a->no_sync = true;
        return true;
    case FILES_FROM:
        a->files_from = value;
        return true;
    default: /* VERIFY */
        return value_verify(&a->verify, value);
    }
}

/* Reports ----------------------------------------------------------------------------------------
 */

/* The members that both reports have. */
typedef struct outcome {
    uint64_t file_size;
    uint64_t tiles;
    uint64_t tiles_sparse;
    uint64_t tiles_verified;
    bool bigtiff;
    const tz_write_report *report; /* of the file; NULL: there is a layout instead */
    const tz_assembly *layout;
} outcome;

/* Writes the ranges of all blobs, with their offsets in the file. */
static void write_runs(json *j, const blob_files *blobs, const tz_assembly *layout)
{
    json_array(j, "runs");
    for (size_t i = 0; i < layout->blob_count && !term_is_broken(); i++) {
        size_t count;
        const tz_copy_run *runs = tz_assembly_get_runs(&count, layout, i);
        for (size_t k = 0; k < count; k++) {
            json_object_row(j, NULL);
            json_text(j, "blob", blobs->paths[i]);
            json_uint(j, "offset", runs[k].file_offset);
            json_uint(j, "from", runs[k].blob_offset);
            json_uint(j, "size", runs[k].size);
            json_object_end(j);
        }
    }
    json_array_end(j);
}

static const tz_statistics *band_statistics(const outcome *o, uint32_t band)
{
    return o->report != NULL ? tz_write_report_get_statistics(o->report, band)
                             : tz_assembly_get_statistics(o->layout, band);
}

static void write_assembled_statistics(json *j, const outcome *o)
{
    const tz_statistics *band = band_statistics(o, 0);
    if (band == NULL) {
        json_null(j, "statistics");
        return;
    }
    json_array(j, "statistics");
    for (uint32_t i = 0; (band = band_statistics(o, i)) != NULL; i++)
        block_write_statistics(j, band);
    json_array_end(j);
}

static void report_assembly(const assembling *a, const blob_files *blobs, const outcome *o)
{
    json j;
    if (!a->common.json)
        return;
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "plan", a->plan_path);
    json_text(&j, "output", a->output);
    json_uint(&j, "blobs", blobs->count);
    json_uint(&j, "file_size", o->file_size);
    json_bool(&j, "bigtiff", o->bigtiff);
    json_uint(&j, "tiles", o->tiles);
    json_uint(&j, "tiles_sparse", o->tiles_sparse);
    json_uint_or_null(&j, "tiles_verified", o->tiles_verified, o->layout == NULL);
    write_assembled_statistics(&j, o);
    if (o->layout != NULL)
        write_runs(&j, blobs, o->layout);
    else
        json_null(&j, "runs");
    json_null(&j, "error");
    json_object_end(&j);
    json_close(&j);
}

/* The file ------------------------------------------------------------------------------------- */

static tz_result assemble_to_file(const assembling *a, const tz_cog_plan *plan, blob_files *blobs,
                                  tz_error *err)
{
    tz_write_report *report = NULL;
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    tz_blobs source = TZ_BLOBS_INIT;
    progress shown;
    how.exclusive = !a->overwrite;
    how.no_sync = a->no_sync;
    how.verify = a->verify;
    source.count = blobs->count;
    source.read = blob_files_read;
    source.user = blobs;
    progress_start(&shown, 1, blob_files_size(blobs));
    how.progress = progress_next(&shown, 1);
    tz_result result = tz_assemble_file(a->output, plan, &source, &how, &report, err);
    progress_end(&shown);
    if (result == TZ_OK) {
        const outcome o = {.file_size = report->file_size,
                           .tiles = report->tiles,
                           .tiles_sparse = report->tiles_sparse,
                           .tiles_verified = report->tiles_verified,
                           .bigtiff = report->bigtiff,
                           .report = report};
        report_assembly(a, blobs, &o);
    }
    tz_write_report_free(report);
    return result;
}

/* The layout ----------------------------------------------------------------------------------- */

/* Writes the bytes before the tiles: header, ghost area, directories and tables. */
static tz_result write_front(const assembling *a, const tz_assembly *layout, tz_error *err)
{
    output out = {.fd = -1};
    tz_result result = output_open(&out, a->output, a->overwrite, a->plan_path, err);
    if (result == TZ_OK)
        result = output_append(&out, layout->front.data, layout->front.size, err);
    if (result == TZ_OK)
        result = output_commit(&out, err);
    output_close(&out);
    return result;
}

static tz_result read_heads(blob_files *blobs, tz_bytes *heads, tz_error *err)
{
    tz_result result = TZ_OK;
    for (size_t i = 0; i < blobs->count && result == TZ_OK; i++)
        result = blob_files_head(blobs, i, &heads[i], err);
    return result;
}

/* --layout: heads of all blobs are in memory at once, tiles never are. */
static tz_result write_assembly_layout(const assembling *a, const tz_cog_plan *plan,
                                       blob_files *blobs, tz_error *err)
{
    tz_assembly *layout = NULL;
    tz_bytes *heads = calloc(blobs->count, sizeof *heads);
    if (heads == NULL)
        return problem_nomem(err, "the heads of blobs");
    tz_result result = read_heads(blobs, heads, err);
    if (result == TZ_OK)
        result = tz_assembly_create(&layout, plan, heads, blobs->count, err);
    if (result == TZ_OK)
        result = write_front(a, layout, err);
    if (result == TZ_OK) {
        const outcome o = {.file_size = layout->file_size,
                           .tiles = layout->tiles,
                           .tiles_sparse = layout->tiles_sparse,
                           .bigtiff = layout->bigtiff,
                           .layout = layout};
        report_assembly(a, blobs, &o);
    }
    tz_assembly_free(layout);
    for (size_t i = 0; i < blobs->count; i++)
        free((void *)heads[i].data);
    free(heads);
    return result;
}

/* The command ---------------------------------------------------------------------------------- */

static tz_result write_output(const assembling *a, const tz_cog_plan *plan, blob_files *blobs,
                              tz_error *err)
{
    return a->layout ? write_assembly_layout(a, plan, blobs, err)
                     : assemble_to_file(a, plan, blobs, err);
}

static tz_result assemble_blobs(const assembling *a, char **paths, int count, tz_error *err)
{
    tz_cog_plan *plan = NULL;
    blob_files blobs = {.fd = -1};
    tz_result result = a->overwrite ? TZ_OK : output_check_new(a->output, err);
    if (result == TZ_OK)
        result = blob_files_open(&blobs, paths, (size_t)count, a->files_from, err);
    if (result == TZ_OK)
        result = block_load_plan(&plan, a->plan_path, NULL, err);
    if (result == TZ_OK)
        result = write_output(a, plan, &blobs, err);
    tz_cog_plan_free(plan);
    blob_files_close(&blobs);
    return result;
}

static int run_assemble(int argc, char **argv)
{
    assembling a = {.verify = TZ_VERIFY_SAMPLE};
    tz_error err;
    int status;
    int count =
        common_parse(&assemble_command, argc, argv, &a.common, apply_assemble_option, &a, &status);
    if (count < 0)
        return status;
    int least = a.files_from != NULL ? 2 : 3;
    if (count < least)
        return common_wrong_operands(&assemble_command,
                                     count == 0   ? "no PLAN given"
                                     : count == 1 ? "no OUT given"
                                                  : "no BLOB given",
                                     NULL);
    a.plan_path = argv[0];
    a.output = argv[1];
    tz_result result = output_check_folder(a.output, &err);
    if (result != TZ_OK)
        return block_end(result, a.common.json, a.plan_path, &err);
    if (a.layout && !a.common.json)
        return common_wrong_operands(&assemble_command, "--layout needs --json", NULL);
    progress_catch_signals();
    signal(SIGPIPE, SIG_IGN);
    return block_end(assemble_blobs(&a, argv + 2, count - 2, &err), a.common.json, a.plan_path,
                     &err);
}
