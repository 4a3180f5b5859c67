/* SPDX-License-Identifier: Apache-2.0
 * NVIDIA's libraries in the list of devices: fakes of them, or none. */
#include <stdlib.h>
#include <string.h>

#include "device/nvidia/nvidia_libraries.h"
#include "support/check.h"

static void test_found(void **state)
{
    (void)state;
    static const char *const names[] = {"nvCOMP", "cuFile", "nvJPEG2000", "nvJPEG"};
    static const char *const versions[] = {"6.0.0", "1.19.0", "0.11.0", "13.2.3"};
    static const char *const paths[] = {NVCOMP_FAKE_6, CUFILE_FAKE, NVJPEG2K_FAKE, NVJPEG_FAKE};
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    how.nvcomp_library = paths[0];
    how.cufile_library = paths[1];
    how.nvjpeg2k_library = paths[2];
    how.nvjpeg_library = paths[3];
    tz_library_info found[TZ_NVIDIA_LIBRARY_COUNT];
    memset(found, 0, sizeof found);
    tz_nvidia_libraries_find(found, &how);
    for (size_t i = 0; i < TZ_NVIDIA_LIBRARY_COUNT; i++) {
        assert_true(found[i].loaded);
        assert_string_equal(found[i].name, names[i]);
        assert_string_equal(found[i].library, paths[i]);
        assert_string_equal(found[i].version, versions[i]);
        assert_string_equal(found[i].reason, "");
    }
    assert_string_equal(found[0].codecs, "decodes and encodes Deflate, ZSTD and LZ4");
    assert_string_equal(found[2].codecs, "decodes and encodes JPEG 2000");
    assert_string_equal(found[3].codecs, "decodes and encodes JPEG");
}

static void test_not_found(void **state)
{
    (void)state;
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    how.nvcomp_library = NVCOMP_FAKE_7;
    how.cufile_library = NVJPEG_FAKE;
    how.nvjpeg2k_library = "/nowhere/libnvjpeg2k.so.0";
    how.nvjpeg_library = "";
    setenv("TERRAZZO_NVCOMP_LIBRARY", NVCOMP_FAKE_6, 1); /* not heeded */
    setenv("TERRAZZO_NVJPEG_LIBRARY", NVJPEG_FAKE, 1);
    tz_library_info found[TZ_NVIDIA_LIBRARY_COUNT];
    memset(found, 0, sizeof found);
    tz_nvidia_libraries_find(found, &how);
    static const char *const reasons[] = {"7.0.0 is not known here", "it lacks cuFileGetVersion",
                                          "No such file", "it is not to be used"};
    for (size_t i = 0; i < TZ_NVIDIA_LIBRARY_COUNT; i++) {
        assert_false(found[i].loaded);
        assert_string_equal(found[i].codecs, "");
        if (!strstr(found[i].reason, reasons[i]))
            fail_msg("'%s' is not in: %s", reasons[i], found[i].reason);
    }
    assert_string_equal(found[0].version, "7.0.0");
    assert_string_equal(found[2].version, "");
    assert_string_equal(found[2].library, "/nowhere/libnvjpeg2k.so.0");
}

static void test_environment(void **state)
{
    (void)state;
    const tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_library_info found[TZ_NVIDIA_LIBRARY_COUNT];
    memset(found, 0, sizeof found);
    setenv("TERRAZZO_NVCOMP_LIBRARY", NVCOMP_FAKE_5, 1);
    setenv("TERRAZZO_CUFILE_LIBRARY", CUFILE_FAKE, 1);
    setenv("TERRAZZO_NVJPEG2K_LIBRARY", "/nowhere/libnvjpeg2k.so.0", 1);
    setenv("TERRAZZO_NVJPEG_LIBRARY", "", 1);
    tz_nvidia_libraries_find(found, &how);
    assert_true(found[0].loaded && found[1].loaded);
    assert_string_equal(found[0].version, "5.3.0");
    assert_string_equal(found[1].library, CUFILE_FAKE);
    assert_non_null(strstr(found[2].reason, "No such file"));
    assert_string_equal(found[3].library, "libnvjpeg.so.13");
    assert_string_equal(found[3].reason, "it is not to be used: TERRAZZO_NVJPEG_LIBRARY is empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
