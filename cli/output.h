/* SPDX-License-Identifier: Apache-2.0
 * A file that appears whole or not at all (tz_file_sink_open). Standard output, pipes and devices
 * are written directly. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

typedef struct output {
    const char *path; /* as given, for messages; "-" is standard output */
    int fd;
    bool is_stream; /* can only be appended to */
    bool overwrite;
    uint64_t size; /* written so far by output_append */
    tz_sink *file; /* NULL for a stream */
} output;

/* Fails with "cannot write 'PATH': Is a directory" if it is one or ends as one. Commands call it
 * before they look at anything else. */
tz_result output_check_folder(const char *path, tz_error *err);
/* Fails with "'PATH' exists; --overwrite replaces it" if it does. */
tz_result output_check_new(const char *path, tz_error *err);
/* Returns the name of a file beside another: path with its extension replaced by ending. The caller
 * frees it. NULL: no memory. */
char *output_beside(const char *path, const char *ending);

/* An existing file is an error unless overwrite is set, and so is one that is the same as input. */
tz_result output_open(output *o, const char *path, bool overwrite, const char *input,
                      tz_error *err);
tz_result output_write(output *o, uint64_t offset, const void *bytes, size_t size, tz_error *err);
/* Writes after the bytes that were appended before. */
tz_result output_append(output *o, const void *bytes, size_t size, tz_error *err);
/* Ends the file, which now appears under its name. */
tz_result output_commit(output *o, tz_error *err);
/* Removes a file that was not committed. */
void output_close(output *o); /* zeroed state is fine */

#endif
