/* SPDX-License-Identifier: Apache-2.0
 * The kinds of memory become two: host memory, and a tz_device_memory with an offset. */
#include "device/caller_buffer.h"

#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "device/launch.h"

/* Equal handles are looked for among the last ones only: items of one array follow each other. */
enum { LOOK_BACK = 16 };

void tz_wrapped_list_deinit(tz_wrapped_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        tz_device_memory_free(list->entries[i].memory);
    tz_free(list->entries);
}

/* Finds the wrapper of a handle, or makes one. size 0: all bytes from the handle on, for any buffer
 * there. */
static tz_result wrap_once(tz_device_memory **out, tz_device *device, void *handle, uint64_t size,
                           tz_wrapped_list *list, const tz_context *ctx)
{
    for (uint32_t i = list->count; size == 0 && i > 0 && list->count - i < LOOK_BACK; i--) {
        if (list->entries[i - 1].handle == handle) {
            *out = list->entries[i - 1].memory;
            return TZ_OK;
        }
    }
    if (list->count == list->capacity) {
        const uint32_t more = list->capacity ? list->capacity * 2 : 2;
        tz_wrapped_memory *larger =
            more > list->capacity ? tz_realloc_array(list->entries, more, sizeof *larger) : NULL;
        if (!larger)
            return tz_fail_nomem(ctx, tz_mul_capped(more, sizeof *larger));
        list->entries = larger;
        list->capacity = more;
    }
    TZ_TRY(tz_device_wrap(out, device, handle, size, ctx->err));
    list->entries[list->count++] =
        (tz_wrapped_memory){.handle = size == 0 ? handle : NULL, .memory = *out};
    return TZ_OK;
}

/* An address of CUDA may be inside of an allocation, and negative strides may lead to bytes before
 * it: then exactly the bytes of the buffer are wrapped. A cl_mem begins with its first byte. */
static tz_result wrap_native(tz_pixel_buffer *buffer, const tz_buffer *given, tz_device *device,
                             tz_wrapped_list *list, const tz_context *ctx)
{
    const bool is_cuda = given->memory == TZ_MEMORY_KIND_CUDA;
    const char *name = is_cuda ? "CUDA" : "OpenCL";
    const char *driver = is_cuda ? "cuda" : "opencl";
    uint64_t before, after, first, size;
    if (!device)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the buffer is memory of %s, and options->device does not say of which "
                       "device",
                       name);
    if (strcmp(tz_device_get_info(device)->driver, driver) != 0)
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the buffer is memory of %s, and options->device is %s", name,
                       tz_device_get_info(device)->id);
    buffer->offset = given->offset;
    if (buffer->bands == 0 || buffer->height == 0 || buffer->width == 0 ||
        !tz_pixel_buffer_set_strides(buffer))
        return wrap_once(&buffer->memory, device, given->data, 0, list, ctx);
    const tz_strided words = {
        .counts = {buffer->bands, buffer->height, buffer->width},
        .strides = {buffer->band_stride, buffer->row_stride, buffer->column_stride},
        .size = tz_dtype_size(buffer->dtype)};
    tz_strided_extent(&words, &before, &after);
    if (!is_cuda || before <= given->offset)
        return wrap_once(&buffer->memory, device, given->data, 0, list, ctx);
    if (!tz_add((uint64_t)(uintptr_t)given->data, given->offset, &first) || first <= before ||
        !tz_add(before, after, &size))
        return tz_fail(ctx, TZ_ERR_ARG, TZ_CAUSE_ARG, tz_no_location(),
                       "the buffer is larger than memory");
    buffer->offset = before;
    return wrap_once(&buffer->memory, device, (void *)(uintptr_t)(first - before), size, list, ctx);
}

tz_result tz_caller_buffer_enter(tz_pixel_buffer *out, const tz_buffer *given, const char *argument,
                                 tz_device *device, tz_wrapped_list *list, const tz_context *ctx)
{
    tz_buffer whole = TZ_BUFFER_INIT;
    TZ_TRY(tz_copy_struct(&whole, sizeof whole, given, argument, "TZ_BUFFER_INIT", ctx));
    *out = tz_pixel_buffer_of_shape(&whole);
    if ((unsigned)whole.memory > TZ_MEMORY_KIND_DEVICE)
        return tz_fail(
            ctx, TZ_ERR_ARG, TZ_CAUSE_ARG,
            tz_expecting(tz_no_location(), TZ_MEMORY_KIND_DEVICE, (uint64_t)whole.memory),
            "the buffer's memory is of a kind that does not exist");
    if (!whole.data)
        return TZ_OK;
    switch (whole.memory) {
    case TZ_MEMORY_KIND_HOST:
        out->data = (uint8_t *)whole.data + whole.offset;
        return TZ_OK;
    case TZ_MEMORY_KIND_DEVICE:
        out->memory = whole.data;
        out->offset = whole.offset;
        return TZ_OK;
    default:
        return wrap_native(out, &whole, device, list, ctx);
    }
}

tz_buffer tz_caller_buffer_show(const tz_pixel_buffer *buffer)
{
    tz_buffer shown = TZ_BUFFER_INIT;
    shown.data = buffer->memory ? (void *)buffer->memory : buffer->data;
    shown.offset = buffer->memory ? buffer->offset : 0;
    shown.memory = buffer->memory ? TZ_MEMORY_KIND_DEVICE : TZ_MEMORY_KIND_HOST;
    shown.dtype = buffer->dtype;
    shown.bands = buffer->bands;
    shown.height = buffer->height;
    shown.width = buffer->width;
    shown.band_stride = buffer->band_stride;
    shown.row_stride = buffer->row_stride;
    shown.column_stride = buffer->column_stride;
    return shown;
}
