/* SPDX-License-Identifier: Apache-2.0
 * The library of the CUDA driver, found at run time. */
#include "device/cuda/cuda_internal.h"
#include "device/device_text.h"
#include "device/dynlib.h"

#define SYMBOL(name, suffix, arguments) {"cu" #name #suffix, offsetof(tz_cu_api, name)},
static const tz_dynlib_symbol needed[] = {TZ_CU_FUNCTIONS(SYMBOL)};
static const tz_dynlib_symbol of_pools[] = {TZ_CU_POOL_FUNCTIONS(SYMBOL)};
#undef SYMBOL

bool tz_cu_load(tz_cu_api *api, const char *library, char *reason, size_t reason_size)
{
    *api = (tz_cu_api){0};
    void *handle = tz_dynlib_open(library, reason, reason_size);
    if (!handle)
        return false;
    const char *missing = tz_dynlib_symbols(handle, needed, sizeof needed / sizeof needed[0], api);
    if (missing)
        tz_device_textf(reason, reason_size, "%s lacks %s: the driver is too old", library,
                        missing);
    else if (tz_dynlib_symbols(handle, of_pools, sizeof of_pools / sizeof of_pools[0], api))
        api->MemPoolCreate = NULL; /* all or none */
    return !missing;
}
