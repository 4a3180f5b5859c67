/* SPDX-License-Identifier: Apache-2.0
 * Rows of a level in memory, of the host or of a device, and the tiles that they hold. */
#ifndef TZ_WRITE_TILE_ROW_H
#define TZ_WRITE_TILE_ROW_H

#include "tiff/image/image.h"

/* Rows of a level, all of them or some columns of tiles, in memory until their tiles are made. */
typedef struct tz_tile_row {
    tz_buffer pixels;
    tz_buffer mask;
    uint32_t row; /* first one */
    uint32_t rows;
    uint32_t column; /* first one of tiles */
    uint32_t columns;
} tz_tile_row;

/* Where a tile is. */
typedef struct tz_tile_position {
    bool is_mask;
    uint32_t plane;
    uint32_t row; /* of tiles */
    uint32_t column;
    uint32_t width; /* pixels and rows that the image has of it */
    uint32_t height;
    uint32_t buffer_row; /* of its first pixel within the swath */
    uint32_t buffer_column;
    uint64_t tile_index; /* in the tables */
} tz_tile_position;

/* Memory that rows gather in. */
typedef struct tz_slab {
    uint8_t *memory;
    tz_device_memory *device; /* instead, from offset on */
    uint64_t offset;
    uint64_t
        busy_until; /* the belt must have delivered all pieces below, before it is filled again */
} tz_slab;

/* Whether a buffer is in memory of the host or of a device; else there is none. */
static inline bool tz_buffer_has_memory(const tz_buffer *buffer)
{
    return buffer->data || buffer->memory;
}

/* Bytes from a buffer's first sample to another one. */
static inline int64_t tz_pixel_offset(const tz_buffer *buffer, uint32_t band, uint64_t row,
                                      uint64_t column)
{
    return (int64_t)band * buffer->band_stride + (int64_t)row * buffer->row_stride +
           (int64_t)column * buffer->column_stride;
}

/* A place in a buffer of the host. */
static inline uint8_t *tz_pixel_at(const tz_buffer *buffer, uint32_t band, uint64_t row,
                                   uint64_t column)
{
    return (uint8_t *)buffer->data + tz_pixel_offset(buffer, band, row, column);
}

/* A part of a buffer: all columns of rows from row on. */
static inline tz_buffer tz_buffer_rows(const tz_buffer *buffer, uint32_t row, uint32_t rows)
{
    tz_buffer part = *buffer;
    if (!tz_buffer_has_memory(buffer))
        return part;
    if (buffer->memory)
        part.offset += (uint64_t)tz_pixel_offset(buffer, 0, row, 0); /* modulo 2^64: also back */
    else
        part.data = tz_pixel_at(buffer, 0, row, 0);
    part.height = rows;
    return part;
}

#endif
