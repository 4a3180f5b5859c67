/* SPDX-License-Identifier: Apache-2.0
 * terrazzo clean: removes what writes that were killed left behind. */
#ifndef CLI_CLEAN_COMMAND_H
#define CLI_CLEAN_COMMAND_H

#include "options.h"

extern const cli_command clean_command;

#endif
