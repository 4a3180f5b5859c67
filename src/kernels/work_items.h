/* SPDX-License-Identifier: Apache-2.0
 * Work that the work-items of a work-group share. It is written as regions, each a loop over the
 * work-items, followed by TZ_SYNC:
 *
 *     for (TZ_EACH_WORK_ITEM(work_item)) { ... }
 *     TZ_SYNC;
 *
 * On a device every work-item runs the body once and then waits for the others. In C one thread
 * runs it for one work-item after the other. This works under three conditions:
 *
 *   - Between regions a variable of the function has the same value for all work-items, or only
 *     work-item 0 reads it. Other values pass through local or global memory.
 *   - Conditions around regions are the same for all work-items.
 *   - No region is left by a return.
 *
 * Work-items of one region may change the same tz_u32 of local memory by TZ_LOCAL_ADD and
 * TZ_LOCAL_OR, whose results do not depend on the order. */
#ifndef TZ_KERNELS_WORK_ITEMS_H
#define TZ_KERNELS_WORK_ITEMS_H

#include "kernels/kernel.h"

#define TZ_WORK_GROUP_SIZE 64u

#if defined(__OPENCL_VERSION__)
#define TZ_LOCAL __local
#define TZ_EACH_WORK_ITEM(work_item)                                                               \
    tz_u32 work_item = (tz_u32)get_local_id(0), tz_once = 1u;                                      \
    tz_once;                                                                                       \
    tz_once = 0u
#define TZ_SYNC            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define TZ_LOCAL_ADD(p, x) ((void)atomic_add((p), (x)))
#define TZ_LOCAL_OR(p, x)  ((void)atomic_or((p), (x)))
#elif defined(__CUDACC__)
#define TZ_LOCAL
#define TZ_EACH_WORK_ITEM(work_item)                                                               \
    tz_u32 work_item = (tz_u32)threadIdx.x, tz_once = 1u;                                          \
    tz_once;                                                                                       \
    tz_once = 0u
#define TZ_SYNC            __syncthreads()
#define TZ_LOCAL_ADD(p, x) ((void)atomicAdd((p), (x)))
#define TZ_LOCAL_OR(p, x)  ((void)atomicOr((p), (x)))
#else
#define TZ_LOCAL
#define TZ_EACH_WORK_ITEM(work_item)                                                               \
    tz_u32 work_item = 0u;                                                                         \
    work_item < TZ_WORK_GROUP_SIZE;                                                                \
    work_item++
#define TZ_SYNC            ((void)0)
#define TZ_LOCAL_ADD(p, x) ((void)(*(p) += (x)))
#define TZ_LOCAL_OR(p, x)  ((void)(*(p) |= (x)))
#endif

/* ---- prefix sums ---- */

#define TZ_SCAN_WORDS (2u * TZ_WORK_GROUP_SIZE)

/* Replaces the value of each work-item by the sum of itself and of all before it. values:
 * TZ_SCAN_WORDS, of which the first half holds values and sums; the caller has synced the values.
 * Each step writes from one half to the other, and there are six steps, so that the sums end in the
 * first half. */
TZ_FN void tz_scan_work_group(TZ_LOCAL tz_u64 *values)
{
    TZ_LOCAL tz_u64 *from = values;
    TZ_LOCAL tz_u64 *to = values + TZ_WORK_GROUP_SIZE;
    for (tz_u32 step = 1u; step < TZ_WORK_GROUP_SIZE; step *= 2u) {
        for (TZ_EACH_WORK_ITEM(work_item))
            to[work_item] = from[work_item] + (work_item >= step ? from[work_item - step] : 0u);
        TZ_SYNC;
        TZ_LOCAL tz_u64 *other = from;
        from = to;
        to = other;
    }
}

/* The sum of all values before a work-item. */
TZ_FN tz_u64 tz_scan_before(const TZ_LOCAL tz_u64 *sums, tz_u32 work_item)
{
    return work_item > 0u ? sums[work_item - 1u] : 0u;
}

#endif
