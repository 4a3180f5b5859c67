/* SPDX-License-Identifier: Apache-2.0
 * What OpenCL's codes mean to us. */
#include "device/opencl/cl_errors.h"
#include "device/opencl/opencl_internal.h"

#define PLATFORM_NOT_FOUND_KHR (-1001) /* the loader's own: no vendor has registered a driver */

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

tz_result tz_cl_fail(const tz_context *ctx, const char *function, int32_t code)
{
    const bool memory =
        code == TZ_CL_MEM_OBJECT_ALLOCATION_FAILURE || code == TZ_CL_OUT_OF_HOST_MEMORY;
    return tz_fail(ctx, memory ? TZ_ERR_NOMEM : TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                   "%s: %s (%d)", function, tz_cl_error_text(code), (int)code);
}

tz_result tz_cl_fail_memory(const tz_context *ctx, const char *function, int32_t code,
                            uint64_t size)
{
    if (code != TZ_CL_OUT_OF_RESOURCES && code != TZ_CL_INVALID_BUFFER_SIZE &&
        code != TZ_CL_MEM_OBJECT_ALLOCATION_FAILURE && code != TZ_CL_OUT_OF_HOST_MEMORY)
        return tz_cl_fail(ctx, function, code);
    return tz_fail(ctx, TZ_ERR_NOMEM, TZ_CAUSE_DEVICE, tz_no_location(),
                   "no %llu bytes of device memory: %s: %s (%d)", (unsigned long long)size,
                   function, tz_cl_error_text(code), (int)code);
}
