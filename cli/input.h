/* SPDX-License-Identifier: Apache-2.0
 * Bytes of a file or of standard input, which may be a pipe. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdint.h>
#include <terrazzo/terrazzo.h>

/* "standard input" or "'PATH'", for messages. */
#define INPUT_NAME 320
const char *input_name(char name[INPUT_NAME], const char *path);

/* Reads up to size bytes, fewer only at the end: from an offset of a file, or the next ones if
 * offset is -1. Returns TZ_ERR_CANCELLED after a signal. */
tz_result input_read(int fd, const char *name, void *to, uint64_t size, int64_t offset,
                     uint64_t *got, tz_error *err);
tz_result input_fail(const char *name, int reason, tz_error *err);

#endif
