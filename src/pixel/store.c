/* SPDX-License-Identifier: Apache-2.0
 * Rows of samples to rows as a file stores them, and what is done to samples before.
 *
 * A row is packed to fewer bits, or gets the differences of its predictor, or the other byte order;
 * never more than one of them, as predictors do both differences and byte order in one pass. A
 * writer may first replace NaN, round low bits away, look for samples that do not fit, and ask
 * whether a tile has one value only. */
#include "pixel/store.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "kernels/discard.h"
#include "kernels/nan.h"
#include "kernels/pack.h"
#include "pixel/row_ops.h"

/* ---- whole rows ---- */

/* True if stored samples have all bits of their type, so that nothing is packed. */
static bool fills_dtype(const tz_row_format *format)
{
    return format->bits == 8 * tz_dtype_size(format->dtype);
}

const char *tz_store_unsupported(const tz_row_format *format)
{
    const char *unreadable = tz_row_unsupported(format);
    if (unreadable)
        return unreadable;
    if (!fills_dtype(format) && format->sample_format != TZ_SAMPLE_FORMAT_UINT &&
        format->sample_format != TZ_SAMPLE_FORMAT_INT)
        return "floating-point samples of other than 16, 32 or 64 bits";
    return NULL;
}

size_t tz_store_scratch_bytes(const tz_row_format *format)
{
    return format->predictor == TZ_PREDICTOR_FLOAT ? tz_row_bytes(format) + TZ_ROW_SLACK : 0;
}

/* Predictor 3 cannot work in place: a row that becomes itself is moved to the scratch first. For
 * predictor 2 a complex sample is one number, else two with a byte order each, as in libtiff. */
void tz_store_row(const tz_row_format *format, const uint8_t *row, uint8_t *out, uint8_t *scratch)
{
    const tz_row_ops *ops = tz_row_ops_get();
    const size_t count = (size_t)format->width * format->samples;
    if (format->predictor == TZ_PREDICTOR_FLOAT) {
        if (row == out)
            row = memcpy(scratch, row, tz_row_bytes(format));
        ops->predict3(row, out, count, format->bits / 8u, format->samples);
        return;
    }
    const size_t size = tz_dtype_size(format->dtype);
    if (format->bits != 8 * size) {
        ops->pack(row, out, count, format->bits, size);
    } else if (format->predictor == TZ_PREDICTOR_HORIZONTAL) {
        ops->predict2[tz_word_index(size)](row, out, count, format->samples, format->swap);
    } else {
        const unsigned components = tz_row_components(format);
        tz_swap_fn *swap = ops->swap[tz_word_index(size / components)];
        if (format->swap && swap)
            swap(row, out, count * components);
        else if (out != row)
            memcpy(out, row, count * size);
    }
}

/* ---- samples ---- */

static bool has_misfit(const uint8_t *row, size_t count, size_t size, uint32_t bits, uint32_t below)
{
    return size == 1   ? tz_misfit_u8(row, count, bits, below)
           : size == 2 ? tz_misfit_u16(row, count, bits, below)
                       : tz_misfit_u32(row, count, bits, below);
}

/* Looks at many samples at once, and for the sample itself only if one of them does not fit: hardly
 * any row has one. */
size_t tz_store_misfit(const tz_row_format *format, const uint8_t *row, size_t count)
{
    enum { CHECKED_AT_ONCE = 256 };
    const size_t size = tz_dtype_size(format->dtype);
    const uint32_t bits = format->bits;
    if (fills_dtype(format))
        return count;
    const uint32_t below = format->sample_format == TZ_SAMPLE_FORMAT_INT ? 1u << (bits - 1) : 0;
    for (size_t at = 0; at < count; at += CHECKED_AT_ONCE) {
        const size_t some = tz_min_size(count - at, CHECKED_AT_ONCE);
        if (!has_misfit(row + at * size, some, size, bits, below))
            continue;
        while (!has_misfit(row + at * size, 1, size, bits, below))
            at++;
        return at;
    }
    return count;
}

void tz_store_replace_nan(tz_dtype dtype, uint8_t *row, size_t count, double value)
{
    const tz_nodata number = {.kind = TZ_NODATA_KIND_FLOAT, .value = {.f = value}};
    uint8_t sample[16];
    tz_row_fill(dtype, &number, sample, sizeof sample, 1);
    tz_row_ops_get()->replace_nan[tz_word_index(tz_dtype_size(dtype))](row, count, sample);
}

/* All samples equal the first one if the row equals itself shifted by one sample: memcmp is faster
 * than any loop over samples. */
bool tz_store_is_all(tz_dtype dtype, const tz_nodata *value, const uint8_t *row, size_t count)
{
    const bool is_nan = value->kind == TZ_NODATA_KIND_FLOAT && isnan(value->value.f);
    const size_t size = tz_dtype_size(dtype);
    uint8_t sample[16];
    if (count == 0)
        return true;
    if (is_nan && dtype >= TZ_DTYPE_FLOAT16 && dtype <= TZ_DTYPE_FLOAT64)
        return dtype == TZ_DTYPE_FLOAT16   ? tz_all_nan_u16(row, count)
               : dtype == TZ_DTYPE_FLOAT32 ? tz_all_nan_u32(row, count)
                                           : tz_all_nan_u64(row, count);
    tz_row_fill(dtype, value, sample, sizeof sample, 1);
    return memcmp(row, sample, size) == 0 && memcmp(row, row + size, (count - 1) * size) == 0;
}

/* ---- low bits ---- */

/* Rounds the low bits of one sample of each pixel; nodata is a sample, or NULL. */
typedef void discard_function(uint8_t *row, size_t pixels, uint32_t samples, uint8_t bits,
                              const uint8_t *nodata);

#define TZ_DISCARD(name, width)                                                                    \
    static void discard_##name(uint8_t *row, size_t pixels, uint32_t samples, uint8_t bits,        \
                               const uint8_t *nodata)                                              \
    {                                                                                              \
        const tz_##width value = nodata ? tz_load_##width(nodata) : 0;                             \
        const tz_##width neighbour = tz_neighbour_##name(value, bits);                             \
        if (samples == 1) /* the constant lets the compiler vectorise */                           \
            tz_discard_row_##name(row, pixels, 1, bits, nodata != NULL, value, neighbour);         \
        else                                                                                       \
            tz_discard_row_##name(row, pixels, samples, bits, nodata != NULL, value, neighbour);   \
    }
TZ_DISCARD(u8, u8)
TZ_DISCARD(i8, u8)
TZ_DISCARD(u16, u16)
TZ_DISCARD(i16, u16)
TZ_DISCARD(u32, u32)
TZ_DISCARD(i32, u32)
TZ_DISCARD(u64, u64)
TZ_DISCARD(i64, u64)
TZ_DISCARD(f16, u16)
TZ_DISCARD(f32, u32)
TZ_DISCARD(f64, u64)

static discard_function *const discard_functions[] = {
    [TZ_DTYPE_UINT8] = discard_u8,    [TZ_DTYPE_INT8] = discard_i8,
    [TZ_DTYPE_UINT16] = discard_u16,  [TZ_DTYPE_INT16] = discard_i16,
    [TZ_DTYPE_UINT32] = discard_u32,  [TZ_DTYPE_INT32] = discard_i32,
    [TZ_DTYPE_UINT64] = discard_u64,  [TZ_DTYPE_INT64] = discard_i64,
    [TZ_DTYPE_FLOAT16] = discard_f16, [TZ_DTYPE_FLOAT32] = discard_f32,
    [TZ_DTYPE_FLOAT64] = discard_f64,
};

bool tz_store_nodata_sample(tz_dtype dtype, const tz_nodata *nodata, uint8_t *sample)
{
    const tz_conversion how = {.from = dtype, .to = dtype, .nodata = *nodata};
    uint8_t differs;
    tz_row_fill(dtype, nodata, sample, 16, 1);
    tz_row_convert(&how, sample, 16, NULL, 0, 1, &differs, 1);
    return nodata->kind != TZ_NODATA_KIND_NONE && !differs;
}

void tz_store_discard_bits(tz_dtype dtype, uint8_t *row, size_t pixels, uint32_t samples,
                           const uint8_t *bits, const tz_nodata *nodata)
{
    const size_t size = tz_dtype_size(dtype);
    uint8_t sample[16];
    const bool has_nodata = tz_store_nodata_sample(dtype, nodata, sample);
    for (uint32_t s = 0; s < samples; s++)
        discard_functions[dtype](row + s * size, pixels, samples, bits[s],
                                 has_nodata ? sample : NULL);
}
