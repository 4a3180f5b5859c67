/* SPDX-License-Identifier: Apache-2.0
 * Memory of devices as users have it: copies, memory of the caller's, and contexts of the caller's.
 */
#include <string.h>

#include "device/device.h"
#include "double/opencl_double.h"
#include "double/own_opencl.h"
#include "support/alloc_hook.h"
#include "support/check.h"

static own_opencl own;

static int begin(void **state)
{
    (void)state;
    own_opencl_begin(&own);
    return 0;
}

static int end(void **state)
{
    (void)state;
    own_opencl_end(&own);
    return 0;
}

static void fill(uint8_t *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 13 + i / 256 + seed);
}

static void refused(tz_result result, tz_result expected, const tz_error *err, const char *text)
{
    assert_int_equal(result, expected);
    if (!strstr(err->message, text))
        print_message("'%s' is not in '%s'\n", text, err->message);
    assert_non_null(strstr(err->message, text));
}

/* ---- copies ---- */

static void test_copies(void **state)
{
    (void)state;
    tz_error err;
    uint8_t sent[1000], got[1000] = {0};
    tz_device_counts before, after;
    tz_device_memory *memory = NULL;
    fill(sent, sizeof sent, 1);
    assert_int_equal(tz_device_alloc(own.opened, 1000, &memory, &err), TZ_OK);
    assert_int_equal(tz_device_memory_size(memory), 1000);
    assert_true(tz_device_of(memory) == own.opened);
    assert_non_null(tz_device_memory_handle(memory));
    tz_device_get_counts(own.opened, &before, NULL);
    assert_int_equal(tz_device_copy_in(memory, 0, sent, 500, &err), TZ_OK);
    assert_int_equal(tz_device_copy_in(memory, 500, sent + 500, 500, &err), TZ_OK);
    assert_int_equal(tz_device_copy_out(got + 1, memory, 1, 998, &err), TZ_OK);
    tz_device_get_counts(own.opened, &after, NULL);
    assert_int_equal(after.syncs - before.syncs, 3); /* each is done when it returns */
    assert_memory_equal(got + 1, sent + 1, 998);
    assert_true(got[0] == 0 && got[999] == 0);
    refused(tz_device_copy_in(memory, 999, sent, 2, &err), TZ_ERR_ARG, &err, "past the end");
    refused(tz_device_copy_out(got, memory, 1001, 0, &err), TZ_ERR_ARG, &err, "past the end");
    refused(tz_device_copy_out(got, memory, UINT64_MAX, 2, &err), TZ_ERR_ARG, &err, "past the end");
    tz_device_free(memory);
}

/* ---- the caller's ---- */

static void test_a_context_of_the_callers(void **state)
{
    (void)state;
    assert_true(tz_device_native_context(own.opened) == (void *)own.context);
    assert_true(own_opencl_context_references(&own) > 1);
}

static void test_wrapping(void **state)
{
    (void)state;
    tz_error err;
    uint8_t sent[300], got[300];
    tz_device_counts before, after;
    tz_device_memory *whole = NULL, *part = NULL;
    tz_cl_mem buffer = own_opencl_buffer(&own, 300);
    fill(sent, sizeof sent, 2);
    tz_device_get_counts(own.opened, &before, NULL);
    assert_int_equal(tz_device_wrap(own.opened, buffer, 0, &whole, &err), TZ_OK);
    assert_int_equal(tz_device_wrap(own.opened, buffer, 200, &part, &err), TZ_OK);
    assert_int_equal(tz_device_memory_size(whole), 300);
    assert_int_equal(tz_device_memory_size(part), 200);
    assert_true(tz_device_memory_handle(part) == (void *)buffer);
    assert_int_equal(own_opencl_references(&own, buffer), 3);
    assert_int_equal(tz_device_copy_in(whole, 0, sent, 300, &err), TZ_OK);
    memset(got, 0, sizeof got);
    assert_int_equal(tz_device_copy_out(got, part, 0, 200, &err), TZ_OK);
    assert_memory_equal(got, sent, 200);
    refused(tz_device_copy_out(got, part, 0, 201, &err), TZ_ERR_ARG, &err, "past the end");
    tz_device_get_counts(own.opened, &after, NULL);
    assert_int_equal(after.bytes_now, before.bytes_now); /* it is not ours */
    assert_int_equal(after.allocations, before.allocations);
    tz_device_free(whole);
    tz_device_free(part);
    tz_device_get_counts(own.opened, &after, NULL);
    assert_int_equal(after.bytes_now, before.bytes_now);

    /* the caller's reference is still there, and so are the bytes */
    assert_int_equal(own_opencl_references(&own, buffer), 1);
    assert_int_equal(tz_device_wrap(own.opened, buffer, 300, &whole, &err), TZ_OK);
    assert_int_equal(own.api.ReleaseMemObject(buffer), 0); /* the wrapper's keeps it */
    memset(got, 0, sizeof got);
    assert_int_equal(tz_device_copy_out(got, whole, 0, 300, &err), TZ_OK);
    assert_memory_equal(got, sent, 300);
    tz_device_free(whole);
}

static void test_what_cannot_be_wrapped(void **state)
{
    (void)state;
    tz_error err;
    int32_t code = 0;
    tz_device *cores = NULL;
    tz_device_memory *none = NULL;
    tz_cl_mem buffer = own_opencl_buffer(&own, 100);
    tz_cl_context other = own.api.CreateContext(NULL, 1, &own.device, NULL, NULL, &code);
    tz_cl_mem foreign =
        own.api.CreateBuffer(other, (uint64_t)TZ_CL_MEM_READ_WRITE, 100, NULL, &code);
    assert_int_equal(tz_device_open(&cores, "cpu", NULL, &err), TZ_OK);
    assert_null(tz_device_native_context(cores));
    refused(tz_device_wrap(own.opened, NULL, 1, &none, &err), TZ_ERR_ARG, &err, "NULL");
    refused(tz_device_wrap(own.opened, buffer, 101, &none, &err), TZ_ERR_ARG, &err, "fewer bytes");
    assert_int_equal(err.expected, 100);
    assert_int_equal(err.found, 101);
    refused(tz_device_wrap(own.opened, foreign, 0, &none, &err), TZ_ERR_ARG, &err,
            "another context");
    refused(tz_device_wrap(cores, buffer, 0, &none, &err), TZ_ERR_ARG, &err, "the cores");
    assert_null(none);
    assert_int_equal(own_opencl_references(&own, buffer), 1);
    assert_int_equal(tz_device_wrap(own.opened, buffer, 0, &none, &err), TZ_OK); /* it goes on */
    tz_device_free(none);
    tz_device_close(cores);
    assert_int_equal(own.api.ReleaseMemObject(buffer), 0);
    assert_int_equal(own.api.ReleaseMemObject(foreign), 0);
    assert_int_equal(own.api.ReleaseContext(other), 0);
}

/* The cap of options is about what the library takes. */
static void test_wrapped_memory_is_not_in_the_cap(void **state)
{
    (void)state;
    tz_error err;
    tz_device *small = NULL;
    tz_device_memory *wrapped = NULL, *ours = NULL;
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    how.memory_bytes = 1000;
    how.opencl_context = own.context;
    assert_int_equal(tz_device_open(&small, tz_device_get_info(own.opened)->id, &how, &err), TZ_OK);
    tz_cl_mem buffer = own_opencl_buffer(&own, 5000);
    assert_int_equal(tz_device_wrap(small, buffer, 0, &wrapped, &err), TZ_OK);
    assert_int_equal(tz_device_alloc(small, 1000, &ours, &err), TZ_OK);
    tz_device_free(wrapped);
    tz_device_free(ours);
    assert_int_equal(tz_device_close_checked(small, &err), TZ_OK);
    assert_int_equal(own.api.ReleaseMemObject(buffer), 0);
}

/* ---- failures, by the double ---- */

static double_control *control;
static const char *const double_name = OPENCL_DOUBLE;

/* A context and a buffer of the double's, as a caller would have made them. */
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
    control = opencl_double_load();
    assert_true(tz_cl_load(api, double_name, reason, sizeof reason));
}

static tz_result wrap_with_double(const tz_cl_api *api, tz_cl_context context, tz_error *err)
{
    int32_t code;
    uint8_t byte = 7;
    tz_device *device = NULL;
    tz_device_memory *memory = NULL;
    const tz_device_options how = {
        .struct_size = sizeof how, .opencl_library = double_name, .opencl_context = context};
    tz_cl_mem buffer = api->CreateBuffer(context, 0, 100, NULL, &code);
    if (!buffer) /* the caller's own trouble */
        return TZ_ERR_DEVICE;
    tz_result result = tz_device_open(&device, "opencl:0", &how, err);
    if (result == TZ_OK)
        result = tz_device_wrap(device, buffer, 0, &memory, err);
    if (result == TZ_OK)
        result = tz_device_copy_in(memory, 99, &byte, 1, err);
    if (result == TZ_OK)
        result = tz_device_copy_out(&byte, memory, 99, 1, err);
    if (device) {
        tz_error forgotten;
        tz_device_free(memory);
        assert_int_equal(tz_device_close_checked(device, &forgotten), TZ_OK);
    }
    assert_int_equal(api->ReleaseMemObject(buffer), 0);
    return result;
}

static void test_each_call_fails_in_turn(void **state)
{
    (void)state;
    tz_error err;
    tz_cl_api api;
    uint64_t failures = 0;
    load_double(&api);
    tz_cl_context context = make_context(&api, 0);
    const uint64_t before = control->calls;
    assert_int_equal(wrap_with_double(&api, context, &err), TZ_OK);
    const uint64_t calls = control->calls - before;
    for (uint64_t n = 1; n <= calls; n++) {
        opencl_double_reset(control);
        control->fail_nth = n;
        control->fail_code = -5;
        failures += wrap_with_double(&api, context, &err) != TZ_OK;
        assert_int_equal(control->live, 1); /* the caller's context */
    }
    assert_true(failures > 10);
    opencl_double_reset(control);
    assert_int_equal(wrap_with_double(&api, context, &err), TZ_OK);
    assert_int_equal(api.ReleaseContext(context), 0);
    assert_int_equal(control->live, 0);
}

static void test_each_allocation_fails_in_turn(void **state)
{
    (void)state;
    tz_error err;
    tz_cl_api api;
    load_double(&api);
    tz_cl_context context = make_context(&api, 0);
    for (uint64_t n = 1;; n++) {
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result = wrap_with_double(&api, context, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        assert_int_equal(control->live, 1);
        assert_int_equal(result, stats.failures == 0 ? TZ_OK : TZ_ERR_NOMEM);
        if (result == TZ_OK)
            break;
    }
    assert_int_equal(api.ReleaseContext(context), 0);
}

static void test_odd_handles(void **state)
{
    (void)state;
    tz_error err;
    tz_cl_api api;
    load_double(&api);
    tz_cl_context of_another_device = make_context(&api, 1);
    refused(wrap_with_double(&api, of_another_device, &err), TZ_ERR_ARG, &err,
            "not in opencl_context");
    tz_cl_context context = make_context(&api, 0);
    control->memory_type = 0x10f1; /* CL_MEM_OBJECT_IMAGE2D */
    refused(wrap_with_double(&api, context, &err), TZ_ERR_ARG, &err, "image");
    opencl_double_reset(control);
    control->fail_function = "clGetMemObjectInfo";
    control->fail_nth = 1;
    control->fail_code = -38;
    refused(wrap_with_double(&api, context, &err), TZ_ERR_ARG, &err, "no memory of OpenCL");
    control->fail_function = "clGetContextInfo";
    control->fail_nth = 1;
    control->fail_code = -34;
    refused(wrap_with_double(&api, context, &err), TZ_ERR_ARG, &err, "no context of this loader");
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
    tz_device_options how = {.struct_size = sizeof how, .opencl_library = double_name};
    tz_cl_context context = make_context(&api, 0);
    how.opencl_context = context;
    assert_int_equal(tz_device_open(&device, "auto", &how, &err), TZ_OK);
    assert_string_equal(tz_device_get_info(device)->id, "opencl:0");
    assert_true(tz_device_native_context(device) == (void *)context);
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
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_a_context_of_the_callers),
        cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_what_cannot_be_wrapped),
        cmocka_unit_test(test_wrapped_memory_is_not_in_the_cap),
        cmocka_unit_test(test_each_call_fails_in_turn),
        cmocka_unit_test(test_each_allocation_fails_in_turn),
        cmocka_unit_test(test_odd_handles),
        cmocka_unit_test(test_auto_in_a_context),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
