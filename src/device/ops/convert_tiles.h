/* SPDX-License-Identifier: Apache-2.0
 * From decoded rows to pixels, on a device. The predictor is reverted in place, in one launch for
 * all rows of a batch. Then samples are unpacked, turned to the host's byte order, cast, scaled,
 * compared with nodata and stored, in one launch for all formats of a batch. The pixels are those
 * of pixel/pixel.h, bit for bit. */
#ifndef TZ_DEVICE_OPS_CONVERT_TILES_H
#define TZ_DEVICE_OPS_CONVERT_TILES_H

#include "device/device.h"
#include "pixel/pixel.h"

/* ---- predictors ---- */

/* Rows one after the other, at most TZ_UNPREDICT_MAX_ROWS of them: a longer run of rows is several
 * entries. */
#define TZ_UNPREDICT_MAX_ROWS 64u
typedef struct tz_unpredict_entry {
    uint64_t offset; /* in the slab */
    uint32_t rows;
    uint32_t row_bytes;
    uint32_t count;     /* samples of a row */
    uint16_t stride;    /* samples of a pixel */
    uint8_t width;      /* bytes of a sample */
    uint8_t predictor;  /* 2: samples are plain afterwards; 3: bytes are summed, still in planes */
    uint32_t swap;      /* predictor 2: the bytes of samples are swapped as well */
    uint32_t unused[3]; /* 0 */
} tz_unpredict_entry;

/* True if rows have a predictor; *entry is then filled except for offset and rows. */
bool tz_unpredict_entry_of(const tz_row_format *row, tz_unpredict_entry *entry);

/* ---- formats ---- */

/* The conversion of samples, in words that kernels read (TZ_RULE_* of convert_kernels.h). */
typedef struct tz_convert_format {
    uint64_t words[16];
} tz_convert_format;

/* For rows of this format, after tz_unpredict_launch. Nodata is replaced only by NaN, in buffers of
 * a real floating-point type. */
tz_convert_format tz_convert_format_make(const tz_row_format *row, const tz_conversion *how);
/* For pixels of width bytes that are copied. */
tz_convert_format tz_convert_format_copy(uint32_t width);
/* True if the device can convert so. One without double precision leaves most casts to the CPU. */
bool tz_device_converts(const tz_device *device, const tz_convert_format *format);

/* ---- pixels ---- */

/* A rectangle of one band for one work-group. Callers divide larger rectangles into entries of
 * about TZ_CONVERT_MAX_PIXELS; one whose bytes exceed 32 bits is refused. */
#define TZ_CONVERT_MAX_PIXELS 8192u
enum {
    TZ_CONVERT_INTO = 1,   /* writes the raster */
    TZ_CONVERT_MASK = 2,   /* writes the mask: 0 for nodata, 255 for all else */
    TZ_CONVERT_INVALID = 4 /* writes 0 to the mask everywhere */
};
typedef struct tz_convert_entry {
    uint64_t from;     /* offset of the first row in the slab */
    uint64_t from_row; /* bytes from row to row; 0: all rows are the same */
    uint32_t first;    /* index of the first pixel's sample in its row */
    uint32_t step;     /* samples from pixel to pixel; 0: all pixels are the same */
    uint32_t rows;
    uint32_t columns;
    uint32_t format; /* index in the formats */
    uint32_t flags;  /* TZ_CONVERT_* */
    int64_t into;    /* offset of the first pixel in the raster's memory, and strides in bytes */
    int64_t into_row;
    int64_t into_column;
    int64_t mask; /* the same for the mask */
    int64_t mask_row;
    int64_t mask_column;
    /* Offset of the tile's decode status in the slab. Unless it is 0, nothing is stored.
     * TZ_NO_VALUE: the pixels are always stored. */
    uint64_t status;
} tz_convert_entry;

typedef struct tz_convert_batch {
    tz_device_memory *slab;
    uint64_t formats; /* offset in the slab; a multiple of 8 */
    uint32_t format_count;
    const tz_convert_format *format_table; /* the formats on the host */
    const tz_convert_entry *entries;       /* the entries on the host */
    uint64_t table;                        /* offset of the entries; a multiple of 8 */
    uint64_t count;
    tz_device_memory *into; /* NULL: no entry has TZ_CONVERT_INTO; may be the slab */
    tz_device_memory *mask; /* the same for TZ_CONVERT_MASK */
} tz_convert_batch;

typedef struct tz_unpredict_batch {
    tz_device_memory *slab;
    const tz_unpredict_entry *entries;
    uint64_t table;
    uint64_t count;
} tz_unpredict_batch;

/* Check that every entry stays within its memory (TZ_ERR_ARG names the entry), and launch. A count
 * of 0 launches nothing. */
tz_result tz_unpredict_launch(const tz_unpredict_batch *batch, uint32_t queue, tz_error *err);
tz_result tz_convert_launch(const tz_convert_batch *batch, uint32_t queue, tz_error *err);

#endif
