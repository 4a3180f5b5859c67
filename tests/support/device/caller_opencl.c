/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <string.h>

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

static void *make_stream(const caller_device *own, void *context)
{
    int32_t code = 0;
    return api_of(own)->CreateCommandQueue(context, own->native, 0, &code);
}

static void end_stream(const caller_device *own, void *context, void *stream)
{
    (void)context;
    assert_int_equal(api_of(own)->ReleaseCommandQueue(stream), 0);
}

static void finish(const caller_device *own, void *stream)
{
    assert_int_equal(api_of(own)->Finish(stream), 0);
}

/* Events that the caller sets: only tests need them. */
static struct user_events {
    void *(*Create)(void *context, int32_t *code);
    int32_t (*SetStatus)(void *event, int32_t status);
} user_events;

static void load_user_events(void)
{
    static const char *const names[] = {"clCreateUserEvent", "clSetUserEventStatus"};
    void *library = dlopen(TZ_CL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *symbol = dlsym(library, names[i]);
        assert_non_null(symbol);
        memcpy((char *)&user_events + i * sizeof symbol, &symbol, sizeof symbol);
    }
}

static void hold(caller_device *own, void *stream)
{
    int32_t code = 0;
    load_user_events();
    own->gate = user_events.Create(own->context, &code);
    assert_non_null(own->gate);
    const tz_cl_event gate = own->gate;
    assert_int_equal(api_of(own)->EnqueueBarrierWithWaitList(stream, 1, &gate, NULL), 0);
}

static void let_go(caller_device *own)
{
    assert_int_equal(user_events.SetStatus(own->gate, TZ_CL_COMPLETE), 0);
    assert_int_equal(api_of(own)->ReleaseEvent(own->gate), 0);
    own->gate = NULL;
}

static void put_copy(const caller_device *own, void *stream, void *handle, void *bytes, size_t size,
                     bool in)
{
    const tz_cl_api *api = api_of(own);
    assert_int_equal(in ? api->EnqueueWriteBuffer(stream, handle, 0, 0, size, bytes, 0, NULL, NULL)
                        : api->EnqueueReadBuffer(stream, handle, 0, 0, size, bytes, 0, NULL, NULL),
                     0);
}

const caller_driver caller_opencl = {.begin = begin,
                                     .end = end,
                                     .alloc = make,
                                     .free = release,
                                     .copy = copy,
                                     .other_context = other_context,
                                     .end_other_context = end_other_context,
                                     .context_references = context_references,
                                     .references = references,
                                     .make_stream = make_stream,
                                     .end_stream = end_stream,
                                     .hold = hold,
                                     .let_go = let_go,
                                     .put_copy = put_copy,
                                     .finish = finish};
