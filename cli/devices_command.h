/* SPDX-License-Identifier: Apache-2.0
 * terrazzo devices: devices that can be used, and the reasons why others cannot. */
#ifndef CLI_DEVICES_COMMAND_H
#define CLI_DEVICES_COMMAND_H

#include "options.h"

extern const cli_command devices_command;

#endif
