/* SPDX-License-Identifier: Apache-2.0
 * A thread pool that all handles share, the CPUs it may use, and the detection of forks. */
#ifndef TZ_BASE_POOL_H
#define TZ_BASE_POOL_H

#include <pthread.h>
#include <sys/types.h>
#include <terrazzo/terrazzo.h>

#include "base/error.h"

typedef struct tz_pool tz_pool;

/* Returns the number of CPUs that this process may use by affinity mask and cgroup quota; at
 * least 1. */
unsigned tz_available_cpus(void);

/* Returns the lowest CPU quota of the control group of the process and of all groups above it, v1
 * and v2, rounded up to whole CPUs; 0 if there is none. root is a prefix of /proc and /sys: ""
 * except in tests. */
unsigned tz_cpu_quota(const char *root);

/* Identifies a process, also after fork, which copies memory but not threads: an owner of threads
 * or locks records its process, and a child that finds the record of its parent makes its own. */
typedef struct tz_process {
    pid_t id;
    unsigned generation; /* forks since the library was loaded: the system may reuse an id */
} tz_process;
tz_process tz_process_current(void);
bool tz_process_is_current(const tz_process *recorded);

/* Opens a pool of at most 1024 threads; 0: tz_available_cpus(). The calling thread works too, so a
 * pool of n starts n - 1 threads, and only with the first job of two or more indices. If the system
 * refuses to start that many, fewer do the work; that is not an error. */
tz_result tz_pool_open(tz_pool **out, unsigned threads, const tz_context *ctx);
void tz_pool_close(tz_pool *pool); /* accepts NULL; no job may be running */
unsigned tz_pool_threads(const tz_pool *pool);

/* Runs job(user, index, worker, err) for every index below count; worker < tz_pool_threads
 * identifies the thread, for scratch memory of its own (the calling thread is 0). Indices are
 * handed out in order. Returns when all have ended, with the result and the error of the lowest
 * index that failed; after the first failure or cancellation no new index is started. Every index
 * below a failing one runs to its end, so the error that is returned does not depend on timing.
 * progress is called from the calling thread only. Several threads may run jobs on one pool at
 * once; a job may not run another on the same pool.
 *
 * After fork, the child may run jobs on the pool and close it, even if other threads of the
 * parent were running jobs: it starts threads of its own and touches no lock of the parent. A
 * fork made inside a job or a progress callback is the exception: that child may only exec or
 * _exit. */
typedef tz_result (*tz_pool_job)(void *user, uint64_t index, unsigned worker, tz_error *err);
tz_result tz_pool_run(tz_pool *pool, uint64_t count, tz_pool_job job, void *user,
                      const tz_progress *progress, const tz_context *ctx);

/* tz_pool_run on the pool of the process, with at most `threads` of its threads (numbers of workers
 * are below threads). That pool is made when it is first needed, with a thread for each CPU. A
 * request for more threads makes a pool for this run. */
tz_result tz_pool_run_shared(unsigned threads, uint64_t count, tz_pool_job job, void *user,
                             const tz_progress *progress, const tz_context *ctx);
unsigned tz_pool_shared_threads(void);

/* Starts a thread that runs none of the host's signal handlers. Returns an error number, or 0. */
int tz_start_thread(pthread_t *thread, void *(*main)(void *), void *argument);

/* Threads are started through this function, so that tests can make it fail. NULL restores
 * pthread_create. */
typedef int (*tz_thread_create_fn)(pthread_t *thread, const pthread_attr_t *attributes,
                                   void *(*main)(void *), void *argument);
void tz_set_thread_create(tz_thread_create_fn create);

#endif
