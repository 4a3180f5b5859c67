/* SPDX-License-Identifier: Apache-2.0
 * The shells of kernels, which only a device compiles: groups of 64 items in one row, and who an
 * item is. In plain C there is no TZ_SHELL.
 *
 * CUDA's compiler is told how many groups a multiprocessor, with its 65536 registers, should hold
 * at once: left alone it wants as many groups as there can be, and then has not registers enough
 * for some kernels (bench/ptxas.md). 16 leave 64 registers to each item, and batches of tiles
 * rarely fill more; TZ_SHELL_OF is for kernels that need more registers.
 *
 * TZ_SHELL_ALONE: the compiler is that of a device that may be a CPU. Kernels of which one item
 * works alone are for such devices, and are compiled nowhere else. */
#ifndef TZ_KERNELS_SHELL_H
#define TZ_KERNELS_SHELL_H

#include "kernels/kernel.h"

#if defined(__OPENCL_VERSION__)
#define TZ_SHELL(name)            __kernel __attribute__((reqd_work_group_size(64, 1, 1))) void name
#define TZ_SHELL_OF(name, groups) TZ_SHELL(name)
#define TZ_GROUP                  ((tz_u64)get_group_id(0))
#define TZ_ITEM                   ((tz_u32)get_local_id(0))
#define TZ_SHELL_ALONE            1
#define TZ_SHARED                 __local /* before a variable of a shell that its group shares */
#elif defined(__CUDACC__)
#define TZ_SHELL(name)            TZ_SHELL_OF(name, 16)
#define TZ_SHELL_OF(name, groups) extern "C" __global__ void __launch_bounds__(64, groups) name
#define TZ_GROUP                  ((tz_u64)blockIdx.x)
#define TZ_ITEM                   ((tz_u32)threadIdx.x)
#define TZ_SHARED                 __shared__
#endif

#endif
