/* SPDX-License-Identifier: Apache-2.0
 * Devices of CUDA, and what they say of themselves. */
#include <stdio.h>

#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"

/* What kernels are compiled for: no compiler of these days makes code for older ones. */
#define MIN_CAPABILITY_MAJOR 7
#define MIN_CAPABILITY_MINOR 5

/* What cuMemAlloc aligns to, at least. */
#define ALIGNMENT 256u

/* ---- beginning ---- */

/* Why a library has no device, where that is no riddle. */
static const char *no_device_reason(tz_cu_code code)
{
    switch (code) {
    case TZ_CU_ERROR_NO_DEVICE:
        return "there is no GPU";
    case TZ_CU_ERROR_STUB_LIBRARY:
        return "the library is the stub of the CUDA toolkit, and not the driver's";
    case TZ_CU_ERROR_NOT_INITIALIZED:
        return "CUDA does not work in a child after fork";
    case TZ_CU_ERROR_SYSTEM_NOT_READY:
        return "a service of the machine that GPUs need does not run";
    case TZ_CU_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "the library and the driver of the kernel are of different versions";
    case TZ_CU_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return "the library for forward compatibility does not support this GPU";
    default:
        return "the driver does not start";
    }
}

bool tz_cu_init(const tz_cu_api *api, uint32_t *device_count, char *reason, size_t reason_size)
{
    int count = 0;
    const char *function = "cuInit";
    tz_cu_code code = api->Init(0);
    if (code == TZ_CU_SUCCESS) {
        function = "cuDeviceGetCount";
        code = api->DeviceGetCount(&count);
    }
    if (code == TZ_CU_SUCCESS && count <= 0)
        code = TZ_CU_ERROR_NO_DEVICE;
    *device_count = code == TZ_CU_SUCCESS ? (uint32_t)count : 0;
    if (code == TZ_CU_SUCCESS)
        return true;
    tz_device_textf(reason, reason_size, "%s (%s: %s, %u)", no_device_reason(code), function,
                    tz_cu_error_text(code), code);
    return false;
}

/* ---- describing ---- */

/* What cannot be asked is 0. */
static uint32_t query_attribute(const tz_cu_api *api, tz_cu_device device, unsigned what)
{
    int value = 0;
    return api->DeviceGetAttribute(&value, what, device) == TZ_CU_SUCCESS && value > 0
               ? (uint32_t)value
               : 0;
}

static void describe_cuda_limits(const tz_cu_api *api, tz_cu_device device,
                                 tz_device_limits *limits)
{
    size_t memory = 0;
    if (api->DeviceTotalMem(&memory, device) == TZ_CU_SUCCESS)
        limits->memory = limits->max_allocation = memory;
    limits->alignment = ALIGNMENT;
    limits->local_memory =
        query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    limits->max_group = query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    limits->compute_units =
        query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    limits->clock_mhz =
        query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000; /* of kHz */
    limits->fp64 = true;
    limits->unified_memory = query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
}

typedef struct compute_capability {
    uint32_t major, minor;
} compute_capability;

static int describe_versions(const tz_cu_api *api, const compute_capability *able,
                             tz_device_info *info)
{
    int version = 0;
    if (api->DriverGetVersion(&version) != TZ_CU_SUCCESS)
        version = 0;
    tz_device_textf(info->api_version, sizeof info->api_version,
                    "CUDA %d.%d, compute capability %u.%u", version / 1000, version % 1000 / 10,
                    able->major, able->minor);
    tz_device_textf(info->driver_version, sizeof info->driver_version, "%d", version);
    return version;
}

int tz_cu_needed_version(void)
{
    return tz_kernel_image_cuda > TZ_CU_MIN_VERSION ? tz_kernel_image_cuda : TZ_CU_MIN_VERSION;
}

static bool capability_is_enough(const compute_capability *able)
{
    return able->major > MIN_CAPABILITY_MAJOR ||
           (able->major == MIN_CAPABILITY_MAJOR && able->minor >= MIN_CAPABILITY_MINOR);
}

/* Why its kernels could not run, as far as that is known without trying; empty: they can. A version
 * of 0 is not known. */
static void find_cuda_fault(const compute_capability *able, int version, tz_device_info *info)
{
    char *out = info->reason;
    const size_t size = sizeof info->reason;
    const int needed = tz_cu_needed_version();
    if (tz_kernel_image_convert.size == 0)
        tz_device_textf(out, size, "terrazzo was built without kernels for CUDA: %s",
                        tz_kernel_image_about);
    else if (!capability_is_enough(able))
        tz_device_textf(out, size, "its compute capability is %u.%u, and below %d.%d", able->major,
                        able->minor, MIN_CAPABILITY_MAJOR, MIN_CAPABILITY_MINOR);
    else if (version > 0 && version < needed)
        tz_device_textf(out, size, "its driver is of CUDA %d.%d, and %d.%d or later is needed",
                        version / 1000, version % 1000 / 10, needed / 1000, needed % 1000 / 10);
    else if (info->limits.max_group < TZ_WORK_GROUP_ITEMS)
        tz_device_textf(out, size, "its groups are smaller than %u", TZ_WORK_GROUP_ITEMS);
    else if (info->limits.memory == 0)
        tz_device_text(out, size, "it does not tell how much memory it has");
    info->usable = out[0] == '\0';
}

void tz_cu_describe(const tz_cu_api *api, uint32_t index, tz_device_info *info)
{
    tz_cu_device device = 0;
    char name[256] = "";
    (void)snprintf(info->id, sizeof info->id, "cuda:%u", index);
    tz_device_text(info->driver, sizeof info->driver, "cuda");
    tz_device_text(info->vendor, sizeof info->vendor, "NVIDIA Corporation");
    info->type = TZ_DEVICE_GPU;
    const tz_cu_code code = api->DeviceGet(&device, (int)index);
    if (code != TZ_CU_SUCCESS) {
        tz_device_textf(info->reason, sizeof info->reason, "cuDeviceGet: %s (%u)",
                        tz_cu_error_text(code), code);
        return;
    }
    if (api->DeviceGetName(name, (int)sizeof name - 1, device) == TZ_CU_SUCCESS)
        tz_device_text(info->name, sizeof info->name, name);
    const compute_capability able = {
        query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
    const int version = describe_versions(api, &able, info);
    describe_cuda_limits(api, device, &info->limits);
    find_cuda_fault(&able, version, info);
}
