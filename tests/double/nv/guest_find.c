/* SPDX-License-Identifier: Apache-2.0
 * Which double of libcuda is loaded. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "double/cuda_guest.h"

static void *loaded(void)
{
    static const char *const doubles[] = {CUDA_DOUBLE, CUDA_DOUBLE_OLD, CUDA_DOUBLE_BROKEN};
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        void *library = dlopen(doubles[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (library)
            return library;
    }
    return NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_guest guest;
static bool found;

const cuda_guest *cuda_guest_find(void)
{
    pthread_mutex_lock(&lock);
    void *library = found ? NULL : loaded();
    if (library) {
        void *address;
#define FIND(result, name, arguments)                                                              \
    address = dlsym(library, "cuda_guest_" #name);                                                 \
    memcpy(&guest.name, &address, sizeof address);
        CUDA_GUEST_FUNCTIONS(FIND)
#undef FIND
        found = true;
    }
    pthread_mutex_unlock(&lock);
    return found ? &guest : NULL;
}
