/* SPDX-License-Identifier: Apache-2.0
 * Floating point for the files of the interpreter: bits and values, rounding, flushing. */
#ifndef TESTS_PTX_PTX_FLOAT_H
#define TESTS_PTX_PTX_FLOAT_H

#include <string.h>

#include "ptx/ptx_machine.h"

static inline float ptx_f32(uint64_t slot)
{
    uint32_t bits = (uint32_t)slot;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline double ptx_f64(uint64_t slot)
{
    double value;
    memcpy(&value, &slot, sizeof(value));
    return value;
}

/* PTX: a result of f32 that is NaN is this one. Of f64 it is what the machine makes of it,
 * since PTX leaves that open. */
static inline uint64_t ptx_bits_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return value != value ? 0x7fffffff : bits;
}

static inline uint64_t ptx_bits_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Flushes a subnormal f32 to a zero of its sign. */
static inline uint64_t ptx_flush_f32(uint64_t bits)
{
    return (bits & 0x7fffffff) < 0x00800000 ? bits & 0x80000000 : bits;
}

/* Half precision, exactly; and back, as direction (a constant of fenv.h) says. */
double ptx_half_value(uint16_t half);
uint16_t ptx_half_of(double value, int direction);

/* The rounding that an instruction says, as a constant of fenv.h: taken; -1: none is said. */
int ptx_take_rounding(ptx_lowering *l);

/* A code that makes what is too small for a normal f32 a zero; the slot of its result. */
uint32_t ptx_emit_flush(ptx_lowering *l, uint32_t from);
/* The same for the result, and for .sat: into 0 to 1, NaN is 0. */
bool ptx_emit_finish(ptx_lowering *l, ptx_type type, uint32_t slot, bool flush, bool saturate);

#endif
