/* SPDX-License-Identifier: Apache-2.0
 * Low bits of samples, rounded away. */
#include "kernels/discard.h"
#include "pixel/store.h"

/* nodata is its bits, or NULL. */
typedef void discard_function(uint8_t *row, size_t pixels, uint32_t samples, uint8_t bits,
                              const uint8_t *nodata);

#define TZ_DISCARD(name, width)                                                                    \
    static void discard_##name(uint8_t *row, size_t pixels, uint32_t samples, uint8_t bits,        \
                               const uint8_t *nodata)                                              \
    {                                                                                              \
        const tz_##width value = nodata ? tz_load_##width(nodata) : 0;                             \
        const tz_##width neighbour = tz_neighbour_##name(value, bits);                             \
        if (samples == 1) /* a constant makes a better loop */                                     \
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
    return nodata->kind != TZ_NODATA_NONE && !differs;
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
