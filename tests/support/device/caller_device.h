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
