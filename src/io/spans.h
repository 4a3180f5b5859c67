/* SPDX-License-Identifier: Apache-2.0
 * Many small byte ranges become few large reads. */
#ifndef TZ_IO_SPANS_H
#define TZ_IO_SPANS_H

#include <stddef.h>
#include <stdint.h>

/* One wanted range; index is the caller's and travels along. */
typedef struct tz_indexed_range {
    uint64_t offset;
    uint64_t size;
    size_t index;
} tz_indexed_range;

/* One read that covers pieces[first] to pieces[first + count - 1] of the sorted list. */
typedef struct tz_span {
    uint64_t offset;
    uint64_t size;
    size_t first;
    size_t count;
} tz_span;

typedef struct tz_merge_rule {
    uint64_t max_gap;  /* unwanted bytes between two pieces that are still read over */
    uint64_t max_span; /* a span grows no further than this (one larger piece stays whole) */
    uint64_t
        max_waste;    /* unwanted bytes of one span, at most this many percent of its wanted ones */
    size_t max_count; /* pieces of one span; 0: any number */
} tz_merge_rule;

/* Sort pieces by offset (then size, then index) and merge them; overlapping pieces share a span as
 * far as max_span allows, and a piece within another always does. spans has room for count. Returns
 * how many there are. Pieces of size 0 are covered by no read: they form no span of their own and
 * do not stretch one, and stand first in the sorted list. No offset + size may wrap (the caller has
 * checked them against the file). */
size_t tz_spans_merge(tz_indexed_range *ranges, size_t count, const tz_merge_rule *rule,
                      tz_span *spans);

#endif
