/* SPDX-License-Identifier: Apache-2.0
 * Copies of bytes that do not overlap, by one work-item or by several that share the bytes. A
 * device stores aligned words, so that neighbouring work-items store neighbouring words; the C form
 * gives each work-item a range. */
#ifndef TZ_KERNELS_COPY_SHARE_H
#define TZ_KERNELS_COPY_SHARE_H

#include "kernels/kernel.h"

#if defined(__OPENCL_VERSION__) || defined(__CUDACC__)
/* Stores a word, lowest byte first, at a multiple of 4. */
TZ_FN void tz_store_word(TZ_GLOBAL tz_u8 *to, tz_u32 word)
{
    *(TZ_GLOBAL tz_any_u32 *)to = word;
}

/* The lowest bits of an address. */
#define TZ_ODD_BYTES(p, word) ((tz_u32)(size_t)(p) & ((tz_u32)sizeof(word) - 1u))

/* Copies the share of one work-item of size bytes; work_items is a power of two. */
TZ_FN void tz_copy_share(TZ_GLOBAL tz_u8 *to, const TZ_GLOBAL tz_u8 *from, tz_u32 size,
                         tz_u32 work_item, tz_u32 work_items)
{
    const tz_u32 head = tz_kernel_min((4u - TZ_ODD_BYTES(to, tz_u32)) & 3u, size);
    const tz_u32 words = (size - head) / 4u;
    for (tz_u32 i = work_item; i < head; i += work_items)
        to[i] = from[i];
    if (TZ_ODD_BYTES(from + head, tz_u32) == 0u) {
        for (tz_u32 i = work_item; i < words; i += work_items)
            tz_store_word(to + head + 4u * i,
                          *(const TZ_GLOBAL tz_any_u32 *)(from + head + 4u * i));
    } else {
        for (tz_u32 i = work_item; i < words; i += work_items)
            tz_store_word(to + head + 4u * i, tz_load_u32(from + head + 4u * i));
    }
    for (tz_u32 i = head + 4u * words + work_item; i < size; i += work_items)
        to[i] = from[i];
}
#else
TZ_FN void tz_store_word(tz_u8 *to, tz_u32 word)
{
    tz_store_u32(to, tz_little_u32(word));
}

TZ_FN void tz_copy_share(tz_u8 *to, const tz_u8 *from, tz_u32 size, tz_u32 work_item,
                         tz_u32 work_items)
{
    const tz_u32 begin = (tz_u32)((tz_u64)size * work_item / work_items);
    const tz_u32 end = (tz_u32)((tz_u64)size * (work_item + 1u) / work_items);
    memcpy(to + begin, from + begin, end - begin);
}
#endif

#endif
