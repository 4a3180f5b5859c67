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
#include "kernels/items.h"

/* Memory that a group uses. */
typedef struct tz_deflate_group {
    tz_deflate_work work;
    tz_u8 runs[2][TZ_GROUP_SIZE]; /* which groups of a window are runs; windows take turns */
    tz_u32 bits[TZ_GROUP_SIZE];   /* that items have in a window */
    tz_u32 parts[TZ_ADLER_GROUP_WORDS];
    tz_u32 held;   /* bits of the word that is not complete */
    tz_u32 answer; /* of one item to all */
    tz_u32 is_coded;
} tz_deflate_group;

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
typedef struct tz_window_part {
    tz_run_parts run;
    tz_u32 byte; /* of the run */
    const TZ_GLOBAL tz_u8 *literals;
    tz_u32 count; /* of literals */
    tz_u32 ends;  /* the end of the block */
} tz_window_part;

/* ---- windows ---- */

TZ_FN tz_u32 tz_window_count(tz_u32 size)
{
    return size / TZ_DEFLATE_GROUP / TZ_GROUP_SIZE + 1u;
}

/* A window of the size bytes at this place, but for what the one before it carries. */
TZ_FN void tz_window_set(tz_deflate_window *window, const TZ_GLOBAL tz_u8 *at, tz_u32 size,
                         tz_u32 number, TZ_LOCAL tz_deflate_group *group)
{
    const tz_u32 begin = number * TZ_GROUP_SIZE;
    const tz_u32 left = size / TZ_DEFLATE_GROUP - begin;
    window->at = at + TZ_DEFLATE_GROUP * begin;
    window->end = at + size;
    window->runs = group->runs[number % 2u];
    window->count = left < TZ_GROUP_SIZE ? left : TZ_GROUP_SIZE;
    window->is_first = number == 0u;
    window->is_last = left < TZ_GROUP_SIZE;
}

/* Item's part of finding runs. first: nothing comes before the block. */
TZ_FN void tz_window_mark(const tz_deflate_window *window, tz_u32 first, TZ_LOCAL tz_u8 *runs,
                          tz_u32 item)
{
    const tz_u32 may_be = item < window->count && !(first && window->is_first && item == 0u);
    runs[item] = may_be && tz_deflate_is_run(window->at + TZ_DEFLATE_GROUP * item) ? 1u : 0u;
}

/* Bytes of the run that ends before a group of the window, or before its end. */
TZ_FN tz_u32 tz_window_run_before(const tz_deflate_window *window, tz_u32 group)
{
    tz_u32 begin = group;
    while (begin > 0u && window->runs[begin - 1u])
        begin--;
    return (group - begin) * TZ_DEFLATE_GROUP + (begin == 0u ? window->carried : 0u);
}

/* What the next window gets. */
TZ_FN tz_u32 tz_window_carry(const tz_deflate_window *window)
{
    return tz_window_run_before(window, window->count) % TZ_DEFLATE_LONGEST_MATCH;
}

/* Items have the literals of their groups. The last item, when it has none, has the run that the
 * window ends with, as far as that is known, and in the last window all that is left. */
TZ_FN tz_window_part tz_window_part_of(const tz_deflate_window *window, tz_u32 item)
{
    const tz_u32 has_group = item < window->count && !window->runs[item];
    const tz_u32 has_rest = !has_group && item == TZ_GROUP_SIZE - 1u;
    const tz_u32 group = has_group ? item : window->count;
    const tz_u32 run = has_group || has_rest ? tz_window_run_before(window, group) : 0u;
    tz_window_part part;
    part.literals = window->at + TZ_DEFLATE_GROUP * group;
    part.run = tz_deflate_part_run(run);
    part.byte = run > 0u ? *(part.literals - 1) : 0u;
    part.count = has_group ? TZ_DEFLATE_GROUP : 0u;
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

TZ_FN void tz_group_count_part(const tz_window_part *part, TZ_LOCAL tz_deflate_work *work,
                               tz_u32 item)
{
    TZ_LOCAL tz_u32 *counts = work->block.counts;
    if (part->run.full > 0u)
        TZ_LOCAL_ADD(&counts[TZ_DEFLATE_FULL_MATCH], part->run.full);
    if (part->run.literals > 0u)
        TZ_LOCAL_ADD(&counts[part->byte], part->run.literals);
    if (part->run.rest > 0u)
        TZ_LOCAL_ADD(&counts[tz_deflate_length_symbol(part->run.rest).symbol], 1u);
    for (tz_u32 i = 0u; i < part->count; i++)
        TZ_LOCAL_ADD(&work->one.bytes[item % 4u][part->literals[i]], 1u);
}

TZ_FN void tz_group_count_none(TZ_LOCAL tz_deflate_work *work, tz_u32 item)
{
    for (tz_u32 i = item; i < TZ_DEFLATE_LITERALS; i += TZ_GROUP_SIZE)
        for (tz_u32 part = 0u; part < 4u; part++)
            work->one.bytes[part][i] = 0u;
    for (tz_u32 i = item; i < TZ_DEFLATE_SYMBOLS; i += TZ_GROUP_SIZE)
        work->block.counts[i] = i == TZ_DEFLATE_END;
}

TZ_FN void tz_group_count(const TZ_GLOBAL tz_u8 *at, tz_u32 size, tz_u32 first,
                          TZ_LOCAL tz_deflate_group *group)
{
    const tz_u32 windows = tz_window_count(size);
    tz_deflate_window window;
    window.carried = 0u;
    for (TZ_ITEMS(item))
        tz_group_count_none(&group->work, item);
    for (tz_u32 number = 0u; number < windows; number++) {
        tz_window_set(&window, at, size, number, group);
        for (TZ_ITEMS(item))
            tz_window_mark(&window, first, group->runs[number % 2u], item);
        TZ_SYNC;
        for (TZ_ITEMS(item)) {
            const tz_window_part part = tz_window_part_of(&window, item);
            tz_group_count_part(&part, &group->work, item);
        }
        window.carried = tz_window_carry(&window);
    }
    TZ_SYNC;
    for (TZ_ITEMS(item)) {
        for (tz_u32 i = item; i < TZ_DEFLATE_LITERALS; i += TZ_GROUP_SIZE)
            for (tz_u32 part = 0u; part < 4u; part++)
                group->work.block.counts[i] += group->work.one.bytes[part][i];
    }
    TZ_SYNC;
}

#endif
