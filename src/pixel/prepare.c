/* SPDX-License-Identifier: Apache-2.0
 * Rows as the file has them to rows of samples of a type: predictors are reverted, byte order is
 * changed, odd widths are unpacked. A row that needs none of it is returned as it is. */
#include "kernels/stored_sample.h"
#include "pixel/row_ops.h"

bool tz_row_has_words(const tz_row_format *format)
{
    return format->bits >= 8 && (format->bits & (format->bits - 1u)) == 0;
}

/* libtiff's rules: predictor 2 works on whole words, predictor 3 on floating point of 16 bits and
 * more. */
const char *tz_row_unsupported(const tz_row_format *format)
{
    if (format->dtype == TZ_DTYPE_NONE)
        return "samples of this depth and format";
    if (format->predictor == TZ_PREDICTOR_HORIZONTAL &&
        !(tz_row_has_words(format) && format->bits <= 64))
        return "predictor 2 with samples that are not of 8, 16, 32 or 64 bits";
    if (format->predictor == TZ_PREDICTOR_FLOAT &&
        (format->sample_format != TZ_SAMPLE_FORMAT_FLOAT || format->bits < 16))
        return "predictor 3 with samples that are not floating-point";
    return NULL;
}

bool tz_row_is_plain(const tz_row_format *format)
{
    return tz_row_has_words(format) && format->predictor == TZ_PREDICTOR_NONE &&
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
    const bool joins = format->predictor == TZ_PREDICTOR_FLOAT && format->bits == 24;
    return joins ? (size_t)format->width * format->samples * 3 : 0;
}

/* Widens floats of 24 bits, which are whole bytes; all other odd widths are a stream of bits,
 * without a byte order. */
static void widen_f24(const uint8_t *row, size_t count, bool highest_first, uint8_t *out)
{
    for (size_t i = 0; i < count; i++)
        tz_store_u32(out + i * 4, tz_f24_to_f32_bits(tz_load_f24(row + i * 3, highest_first)));
}

/* Predictor 3 mixes the bytes of a whole row, also if only its first samples are wanted. Complex
 * samples are pairs of numbers, each with its own byte order; for predictor 2 they are one number
 * all the same, because libtiff writes them so. */
const uint8_t *tz_row_prepare(const tz_row_format *format, uint8_t *row, uint32_t pixels,
                              uint8_t *out, uint8_t *scratch)
{
    const tz_row_ops *ops = tz_row_ops_get();
    const size_t wanted = (size_t)pixels * format->samples;
    const size_t count = (size_t)format->width * format->samples;
    const unsigned bytes = format->bits / 8u;
    if (format->predictor == TZ_PREDICTOR_FLOAT && bytes == 3) {
        tz_scalar_unpredict3(row, scratch, count, wanted, bytes, format->samples);
        widen_f24(scratch, wanted, !tz_host_is_little_endian(), out);
    } else if (format->predictor == TZ_PREDICTOR_FLOAT) {
        ops->unpredict3(row, out, count, wanted, bytes, format->samples);
    } else if (!tz_row_has_words(format)) {
        if (format->bits == 24 && format->sample_format == TZ_SAMPLE_FORMAT_FLOAT)
            widen_f24(row, wanted, tz_host_is_little_endian() == format->swap, out);
        else
            ops->unpack(row, out, wanted, format->bits, tz_dtype_size(format->dtype),
                        format->sample_format == TZ_SAMPLE_FORMAT_INT);
    } else if (format->predictor == TZ_PREDICTOR_HORIZONTAL) {
        ops->unpredict2[tz_word_index(bytes)](row, out, wanted, format->samples, format->swap);
    } else {
        const unsigned components = tz_row_components(format);
        tz_swap_fn *swap = ops->swap[tz_word_index(bytes / components)];
        if (!format->swap || !swap)
            return row;
        swap(row, out, wanted * components);
    }
    return out;
}
