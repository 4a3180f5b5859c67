/* SPDX-License-Identifier: Apache-2.0 */
#include "double/test_device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device/device.h"
#include "support/check.h"

/* Of what PoCL and its compiler never release, the leak sanitizer says nothing. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libhwloc\nleak:libOpenCL.so\n";
}

static void find(char id[32])
{
    tz_device_list *list = NULL;
    tz_error err;
    assert_int_equal(tz_device_list_make(&list, NULL, &err), TZ_OK);
    id[0] = '\0';
    for (size_t i = 0; i < list->device_count && id[0] == '\0'; i++) {
        if (strcmp(list->devices[i].platform, "Portable Computing Language") == 0)
            strcpy(id, list->devices[i].id);
    }
    if (id[0] == '\0')
        print_message("PoCL is not there: %s\n", list->drivers[0].reason);
    tz_device_list_free(list);
    assert_true(id[0] != '\0');
}

bool test_device_is_cuda(void)
{
    const char *kind = getenv("TERRAZZO_TEST_DEVICE");
    return kind && strcmp(kind, "cuda") == 0;
}

tz_device *test_device_open(const tz_device_options *options)
{
    char id[32];
    tz_device *device = NULL;
    tz_error err = {0};
    if (!getenv("POCL_CACHE_DIR")) {
        mkdir(TERRAZZO_BINARY_DIR "/pocl", 0777);
        setenv("POCL_CACHE_DIR", TERRAZZO_BINARY_DIR "/pocl", 1);
    }
    find(id);
    const tz_result result = tz_device_open(&device, id, options, &err);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
    return device;
}

tz_device *test_device;

int test_device_begin(void **state)
{
    (void)state;
    test_device = test_device_open(NULL);
    return 0;
}

int test_device_end(void **state)
{
    tz_error err;
    (void)state;
    return tz_device_close_checked(test_device, &err) != TZ_OK;
}
