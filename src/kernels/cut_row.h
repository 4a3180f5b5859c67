/* SPDX-License-Identifier: Apache-2.0
 * A row of a tile, out of rows with any strides: its samples side by side, treated as the user
 * chose, and the last pixel repeated up to the tile's width. */
#ifndef TZ_KERNELS_CUT_ROW_H
#define TZ_KERNELS_CUT_ROW_H

#include "kernels/discard.h"
#include "kernels/move.h"
#include "kernels/nan.h"
#include "kernels/raw.h"

/* What happens to a sample, in this order. */
#define TZ_TREAT_MASK    1u /* all but 0 becomes 1 */
#define TZ_TREAT_NAN     2u /* NaN becomes a value */
#define TZ_TREAT_DISCARD 4u /* low bits are rounded away */
#define TZ_TREAT_NODATA  8u /* and stay away from nodata */

typedef struct tz_treatment {
    tz_u32 flags;
    tz_u32 sample; /* TZ_PART_..., where bits are discarded */
    tz_u64 nan;    /* what NaN becomes */
    tz_u64 nodata;
} tz_treatment;

#define TZ_BESIDE(name, x, how, bits, type)                                                        \
    tz_discard_beside_##name(x, bits, ((how)->flags & TZ_TREAT_NODATA) != 0u, (type)(how)->nodata, \
                             tz_beside_##name((type)(how)->nodata, bits))

TZ_FN tz_u8 tz_treat_discard_u8(tz_u8 x, const tz_treatment *how, tz_u32 bits)
{
    return how->sample == TZ_PART_I8 ? TZ_BESIDE(i8, x, how, bits, tz_u8)
                                     : TZ_BESIDE(u8, x, how, bits, tz_u8);
}
#define TZ_TREAT_DISCARDS(name, type, SIZE)                                                        \
    TZ_FN type tz_treat_discard_u##name(type x, const tz_treatment *how, tz_u32 bits)              \
    {                                                                                              \
        return how->sample == TZ_PART_F##SIZE   ? TZ_BESIDE(f##name, x, how, bits, type)           \
               : how->sample == TZ_PART_I##SIZE ? TZ_BESIDE(i##name, x, how, bits, type)           \
                                                : TZ_BESIDE(u##name, x, how, bits, type);          \
    }
TZ_TREAT_DISCARDS(16, tz_u16, 16)
TZ_TREAT_DISCARDS(32, tz_u32, 32)
TZ_TREAT_DISCARDS(64, tz_u64, 64)

TZ_FN tz_u32 tz_is_nan_u8(tz_u8 x) /* bytes are never NaN */
{
    (void)x;
    return 0;
}

/* Where the samples of a row are, in bytes, and how many it gets. A sample of 16 bytes is two
 * words.
 */
typedef struct tz_cut_shape {
    tz_i64 band_stride;
    tz_i64 column_stride;
    tz_u32 samples; /* of a pixel */
    tz_u32 parts;   /* words of a sample */
    tz_u32 width;   /* pixels that there are, at least 1 */
    tz_u32 padded;  /* pixels that it gets */
} tz_cut_shape;

/* Pixels that lie as in the tile and stay as they are, all at once; how many these are. */
TZ_FN tz_u32 tz_cut_packed(const TZ_GLOBAL tz_u8 *from, TZ_GLOBAL tz_u8 *to,
                           const tz_cut_shape *shape, tz_u32 flags, tz_u32 size, tz_u32 lane,
                           tz_u32 lanes)
{
    const tz_u32 sample = size * shape->parts;
    const tz_u64 bytes = (tz_u64)shape->width * shape->samples * sample;
    if (flags || bytes > 0xffffff00u ||
        shape->column_stride != (tz_i64)((tz_u64)shape->samples * sample) ||
        (shape->samples > 1u && shape->band_stride != (tz_i64)sample))
        return 0u;
    tz_move_share(to, from, (tz_u32)bytes, lane, lanes);
    return shape->width;
}

/* Item lane of lanes that share the row. bits: of each sample of a pixel; read to discard only. */
#define TZ_CUT_ROW(name, type)                                                                     \
    TZ_FN type tz_treat_##name(type x, const tz_treatment *how, tz_u32 bits)                       \
    {                                                                                              \
        if (how->flags & TZ_TREAT_MASK)                                                            \
            x = (type)(x != 0);                                                                    \
        if (how->flags & TZ_TREAT_NAN)                                                             \
            x = tz_is_nan_##name(x) ? (type)how->nan : x;                                          \
        return how->flags & TZ_TREAT_DISCARD ? tz_treat_discard_##name(x, how, bits) : x;          \
    }                                                                                              \
    TZ_FN void tz_cut_row_##name(const TZ_GLOBAL tz_u8 *from, TZ_GLOBAL tz_u8 *to,                 \
                                 const tz_cut_shape *shape, const tz_treatment *how,               \
                                 const TZ_GLOBAL tz_u8 *bits, tz_u32 lane, tz_u32 lanes)           \
    {                                                                                              \
        const tz_u32 done =                                                                        \
            tz_cut_packed(from, to, shape, how->flags, (tz_u32)sizeof(type), lane, lanes);         \
        for (tz_u32 s = 0; s < shape->samples; s++) {                                              \
            const TZ_GLOBAL tz_u8 *band = from + (tz_i64)s * shape->band_stride;                   \
            const tz_u32 some = how->flags & TZ_TREAT_DISCARD ? (tz_u32)bits[s] : 0u;              \
            for (tz_u32 x = done + lane; x < shape->padded; x += lanes) {                          \
                const tz_u32 column = x < shape->width ? x : shape->width - 1u;                    \
                const TZ_GLOBAL tz_u8 *at = band + (tz_i64)column * shape->column_stride;          \
                TZ_GLOBAL tz_u8 *out =                                                             \
                    to + ((tz_u64)x * shape->samples + s) * shape->parts * sizeof(type);           \
                for (tz_u32 part = 0; part < shape->parts; part++)                                 \
                    tz_store_##name(                                                               \
                        out + part * sizeof(type),                                                 \
                        tz_treat_##name(tz_load_##name(at + part * sizeof(type)), how, some));     \
            }                                                                                      \
        }                                                                                          \
    }
TZ_CUT_ROW(u8, tz_u8)
TZ_CUT_ROW(u16, tz_u16)
TZ_CUT_ROW(u32, tz_u32)
TZ_CUT_ROW(u64, tz_u64)

#endif
