/* SPDX-License-Identifier: Apache-2.0
 * Buffers in a device's memory that the cores have to fill: they fill memory of the host, and that
 * is sent up at the end, each buffer at once. */
#ifndef TZ_READ_GPU_GPU_BOUNCE_H
#define TZ_READ_GPU_GPU_BOUNCE_H

#include "read/read_request.h"

typedef struct tz_bounce_buffer tz_bounce_buffer;
typedef struct tz_bounce {
    tz_bounce_buffer *buffers;
    size_t count;
    uint64_t bytes; /* of the host */
    tz_device_use use;
} tz_bounce;

/* Give views buffers of the host; what lies between the samples of theirs is kept.
 * how->max_memory is less afterwards. dry: no memory is taken. */
tz_result tz_bounce_begin(tz_bounce *bounce, tz_read_request *requests, size_t count,
                          tz_read_options *how, bool dry, const tz_context *ctx);

/* Send them up. */
tz_result tz_bounce_upload(tz_bounce *bounce, const tz_context *ctx);
void tz_bounce_deinit(tz_bounce *bounce); /* zeroed state is fine */

#endif
