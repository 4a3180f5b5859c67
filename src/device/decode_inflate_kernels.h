/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TZ_DEVICE_DECODE_INFLATE_KERNELS_H
#define TZ_DEVICE_DECODE_INFLATE_KERNELS_H

#include "device/decode_kernels.h"

#include "kernels/inflate.h"

#ifdef TZ_SHELL
TZ_DECODE_SHELL(tz_kernel_inflate_group)
{
    TZ_SHARED tz_u16 work[TZ_INFLATE_WORK];
    TZ_SHARED tz_u32 queue[TZ_QUEUE_WORDS];
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_GROUP);
    if (TZ_DECODE_IS_LEFT(task)) {
        const tz_u32 status =
            tz_inflate_group(task.in, task.in_size, task.out, task.size, work, queue);
        if (TZ_ITEM == 0u)
            tz_store_u32(TZ_DECODE_STATUS, status);
    }
}

#ifdef TZ_SHELL_ALONE
TZ_DECODE_SHELL(tz_kernel_inflate_item)
{
    TZ_SHARED tz_u16 work[TZ_INFLATE_WORK];
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_GROUP);
    if (TZ_ITEM == 0u)
        tz_store_u32(TZ_DECODE_STATUS,
                     tz_inflate_tile(task.in, task.in_size, task.out, task.size, work));
}
#endif
#endif

#endif
