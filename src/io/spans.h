/* SPDX-License-Identifier: Apache-2.0
 * Many small byte ranges become few large reads. */
#ifndef TZ_IO_SPANS_H
#define TZ_IO_SPANS_H

#include <stddef.h>
#include <stdint.h>

/* One wanted range. index belongs to the caller and stays with the range. */
typedef struct tz_indexed_range {
    uint64_t offset;
    uint64_t size;
    size_t index;
} tz_indexed_range;

/* One read that covers ranges[first] to ranges[first + count - 1] of the sorted list. */
typedef struct tz_span {
    uint64_t offset;
    uint64_t size;
    size_t first;
    size_t count;
} tz_span;

typedef struct tz_merge_rule {
    uint64_t max_gap; /* unwanted bytes between two ranges */
    /* Bytes of a span; a larger range is a span of its own. */
    uint64_t max_span;
    /* Unwanted bytes of a span, in percent of its wanted bytes. */
    uint64_t max_waste;
    size_t max_count; /* ranges of a span; 0: any number */
} tz_merge_rule;

/* Sorts ranges by offset (then size, then index), merges them, and returns the number of spans;
 * spans has a capacity of count. Overlapping ranges share a span as far as max_span allows, and a
 * range within another always does. Ranges of size 0 need no read: they come first in the sorted
 * list and belong to no span. No offset + size may wrap (the caller has checked them against the
 * file). */
size_t tz_spans_merge(tz_indexed_range *ranges, size_t count, const tz_merge_rule *rule,
                      tz_span *spans);

#endif
