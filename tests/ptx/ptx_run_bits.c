/* SPDX-License-Identifier: Apache-2.0
 * Bits: shifts, fields, counts, and bytes in another order. */
#include "ptx/ptx_handlers.h"

/* A shift by the width or more leaves nothing, or the sign alone. The count is always 32 bits. */
#define COUNT ((uint32_t)r[c->b])
#define SHIFT(name, type, expression, beyond)                                                      \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const type a = (type)r[c->a];                                                              \
        (void)t;                                                                                   \
        r[c->d] = (uint64_t)(type)(COUNT < sizeof(a) * 8 ? (expression) : (beyond));               \
        return c + 1;                                                                              \
    }
SHIFT(shl_16, uint16_t, (uint32_t)a << COUNT, 0)
SHIFT(shl_32, uint32_t, a << COUNT, 0)
SHIFT(shl_64, uint64_t, a << COUNT, 0)
SHIFT(shr_16, uint16_t, a >> COUNT, 0)
SHIFT(shr_32, uint32_t, a >> COUNT, 0)
SHIFT(shr_64, uint64_t, a >> COUNT, 0)
SHIFT(shr_signed_16, int16_t, a >> COUNT, a < 0 ? -1 : 0)
SHIFT(shr_signed_32, int32_t, a >> COUNT, a < 0 ? -1 : 0)
SHIFT(shr_signed_64, int64_t, a >> COUNT, a < 0 ? -1 : 0)

/* Two registers as one, shifted: the upper half to the left, the lower one to the right. value: the
 * count is 1: clamped to 32, 0: taken modulo 32. */
static uint32_t funnel_count(const uint64_t *r, const ptx_code *c)
{
    uint32_t count = (uint32_t)r[c->c];
    return c->value ? (count < 32 ? count : 32) : count & 31;
}

HANDLER(funnel_left)
{
    (void)t;
    uint64_t both = r[c->b] << 32 | (uint32_t)r[c->a];
    r[c->d] = both << funnel_count(r, c) >> 32;
    return c + 1;
}

HANDLER(funnel_right)
{
    (void)t;
    uint64_t both = r[c->b] << 32 | (uint32_t)r[c->a];
    r[c->d] = (uint32_t)(both >> funnel_count(r, c));
    return c + 1;
}

/* bits of ones, from bit 0 */
static uint64_t ones(uint32_t bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* A field that reaches beyond the last bit is filled with its last bit when the type is signed. */
static uint64_t extract(uint64_t a, uint32_t width, uint32_t pos, uint32_t len, bool is_signed)
{
    a &= ones(width);
    uint32_t last = len ? pos + len - 1 : 0;
    if (last >= width)
        last = width - 1;
    bool fill = is_signed && len && a >> last & 1;
    uint32_t there = pos >= width ? 0 : len < width - pos ? len : width - pos;
    uint64_t field = pos >= width ? 0 : a >> pos & ones(there);
    return fill ? field | ~ones(there) : field;
}

#define POS (uint32_t)(r[c->b] & 0xff)
#define LEN (uint32_t)(r[c->c] & 0xff)
/* value: width, and 1 when signed */
HANDLER(bfe)
{
    (void)t;
    r[c->d] = extract(r[c->a], (uint32_t)c->value & 0xf0, POS, LEN, c->value & 1);
    return c + 1;
}
#undef POS
#undef LEN

/* value: width */
HANDLER(bfi)
{
    (void)t;
    uint32_t pos = (uint32_t)(r[c->c] & 0xff), len = (uint32_t)(r[c->e] & 0xff);
    uint64_t mask = pos >= c->value ? 0 : ones(len) << pos;
    uint64_t field = pos >= c->value ? 0 : r[c->a] << pos;
    r[c->d] = (r[c->b] & ~mask) | (field & mask);
    return c + 1;
}

/* value: width, 1: signed, 2: as the count of a shift */
HANDLER(bfind)
{
    (void)t;
    uint32_t width = (uint32_t)c->value & 0xf0;
    uint64_t a = r[c->a] & ones(width);
    if (c->value & 1 && a >> (width - 1))
        a = ~a & ones(width);
    uint32_t bit = a ? 63 - (uint32_t)__builtin_clzll(a) : UINT32_MAX;
    r[c->d] = a && c->value & 2 ? width - 1 - bit : bit;
    return c + 1;
}

static uint64_t reverse(uint64_t a)
{
    uint64_t reversed = 0;
    for (unsigned i = 0; i < 64; i++)
        reversed |= (a >> i & 1) << (63 - i);
    return reversed;
}

#define UNARY(name, expression)                                                                    \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const uint64_t a = r[c->a];                                                                \
        (void)t;                                                                                   \
        r[c->d] = (expression);                                                                    \
        return c + 1;                                                                              \
    }
UNARY(brev_32, reverse(a) >> 32)
UNARY(brev_64, reverse(a))
UNARY(clz_32, (uint32_t)a ? (uint64_t)__builtin_clz((uint32_t)a) : 32)
UNARY(clz_64, a ? (uint64_t)__builtin_clzll(a) : 64)
UNARY(popc_32, (uint64_t)__builtin_popcount((uint32_t)a))
UNARY(popc_64, (uint64_t)__builtin_popcountll(a))

/* ---------------------------------------------------------------------------------------------
 * prmt: four of eight bytes
 * ------------------------------------------------------------------------------------------ */

static uint32_t permute(uint64_t bytes, uint32_t selector)
{
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t nibble = selector >> i * 4 & 15,
                 byte = (uint32_t)(bytes >> (nibble & 7) * 8) & 255;
        if (nibble & 8)
            byte = byte & 0x80 ? 255 : 0;
        result |= byte << i * 8;
    }
    return result;
}

/* The modes are selectors, by the two lowest bits of c. value: the mode from 1. */
static const uint16_t mode_selectors[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
    {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
    {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};

HANDLER(prmt)
{
    (void)t;
    uint32_t selector = (uint32_t)r[c->c];
    if (c->value)
        selector = mode_selectors[c->value - 1][selector & 3];
    r[c->d] = permute(r[c->b] << 32 | (uint32_t)r[c->a], selector);
    return c + 1;
}

/* ---------------------------------------------------------------------------------------------
 * Lowering
 * ------------------------------------------------------------------------------------------ */

static bool lower_shift(ptx_lowering *l)
{
    static ptx_handler *const shl[] = BY_WIDTH(shl), *const shr[] = BY_WIDTH(shr),
                              *const shr_signed[] = BY_WIDTH(shr_signed);
    ptx_type type = ptx_take_type(l);
    bool left = l->in->operation == PTX_OP_shl;
    if (!ptx_operands(l, 3) || (left && type > PTX_B64))
        return false;
    uint32_t width = ptx_width_index(type);
    return ptx_emit(l, (ptx_code){.run = left                  ? shl[width]
                                         : ptx_is_signed(type) ? shr_signed[width]
                                                               : shr[width],
                                  .d = ptx_destination(l, 0),
                                  .a = ptx_source(l, 1, type),
                                  .b = ptx_source(l, 2, PTX_U32)});
}

static bool lower_funnel(ptx_lowering *l)
{
    bool left = ptx_take(l, PTX_MOD_l), right = !left && ptx_take(l, PTX_MOD_r);
    bool clamp = ptx_take(l, PTX_MOD_clamp), wrap = !clamp && ptx_take(l, PTX_MOD_wrap);
    if (!ptx_operands(l, 4) || !(left || right) || !(clamp || wrap) || ptx_take_type(l) != PTX_B32)
        return false;
    return ptx_emit(l, (ptx_code){.run = left ? funnel_left : funnel_right,
                                  .value = clamp,
                                  .d = ptx_destination(l, 0),
                                  .a = ptx_source(l, 1, PTX_B32),
                                  .b = ptx_source(l, 2, PTX_B32),
                                  .c = ptx_source(l, 3, PTX_U32)});
}

static bool lower_prmt(ptx_lowering *l)
{
    static const ptx_modifier modes[] = {PTX_MOD_f4e, PTX_MOD_b4e, PTX_MOD_rc8,
                                         PTX_MOD_ecl, PTX_MOD_ecr, PTX_MOD_rc16};
    uint32_t mode = 0;
    for (uint32_t i = 0; i < 6 && !mode; i++)
        mode = ptx_take(l, modes[i]) ? i + 1 : 0;
    if (!ptx_operands(l, 4) || ptx_take_type(l) != PTX_B32)
        return false;
    return ptx_emit(l, (ptx_code){.run = prmt,
                                  .value = mode,
                                  .d = ptx_destination(l, 0),
                                  .a = ptx_source(l, 1, PTX_B32),
                                  .b = ptx_source(l, 2, PTX_B32),
                                  .c = ptx_source(l, 3, PTX_B32)});
}

/* bfe, bfi and bfind: 32 and 64 bits */
static bool lower_field(ptx_lowering *l)
{
    ptx_operation operation = l->in->operation;
    ptx_type type = ptx_take_type(l);
    uint32_t bits = ptx_bits_of(type), count = operation == PTX_OP_bfind ? 1
                                               : operation == PTX_OP_bfe ? 3
                                                                         : 4;
    bool of_bits = type <= PTX_B64;
    if (!ptx_operands(l, 1 + count) || bits < 32 || ptx_is_float(type) ||
        of_bits != (operation == PTX_OP_bfi))
        return false;
    ptx_code code = {.run = operation == PTX_OP_bfind ? bfind
                            : operation == PTX_OP_bfe ? bfe
                                                      : bfi,
                     .value = bits + (ptx_is_signed(type) ? 1u : 0u),
                     .d = ptx_destination(l, 0),
                     .a = ptx_source(l, 1, type)};
    if (operation == PTX_OP_bfind)
        code.value += ptx_take(l, PTX_MOD_shiftamt) ? 2u : 0u;
    if (count > 1) {
        code.b = ptx_source(l, 2, type);
        code.c = ptx_source(l, 3, PTX_U32);
    }
    code.e = count > 3 ? ptx_source(l, 4, PTX_U32) : 0;
    return ptx_emit(l, code);
}

static bool lower_count(ptx_lowering *l)
{
    ptx_type type = ptx_take_type(l);
    bool wide = type == PTX_B64;
    if (!ptx_operands(l, 2) || (type != PTX_B32 && type != PTX_B64))
        return false;
    ptx_handler *run = wide ? brev_64 : brev_32;
    if (l->in->operation == PTX_OP_clz)
        run = wide ? clz_64 : clz_32;
    else if (l->in->operation == PTX_OP_popc)
        run = wide ? popc_64 : popc_32;
    return ptx_emit(
        l, (ptx_code){.run = run, .d = ptx_destination(l, 0), .a = ptx_source(l, 1, type)});
}

bool ptx_lower_bits(ptx_lowering *l)
{
    switch (l->in->operation) {
    case PTX_OP_shl:
    case PTX_OP_shr:
        return lower_shift(l);
    case PTX_OP_shf:
        return lower_funnel(l);
    case PTX_OP_prmt:
        return lower_prmt(l);
    case PTX_OP_bfe:
    case PTX_OP_bfi:
    case PTX_OP_bfind:
        return lower_field(l);
    default:
        return lower_count(l);
    }
}
