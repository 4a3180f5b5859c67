/* SPDX-License-Identifier: Apache-2.0
 * PTX as the parser leaves it: words, names, scopes and operands. */
#include "ptx_text.h"

#include <stdio.h>

/* The only instruction before ret. */
static const ptx_instruction *one(const ptx_module *module)
{
    assert_int_equal(module->functions[0]->instruction_count, 2);
    return &module->functions[0]->instructions[0];
}

static void a_mnemonic_is_cut_into_its_words(void **state)
{
    (void)state;
    ptx_module *m = parsed(PTX_KERNEL(".reg .b32 %r<4>; .reg .b64 %rd<2>;\n\n"
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

    m = parsed(PTX_KERNEL(".reg .f32 f; .reg .s64 s; cvt.rn.f32.s64 f, s;"));
    assert_int_equal(one(m)->type_count, 2);
    assert_int_equal(one(m)->types[0], PTX_F32);
    assert_int_equal(one(m)->types[1], PTX_S64);
    assert_int_equal(one(m)->vector, 1);
    assert_true(ptx_has(one(m), PTX_MOD_rn));
    ptx_parse_free(m);

    m = parsed(PTX_KERNEL(".reg .b64 %rd<2>; cvta.to.shared.u64 %rd0, %rd1;"));
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
        snprintf(text, sizeof text, PTX_KERNEL("%s;"), operations[i]);
        ptx_module *m = parsed(text);
        assert_int_equal(one(m)->operation, i);
        ptx_parse_free(m);
    }
    for (uint32_t i = 0; i < PTX_MODIFIER_COUNT; i++) {
        char text[200];
        snprintf(text, sizeof text, PTX_KERNEL("add.%s;"), words[i]);
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
        snprintf(text, sizeof text, PTX_KERNEL(".reg .b64 a; mov.%s a, %s;"), rows[i].type,
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
        snprintf(text, sizeof text, PTX_KERNEL(".reg .b64 a; mov.u32 a, %s;"), names[i]);
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
        snprintf(
            text, sizeof text,
            ".global .b32 table[8];\n" PTX_KERNEL(".reg .b64 %%rd<2>; .reg .b32 r; ld.u32 r, %s;"),
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
        parsed(PTX_KERNEL(".reg .b32 %r<8>; .reg .b64 d; .reg .pred %p<4>; .shared .b8 s[4];"
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
    ptx_module *m = parsed(PTX_KERNEL(".reg .b32 %r<3>, single; .reg .v4 .f32 v; .reg .pred %p<2>;"
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
    ptx_module *m = parsed(PTX_KERNEL(".reg .b32 r;"
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
