/* SPDX-License-Identifier: Apache-2.0
 * Lossless JPEG: frames of kind SOF3, samples of 2 to 16 bits, Huffman codes. libjpeg takes no
 * part in it. */
#ifndef TZ_CODEC_JPEG_LOSSLESS_H
#define TZ_CODEC_JPEG_LOSSLESS_H

#include "codec/jpeg_markers.h"

enum {
    TZ_LOSSLESS_FAST_BITS = 9,  /* codes up to this length are found by one look */
    TZ_LOSSLESS_MAX_LENGTH = 16 /* bits of the longest code */
};

/* A Huffman table, ready for decoding. */
typedef struct tz_lossless_codes {
    uint16_t fast[1 << TZ_LOSSLESS_FAST_BITS]; /* length << 8 | symbol; 0: a longer code, or none */
    /* For each length: the first value of 16 bits that no code up to this length begins, and what
     * takes a code to the index of its symbol. */
    uint32_t limits[TZ_LOSSLESS_MAX_LENGTH + 1];
    int32_t first[TZ_LOSSLESS_MAX_LENGTH + 1];
    const uint8_t *symbols;
} tz_lossless_codes;

/* Scratch of one thread; zeroed by the caller. */
typedef struct tz_jpeg_lossless {
    tz_lossless_codes codes[TZ_JPEG_MAX_COMPONENTS]; /* of the components of a scan */
    uint16_t *rows;                                  /* two of each component */
    size_t capacity;                                 /* samples of rows */
} tz_jpeg_lossless;

/* Decode a stream that tz_jpeg_read_info found to be lossless, and that ends at end. Frame and tile
 * may differ in width, height and components as long as they have the same number of samples, as
 * DNG allows: samples are then taken in the order of rows. */
tz_result tz_jpeg_decode_lossless(tz_jpeg_lossless *state, const tz_jpeg_info *info,
                                  const tz_tile_format *format, const uint8_t *end, uint8_t *out,
                                  size_t stride, const tz_codec_call *call);

void tz_jpeg_lossless_deinit(tz_jpeg_lossless *state); /* zeroed state is fine */

#endif
