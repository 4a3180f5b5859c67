/* SPDX-License-Identifier: Apache-2.0
 * Nodata as a mask. Of integers, the value is converted to a sample of the type once, and pixels
 * are then compared as bytes; floats are compared as numbers, for NaN and -0. A pixel is masked if
 * all of its bands are nodata. */
#include "nodata_mask.h"

#include <math.h>
#include <string.h>

#include "sample.h"

typedef struct integer_type {
    tz_dtype dtype;
    int64_t least;
    uint64_t greatest;
} integer_type;

static const integer_type integers[] = {
    {TZ_DTYPE_UINT8, 0, UINT8_MAX},   {TZ_DTYPE_INT8, INT8_MIN, INT8_MAX},
    {TZ_DTYPE_UINT16, 0, UINT16_MAX}, {TZ_DTYPE_INT16, INT16_MIN, INT16_MAX},
    {TZ_DTYPE_UINT32, 0, UINT32_MAX}, {TZ_DTYPE_INT32, INT32_MIN, INT32_MAX},
    {TZ_DTYPE_UINT64, 0, UINT64_MAX}, {TZ_DTYPE_INT64, INT64_MIN, INT64_MAX},
};

/* Gets nodata in two's complement; false: it is not an integer of 64 bits. */
static bool bits_of(const tz_nodata *nodata, bool *negative, uint64_t *bits)
{
    double value = nodata->value.f;
    *negative = false;
    *bits = nodata->value.u;
    if (nodata->kind == TZ_NODATA_KIND_UINT)
        return true;
    if (nodata->kind == TZ_NODATA_KIND_INT) {
        *negative = nodata->value.i < 0;
        return true;
    }
    if (nodata->kind != TZ_NODATA_KIND_FLOAT || !(value >= -0x1p63 && value < 0x1p64) ||
        value != floor(value))
        return false;
    *negative = value < 0;
    *bits = *negative ? (uint64_t)(int64_t)value : (uint64_t)value;
    return true;
}

/* Stores the low bytes in the machine's byte order. */
static void store_sample(unsigned char *sample, size_t size, uint64_t bits)
{
    const uint8_t bits8 = (uint8_t)bits;
    const uint16_t bits16 = (uint16_t)bits;
    const uint32_t bits32 = (uint32_t)bits;
    memcpy(sample,
           size == 1   ? (const void *)&bits8
           : size == 2 ? (const void *)&bits16
           : size == 4 ? (const void *)&bits32
                       : (const void *)&bits,
           size);
}

double nodata_number(const tz_nodata *nodata)
{
    return nodata->kind == TZ_NODATA_KIND_INT    ? (double)nodata->value.i
           : nodata->kind == TZ_NODATA_KIND_UINT ? (double)nodata->value.u
                                                 : nodata->value.f;
}

bool nodata_mask_make(nodata_mask *out, const tz_nodata *nodata, tz_dtype dtype)
{
    bool negative = false;
    uint64_t bits = 0;
    *out = (nodata_mask){.dtype = dtype, .size = tz_dtype_size(dtype), .alpha = UINT32_MAX};
    if (dtype >= TZ_DTYPE_FLOAT16 && !sample_is_complex(dtype) &&
        nodata->kind != TZ_NODATA_KIND_NONE) {
        out->used = true;
        out->real = nodata_number(nodata);
        return true;
    }
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        const integer_type *type = &integers[i];
        if (type->dtype == dtype && bits_of(nodata, &negative, &bits))
            out->used = negative ? (int64_t)bits >= type->least : bits <= type->greatest;
    }
    if (out->used)
        store_sample(out->sample, out->size, bits);
    return out->used;
}

static bool is_nodata_sample(const nodata_mask *m, const unsigned char *sample)
{
    if (m->dtype >= TZ_DTYPE_FLOAT16) {
        const double value = sample_real(m->dtype, sample, 0);
        return value == m->real || (isnan(m->real) && isnan(value));
    }
    return m->size == 1 ? *sample == m->sample[0] : memcmp(sample, m->sample, m->size) == 0;
}

static bool is_all_nodata(const nodata_mask *m, const unsigned char *pixel, uint32_t bands,
                          int64_t band_stride)
{
    for (uint32_t band = 0; band < bands; band++) {
        if (band != m->alpha && !is_nodata_sample(m, pixel + (int64_t)band * band_stride))
            return false;
    }
    return true;
}

void nodata_mask_apply(const nodata_mask *m, const tz_buffer *pixels, const tz_buffer *mask,
                       bool within)
{
    for (uint32_t y = 0; y < pixels->height; y++) {
        const unsigned char *from = (const unsigned char *)pixels->data + y * pixels->row_stride;
        unsigned char *to = (unsigned char *)mask->data + y * mask->row_stride;
        for (uint32_t x = 0; x < pixels->width; x++) {
            if (is_all_nodata(m, from, pixels->bands, pixels->band_stride))
                *to = 0;
            else if (!within)
                *to = 255;
            from += pixels->column_stride;
            to += mask->column_stride;
        }
    }
}
