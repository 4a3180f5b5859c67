/* SPDX-License-Identifier: Apache-2.0
 * The part of OpenCL 1.2 that is used here, declared by ourselves so that nothing has to be
 * installed to build. Types have the tags of the standard's headers: a test compares all of this
 * with them. */
#ifndef TZ_DEVICE_OPENCL_CL_API_H
#define TZ_DEVICE_OPENCL_CL_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct _cl_platform_id *tz_cl_platform;
typedef struct _cl_device_id *tz_cl_device;
typedef struct _cl_context *tz_cl_context;
typedef struct _cl_command_queue *tz_cl_queue;
typedef struct _cl_mem *tz_cl_mem;
typedef struct _cl_program *tz_cl_program;
typedef struct _cl_kernel *tz_cl_kernel;
typedef struct _cl_event *tz_cl_event;

/* X(name without CL_, value): codes, then properties and flags of platforms, devices, contexts,
 * memory, programs and events. Properties of several kinds have the same numbers; the function that
 * is asked decides which is meant. */
#define TZ_CL_CONSTANTS(X)                                                                         \
    X(SUCCESS, 0)                                                                                  \
    X(DEVICE_NOT_FOUND, -1)                                                                        \
    X(MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                           \
    X(OUT_OF_RESOURCES, -5)                                                                        \
    X(OUT_OF_HOST_MEMORY, -6)                                                                      \
    X(BUILD_PROGRAM_FAILURE, -11)                                                                  \
    X(INVALID_CONTEXT, -34)                                                                        \
    X(INVALID_COMMAND_QUEUE, -36)                                                                  \
    X(INVALID_MEM_OBJECT, -38)                                                                     \
    X(INVALID_BUFFER_SIZE, -61)                                                                    \
    X(PLATFORM_NAME, 0x0902)                                                                       \
    X(DEVICE_TYPE_CPU, 1 << 1)                                                                     \
    X(DEVICE_TYPE_GPU, 1 << 2)                                                                     \
    X(DEVICE_TYPE, 0x1000)                                                                         \
    X(DEVICE_MAX_COMPUTE_UNITS, 0x1002)                                                            \
    X(DEVICE_MAX_CLOCK_FREQUENCY, 0x100C)                                                          \
    X(DEVICE_MAX_WORK_GROUP_SIZE, 0x1004)                                                          \
    X(DEVICE_MAX_MEM_ALLOC_SIZE, 0x1010)                                                           \
    X(DEVICE_MEM_BASE_ADDR_ALIGN, 0x1019)                                                          \
    X(DEVICE_GLOBAL_MEM_SIZE, 0x101f)                                                              \
    X(DEVICE_LOCAL_MEM_SIZE, 0x1023)                                                               \
    X(DEVICE_ENDIAN_LITTLE, 0x1026)                                                                \
    X(DEVICE_AVAILABLE, 0x1027)                                                                    \
    X(DEVICE_COMPILER_AVAILABLE, 0x1028)                                                           \
    X(DEVICE_NAME, 0x102b)                                                                         \
    X(DEVICE_VENDOR, 0x102c)                                                                       \
    X(DRIVER_VERSION, 0x102d)                                                                      \
    X(DEVICE_VERSION, 0x102f)                                                                      \
    X(DEVICE_DOUBLE_FP_CONFIG, 0x1032)                                                             \
    X(DEVICE_HOST_UNIFIED_MEMORY, 0x1035)                                                          \
    X(CONTEXT_DEVICES, 0x1081)                                                                     \
    X(MEM_READ_WRITE, 1 << 0)                                                                      \
    X(MEM_ALLOC_HOST_PTR, 1 << 4)                                                                  \
    X(MEM_OBJECT_BUFFER, 0x10f0)                                                                   \
    X(QUEUE_CONTEXT, 0x1090)                                                                       \
    X(MEM_TYPE, 0x1100)                                                                            \
    X(MEM_SIZE, 0x1102)                                                                            \
    X(MEM_CONTEXT, 0x1106)                                                                         \
    X(MAP_READ, 1 << 0)                                                                            \
    X(MAP_WRITE, 1 << 1)                                                                           \
    X(PROGRAM_BUILD_LOG, 0x1183)                                                                   \
    X(EVENT_COMMAND_EXECUTION_STATUS, 0x11d3)                                                      \
    X(COMPLETE, 0)

#define TZ_CL_CONSTANT(name, value) TZ_CL_##name = (value),
enum { TZ_CL_CONSTANTS(TZ_CL_CONSTANT) };
#undef TZ_CL_CONSTANT

/* Not a constant of an enum, whose type is int. */
#define TZ_CL_DEVICE_TYPE_ALL 0xffffffffu

/* X(result, name without cl, arguments) */
#define TZ_CL_FUNCTIONS(X)                                                                         \
    X(int32_t, GetPlatformIDs, (uint32_t, tz_cl_platform *, uint32_t *))                           \
    X(int32_t, GetPlatformInfo, (tz_cl_platform, uint32_t, size_t, void *, size_t *))              \
    X(int32_t, GetDeviceIDs, (tz_cl_platform, uint64_t, uint32_t, tz_cl_device *, uint32_t *))     \
    X(int32_t, GetDeviceInfo, (tz_cl_device, uint32_t, size_t, void *, size_t *))                  \
    X(tz_cl_context, CreateContext,                                                                \
      (const intptr_t *, uint32_t, const tz_cl_device *,                                           \
       void (*)(const char *, const void *, size_t, void *), void *, int32_t *))                   \
    X(int32_t, RetainContext, (tz_cl_context))                                                     \
    X(int32_t, GetContextInfo, (tz_cl_context, uint32_t, size_t, void *, size_t *))                \
    X(int32_t, ReleaseContext, (tz_cl_context))                                                    \
    X(tz_cl_queue, CreateCommandQueue, (tz_cl_context, tz_cl_device, uint64_t, int32_t *))         \
    X(int32_t, GetCommandQueueInfo, (tz_cl_queue, uint32_t, size_t, void *, size_t *))             \
    X(int32_t, ReleaseCommandQueue, (tz_cl_queue))                                                 \
    X(tz_cl_mem, CreateBuffer, (tz_cl_context, uint64_t, size_t, void *, int32_t *))               \
    X(int32_t, RetainMemObject, (tz_cl_mem))                                                       \
    X(int32_t, GetMemObjectInfo, (tz_cl_mem, uint32_t, size_t, void *, size_t *))                  \
    X(int32_t, ReleaseMemObject, (tz_cl_mem))                                                      \
    X(tz_cl_program, CreateProgramWithSource,                                                      \
      (tz_cl_context, uint32_t, const char **, const size_t *, int32_t *))                         \
    X(int32_t, BuildProgram,                                                                       \
      (tz_cl_program, uint32_t, const tz_cl_device *, const char *,                                \
       void (*)(tz_cl_program, void *), void *))                                                   \
    X(int32_t, GetProgramBuildInfo,                                                                \
      (tz_cl_program, tz_cl_device, uint32_t, size_t, void *, size_t *))                           \
    X(int32_t, ReleaseProgram, (tz_cl_program))                                                    \
    X(tz_cl_kernel, CreateKernel, (tz_cl_program, const char *, int32_t *))                        \
    X(int32_t, ReleaseKernel, (tz_cl_kernel))                                                      \
    X(int32_t, SetKernelArg, (tz_cl_kernel, uint32_t, size_t, const void *))                       \
    X(int32_t, EnqueueNDRangeKernel,                                                               \
      (tz_cl_queue, tz_cl_kernel, uint32_t, const size_t *, const size_t *, const size_t *,        \
       uint32_t, const tz_cl_event *, tz_cl_event *))                                              \
    X(int32_t, EnqueueReadBuffer,                                                                  \
      (tz_cl_queue, tz_cl_mem, uint32_t, size_t, size_t, void *, uint32_t, const tz_cl_event *,    \
       tz_cl_event *))                                                                             \
    X(int32_t, EnqueueWriteBuffer,                                                                 \
      (tz_cl_queue, tz_cl_mem, uint32_t, size_t, size_t, const void *, uint32_t,                   \
       const tz_cl_event *, tz_cl_event *))                                                        \
    X(void *, EnqueueMapBuffer,                                                                    \
      (tz_cl_queue, tz_cl_mem, uint32_t, uint64_t, size_t, size_t, uint32_t, const tz_cl_event *,  \
       tz_cl_event *, int32_t *))                                                                  \
    X(int32_t, EnqueueUnmapMemObject,                                                              \
      (tz_cl_queue, tz_cl_mem, void *, uint32_t, const tz_cl_event *, tz_cl_event *))              \
    X(int32_t, EnqueueMarkerWithWaitList,                                                          \
      (tz_cl_queue, uint32_t, const tz_cl_event *, tz_cl_event *))                                 \
    X(int32_t, EnqueueBarrierWithWaitList,                                                         \
      (tz_cl_queue, uint32_t, const tz_cl_event *, tz_cl_event *))                                 \
    X(int32_t, GetEventInfo, (tz_cl_event, uint32_t, size_t, void *, size_t *))                    \
    X(int32_t, ReleaseEvent, (tz_cl_event))                                                        \
    X(int32_t, Flush, (tz_cl_queue))                                                               \
    X(int32_t, Finish, (tz_cl_queue))

#define TZ_CL_MEMBER(result, name, arguments) result(*name) arguments;
typedef struct tz_cl_api {
    TZ_CL_FUNCTIONS(TZ_CL_MEMBER)
} tz_cl_api;
#undef TZ_CL_MEMBER

#endif
