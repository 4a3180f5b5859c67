/* SPDX-License-Identifier: Apache-2.0 */
#include "double/own_opencl.h"

#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "double/test_device.h"
#include "support/check.h"

#define CONTEXT_REFERENCE_COUNT 0x1080u
#define MEM_REFERENCE_COUNT     0x1105u

/* The device that a context of another one has: that of PoCL. */
static tz_cl_device device_in(const own_opencl *own, const tz_device *device)
{
    tz_cl_device found = NULL;
    assert_int_equal(own->api.GetContextInfo(tz_device_native_context(device),
                                             (uint32_t)TZ_CL_CONTEXT_DEVICES, sizeof found, &found,
                                             NULL),
                     0);
    return found;
}

void own_opencl_begin(own_opencl *own)
{
    char reason[256];
    int32_t code = 0;
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    *own = (own_opencl){0};
    assert_true(tz_cl_load(&own->api, TZ_CL_LIBRARY, reason, sizeof reason));
    tz_device *other = test_device_open(NULL);
    own->device = device_in(own, other);
    tz_device_close(other);
    own->context = own->api.CreateContext(NULL, 1, &own->device, NULL, NULL, &code);
    assert_non_null(own->context);
    how.opencl_context = own->context;
    own->opened = test_device_open(&how);
}

void own_opencl_end(own_opencl *own)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(own->opened, &err), TZ_OK);
    assert_int_equal(own_opencl_context_references(own), 1);
    assert_int_equal(own->api.ReleaseContext(own->context), 0);
}

tz_cl_mem own_opencl_buffer(const own_opencl *own, size_t size)
{
    int32_t code = 0;
    tz_cl_mem made =
        own->api.CreateBuffer(own->context, (uint64_t)TZ_CL_MEM_READ_WRITE, size, NULL, &code);
    assert_non_null(made);
    return made;
}

uint32_t own_opencl_context_references(const own_opencl *own)
{
    uint32_t count = 0;
    assert_int_equal(
        own->api.GetContextInfo(own->context, CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL),
        0);
    return count;
}

uint32_t own_opencl_references(const own_opencl *own, tz_cl_mem memory)
{
    uint32_t count = 0;
    assert_int_equal(
        own->api.GetMemObjectInfo(memory, MEM_REFERENCE_COUNT, sizeof count, &count, NULL), 0);
    return count;
}
