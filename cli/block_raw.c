/* SPDX-License-Identifier: Apache-2.0
 * Reads the pixels of a block from a file without a header, row by row. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block_pixels.h"
#include "problem.h"

/* The order of samples in the file: planes, their rows, the row of each part, its pixels. */
typedef struct raw_shape {
    uint32_t planes; /* that follow each other as a whole */
    uint32_t parts;  /* rows of samples in each row of a plane */
    uint32_t inside; /* samples of a pixel that lie together */
} raw_shape;

static raw_shape raw_shape_of(const tz_buffer *b, raw_order order)
{
    return (raw_shape){.planes = order == ORDER_BAND ? b->bands : 1,
                       .parts = order == ORDER_ROW ? b->bands : 1,
                       .inside = order == ORDER_PIXEL ? b->bands : 1};
}

static tz_result fail_read(FILE *file, const char *path, tz_error *err)
{
    if (ferror(file))
        return problem_io(err, "read", path, errno);
    return problem_make(err, TZ_ERR_FORMAT, TZ_CAUSE_TRUNCATED,
                        "'%.300s' has fewer pixels than the block", path);
}

/* Copies a row of the file into the buffer: samples of `inside` bands lie together in each pixel.
 */
static void scatter_row(const tz_buffer *b, const uint8_t *row, uint32_t first_band,
                        uint32_t inside, uint32_t y)
{
    size_t size = tz_dtype_size(b->dtype);
    for (uint32_t band = 0; band < inside; band++) {
        uint8_t *to = (uint8_t *)b->data + (int64_t)(first_band + band) * b->band_stride +
                      (int64_t)y * b->row_stride;
        for (uint32_t x = 0; x < b->width; x++)
            memcpy(to + (int64_t)x * b->column_stride, row + ((size_t)x * inside + band) * size,
                   size);
    }
}

static tz_result read_samples(const tz_buffer *b, raw_order order, FILE *file, uint8_t *row,
                              const char *path, tz_error *err)
{
    raw_shape shape = raw_shape_of(b, order);
    size_t size = tz_dtype_size(b->dtype) * b->width * shape.inside;
    for (uint32_t plane = 0; plane < shape.planes; plane++)
        for (uint32_t y = 0; y < b->height; y++)
            for (uint32_t part = 0; part < shape.parts; part++) {
                if (fread(row, 1, size, file) != size)
                    return fail_read(file, path, err);
                scatter_row(b, row, plane + part, shape.inside, y);
            }
    if (fgetc(file) == EOF)
        return TZ_OK;
    return problem_make(err, TZ_ERR_FORMAT, TZ_CAUSE_ARG, "'%.300s' has more pixels than the block",
                        path);
}

static tz_result read_file(const tz_buffer *b, raw_order order, const char *path, tz_error *err)
{
    bool is_input = strcmp(path, "-") == 0;
    uint8_t *row = malloc(tz_dtype_size(b->dtype) * b->width * b->bands);
    if (row == NULL)
        return problem_nomem(err, "a row");
    FILE *file = is_input ? stdin : fopen(path, "rb");
    tz_result result = file != NULL ? read_samples(b, order, file, row, path, err)
                                    : problem_io(err, "open", path, errno);
    if (file != NULL && !is_input)
        fclose(file);
    free(row);
    return result;
}

tz_result block_read_raw(const block_pixels *into, const char *path, const char *mask_path,
                         raw_order order, tz_error *err)
{
    if ((mask_path != NULL) != (into->mask.data != NULL))
        return problem_make(err, TZ_ERR_ARG, TZ_CAUSE_ARG,
                            mask_path != NULL ? "--mask is given, and the plan has no mask"
                                              : "the plan has a mask: --mask names its pixels");
    tz_result result = read_file(&into->pixels, order, path, err);
    if (result == TZ_OK && mask_path != NULL)
        result = read_file(&into->mask, ORDER_BAND, mask_path, err);
    return result;
}
