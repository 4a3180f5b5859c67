/* SPDX-License-Identifier: Apache-2.0
 * The line of progress and the signals that cancel. Both hang on one callback of the library: a
 * signal handler only sets a flag, and the callback returns false at the next step, so that
 * temporary files are removed before the process ends by that signal. */
#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "problem.h"
#include "terminal.h"
#include "text.h"

#define SECONDS_TO_RATE 0.5

static volatile sig_atomic_t caught; /* the signal; 0: none */

static void note_signal(int number)
{
    caught = number;
}

void progress_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    signal(SIGXFSZ, SIG_IGN); /* a file that is too large is an ordinary write error */
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction old;
        struct sigaction new = {.sa_handler = note_signal};
        /* a signal that was ignored from the start, as by nohup, stays ignored */
        new.sa_flags = (int)SA_RESETHAND;
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &new, NULL);
    }
}

double progress_clock(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_start(progress *p, uint64_t total, uint64_t bytes)
{
    *p = (progress){
        .total = total > 0 ? total : 1, .bytes = bytes, .percent = -1, .started = progress_clock()};
}

/* Formats "  42 %, 310 MiB/s, 1:05 left"; the rate follows when enough time has passed. */
static int format_progress(const progress *p, double part, double seconds, char *line, size_t size)
{
    char rate[TEXT_NUMBER];
    int used = snprintf(line, size, "%3d %%", (int)(100 * part));
    if (seconds < SECONDS_TO_RATE || part <= 0)
        return used;
    double left = seconds / part - seconds;
    unsigned long whole = left < 1e6 ? (unsigned long)left : 1000000;
    text_bytes(rate, (uint64_t)((double)p->bytes * part / seconds));
    used += snprintf(line + used, size - (size_t)used, ", %s/s, ", rate);
    if (whole >= 3600)
        used += snprintf(line + used, size - (size_t)used, "%lu:%02lu:%02lu left", whole / 3600,
                         whole / 60 % 60, whole % 60);
    else
        used +=
            snprintf(line + used, size - (size_t)used, "%lu:%02lu left", whole / 60, whole % 60);
    return used;
}

/* Prints the line when the percentage changes, and after a second. */
static void show_progress(progress *p, double part)
{
    char line[100];
    double now = progress_clock();
    int percent = (int)(100 * part);
    if ((percent == p->percent && now - p->looked < 1) || !term_shows_progress())
        return;
    int width = format_progress(p, part, now - p->started, line, sizeof line);
    fprintf(stderr, "\r%-*s", p->width, line);
    fflush(stderr);
    p->percent = percent;
    p->looked = now;
    p->width = width > p->width ? width : p->width;
}

/* Callback of the library: shows progress, and returns false to cancel. */
static bool advance_progress(void *user, uint64_t done, uint64_t total)
{
    progress *p = user;
    double part = total > 0 ? (double)done / (double)total : 0;
    show_progress(p, ((double)p->before + part * (double)p->now) / (double)p->total);
    return caught == 0;
}

tz_progress progress_next(progress *p, uint64_t work)
{
    p->before += p->now;
    p->now = work;
    return (tz_progress){.call = advance_progress, .user = p};
}

/* The same without a line. */
static bool watch_for_signal(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    (void)done;
    (void)total;
    return caught == 0;
}

tz_progress progress_watch(void)
{
    return (tz_progress){.call = watch_for_signal};
}

void progress_end(progress *p)
{
    if (p->width > 0)
        fprintf(stderr, "\r%*s\r", p->width, "");
    p->width = 0;
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
