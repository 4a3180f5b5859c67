/* SPDX-License-Identifier: Apache-2.0
 * terrazzo read: pixels to a file; terrazzo view: to the terminal; terrazzo plan: the cost of
 * either. */
#ifndef CLI_READ_COMMAND_H
#define CLI_READ_COMMAND_H

#include "options.h"

extern const cli_command read_command;
extern const cli_command view_command;
extern const cli_command plan_command;

#endif
