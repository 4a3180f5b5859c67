/* SPDX-License-Identifier: Apache-2.0
 * What a JPEG stream says of itself, read before libjpeg sees it. */
#ifndef TZ_CODEC_JPEG_MARKERS_H
#define TZ_CODEC_JPEG_MARKERS_H

#include "codec/codec.h"

#define TZ_JPEG_MAX_COMPONENTS 4
#define TZ_JPEG_MAX_TABLES     4

/* Which tables are there: bit i stands for table i. */
typedef struct tz_jpeg_table_set {
    uint8_t quant;
    uint8_t dc;
    uint8_t ac;
    /* The codes of each DC table, inside the stream that defines it: 16 counts, then symbols. */
    const uint8_t *dc_codes[TZ_JPEG_MAX_TABLES];
} tz_jpeg_table_set;

typedef struct tz_jpeg_component {
    uint8_t id;
    uint8_t h; /* sampling factors, 1 to 4 */
    uint8_t v;
    uint8_t quant;
} tz_jpeg_component;

/* One scan of a lossless image. What it points to is in the stream or in JPEGTables. */
typedef struct tz_jpeg_lossless_scan {
    uint8_t count;                                /* components in the scan */
    uint8_t components[TZ_JPEG_MAX_COMPONENTS];   /* indices into tz_jpeg_info.components */
    const uint8_t *codes[TZ_JPEG_MAX_COMPONENTS]; /* 16 counts, then symbols */
    uint8_t predictor;                            /* 1 to 7 */
    uint8_t shift;                                /* the point transform */
    uint16_t restart_interval;                    /* units; 0: none */
    const uint8_t *data;                          /* entropy-coded bytes */
} tz_jpeg_lossless_scan;

typedef struct tz_jpeg_info {
    uint16_t width;
    uint16_t height;
    uint8_t precision;
    uint8_t component_count;
    tz_jpeg_component components[TZ_JPEG_MAX_COMPONENTS];
    bool progressive;
    bool lossless;           /* lossless_scans are set */
    bool many_scans;         /* libjpeg keeps all coefficients in memory */
    bool changes_tables;     /* has tables of its own */
    int16_t adobe_transform; /* 0 none, 1 YCbCr, 2 YCCK; -1: no Adobe marker */
    uint32_t scans;
    tz_jpeg_lossless_scan
        lossless_scans[TZ_JPEG_MAX_COMPONENTS]; /* each component is in one of them */
} tz_jpeg_info;

/* An abbreviated stream for table specification (tag JPEGTables): which tables it has. Anything but
 * tables and comments in it is an error. */
tz_result tz_jpeg_read_tables(tz_jpeg_table_set *out, const uint8_t *data, size_t size,
                              const tz_codec_call *call);

/* A stream with an image, given the tables known before it. Makes sure that it is a Huffman-coded
 * baseline, extended, progressive or lossless image, that every scan finds the tables it names,
 * that all components are there, and that the number of scans is within max_jpeg_scans. */
tz_result tz_jpeg_read_info(tz_jpeg_info *out, const uint8_t *data, size_t size,
                            tz_jpeg_table_set tables, const tz_codec_call *call);

/* Whether the stream, which is not lossless, is one of such a tile: codec_jpeg.c. */
tz_result tz_jpeg_check_tile(const tz_jpeg_info *info, const tz_tile_format *format,
                             const tz_codec_call *call);

/* Bytes of all coefficients of an image with many scans. */
uint64_t tz_jpeg_coefficient_bytes(const tz_jpeg_info *info);

#endif
