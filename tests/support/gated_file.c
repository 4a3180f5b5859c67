/* SPDX-License-Identifier: Apache-2.0 */
#include "support/gated_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/source.h"

enum { DEADLINE_SECONDS = 20 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    unsigned width;
    uint64_t to_come;
    uint64_t from, to;
    unsigned inside; /* of the round that has not begun */
    gate_result is;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

static bool is_full(void)
{
    return gate.inside >= gate.width || gate.inside >= gate.to_come;
}

static void open_gate(void)
{
    gate.is.rounds++;
    gate.to_come -= gate.inside < gate.to_come ? gate.inside : gate.to_come;
    gate.inside = 0;
    pthread_cond_broadcast(&gate.opened);
}

static void pass(size_t size)
{
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += DEADLINE_SECONDS;
    pthread_mutex_lock(&gate.lock);
    const uint64_t round = gate.is.rounds;
    gate.is.reads++;
    gate.is.largest = size > gate.is.largest ? size : gate.is.largest;
    gate.is.smallest = size < gate.is.smallest ? size : gate.is.smallest;
    gate.inside++;
    if (is_full())
        open_gate();
    while (gate.is.rounds == round && !gate.is.failed) {
        if (pthread_cond_timedwait(&gate.opened, &gate.lock, &deadline) == ETIMEDOUT) {
            gate.is.failed = true;
            pthread_cond_broadcast(&gate.opened);
        }
    }
    pthread_mutex_unlock(&gate.lock);
}

static long gated_pread(int fd, void *dst, size_t size, int64_t offset)
{
    if ((uint64_t)offset >= gate.from && (uint64_t)offset < gate.to)
        pass(size);
    return pread(fd, dst, size, (off_t)offset);
}

static int plain_open(const char *path, int flags)
{
    return open(path, flags);
}

static int plain_fstat(int fd, struct stat *out)
{
    return fstat(fd, out);
}

static int plain_expect(int fd, int64_t offset, int64_t size)
{
    (void)fd, (void)offset, (void)size;
    return 0;
}

void gate_restart(unsigned width, uint64_t reads)
{
    gate.width = width;
    gate.to_come = reads;
    gate.inside = 0;
    gate.is = (gate_result){.smallest = UINT64_MAX};
}

void gate_begin(unsigned width, uint64_t reads, uint64_t from, uint64_t to)
{
    static const tz_source_syscalls calls = {plain_open, plain_fstat,  gated_pread,
                                             close,      plain_expect, NULL};
    gate.from = from;
    gate.to = to;
    gate_restart(width, reads);
    tz_source_set_syscalls(&calls);
}

void gate_uncached(void)
{
    gate_begin(1, 0, 0, 0);
}

gate_result gate_end(void)
{
    tz_source_set_syscalls(NULL);
    return gate.is;
}
