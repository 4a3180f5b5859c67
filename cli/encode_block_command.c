/* SPDX-License-Identifier: Apache-2.0
 * terrazzo encode-block: encodes one block of a plan into a blob, which assemble joins with others.
 *
 * The block's pixels are in memory as a whole. They come from a file of raw samples, or from the
 * image of the plan; a block of an overview is computed from the image through all levels between
 * (block_pixels.c), so that processes need nothing from each other. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "block_commands.h"
#include "block_pixels.h"
#include "output.h"
#include "parse.h"
#include "problem.h"
#include "progress.h"
#include "request.h"
#include "terminal.h"
#include "value.h"

enum { RAW = 1, ORDER, MASK, OVERWRITE, MEMORY, THREADS };

/* clang-format off */
static const cli_option encode_options[] = {
    {"raw", 0, RAW, NULL, "IN holds the block's own pixels, without a header;\n"
                          "'-' is standard input"},
    {"order", 0, ORDER, "HOW", "of raw pixels: pixel (the default), row or band by\n"
                               "band"},
    {"mask", 0, MASK, "FILE", "of raw pixels: their mask, a byte each"},
    {"overwrite", 0, OVERWRITE, NULL, "replace BLOB if it exists"},
    {"threads", 'j', THREADS, "N", "for reading IN; 1 by default, 0: all cores"},
    {"memory", 0, MEMORY, "SIZE", "for reading IN and its reduced levels, beside the\n"
                                  "block's own pixels; 256M by default"},
    {"json", 0, COMMON_JSON, NULL, "report sizes and statistics as JSON"},
    OPENING_OPTIONS,
    COMMON_OPTIONS
};
/* clang-format on */

static int run_encode_block(int argc, char **argv);

const cli_command encode_block_command = {
    .name = "encode-block",
    .arguments = "PLAN LEVEL BLOCK IN BLOB",
    .summary = "makes one block of a plan: of level 0, or reduced",
    .examples = "terrazzo encode-block plan 0 17 a.tif blobs/0-17\t\n"
                "terrazzo encode-block plan 3 0 a.tif blobs/3-0\tof the third overview\n"
                "terrazzo encode-block --raw plan 0 17 pixels.raw blobs/0-17\t",
    .options = encode_options,
    .run = run_encode_block,
    .takes_dash = true,
};

typedef struct encoding {
    common_settings common;
    const char *plan_path;
    const char *input;
    const char *output;
    const char *mask;
    uint64_t memory;
    uint64_t block;
    uint32_t level;
    uint32_t threads;
    raw_order order;
    bool raw;
    bool has_order;
    bool overwrite;
} encoding;

static bool apply_encode_block_option(void *user, int id, const char *value)
{
    encoding *e = user;
    switch (id) {
    case RAW:
        e->raw = true;
        return true;
    case ORDER:
        e->has_order = true;
        return value_order(&e->order, value);
    case MASK:
        e->mask = value;
        return true;
    case OVERWRITE:
        e->overwrite = true;
        return true;
    case THREADS:
        return value_threads(&e->threads, value);
    default: /* MEMORY */
        return value_memory(&e->memory, value);
    }
}

/* Parses LEVEL and BLOCK, and checks that the options go together. */
static bool parse_operands(encoding *e, char **argv)
{
    const char *level = argv[1];
    const char *block = argv[2];
    uint64_t value = 0;
    e->plan_path = argv[0];
    e->input = argv[3];
    e->output = argv[4];
    if (!parse_uint(&level, UINT32_MAX, &value) || *level != '\0')
        return value_wrong("LEVEL is a number from 0 on, not", argv[1]);
    e->level = (uint32_t)value;
    if (!parse_uint(&block, UINT64_MAX, &e->block) || *block != '\0')
        return value_wrong("BLOCK is a number from 0 on, not", argv[2]);
    if (!e->raw && (e->mask != NULL || e->has_order))
        return value_wrong("--order and --mask are for raw pixels, and need", "--raw");
    if (!e->raw && strcmp(e->input, "-") == 0)
        return value_wrong("only raw pixels come from standard input; give", "--raw");
    return true;
}

/* Work ------------------------------------------------------------------------------------------
 */

typedef struct encoded {
    tz_cog_plan *plan;
    tz_cog_block what;
    block_pixels pixels;
    tz_memory blob;
} encoded;

static tz_result read_pixels(const encoding *e, encoded *d, tz_error *err)
{
    tz_result result = tz_cog_plan_get_block(&d->what, d->plan, e->level, e->block, err);
    if (result == TZ_OK)
        result = block_pixels_make(&d->pixels, tz_cog_plan_get_info(d->plan), &d->what.window, err);
    if (result != TZ_OK)
        return result;
    if (e->raw)
        return block_read_raw(&d->pixels, e->input, e->mask, e->order, err);
    return block_read_image(&d->pixels, d->plan, e->level, &d->what.window, e->input,
                            &e->common.open, e->memory, e->threads, err);
}

static tz_result save_blob(const encoding *e, const tz_memory *blob, tz_error *err)
{
    output out = {.fd = -1};
    tz_result result = output_open(&out, e->output, e->overwrite, e->input, err);
    if (result == TZ_OK)
        result = output_append(&out, blob->data, blob->size, err);
    if (result == TZ_OK)
        result = output_commit(&out, err);
    output_close(&out);
    return result;
}

static void write_report(const encoding *e, const encoded *d, const tz_blob_info *b,
                         const uint32_t *sizes, const tz_statistics *statistics)
{
    const tz_cog_plan_info *info = tz_cog_plan_get_info(d->plan);
    json j;
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "plan", e->plan_path);
    json_text(&j, "input", e->input);
    json_text(&j, "blob", e->output);
    json_uint(&j, "level", e->level);
    json_uint(&j, "block", e->block);
    block_write_window(&j, "window", &d->what.window);
    json_uint(&j, "head_size", b->head_size);
    json_uint(&j, "size", b->size);
    json_array_row(&j, "tile_sizes");
    for (uint64_t i = 0; i < b->tiles; i++)
        json_uint(&j, NULL, sizes[i]);
    json_array_end(&j);
    if (e->level == 0 && info->statistics) {
        json_array(&j, "statistics");
        for (uint32_t i = 0; i < info->bands; i++)
            block_write_statistics(&j, &statistics[i]);
        json_array_end(&j);
    } else {
        json_null(&j, "statistics");
    }
    json_null(&j, "error");
    json_object_end(&j);
    json_close(&j);
}

/* Reads the report from the blob itself, so that it says what assemble will find. */
static tz_result report_block(const encoding *e, const encoded *d, tz_error *err)
{
    const tz_bytes head = {d->blob.data, d->blob.size};
    tz_blob_info b = TZ_BLOB_INFO_INIT;
    tz_result result = tz_blob_read_info(&b, head.data, head.size, err);
    if (result != TZ_OK)
        return result;
    uint32_t *sizes = calloc((size_t)b.tiles, sizeof *sizes);
    tz_statistics *statistics = calloc(tz_cog_plan_get_info(d->plan)->bands, sizeof *statistics);
    if (sizes == NULL || statistics == NULL)
        result = problem_nomem(err, "the sizes of tiles");
    else
        statistics[0].struct_size = sizeof statistics[0];
    if (result == TZ_OK)
        result = tz_blob_read_sizes(sizes, d->plan, &head, err);
    if (result == TZ_OK)
        result = tz_blob_read_statistics(statistics, d->plan, &head, err);
    if (result == TZ_OK)
        write_report(e, d, &b, sizes, statistics);
    free(sizes);
    free(statistics);
    return result;
}

/* Stops the work after a signal. */
static bool goes_on(void *user, uint64_t done, uint64_t total)
{
    (void)user, (void)done, (void)total;
    return !progress_is_cancelled();
}

static tz_result encode_block(const encoding *e, tz_error *err)
{
    encoded d = {.what = TZ_COG_BLOCK_INIT};
    tz_block_options how = TZ_BLOCK_OPTIONS_INIT;
    tz_result result =
        e->overwrite || strcmp(e->output, "-") == 0 ? TZ_OK : output_check_new(e->output, err);
    how.progress.call = goes_on;
    if (result == TZ_OK)
        result = block_load_plan(&d.plan, e->plan_path, e->common.open.limits, err);
    if (result == TZ_OK)
        result = read_pixels(e, &d, err);
    if (result == TZ_OK)
        result = tz_encode_block(&d.blob, d.plan, e->level, e->block, &d.pixels.pixels,
                                 d.pixels.mask.data != NULL ? &d.pixels.mask : NULL, &how, err);
    if (result == TZ_OK)
        result = save_blob(e, &d.blob, err);
    if (result == TZ_OK && e->common.json)
        result = report_block(e, &d, err);
    tz_memory_free(&d.blob);
    block_pixels_free(&d.pixels);
    tz_cog_plan_free(d.plan);
    return result;
}

static int run_encode_block(int argc, char **argv)
{
    static const char *const missing[] = {"no PLAN given", "no LEVEL given", "no BLOCK given",
                                          "no IN given", "no BLOB given"};
    encoding e = {
        .common = {.open = TZ_OPEN_OPTIONS_INIT}, .memory = REQUEST_DEFAULT_MEMORY, .threads = 1};
    tz_error err;
    int status;
    int count = common_parse(&encode_block_command, argc, argv, &e.common,
                             apply_encode_block_option, &e, &status);
    if (count < 0)
        return status;
    if (count != 5)
        return common_wrong_operands(&encode_block_command,
                                     count < 5 ? missing[count] : "unexpected argument",
                                     count > 5 ? argv[5] : NULL);
    tz_result result = output_check_folder(argv[4], &err);
    if (result != TZ_OK)
        return block_end(result, e.common.json, argv[3], &err);
    if (!parse_operands(&e, argv))
        return option_hint(&encode_block_command);
    if (e.common.json && strcmp(e.output, "-") == 0)
        return common_wrong_operands(&encode_block_command,
                                     "standard output cannot take both the blob and --json", NULL);
    progress_catch_signals();
    signal(SIGPIPE, SIG_IGN);
    return block_end(encode_block(&e, &err), e.common.json, e.input, &err);
}
