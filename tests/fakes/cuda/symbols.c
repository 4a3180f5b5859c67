/* SPDX-License-Identifier: Apache-2.0
 * Names and functions, as cuGetProcAddress has them: without suffix, by version. */
#include <string.h>

#include "fakes/cuda/state.h"

typedef void (*any_function)(void);

#define ENTRY(name, suffix, version, arguments) {#name, version, (any_function)name##suffix},
static const struct {
    const char *name;
    int version;
    any_function function;
} functions[] = {CUDA_FUNCTIONS(ENTRY)
#ifndef CUDA_FAKE_BROKEN
                     CUDA_LAUNCH_FUNCTIONS(ENTRY)
#endif
#ifndef CUDA_FAKE_OLD
                         CUDA_POOL_FUNCTIONS(ENTRY)
#endif
};
#undef ENTRY

CUresult cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                             unsigned *status)
{
    call here;
    if (!call_begin(&here, "+cuGetProcAddress_v2", NEEDS_NOTHING, 0, NULL))
        return call_end(&here, here.code);
    unsigned found = 1; /* the name is not known */
    *out = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) != 0)
            continue;
        found = functions[i].version <= version ? 0 : 2; /* 2: of a later version */
        if (found == 0)
            memcpy(out, &functions[i].function, sizeof *out);
    }
    if (status)
        *status = found;
    if (flags != 0)
        return call_end(&here, refuse(&here, INVALID_VALUE, "flags are not known"));
    return call_end(&here, found == 0 ? SUCCESS : refuse(&here, NOT_FOUND, "there is no %s", name));
}
