/* SPDX-License-Identifier: Apache-2.0
 * Streams beside the queues, for libraries whose states do one task at a time: each state has a
 * stream of its own, and is used again when the host has waited for that stream alone.
 *
 *     queue  --work--+-------------------------+--more work-->
 *                    | begin                   ^ end
 *     side   - - - - +--decode tile 0--,       |
 *     side   - - - - +--decode tile 1----------'
 *
 * begin makes the stream wait for the work that the queue has by then, end makes the queue wait for
 * the stream. One event serves both directions: each is a record that is followed at once by the
 * wait for it. */
#ifndef TZ_DEVICE_CUDA_SIDE_STREAM_H
#define TZ_DEVICE_CUDA_SIDE_STREAM_H

#include <stdbool.h>

#include "base/error.h"
#include "device/cuda/cu_api.h"

struct tz_cu_state;

typedef struct tz_cu_side_stream {
    tz_cu_stream stream;
    tz_cu_event event;
    bool busy; /* it has work that the host has not waited for */
} tz_cu_side_stream;

/* Call these with the context current, and for one stream from one thread at a time. */
tz_result tz_cu_side_stream_open(const struct tz_cu_state *s, tz_cu_side_stream *side,
                                 const tz_context *ctx);
void tz_cu_side_stream_close(const struct tz_cu_state *s,
                             tz_cu_side_stream *side); /* zeroed is fine */

/* Waits until the stream is idle; the host needs it before it destroys a state, too. */
tz_result tz_cu_side_stream_wait(const struct tz_cu_state *s, tz_cu_side_stream *side,
                                 const tz_context *ctx);
/* The same; then makes the stream wait for the work that is in the queue now. */
tz_result tz_cu_side_stream_begin(const struct tz_cu_state *s, tz_cu_side_stream *side,
                                  uint32_t queue, const tz_context *ctx);
/* Notes that work was put into the stream, or may have been. */
tz_result tz_cu_side_stream_record(const struct tz_cu_state *s, tz_cu_side_stream *side,
                                   const tz_context *ctx);
/* Records the same and makes the queue wait for the stream. Streams that are to overlap must all
 * begin before the first of them ends. */
tz_result tz_cu_side_stream_end(const struct tz_cu_state *s, tz_cu_side_stream *side,
                                uint32_t queue, const tz_context *ctx);

#endif
