/* SPDX-License-Identifier: Apache-2.0
 * Kernels for Deflate: the tables of codes lie in shared memory, and copies of matches are queued,
 * so that all work-items of a group share them. */
#ifndef TZ_DEVICE_OPS_DECODE_INFLATE_KERNELS_H
#define TZ_DEVICE_OPS_DECODE_INFLATE_KERNELS_H

#include "device/ops/decode_kernels.h"

#include "kernels/inflate.h"

#ifdef TZ_KERNEL
TZ_DECODE_KERNEL(tz_kernel_inflate_work_group)
{
    TZ_SHARED tz_u16 tables[TZ_INFLATE_SCRATCH];
    TZ_SHARED tz_u32 queue[TZ_COPY_QUEUE_WORDS];
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_WORK_GROUP);
    if (TZ_DECODE_IS_LEFT(task)) {
        const tz_u32 status =
            tz_inflate_tile_work_group(task.in, task.in_size, task.out, task.size, tables, queue);
        if (TZ_WORK_ITEM == 0u)
            tz_store_u32(TZ_DECODE_STATUS, status);
    }
}

#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
TZ_DECODE_KERNEL(tz_kernel_inflate_work_item)
{
    TZ_SHARED tz_u16 tables[TZ_INFLATE_SCRATCH];
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_WORK_GROUP);
    if (TZ_WORK_ITEM == 0u)
        tz_store_u32(TZ_DECODE_STATUS,
                     tz_inflate_tile(task.in, task.in_size, task.out, task.size, tables));
}
#endif
#endif

#endif
