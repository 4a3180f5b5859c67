/* SPDX-License-Identifier: Apache-2.0
 * From decoded rows to pixels, on a device: differences are undone in place, one launch for all
 * rows of a batch; then samples are unpacked, turned to the host's byte order, cast, scaled,
 * compared with nodata and put to their places, one launch for all of a batch whatever the formats
 * in it. Each sample becomes what pixel.h makes of it, bit for bit. */
#ifndef TZ_DEVICE_OPS_CONVERT_LAUNCH_H
#define TZ_DEVICE_OPS_CONVERT_LAUNCH_H

#include "device/device.h"
#include "pixel/pixel.h"

/* ---- differences ---- */

/* Rows one behind the other, at most TZ_UNPREDICT_MAX_ROWS of them: a longer run of rows is several
 * entries.
 */
#define TZ_UNPREDICT_MAX_ROWS 64u
typedef struct tz_unpredict_entry {
    uint64_t offset; /* in the slab */
    uint32_t rows;
    uint32_t row_bytes;
    uint32_t count;     /* samples of a row */
    uint16_t stride;    /* samples of a pixel */
    uint8_t width;      /* bytes of a sample */
    uint8_t predictor;  /* 2: samples are plain afterwards; 3: sums of bytes, still sorted */
    uint32_t swap;      /* predictor 2: the other byte order before, and not after */
    uint32_t unused[3]; /* 0 */
} tz_unpredict_entry;

/* Whether rows have to be undone before they are placed; *entry is then filled but for offset and
 * rows. */
bool tz_unpredict_entry_of(const tz_row_format *row, tz_unpredict_entry *entry);

/* ---- placement ---- */

/* What happens to samples; made by tz_convert_format_make, read by kernels. */
typedef struct tz_convert_format {
    uint64_t words[16];
} tz_convert_format;

/* Rows of the format, after what tz_unpredict_entry_of says; how as in pixel.h. */
tz_convert_format tz_convert_format_make(const tz_row_format *row, const tz_conversion *how);
/* Bytes copied as they are: width bytes a pixel. */
tz_convert_format tz_convert_format_copy(uint32_t width);
/* Whether a device can do it: without double precision most casts are left to the cores. */
bool tz_device_converts(const tz_device *device, const tz_convert_format *format);

/* A rectangle of samples of one band, done by one group: about TZ_CONVERT_MAX_PIXELS of them at
 * most, so larger ones are several entries. Those of more bytes than 32 bits count are refused. */
#define TZ_CONVERT_MAX_PIXELS 8192u
enum {
    TZ_CONVERT_INTO = 1,   /* to the raster */
    TZ_CONVERT_MASK = 2,   /* to the mask: 0 for nodata, 255 for all else */
    TZ_CONVERT_INVALID = 4 /* the mask gets 0 */
};
typedef struct tz_convert_entry {
    uint64_t from;     /* in the slab: the start of the first row */
    uint64_t from_row; /* bytes from row to row; 0: the same row again and again */
    uint32_t first;    /* sample of the row that the first pixel has */
    uint32_t step;     /* samples from pixel to pixel; 0: the same one again and again */
    uint32_t rows;
    uint32_t columns;
    uint32_t format; /* which one of the table */
    uint32_t flags;
    int64_t into; /* byte of the first pixel in the raster's memory, and from one to the next */
    int64_t into_row;
    int64_t into_column;
    int64_t mask; /* the same of the mask */
    int64_t mask_row;
    int64_t mask_column;
    uint64_t status; /* where in the slab the tile's decode status is; nothing is placed where it
                        is not 0. TZ_NONE: always */
} tz_convert_entry;

typedef struct tz_convert_batch {
    tz_device_memory *slab;
    uint64_t formats; /* where in the slab; a multiple of 8 */
    uint32_t format_count;
    const tz_convert_format *format_table; /* on the host, as the table has them */
    const tz_convert_entry *entries;       /* the same */
    uint64_t table;                        /* where the entries are; a multiple of 8 */
    uint64_t count;
    tz_device_memory *into; /* NULL: no entry has TZ_CONVERT_INTO; may be the slab */
    tz_device_memory *mask; /* the same */
} tz_convert_batch;

typedef struct tz_unpredict_batch {
    tz_device_memory *slab;
    const tz_unpredict_entry *entries;
    uint64_t table;
    uint64_t count;
} tz_unpredict_batch;

/* Check that every entry stays within its memory (TZ_ERR_ARG names the entry), and launch. A count
 * of 0 is nothing to do. */
tz_result tz_unpredict_launch(const tz_unpredict_batch *batch, uint32_t queue, tz_error *err);
tz_result tz_convert_launch(const tz_convert_batch *batch, uint32_t queue, tz_error *err);

#endif
