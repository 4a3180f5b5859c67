/* SPDX-License-Identifier: Apache-2.0
 * The tests' side of the fake of libcuda. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/cuda/cuda_fake.h"

static void *library;

/* A symbol, as the function that it is. */
static void get(void *function, const char *name)
{
    void *address = library ? dlsym(library, name) : NULL;
    if (!address) {
        fprintf(stderr, "cannot load the fake of CUDA: %s\n", dlerror());
        abort();
    }
    memcpy(function, &address, sizeof address);
}

cuda_fake_control *cuda_fake_load(void)
{
    cuda_fake_function control_of = NULL;
    if (!library)
        library = dlopen(CUDA_FAKE, RTLD_NOW | RTLD_LOCAL);
    get(&control_of, "cuda_fake");
    cuda_fake_control *control = control_of();
    cuda_fake_reset(control);
    return control;
}

void cuda_fake_reset(cuda_fake_control *control)
{
    void (*forget)(void) = NULL;
    get(&forget, "cuda_fake_forget");
    forget();
    *control = (cuda_fake_control){
        CUDA_FAKE_DEFAULTS, .reversed = getenv("TERRAZZO_TEST_REVERSED") != NULL,
        .live = control->live, .bytes = control->bytes, .peak_bytes = control->bytes};
}

void *cuda_fake_bytes(uint64_t address, uint64_t size)
{
    cuda_fake_reach_function reach = NULL;
    get(&reach, "cuda_fake_reach");
    return reach(address, size);
}
