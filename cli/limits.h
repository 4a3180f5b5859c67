/* SPDX-License-Identifier: Apache-2.0
 * --limit and --limits: the bounds of tz_limits, read and shown. */
#ifndef CLI_LIMITS_H
#define CLI_LIMITS_H

#include <terrazzo/terrazzo.h>

#include "json.h"

/* Sets one limit from "NAME=VALUE". false, with a message, when it is not understood. */
bool limits_set(tz_limits *limits, const char *text);

/* Shows the limits in force, as a table and as the object "limits". */
void limits_print(const tz_limits *limits);
void limits_write(json *j, const tz_limits *limits);

#endif
