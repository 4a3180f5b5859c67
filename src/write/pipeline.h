/* SPDX-License-Identifier: Apache-2.0
 * An ordered parallel pipeline: tasks are numbered in their order, run by any thread, and delivered
 * in order. Its threads are the only ones of a write. The result of a task waits in one of a fixed
 * number of slots (task n in slot n modulo their number), so that no thread runs ahead of the
 * memory. The pipeline does not know the purpose of a task. */
#ifndef TZ_WRITE_PIPELINE_H
#define TZ_WRITE_PIPELINE_H

#include "base/error.h"

typedef struct tz_pipeline tz_pipeline;

typedef struct tz_pipeline_ops {
    /* Runs task number. worker is below the number of threads, and unique among running calls. */
    tz_result (*run)(void *user, uint64_t number, unsigned worker, tz_error *err);
    /* Delivers count tasks from first on. Calls never overlap. */
    tz_result (*deliver)(void *user, uint64_t first, size_t count, tz_error *err);
    /* Returns the number below which all tasks must be delivered before task number runs; at most
     * number itself. Called under the lock of the pipeline. NULL: no task waits. */
    uint64_t (*needs)(void *user, uint64_t number);
    /* Called between tasks, by the thread that waits, with the number of delivered tasks. The last
     * call of a wait that succeeds has at least the number waited for. May be NULL. */
    tz_result (*tick)(void *user, uint64_t delivered, tz_error *err);
    void *user;
    /* deliver is called only by the thread that waits. Finished tasks keep their slots until then.
     */
    bool deliver_in_wait;
} tz_pipeline_ops;

/* The calling thread works too while it waits; threads - 1 others are started when there are tasks
 * for them, or fewer if the system refuses. max_delivery: tasks per call of deliver. */
tz_result tz_pipeline_open(tz_pipeline **out, unsigned threads, uint32_t slots, size_t max_delivery,
                           const tz_pipeline_ops *ops, const tz_context *ctx);
uint64_t tz_pipeline_bytes(unsigned threads, uint32_t slots); /* that it allocates */

/* Adds count tasks, which may run from now on. */
void tz_pipeline_add(tz_pipeline *pipeline, uint64_t count);

/* Works until all tasks below number are delivered. After a failure it waits until no thread runs a
 * task, and returns the error of the failed task with the lowest number; the pipeline can then only
 * be closed. */
tz_result tz_pipeline_wait(tz_pipeline *pipeline, uint64_t number, tz_error *err);

/* Ends the threads after the tasks that they run. NULL is fine. */
void tz_pipeline_close(tz_pipeline *pipeline);

#endif
