/* SPDX-License-Identifier: Apache-2.0
 * The tests' side of the double of libcuda. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double/cuda_double.h"

static void *library;

/* A symbol, as the function that it is. */
static void get(void *function, const char *name)
{
    void *address = library ? dlsym(library, name) : NULL;
    if (!address) {
        fprintf(stderr, "cannot load the double of CUDA: %s\n", dlerror());
        abort();
    }
    memcpy(function, &address, sizeof address);
}

cuda_double_control *cuda_double_load(void)
{
    cuda_double_function control_of = NULL;
    if (!library)
        library = dlopen(CUDA_DOUBLE, RTLD_NOW | RTLD_LOCAL);
    get(&control_of, "cuda_double");
    cuda_double_control *control = control_of();
    cuda_double_reset(control);
    return control;
}

void cuda_double_reset(cuda_double_control *control)
{
    void (*forget)(void) = NULL;
    get(&forget, "cuda_double_forget");
    forget();
    *control = (cuda_double_control){
        CUDA_DOUBLE_DEFAULTS, .reversed = getenv("TERRAZZO_TEST_REVERSED") != NULL,
        .live = control->live, .bytes = control->bytes, .peak_bytes = control->bytes};
}

void *cuda_double_bytes(uint64_t address, uint64_t size)
{
    cuda_double_reach_function reach = NULL;
    get(&reach, "cuda_double_reach");
    return reach(address, size);
}
