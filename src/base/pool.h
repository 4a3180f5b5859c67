/* SPDX-License-Identifier: Apache-2.0
 * A small thread pool, shared by all handles. */
#ifndef TZ_BASE_POOL_H
#define TZ_BASE_POOL_H

#include <pthread.h>
#include <terrazzo/terrazzo.h>

#include "base/error.h"

typedef struct tz_pool tz_pool;

/* Cores this process may use: affinity mask and cgroup quota (v1 and v2), at least 1. */
unsigned tz_available_cpus(void);

/* threads 0: tz_available_cpus(); never more than 1024. The calling thread works too, so a pool of
 * n starts n - 1 threads, and only with the first job of two or more indices. Where the system
 * gives fewer threads, fewer work; that is no error. */
tz_result tz_pool_open(tz_pool **out, unsigned threads, const tz_context *ctx);
void tz_pool_close(tz_pool *pool); /* NULL is fine; no job may be running */
unsigned tz_pool_threads(const tz_pool *pool);

/* Run job(user, index, worker, err) for every index below count; worker < tz_pool_threads tells
 * threads apart for per-thread scratch (the calling thread is 0). Indices are handed out in order.
 * Returns when all have ended: the result of the lowest index that failed, with its error; after
 * the first failure (or cancel) no new index is started. Every index below a failing one runs to
 * its end, so which error is returned does not depend on timing. progress is called from the
 * calling thread only. Several threads may run jobs on one pool at once; a job may not run another
 * on the same pool.
 *
 * After fork, the child may run jobs on the pool and close it, also when other threads of the
 * parent were just running jobs: it starts threads of its own and touches no lock of the parent. A
 * fork made inside a job or a progress callback is the exception: that child may only exec or
 * _exit. */
typedef tz_result (*tz_pool_job)(void *user, uint64_t index, unsigned worker, tz_error *err);
tz_result tz_pool_run(tz_pool *pool, uint64_t count, tz_pool_job job, void *user,
                      const tz_progress *progress, const tz_context *ctx);

/* The same on the pool that all of the process shares, with at most so many of its threads (numbers
 * of workers are below threads). It is made when it is first needed, with a thread for each core.
 * Asking for more threads than that makes a pool for this run. */
tz_result tz_pool_run_shared(unsigned threads, uint64_t count, tz_pool_job job, void *user,
                             const tz_progress *progress, const tz_context *ctx);
unsigned tz_pool_shared_threads(void);

/* Start a thread that runs none of the host's signal handlers; an error number, or 0. */
int tz_start_thread(pthread_t *thread, void *(*main)(void *), void *argument);

/* Threads are started through this function, so that tests can make it fail. NULL restores
 * pthread_create. */
typedef int (*tz_thread_create_fn)(pthread_t *thread, const pthread_attr_t *attributes,
                                   void *(*main)(void *), void *argument);
void tz_set_thread_create(tz_thread_create_fn create);

#endif
