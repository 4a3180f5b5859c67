/* SPDX-License-Identifier: Apache-2.0
 * PTX as the parser leaves it: names, scopes, operands, calls and layouts. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "device/kernel_image.h"
#include "double/ptx/ptx_program.h"

#define HEAD       ".version 9.0\n.target sm_75\n.address_size 64\n"
#define KERNEL(in) HEAD ".visible .entry k()\n{\n" in "ret;\n}\n"

static ptx_module *parsed(const char *text)
{
    ptx_error error = {""};
    ptx_module *module = ptx_parse(text, &error);
    if (module == NULL)
        fail_msg("%s", error.text);
    return module;
}

static const ptx_function *function_of(const ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    fail_msg("there is no function '%s'", name);
    return NULL;
}

static const ptx_variable *variable_of(const ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (strcmp(module->variables[i]->name, name) == 0)
            return module->variables[i];
    fail_msg("there is no variable '%s'", name);
    return NULL;
}

/* The only instruction before ret. */
static const ptx_instruction *one(const ptx_module *module)
{
    assert_int_equal(module->functions[0]->instruction_count, 2);
    return &module->functions[0]->instructions[0];
}

static void a_mnemonic_is_cut_into_its_words(void **state)
{
    (void)state;
    ptx_module *m = parsed(KERNEL(".reg .b32 %r<4>; .reg .b64 %rd<2>;\n\n"
                                  "\tld.volatile.global.v2.u32 \t{%r1, %r2}, [%rd1+8];\n"));
    const ptx_instruction *load = one(m);
    assert_int_equal(load->line, 8);
    assert_string_equal(load->text, "ld.volatile.global.v2.u32");
    assert_int_equal(load->operation, PTX_OP_ld);
    assert_int_equal(load->space, PTX_GLOBAL);
    assert_int_equal(load->vector, 2);
    assert_int_equal(load->type_count, 1);
    assert_int_equal(load->types[0], PTX_U32);
    assert_true(ptx_has(load, PTX_MOD_volatile));
    assert_false(ptx_has(load, PTX_MOD_nc));
    assert_int_equal(load->guard, PTX_NO_REGISTER);
    ptx_parse_free(m);

    m = parsed(KERNEL(".reg .f32 f; .reg .s64 s; cvt.rn.f32.s64 f, s;"));
    assert_int_equal(one(m)->type_count, 2);
    assert_int_equal(one(m)->types[0], PTX_F32);
    assert_int_equal(one(m)->types[1], PTX_S64);
    assert_int_equal(one(m)->vector, 1);
    assert_true(ptx_has(one(m), PTX_MOD_rn));
    ptx_parse_free(m);

    m = parsed(KERNEL(".reg .b64 %rd<2>; cvta.to.shared.u64 %rd0, %rd1;"));
    assert_int_equal(one(m)->space, PTX_SHARED);
    assert_true(ptx_has(one(m), PTX_MOD_to));
    ptx_parse_free(m);
}

/* Each first word and each further word is known by its own name. */
static void every_word_is_known(void **state)
{
    (void)state;
    static const char *const operations[] = {
#define TEXT(name) #name,
        PTX_OPERATIONS(TEXT)};
    static const char *const words[] = {PTX_MODIFIERS(TEXT)
#undef TEXT
    };
    for (uint32_t i = 0; i < PTX_OPERATION_COUNT; i++) {
        if (i == PTX_OP_bra || i == PTX_OP_call)
            continue;
        char text[200];
        snprintf(text, sizeof text, KERNEL("%s;"), operations[i]);
        ptx_module *m = parsed(text);
        assert_int_equal(one(m)->operation, i);
        ptx_parse_free(m);
    }
    for (uint32_t i = 0; i < PTX_MODIFIER_COUNT; i++) {
        char text[200];
        snprintf(text, sizeof text, KERNEL("add.%s;"), words[i]);
        ptx_module *m = parsed(text);
        for (uint32_t j = 0; j < PTX_MODIFIER_COUNT; j++)
            assert_int_equal(ptx_has(one(m), (ptx_modifier)j), i == j);
        ptx_parse_free(m);
    }
}

static void immediates_are_bits(void **state)
{
    (void)state;
    static const struct {
        const char *type, *text;
        uint64_t value;
    } rows[] = {
        {"u32", "0", 0},
        {"u32", "1234567890", 1234567890},
        {"u32", "1234U", 1234},
        {"u64", "18446744073709551615", UINT64_MAX},
        {"s32", "-5", (uint64_t)-5},
        {"s64", "-9223372036854775808", (uint64_t)1 << 63},
        {"b32", "0xDeadBeef", 0xDEADBEEF},
        {"b32", "0XFFU", 255},
        {"b32", "017", 15},
        {"b32", "0b1011", 11},
        {"f32", "0f3F800000", 0x3F800000},
        {"f32", "0FBF800000", 0xBF800000},
        {"f32", "-0f3F800000", 0xBF800000},
        {"f32", "1.5", 0x3FC00000},
        {"f32", "0d3FF0000000000000", 0x3F800000},
        {"f64", "0d3FF0000000000000", 0x3FF0000000000000},
        {"f64", "0f3F800000", 0x3FF0000000000000},
        {"f64", "-2.5e1", 0xC039000000000000},
        {"b32", "0f40000000", 0x40000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text, KERNEL(".reg .b64 a; mov.%s a, %s;"), rows[i].type,
                 rows[i].text);
        ptx_module *m = parsed(text);
        const ptx_operand *operand = &one(m)->operands[1];
        assert_int_equal(operand->kind, PTX_IMMEDIATE);
        if (operand->value != rows[i].value)
            fail_msg("%s: %llx", rows[i].text, (unsigned long long)operand->value);
        ptx_parse_free(m);
    }
}

static void specials_are_known(void **state)
{
    (void)state;
    static const char *const names[] = {"%tid.x",   "%tid.y",    "%tid.z",    "%ntid.x",
                                        "%ntid.y",  "%ntid.z",   "%ctaid.x",  "%ctaid.y",
                                        "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z",
                                        "%laneid",  "%warpid",   "WARP_SZ",   "%clock64"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[200];
        snprintf(text, sizeof text, KERNEL(".reg .b64 a; mov.u32 a, %s;"), names[i]);
        ptx_module *m = parsed(text);
        assert_int_equal(one(m)->operands[1].kind, PTX_SPECIAL);
        assert_int_equal(one(m)->operands[1].value, PTX_TID_X + i);
        ptx_parse_free(m);
    }
}

static void addresses_have_a_register_a_name_or_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t reg;
        bool named;
        uint64_t value;
    } rows[] = {
        {"[%rd1]", 1, false, 0},
        {"[%rd1+-4]", 1, false, (uint64_t)-4},
        {"[ %rd0 + 0x10 ]", 0, false, 16},
        {"[%rd1-8]", 1, false, (uint64_t)-8},
        {"[table]", PTX_NO_REGISTER, true, 0},
        {"[table+12]", PTX_NO_REGISTER, true, 12},
        {"[64]", PTX_NO_REGISTER, false, 64},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 ".global .b32 table[8];\n" KERNEL(".reg .b64 %%rd<2>; .reg .b32 r; ld.u32 r, %s;"),
                 rows[i].text);
        ptx_module *m = parsed(text);
        const ptx_operand *address = &one(m)->operands[1];
        assert_int_equal(address->kind, PTX_ADDRESS);
        assert_int_equal(address->regs[0], rows[i].reg);
        assert_ptr_equal(address->variable, rows[i].named ? m->variables[0] : NULL);
        assert_int_equal(address->value, rows[i].value);
        ptx_parse_free(m);
    }
}

static void other_operands(void **state)
{
    (void)state;
    ptx_module *m =
        parsed(KERNEL(".reg .b32 %r<8>; .reg .b64 d; .reg .pred %p<4>; .shared .b8 s[4];"
                      "mov.b64 {%r1, _}, d;"
                      "setp.lt.and.s32 %p1|%p2, %r1, -1, !%p3;"
                      "mov.u32 %r2, s+2;"
                      "shfl.sync.down.b32 %r3|%p0, %r4, %r5, 31, -1;"
                      "atom.global.add.u32 _, [d], 1;"));
    const ptx_instruction *at = m->functions[0]->instructions;
    assert_int_equal(at[0].operands[0].kind, PTX_VECTOR);
    assert_int_equal(at[0].operands[0].count, 2);
    assert_int_equal(at[0].operands[0].regs[0], 1);
    assert_int_equal(at[0].operands[0].regs[1], PTX_NO_REGISTER);
    assert_int_equal(at[1].operand_count, 5);
    assert_int_equal(at[1].operands[0].regs[0], 10);
    assert_int_equal(at[1].operands[1].regs[0], 11);
    assert_false(at[1].operands[0].negated);
    assert_true(at[1].operands[4].negated);
    assert_int_equal(at[1].operands[4].regs[0], 12);
    assert_int_equal(at[2].operands[1].kind, PTX_SYMBOL);
    assert_string_equal(at[2].operands[1].variable->name, "s");
    assert_int_equal(at[2].operands[1].value, 2);
    assert_int_equal(at[3].operand_count, 6);
    assert_int_equal(at[4].operands[0].kind, PTX_REGISTER);
    assert_int_equal(at[4].operands[0].regs[0], PTX_NO_REGISTER);
    ptx_parse_free(m);
}

static void registers_of_ranges_scopes_and_vectors(void **state)
{
    (void)state;
    ptx_module *m = parsed(KERNEL(".reg .b32 %r<3>, single; .reg .v4 .f32 v; .reg .pred %p<2>;"
                                  "add.s32 %r2, single, %r0;"
                                  "{ .reg .b64 %r2; mov.u64 %r2, 1; { .reg .b16 %r<9>;"
                                  "mov.u16 %r2, 2; } mov.u64 %r2, 3; } mov.u32 %r2, 4;"
                                  "st.global.v4.f32 [64], v; mov.f32 v.z, v.w;"
                                  "@%p1 add.s32 %r0, %r0, 1; @!%p0 add.s32 %r0, %r0, 1;"));
    const ptx_function *k = m->functions[0];
    const ptx_instruction *at = k->instructions;
    assert_int_equal(k->register_count, 3 + 1 + 4 + 2 + 1 + 9);
    assert_int_equal(at[0].operands[0].regs[0], 2);
    assert_int_equal(at[0].operands[1].regs[0], 3);
    assert_int_equal(k->register_types[at[1].operands[0].regs[0]], PTX_B64);
    assert_int_equal(k->register_types[at[2].operands[0].regs[0]], PTX_B16);
    assert_int_equal(at[3].operands[0].regs[0], at[1].operands[0].regs[0]);
    assert_int_equal(at[4].operands[0].regs[0], 2);
    assert_int_equal(at[5].operands[1].kind, PTX_VECTOR);
    assert_int_equal(at[5].operands[1].count, 4);
    assert_int_equal(at[5].operands[1].regs[3], 7);
    assert_int_equal(at[6].operands[0].regs[0], 6);
    assert_int_equal(at[7].guard, 9);
    assert_false(at[7].guard_negated);
    assert_int_equal(at[8].guard, 8);
    assert_true(at[8].guard_negated);
    ptx_parse_free(m);
}

static void labels_lead_to_instructions_of_their_scope(void **state)
{
    (void)state;
    ptx_module *m = parsed(KERNEL(".reg .b32 r;"
                                  "$L1: bra.uni $L2; { bra $L1; $L1: bra $L1; bra $L3; }"
                                  "$L2: bra $L1; targets: .branchtargets $L3, $L1, $L2;"
                                  "brx.idx r, targets; $L3:"));
    const ptx_instruction *at = m->functions[0]->instructions;
    static const uint64_t leads[] = {4, 2, 2, 6, 0};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(at[i].operands[0].kind, PTX_LABEL);
        assert_int_equal(at[i].operands[0].value, leads[i]);
    }
    const ptx_operand *list = &at[5].operands[1];
    assert_int_equal(list->kind, PTX_LABELS);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->list[0], 6);
    assert_int_equal(list->list[1], 0);
    assert_int_equal(list->list[2], 4);
    ptx_parse_free(m);
}

static void params_lie_as_the_abi_has_them(void **state)
{
    (void)state;
    ptx_module *m =
        parsed(HEAD ".visible .entry k(\n.param .u8 a, .param .u64 .ptr .global .align 4 b,"
                    ".param .u16 c, .param .align 16 .b8 d[20], .param .b8 e)\n"
                    ".maxntid 8, 4, 2\n.minnctapersm 2\n.maxnreg 40 { ret; }"
                    ".entry other() .reqntid 7 { ret; } .entry bare { ret; }");
    const ptx_function *k = function_of(m, "k");
    static const uint64_t offsets[] = {0, 8, 16, 32, 52};
    assert_true(k->is_kernel);
    assert_ptr_equal(k->module, m);
    assert_int_equal(k->param_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(k->params[i]->offset, offsets[i]);
    assert_int_equal(k->params[3]->size, 20);
    assert_int_equal(k->params[3]->align, 16);
    assert_int_equal(k->param_bytes, 53);
    assert_int_equal(k->param_space, 53);
    assert_int_equal(k->max_threads, 64);
    assert_int_equal(function_of(m, "other")->max_threads, 7);
    assert_int_equal(function_of(m, "bare")->max_threads, 0);
    ptx_parse_free(m);
}

static void calls_name_their_variables(void **state)
{
    (void)state;
    ptx_module *m = parsed(
        HEAD ".extern .func nobody(.param .b32 _);\n"
             ".func (.param .align 8 .b8 out[16]) f(.param .b32 a, .param .b64 b);\n"
             ".visible .entry k(.param .u32 own)\n{"
             "{ // callseq 0, 0\n.reg .b32 temp_param_reg; .param .b32 p0; st.param.b32 [p0+0], 1;"
             ".param .b64 p1; .param .align 8 .b8 r0[16];\ncall.uni (r0), \nf, \n(\np0, \np1\n);}"
             "{ .param .b32 p0; call later, (p0); call.uni last; } ret; }"
             ".func (.param .align 8 .b8 out[16]) f(.param .b32 a, .param .b64 b)"
             "{ st.param.b32 [out+4], 1; ret; }"
             ".func later(.param .b32 a) { .param .b32 p0; call later, (p0); ret; }"
             ".weak .func last() { ret; }");
    const ptx_function *k = function_of(m, "k"), *f = function_of(m, "f");
    const ptx_instruction *call = &k->instructions[1];
    assert_int_equal(m->function_count, 4);
    assert_int_equal(call->operation, PTX_OP_call);
    assert_ptr_equal(call->callee, f);
    assert_int_equal(call->argument_count, 2);
    assert_int_equal(call->result_count, 1);
    assert_int_equal(call->arguments[0]->offset, 4);
    assert_int_equal(call->arguments[1]->offset, 8);
    assert_int_equal(call->results[0]->offset, 16);
    assert_int_equal(call->line, 9);
    assert_ptr_equal(k->instructions[0].operands[0].variable, call->arguments[0]);
    /* the next call has the same room again */
    assert_ptr_equal(k->instructions[2].callee, function_of(m, "later"));
    assert_int_equal(k->instructions[2].arguments[0]->offset, 4);
    assert_int_equal(k->instructions[3].argument_count, 0);
    assert_int_equal(k->param_bytes, 4);
    assert_int_equal(k->param_space, 32);
    assert_int_equal(f->params[1]->offset, 8);
    assert_int_equal(f->param_bytes, 16);
    assert_int_equal(f->results[0]->offset, 16);
    assert_int_equal(f->param_space, 32);
    assert_ptr_equal(f->instructions[0].operands[0].variable, f->results[0]);
    assert_ptr_equal(function_of(m, "later")->instructions[0].callee, function_of(m, "later"));
    ptx_parse_free(m);
}

static const ptx_variable *used_by(const ptx_function *function, uint32_t instruction)
{
    return function->instructions[instruction].operands[1].variable;
}

static void shared_and_local_variables_do_not_overlap(void **state)
{
    (void)state;
    ptx_module *m = parsed(".shared .align 4 .b8 common[6];"
                           ".visible .entry a() { .reg .b64 r; .shared .b64 own;"
                           ".local .align 4 .b8 l[3]; .local .f64 d;"
                           "mov.u64 r, own; mov.u64 r, l; mov.u64 r, d; mov.u64 r, common; ret; }"
                           ".func f() { .reg .b64 r; .shared .b32 kept; mov.u64 r, kept; ret; }"
                           ".visible .entry b() { .shared .b8 own[5]; .reg .b64 r;"
                           "mov.u64 r, own; ret; }");
    const ptx_function *a = function_of(m, "a"), *b = function_of(m, "b");
    assert_int_equal(used_by(a, 3)->offset, 0);
    assert_int_equal(used_by(function_of(m, "f"), 0)->offset, 8);
    assert_int_equal(used_by(a, 0)->offset, 16);
    assert_int_equal(a->shared_space, 24);
    assert_int_equal(used_by(b, 0)->offset, 12);
    assert_int_equal(b->shared_space, 17);
    assert_int_equal(used_by(a, 1)->offset, 0);
    assert_int_equal(used_by(a, 2)->offset, 8);
    assert_int_equal(a->local_space, 16);
    assert_int_equal(b->local_space, 0);
    ptx_parse_free(m);
}

static void an_extern_variable_begins_behind_all(void **state)
{
    (void)state;
    ptx_module *m = parsed(".extern .shared .align 16 .b8 dynamic[]; .extern .shared .b32 too[];"
                           ".entry a() { .shared .b8 own[33]; ret; } .entry b() { ret; }");
    assert_int_equal(variable_of(m, "dynamic")->offset, 48);
    assert_int_equal(variable_of(m, "dynamic")->size, 0);
    assert_int_equal(variable_of(m, "too")->offset, 48);
    assert_int_equal(function_of(m, "a")->shared_space, 48);
    assert_int_equal(function_of(m, "b")->shared_space, 48);
    ptx_parse_free(m);
}

static void check_initial(const ptx_module *m, const char *name, const void *bytes, size_t size)
{
    const ptx_variable *variable = variable_of(m, name);
    assert_int_equal(variable->size, size);
    assert_non_null(variable->initial);
    assert_memory_equal(variable->initial, bytes, size);
}

static void initial_values_are_bytes(void **state)
{
    (void)state;
    ptx_module *m = parsed(
        ".const .align 4 .b8 bytes[8] = {1, 0xFF, -1, 0b11, 017};\n"
        ".visible .global .u32 one = 7;\n.weak .global .s16 less[2] = {-2, 65535};"
        ".global .f32 floats[3] = {0f3F800000, 0.5, -1.0}; .global .f64 d = 0d4000000000000000;"
        ".global .u16 grid[2][3] = {{1, 2}, {4, 5, 6}}; .global .u16 flat[2][2] = {1, 2, 3, 4};"
        ".const .b8 text[8] = \"a\\n\\\"b\"; .global .v2 .u32 pairs[2] = {{1, 2}, {3, 4}};"
        ".global .b64 none; .global .align 32 .b8 far;");
    check_initial(m, "bytes", (uint8_t[]){1, 255, 255, 3, 15, 0, 0, 0}, 8);
    check_initial(m, "one", (uint32_t[]){7}, 4);
    check_initial(m, "less", (int16_t[]){-2, -1}, 4);
    check_initial(m, "floats", (float[]){1, 0.5f, -1}, 12);
    check_initial(m, "d", (double[]){2}, 8);
    check_initial(m, "grid", (uint16_t[]){1, 2, 0, 4, 5, 6}, 12);
    check_initial(m, "flat", (uint16_t[]){1, 2, 3, 4}, 8);
    check_initial(m, "text", "a\n\"b\0\0\0", 8);
    check_initial(m, "pairs", (uint32_t[]){1, 2, 3, 4}, 16);
    assert_null(variable_of(m, "none")->initial);
    assert_int_equal(variable_of(m, "bytes")->offset, 0);
    assert_int_equal(variable_of(m, "text")->offset, 8);
    assert_int_equal(m->const_space, 16);
    assert_int_equal(variable_of(m, "less")->offset, 4);
    assert_int_equal(variable_of(m, "d")->offset, 24);
    assert_int_equal(variable_of(m, "pairs")->align, 8);
    assert_int_equal(variable_of(m, "far")->offset, 96);
    assert_int_equal(m->global_space, 97);
    ptx_parse_free(m);
}

static void what_says_nothing_is_skipped(void **state)
{
    (void)state;
    ptx_module *m =
        parsed("/* a\ncomment */ .version 9.0 // line 2\n.target sm_75, debug\n"
               ".file 1 \"x.cu\", 12, 3\n.pragma \"a\";\n"
               ".section .debug_str { .b8 1, 2, \"}\"\n x: .b8 3 }\n"
               ".entry k() {\n.pragma \"nounroll\"; /**/ // }\n.loc 1 2 3, function_name $a\n"
               "\tret /* */ ; }\n// the end");
    assert_int_equal(m->functions[0]->instruction_count, 1);
    assert_int_equal(m->functions[0]->instructions[0].line, 11);
    ptx_parse_free(m);
    m = parsed("");
    assert_int_equal(m->function_count, 0);
    ptx_parse_free(m);
    ptx_parse_free(NULL);
}

/* What the library carries for CUDA; without nvcc there is nothing to look at. */
static void the_library_s_own_kernels(void **state)
{
    (void)state;
#define IMAGE(family, text) &tz_kernel_image_##text,
    static const tz_kernel_image *const images[] = {TZ_FAMILY_LIST(IMAGE)};
#undef IMAGE
    if (images[0]->size == 0)
        skip();
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        ptx_module *m = parsed((const char *)images[i]->bytes);
        assert_true(m->function_count > 0);
        for (uint32_t j = 0; j < m->function_count; j++)
            assert_true(m->functions[j]->instruction_count > 10);
        ptx_parse_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mnemonic_is_cut_into_its_words),
        cmocka_unit_test(every_word_is_known),
        cmocka_unit_test(immediates_are_bits),
        cmocka_unit_test(specials_are_known),
        cmocka_unit_test(addresses_have_a_register_a_name_or_a_number),
        cmocka_unit_test(other_operands),
        cmocka_unit_test(registers_of_ranges_scopes_and_vectors),
        cmocka_unit_test(labels_lead_to_instructions_of_their_scope),
        cmocka_unit_test(params_lie_as_the_abi_has_them),
        cmocka_unit_test(calls_name_their_variables),
        cmocka_unit_test(shared_and_local_variables_do_not_overlap),
        cmocka_unit_test(an_extern_variable_begins_behind_all),
        cmocka_unit_test(initial_values_are_bytes),
        cmocka_unit_test(what_says_nothing_is_skipped),
        cmocka_unit_test(the_library_s_own_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
