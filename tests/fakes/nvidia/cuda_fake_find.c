/* SPDX-License-Identifier: Apache-2.0
 * Which fake of libcuda is loaded. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "fakes/cuda/cuda_vendor.h"

static void *loaded(void)
{
    static const char *const doubles[] = {CUDA_FAKE, CUDA_FAKE_OLD, CUDA_FAKE_BROKEN};
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        void *library = dlopen(doubles[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (library)
            return library;
    }
    return NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_vendor vendor;
static bool found;

const cuda_vendor *cuda_vendor_find(void)
{
    pthread_mutex_lock(&lock);
    void *library = found ? NULL : loaded();
    if (library) {
        void *address;
#define FIND(result, name, arguments)                                                              \
    address = dlsym(library, "cuda_vendor_" #name);                                                \
    memcpy(&vendor.name, &address, sizeof address);
        CUDA_VENDOR_FUNCTIONS(FIND)
#undef FIND
        found = true;
    }
    pthread_mutex_unlock(&lock);
    return found ? &vendor : NULL;
}
