/* SPDX-License-Identifier: Apache-2.0
 * Around a library that decodes batches of chunks (device/ops/decode.c). Before the call kernels
 * list the chunks of all tiles. After it a kernel compares each result with its tile, and writes
 * the table for the kernel of the codec, in which finished tiles are marked.
 *
 * Only a tile with the simplest kind of frame is for the library: a single frame, with a single
 * block in LZ4. In place of any other tile the library gets a valid chunk of one byte, since chunks
 * must not be empty. Libraries do not report damage in the same way as the codecs: a tile that they
 * fail on, or whose checksum differs, is decoded again by the kernel. */
#ifndef TZ_DEVICE_OPS_VENDOR_DECODE_KERNELS_H
#define TZ_DEVICE_OPS_VENDOR_DECODE_KERNELS_H

#include "device/ops/decode_kernels.h"
#include "device/ops/vendor_array_kernels.h"
#include "kernels/adler32.h"
#include "kernels/copy_share.h"
#include "kernels/lz4.h"
#include "kernels/work_items.h"
#include "kernels/zlib_frame.h"
#include "kernels/zstd_frame.h"

/* After the arrays of the library: the table, which is as large as three arrays. */
#define TZ_VENDOR_TABLE TZ_VENDOR_ARRAYS
/* One for all tiles that are not for the library: the chunk of one byte, and TZ_VENDOR_SPARE bytes
 * later its output. */
#define TZ_VENDOR_ONE_BYTE (TZ_VENDOR_TABLE + 3u)
#define TZ_VENDOR_SPARE    64u
#define TZ_VENDOR_SPARES   128u

/* Copies of chunks begin at multiples of this, and at least as many bytes follow them, because
 * readers of bits fetch ahead. */
#define TZ_VENDOR_ALIGN 16u

TZ_FN tz_u64 tz_vendor_copy_bytes(tz_u32 stored)
{
    return ((tz_u64)stored + 2u * TZ_VENDOR_ALIGN - 1u) / TZ_VENDOR_ALIGN * TZ_VENDOR_ALIGN;
}

/* ---- before the library ---- */

/* Writes the offset of the copy of each tile. sums: TZ_SCAN_WORDS. */
TZ_FN void tz_vendor_arrange(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 offsets, tz_u64 count,
                             tz_u64 copies, TZ_LOCAL tz_u64 *sums)
{
    tz_u64 start = copies;
    for (tz_u64 first = 0u; first < count; first += TZ_WORK_GROUP_SIZE) {
        for (TZ_EACH_WORK_ITEM(work_item)) {
            sums[work_item] = 0u;
            if (first + work_item < count)
                sums[work_item] =
                    tz_vendor_copy_bytes(tz_decode_task_at(slab, table, first + work_item).in_size);
        }
        TZ_SYNC;
        tz_scan_work_group(sums);
        for (TZ_EACH_WORK_ITEM(work_item)) {
            if (first + work_item < count)
                tz_store_u64(slab + offsets + 8u * (first + work_item),
                             start + tz_scan_before(sums, work_item));
        }
        start += sums[TZ_WORK_GROUP_SIZE - 1u];
        TZ_SYNC;
    }
}

/* True if a tile is for the library. sized: frames must have a content size. */
TZ_FN int tz_vendor_accepts(const tz_decode_task *task, tz_u32 kind, tz_u32 alignment, tz_u32 sized)
{
    if (task->size == 0u || tz_vendor_address(task->out) % alignment != 0u)
        return 0;
    if (kind == TZ_VENDOR_ZSTD && sized && !tz_zstd_has_content_size(task->in, task->in_size))
        return 0;
    if (kind == TZ_VENDOR_ZSTD)
        return tz_zstd_is_single(task->in, task->in_size, task->size);
    if (kind == TZ_VENDOR_LZ4)
        return tz_lz4_is_single(task->in, task->in_size, task->size);
    return task->in_size > TZ_ZLIB_FRAME_BYTES &&
           tz_zlib_check_header(task->in, task->in_size) == TZ_DECODE_OK;
}

/* Bytes of the chunk of a tile. */
TZ_FN tz_u32 tz_vendor_in_size(const tz_decode_task *task, tz_u32 kind)
{
    if (kind == TZ_VENDOR_LZ4)
        return tz_kernel_le32(task->in + TZ_LZ4_HEADER);
    return kind == TZ_VENDOR_DEFLATE ? task->in_size - TZ_ZLIB_FRAME_BYTES : task->in_size;
}

/* Writes a chunk that decodes to one byte: a stored block of Deflate, a frame of Zstandard, or a
 * block of LZ4. */
TZ_FN void tz_vendor_put_spare(TZ_GLOBAL tz_u8 *spare, tz_u32 kind)
{
    const tz_u64 frame = 0x00090120fd2fb528u;
    const tz_u64 stream = 0x0000fffe000101u;
    const tz_u64 block = 0x0010u;
    tz_store_u64(spare, kind == TZ_VENDOR_ZSTD ? frame : kind == TZ_VENDOR_LZ4 ? block : stream);
    tz_store_u64(spare + 8, 0u);
}

TZ_FN tz_u32 tz_vendor_spare_size(tz_u32 kind)
{
    return kind == TZ_VENDOR_ZSTD ? 10u : kind == TZ_VENDOR_LZ4 ? 2u : 6u;
}

/* ---- after the library ---- */

/* True if the library reports success and the right number of bytes. */
TZ_FN int tz_vendor_is_done(const TZ_GLOBAL tz_u8 *slab, tz_u64 scratch, tz_u64 count,
                            tz_u64 number, tz_u32 size)
{
    const TZ_GLOBAL tz_u8 *spare = slab + tz_vendor_array(scratch, count, TZ_VENDOR_ONE_BYTE);
    const tz_u64 in =
        tz_load_u64(slab + tz_vendor_array(scratch, count, TZ_VENDOR_IN) + 8u * number);
    return in != tz_vendor_address(spare) &&
           tz_vendor_out_size(slab, scratch, count, number) == size;
}

/* Compares the checksum, if the frame has one. All work-items get the result. words:
 * TZ_ADLER_WORK_GROUP_WORDS. */
TZ_FN int tz_vendor_checksum_matches(const tz_decode_task *task, tz_u32 kind,
                                     TZ_LOCAL tz_u32 *words)
{
    const TZ_GLOBAL tz_u8 *sum = task->in + (task->in_size - 4u);
    if (kind == TZ_VENDOR_DEFLATE)
        return tz_adler32_work_group(task->out, task->size, words) == tz_zlib_checksum(sum);
    if (!(task->in[4] & (kind == TZ_VENDOR_ZSTD ? TZ_ZSTD_CHECKSUM : TZ_LZ4_CONTENT_CHECKSUM)))
        return 1;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u)
            words[0] = kind == TZ_VENDOR_ZSTD ? (tz_u32)tz_kernel_xxhash64(task->out, task->size)
                                              : tz_kernel_xxhash32(task->out, task->size);
    }
    TZ_SYNC;
    return words[0] == tz_kernel_le32(sum);
}

#ifdef TZ_KERNEL
/* One work-group for all tiles. */
TZ_KERNEL(tz_kernel_vendor_decode_arrange)
(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 scratch, tz_u64 count, tz_u64 copies)
{
    TZ_SHARED tz_u64 sums[TZ_SCAN_WORDS];
    tz_vendor_arrange(slab, table, tz_vendor_array(scratch, count, TZ_VENDOR_IN), count, copies,
                      sums);
}

/* A work-group for each tile. copied: chunks are copied to aligned offsets. sized: see
 * tz_vendor_accepts. */
TZ_KERNEL(tz_kernel_vendor_decode_list)
(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 scratch, tz_u64 count, tz_u32 kind, tz_u32 alignment,
 tz_u32 copied, tz_u32 sized)
{
    TZ_SHARED tz_u32 answer[1];
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_WORK_GROUP);
    TZ_GLOBAL tz_u8 *spare = slab + tz_vendor_array(scratch, count, TZ_VENDOR_ONE_BYTE);
    TZ_GLOBAL tz_u8 *copy = slab;
    if (copied)
        copy +=
            tz_load_u64(slab + tz_vendor_array(scratch, count, TZ_VENDOR_IN) + 8u * TZ_WORK_GROUP);
    if (TZ_WORK_ITEM == 0u)
        answer[0] = (tz_u32)tz_vendor_accepts(&task, kind, alignment, sized);
    TZ_SYNC;
    const tz_u32 is_accepted = answer[0];
    const tz_u32 before = tz_vendor_head_bytes(kind);
    const tz_u32 size = is_accepted ? tz_vendor_in_size(&task, kind) : 0u;
    if (is_accepted && copied)
        tz_copy_share(copy, task.in + before, size, TZ_WORK_ITEM, TZ_WORK_GROUP_SIZE);
    if (TZ_WORK_ITEM == 0u && is_accepted)
        tz_vendor_set_entry(slab, scratch, count, TZ_WORK_GROUP,
                            tz_vendor_address(copied ? copy : task.in + before), size,
                            tz_vendor_address(task.out), task.size);
    if (TZ_WORK_ITEM == 0u && !is_accepted)
        tz_vendor_set_entry(slab, scratch, count, TZ_WORK_GROUP, tz_vendor_address(spare),
                            tz_vendor_spare_size(kind), tz_vendor_address(spare + TZ_VENDOR_SPARE),
                            1u);
    if (TZ_WORK_ITEM == 0u && TZ_WORK_GROUP == 0u)
        tz_vendor_put_spare(spare, kind);
}

/* A work-group for each tile. */
TZ_KERNEL(tz_kernel_vendor_decode_check)
(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 scratch, tz_u64 count, tz_u64 statuses, tz_u32 kind)
{
    TZ_SHARED tz_u32 words[TZ_ADLER_WORK_GROUP_WORDS];
    const tz_decode_task task = tz_decode_task_at(slab, table, TZ_WORK_GROUP);
    int is_done = tz_vendor_is_done(slab, scratch, count, TZ_WORK_GROUP, task.size);
    if (is_done)
        is_done = tz_vendor_checksum_matches(&task, kind, words);
    if (TZ_WORK_ITEM == 0u) {
        const TZ_GLOBAL tz_u8 *entry = slab + table + TZ_WORK_GROUP * TZ_DECODE_ENTRY_BYTES;
        TZ_GLOBAL tz_u8 *left = slab + tz_vendor_array(scratch, count, TZ_VENDOR_TABLE) +
                                TZ_WORK_GROUP * TZ_DECODE_ENTRY_BYTES;
        for (tz_u32 i = 0u; i < TZ_DECODE_ENTRY_BYTES; i += 8u)
            tz_store_u64(left + i, tz_load_u64(entry + i));
        if (is_done) {
            tz_store_u32(left + TZ_DECODE_FROM_SIZE, TZ_DECODE_DONE);
            tz_store_u32(TZ_DECODE_STATUS, TZ_DECODE_OK);
        }
    }
}
#endif

#endif
