/* SPDX-License-Identifier: Apache-2.0
 * Platforms and devices of OpenCL, and what they say of themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/device_text.h"
#include "device/dynlib.h"
#include "device/opencl/opencl_internal.h"

/* More than any machine has; a driver's count is not trusted with memory. */
#define MAX_PLATFORMS 32u

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

/* ---- the library ---- */

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

static tz_result add_candidates(tz_cl_candidates *out, tz_cl_platform platform,
                                const tz_cl_device *devices, uint32_t count, const tz_context *ctx)
{
    tz_cl_candidate *list = tz_realloc_array(out->list, out->count + count, sizeof *list);
    if (!list)
        return tz_fail_nomem(ctx, (out->count + count) * sizeof *list);
    out->list = list;
    for (uint32_t i = 0; i < count; i++)
        list[out->count++] = (tz_cl_candidate){platform, devices[i]};
    return TZ_OK;
}

static tz_result find_devices(const tz_cl_api *api, tz_cl_platform platform, tz_cl_candidates *out,
                              const tz_context *ctx)
{
    tz_cl_device devices[TZ_CL_MAX_DEVICES];
    uint32_t count = 0;
    const int32_t code = api->GetDeviceIDs(platform, (uint64_t)TZ_CL_DEVICE_TYPE_ALL,
                                           TZ_CL_MAX_DEVICES, devices, &count);
    if (code == TZ_CL_DEVICE_NOT_FOUND || (code == TZ_CL_SUCCESS && count == 0)) {
        tz_device_text(out->reason, sizeof out->reason, "a platform has no device");
        return TZ_OK;
    }
    if (code != TZ_CL_SUCCESS) {
        tz_device_textf(out->reason, sizeof out->reason, "clGetDeviceIDs: %s (%d)",
                        tz_cl_error_text(code), (int)code);
        return TZ_OK;
    }
    return add_candidates(out, platform, devices, at_most(count, TZ_CL_MAX_DEVICES), ctx);
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
    count = at_most(count, MAX_PLATFORMS);
    for (uint32_t i = 0; i < count && result == TZ_OK; i++)
        result = find_devices(api, platforms[i], out, ctx);
    if (result != TZ_OK)
        tz_free(out->list);
    return result;
}

/* ---- describing ---- */

/* What cannot be asked is left as it is: 0 or empty. */
static void query_text(const tz_cl_api *api, tz_cl_device device, int64_t what, char *out,
                       size_t size)
{
    char text[1024];
    size_t length = 0;
    if (api->GetDeviceInfo(device, (uint32_t)what, sizeof text, text, &length) != TZ_CL_SUCCESS)
        return;
    text[length < sizeof text ? length : sizeof text - 1] = '\0';
    tz_device_text(out, size, text);
}

static uint64_t query_u64(const tz_cl_api *api, tz_cl_device device, int64_t what)
{
    uint64_t value = 0;
    return api->GetDeviceInfo(device, (uint32_t)what, sizeof value, &value, NULL) == TZ_CL_SUCCESS
               ? value
               : 0;
}

static uint32_t query_u32(const tz_cl_api *api, tz_cl_device device, int64_t what)
{
    uint32_t value = 0;
    return api->GetDeviceInfo(device, (uint32_t)what, sizeof value, &value, NULL) == TZ_CL_SUCCESS
               ? value
               : 0;
}

static uint64_t query_size(const tz_cl_api *api, tz_cl_device device, int64_t what)
{
    size_t value = 0;
    return api->GetDeviceInfo(device, (uint32_t)what, sizeof value, &value, NULL) == TZ_CL_SUCCESS
               ? value
               : 0;
}

static void describe_opencl_limits(const tz_cl_api *api, tz_cl_device device,
                                   tz_device_limits *limits)
{
    const uint64_t group = query_size(api, device, TZ_CL_DEVICE_MAX_WORK_GROUP_SIZE);
    limits->memory = query_u64(api, device, TZ_CL_DEVICE_GLOBAL_MEM_SIZE);
    limits->max_allocation = query_u64(api, device, TZ_CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    limits->alignment = query_u32(api, device, TZ_CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8; /* bits */
    limits->local_memory = query_u64(api, device, TZ_CL_DEVICE_LOCAL_MEM_SIZE);
    limits->max_group = group < UINT32_MAX ? (uint32_t)group : UINT32_MAX;
    limits->compute_units = query_u32(api, device, TZ_CL_DEVICE_MAX_COMPUTE_UNITS);
    limits->clock_mhz = query_u32(api, device, TZ_CL_DEVICE_MAX_CLOCK_FREQUENCY);
    limits->fp64 = query_u64(api, device, TZ_CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    limits->unified_memory = query_u32(api, device, TZ_CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
}

/* "OpenCL 1.2 ..." and later; the standard fixes the form. */
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

/* NULL, or why its kernels could not run. */
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
    if (info->limits.max_group < TZ_WORK_GROUP_ITEMS)
        return "its groups are smaller than 64";
    if (info->limits.memory == 0 || info->limits.max_allocation == 0)
        return "it does not tell how much memory it has";
    return NULL;
}

static tz_device_type device_type_of(uint64_t type)
{
    if (type & (uint64_t)TZ_CL_DEVICE_TYPE_GPU)
        return TZ_DEVICE_GPU;
    return type & (uint64_t)TZ_CL_DEVICE_TYPE_CPU ? TZ_DEVICE_CPU : TZ_DEVICE_OTHER;
}

static void describe_platform(const tz_cl_api *api, tz_cl_platform platform, tz_device_info *info)
{
    char text[1024];
    size_t length = 0;
    if (api->GetPlatformInfo(platform, (uint32_t)TZ_CL_PLATFORM_NAME, sizeof text, text, &length) !=
        TZ_CL_SUCCESS)
        return;
    text[length < sizeof text ? length : sizeof text - 1] = '\0';
    tz_device_text(info->platform, sizeof info->platform, text);
}

void tz_cl_describe(const tz_cl_api *api, const tz_cl_candidate *candidate, size_t index,
                    tz_device_info *info)
{
    const tz_cl_device device = candidate->device;
    snprintf(info->id, sizeof info->id, "opencl:%zu", index);
    tz_device_text(info->driver, sizeof info->driver, "opencl");
    describe_platform(api, candidate->platform, info);
    query_text(api, device, TZ_CL_DEVICE_NAME, info->name, sizeof info->name);
    query_text(api, device, TZ_CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    query_text(api, device, TZ_CL_DEVICE_VERSION, info->api_version, sizeof info->api_version);
    query_text(api, device, TZ_CL_DRIVER_VERSION, info->driver_version,
               sizeof info->driver_version);
    info->type = device_type_of(query_u64(api, device, TZ_CL_DEVICE_TYPE));
    describe_opencl_limits(api, device, &info->limits);
    const char *fault = find_opencl_fault(api, device, info);
    info->usable = !fault;
    tz_device_text(info->reason, sizeof info->reason, fault ? fault : "");
}
