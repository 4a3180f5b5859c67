/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TZ_DEVICE_DECODE_ZSTD_KERNELS_H
#define TZ_DEVICE_DECODE_ZSTD_KERNELS_H

#include "device/decode_kernels.h"

#include "kernels/zstd.h"

#ifdef TZ_SHELL
#define TZ_DECODE_ZSTD_WORK ((TZ_GLOBAL tz_u32 *)(slab + scratch + TZ_ZSTD_WORK * TZ_GROUP))

TZ_DECODE_SHELL(tz_kernel_zstd_group)
{
    TZ_SHARED tz_u32 shared[TZ_ZSTD_LOCAL];
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_GROUP);
    if (TZ_DECODE_IS_LEFT(task)) {
        const tz_u32 status =
            tz_zstd_group(task.in, task.in_size, task.out, task.size, TZ_DECODE_ZSTD_WORK, shared);
        if (TZ_ITEM == 0u)
            tz_store_u32(TZ_DECODE_STATUS, status);
    }
}

#ifdef TZ_SHELL_ALONE
TZ_DECODE_SHELL(tz_kernel_zstd_item)
{
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_GROUP);
    if (TZ_ITEM == 0u)
        tz_store_u32(TZ_DECODE_STATUS,
                     tz_zstd_tile(task.in, task.in_size, task.out, task.size, TZ_DECODE_ZSTD_WORK));
}
#endif
#endif

#endif
