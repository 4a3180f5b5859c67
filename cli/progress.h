/* SPDX-License-Identifier: Apache-2.0
 * The progress of a long command, on standard error when that is a terminal; and the signals that
 * ask it to stop, which end it through the same callback so that it can clean up. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

typedef struct progress {
    uint64_t before; /* work done by earlier calls, in the caller's unit */
    uint64_t now;    /* work of the call under way */
    uint64_t total;
    uint64_t bytes; /* of all work, for the rate */
    double started; /* seconds */
    double looked;  /* when the line was last written */
    int percent;    /* as last written */
    int width;      /* of the line on the terminal; 0: there is none */
} progress;

/* Makes SIGINT, SIGTERM and SIGHUP cancel the command instead of ending the process; a second one
 * ends it. For commands that have something to clean up. */
void progress_catch_signals(void);

void progress_start(progress *p, uint64_t total, uint64_t bytes);
/* Returns the callback for the next call of the library, which does this much of the work. */
tz_progress progress_next(progress *p, uint64_t work);
/* Returns the callback for calls within such a call: it cancels, but shows nothing. */
tz_progress progress_watch(void);
/* Removes the line. */
void progress_end(progress *p);

/* Seconds of a monotonic clock. */
double progress_clock(void);

/* Returns true after a signal. */
bool progress_is_cancelled(void);
/* Makes the error of a call that a signal ended. */
tz_result progress_cancelled(tz_error *err);
/* Ends the process by the signal that came, as if it had not been caught. For the end of a command,
 * when everything is cleaned up. */
void progress_end_by_signal(void);

#endif
