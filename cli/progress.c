/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "problem.h"
#include "terminal.h"

static volatile sig_atomic_t caught; /* the signal; 0: none */

static void note_signal(int number)
{
    caught = number;
}

void progress_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    signal(SIGXFSZ, SIG_IGN); /* too large a file is an error of writing like others */
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction old;
        struct sigaction new = {.sa_handler = note_signal};
        /* what was ignored from the start, as by nohup, stays ignored */
        new.sa_flags = (int)SA_RESETHAND;
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &new, NULL);
    }
}

void progress_start(progress *p, uint64_t total)
{
    *p = (progress){.total = total > 0 ? total : 1, .percent = -1};
}

static void show(progress *p, double part)
{
    int percent = (int)(100 * part);
    if (percent == p->percent || !term_shows_progress())
        return;
    p->percent = percent;
    p->shown = true;
    fprintf(stderr, "\r%3d %%", percent);
    fflush(stderr);
}

static bool advance(void *user, uint64_t done, uint64_t total)
{
    progress *p = user;
    double part = total > 0 ? (double)done / (double)total : 0;
    show(p, ((double)p->before + part * (double)p->now) / (double)p->total);
    return caught == 0;
}

tz_progress progress_next(progress *p, uint64_t work)
{
    p->before += p->now;
    p->now = work;
    return (tz_progress){.call = advance, .user = p};
}

void progress_end(progress *p)
{
    if (p->shown)
        fputs("\r     \r", stderr);
    p->shown = false;
}

bool progress_is_cancelled(void)
{
    return caught != 0;
}

tz_result progress_cancelled(tz_error *err)
{
    return problem_make(err, TZ_ERR_CANCELLED, TZ_CAUSE_CANCELLED, "interrupted");
}

void progress_end_by_signal(void)
{
    if (caught == 0)
        return;
    signal(caught, SIG_DFL);
    raise(caught);
}
