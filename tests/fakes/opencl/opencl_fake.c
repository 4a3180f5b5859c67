/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/opencl/opencl_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/opencl/cl_api.h"

#define EXPORT __attribute__((visibility("default")))
#define LOG    "fake.cl:7:1: error: use of undeclared identifier 'nonsense'\n1 error generated."

/* Every object is one of these, whatever its type. */
typedef struct object {
    int references;
    size_t size;
    unsigned char *bytes; /* of a context: its devices */
    void *context;        /* of a buffer or a queue */
} object;

static opencl_fake_control control = {OPENCL_FAKE_DEFAULTS};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char platform_marks[4];
static char device_marks[4][8]; /* a platform's devices */

EXPORT opencl_fake_control *opencl_fake(void);
EXPORT opencl_fake_control *opencl_fake(void)
{
    return &control;
}

/* Returns the code with which this call is to fail; 0: it does not. */
static int32_t enter(const char *function)
{
    int32_t code = 0;
    pthread_mutex_lock(&lock);
    control.calls++;
    if (control.fail_nth > 0 &&
        (!control.fail_function || strcmp(control.fail_function, function) == 0)) {
        if (--control.fail_nth == 0) {
            code = control.fail_code;
            if (control.lost) {
                control.fail_nth = 1;
                control.fail_function = NULL;
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static void *make(const char *function, size_t size, int32_t *code)
{
    *code = enter(function);
    if (*code != 0)
        return NULL;
    object *made = calloc(1, sizeof *made);
    made->references = 1;
    made->size = size;
    made->bytes = size ? malloc(size) : NULL;
    if (made->bytes)
        memset(made->bytes, 0xa5, size); /* nobody may rely on zeros */
    pthread_mutex_lock(&lock);
    control.live++;
    pthread_mutex_unlock(&lock);
    return made;
}

static int32_t release(void *thing)
{
    object *made = thing;
    pthread_mutex_lock(&lock);
    const bool last = --made->references == 0;
    if (last)
        control.live--;
    pthread_mutex_unlock(&lock);
    if (!last)
        return 0;
    free(made->bytes);
    free(made);
    return 0;
}

static int32_t retain(const char *function, void *thing)
{
    const int32_t code = enter(function);
    pthread_mutex_lock(&lock);
    if (code == 0)
        ((object *)thing)->references++;
    pthread_mutex_unlock(&lock);
    return code;
}

static int32_t answer(const void *value, size_t value_size, size_t size, void *out,
                      size_t *out_size)
{
    if (out_size)
        *out_size = value_size;
    if (out && size < value_size)
        return -30;
    if (out)
        memcpy(out, value, value_size);
    return 0;
}

/* ---- platforms and devices ---- */

EXPORT int32_t clGetPlatformIDs(uint32_t room, tz_cl_platform *out, uint32_t *count)
{
    const int32_t code = enter("clGetPlatformIDs");
    if (code != 0)
        return code;
    if (control.platforms == 0)
        return -1001;
    for (uint32_t i = 0; i < room && i < control.platforms; i++)
        out[i] = (tz_cl_platform)(void *)&platform_marks[i];
    *count = control.platforms;
    return 0;
}

EXPORT int32_t clGetPlatformInfo(tz_cl_platform platform, uint32_t what, size_t size, void *out,
                                 size_t *out_size)
{
    (void)platform;
    (void)what;
    const int32_t code = enter("clGetPlatformInfo");
    return code != 0 ? code : answer("Fake", 5, size, out, out_size);
}

EXPORT int32_t clGetDeviceIDs(tz_cl_platform platform, uint64_t type, uint32_t room,
                              tz_cl_device *out, uint32_t *count)
{
    (void)type;
    const int32_t code = enter("clGetDeviceIDs");
    const size_t which = (size_t)((char *)(void *)platform - platform_marks);
    if (code != 0)
        return code;
    *count = control.gpus + control.cpus;
    if (*count == 0)
        return -1;
    for (uint32_t i = 0; i < room && i < *count; i++)
        out[i] = (tz_cl_device)(void *)&device_marks[which][i];
    return 0;
}

static uint64_t number_of(tz_cl_device device, uint32_t what)
{
    const size_t index = (size_t)((char *)(void *)device - &device_marks[0][0]) % 8;
    switch (what) {
    case 0x1000: /* type */
        return index < control.gpus ? 4 : 2;
    case 0x1002:
        return 3;
    case 0x1004:
        return control.max_group;
    case 0x1010:
        return control.max_allocation;
    case 0x1019:
        return 1024;
    case 0x101f:
        return control.memory << index;
    case 0x1023:
        return 32768;
    case 0x1026:
        return !control.big_endian;
    case 0x1027:
        return !control.unavailable;
    case 0x1028:
        return !control.no_compiler;
    default:
        return 0;
    }
}

static const char *text_of(uint32_t what)
{
    switch (what) {
    case 0x102b:
        return "  Fake\n device\x1b ";
    case 0x102c:
        return "Nobody";
    case 0x102d:
        return "0.1";
    case 0x102f:
        return control.version;
    default:
        return NULL;
    }
}

/* Little-endian machines only: a narrow answer is the front of a wide one. */
EXPORT int32_t clGetDeviceInfo(tz_cl_device device, uint32_t what, size_t size, void *out,
                               size_t *out_size)
{
    const int32_t code = enter("clGetDeviceInfo");
    const char *text = text_of(what);
    const uint64_t number = number_of(device, what);
    if (code != 0)
        return code;
    if (text)
        return answer(text, strlen(text) + 1, size, out, out_size);
    return answer(&number, size < sizeof number ? size : sizeof number, size, out, out_size);
}

/* ---- objects ---- */

EXPORT tz_cl_context clCreateContext(const intptr_t *properties, uint32_t count,
                                     const tz_cl_device *devices,
                                     void (*notify)(const char *, const void *, size_t, void *),
                                     void *user, int32_t *code)
{
    (void)properties;
    (void)notify;
    (void)user;
    object *made = make("clCreateContext", count * sizeof *devices, code);
    if (made)
        memcpy(made->bytes, devices, made->size);
    return (tz_cl_context)(void *)made;
}

EXPORT int32_t clRetainContext(tz_cl_context context)
{
    return retain("clRetainContext", context);
}

EXPORT int32_t clGetContextInfo(tz_cl_context context, uint32_t what, size_t size, void *out,
                                size_t *out_size)
{
    const object *made = (object *)(void *)context;
    const int32_t code = enter("clGetContextInfo");
    if (code != 0)
        return code;
    if (what == 0x1080)
        return answer(&made->references, sizeof made->references, size, out, out_size);
    return answer(made->bytes, made->size, size, out, out_size);
}

EXPORT tz_cl_queue clCreateCommandQueue(tz_cl_context context, tz_cl_device device,
                                        uint64_t properties, int32_t *code)
{
    (void)device;
    (void)properties;
    object *made = make("clCreateCommandQueue", 0, code);
    if (made)
        made->context = context;
    return (tz_cl_queue)(void *)made;
}

EXPORT tz_cl_mem clCreateBuffer(tz_cl_context context, uint64_t flags, size_t size, void *host,
                                int32_t *code)
{
    (void)flags;
    (void)host;
    object *made = make("clCreateBuffer", size, code);
    if (made)
        made->context = context;
    return (tz_cl_mem)(void *)made;
}

EXPORT int32_t clRetainMemObject(tz_cl_mem memory)
{
    return retain("clRetainMemObject", memory);
}

EXPORT int32_t clGetMemObjectInfo(tz_cl_mem memory, uint32_t what, size_t size, void *out,
                                  size_t *out_size)
{
    const object *made = (object *)(void *)memory;
    const int32_t code = enter("clGetMemObjectInfo");
    if (code != 0)
        return code;
    if (what == 0x1106) /* context */
        return answer(&made->context, sizeof made->context, size, out, out_size);
    if (what == 0x1105)
        return answer(&made->references, sizeof made->references, size, out, out_size);
    if (what == 0x1102)
        return answer(&made->size, sizeof made->size, size, out, out_size);
    return answer(&control.memory_type, sizeof control.memory_type, size, out, out_size);
}

EXPORT tz_cl_program clCreateProgramWithSource(tz_cl_context context, uint32_t count,
                                               const char **lines, const size_t *sizes,
                                               int32_t *code)
{
    (void)context;
    (void)count;
    (void)lines;
    (void)sizes;
    return make("clCreateProgramWithSource", 0, code);
}

EXPORT int32_t clBuildProgram(tz_cl_program program, uint32_t count, const tz_cl_device *devices,
                              const char *options, void (*notify)(tz_cl_program, void *),
                              void *user)
{
    (void)program;
    (void)count;
    (void)devices;
    (void)notify;
    (void)user;
    snprintf(control.options, sizeof control.options, "%s", options);
    return enter("clBuildProgram");
}

EXPORT int32_t clGetProgramBuildInfo(tz_cl_program program, tz_cl_device device, uint32_t what,
                                     size_t size, void *out, size_t *out_size)
{
    (void)program;
    (void)device;
    (void)what;
    const int32_t code = enter("clGetProgramBuildInfo");
    return code != 0 ? code : answer(LOG, sizeof LOG, size, out, out_size);
}

EXPORT tz_cl_kernel clCreateKernel(tz_cl_program program, const char *name, int32_t *code)
{
    (void)program;
    (void)name;
    return make("clCreateKernel", 0, code);
}

#define RELEASE(name, type)                                                                        \
    EXPORT int32_t name(type thing)                                                                \
    {                                                                                              \
        return release(thing);                                                                     \
    }
RELEASE(clReleaseContext, tz_cl_context)
RELEASE(clReleaseCommandQueue, tz_cl_queue)
RELEASE(clReleaseMemObject, tz_cl_mem)
RELEASE(clReleaseProgram, tz_cl_program)
RELEASE(clReleaseKernel, tz_cl_kernel)
RELEASE(clReleaseEvent, tz_cl_event)

/* ---- work ---- */

EXPORT int32_t clSetKernelArg(tz_cl_kernel kernel, uint32_t index, size_t size, const void *value)
{
    (void)kernel;
    (void)index;
    (void)size;
    (void)value;
    return enter("clSetKernelArg");
}

EXPORT int32_t clEnqueueNDRangeKernel(tz_cl_queue queue, tz_cl_kernel kernel, uint32_t dimensions,
                                      const size_t *offset, const size_t *global,
                                      const size_t *local, uint32_t wait_count,
                                      const tz_cl_event *waits, tz_cl_event *event)
{
    (void)queue;
    (void)kernel;
    (void)dimensions;
    (void)offset;
    (void)wait_count;
    (void)waits;
    (void)event;
    const int32_t code = enter("clEnqueueNDRangeKernel");
    if (code != 0)
        return code;
    return local && *global > 0 && *global % *local == 0 ? 0 : -54;
}

EXPORT int32_t clEnqueueReadBuffer(tz_cl_queue queue, tz_cl_mem memory, uint32_t blocking,
                                   size_t offset, size_t size, void *to, uint32_t wait_count,
                                   const tz_cl_event *waits, tz_cl_event *event)
{
    (void)queue;
    (void)blocking;
    (void)wait_count;
    (void)waits;
    (void)event;
    const int32_t code = enter("clEnqueueReadBuffer");
    if (code == 0)
        memcpy(to, ((object *)(void *)memory)->bytes + offset, size);
    return code;
}

EXPORT int32_t clEnqueueWriteBuffer(tz_cl_queue queue, tz_cl_mem memory, uint32_t blocking,
                                    size_t offset, size_t size, const void *from,
                                    uint32_t wait_count, const tz_cl_event *waits,
                                    tz_cl_event *event)
{
    (void)queue;
    (void)blocking;
    (void)wait_count;
    (void)waits;
    (void)event;
    const int32_t code = enter("clEnqueueWriteBuffer");
    if (code == 0)
        memcpy(((object *)(void *)memory)->bytes + offset, from, size);
    return code;
}

EXPORT void *clEnqueueMapBuffer(tz_cl_queue queue, tz_cl_mem memory, uint32_t blocking,
                                uint64_t flags, size_t offset, size_t size, uint32_t wait_count,
                                const tz_cl_event *waits, tz_cl_event *event, int32_t *code)
{
    (void)queue;
    (void)blocking;
    (void)flags;
    (void)size;
    (void)wait_count;
    (void)waits;
    (void)event;
    *code = enter("clEnqueueMapBuffer");
    return *code == 0 ? ((object *)(void *)memory)->bytes + offset : NULL;
}

EXPORT int32_t clEnqueueUnmapMemObject(tz_cl_queue queue, tz_cl_mem memory, void *mapped,
                                       uint32_t wait_count, const tz_cl_event *waits,
                                       tz_cl_event *event)
{
    (void)queue;
    (void)memory;
    (void)mapped;
    (void)wait_count;
    (void)waits;
    (void)event;
    return 0; /* a release */
}

/* A loader of OpenCL 1.1 has no such function. */
#ifndef OPENCL_FAKE_OLD
EXPORT int32_t clEnqueueMarkerWithWaitList(tz_cl_queue queue, uint32_t wait_count,
                                           const tz_cl_event *waits, tz_cl_event *event)
{
    (void)queue;
    (void)wait_count;
    (void)waits;
    int32_t code;
    *event = make("clEnqueueMarkerWithWaitList", 0, &code);
    return code;
}
#endif

EXPORT int32_t clEnqueueBarrierWithWaitList(tz_cl_queue queue, uint32_t wait_count,
                                            const tz_cl_event *waits, tz_cl_event *event)
{
    (void)queue;
    (void)wait_count;
    (void)waits;
    (void)event;
    return enter("clEnqueueBarrierWithWaitList");
}

EXPORT int32_t clGetEventInfo(tz_cl_event event, uint32_t what, size_t size, void *out,
                              size_t *out_size)
{
    (void)event;
    (void)what;
    const int32_t code = enter("clGetEventInfo");
    return code != 0
               ? code
               : answer(&control.event_status, sizeof control.event_status, size, out, out_size);
}

EXPORT int32_t clGetCommandQueueInfo(tz_cl_queue queue, uint32_t what, size_t size, void *out,
                                     size_t *out_size)
{
    (void)what;
    const int32_t code = enter("clGetCommandQueueInfo");
    const object *made = (const object *)(void *)queue;
    return code != 0 ? code : answer(&made->context, sizeof made->context, size, out, out_size);
}

EXPORT int32_t clFlush(tz_cl_queue queue)
{
    (void)queue;
    return enter("clFlush");
}

EXPORT int32_t clFinish(tz_cl_queue queue)
{
    (void)queue;
    return enter("clFinish");
}
