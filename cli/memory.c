/* SPDX-License-Identifier: Apache-2.0
 * The division of --memory: the resident size before the work is measured, the needs of threads and
 * codecs are estimated, and the library plans with the rest. */
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "parse.h"
#include "problem.h"
#include "text.h"

/* Bytes that the process takes after the measurement, beside the library's plan: code of codecs
 * that runs for the first time, buffers of the C library; and of each thread its stack and the
 * allocator's part. doc/design.md has the measurements. */
#define RESERVE            ((uint64_t)4 << 20)
#define RESERVE_OF_THREADS ((uint64_t)256 << 10)

/* Returns the resident bytes now; if the system does not say, the most so far. */
static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    const bool known = file != NULL && fscanf(file, "%*u %llu", &pages) == 1;
    if (file != NULL)
        fclose(file);
    if (known)
        return pages * (uint64_t)sysconf(_SC_PAGESIZE);
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static uint64_t base_bytes(uint32_t threads)
{
    const char *given = getenv("TERRAZZO_MEMORY_BASE");
    uint64_t bytes;
    if (given != NULL && parse_bytes(given, &bytes))
        return bytes;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t count = threads > 0 ? threads : cores > 0 ? (uint64_t)cores : 1;
    return resident_bytes() + RESERVE + count * RESERVE_OF_THREADS;
}

memory_share memory_divide(uint64_t given, uint32_t threads, bool on_device)
{
    memory_share share = {.given = given, .base = on_device ? 0 : base_bytes(threads)};
    share.work = given > share.base ? given - share.base : 0;
    return share;
}

/* Rounds up, and from a MiB on adds one more: the program is not the same size in each run. */
static void put_size(char *text, size_t size, uint64_t bytes)
{
    const uint64_t mib = (uint64_t)1 << 20;
    if (bytes < mib)
        snprintf(text, size, "%" PRIu64 "K", bytes / 1024 + 1);
    else
        snprintf(text, size, "%" PRIu64 "M", bytes / mib + 2);
}

tz_result memory_refuse(const memory_share *share, uint64_t work, tz_error *err)
{
    char least[32];
    char given[TEXT_NUMBER];
    char program[48] = "";
    const uint64_t sum = work < UINT64_MAX - share->base ? share->base + work : UINT64_MAX;
    put_size(least, sizeof least, sum);
    if (share->base > 0)
        snprintf(program, sizeof program, ", %" PRIu64 "M of it for the program itself",
                 (share->base >> 20) + 1);
    problem_make(err, TZ_ERR_LIMIT, TZ_CAUSE_LIMIT,
                 "--memory allows %s, and %s is the least that suffices%s",
                 text_bytes(given, share->given), least, program);
    err->expected = share->given;
    err->found = sum;
    return TZ_ERR_LIMIT;
}

bool memory_is_short(const tz_error *err)
{
    return err->result == TZ_ERR_LIMIT && err->limit != NULL &&
           strcmp(err->limit, "max_host_bytes") == 0 && err->found != TZ_NO_VALUE;
}

/* A step of a read may get only a part of max_host_bytes; err->expected is that part. */
uint64_t memory_needed(const tz_error *err, uint64_t max_host_bytes)
{
    const bool known = err->expected > 0 && err->expected < max_host_bytes;
    const uint64_t times = known ? (max_host_bytes - 1) / err->expected + 1 : 1;
    return err->found < UINT64_MAX / times ? err->found * times : UINT64_MAX;
}

uint64_t memory_to_read(const tz_item *items, size_t count, const tz_read_options *how)
{
    tz_read_options least = *how;
    tz_error err;
    least.max_host_bytes = 1024; /* too little for any tile */
    if (tz_plan_read(NULL, items, count, &least, &err) == TZ_OK || !memory_is_short(&err))
        return 0;
    return memory_needed(&err, least.max_host_bytes);
}

tz_result memory_refuse_blocks(const memory_share *share, uint64_t pixels, uint64_t reading,
                               tz_error *err)
{
    const uint64_t half = share->work / 2;
    const uint64_t twice = reading < UINT64_MAX / 2 ? 2 * reading : UINT64_MAX;
    const uint64_t both = pixels < UINT64_MAX - reading ? pixels + reading : UINT64_MAX;
    return memory_refuse(share, pixels <= half ? twice : both, err);
}
