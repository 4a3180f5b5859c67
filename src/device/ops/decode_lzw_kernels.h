/* SPDX-License-Identifier: Apache-2.0
 * Kernels for LZW: the offsets of strings lie in shared memory. */
#ifndef TZ_DEVICE_OPS_DECODE_LZW_KERNELS_H
#define TZ_DEVICE_OPS_DECODE_LZW_KERNELS_H

#include "device/ops/decode_kernels.h"

#include "kernels/lzw.h"

#ifdef TZ_KERNEL
TZ_DECODE_KERNEL(tz_kernel_lzw_work_group)
{
    TZ_SHARED tz_u32 offsets[TZ_LZW_SCRATCH];
    TZ_SHARED tz_u32 queue[TZ_COPY_QUEUE_WORDS];
    TZ_DECODE_BY_WORK_GROUP(tz_lzw_tile_work_group(TZ_DECODE_ARGUMENTS, offsets, queue));
}

#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
TZ_DECODE_KERNEL(tz_kernel_lzw_work_item)
{
    TZ_SHARED tz_u32 offsets[TZ_LZW_SCRATCH];
    TZ_DECODE_BY_WORK_ITEM(tz_lzw_tile(TZ_DECODE_ARGUMENTS, offsets));
}
#endif
#endif

#endif
