/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/nvidia/nvidia_fake_load.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static void *function_of(const char *path, const char *name)
{
    void *library = path && path[0] ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    return library ? dlsym(library, name) : NULL;
}

cufile_fake_control *cufile_fake_load(const char *path)
{
    void *address = function_of(path, "cufile_fake");
    cufile_fake_function get = NULL;
    memcpy(&get, &address, sizeof get);
    return get ? get() : NULL;
}

codestreams_fake_control *codestreams_fake_load(const char *path)
{
    void *address = function_of(path, "codestreams_fake");
    codestreams_fake_function get = NULL;
    memcpy(&get, &address, sizeof get);
    return get ? get() : NULL;
}
