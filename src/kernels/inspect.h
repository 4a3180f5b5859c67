/* SPDX-License-Identifier: Apache-2.0
 * Inspection of a tile before it is stored: if it holds anything but nodata, the first sample that
 * does not fit the stored bits, and the hash of its pixels. By one work-item or by a work-group. */
#ifndef TZ_KERNELS_INSPECT_H
#define TZ_KERNELS_INSPECT_H

#include "kernels/component.h"
#include "kernels/nan.h"
#include "kernels/pack.h"
#include "kernels/row_hash.h"
#include "kernels/work_items.h"

#define TZ_INSPECT_EMPTY 1u /* look for a sample that differs from the value */
#define TZ_INSPECT_NAN   2u /* the value is any NaN */
#define TZ_INSPECT_FIT   4u /* look for a sample that does not fit */
#define TZ_INSPECT_HASH  8u

typedef struct tz_inspection {
    tz_u32 flags;
    tz_u32 size;  /* bytes of a word */
    tz_u32 words; /* words of a sample: 2 where it has 16 bytes */
    tz_u32 count; /* words of a row, without those that only fill the tile */
    tz_u32 rows;
    tz_u32 bits;
    tz_u32 below; /* negative values that fit */
    tz_u64 row_bytes;
    tz_u64 value[2]; /* of both words */
} tz_inspection;

typedef struct tz_inspected {
    tz_u32 differs;
    tz_u64 first; /* number of the first sample that does not fit; ~0: all fit */
    tz_u64 hash;
} tz_inspected;

TZ_FN tz_u32 tz_word_is_nan(tz_u64 word, tz_u32 size)
{
    return size == 2u   ? tz_is_nan_u16((tz_u16)word)
           : size == 4u ? tz_is_nan_u32((tz_u32)word)
                        : tz_is_nan_u64(word);
}

TZ_FN tz_u32 tz_word_misfit(const TZ_GLOBAL tz_u8 *p, const tz_inspection *how)
{
    return how->size == 1u   ? tz_misfit_u8(p, 1u, how->bits, how->below)
           : how->size == 2u ? tz_misfit_u16(p, 1u, how->bits, how->below)
                             : tz_misfit_u32(p, 1u, how->bits, how->below);
}

/* Inspects the words of one work-item in a row: every work_items-th. */
TZ_FN void tz_inspect_row(const TZ_GLOBAL tz_u8 *row, tz_u32 y, const tz_inspection *how,
                          tz_u32 work_item, tz_u32 work_items, tz_inspected *seen)
{
    for (tz_u32 i = work_item; i < how->count; i += work_items) {
        const TZ_GLOBAL tz_u8 *p = row + (tz_u64)i * how->size;
        if (how->flags & TZ_INSPECT_EMPTY) {
            const tz_u64 word = tz_load_raw(p, how->size);
            seen->differs |= how->flags & TZ_INSPECT_NAN
                                 ? !tz_word_is_nan(word, how->size)
                                 : word != how->value[i & (how->words - 1u)];
        }
        if ((how->flags & TZ_INSPECT_FIT) && seen->first == ~(tz_u64)0 && tz_word_misfit(p, how))
            seen->first = (tz_u64)y * how->count + i;
    }
}

/* The same for all rows, until nothing more can change the result. */
TZ_FN tz_inspected tz_inspect_rows(const TZ_GLOBAL tz_u8 *tile, const tz_inspection *how,
                                   tz_u32 work_item, tz_u32 work_items)
{
    tz_inspected seen = {0u, ~(tz_u64)0, 0u};
    const tz_u32 wants = how->flags & (TZ_INSPECT_EMPTY | TZ_INSPECT_FIT);
    for (tz_u32 y = 0; wants && y < how->rows; y++) {
        if (seen.differs && !(how->flags & TZ_INSPECT_FIT))
            break;
        tz_inspect_row(tile + y * how->row_bytes, y, how, work_item, work_items, &seen);
    }
    return seen;
}

/* ---- by one work-item ---- */

TZ_FN tz_inspected tz_inspect_tile(const TZ_GLOBAL tz_u8 *tile, const tz_inspection *how)
{
    tz_inspected seen = tz_inspect_rows(tile, how, 0u, 1u);
    if (how->flags & TZ_INSPECT_HASH) {
        for (tz_u32 y = 0; y < how->rows; y++)
            seen.hash =
                tz_hash_row(seen.hash, tile + y * how->row_bytes, (tz_u64)how->count * how->size);
    }
    return seen;
}

/* ---- by a work-group ---- */

#define TZ_INSPECT_SHARED (2u * TZ_WORK_GROUP_SIZE) /* words of shared memory */

/* The hash of a tile, row after row: a work-item for each accumulator; 0 for no rows. */
TZ_FN tz_u64 tz_hash_tile_work_group(const TZ_GLOBAL tz_u8 *tile, const tz_inspection *how,
                                     tz_u32 rows, TZ_LOCAL tz_u64 *shared)
{
    const tz_u64 size = (tz_u64)how->count * how->size;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u)
            shared[TZ_HASH_ACCUMULATORS] = 0u;
    }
    TZ_SYNC;
    for (tz_u32 y = 0; y < rows; y++) {
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item < TZ_HASH_ACCUMULATORS)
                shared[work_item] = tz_hash_accumulate(shared[TZ_HASH_ACCUMULATORS],
                                                       tile + y * how->row_bytes, size, work_item);
        }
        TZ_SYNC;
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (work_item == 0u)
                shared[TZ_HASH_ACCUMULATORS] = tz_hash_merge_accumulators(
                    shared[0], shared[1], shared[2], shared[3], (tz_u32)(size % TZ_HASH_BLOCK));
        }
        TZ_SYNC;
    }
    return shared[TZ_HASH_ACCUMULATORS];
}

/* Only work-item 0 gets the result. */
TZ_FN tz_inspected tz_inspect_tile_work_group(const TZ_GLOBAL tz_u8 *tile, const tz_inspection *how,
                                              TZ_LOCAL tz_u64 *shared)
{
    tz_inspected all = {0u, ~(tz_u64)0, 0u};
    for (TZ_EACH_WORK_ITEM(work_item)) {
        const tz_inspected seen = tz_inspect_rows(tile, how, work_item, TZ_WORK_GROUP_SIZE);
        shared[work_item] = seen.first;
        shared[TZ_WORK_GROUP_SIZE + work_item] = seen.differs;
    }
    TZ_SYNC;
    for (tz_u32 i = 0; i < TZ_WORK_GROUP_SIZE; i++) {
        all.first = shared[i] < all.first ? shared[i] : all.first;
        all.differs |= (tz_u32)shared[TZ_WORK_GROUP_SIZE + i];
    }
    TZ_SYNC;
    all.hash =
        tz_hash_tile_work_group(tile, how, how->flags & TZ_INSPECT_HASH ? how->rows : 0u, shared);
    return all;
}

#endif
