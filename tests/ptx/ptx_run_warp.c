/* SPDX-License-Identifier: Apache-2.0
 * Operations of the lanes of a warp together: shuffles, votes, matches and the barrier of a warp.
 * Only the barrier orders memory. */
#include "ptx/ptx_handlers.h"

typedef enum warp_kind {
    WARP_SYNC,
    SHUFFLE_UP,
    SHUFFLE_DOWN,
    SHUFFLE_BUTTERFLY,
    SHUFFLE_INDEX,
    VOTE_ALL,
    VOTE_ANY,
    VOTE_UNI,
    VOTE_BALLOT,
    MATCH_ANY_32,
    MATCH_ANY_64,
    MATCH_ALL_32,
    MATCH_ALL_64
} warp_kind;

/* value: kind and, from bit 32, the slot of the second destination. e: the mask; a, b, c: the
 * operands */
static const ptx_code *come(ptx_thread *t, uint64_t *r, const ptx_code *c)
{
    uint32_t mask = (uint32_t)r[c->e], lane = t->number % PTX_LANES;
    if (!(mask >> lane & 1))
        return ptx_stop(t, c, "lane %u is not in the mask 0x%x", lane, mask);
    t->mask = mask;
    t->next = c;
    t->state = PTX_AT_WARP;
    return NULL;
}

/* Threads run one by one, so that each is alone. */
HANDLER(activemask)
{
    r[c->d] = UINT64_C(1) << t->number % PTX_LANES;
    return c + 1;
}

/* ---------------------------------------------------------------------------------------------
 * Together
 * ------------------------------------------------------------------------------------------ */

typedef struct warp_answer {
    uint64_t value;
    bool predicate;
} warp_answer;

static uint64_t operand_a(const ptx_thread *t)
{
    return t->slots[t->next->a];
}

/* Whose value a lane takes; *in_range: the lane that was asked for is in its segment. */
static uint32_t source_lane(const ptx_thread *t, warp_kind kind, bool *in_range)
{
    uint32_t lane = t->number % PTX_LANES, b = t->slots[t->next->b] & 31;
    uint32_t c = (uint32_t)t->slots[t->next->c], segment = c >> 8 & 31, clamp = c & 31;
    uint32_t last = (lane & segment) | (clamp & ~segment), from = lane;
    if (kind == SHUFFLE_UP) {
        *in_range = (int32_t)(lane - b) >= (int32_t)last;
        from = lane - b;
    } else {
        from = kind == SHUFFLE_DOWN        ? lane + b
               : kind == SHUFFLE_BUTTERFLY ? lane ^ b
                                           : (lane & segment) | (b & ~segment);
        *in_range = from <= last;
    }
    return *in_range ? from : lane;
}

static bool shuffle(ptx_block *block, ptx_thread *t, warp_kind kind, warp_answer *answer)
{
    uint32_t from = source_lane(t, kind, &answer->predicate);
    uint32_t number = t->number / PTX_LANES * PTX_LANES + from;
    const ptx_thread *other = number < block->thread_count ? &block->threads[number] : NULL;
    if (!other || other->state != PTX_AT_WARP || !(t->mask >> from & 1)) {
        ptx_stop_waiting(t, "lane %u takes what lane %u has, which is not there",
                         t->number % PTX_LANES, from);
        return false;
    }
    answer->value = (uint32_t)operand_a(other);
    return true;
}

static warp_answer vote(const ptx_block *block, const uint32_t *threads, uint32_t count,
                        warp_kind kind)
{
    uint32_t ballot = 0, yes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t one = operand_a(&block->threads[threads[i]]) & 1;
        ballot |= one << threads[i] % PTX_LANES;
        yes += one;
    }
    switch (kind) {
    case VOTE_ALL:
        return (warp_answer){.value = yes == count};
    case VOTE_ANY:
        return (warp_answer){.value = yes != 0};
    case VOTE_UNI:
        return (warp_answer){.value = yes == 0 || yes == count};
    default:
        return (warp_answer){.value = ballot};
    }
}

/* The lanes that have what t has. */
static warp_answer match(const ptx_block *block, const ptx_thread *t, const uint32_t *threads,
                         uint32_t count, warp_kind kind)
{
    uint64_t mask = kind == MATCH_ANY_32 || kind == MATCH_ALL_32 ? UINT32_MAX : UINT64_MAX;
    uint32_t same = 0, matches = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t differs = (operand_a(&block->threads[threads[i]]) ^ operand_a(t)) & mask;
        same |= (differs ? 0u : 1u) << threads[i] % PTX_LANES;
        matches += differs ? 0u : 1u;
    }
    bool all = matches == count;
    bool any = kind == MATCH_ANY_32 || kind == MATCH_ANY_64;
    return (warp_answer){.value = any || all ? same : 0, .predicate = all};
}

static bool answer_for(ptx_block *block, ptx_thread *t, const uint32_t *threads, uint32_t count,
                       warp_answer *answer)
{
    warp_kind kind = (warp_kind)(t->next->value & 255);
    if (kind >= SHUFFLE_UP && kind <= SHUFFLE_INDEX)
        return shuffle(block, t, kind, answer);
    if (kind >= MATCH_ANY_32)
        *answer = match(block, t, threads, count, kind);
    else if (kind >= VOTE_ALL)
        *answer = vote(block, threads, count, kind);
    return true;
}

void ptx_warp_meet(ptx_block *block, const uint32_t *threads, uint32_t count)
{
    warp_answer answers[PTX_LANES] = {0};
    for (uint32_t i = 0; i < count; i++)
        if (!answer_for(block, &block->threads[threads[i]], threads, count, &answers[i]))
            return;
    if ((block->threads[threads[0]].next->value & 255) == WARP_SYNC)
        ptx_race_meet(block, threads, count);
    for (uint32_t i = 0; i < count; i++) {
        ptx_thread *t = &block->threads[threads[i]];
        const ptx_code *c = t->next;
        if ((c->value & 255) != WARP_SYNC) {
            t->slots[c->d] = answers[i].value;
            t->slots[c->value >> 32] = answers[i].predicate;
        }
        t->next = c + 1;
        t->state = PTX_READY;
    }
}

/* ---------------------------------------------------------------------------------------------
 * Lowering
 * ------------------------------------------------------------------------------------------ */

static warp_kind take_shuffle(ptx_lowering *l)
{
    l->failed = l->failed || ptx_take_type(l) != PTX_B32;
    if (ptx_take(l, PTX_MOD_up))
        return SHUFFLE_UP;
    if (ptx_take(l, PTX_MOD_down))
        return SHUFFLE_DOWN;
    if (ptx_take(l, PTX_MOD_bfly))
        return SHUFFLE_BUTTERFLY;
    l->failed = l->failed || !ptx_take(l, PTX_MOD_idx);
    return SHUFFLE_INDEX;
}

static warp_kind take_vote(ptx_lowering *l)
{
    ptx_type type = ptx_take_type(l);
    bool ballot = ptx_take(l, PTX_MOD_ballot);
    l->failed = l->failed || type != (ballot ? PTX_B32 : PTX_PRED);
    if (ballot)
        return VOTE_BALLOT;
    if (ptx_take(l, PTX_MOD_all))
        return VOTE_ALL;
    if (ptx_take(l, PTX_MOD_any))
        return VOTE_ANY;
    l->failed = l->failed || !ptx_take(l, PTX_MOD_uni);
    return VOTE_UNI;
}

static warp_kind take_match(ptx_lowering *l)
{
    ptx_type type = ptx_take_type(l);
    bool all = ptx_take(l, PTX_MOD_all);
    l->failed =
        l->failed || (type != PTX_B32 && type != PTX_B64) || (!all && !ptx_take(l, PTX_MOD_any));
    if (all)
        return type == PTX_B32 ? MATCH_ALL_32 : MATCH_ALL_64;
    return type == PTX_B32 ? MATCH_ANY_32 : MATCH_ANY_64;
}

static bool lower_warp_sync(ptx_lowering *l)
{
    ptx_take(l, PTX_MOD_warp);
    if (!ptx_take(l, PTX_MOD_sync) || !ptx_operands(l, 1))
        return false;
    return ptx_emit(l, (ptx_code){.run = come, .value = WARP_SYNC, .e = ptx_source(l, 0, PTX_B32)});
}

/* sources: with the mask, which comes last; a second destination may be there or not */
static bool emit_together(ptx_lowering *l, warp_kind kind, uint32_t sources, bool may_have_two)
{
    uint32_t count = l->in->operand_count;
    bool two = may_have_two && count == sources + 2;
    if (!ptx_take(l, PTX_MOD_sync) || (!two && !ptx_operands(l, sources + 1)))
        return false;
    ptx_type type = kind >= VOTE_ALL && kind <= VOTE_BALLOT ? PTX_PRED : PTX_B64;
    uint32_t p = two ? ptx_destination(l, 1) : ptx_fixed(l, PTX_SLOT_NOWHERE);
    uint32_t first = two ? 2 : 1;
    ptx_code code = {.run = come,
                     .value = (uint64_t)kind | (uint64_t)p << 32,
                     .d = ptx_destination(l, 0),
                     .a = ptx_source(l, first, type),
                     .e = ptx_source(l, count - 1, PTX_B32)};
    if (sources == 4) {
        code.b = ptx_source(l, first + 1, PTX_B32);
        code.c = ptx_source(l, first + 2, PTX_B32);
    }
    return ptx_emit(l, code);
}

bool ptx_lower_warp(ptx_lowering *l)
{
    switch (l->in->operation) {
    case PTX_OP_activemask:
        return ptx_take_type(l) == PTX_B32 && ptx_operands(l, 1) &&
               ptx_emit(l, (ptx_code){.run = activemask, .d = ptx_destination(l, 0)});
    case PTX_OP_shfl:
        return emit_together(l, take_shuffle(l), 4, true);
    case PTX_OP_vote:
        return emit_together(l, take_vote(l), 2, false);
    case PTX_OP_match: {
        warp_kind kind = take_match(l);
        return emit_together(l, kind, 2, kind >= MATCH_ALL_32);
    }
    default:
        return lower_warp_sync(l);
    }
}
