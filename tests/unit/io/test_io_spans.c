/* SPDX-License-Identifier: Apache-2.0
 * Merging of byte ranges, against a slow and simple oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/spans.h"

static const tz_merge_rule generous = {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---------------------------------------------------------------------------------------------
 * The oracle
 * ------------------------------------------------------------------------------------------ */

static int compare(const void *left, const void *right)
{
    const tz_indexed_range *a = left, *b = right;
    if ((a->size == 0) != (b->size == 0))
        return a->size == 0 ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Bytes of the span that some range of it wants, and the longest run that none wants; offsets are
 * small, so that every byte can be looked at. */
static void count_bytes(const tz_span *span, const tz_indexed_range *pieces, size_t count,
                        uint64_t *wanted, uint64_t *longest_gap)
{
    uint64_t gap = 0;
    *wanted = *longest_gap = 0;
    for (uint64_t at = span->offset; at < span->offset + span->size; at++) {
        bool is_wanted = false;
        for (size_t i = span->first; i < span->first + count && !is_wanted; i++)
            is_wanted = at >= pieces[i].offset && at - pieces[i].offset < pieces[i].size;
        *wanted += is_wanted;
        gap = is_wanted ? 0 : gap + 1;
        if (gap > *longest_gap)
            *longest_gap = gap;
    }
}

static void assert_span_is_good(const tz_span *span, const tz_indexed_range *pieces,
                                const tz_merge_rule *rule)
{
    uint64_t wanted, longest_gap, largest = 0, end = 0;
    for (size_t i = span->first; i < span->first + span->count; i++) {
        assert_true(pieces[i].size > 0);
        assert_true(pieces[i].offset >= span->offset); /* covered */
        assert_true(pieces[i].offset + pieces[i].size <= span->offset + span->size);
        if (pieces[i].size > largest)
            largest = pieces[i].size;
        if (pieces[i].offset + pieces[i].size > end)
            end = pieces[i].offset + pieces[i].size;
    }
    assert_int_equal(span->offset, pieces[span->first].offset); /* and no more than that */
    assert_int_equal(span->offset + span->size, end);
    assert_true(span->size <= rule->max_span || span->size == largest);
    count_bytes(span, pieces, span->count, &wanted, &longest_gap);
    assert_true(longest_gap <= rule->max_gap);
    assert_true((span->size - wanted) * 100 <= wanted * rule->max_waste);
}

/* A span that could have taken the next range must have done so: few reads are the point. */
static void assert_not_too_many(const tz_span *span, const tz_span *next,
                                const tz_indexed_range *pieces, const tz_merge_rule *rule)
{
    const tz_indexed_range *piece = &pieces[next->first];
    uint64_t end = span->offset + span->size;
    if (piece->offset + piece->size > end)
        end = piece->offset + piece->size;
    tz_span joined = {span->offset, end - span->offset, span->first, span->count + 1};
    uint64_t wanted, longest_gap;
    count_bytes(&joined, pieces, joined.count, &wanted, &longest_gap);
    bool grows = joined.size > span->size;
    assert_true(grows && (joined.size > rule->max_span || longest_gap > rule->max_gap ||
                          (joined.size - wanted) * 100 > wanted * rule->max_waste));
}

static void assert_merged_well(const tz_indexed_range *given, tz_indexed_range *pieces,
                               size_t count, const tz_merge_rule *rule)
{
    tz_span *spans = calloc(count + 1, sizeof *spans);
    tz_indexed_range *sorted = malloc((count + 1) * sizeof *sorted);
    memcpy(sorted, given, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    size_t span_count = tz_spans_merge(pieces, count, rule, spans);
    assert_true(span_count <= count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(compare(&pieces[i], &sorted[i]), 0);

    size_t next = 0; /* spans stand one after the other and leave out only the empty ranges */
    while (next < count && pieces[next].size == 0)
        next++;
    for (size_t i = 0; i < span_count; i++) {
        assert_int_equal(spans[i].first, next);
        assert_true(spans[i].count > 0);
        assert_span_is_good(&spans[i], pieces, rule);
        if (i > 0)
            assert_not_too_many(&spans[i - 1], &spans[i], pieces, rule);
        next += spans[i].count;
    }
    assert_int_equal(next, count);
    free(sorted);
    free(spans);
}

static void random_ranges_are_merged_as_the_rules_say(void **state)
{
    (void)state;
    uint64_t seed = 1234567;
    for (int round = 0; round < 4000; round++) {
        enum { MOST = 40 };
        tz_indexed_range given[MOST], pieces[MOST];
        size_t count = (size_t)(next_random(&seed) % (MOST + 1));
        uint64_t reach = 1 + next_random(&seed) % 2000;
        uint64_t longest = 1 + next_random(&seed) % 80;
        for (size_t i = 0; i < count; i++)
            given[i] =
                (tz_indexed_range){next_random(&seed) % reach, next_random(&seed) % longest, i};
        const tz_merge_rule rule = {next_random(&seed) % 60, next_random(&seed) % 400,
                                    next_random(&seed) % 150, 0};
        memcpy(pieces, given, sizeof given);
        assert_merged_well(given, pieces, count, &rule);

        tz_indexed_range shuffled[MOST]; /* the order they come in changes nothing */
        memcpy(shuffled, given, sizeof given);
        for (size_t i = count; i > 1; i--) {
            size_t k = (size_t)(next_random(&seed) % i);
            tz_indexed_range kept = shuffled[i - 1];
            shuffled[i - 1] = shuffled[k];
            shuffled[k] = kept;
        }
        assert_merged_well(given, shuffled, count, &rule);
        assert_memory_equal(pieces, shuffled, count * sizeof *pieces);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Single rules
 * ------------------------------------------------------------------------------------------ */

static size_t merge_two(uint64_t size, uint64_t gap, tz_merge_rule rule)
{
    tz_indexed_range pieces[] = {{100, size, 0}, {100 + size + gap, size, 1}};
    tz_span spans[2];
    return tz_spans_merge(pieces, 2, &rule, spans);
}

static void each_rule_holds_at_its_number_and_breaks_one_above(void **state)
{
    (void)state;
    assert_int_equal(merge_two(50, 9, (tz_merge_rule){10, 1000, 100, 0}), 1);
    assert_int_equal(merge_two(50, 10, (tz_merge_rule){10, 1000, 100, 0}), 1);
    assert_int_equal(merge_two(50, 11, (tz_merge_rule){10, 1000, 100, 0}), 2);
    assert_int_equal(merge_two(50, 0, (tz_merge_rule){0, 100, 0, 0}), 1);
    assert_int_equal(merge_two(50, 0, (tz_merge_rule){0, 99, 0, 0}), 2);
    assert_int_equal(merge_two(50, 1, (tz_merge_rule){0, 1000, 100, 0}), 2);
    assert_int_equal(merge_two(50, 25, (tz_merge_rule){1000, 1000, 25, 0}), 1);
    assert_int_equal(merge_two(50, 26, (tz_merge_rule){1000, 1000, 25, 0}), 2);
    assert_int_equal(merge_two(50, 25, (tz_merge_rule){1000, 1000, 24, 0}), 2);
}

static void nothing_makes_no_span(void **state)
{
    (void)state;
    assert_int_equal(tz_spans_merge(NULL, 0, &generous, NULL), 0);
    tz_indexed_range pieces[] = {{50, 0, 0}, {10, 0, 1}, {10, 0, 2}};
    tz_span spans[3];
    assert_int_equal(tz_spans_merge(pieces, 3, &generous, spans), 0);
    assert_int_equal(pieces[0].index, 1);
    assert_int_equal(pieces[1].index, 2);
    assert_int_equal(pieces[2].index, 0);
}

static void empty_ranges_stand_first_and_stretch_nothing(void **state)
{
    (void)state;
    tz_indexed_range pieces[] = {{100, 10, 0}, {5000, 0, 1}, {0, 0, 2}, {110, 10, 3}};
    tz_span spans[4];
    assert_int_equal(tz_spans_merge(pieces, 4, &generous, spans), 1);
    assert_int_equal(spans[0].offset, 100);
    assert_int_equal(spans[0].size, 20);
    assert_int_equal(spans[0].first, 2);
    assert_int_equal(spans[0].count, 2);
}

static void repeated_and_contained_ranges_share_a_span_of_any_size(void **state)
{
    (void)state;
    tz_indexed_range pieces[] = {{0, 1000, 0}, {0, 1000, 1}, {500, 100, 2}, {999, 1, 3}, {0, 1, 4}};
    tz_span spans[5];
    const tz_merge_rule rule = {0, 10, 0, 0}; /* one larger range stays whole */
    size_t count = tz_spans_merge(pieces, 5, &rule, spans);
    assert_int_equal(count, 2); /* {0, 1} comes first and cannot grow to 1000 */
    assert_int_equal(spans[0].size, 1);
    assert_int_equal(spans[1].size, 1000);
    assert_int_equal(spans[1].count, 4);
}

static void the_largest_offsets_do_not_wrap(void **state)
{
    (void)state;
    tz_indexed_range pieces[] = {{UINT64_MAX - 100, 100, 0}, {UINT64_MAX - 300, 50, 1}, {0, 1, 2}};
    tz_span spans[3];
    const tz_merge_rule near = {200, UINT64_MAX, UINT64_MAX, 0};
    assert_int_equal(tz_spans_merge(pieces, 3, &near, spans), 2);
    assert_int_equal(spans[1].offset, UINT64_MAX - 300);
    assert_int_equal(spans[1].size, 300);
    assert_int_equal(tz_spans_merge(pieces, 3, &generous, spans), 1);
    assert_true(spans[0].size == UINT64_MAX);
    const tz_merge_rule thrifty = {UINT64_MAX, UINT64_MAX, 1000000, 0};
    assert_int_equal(tz_spans_merge(pieces, 3, &thrifty, spans), 2);
}

static void many_ranges_in_any_order_are_sorted(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    tz_indexed_range *pieces = malloc(COUNT * sizeof *pieces);
    tz_span *spans = malloc(COUNT * sizeof *spans);
    for (int order = 0; order < 4; order++) {
        uint64_t seed = 9;
        for (size_t i = 0; i < COUNT; i++) {
            size_t place = order == 0   ? i
                           : order == 1 ? COUNT - 1 - i
                           : order == 2 ? (size_t)(next_random(&seed) % COUNT)
                                        : i % 2 * (COUNT - 1 - i) + (1 - i % 2) * i;
            pieces[i] = (tz_indexed_range){place * 100, 60, i};
        }
        const tz_merge_rule rule = {10, 1000, 10, 0};
        size_t span_count = tz_spans_merge(pieces, COUNT, &rule, spans);
        for (size_t i = 1; i < COUNT; i++)
            assert_true(compare(&pieces[i - 1], &pieces[i]) < 0);
        assert_true(span_count <= COUNT);
        assert_true(order > 1 || span_count == COUNT);
    }
    free(spans);
    free(pieces);
}

static void a_span_has_no_more_ranges_than_allowed(void **state)
{
    (void)state;
    tz_indexed_range pieces[10];
    tz_span spans[10];
    for (size_t i = 0; i < 10; i++)
        pieces[i] = (tz_indexed_range){.offset = 100 * i, .size = 100, .index = i};
    const tz_merge_rule rule = {.max_span = 100000, .max_waste = 100, .max_count = 4};
    assert_int_equal(tz_spans_merge(pieces, 10, &rule, spans), 3);
    assert_int_equal(spans[0].count, 4);
    assert_int_equal(spans[0].size, 400);
    assert_int_equal(spans[1].offset, 400);
    assert_int_equal(spans[2].count, 2);
    for (size_t i = 0; i < 10; i++)
        pieces[i] = (tz_indexed_range){.offset = 5, .size = 100, .index = i}; /* all the same */
    assert_int_equal(tz_spans_merge(pieces, 10, &rule, spans), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ranges_are_merged_as_the_rules_say),
        cmocka_unit_test(each_rule_holds_at_its_number_and_breaks_one_above),
        cmocka_unit_test(nothing_makes_no_span),
        cmocka_unit_test(empty_ranges_stand_first_and_stretch_nothing),
        cmocka_unit_test(repeated_and_contained_ranges_share_a_span_of_any_size),
        cmocka_unit_test(the_largest_offsets_do_not_wrap),
        cmocka_unit_test(many_ranges_in_any_order_are_sorted),
        cmocka_unit_test(a_span_has_no_more_ranges_than_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
