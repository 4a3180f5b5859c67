/* SPDX-License-Identifier: Apache-2.0 */
#include "array_file.h"

#include "npy.h"

tz_result array_file_start(array_file *a, output *to, const request *r, tz_dtype dtype,
                           tz_error *err)
{
    char header[NPY_HEADER_MOST];
    *a = (array_file){.to = to, .height = r->height, .width = r->width};
    if (r->format == FORMAT_NPY)
        a->header_size = npy_header(header, dtype, r->band_count, r->height, r->width);
    return output_append(to, header, (size_t)a->header_size, err);
}

tz_result array_file_put(array_file *a, const block *where, const tz_buffer *samples, tz_error *err)
{
    const size_t each = tz_dtype_size(samples->dtype);
    const bool full_rows = where->width == a->width;
    const uint32_t pieces = full_rows ? 1 : where->height; /* of each band */
    const size_t size = (size_t)where->width * each * (full_rows ? where->height : 1);
    const char *from = samples->data;
    for (uint32_t band = 0; band < where->bands; band++) {
        for (uint32_t i = 0; i < pieces; i++) {
            uint64_t row = (uint64_t)(where->band + band) * a->height + where->row + i;
            uint64_t offset = a->header_size + (row * a->width + where->column) * each;
            tz_result result = output_write(a->to, offset, from, size, err);
            if (result != TZ_OK)
                return result;
            from += size;
        }
    }
    return TZ_OK;
}
