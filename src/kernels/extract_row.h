/* SPDX-License-Identifier: Apache-2.0
 * A row of a tile, out of rows with any strides: samples lie side by side, adjustments of the user
 * are applied, and the last pixel is repeated up to the width of the tile. */
#ifndef TZ_KERNELS_EXTRACT_ROW_H
#define TZ_KERNELS_EXTRACT_ROW_H

#include "kernels/component.h"
#include "kernels/copy_share.h"
#include "kernels/discard.h"
#include "kernels/nan.h"

/* Adjustments of a sample, in this order. */
#define TZ_ADJUST_MASK    1u /* any value but 0 becomes 1 */
#define TZ_ADJUST_NAN     2u /* NaN becomes a value */
#define TZ_ADJUST_DISCARD 4u /* low bits are rounded away */
#define TZ_ADJUST_NODATA  8u /* discarding bits must not make nodata */

typedef struct tz_adjustment {
    tz_u32 flags;
    tz_u32 sample; /* TZ_COMPONENT_*, if bits are discarded */
    tz_u64 nan;    /* replaces NaN */
    tz_u64 nodata;
} tz_adjustment;

#define TZ_DISCARD_NEAR_NODATA(name, x, how, bits, type)                                           \
    tz_discard_near_nodata_##name(x, bits, ((how)->flags & TZ_ADJUST_NODATA) != 0u,                \
                                  (type)(how)->nodata,                                             \
                                  tz_neighbour_##name((type)(how)->nodata, bits))

TZ_FN tz_u8 tz_adjust_discard_u8(tz_u8 x, const tz_adjustment *how, tz_u32 bits)
{
    return how->sample == TZ_COMPONENT_I8 ? TZ_DISCARD_NEAR_NODATA(i8, x, how, bits, tz_u8)
                                          : TZ_DISCARD_NEAR_NODATA(u8, x, how, bits, tz_u8);
}
#define TZ_DEFINE_ADJUST_DISCARD(name, type, SIZE)                                                 \
    TZ_FN type tz_adjust_discard_u##name(type x, const tz_adjustment *how, tz_u32 bits)            \
    {                                                                                              \
        return how->sample == TZ_COMPONENT_F##SIZE                                                 \
                   ? TZ_DISCARD_NEAR_NODATA(f##name, x, how, bits, type)                           \
               : how->sample == TZ_COMPONENT_I##SIZE                                               \
                   ? TZ_DISCARD_NEAR_NODATA(i##name, x, how, bits, type)                           \
                   : TZ_DISCARD_NEAR_NODATA(u##name, x, how, bits, type);                          \
    }
TZ_DEFINE_ADJUST_DISCARD(16, tz_u16, 16)
TZ_DEFINE_ADJUST_DISCARD(32, tz_u32, 32)
TZ_DEFINE_ADJUST_DISCARD(64, tz_u64, 64)

/* Bytes are never NaN; the macro below needs the name. */
TZ_FN tz_u32 tz_is_nan_u8(tz_u8 x)
{
    (void)x;
    return 0;
}

/* The location of the samples of a row, strides in bytes. A sample of 16 bytes is two words. */
typedef struct tz_extract_shape {
    tz_i64 band_stride;
    tz_i64 column_stride;
    tz_u32 samples; /* of a pixel */
    tz_u32 words;   /* words of a sample */
    tz_u32 width;   /* pixels of the image, at least 1 */
    tz_u32 padded;  /* pixels of the tile */
} tz_extract_shape;

/* Copies all pixels at once if they lie as in the tile and are not adjusted; returns their
 * number, or 0. */
TZ_FN tz_u32 tz_extract_packed(const TZ_GLOBAL tz_u8 *from, TZ_GLOBAL tz_u8 *to,
                               const tz_extract_shape *shape, tz_u32 flags, tz_u32 size,
                               tz_u32 work_item, tz_u32 work_items)
{
    const tz_u32 sample = size * shape->words;
    const tz_u64 bytes = (tz_u64)shape->width * shape->samples * sample;
    if (flags || bytes > 0xffffff00u ||
        shape->column_stride != (tz_i64)((tz_u64)shape->samples * sample) ||
        (shape->samples > 1u && shape->band_stride != (tz_i64)sample))
        return 0u;
    tz_copy_share(to, from, (tz_u32)bytes, work_item, work_items);
    return shape->width;
}

/* Extracts the pixels of one work-item of those that share the row. bits: to discard, for each
 * sample of a pixel; read only with TZ_ADJUST_DISCARD. */
#define TZ_EXTRACT_ROW(name, type)                                                                 \
    TZ_FN type tz_adjust_##name(type x, const tz_adjustment *how, tz_u32 bits)                     \
    {                                                                                              \
        if (how->flags & TZ_ADJUST_MASK)                                                           \
            x = (type)(x != 0);                                                                    \
        if (how->flags & TZ_ADJUST_NAN)                                                            \
            x = tz_is_nan_##name(x) ? (type)how->nan : x;                                          \
        return how->flags & TZ_ADJUST_DISCARD ? tz_adjust_discard_##name(x, how, bits) : x;        \
    }                                                                                              \
    TZ_FN void tz_extract_row_##name(const TZ_GLOBAL tz_u8 *from, TZ_GLOBAL tz_u8 *to,             \
                                     const tz_extract_shape *shape, const tz_adjustment *how,      \
                                     const TZ_GLOBAL tz_u8 *bits, tz_u32 work_item,                \
                                     tz_u32 work_items)                                            \
    {                                                                                              \
        const tz_u32 done = tz_extract_packed(from, to, shape, how->flags, (tz_u32)sizeof(type),   \
                                              work_item, work_items);                              \
        for (tz_u32 s = 0; s < shape->samples; s++) {                                              \
            const TZ_GLOBAL tz_u8 *band = from + (tz_i64)s * shape->band_stride;                   \
            const tz_u32 some = how->flags & TZ_ADJUST_DISCARD ? (tz_u32)bits[s] : 0u;             \
            for (tz_u32 x = done + work_item; x < shape->padded; x += work_items) {                \
                const tz_u32 column = x < shape->width ? x : shape->width - 1u;                    \
                const TZ_GLOBAL tz_u8 *at = band + (tz_i64)column * shape->column_stride;          \
                TZ_GLOBAL tz_u8 *out =                                                             \
                    to + ((tz_u64)x * shape->samples + s) * shape->words * sizeof(type);           \
                for (tz_u32 word = 0; word < shape->words; word++)                                 \
                    tz_store_##name(                                                               \
                        out + word * sizeof(type),                                                 \
                        tz_adjust_##name(tz_load_##name(at + word * sizeof(type)), how, some));    \
            }                                                                                      \
        }                                                                                          \
    }
TZ_EXTRACT_ROW(u8, tz_u8)
TZ_EXTRACT_ROW(u16, tz_u16)
TZ_EXTRACT_ROW(u32, tz_u32)
TZ_EXTRACT_ROW(u64, tz_u64)

#endif
