/* SPDX-License-Identifier: Apache-2.0
 * Tests of OpenCL alone: loaders and devices that are missing or odd, what is compiled when it is
 * wanted, references, contexts of the caller's. */
#include <string.h>

#include "device/device.h"
#include "device/kernel_list.h"
#include "device/opencl/opencl_internal.h"
#include "fakes/opencl/opencl_fake.h"
#include "support/check.h"
#include "support/device/caller_device.h"
#include "support/device/library_text.h"
#include "support/device/test_device.h"

static opencl_fake_control *control;
static const char *const fake_name = OPENCL_FAKE;
static const tz_device_options with_fake = {
    .struct_size = sizeof with_fake, .libraries = "opencl=" OPENCL_FAKE ";cuda=libno-cuda.so.1"};

static int begin(void **state)
{
    (void)state;
    control = opencl_fake_load();
    return 0;
}

static int end(void **state)
{
    (void)state;
    return control->live != 0;
}

#define FAULT(test) cmocka_unit_test_setup_teardown(test, begin, end)

static tz_device *open_fake(const char *name)
{
    tz_device *device = NULL;
    tz_error err = {0};
    const tz_result result = tz_device_open(&device, name, &with_fake, &err);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
    return device;
}

static void check_open_fails(const char *name, const tz_device_options *how, const char *text)
{
    tz_device *device = NULL;
    tz_error err = {0};
    assert_int_equal(tz_device_open(&device, name, how, &err), TZ_ERR_DEVICE);
    assert_int_equal(err.cause, TZ_CAUSE_DEVICE);
    if (!strstr(err.message, text))
        print_message("'%s' is not in '%s'\n", text, err.message);
    assert_non_null(strstr(err.message, text));
    assert_null(device);
    assert_int_equal(control->live, 0);
}

/* ---- names ---- */

static void test_numbers(void **state)
{
    (void)state;
    check_open_fails("opencl:2", &with_fake, "OpenCL has 2");
}

static void test_work(void **state)
{
    (void)state;
    tz_error err;
    tz_device_list *list = NULL;
    assert_string_equal(tz_device_cap_name(TZ_DEVICE_CAP_STORE), "store-pixels");
    assert_string_equal(tz_device_cap_name(TZ_DEVICE_CAP_DECODE_ZSTD), "decode-zstd");
    assert_string_equal(tz_device_cap_name(TZ_DEVICE_CAP_OVERVIEW), "overview");
    assert_null(tz_device_cap_name(0));
    assert_null(tz_device_cap_name(TZ_DEVICE_CAP_STORE | TZ_DEVICE_CAP_PREDICTOR2));
    assert_null(tz_device_cap_name(1u << 31));
    assert_int_equal(tz_device_list_create(&list, &with_fake, &err), TZ_OK);
    /* the CPU can do all that has a name; the fake has no double precision */
    assert_int_equal(tz_device_list_get_device(list, 0)->caps, 2 * TZ_DEVICE_CAP_OVERVIEW - 1);
    assert_true(tz_device_list_get_device(list, 1)->caps & TZ_DEVICE_CAP_STORE);
    assert_false(tz_device_list_get_device(list, 1)->caps & TZ_DEVICE_CAP_CONVERT);
    tz_device_list_free(list);
    control->big_endian = true;
    assert_int_equal(tz_device_list_create(&list, &with_fake, &err), TZ_OK);
    assert_false(tz_device_list_get_device(list, 1)->usable);
    assert_int_equal(tz_device_list_get_device(list, 1)->caps, 0);
    tz_device_list_free(list);
}

/* The GPU with most memory, whatever its number; and never a CPU. */
static void test_auto(void **state)
{
    (void)state;
    control->platforms = 2;
    control->gpus = 2;
    tz_device *device = open_fake("auto");
    assert_string_equal(tz_device_get_info(device)->id, "opencl:1");
    tz_device_close(device);
    control->gpus = 0;
    device = open_fake("auto");
    assert_string_equal(tz_device_get_info(device)->id, "cpu");
    assert_non_null(
        strstr(tz_device_get_info(device)->reason, "opencl: it has no GPU; cuda: libno-cuda.so.1"));
    tz_device_close(device);
}

/* An OpenCL device that is the CPU is slower than the CPU. */
static void test_auto_is_never_opencl_on_the_cpu(void **state)
{
    (void)state;
    tz_device *chosen = NULL;
    tz_error err;
    assert_int_equal(tz_device_open(&chosen, "auto", NULL, &err), TZ_OK);
    const tz_device_info *info = tz_device_get_info(chosen);
    if (info->type != TZ_DEVICE_TYPE_GPU) {
        assert_string_equal(info->id, "cpu");
        assert_true(info->reason[0] != '\0');
    }
    tz_device_close(chosen);
}

/* ---- nothing there ---- */

static void check_reason(const tz_device_options *how, const char *text)
{
    tz_device_list *list = NULL;
    tz_device *device = NULL;
    tz_error err;
    assert_int_equal(tz_device_list_create(&list, how, &err), TZ_OK);
    assert_non_null(tz_device_list_get_device(list, 0));
    assert_null(tz_device_list_get_device(list, 1));
    assert_string_equal(tz_device_list_get_device(list, 0)->id, "cpu");
    assert_null(tz_device_list_get_driver(list, 2));
    assert_string_equal(tz_device_list_get_driver(list, 0)->name, "cuda");
    assert_false(tz_device_list_get_driver(list, 0)->loaded);
    assert_non_null(strstr(tz_device_list_get_driver(list, 0)->reason, "libno-cuda.so.1"));
    assert_string_equal(tz_device_list_get_driver(list, 1)->name, "opencl");
    assert_non_null(strstr(tz_device_list_get_driver(list, 1)->reason, text));
    tz_device_list_free(list);
    check_open_fails("opencl:0", how, text);
    assert_int_equal(tz_device_open(&device, "auto", how, &err), TZ_OK);
    assert_string_equal(tz_device_get_info(device)->id, "cpu");
    assert_non_null(strstr(tz_device_get_info(device)->reason, text));
    tz_device_close(device);
}

static void test_nothing_there(void **state)
{
    (void)state;
    tz_device_options how = with_fake;
    library_set(&how, "opencl", "libnothing-of-the-kind.so.1");
    check_reason(&how, "libnothing-of-the-kind.so.1");
    library_set(&how, "opencl", OPENCL_FAKE_OLD);
    check_reason(&how, "clEnqueueMarkerWithWaitList");
    control->platforms = 0;
    check_reason(&with_fake, "no platform");
    control->platforms = 1;
    control->gpus = control->cpus = 0;
    check_reason(&with_fake, "no device");
}

static void test_odd_devices(void **state)
{
    (void)state;
    control->version = "OpenCL 1.1 old";
    check_open_fails("opencl:0", &with_fake, "older than OpenCL 1.2");
    control->version = "nonsense";
    check_open_fails("opencl:0", &with_fake, "older than OpenCL 1.2");
    opencl_fake_reset(control);
    control->unavailable = true;
    check_open_fails("opencl:0", &with_fake, "not available");
    opencl_fake_reset(control);
    control->no_compiler = true;
    check_open_fails("opencl:0", &with_fake, "no compiler");
    opencl_fake_reset(control);
    control->big_endian = true;
    check_open_fails("opencl:0", &with_fake, "big-endian");
    opencl_fake_reset(control);
    control->max_group = 63;
    check_open_fails("opencl:0", &with_fake, "smaller than 64");
    tz_device *device = open_fake("auto");
    assert_string_equal(tz_device_get_info(device)->id, "cpu");
    assert_non_null(strstr(tz_device_get_info(device)->reason, "smaller than 64"));
    tz_device_close(device);
    opencl_fake_reset(control);
    device = open_fake("opencl:0");
    assert_string_equal(tz_device_get_info(device)->name, "Fake? device?");
    assert_non_null(strstr(control->options, "-cl-std=CL1.2"));
    tz_device_close(device);
}

static void test_build_failure_shows_the_log(void **state)
{
    (void)state;
    control->fail_function = "clBuildProgram";
    control->fail_nth = 1;
    control->fail_code = -11;
    check_open_fails("opencl:0", &with_fake, "undeclared identifier 'nonsense'");
    tz_device *device = open_fake("opencl:0"); /* the next one compiles */
    tz_device_close(device);
    control->fail_function = "clBuildProgram";
    control->fail_nth = 1;
    device = open_fake("auto");
    assert_string_equal(tz_device_get_info(device)->id, "cpu");
    assert_non_null(strstr(tz_device_get_info(device)->reason, "CL_BUILD_PROGRAM_FAILURE"));
    tz_device_close(device);
}

/* ---- work ---- */

static void test_a_launch_is_no_longer_than_opencl_counts(void **state)
{
    (void)state;
    tz_error err;
    tz_device *device = open_fake("opencl:0");
    tz_device_memory *memory = NULL;
    assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_OK);
    const tz_argument arguments[] = {{.kind = TZ_ARGUMENT_MEMORY, .value.memory = memory},
                                     {.kind = TZ_ARGUMENT_U64}};
    tz_launch launch = {.kernel = TZ_KERNEL_UNPREDICT,
                        .work_groups = INT32_MAX,
                        .arguments = arguments,
                        .argument_count = 2};
    assert_int_equal(tz_device_launch(device, 0, &launch, &err), TZ_OK);
    launch.work_groups++;
    assert_int_equal(tz_device_launch(device, 0, &launch, &err), TZ_ERR_LIMIT);
    assert_int_equal(err.found, launch.work_groups);
    tz_device_memory_free(memory);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

static void test_codes_that_mean_no_memory(void **state)
{
    (void)state;
    static const int32_t codes[] = {-4, -5, -6, -61};
    tz_error err;
    tz_device *device = open_fake("opencl:0");
    tz_device_memory *memory = NULL;
    for (size_t i = 0; i < 4; i++) {
        control->fail_function = "clCreateBuffer";
        control->fail_nth = 1;
        control->fail_code = codes[i];
        assert_int_equal(tz_device_memory_alloc(&memory, device, 100, &err), TZ_ERR_NOMEM);
    }
    assert_null(memory);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

/* Work that went wrong after it was begun comes out of its event. */
static void test_an_event_reports_failed_work(void **state)
{
    (void)state;
    tz_error err;
    tz_device_event *event = NULL;
    bool happened = true;
    tz_device *device = open_fake("opencl:0");
    assert_int_equal(tz_device_record(device, 0, &event, &err), TZ_OK);
    control->event_status = 1; /* running */
    assert_int_equal(tz_device_query(event, &happened, &err), TZ_OK);
    assert_false(happened);
    control->event_status = -14;
    assert_int_equal(tz_device_query(event, &happened, &err), TZ_ERR_DEVICE);
    assert_int_equal(tz_device_sync(device, 0, &err), TZ_ERR_DEVICE);
    tz_device_free_event(event);
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
}

/* ---- the caller's ---- */

/* The wrapper's reference keeps a buffer that its owner released. */
static void test_a_wrapper_has_a_reference(void **state)
{
    (void)state;
    tz_error err;
    caller_device own;
    tz_device_memory *whole = NULL;
    uint8_t sent[300], got[300] = {0};
    char reason[256];
    tz_cl_api api;
    assert_true(tz_cl_load(&api, TZ_CL_LIBRARY, reason, sizeof reason));
    caller_begin(&own);
    void *buffer = caller_alloc(&own, sizeof sent);
    memset(sent, 77, sizeof sent);
    caller_copy_in(&own, buffer, sent, sizeof sent);
    assert_int_equal(tz_device_wrap(&whole, own.opened, buffer, 0, &err), TZ_OK);
    assert_int_equal(caller_references(&own, buffer), 1);
    assert_int_equal(api.ReleaseMemObject(buffer), 0);
    assert_int_equal(tz_device_copy_out(got, whole, 0, sizeof got, &err), TZ_OK);
    assert_memory_equal(got, sent, sizeof got);
    tz_device_memory_free(whole);
    caller_end(&own);
}

/* A context and a buffer of the fake's, as a caller would have made them. */
static tz_cl_context make_context(const tz_cl_api *api, uint32_t index)
{
    int32_t code;
    uint32_t count;
    tz_cl_platform platform;
    tz_cl_device devices[2];
    assert_int_equal(api->GetPlatformIDs(1, &platform, &count), 0);
    assert_int_equal(api->GetDeviceIDs(platform, UINT32_MAX, 2, devices, &count), 0);
    return api->CreateContext(NULL, 1, &devices[index], NULL, NULL, &code);
}

static void load_double(tz_cl_api *api)
{
    char reason[256];
    assert_true(tz_cl_load(api, fake_name, reason, sizeof reason));
}

static tz_result wrap_with_fake(const tz_cl_api *api, tz_cl_context context, tz_error *err)
{
    int32_t code;
    uint8_t byte = 7;
    tz_device *device = NULL;
    tz_device_memory *memory = NULL;
    tz_device_options how = with_fake;
    how.opencl_context = context;
    tz_cl_mem buffer = api->CreateBuffer(context, 0, 100, NULL, &code);
    if (!buffer) /* the caller's own trouble */
        return TZ_ERR_DEVICE;
    tz_result result = tz_device_open(&device, "opencl:0", &how, err);
    if (result == TZ_OK)
        result = tz_device_wrap(&memory, device, buffer, 0, err);
    if (result == TZ_OK)
        result = tz_device_copy_in(memory, 99, &byte, 1, err);
    if (result == TZ_OK)
        result = tz_device_copy_out(&byte, memory, 99, 1, err);
    if (device) {
        tz_error forgotten;
        tz_device_memory_free(memory);
        assert_int_equal(tz_device_close_checked(device, &forgotten), TZ_OK);
    }
    assert_int_equal(api->ReleaseMemObject(buffer), 0);
    return result;
}

static void refused(tz_result result, const tz_error *err, const char *text)
{
    assert_int_equal(result, TZ_ERR_ARG);
    if (!strstr(err->message, text))
        print_message("'%s' is not in '%s'\n", text, err->message);
    assert_non_null(strstr(err->message, text));
}

static void test_odd_handles(void **state)
{
    (void)state;
    tz_error err;
    tz_cl_api api;
    load_double(&api);
    tz_cl_context of_another_device = make_context(&api, 1);
    refused(wrap_with_fake(&api, of_another_device, &err), &err, "not in opencl_context");
    tz_cl_context context = make_context(&api, 0);
    control->memory_type = 0x10f1; /* CL_MEM_OBJECT_IMAGE2D */
    refused(wrap_with_fake(&api, context, &err), &err, "image");
    opencl_fake_reset(control);
    control->fail_function = "clGetMemObjectInfo";
    control->fail_nth = 1;
    control->fail_code = -38;
    refused(wrap_with_fake(&api, context, &err), &err, "not OpenCL memory");
    control->fail_function = "clGetContextInfo";
    control->fail_nth = 1;
    control->fail_code = -34;
    refused(wrap_with_fake(&api, context, &err), &err, "not a context of this loader");
    assert_int_equal(api.ReleaseContext(context), 0);
    assert_int_equal(api.ReleaseContext(of_another_device), 0);
    assert_int_equal(control->live, 0);
}

/* "auto" takes a GPU of the context, and no other. */
static void test_auto_in_a_context(void **state)
{
    (void)state;
    tz_error err;
    tz_cl_api api;
    tz_device *device = NULL;
    load_double(&api);
    tz_device_options how = with_fake;
    tz_cl_context context = make_context(&api, 0);
    how.opencl_context = context;
    assert_int_equal(tz_device_open(&device, "auto", &how, &err), TZ_OK);
    assert_string_equal(tz_device_get_info(device)->id, "opencl:0");
    assert_true(tz_device_get_context(device) == (void *)context);
    tz_device_close(device);
    assert_int_equal(api.ReleaseContext(context), 0);
    context = make_context(&api, 1);
    how.opencl_context = context;
    assert_int_equal(tz_device_open(&device, "auto", &how, &err), TZ_OK);
    assert_string_equal(tz_device_get_info(device)->id, "cpu");
    assert_non_null(strstr(tz_device_get_info(device)->reason, "opencl_context"));
    tz_device_close(device);
    assert_int_equal(api.ReleaseContext(context), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAULT(test_numbers),
        FAULT(test_work),
        FAULT(test_auto),
        FAULT(test_auto_is_never_opencl_on_the_cpu),
        FAULT(test_nothing_there),
        FAULT(test_odd_devices),
        FAULT(test_build_failure_shows_the_log),
        FAULT(test_a_launch_is_no_longer_than_opencl_counts),
        FAULT(test_codes_that_mean_no_memory),
        FAULT(test_an_event_reports_failed_work),
        FAULT(test_a_wrapper_has_a_reference),
        FAULT(test_odd_handles),
        FAULT(test_auto_in_a_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
