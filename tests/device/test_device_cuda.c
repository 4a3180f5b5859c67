/* SPDX-License-Identifier: Apache-2.0
 * The CUDA driver: what it finds, and how it gets along with a caller who uses CUDA as well. */
#include <string.h>

#include "device/cost.h"
#include "device/cuda/cuda_internal.h"
#include "device/device.h"
#include "device/kernel_list.h"
#include "fakes/cuda/cuda_calls.h"
#include "fakes/opencl/opencl_fake.h"
#include "support/check.h"
#include "support/device/library_text.h"

static cuda_fake_control *control;
static const tz_device_options with_fake = {
    .struct_size = sizeof with_fake, .libraries = "cuda=" CUDA_FAKE ";opencl=libno-opencl.so.1"};

static int begin(void **state)
{
    (void)state;
    control = cuda_calls_load();
    cuda_fake_reset(control);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return control->live != 0 || control->fault[0] != '\0';
}

#define CUDA(test) cmocka_unit_test_setup_teardown(test, begin, end)

static tz_device *open_with(const char *name, const tz_device_options *how)
{
    tz_device *device = NULL;
    tz_error err = {0};
    const tz_result result = tz_device_open(&device, name, how, &err);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
    return device;
}

static void close_checked(tz_device *device)
{
    tz_error err;
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

static void check_text(const char *whole, const char *part)
{
    if (!strstr(whole, part))
        print_message("'%s' is not in '%s'\n", part, whole);
    assert_non_null(strstr(whole, part));
}

static void check_open_fails(const tz_device_options *how, tz_result expected, const char *text)
{
    const int64_t live = control->live;
    tz_device *device = NULL;
    tz_error err = {0};
    assert_int_equal(tz_device_open(&device, "cuda:0", how, &err), expected);
    check_text(err.message, text);
    assert_null(device);
    assert_int_equal(control->live, live);
}

/* Returns the number of calls of a function; a '+' before the name counts work that was done later.
 */
static size_t count_steps(const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < control->step_count; i++)
        count += strcmp(control->steps[i].call, name) == 0;
    return count;
}

static size_t first_step(const char *name)
{
    for (size_t i = 0; i < control->step_count; i++) {
        if (strcmp(control->steps[i].call, name) == 0)
            return i;
    }
    return SIZE_MAX;
}

static void *pointer_of(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

static CUdeviceptr address_of(const tz_device_memory *memory)
{
    return (CUdeviceptr)(uintptr_t)tz_device_memory_get_handle(memory);
}

/* ---- finding ---- */

static void test_description(void **state)
{
    (void)state;
    tz_device *device = open_with("cuda:0", &with_fake);
    const tz_device_info *info = tz_device_get_info(device);
    assert_string_equal(info->id, "cuda:0");
    assert_string_equal(info->driver, "cuda");
    assert_string_equal(info->api_version, "CUDA 13.0, compute capability 7.5");
    assert_string_equal(info->driver_version, "13000");
    assert_true(info->name[0] != '\0' && info->vendor[0] != '\0');
    assert_string_equal(info->platform, "");
    assert_int_equal(info->type, TZ_DEVICE_TYPE_GPU);
    assert_true(info->usable && info->fp64);
    assert_int_equal(info->memory_bytes, (uint64_t)4 << 30);
    assert_int_equal(info->max_allocation_bytes, (uint64_t)4 << 30);
    assert_int_equal(info->alignment, 256);
    assert_true(info->compute_units > 0 && info->local_memory_bytes >= 48 << 10);
    assert_true(info->max_work_group >= TZ_WORK_GROUP_ITEMS);
    assert_int_equal(info->caps, 2 * TZ_DEVICE_CAP_OVERVIEW - 1);
    close_checked(device);
}

static void test_list(void **state)
{
    (void)state;
    tz_device_list *list = NULL;
    tz_error err;
    control->devices = 3;
    assert_int_equal(tz_device_list_create(&list, &with_fake, &err), TZ_OK);
    assert_non_null(tz_device_list_get_device(list, 3));
    assert_null(tz_device_list_get_device(list, 4));
    assert_string_equal(tz_device_list_get_device(list, 1)->id, "cuda:0");
    assert_string_equal(tz_device_list_get_device(list, 3)->id, "cuda:2");
    assert_string_equal(tz_device_list_get_driver(list, 0)->name, "cuda");
    assert_true(tz_device_list_get_driver(list, 0)->loaded);
    assert_int_equal(tz_device_list_get_driver(list, 0)->device_count, 3);
    assert_string_equal(tz_device_list_get_driver(list, 0)->reason, "");
    tz_device_list_free(list);
    assert_int_equal(control->live, 0);
    tz_device *device = open_with("auto", &with_fake);
    assert_string_equal(tz_device_get_info(device)->id, "cuda:2"); /* with most memory */
    close_checked(device);
}

static void check_nothing(const tz_device_options *how, const char *text)
{
    tz_device_list *list = NULL;
    tz_error err;
    assert_int_equal(tz_device_list_create(&list, how, &err), TZ_OK);
    assert_non_null(tz_device_list_get_device(list, 0));
    assert_null(tz_device_list_get_device(list, 1));
    check_text(tz_device_list_get_driver(list, 0)->reason, text);
    tz_device_list_free(list);
    check_open_fails(how, TZ_ERR_DEVICE, text);
    tz_device *device = open_with("auto", how);
    assert_string_equal(tz_device_get_info(device)->id, "cpu");
    check_text(tz_device_get_info(device)->reason, text);
    tz_device_close(device);
}

static void test_nothing_there(void **state)
{
    (void)state;
    static const struct {
        int32_t code;
        const char *text;
    } inits[] = {{100, "no GPU was found (cuInit: CUDA_ERROR_NO_DEVICE, 100)"},
                 {34, "the stub of the CUDA toolkit"},
                 {3, "does not work in a child after fork"},
                 {802, "a system service"},
                 {803, "different versions (cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)"},
                 {804, "forward compatibility"},
                 {999, "the driver does not start (cuInit: CUDA_ERROR_UNKNOWN, 999)"},
                 {12345, "a code that CUDA 13.0 does not know, 12345"}};
    for (size_t i = 0; i < sizeof inits / sizeof inits[0]; i++) {
        control->init_code = inits[i].code;
        check_nothing(&with_fake, inits[i].text);
    }
    control->init_code = 0;
    control->devices = 0;
    check_nothing(&with_fake, "no GPU was found");
    tz_device_options how = with_fake;
    library_set(&how, "cuda", "libno-cuda.so.1");
    check_nothing(&how, "libno-cuda.so.1");
    library_set(&how, "cuda", CUDA_FAKE_BROKEN);
    check_nothing(&how, "lacks cuLaunchKernel: the driver is too old");
}

static void test_no_such_device(void **state)
{
    (void)state;
    tz_device *device = NULL;
    tz_error err;
    assert_int_equal(tz_device_open(&device, "cuda:1", &with_fake, &err), TZ_ERR_DEVICE);
    check_text(err.message, "no such device: CUDA has 1");
    assert_int_equal(tz_device_open(&device, "cuda:x", &with_fake, &err), TZ_ERR_ARG);
    assert_null(device);
}

static void test_old_devices(void **state)
{
    (void)state;
    static const int32_t wrong[][2] = {{7, 0}, {6, 1}, {3, 5}};
    for (size_t i = 0; i < 3; i++) {
        control->major = wrong[i][0];
        control->minor = wrong[i][1];
        check_open_fails(&with_fake, TZ_ERR_DEVICE, "and below 7.5");
    }
    tz_device *device = open_with("auto", &with_fake);
    check_text(tz_device_get_info(device)->reason, "cuda:0: its compute capability is 3.5");
    tz_device_close(device);
    control->major = 12;
    control->minor = 0;
    close_checked(open_with("cuda:0", &with_fake));
}

static void test_modules_that_do_not_load(void **state)
{
    (void)state;
    static const struct {
        int32_t code;
        const char *text;
    } codes[] = {{200, "the driver does not understand them"},
                 {209, "there are none for this GPU"},
                 {218, "the driver does not understand them"},
                 {221, "libnvidia-ptxjitcompiler.so.1, is not installed"},
                 {222, "it does not know their version of PTX: cuModuleLoadDataEx: "
                       "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)"},
                 {223, "switched off"},
                 {999, "the driver does not load them"}};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        control->load_code = codes[i].code;
        check_open_fails(&with_fake, TZ_ERR_DEVICE, codes[i].text);
    }
    control->load_code = 2;
    check_open_fails(&with_fake, TZ_ERR_NOMEM, "cuModuleLoadDataEx: CUDA_ERROR_OUT_OF_MEMORY");
}

/* R450, R470, R515, R550 and R570, whose compilers know PTX of their time and no later one. */
static void test_old_drivers_take_the_kernels(void **state)
{
    (void)state;
    static const int32_t versions[] = {11000, 11040, 11070, 12040, 12080, 13000};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        control->version = versions[i];
        tz_device *device = open_with("cuda:0", &with_fake);
        assert_true(tz_device_get_info(device)->usable);
        close_checked(device);
    }
}

/* And those that do not are named, with the version that they need. */
static void test_drivers_that_are_too_old(void **state)
{
    (void)state;
    control->version = 10020;
    check_open_fails(&with_fake, TZ_ERR_DEVICE,
                     "its driver is of CUDA 10.2, and 11.0 or later is needed");
    control->version = 12040;
    control->load_code = 222;
    check_open_fails(&with_fake, TZ_ERR_DEVICE, "the driver, of CUDA 12.4, cannot load");
    check_open_fails(&with_fake, TZ_ERR_DEVICE, "need one of CUDA 11.0 or later");
}

/* ---- images ---- */

static const unsigned char fatbin[16] = {0x50, 0xed, 0x55, 0xba};
static const tz_kernel_image code_image = {fatbin, sizeof fatbin}, no_image = {NULL, 0};

static tz_result load(const tz_kernel_image *first, const tz_kernel_image *second, tz_error *err)
{
    char reason[256];
    tz_cu_api api;
    CUcontext context = NULL;
    tz_cu_module module = NULL;
    const tz_kernel_image *const images[TZ_CU_IMAGES] = {first, second};
    const tz_context ctx = {.err = err, .ifd = -1};
    assert_true(tz_cu_load(&api, CUDA_FAKE, reason, sizeof reason));
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuCtxCreate(&context, 0, 0), 0);
    control->keep_steps = true;
    const tz_result result = tz_cu_load_module(&api, images, &module, &ctx);
    assert_int_equal(result == TZ_OK, module != NULL);
    if (module)
        assert_int_equal(api.ModuleUnload(module), 0);
    assert_int_equal(cu.cuCtxDestroy(context), 0);
    return result;
}

/* Code for one GPU is refused by an older driver, or on a later GPU; PTX is tried then. */
static void test_the_next_image_is_tried(void **state)
{
    (void)state;
    static const int32_t codes[] = {200, 209, 218, 222};
    tz_error err = {0};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        cuda_fake_reset(control);
        control->version = 12040;
        control->fatbin_code = codes[i];
        assert_int_equal(load(&code_image, &tz_kernel_image_convert, &err), TZ_OK);
        assert_int_equal(count_steps("cuModuleLoadDataEx"), 2);
    }
    cuda_fake_reset(control);
    assert_int_equal(load(&no_image, &tz_kernel_image_convert, &err), TZ_OK);
    assert_int_equal(count_steps("cuModuleLoadDataEx"), 1);
}

/* No image helps against these. */
static void test_the_next_image_is_not_tried(void **state)
{
    (void)state;
    static const int32_t codes[] = {2, 221, 700, 999};
    tz_error err = {0};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        cuda_fake_reset(control);
        control->fatbin_code = codes[i];
        assert_int_equal(load(&code_image, &tz_kernel_image_convert, &err),
                         codes[i] == 2 ? TZ_ERR_NOMEM : TZ_ERR_DEVICE);
        assert_int_equal(count_steps("cuModuleLoadDataEx"), 1);
    }
    cuda_fake_reset(control);
    assert_int_equal(load(&code_image, &code_image, &err), TZ_ERR_DEVICE);
    assert_int_equal(load(&no_image, &no_image, &err), TZ_ERR_DEVICE);
}

/* ---- devices that cannot be opened ---- */

/* The listing opens a device before it says that it is usable. */
static void test_usable_is_what_was_opened(void **state)
{
    (void)state;
    tz_device_list *list = NULL;
    tz_error err;
    control->load_code = 222;
    control->version = 12040;
    assert_int_equal(tz_device_list_create(&list, &with_fake, &err), TZ_OK);
    assert_non_null(tz_device_list_get_device(list, 1));
    assert_null(tz_device_list_get_device(list, 2));
    assert_false(tz_device_list_get_device(list, 1)->usable);
    assert_int_equal(tz_device_list_get_device(list, 1)->caps, 0);
    check_text(tz_device_list_get_device(list, 1)->reason, "CUDA 12.4");
    check_text(tz_device_list_get_device(list, 1)->reason, "11.0 or later");
    tz_device_list_free(list);
    assert_int_equal(control->live, 0);
    control->load_code = 0;
    assert_int_equal(tz_device_list_create(&list, &with_fake, &err), TZ_OK);
    assert_true(tz_device_list_get_device(list, 1)->usable &&
                tz_device_list_get_device(list, 1)->caps != 0);
    assert_string_equal(tz_device_list_get_device(list, 1)->reason, "");
    tz_device_list_free(list);
    assert_int_equal(control->live, 0);
}

/* "auto" tries the next card, then the same one by OpenCL, before the CPU; and opens none twice. */
static void test_auto_tries_the_next(void **state)
{
    (void)state;
    tz_device_options how = with_fake;
    control->devices = 2; /* 4 and 8 GiB */
    control->fail_function = "cuModuleLoadDataEx";
    control->fail_nth = 1;
    control->fail_code = 222;
    tz_device *device = open_with("auto", &how);
    assert_string_equal(tz_device_get_info(device)->id, "cuda:0");
    check_text(tz_device_get_info(device)->reason, "cuda:1: ");
    assert_true(tz_device_is_auto(device));
    close_checked(device);

    opencl_fake_control *opencl = opencl_fake_load();
    opencl->gpus = 2;
    library_set(&how, "opencl", OPENCL_FAKE);
    cuda_fake_reset(control);
    control->load_code = 222;
    control->keep_steps = true;
    device = open_with("auto", &how);
    assert_string_equal(tz_device_get_info(device)->id, "opencl:1");
    check_text(tz_device_get_info(device)->reason, "cuda:0: the driver, of CUDA 13.0");
    assert_int_equal(count_steps("cuModuleLoadDataEx"), 1);
    close_checked(device);

    opencl->no_compiler = true;
    device = open_with("auto", &how);
    assert_string_equal(tz_device_get_info(device)->id, "cpu");
    check_text(tz_device_get_info(device)->reason, "cuda:0: the driver, of CUDA 13.0");
    tz_device_close(device);
    opencl_fake_reset(opencl);
}

/* ---- contexts ---- */

/* Everything that a device can do, but kernels. */
static void use(tz_device *device)
{
    uint8_t bytes[100] = {7}, back[100] = {0};
    uint64_t left;
    bool happened = false;
    tz_error err;
    tz_device_memory *memory = NULL, *own = NULL, *pinned = NULL;
    tz_device_event *event = NULL;
    assert_int_equal(tz_device_free_memory(device, &left, &err), TZ_OK);
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_OK);
    assert_int_equal(tz_device_alloc_own(device, 100, &own, &err), TZ_OK);
    assert_int_equal(tz_device_alloc_pinned(device, 100, &pinned, &err), TZ_OK);
    assert_int_equal(tz_device_upload(0, own, 0, bytes, 100, &err), TZ_OK);
    assert_int_equal(tz_device_record(device, 0, &event, &err), TZ_OK);
    assert_int_equal(tz_device_wait(1, event, &err), TZ_OK);
    assert_int_equal(tz_device_download(1, back, own, 0, 100, &err), TZ_OK);
    assert_int_equal(tz_device_sync(device, 1, &err), TZ_OK);
    assert_int_equal(tz_device_query(event, &happened, &err), TZ_OK);
    assert_true(happened);
    assert_memory_equal(back, bytes, 100);
    assert_int_equal(tz_device_copy_in(memory, 0, bytes, 100, &err), TZ_OK);
    assert_int_equal(tz_device_copy_out(back, memory, 0, 100, &err), TZ_OK);
    tz_device_free_event(event);
    tz_device_memory_free(pinned);
    tz_device_memory_free(own);
    tz_device_memory_free(memory);
}

/* The primary one is that of most callers, and none has to be current. */
static void test_the_primary_context(void **state)
{
    (void)state;
    CUcontext context = NULL, now = NULL;
    tz_device *device = open_with("cuda:0", &with_fake);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    assert_ptr_equal(tz_device_get_context(device), context);
    use(device);
    assert_int_equal(cu.cuCtxGetCurrent(&now), 0);
    assert_null(now);
    close_checked(device);
    assert_int_equal(cu.cuDevicePrimaryCtxRelease(0), 0);
}

static void check_current(CUcontext expected)
{
    CUcontext now = NULL;
    assert_int_equal(cu.cuCtxGetCurrent(&now), 0);
    assert_ptr_equal(now, expected);
}

/* Also where a call fails. */
static void test_the_callers_context_stays_current(void **state)
{
    (void)state;
    CUcontext other = NULL;
    tz_device *none = NULL;
    tz_device_list *list = NULL;
    tz_device_memory *memory = NULL;
    tz_error err;
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuCtxCreate(&other, 0, 0), 0); /* and current */
    assert_int_equal(tz_device_list_create(&list, &with_fake, &err), TZ_OK);
    tz_device_list_free(list);
    check_current(other);
    tz_device *device = open_with("cuda:0", &with_fake);
    check_current(other);
    assert_ptr_not_equal(tz_device_get_context(device), other);
    use(device);
    check_current(other);
    control->fail_function = "cuMemAlloc_v2";
    control->fail_nth = 1;
    control->fail_code = 1;
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_ERR_DEVICE);
    check_current(other);
    close_checked(device);
    check_current(other);
    control->load_code = 222;
    assert_int_equal(tz_device_open(&none, "cuda:0", &with_fake, &err), TZ_ERR_DEVICE);
    check_current(other);
    assert_int_equal(cu.cuCtxDestroy(other), 0);
}

static void test_a_context_of_the_callers(void **state)
{
    (void)state;
    CUcontext mine = NULL, far = NULL;
    tz_device_options how = with_fake;
    control->devices = 2;
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuCtxCreate(&mine, 0, 0), 0);
    assert_int_equal(cu.cuCtxCreate(&far, 0, 1), 0);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    how.cuda_context = mine;
    tz_device *device = open_with("cuda:0", &how);
    assert_ptr_equal(tz_device_get_context(device), mine);
    use(device);
    close_checked(device);
    close_checked(open_with("cuda:0", &how)); /* it lives on */
    check_current(NULL);
    how.cuda_context = far;
    check_open_fails(&how, TZ_ERR_ARG, "cuda_context is of another device");
    check_current(NULL);
    assert_int_equal(cu.cuCtxDestroy(far), 0);
    check_open_fails(&how, TZ_ERR_ARG, "cuda_context is not a CUDA context");
    assert_int_equal(cu.cuCtxDestroy(mine), 0);
}

/* ---- streams ---- */

typedef struct guest {
    CUcontext context;
    CUstream stream;
    CUdeviceptr address;
} guest;

/* A caller with a stream, and memory that work on the stream is about to fill. */
static guest make_guest(size_t size)
{
    guest g = {0};
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&g.context, 0), 0);
    assert_int_equal(cu.cuCtxPushCurrent(g.context), 0);
    assert_int_equal(cu.cuStreamCreate(&g.stream, 1), 0);
    assert_int_equal(cu.cuMemAlloc(&g.address, size), 0);
    assert_int_equal(cu.cuMemsetD8(g.address, 1, size), 0);
    return g;
}

static void end_guest(const guest *g)
{
    check_current(g->context);
    assert_int_equal(cu.cuStreamSynchronize(g->stream), 0);
    assert_int_equal(cu.cuMemFree(g->address), 0);
    assert_int_equal(cu.cuStreamDestroy(g->stream), 0);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRelease(0), 0);
}

static uint8_t byte_of(tz_device *device, const guest *g)
{
    uint8_t byte = 0;
    tz_device_memory *memory = NULL;
    tz_error err;
    assert_int_equal(tz_device_wrap(&memory, device, pointer_of(g->address), 1, &err), TZ_OK);
    assert_int_equal(tz_device_copy_out(&byte, memory, 0, 1, &err), TZ_OK);
    tz_device_memory_free(memory);
    return byte;
}

/* Nobody waits where nobody knows; then the device does, and not the host. */
static void check_meeting(tz_device *device, const guest *g, CUstream stream, bool is_known)
{
    control->keep_steps = true;
    const size_t waits = count_steps("cuStreamWaitEvent");
    if (!is_known) {
        (void)byte_of(device, g);
        assert_int_equal(count_steps("cuStreamWaitEvent"), waits);
    }
    if (!stream)
        stream = tz_device_get_stream(device);
    assert_non_null(stream);
    assert_ptr_equal(tz_device_get_stream(device), stream);
    const size_t syncs = count_steps("cuStreamSynchronize");
    assert_int_equal(cu.cuMemsetD8Async(g->address, 9, 1, stream), 0);
    assert_int_equal(byte_of(device, g), 9);
    assert_int_equal(count_steps("cuStreamWaitEvent"), waits + 2); /* one for each queue */
    assert_int_equal(count_steps("cuStreamSynchronize"), syncs + 1);
    control->keep_steps = false;
}

static void test_meeting(void **state)
{
    (void)state;
    tz_device_options how = with_fake;
    for (int i = 0; i < 4; i++) {
        control->reversed = i % 2 != 0;
        guest g = make_guest(100);
        how.cuda_stream = i / 2 != 0 ? g.stream : NULL;
        tz_device *device = open_with("cuda:0", &how);
        check_meeting(device, &g, how.cuda_stream, i / 2 != 0);
        close_checked(device);
        end_guest(&g);
    }
}

/* The streams that CUDA has by itself. */
static void test_meeting_at_default_streams(void **state)
{
    (void)state;
    tz_device_options how = with_fake;
    for (uintptr_t i = 1; i <= 2; i++) {
        guest g = make_guest(100);
        how.cuda_stream = (void *)i;
        tz_device *device = open_with("cuda:0", &how);
        check_meeting(device, &g, how.cuda_stream, true);
        close_checked(device);
        end_guest(&g);
    }
}

static void test_wrong_streams(void **state)
{
    (void)state;
    CUcontext other = NULL;
    CUstream stream = NULL;
    tz_device_options how = with_fake;
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuCtxCreate(&other, 0, 0), 0);
    assert_int_equal(cu.cuStreamCreate(&stream, 1), 0);
    how.cuda_stream = stream;
    check_open_fails(&how, TZ_ERR_ARG, "cuda_stream is of another context than the device's");
    how.cuda_context = other;
    close_checked(open_with("cuda:0", &how));
    assert_int_equal(cu.cuStreamDestroy(stream), 0);
    check_open_fails(&how, TZ_ERR_ARG, "cuda_stream is not a CUDA stream");
    assert_int_equal(cu.cuCtxDestroy(other), 0);
}

static void test_the_cpu_has_no_stream(void **state)
{
    (void)state;
    tz_device *device = open_with("cpu", &with_fake);
    assert_null(tz_device_get_stream(device));
    tz_device_close(device);
}

/* ---- wrapping ---- */

static void check_refused(tz_device *device, CUdeviceptr address, uint64_t size, const char *text)
{
    tz_device_memory *memory = NULL;
    tz_error err;
    assert_int_equal(tz_device_wrap(&memory, device, pointer_of(address), size, &err), TZ_ERR_ARG);
    check_text(err.message, text);
    assert_null(memory);
}

static void test_wrapping(void **state)
{
    (void)state;
    tz_error err;
    tz_device_memory *memory = NULL;
    uint8_t back[40];
    guest g = make_guest(100);
    tz_device *device = open_with("cuda:0", &with_fake);
    assert_int_equal(tz_device_wrap(&memory, device, pointer_of(g.address), 0, &err), TZ_OK);
    assert_int_equal(tz_device_memory_get_size(memory), 100);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_wrap(&memory, device, pointer_of(g.address + 60), 0, &err), TZ_OK);
    assert_int_equal(tz_device_memory_get_size(memory), 40); /* to its end */
    assert_int_equal(tz_device_copy_out(back, memory, 0, 40, &err), TZ_OK);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_wrap(&memory, device, pointer_of(g.address + 60), 40, &err), TZ_OK);
    assert_int_equal(tz_device_copy_out(back, memory, 0, 41, &err), TZ_ERR_ARG);
    tz_device_memory_free(memory);
    check_refused(device, g.address + 60, 41, "fewer bytes from the handle");
    check_refused(device, g.address + 100, 0, "not CUDA memory");
    check_refused(device, 4096, 1, "not CUDA memory");
    void *host = NULL;
    assert_int_equal(cu.cuMemHostAlloc(&host, 100, 0), 0);
    check_refused(device, (CUdeviceptr)(uintptr_t)host, 1, "not device memory");
    assert_int_equal(cu.cuMemFreeHost(host), 0);
    close_checked(device);
    end_guest(&g);
}

static void test_wrapping_what_is_of_others(void **state)
{
    (void)state;
    tz_error err;
    tz_device_memory *memory = NULL;
    CUcontext other = NULL;
    CUdeviceptr there = 0;
    for (int on = 0; on < 2; on++) {
        control->devices = 2;
        tz_device *device = open_with("cuda:0", &with_fake);
        assert_int_equal(cu.cuCtxCreate(&other, 0, on), 0);
        assert_int_equal(cu.cuMemAlloc(&there, 10), 0);
        check_refused(device, there, 10, on ? "of another device" : "another context");
        assert_int_equal(cu.cuMemFree(there), 0);
        /* memory of a pool is of all contexts of its device */
        assert_int_equal(cu.cuMemAllocAsync(&there, 10, NULL), 0);
        assert_int_equal(cu.cuStreamSynchronize(NULL), 0);
        assert_int_equal(tz_device_wrap(&memory, device, pointer_of(there), 10, &err),
                         on ? TZ_ERR_ARG : TZ_OK);
        tz_device_memory_free(on ? NULL : memory);
        assert_int_equal(cu.cuMemFreeAsync(there, NULL), 0);
        assert_int_equal(cu.cuStreamSynchronize(NULL), 0);
        assert_int_equal(cu.cuCtxDestroy(other), 0);
        close_checked(device);
    }
}

/* ---- memory ---- */

static void test_plain_memory_and_that_of_the_pool(void **state)
{
    (void)state;
    tz_error err;
    tz_device_memory *memory = NULL;
    tz_device *device = open_with("cuda:0", &with_fake);
    control->keep_steps = true;
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_OK);
    assert_int_equal(address_of(memory) % 256, 0);
    tz_device_memory_free(memory);
    assert_int_equal(count_steps("cuMemAlloc_v2"), 1);
    assert_int_equal(count_steps("cuMemFree_v2"), 1);
    assert_int_equal(tz_device_alloc_own(device, 100, &memory, &err), TZ_OK);
    assert_int_equal(address_of(memory) % 256, 0);
    tz_device_memory_free(memory);
    assert_int_equal(count_steps("cuMemAllocFromPoolAsync"), 1);
    assert_int_equal(count_steps("cuMemFreeAsync"), 1);
    assert_int_equal(count_steps("cuMemAlloc_v2") + count_steps("cuMemFree_v2"), 2);
    assert_int_equal(count_steps("cuStreamSynchronize"), 0); /* nobody waited */
    close_checked(device);
    assert_int_equal(count_steps("cuCtxSynchronize"), 0);
}

static void check_without_pools(const tz_device_options *how)
{
    tz_error err;
    tz_device_memory *memory = NULL;
    tz_device *device = open_with("cuda:0", how);
    use(device);
    assert_int_equal(tz_device_alloc_own(device, 100, &memory, &err), TZ_OK);
    static const uint8_t bytes[100];
    assert_int_equal(tz_device_upload(1, memory, 0, bytes, 100, &err), TZ_OK);
    tz_device_memory_free(memory); /* while the copy is under way */
    assert_int_equal(tz_device_sync(device, 1, &err), TZ_OK);
    close_checked(device);
}

static void test_no_pools(void **state)
{
    (void)state;
    control->no_pools = true;
    control->keep_steps = true;
    check_without_pools(&with_fake);
    assert_int_equal(count_steps("cuMemPoolCreate"), 0);
    assert_true(count_steps("cuMemAlloc_v2") > 0);
}

/* Its functions are missing: an older driver. It has no control of its own here. */
static void test_no_functions_of_pools(void **state)
{
    (void)state;
    tz_device_options how = with_fake;
    library_set(&how, "cuda", CUDA_FAKE_OLD);
    check_without_pools(&how);
}

/* Nothing is released before the queues are done with it, and nobody waits for that. */
static void test_memory_is_freed_in_order(void **state)
{
    (void)state;
    static uint8_t bytes[1000], back[1000];
    tz_error err;
    for (int i = 0; i < 4; i++) {
        const uint32_t queue = (uint32_t)i / 2;
        tz_device_memory *first = NULL, *second = NULL;
        control->reversed = i % 2 != 0;
        tz_device *device = open_with("cuda:0", &with_fake);
        memset(bytes, 11 + i, sizeof bytes);
        control->step_count = 0;
        control->keep_steps = true;
        assert_int_equal(tz_device_alloc_own(device, 1000, &first, &err), TZ_OK);
        assert_int_equal(tz_device_upload(queue, first, 0, bytes, 1000, &err), TZ_OK);
        assert_int_equal(tz_device_download(queue, back, first, 0, 1000, &err), TZ_OK);
        tz_device_memory_free(first);
        assert_int_equal(tz_device_alloc_own(device, 1000, &second, &err), TZ_OK);
        assert_int_equal(tz_device_upload(1 - queue, second, 0, bytes, 1000, &err), TZ_OK);
        assert_int_equal(count_steps("cuStreamSynchronize"), 0);
        assert_int_equal(tz_device_sync(device, queue, &err), TZ_OK);
        assert_memory_equal(back, bytes, 1000);
        assert_int_equal(tz_device_sync(device, 1 - queue, &err), TZ_OK);
        assert_true(first_step("+cuMemFreeAsync") > first_step("+cuMemcpyDtoHAsync_v2"));
        control->keep_steps = false;
        tz_device_memory_free(second);
        close_checked(device);
        assert_string_equal(control->fault, "");
    }
}

static void test_free_memory(void **state)
{
    (void)state;
    const uint64_t whole = 64 << 20, piece = 16 << 20;
    tz_error err;
    uint64_t before, during, after;
    tz_device_memory *memory = NULL;
    control->memory = whole;
    tz_device *device = open_with("cuda:0", &with_fake);
    assert_int_equal(tz_device_free_memory(device, &before, &err), TZ_OK);
    assert_true(before <= whole && before > whole - piece);
    assert_int_equal(tz_device_alloc_own(device, piece, &memory, &err), TZ_OK);
    assert_int_equal(tz_device_free_memory(device, &during, &err), TZ_OK);
    assert_int_equal(before - during, piece);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_free_memory(device, &after, &err), TZ_OK);
    assert_int_equal(after, before); /* though the pool keeps it */
    close_checked(device);
}

/* Memory that the pool keeps is given up for others; running out of memory is not the end. */
static void test_the_pool_gives_way(void **state)
{
    (void)state;
    const uint64_t piece = 48 << 20;
    tz_error err;
    tz_device_memory *memory = NULL, *more = NULL;
    control->memory = 64 << 20;
    tz_device *device = open_with("cuda:0", &with_fake);
    assert_int_equal(tz_device_alloc_own(device, piece, &memory, &err), TZ_OK);
    assert_int_equal(tz_device_alloc_own(device, piece, &more, &err), TZ_ERR_NOMEM);
    check_text(err.message, "no 50331648 bytes of device memory: cuMemAllocFromPoolAsync");
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_memory_alloc(&memory, device, piece, &err), TZ_OK);
    assert_int_equal(tz_device_memory_alloc(&more, device, piece, &err), TZ_ERR_NOMEM);
    check_text(err.message, "no 50331648 bytes of device memory: cuMemAlloc: ");
    assert_null(more);
    tz_device_memory_free(memory);
    use(device);
    close_checked(device);
}

/* Once nobody uses it, others can have what is beyond the kept amount: asked by their own calls, as
 * PyTorch would. */
static void test_the_pool_gives_memory_back(void **state)
{
    (void)state;
    const uint64_t piece = 16 << 20, kept = 1 << 20;
    tz_device_options how = with_fake;
    tz_device_memory *first = NULL, *second = NULL;
    size_t before, after, all;
    tz_error err;
    how.max_pool_bytes = kept;
    tz_device *device = open_with("cuda:0", &how);
    CUcontext context = tz_device_get_context(device);
    assert_int_equal(cu.cuCtxPushCurrent(context), 0);
    assert_int_equal(cu.cuMemGetInfo(&before, &all), 0);
    control->keep_steps = true;
    assert_int_equal(tz_device_alloc_own(device, piece, &first, &err), TZ_OK);
    assert_int_equal(tz_device_alloc_own(device, piece, &second, &err), TZ_OK);
    tz_device_memory_free(first);
    assert_int_equal(count_steps("cuMemPoolTrimTo"), 0); /* the other is in use */
    tz_device_memory_free(second);
    assert_int_equal(cu.cuMemGetInfo(&after, &all), 0);
    assert_true(before - after <= kept);
    assert_int_equal(tz_device_alloc_own(device, kept / 2, &first, &err), TZ_OK);
    tz_device_memory_free(first);
    assert_int_equal(count_steps("cuMemPoolTrimTo"), 1); /* so little is kept */
    assert_int_equal(cu.cuCtxPopCurrent(&context), 0);
    close_checked(device);
}

static void test_a_pool_that_keeps_nothing(void **state)
{
    (void)state;
    tz_device_options how = with_fake;
    tz_device_memory *memory = NULL;
    size_t before, after, all;
    tz_error err;
    how.max_pool_bytes = 1;
    tz_device *device = open_with("cuda:0", &how);
    CUcontext context = tz_device_get_context(device);
    assert_int_equal(cu.cuCtxPushCurrent(context), 0);
    assert_int_equal(cu.cuMemGetInfo(&before, &all), 0);
    assert_int_equal(tz_device_alloc_own(device, 1000, &memory, &err), TZ_OK);
    tz_device_memory_free(memory);
    assert_int_equal(cu.cuMemGetInfo(&after, &all), 0);
    assert_int_equal(before, after);
    assert_int_equal(cu.cuCtxPopCurrent(&context), 0);
    close_checked(device);
}

/* Somebody else in the process holds the primary context, which stays broken. */
static void test_a_context_that_is_lost(void **state)
{
    (void)state;
    CUcontext context = NULL;
    tz_device_memory *memory = NULL;
    tz_device *none = NULL;
    tz_error err;
    tz_device *device = open_with("cuda:0", &with_fake);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    control->fail_function = "cuMemAlloc_v2";
    control->fail_nth = 1;
    control->fail_code = 700;
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_ERR_DEVICE);
    control->fail_nth = 0;
    tz_device_close(device);
    assert_int_equal(tz_device_open(&none, "cuda:0", &with_fake, &err), TZ_ERR_DEVICE);
    check_text(err.message, "only a new process can use the device");
    control->fault[0] = '\0'; /* it was meant */
    assert_int_equal(cu.cuDevicePrimaryCtxRelease(0), 0);
    device = open_with("cuda:0", &with_fake); /* nobody held it any more */
    use(device);
    close_checked(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CUDA(test_description),
        CUDA(test_list),
        CUDA(test_nothing_there),
        CUDA(test_no_such_device),
        CUDA(test_old_devices),
        CUDA(test_modules_that_do_not_load),
        CUDA(test_old_drivers_take_the_kernels),
        CUDA(test_drivers_that_are_too_old),
        CUDA(test_the_next_image_is_tried),
        CUDA(test_the_next_image_is_not_tried),
        CUDA(test_usable_is_what_was_opened),
        CUDA(test_auto_tries_the_next),
        CUDA(test_the_primary_context),
        CUDA(test_the_callers_context_stays_current),
        CUDA(test_a_context_of_the_callers),
        CUDA(test_meeting),
        CUDA(test_meeting_at_default_streams),
        CUDA(test_wrong_streams),
        CUDA(test_the_cpu_has_no_stream),
        CUDA(test_wrapping),
        CUDA(test_wrapping_what_is_of_others),
        CUDA(test_plain_memory_and_that_of_the_pool),
        CUDA(test_no_pools),
        CUDA(test_no_functions_of_pools),
        CUDA(test_memory_is_freed_in_order),
        CUDA(test_free_memory),
        CUDA(test_the_pool_gives_way),
        CUDA(test_the_pool_gives_memory_back),
        CUDA(test_a_pool_that_keeps_nothing),
        CUDA(test_a_context_that_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
