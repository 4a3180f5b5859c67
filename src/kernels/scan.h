/* SPDX-License-Identifier: Apache-2.0
 * Sums of what items have, each of itself and all items before it. */
#ifndef TZ_KERNELS_SCAN_H
#define TZ_KERNELS_SCAN_H

#include "kernels/work_items.h"

#define TZ_SCAN_WORDS (2u * TZ_WORK_GROUP_SIZE)

/* values: TZ_SCAN_WORDS, of which the first TZ_WORK_GROUP_SIZE are the items' own before, complete
 * for all items, and the sums after. */
TZ_FN void tz_scan_work_group(TZ_LOCAL tz_u64 *values)
{
    TZ_LOCAL tz_u64 *from = values;
    TZ_LOCAL tz_u64 *to = values + TZ_WORK_GROUP_SIZE;
    for (tz_u32 step = 1u; step < TZ_WORK_GROUP_SIZE; step *= 2u) { /* an even number of times */
        for (TZ_EACH_WORK_ITEM(work_item))
            to[work_item] = from[work_item] + (work_item >= step ? from[work_item - step] : 0u);
        TZ_SYNC;
        TZ_LOCAL tz_u64 *other = from;
        from = to;
        to = other;
    }
}

/* What comes before an item. */
TZ_FN tz_u64 tz_scan_before(const TZ_LOCAL tz_u64 *sums, tz_u32 work_item)
{
    return work_item > 0u ? sums[work_item - 1u] : 0u;
}

#endif
