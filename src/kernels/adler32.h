/* SPDX-License-Identifier: Apache-2.0
 * Adler-32 (RFC 1950), of a buffer or of ranges of it in any order.
 *
 * For n bytes, the low half is 1 + the sum of all bytes. The high half is n + the sum of each byte
 * times the number of bytes from it to the end. Both are modulo 65521. A range contributes a term
 * to either sum, which is independent of all other ranges: so a work-group can share the bytes. */
#ifndef TZ_KERNELS_ADLER32_H
#define TZ_KERNELS_ADLER32_H

#include "kernels/kernel.h"
#include "kernels/work_items.h"

#define TZ_ADLER_BASE 65521u
#define TZ_ADLER_STEP 5552u /* bytes that the sums can take before they could pass 32 bits */

/* The terms of a range, less than 65521 each. Up to 65536 of them can be added, member by member,
 * before tz_adler32_from_partial takes the remainder. */
typedef struct tz_adler_partial {
    tz_u32 sum;
    tz_u32 weighted;
} tz_adler_partial;

/* The terms of the bytes from begin to end, out of size bytes. */
TZ_FN tz_adler_partial tz_adler_partial_of(const TZ_GLOBAL tz_u8 *bytes, tz_u32 begin, tz_u32 end,
                                           tz_u32 size)
{
    tz_adler_partial partial;
    tz_u32 sum = 0u;
    tz_u32 weighted = 0u; /* as if no bytes followed the range */
    tz_u32 at = begin;
    while (at < end) {
        const tz_u32 stop = at + tz_kernel_min(end - at, TZ_ADLER_STEP);
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

/* The checksum of size bytes, from the added terms of all ranges. */
TZ_FN tz_u32 tz_adler32_from_partial(tz_adler_partial sum, tz_u32 size)
{
    const tz_u32 low = (sum.sum % TZ_ADLER_BASE + 1u) % TZ_ADLER_BASE;
    const tz_u32 high = (sum.weighted % TZ_ADLER_BASE + size % TZ_ADLER_BASE) % TZ_ADLER_BASE;
    return high << 16 | low;
}

TZ_FN tz_u32 tz_adler32(const TZ_GLOBAL tz_u8 *bytes, tz_u32 size)
{
    return tz_adler32_from_partial(tz_adler_partial_of(bytes, 0u, size, size), size);
}

#define TZ_ADLER_WORK_GROUP_WORDS (2u * TZ_WORK_GROUP_SIZE)

/* The same by a work-group: each work-item sums one range. All work-items get the checksum.
 * partials: TZ_ADLER_WORK_GROUP_WORDS. */
TZ_FN tz_u32 tz_adler32_work_group(const TZ_GLOBAL tz_u8 *bytes, tz_u32 size,
                                   TZ_LOCAL tz_u32 *partials)
{
    const tz_u32 share = size / TZ_WORK_GROUP_SIZE + 1u;
    for (TZ_EACH_WORK_ITEM(work_item)) {
        const tz_u32 begin = tz_kernel_min(work_item * share, size);
        const tz_u32 end = begin + tz_kernel_min(share, size - begin);
        const tz_adler_partial partial = tz_adler_partial_of(bytes, begin, end, size);
        partials[2u * work_item] = partial.sum;
        partials[2u * work_item + 1u] = partial.weighted;
    }
    TZ_SYNC;
    tz_adler_partial sum = {0u, 0u};
    for (tz_u32 i = 0u; i < TZ_WORK_GROUP_SIZE; i++) {
        sum.sum += partials[2u * i];
        sum.weighted += partials[2u * i + 1u];
    }
    TZ_SYNC;
    return tz_adler32_from_partial(sum, size);
}

#endif
