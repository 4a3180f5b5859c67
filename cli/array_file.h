/* SPDX-License-Identifier: Apache-2.0
 * Arrays as files: .npy, and .raw, which is the same without a header. Samples are packed, band
 * after band, in the machine's byte order. */
#ifndef CLI_ARRAY_FILE_H
#define CLI_ARRAY_FILE_H

#include "blocks.h"
#include "output.h"
#include "request.h"

typedef struct array_file {
    output *to;
    uint64_t header_size;
    uint32_t height, width;
} array_file;

/* Writes the header. dtype is that of the request, or uint8 for its mask. */
tz_result array_file_start(array_file *a, output *to, const request *r, tz_dtype dtype,
                           tz_error *err);
/* A block of samples; for a stream, blocks come in order. */
tz_result array_file_put(array_file *a, const block *where, const tz_buffer *samples,
                         tz_error *err);

#endif
