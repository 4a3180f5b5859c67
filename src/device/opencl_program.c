/* SPDX-License-Identifier: Apache-2.0
 * The kernels of a context: built once, when the device is opened, and kept. */
#include <string.h>

#include "base/mem.h"
#include "device/device_text.h"
#include "device/opencl.h"

/* The version is always named: some compilers otherwise take the newest they have. Contraction is
 * switched off in the source, by kernels/kernel.h. */
#define BUILD_OPTIONS "-cl-std=CL1.2"

static const char *const kernel_names[TZ_KERNEL_COUNT] = {
#define NAME(number, function, kinds) #function,
    TZ_KERNEL_LIST(NAME)
#undef NAME
};

/* The end of a build log is mostly a count of errors: its beginning is what tells. */
static tz_result fail_build(const tz_cl_api *api, tz_cl_program program, tz_cl_device device,
                            int32_t code, const tz_context *ctx)
{
    char shown[300] = "no log";
    size_t size = 0;
    (void)api->GetProgramBuildInfo(program, device, (uint32_t)TZ_CL_PROGRAM_BUILD_LOG, 0, NULL,
                                   &size);
    char *log = size > 0 && size < SIZE_MAX ? tz_alloc_zeroed(size + 1, 1) : NULL;
    if (log && api->GetProgramBuildInfo(program, device, (uint32_t)TZ_CL_PROGRAM_BUILD_LOG, size,
                                        log, NULL) == TZ_CL_SUCCESS)
        tz_device_text(shown, sizeof shown, log);
    tz_free(log);
    return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_at_nowhere(),
                   "the kernels do not compile: clBuildProgram: %s (%d): %s",
                   tz_cl_error_text(code), (int)code, shown);
}

static tz_result build(const tz_cl_api *api, tz_cl_context context, tz_cl_device device,
                       tz_cl_program_set *set, const tz_context *ctx)
{
    int32_t code = TZ_CL_SUCCESS;
    set->program = api->CreateProgramWithSource(context, (uint32_t)tz_kernel_line_count,
                                                tz_kernel_lines, NULL, &code);
    if (!set->program)
        return tz_cl_fail(ctx, "clCreateProgramWithSource", code);
    code = api->BuildProgram(set->program, 1, &device, BUILD_OPTIONS, NULL, NULL);
    if (code != TZ_CL_SUCCESS)
        return fail_build(api, set->program, device, code, ctx);
    for (size_t i = 0; i < TZ_KERNEL_COUNT; i++) {
        set->kernels[i] = api->CreateKernel(set->program, kernel_names[i], &code);
        if (!set->kernels[i])
            return tz_cl_fail(ctx, "clCreateKernel", code);
    }
    return TZ_OK;
}

tz_result tz_cl_build(const tz_cl_api *api, tz_cl_context context, tz_cl_device device,
                      tz_cl_program_set *out, const tz_context *ctx)
{
    tz_cl_program_set set = {0};
    const tz_result result = build(api, context, device, &set, ctx);
    if (result == TZ_OK)
        *out = set;
    else
        tz_cl_release_programs(api, &set);
    return result;
}

void tz_cl_release_programs(const tz_cl_api *api, tz_cl_program_set *set)
{
    for (size_t i = 0; i < TZ_KERNEL_COUNT; i++) {
        if (set->kernels[i])
            (void)api->ReleaseKernel(set->kernels[i]);
    }
    if (set->program)
        (void)api->ReleaseProgram(set->program);
}
