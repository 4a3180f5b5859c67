/* SPDX-License-Identifier: Apache-2.0
 * Options, limits and sizes of the JPEG encoder. */
#include "codec/jpeg.h"

#include "base/mem.h"
#include "codec/jpeg_memory.h"

/* ---------------------------------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------------------------------ */

bool tz_jpeg_shares_quantization(const tz_encode_options *options)
{
    return options->jpeg_tables == TZ_JPEG_TABLES_QUANT ||
           options->jpeg_tables == TZ_JPEG_TABLES_BOTH;
}

bool tz_jpeg_shares_huffman(const tz_encode_options *options)
{
    return options->jpeg_tables == TZ_JPEG_TABLES_HUFFMAN ||
           options->jpeg_tables == TZ_JPEG_TABLES_BOTH;
}

bool tz_jpeg_recodes(const tz_tile_format *format, const tz_encode_options *options)
{
    return !tz_jpeg_shares_huffman(options) && format->bits == 8;
}

bool tz_jpeg_is_ycbcr(const tz_tile_format *format)
{
    return format->photometric == TZ_PHOTOMETRIC_YCBCR;
}

const char *tz_jpeg_resolve_options(const tz_tile_format *format, tz_encode_options *options)
{
    if (options->quality == 0)
        options->quality = 75;
    if (options->quality > 100)
        return "JPEG quality is 1 to 100";
    if (options->jpeg_tables == TZ_JPEG_TABLES_DEFAULT)
        options->jpeg_tables = TZ_JPEG_TABLES_QUANT;
    if (options->jpeg_tables < TZ_JPEG_TABLES_QUANT || options->jpeg_tables > TZ_JPEG_TABLES_NONE)
        return "JPEG tables to share are quantization, Huffman, both or none";
    if (format->bits > 8 && tz_jpeg_shares_huffman(options))
        return "JPEG with 12 bits cannot share Huffman tables: the standard ones are for 8 bits";
    if (options->lossless)
        return "JPEG is not lossless";
    return NULL;
}

unsigned tz_jpeg_factor_across(const tz_tile_format *format)
{
    return tz_jpeg_is_ycbcr(format) ? format->subsampling[0] : 1;
}

unsigned tz_jpeg_factor_down(const tz_tile_format *format)
{
    return tz_jpeg_is_ycbcr(format) ? format->subsampling[1] : 1;
}

const char *tz_jpeg_unsupported_reason(const tz_tile_format *format,
                                       const tz_encode_options *options)
{
    (void)options;
    if (format->sample_format != TZ_SAMPLE_FORMAT_UINT ||
        (format->bits != 8 && !(format->bits == 12 && TZ_JPEG_HAS_12_BITS)))
        return TZ_JPEG_HAS_12_BITS ? "JPEG takes uint8, or unsigned samples of 12 bits"
                                   : "JPEG takes uint8";
    if (format->samples < 1 || format->samples > MAX_COMPS_IN_SCAN)
        return "JPEG takes 1 to 4 bands interleaved by pixel, or any number of bands stored apart";
    if (format->photometric == TZ_PHOTOMETRIC_PALETTE)
        return "JPEG changes values a little, which a palette cannot bear";
    const uint16_t across = format->subsampling[0], down = format->subsampling[1];
    if (tz_jpeg_is_ycbcr(format) && format->samples != 3)
        return "JPEG as YCbCr takes 3 bands, interleaved by pixel";
    if (tz_jpeg_is_ycbcr(format) && (across < 1 || across > 2 || down < 1 || down > across))
        return "JPEG as YCbCr is subsampled by 1 x 1, 2 x 1 or 2 x 2";
    if (format->width > JPEG_MAX_DIMENSION || format->height > JPEG_MAX_DIMENSION)
        return "JPEG takes up to 65,500 pixels in each direction";
    if (format->height % (DCTSIZE * tz_jpeg_factor_down(format)) != 0)
        return tz_jpeg_factor_down(format) == 1
                   ? "rows of a JPEG tile or strip are a multiple of 8"
                   : "rows of a JPEG tile or strip that is subsampled are a multiple of 16";
    return NULL;
}

/* ---------------------------------------------------------------------------------------------
 * Sizes
 * ------------------------------------------------------------------------------------------ */

tz_jpeg_mcu_layout tz_jpeg_mcu_layout_of(const tz_tile_format *format)
{
    const unsigned across = tz_jpeg_factor_across(format), down = tz_jpeg_factor_down(format);
    tz_jpeg_mcu_layout layout = {.mcu_count = tz_ceil_div(format->width, DCTSIZE * across) *
                                              tz_ceil_div(format->height, DCTSIZE * down)};
    layout.blocks[0] = tz_jpeg_is_ycbcr(format) ? across * down : format->samples;
    layout.blocks[1] = tz_jpeg_is_ycbcr(format) ? 2 : 0;
    return layout;
}

uint64_t tz_jpeg_block_count(const tz_tile_format *format)
{
    const tz_jpeg_mcu_layout layout = tz_jpeg_mcu_layout_of(format);
    return layout.mcu_count * (layout.blocks[0] + layout.blocks[1]);
}

enum {
    /* The energy of samples bounds that of the coefficients, and so the bits they take: with the
     * standard tables and the finest quantization no block of 8-bit samples takes more than 145
     * bytes before stuffing. Tables made for a tile do better still. */
    BLOCK_BYTES = 192,
    BLOCK_BYTES_12 = 256,
    HEADER_BYTES = 4096 /* markers with all tables take less than half of it */
};

size_t tz_jpeg_bound(const tz_tile_format *format, const tz_encode_options *options)
{
    (void)options;
    uint64_t bytes =
        tz_jpeg_block_count(format) * (format->bits > 8 ? BLOCK_BYTES_12 : BLOCK_BYTES) +
        HEADER_BYTES;
    size_t size;
    return tz_to_size(bytes, &size) ? size : SIZE_MAX;
}

/* Rows of samples before and after chroma is subsampled; for Huffman tables made for a tile, the
 * tile with standard ones and its tokens, or all coefficients; and the unused ends of the pools'
 * blocks.
 */
uint64_t tz_jpeg_encoder_memory(const tz_tile_format *format, const tz_encode_options *options)
{
    const uint64_t row = ((uint64_t)format->width + 2 * DCTSIZE + 128) * (format->bits > 8 ? 2 : 1);
    uint64_t bytes = row * format->samples * (3 * DCTSIZE);
    if (tz_jpeg_recodes(format, options))
        bytes += tz_jpeg_bound(format, options) + TZ_JPEG_RECODE_SLACK +
                 tz_jpeg_block_count(format) * TZ_JPEG_BLOCK_TOKENS * sizeof(uint32_t);
    else if (!tz_jpeg_shares_huffman(options))
        bytes += tz_jpeg_block_count(format) * sizeof(JBLOCK) +
                 (uint64_t)format->height * sizeof(void *);
    return bytes + (1u << 17) * (1 + (uint64_t)format->samples);
}
