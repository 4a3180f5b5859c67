/* SPDX-License-Identifier: Apache-2.0
 * What a program beside the library has of a device: a context and memory of its own, made with the
 * functions of OpenCL or CUDA themselves, and the device opened in that context. */
#ifndef TESTS_DOUBLE_OWN_DEVICE_H
#define TESTS_DOUBLE_OWN_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <terrazzo/terrazzo.h>

typedef struct own_device {
    void *context; /* cl_context or CUcontext */
    void *native;  /* the device that it is of */
    bool is_faulty;
    tz_device_options options;
    tz_device *opened; /* in the context; NULL: not yet */
} own_device;

/* The test device, opened. End closes it, which fails where something was not released. */
void own_begin(own_device *own);
void own_end(own_device *own);
/* The same of the device of fault_device.h, not opened: options are those to do it with. False:
 * the library failed. */
bool own_begin_faulty(own_device *own);
void own_end_faulty(own_device *own);

/* Memory of the caller's; a handle is a cl_mem or a CUdeviceptr. NULL: the library failed. */
void *own_alloc(const own_device *own, size_t size);
void own_free(const own_device *own, void *handle);
void own_copy_in(const own_device *own, void *handle, const void *bytes, size_t size);
void own_copy_out(const own_device *own, void *bytes, void *handle, size_t size);

/* Memory of another context of the caller's, and the end of both. */
typedef struct own_foreign {
    void *context, *memory;
} own_foreign;
own_foreign own_foreign_begin(const own_device *own, size_t size);
void own_foreign_end(const own_device *own, own_foreign *foreign);

/* References that the library has of the caller's context or memory; CUDA counts none: 0. */
uint32_t own_references_of_context(const own_device *own);
uint32_t own_references(const own_device *own, void *handle);

#endif
