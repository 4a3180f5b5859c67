/* SPDX-License-Identifier: Apache-2.0
 * Frames of LZ4: their constants, and the writing of header and footer. Frames that are written
 * have independent blocks, the size of their content and its checksum. */
#ifndef TZ_KERNELS_LZ4_FRAME_H
#define TZ_KERNELS_LZ4_FRAME_H

#include "kernels/kernel.h"
#include "kernels/xxhash.h"

#define TZ_LZ4_MAGIC     0x184D2204u
#define TZ_LZ4_SKIPPABLE 0x184D2A50u /* and the next 15 */
#define TZ_LZ4_STORED    0x80000000u /* bit of the size of a block: not compressed */

/* Bits of the flags, the first byte after the magic number. */
#define TZ_LZ4_DICTIONARY       1u
#define TZ_LZ4_RESERVED         2u
#define TZ_LZ4_CONTENT_CHECKSUM 4u
#define TZ_LZ4_CONTENT_SIZE     8u
#define TZ_LZ4_BLOCK_CHECKSUMS  16u
#define TZ_LZ4_INDEPENDENT      32u
#define TZ_LZ4_FORMAT           0xc0u
#define TZ_LZ4_FORMAT_1         0x40u

#define TZ_LZ4_HEADER       15u /* with the size of the content */
#define TZ_LZ4_BLOCK_HEADER 4u
#define TZ_LZ4_FOOTER       8u /* the end mark, which is a block of 0 bytes, and the checksum */
#define TZ_LZ4_MAX_BLOCK    4194304u

/* The greatest block, by its code in the header, which is 4 to 7. */
TZ_FN tz_u32 tz_lz4_block_size(tz_u32 code)
{
    return 1u << (8u + 2u * code);
}

/* The code of the smallest blocks that hold size bytes in one: readers allocate a block. */
TZ_FN tz_u32 tz_lz4_block_code(tz_u64 size)
{
    tz_u32 code = 4u;
    while (code < 7u && tz_lz4_block_size(code) < size)
        code++;
    return code;
}

TZ_FN void tz_lz4_put_u32(TZ_GLOBAL tz_u8 *to, tz_u32 word)
{
    for (tz_u32 i = 0u; i < 4u; i++)
        to[i] = (tz_u8)(word >> 8u * i);
}

TZ_FN void tz_lz4_put_header(TZ_GLOBAL tz_u8 *to, tz_u64 size)
{
    tz_lz4_put_u32(to, TZ_LZ4_MAGIC);
    to[4] = (tz_u8)(TZ_LZ4_FORMAT_1 | TZ_LZ4_INDEPENDENT | TZ_LZ4_CONTENT_SIZE |
                    TZ_LZ4_CONTENT_CHECKSUM);
    to[5] = (tz_u8)(tz_lz4_block_code(size) << 4);
    tz_lz4_put_u32(to + 6, (tz_u32)size);
    tz_lz4_put_u32(to + 10, (tz_u32)(size >> 32));
    to[14] = (tz_u8)(tz_kernel_xxhash32(to + 4, 10u) >> 8);
}

TZ_FN void tz_lz4_put_footer(TZ_GLOBAL tz_u8 *to, tz_u32 checksum)
{
    tz_lz4_put_u32(to, 0u);
    tz_lz4_put_u32(to + 4, checksum);
}

#endif
