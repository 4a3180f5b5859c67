/* SPDX-License-Identifier: Apache-2.0
 * The kernels of a context: each family is a program, compiled from its text when one of its
 * kernels is first wanted, and kept. A family that fails to build leaves nothing, and is tried
 * again the next time. */
#include <string.h>

#include "base/mem.h"
#include "device/device_text.h"
#include "device/opencl/opencl_internal.h"

/* The version is always named: some compilers otherwise use the newest they have. Contraction is
 * switched off in the source, by kernels/kernel.h. */
#define BUILD_OPTIONS "-cl-std=CL1.2"

static const tz_kernel_text *const texts[TZ_FAMILY_COUNT] = {
#define TEXT(family, text) &tz_kernel_text_##text,
    TZ_FAMILY_LIST(TEXT)
#undef TEXT
};

/* Shows the beginning of the build log, which has the first error; its end is mostly a count. */
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
    return tz_fail(ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
                   "the kernels do not compile: clBuildProgram: %s (%d): %s",
                   tz_cl_error_text(code), (int)code, shown);
}

static void release_family(const tz_cl_api *api, tz_cl_program_set *set, uint32_t family)
{
    for (uint32_t i = 0; i < TZ_KERNEL_COUNT; i++) {
        if (tz_kernel_families[i] != family || !set->kernels[i])
            continue;
        (void)api->ReleaseKernel(set->kernels[i]);
        set->kernels[i] = NULL;
    }
    if (set->programs[family])
        (void)api->ReleaseProgram(set->programs[family]);
    set->programs[family] = NULL;
}

static tz_result build_family(const tz_cl_api *api, tz_cl_context context, tz_cl_device device,
                              tz_cl_program_set *set, uint32_t family, const tz_context *ctx)
{
    int32_t code = TZ_CL_SUCCESS;
    const tz_kernel_text *text = texts[family];
    set->programs[family] =
        api->CreateProgramWithSource(context, (uint32_t)text->count, text->lines, NULL, &code);
    if (!set->programs[family])
        return tz_cl_fail(ctx, "clCreateProgramWithSource", code);
    code = api->BuildProgram(set->programs[family], 1, &device, BUILD_OPTIONS, NULL, NULL);
    if (code != TZ_CL_SUCCESS)
        return fail_build(api, set->programs[family], device, code, ctx);
    for (uint32_t i = 0; i < TZ_KERNEL_COUNT; i++) {
        if (tz_kernel_families[i] != family)
            continue;
        set->kernels[i] = api->CreateKernel(set->programs[family], tz_kernel_names[i], &code);
        if (!set->kernels[i])
            return tz_cl_fail(ctx, "clCreateKernel", code);
    }
    return TZ_OK;
}

tz_result tz_cl_build_family(const tz_cl_api *api, tz_cl_context context, tz_cl_device device,
                             tz_cl_program_set *set, uint32_t family, const tz_context *ctx)
{
    if (set->programs[family])
        return TZ_OK;
    const tz_result result = build_family(api, context, device, set, family, ctx);
    if (result != TZ_OK)
        release_family(api, set, family);
    return result;
}

void tz_cl_release_programs(const tz_cl_api *api, tz_cl_program_set *set)
{
    for (uint32_t family = 0; family < TZ_FAMILY_COUNT; family++)
        release_family(api, set, family);
}
