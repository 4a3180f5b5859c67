/* SPDX-License-Identifier: Apache-2.0
 * Kernels for Zstandard: its tables are too large for shared memory and lie in scratch, a part for
 * each tile. */
#ifndef TZ_DEVICE_OPS_DECODE_ZSTD_KERNELS_H
#define TZ_DEVICE_OPS_DECODE_ZSTD_KERNELS_H

#include "device/ops/decode_kernels.h"

#include "kernels/zstd.h"

#ifdef TZ_KERNEL
#define TZ_DECODE_ZSTD_SCRATCH                                                                     \
    ((TZ_GLOBAL tz_u32 *)(slab + scratch + TZ_ZSTD_SCRATCH_BYTES * TZ_WORK_GROUP))

TZ_DECODE_KERNEL(tz_kernel_zstd_work_group)
{
    TZ_SHARED tz_u32 shared[TZ_ZSTD_LOCAL_WORDS];
    TZ_DECODE_BY_WORK_GROUP(
        tz_zstd_tile_work_group(TZ_DECODE_ARGUMENTS, TZ_DECODE_ZSTD_SCRATCH, shared));
}

#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
TZ_DECODE_KERNEL(tz_kernel_zstd_work_item)
{
    TZ_DECODE_BY_WORK_ITEM(tz_zstd_tile(TZ_DECODE_ARGUMENTS, TZ_DECODE_ZSTD_SCRATCH));
}
#endif
#endif

#endif
