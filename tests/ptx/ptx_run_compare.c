/* SPDX-License-Identifier: Apache-2.0
 * Comparisons: setp and set, with a second predicate and a combination with a third. */
#include "ptx/ptx_float.h"
#include "ptx/ptx_handlers.h"

typedef enum comparison_way {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    EQU,
    NEU,
    LTU,
    LEU,
    GTU,
    GEU,
    NUM,
    NAN_,
    NONE
} comparison_way;

#define COMPARE(name, type, read, expression)                                                      \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const type a = (type)read(r[c->a]), b = (type)read(r[c->b]);                               \
        (void)t;                                                                                   \
        r[c->d] = (expression) ? 1u : 0u;                                                          \
        return c + 1;                                                                              \
    }
#define ORDERED(suffix, type, read)                                                                \
    COMPARE(eq_##suffix, type, read, a == b)                                                       \
    COMPARE(ne_##suffix, type, read, a != b)                                                       \
    COMPARE(lt_##suffix, type, read, a < b)                                                        \
    COMPARE(le_##suffix, type, read, a <= b)                                                       \
    COMPARE(gt_##suffix, type, read, a > b)                                                        \
    COMPARE(ge_##suffix, type, read, a >= b)
#define ORDERED_ROW(suffix)                                                                        \
    [EQ] = eq_##suffix, [NE] = ne_##suffix, [LT] = lt_##suffix, [LE] = le_##suffix,                \
    [GT] = gt_##suffix, [GE] = ge_##suffix
ORDERED(u16, uint16_t, +)
ORDERED(u32, uint32_t, +)
ORDERED(u64, uint64_t, +)
ORDERED(s16, int16_t, +)
ORDERED(s32, int32_t, +)
ORDERED(s64, int64_t, +)

/* C's comparisons are false for NaN, but for !=. */
#define FLOATING(suffix, type, read)                                                               \
    COMPARE(eq_##suffix, type, read, a == b)                                                       \
    COMPARE(ne_##suffix, type, read, a<b || a> b)                                                  \
    COMPARE(lt_##suffix, type, read, a < b)                                                        \
    COMPARE(le_##suffix, type, read, a <= b)                                                       \
    COMPARE(gt_##suffix, type, read, a > b)                                                        \
    COMPARE(ge_##suffix, type, read, a >= b)                                                       \
    COMPARE(equ_##suffix, type, read, !(a < b || a > b))                                           \
    COMPARE(neu_##suffix, type, read, a != b)                                                      \
    COMPARE(ltu_##suffix, type, read, !(a >= b))                                                   \
    COMPARE(leu_##suffix, type, read, !(a > b))                                                    \
    COMPARE(gtu_##suffix, type, read, !(a <= b))                                                   \
    COMPARE(geu_##suffix, type, read, !(a < b))                                                    \
    COMPARE(num_##suffix, type, read, a == a && b == b)                                            \
    COMPARE(nan_##suffix, type, read, a != a || b != b)
#define FLOATING_ROW(suffix)                                                                       \
    ORDERED_ROW(suffix), [EQU] = equ_##suffix, [NEU] = neu_##suffix, [LTU] = ltu_##suffix,         \
                         [LEU] = leu_##suffix, [GTU] = gtu_##suffix, [GEU] = geu_##suffix,         \
                         [NUM] = num_##suffix, [NAN_] = nan_##suffix
FLOATING(f32, float, ptx_f32)
FLOATING(f64, double, ptx_f64)

static ptx_handler *const handlers[][NONE + 1] = {
    [PTX_U16] = {ORDERED_ROW(u16)},  [PTX_U32] = {ORDERED_ROW(u32)},
    [PTX_U64] = {ORDERED_ROW(u64)},  [PTX_S16] = {ORDERED_ROW(s16)},
    [PTX_S32] = {ORDERED_ROW(s32)},  [PTX_S64] = {ORDERED_ROW(s64)},
    [PTX_F32] = {FLOATING_ROW(f32)}, [PTX_F64] = {FLOATING_ROW(f64)},
    [PTX_B16] = {eq_u16, ne_u16},    [PTX_B32] = {eq_u32, ne_u32},
    [PTX_B64] = {eq_u64, ne_u64},
};

static comparison_way take_comparison(ptx_lowering *l, ptx_type type)
{
    static const struct {
        ptx_modifier modifier;
        comparison_way comparison;
    } list[] = {{PTX_MOD_eq, EQ},   {PTX_MOD_ne, NE},    {PTX_MOD_lt, LT},   {PTX_MOD_le, LE},
                {PTX_MOD_gt, GT},   {PTX_MOD_ge, GE},    {PTX_MOD_equ, EQU}, {PTX_MOD_neu, NEU},
                {PTX_MOD_ltu, LTU}, {PTX_MOD_leu, LEU},  {PTX_MOD_gtu, GTU}, {PTX_MOD_geu, GEU},
                {PTX_MOD_num, NUM}, {PTX_MOD_nan, NAN_}, {PTX_MOD_lo, LT},   {PTX_MOD_ls, LE},
                {PTX_MOD_hi, GT},   {PTX_MOD_hs, GE}};
    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
        if (ptx_take(l, list[i].modifier)) {
            bool of_unsigned = i >= 14;
            return of_unsigned && (type < PTX_U16 || type > PTX_U64) ? NONE : list[i].comparison;
        }
    return NONE;
}

/* ---------------------------------------------------------------------------------------------
 * Lowering: the comparison into a temporary, then what is made of it
 * ------------------------------------------------------------------------------------------ */

EXPRESSION(both, uint64_t, a &b)
EXPRESSION(either, uint64_t, a | b)
EXPRESSION(one, uint64_t, a ^ b)

static ptx_handler *take_combination(ptx_lowering *l)
{
    if (ptx_take(l, PTX_MOD_and))
        return both;
    if (ptx_take(l, PTX_MOD_or))
        return either;
    return ptx_take(l, PTX_MOD_xor) ? one : NULL;
}

/* value: what true is */
HANDLER(true_value)
{
    (void)t;
    r[c->d] = r[c->a] & 1 ? c->value : 0;
    return c + 1;
}

static bool emit_comparison(ptx_lowering *l, uint32_t to, uint32_t first)
{
    ptx_type type = ptx_take_type(l);
    comparison_way comparison = take_comparison(l, type);
    if (type == PTX_NO_TYPE || type > PTX_F64 ||
        (size_t)type >= sizeof(handlers) / sizeof(*handlers))
        return false;
    bool flush = type == PTX_F32 && ptx_take(l, PTX_MOD_ftz);
    uint32_t a = ptx_source(l, first, type), b = ptx_source(l, first + 1, type);
    if (flush) {
        a = ptx_emit_flush(l, a);
        b = ptx_emit_flush(l, b);
    }
    return ptx_emit(l, (ptx_code){.run = handlers[type][comparison], .d = to, .a = a, .b = b});
}

static bool emit_combined(ptx_lowering *l, ptx_handler *combine, uint32_t slot, uint32_t with)
{
    return !combine || ptx_emit(l, (ptx_code){.run = combine, .d = slot, .a = slot, .b = with});
}

/* All sources are read before a destination is written: they may be the same register. */
static bool lower_setp(ptx_lowering *l)
{
    ptx_handler *combine = take_combination(l);
    uint32_t count = l->in->operand_count, sources = combine ? 3 : 2;
    if (count != sources + 1 && count != sources + 2)
        return false;
    bool two = count == sources + 2;
    if (!two && !combine)
        return emit_comparison(l, ptx_destination(l, 0), 1);
    uint32_t p = ptx_temporary(l), q = ptx_temporary(l);
    uint32_t with = combine ? ptx_source(l, count - 1, PTX_PRED) : 0;
    bool ok = emit_comparison(l, p, two ? 2 : 1);
    ok = ok && ptx_emit(l, (ptx_code){.run = ptx_do_not_pred, .d = q, .a = p});
    ok = ok && emit_combined(l, combine, p, with) && emit_combined(l, combine, q, with);
    ok = ok && ptx_emit(l, (ptx_code){.run = ptx_do_move, .d = ptx_destination(l, 0), .a = p});
    return ok && (!two ||
                  ptx_emit(l, (ptx_code){.run = ptx_do_move, .d = ptx_destination(l, 1), .a = q}));
}

static bool lower_set(ptx_lowering *l)
{
    ptx_handler *combine = take_combination(l);
    ptx_type to = ptx_take_type(l);
    if (!ptx_operands(l, combine ? 4 : 3) || (to != PTX_U32 && to != PTX_S32 && to != PTX_F32))
        return false;
    uint32_t p = ptx_temporary(l), with = combine ? ptx_source(l, 3, PTX_PRED) : 0;
    return emit_comparison(l, p, 1) && emit_combined(l, combine, p, with) &&
           ptx_emit(l, (ptx_code){.run = true_value,
                                  .value = to == PTX_F32 ? 0x3f800000 : UINT32_MAX,
                                  .d = ptx_destination(l, 0),
                                  .a = p});
}

bool ptx_lower_compare(ptx_lowering *l)
{
    return l->in->operation == PTX_OP_setp ? lower_setp(l) : lower_set(l);
}
