/* SPDX-License-Identifier: Apache-2.0
 * What the kernels that decode have in common; each codec is a family of its own. A group has a
 * tile. By group all of its items decode together; by item the first one alone does, without
 * waiting for the others, which is how devices that are cores work best. */
#ifndef TZ_DEVICE_OPS_DECODE_KERNELS_H
#define TZ_DEVICE_OPS_DECODE_KERNELS_H

#include "kernels/kernel_entry.h"
#include "kernels/work_items.h"

/* The tables of decoders, in the memory that a group shares. */
#ifndef TZ_SCRATCH_SPACE
#define TZ_SCRATCH_SPACE TZ_LOCAL
#endif

/* tz_decode_entry, by bytes */
#define TZ_DECODE_ENTRY_BYTES 24u
#define TZ_DECODE_FROM        0u
#define TZ_DECODE_TO          8u
#define TZ_DECODE_FROM_SIZE   16u
#define TZ_DECODE_TO_SIZE     20u
#define TZ_DECODE_DONE        0xffffffffu /* as the size of stored bytes: by somebody else, leave it */

typedef struct tz_decode_task {
    const TZ_GLOBAL tz_u8 *in;
    TZ_GLOBAL tz_u8 *out;
    tz_u32 in_size;
    tz_u32 size;
} tz_decode_task;

TZ_FN tz_decode_task tz_decode_task_at(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 group)
{
    const TZ_GLOBAL tz_u8 *entry = slab + table + group * TZ_DECODE_ENTRY_BYTES;
    tz_decode_task task;
    task.in = slab + tz_load_u64(entry + TZ_DECODE_FROM);
    task.out = slab + tz_load_u64(entry + TZ_DECODE_TO);
    task.in_size = tz_load_u32(entry + TZ_DECODE_FROM_SIZE);
    task.size = tz_load_u32(entry + TZ_DECODE_TO_SIZE);
    return task;
}

#ifdef TZ_KERNEL
/* Where scratch is, kernels that use some know how much each tile has. */
#define TZ_DECODE_KERNEL(name)                                                                     \
    TZ_KERNEL(name)(TZ_GLOBAL tz_u8 * slab, tz_u64 table, tz_u64 statuses, tz_u64 scratch)
#define TZ_DECODE_STATUS        (slab + statuses + 4u * TZ_WORK_GROUP)
#define TZ_DECODE_IS_LEFT(task) ((task).in_size != TZ_DECODE_DONE)
#endif

#endif
