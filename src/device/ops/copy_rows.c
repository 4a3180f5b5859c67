/* SPDX-License-Identifier: Apache-2.0
 * Rows from one place in device memory to another. */
#include "base/mem.h"
#include "device/device_state.h"
#include "device/launch.h"
#include "device/ops/extract.h"

/* What is copied, word by word. */
typedef struct rows_copy {
    const tz_buffer *from, *to;
    uint64_t bands;
    uint64_t width;
    uint32_t size;
    int64_t from_step, to_step; /* from word to word */
} rows_copy;

static tz_result fail_copy_rows(const tz_buffer *buffer, const char *text, tz_error *err)
{
    return tz_call_fail(buffer->memory->device, err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                        tz_at_offset(buffer->offset), text);
}

static tz_result check_buffer_bounds(const tz_buffer *buffer, tz_error *err)
{
    return tz_buffer_is_within(buffer)
               ? TZ_OK
               : fail_copy_rows(buffer, "the rows are not within their memory", err);
}

static bool has_packed_pixels(const tz_buffer *buffer)
{
    const int64_t size = (int64_t)tz_dtype_size(buffer->dtype);
    return buffer->band_stride == size && buffer->column_stride == size * (int64_t)buffer->bands;
}

/* Pixels whose bands lie side by side in both are one band of more samples; samples that lie side
 * by side in both are words of 8 bytes, as far as they go. */
static rows_copy plan_copy(const tz_buffer *from, const tz_buffer *to)
{
    rows_copy c = {.from = from,
                   .to = to,
                   .bands = from->bands,
                   .width = from->width,
                   .size = (uint32_t)tz_dtype_size(from->dtype),
                   .from_step = from->column_stride,
                   .to_step = to->column_stride};
    if (from->bands > 1 && has_packed_pixels(from) && has_packed_pixels(to)) {
        c.width *= from->bands;
        c.bands = 1;
        c.from_step = c.to_step = c.size;
    }
    if (c.from_step == c.size && c.to_step == c.size && c.width * c.size % 8 == 0) {
        c.width = c.width * c.size / 8;
        c.size = 8;
        c.from_step = c.to_step = 8;
    }
    return c;
}

static tz_result launch_copy(const rows_copy *c, uint32_t queue, tz_error *err)
{
    tz_device *device = c->from->memory->device;
    const uint32_t row_items = device->info.type == TZ_DEVICE_CPU ? 1u : TZ_WORK_GROUP_ITEMS;
    const uint64_t rows = tz_mul_capped(c->bands, c->from->height);
    const tz_argument arguments[] = {TZ_MEMORY(c->from->memory),
                                     TZ_MEMORY(c->to->memory),
                                     TZ_U64(c->from->offset),
                                     TZ_U64((uint64_t)c->from->band_stride),
                                     TZ_U64((uint64_t)c->from->row_stride),
                                     TZ_U64((uint64_t)c->from_step),
                                     TZ_U64(c->to->offset),
                                     TZ_U64((uint64_t)c->to->band_stride),
                                     TZ_U64((uint64_t)c->to->row_stride),
                                     TZ_U64((uint64_t)c->to_step),
                                     TZ_U64(rows),
                                     TZ_U32(c->from->height),
                                     TZ_U32((uint32_t)c->width),
                                     TZ_U32(c->size),
                                     TZ_U32(row_items)};
    const tz_launch one =
        TZ_LAUNCH_OF(TZ_KERNEL_COPY_ROWS,
                     tz_ceil_div(tz_mul_capped(rows, row_items), TZ_WORK_GROUP_ITEMS), arguments);
    return tz_device_launch(device, queue, &one, err);
}

tz_result tz_copy_rows_launch(const tz_buffer *from, const tz_buffer *to, uint32_t queue,
                              tz_error *err)
{
    if (from->bands != to->bands || from->height != to->height || from->width != to->width ||
        from->dtype != to->dtype || tz_dtype_size(from->dtype) == 0)
        return fail_copy_rows(to, "rows are copied to rows of the same shape and type", err);
    if (from->bands == 0 || from->height == 0 || from->width == 0)
        return TZ_OK;
    TZ_TRY(check_buffer_bounds(from, err));
    TZ_TRY(check_buffer_bounds(to, err));
    const rows_copy c = plan_copy(from, to);
    if (c.width > UINT32_MAX - TZ_WORK_GROUP_ITEMS)
        return fail_copy_rows(from, "rows are too long for kernels", err);
    return launch_copy(&c, queue, err);
}
