/* SPDX-License-Identifier: Apache-2.0
 * Around a library that encodes batches of chunks (device/ops/vendor_encode.c). Before the call a
 * kernel lists the samples of all tiles. After it a kernel puts the frame of a file around each
 * chunk. A tile that the library could not encode is left to the CPU, as with other encoders. */
#ifndef TZ_DEVICE_OPS_VENDOR_ENCODE_KERNELS_H
#define TZ_DEVICE_OPS_VENDOR_ENCODE_KERNELS_H

#include "device/ops/encode_table_kernels.h"
#include "device/ops/vendor_array_kernels.h"
#include "kernels/adler32.h"
#include "kernels/copy_share.h"
#include "kernels/kernel_entry.h"

/* ---- before the library ---- */

/* Chunks must not be empty: for a tile that is skipped the library encodes one byte of the arrays
 * instead, into the view of the tile. */
TZ_FN void tz_vendor_encode_list_work_item(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 scratch,
                                           tz_u64 count, tz_u32 kind, tz_u64 number)
{
    const tz_encode_tile tile = tz_encode_tile_of(slab, table, number);
    const int is_wanted = tile.size > 0u;
    tz_vendor_set_entry(slab, scratch, count, number,
                        tz_vendor_address(slab + (is_wanted ? tile.from : scratch)),
                        is_wanted ? tile.size : 1u,
                        tz_vendor_address(slab + tile.to + tz_vendor_head_bytes(kind)), 0u);
}

/* ---- after the library ---- */

/* Bytes of the trailer after a chunk. */
TZ_FN tz_u32 tz_vendor_tail_bytes(tz_u32 kind)
{
    if (kind == TZ_VENDOR_LZ4)
        return TZ_LZ4_FOOTER;
    return kind == TZ_VENDOR_DEFLATE ? TZ_ZLIB_FRAME_BYTES - TZ_ZLIB_HEADER_BYTES : 0u;
}

/* A tile and its chunk. */
typedef struct tz_vendor_encoded_tile {
    const TZ_GLOBAL tz_u8 *in;
    tz_u32 size;
    TZ_GLOBAL tz_u8 *out;
    tz_u32 made; /* bytes of the chunk, between header and trailer */
    tz_u32 head; /* zlib header, in the order of bytes */
} tz_vendor_encoded_tile;

TZ_FN void tz_vendor_zlib_frame_work_group(const tz_vendor_encoded_tile *encoded,
                                           TZ_LOCAL tz_u32 *words)
{
    const tz_u32 sum = tz_adler32_work_group(encoded->in, encoded->size, words);
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (work_item == 0u) {
            encoded->out[0] = (tz_u8)encoded->head;
            encoded->out[1] = (tz_u8)(encoded->head >> 8);
            tz_zlib_put_checksum(encoded->out + TZ_ZLIB_HEADER_BYTES + encoded->made, sum);
        }
    }
}

/* Writes a frame of one block. The block stores the samples if the chunk is not smaller. */
TZ_FN void tz_vendor_lz4_frame_work_group(const tz_vendor_encoded_tile *encoded, tz_u32 is_stored)
{
    TZ_GLOBAL tz_u8 *block = encoded->out + TZ_LZ4_HEADER + TZ_LZ4_BLOCK_HEADER;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        if (is_stored)
            tz_copy_share(block, encoded->in, encoded->size, work_item, TZ_WORK_GROUP_SIZE);
        if (work_item == 0u) {
            tz_lz4_put_header(encoded->out, encoded->size);
            tz_lz4_put_u32(encoded->out + TZ_LZ4_HEADER,
                           is_stored ? encoded->made | TZ_LZ4_STORED : encoded->made);
            tz_lz4_put_footer(block + encoded->made,
                              tz_kernel_xxhash32(encoded->in, encoded->size));
        }
    }
}

/* Returns the size of the tile with its frame, or TZ_ENCODE_LEFT_TO_CPU with the size of its
 * samples; all work-items get it. words: TZ_ADLER_WORK_GROUP_WORDS. */
TZ_FN tz_u32 tz_vendor_frame_work_group(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 number,
                                        tz_u64 made, tz_u32 kind, tz_u32 head,
                                        TZ_LOCAL tz_u32 *words)
{
    const tz_encode_tile tile = tz_encode_tile_of(slab, table, number);
    const tz_u32 is_stored = kind == TZ_VENDOR_LZ4 && made >= tile.size;
    const tz_u64 bytes = is_stored ? tile.size : made;
    const tz_u64 all = tz_vendor_head_bytes(kind) + bytes + tz_vendor_tail_bytes(kind);
    if (tile.size == 0u)
        return 0u;
    if (made == 0u || all < bytes || all > tz_encode_capacity_of(slab, table, number))
        return tile.size | TZ_ENCODE_LEFT_TO_CPU;
    tz_vendor_encoded_tile encoded;
    encoded.in = slab + tile.from;
    encoded.size = tile.size;
    encoded.out = slab + tile.to;
    encoded.made = (tz_u32)bytes;
    encoded.head = head;
    if (kind == TZ_VENDOR_DEFLATE)
        tz_vendor_zlib_frame_work_group(&encoded, words);
    if (kind == TZ_VENDOR_LZ4)
        tz_vendor_lz4_frame_work_group(&encoded, is_stored);
    return (tz_u32)all;
}

#ifdef TZ_KERNEL
/* A work-item for each tile. */
TZ_KERNEL(tz_kernel_vendor_encode_list)
(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 scratch, tz_u64 count, tz_u32 kind)
{
    const tz_u64 number = TZ_WORK_GROUP * 64u + TZ_WORK_ITEM;
    if (number < count)
        tz_vendor_encode_list_work_item(slab, table, scratch, count, kind, number);
}

/* A work-group for each tile. */
TZ_KERNEL(tz_kernel_vendor_encode_frame)
(TZ_GLOBAL tz_u8 *slab, tz_u64 table, tz_u64 sizes, tz_u64 scratch, tz_u64 count, tz_u32 kind,
 tz_u32 head)
{
    TZ_SHARED tz_u32 words[TZ_ADLER_WORK_GROUP_WORDS];
    const tz_u64 made = tz_vendor_out_size(slab, scratch, count, TZ_WORK_GROUP);
    const tz_u32 size =
        tz_vendor_frame_work_group(slab, table, TZ_WORK_GROUP, made, kind, head, words);
    if (TZ_WORK_ITEM == 0u)
        tz_encode_set_size(slab, sizes, TZ_WORK_GROUP, size);
}
#endif

#endif
