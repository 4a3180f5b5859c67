/* SPDX-License-Identifier: Apache-2.0
 * Adler-32 (RFC 1950), from the first byte to the last, or of parts in any order.
 *
 * Of n bytes, the low half is 1 + the sum of all bytes and the high half n + the sum of each byte
 * times the number of bytes from it to the end, both modulo 65521. */
#ifndef TZ_KERNELS_ADLER32_H
#define TZ_KERNELS_ADLER32_H

#include "kernels/kernel.h"
#include "kernels/work_items.h"

#define TZ_ADLER_BASE 65521u
#define TZ_ADLER_STEP 5552u /* bytes before the sums of one step could pass 32 bits */

TZ_FN tz_u32 tz_adler32(const TZ_GLOBAL tz_u8 *bytes, tz_u32 size)
{
    tz_u32 low = 1u;
    tz_u32 high = 0u;
    tz_u32 at = 0u;
    while (at < size) {
        const tz_u32 end = size - at < TZ_ADLER_STEP ? size : at + TZ_ADLER_STEP;
        for (; at < end; at++) {
            low += bytes[at];
            high += low;
        }
        low %= TZ_ADLER_BASE;
        high %= TZ_ADLER_BASE;
    }
    return high << 16 | low;
}

/* What a part adds to both halves, less than 65521 each. Up to 65536 of them can be added, one
 * member to the other, before tz_adler32_from_partial takes the remainder. */
typedef struct tz_adler_partial {
    tz_u32 sum;
    tz_u32 weighted;
} tz_adler_partial;

/* The part from begin to end of size bytes in all. */
TZ_FN tz_adler_partial tz_adler_partial_of(const TZ_GLOBAL tz_u8 *bytes, tz_u32 begin, tz_u32 end,
                                           tz_u32 size)
{
    tz_adler_partial partial;
    tz_u32 sum = 0u;
    tz_u32 weighted = 0u; /* as if end were the end of all */
    tz_u32 at = begin;
    while (at < end) {
        const tz_u32 stop = end - at < TZ_ADLER_STEP ? end : at + TZ_ADLER_STEP;
        for (; at < stop; at++) {
            sum += bytes[at];
            weighted += sum;
        }
        sum %= TZ_ADLER_BASE;
        weighted %= TZ_ADLER_BASE;
    }
    const tz_u32 after = (size - end) % TZ_ADLER_BASE;
    partial.sum = sum;
    partial.weighted = (tz_u32)((weighted + (tz_u64)sum * after) % TZ_ADLER_BASE);
    return partial;
}

/* The checksum of size bytes, of which sum holds all parts. */
TZ_FN tz_u32 tz_adler32_from_partial(tz_adler_partial sum, tz_u32 size)
{
    const tz_u32 low = (sum.sum % TZ_ADLER_BASE + 1u) % TZ_ADLER_BASE;
    const tz_u32 high = (sum.weighted % TZ_ADLER_BASE + size % TZ_ADLER_BASE) % TZ_ADLER_BASE;
    return high << 16 | low;
}

#define TZ_ADLER_WORK_GROUP_WORDS (2u * TZ_WORK_GROUP_SIZE)

/* By a group, of which each item sums a part. parts: TZ_ADLER_WORK_GROUP_WORDS. All items get it.
 */
TZ_FN tz_u32 tz_adler32_work_group(const TZ_GLOBAL tz_u8 *bytes, tz_u32 size,
                                   TZ_LOCAL tz_u32 *partials)
{
    const tz_u32 share = size / TZ_WORK_GROUP_SIZE + 1u;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        const tz_u32 begin = work_item * share < size ? work_item * share : size;
        const tz_u32 end = size - begin < share ? size : begin + share;
        const tz_adler_partial partial = tz_adler_partial_of(bytes, begin, end, size);
        partials[2u * work_item] = partial.sum;
        partials[2u * work_item + 1u] = partial.weighted;
    }
    TZ_SYNC;
    tz_adler_partial sum;
    sum.sum = 0u;
    sum.weighted = 0u;
    for (tz_u32 i = 0u; i < TZ_WORK_GROUP_SIZE; i++) {
        sum.sum += partials[2u * i];
        sum.weighted += partials[2u * i + 1u];
    }
    TZ_SYNC;
    return tz_adler32_from_partial(sum, size);
}

#endif
