/* SPDX-License-Identifier: Apache-2.0
 * A belt: pieces of work, numbered in their order, are made by any thread and delivered in order.
 * It is the one set of threads of a write. What a piece is, the belt does not know; what is made
 * waits in one of a fixed number of slots (piece n in slot n modulo their number), so that nobody
 * runs ahead of the memory there is. */
#ifndef TZ_WRITE_PIPELINE_H
#define TZ_WRITE_PIPELINE_H

#include "base/error.h"

typedef struct tz_pipeline tz_pipeline;

typedef struct tz_pipeline_ops {
    /* Make piece number; worker is below the number of threads and tells them apart. */
    tz_result (*run)(void *user, uint64_t number, unsigned worker, tz_error *err);
    /* Deliver count pieces from first on; never two calls at a time. */
    tz_result (*deliver)(void *user, uint64_t first, size_t count, tz_error *err);
    /* Pieces below this number must have been delivered before piece number is made: at most number
     * itself. Asked under the belt's lock. NULL: none. */
    uint64_t (*needs)(void *user, uint64_t number);
    /* Called between pieces, by the thread that waits, with the number of those delivered; the last
     * call of a wait that succeeds has at least the number waited for. May be NULL. */
    tz_result (*tick)(void *user, uint64_t delivered, tz_error *err);
    void *user;
} tz_pipeline_ops;

/* The calling thread works too while it waits; threads - 1 others are started when there is
 * something to do, or fewer where the system does not give them. max_delivery: pieces delivered
 * in one call. */
tz_result tz_pipeline_open(tz_pipeline **out, unsigned threads, uint32_t slots, size_t max_delivery,
                           const tz_pipeline_ops *ops, const tz_context *ctx);
uint64_t tz_pipeline_bytes(unsigned threads, uint32_t slots); /* what it allocates */

/* So many pieces more can be made from now on. */
void tz_pipeline_add(tz_pipeline *pipeline, uint64_t count);

/* Work until all pieces below number are delivered. After a failure, of the lowest piece that
 * failed: until nobody works any more; the belt is then of no further use. */
tz_result tz_pipeline_wait(tz_pipeline *pipeline, uint64_t number, tz_error *err);

/* Ends the threads, after the pieces that they have begun. NULL is fine. */
void tz_pipeline_close(tz_pipeline *pipeline);

#endif
