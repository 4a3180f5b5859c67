/* SPDX-License-Identifier: Apache-2.0
 * Handlers by macro: HANDLER begins one; EXPRESSION is one that computes its destination of
 * operands a, b and x (the third one), all of one type. */
#ifndef TESTS_PTX_PTX_HANDLERS_H
#define TESTS_PTX_PTX_HANDLERS_H

#include "ptx/ptx_machine.h"

#define HANDLER(name) static const ptx_code *name(ptx_thread *t, uint64_t *r, const ptx_code *c)

#define EXPRESSION(name, type, expression)                                                         \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const type a = (type)r[c->a], b = (type)r[c->b], x = (type)r[c->c];                        \
        (void)t, (void)a, (void)b, (void)x;                                                        \
        r[c->d] = (uint64_t)(type)(expression);                                                    \
        return c + 1;                                                                              \
    }

/* name_16, name_32, name_64 */
#define UNSIGNED_EXPRESSIONS(name, expression)                                                     \
    EXPRESSION(name##_16, uint16_t, expression)                                                    \
    EXPRESSION(name##_32, uint32_t, expression)                                                    \
    EXPRESSION(name##_64, uint64_t, expression)
#define SIGNED_EXPRESSIONS(name, expression)                                                       \
    EXPRESSION(name##_16, int16_t, expression)                                                     \
    EXPRESSION(name##_32, int32_t, expression)                                                     \
    EXPRESSION(name##_64, int64_t, expression)

/* by ptx_width_index: what is of no such width has none */
#define BY_WIDTH(name)                                                                             \
    {                                                                                              \
        name##_16, name##_32, name##_64, NULL                                                      \
    }

__extension__ typedef unsigned __int128 ptx_u128;
__extension__ typedef __int128 ptx_s128;

#endif
