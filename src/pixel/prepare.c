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

size_t tz_row_scratch_bytes(const tz_row_format *format)
{
    const size_t samples = (size_t)format->width * format->samples;
    if (format->predictor == 3 && format->bits == 24)
        return samples * 3 + samples * tz_dtype_size(format->dtype);
    if (format->predictor == 3 || !is_whole(format->bits))
        return samples * tz_dtype_size(format->dtype);
    return 0;
}

#define SWAP_ROW(name, type)                                                                       \
    static void swap_row_##name(void *row, uint32_t count)                                         \
    {                                                                                              \
        type *words = row;                                                                         \
        for (uint32_t i = 0; i < count; i++)                                                       \
            words[i] = tz_swap_##name(words[i]);                                                   \
    }
SWAP_ROW(u16, tz_u16)
SWAP_ROW(u32, tz_u32)
SWAP_ROW(u64, tz_u64)

static void swap_row(void *row, uint32_t count, unsigned width)
{
    if (width == 2)
        swap_row_u16(row, count);
    else if (width == 4)
        swap_row_u32(row, count);
    else if (width == 8)
        swap_row_u64(row, count);
}

static void undo_predictor2(void *row, uint32_t count, uint32_t stride, unsigned width)
{
    if (width == 1)
        tz_undo_predictor2_u8(row, count, stride);
    else if (width == 2)
        tz_undo_predictor2_u16(row, count, stride);
    else if (width == 4)
        tz_undo_predictor2_u32(row, count, stride);
    else
        tz_undo_predictor2_u64(row, count, stride);
}

static const uint8_t *prepare_whole(const tz_row_format *format, uint8_t *row, uint32_t pixels)
{
    const uint32_t count = words_of(format, pixels);
    const unsigned width = word_bytes(format);
    if (format->swap)
        swap_row(row, count, width);
    if (format->predictor == 2)
        undo_predictor2(row, count, words_of(format, 1), width);
    return row;
}

static void unpack_row(const tz_row_format *format, const uint8_t *row, uint32_t count,
                       uint8_t *out)
{
    const bool sign = format->sample_format == 2;
    void *to = out;
    switch (tz_dtype_size(format->dtype)) {
    case 1:
        (sign ? tz_unpack_signed_u8 : tz_unpack_u8)(row, to, 0, count, format->bits);
        break;
    case 2:
        (sign ? tz_unpack_signed_u16 : tz_unpack_u16)(row, to, 0, count, format->bits);
        break;
    default:
        (sign ? tz_unpack_signed_u32 : tz_unpack_u32)(row, to, 0, count, format->bits);
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
    uint32_t *to = (uint32_t *)(void *)out;
    for (uint32_t i = 0; i < count; i++)
        to[i] = tz_f24_to_f32_bits(load_24(row + (size_t)i * 3, little_endian));
}

static bool host_is_little_endian(void)
{
    const uint16_t probe = 1;
    uint8_t first;
    memcpy(&first, &probe, 1);
    return first == 1;
}

/* Predictor 3 mixes the bytes of a whole row, whatever part of it is wanted. */
static const uint8_t *prepare_predictor3(const tz_row_format *format, uint8_t *row,
                                         uint8_t *scratch)
{
    const uint32_t count = format->width * format->samples;
    const unsigned width = format->bits / 8u;
    if (width == 3) {
        uint8_t *packed = scratch + (size_t)count * tz_dtype_size(format->dtype);
        tz_undo_predictor3(row, packed, count, width, format->samples);
        widen_f24(packed, count, true, scratch);
        return scratch;
    }
    tz_undo_predictor3(row, scratch, count, width, format->samples);
    if (!host_is_little_endian())
        swap_row(scratch, count, width);
    return scratch;
}

const uint8_t *tz_row_prepare(const tz_row_format *format, uint8_t *row, uint32_t pixels,
                              uint8_t *scratch)
{
    if (format->predictor == 3)
        return prepare_predictor3(format, row, scratch);
    if (is_whole(format->bits))
        return prepare_whole(format, row, pixels);
    const uint32_t count = pixels * format->samples;
    if (format->bits == 24 && format->sample_format == 3)
        widen_f24(row, count, host_is_little_endian() != format->swap, scratch);
    else
        unpack_row(format, row, count, scratch);
    return scratch;
}
