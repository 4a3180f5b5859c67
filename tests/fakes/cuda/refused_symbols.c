/* SPDX-License-Identifier: Apache-2.0
 * Names that libcuda has too, and that nobody may want: functions of old versions without suffix,
 * with 32-bit sizes or other arguments, and those that wait for a whole device in one go. */
#include <stdio.h>
#include <stdlib.h>

#define TRAP(name)                                                                                 \
    __attribute__((visibility("default"))) _Noreturn void name(void);                              \
    _Noreturn void name(void)                                                                      \
    {                                                                                              \
        fputs("the fake of CUDA: " #name " is a function of an old version\n", stderr);            \
        abort();                                                                                   \
    }

TRAP(cuDeviceTotalMem)
TRAP(cuDeviceGetUuid)
TRAP(cuDevicePrimaryCtxRelease)
TRAP(cuDevicePrimaryCtxReset)
TRAP(cuDevicePrimaryCtxReset_v2)
TRAP(cuCtxCreate)
TRAP(cuCtxDestroy)
TRAP(cuCtxAttach)
TRAP(cuCtxDetach)
TRAP(cuCtxPushCurrent)
TRAP(cuCtxPopCurrent)
TRAP(cuMemAlloc)
TRAP(cuMemAllocHost)
TRAP(cuMemAllocPitch)
TRAP(cuMemFree)
TRAP(cuMemGetInfo)
TRAP(cuMemGetAddressRange)
TRAP(cuMemHostGetDevicePointer)
TRAP(cuMemHostRegister)
TRAP(cuMemcpyHtoD)
TRAP(cuMemcpyDtoH)
TRAP(cuMemcpyDtoD)
TRAP(cuMemcpyHtoDAsync)
TRAP(cuMemcpyDtoHAsync)
TRAP(cuMemcpyDtoDAsync)
TRAP(cuMemcpy2D)
TRAP(cuMemcpy2DAsync)
TRAP(cuMemsetD8)
TRAP(cuMemsetD32)
TRAP(cuModuleGetGlobal)
TRAP(cuStreamDestroy)
TRAP(cuEventDestroy)
TRAP(cuGetProcAddress)
