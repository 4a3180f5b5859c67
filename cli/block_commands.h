/* SPDX-License-Identifier: Apache-2.0
 * terrazzo plan-cog, encode-block and assemble: one file by many processes. Their JSON is
 * described in doc/blocks.schema.json. */
#ifndef CLI_BLOCK_COMMANDS_H
#define CLI_BLOCK_COMMANDS_H

#include <terrazzo/terrazzo.h>

#include "json.h"
#include "options.h"

extern const cli_command plan_cog_command;
extern const cli_command encode_block_command;
extern const cli_command assemble_command;

/* Loads a plan from a file. */
tz_result block_load_plan(tz_cog_plan **out, const char *path, const tz_limits *limits,
                          tz_error *err);

/* Members that several reports have. */
void block_write_window(json *j, const char *key, const tz_window *window);
/* The statistics of one band, as a row of an array. */
void block_write_statistics(json *j, const tz_statistics *band);

/* Ends a command that may have failed: prints messages, and returns the exit code. */
int block_end(tz_result result, bool as_json, const char *input, tz_error *err);

#endif
