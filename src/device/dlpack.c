/* SPDX-License-Identifier: Apache-2.0
 * Buffers as tensors of DLPack, and tensors of DLPack as buffers.
 *
 * Neither direction copies pixels. A tensor made from a buffer owns its shape and strides, and
 * either the device memory of the buffer or a release function of the caller; its deleter ends all
 * of them. A buffer made from a tensor in device memory wraps exactly the bytes that the pixels
 * occupy, which begin before the first pixel if a stride is negative.
 *
 * A buffer has three axes (band, row, column) with strides in bytes. A tensor has two or three
 * dimensions in any order, with strides in elements, or none if it is packed. */
#include <stdlib.h>
#include <string.h>
#include <terrazzo/dlpack.h>

#include "base/mem.h"
#include "device/device.h"
#include "device/launch.h"

enum { BAND_AXIS, ROW_AXIS, COLUMN_AXIS, AXES };

/* A dtype as DLPack describes it. */
typedef struct dlpack_type {
    tz_dtype dtype;
    uint8_t code, bits;
} dlpack_type;

static const dlpack_type types[] = {
    {TZ_DTYPE_UINT8, TZ_DL_UINT, 8},
    {TZ_DTYPE_INT8, TZ_DL_INT, 8},
    {TZ_DTYPE_UINT16, TZ_DL_UINT, 16},
    {TZ_DTYPE_INT16, TZ_DL_INT, 16},
    {TZ_DTYPE_UINT32, TZ_DL_UINT, 32},
    {TZ_DTYPE_INT32, TZ_DL_INT, 32},
    {TZ_DTYPE_UINT64, TZ_DL_UINT, 64},
    {TZ_DTYPE_INT64, TZ_DL_INT, 64},
    {TZ_DTYPE_FLOAT16, TZ_DL_FLOAT, 16},
    {TZ_DTYPE_FLOAT32, TZ_DL_FLOAT, 32},
    {TZ_DTYPE_FLOAT64, TZ_DL_FLOAT, 64},
    {TZ_DTYPE_COMPLEX_FLOAT16, TZ_DL_COMPLEX, 32},
    {TZ_DTYPE_COMPLEX_FLOAT32, TZ_DL_COMPLEX, 64},
    {TZ_DTYPE_COMPLEX_FLOAT64, TZ_DL_COMPLEX, 128},
};
#define TYPE_COUNT (sizeof types / sizeof types[0])

static tz_result fail_dlpack(const tz_context *ctx, tz_result result, const char *text)
{
    const tz_cause cause = result == TZ_ERR_ARG ? TZ_CAUSE_ARG : TZ_CAUSE_UNSUPPORTED;
    return tz_fail(ctx, result, cause, tz_no_location(), "%s", text);
}

static tz_result copy_options(tz_dlpack_options *out, const tz_dlpack_options *given,
                              const tz_context *ctx)
{
    *out = (tz_dlpack_options)TZ_DLPACK_OPTIONS_INIT;
    TZ_TRY(tz_copy_struct(out, sizeof *out, given, "options", "TZ_DLPACK_OPTIONS_INIT", ctx));
    if ((unsigned)out->axes > TZ_DL_AXES_ONE_BAND)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), TZ_DL_AXES_ONE_BAND, (uint64_t)out->axes),
                       "options->axes is not of tz_dl_axes");
    return TZ_OK;
}

/* Sets order[axis] to the dimension of a tensor that the axis is; AXES: it has none. */
static void order_axes(tz_dl_axes axes, int order[AXES])
{
    const int shift = axes == TZ_DL_AXES_BANDS_FIRST ? 1 : 0;
    order[BAND_AXIS] = axes == TZ_DL_AXES_BANDS_FIRST  ? 0
                       : axes == TZ_DL_AXES_BANDS_LAST ? 2
                                                       : AXES;
    order[ROW_AXIS] = shift;
    order[COLUMN_AXIS] = shift + 1;
}

/* The type of tensors in memory of the device; TZ_DL_CPU: it has no memory of its own. */
static int32_t device_type_of(const tz_device *device)
{
    const char *driver = tz_device_get_info(device)->driver;
    return strcmp(driver, "cuda") == 0     ? TZ_DL_CUDA
           : strcmp(driver, "opencl") == 0 ? TZ_DL_OPENCL
                                           : TZ_DL_CPU;
}

/* ---- from a buffer ---- */

/* A tensor with all that ends with it. Consumers see the first member, in either of its forms. */
typedef struct exported_tensor {
    union {
        tz_dl_managed managed;
        tz_dl_managed_legacy legacy;
    } shown;
    int64_t shape[AXES], strides[AXES];
    void (*release)(void *user);
    void *user;
    tz_device_memory *memory; /* freed unless there is a release function; NULL: none */
} exported_tensor;

/* The consumer calls the deleter once, when it is done with the pixels. */
static void end_tensor(exported_tensor *made)
{
    if (made->release)
        made->release(made->user);
    else
        tz_device_memory_free(made->memory);
    tz_free(made);
}

static void delete_managed(tz_dl_managed *self)
{
    end_tensor((exported_tensor *)self);
}

static void delete_legacy(tz_dl_managed_legacy *self)
{
    end_tensor((exported_tensor *)self);
}

static tz_result set_tensor_dtype(tz_dl_dtype *out, tz_dtype dtype, const tz_context *ctx)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].dtype == dtype) {
            *out = (tz_dl_dtype){types[i].code, types[i].bits, 1};
            return TZ_OK;
        }
    }
    if (tz_dtype_size(dtype) == 0)
        return fail_dlpack(ctx, TZ_ERR_ARG, "the buffer has no dtype");
    return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "DLPack has no %s", tz_dtype_name(dtype));
}

/* Sets the shape and the strides of made, and the number of dimensions of its tensor. */
static tz_result set_tensor_shape(tz_dl_tensor *tensor, exported_tensor *made,
                                  const tz_buffer *buffer, tz_dl_axes axes, const tz_context *ctx)
{
    const size_t item = tz_dtype_size(buffer->dtype);
    const uint32_t sizes[AXES] = {buffer->bands, buffer->height, buffer->width};
    int64_t strides[AXES] = {buffer->band_stride, buffer->row_stride, buffer->column_stride};
    int order[AXES];
    if (buffer->bands == 0 || buffer->height == 0 || buffer->width == 0)
        return fail_dlpack(ctx, TZ_ERR_ARG, "the buffer is empty");
    if (axes == TZ_DL_AXES_ONE_BAND && buffer->bands != 1)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), 1, buffer->bands),
                       "the buffer has several bands; options->axes expects one");
    if (strides[BAND_AXIS] == 0 && strides[ROW_AXIS] == 0 && strides[COLUMN_AXIS] == 0) {
        strides[COLUMN_AXIS] = (int64_t)item;
        strides[ROW_AXIS] = (int64_t)(item * buffer->width);
        if (__builtin_mul_overflow(strides[ROW_AXIS], (int64_t)buffer->height, &strides[BAND_AXIS]))
            return fail_dlpack(ctx, TZ_ERR_ARG, "the buffer is larger than memory");
    }
    order_axes(axes, order);
    for (int axis = 0; axis < AXES; axis++) {
        if (strides[axis] % (int64_t)item != 0)
            return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                           "a stride of %lld bytes is not a multiple of a sample's %zu",
                           (long long)strides[axis], item);
        if (order[axis] == AXES)
            continue;
        made->shape[order[axis]] = sizes[axis];
        made->strides[order[axis]] = strides[axis] / (int64_t)item;
    }
    tensor->ndim = axes == TZ_DL_AXES_ONE_BAND ? 2 : 3;
    return TZ_OK;
}

/* Makes a tensor of either form. It is allocated last, so that an error has nothing to release. */
static tz_result export_buffer(exported_tensor **out, bool is_legacy, const tz_buffer *buffer,
                               const tz_dlpack_options *options, tz_error *err)
{
    const tz_context ctx = {.err = err, .ifd = -1};
    tz_dlpack_options how;
    tz_buffer whole = TZ_BUFFER_INIT;
    if (!out || !buffer)
        return fail_dlpack(&ctx, TZ_ERR_ARG, "out or buffer is NULL");
    TZ_TRY(copy_options(&how, options, &ctx));
    TZ_TRY(tz_copy_struct(&whole, sizeof whole, buffer, "buffer", "TZ_BUFFER_INIT", &ctx));
    if (is_legacy && how.read_only)
        return fail_dlpack(&ctx, TZ_ERR_UNSUPPORTED, "a legacy tensor cannot be read only");
    if (!whole.data)
        return fail_dlpack(&ctx, TZ_ERR_ARG, "the buffer has no memory");
    if (whole.memory != TZ_MEMORY_KIND_HOST && whole.memory != TZ_MEMORY_KIND_DEVICE)
        return fail_dlpack(&ctx, TZ_ERR_UNSUPPORTED,
                           "the buffer is of the host or of TZ_MEMORY_KIND_DEVICE");
    tz_device_memory *memory = whole.memory == TZ_MEMORY_KIND_DEVICE ? whole.data : NULL;
    exported_tensor made = {.memory = memory, .release = how.release, .user = how.user};
    tz_dl_tensor tensor = {.device = {TZ_DL_CPU, 0}};
    TZ_TRY(set_tensor_dtype(&tensor.dtype, whole.dtype, &ctx));
    TZ_TRY(set_tensor_shape(&tensor, &made, &whole, how.axes, &ctx));
    if (!memory) {
        tensor.data = (char *)whole.data + whole.offset;
    } else {
        const tz_device *device = tz_device_memory_get_device(memory);
        const char *number = strchr(tz_device_get_info(device)->id, ':'); /* "cuda:3" */
        tensor.device = (tz_dl_device){device_type_of(device),
                                       number ? (int32_t)strtol(number + 1, NULL, 10) : 0};
        tensor.data = tz_device_memory_get_handle(memory);
        /* Not every consumer of addresses looks at byte_offset, so that it stays 0 with CUDA. */
        if (tensor.device.type == TZ_DL_CUDA)
            tensor.data = (char *)tensor.data + whole.offset;
        else
            tensor.byte_offset = whole.offset;
    }
    exported_tensor *copy = tz_alloc(sizeof *copy);
    if (!copy)
        return tz_fail_nomem(&ctx, sizeof *copy);
    tensor.shape = copy->shape;
    tensor.strides = copy->strides;
    if (is_legacy)
        made.shown.legacy = (tz_dl_managed_legacy){.tensor = tensor, .deleter = delete_legacy};
    else
        made.shown.managed = (tz_dl_managed){.version = {TZ_DL_MAJOR, TZ_DL_MINOR},
                                             .flags = how.read_only ? TZ_DL_READ_ONLY : 0,
                                             .tensor = tensor,
                                             .deleter = delete_managed};
    *copy = made;
    *out = copy;
    return TZ_OK;
}

tz_result tz_dlpack_from_buffer(tz_dl_managed **out, const tz_buffer *buffer,
                                const tz_dlpack_options *options, tz_error *err)
{
    exported_tensor *made = NULL;
    TZ_TRY(export_buffer(out ? &made : NULL, false, buffer, options, err));
    *out = &made->shown.managed;
    return TZ_OK;
}

tz_result tz_dlpack_legacy_from_buffer(tz_dl_managed_legacy **out, const tz_buffer *buffer,
                                       const tz_dlpack_options *options, tz_error *err)
{
    exported_tensor *made = NULL;
    TZ_TRY(export_buffer(out ? &made : NULL, true, buffer, options, err));
    *out = &made->shown.legacy;
    return TZ_OK;
}

/* ---- to a buffer ---- */

/* Elements from one index of a dimension to the next. False if they exceed 64 bits. */
static bool stride_of(const tz_dl_tensor *tensor, int dimension, int64_t *out)
{
    if (tensor->strides) {
        *out = tensor->strides[dimension];
        return true;
    }
    int64_t elements = 1;
    for (int i = tensor->ndim - 1; i > dimension; i--) {
        if (__builtin_mul_overflow(elements, tensor->shape[i], &elements))
            return false;
    }
    *out = elements;
    return true;
}

/* Sets the sizes, and the strides in bytes, of all three axes. */
static tz_result find_layout(const tz_dl_tensor *tensor, tz_dl_axes axes, size_t item,
                             tz_strided *out, const tz_context *ctx)
{
    int order[AXES];
    *out = (tz_strided){.size = item};
    if (tensor->ndim != 2 && tensor->ndim != 3)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "the tensor has %d dimensions, and not 2 or 3", (int)tensor->ndim);
    if (!tensor->shape)
        return fail_dlpack(ctx, TZ_ERR_ARG, "the tensor has no shape");
    for (int32_t i = 0; i < tensor->ndim; i++) {
        if (tensor->shape[i] < 1 || tensor->shape[i] > UINT32_MAX)
            return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                           "dimension %d of the tensor is %lld, and not 1 to 4294967295", (int)i,
                           (long long)tensor->shape[i]);
    }
    if (tensor->ndim == 3 && axes == TZ_DL_AXES_ONE_BAND)
        return fail_dlpack(ctx, TZ_ERR_ARG, "the tensor has 3 dimensions; options->axes expects 2");
    order_axes(tensor->ndim == 2 ? TZ_DL_AXES_ONE_BAND : axes, order);
    for (int axis = 0; axis < AXES; axis++) {
        int64_t stride = 1;
        out->counts[axis] = order[axis] == AXES ? 1 : (uint32_t)tensor->shape[order[axis]];
        if (out->counts[axis] > 1 && !stride_of(tensor, order[axis], &stride))
            return fail_dlpack(ctx, TZ_ERR_ARG, "the tensor is larger than memory");
        if (__builtin_mul_overflow(stride, (int64_t)item, &out->strides[axis]))
            return fail_dlpack(ctx, TZ_ERR_ARG, "a stride of the tensor is larger than memory");
    }
    return TZ_OK;
}

/* Wraps the device memory of a tensor. CUDA's tensors have an address, of which the bytes that the
 * pixels occupy are wrapped; OpenCL's have a cl_mem, which is wrapped as a whole. */
static tz_result wrap_tensor(tz_buffer *buffer, const tz_dl_tensor *tensor, const tz_strided *l,
                             tz_device *device, const tz_context *ctx)
{
    tz_device_memory *memory = NULL;
    const bool is_opencl = tensor->device.type == TZ_DL_OPENCL;
    const char *name = is_opencl ? "OpenCL" : "CUDA";
    if (!device)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the tensor is of %s; options->device says of which one", name);
    if (device_type_of(device) != (is_opencl ? TZ_DL_OPENCL : TZ_DL_CUDA))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the tensor is of %s, and options->device is %s", name,
                       tz_device_get_info(device)->id);
    /* bytes of pixels before the first pixel, and from the first pixel on */
    uint64_t before, after;
    tz_strided_extent(l, &before, &after);
    if (!is_opencl) {
        uint64_t first, size;
        if (!tz_add((uint64_t)(uintptr_t)tensor->data, tensor->byte_offset, &first) ||
            first <= before || !tz_add(before, after, &size))
            return fail_dlpack(ctx, TZ_ERR_ARG, "the tensor is larger than memory");
        TZ_TRY(
            tz_device_wrap(&memory, device, (void *)(uintptr_t)(first - before), size, ctx->err));
        buffer->data = memory;
        buffer->offset = before;
        return TZ_OK;
    }
    TZ_TRY(tz_device_wrap(&memory, device, tensor->data, 0, ctx->err));
    const uint64_t size = tz_device_memory_get_size(memory);
    buffer->data = memory;
    buffer->offset = tensor->byte_offset;
    if (before <= tensor->byte_offset && tz_add_capped(tensor->byte_offset, after) <= size)
        return TZ_OK;
    tz_device_memory_free(memory);
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                   "the tensor reaches beyond the %llu bytes of its cl_mem",
                   (unsigned long long)size);
}

/* The tensor stays its owner's: the buffer refers to its pixels, and is used before it is deleted.
 */
static tz_result to_buffer(tz_buffer *out, const tz_dl_tensor *tensor, const tz_dlpack_options *how,
                           const tz_context *ctx)
{
    tz_buffer made = TZ_BUFFER_INIT;
    tz_strided l;
    TZ_TRY(tz_copy_struct(&made, sizeof made, out, "out", "TZ_BUFFER_INIT", ctx));
    made = (tz_buffer)TZ_BUFFER_INIT;
    if (tensor->dtype.lanes != 1)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                       tz_expecting(tz_no_location(), 1, tensor->dtype.lanes),
                       "the tensor's elements have several lanes");
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].code == tensor->dtype.code && types[i].bits == tensor->dtype.bits)
            made.dtype = types[i].dtype;
    }
    if (made.dtype == TZ_DTYPE_NONE)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "the tensor's type, code %u of %u bits, is not one of tz_dtype",
                       tensor->dtype.code, tensor->dtype.bits);
    TZ_TRY(find_layout(tensor, how->axes, tz_dtype_size(made.dtype), &l, ctx));
    /* A stride of 0 repeats pixels. Three of them would mean a packed buffer in tz_buffer. */
    const int zeros =
        (l.strides[BAND_AXIS] == 0) + (l.strides[ROW_AXIS] == 0) + (l.strides[COLUMN_AXIS] == 0);
    if (zeros > 0 && how->writable)
        return fail_dlpack(
            ctx, TZ_ERR_ARG,
            "the tensor has a stride of 0: several pixels would be written to one place");
    if (zeros == AXES)
        return fail_dlpack(ctx, TZ_ERR_UNSUPPORTED,
                           "the tensor is one value, repeated in all directions");
    made.bands = l.counts[BAND_AXIS];
    made.height = l.counts[ROW_AXIS];
    made.width = l.counts[COLUMN_AXIS];
    made.band_stride = l.strides[BAND_AXIS];
    made.row_stride = l.strides[ROW_AXIS];
    made.column_stride = l.strides[COLUMN_AXIS];
    if (!tensor->data)
        return fail_dlpack(ctx, TZ_ERR_ARG, "the tensor has no data");
    switch (tensor->device.type) {
    case TZ_DL_CPU:
    case TZ_DL_CUDA_HOST:
        made.data = (char *)tensor->data + tensor->byte_offset;
        break;
    case TZ_DL_CUDA:
    case TZ_DL_CUDA_MANAGED:
    case TZ_DL_OPENCL:
        TZ_TRY(wrap_tensor(&made, tensor, &l, how->device, ctx));
        made.memory = TZ_MEMORY_KIND_DEVICE;
        break;
    default:
        return tz_fail(
            ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
            "the tensor is on a device of type %d; those of the host (1), of CUDA (2, 3, "
            "13) and of OpenCL (4) can be used",
            (int)tensor->device.type);
    }
    made.struct_size = out->struct_size; /* the caller's may be shorter */
    memcpy(out, &made, tz_min_size(made.struct_size, sizeof made));
    return TZ_OK;
}

tz_result tz_dlpack_tensor_to_buffer(tz_buffer *out, const tz_dl_tensor *tensor,
                                     const tz_dlpack_options *options, tz_error *err)
{
    tz_dlpack_options how;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!out || !tensor)
        return fail_dlpack(&ctx, TZ_ERR_ARG, "out or tensor is NULL");
    TZ_TRY(copy_options(&how, options, &ctx));
    return to_buffer(out, tensor, &how, &ctx);
}

tz_result tz_dlpack_to_buffer(tz_buffer *out, const tz_dl_managed *managed,
                              const tz_dlpack_options *options, tz_error *err)
{
    tz_dlpack_options how;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!out || !managed)
        return fail_dlpack(&ctx, TZ_ERR_ARG, "out or managed is NULL");
    TZ_TRY(copy_options(&how, options, &ctx));
    if (managed->version.major != TZ_DL_MAJOR) /* the other members may lie elsewhere then */
        return tz_fail(&ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                       tz_expecting(tz_no_location(), TZ_DL_MAJOR, managed->version.major),
                       "the tensor is of another major version of DLPack");
    if (how.writable && (managed->flags & TZ_DL_READ_ONLY))
        return fail_dlpack(&ctx, TZ_ERR_ARG, "the tensor is read only");
    return to_buffer(out, &managed->tensor, &how, &ctx);
}
