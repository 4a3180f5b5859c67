/* SPDX-License-Identifier: Apache-2.0
 * A row of samples to the bytes that a file stores before compression: byte order, predictors and
 * packed bits. By one work-item, or shared by those of a work-group. */
#ifndef TZ_KERNELS_ENCODE_ROW_H
#define TZ_KERNELS_ENCODE_ROW_H

#include "kernels/component.h"
#include "kernels/pack.h"
#include "kernels/predictor.h"
#include "kernels/unpack.h"
#include "kernels/work_items.h"

#define TZ_ROW_AS_IS      0u
#define TZ_ROW_SWAPPED    1u /* the other byte order */
#define TZ_ROW_PREDICTOR2 2u /* also swapped, if swap is set */
#define TZ_ROW_PREDICTOR3 3u /* to another row */
#define TZ_ROW_PACKED     4u /* to samples of fewer bits; in a work-group to another row */

typedef struct tz_row_encoding {
    tz_u32 kind;
    tz_u32 size;   /* bytes of a word: a sample, or a component of a complex one */
    tz_u32 count;  /* words of a row */
    tz_u32 stride; /* words of a pixel */
    tz_u32 bits;   /* packed: bits of a word */
    tz_u32 swap;
    tz_u32 little_endian;
} tz_row_encoding;

/* ---- by one work-item ---- */

TZ_FN void tz_encode_row(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out,
                         const tz_row_encoding *how)
{
    if (how->kind == TZ_ROW_PREDICTOR3) {
        tz_predict3(row, out, how->count, how->size, how->stride, how->little_endian);
    } else if (how->kind == TZ_ROW_PREDICTOR2) {
        if (how->size == 1u)
            tz_predict2_u8(row, out, how->count, how->stride, 0u);
        else if (how->size == 2u)
            tz_predict2_u16(row, out, how->count, how->stride, how->swap);
        else if (how->size == 4u)
            tz_predict2_u32(row, out, how->count, how->stride, how->swap);
        else
            tz_predict2_u64(row, out, how->count, how->stride, how->swap);
    } else if (how->kind == TZ_ROW_SWAPPED) {
        if (how->size == 2u)
            tz_swap_row_u16(row, out, how->count);
        else if (how->size == 4u)
            tz_swap_row_u32(row, out, how->count);
        else
            tz_swap_row_u64(row, out, how->count);
    } else if (how->kind == TZ_ROW_PACKED) {
        if (how->size == 1u)
            tz_pack_u8(row, out, how->count, how->bits);
        else if (how->size == 2u)
            tz_pack_u16(row, out, how->count, how->bits);
        else
            tz_pack_u32(row, out, how->count, how->bits);
    }
}

/* ---- by a work-group ---- */

/* The encoded word i. */
TZ_FN tz_u64 tz_encode_word(const TZ_GLOBAL tz_u8 *row, const tz_row_encoding *how, tz_u32 i)
{
    tz_u64 x = tz_load_raw(row + (tz_u64)i * how->size, how->size);
    if (how->kind == TZ_ROW_PREDICTOR2 && i >= how->stride)
        x -= tz_load_raw(row + (tz_u64)(i - how->stride) * how->size, how->size);
    return how->swap ? tz_swap_raw(x, how->size) : x;
}

/* Byte i of a row that predictor 3 has sorted, before the differences. */
TZ_FN tz_u8 tz_plane_byte(const TZ_GLOBAL tz_u8 *row, const tz_row_encoding *how, tz_u64 i)
{
    const tz_u32 plane = (tz_u32)(i / how->count);
    const tz_u32 byte = how->little_endian ? how->size - 1u - plane : plane;
    return row[i % how->count * how->size + byte];
}

/* Byte i of a packed row. */
TZ_FN tz_u8 tz_packed_byte(const TZ_GLOBAL tz_u8 *row, const tz_row_encoding *how, tz_u64 i)
{
    tz_u32 byte = 0;
    tz_u32 wanted = 8u;
    tz_u64 word = i * 8u / how->bits;
    tz_u32 left =
        how->bits - (tz_u32)(i * 8u % how->bits); /* bits of the word that are not used yet */
    for (; wanted > 0u && word < how->count; word++, left = how->bits) {
        const tz_u64 rest =
            tz_load_raw(row + word * how->size, how->size) & (((tz_u64)1 << left) - 1u);
        const tz_u32 taken = tz_kernel_min(left, wanted);
        byte = byte << taken | (tz_u32)(rest >> (left - taken));
        wanted -= taken;
    }
    return (tz_u8)(byte << wanted);
}

/* Encodes words in place, from the last of count words to the first. Each work-item keeps its
 * result in shared memory until all have read the words that differences need. */
TZ_FN void tz_encode_words_work_group(TZ_GLOBAL tz_u8 *row, const tz_row_encoding *how,
                                      tz_u32 count, TZ_LOCAL tz_u64 *waiting)
{
    tz_u32 end = count;
    while (end > 0u) {
        const tz_u32 some = (end - 1u) % TZ_WORK_GROUP_SIZE + 1u;
        const tz_u32 first = end - some;
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item < some)
                waiting[work_item] = tz_encode_word(row, how, first + work_item);
        }
        TZ_SYNC;
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item < some)
                tz_store_raw(row + (tz_u64)(first + work_item) * how->size, waiting[work_item],
                             how->size);
        }
        TZ_SYNC;
        end = first;
    }
}

/* Swapped and differenced rows are encoded in place: row is out. Other kinds go from row to out.
 * All loops run for every kind, most of them over 0 words: a condition around a barrier would cost
 * compilers much more. */
TZ_FN void tz_encode_row_work_group(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out,
                                    const tz_row_encoding *how, TZ_LOCAL tz_u64 *waiting)
{
    const tz_u64 planes = how->kind == TZ_ROW_PREDICTOR3 ? (tz_u64)how->count * how->size : 0u;
    const tz_u64 packed =
        how->kind == TZ_ROW_PACKED ? ((tz_u64)how->count * how->bits + 7u) / 8u : 0u;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        for (tz_u64 i = work_item; i < planes; i += TZ_WORK_GROUP_SIZE) {
            const tz_u8 before = i < how->stride ? 0u : tz_plane_byte(row, how, i - how->stride);
            out[i] = (tz_u8)(tz_plane_byte(row, how, i) - before);
        }
        for (tz_u64 i = work_item; i < packed; i += TZ_WORK_GROUP_SIZE)
            out[i] = tz_packed_byte(row, how, i);
    }
    const tz_u32 in_place = how->kind == TZ_ROW_SWAPPED || how->kind == TZ_ROW_PREDICTOR2;
    tz_encode_words_work_group(out, how, in_place ? how->count : 0u, waiting);
}

#endif
