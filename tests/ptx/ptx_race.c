/* SPDX-License-Identifier: Apache-2.0
 * Shared memory, byte by byte: was it written in this block, and did two threads touch it with no
 * barrier between. A barrier of the whole block begins a new interval. Within one, barriers of some
 * threads (a warp, or a part of the block) order what those did: each thread has a clock that such
 * a barrier puts forward, and knows up to which clock of the others it comes after them.
 *
 * Of several readers only that there are several is kept. When some threads were synchronised since
 * the interval began, such readers are taken to be in order with a later writer: a race may be
 * missed there, never invented. Two writes of the same value are a race too. */
#include <string.h>

#include "ptx/ptx_machine.h"

#define MANY   0x7fffu
#define STRONG 0x8000u /* an atomic, or a volatile or relaxed access */

/* Returns true if the work of other at its clock comes before the current work of t. */
static bool in_order(const ptx_thread *t, uint32_t other, uint32_t clock)
{
    const ptx_block *block = t->block;
    other &= MANY;
    if (other == t->number)
        return true;
    if (!block->some_synced)
        return false;
    return other == MANY || block->known[t->number * block->thread_count + other] >= clock;
}

static const char *after_write(const ptx_thread *t, const ptx_shade *shade, bool strong)
{
    if (shade->wrote != t->block->interval || (shade->writer == t->number && !strong))
        return NULL;
    if ((strong && shade->writer & STRONG) || in_order(t, shade->writer, shade->write_clock))
        return NULL;
    return "race with the write of";
}

static const char *after_read(const ptx_thread *t, const ptx_shade *shade, bool strong)
{
    if (shade->read != t->block->interval || shade->reader == t->number)
        return NULL;
    if ((strong && shade->reader & STRONG) || in_order(t, shade->reader, shade->read_clock))
        return NULL;
    return "race with the read of";
}

/* Several writers that do not race with each other are atomics: they stay one by being MANY. */
static void note_write(const ptx_thread *t, ptx_shade *shade, bool strong)
{
    uint32_t who = t->number | (strong ? STRONG : 0u);
    bool another = strong && shade->wrote == t->block->interval && shade->writer & STRONG &&
                   shade->writer != who && !in_order(t, shade->writer, shade->write_clock);
    shade->wrote = t->block->interval;
    shade->writer = (uint16_t)(another ? MANY | STRONG : who);
    shade->write_clock = t->block->clocks[t->number];
}

/* Plain readers stay noted when atomic ones follow. */
static void note_read(const ptx_thread *t, ptx_shade *shade, bool strong)
{
    uint32_t who = t->number | (strong ? STRONG : 0u);
    bool first = shade->read != t->block->interval;
    if (!first && shade->reader == t->number)
        who = t->number;
    else if (!first && !in_order(t, shade->reader, shade->read_clock))
        who = MANY | (strong && shade->reader & STRONG ? STRONG : 0u);
    shade->read = t->block->interval;
    shade->reader = (uint16_t)who;
    shade->read_clock = t->block->clocks[t->number];
}

static const char *touch_byte(const ptx_thread *t, ptx_shade *shade, ptx_touch touch,
                              uint32_t *other)
{
    bool strong = touch >= PTX_ATOMIC_READ, read = touch == PTX_READ || touch == PTX_ATOMIC_READ;
    *other = t->number;
    if ((read || touch == PTX_ATOMIC_UPDATE) && shade->wrote < t->block->first_interval)
        return "nobody wrote them before";
    const char *wrong = after_write(t, shade, strong);
    *other = wrong ? shade->writer & MANY : t->number;
    if (wrong)
        return wrong;
    if (read) {
        note_read(t, shade, strong);
        return NULL;
    }
    wrong = after_read(t, shade, strong);
    *other = wrong ? shade->reader & MANY : t->number;
    if (!wrong)
        note_write(t, shade, strong);
    return wrong;
}

/* Most reads are of what was read before, and not written since the interval began. */
static bool is_known_read(const ptx_thread *t, const ptx_shade *shade)
{
    return shade->read == t->block->interval && shade->wrote != t->block->interval &&
           (shade->reader == MANY ||
            (shade->reader == t->number && shade->read_clock == t->block->clocks[t->number]));
}

const char *ptx_touch_shared(ptx_thread *t, uint64_t offset, uint64_t bytes, ptx_touch touch,
                             uint32_t *other)
{
    const char *wrong = NULL;
    ptx_shade *shade = &t->block->shades[offset], *end = shade + bytes;
    for (; shade < end && !wrong; shade++)
        if (touch != PTX_READ || !is_known_read(t, shade))
            wrong = touch_byte(t, shade, touch, other);
    return wrong;
}

/* ---------------------------------------------------------------------------------------------
 * Barriers
 * ------------------------------------------------------------------------------------------ */

static void begin_interval(ptx_block *block)
{
    uint32_t count = block->thread_count;
    block->interval++;
    if (!block->some_synced)
        return;
    for (uint32_t i = 0; i < count; i++)
        block->clocks[i] = 1;
    memset(block->known, 0, (size_t)count * count * sizeof(*block->known));
    block->some_synced = false;
}

static void learn(uint32_t *known, const uint32_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        known[i] = known[i] > from[i] ? known[i] : from[i];
}

void ptx_race_meet(ptx_block *block, const uint32_t *threads, uint32_t count)
{
    uint32_t all = block->thread_count;
    if (count == all) {
        begin_interval(block);
        return;
    }
    block->some_synced = true;
    uint32_t *first = &block->known[threads[0] * all];
    for (uint32_t i = 0; i < count; i++) {
        learn(first, &block->known[threads[i] * all], all);
        first[threads[i]] = block->clocks[threads[i]]++;
    }
    for (uint32_t i = 1; i < count; i++)
        memcpy(&block->known[threads[i] * all], first, all * sizeof(*first));
}
