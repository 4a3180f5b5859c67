/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_uint fork_generation;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    atomic_fetch_add(&fork_generation, 1);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork); /* without it the process number has to do */
}

tz_process tz_process_current(void)
{
    pthread_once(&fork_once, watch_forks);
    return (tz_process){getpid(), atomic_load(&fork_generation)};
}

bool tz_process_is_current(const tz_process *recorded)
{
    return recorded->generation == atomic_load(&fork_generation) && recorded->id == getpid();
}
