/* SPDX-License-Identifier: Apache-2.0
 * A file that appears whole or not at all (tz_open_file_sink). Standard output, pipes and devices
 * are written as it goes. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

typedef struct output {
    const char *path; /* as given, for messages; "-" is standard output */
    int fd;
    bool is_stream; /* it can only be appended to */
    bool overwrite;
    uint64_t size; /* written so far by output_append */
    tz_sink *file; /* NULL for a stream */
} output;

/* "cannot write 'PATH': Is a directory", if it is one or its last part names one. For the start of
 * a command, before it looks at anything else. */
tz_result output_check_folder(const char *path, tz_error *err);
/* "'PATH' exists; --overwrite replaces it", if it does. */
tz_result output_check_new(const char *path, tz_error *err);
/* The name of a file beside another: its ending in place of the other's, if the last part of the
 * path has one; to be freed. NULL: no memory. */
char *output_beside(const char *path, const char *ending);

/* An existing file is an error unless overwrite is set, and so is one that is the same as input. */
tz_result output_open(output *o, const char *path, bool overwrite, const char *input,
                      tz_error *err);
tz_result output_write(output *o, uint64_t offset, const void *bytes, size_t size, tz_error *err);
/* Behind what was appended before. */
tz_result output_append(output *o, const void *bytes, size_t size, tz_error *err);
/* All is written: the file takes its place. */
tz_result output_commit(output *o, tz_error *err);
/* Leaves no trace of a file that was not committed. */
void output_close(output *o); /* zeroed state is fine */

#endif
