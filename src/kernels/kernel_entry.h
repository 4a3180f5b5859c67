/* SPDX-License-Identifier: Apache-2.0
 * The shells of kernels, which only a device compiles: groups of 64 items in one row, and who an
 * item is. In plain C there is no TZ_KERNEL.
 *
 * CUDA's compiler is told how many groups a multiprocessor, with its 65536 registers, should hold
 * at once: left alone it wants as many groups as there can be, and then has not registers enough
 * for some kernels (bench/ptxas.md). 16 leave 64 registers to each item, and batches of tiles
 * rarely fill more; TZ_KERNEL_BOUNDED is for kernels that need more registers.
 *
 * TZ_HAS_SINGLE_ITEM_KERNELS: the compiler is that of a device that may be a CPU. Kernels of which
 * one item works alone are for such devices, and are compiled nowhere else. */
#ifndef TZ_KERNELS_KERNEL_ENTRY_H
#define TZ_KERNELS_KERNEL_ENTRY_H

#include "kernels/kernel.h"

#if defined(__OPENCL_VERSION__)
#define TZ_KERNEL(name)                 __kernel __attribute__((reqd_work_group_size(64, 1, 1))) void name
#define TZ_KERNEL_BOUNDED(name, groups) TZ_KERNEL(name)
#define TZ_WORK_GROUP                   ((tz_u64)get_group_id(0))
#define TZ_WORK_ITEM                    ((tz_u32)get_local_id(0))
#define TZ_HAS_SINGLE_ITEM_KERNELS      1
#define TZ_SHARED                       __local /* before a variable of a shell that its group shares */
#elif defined(__CUDACC__)
#define TZ_KERNEL(name) TZ_KERNEL_BOUNDED(name, 16)
#define TZ_KERNEL_BOUNDED(name, groups)                                                            \
    extern "C" __global__ void __launch_bounds__(64, groups) name
#define TZ_WORK_GROUP ((tz_u64)blockIdx.x)
#define TZ_WORK_ITEM  ((tz_u32)threadIdx.x)
#define TZ_SHARED     __shared__
#endif

#endif
