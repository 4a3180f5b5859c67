/* SPDX-License-Identifier: Apache-2.0
 * The two libraries behind own_device.h. */
#ifndef TESTS_DOUBLE_OWN_PARTS_H
#define TESTS_DOUBLE_OWN_PARTS_H

#include "double/own_device.h"

typedef struct own_parts {
    bool (*begin)(own_device *own); /* context, native, and the option for it */
    void (*end)(own_device *own);
    void *(*alloc)(const own_device *own, void *context, size_t size);
    void (*free)(const own_device *own, void *context, void *handle);
    void (*copy)(const own_device *own, void *handle, void *bytes, size_t size, bool in);
    void *(*other_context)(const own_device *own);
    void (*end_other_context)(const own_device *own, void *context);
    uint32_t (*context_references)(const own_device *own);
    uint32_t (*references)(const own_device *own, void *handle);
} own_parts;

extern const own_parts own_opencl, own_cuda;

#endif
