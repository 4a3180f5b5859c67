/* SPDX-License-Identifier: Apache-2.0
 * The two libraries behind caller_device.h. */
#ifndef TESTS_SUPPORT_DEVICE_CALLER_DRIVER_H
#define TESTS_SUPPORT_DEVICE_CALLER_DRIVER_H

#include "support/device/caller_device.h"

typedef struct caller_driver {
    bool (*begin)(caller_device *own); /* context, native, and the option for it */
    void (*end)(caller_device *own);
    void *(*alloc)(const caller_device *own, void *context, size_t size);
    void (*free)(const caller_device *own, void *context, void *handle);
    void (*copy)(const caller_device *own, void *handle, void *bytes, size_t size, bool in);
    void *(*other_context)(const caller_device *own);
    void (*end_other_context)(const caller_device *own, void *context);
    uint32_t (*context_references)(const caller_device *own);
    uint32_t (*references)(const caller_device *own, void *handle);
    void *(*make_stream)(const caller_device *own, void *context);
    void (*end_stream)(const caller_device *own, void *context, void *stream);
    void (*hold)(caller_device *own, void *stream);
    void (*let_go)(caller_device *own);
    void (*put_copy)(const caller_device *own, void *stream, void *handle, void *bytes, size_t size,
                     bool in);
    void (*finish)(const caller_device *own, void *stream);
} caller_driver;

extern const caller_driver caller_opencl, caller_cuda;

#endif
