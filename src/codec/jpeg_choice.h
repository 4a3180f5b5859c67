/* SPDX-License-Identifier: Apache-2.0
 * What tiles the JPEG encoder takes, what the choices mean for them, and how large things get. */
#ifndef TZ_CODEC_JPEG_CHOICE_H
#define TZ_CODEC_JPEG_CHOICE_H

#include "codec/encoder.h"
#include "codec/jpeg_recode.h"

/* Members of tz_encoder. */
const char *tz_jpeg_choose(const tz_tile_format *format, tz_encode_choice *choice);
const char *tz_jpeg_refuse(const tz_tile_format *format, const tz_encode_choice *choice);
size_t tz_jpeg_bound(const tz_tile_format *format, const tz_encode_choice *choice);
uint64_t tz_jpeg_memory_needed(const tz_tile_format *format, const tz_encode_choice *choice);

/* Which tables go to tag JPEGTables. */
bool tz_jpeg_shares_quantization(const tz_encode_choice *choice);
bool tz_jpeg_shares_huffman(const tz_encode_choice *choice);

/* Huffman tables of a tile's own are made from standard ones, where these will do. */
bool tz_jpeg_recodes(const tz_tile_format *format, const tz_encode_choice *choice);

bool tz_jpeg_is_ycbcr(const tz_tile_format *format);

/* Samples of the first component for one of the others. */
unsigned tz_jpeg_factor_across(const tz_tile_format *format);
unsigned tz_jpeg_factor_down(const tz_tile_format *format);

/* Blocks of 8 x 8 samples, by the tables they use: chroma has the second set. */
tz_jpeg_scan tz_jpeg_scan_of(const tz_tile_format *format);
uint64_t tz_jpeg_block_count(const tz_tile_format *format);

#endif
