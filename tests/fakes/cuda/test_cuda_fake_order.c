/* SPDX-License-Identifier: Apache-2.0
 * The fake of libcuda finds what it is there to find: the order of work in streams. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cuda_calls.h"
#include "support/check.h"

enum { SIZE = 1000 };

static cuda_fake_control *control;
static CUcontext context;
static CUstream first, second; /* the second is the younger one */
static CUevent event;
static CUdeviceptr memory; /* SIZE bytes */
static unsigned char host[SIZE];

static int begin(void **state)
{
    (void)state;
    cuda_fake_reset(control);
    control->reversed = false;
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cu.cuCtxPushCurrent(context), 0);
    assert_int_equal(cu.cuStreamCreate(&first, 1), 0);
    assert_int_equal(cu.cuStreamCreate(&second, 1), 0);
    assert_int_equal(cu.cuEventCreate(&event, 2), 0);
    assert_int_equal(cu.cuMemAlloc(&memory, SIZE), 0);
    memset(host, 7, SIZE);
    return 0;
}

/* Nothing of a test lives on, in a broken context either. */
static int end(void **state)
{
    (void)state;
    cu.cuMemFree(memory);
    cu.cuEventDestroy(event);
    cu.cuStreamDestroy(first);
    cu.cuStreamDestroy(second);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRelease(0), 0);
    assert_int_equal(control->live, 0);
    assert_int_equal(control->bytes, 0);
    return 0;
}

static bool all_are(const void *bytes, size_t size, unsigned char value)
{
    for (size_t i = 0; i < size; i++) {
        if (((const unsigned char *)bytes)[i] != value)
            return false;
    }
    return true;
}

/* Returns the bytes of the memory, as the fake has it. */
static unsigned char *inside(void)
{
    return cuda_fake_bytes(memory, SIZE);
}

/* A context broke: this call, for that reason. */
static void check_fault(const char *call, const char *why)
{
    CUdeviceptr at = 0;
    if (!strstr(control->fault, call) || !strstr(control->fault, why))
        print_message("the fault is: %s\n", control->fault);
    assert_non_null(strstr(control->fault, call));
    assert_non_null(strstr(control->fault, why));
    assert_int_equal(cu.cuMemAlloc(&at, 1), 700);
}

/* ---- waiting ---- */

static void test_no_wait(void **state)
{
    (void)state;
    assert_int_equal(cu.cuMemsetD8Async(memory, 5, SIZE, first), 0);
    assert_int_equal(cu.cuMemcpyDtoHAsync(host, memory, SIZE, first), 0);
    assert_true(all_are(inside(), SIZE, 0xa5)); /* nothing is done yet */
    assert_true(all_are(host, SIZE, 0xdd));
    assert_int_equal(cu.cuStreamSynchronize(second), 0); /* the wrong one */
    assert_true(all_are(host, SIZE, 0xdd));
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_true(all_are(host, SIZE, 5));
}

static void test_queries(void **state)
{
    (void)state;
    assert_int_equal(cu.cuEventQuery(event), 0); /* never recorded */
    assert_int_equal(cu.cuEventSynchronize(event), 0);
    assert_int_equal(cu.cuStreamQuery(first), 0);
    assert_int_equal(cu.cuMemsetD8Async(memory, 5, SIZE, first), 0);
    assert_int_equal(cu.cuEventRecord(event, first), 0);
    assert_int_equal(cu.cuMemsetD8Async(memory, 6, SIZE, first), 0);
    assert_int_equal(cu.cuEventQuery(event), 600);
    assert_true(all_are(inside(), SIZE, 5));
    assert_int_equal(cu.cuEventQuery(event), 600);
    assert_int_equal(cu.cuEventQuery(event), 0);
    assert_true(all_are(inside(), SIZE, 5)); /* what comes later waits yet */
    assert_int_equal(cu.cuStreamQuery(first), 600);
    assert_int_equal(cu.cuStreamQuery(first), 0);
    assert_true(all_are(inside(), SIZE, 6));
}

static void test_uploads(void **state)
{
    void *pinned = NULL;
    (void)state;
    assert_int_equal(cu.cuMemHostAlloc(&pinned, SIZE, 1), 0);
    memset(pinned, 1, SIZE);
    assert_int_equal(cu.cuMemcpyHtoDAsync(memory, pinned, SIZE, first), 0);
    memset(pinned, 2, SIZE);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_true(all_are(inside(), SIZE, 2)); /* read when it was done */
    assert_int_equal(cu.cuMemcpyHtoDAsync(memory, host, SIZE, first), 0);
    memset(host, 8, SIZE);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_true(all_are(inside(), SIZE, 7)); /* read at the call */
    assert_int_equal(cu.cuMemFreeHost(pinned), 0);
}

/* ---- memory that is gone, or too small ---- */

static void test_freed(void **state)
{
    CUdeviceptr at = 0;
    char address[24];
    (void)state;
    assert_int_equal(cu.cuMemAlloc(&at, 100), 0);
    assert_int_equal(cu.cuMemcpyDtoHAsync(host, at, 100, first), 0);
    assert_int_equal(cu.cuMemFree(at), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 700);
    snprintf(address, sizeof address, "%#llx", at);
    check_fault("cuMemcpyDtoHAsync_v2", address);
    check_fault("cuMemcpyDtoHAsync_v2", "freed");
    assert_true(all_are(host, 100, 0xdd));
}

/* Work after a fault is not done. */
static void test_after_a_fault(void **state)
{
    CUdeviceptr at = 0;
    (void)state;
    assert_int_equal(cu.cuMemAlloc(&at, 100), 0);
    assert_int_equal(cu.cuMemsetD8Async(at, 5, 100, first), 0);
    assert_int_equal(cu.cuMemsetD8Async(memory, 5, SIZE, first), 0);
    assert_int_equal(cu.cuMemsetD8Async(memory, 6, SIZE, second), 0);
    assert_int_equal(cu.cuMemFree(at), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 700);
    assert_int_equal(cu.cuStreamSynchronize(second), 700);
    assert_true(all_are(inside(), SIZE, 0xa5));
    check_fault("cuMemsetD8Async", "freed");
    /* contexts are whole again, and what waited is forgotten */
    cuda_fake_reset(control);
    assert_int_equal(cu.cuMemsetD8Async(memory, 5, SIZE, second), 0);
    cuda_fake_reset(control);
    assert_int_equal(cu.cuStreamSynchronize(second), 0);
    assert_true(all_are(inside(), SIZE, 0xa5));
}

static void test_freed_pinned(void **state)
{
    void *pinned = NULL;
    (void)state;
    assert_int_equal(cu.cuMemHostAlloc(&pinned, 100, 1), 0);
    assert_int_equal(cu.cuMemcpyDtoHAsync(pinned, memory, 100, first), 0);
    assert_int_equal(cu.cuMemFreeHost(pinned), 0);
    assert_int_equal(cu.cuMemcpyHtoDAsync(memory, pinned, 100, first), 1);
    assert_int_equal(cu.cuStreamSynchronize(first), 700);
    check_fault("cuMemcpyDtoHAsync_v2", "pinned host memory was freed");
}

static void test_bounds(void **state)
{
    CUdeviceptr other = 0;
    void *pinned = NULL;
    (void)state;
    assert_int_equal(cu.cuMemAlloc(&other, 10), 0);
    assert_int_equal(cu.cuMemHostAlloc(&pinned, 10, 1), 0);
    assert_int_equal(cu.cuMemcpyHtoDAsync(memory + 1, host, SIZE, first), 1);
    assert_int_equal(cu.cuMemcpyDtoHAsync(host, memory - 1, 1, first), 1);
    assert_int_equal(cu.cuMemcpyDtoDAsync(memory, other, 11, first), 1);
    assert_int_equal(cu.cuMemcpyHtoDAsync(memory, pinned, 11, first), 1);
    assert_int_equal(cu.cuMemcpyHtoDAsync(memory, (void *)(uintptr_t)other, 10, first), 1);
    assert_int_equal(cu.cuMemcpyHtoDAsync(memory, NULL, 10, first), 1);
    assert_int_equal(cu.cuMemsetD32Async(memory + 2, 0, 1, first), 1);
    assert_int_equal(cu.cuMemcpyDtoHAsync(host, memory + SIZE, 0, first), 0); /* nothing */
    assert_true(all_are(host, SIZE, 7));
    assert_int_equal(cu.cuMemsetD32Async(memory + 4, 0x04030201, 2, first), 0);
    assert_int_equal(cu.cuMemcpyDtoDAsync(other, memory + 3, 10, first), 0);
    assert_int_equal(cu.cuMemcpyDtoHAsync(host, other, 10, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_memory_equal(host, "\xa5\1\2\3\4\1\2\3\4\xa5", 10);
    assert_int_equal(cu.cuMemFreeHost(pinned), 0);
    assert_int_equal(cu.cuMemFree(other), 0);
}

/* ---- events ---- */

static void test_events(void **state)
{
    (void)state;
    assert_int_equal(cu.cuStreamWaitEvent(second, event, 0), 0); /* never recorded: nothing */
    assert_int_equal(cu.cuMemsetD8Async(memory, 5, SIZE, first), 0);
    assert_int_equal(cu.cuEventRecord(event, first), 0);
    assert_int_equal(cu.cuStreamWaitEvent(second, event, 0), 0);
    assert_int_equal(cu.cuMemcpyDtoHAsync(host, memory, SIZE, second), 0);
    /* recorded again, and gone: the wait is for what was there by then */
    assert_int_equal(cu.cuMemsetD8Async(memory, 6, SIZE, first), 0);
    assert_int_equal(cu.cuEventRecord(event, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(second), 0);
    assert_true(all_are(host, SIZE, 5));
    assert_int_equal(cu.cuEventSynchronize(event), 0);
    assert_true(all_are(inside(), SIZE, 6));
}

/* Without an event, the second stream does not see what the first one does; reversed, it does. */
static void test_no_event(void **state)
{
    (void)state;
    for (int reversed = 0; reversed < 2; reversed++) {
        control->reversed = reversed != 0;
        assert_int_equal(cu.cuMemsetD8(memory, 1, SIZE), 0);
        assert_int_equal(cu.cuMemsetD8Async(memory, 5, SIZE, first), 0);
        assert_int_equal(cu.cuMemcpyDtoHAsync(host, memory, SIZE, second), 0);
        assert_int_equal(cu.cuStreamSynchronize(second), 0);
        assert_true(all_are(host, SIZE, reversed ? 5 : 1));
        assert_int_equal(cu.cuStreamSynchronize(first), 0);
    }
}

/* A stream that is destroyed ends its work first. */
static void test_destroyed_stream(void **state)
{
    CUstream third = NULL;
    (void)state;
    assert_int_equal(cu.cuStreamCreate(&third, 1), 0);
    assert_int_equal(cu.cuMemsetD8Async(memory, 5, SIZE, third), 0);
    assert_int_equal(cu.cuEventRecord(event, third), 0);
    assert_int_equal(cu.cuStreamDestroy(third), 0);
    assert_int_equal(cu.cuMemsetD8Async(memory, 5, SIZE, third), 400);
    assert_true(all_are(inside(), SIZE, 0xa5));
    assert_int_equal(cu.cuEventSynchronize(event), 0);
    assert_true(all_are(inside(), SIZE, 5));
}

/* The legacy stream waits for streams that are not NON_BLOCKING, and they for it. */
static void test_legacy_stream(void **state)
{
    CUstream blocking = NULL;
    (void)state;
    assert_int_equal(cu.cuStreamCreate(&blocking, 0), 0);
    assert_int_equal(cu.cuMemsetD8Async(memory, 5, 500, blocking), 0);
    assert_int_equal(cu.cuMemsetD8Async(memory + 500, 6, 500, first), 0);
    assert_int_equal(cu.cuMemcpyDtoH(host, memory, SIZE), 0);
    assert_true(all_are(host, 500, 5));
    assert_true(all_are(host + 500, 500, 0xa5));
    assert_int_equal(cu.cuMemsetD8Async(memory, 8, 500, NULL), 0);
    assert_int_equal(cu.cuMemcpyDtoHAsync(host, memory, 500, blocking), 0);
    assert_int_equal(cu.cuStreamSynchronize(blocking), 0);
    assert_true(all_are(host, 500, 8));
    /* the other default stream is one that blocks */
    assert_int_equal(cu.cuMemsetD8Async(memory, 9, 500, (CUstream)2), 0);
    assert_int_equal(cu.cuMemcpyDtoHAsync(host, memory, 500, NULL), 0);
    assert_int_equal(cu.cuStreamSynchronize((CUstream)1), 0);
    assert_true(all_are(host, 500, 9));
    assert_int_equal(cu.cuStreamDestroy((CUstream)2), 400);
    assert_int_equal(cu.cuStreamDestroy(blocking), 0);
}

/* ---- host functions ---- */

typedef struct seen {
    CUresult code;
    unsigned char byte;
} seen;

static void look(void *state)
{
    seen *out = state;
    out->code = cu.cuStreamSynchronize(first);
    out->byte = *inside();
}

static void test_host_function(void **state)
{
    seen out = {0, 0};
    (void)state;
    assert_int_equal(cu.cuMemsetD8Async(memory, 5, SIZE, first), 0);
    assert_int_equal(cu.cuLaunchHostFunc(first, look, &out), 0);
    assert_int_equal(cu.cuMemsetD8Async(memory, 6, SIZE, first), 0);
    assert_int_equal(out.code, 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_int_equal(out.code, 800);
    assert_int_equal(out.byte, 5);
}

/* ---- memory in the order of streams ---- */

static void test_pool(void **state)
{
    CUdeviceptr at = 0;
    (void)state;
    assert_int_equal(cu.cuMemAllocAsync(&at, SIZE, first), 0);
    assert_int_equal(cu.cuMemsetD8Async(at, 5, SIZE, first), 0);
    assert_int_equal(cu.cuEventRecord(event, first), 0);
    assert_int_equal(cu.cuStreamWaitEvent(second, event, 0), 0);
    assert_int_equal(cu.cuMemcpyDtoHAsync(host, at, SIZE, second), 0);
    assert_int_equal(cu.cuEventRecord(event, second), 0);
    assert_int_equal(cu.cuStreamWaitEvent(first, event, 0), 0);
    assert_int_equal(cu.cuMemFreeAsync(at, first), 0);
    assert_int_equal(cu.cuMemcpyDtoHAsync(host, at, SIZE, first), 1);
    assert_int_equal(control->bytes, 2 * SIZE);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_int_equal(control->bytes, SIZE);
    assert_true(all_are(host, SIZE, 5));
    assert_string_equal(control->fault, "");
    assert_int_equal(cu.cuMemFreeAsync(memory, first), 1); /* of no pool */
}

/* A wait of the host is an order too. */
static void test_pool_host_order(void **state)
{
    CUdeviceptr at = 0;
    (void)state;
    assert_int_equal(cu.cuMemAllocAsync(&at, SIZE, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_int_equal(cu.cuMemsetD8Async(at, 5, SIZE, second), 0);
    assert_int_equal(cu.cuStreamSynchronize(second), 0);
    assert_int_equal(cu.cuMemFreeAsync(at, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_string_equal(control->fault, "");
}

static void test_pool_unordered(void **state)
{
    CUdeviceptr at = 0;
    (void)state;
    assert_int_equal(cu.cuMemAllocAsync(&at, SIZE, first), 0);
    assert_int_equal(cu.cuMemsetD8Async(at, 5, SIZE, second), 0);
    /* too late for what is queued already */
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_int_equal(cu.cuStreamSynchronize(second), 700);
    check_fault("cuMemsetD8Async", "not ordered after its allocation");
    assert_int_equal(cu.cuMemFreeAsync(at, first), 700);
}

/* Freed in the first stream while the second may still use it: found whichever is done first. */
static void test_pool_freed_unordered(void **state)
{
    CUdeviceptr at = 0;
    (void)state;
    assert_int_equal(cu.cuMemAllocAsync(&at, SIZE, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_int_equal(cu.cuMemsetD8Async(at, 5, SIZE, second), 0);
    assert_int_equal(cu.cuMemFreeAsync(at, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(second), 700);
    check_fault("cuMemsetD8Async", "its cuMemFreeAsync is not ordered after this use");
}

static void test_pool_freed_later_unordered(void **state)
{
    CUdeviceptr at = 0;
    (void)state;
    control->reversed = true;
    assert_int_equal(cu.cuMemAllocAsync(&at, SIZE, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_int_equal(cu.cuMemsetD8Async(at, 5, SIZE, second), 0);
    assert_int_equal(cu.cuMemsetD8Async(memory, 5, SIZE, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 0); /* the second is done too, by luck */
    assert_int_equal(cu.cuMemFreeAsync(at, first), 0);
    check_fault("cuMemFreeAsync", "not ordered after all uses");
}

static void test_pool_room(void **state)
{
    const CUmemPoolProps props = {.allocType = 1, .location = {1, 0}};
    CUmemoryPool pool = NULL;
    CUdeviceptr at = 0, other = 0;
    uint64_t keep = UINT64_MAX, number = 0;
    size_t unused = 0, total = 0;
    (void)state;
    control->memory = 3 * SIZE;
    assert_int_equal(cu.cuMemPoolCreate(&pool, &props), 0);
    assert_int_equal(cu.cuMemPoolSetAttribute(pool, 4, &keep), 0);
    assert_int_equal(cu.cuMemAllocFromPoolAsync(&at, 2 * SIZE, pool, first), 0);
    assert_int_equal(cu.cuMemAllocFromPoolAsync(&other, 1, pool, first), 2);
    assert_int_equal(cu.cuMemFreeAsync(at, first), 0);
    /* it waits for what is being freed */
    assert_int_equal(cu.cuMemAllocFromPoolAsync(&at, SIZE, pool, first), 0);
    assert_int_equal(cu.cuMemFreeAsync(at, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    /* the pool keeps it, as its threshold says */
    assert_int_equal(cu.cuMemPoolGetAttribute(pool, 5, &number), 0);
    assert_int_equal(number, SIZE);
    assert_int_equal(cu.cuMemPoolGetAttribute(pool, 7, &number), 0);
    assert_int_equal(number, 0);
    assert_int_equal(cu.cuMemGetInfo(&unused, &total), 0);
    assert_int_equal(unused, SIZE);
    assert_int_equal(cu.cuMemPoolTrimTo(pool, 0), 0);
    assert_int_equal(cu.cuMemGetInfo(&unused, &total), 0);
    assert_int_equal(unused, 2 * SIZE);
    assert_int_equal(cu.cuMemPoolDestroy(pool), 0);
    assert_int_equal(cu.cuMemPoolDestroy(pool), 400);
    control->no_pools = true;
    assert_int_equal(cu.cuMemAllocAsync(&at, SIZE, first), 801);
}

/* ---- the timeline ---- */

static void check_steps(const char *const *expected, size_t count)
{
    assert_int_equal(control->step_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(control->steps[i].call, expected[i]);
        assert_int_equal(control->steps[i].sequence, i);
    }
}

/* Two streams that know nothing of each other. */
static void test_timeline(void **state)
{
    static const char *const forward[] = {
        "cuMemsetD8Async",  "cuMemcpyDtoHAsync_v2",  "cuMemsetD32Async",    "cuStreamSynchronize",
        "+cuMemsetD8Async", "+cuMemcpyDtoHAsync_v2", "cuStreamSynchronize", "+cuMemsetD32Async"};
    static const char *const backward[] = {"cuMemsetD8Async",       "cuMemcpyDtoHAsync_v2",
                                           "cuMemsetD32Async",      "cuStreamSynchronize",
                                           "+cuMemsetD32Async",     "+cuMemsetD8Async",
                                           "+cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"};
    (void)state;
    for (int reversed = 0; reversed < 2; reversed++) {
        cuda_fake_reset(control);
        control->reversed = reversed != 0;
        control->keep_steps = true;
        assert_int_equal(cu.cuMemsetD8Async(memory, 5, 10, first), 0);
        assert_int_equal(cu.cuMemcpyDtoHAsync(host, memory, SIZE, first), 0);
        assert_int_equal(cu.cuMemsetD32Async(memory, 5, 10, second), 0);
        assert_int_equal(cu.cuStreamSynchronize(first), 0);
        assert_int_equal(cu.cuStreamSynchronize(second), 0);
        control->keep_steps = false;
        check_steps(reversed ? backward : forward, 8);
        assert_int_equal(control->steps[1].bytes, SIZE);
        assert_int_equal(control->steps[1].stream, (uintptr_t)first);
        assert_int_equal(control->steps[2].stream, (uintptr_t)second);
        assert_int_not_equal(control->steps[0].thread, 0);
    }
}

/* ---- threads ---- */

static void *work_alone(void *state)
{
    unsigned char own[64];
    CUstream stream = NULL;
    CUdeviceptr at = 0;
    const unsigned char value = *(const unsigned char *)state;
    CUresult code = cu.cuCtxPushCurrent(context);
    code = code ? code : cu.cuStreamCreate(&stream, 1);
    for (int i = 0; i < 50 && code == 0; i++) {
        code = cu.cuMemAllocAsync(&at, sizeof own, stream);
        code = code ? code : cu.cuMemsetD8Async(at, value, sizeof own, stream);
        code = code ? code : cu.cuMemcpyDtoHAsync(own, at, sizeof own, stream);
        code = code ? code : cu.cuMemFreeAsync(at, stream);
        code = code ? code : cu.cuStreamSynchronize(stream);
        code = code ? code : all_are(own, sizeof own, value) ? 0 : 1;
    }
    cu.cuStreamDestroy(stream);
    cu.cuCtxPopCurrent(NULL);
    return code == 0 ? state : NULL;
}

static void test_threads(void **state)
{
    unsigned char values[] = {1, 2, 3, 4};
    pthread_t threads[4];
    void *good = NULL;
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_alone, &values[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &good);
        assert_ptr_equal(good, &values[i]);
    }
}

int main(void)
{
    control = cuda_calls_load();
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_no_wait),
        TEST(test_queries),
        TEST(test_uploads),
        TEST(test_freed),
        TEST(test_after_a_fault),
        TEST(test_freed_pinned),
        TEST(test_bounds),
        TEST(test_events),
        TEST(test_no_event),
        TEST(test_destroyed_stream),
        TEST(test_legacy_stream),
        TEST(test_host_function),
        TEST(test_pool),
        TEST(test_pool_host_order),
        TEST(test_pool_unordered),
        TEST(test_pool_freed_unordered),
        TEST(test_pool_freed_later_unordered),
        TEST(test_pool_room),
        TEST(test_timeline),
        TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
