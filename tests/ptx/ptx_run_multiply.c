/* SPDX-License-Identifier: Apache-2.0
 * Integers: products, with a sum, quotients and remainders. */
#include "ptx/ptx_handlers.h"

/* A 16-bit product of unsigned operands would be one of int, which overflows. */
UNSIGNED_EXPRESSIONS(mul_lo, (uint64_t)a *b)
UNSIGNED_EXPRESSIONS(mad_lo, (uint64_t)a *b + x)

#define MUL_HIGH(name, type, wide)                                                                 \
    EXPRESSION(mul_hi##name, type, (wide)a *(wide)b >> sizeof(a) * 8)                              \
    EXPRESSION(mad_hi##name, type, ((wide)a * (wide)b >> sizeof(a) * 8) + (wide)x)
MUL_HIGH(_16, uint16_t, uint32_t)
MUL_HIGH(_32, uint32_t, uint64_t)
MUL_HIGH(_64, uint64_t, ptx_u128)
MUL_HIGH(_signed_16, int16_t, int32_t)
MUL_HIGH(_signed_32, int32_t, int64_t)
MUL_HIGH(_signed_64, int64_t, ptx_s128)

static int64_t clamp_32(int64_t value)
{
    return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value;
}

EXPRESSION(mad_hi_saturated, int32_t, clamp_32(((int64_t)a * b >> 32) + x))

/* The product is twice as wide; so is what is added. */
#define WIDE(name, type, wide)                                                                     \
    HANDLER(mul_wide##name)                                                                        \
    {                                                                                              \
        (void)t;                                                                                   \
        r[c->d] = (uint64_t)((wide)(type)r[c->a] * (wide)(type)r[c->b]);                           \
        return c + 1;                                                                              \
    }                                                                                              \
    HANDLER(mad_wide##name)                                                                        \
    {                                                                                              \
        (void)t;                                                                                   \
        r[c->d] = (uint64_t)((wide)(type)r[c->a] * (wide)(type)r[c->b]) + r[c->c];                 \
        return c + 1;                                                                              \
    }
WIDE(_16, uint16_t, uint32_t)
WIDE(_32, uint32_t, uint64_t)
WIDE(_signed_16, int16_t, int32_t)
WIDE(_signed_32, int32_t, int64_t)

/* value: 1: takes the carry, 2: leaves one */
#define MAD_CARRIED(name, type, wide, part)                                                        \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const ptx_u128 product = (ptx_u128)((wide)(type)r[c->a] * (wide)(type)r[c->b]);            \
        const unsigned bits = sizeof(type) * 8;                                                    \
        const ptx_u128 mask = ((ptx_u128)1 << bits) - 1;                                           \
        const ptx_u128 sum = (product >> (part ? bits : 0) & mask) + (r[c->c] & mask) +            \
                             (c->value & 1 && t->carry ? 1u : 0u);                                 \
        r[c->d] = (uint64_t)(sum & mask);                                                          \
        if (c->value & 2)                                                                          \
            t->carry = sum >> bits & 1;                                                            \
        return c + 1;                                                                              \
    }
MAD_CARRIED(mad_lo_carried_32, uint32_t, ptx_u128, 0)
MAD_CARRIED(mad_lo_carried_64, uint64_t, ptx_u128, 0)
MAD_CARRIED(mad_hi_carried_32, uint32_t, ptx_u128, 1)
MAD_CARRIED(mad_hi_carried_64, uint64_t, ptx_u128, 1)
MAD_CARRIED(mad_hi_carried_signed_32, int32_t, ptx_s128, 1)
MAD_CARRIED(mad_hi_carried_signed_64, int64_t, ptx_s128, 1)

/* value: 1: a is signed, 2: b is */
HANDLER(dot_of_bytes)
{
    (void)t;
    uint32_t sum = (uint32_t)r[c->c];
    for (unsigned i = 0; i < 4; i++) {
        uint8_t a = (uint8_t)(r[c->a] >> i * 8), b = (uint8_t)(r[c->b] >> i * 8);
        int32_t left = c->value & 1 ? (int8_t)a : a, right = c->value & 2 ? (int8_t)b : b;
        sum += (uint32_t)(left * right);
    }
    r[c->d] = sum;
    return c + 1;
}

static bool lower_dot(ptx_lowering *l)
{
    ptx_type a = ptx_take_type(l), b = ptx_take_type(l);
    if (!ptx_operands(l, 4) || (a != PTX_U32 && a != PTX_S32) || (b != PTX_U32 && b != PTX_S32))
        return false;
    return ptx_emit(l, (ptx_code){.run = dot_of_bytes,
                                  .value = (a == PTX_S32 ? 1u : 0u) + (b == PTX_S32 ? 2u : 0u),
                                  .d = ptx_destination(l, 0),
                                  .a = ptx_source(l, 1, a),
                                  .b = ptx_source(l, 2, b),
                                  .c = ptx_source(l, 3, a)});
}

static ptx_handler *carried(bool hi, uint32_t width, bool is_signed)
{
    static ptx_handler *const lo_handlers[] = {NULL, mad_lo_carried_32, mad_lo_carried_64, NULL};
    static ptx_handler *const hi_handlers[2][4] = {
        {NULL, mad_hi_carried_32, mad_hi_carried_64, NULL},
        {NULL, mad_hi_carried_signed_32, mad_hi_carried_signed_64, NULL}};
    return hi ? hi_handlers[is_signed][width] : lo_handlers[width];
}

static ptx_handler *plain(ptx_lowering *l, bool mad, uint32_t width, bool is_signed)
{
    static ptx_handler *const lo[2][4] = {BY_WIDTH(mul_lo), BY_WIDTH(mad_lo)};
    static ptx_handler *const hi[2][2][4] = {{BY_WIDTH(mul_hi), BY_WIDTH(mul_hi_signed)},
                                             {BY_WIDTH(mad_hi), BY_WIDTH(mad_hi_signed)}};
    static ptx_handler *const wide[2][2][4] = {
        {{mul_wide_16, mul_wide_32, NULL, NULL},
         {mul_wide_signed_16, mul_wide_signed_32, NULL, NULL}},
        {{mad_wide_16, mad_wide_32, NULL, NULL},
         {mad_wide_signed_16, mad_wide_signed_32, NULL, NULL}}};
    if (ptx_take(l, PTX_MOD_lo))
        return lo[mad][width];
    if (ptx_take(l, PTX_MOD_hi))
        return hi[mad][is_signed][width];
    return ptx_take(l, PTX_MOD_wide) ? wide[mad][is_signed][width] : NULL;
}

bool ptx_lower_multiply(ptx_lowering *l)
{
    if (l->in->operation == PTX_OP_dp4a)
        return lower_dot(l);
    if (ptx_is_float(l->in->types[0]))
        return ptx_lower_float(l);
    bool takes = l->in->operation == PTX_OP_madc, mad = l->in->operation != PTX_OP_mul;
    ptx_type type = ptx_take_type(l);
    uint32_t width = ptx_width_index(type);
    bool hi = ptx_has(l->in, PTX_MOD_hi), leaves = mad && ptx_take(l, PTX_MOD_cc);
    if (!ptx_operands(l, mad ? 4 : 3) || type < PTX_U8)
        return false;
    ptx_code code = {.run = plain(l, mad, width, ptx_is_signed(type)),
                     .value = (takes ? 1u : 0u) + (leaves ? 2u : 0u),
                     .d = ptx_destination(l, 0),
                     .a = ptx_source(l, 1, type),
                     .b = ptx_source(l, 2, type)};
    if (takes || leaves)
        code.run = ptx_has(l->in, PTX_MOD_wide) ? NULL : carried(hi, width, ptx_is_signed(type));
    else if (mad && hi && type == PTX_S32 && ptx_take(l, PTX_MOD_sat))
        code.run = mad_hi_saturated;
    code.c = mad ? ptx_source(l, 3, type) : code.a;
    return ptx_emit(l, code);
}

/* ---------------------------------------------------------------------------------------------
 * Quotients: PTX leaves open what comes of 0, so that it is an error here. The smallest number by
 * -1 wraps around.
 * ------------------------------------------------------------------------------------------ */

#define QUOTIENT(name, type, expression)                                                           \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const type a = (type)r[c->a], b = (type)r[c->b];                                           \
        if (!b)                                                                                    \
            return ptx_stop(t, c, "by 0");                                                         \
        r[c->d] = (uint64_t)(type)(expression);                                                    \
        return c + 1;                                                                              \
    }
QUOTIENT(div_16, uint16_t, a / b)
QUOTIENT(div_32, uint32_t, a / b)
QUOTIENT(div_64, uint64_t, a / b)
QUOTIENT(div_signed_16, int16_t, a / b)
QUOTIENT(div_signed_32, int32_t, (int64_t)a / b)
QUOTIENT(div_signed_64, int64_t, b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b)
QUOTIENT(rem_16, uint16_t, a % b)
QUOTIENT(rem_32, uint32_t, a % b)
QUOTIENT(rem_64, uint64_t, a % b)
QUOTIENT(rem_signed_16, int16_t, a % b)
QUOTIENT(rem_signed_32, int32_t, (int64_t)a % b)
QUOTIENT(rem_signed_64, int64_t, b == -1 ? 0 : a % b)

bool ptx_lower_divide(ptx_lowering *l)
{
    static ptx_handler *const div[2][4] = {BY_WIDTH(div), BY_WIDTH(div_signed)},
                              *const rem[2][4] = {BY_WIDTH(rem), BY_WIDTH(rem_signed)};
    if (l->in->operation == PTX_OP_div && ptx_is_float(l->in->types[0]))
        return ptx_lower_float(l);
    ptx_type type = ptx_take_type(l);
    uint32_t width = ptx_width_index(type);
    if (!ptx_operands(l, 3) || type < PTX_U8)
        return false;
    bool is_signed = ptx_is_signed(type);
    return ptx_emit(l, (ptx_code){.run = l->in->operation == PTX_OP_div ? div[is_signed][width]
                                                                        : rem[is_signed][width],
                                  .d = ptx_destination(l, 0),
                                  .a = ptx_source(l, 1, type),
                                  .b = ptx_source(l, 2, type)});
}
