/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/average_2x2.h"
#include "pixel/row_ops.h"

#define LOAD(type)                                                                                 \
    static type load_##type(const uint8_t *p)                                                      \
    {                                                                                              \
        type x;                                                                                    \
        memcpy(&x, p, sizeof x);                                                                   \
        return x;                                                                                  \
    }
LOAD(uint8_t)
LOAD(uint16_t)
LOAD(int16_t)
LOAD(float)

/* Samples 2 i and 2 i + 1 of a pixel's k-th are `next` bytes apart. */
#define AVERAGE_2X2(name, type, ...)                                                               \
    static void average_##name(const tz_average_2x2_params *how, const uint8_t *above,             \
                               const uint8_t *below, uint8_t *out, size_t count)                   \
    {                                                                                              \
        const size_t next = how->samples * sizeof(type);                                           \
        for (size_t i = 0; i < count * how->samples; i++) {                                        \
            const size_t at = (i / how->samples * how->samples + i) * sizeof(type);                \
            const type mean = tz_average_2x2_##name(                                               \
                load_##type(above + at), load_##type(above + at + next), load_##type(below + at),  \
                load_##type(below + at + next), TZ_AVERAGE_2X2_ALL, how->has_nodata, __VA_ARGS__); \
            memcpy(out + i * sizeof(type), &mean, sizeof mean);                                    \
        }                                                                                          \
    }
AVERAGE_2X2(u8, uint8_t, (uint8_t)how->nodata, (uint8_t)how->neighbour)
AVERAGE_2X2(u16, uint16_t, (uint16_t)how->nodata, (uint16_t)how->neighbour)
AVERAGE_2X2(i16, int16_t, (int16_t)how->nodata, (int16_t)how->neighbour)
AVERAGE_2X2(f32, float, how->nodata_real, how->neighbour_real, how->none_real)

void tz_scalar_average_2x2(const tz_average_2x2_params *how, const uint8_t *above,
                           const uint8_t *below, uint8_t *out, size_t count)
{
    switch (how->dtype) {
    case TZ_DTYPE_UINT8:
        average_u8(how, above, below, out, count);
        break;
    case TZ_DTYPE_UINT16:
        average_u16(how, above, below, out, count);
        break;
    case TZ_DTYPE_INT16:
        average_i16(how, above, below, out, count);
        break;
    default:
        average_f32(how, above, below, out, count);
        break;
    }
}
