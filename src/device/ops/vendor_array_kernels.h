/* SPDX-License-Identifier: Apache-2.0
 * The arrays of a tz_vendor_batch, for decoding and encoding, as kernels write and read them. */
#ifndef TZ_DEVICE_OPS_VENDOR_ARRAY_KERNELS_H
#define TZ_DEVICE_OPS_VENDOR_ARRAY_KERNELS_H

#include "kernels/kernel.h"
#include "kernels/lz4_frame.h"
#include "kernels/zlib_frame.h"

/* Kinds of chunks. */
#define TZ_VENDOR_DEFLATE 0u /* streams inside zlib frames */
#define TZ_VENDOR_ZSTD    1u /* whole frames */
#define TZ_VENDOR_LZ4     2u /* single blocks inside frames */

/* Bytes of the header before a chunk in its tile. */
TZ_FN tz_u32 tz_vendor_head_bytes(tz_u32 kind)
{
    if (kind == TZ_VENDOR_LZ4)
        return TZ_LZ4_HEADER + TZ_LZ4_BLOCK_HEADER;
    return kind == TZ_VENDOR_DEFLATE ? TZ_ZLIB_HEADER_BYTES : 0u;
}

/* Arrays at the start of the scratch, with 8 bytes for each tile. */
#define TZ_VENDOR_IN         0u /* addresses */
#define TZ_VENDOR_IN_SIZES   1u
#define TZ_VENDOR_OUT        2u /* addresses */
#define TZ_VENDOR_CAPACITIES 3u
#define TZ_VENDOR_OUT_SIZES  4u
#define TZ_VENDOR_STATUSES   5u /* of 4 bytes */
#define TZ_VENDOR_ARRAYS     6u

/* The offset of an array, which begins at a multiple of 64 bytes. */
TZ_FN tz_u64 tz_vendor_array(tz_u64 scratch, tz_u64 count, tz_u32 which)
{
    return scratch + which * ((8u * count + 63u) / 64u * 64u);
}

TZ_FN tz_u64 tz_vendor_address(const TZ_GLOBAL tz_u8 *at)
{
    return (tz_u64)(size_t)at;
}

/* Writes the elements of one tile in all arrays. */
TZ_FN void tz_vendor_set_entry(TZ_GLOBAL tz_u8 *slab, tz_u64 scratch, tz_u64 count, tz_u64 number,
                               tz_u64 in, tz_u32 in_size, tz_u64 out, tz_u32 capacity)
{
    tz_store_u64(slab + tz_vendor_array(scratch, count, TZ_VENDOR_IN) + 8u * number, in);
    tz_store_u64(slab + tz_vendor_array(scratch, count, TZ_VENDOR_IN_SIZES) + 8u * number, in_size);
    tz_store_u64(slab + tz_vendor_array(scratch, count, TZ_VENDOR_OUT) + 8u * number, out);
    tz_store_u64(slab + tz_vendor_array(scratch, count, TZ_VENDOR_CAPACITIES) + 8u * number,
                 capacity);
    tz_store_u64(slab + tz_vendor_array(scratch, count, TZ_VENDOR_OUT_SIZES) + 8u * number, 0u);
    tz_store_u32(slab + tz_vendor_array(scratch, count, TZ_VENDOR_STATUSES) + 4u * number, 0u);
}

/* Bytes that the library wrote for a tile; 0 if it reports an error. */
TZ_FN tz_u64 tz_vendor_out_size(const TZ_GLOBAL tz_u8 *slab, tz_u64 scratch, tz_u64 count,
                                tz_u64 number)
{
    const tz_u32 status =
        tz_load_u32(slab + tz_vendor_array(scratch, count, TZ_VENDOR_STATUSES) + 4u * number);
    return status != 0u ? 0u
                        : tz_load_u64(slab + tz_vendor_array(scratch, count, TZ_VENDOR_OUT_SIZES) +
                                      8u * number);
}

#endif
