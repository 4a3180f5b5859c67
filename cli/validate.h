/* SPDX-License-Identifier: Apache-2.0
 * terrazzo validate: the findings of the library's checks, shown as a page or as JSON
 * (validate_report.c). */
#ifndef CLI_VALIDATE_H
#define CLI_VALIDATE_H

#include "common.h"
#include "json.h"

extern const cli_command validate_command;

/* verbose: also lists the checks that pass. */
void validate_print(const char *path, const tz_validation *validation, bool verbose);
void validate_write(json *j, const char *path, const tz_validation *validation);
void validate_write_error(json *j, const char *path, const tz_error *err);

#endif
