/* SPDX-License-Identifier: Apache-2.0
 * Buffers as tensors of DLPack, and what both ways share. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "device/dlpack_internal.h"

/* A type of samples as DLPack tells it. */
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

bool tz_dl_from_dtype(tz_dtype dtype, tz_dl_dtype *out)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].dtype == dtype) {
            *out = (tz_dl_dtype){types[i].code, types[i].bits, 1};
            return true;
        }
    }
    return false;
}

bool tz_dl_to_dtype(tz_dl_dtype dtype, tz_dtype *out)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (types[i].code == dtype.code && types[i].bits == dtype.bits) {
            *out = types[i].dtype;
            return true;
        }
    }
    return false;
}

tz_result tz_dl_fail(const tz_context *ctx, tz_result result, const char *text)
{
    const tz_cause cause = result == TZ_ERR_ARG ? TZ_CAUSE_ARG : TZ_CAUSE_UNSUPPORTED;
    return tz_fail(ctx, result, cause, tz_no_location(), "%s", text);
}

tz_result tz_dl_copy_options(tz_dlpack_options *out, const tz_dlpack_options *given,
                             const tz_context *ctx)
{
    *out = (tz_dlpack_options)TZ_DLPACK_OPTIONS_INIT;
    if (!given)
        return TZ_OK;
    if (given->struct_size < sizeof given->struct_size || given->struct_size > sizeof *given)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), sizeof *given, given->struct_size),
                       "options->struct_size is wrong; use TZ_DLPACK_OPTIONS_INIT");
    memcpy(out, given, given->struct_size);
    if ((unsigned)out->axes > TZ_DL_ONE_BAND)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), TZ_DL_ONE_BAND, (uint64_t)out->axes),
                       "options->axes is not of tz_dl_axes");
    return TZ_OK;
}

void tz_dl_order(tz_dl_axes axes, int order[TZ_AXES])
{
    const int shift = axes == TZ_DL_BANDS_FIRST ? 1 : 0;
    order[TZ_BAND_AXIS] = axes == TZ_DL_BANDS_FIRST ? 0 : axes == TZ_DL_BANDS_LAST ? 2 : TZ_AXES;
    order[TZ_ROW_AXIS] = shift;
    order[TZ_COLUMN_AXIS] = shift + 1;
}

/* ---- from a buffer ---- */

/* What a tensor needs beside itself, and what ends with it. */
typedef struct tensor_owner {
    int64_t shape[TZ_AXES], strides[TZ_AXES];
    void (*release)(void *user);
    void *user;
    tz_device_memory *memory; /* to be freed; NULL: none */
} tensor_owner;
typedef struct managed_tensor {
    tz_dl_managed shown;
    tensor_owner owner;
} managed_tensor;
typedef struct legacy_tensor {
    tz_dl_managed_legacy shown;
    tensor_owner owner;
} legacy_tensor;

static void end_tensor(const tensor_owner *owner)
{
    if (owner->release)
        owner->release(owner->user);
    else
        tz_device_free(owner->memory);
}

static void delete_managed(tz_dl_managed *self)
{
    managed_tensor *made = (managed_tensor *)self; /* its first member */
    end_tensor(&made->owner);
    tz_free(made);
}

static void delete_legacy(tz_dl_managed_legacy *self)
{
    legacy_tensor *made = (legacy_tensor *)self; /* the same */
    end_tensor(&made->owner);
    tz_free(made);
}

static tz_result set_tensor_type(tz_dl_tensor *tensor, const tz_buffer *buffer,
                                 const tz_context *ctx)
{
    if (tz_dl_from_dtype(buffer->dtype, &tensor->dtype))
        return TZ_OK;
    if (tz_dtype_size(buffer->dtype) == 0)
        return tz_dl_fail(ctx, TZ_ERR_ARG, "the buffer has no dtype");
    return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                   "DLPack has no %s", tz_dtype_name(buffer->dtype));
}

/* In bytes; those of a packed buffer where it tells none. */
static tz_result strides_of(const tz_buffer *buffer, int64_t out[TZ_AXES], const tz_context *ctx)
{
    const size_t item = tz_dtype_size(buffer->dtype);
    out[TZ_BAND_AXIS] = buffer->band_stride;
    out[TZ_ROW_AXIS] = buffer->row_stride;
    out[TZ_COLUMN_AXIS] = buffer->column_stride;
    if (out[TZ_BAND_AXIS] == 0 && out[TZ_ROW_AXIS] == 0 && out[TZ_COLUMN_AXIS] == 0) {
        out[TZ_COLUMN_AXIS] = (int64_t)item;
        out[TZ_ROW_AXIS] = (int64_t)(item * buffer->width);
        if (__builtin_mul_overflow(out[TZ_ROW_AXIS], (int64_t)buffer->height, &out[TZ_BAND_AXIS]))
            return tz_dl_fail(ctx, TZ_ERR_ARG, "the buffer is larger than memory");
    }
    for (int axis = 0; axis < TZ_AXES; axis++) {
        if (out[axis] % (int64_t)item != 0)
            return tz_fail(ctx, TZ_ERR_UNSUPPORTED, TZ_CAUSE_UNSUPPORTED, tz_no_location(),
                           "a stride of %lld bytes is no multiple of a sample's %zu",
                           (long long)out[axis], item);
        out[axis] /= (int64_t)item;
    }
    return TZ_OK;
}

static tz_result set_tensor_shape(tz_dl_tensor *tensor, tensor_owner *owner,
                                  const tz_buffer *buffer, tz_dl_axes axes, const tz_context *ctx)
{
    const uint32_t sizes[TZ_AXES] = {buffer->bands, buffer->height, buffer->width};
    int64_t strides[TZ_AXES];
    int order[TZ_AXES];
    if (sizes[TZ_BAND_AXIS] == 0 || sizes[TZ_ROW_AXIS] == 0 || sizes[TZ_COLUMN_AXIS] == 0)
        return tz_dl_fail(ctx, TZ_ERR_ARG, "the buffer is empty");
    if (axes == TZ_DL_ONE_BAND && sizes[TZ_BAND_AXIS] != 1)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
                       tz_expecting(tz_no_location(), 1, sizes[TZ_BAND_AXIS]),
                       "the buffer has several bands; options->axes expects one");
    TZ_TRY(strides_of(buffer, strides, ctx));
    tz_dl_order(axes, order);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        if (order[axis] == TZ_AXES)
            continue;
        owner->shape[order[axis]] = sizes[axis];
        owner->strides[order[axis]] = strides[axis];
    }
    tensor->ndim = axes == TZ_DL_ONE_BAND ? 2 : 3;
    tensor->shape = owner->shape;
    tensor->strides = owner->strides;
    return TZ_OK;
}

/* "cuda:3" is 3. */
static int32_t device_number_of(const tz_device *device)
{
    const char *colon = strchr(tz_device_get_info(device)->id, ':');
    return colon ? (int32_t)strtol(colon + 1, NULL, 10) : 0;
}

int32_t tz_dl_type_of(const tz_device *device)
{
    const char *driver = tz_device_get_info(device)->driver;
    return strcmp(driver, "cuda") == 0     ? TZ_DL_CUDA
           : strcmp(driver, "opencl") == 0 ? TZ_DL_OPENCL
                                           : TZ_DL_CPU;
}

/* Consumers of addresses do not all look at byte_offset: it is 0. */
static void set_tensor_data(tz_dl_tensor *tensor, tensor_owner *owner, const tz_buffer *buffer)
{
    if (!buffer->memory) {
        tensor->data = buffer->data;
        tensor->device = (tz_dl_device){TZ_DL_CPU, 0};
        return;
    }
    const tz_device *device = tz_device_of(buffer->memory);
    tensor->device = (tz_dl_device){tz_dl_type_of(device), device_number_of(device)};
    tensor->data = tz_device_memory_handle(buffer->memory);
    if (tensor->device.type == TZ_DL_CUDA)
        tensor->data = (char *)tensor->data + buffer->offset;
    else
        tensor->byte_offset = buffer->offset;
    owner->memory = buffer->memory;
}

static tz_result from_buffer(tz_dl_tensor *tensor, tensor_owner *owner, const tz_buffer *buffer,
                             const tz_dlpack_options *how, const tz_context *ctx)
{
    if (!buffer->data && !buffer->memory)
        return tz_dl_fail(ctx, TZ_ERR_ARG, "the buffer has no memory");
    TZ_TRY(set_tensor_type(tensor, buffer, ctx));
    TZ_TRY(set_tensor_shape(tensor, owner, buffer, how->axes, ctx));
    set_tensor_data(tensor, owner, buffer);
    owner->release = how->release;
    owner->user = how->user;
    return TZ_OK;
}

tz_result tz_dlpack_from_buffer(tz_dl_managed **out, const tz_buffer *buffer,
                                const tz_dlpack_options *options, tz_error *err)
{
    tz_dlpack_options how;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!out || !buffer)
        return tz_dl_fail(&ctx, TZ_ERR_ARG, "out or buffer is NULL");
    TZ_TRY(tz_dl_copy_options(&how, options, &ctx));
    managed_tensor *made = tz_alloc_zeroed(1, sizeof *made);
    if (!made)
        return tz_fail_nomem(&ctx, sizeof *made);
    const tz_result result = from_buffer(&made->shown.tensor, &made->owner, buffer, &how, &ctx);
    if (result != TZ_OK) {
        tz_free(made);
        return result;
    }
    made->shown.version = (tz_dl_version){TZ_DL_MAJOR, TZ_DL_MINOR};
    made->shown.flags = how.read_only ? TZ_DL_READ_ONLY : 0;
    made->shown.deleter = delete_managed;
    *out = &made->shown;
    return TZ_OK;
}

tz_result tz_dlpack_legacy_from_buffer(tz_dl_managed_legacy **out, const tz_buffer *buffer,
                                       const tz_dlpack_options *options, tz_error *err)
{
    tz_dlpack_options how;
    const tz_context ctx = {.err = err, .ifd = -1};
    if (!out || !buffer)
        return tz_dl_fail(&ctx, TZ_ERR_ARG, "out or buffer is NULL");
    TZ_TRY(tz_dl_copy_options(&how, options, &ctx));
    if (how.read_only)
        return tz_dl_fail(&ctx, TZ_ERR_UNSUPPORTED, "a legacy tensor cannot be read only");
    legacy_tensor *made = tz_alloc_zeroed(1, sizeof *made);
    if (!made)
        return tz_fail_nomem(&ctx, sizeof *made);
    const tz_result result = from_buffer(&made->shown.tensor, &made->owner, buffer, &how, &ctx);
    if (result != TZ_OK) {
        tz_free(made);
        return result;
    }
    made->shown.deleter = delete_legacy;
    *out = &made->shown;
    return TZ_OK;
}
