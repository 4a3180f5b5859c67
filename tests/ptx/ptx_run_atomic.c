/* SPDX-License-Identifier: Apache-2.0
 * Atomics, and addresses of one space in another. Threads of a block run one after the other, so
 * that an update is one piece by itself. */
#include <string.h>

#include "ptx/ptx_float.h"
#include "ptx/ptx_handlers.h"
#include "ptx/ptx_memory.h"

/* e: the space */
static void *reach(ptx_thread *t, const ptx_code *c, uint64_t address, uint32_t bytes)
{
    if (c->e == PTX_SHARED)
        return ptx_reach_shared(t, c, address, bytes, PTX_ATOMIC_UPDATE);
    if (c->e == PTX_GLOBAL)
        return ptx_reach_global(t, c, address, bytes);
    return ptx_reach(t, c, address, bytes, PTX_ATOMIC_UPDATE);
}

/* The expression says what is stored: old is there, b and x are given. */
#define UPDATE(name, type, expression)                                                             \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const type b = (type)r[c->b], x = (type)r[c->c];                                           \
        void *at = reach(t, c, r[c->a] + c->value, sizeof(type));                                  \
        type old;                                                                                  \
        (void)b, (void)x;                                                                          \
        if (!at)                                                                                   \
            return NULL;                                                                           \
        memcpy(&old, at, sizeof(old));                                                             \
        const type result = (type)(expression);                                                    \
        memcpy(at, &result, sizeof(result));                                                       \
        r[c->d] = (uint64_t)old;                                                                   \
        return c + 1;                                                                              \
    }
UPDATE(and_32, uint32_t, old &b)
UPDATE(and_64, uint64_t, old &b)
UPDATE(or_32, uint32_t, old | b)
UPDATE(or_64, uint64_t, old | b)
UPDATE(xor_32, uint32_t, old ^ b)
UPDATE(xor_64, uint64_t, old ^ b)
UPDATE(exch_32, uint32_t, b)
UPDATE(exch_64, uint64_t, b)
UPDATE(cas_16, uint16_t, old == b ? x : old)
UPDATE(cas_32, uint32_t, old == b ? x : old)
UPDATE(cas_64, uint64_t, old == b ? x : old)
UPDATE(add_32, uint32_t, old + b)
UPDATE(add_64, uint64_t, old + b)
UPDATE(inc_32, uint32_t, old >= b ? 0 : old + 1)
UPDATE(dec_32, uint32_t, old == 0 || old > b ? b : old - 1)
UPDATE(min_u32, uint32_t, old < b ? old : b)
UPDATE(min_u64, uint64_t, old < b ? old : b)
UPDATE(max_u32, uint32_t, old > b ? old : b)
UPDATE(max_u64, uint64_t, old > b ? old : b)
UPDATE(min_s32, int32_t, old < b ? old : b)
UPDATE(min_s64, int64_t, old < b ? old : b)
UPDATE(max_s32, int32_t, old > b ? old : b)
UPDATE(max_s64, int64_t, old > b ? old : b)

/* PTX: global memory flushes what is too small, shared memory does not. */
static uint64_t add_floats(const ptx_code *c, uint64_t address, uint32_t a, uint32_t b)
{
    if (c->e == PTX_SHARED || (c->e == PTX_GENERIC && ptx_in_window(address, PTX_SHARED_WINDOW)))
        return ptx_bits_f32(ptx_f32(a) + ptx_f32(b));
    float sum = ptx_f32(ptx_flush_f32(a)) + ptx_f32(ptx_flush_f32(b));
    return ptx_flush_f32(ptx_bits_f32(sum));
}

UPDATE(add_f32, uint32_t, add_floats(c, r[c->a] + c->value, old, b))
UPDATE(add_f64, uint64_t, ptx_bits_f64(ptx_f64(old) + ptx_f64(b)))

static const struct {
    ptx_modifier word;
    ptx_type type;
    ptx_handler *run;
} updates[] = {
    {PTX_MOD_and, PTX_B32, and_32},   {PTX_MOD_and, PTX_B64, and_64},
    {PTX_MOD_or, PTX_B32, or_32},     {PTX_MOD_or, PTX_B64, or_64},
    {PTX_MOD_xor, PTX_B32, xor_32},   {PTX_MOD_xor, PTX_B64, xor_64},
    {PTX_MOD_exch, PTX_B32, exch_32}, {PTX_MOD_exch, PTX_B64, exch_64},
    {PTX_MOD_cas, PTX_B16, cas_16},   {PTX_MOD_cas, PTX_B32, cas_32},
    {PTX_MOD_cas, PTX_B64, cas_64},   {PTX_MOD_add, PTX_U32, add_32},
    {PTX_MOD_add, PTX_S32, add_32},   {PTX_MOD_add, PTX_U64, add_64},
    {PTX_MOD_add, PTX_F32, add_f32},  {PTX_MOD_add, PTX_F64, add_f64},
    {PTX_MOD_inc, PTX_U32, inc_32},   {PTX_MOD_dec, PTX_U32, dec_32},
    {PTX_MOD_min, PTX_U32, min_u32},  {PTX_MOD_min, PTX_U64, min_u64},
    {PTX_MOD_min, PTX_S32, min_s32},  {PTX_MOD_min, PTX_S64, min_s64},
    {PTX_MOD_max, PTX_U32, max_u32},  {PTX_MOD_max, PTX_U64, max_u64},
    {PTX_MOD_max, PTX_S32, max_s32},  {PTX_MOD_max, PTX_S64, max_s64},
};

static ptx_handler *find_update(ptx_lowering *l, ptx_type type)
{
    for (size_t i = 0; i < sizeof(updates) / sizeof(*updates); i++)
        if (updates[i].type == type && ptx_take(l, updates[i].word))
            return updates[i].run;
    return NULL;
}

bool ptx_lower_atomic(ptx_lowering *l)
{
    static const ptx_modifier orders[] = {PTX_MOD_relaxed, PTX_MOD_acquire, PTX_MOD_release,
                                          PTX_MOD_acq_rel, PTX_MOD_cta,     PTX_MOD_gpu,
                                          PTX_MOD_sys};
    const ptx_instruction *in = l->in;
    bool gives = in->operation == PTX_OP_atom, cas = gives && ptx_has(in, PTX_MOD_cas);
    ptx_type type = ptx_take_type(l);
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
        ptx_take(l, orders[i]);
    l->space_taken = in->space == PTX_GLOBAL || in->space == PTX_SHARED;
    uint32_t first = gives ? 1 : 0;
    if (!ptx_operands(l, first + 2 + (cas ? 1 : 0)))
        return false;
    ptx_code code = {.run = find_update(l, type), .e = in->space};
    code.d = gives ? ptx_destination(l, 0) : ptx_fixed(l, PTX_SLOT_NOWHERE);
    code.a = ptx_address(l, first, &code.value);
    code.b = ptx_source(l, first + 1, type);
    code.c = cas ? ptx_source(l, first + 2, type) : code.b;
    return (gives || !ptx_has(in, PTX_MOD_exch)) && ptx_emit(l, code);
}

/* ---------------------------------------------------------------------------------------------
 * Generic addresses
 * ------------------------------------------------------------------------------------------ */

HANDLER(add_window)
{
    (void)t;
    r[c->d] = r[c->a] + c->value;
    return c + 1;
}

HANDLER(is_window)
{
    (void)t;
    r[c->d] = ptx_in_window(r[c->a], c->value);
    return c + 1;
}

HANDLER(is_global)
{
    (void)t;
    r[c->d] =
        !ptx_in_window(r[c->a], PTX_SHARED_WINDOW) && !ptx_in_window(r[c->a], PTX_LOCAL_WINDOW);
    return c + 1;
}

static uint64_t window_of(ptx_space space)
{
    return space == PTX_SHARED ? PTX_SHARED_WINDOW : space == PTX_LOCAL ? PTX_LOCAL_WINDOW : 0;
}

static bool lower_isspacep(ptx_lowering *l)
{
    ptx_space space = l->in->space;
    if (!ptx_operands(l, 2) || space == PTX_GENERIC || space == PTX_PARAM || space == PTX_CONST)
        return false;
    return ptx_emit(l, (ptx_code){.run = space == PTX_GLOBAL ? is_global : is_window,
                                  .value = window_of(space),
                                  .d = ptx_destination(l, 0),
                                  .a = ptx_source(l, 1, PTX_U64)});
}

bool ptx_lower_address(ptx_lowering *l)
{
    ptx_space space = l->in->space;
    l->space_taken = true;
    if (l->in->operation == PTX_OP_isspacep)
        return lower_isspacep(l);
    bool to = ptx_take(l, PTX_MOD_to);
    if (!ptx_operands(l, 2) || ptx_take_type(l) != PTX_U64 || space == PTX_GENERIC ||
        space == PTX_PARAM)
        return false;
    const ptx_operand *from = &l->in->operands[1];
    uint32_t a = 0;
    if (from->kind == PTX_SYMBOL && from->variable && from->variable->space == space) {
        a = ptx_temporary(l);
        if (!ptx_emit_symbol(l, a, from))
            return false;
    } else {
        a = ptx_source(l, 1, PTX_U64);
    }
    return ptx_emit(l, (ptx_code){.run = add_window,
                                  .value = to ? 0 - window_of(space) : window_of(space),
                                  .d = ptx_destination(l, 0),
                                  .a = a});
}
