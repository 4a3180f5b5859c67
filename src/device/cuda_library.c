/* SPDX-License-Identifier: Apache-2.0
 * The library of the CUDA driver, found at run time. */
#include <dlfcn.h>
#include <string.h>

#include "device/cuda_parts.h"
#include "device/device_text.h"

typedef struct symbol {
    const char *name;
    size_t member;
} symbol;

#define SYMBOL(name, suffix, arguments) {"cu" #name #suffix, offsetof(tz_cu_api, name)},
static const symbol needed[] = {TZ_CU_FUNCTIONS(SYMBOL)};
static const symbol of_pools[] = {TZ_CU_POOL_FUNCTIONS(SYMBOL)};
#undef SYMBOL

/* The name of the first one that is missing; NULL: none is. */
static const char *find_all(void *handle, tz_cu_api *api, const symbol *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(handle, symbols[i].name);
        if (!address)
            return symbols[i].name;
        /* C has no cast from an object's address to a function's */
        memcpy((char *)api + symbols[i].member, &address, sizeof address);
    }
    return NULL;
}

bool tz_cu_load(tz_cu_api *api, const char *library, char *reason, size_t reason_size)
{
    *api = (tz_cu_api){0};
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        tz_device_text(reason, reason_size, why ? why : "the library cannot be loaded");
        return false;
    }
    const char *missing = find_all(handle, api, needed, sizeof needed / sizeof needed[0]);
    if (missing) {
        tz_device_textf(reason, reason_size, "%s lacks %s: the driver is too old", library,
                        missing);
        return false;
    }
    if (find_all(handle, api, of_pools, sizeof of_pools / sizeof of_pools[0]))
        api->MemPoolCreate = NULL; /* all or none */
    return true;
}
