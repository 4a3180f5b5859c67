/* SPDX-License-Identifier: Apache-2.0
 * Shared by the kernels that decode. Each codec is a family of its own, in a header of its own,
 * since devices compile the text of a family when they first need it. A work-group has a tile, and
 * both forms of a kernel have the same arguments. In the work-group form all work-items decode
 * together. In the work-item form the first one decodes alone and never waits for the others, which
 * suits CPU devices best.
 *
 * A vendor's library may have decoded some tiles of the batch before (vendor_decode_kernels.h): it
 * marks them in the table, and the work-group form passes over them. */
#ifndef TZ_DEVICE_OPS_DECODE_KERNELS_H
#define TZ_DEVICE_OPS_DECODE_KERNELS_H

#include "kernels/kernel_entry.h"
#include "kernels/work_items.h"

/* The address space of decoder tables: memory that a work-group shares. */
#ifndef TZ_SCRATCH_SPACE
#define TZ_SCRATCH_SPACE TZ_LOCAL
#endif

/* tz_decode_entry, by bytes */
#define TZ_DECODE_ENTRY_BYTES 24u
#define TZ_DECODE_FROM        0u
#define TZ_DECODE_TO          8u
#define TZ_DECODE_FROM_SIZE   16u
#define TZ_DECODE_TO_SIZE     20u
#define TZ_DECODE_DONE        0xffffffffu /* in from_size: already decoded */

typedef struct tz_decode_task {
    const TZ_GLOBAL tz_u8 *in;
    TZ_GLOBAL tz_u8 *out;
    tz_u32 in_size;
    tz_u32 size;
} tz_decode_task;

TZ_FN tz_decode_task tz_decode_task_at(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 work_group)
{
    const TZ_GLOBAL tz_u8 *entry = slab + table + work_group * TZ_DECODE_ENTRY_BYTES;
    tz_decode_task task;
    task.in = slab + tz_load_u64(entry + TZ_DECODE_FROM);
    task.out = slab + tz_load_u64(entry + TZ_DECODE_TO);
    task.in_size = tz_load_u32(entry + TZ_DECODE_FROM_SIZE);
    task.size = tz_load_u32(entry + TZ_DECODE_TO_SIZE);
    return task;
}

#ifdef TZ_KERNEL
/* The arguments of all kernels: offsets in the slab. Kernels with scratch know the size of each
 * tile's part. */
#define TZ_DECODE_KERNEL(name)                                                                     \
    TZ_KERNEL(name)(TZ_GLOBAL tz_u8 * slab, tz_u64 table, tz_u64 statuses, tz_u64 scratch)
#define TZ_DECODE_STATUS    (slab + statuses + 4u * TZ_WORK_GROUP)
#define TZ_DECODE_ARGUMENTS task.in, task.in_size, task.out, task.size

/* The bodies of both forms. call: the decoder with TZ_DECODE_ARGUMENTS; its status is stored. */
#define TZ_DECODE_BY_WORK_GROUP(call)                                                              \
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_WORK_GROUP);                     \
    if (task.in_size != TZ_DECODE_DONE) {                                                          \
        const tz_u32 status = call;                                                                \
        if (TZ_WORK_ITEM == 0u)                                                                    \
            tz_store_u32(TZ_DECODE_STATUS, status);                                                \
    }
#define TZ_DECODE_BY_WORK_ITEM(call)                                                               \
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_WORK_GROUP);                     \
    if (TZ_WORK_ITEM == 0u)                                                                        \
    tz_store_u32(TZ_DECODE_STATUS, call)
#endif

#endif
