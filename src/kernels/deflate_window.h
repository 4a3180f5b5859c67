/* SPDX-License-Identifier: Apache-2.0
 * Blocks of the fast Deflate encoder, taken by a group of items in windows, in which each item has
 * one group of 16 bytes.
 *
 * An item whose group is literals also has the run that ends before it. What a window ends with of
 * a run that may go on is counted in bytes and carried to the next one, but for its full matches,
 * which are written at once: so a window never makes more bits than its literals could. */
#ifndef TZ_KERNELS_DEFLATE_WINDOW_H
#define TZ_KERNELS_DEFLATE_WINDOW_H

#include "kernels/adler32.h"
#include "kernels/deflate_encode.h"
#include "kernels/work_items.h"

/* Memory that a group uses. */
typedef struct tz_deflate_shared {
    tz_deflate_scratch scratch;
    tz_u8 runs[2][TZ_WORK_GROUP_SIZE]; /* which groups of a window are runs; windows take turns */
    tz_u32 bits[TZ_WORK_GROUP_SIZE];   /* that items have in a window */
    tz_u32 parts[TZ_ADLER_WORK_GROUP_WORDS];
    tz_u32 held;   /* bits of the word that is not complete */
    tz_u32 answer; /* of one item to all */
    tz_u32 is_coded;
} tz_deflate_shared;

/* A window of a block. */
typedef struct tz_deflate_window {
    const TZ_GLOBAL tz_u8 *at;  /* its groups */
    const TZ_GLOBAL tz_u8 *end; /* of the block */
    const TZ_LOCAL tz_u8 *runs; /* which groups are runs */
    tz_u32 count;               /* of groups: in the last window less than there are items */
    tz_u32 is_first;
    tz_u32 is_last;
    tz_u32 carried; /* bytes of the run before it, less than 258 */
} tz_deflate_window;

/* What an item has to write of a window, in this order. */
typedef struct tz_deflate_share {
    tz_run_split run;
    tz_u32 byte; /* of the run */
    const TZ_GLOBAL tz_u8 *literals;
    tz_u32 count; /* of literals */
    tz_u32 ends;  /* the end of the block */
} tz_deflate_share;

/* ---- windows ---- */

TZ_FN tz_u32 tz_deflate_window_count(tz_u32 size)
{
    return size / TZ_DEFLATE_SEGMENT / TZ_WORK_GROUP_SIZE + 1u;
}

/* A window of the size bytes at this place, but for what the one before it carries. */
TZ_FN void tz_deflate_window_set(tz_deflate_window *window, const TZ_GLOBAL tz_u8 *at, tz_u32 size,
                                 tz_u32 number, TZ_LOCAL tz_deflate_shared *group)
{
    const tz_u32 begin = number * TZ_WORK_GROUP_SIZE;
    const tz_u32 left = size / TZ_DEFLATE_SEGMENT - begin;
    window->at = at + TZ_DEFLATE_SEGMENT * begin;
    window->end = at + size;
    window->runs = group->runs[number % 2u];
    window->count = left < TZ_WORK_GROUP_SIZE ? left : TZ_WORK_GROUP_SIZE;
    window->is_first = number == 0u;
    window->is_last = left < TZ_WORK_GROUP_SIZE;
}

/* Item's part of finding runs. first: nothing comes before the block. */
TZ_FN void tz_deflate_window_mark_runs(const tz_deflate_window *window, tz_u32 first,
                                       TZ_LOCAL tz_u8 *runs, tz_u32 work_item)
{
    const tz_u32 may_be =
        work_item < window->count && !(first && window->is_first && work_item == 0u);
    runs[work_item] =
        may_be && tz_deflate_is_run(window->at + TZ_DEFLATE_SEGMENT * work_item) ? 1u : 0u;
}

/* Bytes of the run that ends before a group of the window, or before its end. */
TZ_FN tz_u32 tz_deflate_window_run_before(const tz_deflate_window *window, tz_u32 group)
{
    tz_u32 begin = group;
    while (begin > 0u && window->runs[begin - 1u])
        begin--;
    return (group - begin) * TZ_DEFLATE_SEGMENT + (begin == 0u ? window->carried : 0u);
}

/* What the next window gets. */
TZ_FN tz_u32 tz_deflate_window_carry(const tz_deflate_window *window)
{
    return tz_deflate_window_run_before(window, window->count) % TZ_DEFLATE_MAX_MATCH;
}

/* Items have the literals of their groups. The last item, when it has none, has the run that the
 * window ends with, as far as that is known, and in the last window all that is left. */
TZ_FN tz_deflate_share tz_deflate_share_of(const tz_deflate_window *window, tz_u32 work_item)
{
    const tz_u32 has_group = work_item < window->count && !window->runs[work_item];
    const tz_u32 has_rest = !has_group && work_item == TZ_WORK_GROUP_SIZE - 1u;
    const tz_u32 group = has_group ? work_item : window->count;
    const tz_u32 run = has_group || has_rest ? tz_deflate_window_run_before(window, group) : 0u;
    tz_deflate_share part;
    part.literals = window->at + TZ_DEFLATE_SEGMENT * group;
    part.run = tz_deflate_split_run(run);
    part.byte = run > 0u ? *(part.literals - 1) : 0u;
    part.count = has_group ? TZ_DEFLATE_SEGMENT : 0u;
    part.ends = has_rest && window->is_last;
    if (part.ends) {
        part.count = (tz_u32)(window->end - part.literals);
    } else if (has_rest) { /* the run may go on */
        part.run.rest = 0u;
        part.run.literals = 0u;
    }
    return part;
}

/* ---- counting ---- */

TZ_FN void tz_deflate_count_share(const tz_deflate_share *part,
                                  TZ_LOCAL tz_deflate_scratch *scratch, tz_u32 work_item)
{
    TZ_LOCAL tz_u32 *counts = scratch->block.counts;
    if (part->run.full > 0u)
        TZ_LOCAL_ADD(&counts[TZ_DEFLATE_FULL_MATCH], part->run.full);
    if (part->run.literals > 0u)
        TZ_LOCAL_ADD(&counts[part->byte], part->run.literals);
    if (part->run.rest > 0u)
        TZ_LOCAL_ADD(&counts[tz_deflate_length_symbol(part->run.rest).symbol], 1u);
    for (tz_u32 i = 0u; i < part->count; i++)
        TZ_LOCAL_ADD(&scratch->phase.bytes[work_item % 4u][part->literals[i]], 1u);
}

TZ_FN void tz_deflate_clear_counts(TZ_LOCAL tz_deflate_scratch *scratch, tz_u32 work_item)
{
    for (tz_u32 i = work_item; i < TZ_DEFLATE_LITERALS; i += TZ_WORK_GROUP_SIZE)
        for (tz_u32 part = 0u; part < 4u; part++)
            scratch->phase.bytes[part][i] = 0u;
    for (tz_u32 i = work_item; i < TZ_DEFLATE_SYMBOLS; i += TZ_WORK_GROUP_SIZE)
        scratch->block.counts[i] = i == TZ_DEFLATE_END;
}

TZ_FN void tz_deflate_count_work_group(const TZ_GLOBAL tz_u8 *at, tz_u32 size, tz_u32 first,
                                       TZ_LOCAL tz_deflate_shared *group)
{
    const tz_u32 windows = tz_deflate_window_count(size);
    tz_deflate_window window;
    window.carried = 0u;
    for (TZ_EACH_WORK_ITEM(work_item))
        tz_deflate_clear_counts(&group->scratch, work_item);
    for (tz_u32 number = 0u; number < windows; number++) {
        tz_deflate_window_set(&window, at, size, number, group);
        for (TZ_EACH_WORK_ITEM(work_item))
            tz_deflate_window_mark_runs(&window, first, group->runs[number % 2u], work_item);
        TZ_SYNC;
        for (TZ_EACH_WORK_ITEM(work_item)) {
            const tz_deflate_share part = tz_deflate_share_of(&window, work_item);
            tz_deflate_count_share(&part, &group->scratch, work_item);
        }
        window.carried = tz_deflate_window_carry(&window);
    }
    TZ_SYNC;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        for (tz_u32 i = work_item; i < TZ_DEFLATE_LITERALS; i += TZ_WORK_GROUP_SIZE)
            for (tz_u32 part = 0u; part < 4u; part++)
                group->scratch.block.counts[i] += group->scratch.phase.bytes[part][i];
    }
    TZ_SYNC;
}

#endif
