/* SPDX-License-Identifier: Apache-2.0
 * Libraries that options name, and NVIDIA's in the list of devices: fakes of them, or none. */
#include <stdlib.h>
#include <string.h>

#include "device/device_state.h"
#include "device/nvidia/nvidia_libraries.h"
#include "support/check.h"
#include "support/device/library_text.h"

static void find(tz_found_library found[TZ_NVIDIA_LIBRARY_COUNT], const tz_device_options *how)
{
    tz_device_setup setup;
    const tz_context quiet = {.ifd = -1};
    memset(found, 0, TZ_NVIDIA_LIBRARY_COUNT * sizeof *found);
    assert_int_equal(tz_device_setup_init(&setup, how, &quiet), TZ_OK);
    tz_nvidia_libraries_find(found, &setup);
    tz_device_setup_deinit(&setup);
}

static void test_found(void **state)
{
    (void)state;
    static const char *const names[] = {"nvCOMP", "cuFile", "nvJPEG2000", "nvJPEG"};
    static const char *const versions[] = {"6.0.0", "1.19.0", "0.11.0", "13.2.3"};
    static const char *const paths[] = {NVCOMP_FAKE_6, CUFILE_FAKE, NVJPEG2K_FAKE, NVJPEG_FAKE};
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    library_set(&how, "nvcomp", paths[0]);
    library_set(&how, "cufile", paths[1]);
    library_set(&how, "nvjpeg2k", paths[2]);
    library_set(&how, "nvjpeg", paths[3]);
    tz_found_library found[TZ_NVIDIA_LIBRARY_COUNT];
    find(found, &how);
    for (size_t i = 0; i < TZ_NVIDIA_LIBRARY_COUNT; i++) {
        assert_true(found[i].info.loaded);
        assert_string_equal(found[i].info.name, names[i]);
        assert_string_equal(found[i].info.library, paths[i]);
        assert_string_equal(found[i].info.version, versions[i]);
        assert_string_equal(found[i].info.reason, "");
    }
    assert_string_equal(found[0].info.codecs, "decodes and encodes Deflate, ZSTD and LZ4");
    assert_string_equal(found[2].info.codecs, "decodes and encodes JPEG 2000");
    assert_string_equal(found[3].info.codecs, "decodes and encodes JPEG");
}

static void test_not_found(void **state)
{
    (void)state;
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    library_set(&how, "nvcomp", NVCOMP_FAKE_7);
    library_set(&how, "cufile", NVJPEG_FAKE);
    library_set(&how, "nvjpeg2k", "/nowhere/libnvjpeg2k.so.0");
    library_set(&how, "nvjpeg", "");
    setenv("TERRAZZO_NVCOMP_LIBRARY", NVCOMP_FAKE_6, 1); /* not heeded */
    setenv("TERRAZZO_NVJPEG_LIBRARY", NVJPEG_FAKE, 1);
    tz_found_library found[TZ_NVIDIA_LIBRARY_COUNT];
    find(found, &how);
    static const char *const reasons[] = {"7.0.0 is not known here", "it lacks cuFileGetVersion",
                                          "No such file", "it is not to be used"};
    for (size_t i = 0; i < TZ_NVIDIA_LIBRARY_COUNT; i++) {
        assert_false(found[i].info.loaded);
        assert_string_equal(found[i].info.codecs, "");
        if (!strstr(found[i].info.reason, reasons[i]))
            fail_msg("'%s' is not in: %s", reasons[i], found[i].info.reason);
    }
    assert_string_equal(found[0].info.version, "7.0.0");
    assert_string_equal(found[2].info.version, "");
    assert_string_equal(found[2].info.library, "/nowhere/libnvjpeg2k.so.0");
}

static void test_environment(void **state)
{
    (void)state;
    const tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_found_library found[TZ_NVIDIA_LIBRARY_COUNT];
    setenv("TERRAZZO_NVCOMP_LIBRARY", NVCOMP_FAKE_5, 1);
    setenv("TERRAZZO_CUFILE_LIBRARY", CUFILE_FAKE, 1);
    setenv("TERRAZZO_NVJPEG2K_LIBRARY", "/nowhere/libnvjpeg2k.so.0", 1);
    setenv("TERRAZZO_NVJPEG_LIBRARY", "", 1);
    find(found, &how);
    assert_true(found[0].info.loaded && found[1].info.loaded);
    assert_string_equal(found[0].info.version, "5.3.0");
    assert_string_equal(found[1].info.library, CUFILE_FAKE);
    assert_non_null(strstr(found[2].info.reason, "No such file"));
    assert_string_equal(found[3].info.library, "libnvjpeg.so.13");
    assert_string_equal(found[3].info.reason,
                        "it is not to be used: TERRAZZO_NVJPEG_LIBRARY is empty");
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *libraries;
        const char *message; /* NULL: no error */
    } cases[] = {
        {"", NULL},
        {";;", NULL},
        {"nvcomp=;cufile=a=b;", NULL},
        {"cuda=/a;opencl=b;nvcomp=c;cufile=d;nvjpeg2k=e;nvjpeg=f", NULL},
        {"nvcom=/a", "'nvcom' is not one of cuda, opencl, nvcomp"},
        {"nvcomp=/a; cufile=b", "' cufile' is not one of"},
        {"=/a", "'' is not one of"},
        {"nvcomp=/a;cufile", "'cufile' has no ="},
        {"nvjpeg=/a;nvjpeg=", "'nvjpeg' is there twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
        tz_device *device = NULL;
        tz_error err;
        how.libraries = cases[i].libraries;
        const tz_result result = tz_device_open(&device, "cpu", &how, &err);
        assert_int_equal(result, cases[i].message ? TZ_ERR_ARG : TZ_OK);
        if (cases[i].message && !strstr(err.message, cases[i].message))
            fail_msg("'%s' is not in: %s", cases[i].message, err.message);
        tz_device_close(device);
    }
}

static void test_values(void **state)
{
    (void)state;
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_device_setup setup;
    const tz_context quiet = {.ifd = -1};
    how.libraries = "nvcomp=;cufile=/a=b;opencl=c";
    assert_int_equal(tz_device_setup_init(&setup, &how, &quiet), TZ_OK);
    assert_null(setup.libraries[TZ_LIBRARY_CUDA]);
    assert_string_equal(setup.libraries[TZ_LIBRARY_OPENCL], "c");
    assert_string_equal(tz_nvidia_library_given(&setup, TZ_NVIDIA_NVCOMP), "");
    assert_string_equal(tz_nvidia_library_given(&setup, TZ_NVIDIA_CUFILE), "/a=b");
    assert_null(tz_nvidia_library_given(&setup, TZ_NVIDIA_NVJPEG2K));
    assert_null(tz_nvidia_library_given(&setup, TZ_NVIDIA_NVJPEG));
    tz_device_setup_deinit(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),       cmocka_unit_test(test_values),
        cmocka_unit_test(test_found),       cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
