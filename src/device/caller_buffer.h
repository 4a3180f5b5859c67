/* SPDX-License-Identifier: Apache-2.0
 * Buffers of callers: they come in as tz_buffer, of any version and any kind of memory, and are
 * used as tz_pixel_buffer. */
#ifndef TZ_DEVICE_CALLER_BUFFER_H
#define TZ_DEVICE_CALLER_BUFFER_H

#include "base/error.h"
#include "pixel/pixel.h"

/* Memory of CUDA and OpenCL that is wrapped while a call uses it. Buffers with the same handle
 * share a wrapper, so that kernels see one memory. */
typedef struct tz_wrapped_memory {
    void *handle; /* of the caller; NULL: the wrapper has only the bytes of one buffer */
    tz_device_memory *memory;
} tz_wrapped_memory;
typedef struct tz_wrapped_list {
    tz_wrapped_memory *entries;
    uint32_t count, capacity;
} tz_wrapped_list;

/* Nothing that uses the memory may be under way. */
void tz_wrapped_list_deinit(tz_wrapped_list *list); /* zeroed state is fine */

/* Copies a buffer of the caller; argument is its name in messages. Memory of CUDA and OpenCL must
 * be of device, which may be NULL, and is wrapped into the list. Whether the buffer exists, and
 * lies within its memory, is for the caller to check. */
tz_result tz_caller_buffer_enter(tz_pixel_buffer *out, const tz_buffer *given, const char *argument,
                                 tz_device *device, tz_wrapped_list *list, const tz_context *ctx);

/* Returns the buffer as callers see it. */
tz_buffer tz_caller_buffer_show(const tz_pixel_buffer *buffer);

#endif
