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
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_WORK_GROUP);
    const tz_u32 status =
        tz_lzw_tile_work_group(task.in, task.in_size, task.out, task.size, offsets, queue);
    if (TZ_WORK_ITEM == 0u)
        tz_store_u32(TZ_DECODE_STATUS, status);
}

#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
TZ_DECODE_KERNEL(tz_kernel_lzw_work_item)
{
    TZ_SHARED tz_u32 offsets[TZ_LZW_SCRATCH];
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_WORK_GROUP);
    if (TZ_WORK_ITEM == 0u)
        tz_store_u32(TZ_DECODE_STATUS,
                     tz_lzw_tile(task.in, task.in_size, task.out, task.size, offsets));
}
#endif
#endif

#endif
