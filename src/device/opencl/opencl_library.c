/* SPDX-License-Identifier: Apache-2.0
 * The ICD loader, found at run time. */
#include "device/device_text.h"
#include "device/dynlib.h"
#include "device/opencl/opencl_internal.h"

static const tz_dynlib_symbol symbols[] = {
#define SYMBOL(result, name, arguments) {"cl" #name, offsetof(tz_cl_api, name)},
    TZ_CL_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

bool tz_cl_load(tz_cl_api *api, const char *library, char *reason, size_t reason_size)
{
    void *handle = tz_dynlib_open(library, reason, reason_size);
    if (!handle)
        return false;
    const char *missing =
        tz_dynlib_symbols(handle, symbols, sizeof symbols / sizeof symbols[0], api);
    if (missing)
        tz_device_textf(reason, reason_size, "%s lacks %s, a function of OpenCL 1.2", library,
                        missing);
    return !missing;
}
