/* SPDX-License-Identifier: Apache-2.0
 * Integers: sums, differences, the smaller and the larger, with carry and saturation. */
#include "ptx/ptx_handlers.h"

UNSIGNED_EXPRESSIONS(add, a + b)
UNSIGNED_EXPRESSIONS(sub, a - b)
UNSIGNED_EXPRESSIONS(neg, 0u - a)
UNSIGNED_EXPRESSIONS(abs, a >> (sizeof(a) * 8 - 1) ? 0u - a : a)
UNSIGNED_EXPRESSIONS(min, a < b ? a : b)
UNSIGNED_EXPRESSIONS(max, a > b ? a : b)
SIGNED_EXPRESSIONS(min_signed, a < b ? a : b)
SIGNED_EXPRESSIONS(max_signed, a > b ? a : b)
UNSIGNED_EXPRESSIONS(sad, x + (a < b ? b - a : a - b))

/* the difference is taken without sign, so that it never overflows */
#define SAD_SIGNED(name, type, wide)                                                               \
    EXPRESSION(name, type, (wide)x + ((wide)(a < b ? b : a) - (wide)(a < b ? a : b)))
SAD_SIGNED(sad_signed_16, int16_t, uint64_t)
SAD_SIGNED(sad_signed_32, int32_t, uint64_t)
SAD_SIGNED(sad_signed_64, int64_t, uint64_t)

static int64_t clamp_32(int64_t value)
{
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value;
}

EXPRESSION(add_saturated, int32_t, clamp_32((int64_t)a + b))
EXPRESSION(sub_saturated, int32_t, clamp_32((int64_t)a - b))

/* value: 1: takes the carry, 2: leaves one */
#define CARRIED(name, type, wide, sign)                                                            \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const wide sum =                                                                           \
            (wide)(type)r[c->a] sign(wide)(type) r[c->b] sign(c->value & 1 && t->carry ? 1u : 0u); \
        r[c->d] = (type)sum;                                                                       \
        if (c->value & 2)                                                                          \
            t->carry = sum >> (sizeof(type) * 8) & 1;                                              \
        return c + 1;                                                                              \
    }
CARRIED(add_carried_32, uint32_t, uint64_t, +)
CARRIED(add_carried_64, uint64_t, ptx_u128, +)
CARRIED(sub_carried_32, uint32_t, uint64_t, -)
CARRIED(sub_carried_64, uint64_t, ptx_u128, -)

static ptx_handler *carried(ptx_operation operation, uint32_t width)
{
    if (width != 1 && width != 2)
        return NULL;
    if (operation == PTX_OP_add || operation == PTX_OP_addc)
        return width == 1 ? add_carried_32 : add_carried_64;
    return width == 1 ? sub_carried_32 : sub_carried_64;
}

static ptx_handler *plain(ptx_operation operation, uint32_t width, bool is_signed)
{
    static ptx_handler *const adds[] = BY_WIDTH(add), *const subs[] = BY_WIDTH(sub),
                              *const negs[] = BY_WIDTH(neg), *const abss[] = BY_WIDTH(abs);
    static ptx_handler *const mins[2][4] = {BY_WIDTH(min), BY_WIDTH(min_signed)},
                              *const maxs[2][4] = {BY_WIDTH(max), BY_WIDTH(max_signed)},
                              *const sads[2][4] = {BY_WIDTH(sad), BY_WIDTH(sad_signed)};
    switch (operation) {
    case PTX_OP_add:
        return adds[width];
    case PTX_OP_sub:
        return subs[width];
    case PTX_OP_neg:
        return is_signed ? negs[width] : NULL;
    case PTX_OP_abs:
        return is_signed ? abss[width] : NULL;
    case PTX_OP_min:
        return mins[is_signed][width];
    case PTX_OP_max:
        return maxs[is_signed][width];
    default:
        return sads[is_signed][width];
    }
}

static uint32_t source_count(ptx_operation operation)
{
    return operation == PTX_OP_neg || operation == PTX_OP_abs ? 1 : operation == PTX_OP_sad ? 3 : 2;
}

bool ptx_lower_integer(ptx_lowering *l)
{
    if (ptx_is_float(l->in->types[0]))
        return ptx_lower_float(l);
    ptx_operation operation = l->in->operation;
    ptx_type type = ptx_take_type(l);
    uint32_t width = ptx_width_index(type), sources = source_count(operation);
    bool takes = operation == PTX_OP_addc || operation == PTX_OP_subc;
    bool leaves =
        (takes || operation == PTX_OP_add || operation == PTX_OP_sub) && ptx_take(l, PTX_MOD_cc);
    if (!ptx_operands(l, 1 + sources) || type < PTX_U8)
        return false;
    ptx_code code = {.run = plain(operation, width, ptx_is_signed(type)),
                     .value = (takes ? 1u : 0u) + (leaves ? 2u : 0u),
                     .d = ptx_destination(l, 0),
                     .a = ptx_source(l, 1, type)};
    if (takes || leaves)
        code.run = carried(operation, width);
    else if ((operation == PTX_OP_add || operation == PTX_OP_sub) && type == PTX_S32 &&
             ptx_take(l, PTX_MOD_sat))
        code.run = operation == PTX_OP_add ? add_saturated : sub_saturated;
    code.b = sources > 1 ? ptx_source(l, 2, type) : code.a;
    code.c = sources > 2 ? ptx_source(l, 3, type) : code.a;
    return ptx_emit(l, code);
}
