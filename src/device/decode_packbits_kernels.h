/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TZ_DEVICE_DECODE_PACKBITS_KERNELS_H
#define TZ_DEVICE_DECODE_PACKBITS_KERNELS_H

#include "device/decode_kernels.h"

#include "kernels/packbits.h"

#ifdef TZ_SHELL
TZ_DECODE_SHELL(tz_kernel_packbits_group)
{
    TZ_SHARED tz_u32 queue[TZ_QUEUE_WORDS];
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_GROUP);
    const tz_u32 status = tz_packbits_group(task.in, task.in_size, task.out, task.size, queue);
    if (TZ_ITEM == 0u)
        tz_store_u32(TZ_DECODE_STATUS, status);
}

#ifdef TZ_SHELL_ALONE
TZ_DECODE_SHELL(tz_kernel_packbits_item)
{
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_GROUP);
    if (TZ_ITEM == 0u)
        tz_store_u32(TZ_DECODE_STATUS,
                     tz_packbits_tile(task.in, task.in_size, task.out, task.size));
}
#endif
#endif

#endif
