/* SPDX-License-Identifier: Apache-2.0
 * Rows as the file has them to rows of plain samples. */
#include "kernels/predictor.h"
#include "kernels/unpack.h"
#include "pixel/pixel.h"

static bool is_whole(uint16_t bits)
{
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128;
}

/* Bytes of what a predictor or a swap works on: complex samples are pairs. */
static unsigned word_bytes(const tz_row_format *format)
{
    const unsigned bytes = format->bits / 8u;
    return format->sample_format == 5 || format->sample_format == 6 ? bytes / 2 : bytes;
}

static uint32_t words_of(const tz_row_format *format, uint32_t pixels)
{
    const uint32_t parts = format->sample_format == 5 || format->sample_format == 6 ? 2 : 1;
    return pixels * format->samples * parts;
}

const char *tz_row_unsupported(const tz_row_format *format)
{
    if (format->dtype == TZ_DTYPE_NONE)
        return "samples of this depth and format";
    if (format->predictor == 2 && !(is_whole(format->bits) && word_bytes(format) <= 8))
        return "predictor 2 with samples that are not of 8, 16, 32 or 64 bits";
    if (format->predictor == 3 && (format->sample_format != 3 || format->bits < 16))
        return "predictor 3 with samples that are not floating-point";
    return NULL;
}

size_t tz_row_bytes(const tz_row_format *format)
{
    return (size_t)(((uint64_t)format->width * format->samples * format->bits + 7) / 8);
}

size_t tz_row_prepared_bytes(const tz_row_format *format)
{
    return (size_t)format->width * format->samples * tz_dtype_size(format->dtype);
}

/* 24-bit floats are joined there before they are widened. */
size_t tz_row_scratch_bytes(const tz_row_format *format)
{
    const bool joins = format->predictor == 3 && format->bits == 24;
    return joins ? (size_t)format->width * format->samples * 3 : 0;
}

static void swap_row(const uint8_t *row, uint8_t *out, size_t count, unsigned width)
{
    if (width == 2)
        tz_swap_row_u16(row, out, count);
    else if (width == 4)
        tz_swap_row_u32(row, out, count);
    else
        tz_swap_row_u64(row, out, count);
}

static void undo_predictor2(const tz_row_format *format, const uint8_t *row, uint8_t *out,
                            size_t count)
{
    const uint32_t stride = words_of(format, 1);
    switch (word_bytes(format)) {
    case 1:
        tz_undo_predictor2_u8(row, out, count, stride, format->swap);
        break;
    case 2:
        tz_undo_predictor2_u16(row, out, count, stride, format->swap);
        break;
    case 4:
        tz_undo_predictor2_u32(row, out, count, stride, format->swap);
        break;
    default:
        tz_undo_predictor2_u64(row, out, count, stride, format->swap);
        break;
    }
}

static const uint8_t *prepare_whole(const tz_row_format *format, const uint8_t *row,
                                    uint32_t pixels, uint8_t *out)
{
    const uint32_t count = words_of(format, pixels);
    const unsigned width = word_bytes(format);
    if (format->predictor == 2)
        undo_predictor2(format, row, out, count);
    else if (format->swap && width > 1)
        swap_row(row, out, count, width);
    else
        return row;
    return out;
}

static void unpack_row(const tz_row_format *format, const uint8_t *row, uint32_t count,
                       uint8_t *out)
{
    const bool sign = format->sample_format == 2;
    switch (tz_dtype_size(format->dtype)) {
    case 1:
        (sign ? tz_unpack_signed_u8 : tz_unpack_u8)(row, out, 0, count, format->bits);
        break;
    case 2:
        (sign ? tz_unpack_signed_u16 : tz_unpack_u16)(row, out, 0, count, format->bits);
        break;
    default:
        (sign ? tz_unpack_signed_u32 : tz_unpack_u32)(row, out, 0, count, format->bits);
        break;
    }
}

/* Floats of 24 bits are whole bytes, in the file's byte order; all other odd widths are a stream of
 * bits, which has no byte order. */
static uint32_t load_24(const uint8_t *p, bool little_endian)
{
    return little_endian ? (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0]
                         : (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static void widen_f24(const uint8_t *row, uint32_t count, bool little_endian, uint8_t *out)
{
    for (uint32_t i = 0; i < count; i++)
        tz_store_u32(out + (size_t)i * 4,
                     tz_f24_to_f32_bits(load_24(row + (size_t)i * 3, little_endian)));
}

static bool host_is_little_endian(void)
{
    const uint16_t probe = 1;
    uint8_t first;
    memcpy(&first, &probe, 1);
    return first == 1;
}

/* Predictor 3 mixes the bytes of a whole row, whatever part of it is wanted. */
static void prepare_predictor3(const tz_row_format *format, uint8_t *row, uint32_t wanted,
                               uint8_t *out, uint8_t *scratch)
{
    const size_t count = (size_t)format->width * format->samples;
    const unsigned width = format->bits / 8u;
    uint8_t *joined = width == 3 ? scratch : out;
    tz_sum_bytes(row, count * (width - 1) + wanted, format->samples);
    tz_join_planes(row, joined, count, wanted, width);
    if (width == 3)
        widen_f24(scratch, wanted, true, out);
    else if (!host_is_little_endian())
        swap_row(out, out, wanted, width);
}

const uint8_t *tz_row_prepare(const tz_row_format *format, uint8_t *row, uint32_t pixels,
                              uint8_t *out, uint8_t *scratch)
{
    const uint32_t count = pixels * format->samples;
    if (format->predictor == 3)
        prepare_predictor3(format, row, count, out, scratch);
    else if (is_whole(format->bits))
        return prepare_whole(format, row, pixels, out);
    else if (format->bits == 24 && format->sample_format == 3)
        widen_f24(row, count, host_is_little_endian() != format->swap, out);
    else
        unpack_row(format, row, count, out);
    return out;
}
