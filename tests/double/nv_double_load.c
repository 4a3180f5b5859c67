/* SPDX-License-Identifier: Apache-2.0 */
#include "double/nv_double_load.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static void *function_of(const char *path, const char *name)
{
    void *library = path && path[0] ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    return library ? dlsym(library, name) : NULL;
}

cufile_double_control *cufile_double_load(const char *path)
{
    void *address = function_of(path, "cufile_double");
    cufile_double_function get = NULL;
    memcpy(&get, &address, sizeof get);
    return get ? get() : NULL;
}

pictures_double_control *pictures_double_load(const char *path)
{
    void *address = function_of(path, "pictures_double");
    pictures_double_function get = NULL;
    memcpy(&get, &address, sizeof get);
    return get ? get() : NULL;
}
