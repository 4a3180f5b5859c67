/* SPDX-License-Identifier: Apache-2.0
 * Floating point: f32 and f64, each operation rounded once. Built with -frounding-math. What PTX
 * calls approximate is done exactly, which is one of the allowed results. */
#include <fenv.h>
#include <math.h>

#include "ptx/ptx_float.h"
#include "ptx/ptx_handlers.h"

#define FLOAT_HANDLER(name, type, read, write, expression)                                         \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const type a = read(r[c->a]), b = read(r[c->b]), x = read(r[c->c]);                        \
        (void)t, (void)a, (void)b, (void)x;                                                        \
        r[c->d] = write(expression);                                                               \
        return c + 1;                                                                              \
    }
/* value: the direction. What is volatile cannot be computed before it is set, nor after. */
#define DIRECTED_HANDLER(name, type, read, write, expression)                                      \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const volatile type a = read(r[c->a]), b = read(r[c->b]), x = read(r[c->c]);               \
        (void)t, (void)a, (void)b, (void)x;                                                        \
        fesetround((int)c->value);                                                                 \
        const volatile type result = (expression);                                                 \
        fesetround(FE_TONEAREST);                                                                  \
        r[c->d] = write(result);                                                                   \
        return c + 1;                                                                              \
    }
#define ROUNDED(name, expression_32, expression_64)                                                \
    FLOAT_HANDLER(name##_f32, float, ptx_f32, ptx_bits_f32, expression_32)                         \
    FLOAT_HANDLER(name##_f64, double, ptx_f64, ptx_bits_f64, expression_64)                        \
    DIRECTED_HANDLER(name##_directed_f32, float, ptx_f32, ptx_bits_f32, expression_32)             \
    DIRECTED_HANDLER(name##_directed_f64, double, ptx_f64, ptx_bits_f64, expression_64)            \
    static ptx_handler *const name##_handlers[2][2] = {{name##_f32, name##_directed_f32},          \
                                                       {name##_f64, name##_directed_f64}};
ROUNDED(add, a + b, a + b)
ROUNDED(sub, a - b, a - b)
ROUNDED(mul, a *b, a *b)
ROUNDED(div, a / b, a / b)
ROUNDED(rcp, 1.0f / a, 1.0 / a)
ROUNDED(sqrt, sqrtf(a), sqrt(a))
ROUNDED(fma, fmaf(a, b, x), fma(a, b, x))

/* Of a number and a NaN, the number; -0 is below 0. */
#define SMALLER(a, b) ((a) != (a) || (b) < (a) || ((b) == (a) && signbit(b)) ? (b) : (a))
#define LARGER(a, b)  ((a) != (a) || (b) > (a) || ((b) == (a) && signbit(a)) ? (b) : (a))
FLOAT_HANDLER(min_f32, float, ptx_f32, ptx_bits_f32, b != b ? a : SMALLER(a, b))
FLOAT_HANDLER(min_f64, double, ptx_f64, ptx_bits_f64, b != b ? a : SMALLER(a, b))
FLOAT_HANDLER(max_f32, float, ptx_f32, ptx_bits_f32, b != b ? a : LARGER(a, b))
FLOAT_HANDLER(max_f64, double, ptx_f64, ptx_bits_f64, b != b ? a : LARGER(a, b))

#define SIGN_32 0x80000000u
#define SIGN_64 (UINT64_C(1) << 63)
EXPRESSION(neg_f32, uint32_t, a ^ SIGN_32)
EXPRESSION(neg_f64, uint64_t, a ^ SIGN_64)
EXPRESSION(abs_f32, uint32_t, a & ~SIGN_32)
EXPRESSION(abs_f64, uint64_t, a & ~SIGN_64)
/* the sign of a, the size of b */
EXPRESSION(copysign_f32, uint32_t, (a & SIGN_32) | (b & ~SIGN_32))
EXPRESSION(copysign_f64, uint64_t, (a & SIGN_64) | (b & ~SIGN_64))

/* ---------------------------------------------------------------------------------------------
 * Flushing and saturation
 * ------------------------------------------------------------------------------------------ */

EXPRESSION(flush, uint32_t, ptx_flush_f32(a))
FLOAT_HANDLER(saturate_f32, float, ptx_f32, ptx_bits_f32, a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f)
FLOAT_HANDLER(saturate_f64, double, ptx_f64, ptx_bits_f64, a > 0.0 ? (a < 1.0 ? a : 1.0) : 0.0)

uint32_t ptx_emit_flush(ptx_lowering *l, uint32_t from)
{
    uint32_t slot = ptx_temporary(l);
    if (!ptx_emit(l, (ptx_code){.run = flush, .d = slot, .a = from}))
        l->failed = true;
    return slot;
}

bool ptx_emit_finish(ptx_lowering *l, ptx_type type, uint32_t slot, bool flushed, bool saturate)
{
    ptx_handler *run = type == PTX_F32 ? saturate_f32 : saturate_f64;
    if (flushed && !ptx_emit(l, (ptx_code){.run = flush, .d = slot, .a = slot}))
        return false;
    return !saturate || ptx_emit(l, (ptx_code){.run = run, .d = slot, .a = slot});
}

int ptx_take_rounding(ptx_lowering *l)
{
    if (ptx_take(l, PTX_MOD_rn))
        return FE_TONEAREST;
    if (ptx_take(l, PTX_MOD_rz))
        return FE_TOWARDZERO;
    if (ptx_take(l, PTX_MOD_rm))
        return FE_DOWNWARD;
    return ptx_take(l, PTX_MOD_rp) ? FE_UPWARD : -1;
}

/* ---------------------------------------------------------------------------------------------
 * Lowering
 * ------------------------------------------------------------------------------------------ */

typedef struct float_form {
    ptx_operation operation;
    uint32_t sources;
    ptx_handler *const (*rounded)[2]; /* NULL: nothing to round */
    ptx_handler *plain[2];
    bool must_say;    /* the rounding, or that it is approximate */
    bool approximate; /* may be, for f32 */
    bool saturate;    /* may, for f32 */
} float_form;

static const float_form forms[] = {
    {PTX_OP_add, 2, .rounded = add_handlers, .saturate = true},
    {PTX_OP_sub, 2, .rounded = sub_handlers, .saturate = true},
    {PTX_OP_mul, 2, .rounded = mul_handlers, .saturate = true},
    {PTX_OP_fma, 3, .rounded = fma_handlers, .saturate = true, .must_say = true},
    {PTX_OP_mad, 3, .rounded = fma_handlers, .saturate = true, .must_say = true},
    {PTX_OP_div, 2, .rounded = div_handlers, .approximate = true, .must_say = true},
    {PTX_OP_rcp, 1, .rounded = rcp_handlers, .approximate = true, .must_say = true},
    {PTX_OP_sqrt, 1, .rounded = sqrt_handlers, .approximate = true, .must_say = true},
    {PTX_OP_min, 2, .plain = {min_f32, min_f64}},
    {PTX_OP_max, 2, .plain = {max_f32, max_f64}},
    {PTX_OP_neg, 1, .plain = {neg_f32, neg_f64}},
    {PTX_OP_abs, 1, .plain = {abs_f32, abs_f64}},
    {PTX_OP_copysign, 2, .plain = {copysign_f32, copysign_f64}},
};

static const float_form *find_form(ptx_operation operation)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
        if (forms[i].operation == operation)
            return &forms[i];
    return NULL;
}

/* The handler, by what is said of rounding. */
static ptx_handler *choose(ptx_lowering *l, const float_form *form, ptx_type type, uint64_t *value)
{
    if (!form->rounded)
        return form->plain[type == PTX_F64];
    int rounding = ptx_take_rounding(l);
    bool approximate = form->approximate && type == PTX_F32 && rounding < 0 &&
                       (ptx_take(l, PTX_MOD_approx) ||
                        (form->operation == PTX_OP_div && ptx_take(l, PTX_MOD_full)));
    if (form->must_say && rounding < 0 && !approximate)
        return NULL;
    *value = rounding < 0 ? FE_TONEAREST : (uint64_t)rounding;
    return form->rounded[type == PTX_F64][*value != FE_TONEAREST];
}

/* ---------------------------------------------------------------------------------------------
 * testp
 * ------------------------------------------------------------------------------------------ */

/* value: which classes answer true, by fpclassify */
enum { IS_NAN = 1, IS_INFINITE = 2, IS_ZERO = 4, IS_SUBNORMAL = 8, IS_NORMAL = 16 };

static uint32_t class_of(uint64_t bits, unsigned exponent, unsigned fraction)
{
    uint64_t e = bits >> fraction & ((1u << exponent) - 1),
             f = bits & ((UINT64_C(1) << fraction) - 1);
    if (e == (1u << exponent) - 1)
        return f ? IS_NAN : IS_INFINITE;
    return e ? IS_NORMAL : f ? IS_SUBNORMAL : IS_ZERO;
}

HANDLER(testp_f32)
{
    (void)t;
    r[c->d] = (class_of(r[c->a], 8, 23) & c->value) != 0;
    return c + 1;
}

HANDLER(testp_f64)
{
    (void)t;
    r[c->d] = (class_of(r[c->a], 11, 52) & c->value) != 0;
    return c + 1;
}

static uint64_t take_classes(ptx_lowering *l)
{
    static const struct {
        ptx_modifier modifier;
        uint64_t classes;
    } list[] = {{PTX_MOD_finite, IS_ZERO | IS_SUBNORMAL | IS_NORMAL},
                {PTX_MOD_infinite, IS_INFINITE},
                {PTX_MOD_number, IS_INFINITE | IS_ZERO | IS_SUBNORMAL | IS_NORMAL},
                {PTX_MOD_notanumber, IS_NAN},
                {PTX_MOD_normal, IS_NORMAL},
                {PTX_MOD_subnormal, IS_SUBNORMAL}};
    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
        if (ptx_take(l, list[i].modifier))
            return list[i].classes;
    return 0;
}

static bool lower_testp(ptx_lowering *l)
{
    ptx_type type = ptx_take_type(l);
    uint64_t classes = take_classes(l);
    if (!ptx_operands(l, 2) || !classes || (type != PTX_F32 && type != PTX_F64))
        return false;
    return ptx_emit(l, (ptx_code){.run = type == PTX_F32 ? testp_f32 : testp_f64,
                                  .value = classes,
                                  .d = ptx_destination(l, 0),
                                  .a = ptx_source(l, 1, type)});
}

bool ptx_lower_float(ptx_lowering *l)
{
    if (l->in->operation == PTX_OP_testp)
        return lower_testp(l);
    const float_form *form = find_form(l->in->operation);
    ptx_type type = ptx_take_type(l);
    if (!form || !ptx_operands(l, 1 + form->sources) || (type != PTX_F32 && type != PTX_F64))
        return false;
    bool narrow = type == PTX_F32, saturate = narrow && form->saturate && ptx_take(l, PTX_MOD_sat);
    bool flushed = narrow && form->operation != PTX_OP_copysign && ptx_take(l, PTX_MOD_ftz);
    uint32_t slots[3] = {0};
    for (uint32_t i = 0; i < form->sources; i++) {
        slots[i] = ptx_source(l, i + 1, type);
        if (flushed)
            slots[i] = ptx_emit_flush(l, slots[i]);
    }
    ptx_code code = {.d = ptx_destination(l, 0), .a = slots[0], .b = slots[1], .c = slots[2]};
    code.run = choose(l, form, type, &code.value);
    return ptx_emit(l, code) && ptx_emit_finish(l, type, code.d, flushed, saturate);
}
