/* SPDX-License-Identifier: Apache-2.0
 * The tests' side of the double. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double/opencl_double.h"

double_control *opencl_double_load(void)
{
    opencl_double_function get = NULL;
    void *library = dlopen(OPENCL_DOUBLE, RTLD_NOW | RTLD_LOCAL);
    void *address = library ? dlsym(library, "opencl_double") : NULL;
    if (!address) {
        fprintf(stderr, "cannot load the double: %s\n", dlerror());
        abort();
    }
    memcpy(&get, &address, sizeof get);
    double_control *control = get();
    opencl_double_reset(control);
    return control;
}

void opencl_double_reset(double_control *control)
{
    const int64_t live = control->live;
    *control = (double_control){DOUBLE_DEFAULTS, .live = live};
}
