/* SPDX-License-Identifier: Apache-2.0
 * The entry points of kernels, which only a device compiles: work-groups of 64 work-items in one
 * dimension, and the number of a work-item. C has no TZ_KERNEL.
 *
 * For CUDA the bound says how many work-groups a multiprocessor, with its 65536 registers, should
 * hold at once. Without a bound the compiler aims at the greatest number, and some kernels run out
 * of registers (bench/ptxas.md). A bound of 16 leaves 64 registers to each work-item, and batches
 * of tiles rarely fill more; TZ_KERNEL_BOUNDED is for kernels that need more registers.
 *
 * TZ_HAS_SINGLE_ITEM_KERNELS: the device may be a CPU. Kernels of which one work-item works alone
 * are for such devices, and are compiled nowhere else. */
#ifndef TZ_KERNELS_KERNEL_ENTRY_H
#define TZ_KERNELS_KERNEL_ENTRY_H

#include "kernels/kernel.h"

#if defined(__OPENCL_VERSION__)
#define TZ_KERNEL(name)                 __kernel __attribute__((reqd_work_group_size(64, 1, 1))) void name
#define TZ_KERNEL_BOUNDED(name, groups) TZ_KERNEL(name)
#define TZ_WORK_GROUP                   ((tz_u64)get_group_id(0))
#define TZ_WORK_ITEM                    ((tz_u32)get_local_id(0))
#define TZ_HAS_SINGLE_ITEM_KERNELS      1
#define TZ_SHARED                       __local /* a variable of a kernel that its work-group shares */
#elif defined(__CUDACC__)
#define TZ_KERNEL(name) TZ_KERNEL_BOUNDED(name, 16)
#define TZ_KERNEL_BOUNDED(name, groups)                                                            \
    extern "C" __global__ void __launch_bounds__(64, groups) name
#define TZ_WORK_GROUP ((tz_u64)blockIdx.x)
#define TZ_WORK_ITEM  ((tz_u32)threadIdx.x)
#define TZ_SHARED     __shared__
#endif

#endif
