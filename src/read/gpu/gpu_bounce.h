/* SPDX-License-Identifier: Apache-2.0
 * Buffers in device memory that the CPU has to fill: it fills host memory, which is uploaded at the
 * end, each buffer at once. */
#ifndef TZ_READ_GPU_GPU_BOUNCE_H
#define TZ_READ_GPU_GPU_BOUNCE_H

#include "read/read_request.h"

typedef struct tz_bounce_buffer tz_bounce_buffer;
typedef struct tz_bounce {
    tz_bounce_buffer *buffers;
    size_t count;
    uint64_t bytes; /* of host memory */
    tz_device_use use;
} tz_bounce;

/* Gives requests buffers in host memory; bytes between the samples of their own are kept.
 * how->max_memory is less by these afterwards. dry: nothing is allocated. */
tz_result tz_bounce_begin(tz_bounce *bounce, tz_read_request *requests, size_t count,
                          tz_read_options *how, bool dry, const tz_context *ctx);

/* Uploads them. */
tz_result tz_bounce_upload(tz_bounce *bounce, const tz_context *ctx);
void tz_bounce_deinit(tz_bounce *bounce); /* zeroed state is fine */

#endif
