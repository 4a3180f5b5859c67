/* SPDX-License-Identifier: Apache-2.0
 * cuFile as device/nvidia/cufile.h loads it, with its fake on that of libcuda: what users of it may
 * rely on, and what tests of them will find. */
#define _GNU_SOURCE /* O_DIRECT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/nvidia/cufile.h"
#include "device/nvidia/nvidia_libraries.h"
#include "fakes/cuda/cuda_calls.h"
#include "fakes/nvidia/nvidia_fake_load.h"
#include "support/check.h"
#include "support/scratch.h"

enum { SIZE = 40000 };

static cuda_fake_control *cuda;
static cufile_fake_control *control;
typedef struct loaded_cufile {
    tz_dynlib_info info;
    tz_cufile_api api;
} loaded_cufile;

static loaded_cufile cufile;
static CUcontext context;
static uint8_t bytes[SIZE];
static int fd;
static tz_cufile_handle file;
static CUdeviceptr memory;

static bool load_cufile(loaded_cufile *out, const char *library, char *reason, size_t reason_size)
{
    return tz_dynlib_load(&tz_nvidia_libraries[TZ_NVIDIA_CUFILE], library, &out->api, &out->info,
                          reason, reason_size);
}

static void load(void)
{
    char reason[256] = "";
    if (!load_cufile(&cufile, CUFILE_FAKE, reason, sizeof reason))
        fail_msg("%s", reason);
    control = cufile_fake_load(CUFILE_FAKE);
    assert_non_null(control);
}

static int32_t add_fd(int number, tz_cufile_handle *out)
{
    tz_cufile_descr descr;
    memset(&descr, 0, sizeof descr);
    descr.type = TZ_CUFILE_FD;
    descr.handle.fd = number;
    return cufile.api.HandleRegister(out, &descr).err;
}

static int32_t add(tz_cufile_handle *out)
{
    return add_fd(fd, out);
}

static int begin(void **state)
{
    (void)state;
    cuda_fake_reset(cuda);
    *control = (cufile_fake_control){CUFILE_FAKE_DEFAULTS};
    assert_int_equal(setenv("CUFILE_LOGFILE_PATH", "/dev/null", 1), 0);
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cu.cuCtxPushCurrent(context), 0);
    assert_int_equal(cu.cuMemAlloc(&memory, SIZE), 0);
    fd = open(scratch_path("file"), O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(cufile.api.DriverOpen().err, 0);
    assert_int_equal(add(&file), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    cufile.api.HandleDeregister(file);
    close(fd);
    assert_int_equal(cufile.api.DriverClose_v2().err, 0);
    (void)cu.cuMemFree(memory);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    (void)cu.cuDevicePrimaryCtxRelease(0);
    assert_int_equal(cuda->live, 0);
    assert_int_equal(control->opens + control->files + control->buffers + control->batches, 0);
    return 0;
}

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static ssize_t read_at(uint64_t base, size_t size, off_t from, off_t to)
{
    return cufile.api.Read(file, at(base), size, from, to);
}

static void holds(size_t where, size_t from, size_t size)
{
    assert_memory_equal(cuda_fake_bytes(memory + where, size), bytes + from, size);
}

/* ---- loading ---- */

static void test_loading(void **state)
{
    (void)state;
    loaded_cufile other;
    char reason[256];
    assert_int_equal(cufile.info.version[0], 1);
    assert_int_equal(cufile.info.version[1], 19);
    assert_string_equal(cufile.info.path, CUFILE_FAKE);
    assert_false(load_cufile(&other, CUDA_FAKE, reason, sizeof reason));
    assert_string_equal(reason, "it lacks cuFileGetVersion");
    assert_false(load_cufile(&other, "/nowhere/libcufile.so.0", reason, sizeof reason));
    assert_non_null(strstr(reason, "cannot open shared object file"));
    assert_string_equal(tz_cufile_error_name(5013), "CUDA_MEMORY_TYPE_INVALID");
    assert_string_equal(tz_cufile_error_name(0), "SUCCESS");
    assert_string_equal(tz_cufile_error_name(4999), "a code that is not known here");
}

static void test_properties(void **state)
{
    (void)state;
    tz_cufile_properties is;
    assert_int_equal(cufile.api.DriverGetProperties(&is).err, 0);
    assert_int_equal(is.nvfs.dstatusflags, 0);
    control->direct = true;
    assert_int_equal(cufile.api.DriverGetProperties(&is).err, 0);
    assert_int_not_equal(is.nvfs.dstatusflags, 0);
    assert_int_equal(is.max_batch_io_size, 128);
}

/* Without the mode of compatibility, which is a parameter before the driver opens, files must be
 * fit to be read directly. */
static void test_compatibility(void **state)
{
    (void)state;
    struct stat is;
    tz_cufile_handle other = NULL;
    const int plain = open(scratch_path("file"), O_RDONLY);
    assert_int_equal(fstat(plain, &is), 0);
    assert_int_equal(cufile.api.SetParameterBool(TZ_CUFILE_PARAM_ALLOW_COMPAT, false).err, 5026);
    control->unsupported = is.st_ino;
    assert_int_equal(add_fd(plain, &other), 0);
    cufile.api.HandleDeregister(other);
    control->compat = false;
    assert_int_equal(add_fd(plain, &other), 5008);
    control->unsupported = 0;
    const int direct = open(scratch_path("file"), O_RDONLY | O_DIRECT);
    assert_int_equal(add_fd(plain, &other), direct >= 0 ? 5020 : 0);
    if (direct >= 0)
        assert_int_equal(add_fd(direct, &other), 0);
    cufile.api.HandleDeregister(other);
    close(plain);
    close(direct);
}

/* ---- reads ---- */

static void test_reads(void **state)
{
    (void)state;
    assert_int_equal(read_at(memory, 10000, 77, 123), 10000);
    holds(123, 77, 10000);
    assert_int_equal(read_at(memory, 10000, SIZE - 100, 0), 100); /* the end of the file */
    control->short_read = 4096;
    assert_int_equal(read_at(memory, 10000, 0, 0), 4096);
    assert_int_equal(control->reads, 3);
    assert_int_equal(control->bytes, 10000 + 100 + 4096);
    /* an error is a negative number, or one of the system's */
    cuda->fail_function = "cuFileRead";
    cuda->fail_nth = 1;
    cuda->fail_code = 5008;
    assert_int_equal(read_at(memory, 10, 0, 0), -5008);
    cuda->fail_nth = 1;
    cuda->fail_code = EIO;
    errno = 0;
    assert_int_equal(read_at(memory, 10, 0, 0), -1);
    assert_int_equal(errno, EIO);
}

static void test_memory(void **state)
{
    (void)state;
    CUdeviceptr pooled;
    CUstream stream;
    assert_int_equal(cu.cuStreamCreate(&stream, 1), 0);
    assert_int_equal(cu.cuMemAllocAsync(&pooled, SIZE, stream), 0);
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    assert_int_equal(cufile.api.BufRegister(at(pooled), SIZE, 0).err, 5013);
    assert_int_equal(read_at(pooled, 10, 0, 0), -5013);
    assert_int_equal(cu.cuMemFreeAsync(pooled, stream), 0);
    assert_int_equal(cu.cuStreamDestroy(stream), 0);

    assert_int_equal(cufile.api.BufRegister(at(memory), SIZE + 1, 0).err, 5014);
    assert_int_equal(cufile.api.BufRegister(bytes, SIZE, 0).err, 5012);
    assert_int_equal(cufile.api.BufRegister(at(memory), SIZE, 0).err, 0);
    assert_int_equal(cufile.api.BufRegister(at(memory), SIZE, 0).err, 5023);
    assert_int_equal(read_at(memory, 100, 0, 50), 100);
    assert_int_equal(read_at(memory + 50, 100, 0, 0), -5022); /* not what was registered */
    assert_int_equal(read_at(memory, 100, 0, SIZE - 50), -5017);
    assert_int_equal(cufile.api.BufDeregister(at(memory + 1)).err, 5024);
    assert_int_equal(cufile.api.BufDeregister(at(memory)).err, 0);
    assert_int_equal(read_at(memory + 50, 100, 0, 0), 100);
    assert_int_equal(read_at(memory, 100, 0, SIZE - 50), -5014);
    assert_string_equal(control->misuse, "");
}

/* ---- batches ---- */

enum { READS = 5 };

static void submit(tz_cufile_batch *batch, uint64_t base)
{
    tz_cufile_io io[READS];
    memset(io, 0, sizeof io);
    for (size_t i = 0; i < READS; i++) {
        io[i].mode = TZ_CUFILE_MODE;
        io[i].u.batch.devPtr_base = at(base);
        io[i].u.batch.devPtr_offset = (off_t)(1000 * i);
        io[i].u.batch.file_offset = (off_t)(3000 * i);
        io[i].u.batch.size = 900;
        io[i].fh = file;
        io[i].opcode = TZ_CUFILE_READ;
        io[i].cookie = &bytes[i];
    }
    assert_int_equal(cufile.api.BatchIOSetUp(batch, READS).err, 0);
    assert_int_equal(cufile.api.BatchIOSubmit(*batch, READS, io, 0).err, 0);
    assert_int_equal(cufile.api.BatchIOSubmit(*batch, 1, io, 0).err, 5037);
    assert_int_equal(control->reads, 0); /* lazy */
}

/* All events; how many have each status is counted. */
static void collect(tz_cufile_batch batch, unsigned *complete, unsigned *failed,
                    unsigned *cancelled)
{
    *complete = *failed = *cancelled = 0;
    for (unsigned told = 0; told < READS;) {
        tz_cufile_event events[READS];
        unsigned count = READS - told;
        assert_int_equal(cufile.api.BatchIOGetStatus(batch, 1, &count, events, NULL).err, 0);
        assert_in_range(count, 1, READS - told);
        for (unsigned i = 0; i < count; i++) {
            const size_t which = (size_t)((uint8_t *)events[i].cookie - bytes);
            assert_in_range(which, 0, READS - 1);
            *complete += events[i].status == TZ_CUFILE_COMPLETE;
            *failed += events[i].status == TZ_CUFILE_FAILED;
            *cancelled += events[i].status == TZ_CUFILE_CANCELED;
            if (events[i].status == TZ_CUFILE_COMPLETE) {
                assert_int_equal(events[i].ret, 900);
                holds(1000 * which, 3000 * which, 900);
            }
        }
        told += count;
    }
    cufile.api.BatchIODestroy(batch);
}

static void test_batches(void **state)
{
    (void)state;
    tz_cufile_batch batch;
    unsigned complete, failed, cancelled;
    assert_int_equal(cufile.api.BatchIOSetUp(&batch, 129).err, 5022);
    submit(&batch, memory);
    collect(batch, &complete, &failed, &cancelled);
    assert_int_equal(complete, READS);
    control->reads = 0;
    control->fail_entry = 2;
    submit(&batch, memory);
    collect(batch, &complete, &failed, &cancelled);
    assert_int_equal(complete, READS - 1);
    assert_int_equal(failed, 1);
    control->reads = 0;
    submit(&batch, memory);
    assert_int_equal(cufile.api.BatchIOCancel(batch).err, 0);
    collect(batch, &complete, &failed, &cancelled);
    assert_int_equal(cancelled, READS);
    assert_string_equal(control->misuse, "");
}

/* ---- what must not be done ---- */

static void test_misuse(void **state)
{
    (void)state;
    tz_cufile_batch batch;
    unsigned complete, failed, cancelled;
    CUdeviceptr other;
    submit(&batch, memory);
    cufile.api.BatchIODestroy(batch);
    assert_string_equal(control->misuse, "a batch is destroyed with reads under way");

    *control->misuse = '\0';
    assert_int_equal(cu.cuMemAlloc(&other, SIZE), 0);
    submit(&batch, other);
    assert_int_equal(cu.cuMemFree(other), 0);
    collect(batch, &complete, &failed, &cancelled);
    assert_int_equal(failed, READS);
    assert_non_null(strstr(control->misuse, "that is gone"));

    *control->misuse = '\0';
    assert_int_equal(add(&file), 5028);
    close(fd);
    cufile.api.HandleDeregister(file);
    assert_non_null(strstr(control->misuse, "closed before it was deregistered"));
    fd = open(scratch_path("file"), O_RDONLY);
    assert_int_equal(add(&file), 0);
}

static int make_file(void **state)
{
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * i / 11);
    const int result = scratch_begin(state);
    scratch_write("file", bytes, SIZE);
    return result;
}

int main(void)
{
    cuda = cuda_calls_load();
    load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loading),
        cmocka_unit_test_setup_teardown(test_properties, begin, end),
        cmocka_unit_test_setup_teardown(test_compatibility, begin, end),
        cmocka_unit_test_setup_teardown(test_reads, begin, end),
        cmocka_unit_test_setup_teardown(test_memory, begin, end),
        cmocka_unit_test_setup_teardown(test_batches, begin, end),
        cmocka_unit_test_setup_teardown(test_misuse, begin, end),
    };
    return cmocka_run_group_tests(tests, make_file, scratch_end);
}
