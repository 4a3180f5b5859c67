/* SPDX-License-Identifier: Apache-2.0
 * terrazzo devices: where pixel work can be done, and what is missing. */
#ifndef CLI_DEVICES_COMMAND_H
#define CLI_DEVICES_COMMAND_H

#include "options.h"

extern const cli_command devices_command;

#endif
