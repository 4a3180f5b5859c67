/* SPDX-License-Identifier: Apache-2.0
 * The part of CUDA's driver interface that is used here, declared by ourselves: nothing has to be
 * installed to build, and a newer toolkit does not ask for newer functions. Types have the tags of
 * cuda.h: a test compares all of this with it. */
#ifndef TZ_DEVICE_CUDA_CU_API_H
#define TZ_DEVICE_CUDA_CU_API_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned tz_cu_code;              /* CUresult; enumerations are unsigned */
typedef int tz_cu_device;                 /* CUdevice */
typedef unsigned long long tz_cu_address; /* CUdeviceptr */
typedef struct CUctx_st *tz_cu_context;
typedef struct CUstream_st *tz_cu_stream;
typedef struct CUevent_st *tz_cu_event;
typedef struct CUmod_st *tz_cu_module;
typedef struct CUfunc_st *tz_cu_function;
typedef struct CUmemPoolHandle_st *tz_cu_pool;

/* CUmemPoolProps */
typedef struct tz_cu_pool_props {
    unsigned allocType;
    unsigned handleTypes;
    struct {
        unsigned type;
        int id;
    } location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} tz_cu_pool_props;

/* X(name without CU_, value) */
#define TZ_CU_CONSTANTS(X)                                                                         \
    X(STREAM_NON_BLOCKING, 1)                                                                      \
    X(EVENT_DISABLE_TIMING, 2)                                                                     \
    X(MEMHOSTALLOC_PORTABLE, 1)                                                                    \
    X(DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                                   \
    X(DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                                             \
    X(DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                             \
    X(DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                   \
    X(DEVICE_ATTRIBUTE_INTEGRATED, 18)                                                             \
    X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                               \
    X(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                               \
    X(DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)                                                \
    X(POINTER_ATTRIBUTE_CONTEXT, 1)                                                                \
    X(POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                                                            \
    X(POINTER_ATTRIBUTE_IS_MANAGED, 8)                                                             \
    X(POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                                                         \
    X(POINTER_ATTRIBUTE_RANGE_START_ADDR, 11)                                                      \
    X(POINTER_ATTRIBUTE_RANGE_SIZE, 12)                                                            \
    X(MEMORYTYPE_DEVICE, 2)                                                                        \
    X(JIT_ERROR_LOG_BUFFER, 5)                                                                     \
    X(JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                                          \
    X(MEM_ALLOCATION_TYPE_PINNED, 1)                                                               \
    X(MEM_LOCATION_TYPE_DEVICE, 1)                                                                 \
    X(MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)                                                           \
    X(MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 5)

#define TZ_CU_CONSTANT(name, value) TZ_CU_##name = (value),
enum { TZ_CU_CONSTANTS(TZ_CU_CONSTANT) };
#undef TZ_CU_CONSTANT

/* Drivers have all of the following since this version, as cuDriverGetVersion says it. */
#define TZ_CU_MIN_VERSION 11000

/* X(name without cu, suffix, arguments). The library also has most of these without their suffix:
 * those are other functions, of old versions. */
#define TZ_CU_FUNCTIONS(X)                                                                         \
    X(Init, , (unsigned))                                                                          \
    X(DriverGetVersion, , (int *))                                                                 \
    X(DeviceGetCount, , (int *))                                                                   \
    X(DeviceGet, , (tz_cu_device *, int))                                                          \
    X(DeviceGetName, , (char *, int, tz_cu_device))                                                \
    X(DeviceGetAttribute, , (int *, unsigned, tz_cu_device))                                       \
    X(DeviceTotalMem, _v2, (size_t *, tz_cu_device))                                               \
    X(DevicePrimaryCtxRetain, , (tz_cu_context *, tz_cu_device))                                   \
    X(DevicePrimaryCtxRelease, _v2, (tz_cu_device))                                                \
    X(CtxPushCurrent, _v2, (tz_cu_context))                                                        \
    X(CtxPopCurrent, _v2, (tz_cu_context *))                                                       \
    X(CtxGetDevice, , (tz_cu_device *))                                                            \
    X(MemAlloc, _v2, (tz_cu_address *, size_t))                                                    \
    X(MemFree, _v2, (tz_cu_address))                                                               \
    X(MemGetInfo, _v2, (size_t *, size_t *))                                                       \
    X(MemHostAlloc, , (void **, size_t, unsigned))                                                 \
    X(MemFreeHost, , (void *))                                                                     \
    X(PointerGetAttributes, , (unsigned, unsigned *, void **, tz_cu_address))                      \
    X(MemcpyHtoDAsync, _v2, (tz_cu_address, const void *, size_t, tz_cu_stream))                   \
    X(MemcpyDtoHAsync, _v2, (void *, tz_cu_address, size_t, tz_cu_stream))                         \
    X(StreamCreate, , (tz_cu_stream *, unsigned))                                                  \
    X(StreamGetCtx, , (tz_cu_stream, tz_cu_context *))                                             \
    X(StreamWaitEvent, , (tz_cu_stream, tz_cu_event, unsigned))                                    \
    X(StreamQuery, , (tz_cu_stream))                                                               \
    X(StreamSynchronize, , (tz_cu_stream))                                                         \
    X(StreamDestroy, _v2, (tz_cu_stream))                                                          \
    X(EventCreate, , (tz_cu_event *, unsigned))                                                    \
    X(EventRecord, , (tz_cu_event, tz_cu_stream))                                                  \
    X(EventQuery, , (tz_cu_event))                                                                 \
    X(EventDestroy, _v2, (tz_cu_event))                                                            \
    X(ModuleLoadDataEx, , (tz_cu_module *, const void *, unsigned, unsigned *, void **))           \
    X(ModuleGetFunction, , (tz_cu_function *, tz_cu_module, const char *))                         \
    X(ModuleUnload, , (tz_cu_module))                                                              \
    X(LaunchKernel, ,                                                                              \
      (tz_cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
       tz_cu_stream, void **, void **))

/* The same of CUDA 11.2: memory in the order of a stream. Drivers without them are used too. */
#define TZ_CU_POOL_FUNCTIONS(X)                                                                    \
    X(MemPoolCreate, , (tz_cu_pool *, const tz_cu_pool_props *))                                   \
    X(MemPoolDestroy, , (tz_cu_pool))                                                              \
    X(MemPoolSetAttribute, , (tz_cu_pool, unsigned, void *))                                       \
    X(MemPoolGetAttribute, , (tz_cu_pool, unsigned, void *))                                       \
    X(MemPoolTrimTo, , (tz_cu_pool, size_t))                                                       \
    X(MemAllocFromPoolAsync, , (tz_cu_address *, size_t, tz_cu_pool, tz_cu_stream))                \
    X(MemFreeAsync, , (tz_cu_address, tz_cu_stream))

#define TZ_CU_MEMBER(name, suffix, arguments) tz_cu_code(*name) arguments;
typedef struct tz_cu_api {
    TZ_CU_FUNCTIONS(TZ_CU_MEMBER)
    TZ_CU_POOL_FUNCTIONS(TZ_CU_MEMBER) /* the first one NULL: there are none */
} tz_cu_api;
#undef TZ_CU_MEMBER

#endif
