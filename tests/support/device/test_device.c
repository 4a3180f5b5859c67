/* SPDX-License-Identifier: Apache-2.0 */
#include "support/device/test_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device/device.h"
#include "device/nvidia/cufile.h"
#include "fakes/cuda/cuda_fake.h"
#include "fakes/nvidia/nvidia_fake_load.h"
#include "support/check.h"
#include "support/device/cuda_steps.h"
#include "support/device/library_text.h"
#include "support/gated_file.h"

/* Memory that PoCL and its compiler never release, for the leak sanitizer. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libhwloc\nleak:libOpenCL.so\n";
}

static bool is_kind(const char *name)
{
    const char *kind = getenv("TERRAZZO_TEST_DEVICE");
    return kind && strcmp(kind, name) == 0;
}

bool test_device_is_cuda(void)
{
    return is_kind("cuda") || is_kind("gpu");
}

const char *test_device_cuda_library(void)
{
    const char *named = getenv("TERRAZZO_GPU_LIBRARY");
    return is_kind("cuda") ? CUDA_FAKE : named ? named : "libcuda.so.1";
}

const char *test_device_nvcomp(void)
{
    return test_device_is_cuda() ? getenv("TERRAZZO_TEST_NVCOMP") : NULL;
}

bool test_device_has_nvcomp(void)
{
    return test_device_nvcomp() != NULL;
}

bool test_device_nvcomp_decodes(uint16_t compression)
{
    return test_device_has_nvcomp() &&
           (compression == 8 || compression == 50000 || compression == 50004);
}

bool test_device_is_slow(void)
{
    return (is_kind("cuda") && !getenv("TERRAZZO_LONG")) ||
           (is_kind("gpu") && getenv("TERRAZZO_GPU_SAMPLE"));
}

tz_device_type test_device_form(tz_device_type type)
{
    return test_device_is_cuda() ? TZ_DEVICE_TYPE_GPU : type;
}

unsigned test_device_sample(unsigned count)
{
    enum { ONE_OF = 6 };
    return test_device_is_slow() ? (count + ONE_OF - 1) / ONE_OF : count;
}

/* ---- PoCL ---- */

static void find_pocl(char id[32])
{
    tz_device_list *list = NULL;
    tz_error err;
    assert_int_equal(tz_device_list_create(&list, NULL, &err), TZ_OK);
    id[0] = '\0';
    const tz_device_info *device;
    const tz_driver_info *driver;
    for (size_t i = 0; id[0] == '\0' && (device = tz_device_list_get_device(list, i)); i++) {
        if (strcmp(device->platform, "Portable Computing Language") == 0)
            strcpy(id, device->id);
    }
    for (size_t i = 0; id[0] == '\0' && (driver = tz_device_list_get_driver(list, i)); i++)
        print_message("PoCL is not there: %s\n", driver->reason);
    tz_device_list_free(list);
    assert_true(id[0] != '\0');
}

static tz_result open_pocl(tz_device **out, const tz_device_options *options, tz_error *err)
{
    char id[32];
    if (!getenv("POCL_CACHE_DIR")) {
        mkdir(TERRAZZO_BINARY_DIR "/pocl", 0777);
        setenv("POCL_CACHE_DIR", TERRAZZO_BINARY_DIR "/pocl", 1);
    }
    find_pocl(id);
    return tz_device_open(out, id, options, err);
}

/* ---- CUDA ---- */

static cuda_fake_control *control; /* NULL: not loaded yet */

/* Misuse by kernels comes out as an error when somebody waits for them; only the fake knows the
 * cause. */
void test_device_tell(void)
{
    if (control && control->fault[0])
        fprintf(stderr, "the fake of libcuda: %s\n", control->fault);
}

static cuda_fake_control *cuda(void)
{
    if (!control) {
        control = cuda_fake_load();
        atexit(test_device_tell);
    }
    return control;
}

/* One that the test named, or the environment; else none, whatever is installed. */
static void choose(tz_device_options *how, const char *library, const char *variable)
{
    const char *named = getenv(variable);
    if (!library_is_set(how, library))
        library_set(how, library, named ? named : "");
}

void test_device_choose_libraries(tz_device_options *how)
{
    choose(how, "nvcomp", "TERRAZZO_TEST_NVCOMP");
    choose(how, "cufile", "TERRAZZO_TEST_CUFILE");
    choose(how, "nvjpeg2k", "TERRAZZO_TEST_NVJPEG2K");
    choose(how, "nvjpeg", "TERRAZZO_TEST_NVJPEG");
}

/* NULL: the environment names none, or the vendor's own. */
static cufile_fake_control *cufile(void)
{
    return cufile_fake_load(getenv("TERRAZZO_TEST_CUFILE"));
}

static const char *misuse_of_pictures(const char *variable)
{
    const codestreams_fake_control *pictures = codestreams_fake_load(getenv(variable));
    return pictures && pictures->misuse[0] ? pictures->misuse : NULL;
}

const char *test_device_misuse(void)
{
    const cufile_fake_control *files = cufile();
    const char *misuse = files && files->misuse[0] ? files->misuse : NULL;
    if (!misuse)
        misuse = misuse_of_pictures("TERRAZZO_TEST_NVJPEG2K");
    return misuse ? misuse : misuse_of_pictures("TERRAZZO_TEST_NVJPEG");
}

/* Without the kernel's part it would not be used, and that is not everywhere. */
static void make_direct(cufile_fake_control *files)
{
    files->direct = true;
    tz_cu_set_modules_path("/dev/null");
}

static tz_result open_cuda(tz_device **out, const tz_device_options *options, tz_error *err)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    if (is_kind("cuda"))
        (void)cuda();
    if (is_kind("cuda") && cufile())
        make_direct(cufile());
    if (getenv("TERRAZZO_TEST_CUFILE"))
        gate_uncached(); /* files of tests are fresh, and in memory: cuFile would get none */
    if (options)
        memcpy(&how, options, options->struct_size);
    how.struct_size = sizeof how;
    library_set(&how, "cuda", test_device_cuda_library());
    test_device_choose_libraries(&how);
    const tz_result result = tz_device_open(out, "cuda:0", &how, err);
    if (result == TZ_OK)
        steps_try_libraries(*out);
    return result;
}

/* ---- either ---- */

bool test_device_shrink(void)
{
    if (is_kind("cuda"))
        cuda()->memory = 64 << 20;
    else
        setenv("POCL_MEMORY_LIMIT", "1", 1); /* GB */
    return !is_kind("gpu");
}

tz_device *test_device_open(const tz_device_options *options)
{
    tz_device *device = NULL;
    tz_error err = {0};
    const tz_result result = test_device_is_cuda() ? open_cuda(&device, options, &err)
                                                   : open_pocl(&device, options, &err);
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

int test_device_begin_keeping_nothing(void **state)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    (void)state;
    how.max_pinned_bytes = 1;
    test_device = test_device_open(&how);
    return 0;
}

int test_device_end(void **state)
{
    tz_error err;
    (void)state;
    return tz_device_close_checked(test_device, &err) != TZ_OK;
}
