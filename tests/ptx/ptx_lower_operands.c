/* SPDX-License-Identifier: Apache-2.0
 * Questions of lowering about an instruction: modifiers, types and the slots of its operands.
 * Whoever takes a thing knows it; what nobody took makes the form unknown. */
#include "ptx/ptx_machine.h"

#include <stdlib.h>

bool ptx_take(ptx_lowering *l, ptx_modifier modifier)
{
    if (!ptx_has(l->in, modifier))
        return false;
    l->left.bits[modifier / 64] &= ~(UINT64_C(1) << modifier % 64);
    return true;
}

ptx_type ptx_take_type(ptx_lowering *l)
{
    return l->types_taken < l->in->type_count ? l->in->types[l->types_taken++] : PTX_NO_TYPE;
}

bool ptx_operands(ptx_lowering *l, uint32_t count)
{
    if (l->in->operand_count != count)
        l->failed = true;
    return !l->failed;
}

static uint32_t unknown(ptx_lowering *l)
{
    l->failed = true;
    return 0;
}

uint32_t ptx_fixed(const ptx_lowering *l, uint32_t which)
{
    return l->to->fixed + which;
}

uint32_t ptx_temporary(ptx_lowering *l)
{
    if (l->temporaries == PTX_TEMPORARIES)
        return unknown(l);
    return l->to->fixed + PTX_FIXED_SLOTS + l->temporaries++;
}

uint32_t ptx_constant(ptx_lowering *l, uint64_t value)
{
    ptx_lowered *to = l->to;
    for (uint32_t i = 0; i < to->constant_count; i++)
        if (to->constants[i] == value)
            return to->constant + i;
    if (to->constant_count == to->constant_room) {
        uint32_t room = to->constant_room ? to->constant_room * 2 : 64;
        uint64_t *more = realloc(to->constants, room * sizeof(*more));
        if (!more)
            return unknown(l);
        to->constants = more;
        to->constant_room = room;
    }
    to->constants[to->constant_count] = value;
    return to->constant + to->constant_count++;
}

static uint32_t register_source(ptx_lowering *l, const ptx_operand *operand)
{
    if (operand->regs[0] >= l->to->function->register_count)
        return unknown(l);
    if (!operand->negated)
        return operand->regs[0];
    uint32_t slot = ptx_temporary(l);
    ptx_emit(l, (ptx_code){.run = ptx_do_not_pred, .d = slot, .a = operand->regs[0]});
    return slot;
}

uint32_t ptx_source(ptx_lowering *l, uint32_t number, ptx_type type)
{
    if (number >= l->in->operand_count)
        return unknown(l);
    const ptx_operand *operand = &l->in->operands[number];
    switch (operand->kind) {
    case PTX_REGISTER:
        return register_source(l, operand);
    case PTX_IMMEDIATE:
        return ptx_constant(l, type == PTX_PRED ? operand->value != 0 : operand->value);
    case PTX_SPECIAL:
        if (operand->value < PTX_CLOCK64)
            return ptx_fixed(l, (uint32_t)operand->value);
        return unknown(l);
    default:
        return unknown(l);
    }
}

uint32_t ptx_destination(ptx_lowering *l, uint32_t number)
{
    if (number >= l->in->operand_count)
        return unknown(l);
    const ptx_operand *operand = &l->in->operands[number];
    if (operand->kind != PTX_REGISTER || operand->negated)
        return unknown(l);
    if (operand->regs[0] == PTX_NO_REGISTER)
        return ptx_fixed(l, PTX_SLOT_NOWHERE);
    return operand->regs[0] < l->to->function->register_count ? operand->regs[0] : unknown(l);
}

uint32_t ptx_address(ptx_lowering *l, uint32_t number, uint64_t *add)
{
    if (number >= l->in->operand_count || l->in->operands[number].kind != PTX_ADDRESS)
        return unknown(l);
    const ptx_operand *operand = &l->in->operands[number];
    const ptx_variable *variable = operand->variable;
    *add = operand->value;
    if (variable && (operand->regs[0] != PTX_NO_REGISTER || variable->space != l->in->space))
        return unknown(l);
    if (!variable)
        return operand->regs[0] == PTX_NO_REGISTER ? ptx_fixed(l, PTX_SLOT_ZERO) : operand->regs[0];
    if (variable->space == PTX_GLOBAL || variable->space == PTX_CONST)
        *add += ptx_module_address(l->to->function->module, variable);
    else
        *add += variable->offset;
    return ptx_fixed(l, variable->space == PTX_LOCAL ? PTX_SLOT_LOCAL : PTX_SLOT_ZERO);
}

bool ptx_emit(ptx_lowering *l, ptx_code code)
{
    ptx_lowered *to = l->to;
    if (l->failed || !code.run)
        return false;
    if (to->code_count == to->code_room) {
        uint32_t room = to->code_room ? to->code_room * 2 : 256;
        ptx_code *more = realloc(to->codes, room * sizeof(*more));
        if (!more)
            return false;
        to->codes = more;
        to->code_room = room;
    }
    code.at = l->at;
    to->codes[to->code_count++] = code;
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Types
 * ------------------------------------------------------------------------------------------ */

uint32_t ptx_bits_of(ptx_type type)
{
    static const uint8_t bits[] = {
        [PTX_NO_TYPE] = 0, [PTX_PRED] = 1, [PTX_B8] = 8,   [PTX_B16] = 16, [PTX_B32] = 32,
        [PTX_B64] = 64,    [PTX_U8] = 8,   [PTX_U16] = 16, [PTX_U32] = 32, [PTX_U64] = 64,
        [PTX_S8] = 8,      [PTX_S16] = 16, [PTX_S32] = 32, [PTX_S64] = 64, [PTX_F16] = 16,
        [PTX_F32] = 32,    [PTX_F64] = 64};
    return bits[type];
}

bool ptx_is_signed(ptx_type type)
{
    return type >= PTX_S8 && type <= PTX_S64;
}

bool ptx_is_float(ptx_type type)
{
    return type >= PTX_F16 && type <= PTX_F64;
}

uint32_t ptx_width_index(ptx_type type)
{
    uint32_t bits = ptx_is_float(type) ? 0 : ptx_bits_of(type);
    return bits == 16 ? 0 : bits == 32 ? 1 : bits == 64 ? 2 : 3;
}
