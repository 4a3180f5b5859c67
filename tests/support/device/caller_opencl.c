/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"
#include "device/opencl/opencl_internal.h"
#include "support/check.h"
#include "support/device/caller_driver.h"
#include "support/device/test_device.h"

#define CONTEXT_REFERENCE_COUNT 0x1080u
#define MEM_REFERENCE_COUNT     0x1105u

static tz_cl_api apis[2]; /* of the loader, of the fake */

static const tz_cl_api *api_of(const caller_device *own)
{
    return &apis[own->is_faulty];
}

/* The device that a context of another one has: that of PoCL. */
static tz_cl_device find_pocl(void)
{
    tz_cl_device found = NULL;
    tz_device *other = test_device_open(NULL);
    assert_int_equal(apis[0].GetContextInfo(tz_device_get_context(other),
                                            (uint32_t)TZ_CL_CONTEXT_DEVICES, sizeof found, &found,
                                            NULL),
                     0);
    tz_device_close(other);
    return found;
}

/* The first one of the fake; NULL: it failed. */
static tz_cl_device find_faulty(void)
{
    uint32_t count;
    tz_cl_platform platform;
    tz_cl_device device;
    if (apis[1].GetPlatformIDs(1, &platform, &count) != 0 ||
        apis[1].GetDeviceIDs(platform, UINT32_MAX, 1, &device, &count) != 0)
        return NULL;
    return device;
}

static bool begin(caller_device *own)
{
    char reason[256];
    int32_t code = 0;
    assert_true(tz_cl_load(&apis[own->is_faulty], own->is_faulty ? OPENCL_FAKE : TZ_CL_LIBRARY,
                           reason, sizeof reason));
    tz_cl_device device = own->is_faulty ? find_faulty() : find_pocl();
    own->native = device;
    own->context = device ? api_of(own)->CreateContext(NULL, 1, &device, NULL, NULL, &code) : NULL;
    own->options.opencl_context = own->context;
    return own->context != NULL;
}

static void end(caller_device *own)
{
    assert_int_equal(api_of(own)->ReleaseContext(own->context), 0);
}

static void *make(const caller_device *own, void *context, size_t size)
{
    int32_t code = 0;
    return api_of(own)->CreateBuffer(context, (uint64_t)TZ_CL_MEM_READ_WRITE, size, NULL, &code);
}

static void release(const caller_device *own, void *context, void *handle)
{
    (void)context;
    assert_int_equal(api_of(own)->ReleaseMemObject(handle), 0);
}

static void copy(const caller_device *own, void *handle, void *bytes, size_t size, bool in)
{
    int32_t code = 0;
    tz_cl_queue queue = api_of(own)->CreateCommandQueue(own->context, own->native, 0, &code);
    assert_non_null(queue);
    code = in ? api_of(own)->EnqueueWriteBuffer(queue, handle, 1, 0, size, bytes, 0, NULL, NULL)
              : api_of(own)->EnqueueReadBuffer(queue, handle, 1, 0, size, bytes, 0, NULL, NULL);
    assert_int_equal(code, 0);
    assert_int_equal(api_of(own)->ReleaseCommandQueue(queue), 0);
}

static void *other_context(const caller_device *own)
{
    int32_t code = 0;
    tz_cl_device device = own->native;
    tz_cl_context other = api_of(own)->CreateContext(NULL, 1, &device, NULL, NULL, &code);
    assert_non_null(other);
    return other;
}

static void end_other_context(const caller_device *own, void *context)
{
    assert_int_equal(api_of(own)->ReleaseContext(context), 0);
}

/* One is the caller's. A fake that fails reports nothing. */
static uint32_t context_references(const caller_device *own)
{
    uint32_t count = 1;
    (void)api_of(own)->GetContextInfo(own->context, CONTEXT_REFERENCE_COUNT, sizeof count, &count,
                                      NULL);
    return count - 1;
}

static uint32_t references(const caller_device *own, void *handle)
{
    uint32_t count = 1;
    (void)api_of(own)->GetMemObjectInfo(handle, MEM_REFERENCE_COUNT, sizeof count, &count, NULL);
    return count - 1;
}

const caller_driver caller_opencl = {.begin = begin,
                                     .end = end,
                                     .alloc = make,
                                     .free = release,
                                     .copy = copy,
                                     .other_context = other_context,
                                     .end_other_context = end_other_context,
                                     .context_references = context_references,
                                     .references = references};
