/* SPDX-License-Identifier: Apache-2.0
 * Merging byte ranges. One pass over the sorted ranges: a range joins the last span or starts the
 * next one. Each bound is kept at every step, so it holds for the finished span. */
#include "io/spans.h"

#include <stdbool.h>

#include "base/mem.h"

/* ---- sorting ---- */

static bool comes_before(const tz_indexed_range *a, const tz_indexed_range *b)
{
    bool a_empty = a->size == 0;
    bool b_empty = b->size == 0;
    if (a_empty != b_empty)
        return a_empty;
    if (a->offset != b->offset)
        return a->offset < b->offset;
    if (a->size != b->size)
        return a->size < b->size;
    return a->index < b->index;
}

static void swap_ranges(tz_indexed_range *a, tz_indexed_range *b)
{
    tz_indexed_range saved = *a;
    *a = *b;
    *b = saved;
}

/* Restores the heap below root: no child comes after its parent. */
static void sift_down(tz_indexed_range *ranges, size_t root, size_t count)
{
    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && comes_before(&ranges[child], &ranges[child + 1]))
            child++;
        if (!comes_before(&ranges[root], &ranges[child]))
            return;
        swap_ranges(&ranges[root], &ranges[child]);
        root = child;
    }
}

/* Heapsort, because qsort may allocate or be quadratic. Tiles mostly come in file order already. */
static void sort_ranges(tz_indexed_range *ranges, size_t count)
{
    size_t sorted = 1;
    while (sorted < count && !comes_before(&ranges[sorted], &ranges[sorted - 1]))
        sorted++;
    if (sorted >= count)
        return;
    for (size_t root = count / 2; root > 0; root--)
        sift_down(ranges, root - 1, count);
    for (size_t last = count - 1; last > 0; last--) {
        swap_ranges(&ranges[0], &ranges[last]);
        sift_down(ranges, 0, last);
    }
}

/* ---- merging ---- */

/* Returns floor(wanted * percent / 100), or UINT64_MAX if that does not fit. */
static uint64_t allowed_waste(uint64_t wanted, uint64_t percent)
{
    uint64_t whole, rest;
    if (!tz_mul(wanted / 100, percent, &whole) || !tz_mul(wanted % 100, percent, &rest) ||
        !tz_add(whole, rest / 100, &whole))
        return UINT64_MAX;
    return whole;
}

/* Adds range to span, which has *wanted wanted bytes. Returns false if the rule forbids it. */
static bool join_span(tz_span *span, uint64_t *wanted, const tz_indexed_range *range,
                      const tz_merge_rule *rule)
{
    uint64_t end = span->offset + span->size;
    uint64_t range_end = range->offset + range->size;
    if (rule->max_count > 0 && span->count >= rule->max_count)
        return false;
    if (range_end > end) {
        uint64_t gap = range->offset > end ? range->offset - end : 0;
        uint64_t size = range_end - span->offset;
        uint64_t new_wanted = *wanted + (range_end - end - gap);
        if (gap > rule->max_gap || size > rule->max_span ||
            size - new_wanted > allowed_waste(new_wanted, rule->max_waste))
            return false;
        span->size = size;
        *wanted = new_wanted;
    }
    span->count++;
    return true;
}

size_t tz_spans_merge(tz_indexed_range *ranges, size_t count, const tz_merge_rule *rule,
                      tz_span *spans)
{
    sort_ranges(ranges, count);
    size_t i = 0;
    while (i < count && ranges[i].size == 0)
        i++;
    size_t span_count = 0;
    uint64_t wanted = 0;
    for (; i < count; i++) {
        if (span_count > 0 && join_span(&spans[span_count - 1], &wanted, &ranges[i], rule))
            continue;
        spans[span_count++] = (tz_span){ranges[i].offset, ranges[i].size, i, 1};
        wanted = ranges[i].size;
    }
    return span_count;
}
