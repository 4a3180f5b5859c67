/* SPDX-License-Identifier: Apache-2.0
 * The ICD loader, found at run time. */
#include <dlfcn.h>
#include <string.h>

#include "device/device_text.h"
#include "device/opencl.h"

typedef struct symbol {
    const char *name;
    size_t member;
} symbol;

static const symbol symbols[] = {
#define SYMBOL(result, name, arguments) {"cl" #name, offsetof(tz_cl_api, name)},
    TZ_CL_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

bool tz_cl_load(tz_cl_api *api, const char *library, char *reason, size_t reason_size)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        tz_device_text(reason, reason_size, why ? why : "the library cannot be loaded");
        return false;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *address = dlsym(handle, symbols[i].name);
        if (!address) {
            tz_device_textf(reason, reason_size, "%s lacks %s, a function of OpenCL 1.2", library,
                            symbols[i].name);
            return false;
        }
        /* C has no cast from an object's address to a function's */
        memcpy((char *)api + symbols[i].member, &address, sizeof address);
    }
    return true;
}
