/* SPDX-License-Identifier: Apache-2.0
 * terrazzo clean: removes temporary files that interrupted writes left. */
#ifndef CLI_CLEAN_COMMAND_H
#define CLI_CLEAN_COMMAND_H

#include "options.h"

extern const cli_command clean_command;

#endif
