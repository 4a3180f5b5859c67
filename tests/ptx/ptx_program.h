/* SPDX-License-Identifier: Apache-2.0
 * A PTX module as the parser leaves it and the interpreter takes it. The parser (ptx_parse*.c)
 * knows the grammar: names, scopes, layouts, operands. The interpreter (ptx_lower.c, ptx_run*.c)
 * knows what instructions do, and turns each into a faster form before the first run. */
#ifndef TESTS_PTX_PTX_PROGRAM_H
#define TESTS_PTX_PTX_PROGRAM_H

#include "ptx/ptx.h"

typedef enum ptx_type {
    PTX_NO_TYPE,
    PTX_PRED,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_F32,
    PTX_F64
} ptx_type;

typedef enum ptx_space {
    PTX_GENERIC, /* also: none */
    PTX_GLOBAL,
    PTX_SHARED,
    PTX_LOCAL,
    PTX_PARAM,
    PTX_CONST
} ptx_space;

/* A variable of a module or a function. Its offset is within the space that it is in: .shared of a
 * kernel (those of the module come first), .local and .param of a call (a function's own parameters
 * and results first, then the param variables of the calls that it makes), .global and .const of
 * the module. An extern .shared begins at the same offset in all kernels: see shared_space. */
typedef struct ptx_variable {
    char *name;
    ptx_space space;
    ptx_type type; /* of an element */
    uint32_t align;
    uint64_t size; /* bytes; 0: extern .shared, sized by the launch, after all other .shared */
    uint64_t offset;
    uint8_t *initial; /* size bytes; NULL: none */
    int line;
} ptx_variable;

/* Registers of a function have numbers from 0, whatever their type; each is 64 bits wide, with the
 * bits above its type undefined to the parser. */
#define PTX_NO_REGISTER UINT32_MAX

typedef enum ptx_operand_kind {
    PTX_REGISTER,  /* regs[0], PTX_NO_REGISTER: _; negated: !%p */
    PTX_VECTOR,    /* {regs[0], ...}, count of them; PTX_NO_REGISTER: _ */
    PTX_IMMEDIATE, /* value: the bits, sign-extended; of 0f...: 32 bits, of 0d...: 64 bits; of the
                    * width of the instruction's last type, where that is of floats */
    PTX_SPECIAL,   /* value: a ptx_special */
    PTX_ADDRESS,   /* [regs[0] or PTX_NO_REGISTER, variable or NULL, value: bytes to add] */
    PTX_SYMBOL,    /* the address of variable, in its space, plus value */
    PTX_LABEL,     /* value: index of an instruction of this function */
    PTX_LABELS     /* of brx.idx: list, count */
} ptx_operand_kind;

typedef enum ptx_special {
    PTX_TID_X,
    PTX_TID_Y,
    PTX_TID_Z,
    PTX_NTID_X,
    PTX_NTID_Y,
    PTX_NTID_Z,
    PTX_CTAID_X,
    PTX_CTAID_Y,
    PTX_CTAID_Z,
    PTX_NCTAID_X,
    PTX_NCTAID_Y,
    PTX_NCTAID_Z,
    PTX_LANEID,
    PTX_WARPID,
    PTX_WARP_SIZE, /* WARP_SZ */
    PTX_CLOCK64
} ptx_special;

typedef struct ptx_operand {
    ptx_operand_kind kind;
    uint32_t regs[4];
    uint32_t count;
    bool negated;
    uint64_t value;
    const ptx_variable *variable;
    const uint32_t *list;
} ptx_operand;

/* Operations by their first word: X(name). A second word that makes it another operation is a
 * modifier: mul.wide, bar.sync, atom.add, shfl.sync.down, vote.sync.ballot. */
#define PTX_OPERATIONS(X)                                                                          \
    X(abs)                                                                                         \
    X(activemask)                                                                                  \
    X(add)                                                                                         \
    X(addc)                                                                                        \
    X(and)                                                                                         \
    X(atom)                                                                                        \
    X(bar)                                                                                         \
    X(barrier)                                                                                     \
    X(bfe)                                                                                         \
    X(bfi)                                                                                         \
    X(bfind)                                                                                       \
    X(bra)                                                                                         \
    X(brev)                                                                                        \
    X(brx)                                                                                         \
    X(call)                                                                                        \
    X(clz)                                                                                         \
    X(cnot)                                                                                        \
    X(copysign)                                                                                    \
    X(cvt)                                                                                         \
    X(cvta)                                                                                        \
    X(div)                                                                                         \
    X(dp4a)                                                                                        \
    X(exit)                                                                                        \
    X(fence)                                                                                       \
    X(fma)                                                                                         \
    X(isspacep)                                                                                    \
    X(ld)                                                                                          \
    X(ldu)                                                                                         \
    X(lop3)                                                                                        \
    X(mad)                                                                                         \
    X(madc)                                                                                        \
    X(match)                                                                                       \
    X(max)                                                                                         \
    X(membar)                                                                                      \
    X(min)                                                                                         \
    X(mov)                                                                                         \
    X(mul)                                                                                         \
    X(neg)                                                                                         \
    X(not )                                                                                        \
    X(or)                                                                                          \
    X(popc)                                                                                        \
    X(prmt)                                                                                        \
    X(rcp)                                                                                         \
    X(red)                                                                                         \
    X(rem)                                                                                         \
    X(ret)                                                                                         \
    X(sad)                                                                                         \
    X(selp)                                                                                        \
    X(set)                                                                                         \
    X(setp)                                                                                        \
    X(shf)                                                                                         \
    X(shfl)                                                                                        \
    X(shl)                                                                                         \
    X(shr)                                                                                         \
    X(slct)                                                                                        \
    X(sqrt)                                                                                        \
    X(st)                                                                                          \
    X(sub)                                                                                         \
    X(subc)                                                                                        \
    X(testp)                                                                                       \
    X(trap)                                                                                        \
    X(vote)                                                                                        \
    X(xor)

#define PTX_OPERATION_NUMBER(name) PTX_OP_##name,
typedef enum ptx_operation {
    PTX_OPERATIONS(PTX_OPERATION_NUMBER) PTX_OPERATION_COUNT
} ptx_operation;
#undef PTX_OPERATION_NUMBER

/* All further words, but types, spaces and vectors: X(word). Which of them an operation may carry,
 * the interpreter knows. */
/* clang-format off */
#define PTX_MODIFIERS(X) \
    X(uni) X(sync) X(warp) X(aligned) X(arrive) X(red) X(popc) \
    X(cta) X(gl) X(sys) X(gpu) X(acquire) X(release) X(acq_rel) X(relaxed) X(volatile) \
    X(weak) X(nc) X(sc) \
    X(ca) X(cg) X(cs) X(lu) X(cv) X(wb) X(wt) X(to) X(lo) X(hi) X(wide) X(sat) X(ftz) \
    X(approx) X(full) X(cc) \
    X(rn) X(rz) X(rm) X(rp) X(rni) X(rzi) X(rmi) X(rpi) \
    X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(ls) X(hs) X(equ) X(neu) X(ltu) X(leu) X(gtu) X(geu) \
    X(num) X(nan) \
    X(and) X(or) X(xor) X(add) X(inc) X(dec) X(min) X(max) X(exch) X(cas) \
    X(l) X(r) X(wrap) X(clamp) X(shiftamt) X(up) X(down) X(bfly) X(idx) X(any) X(all) X(ballot) \
    X(f4e) X(b4e) X(rc8) X(ecl) X(ecr) X(rc16) \
    X(finite) X(infinite) X(number) X(notanumber) X(normal) X(subnormal)
/* clang-format on */

#define PTX_MODIFIER_NUMBER(word) PTX_MOD_##word,
typedef enum ptx_modifier { PTX_MODIFIERS(PTX_MODIFIER_NUMBER) PTX_MODIFIER_COUNT } ptx_modifier;
#undef PTX_MODIFIER_NUMBER

typedef struct ptx_modifier_set {
    uint64_t bits[2];
} ptx_modifier_set;

/* lop3.or.b32 d|p, a, b, c, table, q */
#define PTX_MAX_OPERANDS 7

typedef struct ptx_instruction {
    int line;         /* of the text, from 1 */
    const char *text; /* "ld.global.v2.u32": as it was written, for errors */
    ptx_operation operation;
    ptx_modifier_set modifiers;
    ptx_space space;
    uint32_t vector;   /* elements: 1, 2 or 4 */
    ptx_type types[3]; /* in the order written: setp.lt.f64: {F64}; cvt.rn.f32.s64: {F32, S64} */
    uint32_t type_count;
    uint32_t used_bytes; /* bit n: byte n that a load gets is used; 0: all of them are */
    uint32_t guard;      /* register of @%p; PTX_NO_REGISTER: none */
    bool guard_negated;
    ptx_operand operands[PTX_MAX_OPERANDS]; /* destinations first; p|q: two of them */
    uint32_t operand_count;
    /* of call: who, and the param variables of results and arguments */
    const ptx_function *callee;
    const ptx_variable **results, **arguments;
    uint32_t result_count, argument_count;
} ptx_instruction;

struct ptx_function {
    char *name;
    bool is_kernel;
    const ptx_module *module;
    ptx_variable **params; /* own parameters, in order, with their offsets */
    uint32_t param_count;
    uint64_t param_bytes; /* of own parameters alone: what a launch hands over */
    ptx_variable **results;
    uint32_t result_count;
    /* Bytes of all that it has in each; of .shared with what is the module's and what functions of
     * the module have, up to an extern variable. */
    uint64_t param_space, shared_space, local_space;
    ptx_type *register_types;
    uint32_t register_count;
    ptx_instruction *instructions;
    uint32_t instruction_count;
    uint32_t max_threads; /* of .maxntid: of a block, in all; 0: not said */
    void *lowered;        /* the interpreter's: freed by ptx_lower_free */
};

struct ptx_module {
    ptx_function **functions; /* those that have a body */
    uint32_t function_count;
    ptx_variable **variables; /* of the module */
    uint32_t variable_count;
    uint64_t global_space, const_space; /* bytes */
    void *pool;                         /* the parser's: what all of this lies in */
    void *data;                         /* the interpreter's: .global and .const of the module */
};

static inline bool ptx_has(const ptx_instruction *instruction, ptx_modifier modifier)
{
    return instruction->modifiers.bits[modifier / 64] >> modifier % 64 & 1u;
}

/* ptx_load is parsing, then lowering; ptx_unload the other way round. */
ptx_module *ptx_parse(const char *text, ptx_error *error);
void ptx_parse_free(ptx_module *module);
bool ptx_lower(ptx_module *module, ptx_error *error);
void ptx_lower_free(ptx_module *module);

#endif
