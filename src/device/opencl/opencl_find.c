/* SPDX-License-Identifier: Apache-2.0
 * OpenCL's loader, its errors, and the descriptions of platforms and devices.
 *
 * The loader gives a list of platforms, one for each vendor's driver, and each platform a list of
 * devices. Both become one list of candidates, whose order gives the devices their numbers
 * (opencl:0). A driver's counts are not trusted with memory: they are cut to limits. A property
 * that a driver does not answer is 0 or empty, and most such devices are then not usable, with the
 * reason. Nothing here makes a context. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/device_text.h"
#include "device/dynlib.h"
#include "device/kernel_list.h"
#include "device/opencl/cl_errors.h"
#include "device/opencl/opencl_internal.h"

/* More than any machine has. */
#define MAX_PLATFORMS 32u

/* Bytes of a text that a driver answers. */
enum { MAX_ANSWER = 1024 };

/* Code of the loader itself: no vendor has registered a driver. */
#define PLATFORM_NOT_FOUND_KHR (-1001)

/* ---- errors ---- */

const char *tz_cl_error_text(int32_t code)
{
    switch (code) {
#define CASE(name, number)                                                                         \
    case number:                                                                                   \
        return "CL_" #name;
        TZ_CL_ERRORS(CASE)
#undef CASE
    case PLATFORM_NOT_FOUND_KHR:
        return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
        return "a code that OpenCL 1.2 does not know";
    }
}

tz_result tz_cl_fail(const char *function, int32_t code, const tz_context *ctx)
{
    const bool memory =
        code == TZ_CL_MEM_OBJECT_ALLOCATION_FAILURE || code == TZ_CL_OUT_OF_HOST_MEMORY;
    return tz_fail(ctx, memory ? TZ_ERR_NOMEM : TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                   "%s: %s (%d)", function, tz_cl_error_text(code), (int)code);
}

/* CL_OUT_OF_RESOURCES has many causes; of an allocation it says that the device is full. */
tz_result tz_cl_fail_memory(const char *function, int32_t code, uint64_t size,
                            const tz_context *ctx)
{
    if (code != TZ_CL_OUT_OF_RESOURCES && code != TZ_CL_INVALID_BUFFER_SIZE &&
        code != TZ_CL_MEM_OBJECT_ALLOCATION_FAILURE && code != TZ_CL_OUT_OF_HOST_MEMORY)
        return tz_cl_fail(function, code, ctx);
    return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_DEVICE, tz_no_location(),
                   "no %llu bytes of device memory: %s: %s (%d)", (unsigned long long)size,
                   function, tz_cl_error_text(code), (int)code);
}

tz_result tz_cl_check(const char *function, int32_t code, const tz_context *ctx)
{
    return code == TZ_CL_SUCCESS ? TZ_OK : tz_cl_fail(function, code, ctx);
}

/* ---- the library ---- */

/* The functions are those of OpenCL 1.2: a loader that lacks one is older. */
bool tz_cl_load(tz_cl_api *api, const char *library, char *reason, size_t reason_size)
{
    static const tz_dynlib_symbol symbols[] = {
#define SYMBOL(result, name, arguments) {"cl" #name, offsetof(tz_cl_api, name)},
        TZ_CL_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static const char *const sonames[] = {TZ_CL_LIBRARY, NULL};
    static const tz_dynlib row = {.name = "OpenCL",
                                  .sonames = sonames,
                                  .missing_note = ", a function of OpenCL 1.2",
                                  .functions_size = sizeof *api,
                                  .symbols = symbols,
                                  .symbol_count = sizeof symbols / sizeof symbols[0]};
    tz_dynlib_info info;
    return tz_dynlib_load(&row, library, api, &info, reason, reason_size);
}

/* ---- finding ---- */

/* Adds the devices of one platform. A platform without any, or whose driver fails, sets the reason
 * and does not keep the others from being listed. clGetDeviceIDs writes at most as many handles as
 * there is room for, but count becomes the number of all. */
static tz_result find_platform_devices(const tz_cl_api *api, tz_cl_platform platform,
                                       tz_cl_candidates *out, const tz_context *ctx)
{
    tz_cl_device devices[TZ_CL_MAX_DEVICES];
    uint32_t count = 0;
    const int32_t code =
        api->GetDeviceIDs(platform, TZ_CL_DEVICE_TYPE_ALL, TZ_CL_MAX_DEVICES, devices, &count);
    if (code == TZ_CL_DEVICE_NOT_FOUND || (code == TZ_CL_SUCCESS && count == 0)) {
        tz_device_text(out->reason, sizeof out->reason, "a platform has no device");
        return TZ_OK;
    }
    if (code != TZ_CL_SUCCESS) {
        tz_device_textf(out->reason, sizeof out->reason, "clGetDeviceIDs: %s (%d)",
                        tz_cl_error_text(code), (int)code);
        return TZ_OK;
    }
    count = tz_min_u32(count, TZ_CL_MAX_DEVICES);
    tz_cl_candidate *list = tz_realloc_array(out->list, out->count + count, sizeof *list);
    if (!list)
        return tz_fail_nomem(ctx, (out->count + count) * sizeof *list);
    out->list = list;
    for (uint32_t i = 0; i < count; i++)
        list[out->count++] = (tz_cl_candidate){platform, devices[i]};
    return TZ_OK;
}

tz_result tz_cl_find_devices(const tz_cl_api *api, tz_cl_candidates *out, const tz_context *ctx)
{
    tz_cl_platform platforms[MAX_PLATFORMS];
    uint32_t count = 0;
    *out = (tz_cl_candidates){0};
    const int32_t code = api->GetPlatformIDs(MAX_PLATFORMS, platforms, &count);
    if (code != TZ_CL_SUCCESS || count == 0) {
        tz_device_textf(out->reason, sizeof out->reason,
                        "no platform: no vendor's driver is installed (clGetPlatformIDs: %s, %d)",
                        tz_cl_error_text(code), (int)code);
        return TZ_OK;
    }
    tz_result result = TZ_OK;
    count = tz_min_u32(count, MAX_PLATFORMS);
    for (uint32_t i = 0; i < count && result == TZ_OK; i++)
        result = find_platform_devices(api, platforms[i], out, ctx);
    if (result != TZ_OK)
        tz_free(out->list);
    return result;
}

/* ---- describing ---- */

/* Copies a text that a driver has answered, if it has (code). Its length is not trusted. */
static void copy_answer(char *out, size_t size, int32_t code, char text[MAX_ANSWER], size_t length)
{
    if (code != TZ_CL_SUCCESS)
        return;
    text[tz_min_size(length, MAX_ANSWER - 1)] = '\0';
    tz_device_text(out, size, text);
}

static void query_text(const tz_cl_api *api, tz_cl_device device, uint32_t what, char *out,
                       size_t size)
{
    char text[MAX_ANSWER];
    size_t length = 0;
    const int32_t code = api->GetDeviceInfo(device, what, sizeof text, text, &length);
    copy_answer(out, size, code, text, length);
}

/* Numbers of a property, with 4 or 8 bytes as the standard says for each; 0: not answered. */
static uint64_t query_u64(const tz_cl_api *api, tz_cl_device device, uint32_t what)
{
    uint64_t value = 0;
    return api->GetDeviceInfo(device, what, sizeof value, &value, NULL) == TZ_CL_SUCCESS ? value
                                                                                         : 0;
}

static uint32_t query_u32(const tz_cl_api *api, tz_cl_device device, uint32_t what)
{
    uint32_t value = 0;
    return api->GetDeviceInfo(device, what, sizeof value, &value, NULL) == TZ_CL_SUCCESS ? value
                                                                                         : 0;
}

/* Reads "OpenCL 1.2 ..." and later; the standard fixes the form. */
static bool version_is_enough(const char *version)
{
    static const char prefix[] = "OpenCL ";
    char *end;
    if (strncmp(version, prefix, sizeof prefix - 1) != 0)
        return false;
    const long major = strtol(version + sizeof prefix - 1, &end, 10);
    const long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major > 1 || (major == 1 && minor >= 2);
}

/* Returns NULL, or the reason why the kernels cannot run. They read and write little-endian words,
 * and have one size of work-group. */
static const char *find_opencl_fault(const tz_cl_api *api, tz_cl_device device,
                                     const tz_device_info *info)
{
    if (!version_is_enough(info->api_version))
        return "it is older than OpenCL 1.2";
    if (!query_u32(api, device, TZ_CL_DEVICE_AVAILABLE))
        return "its driver says that it is not available";
    if (!query_u32(api, device, TZ_CL_DEVICE_COMPILER_AVAILABLE))
        return "its driver has no compiler";
    if (!query_u32(api, device, TZ_CL_DEVICE_ENDIAN_LITTLE))
        return "it is big-endian";
    if (info->max_work_group < TZ_WORK_GROUP_ITEMS)
        return "its groups are smaller than 64";
    if (info->memory_bytes == 0 || info->max_allocation_bytes == 0)
        return "it does not report the size of its memory";
    return NULL;
}

void tz_cl_describe(const tz_cl_api *api, const tz_cl_candidate *candidate, size_t index,
                    tz_device_info *info, tz_device_texts *texts)
{
    const tz_cl_device device = candidate->device;
    char text[MAX_ANSWER];
    size_t length = 0;
    snprintf(texts->id, sizeof texts->id, "opencl:%zu", index);
    tz_device_text(texts->driver, sizeof texts->driver, "opencl");
    const int32_t code =
        api->GetPlatformInfo(candidate->platform, TZ_CL_PLATFORM_NAME, sizeof text, text, &length);
    copy_answer(texts->platform, sizeof texts->platform, code, text, length);
    query_text(api, device, TZ_CL_DEVICE_NAME, texts->name, sizeof texts->name);
    query_text(api, device, TZ_CL_DEVICE_VENDOR, texts->vendor, sizeof texts->vendor);
    query_text(api, device, TZ_CL_DEVICE_VERSION, texts->api_version, sizeof texts->api_version);
    query_text(api, device, TZ_CL_DRIVER_VERSION, texts->driver_version,
               sizeof texts->driver_version);
    const uint64_t type = query_u64(api, device, TZ_CL_DEVICE_TYPE);
    info->type = type & TZ_CL_DEVICE_TYPE_GPU   ? TZ_DEVICE_TYPE_GPU
                 : type & TZ_CL_DEVICE_TYPE_CPU ? TZ_DEVICE_TYPE_CPU
                                                : TZ_DEVICE_TYPE_OTHER;

    /* A size_t of the host, as the standard has it. */
    size_t group = 0;
    if (api->GetDeviceInfo(device, TZ_CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL) !=
        TZ_CL_SUCCESS)
        group = 0;
    info->memory_bytes = query_u64(api, device, TZ_CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_allocation_bytes = query_u64(api, device, TZ_CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->alignment = query_u32(api, device, TZ_CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8; /* bits */
    info->local_memory_bytes = query_u64(api, device, TZ_CL_DEVICE_LOCAL_MEM_SIZE);
    info->max_work_group = (uint32_t)tz_min(group, UINT32_MAX);
    info->compute_units = query_u32(api, device, TZ_CL_DEVICE_MAX_COMPUTE_UNITS);
    info->clock_mhz = query_u32(api, device, TZ_CL_DEVICE_MAX_CLOCK_FREQUENCY);
    info->fp64 = query_u64(api, device, TZ_CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    info->unified_memory = query_u32(api, device, TZ_CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    const char *fault = find_opencl_fault(api, device, info);
    info->usable = !fault;
    tz_device_text(texts->reason, sizeof texts->reason, fault ? fault : "");
}
