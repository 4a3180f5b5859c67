/* SPDX-License-Identifier: Apache-2.0
 * Kernels for Deflate: the tables of codes lie in shared memory, and copies of matches are queued,
 * so that all work-items of a work-group share them. */
#ifndef TZ_DEVICE_OPS_DECODE_INFLATE_KERNELS_H
#define TZ_DEVICE_OPS_DECODE_INFLATE_KERNELS_H

#include "device/ops/decode_kernels.h"

#include "kernels/inflate.h"

#ifdef TZ_KERNEL
TZ_DECODE_KERNEL(tz_kernel_inflate_work_group)
{
    TZ_SHARED tz_u16 tables[TZ_INFLATE_SCRATCH];
    TZ_SHARED tz_u32 queue[TZ_COPY_QUEUE_WORDS];
    TZ_DECODE_BY_WORK_GROUP(tz_inflate_tile_work_group(TZ_DECODE_ARGUMENTS, tables, queue));
}

#ifdef TZ_HAS_SINGLE_ITEM_KERNELS
TZ_DECODE_KERNEL(tz_kernel_inflate_work_item)
{
    TZ_SHARED tz_u16 tables[TZ_INFLATE_SCRATCH];
    TZ_DECODE_BY_WORK_ITEM(tz_inflate_tile(TZ_DECODE_ARGUMENTS, tables));
}
#endif
#endif

#endif
