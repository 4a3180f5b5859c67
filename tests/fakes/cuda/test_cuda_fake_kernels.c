/* SPDX-License-Identifier: Apache-2.0
 * The fake of libcuda finds what it is there to find: modules, and kernels that do wrong. */
#include <stdio.h>
#include <string.h>

#include "cuda_calls.h"
#include "support/check.h"

enum { SIZE = 1000 };

/* Each thread copies one byte, from an address that is shift bytes further. */
#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"
#define COPY_BODY                                                                                  \
    ".visible .entry copy_bytes(\n"                                                                \
    "    .param .u64 to,\n"                                                                        \
    "    .param .u64 from,\n"                                                                      \
    "    .param .u32 count,\n"                                                                     \
    "    .param .u64 shift\n"                                                                      \
    ")\n"                                                                                          \
    ".maxntid 64, 1, 1\n"                                                                          \
    "{\n"                                                                                          \
    "    .reg .pred %p<2>;\n"                                                                      \
    "    .reg .b16 %rs<2>;\n"                                                                      \
    "    .reg .b32 %r<6>;\n"                                                                       \
    "    .reg .b64 %rd<10>;\n"                                                                     \
    "    ld.param.u64 %rd1, [to];\n"                                                               \
    "    ld.param.u64 %rd2, [from];\n"                                                             \
    "    ld.param.u32 %r1, [count];\n"                                                             \
    "    ld.param.u64 %rd3, [shift];\n"                                                            \
    "    mov.u32 %r2, %ctaid.x;\n"                                                                 \
    "    mov.u32 %r3, %ntid.x;\n"                                                                  \
    "    mov.u32 %r4, %tid.x;\n"                                                                   \
    "    mad.lo.s32 %r5, %r2, %r3, %r4;\n"                                                         \
    "    setp.ge.u32 %p1, %r5, %r1;\n"                                                             \
    "    @%p1 bra $done;\n"                                                                        \
    "    cvta.to.global.u64 %rd4, %rd1;\n"                                                         \
    "    cvta.to.global.u64 %rd5, %rd2;\n"                                                         \
    "    cvt.u64.u32 %rd6, %r5;\n"                                                                 \
    "    add.s64 %rd7, %rd4, %rd6;\n"                                                              \
    "    add.s64 %rd8, %rd5, %rd6;\n"                                                              \
    "    add.s64 %rd9, %rd8, %rd3;\n"                                                              \
    "    ld.global.u8 %rs1, [%rd9];\n"                                                             \
    "    st.global.u8 [%rd7], %rs1;\n"                                                             \
    "$done:\n"                                                                                     \
    "    ret;\n"                                                                                   \
    "}\n"

static cuda_fake_control *control;
static CUcontext context;
static CUstream first, second;
static CUmodule module;
static CUfunction copy_bytes;
static CUdeviceptr from, to; /* SIZE bytes each */
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
    assert_int_equal(cu.cuMemAlloc(&from, SIZE), 0);
    assert_int_equal(cu.cuMemAlloc(&to, SIZE), 0);
    assert_int_equal(cu.cuModuleLoadData(&module, HEAD COPY_BODY), 0);
    assert_int_equal(cu.cuModuleGetFunction(&copy_bytes, module, "copy_bytes"), 0);
    for (size_t i = 0; i < SIZE; i++)
        host[i] = (unsigned char)(i % 251);
    assert_int_equal(cu.cuMemcpyHtoD(from, host, SIZE), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    cu.cuMemFree(from);
    cu.cuMemFree(to);
    cu.cuModuleUnload(module);
    cu.cuStreamDestroy(first);
    cu.cuStreamDestroy(second);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRelease(0), 0);
    assert_int_equal(control->live, 0);
    return 0;
}

static CUresult launch(CUdeviceptr into, CUdeviceptr out_of, uint32_t count, uint64_t shift,
                       CUstream stream)
{
    void *params[] = {&into, &out_of, &count, &shift};
    const CUresult code =
        cu.cuLaunchKernel(copy_bytes, (count + 63) / 64, 1, 1, 64, 1, 1, 0, stream, params, NULL);
    into = out_of = count = 0; /* they were read */
    return code;
}

static void check_fault(const char *what, const char *why)
{
    if (!strstr(control->fault, what) || !strstr(control->fault, why))
        print_message("the fault is: %s\n", control->fault);
    assert_non_null(strstr(control->fault, what));
    assert_non_null(strstr(control->fault, why));
    assert_int_equal(cu.cuStreamSynchronize(second), 700);
}

/* ---- modules ---- */

static void test_modules(void **state)
{
    char log[200] = "";
    unsigned options[] = {5, 6};
    void *values[] = {log, (void *)sizeof log};
    CUmodule other = NULL;
    CUfunction function = NULL;
    (void)state;
    assert_int_equal(cu.cuModuleGetFunction(&function, module, "nothing"), 500);
    assert_int_equal(cu.cuModuleLoadData(&other, "\x7f"
                                                 "ELF"),
                     200);
    assert_int_equal(cu.cuModuleLoadDataEx(&other, HEAD "nonsense;\n", 2, options, values), 218);
    assert_string_not_equal(log, "");
    control->version = 12090;
    assert_int_equal(cu.cuModuleLoadData(&other, HEAD COPY_BODY), 222);
    control->version = 13000;
    control->minor = 0;
    assert_int_equal(cu.cuModuleLoadData(&other, HEAD COPY_BODY), 209);
    control->load_code = 802;
    assert_int_equal(cu.cuModuleLoadData(&other, HEAD COPY_BODY), 802);
}

static void test_functions(void **state)
{
    int number = 0;
    (void)state;
    assert_int_equal(cu.cuFuncGetAttribute(&number, 0, copy_bytes), 0);
    assert_int_equal(number, 64);
    assert_int_equal(cu.cuFuncGetAttribute(&number, 99, copy_bytes), 1);
    assert_int_equal(cu.cuFuncGetAttribute(&number, 8, copy_bytes), 0);
    assert_int_equal(number, 49152);
    assert_int_equal(cu.cuFuncSetAttribute(copy_bytes, 8, 65536), 0);
    assert_int_equal(cu.cuFuncSetAttribute(copy_bytes, 8, 65537), 1);
    assert_int_equal(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, copy_bytes, 64, 0), 0);
    assert_int_equal(number, 16);
}

static CUresult launch_sizes(unsigned grid, unsigned grid_y, unsigned block, unsigned shared)
{
    uint64_t value = 0;
    void *params[] = {&to, &from, &value, &value};
    return cu.cuLaunchKernel(copy_bytes, grid, grid_y, 1, block, 1, 1, shared, first, params, NULL);
}

static void test_sizes(void **state)
{
    (void)state;
    assert_int_equal(launch_sizes(0, 1, 64, 0), 1);
    assert_int_equal(launch_sizes(1, 1, 0, 0), 1);
    assert_int_equal(launch_sizes(1, 65536, 64, 0), 1);
    assert_int_equal(launch_sizes(0x80000000u, 1, 64, 0), 1);
    assert_int_equal(launch_sizes(1, 1, 1025, 0), 1);
    assert_int_equal(launch_sizes(1, 1, 65, 0), 701);
    assert_int_equal(launch_sizes(1, 1, 64, 49153), 1);
    assert_int_equal(cu.cuLaunchKernel(copy_bytes, 1, 1, 1, 1, 1, 1, 0, first, NULL, NULL), 1);
    assert_int_equal(cu.cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, first, NULL, NULL), 400);
    assert_int_equal(launch_sizes(1, 1, 64, 0), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
}

/* ---- kernels ---- */

static void test_right(void **state)
{
    (void)state;
    assert_int_equal(launch(to, from, SIZE, 0, first), 0);
    assert_int_equal(*(unsigned char *)cuda_fake_bytes(to, 1), 0xa5); /* not yet */
    assert_int_equal(cu.cuStreamSynchronize(first), 0);
    assert_string_equal(control->fault, "");
    assert_memory_equal(cuda_fake_bytes(to, SIZE), host, SIZE);
}

/* One byte past the end, which is in a page that is there. */
static void test_one_past(void **state)
{
    char address[24];
    (void)state;
    assert_int_equal(launch(to, from, SIZE, 1, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 700);
    snprintf(address, sizeof address, "%#llx", from + SIZE);
    check_fault("copy_bytes", address);
}

static void test_host_pointer(void **state)
{
    void *pinned = NULL;
    (void)state;
    assert_int_equal(cu.cuMemHostAlloc(&pinned, SIZE, 0), 0);
    assert_int_equal(launch(to, (uintptr_t)pinned, SIZE, 0, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 700);
    check_fault("copy_bytes", "in no memory of the device");
    assert_int_equal(cu.cuMemFreeHost(pinned), 700);
}

static void test_freed(void **state)
{
    (void)state;
    assert_int_equal(launch(to, from, SIZE, 0, first), 0);
    assert_int_equal(cu.cuMemFree(from), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 700);
    check_fault("copy_bytes", "freed");
}

static void test_other_context(void **state)
{
    CUcontext own = NULL;
    CUdeviceptr at = 0;
    (void)state;
    assert_int_equal(cu.cuCtxCreate(&own, 0, 0), 0);
    assert_int_equal(cu.cuMemAlloc(&at, SIZE), 0);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    assert_int_equal(launch(to, at, SIZE, 0, first), 0);
    assert_int_equal(cu.cuStreamSynchronize(first), 700);
    check_fault("copy_bytes", "memory of another context");
    assert_int_equal(cu.cuCtxPushCurrent(own), 0); /* which is whole */
    assert_int_equal(cu.cuMemFree(at), 0);
    assert_int_equal(cu.cuCtxDestroy(own), 0);
}

static void test_unordered(void **state)
{
    CUdeviceptr at = 0;
    (void)state;
    assert_int_equal(cu.cuMemAllocAsync(&at, SIZE, first), 0);
    assert_int_equal(launch(at, from, SIZE, 0, second), 0);
    assert_int_equal(cu.cuStreamSynchronize(second), 700);
    check_fault("copy_bytes", "not ordered after its allocation");
    assert_int_equal(cu.cuMemFreeAsync(at, first), 700);
}

static void test_unloaded(void **state)
{
    (void)state;
    assert_int_equal(launch(to, from, SIZE, 0, first), 0);
    assert_int_equal(cu.cuModuleUnload(module), 0);
    assert_int_equal(launch(to, from, SIZE, 0, first), 400);
    assert_int_equal(cu.cuStreamSynchronize(first), 700);
    check_fault("cuLaunchKernel", "unloaded");
}

int main(void)
{
    control = cuda_calls_load();
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_modules),   TEST(test_functions),    TEST(test_sizes), TEST(test_right),
        TEST(test_one_past),  TEST(test_host_pointer), TEST(test_freed), TEST(test_other_context),
        TEST(test_unordered), TEST(test_unloaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
