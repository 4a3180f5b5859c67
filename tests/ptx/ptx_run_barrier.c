/* SPDX-License-Identifier: Apache-2.0
 * Barriers of a block. A thread that comes to one waits; when no thread can run, those barriers
 * that are complete let their threads go. */
#include <stdio.h>

#include "ptx/ptx_handlers.h"

typedef enum barrier_kind { SYNC, ARRIVE, RED_POPC, RED_AND, RED_OR } barrier_kind;

/* value: kind and, from bit 8, aligned: the threads of a warp must be at the same one. a: barrier,
 * b: count or 0, c: what is reduced */
static const ptx_code *come(ptx_thread *t, uint64_t *r, const ptx_code *c)
{
    uint32_t barrier = (uint32_t)r[c->a], count = (uint32_t)r[c->b];
    if (barrier >= PTX_BARRIERS)
        return ptx_stop(t, c, "barrier %u of %u", barrier, PTX_BARRIERS);
    if (count % PTX_LANES || (!count && (barrier_kind)(c->value & 255) == ARRIVE))
        return ptx_stop(t, c, "%u threads, not a multiple of %u", count, PTX_LANES);
    if (t->arrived >> barrier & 1)
        return ptx_stop(t, c, "barrier %u again, before it was complete", barrier);
    t->barrier = barrier;
    t->count = count;
    if ((barrier_kind)(c->value & 255) == ARRIVE) {
        t->arrived |= 1u << barrier;
        return c + 1;
    }
    t->next = c;
    t->state = PTX_AT_BARRIER;
    return NULL;
}

/* ---------------------------------------------------------------------------------------------
 * Complete barriers
 * ------------------------------------------------------------------------------------------ */

/* Those at a barrier, waiting or not. */
typedef struct meeting {
    uint32_t threads[PTX_MOST_THREADS];
    uint32_t count, waiting;
} meeting;

static void gather(const ptx_block *block, uint32_t barrier, meeting *m)
{
    m->count = m->waiting = 0;
    for (uint32_t i = 0; i < block->thread_count; i++) {
        const ptx_thread *t = &block->threads[i];
        bool waits = t->state == PTX_AT_BARRIER && t->barrier == barrier;
        if (waits || t->arrived >> barrier & 1)
            m->threads[m->count++] = i;
        m->waiting += waits;
    }
}

/* Returns the number of threads that a barrier waits for. The last warp of a block counts as a
 * whole one. */
static uint32_t wanted(const ptx_block *block, uint32_t count)
{
    uint32_t all = block->thread_count, whole = (all + PTX_LANES - 1) / PTX_LANES * PTX_LANES;
    return !count || count == whole ? all : count;
}

static const ptx_thread *first_waiting(const ptx_block *block, const meeting *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (block->threads[m->threads[i]].state == PTX_AT_BARRIER)
            return &block->threads[m->threads[i]];
    return NULL;
}

/* All must say the same; in a warp, by the same instruction. */
static bool agree(ptx_block *block, const meeting *m)
{
    const ptx_thread *before = NULL;
    for (uint32_t i = 0; i < m->count; i++) {
        ptx_thread *t = &block->threads[m->threads[i]];
        if (t->state != PTX_AT_BARRIER || t->arrived >> t->barrier & 1)
            continue;
        if (before && before->count != t->count) {
            ptx_stop_waiting(t, "barrier %u for %u threads; others wait there for %u", t->barrier,
                             t->count, before->count);
            return false;
        }
        bool same_warp = before && before->number / PTX_LANES == t->number / PTX_LANES;
        if (same_warp && t->next->value >> 8 && before->next != t->next) {
            ptx_stop_waiting(t, "divergent barrier: a thread of the same warp waits at line %d",
                             ptx_line_of(before, before->next));
            return false;
        }
        before = t;
    }
    return true;
}

static uint64_t reduce(const ptx_block *block, const meeting *m, barrier_kind kind)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const ptx_thread *t = &block->threads[m->threads[i]];
        if (t->state == PTX_AT_BARRIER)
            sum += t->slots[t->next->c] & 1;
    }
    return kind == RED_POPC ? sum : kind == RED_AND ? sum == m->waiting : sum != 0;
}

static void let_go(ptx_block *block, uint32_t barrier, const meeting *m)
{
    uint64_t results[RED_OR + 1] = {0};
    for (unsigned k = RED_POPC; k <= RED_OR; k++)
        results[k] = reduce(block, m, (barrier_kind)k);
    ptx_race_meet(block, m->threads, m->count);
    for (uint32_t i = 0; i < m->count; i++) {
        ptx_thread *t = &block->threads[m->threads[i]];
        t->arrived &= ~(1u << barrier);
        if (t->state != PTX_AT_BARRIER || t->barrier != barrier)
            continue;
        if ((t->next->value & 255) >= RED_POPC)
            t->slots[t->next->d] = results[t->next->value & 255];
        t->next++;
        t->state = PTX_READY;
    }
}

static bool release_barrier(ptx_block *block, uint32_t barrier)
{
    meeting m;
    gather(block, barrier, &m);
    const ptx_thread *first = first_waiting(block, &m);
    if (!first || first->barrier != barrier || m.count < wanted(block, first->count) ||
        !agree(block, &m))
        return false;
    let_go(block, barrier, &m);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Warps that are complete
 * ------------------------------------------------------------------------------------------ */

/* The lanes of t's mask that have not ended, when all of them wait for the same. */
static uint32_t lanes_with(const ptx_block *block, const ptx_thread *t, uint32_t threads[PTX_LANES])
{
    uint32_t first = t->number / PTX_LANES * PTX_LANES, count = 0;
    for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
        uint32_t number = first + lane;
        if (!(t->mask >> lane & 1) || number >= block->thread_count)
            continue;
        const ptx_thread *other = &block->threads[number];
        if (other->state == PTX_ENDED)
            continue;
        if (other->state != PTX_AT_WARP || other->mask != t->mask ||
            other->next->run != t->next->run ||
            (uint32_t)other->next->value != (uint32_t)t->next->value)
            return 0;
        threads[count++] = number;
    }
    return count;
}

static bool release_warps(ptx_block *block)
{
    uint32_t threads[PTX_LANES];
    bool released = false;
    for (uint32_t i = 0; i < block->thread_count && !block->failed; i++) {
        const ptx_thread *t = &block->threads[i];
        uint32_t count = t->state == PTX_AT_WARP ? lanes_with(block, t, threads) : 0;
        if (!count)
            continue;
        ptx_warp_meet(block, threads, count);
        released = true;
    }
    return released;
}

bool ptx_release_waiting(ptx_block *block)
{
    bool released = release_warps(block);
    for (uint32_t i = 0; i < PTX_BARRIERS && !block->failed; i++)
        released = release_barrier(block, i) || released;
    return released;
}

/* ---------------------------------------------------------------------------------------------
 * Barriers that can never be complete
 * ------------------------------------------------------------------------------------------ */

static ptx_thread *find_other(ptx_block *block, const ptx_thread *t)
{
    uint32_t first = t->state == PTX_AT_WARP ? t->number / PTX_LANES * PTX_LANES : 0;
    for (uint32_t i = first; i < block->thread_count; i++) {
        ptx_thread *other = &block->threads[i];
        if (other->state != t->state ||
            (t->state == PTX_AT_BARRIER && other->barrier != t->barrier) ||
            (t->state == PTX_AT_WARP && other->next != t->next))
            return other;
    }
    return NULL;
}

void ptx_explain_stall(ptx_block *block)
{
    ptx_thread *t = block->threads;
    while (t->state == PTX_ENDED)
        t++;
    const ptx_thread *other = find_other(block, t);
    uint32_t place[3] = {0};
    char where[64] = "has ended";
    if (other) {
        ptx_thread_place(other, place);
        if (other->state != PTX_ENDED)
            (void)snprintf(where, sizeof(where), "waits at line %d",
                           ptx_line_of(other, other->next));
    }
    if (t->state == PTX_AT_WARP) {
        ptx_stop_waiting(t, "waits for lanes 0x%x for ever: thread (%u,%u,%u) %s", t->mask,
                         place[0], place[1], place[2], where);
        return;
    }
    meeting m;
    gather(block, t->barrier, &m);
    ptx_stop_waiting(t, "divergent barrier %u: %u of %u threads came; thread (%u,%u,%u) %s",
                     t->barrier, m.count, wanted(block, t->count), place[0], place[1], place[2],
                     where);
}

/* ---------------------------------------------------------------------------------------------
 * Lowering
 * ------------------------------------------------------------------------------------------ */

/* Threads of a block see each other's writes in order anyhow. */
static bool lower_fence(ptx_lowering *l)
{
    static const ptx_modifier words[] = {PTX_MOD_cta,     PTX_MOD_gl,     PTX_MOD_sys,
                                         PTX_MOD_gpu,     PTX_MOD_sc,     PTX_MOD_acq_rel,
                                         PTX_MOD_acquire, PTX_MOD_release};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        ptx_take(l, words[i]);
    return ptx_operands(l, 0);
}

static barrier_kind take_kind(ptx_lowering *l)
{
    if (ptx_take(l, PTX_MOD_arrive))
        return ARRIVE;
    if (!ptx_take(l, PTX_MOD_red)) {
        l->failed = l->failed || !ptx_take(l, PTX_MOD_sync);
        return SYNC;
    }
    ptx_type type = ptx_take_type(l);
    if (ptx_take(l, PTX_MOD_popc)) {
        l->failed = l->failed || type != PTX_U32;
        return RED_POPC;
    }
    bool and = ptx_take(l, PTX_MOD_and);
    l->failed = l->failed || type != PTX_PRED || (!and&&!ptx_take(l, PTX_MOD_or));
    return and? RED_AND : RED_OR;
}

bool ptx_lower_barrier(ptx_lowering *l)
{
    ptx_operation operation = l->in->operation;
    if (operation == PTX_OP_fence || operation == PTX_OP_membar)
        return lower_fence(l);
    if (ptx_has(l->in, PTX_MOD_warp))
        return ptx_lower_warp(l);
    barrier_kind kind = take_kind(l);
    bool red = kind >= RED_POPC, aligned = ptx_take(l, PTX_MOD_aligned) || operation == PTX_OP_bar;
    ptx_take(l, PTX_MOD_cta);
    uint32_t first = red ? 1 : 0, count = l->in->operand_count, least = red ? 3 : 1;
    if (count < least || count > least + 1)
        return false;
    ptx_code code = {.run = come, .value = (uint64_t)kind | (aligned ? 256u : 0u)};
    code.d = red ? ptx_destination(l, 0) : ptx_fixed(l, PTX_SLOT_NOWHERE);
    code.a = ptx_source(l, first, PTX_U32);
    code.b = count > least ? ptx_source(l, first + 1, PTX_U32) : ptx_fixed(l, PTX_SLOT_ZERO);
    code.c = red ? ptx_source(l, count - 1, PTX_PRED) : ptx_fixed(l, PTX_SLOT_ZERO);
    return ptx_emit(l, code);
}
