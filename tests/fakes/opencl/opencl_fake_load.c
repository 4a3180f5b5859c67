/* SPDX-License-Identifier: Apache-2.0
 * The tests' side of the fake. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/opencl/opencl_fake.h"

opencl_fake_control *opencl_fake_load(void)
{
    opencl_fake_function get = NULL;
    void *library = dlopen(OPENCL_FAKE, RTLD_NOW | RTLD_LOCAL);
    void *address = library ? dlsym(library, "opencl_fake") : NULL;
    if (!address) {
        fprintf(stderr, "cannot load the fake: %s\n", dlerror());
        abort();
    }
    memcpy(&get, &address, sizeof get);
    opencl_fake_control *control = get();
    opencl_fake_reset(control);
    return control;
}

void opencl_fake_reset(opencl_fake_control *control)
{
    const int64_t live = control->live;
    *control = (opencl_fake_control){OPENCL_FAKE_DEFAULTS, .live = live};
}
