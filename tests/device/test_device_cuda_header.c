/* SPDX-License-Identifier: Apache-2.0
 * Declarations of device/cuda/cu_api.h and cu_errors.h are those of CUDA's own header, and the
 * library has all of them. */
#ifdef CUDA_TOOLKIT
#include <cuda.h>
#include <dlfcn.h>
#endif
#include <stdio.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

#include "device/cuda/cu_api.h"
#include "device/cuda/cu_errors.h"
#include "support/check.h"
#include "support/device/library_text.h"

#ifndef CUDA_TOOLKIT
static void skip_all(void)
{
    printf("skip: there is no CUDA toolkit beside nvcc\n");
    skip();
}
#endif

static void test_constants(void **state)
{
    (void)state;
#ifdef CUDA_TOOLKIT
#define CHECK(name, value) assert_int_equal((int64_t)(CU_##name), (int64_t)(value));
    TZ_CU_CONSTANTS(CHECK)
#undef CHECK
#define CHECK(name, value) assert_int_equal((int64_t)(CUDA_ERROR_##name), (int64_t)(value));
    TZ_CU_ERRORS(CHECK)
#undef CHECK
#else
    skip_all();
#endif
}

/* A function of another type does not compile. Our structure is compared with CUDA's below. */
static void test_functions(void **state)
{
    (void)state;
#ifdef CUDA_TOOLKIT
#define tz_cu_pool_props CUmemPoolProps
#define CHECK(name, suffix, arguments)                                                             \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(&cu##name##suffix), tz_cu_code(*) arguments),      \
        "cu" #name #suffix " has another type");
    TZ_CU_FUNCTIONS(CHECK)
    TZ_CU_POOL_FUNCTIONS(CHECK)
#undef CHECK
#undef tz_cu_pool_props
#else
    skip_all();
#endif
}

static void test_structures(void **state)
{
    (void)state;
#ifdef CUDA_TOOLKIT
#define SAME(member)                                                                               \
    assert_int_equal(offsetof(tz_cu_pool_props, member), offsetof(CUmemPoolProps, member));        \
    assert_int_equal(sizeof((tz_cu_pool_props *)0)->member, sizeof((CUmemPoolProps *)0)->member)
    assert_int_equal(sizeof(tz_cu_pool_props), sizeof(CUmemPoolProps));
    SAME(allocType);
    SAME(handleTypes);
    SAME(location.type);
    SAME(location.id);
    SAME(win32SecurityAttributes);
    SAME(maxSize);
    SAME(usage);
    SAME(reserved);
#undef SAME
#else
    skip_all();
#endif
}

/* The toolkit has a stub of the library to link with: the same names, and no driver. */
static void test_the_stub(void **state)
{
    (void)state;
#ifdef CUDA_TOOLKIT
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device *device = NULL;
    tz_error err;
    void *library = dlopen(CUDA_TOOLKIT "/lib64/stubs/libcuda.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("skip: the CUDA toolkit has no stub of libcuda\n");
        skip();
    }
#define CHECK(name, suffix, arguments) assert_non_null(dlsym(library, "cu" #name #suffix));
    TZ_CU_FUNCTIONS(CHECK)
    TZ_CU_POOL_FUNCTIONS(CHECK)
#undef CHECK
    library_set(&how, "cuda", CUDA_TOOLKIT "/lib64/stubs/libcuda.so");
    assert_int_equal(tz_device_open(&device, "cuda:0", &how, &err), TZ_ERR_DEVICE);
    assert_non_null(strstr(err.message, "the stub of the CUDA toolkit"));
#else
    skip_all();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_structures),
        cmocka_unit_test(test_the_stub),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
