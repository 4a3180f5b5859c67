/* SPDX-License-Identifier: Apache-2.0
 * cvt: between all integers and floating-point types. Built with -frounding-math. */
#include <fenv.h>
#include <math.h>

#include "ptx/ptx_float.h"
#include "ptx/ptx_handlers.h"

EXPRESSION(take_u8, uint8_t, a)
EXPRESSION(take_u16, uint16_t, a)
EXPRESSION(take_u32, uint32_t, a)
EXPRESSION(take_u64, uint64_t, a)
EXPRESSION(take_s8, int8_t, a)
EXPRESSION(take_s16, int16_t, a)
EXPRESSION(take_s32, int32_t, a)

static ptx_handler *const takers[PTX_F64 + 1] = {
    [PTX_U8] = take_u8, [PTX_U16] = take_u16, [PTX_U32] = take_u32, [PTX_U64] = take_u64,
    [PTX_S8] = take_s8, [PTX_S16] = take_s16, [PTX_S32] = take_s32, [PTX_S64] = take_u64,
};

static bool is_integer(ptx_type type)
{
    return type >= PTX_U8 && type <= PTX_S64;
}

/* ---------------------------------------------------------------------------------------------
 * Integers with saturation. value: the types, one byte each: to, from
 * ------------------------------------------------------------------------------------------ */

static ptx_s128 lowest(ptx_type type)
{
    return ptx_is_signed(type) ? -((ptx_s128)1 << (ptx_bits_of(type) - 1)) : 0;
}

static ptx_s128 highest(ptx_type type)
{
    return ((ptx_s128)1 << (ptx_bits_of(type) - (ptx_is_signed(type) ? 1 : 0))) - 1;
}

static ptx_s128 value_of(uint64_t slot, ptx_type type)
{
    unsigned unused = 64 - ptx_bits_of(type);
    return ptx_is_signed(type) ? (ptx_s128)((int64_t)(slot << unused) >> unused)
                               : (ptx_s128)(slot << unused >> unused);
}

HANDLER(saturate)
{
    (void)t;
    ptx_type to = (ptx_type)(c->value & 255), from = (ptx_type)(c->value >> 8 & 255);
    ptx_s128 value = value_of(r[c->a], from), low = lowest(to), high = highest(to);
    r[c->d] = (uint64_t)(value < low ? low : value > high ? high : value);
    return c + 1;
}

/* ---------------------------------------------------------------------------------------------
 * Half precision
 * ------------------------------------------------------------------------------------------ */

double ptx_half_value(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double size = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return half >> 15 ? -size : size;
}

/* The double is scaled so that one unit is the last place of the half, and rounded there; a carry
 * goes on into the exponent by itself. */
uint16_t ptx_half_of(double value, int direction)
{
    uint32_t sign = signbit(value) ? 0x8000 : 0, bits = 0x7c00;
    double size = fabs(value);
    if (value != value)
        return 0x7fff;
    if (isinf(value) || size == 0)
        return (uint16_t)(sign | (size == 0 ? 0 : 0x7c00));
    int exponent = ilogb(size) < -14 ? -14 : ilogb(size);
    if (exponent < 16) {
        volatile double scaled = ldexp(value, 10 - exponent);
        fesetround(direction);
        volatile double rounded = rint(scaled);
        fesetround(FE_TONEAREST);
        bits = ((uint32_t)(exponent + 14) << 10) + (uint32_t)fabs(rounded);
    }
    bool away = direction == FE_TONEAREST || direction == (sign ? FE_DOWNWARD : FE_UPWARD);
    if (bits >= 0x7c00 && !away)
        bits = 0x7bff;
    return (uint16_t)(sign | bits);
}

/* ---------------------------------------------------------------------------------------------
 * With floating point on one side. value: to, from, direction of a narrower result (e of the
 * integer part)
 * ------------------------------------------------------------------------------------------ */

typedef enum whole_way { WHOLE_NONE, WHOLE_NEAREST, WHOLE_ZERO, WHOLE_DOWN, WHOLE_UP } whole_way;

static double to_whole(double value, whole_way how)
{
    switch (how) {
    case WHOLE_NEAREST:
        return nearbyint(value);
    case WHOLE_ZERO:
        return trunc(value);
    case WHOLE_DOWN:
        return floor(value);
    case WHOLE_UP:
        return ceil(value);
    default:
        return value;
    }
}

static double float_value(uint64_t slot, ptx_type type)
{
    if (type == PTX_F64)
        return ptx_f64(slot);
    return type == PTX_F32 ? (double)ptx_f32(slot) : ptx_half_value((uint16_t)slot);
}

/* NaN becomes 0 from f32 to 32 bits and fewer, and the highest bit alone otherwise, as PTX says. */
static uint64_t integer_of(double value, ptx_type to, ptx_type from)
{
    double low = (double)lowest(to), high = ldexp(1.0, (int)ptx_bits_of(to) - ptx_is_signed(to));
    if (value != value)
        return from != PTX_F64 && ptx_bits_of(to) < 64 ? 0 : UINT64_C(1) << (ptx_bits_of(to) - 1);
    if (value < low)
        return (uint64_t)lowest(to);
    if (value >= high)
        return (uint64_t)highest(to);
    return ptx_is_signed(to) ? (uint64_t)(int64_t)value : (uint64_t)value;
}

HANDLER(float_to_integer)
{
    (void)t;
    ptx_type to = (ptx_type)(c->value & 255), from = (ptx_type)(c->value >> 8 & 255);
    r[c->d] = integer_of(to_whole(float_value(r[c->a], from), (whole_way)c->e), to, from);
    return c + 1;
}

static uint64_t float_bits(double value, ptx_type to, int direction)
{
    if (to == PTX_F64)
        return ptx_bits_f64(value);
    if (to == PTX_F16)
        return ptx_half_of(value, direction);
    if (direction == FE_TONEAREST)
        return ptx_bits_f32((float)value);
    volatile double from = value;
    fesetround(direction);
    volatile float narrow = (float)from;
    fesetround(FE_TONEAREST);
    return ptx_bits_f32(narrow);
}

HANDLER(float_to_float)
{
    (void)t;
    ptx_type to = (ptx_type)(c->value & 255), from = (ptx_type)(c->value >> 8 & 255);
    double value = to_whole(float_value(r[c->a], from), (whole_way)c->e);
    r[c->d] = float_bits(value, to, (int)(c->value >> 16));
    return c + 1;
}

/* Each target is rounded from the integer itself: by way of a double it would be rounded twice. */
HANDLER(integer_to_float)
{
    ptx_type to = (ptx_type)(c->value & 255), from = (ptx_type)(c->value >> 8 & 255);
    int direction = (int)(c->value >> 16);
    volatile int64_t with_sign = (int64_t)value_of(r[c->a], from);
    volatile uint64_t without = (uint64_t)with_sign;
    bool is_signed = ptx_is_signed(from);
    (void)t;
    if (direction != FE_TONEAREST)
        fesetround(direction);
    if (to == PTX_F64) {
        volatile double wide = is_signed ? (double)with_sign : (double)without;
        r[c->d] = ptx_bits_f64(wide);
    } else {
        volatile float narrow = is_signed ? (float)with_sign : (float)without;
        r[c->d] = ptx_bits_f32(narrow);
    }
    if (direction != FE_TONEAREST)
        fesetround(FE_TONEAREST);
    return c + 1;
}

HANDLER(f32_to_f64)
{
    (void)t;
    r[c->d] = ptx_bits_f64((double)ptx_f32(r[c->a]));
    return c + 1;
}

/* ---------------------------------------------------------------------------------------------
 * Lowering
 * ------------------------------------------------------------------------------------------ */

/* A narrower result is what its type takes; a wider one is what the source's type takes, and only
 * a signed source with an unsigned result needs both. */
static bool lower_integers(ptx_lowering *l, ptx_type to, ptx_type from)
{
    uint32_t a = ptx_source(l, 1, from), d = ptx_destination(l, 0);
    if (ptx_take(l, PTX_MOD_sat))
        return ptx_emit(
            l, (ptx_code){
                   .run = saturate, .value = (uint64_t)to | (uint64_t)from << 8, .d = d, .a = a});
    bool wider = ptx_bits_of(to) > ptx_bits_of(from);
    if (!wider)
        return ptx_emit(l, (ptx_code){.run = takers[to], .d = d, .a = a});
    bool twice = ptx_is_signed(from) && !ptx_is_signed(to);
    return ptx_emit(l, (ptx_code){.run = takers[from], .d = d, .a = a}) &&
           (!twice || ptx_emit(l, (ptx_code){.run = takers[to], .d = d, .a = d}));
}

static whole_way take_whole(ptx_lowering *l)
{
    if (ptx_take(l, PTX_MOD_rni))
        return WHOLE_NEAREST;
    if (ptx_take(l, PTX_MOD_rzi))
        return WHOLE_ZERO;
    if (ptx_take(l, PTX_MOD_rmi))
        return WHOLE_DOWN;
    return ptx_take(l, PTX_MOD_rpi) ? WHOLE_UP : WHOLE_NONE;
}

/* Which rounding must be said: to a whole number, of a result that may be inexact, or none. */
static ptx_handler *choose(ptx_type to, ptx_type from, whole_way whole, int rounding)
{
    if (is_integer(to))
        return whole != WHOLE_NONE && rounding < 0 ? float_to_integer : NULL;
    if (is_integer(from))
        return whole == WHOLE_NONE && rounding >= 0 && to != PTX_F16 ? integer_to_float : NULL;
    bool narrower = ptx_bits_of(to) < ptx_bits_of(from);
    if (narrower != (rounding >= 0) || (whole != WHOLE_NONE && to != from))
        return NULL;
    return to == PTX_F64 && from == PTX_F32 ? f32_to_f64 : float_to_float;
}

bool ptx_lower_convert(ptx_lowering *l)
{
    ptx_type to = ptx_take_type(l), from = ptx_take_type(l);
    if (!ptx_operands(l, 2) || to < PTX_U8 || from < PTX_U8)
        return false;
    if (is_integer(to) && is_integer(from))
        return lower_integers(l, to, from);
    bool flushed = (to == PTX_F32 || from == PTX_F32) && ptx_take(l, PTX_MOD_ftz);
    int rounding = ptx_take_rounding(l);
    whole_way whole = take_whole(l);
    uint32_t a = ptx_source(l, 1, from);
    if (flushed && from == PTX_F32)
        a = ptx_emit_flush(l, a);
    ptx_code code = {.run = choose(to, from, whole, rounding),
                     .value = (uint64_t)to | (uint64_t)from << 8 |
                              (uint64_t)(rounding < 0 ? FE_TONEAREST : rounding) << 16,
                     .d = ptx_destination(l, 0),
                     .a = a,
                     .e = whole};
    bool clamp = ptx_take(l, PTX_MOD_sat) && !is_integer(to); /* integers are clamped anyway */
    return (!clamp || to != PTX_F16) && ptx_emit(l, code) &&
           ptx_emit_finish(l, to, code.d, flushed && to == PTX_F32, clamp);
}
