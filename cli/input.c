/* SPDX-License-Identifier: Apache-2.0
 * Reads from files and pipes. Signals are noticed between reads: poll waits with a timeout, since a
 * signal that comes just before a blocking read would not end it. */
#define _XOPEN_SOURCE 700 /* pread */
#include "input.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "problem.h"
#include "progress.h"

#define LOOK_AFTER 100 /* milliseconds, for a signal while there is no input */

const char *input_name(char name[INPUT_NAME], const char *path)
{
    if (strcmp(path, "-") == 0)
        snprintf(name, INPUT_NAME, "standard input");
    else
        snprintf(name, INPUT_NAME, "'%.300s'", path);
    return name;
}

tz_result input_fail(const char *name, int reason, tz_error *err)
{
    problem_make(err, TZ_ERR_IO, TZ_CAUSE_IO, "cannot read %s: %s", name, strerror(reason));
    err->system_error = reason;
    return TZ_ERR_IO;
}

/* Waits until there is something to read or a signal came. read alone would miss a signal that
 * comes just before it. */
static void wait_for_input(int fd)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};
    int ready = 0;
    while (!progress_is_cancelled() && (ready == 0 || (ready < 0 && errno == EINTR)))
        ready = poll(&input, 1, LOOK_AFTER);
}

tz_result input_read(int fd, const char *name, void *to, uint64_t size, int64_t offset,
                     uint64_t *got, tz_error *err)
{
    for (*got = 0; *got < size;) {
        char *at = (char *)to + *got;
        size_t left = (size_t)(size - *got);
        if (offset < 0)
            wait_for_input(fd);
        if (progress_is_cancelled())
            return progress_cancelled(err);
        ssize_t done =
            offset >= 0 ? pread(fd, at, left, (off_t)(offset + (int64_t)*got)) : read(fd, at, left);
        if (done == 0)
            return TZ_OK;
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return input_fail(name, errno, err);
        *got += done > 0 ? (uint64_t)done : 0;
    }
    return TZ_OK;
}
