/* SPDX-License-Identifier: Apache-2.0
 * One of many values: the least, the largest, the most frequent, or the median. Values are sorted
 * in pairs with their order of arrival, which decides between equal ones: so the result does not
 * depend on the sort. */
#ifndef TZ_KERNELS_MODE_MEDIAN_H
#define TZ_KERNELS_MODE_MEDIAN_H

#include "kernels/kernel.h"

#ifdef TZ_HAS_F64

/* The second of two equal values; NaN only if both are. */
TZ_FN tz_f64 tz_min_f64(tz_f64 a, tz_f64 b)
{
    return a < b || b != b ? a : b;
}
TZ_FN tz_f64 tz_max_f64(tz_f64 a, tz_f64 b)
{
    return a > b || b != b ? a : b;
}

/* ---- of values without NaN ---- */

/* Up to this many values are compared one by one, without sorting. */
#define TZ_MODE_FEW_VALUES 16u

/* True if pair i comes before pair j: by value, then by order of arrival. */
TZ_FN int tz_pair_is_less(const TZ_GLOBAL tz_f64 *values, const TZ_GLOBAL tz_u32 *orders, tz_u32 i,
                          tz_u32 j)
{
    return values[i] < values[j] || (values[i] == values[j] && orders[i] < orders[j]);
}

TZ_FN void tz_pair_swap(TZ_GLOBAL tz_f64 *values, TZ_GLOBAL tz_u32 *orders, tz_u32 i, tz_u32 j)
{
    const tz_f64 value = values[i];
    const tz_u32 order = orders[i];
    values[i] = values[j];
    orders[i] = orders[j];
    values[j] = value;
    orders[j] = order;
}

TZ_FN void tz_pair_sift(TZ_GLOBAL tz_f64 *values, TZ_GLOBAL tz_u32 *orders, tz_u32 root,
                        tz_u32 count)
{
    for (tz_u32 child = 2u * root + 1u; child < count; child = 2u * root + 1u) {
        if (child + 1u < count && tz_pair_is_less(values, orders, child, child + 1u))
            child++;
        if (!tz_pair_is_less(values, orders, root, child))
            return;
        tz_pair_swap(values, orders, root, child);
        root = child;
    }
}

/* Heap sort: no recursion, no further memory, and no input makes it slow. */
TZ_FN void tz_pairs_sort(TZ_GLOBAL tz_f64 *values, TZ_GLOBAL tz_u32 *orders, tz_u32 count)
{
    for (tz_u32 i = count / 2u; i > 0u; i--)
        tz_pair_sift(values, orders, i - 1u, count);
    for (tz_u32 end = count; end > 1u; end--) {
        tz_pair_swap(values, orders, 0u, end - 1u);
        tz_pair_sift(values, orders, 0u, end - 1u);
    }
}

/* The most frequent value; of several, the one that reaches its number of occurrences first. The
 * values are sorted in place. orders: scratch for count numbers. */
TZ_FN tz_f64 tz_mode_of(TZ_GLOBAL tz_f64 *values, TZ_GLOBAL tz_u32 *orders, tz_u32 count)
{
    tz_u32 max_count = 0u;
    tz_u32 when = 0u;
    tz_f64 best = values[0];
    if (count <= TZ_MODE_FEW_VALUES) {
        for (tz_u32 i = 0u; i < count; i++) {
            tz_u32 times = 1u;
            for (tz_u32 k = 0u; k < i; k++)
                times += values[k] == values[i];
            if (times > max_count) {
                max_count = times;
                best = values[i];
            }
        }
        return best;
    }
    for (tz_u32 i = 0u; i < count; i++)
        orders[i] = i;
    tz_pairs_sort(values, orders, count);
    for (tz_u32 start = 0u, end; start < count; start = end) {
        for (end = start + 1u; end < count && values[end] == values[start];)
            end++;
        if (end - start > max_count || (end - start == max_count && orders[end - 1u] < when)) {
            max_count = end - start;
            when = orders[end - 1u];
            best = values[start];
        }
    }
    return best;
}

/* The median; of an even count the lower of the two in the middle. */
TZ_FN tz_f64 tz_median_of(TZ_GLOBAL tz_f64 *values, TZ_GLOBAL tz_u32 *orders, tz_u32 count)
{
    for (tz_u32 i = 0u; i < count; i++)
        orders[i] = i;
    tz_pairs_sort(values, orders, count);
    return values[(count - 1u) / 2u];
}

#endif

#endif
