/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/virtual_clock.h"

#include <stdlib.h>
#include <string.h>

const vclock_prices vclock_usual = {.call = 2,
                                    .allocation = 5,
                                    .pinned = 250,
                                    .copy = 8,
                                    .mebibyte = 1048576 / 12e3,
                                    .launch = 5,
                                    .read = 1000,
                                    .servers = 8};

static double later(double a, double b)
{
    return a > b ? a : b;
}

vclock vclock_start(const vclock_prices *prices)
{
    return (vclock){.prices = *prices};
}

/* ---- reads of files ---- */

void vclock_submit(vclock *clock, uint64_t reads)
{
    for (uint64_t i = 0; i < reads; i++) {
        double *first = &clock->servers[0];
        for (unsigned k = 1; k < clock->prices.servers; k++)
            first = clock->servers[k] < *first ? &clock->servers[k] : first;
        *first = later(*first, clock->now) + clock->prices.read;
        clock->reads = later(clock->reads, *first);
    }
}

void vclock_wait(vclock *clock)
{
    clock->now = later(clock->now, clock->reads);
}

/* ---- streams ---- */

static double *stream_of(vclock *clock, uint64_t stream)
{
    for (unsigned i = 0; i < clock->stream_count; i++) {
        if (clock->streams[i].stream == stream)
            return &clock->streams[i].free;
    }
    if (clock->stream_count == VCLOCK_STREAMS)
        abort();
    clock->streams[clock->stream_count].stream = stream;
    return &clock->streams[clock->stream_count++].free;
}

static double all_streams(const vclock *clock)
{
    double end = clock->now;
    for (unsigned i = 0; i < clock->stream_count; i++)
        end = later(end, clock->streams[i].free);
    return end;
}

static void copy(vclock *clock, const cuda_fake_step *step, bool down)
{
    double *stream = stream_of(clock, step->stream), *bus = &clock->bus[down];
    const double start = later(clock->now, later(*stream, *bus));
    *stream = *bus =
        start + clock->prices.copy + (double)step->bytes / 1048576 * clock->prices.mebibyte;
}

/* ---- calls ---- */

typedef enum action {
    FREE, /* of charge */
    CALL, /* of nothing but itself */
    WORK, /* for a stream, where it has one */
    ALLOCATE,
    PIN,
    UP,
    DOWN,
    WAIT_STREAM, /* the host does */
    WAIT_ALL,
    STREAM_WAITS,
    SUBMIT,
    WAIT_READS,
    READ
} action;

static const struct {
    const char *call;
    action what;
} actions[] = {
    {"cuCtxPushCurrent_v2", FREE},
    {"cuCtxPopCurrent_v2", FREE},
    {"cuCtxGetCurrent", FREE},
    {"cuCtxSetCurrent", FREE},
    {"cuEventRecord", CALL},
    {"cuMemFreeAsync", CALL},
    {"cuMemAlloc_v2", ALLOCATE},
    {"cuMemAllocAsync", ALLOCATE},
    {"cuMemAllocFromPoolAsync", ALLOCATE},
    {"cuMemHostAlloc", PIN},
    {"cuMemcpyHtoDAsync_v2", UP},
    {"cuMemcpyDtoHAsync_v2", DOWN},
    {"cuStreamSynchronize", WAIT_STREAM},
    {"cuCtxSynchronize", WAIT_ALL},
    {"cuEventSynchronize", WAIT_ALL},
    {"cuStreamWaitEvent", STREAM_WAITS},
    {"cuFileBatchIOSubmit", SUBMIT},
    {"cuFileBatchIOGetStatus", WAIT_READS},
    {"cuFileRead", READ},
};

static action action_of(const cuda_fake_step *step)
{
    if (step->call[0] == '+')
        return FREE;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(step->call, actions[i].call) == 0)
            return actions[i].what;
    }
    return WORK;
}

static void add_work(vclock *clock, const cuda_fake_step *step)
{
    if (step->stream == 0)
        return;
    double *stream = stream_of(clock, step->stream);
    *stream = later(clock->now, *stream) + clock->prices.launch;
}

static void take_action(vclock *clock, const cuda_fake_step *step, action what)
{
    switch (what) {
    case ALLOCATE:
        clock->now += clock->prices.allocation;
        break;
    case PIN:
        clock->now +=
            clock->prices.allocation + (double)step->bytes / 1048576 * clock->prices.pinned;
        break;
    case UP:
    case DOWN:
        copy(clock, step, what == DOWN);
        break;
    case WAIT_STREAM:
        clock->now = later(clock->now, *stream_of(clock, step->stream));
        break;
    case WAIT_ALL:
        clock->now = all_streams(clock);
        break;
    case STREAM_WAITS:
        *stream_of(clock, step->stream) = all_streams(clock);
        break;
    case SUBMIT:
        vclock_submit(clock, step->bytes);
        break;
    case READ:
        vclock_submit(clock, 1);
        vclock_wait(clock);
        break;
    case WAIT_READS:
        vclock_wait(clock);
        break;
    case WORK:
        add_work(clock, step);
        break;
    default:
        break;
    }
}

void vclock_step(vclock *clock, const cuda_fake_step *step)
{
    const action what = action_of(step);
    if (what == FREE)
        return;
    clock->now += clock->prices.call;
    take_action(clock, step, what);
}

unsigned vclock_kind(const cuda_fake_step *step)
{
    static const unsigned kinds[] = {[FREE] = 0,
                                     [CALL] = VCLOCK_OTHER,
                                     [WORK] = VCLOCK_OTHER,
                                     [ALLOCATE] = VCLOCK_ALLOCATION,
                                     [PIN] = VCLOCK_ALLOCATION,
                                     [UP] = VCLOCK_UPLOAD,
                                     [DOWN] = VCLOCK_DOWNLOAD,
                                     [WAIT_STREAM] = VCLOCK_WAIT,
                                     [WAIT_ALL] = VCLOCK_WAIT,
                                     [STREAM_WAITS] = VCLOCK_OTHER,
                                     [SUBMIT] = VCLOCK_READ,
                                     [WAIT_READS] = VCLOCK_READ,
                                     [READ] = VCLOCK_READ};
    return kinds[action_of(step)];
}

vclock_sum vclock_of(const cuda_fake_control *control, const vclock_prices *prices, unsigned kinds)
{
    vclock clock = vclock_start(prices);
    vclock_sum sum = {0};
    for (size_t i = 0; i < control->step_count; i++) {
        if (!(vclock_kind(&control->steps[i]) & kinds))
            continue;
        vclock_step(&clock, &control->steps[i]);
        sum.calls++;
    }
    sum.microseconds = later(all_streams(&clock), clock.reads);
    return sum;
}
