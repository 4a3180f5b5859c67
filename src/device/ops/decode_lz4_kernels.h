/* SPDX-License-Identifier: Apache-2.0
 * Kernels for LZ4: matches and literals are copied by all work-items of a work-group. */
#ifndef TZ_DEVICE_OPS_DECODE_LZ4_KERNELS_H
#define TZ_DEVICE_OPS_DECODE_LZ4_KERNELS_H

#include "device/ops/decode_kernels.h"

#include "kernels/lz4.h"

#ifdef TZ_KERNEL
TZ_DECODE_KERNEL(tz_kernel_lz4_work_group)
{
    TZ_SHARED tz_u32 queue[TZ_COPY_QUEUE_WORDS];
    TZ_DECODE_BY_WORK_GROUP(tz_lz4_tile_work_group(TZ_DECODE_ARGUMENTS, queue));
}

#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
TZ_DECODE_KERNEL(tz_kernel_lz4_work_item)
{
    TZ_DECODE_BY_WORK_ITEM(tz_lz4_tile(TZ_DECODE_ARGUMENTS));
}
#endif
#endif

#endif
