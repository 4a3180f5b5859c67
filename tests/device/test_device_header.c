/* SPDX-License-Identifier: Apache-2.0
 * Declarations of device/opencl/cl_api.h and cl_errors.h are those of the standard's own headers.
 */
#define CL_TARGET_OPENCL_VERSION 120
#if defined(__has_include)
#if __has_include(<CL/cl.h>)
#include <CL/cl.h>
#define HAVE_CL 1
#endif
#endif

#include <stdio.h>

#include "device/opencl/cl_api.h"
#include "device/opencl/cl_errors.h"
#include "support/check.h"

static void test_constants(void **state)
{
    (void)state;
#ifdef HAVE_CL
#define CHECK(name, value) assert_int_equal((int64_t)(CL_##name), (int64_t)(value));
    TZ_CL_CONSTANTS(CHECK)
    CHECK(DEVICE_TYPE_ALL, TZ_CL_DEVICE_TYPE_ALL)
    TZ_CL_ERRORS(CHECK)
#undef CHECK
#else
    printf("skip: the headers of OpenCL are not installed\n");
    skip();
#endif
}

/* A function of another type does not compile. */
static void test_functions(void **state)
{
    (void)state;
#ifdef HAVE_CL
#define CHECK(result, name, arguments)                                                             \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(&cl##name), __typeof__(((tz_cl_api *)0)->name)),   \
        "cl" #name " has another type");
    TZ_CL_FUNCTIONS(CHECK)
#undef CHECK
#else
    printf("skip: the headers of OpenCL are not installed\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
