/* SPDX-License-Identifier: Apache-2.0
 * Shared by the programs that read and those that write: why something failed, the clock, the
 * memory that pixels are in. */
#ifndef TZ_BENCH_TIMING_H
#define TZ_BENCH_TIMING_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { MAX_LINE = 4096 };

static char failure[512];

/* Notes why; the last one is shown. */
static bool failed(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(failure, sizeof failure, format, list);
    va_end(list);
    return false;
}

/* Seconds, on the wall and of all threads together. */
typedef struct stopwatch {
    double wall, cpu;
} stopwatch;

static double seconds_of(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static stopwatch start_watch(void)
{
    return (stopwatch){seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
}

static stopwatch stop_watch(stopwatch start, unsigned repeats)
{
    const stopwatch end = start_watch();
    return (stopwatch){(end.wall - start.wall) / repeats, (end.cpu - start.cpu) / repeats};
}

/* The one buffer. Grows, and is touched when it does. */
static uint8_t *buffer;
static size_t buffer_capacity;

static uint8_t *warm_buffer(size_t size)
{
    const size_t huge = (size_t)2 << 20;
    if (size > buffer_capacity) {
        free(buffer);
        buffer_capacity = (size + huge - 1) / huge * huge;
        buffer = aligned_alloc(huge, buffer_capacity);
        if (buffer == NULL)
            abort();
        madvise(buffer, buffer_capacity, MADV_HUGEPAGE);
        memset(buffer, 0x5a, buffer_capacity);
    }
    return buffer;
}

/* Depends on every byte and on its place; what is left after whole words is not part of it. */
static uint64_t checksum(const uint8_t *bytes, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size / 8; i++) {
        uint64_t word;
        memcpy(&word, bytes + 8 * i, 8);
        sum += word * (2 * i + 1);
    }
    return sum;
}

#endif
