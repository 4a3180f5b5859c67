/* SPDX-License-Identifier: Apache-2.0
 * Each buffer in device memory gets a buffer in host memory of the same extent. One whose samples
 * do not cover its whole extent is downloaded first, so that the upload leaves the bytes between
 * them as they were. */
#include "read/gpu/gpu_plan.h"

#include "base/mem.h"

struct tz_bounce_buffer {
    tz_device_memory *memory;
    uint64_t offset;
    uint64_t size;
    uint8_t *host;
};

/* True if samples fill all bytes from the first to the last: from the smallest stride on, each is
 * as large as the bytes that the ones before it cover. */
static bool is_packed(const tz_pixel_buffer *buffer)
{
    const int64_t strides[3] = {buffer->column_stride, buffer->row_stride, buffer->band_stride};
    const uint32_t counts[3] = {buffer->width, buffer->height, buffer->bands};
    uint64_t covered = tz_dtype_size(buffer->dtype);
    bool used[3] = {false};
    for (int round = 0; round < 3; round++) {
        int found = -1;
        for (int i = 0; i < 3; i++) {
            const uint64_t step = strides[i] < 0 ? 0 - (uint64_t)strides[i] : (uint64_t)strides[i];
            if (!used[i] && (counts[i] == 1 || step == covered))
                found = i;
        }
        if (found < 0)
            return false;
        used[found] = true;
        covered = tz_mul_capped(covered, counts[found]);
    }
    return true;
}

/* The first sample keeps its distance from the first byte, as strides may be negative. */
static tz_result replace_buffer(tz_bounce *bounce, tz_pixel_buffer *buffer, bool dry,
                                const tz_context *ctx)
{
    static uint8_t nowhere;
    const tz_byte_extent extent = tz_buffer_extent(buffer);
    tz_bounce_buffer *b = &bounce->buffers[bounce->count];
    *b = (tz_bounce_buffer){.memory = buffer->memory,
                            .offset = buffer->offset - extent.before,
                            .size = extent.before + extent.after};
    if (!dry) {
        b->host = tz_alloc_slab(b->size);
        if (!b->host)
            return tz_fail_nomem(ctx, b->size);
        bounce->count++;
        if (!is_packed(buffer)) {
            bounce->use.downloads++;
            bounce->use.download_bytes += b->size;
            bounce->use.syncs++;
            TZ_TRY(tz_device_copy_out(b->host, b->memory, b->offset, b->size, ctx->err));
        }
    }
    buffer->data = dry ? &nowhere : b->host + extent.before;
    buffer->memory = NULL;
    buffer->offset = 0;
    return TZ_OK;
}

/* Buffers are counted before the first is allocated: those that do not fit max_host_bytes are
 * refused while nothing has changed. */
tz_result tz_bounce_begin(tz_bounce *bounce, tz_read_request *requests, size_t count,
                          tz_read_options *how, bool dry, const tz_context *ctx)
{
    for (size_t i = 0; i < 2 * count; i++) {
        const tz_pixel_buffer *buffer = i % 2 ? &requests[i / 2].mask : &requests[i / 2].into;
        const tz_byte_extent extent = tz_buffer_extent(buffer);
        if (buffer->memory)
            bounce->bytes =
                tz_add_capped(bounce->bytes, tz_add_capped(extent.before, extent.after));
    }
    if (bounce->bytes == 0)
        return TZ_OK;
    if (bounce->bytes >= how->max_host_bytes)
        return tz_fail_memory_limit(ctx, "filling buffers in device memory by the CPU",
                                    "max_host_bytes", how->max_host_bytes, bounce->bytes);
    how->max_host_bytes -= bounce->bytes;
    bounce->buffers = tz_alloc_array(count, 2 * sizeof *bounce->buffers);
    if (!bounce->buffers)
        return tz_fail_nomem(ctx, tz_mul_capped(count, 2 * sizeof *bounce->buffers));
    for (size_t i = 0; i < 2 * count; i++) {
        tz_pixel_buffer *buffer = i % 2 ? &requests[i / 2].mask : &requests[i / 2].into;
        if (buffer->memory)
            TZ_TRY(replace_buffer(bounce, buffer, dry, ctx));
    }
    return TZ_OK;
}

/* Each buffer is one upload, with the bytes between its samples. */
tz_result tz_bounce_upload(tz_bounce *bounce, const tz_context *ctx)
{
    for (size_t i = 0; i < bounce->count; i++) {
        const tz_bounce_buffer *b = &bounce->buffers[i];
        bounce->use.uploads++;
        bounce->use.upload_bytes += b->size;
        bounce->use.syncs++;
        TZ_TRY(tz_device_copy_in(b->memory, b->offset, b->host, b->size, ctx->err));
    }
    return TZ_OK;
}

void tz_bounce_deinit(tz_bounce *bounce)
{
    for (size_t i = 0; i < bounce->count; i++)
        tz_free(bounce->buffers[i].host);
    tz_free(bounce->buffers);
}
