/* SPDX-License-Identifier: Apache-2.0
 * Memory of devices as users have it: copies, memory of the caller's, and contexts of the caller's.
 */
#include <string.h>

#include "device/device.h"
#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/device/caller_device.h"
#include "support/device/fault_device.h"
#include "support/device/test_device.h"

static caller_device own;

static int begin(void **state)
{
    (void)state;
    caller_begin(&own);
    return 0;
}

static int end(void **state)
{
    (void)state;
    caller_end(&own);
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
    assert_int_equal(tz_device_memory_alloc(&memory, own.opened, 1000, &err), TZ_OK);
    assert_int_equal(tz_device_memory_get_size(memory), 1000);
    assert_true(tz_device_memory_get_device(memory) == own.opened);
    assert_non_null(tz_device_memory_get_handle(memory));
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
    tz_device_memory_free(memory);
}

/* ---- the caller's ---- */

static void test_a_context_of_the_callers(void **state)
{
    (void)state;
    assert_ptr_equal(tz_device_get_context(own.opened), own.context);
    if (!test_device_is_cuda())
        assert_true(caller_references_of_context(&own) > 0);
}

static void test_wrapping(void **state)
{
    (void)state;
    tz_error err;
    uint8_t sent[300], got[300];
    tz_device_counts before, after;
    tz_device_memory *whole = NULL, *part = NULL;
    void *buffer = caller_alloc(&own, 300);
    fill(sent, sizeof sent, 2);
    tz_device_get_counts(own.opened, &before, NULL);
    assert_int_equal(tz_device_wrap(&whole, own.opened, buffer, 0, &err), TZ_OK);
    assert_int_equal(tz_device_wrap(&part, own.opened, buffer, 200, &err), TZ_OK);
    assert_int_equal(tz_device_memory_get_size(whole), 300);
    assert_int_equal(tz_device_memory_get_size(part), 200);
    assert_ptr_equal(tz_device_memory_get_handle(part), buffer);
    assert_int_equal(caller_references(&own, buffer), test_device_is_cuda() ? 0 : 2);
    assert_int_equal(tz_device_copy_in(whole, 0, sent, 300, &err), TZ_OK);
    memset(got, 0, sizeof got);
    assert_int_equal(tz_device_copy_out(got, part, 0, 200, &err), TZ_OK);
    assert_memory_equal(got, sent, 200);
    refused(tz_device_copy_out(got, part, 0, 201, &err), TZ_ERR_ARG, &err, "past the end");
    tz_device_get_counts(own.opened, &after, NULL);
    assert_int_equal(after.bytes_now, before.bytes_now); /* it is not ours */
    assert_int_equal(after.allocations, before.allocations);
    tz_device_memory_free(whole);
    tz_device_memory_free(part);
    tz_device_get_counts(own.opened, &after, NULL);
    assert_int_equal(after.bytes_now, before.bytes_now);

    /* the caller's memory is still there, and so are the bytes */
    assert_int_equal(caller_references(&own, buffer), 0);
    memset(got, 0, sizeof got);
    caller_copy_out(&own, got, buffer, 300);
    assert_memory_equal(got, sent, 300);
    caller_free(&own, buffer);
}

static void test_what_cannot_be_wrapped(void **state)
{
    (void)state;
    tz_error err;
    tz_device *cpu = NULL;
    tz_device_memory *none = NULL;
    void *buffer = caller_alloc(&own, 100);
    caller_foreign foreign = caller_foreign_begin(&own, 100);
    assert_int_equal(tz_device_open(&cpu, "cpu", NULL, &err), TZ_OK);
    assert_null(tz_device_get_context(cpu));
    refused(tz_device_wrap(&none, own.opened, NULL, 1, &err), TZ_ERR_ARG, &err, "NULL");
    refused(tz_device_wrap(&none, own.opened, buffer, 101, &err), TZ_ERR_ARG, &err, "fewer bytes");
    assert_int_equal(err.expected, 100);
    assert_int_equal(err.found, 101);
    refused(tz_device_wrap(&none, own.opened, foreign.memory, 0, &err), TZ_ERR_ARG, &err,
            "another context");
    refused(tz_device_wrap(&none, cpu, buffer, 0, &err), TZ_ERR_ARG, &err, "the CPU has no memory");
    assert_null(none);
    assert_int_equal(caller_references(&own, buffer), 0);
    assert_int_equal(tz_device_wrap(&none, own.opened, buffer, 0, &err), TZ_OK); /* it goes on */
    tz_device_memory_free(none);
    tz_device_close(cpu);
    caller_free(&own, buffer);
    caller_foreign_end(&own, &foreign);
}

/* The cap of options is about what the library takes. */
static void test_wrapped_memory_is_not_in_the_cap(void **state)
{
    (void)state;
    tz_error err;
    tz_device_memory *wrapped = NULL, *ours = NULL;
    tz_device_options how = own.options;
    how.max_device_bytes = 1000;
    tz_device *small = test_device_open(&how);
    void *buffer = caller_alloc(&own, 5000);
    assert_int_equal(tz_device_wrap(&wrapped, small, buffer, 0, &err), TZ_OK);
    assert_int_equal(tz_device_memory_alloc(&ours, small, 1000, &err), TZ_OK);
    tz_device_memory_free(wrapped);
    tz_device_memory_free(ours);
    assert_int_equal(tz_device_close_checked(small, &err), TZ_OK);
    caller_free(&own, buffer);
}

/* ---- failures, by the fake ---- */

/* Memory of the caller's, in a context of the caller's, on a device that may fail. */
static tz_result wrap_on(const caller_device *caller, tz_error *err)
{
    uint8_t byte = 7;
    tz_device *device = NULL;
    tz_device_memory *memory = NULL;
    void *buffer = caller_alloc(caller, 100);
    if (!buffer) /* the caller's own trouble */
        return TZ_ERR_DEVICE;
    tz_result result = tz_device_open(&device, fault_device_id(), &caller->options, err);
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
    caller_free(caller, buffer);
    return result;
}

static void test_each_call_fails_in_turn(void **state)
{
    (void)state;
    tz_error err;
    caller_device caller;
    uint64_t failures = 0;
    fault_load();
    const int64_t before = fault_live();
    assert_true(caller_begin_faulty(&caller));
    const int64_t live = fault_live();
    fault_count_anew();
    assert_int_equal(wrap_on(&caller, &err), TZ_OK);
    const uint64_t calls = fault_calls();
    for (uint64_t n = 1; n <= calls; n++) {
        fault_set(FAULT_ANY, n, FAULT_ONCE);
        failures += wrap_on(&caller, &err) != TZ_OK;
        assert_int_equal(fault_live(), live); /* the caller's context */
        fault_reset();
    }
    assert_true(failures > 10);
    assert_int_equal(wrap_on(&caller, &err), TZ_OK);
    caller_end_faulty(&caller);
    assert_int_equal(fault_live(), before);
}

static void test_each_allocation_fails_in_turn(void **state)
{
    (void)state;
    tz_error err;
    caller_device caller;
    fault_load();
    assert_true(caller_begin_faulty(&caller));
    const int64_t live = fault_live();
    for (uint64_t n = 1;; n++) {
        alloc_hook_install();
        alloc_hook_fail_at(n, false);
        const tz_result result = wrap_on(&caller, &err);
        const alloc_stats stats = alloc_hook_stats();
        alloc_hook_remove();
        assert_int_equal(stats.live_bytes, 0);
        assert_int_equal(fault_live(), live);
        assert_int_equal(result, stats.failures == 0 ? TZ_OK : TZ_ERR_NOMEM);
        if (result == TZ_OK)
            break;
    }
    caller_end_faulty(&caller);
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
    };
    return cmocka_run_group_tests(tests, begin, end);
}
