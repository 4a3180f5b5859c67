/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/cuda_calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cuda_calls cu;

static void get(void *library, void *function, const char *name)
{
    void *address = dlsym(library, name);
    if (!address) {
        fprintf(stderr, "the fake of CUDA has no %s\n", name);
        abort();
    }
    memcpy(function, &address, sizeof address);
}

cuda_fake_control *cuda_calls_load(void)
{
    cuda_fake_control *control = cuda_fake_load();
    void *library = dlopen(CUDA_FAKE, RTLD_NOW | RTLD_LOCAL); /* the same again */
#define GET(name, suffix, version, arguments) get(library, &cu.name, #name #suffix);
    CUDA_FUNCTIONS(GET)
    CUDA_LAUNCH_FUNCTIONS(GET)
    CUDA_POOL_FUNCTIONS(GET)
#undef GET
    return control;
}
