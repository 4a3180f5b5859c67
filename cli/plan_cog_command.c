/* SPDX-License-Identifier: Apache-2.0
 * terrazzo plan-cog: the plan of a COG that many processes make, saved to a file.
 *
 * The options are those of cog, and mean the same: conversion_open turns them into the description
 * of an image, and the library divides its levels into blocks. The report lists level and number of
 * every block, which are the arguments of encode-block. Warnings about options and source are
 * printed here, not again for each block. */
#include <inttypes.h>
#include <stdio.h>

#include "block_commands.h"
#include "convert_report.h"
#include "output.h"
#include "progress.h"
#include "request.h"
#include "terminal.h"
#include "value.h"

enum { BLOCK_TILES = 100, MAX_BLOCK_TILES = 65536 };

/* clang-format off */
static const cli_option plan_options[] = {
    {"co", 0, CONVERT_CREATION, "KEY=VALUE", "a creation option, as of terrazzo cog, see below"},
    {"profile", 'p', CONVERT_PROFILE, "NAME", "compression by rio-cogeo's names, as of terrazzo cog"},
    {"block-tiles", 0, BLOCK_TILES, "N", "tiles across and down of a block; 8 by default"},
    {"nan-to-nodata", 0, CONVERT_NAN_TO_NODATA, NULL, "NaN becomes nodata; else pixels stay as they are"},
    {"keep-nodata", 0, CONVERT_KEEP_NODATA, NULL, "with a lossy codec, too; by default a mask takes the\n"
                                                  "place of nodata there"},
    {"stats", 0, CONVERT_STATISTICS, NULL, "gather each band's statistics"},
    {"overwrite", 0, CONVERT_OVERWRITE, NULL, "replace PLAN if it exists"},
    {"shape", 0, CONVERT_SHAPE, "HxW[xBANDS]", "without a file, IN is '-': rows, columns, bands"},
    {"dtype", 0, EDIT_DTYPE, "TYPE", "its sample type: uint8, int16, float32, ..."},
    EDIT_DESCRIPTION_OPTIONS,
    {"json", 0, COMMON_JSON, NULL, "report levels and blocks as JSON"},
    OPENING_OPTIONS,
    COMMON_OPTIONS
};
/* clang-format on */

static int run_plan_cog(int argc, char **argv);

static const char *find_plan_key(const char *name, size_t size)
{
    return creation_key("COG", name, size);
}

static void print_plan_keys(void)
{
    creation_print_help("COG");
}

const cli_command plan_cog_command = {
    .name = "plan-cog",
    .arguments = "IN PLAN",
    .summary = "plans a Cloud Optimized GeoTIFF for many processes",
    .examples = "terrazzo plan-cog a.tif plan\tlists its blocks: level, number\n"
                "terrazzo plan-cog --json --co COMPRESS=ZSTD a.tif plan\t\n"
                "terrazzo plan-cog --shape 9000x9000 --dtype int16 - plan\t",
    .options = plan_options,
    .run = run_plan_cog,
    .takes_dash = true,
    .print_more = print_plan_keys,
    .creation_key = find_plan_key,
};

typedef struct planning {
    convert_settings convert;
    uint32_t block_tiles;
} planning;

static bool apply_plan_cog_option(void *user, int id, const char *value)
{
    planning *p = user;
    if (id != BLOCK_TILES)
        return convert_apply(&p->convert, id, value);
    return value_number(&p->block_tiles, MAX_BLOCK_TILES,
                        "--block-tiles needs a number from 1 to 65536, not", value) &&
           (p->block_tiles > 0 ||
            value_wrong("--block-tiles needs a number from 1 to 65536, not", value));
}

/* Reports ----------------------------------------------------------------------------------------
 */

/* One line for each block, in words for encode-block. */
static void print_blocks(const tz_cog_plan *plan)
{
    const tz_cog_level *l;
    for (uint32_t level = 0; (l = tz_cog_plan_get_level(plan, level)) != NULL; level++)
        for (uint64_t i = 0; i < l->block_count && !term_is_broken(); i++)
            printf("%" PRIu32 " %" PRIu64 "\n", level, i);
}

static void write_plan_level(json *j, const tz_cog_level *level)
{
    json_object_row(j, NULL);
    json_pair(j, "size", level->width, level->height);
    json_pair(j, "tile", level->tile_width, level->tile_height);
    json_pair(j, "blocks", level->blocks_across, level->blocks_down);
    json_object_end(j);
}

/* source is the window of the level above that an overview's block is computed from. */
static tz_result write_block(json *j, const tz_cog_plan *plan, uint32_t level, uint64_t block,
                             tz_error *err)
{
    tz_cog_block what = TZ_COG_BLOCK_INIT;
    tz_result result = tz_cog_plan_get_block(&what, plan, level, block, err);
    if (result != TZ_OK)
        return result;
    json_object_row(j, NULL);
    json_uint(j, "level", level);
    json_uint(j, "block", block);
    block_write_window(j, "window", &what.window);
    if (level > 0)
        block_write_window(j, "source", &what.source);
    else
        json_null(j, "source");
    json_uint(j, "tiles", what.tiles);
    json_object_end(j);
    return TZ_OK;
}

static tz_result write_blocks(json *j, const tz_cog_plan *plan, tz_error *err)
{
    const tz_cog_level *l;
    tz_result result = TZ_OK;
    json_array(j, "blocks");
    for (uint32_t level = 0; (l = tz_cog_plan_get_level(plan, level)) != NULL; level++)
        for (uint64_t i = 0; i < l->block_count && result == TZ_OK && !term_is_broken(); i++)
            result = write_block(j, plan, level, i, err);
    json_array_end(j);
    return result;
}

static tz_result write_plan(const planning *p, const tz_cog_plan *plan, tz_error *err)
{
    const tz_cog_plan_info *info = tz_cog_plan_get_info(plan);
    json j;
    char fingerprint[17];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, info->fingerprint);
    json_open(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "input", p->convert.input);
    json_text(&j, "plan", p->convert.output);
    json_text(&j, "fingerprint", fingerprint);
    json_uint(&j, "bands", info->bands);
    json_text(&j, "dtype", tz_dtype_name(info->dtype));
    json_bool(&j, "mask", info->mask);
    json_bool(&j, "statistics", info->statistics);
    json_uint(&j, "block_tiles", info->block_tiles);
    json_array(&j, "levels");
    for (uint32_t i = 0; i < info->level_count; i++)
        write_plan_level(&j, tz_cog_plan_get_level(plan, i));
    json_array_end(&j);
    tz_result result = write_blocks(&j, plan, err);
    json_null(&j, "error");
    json_object_end(&j);
    json_close(&j);
    return result;
}

/* Work ------------------------------------------------------------------------------------------
 */

static tz_result save_plan(const planning *p, const tz_cog_plan *plan, tz_error *err)
{
    tz_memory bytes = {0};
    output out = {.fd = -1};
    tz_result result = tz_cog_plan_save(&bytes, plan, err);
    if (result == TZ_OK)
        result = output_open(&out, p->convert.output, p->convert.overwrite, p->convert.input, err);
    if (result == TZ_OK)
        result = output_append(&out, bytes.data, bytes.size, err);
    if (result == TZ_OK)
        result = output_commit(&out, err);
    output_close(&out);
    tz_memory_free(&bytes);
    return result;
}

/* Options that could not be honoured, and defects of the source, are reported once, and not by each
 * block. */
static tz_result warn_once(const conversion *c, tz_error *err)
{
    convert_result outcome = {0};
    tz_result result = tz_plan_write(&outcome.writing, &c->spec, &c->options, NULL, err);
    if (result == TZ_OK)
        convert_report_warn(c, &outcome);
    convert_result_free(&outcome);
    return result;
}

static tz_result make_plan(const planning *p, tz_error *err)
{
    conversion c = {0};
    tz_cog_plan *plan = NULL;
    tz_result result = conversion_open(&c, &p->convert, p->convert.output, -1, err);
    if (result == TZ_OK)
        result = warn_once(&c, err);
    if (result == TZ_OK)
        result = tz_cog_plan_create(&plan, &c.spec, &c.options, p->block_tiles, err);
    if (result == TZ_OK)
        result = save_plan(p, plan, err);
    if (result == TZ_OK && p->convert.common.json)
        result = write_plan(p, plan, err);
    else if (result == TZ_OK)
        print_blocks(plan);
    tz_cog_plan_free(plan);
    conversion_close(&c);
    return result;
}

static int run_plan_cog(int argc, char **argv)
{
    static planning p = {.convert = {.common = {.open = TZ_OPEN_OPTIONS_INIT}, .cog = true}};
    tz_error err;
    int status;
    if (tz_creation_create(&p.convert.creation, "COG", &err) != TZ_OK)
        return block_end(TZ_ERR_NOMEM, false, NULL, &err);
    int count = common_parse(&plan_cog_command, argc, argv, &p.convert.common,
                             apply_plan_cog_option, &p, &status);
    if (count < 0)
        return status;
    if (count != 2)
        return common_wrong_operands(&plan_cog_command,
                                     count == 0   ? "no IN given"
                                     : count == 1 ? "no PLAN given"
                                                  : "unexpected argument",
                                     count > 2 ? argv[2] : NULL);
    p.convert.input = argv[0];
    p.convert.output = argv[1];
    tz_result result = output_check_folder(p.convert.output, &err);
    if (result != TZ_OK)
        return block_end(result, p.convert.common.json, p.convert.input, &err);
    if (!convert_check(&p.convert))
        return option_hint(&plan_cog_command);
    if (p.convert.failed.result != TZ_OK)
        return block_end(p.convert.failed.result, p.convert.common.json, p.convert.input,
                         &p.convert.failed);
    progress_catch_signals();
    result = make_plan(&p, &err);
    convert_settings_free(&p.convert);
    return block_end(result, p.convert.common.json, p.convert.input, &err);
}
