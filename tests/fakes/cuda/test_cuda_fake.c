/* SPDX-License-Identifier: Apache-2.0
 * The fake of libcuda finds what it is there to find: memory and contexts. What ends a process is
 * done by a child: this program, called with the name of the deed. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_calls.h"
#include "support/check.h"

extern char **environ;

static cuda_fake_control *control;
static const char *self;
static CUcontext context;

static int begin(void **state)
{
    (void)state;
    cuda_fake_reset(control);
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cu.cuCtxPushCurrent(context), 0);
    return 0;
}

/* Nothing of a test lives on. */
static int end(void **state)
{
    (void)state;
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRelease(0), 0);
    assert_int_equal(control->live, 0);
    assert_int_equal(control->bytes, 0);
    return 0;
}

static CUdeviceptr alloc(size_t size)
{
    CUdeviceptr made = 0;
    assert_int_equal(cu.cuMemAlloc(&made, size), 0);
    return made;
}

/* ---- deeds ---- */

static void touch_device_memory(void)
{
    CUdeviceptr at = 0;
    cu.cuMemAlloc(&at, 100);
    *(volatile char *)(uintptr_t)at = 1;
}

static void touch_past_pinned_memory(void)
{
    void *host = NULL;
    cu.cuMemHostAlloc(&host, 256, 0);
    ((volatile char *)host)[256] = 1;
}

static void touch_freed_pinned_memory(void)
{
    void *host = NULL;
    cu.cuMemHostAlloc(&host, 256, 0);
    cu.cuMemFreeHost(host);
    *(volatile char *)host = 1;
}

static void follow_a_handle(void)
{
    *(volatile char *)(void *)context = 1;
}

static void call_an_old_function(void)
{
    void (*old)(void) = NULL;
    void *library = dlopen(CUDA_FAKE, RTLD_NOW | RTLD_LOCAL);
    void *address = dlsym(library, "cuMemAlloc");
    memcpy(&old, &address, sizeof address);
    old();
}

static const struct {
    const char *name;
    void (*deed)(void);
    int signal;
} deeds[] = {{"device", touch_device_memory, SIGSEGV},
             {"pinned", touch_past_pinned_memory, SIGSEGV},
             {"freed", touch_freed_pinned_memory, SIGSEGV},
             {"handle", follow_a_handle, SIGSEGV},
             {"old", call_an_old_function, SIGABRT}};

static int do_deed(const char *name)
{
    void *state = NULL;
    begin(&state);
    /* sanitizers would report it */
    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        if (strcmp(deeds[i].name, name) == 0)
            deeds[i].deed();
    }
    return 0;
}

static void test_deeds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        char *arguments[] = {(char *)(uintptr_t)self, (char *)(uintptr_t)deeds[i].name, NULL};
        pid_t child = 0;
        int status = 0;
        assert_int_equal(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != deeds[i].signal)
            print_message("%s: status %d\n", deeds[i].name, status);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), deeds[i].signal);
    }
}

/* ---- the library and its devices ---- */

static void test_init(void **state)
{
    int number = 0;
    char name[40];
    size_t bytes = 0;
    (void)state;
    assert_int_equal(cu.cuDriverGetVersion(&number), 0);
    assert_int_equal(number, 13000);
    control->init_code = 100;
    assert_int_equal(cu.cuInit(0), 100);
    control->init_code = 0;
    assert_int_equal(cu.cuInit(1), 1);
    control->devices = 0;
    assert_int_equal(cu.cuInit(0), 100);
    control->devices = 2;
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuDeviceGetCount(&number), 0);
    assert_int_equal(number, 2);
    assert_int_equal(cu.cuDeviceTotalMem(&bytes, 1), 0);
    assert_int_equal(bytes, (uint64_t)8 << 30);
    assert_int_equal(cu.cuDeviceTotalMem(&bytes, 2), 101);
    assert_int_equal(cu.cuDeviceGetName(name, sizeof name, 1), 0);
    assert_string_equal(name, "Fake of CUDA 1");
    assert_int_equal(cu.cuDeviceGetAttribute(&number, 75, 0), 0);
    assert_int_equal(number, 7);
    assert_int_equal(cu.cuDeviceGetAttribute(&number, 115, 0), 0);
    assert_int_equal(number, 1);
    assert_int_equal(cu.cuDeviceGetAttribute(&number, 1000, 0), 1);
}

/* In a child of fork nothing works, as it does not with the real one. */
static void test_fork(void **state)
{
    int status = 0;
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        CUdeviceptr at = 0;
        _exit(cu.cuMemAlloc(&at, 1) == 3 && cu.cuInit(0) == 3 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_proc_address(void **state)
{
    void *found = NULL;
    void *library = dlopen(CUDA_FAKE, RTLD_NOW | RTLD_LOCAL);
    unsigned status = 9;
    (void)state;
    assert_int_equal(cu.cuGetProcAddress("cuMemAlloc", &found, 12000, 0, &status), 0);
    assert_int_equal(status, 0);
    assert_ptr_equal(found, dlsym(library, "cuMemAlloc_v2"));
    assert_int_equal(cu.cuGetProcAddress("cuMemAllocAsync", &found, 11010, 0, &status), 500);
    assert_int_equal(status, 2);
    assert_int_equal(cu.cuGetProcAddress("cuNothing", &found, 12000, 0, &status), 500);
    assert_null(found);
}

/* The libraries that lack something. */
static void test_less(void **state)
{
    void *old = dlopen(CUDA_FAKE_OLD, RTLD_NOW | RTLD_LOCAL);
    void *broken = dlopen(CUDA_FAKE_BROKEN, RTLD_NOW | RTLD_LOCAL);
    (void)state;
    assert_non_null(old);
    assert_non_null(broken);
    assert_null(dlsym(old, "cuMemAllocAsync"));
    assert_non_null(dlsym(old, "cuLaunchKernel"));
    assert_null(dlsym(broken, "cuLaunchKernel"));
    assert_non_null(dlsym(broken, "cuMemAllocAsync"));
}

/* ---- contexts ---- */

static void *without_context(void *state)
{
    CUdeviceptr at = 0;
    *(CUresult *)state = cu.cuMemAlloc(&at, 100);
    return NULL;
}

static void test_contexts(void **state)
{
    CUcontext own = NULL, current = NULL;
    CUstream stream = NULL;
    CUevent event = NULL;
    CUdeviceptr at = alloc(100);
    CUresult code = 0;
    pthread_t thread;
    (void)state;
    /* which one is current, each thread says for itself */
    assert_int_equal(pthread_create(&thread, NULL, without_context, &code), 0);
    pthread_join(thread, NULL);
    assert_int_equal(code, 201);

    assert_int_equal(cu.cuStreamCreate(&stream, 1), 0);
    assert_int_equal(cu.cuEventCreate(&event, 2), 0);
    assert_int_equal(cu.cuCtxCreate(&own, 0, 0), 0);
    assert_int_equal(cu.cuCtxGetCurrent(&current), 0);
    assert_ptr_equal(current, own);
    /* things of another context */
    assert_int_equal(cu.cuStreamSynchronize(stream), 400);
    assert_int_equal(cu.cuStreamDestroy(stream), 400);
    assert_int_equal(cu.cuEventQuery(event), 400);
    assert_int_equal(cu.cuMemFree(at), 1);
    assert_int_equal(cu.cuMemsetD8(at, 0, 100), 1);
    assert_non_null(strstr(control->refusal, "another context"));
    assert_int_equal(cu.cuStreamGetCtx(stream, &current), 0);
    assert_ptr_equal(current, context);
    assert_int_equal(cu.cuCtxDestroy(own), 0);
    assert_int_equal(cu.cuCtxPushCurrent(own), 201);

    assert_int_equal(cu.cuStreamDestroy(stream), 0);
    assert_int_equal(cu.cuStreamDestroy(stream), 400);
    assert_int_equal(cu.cuEventDestroy(event), 0);
    assert_int_equal(cu.cuEventQuery(event), 400);
    assert_int_equal(cu.cuMemFree(at), 0);
}

/* A context that ends takes all with it; what was not released stays counted. */
static void test_end_of_context(void **state)
{
    CUcontext own = NULL;
    (void)state;
    assert_int_equal(cu.cuCtxCreate(&own, 0, 0), 0);
    const CUdeviceptr at = alloc(100);
    assert_int_equal(control->live, 3);
    assert_int_equal(cu.cuCtxDestroy(own), 0);
    assert_int_equal(control->live, 2);
    assert_null(cuda_fake_bytes(at, 1));
    control->live = 1;
    control->bytes = 0;
}

/* ---- memory ---- */

static void test_memory(void **state)
{
    CUdeviceptr first = 0;
    size_t size = 0, total = 0;
    (void)state;
    const CUdeviceptr at = alloc(1000);
    assert_int_equal(at % 256, 0);
    const unsigned char *bytes = cuda_fake_bytes(at, 1000);
    assert_non_null(bytes);
    assert_int_equal(bytes[0], 0xa5);
    assert_int_equal(bytes[999], 0xa5);
    assert_null(cuda_fake_bytes(at, 1001));
    assert_null(cuda_fake_bytes(at - 1, 1));
    assert_int_equal(cu.cuMemGetAddressRange(&first, &size, at + 999), 0);
    assert_int_equal(first, at);
    assert_int_equal(size, 1000);
    assert_int_equal(cu.cuMemGetAddressRange(&first, &size, at + 1000), 500);
    assert_int_equal(cu.cuMemGetInfo(&size, &total), 0);
    assert_int_equal(total, (uint64_t)4 << 30);
    assert_int_equal(size, total - 1000);
    assert_int_equal(cu.cuMemFree(at + 1), 1);
    assert_int_equal(cu.cuMemFree(at), 0);
    assert_int_equal(cu.cuMemFree(at), 1);
    assert_non_null(strstr(control->refusal, "freed"));
    assert_int_equal(cu.cuMemFree(0), 0);
    assert_int_equal(cu.cuMemAlloc(&first, 0), 1);
    assert_int_equal(control->peak_bytes, 1000);
}

/* Large allocations are fresh, too, from the first byte to the last. */
static void test_large(void **state)
{
    const size_t size = ((size_t)1 << 30) + 1;
    const CUdeviceptr at = alloc(size);
    (void)state;
    const unsigned char *bytes = cuda_fake_bytes(at, size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i += 4095)
        assert_true(bytes[i] == 0xa5);
    assert_int_equal(bytes[size - 1], 0xa5);
    assert_int_equal(cu.cuMemsetD8(at + 5, 1, 10), 0);
    assert_int_equal(bytes[4], 0xa5);
    assert_int_equal(bytes[5], 1);
    assert_int_equal(bytes[15], 0xa5);
    assert_int_equal(bytes[5 + (4 << 20)], 0xa5);
    assert_int_equal(cu.cuMemFree(at), 0);
}

static void test_no_room(void **state)
{
    CUdeviceptr more = 0;
    (void)state;
    control->memory = 1000;
    const CUdeviceptr at = alloc(900);
    assert_int_equal(cu.cuMemAlloc(&more, 101), 2);
    const CUdeviceptr rest = alloc(100);
    assert_int_equal(cu.cuMemFree(at), 0);
    assert_int_equal(cu.cuMemFree(rest), 0);
}

static void test_pointers(void **state)
{
    void *host = NULL;
    unsigned type = 9;
    int device = 9;
    CUcontext owner = NULL;
    CUdeviceptr first = 0;
    size_t size = 0;
    unsigned wanted[] = {2, 1, 9, 11, 12};
    void *out[] = {&type, &owner, &device, &first, &size};
    const CUdeviceptr at = alloc(1000);
    (void)state;
    assert_int_equal(cu.cuPointerGetAttributes(5, wanted, out, at + 10), 0);
    assert_int_equal(type, 2);
    assert_ptr_equal(owner, context);
    assert_int_equal(device, 0);
    assert_int_equal(first, at);
    assert_int_equal(size, 1000);
    assert_int_equal(cu.cuMemHostAlloc(&host, 10, 1), 0);
    assert_int_equal(cu.cuPointerGetAttribute(&type, 2, (uintptr_t)host), 0);
    assert_int_equal(type, 1);
    assert_int_equal(cu.cuMemFreeHost(host), 0);
    assert_int_equal(cu.cuMemFree(at), 0);
    assert_int_equal(cu.cuPointerGetAttribute(&type, 2, at), 1);
    assert_int_equal(cu.cuPointerGetAttributes(5, wanted, out, at), 0);
    assert_int_equal(type, 0);
    assert_null(owner);
}

static void test_pinned(void **state)
{
    char own[100];
    void *host = NULL;
    (void)state;
    assert_int_equal(cu.cuMemHostAlloc(&host, 0, 0), 1);
    assert_int_equal(cu.cuMemHostRegister(own, sizeof own, 0), 0);
    assert_int_equal(cu.cuMemHostRegister(own + 50, 10, 0), 712);
    assert_int_equal(cu.cuMemFreeHost(own), 1);
    assert_int_equal(cu.cuMemHostUnregister(own + 1), 713);
    assert_int_equal(cu.cuMemHostUnregister(own), 0);
    assert_int_equal(cu.cuMemHostUnregister(own), 713);
    assert_int_equal(cu.cuMemHostAlloc(&host, 100, 0), 0);
    assert_int_equal(((unsigned char *)host)[99], 0xa5);
    assert_int_equal(cu.cuMemHostUnregister(host), 713);
    assert_int_equal(cu.cuMemFreeHost(host), 0);
    assert_int_equal(cu.cuMemFreeHost(host), 1);
}

/* ---- faults that are put in ---- */

static void test_nth_fails(void **state)
{
    CUdeviceptr at = 0;
    CUstream stream = NULL;
    (void)state;
    control->fail_function = "cuMemAlloc_v2";
    control->fail_nth = 2;
    control->fail_code = 2;
    const CUdeviceptr first = alloc(10);
    assert_int_equal(cu.cuMemAlloc(&at, 10), 2);
    const CUdeviceptr third = alloc(10);
    const uint64_t calls = control->calls;
    control->fail_function = NULL;
    control->fail_nth = 1;
    assert_int_equal(cu.cuMemFree(first), 0); /* no release fails unless it is named */
    assert_int_equal(control->calls, calls);
    assert_int_equal(cu.cuStreamCreate(&stream, 0), 2);
    assert_int_equal(control->calls, calls + 1);
    assert_int_equal(cu.cuMemFree(third), 0);
}

static void test_sticky(void **state)
{
    CUdeviceptr more = 0;
    CUstream stream = NULL;
    const CUdeviceptr at = alloc(10);
    (void)state;
    assert_int_equal(cu.cuStreamCreate(&stream, 0), 0);
    control->fail_function = "cuStreamSynchronize";
    control->fail_nth = 1;
    control->fail_code = 719;
    assert_int_equal(cu.cuStreamSynchronize(stream), 719);
    assert_int_equal(cu.cuMemAlloc(&more, 10), 719);
    assert_int_equal(cu.cuStreamQuery(stream), 719);
    /* releases say so too, and are done */
    assert_int_equal(cu.cuMemFree(at), 719);
    assert_int_equal(cu.cuStreamDestroy(stream), 719);
    assert_int_equal(control->live, 1);
}

int main(int count, char **arguments)
{
    self = arguments[0];
    control = cuda_calls_load();
    if (count == 2)
        return do_deed(arguments[1]);
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_deeds),          TEST(test_init),     TEST(test_fork),
        TEST(test_proc_address),   TEST(test_less),     TEST(test_contexts),
        TEST(test_end_of_context), TEST(test_memory),   TEST(test_large),
        TEST(test_no_room),        TEST(test_pointers), TEST(test_pinned),
        TEST(test_nth_fails),      TEST(test_sticky),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
