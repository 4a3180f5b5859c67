/* SPDX-License-Identifier: Apache-2.0
 * Tensors of DLPack as buffers. */
#include "base/mem.h"
#include "device/device.h"
#include "device/dlpack_internal.h"

static tz_result find_tensor_dtype(tz_dl_dtype dtype, tz_dtype *out, const tz_context *ctx)
{
    if (dtype.lanes != 1)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                       tz_expecting(tz_no_location(), 1, dtype.lanes),
                       "the tensor's elements have several lanes");
    if (tz_dl_to_dtype(dtype, out))
        return TZ_OK;
    return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "the tensor's type, code %u of %u bits, is none of tz_dtype", dtype.code,
                   dtype.bits);
}

/* Sizes and strides (in bytes) of all three axes. */
typedef struct tensor_layout {
    uint32_t size[TZ_AXES];
    int64_t stride[TZ_AXES];
} tensor_layout;

static tz_result check_tensor_shape(const tz_dl_tensor *tensor, const tz_context *ctx)
{
    if (tensor->ndim != 2 && tensor->ndim != 3)
        return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                       "the tensor has %d dimensions, and not 2 or 3", (int)tensor->ndim);
    if (!tensor->shape)
        return tz_dl_fail(ctx, TZ_ERR_ARG, "the tensor has no shape");
    for (int32_t i = 0; i < tensor->ndim; i++) {
        if (tensor->shape[i] < 1 || tensor->shape[i] > UINT32_MAX)
            return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                           "dimension %d of the tensor is %lld, and not 1 to 4294967295", (int)i,
                           (long long)tensor->shape[i]);
    }
    return TZ_OK;
}

/* Elements from one of a dimension to the next; those of a packed tensor where it tells none. */
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

static tz_result find_layout(const tz_dl_tensor *tensor, tz_dl_axes axes, size_t item,
                             tensor_layout *out, const tz_context *ctx)
{
    int order[TZ_AXES];
    TZ_TRY(check_tensor_shape(tensor, ctx));
    if (tensor->ndim == 3 && axes == TZ_DL_ONE_BAND)
        return tz_dl_fail(ctx, TZ_ERR_ARG, "the tensor has 3 dimensions; options->axes expects 2");
    tz_dl_order(tensor->ndim == 2 ? TZ_DL_ONE_BAND : axes, order);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        int64_t stride = 1;
        out->size[axis] = order[axis] == TZ_AXES ? 1 : (uint32_t)tensor->shape[order[axis]];
        if (out->size[axis] > 1 && !stride_of(tensor, order[axis], &stride))
            return tz_dl_fail(ctx, TZ_ERR_ARG, "the tensor is larger than memory");
        if (__builtin_mul_overflow(stride, (int64_t)item, &out->stride[axis]))
            return tz_dl_fail(ctx, TZ_ERR_ARG, "a stride of the tensor is larger than memory");
    }
    return TZ_OK;
}

/* Strides of 0 repeat pixels. All three of 0 mean something else in tz_buffer. */
static tz_result check_repeats(const tensor_layout *l, bool writable, const tz_context *ctx)
{
    const int zeros = (l->stride[TZ_BAND_AXIS] == 0) + (l->stride[TZ_ROW_AXIS] == 0) +
                      (l->stride[TZ_COLUMN_AXIS] == 0);
    if (zeros > 0 && writable)
        return tz_dl_fail(
            ctx, TZ_ERR_ARG,
            "the tensor has a stride of 0: several pixels would be written to one place");
    if (zeros == TZ_AXES)
        return tz_dl_fail(ctx, TZ_ERR_UNSUPPORTED,
                          "the tensor is one value, repeated in all directions");
    return TZ_OK;
}

/* Bytes before the first pixel, and from it on, that pixels are in. */
typedef struct tensor_extent {
    uint64_t before, after;
} tensor_extent;

static tensor_extent tensor_extent_of(const tensor_layout *l, size_t item)
{
    tensor_extent e = {0, item};
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const int64_t stride = l->stride[axis];
        const uint64_t length = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
        uint64_t *sum = stride < 0 ? &e.before : &e.after;
        *sum = tz_add_capped(*sum, tz_mul_capped(l->size[axis] - 1, length));
    }
    return e;
}

/* ---- where they are ---- */

/* An address: what is wrapped is what the pixels are in, and no more. */
static tz_result wrap_address(tz_buffer *buffer, const tz_dl_tensor *tensor, const tensor_extent *e,
                              tz_device *device, const tz_context *ctx)
{
    uint64_t first, size;
    if (!tz_add((uint64_t)(uintptr_t)tensor->data, tensor->byte_offset, &first) ||
        first <= e->before || !tz_add(e->before, e->after, &size))
        return tz_dl_fail(ctx, TZ_ERR_ARG, "the tensor is larger than memory");
    TZ_TRY(tz_device_wrap(device, (void *)(uintptr_t)(first - e->before), size, &buffer->memory,
                          ctx->err));
    buffer->offset = e->before;
    return TZ_OK;
}

static tz_result wrap_cl_mem(tz_buffer *buffer, const tz_dl_tensor *tensor, const tensor_extent *e,
                             tz_device *device, const tz_context *ctx)
{
    TZ_TRY(tz_device_wrap(device, tensor->data, 0, &buffer->memory, ctx->err));
    const uint64_t size = tz_device_memory_size(buffer->memory);
    if (e->before <= tensor->byte_offset && tz_add_capped(tensor->byte_offset, e->after) <= size) {
        buffer->offset = tensor->byte_offset;
        return TZ_OK;
    }
    tz_device_free(buffer->memory);
    return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                   "the tensor reaches beyond the %llu bytes of its cl_mem",
                   (unsigned long long)size);
}

static tz_result wrap_tensor(tz_buffer *buffer, const tz_dl_tensor *tensor, const tensor_layout *l,
                             tz_device *device, const tz_context *ctx)
{
    const bool is_opencl = tensor->device.type == TZ_DL_OPENCL;
    const char *name = is_opencl ? "OpenCL" : "CUDA";
    const tensor_extent e = tensor_extent_of(l, tz_dtype_size(buffer->dtype));
    if (!device)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the tensor is of %s; options->device says of which one", name);
    if (tz_dl_type_of(device) != (is_opencl ? TZ_DL_OPENCL : TZ_DL_CUDA))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the tensor is of %s, and options->device is %s", name,
                       tz_device_get_info(device)->id);
    return is_opencl ? wrap_cl_mem(buffer, tensor, &e, device, ctx)
                     : wrap_address(buffer, tensor, &e, device, ctx);
}

static tz_result set_buffer_data(tz_buffer *buffer, const tz_dl_tensor *tensor,
                                 const tensor_layout *l, tz_device *device, const tz_context *ctx)
{
    if (!tensor->data)
        return tz_dl_fail(ctx, TZ_ERR_ARG, "the tensor has no data");
    switch (tensor->device.type) {
    case TZ_DL_CPU:
    case TZ_DL_CUDA_HOST:
        buffer->data = (char *)tensor->data + tensor->byte_offset;
        return TZ_OK;
    case TZ_DL_CUDA:
    case TZ_DL_CUDA_MANAGED:
    case TZ_DL_OPENCL:
        return wrap_tensor(buffer, tensor, l, device, ctx);
    default:
        return tz_fail(
            ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
            "the tensor is on a device of type %d; those of the host (1), of CUDA (2, 3, "
            "13) and of OpenCL (4) can be used",
            (int)tensor->device.type);
    }
}

static tz_result to_buffer(tz_buffer *out, const tz_dl_tensor *tensor, const tz_dlpack_options *how,
                           const tz_context *ctx)
{
    tz_buffer made = {0};
    tensor_layout l;
    TZ_TRY(find_tensor_dtype(tensor->dtype, &made.dtype, ctx));
    TZ_TRY(find_layout(tensor, how->axes, tz_dtype_size(made.dtype), &l, ctx));
    TZ_TRY(check_repeats(&l, how->writable, ctx));
    made.bands = l.size[TZ_BAND_AXIS];
    made.height = l.size[TZ_ROW_AXIS];
    made.width = l.size[TZ_COLUMN_AXIS];
    made.band_stride = l.stride[TZ_BAND_AXIS];
    made.row_stride = l.stride[TZ_ROW_AXIS];
    made.column_stride = l.stride[TZ_COLUMN_AXIS];
    TZ_TRY(set_buffer_data(&made, tensor, &l, how->device, ctx));
    *out = made;
    return TZ_OK;
}

tz_result tz_dlpack_tensor_to_buffer(tz_buffer *out, const tz_dl_tensor *tensor,
                                     const tz_dlpack_options *options, tz_error *err)
{
    tz_dlpack_options how;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!out || !tensor)
        return tz_dl_fail(&ctx, TZ_ERR_ARG, "out or tensor is NULL");
    TZ_TRY(tz_dl_copy_options(&how, options, &ctx));
    return to_buffer(out, tensor, &how, &ctx);
}

tz_result tz_dlpack_to_buffer(tz_buffer *out, const tz_dl_managed *managed,
                              const tz_dlpack_options *options, tz_error *err)
{
    tz_dlpack_options how;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!out || !managed)
        return tz_dl_fail(&ctx, TZ_ERR_ARG, "out or managed is NULL");
    TZ_TRY(tz_dl_copy_options(&how, options, &ctx));
    if (managed->version.major != TZ_DL_MAJOR) /* all else may be elsewhere then */
        return tz_fail(&ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED,
                       tz_expecting(tz_no_location(), TZ_DL_MAJOR, managed->version.major),
                       "the tensor is of another major version of DLPack");
    if (how.writable && (managed->flags & TZ_DL_READ_ONLY))
        return tz_dl_fail(&ctx, TZ_ERR_ARG, "the tensor is read only");
    return to_buffer(out, &managed->tensor, &how, &ctx);
}
