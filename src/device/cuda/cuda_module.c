/* SPDX-License-Identifier: Apache-2.0
 * The kernels of a context: each family is a module, loaded when one of its kernels is first
 * wanted, and kept. A family has two images, machine code for known GPUs and PTX for all; a driver
 * that rejects the first because of its format or GPU is given the second, which it compiles. */
#include <assert.h>

#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"

/* Images of each family, in the order in which they are tried. */
static const tz_kernel_image *const images[TZ_FAMILY_COUNT][TZ_CU_IMAGES] = {
#define IMAGES(family, text) {&tz_kernel_code_##text, &tz_kernel_image_##text},
    TZ_FAMILY_LIST(IMAGES)
#undef IMAGES
};

/* Says in words why the kernels were not loaded, for codes that a user can do something about. */
static const char *load_failure_reason(tz_cu_code code)
{
    switch (code) {
    case TZ_CU_ERROR_UNSUPPORTED_PTX_VERSION:
        return "it does not know their version of PTX";
    case TZ_CU_ERROR_NO_BINARY_FOR_GPU:
        return "there are none for this GPU";
    case TZ_CU_ERROR_INVALID_IMAGE:
    case TZ_CU_ERROR_INVALID_PTX:
        return "the driver does not understand them";
    case TZ_CU_ERROR_JIT_COMPILER_NOT_FOUND:
        return "the driver's compiler, libnvidia-ptxjitcompiler.so.1, is not installed";
    case TZ_CU_ERROR_JIT_COMPILATION_DISABLED:
        return "the driver's compiler is switched off by the environment";
    default:
        return "the driver does not load them";
    }
}

/* The log of the driver's compiler begins with the error, so its beginning is shown. */
static tz_result fail_load(const tz_cu_api *api, tz_cu_code code, const char *log,
                           const tz_context *ctx)
{
    const int needed = tz_cu_needed_version();
    int version = 0;
    char shown[200];
    if (code == TZ_CU_ERROR_OUT_OF_MEMORY)
        return tz_cu_check("cuModuleLoadDataEx", code, ctx);
    if (api->DriverGetVersion(&version) != TZ_CU_SUCCESS)
        version = 0;
    tz_device_text(shown, sizeof shown, log);
    return tz_fail(
        ctx, TZ_ERR_DEVICE, TZ_CAUSE_DEVICE, tz_no_location(),
        "the driver, of CUDA %d.%d, cannot load the kernels (%s), which need one of CUDA %d.%d or "
        "later: %s: cuModuleLoadDataEx: %s (%u)%s%s",
        version / 1000, version % 1000 / 10, tz_kernel_image_about, needed / 1000,
        needed % 1000 / 10, load_failure_reason(code), tz_cu_error_text(code), code,
        shown[0] ? ": " : "", shown);
}

/* Returns true if the image is not for this driver, or not for this GPU: another may be. */
static bool is_of_image(tz_cu_code code)
{
    return code == TZ_CU_ERROR_INVALID_IMAGE || code == TZ_CU_ERROR_NO_BINARY_FOR_GPU ||
           code == TZ_CU_ERROR_INVALID_PTX || code == TZ_CU_ERROR_UNSUPPORTED_PTX_VERSION;
}

/* The error that counts is the last image's, which is PTX: a rejected machine code is normal. */
tz_result tz_cu_load_module(const tz_cu_api *api, const tz_kernel_image *const list[TZ_CU_IMAGES],
                            tz_cu_module *out, const tz_context *ctx)
{
    char log[1024] = "";
    tz_cu_code code = TZ_CU_ERROR_INVALID_IMAGE;
    for (size_t i = 0; i < TZ_CU_IMAGES && is_of_image(code); i++) {
        unsigned options[] = {TZ_CU_JIT_ERROR_LOG_BUFFER, TZ_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)}; /* the last byte stays 0 */
        if (list[i]->size == 0)
            continue;
        log[0] = '\0';
        code = api->ModuleLoadDataEx(out, list[i]->bytes, 2, options, values);
    }
    return code == TZ_CU_SUCCESS ? TZ_OK : fail_load(api, code, log, ctx);
}

/* Loads a module and looks up all its kernels. A family is marked as loaded last: other threads
 * read its functions without the lock after they have seen the mark. */
static tz_result load_family(const tz_cu_api *api, tz_cu_module_set *set, uint32_t family,
                             const tz_context *ctx)
{
    tz_cu_module module = NULL;
    tz_cu_code code = TZ_CU_SUCCESS;
    TZ_TRY(tz_cu_load_module(api, images[family], &module, ctx));
    for (uint32_t i = 0; i < TZ_GPU_KERNEL_COUNT && code == TZ_CU_SUCCESS; i++) {
        if (tz_kernel_families[i] == family)
            code = api->ModuleGetFunction(&set->functions[i], module, tz_kernel_names[i]);
    }
    if (code != TZ_CU_SUCCESS) {
        (void)api->ModuleUnload(module);
        return tz_cu_check("cuModuleGetFunction", code, ctx);
    }
    set->modules[family] = module;
    atomic_store(&set->loaded[family], true);
    return TZ_OK;
}

/* The driver's compiler may be at work for another family: a family that is loaded needs no lock.
 */
tz_result tz_cu_find_function(const tz_cu_api *api, tz_cu_module_set *set, uint32_t kernel,
                              tz_cu_function *out, const tz_context *ctx)
{
    const uint32_t family = tz_kernel_families[kernel];
    assert(kernel < TZ_GPU_KERNEL_COUNT);
    if (!atomic_load(&set->loaded[family])) {
        pthread_mutex_lock(&set->lock);
        const tz_result result = set->modules[family] ? TZ_OK : load_family(api, set, family, ctx);
        pthread_mutex_unlock(&set->lock);
        TZ_TRY(result);
    }
    *out = set->functions[kernel];
    return TZ_OK;
}

void tz_cu_unload_modules(const tz_cu_api *api, tz_cu_module_set *set)
{
    for (uint32_t family = 0; family < TZ_FAMILY_COUNT; family++) {
        if (set->modules[family])
            (void)api->ModuleUnload(set->modules[family]);
    }
}
