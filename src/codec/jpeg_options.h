/* SPDX-License-Identifier: Apache-2.0
 * What tiles the JPEG encoder takes, what the choices mean for them, and how large things get. */
#ifndef TZ_CODEC_JPEG_OPTIONS_H
#define TZ_CODEC_JPEG_OPTIONS_H

#include "codec/encoder.h"
#include "codec/jpeg_recode.h"

/* Members of tz_encoder. */
const char *tz_jpeg_resolve_options(const tz_tile_format *format, tz_encode_options *options);
const char *tz_jpeg_unsupported_reason(const tz_tile_format *format,
                                       const tz_encode_options *options);
size_t tz_jpeg_bound(const tz_tile_format *format, const tz_encode_options *options);
uint64_t tz_jpeg_encoder_memory(const tz_tile_format *format, const tz_encode_options *options);

/* Which tables go to tag JPEGTables. */
bool tz_jpeg_shares_quantization(const tz_encode_options *options);
bool tz_jpeg_shares_huffman(const tz_encode_options *options);

/* Huffman tables of a tile's own are made from standard ones, where these will do. */
bool tz_jpeg_recodes(const tz_tile_format *format, const tz_encode_options *options);

bool tz_jpeg_is_ycbcr(const tz_tile_format *format);

/* Samples of the first component for one of the others. */
unsigned tz_jpeg_factor_across(const tz_tile_format *format);
unsigned tz_jpeg_factor_down(const tz_tile_format *format);

/* Blocks of 8 x 8 samples, by the tables they use: chroma has the second set. */
tz_jpeg_mcu_layout tz_jpeg_mcu_layout_of(const tz_tile_format *format);
uint64_t tz_jpeg_block_count(const tz_tile_format *format);

#endif
