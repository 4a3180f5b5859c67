/* SPDX-License-Identifier: Apache-2.0
 * OpenCL as a program beside the library has it: a context and buffers of its own, on PoCL. */
#ifndef TESTS_DOUBLE_OWN_OPENCL_H
#define TESTS_DOUBLE_OWN_OPENCL_H

#include "device/opencl.h"

typedef struct own_opencl {
    tz_cl_api api;
    tz_cl_context context;
    tz_cl_device device;
    tz_device *opened; /* in the context */
} own_opencl;

/* Make and release it all; making ends the test when PoCL is not there. */
void own_opencl_begin(own_opencl *own);
void own_opencl_end(own_opencl *own);

/* A buffer of the context; the caller releases it. */
tz_cl_mem own_opencl_buffer(const own_opencl *own, size_t size);
/* References that live, of a context or a buffer. */
uint32_t own_opencl_context_references(const own_opencl *own);
uint32_t own_opencl_references(const own_opencl *own, tz_cl_mem memory);

#endif
