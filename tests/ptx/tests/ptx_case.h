/* SPDX-License-Identifier: Apache-2.0
 * One instruction of PTX, run over many operands; and small kernels, run once. */
#ifndef TESTS_PTX_TESTS_PTX_CASE_H
#define TESTS_PTX_TESTS_PTX_CASE_H

#include "ptx/ptx.h"
#include "support/check.h"

/* Operands of an instruction are a, b, c and e, each in registers of all classes: %ha of 16 bits,
 * %ra of 32, %da of 64, %fa f32, %ga f64, %pa its lowest bit. Results go to %hd, %rd, %dd, %fd, %gd
 * or %pd; a second one to %hq ... %pq. All of them begin as 0. */
typedef uint64_t ptx_reference(uint64_t a, uint64_t b, uint64_t c, uint64_t e);

typedef struct ptx_row {
    const char *text; /* one instruction or several */
    char to[2];       /* the class that the result is looked at in: h, r, d, f, g, p */
    char which[2];    /* d or q */
    ptx_reference *reference;
} ptx_row;

/* X(name, "add.s32 %rd, %ra, %rb;", r, d, expression of a, b, c, e): define the expression, and be
 * a row */
#define PTX_REFERENCE(name, text, to, which, expression)                                           \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t e)                           \
    {                                                                                              \
        (void)a, (void)b, (void)c, (void)e;                                                        \
        return (uint64_t)(expression);                                                             \
    }
#define PTX_ROW(name, text, to, which, expression) {text, #to, #which, name},

/* Every row over extreme and random operands, of integers or of floats. */
void ptx_check_rows(const ptx_row *rows, size_t count);
/* The operands themselves: all rows are run over them. */
#define PTX_OPERAND_COUNT 512u
void ptx_operands_make(uint64_t operands[PTX_OPERAND_COUNT][4]);

/* A kernel "k" with the parameters p0 (bytes that it may read and write) and p1 (a number), a body,
 * and registers %p0-%p15, %h0-.., %r0-.., %d0-.., %f0-.., %g0-..; further text goes before it. */
typedef struct ptx_kernel {
    const char *before, *body;
    uint32_t grid, block; /* 0: 1 */
    uint32_t dynamic_shared;
    uint64_t number;
    void *bytes;
    size_t size;
    uint64_t most_instructions;
} ptx_kernel;

/* The address of the buffers for a kernel, which is not their host address. */
#define PTX_CASE_BASE UINT64_C(0x7000000)

bool ptx_case_run(const ptx_kernel *kernel, ptx_error *error);
/* It runs; or it ends with an error that has all of these words. */
void ptx_check_runs(const ptx_kernel *kernel);
void ptx_check_stops(const ptx_kernel *kernel, const char *words, ...) __attribute__((sentinel));
/* The body is refused when it is loaded, by the interpreter. */
void ptx_check_unknown(const char *body);

#endif
