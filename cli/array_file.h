/* SPDX-License-Identifier: Apache-2.0
 * Arrays as files: .npy, and .raw, which is the same without a header. Samples are packed, in the
 * order that the request asks for and in the machine's byte order. */
#ifndef CLI_ARRAY_FILE_H
#define CLI_ARRAY_FILE_H

#include "blocks.h"
#include "output.h"
#include "request.h"

typedef struct array_file {
    output *to;
    uint64_t header_size;
    uint32_t bands, height, width;
    raw_order order;
} array_file;

/* Writes the header. dtype is that of the request, or uint8 for its mask. */
tz_result array_file_start(array_file *a, output *to, const request *r, tz_dtype dtype,
                           tz_error *err);
/* Writes a block of samples, which has the strides of array_file_strides. Blocks of a stream come
 * in order. A block has all bands unless the array is band after band. */
tz_result array_file_put(array_file *a, const block *where, const tz_buffer *samples,
                         tz_error *err);

/* Sets the strides of a packed block in an order, for the buffer that it is read to. */
void array_file_strides(tz_buffer *block, raw_order order);

#endif
