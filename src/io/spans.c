/* SPDX-License-Identifier: Apache-2.0
 * Merging byte ranges. One pass over the sorted pieces: a piece joins the span before it or starts
 * the next one. Each bound is kept at every step, so it holds for the finished span. */
#include "io/spans.h"

#include <stdbool.h>

#include "base/mem.h"

/* ---------------------------------------------------------------------------------------------
 * Sorting
 * ------------------------------------------------------------------------------------------ */

static bool comes_before(const tz_piece *a, const tz_piece *b)
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

static void swap_pieces(tz_piece *a, tz_piece *b)
{
    tz_piece kept = *a;
    *a = *b;
    *b = kept;
}

/* Restore the heap below root: no child comes after its parent. */
static void sift_down(tz_piece *pieces, size_t root, size_t count)
{
    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && comes_before(&pieces[child], &pieces[child + 1]))
            child++;
        if (!comes_before(&pieces[root], &pieces[child]))
            return;
        swap_pieces(&pieces[root], &pieces[child]);
        root = child;
    }
}

static bool is_sorted(const tz_piece *pieces, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (comes_before(&pieces[i], &pieces[i - 1]))
            return false;
    return true;
}

/* Heapsort: qsort may allocate, or be quadratic. Tiles mostly come in file order already. */
static void sort_pieces(tz_piece *pieces, size_t count)
{
    if (is_sorted(pieces, count))
        return;
    for (size_t root = count / 2; root > 0; root--)
        sift_down(pieces, root - 1, count);
    for (size_t last = count - 1; last > 0; last--) {
        swap_pieces(&pieces[0], &pieces[last]);
        sift_down(pieces, 0, last);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Merging
 * ------------------------------------------------------------------------------------------ */

/* floor(wanted * percent / 100), or as good as infinity. */
static uint64_t allowed_waste(uint64_t wanted, uint64_t percent)
{
    uint64_t whole, part;
    if (!tz_mul(wanted / 100, percent, &whole) || !tz_mul(wanted % 100, percent, &part) ||
        !tz_add(whole, part / 100, &whole))
        return UINT64_MAX;
    return whole;
}

/* Let piece join span, of whose bytes *wanted are wanted; false when a rule forbids it. */
static bool join(tz_span *span, uint64_t *wanted, const tz_piece *piece, const tz_merge_rule *rule)
{
    uint64_t end = span->offset + span->size;
    uint64_t piece_end = piece->offset + piece->size;
    if (rule->max_count > 0 && span->count >= rule->max_count)
        return false;
    if (piece_end > end) {
        uint64_t gap = piece->offset > end ? piece->offset - end : 0;
        uint64_t size = piece_end - span->offset;
        uint64_t new_wanted = *wanted + (piece_end - end - gap);
        if (gap > rule->max_gap || size > rule->max_span ||
            size - new_wanted > allowed_waste(new_wanted, rule->max_waste))
            return false;
        span->size = size;
        *wanted = new_wanted;
    }
    span->count++;
    return true;
}

size_t tz_spans_merge(tz_piece *pieces, size_t count, const tz_merge_rule *rule, tz_span *spans)
{
    sort_pieces(pieces, count);
    size_t i = 0;
    while (i < count && pieces[i].size == 0)
        i++;
    size_t span_count = 0;
    uint64_t wanted = 0;
    for (; i < count; i++) {
        if (span_count > 0 && join(&spans[span_count - 1], &wanted, &pieces[i], rule))
            continue;
        spans[span_count++] = (tz_span){pieces[i].offset, pieces[i].size, i, 1};
        wanted = pieces[i].size;
    }
    return span_count;
}
