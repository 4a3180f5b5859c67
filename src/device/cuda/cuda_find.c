/* SPDX-License-Identifier: Apache-2.0
 * CUDA's library, its errors, and its devices' descriptions.
 *
 * Nothing here makes a context, so listing devices is cheap and keeps nothing. The price is
 * that a device counts as usable by its numbers (compute capability, version of the driver, size of
 * a work-group); a driver that refuses the kernels all the same is found out when the device is
 * opened, which a list for users does once (probes_when_listed). */
#include <stdio.h>

#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"
#include "device/dynlib.h"

/* The kernels are compiled for this compute capability: today's compilers support no older one. */
#define MIN_CAPABILITY_MAJOR 7
#define MIN_CAPABILITY_MINOR 5

/* Bytes that cuMemAlloc aligns to, at least. */
#define ALIGNMENT 256u

/* ---- errors ---- */

const char *tz_cu_error_text(tz_cu_code code)
{
    switch (code) {
#define CASE(name, number)                                                                         \
    case number:                                                                                   \
        return "CUDA_ERROR_" #name;
        TZ_CU_ERRORS(CASE)
#undef CASE
    default:
        return "a code that CUDA 13.0 does not know";
    }
}

tz_result tz_cu_check(const char *function, tz_cu_code code, const tz_context *ctx)
{
    const bool memory = code == TZ_CU_ERROR_OUT_OF_MEMORY;
    if (code == TZ_CU_SUCCESS)
        return TZ_OK;
    return tz_fail(ctx, memory ? TZ_ERR_NOMEM : TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                   "%s: %s (%u)", function, tz_cu_error_text(code), code);
}

tz_result tz_cu_check_memory(const char *function, tz_cu_code code, uint64_t size,
                             const tz_context *ctx)
{
    if (code != TZ_CU_ERROR_OUT_OF_MEMORY)
        return tz_cu_check(function, code, ctx);
    return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_DEVICE, tz_no_location(),
                   "no %llu bytes of device memory: %s: %s (%u)", (unsigned long long)size,
                   function, tz_cu_error_text(code), code);
}

/* ---- the library ---- */

/* The pool's functions are optional, all or none: a driver has them since CUDA 11.2. */
bool tz_cu_load(tz_cu_api *api, const char *library, char *reason, size_t reason_size)
{
#define SYMBOL(name, suffix, arguments) {"cu" #name #suffix, offsetof(tz_cu_api, name)},
    static const tz_dynlib_symbol symbols[] = {TZ_CU_FUNCTIONS(SYMBOL)};
    static const tz_dynlib_symbol pool_symbols[] = {TZ_CU_POOL_FUNCTIONS(SYMBOL)};
#undef SYMBOL
    static const char *const sonames[] = {TZ_CU_LIBRARY, NULL};
    static const tz_dynlib row = {.name = "CUDA",
                                  .sonames = sonames,
                                  .missing_note = ": the driver is too old",
                                  .functions_size = sizeof *api,
                                  .symbols = symbols,
                                  .symbol_count = sizeof symbols / sizeof symbols[0],
                                  .optional = pool_symbols,
                                  .optional_count = sizeof pool_symbols / sizeof pool_symbols[0]};
    tz_dynlib_info info;
    return tz_dynlib_load(&row, library, api, &info, reason, reason_size);
}

/* Says in words why a library has no device, for the codes that users meet. */
static const char *no_device_reason(tz_cu_code code)
{
    switch (code) {
    case TZ_CU_ERROR_NO_DEVICE:
        return "no GPU was found";
    case TZ_CU_ERROR_STUB_LIBRARY:
        return "the library is the stub of the CUDA toolkit, and not the driver's";
    case TZ_CU_ERROR_NOT_INITIALIZED:
        return "CUDA does not work in a child after fork";
    case TZ_CU_ERROR_SYSTEM_NOT_READY:
        return "a system service that GPUs need does not run";
    case TZ_CU_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "the library and the kernel's driver have different versions";
    case TZ_CU_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return "the library for forward compatibility does not support this GPU";
    default:
        return "the driver does not start";
    }
}

/* A driver may start without any device: the count is then 0. */
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

/* Returns 0 for an attribute that the driver does not know. */
static uint32_t query_attribute(const tz_cu_api *api, tz_cu_device device, unsigned what)
{
    int value = 0;
    return api->DeviceGetAttribute(&value, what, device) == TZ_CU_SUCCESS && value > 0
               ? (uint32_t)value
               : 0;
}

int tz_cu_needed_version(void)
{
    return tz_kernel_image_cuda > TZ_CU_MIN_VERSION ? tz_kernel_image_cuda : TZ_CU_MIN_VERSION;
}

/* Sets usable, or the reason why the kernels cannot run, as far as the numbers say. A version of 0
 * is not known. */
static void check_usable(uint32_t major, uint32_t minor, int version, tz_device_info *info,
                         tz_device_texts *texts)
{
    char *out = texts->reason;
    const size_t size = sizeof texts->reason;
    const int needed = tz_cu_needed_version();
    const bool is_too_old = major < MIN_CAPABILITY_MAJOR ||
                            (major == MIN_CAPABILITY_MAJOR && minor < MIN_CAPABILITY_MINOR);
    if (tz_kernel_image_convert.size == 0)
        tz_device_textf(out, size, "terrazzo was built without kernels for CUDA: %s",
                        tz_kernel_image_about);
    else if (is_too_old)
        tz_device_textf(out, size, "its compute capability is %u.%u, and below %d.%d", major, minor,
                        MIN_CAPABILITY_MAJOR, MIN_CAPABILITY_MINOR);
    else if (version > 0 && version < needed)
        tz_device_textf(out, size, "its driver is of CUDA %d.%d, and %d.%d or later is needed",
                        version / 1000, version % 1000 / 10, needed / 1000, needed % 1000 / 10);
    else if (info->max_work_group < TZ_WORK_GROUP_ITEMS)
        tz_device_textf(out, size, "its groups are smaller than %u", TZ_WORK_GROUP_ITEMS);
    else if (info->memory_bytes == 0)
        tz_device_text(out, size, "it does not report the size of its memory");
    info->usable = out[0] == '\0';
}

void tz_cu_describe(const tz_cu_api *api, uint32_t index, tz_device_info *info,
                    tz_device_texts *texts)
{
    tz_cu_device device = 0;
    char name[256] = "";
    (void)snprintf(texts->id, sizeof texts->id, "cuda:%u", index);
    tz_device_text(texts->driver, sizeof texts->driver, "cuda");
    tz_device_text(texts->vendor, sizeof texts->vendor, "NVIDIA Corporation");
    info->type = TZ_DEVICE_TYPE_GPU;
    const tz_cu_code code = api->DeviceGet(&device, (int)index);
    if (code != TZ_CU_SUCCESS) {
        tz_device_textf(texts->reason, sizeof texts->reason, "cuDeviceGet: %s (%u)",
                        tz_cu_error_text(code), code);
        return;
    }
    if (api->DeviceGetName(name, (int)sizeof name - 1, device) == TZ_CU_SUCCESS)
        tz_device_text(texts->name, sizeof texts->name, name);
    const uint32_t major =
        query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    const uint32_t minor =
        query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    int version = 0;
    if (api->DriverGetVersion(&version) != TZ_CU_SUCCESS)
        version = 0;
    tz_device_textf(texts->api_version, sizeof texts->api_version,
                    "CUDA %d.%d, compute capability %u.%u", version / 1000, version % 1000 / 10,
                    major, minor);
    tz_device_textf(texts->driver_version, sizeof texts->driver_version, "%d", version);
    /* CUDA has no limit for one allocation below the memory of the device. Every GPU that the
     * kernels are compiled for has 64-bit floating point. */
    size_t memory = 0;
    if (api->DeviceTotalMem(&memory, device) != TZ_CU_SUCCESS)
        memory = 0;
    info->memory_bytes = info->max_allocation_bytes = memory;
    info->alignment = ALIGNMENT;
    info->local_memory_bytes =
        query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    info->max_work_group =
        query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info->compute_units = query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->clock_mhz =
        query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000; /* kHz */
    info->fp64 = true;
    info->unified_memory = query_attribute(api, device, TZ_CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
    check_usable(major, minor, version, info, texts);
}
