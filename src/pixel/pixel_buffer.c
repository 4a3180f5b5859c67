/* SPDX-License-Identifier: Apache-2.0
 * Buffers of pixels as the library uses them. */
#include "base/mem.h"
#include "pixel/pixel.h"

tz_pixel_buffer tz_pixel_buffer_of_shape(const tz_buffer *buffer)
{
    return (tz_pixel_buffer){.dtype = buffer->dtype,
                             .bands = buffer->bands,
                             .height = buffer->height,
                             .width = buffer->width,
                             .band_stride = buffer->band_stride,
                             .row_stride = buffer->row_stride,
                             .column_stride = buffer->column_stride};
}

bool tz_pixel_buffer_set_strides(tz_pixel_buffer *buffer)
{
    if (buffer->band_stride != 0 || buffer->row_stride != 0 || buffer->column_stride != 0)
        return true;
    const uint64_t row = tz_mul_capped(tz_dtype_size(buffer->dtype), buffer->width);
    const uint64_t band = tz_mul_capped(row, buffer->height);
    if (tz_mul_capped(band, buffer->bands) > INT64_MAX)
        return false;
    buffer->column_stride = (int64_t)tz_dtype_size(buffer->dtype);
    buffer->row_stride = (int64_t)row;
    buffer->band_stride = (int64_t)band;
    return true;
}
