/* SPDX-License-Identifier: Apache-2.0
 * DLPack: the layout, tensors as buffers and buffers as tensors, pixel by pixel. */
#include <stddef.h>
#include <string.h>
#include <terrazzo/dlpack.h>

#include "support/alloc_hook.h"
#include "support/check.h"
#include "support/device/caller_device.h"
#include "support/device/test_device.h"
#include "support/plain_read.h"
#include "support/scoped_report.h"

/* ---- the layout, as the standard has it ---- */

_Static_assert(sizeof(tz_dl_device) == 8, "device");
_Static_assert(sizeof(tz_dl_dtype) == 4 && offsetof(tz_dl_dtype, bits) == 1 &&
                   offsetof(tz_dl_dtype, lanes) == 2,
               "dtype");
_Static_assert(sizeof(tz_dl_tensor) == 48 && offsetof(tz_dl_tensor, data) == 0 &&
                   offsetof(tz_dl_tensor, device) == 8 && offsetof(tz_dl_tensor, ndim) == 16 &&
                   offsetof(tz_dl_tensor, dtype) == 20 && offsetof(tz_dl_tensor, shape) == 24 &&
                   offsetof(tz_dl_tensor, strides) == 32 &&
                   offsetof(tz_dl_tensor, byte_offset) == 40,
               "tensor");
_Static_assert(sizeof(tz_dl_managed) == 80 && offsetof(tz_dl_managed, version) == 0 &&
                   offsetof(tz_dl_managed, manager_ctx) == 8 &&
                   offsetof(tz_dl_managed, deleter) == 16 && offsetof(tz_dl_managed, flags) == 24 &&
                   offsetof(tz_dl_managed, tensor) == 32,
               "versioned tensor");
_Static_assert(sizeof(tz_dl_managed_legacy) == 64 && offsetof(tz_dl_managed_legacy, tensor) == 0 &&
                   offsetof(tz_dl_managed_legacy, manager_ctx) == 48 &&
                   offsetof(tz_dl_managed_legacy, deleter) == 56,
               "legacy tensor");

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

/* Returns the DLPack device of a tensor in the test device's memory. */
static tz_dl_device dl_device(void)
{
    return (tz_dl_device){test_device_is_cuda() ? TZ_DL_CUDA : TZ_DL_OPENCL, 0};
}

/* ---- to a buffer ---- */

static uint8_t memory[4096];

static tz_dl_tensor tensor_of(int32_t ndim, int64_t *shape, int64_t *strides)
{
    return (tz_dl_tensor){.data = memory,
                          .device = {TZ_DL_CPU, 0},
                          .ndim = ndim,
                          .dtype = {TZ_DL_UINT, 16, 1},
                          .shape = shape,
                          .strides = strides};
}

/* Returns the address of element (i, j, k) of a tensor, as the standard defines it. */
static uint8_t *element(const tz_dl_tensor *t, const int64_t at[3])
{
    int64_t index = 0;
    for (int i = 0; i < t->ndim; i++) {
        int64_t stride = 1;
        for (int k = i + 1; k < t->ndim; k++)
            stride *= t->shape[k];
        index += at[i] * (t->strides ? t->strides[i] : stride);
    }
    return (uint8_t *)t->data + t->byte_offset + index * (t->dtype.bits * t->dtype.lanes / 8);
}

static uint8_t *sample(const tz_buffer *b, int64_t band, int64_t row, int64_t column)
{
    return (uint8_t *)b->data + b->offset + band * b->band_stride + row * b->row_stride +
           column * b->column_stride;
}

/* Every pixel of the buffer is the element of the tensor that it should be. */
static void check_same(const tz_dl_tensor *t, const tz_buffer *b, tz_dl_axes axes)
{
    for (int64_t band = 0; band < b->bands; band++) {
        for (int64_t row = 0; row < b->height; row++) {
            for (int64_t column = 0; column < b->width; column++) {
                const int64_t two[3] = {row, column, 0};
                const int64_t first[3] = {band, row, column};
                const int64_t last[3] = {row, column, band};
                const int64_t *at = t->ndim == 2                     ? two
                                    : axes == TZ_DL_AXES_BANDS_FIRST ? first
                                                                     : last;
                assert_ptr_equal(sample(b, band, row, column), element(t, at));
            }
        }
    }
}

static void check_view(const tz_dl_tensor *t, tz_dl_axes axes, uint32_t bands, uint32_t height,
                       uint32_t width)
{
    tz_error err = {0};
    tz_buffer b = TZ_BUFFER_INIT;
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    how.axes = axes;
    const tz_result result = tz_dlpack_tensor_to_buffer(&b, t, &how, &err);
    if (result != TZ_OK)
        print_message("%s\n", err.message);
    assert_int_equal(result, TZ_OK);
    assert_true(b.bands == bands && b.height == height && b.width == width);
    assert_int_equal(b.memory, TZ_MEMORY_KIND_HOST);
    assert_true(b.band_stride || b.row_stride || b.column_stride);
    check_same(t, &b, axes);
}

static void test_shapes_and_strides(void **state)
{
    (void)state;
    int64_t shape[3] = {2, 3, 5}, flat[2] = {4, 7};
    int64_t odd[3] = {40, 9, 1}, back[3] = {-20, 5, -1}, turned[3] = {1, 2, 6}, pair[2] = {-8, 1};
    int64_t still[3] = {0, 0, 1}, ones[3] = {1, 1, 1}, wild[3] = {INT64_MAX, INT64_MIN, 77};
    int64_t nothing[2] = {0, 0};
    tz_dl_tensor t = tensor_of(3, shape, NULL);
    check_view(&t, TZ_DL_AXES_BANDS_FIRST, 2, 3, 5);
    check_view(&t, TZ_DL_AXES_BANDS_LAST, 5, 2, 3);
    t.byte_offset = 6;
    t.strides = odd;
    check_view(&t, TZ_DL_AXES_BANDS_FIRST, 2, 3, 5);
    t.byte_offset = 1001; /* not even aligned */
    t.strides = back;
    check_view(&t, TZ_DL_AXES_BANDS_FIRST, 2, 3, 5);
    check_view(&t, TZ_DL_AXES_BANDS_LAST, 5, 2, 3);
    t.strides = turned;
    check_view(&t, TZ_DL_AXES_BANDS_LAST, 5, 2, 3);
    t.strides = still;
    check_view(&t, TZ_DL_AXES_BANDS_FIRST, 2, 3, 5);
    t = tensor_of(3, ones, wild); /* strides of one element mean nothing */
    check_view(&t, TZ_DL_AXES_BANDS_FIRST, 1, 1, 1);
    t = tensor_of(2, flat, NULL);
    check_view(&t, TZ_DL_AXES_BANDS_FIRST, 1, 4, 7);
    check_view(&t, TZ_DL_AXES_BANDS_LAST, 1, 4, 7);
    check_view(&t, TZ_DL_AXES_ONE_BAND, 1, 4, 7);
    t.strides = pair;
    t.byte_offset = 500;
    check_view(&t, TZ_DL_AXES_ONE_BAND, 1, 4, 7);
    t.strides = nothing; /* one value all over: a buffer of one band can say so */
    check_view(&t, TZ_DL_AXES_ONE_BAND, 1, 4, 7);
}

static void test_all_types(void **state)
{
    (void)state;
    static const struct {
        uint8_t code, bits;
        tz_dtype dtype;
    } known[] = {
        {0, 8, TZ_DTYPE_INT8},
        {0, 16, TZ_DTYPE_INT16},
        {0, 32, TZ_DTYPE_INT32},
        {0, 64, TZ_DTYPE_INT64},
        {1, 8, TZ_DTYPE_UINT8},
        {1, 16, TZ_DTYPE_UINT16},
        {1, 32, TZ_DTYPE_UINT32},
        {1, 64, TZ_DTYPE_UINT64},
        {2, 16, TZ_DTYPE_FLOAT16},
        {2, 32, TZ_DTYPE_FLOAT32},
        {2, 64, TZ_DTYPE_FLOAT64},
        {5, 32, TZ_DTYPE_COMPLEX_FLOAT16},
        {5, 64, TZ_DTYPE_COMPLEX_FLOAT32},
        {5, 128, TZ_DTYPE_COMPLEX_FLOAT64},
    };
    tz_error err;
    unsigned taken = 0;
    int64_t shape[2] = {2, 3};
    for (unsigned code = 0; code < 256; code++) {
        for (unsigned bits = 0; bits < 256; bits++) {
            tz_buffer b = TZ_BUFFER_INIT;
            tz_dl_tensor t = tensor_of(2, shape, NULL);
            t.dtype = (tz_dl_dtype){(uint8_t)code, (uint8_t)bits, 1};
            const tz_result result = tz_dlpack_tensor_to_buffer(&b, &t, NULL, &err);
            tz_dtype expected = TZ_DTYPE_NONE;
            for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
                if (known[i].code == code && known[i].bits == bits)
                    expected = known[i].dtype;
            }
            assert_int_equal(result, expected == TZ_DTYPE_NONE ? TZ_ERR_UNSUPPORTED : TZ_OK);
            if (result != TZ_OK)
                continue;
            taken++;
            assert_int_equal(b.dtype, expected);
            check_same(&t, &b, TZ_DL_AXES_ONE_BAND);
        }
    }
    assert_int_equal(taken, 14);
}

static void refused(const tz_dl_tensor *t, const tz_dlpack_options *how, tz_result expected,
                    const char *text)
{
    tz_error err = {0};
    tz_buffer b = {.struct_size = sizeof(tz_buffer), .width = 77};
    assert_int_equal(tz_dlpack_tensor_to_buffer(&b, t, how, &err), expected);
    if (!strstr(err.message, text))
        print_message("'%s' is not in '%s'\n", text, err.message);
    assert_non_null(strstr(err.message, text));
    assert_int_equal(b.width, 77);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    int64_t shape[3] = {2, 3, 5}, empty[3] = {2, 0, 5}, below[3] = {2, -1, 5};
    int64_t wide[3] = {2, 3, 1ll << 32}, huge[3] = {2, UINT32_MAX, UINT32_MAX};
    int64_t far[3] = {INT64_MAX, 5, 1}, zero[3] = {0, 0, 0}, still[3] = {0, 5, 1};
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    tz_dl_tensor t = tensor_of(3, shape, NULL);
    for (int32_t ndim = -1; ndim < 6; ndim++) {
        if (ndim == 2 || ndim == 3)
            continue;
        t.ndim = ndim;
        refused(&t, &how, TZ_ERR_UNSUPPORTED, "dimensions");
    }
    t = tensor_of(3, NULL, NULL);
    refused(&t, &how, TZ_ERR_ARG, "no shape");
    t = tensor_of(3, empty, NULL);
    refused(&t, &how, TZ_ERR_ARG, "dimension 1 of the tensor is 0");
    t = tensor_of(3, below, NULL);
    refused(&t, &how, TZ_ERR_ARG, "dimension 1 of the tensor is -1");
    t = tensor_of(3, wide, NULL);
    refused(&t, &how, TZ_ERR_ARG, "4294967296");
    t = tensor_of(3, huge, NULL);
    refused(&t, &how, TZ_ERR_ARG, "larger than memory");
    t = tensor_of(3, shape, far);
    refused(&t, &how, TZ_ERR_ARG, "larger than memory");
    t = tensor_of(3, shape, zero);
    refused(&t, &how, TZ_ERR_UNSUPPORTED, "one value");
    t = tensor_of(3, shape, still);
    how.writable = true;
    refused(&t, &how, TZ_ERR_ARG, "several pixels would be written to one place");
    how.writable = false;
    t = tensor_of(3, shape, NULL);
    how.axes = TZ_DL_AXES_ONE_BAND;
    refused(&t, &how, TZ_ERR_ARG, "3 dimensions");
    how.axes = (tz_dl_axes)3;
    refused(&t, &how, TZ_ERR_ARG, "tz_dl_axes");
    how.axes = TZ_DL_AXES_BANDS_FIRST;
    t.dtype.lanes = 4;
    refused(&t, &how, TZ_ERR_UNSUPPORTED, "lanes");
    t.dtype.lanes = 0;
    refused(&t, &how, TZ_ERR_UNSUPPORTED, "lanes");
    t = tensor_of(3, shape, NULL);
    t.data = NULL;
    refused(&t, &how, TZ_ERR_ARG, "no data");
    t = tensor_of(3, shape, NULL);
    for (int32_t type = -1; type < 20; type++) {
        t.device.type = type;
        if (type == TZ_DL_CUDA || type == TZ_DL_CUDA_MANAGED || type == TZ_DL_OPENCL)
            refused(&t, &how, TZ_ERR_ARG, "options->device says of which one");
        else if (type != TZ_DL_CPU && type != TZ_DL_CUDA_HOST)
            refused(&t, &how, TZ_ERR_UNSUPPORTED, "on a device of type");
    }
    how.struct_size = (size_t)1 << 20;
    refused(&t, &how, TZ_ERR_ARG, "struct_size");
    refused(NULL, NULL, TZ_ERR_ARG, "NULL");
}

static void test_versions_and_read_only(void **state)
{
    (void)state;
    tz_error err;
    tz_buffer b = TZ_BUFFER_INIT;
    int64_t shape[2] = {2, 3};
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    tz_dl_managed managed = {.version = {1, 99}, .flags = TZ_DL_READ_ONLY | TZ_DL_IS_COPY};
    managed.tensor = tensor_of(2, shape, NULL);
    assert_int_equal(tz_dlpack_to_buffer(&b, &managed, NULL, &err), TZ_OK);
    how.writable = true;
    assert_int_equal(tz_dlpack_to_buffer(&b, &managed, &how, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "read only"));
    managed.flags = TZ_DL_IS_COPY;
    assert_int_equal(tz_dlpack_to_buffer(&b, &managed, &how, &err), TZ_OK);
    assert_int_equal(tz_dlpack_tensor_to_buffer(&b, &managed.tensor, &how, &err), TZ_OK);
    for (uint32_t major = 0; major < 4; major += 2) {
        managed.version.major = major;
        assert_int_equal(tz_dlpack_to_buffer(&b, &managed, &how, &err), TZ_ERR_UNSUPPORTED);
        assert_int_equal(err.found, major);
    }
    assert_int_equal(tz_dlpack_to_buffer(&b, NULL, &how, &err), TZ_ERR_ARG);
    assert_int_equal(tz_dlpack_to_buffer(NULL, &managed, &how, NULL), TZ_ERR_ARG);
    b.struct_size = 0;
    managed.version.major = 1;
    assert_int_equal(tz_dlpack_to_buffer(&b, &managed, &how, &err), TZ_ERR_ARG);
    assert_non_null(strstr(err.message, "TZ_BUFFER_INIT"));
}

/* ---- from a buffer ---- */

static int released;

static void release(void *user)
{
    assert_ptr_equal(user, memory);
    released++;
}

/* A tensor of the buffer, and the buffer of that again: all pixels are where they were. */
static void round_trip(const tz_buffer *b, tz_dl_axes axes)
{
    tz_error err;
    tz_buffer again = TZ_BUFFER_INIT;
    tz_dl_managed *managed = NULL;
    tz_dl_managed_legacy *legacy = NULL;
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    how.axes = axes;
    how.release = release;
    how.user = memory;
    released = 0;
    assert_int_equal(tz_dlpack_from_buffer(&managed, b, &how, &err), TZ_OK);
    assert_true(managed->version.major == 1 && managed->version.minor == 0 && managed->flags == 0);
    assert_int_equal(managed->tensor.ndim, axes == TZ_DL_AXES_ONE_BAND ? 2 : 3);
    assert_true(managed->tensor.device.type == TZ_DL_CPU && managed->tensor.device.id == 0);
    assert_int_equal(tz_dlpack_to_buffer(&again, managed, &how, &err), TZ_OK);
    assert_int_equal(again.dtype, b->dtype);
    assert_true(again.bands == b->bands && again.height == b->height && again.width == b->width);
    check_same(&managed->tensor, &again, axes);
    for (int64_t band = 0; band < b->bands && b->row_stride; band++)
        for (int64_t row = 0; row < b->height; row++)
            assert_ptr_equal(sample(&again, band, row, b->width - 1),
                             sample(b, band, row, b->width - 1));
    assert_int_equal(tz_dlpack_legacy_from_buffer(&legacy, b, &how, &err), TZ_OK);
    assert_memory_equal(legacy->tensor.shape, managed->tensor.shape,
                        (size_t)managed->tensor.ndim * sizeof(int64_t));
    assert_memory_equal(legacy->tensor.strides, managed->tensor.strides,
                        (size_t)managed->tensor.ndim * sizeof(int64_t));
    assert_ptr_equal(legacy->tensor.data, (uint8_t *)b->data + b->offset);
    assert_int_equal(released, 0);
    managed->deleter(managed);
    assert_int_equal(released, 1);
    legacy->deleter(legacy);
    assert_int_equal(released, 2);
}

static void test_round_trips(void **state)
{
    (void)state;
    for (int dtype = TZ_DTYPE_UINT8; dtype <= TZ_DTYPE_COMPLEX_FLOAT64; dtype++) {
        if (dtype == TZ_DTYPE_COMPLEX_INT16 || dtype == TZ_DTYPE_COMPLEX_INT32)
            continue;
        const int64_t size = (int64_t)tz_dtype_size((tz_dtype)dtype);
        tz_buffer b = {.struct_size = sizeof(tz_buffer),
                       .data = memory + 2048,
                       .dtype = (tz_dtype)dtype,
                       .bands = 2,
                       .height = 3,
                       .width = 5};
        round_trip(&b, TZ_DL_AXES_BANDS_FIRST); /* packed */
        round_trip(&b, TZ_DL_AXES_BANDS_LAST);
        b.band_stride = size;
        b.row_stride = -11 * size;
        b.column_stride = 2 * size;
        round_trip(&b, TZ_DL_AXES_BANDS_FIRST);
        round_trip(&b, TZ_DL_AXES_BANDS_LAST);
        b.bands = 1;
        round_trip(&b, TZ_DL_AXES_ONE_BAND);
        round_trip(&b, TZ_DL_AXES_BANDS_LAST);
        b.offset = (uint64_t)(7 * size);
        round_trip(&b, TZ_DL_AXES_ONE_BAND);
    }
}

static void cannot(const tz_buffer *b, const tz_dlpack_options *how, tz_result expected,
                   const char *text)
{
    tz_error err = {0};
    tz_dl_managed *managed = NULL;
    assert_int_equal(tz_dlpack_from_buffer(&managed, b, how, &err), expected);
    if (!strstr(err.message, text))
        print_message("'%s' is not in '%s'\n", text, err.message);
    assert_non_null(strstr(err.message, text));
    assert_null(managed);
}

static void test_errors_that_cannot_be_reported(void **state)
{
    (void)state;
    tz_error err;
    tz_dl_managed *managed = NULL;
    tz_dl_managed_legacy *legacy = NULL;
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    const tz_buffer good = {.struct_size = sizeof(tz_buffer),
                            .data = memory,
                            .dtype = TZ_DTYPE_UINT16,
                            .bands = 2,
                            .height = 3,
                            .width = 5};
    tz_buffer b = good;
    how.release = release;
    how.user = memory;
    released = 0;
    b.dtype = TZ_DTYPE_COMPLEX_INT16;
    cannot(&b, &how, TZ_ERR_UNSUPPORTED, "DLPack has no complex_int16");
    b.dtype = TZ_DTYPE_NONE;
    cannot(&b, &how, TZ_ERR_ARG, "no dtype");
    b = good;
    b.data = NULL;
    cannot(&b, &how, TZ_ERR_ARG, "no memory");
    b = good;
    b.memory = TZ_MEMORY_KIND_CUDA;
    cannot(&b, &how, TZ_ERR_UNSUPPORTED, "TZ_MEMORY_KIND_DEVICE");
    b = good;
    b.struct_size = 0;
    cannot(&b, &how, TZ_ERR_ARG, "struct_size");
    b = good;
    b.height = 0;
    cannot(&b, &how, TZ_ERR_ARG, "empty");
    b = good;
    b.row_stride = 21;
    b.column_stride = 2;
    cannot(&b, &how, TZ_ERR_UNSUPPORTED, "a stride of 21 bytes");
    b = good;
    b.height = b.width = UINT32_MAX;
    cannot(&b, &how, TZ_ERR_ARG, "larger than memory");
    how.axes = TZ_DL_AXES_ONE_BAND;
    cannot(&good, &how, TZ_ERR_ARG, "several bands");
    how.axes = TZ_DL_AXES_BANDS_FIRST;
    cannot(NULL, &how, TZ_ERR_ARG, "NULL");
    how.read_only = true;
    assert_int_equal(tz_dlpack_legacy_from_buffer(&legacy, &good, &how, &err), TZ_ERR_UNSUPPORTED);
    assert_null(legacy);
    assert_int_equal(tz_dlpack_from_buffer(&managed, &good, &how, &err), TZ_OK);
    assert_int_equal(managed->flags, TZ_DL_READ_ONLY);
    assert_int_equal(released, 0); /* what fails releases nothing */
    managed->deleter(managed);
    assert_int_equal(released, 1);
}

static void test_no_memory(void **state)
{
    (void)state;
    tz_error err;
    tz_dl_managed *managed = NULL;
    tz_dl_managed_legacy *legacy = NULL;
    const tz_buffer b = {.struct_size = sizeof(tz_buffer),
                         .data = memory,
                         .dtype = TZ_DTYPE_UINT8,
                         .bands = 1,
                         .height = 1,
                         .width = 1};
    alloc_hook_install();
    alloc_hook_fail_at(1, true);
    assert_int_equal(tz_dlpack_from_buffer(&managed, &b, NULL, &err), TZ_ERR_NOMEM);
    assert_int_equal(tz_dlpack_legacy_from_buffer(&legacy, &b, NULL, &err), TZ_ERR_NOMEM);
    alloc_hook_remove();
    assert_null(managed);
    assert_null(legacy);
    assert_int_equal(tz_dlpack_from_buffer(&managed, &b, NULL, &err), TZ_OK);
    managed->deleter(managed); /* host memory is nobody's to release */
}

/* ---- on a device ---- */

static void test_memory_of_the_callers_as_a_buffer(void **state)
{
    (void)state;
    tz_error err;
    tz_buffer b = TZ_BUFFER_INIT;
    int64_t shape[2] = {4, 7}, strides[2] = {-8, 1};
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    const char *beyond = test_device_is_cuda() ? "" : "beyond the 100 bytes";
    void *buffer = caller_alloc(&own, 100);
    tz_dl_tensor t = tensor_of(2, shape, NULL);
    t.data = buffer;
    t.device = dl_device();
    how.device = own.opened;
    t.byte_offset = 44;
    assert_int_equal(tz_dlpack_tensor_to_buffer(&b, &t, &how, &err), TZ_OK);
    assert_int_equal(b.memory, TZ_MEMORY_KIND_DEVICE);
    assert_true(b.row_stride == 14 && b.column_stride == 2);
    /* an address is where the pixels are, a cl_mem what they are in */
    assert_int_equal(b.offset, test_device_is_cuda() ? 0 : 44);
    assert_ptr_equal(tz_device_memory_get_handle(b.data),
                     (char *)buffer + (test_device_is_cuda() ? 44 : 0));
    tz_device_memory_free(b.data);
    t.byte_offset = 45; /* one byte too far */
    refused(&t, &how, TZ_ERR_ARG, beyond);
    t.strides = strides;
    t.byte_offset = 48;
    assert_int_equal(tz_dlpack_tensor_to_buffer(&b, &t, &how, &err), TZ_OK);
    tz_device_memory_free(b.data);
    t.byte_offset = 47; /* its last row begins before the first byte */
    refused(&t, &how, TZ_ERR_ARG, beyond);
    t.byte_offset = UINT64_MAX;
    refused(&t, &how, TZ_ERR_ARG, beyond);
    caller_free(&own, buffer); /* nobody has a hold of it */
}

static void test_device_memory_as_a_tensor(void **state)
{
    (void)state;
    tz_error err;
    tz_dl_managed *managed = NULL;
    tz_buffer again = TZ_BUFFER_INIT;
    uint16_t sent[20], got[10] = {0};
    tz_buffer b = {.struct_size = sizeof(tz_buffer),
                   .dtype = TZ_DTYPE_UINT16,
                   .bands = 1,
                   .height = 2,
                   .width = 5,
                   .offset = sizeof sent / 2};
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    for (uint16_t i = 0; i < 20; i++)
        sent[i] = (uint16_t)(i * 257);
    tz_device_memory *device_memory = NULL;
    assert_int_equal(tz_device_memory_alloc(&device_memory, own.opened, sizeof sent, &err), TZ_OK);
    assert_int_equal(tz_device_copy_in(device_memory, 0, sent, sizeof sent, &err), TZ_OK);
    plain_on_device(&b, device_memory);
    assert_int_equal(tz_dlpack_from_buffer(&managed, &b, NULL, &err), TZ_OK);
    assert_int_equal(managed->tensor.device.type, dl_device().type);
    assert_int_equal(managed->tensor.byte_offset, test_device_is_cuda() ? 0 : 20);
    how.device = own.opened;
    assert_int_equal(tz_dlpack_to_buffer(&again, managed, &how, &err), TZ_OK);
    if (!test_device_is_cuda())
        managed->deleter(managed); /* frees the memory; the wrapper has its own hold */
    assert_int_equal(tz_device_copy_out(got, again.data, again.offset, sizeof got, &err), TZ_OK);
    assert_memory_equal(got, sent + 10, sizeof got);
    tz_device_memory_free(again.data);
    if (test_device_is_cuda())
        managed->deleter(managed);
}

enum { WIDE = 70, HIGH = 50, PIXELS = WIDE * HIGH * 3, FRONT = 6 };

/* Height, width, bands in memory of the caller's, some bytes from its start. */
static tz_dl_tensor tensor_in(void *buffer, int64_t shape[3])
{
    return (tz_dl_tensor){.data = buffer,
                          .device = dl_device(),
                          .ndim = 3,
                          .dtype = {TZ_DL_UINT, 16, 1},
                          .shape = shape,
                          .byte_offset = FRONT};
}

static tz_buffer view_of(void *buffer)
{
    tz_error err;
    tz_buffer b = TZ_BUFFER_INIT;
    int64_t shape[3] = {HIGH, WIDE, 3};
    const tz_dl_tensor t = tensor_in(buffer, shape);
    tz_dlpack_options how = TZ_DLPACK_OPTIONS_INIT;
    how.axes = TZ_DL_AXES_BANDS_LAST;
    how.writable = true;
    how.device = own.opened;
    assert_int_equal(tz_dlpack_tensor_to_buffer(&b, &t, &how, &err), TZ_OK);
    return b;
}

static tz_memory write_tensor(void *buffer)
{
    tz_error err = {0};
    tz_writer *writer = NULL;
    tz_memory file = {0};
    SCOPED_WRITE_REPORT report = NULL;
    tz_image_spec spec = TZ_IMAGE_SPEC_INIT;
    tz_write_options how = TZ_WRITE_OPTIONS_INIT;
    const tz_buffer rows = view_of(buffer);
    spec.width = WIDE, spec.height = HIGH, spec.bands = 3, spec.dtype = TZ_DTYPE_UINT16;
    how.device = own.opened;
    how.tile_width = how.tile_height = 32;
    assert_int_equal(tz_create_memory(&writer, &file, &spec, &how, &err), TZ_OK);
    assert_int_equal(tz_write_rows(writer, &rows, NULL, &err), TZ_OK);
    assert_int_equal(tz_commit(writer, &report, &err), TZ_OK);
    assert_true(report->device->id[0] != '\0' && report->device->upload_bytes < PIXELS);
    tz_writer_close(writer);
    tz_device_memory_free(rows.data);
    return file;
}

static void read_tensor(const tz_memory *bytes, void *buffer)
{
    tz_error err = {0};
    tz_file *file = NULL;
    plain_report report;
    tz_read_options how = TZ_READ_OPTIONS_INIT;
    how.device = own.opened;
    assert_int_equal(tz_open_memory(&file, bytes->data, bytes->size, NULL, &err), TZ_OK);
    const plain_item item = {.file = file, .into = view_of(buffer)};
    assert_int_equal(plain_read(&item, &how, &report, &err), TZ_OK);
    assert_true(report.device.id[0] != '\0' && report.device.download_bytes < PIXELS);
    tz_device_memory_free(item.into.data);
    tz_close(file);
}

/* From one library's memory to a file, and from the file to another's, all on the device. */
static void test_files_of_tensors(void **state)
{
    (void)state;
    static uint16_t sent[PIXELS + FRONT], got[PIXELS + FRONT];
    void *from = caller_alloc(&own, sizeof sent), *to = caller_alloc(&own, sizeof got);
    for (unsigned i = 0; i < PIXELS + FRONT; i++)
        sent[i] = (uint16_t)(i / 7 * 11 + i % 3);
    caller_copy_in(&own, from, sent, sizeof sent);
    caller_copy_in(&own, to, got, sizeof got);
    tz_memory file = write_tensor(from);
    read_tensor(&file, to);
    caller_copy_out(&own, got, to, sizeof got);
    assert_memory_equal(got + FRONT / 2, sent + FRONT / 2, PIXELS * sizeof *sent);
    for (unsigned i = 0; i < FRONT / 2; i++) /* nothing around it was touched */
        assert_true(got[i] == 0 && got[PIXELS + FRONT / 2 + i] == 0);
    tz_memory_free(&file);
    caller_free(&own, from);
    caller_free(&own, to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_and_strides),
        cmocka_unit_test(test_all_types),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_versions_and_read_only),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_errors_that_cannot_be_reported),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_memory_of_the_callers_as_a_buffer),
        cmocka_unit_test(test_device_memory_as_a_tensor),
        cmocka_unit_test(test_files_of_tensors),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
