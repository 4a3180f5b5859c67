/* SPDX-License-Identifier: Apache-2.0
 * A program beside the library that uses a device: a context and memory of its own, made with the
 * functions of OpenCL or CUDA themselves, and the device opened in that context. */
#ifndef TESTS_SUPPORT_DEVICE_CALLER_DEVICE_H
#define TESTS_SUPPORT_DEVICE_CALLER_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

typedef struct caller_device {
    void *context; /* cl_context or CUcontext */
    void *native;  /* the device that it is of */
    bool is_faulty;
    tz_device_options options;
    tz_device *opened; /* in the context; NULL: not yet */
    void *gate;        /* of caller_hold; NULL: none */
} caller_device;

/* The test device, opened. End closes it, which fails where something was not released. */
void caller_begin(caller_device *own);
void caller_end(caller_device *own);
/* The same of the device of fault_device.h, not opened: options are those to do it with. False:
 * the library failed. */
bool caller_begin_faulty(caller_device *own);
void caller_end_faulty(caller_device *own);

/* Memory of the caller's; a handle is a cl_mem or a CUdeviceptr. NULL: the library failed. */
void *caller_alloc(const caller_device *own, size_t size);
void caller_free(const caller_device *own, void *handle);
void caller_copy_in(const caller_device *own, void *handle, const void *bytes, size_t size);
void caller_copy_out(const caller_device *own, void *bytes, void *handle, size_t size);

/* A stream of the caller's: a cl_command_queue or a CUstream, of its own context or another. */
void *caller_stream_begin(const caller_device *own, void *context);
void caller_stream_end(const caller_device *own, void *context, void *stream);
/* Puts a copy into a stream, and returns. */
void caller_put_in(const caller_device *own, void *stream, void *handle, const void *bytes,
                   size_t size);
void caller_put_out(const caller_device *own, void *stream, void *bytes, void *handle, size_t size);
void caller_finish(const caller_device *own, void *stream);
/* Holds back what is put into the stream from now on, until caller_let_go, by any thread. Streams
 * of CUDA are not held: those of the fake do nothing before somebody waits. */
void caller_hold(caller_device *own, void *stream);
void caller_let_go(caller_device *own);

/* Memory of another context of the caller's, and the end of both. */
typedef struct caller_foreign {
    void *context, *memory;
} caller_foreign;
caller_foreign caller_foreign_begin(const caller_device *own, size_t size);
void caller_foreign_end(const caller_device *own, caller_foreign *foreign);

/* References that the library has of the caller's context or memory; CUDA counts none: 0. */
uint32_t caller_references_of_context(const caller_device *own);
uint32_t caller_references(const caller_device *own, void *handle);

#endif
