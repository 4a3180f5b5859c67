/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/halve.h"
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
#define HALVE(name, type, ...)                                                                     \
    static void halve_##name(const tz_halving *how, const uint8_t *above, const uint8_t *below,    \
                             uint8_t *out, size_t count)                                           \
    {                                                                                              \
        const size_t next = how->samples * sizeof(type);                                           \
        for (size_t i = 0; i < count * how->samples; i++) {                                        \
            const size_t at = (i / how->samples * how->samples + i) * sizeof(type);                \
            const type mean = tz_halve_##name(                                                     \
                load_##type(above + at), load_##type(above + at + next), load_##type(below + at),  \
                load_##type(below + at + next), TZ_HALVE_ALL, how->has_nodata, __VA_ARGS__);       \
            memcpy(out + i * sizeof(type), &mean, sizeof mean);                                    \
        }                                                                                          \
    }
HALVE(u8, uint8_t, (uint8_t)how->nodata, (uint8_t)how->beside)
HALVE(u16, uint16_t, (uint16_t)how->nodata, (uint16_t)how->beside)
HALVE(i16, int16_t, (int16_t)how->nodata, (int16_t)how->beside)
HALVE(f32, float, how->nodata_real, how->beside_real, how->none_real)

void tz_plain_halve(const tz_halving *how, const uint8_t *above, const uint8_t *below, uint8_t *out,
                    size_t count)
{
    switch (how->dtype) {
    case TZ_DTYPE_UINT8:
        halve_u8(how, above, below, out, count);
        break;
    case TZ_DTYPE_UINT16:
        halve_u16(how, above, below, out, count);
        break;
    case TZ_DTYPE_INT16:
        halve_i16(how, above, below, out, count);
        break;
    default:
        halve_f32(how, above, below, out, count);
        break;
    }
}
