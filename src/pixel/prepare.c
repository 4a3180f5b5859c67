/* SPDX-License-Identifier: Apache-2.0
 * Rows as the file has them to rows of plain samples. */
#include "kernels/stored_sample.h"
#include "pixel/row_ops.h"

bool tz_row_has_words(const tz_row_format *format)
{
    return format->bits >= 8 && (format->bits & (format->bits - 1u)) == 0;
}

const char *tz_row_unsupported(const tz_row_format *format)
{
    if (format->dtype == TZ_DTYPE_NONE)
        return "samples of this depth and format";
    if (format->predictor == 2 && !(tz_row_has_words(format) && format->bits <= 64))
        return "predictor 2 with samples that are not of 8, 16, 32 or 64 bits";
    if (format->predictor == 3 && (format->sample_format != 3 || format->bits < 16))
        return "predictor 3 with samples that are not floating-point";
    return NULL;
}

bool tz_row_is_plain(const tz_row_format *format)
{
    return tz_row_has_words(format) && format->predictor == 1 &&
           !(format->swap && format->bits > 8);
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

/* Complex samples are pairs of numbers, each with its own byte order. For predictor 2 they are one
 * number all the same: that is how libtiff writes them. */
static const uint8_t *prepare_words(const tz_row_ops *ops, const tz_row_format *format,
                                    const uint8_t *row, uint32_t pixels, uint8_t *out)
{
    const size_t count = (size_t)pixels * format->samples;
    const unsigned components = tz_row_components(format);
    const unsigned index = tz_word_index(format->bits / 8u / components);
    if (format->predictor == 2)
        ops->unpredict2[tz_word_index(format->bits / 8u)](row, out, count, format->samples,
                                                          format->swap);
    else if (format->swap && ops->swap[index])
        ops->swap[index](row, out, count * components);
    else
        return row;
    return out;
}

/* Floats of 24 bits are whole bytes; all other odd widths are a stream of bits, which has no byte
 * order. */
static void widen_f24(const uint8_t *row, size_t count, bool highest_first, uint8_t *out)
{
    for (size_t i = 0; i < count; i++)
        tz_store_u32(out + i * 4, tz_f24_to_f32_bits(tz_load_f24(row + i * 3, highest_first)));
}

/* Predictor 3 mixes the bytes of a whole row, whatever part of it is wanted. */
static void prepare_predictor3(const tz_row_ops *ops, const tz_row_format *format, uint8_t *row,
                               size_t wanted, uint8_t *out, uint8_t *scratch)
{
    const size_t count = (size_t)format->width * format->samples;
    const unsigned width = format->bits / 8u;
    if (width == 3) {
        tz_scalar_unpredict3(row, scratch, count, wanted, width, format->samples);
        widen_f24(scratch, wanted, !tz_host_is_little_endian(), out);
    } else {
        ops->unpredict3(row, out, count, wanted, width, format->samples);
    }
}

const uint8_t *tz_row_prepare(const tz_row_format *format, uint8_t *row, uint32_t pixels,
                              uint8_t *out, uint8_t *scratch)
{
    const tz_row_ops *ops = tz_row_ops_get();
    const size_t count = (size_t)pixels * format->samples;
    if (format->predictor == 3)
        prepare_predictor3(ops, format, row, count, out, scratch);
    else if (tz_row_has_words(format))
        return prepare_words(ops, format, row, pixels, out);
    else if (format->bits == 24 && format->sample_format == 3)
        widen_f24(row, count, tz_host_is_little_endian() == format->swap, out);
    else
        ops->unpack(row, out, count, format->bits, tz_dtype_size(format->dtype),
                    format->sample_format == 2);
    return out;
}
