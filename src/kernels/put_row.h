/* SPDX-License-Identifier: Apache-2.0
 * A row of plain samples to what a file stores: by one item, or shared by those of a group. */
#ifndef TZ_KERNELS_PUT_ROW_H
#define TZ_KERNELS_PUT_ROW_H

#include "kernels/items.h"
#include "kernels/pack.h"
#include "kernels/predictor.h"
#include "kernels/raw.h"
#include "kernels/unpack.h"

#define TZ_PUT_AS_IS    0u
#define TZ_PUT_SWAPPED  1u /* the other byte order */
#define TZ_PUT_DIFFERED 2u /* predictor 2, and perhaps swapped */
#define TZ_PUT_SORTED   3u /* predictor 3: to another place */
#define TZ_PUT_PACKED   4u /* to odd bits: to another place where a group does it */

typedef struct tz_put {
    tz_u32 way;
    tz_u32 size;   /* bytes of a word: one sample, or what has a byte order of its own */
    tz_u32 count;  /* words of a row */
    tz_u32 stride; /* words of a pixel */
    tz_u32 bits;   /* packed: of a word */
    tz_u32 swap;
    tz_u32 little_endian;
} tz_put;

/* ---- by one item ---- */

TZ_FN void tz_put_differences(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, const tz_put *how)
{
    if (how->size == 1u)
        tz_predictor2_u8(row, out, how->count, how->stride, 0u);
    else if (how->size == 2u)
        tz_predictor2_u16(row, out, how->count, how->stride, how->swap);
    else if (how->size == 4u)
        tz_predictor2_u32(row, out, how->count, how->stride, how->swap);
    else
        tz_predictor2_u64(row, out, how->count, how->stride, how->swap);
}

TZ_FN void tz_put_swapped(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, const tz_put *how)
{
    if (how->size == 2u)
        tz_swap_row_u16(row, out, how->count);
    else if (how->size == 4u)
        tz_swap_row_u32(row, out, how->count);
    else
        tz_swap_row_u64(row, out, how->count);
}

TZ_FN void tz_put_packed(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, const tz_put *how)
{
    if (how->size == 1u)
        tz_pack_u8(row, out, how->count, how->bits);
    else if (how->size == 2u)
        tz_pack_u16(row, out, how->count, how->bits);
    else
        tz_pack_u32(row, out, how->count, how->bits);
}

TZ_FN void tz_put_row(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, const tz_put *how)
{
    if (how->way == TZ_PUT_SWAPPED)
        tz_put_swapped(row, out, how);
    else if (how->way == TZ_PUT_DIFFERED)
        tz_put_differences(row, out, how);
    else if (how->way == TZ_PUT_SORTED)
        tz_predictor3(row, out, how->count, how->size, how->stride, how->little_endian);
    else if (how->way == TZ_PUT_PACKED)
        tz_put_packed(row, out, how);
}

/* ---- by a group ---- */

/* What word i becomes. */
TZ_FN tz_u64 tz_put_word(const TZ_GLOBAL tz_u8 *row, const tz_put *how, tz_u32 i)
{
    tz_u64 x = tz_load_raw(row + (tz_u64)i * how->size, how->size);
    if (how->way == TZ_PUT_DIFFERED && i >= how->stride)
        x -= tz_load_raw(row + (tz_u64)(i - how->stride) * how->size, how->size);
    return how->swap ? tz_swap_raw(x, how->size) : x;
}

/* Byte i of a row sorted by significance, before differences. */
TZ_FN tz_u8 tz_sorted_byte(const TZ_GLOBAL tz_u8 *row, const tz_put *how, tz_u64 i)
{
    const tz_u32 plane = (tz_u32)(i / how->count);
    const tz_u32 byte = how->little_endian ? how->size - 1u - plane : plane;
    return row[i % how->count * how->size + byte];
}

/* Byte i of a packed row. */
TZ_FN tz_u8 tz_packed_byte(const TZ_GLOBAL tz_u8 *row, const tz_put *how, tz_u64 i)
{
    tz_u32 byte = 0;
    tz_u32 wanted = 8u;
    tz_u64 word = i * 8u / how->bits;
    tz_u32 left = how->bits - (tz_u32)(i * 8u % how->bits); /* bits of the word, from here on */
    for (; wanted > 0u && word < how->count; word++, left = how->bits) {
        const tz_u64 rest =
            tz_load_raw(row + word * how->size, how->size) & (((tz_u64)1 << left) - 1u);
        const tz_u32 taken = left < wanted ? left : wanted;
        byte = byte << taken | (tz_u32)(rest >> (left - taken));
        wanted -= taken;
    }
    return (tz_u8)(byte << wanted);
}

/* In place, from the last of count words to the first: what is written waits in shared memory, of
 * one word an item, until the words before it were read. */
TZ_FN void tz_put_words_group(TZ_GLOBAL tz_u8 *row, const tz_put *how, tz_u32 count,
                              TZ_LOCAL tz_u64 *waiting)
{
    tz_u32 end = count;
    while (end > 0u) {
        const tz_u32 some = (end - 1u) % TZ_GROUP_SIZE + 1u;
        const tz_u32 first = end - some;
        for (TZ_ITEMS(item)) {
            if (item < some)
                waiting[item] = tz_put_word(row, how, first + item);
        }
        TZ_SYNC;
        for (TZ_ITEMS(item)) {
            if (item < some)
                tz_store_raw(row + (tz_u64)(first + item) * how->size, waiting[item], how->size);
        }
        TZ_SYNC;
        end = first;
    }
}

/* Rows in place where they are swapped or differed, from one place to another otherwise. What is
 * not to be done is done to no words: a condition around a barrier costs compilers much more. */
TZ_FN void tz_put_row_group(const TZ_GLOBAL tz_u8 *row, TZ_GLOBAL tz_u8 *out, const tz_put *how,
                            TZ_LOCAL tz_u64 *waiting)
{
    const tz_u64 sorted = how->way == TZ_PUT_SORTED ? (tz_u64)how->count * how->size : 0u;
    const tz_u64 packed =
        how->way == TZ_PUT_PACKED ? ((tz_u64)how->count * how->bits + 7u) / 8u : 0u;
    for (TZ_ITEMS(item)) {
        for (tz_u64 i = item; i < sorted; i += TZ_GROUP_SIZE) {
            const tz_u8 before = i < how->stride ? 0u : tz_sorted_byte(row, how, i - how->stride);
            out[i] = (tz_u8)(tz_sorted_byte(row, how, i) - before);
        }
        for (tz_u64 i = item; i < packed; i += TZ_GROUP_SIZE)
            out[i] = tz_packed_byte(row, how, i);
    }
    const tz_u32 in_place = how->way == TZ_PUT_SWAPPED || how->way == TZ_PUT_DIFFERED;
    tz_put_words_group(out, how, in_place ? how->count : 0u, waiting);
}

#endif
