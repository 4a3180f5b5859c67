/* SPDX-License-Identifier: Apache-2.0
 * Modules before their first run: every instruction of every function becomes codes (ptx_machine.h)
 * or an error that names it. What an operation may look like, the files ptx_run_*.c know. */
#include "ptx/ptx_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ptx_lower_function lower_branch_by_index;

static ptx_lower_function *const lower_functions[PTX_OPERATION_COUNT] = {
    [PTX_OP_abs] = ptx_lower_integer,   [PTX_OP_activemask] = ptx_lower_warp,
    [PTX_OP_add] = ptx_lower_integer,   [PTX_OP_addc] = ptx_lower_integer,
    [PTX_OP_and] = ptx_lower_logic,     [PTX_OP_atom] = ptx_lower_atomic,
    [PTX_OP_bar] = ptx_lower_barrier,   [PTX_OP_barrier] = ptx_lower_barrier,
    [PTX_OP_bfe] = ptx_lower_bits,      [PTX_OP_bfi] = ptx_lower_bits,
    [PTX_OP_bfind] = ptx_lower_bits,    [PTX_OP_bra] = ptx_lower_control,
    [PTX_OP_brev] = ptx_lower_bits,     [PTX_OP_brx] = lower_branch_by_index,
    [PTX_OP_call] = ptx_lower_control,  [PTX_OP_clz] = ptx_lower_bits,
    [PTX_OP_cnot] = ptx_lower_logic,    [PTX_OP_copysign] = ptx_lower_float,
    [PTX_OP_cvt] = ptx_lower_convert,   [PTX_OP_cvta] = ptx_lower_address,
    [PTX_OP_div] = ptx_lower_divide,    [PTX_OP_dp4a] = ptx_lower_multiply,
    [PTX_OP_exit] = ptx_lower_control,  [PTX_OP_fence] = ptx_lower_barrier,
    [PTX_OP_fma] = ptx_lower_float,     [PTX_OP_isspacep] = ptx_lower_address,
    [PTX_OP_ld] = ptx_lower_load,       [PTX_OP_ldu] = ptx_lower_load,
    [PTX_OP_lop3] = ptx_lower_logic,    [PTX_OP_mad] = ptx_lower_multiply,
    [PTX_OP_madc] = ptx_lower_multiply, [PTX_OP_match] = ptx_lower_warp,
    [PTX_OP_max] = ptx_lower_integer,   [PTX_OP_membar] = ptx_lower_barrier,
    [PTX_OP_min] = ptx_lower_integer,   [PTX_OP_mov] = ptx_lower_move,
    [PTX_OP_mul] = ptx_lower_multiply,  [PTX_OP_neg] = ptx_lower_integer,
    [PTX_OP_not] = ptx_lower_logic,     [PTX_OP_or] = ptx_lower_logic,
    [PTX_OP_popc] = ptx_lower_bits,     [PTX_OP_prmt] = ptx_lower_bits,
    [PTX_OP_rcp] = ptx_lower_float,     [PTX_OP_red] = ptx_lower_atomic,
    [PTX_OP_rem] = ptx_lower_divide,    [PTX_OP_ret] = ptx_lower_control,
    [PTX_OP_sad] = ptx_lower_integer,   [PTX_OP_selp] = ptx_lower_choose,
    [PTX_OP_set] = ptx_lower_compare,   [PTX_OP_setp] = ptx_lower_compare,
    [PTX_OP_shf] = ptx_lower_bits,      [PTX_OP_shfl] = ptx_lower_warp,
    [PTX_OP_shl] = ptx_lower_bits,      [PTX_OP_shr] = ptx_lower_bits,
    [PTX_OP_slct] = ptx_lower_choose,   [PTX_OP_sqrt] = ptx_lower_float,
    [PTX_OP_st] = ptx_lower_store,      [PTX_OP_sub] = ptx_lower_integer,
    [PTX_OP_subc] = ptx_lower_integer,  [PTX_OP_testp] = ptx_lower_float,
    [PTX_OP_trap] = ptx_lower_control,  [PTX_OP_vote] = ptx_lower_warp,
    [PTX_OP_xor] = ptx_lower_logic,
};

/* ---------------------------------------------------------------------------------------------
 * Branches that guards need
 * ------------------------------------------------------------------------------------------ */

static const ptx_code *skip_if_false(ptx_thread *t, uint64_t *r, const ptx_code *c)
{
    (void)t;
    return r[c->a] & 1 ? c + 1 : c->target;
}

static const ptx_code *skip_if_true(ptx_thread *t, uint64_t *r, const ptx_code *c)
{
    (void)t;
    return r[c->a] & 1 ? c->target : c + 1;
}

static const ptx_code *go(ptx_thread *t, uint64_t *r, const ptx_code *c)
{
    (void)t;
    (void)r;
    return c->target;
}

static bool is_branch(const ptx_code *code)
{
    return code->run == skip_if_false || code->run == skip_if_true || code->run == go;
}

/* @p bra is one code. */
static bool lower_branch(ptx_lowering *l)
{
    const ptx_instruction *in = l->in;
    ptx_take(l, PTX_MOD_uni);
    if (!ptx_operands(l, 1) || in->operands[0].kind != PTX_LABEL)
        return false;
    ptx_code code = {.run = go, .value = in->operands[0].value, .e = 1};
    if (in->guard != PTX_NO_REGISTER) {
        code.run = in->guard_negated ? skip_if_false : skip_if_true;
        code.a = in->guard;
    }
    return ptx_emit(l, code);
}

/* One branch for each label follows. */
static const ptx_code *go_by_index(ptx_thread *t, uint64_t *r, const ptx_code *c)
{
    uint32_t index = (uint32_t)r[c->a];
    if (index >= c->value)
        return ptx_stop(t, c, "index %u of %u labels", index, (unsigned)c->value);
    return c + 1 + index;
}

static bool lower_branch_by_index(ptx_lowering *l)
{
    const ptx_operand *labels = &l->in->operands[1];
    ptx_take(l, PTX_MOD_uni);
    if (!ptx_take(l, PTX_MOD_idx) || !ptx_operands(l, 2) || labels->kind != PTX_LABELS)
        return false;
    ptx_code code = {.run = go_by_index, .a = ptx_source(l, 0, PTX_U32), .value = labels->count};
    bool ok = ptx_emit(l, code);
    for (uint32_t i = 0; ok && i < labels->count; i++)
        ok = ptx_emit(l, (ptx_code){.run = go, .value = labels->list[i], .e = 1});
    return ok;
}

/* ---------------------------------------------------------------------------------------------
 * One instruction
 * ------------------------------------------------------------------------------------------ */

static bool fail(ptx_error *error, const ptx_function *function, const ptx_instruction *in,
                 const char *what)
{
    if (error)
        (void)snprintf(error->text, sizeof(error->text), "%.150s, line %d: %.60s: %s",
                       function->name, in->line, in->text, what);
    return false;
}

static bool all_taken(const ptx_lowering *l)
{
    const ptx_instruction *in = l->in;
    return !l->failed && !l->left.bits[0] && !l->left.bits[1] && l->types_taken == in->type_count &&
           (l->space_taken || in->space == PTX_GENERIC) && (l->vector_taken || in->vector <= 1);
}

/* The guard is a branch over what follows. */
static bool lower_guarded(ptx_lowering *l)
{
    const ptx_instruction *in = l->in;
    ptx_lower_function *lower =
        (unsigned)in->operation < PTX_OPERATION_COUNT ? lower_functions[in->operation] : NULL;
    if (in->operation == PTX_OP_bra)
        return lower_branch(l);
    uint32_t skip = l->to->code_count;
    if (in->guard != PTX_NO_REGISTER &&
        !ptx_emit(
            l, (ptx_code){.run = in->guard_negated ? skip_if_true : skip_if_false, .a = in->guard}))
        return false;
    if (!lower || !lower(l))
        return false;
    if (in->guard != PTX_NO_REGISTER)
        l->to->codes[skip].value = l->to->code_count;
    return true;
}

static bool lower_instruction(ptx_lowered *to, uint32_t at, ptx_error *error)
{
    const ptx_instruction *in = &to->function->instructions[at];
    ptx_lowering l = {.to = to, .in = in, .at = at, .left = in->modifiers};
    if (!lower_guarded(&l) || !all_taken(&l))
        return fail(error, to->function, in, "the interpreter does not know this form");
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * One function
 * ------------------------------------------------------------------------------------------ */

/* Indices become pointers: of instructions (e is 1: bra) or of codes. */
static bool resolve(ptx_lowered *to, const uint32_t *starts, ptx_error *error)
{
    const ptx_function *function = to->function;
    for (uint32_t i = 0; i < to->code_count; i++) {
        ptx_code *code = &to->codes[i];
        if (!is_branch(code))
            continue;
        if (code->e && code->value > function->instruction_count)
            return fail(error, function, &function->instructions[code->at], "no such label");
        uint64_t index = code->e ? starts[code->value] : code->value;
        code->target = &to->codes[index];
    }
    return true;
}

/* After the last instruction comes a ret, for what has none. */
static bool lower_codes(ptx_lowered *to, uint32_t *starts, ptx_error *error)
{
    const ptx_function *function = to->function;
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        starts[i] = to->code_count;
        if (!lower_instruction(to, i, error))
            return false;
    }
    starts[function->instruction_count] = to->code_count;
    ptx_instruction end = {.operation = PTX_OP_ret, .text = "ret", .guard = PTX_NO_REGISTER};
    ptx_lowering l = {.to = to, .in = &end, .at = function->instruction_count - 1u};
    return ptx_lower_control(&l);
}

static void free_lowered(ptx_lowered *lowered)
{
    if (!lowered)
        return;
    free(lowered->codes);
    free(lowered->constants);
    free(lowered);
}

static bool lower_body(ptx_lowered *to, ptx_error *error)
{
    uint32_t *starts = malloc((to->function->instruction_count + (size_t)1) * sizeof(*starts));
    bool ok = starts && lower_codes(to, starts, error) && resolve(to, starts, error);
    free(starts);
    to->slot_count = to->constant + to->constant_count;
    return ok;
}

/* Calls look for the ptx_lowered of others: each function gets its own before any body is lowered.
 */
static bool prepare(ptx_function *function)
{
    ptx_lowered *to = calloc(1, sizeof(*to));
    if (!to)
        return false;
    to->function = function;
    to->fixed = function->register_count;
    to->constant = to->fixed + PTX_FIXED_SLOTS + PTX_TEMPORARIES;
    function->lowered = to;
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Modules
 * ------------------------------------------------------------------------------------------ */

#define CONST_ALIGN 256u

static uint64_t const_start(const ptx_module *module)
{
    return (module->global_space + CONST_ALIGN - 1) / CONST_ALIGN * CONST_ALIGN;
}

uint64_t ptx_module_address(const ptx_module *module, const ptx_variable *variable)
{
    uint64_t start = variable->space == PTX_CONST ? const_start(module) : 0;
    return (uint64_t)(uintptr_t)module->data + start + variable->offset;
}

uint64_t ptx_module_data_size(const ptx_module *module)
{
    uint64_t size = const_start(module) + module->const_space;
    return (size + CONST_ALIGN - 1) / CONST_ALIGN * CONST_ALIGN;
}

/* Assigns offsets to .global and .const, and copies their initial values. */
static bool make_data(ptx_module *module)
{
    size_t size = (size_t)ptx_module_data_size(module);
    module->data = aligned_alloc(CONST_ALIGN, size ? size : CONST_ALIGN);
    if (!module->data)
        return false;
    memset(module->data, 0, size);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const ptx_variable *v = module->variables[i];
        if (v->initial && (v->space == PTX_GLOBAL || v->space == PTX_CONST))
            memcpy((uint8_t *)(uintptr_t)ptx_module_address(module, v), v->initial,
                   (size_t)v->size);
    }
    return true;
}

bool ptx_lower(ptx_module *module, ptx_error *error)
{
    bool ok = make_data(module);
    if (error)
        error->text[0] = '\0';
    for (uint32_t i = 0; ok && i < module->function_count; i++)
        ok = prepare(module->functions[i]);
    for (uint32_t i = 0; ok && i < module->function_count; i++)
        ok = lower_body(module->functions[i]->lowered, error);
    if (!ok && error && !error->text[0])
        (void)snprintf(error->text, sizeof(error->text), "no memory");
    return ok;
}

void ptx_lower_free(ptx_module *module)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        free_lowered(module->functions[i]->lowered);
        module->functions[i]->lowered = NULL;
    }
    free(module->data);
    module->data = NULL;
}

const ptx_function *ptx_find_kernel(const ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_kernel && strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    return NULL;
}

ptx_module *ptx_load(const char *text, ptx_error *error)
{
    ptx_module *module = ptx_parse(text, error);
    if (module && !ptx_lower(module, error)) {
        ptx_unload(module);
        return NULL;
    }
    return module;
}

void ptx_unload(ptx_module *module)
{
    if (!module)
        return;
    ptx_lower_free(module);
    ptx_parse_free(module);
}
