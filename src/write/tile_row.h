/* SPDX-License-Identifier: Apache-2.0
 * Rows of a level in host or device memory, and the tiles that they hold. */
#ifndef TZ_WRITE_TILE_ROW_H
#define TZ_WRITE_TILE_ROW_H

#include "device/caller_buffer.h"
#include "tiff/image/image.h"

/* One or more rows of tiles of a level, all columns or some, whose pixels are in memory until the
 * tiles are made. */
typedef struct tz_tile_row {
    tz_pixel_buffer pixels;
    tz_pixel_buffer mask;
    uint32_t row; /* first row of pixels */
    uint32_t rows;
    uint32_t column; /* first column of tiles */
    uint32_t columns;
} tz_tile_row;

/* Position of a tile in its level and in the tile row. */
typedef struct tz_tile_position {
    bool is_mask;
    uint32_t plane;
    uint32_t row; /* of tiles */
    uint32_t column;
    uint32_t width; /* valid pixels: fewer than the tile's at the edge of the image */
    uint32_t height;
    uint32_t buffer_row; /* of its first pixel in the tile row */
    uint32_t buffer_column;
    uint64_t tile_index; /* in the tables */
} tz_tile_position;

/* Memory in which rows are collected. */
typedef struct tz_slab {
    uint8_t *memory;
    tz_device_memory *device; /* instead of memory, from offset on */
    uint64_t offset;
    uint64_t busy_until; /* all tasks below are delivered before it is filled again */
} tz_slab;

/* Bytes from a buffer's first sample to another one. */
static inline int64_t tz_pixel_offset(const tz_pixel_buffer *buffer, uint32_t band, uint64_t row,
                                      uint64_t column)
{
    return (int64_t)band * buffer->band_stride + (int64_t)row * buffer->row_stride +
           (int64_t)column * buffer->column_stride;
}

/* A sample of a buffer in host memory. */
static inline uint8_t *tz_pixel_at(const tz_pixel_buffer *buffer, uint32_t band, uint64_t row,
                                   uint64_t column)
{
    return (uint8_t *)buffer->data + tz_pixel_offset(buffer, band, row, column);
}

/* All columns of some rows of a buffer. */
static inline tz_pixel_buffer tz_buffer_rows(const tz_pixel_buffer *buffer, uint32_t row,
                                             uint32_t rows)
{
    tz_pixel_buffer part = *buffer;
    if (!tz_pixel_buffer_exists(buffer))
        return part;
    if (buffer->memory)
        part.offset += (uint64_t)tz_pixel_offset(buffer, 0, row, 0); /* modulo 2^64: also back */
    else
        part.data = tz_pixel_at(buffer, 0, row, 0);
    part.height = rows;
    return part;
}

/* Sets the buffers of *tile_row to rows of a slab. Samples lie in it as in the tiles, and the mask
 * after the pixels. */
void tz_slab_buffers(const tz_image *image, const tz_slab *slab, uint32_t rows, uint32_t width,
                     tz_tile_row *tile_row);

/* Rows of a slab in the full width of the image, from row on. */
tz_tile_row tz_slab_tile_row(const tz_image *image, const tz_slab *slab, uint32_t row,
                             uint32_t rows);

/* Copies one row in host memory. */
void tz_copy_row(const tz_pixel_buffer *from, uint64_t from_row, const tz_pixel_buffer *to,
                 uint64_t to_row);

#endif
