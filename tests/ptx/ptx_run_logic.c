/* SPDX-License-Identifier: Apache-2.0
 * Logic, choice and moves: what looks at bits alone, so that most of it is the same for all
 * widths. */
#include "ptx/ptx_handlers.h"

EXPRESSION(and_all, uint64_t, a &b)
EXPRESSION(or_all, uint64_t, a | b)
EXPRESSION(xor_all, uint64_t, a ^ b)
EXPRESSION(not_all, uint64_t, ~a)
UNSIGNED_EXPRESSIONS(cnot, a ? 0 : 1)

const ptx_code *ptx_do_not_pred(ptx_thread *t, uint64_t *r, const ptx_code *c)
{
    (void)t;
    r[c->d] = ~r[c->a] & 1;
    return c + 1;
}

const ptx_code *ptx_do_move(ptx_thread *t, uint64_t *r, const ptx_code *c)
{
    (void)t;
    r[c->d] = r[c->a];
    return c + 1;
}

/* value: the table of all eight cases */
HANDLER(lop3)
{
    (void)t;
    uint64_t result = 0;
    for (unsigned i = 0; i < 8; i++)
        if (c->value >> i & 1)
            result |= (i & 4 ? r[c->a] : ~r[c->a]) & (i & 2 ? r[c->b] : ~r[c->b]) &
                      (i & 1 ? r[c->c] : ~r[c->c]);
    r[c->d] = result;
    return c + 1;
}

EXPRESSION(is_not_zero, uint32_t, a ? 1u : 0u)

/* lop3.or.b32 d|p, a, b, c, table, q: p is q, or that the result is not 0 */
static bool emit_lop3_predicate(ptx_lowering *l, uint32_t from, bool is_or)
{
    uint32_t p = ptx_temporary(l), q = ptx_source(l, 6, PTX_PRED);
    return ptx_emit(l, (ptx_code){.run = is_not_zero, .d = p, .a = from}) &&
           ptx_emit(
               l, (ptx_code){
                      .run = is_or ? or_all : and_all, .d = ptx_destination(l, 1), .a = p, .b = q});
}

static bool lower_lop3(ptx_lowering *l)
{
    bool is_or = ptx_take(l, PTX_MOD_or), two = is_or || ptx_take(l, PTX_MOD_and);
    uint32_t first = two ? 2 : 1;
    if (!ptx_operands(l, two ? 7 : 5) || ptx_take_type(l) != PTX_B32 ||
        l->in->operands[first + 3].kind != PTX_IMMEDIATE)
        return false;
    ptx_code code = {.run = lop3,
                     .value = l->in->operands[first + 3].value & 255,
                     .d = ptx_destination(l, 0),
                     .a = ptx_source(l, first, PTX_B32),
                     .b = ptx_source(l, first + 1, PTX_B32),
                     .c = ptx_source(l, first + 2, PTX_B32)};
    return ptx_emit(l, code) && (!two || emit_lop3_predicate(l, code.d, is_or));
}

static ptx_handler *logic_handler(ptx_operation operation, ptx_type type)
{
    static ptx_handler *const cnots[] = BY_WIDTH(cnot);
    bool is_bits = type >= PTX_B16 && type <= PTX_B64;
    if (operation == PTX_OP_cnot)
        return is_bits ? cnots[ptx_width_index(type)] : NULL;
    if (!is_bits && type != PTX_PRED)
        return NULL;
    if (operation == PTX_OP_not)
        return is_bits ? not_all : ptx_do_not_pred;
    return operation == PTX_OP_and ? and_all : operation == PTX_OP_or ? or_all : xor_all;
}

bool ptx_lower_logic(ptx_lowering *l)
{
    ptx_operation operation = l->in->operation;
    if (operation == PTX_OP_lop3)
        return lower_lop3(l);
    ptx_type type = ptx_take_type(l);
    bool unary = operation == PTX_OP_not || operation == PTX_OP_cnot;
    if (!ptx_operands(l, unary ? 2 : 3))
        return false;
    ptx_code code = {.run = logic_handler(operation, type),
                     .d = ptx_destination(l, 0),
                     .a = ptx_source(l, 1, type)};
    code.b = unary ? code.a : ptx_source(l, 2, type);
    return ptx_emit(l, code);
}

/* ---------------------------------------------------------------------------------------------
 * Choice
 * ------------------------------------------------------------------------------------------ */

HANDLER(selp)
{
    (void)t;
    r[c->d] = r[c->c] & 1 ? r[c->a] : r[c->b];
    return c + 1;
}

HANDLER(slct_integer)
{
    (void)t;
    r[c->d] = (int32_t)r[c->c] >= 0 ? r[c->a] : r[c->b];
    return c + 1;
}

/* -0 is not below 0, and NaN is not at least 0; value: what is too small is 0 */
HANDLER(slct_float)
{
    (void)t;
    uint32_t bits = (uint32_t)r[c->c], size = bits & 0x7fffffff;
    bool nan = size > 0x7f800000, zero = size < (c->value ? 0x800000u : 1u);
    r[c->d] = !nan && (zero || !(bits >> 31)) ? r[c->a] : r[c->b];
    return c + 1;
}

bool ptx_lower_choose(ptx_lowering *l)
{
    bool by_predicate = l->in->operation == PTX_OP_selp;
    ptx_type type = ptx_take_type(l), by = by_predicate ? PTX_PRED : ptx_take_type(l);
    if (!ptx_operands(l, 4) || ptx_bits_of(type) < 16 || type == PTX_F16)
        return false;
    ptx_handler *run = by == PTX_PRED ? selp : by == PTX_S32 ? slct_integer : NULL;
    if (by == PTX_F32)
        run = slct_float;
    return ptx_emit(l, (ptx_code){.run = run,
                                  .value = by == PTX_F32 && ptx_take(l, PTX_MOD_ftz),
                                  .d = ptx_destination(l, 0),
                                  .a = ptx_source(l, 1, type),
                                  .b = ptx_source(l, 2, type),
                                  .c = ptx_source(l, 3, by)});
}

/* ---------------------------------------------------------------------------------------------
 * Moves
 * ------------------------------------------------------------------------------------------ */

HANDLER(move_sum)
{
    (void)t;
    r[c->d] = r[c->a] + c->value;
    return c + 1;
}

/* Any clock that goes forward will do. */
HANDLER(move_clock)
{
    r[c->d] = ++t->ticks;
    return c + 1;
}

/* value: bits of an element; two or four of them. What is not there is nowhere, or zero. */
HANDLER(pack)
{
    (void)t;
    uint64_t mask = (UINT64_C(1) << c->value) - 1, bits = c->value;
    uint64_t packed = (r[c->a] & mask) | (r[c->b] & mask) << bits;
    if (bits * 4 <= 64)
        packed |= (r[c->c] & mask) << bits * 2 | (r[c->e] & mask) << bits * 3;
    r[c->d] = packed;
    return c + 1;
}

HANDLER(unpack)
{
    (void)t;
    uint64_t mask = (UINT64_C(1) << c->value) - 1, bits = c->value, from = r[c->a];
    r[c->d] = from & mask;
    r[c->b] = from >> bits & mask;
    r[c->c] = bits * 2 < 64 ? from >> bits * 2 & mask : 0;
    r[c->e] = bits * 3 < 64 ? from >> bits * 3 & mask : 0;
    return c + 1;
}

static bool element_slots(ptx_lowering *l, const ptx_operand *vector, uint32_t slots[4],
                          uint32_t missing)
{
    for (uint32_t i = 0; i < 4; i++) {
        bool there = i < vector->count && vector->regs[i] != PTX_NO_REGISTER;
        slots[i] = there ? vector->regs[i] : ptx_fixed(l, missing);
        if (there && slots[i] >= l->to->function->register_count)
            return false;
    }
    return vector->count == 2 || vector->count == 4;
}

static bool lower_pack(ptx_lowering *l, uint32_t bits)
{
    uint32_t slots[4];
    const ptx_operand *from = &l->in->operands[1];
    if (!element_slots(l, from, slots, PTX_SLOT_ZERO) || bits / from->count < 8)
        return false;
    return ptx_emit(l, (ptx_code){.run = pack,
                                  .value = bits / from->count,
                                  .d = ptx_destination(l, 0),
                                  .a = slots[0],
                                  .b = slots[1],
                                  .c = slots[2],
                                  .e = slots[3]});
}

static bool lower_unpack(ptx_lowering *l, uint32_t bits)
{
    uint32_t slots[4];
    const ptx_operand *to = &l->in->operands[0];
    if (!element_slots(l, to, slots, PTX_SLOT_NOWHERE) || bits / to->count < 8)
        return false;
    return ptx_emit(l, (ptx_code){.run = unpack,
                                  .value = bits / to->count,
                                  .d = slots[0],
                                  .a = ptx_source(l, 1, PTX_B64),
                                  .b = slots[1],
                                  .c = slots[2],
                                  .e = slots[3]});
}

bool ptx_emit_symbol(ptx_lowering *l, uint32_t d, const ptx_operand *symbol)
{
    const ptx_variable *variable = symbol->variable;
    bool of_module = variable->space == PTX_GLOBAL || variable->space == PTX_CONST;
    uint64_t value =
        symbol->value +
        (of_module ? ptx_module_address(l->to->function->module, variable) : variable->offset);
    uint32_t base = variable->space == PTX_LOCAL ? PTX_SLOT_LOCAL : PTX_SLOT_ZERO;
    return ptx_emit(l,
                    (ptx_code){.run = move_sum, .value = value, .d = d, .a = ptx_fixed(l, base)});
}

bool ptx_lower_move(ptx_lowering *l)
{
    ptx_type type = ptx_take_type(l);
    uint32_t bits = ptx_bits_of(type);
    if (!ptx_operands(l, 2) || (bits < 16 && type != PTX_PRED) || type == PTX_F16)
        return false;
    const ptx_operand *from = &l->in->operands[1];
    if (from->kind == PTX_VECTOR)
        return type <= PTX_B64 && lower_pack(l, bits);
    if (l->in->operands[0].kind == PTX_VECTOR)
        return type <= PTX_B64 && lower_unpack(l, bits);
    if (from->kind == PTX_SYMBOL && from->variable)
        return bits >= 32 && ptx_emit_symbol(l, ptx_destination(l, 0), from);
    if (from->kind == PTX_SPECIAL && from->value == PTX_CLOCK64)
        return ptx_emit(l, (ptx_code){.run = move_clock, .d = ptx_destination(l, 0)});
    return ptx_emit(
        l, (ptx_code){.run = ptx_do_move, .d = ptx_destination(l, 0), .a = ptx_source(l, 1, type)});
}
