/* SPDX-License-Identifier: Apache-2.0
 * Work that the items of a group share. It is written as regions, each a loop over the items with
 * TZ_SYNC behind it:
 *
 *     for (TZ_EACH_WORK_ITEM(item)) { ... }
 *     TZ_SYNC;
 *
 * On a device every item runs the body once and then waits for the others; on the cores one thread
 * runs it for one item after the other. So, between regions, variables of the function belong to
 * all items alike, or to item 0 alone, what items hand to each other is in local or global memory,
 * and conditions around regions are the same for all items. No region is left by a return.
 *
 * Items of one region may change the same tz_u32 of local memory by TZ_LOCAL_ADD and TZ_LOCAL_OR:
 * what comes out does not depend on their order. */
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

#endif
