/* SPDX-License-Identifier: Apache-2.0
 * Kernels for PackBits: runs and literals are copied by all work-items of a group. */
#ifndef TZ_DEVICE_OPS_DECODE_PACKBITS_KERNELS_H
#define TZ_DEVICE_OPS_DECODE_PACKBITS_KERNELS_H

#include "device/ops/decode_kernels.h"

#include "kernels/packbits.h"

#ifdef TZ_KERNEL
TZ_DECODE_KERNEL(tz_kernel_packbits_work_group)
{
    TZ_SHARED tz_u32 queue[TZ_COPY_QUEUE_WORDS];
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_WORK_GROUP);
    const tz_u32 status =
        tz_packbits_tile_work_group(task.in, task.in_size, task.out, task.size, queue);
    if (TZ_WORK_ITEM == 0u)
        tz_store_u32(TZ_DECODE_STATUS, status);
}

#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
TZ_DECODE_KERNEL(tz_kernel_packbits_work_item)
{
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_WORK_GROUP);
    if (TZ_WORK_ITEM == 0u)
        tz_store_u32(TZ_DECODE_STATUS,
                     tz_packbits_tile(task.in, task.in_size, task.out, task.size));
}
#endif
#endif

#endif
