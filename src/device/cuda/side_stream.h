/* SPDX-License-Identifier: Apache-2.0
 * Streams for libraries whose states are for one piece of work at a time: each state has a slot,
 * and is used again when the host has waited for that slot alone. */
#ifndef TZ_DEVICE_CUDA_SIDE_STREAM_H
#define TZ_DEVICE_CUDA_SIDE_STREAM_H

#include <stdbool.h>

#include "base/error.h"
#include "device/cuda/cu_api.h"

struct tz_cu_state;

typedef struct tz_cu_side_stream {
    tz_cu_stream stream;
    tz_cu_event event;
    bool busy; /* something was put into it since the host waited for it */
} tz_cu_side_stream;

/* All of these with the context current, and of one slot from one thread at a time. */
tz_result tz_cu_side_stream_open(const struct tz_cu_state *s, tz_cu_side_stream *side,
                                 const tz_context *ctx);
void tz_cu_side_stream_close(const struct tz_cu_state *s,
                             tz_cu_side_stream *side); /* zeroed is fine */

/* The host waits until it is idle, unless it is already. Before a state is destroyed, too. */
tz_result tz_cu_side_stream_wait(const struct tz_cu_state *s, tz_cu_side_stream *side,
                                 const tz_context *ctx);
/* The same; then it waits for what is in the queue by now. */
tz_result tz_cu_side_stream_begin(const struct tz_cu_state *s, tz_cu_side_stream *side,
                                  uint32_t queue, const tz_context *ctx);
/* Something was put into it, or may have been. */
tz_result tz_cu_side_stream_record(const struct tz_cu_state *s, tz_cu_side_stream *side,
                                   const tz_context *ctx);
/* The queue waits for what was put into the slot. Slots that are to overlap all begin before the
 * first of them ends. */
tz_result tz_cu_side_stream_end(const struct tz_cu_state *s, tz_cu_side_stream *side,
                                uint32_t queue, const tz_context *ctx);

#endif
