/* SPDX-License-Identifier: Apache-2.0
 * CUDA's driver interface as the fake has it, in the words of cuda.h: more than the library uses,
 * so that tests can be callers of CUDA of their own. One table has prototypes, the names that are
 * exported, and what cuGetProcAddress knows. */
#ifndef TESTS_FAKES_CUDA_CUDA_API_H
#define TESTS_FAKES_CUDA_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef void (*CUhostFn)(void *state);

typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;

typedef struct CUmemPoolProps_st {
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
} CUmemPoolProps;
_Static_assert(sizeof(CUmemPoolProps) == 88, "as in cuda.h");

/* X(name, suffix, version of CUDA that brought it, arguments) */
#define CUDA_FUNCTIONS(X)                                                                          \
    X(cuInit, , 2000, (unsigned flags))                                                            \
    X(cuDriverGetVersion, , 2020, (int *version))                                                  \
    X(cuGetErrorName, , 6000, (CUresult code, const char **name))                                  \
    X(cuGetErrorString, , 6000, (CUresult code, const char **text))                                \
    X(cuDeviceGetCount, , 2000, (int *count))                                                      \
    X(cuDeviceGet, , 2000, (CUdevice * device, int ordinal))                                       \
    X(cuDeviceGetName, , 2000, (char *name, int size, CUdevice device))                            \
    X(cuDeviceGetAttribute, , 2000, (int *value, unsigned attribute, CUdevice device))             \
    X(cuDeviceTotalMem, _v2, 3020, (size_t * bytes, CUdevice device))                              \
    X(cuDeviceGetUuid, _v2, 11040, (CUuuid *, CUdevice device))                                    \
    X(cuDevicePrimaryCtxRetain, , 7000, (CUcontext * out, CUdevice device))                        \
    X(cuDevicePrimaryCtxRelease, _v2, 11000, (CUdevice device))                                    \
    X(cuDevicePrimaryCtxGetState, , 7000, (CUdevice device, unsigned *flags, int *active))         \
    X(cuCtxCreate, _v2, 3020, (CUcontext * out, unsigned flags, CUdevice device))                  \
    X(cuCtxDestroy, _v2, 4000, (CUcontext handle))                                                 \
    X(cuCtxPushCurrent, _v2, 4000, (CUcontext handle))                                             \
    X(cuCtxPopCurrent, _v2, 4000, (CUcontext * out))                                               \
    X(cuCtxGetCurrent, , 4000, (CUcontext * out))                                                  \
    X(cuCtxSetCurrent, , 4000, (CUcontext handle))                                                 \
    X(cuCtxGetDevice, , 2000, (CUdevice * device))                                                 \
    X(cuCtxSynchronize, , 2000, (void))                                                            \
    X(cuMemAlloc, _v2, 3020, (CUdeviceptr * out, size_t size))                                     \
    X(cuMemFree, _v2, 3020, (CUdeviceptr address))                                                 \
    X(cuMemGetInfo, _v2, 3020, (size_t * unused, size_t * total))                                  \
    X(cuMemGetAddressRange, _v2, 3020, (CUdeviceptr * first, size_t * size, CUdeviceptr address))  \
    X(cuPointerGetAttribute, , 4000, (void *out, unsigned attribute, CUdeviceptr address))         \
    X(cuPointerGetAttributes, , 7000,                                                              \
      (unsigned count, unsigned *attributes, void **out, CUdeviceptr address))                     \
    X(cuMemHostAlloc, , 2020, (void **out, size_t size, unsigned flags))                           \
    X(cuMemFreeHost, , 2000, (void *host))                                                         \
    X(cuMemHostRegister, _v2, 6050, (void *host, size_t size, unsigned flags))                     \
    X(cuMemHostUnregister, , 4000, (void *host))                                                   \
    X(cuMemcpyHtoD, _v2, 3020, (CUdeviceptr to, const void *from, size_t size))                    \
    X(cuMemcpyDtoH, _v2, 3020, (void *to, CUdeviceptr from, size_t size))                          \
    X(cuMemcpyDtoD, _v2, 3020, (CUdeviceptr to, CUdeviceptr from, size_t size))                    \
    X(cuMemsetD8, _v2, 3020, (CUdeviceptr to, unsigned char value, size_t count))                  \
    X(cuMemsetD32, _v2, 3020, (CUdeviceptr to, unsigned value, size_t count))                      \
    X(cuMemcpyHtoDAsync, _v2, 3020,                                                                \
      (CUdeviceptr to, const void *from, size_t size, CUstream stream))                            \
    X(cuMemcpyDtoHAsync, _v2, 3020, (void *to, CUdeviceptr from, size_t size, CUstream stream))    \
    X(cuMemcpyDtoDAsync, _v2, 3020,                                                                \
      (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream))                            \
    X(cuMemsetD8Async, , 3020,                                                                     \
      (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))                        \
    X(cuMemsetD32Async, , 3020, (CUdeviceptr to, unsigned value, size_t count, CUstream stream))   \
    X(cuStreamCreate, , 2000, (CUstream * out, unsigned flags))                                    \
    X(cuStreamDestroy, _v2, 4000, (CUstream stream))                                               \
    X(cuStreamSynchronize, , 2000, (CUstream stream))                                              \
    X(cuStreamQuery, , 2000, (CUstream stream))                                                    \
    X(cuStreamWaitEvent, , 3020, (CUstream stream, CUevent event, unsigned flags))                 \
    X(cuStreamGetCtx, , 9020, (CUstream stream, CUcontext * out))                                  \
    X(cuEventCreate, , 2000, (CUevent * out, unsigned flags))                                      \
    X(cuEventDestroy, _v2, 4000, (CUevent event))                                                  \
    X(cuEventRecord, , 2000, (CUevent event, CUstream stream))                                     \
    X(cuEventSynchronize, , 2000, (CUevent event))                                                 \
    X(cuEventQuery, , 2000, (CUevent event))                                                       \
    X(cuEventElapsedTime, , 2000, (float *milliseconds, CUevent start, CUevent end))               \
    X(cuLaunchHostFunc, , 10000, (CUstream stream, CUhostFn function, void *state))                \
    X(cuModuleLoadData, , 2000, (CUmodule * out, const void *image))                               \
    X(cuModuleLoadDataEx, , 2010,                                                                  \
      (CUmodule * out, const void *image, unsigned count, unsigned *options, void **values))       \
    X(cuModuleUnload, , 2000, (CUmodule module))                                                   \
    X(cuModuleGetFunction, , 2000, (CUfunction * out, CUmodule module, const char *name))          \
    X(cuFuncGetAttribute, , 2020, (int *value, unsigned attribute, CUfunction function))           \
    X(cuFuncSetAttribute, , 9000, (CUfunction function, unsigned attribute, int value))            \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, , 6050,                                         \
      (int *blocks, CUfunction function, int threads, size_t shared))                              \
    X(cuGetProcAddress, _v2, 12000,                                                                \
      (const char *name, void **out, int version, uint64_t flags, unsigned *status))

/* Not in the broken fake. */
#define CUDA_LAUNCH_FUNCTIONS(X)                                                                   \
    X(cuLaunchKernel, , 4000,                                                                      \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **params,        \
       void **extra))

/* Not in the old fake: memory in the order of a stream. */
#define CUDA_POOL_FUNCTIONS(X)                                                                     \
    X(cuMemAllocAsync, , 11020, (CUdeviceptr * out, size_t size, CUstream stream))                 \
    X(cuMemAllocFromPoolAsync, , 11020,                                                            \
      (CUdeviceptr * out, size_t size, CUmemoryPool pool, CUstream stream))                        \
    X(cuMemFreeAsync, , 11020, (CUdeviceptr address, CUstream stream))                             \
    X(cuMemPoolCreate, , 11020, (CUmemoryPool * out, const CUmemPoolProps *props))                 \
    X(cuMemPoolDestroy, , 11020, (CUmemoryPool pool))                                              \
    X(cuMemPoolSetAttribute, , 11020, (CUmemoryPool pool, unsigned attribute, void *value))        \
    X(cuMemPoolGetAttribute, , 11020, (CUmemoryPool pool, unsigned attribute, void *value))        \
    X(cuMemPoolTrimTo, , 11020, (CUmemoryPool pool, size_t keep))                                  \
    X(cuDeviceGetDefaultMemPool, , 11020, (CUmemoryPool * out, CUdevice device))

#define CUDA_PROTOTYPE(name, suffix, version, arguments)                                           \
    __attribute__((visibility("default"))) CUresult name##suffix arguments;
CUDA_FUNCTIONS(CUDA_PROTOTYPE)
CUDA_LAUNCH_FUNCTIONS(CUDA_PROTOTYPE)
CUDA_POOL_FUNCTIONS(CUDA_PROTOTYPE)
#undef CUDA_PROTOTYPE

#endif
