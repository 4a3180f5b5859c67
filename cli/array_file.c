/* SPDX-License-Identifier: Apache-2.0
 * Writes blocks of samples into an array file. Lines of the array are contiguous in the file, and a
 * block that spans whole lines is one write. */
#include "array_file.h"

#include "npy.h"

tz_result array_file_start(array_file *a, output *to, const request *r, tz_dtype dtype,
                           tz_error *err)
{
    char header[MAX_NPY_HEADER];
    *a = (array_file){.to = to,
                      .bands = r->band_count,
                      .height = r->height,
                      .width = r->width,
                      .order = r->settings->order};
    if (r->format == FORMAT_NPY)
        a->header_size =
            npy_header(header, dtype, r->band_count, r->height, r->width, a->order == ORDER_PIXEL);
    return output_append(to, header, (size_t)a->header_size, err);
}

void array_file_strides(tz_buffer *b, raw_order order)
{
    const int64_t each = (int64_t)tz_dtype_size(b->dtype);
    const int64_t row = each * b->width;
    b->column_stride = order == ORDER_PIXEL ? each * b->bands : each;
    b->row_stride = order == ORDER_BAND ? row : row * b->bands;
    b->band_stride = order == ORDER_PIXEL ? each : order == ORDER_ROW ? row : row * b->height;
}

/* Returns the position of a block's line in the array, in lines. A line is a row of one band, or of
 * all bands where the samples of a pixel lie together. */
static uint64_t line_of(const array_file *a, const block *where, uint64_t line)
{
    if (a->order == ORDER_PIXEL)
        return (uint64_t)where->row + line;
    if (a->order == ORDER_ROW)
        return (uint64_t)where->row * a->bands + line;
    return (where->band + line / where->height) * a->height + where->row + line % where->height;
}

tz_result array_file_put(array_file *a, const block *where, const tz_buffer *samples, tz_error *err)
{
    const size_t each = tz_dtype_size(samples->dtype);
    const uint32_t together = a->order == ORDER_PIXEL ? a->bands : 1;
    const uint64_t lines = (uint64_t)where->height * (a->order == ORDER_PIXEL ? 1 : where->bands);
    const bool full_rows = where->width == a->width;
    const uint64_t joined = !full_rows ? 1 : a->order == ORDER_BAND ? where->height : lines;
    const size_t line_size = (size_t)where->width * together * each;
    const char *from = samples->data;
    tz_result result = TZ_OK;
    for (uint64_t line = 0; line < lines && result == TZ_OK; line += joined) {
        uint64_t first = line_of(a, where, line) * a->width + where->column;
        result = output_write(a->to, a->header_size + first * together * each, from,
                              line_size * (size_t)joined, err);
        from += line_size * joined;
    }
    return result;
}
