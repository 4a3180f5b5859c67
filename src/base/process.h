/* SPDX-License-Identifier: Apache-2.0
 * Telling a process from the one it was forked from. fork copies memory but not threads: whoever
 * keeps threads or locks for the whole process notes the process they belong to, and a child that
 * finds a note of its parent makes its own. */
#ifndef TZ_BASE_PROCESS_H
#define TZ_BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct tz_process {
    pid_t id;
    unsigned generation; /* forks since the library was loaded: the system may reuse an id */
} tz_process;

tz_process tz_process_current(void);
bool tz_process_is_current(const tz_process *recorded);

#endif
