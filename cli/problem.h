/* SPDX-License-Identifier: Apache-2.0
 * Errors and warnings: made by the command itself, shown, and written as JSON. */
#ifndef CLI_PROBLEM_H
#define CLI_PROBLEM_H

#include <terrazzo/terrazzo.h>

#include "json.h"

/* Makes an error of the command, in the form of the library's errors. Returns result. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
tz_result
problem_make(tz_error *err, tz_result result, tz_cause cause, const char *format, ...);
/* Makes "cannot VERB 'PATH': ..." with the text of an errno. */
tz_result problem_io(tz_error *err, const char *verb, const char *path, int reason);
tz_result problem_nomem(tz_error *err, const char *what);

/* Prints the defects of a file that could be opened, on standard error. */
void problem_print_warnings(const tz_file *file);

/* Writes the members of one error or warning. */
void problem_write(json *j, const tz_error *err);
/* Writes each as an object, into an array that was begun. */
void problem_write_each(json *j, const tz_error *list, uint32_t count);
/* Does the same with the warnings of a file. */
void problem_write_warnings(json *j, const tz_file *file);

#endif
