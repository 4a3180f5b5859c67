/* SPDX-License-Identifier: Apache-2.0
 * The tests' side of the double. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double/cuda_double.h"

cuda_double_control *cuda_double_load(void)
{
    cuda_double_function get = NULL;
    void *library = dlopen(CUDA_DOUBLE, RTLD_NOW | RTLD_LOCAL);
    void *address = library ? dlsym(library, "cuda_double") : NULL;
    if (!address) {
        fprintf(stderr, "cannot load the double: %s\n", dlerror());
        abort();
    }
    memcpy(&get, &address, sizeof get);
    cuda_double_control *control = get();
    cuda_double_reset(control);
    return control;
}

void cuda_double_reset(cuda_double_control *control)
{
    const int64_t live = control->live;
    *control = (cuda_double_control){CUDA_DOUBLE_DEFAULTS, .live = live};
}
