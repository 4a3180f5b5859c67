/* SPDX-License-Identifier: Apache-2.0
 * The library and its devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/cuda/state.h"

enum { MAX_DEVICES = 8 };
static uint64_t used[MAX_DEVICES];

CUresult cuInit(unsigned flags)
{
    call here;
    if (!call_begin(&here, "+cuInit", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    if (flags != 0)
        return call_end(&here, refuse(&here, INVALID_VALUE, "flags of %#x", flags));
    if (control.init_code != 0)
        return call_end(&here, (CUresult)control.init_code);
    return call_end(&here, control.devices == 0 ? NO_DEVICE : SUCCESS);
}

CUresult cuDriverGetVersion(int *version)
{
    call here;
    if (!call_begin(&here, "+cuDriverGetVersion", NEEDS_NOTHING, 0, NULL))
        return call_end(&here, here.code);
    *version = control.version;
    return call_end(&here, SUCCESS);
}

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"}};

static CUresult error_text(CUresult code, const char **out, bool name)
{
    *out = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == code)
            *out = name ? errors[i].name : errors[i].text;
    }
    return *out ? SUCCESS : INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult code, const char **name)
{
    return error_text(code, name, true);
}

CUresult cuGetErrorString(CUresult code, const char **text)
{
    return error_text(code, text, false);
}

bool device_exists(CUdevice device)
{
    return device >= 0 && device < MAX_DEVICES && (uint32_t)device < control.devices;
}

uint64_t device_memory(int device)
{
    return control.memory << device;
}

uint64_t device_used(int device)
{
    return used[device];
}

void device_added(int device, int64_t bytes)
{
    used[device] += (uint64_t)bytes;
}

/* A call that needs a device that there is. */
static bool begin(call *here, const char *name, CUdevice device)
{
    if (!call_begin(here, name, NEEDS_INIT, 0, NULL))
        return false;
    if (!device_exists(device))
        here->code = refuse(here, INVALID_DEVICE, "there is no device %d", device);
    return here->code == SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    call here;
    if (!call_begin(&here, "+cuDeviceGetCount", NEEDS_INIT, 0, NULL))
        return call_end(&here, here.code);
    *count = (int)(control.devices < MAX_DEVICES ? control.devices : MAX_DEVICES);
    return call_end(&here, SUCCESS);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    call here;
    if (!begin(&here, "+cuDeviceGet", ordinal))
        return call_end(&here, here.code);
    *device = ordinal;
    return call_end(&here, SUCCESS);
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    call here;
    if (!begin(&here, "+cuDeviceGetName", device))
        return call_end(&here, here.code);
    if (size <= 0)
        return call_end(&here, refuse(&here, INVALID_VALUE, "room of %d bytes", size));
    snprintf(name, (size_t)size, "Fake of CUDA %d", device);
    return call_end(&here, SUCCESS);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    call here;
    if (!begin(&here, "+cuDeviceTotalMem_v2", device))
        return call_end(&here, here.code);
    *bytes = device_memory(device);
    return call_end(&here, SUCCESS);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    call here;
    if (!begin(&here, "+cuDeviceGetUuid_v2", device))
        return call_end(&here, here.code);
    memset(uuid->bytes, 0xd0, sizeof uuid->bytes);
    uuid->bytes[15] = (char)device;
    return call_end(&here, SUCCESS);
}

/* Number, and what it is; of a card of the Turing generation. */
static const int attributes[][2] = {
    {1, 1024},                                   /* threads of a block */
    {2, 1024},       {3, 1024},   {4, 64},       /* its sides */
    {5, 2147483647}, {6, 65535},  {7, 65535},    /* of a grid */
    {8, 49152},                                  /* shared memory of a block */
    {9, 65536},                                  /* constant memory */
    {10, 32},                                    /* warp */
    {12, 65536},                                 /* registers of a block */
    {13, 1500000},                               /* clock, kHz */
    {15, 1},         {16, 20},                   /* overlap, multiprocessors */
    {17, 0},         {18, 0},                    /* timeout, integrated */
    {19, 1},         {20, 0},                    /* host memory mapped, compute mode */
    {31, 1},                                     /* concurrent kernels */
    {33, 1},         {34, 0},     {50, 0},       /* PCI */
    {36, 7000000},   {37, 256},   {38, 4 << 20}, /* memory clock, bus, second level cache */
    {39, 1024},      {40, 2},     {41, 1},       /* threads of a multiprocessor, engines, UVA */
    {78, 1},         {81, 65536}, {82, 65536},   /* priorities, shared memory and registers */
    {83, 1},         {97, 65536}, {102, 0},      /* managed memory, opt-in, virtual memory */
    {106, 16},       {116, 0},                   /* blocks of a multiprocessor, RDMA */
};

CUresult cuDeviceGetAttribute(int *value, unsigned attribute, CUdevice device)
{
    call here;
    if (!begin(&here, "+cuDeviceGetAttribute", device))
        return call_end(&here, here.code);
    CUresult code = SUCCESS;
    if (attribute == 75 || attribute == 76) {
        *value = attribute == 75 ? control.major : control.minor;
    } else if (attribute == 115) {
        *value = !control.no_pools;
    } else {
        code = INVALID_VALUE;
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
            if ((unsigned)attributes[i][0] == attribute) {
                *value = attributes[i][1];
                code = SUCCESS;
            }
        }
    }
    if (code != SUCCESS)
        code = refuse(&here, code, "attribute %u is not known", attribute);
    return call_end(&here, code);
}
