/* SPDX-License-Identifier: Apache-2.0
 * A caller that has its own CUDA: tensors in its memory, and files that are read and written while
 * its own work on that memory is still under way. */
#include <string.h>
#include <terrazzo/dlpack.h>

#include "device/device.h"
#include "fakes/cuda/cuda_calls.h"
#include "support/check.h"
#include "support/device/library_text.h"
#include "support/plain_read.h"
#include "support/scoped_report.h"

enum { WIDE = 70, HIGH = 50, SAMPLES = WIDE * HIGH * 3, FRONT = 6 };

static cuda_fake_control *control;
static CUcontext context;
static CUstream stream;
static tz_device *device;

static int begin(void **state)
{
    tz_device_options how = TZ_DEVICE_OPTIONS_INIT;
    tz_error err = {0};
    (void)state;
    control = cuda_calls_load();
    cuda_fake_reset(control);
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cu.cuCtxPushCurrent(context), 0);
    assert_int_equal(cu.cuStreamCreate(&stream, 1), 0);
    library_set(&how, "cuda", CUDA_FAKE);
    how.cuda_stream = stream;
    const tz_result result = tz_device_open(&device, "cuda:0", &how, &err);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    return result != TZ_OK;
}

static int end(void **state)
{
    CUcontext now = NULL;
    tz_error err;
    (void)state;
    assert_int_equal(tz_device_close_checked(device, &err), TZ_OK);
    assert_int_equal(cu.cuCtxGetCurrent(&now), 0);
    assert_ptr_equal(now, context);
    assert_int_equal(cu.cuStreamDestroy(stream), 0);
    assert_int_equal(cu.cuCtxPopCurrent(NULL), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRelease(0), 0);
    assert_string_equal(control->fault, "");
    return control->live != 0;
}

#define CALLER(test) cmocka_unit_test_setup_teardown(test, begin, end)

static CUdeviceptr alloc(size_t size)
{
    CUdeviceptr made = 0;
    assert_int_equal(cu.cuMemAlloc(&made, size), 0);
    return made;
}

/* ---- tensors ---- */

static tz_dl_tensor tensor_at(CUdeviceptr address, int64_t *shape, int64_t *strides)
{
    return (tz_dl_tensor){.data = (void *)(uintptr_t)address,
                          .device = {TZ_DL_CUDA, 0},
                          .ndim = 2,
                          .dtype = {TZ_DL_UINT, 16, 1},
                          .shape = shape,
                          .strides = strides};
}

static void check_view(const tz_dl_tensor *t, CUdeviceptr first, int64_t row_stride)
{
    tz_error err;
    tz_buffer b = TZ_BUFFER_INIT;
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    how.device = device;
    assert_int_equal(tz_dlpack_tensor_to_buffer(&b, t, &how, &err), TZ_OK);
    assert_int_equal(b.memory, TZ_MEMORY_KIND_DEVICE);
    assert_int_equal((uint64_t)(uintptr_t)tz_device_memory_get_handle(b.data) + b.offset, first);
    assert_int_equal(b.row_stride, row_stride);
    tz_device_memory_free(b.data);
}

static void refused(const tz_dl_tensor *t, tz_device *on, const char *text)
{
    tz_error err;
    tz_buffer b = TZ_BUFFER_INIT;
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    how.device = on;
    assert_int_equal(tz_dlpack_tensor_to_buffer(&b, t, &how, &err), TZ_ERR_ARG);
    if (!strstr(err.message, text))
        print_message("'%s' is not in '%s'\n", text, err.message);
    assert_non_null(strstr(err.message, text));
    assert_null(b.data);
}

static void test_tensors_as_buffers(void **state)
{
    (void)state;
    int64_t shape[2] = {4, 7}, strides[2] = {-8, 1};
    const CUdeviceptr at = alloc(100);
    tz_dl_tensor t = tensor_at(at, shape, NULL);
    check_view(&t, at, 14);
    t.byte_offset = 44;
    check_view(&t, at + 44, 14);
    t.device.type = TZ_DL_CUDA_MANAGED;
    check_view(&t, at + 44, 14);
    t.byte_offset = 45; /* one byte too far */
    refused(&t, device, "fewer bytes");
    t = tensor_at(at + 48, shape, strides); /* from its last row up to the first */
    check_view(&t, at + 48, -16);
    t = tensor_at(at + 47, shape, strides);
    refused(&t, device, "not CUDA memory");
    t.byte_offset = UINT64_MAX - 3;
    refused(&t, device, "larger than memory");
    t = tensor_at(16, shape, strides);
    refused(&t, device, "larger than memory");
    t = tensor_at(at, shape, NULL);
    refused(&t, NULL, "the tensor is of CUDA; options->device says of which one");
    t.device.type = TZ_DL_OPENCL;
    refused(&t, device, "the tensor is of OpenCL, and options->device is cuda:0");
    assert_int_equal(cu.cuMemFree(at), 0);
    t.device.type = TZ_DL_CUDA;
    refused(&t, device, "not CUDA memory");
}

static void test_pinned_memory_is_the_hosts(void **state)
{
    (void)state;
    int64_t shape[2] = {4, 7};
    void *host = NULL;
    tz_error err;
    tz_buffer b = TZ_BUFFER_INIT;
    assert_int_equal(cu.cuMemHostAlloc(&host, 100, 0), 0);
    tz_dl_tensor t = tensor_at((CUdeviceptr)(uintptr_t)host, shape, NULL);
    t.device.type = TZ_DL_CUDA_HOST;
    t.byte_offset = 10;
    assert_int_equal(tz_dlpack_tensor_to_buffer(&b, &t, NULL, &err), TZ_OK);
    assert_ptr_equal(b.data, (char *)host + 10);
    assert_int_equal(b.memory, TZ_MEMORY_KIND_HOST);
    assert_int_equal(cu.cuMemFreeHost(host), 0);
}

static void test_buffers_as_tensors(void **state)
{
    (void)state;
    tz_error err;
    tz_dl_managed *managed = NULL;
    tz_buffer b = {.struct_size = sizeof(tz_buffer),
                   .dtype = TZ_DTYPE_UINT16,
                   .bands = 1,
                   .height = 2,
                   .width = 5,
                   .offset = 20};
    tz_device_memory *memory = NULL;
    assert_int_equal(tz_device_memory_alloc(&memory, device, 40, &err), TZ_OK);
    const CUdeviceptr at = (CUdeviceptr)(uintptr_t)tz_device_memory_get_handle(memory);
    plain_on_device(&b, memory);
    assert_int_equal(tz_dlpack_from_buffer(&managed, &b, NULL, &err), TZ_OK);
    assert_int_equal(managed->tensor.device.type, TZ_DL_CUDA);
    assert_int_equal(managed->tensor.device.id, 0);
    assert_int_equal(managed->tensor.byte_offset, 0); /* which many do not look at */
    assert_int_equal((CUdeviceptr)(uintptr_t)managed->tensor.data, at + 20);
    check_view(&managed->tensor, at + 20, 10);
    assert_int_equal(cu.cuMemsetD8(at, 3, 40), 0); /* it is plain memory */
    managed->deleter(managed);
    assert_int_equal(cu.cuMemsetD8(at, 3, 40), 1); /* and gone */
}

/* ---- files ---- */

static uint16_t sent[SAMPLES];

static void fill_sent(void)
{
    for (unsigned i = 0; i < SAMPLES; i++)
        sent[i] = (uint16_t)(i / 7 * 11 + i % 3);
}

static tz_buffer view_of(CUdeviceptr address)
{
    tz_error err;
    tz_buffer b = TZ_BUFFER_INIT;
    int64_t shape[3] = {HIGH, WIDE, 3};
    tz_dl_tensor t = tensor_at(address, shape, NULL);
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    t.ndim = 3;
    t.byte_offset = FRONT;
    how.axes = TZ_DL_AXES_BANDS_LAST;
    how.writable = true;
    how.device = device;
    assert_int_equal(tz_dlpack_tensor_to_buffer(&b, &t, &how, &err), TZ_OK);
    return b;
}

static tz_writer *create(tz_memory *file)
{
    tz_error err = {0};
    tz_writer *writer = NULL;
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    spec.width = WIDE, spec.height = HIGH, spec.bands = 3, spec.dtype = TZ_DTYPE_UINT16;
    how.device = device;
    how.tile_width = how.tile_height = 32;
    assert_int_equal(tz_create_memory(&writer, file, &spec, &how, &err), TZ_OK);
    return writer;
}

static void commit(tz_writer *writer)
{
    tz_error err = {0};
    SCOPED_WRITE_REPORT report = NULL;
    assert_int_equal(tz_commit(writer, &report, &err), TZ_OK);
    assert_string_equal(report->device->id, "cuda:0");
    assert_true(report->device->upload_bytes < SAMPLES); /* no pixels */
    tz_writer_close(writer);
}

/* Pixels are still on their way to the caller's memory when the rows are given. */
static tz_memory write_tensor(CUdeviceptr from)
{
    tz_error err = {0};
    tz_memory file = {0};
    const tz_buffer rows = view_of(from);
    tz_writer *writer = create(&file);
    assert_int_equal(cu.cuMemcpyHtoDAsync(from + FRONT, sent, sizeof sent, stream), 0);
    assert_int_equal(tz_write_rows(writer, &rows, NULL, &err), TZ_OK);
    commit(writer);
    tz_device_memory_free(rows.data);
    return file;
}

/* The caller's memory is still being cleared when pixels are to be read to it. */
static void read_tensor(const tz_memory *bytes, CUdeviceptr to, size_t size)
{
    tz_error err = {0};
    tz_file *file = NULL;
    plain_report report;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.device = device;
    assert_int_equal(tz_open_memory(&file, bytes->data, bytes->size, NULL, &err), TZ_OK);
    const plain_item item = {.file = file, .into = view_of(to)};
    assert_int_equal(cu.cuMemsetD8Async(to, 0xBB, size, stream), 0);
    assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
    assert_string_equal(report.device.id, "cuda:0");
    assert_true(report.device.download_bytes < SAMPLES);
    tz_device_memory_free(item.into.data);
    tz_close(file);
}

static void check_pixels(CUdeviceptr to)
{
    static uint8_t got[sizeof sent + 2 * FRONT];
    assert_int_equal(cu.cuStreamSynchronize(stream), 0);
    assert_int_equal(cu.cuMemcpyDtoH(got, to, sizeof got), 0);
    assert_memory_equal(got + FRONT, sent, sizeof sent);
    for (unsigned i = 0; i < FRONT; i++) /* nothing around it was touched */
        assert_true(got[i] == 0xBB && got[sizeof got - 1 - i] == 0xBB);
}

static void test_files_of_tensors(void **state)
{
    (void)state;
    fill_sent();
    for (int i = 0; i < 2; i++) {
        control->reversed = i != 0;
        const size_t size = sizeof sent + 2 * FRONT;
        const CUdeviceptr from = alloc(size), to = alloc(size);
        tz_memory file = write_tensor(from);
        read_tensor(&file, to, size);
        check_pixels(to);
        tz_memory_free(&file);
        assert_int_equal(cu.cuMemFree(from), 0);
        assert_int_equal(cu.cuMemFree(to), 0);
    }
}

/* A source that has begun to fill the device's memory when it returns. */
static tz_result give_rows(void *user, const tz_window *window, const tz_buffer *pixels,
                           const tz_buffer *mask, tz_error *err)
{
    (void)mask;
    (void)err;
    const CUdeviceptr at = (CUdeviceptr)(uintptr_t)tz_device_memory_get_handle(pixels->data);
    const size_t row = WIDE * 3 * sizeof *sent;
    ++*(int *)user;
    assert_int_equal(pixels->row_stride, row);
    assert_int_equal(cu.cuMemcpyHtoDAsync(at + pixels->offset, sent + window->row * WIDE * 3,
                                          window->height * row, stream),
                     0);
    return TZ_OK;
}

static void test_a_source_that_does_not_wait(void **state)
{
    (void)state;
    fill_sent();
    for (int i = 0; i < 2; i++) {
        int asked = 0;
        tz_memory file = {0};
        tz_error err = {0};
        const tz_row_source source = {
            .struct_size = sizeof source, .read = give_rows, .user = &asked, .on_device = true};
        control->reversed = i != 0;
        tz_writer *writer = create(&file);
        assert_int_equal(tz_write_from(writer, &source, &err), TZ_OK);
        commit(writer);
        assert_true(asked > 0);
        const CUdeviceptr to = alloc(sizeof sent + 2 * FRONT);
        read_tensor(&file, to, sizeof sent + 2 * FRONT);
        check_pixels(to);
        assert_int_equal(cu.cuMemFree(to), 0);
        tz_memory_free(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CALLER(test_tensors_as_buffers),          CALLER(test_pinned_memory_is_the_hosts),
        CALLER(test_buffers_as_tensors),          CALLER(test_files_of_tensors),
        CALLER(test_a_source_that_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
