/* SPDX-License-Identifier: Apache-2.0
 * What CUDA's codes mean to us. */
#include "device/cuda/cuda_internal.h"

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
